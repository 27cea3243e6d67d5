//! What other analyses know of a program (paper 1, Section 6.2 and Figure 3).
//!
//! A fact holds in every execution of its own; it does not compare executions. The result then speaks of the
//! executions in which all facts hold: in the paper's words, both concretizations are intersected. Whoever states a
//! fact vouches for it. The notions are those of paper 1, Section 6.2.
//!
//! # A reduction before the engine
//!
//! The engine knows nothing of facts. It is given another program that does the same wherever they hold:
//!
//! * *Dead edges* stand in no list of the graph, and φs have no operands on them. So a branch with one edge left is
//!   uniform, and nodes that nothing leads to any more have no influence. See below for when they stay.
//! * *Constants* are there from the start, like arguments. They depend on nothing and change in no cycle, not even in
//!   one that is given up.
//! * *Equalities* let a use of one value be taken for a use of the other. If `a` and `b` are equal on an edge, they
//!   are so wherever φs take operands on it, and at nodes that its target dominates, if no other live edge leads
//!   there and control does not begin there: between the edge and such a node neither is computed anew, since both
//!   are defined where they dominate the edge.
//!
//! Which of two equal values helps is known only from a result. So the program is solved, and each use that is
//! divergent there and equal to a value that is not is replaced by a use of that value; likewise a φ in a join keeps
//! one operand where two are equal. This is repeated until there is nothing to replace or [`ROUNDS`] are over. Each
//! round is sound by itself, and nothing that was uniform becomes divergent: every user of a replaced use was
//! divergent.
//!
//! # Dead edges that stay
//!
//! Instances are counted in the cycles of the whole graph, since whoever acts on the result may keep the dead edges.
//! A node that no longer leads back into a cycle when they are gone is behind the cycle, so that threads from all
//! iterations would be taken to execute it together; in the whole graph they execute different instances, and what
//! they load there may differ. So dead edges leave the graph only if each node that is still reached is in as many
//! cycles as before, and no irreducible cycle has lost an edge inside or into it. (Cycles of a part of a reducible
//! graph have headers of cycles of the whole, so that they are the same if they are as many.) Otherwise paths along
//! dead edges count, which costs precision only; branches with one live edge are uniform and φs have no operands on
//! dead edges all the same.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::workspace::{Task, Workspace};
use super::{Algorithm, Cause, Fact, GivenUp, Rule, SsaProgram, Uniformity, Value, clock, engine};
use crate::bitset::BitSet;
use crate::cycles::CycleForest;
use crate::dom::DomTree;
use crate::graph::{CsrGraph, EdgeId, Graph, Node};
use crate::joins::Split;
use crate::limits::Limits;
use crate::order::DfsOrder;
use crate::program_error::ProgramError;

/// How often a program is solved at most. Chains of equalities of which one makes the next of use are rarely longer.
pub const ROUNDS: usize = 16;

/// Among how many equal values one that helps is looked for.
const MANY: usize = 64;

/// Collects facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    dead_edges: Vec<EdgeId>,
    constants: Vec<Value>,
    equal_on: Vec<(EdgeId, Value, Value)>,
}

/// A fact that another analysis contributed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum KnownFact {
    /// The edge is never taken.
    DeadEdge(EdgeId),
    /// The value is one and the same whenever it is computed.
    Constant(Value),
    /// The values are equal whenever the edge is taken.
    EqualOn(EdgeId, Value, Value),
}

/// Why facts do not fit a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FactError {
    /// A fact speaks of an edge that the graph does not have.
    NoSuchEdge {
        /// The edge.
        edge: EdgeId,
    },
    /// A fact speaks of a value that was never declared.
    NoSuchValue {
        /// The value.
        value: Value,
    },
    /// The graph is not the one that the program was built over.
    OtherGraph,
}

impl fmt::Display for FactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FactError::NoSuchEdge { edge } => {
                write!(f, "{edge}, of which a fact speaks, is not an edge of the graph")
            }
            FactError::NoSuchValue { value } => {
                write!(f, "{value}, of which a fact speaks, was never declared")
            }
            FactError::OtherGraph => ProgramError::OtherGraph.fmt(f),
        }
    }
}

