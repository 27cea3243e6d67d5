//! The transfer functions.

use smallvec::SmallVec;
use warpline_analysis::dataflow::{Forward, ForwardEdge, ForwardFacts, Instruction, TestKind, Variable};
use warpline_analysis::ssi::{Point, SplitSet, Ssi, ssify_with};
use warpline_analysis::{EdgeId, Graph};

use super::{Known, MAY_FAIL, Nullness};
use crate::conditions::{self, Holds};
use crate::{Additions, Code};
use warpline_ir::{
    BinaryOp, CastOp, Constant, Effects, Function, Inst, InstFlags, Module, Op, SymbolKind, Type, Value,
};

/// What is known of the values that a branch tests.
type Tested = SmallVec<[(Value, Nullness); 4]>;

/// How many computations of an address behind each other are looked at.
const CHAIN: usize = 8;

/// What an address was computed from `inbounds`, what that was computed from, and so on.
fn bases(func: &Function, address: Value) -> impl Iterator<Item = Value> + '_ {
    let base = |v: &Value| {
        let data = &func.insts[func.def_inst(*v)?];
        let inbounds = matches!(data.op, Op::Gep(_)) && data.flags.contains(InstFlags::INBOUNDS);
        let base = *data.args.first().filter(|_| inbounds)?;
        (func.ty(base) == Type::Ptr(0) && func.constant(base).is_none()).then_some(base)
    };
    std::iter::successors(base(&address), base)
}

/// The problem for one function.
pub struct NullPointers<'a> {
    module: &'a Module,
    func: &'a Function,
    code: &'a Code,
    known: &'a Known,
}

impl<'a> NullPointers<'a> {
    /// The problem for `func`, of which `code` is the program.
    pub fn new(module: &'a Module, func: &'a Function, code: &'a Code, known: &'a Known) -> Self {
        NullPointers { module, func, code, known }
    }

    /// What a constant is.
    fn constant(&self, constant: &Constant) -> Nullness {
        match *constant {
            Constant::Null(_) | Constant::Int { value: 0, .. } => Nullness::NULL,
            Constant::Int { .. } => Nullness::NOT_NULL,
            Constant::Poison(_) => Nullness::NONE,
            Constant::Address { symbol, offset, space: 0, .. } => {
                let size = match self.module.symbols[symbol].kind {
                    SymbolKind::Global { ty, .. } => self.module.layout.alloc_size(&self.module.types, ty),
                    SymbolKind::Function { .. } | SymbolKind::Other => Some(0),
                };
                let inside = u64::try_from(offset).is_ok_and(|o| o <= size.unwrap_or(0));
                let there = !self.known.weak.contains(&symbol) && !self.known.null_is_valid;
                if inside && there { Nullness::NOT_NULL } else { Nullness::UNKNOWN }
            }
            _ => Nullness::UNKNOWN,
        }
    }

    /// The operands that an instruction dereferences: null is undefined behaviour, and what is survived is not null.
    pub fn dereferenced(&self, inst: Inst) -> SmallVec<[usize; 2]> {
        let data = &self.func.insts[inst];
        let mut found: SmallVec<[usize; 2]> = SmallVec::new();
        let bytes = |ty: Type| self.module.layout.store_size(&self.module.types, ty).unwrap_or(0);
        match &data.op {
            Op::Load(m) if !m.is_volatile && data.result().is_some_and(|v| bytes(self.func.ty(v)) > 0) => {
                found.push(0);
            }
            Op::Store(m) if !m.is_volatile && bytes(self.func.ty(data.args[0])) > 0 => found.push(1),
            Op::Opaque(o)
                if matches!(&*o.name, "atomicrmw" | "cmpxchg") && !o.effects.contains(Effects::VOLATILE) =>
            {
                found.push(0);
            }
            Op::Call(call) => match call.callee {
                None => found.extend(data.args.len().checked_sub(1)),
                Some(symbol) => found.extend(self.copied(&self.module.symbols[symbol].name, inst)),
            },
            _ => {}
        }
        let address = |&k: &usize| self.func.ty(data.args[k]) == Type::Ptr(0);
        found.retain(|k| address(k) && !self.known.null_is_valid);
        found
    }

    /// The program of a function in which dereferences also use what their address was computed from: if that is
    /// null, so is the address, or it is poison, for an address `inbounds`.
    pub fn code(func: &Function, known: &Known) -> Code {
        let mut add = Additions::default();
        let insts = func.layout.iter().flat_map(|&b| &func.blocks[b].insts).copied();
        for inst in insts.filter(|_| !known.null_is_valid) {
            let Some(accessed) = func.accessed(inst).filter(|a| !a.access.is_volatile) else { continue };
            let bases: Vec<Variable> =
                bases(func, accessed.address).take(CHAIN).map(|v| Variable(v.as_u32())).collect();
            if !bases.is_empty() {
                add.uses.insert(inst, bases);
            }
        }
        Code::extended(func, &add)
    }

