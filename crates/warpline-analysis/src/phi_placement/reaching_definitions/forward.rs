//! Algorithm 1: one visit of every edge, after which each node knows what reaches it, in part by name only.

use alloc::vec::Vec;
use core::fmt;

use crate::bitset::BitSet;
use crate::graph::{EdgeId, Graph, Lists, Node};
use crate::order::DfsOrder;

/// A definition that reaches a place, as the analysis knows it (Section 4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Definition {
    /// The paper's *n*: the node writes the variable or has a φ for it.
    Concrete(Node),
    /// The paper's *n*ᵤ: whatever the variable holds at the end of the node.
    Abstract(Node),
}

impl Definition {
    /// The node that defines the variable or stands for its value. O(1).
    pub fn node(self) -> Node {
        match self {
            Definition::Concrete(n) | Definition::Abstract(n) => n,
        }
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Definition::Concrete(n) => write!(f, "{n}"),
            Definition::Abstract(n) => write!(f, "{n}u"),
        }
    }
}

/// The case of Eq. 3 by which the definition at the end of a node was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Case {
    /// Case (1): the node writes the variable, or different concrete definitions reach it.
    Defines,
    /// Case (2): several definitions reach the node, and at most one of them is concrete.
    Open,
    /// Case (3): one definition reaches the node, and goes on.
    Passes,
}

/// Algorithm 1 for one variable after the other.
pub(super) struct Forward<'a, G> {
    graph: &'a G,
    /// All edges that the entry reaches, in the order of visits; each is in the worklist before it is visited.
    order: Vec<(Node, Node)>,
    /// The predecessors that the entry reaches, the virtual node among them, each once.
    predecessors: Lists<Node>,
    /// All nodes that the entry reaches, in reverse post-order.
    reached: Vec<Node>,
    /// The round in which a node was last found to write the variable.
    written: Vec<u32>,
    round: u32,
    /// A• by node, the virtual one last; nothing before the first visit.
    after: Vec<Option<Definition>>,
    case: Vec<Case>,
    /// Whether an edge to the node was visited since A• of the node was last computed.
    stale: Vec<bool>,
}

impl<'a, G: Graph> Forward<'a, G> {
    /// `select` is asked for the next edge, as a position in a worklist of the given length; without it edges are
    /// visited in reverse post-order of their sources.
    pub(super) fn new(graph: &'a G, select: Option<&mut dyn FnMut(usize) -> usize>) -> Self {
        let dfs = DfsOrder::compute(graph);
        let n = graph.node_count();
        let reached: Vec<Node> = dfs.reverse_post_order().collect();
        let order = match select {
            Some(select) => chosen_order(graph, select),
            None => reached.iter().flat_map(|&v| graph.out_edges(v)).collect(),
        };
        let order: Vec<_> = order.into_iter().map(|e| (graph.source(e), graph.target(e))).collect();
        Forward {
            graph,
            order,
            predecessors: predecessors(graph, &reached),
            reached,
            written: vec![0; n + 1],
            round: 0,
            after: vec![None; n + 1],
            case: vec![Case::Passes; n + 1],
            stale: vec![true; n + 1],
        }
    }

    /// The virtual node from which the entry is reached. It defines the variables that are defined on entry.
    pub(super) fn virtual_entry(&self) -> Node {
        Node::new(self.graph.node_count())
    }

    /// Algorithm 1 for the next variable.
    pub(super) fn run(&mut self, definitions: &[Node], on_entry: bool) {
        self.round += 1;
        self.after.fill(None);
        self.stale.fill(true);
        definitions.iter().for_each(|d| self.written[d.index()] = self.round);
        let start = self.virtual_entry();
        if on_entry {
            self.written[start.index()] = self.round;
        }
        self.transfer(start);
        for i in 0..self.order.len() {
            let (n, m) = self.order[i];
            if self.stale[n.index()] {
                self.transfer(n);
            }
            self.stale[m.index()] = true;
        }
        for i in 0..self.reached.len() {
            if self.after[self.reached[i].index()].is_none() {
                self.transfer(self.reached[i]);
            }
        }
    }

