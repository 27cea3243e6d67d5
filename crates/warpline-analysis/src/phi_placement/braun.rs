//! φ placement without dominators, by looking for the values of reads: Braun, Buchwald, Hack, Leißa, Mallon and
//! Zwinkau, *Simple and efficient construction of static single assignment form* (2013).
//!
//! From a read, the search goes backwards to definitions and puts a φ on every join on its way (Section 2.2). A φ is
//! taken away as soon as its operands are known to be itself and one other value (Section 2.3), and with it those
//! that become trivial thereby. What is left is minimal on reducible graphs. On others, φs may be left that as a
//! strongly connected set have one operand from outside; they are taken away in the end (Section 3.2).
//!
//! The whole graph is there from the beginning: in the paper's words, all blocks are sealed. Departures: there is no
//! recursion; operands are found again through the graph in place of being stored; for
//! graphs without irreducible cycles the last step, which would find nothing, is left out.
//!
//! The search knows one undefined value, on entry, which is a value like others. So the result is that of dominance
//! frontiers with everything defined on entry, pruned, on all graphs.

use alloc::vec::Vec;
use core::cell::{Cell, OnceCell};

use super::dominance_frontiers::is_trivial;
use super::{Accesses, Placement, Pruning};
use crate::cycles::CycleForest;
use crate::graph::{CsrGraph, EdgeId, Graph, Node};
use crate::order::{DfsOrder, Sccs};

/// Places φs where variables are live, every variable defined on entry.
/// Linear in the graph for each variable, at most: in what lies between its reads and its writes. Each φ that turns out
/// to be superfluous has those that use it looked at again.
pub fn place<G: Graph>(graph: &G, accesses: &Accesses) -> Placement {
    accesses.expect_graph(graph);
    let mut construction: Option<Construction<G>> = None;
    let mut placement = Placement::with_capacity(accesses.variables());
    for x in 0..accesses.variables() {
        if is_trivial(graph, accesses, x, Pruning::Pruned) {
            placement.push([]);
            continue;
        }
        let construction = construction.get_or_insert_with(|| Construction::new(graph));
        placement.push(construction.phis_of(accesses.definitions(x), accesses.exposed(x)));
    }
    placement
}

/// A value of the variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    /// What holds on entry.
    Entry,
    /// What a node writes last.
    Written(Node),
    /// The φ of a node.
    Phi(Node),
}

const NONE: u32 = u32::MAX;

/// The search for one variable after the other. Entries of tables are valid if they carry the number of the
/// variable's round.
struct Construction<'a, G> {
    graph: &'a G,
    dfs: DfsOrder,
    has_irreducible_cycles: OnceCell<bool>,
    round: u32,
    written: Vec<u32>,
    known: Vec<u32>,
    /// The value at the start of a node. Where a φ was taken away, what it was replaced by.
    start: Vec<Cell<Value>>,
    /// The φs that have the φ of a node as an operand: a linked list with its first and last cell by node.
    users: Vec<(u32, u32)>,
    cells: Vec<(Node, u32)>,
    /// Nodes whose value is being looked for, with the number of in-edges that are done with.
    search: Vec<(Node, u32)>,
    /// φs that may have become trivial.
    check: Vec<Node>,
    /// All φs that were made.
    made: Vec<Node>,
    /// Operands of one φ.
    scratch: Vec<Value>,
    /// By φ, the set it belongs to, or its number in a list.
    set: Vec<u32>,
}

impl<'a, G: Graph> Construction<'a, G> {
    fn new(graph: &'a G) -> Self {
        let n = graph.node_count();
        Construction {
            graph,
            dfs: DfsOrder::compute(graph),
            has_irreducible_cycles: OnceCell::new(),
            round: 0,
            written: vec![0; n],
            known: vec![0; n],
            start: vec![Cell::new(Value::Entry); n],
            users: vec![(NONE, NONE); n],
            cells: Vec::new(),
            search: Vec::new(),
            check: Vec::new(),
            made: Vec::new(),
            scratch: Vec::new(),
            set: Vec::new(),
        }
    }

    /// The nodes that need φs for a variable.
    fn phis_of(&mut self, definitions: &[Node], exposed: &[Node]) -> Vec<Node> {
        self.round += 1;
        self.cells.clear();
        self.made.clear();
        definitions.iter().for_each(|d| self.written[d.index()] = self.round);
        for &n in exposed {
            if self.dfs.is_reachable(n) {
                self.read_variable(n);
            }
        }
        let mut left: Vec<Node> = self.made.iter().copied().filter(|&n| self.is_phi(n)).collect();
        if left.len() > 1 && self.has_irreducible_cycles() {
            self.remove_redundant_phis(&left);
            left.retain(|&n| self.is_phi(n));
        }
        left
    }

    fn has_irreducible_cycles(&self) -> bool {
        *self.has_irreducible_cycles.get_or_init(|| {
            let forest = CycleForest::compute_with(self.graph, &self.dfs);
            forest.cycles().any(|c| !forest.is_reducible(c))
        })
    }

