//! Forward data flow with a state at program points: the classical way (paper 4, Definition 1), to hold the sparse
//! one against.
//!
//! It is made as fast as it can be made without splitting live ranges. A state knows the variables that are live, no
//! others. States are kept at the entry and at blocks with several in-edges alone; the blocks behind such a *root*
//! that have one in-edge share its state: they are walked as a tree, with one state that is changed on the way down
//! and changed back on the way up. So a round over the program costs its instructions, and at each in-edge of a root
//! the variables that are live there. Control is followed as in the [sparse solver](super::solve_forward), and facts
//! are [widened](Forward::widen) at the same places if these are given.

use alloc::vec::Vec;

use super::constraints::{Constraints, Reached};
use super::engine::{Engine, Schedule};
use super::lattice::Lattice;
use super::live::LiveVariables;
use super::problem::{Forward, ForwardEdge, ForwardFacts};
use crate::bitset::BitSet;
use crate::cycles::CycleForest;
use crate::graph::{EdgeId, Graph, Lists, Node};
use crate::order::DfsOrder;
use crate::program::{Instruction, Program, Test, Variable};
use crate::ssi::Ssi;
use crate::undo::UndoLog;

/// Where facts are widened: variables at headers of cycles.
#[derive(Clone, Debug)]
pub struct WideningPoints {
    at: Lists<Variable>,
}

impl WideningPoints {
    /// Where the sparse solver widens. Linear in program and graph.
    pub fn of(program: &Program, ssi: &Ssi) -> WideningPoints {
        let constraints = Constraints::new(program, ssi, |_| false);
        let phis = constraints.phis.iter().filter(|p| p.widened.is_some());
        let mut pairs: Vec<(usize, Variable)> =
            phis.map(|p| (p.node.index(), ssi.variable(p.result))).collect();
        pairs.sort_unstable();
        WideningPoints { at: Lists::group(program.graph().node_count(), pairs.iter().copied()) }
    }

    /// Every variable that is live at the header of a cycle. Near-linear in the graph and linear in the result.
    pub fn all(program: &Program, live: &LiveVariables) -> WideningPoints {
        let cycles = CycleForest::compute(program.graph());
        let mut headers: Vec<Node> = cycles.cycles().map(|c| cycles.header(c)).collect();
        headers.sort_unstable();
        let pairs = headers.iter().flat_map(|&h| live.at_entry(h).iter().map(move |&v| (h.index(), v)));
        WideningPoints { at: Lists::group(program.graph().node_count(), pairs.clone()) }
    }
}

/// The greatest solution of a forward problem, with a fact per variable at each program point where it is live. Where
/// it is not live, what is answered says nothing.
#[derive(Clone, Debug)]
pub struct DenseForward<'a, F> {
    program: &'a Program,
    live: LiveVariables,
    /// By root and position among its live variables.
    states: Vec<Vec<F>>,
    /// Of variables that hold a value on entry, by their numbers.
    on_entry: Vec<(Variable, F)>,
    reached: Reached,
    steps: usize,
    record: Record<F>,
}

/// What instructions and edges say in the solution.
#[derive(Clone, Debug)]
struct Record<F> {
    /// By place among all results.
    defined: Vec<Option<F>>,
    /// By instruction, in order.
    refined: Vec<(Instruction, Variable, F)>,
    /// By edge.
    on_edges: Vec<Vec<(Variable, F)>>,
}

