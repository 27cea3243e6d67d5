//! Addresses as linear expressions: which of them differ by a constant in every lane.

use smallvec::SmallVec;

use crate::ir::{AggregateType, BinaryOp, CastOp, Function, Inst, InstFlags, Module, Op, Type, Value};

/// How deep definitions are looked through.
const MAX_DEPTH: u32 = 12;

/// How many terms an address may have.
const MAX_TERMS: usize = 8;

/// How a narrow number enters wide arithmetic.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Extension {
    /// It is at least as wide as addresses and taken modulo their width.
    None,
    /// Sign-extended.
    Signed,
    /// Zero-extended.
    Unsigned,
}

/// A number of the program times a constant.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Term {
    /// The number.
    pub value: Value,
    /// How it is brought to the width of addresses.
    pub extension: Extension,
    /// What it is multiplied by, in bytes.
    pub scale: i64,
}

/// `root + Σ term + offset`, modulo the width of address arithmetic. Holds in every lane in which the address is not poison;
/// what lane 0's scalar yields where that lane is not there (the ghost) may be something else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    /// A pointer.
    pub root: Value,
    /// Numbers, in order, each once.
    pub terms: SmallVec<[Term; 4]>,
    /// Bytes.
    pub offset: i64,
}

impl Address {
    /// Takes an address apart as far as its arithmetic is understood. `None` if the value is no scalar pointer, or one whose
    /// arithmetic is wider than 64 bits.
    pub fn of(module: &Module, func: &Function, address: Value) -> Option<Address> {
        let Type::Ptr(space) = func.ty(address) else { return None };
        let bits = module.layout.index_bits(space);
        if bits > 64 {
            return None;
        }
        let mut sum = Sum { module, func, bits, terms: SmallVec::new(), offset: 0 };
        let mut root = address;
        for _ in 0..MAX_DEPTH {
            let before = (sum.terms.clone(), sum.offset);
            match sum.add_gep(root) {
                Some(base) => root = base,
                None => {
                    (sum.terms, sum.offset) = before;
                    break;
                }
            }
        }
        Some(Address { root, offset: wrapped(sum.offset, bits), terms: sum.finish() })
    }

    /// What must be added to this address to get the other one, if that is the same number in every lane.
    pub fn distance(&self, other: &Address) -> Option<i64> {
        let same = self.root == other.root && self.terms == other.terms;
        same.then(|| other.offset.checked_sub(self.offset)).flatten()
    }
}

/// What a `getelementptr` adds to its base: numbers, and bytes. `None` if that is not understood.
pub fn step(module: &Module, func: &Function, gep: Inst) -> Option<(SmallVec<[Term; 4]>, i64)> {
    let Type::Ptr(space) = func.ty(*func.insts[gep].results.first()?) else { return None };
    let bits = module.layout.index_bits(space);
    if bits != 64 {
        return None;
    }
    let mut sum = Sum { module, func, bits, terms: SmallVec::new(), offset: 0 };
    sum.add_gep(func.insts[gep].results[0])?;
    let offset = sum.offset;
    Some((sum.finish(), offset))
}

/// Takes an integer of at most 64 bits, sign-extended, apart: numbers, and a constant. `None` if there are too many terms.
pub fn number(module: &Module, func: &Function, v: Value) -> Option<(SmallVec<[Term; 4]>, i64)> {
    let bits = func.ty(v).int_bits().filter(|&bits| bits <= 64)?;
    let extension = if bits < 64 { Extension::Signed } else { Extension::None };
    let mut sum = Sum { module, func, bits: 64, terms: SmallVec::new(), offset: 0 };
    sum.add(v, extension, 1, MAX_DEPTH);
    let offset = sum.offset;
    (sum.terms.len() <= MAX_TERMS).then(|| (sum.finish(), offset))
}

/// The number that is congruent modulo 2^bits and has the least magnitude.
fn wrapped(x: i64, bits: u32) -> i64 {
    x << (64 - bits) >> (64 - bits)
}

struct Sum<'a> {
    module: &'a Module,
    func: &'a Function,
    bits: u32,
    terms: SmallVec<[Term; 4]>,
    offset: i64,
}

