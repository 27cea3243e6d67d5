//! Addresses of gathers and scatters.
//!
//! Machines add a vector of indices to one scalar address, multiplied by 1, 2, 4 or 8, and take twice as many indices
//! of 32 bits as of 64 at a time. So an address is taken apart into what is uniform, which becomes the scalar, and
//! the rest. The indices are computed in 32 bits if they are known to fit:
//! * one number of at most 32 bits that is sign-extended and multiplied by nothing but the scale, be it a sum itself;
//! * sums of products that cannot leave 31 bits, given the widths of the numbers and what `and`, shifts and
//!   remainders by constants say of them;
//! * whatever is added to the address of private memory of less than 2^31 bytes: the access is inside of it, so the
//!   sum is less than its size and may be computed modulo 2^32, whether or not its parts fit.
//!
//! All of this is said of active lanes, which make the access; in others any index will do.

use warpline_ir::{BinaryOp, CastOp, Function, Op, Type, Value};

use super::{Planner, Rep};
use crate::objects::alloca_bytes;
use warpline_dataflow::linear::{Address, Extension, Term, step};

/// How deep definitions are looked through for bounds.
pub(super) const MAX_DEPTH: u32 = 4;

/// An address: the scalar `root + Σ uniform + before`, and the vector `2^zeros · (lane · step + Σ varying + after)`,
/// where `step` and `after` are in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    /// A uniform or strided pointer.
    pub root: Value,
    /// What is the same in all lanes.
    pub uniform: Vec<Term>,
    /// Bytes that are added to the scalar address.
    pub before: i64,
    /// From lane to lane, in bytes.
    pub step: i64,
    /// What differs between lanes.
    pub varying: Vec<Term>,
    /// Bytes that are added to the indices.
    pub after: i64,
    /// The logarithm of what the indices count, in bytes.
    pub zeros: u32,
    /// The width of the indices.
    pub bits: u32,
}

impl Planner<'_> {
    /// Takes the address of a gather or scatter apart; `None` if it stays a vector of pointers.
    pub(super) fn split_address(&self, address: Value) -> Option<Split> {
        let Type::Ptr(space) = self.func.ty(address) else { return None };
        if self.rep(address) != Rep::Varying || self.module.layout.index_bits(space) != 64 {
            return None;
        }
        let Address { root, terms, offset } = Address::of(self.module, self.func, address)?;
        let step = match self.rep(root) {
            Rep::Uniform => 0,
            Rep::Strided(step) => step,
            Rep::Varying => return None,
        };
        let width = |t: &Term| self.func.ty(t.value).int_bits().unwrap_or(128);
        if terms.is_empty() || terms.iter().any(|t| width(t) > 64) {
            return None;
        }
        // The scale that all numbers are multiples of.
        let zeros = |terms: &[Term], numbers: [i64; 2]| {
            let scales = terms.iter().map(|t| t.scale);
            let all = scales.chain(numbers).filter(|&x| x != 0).map(i64::trailing_zeros);
            all.min().unwrap_or(0).min(3)
        };
        let (uniform, varying): (Vec<Term>, Vec<Term>) = terms.iter().partition(|t| self.is_uniform(t.value));
        let scale = zeros(&varying, [step, 0]);
        let single = match varying[..] {
            [t] => step == 0 && width(&t) <= 32 && t.scale == 1 << scale && t.extension == Extension::Signed,
            _ => false,
        };
        let lanes = u128::from(step.unsigned_abs()) * u128::from(self.width);
        let narrow = single || fits_31_bits(self.func, &varying, scale, lanes);
        let small = self.is_small_object(root);
        if !narrow
            && !small
            && let Some(split) = self.narrow_index(address)
        {
            return Some(split);
        }
        Some(if !narrow && small {
            let (varying, zeros) = (terms.to_vec(), zeros(&terms, [step, offset]));
            Split { root, uniform: Vec::new(), before: 0, step, varying, after: offset, zeros, bits: 32 }
        } else {
            let bits = if narrow { 32 } else { 64 };
            Split { root, uniform, before: offset, step, varying, after: 0, zeros: scale, bits }
        })
    }

    /// An address that is a uniform one and a number of at most 32 bits, sign-extended and multiplied by nothing but
    /// the scale, whatever the number is computed from. Its parts, each extended, would not fit.
    fn narrow_index(&self, address: Value) -> Option<Split> {
        let (mut root, mut before) = (address, 0i64);
        for _ in 0..MAX_DEPTH {
            let gep = self.func.def_inst(root)?;
            let data = &self.func.insts[gep];
            let Op::Gep(ty) = data.op else { return None };
            let base = data.args[0];
            let (terms, offset) = step(self.module, self.func, gep)?;
            if terms.is_empty() {
                (root, before) = (base, before.checked_add(offset)?);
                continue;
            }
            let size = self.module.layout.alloc_size(&self.module.types, ty)?;
            let ([_, index], true) = (&data.args[..], matches!(size, 1 | 2 | 4 | 8)) else { return None };
            let value = self.sign_extended(*index).unwrap_or(*index);
            let narrow = self.func.ty(value).int_bits().is_some_and(|bits| bits <= 32);
            let varying = vec![Term { value, extension: Extension::Signed, scale: size as i64 }];
            let (uniform, zeros) = (Vec::new(), size.trailing_zeros());
            let split = Split { root: base, uniform, before, step: 0, varying, after: 0, zeros, bits: 32 };
            return (narrow && self.is_uniform(base)).then_some(split);
        }
        None
    }

    /// What a number is the sign extension of.
    fn sign_extended(&self, v: Value) -> Option<Value> {
        let data = &self.func.insts[self.func.def_inst(v)?];
        (data.op == Op::Cast(CastOp::SExt)).then(|| data.args[0])
    }

    /// Whether a pointer is the start of an object of less than 2^31 bytes.
    fn is_small_object(&self, root: Value) -> bool {
        alloca_bytes(self.module, self.func, root).is_some_and(|bytes| bytes >> 31 == 0)
    }
}

