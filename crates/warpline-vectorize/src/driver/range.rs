//! Range drivers of scalar kernels and of their W-lane variants.

use warpline_ir::{BinaryOp, Block, CastOp, FuncId, Function, InstFlags, IntPred, Module, Op, Type, Value};
use warpline_uniformity::shape::ArgShape;

use super::skeleton::{self, Groups};
use super::{BodyVariant, BodyVariants, FEW, check, index_widths};
use crate::VectorizeError;
use crate::builder::{Builder, I64, Loop};

/// Which ranges a range driver is run over.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Extent {
    /// Any.
    Any,
    /// Those in which no index wraps, and that do not end before they begin.
    WithoutWrap,
    /// Those, if they have so many indices, which are not none.
    Exactly(u32),
}

/// What a driver knows of a parameter of the kernel.
#[derive(Copy, Clone)]
struct Param {
    shape: ArgShape,
    ty: Type,
    /// The driver's own parameter; `None` for an index.
    own: Option<Value>,
}

/// The kernel's interface.
struct Interface {
    params: Vec<Param>,
    ret: Type,
    /// The widths of the index parameters.
    widths: Vec<u32>,
    begin: Value,
    end: Value,
    out: Option<Value>,
}

/// Adds a driver that calls the scalar kernel for each index, in order. `args` are the shapes of its parameters.
///
/// # Errors
/// If a varying parameter or the result cannot be an element of an array.
pub fn scalar_range(
    module: &mut Module,
    kernel: FuncId,
    args: &[ArgShape],
    name: &str,
) -> Result<FuncId, VectorizeError> {
    scalar_over(module, kernel, args, Extent::Any, name)
}

/// [`scalar_range`], for ranges of an `extent`.
///
/// # Errors
/// As [`scalar_range`].
pub fn scalar_over(
    module: &mut Module,
    kernel: FuncId,
    args: &[ArgShape],
    extent: Extent,
    name: &str,
) -> Result<FuncId, VectorizeError> {
    check(module, &module.functions[kernel], args)?;
    let mut b = Builder::new(module, name);
    let io = interface(&mut b, kernel, args);
    segments(&mut b, &io, extent, |b, io, at, count, done| {
        let state = state_at(b, io, at);
        one_by_one(b, io, kernel, (&state, count), done);
    });
    Ok(b.finish())
}

/// Calls the scalar kernel for each of so many indices from one on, in order. The loop's header.
fn one_by_one(
    b: &mut Builder,
    io: &Interface,
    kernel: FuncId,
    (state, count): (&[Value], Value),
    done: Block,
) -> Block {
    let offset = state[0];
    let l = b.begin_loop("index", count, 1, &state[1..]);
    let k = b.binary(BinaryOp::Add, offset, l.counter, InstFlags::NUW);
    let values = arguments(b, io, &l.inductions, k, None);
    let result = b.call(kernel, &values);
    if let (Some(x), Some(out)) = (result, io.out) {
        let ptr = b.element(out, io.ret, k);
        b.store(ptr, x, io.ret);
    }
    b.end_loop(&l, done);
    l.head
}

/// What is next where a range, or a part of it, begins: the position in the arrays, and the index parameters.
fn state_at(b: &mut Builder, io: &Interface, at: Value) -> Vec<Value> {
    let mut state = vec![offset(b, io, at)];
    state.extend(index_starts(b, io, at));
    state
}

/// Adds a driver that runs the kernel over a range, in [groups](super::groups) of as many indices as its `variants`
/// have lanes, or with the scalar kernel where it is short. In groups, varying parameters and results are vectors (or
/// scalars where W is 1); every other parameter is a scalar, lane 0's.
///
/// # Errors
/// If a varying parameter or the result cannot be an element of an array.
pub fn vector_range(
    module: &mut Module,
    kernel: FuncId,
    variants: &BodyVariants,
    args: &[ArgShape],
    name: &str,
) -> Result<FuncId, VectorizeError> {
    vector_over(module, kernel, variants, args, Extent::Any, name)
}

