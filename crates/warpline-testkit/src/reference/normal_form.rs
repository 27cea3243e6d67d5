//! The normal form of a reducible control-flow graph, in which loops are left one at a time.
//!
//! Paper 1 (Rosemann, Moll, Hack: *An Abstract Interpretation for SPMD Divergence on Reducible Control Flow
//! Graphs*), Section 3.1, asks of a graph that
//!
//! 1. all predecessors of a loop exit lie in the same loop,
//! 2. the target of an edge that leaves a loop is no loop header,
//! 3. no edge leads from a node to itself,
//! 4. an edge leaves at most one loop,
//!
//! and that the root has no predecessor and two nodes are connected by at most one edge (edges are a relation there).
//! Edges are split where that is needed and nowhere else, so a graph in normal form stays as it is.
//!
//! An edge that leaves *k* loops at once gets a node in each loop but the innermost, with a *fake back edge* to the
//! header of that loop, which makes the node part of it. The branch of such a node is uniform, since control always
//! leaves.
//!
//! Fake back edges are never taken, yet paths lead along them. A thread that leaves two loops at once then seems able
//! to go on with the outer one, to arrive at another exit of it, and there to meet threads with which it never meets.
//! So on the normal form with these paths, as the paper has it, a split can be relevant for a join that has nothing
//! to do with it in the program. [`NormalForm::fake_back_edges`] are therefore given to the analyses as dead edges
//! unless the caller wants the paper's form as printed.

use std::collections::HashSet;
use std::fmt;

use warpline_analysis::bitset::BitSet;
use warpline_analysis::cycles::{CycleForest, CycleId};
use warpline_analysis::graph::{CsrGraph, EdgeId, Graph, GraphError, Lists, Node};
use warpline_analysis::order::DfsOrder;

/// Why a graph has no normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NormalFormError {
    /// A cycle has more than one entry.
    Irreducible {
        /// The entry that a depth-first walk meets first.
        header: Node,
        /// Another one.
        entry: Node,
    },
    /// The normal form has more nodes or edges than ids can number.
    Graph(GraphError),
}

impl fmt::Display for NormalFormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NormalFormError::Irreducible { header, entry } => {
                write!(
                    f,
                    "the cycle with header {header} can also be entered at {entry}: the graph is irreducible"
                )
            }
            NormalFormError::Graph(error) => write!(f, "the normal form is too large: {error}"),
        }
    }
}

impl std::error::Error for NormalFormError {}

/// What a node of the normal form stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeOrigin {
    /// A node of the original graph, with the same number.
    Node(Node),
    /// A place on an edge of the original graph.
    OnEdge(EdgeId),
    /// The new root before an entry that has predecessors.
    Root,
}

/// A graph in normal form, and how it is related to the original.
///
/// Nodes keep their numbers; new ones follow behind. Unreachable nodes stay, without edges.
#[derive(Clone, Debug)]
pub struct NormalForm {
    graph: CsrGraph,
    cycles: CycleForest,
    dfs: DfsOrder,
    original_nodes: usize,
    /// By new node, counted from the first new one.
    new_nodes: Vec<NodeOrigin>,
    /// By original edge, the edges that it has become, in order.
    parts: Lists<EdgeId>,
    /// By edge, the original one; none for an edge from a new root and for fake back edges.
    edge_origin: Vec<Option<EdgeId>>,
    fake: BitSet,
}

impl NormalForm {
    /// The normal form of `graph`.
    ///
    /// # Errors
    /// If the reachable part of `graph` is irreducible, or ids would not fit 32 bits.
    pub fn new<G: Graph>(graph: &G) -> Result<Self, NormalFormError> {
        let dfs = DfsOrder::compute(graph);
        let cycles = CycleForest::compute_with(graph, &dfs);
        for c in cycles.cycles() {
            if let [header, entry, ..] = cycles.entries(graph, c)[..] {
                return Err(NormalFormError::Irreducible { header, entry });
            }
        }
        let mut making = Making::new(graph, &dfs, &cycles);
        for e in graph.edges().filter(|&e| dfs.is_reachable(graph.source(e))) {
            making.edge(e);
        }
        making.finish().map_err(NormalFormError::Graph)
    }

    /// The graph in normal form.
    pub fn graph(&self) -> &CsrGraph {
        &self.graph
    }

    /// Its loops.
    pub fn cycles(&self) -> &CycleForest {
        &self.cycles
    }

    /// Its depth-first order.
    pub fn dfs(&self) -> &DfsOrder {
        &self.dfs
    }

    /// What a node stands for.
    pub fn node_origin(&self, node: Node) -> NodeOrigin {
        match node.index().checked_sub(self.original_nodes) {
            None => NodeOrigin::Node(node),
            Some(new) => self.new_nodes[new],
        }
    }

    /// The edges that an edge of the original graph has become, in the order in which control passes them. Empty if it
    /// is unreachable.
    pub fn parts(&self, original: EdgeId) -> &[EdgeId] {
        self.parts.get(original.index())
    }

    /// The edge of the original graph that an edge is a part of; none for an edge from a new root and for
    /// fake back edges.
    pub fn edge_origin(&self, edge: EdgeId) -> Option<EdgeId> {
        self.edge_origin[edge.index()]
    }

