//! The loops of a function in LLVM's module.

use std::collections::HashMap;

use crate::ffi::types::*;
use warpline_analysis::{CsrGraph, CycleForest, CycleId, Node};

use crate::ffi::load::functions;
use crate::module::blocks_of;

/// The blocks of a function, and which loops they are in.
pub(crate) struct Loops {
    pub(crate) blocks: Vec<LLVMBasicBlockRef>,
    pub(crate) numbers: HashMap<LLVMBasicBlockRef, Node>,
    pub(crate) cycles: CycleForest,
}

impl Loops {
    /// `None` if there are no loops.
    pub(crate) fn of(function: LLVMValueRef) -> Option<Loops> {
        let blocks = blocks_of(function);
        let edges = blocks.iter().flat_map(|&from| successors(from).into_iter().map(move |to| (from, to)));
        let edges: Vec<_> = edges.collect();
        let numbers: HashMap<_, _> = blocks.iter().enumerate().map(|(k, &b)| (b, Node::new(k))).collect();
        let edges = edges.iter().map(|(from, to)| (numbers[from], numbers[to]));
        let graph = CsrGraph::new(blocks.len(), Node::new(0), edges).ok()?;
        let cycles = CycleForest::compute(&graph);
        (!cycles.is_empty()).then_some(Loops { blocks, numbers, cycles })
    }

    /// Whether a block is in a loop.
    pub(crate) fn contains(&self, cycle: CycleId, block: LLVMBasicBlockRef) -> bool {
        self.numbers.get(&block).is_some_and(|&b| self.cycles.contains(cycle, b))
    }

    /// The block at which a loop begins.
    pub(crate) fn header(&self, cycle: CycleId) -> LLVMBasicBlockRef {
        self.blocks[self.cycles.header(cycle).index()]
    }

    /// The blocks of a loop, those of loops within it included.
    pub(crate) fn blocks_in(&self, cycle: CycleId) -> impl Iterator<Item = LLVMBasicBlockRef> + '_ {
        self.cycles.nodes(cycle).iter().map(|b| self.blocks[b.index()])
    }

    /// The terminators that lead back to the header of a loop.
    pub(crate) fn latches(&self, cycle: CycleId) -> Vec<LLVMValueRef> {
        let header = self.header(cycle);
        self.terminators(cycle, |to| to == header)
    }

    /// The terminators that lead out of a loop.
    pub(crate) fn leaving(&self, cycle: CycleId) -> Vec<LLVMValueRef> {
        self.terminators(cycle, |to| !self.contains(cycle, to))
    }

    fn terminators(&self, cycle: CycleId, leads: impl Fn(LLVMBasicBlockRef) -> bool) -> Vec<LLVMValueRef> {
        let some = self.blocks_in(cycle).filter(|&block| successors(block).into_iter().any(&leads));
        // SAFETY: blocks of a live, verified function have terminators.
        some.map(|block| unsafe { functions().LLVMGetBasicBlockTerminator(block) }).collect()
    }
}

fn successors(block: LLVMBasicBlockRef) -> Vec<LLVMBasicBlockRef> {
    let f = functions();
    // SAFETY: blocks of a live, verified function have terminators, which are asked for successors within their number.
    unsafe {
        let terminator = f.LLVMGetBasicBlockTerminator(block);
        (0..f.LLVMGetNumSuccessors(terminator)).map(|k| f.LLVMGetSuccessor(terminator, k)).collect()
    }
}
