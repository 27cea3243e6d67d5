//! What instructions cost, by the units of a processor: rough figures of present-day ones, for which differences
//! between them do not count.

use crate::Gathers;
use crate::known_calls::{has_cheap_vector_form, is_annotation};
use crate::lower::{Rep, Spread};
use warpline_ir::{BinaryOp, CastOp, FloatKind, Inst, LaneOp, MemAccess, Op, Type, Value};

use super::{Machine, Program, element_bits};

/// Operations that the units are given.
#[derive(Copy, Clone, Default, Debug)]
pub(super) struct Work {
    /// Of vector arithmetic.
    vector: f64,
    /// Of scalar arithmetic.
    pub(super) scalar: f64,
    loads: f64,
    stores: f64,
}

/// How many of each a processor begins in a cycle, and of all.
const VECTOR: f64 = 2.5;
const SCALAR: f64 = 4.0;
const LOADS: f64 = 2.0;
const STORES: f64 = 1.0;
const ALL: f64 = 5.0;

/// Cycles for each element of a gather: no fewer than for a load of its own.
const GATHERED: f64 = 1.7;
/// Cycles for each element that is loaded or stored by an instruction of its own at an address in a vector.
const BY_LANES: f64 = 2.4;
/// Cycles of a masked store without mask registers, a short program on some processors: 12 on Zen 3 to 5, by the models
/// of LLVM 19.
const MASKED_STORE: f64 = 12.0;

impl Work {
    pub(super) fn vector(operations: f64) -> Work {
        Work { vector: operations, ..Work::default() }
    }

    pub(super) fn scalar(operations: f64) -> Work {
        Work { scalar: operations, ..Work::default() }
    }

    pub(super) fn of_loads(loads: f64) -> Work {
        Work { loads, ..Work::default() }
    }

    pub(super) fn of_stores(stores: f64) -> Work {
        Work { stores, ..Work::default() }
    }

    /// So often.
    pub(super) fn times(self, n: f64) -> Work {
        let Work { vector, scalar, loads, stores } = self;
        Work { vector: n * vector, scalar: n * scalar, loads: n * loads, stores: n * stores }
    }

    pub(super) fn add(&mut self, other: Work) {
        self.vector += other.vector;
        self.scalar += other.scalar;
        self.loads += other.loads;
        self.stores += other.stores;
    }

    /// What does not fit into the registers is stored and loaded once.
    pub(super) fn spill(&mut self, filled: u32, registers: u32) {
        let spilled = f64::from(filled.saturating_sub(registers));
        self.loads += spilled;
        self.stores += spilled;
    }

    /// How many there are in all.
    pub(super) fn operations(&self) -> f64 {
        self.vector + self.scalar + self.loads + self.stores
    }

    /// The cycles of the busiest unit.
    pub(super) fn cycles(&self) -> f64 {
        let all = self.operations();
        [self.vector / VECTOR, self.scalar / SCALAR, self.loads / LOADS, self.stores / STORES, all / ALL]
            .into_iter()
            .fold(0.0, f64::max)
    }
}

