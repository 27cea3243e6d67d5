//! Between which numbers the integers of a function lie.
//!
//! These are the engine's [ranges](ranges), where values are defined and where instructions behind branches use them
//! (`if (d > 0) lo = min(lo + d, 255)` adds a positive number), and one relation between values that ranges do not see:
//! `p·m + q·(K − m)` is at most `K` times the greater of `p` and `q`, as in every blend by a weight.

use std::cell::RefCell;
use std::collections::BTreeMap;

use warpline_analysis::dataflow::{Instruction, solve_forward_narrowing};
use warpline_analysis::ssi::{Version, ssify};
use warpline_dataflow::Code;
use warpline_dataflow::clients::intrinsics::{self, Intrinsic};
use warpline_dataflow::clients::ranges::{Assumptions, Range, Ranges};
use warpline_ir::{BinaryOp, CastOp, Function, Inst, IntPred, Module, Op, Value};

/// How many sweeps of narrowing the solver makes.
const SWEEPS: usize = 2;
/// How deep sums and products are looked into for a better bound.
const MAX_DEPTH: u32 = 12;

/// What is known of parameters.
struct Parameters<'a>(&'a [Option<Range>]);

impl Assumptions for Parameters<'_> {
    fn parameter(&self, number: u32) -> Option<Range> {
        self.0.get(number as usize).copied().flatten()
    }
}

/// A value wherever it is defined, or as one of the instructions that use it sees it: what branches in front of that
/// say is known, and holds whenever the instruction is executed.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Seen {
    value: Value,
    by: Option<Inst>,
}

impl From<Value> for Seen {
    fn from(value: Value) -> Seen {
        Seen { value, by: None }
    }
}

impl From<(Value, Inst)> for Seen {
    fn from((value, by): (Value, Inst)) -> Seen {
        Seen { value, by: Some(by) }
    }
}

/// Bounds of all integers of a function as it is given.
pub(crate) struct Bounds<'a> {
    module: &'a Module,
    func: &'a Function,
    ranges: Vec<Option<Range>>,
    /// What some users know better.
    seen: BTreeMap<Seen, Range>,
    highs: RefCell<BTreeMap<Seen, u128>>,
}

