//! What shows that a fact follows from the one before it: chains of causes with their witness paths.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::{Cause, Fact, GivenUp, SsaProgram, Uniformity, Value};
use crate::cycles::CycleId;
use crate::graph::{EdgeId, Graph, Node};
use crate::joins::{Joins, Split};
use crate::limits::Limits;
use crate::order::DfsOrder;
use crate::witness::{Inside, Witness};

/// What shows that a fact follows from the fact behind it in a chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// The fact's own words: a rule, an operand, an exit that the chain goes on to explain.
    Immediate,
    /// Two paths: to a φ on edges with different operands, out of a cycle by one edge in different iterations, or to
    /// different entries of a cycle.
    Paths(Witness),
    /// Why nothing is claimed of threads that part at a branch inside a cycle.
    Inside(Inside),
    /// None was found. Only an algorithm coarser than joins leaves facts without evidence.
    Missing,
}

/// A fact of a chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// The fact.
    pub fact: Fact,
    /// What shows it.
    pub evidence: Evidence,
}

/// Explains the facts of one result.
pub struct Explainer<'a, G> {
    graph: &'a G,
    program: &'a SsaProgram,
    uniformity: &'a Uniformity,
    joins: Joins<'a, G>,
}

impl<'a, G: Graph> Explainer<'a, G> {
    /// Explains `uniformity`, the result of [`Uniformity::compute`] for this graph and program. A result with facts is
    /// explained on what [`Uniformity::analysed`] gives. Panics if graph or program are others, as far as their sizes
    /// tell. As that of [`Joins`].
    pub fn new(graph: &'a G, program: &'a SsaProgram, uniformity: &'a Uniformity) -> Self {
        uniformity.expect_sizes(graph, program);
        let joins = Joins::with_order(
            graph,
            Cow::Owned(DfsOrder::compute(graph)),
            uniformity.cycles(),
            &Limits::of(graph),
        );
        Explainer { graph, program, uniformity, joins }
    }

