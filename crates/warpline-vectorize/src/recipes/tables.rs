//! Loads from small tables of bytes, of which each lane picks one by a shuffle.
//!
//! x86 picks the bytes of a register from 16 others by one instruction (`pshufb`), where a gather of bytes takes a load
//! and an insertion for each lane. A table of up to 256 bytes is looked up as *blocks* of 16: the low four bits of an
//! index pick one byte of each block, and each further bit halves what is left by one blend a pair.
//!
//! All of the table is read, whatever lanes ask for, so its bytes must be there; and it must hold all that an active
//! lane may ask for. Either is so if
//! * the index is known to be less than the number of bytes that are there, or
//! * the table is all of a constant, since no access leaves its object.
//!
//! What inactive lanes pick is not looked at.

use cranelift_entity::SecondaryMap;

use super::addresses::{MAX_DEPTH, greatest};
use super::memory::memory_element;
use super::reps::Rep;
use crate::objects::{Extent, Objects};
use warpline_dataflow::linear::{Address, Extension, Term};
use warpline_ir::{Constant, Function, Inst, Module, Op, Scalar, SymbolKind, Value};
use warpline_target::Machine;

/// Bytes that one instruction picks from.
pub(crate) const BLOCK: u64 = 16;

/// The most bytes of a table: as many as an index of 8 bits tells apart.
const MAX_BYTES: u64 = 256;

/// Operations that a lane's byte takes if it is loaded by itself: a load, and an insertion into the result.
const EACH_LANE: u64 = 2;

/// A table, and which of its bytes a lane picks.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Table {
    /// A pointer that all lanes share, not poison.
    pub root: Value,
    /// The bytes from it to the table.
    pub start: i64,
    /// What that pointer is a multiple of.
    pub align: u64,
    /// The bytes of the table, up to 256.
    pub bytes: u64,
    /// The number of the byte, modulo 256, up to a constant.
    pub index: Term,
    /// That constant.
    pub plus: i64,
    /// Whether it is a constant, which is in registers before a loop begins.
    pub is_constant: bool,
}

impl Table {
    /// How many blocks it has; the last one may be shorter than the others.
    pub(crate) fn blocks(&self) -> u64 {
        self.bytes.div_ceil(BLOCK)
    }

    /// How many lanes are looked up together, if the machine has instructions for that and they are cheaper than a
    /// load for each lane.
    pub(super) fn together(&self, width: u32, machine: &Machine) -> Option<u32> {
        let register = if machine.byte_sums >= 256 { 32 } else { 16 };
        let together = register.min(width);
        let fits = machine.byte_shuffles && width.is_power_of_two() && u64::from(width) >= BLOCK;
        let cheaper = self.operations() < EACH_LANE * u64::from(together);
        (fits && cheaper).then_some(together)
    }

    /// Operations for each register: a shuffle for each block, the blends of these, and what tells how to blend.
    pub(crate) fn operations(&self) -> u64 {
        let bits = self.blocks().next_power_of_two().ilog2();
        2 * self.blocks() - 1 + u64::from(bits) + u64::from(self.blocks() > BLOCK / 2)
    }
}

/// Finds the loads from tables in a lane program.
pub(super) fn find(
    module: &Module,
    func: &Function,
    reps: &SecondaryMap<Value, Rep>,
) -> SecondaryMap<Inst, Option<Table>> {
    let mut found = SecondaryMap::new();
    let mut objects = None;
    for &b in &func.layout {
        for &i in &func.blocks[b].insts {
            let Some((address, index)) = candidate(module, func, reps, i) else { continue };
            let objects = objects.get_or_insert_with(|| Objects::of(module, func));
            found[i] =
                objects.extent(address.root).and_then(|there| table(module, func, &address, index, there));
        }
    }
    found
}

/// The address of a load of a byte for each lane at one index from a pointer that all lanes share.
fn candidate(
    module: &Module,
    func: &Function,
    reps: &SecondaryMap<Value, Rep>,
    i: Inst,
) -> Option<(Address, Term)> {
    let data = &func.insts[i];
    let &Op::Load(access) = &data.op else { return None };
    let (address, ty) = (data.args[0], func.ty(*data.results.first()?));
    let is_byte = memory_element(&module.layout, &module.types, ty) == Some(Scalar::Int(8));
    if !access.is_simple() || !is_byte || reps[address] != Rep::Varying {
        return None;
    }
    let address = Address::of(module, func, address)?;
    let &[index] = &address.terms[..] else { return None };
    let is_number = func.ty(index.value).int_bits().is_some_and(|bits| (8..=64).contains(&bits));
    let fits = is_number && index.scale == 1 && reps[address.root] == Rep::Uniform;
    // Private memory is looked up where it is.
    (fits && func.def_inst(address.root).is_none()).then_some((address, index))
}

/// The table that is looked up at an address, given the bytes that are there behind its root.
fn table(module: &Module, func: &Function, address: &Address, index: Term, there: Extent) -> Option<Table> {
    let &Address { root, offset, .. } = address;
    let whole = constant_bytes(module, func, root);
    let table = |start, bytes, plus| {
        let is_constant = whole.is_some();
        Table { root, start, align: there.align, bytes, index, plus, is_constant }
    };
    let bounded = bound(func, index).and_then(|last| {
        let bytes = last.checked_add(1).filter(|&bytes| bytes <= MAX_BYTES)?;
        let end = u64::try_from(offset).ok()?.checked_add(bytes)?;
        (end <= there.bytes).then(|| table(offset, bytes, 0))
    });
    let all = || whole.filter(|bytes| (1..=MAX_BYTES).contains(bytes)).map(|bytes| table(0, bytes, offset));
    bounded.or_else(all)
}

/// The greatest index that a lane may ask for.
fn bound(func: &Function, index: Term) -> Option<u64> {
    let known = greatest(func, index.value, MAX_DEPTH).and_then(|most| u64::try_from(most).ok());
    let any_byte = index.extension == Extension::Unsigned && func.ty(index.value).int_bits() == Some(8);
    known.or(any_byte.then_some(u64::from(u8::MAX)))
}

/// The size of a constant that a pointer is the start of, if it is known what it contains.
fn constant_bytes(module: &Module, func: &Function, root: Value) -> Option<u64> {
    let Constant::Address { symbol, offset: 0, .. } = func.constant(root)? else { return None };
    match &module.symbols[*symbol].kind {
        SymbolKind::Global { constant: true, bytes: Some(bytes), .. } => u64::try_from(bytes.len()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef;

    #[test]
    fn tables_take_a_shuffle_for_each_block_and_blends() {
        let operations = |bytes| {
            let index = Term { value: Value::new(0), extension: Extension::Unsigned, scale: 1 };
            let root = Value::new(1);
            Table { root, start: 0, align: 1, bytes, index, plus: 0, is_constant: true }.operations()
        };
        assert_eq!([1, 16, 17, 32, 64, 128, 256].map(operations), [1, 1, 4, 4, 9, 18, 36]);
    }
}
