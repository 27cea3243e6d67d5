//! Indices of few bits that might wrap from one lane to the next.
//!
//! `uint i = get_global_id(0); a[i + offset] = b[i + offset];` is what kernels for GPUs look like. In C the sum is one
//! modulo 2³², so neighbouring lanes may have its greatest value and 0, and are not known to access neighbouring
//! elements: a gather and a scatter, for something that hardly ever happens. So what accesses memory by such indices is
//! made twice. In front of it stands the question whether a sum wraps in any of the lanes that there can be; if not, the
//! lanes go through a copy in which the index is lane 0's, extended, and as many steps behind it as the lane's number.
//!
//! The index minus the steps of a lane is the same in all lanes, so it is asked once for all of them. Whatever the
//! answer rests on, the index is the same in the copy: if lane 0's is not greater than the greatest number minus the
//! steps of all lanes, no sum of it and the steps of a lane wraps.

use std::collections::HashMap;

use cranelift_entity::EntitySet;
use warpline_dataflow::ssa;
use warpline_ir::{
    BinaryOp, Block, CastOp, Effects, Function, Inst, InstFlags, IntPred, LaneOp, Op, Type, Value, Var,
};
use warpline_uniformity::Uniformity;
use warpline_uniformity::shape::Shape;

use crate::choices::{Contract, MAX_WIDTH};
use crate::copies::{Blocks, Values, copy_blocks, join, locate, uses_elsewhere};
use crate::pass::{Context, Unit};
use crate::{Coherence, VectorizeError};

/// How many instructions are copied at most.
const MAX_INSTS: usize = 600;
/// So many operations of an address are looked through.
const DEPTH: u32 = 8;
/// Elements that are farther apart are gathered in any case.
const MAX_STEP: i64 = 4;
/// How much likelier it is that nothing wraps, as weights of branches say it.
const LIKELY: [u32; 2] = [2000, 1];

/// The pass.
pub(crate) fn run(unit: &mut Unit, cx: &Context<'_>) -> Result<bool, VectorizeError> {
    let options = cx.options;
    let (updates, sums) = (options.pieces.count() > 0, !options.sums.is_empty());
    let wanted = options.width > 1 && options.coherence != Coherence::Off && options.region.is_none();
    // What order proves of accesses, it proves of each by itself.
    let in_order = matches!(options.contract, Contract::Sequential | Contract::Independent);
    if !wanted || in_order || updates || sums || !extends(&unit.func) {
        return Ok(false);
    }
    let uniformity = cx.uniformity(unit);
    let func = &mut unit.func;
    let mut work = func.layout.clone();
    work.reverse();
    let (mut left, mut vars, mut changed) = (MAX_INSTS, Vec::new(), false);
    while let Some(b) = work.pop() {
        let Some(part) = (Search { func, uniformity: &uniformity }).part(b) else { continue };
        let Some(rest) = left.checked_sub(part.last + 1 - part.first) else { continue };
        left = rest;
        work.push(part.make_twice(func, &uniformity, b, &mut vars));
        changed = true;
    }
    ssa::construct_vars(func, &vars);
    Ok(changed)
}

/// Whether an address is computed from something of 32 bits, without which there is nothing to analyse.
fn extends(func: &Function) -> bool {
    let mut insts = func.layout.iter().flat_map(|&b| &func.blocks[b].insts);
    insts.any(|&i| func.accessed(i).is_some_and(|accessed| is_extended(func, accessed.address, DEPTH)))
}

/// Whether a sum has a part of 32 bits.
fn is_extended(func: &Function, v: Value, depth: u32) -> bool {
    let Some(i) = func.def_inst(v).filter(|_| depth > 0) else { return false };
    let data = &func.insts[i];
    match data.op {
        Op::Cast(CastOp::ZExt | CastOp::SExt) => func.ty(data.args[0]) == Type::Int(32),
        Op::Binary(BinaryOp::And) => func.as_int(data.args[1]) == Some(u32::MAX.into()),
        Op::Gep(_) | Op::Binary(BinaryOp::Add | BinaryOp::Sub) => {
            data.args.iter().any(|&a| is_extended(func, a, depth - 1))
        }
        _ => false,
    }
}

/// An index, and its extension to the bits of an address.
#[derive(Copy, Clone)]
struct Extended {
    index: Value,
    step: i64,
    is_signed: bool,
}

