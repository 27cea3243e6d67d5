//! Explanations step by step, from first principles.
//!
//! A chain of causes is replayed as a proof is checked: each fact must follow from the next one by what the program
//! says, and witness paths are walked edge by edge on the tagged graph (paper 1, Definitions 3.1 and 4.5). Cycles,
//! dominance, tags and reachability are those of the oracles; of the product only the words are used in which it
//! states its facts.

use std::collections::VecDeque;

use warpline_analysis::uniformity::{Cause, Evidence, Fact, GivenUp, Link, Rule, SsaProgram, Value};
use warpline_analysis::{CsrGraph, CycleForest, CycleId, EdgeId, Graph, Inside, Node, Split, Step, Witness};

use crate::graph_oracles::{Dominance, reachable};
use crate::tagged::{Tag, Tags};

/// What steps of explanations were seen, to show that a test is not vacuous.
#[derive(Clone, Copy, Default, Debug)]
pub struct Seen {
    /// Chains.
    pub chains: usize,
    /// φs in joins, with their paths.
    pub joins: usize,
    /// Those whose branch lies inside an irreducible cycle.
    pub joins_inside: usize,
    /// Uses outside a cycle that is left apart.
    pub temporal: usize,
    /// Exits taken in different iterations, with their paths.
    pub exits: usize,
    /// Cycles entered at different entries, with their paths.
    pub entered_apart: usize,
    /// Irreducible cycles that some threads leave while others stay.
    pub left_apart: usize,
    /// Branches in irreducible cycles whose arms lead apart, with their paths.
    pub inside_apart: usize,
    /// The same, where the arms enter another irreducible cycle apart.
    pub inside_entered: usize,
    /// Branches in irreducible cycles of which nothing is shown.
    pub not_looked_into: usize,
}

/// A program whose explanations are checked.
pub struct Replay<'a> {
    graph: &'a CsrGraph,
    program: &'a SsaProgram,
    /// What the facts call cycles.
    names: &'a CycleForest,
    hierarchies: &'a [Tags],
    dominance: Dominance,
}

/// An instance of a node.
type Instance = (Node, Tag);

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

impl<'a> Replay<'a> {
    /// Checks explanations about `program`, in which cycles are called as in `names`. Paths must be disjoint in each
    /// of the hierarchies.
    pub fn new(
        graph: &'a CsrGraph,
        program: &'a SsaProgram,
        names: &'a CycleForest,
        hierarchies: &'a [Tags],
    ) -> Self {
        Replay { graph, program, names, hierarchies, dominance: Dominance::of(graph) }
    }

    /// Checks a chain of facts from `chain[0]` to a source.
    ///
    /// # Errors
    /// Says which step does not follow.
    pub fn chain(&self, chain: &[Link], seen: &mut Seen) -> Result<(), String> {
        seen.chains += 1;
        for (i, link) in chain.iter().enumerate() {
            let says = |e: String| format!("step {i}, {:?}: {e}", link.fact);
            ensure(!chain[..i].iter().any(|l| l.fact == link.fact), || says("it is its own cause".into()))?;
            self.step(link, chain.get(i + 1).map(|l| l.fact), seen).map_err(says)?;
        }
        match chain.last().map(|l| l.fact) {
            Some(Fact::Value(_, Cause::Source)) => Ok(()),
            last => Err(format!("the chain ends at {last:?}")),
        }
    }

    fn step(&self, link: &Link, next: Option<Fact>, seen: &mut Seen) -> Result<(), String> {
        match link.fact {
            Fact::Value(v, cause) => {
                ensure(self.program.rule(v) != Rule::AlwaysUniform, || "it is always uniform".into())?;
                self.value(v, cause, &link.evidence, next, seen)
            }
            Fact::Branch(node, cause) => {
                ensure(self.graph.out_edges(node).len() > 1, || "it has one way to go".into())?;
                self.branch(node, cause, next, seen)
            }
            Fact::DivergentExit(cycle, exit, split) => {
                self.follows_split(split, next)?;
                seen.exits += 1;
                self.leaves_in_different_iterations(paths(&link.evidence)?, split, cycle, exit)
            }
            Fact::GivenUp(cycle, GivenUp::EnteredApart(split)) => {
                self.follows_split(split, next)?;
                seen.entered_apart += 1;
                self.entered_apart(paths(&link.evidence)?, split, cycle)
            }
            Fact::LeftApart(cycle, split) => {
                self.follows_split(split, next)?;
                seen.left_apart += 1;
                match split {
                    Split::Branch(branch) => self.left_apart(paths(&link.evidence)?, cycle, branch),
                    Split::Cycle(inner) => self.left_behind(cycle, inner),
                }
            }
            Fact::GivenUp(cycle, GivenUp::BranchInside(branch)) => {
                self.follows_split(Split::Branch(branch), next)?;
                self.branch_inside(cycle, branch, &link.evidence, seen)
            }
        }
    }

