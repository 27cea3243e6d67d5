//! Reaching definitions: which computations a φ or a read of a variable may see the result of.
//!
//! * Lattice: sets of definitions, ⊤ is the empty one, the meet is the union; more than [`MANY`] count as any.
//! * Strategy: [`Strategy::SSA`], forward, a *partitioned-variable* problem: a definition makes a set of its own,
//!   whatever is known of operands. On code with variables, which is not in SSA form, a variable gets a version for
//!   each write.
//! * Every instruction that has a result defines it, a load or a call like any other; memory is not looked at. A
//!   parameter is a definition, and so is a constant that a φ gets; a variable that is read before it is written is
//!   *unwritten*. Poison and undef are constants.

use std::fmt::Write as _;

use serde::Serialize;
use smallvec::{SmallVec, smallvec};
use warpline_analysis::Node;
use warpline_analysis::dataflow::{
    DenseForward, Forward, ForwardFacts, Instruction, Lattice, Program, SparseForward, Variable,
    solve_forward, solve_forward_dense,
};
use warpline_analysis::ssi::{Ssi, Strategy, ssify};

use crate::Code;
use crate::report::{Description, Direction, Kind, Report, Solver, Work};
use warpline_ir::Place;
use warpline_ir::{FuncId, Function, Inst, Module, Names, Op};

/// What this client is.
pub const DESCRIPTION: Description = Description {
    name: "reaching-definitions",
    question: "which computations a φ or a read of a variable may see",
    direction: Direction::Forward,
    strategy: "Defs↓",
    kind: Kind::PartitionedVariable,
    reference: "paper 4, Figure 5",
};

/// Where live ranges are split.
pub const STRATEGY: Strategy = Strategy::SSA;

/// How many definitions are told apart.
pub const MANY: usize = 64;

/// A set of definitions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reaching {
    /// These, in increasing order: results by their places among all of the program, then what variables hold on entry.
    These(SmallVec<[u32; 4]>),
    /// Any.
    Many,
}

impl Lattice for Reaching {
    fn top() -> Self {
        Reaching::These(SmallVec::new())
    }

    fn meet(&mut self, other: &Self) -> bool {
        let Reaching::These(mine) = self else { return false };
        let Reaching::These(others) = other else {
            *self = Reaching::Many;
            return true;
        };
        let before = mine.len();
        for &d in others {
            if let Err(at) = mine.binary_search(&d) {
                mine.insert(at, d);
            }
        }
        let changed = mine.len() > before;
        if mine.len() > MANY {
            *self = Reaching::Many;
        }
        changed
    }
}

/// The problem of a program.
#[derive(Clone, Copy, Debug)]
pub struct ReachingDefinitions<'a>(pub &'a Program);

impl ReachingDefinitions<'_> {
    /// The number of what a variable holds on entry.
    fn on_entry_number(&self, variable: Variable) -> u32 {
        self.0.all_definitions().len() as u32 + variable.0
    }
}

impl Forward for ReachingDefinitions<'_> {
    type Fact = Reaching;

    fn on_entry(&self, variable: Variable) -> Reaching {
        Reaching::These(smallvec![self.on_entry_number(variable)])
    }

    fn instruction(&self, at: Instruction, facts: &mut impl ForwardFacts<Reaching>) {
        for (k, slot) in self.0.definition_slots(at).enumerate() {
            facts.define(k, Reaching::These(smallvec![slot as u32]));
        }
    }
}

/// What was found in a function.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ReachingReport {
    /// φs and reads of variables, in order.
    pub reads: Vec<ReadReport>,
}

/// What a φ or a read of a variable may see.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ReadReport {
    /// The φ's result, or the variable.
    pub what: String,
    /// Where.
    pub location: Option<Place>,
    /// The definitions, in order; none if there are too many.
    pub definitions: Vec<DefinitionReport>,
    /// Whether there are too many to tell them apart.
    pub too_many: bool,
}

/// A definition.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DefinitionReport {
    /// A value, a constant, a write of a variable, or `unwritten`.
    pub definition: String,
    /// Where.
    pub location: Option<Place>,
}

/// Analyses a function.
pub fn analyse(module: &Module, id: FuncId, solver: Solver) -> (ReachingReport, Work) {
    let func = &module.functions[id];
    let code = Code::of(func);
    let program = code.program();
    let solution = Solution::of(program, solver);
    let namer = Namer { module, func, code: &code, names: Names::new(func) };
    let mut reads = Vec::new();
    for node in func.layout.iter().map(|&b| Node::from(b)).filter(|&n| solution.is_reached(n)) {
        if let Some(&e) = program.graph().in_edges(node).first() {
            for (slot, p) in program.phi_slots(e).zip(program.phis(e)) {
                let phi = code.value(p.result).and_then(|v| func.def_inst(v));
                reads.extend(phi.map(|phi| namer.report(phi, p.result, solution.phi(node, slot, p.result))));
            }
        }
        for at in program.block(node).map(Instruction) {
            let read = program.uses(at).iter().enumerate().find(|(_, v)| code.var(**v).is_some());
            reads.extend(read.map(|(k, &v)| namer.report(code.inst(at), v, solution.used(program, at, k))));
        }
    }
    (ReachingReport { reads }, solution.work())
}

