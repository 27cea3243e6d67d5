//! Control-flow graphs: ids, the trait that every analysis is written against, a compressed graph, and the
//! reversed graph with a virtual exit.
//!
//! Edges are first-class. Two nodes may be connected by several edges and a node may be its own successor;
//! both stay as they are.

use alloc::vec::Vec;
use core::fmt;

use crate::bitset::BitSet;

/// A node of a graph, numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Node(pub u32);

/// An edge of a graph, numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EdgeId(pub u32);

impl Node {
    /// The node with the given number. Panics if it does not fit 32 bits. O(1).
    #[inline]
    pub fn new(index: usize) -> Self {
        Node(u32::try_from(index).expect("a graph has fewer than 2^32 nodes"))
    }

    /// The number as an index into a side table. O(1).
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl EdgeId {
    /// The edge with the given number. Panics if it does not fit 32 bits. O(1).
    #[inline]
    pub fn new(index: usize) -> Self {
        EdgeId(u32::try_from(index).expect("a graph has fewer than 2^32 edges"))
    }

    /// The number as an index into a side table. O(1).
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl fmt::Display for EdgeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e{}", self.0)
    }
}

/// Edges of a graph, one after the other.
pub trait Edges: DoubleEndedIterator<Item = EdgeId> + ExactSizeIterator + Clone {}

impl<I: DoubleEndedIterator<Item = EdgeId> + ExactSizeIterator + Clone> Edges for I {}

/// A directed graph with one entry. A compiler implements it for its own control-flow graph, or builds a [`CsrGraph`].
///
/// Nodes are `0..node_count()`, edges are below `edge_count()`. A graph may leave numbers of edges out, as
/// [`CsrGraph::without`] does: they stand in no list and [`edges`](Self::edges) does not name them. The order of
/// `out_edges` decides depth-first orders and with them every order in the results.
pub trait Graph {
    /// Number of nodes.
    fn node_count(&self) -> usize;
    /// Number of edges, with those that are left out: every edge's number is below it.
    fn edge_count(&self) -> usize;
    /// Where control enters.
    fn entry(&self) -> Node;
    /// The edges that leave `node`, in order.
    fn out_edges(&self, node: Node) -> impl Edges;
    /// The edges that arrive at `node`, in order of their ids.
    fn in_edges(&self, node: Node) -> impl Edges;
    /// The node that `edge` leaves.
    fn source(&self, edge: EdgeId) -> Node;
    /// The node at which `edge` arrives.
    fn target(&self, edge: EdgeId) -> Node;

    /// A number made of the ends of all edges, by which an analysis notices that it is given another graph than its
    /// input was made for. A graph that keeps the number may return it; it must be the one that is computed here.
    fn fingerprint(&self) -> u64 {
        fingerprint(self)
    }

    /// All nodes, by number.
    fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + ExactSizeIterator + use<Self> {
        (0..self.node_count()).map(Node::new)
    }

    /// All edges, by number.
    fn edges(&self) -> impl DoubleEndedIterator<Item = EdgeId> + ExactSizeIterator + use<Self> {
        (0..self.edge_count()).map(EdgeId::new)
    }

    /// The successors of `node`, one for each edge.
    fn successors(&self, node: Node) -> impl DoubleEndedIterator<Item = Node> + ExactSizeIterator {
        self.out_edges(node).map(|e| self.target(e))
    }

    /// The predecessors of `node`, one for each edge.
    fn predecessors(&self, node: Node) -> impl DoubleEndedIterator<Item = Node> + ExactSizeIterator {
        self.in_edges(node).map(|e| self.source(e))
    }
}

/// What tells a graph from others at little cost: its size, its entry, and a number made of the ends of its edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outline {
    nodes: usize,
    entry: Node,
    ends: u64,
}

