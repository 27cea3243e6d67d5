//! Where variables occur, for those whose live ranges are split.

use alloc::vec::Vec;

use crate::bitset::BitSet;
use crate::graph::{EdgeId, Graph, Lists, Node};
use crate::program::{Instruction, Program, Variable};

/// How a variable occurs in a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// Defined by the block's φ with this number.
    Phi(u32),
    Use(Instruction),
    Definition(Instruction),
    Test,
    /// Used by a φ of the edge's target.
    Operand(EdgeId),
}

/// An occurrence of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Occurrence {
    pub(super) node: Node,
    pub(super) place: Place,
    /// Where it stands among all of its kind; of no meaning for results of φs.
    pub(super) slot: u32,
}

impl Occurrence {
    /// Whether the variable is defined there.
    pub(super) fn defines(&self) -> bool {
        matches!(self.place, Place::Phi(_) | Place::Definition(_))
    }
}

/// The occurrences of the `wanted` variables: by node, and in the order of control within one; what an instruction
/// uses comes before what it defines.
pub(super) fn collect(program: &Program, wanted: &BitSet) -> Lists<Occurrence> {
    let mut all: Vec<(u32, Occurrence)> = Vec::new();
    let mut add = |v: Variable, node: Node, place: Place, slot: usize| {
        if wanted.contains(v.index()) {
            all.push((v.0, Occurrence { node, place, slot: slot as u32 }));
        }
    };
    let graph = program.graph();
    for node in graph.nodes() {
        if let Some(&e) = graph.in_edges(node).first() {
            for (k, phi) in program.phis(e).iter().enumerate() {
                add(phi.result, node, Place::Phi(k as u32), 0);
            }
        }
        for at in program.block(node).map(Instruction) {
            for (&v, slot) in program.uses(at).iter().zip(program.use_slots(at)) {
                add(v, node, Place::Use(at), slot);
            }
            for (&v, slot) in program.definitions(at).iter().zip(program.definition_slots(at)) {
                add(v, node, Place::Definition(at), slot);
            }
        }
        for (test, slot) in program.tests(node).iter().zip(program.test_slots(node)) {
            add(test.variable, node, Place::Test, slot);
        }
        for &e in graph.out_edges(node) {
            for (phi, slot) in program.phis(e).iter().zip(program.phi_slots(e)) {
                add(phi.operand, node, Place::Operand(e), slot);
            }
        }
    }
    Lists::group(program.variables(), all.iter().map(|&(v, o)| (v as usize, o)))
}
