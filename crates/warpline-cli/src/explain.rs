//! `warpline explain`: why a value, a branch or all on a source line is divergent, or uniform.

use std::fmt::Write as _;

use serde::Serialize;
use warpline::demangle;
use warpline::ir::{Block, Function, Inst, Loc, Module, Names, Value};
use warpline::uniformity::{BecauseKnown, CycleId, Explainer, Options, Uniformity, tokens};

use warpline_llvm::did_you_mean;

use crate::Outcome;
use crate::chain::{Place, Sources, Statement, Writer, statements};
use crate::cli::{ExplainOptions, Format};
use crate::error::{Error, Result};
use crate::output;
use crate::subject::{Asked, Unit};

/// What is explained.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Subject {
    Value(Value),
    Branch(Block),
    Loop(CycleId),
}

/// The explanation of one thing.
#[derive(Debug, Serialize)]
struct Explanation {
    /// `value`, `branch` or `loop`.
    kind: &'static str,
    /// What it is called.
    name: String,
    /// Whether it is divergent. A strided value is.
    divergent: bool,
    /// For a value: `uniform`, `stride(N)` or `varying`.
    shape: Option<String>,
    /// Why it is uniform, if it is.
    uniform_because: Option<String>,
    /// If it is uniform only for what other analyses know: why it would be divergent, up to what they refute.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    without_facts: Vec<Statement>,
    /// Where in the source.
    location: Option<Place>,
    /// Why it is divergent: from the thing itself to what causes it.
    chain: Vec<Statement>,
    /// Uses outside a loop, of a value that is uniform where it is defined, by which lanes see different values.
    divergent_uses: Vec<DivergentUse>,
}

#[derive(Debug, Serialize)]
struct DivergentUse {
    text: String,
    location: Option<Place>,
    chain: Vec<Statement>,
}

#[derive(Debug, Serialize)]
struct Report {
    function: String,
    explanations: Vec<Explanation>,
}

/// Runs the command.
///
/// # Errors
/// As [`explained`], or if nothing can be printed.
pub(crate) fn explain(options: &ExplainOptions) -> Result<Outcome> {
    output::print(&explained(options)?)?;
    Ok(Outcome::Clean)
}

/// What the command prints.
///
/// # Errors
/// Whatever is wrong with the input and the options; a value or line that does not exist.
pub fn explained(options: &ExplainOptions) -> Result<String> {
    let path = &options.input;
    let unit = Unit::open_with_loops(path, options.function.as_deref(), &options.assume, &options.compilers)?;
    if options.format == Format::Text {
        unit.note_varying(&options.assume)?;
    }
    let imported = &unit.imported;
    // A line says which function, if no other has something there.
    let on_line = options.line.filter(|_| options.function.is_none()).and_then(|line| unit.on_line(line));
    let id = on_line.map_or_else(|| unit.function(options.function.as_deref()), Ok)?;
    let func = &imported.ir.functions[id];
    let (args, algorithm, work_group) =
        (options.assume.args.as_deref(), options.assume.algorithm, options.assume.work_group);
    let asked = unit.options(
        id,
        &Asked { args, algorithm, facts: !options.assume.no_facts, work_group, as_vectorized: true },
    )?;
    let result = Uniformity::compute(&imported.ir, func, &asked);
    tokens::check(&imported.ir, func, result.cycles())
        .map_err(|refusal| Error::input(path, refusal.describe(&imported.ir)))?;
    let used_facts = !result.used_facts(func).is_empty();
    let without =
        used_facts.then(|| Uniformity::compute(&imported.ir, func, &Options { known: None, ..asked }));
    let context = Context::new(&imported.ir, func, &result, without.as_ref());
    let subjects = match (&options.value, options.line) {
        (Some(name), _) => vec![context.by_name(name)?],
        (None, line) => context.on_line(line.unwrap_or_default())?,
    };
    let explanations = subjects.into_iter().map(|s| context.explain(s)).collect();
    let report = Report { function: func.name.to_string(), explanations };
    Ok(match options.format {
        Format::Json => output::json(&report),
        Format::Text => text(&report, func, &imported.ir, &mut Sources::beside(path)),
    })
}