impl<'a> Bounds<'a> {
    /// `known` says of parameters what is known of them.
    pub(crate) fn of(module: &'a Module, func: &'a Function, known: &[Option<Range>]) -> Bounds<'a> {
        let code = Code::with_makers(func);
        let ssi = ssify(code.program(), &Ranges::STRATEGY);
        let problem = Ranges::with(module, func, &code, Parameters(known));
        let solved = solve_forward_narrowing(code.program(), &ssi, &problem, SWEEPS);
        let range = |v: Value| solved.fact(Version(v.as_u32())).range().copied();
        let ranges: Vec<Option<Range>> = func.values.keys().map(range).collect();
        let mut seen = BTreeMap::new();
        let program = code.program();
        for at in (0..program.instructions() as u32).map(Instruction) {
            for (slot, &used) in program.use_slots(at).zip(program.uses(at)) {
                let version = ssi.used(slot).filter(|version| version.0 != used.0);
                let known = version.and_then(|version| solved.fact(version).range().copied());
                if let Some((v, known)) = code.value(used).zip(known)
                    && ranges[used.index()].is_some_and(|range| range != known)
                {
                    seen.insert(Seen::from((v, code.inst(at))), known);
                }
            }
        }
        Bounds { module, func, ranges, seen, highs: RefCell::default() }
    }

    /// Between which numbers a value lies, if it is an integer.
    pub(crate) fn range(&self, v: impl Into<Seen>) -> Option<&Range> {
        let v = v.into();
        match self.seen.get(&v) {
            Some(known) => Some(known),
            None => self.ranges.get(v.value.as_u32() as usize)?.as_ref(),
        }
    }

    /// Whether a value, read as an unsigned number, has at most so many bits.
    pub(crate) fn fits_unsigned(&self, v: impl Into<Seen>, bits: u32) -> bool {
        self.high(v.into(), MAX_DEPTH) < 1 << bits
    }

    /// Whether a value, read as an unsigned number, is less than a bound.
    pub(super) fn is_below(&self, v: impl Into<Seen>, bound: u128) -> bool {
        self.high(v.into(), MAX_DEPTH) < bound
    }

    /// Whether a value, read as a signed number, has at most so many bits.
    pub(crate) fn fits_signed(&self, v: impl Into<Seen>, bits: u32) -> bool {
        let bound = 1i128 << (bits - 1);
        self.range(v).is_some_and(|r| r.least() >= -bound && r.greatest() < bound)
    }

    /// Whether a value, read as a signed number, has a bit less than its type, so that sums and differences of two such
    /// values do not wrap.
    pub(crate) fn has_room(&self, v: impl Into<Seen>) -> bool {
        let v = v.into();
        let bits = self.width(v.value);
        matches!(bits, 2..=64) && self.fits_signed(v, bits - 1)
    }

    /// How many bits an integer has.
    pub(crate) fn width(&self, v: Value) -> u32 {
        self.func.ty(v).int_bits().unwrap_or(64)
    }

    /// Whether a value, read as a signed number, is never negative.
    pub(super) fn is_not_negative(&self, v: impl Into<Seen>) -> bool {
        let v = v.into();
        let own = self.func.ty(v.value).int_bits().filter(|&own| (2..=64).contains(&own));
        self.range(v).is_some_and(Range::is_not_negative)
            || own.is_some_and(|own| self.fits_unsigned(v, own - 1))
    }

    /// The numbers whose distance a value is by `p > q ? p - q : q - p`, and whether they are compared as signed ones.
    /// The comparison may be of what both are extensions of with zeros, which keeps an unsigned order.
    pub(super) fn chosen_distance(&self, v: Value) -> Option<([Value; 2], bool)> {
        let func = self.func;
        let data = &func.insts[func.def_inst(v)?];
        let &[condition, first, second] = &data.args[..] else { return None };
        let compared = &func.insts[func.def_inst(condition)?];
        let (&Op::Select, &Op::ICmp(pred)) = (&data.op, &compared.op) else { return None };
        let args @ [p, q] = opposite_differences(func, first, second)?;
        let (x, y) = (compared.args[0], compared.args[1]);
        let is_same = |v: Value, w: Value| v == w || without_zext(func, v) == without_zext(func, w);
        let forwards = is_same(x, p) && is_same(y, q);
        let backwards = is_same(x, q) && is_same(y, p);
        let (is_greater, is_signed) = match pred {
            IntPred::Ugt | IntPred::Uge => (true, false),
            IntPred::Ult | IntPred::Ule => (false, false),
            IntPred::Sgt | IntPred::Sge => (true, true),
            IntPred::Slt | IntPred::Sle => (false, true),
            _ => return None,
        };
        let in_order = if is_greater { forwards } else { backwards };
        (in_order && (!is_signed || func.ty(x) == func.ty(p))).then_some((args, is_signed))
    }

    /// The greatest unsigned number that a value may be.
    fn high(&self, v: Seen, depth: u32) -> u128 {
        let v = if self.seen.contains_key(&v) { v } else { Seen::from(v.value) };
        if let Some(&known) = self.highs.borrow().get(&v) {
            return known;
        }
        let Some(range) = self.range(v) else { return u128::MAX };
        let computed = match depth {
            0 => None,
            _ => self.high_of_operation(v.value, depth - 1),
        };
        let high = computed.map_or(range.high(), |computed| computed.min(range.high()));
        self.highs.borrow_mut().insert(v, high);
        high
    }

    /// The same by the bounds of the operands; `None` if these say nothing, or the result may wrap.
    fn high_of_operation(&self, v: Value, depth: u32) -> Option<u128> {
        let func = self.func;
        let inst = func.def_inst(v)?;
        let data = &func.insts[inst];
        let all = u128::MAX >> (128 - func.ty(v).int_bits().filter(|&bits| bits <= 64)?);
        let high = |k: usize| self.high(Seen::from((data.args[k], inst)), depth);
        let constant = |k: usize| func.as_int(data.args[k]);
        let exact = |v: u128| (v <= all).then_some(v);
        match data.op {
            Op::Binary(BinaryOp::Add) => {
                let blended = self.blended(data.args[0], data.args[1], depth);
                exact(blended.unwrap_or(high(0).saturating_add(high(1))))
            }
            Op::Binary(BinaryOp::Mul) => exact(high(0).saturating_mul(high(1))),
            Op::Binary(BinaryOp::UDiv) => constant(1).filter(|&d| d > 0).map(|d| high(0) / d),
            Op::Binary(BinaryOp::LShr) => constant(1).filter(|&by| by < 64).map(|by| high(0) >> by),
            Op::Select => {
                let ([p, q], is_signed) = self.chosen_distance(v)?;
                let own = func.ty(v).int_bits()?;
                let high = self.high(p.into(), depth).max(self.high(q.into(), depth));
                (!is_signed || high < 1 << (own - 1)).then_some(high)
            }
            Op::Cast(CastOp::ZExt) => Some(high(0)),
            Op::Cast(CastOp::Trunc) => exact(high(0)),
            Op::Call(_) if intrinsics::called(self.module, func, data) == Some(Intrinsic::UMin) => {
                Some(high(0).min(high(1)))
            }
            Op::Call(_) if intrinsics::called(self.module, func, data) == Some(Intrinsic::USubSat) => {
                Some(high(0))
            }
            _ => None,
        }
    }

    /// The greatest `p·m + q·n` where `m` and `n` add up to a constant.
    fn blended(&self, x: Value, y: Value, depth: u32) -> Option<u128> {
        let [x, y] = [x, y].map(|v| operands(self.func, v, BinaryOp::Mul));
        let (x, y) = (x?, y?);
        for (p, m) in [(x[0], x[1]), (x[1], x[0])] {
            for (q, n) in [(y[0], y[1]), (y[1], y[0])] {
                let sum = self.constant_sum(m, n, depth);
                if let Some(sum) = sum.or_else(|| self.constant_sum(n, m, depth)) {
                    let high = |v: Value| self.high(v.into(), depth);
                    return Some(high(p).max(high(q)).saturating_mul(sum));
                }
            }
        }
        None
    }

    /// The constant that two values add up to, if the second is made from the first as what it lacks to that.
    fn constant_sum(&self, m: Value, n: Value, depth: u32) -> Option<u128> {
        let func = self.func;
        let (m, n) = (without_zext(func, m), without_zext(func, n));
        let data = &func.insts[func.def_inst(n)?];
        let (whole, part) = match (&data.op, &data.args[..]) {
            (Op::Binary(BinaryOp::Sub), &[whole, part]) => (func.as_int(whole)?, part),
            (Op::Binary(BinaryOp::Xor), &[part, all]) => {
                (func.as_int(all).filter(|&all| all & all.wrapping_add(1) == 0)?, part)
            }
            _ => return None,
        };
        let is_part = without_zext(func, part) == m && self.high(part.into(), depth) <= whole;
        is_part.then_some(whole)
    }
}

