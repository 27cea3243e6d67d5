//! Instances of nodes: a node together with how often each cycle around it has gone round.
//!
//! This is the tagged control-flow graph of paper 1 (Definitions 3.1 and 3.3). On it joins are what their
//! definition says: ends of two paths without a common instance, found by maximum flow.

use std::collections::BTreeMap;

use warpline_analysis::{EdgeId, Graph, Node};

use crate::graph_oracles::CycleByDefinition;
use crate::hierarchies::Hierarchy;

/// How often the header of each cycle around a node has been executed since the cycle was entered, from the outside
/// in.
pub type Tag = Vec<u32>;

/// How tags change along edges.
#[derive(Clone, Debug)]
pub struct Tags {
    cycles: Vec<CycleByDefinition>,
    /// The cycles around each node, outermost first.
    around: Vec<Vec<usize>>,
}

impl Tags {
    /// Tags for the cycles that the walk along `graph`'s edges in order finds. For a reducible graph the order does not
    /// matter.
    pub fn of<G: Graph>(graph: &G) -> Self {
        Self::of_walk(graph, |_, _| ())
    }

    /// Tags for the cycles that a depth-first walk finds which goes on from a node in the order that `arrange` brings
    /// its successors into.
    pub fn of_walk<G: Graph>(graph: &G, mut arrange: impl FnMut(Node, &mut [Node])) -> Self {
        let mut pre_number = vec![None; graph.node_count()];
        number(graph, graph.entry(), &mut arrange, &mut pre_number, &mut 0);
        Self::of_hierarchy(&Hierarchy::of_numbers(graph, &pre_number))
    }

    /// Tags for the cycles of a given hierarchy.
    pub fn of_hierarchy(hierarchy: &Hierarchy) -> Self {
        let mut cycles = hierarchy.cycles().to_vec();
        cycles.sort_by_key(|c| c.depth);
        let around = (0..hierarchy.node_count())
            .map(|n| (0..cycles.len()).filter(|&c| cycles[c].nodes.contains(&n)).collect())
            .collect();
        Tags { cycles, around }
    }

    /// The tag of the first instance of the entry.
    pub fn at_entry(&self, entry: Node) -> Tag {
        let n = entry.index();
        self.around[n].iter().map(|&c| u32::from(self.cycles[c].header == n)).collect()
    }

    /// The tag of an instance of `node` with every count at `count`.
    pub fn every(&self, node: Node, count: u32) -> Tag {
        vec![count; self.around[node.index()].len()]
    }

    /// How often, by the tag of an instance of `node`, the cycle with just these nodes (in any order) has gone round;
    /// none if there is no such cycle around the node.
    pub fn count(&self, tag: &Tag, node: Node, nodes: &[usize]) -> Option<u32> {
        let is_it = |c: &usize| {
            let own = &self.cycles[*c].nodes;
            own.len() == nodes.len() && nodes.iter().all(|n| own.contains(n))
        };
        self.around[node.index()].iter().position(is_it).map(|i| tag[i])
    }

    /// The counts, in the tag of an instance of `node`, of the cycles that strictly contain all of `nodes`.
    pub fn counts_around(&self, tag: &Tag, node: Node, nodes: &[usize]) -> Tag {
        let contains = |c: usize| {
            let own = &self.cycles[c].nodes;
            own.len() > nodes.len() && nodes.iter().all(|n| own.contains(n))
        };
        let around = self.around[node.index()].iter().zip(tag);
        around.filter(|&(&c, _)| contains(c)).map(|(_, &count)| count).collect()
    }

    /// The tag behind an edge, from the tag before it.
    pub fn step(&self, tag: &Tag, source: Node, target: Node) -> Tag {
        let (s, t) = (source.index(), target.index());
        let goes_round = |c: usize| u32::from(self.cycles[c].header == t);
        let before = |c: usize| self.around[s].iter().position(|&x| x == c).map_or(0, |i| tag[i]);
        self.around[t].iter().map(|&c| before(c) + goes_round(c)).collect()
    }
}

