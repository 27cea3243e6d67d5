//! Two paths that show that threads which part at a branch arrive apart.
//!
//! Labels say that a node is a join; they do not say by which paths. These are found when asked for, as a flow of
//! two units on the head-rewired graph (Menger's theorem), or, for a branch inside an irreducible cycle, on what
//! the branch dominates. That takes time linear in the graph.
//!
//! Where it matters on *which* edges threads arrive (a φ has to have different operands there, a cycle is entered at
//! different nodes, or left in different iterations), the edges are put into groups, and at most one path may
//! arrive on an edge of each group.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::cycles::CycleId;
use crate::flow::{self, Hop, Place};
use crate::graph::{EdgeId, Graph, Node};
use crate::joins::{Joins, Split};
use crate::local::Fate;
use crate::rewired::{Kind, Origin};

/// A step of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Along an edge.
    Edge(EdgeId),
    /// From the header of the cycle once more through it, any number of times, until the next step leaves the cycle.
    Round(CycleId),
    /// On some way through a cycle that is not looked into, from where the last step arrives in it to the source of
    /// the next edge, which leaves it.
    Through(CycleId),
}

/// Two paths from a split to a join. They start along different edges, end at the join, and have no instance of a
/// node in common in between. If both end with the same edge, that edge leaves a cycle, and the
/// paths take it in different iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The paths.
    pub paths: [Vec<Step>; 2],
}

/// Why nothing is claimed of threads that part at a branch inside a cycle which is not looked into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inside {
    /// These two paths have no node in common and lead, over nothing but what the branch strictly dominates, to
    /// different nodes of the cycle of which it strictly dominates neither.
    Apart(Witness),
    /// These two paths have no node in common and lead to different entries of this irreducible cycle, which does not
    /// contain the branch.
    EntersApart(CycleId, Witness),
    /// The cycle is reducible, and given up for being nested too deep.
    TooDeep,
    /// An arm of the branch passes through another irreducible cycle, which is not looked into either.
    NotLookedInto(CycleId),
}

/// Where in the rewired graph two paths end.
struct Goal<F> {
    end: Node,
    /// The end of a path that arrives on an edge of the rewired graph, given the real edge it belongs to or the
    /// header it exits from early.
    group: F,
}

impl<'a, G: Graph> Joins<'a, G> {
    /// Two paths that make `join` a join of `split`; none if it is not, or if the split lies inside a cycle that is not
    /// looked into ([`JoinSet::inside`](crate::JoinSet::inside)).
    /// Linear in the graph with early exits counted as edges.
    pub fn witness(&self, split: Split, join: Node) -> Option<Witness> {
        // Either different edges into the join carry the paths, or one exit edge does, in different iterations.
        self.witness_between(split, join, |e| Some(e.index())).or_else(|| {
            let (graph, _, rewired) = self.parts();
            graph.in_edges(join).filter_map(|e| rewired.passage(e)).find_map(|end| {
                let group = |origin| match origin {
                    Origin::Edge(_) => Some(0),
                    Origin::EarlyExit(cycle) => Some(1 + cycle.index()),
                    Origin::Root => None,
                };
                self.on_rewired(split, &Goal { end, group })
            })
        })
    }

    /// Two paths from `split` that arrive at `join` on edges for which `group` gives different numbers below the number
    /// of edges; edges without one do not count.
    pub(crate) fn witness_between(
        &self,
        split: Split,
        join: Node,
        group: impl Fn(EdgeId) -> Option<usize>,
    ) -> Option<Witness> {
        let (graph, cycles, rewired) = self.parts();
        if let Some(region) = self.inside(split) {
            return self.on_arms(region, split, join, group);
        }
        let into = |e: EdgeId| group(e).filter(|_| graph.target(e) == join);
        let group = |origin| match origin {
            Origin::Edge(e) => into(e),
            Origin::EarlyExit(_) | Origin::Root => None,
        };
        self.on_rewired(split, &Goal { end: rewired.arrival(join, cycles), group })
    }

    /// Two paths from `split` that leave `cycle` by `exit` in different iterations.
    pub(crate) fn witness_of_exit(&self, split: Split, cycle: CycleId, exit: EdgeId) -> Option<Witness> {
        let (_, cycles, rewired) = self.parts();
        let group = |origin| match origin {
            Origin::Edge(_) => Some(0),
            Origin::EarlyExit(c) if c == cycle => Some(1),
            Origin::EarlyExit(c) if cycles.contains_cycle(cycle, c) => Some(0),
            Origin::EarlyExit(_) | Origin::Root => None,
        };
        self.on_rewired(split, &Goal { end: rewired.passage(exit)?, group })
    }

