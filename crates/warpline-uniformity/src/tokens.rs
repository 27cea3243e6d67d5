//! Convergence control tokens (`llvm.experimental.convergence.*`): honoured where they say what the analysis assumes
//! anyway.
//!
//! The analysis takes threads to converge as much as they can: executions of one instance of an instruction are
//! together (paper 2, *maximal convergence*). Tokens let a program say otherwise. They agree with this
//! * at `entry`, in the entry block: those that are together at the call are together here;
//! * at the heart of a loop (`loop`) that stands in the header of a reducible cycle and uses the token of the region
//!   around it, that is, the function's entry token or the heart of the cycle around: iterations count as they do for
//!   instances.
//!
//! Everything else is refused: an `anchor` whose token is used, since the set of threads that it stands for may be
//! smaller than those that are there, so that even a ballot is not one for all of them; a heart in another place or
//! with another token; a token that is used in a cycle without a heart. A value in such a function would be called
//! uniform by rules that the program has set aside.

use std::fmt;

use warpline_analysis::{CycleForest, Node};

use super::rules::called;
use warpline_ir::{Block, Function, Inst, Loc, Module, Names, Value};

const PREFIX: &str = "llvm.experimental.convergence.";

/// Why a function cannot be analysed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The function.
    pub function: String,
    /// The instruction at fault: its result, or its operation and block.
    pub instruction: String,
    /// Where it comes from.
    pub loc: Option<Loc>,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl Refusal {
    /// The refusal with the source line, if it is known.
    pub fn describe(&self, module: &Module) -> String {
        match self.loc.filter(|&l| module.locations[l].line > 0) {
            Some(loc) => format!("{}: {self}", module.describe_loc(loc)),
            None => self.to_string(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function `{}`, {}: {}", self.function, self.instruction, self.reason)
    }
}

impl std::error::Error for Refusal {}

#[derive(Copy, Clone, PartialEq)]
enum Kind {
    Entry,
    Anchor,
    Heart,
}

fn kind(module: &Module, func: &Function, inst: Inst) -> Option<Kind> {
    match called(module, func, inst)?.name().strip_prefix(PREFIX)? {
        "entry" => Some(Kind::Entry),
        "anchor" => Some(Kind::Anchor),
        "loop" => Some(Kind::Heart),
        _ => None,
    }
}

/// Checks that a function's tokens ask for what the analysis assumes. `cycles` are those of its graph.
///
/// # Errors
/// The first instruction, in the order of the program, that asks for something else.
pub fn check(module: &Module, func: &Function, cycles: &CycleForest) -> Result<(), Refusal> {
    let uses_tokens = |one: &&str| module.symbol(&format!("{PREFIX}{one}")).is_some();
    if !["entry", "anchor", "loop"].iter().any(uses_tokens) {
        return Ok(());
    }
    let names = Names::new(func);
    for &block in &func.layout {
        for inst in func.block_insts(block) {
            fault(module, func, cycles, block, inst).map_or(Ok(()), |reason| {
                let data = &func.insts[inst];
                let instruction = match data.results.first() {
                    Some(&r) => names.value(func, r),
                    None => format!("{} in block {}", data.op.name(), names.block(func, block)),
                };
                let function = func.name.to_string();
                Err(Refusal { function, instruction, loc: data.loc.expand(), reason })
            })?;
        }
    }
    Ok(())
}

/// What is wrong with an instruction.
fn fault(
    module: &Module,
    func: &Function,
    cycles: &CycleForest,
    block: Block,
    inst: Inst,
) -> Option<&'static str> {
    let own = kind(module, func, inst);
    let node = Node::from(block);
    if own == Some(Kind::Entry) && block != func.entry() {
        return Some("a convergence token of the entry outside of the entry block");
    }
    let token = |&v: &Value| {
        let def = func.def_inst(v)?;
        kind(module, func, def).map(|k| (k, Node::from(func.insts[def].block)))
    };
    let used = func.insts[inst].args.iter().find_map(token);
    match (own, used) {
        (_, Some((Kind::Anchor, _))) => {
            Some("its convergence token comes from an anchor, the threads of which are not known")
        }
        (Some(Kind::Heart), used) => {
            let header =
                cycles.innermost(node).filter(|&c| cycles.header(c) == node && cycles.is_reducible(c));
            match (header, used) {
                (None, _) => Some("the heart of a loop that is not in the header of a reducible cycle"),
                (Some(_), None) => {
                    Some("the heart of a loop without the convergence token of the region around")
                }
                (Some(cycle), Some((_, at))) => (cycles.innermost(at) != cycles.parent(cycle)).then_some(
                    "the heart of a loop with a convergence token that is not that of the region around",
                ),
            }
        }
        (_, Some((_, at))) => (cycles.innermost(at) != cycles.innermost(node))
            .then_some("a convergence token from outside of the cycle that it is used in"),
        (_, None) => None,
    }
}