impl<F: Lattice> DenseForward<'_, F> {
    /// What is known of a variable before an instruction. Linear in the block.
    pub fn before(&self, at: Instruction, variable: Variable) -> F {
        let node = self.program.block_of(at);
        self.inside(node, at.0, variable)
    }

    /// What is known of a variable behind an instruction: also of its results that nothing reads.
    /// Linear in the block.
    pub fn after(&self, at: Instruction, variable: Variable) -> F {
        self.inside(self.program.block_of(at), at.0 + 1, variable)
    }

    /// What is known of a variable at the entry of a block, behind the φs there. O(1).
    pub fn at_entry(&self, node: Node, variable: Variable) -> F {
        if !self.is_reached(node) {
            return F::top();
        }
        if self.program.is_fixed(variable) {
            let at = self.on_entry.binary_search_by_key(&variable, |c| c.0);
            return at.map_or_else(|_| F::top(), |k| self.on_entry[k].1.clone());
        }
        if is_root(self.program.graph(), node) {
            return match self.live.position(node, variable) {
                Some(k) => self.states[node.index()][k].clone(),
                None => self.unread_phi(node, variable),
            };
        }
        let edge = self.program.graph().in_edges(node)[0];
        let moved = self.program.phis(edge).iter().find(|p| p.result == variable);
        self.on_edge(edge, moved.map_or(variable, |p| p.operand))
    }

    /// What is known of a φ that nothing reads, of which no state tells.
    fn unread_phi(&self, node: Node, variable: Variable) -> F {
        let mut fact = F::top();
        for &e in self.program.graph().in_edges(node) {
            if let Some(p) = self.program.phis(e).iter().find(|p| p.result == variable) {
                fact.meet(&self.on_edge(e, p.operand));
            }
        }
        fact
    }

    /// What is known of a variable once an edge is taken, before the φs of its target. O(1).
    pub fn on_edge(&self, edge: EdgeId, variable: Variable) -> F {
        if !self.is_taken(edge) {
            return F::top();
        }
        match self.record.on_edges[edge.index()].iter().find(|(v, _)| *v == variable) {
            Some((_, fact)) => fact.clone(),
            None => self.at_exit(self.program.graph().source(edge), variable),
        }
    }

    /// What is known of a variable at the end of a block, before its tests tell something.
    /// Linear in the block.
    pub fn at_exit(&self, node: Node, variable: Variable) -> F {
        self.inside(node, self.program.block(node).end, variable)
    }

    /// What is known before the instruction of the block that has this number, or behind its last one.
    fn inside(&self, node: Node, number: u32, variable: Variable) -> F {
        if !self.is_reached(node) {
            return F::top();
        }
        for at in (self.program.block(node).start..number).rev().map(Instruction) {
            let defined = self.program.definitions(at).iter().position(|&v| v == variable);
            if let Some(k) = defined {
                let fact = &self.record.defined[self.program.definition_slots(at).start + k];
                return fact.clone().unwrap_or_else(F::top);
            }
            if self.program.uses(at).contains(&variable) {
                let refined = self.record.refined.binary_search_by_key(&(at, variable), |r| (r.0, r.1));
                if let Ok(k) = refined {
                    return self.record.refined[k].2.clone();
                }
            }
        }
        self.at_entry(node, variable)
    }

    /// Whether control can reach the block, as far as the problem tells. O(1).
    pub fn is_reached(&self, node: Node) -> bool {
        self.reached.nodes.contains(node.index())
    }

    /// Whether control can take the edge, as far as the problem tells. O(1).
    pub fn is_taken(&self, edge: EdgeId) -> bool {
        self.reached.edges.contains(edge.index())
    }

    /// How many instructions and edges were evaluated. O(1).
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Which variables are live where. O(1).
    pub fn live(&self) -> &LiveVariables {
        &self.live
    }
}

/// Solves a forward problem densely. Every variable that is live at the header of a cycle is widened there.
/// The height of the lattice times edges and instructions, each times the variables.
pub fn solve_forward_dense<'a, P: Forward>(program: &'a Program, problem: &P) -> DenseForward<'a, P::Fact> {
    let live = LiveVariables::of(program);
    let widening = WideningPoints::all(program, &live);
    solve(program, problem, live, &widening, 0)
}

