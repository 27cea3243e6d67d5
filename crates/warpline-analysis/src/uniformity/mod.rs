//! Which values and branches are uniform, which divergent, and why.
//!
//! # What the answers mean
//!
//! A number of threads start together at the entry with equal uniform arguments. An *instance* of a node is an
//! execution of it by a thread, told apart by how often the header of each cycle around the node has been executed
//! since the cycle was entered. Executions of one instance by different threads are *converged*: this is the
//! maximal converged-with relation of paper 2 (*Convergence And Uniformity*) and, for reducible graphs, the
//! equality of tags of paper 1 (Section 3.2). On irreducible graphs the relation depends on which nodes are taken as
//! headers; results hold for every choice.
//!
//! * A value is *uniform* if all threads that execute an instance of its definition get the same.
//! * A *use* of a value at a node outside a cycle that contains its definition is uniform if all threads that execute
//!   an instance of the user see the same, which is more: threads that left the cycle in different iterations see
//!   results of different instances (*temporal divergence*). See [`Uniformity::is_divergent_at`] and
//!   [`Uniformity::is_divergent_on`]. Values that depend on such a use are divergent themselves.
//! * A branch is *uniform* if all threads that execute an instance of it take the same edge.
//!
//! "Divergent" means that uniformity was not shown. Threads that do not execute an instance have no say in
//! it: a uniform value may still not exist in some of them.
//!
//! # How they are found
//!
//! Divergence spreads from the sources along operands. A branch that turns divergent adds facts from its
//! [joins](crate::joins):
//!
//! * A φ in a join is divergent if threads can arrive on two in-edges with different operands. (Paper 1, Definition
//!   4.7, makes every variable divergent that is not the same on all of the in-edges; here only those count on which
//!   the paths from the branch arrive with different labels. An undefined operand is no operand.)
//! * A cycle gets *divergent exits*. Of the values that are defined in it (and may change in its iterations)
//!   the uses outside that can be reached from a divergent exit without going through the cycle again are
//!   temporally divergent. Other exits do no harm. This holds for each of several cycles that an edge leaves, and
//!   for always-uniform values as well.
//! * An irreducible cycle is *given up* if threads can arrive at different entries of it, or part at a branch inside
//!   it and do not come together again before they pass a node that the branch does not strictly dominate: every
//!   value in it that may change in it is taken for divergent, uses outside for temporally divergent, and its exits
//!   for the edges of one divergent branch. (Paper 2 has about the same criteria, but applies them to the cycles of one
//!   hierarchy; here it is the smallest cycle that suffices and is a cycle in every hierarchy, at most the outermost
//!   irreducible one.) The same is done with the inner cycles of nests that very many edges leave across very many
//!   levels, to bound the cost.
//!
//! Unreachable nodes have no influence: their branches are uniform, φ operands on edges from them are
//! ignored. Values in them follow their operands.
//!
//! Soundness for reducible graphs is paper 1's Theorem 4.8 together with the temporal rule for uses, which in
//! the paper is part of the join at the loop's exit.
//!
//! Every fact keeps the cause by which it was first derived. A cause refers to facts that were derived
//! earlier, so chains of causes end at a source.

mod algorithm;
#[cfg(feature = "baselines")]
mod baselines;
mod clock;
mod described;
mod engine;
mod evidence;
pub mod facts;
mod program;
mod tables;
#[cfg(feature = "baselines")]
mod times;
mod workspace;

pub use crate::program_error::ProgramError;
pub use algorithm::Algorithm;
pub use described::{Meaning, Origin};
pub use evidence::{Evidence, Explainer, Link};
pub use facts::{FactError, Facts, KnownFact, UniformBecause};
pub use program::{Rule, SsaBuilder, SsaProgram, Value};
#[cfg(feature = "baselines")]
pub use times::Times;
pub use workspace::Workspace;

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::bitset::BitSet;
use crate::cycles::{CycleForest, CycleId};
use crate::graph::{EdgeId, Graph, Lists, Node};
use crate::joins::Split;
use crate::limits::Limits;
use crate::order::DfsOrder;
use facts::{Known, Place};
use workspace::Task;

