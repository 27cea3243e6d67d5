//! Depth-first orders, reachability, strongly connected components.

use alloc::vec::Vec;

use crate::bitset::BitSet;
use crate::graph::{Graph, Node};

/// The orders of one depth-first walk from the entry. Out-edges are followed in order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DfsOrder {
    pre: Vec<Node>,
    post: Vec<Node>,
    pre_number: Vec<u32>,
    post_number: Vec<u32>,
    parent: Vec<u32>,
    last: Vec<u32>,
    is_acyclic: bool,
}

const NONE: u32 = u32::MAX;

/// How deep walks nearly always go at most.
const STACK: usize = 64;

/// A list in memory that was used before, with `len` times the same item.
pub(crate) fn filled<T: Clone>(mut memory: Vec<T>, item: T, len: usize) -> Vec<T> {
    memory.clear();
    memory.resize(len, item);
    memory
}

impl DfsOrder {
    /// Walks `graph` from its entry. Linear in the graph.
    pub fn compute<G: Graph>(graph: &G) -> Self {
        Self::default().within(graph)
    }

    /// The same in the memory of another order.
    pub(crate) fn within<G: Graph>(self, graph: &G) -> Self {
        let n = graph.node_count();
        let mut order = DfsOrder {
            pre: filled(self.pre, Node(0), 0),
            post: filled(self.post, Node(0), 0),
            pre_number: filled(self.pre_number, NONE, n),
            post_number: filled(self.post_number, NONE, n),
            parent: filled(self.parent, NONE, 0),
            last: filled(self.last, NONE, 0),
            is_acyclic: true,
        };
        order.pre.reserve(n);
        order.post.reserve(n);
        order.parent.reserve(n);
        order.last.reserve(n);
        let mut stack = Vec::with_capacity(n.min(STACK));
        order.enter(graph.entry(), NONE);
        stack.push((graph.entry(), graph.out_edges(graph.entry())));
        while let Some((node, edges)) = stack.last_mut() {
            let number = order.pre_number[node.index()];
            if let Some(e) = edges.next() {
                let to = graph.target(e);
                if order.pre_number[to.index()] == NONE {
                    order.enter(to, number);
                    stack.push((to, graph.out_edges(to)));
                } else if order.post_number[to.index()] == NONE {
                    // The walk has not left it: there is a way back.
                    order.is_acyclic = false;
                }
            } else {
                order.last[number as usize] = order.pre.len() as u32 - 1;
                order.post_number[node.index()] = order.post.len() as u32;
                order.post.push(*node);
                stack.pop();
            }
        }
        order
    }

    #[inline]
    fn enter(&mut self, node: Node, parent: u32) {
        self.pre_number[node.index()] = self.pre.len() as u32;
        self.pre.push(node);
        self.parent.push(parent);
        self.last.push(NONE);
    }

    /// The reachable nodes in the order in which they are first seen. O(1).
    #[inline]
    pub fn pre_order(&self) -> &[Node] {
        &self.pre
    }

    /// The reachable nodes in the order in which they are left. O(1).
    #[inline]
    pub fn post_order(&self) -> &[Node] {
        &self.post
    }

    /// The reachable nodes, each before its successors except along retreating edges. O(1) a step.
    pub fn reverse_post_order(
        &self,
    ) -> impl DoubleEndedIterator<Item = Node> + ExactSizeIterator + Clone + '_ {
        self.post.iter().rev().copied()
    }

    /// Whether a path leads from the entry to `node`. O(1).
    #[inline]
    pub fn is_reachable(&self, node: Node) -> bool {
        self.pre_number[node.index()] != NONE
    }

    /// The number of reachable nodes. O(1).
    pub fn reachable_count(&self) -> usize {
        self.pre.len()
    }

    /// Position in [`pre_order`](Self::pre_order); none for an unreachable node. O(1).
    #[inline]
    pub fn pre_number(&self, node: Node) -> Option<usize> {
        let i = self.pre_number[node.index()];
        (i != NONE).then_some(i as usize)
    }

    /// Position in [`post_order`](Self::post_order); none for an unreachable node. O(1).
    #[inline]
    pub fn post_number(&self, node: Node) -> Option<usize> {
        let i = self.post_number[node.index()];
        (i != NONE).then_some(i as usize)
    }

    /// The node from which `node` was first seen; none for the entry and for unreachable nodes. O(1).
    #[inline]
    pub fn parent(&self, node: Node) -> Option<Node> {
        let parent = self.parent[self.pre_number(node)?];
        (parent != NONE).then(|| self.pre[parent as usize])
    }

    /// Whether no path from the entry leads round a cycle. O(1).
    pub fn is_acyclic(&self) -> bool {
        self.is_acyclic
    }

    /// Whether `a` is `b` or an ancestor of it in the depth-first tree. False if either is unreachable. O(1).
    pub fn is_ancestor(&self, a: Node, b: Node) -> bool {
        match (self.pre_number(a), self.pre_number(b)) {
            (Some(a), Some(b)) => a <= b && b <= self.last[a] as usize,
            _ => false,
        }
    }
}

