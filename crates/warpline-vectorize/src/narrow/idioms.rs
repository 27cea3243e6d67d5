//! What programs write in wide arithmetic for want of an operation on bytes or shorts.
//!
//! Each rule is a function of the value and a width, and says which narrow operation of which operands gives the low
//! bits of the value. The operands must fit the width; the arithmetic between them and the value must not wrap.

use warpline_dataflow::clients::intrinsics::{self, Intrinsic};
use warpline_ir::{BinaryOp, Function, IntPred, Module, Op, Value};

use super::bounds::{Bounds, without_zext};
use super::plan::{How, Planner, mask};

/// A narrow operation and its operands, of which it takes the low bits.
pub(super) struct Idiom {
    pub(super) how: How,
    pub(super) args: [Value; 2],
}

/// The narrow operation that gives the low bits of a value, if the module has it.
pub(super) fn of<F: Fn(Value) -> bool>(planner: &Planner<'_, F>, v: Value, bits: u32) -> Option<Idiom> {
    if !matches!(bits, 8 | 16) || planner.func.ty(v).int_bits()? <= bits {
        return None;
    }
    let at = Place { module: planner.module, func: planner.func, bounds: planner.bounds, bits };
    let rules = [
        saturating_sum,
        saturating_difference,
        remainder_of_minimum,
        signed_saturation,
        distance,
        chosen_distance,
    ];
    let found = rules.iter().find_map(|rule| rule(&at, v))?;
    let is_there = match found.how {
        How::Function(base) => planner.has(base, bits),
        How::Distance { is_signed: false } => planner.has("usub.sat", bits),
        How::Distance { is_signed: true } => planner.has("smax", bits) && planner.has("smin", bits),
        _ => true,
    };
    is_there.then_some(found)
}

/// A function and the width to which it is narrowed.
struct Place<'a> {
    module: &'a Module,
    func: &'a Function,
    bounds: &'a Bounds<'a>,
    bits: u32,
}

impl Place<'_> {
    /// The operands of a value that is made by this operation.
    fn binary(&self, v: Value, op: BinaryOp) -> Option<[Value; 2]> {
        let data = &self.func.insts[self.func.def_inst(v)?];
        match (&data.op, &data.args[..]) {
            (&Op::Binary(made), &[a, b]) if made == op => Some([a, b]),
            _ => None,
        }
    }

    /// The operands of a value that is one of these functions of two.
    fn called(&self, v: Value, functions: &[Intrinsic]) -> Option<[Value; 2]> {
        let data = &self.func.insts[self.func.def_inst(v)?];
        let called = intrinsics::called(self.module, self.func, data)?;
        functions.contains(&called).then(|| [data.args[0], data.args[1]])
    }

    /// The other operand of one of these functions, of which one is this signed number.
    fn with_bound(&self, v: Value, functions: &[Intrinsic], bound: i128) -> Option<Value> {
        let [a, b] = self.called(v, functions)?;
        let bits = self.func.ty(v).int_bits()?;
        let is_bound = |v: Value| self.func.as_int(v) == Some(bound as u128 & mask(bits));
        if is_bound(b) { Some(a) } else { is_bound(a).then_some(b) }
    }

    fn unsigned(&self, args: &[Value; 2]) -> bool {
        args.iter().all(|&v| self.bounds.fits_unsigned(v, self.bits))
    }

    fn signed(&self, args: &[Value; 2]) -> bool {
        args.iter().all(|&v| self.bounds.fits_signed(v, self.bits))
    }
}

/// `min(p + q, greatest)`.
fn saturating_sum(at: &Place<'_>, v: Value) -> Option<Idiom> {
    let greatest = mask(at.bits) as i128;
    let natural = |v: &Value| at.bounds.is_not_negative(*v);
    let sum = at
        .with_bound(v, &[Intrinsic::UMin], greatest)
        .or_else(|| at.with_bound(v, &[Intrinsic::SMin], greatest).filter(natural))?;
    let args = at.binary(sum, BinaryOp::Add)?;
    at.unsigned(&args).then_some(Idiom { how: How::Function("uadd.sat"), args })
}

