//! Where variables occur, for those whose live ranges are split.

use alloc::vec::Vec;

use crate::bitset::{BitSet, Ranks};
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

/// So many occurrences of a variable are usual.
const USUAL: usize = 6;

/// Occurrences in the order in which they are found, each with the place of its variable among the wanted ones.
struct Found<'a> {
    wanted: &'a BitSet,
    ranks: Ranks<'a>,
    all: Vec<(u32, Occurrence)>,
}

impl Found<'_> {
    /// Notes an occurrence if its variable is wanted.
    #[inline]
    fn add(&mut self, v: Variable, node: Node, place: Place, slot: usize) {
        if self.wanted.contains(v.index()) {
            let rank = self.ranks.of(v.index()) as u32;
            self.all.push((rank, Occurrence { node, place, slot: slot as u32 }));
        }
    }

    /// Adds what instructions of a block use and define. Most of it is of other variables, so the operands of all the
    /// instructions are looked through as one list, and so are their results. `defined` is working memory.
    fn add_instructions(&mut self, program: &Program, node: Node, defined: &mut Vec<(Instruction, usize)>) {
        let block = program.block(node);
        if block.is_empty() {
            return;
        }
        let (first, last) = (Instruction(block.start), Instruction(block.end - 1));
        let slots = program.definition_slots(first).start..program.definition_slots(last).end;
        let mut at = first;
        for (slot, &v) in slots.clone().zip(&program.all_definitions()[slots]) {
            if self.wanted.contains(v.index()) {
                while program.definition_slots(at).end <= slot {
                    at.0 += 1;
                }
                defined.push((at, slot));
            }
        }
        let all_defined = program.all_definitions();
        let mut defined_next = defined.drain(..).peekable();
        let slots = program.use_slots(first).start..program.use_slots(last).end;
        let mut at = first;
        for (slot, &v) in slots.clone().zip(&program.all_uses()[slots]) {
            if self.wanted.contains(v.index()) {
                while program.use_slots(at).end <= slot {
                    at.0 += 1;
                }
                // What earlier instructions define.
                while let Some((earlier, slot)) = defined_next.next_if(|d| d.0 < at) {
                    self.add(all_defined[slot], node, Place::Definition(earlier), slot);
                }
                self.add(v, node, Place::Use(at), slot);
            }
        }
        for (at, slot) in defined_next {
            self.add(all_defined[slot], node, Place::Definition(at), slot);
        }
    }
}

/// The occurrences of each of the `wanted` variables, by their places among these: by node, and in the order of control
/// within one; what an instruction uses comes before what it defines.
pub(super) fn collect(program: &Program, wanted: &BitSet) -> Lists<Occurrence> {
    let count = wanted.count();
    let mut found = Found { wanted, ranks: wanted.ranks(), all: Vec::with_capacity(USUAL * count) };
    let graph = program.graph();
    let has_phis = !program.all_phis().is_empty();
    let mut defined = Vec::new();
    for node in graph.nodes() {
        if let (true, Some(&e)) = (has_phis, graph.in_edges(node).first()) {
            for (k, phi) in program.phis(e).iter().enumerate() {
                found.add(phi.result, node, Place::Phi(k as u32), 0);
            }
        }
        found.add_instructions(program, node, &mut defined);
        for (test, slot) in program.tests(node).iter().zip(program.test_slots(node)) {
            found.add(test.variable, node, Place::Test, slot);
        }
        for &e in graph.out_edges(node).iter().filter(|_| has_phis) {
            for (phi, slot) in program.phis(e).iter().zip(program.phi_slots(e)) {
                found.add(phi.operand, node, Place::Operand(e), slot);
            }
        }
    }
    Lists::group(count, found.all.iter().map(|&(rank, o)| (rank as usize, o)))
}