/// As [`solve_forward_dense`], widened at given places, with at most `sweeps` sweeps of
/// [narrowing](super::solve_forward_narrowing) behind. These may gain less than the sparse ones, which know what a
/// variable's fact owes to itself. As [`solve_forward_dense`], once more for each sweep at most.
pub fn solve_forward_dense_at<'a, P: Forward>(
    program: &'a Program,
    problem: &P,
    widening: &WideningPoints,
    sweeps: usize,
) -> DenseForward<'a, P::Fact> {
    solve(program, problem, LiveVariables::of(program), widening, sweeps)
}

/// Whether a state is kept at the entry of a block.
fn is_root(graph: &impl Graph, node: Node) -> bool {
    node == graph.entry() || graph.in_edges(node).len() != 1
}

fn solve<'a, P: Forward>(
    program: &'a Program,
    problem: &P,
    live: LiveVariables,
    widening: &WideningPoints,
    sweeps: usize,
) -> DenseForward<'a, P::Fact> {
    let graph = program.graph();
    let mut on_entry: Vec<(Variable, P::Fact)> =
        program.on_entry().iter().map(|&v| (v, problem.on_entry(v))).collect();
    on_entry.sort_by_key(|c| c.0);
    let mut roots: Vec<Node> = DfsOrder::compute(graph).reverse_post_order().collect();
    roots.retain(|&n| is_root(graph, n));
    let mut number = vec![u32::MAX; graph.node_count()];
    roots.iter().enumerate().for_each(|(k, n)| number[n.index()] = k as u32);
    let mut solver = Solver {
        program,
        problem,
        live: &live,
        widening,
        engine: Engine::new(roots.len(), Schedule::Sweeps),
        number: &number,
        arrived: Vec::new(),
        states: Vec::new(),
        held: Vec::new(),
        current: vec![P::Fact::top(); program.variables()],
        undo: UndoLog::default(),
        reached: Reached::nothing(graph),
        entered: Reached::nothing(graph).nodes,
        steps: 0,
        site: Site::default(),
        record: None,
    };
    solver.solve(&roots, &on_entry);
    for _ in 0..sweeps {
        if solver.arrived == solver.held {
            break;
        }
        solver.held = core::mem::take(&mut solver.arrived);
        solver.solve(&roots, &on_entry);
    }
    let record = solver.record(&roots);
    let (states, reached, steps) = (solver.states, solver.reached, solver.steps);
    DenseForward { program, live, states, on_entry, reached, steps, record }
}

struct Solver<'a, P: Forward> {
    program: &'a Program,
    problem: &'a P,
    live: &'a LiveVariables,
    widening: &'a WideningPoints,
    /// Its constraints are the roots.
    engine: Engine,
    /// By block: its number among the roots.
    number: &'a [u32],
    /// By root and position among its live variables: the meet of what has come in.
    arrived: Vec<Vec<P::Fact>>,
    /// The same, widened: what is passed on.
    states: Vec<Vec<P::Fact>>,
    /// What widened facts are held at; empty if they are not held.
    held: Vec<Vec<P::Fact>>,
    /// By variable, what is known at the point that the walk is at.
    current: Vec<P::Fact>,
    /// What was known of variables that have been changed on the way down.
    undo: UndoLog<P::Fact>,
    reached: Reached,
    /// Roots that have been walked from.
    entered: BitSet,
    steps: usize,
    site: Site<P::Fact>,
    record: Option<Record<P::Fact>>,
}

/// What is said at the instruction or edge at hand.
struct Site<F> {
    defined: Vec<Option<F>>,
    refined: Vec<(Variable, F)>,
}

impl<F> Default for Site<F> {
    fn default() -> Self {
        Site { defined: Vec::new(), refined: Vec::new() }
    }
}

/// A step of the walk over the blocks behind a root.
enum Step {
    Enter(Node),
    Take(EdgeId),
    /// Back to this mark of what is to be undone.
    Back(usize),
}

