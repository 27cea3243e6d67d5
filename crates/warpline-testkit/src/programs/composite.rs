//! Structures, arrays and vectors: what they consist of, where that is in memory, and instructions on whole ones.

use warpline_ir::*;

use super::fill::{Avail, CLEAN, Filler};
use super::memory::BufferKind;
use crate::rng::SplitMix64;

/// A scalar in a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leaf {
    /// Its type.
    pub ty: Type,
    /// Where it is in memory, in bytes from the value's address.
    pub offset: u64,
    /// The members that lead to it.
    pub path: Vec<u32>,
}

/// The scalars of a value of a type, in order; a scalar has itself. Vectors have elements of whole bytes.
pub fn leaves(module: &Module, ty: Type) -> Vec<Leaf> {
    let mut all = Vec::new();
    collect(module, &Leaf { ty, offset: 0, path: Vec::new() }, &mut all);
    all
}

fn collect(module: &Module, at: &Leaf, all: &mut Vec<Leaf>) {
    if at.ty.scalar().is_some() {
        all.push(at.clone());
        return;
    }
    let offsets = module.layout.struct_layout(&module.types, at.ty).map(|(_, offsets)| offsets);
    for k in 0.. {
        let Some(ty) = module.types.member(at.ty, k) else { break };
        let size = match ty.scalar() {
            Some(s) if matches!(at.ty, Type::Vector(_)) => u64::from(module.layout.scalar_bits(s)) / 8,
            _ => module.layout.alloc_size(&module.types, ty).expect("members have a size"),
        };
        let offset = at.offset + offsets.as_ref().map_or(k * size, |o| o[k as usize]);
        let path = at.path.iter().copied().chain([k as u32]).collect();
        collect(module, &Leaf { ty, offset, path }, all);
    }
}

/// The bytes that a value of this type takes in an array. `scalar` gives the bits of the scalars in it, in order;
/// what lies between them is zero.
pub fn bytes(module: &Module, ty: Type, mut scalar: impl FnMut(Type) -> u128) -> Vec<u8> {
    let mut bytes = vec![0; stride(module, ty) as usize];
    for leaf in leaves(module, ty) {
        let size = module.layout.store_size(&module.types, leaf.ty).expect("scalars have a size") as usize;
        let at = leaf.offset as usize;
        bytes[at..at + size].copy_from_slice(&scalar(leaf.ty).to_le_bytes()[..size]);
    }
    bytes
}

/// The bits of the scalars of a value of this type, in order, given its bytes in an array.
pub fn scalars(module: &Module, ty: Type, bytes: &[u8]) -> Vec<u128> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |x, &b| x << 8 | u128::from(b));
    let size = |ty| module.layout.store_size(&module.types, ty).expect("scalars have a size") as usize;
    leaves(module, ty).iter().map(|l| word(&bytes[l.offset as usize..][..size(l.ty)])).collect()
}

/// The distance of values of a type in an array, in bytes.
pub fn stride(module: &Module, ty: Type) -> u64 {
    module.layout.alloc_size(&module.types, ty).expect("values in memory have a size")
}

/// Some structure or array.
pub(super) fn random_aggregate(rng: &mut SplitMix64, types: &mut TypeTable) -> Type {
    let (byte, word, wide) = (Type::Int(8), Type::Int(32), Type::Int(64));
    let float4 = Type::F32.vector(4).expect("a float is a scalar");
    match rng.below(8) {
        0 => types.structure(vec![word, Type::F32], false),
        1 => types.array(word, 4),
        2 => types.array(Type::F32, 3),
        3 => types.structure(vec![wide, word, word], false),
        4 => types.structure(vec![byte, wide, Type::Int(16)], false),
        5 => types.structure(vec![word, float4], false),
        6 => {
            let pair = types.array(word, 2);
            types.structure(vec![Type::Int(16), pair, Type::F64], false)
        }
        _ => {
            let inner = types.structure(vec![word, byte], true);
            types.array(inner, 2)
        }
    }
}

