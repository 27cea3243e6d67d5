//! Values of which it is known how far the lanes' lie apart, though not by a step: `i / 2`, `i % 8`, `i ^ 1`.
//!
//! A group of W iterations begins at a multiple of W, so that the low bits of a counter are those of the lane. A value
//! is described as `U + o[l] mod 2^bits`, where U is the same in all lanes and a multiple of `2^low`, and `o` is known:
//! * sums, differences and products with constants act on both parts;
//! * what looks at single bits acts on `o` alone as long as that is less than `2^low`, for then U and `o` have no bit
//!   in common; a shift by more than `low` bits leaves nothing of `o`, one by fewer bits shifts both parts if their
//!   sum does not wrap;
//! * what is left of U after a mask of less than `low` bits is nothing: the value is known in each lane.
//!
//! Said of every lane, active or not, and whatever the arithmetic wraps: no flag is relied on but that of a counter in
//! lane 0.

use cranelift_entity::SecondaryMap;
use warpline_analysis::DfsOrder;

use warpline_dataflow::linear::{self, Extension, Term};
use warpline_ir::{BinaryOp, Block, CastOp, Function, Inst, LaneOp, Module, Op, Type, Value, ValueDef};
use warpline_uniformity::shape::ArgShape;

use crate::options::Origin;

/// How many lanes there are where only the question is whether anything is known of some number of lanes.
const MANY: u32 = 64;

/// What is known of a value.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    /// What each lane's has more than what they have in common.
    pub own: Vec<u64>,
    /// What they have in common is a multiple of this power of two; of that of the width, if it is nothing.
    low: u32,
    /// What they have in common at most.
    most: u64,
    /// Whether shapes do not see it: it has come through an operation on bits.
    pub bent: bool,
    bits: u32,
}

/// The lowest bits of a number.
fn mask(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits).unwrap_or(0)
}

/// The greatest multiple of a power of two that fits.
fn greatest(bits: u32, low: u32) -> u64 {
    mask(bits) & !mask(low.min(bits))
}

impl Lanes {
    fn new(own: Vec<u64>, low: u32, most: u64, bits: u32) -> Lanes {
        let low = low.min(bits);
        let own = own.into_iter().map(|o| o & mask(bits)).collect();
        Lanes { own, low, most: most.min(greatest(bits, low)), bits, bent: false }
    }

    /// The same number in all lanes.
    fn constant(width: u32, x: u64, bits: u32) -> Lanes {
        Lanes::new(vec![x; width as usize], bits, 0, bits)
    }

    /// The same in all lanes, whatever it is.
    fn uniform(width: u32, bits: u32) -> Lanes {
        Lanes::new(vec![0; width as usize], 0, u64::MAX, bits)
    }

    /// Each lane's value, if that is known.
    pub(crate) fn constants(&self) -> Option<&[u64]> {
        self.is_known().then_some(&*self.own)
    }

    /// Whether the lanes have nothing in common but zero.
    fn is_known(&self) -> bool {
        self.low == self.bits
    }

    /// What `low` is in numbers of other bits that have the same in common.
    fn low_of(&self, bits: u32) -> u32 {
        if self.is_known() { bits } else { self.low }
    }

    /// The one number that all lanes have.
    fn number(&self) -> Option<u64> {
        let own = self.constants()?;
        self.is_even().then(|| own[0])
    }

    /// Whether the lanes have the same.
    fn is_even(&self) -> bool {
        self.own.iter().all(|&o| o == self.own[0])
    }

    fn greatest_own(&self) -> u64 {
        self.own.iter().copied().max().unwrap_or(0)
    }

    /// Whether the sum of both parts is less than 2^bits.
    fn fits(&self, bits: u32) -> bool {
        u128::from(self.most) + u128::from(self.greatest_own()) <= u128::from(mask(bits))
    }

    /// Whether both parts have no bit in common, nor one above what the lanes' own part may have.
    fn is_apart(&self) -> bool {
        self.greatest_own() <= mask(self.low)
    }

    fn bent_by(mut self, operands: &[&Lanes]) -> Lanes {
        self.bent = operands.iter().any(|o| o.bent || !o.is_even());
        self
    }

