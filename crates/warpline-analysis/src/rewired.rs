//! The head-rewired graph: control flow with every cycle cut at its header.
//!
//! Paper 1 (Rosemann, Moll, Hack: *An Abstract Interpretation for SPMD Divergence on Reducible Control Flow
//! Graphs*), Definition 4.14: the edges out of a loop header go, and edges from the header to the exits of the
//! loop come. Two threads that part at a branch can meet again in *different* instances of a predecessor, among
//! them different iterations of a loop, exactly if two disjoint paths of this acyclic graph say so (Theorems
//! 4.20 and 4.22). A path that goes on into the next iteration is, from the header on, one that leaves the loop
//! by any exit.
//!
//! The paper first normalises the program. Here nothing has to be normalised; the graph has extra nodes
//! instead:
//!
//! * A header is split. The node itself is where control *arrives*: from it lead only the early exits. Its *twin*
//!   is where control *departs*: from it lead the real edges. So a branch in a header is like any other.
//! * An edge that leaves a cycle has a node of its own, reached from its source and from the headers of all the
//!   cycles that it leaves. So a loop exit that is a header itself, is the target of exits from several loops, or
//!   leaves several loops at once needs no special case, and an exit edge has a label even where it is
//!   the only edge into its target.
//! * An irreducible cycle (the outermost one) is one node, together with everything in it: a *region*. What goes on
//!   inside is not represented: who uses the graph must give the region up as soon as threads enter it apart or
//!   part in it. Where very many edges leave very many cycles at once, so that early exits would outgrow the program, cycles
//!   below some depth of nesting are regions too.
//!
//! Unreachable nodes and their edges are left out. A program without cycles is its own head-rewired graph, and nothing is
//! built for it.

use crate::bitset::BitSet;
use crate::cycles::{CycleForest, CycleId};
use crate::dag_dom::DagDom;
use crate::graph::{CsrGraph, EdgeId, Graph, Node};
use crate::order::DfsOrder;

/// Where an edge of the rewired graph comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// It is (a part of) this edge of the control-flow graph.
    Edge(EdgeId),
    /// It is the early exit from the header of this cycle.
    EarlyExit(CycleId),
    /// It leads from the virtual root.
    Root,
}

/// What a node of the rewired graph stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Arrival at a node.
    Node(Node),
    /// Departure from a header, or the virtual root.
    Departure,
    /// Passage along an edge that leaves cycles.
    Exit(EdgeId),
    /// A cycle the inside of which is not represented.
    Region(CycleId),
}

/// The head-rewired graph of a control-flow graph, with its dominators. As a [`Graph`], its entry is the virtual root, or
/// the entry of the program if that has no cycles.
#[derive(Clone, Debug)]
pub(crate) struct Rewired<'a, G> {
    original: &'a G,
    /// None for a program without cycles.
    cut: Option<Cut>,
    /// By node: its place in a topological order; `NONE` for nodes that are not reached.
    position: Vec<u32>,
    dom: DagDom,
}