/// Why a value or a branch is divergent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Cause {
    /// Its rule says so.
    Source,
    /// This operand is divergent.
    Operand(Value),
    /// This operand is uniform where it is defined, but threads leave the cycle around its definition in different
    /// iterations, by the given exit or (if none is given) because the cycle was given up.
    Temporal {
        /// The operand.
        operand: Value,
        /// the divergent cycle.
        cycle: CycleId,
        /// The edge on which they leave it. Also none with [`Algorithm::PostDom`], which does not say.
        exit: Option<EdgeId>,
    },
    /// It is a φ in a join: threads that part here arrive on edges with different operands. With
    /// [`Algorithm::PostDom`] also a user of a value from the influence region of this split.
    Join(Split),
    /// It may change in a cycle that was given up.
    GivenUp(CycleId),
}

/// Why a cycle was given up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum GivenUp {
    /// Threads that part here can arrive at different entries.
    EnteredApart(Split),
    /// Threads that part at this branch inside may not come together again in time.
    BranchInside(Node),
}

/// Something that the analysis found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Fact {
    /// The value is divergent.
    Value(Value, Cause),
    /// The branch is divergent. The cause is never [`Cause::Source`], [`Cause::Join`] or [`Cause::GivenUp`].
    Branch(Node, Cause),
    /// Threads leave the cycle by this edge in different iterations, having parted at the split.
    DivergentExit(CycleId, EdgeId, Split),
    /// The cycle was given up.
    GivenUp(CycleId, GivenUp),
    /// Some of the threads that part there leave the irreducible cycle around it, while others stay: the cycle
    /// is left by any exit in any iteration.
    LeftApart(CycleId, Split),
}

/// To which nodes outside a cycle threads come that left it in different iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reach {
    Nowhere,
    /// To these, in increasing order.
    Nodes(Vec<Node>),
    /// To some that were not computed, as nothing asked for them.
    Unknown,
    Everywhere,
}

/// The result of the analysis.
#[derive(Clone, Debug)]
pub struct Uniformity {
    cycles: CycleForest,
    /// By value; empty if no cycle was given up.
    defined_at: Vec<Option<Node>>,
    /// By value, the innermost cycle in which it may change; empty if there are no cycles.
    changing: Vec<Option<CycleId>>,
    divergent: BitSet,
    /// In the order in which facts were derived.
    causes: Vec<Cause>,
    /// By value: 0, or one more than the position of its cause.
    value_cause: Vec<u32>,
    branches: BitSet,
    branch_cause: Vec<u32>,
    exits: Lists<(EdgeId, Split)>,
    reach: Vec<Reach>,
    given_up: Vec<Option<GivenUp>>,
    /// By cycle, where threads part that leave it apart, if that is not said of an exit.
    left_before: Vec<Option<Split>>,
    /// By cycle, the branch at which threads part of which some leave it and others stay.
    left_apart: Vec<Option<Split>>,
    splits: Vec<Split>,
    /// By node: 0, or one more than the position of the split of which it is a join.
    join: Vec<u32>,
    /// What other analyses contributed.
    known: Option<Box<Known>>,
}

/// The item of a list with a number from 1; 0 stands for none.
fn numbered<T: Copy>(list: &[T], number: u32) -> Option<T> {
    list.get((number as usize).checked_sub(1)?).copied()
}

impl Uniformity {
    /// Analyses a program over `graph`.
    ///
    /// This, like what follows, panics if `graph` is not the one that the program was built over;
    /// [`SsaProgram::check_graph`] says whether it is.
    /// Near-linear in graph and program, but for branches that [`Joins`](crate::Joins) has to follow; those by
    /// which very many edges leave very many cycles are bounded by [`Limits`].
    pub fn compute<G: Graph>(graph: &G, program: &SsaProgram) -> Self {
        Self::compute_by(graph, program, Algorithm::Joins)
    }

