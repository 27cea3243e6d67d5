//! What programs write in wide arithmetic for want of an operation on bytes or shorts.
//!
//! Each rule is a function of the value and a width, and says which narrow operation of which operands gives the low
//! bits of the value. The operands must fit the width; the arithmetic between them and the value must not wrap.

use warpline_dataflow::clients::intrinsics::{self, Intrinsic};
use warpline_dataflow::conditions::swapped;
use warpline_ir::{BinaryOp, Function, Inst, InstData, InstFlags, IntPred, Module, Op, Value};

use warpline_uniformity::shape::Shape;

use super::bounds::{Bounds, Seen, operands};
use super::plan::{Arg, How, Planner, mask};

/// A narrow operation and its operands.
pub(super) struct Idiom {
    pub(super) how: How,
    pub(super) args: [Arg; 2],
}

/// The narrow operation that gives the low bits of a value, if the module has it.
pub(super) fn of<F: Fn(Value) -> Shape>(planner: &Planner<'_, F>, v: Value, bits: u32) -> Option<Idiom> {
    if !matches!(bits, 8 | 16) || planner.func.ty(v).int_bits()? <= bits {
        return None;
    }
    let at = Place {
        module: planner.module,
        func: planner.func,
        bounds: planner.bounds,
        is_uniform: &|v| planner.is_uniform(v),
        bits,
    };
    let rules = [
        saturating_sum,
        saturating_difference,
        remainder_of_minimum,
        excess,
        average,
        signed_saturation,
        distance,
        chosen_distance,
        offset,
    ];
    let found = rules.iter().find_map(|rule| rule(&at, v))?;
    let is_there = match found.how {
        How::Function(base) => planner.has(base, bits),
        How::Distance { is_signed: false } | How::Excess => planner.has("usub.sat", bits),
        How::Offset { .. } => planner.has("uadd.sat", bits) && planner.has("usub.sat", bits),
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
    is_uniform: &'a dyn Fn(Value) -> bool,
    bits: u32,
}

impl Idiom {
    /// An operation on the low bits of two values.
    fn on(how: How, args: [Value; 2]) -> Idiom {
        Idiom { how, args: args.map(Arg::Low) }
    }
}

impl Place<'_> {
    /// The operands of a value that is one of these functions of two.
    fn called(&self, v: Value, functions: &[Intrinsic]) -> Option<[Value; 2]> {
        let (function, args) = called_or_chosen(self.module, self.func, self.func.def_inst(v)?)?;
        functions.contains(&function).then(|| [args[0], args[1]])
    }

    /// The other operand of one of these functions, of which one is this signed number.
    fn with_bound(&self, v: Value, functions: &[Intrinsic], bound: i128) -> Option<Value> {
        let [a, b] = self.called(v, functions)?;
        let bits = self.func.ty(v).int_bits()?;
        let is_bound = |v: Value| self.func.as_int(v) == Some(bound as u128 & mask(bits));
        if is_bound(b) { Some(a) } else { is_bound(a).then_some(b) }
    }

    /// Whether the operands of what makes a value fit as unsigned numbers where it is made.
    fn unsigned(&self, made: Value, args: &[Value; 2]) -> bool {
        args.iter().all(|&v| self.bounds.fits_unsigned(self.seen(made, v), self.bits))
    }

    /// Whether they fit as signed numbers.
    fn signed(&self, made: Value, args: &[Value; 2]) -> bool {
        args.iter().all(|&v| self.bounds.fits_signed(self.seen(made, v), self.bits))
    }

    /// An operand of what makes a value, as it is seen there.
    fn seen(&self, made: Value, arg: Value) -> Seen {
        self.func.def_inst(made).map_or(Seen::from(arg), |by| Seen::from((arg, by)))
    }
}

/// `min(p + q, greatest)`.
fn saturating_sum(at: &Place<'_>, v: Value) -> Option<Idiom> {
    let greatest = mask(at.bits) as i128;
    let natural = |v: &Value| at.bounds.is_not_negative(*v);
    let sum = at
        .with_bound(v, &[Intrinsic::UMin], greatest)
        .or_else(|| at.with_bound(v, &[Intrinsic::SMin], greatest).filter(natural))?;
    let args = operands(at.func, sum, BinaryOp::Add)?;
    at.unsigned(sum, &args).then_some(Idiom::on(How::Function("uadd.sat"), args))
}