    fn value(
        &self,
        v: Value,
        cause: Cause,
        evidence: &Evidence,
        next: Option<Fact>,
        seen: &mut Seen,
    ) -> Result<(), String> {
        let node = || self.program.node(v).ok_or("an argument has no cause but its rule");
        let uses = |o: Value| {
            let reached = |e: Option<EdgeId>| {
                e.is_none_or(|e| self.dominance.is_reachable(self.graph.source(e).index()))
            };
            self.program.operands(v).any(|(x, e)| x == o && reached(e))
        };
        match cause {
            Cause::Source => {
                ensure(self.program.rule(v) == Rule::Source && next.is_none(), || "it is no source".into())
            }
            Cause::Operand(o) => {
                ensure(uses(o), || format!("{o} is no operand"))?;
                ensure(matches!(next, Some(Fact::Value(n, _)) if n == o), || format!("{o} does not follow"))
            }
            Cause::Temporal { operand, cycle, exit } => {
                ensure(uses(operand), || format!("{operand} is no operand"))?;
                let node = node()?;
                let at: Vec<Use> = self
                    .program
                    .operands(v)
                    .filter(|&(o, _)| o == operand)
                    .map(|(_, e)| e.map_or(Use::At(node), Use::On))
                    .collect();
                seen.temporal += 1;
                self.temporal(operand, cycle, exit, &at, next)
            }
            Cause::Join(split) => {
                self.follows_split(split, next)?;
                seen.joins += 1;
                if let Split::Branch(b) = split {
                    let irreducible = |c| !self.is_reducible(c);
                    seen.joins_inside += usize::from(self.names.around(b).any(irreducible));
                }
                self.phi_joins(v, node()?, split, paths(evidence)?)
            }
            Cause::GivenUp(cycle) => {
                ensure(self.may_change(v, cycle), || format!("it does not change in {cycle:?}"))?;
                self.follows_split(Split::Cycle(cycle), next)
            }
        }
    }

    fn branch(&self, node: Node, cause: Cause, next: Option<Fact>, seen: &mut Seen) -> Result<(), String> {
        let decides = |o: Value| {
            ensure(self.program.terminator(node).contains(&o), || format!("{o} does not decide it"))
        };
        match cause {
            Cause::Operand(o) => {
                decides(o)?;
                ensure(matches!(next, Some(Fact::Value(n, _)) if n == o), || format!("{o} does not follow"))
            }
            Cause::Temporal { operand, cycle, exit } => {
                decides(operand)?;
                seen.temporal += 1;
                self.temporal(operand, cycle, exit, &[Use::At(node)], next)
            }
            Cause::Source | Cause::Join(_) | Cause::GivenUp(_) => Err("no cause of a branch".into()),
        }
    }

    fn follows_split(&self, split: Split, next: Option<Fact>) -> Result<(), String> {
        let follows = match (split, next) {
            (Split::Branch(b), Some(Fact::Branch(n, _))) => b == n,
            (Split::Cycle(c), Some(Fact::GivenUp(d, _) | Fact::LeftApart(d, _))) => c == d,
            _ => false,
        };
        ensure(follows, || format!("{split:?} does not follow"))
    }

