//! Between which numbers an index is in all iterations of a loop, found when the loop begins.
//!
//! `b[i / 2]`, `b[i % k]` and `b[i < r ? 0 : i - r]` do not move by one step, but lie between ends that are soon
//! computed: interval arithmetic on what the index is computed from, with the counters of the loop and of loops
//! within at their first and last numbers. Intervals are of signed numbers of 64 bits; what would not be computed as
//! in mathematics is required not to be when the code runs.

use super::checks::Resolve;
use super::counted;
use super::scalar::Tree;
use super::span::{Emitter, Number, Span};
use warpline_dataflow::linear::Extension;
use warpline_ir::{BinaryOp, Block, CastOp, Inst, IntPred, Op, Value, ValueDef};

/// So many operations are followed.
const MAX_SIZE: usize = 32;

/// What grows by more in an iteration is not looked at.
const MAX_GROWTH: u128 = 1 << 28;

/// Greater numbers of 64 bits than 2 to this power, less one, are not computed with.
const MAX_BITS: u32 = 41;

/// Masks below this are of low bits.
const MAX_FLIPPED: i64 = 1 << 20;

/// An interval of numbers.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Interval {
    /// These numbers, both included.
    Known(i64, i64),
    /// What grows by the same in all iterations.
    Linear(Tree),
    /// From the first one to one less than the second one and a constant, or to the first one, if that is greater.
    /// The flag says that it must not be.
    Counted(Box<(Interval, Interval)>, i64, bool),
    /// Numbers of so many bits that are [loaded](super::inspect), one behind the other.
    Loaded(Box<Span>, u32),
    /// What comes of computing with others, with so many bits.
    Of(Step, Vec<Interval>, u32),
}

/// How intervals are computed with.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Add,
    Sub,
    Mul,
    /// By a positive number.
    Divide,
    /// The same, of numbers that must not be negative.
    DivideNatural,
    /// The remainder by a positive number, signed as what is divided.
    Remainder,
    /// The same, never negative.
    Modulo,
    /// To a multiple of a power of two, which the mask says. With one that leaves topmost bits out, of numbers that
    /// must not have these.
    RoundDown,
    /// With bits flipped or set that a mask of the lowest bits has; the other bits are given, and these.
    WithLow,
    /// By a constant.
    Shift,
    ShiftNatural,
    /// Not negative, and at most this, which must not be negative.
    UpTo,
    Min,
    Max,
    MinNatural,
    MaxNatural,
    Abs,
    /// A natural number less another one, but not less than 0.
    Less,
    /// One of several.
    Either,
    /// To fewer bits.
    Narrow,
    /// Of numbers that must not be negative.
    Natural,
}

impl Resolve<'_, '_> {
    /// The interval of a number where it is used in a block, read as the use does.
    pub(super) fn interval(&self, v: Value, extension: Extension, at: Block) -> Option<Interval> {
        let found = self.within(v, at, &mut { MAX_SIZE })?;
        Some(read(found, extension))
    }

    fn within(&self, v: Value, at: Block, left: &mut usize) -> Option<Interval> {
        *left = left.checked_sub(1)?;
        let func = self.c.func;
        let bits = func.ty(v).int_bits().filter(|&bits| bits <= 64)?;
        if let Some(n) = func.as_int(v) {
            let n = i64::try_from(((n << (128 - bits)) as i128) >> (128 - bits)).ok()?;
            return Some(Interval::Known(n, n));
        }
        let grows = |t: &Tree| t.growth().is_some_and(|by| by.unsigned_abs() < MAX_GROWTH);
        if let Some(tree) = Tree::of(func, self.region, v).filter(grows) {
            return Some(Interval::Linear(tree));
        }
        let ValueDef::Inst(inst, _) = func.values[v].def else { return None };
        if let Some(counted) = self.counted(v, at, left) {
            return Some(counted);
        }
        self.operation(inst, bits, left).or_else(|| self.narrow(v))
    }

