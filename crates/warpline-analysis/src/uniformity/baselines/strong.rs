//! Divergence by control dependence in the sense of strong post-dominance: Wasserrab, Lohner, Snelting, *On PDG-based
//! Noninterference and its Modular Proof* (PLAS 2009), brought to SSA form as in paper 1, Section 7.1, which calls it
//! `strongpd`.
//!
//! A node *strongly post-dominates* another if every path from there that cannot be continued, or is continued for
//! ever, comes to it. So nothing behind a loop strongly post-dominates the loop. A node depends on a branch if it
//! strongly post-dominates one successor and not another. Then for each divergent branch, with what transitively
//! depends on it,
//!
//! * a node to which an edge leaves a loop is divergent if it depends on the branch: the edge is a divergent exit of
//!   the loop, and φs there that merge different values are divergent;
//! * a join is divergent if one of its predecessors depends on the branch.
//!
//! The paper's rules are taken at their word. They are imprecise in that whatever depends on a divergent branch counts,
//! even where all threads that get there came together (Figure 5a), and in that all that comes behind a divergent loop
//! depends on it.
//!
//! # Departures
//!
//! * *Two edges to one node.* A branch with parallel edges makes their target a join, although it need not depend on
//!   itself.
//! * *Loops that are begun again apart.* Let `b` be in two loops, and let one way from `b` go on in the inner and
//!   another end it and begin the outer again. Then the outer loop's header depends on `b`, and its exits need not:
//!   they may be inevitable from both successors. With paper 1's variables that is no harm, as whatever changes in
//!   the outer loop is a divergent φ at its header or follows from one. Here a value may change for other reasons
//!   (memory, always-uniform operations). So if the header of a loop around a divergent branch depends on the branch,
//!   all exits of the loop are divergent and its exit branches count as depending on it.
//! * *Irreducible cycles* are given up as soon as a branch in them is divergent, or an edge into them comes from what
//!   depends on a divergent branch. They are then left by any exit in any order.
//!
//! # How it is computed
//!
//! Strong post-dominators form a pseudo-forest: every node has at most one parent, and what is inevitable behind it
//! are its ancestors; cycles among these are infinite loops. It is found as a least fixed point: the parent of a node
//! with one successor is that successor; of a branch, the nearest common ancestor of the successors if there is one
//! (Hecker, Bischof, Snelting, *On Time-sensitive Control Dependencies*, TOPLAS 2021). Dependences are walked in it
//! when they are asked for. Cost is quadratic in the worst case, and the closure is made anew for each divergent
//! branch: this is a baseline.

use alloc::vec::Vec;

use super::postdom::apart;
use crate::cycles::{CycleForest, CycleId};
use crate::graph::{EdgeId, Graph, Node};
use crate::joins::{JoinSink as _, Split};
use crate::order::DfsOrder;
use crate::uniformity::GivenUp;
use crate::uniformity::engine::{Control, State};

const NONE: u32 = u32::MAX;

/// Strong post-dominators of the reachable nodes.
struct Inevitable {
    /// The nearest node that cannot be avoided once the node is left.
    parent: Vec<u32>,
    /// By node, the number of the cycle of the pseudo-forest that it is on.
    ring: Vec<u32>,
    /// Which of the two walks of which query has last passed a node.
    passed: Vec<u32>,
    walks: u32,
    /// By node, the number of the last closure in which a walk went on from it to the root.
    to_root: Vec<u32>,
}

impl Inevitable {
    fn new<G: Graph>(graph: &G, dfs: &DfsOrder) -> Self {
        let n = graph.node_count();
        let mut found = Inevitable {
            parent: vec![NONE; n],
            ring: vec![NONE; n],
            passed: vec![0; n],
            walks: 0,
            to_root: vec![0; n],
        };
        let mut open: Vec<Node> = Vec::new();
        for &node in dfs.post_order() {
            let mut targets = graph.successors(node);
            let Some(first) = targets.next() else { continue };
            if targets.all(|t| t == first) {
                found.parent[node.index()] = first.0;
            } else {
                open.push(node);
            }
        }
        // A common ancestor once found stays the nearest: paths to the root only grow at the root.
        loop {
            let before = open.len();
            open.retain(|&node| {
                let mut targets = graph.successors(node);
                let first = targets.next();
                let common = targets.try_fold(first, |a, t| a.and_then(|a| found.common(a, t)).map(Some));
                let common = common.flatten();
                if let Some(a) = common {
                    found.parent[node.index()] = a.0;
                }
                common.is_none()
            });
            if open.len() == before {
                break;
            }
        }
        found.number_rings(dfs);
        found
    }