/// [`vector_range`], for ranges of an `extent`.
///
/// # Errors
/// As [`vector_range`].
pub fn vector_over(
    module: &mut Module,
    kernel: FuncId,
    variants: &BodyVariants,
    args: &[ArgShape],
    extent: Extent,
    name: &str,
) -> Result<FuncId, VectorizeError> {
    check(module, &module.functions[kernel], args)?;
    let mut b = Builder::new(module, name);
    let io = interface(&mut b, kernel, args);
    let masked = variants.tail.map(|tail| tail.lanes);
    let local = |b: &mut Builder, ty: Type| masked.map(|width| b.array(ty, width));
    let of_param = |p: &Param| if p.shape == ArgShape::Varying { local(&mut b, p.ty) } else { None };
    let locals = io.params.iter().map(of_param).collect();
    let local_out = io.out.and_then(|_| local(&mut b, io.ret));
    let range = Range { io: &io, kernel, locals, local_out };
    segments(&mut b, &io, extent, |b, io, at, count, done| {
        if variants.least > 0 {
            let (few, many) = (b.block("few"), b.block("many"));
            let least = b.int(64, variants.least.into());
            let is_short = b.icmp(IntPred::Ult, count, least);
            b.cond_br(is_short, few, many);
            b.at = few;
            let state = state_at(b, io, at);
            one_by_one(b, io, kernel, (&state, count), done);
            b.at = many;
        }
        let state = state_at(b, io, at);
        skeleton::emit(b, variants, &range, &state, count);
        b.br(done);
    });
    Ok(b.finish())
}

/// Adds a driver that has the scalar kernel execute a range of fewer indices than `least`, in order, and calls another
/// driver of it for others: what that begins with would take longer.
///
/// # Errors
/// If a varying parameter or the result cannot be an element of an array.
pub fn short_range(
    module: &mut Module,
    kernel: FuncId,
    range: FuncId,
    args: &[ArgShape],
    least: u32,
    name: &str,
) -> Result<FuncId, VectorizeError> {
    check(module, &module.functions[kernel], args)?;
    module.functions[range].noinline = true;
    let mut b = Builder::new(module, name);
    let io = interface(&mut b, kernel, args);
    let [few, some, many, exit] = ["few", "some", "many", "exit"].map(|name| b.block(name));
    // In a range that begins at 0 or behind it and ends before the least index that wraps, none does.
    let bound = io.widths.iter().map(|&w| 1i64 << (w - 1).min(62)).min().unwrap_or(i64::MAX);
    let few_are_left = least <= FEW;
    let (bound, least) = (b.int(64, (bound - i64::from(least)).max(0)), b.int(64, least.into()));
    let count = b.binary(BinaryOp::Sub, io.end, io.begin, InstFlags::empty());
    let is_short = b.icmp(IntPred::Ult, count, least);
    let is_inside = b.icmp(IntPred::Ult, io.begin, bound);
    let is_short = b.binary(BinaryOp::And, is_short, is_inside, InstFlags::empty());
    b.cond_br(is_short, few, many);
    b.at = few;
    let none = b.icmp(IntPred::Eq, io.begin, io.end);
    b.cond_br(none, exit, some);
    b.at = some;
    let state = state_at(&mut b, &io, io.begin);
    let header = one_by_one(&mut b, &io, kernel, (&state, count), exit);
    b.func.blocks[header].few = few_are_left;
    b.at = many;
    let all = b.func.params.clone();
    b.call(range, &all);
    b.br(exit);
    b.at = exit;
    b.ret();
    Ok(b.finish())
}

/// A range in groups. Their state is the position of the next index in the arrays, and what is next for the index
/// parameters.
struct Range<'a> {
    io: &'a Interface,
    /// The scalar kernel.
    kernel: FuncId,
    /// For parameters that vary and for results, room for what the masked tail is given and leaves.
    locals: Vec<Option<Value>>,
    local_out: Option<Value>,
}