    /// Analyses a program over `graph`, the order and cycles of which are at hand.
    /// As [`compute`](Self::compute).
    pub fn compute_with<G: Graph>(
        graph: &G,
        dfs: &DfsOrder,
        cycles: CycleForest,
        program: &SsaProgram,
    ) -> Self {
        program.expect_graph(graph);
        let (limits, clock, workspace) = (&Limits::of(graph), &mut clock::NoClock, &mut Workspace::default());
        engine::run(
            graph,
            dfs,
            cycles,
            program,
            Task { algorithm: Algorithm::Joins, limits, clock, workspace },
        )
    }

    /// Analyses a program within given limits. As [`compute`](Self::compute).
    pub fn compute_within<G: Graph>(graph: &G, program: &SsaProgram, limits: &Limits) -> Self {
        let (clock, workspace) = (&mut clock::NoClock, &mut Workspace::default());
        engine::run_on(graph, program, Task { algorithm: Algorithm::Joins, limits, clock, workspace })
    }

    /// Analyses a program of which other analyses know something; see [`facts`]. The same as
    /// [`compute`](Self::compute) if they know nothing.
    /// As [`compute`](Self::compute), [`facts::ROUNDS`] times at most.
    ///
    /// # Errors
    /// If a fact speaks of an edge or a value that does not exist, or the program was built over another graph.
    pub fn compute_with_facts<G: Graph>(
        graph: &G,
        program: &SsaProgram,
        facts: &Facts,
    ) -> Result<Self, FactError> {
        Self::compute_with_facts_by(graph, program, facts, Algorithm::Joins, &Limits::of(graph))
    }

    /// The same by one of the [algorithms](Algorithm), within given limits. As [`compute_by`](Self::compute_by),
    /// [`facts::ROUNDS`] times at most.
    ///
    /// # Errors
    /// As above.
    pub fn compute_with_facts_by<G: Graph>(
        graph: &G,
        program: &SsaProgram,
        facts: &Facts,
        algorithm: Algorithm,
        limits: &Limits,
    ) -> Result<Self, FactError> {
        facts::compute(graph, program, facts, algorithm, limits)
    }

    /// Analyses a program by one of the [algorithms](Algorithm).
    /// As [`compute`](Self::compute) for joins; the baselines are quadratic.
    pub fn compute_by<G: Graph>(graph: &G, program: &SsaProgram, algorithm: Algorithm) -> Self {
        Self::compute_in(graph, program, algorithm, &mut Workspace::default())
    }

    /// [`compute_by`](Self::compute_by) in working memory that is reused: for one function after the other.
    /// As [`compute_by`](Self::compute_by), without new memory once there was a function as large.
    pub fn compute_in<G: Graph>(
        graph: &G,
        program: &SsaProgram,
        algorithm: Algorithm,
        workspace: &mut Workspace,
    ) -> Self {
        let (limits, clock) = (&Limits::of(graph), &mut clock::NoClock);
        engine::run_on(graph, program, Task { algorithm, limits, clock, workspace })
    }

    /// As [`compute_by`](Self::compute_by), with the time that it takes.
    #[cfg(feature = "baselines")]
    pub fn compute_timed<G: Graph>(graph: &G, program: &SsaProgram, algorithm: Algorithm) -> (Self, Times) {
        let (mut times, mut full) = (Times::default(), core::time::Duration::ZERO);
        let (limits, clock, workspace) = (&Limits::of(graph), &mut times, &mut Workspace::default());
        let task = Task { algorithm, limits, clock, workspace };
        let result = times::timed(&mut full, || engine::run_on(graph, program, task));
        (result, Times { full, ..times })
    }

    /// The cycles of the graph. O(1).
    #[inline]
    pub fn cycles(&self) -> &CycleForest {
        &self.cycles
    }

    /// Whether a value is divergent where it is defined. O(1).
    #[inline]
    pub fn is_divergent(&self, value: Value) -> bool {
        self.divergent.contains(value.index())
    }