    fn map(&self, f: impl Fn(u64) -> u64) -> Vec<u64> {
        self.own.iter().map(|&o| f(o)).collect()
    }

    fn zip(&self, other: &Lanes, f: impl Fn(u64, u64) -> u64) -> Vec<u64> {
        self.own.iter().zip(&other.own).map(|(&a, &b)| f(a, b)).collect()
    }

    fn plus(&self, other: &Lanes) -> Lanes {
        let bits = self.bits;
        let sums = |a: u64, b: u64| u128::from(a) + u128::from(b);
        let own = sums(self.greatest_own(), other.greatest_own());
        let common = sums(self.most, other.most);
        // What wraps in one part may be a multiple of 2^bits of the other.
        let most = if own + common <= mask(bits).into() { common as u64 } else { u64::MAX };
        let both = Lanes::new(self.zip(other, u64::wrapping_add), self.low.min(other.low), most, bits);
        Lanes { bent: self.bent || other.bent, ..both }
    }

    fn times(&self, by: u64) -> Lanes {
        if by == 0 {
            return Lanes::constant(self.own.len() as u32, 0, self.bits);
        }
        let product = |x: u64| u128::from(x) * u128::from(by);
        let sum = product(self.most).saturating_add(product(self.greatest_own()));
        let most = if sum <= mask(self.bits).into() { self.most * by } else { u64::MAX };
        // Of nothing, the product is nothing.
        let low = self.low.saturating_add(by.trailing_zeros());
        let both = Lanes::new(self.map(|o| o.wrapping_mul(by)), low, most, self.bits);
        Lanes { bent: self.bent, ..both }
    }

    fn minus(&self, other: &Lanes) -> Lanes {
        self.plus(&other.times(u64::MAX))
    }

    /// Shifted right; `signed` where copies of the topmost bit come in.
    fn shifted(&self, by: u32, signed: bool) -> Option<Lanes> {
        let is_natural = !signed || self.fits(self.bits - 1);
        let is_exact = self.is_apart() && (is_natural || !self.is_known())
            || self.low >= by && self.fits(self.bits) && is_natural;
        if by >= self.bits || !is_exact {
            return None;
        }
        let stays = signed && self.most > mask(self.bits - 1);
        let most = if stays { u64::MAX } else { self.most >> by };
        let (own, low) = match self.low.checked_sub(by) {
            // Of nothing, nothing is left.
            Some(_) if self.is_known() => (self.map(|o| o >> by), self.bits),
            Some(low) => (self.map(|o| o >> by), low),
            None => (vec![0; self.own.len()], 0),
        };
        Some(Lanes::new(own, low, most, self.bits).bent_by(&[self]))
    }

    /// An operation on each bit by itself, where what is known of the other operand is all of it.
    fn bitwise(&self, op: BinaryOp, other: &Lanes) -> Option<Lanes> {
        let known = other.constants()?;
        let f = match op {
            BinaryOp::And => |a: u64, b: u64| a & b,
            BinaryOp::Or => |a: u64, b: u64| a | b,
            _ => |a: u64, b: u64| a ^ b,
        };
        let (low, high) = (mask(self.low), !mask(self.low));
        let is_masked = op == BinaryOp::And && known.iter().all(|b| b & high == 0);
        let own = || self.own.iter().zip(known).map(|(&a, &b)| f(a & low, b & low)).collect();
        let found = if is_masked {
            Lanes::new(own(), self.bits, 0, self.bits)
        } else {
            // What happens to the part in common must be the same everywhere.
            let above = known.first()? & high;
            if !self.is_apart() || known.iter().any(|b| b & high != above) {
                return None;
            }
            let stays = op == BinaryOp::And || above == 0;
            Lanes::new(own(), self.low, if stays { self.most } else { u64::MAX }, self.bits)
        };
        Some(found.bent_by(&[self, other]))
    }

    /// Extended to more bits.
    fn extended(&self, to: u32, signed: bool) -> Option<Lanes> {
        let stays = !signed || self.fits(self.bits - 1);
        let found = if stays {
            self.fits(self.bits).then(|| Lanes::new(self.own.clone(), self.low_of(to), self.most, to))?
        } else {
            (self.is_apart() && !self.is_known())
                .then(|| Lanes::new(self.own.clone(), self.low, u64::MAX, to))?
        };
        Some(Lanes { bent: self.bent, ..found })
    }