impl Program<'_> {
    /// What an instruction costs on so many lanes.
    pub(super) fn work_of(&self, machine: &Machine, width: u32, i: Inst) -> Work {
        let data = &self.func.insts[i];
        let lanes = f64::from(width);
        let varies = |v: &Value| self.varies(*v);
        if is_annotation(self.module, data) {
            return Work::default();
        }
        if !data.args.iter().chain(&data.results).any(varies) {
            return match data.op {
                Op::Load(_) => Work::of_loads(1.0),
                Op::Store(_) => Work::of_stores(1.0),
                Op::Call(_) | Op::Opaque(_) => Work::scalar(20.0),
                Op::Binary(op) if op.is_int_division() => Work::scalar(20.0),
                Op::Phi | Op::Alloca { .. } => Work::default(),
                _ => Work::scalar(1.0),
            };
        }
        let filled = |v: Value| f64::from(machine.filled(self.bits(v), width).max(1));
        let typed = data.results.first().or(data.args.first()).copied();
        let registers = typed.map_or(1.0, filled);
        let operand = data.args.first().map_or(registers, |&a| filled(a));
        match &data.op {
            Op::Binary(op) => Work::vector(registers * self.of_binary(*op, typed, lanes / registers)),
            Op::FNeg | Op::Select | Op::Freeze => Work::vector(registers),
            Op::ICmp(_) | Op::FCmp(_) => Work::vector(operand),
            Op::Cast(CastOp::Bitcast | CastOp::PtrToInt | CastOp::IntToPtr) => Work::default(),
            Op::Cast(_) => Work::vector(registers.max(operand)),
            Op::Gep(_) => Work::vector(registers),
            Op::Load(access) => self.of_access(machine, i, *access, lanes, registers),
            Op::Store(access) => self.of_access(machine, i, *access, lanes, operand),
            Op::Lane(op) => self.of_lane(*op, machine, width, registers),
            Op::Call(info) => {
                let name = info.callee.map_or("", |s| &self.module.symbols[s].name);
                let ty = data.result().map_or(Type::Void, |v| self.func.ty(v));
                match has_cheap_vector_form(name, ty) {
                    Some(true) if name.contains("sqrt") => Work::vector(registers * root(ty)),
                    Some(true) => Work::vector(registers * 1.5),
                    // Vector math, if there is a library.
                    Some(false) => Work::vector(registers * 30.0),
                    // A call of a variant, and what that does.
                    None => match self.bodies.size(info.callee) {
                        Some(size) => Work { scalar: 5.0, ..Work::vector(registers * size) },
                        None => Work::scalar(lanes * 20.0),
                    },
                }
            }
            Op::Opaque(_) => Work::scalar(lanes * 6.0),
            Op::ExtractElement | Op::InsertElement | Op::Shuffle(_) => Work::vector(registers),
            _ => Work::default(),
        }
    }

    /// Operations for each register, which holds so many lanes.
    fn of_binary(&self, op: BinaryOp, result: Option<Value>, lanes: f64) -> f64 {
        let ty = result.map_or(Type::Void, |v| self.func.ty(v));
        match op {
            op if op.is_int_division() => 12.0 * lanes,
            BinaryOp::FDiv => root(ty),
            BinaryOp::FRem => 40.0 * lanes,
            // There is none for bytes, and mostly none for 64 bits.
            BinaryOp::Mul if matches!(element_bits(ty), 8 | 64) => 3.0,
            _ => 1.0,
        }
    }

    fn of_access(&self, machine: &Machine, i: Inst, access: MemAccess, lanes: f64, registers: f64) -> Work {
        if let Some(work) = self.of_rows(i, lanes, registers) {
            return work;
        }
        let data = &self.func.insts[i];
        let loaded = data.result();
        let (address, value) = match loaded {
            Some(v) => (data.args[0], v),
            None => (data.args[1], data.args[0]),
        };
        let slow = !access.is_simple();
        let bits = element_bits(self.func.ty(value)).max(8);
        let size = i64::from(bits / 8);
        let mask = self.func.blocks[data.block].mask.expand();
        // Narrow elements count as the words that are gathered in their place.
        let word = loaded.is_some() && self.words[i].is_some();
        let gathers = match machine.gathers {
            Gathers::Nothing => false,
            Gathers::Avx2 | Gathers::Everything if word => true,
            Gathers::Avx2 => bits == 32,
            Gathers::Everything => bits >= 32,
        };
        // Processors without mask registers have masked accesses to wide elements at most.
        let masked = mask.is_some_and(|m| self.varies(m)) && !machine.mask_registers;
        let by_lanes = masked && (bits < 32 || machine.register_bits < 256);
        let (operations, vector) = match self.reps[address] {
            Rep::Varying if !slow && loaded.is_some() && gathers => (lanes, GATHERED * VECTOR * lanes),
            // One by one, with the place to access chosen and taken out of a vector.
            Rep::Varying if !slow && masked => (lanes, 3.0 * lanes),
            _ if masked && !machine.masks.serve(bits.into()) => (lanes, 3.0 * lanes),
            // A branch for each lane; the more of them, the worse they are guessed.
            _ if by_lanes && loaded.is_none() => (lanes, lanes * (8.0 + lanes / 4.0)),
            _ if by_lanes => (lanes, lanes * 8.0),
            _ if slow => (lanes, lanes * 2.0),
            Rep::Strided(step) if step.abs() == size => (registers, 0.0),
            // Of neighbours that lie a few elements apart, wide accesses and shuffles; of stores that leave gaps,
            // under masks.
            Rep::Strided(step) if step.abs() <= 8 * size => {
                let wide = registers * (step.abs() / size).max(1) as f64;
                match loaded.is_none() && !self.leaves_no_gaps(i) {
                    true if !machine.masks.serve(bits.into()) => (lanes, BY_LANES * VECTOR * lanes),
                    true if !machine.mask_registers => (wide, MASKED_STORE * VECTOR * wide),
                    _ if masked => (wide, 5.0 * wide),
                    _ => (wide, 2.0 * wide),
                }
            }
            Rep::Uniform => (1.0, 1.0),
            Rep::Strided(_) => (lanes, 1.5 * lanes),
            // Addresses are computed in vectors and taken out of these, as the elements are.
            Rep::Varying => (lanes, BY_LANES * VECTOR * lanes),
        };
        match loaded.is_some() {
            true => Work { loads: operations, vector, ..Work::default() },
            false => Work { stores: operations, vector, ..Work::default() },
        }
    }

    /// Whether a store is made together with others such that all elements between the first and the last are stored.
    fn leaves_no_gaps(&self, i: Inst) -> bool {
        self.plan.group(i).is_some_and(|(group, _)| group.is_complete())
    }

    /// Loads of neighbours by lanes that are anywhere: one for each lane and row, of which the address is taken out
    /// of a vector, and shuffles. They are counted where they are made.
    fn of_rows(&self, i: Inst, lanes: f64, registers: f64) -> Option<Work> {
        let (group, here) = self.plan.group(i).filter(|(group, _)| group.spread == Spread::Anywhere)?;
        if !here {
            return Some(Work::default());
        }
        let loads = group.rows().len() as f64 * lanes;
        let shuffles = group.members.len() as f64 * registers;
        Some(Work { loads, vector: lanes + loads + shuffles, ..Work::default() })
    }

    fn of_lane(&self, op: LaneOp, machine: &Machine, width: u32, registers: f64) -> Work {
        let lanes = f64::from(width);
        // Masks in vector registers; those that are too wide go through as many bits.
        let mask_bits = self.element_bits * width;
        let mask = match machine.mask_registers {
            true => 0.5 + 0.75 * f64::from(mask_bits.div_ceil(machine.register_bits)),
            false if mask_bits > machine.mask_bits => lanes,
            false => f64::from(mask_bits.div_ceil(machine.register_bits)),
        };
        match op {
            LaneOp::MaskAnd | LaneOp::MaskAndNot | LaneOp::MaskOr => Work::vector(mask),
            LaneOp::MaskAny | LaneOp::Any | LaneOp::All | LaneOp::Ballot | LaneOp::Popcount => {
                Work { vector: mask, scalar: 1.0, ..Work::default() }
            }
            LaneOp::Blend => Work::vector(registers),
            LaneOp::BlendAny => Work { vector: mask, scalar: 2.0, ..Work::default() },
            _ => Work::vector(4.0 * registers),
        }
    }
}

/// How long a register is divided or has its roots taken, in operations.
pub(super) fn root(ty: Type) -> f64 {
    if ty == Type::Float(FloatKind::Double) { 14.0 } else { 8.0 }
}