/// `max(p - q, 0)`, signed.
fn saturating_difference(at: &Place<'_>, v: Value) -> Option<Idiom> {
    let difference = at.with_bound(v, &[Intrinsic::SMax], 0)?;
    let args = operands(at.func, difference, BinaryOp::Sub)?;
    at.unsigned(difference, &args).then_some(Idiom::on(How::Function("usub.sat"), args))
}

/// `(p + q + 1) >> 1`.
fn average(at: &Place<'_>, v: Value) -> Option<Idiom> {
    let shifted = |op: BinaryOp| operands(at.func, v, op);
    let natural = |[sum, by]: [Value; 2]| at.bounds.is_not_negative(sum).then_some([sum, by]);
    let [sum, by] = shifted(BinaryOp::LShr).or_else(|| shifted(BinaryOp::AShr).and_then(natural))?;
    let is_one = |v: Value| at.func.as_int(v) == Some(1);
    let [a, b] = operands(at.func, sum, BinaryOp::Add).filter(|_| is_one(by))?;
    // One is added to the sum, or to either number before.
    let less_one = |v: Value| {
        let [p, one] = operands(at.func, v, BinaryOp::Add)?;
        is_one(one).then_some(p)
    };
    let both = || operands(at.func, a, BinaryOp::Add).filter(|_| is_one(b));
    let first = || Some([less_one(a)?, b]);
    let args = both().or_else(first).or_else(|| Some([a, less_one(b)?]))?;
    at.unsigned(sum, &args).then_some(Idiom::on(How::Average, args))
}

/// A saturating difference in more bits, and `max(p, q) - q` and `p - min(p, q)` where `q` is the same in all lanes and
/// any number.
fn excess(at: &Place<'_>, v: Value) -> Option<Idiom> {
    let fits = |made: Value, p: Value| at.bounds.fits_unsigned(at.seen(made, p), at.bits);
    if let Some(args) = at.called(v, &[Intrinsic::USubSat]) {
        if at.unsigned(v, &args) {
            return Some(Idiom::on(How::Function("usub.sat"), args));
        }
        return beyond(at, args[0], args[1]).filter(|_| fits(v, args[0]));
    }
    let (made, [p, q]) = remainder(at, v)?;
    beyond(at, p, q).filter(|_| fits(made, p))
}

/// By how much one number exceeds another one, which is the same in all lanes.
fn beyond(at: &Place<'_>, p: Value, q: Value) -> Option<Idiom> {
    (at.is_uniform)(q).then_some(Idiom { how: How::Excess, args: [Arg::Low(p), Arg::Whole(q)] })
}

/// `max(p, q) - q` and `p - min(p, q)`.
fn remainder_of_minimum(at: &Place<'_>, v: Value) -> Option<Idiom> {
    let (made, args) = remainder(at, v)?;
    at.unsigned(made, &args).then_some(Idiom::on(How::Function("usub.sat"), args))
}

/// The maximum or minimum of `p` and `q` that one of these is made of, and both.
fn remainder(at: &Place<'_>, v: Value) -> Option<(Value, [Value; 2])> {
    let [from, what] = operands(at.func, v, BinaryOp::Sub)?;
    let other = |[a, b]: [Value; 2], one: Value| match (a == one, b == one) {
        (true, _) => Some(b),
        (_, true) => Some(a),
        _ => None,
    };
    let greater =
        at.called(from, &[Intrinsic::UMax]).and_then(|pair| Some((from, [other(pair, what)?, what])));
    greater.or_else(|| {
        let smaller = at.called(what, &[Intrinsic::UMin])?;
        Some((what, [from, other(smaller, from)?]))
    })
}

/// `min(max(p + q, least), greatest)` and the like with differences, and with both bounds in the other order.
fn signed_saturation(at: &Place<'_>, v: Value) -> Option<Idiom> {
    let bound = 1i128 << (at.bits - 1);
    let inner = |first: Intrinsic, a: i128, second: Intrinsic, b: i128| {
        at.with_bound(at.with_bound(v, &[first], a)?, &[second], b)
    };
    let exact = inner(Intrinsic::SMin, bound - 1, Intrinsic::SMax, -bound)
        .or_else(|| inner(Intrinsic::SMax, -bound, Intrinsic::SMin, bound - 1))?;
    let sum = operands(at.func, exact, BinaryOp::Add).map(|args| ("sadd.sat", args));
    let (name, args) = sum.or_else(|| Some(("ssub.sat", operands(at.func, exact, BinaryOp::Sub)?)))?;
    at.signed(exact, &args).then_some(Idiom::on(How::Function(name), args))
}