    fn parent(&self, node: Node) -> Option<Node> {
        let p = self.parent[node.index()];
        (p != NONE).then_some(Node(p))
    }

    /// The nearest common ancestor; a node is its own ancestor.
    fn common(&mut self, a: Node, b: Node) -> Option<Node> {
        let first = self.walks + 1;
        self.walks += 2;
        let mut walkers = [(Some(a), first), (Some(b), first + 1)];
        while walkers.iter().any(|(at, _)| at.is_some()) {
            for (at, mark) in &mut walkers {
                let Some(node) = *at else { continue };
                let passed = &mut self.passed[node.index()];
                if *passed >= first && *passed != *mark {
                    return Some(node);
                }
                // Round a ring, a walk meets itself.
                *at = if *passed == *mark { None } else { self.parent(node) };
                self.passed[node.index()] = *mark;
            }
        }
        None
    }

    fn number_rings(&mut self, dfs: &DfsOrder) {
        let mut seen = vec![NONE; self.parent.len()];
        for &start in dfs.post_order() {
            let mut at = start;
            while seen[at.index()] == NONE {
                seen[at.index()] = start.0;
                match self.parent(at) {
                    Some(p) => at = p,
                    None => break,
                }
            }
            if seen[at.index()] != start.0 || self.parent(at).is_none() {
                continue;
            }
            while self.ring[at.index()] == NONE {
                self.ring[at.index()] = start.0;
                at = Node(self.parent[at.index()]);
            }
        }
    }

    /// Calls `visit` with each node that depends on `branch`: those inevitable from one successor, up to the first
    /// that is inevitable from all. Where there is no such node, those are left out that were visited for another
    /// branch of the same closure.
    fn for_each_dependent<G: Graph>(
        &mut self,
        graph: &G,
        branch: Node,
        closure: u32,
        mut visit: impl FnMut(Node),
    ) {
        let end = self.parent(branch);
        let ring = end.map(|e| self.ring[e.index()]).filter(|&r| r != NONE);
        self.walks += 1;
        for successor in graph.successors(branch) {
            let mut at = Some(successor);
            while let Some(node) = at.filter(|&n| Some(n) != end) {
                let on_ring = ring.is_some() && ring == Some(self.ring[node.index()]);
                let (marks, mark) = match end {
                    Some(_) => (&mut self.passed, self.walks),
                    None => (&mut self.to_root, closure),
                };
                if on_ring || core::mem::replace(&mut marks[node.index()], mark) == mark {
                    break;
                }
                visit(node);
                at = self.parent(node);
            }
        }
    }
}

/// Control dependence, and the closure for the split at hand.
pub(in crate::uniformity) struct StrongPostDominators<'a, G> {
    graph: &'a G,
    dfs: &'a DfsOrder,
    cycles: &'a CycleForest,
    inevitable: Inevitable,
    /// By cycle, the edges that leave it.
    leaving: Vec<Vec<EdgeId>>,
    /// By node, the outermost irreducible cycle around it.
    regions: Vec<Option<CycleId>>,
    /// By node, the number of the last closure that it was found in.
    member: Vec<u32>,
    /// By node, the number of the last closure in which what depends on it was looked for.
    followed: Vec<u32>,
    closures: u32,
}

/// What depends on a split.
#[derive(Default)]
struct Dependent {
    nodes: Vec<Node>,
    /// Branches of which the dependents are still to be added.
    work: Vec<Node>,
    /// Loops around the split that are begun again apart.
    begun_again: Vec<CycleId>,
}

impl<'a, G: Graph> StrongPostDominators<'a, G> {
    pub(in crate::uniformity) fn new(graph: &'a G, dfs: &'a DfsOrder, cycles: &'a CycleForest) -> Self {
        let mut regions: Vec<Option<CycleId>> = vec![None; graph.node_count()];
        for c in cycles.cycles().filter(|&c| !cycles.is_reducible(c)) {
            for n in cycles.nodes(c) {
                regions[n.index()].get_or_insert(c);
            }
        }
        StrongPostDominators {
            graph,
            dfs,
            cycles,
            inevitable: Inevitable::new(graph, dfs),
            leaving: cycles.all_exit_edges(graph),
            regions,
            member: vec![0; graph.node_count()],
            followed: vec![0; graph.node_count()],
            closures: 0,
        }
    }

    /// The innermost loop around a node, or the region.
    fn innermost(&self, node: Node) -> Option<CycleId> {
        self.regions[node.index()].or_else(|| self.cycles.innermost(node))
    }

