//! What was found.

use std::fmt::Write as _;

use serde::Serialize;
use warpline_analysis::Node;
use warpline_analysis::dataflow::Instruction;

use super::{Known, NullPointers, Nullness};
use crate::report::{Report, Solver, Work};
use crate::{Code, Solved};
use warpline_ir::Place;
use warpline_ir::demangle;
use warpline_ir::{Block, Constant, FuncId, Function, Inst, Module, Names, Op, Value};

/// What was found in a function.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct NullReport {
    /// How many dereferences control can come to.
    pub dereferences: usize,
    /// How many of them are never of null.
    pub never_null: usize,
    /// Those of what the program itself lets be null.
    pub suspicious: Vec<DereferenceReport>,
    /// Tests for null with one outcome.
    pub tests: Vec<TestReport>,
}

/// A dereference of what is or may be null.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DereferenceReport {
    /// The pointer.
    pub pointer: String,
    /// The instruction.
    pub instruction: String,
    /// Whether it is null in any case; else it may be.
    pub always: bool,
    /// Where.
    pub location: Option<Place>,
    /// Where null comes from, as far as that is found out.
    pub reason: String,
    /// Where that is.
    pub origin: Option<Place>,
}

/// A comparison that always has the same outcome.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TestReport {
    /// Its result.
    pub value: String,
    /// The outcome.
    pub always: bool,
    /// Where.
    pub location: Option<Place>,
}

/// Analyses a function in SSA form. `known` is what attributes say.
pub fn analyse(module: &Module, id: FuncId, known: &Known, solver: Solver) -> (NullReport, Work) {
    let func = &module.functions[id];
    let code = NullPointers::code(func, known);
    let problem = NullPointers::new(module, func, &code, known);
    let solved = Solved::forward(code.program(), |_| problem.split(), &problem, solver);
    let names = Names::new(func);
    let mut result = NullReport::default();
    let at = At { module, func, code: &code, problem: &problem, solved: &solved, names: &names };
    for &b in func.layout.iter().filter(|&&b| solved.is_reached(Node::from(b))) {
        code.program().block(Node::from(b)).map(Instruction).for_each(|i| at.look(i, &mut result));
    }
    (result, solved.work())
}

/// What is looked at, instruction by instruction.
struct At<'a> {
    module: &'a Module,
    func: &'a Function,
    code: &'a Code,
    problem: &'a NullPointers<'a>,
    solved: &'a Solved<Nullness>,
    names: &'a Names,
}