impl core::error::Error for FactError {}

impl Facts {
    /// Nothing is known. O(1).
    pub fn none() -> Self {
        Facts::default()
    }

    /// `edge` is never taken (Figure 3b). O(1).
    #[must_use]
    pub fn dead_edge(mut self, edge: EdgeId) -> Self {
        self.dead_edges.push(edge);
        self
    }

    /// Whenever `value` is computed, it is one and the same, in all threads, and never undefined (Figure 3a).
    /// O(1).
    #[must_use]
    pub fn constant(mut self, value: Value) -> Self {
        self.constants.push(value);
        self
    }

    /// Whenever control takes `edge`, `a` and `b` are equal (Figure 3c). Which of them is known to be uniform does
    /// not matter. Undefined values are equal to nothing. Where the definition of one does not dominate the edge, the
    /// fact is not used. That a value is constant behind an edge is said with an argument that stands for the
    /// constant. O(1).
    #[must_use]
    pub fn equal_on(mut self, edge: EdgeId, a: Value, b: Value) -> Self {
        self.equal_on.push((edge, a, b));
        self
    }

    /// Whether nothing is known. O(1).
    pub fn is_empty(&self) -> bool {
        self.dead_edges.is_empty() && self.constants.is_empty() && self.equal_on.is_empty()
    }

    /// The edges that are never taken. O(1).
    pub fn dead_edges(&self) -> &[EdgeId] {
        &self.dead_edges
    }

    /// The values that are constant. O(1).
    pub fn constants(&self) -> &[Value] {
        &self.constants
    }

    /// Pairs of values that are equal on edges. O(1).
    pub fn equalities(&self) -> &[(EdgeId, Value, Value)] {
        &self.equal_on
    }

    /// Whether all edges and values exist. Linear in the facts.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check<G: Graph>(&self, graph: &G, program: &SsaProgram) -> Result<(), FactError> {
        let edge = |edge: EdgeId| match edge.index() < graph.edge_count() {
            true => Ok(()),
            false => Err(FactError::NoSuchEdge { edge }),
        };
        let value = |value: Value| match value.index() < program.value_count() {
            true => Ok(()),
            false => Err(FactError::NoSuchValue { value }),
        };
        self.dead_edges.iter().try_for_each(|&e| edge(e))?;
        self.constants.iter().try_for_each(|&v| value(v))?;
        for &(e, a, b) in &self.equal_on {
            edge(e)?;
            value(a)?;
            value(b)?;
        }
        Ok(())
    }
}

/// Where a value is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Node(Node),
    Edge(EdgeId),
}

/// Who has a use that was replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum User {
    Value(Value),
    Branch(Node),
}

/// An equality, as one of the two values sees it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Equal {
    value: Value,
    edge: EdgeId,
    other: Value,
}

impl Equal {
    fn fact(self) -> KnownFact {
        KnownFact::EqualOn(self.edge, self.value.min(self.other), self.value.max(self.other))
    }
}

/// Where equalities hold. Each is listed both ways round.
#[derive(Clone, Debug, Default)]
struct Equalities {
    /// By value and edge.
    on: Vec<Equal>,
    /// By value, and by the first of the nodes behind the edge: those from one number to another (not included) in the
    /// dominator tree.
    behind: Vec<(Equal, u32, u32)>,
    /// For each of these, the last one before it that is of the same value and holds wherever it does.
    around: Vec<Option<u32>>,
}

impl Equalities {
    fn new(mut on: Vec<Equal>, behind: impl Fn(EdgeId) -> Option<(u32, u32)>) -> Equalities {
        on.sort_unstable();
        on.dedup();
        let mut spans: Vec<(Equal, u32, u32)> =
            on.iter().filter_map(|&q| behind(q.edge).map(|(first, end)| (q, first, end))).collect();
        spans.sort_unstable_by_key(|&(q, first, _)| (q.value, first, q));
        // Subtrees are nested or disjoint.
        let (mut around, mut open) = (Vec::with_capacity(spans.len()), Vec::<u32>::new());
        for (i, &(q, first, _)) in spans.iter().enumerate() {
            let ends = |&o: &u32| {
                let (outer, _, end) = spans[o as usize];
                outer.value != q.value || end <= first
            };
            while open.last().is_some_and(ends) {
                open.pop();
            }
            around.push(open.last().copied());
            open.push(i as u32);
        }
        Equalities { on, behind: spans, around }
    }