    /// All values that are divergent where they are defined, by number. O(1).
    pub fn divergent_values(&self) -> &BitSet {
        &self.divergent
    }

    /// Whether threads can take different edges out of a node to different targets. O(1).
    #[inline]
    pub fn is_divergent_branch(&self, node: Node) -> bool {
        self.branches.contains(node.index())
    }

    /// All nodes from which threads can go to different targets, by number. O(1).
    pub fn divergent_branches(&self) -> &BitSet {
        &self.branches
    }

    /// Whether threads that execute an instance of `node` can see different values in `value`, the definition of which
    /// dominates `node`. Takes as many steps as there are cycles around the definition and not around
    /// `node`; a walk through the graph in the rare case that nothing at all used a value outside a cycle
    /// some of whose exits are divergent.
    pub fn is_divergent_at<G: Graph>(&self, graph: &G, value: Value, node: Node) -> bool {
        self.sees_apart(graph, value, Place::Node(node))
    }

    /// Whether threads that take `edge` to an instance of its target can see different values in `value`, the
    /// definition of which dominates the edge's source. This is how a φ uses an operand.
    /// Takes as many steps as [`is_divergent_at`](Self::is_divergent_at).
    pub fn is_divergent_on<G: Graph>(&self, graph: &G, value: Value, edge: EdgeId) -> bool {
        self.sees_apart(graph, value, Place::Edge(edge))
    }

    fn sees_apart<G: Graph>(&self, graph: &G, value: Value, place: Place) -> bool {
        self.expect_graph(graph);
        if self.known.as_ref().is_some_and(|known| known.is_dead(place)) {
            return false;
        }
        let divergent = |v| self.is_divergent(v) || self.leaves_apart(graph, v, place).is_some();
        divergent(value) && self.uniform_equal(graph, value, place).is_none()
    }

    /// A cycle that makes a use of `value` at `node` temporally divergent; the innermost one if there are several.
    /// Takes as many steps as [`is_divergent_at`](Self::is_divergent_at).
    pub fn temporal_at<G: Graph>(&self, graph: &G, value: Value, node: Node) -> Option<CycleId> {
        self.expect_graph(graph);
        let place = Place::Node(node);
        let cycle = self.leaves_apart(graph, value, place)?;
        self.uniform_equal(graph, value, place).is_none().then_some(cycle)
    }

    /// A cycle that makes a use of `value` on `edge` temporally divergent; the innermost one if there are several.
    /// Takes as many steps as [`is_divergent_at`](Self::is_divergent_at).
    pub fn temporal_on<G: Graph>(&self, graph: &G, value: Value, edge: EdgeId) -> Option<CycleId> {
        self.expect_graph(graph);
        let place = Place::Edge(edge);
        let cycle = self.leaves_apart(graph, value, place)?;
        self.uniform_equal(graph, value, place).is_none().then_some(cycle)
    }

    /// Panics if a graph has another number of nodes than the one that was analysed: a look at it all would cost more
    /// than what is asked.
    fn expect_graph<G: Graph>(&self, graph: &G) {
        assert!(self.join.len() == graph.node_count(), "{}", ProgramError::OtherGraph);
    }

    /// Panics if graph or program are not of the size of those that were analysed.
    fn expect_sizes<G: Graph>(&self, graph: &G, program: &SsaProgram) {
        self.expect_graph(graph);
        assert!(self.value_cause.len() == program.value_count(), "another program was analysed");
    }

    /// A cycle that makes a use of `value` temporally divergent, whatever it is known to be equal to.
    fn leaves_apart<G: Graph>(&self, graph: &G, value: Value, place: Place) -> Option<CycleId> {
        if self.known.as_ref().is_some_and(|known| known.is_dead(place)) {
            return None;
        }
        let (node, leaves) = match place {
            Place::Node(node) => (node, self.left(value, node).find(|&c| self.reaches(graph, c, node))),
            Place::Edge(edge) => {
                let (source, target) = (graph.source(edge), graph.target(edge));
                let apart = |&c: &CycleId| match self.cycles.contains(c, source) {
                    true => self.is_divergent_exit(c, edge),
                    false => self.reaches(graph, c, source),
                };
                (target, self.left(value, target).find(apart))
            }
        };
        leaves.or_else(|| self.given_up_with(value, node))
    }

