//! Loops that are nested deeper than anybody writes.
//!
//! LLVM's passes about loops look at all blocks of each loop, and so does what its code generator does with loops:
//! with nests of hundreds of loops that takes minutes. For such modules they are left out; no program that is meant
//! to run notices.

use std::collections::HashMap;

use crate::ffi::types::*;
use warpline_analysis::{CsrGraph, CycleForest, Node};

use crate::ffi::load::functions;
use crate::module::{Module, blocks_of};
use crate::simplify::has_body;

/// The deepest nest that all passes are run on.
const DEEPEST: u32 = 64;

/// What is run instead of `default<O3>`: nothing that asks for loops.
pub(crate) const WITHOUT_LOOPS: &str = "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,\
     reassociate,sccp,dse,adce,simplifycfg),globaldce";

impl Module {
    /// Whether loops of a function are nested too deep for passes about loops.
    pub(crate) fn has_deep_nest(&self) -> bool {
        self.functions().filter(|&function| has_body(function)).any(|function| {
            let blocks = blocks_of(function);
            // Each loop of a nest has a header of its own.
            blocks.len() > DEEPEST as usize && depth(&blocks) > DEEPEST
        })
    }
}

/// How deep cycles of a function are nested.
fn depth(blocks: &[LLVMBasicBlockRef]) -> u32 {
    let f = functions();
    let number: HashMap<LLVMBasicBlockRef, u32> = blocks.iter().copied().zip(0..).collect();
    let mut edges = Vec::new();
    for (from, &block) in (0..).zip(blocks) {
        // SAFETY: blocks of a live, verified function have terminators, which are asked for successors within their
        // number.
        unsafe {
            let terminator = f.LLVMGetBasicBlockTerminator(block);
            for i in 0..f.LLVMGetNumSuccessors(terminator) {
                edges
                    .extend(number.get(&f.LLVMGetSuccessor(terminator, i)).map(|&to| (Node(from), Node(to))));
            }
        }
    }
    let Ok(graph) = CsrGraph::new(blocks.len(), Node(0), edges) else { return 0 };
    let cycles = CycleForest::compute(&graph);
    cycles.cycles().map(|c| cycles.depth(c)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use crate::{Llvm, Module};

    fn nest(depth: usize) -> String {
        let mut text = "define void @f(i1 %c) {\nentry:\n  br label %h0\n".to_owned();
        for k in 0..depth {
            let next = if k + 1 < depth { format!("h{}", k + 1) } else { format!("l{k}") };
            text += &format!("h{k}:\n  br label %{next}\n");
        }
        for k in (0..depth).rev() {
            let next = if k > 0 { format!("l{}", k - 1) } else { "out".to_owned() };
            text += &format!("l{k}:\n  br i1 %c, label %h{k}, label %{next}\n");
        }
        text + "out:\n  ret void\n}\n"
    }

    #[test]
    fn depth_counts_and_not_size() {
        if Llvm::get().is_err() {
            return eprintln!("skipped: there is no LLVM");
        }
        let deep = |text: &str| Module::parse(text.as_bytes(), "nest").unwrap().has_deep_nest();
        assert!(deep(&nest(65)));
        assert!(!deep(&nest(64)));
        let many: String = (0..100).map(|k| nest(3).replace("@f", &format!("@f{k}"))).collect();
        assert!(!deep(&many));
    }
}
