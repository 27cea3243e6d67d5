//! Two paths that show that a node is a join.
//!
//! Labels say that a node is a join; they do not say by which paths. These are found when asked for, as a flow of
//! two units on the head-rewired graph: one path, then a second one that may take back parts of the first
//! (Menger's theorem, by augmenting paths). Takes time linear in the graph.

use std::collections::VecDeque;

use crate::cycles::{CycleForest, CycleId};
use crate::graph::{EdgeId, Graph, Node};
use crate::joins::{Joins, Split};
use crate::rewired::{Origin, Rewired};

/// A step of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Along an edge. In an irreducible cycle (and in very deep nests) the next edge may leave another node than this one
    /// arrives at: what lies between is not looked into.
    Edge(EdgeId),
    /// From the header of the cycle once more through it, any number of times, until the next step leaves the cycle.
    Round(CycleId),
}

/// Two paths from a split to a join. They start along different edges, end at the join, and have no instance of a
/// node in common in between. If both end with the same edge, that edge leaves a cycle, and the
/// paths take it in different iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The paths.
    pub paths: [Vec<Step>; 2],
}

impl<G: Graph> Joins<'_, G> {
    /// Two paths that make `join` a join of `split`; none if it is not, or if the split lies inside a cycle that is not
    /// looked into ([`JoinSet::inside`](crate::JoinSet::inside)).
    pub fn witness(&self, split: Split, join: Node) -> Option<Witness> {
        if self.inside(split).is_some() {
            return None;
        }
        let (graph, cycles, rewired) = self.parts();
        let sources: Vec<EdgeId> = match split {
            Split::Branch(node) if !rewired.is_reachable(node) => Vec::new(),
            Split::Branch(node) => graph.out_edges(node).to_vec(),
            Split::Cycle(cycle) => cycles.exit_edges(graph, cycle).collect(),
        };
        // Either different edges into the join carry the paths, or one exit edge does, in different iterations.
        let exits = graph.in_edges(join).iter().filter_map(|&e| rewired.passage(e));
        let arrival = rewired.arrival(join, cycles);
        std::iter::once(arrival).chain(exits).find_map(|end| two_paths(graph, cycles, rewired, &sources, end))
    }
}

/// How an augmenting path comes to the inside of a node (before it passes through) or the outside (after).
#[derive(Clone, Copy)]
enum By {
    /// Along an edge of the split.
    Source(EdgeId),
    /// Along an edge of the rewired graph.
    Forward(EdgeId),
    /// Back along an edge of the rewired graph that the first path takes.
    Back(EdgeId),
    /// Through the node, or back through it.
    Through,
}

struct Flow {
    /// For each node the edge on which a path leaves it.
    next: Vec<Option<EdgeId>>,
    /// For each node whether a path arrives at it along an edge of the split.
    started: Vec<Option<EdgeId>>,
}

fn two_paths<G: Graph>(
    graph: &G,
    cycles: &CycleForest,
    rewired: &Rewired,
    sources: &[EdgeId],
    end: Node,
) -> Option<Witness> {
    let nodes = rewired.graph().node_count();
    let mut flow = Flow { next: vec![None; nodes], started: vec![None; nodes] };
    let mut direct = Vec::new();
    let first = |e: EdgeId| rewired.first_on(e, graph.target(e), cycles);
    // Edges that end right there are paths of their own.
    direct.extend(sources.iter().copied().filter(|&e| first(e) == end).take(2));
    let others: Vec<EdgeId> = sources.iter().copied().filter(|&e| first(e) != end).collect();
    for _ in direct.len()..2 {
        augment(rewired, &others, &first, end, &mut flow)?;
    }
    let mut paths: Vec<Vec<Step>> = direct.iter().map(|&e| vec![Step::Edge(e)]).collect();
    for &e in others.iter().filter(|&&e| flow.started[first(e).index()] == Some(e)) {
        let mut path = vec![Step::Edge(e)];
        let mut at = first(e);
        while at != end {
            let edge = flow.next[at.index()].expect("a path goes on to its end");
            match rewired.origin(edge) {
                // An edge that leaves cycles is in two pieces.
                Origin::Edge(real) if path.last() == Some(&Step::Edge(real)) => {}
                Origin::Edge(real) => path.push(Step::Edge(real)),
                Origin::EarlyExit(cycle) => path.push(Step::Round(cycle)),
                Origin::Root => {}
            }
            at = rewired.graph().target(edge);
        }
        paths.push(path);
    }
    // Where the end is the passage along an edge, this edge is still to come.
    for path in &mut paths {
        if let Some(edge) = rewired.passage_edge(end)
            && path.last() != Some(&Step::Edge(edge))
        {
            path.push(Step::Edge(edge));
        }
    }
    let [a, b]: [Vec<Step>; 2] = paths.try_into().ok()?;
    Some(Witness { paths: [a, b] })
}

/// Adds a path to a flow of at most one unit.
fn augment(
    rewired: &Rewired,
    sources: &[EdgeId],
    first: &impl Fn(EdgeId) -> Node,
    end: Node,
    flow: &mut Flow,
) -> Option<()> {
    let graph = rewired.graph();
    let nodes = graph.node_count();
    // The inside of node v is 2v, its outside 2v + 1.
    let mut by: Vec<Option<By>> = vec![None; 2 * nodes];
    let mut queue = VecDeque::new();
    let occupied = |flow: &Flow, v: usize| flow.next[v].is_some();
    let visit = |by: &mut Vec<Option<By>>, queue: &mut VecDeque<usize>, state: usize, how: By| {
        if by[state].is_none() {
            by[state] = Some(how);
            queue.push_back(state);
        }
    };
    for &e in sources {
        if flow.started[first(e).index()].is_none() {
            visit(&mut by, &mut queue, 2 * first(e).index(), By::Source(e));
        }
    }
    // The edge on which the first path arrives at a node.
    let mut arrives: Vec<Option<EdgeId>> = vec![None; nodes];
    flow.next.iter().flatten().for_each(|&e| arrives[graph.target(e).index()] = Some(e));
    while let Some(state) = queue.pop_front() {
        let v = state / 2;
        if state == 2 * end.index() {
            break;
        }
        if state % 2 == 0 {
            if !occupied(flow, v) {
                visit(&mut by, &mut queue, state + 1, By::Through);
            } else if let Some(e) = arrives[v] {
                visit(&mut by, &mut queue, 2 * graph.source(e).index() + 1, By::Back(e));
            }
        } else {
            if occupied(flow, v) {
                visit(&mut by, &mut queue, state - 1, By::Through);
            }
            for &e in graph.out_edges(Node::new(v)) {
                if flow.next[v] != Some(e) {
                    visit(&mut by, &mut queue, 2 * graph.target(e).index(), By::Forward(e));
                }
            }
        }
    }
    // Collect what changes before changing it: the path may leave a node by a new edge and take back the old one.
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    let mut state = 2 * end.index();
    loop {
        match by[state]? {
            By::Source(e) => {
                flow.started[state / 2] = Some(e);
                break;
            }
            By::Forward(e) => {
                added.push(e);
                state = 2 * graph.source(e).index() + 1;
            }
            By::Back(e) => {
                removed.push(e);
                state = 2 * graph.target(e).index();
            }
            By::Through => state ^= 1,
        }
    }
    removed.iter().for_each(|e| flow.next[graph.source(*e).index()] = None);
    added.iter().for_each(|e| flow.next[graph.source(*e).index()] = Some(*e));
    Some(())
}
