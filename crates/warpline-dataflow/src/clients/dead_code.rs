//! Dead code: instructions whose results nothing that matters needs.
//!
//! * Lattice: needed or not, for each value; ⊤ is not needed.
//! * Strategy: [`Strategy::SSA`], backward. Paper 4, Section 4: SSA form has the single information property for this
//!   problem, though a value gets its fact from each of its uses. It is a *partitioned-lattice* problem: whether an
//!   operand is needed depends on whether a result is.
//! * What matters: an instruction that may write memory, not end, unwind, synchronise, or talk to other lanes, every
//!   call that may, volatile accesses, and every terminator. Branches are never dead here, nor is what decides them.
//! * Memory: a load is dead if its result is; a store never is. Calls and opaque instructions by their effects. An
//!   instruction that could only trap is dead if its result is: that it traps would be undefined behaviour. Poison
//!   and undef play no part.

use std::fmt::Write as _;

use cranelift_entity::SecondaryMap;
use serde::Serialize;
use warpline_analysis::dataflow::{
    Backward, BackwardFacts, Instruction, Lattice, Variable, solve_backward, solve_backward_dense,
};
use warpline_analysis::order::reachable_from;
use warpline_analysis::ssi::{Ssi, Strategy, Version, ssify};
use warpline_analysis::{Graph, Node};

use crate::Code;
use crate::report::{Description, Direction, Kind, Report, Solver, Work};
use warpline_ir::Place;
use warpline_ir::{FuncId, Function, Inst, Module, Names, Op};

/// What this client is.
pub const DESCRIPTION: Description = Description {
    name: "dead-code",
    question: "which instructions compute nothing that matters",
    direction: Direction::Backward,
    strategy: "SSA",
    kind: Kind::PartitionedLattice,
    reference: "paper 4, Section 4",
};

/// Where live ranges are split.
pub const STRATEGY: Strategy = Strategy::SSA;

/// Whether a value is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needed(pub bool);

impl Lattice for Needed {
    fn top() -> Self {
        Needed(false)
    }

    fn meet(&mut self, other: &Self) -> bool {
        let is_new = other.0 && !self.0;
        self.0 |= other.0;
        is_new
    }
}

/// The problem of a function.
#[derive(Clone, Copy, Debug)]
pub struct DeadCode<'a> {
    func: &'a Function,
    code: &'a Code,
}

impl<'a> DeadCode<'a> {
    /// The problem of a function whose program is `code`.
    pub fn new(func: &'a Function, code: &'a Code) -> Self {
        DeadCode { func, code }
    }

    /// Whether the instruction matters though nothing needs its results.
    fn matters(&self, inst: Inst) -> bool {
        let op = &self.func.insts[inst].op;
        op.is_terminator() || !op.effects().removable()
    }
}

impl Backward for DeadCode<'_> {
    type Fact = Needed;

    fn instruction(&self, at: Instruction, facts: &mut impl BackwardFacts<Needed>) {
        let program = self.code.program();
        let results = program.definitions(at).len();
        if self.matters(self.code.inst(at)) || (0..results).any(|k| facts.result(k).0) {
            (0..program.uses(at).len()).for_each(|k| facts.lower(k, Needed(true)));
        }
    }
}

/// What was found in a function.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct DeadCodeReport {
    /// How many instructions there are in blocks that control can reach, φs included.
    pub instructions: usize,
    /// Those that compute nothing that matters, in order.
    pub dead: Vec<DeadInstruction>,
}

/// An instruction that computes nothing that matters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DeadInstruction {
    /// Its result, or what it does if it has none.
    pub instruction: String,
    /// Where.
    pub location: Option<Place>,
}

