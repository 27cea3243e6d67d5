//! What `analyze` prints: plain data for JSON, and text for people.

use std::fmt::Write as _;

use cranelift_entity::SecondaryMap;
use serde::Serialize;
use warpline_analysis::CycleId;

use super::Uniformity;
use super::explain::{block_loc, short_loc};
use super::tokens::Refusal;
use crate::shape::Shape;
use warpline_ir::demangle;
use warpline_ir::{Block, Function, Inst, Module, Value};

/// Where blocks stand in the layout.
type Positions = SecondaryMap<Block, usize>;

/// The report on a number of functions.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Report {
    /// One entry per function.
    pub functions: Vec<FunctionReport>,
    /// The functions that could not be analysed.
    pub refused: Vec<RefusedReport>,
}

/// A function that could not be analysed, and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RefusedReport {
    /// The function's name.
    pub name: String,
    /// The instruction that is the reason.
    pub instruction: String,
    /// Its source location, `file:line`, if known.
    pub location: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

impl RefusedReport {
    /// The report on a refusal.
    pub fn new(module: &Module, refusal: &Refusal) -> RefusedReport {
        RefusedReport {
            name: refusal.function.clone(),
            instruction: refusal.instruction.clone(),
            location: refusal.loc.filter(|&l| module.locations[l].line > 0).map(|l| short_loc(module, l)),
            reason: refusal.reason.to_owned(),
        }
    }
}

/// The report on one function. Values are called `%name`, blocks by their names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FunctionReport {
    /// The function's name.
    pub name: String,
    /// The loop of the function of which one iteration was analysed, if that is the region: where it begins.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Number of blocks.
    pub blocks: usize,
    /// Number of instructions, φs and terminators included.
    pub instructions: usize,
    /// What differs between lanes.
    pub divergent: Divergent,
    /// The cycles of the control-flow graph, outer ones before inner ones.
    pub cycles: Vec<CycleReport>,
    /// Uses of values that lanes saw in different iterations of a loop.
    pub temporal: Vec<TemporalReport>,
    /// The shapes of the arguments.
    pub arguments: Vec<ShapeReport>,
    /// The shapes of the instructions' results that are strided.
    pub strided: Vec<ShapeReport>,
    /// Why branches are divergent and why lanes leave loops apart.
    pub reasons: Vec<Reason>,
    /// Number of values computed by instructions.
    pub values: usize,
    /// Number of blocks with more than one successor.
    pub branches: usize,
    /// Number of values that count as divergent since they are results of calls to unknown functions: functions that
    /// are only declared, or found out at run time.
    pub unknown_calls: usize,
    /// What other analyses know that made a difference; see [`Known`](super::Known).
    pub facts: Vec<String>,
}

/// What differs between lanes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Divergent {
    /// Arguments.
    pub arguments: Vec<String>,
    /// Results of instructions, in the order of the program.
    pub values: Vec<String>,
    /// Blocks whose terminator sends lanes to different blocks.
    pub branches: Vec<String>,
}

/// A cycle of the control-flow graph.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CycleReport {
    /// Its header.
    pub header: String,
    /// The blocks at which it can be entered, the header first.
    pub entries: Vec<String>,
    /// All its blocks, those of inner cycles included, in the order of the function.
    pub blocks: Vec<String>,
    /// How many of its blocks are left out of the list, if the loops are nested so deep that all lists would be far
    /// longer than the function.
    #[serde(skip_serializing_if = "is_zero")]
    pub blocks_left_out: usize,
    /// Whether the header is the only entry.
    pub reducible: bool,
    /// Whether lanes may leave it in different iterations.
    pub divergent_exit: bool,
    /// Whether it is irreducible and everything in it was taken for divergent.
    pub assumed_divergent: bool,
}

/// A use of a value outside a loop that lanes leave in different iterations.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TemporalReport {
    /// The value.
    pub value: String,
    /// The using instruction: its result, or its operation and block if it has none.
    pub user: String,
    /// The header of the loop.
    pub cycle: String,
}