/// Instructions of a block, by their positions, that access memory by such indices.
struct Part {
    first: usize,
    last: usize,
    accesses: Vec<Inst>,
    indices: HashMap<Value, Extended>,
}

struct Search<'a> {
    func: &'a Function,
    uniformity: &'a Uniformity,
}

impl Search<'_> {
    /// The first part of a block that comes into question.
    fn part(&self, b: Block) -> Option<Part> {
        let mut part: Option<Part> = None;
        let mut inside: EntitySet<Inst> = EntitySet::new();
        for (at, i) in self.func.blocks[b].insts.iter().copied().enumerate() {
            if part.is_some() && !self.may_be_copied(i) {
                break;
            }
            if let Some(found) = self.indices(i) {
                let part = part.get_or_insert(Part {
                    first: at,
                    last: at,
                    accesses: Vec::new(),
                    indices: HashMap::new(),
                });
                // What is asked in front of all has to be there.
                let is_late = |x: &Extended| self.func.def_inst(x.index).is_some_and(|d| inside.contains(d));
                if found.values().any(is_late) {
                    break;
                }
                part.last = at;
                part.accesses.push(i);
                part.indices.extend(found);
            }
            if part.is_some() {
                inside.insert(i);
            }
        }
        part
    }

    fn may_be_copied(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        let is_access = self.func.accessed(i).is_some_and(|a| a.access.is_simple());
        let has_effects = data.effects().intersects(
            Effects::WRITES | Effects::ATOMIC | Effects::VOLATILE | Effects::NO_RETURN | Effects::CONVERGENT,
        );
        !data.op.is_terminator()
            && (is_access || !has_effects)
            && !matches!(data.op, Op::Alloca { .. } | Op::Lane(_) | Op::Call(_) | Op::Opaque(_))
    }

    /// The indices of an access, if nothing else keeps lanes from accessing what lies side by side.
    fn indices(&self, i: Inst) -> Option<HashMap<Value, Extended>> {
        let accessed = self.func.accessed(i).filter(|a| a.access.is_simple())?;
        if self.is_known(accessed.address) {
            return None;
        }
        let mut found = HashMap::new();
        self.collect(accessed.address, DEPTH, &mut found)?;
        (!found.is_empty()).then_some(found)
    }

    /// Whether lane 0's value and steps from it are known of a value. That is not so where what says that nothing wraps
    /// says nothing of lane 0 if it does not take part, as with a number in a group: the one among all less the group's
    /// first.
    fn is_known(&self, v: Value) -> bool {
        match self.uniformity.shape(v) {
            Shape::Uniform => true,
            Shape::Strided(stride) => stride.anchored,
            Shape::Varying => false,
        }
    }

    /// Notes the extensions that a value is a sum of; `None` if it is more than that.
    fn collect(&self, v: Value, depth: u32, found: &mut HashMap<Value, Extended>) -> Option<()> {
        if self.is_known(v) {
            return Some(());
        }
        let data = &self.func.insts[self.func.def_inst(v).filter(|_| depth > 0)?];
        match data.op {
            Op::Cast(cast @ (CastOp::ZExt | CastOp::SExt)) => {
                let is_narrow = self.func.ty(data.args[0]) == Type::Int(32);
                is_narrow.then(|| self.extended(v, data.args[0], cast == CastOp::SExt, found))?
            }
            // What was narrow and is extended, in one step.
            Op::Binary(BinaryOp::And) if self.func.as_int(data.args[1]) == Some(u32::MAX.into()) => {
                self.extended(v, data.args[0], false, found)
            }
            Op::Gep(_) | Op::Binary(BinaryOp::Add | BinaryOp::Sub) => {
                data.args.iter().try_for_each(|&a| self.collect(a, depth - 1, found))
            }
            _ => None,
        }
    }

    /// Notes an index, of which 32 bits are extended.
    fn extended(
        &self,
        v: Value,
        index: Value,
        is_signed: bool,
        found: &mut HashMap<Value, Extended>,
    ) -> Option<()> {
        let Shape::Strided(stride) = self.uniformity.shape(index) else { return None };
        let is_near = stride.anchored && stride.step.abs() <= MAX_STEP && self.func.ty(v) == WIDE;
        let is_near = is_near && may_be_whole(self.func, self.uniformity, index, DEPTH);
        is_near.then(|| _ = found.insert(v, Extended { index, step: stride.step, is_signed }))
    }
}

