//! Typed access to memory.

use super::code::MemType;
use super::memory::Memory;
use super::scalar::{propagate, truncate};
use super::trap::TrapKind;
use super::value::{Cell, State};

/// The address in a cell, or the trap that its use is.
pub(super) fn address_of(cell: Cell) -> Result<u64, TrapKind> {
    match cell.defined() {
        Some(v) => Ok(v as u64),
        None => Err(TrapKind::UndefinedAddress(cell.state)),
    }
}

/// Traps on an address that is not a multiple of `align`.
pub(super) fn check_align(address: u64, align: u64) -> Result<(), TrapKind> {
    match address.checked_rem(align) {
        Some(0) | None => Ok(()),
        Some(_) => Err(TrapKind::Misaligned { address, align }),
    }
}

/// Reads a value into its cells. An integer whose padding bits are not zero is undef.
pub(super) fn load(
    memory: &mut Memory,
    lane: u32,
    address: u64,
    ty: &MemType,
    out: &mut [Cell],
) -> Result<(), TrapKind> {
    match ty {
        MemType::Scalar { bytes, bits } => {
            let cell = memory.load(lane, address, u64::from(*bytes))?;
            out[0] = if truncate(cell.bits, *bits) == cell.bits { cell } else { Cell::UNDEF };
        }
        MemType::Elements { count, bytes } => {
            for (i, cell) in out[..*count as usize].iter_mut().enumerate() {
                *cell = memory.load(
                    lane,
                    address.wrapping_add(i as u64 * u64::from(*bytes)),
                    u64::from(*bytes),
                )?;
            }
        }
        MemType::Packed { count, bits } => {
            for i in 0..u64::from(*count) {
                out[i as usize] = load_packed(memory, lane, address, i, u64::from(*bits))?;
            }
        }
        MemType::Members(members) => {
            for (offset, cell, member) in members {
                load(memory, lane, address.wrapping_add(*offset), member, &mut out[*cell as usize..])?;
            }
        }
    }
    Ok(())
}

/// Reads a value of which some elements may not be there: these are poison.
pub(super) fn load_speculatively(
    memory: &mut Memory,
    lane: u32,
    address: u64,
    ty: &MemType,
    out: &mut [Cell],
) {
    let MemType::Elements { count, bytes } = ty else {
        if load(memory, lane, address, ty, out).is_err() {
            out.fill(Cell::POISON);
        }
        return;
    };
    for (i, cell) in out[..*count as usize].iter_mut().enumerate() {
        let at = address.wrapping_add(i as u64 * u64::from(*bytes));
        *cell = memory.load(lane, at, u64::from(*bytes)).unwrap_or(Cell::POISON);
    }
}

fn load_packed(memory: &mut Memory, lane: u32, address: u64, i: u64, bits: u64) -> Result<Cell, TrapKind> {
    let (first, end) = (i * bits / 8, ((i + 1) * bits).div_ceil(8));
    if end - first > 16 {
        return Err(TrapKind::Unsupported("a vector of wide, oddly sized integers in memory".into()));
    }
    let cell = memory.load(lane, address.wrapping_add(first), end - first)?;
    match cell.defined() {
        Some(v) => Ok(Cell::new(truncate(v >> (i * bits % 8), bits as u32))),
        None => Ok(cell),
    }
}

/// Writes a value from its cells.
pub(super) fn store(
    memory: &mut Memory,
    lane: u32,
    address: u64,
    ty: &MemType,
    cells: &[Cell],
) -> Result<(), TrapKind> {
    match ty {
        MemType::Scalar { bytes, .. } => memory.store(lane, address, u64::from(*bytes), cells[0])?,
        MemType::Elements { count, bytes } => {
            for (i, &cell) in cells[..*count as usize].iter().enumerate() {
                memory.store(
                    lane,
                    address.wrapping_add(i as u64 * u64::from(*bytes)),
                    u64::from(*bytes),
                    cell,
                )?;
            }
        }
        MemType::Packed { count, bits } => {
            let total = u64::from(*count) * u64::from(*bits);
            for byte in 0..total.div_ceil(8) {
                let mut value = Cell::ZERO;
                for bit in byte * 8..(byte * 8 + 8).min(total) {
                    let cell = cells[(bit / u64::from(*bits)) as usize];
                    let set = cell.bits >> (bit % u64::from(*bits)) & 1;
                    value.bits |= set << (bit - byte * 8);
                    value.state = value.state.max(cell.state);
                }
                if value.state != State::Defined {
                    value.bits = 0;
                }
                memory.store(lane, address.wrapping_add(byte), 1, value)?;
            }
        }
        MemType::Members(members) => {
            for (offset, cell, member) in members {
                store(memory, lane, address.wrapping_add(*offset), member, &cells[*cell as usize..])?;
            }
        }
    }
    Ok(())
}

/// Reinterprets elements of `from` bits as elements of `to` bits, little-endian. An element of the result is
/// poison (undef) if one of those it overlaps is.
pub(super) fn repack(source: &[Cell], from: u32, to: u32, out: &mut [Cell]) {
    for (j, cell) in out.iter_mut().enumerate() {
        let (start, end) = (j as u64 * u64::from(to), (j as u64 + 1) * u64::from(to));
        let first = (start / u64::from(from)) as usize;
        let last = (end.div_ceil(u64::from(from)) as usize).min(source.len());
        let parts = &source[first.min(last)..last];
        if let Some(undefined) = propagate(parts) {
            *cell = undefined;
            continue;
        }
        let mut bits = 0u128;
        for (k, part) in parts.iter().enumerate() {
            let at = (first + k) as i64 * i64::from(from) - start as i64;
            bits |= if at >= 0 { part.bits << at } else { part.bits >> -at };
        }
        *cell = Cell::new(truncate(bits, to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repacking_keeps_the_bits_in_little_endian_order() {
        let c = Cell::new;
        let mut out = [Cell::ZERO; 4];
        repack(&[c(0x0403_0201)], 32, 8, &mut out);
        assert_eq!(out, [c(1), c(2), c(3), c(4)]);
        let mut back = [Cell::ZERO; 2];
        repack(&[c(1), Cell::POISON, c(3), c(4)], 8, 16, &mut back);
        assert_eq!(back, [Cell::POISON, c(0x0403)]);
        let mut odd = [Cell::ZERO; 3];
        repack(&[c(0xabc), c(0xdef)], 12, 8, &mut odd);
        assert_eq!(odd, [c(0xbc), c(0xfa), c(0xde)]);
    }

    #[test]
    fn vectors_of_booleans_are_packed_in_memory() {
        let mut m = Memory::new(64, false);
        let a = m.allocate(2, 1).expect("fits");
        let ty = MemType::Packed { count: 9, bits: 1 };
        let cells: Vec<Cell> = (0..9).map(|i| Cell::bool(i % 3 == 0)).collect();
        store(&mut m, 0, a, &ty, &cells).expect("in bounds");
        assert_eq!(m.read(a, 2), Ok(vec![Some(0b0100_1001), Some(0)]));
        let mut out = vec![Cell::POISON; 9];
        load(&mut m, 0, a, &ty, &mut out).expect("in bounds");
        assert_eq!(out, cells);
    }
}
