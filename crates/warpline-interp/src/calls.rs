//! Intrinsic functions in one lane.

use warpline_ir::{FloatKind, Scalar};

use super::access::{self, address_of};
use super::code::{Call, Ins, MemType, Slot};
use super::exec::{Exec, Frame};
use super::intrinsic::{self, ElemTypes, Intrinsic};
use super::scalar;
use super::trap::TrapKind;
use super::value::{Cell, State, Val};

fn defined(c: Cell) -> Result<u128, TrapKind> {
    c.defined().ok_or(TrapKind::UndefinedOperand(c.state))
}

impl Exec<'_, '_, '_> {
    /// Calls an intrinsic function.
    pub(super) fn intrinsic(
        &mut self,
        frame: &mut Frame,
        ins: &Ins,
        call: &Call,
        f: Intrinsic,
        types: Option<&ElemTypes>,
        lane: u32,
    ) -> Result<(), TrapKind> {
        let slot = |i: usize| call.args.get(i).map_or(Slot::default(), |a| a.0);
        let dst = ins.dst;
        match f {
            Intrinsic::Nothing => {}
            Intrinsic::Abort => return Err(TrapKind::Host("the program aborted itself".into())),
            Intrinsic::Assume => {
                let c = frame.cell(lane, slot(0));
                if c.defined() != Some(1) {
                    return Err(TrapKind::AssumptionViolated);
                }
            }
            Intrinsic::First => {
                let n = slot(0).range().len().min(dst.range().len());
                let row = frame.lane(lane);
                row.copy_within(slot(0).range().start..slot(0).range().start + n, dst.at as usize);
            }
            Intrinsic::Zero => frame.lane(lane)[dst.range()].fill(Cell::ZERO),
            Intrinsic::LifetimeStart => {
                // The pointer is the last operand; older forms have the size before it.
                let pointer = slot(call.args.len().saturating_sub(1));
                self.m.memory.forget(address_of(frame.cell(lane, pointer))?);
            }
            Intrinsic::Copy | Intrinsic::Set => self.block_memory(frame, ins, call, f, lane)?,
            Intrinsic::MaskedLoad | Intrinsic::MaskedStore | Intrinsic::Gather | Intrinsic::Scatter => {
                self.masked(frame, ins, call, f, lane)?;
            }
            Intrinsic::IndexedGather => self.indexed_gather(frame, ins, call, lane)?,
            Intrinsic::CompressStore => self.compress_store(frame, call, lane)?,
            Intrinsic::WithOverflow(op, signed) => {
                let width = types.map_or(0, |t| t.arg_bits);
                let n = dst.len / 2;
                let row = frame.lane(lane);
                for i in 0..n {
                    let (v, o) = intrinsic::with_overflow(
                        op,
                        signed,
                        width,
                        row[slot(0).elem(i)],
                        row[slot(1).elem(i)],
                    );
                    row[(dst.at + i) as usize] = v;
                    row[(dst.at + n + i) as usize] = o;
                }
            }
            Intrinsic::Reduce(r) => {
                let Some(types) = types else { return Err(TrapKind::Unsupported("this reduction".into())) };
                let (start, elems) = match call.args.len() {
                    2 => (Some(frame.cell(lane, slot(0))), slot(1)),
                    _ => (None, slot(0)),
                };
                let result = intrinsic::reduce(r, ins.flags, types, start, frame.get(lane, elems))?;
                frame.set(lane, dst, &[result]);
            }
            Intrinsic::ActiveLaneMask => {
                let (base, end) = (frame.cell(lane, slot(0)), frame.cell(lane, slot(1)));
                for i in 0..dst.len {
                    let cell = scalar::propagate(&[base, end])
                        .unwrap_or_else(|| Cell::bool(base.bits + u128::from(i) < end.bits));
                    frame.lane(lane)[(dst.at + i) as usize] = cell;
                }
            }
            Intrinsic::VectorReverse
            | Intrinsic::VectorInsert
            | Intrinsic::VectorExtract
            | Intrinsic::VectorSplice
            | Intrinsic::Interleave2
            | Intrinsic::Deinterleave2
            | Intrinsic::SumOfDistances
            | Intrinsic::SumOfProducts
            | Intrinsic::PackShorts
            | Intrinsic::PackWords
            | Intrinsic::HighProduct { .. }
            | Intrinsic::PickBytes
            | Intrinsic::PickElements
            | Intrinsic::Compress => self.rearrange(frame, ins, call, f, lane)?,
            _ => self.elementwise(frame, ins, call, f, types, lane)?,
        }
        Ok(())
    }

    fn elementwise(
        &mut self,
        frame: &mut Frame,
        ins: &Ins,
        call: &Call,
        f: Intrinsic,
        types: Option<&ElemTypes>,
        lane: u32,
    ) -> Result<(), TrapKind> {
        let no = || TrapKind::Unsupported("a call of this intrinsic".into());
        let types = types.ok_or_else(no)?;
        let f = match f {
            // Machines have instructions for these two types.
            Intrinsic::FMulAdd
                if self.m.options.fuse_multiply_add
                    && matches!(types.result, Scalar::Float(FloatKind::Float | FloatKind::Double)) =>
            {
                Intrinsic::Fma
            }
            f => f,
        };
        if call.args.iter().any(|a| a.0.len != 1 && a.0.len != ins.dst.len) {
            return Err(no());
        }
        let row = frame.lane(lane);
        let mut args = [Cell::ZERO; 4];
        let n = call.args.len().min(4);
        for i in 0..ins.dst.len {
            for (arg, (slot, _)) in args.iter_mut().zip(&call.args) {
                *arg = row[slot.elem(i)];
            }
            row[(ins.dst.at + i) as usize] =
                intrinsic::elementwise(f, ins.flags, types, &args[..n]).ok_or_else(no)??;
        }
        Ok(())
    }

    fn block_memory(
        &mut self,
        frame: &mut Frame,
        ins: &Ins,
        call: &Call,
        f: Intrinsic,
        lane: u32,
    ) -> Result<(), TrapKind> {
        let [to, from, len, ..] = call.args[..] else {
            return Err(TrapKind::Unsupported("a memory function with these parameters".into()));
        };
        let size = defined(frame.cell(lane, len.0))? as u64;
        if size > 0 {
            let to = address_of(frame.cell(lane, to.0))?;
            match f {
                Intrinsic::Set => self.m.memory.fill(lane, to, frame.cell(lane, from.0), size)?,
                _ => self.m.memory.copy(lane, to, address_of(frame.cell(lane, from.0))?, size)?,
            }
        }
        if ins.dst.len == 1 {
            let to = frame.cell(lane, to.0);
            frame.set(lane, ins.dst, &[to]); // the C function returns its first argument
        }
        Ok(())
    }

    /// Masked loads and stores, contiguous or by a vector of pointers. LLVM 22 has no alignment operand; before, an
    /// `i32` follows the pointer.
    fn masked(
        &mut self,
        frame: &mut Frame,
        ins: &Ins,
        call: &Call,
        f: Intrinsic,
        lane: u32,
    ) -> Result<(), TrapKind> {
        let stores = matches!(f, Intrinsic::MaskedStore | Intrinsic::Scatter);
        let scattered = matches!(f, Intrinsic::Gather | Intrinsic::Scatter);
        let has_align = call.args.len() == 4;
        let slot = |i: usize| call.args.get(i).map_or(Slot::default(), |a| a.0);
        let pointer = slot(usize::from(stores));
        let mask = slot(1 + usize::from(stores) + usize::from(has_align));
        let data = if stores { slot(0) } else { slot(2 + usize::from(has_align)) };
        let (count, bytes, bits) = match call.memory {
            Some(MemType::Elements { count, bytes }) => (count, bytes, bytes * 8),
            // Each element stands in its own bytes for scattered accesses only.
            Some(MemType::Packed { count, bits }) if scattered => (count, bits.div_ceil(8), bits),
            _ => return Err(TrapKind::Unsupported("masked access to this type".into())),
        };
        let elem = MemType::Scalar { bytes, bits };
        for i in 0..count {
            let m = frame.lane(lane)[mask.elem(i)];
            let old = frame.lane(lane)[data.elem(i)];
            if m.state != State::Defined {
                // Whether the access happens is unknown.
                return Err(TrapKind::UndefinedOperand(m.state));
            }
            let mut cell = old;
            if m.bits & 1 == 1 {
                let address = match scattered {
                    true => address_of(frame.lane(lane)[pointer.elem(i)])?,
                    false => {
                        let base = address_of(frame.cell(lane, pointer))?;
                        base.wrapping_add(u64::from(i) * u64::from(bytes))
                    }
                };
                match stores {
                    true => access::store(&mut self.m.memory, lane, address, &elem, &[old])?,
                    false => access::load(
                        &mut self.m.memory,
                        lane,
                        address,
                        &elem,
                        std::slice::from_mut(&mut cell),
                    )?,
                }
            }
            if !stores {
                frame.lane(lane)[(ins.dst.at + i) as usize] = cell;
            }
        }
        Ok(())
    }

    /// A gather from a pointer and a vector of signed indices, of 32 bits both.
    fn indexed_gather(
        &mut self,
        frame: &mut Frame,
        ins: &Ins,
        call: &Call,
        lane: u32,
    ) -> Result<(), TrapKind> {
        let (Some(MemType::Elements { count, bytes: 4 }), [nothing, pointer, index, mask, scale]) =
            (&call.memory, &call.args[..])
        else {
            return Err(TrapKind::Unsupported("a gather of this type".into()));
        };
        let elem = MemType::Scalar { bytes: 4, bits: 32 };
        let scale = defined(frame.cell(lane, scale.0))? as u64;
        for i in 0..*count {
            let mut cell = frame.lane(lane)[nothing.0.elem(i)];
            if defined(frame.lane(lane)[mask.0.elem(i)])? >> 31 & 1 == 1 {
                let base = address_of(frame.cell(lane, pointer.0))?;
                let index = defined(frame.lane(lane)[index.0.elem(i)])? as u32 as i32;
                let address = base.wrapping_add((i64::from(index) as u64).wrapping_mul(scale));
                access::load(&mut self.m.memory, lane, address, &elem, std::slice::from_mut(&mut cell))?;
            }
            frame.lane(lane)[(ins.dst.at + i) as usize] = cell;
        }
        Ok(())
    }

    /// Stores the elements of a vector whose mask is set side by side.
    fn compress_store(&mut self, frame: &Frame, call: &Call, lane: u32) -> Result<(), TrapKind> {
        let (Some(MemType::Elements { count, bytes }), [x, pointer, mask]) = (&call.memory, &call.args[..])
        else {
            return Err(TrapKind::Unsupported("a packed store of this type".into()));
        };
        let elem = MemType::Scalar { bytes: *bytes, bits: bytes * 8 };
        let mut stored = 0;
        for i in 0..*count {
            let m = frame.get(lane, mask.0)[i as usize];
            match m.defined() {
                Some(0) => continue,
                Some(_) => {}
                None => return Err(TrapKind::UndefinedOperand(m.state)),
            }
            let base = address_of(frame.cell(lane, pointer.0))?;
            let address = base.wrapping_add(stored * u64::from(*bytes));
            access::store(&mut self.m.memory, lane, address, &elem, &[frame.get(lane, x.0)[i as usize]])?;
            stored += 1;
        }
        Ok(())
    }

    fn rearrange(
        &mut self,
        frame: &mut Frame,
        ins: &Ins,
        call: &Call,
        f: Intrinsic,
        lane: u32,
    ) -> Result<(), TrapKind> {
        let arg = |i: usize| match call.args.get(i) {
            Some((slot, _)) => Val::of_cells(frame.get(lane, *slot)),
            None => Val::default(),
        };
        let (a, b) = (arg(0).cells, arg(1).cells);
        let no = || TrapKind::Unsupported("a vector operation with these operands".into());
        let last = call.args.len().saturating_sub(1);
        let index = || defined(arg(last).scalar().unwrap_or(Cell::POISON)).map(|k| k as usize);
        let n = ins.dst.len as usize;
        let cells: Vec<Cell> = match f {
            Intrinsic::VectorReverse => a.iter().rev().copied().collect(),
            Intrinsic::VectorInsert => {
                let k = index()?;
                let mut all = a.to_vec();
                all.get_mut(k..k + b.len()).ok_or_else(no)?.copy_from_slice(&b);
                all
            }
            Intrinsic::VectorExtract => {
                let k = index()?;
                a.get(k..k + n).ok_or_else(no)?.to_vec()
            }
            Intrinsic::VectorSplice => {
                let k = index()? as u32 as i32;
                let start = if k >= 0 { k as usize } else { a.len().wrapping_add_signed(k as isize) };
                let both: Vec<Cell> = a.iter().chain(&b).copied().collect();
                both.get(start..start.wrapping_add(n)).ok_or_else(no)?.to_vec()
            }
            Intrinsic::SumOfDistances => {
                let distance = |x: Cell, y: Cell| x.bits.abs_diff(y.bits);
                sums_of_neighbours(&a, &b, 8, distance).collect()
            }
            Intrinsic::SumOfProducts => {
                let product = |x: Cell, y: Cell| {
                    let [x, y] = [x, y].map(|cell| i64::from(cell.bits as u16 as i16));
                    u128::from((x * y) as u32)
                };
                let low = |cell: Cell| Cell { bits: cell.bits & u128::from(u32::MAX), ..cell };
                sums_of_neighbours(&a, &b, 2, product).map(low).collect()
            }
            Intrinsic::HighProduct { is_signed } => {
                let half = |cell: Cell| match is_signed {
                    true => i64::from(cell.bits as u16 as i16),
                    false => i64::from(cell.bits as u16),
                };
                let product = |x: Cell, y: Cell| u128::from(((half(x) * half(y)) >> 16) as u16);
                sums_of_neighbours(&a, &b, 1, product).collect()
            }
            Intrinsic::PackShorts => {
                let nearest = |x: u128| (x as u16 as i16).clamp(0, 255) as u128;
                packed(&a, &b, 8, nearest)
            }
            Intrinsic::PackWords => {
                let [least, greatest] = [i16::MIN, i16::MAX].map(i32::from);
                let nearest = |x: u128| u128::from((x as u32 as i32).clamp(least, greatest) as u16);
                packed(&a, &b, 4, nearest)
            }
            Intrinsic::PickBytes => picked_bytes(&a, &b),
            Intrinsic::PickElements => {
                let pick = |&k: &Cell| if k.is_defined() { a[k.bits as usize % a.len()] } else { k };
                b.iter().map(pick).collect()
            }
            Intrinsic::Compress => {
                let mask = arg(2).cells;
                let wanted = mask.iter().map(|&m| defined(m)).collect::<Result<Vec<_>, _>>()?;
                let packed = a.iter().zip(&wanted).filter(|(_, wanted)| **wanted & 1 == 1).map(|(&x, _)| x);
                let packed: Vec<Cell> = packed.collect();
                packed.iter().copied().chain(b.iter().copied().skip(packed.len())).collect()
            }
            Intrinsic::Interleave2 => a.iter().zip(&b).flat_map(|(x, y)| [*x, *y]).collect(),
            _ => a.iter().step_by(2).chain(a.iter().skip(1).step_by(2)).copied().collect(),
        };
        if cells.len() != n {
            return Err(no());
        }
        frame.set(lane, ins.dst, &cells);
        Ok(())
    }
}