impl Part {
    /// Copies the part, and lets lanes go through the copy if no index wraps. The block behind both.
    fn make_twice(
        &self,
        func: &mut Function,
        uniformity: &Uniformity,
        b: Block,
        vars: &mut Vec<Var>,
    ) -> Block {
        let loc = func.insts[self.accesses[0]].loc;
        let behind = func.split_block(b, self.last + 1, "behind");
        let apart = func.split_block(b, self.first, "apart");
        let (mut copies, mut values) = (Blocks::new(), Values::new());
        copy_blocks(func, &[apart], &mut copies, &mut values);
        let copy = copies[apart].expect("the part is copied");
        func.blocks[copy].name = "beside".into();
        let mut uses = uses_elsewhere(func, &[apart]);
        uses.retain(|&(v, _)| values[v].is_some());
        join(func, &mut uses, &values, vars);
        let of_lane_0 = self.sorted().into_iter().map(|(_, x)| base(func, uniformity, b, x));
        let bases: Vec<Value> = of_lane_0.collect();
        self.access_by_steps(func, [b, apart, copy], &values, &bases);
        let asked = self.ask(func, b, &bases);
        let branch = func.set_terminator(b, Op::CondBr, &[asked], &[copy, apart]);
        let [to_copy, to_apart] = [0, 1].map(|k| func.insts[branch].edges[k]);
        (func.weights[to_copy], func.weights[to_apart]) = (Some(LIKELY[0]), Some(LIKELY[1]));
        for b in [b, copy] {
            locate(func, b, loc);
        }
        behind
    }

    /// The indices, the same ones in each order.
    fn sorted(&self) -> Vec<(Value, Extended)> {
        let mut all: Vec<_> = self.indices.iter().map(|(&v, &x)| (v, x)).collect();
        all.sort_unstable_by_key(|&(v, _)| v);
        all
    }

    /// Whether no index wraps.
    fn ask(&self, func: &mut Function, b: Block, bases: &[Value]) -> Value {
        let mut asked: Option<Value> = None;
        for ((_, x), &base) in self.sorted().into_iter().zip(bases) {
            let most = i128::from(MAX_WIDTH - 1) * i128::from(x.step.abs());
            let (least, greatest) = match x.is_signed {
                true => (-(1i128 << 31), (1i128 << 31) - 1),
                false => (0, (1i128 << 32) - 1),
            };
            let (pred, limit) = match (x.step > 0, x.is_signed) {
                (true, true) => (IntPred::Sle, greatest - most),
                (true, false) => (IntPred::Ule, greatest - most),
                (false, true) => (IntPred::Sge, least + most),
                (false, false) => (IntPred::Uge, least + most),
            };
            let limit = func.int_const(32, limit as u32 as u128);
            let fits = func.append_value(b, Op::ICmp(pred), &[base, limit], Type::BOOL);
            asked = Some(match asked {
                Some(others) => func.append_value(b, Op::Binary(BinaryOp::And), &[others, fits], Type::BOOL),
                None => fits,
            });
        }
        asked.expect("a part has an index")
    }

    /// Has the accesses of the copy go by lane 0's index and steps.
    fn access_by_steps(
        &self,
        func: &mut Function,
        [b, apart, copy]: [Block; 3],
        values: &Values,
        bases: &[Value],
    ) {
        let mut made: HashMap<Value, Value> = HashMap::new();
        for ((v, x), &base) in self.sorted().into_iter().zip(bases) {
            let cast = if x.is_signed { CastOp::SExt } else { CastOp::ZExt };
            let base = func.append_value(b, Op::Cast(cast), &[base], WIDE);
            let lane = func.append_value(b, Op::Lane(LaneOp::LaneIndex), &[], Type::Int(32));
            let lane = func.append_value(b, Op::Cast(CastOp::ZExt), &[lane], WIDE);
            let step = func.int_const(64, x.step as u64 as u128);
            let steps = exact(func, b, BinaryOp::Mul, [lane, step]);
            made.insert(v, exact(func, b, BinaryOp::Add, [base, steps]));
        }
        let insts = func.blocks[apart].insts.iter().enumerate();
        let positions: Vec<usize> =
            insts.filter_map(|(at, i)| self.accesses.contains(i).then_some(at)).collect();
        for at in positions.into_iter().rev() {
            let access = func.blocks[copy].insts[at];
            let original = func.blocks[apart].insts[at];
            let address = func.accessed(original).expect("it accesses memory").address;
            let mut new = Vec::new();
            // What one access is made of does not stand before the others.
            let moved = rebuilt(func, copy, address, (values, &mut made.clone()), &mut new);
            for arg in 0..func.insts[original].args.len() {
                if func.insts[original].args[arg] == address {
                    func.insts[access].args[arg] = moved;
                }
            }
            func.blocks[copy].insts.splice(at..at, new);
        }
    }
}

