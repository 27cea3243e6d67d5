//! Masks that are made of each other, and what is asked of masks.
//!
//! A web holds masks that are made of each other by φs, blends and logical operations: what one of them becomes, all
//! have to become. What they compare and blend votes for the width of elements that fits.

use std::collections::BTreeMap;

use crate::ffi::load::functions;
use crate::ffi::types::LLVMOpcode as Opcode;
use crate::ffi::types::*;
use crate::module::{instructions_of, is, users_of};

/// The greatest vectors, in bits, that masks become that live across blocks.
const MAX_BITS: u32 = 1024;
/// Of vectors of more bits than these, few stay in registers, so half as many votes are enough for narrower ones.
const FEW_BITS: u32 = 512;

pub(crate) fn is_null(v: LLVMValueRef) -> bool {
    // SAFETY: a live value.
    unsafe { functions().LLVMIsNull(v) != 0 }
}

/// Whether an instruction extends what it is given.
pub(crate) fn extends(inst: LLVMValueRef) -> bool {
    is(inst, Opcode::LLVMZExt) || is(inst, Opcode::LLVMSExt)
}

/// The extensions of a mask.
pub(crate) fn extensions_of(mask: LLVMValueRef) -> impl Iterator<Item = LLVMValueRef> {
    users_of(mask).into_iter().filter(|&user| extends(user))
}

pub(crate) fn is_extended(mask: LLVMValueRef) -> bool {
    extensions_of(mask).next().is_some()
}

/// Lets users of a mask, those that are meant in their blocks, have something else, which is made once for each block.
///
/// # Safety
/// A live mask that is an instruction; what is made comes before the users in its block.
pub(crate) unsafe fn replace_in_blocks(
    mask: LLVMValueRef,
    is_meant: impl Fn(LLVMValueRef, LLVMBasicBlockRef) -> bool,
    mut make: impl FnMut(LLVMBasicBlockRef) -> LLVMValueRef,
) {
    let f = functions();
    let mut made: BTreeMap<LLVMBasicBlockRef, LLVMValueRef> = BTreeMap::new();
    // SAFETY: as the caller promises; users are collected before any is changed.
    unsafe {
        for user in users_of(mask) {
            let block = f.LLVMGetInstructionParent(user);
            if !is_meant(user, block) {
                continue;
            }
            let new = *made.entry(block).or_insert_with(|| make(block));
            for k in 0..f.LLVMGetNumOperands(user) as u32 {
                if f.LLVMGetOperand(user, k) == mask {
                    f.LLVMSetOperand(user, k, new);
                }
            }
        }
    }
}

/// Masks that are made of each other.
pub(crate) struct Web {
    /// In the order of the program.
    pub(crate) masks: Vec<LLVMValueRef>,
    pub(crate) lanes: u32,
    /// The widths of what masks are made of and used for, and how often each is.
    votes: BTreeMap<u32, usize>,
    /// Whether some live across blocks.
    pub(crate) across: bool,
}

impl Web {
    /// The width that most of what masks are made of and used for has, of those whose vectors are within a limit, and
    /// its votes. Of several, the widest.
    pub(crate) fn most(&self, limit: u32) -> Option<(usize, u32)> {
        let within = self.votes.iter().filter(|&(&bits, _)| bits * self.lanes <= limit);
        within.map(|(&bits, &votes)| (votes, bits)).max()
    }

    /// How wide the integers are to be, where they are all that there is for masks: of masks that live across blocks,
    /// within [`MAX_BITS`].
    pub(crate) fn bits_of_integers(&self) -> Option<u32> {
        if !self.across {
            return self.most(u32::MAX).map(|(_, bits)| bits);
        }
        let wide = self.most(MAX_BITS)?;
        let narrow = self.most(FEW_BITS).filter(|narrow| 2 * narrow.0 >= wide.0);
        Some(narrow.unwrap_or(wide).1)
    }
}

/// The webs of a function that may have to become integers.
#[derive(Default)]
pub(crate) struct Webs {
    pub(crate) masks: Vec<LLVMValueRef>,
    number: BTreeMap<LLVMValueRef, usize>,
    /// Another mask of the same web, the first for that itself.
    same: Vec<usize>,
    pub(crate) found: Vec<Web>,
}

impl Webs {
    pub(crate) fn of(function: LLVMValueRef) -> Webs {
        let f = functions();
        let mut webs = Webs::default();
        for inst in instructions_of(function) {
            // SAFETY: an instruction of a live function, which is asked for its type.
            if element_bits(unsafe { f.LLVMTypeOf(inst) }) == Some(1) {
                webs.number.insert(inst, webs.masks.len());
                webs.same.push(webs.masks.len());
                webs.masks.push(inst);
            }
        }
        webs.join();
        webs.collect();
        webs
    }

    /// The first mask of a web.
    fn first(&mut self, mut n: usize) -> usize {
        while self.same[n] != n {
            self.same[n] = self.same[self.same[n]];
            n = self.same[n];
        }
        n
    }

