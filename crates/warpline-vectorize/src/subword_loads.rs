//! Narrow elements that are loaded as parts of words.
//!
//! Machines that gather do so with elements of 32 and 64 bits. An element of 8 or 16 bits can be had from a gather of
//! 32-bit words and a shift, which takes far less than one load for each lane, if the rest of the word can be read.
//! *What lies between two bytes that a lane accesses through one address up to a constant belongs to the object that
//! both belong to*. So where the lane has accessed other bytes at such an address before, as the other fields of a
//! structure, it may read everything from the first of these to the last, and a word in there that contains the
//! element will do.
//!
//! That the lane has accessed them follows from dominance in the scalar function: whenever the load is executed, the
//! other access has been, with the same values in its address, since what these are defined by dominates both. In the
//! lane program a block can dominate another though lanes that are active in the second were not in the first. So the
//! words are found before linearization; what is found is said of the load, at whatever address a lane then makes it.
//! The object is alive, or the lane could not load its element. No page is touched but those of the two accesses, as
//! these are not further apart than the size of a page.
//!
//! The load is made for the same lanes as before, and what other lanes or threads do to the neighbours meanwhile is
//! shifted out. To LLVM a word is poison if one of its bytes is, and no shift mends that; a word at what is seen to
//! be the address of private memory, where such bytes are usual as long as nothing was stored there, is not made.
//! Elsewhere a neighbour is poison only if the program has stored poison, and LLVM would have to see that: it
//! forwards nothing from stores to gathers.

use cranelift_entity::SecondaryMap;
use warpline_analysis::DomTree;

use super::objects::{Access, Accesses, Extent, Place, Wanted};
use warpline_dataflow::linear::Address;
use warpline_ir::{Accessed, Function, Inst, Module, Type, Value};

/// Bytes of a word.
pub(crate) const WORD_BYTES: u64 = 4;

/// How far away other accesses are looked for, in bytes: the size of the smallest pages.
const MAX_DISTANCE: u64 = 4096;

/// Of a load: how many bytes before the element a word begins that may be loaded in its place.
pub(crate) type Words = SecondaryMap<Inst, Option<u64>>;

/// Finds them in a scalar function, given which addresses vary.
pub(crate) fn find(module: &Module, func: &Function, varies: impl Fn(Value) -> bool) -> Words {
    let mut words = Words::new();
    // In which part of a word an element is depends on the order of bytes.
    if module.layout.big_endian() {
        return words;
    }
    let size = |ty: Type| module.layout.store_size(&module.types, ty);
    let simple =
        |i: Inst| func.accessed(i).filter(|a| a.access.is_simple() && func.ty(a.address) == Type::PTR);
    let is_wanted = |a: &Accessed| !a.writes && matches!(size(a.ty), Some(1 | 2)) && varies(a.address);
    let mut insts = func.layout.iter().flat_map(|&b| &func.blocks[b].insts);
    if !insts.any(|&i| simple(i).as_ref().is_some_and(is_wanted)) {
        return words;
    }
    let mut accesses: Accesses<Place> = Accesses::default();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let Some(access) = simple(inst) else { continue };
            let Some(bytes) = size(access.ty) else { continue };
            let Some(Address { root, terms, offset }) = Address::of(module, func, access.address) else {
                continue;
            };
            let place = (root, terms.to_vec());
            if is_wanted(&access) && !func.is_alloca(root) {
                accesses.add_wanted(inst, place.clone(), offset, bytes);
            }
            accesses.add_made(block, access.address, place, offset, Extent { bytes, align: 1 });
        }
    }
    let dom = DomTree::compute(&func.graph().0);
    for load in &accesses.wanted {
        words[load.inst] = word(load, accesses.before(load, func.insts[load.inst].block, &dom));
    }
    words
}

/// The word nearest to the element, from the first byte that the lane has accessed to the last.
fn word<'a>(load: &Wanted<Place>, before: impl Iterator<Item = &'a Access>) -> Option<u64> {
    let (mut first, mut end) = (0, load.size.cast_signed());
    for a in before {
        let Some(distance) = a.offset.checked_sub(load.offset) else { continue };
        if distance.unsigned_abs() <= MAX_DISTANCE && a.extent.bytes <= MAX_DISTANCE {
            first = first.min(distance);
            end = end.max(distance + a.extent.bytes.cast_signed());
        }
    }
    // A word that begins with the element, or else one that ends where what was accessed does.
    let begin = (end - WORD_BYTES.cast_signed()).min(0);
    (begin >= first).then_some(begin.unsigned_abs())
}