    /// What a value equals on an edge, for itself.
    fn on(&self, value: Value, edge: EdgeId) -> impl Iterator<Item = Equal> + '_ {
        let first = self.on.partition_point(|q| (q.value, q.edge) < (value, edge));
        self.on[first..].iter().copied().take_while(move |q| (q.value, q.edge) == (value, edge))
    }

    /// What a value equals at the node with a number in the dominator tree, the innermost region first.
    fn behind(&self, value: Value, number: u32) -> impl Iterator<Item = Equal> + '_ {
        let before = self.behind.partition_point(|&(q, first, _)| (q.value, first) <= (value, number));
        let last = before.checked_sub(1).filter(|&i| self.behind[i].0.value == value).map(|i| i as u32);
        let chain = core::iter::successors(last, |&i| self.around[i as usize]);
        chain.map(|i| self.behind[i as usize]).filter(move |&(_, _, end)| number < end).map(|(q, _, _)| q)
    }
}

/// A use that was replaced.
#[derive(Clone, Copy, Debug)]
struct Replaced {
    user: User,
    operand: Value,
    by: KnownFact,
}

/// The program that the engine was given, and what became of the facts.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) graph: CsrGraph,
    program: SsaProgram,
    dom: DomTree,
    equal: Equalities,
    dead: BitSet,
    /// The nodes to which nothing leads without dead edges.
    cut_off: BitSet,
    used: Vec<KnownFact>,
    replaced: Vec<Replaced>,
}

pub(super) fn compute<G: Graph>(
    graph: &G,
    program: &SsaProgram,
    facts: &Facts,
    algorithm: Algorithm,
    limits: &Limits,
) -> Result<Uniformity, FactError> {
    program.check_graph(graph).map_err(|_| FactError::OtherGraph)?;
    facts.check(graph, program)?;
    let (clock, workspace) = (&mut clock::NoClock, &mut Workspace::default());
    if facts.is_empty() {
        return Ok(engine::run_on(graph, program, Task { algorithm, limits, clock, workspace }));
    }
    let live = Live::new(graph, facts);
    let whole = CsrGraph::copy_of(graph);
    let whole_dfs = DfsOrder::compute(&whole);
    let whole_cycles = CycleForest::compute_with(&whole, &whole_dfs);
    let (analysed, dfs, cycles) = match live.has_the_instances_of(&whole, &whole_dfs, &whole_cycles) {
        true => (live.graph.clone(), live.dfs.clone(), live.cycles.clone()),
        false => (whole, whole_dfs, whole_cycles),
    };
    let mut known = Known::new(analysed, &dfs, &cycles, &live, program, facts);
    let mut round = 1;
    loop {
        let cycles = cycles.clone();
        let task = Task { algorithm, limits, clock: &mut *clock, workspace: &mut *workspace };
        let result = engine::run(&known.graph, &dfs, cycles, &known.program, task);
        if round == ROUNDS || !known.replace(&dfs, &result) {
            known.used.sort_unstable();
            known.used.dedup();
            return Ok(Uniformity { known: Some(Box::new(known)), ..result });
        }
        // An operand that takes the place of another may change in more cycles; its user does not.
        workspace.changing = Some(result.changing);
        round += 1;
    }
}

/// The graph without dead edges.
struct Live {
    graph: CsrGraph,
    dfs: DfsOrder,
    cycles: CycleForest,
}

impl Live {
    fn new<G: Graph>(graph: &G, facts: &Facts) -> Live {
        let graph = CsrGraph::without(graph, facts.dead_edges.iter().copied());
        let dfs = DfsOrder::compute(&graph);
        let cycles = CycleForest::compute_with(&graph, &dfs);
        Live { graph, dfs, cycles }
    }

    /// Whether some thread may take an edge.
    fn takes(&self, edge: EdgeId) -> bool {
        !self.graph.is_left_out(edge) && self.dfs.is_reachable(self.graph.source(edge))
    }

