//! Backward data flow with a state at program points, to hold the sparse one against; made as
//! [forwards](super::solve_forward_dense), turned round.
//!
//! States are kept at the ends of blocks that do not have one out-edge, or whose out-edge goes back; the blocks in
//! front of such a *root* that lead there alone share its state. A variable that is not live has ⊤. Blocks that
//! control cannot reach say nothing.

use alloc::vec::Vec;

use super::engine::{Engine, Schedule};
use super::lattice::Lattice;
use super::live::LiveVariables;
use super::problem::{Backward, BackwardEdge, BackwardFacts};
use crate::graph::{CsrGraph, EdgeId, Graph, Lists, Node};
use crate::order::DfsOrder;
use crate::program::{Instruction, Program, Test, Variable};
use crate::undo::UndoLog;

/// The greatest solution of a backward problem, with a fact per variable at each program point; ⊤ where it is not live.
#[derive(Clone, Debug)]
pub struct DenseBackward<'a, F> {
    program: &'a Program,
    roots: Roots,
    states: Vec<Vec<F>>,
    /// By place among all operands, what is known before the instruction.
    used: Vec<F>,
    /// By edge, what is known of tested variables at the end of its source, from this edge.
    tested: Vec<Vec<F>>,
    steps: usize,
}

/// The blocks at whose ends states are kept, and of what.
#[derive(Clone, Debug)]
struct Roots {
    list: Vec<Node>,
    /// By block: its number among the roots, or [`SHARED`] or [`UNREACHABLE`].
    number: Vec<u32>,
    /// By block: the variables that are live at its end, if it is a root, in increasing order.
    variables: Lists<Variable>,
}

const SHARED: u32 = u32::MAX;
const UNREACHABLE: u32 = u32::MAX - 1;

impl Roots {
    fn of(program: &Program, live: &LiveVariables) -> Roots {
        let graph = program.graph();
        let dfs = DfsOrder::compute(graph);
        let is_root = |n: Node| match graph.out_edges(n) {
            [e] => dfs.post_number(graph.target(*e)) >= dfs.post_number(n),
            _ => true,
        };
        let list: Vec<Node> = dfs.post_order().iter().copied().filter(|&n| is_root(n)).collect();
        let mut number = vec![UNREACHABLE; graph.node_count()];
        dfs.pre_order().iter().for_each(|n| number[n.index()] = SHARED);
        list.iter().enumerate().for_each(|(k, n)| number[n.index()] = k as u32);
        let mut pairs: Vec<(usize, Variable)> = Vec::new();
        let mut defined = vec![u32::MAX; program.variables()];
        for &root in &list {
            let start = pairs.len();
            pairs.extend(program.tests(root).iter().map(|t| (root.index(), t.variable)));
            for &e in graph.out_edges(root) {
                let phis = program.phis(e);
                phis.iter().for_each(|p| defined[p.result.index()] = e.0);
                let through = live.at_entry(graph.target(e)).iter();
                pairs.extend(through.filter(|v| defined[v.index()] != e.0).map(|&v| (root.index(), v)));
                pairs.extend(phis.iter().map(|p| (root.index(), p.operand)));
            }
            pairs[start..].sort_unstable();
            let mut kept = start;
            for k in start..pairs.len() {
                if !program.is_fixed(pairs[k].1) && (kept == start || pairs[kept - 1] != pairs[k]) {
                    pairs[kept] = pairs[k];
                    kept += 1;
                }
            }
            pairs.truncate(kept);
        }
        Roots { list, number, variables: Lists::group(graph.node_count(), pairs.iter().copied()) }
    }

    fn contains(&self, node: Node) -> bool {
        self.number[node.index()] < UNREACHABLE
    }

    fn is_reachable(&self, node: Node) -> bool {
        self.number[node.index()] != UNREACHABLE
    }
}