impl At<'_> {
    fn used(&self, at: Instruction, operand: usize) -> Nullness {
        *self.solved.used(self.code.program(), at, operand)
    }

    fn place(&self, inst: Inst) -> Option<Place> {
        Place::of(self.module, self.func, self.func.insts[inst].loc.expand())
    }

    fn look(&self, at: Instruction, result: &mut NullReport) {
        let inst = self.code.inst(at);
        let data = &self.func.insts[inst];
        for operand in self.problem.dereferenced(inst) {
            let fact = self.used(at, operand);
            // Of what has no value nothing can be said; it is undefined behaviour in any case.
            result.dereferences += 1;
            result.never_null += usize::from(!fact.may_be_null());
            if fact.has_known_null() {
                let pointer = data.args[operand];
                let (reason, origin) = self.reason(pointer);
                result.suspicious.push(DereferenceReport {
                    pointer: self.name(pointer),
                    instruction: self.describe(inst),
                    always: !fact.may_be_other(),
                    location: self.place(inst),
                    reason,
                    origin: origin.and_then(|i| self.place(i)),
                });
            }
        }
        if let Op::ICmp(_) = data.op
            && data.args.iter().any(|&a| matches!(self.func.constant(a), Some(Constant::Null(_))))
        {
            let outcome = self.problem.result(inst, &|k| self.used(at, k));
            if outcome != Nullness::NONE && outcome.may_be_null() != outcome.may_be_other() {
                result.tests.push(TestReport {
                    value: self.name(data.results[0]),
                    always: outcome.may_be_other(),
                    location: self.place(inst),
                });
            }
        }
    }

    fn name(&self, v: Value) -> String {
        match self.func.constant(v) {
            Some(Constant::Null(_)) => "null".to_owned(),
            Some(_) => "a constant".to_owned(),
            None => self.names.value(self.func, v),
        }
    }

    fn describe(&self, inst: Inst) -> String {
        let data = &self.func.insts[inst];
        match &data.op {
            Op::Call(call) => match call.callee {
                Some(s) => format!("call of {}", demangle(&self.module.symbols[s].name)),
                None => "indirect call".to_owned(),
            },
            op => op.name().to_owned(),
        }
    }

    /// Why a pointer may be null as far as the program knows: by its nearest definition that is null or may fail,
    /// else by a test of it.
    fn reason(&self, pointer: Value) -> (String, Option<Inst>) {
        let mut seen = vec![pointer];
        let mut next = 0;
        while let Some(&v) = seen.get(next) {
            next += 1;
            if matches!(self.func.constant(v), Some(Constant::Null(_))) {
                return ("it is null".to_owned(), None);
            }
            let Some(inst) = self.func.def_inst(v) else { continue };
            if self.problem.may_fail(inst) {
                return (format!("the {} may fail", self.describe(inst)), Some(inst));
            }
            if let Some(assigned) = self.null_operand(inst) {
                return (format!("{} may be null from there", self.name(v)), Some(assigned));
            }
            for from in self.sources(inst) {
                if !seen.contains(&from) {
                    seen.push(from);
                }
            }
        }
        let test = seen.iter().find_map(|&v| self.test_of(v).map(|t| (v, t)));
        match test {
            Some((v, inst)) => (format!("{} is compared with null", self.name(v)), Some(inst)),
            None => (String::new(), None),
        }
    }

    /// The values that a pointer may be, or is an offset from.
    fn sources(&self, inst: Inst) -> Vec<Value> {
        let data = &self.func.insts[inst];
        match &data.op {
            Op::Phi => self.operands_with_null(inst).map(|(_, v)| v).collect(),
            Op::Select => data.args[1..].to_vec(),
            Op::Gep(_) | Op::Cast(_) | Op::ReadVar(_) => data.args.first().copied().into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The operands of a φ that may be null where control takes their edge, with the blocks that they come from.
    fn operands_with_null(&self, phi: Inst) -> impl Iterator<Item = (Block, Value)> + '_ {
        let position = self.func.phi_position(phi).unwrap_or_default();
        let program = self.code.program();
        let node = Node::from(self.func.insts[phi].block);
        program.graph().in_edges(node).iter().filter_map(move |&e| {
            let data = &self.func.edges[self.code.edge(e)];
            let fact = self.solved.phi_operand(program, e, position);
            fact.has_known_null().then(|| (data.from, data.args[position]))
        })
    }

    /// The end of the block from which a φ gets a null constant.
    fn null_operand(&self, inst: Inst) -> Option<Inst> {
        let is_null = |v: Value| matches!(self.func.constant(v), Some(Constant::Null(_)));
        match self.func.insts[inst].op {
            Op::Phi => {
                let mut nulls = self.operands_with_null(inst).filter(|&(_, v)| is_null(v));
                nulls.next().map(|(b, _)| self.func.terminator(b))
            }
            Op::Select => self.func.insts[inst].args[1..].iter().any(|&v| is_null(v)).then_some(inst),
            _ => None,
        }
    }

    /// The first comparison of a value with null.
    fn test_of(&self, v: Value) -> Option<Inst> {
        let insts = self.func.layout.iter().flat_map(|&b| self.func.block_insts(b));
        { insts }.find(|&i| {
            let data = &self.func.insts[i];
            let with_null =
                || data.args.iter().any(|&a| matches!(self.func.constant(a), Some(Constant::Null(_))));
            matches!(data.op, Op::ICmp(_)) && data.args.contains(&v) && with_null()
        })
    }
}

impl Report for NullReport {
    fn write_text(&self, out: &mut String) {
        let _ = writeln!(
            out,
            "  dereferences: {}, never of null: {}, of what may be null as far as the program knows: {}",
            self.dereferences,
            self.never_null,
            self.suspicious.len()
        );
        let at = |place: &Option<Place>| place.as_ref().map(|p| format!("{p}: ")).unwrap_or_default();
        for d in &self.suspicious {
            let is = if d.always { "is null" } else { "may be null" };
            let _ = write!(out, "  {}{} of {}, which {is}", at(&d.location), d.instruction, d.pointer);
            if !d.reason.is_empty() {
                let place = d.origin.as_ref().map(|p| format!(" ({})", p.short())).unwrap_or_default();
                let _ = write!(out, ": {}{place}", d.reason);
            }
            out.push('\n');
        }
        for t in &self.tests {
            let _ = writeln!(out, "  {}{} is always {}", at(&t.location), t.value, t.always);
        }
    }

    fn findings(&self) -> usize {
        self.suspicious.len()
    }
}
