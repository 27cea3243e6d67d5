//! The claims of a uniformity analysis against what threads were seen to disagree on.
//!
//! [`violation`] looks for what is claimed uniform and is not: values at their definitions, at every node and on
//! every edge that they can be used on, and branches. [`Tally`] counts the other side: what is claimed divergent and
//! was never seen to diverge, by the cause that the analysis gives.

use std::fmt;

use warpline_analysis::uniformity::{Cause, Rule, SsaProgram, Uniformity, Value};
use warpline_analysis::{CsrGraph, EdgeId, Graph, Node};

use crate::graph_oracles::{Dominance, reachable};
use crate::lockstep::Observed;

/// A program and what was seen when it ran.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The graph.
    pub graph: &'a CsrGraph,
    /// Its dominators.
    pub dominance: &'a Dominance,
    /// The program.
    pub program: &'a SsaProgram,
    /// What threads disagreed on.
    pub observed: &'a Observed,
}

impl Seen<'_> {
    fn reachable(&self) -> impl Iterator<Item = Node> + '_ {
        self.graph.nodes().filter(|n| self.dominance.is_reachable(n.index()))
    }

    fn values(&self) -> impl Iterator<Item = Value> + '_ {
        let runs = |n: Node| self.dominance.is_reachable(n.index());
        self.program.values().filter(move |&v| self.program.node(v).is_none_or(runs))
    }

    /// Whether a value can be used at the end of a node.
    fn is_visible(&self, value: Value, node: Node) -> bool {
        let at = self.program.node(value);
        at.is_none_or(|d| self.dominance.dominates(d.index(), node.index()))
    }
}

/// Something that is claimed uniform and is not. The analysis may have been of a graph whose edges are in another
/// order: `there` says which of its edges an edge of `seen.graph` is.
pub fn violation(
    seen: Seen,
    uniformity: &Uniformity,
    analysed: &CsrGraph,
    there: impl Fn(EdgeId) -> EdgeId,
) -> Option<String> {
    for n in seen.reachable() {
        if seen.observed.branches.contains(n.index()) && !uniformity.is_divergent_branch(n) {
            return Some(format!("the branch at {n} is claimed uniform and is not"));
        }
    }
    for v in seen.values() {
        if seen.observed.divergent.contains(v.index()) && !uniformity.is_divergent(v) {
            return Some(format!("{v} is claimed uniform and is not"));
        }
        for n in seen.reachable().filter(|&n| seen.is_visible(v, n)) {
            if seen.observed.differs_at(v, n) && !uniformity.is_divergent_at(analysed, v, n) {
                return Some(format!("the use of {v} at {n} is claimed uniform and is not"));
            }
            for &e in seen.graph.out_edges(n) {
                if seen.observed.differs_on(v, e) && !uniformity.is_divergent_on(analysed, v, there(e)) {
                    return Some(format!("the use of {v} on {e} is claimed uniform and is not"));
                }
            }
        }
    }
    None
}

/// How many are claimed divergent and were seen to be.
#[derive(Clone, Copy, Default, Debug)]
pub struct Rate {
    /// All that could have been seen.
    pub all: usize,
    /// What is claimed divergent.
    pub claimed: usize,
    /// What was seen to diverge.
    pub seen: usize,
}

impl Rate {
    fn add(&mut self, claimed: bool, seen: bool) {
        self.all += 1;
        self.claimed += usize::from(claimed);
        self.seen += usize::from(seen);
    }

    /// What is claimed divergent, in percent of all.
    pub fn claimed_percent(&self) -> usize {
        100 * self.claimed / self.all.max(1)
    }

    /// What was seen to diverge, in percent of what is claimed.
    pub fn seen_percent(&self) -> usize {
        100 * self.seen / self.claimed.max(1)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rate { all, claimed, seen } = self;
        write!(f, "{claimed} of {all} claimed divergent, {seen} ({} %) seen", self.seen_percent())
    }
}

/// The values of one cause: how many, and how many of them were never seen to diverge.
#[derive(Clone, Copy, Default, Debug)]
pub struct Unseen {
    /// All.
    pub all: usize,
    /// Those that were never seen to diverge.
    pub unseen: usize,
}

impl Unseen {
    fn add(&mut self, seen: bool) {
        self.all += 1;
        self.unseen += usize::from(!seen);
    }
}

impl fmt::Display for Unseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.unseen, self.all)
    }
}

/// How many programs have what control flow; see [`Tally`].
#[derive(Clone, Copy, Default, Debug)]
pub struct Shapes {
    /// Several nodes without successors.
    pub several_ends: usize,
    /// Nodes from which no end is reached.
    pub endless: usize,
    /// A node with more than two out-edges.
    pub switches: usize,
    /// Two edges between the same nodes.
    pub parallel: usize,
    /// A cycle inside another one.
    pub nested: usize,
    /// A cycle that is left from several nodes.
    pub early_exits: usize,
    /// An always-uniform value.
    pub always_uniform: usize,
}

impl Shapes {
    fn count(&mut self, seen: Seen, uniformity: &Uniformity) {
        let (graph, cycles) = (seen.graph, uniformity.cycles());
        let live: Vec<Node> = seen.reachable().collect();
        let ends = live.iter().filter(|&&n| graph.out_edges(n).is_empty()).count();
        let comes_to_an_end = |n: &Node| {
            let reached = reachable(graph, n.index(), |_| false);
            graph.nodes().any(|m| reached[m.index()] && graph.out_edges(m).is_empty())
        };
        let doubled = |n: &Node| {
            let mut targets: Vec<Node> = graph.successors(*n).collect();
            targets.sort_unstable();
            targets.windows(2).any(|w| w[0] == w[1])
        };
        let left_from_several = |c| {
            let mut sources = cycles.exit_edges(graph, c).map(|e| graph.source(e));
            sources.next().is_some_and(|first| sources.any(|s| s != first))
        };
        let always = |v: Value| seen.program.rule(v) == Rule::AlwaysUniform;
        self.several_ends += usize::from(ends > 1);
        self.endless += usize::from(!live.iter().all(comes_to_an_end));
        self.switches += usize::from(live.iter().any(|&n| graph.out_edges(n).len() > 2));
        self.parallel += usize::from(live.iter().any(doubled));
        self.nested += usize::from(cycles.cycles().any(|c| cycles.parent(c).is_some()));
        self.early_exits += usize::from(cycles.cycles().any(left_from_several));
        self.always_uniform += usize::from(seen.values().any(always));
    }
}

