//! Byte-addressed memory.
//!
//! Every allocation lies in a window of its own (4 GiB wide where pointers have 64 bits, 1 MiB otherwise), far from
//! its neighbours, and is aligned to exactly what was asked for, no more: accesses out of bounds and false
//! alignment claims are found. Each byte has a [`State`]. Provenance is not tracked: a pointer is its address.

use super::race::{Access, RaceLog, Shadow, Spare};
use super::trap::TrapKind;
use super::value::{Cell, State};

/// A contiguous piece of memory.
#[derive(Clone, Debug)]
struct Allocation {
    base: u64,
    bytes: Vec<u8>,
    /// Empty while all bytes are defined.
    states: Vec<State>,
    writable: bool,
    live: bool,
    shadow: Shadow,
}

impl Allocation {
    fn state(&self, from: usize, len: usize) -> State {
        match self.states.get(from..from + len) {
            Some(s) => s.iter().copied().max().unwrap_or_default(),
            None => State::Defined,
        }
    }

    fn set_state(&mut self, from: usize, len: usize, state: State) {
        if self.states.is_empty() {
            if state == State::Defined {
                return;
            }
            self.states = vec![State::Defined; self.bytes.len()];
        }
        self.states[from..from + len].fill(state);
    }
}

/// Memory shared by all lanes.
#[derive(Clone, Debug)]
pub struct Memory {
    allocations: Vec<Allocation>,
    window: u32,
    big_endian: bool,
    pub(super) races: Option<RaceLog>,
    /// How many runs have been watched for races.
    run: u32,
    /// How many executions of instructions there have been in this run.
    execution: u32,
    /// By which numbers work-items are known that run in lanes, if lanes have others.
    items: Vec<u32>,
    /// Whether accesses are parts of atomic operations.
    pub(super) atomic: bool,
    spare: Spare,
}

impl Memory {
    /// Empty memory for pointers of this width.
    pub fn new(pointer_bits: u32, big_endian: bool) -> Memory {
        let window = if pointer_bits > 48 { 32 } else { 20 };
        Memory {
            allocations: Vec::new(),
            window,
            big_endian,
            races: None,
            run: 0,
            execution: 0,
            items: Vec::new(),
            atomic: false,
            spare: Spare::default(),
        }
    }

    /// Allocates `size` undefined, writable bytes aligned to `align` (a power of two). The address.
    ///
    /// # Errors
    /// If the memory is too large for the interpreter.
    pub fn allocate(&mut self, size: u64, align: u64) -> Result<u64, TrapKind> {
        let limit = (1u64 << self.window) - (1 << (self.window - 3));
        let first = 1u64 << (self.window - 4);
        let align = align.max(1);
        // An odd multiple of the alignment.
        let offset = first.next_multiple_of(2 * align.min(first)) + align;
        if align > first || size > limit || self.allocations.len() as u64 >= 1 << 31 {
            return Err(TrapKind::OutOfMemory);
        }
        if self.window < 32 && self.allocations.len() >= (1 << (32 - self.window)) - 2 {
            return Err(TrapKind::OutOfMemory);
        }
        let base = ((self.allocations.len() as u64 + 1) << self.window) + offset;
        self.allocations.push(Allocation {
            base,
            bytes: vec![0; size as usize],
            states: vec![State::Undef; size as usize],
            writable: true,
            live: true,
            shadow: Shadow::default(),
        });
        Ok(base)
    }

    /// Allocates memory with these contents.
    ///
    /// # Errors
    /// As [`Memory::allocate`].
    pub fn allocate_bytes(&mut self, bytes: &[u8], align: u64) -> Result<u64, TrapKind> {
        let base = self.allocate(bytes.len() as u64, align)?;
        if let Some(a) = self.allocations.last_mut() {
            a.bytes.copy_from_slice(bytes);
            a.states = Vec::new();
        }
        Ok(base)
    }