    /// A use of a value that changes in `cycle`, outside it, reached by `exit`; or in or behind a cycle that was
    /// given up.
    fn temporal(
        &self,
        operand: Value,
        cycle: CycleId,
        exit: Option<EdgeId>,
        at: &[Use],
        next: Option<Fact>,
    ) -> Result<(), String> {
        ensure(self.may_change(operand, cycle), || format!("{operand} does not change in {cycle:?}"))?;
        let inside = |n: Node| self.names.nodes(cycle).contains(&n);
        let (s, t) = (|e| self.graph.source(e), |e| self.graph.target(e));
        let Some(exit) = exit else {
            let apart = |u: &Use| match *u {
                Use::At(n) => self.program.node(operand) != Some(n),
                Use::On(e) => !inside(t(e)),
            };
            ensure(at.iter().any(apart), || "it is used where it is made".into())?;
            return self.follows_split(Split::Cycle(cycle), next);
        };
        ensure(inside(s(exit)) && !inside(t(exit)), || format!("{exit} is no exit of {cycle:?}"))?;
        let behind = reachable(self.graph, t(exit).index(), |n| inside(Node::new(n)));
        let is_behind = |u: &Use| match *u {
            Use::At(n) => behind[n.index()],
            Use::On(e) => !inside(t(e)) && (e == exit || behind[s(e).index()]),
        };
        ensure(at.iter().any(is_behind), || format!("{exit} does not lead to the use"))?;
        let follows = matches!(next, Some(Fact::DivergentExit(c, e, _)) if (c, e) == (cycle, exit));
        ensure(follows, || format!("the exit {exit} does not follow"))
    }

    /// Whether a value is defined in a cycle and not shown to be the same in all its iterations.
    fn may_change(&self, value: Value, cycle: CycleId) -> bool {
        let inside = |v: Value| self.program.node(v).is_some_and(|n| self.names.nodes(cycle).contains(&n));
        let mut same: Vec<bool> = self.program.values().map(|v| !inside(v)).collect();
        loop {
            let stays = |v: Value| {
                let operands: Vec<Value> =
                    self.program.operands(v).map(|(o, _)| o).filter(|&o| o != v).collect();
                let one = !operands.is_empty() && operands.iter().all(|&o| o == operands[0]);
                let follows = match self.program.is_phi(v) {
                    true => one && self.program.rule(v) == Rule::Default,
                    false => self.program.is_pure(v),
                };
                follows && operands.iter().all(|o| same[o.index()])
            };
            let more: Vec<Value> = self.program.values().filter(|&v| !same[v.index()] && stays(v)).collect();
            if more.is_empty() {
                return !same[value.index()];
            }
            more.into_iter().for_each(|v| same[v.index()] = true);
        }
    }

    fn is_reducible(&self, cycle: CycleId) -> bool {
        let nodes = self.names.nodes(cycle);
        let enters = |n: &&Node| {
            **n == self.graph.entry()
                || self
                    .graph
                    .predecessors(**n)
                    .any(|p| !nodes.contains(&p) && self.dominance.is_reachable(p.index()))
        };
        nodes.iter().filter(enters).count() == 1
    }

    fn phi_joins(&self, phi: Value, node: Node, split: Split, witness: &Witness) -> Result<(), String> {
        let walks = self.walks(split, witness)?;
        let last = walks.each_ref().map(|w| *w.last().expect("a walk has an edge"));
        ensure(last.iter().all(|&e| self.graph.target(e) == node), || "the paths end elsewhere".into())?;
        let operand = |e: EdgeId| self.program.operands(phi).find(|&(_, on)| on == Some(e)).map(|(o, _)| o);
        let taken = last.map(operand);
        ensure(self.program.is_phi(phi) && taken[0].is_some() && taken[1].is_some(), || {
            "the paths arrive without an operand".into()
        })?;
        ensure(last[0] != last[1] && taken[0] != taken[1], || "the paths bring the same operand".into())?;
        self.hierarchies.iter().try_for_each(|tags| {
            let [a, b] = self.instances(tags, &walks);
            ensure(a.last() == b.last(), || "the paths end at different instances".into())?;
            disjoint(&a[..a.len() - 1], &b[..b.len() - 1])
        })
    }

