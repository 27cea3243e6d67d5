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

/// So many occurrences of a variable are usual.
const USUAL: usize = 6;

/// The occurrences of each of the `wanted` variables, by their places among these: by node, and in the order of control
/// within one; what an instruction uses comes before what it defines.
pub(super) fn collect(program: &Program, wanted: &BitSet) -> Lists<Occurrence> {
    let count = wanted.count();
    let mut all: Vec<(u32, Occurrence)> = Vec::with_capacity(USUAL * count);
    let is_wanted = |v: Variable| wanted.contains(v.index());
    let graph = program.graph();
    let mut defined = Vec::new();
    for node in graph.nodes() {
        if let Some(&e) = graph.in_edges(node).first() {
            for (k, phi) in program.phis(e).iter().enumerate().filter(|(_, phi)| is_wanted(phi.result)) {
                let place = Place::Phi(k as u32);
                all.push((phi.result.0, Occurrence { node, place, slot: 0 }));
            }
        }
        collect_instructions(program, node, is_wanted, &mut defined, &mut all);
        for (test, slot) in program.tests(node).iter().zip(program.test_slots(node)) {
            if is_wanted(test.variable) {
                all.push((test.variable.0, Occurrence { node, place: Place::Test, slot: slot as u32 }));
            }
        }
        for &e in graph.out_edges(node) {
            for (phi, slot) in program.phis(e).iter().zip(program.phi_slots(e)) {
                if is_wanted(phi.operand) {
                    let place = Place::Operand(e);
                    all.push((phi.operand.0, Occurrence { node, place, slot: slot as u32 }));
                }
            }
        }
    }
    let ranks = wanted.ranks();
    let place = |v: u32| ranks.of(v as usize);
    Lists::group(count, all.iter().map(|&(v, o)| (place(v), o)))
}

/// Adds what instructions of a block use and define. Most of it is of other variables, so the operands of all the
/// instructions are looked through as one list, and so are their results. `defined` is working memory.
fn collect_instructions(
    program: &Program,
    node: Node,
    is_wanted: impl Fn(Variable) -> bool,
    defined: &mut Vec<(u32, Occurrence)>,
    all: &mut Vec<(u32, Occurrence)>,
) {
    let block = program.block(node);
    if block.is_empty() {
        return;
    }
    let (first, last) = (Instruction(block.start), Instruction(block.end - 1));
    let slots = program.definition_slots(first).start..program.definition_slots(last).end;
    let mut at = first;
    for (slot, &v) in slots.clone().zip(&program.all_definitions()[slots]) {
        if is_wanted(v) {
            while program.definition_slots(at).end <= slot {
                at.0 += 1;
            }
            defined.push((v.0, Occurrence { node, place: Place::Definition(at), slot: slot as u32 }));
        }
    }
    let mut defined_next = defined.drain(..).peekable();
    let slots = program.use_slots(first).start..program.use_slots(last).end;
    let mut at = first;
    for (slot, &v) in slots.clone().zip(&program.all_uses()[slots]) {
        if is_wanted(v) {
            while program.use_slots(at).end <= slot {
                at.0 += 1;
            }
            // What earlier instructions define.
            let is_earlier = |d: &(u32, Occurrence)| matches!(d.1.place, Place::Definition(i) if i < at);
            while let Some(earlier) = defined_next.next_if(is_earlier) {
                all.push(earlier);
            }
            all.push((v.0, Occurrence { node, place: Place::Use(at), slot: slot as u32 }));
        }
    }
    all.extend(defined_next);
}