    /// All numbers of a narrow type.
    fn narrow(&self, v: Value) -> Option<Interval> {
        let bits = self.c.func.ty(v).int_bits().filter(|&bits| bits <= 16)?;
        Some(Interval::Known(-(1 << (bits - 1)), (1 << (bits - 1)) - 1))
    }

    /// The counter of a loop within the kernel.
    fn counted(&self, v: Value, at: Block, left: &mut usize) -> Option<Interval> {
        let counted = counted::range(self.c.func, self.c.uniformity.cycles(), v, at)?;
        let extension = counted.extension.or(Extension::Signed);
        let mut ends = |v: Value| Some(read(self.within(v, at, left)?, extension));
        let both = (ends(counted.from)?, ends(counted.bound)?);
        Some(Interval::Counted(Box::new(both), counted.beyond, counted.upwards))
    }

    fn operation(&self, inst: Inst, bits: u32, left: &mut usize) -> Option<Interval> {
        let func = self.c.func;
        let data = &func.insts[inst];
        let constant = |k: usize| func.as_int(data.args[k]);
        let (step, args): (Step, &[Value]) = match &data.op {
            Op::Phi => return self.either(inst, bits, left),
            Op::Load(_) => return self.loaded(inst, bits),
            Op::Select => (Step::Either, &data.args[1..]),
            Op::Cast(CastOp::Trunc) if bits <= 16 => return None,
            Op::Cast(CastOp::Trunc) => (Step::Narrow, &data.args),
            Op::Cast(CastOp::SExt) => return self.within(data.args[0], data.block, left),
            Op::Cast(CastOp::ZExt) => return self.extended(data.args[0], data.block, left),
            Op::Binary(BinaryOp::And) => return self.masked(&data.args, data.block, bits, left),
            Op::Binary(BinaryOp::Or | BinaryOp::Xor) => {
                let flipped = constant(1).and_then(|n| i64::try_from(n).ok()).filter(|&n| n < MAX_FLIPPED)?;
                let low = (1 << (i64::BITS - flipped.leading_zeros())) - 1;
                let whole = self.within(data.args[0], data.block, left)?;
                return Some(Interval::Of(Step::WithLow, vec![whole, Interval::Known(!low, low)], bits));
            }
            Op::Binary(op) => (binary(*op)?, &data.args),
            Op::Call(call) => (called(&self.c.module.symbols[call.callee?].name)?, &data.args),
            _ => return None,
        };
        let args = if step == Step::Abs { &args[..1] } else { args };
        if matches!(data.op, Op::Binary(BinaryOp::Shl)) {
            let by = u32::try_from(constant(1)?).ok().filter(|&by| by < 31 && by < bits)?;
            let shifted = self.within(args[0], data.block, left)?;
            return Some(Interval::Of(Step::Mul, vec![shifted, Interval::Known(1 << by, 1 << by)], bits));
        }
        if matches!(step, Step::Shift | Step::ShiftNatural) {
            u32::try_from(constant(1)?).ok().filter(|&by| by < bits)?;
        }
        let args = args.iter().map(|&a| self.within(a, data.block, left));
        Some(Interval::Of(step, args.collect::<Option<Vec<Interval>>>()?, bits))
    }

    /// What a mask leaves of a number.
    fn masked(&self, args: &[Value], at: Block, bits: u32, left: &mut usize) -> Option<Interval> {
        let func = self.c.func;
        let signed = |v: Value| func.as_int(v).map(|n| ((n << (128 - bits)) as i128) >> (128 - bits));
        if let Some((k, mask)) = (0..2).find_map(|k| Some((k, signed(args[k])?))) {
            let mask = i64::try_from(mask).ok()?;
            return self.rounded(args[1 - k], mask, at, bits, left);
        }
        let stays = |v: Value| Tree::of(func, self.region, v).filter(|t| t.growth() == Some(0));
        let mask = args.iter().find_map(|&a| stays(a))?;
        Some(Interval::Of(Step::UpTo, vec![Interval::Linear(mask)], bits))
    }