    /// Eq. 3: computes A• of a node from A∘.
    fn transfer(&mut self, node: Node) {
        let (mut first, mut several, mut concrete, mut clash) = (None, false, None, false);
        self.for_each_before(node, |d| {
            several |= *first.get_or_insert(d) != d;
            if matches!(d, Definition::Concrete(_)) {
                clash |= *concrete.get_or_insert(d) != d;
            }
        });
        let (after, case) = match self.writes(node) || clash {
            true => (Some(Definition::Concrete(node)), Case::Defines),
            false if several => (Some(Definition::Abstract(node)), Case::Open),
            false => (first, Case::Passes),
        };
        self.after[node.index()] = after;
        self.case[node.index()] = case;
        self.stale[node.index()] = false;
    }

    /// The members of A∘, once for each predecessor that brings one: Eq. 1 and 2.
    pub(super) fn for_each_before(&self, node: Node, mut visit: impl FnMut(Definition)) {
        for &m in self.predecessors.get(node.index()) {
            visit(self.after[m.index()].unwrap_or(Definition::Abstract(m)));
        }
    }

    /// Whether a node writes the variable.
    fn writes(&self, node: Node) -> bool {
        self.written[node.index()] == self.round
    }

    /// Whether the end of a node was found to hold a definition of the node itself.
    fn is_concrete(&self, node: Node) -> bool {
        self.after[node.index()] == Some(Definition::Concrete(node))
    }

    /// The definition itself, or the concrete one of the same node where Algorithm 1 has found that there is one.
    pub(super) fn look(&self, definition: Definition) -> Definition {
        match definition {
            Definition::Abstract(n) if self.is_concrete(n) => Definition::Concrete(n),
            _ => definition,
        }
    }

    /// A• of a node: nothing if no edge was visited that leads there.
    pub(super) fn after(&self, node: Node) -> Option<Definition> {
        self.after[node.index()]
    }

    /// By which case of Eq. 3 it was found.
    pub(super) fn case(&self, node: Node) -> Case {
        self.case[node.index()]
    }

    /// The nodes with edges from different nodes, where the entry has one more, in reverse post-order.
    pub(super) fn joins(&self) -> Vec<Node> {
        let is_join = |n: &Node| self.predecessors.get(n.index()).len() > 1;
        self.reached.iter().copied().filter(is_join).collect()
    }
}

/// The predecessors of every node among those that the entry reaches, each once, and of the entry the virtual node.
fn predecessors<G: Graph>(graph: &G, reached: &[Node]) -> Lists<Node> {
    let n = graph.node_count();
    let mut pairs = vec![(graph.entry().index(), Node::new(n))];
    // The node to which an edge was last found from each node.
    let mut last = vec![None; n];
    let mut is_reached = BitSet::new(n);
    reached.iter().for_each(|v| _ = is_reached.insert(v.index()));
    for &m in reached {
        for p in graph.predecessors(m).filter(|p| is_reached.contains(p.index())) {
            if last[p.index()].replace(m) != Some(m) {
                pairs.push((m.index(), p));
            }
        }
    }
    Lists::group(n + 1, pairs.into_iter())
}

/// The worklist of Algorithm 1, whose order does not depend on the variable.
fn chosen_order<G: Graph>(graph: &G, select: &mut dyn FnMut(usize) -> usize) -> Vec<EdgeId> {
    let mut listed = BitSet::new(graph.edge_count());
    let mut order = Vec::new();
    let mut work: Vec<EdgeId> = Vec::new();
    let mut reached = Some(graph.entry());
    loop {
        for e in reached.iter().flat_map(|&m| graph.out_edges(m)) {
            if listed.insert(e.index()) {
                work.push(e);
            }
        }
        if work.is_empty() {
            return order;
        }
        let e = work.swap_remove(select(work.len()));
        order.push(e);
        reached = Some(graph.target(e));
    }
}
