//! The forest of cycles of a control-flow graph, reducible or not.
//!
//! The definition is Havlak's, and the one of paper 2 (*Convergence And Uniformity*): every strongly
//! connected region of the reachable graph that has an edge inside is a cycle; its *header* is the node of it
//! that the depth-first walk meets first; the cycles of the region without its header are its children. On an
//! irreducible region another depth-first walk may give another forest. A cycle is *reducible* if control can
//! enter it only at its header.
//!
//! The forest is built in one pass over the depth-first tree from the bottom up. As Ramalingam does for
//! Havlak's algorithm, an edge between different subtrees is held back until the walk arrives at the lowest
//! common ancestor of its ends: so every edge is looked at a bounded number of times and the whole takes
//! nearly linear time also in deep nests. The entries of an irreducible cycle are not kept, but found when asked for:
//! a nest of irreducible cycles may have quadratically many.

use alloc::vec::Vec;
use core::fmt;

use crate::bitset::BitSet;
use crate::graph::{EdgeId, Graph, Lists, Node};
use crate::order::DfsOrder;

const NONE: u32 = u32::MAX;

/// A cycle, numbered so that the cycles inside it follow directly; siblings are in the order of their headers
/// in the depth-first walk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CycleId(pub u32);

impl CycleId {
    /// The number as an index into a side table. O(1).
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for CycleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

/// All cycles of a graph and how they nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleForest {
    header: Vec<Node>,
    parent: Vec<u32>,
    depth: Vec<u32>,
    last: Vec<u32>,
    reducible: BitSet,
    reachable: BitSet,
    children: Lists<CycleId>,
    top: Vec<CycleId>,
    innermost: Vec<u32>,
    nodes: Vec<Node>,
    node_start: Vec<u32>,
}

impl CycleForest {
    /// The forest of a graph without cycles.
    pub(crate) fn empty(node_count: usize) -> Self {
        CycleForest {
            header: Vec::new(),
            parent: Vec::new(),
            depth: Vec::new(),
            last: Vec::new(),
            reducible: BitSet::new(0),
            reachable: BitSet::new(0),
            children: Lists::group(0, core::iter::empty()),
            top: Vec::new(),
            innermost: vec![NONE; node_count],
            nodes: Vec::new(),
            node_start: vec![0],
        }
    }

    /// Takes the place of a forest that is elsewhere. Asks for no memory, and nothing can be asked of it.
    pub(crate) fn absent() -> Self {
        CycleForest {
            header: Vec::new(),
            parent: Vec::new(),
            depth: Vec::new(),
            last: Vec::new(),
            reducible: BitSet::default(),
            reachable: BitSet::default(),
            children: Lists::absent(),
            top: Vec::new(),
            innermost: Vec::new(),
            nodes: Vec::new(),
            node_start: Vec::new(),
        }
    }

    /// Finds the cycles of `graph`. Takes nearly linear time, whatever the nesting.
    pub fn compute<G: Graph>(graph: &G) -> Self {
        Self::compute_with(graph, &DfsOrder::compute(graph))
    }

    /// Finds the cycles of `graph` as its depth-first order `dfs` shows them.
    /// Takes nearly linear time, whatever the nesting.
    pub fn compute_with<G: Graph>(graph: &G, dfs: &DfsOrder) -> Self {
        if dfs.is_acyclic() {
            return Self::empty(graph.node_count());
        }
        let nesting = Nesting::find(graph, dfs);
        let header_numbers = nesting.headers_in_forest_order();
        let mut id_of_header = vec![NONE; dfs.reachable_count()];
        for (id, &number) in header_numbers.iter().enumerate() {
            id_of_header[number as usize] = id as u32;
        }
        let header = header_numbers.iter().map(|&h| dfs.pre_order()[h as usize]).collect();
        let cycle_around = |number: usize| match nesting.around[number] {
            NONE => NONE,
            h => id_of_header[h as usize],
        };
        let parent = header_numbers.iter().map(|&h| cycle_around(h as usize)).collect();
        let mut innermost = vec![NONE; graph.node_count()];
        for (number, &node) in dfs.pre_order().iter().enumerate() {
            let own = id_of_header[number];
            innermost[node.index()] = if own != NONE { own } else { cycle_around(number) };
        }
        Self::assemble(graph, dfs, header, parent, innermost)
    }