/// What is known of the function.
struct Context<'a> {
    module: &'a Module,
    func: &'a Function,
    result: &'a Uniformity,
    /// The result without what other analyses know, if that made a difference somewhere.
    without: Option<&'a Uniformity>,
    names: &'a Names,
    explainer: Explainer<'a>,
}

impl<'a> Context<'a> {
    fn new(
        module: &'a Module,
        func: &'a Function,
        result: &'a Uniformity,
        without: Option<&'a Uniformity>,
    ) -> Self {
        let (names, explainer) = (result.names(func), Explainer::new(module, func, result));
        Context { module, func, result, without, names, explainer }
    }

    /// What other analyses know because of which a value or the branch of a block is uniform.
    fn why_known(&self, subject: Subject) -> Option<BecauseKnown> {
        let (module, func, without) = (self.module, self.func, self.without?);
        match subject {
            Subject::Value(v) => self.result.why_known(module, func, without, v),
            Subject::Branch(b) => self.result.why_branch_known(module, func, without, b),
            Subject::Loop(_) => None,
        }
    }

    /// Why something is uniform: facts, or the end of a sentence about it.
    fn because(&self, known: &Option<BecauseKnown>, plain: impl FnOnce() -> String) -> String {
        match known {
            Some(known) => known.facts.join(", and "),
            None => plain(),
        }
    }

    fn by_name(&self, name: &str) -> Result<Subject> {
        let (func, names) = (self.func, &self.names);
        let unknown = |what: &str, name: &str, known: Vec<String>| {
            let is_number = name.trim_start_matches('%').bytes().all(|b| b.is_ascii_digit());
            let near = match is_number {
                true => String::new(),
                false => did_you_mean(name, known.iter().map(String::as_str)),
            };
            let list = || match known.len() {
                0 => String::new(),
                n if n <= 12 => format!("; there are {}", known.join(", ")),
                n => format!("; there are {}, … ({n})", known[..12].join(", ")),
            };
            let near = if near.is_empty() { list() } else { near };
            Error::option("--value", format!("function `{}` has no {what} `{name}`{near}", func.name))
        };
        let block = |name: &str| {
            let blocks = names.blocks(func);
            let found = blocks.get(name.trim_start_matches('%')).copied();
            found.ok_or_else(|| unknown("block", name, blocks.into_keys().collect()))
        };
        if let Some(name) = name.strip_prefix("block:") {
            return Ok(Subject::Branch(block(name)?));
        }
        if let Some(name) = name.strip_prefix("loop:") {
            let cycles = self.result.cycles();
            let header = |c: &CycleId| Block::from(cycles.header(*c)) == block(name).unwrap_or(func.entry());
            block(name)?;
            let headers =
                || cycles.cycles().map(|c| names.block(func, Block::from(cycles.header(c)))).collect();
            let found = cycles.cycles().find(header);
            return found.map(Subject::Loop).ok_or_else(|| unknown("loop at block", name, headers()));
        }
        let wanted = if name.starts_with('%') { name.to_owned() } else { format!("%{name}") };
        let values = names.values(func);
        let found = values.get(&wanted).copied();
        found.map(Subject::Value).ok_or_else(|| unknown("value", &wanted, values.into_keys().collect()))
    }