    /// Whether executions are told apart in this graph as in the whole one.
    fn has_the_instances_of(&self, whole: &CsrGraph, dfs: &DfsOrder, cycles: &CycleForest) -> bool {
        let is_lost = |e: &EdgeId| {
            dfs.is_reachable(whole.source(*e)) && !self.takes(*e) && self.dfs.is_reachable(whole.target(*e))
        };
        let irreducible = |n: Node| cycles.around(n).any(|c| !cycles.is_reducible(c));
        self.dfs.pre_order().iter().all(|&n| self.cycles.node_depth(n) == cycles.node_depth(n))
            && whole.edges().filter(is_lost).all(|e| !irreducible(whole.target(e)))
    }
}

impl Known {
    fn new(
        graph: CsrGraph,
        dfs: &DfsOrder,
        cycles: &CycleForest,
        live: &Live,
        program: &SsaProgram,
        facts: &Facts,
    ) -> Known {
        let mut constants = BitSet::new(program.value_count());
        facts.constants.iter().for_each(|v| _ = constants.insert(v.index()));
        let takes = |e: EdgeId| live.takes(e);
        let mut never_taken = BitSet::default();
        if !facts.dead_edges.is_empty() {
            never_taken = BitSet::new(graph.edge_count());
            let edges = (0..graph.edge_count()).filter(|&e| !takes(EdgeId::new(e)));
            edges.for_each(|e| _ = never_taken.insert(e));
        }
        let mut reduced = program.reduced(|v| constants.contains(v.index()), never_taken);
        if !facts.dead_edges.is_empty() {
            let parts = |n: Node| live.dfs.is_reachable(n) && live.graph.out_edges(n).len() > 1;
            reduced.keep_terminators(parts);
        }
        let dom = DomTree::compute_with(&graph, dfs);
        let mut used: Vec<KnownFact> = Vec::new();
        let dead = facts.dead_edges.iter().filter(|&&e| live.dfs.is_reachable(graph.source(e)));
        used.extend(dead.map(|&e| KnownFact::DeadEdge(e)));
        let says_more = |v: Value| match program.node(v) {
            None => program.rule(v) == Rule::Source,
            Some(n) if !live.dfs.is_reachable(n) => false,
            Some(n) => {
                program.rule(v) == Rule::Source
                    || program.operands(v).len() > 0
                    || cycles.innermost(n).is_some()
            }
        };
        let constant = facts.constants.iter().filter(|&&v| says_more(v));
        used.extend(constant.map(|&v| KnownFact::Constant(v)));
        // Where a constant is computed matters all the same: before, nothing is known of what equals it.
        let exists = |v, at| program.node(v).is_none_or(|n| dom.dominates(n, at));
        let both =
            |&(e, a, b): &(EdgeId, Value, Value)| exists(a, graph.source(e)) && exists(b, graph.source(e));
        let valid = facts.equal_on.iter().copied().filter(|&(e, a, b)| a != b && takes(e)).filter(both);
        let ways = valid.flat_map(|(edge, a, b)| {
            [Equal { value: a, edge, other: b }, Equal { value: b, edge, other: a }]
        });
        let equal = Equalities::new(ways.collect(), |edge| {
            let target = graph.target(edge);
            let alone = graph.in_edges(target).iter().all(|&e| e == edge || !takes(e));
            let first = dom.pre_number(target).filter(|_| alone && target != graph.entry())?;
            Some((first as u32, (first + dom.subtree(target).len()) as u32))
        });
        let mut cut_off = BitSet::new(graph.node_count());
        if !facts.dead_edges.is_empty() {
            graph.nodes().filter(|&n| !live.dfs.is_reachable(n)).for_each(|n| _ = cut_off.insert(n.index()));
        }
        let mut dead = BitSet::new(graph.edge_count());
        facts.dead_edges.iter().for_each(|e| _ = dead.insert(e.index()));
        Known { program: reduced, dom, equal, dead, cut_off, used, replaced: Vec::new(), graph }
    }