impl<F: Lattice> DenseBackward<'_, F> {
    /// What is known of a variable before an instruction. Linear in the block.
    pub fn before(&self, at: Instruction, variable: Variable) -> F {
        self.inside(self.program.block_of(at), at.0, variable)
    }

    /// What is known of a variable behind an instruction. Linear in the block.
    pub fn after(&self, at: Instruction, variable: Variable) -> F {
        self.inside(self.program.block_of(at), at.0 + 1, variable)
    }

    /// What is known of a variable at the entry of a block, behind the φs there. Linear in the block.
    pub fn at_entry(&self, node: Node, variable: Variable) -> F {
        self.inside(node, self.program.block(node).start, variable)
    }

    /// What is known of a variable once an edge is taken, before the φs of its target. O(1).
    pub fn on_edge(&self, edge: EdgeId, variable: Variable) -> F {
        let (target, phis) = (self.program.graph().target(edge), self.program.phis(edge));
        let mut fact = match phis.iter().any(|p| p.result == variable) {
            true => F::top(),
            false => self.at_entry(target, variable),
        };
        for p in phis.iter().filter(|p| p.operand == variable) {
            fact.meet(&self.at_entry(target, p.result));
        }
        fact
    }

    /// What is known of a variable at the end of a block, before its tests. O(1).
    pub fn at_exit(&self, node: Node, variable: Variable) -> F {
        if !self.roots.is_reachable(node) {
            return F::top();
        }
        if self.roots.contains(node) {
            let at = self.roots.variables.get(node.index()).binary_search(&variable);
            return at.map_or_else(|_| F::top(), |k| self.states[node.index()][k].clone());
        }
        let Some(&edge) = self.program.graph().out_edges(node).first() else { return F::top() };
        match self.program.tests(node).iter().position(|t| t.variable == variable) {
            Some(test) => self.tested[edge.index()].get(test).cloned().unwrap_or_else(F::top),
            None => self.on_edge(edge, variable),
        }
    }

    fn inside(&self, node: Node, number: u32, variable: Variable) -> F {
        if self.program.is_fixed(variable) {
            return F::top();
        }
        for at in (number..self.program.block(node).end).map(Instruction) {
            if let Some(k) = self.program.uses(at).iter().position(|&v| v == variable) {
                return self.used[self.program.use_slots(at).start + k].clone();
            }
            if self.program.definitions(at).contains(&variable) {
                return F::top();
            }
        }
        self.at_exit(node, variable)
    }

    /// How many instructions and edges were evaluated. O(1).
    pub fn steps(&self) -> usize {
        self.steps
    }
}

/// Solves a backward problem densely.
/// The height of the lattice times edges and instructions, each times the variables.
pub fn solve_backward_dense<'a, P: Backward>(
    program: &'a Program,
    problem: &P,
) -> DenseBackward<'a, P::Fact> {
    let graph = program.graph();
    let roots = Roots::of(program, &LiveVariables::of(program));
    let top = P::Fact::top();
    let state = |n: usize| vec![top.clone(); roots.variables.get(n).len()];
    let operands = (0..program.instructions() as u32).map(Instruction).next_back();
    let mut solver = Solver {
        program,
        problem,
        roots: &roots,
        engine: Engine::new(roots.list.len(), Schedule::Sweeps),
        states: (0..graph.node_count()).map(state).collect(),
        current: vec![top.clone(); program.variables()],
        undo: UndoLog::default(),
        said: Vec::new(),
        used: vec![top.clone(); operands.map_or(0, |at| program.use_slots(at).end)],
        tested: vec![Vec::new(); graph.edge_count()],
        steps: 0,
        top,
    };
    (0..roots.list.len() as u32).for_each(|r| solver.engine.enqueue(r));
    while let Some(root) = solver.engine.next() {
        solver.walk(roots.list[root as usize]);
    }
    let (states, used, tested, steps) = (solver.states, solver.used, solver.tested, solver.steps);
    DenseBackward { program, roots, states, used, tested, steps }
}

struct Solver<'a, P: Backward> {
    program: &'a Program,
    problem: &'a P,
    roots: &'a Roots,
    /// Its constraints are the roots.
    engine: Engine,
    /// By root and position among its variables: the meet of what its out-edges say.
    states: Vec<Vec<P::Fact>>,
    /// By variable, what is known at the point that the walk is at.
    current: Vec<P::Fact>,
    /// What was known of variables that have been changed on the way.
    undo: UndoLog<P::Fact>,
    /// What is said of operands at the instruction or edge at hand.
    said: Vec<Said<P::Fact>>,
    used: Vec<P::Fact>,
    tested: Vec<Vec<P::Fact>>,
    steps: usize,
    top: P::Fact,
}

/// What is said of a variable before a site.
struct Said<F> {
    variable: Variable,
    fact: F,
    /// Whether what is known behind the site is not carried over.
    replaced: bool,
}

enum Step {
    Enter(Node),
    Take(EdgeId),
    Back(usize),
}