    /// Two paths from `split` that arrive at different entries of the irreducible `cycle`, one that is not looked into.
    pub(crate) fn witness_of_entries(&self, split: Split, cycle: CycleId) -> Option<Witness> {
        let (graph, cycles, rewired) = self.parts();
        let group = |origin| match origin {
            Origin::Edge(e) => Some(graph.target(e)).filter(|&t| cycles.contains(cycle, t)).map(Node::index),
            Origin::EarlyExit(_) | Origin::Root => None,
        };
        self.on_rewired(split, &Goal { end: rewired.arrival(cycles.header(cycle), cycles), group })
    }

    /// A path from `branch` over nodes that it dominates out of the irreducible `cycle` around it, and an edge that other
    /// threads take, to a node that does not lie on the path.
    pub(crate) fn witness_of_leaving(&self, branch: Node, cycle: CycleId) -> Option<Witness> {
        let (graph, cycles, _) = self.parts();
        let arms = self.arms(cycle, Split::Branch(branch))?;
        graph.out_edges(branch).find_map(|other| {
            let avoided = graph.target(other);
            let place = |e: EdgeId| match graph.target(e) {
                _ if e == other => Some(Place::End(1)),
                t if !cycles.contains(cycle, t) => Some(Place::End(0)),
                t => {
                    let passes = arms.is_inside(t) && arms.whole(t) != arms.whole(avoided);
                    passes.then(|| Place::Node(arms.whole(t).index()))
                }
            };
            arms.two_paths(2, &place).map(|paths| self.without_empty_ways(paths))
        })
    }

    fn on_rewired(&self, split: Split, goal: &Goal<impl Fn(Origin) -> Option<usize>>) -> Option<Witness> {
        if self.inside(split).is_some() {
            return None;
        }
        let (graph, cycles, rewired) = self.parts();
        // The last piece of an edge that leaves cycles is still to come where the paths end in the middle of it.
        let rest = rewired.passage_edge(goal.end).map(Step::Edge);
        let hop = |origin: Origin, first: Option<Step>, to: Node| {
            let said = match origin {
                Origin::Edge(e) => Some(Step::Edge(e)),
                Origin::EarlyExit(c) => Some(Step::Round(c)),
                Origin::Root => None,
            };
            if to != goal.end {
                return Some(Hop { steps: [first.or(said), said], to: Place::Node(to.index()) });
            }
            let steps = match (first, rest) {
                (Some(first), _) => [Some(first), said],
                (None, rest) => [said, rest],
            };
            (goal.group)(origin).map(|g| Hop { steps, to: Place::End(g) })
        };
        let sources: Vec<EdgeId> = match split {
            Split::Branch(node) if !rewired.is_reachable(node) => Vec::new(),
            Split::Branch(node) => graph.out_edges(node).collect(),
            Split::Cycle(cycle) => cycles.exit_edges(graph, cycle).collect(),
        };
        let starts: Vec<Hop> = sources
            .into_iter()
            .filter_map(|e| hop(Origin::Edge(e), None, rewired.first_on(e, graph.target(e), cycles)))
            .collect();
        let ends = graph.edge_count().max(graph.node_count()).max(cycles.len() + 1);
        let paths = flow::two_paths(rewired.node_count(), ends, &starts, |node, out| {
            let node = Node::new(node);
            let through = match rewired.kind(node) {
                Kind::Region(cycle) => Some(Step::Through(cycle)),
                _ => None,
            };
            for e in rewired.out_edges(node) {
                out.extend(hop(rewired.origin(e), through, rewired.target(e)));
            }
        })?;
        Some(self.without_empty_ways(paths))
    }

    /// Where threads that part inside a region go before they come together; none if they may not in time.
    fn arms(&self, region: CycleId, split: Split) -> Option<Arms<'_, 'a, G>> {
        let (graph, cycles, _) = self.parts();
        match split {
            Split::Branch(branch) => match self.inside_region(region, branch) {
                Fate::Meet(found) => {
                    Some(Arms { joins: self, starts: graph.out_edges(branch).collect(), by: found.by })
                }
                Fate::GiveUp(..) => None,
            },
            Split::Cycle(cycle) => {
                let by = self.interior(region).behind(cycle)?.by;
                Some(Arms { joins: self, starts: cycles.exit_edges(graph, cycle).collect(), by })
            }
        }
    }

    /// Two paths from where threads part inside an irreducible cycle along what is dominated there.
    fn on_arms(
        &self,
        region: CycleId,
        split: Split,
        join: Node,
        group: impl Fn(EdgeId) -> Option<usize>,
    ) -> Option<Witness> {
        let (graph, cycles, _) = self.parts();
        let arms = self.arms(region, split)?;
        let place = |e: EdgeId| match graph.target(e) {
            t if t == join => group(e).map(Place::End),
            t => {
                (arms.is_inside(t) && cycles.contains(region, t)).then(|| Place::Node(arms.whole(t).index()))
            }
        };
        let ends = graph.edge_count().max(graph.node_count()).max(cycles.len() + 1);
        arms.two_paths(ends, &place).map(|paths| self.without_empty_ways(paths))
    }