    fn assemble<G: Graph>(
        graph: &G,
        dfs: &DfsOrder,
        header: Vec<Node>,
        parent: Vec<u32>,
        innermost: Vec<u32>,
    ) -> Self {
        let count = header.len();
        let mut depth = vec![1u32; count];
        for c in 0..count {
            if parent[c] != NONE {
                depth[c] = depth[parent[c] as usize] + 1;
            }
        }
        let ids = || (0..count as u32).map(CycleId);
        let inner = ids().filter(|c| parent[c.index()] != NONE);
        let children = Lists::group(count, inner.map(|c| (parent[c.index()] as usize, c)));
        let top: Vec<CycleId> = ids().filter(|c| parent[c.index()] == NONE).collect();
        // Because ids follow a pre-order of the forest, the cycles inside a cycle are a range of ids.
        let mut last: Vec<u32> = (0..count as u32).collect();
        for c in (0..count).rev() {
            if parent[c] != NONE {
                let p = parent[c] as usize;
                last[p] = last[p].max(last[c]);
            }
        }
        let own = Lists::group(
            count,
            dfs.reverse_post_order()
                .filter(|n| innermost[n.index()] != NONE)
                .map(|n| (innermost[n.index()] as usize, n)),
        );
        // One list after the other: as ids follow a pre-order, a cycle's own nodes and those of the cycles inside it.
        let (node_start, nodes) = own.into_parts();
        let mut forest = CycleForest {
            reducible: BitSet::new(count),
            reachable: BitSet::new(graph.node_count()),
            header,
            parent,
            depth,
            last,
            children,
            top,
            innermost,
            nodes,
            node_start,
        };
        dfs.pre_order().iter().for_each(|n| _ = forest.reachable.insert(n.index()));
        forest.reducible = forest.find_reducible(graph, dfs);
        forest
    }

    /// The cycles that are entered at their headers only.
    fn find_reducible<G: Graph>(&self, graph: &G, dfs: &DfsOrder) -> BitSet {
        let mut reducible = BitSet::new(self.len());
        self.cycles().for_each(|c| _ = reducible.insert(c.index()));
        // Leads from a cycle that is known to be irreducible outwards, past others of which the same is known.
        let mut outwards = UnionFind::new(self.len() + 1);
        let none = self.len() as u32;
        let slot = |c: Option<CycleId>| c.map_or(none, |c| c.0);
        for &node in dfs.pre_order() {
            let Some(innermost) = self.innermost(node) else { continue };
            // Only the innermost cycle can have its header here.
            let first = if self.header(innermost) == node { self.parent(innermost) } else { Some(innermost) };
            if first.is_none() {
                continue;
            }
            for from in graph.predecessors(node).filter(|&p| dfs.is_reachable(p)) {
                if self.contains(innermost, from) {
                    continue;
                }
                let mut at = outwards.find(slot(first));
                while at != none && !self.contains(CycleId(at), from) {
                    reducible.remove(at as usize);
                    outwards.union(at, slot(self.parent(CycleId(at))));
                    at = outwards.find(at);
                }
            }
        }
        reducible
    }

    /// The number of cycles. O(1).
    #[inline]
    pub fn len(&self) -> usize {
        self.header.len()
    }