/// `max(p - q, 0)`, signed.
fn saturating_difference(at: &Place<'_>, v: Value) -> Option<Idiom> {
    let difference = at.with_bound(v, &[Intrinsic::SMax], 0)?;
    let args = at.binary(difference, BinaryOp::Sub)?;
    at.unsigned(&args).then_some(Idiom { how: How::Function("usub.sat"), args })
}

/// `max(p, q) - q` and `p - min(p, q)`.
fn remainder_of_minimum(at: &Place<'_>, v: Value) -> Option<Idiom> {
    let [from, what] = at.binary(v, BinaryOp::Sub)?;
    let other = |[a, b]: [Value; 2], one: Value| match (a == one, b == one) {
        (true, _) => Some(b),
        (_, true) => Some(a),
        _ => None,
    };
    let greater = at.called(from, &[Intrinsic::UMax]).and_then(|pair| Some([other(pair, what)?, what]));
    let args = greater.or_else(|| {
        let smaller = at.called(what, &[Intrinsic::UMin])?;
        Some([from, other(smaller, from)?])
    })?;
    at.unsigned(&args).then_some(Idiom { how: How::Function("usub.sat"), args })
}

/// `min(max(p + q, least), greatest)` and the like with differences, and with both bounds in the other order.
fn signed_saturation(at: &Place<'_>, v: Value) -> Option<Idiom> {
    let bound = 1i128 << (at.bits - 1);
    let inner = |first: Intrinsic, a: i128, second: Intrinsic, b: i128| {
        at.with_bound(at.with_bound(v, &[first], a)?, &[second], b)
    };
    let exact = inner(Intrinsic::SMin, bound - 1, Intrinsic::SMax, -bound)
        .or_else(|| inner(Intrinsic::SMax, -bound, Intrinsic::SMin, bound - 1))?;
    let sum = at.binary(exact, BinaryOp::Add).map(|args| ("sadd.sat", args));
    let (name, args) = sum.or_else(|| Some(("ssub.sat", at.binary(exact, BinaryOp::Sub)?)))?;
    at.signed(&args).then_some(Idiom { how: How::Function(name), args })
}

/// `|p - q|`.
fn distance(at: &Place<'_>, v: Value) -> Option<Idiom> {
    let [difference, _] = at.called(v, &[Intrinsic::Abs])?;
    let args = at.binary(difference, BinaryOp::Sub)?;
    distance_of(at, args)
}

/// `p > q ? p - q : q - p`, by any order.
fn chosen_distance(at: &Place<'_>, v: Value) -> Option<Idiom> {
    let data = &at.func.insts[at.func.def_inst(v)?];
    let &[condition, first, second] = &data.args[..] else { return None };
    let compared = &at.func.insts[at.func.def_inst(condition)?];
    let (&Op::Select, &Op::ICmp(pred)) = (&data.op, &compared.op) else { return None };
    let args @ [p, q] = at.binary(first, BinaryOp::Sub)?;
    (at.binary(second, BinaryOp::Sub)? == [q, p]).then_some(())?;
    // The comparison may be of what both are extensions of, which keeps the order.
    let bare = |v: Value| without_zext(at.func, v);
    let (x, y) = (compared.args[0], compared.args[1]);
    let is_same = |v: Value, w: Value| v == w || bare(v) == bare(w);
    let forwards = is_same(x, p) && is_same(y, q);
    let backwards = is_same(x, q) && is_same(y, p);
    let (is_greater, is_less, is_signed) = match pred {
        IntPred::Ugt | IntPred::Uge => (true, false, false),
        IntPred::Ult | IntPred::Ule => (false, true, false),
        IntPred::Sgt | IntPred::Sge => (true, false, true),
        IntPred::Slt | IntPred::Sle => (false, true, true),
        _ => return None,
    };
    (forwards && is_greater || backwards && is_less).then_some(())?;
    let is_wide = at.func.ty(x) == at.func.ty(p);
    // Narrow numbers that are compared with their signs have another order than their extensions with zeros.
    let fits = if is_signed { is_wide } else { at.unsigned(&args) };
    if fits { distance_of(at, args) } else { None }
}

/// The distance of two numbers that fit, unsigned or signed.
fn distance_of(at: &Place<'_>, args: [Value; 2]) -> Option<Idiom> {
    let is_signed = !at.unsigned(&args);
    (!is_signed || at.signed(&args)).then_some(Idiom { how: How::Distance { is_signed }, args })
}
