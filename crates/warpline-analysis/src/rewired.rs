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
//!   part in it. So that the graph stays of a size linear in that of the program, cycles below a nesting depth of
//!   [`MAX_DEPTH`] are regions too, and less deep ones if very many edges leave very many cycles at once.
//!
//! Unreachable nodes and their edges are left out.

use crate::cycles::{CycleForest, CycleId};
use crate::dom::DomTree;
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

/// The head-rewired graph of a control-flow graph, with its dominators.
#[derive(Clone, Debug)]
pub(crate) struct Rewired {
    graph: CsrGraph,
    origin: Vec<Origin>,
    node_count: usize,
    exit_edges: Vec<EdgeId>,
    exit_node: Vec<u32>,
    region: Vec<u32>,
    position: Vec<u32>,
    dom: DomTree,
    frontiers: Frontiers,
}

const NONE: u32 = u32::MAX;

impl Rewired {
    /// Rewires `graph`, whose orders and cycles are at hand.
    pub(crate) fn new<G: Graph>(graph: &G, dfs: &DfsOrder, cycles: &CycleForest) -> Self {
        Self::with_frontiers(graph, dfs, cycles, 16 * (graph.node_count() + graph.edge_count()))
    }

    /// The same, with room for so many entries in dominance frontiers.
    pub(crate) fn with_frontiers<G: Graph>(
        graph: &G,
        dfs: &DfsOrder,
        cycles: &CycleForest,
        room: usize,
    ) -> Self {
        let n = graph.node_count();
        let region = regions(graph, dfs, cycles);
        let mut arrives: Vec<Node> = graph.nodes().collect();
        let mut departs: Vec<Node> = graph.nodes().collect();
        for node in graph.nodes() {
            let i = node.index();
            if region[i] != NONE {
                arrives[i] = cycles.header(CycleId(region[i]));
                departs[i] = arrives[i];
            } else if let Some(c) = cycles.innermost(node).filter(|&c| cycles.header(c) == node) {
                departs[i] = Node::new(n + c.index());
            }
        }
        let mut edges = Vec::new();
        let mut origin = Vec::new();
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
            let mut to = arrives[t.index()];
            if left.peek().is_some() {
                let passage = Node::new(first_exit + exit_edges.len());
                exit_node[e.index()] = passage.0;
                exit_edges.push(e);
                edges.push((passage, to));
                origin.push(Origin::Edge(e));
                to = passage;
            }
            edges.push((departs[s.index()], to));
            origin.push(Origin::Edge(e));
            for c in left {
                edges.push((cycles.header(c), to));
                origin.push(Origin::EarlyExit(c));
            }
        }
        let root = Node::new(first_exit + exit_edges.len());
        let mut has_predecessor = vec![false; root.index()];
        edges.iter().for_each(|&(_, t)| has_predecessor[t.index()] = true);
        let used = dfs.pre_order().iter().flat_map(|n| [arrives[n.index()], departs[n.index()]]);
        let mut roots: Vec<Node> = used.filter(|&a| !has_predecessor[a.index()]).collect();
        roots.push(arrives[graph.entry().index()]);
        roots.sort_unstable();
        roots.dedup();
        origin.extend(roots.iter().map(|_| Origin::Root));
        edges.extend(roots.into_iter().map(|r| (root, r)));
        let rewired =
            CsrGraph::new(root.index() + 1, root, edges).expect("edges were made between its nodes");
        let order = DfsOrder::compute(&rewired);
        let position = rewired.nodes().map(|x| match order.post_number(x) {
            Some(post) => (order.reachable_count() - 1 - post) as u32,
            None => NONE,
        });
        let position = position.collect();
        let dom = DomTree::compute_with(&rewired, &order);
        let frontiers = Frontiers::compute(&rewired, &dom, room);
        Rewired {
            graph: rewired,
            origin,
            node_count: n,
            exit_edges,
            exit_node,
            region,
            position,
            dom,
            frontiers,
        }
    }

    /// The graph; its entry is the virtual root.
    pub(crate) fn graph(&self) -> &CsrGraph {
        &self.graph
    }

    /// Its dominators.
    pub(crate) fn dom(&self) -> &DomTree {
        &self.dom
    }

    /// The dominance frontier of a node, unless the frontiers of this graph are too large to keep.
    pub(crate) fn frontier(&self, at: Node) -> Option<&[Node]> {
        self.frontiers.get(at)
    }

    /// The position of a node in a topological order.
    pub(crate) fn position(&self, at: Node) -> u32 {
        self.position[at.index()]
    }

    /// Where an edge of this graph comes from.
    pub(crate) fn origin(&self, edge: EdgeId) -> Origin {
        self.origin[edge.index()]
    }

    /// What a node of this graph stands for.
    pub(crate) fn kind(&self, at: Node) -> Kind {
        let i = at.index();
        if i < self.node_count {
            match self.region[i] {
                NONE => Kind::Node(at),
                c => Kind::Region(CycleId(c)),
            }
        } else {
            let first_exit = self.graph.entry().index() - self.exit_edges.len();
            match i.checked_sub(first_exit).and_then(|k| self.exit_edges.get(k)) {
                Some(&e) => Kind::Exit(e),
                None => Kind::Departure,
            }
        }
    }

    /// The region that contains a node of the control-flow graph.
    pub(crate) fn region(&self, node: Node) -> Option<CycleId> {
        let c = self.region[node.index()];
        (c != NONE).then_some(CycleId(c))
    }

    /// Whether the entry reaches a node of the control-flow graph.
    pub(crate) fn is_reachable(&self, node: Node) -> bool {
        self.region[node.index()] != NONE || self.position[node.index()] != NONE
    }

    /// The node of this graph that stands for the passage along an edge that leaves cycles.
    pub(crate) fn passage(&self, edge: EdgeId) -> Option<Node> {
        let passage = self.exit_node[edge.index()];
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

/// How deep cycles may be nested before the rest of the nest is a region.
const MAX_DEPTH: u32 = 64;

/// For each node the region that contains it.
fn regions<G: Graph>(graph: &G, dfs: &DfsOrder, cycles: &CycleForest) -> Vec<u32> {
    // How many cycles each exit edge leaves.
    let leaves: Vec<u32> = graph
        .edges()
        .filter(|&e| dfs.is_reachable(graph.source(e)))
        .map(|e| {
            let (s, t) = (graph.source(e), graph.target(e));
            let (deep, shallow) = if cycles.node_depth(s) < cycles.node_depth(t) { (t, s) } else { (s, t) };
            cycles.node_depth(s) - cycles.innermost_common(shallow, deep).map_or(0, |c| cycles.depth(c))
        })
        .collect();
    let budget = 16 * (graph.node_count() + graph.edge_count()) + 1_000_000;
    let mut limit = MAX_DEPTH;
    while limit > 4 && leaves.iter().map(|&l| l.min(limit) as usize).sum::<usize>() > budget {
        limit /= 2;
    }
    let mut region = vec![NONE; graph.node_count()];
    let mut last_region = None;
    for c in cycles.cycles() {
        let is_region = !cycles.is_reducible(c) || cycles.depth(c) > limit;
        if is_region && last_region.is_none_or(|outer| !cycles.contains_cycle(outer, c)) {
            last_region = Some(c);
            for n in cycles.nodes(c) {
                region[n.index()] = c.0;
            }
        }
    }
    region
}

/// Dominance frontiers of all nodes, as far as there is room for their entries.
#[derive(Clone, Debug)]
struct Frontiers {
    /// Start and length in `items`, by node; `NONE` where the frontier is not kept.
    span: Vec<(u32, u32)>,
    items: Vec<Node>,
}

impl Frontiers {
    fn compute(graph: &CsrGraph, dom: &DomTree, room: usize) -> Self {
        let mut f = Frontiers { span: vec![(NONE, 0); graph.node_count()], items: Vec::new() };
        let mut seen = vec![NONE; graph.node_count()];
        for &x in dom.pre_order().iter().rev() {
            let start = f.items.len();
            let mut add = |items: &mut Vec<Node>, y: Node| {
                if dom.idom(y) != Some(x) && seen[y.index()] != x.0 {
                    seen[y.index()] = x.0;
                    items.push(y);
                }
            };
            graph.successors(x).for_each(|y| add(&mut f.items, y));
            let mut known = true;
            for &c in dom.children(x) {
                let (from, len) = f.span[c.index()];
                known &= from != NONE;
                for i in 0..if from == NONE { 0 } else { len } {
                    let y = f.items[(from + i) as usize];
                    add(&mut f.items, y);
                }
            }
            if known && f.items.len() <= room {
                f.span[x.index()] = (start as u32, (f.items.len() - start) as u32);
            } else {
                f.items.truncate(start);
            }
        }
        f
    }

    fn get(&self, x: Node) -> Option<&[Node]> {
        let (start, len) = self.span[x.index()];
        (start != NONE).then(|| &self.items[start as usize..(start + len) as usize])
    }
}
