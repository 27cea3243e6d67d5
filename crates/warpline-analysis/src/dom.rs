//! Dominators, and post-dominators by the same algorithm over [`Reversed`](crate::Reversed).
//!
//! Where every retreating edge leads to a node that dominates its source, these edges change no dominators, and one
//! pass in reverse post-order finds them (Cooper, Harvey and Kennedy). It takes many steps where many edges lead from
//! a long chain of dominators to one node, as in early-exit ladders, so the steps are counted. Where they are too
//! many, and on irreducible graphs, the algorithm is that of Lengauer and Tarjan with path compression, O(E log V) on
//! every input.

use alloc::vec::Vec;

use crate::graph::{Graph, Lists, Node};
use crate::order::DfsOrder;

const NONE: u32 = u32::MAX;

/// The dominator tree of the nodes that the entry reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomTree {
    root: Node,
    idom: Vec<u32>,
    level: Vec<u32>,
    children: Lists<Node>,
    pre: Vec<Node>,
    number: Vec<u32>,
    last: Vec<u32>,
}

impl DomTree {
    /// Computes the dominators of `graph`. Takes time O(e log n).
    pub fn compute<G: Graph>(graph: &G) -> Self {
        Self::compute_with(graph, &DfsOrder::compute(graph))
    }

    /// Computes the dominators of `graph`, whose depth-first order is at hand. Takes time O(e log n).
    pub fn compute_with<G: Graph>(graph: &G, dfs: &DfsOrder) -> Self {
        let mut idom = vec![NONE; graph.node_count()];
        match in_one_pass(graph, dfs) {
            Some(by_number) => {
                let post = dfs.post_order();
                for (&node, &dom) in post.iter().zip(&by_number).take(post.len() - 1) {
                    idom[node.index()] = post[dom as usize].0;
                }
            }
            None => {
                let by_number = LengauerTarjan::run(graph, dfs);
                for (number, &dom) in by_number.iter().enumerate().skip(1) {
                    idom[dfs.pre_order()[number].index()] = dfs.pre_order()[dom as usize].0;
                }
            }
        }
        Self::from_idoms(graph.entry(), idom, dfs)
    }

    fn from_idoms(root: Node, idom: Vec<u32>, dfs: &DfsOrder) -> Self {
        let n = idom.len();
        // Reverse post-order makes the children of a node stand in the order of control.
        let tree_edges = dfs.reverse_post_order().skip(1).map(|v| (idom[v.index()] as usize, v));
        let children = Lists::group(n, tree_edges);
        let mut tree = DomTree {
            root,
            level: vec![0; n],
            pre: vec![root; dfs.reachable_count()],
            number: vec![NONE; n],
            last: vec![0; n],
            children,
            idom,
        };
        // How many nodes a subtree has besides its root: what is below a node comes before it in post-order.
        let mut below = vec![0u32; n];
        for &v in &dfs.post_order()[..dfs.reachable_count() - 1] {
            below[tree.idom[v.index()] as usize] += below[v.index()] + 1;
        }
        // A node's number is the next one of its parent that is free; `last` is how many are taken until all are.
        tree.number[root.index()] = 0;
        for v in dfs.reverse_post_order().skip(1) {
            let (v, parent) = (v.index(), tree.idom[v.index()] as usize);
            let number = tree.number[parent] + 1 + tree.last[parent];
            tree.last[parent] += below[v] + 1;
            tree.number[v] = number;
            tree.level[v] = tree.level[parent] + 1;
            tree.pre[number as usize] = Node(v as u32);
        }
        for &v in dfs.post_order() {
            tree.last[v.index()] = tree.number[v.index()] + below[v.index()];
        }
        tree
    }

    /// The entry of the graph. O(1).
    #[inline]
    pub fn root(&self) -> Node {
        self.root
    }

    /// Whether the entry reaches `node`. O(1).
    #[inline]
    pub fn is_reachable(&self, node: Node) -> bool {
        self.number[node.index()] != NONE
    }

    /// The immediate dominator; none for the entry and for unreachable nodes. O(1).
    #[inline]
    pub fn idom(&self, node: Node) -> Option<Node> {
        let dom = self.idom[node.index()];
        (dom != NONE).then_some(Node(dom))
    }

    /// Whether every path from the entry to `b` goes through `a`; so every node dominates itself and every
    /// node dominates an unreachable one. O(1).
    #[inline]
    pub fn dominates(&self, a: Node, b: Node) -> bool {
        let at = self.number[b.index()];
        let from = self.number[a.index()];
        at == NONE || (from != NONE && from <= at && at <= self.last[a.index()])
    }

