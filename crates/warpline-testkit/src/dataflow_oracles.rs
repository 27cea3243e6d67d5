//! Solutions of data-flow problems by definition, and what splitting and solvers must agree with.
//!
//! [`naive_forward`] and [`naive_backward`] keep the facts of all variables at all program points and evaluate every
//! constraint again and again until nothing changes (paper 4, Definition 1). They know nothing of versions, live
//! ranges or orders.

use warpline_analysis::dataflow::{
    Backward, BackwardEdge, BackwardFacts, Forward, ForwardEdge, ForwardFacts, Instruction, Lattice, Program,
    Variable,
};
use warpline_analysis::ssi::{Ssi, Version};
use warpline_analysis::{EdgeId, Graph, Node};

use crate::graph_oracles::Dominance;

/// A program point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    /// In front of the instruction of the block with this position, behind the φs; the position behind the last one
    /// stands for the end of the block.
    In(Node, usize),
    /// On an edge, before the φs of its target.
    On(EdgeId),
}

/// All program points of a program, numbered: the points of blocks one after the other, then the edges.
#[derive(Clone, Debug)]
pub struct Points {
    starts: Vec<usize>,
    all: Vec<Point>,
}

impl Points {
    /// The points of a program.
    pub fn of(program: &Program) -> Points {
        let graph = program.graph();
        let (mut starts, mut all) = (Vec::new(), Vec::new());
        for n in graph.nodes() {
            starts.push(all.len());
            all.extend((0..=program.block(n).len()).map(|k| Point::In(n, k)));
        }
        starts.push(all.len());
        all.extend(graph.edges().map(Point::On));
        Points { starts, all }
    }

    /// All of them, by number.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Point)> + '_ {
        self.all.iter().copied().enumerate()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// The number of a point.
    pub fn number(&self, point: Point) -> usize {
        match point {
            Point::In(n, k) => self.starts[n.index()] + k,
            Point::On(e) => self.starts[self.starts.len() - 1] + e.index(),
        }
    }

    fn entry(&self, n: Node) -> usize {
        self.starts[n.index()]
    }

    fn exit(&self, program: &Program, n: Node) -> usize {
        self.starts[n.index()] + program.block(n).len()
    }
}

/// Per point and variable whether it is live there: read later, before it is written. Only points from which control
/// comes are looked at.
pub fn live_points(program: &Program, points: &Points) -> Vec<Vec<bool>> {
    let graph = program.graph();
    let reachable = Dominance::of(graph);
    let mut live = vec![vec![false; program.variables()]; points.count()];
    loop {
        let before = live.clone();
        for (number, point) in points.iter() {
            let mut now = vec![false; program.variables()];
            match point {
                Point::In(n, _) if !reachable.is_reachable(n.index()) => continue,
                Point::On(e) if !reachable.is_reachable(graph.source(e).index()) => continue,
                Point::In(n, k) if k < program.block(n).len() => {
                    let at = Instruction(program.block(n).start + k as u32);
                    now.clone_from(&live[number + 1]);
                    program.definitions(at).iter().for_each(|v| now[v.index()] = false);
                    program.uses(at).iter().for_each(|v| now[v.index()] = true);
                }
                Point::In(n, _) => {
                    for &e in graph.out_edges(n) {
                        let on = &live[points.number(Point::On(e))];
                        now.iter_mut().zip(on).for_each(|(a, &b)| *a |= b);
                    }
                    program.tests(n).iter().for_each(|t| now[t.variable.index()] = true);
                }
                Point::On(e) => {
                    now.clone_from(&live[points.entry(graph.target(e))]);
                    program.phis(e).iter().for_each(|p| now[p.result.index()] = false);
                    program.phis(e).iter().for_each(|p| now[p.operand.index()] = true);
                }
            }
            live[number] = now;
        }
        if live == before {
            return live;
        }
    }
}

