//! m-converged nodes by their definition: the maximal converged-with relation of their instances is the same in every
//! cycle hierarchy.

use std::collections::BTreeMap;

use warpline_analysis::{CsrGraph, Graph};

use super::Trace;
use crate::hierarchies::Hierarchy;
use crate::rng::SplitMix64;
use crate::tagged::{Tag, Tags};

/// Random traces of `threads` threads of at most `steps` nodes each. At the nodes that `divergent` holds each thread
/// goes where it likes; at others threads go the same way from converged instances, where `tags` says which are.
pub fn traces(
    rng: &mut SplitMix64,
    graph: &CsrGraph,
    tags: &Tags,
    divergent: &[bool],
    threads: usize,
    steps: usize,
) -> Vec<Trace> {
    let mut decided: BTreeMap<(usize, Tag), usize> = BTreeMap::new();
    let mut trace = |rng: &mut SplitMix64| {
        let mut node = graph.entry();
        let mut tag = tags.at_entry(node);
        let mut trace = vec![node];
        while trace.len() < steps && !graph.out_edges(node).is_empty() {
            let out = graph.out_edges(node);
            let drawn = rng.below(out.len());
            let choice = if divergent[node.index()] {
                drawn
            } else {
                *decided.entry((node.index(), tag.clone())).or_insert(drawn)
            };
            let target = graph.target(out[choice]);
            tag = tags.step(&tag, node, target);
            node = target;
            trace.push(node);
        }
        trace
    };
    (0..threads).map(|_| trace(rng)).collect()
}

/// For each node whether the given traces show the same relation in all of the hierarchies.
pub fn same_in_all(node_count: usize, traces: &[Trace], hierarchies: &[Tags]) -> Vec<bool> {
    let mut same = vec![true; node_count];
    let mut first: Option<Vec<Vec<usize>>> = None;
    for tags in hierarchies {
        let classes = classes(traces, tags);
        match &first {
            None => first = Some(classes),
            Some(first) => {
                for (trace, (a, b)) in traces.iter().zip(first.iter().zip(&classes)) {
                    for (node, (a, b)) in trace.iter().zip(a.iter().zip(b)) {
                        same[node.index()] &= a == b;
                    }
                }
            }
        }
    }
    same
}

/// For each instance the number of the first instance that has the same node and tag, counted through all threads:
/// equal numbers are converged.
fn classes(traces: &[Trace], tags: &Tags) -> Vec<Vec<usize>> {
    let mut numbers = BTreeMap::new();
    let mut count = 0;
    let mut of_trace = |trace: &Trace| {
        let mut before: Option<(usize, Tag)> = None;
        let mut row = Vec::new();
        for (i, &node) in trace.iter().enumerate() {
            let tag = match before {
                None => tags.at_entry(node),
                Some((b, tag)) => tags.step(&tag, trace[b], node),
            };
            count += 1;
            row.push(*numbers.entry((node, tag.clone())).or_insert(count));
            before = Some((i, tag));
        }
        row
    };
    traces.iter().map(&mut of_trace).collect()
}

/// The nodes that are seen not to be m-converged when the branches in `divergent` are: `runs` random executions in each
/// hierarchy, compared in all of them.
pub fn seen_apart(
    rng: &mut SplitMix64,
    graph: &CsrGraph,
    hierarchies: &[Hierarchy],
    divergent: &[bool],
    runs: usize,
) -> Vec<bool> {
    let tags: Vec<Tags> = hierarchies.iter().map(Tags::of_hierarchy).collect();
    let mut apart = vec![false; graph.node_count()];
    for tags_run in &tags {
        for _ in 0..runs {
            let traces = traces(rng, graph, tags_run, divergent, 4, 24);
            let same = same_in_all(graph.node_count(), &traces, &tags);
            apart.iter_mut().zip(same).for_each(|(a, s)| *a |= !s);
        }
    }
    apart
}