    fn leaves_in_different_iterations(
        &self,
        witness: &Witness,
        split: Split,
        cycle: CycleId,
        exit: EdgeId,
    ) -> Result<(), String> {
        let walks = self.walks(split, witness)?;
        ensure(walks.iter().all(|w| w.last() == Some(&exit)), || "the paths end elsewhere".into())?;
        self.hierarchies.iter().try_for_each(|tags| {
            let [a, b] = self.instances(tags, &walks);
            ensure(a.last() == b.last(), || "the paths end at different instances".into())?;
            disjoint(&a[..a.len() - 1], &b[..b.len() - 1])?;
            // The instances before: the first ones are the split's, so a walk of one edge has its start there.
            let iteration = |walk: &[EdgeId], passed: &[Instance]| {
                let before = match passed.len() {
                    1 => (self.graph.source(walk[0]), self.start_tag(tags, self.graph.source(walk[0]))),
                    n => passed[n - 2].clone(),
                };
                let nodes = self.names.nodes(cycle).iter().map(|n| n.index()).collect::<Vec<_>>();
                tags.count(&before.1, before.0, &nodes)
            };
            let rounds = [iteration(&walks[0], &a), iteration(&walks[1], &b)];
            ensure(rounds[0].is_some() && rounds[1].is_some() && rounds[0] != rounds[1], || {
                format!("the iterations are {rounds:?}")
            })
        })
    }

    fn entered_apart(&self, witness: &Witness, split: Split, cycle: CycleId) -> Result<(), String> {
        let walks = self.walks(split, witness)?;
        let inside = |n: Node| self.names.nodes(cycle).contains(&n);
        let last = walks.each_ref().map(|w| *w.last().expect("a walk has an edge"));
        let enters = |&e: &EdgeId| !inside(self.graph.source(e)) && inside(self.graph.target(e));
        ensure(last.iter().all(enters), || "the paths do not end by entering".into())?;
        ensure(self.graph.target(last[0]) != self.graph.target(last[1]), || "by one entry".into())?;
        ensure(!self.is_reducible(cycle), || "the cycle has one entry".into())?;
        self.hierarchies.iter().try_for_each(|tags| {
            let [a, b] = self.instances(tags, &walks);
            // It is the same execution of the cycle: the cycles around it are in the same iterations.
            let around = |i: &[Instance]| {
                let (node, tag) = &i[i.len() - 1];
                let nodes: Vec<usize> = self.names.nodes(cycle).iter().map(|n| n.index()).collect();
                tags.counts_around(tag, *node, &nodes)
            };
            ensure(around(&a) == around(&b), || "they enter different executions of the cycle".into())?;
            disjoint(&a, &b)
        })
    }

    /// One path leaves the cycle and the other starts along another edge, to a node that is not on the first.
    fn left_apart(&self, witness: &Witness, cycle: CycleId, branch: Node) -> Result<(), String> {
        let inside = |n: Node| self.names.nodes(cycle).contains(&n);
        ensure(inside(branch) && !self.is_reducible(cycle), || "not inside an irreducible cycle".into())?;
        let walks = self.walks(Split::Branch(branch), witness)?;
        let ends = walks.each_ref().map(|w| self.graph.target(*w.last().expect("a walk has an edge")));
        ensure(ends.iter().any(|&n| !inside(n)), || "no path leaves the cycle".into())?;
        let targets = walks.each_ref().map(|w| w.iter().map(|&e| self.graph.target(e)).collect::<Vec<_>>());
        let meets = |n: &Node| inside(*n) && targets[1].contains(n);
        ensure(!targets[0].iter().any(meets), || "the paths meet in the cycle".into())
    }

    /// Threads that leave `inner` may leave the cycle around it.
    fn left_behind(&self, cycle: CycleId, inner: CycleId) -> Result<(), String> {
        let inside = |n: Node| self.names.nodes(cycle).contains(&n);
        let own = |n: Node| self.names.nodes(inner).contains(&n);
        ensure(inner != cycle && self.names.nodes(inner).iter().all(|&n| inside(n)), || "not inside".into())?;
        let from =
            self.names.nodes(inner).iter().flat_map(|&n| self.graph.successors(n)).filter(|&n| !own(n));
        let mut seen: Vec<Node> = from.collect();
        let mut at = 0;
        while let Some(&n) = seen.get(at) {
            if !inside(n) {
                return Ok(());
            }
            let new: Vec<Node> =
                self.graph.successors(n).filter(|&t| !own(t) && !seen.contains(&t)).collect();
            seen.extend(new);
            at += 1;
        }
        Err("no path leaves the cycle".into())
    }