impl Sum<'_> {
    /// Adds what a `getelementptr` adds to its base, and returns that. `None` if the value is no such instruction, or not understood;
    /// then something may have been added already.
    fn add_gep(&mut self, address: Value) -> Option<Value> {
        let data = &self.func.insts[self.func.def_inst(address)?];
        let Op::Gep(elem) = data.op else { return None };
        let types = &self.module.types;
        let mut container = elem;
        for (position, &index) in data.args.iter().enumerate().skip(1) {
            if position > 1 {
                let Type::Aggregate(a) = container else { return None };
                match types.get(a) {
                    AggregateType::Array { elem, .. } => container = *elem,
                    AggregateType::Struct { .. } => {
                        let member = u64::try_from(self.func.as_int(index)?).ok()?;
                        let (_, offsets) = self.module.layout.struct_layout(types, container)?;
                        let offset = *offsets.get(usize::try_from(member).ok()?)?;
                        self.offset = self.offset.wrapping_add(offset as i64);
                        container = types.member(container, member)?;
                        continue;
                    }
                }
            }
            let size = self.module.layout.alloc_size(types, container)?;
            let Type::Int(width) = self.func.ty(index) else { return None };
            let extension = if width < self.bits { Extension::Signed } else { Extension::None };
            self.add(index, extension, i64::try_from(size).ok()?, MAX_DEPTH);
        }
        (self.terms.len() <= MAX_TERMS).then(|| data.args[0])
    }

    /// Adds a number times a factor.
    fn add(&mut self, value: Value, extension: Extension, scale: i64, depth: u32) {
        let Type::Int(width) = self.func.ty(value) else { unreachable!("indices are integers") };
        if let Some(c) = self.func.as_int(value).filter(|_| width <= 64) {
            let c = match extension {
                Extension::Unsigned => c as i64,
                _ => wrapped(c as i64, width.min(64)),
            };
            self.offset = self.offset.wrapping_add(c.wrapping_mul(scale));
            return;
        }
        let understood = depth > 0 && self.add_parts(value, extension, scale, depth - 1);
        if !understood {
            self.terms.push(Term { value, extension, scale });
        }
    }

    /// Adds the operands of an instruction instead of its result, if that is the same.
    fn add_parts(&mut self, value: Value, extension: Extension, scale: i64, depth: u32) -> bool {
        let Some(inst) = self.func.def_inst(value) else { return false };
        let data = &self.func.insts[inst];
        let constant = |n: usize| {
            let &v = data.args.get(n)?;
            let width = self.func.ty(v).int_bits().filter(|&w| w <= 64)?;
            self.func.as_int(v).map(|c| wrapped(c as i64, width))
        };
        // Whether wide arithmetic on extended operands yields the extended result.
        let exact = match extension {
            Extension::None => true,
            Extension::Signed => data.flags.contains(InstFlags::NSW),
            Extension::Unsigned => data.flags.contains(InstFlags::NUW),
        };
        match data.op {
            Op::Cast(op @ (CastOp::SExt | CastOp::ZExt)) if extension == Extension::None => {
                let inner = if op == CastOp::SExt { Extension::Signed } else { Extension::Unsigned };
                // An extension that is wider than addresses keeps the bits that count, too.
                let narrow = self.func.ty(data.args[0]).int_bits().is_some_and(|w| w < self.bits);
                let inner = if narrow { inner } else { Extension::None };
                self.add(data.args[0], inner, scale, depth);
            }
            Op::Binary(BinaryOp::Add) if exact => {
                self.add(data.args[0], extension, scale, depth);
                self.add(data.args[1], extension, scale, depth);
            }
            // No bits in common: the sum, without a carry.
            Op::Binary(BinaryOp::Or) if data.flags.contains(InstFlags::DISJOINT) => {
                self.add(data.args[0], extension, scale, depth);
                self.add(data.args[1], extension, scale, depth);
            }
            Op::Binary(BinaryOp::Sub) if exact => {
                let Some(negative) = scale.checked_neg() else { return false };
                self.add(data.args[0], extension, scale, depth);
                self.add(data.args[1], extension, negative, depth);
            }
            Op::Binary(BinaryOp::Mul) if exact => {
                let factor = match extension {
                    // Read as unsigned, the constant may be another number.
                    Extension::Unsigned => constant(1).filter(|&c| c >= 0),
                    _ => constant(1),
                };
                let Some(scale) = factor.and_then(|c| scale.checked_mul(c)) else { return false };
                self.add(data.args[0], extension, scale, depth);
            }
            Op::Binary(BinaryOp::Shl) if exact => {
                let factor = constant(1).and_then(|c| u32::try_from(c).ok()).filter(|&c| c < 32);
                let Some(scale) = factor.and_then(|c| scale.checked_mul(1 << c)) else { return false };
                self.add(data.args[0], extension, scale, depth);
            }
            _ => return false,
        }
        true
    }

    fn finish(mut self) -> SmallVec<[Term; 4]> {
        self.terms.sort_unstable_by_key(|t| (t.value, t.extension));
        let mut terms: SmallVec<[Term; 4]> = SmallVec::new();
        for t in self.terms {
            match terms.last_mut() {
                Some(last) if (last.value, last.extension) == (t.value, t.extension) => {
                    last.scale = last.scale.wrapping_add(t.scale);
                }
                _ => terms.push(t),
            }
        }
        terms.retain(|t| wrapped(t.scale, self.bits) != 0);
        terms
    }
}
