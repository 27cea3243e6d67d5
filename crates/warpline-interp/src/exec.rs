//! One instruction in one lane.

use super::access::{self, address_of, check_align};
use super::code::{Code, Gep, GepStep, Ins, Kind, Slot};
use super::float;
use super::host::EffectKind;
use super::machine::Machine;
use super::observe::Observer;
use super::scalar::{self, propagate, sign_extend, truncate};
use super::trap::{Trap, TrapKind};
use super::value::{Cell, LaneSet, State, Val};
use warpline_ir::{FloatKind, Inst, InstFlags};

/// The activation of a function for all lanes: one row of cells per lane.
#[derive(Default)]
pub(super) struct Frame {
    pub cells: Vec<Cell>,
    /// Cells per lane.
    pub size: usize,
    /// The memory to be freed at the end.
    pub allocations: Vec<u64>,
    /// The edge by which each lane came or goes.
    pub edges: Vec<u32>,
    /// For φ operands on the way.
    pub buffer: Vec<Cell>,
}

impl Frame {
    pub(super) fn lane(&mut self, lane: u32) -> &mut [Cell] {
        &mut self.cells[lane as usize * self.size..][..self.size]
    }

    pub(super) fn get(&self, lane: u32, slot: Slot) -> &[Cell] {
        &self.cells[lane as usize * self.size..][slot.range()]
    }

    pub(super) fn cell(&self, lane: u32, slot: Slot) -> Cell {
        self.get(lane, slot).first().copied().unwrap_or(Cell::POISON)
    }

    pub(super) fn set(&mut self, lane: u32, slot: Slot, cells: &[Cell]) {
        self.lane(lane)[slot.range()].copy_from_slice(cells);
    }
}

/// A run in progress.
pub(super) struct Exec<'e, 'm, 'o> {
    pub m: &'e mut Machine<'m>,
    pub width: u32,
    pub depth: u32,
    pub observer: Option<&'e mut (dyn Observer + 'o)>,
}