/// A solution of either solver.
enum Solution<'a> {
    Sparse(Box<Ssi>, SparseForward<Reaching>),
    Dense(Box<DenseForward<'a, Reaching>>),
}

impl<'a> Solution<'a> {
    fn of(program: &'a Program, solver: Solver) -> Solution<'a> {
        let problem = ReachingDefinitions(program);
        match solver {
            Solver::Sparse => {
                let ssi = ssify(program, &STRATEGY);
                let facts = solve_forward(program, &ssi, &problem);
                Solution::Sparse(Box::new(ssi), facts)
            }
            Solver::Dense => Solution::Dense(Box::new(solve_forward_dense(program, &problem))),
        }
    }

    fn is_reached(&self, node: Node) -> bool {
        match self {
            Solution::Sparse(_, facts) => facts.is_reached(node),
            Solution::Dense(facts) => facts.is_reached(node),
        }
    }

    /// What is known of a φ's result, by one of its places among all φ operands.
    fn phi(&self, node: Node, slot: usize, result: Variable) -> Reaching {
        match self {
            Solution::Sparse(ssi, facts) => facts.fact(ssi.phi_result(slot)).clone(),
            Solution::Dense(facts) => facts.at_entry(node, result),
        }
    }

    fn used(&self, program: &Program, at: Instruction, operand: usize) -> Reaching {
        match self {
            Solution::Sparse(ssi, facts) => {
                let version = ssi.used(program.use_slots(at).start + operand);
                version.map_or_else(Reaching::top, |v| facts.fact(v).clone())
            }
            Solution::Dense(facts) => facts.before(at, program.uses(at)[operand]),
        }
    }

    fn work(&self) -> Work {
        match self {
            Solution::Sparse(ssi, facts) => Work { versions: ssi.versions(), steps: facts.steps() },
            Solution::Dense(facts) => Work { versions: 0, steps: facts.steps() },
        }
    }
}

/// Says in words what was found.
struct Namer<'a> {
    module: &'a Module,
    func: &'a Function,
    code: &'a Code,
    names: Names,
}

impl Namer<'_> {
    fn report(&self, inst: Inst, variable: Variable, fact: Reaching) -> ReadReport {
        let (definitions, too_many) = match fact {
            Reaching::Many => (Vec::new(), true),
            Reaching::These(all) => (all.iter().map(|&d| self.definition(d)).collect(), false),
        };
        ReadReport { what: self.name(variable), location: self.place(inst), definitions, too_many }
    }

    fn name(&self, variable: Variable) -> String {
        match (self.code.value(variable), self.code.var(variable)) {
            (Some(v), _) if self.func.constant(v).is_some() => "a constant".to_owned(),
            (Some(v), _) => self.names.value(self.func, v),
            (None, Some(x)) => self.func.var_name(x),
            (None, None) => String::new(),
        }
    }

    fn place(&self, inst: Inst) -> Option<Place> {
        Place::of(self.module, self.func, self.func.insts[inst].loc.expand())
    }

    fn definition(&self, number: u32) -> DefinitionReport {
        let program = self.code.program();
        let results = program.all_definitions();
        let Some(&variable) = results.get(number as usize) else {
            let variable = Variable(number - results.len() as u32);
            let definition = match self.code.var(variable) {
                Some(_) => "unwritten".to_owned(),
                None => self.name(variable),
            };
            return DefinitionReport { definition, location: None };
        };
        let at = definer(program, number as usize);
        let inst = self.code.inst(at);
        let definition = match self.func.insts[inst].op {
            Op::WriteVar(_) => format!("{} written", self.name(program.uses(at)[0])),
            _ => self.name(variable),
        };
        DefinitionReport { definition, location: self.place(inst) }
    }
}

/// The instruction that has the result with this place among all results.
fn definer(program: &Program, slot: usize) -> Instruction {
    let (mut low, mut high) = (0, program.instructions() as u32);
    while low < high {
        let middle = low.midpoint(high);
        match program.definition_slots(Instruction(middle)).end <= slot {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    Instruction(low)
}

impl Report for ReachingReport {
    fn write_text(&self, out: &mut String) {
        for r in &self.reads {
            let place = r.location.as_ref().map(|p| format!("{p}: ")).unwrap_or_default();
            let of = |d: &DefinitionReport| match &d.location {
                Some(place) => format!("{} ({})", d.definition, place.short()),
                None => d.definition.clone(),
            };
            let list = match r.too_many {
                true => format!("more than {MANY} definitions"),
                false => r.definitions.iter().map(of).collect::<Vec<_>>().join(", "),
            };
            let _ = writeln!(out, "  {place}{}: {list}", r.what);
        }
    }
}