    /// Finds the value at the start of a node (*readVariableRecursive*).
    fn read_variable(&mut self, node: Node) {
        self.search.push((node, 0));
        while let Some((n, done)) = self.search.pop() {
            let in_edges = self.graph.in_edges(n);
            let is_join = in_edges.len() > 1 || n == self.graph.entry() && in_edges.len() > 0;
            if done == 0 {
                if self.known[n.index()] == self.round {
                    continue;
                }
                if is_join {
                    self.make_phi(n);
                }
            }
            let unknown = |&(_, e): &(usize, EdgeId)| !self.is_known(self.graph.source(e));
            let mut rest = (done as usize..).zip(in_edges.clone().skip(done as usize));
            if let Some((i, edge)) = rest.find(unknown) {
                // A node that is no join is asked again from the beginning.
                self.search.push((n, if is_join { i as u32 + 1 } else { 0 }));
                self.search.push((self.graph.source(edge), 0));
            } else if is_join {
                self.complete(n);
            } else {
                let value = { in_edges }.next().map_or(Value::Entry, |e| self.end(self.graph.source(e)));
                self.start[n.index()].set(value);
                self.known[n.index()] = self.round;
            }
        }
    }

    /// Whether nothing has to be looked for to know the value at the end of a node.
    fn is_known(&self, node: Node) -> bool {
        let i = node.index();
        self.written[i] == self.round || self.known[i] == self.round || !self.dfs.is_reachable(node)
    }

    /// A φ whose operands are not known yet.
    fn make_phi(&mut self, node: Node) {
        self.start[node.index()].set(Value::Phi(node));
        self.known[node.index()] = self.round;
        self.users[node.index()] = (NONE, NONE);
        self.made.push(node);
    }

    fn is_phi(&self, node: Node) -> bool {
        self.start[node.index()].get() == Value::Phi(node)
    }

    /// The value at the end of a node where it is known.
    fn end(&self, node: Node) -> Value {
        if self.written[node.index()] == self.round {
            return Value::Written(node);
        }
        let mut at = node;
        loop {
            let value = self.start[at.index()].get();
            let Value::Phi(n) = value else { return value };
            let next = self.start[n.index()].get();
            if next == value {
                return value;
            }
            // Halves the way for the next time.
            self.start[at.index()].set(next);
            at = n;
        }
    }

