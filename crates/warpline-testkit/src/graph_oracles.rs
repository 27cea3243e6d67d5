//! Graph properties computed from their definitions, in whatever time that takes.

use warpline_analysis::{Graph, Node};

/// A matrix of booleans over pairs of nodes.
type Matrix = Vec<Vec<bool>>;

/// Which nodes paths from `start` lead to, `start` included, without using nodes for which `avoid` holds.
pub fn reachable<G: Graph>(graph: &G, start: usize, avoid: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut seen = vec![false; graph.node_count()];
    if avoid(start) {
        return seen;
    }
    seen[start] = true;
    // Repeat until nothing changes: no order to get wrong.
    loop {
        let mut changed = false;
        for e in graph.edges() {
            let (s, t) = (graph.source(e).index(), graph.target(e).index());
            if seen[s] && !seen[t] && !avoid(t) {
                seen[t] = true;
                changed = true;
            }
        }
        if !changed {
            return seen;
        }
    }
}

/// Dominance by deleting nodes.
#[derive(Clone, Debug)]
pub struct Dominance {
    reachable: Vec<bool>,
    without: Matrix,
}

impl Dominance {
    /// For each node, deletes it and looks what the entry still reaches.
    pub fn of<G: Graph>(graph: &G) -> Self {
        let entry = graph.entry().index();
        Dominance {
            reachable: reachable(graph, entry, |_| false),
            without: (0..graph.node_count()).map(|a| reachable(graph, entry, |n| n == a)).collect(),
        }
    }

    /// Whether the entry reaches `n`.
    pub fn is_reachable(&self, n: usize) -> bool {
        self.reachable[n]
    }

    /// Whether every path from the entry to `b` goes through `a`.
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        !self.without[a][b]
    }

    /// The immediate dominator: the strict dominator that every other strict dominator dominates.
    pub fn idom(&self, b: usize) -> Option<usize> {
        let n = self.reachable.len();
        let strict: Vec<usize> = (0..n).filter(|&a| a != b && self.dominates(a, b)).collect();
        let strict = if self.reachable[b] { strict } else { Vec::new() };
        strict.iter().copied().find(|&a| strict.iter().all(|&d| self.dominates(d, a)))
    }

    /// The dominance frontier of `x`: targets of edges from nodes that `x` dominates to nodes that it does not
    /// strictly dominate.
    pub fn frontier<G: Graph>(&self, graph: &G, x: usize) -> Vec<usize> {
        let inside = |n: usize| self.reachable[n] && self.dominates(x, n);
        (0..graph.node_count())
            .filter(|&y| self.reachable[x] && !(x != y && self.dominates(x, y)))
            .filter(|&y| graph.predecessors(Node::new(y)).any(|p| inside(p.index())))
            .collect()
    }

    /// The iterated dominance frontier of a set: the least set that holds the frontiers of the set and of
    /// itself.
    pub fn iterated_frontier<G: Graph>(&self, graph: &G, set: &[usize]) -> Vec<usize> {
        let mut members = vec![false; graph.node_count()];
        loop {
            let mut changed = false;
            for x in (0..graph.node_count()).filter(|x| set.contains(x) || members[*x]).collect::<Vec<_>>() {
                for y in self.frontier(graph, x) {
                    changed |= !members[y];
                    members[y] = true;
                }
            }
            if !changed {
                return (0..graph.node_count()).filter(|&n| members[n]).collect();
            }
        }
    }
}

/// A cycle as the definition finds it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CycleByDefinition {
    /// The node that comes first in the given order.
    pub header: usize,
    /// All nodes, in increasing order.
    pub nodes: Vec<usize>,
    /// The nodes with a reachable predecessor outside, and the header; in increasing order.
    pub entries: Vec<usize>,
    /// The number of cycles around it, itself included.
    pub depth: u32,
}

/// The cycles of the reachable part of a graph: each strongly connected region with an edge inside is one; its
/// header is the node that comes first in `pre_number`; the cycles of the region without its header
/// follow in the same way.
pub fn cycles<G: Graph>(graph: &G, pre_number: &[Option<usize>]) -> Vec<CycleByDefinition> {
    let mut found = Vec::new();
    let inside: Vec<bool> = pre_number.iter().map(|p| p.is_some()).collect();
    split_region(graph, pre_number, &inside, 1, &mut found);
    found.sort();
    found
}

fn split_region<G: Graph>(
    graph: &G,
    pre_number: &[Option<usize>],
    region: &[bool],
    depth: u32,
    found: &mut Vec<CycleByDefinition>,
) {
    let n = graph.node_count();
    // to[a][b]: a path of at least one edge leads from a to b inside the region.
    let mut to: Matrix = vec![vec![false; n]; n];
    for e in graph.edges() {
        let (s, t) = (graph.source(e).index(), graph.target(e).index());
        to[s][t] |= region[s] && region[t];
    }
    for k in 0..n {
        for a in 0..n {
            for b in 0..n {
                to[a][b] |= to[a][k] && to[k][b];
            }
        }
    }
    let mut done = vec![false; n];
    for a in (0..n).filter(|&a| to[a][a]) {
        if done[a] {
            continue;
        }
        let nodes: Vec<usize> = (0..n).filter(|&b| to[a][b] && to[b][a]).collect();
        nodes.iter().for_each(|&b| done[b] = true);
        let header = *nodes.iter().min_by_key(|&&b| pre_number[b]).expect("a region has a node");
        let entries = nodes.iter().copied().filter(|&b| {
            b == header
                || graph
                    .predecessors(Node::new(b))
                    .any(|p| pre_number[p.index()].is_some() && !nodes.contains(&p.index()))
        });
        let cycle = CycleByDefinition { header, entries: entries.collect(), nodes: nodes.clone(), depth };
        let rest: Vec<bool> = (0..n).map(|b| nodes.contains(&b) && b != header).collect();
        found.push(cycle);
        split_region(graph, pre_number, &rest, depth + 1, found);
    }
}

/// Whether every cycle has one entry, whichever way a walk goes: removing the edges whose target dominates their
/// source leaves no closed path among reachable nodes.
pub fn is_reducible<G: Graph>(graph: &G) -> bool {
    let dominance = Dominance::of(graph);
    let forward: Vec<(usize, usize)> = graph
        .edges()
        .map(|e| (graph.source(e).index(), graph.target(e).index()))
        .filter(|&(s, t)| dominance.is_reachable(s) && !dominance.dominates(t, s))
        .collect();
    // An order exists iff nodes without predecessors can be peeled off until none is left.
    let mut left: Vec<bool> = (0..graph.node_count()).map(|n| dominance.is_reachable(n)).collect();
    loop {
        let free = (0..left.len()).find(|&n| left[n] && !forward.iter().any(|&(s, t)| t == n && left[s]));
        match free {
            Some(n) => left[n] = false,
            None => return left.iter().all(|&l| !l),
        }
    }
}
