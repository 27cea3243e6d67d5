//! The intermediate results of the algorithms, as the paper's tables show them.

use alloc::vec::Vec;

use super::concretization::Dependencies;
use super::forward::{Case, Definition, Forward};
use crate::graph::{Graph, Node};
use crate::phi_placement::Accesses;

/// What Algorithm 1 finds for one variable.
///
/// The node of number `graph.node_count()` is a virtual one from which the entry is reached; it defines the variable
/// if that is defined on entry. Nodes that the entry does not reach have no results.
pub struct Trace<'a, G> {
    forward: Forward<'a, G>,
}

/// The graph G_μ of Def. 3 for one join node, and the rounds of flow analysis on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concretization {
    /// The edges, in increasing order.
    pub edges: Vec<(Definition, Definition)>,
    /// The rounds, up to the one that finds no φ.
    pub rounds: Vec<Round>,
}

/// One flow analysis: Eq. 5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Σ after the flow, by node of the graph, in increasing order.
    pub sigma: Vec<(Definition, Vec<Definition>)>,
    /// The nodes that are then found to need a φ, in increasing order.
    pub phis: Vec<Definition>,
}

impl<'a, G: Graph> Trace<'a, G> {
    /// Runs Algorithm 1 for a variable. Edges are visited in reverse post-order of their sources. Linear in
    /// the graph for each round, of which there are as many as cycles are nested and one more.
    pub fn new(graph: &'a G, accesses: &Accesses, variable: usize) -> Self {
        let mut forward = Forward::new(graph, None);
        forward.run(accesses.definitions(variable), accesses.is_defined_on_entry(variable));
        Trace { forward }
    }

    /// The virtual node before the entry. O(1).
    pub fn virtual_entry(&self) -> Node {
        self.forward.virtual_entry()
    }

    /// A∘: what reaches the start of a node, in increasing order. Linear in
    /// the in-edges, and a logarithm for the order.
    pub fn before(&self, node: Node) -> Vec<Definition> {
        let mut found = Vec::new();
        self.forward.for_each_before(node, |d| found.push(d));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// A•: what holds at the end of a node; nothing if no definition reaches a node that no edge leads to.
    /// O(1).
    pub fn after(&self, node: Node) -> Option<Definition> {
        self.forward.after(node)
    }

    /// The case of Eq. 3 by which A• was found. O(1).
    pub fn case(&self, node: Node) -> Case {
        self.forward.case(node)
    }

    /// Algorithms 2 and 3 on the graph of a join node, before anything else is resolved. Quadratic in
    /// the graph.
    pub fn concretize(&self, join: Node) -> Concretization {
        let mut graph = Dependencies::new(self.virtual_entry().index());
        graph.create(&self.forward, |d| Some(self.forward.look(d)), join);
        let mut rounds = Vec::new();
        let mut c = graph.start();
        while !c.is_empty() {
            let found = graph.round(&c, &mut |count| count - 1);
            let mut phis: Vec<Definition> = found.iter().map(|&n| graph.node(n)).collect();
            phis.sort_unstable();
            rounds.push(Round { sigma: graph.sigma(), phis });
            c = found;
        }
        Concretization { edges: graph.edges(), rounds }
    }
}
