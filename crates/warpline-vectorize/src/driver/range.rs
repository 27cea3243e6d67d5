//! Range drivers of scalar kernels and of their W-lane forms.

use warpline_ir::{BinaryOp, CastOp, FuncId, Function, InstFlags, IntPred, Module, Op, Type, Value};
use warpline_uniformity::shape::ArgShape;

use super::{Form, Forms, before_whole_groups, check, index_widths};
use crate::VectorizeError;
use crate::builder::{Builder, I64, Loop};

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
    check(module, &module.functions[kernel], args)?;
    let mut b = Builder::new(module, name);
    let io = interface(&mut b, kernel, args);
    segments(&mut b, &io, None, |b, io, at, count, done| {
        let offset = offset(b, io, at);
        let starts = index_starts(b, io, at);
        let l = b.begin_loop("index", count, 1, &starts);
        let k = b.binary(BinaryOp::Add, offset, l.counter, InstFlags::NUW);
        let values = arguments(b, io, &l.inductions, k, None);
        let result = b.call(kernel, &values);
        if let (Some(x), Some(out)) = (result, io.out) {
            let ptr = b.element(out, io.ret, k);
            b.store(ptr, x, io.ret);
        }
        b.end_loop(&l, done);
    });
    Ok(b.finish())
}

/// Adds a driver that runs the kernel over a range, in [groups](super::groups) of as many indices as its `forms` have
/// lanes. In these, varying parameters and results are vectors (or scalars where W is 1); every other parameter is a
/// scalar, lane 0's.
///
/// # Errors
/// If a varying parameter or the result cannot be an element of an array.
pub fn vector_range(
    module: &mut Module,
    kernel: FuncId,
    forms: &Forms,
    args: &[ArgShape],
    name: &str,
) -> Result<FuncId, VectorizeError> {
    check(module, &module.functions[kernel], args)?;
    let mut b = Builder::new(module, name);
    let io = interface(&mut b, kernel, args);
    let width = forms.rest.lanes;
    let locals: Vec<Option<Value>> =
        io.params.iter().map(|p| (p.shape == ArgShape::Varying).then(|| b.array(p.ty, width))).collect();
    let local_out = io.out.map(|_| b.array(io.ret, width));
    segments(&mut b, &io, Some(forms), |b, io, at, count, done| {
        let part = Part { offset: offset(b, io, at), starts: index_starts(b, io, at) };
        let (mut from, mut left) = (None, count);
        for &form in &forms.groups {
            (from, left) = part.whole_groups(b, io, form, from, left);
        }
        let zero = b.int(64, 0);
        let tail = b.block("tail");
        let any_rest = b.icmp(IntPred::Ne, left, zero);
        b.cond_br(any_rest, tail, done);
        b.at = tail;
        part.rest(b, io, forms.rest, (&locals, local_out), from.unwrap_or(zero), left);
        b.br(done);
    });
    Ok(b.finish())
}

/// A part of the range in which no index wraps.
struct Part {
    /// The position of its first index in the arrays.
    offset: Value,
    /// What the index parameters begin with.
    starts: Vec<Value>,
}

impl Part {
    /// The index parameters so many indices on.
    fn starts_at(&self, b: &mut Builder, from: Option<Value>) -> Vec<Value> {
        let Some(from) = from else { return self.starts.clone() };
        let later = |b: &mut Builder, start: Value| {
            let ty = b.func.ty(start);
            let op = if ty.int_bits().is_some_and(|bits| bits > 64) { CastOp::ZExt } else { CastOp::Trunc };
            let by = b.cast(op, from, ty);
            b.binary(BinaryOp::Add, start, by, InstFlags::NUW | InstFlags::NSW)
        };
        self.starts.iter().map(|&start| later(b, start)).collect()
    }