    /// Makes the allocation at `address` read-only.
    pub(crate) fn protect(&mut self, address: u64) {
        if let Some(i) = self.index(address) {
            self.allocations[i].writable = false;
        }
    }

    /// Ends the life of the allocation that starts at `address`.
    pub fn free(&mut self, address: u64) {
        if let Some(i) = self.index(address) {
            let a = &mut self.allocations[i];
            a.live = false;
            a.bytes = Vec::new();
            a.states = Vec::new();
            a.shadow = Shadow::default();
        }
        while self.allocations.last().is_some_and(|a| !a.live) {
            self.allocations.pop();
        }
    }

    fn index(&self, address: u64) -> Option<usize> {
        let i = usize::try_from(address >> self.window).ok()?.checked_sub(1)?;
        self.allocations.get(i).is_some_and(|a| a.live).then_some(i)
    }

    /// The start and the size of the live allocation that an address points into, or just behind.
    pub fn extent(&self, address: u64) -> Option<(u64, u64)> {
        let a = &self.allocations[self.index(address)?];
        let size = a.bytes.len() as u64;
        (address >= a.base && address - a.base <= size).then_some((a.base, size))
    }

    /// Whether all bytes of the range can be read.
    pub fn readable(&self, address: u64, size: u64) -> bool {
        self.locate(address, size).is_ok()
    }

    fn locate(&self, address: u64, size: u64) -> Result<(usize, usize), TrapKind> {
        let found = || {
            let i = self.index(address)?;
            let a = &self.allocations[i];
            let offset = usize::try_from(address.checked_sub(a.base)?).ok()?;
            let end = offset.checked_add(usize::try_from(size).ok()?)?;
            (end <= a.bytes.len()).then_some((i, offset))
        };
        found().ok_or(TrapKind::OutOfBounds { address, size })
    }

    fn locate_writable(&self, address: u64, size: u64) -> Result<(usize, usize), TrapKind> {
        let (i, offset) = self.locate(address, size)?;
        match self.allocations[i].writable {
            true => Ok((i, offset)),
            false => Err(TrapKind::ReadOnly { address }),
        }
    }

    /// What follows belongs to another execution of an instruction than what was before.
    pub(super) fn next_execution(&mut self) {
        self.execution = self.execution.wrapping_add(1);
    }

    fn note_read(&mut self, i: usize, offset: usize, size: usize, lane: u32) {
        if let Some(log) = &mut self.races {
            let lane = self.items.get(lane as usize).copied().unwrap_or(lane);
            let access = Access { lane, atomic: self.atomic, execution: self.execution };
            let Allocation { base, shadow, .. } = &mut self.allocations[i];
            for at in offset..offset + size {
                shadow.touch(at, &mut self.spare);
                shadow.read(log, self.run, at, *base + at as u64, access);
            }
        }
    }

    /// Records a write before it is done; `new` says the byte that is written, and its state.
    fn note_write(
        &mut self,
        i: usize,
        offset: usize,
        size: usize,
        lane: u32,
        new: impl Fn(usize) -> (u8, State),
    ) {
        if let Some(log) = &mut self.races {
            let lane = self.items.get(lane as usize).copied().unwrap_or(lane);
            let access = Access { lane, atomic: self.atomic, execution: self.execution };
            let Allocation { base, bytes, states, shadow, .. } = &mut self.allocations[i];
            for k in 0..size {
                let at = offset + k;
                shadow.touch(at, &mut self.spare);
                let old = (bytes[at], states.get(at).copied().unwrap_or_default());
                shadow.write(log, self.run, (at, *base + at as u64), old != new(k), access);
            }
        }
    }