/// The nodes that a path from `starts` leads to, `starts` included. Linear in the graph.
pub fn reachable_from<G: Graph>(graph: &G, starts: impl IntoIterator<Item = Node>) -> BitSet {
    walk(graph.node_count(), starts, |n, visit| graph.successors(n).for_each(visit))
}

/// The nodes from which a path leads to `ends`, `ends` included. Linear in the graph.
pub fn reaching<G: Graph>(graph: &G, ends: impl IntoIterator<Item = Node>) -> BitSet {
    walk(graph.node_count(), ends, |n, visit| graph.predecessors(n).for_each(visit))
}

fn walk(
    bound: usize,
    starts: impl IntoIterator<Item = Node>,
    each_next: impl Fn(Node, &mut dyn FnMut(Node)),
) -> BitSet {
    let mut seen = BitSet::new(bound);
    let mut work: Vec<Node> = starts.into_iter().filter(|n| seen.insert(n.index())).collect();
    while let Some(n) = work.pop() {
        each_next(n, &mut |next| {
            if seen.insert(next.index()) {
                work.push(next);
            }
        });
    }
    seen
}

/// The strongly connected components of a whole graph, unreachable nodes included (Tarjan's algorithm).
///
/// Components are numbered so that an edge between two of them goes from the higher number to the lower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sccs {
    component: Vec<u32>,
    first: Vec<Node>,
}

impl Sccs {
    /// Finds the components. The walk starts at the entry and goes on at the lowest node not yet seen.
    /// Linear in the graph.
    pub fn compute<G: Graph>(graph: &G) -> Self {
        let n = graph.node_count();
        let mut found = Sccs { component: vec![NONE; n], first: Vec::new() };
        let mut number = vec![NONE; n];
        let mut low = vec![0u32; n];
        let mut count = 0u32;
        let mut open: Vec<Node> = Vec::new();
        let mut stack = Vec::new();
        for root in core::iter::once(graph.entry()).chain(graph.nodes()) {
            if number[root.index()] != NONE {
                continue;
            }
            stack.push((root, graph.out_edges(root)));
            while let Some((node, edges)) = stack.last_mut() {
                let v = node.index();
                if number[v] == NONE {
                    number[v] = count;
                    low[v] = count;
                    count += 1;
                    open.push(*node);
                }
                if let Some(e) = edges.next() {
                    let to = graph.target(e);
                    if number[to.index()] == NONE {
                        stack.push((to, graph.out_edges(to)));
                    } else if found.component[to.index()] == NONE {
                        low[v] = low[v].min(number[to.index()]);
                    }
                    continue;
                }
                let node = *node;
                stack.pop();
                if let Some((parent, _)) = stack.last() {
                    low[parent.index()] = low[parent.index()].min(low[v]);
                }
                if low[v] == number[v] {
                    let id = found.first.len() as u32;
                    found.first.push(node);
                    while let Some(member) = open.pop() {
                        found.component[member.index()] = id;
                        if member == node {
                            break;
                        }
                    }
                }
            }
        }
        found
    }

    /// The number of components. O(1).
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// Whether there is no component, which is so only for a graph without nodes. O(1).
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// The component of `node`. O(1).
    pub fn of(&self, node: Node) -> usize {
        self.component[node.index()] as usize
    }

    /// The node of a component that the walk found first.
    pub(crate) fn first_found(&self, component: usize) -> Node {
        self.first[component]
    }
}