/// The numbers of which the first value is the difference, and the second the opposite one. The difference to a
/// constant is a sum.
fn opposite_differences(func: &Function, first: Value, second: Value) -> Option<[Value; 2]> {
    let difference = |v: Value| operands(func, v, BinaryOp::Sub);
    let is_difference = |v: Value, x: Value, y: Value| {
        let bits = func.ty(v).int_bits().filter(|&bits| bits <= 64);
        let negated =
            func.as_int(y).zip(bits).map(|(y, bits)| y.wrapping_neg() & (u128::MAX >> (128 - bits)));
        let sum = operands(func, v, BinaryOp::Add);
        sum.is_some_and(|[a, b]| a == x && negated.is_some() && func.as_int(b) == negated)
    };
    match (difference(first), difference(second)) {
        (Some([p, q]), Some(other)) if other == [q, p] => Some([p, q]),
        (Some([p, q]), None) if is_difference(second, q, p) => Some([p, q]),
        (None, Some([q, p])) if is_difference(first, p, q) => Some([p, q]),
        _ => None,
    }
}

/// The operands of a value that is made by this operation.
pub(crate) fn operands(func: &Function, v: Value, op: BinaryOp) -> Option<[Value; 2]> {
    let data = &func.insts[func.def_inst(v)?];
    match (&data.op, &data.args[..]) {
        (&Op::Binary(made), &[a, b]) if made == op => Some([a, b]),
        _ => None,
    }
}

/// What a value is the zero-extension of.
pub(super) fn without_zext(func: &Function, v: Value) -> Value {
    match func.def_inst(v).map(|i| &func.insts[i]) {
        Some(data) if data.op == Op::Cast(CastOp::ZExt) => data.args[0],
        _ => v,
    }
}