fn number<G: Graph>(
    graph: &G,
    at: Node,
    arrange: &mut impl FnMut(Node, &mut [Node]),
    pre_number: &mut [Option<usize>],
    count: &mut usize,
) {
    if pre_number[at.index()].is_none() {
        pre_number[at.index()] = Some(*count);
        *count += 1;
        let mut targets: Vec<Node> = graph.successors(at).collect();
        arrange(at, &mut targets);
        targets.into_iter().for_each(|t| number(graph, t, arrange, pre_number, count));
    }
}

/// The tagged graph with at most so many rounds of each cycle.
#[derive(Clone, Debug)]
pub struct Unrolled {
    /// The instances; the first is that of the entry.
    pub instances: Vec<(Node, Tag)>,
    /// Edges between instances.
    pub edges: Vec<(usize, usize, EdgeId)>,
}

impl Unrolled {
    /// Unrolls `graph` such that no count in a tag is above `rounds`.
    pub fn new<G: Graph>(graph: &G, rounds: u32) -> Self {
        let tags = Tags::of(graph);
        let start = (graph.entry(), tags.at_entry(graph.entry()));
        let mut index = BTreeMap::from([(start.clone(), 0)]);
        let mut unrolled = Unrolled { instances: vec![start], edges: Vec::new() };
        let mut next = 0;
        while next < unrolled.instances.len() {
            let (node, tag) = unrolled.instances[next].clone();
            for e in graph.out_edges(node) {
                let to = (graph.target(e), tags.step(&tag, node, graph.target(e)));
                if to.1.iter().all(|&count| count <= rounds) {
                    let count = unrolled.instances.len();
                    let target = *index.entry(to.clone()).or_insert(count);
                    if target == count {
                        unrolled.instances.push(to);
                    }
                    unrolled.edges.push((next, target, e));
                }
            }
            next += 1;
        }
        unrolled
    }

    /// The nodes some instance of which is the end of two paths from the first instance of `branch` that have nothing
    /// else in common. In increasing order.
    pub fn joins(&self, branch: Node) -> Vec<Node> {
        let Some(from) = self.instances.iter().position(|(n, _)| *n == branch) else { return Vec::new() };
        let mut joins: Vec<Node> = Vec::new();
        for to in (0..self.instances.len()).filter(|&to| to != from) {
            let node = self.instances[to].0;
            if !joins.contains(&node) && self.two_disjoint_paths(from, to) {
                joins.push(node);
            }
        }
        joins.sort_unstable();
        joins
    }

    /// Whether a flow of two units goes from one instance to another when every instance between lets one pass.
    fn two_disjoint_paths(&self, from: usize, to: usize) -> bool {
        // Instance i is entered at 2i and left at 2i + 1. An arc is (tail, head, capacity left); its
        // reverse is the next or previous one.
        let mut arcs: Vec<(usize, usize, u8)> = Vec::new();
        let mut add = |tail, head, capacity| arcs.extend([(tail, head, capacity), (head, tail, 0)]);
        (0..self.instances.len()).for_each(|i| add(2 * i, 2 * i + 1, 1));
        self.edges.iter().for_each(|&(s, t, _)| add(2 * s + 1, 2 * t, 1));
        let mut leaving = vec![Vec::new(); 2 * self.instances.len()];
        arcs.iter().enumerate().for_each(|(a, &(tail, _, _))| leaving[tail].push(a));
        (0..2).all(|_| {
            let mut by = vec![None; leaving.len()];
            let mut queue = vec![2 * from + 1];
            while let Some(at) = queue.pop() {
                for &a in &leaving[at] {
                    let (_, head, capacity) = arcs[a];
                    if capacity > 0 && by[head].is_none() && head != 2 * from + 1 {
                        by[head] = Some(a);
                        queue.push(head);
                    }
                }
            }
            let mut at = 2 * to;
            while let Some(a) = by[at] {
                arcs[a].2 -= 1;
                arcs[a ^ 1].2 += 1;
                at = arcs[a].0;
            }
            at == 2 * from + 1
        })
    }
}