impl<P: Backward> Solver<'_, P> {
    /// Walks the blocks that share the state of a root.
    fn walk(&mut self, root: Node) {
        let graph: &CsrGraph = self.program.graph();
        for (k, &v) in self.roots.variables.get(root.index()).iter().enumerate() {
            let fact = self.states[root.index()][k].clone();
            self.set(v, fact);
        }
        let mut steps = vec![Step::Back(0), Step::Enter(root)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Back(mark) => self.back(mark),
                Step::Enter(node) => {
                    self.program.block(node).rev().map(Instruction).for_each(|at| self.instruction(at));
                    let in_edges = graph.in_edges(node).iter().rev();
                    let reachable = in_edges.filter(|e| self.roots.is_reachable(graph.source(**e)));
                    steps.extend(reachable.map(|&e| Step::Take(e)));
                }
                Step::Take(edge) => {
                    let (mark, source) = (self.undo.mark(), graph.source(edge));
                    self.move_phis(edge);
                    self.edge(edge, source);
                    if self.roots.contains(source) {
                        self.arrive(source);
                        self.back(mark);
                    } else {
                        steps.extend([Step::Back(mark), Step::Enter(source)]);
                    }
                }
            }
        }
    }

    fn back(&mut self, mark: usize) {
        self.undo.undo_to(mark, &mut self.current);
    }

    fn set(&mut self, variable: Variable, fact: P::Fact) {
        self.undo.set(&mut self.current, variable.index(), fact);
    }

    fn instruction(&mut self, at: Instruction) {
        self.steps += 1;
        let (uses, definitions) = (self.program.uses(at), self.program.definitions(at));
        let mut site =
            AtInstruction { uses, definitions, current: &self.current, top: &self.top, said: &mut self.said };
        self.problem.instruction(at, &mut site);
        definitions.iter().for_each(|&v| self.set(v, P::Fact::top()));
        self.follow();
        let slots = self.program.use_slots(at);
        for (slot, v) in self.used[slots].iter_mut().zip(uses) {
            slot.clone_from(&self.current[v.index()]);
        }
    }

    /// Gives operands what has been said of them.
    fn follow(&mut self) {
        let mut all = core::mem::take(&mut self.said);
        for mut said in all.drain(..).filter(|s| !self.program.is_fixed(s.variable)) {
            if !said.replaced {
                said.fact.meet(&self.current[said.variable.index()]);
            }
            self.set(said.variable, said.fact);
        }
        self.said = all;
    }

    fn move_phis(&mut self, edge: EdgeId) {
        let moves = self.program.phis(edge);
        let facts: Vec<P::Fact> = moves.iter().map(|m| self.current[m.result.index()].clone()).collect();
        moves.iter().for_each(|m| self.set(m.result, P::Fact::top()));
        for (m, mut fact) in moves.iter().zip(facts).filter(|(m, _)| !self.program.is_fixed(m.operand)) {
            fact.meet(&self.current[m.operand.index()]);
            self.set(m.operand, fact);
        }
    }

    fn edge(&mut self, edge: EdgeId, source: Node) {
        let tests = self.program.tests(source);
        if tests.is_empty() {
            return;
        }
        self.steps += 1;
        let mut site = AtEdge { tests, current: &self.current, said: &mut self.said };
        self.problem.edge(edge, &mut site);
        self.follow();
        let facts = tests.iter().map(|t| self.current[t.variable.index()].clone());
        self.tested[edge.index()] = facts.collect();
    }

    /// The state comes to the end of a root.
    fn arrive(&mut self, root: Node) {
        let mut changed = false;
        let state = &mut self.states[root.index()];
        for (&v, fact) in self.roots.variables.get(root.index()).iter().zip(state) {
            changed |= fact.meet(&self.current[v.index()]);
        }
        if changed {
            self.engine.enqueue(self.roots.number[root.index()]);
        }
    }
}

fn say<F: Lattice>(said: &mut Vec<Said<F>>, variable: Variable, fact: F, replaced: bool) {
    match said.iter_mut().find(|s| s.variable == variable) {
        Some(known) => {
            known.fact.meet(&fact);
            known.replaced |= replaced;
        }
        None => said.push(Said { variable, fact, replaced }),
    }
}

struct AtInstruction<'s, F> {
    uses: &'s [Variable],
    definitions: &'s [Variable],
    current: &'s [F],
    top: &'s F,
    said: &'s mut Vec<Said<F>>,
}

impl<F: Lattice> BackwardFacts<F> for AtInstruction<'_, F> {
    #[inline]
    fn result(&self, result: usize) -> &F {
        &self.current[self.definitions[result].index()]
    }

    fn after(&self, operand: usize) -> &F {
        // What an instruction defines as well is another value behind it.
        let variable = self.uses[operand];
        if self.definitions.contains(&variable) { self.top } else { &self.current[variable.index()] }
    }

    fn lower(&mut self, operand: usize, fact: F) {
        say(self.said, self.uses[operand], fact, false);
    }

    fn replace(&mut self, operand: usize, fact: F) {
        say(self.said, self.uses[operand], fact, true);
    }
}

struct AtEdge<'s, F> {
    tests: &'s [Test],
    current: &'s [F],
    said: &'s mut Vec<Said<F>>,
}

impl<F: Lattice> BackwardEdge<F> for AtEdge<'_, F> {
    #[inline]
    fn after(&self, test: usize) -> &F {
        &self.current[self.tests[test].variable.index()]
    }

    fn replace(&mut self, test: usize, fact: F) {
        say(self.said, self.tests[test].variable, fact, true);
    }
}