impl<P: Forward> Solver<'_, P> {
    fn solve(&mut self, roots: &[Node], on_entry: &[(Variable, P::Fact)]) {
        let graph = self.program.graph();
        let top = P::Fact::top();
        self.arrived = vec![Vec::new(); graph.node_count()];
        for &root in roots {
            self.arrived[root.index()] = vec![top.clone(); self.live.at_entry(root).len()];
        }
        self.states = self.arrived.clone();
        self.reached = Reached::nothing(graph);
        self.entered.clear();
        let entry = graph.entry();
        for (v, fact) in on_entry {
            if self.program.is_fixed(*v) {
                self.current[v.index()] = fact.clone();
            } else if let Some(k) = self.live.position(entry, *v) {
                self.arrived[entry.index()][k].meet(fact);
            }
        }
        self.engine.enqueue(self.number[entry.index()]);
        while let Some(root) = self.engine.next() {
            let root = roots[root as usize];
            if self.enter_root(root) {
                self.walk(root);
            }
        }
    }

    /// Lets the state of a root follow what has come in; says whether there is anything new to pass on.
    fn enter_root(&mut self, root: Node) -> bool {
        let r = root.index();
        let mut changed = self.entered.insert(r);
        let widened = self.widening.at.get(r);
        if widened.is_empty() {
            for (state, new) in self.states[r].iter_mut().zip(&self.arrived[r]) {
                changed |= state.meet(new);
            }
            return changed;
        }
        for (k, &v) in self.live.at_entry(root).iter().enumerate() {
            let state = &mut self.states[r][k];
            if widened.binary_search(&v).is_err() {
                changed |= state.meet(&self.arrived[r][k]);
            } else if let Some(held) = self.held.get(r) {
                changed |= state.meet(&held[k]);
            } else {
                let mut new = state.clone();
                if new.meet(&self.arrived[r][k]) {
                    let wider = self.problem.widen(root, state, new.clone());
                    new.meet(&wider);
                    *state = new;
                    changed = true;
                }
            }
        }
        changed
    }

    /// Walks the blocks that share the state of a root.
    fn walk(&mut self, root: Node) {
        for (&v, fact) in self.live.at_entry(root).iter().zip(&self.states[root.index()]) {
            self.current[v.index()].clone_from(fact);
        }
        self.undo.keep_all();
        let mut steps = vec![Step::Enter(root)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Back(mark) => self.back(mark),
                Step::Enter(node) => {
                    self.reached.nodes.insert(node.index());
                    self.program.block(node).map(Instruction).for_each(|at| self.instruction(at));
                    let out = self.program.graph().out_edges(node);
                    steps.extend(out.iter().rev().map(|&e| Step::Take(e)));
                }
                Step::Take(edge) => {
                    let mark = self.undo.mark();
                    let target = self.program.graph().target(edge);
                    if !self.edge(edge) {
                        continue;
                    }
                    self.move_phis(edge);
                    if is_root(self.program.graph(), target) {
                        self.arrive(target);
                        self.back(mark);
                    } else {
                        steps.extend([Step::Back(mark), Step::Enter(target)]);
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
        let definitions = self.program.definitions(at);
        self.site.defined.clear();
        self.site.defined.resize(definitions.len(), None);
        let mut site =
            AtInstruction { uses: self.program.uses(at), current: &self.current, site: &mut self.site };
        self.problem.instruction(at, &mut site);
        self.site.refined.retain(|r| !self.program.is_fixed(r.0));
        if let Some(record) = &mut self.record {
            let slots = self.program.definition_slots(at);
            record.defined[slots].clone_from_slice(&self.site.defined);
            self.site.refined.sort_by_key(|r| r.0);
            record.refined.extend(self.site.refined.iter().map(|(v, f)| (at, *v, f.clone())));
        }
        let mut refined = core::mem::take(&mut self.site.refined);
        refined.drain(..).for_each(|(v, fact)| self.set(v, fact));
        self.site.refined = refined;
        for (k, &v) in definitions.iter().enumerate() {
            let fact = self.site.defined[k].take().unwrap_or_else(P::Fact::top);
            self.set(v, fact);
        }
    }

    /// Evaluates an edge; says whether control can take it.
    fn edge(&mut self, edge: EdgeId) -> bool {
        self.steps += 1;
        let tests = self.program.tests(self.program.graph().source(edge));
        let mut site = AtEdge { tests, current: &self.current, site: &mut self.site };
        let is_taken = self.problem.edge(edge, &mut site);
        self.site.refined.retain(|r| !self.program.is_fixed(r.0));
        let mut refined = core::mem::take(&mut self.site.refined);
        if is_taken {
            if let Some(record) = &mut self.record {
                record.on_edges[edge.index()].clone_from(&refined);
            }
            self.reached.edges.insert(edge.index());
            refined.drain(..).for_each(|(v, fact)| self.set(v, fact));
        }
        refined.clear();
        self.site.refined = refined;
        is_taken
    }

    fn move_phis(&mut self, edge: EdgeId) {
        let moves = self.program.phis(edge);
        let facts: Vec<P::Fact> = moves.iter().map(|m| self.current[m.operand.index()].clone()).collect();
        for (m, fact) in moves.iter().zip(facts) {
            self.set(m.result, fact);
        }
    }

    /// The state comes to a root.
    fn arrive(&mut self, root: Node) {
        let mut changed = !self.entered.contains(root.index());
        let arrived = &mut self.arrived[root.index()];
        for (&v, fact) in self.live.at_entry(root).iter().zip(arrived) {
            changed |= fact.meet(&self.current[v.index()]);
        }
        if changed && self.record.is_none() {
            self.engine.enqueue(self.number[root.index()]);
        }
    }

    /// Walks once more, to write down what is said.
    fn record(&mut self, roots: &[Node]) -> Record<P::Fact> {
        let results = (0..self.program.instructions() as u32).map(Instruction).next_back();
        let slots = results.map_or(0, |at| self.program.definition_slots(at).end);
        self.record = Some(Record {
            defined: vec![None; slots],
            refined: Vec::new(),
            on_edges: vec![Vec::new(); self.program.graph().edge_count()],
        });
        let steps = self.steps;
        for &root in roots {
            if self.entered.contains(root.index()) {
                self.walk(root);
            }
        }
        self.steps = steps;
        let mut record = self.record.take().expect("it was just made");
        record.refined.sort_by_key(|r| (r.0, r.1));
        record
    }
}

struct AtInstruction<'s, F> {
    uses: &'s [Variable],
    current: &'s [F],
    site: &'s mut Site<F>,
}

impl<F: Lattice> ForwardFacts<F> for AtInstruction<'_, F> {
    #[inline]
    fn before(&self, operand: usize) -> &F {
        &self.current[self.uses[operand].index()]
    }

    fn define(&mut self, result: usize, fact: F) {
        match &mut self.site.defined[result] {
            Some(known) => _ = known.meet(&fact),
            none => *none = Some(fact),
        }
    }

    fn refine(&mut self, operand: usize, fact: F) {
        self.site.refine(self.uses[operand], fact);
    }
}

impl<F: Lattice> Site<F> {
    fn refine(&mut self, variable: Variable, fact: F) {
        match self.refined.iter_mut().find(|r| r.0 == variable) {
            Some((_, known)) => _ = known.meet(&fact),
            None => self.refined.push((variable, fact)),
        }
    }
}

struct AtEdge<'s, F> {
    tests: &'s [Test],
    current: &'s [F],
    site: &'s mut Site<F>,
}

impl<F: Lattice> ForwardEdge<F> for AtEdge<'_, F> {
    #[inline]
    fn before(&self, test: usize) -> &F {
        &self.current[self.tests[test].variable.index()]
    }

    fn refine(&mut self, test: usize, fact: F) {
        self.site.refine(self.tests[test].variable, fact);
    }
}
