//! What [recipes](crate::recipes) cost, by the units of a processor. Figures of operations come from the description
//! of the machine.

use crate::Gathers;
use crate::known_calls::has_cheap_vector_form;
use crate::recipes::{
    Blocks, Contiguous, Division, Gather, Group, GroupCopy, GroupId, How, Order, Packed, Recipe, Rep, Window,
};
use warpline_ir::{
    Atomic, AtomicOrdering, BinaryOp, CastOp, Combine, FloatKind, Function, Inst, LaneOp, Op, OpaqueInfo,
    Type, Value,
};
use warpline_target::{Element, Lanes, Op as Costly, Rates};

use super::{Machine, Program, element_bits, element_of};

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

/// Ordinary operations that a short vector function takes, such as `fabs`, `max` or `fma`.
pub(super) const SHORT: f64 = 1.5;
/// Operations for each lane of an access whose place is chosen by the mask and taken out of a vector.
const CHOSEN_LANE: f64 = 3.0;
/// Operations for each lane of such a store, whose value is taken out of a vector as well.
const CHOSEN_LANE_OF_STORE: f64 = 5.0;
/// Operations to find out whether no lane of a mask is active, or all are, and whether elements are in one page.
const TESTED_MASK: f64 = 4.0;
/// Operations for each lane of a store of active lanes' elements, one after the other, which part of them are.
const COPIED_LANE: f64 = 1.5;
/// Operations that it takes to count the bits of a register's elements, where no instruction does.
const COUNTED_BITS: f64 = 12.0;
/// Operations for each lane of an access behind a branch of its own.
const BRANCHED_LANE: f64 = 8.0;
/// Operations for each lane of an instruction that is kept as it is.
const OPAQUE_LANE: f64 = 6.0;
/// Operations of an update of memory, in one step: in the scalar program, and for each lane. It waits for the one
/// before, which may be of the same element; an atomic one, for all stores. Of many in a row a processor may guess
/// wrongly which are: a lane took from 5 to 27 cycles on znver5, as the code happened to lie, and the scalar program 6.
pub(super) const UPDATE: f64 = 24.0;
const UPDATE_OF_LANE: f64 = 40.0;
const ATOMIC_UPDATE: f64 = 80.0;
/// Operations of a call of a function with a body, without those of the body.
pub(super) const CALL_OF_BODY: f64 = 5.0;
/// Operations of a conversion of integers of 64 bits by parts.
const LONG_CONVERSION: f64 = 6.0;
/// Operations of a function with one right result that is expanded inline, and of one with a loop.
const EXACT: f64 = 12.0;
const EXACT_LOOP: f64 = 40.0;

/// How much an instruction works on.
struct Filled {
    lanes: f64,
    /// The registers that its result fills, or its first operand if it has none.
    registers: f64,
    /// The registers that its first operand fills.
    operand: f64,
}

impl Filled {
    fn of(program: &Program<'_>, machine: &Machine, width: u32, i: Inst) -> Filled {
        let data = &program.func.insts[i];
        let filled = |v: Value| f64::from(machine.filled(program.bits(v), width).max(1));
        let typed = data.results.first().or(data.args.first()).copied();
        let registers = typed.map_or(1.0, filled);
        let operand = data.args.first().map_or(registers, |&a| filled(a));
        Filled { lanes: f64::from(width), registers, operand }
    }
}

/// What an instruction costs that is executed once.
fn once(machine: &Machine, op: &Op) -> Work {
    match op {
        Op::Load(_) => Work::of_loads(1.0),
        Op::Store(_) => Work::of_stores(1.0),
        Op::Call(_) | Op::Opaque(_) => Work::scalar(call(machine)),
        Op::Binary(op) if op.is_int_division() => {
            Work::scalar(in_scalar(machine, Costly::Divide, Element::I32))
        }
        _ => Work::scalar(1.0),
    }
}

/// What an operation on a full register takes, in operations of the machine's own pace.
fn in_vector(machine: &Machine, op: Costly, element: Element) -> f64 {
    machine.operations(op, element) * machine.pace()
}

/// What an operation that is done for one lane after the other takes for each.
fn in_lanes(machine: &Machine, op: Costly, element: Element) -> f64 {
    machine.lane_operations(op, element) * machine.pace()
}