    /// Whether a node of `around` that is not in `cycle` strictly dominates all of it, and nothing else of `around` that
    /// is strongly connected with it remains without the node.
    fn is_in_every_hierarchy(&self, cycle: CycleId, around: CycleId) -> bool {
        let (own, all) = (self.names.nodes(cycle), self.names.nodes(around));
        let dominates = |by: Node, n: Node| by != n && self.dominance.dominates(by.index(), n.index());
        let reaches = |from: Node, to: Node, without: Node| {
            let (mut seen, mut work) = (vec![from], vec![from]);
            while let Some(n) = work.pop() {
                for t in self.graph.successors(n) {
                    if t != without && all.contains(&t) && !seen.contains(&t) {
                        seen.push(t);
                        work.push(t);
                    }
                }
            }
            seen.contains(&to)
        };
        let is_whole = |by: Node| {
            let others = all.iter().filter(|&&n| n != by && !own.contains(&n));
            let connected = |n: &Node| reaches(own[0], *n, by) && reaches(*n, own[0], by);
            own.iter().all(|&n| dominates(by, n)) && !{ others }.any(connected)
        };
        all.iter().any(|&by| is_whole(by))
    }

    fn branch_inside(
        &self,
        cycle: CycleId,
        branch: Node,
        evidence: &Evidence,
        seen: &mut Seen,
    ) -> Result<(), String> {
        ensure(self.names.nodes(cycle).contains(&branch), || "the branch is not inside".into())?;
        let irreducible = |&c: &CycleId| !self.is_reducible(c);
        let region = self.names.around(branch).filter(irreducible).last().unwrap_or(cycle);
        ensure(cycle == region || self.is_in_every_hierarchy(cycle, region), || {
            "it is not a cycle in every hierarchy".into()
        })?;
        let inside = |n: Node| self.names.nodes(region).contains(&n);
        let Evidence::Inside(why) = evidence else { return Err(format!("no reason but {evidence:?}")) };
        let owned = |n: Node| n != branch && self.dominance.dominates(branch.index(), n.index()) && inside(n);
        let arms = |witness: &Witness| -> Result<[EdgeId; 2], String> {
            let walks = self.walks(Split::Branch(branch), witness)?;
            for walk in &walks {
                let passed = walk[..walk.len() - 1].iter().map(|&e| self.graph.target(e));
                ensure({ passed }.all(owned), || "a path leaves what the branch dominates early".into())?;
            }
            self.hierarchies.iter().try_for_each(|tags| {
                let [a, b] = self.instances(tags, &walks);
                disjoint(&a, &b)
            })?;
            Ok(walks.map(|w| *w.last().expect("a walk has an edge")))
        };
        match why {
            Inside::Apart(witness) => {
                seen.inside_apart += 1;
                let ends = arms(witness)?.map(|e| self.graph.target(e));
                ensure(ends[0] != ends[1] && !owned(ends[0]) && !owned(ends[1]), || {
                    format!("the arms end at {ends:?}")
                })
            }
            Inside::EntersApart(inner, witness) => {
                seen.inside_entered += 1;
                let last = arms(witness)?;
                let nodes = self.names.nodes(*inner);
                let enters = |&e: &EdgeId| {
                    !nodes.contains(&self.graph.source(e)) && nodes.contains(&self.graph.target(e))
                };
                ensure(last.iter().all(enters) && !nodes.contains(&branch), || "no other cycle".into())?;
                ensure(self.graph.target(last[0]) != self.graph.target(last[1]), || "by one entry".into())
            }
            Inside::NotLookedInto(inner) => {
                seen.not_looked_into += 1;
                let nodes = self.names.nodes(*inner);
                let other = !nodes.contains(&branch) && nodes.iter().all(|&n| owned(n));
                ensure(other && !self.is_reducible(*inner), || "it is a cycle to look into".into())
            }
            Inside::TooDeep => ensure(self.is_reducible(cycle) && self.names.depth(cycle) > 4, || {
                "the cycle is not nested deep".into()
            }),
        }
    }

