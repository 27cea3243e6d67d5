//! The new instructions, and the removal of the old ones.

use std::collections::{BTreeMap, BTreeSet};

use warpline_ir::{
    BinaryOp, Block, CastOp, Function, Inst, InstFlags, IntPred, Module, Op, Type, Users, Value, ValueDef,
};

use super::choose::{Chosen, Kind, Root};
use super::compare::{self, Compared};
use super::functions;
use super::plan::{Arg, How, Node, Step, mask};

/// Makes the instructions that were chosen.
pub(super) fn emit(module: &Module, func: &mut Function, chosen: Chosen) {
    let Chosen { roots, steps, dead } = chosen;
    let mut emitter = Emitter { module, func, steps, made: BTreeMap::new(), new: Places::default() };
    let mut replaced: BTreeMap<Value, Value> = BTreeMap::new();
    for Root { inst, kind } in roots {
        let old = emitter.func.insts[inst].results[0];
        let new = match kind {
            Kind::Low(node) => emitter.value(node),
            Kind::Compare(compared, bits) => emitter.compare(inst, compared, bits),
            Kind::Extend(op, bits) => {
                let low = emitter.value((old, bits));
                let ty = emitter.func.ty(old);
                low.map(|low| emitter.before(inst, Op::Cast(op), &[low], ty))
            }
        };
        if let Some(new) = new {
            replaced.insert(old, new);
        }
    }
    emitter.place();
    func.map_operands(|mut v| {
        while let Some(&new) = replaced.get(&v) {
            v = new;
        }
        v
    });
    remove_unused(func, &dead);
}

/// Where new instructions are put.
#[derive(Default)]
struct Places {
    before: BTreeMap<Inst, Vec<Inst>>,
    behind: BTreeMap<Inst, Vec<Inst>>,
    /// Behind the φs of a block.
    first: BTreeMap<Block, Vec<Inst>>,
}

struct Emitter<'a> {
    module: &'a Module,
    func: &'a mut Function,
    steps: BTreeMap<Node, Step>,
    made: BTreeMap<Node, Value>,
    new: Places,
}

