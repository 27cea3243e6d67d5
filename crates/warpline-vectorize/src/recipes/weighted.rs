//! Sums of bytes by constant weights, in 32 bits, as colours are converted.
//!
//! x86 multiplies pairs of shorts and adds the products of each pair up in one instruction (`pmaddwd`). Two vectors of
//! bytes, interleaved and made shorts by interleaving these with zeros, are such pairs: what would be two extensions to
//! 32 bits, two products and a sum are one extension and one instruction. A sum of an odd number of terms has one as
//! its last factor, by which a constant is added.

use std::collections::BTreeMap;

use super::groups::GroupId;
use warpline_ir::{BinaryOp, CastOp, Function, Inst, Op, Type, Value};

/// How many terms a sum has at most.
const MAX_TERMS: usize = 8;
/// How deep sums are looked into.
const MAX_DEPTH: u32 = 16;

/// A vector of bytes, or ones, and its weight.
pub(crate) type Term = (Option<Value>, i16);

/// A sum of bytes by weights.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Weighted {
    /// Vectors of bytes with their weights.
    pub terms: Vec<(Value, i16)>,
    /// What is added.
    pub plus: i32,
    /// The bytes of a register.
    pub register: u32,
    /// The group that loads all of them as the bytes of one word for each lane, which stays where it is.
    pub words: Option<GroupId>,
}

/// The bytes of a word, and of two shorts.
pub(super) const WORD: u64 = 4;

impl Weighted {
    /// The pairs of terms, of which the last one may be of a number that is one, and what is left to be added.
    pub(crate) fn pairs(&self) -> (Vec<[Term; 2]>, i32) {
        let mut terms: Vec<Term> = self.terms.iter().map(|&(v, c)| (Some(v), c)).collect();
        let mut plus = self.plus;
        if !terms.len().is_multiple_of(2) {
            let fits = i16::try_from(plus).ok();
            terms.push((None, fits.unwrap_or(0)));
            plus = if fits.is_some() { 0 } else { plus };
        }
        (terms.chunks(2).map(|pair| [pair[0], pair[1]]).collect(), plus)
    }

    /// The weights of the bytes of a word that are `first` and two behind that, for `places` of the terms in the word.
    pub(crate) fn weights_in_word(&self, first: i64, place: impl Fn(Value) -> Option<i64>) -> [i16; 2] {
        [first, first + 2].map(|at| {
            let of_place = self.terms.iter().find(|&&(v, _)| place(v) == Some(at));
            of_place.map_or(0, |&(_, weight)| weight)
        })
    }

    /// Operations for each register of bytes.
    pub(crate) fn operations(&self) -> usize {
        if self.words.is_some() {
            // Of each of four registers, two parts are taken out, of which products are made and added up.
            return 24;
        }
        let (pairs, plus) = self.pairs();
        // Two interleavings of bytes, four with zeros, four products, and four sums but for the first.
        10 * pairs.len() + 4 * (pairs.len() - 1) + if plus == 0 { 0 } else { 4 }
    }
}

/// A sum of values by weights, modulo 2³².
#[derive(Clone)]
struct Sum {
    terms: BTreeMap<Value, i32>,
    plus: i32,
}

impl Sum {
    fn scaled(mut self, by: i32) -> Sum {
        self.terms.values_mut().for_each(|c| *c = c.wrapping_mul(by));
        Sum { plus: self.plus.wrapping_mul(by), ..self }
    }

    fn with(mut self, other: Sum) -> Sum {
        for (v, c) in other.terms {
            let own = self.terms.entry(v).or_default();
            *own = own.wrapping_add(c);
        }
        Sum { plus: self.plus.wrapping_add(other.plus), ..self }
    }
}

/// What sums are made of.
pub(super) struct Parts<'a> {
    pub func: &'a Function,
    /// Whether a value may be a term.
    pub is_byte: &'a dyn Fn(Value) -> bool,
    /// Whether an instruction has the same constants in all lanes.
    pub is_uniform: &'a dyn Fn(Inst) -> bool,
}

/// The weighted sum of bytes that a sum or difference of 32 bits is.
pub(super) fn weighted(parts: &Parts<'_>, v: Value, register: u32) -> Option<Weighted> {
    let func = parts.func;
    let made = &func.insts[func.def_inst(v)?];
    if func.ty(v) != Type::Int(32) || !matches!(made.op, Op::Binary(BinaryOp::Add | BinaryOp::Sub)) {
        return None;
    }
    let Sum { terms, plus } = sum(parts, v, MAX_DEPTH)?;
    let terms = terms.into_iter().filter(|&(_, c)| c != 0).map(|(v, c)| Some((v, i16::try_from(c).ok()?)));
    let terms: Vec<(Value, i16)> = terms.collect::<Option<_>>()?;
    (!terms.is_empty()).then_some(Weighted { terms, plus, register, words: None })
}

fn sum(parts: &Parts<'_>, v: Value, depth: u32) -> Option<Sum> {
    let func = parts.func;
    if let Some(c) = func.as_int(v) {
        return Some(Sum { terms: BTreeMap::new(), plus: c as u32 as i32 });
    }
    let depth = depth.checked_sub(1)?;
    let made = func.def_inst(v).filter(|&made| (parts.is_uniform)(made))?;
    let data = &func.insts[made];
    let part = |k: usize| sum(parts, data.args[k], depth);
    let constant = |k: usize| func.as_int(data.args[k]).map(|c| c as u32 as i32);
    let found = match data.op {
        Op::Cast(CastOp::ZExt) if func.ty(data.args[0]) == Type::Int(8) && (parts.is_byte)(data.args[0]) => {
            Sum { terms: [(data.args[0], 1)].into(), plus: 0 }
        }
        Op::Binary(BinaryOp::Add) => part(0)?.with(part(1)?),
        Op::Binary(BinaryOp::Sub) => part(0)?.with(part(1)?.scaled(-1)),
        Op::Binary(BinaryOp::Mul) => part(0)?.scaled(constant(1)?),
        Op::Binary(BinaryOp::Shl) => {
            let by = constant(1).filter(|by| (0..31).contains(by))?;
            part(0)?.scaled(1 << by)
        }
        _ => return None,
    };
    (found.terms.len() <= MAX_TERMS).then_some(found)
}