/// What an operation takes in scalar code.
pub(super) fn in_scalar(machine: &Machine, op: Costly, element: Element) -> f64 {
    let is_float = element.is_float() && matches!(op, Costly::Divide | Costly::SquareRoot);
    machine.scalar_operations(op, element) * machine.scalar_pace(is_float)
}

/// A call of a function of which nothing is known.
fn call(machine: &Machine) -> f64 {
    in_scalar(machine, Costly::Call, Element::I64)
}

/// Operations of a division of a lane's integer of 64 bits by a constant.
const LONG_QUOTIENT: f64 = 5.0;

/// Whether an instruction divides integers by a constant: a multiplication, of which the upper half is taken, and
/// shifts.
pub(super) fn divides_by_constant(func: &Function, i: Inst) -> bool {
    let data = &func.insts[i];
    matches!(data.op, Op::Binary(op) if op.is_int_division())
        && data.args.get(1).is_some_and(|&d| func.constant(d).is_some())
}

fn accesses_of(is_load: bool, accesses: f64, vector: f64) -> Work {
    match is_load {
        true => Work { loads: accesses, vector, ..Work::default() },
        false => Work { stores: accesses, vector, ..Work::default() },
    }
}

/// What it takes to make the mask of a register's elements of that of lanes.
const MASK_OF_ELEMENTS: f64 = 4.0;

/// A group that is accessed as blocks: blocks that are not the first of a register are put into it while they are
/// loaded, or put together with others before they are stored.
fn of_blocks(machine: &Machine, group: &Group, blocks: &Blocks) -> Work {
    let columns = blocks.columns as f64;
    let bits = (blocks.elements * group.size * 8) as f64;
    let registers = (columns * bits / f64::from(machine.register_bits)).max(1.0);
    if group.words.is_some() {
        // Shifts take the place of the conversions that use what is loaded.
        return Work::of_loads(group.loaded(blocks) as f64);
    }
    if let Some(copy) = &group.copy {
        return of_copy(group, blocks, copy, registers);
    }
    let shuffles = group.network(blocks).shuffles() as f64 * registers;
    let accesses = if group.stores { group.stored(blocks) } else { group.loaded(blocks) } as f64;
    let joined = match group.regrouped(blocks) {
        Some(network) => network.shuffles() as f64 * registers,
        None if group.stores => (columns - registers) * group.factor() as f64,
        None => accesses * (1.0 - registers / columns),
    };
    accesses_of(!group.stores, accesses, shuffles + joined)
}

/// The loads or the stores of a copy. All shuffles are the stores'.
fn of_copy(group: &Group, blocks: &Blocks, copy: &GroupCopy, registers: f64) -> Work {
    let accesses = if group.stores { group.stored(blocks) } else { group.loaded(blocks) } as f64;
    let (vectors, blocks_apart) = match &copy.order {
        Order::Memory(_) => (accesses, 0),
        // Blocks are put together in registers, or taken out of them.
        Order::Columns(windows) if !group.stores => (registers, windows.len()),
        Order::Columns(_) => (registers, copy.network.outputs.len()),
    };
    let shuffles = if group.stores { copy.network.shuffles() as f64 * vectors } else { 0.0 };
    let joined = match group.regrouped(blocks).filter(|_| group.stores && blocks_apart > 0) {
        Some(network) => network.shuffles() as f64 * registers,
        None => blocks_apart as f64 * (blocks.columns as f64 - registers).max(0.0),
    };
    accesses_of(!group.stores, accesses, shuffles + joined)
}

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

    /// The cycles of the busiest unit, of a machine that begins so many operations in a cycle.
    pub(super) fn cycles(&self, rates: Rates) -> f64 {
        let Rates { vector, scalar, loads, stores, all } = rates;
        let sum = self.operations();
        [self.vector / vector, self.scalar / scalar, self.loads / loads, self.stores / stores, sum / all]
            .into_iter()
            .fold(0.0, f64::max)
    }
}

/// Operations of an update of memory in one step, so many if it is not atomic for other threads.
pub(super) fn update(info: &OpaqueInfo, plain: f64) -> Option<f64> {
    match info.atomic? {
        Atomic::Rmw { access, .. } if access.ordering == AtomicOrdering::NotAtomic => Some(plain),
        Atomic::Rmw { .. } | Atomic::CompareExchange { .. } => Some(ATOMIC_UPDATE),
        Atomic::Fence(_) => None,
    }
}

