//! Cycle hierarchies: which header each cycle has depends on the depth-first walk.

use std::collections::BTreeSet;

use warpline_analysis::{CsrGraph, Graph, Node};

use crate::graph_oracles::{CycleByDefinition, cycles};
use crate::rng::SplitMix64;

/// A forest of cycles with their headers, as one depth-first walk finds it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hierarchy {
    nodes: usize,
    /// Sorted, so that equal forests are equal values.
    cycles: Vec<CycleByDefinition>,
}

impl Hierarchy {
    /// The hierarchy of a walk that met the nodes in the order of `pre_number`; none for nodes that it did not meet.
    pub fn of_numbers<G: Graph>(graph: &G, pre_number: &[Option<usize>]) -> Self {
        Hierarchy { nodes: graph.node_count(), cycles: cycles(graph, pre_number) }
    }

    /// The number of nodes of the graph.
    pub fn node_count(&self) -> usize {
        self.nodes
    }

    /// All cycles, in no particular order of nesting.
    pub fn cycles(&self) -> &[CycleByDefinition] {
        &self.cycles
    }

    /// The cycles that contain a node, from the outside in.
    pub fn around(&self, node: usize) -> Vec<&CycleByDefinition> {
        let mut around: Vec<_> = self.cycles.iter().filter(|c| c.nodes.contains(&node)).collect();
        around.sort_by_key(|c| c.depth);
        around
    }

    /// The headers of the cycles that contain a node.
    pub fn headers_around(&self, node: Node) -> Vec<Node> {
        self.around(node.index()).iter().map(|c| Node::new(c.header)).collect()
    }
}

/// Every hierarchy that some depth-first walk finds, each once, in increasing order. None if there are more than
/// `limit` walks.
pub fn all(graph: &CsrGraph, limit: usize) -> Option<Vec<Hierarchy>> {
    let entry = graph.entry().index();
    let mut walk = Walk { numbers: vec![None; graph.node_count()], stack: vec![entry], count: 1 };
    walk.numbers[entry] = Some(0);
    let (mut found, mut walks) = (BTreeSet::new(), 0);
    continue_walk(graph, walk, limit, &mut walks, &mut found);
    (walks <= limit).then(|| found.into_iter().collect())
}

/// A depth-first walk that has got somewhere.
#[derive(Clone)]
struct Walk {
    numbers: Vec<Option<usize>>,
    stack: Vec<usize>,
    count: usize,
}

/// Goes on in every possible way: from the last node that has one, to any successor not met yet.
fn continue_walk(
    graph: &CsrGraph,
    mut walk: Walk,
    limit: usize,
    walks: &mut usize,
    found: &mut BTreeSet<Hierarchy>,
) {
    while let Some(&at) = walk.stack.last() {
        let new: BTreeSet<usize> =
            graph.successors(Node::new(at)).map(Node::index).filter(|&t| walk.numbers[t].is_none()).collect();
        if new.is_empty() {
            walk.stack.pop();
            continue;
        }
        for t in new {
            let mut next = walk.clone();
            next.numbers[t] = Some(next.count);
            next.count += 1;
            next.stack.push(t);
            if *walks <= limit {
                continue_walk(graph, next, limit, walks, found);
            }
        }
        return;
    }
    *walks += 1;
    found.insert(Hierarchy::of_numbers(graph, &walk.numbers));
}

/// The hierarchies of `walks` random walks, each once, in increasing order.
pub fn sample(rng: &mut SplitMix64, graph: &CsrGraph, walks: usize) -> Vec<Hierarchy> {
    let mut found = BTreeSet::new();
    for _ in 0..walks {
        let mut numbers = vec![None; graph.node_count()];
        numbers[graph.entry().index()] = Some(0);
        let (mut stack, mut count) = (vec![graph.entry().index()], 1);
        while let Some(&at) = stack.last() {
            let successors = graph.successors(Node::new(at)).map(Node::index);
            let new: Vec<usize> = successors.filter(|&t| numbers[t].is_none()).collect();
            if new.is_empty() {
                stack.pop();
                continue;
            }
            let t = *rng.pick(&new);
            numbers[t] = Some(count);
            count += 1;
            stack.push(t);
        }
        found.insert(Hierarchy::of_numbers(graph, &numbers));
    }
    found.into_iter().collect()
}

/// All hierarchies of a graph with at most `walks` depth-first walks, those of as many random walks of others.
pub fn all_or_sample(rng: &mut SplitMix64, graph: &CsrGraph, walks: usize) -> Vec<Hierarchy> {
    all(graph, walks).unwrap_or_else(|| sample(rng, graph, walks))
}