/// What is different from the program. Nodes are those of the program, then for each cycle where its header departs, then the
/// passages along exit edges, then the virtual root.
#[derive(Clone, Debug)]
struct Cut {
    graph: CsrGraph,
    origin: Vec<Origin>,
    exit_edges: Vec<EdgeId>,
    exit_node: Vec<u32>,
    region: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl<'a, G: Graph> Rewired<'a, G> {
    /// Rewires `graph`, whose orders and cycles are at hand.
    pub(crate) fn new(graph: &'a G, dfs: &DfsOrder, cycles: &CycleForest, early_exits: usize) -> Self {
        let by_order = |order: &DfsOrder, nodes: usize| {
            let mut position = vec![NONE; nodes];
            order.reverse_post_order().enumerate().for_each(|(i, n)| position[n.index()] = i as u32);
            position
        };
        if cycles.is_empty() {
            let position = by_order(dfs, graph.node_count());
            let dom = DagDom::compute(graph, dfs.reverse_post_order());
            return Rewired { original: graph, cut: None, position, dom };
        }
        let cut = Cut::new(graph, dfs, cycles, early_exits);
        let order = DfsOrder::compute(&cut.graph);
        let position = by_order(&order, cut.graph.node_count());
        let dom = DagDom::compute(&cut.graph, order.reverse_post_order());
        Rewired { original: graph, cut: Some(cut), position, dom }
    }

    /// Its dominators.
    pub(crate) fn dom(&self) -> &DagDom {
        &self.dom
    }

    /// The position of a node in a topological order.
    pub(crate) fn position(&self, at: Node) -> u32 {
        self.position[at.index()]
    }

    /// Where an edge of this graph comes from.
    pub(crate) fn origin(&self, edge: EdgeId) -> Origin {
        self.cut.as_ref().map_or(Origin::Edge(edge), |cut| cut.origin[edge.index()])
    }

    /// What a node of this graph stands for.
    pub(crate) fn kind(&self, at: Node) -> Kind {
        let Some(cut) = &self.cut else { return Kind::Node(at) };
        let i = at.index();
        match cut.region.get(i) {
            Some(&NONE) => Kind::Node(at),
            Some(&c) => Kind::Region(CycleId(c)),
            None => {
                let first_exit = cut.graph.entry().index() - cut.exit_edges.len();
                match i.checked_sub(first_exit).and_then(|k| cut.exit_edges.get(k)) {
                    Some(&e) => Kind::Exit(e),
                    None => Kind::Departure,
                }
            }
        }
    }

    /// The region that contains a node of the control-flow graph.
    pub(crate) fn region(&self, node: Node) -> Option<CycleId> {
        let c = self.cut.as_ref()?.region[node.index()];
        (c != NONE).then_some(CycleId(c))
    }

    /// Whether the entry reaches a node of the control-flow graph.
    pub(crate) fn is_reachable(&self, node: Node) -> bool {
        self.region(node).is_some() || self.position[node.index()] != NONE
    }

    /// The node of this graph that stands for the passage along an edge that leaves cycles.
    pub(crate) fn passage(&self, edge: EdgeId) -> Option<Node> {
        let passage = self.cut.as_ref()?.exit_node[edge.index()];
        (passage != NONE).then_some(Node(passage))
    }

    /// The edge of which a node of this graph is the passage.
    pub(crate) fn passage_edge(&self, at: Node) -> Option<EdgeId> {
        match self.kind(at) {
            Kind::Exit(edge) => Some(edge),
            _ => None,
        }
    }

    /// The node of this graph that stands for arrival at a node of the control-flow graph.
    pub(crate) fn arrival(&self, node: Node, cycles: &CycleForest) -> Node {
        self.region(node).map_or(node, |region| cycles.header(region))
    }

    /// The first node of this graph that control meets on an edge of the control-flow graph to `target`.
    pub(crate) fn first_on(&self, edge: EdgeId, target: Node, cycles: &CycleForest) -> Node {
        self.passage(edge).unwrap_or_else(|| self.arrival(target, cycles))
    }
}

impl<G: Graph> Graph for Rewired<'_, G> {
    fn node_count(&self) -> usize {
        self.cut.as_ref().map_or(self.original.node_count(), |cut| cut.graph.node_count())
    }
    fn edge_count(&self) -> usize {
        self.cut.as_ref().map_or(self.original.edge_count(), |cut| cut.graph.edge_count())
    }
    fn entry(&self) -> Node {
        self.cut.as_ref().map_or(self.original.entry(), |cut| cut.graph.entry())
    }
    fn out_edges(&self, node: Node) -> &[EdgeId] {
        self.cut.as_ref().map_or_else(|| self.original.out_edges(node), |cut| cut.graph.out_edges(node))
    }
    fn in_edges(&self, node: Node) -> &[EdgeId] {
        self.cut.as_ref().map_or_else(|| self.original.in_edges(node), |cut| cut.graph.in_edges(node))
    }
    fn source(&self, edge: EdgeId) -> Node {
        self.cut.as_ref().map_or_else(|| self.original.source(edge), |cut| cut.graph.source(edge))
    }
    fn target(&self, edge: EdgeId) -> Node {
        self.cut.as_ref().map_or_else(|| self.original.target(edge), |cut| cut.graph.target(edge))
    }
}