    /// Reads an integer of `size` (at most 16) bytes. Poison if any byte is, else undef if any byte is.
    pub(super) fn load(&mut self, lane: u32, address: u64, size: u64) -> Result<Cell, TrapKind> {
        let (i, offset) = self.locate(address, size)?;
        self.note_read(i, offset, size as usize, lane);
        let a = &self.allocations[i];
        match a.state(offset, size as usize) {
            State::Poison => return Ok(Cell::POISON),
            State::Undef => return Ok(Cell::UNDEF),
            State::Defined => {}
        }
        let mut buffer = [0u8; 16];
        let part = &mut buffer[..size as usize];
        part.copy_from_slice(&a.bytes[offset..offset + size as usize]);
        if self.big_endian {
            part.reverse();
        }
        Ok(Cell::new(u128::from_le_bytes(buffer)))
    }

    /// Writes an integer of `size` (at most 16) bytes.
    pub(super) fn store(&mut self, lane: u32, address: u64, size: u64, cell: Cell) -> Result<(), TrapKind> {
        let (i, offset) = self.locate_writable(address, size)?;
        let mut buffer = cell.bits.to_le_bytes();
        let part = &mut buffer[..size as usize];
        if self.big_endian {
            part.reverse();
        }
        self.note_write(i, offset, size as usize, lane, |k| (part[k], cell.state));
        let a = &mut self.allocations[i];
        a.bytes[offset..offset + size as usize].copy_from_slice(part);
        a.set_state(offset, size as usize, cell.state);
        Ok(())
    }

    /// Copies bytes with their states; the ranges may overlap.
    pub(super) fn copy(&mut self, lane: u32, to: u64, from: u64, size: u64) -> Result<(), TrapKind> {
        let (si, so) = self.locate(from, size)?;
        let (di, d_o) = self.locate_writable(to, size)?;
        let n = size as usize;
        self.note_read(si, so, n, lane);
        let source = &self.allocations[si];
        let bytes = source.bytes[so..so + n].to_vec();
        let states: Option<Vec<State>> = source.states.get(so..so + n).map(<[_]>::to_vec);
        self.note_write(di, d_o, n, lane, |k| (bytes[k], states.as_ref().map_or(State::Defined, |s| s[k])));
        let dest = &mut self.allocations[di];
        dest.bytes[d_o..d_o + n].copy_from_slice(&bytes);
        dest.set_state(d_o, n, State::Defined);
        if let Some(states) = states {
            if dest.states.is_empty() {
                dest.states = vec![State::Defined; dest.bytes.len()];
            }
            dest.states[d_o..d_o + n].copy_from_slice(&states);
        }
        Ok(())
    }

    /// Sets bytes.
    pub(super) fn fill(&mut self, lane: u32, to: u64, value: Cell, size: u64) -> Result<(), TrapKind> {
        let (i, offset) = self.locate_writable(to, size)?;
        let n = size as usize;
        self.note_write(i, offset, n, lane, |_| (value.bits as u8, value.state));
        let a = &mut self.allocations[i];
        a.bytes[offset..offset + n].fill(value.bits as u8);
        a.set_state(offset, n, value.state);
        Ok(())
    }

    /// Makes bytes undefined, as at the start of a lifetime.
    pub(super) fn forget(&mut self, address: u64) {
        if let Some(i) = self.index(address) {
            let n = self.allocations[i].bytes.len();
            self.allocations[i].set_state(0, n, State::Undef);
        }
    }

    /// The contents of a range, byte by byte; `None` for bytes that are undef or poison.
    ///
    /// # Errors
    /// If the range is not inside one live allocation.
    pub fn read(&self, address: u64, size: u64) -> Result<Vec<Option<u8>>, TrapKind> {
        let (i, offset) = self.locate(address, size)?;
        let a = &self.allocations[i];
        let byte = |k: usize| (a.state(k, 1) == State::Defined).then_some(a.bytes[k]);
        Ok((offset..offset + size as usize).map(byte).collect())
    }