    /// Whether the graph is acyclic. O(1).
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.header.is_empty()
    }

    /// All cycles, parents before children. O(1) a step.
    pub fn cycles(&self) -> impl DoubleEndedIterator<Item = CycleId> + ExactSizeIterator + use<> {
        (0..self.header.len() as u32).map(CycleId)
    }

    /// The cycles that lie in no other, in the order of the depth-first walk. O(1).
    pub fn top_level(&self) -> &[CycleId] {
        &self.top
    }

    /// The node of the cycle that the depth-first walk met first. O(1).
    #[inline]
    pub fn header(&self, cycle: CycleId) -> Node {
        self.header[cycle.index()]
    }

    /// The nodes at which control can enter the cycle from outside, the header first, the others in reverse post-order
    /// within their innermost cycles. (The header is listed even if it is the graph's entry and nothing else
    /// leads to it.) Takes time linear in the cycle and its in-edges. `graph` is the one that the forest was
    /// computed from.
    pub fn entries<G: Graph>(&self, graph: &G, cycle: CycleId) -> Vec<Node> {
        let header = self.header(cycle);
        let mut entries = vec![header];
        if !self.is_reducible(cycle) {
            let outside = |p: Node| self.reachable.contains(p.index()) && !self.contains(cycle, p);
            let enters = |n: Node| graph.predecessors(n).any(outside);
            entries.extend(self.nodes(cycle).iter().copied().filter(|&n| n != header && enters(n)));
        }
        entries
    }

    /// Whether the header is the only entry. O(1).
    #[inline]
    pub fn is_reducible(&self, cycle: CycleId) -> bool {
        self.reducible.contains(cycle.index())
    }

    /// The smallest cycle around this one. O(1).
    #[inline]
    pub fn parent(&self, cycle: CycleId) -> Option<CycleId> {
        let parent = self.parent[cycle.index()];
        (parent != NONE).then_some(CycleId(parent))
    }

    /// The largest cycles inside this one, in the order of the depth-first walk. O(1).
    pub fn children(&self, cycle: CycleId) -> &[CycleId] {
        self.children.get(cycle.index())
    }

    /// The number of cycles around this one, itself included: 1 for a cycle on top level. O(1).
    #[inline]
    pub fn depth(&self, cycle: CycleId) -> u32 {
        self.depth[cycle.index()]
    }

    /// The number of cycles around `node`: 0 outside all cycles. O(1).
    pub fn node_depth(&self, node: Node) -> u32 {
        self.innermost(node).map_or(0, |c| self.depth(c))
    }

    /// The smallest cycle that contains `node`. O(1).
    #[inline]
    pub fn innermost(&self, node: Node) -> Option<CycleId> {
        let cycle = self.innermost[node.index()];
        (cycle != NONE).then_some(CycleId(cycle))
    }

    /// The cycles that contain `node`, from the inside out. O(1) a step.
    pub fn around(&self, node: Node) -> impl Iterator<Item = CycleId> + '_ {
        core::iter::successors(self.innermost(node), |&c| self.parent(c))
    }

    /// Whether `node` lies in the cycle or in one inside it. O(1).
    #[inline]
    pub fn contains(&self, cycle: CycleId, node: Node) -> bool {
        self.innermost(node).is_some_and(|c| self.contains_cycle(cycle, c))
    }

    /// Whether `inner` is `outer` or lies inside it. O(1).
    #[inline]
    pub fn contains_cycle(&self, outer: CycleId, inner: CycleId) -> bool {
        outer.0 <= inner.0 && inner.0 <= self.last[outer.index()]
    }

    /// The nodes of the cycle and of the cycles inside it, the header first. O(1).
    #[inline]
    pub fn nodes(&self, cycle: CycleId) -> &[Node] {
        let end = self.last[cycle.index()] as usize + 1;
        &self.nodes[self.node_start[cycle.index()] as usize..self.node_start[end] as usize]
    }

    /// The nodes of which this is the innermost cycle, in reverse post-order. O(1).
    pub fn own_nodes(&self, cycle: CycleId) -> &[Node] {
        let c = cycle.index();
        &self.nodes[self.node_start[c] as usize..self.node_start[c + 1] as usize]
    }

    /// The edges that leave the cycle, in the order of [`nodes`](Self::nodes). `graph` is the one that the
    /// forest was computed from. All of it is linear in the nodes of the cycle and their out-edges.
    pub fn exit_edges<'a, G: Graph>(
        &'a self,
        graph: &'a G,
        cycle: CycleId,
    ) -> impl Iterator<Item = EdgeId> + 'a {
        self.nodes(cycle)
            .iter()
            .flat_map(move |&n| graph.out_edges(n))
            .filter(move |&e| !self.contains(cycle, graph.target(e)))
    }

    /// For each cycle, by index, the edges that leave it, in the order of [`nodes`](Self::nodes): what
    /// [`exit_edges`](Self::exit_edges) finds, in time linear in the graph and the result however deep the cycles lie.
    pub fn all_exit_edges<G: Graph>(&self, graph: &G) -> Vec<Vec<EdgeId>> {
        let mut exits = vec![Vec::new(); self.len()];
        for &n in &self.nodes {
            for e in graph.out_edges(n) {
                for c in self.around(n).take_while(|&c| !self.contains(c, graph.target(e))) {
                    exits[c.index()].push(e);
                }
            }
        }
        exits
    }

    /// The smallest cycle that contains both nodes. Takes as many steps as `a` is deeper than the result.
    pub fn innermost_common(&self, a: Node, b: Node) -> Option<CycleId> {
        self.around(a).find(|&c| self.contains(c, b))
    }

    /// The largest cycle that contains `inside` but not `outside`. Takes as many steps as cycles are passed.
    pub fn outermost_without(&self, inside: Node, outside: Node) -> Option<CycleId> {
        self.around(inside).take_while(|&c| !self.contains(c, outside)).last()
    }
}

/// Which headers there are and which header's cycle is directly around each node, by depth-first number.
struct Nesting {
    is_header: Vec<bool>,
    around: Vec<u32>,
}