    /// The operands of the φ of a node.
    fn operands(&self, node: Node) -> impl Iterator<Item = Value> + '_ {
        let on_entry = (node == self.graph.entry()).then_some(Value::Entry);
        let predecessors = self.graph.predecessors(node).filter(|&p| self.dfs.is_reachable(p));
        on_entry.into_iter().chain(predecessors.map(|p| self.end(p)))
    }

    /// The φ of a node has all operands now.
    fn complete(&mut self, node: Node) {
        let mut operands = core::mem::take(&mut self.scratch);
        operands.extend(self.operands(node).filter(|&v| v != Value::Phi(node)));
        match operands[..] {
            [one, ref others @ ..] if others.iter().all(|&v| v == one) => {
                self.replace(node, one);
                self.remove_trivial_phis();
            }
            _ => operands.iter().for_each(|&v| self.add_user(v, node)),
        }
        operands.clear();
        self.scratch = operands;
    }

    fn add_user(&mut self, operand: Value, user: Node) {
        if let Value::Phi(n) = operand {
            self.cells.push((user, NONE));
            let cell = self.cells.len() as u32 - 1;
            self.append_users(n, (cell, cell));
        }
    }

    /// The only operand of a φ but itself, if there is only one.
    fn replacement(&self, node: Node) -> Option<Value> {
        let mut others = self.operands(node).filter(|&v| v != Value::Phi(node));
        let one = others.next()?;
        others.all(|v| v == one).then_some(one)
    }

    /// Takes away the φs to be checked that are trivial, and those that become so (*tryRemoveTrivialPhi*).
    fn remove_trivial_phis(&mut self) {
        while let Some(n) = self.check.pop() {
            if self.is_phi(n)
                && let Some(value) = self.replacement(n)
            {
                self.replace(n, value);
            }
        }
    }

    /// Replaces a φ by a value; its users are to be checked.
    fn replace(&mut self, node: Node, value: Value) {
        self.start[node.index()].set(value);
        let (first, last) = self.users[node.index()];
        let mut at = first;
        while at != NONE {
            let (user, next) = self.cells[at as usize];
            self.check.push(user);
            at = next;
        }
        if let Value::Phi(n) = value {
            self.append_users(n, (first, last));
        }
    }

    fn append_users(&mut self, node: Node, (first, last): (u32, u32)) {
        if first == NONE {
            return;
        }
        let users = &mut self.users[node.index()];
        match users.1 {
            NONE => users.0 = first,
            before => self.cells[before as usize].1 = first,
        }
        users.1 = last;
    }

    /// Takes away strongly connected sets of φs with one operand from outside (*removeRedundantPhis*): of `phis` and,
    /// where a set has several, of its φs that have none.
    fn remove_redundant_phis(&mut self, phis: &[Node]) {
        self.set.resize(self.graph.node_count(), NONE);
        let mut open = self.components(phis);
        // Larger than any number in a list.
        let mut number = self.graph.node_count() as u32;
        while let Some(mut set) = open.pop() {
            set.retain(|&n| self.is_phi(n));
            number += 1;
            set.iter().for_each(|n| self.set[n.index()] = number);
            match self.outer_operands(&set) {
                Outer::One(value) => {
                    set.iter().for_each(|&n| self.replace(n, value));
                    self.remove_trivial_phis();
                }
                Outer::Several { inner } => open.extend(self.components(&inner)),
            }
        }
    }

    /// The operands that φs of a set have from outside. Members of `set`, and nothing else, carry its number.
    fn outer_operands(&self, set: &[Node]) -> Outer {
        let mut one = None;
        let mut several = false;
        let mut inner = Vec::new();
        for &n in set {
            let number = self.set[n.index()];
            let mut is_inner = true;
            for value in self.operands(n) {
                if !matches!(value, Value::Phi(p) if self.set[p.index()] == number) {
                    is_inner = false;
                    several |= *one.get_or_insert(value) != value;
                }
            }
            if is_inner {
                inner.push(n);
            }
        }
        match one {
            Some(value) if !several => Outer::One(value),
            _ => Outer::Several { inner },
        }
    }

    /// The strongly connected components, of several φs, under "is an operand of". To be taken from the end: others
    /// then come before those that use them.
    fn components(&mut self, phis: &[Node]) -> Vec<Vec<Node>> {
        if phis.len() < 2 {
            return Vec::new();
        }
        phis.iter().zip(0..).for_each(|(n, i)| self.set[n.index()] = i);
        let mut edges = Vec::new();
        for (&n, i) in phis.iter().zip(0..) {
            edges.extend(
                self.operands(n)
                    .filter_map(|v| match v {
                        Value::Phi(p) => {
                            Some(self.set[p.index()]).filter(|&i| phis.get(i as usize) == Some(&p))
                        }
                        _ => None,
                    })
                    .map(|operand| (Node(i), Node(operand))),
            );
        }
        let graph = CsrGraph::new(phis.len(), Node(0), edges).expect("operands are among the φs");
        let sccs = Sccs::compute(&graph);
        let mut sets = vec![Vec::new(); sccs.len()];
        for (&n, i) in phis.iter().zip(0..) {
            sets[sccs.of(Node(i))].push(n);
        }
        sets.retain(|set| set.len() > 1);
        sets.reverse();
        sets
    }
}

/// What a set of φs has for operands from outside.
enum Outer {
    /// One value.
    One(Value),
    /// Several, and the φs of the set with none of them.
    Several { inner: Vec<Node> },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phis(nodes: usize, edges: &[(u32, u32)], definitions: &[u32], exposed: &[u32]) -> Vec<u32> {
        let edges = edges.iter().map(|&(s, t)| (Node(s), Node(t)));
        let graph = CsrGraph::new(nodes, Node(0), edges).expect("ends are nodes");
        let pairs = |list: &[u32]| list.iter().map(|&n| (0, Node(n))).collect::<Vec<_>>();
        let accesses =
            Accesses::new(nodes, 1, pairs(definitions).into_iter(), pairs(exposed).into_iter(), [0]);
        let accesses = accesses.expect("nodes of the graph");
        place(&graph, &accesses).of(0).iter().map(|n| n.0).collect()
    }

    /// Nodes 2 and 3 are a loop with two entries, and each φ would have the other one and node 1's value as operands.
    #[test]
    fn an_irreducible_loop_that_writes_nothing_gets_no_phis() {
        let edges = [(0, 1), (1, 2), (1, 3), (2, 3), (3, 2)];
        assert_eq!(phis(4, &edges, &[1], &[2]), []);
    }

    /// Nodes 2 and 3 write different values, which meet at 4; the irreducible loop of 5 and 6 has only that value,
    /// but as an inner part of the one around it, which node 3 enters too.
    #[test]
    fn inner_parts_of_irreducible_loops_are_looked_at() {
        let edges = [(0, 2), (0, 3), (2, 4), (3, 7), (4, 5), (4, 6), (5, 6), (6, 5), (5, 7), (7, 4)];
        assert_eq!(phis(8, &edges, &[2, 3], &[5]), [4, 7]);
    }

    #[test]
    fn chains_of_a_hundred_thousand_nodes_do_not_use_up_the_stack() {
        let n = 100_000;
        let edges: Vec<(u32, u32)> = (0..n - 1).map(|i| (i, i + 1)).chain([(n - 1, 1)]).collect();
        assert_eq!(phis(n as usize, &edges, &[n / 2], &[n - 1, 3]), [1]);
    }
}
