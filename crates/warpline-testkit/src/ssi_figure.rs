//! The splits that paper 4, Figure 7, asks for, literally: fictitious nodes in the middle of all edges, and frontiers
//! by definition.

use std::collections::BTreeSet;

use warpline_analysis::{CsrGraph, EdgeId, Graph, Node, Reversed};

use crate::graph_oracles::Dominance;
use crate::graphs;

/// Where information is produced, or a variable is defined.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Site {
    /// In a block.
    In(Node),
    /// On an edge.
    On(EdgeId),
}

/// A graph with a node in the middle of each edge, in both directions.
pub struct Figure {
    nodes: usize,
    forward: (CsrGraph, Dominance),
    backward: (CsrGraph, Dominance),
}

impl Figure {
    /// Prepares a graph. Which nodes of infinite loops lead to the virtual exit is taken over from [`Reversed`].
    pub fn of(graph: &CsrGraph) -> Figure {
        let nodes = graph.node_count();
        let halves = |source: usize, middle: usize, target: usize| [(source, middle), (middle, target)];
        let all = graph
            .edges()
            .flat_map(|e| halves(graph.source(e).index(), nodes + e.index(), graph.target(e).index()));
        let edges: Vec<(usize, usize)> = all.collect();
        let count = nodes + graph.edge_count();
        let renumbered = |from: usize, edges: Vec<(usize, usize)>, count: usize| {
            let list = edges.into_iter().map(|(s, t)| (Node::new(s), Node::new(t)));
            CsrGraph::new(count, Node::new(from), list).expect("edges connect existing nodes")
        };
        let forward = renumbered(graph.entry().index(), edges.clone(), count);
        let reversed = Reversed::new(graph);
        let leaving = reversed.out_edges(reversed.virtual_exit());
        let mut back: Vec<(usize, usize)> = edges.into_iter().map(|(s, t)| (t, s)).collect();
        back.extend(leaving.map(|e| (count, reversed.target(e).index())));
        let backward = renumbered(count, back, count + 1);
        let with_dominance = |g: CsrGraph| {
            let dominance = Dominance::of(&g);
            (g, dominance)
        };
        Figure { nodes, forward: with_dominance(forward), backward: with_dominance(backward) }
    }

    fn number(&self, site: Site) -> usize {
        match site {
            Site::In(node) => node.index(),
            Site::On(edge) => self.nodes + edge.index(),
        }
    }

    /// *DF⁺*, without the nodes in the middle of edges, which are never in it.
    pub fn frontier(&self, sites: impl IntoIterator<Item = Site>) -> BTreeSet<Node> {
        self.iterated(&self.forward, sites)
    }

    /// *pDF⁺*.
    pub fn post_frontier(&self, sites: impl IntoIterator<Item = Site>) -> BTreeSet<Node> {
        self.iterated(&self.backward, sites)
    }

    fn iterated(
        &self,
        (graph, dominance): &(CsrGraph, Dominance),
        sites: impl IntoIterator<Item = Site>,
    ) -> BTreeSet<Node> {
        let set: Vec<usize> = sites.into_iter().map(|s| self.number(s)).collect();
        let found = dominance.iterated_frontier(graph, &set);
        found.into_iter().filter(|&n| n < self.nodes).map(Node::new).collect()
    }
}

/// The sites on all edges out of nodes.
pub fn out_of<'a>(graph: &'a CsrGraph, nodes: &'a BTreeSet<Node>) -> impl Iterator<Item = Site> + 'a {
    nodes.iter().flat_map(|&n| graph.out_edges(n)).map(|&e| Site::On(e))
}

/// A graph with a new entry in front, to which no edge leads.
pub fn with_entry(graph: &CsrGraph) -> CsrGraph {
    let shifted = graphs::edge_list(graph).into_iter().map(|(s, t)| (s + 1, t + 1));
    let first = (0, graph.entry().index() + 1);
    graphs::build(graph.node_count() + 1, std::iter::once(first).chain(shifted).collect())
}
