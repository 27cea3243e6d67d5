//! The head-rewired graph as paper 1 defines it, over the normal form.
//!
//! Paper 1, Definition 4.14: the edges out of each loop header go, and edges from the header to the exits of its loop
//! come (*early exits*). The result is a finite acyclic graph (Lemma 4.17), on which two paths without a common node
//! stand for two paths without a common instance of a node in the program (Theorems 4.20 and 4.22).
//!
//! This is the form that the paper's theorems speak of, one node of it per node of the normal form. The engine behind
//! [`Joins`](warpline_analysis::Joins) works on a graph of its own that needs no normal form; each is tested against
//! the other.
//!
//! Edges may be *dead*: known never to be taken. No path leads along them, but loops stay what they were, so that
//! instances of nodes do not depend on what is known (paper 1, Section 6.2 and Figure 3b). An early exit then needs
//! an edge into the exit that is alive.

use crate::reference::normal_form::NormalForm;
use warpline_analysis::bitset::BitSet;
use warpline_analysis::cycles::CycleId;
use warpline_analysis::graph::{CsrGraph, EdgeId, Graph, Node};
use warpline_analysis::order::DfsOrder;

/// The head-rewired graph.
#[derive(Clone, Debug)]
pub struct HeadRewired {
    graph: CsrGraph,
    early_exit: Vec<Option<CycleId>>,
    order: Vec<Node>,
    alive: BitSet,
    /// By node, the successors in the normal form along edges that are alive.
    successors: Vec<Vec<Node>>,
}

impl HeadRewired {
    /// Rewires a graph in normal form. `dead` are edges of it, by number.
    pub fn new(normal: &NormalForm, dead: &BitSet) -> Self {
        let (graph, cycles) = (normal.graph(), normal.cycles());
        let is_alive = |e: EdgeId| !dead.contains(e.index());
        let alive = reachable_without(graph, dead);
        let header_of = |n: Node| cycles.innermost(n).filter(|&c| cycles.header(c) == n);
        let mut successors = vec![Vec::new(); graph.node_count()];
        let (mut edges, mut early_exit) = (Vec::new(), Vec::new());
        for n in graph.nodes().filter(|n| alive.contains(n.index())) {
            let live = graph.out_edges(n).iter().copied().filter(|&e| is_alive(e));
            successors[n.index()] = live.map(|e| graph.target(e)).collect();
            if header_of(n).is_none() {
                edges.extend(successors[n.index()].iter().map(|&to| (n, to)));
                early_exit.resize(edges.len(), None);
            }
        }
        for c in cycles.cycles() {
            let mut seen = Vec::new();
            for e in cycles.exit_edges(graph, c) {
                let to = graph.target(e);
                if is_alive(e) && alive.contains(graph.source(e).index()) && !seen.contains(&to) {
                    seen.push(to);
                    edges.push((cycles.header(c), to));
                    early_exit.push(Some(c));
                }
            }
        }
        let rewired = CsrGraph::new(graph.node_count(), graph.entry(), edges)
            .expect("edges were made between the normal form's own nodes");
        let order = topological_order(&rewired);
        HeadRewired { graph: rewired, early_exit, order, alive, successors }
    }

    /// The graph. Its nodes are those of the normal form; most of them cannot be reached from the entry.
    pub fn graph(&self) -> &CsrGraph {
        &self.graph
    }

    /// The loop for which an edge is the early exit.
    pub fn early_exit(&self, edge: EdgeId) -> Option<CycleId> {
        self.early_exit[edge.index()]
    }

    /// All nodes, sources of edges before their targets. Nodes on a cycle would be left out; there are none.
    pub fn topological_order(&self) -> &[Node] {
        &self.order
    }

    /// Whether control can reach a node of the normal form.
    pub fn is_alive(&self, node: Node) -> bool {
        self.alive.contains(node.index())
    }

    /// The successors of a node *in the normal form*, along edges that are alive: where the paths of a split start.
    pub fn starts(&self, node: Node) -> &[Node] {
        &self.successors[node.index()]
    }
}

/// The nodes that the entry reaches without edges in `dead`.
fn reachable_without(graph: &CsrGraph, dead: &BitSet) -> BitSet {
    let live = graph.edges().filter(|e| !dead.contains(e.index()));
    let live =
        CsrGraph::new(graph.node_count(), graph.entry(), live.map(|e| (graph.source(e), graph.target(e))))
            .expect("a part of a graph");
    let order = DfsOrder::compute(&live);
    let mut alive = BitSet::new(graph.node_count());
    order.pre_order().iter().for_each(|n| {
        alive.insert(n.index());
    });
    alive
}

/// All nodes that do not lie on or behind a cycle, predecessors first.
fn topological_order(graph: &CsrGraph) -> Vec<Node> {
    let mut open: Vec<usize> = graph.nodes().map(|n| graph.in_edges(n).len()).collect();
    let mut order: Vec<Node> = graph.nodes().filter(|n| open[n.index()] == 0).collect();
    let mut next = 0;
    while let Some(&n) = order.get(next) {
        next += 1;
        for to in graph.successors(n) {
            open[to.index()] -= 1;
            if open[to.index()] == 0 {
                order.push(to);
            }
        }
    }
    order
}