impl Groups for Range<'_> {
    fn group(
        &self,
        b: &mut Builder,
        variant: BodyVariant,
        before: &[Value],
        count: Option<Value>,
    ) -> Vec<Value> {
        let (io, k) = (self.io, before[0]);
        match count {
            None => {
                let values = arguments(b, io, &before[1..], k, Some(variant));
                let result = b.call(variant.func, &values);
                if let (Some(x), Some(out)) = (result, io.out) {
                    let ptr = b.element(out, io.ret, k);
                    b.store_lanes(ptr, x, io.ret, variant.lanes);
                }
            }
            Some(count) => self.tail(b, variant, before, count),
        }
        let lanes = b.int(64, variant.lanes.into());
        all_advanced(b, before, count.unwrap_or(lanes))
    }

    /// Nothing of the state is in vectors.
    fn resized(&self, _: &mut Builder, _: BodyVariant, state: &[Value]) -> Vec<Value> {
        state.to_vec()
    }

    fn rest(&self, b: &mut Builder, state: &[Value], count: Value) -> Vec<Value> {
        let (rest, done) = (b.block("rest"), b.block("done"));
        let zero = b.int(64, 0);
        let some = b.icmp(IntPred::Ne, count, zero);
        let behind = all_advanced(b, state, count);
        b.cond_br(some, rest, done);
        b.at = rest;
        let header = one_by_one(b, self.io, self.kernel, (state, count), done);
        b.func.blocks[header].few = true;
        b.at = done;
        behind
    }

    /// What varies is not looked at.
    fn lead_arguments(&self, b: &mut Builder, state: &[Value]) -> Vec<Value> {
        let (mut indices, k) = (state[1..].iter().copied(), state[0]);
        let params = self.io.params.iter();
        params
            .map(|&p| match (p.shape, p.own) {
                (ArgShape::Index, _) => indices.next().unwrap_or(k),
                (ArgShape::Stride(n), Some(x)) => stride(b, x, n, k),
                (ArgShape::Consecutive, Some(x)) => consecutive(b, x, k),
                (ArgShape::Uniform, Some(x)) => x,
                _ => b.func.poison(p.ty),
            })
            .collect()
    }
}

/// The state so many indices on.
fn all_advanced(b: &mut Builder, state: &[Value], by: Value) -> Vec<Value> {
    state.iter().enumerate().map(|(i, &x)| advanced(b, x, by, i > 0)).collect()
}

/// A part of the state so many indices on. Indices do not wrap before the last one of their segment.
fn advanced(b: &mut Builder, x: Value, by: Value, is_index: bool) -> Value {
    let ty = b.func.ty(x);
    let op = if ty.int_bits().is_some_and(|bits| bits > 64) { CastOp::ZExt } else { CastOp::Trunc };
    let by = b.cast(op, by, ty);
    let flags = if is_index { InstFlags::NUW | InstFlags::NSW } else { InstFlags::NUW };
    b.binary(BinaryOp::Add, x, by, flags)
}

impl Range<'_> {
    /// The last `count` indices, through arrays of their own for what varies and for results.
    fn tail(&self, b: &mut Builder, variant: BodyVariant, before: &[Value], count: Value) {
        let (io, base) = (self.io, before[0]);
        let mut starts = before[1..].iter().copied();
        let mut values = Vec::new();
        for (i, p) in io.params.iter().enumerate() {
            let x = match (p.shape, p.own, self.locals[i]) {
                (ArgShape::Index, ..) => starts.next().unwrap_or(base),
                (ArgShape::Varying, Some(array), Some(local)) => {
                    copy(b, p.ty, (array, Some(base)), (local, None), count);
                    load_argument(b, local, p.ty, Some(variant), i)
                }
                (ArgShape::Stride(n), Some(x), _) => stride(b, x, n, base),
                (ArgShape::Consecutive, Some(x), _) => consecutive(b, x, base),
                (_, own, _) => own.unwrap_or(base),
            };
            values.push(x);
        }
        let mask = b.first_lanes(count, variant.func, variant.lanes);
        values.push(b.mask_argument(mask, variant.lanes));
        let result = b.call(variant.func, &values);
        if let (Some(x), Some(out), Some(local)) = (result, io.out, self.local_out) {
            b.store_lanes(local, x, io.ret, variant.lanes);
            copy(b, io.ret, (local, None), (out, Some(base)), count);
        }
    }
}