    /// What a constant mask leaves of a number: no more than the mask, or the number rounded down to a multiple.
    fn rounded(&self, v: Value, mask: i64, at: Block, bits: u32, left: &mut usize) -> Option<Interval> {
        // What follows the bits of the mask, if these are consecutive; nothing if they end with the topmost bit.
        let beyond = mask.checked_add(1 << mask.trailing_zeros().min(62)).filter(|&beyond| beyond != 0);
        let is_round = beyond.map_or(mask < 0, |beyond| beyond.count_ones() == 1) && mask != 0;
        if mask >= 0 && (!is_round || mask < MAX_FLIPPED) {
            return Some(Interval::Known(0, mask));
        }
        let args = [mask].into_iter().chain(beyond).map(|n| Interval::Known(n, n));
        let whole = is_round.then(|| self.within(v, at, left)).flatten()?;
        Some(Interval::Of(Step::RoundDown, [whole].into_iter().chain(args).collect(), bits))
    }

    /// What comes from several ways, each where it comes from. Not what a loop passes on.
    fn either(&self, phi: Inst, bits: u32, left: &mut usize) -> Option<Interval> {
        let func = self.c.func;
        let block = func.insts[phi].block;
        let cycles = self.c.uniformity.cycles();
        if cycles.innermost(block.into()).is_some_and(|c| Block::from(cycles.header(c)) == block) {
            return None;
        }
        let position = func.phi_position(phi)?;
        let all = func.blocks[block].preds.iter().map(|&e| {
            let edge = &func.edges[e];
            self.within(edge.args[position], edge.from, left)
        });
        Some(Interval::Of(Step::Either, all.collect::<Option<Vec<Interval>>>()?, bits))
    }

    /// A number that is extended with zeros.
    fn extended(&self, v: Value, at: Block, left: &mut usize) -> Option<Interval> {
        let bits = self.c.func.ty(v).int_bits().filter(|&bits| bits < 64)?;
        // Whatever narrow numbers are, they are natural ones behind this.
        if bits <= 16 {
            return Some(Interval::Known(0, (1 << bits) - 1));
        }
        Some(Interval::Of(Step::Natural, vec![self.within(v, at, left)?], bits))
    }
}

/// A number, read as its use does.
fn read(interval: Interval, extension: Extension) -> Interval {
    match extension {
        Extension::Unsigned => Interval::Of(Step::Natural, vec![interval], 64),
        _ => interval,
    }
}

fn binary(op: BinaryOp) -> Option<Step> {
    Some(match op {
        BinaryOp::Add => Step::Add,
        BinaryOp::Sub => Step::Sub,
        BinaryOp::Mul | BinaryOp::Shl => Step::Mul,
        BinaryOp::SDiv => Step::Divide,
        BinaryOp::UDiv => Step::DivideNatural,
        BinaryOp::SRem => Step::Remainder,
        BinaryOp::URem => Step::Modulo,
        BinaryOp::AShr => Step::Shift,
        BinaryOp::LShr => Step::ShiftNatural,
        _ => return None,
    })
}

/// Functions of which intervals are known.
fn called(name: &str) -> Option<Step> {
    let known = [
        ("llvm.smin.", Step::Min),
        ("llvm.smax.", Step::Max),
        ("llvm.umin.", Step::MinNatural),
        ("llvm.umax.", Step::MaxNatural),
        ("llvm.abs.", Step::Abs),
        ("llvm.usub.sat.", Step::Less),
    ];
    known.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|&(_, step)| step)
}

/// The least and the greatest number of an interval.
type Ends = (Value, Value);