impl Filler<'_> {
    /// An instruction on a structure, array or vector.
    pub(super) fn aggregate(&mut self, b: Block) {
        if self.rng.chance(1, 4) {
            let [v, _] = self.wide.vectors;
            self.vector_instruction(b, v);
            return;
        }
        let ty = *self.rng.pick(&self.wide.aggregates);
        let parts: Vec<Leaf> = leaves(self.module, ty);
        match self.rng.below(8) {
            0..=2 => {
                let part = self.rng.pick(&parts).clone();
                let x = self.pick(b, ty, CLEAN);
                self.member(b, x, &part);
            }
            3 | 4 => {
                let part = self.rng.pick(&parts).clone();
                let x = self.pick(b, ty, CLEAN);
                if !self.ends_in_vector(ty, &part) && self.rng.chance(1, 2) {
                    let y = self.pick(b, part.ty, CLEAN);
                    self.emit_on(b, Op::InsertValue(part.path.into()), &[x, y], ty);
                } else {
                    self.with_member(b, x, &part.path);
                }
            }
            5 => {
                let c = self.pick(b, Type::BOOL, CLEAN);
                let (x, y) = (self.pick(b, ty, CLEAN), self.pick(b, ty, CLEAN));
                self.emit_on(b, Op::Select, &[c, x, y], ty);
            }
            _ => self.aggregate_in_memory(b, ty),
        }
    }

    /// A scalar of a structure or array, at once or member by member.
    fn member(&mut self, b: Block, x: Avail, part: &Leaf) -> Avail {
        if !self.ends_in_vector(x.ty, part) && self.rng.chance(1, 2) {
            return self.emit_on(b, Op::ExtractValue(part.path.clone().into()), &[x], part.ty);
        }
        part.path.iter().fold(x, |x, &k| self.part(b, x, k))
    }

    fn ends_in_vector(&self, ty: Type, part: &Leaf) -> bool {
        let above = &part.path[..part.path.len() - 1];
        let member =
            |ty, &k: &u32| self.module.types.member(ty, k.into()).expect("the path is one of the type");
        matches!(above.iter().fold(ty, member), Type::Vector(_))
    }

    /// The whole with another scalar in it.
    fn with_member(&mut self, b: Block, x: Avail, path: &[u32]) -> Avail {
        let Some((&k, rest)) = path.split_first() else { return self.pick(b, x.ty, CLEAN) };
        let old = self.part(b, x, k);
        let new = self.with_member(b, old, rest);
        match x.ty {
            Type::Vector(_) => {
                let k = self.number(32, k.into());
                self.emit_on(b, Op::InsertElement, &[x, new, k], x.ty)
            }
            _ => self.emit_on(b, Op::InsertValue([k].into()), &[x, new], x.ty),
        }
    }

    fn part(&mut self, b: Block, x: Avail, k: u32) -> Avail {
        let ty = self.module.types.member(x.ty, k.into()).expect("the path is one of the type");
        match x.ty {
            Type::Vector(_) => {
                let k = self.number(32, k.into());
                self.emit_on(b, Op::ExtractElement, &[x, k], ty)
            }
            _ => self.emit_on(b, Op::ExtractValue([k].into()), &[x], ty),
        }
    }

    /// Stores a whole one into the slot of the own index, and perhaps loads it again.
    fn aggregate_in_memory(&mut self, b: Block, ty: Type) {
        let own = self.buffers.iter().copied().find(|x| x.kind == BufferKind::Whole && x.elem == ty);
        let (Some(own), Some(i)) = (own, self.index) else { return };
        let ptr = self.f.ty(own.base);
        let address = self.f.append_value(b, Op::Gep(ty), &[own.base, i.value], ptr);
        let access = MemAccess::plain(self.module.layout.abi_align(&self.module.types, ty));
        if self.rng.chance(2, 3) {
            let x = self.pick(b, ty, CLEAN);
            self.f.append(b, Op::Store(access), &[x.value, address], Type::Void);
        }
        if self.rng.chance(2, 3) {
            self.emit(b, Op::Load(access), &[address], ty, true, false);
        }
    }
}