impl Program<'_> {
    /// What an instruction costs on so many lanes: what its recipe emits.
    pub(super) fn work_of(&self, machine: &Machine, width: u32, i: Inst) -> Work {
        let data = &self.func.insts[i];
        let shape = Filled::of(self, machine, width, i);
        let Filled { lanes, registers, .. } = shape;
        match self.plan(width).recipe(i) {
            Recipe::Nothing
            | Recipe::Known(_)
            | Recipe::Private
            | Recipe::Elsewhere
            | Recipe::Divided(_)
            | Recipe::Stack => Work::default(),
            Recipe::Once | Recipe::WidenThenFirst => once(machine, &data.op),
            Recipe::OnceIfAny | Recipe::FirstLane => Work::scalar(call(machine)),
            Recipe::Speculated(_) => Work::of_loads(1.0),
            Recipe::Widen => self.of_widened(machine, i, &shape),
            Recipe::Divide(division) => self.of_division(machine, width, i, *division),
            // One for each pair, and one to put every two results of less than a register together.
            Recipe::Truncate => Work::vector((shape.operand - registers).max(registers)),
            Recipe::LongConversion => Work::vector(LONG_CONVERSION * registers),
            Recipe::Contiguous(how) => self.of_contiguous(machine, i, *how, &shape),
            Recipe::Group(id) => self.of_group(machine, i, *id, &shape),
            Recipe::Rows(id, _) => self.of_rows(*id, &shape),
            Recipe::Gather(gather) => self.of_gather(machine, i, gather, &shape),
            Recipe::Window(window) => self.of_window(machine, i, window, &shape),
            // Two accesses for each register, and their masks.
            Recipe::Ring(_) => {
                let writes = matches!(data.op, Op::Store(_));
                accesses_of(!writes, 2.0 * registers, 3.0 * registers + 2.0)
            }
            Recipe::Table(table, together) => {
                let loads = if table.is_constant { 0.0 } else { table.blocks() as f64 };
                let vector = table.operations() as f64 * lanes / f64::from(*together);
                Work { loads, vector, ..Work::default() }
            }
            Recipe::Overlapping(how) => {
                let is_load = !matches!(data.op, Op::Store(_));
                let (accesses, others) = how.costs(!is_load);
                accesses_of(is_load, accesses as f64, others as f64)
            }
            Recipe::Scatter(scatter) if scatter.how == How::Pick => {
                let Filled { registers, .. } = shape;
                Work {
                    loads: 4.0 * registers,
                    stores: 4.0 * registers,
                    vector: 12.0 * registers,
                    scalar: 0.0,
                }
            }
            Recipe::Scatter(scatter) => {
                // One element after the other, with the place to access chosen or taken out of a vector.
                let each = match scatter.how {
                    How::ByLane => CHOSEN_LANE_OF_STORE,
                    _ => self.each(machine, Costly::ReplicatedStore, i),
                };
                Work { stores: lanes, vector: each * lanes, ..Work::default() }
            }
            Recipe::Scalarize { .. } => self.of_scalarized(machine, i, &shape),
            Recipe::Variant(_) => self.of_variant(machine, i, &shape),
            Recipe::Targets(_) => Work::scalar(lanes * call(machine)),
            Recipe::Simd(_) | Recipe::Library { .. } | Recipe::Inline(_) => {
                Work::vector(registers * machine.operations(Costly::Mathematics, element_of(self.type_of(i))))
            }
            Recipe::Intrinsic(base, _) if &**base == "llvm.sqrt" => {
                Work::vector(registers * root(machine, self.type_of(i)))
            }
            Recipe::Intrinsic(base, _) if &**base == "llvm.ctpop" => Work::vector(registers * COUNTED_BITS),
            Recipe::Intrinsic(..) => Work::vector(registers * SHORT),
            Recipe::Fold(_) => Work::vector(shape.operand),
            Recipe::UnpackBytes(_) => Work::vector(registers),
            Recipe::Weighted(sum) => Work::vector(sum.operations() as f64 * lanes / f64::from(sum.register)),
            // The bits above are cleared before.
            &Recipe::Pack8 { from, saturates, .. } => {
                let packed = if from == 32 { 3.0 } else { 1.0 };
                Work::vector(packed * registers + if saturates { 0.0 } else { shape.operand })
            }
            Recipe::HighProduct(product) => Work::vector(lanes / f64::from(product.together)),
            Recipe::Sum(sum) => {
                let blends = if sum.under.is_some() { 1.0 } else { 0.0 };
                Work::vector((2.0 + blends) * lanes / f64::from(sum.together))
            }
            Recipe::Exact(function) if function.has_loop() => Work::vector(registers * EXACT_LOOP),
            Recipe::Exact(_) => Work::vector(registers * EXACT),
            Recipe::Pack(packed) => of_packed(*packed, lanes),
            Recipe::AnyOfOne(comparisons) => Work::scalar(1.0 + comparisons.len() as f64),
            Recipe::CrossLane if !self.touches_lanes(i) => Work::scalar(1.0),
            Recipe::CrossLane => match data.op {
                Op::Lane(op) => self.of_lane(i, op, machine, width, registers),
                _ => Work::default(),
            },
        }
    }

    /// A call of a variant, and what that does.
    fn of_variant(&self, machine: &Machine, i: Inst, shape: &Filled) -> Work {
        let callee = match &self.func.insts[i].op {
            Op::Call(info) => info.callee,
            _ => None,
        };
        match self.bodies.size(callee) {
            Some(size) => Work { scalar: CALL_OF_BODY, ..Work::vector(shape.registers * size) },
            None => Work::scalar(shape.lanes * call(machine)),
        }
    }

    fn type_of(&self, i: Inst) -> Type {
        self.func.insts[i].result().map_or(Type::Void, |v| self.func.ty(v))
    }

    /// Whether an instruction has a vector as operand or result.
    fn touches_lanes(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        data.args.iter().chain(&data.results).any(|&v| self.varies(v))
    }

    /// One vector instruction.
    fn of_widened(&self, machine: &Machine, i: Inst, shape: &Filled) -> Work {
        let &Filled { lanes, registers, operand } = shape;
        let ty = self.type_of(i);
        let data = &self.func.insts[i];
        Work::vector(match &data.op {
            Op::Binary(_) if divides_by_constant(self.func, i) => {
                // Nobody has the upper halves of products of 64 bits: one lane after the other.
                if element_bits(ty) < 64 { registers * 7.0 } else { lanes * LONG_QUOTIENT }
            }
            Op::Binary(op) if op.is_int_division() => {
                in_lanes(machine, Costly::Divide, element_of(ty)) * lanes
            }
            Op::Binary(BinaryOp::FDiv) => registers * root(machine, ty),
            Op::Binary(BinaryOp::FRem) => in_lanes(machine, Costly::Remainder, element_of(ty)) * lanes,
            Op::Binary(BinaryOp::Mul) if self.has_halves(i) => registers,
            Op::Binary(BinaryOp::Mul) => product(machine, element_of(ty)) * registers,
            Op::Binary(_) | Op::FNeg | Op::Select | Op::Freeze | Op::Gep(_) => registers,
            Op::ExtractElement | Op::InsertElement | Op::Shuffle(_) => registers,
            Op::ICmp(_) | Op::FCmp(_) => operand,
            Op::Cast(CastOp::Bitcast | CastOp::PtrToInt | CastOp::IntToPtr) => 0.0,
            Op::Cast(_) => registers.max(operand),
            _ => 0.0,
        })
    }

    /// Whether an instruction has operands of 64 bits that are extended from no more than 32: there are products of
    /// such everywhere.
    fn has_halves(&self, i: Inst) -> bool {
        let is_half = |&v: &Value| {
            let cast = self.func.def_inst(v).map(|i| &self.func.insts[i]);
            cast.is_some_and(|cast| {
                matches!(cast.op, Op::Cast(CastOp::ZExt | CastOp::SExt)) && self.bits(cast.args[0]) <= 32
            })
        };
        let data = &self.func.insts[i];
        element_bits(self.type_of(i)) == 64 && data.args.iter().all(is_half)
    }

    /// A division of integers by floating-point arithmetic: conversions, a division or the multiplication by a
    /// reciprocal, and the remainder.
    fn of_division(&self, machine: &Machine, width: u32, i: Inst, division: Division) -> Work {
        let filled = |bits| f64::from(machine.filled(bits, width).max(1));
        let shared = self.func.insts[i].args.get(1).is_some_and(|&d| self.reps[d] == Rep::Uniform);
        let divided = |kind| if shared { 1.0 } else { root(machine, Type::Float(kind)) };
        Work::vector(match division {
            Division::IfSmall { .. } => filled(64) * (24.0 + divided(FloatKind::Double)),
            Division::AsLong => filled(64) * (20.0 + divided(FloatKind::Double)),
            Division::AsNumbers { kind: FloatKind::Double, .. } => {
                filled(64) * (7.0 + divided(FloatKind::Double))
            }
            Division::AsNumbers { .. } => filled(32) * (9.0 + divided(FloatKind::Float)),
        })
    }

    /// Loads and stores of neighbours.
    fn of_contiguous(&self, machine: &Machine, i: Inst, how: Contiguous, shape: &Filled) -> Work {
        let &Filled { lanes, registers, operand } = shape;
        let is_load = matches!(self.func.insts[i].op, Op::Load(_));
        let bits = self.bits_in_memory(i);
        let (accesses, vector) = match how {
            Contiguous::Whole | Contiguous::Speculated(_) => (if is_load { registers } else { operand }, 0.0),
            Contiguous::ByLane if is_load => (lanes, CHOSEN_LANE * lanes),
            Contiguous::ByLane => (lanes, CHOSEN_LANE_OF_STORE * lanes),
            Contiguous::Active if is_load => (registers, TESTED_MASK),
            Contiguous::Active => (operand + lanes / 4.0, TESTED_MASK + COPIED_LANE * lanes),
            Contiguous::Blended => {
                return Work { loads: operand, stores: operand, vector: operand, ..Work::default() };
            }
            Contiguous::Masked if machine.mask_registers => (if is_load { registers } else { operand }, 0.0),
            // A branch for each lane; the more of them, the worse they are guessed.
            Contiguous::Masked if !machine.masks.serve(bits.into()) || machine.register_bits < 256 => {
                (lanes, lanes * if is_load { BRANCHED_LANE } else { BRANCHED_LANE + lanes / 4.0 })
            }
            Contiguous::Masked => (if is_load { registers } else { operand }, 0.0),
        };
        accesses_of(is_load, accesses, vector)
    }

    /// A wide access and shuffles for each member; of stores that leave gaps, under masks.
    fn of_group(&self, machine: &Machine, i: Inst, id: GroupId, shape: &Filled) -> Work {
        let group = self.plan(shape.lanes as u32).group(id);
        let registers = if group.stores { shape.operand } else { shape.registers };
        let wide = registers * (group.factor().unsigned_abs().max(1)) as f64;
        if group.alike {
            return accesses_of(!group.stores, wide, 0.0);
        }
        if let Some(blocks) = &group.blocks {
            let work = of_blocks(machine, group, blocks);
            // Lanes' masks become those of the elements of each register.
            let masks = if self.is_masked(i) { MASK_OF_ELEMENTS * (work.loads + work.stores) } else { 0.0 };
            return Work { vector: work.vector + masks, ..work };
        }
        let members = group.members.len() as f64;
        let masked = self.is_masked(i) && !machine.mask_registers;
        let gaps = group.stores && !group.is_complete();
        let bits = self.bits_in_memory(i);
        match gaps || masked {
            true if !machine.masks.serve(bits.into()) => {
                let each = members * shape.lanes;
                let op = if group.stores { Costly::ReplicatedStore } else { Costly::Replicate };
                accesses_of(!group.stores, each, self.each(machine, op, i) * each)
            }
            true if gaps && !machine.mask_registers => {
                accesses_of(false, wide, (self.masked_store(machine, i) + 2.0 * members) * wide)
            }
            _ => accesses_of(!group.stores, wide, if masked { 5.0 } else { 2.0 } * members * wide),
        }
    }

    /// Loads of neighbours by lanes that are anywhere: one for each lane and row, of which the address is taken out
    /// of a vector, and shuffles.
    fn of_rows(&self, id: GroupId, shape: &Filled) -> Work {
        let group = self.plan(shape.lanes as u32).group(id);
        let loads = group.rows().len() as f64 * shape.lanes;
        let shuffles = group.members.len() as f64 * shape.registers;
        Work { loads, vector: shape.lanes + loads + shuffles, ..Work::default() }
    }

    /// Loads from anywhere.
    fn of_gather(&self, machine: &Machine, i: Inst, gather: &Gather, shape: &Filled) -> Work {
        let &Filled { lanes, registers, .. } = shape;
        let address = self.func.accessed(i).map(|a| self.reps[a.address]);
        let bits = self.bits_in_memory(i);
        let in_hardware = match machine.gathers {
            Gathers::Nothing => false,
            Gathers::Avx2 => matches!(gather.how, How::Avx2(_)),
            Gathers::Everything => bits >= 32 || gather.word.is_some(),
        };
        let (loads, vector) = match (gather.how, address) {
            (_, Some(Rep::Uniform)) => (1.0, 1.0),
            (How::Pick, _) => (4.0 * registers, 8.0 * registers),
            // A wide access, of which LLVM puts together each lane's element, and the other lane's at a place that is
            // chosen.
            (How::Between(between), _) => {
                let wide = registers * (between.step.unsigned_abs() / u64::from(bits / 8)).max(1) as f64;
                (wide + 1.0, 2.0 * wide.max(lanes) + CHOSEN_LANE)
            }
            (How::ByLane, _) => (lanes, CHOSEN_LANE * lanes),
            (_, Some(Rep::Strided(_))) => (lanes, 1.5 * lanes),
            _ if in_hardware => (lanes, self.each(machine, Costly::Gather, i) * lanes),
            // Addresses are computed in vectors and taken out of these, as the elements are.
            _ => (lanes, self.each(machine, Costly::Replicate, i) * lanes),
        };
        Work { loads, vector, ..Work::default() }
    }

    /// A wide load, and a shuffle for each register of lanes, or two if that takes elements of several registers.
    fn of_window(&self, machine: &Machine, i: Inst, window: &Window, shape: &Filled) -> Work {
        let bits = u64::from(window.elements) * u64::from(self.bits_in_memory(i));
        let loads = bits.div_ceil(u64::from(machine.register_bits.max(1))) as f64;
        let shuffles = if loads > 1.0 { 2.0 } else { 1.0 };
        let masks = if window.is_masked { 2.0 * loads } else { 0.0 };
        Work { loads, vector: shape.registers * shuffles + masks, ..Work::default() }
    }

    /// One instruction for each lane.
    fn of_scalarized(&self, machine: &Machine, i: Inst, shape: &Filled) -> Work {
        let (data, lanes) = (&self.func.insts[i], shape.lanes);
        match &data.op {
            Op::Load(_) => accesses_of(true, lanes, 2.0 * lanes),
            Op::Store(_) => accesses_of(false, lanes, 2.0 * lanes),
            Op::Call(info) => {
                let name = info.callee.map_or("", |s| &self.module.symbols[s].name);
                let is_mathematics = has_cheap_vector_form(name, self.type_of(i)) == Some(false);
                let each = match is_mathematics {
                    true => in_scalar(machine, Costly::Mathematics, element_of(self.type_of(i))),
                    false => call(machine),
                };
                Work::scalar(lanes * each)
            }
            Op::Opaque(info) => Work::scalar(lanes * update(info, UPDATE_OF_LANE).unwrap_or(OPAQUE_LANE)),
            _ => Work::scalar(lanes * 2.0),
        }
    }

    /// Operations for each lane of an access to elements in memory.
    fn each(&self, machine: &Machine, op: Costly, i: Inst) -> f64 {
        in_lanes(machine, op, self.element_in_memory(i))
    }

    /// Operations of a masked store without mask registers, which is a short program on some processors.
    fn masked_store(&self, machine: &Machine, i: Inst) -> f64 {
        in_vector(machine, Costly::MaskedStore, self.element_in_memory(i))
    }

    fn element_in_memory(&self, i: Inst) -> Element {
        self.func.accessed(i).map_or(Element::I64, |a| element_of(a.ty))
    }

    /// Whether the machine accesses such elements under masks.
    pub(super) fn has_masks_for(&self, machine: &Machine, i: Inst) -> bool {
        machine.mask_registers || machine.masks.serve(self.bits_in_memory(i).into())
    }

    /// Whether an instruction is executed for some lanes only.
    pub(super) fn is_masked(&self, i: Inst) -> bool {
        self.func.blocks[self.func.insts[i].block].mask.expand().is_some_and(|m| self.varies(m))
    }

    /// The bits of an element that a load or store accesses.
    fn bits_in_memory(&self, i: Inst) -> u32 {
        self.func.accessed(i).map_or(8, |a| element_bits(a.ty).max(8))
    }

    fn of_lane(&self, i: Inst, op: LaneOp, machine: &Machine, width: u32, registers: f64) -> Work {
        let of = self.type_of(i);
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
            // The bits moved into registers of masks, or spread over vectors and compared there.
            LaneOp::BitOfLane => Work { vector: 4.0 * mask, scalar: 1.0, ..Work::default() },
            LaneOp::Blend => Work::vector(registers),
            LaneOp::BlendAny => Work { vector: mask, scalar: 2.0, ..Work::default() },
            // Elements taken out and combined, one after the other.
            LaneOp::Reduce(c) if c.is_in_order(of) => Work::vector(2.0 * lanes),
            LaneOp::ScanExclusive(c) | LaneOp::ScanInclusive(c) => {
                match c.is_in_order(of) {
                    // An element taken out, combined, put in.
                    true => Work::vector(3.0 * lanes),
                    // Moved up, with what changes nothing behind it, and combined, by one lane, two, four …; blocks of
                    // 128 bits are moved by dearer operations, and whole registers not at all.
                    false => {
                        let within = (lanes / registers).max(1.0).log2();
                        let zeros = matches!(c, Combine::Add | Combine::Or | Combine::Xor | Combine::UMax);
                        let step = if zeros { 2.0 } else { 3.0 };
                        let between = f64::from(machine.register_bits / 128).max(1.0).log2().min(within);
                        let of_register = step * (within - between) + (moved(machine, of) + 1.0) * between;
                        Work::vector((of_register + registers.log2()) * registers)
                    }
                }
            }
            // Whether there is such a lane is asked besides; from several registers, that is scalarized.
            LaneOp::Shuffle if registers > 1.0 => Work::vector(4.0 * lanes),
            LaneOp::Shuffle => Work::vector(6.0 + moved(machine, of)),
            _ => Work::vector(4.0 * registers),
        }
    }
}