impl Emitter<'_> {
    /// The low bits of a value; `None` if that was not planned.
    fn value(&mut self, node: Node) -> Option<Value> {
        let mut work = vec![node];
        while let Some(&node) = work.last() {
            let step = self.steps.get(&node)?.clone();
            let missing: Vec<Node> = match &step {
                _ if self.made.contains_key(&node) => Vec::new(),
                &Step::Low(v) => vec![(v, node.1)],
                Step::Compute { args, at, .. } => args
                    .iter()
                    .filter_map(|&arg| match arg {
                        Arg::Low(v) => Some((v, *at)),
                        Arg::Whole(_) => None,
                    })
                    .collect(),
                _ => Vec::new(),
            };
            let missing: Vec<Node> = missing.into_iter().filter(|n| !self.made.contains_key(n)).collect();
            if missing.is_empty() {
                work.pop();
                if !self.made.contains_key(&node) {
                    let value = self.make(node, &step)?;
                    self.made.insert(node, value);
                }
            } else {
                work.extend(missing);
            }
        }
        self.made.get(&node).copied()
    }

    /// Makes a node of others that have been made.
    fn make(&mut self, (v, bits): Node, step: &Step) -> Option<Value> {
        let ty = Type::Int(bits);
        match *step {
            Step::Constant(c) => Some(self.func.int_const(bits, c)),
            Step::Same(v) => Some(v),
            Step::Low(v) => self.made.get(&(v, bits)).copied(),
            Step::Convert(op, from) if from == v => Some(self.behind(v, Op::Cast(op), &[from], ty)),
            Step::Convert(op, from) => Some(self.before(self.func.def_inst(v)?, Op::Cast(op), &[from], ty)),
            Step::Compute { how, ref args, at } => {
                let inst = self.func.def_inst(v)?;
                let mut values = Vec::new();
                for arg in args {
                    values.push(match *arg {
                        Arg::Whole(v) => v,
                        Arg::Low(v) => *self.made.get(&(v, at))?,
                    });
                }
                if how == How::Extend {
                    return Some(self.before(inst, Op::Cast(CastOp::ZExt), &values, ty));
                }
                let value = self.compute(inst, how, &values, at)?;
                match at > bits {
                    true => Some(self.before(inst, Op::Cast(CastOp::Trunc), &[value], ty)),
                    false => Some(value),
                }
            }
        }
    }

    /// One operation in `at` bits, in front of the instruction that it stands for.
    fn compute(&mut self, inst: Inst, how: How, args: &[Value], at: u32) -> Option<Value> {
        let ty = Type::Int(at);
        let op = match how {
            How::Binary(op) => Op::Binary(op),
            How::Select => Op::Select,
            How::Freeze => Op::Freeze,
            How::Extend => return None,
            How::Function(base) => functions::call(self.module, base, at)?,
            How::Absolute => {
                let stays = self.func.bool_const(false);
                let abs = functions::call(self.module, "abs", at)?;
                return Some(self.before(inst, abs, &[args[0], stays], ty));
            }
            How::Offset { subtract, below, above } => {
                return self.offset(inst, [args[0], args[1]], subtract, [below, above], at);
            }
            How::HighProduct { is_signed, plus, by } => {
                let more = self.func.int_const(16, u128::from(plus));
                let add = Op::Binary(BinaryOp::Add);
                let first =
                    if plus == 0 { args[0] } else { self.before(inst, add, &[args[0], more], Type::Int(16)) };
                return Some(self.high_product(inst, [first, args[1]], is_signed, by));
            }
            How::Average => return Some(self.average(inst, [args[0], args[1]], at)),
            How::Excess => return self.excess(inst, [args[0], args[1]], at),
            How::Distance { is_signed } => return self.distance(inst, [args[0], args[1]], is_signed, at),
        };
        Some(self.before(inst, op, args, ty))
    }

    /// The upper half of the product of two shorts, shifted to the right: in the form that recipes know.
    fn high_product(&mut self, inst: Inst, args: [Value; 2], is_signed: bool, by: u32) -> Value {
        let [short, wide] = [16, 32].map(Type::Int);
        let extension = Op::Cast(if is_signed { CastOp::SExt } else { CastOp::ZExt });
        let args = args.map(|v| self.before(inst, extension.clone(), &[v], wide));
        let product = self.before(inst, Op::Binary(BinaryOp::Mul), &args, wide);
        let half = self.func.int_const(32, 16);
        let upper = self.before(inst, Op::Binary(BinaryOp::LShr), &[product, half], wide);
        let upper = self.before(inst, Op::Cast(CastOp::Trunc), &[upper], short);
        let shift = Op::Binary(if is_signed { BinaryOp::AShr } else { BinaryOp::LShr });
        let by_value = self.func.int_const(16, u128::from(by));
        if by == 0 { upper } else { self.before(inst, shift, &[upper, by_value], short) }
    }

    /// Half of `p + q + 1`, in as many bits: the bits that either number has, less half of those that one has. LLVM
    /// knows it by that.
    fn average(&mut self, inst: Inst, args: [Value; 2], at: u32) -> Value {
        let ty = Type::Int(at);
        let args = args.map(|v| self.frozen(inst, v));
        let [either, one] =
            [BinaryOp::Or, BinaryOp::Xor].map(|op| self.before(inst, Op::Binary(op), &args, ty));
        let by = self.func.int_const(at, 1);
        let half = self.before(inst, Op::Binary(BinaryOp::LShr), &[one, by], ty);
        self.before(inst, Op::Binary(BinaryOp::Sub), &[either, half], ty)
    }

    /// `max(p - q, 0)` of unsigned numbers: what is above all that fit is brought to the greatest of these.
    fn excess(&mut self, inst: Inst, [p, q]: [Value; 2], at: u32) -> Option<Value> {
        let ty = self.func.ty(q);
        let q = self.frozen(inst, q);
        let greatest = self.func.int_const(ty.int_bits()?, mask(at));
        let is_above = self.before(inst, Op::ICmp(IntPred::Ugt), &[q, greatest], Type::BOOL);
        let nearest = self.before(inst, Op::Select, &[is_above, greatest, q], ty);
        let nearest = self.before(inst, Op::Cast(CastOp::Trunc), &[nearest], Type::Int(at));
        let op = functions::call(self.module, "usub.sat", at)?;
        Some(self.before(inst, op, &[p, nearest], Type::Int(at)))
    }

    /// `|p - q|`: of unsigned numbers, one of the saturating differences is it and the other is zero.
    fn distance(&mut self, inst: Inst, args: [Value; 2], is_signed: bool, at: u32) -> Option<Value> {
        let ty = Type::Int(at);
        let [p, q] = args.map(|v| self.frozen(inst, v));
        let names = if is_signed { ["smax", "smin"] } else { ["usub.sat"; 2] };
        let [first, second] = names.map(|name| functions::call(self.module, name, at));
        let (first, second) = (first?, second?);
        let first = self.before(inst, first, &[p, q], ty);
        let other = if is_signed { [p, q] } else { [q, p] };
        let second = self.before(inst, second, &other, ty);
        let joined = if is_signed { BinaryOp::Sub } else { BinaryOp::Or };
        Some(self.before(inst, Op::Binary(joined), &[first, second], ty))
    }

    /// `p + c` or `p - c`, brought to the nearest unsigned number below and above: what `c` adds and what it takes
    /// away, of which one is zero, saturate. On the other side the sum wraps.
    fn offset(
        &mut self,
        inst: Inst,
        [p, c]: [Value; 2],
        subtract: bool,
        [below, above]: [bool; 2],
        at: u32,
    ) -> Option<Value> {
        let (narrow, ty) = (Type::Int(at), self.func.ty(c));
        let bits = ty.int_bits()?;
        let c = self.frozen(inst, c);
        let zero = self.func.int_const(bits, 0);
        let greatest = self.func.int_const(bits, mask(at));
        let least = self.func.int_const(bits, mask(at).wrapping_neg() & mask(bits));
        let [saturates_more, saturates_less] = if subtract { [below, above] } else { [above, below] };
        let mut nearest = |pred: IntPred, v: Value, bound: Value| {
            let is_outside = self.before(inst, Op::ICmp(pred), &[v, bound], Type::BOOL);
            self.before(inst, Op::Select, &[is_outside, bound, v], ty)
        };
        let mut more = nearest(IntPred::Slt, c, zero);
        if saturates_more {
            more = nearest(IntPred::Sgt, more, greatest);
        }
        // The least integer has no counterpart.
        let mut less = c;
        if saturates_less {
            less = nearest(IntPred::Slt, less, least);
        }
        less = nearest(IntPred::Sgt, less, zero);
        let less = self.before(inst, Op::Binary(BinaryOp::Sub), &[zero, less], ty);
        let [more, less] = [more, less].map(|v| self.before(inst, Op::Cast(CastOp::Trunc), &[v], narrow));
        let [more, less] = if subtract { [less, more] } else { [more, less] };
        let mut apply = |p: Value, by: Value, name: &str, op: BinaryOp, saturates: bool| {
            let op = if saturates { functions::call(self.module, name, at)? } else { Op::Binary(op) };
            Some(self.before(inst, op, &[p, by], narrow))
        };
        let sum = apply(p, more, "uadd.sat", BinaryOp::Add, above)?;
        apply(sum, less, "usub.sat", BinaryOp::Sub, below)
    }

    /// A value of which all uses see the same.
    fn frozen(&mut self, inst: Inst, v: Value) -> Value {
        if self.func.constant(v).is_some() { v } else { self.before(inst, Op::Freeze, &[v], self.func.ty(v)) }
    }

    /// A comparison in fewer bits.
    fn compare(&mut self, inst: Inst, compared: Compared, bits: u32) -> Option<Value> {
        let mut args = compared.args;
        let mut clamped = None;
        if let Some(at) = compared.clamped {
            let (new, loc) = (&mut self.new, self.func.insts[inst].loc);
            let mut put = |func: &mut Function, op: Op, args: &[Value], ty: Type| {
                let made = func.make_inst(func.insts[inst].block, op, args, &[ty]);
                func.insts[made].loc = loc;
                new.before.entry(inst).or_default().push(made);
                func.insts[made].results[0]
            };
            let made = compare::clamp(self.func, &mut put, inst, (at, bits))?;
            args[at] = put(self.func, Op::Cast(CastOp::Trunc), &[made.nearest], Type::Int(bits));
            clamped = Some(made);
        }
        for (k, arg) in args.iter_mut().enumerate() {
            if compared.clamped != Some(k) {
                *arg = self.value((*arg, bits))?;
            }
        }
        let mut result = self.before(inst, Op::ICmp(compared.pred), &args, Type::BOOL);
        let corrections = clamped.map_or([None; 2], |c| [c.below, c.above]);
        for (outside, holds) in corrections.into_iter().flatten() {
            result = self.corrected(inst, result, outside, holds);
        }
        Some(result)
    }

    /// A comparison whose result is `holds` where `outside` is true.
    fn corrected(&mut self, inst: Inst, result: Value, outside: Value, holds: bool) -> Value {
        if holds {
            return self.before(inst, Op::Binary(BinaryOp::Or), &[result, outside], Type::BOOL);
        }
        let truth = self.func.bool_const(true);
        let inside = self.before(inst, Op::Binary(BinaryOp::Xor), &[outside, truth], Type::BOOL);
        self.before(inst, Op::Binary(BinaryOp::And), &[result, inside], Type::BOOL)
    }

    fn before(&mut self, inst: Inst, op: Op, args: &[Value], ty: Type) -> Value {
        let block = self.func.insts[inst].block;
        let new = self.instruction(block, op, args, ty);
        self.func.insts[new].loc = self.func.insts[inst].loc;
        self.new.before.entry(inst).or_default().push(new);
        self.func.insts[new].results[0]
    }

    /// An instruction behind the definition of a value.
    fn behind(&mut self, v: Value, op: Op, args: &[Value], ty: Type) -> Value {
        let (block, inst) = match self.func.values[v].def {
            ValueDef::Inst(inst, _) => (self.func.insts[inst].block, Some(inst)),
            _ => (self.func.entry(), None),
        };
        let new = self.instruction(block, op, args, ty);
        match inst.filter(|&inst| self.func.insts[inst].op != Op::Phi) {
            Some(inst) => self.new.behind.entry(inst).or_default().push(new),
            None => self.new.first.entry(block).or_default().push(new),
        }
        self.func.insts[new].results[0]
    }

    fn instruction(&mut self, block: Block, op: Op, args: &[Value], ty: Type) -> Inst {
        let new = self.func.make_inst(block, op, args, &[ty]);
        self.func.insts[new].flags = InstFlags::empty();
        new
    }

    /// Puts the new instructions into their blocks.
    fn place(&mut self) {
        for block in self.func.layout.clone() {
            let old = std::mem::take(&mut self.func.blocks[block].insts);
            let mut all = self.new.first.remove(&block).unwrap_or_default();
            for inst in old {
                all.extend(self.new.before.remove(&inst).unwrap_or_default());
                all.push(inst);
                all.extend(self.new.behind.remove(&inst).unwrap_or_default());
            }
            self.func.blocks[block].insts = all;
        }
    }
}

/// Removes instructions that nobody uses.
fn remove_unused(func: &mut Function, among: &BTreeSet<Inst>) {
    let users = Users::of(func);
    let mut uses: BTreeMap<Inst, usize> = BTreeMap::new();
    for &inst in among {
        uses.insert(inst, func.insts[inst].results.iter().map(|&v| users.get(v).len()).sum());
    }
    let mut work: Vec<Inst> = among.iter().copied().filter(|inst| uses[inst] == 0).collect();
    let mut gone = BTreeSet::new();
    while let Some(inst) = work.pop() {
        gone.insert(inst);
        for &a in &func.insts[inst].args {
            if let Some(made) = func.def_inst(a)
                && let Some(left) = uses.get_mut(&made)
            {
                *left -= 1;
                if *left == 0 {
                    work.push(made);
                }
            }
        }
    }
    for block in func.layout.clone() {
        func.blocks[block].insts.retain(|inst| !gone.contains(inst));
    }
}