/// Facts of all variables at all points.
#[derive(Clone, Debug)]
pub struct Solution<F> {
    /// Per point, per variable.
    pub facts: Vec<Vec<F>>,
    /// Whether control reaches the block, forwards.
    pub reached: Vec<bool>,
    /// Whether control takes the edge, forwards.
    pub taken: Vec<bool>,
}

struct Here<'a, F> {
    before: &'a [F],
    variables: Vec<Variable>,
    defined: Vec<F>,
    refined: Vec<(Variable, F)>,
}

impl<F: Lattice> ForwardFacts<F> for Here<'_, F> {
    fn before(&self, operand: usize) -> &F {
        &self.before[self.variables[operand].index()]
    }

    fn define(&mut self, result: usize, fact: F) {
        self.defined[result].meet(&fact);
    }

    fn refine(&mut self, operand: usize, fact: F) {
        self.refined.push((self.variables[operand], fact));
    }
}

impl<F: Lattice> ForwardEdge<F> for Here<'_, F> {
    fn before(&self, test: usize) -> &F {
        &self.before[self.variables[test].index()]
    }

    fn refine(&mut self, test: usize, fact: F) {
        self.refined.push((self.variables[test], fact));
    }
}

/// The state with variables refined; what is said twice of one is met.
fn refined<F: Lattice>(program: &Program, state: &[F], said: &[(Variable, F)]) -> Vec<F> {
    let mut state = state.to_vec();
    for v in (0..program.variables() as u32).map(Variable).filter(|&v| !program.is_fixed(v)) {
        let mut all = said.iter().filter(|s| s.0 == v).map(|s| s.1.clone()).peekable();
        if all.peek().is_some() {
            let mut fact = F::top();
            all.for_each(|f| _ = fact.meet(&f));
            state[v.index()] = fact;
        }
    }
    state
}

/// The greatest solution of a forward problem, without widening.
pub fn naive_forward<P: Forward>(program: &Program, points: &Points, problem: &P) -> Solution<P::Fact> {
    let graph = program.graph();
    let top = || vec![P::Fact::top(); program.variables()];
    let mut solution = Solution {
        facts: vec![top(); points.count()],
        reached: vec![false; graph.node_count()],
        taken: vec![false; graph.edge_count()],
    };
    let mut entering = top();
    program.on_entry().iter().for_each(|&v| entering[v.index()] = problem.on_entry(v));
    solution.reached[graph.entry().index()] = true;
    let meet = |to: &mut Vec<P::Fact>, from: &[P::Fact]| {
        to.iter_mut().zip(from).fold(false, |changed, (a, b)| a.meet(b) | changed)
    };
    meet(&mut solution.facts[points.entry(graph.entry())], &entering);
    let mut changed = true;
    while changed {
        changed = false;
        for n in graph.nodes().filter(|n| !solution.reached[n.index()]).collect::<Vec<_>>() {
            if graph.in_edges(n).iter().any(|e| solution.taken[e.index()]) {
                solution.reached[n.index()] = true;
                changed = true;
            }
        }
        for n in graph.nodes().filter(|n| solution.reached[n.index()]).collect::<Vec<_>>() {
            for (k, at) in program.block(n).map(Instruction).enumerate() {
                let number = points.number(Point::In(n, k));
                let state = solution.facts[number].clone();
                let mut here = Here {
                    before: &state,
                    variables: program.uses(at).to_vec(),
                    defined: vec![P::Fact::top(); program.definitions(at).len()],
                    refined: Vec::new(),
                };
                problem.instruction(at, &mut here);
                let mut next = refined(program, &state, &here.refined);
                program.definitions(at).iter().zip(here.defined).for_each(|(v, f)| next[v.index()] = f);
                changed |= meet(&mut solution.facts[number + 1], &next);
            }
            for &e in graph.out_edges(n) {
                let state = solution.facts[points.exit(program, n)].clone();
                let variables = program.tests(n).iter().map(|t| t.variable).collect();
                let mut here = Here { before: &state, variables, defined: Vec::new(), refined: Vec::new() };
                if !problem.edge(e, &mut here) {
                    continue;
                }
                changed |= !std::mem::replace(&mut solution.taken[e.index()], true);
                let on = refined(program, &state, &here.refined);
                changed |= meet(&mut solution.facts[points.number(Point::On(e))], &on);
                let mut next = on.clone();
                program.phis(e).iter().for_each(|p| next[p.result.index()] = on[p.operand.index()].clone());
                changed |= meet(&mut solution.facts[points.entry(graph.target(e))], &next);
            }
        }
    }
    solution
}