    /// The edges that are never taken.
    pub fn fake_back_edges(&self) -> &BitSet {
        &self.fake
    }

    /// The nodes to which edges lead that leave a loop, in the order of the edges, each once.
    pub fn exits(&self, cycle: CycleId) -> Vec<Node> {
        let mut exits = Vec::new();
        for e in self.cycles.exit_edges(&self.graph, cycle) {
            if !exits.contains(&self.graph.target(e)) {
                exits.push(self.graph.target(e));
            }
        }
        exits
    }
}

/// A normal form in the making.
struct Making<'a, G> {
    graph: &'a G,
    cycles: &'a CycleForest,
    /// Nodes to which no edge may lead directly that leaves a loop.
    own_exits: BitSet,
    connected: HashSet<(Node, Node)>,
    node_count: usize,
    new_nodes: Vec<NodeOrigin>,
    edges: Vec<(Node, Node)>,
    edge_origin: Vec<Option<EdgeId>>,
    fake: Vec<usize>,
}

impl<'a, G: Graph> Making<'a, G> {
    fn new(graph: &'a G, dfs: &DfsOrder, cycles: &'a CycleForest) -> Self {
        let mut making = Making {
            graph,
            cycles,
            own_exits: BitSet::new(graph.node_count()),
            connected: HashSet::new(),
            node_count: graph.node_count(),
            new_nodes: Vec::new(),
            edges: Vec::new(),
            edge_origin: Vec::new(),
            fake: Vec::new(),
        };
        for p in graph.nodes().filter(|&p| dfs.is_reachable(p)) {
            if making.needs_own_exits(dfs, p) {
                making.own_exits.insert(p.index());
            }
        }
        let entry = graph.entry();
        if graph.predecessors(entry).any(|q| dfs.is_reachable(q)) {
            let root = making.node(NodeOrigin::Root);
            making.connect(root, entry, None);
        }
        making
    }

    /// Whether edges that leave loops must not lead to `p` directly.
    fn needs_own_exits(&self, dfs: &DfsOrder, p: Node) -> bool {
        let is_header = self.cycles.innermost(p).is_some_and(|c| self.cycles.header(c) == p);
        // An edge counts for the outermost loop that it leaves: there its last part begins.
        let (mut first, mut mixed, mut leaves) = (None, false, false);
        let mut sources = HashSet::new();
        for e in self.graph.in_edges(p) {
            let q = self.graph.source(e);
            if !dfs.is_reachable(q) {
                continue;
            }
            let left = self.left(q, p).last().copied();
            leaves |= left.is_some();
            let from = left.or(self.cycles.innermost(q));
            mixed |= *first.get_or_insert(from) != from || !sources.insert(q);
        }
        leaves && (mixed || is_header)
    }

    /// The loops that an edge from `q` to `p` leaves, innermost first.
    fn left(&self, q: Node, p: Node) -> Vec<CycleId> {
        self.cycles.around(q).take_while(|&c| !self.cycles.contains(c, p)).collect()
    }

    fn node(&mut self, origin: NodeOrigin) -> Node {
        let node = Node::new(self.node_count);
        self.node_count += 1;
        self.new_nodes.push(origin);
        node
    }

    fn connect(&mut self, from: Node, to: Node, origin: Option<EdgeId>) {
        self.connected.insert((from, to));
        self.edges.push((from, to));
        self.edge_origin.push(origin);
    }

    /// Adds an edge of the original graph.
    fn edge(&mut self, e: EdgeId) {
        let (q, p) = (self.graph.source(e), self.graph.target(e));
        let left = self.left(q, p);
        let mut at = q;
        for &bypassed in left.iter().skip(1) {
            let node = self.node(NodeOrigin::OnEdge(e));
            self.connect(at, node, Some(e));
            self.fake.push(self.edges.len());
            self.connect(node, self.cycles.header(bypassed), None);
            at = node;
        }
        let own_exit = !left.is_empty() && self.own_exits.contains(p.index());
        if own_exit || at == p || self.connected.contains(&(at, p)) {
            let node = self.node(NodeOrigin::OnEdge(e));
            self.connect(at, node, Some(e));
            at = node;
        }
        self.connect(at, p, Some(e));
    }

    fn finish(self) -> Result<NormalForm, GraphError> {
        let entry = match self.new_nodes.first() {
            Some(NodeOrigin::Root) => Node::new(self.graph.node_count()),
            _ => self.graph.entry(),
        };
        let graph = CsrGraph::new(self.node_count, entry, self.edges)?;
        let dfs = DfsOrder::compute(&graph);
        let cycles = CycleForest::compute_with(&graph, &dfs);
        let mut fake = BitSet::new(graph.edge_count());
        self.fake.iter().for_each(|&e| {
            fake.insert(e);
        });
        let origins = self.edge_origin.iter().enumerate();
        let parts = origins.filter_map(|(new, old)| old.map(|old| (old.index(), EdgeId::new(new))));
        Ok(NormalForm {
            parts: Lists::group(self.graph.edge_count(), parts),
            graph,
            cycles,
            dfs,
            original_nodes: self.graph.node_count(),
            new_nodes: self.new_nodes,
            edge_origin: self.edge_origin,
            fake,
        })
    }
}