    /// Finds what is made of each other.
    fn join(&mut self) {
        for n in 0..self.masks.len() {
            let mask = self.masks[n];
            for operand in if combines(mask) { operands_of(mask) } else { Vec::new() } {
                if let Some(&m) = self.number.get(&operand) {
                    let (a, b) = (self.first(n), self.first(m));
                    self.same[a.max(b)] = a.min(b);
                }
            }
        }
    }

    /// Keeps the webs that live across blocks, are combined or extended.
    fn collect(&mut self) {
        let mut members: BTreeMap<usize, Vec<LLVMValueRef>> = BTreeMap::new();
        for n in 0..self.masks.len() {
            let first = self.first(n);
            members.entry(first).or_default().push(self.masks[n]);
        }
        for masks in members.into_values() {
            let across = masks.iter().any(|&mask| is_phi(mask) || leaves_its_block(mask));
            let is_used = || masks.iter().any(|&mask| combines(mask) || is_extended(mask));
            // SAFETY: a live instruction whose type is a vector.
            let lanes = unsafe { functions().LLVMGetVectorSize(functions().LLVMTypeOf(masks[0])) };
            if lanes > 1 && (across || is_used()) {
                self.found.push(Web { lanes, votes: votes_of(&masks), masks, across });
            }
        }
    }
}

/// The widths of what masks are made of and used for, and how often each is.
fn votes_of(masks: &[LLVMValueRef]) -> BTreeMap<u32, usize> {
    let f = functions();
    let mut votes: BTreeMap<u32, usize> = BTreeMap::new();
    for &mask in masks {
        let sources = if combines(mask) { Vec::new() } else { operands_of(mask) };
        let users = users_of(mask);
        let used = users.iter().filter(|&&user| !combines(user)).flat_map(|&user| {
            let mut around = operands_of(user);
            around.push(user);
            around
        });
        for value in sources.into_iter().chain(used) {
            // SAFETY: a live value.
            let bits = unsafe { element_bits(f.LLVMTypeOf(value)) };
            if let Some(bits @ (8 | 16 | 32 | 64)) = bits {
                *votes.entry(bits).or_default() += 1;
            }
        }
    }
    votes
}

/// The width of the elements of a vector of numbers.
pub(crate) fn element_bits(ty: LLVMTypeRef) -> Option<u32> {
    use crate::ffi::types::LLVMTypeKind::{
        LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMHalfTypeKind, LLVMIntegerTypeKind, LLVMVectorTypeKind,
    };
    let f = functions();
    // SAFETY: a live type; each question is asked of the kind of type it is for.
    unsafe {
        if f.LLVMGetTypeKind(ty) != LLVMVectorTypeKind as u32 {
            return None;
        }
        let elem = f.LLVMGetElementType(ty);
        match f.LLVMGetTypeKind(elem) {
            k if k == LLVMIntegerTypeKind as u32 => Some(f.LLVMGetIntTypeWidth(elem)),
            k if k == LLVMHalfTypeKind as u32 => Some(16),
            k if k == LLVMFloatTypeKind as u32 => Some(32),
            k if k == LLVMDoubleTypeKind as u32 => Some(64),
            _ => None,
        }
    }
}

/// Whether an instruction makes a mask of masks.
pub(crate) fn combines(inst: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: a live instruction.
    let (opcode, bits) = unsafe { (f.LLVMGetInstructionOpcode(inst), element_bits(f.LLVMTypeOf(inst))) };
    let made_of_masks = [
        Opcode::LLVMPHI,
        Opcode::LLVMSelect,
        Opcode::LLVMAnd,
        Opcode::LLVMOr,
        Opcode::LLVMXor,
        Opcode::LLVMFreeze,
    ];
    bits == Some(1) && made_of_masks.iter().any(|&op| op as u32 == opcode)
}

pub(crate) fn is_phi(inst: LLVMValueRef) -> bool {
    is(inst, Opcode::LLVMPHI)
}

/// Whether a mask is used in another block, or by a φ.
pub(crate) fn leaves_its_block(mask: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: live instructions.
    unsafe {
        let home = f.LLVMGetInstructionParent(mask);
        users_of(mask).into_iter().any(|user| is_phi(user) || f.LLVMGetInstructionParent(user) != home)
    }
}

pub(crate) fn operands_of(inst: LLVMValueRef) -> Vec<LLVMValueRef> {
    let f = functions();
    // SAFETY: a live instruction.
    unsafe { (0..f.LLVMGetNumOperands(inst) as u32).map(|k| f.LLVMGetOperand(inst, k)).collect() }
}

/// The first instruction of a block that is no φ.
pub(crate) fn first_behind_phis(block: LLVMBasicBlockRef) -> LLVMValueRef {
    let f = functions();
    // SAFETY: a live block, which has a terminator.
    unsafe {
        let mut inst = f.LLVMGetFirstInstruction(block);
        while is_phi(inst) {
            inst = f.LLVMGetNextInstruction(inst);
        }
        inst
    }
}