struct There<'a, F> {
    after: &'a [F],
    top: F,
    uses: Vec<Variable>,
    definitions: Vec<Variable>,
    said: Vec<(Variable, F, bool)>,
}

impl<F: Lattice> BackwardFacts<F> for There<'_, F> {
    fn result(&self, result: usize) -> &F {
        &self.after[self.definitions[result].index()]
    }

    fn after(&self, operand: usize) -> &F {
        match self.definitions.contains(&self.uses[operand]) {
            true => &self.top,
            false => &self.after[self.uses[operand].index()],
        }
    }

    fn lower(&mut self, operand: usize, fact: F) {
        self.said.push((self.uses[operand], fact, false));
    }

    fn replace(&mut self, operand: usize, fact: F) {
        self.said.push((self.uses[operand], fact, true));
    }
}

impl<F: Lattice> BackwardEdge<F> for There<'_, F> {
    fn after(&self, test: usize) -> &F {
        &self.after[self.uses[test].index()]
    }

    fn replace(&mut self, test: usize, fact: F) {
        self.said.push((self.uses[test], fact, true));
    }
}

impl<F: Lattice> There<'_, F> {
    fn before(self, program: &Program) -> Vec<F> {
        let mut state = self.after.to_vec();
        self.definitions.iter().for_each(|v| state[v.index()] = F::top());
        for (v, ..) in self.said.iter().filter(|s| s.2) {
            state[v.index()] = F::top();
        }
        for (v, fact, _) in self.said.iter().filter(|s| !program.is_fixed(s.0)) {
            state[v.index()].meet(fact);
        }
        state
    }
}

/// The greatest solution of a backward problem.
pub fn naive_backward<P: Backward>(program: &Program, points: &Points, problem: &P) -> Solution<P::Fact> {
    let graph = program.graph();
    let top = || vec![P::Fact::top(); program.variables()];
    let dominance = Dominance::of(graph);
    let reached: Vec<bool> = graph.nodes().map(|n| dominance.is_reachable(n.index())).collect();
    let taken = graph.edges().map(|e| reached[graph.source(e).index()]).collect();
    let mut solution = Solution { facts: vec![top(); points.count()], reached, taken };
    let meet = |to: &mut Vec<P::Fact>, from: &[P::Fact]| {
        to.iter_mut().zip(from).fold(false, |changed, (a, b)| a.meet(b) | changed)
    };
    let mut changed = true;
    while changed {
        changed = false;
        for n in graph.nodes().filter(|n| solution.reached[n.index()]).collect::<Vec<_>>() {
            for &e in graph.out_edges(n) {
                let behind = solution.facts[points.entry(graph.target(e))].clone();
                let mut on = behind.clone();
                program.phis(e).iter().for_each(|p| on[p.result.index()] = P::Fact::top());
                for p in program.phis(e).iter().filter(|p| !program.is_fixed(p.operand)) {
                    on[p.operand.index()].meet(&behind[p.result.index()]);
                }
                changed |= meet(&mut solution.facts[points.number(Point::On(e))], &on);
                let uses: Vec<Variable> = program.tests(n).iter().map(|t| t.variable).collect();
                let mut there = There {
                    after: &on,
                    top: P::Fact::top(),
                    uses,
                    definitions: Vec::new(),
                    said: Vec::new(),
                };
                if !program.tests(n).is_empty() {
                    problem.edge(e, &mut there);
                }
                let before = there.before(program);
                changed |= meet(&mut solution.facts[points.exit(program, n)], &before);
            }
            for (k, at) in program.block(n).map(Instruction).enumerate() {
                let number = points.number(Point::In(n, k));
                let after = solution.facts[number + 1].clone();
                let mut there = There {
                    after: &after,
                    top: P::Fact::top(),
                    uses: program.uses(at).to_vec(),
                    definitions: program.definitions(at).to_vec(),
                    said: Vec::new(),
                };
                problem.instruction(at, &mut there);
                let before = there.before(program);
                changed |= meet(&mut solution.facts[number], &before);
            }
        }
    }
    solution
}