impl Cut {
    fn new<G: Graph>(graph: &G, dfs: &DfsOrder, cycles: &CycleForest, early_exits: usize) -> Self {
        let n = graph.node_count();
        let region = regions(graph, dfs, cycles, early_exits);
        let arrives = |node: Node| match region[node.index()] {
            NONE => node,
            r => cycles.header(CycleId(r)),
        };
        let departs = |node: Node| match (region[node.index()], cycles.innermost(node)) {
            (NONE, Some(c)) if cycles.header(c) == node => Node::new(n + c.index()),
            (NONE, _) => node,
            (r, _) => cycles.header(CycleId(r)),
        };
        let mut edges = Vec::with_capacity(graph.edge_count() + 3 * cycles.len());
        let mut origin = Vec::with_capacity(edges.capacity());
        let mut exit_edges = Vec::new();
        let mut exit_node = vec![NONE; graph.edge_count()];
        let first_exit = n + cycles.len();
        for e in graph.edges().filter(|&e| dfs.is_reachable(graph.source(e))) {
            let (s, t) = (graph.source(e), graph.target(e));
            if region[s.index()] != NONE && region[s.index()] == region[t.index()] {
                continue;
            }
            // Cycles inside a region are not represented; those around it are.
            let start = match region[s.index()] {
                NONE => cycles.innermost(s),
                r => cycles.parent(CycleId(r)),
            };
            let mut left = std::iter::successors(start, |&c| cycles.parent(c))
                .take_while(|&c| !cycles.contains(c, t))
                .peekable();
            let mut to = arrives(t);
            if left.peek().is_some() {
                let passage = Node::new(first_exit + exit_edges.len());
                exit_node[e.index()] = passage.0;
                exit_edges.push(e);
                edges.push((passage, to));
                origin.push(Origin::Edge(e));
                to = passage;
            }
            edges.push((departs(s), to));
            origin.push(Origin::Edge(e));
            for c in left {
                edges.push((cycles.header(c), to));
                origin.push(Origin::EarlyExit(c));
            }
        }
        let root = Node::new(first_exit + exit_edges.len());
        let mut has_predecessor = BitSet::new(root.index());
        edges.iter().for_each(|&(_, t)| _ = has_predecessor.insert(t.index()));
        // Every node that is reached but has no predecessor: where headers depart, and the entry.
        let headers = cycles.cycles().map(|c| departs(cycles.header(c)));
        let mut roots: Vec<Node> = headers.filter(|r| !has_predecessor.contains(r.index())).collect();
        roots.push(arrives(graph.entry()));
        roots.sort_unstable();
        roots.dedup();
        origin.extend(roots.iter().map(|_| Origin::Root));
        edges.extend(roots.into_iter().map(|r| (root, r)));
        let graph = CsrGraph::new(root.index() + 1, root, edges).expect("edges were made between its nodes");
        Cut { graph, origin, exit_edges, exit_node, region }
    }
}

/// For each node the region that contains it.
fn regions<G: Graph>(graph: &G, dfs: &DfsOrder, cycles: &CycleForest, early_exits: usize) -> Vec<u32> {
    let irreducible = outermost(graph, cycles, |c| !cycles.is_reducible(c));
    // How many cycles each exit edge leaves. At its end it enters at most one cycle that is no region.
    let leaves = |e: EdgeId| {
        let (s, t) = (graph.source(e), graph.target(e));
        let around = |n: Node| match irreducible[n.index()] {
            NONE => cycles.innermost(n),
            r => cycles.parent(CycleId(r)),
        };
        let depth = |c: Option<CycleId>| c.map_or(0, |c| cycles.depth(c));
        let mut common = around(t);
        while let Some(c) = common.filter(|&c| !cycles.contains(c, s)) {
            common = cycles.parent(c);
        }
        depth(around(s)).saturating_sub(depth(common))
    };
    let leaves: Vec<u32> =
        graph.edges().filter(|&e| dfs.is_reachable(graph.source(e))).map(leaves).filter(|&l| l > 0).collect();
    let mut limit = leaves.iter().copied().max().unwrap_or(0);
    if leaves.iter().map(|&l| l as usize).sum::<usize>() <= early_exits {
        return irreducible;
    }
    while leaves.iter().map(|&l| l.min(limit) as usize).sum::<usize>() > early_exits {
        limit /= 2;
    }
    outermost(graph, cycles, |c| !cycles.is_reducible(c) || cycles.depth(c) > limit)
}