impl Emitter<'_, '_> {
    /// Computes the ends of an interval.
    pub(super) fn interval(&mut self, interval: &Interval) -> Ends {
        match interval {
            Interval::Known(low, high) => (self.int(*low), self.int(*high)),
            Interval::Linear(tree) => self.ends(tree),
            Interval::Loaded(span, bits) => {
                let ends = self.loaded(span, *bits);
                self.both_within(ends, 64)
            }
            Interval::Counted(ends, beyond, upwards) => self.counted(ends, *beyond, *upwards),
            Interval::Of(step, args, bits) => {
                let args: Vec<Ends> = args.iter().map(|a| self.interval(a)).collect();
                self.step(*step, &args, *bits)
            }
        }
    }

    /// What grows evenly is at its ends in the first and in the last iteration.
    fn ends(&mut self, tree: &Tree) -> Ends {
        let number = Number::Computed(tree.clone(), Extension::Signed);
        let first = self.number(&number);
        if tree.growth() == Some(0) {
            let first = self.within_bits(first, MAX_BITS);
            return (first, first);
        }
        self.must_grow(&number);
        let last = self.in_last_iteration(&number);
        let (first, last) = (self.within_bits(first, MAX_BITS), self.within_bits(last, MAX_BITS));
        (self.lesser(first, last), self.greater(first, last))
    }

    fn counted(&mut self, ends: &(Interval, Interval), beyond: i64, upwards: bool) -> Ends {
        let (from, to) = (self.interval(&ends.0), self.interval(&ends.1));
        let beyond = self.int(beyond);
        if upwards {
            let least = self.binary(BinaryOp::Add, to.0, beyond);
            self.require(IntPred::Sle, from.1, least);
        }
        let (most, one) = (self.binary(BinaryOp::Add, to.1, beyond), self.int(1));
        let last = self.binary(BinaryOp::Sub, most, one);
        (from.0, self.greater(from.1, last))
    }

    fn step(&mut self, step: Step, args: &[Ends], bits: u32) -> Ends {
        match (step, args) {
            (Step::Add, &[a, b]) => {
                let ends = (self.binary(BinaryOp::Add, a.0, b.0), self.binary(BinaryOp::Add, a.1, b.1));
                self.both_within(ends, bits)
            }
            (Step::Sub, &[a, b]) => {
                let ends = (self.binary(BinaryOp::Sub, a.0, b.1), self.binary(BinaryOp::Sub, a.1, b.0));
                self.both_within(ends, bits)
            }
            (Step::Mul, &[a, b]) => self.product(a, b, bits),
            (Step::Divide | Step::DivideNatural, &[a, b]) => {
                if step == Step::DivideNatural {
                    self.natural(a.0);
                }
                let by = self.positive(b);
                // Of both divisors, the one that leads farther from zero.
                let quotient = |e: &mut Self, x: Value| {
                    let (p, q) = (e.binary(BinaryOp::SDiv, x, by.0), e.binary(BinaryOp::SDiv, x, by.1));
                    (e.lesser(p, q), e.greater(p, q))
                };
                let (low, high) = (quotient(self, a.0), quotient(self, a.1));
                (low.0, high.1)
            }
            (Step::Remainder | Step::Modulo, &[a, b]) => {
                let (zero, one) = (self.int(0), self.int(1));
                let most = self.positive(b).1;
                let most = self.binary(BinaryOp::Sub, most, one);
                if step == Step::Modulo {
                    return (zero, most);
                }
                let least = self.binary(BinaryOp::Sub, zero, most);
                let (low, high) = (self.lesser(a.0, zero), self.greater(a.1, zero));
                (self.greater(low, least), self.lesser(high, most))
            }
            (Step::RoundDown, &[a, mask, ref beyond @ ..]) => {
                if let Some(beyond) = beyond.first() {
                    self.natural(a.0);
                    self.require(IntPred::Slt, a.1, beyond.0);
                }
                (self.binary(BinaryOp::And, a.0, mask.0), self.binary(BinaryOp::And, a.1, mask.0))
            }
            (Step::WithLow, &[a, (above, low)]) => {
                (self.binary(BinaryOp::And, a.0, above), self.binary(BinaryOp::Or, a.1, low))
            }
            (Step::Shift | Step::ShiftNatural, &[a, by]) => {
                if step == Step::ShiftNatural {
                    self.natural(a.0);
                }
                (self.binary(BinaryOp::AShr, a.0, by.0), self.binary(BinaryOp::AShr, a.1, by.0))
            }
            (Step::UpTo, &[a]) => {
                self.natural(a.0);
                (self.int(0), a.1)
            }
            (Step::Min | Step::MinNatural, &[a, b]) => {
                self.both_natural(step == Step::MinNatural, a, b);
                (self.lesser(a.0, b.0), self.lesser(a.1, b.1))
            }
            (Step::Max | Step::MaxNatural, &[a, b]) => {
                self.both_natural(step == Step::MaxNatural, a, b);
                (self.greater(a.0, b.0), self.greater(a.1, b.1))
            }
            (Step::Less, &[a, b]) => {
                self.both_natural(true, a, b);
                let zero = self.int(0);
                let (low, high) =
                    (self.binary(BinaryOp::Sub, a.0, b.1), self.binary(BinaryOp::Sub, a.1, b.0));
                (self.greater(low, zero), self.greater(high, zero))
            }
            (Step::Abs, &[a]) => {
                let zero = self.int(0);
                let negated = self.binary(BinaryOp::Sub, zero, a.0);
                let most = self.greater(negated, a.1);
                self.both_within((zero, most), bits)
            }
            (Step::Narrow, &[a]) => self.both_within(a, bits),
            (Step::Natural, &[a]) => {
                self.natural(a.0);
                a
            }
            (_, [first, others @ ..]) => {
                others.iter().fold(*first, |sum, x| (self.lesser(sum.0, x.0), self.greater(sum.1, x.1)))
            }
            (_, []) => (self.int(0), self.int(0)),
        }
    }