/// A number made of a list of numbers, cheaply: for telling what is described twice from what is not.
#[inline]
pub(crate) fn mix(so_far: u64, next: u64) -> u64 {
    (so_far.rotate_left(5) ^ next).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Outline {
    pub(crate) fn of<G: Graph>(graph: &G) -> Outline {
        Outline { nodes: graph.node_count(), entry: graph.entry(), ends: graph.fingerprint() }
    }
}

fn fingerprint<G: Graph + ?Sized>(graph: &G) -> u64 {
    // Each edge by itself, so that none waits for the one before.
    let of = |edge: EdgeId| {
        let ends = u64::from(graph.source(edge).0) << 32 | u64::from(graph.target(edge).0);
        let mixed = mix(u64::from(edge.0), ends);
        (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
    };
    graph.edges().fold(graph.edge_count() as u64, |sum, edge| sum.wrapping_add(of(edge)))
}

/// Why a graph could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GraphError {
    /// The entry is not a node of the graph.
    EntryOutOfRange {
        /// The entry that was asked for.
        entry: Node,
        /// How many nodes there are.
        node_count: usize,
    },
    /// An end of an edge is not a node of the graph.
    EndOutOfRange {
        /// The position of the edge in the list.
        edge: usize,
        /// The end that is no node.
        node: Node,
        /// How many nodes there are.
        node_count: usize,
    },
    /// More nodes or edges than 32-bit ids can number.
    TooLarge {
        /// The number of nodes or edges.
        count: usize,
    },
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GraphError::EntryOutOfRange { entry, node_count } => {
                write!(f, "entry {entry} is not one of the graph's {node_count} nodes")
            }
            GraphError::EndOutOfRange { edge, node, node_count } => {
                write!(f, "edge {edge} ends at {node}, which is not one of the graph's {node_count} nodes")
            }
            GraphError::TooLarge { count } => write!(f, "{count} nodes or edges do not fit 32-bit ids"),
        }
    }
}

impl core::error::Error for GraphError {}

/// A graph in compressed arrays. Edge ids are positions in the list it was built from; the out-edges of a
/// node stand in list order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsrGraph {
    entry: Node,
    sources: Vec<Node>,
    targets: Vec<Node>,
    out: Lists<EdgeId>,
    inn: Lists<EdgeId>,
    /// The edges that are left out; of length 0 if there are none.
    dead: BitSet,
    fingerprint: u64,
}

impl CsrGraph {
    /// Builds the graph with nodes `0..node_count` and the given `(source, target)` edges. Linear in
    /// both.
    ///
    /// # Errors
    /// If the entry or an end of an edge is not below `node_count`, or ids would not fit 32 bits.
    pub fn new(
        node_count: usize,
        entry: Node,
        edges: impl IntoIterator<Item = (Node, Node)>,
    ) -> Result<Self, GraphError> {
        let limit = u32::MAX as usize - 1;
        if node_count > limit {
            return Err(GraphError::TooLarge { count: node_count });
        }
        if entry.index() >= node_count {
            return Err(GraphError::EntryOutOfRange { entry, node_count });
        }
        let (sources, targets): (Vec<Node>, Vec<Node>) = edges.into_iter().unzip();
        if sources.len() > limit {
            return Err(GraphError::TooLarge { count: sources.len() });
        }
        for (edge, (&s, &t)) in sources.iter().zip(&targets).enumerate() {
            for node in [s, t] {
                if node.index() >= node_count {
                    return Err(GraphError::EndOutOfRange { edge, node, node_count });
                }
            }
        }
        Ok(Self::group(node_count, entry, sources, targets, BitSet::new(0)))
    }

    fn group(
        node_count: usize,
        entry: Node,
        sources: Vec<Node>,
        targets: Vec<Node>,
        dead: BitSet,
    ) -> CsrGraph {
        let by = |ends: &[Node]| {
            if dead.is_empty() {
                return Lists::positions(node_count, ends);
            }
            let live = ends.iter().enumerate().filter(|&(e, _)| !dead.contains(e));
            Lists::group(node_count, live.map(|(e, n)| (n.index(), EdgeId(e as u32))))
        };
        let (out, inn) = (by(&sources), by(&targets));
        let mut graph = CsrGraph { entry, sources, targets, out, inn, dead, fingerprint: 0 };
        graph.fingerprint = fingerprint(&graph);
        graph
    }

    /// The same nodes, edges and edge ids as any other graph. Linear in the graph.
    pub fn copy_of<G: Graph>(graph: &G) -> Self {
        Self::without(graph, core::iter::empty())
    }