/// What it takes to move lanes of a whole register to other places.
fn moved(machine: &Machine, of: Type) -> f64 {
    let element = element_of(of);
    let register = Lanes::fixed(machine.register_bits / element.bits());
    let cost = machine.cost(Costly::Shuffle, element, register);
    cost.map_or(1.0, |cost| (cost.throughput * machine.rates().vector).max(1.0))
}

/// What a packed store takes.
fn of_packed(packed: Packed, lanes: f64) -> Work {
    let parts = |together: u32| lanes / f64::from(together);
    match packed {
        // Two operations pack, four make the mask of as many.
        Packed::Compressed(together) => {
            let parts = parts(together);
            Work { vector: 3.0 * parts, scalar: 5.0 * parts, stores: parts, ..Work::default() }
        }
        // A masked store of AVX2 takes as long as some others.
        Packed::Permuted(together) => {
            let parts = parts(together);
            Work { vector: 6.0 * parts, scalar: 6.0 * parts, stores: 3.0 * parts, ..Work::default() }
        }
        // A branch, and a store if that is taken.
        Packed::Native => Work { scalar: 5.0 * lanes, stores: 0.5 * lanes, ..Work::default() },
        Packed::Scattered => Work { stores: lanes, vector: CHOSEN_LANE * lanes, ..Work::default() },
    }
}

/// A product of integers: an instruction, or a short program for those of 8 or 64 bits.
fn product(machine: &Machine, element: Element) -> f64 {
    let register = Lanes::fixed(machine.register_bits / element.bits());
    match machine.cost(Costly::Multiply, element, register) {
        Some(program) if matches!(element, Element::I8 | Element::I64) => {
            (program.throughput * machine.rates().vector).max(1.0)
        }
        _ => 1.0,
    }
}

/// How long a register is divided or has its roots taken, in operations.
pub(super) fn root(machine: &Machine, ty: Type) -> f64 {
    in_vector(machine, Costly::Divide, element_of(ty))
}
