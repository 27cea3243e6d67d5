//! The clients that can be asked for.

use warpline::dataflow::clients::{
    bounds, classes, dead_code, liveness, null_pointers, reaching_definitions, taint,
};
use warpline::dataflow::report::Description;
use warpline::ir::FuncId;

use super::{Answer, Asked};
use crate::cli::AnalyzeOptions;
use crate::error::{Error, Result};

/// A client of the program.
pub struct Client {
    /// What it is.
    pub description: &'static Description,
    /// Whether sources are simplified first, as for the other analyses: calls inlined, dead code removed. Where not, the analysis is of
    /// the program as it was written.
    pub simplified: bool,
    /// How it is asked.
    pub run: Run,
}

/// How a client is asked; the reason if it refuses a function.
#[derive(Clone, Copy)]
pub enum Run {
    /// About one function at a time.
    Function(OneFunction),
    /// About the whole module; it answers for these functions.
    Module(fn(&Asked<'_>, &[FuncId]) -> Result<Answers>),
}

/// How a client is asked about one function; the reason if it refuses.
pub type OneFunction = fn(&Asked<'_>, FuncId) -> std::result::Result<Answer, String>;

/// What a client says of functions.
pub type Answers = Vec<(FuncId, Answer)>;

/// All clients, in the order of the list.
pub const CLIENTS: &[Client] = &[
    Client {
        description: &null_pointers::DESCRIPTION,
        simplified: false,
        run: Run::Function(|asked, id| {
            let known = asked.imported.null_facts(id);
            Ok(Answer::new(null_pointers::analyse(&asked.imported.ir, id, &known, asked.solver)))
        }),
    },
    Client { description: &taint::DESCRIPTION, simplified: false, run: Run::Module(taint_of) },
    plain(&classes::DESCRIPTION, |asked, id| {
        Ok(Answer::new(classes::analyse(&asked.imported.ir, id, false, asked.solver)))
    }),
    plain(&classes::WITH_TESTS, |asked, id| {
        Ok(Answer::new(classes::analyse(&asked.imported.ir, id, true, asked.solver)))
    }),
    Client {
        description: &bounds::DESCRIPTION,
        simplified: true,
        run: Run::Function(|asked, id| {
            let module = &asked.imported.ir;
            Ok(Answer::new(bounds::analyze(module, &module.functions[id], ())))
        }),
    },
    plain(&liveness::DESCRIPTION, |asked, id| {
        Ok(Answer::new(liveness::analyse(&asked.imported.ir, id, asked.solver)))
    }),
    plain(&reaching_definitions::DESCRIPTION, |asked, id| {
        Ok(Answer::new(reaching_definitions::analyse(&asked.imported.ir, id, asked.solver)))
    }),
    plain(&dead_code::DESCRIPTION, |asked, id| {
        Ok(Answer::new(dead_code::analyse(&asked.imported.ir, id, asked.solver)))
    }),
];

/// A client that is asked about one function at a time, of the program as it was written.
const fn plain(description: &'static Description, run: OneFunction) -> Client {
    Client { description, simplified: false, run: Run::Function(run) }
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

/// The client of this name.
pub fn find(name: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|c| c.description.name == name)
}

impl Client {
    /// Refuses options that are another client's.
    ///
    /// # Errors
    /// If one was given.
    pub fn check(&self, options: &AnalyzeOptions) -> Result<()> {
        let lists = [
            ("--sources", &options.sources),
            ("--sinks", &options.sinks),
            ("--sanitizers", &options.sanitizers),
        ];
        if options.dense && self.description.name == bounds::DESCRIPTION.name {
            return Err(Error::option("--dense", "checks are proved on split live ranges only"));
        }
        match lists.iter().find(|(_, list)| list.is_some()) {
            Some((option, _)) if self.description.name != taint::DESCRIPTION.name => {
                Err(Error::option(*option, "it is for --client taint"))
            }
            _ => Ok(()),
        }
    }
}