    /// The same nodes, edges and edge ids without some of the edges: these keep their ends and their numbers, which
    /// stay below [`edge_count`](Graph::edge_count), but no list names them. Edges that the graph does not have are
    /// ignored. Out-edges of a node are in the order of their numbers. Linear in the graph.
    pub fn without<G: Graph>(graph: &G, dead: impl IntoIterator<Item = EdgeId>) -> Self {
        let count = graph.edge_count();
        let mut left_out = BitSet::new(count);
        (0..count).for_each(|e| _ = left_out.insert(e));
        graph.edges().for_each(|e| _ = left_out.remove(e.index()));
        dead.into_iter().filter(|e| e.index() < count).for_each(|e| _ = left_out.insert(e.index()));
        if left_out.is_empty() {
            left_out = BitSet::new(0);
        }
        let ends = |end: &dyn Fn(EdgeId) -> Node| (0..count).map(|e| end(EdgeId::new(e))).collect();
        let (sources, targets) = (ends(&|e| graph.source(e)), ends(&|e| graph.target(e)));
        Self::group(graph.node_count(), graph.entry(), sources, targets, left_out)
    }

    /// The edges that leave `node`, as a list. O(1).
    #[inline]
    pub fn out_edges(&self, node: Node) -> &[EdgeId] {
        self.out.get(node.index())
    }

    /// The edges that arrive at `node`, as a list. O(1).
    #[inline]
    pub fn in_edges(&self, node: Node) -> &[EdgeId] {
        self.inn.get(node.index())
    }

    /// Whether an edge is one of those that are left out. O(1).
    pub fn is_left_out(&self, edge: EdgeId) -> bool {
        self.dead.contains(edge.index())
    }
}

impl Graph for CsrGraph {
    #[inline]
    fn node_count(&self) -> usize {
        self.out.len()
    }
    #[inline]
    fn edge_count(&self) -> usize {
        self.sources.len()
    }
    #[inline]
    fn entry(&self) -> Node {
        self.entry
    }
    #[inline]
    fn out_edges(&self, node: Node) -> impl Edges {
        self.out.get(node.index()).iter().copied()
    }
    #[inline]
    fn in_edges(&self, node: Node) -> impl Edges {
        self.inn.get(node.index()).iter().copied()
    }
    #[inline]
    fn source(&self, edge: EdgeId) -> Node {
        self.sources[edge.index()]
    }
    #[inline]
    fn target(&self, edge: EdgeId) -> Node {
        self.targets[edge.index()]
    }
    #[inline]
    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn edges(&self) -> impl DoubleEndedIterator<Item = EdgeId> + ExactSizeIterator + use<> {
        let all = self.dead.is_empty();
        let mut live: Vec<EdgeId> = Vec::new();
        if !all {
            live.extend((0..self.edge_count()).filter(|&e| !self.dead.contains(e)).map(EdgeId::new));
        }
        let count = if all { self.edge_count() } else { live.len() };
        (0..count).map(move |i| if all { EdgeId::new(i) } else { live[i] })
    }
}

/// A graph with every edge turned round and a virtual exit as its entry, so that dominators of it are the
/// post-dominators of the original.
///
/// Edge ids of the original are kept; the virtual exit is the node behind the original's last one, and the
/// edges from it have ids behind the original's last one. The virtual exit leads to
///
/// * every node without successors, and
/// * one node of each strongly connected region that control cannot leave (an infinite loop): the one that a
///   depth-first walk of the original finds first, which for a loop is its header.
///
/// So every node of the original is covered, the unreachable ones included, and a node in an infinite loop is
/// post-dominated by the loop's header. Another choice of node would move post-dominators only inside
/// such loops.
#[derive(Clone, Debug)]
pub struct Reversed {
    graph: CsrGraph,
}

impl Reversed {
    /// Turns `graph` round. Linear in the graph.
    pub fn new<G: Graph>(graph: &G) -> Self {
        let sccs = crate::order::Sccs::compute(graph);
        let mut leaves = vec![false; sccs.len()];
        for e in graph.edges() {
            let from = sccs.of(graph.source(e));
            if from != sccs.of(graph.target(e)) {
                leaves[from] = true;
            }
        }
        let exit = Node::new(graph.node_count());
        let mut left_out: Vec<bool> = vec![true; graph.edge_count()];
        graph.edges().for_each(|e| left_out[e.index()] = false);
        let all = (0..graph.edge_count()).map(EdgeId::new);
        let reversed = all.clone().map(|e| (graph.target(e), graph.source(e)));
        let virtual_edges = (0..sccs.len()).filter(|&s| !leaves[s]).map(|s| (exit, sccs.first_found(s)));
        let mut virtual_edges: Vec<_> = virtual_edges.collect();
        virtual_edges.sort_unstable();
        let mut inner = CsrGraph::new(graph.node_count() + 1, exit, reversed.chain(virtual_edges))
            .expect("a graph's own edges connect its own nodes");
        if left_out.contains(&true) {
            inner = CsrGraph::without(&inner, all.filter(|e| left_out[e.index()]));
        }
        Reversed { graph: inner }
    }