    /// The values and branches on a line, in the order of the program.
    fn on_line(&self, line: u32) -> Result<Vec<Subject>> {
        let func = self.func;
        let mut subjects = Vec::new();
        let mut lines: Vec<u32> = Vec::new();
        if self.is_on(func.loc.expand(), line, &mut lines) && !func.params.is_empty() {
            subjects.extend(func.params.iter().map(|&p| Subject::Value(p)));
        }
        for &b in &func.layout {
            for inst in func.block_insts(b) {
                let data = &func.insts[inst];
                if !self.is_on(data.loc.expand(), line, &mut lines) {
                    continue;
                }
                subjects.extend(data.results.iter().map(|&v| Subject::Value(v)));
                if data.edges.len() > 1 {
                    subjects.push(Subject::Branch(b));
                } else if data.results.is_empty() {
                    // What is stored or returned.
                    let made = |v: &&Value| func.constant(**v).is_none();
                    subjects.extend(data.args.iter().filter(made).map(|&v| Subject::Value(v)));
                }
            }
        }
        let all = std::mem::take(&mut subjects);
        for subject in all {
            if !subjects.contains(&subject) {
                subjects.push(subject);
            }
        }
        if !subjects.is_empty() {
            return Ok(subjects);
        }
        lines.sort_by_key(|&l| (l.abs_diff(line), l));
        lines.dedup();
        let message = if lines.is_empty() {
            format!("function `{}` has no source lines; compile with -g", func.name)
        } else {
            lines.truncate(8);
            lines.sort_unstable();
            if lines.contains(&line) {
                let name = &func.name;
                return Err(Error::option(
                    "--line",
                    format!("function `{name}` computes no value on line {line}"),
                ));
            }
            let near: Vec<String> = lines.iter().map(u32::to_string).collect();
            format!(
                "function `{}` computes nothing on line {line}; near it are {}",
                func.name,
                near.join(", ")
            )
        };
        Err(Error::option("--line", message))
    }

    /// Whether a location, or a place that it was inlined at, is on the line of the function's file. Notes all lines.
    fn is_on(&self, loc: Option<Loc>, line: u32, lines: &mut Vec<u32>) -> bool {
        let file = self.func.loc.expand().map(|l| &self.module.locations[l].file);
        let around = std::iter::successors(loc, |&l| self.module.locations[l].inlined_at);
        let mut found = false;
        for l in around.map(|l| &self.module.locations[l]) {
            if l.line > 0 && file.is_none_or(|f| *f == l.file) {
                lines.push(l.line);
                found |= l.line == line;
            }
        }
        found
    }

    fn explain(&self, subject: Subject) -> Explanation {
        let names = &self.names;
        let known = self.why_known(subject);
        let otherwise = known.as_ref().map(|k| k.without.as_slice()).unwrap_or_default();
        let place = |loc| Place::of(self.module, self.func, loc);
        let chain = |steps: &[_]| statements(self.module, self.func, self.names, steps);
        match subject {
            Subject::Value(v) => {
                let steps = self.explainer.value(v);
                let divergent = self.result.is_divergent(v);
                Explanation {
                    kind: "value",
                    name: names.value(self.func, v),
                    divergent,
                    shape: Some(self.result.shape(v).to_string()),
                    uniform_because: (!divergent)
                        .then(|| self.because(&known, || self.explainer.why_uniform(v))),
                    without_facts: chain(otherwise),
                    location: place(match self.func.def_inst(v) {
                        Some(inst) => self.func.insts[inst].loc.expand(),
                        None => self.func.loc.expand(),
                    }),
                    chain: chain(&steps),
                    divergent_uses: if divergent { Vec::new() } else { self.uses_outside(v) },
                }
            }
            Subject::Branch(b) => {
                let steps = self.explainer.branch(b);
                let divergent = self.result.is_divergent_branch(b);
                let term = self.func.blocks[b].term.expand();
                Explanation {
                    kind: "branch",
                    name: names.block(self.func, b),
                    divergent,
                    shape: None,
                    uniform_because: (!divergent)
                        .then(|| self.because(&known, || self.explainer.why_uniform_branch(b))),
                    without_facts: chain(otherwise),
                    location: place(term.and_then(|t| self.func.insts[t].loc.expand())),
                    chain: if divergent { chain(&steps) } else { Vec::new() },
                    divergent_uses: Vec::new(),
                }
            }
            Subject::Loop(c) => {
                let steps = self.explainer.cycle(c);
                let header = Block::from(self.result.cycles().header(c));
                let why =
                    "is left by all lanes in the same iteration, or by none of its exits in different ones";
                Explanation {
                    kind: "loop",
                    name: names.block(self.func, header),
                    divergent: !steps.is_empty(),
                    shape: None,
                    uniform_because: steps.is_empty().then(|| why.to_owned()),
                    without_facts: Vec::new(),
                    location: Place::of_block(self.module, self.func, header),
                    chain: chain(&steps),
                    divergent_uses: Vec::new(),
                }
            }
        }
    }