/// `|p - q|`.
fn distance(at: &Place<'_>, v: Value) -> Option<Idiom> {
    let [difference, _] = at.called(v, &[Intrinsic::Abs])?;
    let args = operands(at.func, difference, BinaryOp::Sub)?;
    distance_of(at, difference, args)
}

/// `p > q ? p - q : q - p`, by any order.
fn chosen_distance(at: &Place<'_>, v: Value) -> Option<Idiom> {
    let (args, is_signed) = at.bounds.chosen_distance(v)?;
    // Negative numbers have another order when they are compared as unsigned ones.
    if is_signed || at.unsigned(v, &args) { distance_of(at, v, args) } else { None }
}

/// `min(max(p + c, 0), greatest)` and the like with a difference or one of the bounds, where `c` is the same in all
/// lanes and any number.
fn offset(at: &Place<'_>, v: Value) -> Option<Idiom> {
    let greatest = mask(at.bits) as i128;
    let lower = |v: Value| at.with_bound(v, &[Intrinsic::SMax], 0);
    let upper = |v: Value| at.with_bound(v, &[Intrinsic::SMin], greatest);
    // What is not negative has one minimum, signed or not.
    let natural = |v: Value| at.with_bound(v, &[Intrinsic::UMin], greatest).and_then(lower);
    let both = natural(v).or_else(|| lower(upper(v)?)).or_else(|| upper(lower(v)?));
    let unsigned =
        || at.with_bound(v, &[Intrinsic::UMin], greatest).filter(|&v| at.bounds.is_not_negative(v));
    let (exact, below, above) = match both {
        Some(exact) => (exact, true, true),
        None => match upper(v).or_else(unsigned) {
            Some(exact) => (exact, false, true),
            None => (lower(v)?, true, false),
        },
    };
    let made = &at.func.insts[at.func.def_inst(exact)?];
    let is_exact = made.flags.contains(InstFlags::NSW)
        || made.args.iter().all(|&v| at.bounds.has_room(at.seen(exact, v)));
    let sum = operands(at.func, exact, BinaryOp::Add).map(|args| (args, false));
    let (args, subtract) = sum.or_else(|| Some((operands(at.func, exact, BinaryOp::Sub)?, true)))?;
    let fits = |p: Value, c: Value| {
        let seen = at.seen(exact, p);
        at.bounds.fits_unsigned(seen, at.bits) && at.bounds.is_not_negative(seen) && (at.is_uniform)(c)
    };
    let [p, c] = match args {
        [p, c] if fits(p, c) => [p, c],
        [c, p] if !subtract && fits(p, c) => [p, c],
        _ => return None,
    };
    is_exact
        .then_some(Idiom { how: How::Offset { subtract, below, above }, args: [Arg::Low(p), Arg::Whole(c)] })
}

/// The distance of two numbers that fit, unsigned or signed.
fn distance_of(at: &Place<'_>, made: Value, args: [Value; 2]) -> Option<Idiom> {
    let is_signed = !at.unsigned(made, &args);
    (!is_signed || at.signed(made, &args)).then_some(Idiom::on(How::Distance { is_signed }, args))
}

/// What an instruction computes of which operands, if that is a call of a function that is known or a selection by the
/// order of what it selects between, such as `p < q ? p : q`.
pub(crate) fn called_or_chosen<'a>(
    module: &Module,
    func: &'a Function,
    inst: Inst,
) -> Option<(Intrinsic, &'a [Value])> {
    let data = &func.insts[inst];
    match intrinsics::called(module, func, data) {
        Some(function) => Some((function, &data.args)),
        None => Some((chosen(func, data)?, &data.args[1..])),
    }
}

/// The function of what it selects between that a selection by their order is.
fn chosen(func: &Function, data: &InstData) -> Option<Intrinsic> {
    let (&Op::Select, &[c, p, q]) = (&data.op, &data.args[..]) else { return None };
    let compared = &func.insts[func.def_inst(c)?];
    let (&Op::ICmp(pred), &[x, y]) = (&compared.op, &compared.args[..]) else { return None };
    let pred = match (x, y) {
        _ if (x, y) == (p, q) => pred,
        _ if (x, y) == (q, p) => swapped(pred),
        _ => return None,
    };
    Some(match pred {
        IntPred::Slt | IntPred::Sle => Intrinsic::SMin,
        IntPred::Sgt | IntPred::Sge => Intrinsic::SMax,
        IntPred::Ult | IntPred::Ule => Intrinsic::UMin,
        IntPred::Ugt | IntPred::Uge => Intrinsic::UMax,
        IntPred::Eq | IntPred::Ne => return None,
    })
}
