//! The clients that can be asked for.

use warpline::dataflow::clients::bit_widths::{self, Variant};
use warpline::dataflow::clients::{
    bounds, classes, constants, dead_code, liveness, null_pointers, ranges, reaching_definitions, taint,
};
use warpline::dataflow::report::Description;
use warpline::ir::FuncId;

use super::{Answer, Asked};
use crate::cli::LintOptions;
use crate::error::{Error, Result};

/// A client of the program.
pub(super) struct Client {
    /// What it is.
    pub description: &'static Description,
    /// Whether what is on the stack is first split into parts that can be values. Where not, local variables alone
    /// become values.
    pub registers: bool,
    /// Whether there is no dense solution to ask for.
    pub sparse_only: bool,
    /// How it is asked.
    pub run: Run,
}

/// How a client is asked; the reason if it refuses a function.
#[derive(Clone, Copy)]
pub(super) enum Run {
    /// About one function at a time.
    Function(OneFunction),
    /// About the whole module; it answers for these functions.
    Module(fn(&Asked<'_>, &[FuncId]) -> Result<Answers>),
}

/// How a client is asked about one function; the reason if it refuses.
pub(super) type OneFunction = fn(&Asked<'_>, FuncId) -> std::result::Result<Answer, String>;

/// What a client says of functions.
pub(super) type Answers = Vec<(FuncId, Answer)>;

/// All clients, in the order of the list.
pub(super) const CLIENTS: &[Client] = &[
    numbers(
        &constants::DESCRIPTION,
        Run::Module(|asked, ids| {
            let (module, all) = (&asked.imported.ir, asked.imported.module_constants());
            let report = |id: FuncId| {
                Answer::new(constants::analyze(
                    module,
                    &module.functions[id],
                    all.of(module, id),
                    asked.solver,
                ))
            };
            Ok(ids.iter().map(|&id| (id, report(id))).collect())
        }),
    ),
    numbers(
        &ranges::DESCRIPTION,
        Run::Module(|asked, ids| {
            let (module, stated) = (&asked.imported.ir, asked.imported.stated_ranges());
            let report = |id: FuncId| {
                let known = stated.get(&id).cloned().unwrap_or_default();
                Answer::new(ranges::analyze(module, &module.functions[id], known, asked.solver))
            };
            Ok(ids.iter().map(|&id| (id, report(id))).collect())
        }),
    ),
    sparse(
        &bounds::DESCRIPTION,
        Run::Module(|asked, ids| {
            let (module, stated) = (&asked.imported.ir, asked.imported.stated_ranges());
            let report = |id: FuncId| {
                let known = stated.get(&id).cloned().unwrap_or_default();
                Answer::new(bounds::analyze(module, &module.functions[id], known))
            };
            Ok(ids.iter().map(|&id| (id, report(id))).collect())
        }),
    ),
    numbers(
        &bit_widths::STEPHENSON,
        Run::Function(|asked, id| {
            let module = &asked.imported.ir;
            Ok(Answer::new(bit_widths::analyze(
                module,
                &module.functions[id],
                Variant::Stephenson,
                asked.solver,
            )))
        }),
    ),
    sparse(
        &bit_widths::MAHLKE,
        Run::Function(|asked, id| {
            let module = &asked.imported.ir;
            Ok(Answer::new(bit_widths::analyze(module, &module.functions[id], Variant::Mahlke, asked.solver)))
        }),
    ),
    plain(
        &null_pointers::DESCRIPTION,
        Run::Function(|asked, id| {
            let known = asked.imported.null_facts(id);
            Ok(Answer::new(null_pointers::analyse(&asked.imported.ir, id, &known, asked.solver)))
        }),
    ),
    plain(&taint::DESCRIPTION, Run::Module(taint_of)),
    plain(
        &classes::DESCRIPTION,
        Run::Function(|asked, id| {
            Ok(Answer::new(classes::analyse(&asked.imported.ir, id, false, asked.solver)))
        }),
    ),
    plain(
        &classes::WITH_TESTS,
        Run::Function(|asked, id| {
            Ok(Answer::new(classes::analyse(&asked.imported.ir, id, true, asked.solver)))
        }),
    ),
    plain(
        &liveness::DESCRIPTION,
        Run::Function(|asked, id| Ok(Answer::new(liveness::analyse(&asked.imported.ir, id, asked.solver)))),
    ),
    plain(
        &reaching_definitions::DESCRIPTION,
        Run::Function(|asked, id| {
            Ok(Answer::new(reaching_definitions::analyse(&asked.imported.ir, id, asked.solver)))
        }),
    ),
    plain(
        &dead_code::DESCRIPTION,
        Run::Function(|asked, id| Ok(Answer::new(dead_code::analyse(&asked.imported.ir, id, asked.solver)))),
    ),
];

/// A client that can be solved both ways, of the program as it was written.
const fn plain(description: &'static Description, run: Run) -> Client {
    Client { description, registers: false, sparse_only: false, run }
}

/// A client that reasons about numbers.
const fn numbers(description: &'static Description, run: Run) -> Client {
    Client { description, registers: true, sparse_only: false, run }
}

/// One that does so between the versions of split live ranges, and so has no dense solution.
const fn sparse(description: &'static Description, run: Run) -> Client {
    Client { description, registers: true, sparse_only: true, run }
}

/// Taint of the whole module; functions that nothing from outside comes to have nothing to report.
fn taint_of(asked: &Asked<'_>, ids: &[FuncId]) -> Result<Answers> {
    let list = |list: &Option<String>| list.clone();
    let (sources, sinks, sanitizers) =
        (list(&asked.options.sources), list(&asked.options.sinks), list(&asked.options.sanitizers));
    let spec = taint::Spec::new(sources.as_deref(), sinks.as_deref(), sanitizers.as_deref())
        .map_err(|e| Error::option("--sources, --sinks, --sanitizers", e.to_string()))?;
    let closed = asked.imported.closed_symbols();
    let (mut reports, work) = taint::analyse(&asked.imported.ir, &spec, &closed, asked.solver);
    let mut work = Some(work);
    let answer = |id: &FuncId| {
        let report = reports.remove(id).unwrap_or_default();
        (*id, Answer::new((report, work.take().unwrap_or_default())))
    };
    Ok(ids.iter().map(answer).collect())
}

/// What clients are called elsewhere: in the paper, and among the strategies of `warpline ssi`.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("conditional-constants", "constants"),
    ("abcd", "bounds"),
    ("bounds-checks", "bounds"),
    ("stephenson", "bit-widths"),
    ("mahlke", "bit-widths-mahlke"),
    ("nulls", "null-pointers"),
    ("class-inference", "classes"),
    ("hochstadt", "occurrence-types"),
];

/// The client of this name.
pub(super) fn find(name: &str) -> Option<&'static Client> {
    let name = OTHER_NAMES.iter().find(|n| n.0 == name).map_or(name, |n| n.1);
    CLIENTS.iter().find(|c| c.description.name == name)
}

impl Client {
    /// Refuses options that are another client's.
    ///
    /// # Errors
    /// If one was given.
    pub(super) fn check(&self, options: &LintOptions) -> Result<()> {
        let lists = [
            ("--sources", &options.sources),
            ("--sinks", &options.sinks),
            ("--sanitizers", &options.sanitizers),
        ];
        if options.dense && self.sparse_only {
            return Err(Error::option(
                "--dense",
                "what it leaves out, or proves, lies in how live ranges are split: it works on split live ranges only",
            ));
        }
        match lists.iter().find(|(_, list)| list.is_some()) {
            Some((option, _)) if self.description.name != taint::DESCRIPTION.name => {
                Err(Error::option(*option, "it is for --client taint"))
            }
            _ => Ok(()),
        }
    }
}