    /// [`dominates`](Self::dominates), and `a` is not `b`. O(1).
    #[inline]
    pub fn strictly_dominates(&self, a: Node, b: Node) -> bool {
        a != b && self.dominates(a, b)
    }

    /// The nodes whose immediate dominator is `node`, in reverse post-order. O(1).
    #[inline]
    pub fn children(&self, node: Node) -> &[Node] {
        self.children.get(node.index())
    }

    /// The number of tree edges between the root and `node`; 0 for unreachable nodes. O(1).
    #[inline]
    pub fn level(&self, node: Node) -> u32 {
        self.level[node.index()]
    }

    /// The reachable nodes, parents before children, subtrees contiguous. O(1).
    #[inline]
    pub fn pre_order(&self) -> &[Node] {
        &self.pre
    }

    /// Position in [`pre_order`](Self::pre_order); none for an unreachable node. O(1).
    #[inline]
    pub fn pre_number(&self, node: Node) -> Option<usize> {
        let number = self.number[node.index()];
        (number != NONE).then_some(number as usize)
    }

    /// The first and last position of `node`'s subtree in [`pre_order`](Self::pre_order). The node must be reachable.
    #[inline]
    pub(crate) fn interval(&self, node: Node) -> (u32, u32) {
        debug_assert!(self.is_reachable(node));
        (self.number[node.index()], self.last[node.index()])
    }

    /// Position in [`pre_order`](Self::pre_order), larger than all if unreachable.
    #[inline]
    pub(crate) fn position(&self, node: Node) -> u32 {
        self.number[node.index()]
    }

    /// The nodes that `node` dominates, itself first, as a part of [`pre_order`](Self::pre_order); empty if
    /// unreachable. O(1).
    #[inline]
    pub fn subtree(&self, node: Node) -> &[Node] {
        match self.pre_number(node) {
            Some(number) => &self.pre[number..=self.last[node.index()] as usize],
            None => &[],
        }
    }

    /// The lowest node that dominates both; the other one if one is unreachable. Takes as many steps as the
    /// levels differ from the result's.
    pub fn nearest_common_dominator(&self, mut a: Node, mut b: Node) -> Node {
        if !self.is_reachable(a) {
            return b;
        }
        if !self.is_reachable(b) {
            return a;
        }
        while a != b {
            if self.level(a) < self.level(b) {
                core::mem::swap(&mut a, &mut b);
            }
            // `a` is at least as deep as `b` and is not `b`, so it is not the root.
            a = Node(self.idom[a.index()]);
        }
        a
    }
}

/// So many steps are made for each node before the pass is given up.
const STEPS: usize = 8;

/// Immediate dominators as post-order numbers, by post-order number, if every retreating edge leads to a dominator of
/// its source and that takes few steps.
fn in_one_pass<G: Graph>(graph: &G, dfs: &DfsOrder) -> Option<Vec<u32>> {
    let n = dfs.reachable_count();
    let mut steps = STEPS * n;
    let mut idom = vec![NONE; n];
    let mut retreating: Vec<(u32, u32)> = Vec::new();
    for (number, &node) in dfs.post_order().iter().enumerate().rev().skip(1) {
        let mut found = NONE;
        for p in graph.predecessors(node) {
            let Some(from) = dfs.post_number(p).map(|p| p as u32) else { continue };
            if from <= number as u32 {
                retreating.push((from, number as u32));
                continue;
            }
            // Dominators of a node have greater numbers.
            let (mut a, mut b) = (from, if found == NONE { from } else { found });
            while a != b {
                let lower = if a < b { &mut a } else { &mut b };
                *lower = idom[*lower as usize];
                steps = steps.checked_sub(1)?;
            }
            found = a;
        }
        idom[number] = found;
    }
    for (mut at, target) in retreating {
        while at < target {
            at = idom[at as usize];
            steps = steps.checked_sub(1)?;
        }
        if at != target {
            return None;
        }
    }
    Some(idom)
}

/// The tables of the algorithm; all entries are depth-first numbers.
struct LengauerTarjan {
    semi: Vec<u32>,
    ancestor: Vec<u32>,
    best: Vec<u32>,
    path: Vec<u32>,
}