    /// The operands of the program's instruction that are not null if it is survived, added ones among them.
    fn survivors(&self, at: Instruction) -> SmallVec<[usize; 2]> {
        let inst = self.code.inst(at);
        let mut found = self.dereferenced(inst);
        if let (false, Op::Load(_) | Op::Store(_)) = (found.is_empty(), &self.func.insts[inst].op) {
            found.extend(self.func.insts[inst].args.len()..self.code.program().uses(at).len());
        }
        found
    }

    /// The program with live ranges split where the strategy says: of uses only dereferences count, since nothing is
    /// learnt at others.
    pub fn split(&self) -> Ssi {
        let program = self.code.program();
        let mut points = vec![Vec::new(); program.variables()];
        for at in (0..program.instructions() as u32).map(Instruction) {
            for k in self.survivors(at) {
                points[program.uses(at)[k].index()].push(Point::At(at));
            }
        }
        for node in program.graph().nodes() {
            for test in program.tests(node).iter().filter(|t| t.kind == TestKind::Equality) {
                points[test.variable.index()].push(Point::Out(node));
            }
        }
        ssify_with(program, |v| SplitSet { down: std::mem::take(&mut points[v.index()]), up: Vec::new() })
    }

    /// The pointers through which an intrinsic copies or fills memory of a size that is known not to be zero.
    fn copied(&self, callee: &str, inst: Inst) -> SmallVec<[usize; 2]> {
        let args = &self.func.insts[inst].args;
        let pointers = match callee {
            _ if callee.starts_with("llvm.memset.") => 1,
            _ if ["llvm.memcpy.", "llvm.memmove."].iter().any(|p| callee.starts_with(p)) => 2,
            _ => 0,
        };
        // The last operand says whether the access is volatile.
        let counts = args.get(2).and_then(|&v| self.func.as_int(v)).is_some_and(|size| size > 0)
            && args.get(3).and_then(|&v| self.func.as_int(v)) == Some(0);
        if counts { (0..pointers).collect() } else { SmallVec::new() }
    }

    /// Whether a call returns null where the program is to expect it.
    pub(crate) fn may_fail(&self, inst: Inst) -> bool {
        match &self.func.insts[inst].op {
            Op::Call(call) => {
                call.callee.is_some_and(|s| MAY_FAIL.binary_search(&&*self.module.symbols[s].name).is_ok())
            }
            _ => false,
        }
    }

    /// What an instruction with one result yields, from what is known of its operands.
    pub(super) fn result(&self, inst: Inst, before: &impl Fn(usize) -> Nullness) -> Nullness {
        let data = &self.func.insts[inst];
        let ty = data.result().map_or(Type::Void, |v| self.func.ty(v));
        let is_scalar = matches!(ty, Type::Ptr(_) | Type::Int(_));
        if !is_scalar {
            return Nullness::UNKNOWN;
        }
        if self.known.results.contains(inst) {
            return Nullness::NOT_NULL;
        }
        match &data.op {
            Op::Alloca { .. } if ty == Type::Ptr(0) && !self.known.null_is_valid => Nullness::NOT_NULL,
            Op::Gep(_) => self.address(inst, before(0)),
            Op::ICmp(pred) => Nullness::compare(*pred, before(0), before(1)),
            Op::Select => {
                let condition = before(0);
                let arm = |is: bool, k: usize| if is { before(k) } else { Nullness::NONE };
                arm(condition.may_be_other(), 1).or(arm(condition.may_be_null(), 2))
            }
            Op::Cast(cast) => self.cast(*cast, self.func.ty(data.args[0]), ty, before(0)),
            Op::Binary(BinaryOp::Or) => {
                let (a, b) = (before(0), before(1));
                Nullness::truth(a.may_be_other() || b.may_be_other(), a.may_be_null() && b.may_be_null())
            }
            Op::Binary(BinaryOp::And) if ty == Type::Int(1) => {
                let (a, b) = (before(0), before(1));
                Nullness::truth(a.may_be_other() && b.may_be_other(), a.may_be_null() || b.may_be_null())
            }
            Op::ReadVar(_) | Op::WriteVar(_) => before(0),
            Op::Call(_) if self.may_fail(inst) => Nullness::NULL.or(Nullness::NOT_NULL),
            _ => Nullness::UNKNOWN,
        }
    }

    /// What an address is, computed from a base.
    fn address(&self, inst: Inst, base: Nullness) -> Nullness {
        let data = &self.func.insts[inst];
        if self.func.ty(data.args[0]) != Type::Ptr(0) || base == Nullness::NONE {
            return if base == Nullness::NONE { base } else { Nullness::UNKNOWN };
        }
        let unmoved = data.args[1..].iter().all(|&i| self.func.as_int(i) == Some(0));
        let inbounds = data.flags.contains(InstFlags::INBOUNDS) && !self.known.null_is_valid;
        if unmoved || inbounds { base } else { Nullness::UNKNOWN }
    }