    /// The transitive closure of control dependence from a split.
    fn closure(&mut self, split: Split) -> Dependent {
        self.closures += 1;
        let mut found = Dependent::default();
        let around = match split {
            Split::Branch(branch) => {
                self.followed[branch.index()] = self.closures;
                found.work.push(branch);
                self.innermost(branch)
            }
            Split::Cycle(cycle) => {
                self.add_exit_branches(cycle, &mut found);
                self.cycles.parent(cycle)
            }
        };
        let mut not_begun: Vec<CycleId> =
            core::iter::successors(around, |&c| self.cycles.parent(c)).collect();
        loop {
            while let Some(branch) = found.work.pop() {
                self.add_dependents(branch, &mut found);
            }
            let (again, rest) = not_begun
                .into_iter()
                .partition(|&c| self.member[self.cycles.header(c).index()] == self.closures);
            not_begun = rest;
            let again: Vec<CycleId> = again;
            if again.is_empty() {
                return found;
            }
            for &cycle in &again {
                self.add_exit_branches(cycle, &mut found);
            }
            found.begun_again.extend(again);
        }
    }

    fn add_dependents(&mut self, branch: Node, found: &mut Dependent) {
        let (graph, now) = (self.graph, self.closures);
        let (member, followed) = (&mut self.member, &mut self.followed);
        self.inevitable.for_each_dependent(graph, branch, now, |n| {
            if core::mem::replace(&mut member[n.index()], now) != now {
                found.nodes.push(n);
                if graph.out_edges(n).len() > 1 && core::mem::replace(&mut followed[n.index()], now) != now {
                    found.work.push(n);
                }
            }
        });
    }

    /// Threads come to the exits of `cycle` apart.
    fn add_exit_branches(&mut self, cycle: CycleId, found: &mut Dependent) {
        for &e in &self.leaving[cycle.index()] {
            let (source, now) = (self.graph.source(e), self.closures);
            if core::mem::replace(&mut self.member[source.index()], now) != now {
                found.nodes.push(source);
            }
            if core::mem::replace(&mut self.followed[source.index()], now) != now {
                found.work.push(source);
            }
        }
    }

    /// Whether threads can come on more than one edge.
    fn is_join(&self, node: Node) -> bool {
        self.graph.predecessors(node).filter(|&p| self.dfs.is_reachable(p)).nth(1).is_some()
    }

    /// Reports each edge into the node as a divergent exit of each loop that it leaves; says whether there is one.
    fn exits(&self, node: Node, state: &mut State<'a, G>) -> bool {
        let mut is_exit = false;
        for e in self.graph.in_edges(node) {
            let innermost = self.innermost(self.graph.source(e));
            let outwards = core::iter::successors(innermost, |&c| self.cycles.parent(c));
            for c in { outwards }.take_while(|&c| !self.cycles.contains(c, node)) {
                state.divergent_exit(c, e);
                is_exit = true;
            }
        }
        is_exit
    }

    fn entered_from(&self, source: Node, target: Node) -> Option<CycleId> {
        self.regions[target.index()].filter(|&r| !self.cycles.contains(r, source))
    }
}

impl<'a, G: Graph> Control<'a, G> for StrongPostDominators<'a, G> {
    fn region(&self, node: Node) -> Option<CycleId> {
        self.regions[node.index()]
    }

    fn follow(&mut self, split: Split, state: &mut State<'a, G>) {
        if let Split::Branch(branch) = split
            && let Some(region) = self.regions[branch.index()]
        {
            return state.give_up(region, GivenUp::BranchInside(branch));
        }
        let found = self.closure(split);
        let mut joins: Vec<Node> = Vec::new();
        let mut given_up: Vec<CycleId> = Vec::new();
        for &node in &found.nodes {
            if self.exits(node, state) {
                joins.push(node);
            }
            joins.extend(self.graph.successors(node));
            given_up.extend(self.graph.successors(node).filter_map(|t| self.entered_from(node, t)));
        }
        for &cycle in &found.begun_again {
            for &e in &self.leaving[cycle.index()] {
                state.divergent_exit(cycle, e);
                joins.push(self.graph.target(e));
            }
        }
        if let Split::Branch(branch) = split {
            let mut targets: Vec<Node> = self.graph.successors(branch).collect();
            targets.sort_unstable();
            joins.extend(targets.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]));
            let mut entered: Vec<CycleId> =
                targets.iter().filter_map(|&t| self.entered_from(branch, t)).collect();
            entered.sort_unstable();
            given_up.extend(entered.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]));
        }
        joins.sort_unstable();
        joins.dedup();
        for node in joins {
            if self.is_join(node) {
                state.join(node, &apart(self.graph, node));
            }
        }
        for region in given_up {
            state.give_up(region, GivenUp::EnteredApart(split));
        }
    }
}