    /// Whole groups of the `left` indices behind the first `from`, which is `None` for none. How many there are
    /// before what is left over, and how many these are.
    fn whole_groups(
        &self,
        b: &mut Builder,
        io: &Interface,
        form: Form,
        from: Option<Value>,
        left: Value,
    ) -> (Option<Value>, Value) {
        let w = b.int(64, i64::from(form.lanes));
        let rest = b.binary(BinaryOp::URem, left, w, InstFlags::empty());
        let whole = b.binary(BinaryOp::Sub, left, rest, InstFlags::NUW);
        let zero = b.int(64, 0);
        let any_whole = b.icmp(IntPred::Ne, whole, zero);
        let (preheader, behind) = (b.block("groups"), b.block("rest"));
        b.cond_br(any_whole, preheader, behind);

        b.at = preheader;
        let starts = self.starts_at(b, from);
        let offset = match from {
            Some(from) => b.binary(BinaryOp::Add, self.offset, from, InstFlags::NUW),
            None => self.offset,
        };
        let l = b.begin_loop("group", whole, u64::from(form.lanes), &starts);
        let k = b.binary(BinaryOp::Add, offset, l.counter, InstFlags::NUW);
        let values = arguments(b, io, &l.inductions, k, Some(form));
        let result = b.call(form.func, &values);
        if let (Some(x), Some(out)) = (result, io.out) {
            let ptr = b.element(out, io.ret, k);
            b.store_lanes(ptr, x, io.ret, form.lanes);
        }
        b.end_loop(&l, behind);
        let done = match from {
            Some(from) => b.binary(BinaryOp::Add, from, whole, InstFlags::NUW),
            None => whole,
        };
        (Some(done), rest)
    }

    /// The last `count` indices, behind the first `from`, through arrays of their own for what varies and for results.
    fn rest(
        &self,
        b: &mut Builder,
        io: &Interface,
        form: Form,
        (locals, local_out): (&[Option<Value>], Option<Value>),
        from: Value,
        count: Value,
    ) {
        let base = b.binary(BinaryOp::Add, self.offset, from, InstFlags::NUW);
        let mut starts = self.starts_at(b, Some(from)).into_iter();
        let mut values = Vec::new();
        for (i, p) in io.params.iter().enumerate() {
            let x = match (p.shape, p.own, locals[i]) {
                (ArgShape::Index, ..) => starts.next().unwrap_or(base),
                (ArgShape::Varying, Some(array), Some(local)) => {
                    copy(b, p.ty, (array, Some(base)), (local, None), count);
                    load_argument(b, local, p.ty, Some(form), i)
                }
                (ArgShape::Stride(n), Some(x), _) => stride(b, x, n, base),
                (_, own, _) => own.unwrap_or(base),
            };
            values.push(x);
        }
        let numbers = b.lanes(8, form.lanes, u128::from);
        let limit = b.cast(CastOp::Trunc, count, Type::Int(8));
        let limit = b.splat(limit, form.lanes);
        let mask = b.icmp(IntPred::Ult, numbers, limit);
        values.push(b.mask_argument(mask, form.lanes));
        let result = b.call(form.func, &values);
        if let (Some(x), Some(out), Some(local)) = (result, io.out, local_out) {
            b.store_lanes(local, x, io.ret, form.lanes);
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

/// Cuts the range where an index would wrap and, if these forms have a lead, behind that, and has `body` make the
/// code for one part: it gets the first index and the number of indices (not 0), and leads to the block it is given.
fn segments(
    b: &mut Builder,
    io: &Interface,
    forms: Option<&Forms>,
    body: impl FnOnce(&mut Builder, &Interface, Value, Value, warpline_ir::Block),
) {
    let (segment, done, exit) = (b.block("segment"), b.block("done"), b.block("exit"));
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
    let mut count = b.binary(BinaryOp::Sub, limit, at, InstFlags::empty());
    if let Some((forms, lead)) = forms.and_then(|forms| Some((forms, forms.lead?))) {
        let (offset, starts) = (offset(b, io, at), index_starts(b, io, at));
        let values = arguments_of_lead(b, io, &starts, offset);
        let lead = b.call(lead, &values).expect("a lead is a number");
        count = before_whole_groups(b, forms, lead, count);
        limit = b.binary(BinaryOp::Add, at, count, InstFlags::empty());
    }
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
    vector: Option<Form>,
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
            (_, own) => own.unwrap_or(k),
        });
    }
    values
}

/// The kernel's arguments for position `k` of the arrays, but for those that vary.
fn arguments_of_lead(b: &mut Builder, io: &Interface, indices: &[Value], k: Value) -> Vec<Value> {
    let mut indices = indices.iter().copied();
    let params = io.params.iter();
    params
        .map(|&p| match (p.shape, p.own) {
            (ArgShape::Index, _) => indices.next().unwrap_or(k),
            (ArgShape::Stride(n), Some(x)) => stride(b, x, n, k),
            (ArgShape::Uniform, Some(x)) => x,
            _ => b.func.poison(p.ty),
        })
        .collect()
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
fn load_argument(b: &mut Builder, ptr: Value, ty: Type, vector: Option<Form>, param: usize) -> Value {
    let lanes = vector.filter(|form| {
        let func = &b.module.functions[form.func];
        func.ty(func.params[param]) != ty
    });
    match lanes {
        Some(form) => b.load_lanes(ptr, ty, form.lanes),
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