    fn truncated(&self, to: u32) -> Lanes {
        let most = if self.most <= mask(to) { self.most } else { u64::MAX };
        Lanes { bent: self.bent, ..Lanes::new(self.own.clone(), self.low_of(to), most, to) }
    }

    /// What is left after a division by a power of two.
    fn remainder(&self, by: u64) -> Option<Lanes> {
        let mask = Lanes::constant(self.own.len() as u32, by - 1, self.bits);
        self.bitwise(BinaryOp::And, &mask)
    }
}

/// What is known of the values of a function.
pub(crate) struct KnownOffsets {
    of: SecondaryMap<Value, Option<Lanes>>,
}

impl KnownOffsets {
    /// Nothing is known of any.
    pub(crate) fn nothing() -> KnownOffsets {
        KnownOffsets { of: SecondaryMap::new() }
    }

    /// Finds out, for so many lanes. `origins` says how groups of iterations begin, in the order of the parameters.
    pub(crate) fn compute(
        module: &Module,
        func: &Function,
        width: u32,
        origins: &[Option<Origin>],
        is_uniform: impl Fn(Value) -> bool,
    ) -> KnownOffsets {
        if origins.iter().all(Option::is_none) {
            return KnownOffsets::nothing();
        }
        let mut solver = Solver { module, func, width, origins, is_uniform, of: SecondaryMap::new() };
        let (graph, _) = func.graph();
        let order: Vec<Block> = DfsOrder::compute(&graph).reverse_post_order().map(Block::from).collect();
        for i in order.iter().flat_map(|&b| func.block_insts(b)) {
            if let Some(result) = func.insts[i].result().filter(|&v| bits_of(func, v).is_some()) {
                solver.of[result] = solver.transfer(i);
            }
        }
        KnownOffsets { of: solver.of }
    }

    /// What is known of a value that shapes say nothing of.
    pub(crate) fn bent(&self, v: Value) -> Option<&Lanes> {
        self.of[v].as_ref().filter(|lanes| lanes.bent)
    }
}

/// Whether a kernel loads from addresses of which something would be known that shapes do not say, if groups of
/// iterations always began as `origins` say.
pub(crate) fn are_worthwhile(
    module: &Module,
    func: &Function,
    args: &[ArgShape],
    origins: &[Option<Origin>],
) -> bool {
    let insts = || func.layout.iter().flat_map(|&b| func.block_insts(b));
    // Nothing else bends what shapes see.
    let looks_at_bits = |i: Inst| {
        use BinaryOp::{AShr, And, LShr, Or, SDiv, SRem, UDiv, URem, Xor};
        matches!(func.insts[i].op, Op::Binary(AShr | And | LShr | Or | SDiv | SRem | UDiv | URem | Xor))
    };
    if !insts().any(looks_at_bits) {
        return false;
    }
    let position = |v: Value| func.params.iter().position(|&p| p == v);
    // So are the addresses of globals.
    let is_uniform =
        |v: Value| func.constant(v).is_some() || position(v).is_some_and(|k| args[k] == ArgShape::Uniform);
    let known = KnownOffsets::compute(module, func, MANY, origins, is_uniform);
    insts().any(|i| matches!(func.insts[i].op, Op::Load(_)) && known.bent(func.insts[i].args[0]).is_some())
}

/// The bits of an integer or a pointer.
fn bits_of(func: &Function, v: Value) -> Option<u32> {
    match func.ty(v) {
        Type::Int(bits) => (2..=64).contains(&bits).then_some(bits),
        Type::Ptr(_) => Some(64),
        _ => None,
    }
}

struct Solver<'a, F> {
    module: &'a Module,
    func: &'a Function,
    width: u32,
    origins: &'a [Option<Origin>],
    is_uniform: F,
    of: SecondaryMap<Value, Option<Lanes>>,
}