    /// The joins of the graph. O(1).
    pub fn joins(&self) -> &Joins<'a, G> {
        &self.joins
    }

    /// Whether the entry reaches a node. O(1).
    pub fn reaches(&self, node: Node) -> bool {
        self.joins.inner().0.is_reachable(node)
    }

    /// Why a value is divergent: from the value to the source where it begins. Empty for a uniform value.
    /// Linear in the graph for each fact that paths show.
    pub fn value(&self, value: Value) -> Vec<Link> {
        self.links(self.value_fact(value))
    }

    /// The first fact of [`Explainer::value`]. Linear in the graph where a use is behind a cycle, else O(1).
    pub fn value_fact(&self, value: Value) -> Option<Fact> {
        self.uniformity.cause(value).map(|c| self.with_exit(Fact::Value(value, c)))
    }

    /// Why a branch is divergent. Empty for a uniform one. Linear in the graph for each fact that paths show.
    pub fn branch(&self, node: Node) -> Vec<Link> {
        self.links(self.branch_fact(node))
    }

    /// The first fact of [`Explainer::branch`]. Linear in the graph where a use is behind a cycle, else O(1).
    pub fn branch_fact(&self, node: Node) -> Option<Fact> {
        self.uniformity.branch_cause(node).map(|c| self.with_exit(Fact::Branch(node, c)))
    }

    /// Why threads leave a cycle in different iterations, by the exit found first, or why the cycle was given up. Empty
    /// if neither is so, and for cycles inside one that was given up unless they were themselves.
    /// Linear in the graph for each fact that paths show.
    pub fn cycle(&self, cycle: CycleId) -> Vec<Link> {
        self.links(self.cycle_cause(cycle))
    }

    /// The first fact of [`Explainer::cycle`]. O(1).
    pub fn cycle_cause(&self, cycle: CycleId) -> Option<Fact> {
        let u = self.uniformity;
        let exit = u.divergent_exits(cycle).first().map(|&(e, s)| Fact::DivergentExit(cycle, e, s));
        let left = u.left_apart(cycle).map(|at| Fact::LeftApart(cycle, at));
        u.given_up(cycle).map(|why| Fact::GivenUp(cycle, why)).or(left).or(exit)
    }

    /// The fact from which a fact of a chain follows, by which the chain goes on; it depends on nothing else.
    /// Linear in the graph where a use is behind a cycle, else O(1).
    pub fn next(&self, fact: Fact) -> Option<Fact> {
        self.uniformity.before(fact).map(|f| self.with_exit(f))
    }

    /// Why the use of `value` at `node` is temporally divergent: why threads leave the cycle apart. Empty if it is not.
    /// Linear in the graph for each fact that paths show.
    pub fn use_at(&self, value: Value, node: Node) -> Vec<Link> {
        let Some(cycle) = self.uniformity.temporal_at(self.graph, value, node) else { return Vec::new() };
        let exit = self.exit_towards(cycle, &|exit| self.leads(cycle, exit, node));
        self.links(exit.or_else(|| self.cycle_fact(cycle)))
    }

    /// Why the use of `value` by φs on `edge` is temporally divergent. Empty if it is not.
    /// Linear in the graph for each fact that paths show.
    pub fn use_on(&self, value: Value, edge: EdgeId) -> Vec<Link> {
        let Some(cycle) = self.uniformity.temporal_on(self.graph, value, edge) else { return Vec::new() };
        let exit = self.exit_towards(cycle, &|exit| self.leads_on(cycle, exit, edge));
        self.links(exit.or_else(|| self.cycle_fact(cycle)))
    }

    fn cycle_fact(&self, cycle: CycleId) -> Option<Fact> {
        // Cycles inside one that was given up share its fate.
        let mut around = core::iter::successors(Some(cycle), |&c| self.uniformity.cycles().parent(c));
        around.find_map(|c| self.uniformity.left_at_random(c))
    }

    fn exit_towards(&self, cycle: CycleId, leads: &dyn Fn(EdgeId) -> bool) -> Option<Fact> {
        let exits = self.uniformity.divergent_exits(cycle).iter();
        exits.copied().find(|&(e, _)| leads(e)).map(|(e, split)| Fact::DivergentExit(cycle, e, split))
    }

    fn links(&self, first: Option<Fact>) -> Vec<Link> {
        let facts = core::iter::successors(first, |&fact| self.next(fact));
        facts.map(|fact| Link { fact, evidence: self.evidence(fact) }).collect()
    }

    /// The same fact with an exit by which threads come to the use. The engine does not tell exits apart when all
    /// are divergent; each of these was known before the fact was.
    fn with_exit(&self, fact: Fact) -> Fact {
        let (Fact::Value(_, cause) | Fact::Branch(_, cause)) = fact else { return fact };
        let Cause::Temporal { operand, cycle, exit: Some(recorded) } = cause else { return fact };
        let leads = |exit: EdgeId| match fact {
            Fact::Value(user, _) if self.program.is_phi(user) => self
                .program
                .operands(user)
                .filter(|&(o, _)| o == operand)
                .filter_map(|(_, edge)| edge)
                .any(|edge| self.leads_on(cycle, exit, edge)),
            Fact::Value(user, _) => self.program.node(user).is_some_and(|n| self.leads(cycle, exit, n)),
            Fact::Branch(node, _) => self.leads(cycle, exit, node),
            _ => false,
        };
        if leads(recorded) {
            return fact;
        }
        let mut others = self.uniformity.divergent_exits(cycle).iter().map(|&(e, _)| e);
        let exit = Some(others.find(|&e| leads(e)).unwrap_or(recorded));
        let cause = Cause::Temporal { operand, cycle, exit };
        match fact {
            Fact::Value(v, _) => Fact::Value(v, cause),
            Fact::Branch(n, _) => Fact::Branch(n, cause),
            other => other,
        }
    }

    fn leads(&self, cycle: CycleId, exit: EdgeId, node: Node) -> bool {
        let mut nodes = crate::bitset::BitSet::new(self.graph.node_count());
        let from = vec![self.graph.target(exit)];
        super::engine::extend_reach(
            self.graph,
            self.uniformity.cycles(),
            cycle,
            from,
            &mut |n: Node| nodes.insert(n.index()),
            &mut usize::MAX.clone(),
        );
        nodes.contains(node.index())
    }

    fn leads_on(&self, cycle: CycleId, exit: EdgeId, edge: EdgeId) -> bool {
        let source = self.graph.source(edge);
        match self.uniformity.cycles().contains(cycle, source) {
            true => exit == edge,
            false => self.leads(cycle, exit, source),
        }
    }

    /// What shows that a fact follows from the one before it.
    /// Linear in the graph where paths show it, else O(1).
    pub fn evidence(&self, fact: Fact) -> Evidence {
        let paths = |found: Option<Witness>| found.map_or(Evidence::Missing, Evidence::Paths);
        match fact {
            Fact::Value(phi, Cause::Join(split)) => paths(self.join_of_phi(phi, split)),
            Fact::Value(..) | Fact::Branch(..) => Evidence::Immediate,
            Fact::DivergentExit(cycle, exit, split) => paths(self.joins.witness_of_exit(split, cycle, exit)),
            Fact::GivenUp(cycle, GivenUp::EnteredApart(split)) => {
                paths(self.joins.witness_of_entries(split, cycle))
            }
            Fact::GivenUp(_, GivenUp::BranchInside(node)) => {
                self.joins.why_inside(node).map_or(Evidence::Missing, Evidence::Inside)
            }
            Fact::LeftApart(cycle, Split::Branch(node)) => paths(self.joins.witness_of_leaving(node, cycle)),
            // They leave the cycle inside, which was given up, by any exit in any iteration.
            Fact::LeftApart(_, Split::Cycle(_)) => Evidence::Immediate,
        }
    }

    /// Two paths from `split` to the node of `phi` that arrive on edges with different operands.
    fn join_of_phi(&self, phi: Value, split: Split) -> Option<Witness> {
        let node = self.program.node(phi)?;
        let operands: Vec<(EdgeId, Value)> = self
            .program
            .operands(phi)
            .filter_map(|(v, e)| e.map(|e| (e, v)))
            .filter(|&(e, _)| self.joins.inner().0.is_reachable(self.graph.source(e)))
            .collect();
        // Edges with one operand are one end: that of the first such edge.
        let mut first: Vec<(Value, EdgeId)> = operands.iter().map(|&(e, v)| (v, e)).collect();
        first.sort_unstable();
        first.dedup_by_key(|&mut (v, _)| v);
        let mut end = vec![None; self.graph.edge_count()];
        for (edge, v) in operands {
            let at = first.binary_search_by_key(&v, |&(v, _)| v).ok()?;
            end[edge.index()] = Some(first[at].1.index());
        }
        self.joins.witness_between(split, node, |e| end[e.index()])
    }
}