/// For each node the outermost cycle around it of some kind.
fn outermost<G: Graph>(graph: &G, cycles: &CycleForest, is_region: impl Fn(CycleId) -> bool) -> Vec<u32> {
    let mut region = vec![NONE; graph.node_count()];
    let mut last_region = None;
    for c in cycles.cycles() {
        if is_region(c) && last_region.is_none_or(|outer| !cycles.contains_cycle(outer, c)) {
            last_region = Some(c);
            for n in cycles.nodes(c) {
                region[n.index()] = c.0;
            }
        }
    }
    region
}

/// Dominance frontiers of the nodes that were asked for, as far as there is room for their entries.
#[derive(Clone, Debug)]
pub(crate) struct Frontiers {
    /// By node: where its frontier starts in `items` and how long it is. 0: not asked for yet; `TOO_LARGE`: not kept.
    span: Vec<(u32, u32)>,
    items: Vec<Node>,
    /// By node: the last frontier that it was put into.
    seen: Vec<u32>,
    room: usize,
    stack: Vec<Node>,
}

const TOO_LARGE: u32 = u32::MAX;

impl Frontiers {
    /// Room for so many entries.
    pub(crate) fn new(nodes: usize, room: usize) -> Self {
        Frontiers {
            span: vec![(0, 0); nodes],
            // The first entry stands for nothing, so that no frontier starts at 0.
            items: vec![Node(0)],
            seen: vec![0; nodes],
            room,
            stack: Vec::new(),
        }
    }

    /// The dominance frontier of a node that is reached; none if it is too large to keep.
    pub(crate) fn get<G: Graph>(&mut self, rewired: &Rewired<G>, at: Node) -> Option<&[Node]> {
        self.stack.push(at);
        while let Some(&x) = self.stack.last() {
            let before = self.stack.len();
            if self.span[x.index()].0 == 0 {
                let open = rewired.dom.children(x).filter(|c| self.span[c.index()].0 == 0);
                self.stack.extend(open);
            }
            if self.stack.len() == before {
                self.stack.pop();
                if self.span[x.index()].0 == 0 {
                    self.compute(rewired, x);
                }
            }
        }
        let (start, len) = self.span[at.index()];
        (start != TOO_LARGE).then(|| &self.items[start as usize..(start + len) as usize])
    }

    /// The frontier of a node from its children's.
    fn compute<G: Graph>(&mut self, rewired: &Rewired<G>, x: Node) {
        let start = self.items.len();
        let mut kept = true;
        for y in rewired.successors(x) {
            self.add(rewired, x, y);
        }
        for c in rewired.dom.children(x) {
            let (from, len) = self.span[c.index()];
            kept &= from != TOO_LARGE;
            for i in 0..if kept { len } else { 0 } {
                let y = self.items[(from + i) as usize];
                self.add(rewired, x, y);
            }
        }
        if kept && self.items.len() <= self.room {
            self.span[x.index()] = (start as u32, (self.items.len() - start) as u32);
        } else {
            self.items.truncate(start);
            self.span[x.index()] = (TOO_LARGE, 0);
        }
    }

    fn add<G: Graph>(&mut self, rewired: &Rewired<G>, x: Node, y: Node) {
        // Marks are one more than the node, as 0 means none.
        if !rewired.dom.is_parent(x, y) && std::mem::replace(&mut self.seen[y.index()], x.0 + 1) != x.0 + 1 {
            self.items.push(y);
        }
    }
}
