//! Shorts in the order in which x86 unpacks bytes, as their recipes say.

use crate::VectorizeError;
use warpline_ir::{BinaryOp, CastOp, Constant, Effects, Inst, Op, Type, Value};

use super::Lower;
use super::sums::{Names, PRODUCTS, of_size};
use crate::recipes::{GroupId, Weighted};

/// The bytes of a block.
const BLOCK: u32 = 16;

/// What packs words as signed shorts, and shorts as unsigned bytes.
const WORDS: Names = ["llvm.x86.sse2.packssdw.128", "llvm.x86.avx2.packssdw", "llvm.x86.avx512.packssdw.512"];
const SHORTS: Names =
    ["llvm.x86.sse2.packuswb.128", "llvm.x86.avx2.packuswb", "llvm.x86.avx512.packuswb.512"];

impl Lower<'_> {
    /// Makes shorts of bytes, register by register of so many bytes.
    pub(super) fn unpack_bytes(&mut self, i: Inst, register: u32) -> Result<(), VectorizeError> {
        let (x, result) = (self.src.insts[i].args[0], self.src.insts[i].results[0]);
        let x = self.vector(x, i)?;
        let part = Type::Int(8).vector(register).expect("an integer is a scalar");
        let mut parts = Vec::new();
        for first in (0..self.width).step_by(register as usize) {
            let bytes = self.lanes_from(x, first, part);
            parts.extend(self.unpacked(bytes, false));
        }
        let made = self.joined(parts);
        self.define(result, made);
        Ok(())
    }

    /// The shorts that the lower and the upper halves of a register's blocks are.
    pub(super) fn unpacked(&mut self, bytes: Value, signed: bool) -> [Value; 2] {
        let ty = self.out.ty(bytes);
        let Type::Vector(v) = ty else { return [bytes; 2] };
        let shorts = Type::Int(16).vector(v.lanes / 2).expect("an integer is a scalar");
        let zeros = self.out.constant_value(Constant::Zero(ty));
        let other = if signed { bytes } else { zeros };
        self.interleaved(bytes, other).map(|both| {
            let made = self.emit(Op::Cast(CastOp::Bitcast), &[both], shorts);
            if !signed {
                return made;
            }
            let by = self.splat_of(made, 8);
            self.emit(Op::Binary(BinaryOp::AShr), &[made, by], shorts)
        })
    }

    /// Sums of bytes by weights, in the order of bytes that are unpacked twice.
    pub(super) fn weighted(&mut self, i: Inst, sum: &Weighted) -> Result<(), VectorizeError> {
        if let Some(id) = sum.words {
            return self.weighted_words(i, sum, id);
        }
        let register = sum.register;
        let (pairs, plus) = sum.pairs();
        let bytes = Type::Int(8).vector(register).expect("an integer is a scalar");
        let words = Type::Int(32).vector(register / 4).expect("an integer is a scalar");
        let name = of_size(PRODUCTS, register * 8);
        let mut parts = Vec::new();
        for first in (0..self.width).step_by(register as usize) {
            let mut sums: Vec<Value> = Vec::new();
            for pair in &pairs {
                let mut both = Vec::new();
                for &(x, _) in pair {
                    both.push(match x {
                        Some(x) => {
                            let x = self.vector(x, i)?;
                            self.lanes_from(x, first, bytes)
                        }
                        None => {
                            let zeros = self.out.constant_value(Constant::Zero(bytes));
                            self.splat_of(zeros, 1)
                        }
                    });
                }
                let shorts: Vec<Value> = self
                    .interleaved(both[0], both[1])
                    .into_iter()
                    .flat_map(|x| self.unpacked(x, false))
                    .collect();
                let weights = self.weights([pair[0].1, pair[1].1], register);
                let products = shorts.into_iter().map(|x| {
                    self.call_named(name, &[x, weights], words, Effects::empty()).expect("it has a result")
                });
                let products: Vec<Value> = products.collect();
                sums = match sums.is_empty() {
                    true => products,
                    false => {
                        let both = sums.into_iter().zip(products);
                        both.map(|(x, y)| self.emit(Op::Binary(BinaryOp::Add), &[x, y], words)).collect()
                    }
                };
            }
            parts.extend(sums);
        }
        let all = self.joined(parts);
        self.define_with(i, all, plus);
        Ok(())
    }

    /// Defines a result as a vector to which a number is added.
    fn define_with(&mut self, i: Inst, mut all: Value, plus: i32) {
        if plus != 0 {
            let plus = self.splat_of(all, u128::from(plus as u32));
            let ty = self.out.ty(all);
            all = self.emit(Op::Binary(BinaryOp::Add), &[all, plus], ty);
        }
        self.define(self.src.insts[i].results[0], all);
    }

    /// Sums of the bytes of words by weights, each where its word is.
    fn weighted_words(&mut self, i: Inst, sum: &Weighted, id: GroupId) -> Result<(), VectorizeError> {
        let Some(&words) = self.words.get(&id) else {
            return Err(self.internal(i, "words are added up before they are loaded"));
        };
        let (group, ty) = (self.plan.group(id), self.out.ty(words));
        let (low, _) = group.extent();
        let place = |v: Value| {
            let load = self.src.def_inst(v)?;
            group.members.iter().find(|m| m.inst == load).map(|m| m.offset - low)
        };
        let weights = [0, 1].map(|first| sum.weights_in_word(first, place));
        let part = Type::Int(32).vector(sum.register / 4).expect("an integer is a scalar");
        let shorts = Type::Int(16).vector(sum.register / 2).expect("an integer is a scalar");
        let name = of_size(PRODUCTS, sum.register * 8);
        let mut all = None;
        for (first, weights) in weights.into_iter().enumerate().filter(|(_, weights)| *weights != [0; 2]) {
            let by = self.splat_of(words, 8);
            let mask = self.splat_of(words, 0x00ff_00ff);
            let shifted =
                if first == 0 { words } else { self.emit(Op::Binary(BinaryOp::LShr), &[words, by], ty) };
            let pairs = self.emit(Op::Binary(BinaryOp::And), &[shifted, mask], ty);
            let weights = self.weights(weights, sum.register);
            let mut parts = Vec::new();
            for first in (0..self.width).step_by(sum.register as usize / 4) {
                let pair = self.lanes_from(pairs, first, part);
                let pair = self.emit(Op::Cast(CastOp::Bitcast), &[pair], shorts);
                let made = self.call_named(name, &[pair, weights], part, Effects::empty());
                parts.push(made.expect("it has a result"));
            }
            let made = self.joined(parts);
            all = Some(match all {
                None => made,
                Some(before) => self.emit(Op::Binary(BinaryOp::Add), &[before, made], ty),
            });
        }
        let Some(all) = all else { return Err(self.internal(i, "a sum has no terms")) };
        self.define_with(i, all, sum.plus);
        Ok(())
    }

    /// Two weights in turn, in a register of so many bytes.
    fn weights(&mut self, pair: [i16; 2], register: u32) -> Value {
        let all = (0..register / 2).map(|k| Constant::int(16, u128::from(pair[k as usize % 2] as u16)));
        self.out.constant_value(Constant::vector(all.collect()))
    }

    /// The bytes of two registers in turn: those of the lower and of the upper halves of their blocks.
    fn interleaved(&mut self, x: Value, y: Value) -> [Value; 2] {
        let ty = self.out.ty(x);
        let Type::Vector(v) = ty else { return [x, y] };
        [0, BLOCK / 2].map(|half| {
            let place = |k: u32| (k / BLOCK * BLOCK + half + k % BLOCK / 2 + k % 2 * v.lanes) as i32;
            self.emit(Op::Shuffle((0..v.lanes).map(place).collect()), &[x, y], ty)
        })
    }

    /// Makes bytes of integers that are in the order of unpacked bytes: the low ones, or the nearest ones.
    pub(super) fn pack_bytes(
        &mut self,
        i: Inst,
        (of, from): (Value, u32),
        saturates: bool,
        register: u32,
    ) -> Result<(), VectorizeError> {
        let mut x = self.vector(of, i)?;
        if !saturates {
            let low = self.splat_of(x, 0xff);
            let ty = self.out.ty(x);
            x = self.emit(Op::Binary(BinaryOp::And), &[x, low], ty);
        }
        let mut parts = Vec::new();
        for first in (0..self.width).step_by(register as usize) {
            let part = Type::Int(from).vector(register * 8 / from).expect("an integer is a scalar");
            let quarters = (0..from / 8).map(|k| self.lanes_from(x, first + k * register * 8 / from, part));
            let mut left: Vec<Value> = quarters.collect();
            let mut bits = from;
            while bits > 8 {
                let to = bits / 2;
                let names = if bits == 32 { WORDS } else { SHORTS };
                let whole = Type::Int(to).vector(register * 8 / to).expect("an integer is a scalar");
                let pairs: Vec<[Value; 2]> = left.chunks(2).map(|pair| [pair[0], pair[1]]).collect();
                let pack = |pair: [Value; 2]| {
                    let made = self.call_named(of_size(names, register * 8), &pair, whole, Effects::empty());
                    made.expect("it has a result")
                };
                left = pairs.into_iter().map(pack).collect();
                bits = to;
            }
            parts.extend(left);
        }
        let made = self.joined(parts);
        self.define(self.src.insts[i].results[0], made);
        Ok(())
    }
}