    /// Uses of a value outside a loop by which lanes see different values of it.
    fn uses_outside(&self, v: Value) -> Vec<DivergentUse> {
        let uses = self.result.temporal_uses(self.func);
        let mut seen: Vec<Inst> = Vec::new();
        let mut found = Vec::new();
        for (_, user, cycle) in uses.into_iter().filter(|&(used, _, _)| used == v) {
            if seen.contains(&user) {
                continue;
            }
            seen.push(user);
            let name = self.names.value(self.func, v);
            found.push(DivergentUse {
                text: self.result.describe_temporal_use(self.module, self.func, user, &name, cycle),
                location: Place::of(self.module, self.func, self.func.insts[user].loc.expand()),
                chain: statements(self.module, self.func, self.names, &self.use_steps(v, user)),
            });
        }
        found
    }

    fn use_steps(&self, v: Value, user: Inst) -> Vec<warpline::uniformity::Step> {
        let data = &self.func.insts[user];
        let Some(position) = self.func.phi_position(user).filter(|_| data.op == warpline::ir::Op::Phi) else {
            return self.explainer.use_at(v, data.block);
        };
        let edges = self.func.blocks[data.block].preds.iter();
        let taken = edges.copied().filter(|&e| self.func.edges[e].args.get(position) == Some(&v));
        taken.map(|e| self.explainer.use_on(v, e)).find(|steps| !steps.is_empty()).unwrap_or_default()
    }
}

fn text(report: &Report, func: &Function, module: &Module, sources: &mut Sources) -> String {
    let mut out = String::new();
    let place = Place::of(module, func, func.loc.expand());
    let place = place.map(|p| format!(" ({})", p.short())).unwrap_or_default();
    let _ = writeln!(out, "function {}{place}", demangle(&report.function));
    let mut writer = Writer::new(sources);
    for e in &report.explanations {
        let name = match e.kind {
            "branch" => format!("the branch of block {}", e.name),
            "loop" => format!("the loop at block {}", e.name),
            _ => e.name.clone(),
        };
        let at = e.location.as_ref().map(|p| format!(" ({})", p.short())).unwrap_or_default();
        match (&e.uniform_because, &e.shape) {
            (Some(why), _) if !e.without_facts.is_empty() => {
                let _ = writeln!(out, "\n{name}{at} is uniform because {why}");
            }
            (Some(why), _) => {
                let _ = writeln!(out, "\n{name}{at} is uniform: it {why}");
            }
            (None, Some(shape)) => {
                let _ = writeln!(out, "\n{name}{at} is divergent, {shape}");
            }
            (None, None) => {
                let _ = writeln!(out, "\n{name}{at} is divergent");
            }
        }
        writer.chain(&mut out, "because", &e.chain);
        writer.chain(&mut out, "without that", &e.without_facts);
        for u in &e.divergent_uses {
            let place = u.location.as_ref().map(|p| format!("{}: ", p.short())).unwrap_or_default();
            let _ = writeln!(out, "{place}but {}", u.text);
            writer.chain(&mut out, "because", &u.chain);
        }
    }
    out
}
