//! The graphs of paper 1, Figure 5.
//!
//! The paper gives them as drawings; edges are those that the text and the captions ask for. In (a): the gating
//! function γ(p, γ(q, γ(s, 0, 1), ⊥), 0) of `x` at `J`. In (b): `F` is the post-dominator of the branch on `p`, and
//! `q` has no influence at `D`. In (c): a branch with three successors, two of which meet. In (d): the loop
//! predicates γ(h, 1, γ(b, γ(c, 1, 0), 0)) of gated and γ(b, γ(c, 1, 0), 0) of thinned gated SSA form, `B` before the
//! latch `Q` on every way from `H` round the loop.

use std::collections::BTreeSet;

use super::Place;
use warpline_analysis::graph::{CsrGraph, EdgeId, Graph, Node};

/// A graph with names.
#[derive(Clone, Debug)]
pub struct Figure {
    /// `5a` to `5d`.
    pub name: &'static str,
    /// The graph.
    pub graph: CsrGraph,
    /// The names of the nodes, in order.
    pub nodes: Vec<&'static str>,
    /// The branches with their conditions.
    pub conditions: Vec<(Node, &'static str)>,
    /// What the paper asks about, in words.
    pub places: Vec<(Place, &'static str)>,
}

impl Figure {
    /// Nodes are named by one letter each, the entry first; `edges` are pairs of letters.
    fn new(
        name: &'static str,
        nodes: &[&'static str],
        edges: &str,
        conditions: &[(&str, &'static str)],
    ) -> Figure {
        let node = |letter: &str| {
            let found = nodes.iter().position(|&n| n == letter);
            Node::new(found.expect("the figures name their nodes"))
        };
        let edges = edges.split(' ').map(|e| (node(&e[..1]), node(&e[1..])));
        let graph = CsrGraph::new(nodes.len(), Node(0), edges).expect("the figures' nodes exist");
        let conditions = conditions.iter().map(|&(n, c)| (node(n), c)).collect();
        Figure { name, graph, nodes: nodes.to_vec(), conditions, places: Vec::new() }
    }

    /// The node of that name.
    pub fn node(&self, name: &str) -> Option<Node> {
        self.nodes.iter().position(|&n| n == name).map(Node::new)
    }

    fn join(mut self, at: &str, words: &'static str) -> Figure {
        self.places.extend(self.node(at).map(|n| (Place::Join(n), words)));
        self
    }

    fn exit(mut self, from: &str, to: &str, words: &'static str) -> Figure {
        let ends = (self.node(from), self.node(to));
        let is_it = |&e: &EdgeId| ends == (Some(self.graph.source(e)), Some(self.graph.target(e)));
        self.places.extend(self.graph.edges().find(is_it).map(|e| (Place::Exit(e), words)));
        self
    }

    /// The conditions of these branches, by name.
    pub fn conditions_of(&self, branches: &BTreeSet<Node>) -> Vec<&'static str> {
        let mut names: Vec<&'static str> =
            self.conditions.iter().filter(|(n, _)| branches.contains(n)).map(|&(_, c)| c).collect();
        names.sort_unstable();
        names
    }
}

/// Figure 5, (a) to (d).
pub fn figures() -> Vec<Figure> {
    vec![
        Figure::new(
            "5a",
            &["S", "A", "B", "C", "J", "X"],
            "SA SC CB CX BA BJ AJ JX",
            &[("S", "p"), ("C", "q"), ("B", "s")],
        )
        .join("J", "join J"),
        Figure::new("5b", &["A", "B", "C", "D", "E", "F"], "AB AC BD CD CE DF EF", &[("A", "p"), ("C", "q")])
            .join("D", "join D"),
        Figure::new(
            "5c",
            &["P", "S", "A", "B", "C", "J", "X"],
            "PS PC SA SB SC AJ BJ CX JX",
            &[("P", "p"), ("S", "s")],
        )
        .join("J", "join J"),
        Figure::new(
            "5d",
            &["G", "H", "B", "C", "Q", "D", "E", "P", "X"],
            "GH HD HB BC BQ CE CQ QH DP EP EX PX",
            &[("H", "h"), ("B", "b"), ("C", "c"), ("E", "e")],
        )
        .exit("H", "D", "exit D of loop H")
        .exit("C", "E", "exit E of loop H"),
    ]
}