    /// Whether no thread comes to a place for its facts.
    pub(super) fn is_dead(&self, place: Place) -> bool {
        match place {
            Place::Node(node) => self.cut_off.contains(node.index()),
            Place::Edge(edge) => {
                self.dead.contains(edge.index()) || self.cut_off.contains(self.graph.source(edge).index())
            }
        }
    }

    /// What a value equals at a place.
    fn equal(&self, value: Value, place: Place) -> impl Iterator<Item = Equal> + '_ {
        let (node, edge) = match place {
            Place::Node(node) => (node, None),
            Place::Edge(edge) => (self.graph.source(edge), Some(edge)),
        };
        let on = edge.into_iter().flat_map(move |e| self.equal.on(value, e));
        let number = self.dom.pre_number(node).map(|n| n as u32);
        on.chain(number.into_iter().flat_map(move |n| self.equal.behind(value, n)))
    }

    /// The nearest of the values that a value equals at a place, along one or more equalities, for which `is_it` holds,
    /// with the equalities.
    fn nearest_equal(
        &self,
        value: Value,
        place: Place,
        is_it: impl Fn(Value) -> bool,
    ) -> Option<(Value, Vec<KnownFact>)> {
        // Each with the position of the one before it, and the equality between.
        let mut found: Vec<(Value, usize, Option<Equal>)> = vec![(value, 0, None)];
        let mut at = 0;
        while let Some(&(v, _, _)) = found.get(at).filter(|_| found.len() <= MANY) {
            for q in self.equal(v, place) {
                if found.iter().any(|f| f.0 == q.other) {
                    continue;
                }
                found.push((q.other, at, Some(q)));
                if is_it(q.other) {
                    let mut facts = Vec::new();
                    let mut i = found.len() - 1;
                    while let (_, before, Some(q)) = found[i] {
                        facts.push(q.fact());
                        i = before;
                    }
                    return Some((q.other, facts));
                }
            }
            at += 1;
        }
        None
    }

    /// Replaces what of the uses that are divergent in `result` can be; says whether there was any.
    fn replace(&mut self, dfs: &DfsOrder, result: &Uniformity) -> bool {
        if self.equal.on.is_empty() {
            return false;
        }
        let before = self.replaced.len();
        let follows = |v: &Value| self.program.rule(*v) == Rule::Default && result.is_divergent(*v);
        let reachable = |v: &Value| self.program.node(*v).is_some_and(|n| dfs.is_reachable(n));
        let values: Vec<Value> = self.program.values().filter(reachable).filter(follows).collect();
        for v in values {
            self.replace_operands(v, result);
        }
        for &node in dfs.pre_order().iter().filter(|&&n| result.branch_cause(n).is_some()) {
            for i in 0..self.program.terminator(node).len() {
                let operand = self.program.terminator(node)[i];
                let place = Place::Node(node);
                if let Some((by, facts)) = self.better(result, operand, place) {
                    self.program.replace_in_terminator(node, i, by);
                    self.note(User::Branch(node), operand, &facts);
                }
            }
        }
        self.replaced.len() > before
    }

    /// The same for the operands of one value, which is divergent.
    fn replace_operands(&mut self, user: Value, result: &Uniformity) {
        let Some(node) = self.program.node(user) else { return };
        let operands: Vec<(Value, Option<EdgeId>)> = self.program.operands(user).collect();
        for (i, (operand, edge)) in operands.into_iter().enumerate() {
            let place = edge.map_or(Place::Node(node), Place::Edge);
            let by = self.better(result, operand, place).or_else(|| {
                // Of two operands of a φ that are equal where one is taken, the other is taken there as well.
                let others: Vec<Value> = self.program.operands(user).map(|(o, _)| o).collect();
                let uniform = |v| !result.sees_apart(&self.graph, v, place);
                let is_phi = self.program.is_phi(user) && uniform(operand);
                let same = |v: Value| v != operand && others.contains(&v) && uniform(v);
                is_phi.then(|| self.nearest_equal(operand, place, same)).flatten()
            });
            if let Some((by, facts)) = by {
                self.program.replace_operand(user, i, by);
                self.note(User::Value(user), operand, &facts);
            }
        }
    }

    /// What to take in place of a divergent use.
    fn better(&self, result: &Uniformity, operand: Value, place: Place) -> Option<(Value, Vec<KnownFact>)> {
        let apart = |v| result.sees_apart(&self.graph, v, place);
        (self.equal(operand, place).next().is_some() && apart(operand))
            .then(|| self.nearest_equal(operand, place, |v| !apart(v)))
            .flatten()
    }

    fn note(&mut self, user: User, operand: Value, facts: &[KnownFact]) {
        self.used.extend(facts);
        self.replaced.extend(facts.iter().map(|&by| Replaced { user, operand, by }));
    }

    /// The equalities for which a use was replaced, or one that the use has got since.
    fn replaced(&self, user: User, operand: Option<Value>) -> Vec<KnownFact> {
        let own = self.replaced.iter().filter(|r| r.user == user);
        own.filter(|r| operand.is_none_or(|o| r.operand == o)).map(|r| r.by).collect()
    }
}