/// The sums of what `f` makes of two vectors' elements, of so many neighbours each.
fn sums_of_neighbours(
    a: &[Cell],
    b: &[Cell],
    neighbours: usize,
    f: impl Fn(Cell, Cell) -> u128,
) -> impl Iterator<Item = Cell> {
    a.chunks(neighbours).zip(b.chunks(neighbours)).map(move |(a, b)| {
        let undefined = a.iter().chain(b).find(|cell| !cell.is_defined()).copied();
        undefined.unwrap_or_else(|| Cell::new(a.iter().zip(b).map(|(&x, &y)| f(x, y)).sum()))
    })
}

/// The bytes of each block of 16 bytes that the low four bits of others pick; zero where their topmost bit is set.
fn picked_bytes(bytes: &[Cell], picks: &[Cell]) -> Vec<Cell> {
    let pick = |(at, &pick): (usize, &Cell)| match pick.is_defined() {
        false => pick,
        true if pick.bits & 0x80 != 0 => Cell::new(0),
        true => bytes.get(at / 16 * 16 + (pick.bits & 15) as usize).copied().unwrap_or(Cell::POISON),
    };
    picks.iter().enumerate().map(pick).collect()
}

/// The elements of each block of two vectors, first those of the first one, each made another one.
fn packed(a: &[Cell], b: &[Cell], block: usize, made: impl Fn(u128) -> u128) -> Vec<Cell> {
    let both = a.chunks(block).zip(b.chunks(block)).flat_map(|(a, b)| a.iter().chain(b));
    both.map(|cell| Cell { bits: made(cell.bits), ..*cell }).collect()
}