fn interface(b: &mut Builder, kernel: FuncId, args: &[ArgShape]) -> Interface {
    let func: &Function = &b.module.functions[kernel];
    let ret = func.ret;
    let widths = index_widths(func, args);
    let kernel_params: Vec<(Type, Box<str>)> =
        func.params.iter().map(|&p| (func.ty(p), func.values[p].name.clone())).collect();
    let begin = b.func.add_param(I64, "begin");
    let end = b.func.add_param(I64, "end");
    let mut params = Vec::new();
    for (i, (ty, name)) in kernel_params.into_iter().enumerate() {
        let shape = args.get(i).copied().unwrap_or(ArgShape::Uniform);
        let own = match shape {
            ArgShape::Index => None,
            ArgShape::Varying => Some(b.func.add_param(Type::PTR, &name)),
            _ => Some(b.func.add_param(ty, &name)),
        };
        params.push(Param { shape, ty, own });
    }
    let out = (!ret.is_void()).then(|| b.func.add_param(Type::PTR, "out"));
    Interface { params, ret, widths, begin, end, out }
}

/// Cuts the range where an index would wrap, if it has such an `extent`, and has `body` make the code for one part: it
/// gets the first index and the number of indices (not 0), and leads to the block it is given.
fn segments(
    b: &mut Builder,
    io: &Interface,
    extent: Extent,
    body: impl FnOnce(&mut Builder, &Interface, Value, Value, warpline_ir::Block),
) {
    let (segment, done, exit) = (b.block("segment"), b.block("done"), b.block("exit"));
    if extent != Extent::Any {
        let count = match extent {
            Extent::Exactly(count) => b.int(64, count.into()),
            _ => b.binary(BinaryOp::Sub, io.end, io.begin, InstFlags::empty()),
        };
        let zero = b.int(64, 0);
        let some = b.icmp(IntPred::Ne, count, zero);
        b.cond_br(some, segment, exit);
        b.at = segment;
        body(b, io, io.begin, count, done);
        b.at = done;
        b.br(exit);
        b.at = exit;
        b.ret();
        return;
    }
    let at = b.func.add_phi(segment, I64);
    let some = b.icmp(IntPred::Slt, io.begin, io.end);
    b.cond_br(some, segment, exit);
    b.pass(&[io.begin]);
    b.at = segment;
    let mut limit = io.end;
    if !io.widths.is_empty() {
        let mut bounds: Vec<i64> = io.widths.iter().filter(|&&w| w < 64).map(|&w| 1i64 << (w - 1)).collect();
        bounds.push(0);
        bounds.sort_unstable();
        for bound in bounds {
            let bound = b.int(64, bound);
            let below = b.icmp(IntPred::Slt, at, bound);
            let nearer = b.smin(limit, bound);
            limit = b.value(Op::Select, &[below, nearer, limit], I64);
        }
    }
    let count = b.binary(BinaryOp::Sub, limit, at, InstFlags::empty());
    body(b, io, at, count, done);
    b.at = done;
    let more = b.icmp(IntPred::Slt, limit, io.end);
    b.cond_br(more, segment, exit);
    b.pass(&[limit]);
    b.at = exit;
    b.ret();
}

/// Position of an index in the arrays.
fn offset(b: &mut Builder, io: &Interface, at: Value) -> Value {
    b.binary(BinaryOp::Sub, at, io.begin, InstFlags::empty())
}

