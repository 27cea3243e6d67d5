//! Which nodes paper 2's static criteria report as not m-converged, for a given set of divergent branches.
//!
//! * The *diverged entry criterion* (Sec. "Divergent Branch inside a Cycle"): the nodes of a closed path `P` are
//!   m-converged only if for every divergent branch `B` and its join `J` that lie on `P`, no entry to `P` lies on a
//!   diverged path from `B` to `J`. Here exactly, by enumerating closed paths and paths ([`Criteria::closed_paths`]).
//!   `B` and `J` themselves are no diverged entries: a header there is passed by all threads that part or by all that
//!   meet. A diverged path is one of two disjoint paths from `B` to `J`; it may leave `P`.
//! * The same by cycles of one hierarchy ([`Criteria::cycles`]): a closed path concerns the smallest cycle that
//!   contains it, whose header is on it, and with it all nodes of that cycle.
//! * The *simplification by dominance* for one hierarchy ([`Criteria::dominance`]).
//! * *Diverged paths reaching a cycle* ([`Criteria::reached_apart`]). Paths are taken in the tagged graph, where two
//!   that leave a loop by one node in different iterations are disjoint, as they are for threads.
//!
//! Nodes are numbered as in the graph; results say for each whether it is reported.

use std::collections::BTreeMap;

use warpline_analysis::{CsrGraph, Graph, Node};

use crate::graph_oracles::{CycleByDefinition, Dominance, reachable};
use crate::hierarchies::Hierarchy;
use crate::tagged::{Tag, Tags};

/// A set of nodes, as bits.
type Set = u64;

/// A path: the edge with which it begins and what lies between its ends.
#[derive(Clone, Copy, Debug)]
struct Path {
    first: usize,
    inner: Set,
}

/// A divergent branch and a join of it, with what lies on paths to the join that have nothing in common.
#[derive(Clone, Debug)]
struct Diverged {
    branch: usize,
    join: usize,
    /// The inner nodes of all diverged paths.
    between: Set,
}

/// What the criteria say of one graph, of at most 64 nodes.
#[derive(Clone, Debug)]
pub struct Criteria<'a> {
    graph: &'a CsrGraph,
    dominance: Dominance,
    /// The nodes of each closed path, and which of them are entries to it.
    closed: Vec<(Set, Set)>,
    diverged: Vec<Diverged>,
    divergent: &'a [bool],
}

impl<'a> Criteria<'a> {
    /// Enumerates closed paths and diverged paths.
    pub fn of(graph: &'a CsrGraph, divergent: &'a [bool]) -> Self {
        assert!(graph.node_count() <= 64, "a set of nodes has 64 bits");
        let dominance = Dominance::of(graph);
        let live: Vec<usize> = (0..graph.node_count()).filter(|&n| dominance.is_reachable(n)).collect();
        let mut closed: Vec<(Set, Set)> = Vec::new();
        for &start in &live {
            for path in paths(graph, start, start) {
                let nodes = path.inner | 1 << start;
                // Once for each set of nodes: entries depend on nothing else.
                if nodes.trailing_zeros() as usize == start && closed.iter().all(|c| c.0 != nodes) {
                    closed.push((nodes, entries(graph, nodes)));
                }
            }
        }
        let mut diverged = Vec::new();
        for &branch in live.iter().filter(|&&b| divergent[b]) {
            for &join in &live {
                let paths = paths(graph, branch, join);
                let mut found = None;
                for (i, p) in paths.iter().enumerate() {
                    for q in &paths[..i] {
                        if p.first != q.first && p.inner & q.inner == 0 {
                            *found.get_or_insert(0) |= p.inner | q.inner;
                        }
                    }
                }
                diverged.extend(found.map(|between| Diverged { branch, join, between }));
            }
        }
        Criteria { graph, dominance, closed, diverged, divergent }
    }