/// Whether a sum of terms and a number of at most this magnitude, divided by 2^zeros, is less than 2^31 in magnitude,
/// and each of its parts.
fn fits_31_bits(func: &Function, terms: &[Term], zeros: u32, number: u128) -> bool {
    let bound = |t: &Term| {
        let Type::Int(bits) = func.ty(t.value) else { return None };
        let greatest = match greatest(func, t.value, MAX_DEPTH) {
            Some(x) => x,
            // Any number of this width.
            None if t.extension == Extension::Signed => 1 << (bits - 1),
            None if t.extension == Extension::Unsigned => (1u128 << bits) - 1,
            None => return None,
        };
        greatest.checked_mul(u128::from((t.scale >> zeros).unsigned_abs()))
    };
    let sum = terms.iter().try_fold(number, |sum, t| sum.checked_add(bound(t)?));
    sum.is_some_and(|sum| sum >> 31 == 0)
}

/// A bound of an integer, read as unsigned, that is at most the greatest signed number of its width: so it holds for
/// either reading.
pub(super) fn greatest(func: &Function, v: Value, depth: u32) -> Option<u128> {
    let Type::Int(bits) = func.ty(v) else { return None };
    let half = 1u128.checked_shl(bits - 1)?;
    let depth = depth.checked_sub(1)?;
    if let Some(c) = func.as_int(v) {
        return (c < half).then_some(c);
    }
    let data = &func.insts[func.def_inst(v)?];
    let constant = |n: usize| data.args.get(n).and_then(|&a| func.as_int(a));
    let of = |n: usize| data.args.get(n).and_then(|&a| greatest(func, a, depth));
    let found = match data.op {
        Op::Binary(BinaryOp::And) => match (of(0), of(1)) {
            (Some(a), Some(b)) => a.min(b),
            (a, b) => a.or(b)?,
        },
        Op::Binary(BinaryOp::LShr) => {
            let shift = constant(1).and_then(|c| u32::try_from(c).ok()).filter(|&c| 0 < c && c < bits)?;
            (1u128.checked_shl(bits - shift)?) - 1
        }
        Op::Binary(BinaryOp::URem) => constant(1)?.checked_sub(1)?,
        Op::Cast(CastOp::ZExt) => {
            let from = func.ty(data.args[0]).int_bits()?;
            of(0).unwrap_or(1u128.checked_shl(from)?.checked_sub(1)?)
        }
        Op::Select => of(1)?.max(of(2)?),
        _ => return None,
    };
    (found < half).then_some(found)
}