/// The shape of a value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ShapeReport {
    /// The value.
    pub value: String,
    /// For an argument as on the command line; else `stride(N)` with what is known of wrapping.
    pub shape: String,
}

/// Why a branch is divergent or a loop left apart.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Reason {
    /// `branch` or `loop`.
    pub kind: &'static str,
    /// The block of the branch, or the header of the loop.
    pub block: String,
    /// The source location of the branch or the header, `file:line`, if known.
    pub location: Option<String>,
    /// The reason.
    pub text: String,
}

impl Report {
    /// The report as text for people.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (i, f) in self.functions.iter().enumerate() {
            if i > 0 {
                out.push('\n');
            }
            f.write_text(&mut out);
        }
        for r in &self.refused {
            let place = r.location.as_ref().map(|l| format!(" ({l})")).unwrap_or_default();
            let name = demangle(&r.name);
            let _ = writeln!(out, "\nfunction {name}: not analysed: {}{place}: {}", r.instruction, r.reason);
        }
        out
    }
}

impl FunctionReport {
    /// The report on a function from the result of its analysis.
    pub fn new(module: &Module, func: &Function, result: &Uniformity) -> FunctionReport {
        let insts = || func.layout.iter().flat_map(|&b| func.block_insts(b));
        let results: Vec<Value> = insts().flat_map(|i| func.insts[i].results.iter().copied()).collect();
        let name = |v: &Value| result.names(func).value(func, *v);
        let divergent = |v: &&Value| result.is_divergent(**v);
        let branches = |b: &&Block| result.is_divergent_branch(**b);
        let strided = |v: &&Value| matches!(result.shape(**v), Shape::Strided(_));
        let shape = |v: &Value| ShapeReport { value: name(v), shape: result.shape(*v).to_string() };
        let cycles = || result.cycles().cycles();
        let mut reasons: Vec<Reason> = Vec::new();
        for &b in func.layout.iter().filter(branches) {
            let term: Option<Inst> = func.blocks[b].term.expand();
            let loc = term.and_then(|t| func.insts[t].loc.expand());
            reasons.push(Reason {
                kind: "branch",
                block: result.names(func).block(func, b),
                location: loc.map(|l| short_loc(module, l)),
                text: result.branch_reason(module, func, b),
            });
        }
        for c in cycles() {
            if let Some(step) = result.explain_cycle(module, func, c).into_iter().next() {
                let header = Block::from(result.cycles().header(c));
                reasons.push(Reason {
                    kind: "loop",
                    block: result.names(func).block(func, header),
                    location: block_loc(module, func, header).map(|l| short_loc(module, l)),
                    text: step.text,
                });
            }
        }
        FunctionReport {
            name: func.name.to_string(),
            region: None,
            blocks: func.layout.len(),
            instructions: insts().count(),
            divergent: Divergent {
                arguments: func.params.iter().filter(divergent).map(name).collect(),
                values: results.iter().filter(divergent).map(name).collect(),
                branches: func
                    .layout
                    .iter()
                    .filter(branches)
                    .map(|&b| result.names(func).block(func, b))
                    .collect(),
            },
            cycles: cycle_reports(func, result),
            temporal: result
                .temporal_uses(func)
                .into_iter()
                .map(|(v, user, c)| TemporalReport {
                    value: name(&v),
                    user: user_name(func, result, user),
                    cycle: result.names(func).block(func, Block::from(result.cycles().header(c))),
                })
                .collect(),
            arguments: func
                .params
                .iter()
                .zip(result.args())
                .map(|(p, arg)| ShapeReport { value: name(p), shape: arg.to_string() })
                .collect(),
            strided: results.iter().filter(strided).map(shape).collect(),
            reasons,
            values: results.len(),
            branches: func.layout.iter().filter(|&&b| func.out_edges(b).len() > 1).count(),
            unknown_calls: insts().filter(|&i| result.is_unknown_call(module, func, i)).count(),
            facts: result.used_facts(func),
        }
    }