    fn cast(&self, cast: CastOp, from: Type, to: Type, fact: Nullness) -> Nullness {
        let bits = self.module.layout.pointer_bits(0);
        let keeps = match (cast, from, to) {
            (CastOp::ZExt | CastOp::SExt, Type::Int(_), Type::Int(_)) => true,
            (CastOp::PtrToInt | CastOp::PtrToAddr, Type::Ptr(0), Type::Int(width)) => width >= bits,
            (CastOp::IntToPtr, Type::Int(width), Type::Ptr(0)) => width <= bits,
            (CastOp::Bitcast, _, _) => from == to,
            (CastOp::Trunc, Type::Int(_), Type::Int(_)) => false,
            _ => return Nullness::UNKNOWN,
        };
        // What is cut off may be all that was not zero.
        if keeps || !fact.may_be_other() { fact } else { fact.or(Nullness::UNKNOWN) }
    }

    /// What is known of an operand at a test: of a constant always the same.
    fn at_test(&self, facts: &Tested, v: Value) -> Nullness {
        match self.func.constant(v) {
            Some(c) => self.constant(c),
            None => facts.iter().find(|(w, _)| *w == v).map_or(Nullness::UNKNOWN, |(_, fact)| *fact),
        }
    }

    /// Applies what holds on an edge to what is known of the tested values.
    fn apply(&self, holds: &Holds, facts: &mut Tested) {
        let set = |facts: &mut Tested, v: Value, fact: Nullness| {
            if let Some(entry) = facts.iter_mut().find(|(w, _)| *w == v) {
                entry.1 = fact;
            }
        };
        match *holds {
            Holds::Compare(pred, a, b) => {
                let (x, y) = (self.at_test(facts, a), self.at_test(facts, b));
                let (x, y) = Nullness::compared(pred, x, y);
                set(facts, a, x);
                set(facts, b, y);
            }
            Holds::Is(v, number) => {
                let fact = self.at_test(facts, v);
                set(facts, v, if number == 0 { fact.if_null() } else { fact.if_not_null() });
            }
            Holds::IsNone(v, block) => {
                let term = self.func.terminator(block);
                let zero = matches!(&self.func.insts[term].op, Op::Switch(cases) if cases.contains(&0));
                if zero {
                    let fact = self.at_test(facts, v);
                    set(facts, v, fact.if_not_null());
                }
            }
        }
    }
}

impl Forward for NullPointers<'_> {
    type Fact = Nullness;

    fn on_entry(&self, variable: Variable) -> Nullness {
        let Some(v) = self.code.value(variable) else { return Nullness::UNKNOWN };
        if let Some(c) = self.func.constant(v) {
            return self.constant(c);
        }
        let position = self.func.params.iter().position(|&p| p == v);
        match position.is_some_and(|p| self.known.params.get(p) == Some(&true)) {
            true => Nullness::NOT_NULL,
            false => Nullness::UNKNOWN,
        }
    }

    fn instruction(&self, at: Instruction, facts: &mut impl ForwardFacts<Nullness>) {
        let inst = self.code.inst(at);
        let program = self.code.program();
        let results = program.definitions(at).len();
        if matches!(self.func.insts[inst].op, Op::ParallelCopy) {
            for k in 0..results {
                let fact = *facts.before(k);
                facts.define(k, fact);
            }
        } else if results == 1 {
            let fact = self.result(inst, &|k| *facts.before(k));
            facts.define(0, fact);
        } else {
            (0..results).for_each(|k| facts.define(k, Nullness::UNKNOWN));
        }
        for k in self.survivors(at) {
            let fact = facts.before(k).if_not_null();
            facts.refine(k, fact);
        }
    }

    fn edge(&self, edge: EdgeId, facts: &mut impl ForwardEdge<Nullness>) -> bool {
        let edge = self.code.edge(edge);
        let holds = conditions::on_edge(self.func, edge);
        if holds.is_empty() {
            return true;
        }
        let tests = self.code.program().tests(self.func.edges[edge].from.into());
        let mut known = Tested::new();
        for (k, test) in tests.iter().enumerate() {
            known.extend(self.code.value(test.variable).map(|v| (v, *facts.before(k))));
        }
        for h in &holds {
            self.apply(h, &mut known);
        }
        for (k, &(_, fact)) in known.iter().enumerate().filter(|&(k, _)| tests[k].kind == TestKind::Equality)
        {
            facts.refine(k, fact);
        }
        known.iter().all(|&(_, fact)| fact != Nullness::NONE)
    }
}