    /// The closed paths that fail the diverged entry criterion.
    fn failing(&self) -> impl Iterator<Item = Set> + '_ {
        let fails = |&(nodes, entries): &(Set, Set)| {
            self.diverged.iter().any(|d| {
                let ends = 1 << d.branch | 1 << d.join;
                nodes & ends == ends && entries & d.between & !ends != 0
            })
        };
        self.closed.iter().copied().filter(fails).map(|(nodes, _)| nodes)
    }

    fn none(&self) -> Vec<bool> {
        vec![false; self.graph.node_count()]
    }

    /// The nodes on closed paths that fail the diverged entry criterion, whatever the hierarchy.
    pub fn closed_paths(&self) -> Vec<bool> {
        let failing = self.failing().fold(0, |all, nodes| all | nodes);
        (0..self.graph.node_count()).map(|n| failing >> n & 1 != 0).collect()
    }

    /// The nodes of the cycles that are the smallest around a failing closed path.
    pub fn cycles(&self, hierarchy: &Hierarchy) -> Vec<bool> {
        let mut reported = self.none();
        for nodes in self.failing() {
            let holds = |c: &&CycleByDefinition| set(&c.nodes) & nodes == nodes;
            let smallest = hierarchy.cycles().iter().filter(holds).max_by_key(|c| c.depth);
            let cycle = smallest.expect("every closed path lies in a cycle");
            assert!(nodes >> cycle.header & 1 != 0, "the smallest cycle's header lies on the closed path");
            cycle.nodes.iter().for_each(|&n| reported[n] = true);
        }
        reported
    }

    /// The nodes of the cycles that fail the criterion as simplified by dominance: a cycle `C` that contains `B` and
    /// its join `J` fails unless `B` strictly dominates `J`, or the header of `C` or of a cycle with both inside `C`
    /// does.
    pub fn dominance(&self, hierarchy: &Hierarchy) -> Vec<bool> {
        let mut reported = self.none();
        let strictly = |a: usize, b: usize| a != b && self.dominance.dominates(a, b);
        for d in self.diverged.iter().filter(|d| !strictly(d.branch, d.join)) {
            let with_both = |c: &&CycleByDefinition| c.nodes.contains(&d.branch) && c.nodes.contains(&d.join);
            let mut around: Vec<_> = hierarchy.cycles().iter().filter(with_both).collect();
            around.sort_by_key(|c| std::cmp::Reverse(c.depth));
            for cycle in around.into_iter().take_while(|c| !strictly(c.header, d.join)) {
                cycle.nodes.iter().for_each(|&n| reported[n] = true);
            }
        }
        reported
    }

    /// The nodes of cycles that diverged paths from outside reach at different entries.
    pub fn reached_apart(&self, hierarchy: &Hierarchy) -> Vec<bool> {
        let mut reported = self.none();
        let tagged = Tagged::of(self.graph, hierarchy, 3);
        for cycle in hierarchy.cycles().iter().filter(|c| c.entries.len() > 1) {
            let outside = (0..reported.len()).filter(|b| self.divergent[*b] && !cycle.nodes.contains(b));
            if outside.into_iter().any(|branch| tagged.reaches_apart(branch, cycle)) {
                cycle.nodes.iter().for_each(|&n| reported[n] = true);
            }
        }
        reported
    }
}

fn set(nodes: &[usize]) -> Set {
    nodes.iter().fold(0, |set, n| set | 1 << n)
}

/// All paths from `from` to `to` with distinct inner nodes that are neither.
fn paths(graph: &CsrGraph, from: usize, to: usize) -> Vec<Path> {
    let mut found = Vec::new();
    let mut open: Vec<(usize, Option<usize>, Set)> = vec![(from, None, 0)];
    while let Some((at, first, inner)) = open.pop() {
        for &e in graph.out_edges(Node::new(at)) {
            let target = graph.target(e).index();
            let first = first.unwrap_or(e.index());
            if target == to {
                found.push(Path { first, inner });
            } else if target != from && inner >> target & 1 == 0 {
                open.push((target, Some(first), inner | 1 << target));
            }
        }
    }
    found
}

/// The nodes of a set that the entry of the function reaches without passing another one.
fn entries(graph: &CsrGraph, nodes: Set) -> Set {
    let on = |n: usize| nodes >> n & 1 != 0;
    let is_entry = |n: &usize| reachable(graph, graph.entry().index(), |m| on(m) && m != *n)[*n];
    (0..graph.node_count()).filter(|&n| on(n)).filter(is_entry).fold(0, |set, n| set | 1 << n)
}

/// The instances of nodes in a few rounds of each cycle.
struct Tagged {
    instances: Vec<(usize, Tag)>,
    edges: Vec<(usize, usize)>,
    /// By node, the headers of the cycles around it, outermost first: what the counts in tags belong to.
    headers: Vec<Vec<usize>>,
}