/// Why something is uniform that is divergent without facts: what would make it divergent, up to where that breaks off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UniformBecause {
    /// The first facts of the chain of causes that there is without the facts of other analyses: those that are no
    /// longer true.
    pub gone: Vec<Fact>,
    /// The facts of other analyses for which the last of them is not true. Where that cannot be said of single ones,
    /// all that it can be: the dead edges for what needs paths, and all facts for what may change in fewer cycles.
    pub by: Vec<KnownFact>,
}

impl Uniformity {
    /// The graph and the program of which this is the result, given those for which it was asked: mostly without dead
    /// edges, and with uses replaced, if there were [`facts`](Self::compute_with_facts); otherwise the same. Causes
    /// and cycles speak of these. O(1).
    pub fn analysed<'a>(
        &'a self,
        graph: &'a CsrGraph,
        program: &'a SsaProgram,
    ) -> (&'a CsrGraph, &'a SsaProgram) {
        self.known.as_ref().map_or((graph, program), |known| (&known.graph, &known.program))
    }

    /// Whether facts say that control never comes to a node. Nothing that is said of it matters. O(1).
    pub fn is_never_reached(&self, node: Node) -> bool {
        self.known.as_ref().is_some_and(|known| known.is_dead(Place::Node(node)))
    }

    /// Whether facts say that control never takes an edge. O(1).
    pub fn is_never_taken(&self, edge: EdgeId) -> bool {
        self.known.as_ref().is_some_and(|known| known.is_dead(Place::Edge(edge)))
    }

    /// The facts of other analyses that changed something, in order: dead edges that could have been reached, constants
    /// that would have depended on something or changed in a cycle, equalities for which a use was replaced.
    /// O(1).
    pub fn used_facts(&self) -> &[KnownFact] {
        self.known.as_ref().map_or(&[], |known| &known.used)
    }

    /// A value that is uniform at a place and that a divergent one is known to be equal to there, with the equalities
    /// that say so.
    pub(super) fn uniform_equal<G: Graph>(
        &self,
        graph: &G,
        value: Value,
        place: Place,
    ) -> Option<(Value, Vec<KnownFact>)> {
        let apart = |v| self.is_divergent(v) || self.leaves_apart(graph, v, place).is_some();
        self.known.as_ref()?.nearest_equal(value, place, |v| !apart(v))
    }

    /// The equalities for which a use of a divergent value at `node` is uniform: of which one follows from the next,
    /// and the last one's other value is uniform. Empty if the use is not uniform for that.
    /// Linear in the equalities that hold there, up to a limit.
    pub fn equal_at<G: Graph>(&self, graph: &G, value: Value, node: Node) -> Vec<KnownFact> {
        self.equalities(graph, value, Place::Node(node))
    }

    /// The same for a use on `edge`. Linear in the equalities that hold there, up to a limit.
    pub fn equal_on<G: Graph>(&self, graph: &G, value: Value, edge: EdgeId) -> Vec<KnownFact> {
        self.equalities(graph, value, Place::Edge(edge))
    }

    fn equalities<G: Graph>(&self, graph: &G, value: Value, place: Place) -> Vec<KnownFact> {
        let apart = self.is_divergent(value) || self.leaves_apart(graph, value, place).is_some();
        let equal = apart.then(|| self.uniform_equal(graph, value, place)).flatten();
        let mut facts = equal.map_or(Vec::new(), |(_, facts)| facts);
        facts.reverse();
        facts
    }

    /// Why a value is uniform that is divergent in `without`, the result for the same program without facts. None if
    /// it is divergent here or uniform there. Linear in the chain of causes and in the facts.
    pub fn why_uniform(&self, without: &Uniformity, value: Value) -> Option<UniformBecause> {
        (!self.is_divergent(value)).then(|| self.because(without.explain(value), without)).flatten()
    }

    /// The same for a branch. Linear in the chain of causes and in the facts.
    pub fn why_uniform_branch(&self, without: &Uniformity, node: Node) -> Option<UniformBecause> {
        let divergent = self.branch_cause(node).is_some();
        (!divergent).then(|| self.because(without.explain_branch(node), without)).flatten()
    }

    fn because(&self, chain: Vec<Fact>, without: &Uniformity) -> Option<UniformBecause> {
        let known = self.known.as_ref()?;
        let gone: Vec<Fact> = chain.into_iter().take_while(|&f| !self.still_holds(f, without)).collect();
        // Only what changed something is a reason: a value may be constant in a loop that dead edges have undone.
        let used = |fact: KnownFact| known.used.binary_search(&fact).is_ok().then_some(fact);
        let constant = |v: Value| used(KnownFact::Constant(v));
        // Who uses an operand has it replaced, or the operand is constant.
        let use_of = |user: User, o: Value| constant(o).map_or(known.replaced(user, Some(o)), |c| vec![c]);
        let last = *gone.last()?;
        let at_once = match last {
            Fact::Value(v, _) if constant(v).is_some() => constant(v).into_iter().collect(),
            Fact::Value(v, Cause::Operand(o) | Cause::Temporal { operand: o, .. }) => {
                use_of(User::Value(v), o)
            }
            Fact::Branch(n, Cause::Operand(o) | Cause::Temporal { operand: o, .. }) => {
                use_of(User::Branch(n), o)
            }
            Fact::Value(v, _) => known.replaced(User::Value(v), None),
            Fact::DivergentExit(_, exit, _) => used(KnownFact::DeadEdge(exit)).into_iter().collect(),
            Fact::Branch(..) | Fact::GivenUp(..) | Fact::LeftApart(..) => Vec::new(),
        };
        // These say of a value that it may change.
        let changes = match last {
            Fact::Value(_, cause) | Fact::Branch(_, cause) => {
                matches!(cause, Cause::Temporal { .. } | Cause::GivenUp(_))
            }
            Fact::DivergentExit(..) | Fact::GivenUp(..) | Fact::LeftApart(..) => false,
        };
        let is_candidate = |f: &KnownFact| changes || matches!(f, KnownFact::DeadEdge(_));
        let by = match at_once.is_empty() {
            true => known.used.iter().copied().filter(is_candidate).collect(),
            false => at_once,
        };
        Some(UniformBecause { gone, by })
    }

    /// Whether what was found without facts is found here. Cycles have other numbers here; they are told by their
    /// headers.
    fn still_holds(&self, fact: Fact, without: &Uniformity) -> bool {
        let headed = |c| {
            let header = without.cycles.header(c);
            self.cycles.around(header).find(move |&own| self.cycles.header(own) == header)
        };
        match fact {
            Fact::Value(v, _) => self.is_divergent(v),
            Fact::Branch(n, _) => self.branch_cause(n).is_some(),
            Fact::DivergentExit(c, exit, _) => headed(c).is_some_and(|c| self.is_divergent_exit(c, exit)),
            Fact::LeftApart(c, _) => headed(c).is_some_and(|c| self.left_at_random(c).is_some()),
            Fact::GivenUp(
                c,
                GivenUp::BranchInside(_) | GivenUp::EnteredApart(Split::Branch(_) | Split::Cycle(_)),
            ) => self.cycles.around(without.cycles.header(c)).any(|c| self.given_up(c).is_some()),
        }
    }
}