/// Analyses a function.
pub fn analyse(module: &Module, id: FuncId, solver: Solver) -> (DeadCodeReport, Work) {
    let func = &module.functions[id];
    let code = Code::of(func);
    let (is_needed, work) = solve(func, &code, solver);
    let graph = code.program().graph();
    let reached = reachable_from(graph, [graph.entry()]);
    let mut report = DeadCodeReport::default();
    let names = Names::new(func);
    let problem = DeadCode::new(func, &code);
    for &b in func.layout.iter().filter(|&&b| reached.contains(Node::from(b).index())) {
        for inst in func.block_insts(b) {
            report.instructions += 1;
            let data = &func.insts[inst];
            let results = data.results.iter().map(|&v| code.variable(v));
            let written = match data.op {
                Op::WriteVar(x) => Some(code.variable_of(x)),
                _ => None,
            };
            let mut all = results.chain(written).peekable();
            if !problem.matters(inst) && all.peek().is_some() && all.all(|v| !is_needed(inst, v)) {
                let instruction = match data.results.first() {
                    Some(&v) => format!("{} = {}", names.value(func, v), data.op.name()),
                    None => data.op.name().to_owned(),
                };
                report.dead.push(DeadInstruction {
                    instruction,
                    location: Place::of(module, func, data.loc.expand()),
                });
            }
        }
    }
    (report, work)
}

/// Whether what an instruction defines is needed.
type IsNeeded<'a> = Box<dyn Fn(Inst, Variable) -> bool + 'a>;

fn solve<'a>(func: &'a Function, code: &'a Code, solver: Solver) -> (IsNeeded<'a>, Work) {
    let program = code.program();
    let problem = DeadCode::new(func, code);
    match solver {
        Solver::Sparse => {
            let ssi = ssify(program, &STRATEGY);
            let solution = solve_backward(program, &ssi, &problem);
            let work = Work { versions: ssi.versions(), steps: solution.steps() };
            let written = written_versions(code, &ssi);
            (Box::new(move |inst, v| solution.fact(written(inst, v)).0), work)
        }
        Solver::Dense => {
            let solution = solve_backward_dense(program, &problem);
            let work = Work { versions: 0, steps: solution.steps() };
            let at = instructions(func, code);
            let is_needed = move |inst: Inst, v: Variable| match at[inst] {
                Some(at) => solution.after(at, v).0,
                None => solution.at_entry(Node::from(func.insts[inst].block), v).0,
            };
            (Box::new(is_needed), work)
        }
    }
}

/// The instruction of the program that an instruction of the function is; none for φs.
fn instructions(func: &Function, code: &Code) -> SecondaryMap<Inst, Option<Instruction>> {
    let mut at = SecondaryMap::with_capacity(func.insts.len());
    for i in (0..code.program().instructions() as u32).map(Instruction) {
        at[code.inst(i)] = Some(i);
    }
    at
}

/// The version of a variable that an instruction defines.
fn written_versions<'a>(code: &'a Code, ssi: &Ssi) -> impl Fn(Inst, Variable) -> Version + use<'a> {
    // A value has one definition, and with it the version of its own number; a variable has one for each write.
    let program = code.program();
    let mut by = SecondaryMap::<Inst, Option<Version>>::new();
    for at in (0..program.instructions() as u32).map(Instruction) {
        for (slot, &v) in program.definition_slots(at).zip(program.definitions(at)) {
            if code.var(v).is_some() {
                by[code.inst(at)] = Some(ssi.defined(slot));
            }
        }
    }
    move |inst, v| match code.var(v) {
        Some(_) => by[inst].unwrap_or(Version(v.0)),
        None => Version(v.0),
    }
}

impl Report for DeadCodeReport {
    fn write_text(&self, out: &mut String) {
        if self.dead.is_empty() {
            return;
        }
        let _ = writeln!(out, "  dead instructions: {} of {}", self.dead.len(), self.instructions);
        for d in &self.dead {
            let place = d.location.as_ref().map(|p| format!("{p}: ")).unwrap_or_default();
            let _ = writeln!(out, "  {place}{}", d.instruction);
        }
    }
}