    /// How many values, branches and loops are divergent, as text.
    pub fn shares(&self) -> String {
        let left_apart = self.cycles.iter().filter(|c| c.divergent_exit).count();
        format!(
            "divergent: {} of {} ({} strided), {} of {}, {} of {}",
            self.divergent.values.len(),
            count(self.values, "value", "values"),
            self.strided.len(),
            self.divergent.branches.len(),
            count(self.branches, "branch", "branches"),
            left_apart,
            count(self.cycles.len(), "loop", "loops")
        )
    }

    fn write_text(&self, out: &mut String) {
        let mut line = |text: String| {
            out.push_str(&text);
            out.push('\n');
        };
        let region = self.region.iter().map(|place| format!("loop at {place} in "));
        line(format!(
            "{}function {}: {}, {}",
            region.collect::<String>(),
            demangle(&self.name),
            count(self.blocks, "block", "blocks"),
            count(self.instructions, "instruction", "instructions")
        ));
        let arguments: Vec<String> =
            self.arguments.iter().map(|s| format!("{} {}", s.value, s.shape)).collect();
        if !arguments.is_empty() {
            line(format!("  arguments: {}", arguments.join(", ")));
        }
        line(format!("  {}", self.shares()));
        if self.unknown_calls > 0 {
            line(format!("  unknown calls: {}", self.unknown_calls));
        }
        for fact in &self.facts {
            line(format!("  known: {fact}"));
        }
        for r in &self.reasons {
            let place = r.location.as_ref().map(|l| format!(" ({l})")).unwrap_or_default();
            line(format!("  divergent {} {}{place}: {}", r.kind, r.block, r.text));
        }
        for t in &self.temporal {
            line(format!("  temporal: {} used by {} outside the loop {}", t.value, t.user, t.cycle));
        }
    }
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// The cycles of a function's graph, by number.
pub fn cycle_reports(func: &Function, result: &Uniformity) -> Vec<CycleReport> {
    let mut position = Positions::new();
    for (i, &b) in func.layout.iter().enumerate() {
        position[b] = i;
    }
    let cycles = result.cycles();
    let all: usize = cycles.cycles().map(|c| cycles.nodes(c).len()).sum();
    let shown = if all <= LISTED_ALWAYS + LISTED_EACH * func.layout.len() { usize::MAX } else { LISTED_EACH };
    cycles.cycles().map(|c| cycle(func, result, &position, c, shown)).collect()
}

/// So many blocks are listed whatever the function, and so many of each cycle if all would be more than so many for
/// each of its blocks besides.
const LISTED_ALWAYS: usize = 20_000;
const LISTED_EACH: usize = 16;

fn is_zero(n: &usize) -> bool {
    *n == 0
}

fn cycle(
    func: &Function,
    result: &Uniformity,
    position: &Positions,
    c: CycleId,
    shown: usize,
) -> CycleReport {
    let cycles = result.cycles();
    let mut blocks: Vec<Block> = cycles.nodes(c).iter().take(shown).map(|&n| Block::from(n)).collect();
    blocks.sort_by_key(|&b| position[b]);
    let header = Block::from(cycles.header(c));
    let mut entries: Vec<Block> = match cycles.is_reducible(c) {
        true => vec![header],
        false => cycles.entries(&result.graph, c).into_iter().map(Block::from).collect(),
    };
    entries.sort_by_key(|&b| (b != header, position[b]));
    CycleReport {
        header: result.names(func).block(func, header),
        entries: entries.into_iter().map(|b| result.names(func).block(func, b)).collect(),
        blocks: blocks.into_iter().map(|b| result.names(func).block(func, b)).collect(),
        blocks_left_out: cycles.nodes(c).len().saturating_sub(shown),
        reducible: cycles.is_reducible(c),
        divergent_exit: result.has_divergent_exit(c),
        assumed_divergent: result.is_given_up(c),
    }
}

fn user_name(func: &Function, result: &Uniformity, user: Inst) -> String {
    let data = &func.insts[user];
    match data.results.first() {
        Some(&r) => result.names(func).value(func, r),
        None => format!("{} in {}", data.op.name(), result.names(func).block(func, data.block)),
    }
}
