//! Loads of constants from memory that nobody writes.

use super::Known;
use warpline_ir::{Module, SymbolKind, Type};

/// What a load of a number at a known address yields, if the address lies in a constant symbol of known contents.
pub(super) fn constant(module: &Module, address: Known, ty: Type) -> Option<Known> {
    let Known::Address { symbol, offset, .. } = address else { return None };
    let SymbolKind::Global { constant: true, bytes: Some(bytes), .. } = &module.symbols[symbol].kind else {
        return None;
    };
    let width = match ty {
        Type::Int(bits @ ..=128) => bits,
        Type::Float(kind) => kind.bits(),
        _ => return None,
    };
    let size = usize::try_from(module.layout.store_size(&module.types, ty)?).ok()?;
    let start = usize::try_from(offset).ok()?;
    let read = bytes.get(start..start.checked_add(size)?)?;
    let fold = |value: u128, &byte: &u8| value << 8 | u128::from(byte);
    let value = match module.layout.big_endian() {
        true => read.iter().fold(0, fold),
        false => read.iter().rev().fold(0, fold),
    };
    // Bits above the width must have been written as zero.
    let value = (value <= super::super::numbers::mask(width)).then_some(value)?;
    Some(match ty {
        Type::Float(kind) => Known::Float { kind, bits: value },
        _ => Known::Int { bits: width, value },
    })
}