/// The values of the index parameters at `at`, in order.
fn index_starts(b: &mut Builder, io: &Interface, at: Value) -> Vec<Value> {
    let types: Vec<Type> = io.params.iter().filter(|p| p.shape == ArgShape::Index).map(|p| p.ty).collect();
    types
        .into_iter()
        .map(|ty| match ty.int_bits() {
            Some(bits) if bits > 64 => b.cast(CastOp::SExt, at, ty),
            _ => b.cast(CastOp::Trunc, at, ty),
        })
        .collect()
}

/// The kernel's arguments for position `k` of the arrays: for one index, or for W of them, passed as the function given
/// wants them.
fn arguments(
    b: &mut Builder,
    io: &Interface,
    indices: &[Value],
    k: Value,
    vector: Option<BodyVariant>,
) -> Vec<Value> {
    let mut indices = indices.iter().copied();
    let mut values = Vec::new();
    for (i, &p) in io.params.iter().enumerate() {
        values.push(match (p.shape, p.own) {
            (ArgShape::Index, _) => indices.next().unwrap_or(k),
            (ArgShape::Varying, Some(array)) => {
                let ptr = b.element(array, p.ty, k);
                load_argument(b, ptr, p.ty, vector, i)
            }
            (ArgShape::Stride(n), Some(x)) => stride(b, x, n, k),
            (ArgShape::Consecutive, Some(x)) => consecutive(b, x, k),
            (_, own) => own.unwrap_or(k),
        });
    }
    values
}

/// The number so many behind another one.
fn consecutive(b: &mut Builder, x: Value, k: Value) -> Value {
    let bits = b.func.ty(x).int_bits().unwrap_or(64);
    let k = b.cast(if bits > 64 { CastOp::ZExt } else { CastOp::Trunc }, k, Type::Int(bits));
    b.binary(BinaryOp::Add, x, k, InstFlags::NUW | InstFlags::NSW)
}

/// `x + n·k` for an integer, or that many bytes further for a pointer.
fn stride(b: &mut Builder, x: Value, n: i64, k: Value) -> Value {
    let ty = b.func.ty(x);
    let bits = ty.int_bits().unwrap_or(64);
    let k = match bits {
        0..=64 => b.cast(CastOp::Trunc, k, Type::Int(bits)),
        _ => b.cast(CastOp::ZExt, k, Type::Int(bits)),
    };
    let n = b.int(bits, n);
    let by = b.binary(BinaryOp::Mul, k, n, InstFlags::empty());
    if ty.is_ptr() {
        b.value(Op::Gep(Type::Int(8)), &[x, by], ty)
    } else {
        b.binary(BinaryOp::Add, x, by, InstFlags::empty())
    }
}

/// Loads argument `param` of a kernel, or of all lanes if the function given takes it so.
fn load_argument(b: &mut Builder, ptr: Value, ty: Type, vector: Option<BodyVariant>, param: usize) -> Value {
    let lanes = vector.filter(|variant| {
        let func = &b.module.functions[variant.func];
        func.ty(func.params[param]) != ty
    });
    match lanes {
        Some(variant) => b.load_lanes(ptr, ty, variant.lanes),
        None => b.load(ptr, ty, None),
    }
}

/// Copies `count` elements (not 0) from one array to another, from the given positions.
fn copy(b: &mut Builder, ty: Type, from: (Value, Option<Value>), to: (Value, Option<Value>), count: Value) {
    let then = b.block("copied");
    let l = b.begin_loop("copy", count, 1, &[]);
    let position = |b: &mut Builder, l: &Loop, base: Option<Value>| match base {
        Some(base) => b.binary(BinaryOp::Add, base, l.counter, InstFlags::NUW),
        None => l.counter,
    };
    let source = position(b, &l, from.1);
    let source = b.element(from.0, ty, source);
    let x = b.load(source, ty, None);
    let target = position(b, &l, to.1);
    let target = b.element(to.0, ty, target);
    b.store(target, x, ty);
    b.end_loop(&l, then);
}