impl<'e, 'm, 'o> Exec<'e, 'm, 'o> {
    pub(super) fn new(
        m: &'e mut Machine<'m>,
        width: u32,
        observer: Option<&'e mut (dyn Observer + 'o)>,
    ) -> Exec<'e, 'm, 'o> {
        Exec { m, width, depth: 0, observer }
    }

    pub(super) fn new_frame(&mut self, code: &Code) -> Frame {
        let mut frame = self.m.spare_frames.pop().unwrap_or_default();
        frame.size = code.template.len();
        frame.cells.clear();
        for _ in 0..self.width {
            frame.cells.extend_from_slice(&code.template);
        }
        frame.allocations.clear();
        frame.edges.clear();
        frame.edges.resize(self.width as usize, u32::MAX);
        frame
    }

    /// Ends an activation: frees its memory.
    pub(super) fn release_frame(&mut self, mut frame: Frame) {
        while let Some(address) = frame.allocations.pop() {
            self.m.memory.free(address);
        }
        self.m.spare_frames.push(frame);
    }

    pub(super) fn trap(&self, code: &Code, inst: Option<Inst>, lane: Option<u32>, kind: TrapKind) -> Trap {
        Trap { kind, function: code.name.clone(), inst, lane }
    }

    pub(super) fn log(&mut self, lane: u32, kind: EffectKind) {
        if self.m.options.record_effects {
            self.m.effects.push(super::host::Effect { lane, kind });
        }
    }

    /// Executes an instruction that concerns one lane only. Calls and lane operations are not among them.
    pub(super) fn one_lane(&mut self, frame: &mut Frame, ins: &Ins, lane: u32) -> Result<(), TrapKind> {
        let size = frame.size;
        let f = &mut frame.cells[lane as usize * size..][..size];
        let (a, b, c, dst) = (ins.a, ins.b, ins.c, ins.dst);
        let flags = ins.flags;
        match &ins.kind {
            Kind::IntBinary(op, width) => {
                for i in 0..dst.len {
                    f[(dst.at + i) as usize] =
                        scalar::int_binary(*op, flags, *width, f[a.elem(i)], f[b.elem(i)])?;
                }
            }
            Kind::FloatBinary(op, kind) => {
                for i in 0..dst.len {
                    f[(dst.at + i) as usize] =
                        scalar::float_binary(*op, flags, *kind, f[a.elem(i)], f[b.elem(i)]);
                }
            }
            Kind::FNeg(kind) => {
                for i in 0..dst.len {
                    f[(dst.at + i) as usize] = negate(*kind, flags, f[a.elem(i)]);
                }
            }
            Kind::ICmp(pred, width) => {
                let same_sign = flags.contains(InstFlags::SAMESIGN);
                for i in 0..dst.len {
                    f[(dst.at + i) as usize] =
                        scalar::icmp(*pred, same_sign, *width, f[a.elem(i)], f[b.elem(i)]);
                }
            }
            Kind::FCmp(pred, kind) => {
                for i in 0..dst.len {
                    f[(dst.at + i) as usize] = scalar::fcmp(*pred, flags, *kind, f[a.elem(i)], f[b.elem(i)]);
                }
            }
            Kind::Select(check) => {
                for i in 0..dst.len {
                    let r = scalar::select(f[a.elem(i)], f[b.elem(i)], f[c.elem(i)]);
                    f[(dst.at + i) as usize] = match check {
                        Some(kind) => scalar::check_fast_math(flags, *kind, &[r]),
                        None => r,
                    };
                }
            }
            Kind::Freeze => {
                for i in 0..dst.len {
                    let x = f[a.elem(i)];
                    self.m.froze |= !x.is_defined();
                    f[(dst.at + i) as usize] = if x.is_defined() { x } else { Cell::ZERO };
                }
            }
            Kind::Cast(op, from, to) => {
                for i in 0..dst.len {
                    f[(dst.at + i) as usize] = scalar::cast(*op, flags, *from, *to, f[a.elem(i)])?;
                }
            }
            Kind::Repack(from, to) => {
                let source = Val::of_cells(&f[a.range()]);
                access::repack(&source.cells, *from, *to, &mut f[dst.range()]);
            }
            Kind::Copy => f.copy_within(a.range(), dst.at as usize),
            Kind::Gep(gep) => {
                for i in 0..dst.len {
                    f[(dst.at + i) as usize] = self.address(gep, flags, f, a, i);
                }
            }
            Kind::Load { ty, align, volatile, speculative, atomic } => {
                let address = address_of(f[a.at as usize])?;
                if self.m.options.check_alignment {
                    check_align(address, *align)?;
                }
                self.m.memory.atomic = *atomic;
                let out = &mut f[dst.range()];
                let done = match speculative {
                    true => {
                        access::load_speculatively(&mut self.m.memory, lane, address, ty, out);
                        Ok(())
                    }
                    false => access::load(&mut self.m.memory, lane, address, ty, out),
                };
                self.m.memory.atomic = false;
                done?;
                if *volatile {
                    let value = Val::of_cells(&f[dst.range()]);
                    self.log(lane, EffectKind::VolatileLoad { address, value });
                }
            }
            Kind::Store { ty, align, volatile, atomic } => {
                let address = address_of(f[b.at as usize])?;
                if self.m.options.check_alignment {
                    check_align(address, *align)?;
                }
                self.m.memory.atomic = *atomic;
                let done = access::store(&mut self.m.memory, lane, address, ty, &f[a.range()]);
                self.m.memory.atomic = false;
                done?;
                if *volatile {
                    let value = Val::of_cells(&f[a.range()]);
                    self.log(lane, EffectKind::VolatileStore { address, value });
                }
            }
            Kind::Atomic(atomic) => {
                let address = address_of(f[a.at as usize])?;
                let operands = (f[b.at as usize], f[c.at as usize]);
                let check = self.m.options.check_alignment;
                self.m.memory.atomic = true;
                let done = atomic.run(&mut self.m.memory, (lane, address), check, operands);
                self.m.memory.atomic = false;
                let done = done?;
                f[dst.at as usize] = done.old;
                if dst.len > 1 {
                    f[dst.at as usize + 1] = done.equal;
                }
                if atomic.volatile {
                    self.log(lane, EffectKind::VolatileLoad { address, value: Val::from(done.old) });
                    if let Some(new) = done.new {
                        self.log(lane, EffectKind::VolatileStore { address, value: Val::from(new) });
                    }
                }
            }
            Kind::Alloca { size, align } => {
                let count = f[a.at as usize];
                let Some(n) = count.defined() else { return Err(TrapKind::UndefinedOperand(count.state)) };
                let total = n.checked_mul(u128::from(*size)).and_then(|t| u64::try_from(t).ok());
                let address = self.m.memory.allocate(total.ok_or(TrapKind::OutOfMemory)?, *align)?;
                f[dst.at as usize] = Cell::new(u128::from(address));
                frame.allocations.push(address);
            }
            Kind::ExtractElement => {
                let index = f[b.at as usize];
                f[dst.at as usize] = match index.defined() {
                    Some(k) if k < u128::from(a.len) => f[a.range()][k as usize],
                    _ => Cell::POISON,
                };
            }
            Kind::InsertElement => {
                let (elem, index) = (f[b.at as usize], f[c.at as usize]);
                f.copy_within(a.range(), dst.at as usize);
                match index.defined() {
                    Some(k) if k < u128::from(dst.len) => f[dst.range()][k as usize] = elem,
                    _ => f[dst.range()].fill(Cell::POISON),
                }
            }
            Kind::Shuffle(mask) => {
                for (i, &k) in mask.iter().enumerate() {
                    let k = k as u32;
                    f[dst.at as usize + i] = if k < a.len {
                        f[(a.at + k) as usize]
                    } else if k - a.len < b.len {
                        f[(b.at + k - a.len) as usize]
                    } else {
                        Cell::POISON
                    };
                }
            }
            Kind::InsertValue(at) => {
                f.copy_within(a.range(), dst.at as usize);
                f.copy_within(b.range(), (dst.at + at) as usize);
            }
            Kind::ParallelCopy(moves) => move_cells(f, moves, &mut frame.buffer),
            Kind::Nothing => {}
            Kind::Unsupported(what) => return Err(TrapKind::Unsupported(what.to_string())),
            Kind::Call(_) | Kind::Lane(_) | Kind::LaneElements(..) => {
                return Err(TrapKind::Unsupported("a lane operation outside of a group".into()));
            }
        }
        Ok(())
    }

    /// Element `i` of an address computation.
    fn address(&self, gep: &Gep, flags: InstFlags, f: &[Cell], base: Slot, i: u32) -> Cell {
        let start = f[base.elem(i)];
        let mut state = start.state;
        for step in &gep.steps {
            if let GepStep::Scaled { index, .. } = step {
                state = state.max(f[index.elem(i)].state);
            }
        }
        if let Some(c) = propagate(&[Cell { bits: 0, state }]) {
            return c;
        }
        let bits = gep.index_bits;
        let in_bounds = flags.contains(InstFlags::INBOUNDS);
        let no_signed_wrap = in_bounds || flags.contains(InstFlags::NUSW);
        let extent = match in_bounds && self.m.options.check_inbounds {
            true => Some(self.m.memory.extent(start.bits as u64)),
            false => None,
        };
        let high = start.bits & !scalar::mask(bits);
        let mut offset = truncate(start.bits, bits);
        for step in &gep.steps {
            let (index, size) = match step {
                GepStep::Constant(bytes) => (*bytes, 1),
                GepStep::Scaled { index, bits: from, size } => {
                    let wide = sign_extend(f[index.elem(i)].bits, *from);
                    let narrow = sign_extend(wide as u128, bits);
                    if no_signed_wrap && narrow != wide {
                        return Cell::POISON;
                    }
                    (narrow, *size)
                }
            };
            let delta = index.wrapping_mul(i128::from(size));
            if no_signed_wrap {
                let exact = index.checked_mul(i128::from(size));
                let sum = exact.and_then(|d| (offset as i128).checked_add(d));
                if exact.is_none_or(|d| sign_extend(d as u128, bits) != d)
                    || sum.is_none_or(|s| s < 0 || truncate(s as u128, bits) != s as u128)
                {
                    return Cell::POISON;
                }
            }
            if flags.contains(InstFlags::NUW) {
                let unsigned = truncate(index as u128, bits).checked_mul(u128::from(size));
                if unsigned.and_then(|d| offset.checked_add(d)).is_none_or(|s| s > scalar::mask(bits)) {
                    return Cell::POISON;
                }
            }
            offset = truncate(offset.wrapping_add(delta as u128), bits);
            if delta != 0
                && let Some(extent) = extent
                && extent.is_none_or(|(from, size)| {
                    let address = (high | offset) as u64;
                    address < from || address - from > size
                })
            {
                return Cell::POISON;
            }
        }
        Cell::new(truncate(high | offset, gep.pointer_bits))
    }

    /// Takes an edge: gives the φs of its target their operands.
    pub(super) fn take_edge(&mut self, code: &Code, frame: &mut Frame, edge: u32, lanes: LaneSet) {
        let e = &code.edges[edge as usize];
        if e.moves.is_empty() {
            return;
        }
        let size = frame.size;
        for lane in lanes.iter() {
            let f = &mut frame.cells[lane as usize * size..][..size];
            if e.buffered {
                move_cells(f, &e.moves, &mut frame.buffer);
            } else {
                for (from, to) in &e.moves {
                    if to.len == 1 {
                        f[to.at as usize] = f[from.at as usize];
                    } else {
                        f.copy_within(from.range(), to.at as usize);
                    }
                }
            }
        }
    }
}

/// Reads all, then writes all.
fn move_cells(f: &mut [Cell], moves: &[(Slot, Slot)], buffer: &mut Vec<Cell>) {
    buffer.clear();
    for (from, _) in moves {
        buffer.extend_from_slice(&f[from.range()]);
    }
    let mut at = 0;
    for (_, to) in moves {
        f[to.range()].copy_from_slice(&buffer[at..at + to.len as usize]);
        at += to.len as usize;
    }
}

fn negate(kind: FloatKind, flags: InstFlags, a: Cell) -> Cell {
    if a.state != State::Defined {
        return a;
    }
    let r = Cell::new(a.bits ^ float::sign_bit(kind));
    if float::supported(kind) { scalar::check_fast_math(flags, kind, &[r]) } else { r }
}