/// What came out over many programs.
#[derive(Clone, Default, Debug)]
pub struct Tally {
    /// Programs.
    pub programs: usize,
    /// Hierarchies they ran in.
    pub hierarchies: usize,
    /// Programs with several hierarchies.
    pub ambiguous: usize,
    /// Cycles that were given up.
    pub given_up: usize,
    /// Cycles that were given up by an analysis within tight limits.
    pub hasty_given_up: usize,
    /// Programs with a cycle that has several entries and was not given up.
    pub kept: usize,
    /// What control flow there was.
    pub shapes: Shapes,
    /// Values that follow their operands and control.
    pub values: Rate,
    /// Nodes with several out-edges.
    pub branches: Rate,
    /// Uses of uniform values outside a cycle that they are defined in.
    pub outside_uses: Rate,
    /// φs that are divergent because of where threads come from.
    pub by_join: Unseen,
    /// Values that are divergent because threads left a cycle in different iterations.
    pub by_temporal: Unseen,
    /// Values in cycles that were given up.
    pub by_given_up: Unseen,
    /// Values with a divergent operand that was seen to diverge.
    pub by_operand: Unseen,
    /// Values with a divergent operand that was not.
    pub inherited: Unseen,
}

impl Tally {
    /// Counts what one program shows. Values are counted where two threads were seen together.
    pub fn count(&mut self, seen: Seen, uniformity: &Uniformity, hierarchies: usize) {
        let Seen { graph, program, observed, .. } = seen;
        let cycles = uniformity.cycles();
        self.programs += 1;
        self.shapes.count(seen, uniformity);
        self.hierarchies += hierarchies;
        self.ambiguous += usize::from(hierarchies > 1);
        self.given_up += cycles.cycles().filter(|&c| uniformity.given_up(c).is_some()).count();
        let is_kept = |c| {
            let outer = std::iter::successors(Some(c), |&c| cycles.parent(c));
            !cycles.is_reducible(c) && outer.into_iter().all(|c| uniformity.given_up(c).is_none())
        };
        self.kept += usize::from(cycles.cycles().any(is_kept));
        for v in seen.values() {
            let node = program.node(v);
            let together = node.is_none_or(|n| observed.shared.contains(n.index()));
            let differs = observed.divergent.contains(v.index());
            if program.rule(v) == Rule::Default && together {
                self.values.add(uniformity.is_divergent(v), differs);
                self.count_cause(observed, uniformity.cause(v), differs);
            }
            let Some(around) = node.and_then(|n| cycles.innermost(n)) else { continue };
            if uniformity.is_divergent(v) {
                continue;
            }
            let outside = |n: &Node| !cycles.contains(around, *n) && seen.is_visible(v, *n);
            for n in seen.reachable().filter(outside).filter(|n| observed.shared.contains(n.index())) {
                self.outside_uses.add(uniformity.is_divergent_at(graph, v, n), observed.differs_at(v, n));
            }
        }
        for n in graph.nodes().filter(|&n| observed.shared.contains(n.index())) {
            if graph.out_edges(n).len() > 1 {
                self.branches.add(uniformity.is_divergent_branch(n), observed.branches.contains(n.index()));
            }
        }
    }

    fn count_cause(&mut self, observed: &Observed, cause: Option<Cause>, differs: bool) {
        match cause {
            Some(Cause::Join(_)) => self.by_join.add(differs),
            Some(Cause::Temporal { .. }) => self.by_temporal.add(differs),
            Some(Cause::GivenUp(_)) => self.by_given_up.add(differs),
            Some(Cause::Operand(o)) if observed.divergent.contains(o.index()) => self.by_operand.add(differs),
            Some(Cause::Operand(_)) => self.inherited.add(differs),
            Some(Cause::Source) | None => {}
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { programs, hierarchies, ambiguous, given_up, hasty_given_up, kept, .. } = self;
        writeln!(f, "{programs} programs in {hierarchies} hierarchies, {ambiguous} in several")?;
        writeln!(f, "  irreducible cycles: {given_up} given up, kept in {kept} programs")?;
        writeln!(f, "  cycles given up within tight limits: {hasty_given_up}")?;
        let Shapes { several_ends, endless, switches, parallel, nested, early_exits, always_uniform } =
            self.shapes;
        writeln!(
            f,
            "  with several ends {several_ends}, loops without end {endless}, switches {switches}, parallel edges \
             {parallel}, nested cycles {nested}, early exits {early_exits}, always-uniform values {always_uniform}"
        )?;
        writeln!(f, "  values: {}", self.values)?;
        writeln!(f, "  branches: {}", self.branches)?;
        writeln!(f, "  uses of uniform values outside their cycle: {}", self.outside_uses)?;
        writeln!(
            f,
            "  divergent values never seen to diverge: join {}, temporal {}, given up {}, operand {}, \
             operand never seen to diverge either {}",
            self.by_join, self.by_temporal, self.by_given_up, self.by_operand, self.inherited
        )
    }
}
