//! What candidates hold, once all edges between definitions and candidates are known.

use alloc::vec::Vec;

use crate::dom::DomTree;
use crate::graph::{CsrGraph, Graph, Node};

const NONE: u32 = u32::MAX;

/// In how many rounds joins are looked for before dominators are computed.
const ROUNDS: usize = 8;

/// Edges between marks: what the end of one holds arrives at the beginning of the other.
#[derive(Default)]
pub(super) struct SmallGraph {
    edges: Vec<(u32, u32)>,
    ends: Vec<End>,
}

/// A mark in this graph.
#[derive(Clone, Copy)]
pub(super) struct End {
    /// Whether its end is a definition of its own, whatever arrives at its beginning.
    pub(super) is_definition: bool,
    /// Whether it is asked what its beginning holds.
    pub(super) is_candidate: bool,
    /// Whether it was found to be a join.
    pub(super) is_join: bool,
    /// Whether two definitions arrive at it.
    is_met: bool,
    /// What its beginning holds otherwise: the definition that arrives.
    pub(super) value: u32,
}

impl End {
    /// A mark about which nothing is known.
    pub(super) fn new(is_definition: bool, is_candidate: bool) -> Self {
        End { is_definition, is_candidate, is_join: false, is_met: false, value: NONE }
    }
}

impl SmallGraph {
    pub(super) fn clear(&mut self) {
        self.edges.clear();
    }

    pub(super) fn edge(&mut self, from: u32, to: u32) {
        self.edges.push((from, to));
    }

    /// Finds out what the candidates among `marks` hold. Every candidate must be reached from a definition.
    pub(super) fn solve(&mut self, marks: impl Iterator<Item = End>) -> &[End] {
        self.ends.clear();
        self.ends.extend(marks);
        let ends = &self.ends;
        self.edges.retain(|&(_, to)| ends[to as usize].is_candidate);
        for _ in 0..ROUNDS {
            if !self.flow() {
                return &self.ends;
            }
        }
        self.by_dominators();
        &self.ends
    }

    /// Lets every candidate hold the first definition that arrives. Those at which another one arrives are joins:
    /// what these two become when more joins are known is never the same. As these joins are definitions, all others
    /// are looked at again in another round; returns whether there must be one.
    fn flow(&mut self) -> bool {
        self.ends.iter_mut().filter(|e| e.is_candidate && !e.is_join).for_each(|e| e.value = NONE);
        let (mut changed, mut found) = (true, false);
        while changed {
            changed = false;
            for &(from, to) in &self.edges {
                let source = self.ends[from as usize];
                let is_definition = source.is_definition || source.is_join;
                let value = if is_definition { from } else { source.value };
                let target = &mut self.ends[to as usize];
                if value == NONE || target.is_join || from == to && !is_definition {
                    continue;
                }
                if target.value == NONE {
                    target.value = value;
                    changed = true;
                } else if target.value != value {
                    target.is_met = true;
                    found = true;
                }
            }
        }
        self.ends.iter_mut().filter(|e| e.is_met).for_each(|e| e.is_join = true);
        found
    }

    /// Decides about all candidates: the children of a super-source are definitions and joins, and the others hold
    /// what the one above them does.
    fn by_dominators(&mut self) {
        // Node 0 is the super-source, node 1 + m what the variable holds at the end of mark m, and behind these come
        // the beginnings of candidates that write the variable.
        let count = self.ends.len() as u32;
        let mut beginnings: Vec<u32> = Vec::new();
        let mut vertex: Vec<u32> = vec![NONE; self.ends.len()];
        let mut edges: Vec<(Node, Node)> = Vec::new();
        for (m, end) in (0..).zip(&self.ends) {
            if end.is_definition {
                edges.push((Node(0), Node(1 + m)));
            }
            if end.is_candidate {
                vertex[m as usize] = 1 + m;
                if end.is_definition {
                    vertex[m as usize] = 1 + count + beginnings.len() as u32;
                    beginnings.push(m);
                }
            }
        }
        edges.extend(self.edges.iter().map(|&(from, to)| (Node(1 + from), Node(vertex[to as usize]))));
        let nodes = 1 + self.ends.len() + beginnings.len();
        let graph = CsrGraph::new(nodes, Node(0), edges).expect("edges connect marks");
        let dom = DomTree::compute(&graph);
        let mut top = vec![Node(0); nodes];
        for &v in &dom.pre_order()[1..] {
            let above = dom.idom(v).expect("only the root has no dominator");
            top[v.index()] = if above == graph.entry() { v } else { top[above.index()] };
        }
        let mark_of = |v: Node| if v.0 <= count { v.0 - 1 } else { beginnings[(v.0 - 1 - count) as usize] };
        for (end, vertex) in self.ends.iter_mut().zip(vertex).filter(|(end, _)| end.is_candidate) {
            let top = top[vertex as usize];
            end.is_join = top.0 == vertex;
            end.value = mark_of(top);
        }
    }
}