    fn product(&mut self, a: Ends, b: Ends, bits: u32) -> Ends {
        let small = [a.0, a.1, b.0, b.1].map(|x| self.small(x));
        let [a0, a1, b0, b1] = small;
        let all = [(a0, b0), (a0, b1), (a1, b0), (a1, b1)].map(|(x, y)| self.binary(BinaryOp::Mul, x, y));
        let (mut low, mut high) = (all[0], all[0]);
        for &x in &all[1..] {
            (low, high) = (self.lesser(low, x), self.greater(high, x));
        }
        self.both_within((low, high), bits)
    }

    /// A divisor that must be positive. What divides is no less than 1, whatever comes of the requirement.
    fn positive(&mut self, ends: Ends) -> Ends {
        let one = self.int(1);
        self.require(IntPred::Sge, ends.0, one);
        (self.greater(ends.0, one), self.greater(ends.1, one))
    }

    fn both_natural(&mut self, must: bool, a: Ends, b: Ends) {
        if must {
            self.natural(a.0);
            self.natural(b.0);
        }
    }

    fn natural(&mut self, x: Value) {
        let zero = self.int(0);
        self.require(IntPred::Sge, x, zero);
    }

    /// Requires that signed numbers of so many bits hold both ends, and that much can still be added.
    fn both_within(&mut self, ends: Ends, bits: u32) -> Ends {
        let bits = bits.min(MAX_BITS);
        (self.within_bits(ends.0, bits), self.within_bits(ends.1, bits))
    }

    /// Requires that a signed number of so many bits holds this one.
    pub(super) fn within_bits(&mut self, x: Value, bits: u32) -> Value {
        let (half, whole) = (self.int(1 << (bits - 1)), self.int(1 << bits));
        let moved = self.binary(BinaryOp::Add, x, half);
        self.require(IntPred::Ult, moved, whole);
        x
    }
}