    /// The paths as walks along edges that start apart: where a step leaves the way open, a shortest one.
    fn walks(&self, split: Split, witness: &Witness) -> Result<[Vec<EdgeId>; 2], String> {
        let [a, b] = &witness.paths;
        let walks = [self.walk(a)?, self.walk(b)?];
        for walk in &walks {
            let first = *walk.first().ok_or("an empty path")?;
            let starts = match split {
                Split::Branch(n) => self.graph.source(first) == n,
                Split::Cycle(c) => {
                    let inside = |n: Node| self.names.nodes(c).contains(&n);
                    inside(self.graph.source(first)) && !inside(self.graph.target(first))
                }
            };
            ensure(starts, || format!("a path starts with {first}, not at {split:?}"))?;
        }
        ensure(walks[0][0] != walks[1][0], || "the paths start along the same edge".into())?;
        Ok(walks)
    }

    fn walk(&self, path: &[Step]) -> Result<Vec<EdgeId>, String> {
        let mut walk: Vec<EdgeId> = Vec::new();
        for (i, step) in path.iter().enumerate() {
            let at = walk.last().map(|&e| self.graph.target(e));
            match *step {
                Step::Edge(e) => {
                    ensure(at.is_none_or(|n| n == self.graph.source(e)), || {
                        format!("{path:?} breaks at step {i}")
                    })?;
                    walk.push(e);
                }
                Step::Round(c) | Step::Through(c) => {
                    let inside = |n: Node| self.names.nodes(c).contains(&n);
                    let Some(&Step::Edge(exit)) = path.get(i + 1) else {
                        return Err(format!("{path:?} ends in a cycle"));
                    };
                    let (from, to) = (at.ok_or("a path starts in a cycle")?, self.graph.source(exit));
                    let is_header = self.names.header(c) == from && self.is_reducible(c);
                    ensure(is_header || matches!(step, Step::Through(_)), || {
                        format!("{from} is not the entry of {c:?}")
                    })?;
                    ensure(inside(from) && inside(to) && !inside(self.graph.target(exit)), || {
                        format!("{exit} does not leave {c:?}")
                    })?;
                    let way = self.shortest(from, to, inside).ok_or("no way through a cycle")?;
                    walk.extend(way);
                }
            }
        }
        Ok(walk)
    }

    fn shortest(&self, from: Node, to: Node, inside: impl Fn(Node) -> bool) -> Option<Vec<EdgeId>> {
        let mut by: Vec<Option<EdgeId>> = vec![None; self.graph.node_count()];
        let mut queue = VecDeque::from([from]);
        while let Some(n) = queue.pop_front() {
            if n == to {
                break;
            }
            for &e in self.graph.out_edges(n) {
                let t = self.graph.target(e);
                if inside(t) && t != from && by[t.index()].is_none() {
                    by[t.index()] = Some(e);
                    queue.push_back(t);
                }
            }
        }
        let mut way = Vec::new();
        let mut at = to;
        while at != from {
            let e = by[at.index()]?;
            way.push(e);
            at = self.graph.source(e);
        }
        way.reverse();
        Some(way)
    }

    /// The tag that a split is looked at with: each cycle around it in its second iteration.
    fn start_tag(&self, tags: &Tags, node: Node) -> Tag {
        tags.every(node, 2)
    }

    /// The instances that walks arrive at, one for each edge.
    fn instances(&self, tags: &Tags, walks: &[Vec<EdgeId>; 2]) -> [Vec<Instance>; 2] {
        walks.each_ref().map(|walk| {
            let mut tag = self.start_tag(tags, self.graph.source(walk[0]));
            let mut passed = Vec::new();
            for &e in walk {
                tag = tags.step(&tag, self.graph.source(e), self.graph.target(e));
                passed.push((self.graph.target(e), tag.clone()));
            }
            passed
        })
    }
}

/// How a value is used.
#[derive(Clone, Copy)]
enum Use {
    At(Node),
    On(EdgeId),
}

fn paths(evidence: &Evidence) -> Result<&Witness, String> {
    match evidence {
        Evidence::Paths(witness) => Ok(witness),
        other => Err(format!("no paths but {other:?}")),
    }
}

fn disjoint(a: &[Instance], b: &[Instance]) -> Result<(), String> {
    let common = a.iter().find(|i| b.contains(i));
    ensure(common.is_none(), || format!("both paths pass {common:?}"))
}