impl Nesting {
    /// The headers such that those inside a cycle follow its header directly; otherwise in the order of the
    /// depth-first walk.
    fn headers_in_forest_order(&self) -> Vec<u32> {
        let headers = || (0..self.is_header.len()).filter(|&h| self.is_header[h]);
        if headers().all(|h| self.around[h] == NONE) {
            return headers().map(|h| h as u32).collect();
        }
        let nested = headers().filter(|&h| self.around[h] != NONE);
        let inside = Lists::group(self.is_header.len(), nested.map(|h| (self.around[h] as usize, h as u32)));
        let top = headers().filter(|&h| self.around[h] == NONE);
        let mut order = Vec::new();
        let mut stack: Vec<u32> = top.map(|h| h as u32).rev().collect();
        while let Some(h) = stack.pop() {
            order.push(h);
            stack.extend(inside.get(h as usize).iter().rev());
        }
        order
    }

    fn find<G: Graph>(graph: &G, dfs: &DfsOrder) -> Self {
        let n = dfs.reachable_count();
        let mut nesting = Nesting { is_header: vec![false; n], around: vec![NONE; n] };
        let mut tree = UnionFind::new(n); // subtrees whose walk is over, rooted where they hang
        let mut reps = UnionFind::new(n); // collapsed cycles, represented by their headers
        // Edges held back at the lowest common ancestor of their ends, and edges that arrive at a
        // representative from inside its subtree's reach: linked lists of (source, target).
        let mut held = LinkedLists::new(n);
        let mut arriving = LinkedLists::new(n);
        let mut body: Vec<u32> = Vec::new();
        let mut sources: Vec<u32> = Vec::new();
        let mut in_body = vec![NONE; n];
        for v in (0..n as u32).rev() {
            let node = dfs.pre_order()[v as usize];
            for u in graph.predecessors(node).filter_map(|p| dfs.pre_number(p)) {
                let u = u as u32;
                // All of `u`'s ancestors behind `v` are done, so this is the lowest common ancestor.
                let meet = tree.find(u);
                if meet == v {
                    nesting.is_header[v as usize] = true;
                    let rep = reps.find(u);
                    if rep != v && in_body[rep as usize] != v {
                        in_body[rep as usize] = v;
                        body.push(rep);
                    }
                } else {
                    held.push(meet, (u, v));
                }
            }
            held.drain(v, |(u, w)| arriving.push(reps.find(w), (u, w)));
            let mut next = 0;
            while let Some(&y) = body.get(next) {
                next += 1;
                arriving.drain(y, |(u, _)| sources.push(u));
                for u in sources.drain(..) {
                    let rep = reps.find(u);
                    if rep != v && in_body[rep as usize] != v {
                        in_body[rep as usize] = v;
                        body.push(rep);
                    }
                }
            }
            for y in body.drain(..) {
                nesting.around[y as usize] = v;
                reps.union(y, v);
            }
            if let Some(p) = dfs.parent(node).and_then(|p| dfs.pre_number(p)) {
                tree.union(v, p as u32);
            }
        }
        nesting
    }
}

/// Union-find with path halving; the representative is chosen by the caller.
struct UnionFind {
    parent: Vec<u32>,
}

impl UnionFind {
    fn new(n: usize) -> Self {
        UnionFind { parent: (0..n as u32).collect() }
    }

    fn find(&mut self, mut x: u32) -> u32 {
        while self.parent[x as usize] != x {
            let grand = self.parent[self.parent[x as usize] as usize];
            self.parent[x as usize] = grand;
            x = grand;
        }
        x
    }

    /// Puts the set represented by `x` under the one represented by `root`.
    fn union(&mut self, x: u32, root: u32) {
        self.parent[x as usize] = root;
    }
}

/// Many lists of edges that grow and are emptied, in one array.
struct LinkedLists {
    head: Vec<u32>,
    items: Vec<((u32, u32), u32)>,
}

impl LinkedLists {
    fn new(n: usize) -> Self {
        LinkedLists { head: vec![NONE; n], items: Vec::with_capacity(n) }
    }

    fn push(&mut self, list: u32, item: (u32, u32)) {
        self.items.push((item, self.head[list as usize]));
        self.head[list as usize] = self.items.len() as u32 - 1;
    }

    fn drain(&mut self, list: u32, mut each: impl FnMut((u32, u32))) {
        let mut at = core::mem::replace(&mut self.head[list as usize], NONE);
        while at != NONE {
            let (item, next) = self.items[at as usize];
            each(item);
            at = next;
        }
    }
}
