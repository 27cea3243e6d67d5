//! Dominators of an acyclic graph in one pass over a topological order.
//!
//! In topological order a node comes after all its predecessors, so its immediate dominator is the nearest common
//! ancestor of them in the tree built so far. With jump pointers (Myers, *An applicative random-access stack*: each
//! node points to its parent and to one ancestor farther off, chosen such that any ancestor is O(log n) steps away)
//! the whole takes O(E log V), with a handful of arrays and no search for semidominators.

use alloc::vec::Vec;

use crate::graph::{Graph, Node};

const NONE: u32 = u32::MAX;

/// The dominator tree of the nodes in a topological order.
#[derive(Clone, Debug)]
pub(crate) struct DagDom {
    idom: Vec<u32>,
    /// By node: position in a pre-order of the tree; `NONE` for nodes outside the order.
    number: Vec<u32>,
    /// By pre-order number: the node, and the last number in its subtree.
    at: Vec<Node>,
    last: Vec<u32>,
}

impl DagDom {
    /// The dominators of `graph`, an acyclic graph of which `order` lists the nodes that its entry reaches, the entry
    /// first, each node behind its predecessors.
    pub(crate) fn compute<G: Graph>(
        graph: &G,
        order: impl DoubleEndedIterator<Item = Node> + ExactSizeIterator + Clone,
    ) -> Self {
        let n = graph.node_count();
        let mut tree = Growing { parent: vec![NONE; n], depth: vec![NONE; n], jump: vec![NONE; n] };
        for v in order.clone() {
            let known = |p: &Node| tree.depth[p.index()] != NONE;
            let idom = graph.predecessors(v).filter(known).reduce(|a, b| tree.common(a, b));
            tree.add(v, idom);
        }
        let Growing { parent: idom, .. } = tree;
        // Sizes of subtrees from the leaves up, then numbers from the root down.
        let mut last = vec![1u32; order.len()];
        let mut size = vec![0u32; n];
        for v in order.clone().rev() {
            size[v.index()] += 1;
            if idom[v.index()] != NONE {
                size[idom[v.index()] as usize] += size[v.index()];
            }
        }
        let mut number = vec![NONE; n];
        let mut at = vec![Node(0); order.len()];
        // From here on `size` of a numbered node is the number that its next child gets.
        for v in order {
            let own = match idom[v.index()] {
                NONE => 0,
                p => size[p as usize],
            };
            let below = size[v.index()];
            if idom[v.index()] != NONE {
                size[idom[v.index()] as usize] += below;
            }
            number[v.index()] = own;
            at[own as usize] = v;
            last[own as usize] = own + below - 1;
            size[v.index()] = own + 1;
        }
        DagDom { idom, number, at, last }
    }

    /// The position of a node in the pre-order; none for a node outside the order.
    pub(crate) fn number(&self, node: Node) -> Option<u32> {
        let number = self.number[node.index()];
        (number != NONE).then_some(number)
    }

    /// The first and the last number of the subtree below a node of the order.
    pub(crate) fn subtree(&self, node: Node) -> (u32, u32) {
        let first = self.number[node.index()];
        (first, self.last[first as usize])
    }

    /// Whether `parent` is the immediate dominator of `child`.
    pub(crate) fn is_parent(&self, parent: Node, child: Node) -> bool {
        self.idom[child.index()] == parent.0
    }

    /// The immediate dominator of a node of the order.
    pub(crate) fn parent(&self, node: Node) -> Option<Node> {
        let parent = self.idom[node.index()];
        (parent != NONE).then_some(Node(parent))
    }

    /// The nodes whose immediate dominator is `node`.
    pub(crate) fn children(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let (first, last) = self.subtree(node);
        let child = move |number: u32| (number <= last).then(|| self.at[number as usize]);
        core::iter::successors(child(first + 1), move |&c| child(self.subtree(c).1 + 1))
    }
}

/// The tree while it grows. Tables are by node; `depth` is `NONE` for nodes that are not in it yet.
struct Growing {
    parent: Vec<u32>,
    depth: Vec<u32>,
    jump: Vec<u32>,
}

impl Growing {
    fn add(&mut self, v: Node, parent: Option<Node>) {
        let Some(p) = parent else {
            self.depth[v.index()] = 0;
            self.jump[v.index()] = v.0;
            return;
        };
        let depth = |x: u32| self.depth[x as usize];
        // Two jumps of equal length in a row become one jump over both.
        let near = self.jump[p.index()];
        let far = self.jump[near as usize];
        let merge = depth(p.0) - depth(near) == depth(near) - depth(far);
        self.jump[v.index()] = if merge { far } else { p.0 };
        self.depth[v.index()] = self.depth[p.index()] + 1;
        self.parent[v.index()] = p.0;
    }

    /// The nearest common ancestor.
    fn common(&self, a: Node, b: Node) -> Node {
        let (mut a, mut b) = (a.0, b.0);
        let depth = |x: u32| self.depth[x as usize];
        if depth(a) < depth(b) {
            core::mem::swap(&mut a, &mut b);
        }
        while depth(a) > depth(b) {
            let far = self.jump[a as usize];
            a = if depth(far) >= depth(b) { far } else { self.parent[a as usize] };
        }
        while a != b {
            // At equal depths jumps have equal lengths.
            let (x, y) = (self.jump[a as usize], self.jump[b as usize]);
            (a, b) = if x != y { (x, y) } else { (self.parent[a as usize], self.parent[b as usize]) };
        }
        Node(a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::DomTree;
    use crate::graph::CsrGraph;
    use crate::order::DfsOrder;

    #[test]
    fn dominators_of_acyclic_graphs_are_those_of_lengauer_and_tarjan() {
        let mut state = 7u64;
        let mut below = |bound: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as u32) % bound
        };
        for round in 0..400 {
            let n = 2 + below(if round % 10 == 0 { 300 } else { 14 });
            let more = below(2 * n);
            let forward = (0..n + more).map(|_| {
                let to = 1 + below(n - 1);
                let far = 1 + below(to);
                (Node(to.saturating_sub(1 + below(far))), Node(to))
            });
            let graph = CsrGraph::new(n as usize, Node(0), forward.collect::<Vec<_>>()).unwrap();
            let dfs = DfsOrder::compute(&graph);
            let truth = DomTree::compute_with(&graph, &dfs);
            let found = DagDom::compute(&graph, dfs.reverse_post_order());
            for v in graph.nodes() {
                assert_eq!(found.number(v).is_some(), truth.is_reachable(v));
                let Some(number) = found.number(v) else { continue };
                assert!(truth.idom(v).is_none_or(|p| found.is_parent(p, v)), "round {round}: {v}");
                let (first, last) = found.subtree(v);
                assert_eq!((first, (last - first) as usize + 1), (number, truth.subtree(v).len()));
                let mut children: Vec<Node> = found.children(v).collect();
                let mut expected = truth.children(v).to_vec();
                children.sort_unstable();
                expected.sort_unstable();
                assert_eq!(children, expected);
            }
        }
    }
}