impl LengauerTarjan {
    /// Immediate dominators as depth-first numbers, by depth-first number.
    fn run<G: Graph>(graph: &G, dfs: &DfsOrder) -> Vec<u32> {
        let n = dfs.reachable_count();
        let mut t = LengauerTarjan {
            semi: (0..n as u32).collect(),
            ancestor: vec![NONE; n],
            best: (0..n as u32).collect(),
            path: Vec::new(),
        };
        let parent: Vec<u32> = dfs
            .pre_order()
            .iter()
            .map(|&v| dfs.parent(v).and_then(|p| dfs.pre_number(p)).map_or(NONE, |p| p as u32))
            .collect();
        let mut idom = vec![0u32; n];
        // The bucket of a node is a linked list of the nodes that it semi-dominates.
        let mut bucket_head = vec![NONE; n];
        let mut bucket_next = vec![NONE; n];
        for w in (1..n).rev() {
            for v in graph.predecessors(dfs.pre_order()[w]) {
                if let Some(v) = dfs.pre_number(v) {
                    let u = t.eval(v as u32);
                    t.semi[w] = t.semi[w].min(t.semi[u as usize]);
                }
            }
            let s = t.semi[w] as usize;
            bucket_next[w] = bucket_head[s];
            bucket_head[s] = w as u32;
            let p = parent[w];
            t.ancestor[w] = p;
            let mut v = core::mem::replace(&mut bucket_head[p as usize], NONE);
            while v != NONE {
                let u = t.eval(v);
                idom[v as usize] = if t.semi[u as usize] < t.semi[v as usize] { u } else { p };
                v = bucket_next[v as usize];
            }
        }
        for w in 1..n {
            if idom[w] != t.semi[w] {
                idom[w] = idom[idom[w] as usize];
            }
        }
        idom
    }

    /// The node of least semidominator on the path from the root of `v`'s tree, exclusive, down to `v`.
    fn eval(&mut self, v: u32) -> u32 {
        if self.ancestor[v as usize] == NONE {
            return v;
        }
        let mut at = v;
        while self.ancestor[self.ancestor[at as usize] as usize] != NONE {
            self.path.push(at);
            at = self.ancestor[at as usize];
        }
        while let Some(x) = self.path.pop() {
            let a = self.ancestor[x as usize] as usize;
            if self.semi[self.best[a] as usize] < self.semi[self.best[x as usize] as usize] {
                self.best[x as usize] = self.best[a];
            }
            self.ancestor[x as usize] = self.ancestor[a];
        }
        self.best[v as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::CsrGraph;

    fn graph(nodes: usize, edges: &[(u32, u32)]) -> CsrGraph {
        CsrGraph::new(nodes, Node(0), edges.iter().map(|&(a, b)| (Node(a), Node(b)))).expect("a graph")
    }

    /// Immediate dominators in one pass, and by Lengauer and Tarjan, by node.
    fn both(graph: &CsrGraph) -> (Option<Vec<u32>>, Vec<u32>) {
        let dfs = DfsOrder::compute(graph);
        let (pre, post) = (dfs.pre_order(), dfs.post_order());
        let by_node = |order: &[Node], found: &[u32]| {
            let mut idom = vec![NONE; graph.node_count()];
            for (&node, &dom) in order.iter().zip(found).filter(|&(&node, _)| node != graph.entry()) {
                idom[node.index()] = order[dom as usize].0;
            }
            idom
        };
        let one_pass = in_one_pass(graph, &dfs).map(|found| by_node(post, &found));
        (one_pass, by_node(pre, &LengauerTarjan::run(graph, &dfs)))
    }

    #[test]
    fn one_pass_finds_the_dominators_of_loops_in_loops() {
        let edges = [(0, 1), (1, 2), (2, 3), (3, 2), (3, 4), (2, 4), (4, 1), (4, 5), (5, 5), (1, 5), (6, 3)];
        let (one_pass, expected) = both(&graph(7, &edges));
        assert_eq!(one_pass, Some(expected));
    }

    #[test]
    fn one_pass_is_given_up_on_irreducible_cycles_and_long_ladders() {
        assert_eq!(both(&graph(3, &[(0, 1), (0, 2), (1, 2), (2, 1)])).0, None);
        let n = 1000;
        let rungs = (0..n).flat_map(|i| [(i, i + 1), (i, n + 1)]);
        assert_eq!(both(&graph(n as usize + 2, &rungs.collect::<Vec<_>>())).0, None);
    }
}