impl Tagged {
    fn of(graph: &CsrGraph, hierarchy: &Hierarchy, rounds: u32) -> Self {
        let tags = Tags::of_hierarchy(hierarchy);
        let start = (graph.entry().index(), tags.at_entry(graph.entry()));
        let mut index = BTreeMap::from([(start.clone(), 0)]);
        let mut tagged = Tagged { instances: vec![start], edges: Vec::new(), headers: Vec::new() };
        let headers = |n: usize| hierarchy.around(n).iter().map(|c| c.header).collect();
        tagged.headers = (0..graph.node_count()).map(headers).collect();
        let mut next = 0;
        while next < tagged.instances.len() {
            let (node, tag) = tagged.instances[next].clone();
            for target in graph.successors(Node::new(node)) {
                let to = (target.index(), tags.step(&tag, Node::new(node), target));
                if to.1.iter().all(|&count| count <= rounds) {
                    let count = tagged.instances.len();
                    let number = *index.entry(to.clone()).or_insert(count);
                    if number == count {
                        tagged.instances.push(to);
                    }
                    tagged.edges.push((next, number));
                }
            }
            next += 1;
        }
        tagged
    }

    /// Whether two paths from one instance of `branch` that have nothing else in common first arrive in one round of
    /// the cycles around `cycle` at different entries of it.
    fn reaches_apart(&self, branch: usize, cycle: &CycleByDefinition) -> bool {
        let is_inside = |i: usize| cycle.nodes.contains(&self.instances[i].0);
        // The counts of the cycles around `cycle`.
        let outer = |i: usize| {
            let (node, tag) = &self.instances[i];
            let own = self.headers[*node].iter().position(|&h| h == cycle.header);
            &tag[..own.expect("the cycle contains the node")]
        };
        let arrivals: Vec<(usize, usize)> =
            self.edges.iter().copied().filter(|&(s, t)| !is_inside(s) && is_inside(t)).collect();
        let mut rounds: Vec<&[u32]> = arrivals.iter().map(|&(_, t)| outer(t)).collect();
        rounds.sort_unstable();
        rounds.dedup();
        let starts = (0..self.instances.len()).filter(|&i| self.instances[i].0 == branch);
        let starts: Vec<usize> = starts.filter(|&i| self.instances[i].1.iter().all(|&c| c <= 1)).collect();
        rounds.into_iter().any(|round| {
            let here: Vec<(usize, usize)> = arrivals
                .iter()
                .filter(|&&(_, t)| outer(t) == round)
                .map(|&(s, t)| (s, self.instances[t].0))
                .collect();
            starts.iter().any(|&start| self.two_paths(start, &here, &is_inside))
        })
    }

    /// Whether two paths from `start` outside of what is inside, with nothing else in common, end with arrivals at
    /// different entries.
    fn two_paths(
        &self,
        start: usize,
        arrivals: &[(usize, usize)],
        is_inside: &impl Fn(usize) -> bool,
    ) -> bool {
        // A flow of two units. Instance i is entered at 2i and left at 2i + 1; entries and the sink follow. An
        // arc is (tail, head, capacity left); its reverse is the next or previous one.
        let n = self.instances.len();
        let entry = |node: usize| 2 * n + node;
        let sink = 2 * n + self.headers.len();
        let mut arcs: Vec<(usize, usize, u8)> = Vec::new();
        let mut add = |tail, head, capacity| arcs.extend([(tail, head, capacity), (head, tail, 0)]);
        (0..n).for_each(|i| add(2 * i, 2 * i + 1, 1));
        let outside = |&&(s, t): &&(usize, usize)| !is_inside(s) && !is_inside(t);
        self.edges.iter().filter(outside).for_each(|&(s, t)| add(2 * s + 1, 2 * t, 1));
        arrivals.iter().for_each(|&(s, e)| add(2 * s + 1, entry(e), 1));
        (0..self.headers.len()).for_each(|e| add(entry(e), sink, 1));
        let mut leaving = vec![Vec::new(); sink + 1];
        arcs.iter().enumerate().for_each(|(a, &(tail, _, _))| leaving[tail].push(a));
        (0..2).all(|_| {
            let mut by = vec![None; leaving.len()];
            let mut queue = vec![2 * start + 1];
            while let Some(at) = queue.pop() {
                for &a in &leaving[at] {
                    let (_, head, capacity) = arcs[a];
                    if capacity > 0 && by[head].is_none() && head != 2 * start + 1 {
                        by[head] = Some(a);
                        queue.push(head);
                    }
                }
            }
            let mut at = sink;
            while let Some(a) = by[at] {
                arcs[a].2 -= 1;
                arcs[a ^ 1].2 += 1;
                at = arcs[a].0;
            }
            at == 2 * start + 1
        })
    }
}
