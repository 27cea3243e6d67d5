//! Checks: branches one side of which leads only to a function that panics.

use serde::Serialize;
use warpline_analysis::EdgeId;

use crate::Code;
use warpline_ir::demangle;
use warpline_ir::{Block, Constant, Effects, Function, Inst, Module, Op};

/// What a check guards against, by the function that reports it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An index that is not below the length.
    Index,
    /// A slice whose ends are out of bounds or in the wrong order.
    Slice,
    /// An integer that does not fit its type.
    Overflow,
    /// A division by zero.
    Division,
    /// An `Option` or `Result` that does not hold what is taken out of it.
    Unwrap,
    /// Anything else that panics: assertions, calls of `panic!`.
    Panic,
}

impl Kind {
    /// All kinds, in order.
    pub const ALL: [Kind; 6] =
        [Kind::Index, Kind::Slice, Kind::Overflow, Kind::Division, Kind::Unwrap, Kind::Panic];

    /// How it is called in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Index => "index",
            Kind::Slice => "slice",
            Kind::Overflow => "overflow",
            Kind::Division => "division",
            Kind::Unwrap => "unwrap",
            Kind::Panic => "panic",
        }
    }
}

/// The kind of check that a function reports, by its name as in the source; `None` if it is not known to panic.
fn kind_of(name: &str) -> Option<Kind> {
    let has = |part: &str| name.contains(part);
    let last = name.rsplit("::").next().unwrap_or(name);
    Some(match () {
        () if has("panic_bounds_check") || has("ubsan_handle_out_of_bounds") => Kind::Index,
        () if has("core::slice::index::slice_") || has("core::str::slice_error_fail") => Kind::Slice,
        () if has("len_mismatch_fail") || has("split_at_fail") => Kind::Slice,
        () if last.ends_with("_by_zero") || has("ubsan_handle_divrem_overflow") => Kind::Division,
        () if last.starts_with("panic_const_") && !last.contains("async") && !last.contains("gen_fn") => {
            Kind::Overflow
        }
        () if has("ubsan_handle_") && (has("_overflow") || has("shift_out_of_bounds")) => Kind::Overflow,
        () if last == "unwrap_failed" || last == "expect_failed" => Kind::Unwrap,
        () if has("panicking::") || last.starts_with("panic") || last == "begin_panic" => Kind::Panic,
        () if matches!(name, "__assert_fail" | "__assert_rtn" | "abort" | "llvm.trap") => Kind::Panic,
        () if has("ubsan_handle_") || name == "llvm.ubsantrap" => Kind::Panic,
        () => return None,
    })
}

/// A branch one side of which only panics.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// The branch.
    pub branch: Inst,
    /// The edge to what panics.
    pub fails: EdgeId,
    /// What for.
    pub kind: Kind,
}

/// The checks of a function, in the order of its blocks.
pub fn checks(module: &Module, func: &Function, code: &Code) -> Vec<Check> {
    use warpline_analysis::{Graph, Node};
    let graph = code.program().graph();
    let mut all = Vec::new();
    for &b in &func.layout {
        let edges = graph.out_edges(Node::from(b));
        if edges.len() < 2 {
            continue;
        }
        let branch = func.terminator(b);
        if !matches!(func.insts[branch].op, Op::CondBr | Op::Switch(_)) {
            continue;
        }
        let panics: Vec<Option<Kind>> =
            edges.iter().map(|&e| panics(module, func, Block::from(graph.target(e)))).collect();
        if panics.iter().all(Option::is_some) {
            continue;
        }
        let found = edges.iter().zip(panics).filter_map(|(&fails, kind)| Some((fails, kind?)));
        all.extend(found.map(|(fails, kind)| Check { branch, fails, kind }));
    }
    all
}

/// How many blocks without a branch are followed.
const FOLLOWED: usize = 4;

/// The kind of panic that a block leads to, if it leads to nothing else.
fn panics(module: &Module, func: &Function, mut block: Block) -> Option<Kind> {
    for _ in 0..FOLLOWED {
        if let Some(kind) = func.block_insts(block).find_map(|i| panic_call(module, func, i)) {
            return Some(kind);
        }
        match func.out_edges(block) {
            [next] if func.insts[func.terminator(block)].op == Op::Br => block = func.edges[*next].to,
            _ => return None,
        }
    }
    None
}

/// The kind of panic that an instruction calls. A call that may unwind is a terminator, and its callee an operand.
fn panic_call(module: &Module, func: &Function, inst: Inst) -> Option<Kind> {
    let data = &func.insts[inst];
    let symbols: Vec<_> = match &data.op {
        Op::Call(call) if call.effects.contains(Effects::NO_RETURN) => call.callee.into_iter().collect(),
        Op::Opaque(info) | Op::OpaqueTerm(info) if &*info.name == "invoke" => {
            let callee = data.args.iter().filter_map(|&a| match func.constant(a) {
                Some(&Constant::Address { symbol, offset: 0, .. }) => Some(symbol),
                _ => None,
            });
            callee.filter(|&s| module.symbols[s].effects.contains(Effects::NO_RETURN)).collect()
        }
        _ => return None,
    };
    symbols.into_iter().find_map(|s| kind_of(&demangle(&module.symbols[s].name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_panic_are_told_apart_by_their_names() {
        for (name, kind) in [
            ("core::panicking::panic_bounds_check", Kind::Index),
            ("core::slice::index::slice_index_fail", Kind::Slice),
            ("core::panicking::panic_const::panic_const_add_overflow", Kind::Overflow),
            ("core::panicking::panic_const::panic_const_div_by_zero", Kind::Division),
            ("core::panicking::panic_const::panic_const_div_overflow", Kind::Overflow),
            ("core::option::unwrap_failed", Kind::Unwrap),
            ("core::result::unwrap_failed", Kind::Unwrap),
            ("core::panicking::panic_fmt", Kind::Panic),
            ("__assert_fail", Kind::Panic),
        ] {
            assert_eq!(kind_of(name), Some(kind), "{name}");
        }
        for name in ["exit", "std::process::exit", "memcpy", "core::panic"] {
            assert!(kind_of(name).is_none_or(|k| name == "core::panic" && k == Kind::Panic), "{name}");
        }
    }
}
