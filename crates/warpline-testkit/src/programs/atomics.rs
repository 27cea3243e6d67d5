//! Atomic operations.

use warpline_ir::*;

use super::COUNTERS;
use super::fill::{CLEAN, Filler};
use super::memory::{Buffer, BufferKind};

/// The operations whose order does not matter, as long as there is one only.
pub(super) const COMMUTING: [RmwOp; 7] =
    [RmwOp::Add, RmwOp::And, RmwOp::Or, RmwOp::Xor, RmwOp::Max, RmwOp::UMin, RmwOp::Sub];

const ORDERINGS: [AtomicOrdering; 5] = [
    AtomicOrdering::Monotonic,
    AtomicOrdering::Acquire,
    AtomicOrdering::Release,
    AtomicOrdering::AcqRel,
    AtomicOrdering::SeqCst,
];

impl Filler<'_> {
    pub(super) fn atomic(&mut self, b: Block) {
        let found = |this: &Self, kind, elem: Type| -> Option<Buffer> {
            this.buffers.iter().copied().find(|x| x.kind == kind && x.elem == elem)
        };
        match self.rng.below(8) {
            0 => {
                let op = Op::Opaque(Box::new(OpaqueInfo::atomic(Atomic::Fence(AtomicOrdering::SeqCst))));
                self.f.append(b, op, &[], Type::Void);
            }
            1..=3 => {
                let Some(counters) = found(self, BufferKind::Counters, Type::Int(32)) else { return };
                self.count(b, &counters);
            }
            4 | 5 => {
                let elem = if self.rng.chance(1, 4) { Type::F32 } else { Type::Int(32) };
                let Some(own) = found(self, BufferKind::Private, elem) else { return };
                self.update(b, &own);
            }
            _ => {
                let Some(own) = found(self, BufferKind::Private, Type::Int(32)) else { return };
                self.exchange(b, &own);
            }
        }
    }

    fn access(&mut self) -> MemAccess {
        let ordering = *self.rng.pick(&ORDERINGS);
        let is_volatile = self.options.effects && self.rng.chance(1, 8);
        MemAccess { is_volatile, ordering, ..MemAccess::plain(4) }
    }

    /// A counter that lanes share: what it was is nobody's business.
    fn count(&mut self, b: Block, counters: &Buffer) {
        let x = self.pick(b, Type::Int(32), CLEAN);
        let index = self.int(b, x, u128::from(COUNTERS - 1));
        let args = [counters.base, index.value];
        let address = self.gep(b, counters.elem, &args);
        let by = self.pick(b, Type::Int(32), CLEAN);
        let access = MemAccess { is_volatile: false, ..self.access() };
        let op = OpaqueInfo::atomic(Atomic::Rmw { op: self.counting, access });
        self.f.append(b, Op::Opaque(Box::new(op)), &[address, by.value], Type::Int(32));
    }

    fn update(&mut self, b: Block, own: &Buffer) {
        let (address, _) = self.address(b, own);
        let x = self.pick(b, own.elem, CLEAN);
        let float = own.elem == Type::F32;
        let fits = |op: &&RmwOp| match op {
            RmwOp::Xchg => true,
            RmwOp::FAdd | RmwOp::FSub => float,
            _ => !float,
        };
        let ops: Vec<RmwOp> = RmwOp::ALL.iter().filter(fits).copied().collect();
        let atomic = Atomic::Rmw { op: *self.rng.pick(&ops), access: self.access() };
        let op = Op::Opaque(Box::new(OpaqueInfo::atomic(atomic)));
        self.emit(b, op, &[address, x.value], own.elem, own.clean, false);
    }

    fn exchange(&mut self, b: Block, own: &Buffer) {
        let (address, _) = self.address(b, own);
        let (expected, new) = (self.pick(b, own.elem, CLEAN), self.pick(b, own.elem, CLEAN));
        let failure =
            *self.rng.pick(&[AtomicOrdering::Monotonic, AtomicOrdering::Acquire, AtomicOrdering::SeqCst]);
        let atomic = Atomic::CompareExchange { access: self.access(), failure, weak: false };
        let both = self.module.types.structure(vec![own.elem, Type::BOOL], false);
        let op = Op::Opaque(Box::new(OpaqueInfo::atomic(atomic)));
        let pair = self.emit(b, op, &[address, expected.value, new.value], both, own.clean, false);
        self.emit_on(b, Op::ExtractValue([0].into()), &[pair], own.elem);
        self.emit_on(b, Op::ExtractValue([1].into()), &[pair], Type::BOOL);
    }
}