/// The bits of an address.
const WIDE: Type = Type::Int(64);

/// Wide arithmetic on numbers of 32 bits and less, which does not wrap.
fn exact(func: &mut Function, b: Block, op: BinaryOp, args: [Value; 2]) -> Value {
    let v = func.append_value(b, Op::Binary(op), &args, WIDE);
    let inst = func.def_inst(v).expect("it was added");
    func.insts[inst].flags = InstFlags::NSW;
    v
}

/// Lane 0's index.
fn base(func: &mut Function, uniformity: &Uniformity, b: Block, x: Extended) -> Value {
    let index = whole(func, uniformity, b, x.index);
    let lane = func.append_value(b, Op::Lane(LaneOp::LaneIndex), &[], Type::Int(32));
    let step = func.int_const(32, x.step as u32 as u128);
    let steps = func.append_value(b, Op::Binary(BinaryOp::Mul), &[lane, step], Type::Int(32));
    let index = match func.ty(index) {
        Type::Int(32) => index,
        _ => func.append_value(b, Op::Cast(CastOp::Trunc), &[index], Type::Int(32)),
    };
    func.append_value(b, Op::Binary(BinaryOp::Sub), &[index, steps], Type::Int(32))
}

/// Whether all lanes have a value or none has, once arithmetic makes no promises.
fn may_be_whole(func: &Function, uniformity: &Uniformity, v: Value, depth: u32) -> bool {
    is_whole(uniformity, v)
        || depth > 0
            && promising(func, v).is_some_and(|i| {
                func.insts[i].args.iter().all(|&a| may_be_whole(func, uniformity, a, depth - 1))
            })
}

fn is_whole(uniformity: &Uniformity, v: Value) -> bool {
    match uniformity.shape(v) {
        Shape::Uniform => true,
        Shape::Strided(stride) => stride.whole,
        Shape::Varying => false,
    }
}

/// What computes a value, if it is arithmetic that can promise not to wrap.
fn promising(func: &Function, v: Value) -> Option<Inst> {
    func.def_inst(v).filter(|&i| {
        matches!(
            func.insts[i].op,
            Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl)
                | Op::Cast(CastOp::Trunc)
        )
    })
}

/// An index computed without promises of arithmetic that it does not wrap: where the promises hold, it is the same;
/// where one of them does not, some lanes would have no value, and lanes had nothing in common.
fn whole(func: &mut Function, uniformity: &Uniformity, b: Block, v: Value) -> Value {
    let Some(i) = promising(func, v).filter(|_| !is_whole(uniformity, v)) else { return v };
    let data = func.insts[i].clone();
    let args: Vec<Value> = data.args.iter().map(|&a| whole(func, uniformity, b, a)).collect();
    func.append_value(b, data.op, &args, func.ty(v))
}

/// An address in the copy: what it is made of, as far as it depends on the extensions that were made anew.
fn rebuilt(
    func: &mut Function,
    copy: Block,
    v: Value,
    (values, made): (&Values, &mut HashMap<Value, Value>),
    new: &mut Vec<Inst>,
) -> Value {
    if let Some(&known) = made.get(&v) {
        return known;
    }
    let data = func.def_inst(v).map(|i| func.insts[i].clone());
    let data = data.filter(|data| matches!(data.op, Op::Gep(_) | Op::Binary(BinaryOp::Add | BinaryOp::Sub)));
    let other = values[v].expand().unwrap_or(v);
    let Some(data) = data else { return other };
    let args: Vec<Value> = data.args.iter().map(|&a| rebuilt(func, copy, a, (values, made), new)).collect();
    let same = |(&new, &old): (&Value, &Value)| new == values[old].expand().unwrap_or(old);
    if args.iter().zip(&data.args).all(same) {
        made.insert(v, other);
        return other;
    }
    let ty = func.ty(v);
    let inst = func.make_inst(copy, data.op, &args, &[ty]);
    (func.insts[inst].flags, func.insts[inst].loc) = (data.flags, data.loc);
    new.push(inst);
    let result = func.insts[inst].results[0];
    made.insert(v, result);
    result
}
