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
//! * A [region](crate::regions) is one node, together with everything in it. What goes on inside is not represented:
//!   who uses the graph must give the region up as soon as threads enter it apart or part in it.
//!
//! Unreachable nodes and their edges are left out. A program without cycles is its own head-rewired graph, and
//! nothing is built for it.

use alloc::vec::Vec;

use crate::bitset::BitSet;
use crate::cycles::{CycleForest, CycleId};
use crate::dag_dom::DagDom;
use crate::graph::{CsrGraph, EdgeId, Edges, Graph, Node};
use crate::order::{DfsOrder, filled};
use crate::regions::Regions;

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

/// The head-rewired graph of a control-flow graph, with its dominators. As a [`Graph`], its entry is the virtual
/// root, or the entry of the program if that has no cycles.
#[derive(Clone, Debug)]
pub(crate) struct Rewired<'a, G> {
    original: &'a G,
    /// None for a program without cycles.
    cut: Option<Cut>,
    /// By node: its place in a topological order; `NONE` for nodes that are not reached.
    position: Vec<u32>,
    dom: DagDom,
}

/// What is different from the program. Nodes are those of the program, then for each cycle where its header departs,
/// then the passages along exit edges, then the virtual root.
#[derive(Clone, Debug)]
struct Cut {
    graph: CsrGraph,
    origin: Vec<Origin>,
    exit_edges: Vec<EdgeId>,
    exit_node: Vec<u32>,
    node_count: usize,
    regions: Regions,
}

const NONE: u32 = u32::MAX;

impl<'a, G: Graph> Rewired<'a, G> {
    /// Rewires `graph`, whose orders and cycles are at hand.
    pub(crate) fn new(graph: &'a G, dfs: &DfsOrder, cycles: &CycleForest, regions: &Regions) -> Self {
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
        let cut = Cut::new(graph, dfs, cycles, regions);
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
        if i < cut.node_count {
            return cut.regions.region(at).map_or(Kind::Node(at), Kind::Region);
        }
        let first_exit = cut.graph.entry().index() - cut.exit_edges.len();
        match i.checked_sub(first_exit).and_then(|k| cut.exit_edges.get(k)) {
            Some(&e) => Kind::Exit(e),
            None => Kind::Departure,
        }
    }

    /// The region that contains a node of the control-flow graph.
    pub(crate) fn region(&self, node: Node) -> Option<CycleId> {
        self.cut.as_ref()?.regions.region(node)
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

    /// The node of this graph from which the edges of a node lead that is in no region.
    pub(crate) fn departure(&self, node: Node, cycles: &CycleForest) -> Node {
        match (&self.cut, cycles.innermost(node)) {
            (Some(cut), Some(c)) if cycles.header(c) == node => Node::new(cut.node_count + c.index()),
            _ => node,
        }
    }

    /// Whether a node of this graph is reached.
    pub(crate) fn is_reached(&self, at: Node) -> bool {
        self.position[at.index()] != NONE
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
    fn out_edges(&self, node: Node) -> impl Edges {
        match &self.cut {
            None => OneOf::Original(self.original.out_edges(node)),
            Some(cut) => OneOf::Cut(cut.graph.out_edges(node).iter().copied()),
        }
    }
    fn in_edges(&self, node: Node) -> impl Edges {
        match &self.cut {
            None => OneOf::Original(self.original.in_edges(node)),
            Some(cut) => OneOf::Cut(cut.graph.in_edges(node).iter().copied()),
        }
    }
    fn source(&self, edge: EdgeId) -> Node {
        self.cut.as_ref().map_or_else(|| self.original.source(edge), |cut| cut.graph.source(edge))
    }
    fn target(&self, edge: EdgeId) -> Node {
        self.cut.as_ref().map_or_else(|| self.original.target(edge), |cut| cut.graph.target(edge))
    }
}

/// Edges of the original or of the graph that was made of it.
#[derive(Clone)]
enum OneOf<A, B> {
    Original(A),
    Cut(B),
}

impl<A: Edges, B: Edges> Iterator for OneOf<A, B> {
    type Item = EdgeId;

    fn next(&mut self) -> Option<EdgeId> {
        match self {
            OneOf::Original(edges) => edges.next(),
            OneOf::Cut(edges) => edges.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            OneOf::Original(edges) => edges.size_hint(),
            OneOf::Cut(edges) => edges.size_hint(),
        }
    }
}

impl<A: Edges, B: Edges> DoubleEndedIterator for OneOf<A, B> {
    fn next_back(&mut self) -> Option<EdgeId> {
        match self {
            OneOf::Original(edges) => edges.next_back(),
            OneOf::Cut(edges) => edges.next_back(),
        }
    }
}

impl<A: Edges, B: Edges> ExactSizeIterator for OneOf<A, B> {}

impl Cut {
    fn new<G: Graph>(graph: &G, dfs: &DfsOrder, cycles: &CycleForest, regions: &Regions) -> Self {
        let n = graph.node_count();
        let arrives = |node: Node| regions.region(node).map_or(node, |r| cycles.header(r));
        let departs = |node: Node| match (regions.region(node), cycles.innermost(node)) {
            (None, Some(c)) if cycles.header(c) == node => Node::new(n + c.index()),
            (None, _) => node,
            (Some(r), _) => cycles.header(r),
        };
        let mut edges = Vec::with_capacity(graph.edge_count() + 3 * cycles.len());
        let mut origin = Vec::with_capacity(edges.capacity());
        let mut exit_edges = Vec::new();
        let mut exit_node = vec![NONE; graph.edge_count()];
        let first_exit = n + cycles.len();
        for e in graph.edges().filter(|&e| dfs.is_reachable(graph.source(e))) {
            let (s, t) = (graph.source(e), graph.target(e));
            if regions.region(s).is_some() && regions.region(s) == regions.region(t) {
                continue;
            }
            // Cycles inside a region are not represented; those around it are.
            let mut left = core::iter::successors(regions.around(cycles, s), |&c| cycles.parent(c))
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
        Cut { graph, origin, node_count: n, exit_edges, exit_node, regions: regions.clone() }
    }
}

/// Dominance frontiers of the nodes that were asked for, as far as there is room for their entries.
#[derive(Clone, Debug, Default)]
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
    /// Room for so many entries, in the memory of other frontiers.
    pub(crate) fn within(self, nodes: usize, room: usize) -> Self {
        Frontiers {
            span: filled(self.span, (0, 0), nodes),
            // The first entry stands for nothing, so that no frontier starts at 0.
            items: filled(self.items, Node(0), 1),
            seen: filled(self.seen, 0, nodes),
            room,
            stack: filled(self.stack, Node(0), 0),
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
        if !rewired.dom.is_parent(x, y) && core::mem::replace(&mut self.seen[y.index()], x.0 + 1) != x.0 + 1 {
            self.items.push(y);
        }
    }
}