    /// Why nothing is claimed of threads that part at `branch`; none if the branch is not inside a cycle that is not
    /// looked into, or they come together again in time.
    pub(crate) fn why_inside(&self, branch: Node) -> Option<Inside> {
        let region = self.inside(Split::Branch(branch))?;
        let (graph, cycles, _) = self.parts();
        if cycles.is_reducible(region) {
            return Some(Inside::TooDeep);
        }
        if matches!(self.inside_region(region, branch), Fate::Meet(_)) {
            return None;
        }
        let arms = Arms { joins: self, starts: graph.out_edges(branch).collect(), by: branch };
        let own = |t: Node| cycles.contains(region, t) && arms.is_inside(t);
        let far = |e: EdgeId| match graph.target(e) {
            t if own(t) => Some(Place::Node(arms.whole(t).index())),
            t => cycles.contains(region, t).then(|| Place::End(t.index())),
        };
        if let Some(paths) = arms.two_paths(graph.node_count(), &far) {
            return Some(Inside::Apart(self.without_empty_ways(paths)));
        }
        // Without two ways out, the arms were not followed through a cycle on the way.
        let mut inner: BTreeMap<Node, CycleId> = BTreeMap::new();
        for &n in cycles.nodes(region).iter().filter(|&&n| own(n)) {
            if let Some(c) = cycles.outermost_without(n, branch).filter(|&c| !cycles.is_reducible(c)) {
                inner.insert(cycles.header(c), c);
            }
        }
        for &cycle in inner.values() {
            let enter = |e: EdgeId| match graph.target(e) {
                t if cycles.contains(cycle, t) => Some(Place::End(t.index())),
                t => own(t).then(|| Place::Node(arms.whole(t).index())),
            };
            if let Some(paths) = arms.two_paths(graph.node_count(), &enter) {
                return Some(Inside::EntersApart(cycle, self.without_empty_ways(paths)));
            }
        }
        Some(Inside::NotLookedInto(inner.into_values().next().unwrap_or(region)))
    }

    /// Leaves out ways through a cycle of no edge at all.
    fn without_empty_ways(&self, paths: [Vec<Step>; 2]) -> Witness {
        let (graph, _, _) = self.parts();
        let paths = paths.map(|path| {
            let empty = |i: usize| match (path[i], i.checked_sub(1).map(|p| path[p]), path.get(i + 1)) {
                (Step::Through(_), Some(Step::Edge(a)), Some(&Step::Edge(b))) => {
                    graph.target(a) == graph.source(b)
                }
                _ => false,
            };
            (0..path.len()).filter(|&i| !empty(i)).map(|i| path[i]).collect()
        });
        Witness { paths }
    }
}

/// What a node inside an irreducible cycle strictly dominates, with each cycle that does not contain the node taken as
/// a whole.
struct Arms<'j, 'a, G> {
    joins: &'j Joins<'a, G>,
    /// The edges on which threads part.
    starts: Vec<EdgeId>,
    /// The branch, or what dominates it or the cycle that threads leave, to which this belongs.
    by: Node,
}

impl<G: Graph> Arms<'_, '_, G> {
    fn is_inside(&self, node: Node) -> bool {
        self.joins.inner().1.strictly_dominates(self.by, node)
    }

    fn whole(&self, node: Node) -> Node {
        let (_, cycles, _) = self.joins.parts();
        cycles.outermost_without(node, self.by).map_or(node, |c| cycles.header(c))
    }

    /// Two paths to different ends; `place` says where an edge leads.
    fn two_paths(&self, ends: usize, place: &impl Fn(EdgeId) -> Option<Place>) -> Option<[Vec<Step>; 2]> {
        let (graph, cycles, _) = self.joins.parts();
        let hop = |before: Option<Step>, e: EdgeId| {
            let steps = [before.or(Some(Step::Edge(e))), Some(Step::Edge(e))];
            place(e).map(|to| Hop { steps, to })
        };
        let starts: Vec<Hop> = self.starts.iter().filter_map(|&e| hop(None, e)).collect();
        flow::two_paths(graph.node_count(), ends, &starts, |node, out| {
            let node = Node::new(node);
            match cycles.outermost_without(node, self.by) {
                Some(c) => {
                    let over = match cycles.is_reducible(c) {
                        true => Step::Round(c),
                        false => Step::Through(c),
                    };
                    out.extend(cycles.exit_edges(graph, c).filter_map(|e| hop(Some(over), e)));
                }
                None => out.extend(graph.out_edges(node).filter_map(|e| hop(None, e))),
            }
        })
    }
}