    /// A given-up cycle in which `value` may change and which contains `node`, unless the value is defined there:
    /// threads that are together at `node` need not have been at the definition.
    fn given_up_with(&self, value: Value, node: Node) -> Option<CycleId> {
        core::iter::successors(self.changing(value), |&c| self.cycles.parent(c))
            .find(|&c| self.given_up(c).is_some() && self.cycles.contains(c, node))
            .filter(|_| self.defined_at[value.index()] != Some(node))
    }

    /// The innermost cycle in which a value may change.
    fn changing(&self, value: Value) -> Option<CycleId> {
        self.changing.get(value.index()).copied().flatten()
    }

    /// The cycles in which `value` may change and which do not contain `outside`, from the inside out.
    fn left(&self, value: Value, outside: Node) -> impl Iterator<Item = CycleId> + '_ {
        core::iter::successors(self.changing(value), |&c| self.cycles.parent(c))
            .take_while(move |&c| !self.cycles.contains(c, outside))
    }

    fn reaches<G: Graph>(&self, graph: &G, cycle: CycleId, node: Node) -> bool {
        match &self.reach[cycle.index()] {
            Reach::Nowhere => false,
            Reach::Everywhere => true,
            Reach::Nodes(nodes) => nodes.binary_search(&node).is_ok(),
            Reach::Unknown => match &self.known {
                Some(known) => self.walks_to(&known.graph, cycle, node),
                None => self.walks_to(graph, cycle, node),
            },
        }
    }

    fn walks_to<G: Graph>(&self, graph: &G, cycle: CycleId, node: Node) -> bool {
        let mut nodes = BitSet::new(graph.node_count());
        let exits = self.divergent_exits(cycle).iter();
        let targets: Vec<Node> = exits.map(|&(e, _)| graph.target(e)).collect();
        let mut insert = |n: Node| nodes.insert(n.index());
        engine::extend_reach(graph, &self.cycles, cycle, targets, &mut insert, &mut usize::MAX.clone());
        nodes.contains(node.index())
    }

    /// Whether threads can leave a cycle in different iterations. O(1).
    pub fn has_divergent_exit(&self, cycle: CycleId) -> bool {
        self.reach[cycle.index()] != Reach::Nowhere
    }

    /// Whether threads can leave a cycle by `edge` in different iterations. Of a cycle that was given up every
    /// exit is divergent. Linear in the divergent exits of the cycle.
    pub fn is_divergent_exit(&self, cycle: CycleId, edge: EdgeId) -> bool {
        self.given_up[cycle.index()].is_some()
            || self.left_apart[cycle.index()].is_some()
            || self.divergent_exits(cycle).iter().any(|&(e, _)| e == edge)
    }

    /// Where threads part, inside an irreducible cycle, of which some leave it and others stay, if they do: as of
    /// a cycle that was given up every exit is divergent, but not what is inside. O(1).
    pub fn left_apart(&self, cycle: CycleId) -> Option<Split> {
        self.left_apart[cycle.index()]
    }

    /// The edges on which threads can leave a cycle in different iterations, each with where they part, in the order
    /// found. Nothing for a cycle that was given up or [left apart](Self::left_apart), and those inside one given up.
    /// O(1).
    pub fn divergent_exits(&self, cycle: CycleId) -> &[(EdgeId, Split)] {
        self.exits.get(cycle.index())
    }

    /// Why a cycle was given up, if it was. Only outermost irreducible cycles are, cycles inside them that are cycles in
    /// every hierarchy, and cycles in very deep nests; the cycles inside share their fate. O(1).
    pub fn given_up(&self, cycle: CycleId) -> Option<GivenUp> {
        self.given_up[cycle.index()]
    }

    /// Whether threads that execute `node` together in one cycle hierarchy do so in every other: it is *m-converged*
    /// (paper 2). Said of all nodes but those of cycles that were given up.
    /// Takes as many steps as there are cycles around the node.
    pub fn is_m_converged(&self, node: Node) -> bool {
        self.is_m_converged_in(&self.cycles, node)
    }

    /// The same while the cycles are elsewhere.
    fn is_m_converged_in(&self, cycles: &CycleForest, node: Node) -> bool {
        cycles.around(node).all(|c| self.given_up(c).is_none())
    }

    /// A split of which `node` is a join: threads that part there can arrive at one instance of the node from different
    /// instances of predecessors. None if all threads that arrive at an instance come the same way, and for
    /// nodes in cycles that were given up unless they are entries. O(1).
    pub fn divergent_join(&self, node: Node) -> Option<Split> {
        numbered(&self.splits, self.join[node.index()])
    }

    /// Why a value is divergent. O(1).
    pub fn cause(&self, value: Value) -> Option<Cause> {
        numbered(&self.causes, self.value_cause[value.index()])
    }

    /// Why a branch is divergent. O(1).
    pub fn branch_cause(&self, node: Node) -> Option<Cause> {
        numbered(&self.causes, self.branch_cause[node.index()])
    }

    /// The chain of causes of a divergent value, from the value itself to the source where it begins. Empty for a
    /// uniform value. Linear in the chain.
    pub fn explain(&self, value: Value) -> Vec<Fact> {
        self.chain(self.cause(value).map(|c| Fact::Value(value, c)))
    }

    /// The chain of causes of a divergent branch. Empty for a uniform one. Linear in the chain.
    pub fn explain_branch(&self, node: Node) -> Vec<Fact> {
        self.chain(self.branch_cause(node).map(|c| Fact::Branch(node, c)))
    }

    fn chain(&self, first: Option<Fact>) -> Vec<Fact> {
        core::iter::successors(first, |&fact| self.before(fact)).collect()
    }

    /// The fact from which a fact was derived.
    fn before(&self, fact: Fact) -> Option<Fact> {
        let split = |split| match split {
            Split::Branch(node) => self.branch_cause(node).map(|c| Fact::Branch(node, c)),
            Split::Cycle(cycle) => self.left_at_random(cycle),
        };
        match fact {
            Fact::Value(_, cause) | Fact::Branch(_, cause) => match cause {
                Cause::Source => None,
                Cause::Operand(v) => self.cause(v).map(|c| Fact::Value(v, c)),
                Cause::Temporal { cycle, exit: Some(exit), .. } => {
                    let found = self.divergent_exits(cycle).iter().find(|&&(e, _)| e == exit);
                    found.map(|&(_, at)| Fact::DivergentExit(cycle, exit, at))
                }
                Cause::Join(at) => split(at),
                Cause::GivenUp(cycle) => self.given_up(cycle).map(|why| Fact::GivenUp(cycle, why)),
                Cause::Temporal { cycle, exit: None, .. } => {
                    let left = self.left_at_random(cycle);
                    left.or_else(|| self.left_before[cycle.index()].and_then(split))
                }
            },
            Fact::DivergentExit(_, _, at)
            | Fact::GivenUp(_, GivenUp::EnteredApart(at))
            | Fact::LeftApart(_, at) => split(at),
            Fact::GivenUp(_, GivenUp::BranchInside(node)) => split(Split::Branch(node)),
        }
    }

    /// Why threads leave a cycle by any exit in any iteration: what was found first.
    fn left_at_random(&self, cycle: CycleId) -> Option<Fact> {
        let left = self.left_apart(cycle).map(|at| Fact::LeftApart(cycle, at));
        left.or_else(|| self.given_up(cycle).map(|why| Fact::GivenUp(cycle, why)))
    }
}