    /// Writes defined bytes, read-only memory included.
    ///
    /// # Errors
    /// If the range is not inside one live allocation.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), TrapKind> {
        let (i, offset) = self.locate(address, bytes.len() as u64)?;
        let a = &mut self.allocations[i];
        a.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
        a.set_state(offset, bytes.len(), State::Defined);
        Ok(())
    }

    /// Where this memory, as a reference, is not refined by another at the same addresses: the first address
    /// in the allocation that starts at `address` where the bytes differ although the reference's is defined,
    /// or where the other is poison and the reference is not.
    pub fn first_difference(&self, other: &Memory, address: u64) -> Option<u64> {
        let (Some(i), Some(j)) = (self.index(address), other.index(address)) else { return Some(address) };
        let (a, b) = (&self.allocations[i], &other.allocations[j]);
        if a.bytes.len() != b.bytes.len() {
            return Some(address);
        }
        (0..a.bytes.len())
            .find(|&k| {
                let cell = |m: &Allocation| match m.state(k, 1) {
                    State::Defined => Cell::new(u128::from(m.bytes[k])),
                    state => Cell { bits: 0, state },
                };
                !cell(a).refined_by(cell(b))
            })
            .map(|k| a.base + k as u64)
    }

    /// Says by which numbers work-items are known that run now, in the place of their lanes; none: by their lanes.
    pub(super) fn set_items(&mut self, items: &[u32]) {
        self.items.clear();
        self.items.extend_from_slice(items);
    }

    /// Forgets which lane accessed what, but no race that was seen.
    pub(super) fn begin_epoch(&mut self) {
        let seen = self.races.take();
        self.watch_races(seen.is_some());
        self.races = seen;
    }

    /// Forgets which lane accessed what, and starts (or stops) watching for races.
    pub(super) fn watch_races(&mut self, on: bool) {
        self.run = self.run.wrapping_add(u32::from(on)).max(1);
        self.execution = 0;
        for allocation in &mut self.allocations {
            allocation.shadow.forget(&mut self.spare);
        }
        self.races = on.then(RaceLog::default);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_bounds_states_and_protection() {
        let mut m = Memory::new(64, false);
        let a = m.allocate(8, 4).expect("fits");
        let b = m.allocate_bytes(&[1, 2, 3, 4], 16).expect("fits");
        assert_eq!(a % 8, 4, "aligned to exactly 4");
        assert_eq!(b % 32, 16, "aligned to exactly 16");
        assert_eq!(m.load(0, a, 4), Ok(Cell::UNDEF));
        m.store(0, a, 2, Cell::new(0x1234)).expect("in bounds");
        assert_eq!(m.load(0, a, 2), Ok(Cell::new(0x1234)));
        assert_eq!(m.load(0, a, 1), Ok(Cell::new(0x34)));
        assert_eq!(m.load(0, a, 4), Ok(Cell::UNDEF));
        m.store(0, a + 2, 2, Cell::POISON).expect("in bounds");
        assert_eq!(m.load(0, a, 4), Ok(Cell::POISON));
        assert_eq!(m.load(0, a + 5, 4), Err(TrapKind::OutOfBounds { address: a + 5, size: 4 }));
        assert_eq!(m.load(0, a - 1, 1), Err(TrapKind::OutOfBounds { address: a - 1, size: 1 }));
        assert!(m.load(0, 0, 1).is_err());
        m.protect(b);
        assert_eq!(m.store(0, b, 1, Cell::ZERO), Err(TrapKind::ReadOnly { address: b }));
        m.copy(0, a, b, 4).expect("in bounds");
        assert_eq!(m.read(a, 5), Ok(vec![Some(1), Some(2), Some(3), Some(4), None]));
        m.free(a);
        assert!(m.load(0, a, 1).is_err());
    }

    #[test]
    fn big_endian_memory_has_the_most_significant_byte_first() {
        let mut m = Memory::new(64, true);
        let a = m.allocate_bytes(&[1, 2], 2).expect("fits");
        assert_eq!(m.load(0, a, 2), Ok(Cell::new(0x0102)));
    }
}