/// Per point and variable the version that the variable has there, `None` where it holds nothing; by walking
/// definitions forwards along control.
///
/// # Errors
/// Two different versions that come together at a point where the variable is live.
pub fn versions_at(
    program: &Program,
    ssi: &Ssi,
    points: &Points,
    live: &[Vec<bool>],
) -> Result<Vec<Vec<Option<Version>>>, String> {
    let graph = program.graph();
    let dominance = Dominance::of(graph);
    let mut at = vec![vec![None; program.variables()]; points.count()];
    for &v in program.on_entry() {
        at[points.entry(graph.entry())][v.index()] = Some(Version(v.0));
    }
    let nodes = || graph.nodes().filter(|n| dominance.is_reachable(n.index()));
    loop {
        let before = at.clone();
        for n in nodes() {
            for (k, i) in program.block(n).map(Instruction).enumerate() {
                let number = points.number(Point::In(n, k));
                let mut next = at[number].clone();
                ssi.copies_at(i).iter().for_each(|&c| next[ssi.variable(c).index()] = Some(c));
                for (slot, v) in program.definition_slots(i).zip(program.definitions(i)) {
                    next[v.index()] = Some(ssi.defined(slot));
                }
                at[number + 1] = next;
            }
            for &e in graph.out_edges(n) {
                let mut next = at[points.exit(program, n)].clone();
                ssi.sigmas_at(e).iter().for_each(|&s| next[ssi.variable(s).index()] = Some(s));
                at[points.number(Point::On(e))] = next;
            }
        }
        for n in nodes() {
            let entry = points.entry(n);
            for &e in graph.in_edges(n).iter().filter(|e| dominance.is_reachable(graph.source(**e).index())) {
                let on = at[points.number(Point::On(e))].clone();
                at[entry].iter_mut().zip(on).for_each(|(here, new)| *here = here.or(new));
            }
            ssi.phis_at(n).iter().for_each(|&p| at[entry][ssi.variable(p).index()] = Some(p));
            if let Some(&e) = graph.in_edges(n).first() {
                for (slot, p) in program.phi_slots(e).zip(program.phis(e)) {
                    at[entry][p.result.index()] = Some(ssi.phi_result(slot));
                }
            }
        }
        if at == before {
            break;
        }
    }
    for n in nodes() {
        for &e in graph.in_edges(n).iter().filter(|e| dominance.is_reachable(graph.source(**e).index())) {
            for v in (0..program.variables()).filter(|&v| live[points.entry(n)][v]) {
                let is_phi = program.phis(e).iter().any(|p| p.result.index() == v)
                    || ssi.phis_at(n).iter().any(|&p| ssi.variable(p).index() == v);
                let (here, there) = (at[points.entry(n)][v], at[points.number(Point::On(e))][v]);
                if !is_phi && here != there {
                    return Err(format!(
                        "v{v} is {here:?} at the entry of {n} and {there:?} on {e} before it"
                    ));
                }
            }
        }
    }
    Ok(at)
}