impl<F: Fn(Value) -> bool> Solver<'_, F> {
    fn of(&self, v: Value) -> Option<Lanes> {
        let bits = bits_of(self.func, v)?;
        if let Some(x) = self.func.as_int(v) {
            return Some(Lanes::constant(self.width, x as u64, bits));
        }
        if let Some(known) = &self.of[v] {
            return Some(known.clone());
        }
        if let ValueDef::Param(_) = self.func.values[v].def
            && let Some(position) = self.func.params.iter().position(|&p| p == v)
            && let Some(Some(origin)) = self.origins.get(position)
        {
            let low = origin.step.trailing_zeros() + self.width.trailing_zeros();
            let first = vec![origin.first as u64; self.width as usize];
            let most = if origin.is_natural { mask(bits - 1) } else { u64::MAX };
            return Some(Lanes::new(first, low, most, bits));
        }
        (self.is_uniform)(v).then(|| Lanes::uniform(self.width, bits))
    }

    /// What is known of a result, be it only that lanes have the same.
    fn transfer(&self, i: Inst) -> Option<Lanes> {
        let data = &self.func.insts[i];
        let result = data.result()?;
        let bits = bits_of(self.func, result)?;
        let of = |n: usize| data.args.get(n).and_then(|&a| self.of(a));
        let found = match data.op {
            Op::Lane(LaneOp::LaneIndex) => {
                Some(Lanes::new((0..u64::from(self.width)).collect(), bits, 0, bits))
            }
            Op::Binary(op) => of(0).zip(of(1)).and_then(|(a, b)| binary(op, &a, &b)),
            Op::Freeze => of(0),
            Op::Cast(CastOp::ZExt) => of(0).and_then(|x| x.extended(bits, false)),
            Op::Cast(CastOp::SExt) => of(0).and_then(|x| x.extended(bits, true)),
            Op::Cast(CastOp::Trunc) => of(0).map(|x| x.truncated(bits)),
            Op::Gep(_) => self.address(i),
            _ => None,
        };
        found.or_else(|| (self.is_uniform)(result).then(|| Lanes::uniform(self.width, bits)))
    }

    fn address(&self, gep: Inst) -> Option<Lanes> {
        let (terms, offset) = linear::step(self.module, self.func, gep)?;
        let base = self.of(self.func.insts[gep].args[0])?;
        let start = base.plus(&Lanes::constant(self.width, offset as u64, 64));
        terms.iter().try_fold(start, |sum, &Term { value, extension, scale }| {
            let term = self.of(value)?;
            let term = match extension {
                Extension::None => (term.bits == 64).then_some(term)?,
                Extension::Signed => term.extended(64, true)?,
                Extension::Unsigned => term.extended(64, false)?,
            };
            Some(sum.plus(&term.times(scale as u64)))
        })
    }
}

/// What is known of an operation on two numbers.
fn binary(op: BinaryOp, a: &Lanes, b: &Lanes) -> Option<Lanes> {
    let power = || b.number().filter(|n| n.is_power_of_two());
    let shift = || b.number().and_then(|n| u32::try_from(n).ok()).filter(|&n| n < a.bits);
    match op {
        BinaryOp::Add => Some(a.plus(b)),
        BinaryOp::Sub => Some(a.minus(b)),
        BinaryOp::Mul => match (a.number(), b.number()) {
            (_, Some(by)) => Some(a.times(by)),
            (Some(by), _) => Some(b.times(by)),
            _ => None,
        },
        BinaryOp::Shl => Some(a.times(1 << shift()?)),
        BinaryOp::LShr => a.shifted(shift()?, false),
        BinaryOp::AShr => a.shifted(shift()?, true),
        BinaryOp::UDiv => a.shifted(power()?.trailing_zeros(), false),
        BinaryOp::SDiv if a.fits(a.bits - 1) => {
            a.shifted(power().filter(|&n| n <= mask(a.bits - 1))?.trailing_zeros(), false)
        }
        BinaryOp::URem => a.remainder(power()?),
        BinaryOp::SRem if a.fits(a.bits - 1) => a.remainder(power().filter(|&n| n <= mask(a.bits - 1))?),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => a.bitwise(op, b).or_else(|| b.bitwise(op, a)),
        _ => None,
    }
}