    /// The node that was added. O(1).
    pub fn virtual_exit(&self) -> Node {
        self.graph.entry
    }
}

impl Graph for Reversed {
    #[inline]
    fn node_count(&self) -> usize {
        self.graph.node_count()
    }
    #[inline]
    fn edge_count(&self) -> usize {
        self.graph.edge_count()
    }
    #[inline]
    fn entry(&self) -> Node {
        self.graph.entry()
    }
    #[inline]
    fn out_edges(&self, node: Node) -> impl Edges {
        Graph::out_edges(&self.graph, node)
    }
    #[inline]
    fn in_edges(&self, node: Node) -> impl Edges {
        Graph::in_edges(&self.graph, node)
    }
    #[inline]
    fn source(&self, edge: EdgeId) -> Node {
        self.graph.source(edge)
    }
    #[inline]
    fn target(&self, edge: EdgeId) -> Node {
        self.graph.target(edge)
    }
}

/// Lists of `T`, one for each of `0..len`, in one array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lists<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl Lists<EdgeId> {
    /// For each node the positions at which it stands in a list of nodes.
    fn positions(len: usize, nodes: &[Node]) -> Self {
        let mut starts = vec![0u32; len + 1];
        for node in nodes {
            starts[node.index()] += 1;
        }
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        // From the last one to the first, so that each list ends up in order and `starts` at its beginning.
        let mut items = vec![EdgeId(0); nodes.len()];
        for (position, node) in nodes.iter().enumerate().rev() {
            let start = &mut starts[node.index()];
            *start -= 1;
            items[*start as usize] = EdgeId(position as u32);
        }
        Lists { starts, items }
    }
}

impl<T: Copy> Lists<T> {
    /// Groups `(list, item)` pairs; a list keeps the order of its items. Panics if a list is not below `len`.
    /// Linear in lists and items.
    pub fn group(len: usize, pairs: impl Iterator<Item = (usize, T)> + Clone) -> Self {
        let mut starts = vec![0u32; len + 1];
        let mut count = 0usize;
        let mut any = None;
        for (list, item) in pairs.clone() {
            starts[list + 1] += 1;
            count += 1;
            any = Some(item);
        }
        for i in 0..len {
            starts[i + 1] += starts[i];
        }
        let Some(any) = any else { return Lists { starts, items: Vec::new() } };
        let mut next: Vec<u32> = starts[..len].to_vec();
        let mut items = vec![any; count];
        for (list, item) in pairs {
            items[next[list] as usize] = item;
            next[list] += 1;
        }
        Lists { starts, items }
    }

    /// Takes the place of lists that are to be made. Asks for no memory, and has not even an empty list.
    pub(crate) fn absent() -> Self {
        Lists { starts: Vec::new(), items: Vec::new() }
    }

    /// Lists that stand one after the other in `items`: where each starts, with the end of the last one behind.
    pub(crate) fn from_parts(starts: Vec<u32>, items: Vec<T>) -> Self {
        debug_assert!(starts.last().is_some_and(|&end| end as usize == items.len()));
        Lists { starts, items }
    }

    /// The items of all lists, one after the other.
    #[inline]
    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    /// Where each list starts, with the end of the last one behind, and the items of all lists one after the other.
    pub(crate) fn into_parts(self) -> (Vec<u32>, Vec<T>) {
        (self.starts, self.items)
    }

    /// The number of lists.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// One list, to be changed in place.
    #[inline]
    pub(crate) fn get_mut(&mut self, list: usize) -> &mut [T] {
        let range = self.range(list);
        &mut self.items[range]
    }

    /// Where a list stands in the array of all. O(1).
    #[inline]
    pub fn range(&self, list: usize) -> core::ops::Range<usize> {
        self.starts[list] as usize..self.starts[list + 1] as usize
    }

    /// The length of the array of all. O(1).
    pub fn item_count(&self) -> usize {
        self.items.len()
    }

    /// An item by its place in the array of all. O(1).
    #[inline]
    pub fn item(&self, at: usize) -> T {
        self.items[at]
    }

    /// One list. O(1).
    #[inline]
    pub fn get(&self, list: usize) -> &[T] {
        &self.items[self.range(list)]
    }
}
