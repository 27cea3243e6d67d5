//! Which places pointers lead to within an instance of a function, forwards through its values.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use cranelift_entity::SecondaryMap;
use warpline_analysis::dataflow::Instruction;
use warpline_analysis::dataflow::solve_forward_narrowing;
use warpline_analysis::ssi::ssify;

use super::calls::{self, callee};
use super::memory::{FAR, Memory, Object, Place, Places};
use super::state::InstanceId;
use warpline_dataflow::Code;
use warpline_dataflow::clients::ranges::{Assumptions, Range, Ranges};
use warpline_ir::{AggregateType, CastOp, Constant, Function, Inst, Module, Op, Type, Value};

/// Functions of C, C++ and Rust that make memory that nothing else leads to.
const ALLOCATIONS: [&str; 9] = [
    "malloc",
    "calloc",
    "aligned_alloc",
    "__rust_alloc",
    "__rust_alloc_zeroed",
    "_Znwm",
    "_Znam",
    "valloc",
    "memalign",
];

/// Whether a function of this name makes memory.
pub(super) fn allocates(name: &str) -> bool {
    ALLOCATIONS.contains(&name)
}

/// Whether a value of this type can be, or have in it, a pointer.
pub(super) fn may_hold_pointers(ty: Type) -> bool {
    match ty {
        Type::Ptr(_) | Type::Aggregate(_) | Type::Other(_) => true,
        Type::Vector(_) => matches!(ty.elem(), Some(warpline_ir::Scalar::Ptr(_))),
        _ => false,
    }
}

/// What the pointers of an instance lead to.
pub(super) struct Points {
    places: SecondaryMap<Value, Places>,
    pub indices: Rc<Indices>,
}

impl Points {
    pub(super) fn new(indices: Rc<Indices>) -> Points {
        Points { places: SecondaryMap::new(), indices }
    }

    /// The places of a value; of constants, too.
    pub(super) fn of(&self, memory: &mut Memory<'_>, func: &Function, v: Value) -> Places {
        match func.constant(v) {
            Some(constant) => of_constant(memory, constant),
            None => self.places[v].clone(),
        }
    }

    /// Follows pointers until nothing changes. `returned`: what calls that are followed return.
    pub(super) fn solve(
        &mut self,
        memory: &mut Memory<'_>,
        module: &Module,
        func: &Function,
        instance: InstanceId,
        params: &[Places],
        returned: &dyn Fn(Inst) -> Option<Places>,
    ) {
        for (&p, places) in func.params.iter().zip(params) {
            self.places[p].add_all(places);
        }
        loop {
            let mut changed = false;
            for &b in &func.layout {
                for inst in func.block_insts(b) {
                    changed |= self.step(memory, module, func, instance, inst, returned);
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn step(
        &mut self,
        memory: &mut Memory<'_>,
        module: &Module,
        func: &Function,
        instance: InstanceId,
        inst: Inst,
        returned: &dyn Fn(Inst) -> Option<Places>,
    ) -> bool {
        let data = &func.insts[inst];
        if let Op::Cast(CastOp::PtrToInt) = data.op {
            let places = self.of(memory, func, data.args[0]);
            memory.escape(&places);
        }
        let mut changed = false;
        for &result in &data.results {
            let ty = func.ty(result);
            if !may_hold_pointers(ty) {
                if let (Op::Load(_), true) =
                    (&data.op, module.layout.store_size(&module.types, ty) >= Some(8))
                {
                    let from = self.of(memory, func, data.args[0]);
                    for region in from.regions(module.layout.store_size(&module.types, ty)) {
                        memory.loaded_as_number(region);
                    }
                }
                continue;
            }
            let mut new = Places::default();
            match &data.op {
                Op::Alloca { ty, .. } => {
                    let size = module.layout.alloc_size(&module.types, *ty);
                    let object = memory.id(Object::Private(instance, result));
                    let count = func.as_int(data.args[0]);
                    let place = Place::start(object);
                    new.add(match (size, count) {
                        (Some(size), Some(1)) => place.narrowed(size),
                        _ => place,
                    });
                }
                Op::Gep(elem) => {
                    let base = self.of(memory, func, data.args[0]);
                    new = base.map(|place| {
                        Mover { module, func, inst, indices: &self.indices }.moved(*elem, place)
                    });
                }
                Op::Load(_) => {
                    let size = module.layout.store_size(&module.types, ty);
                    let from = self.of(memory, func, data.args[0]);
                    let regions: Vec<_> = from.regions(size).collect();
                    for region in regions {
                        let places = memory.loaded(region, size.unwrap_or(8) as i64);
                        new.add_all(&places);
                    }
                }
                Op::Phi => {
                    let position = func.phi_position(inst).unwrap_or_default();
                    for &e in &func.blocks[data.block].preds {
                        if let Some(&v) = func.edges[e].args.get(position) {
                            new.add_all(&self.of(memory, func, v));
                        }
                    }
                }
                Op::Cast(CastOp::IntToPtr) => new = memory.elsewhere(),
                op if calls::is_call(op) => {
                    new = match returned(inst) {
                        Some(places) => places,
                        None if allocates(callee(module, func, inst)) => {
                            let object = memory.id(Object::Private(instance, result));
                            Places::of(Place::start(object))
                        }
                        // A pointer with other bounds, or what a function was given.
                        None if callee(module, func, inst).starts_with("llvm.") => {
                            let mut all = memory.elsewhere();
                            for &v in &data.args {
                                all.add_all(&self.of(memory, func, v).map(Place::adrift));
                            }
                            all
                        }
                        None => memory.elsewhere(),
                    };
                }
                Op::Opaque(_) | Op::OpaqueTerm(_) => {
                    if calls::assembly(&data.op) != Some(false) {
                        new = memory.elsewhere();
                    }
                    for &v in &data.args {
                        new.add_all(&self.of(memory, func, v));
                    }
                }
                Op::Select => {
                    for &v in &data.args[1..] {
                        new.add_all(&self.of(memory, func, v));
                    }
                }
                _ => {
                    for &v in &data.args {
                        new.add_all(&self.of(memory, func, v));
                    }
                }
            }
            changed |= self.places[result].add_all(&new);
        }
        changed
    }
}

fn of_constant(memory: &mut Memory<'_>, constant: &Constant) -> Places {
    match constant {
        Constant::Address { symbol, offset, .. } => memory.of_symbol(*symbol, *offset),
        Constant::Int { .. } | Constant::Float { .. } | Constant::WideInt { .. } => Places::default(),
        Constant::Null(_) | Constant::Undef(_) | Constant::Poison(_) | Constant::Zero(_) => Places::default(),
        _ => memory.elsewhere(),
    }
}

/// The least and the greatest number that an operand of an instruction may be, where that is known.
pub(super) type Indices = HashMap<(Inst, usize), (i64, i64)>;

/// Numbers that are further from 0 tell nothing.
const LARGEST_INDEX: i128 = 1 << 40;

/// What is known of the integers that a function is given.
pub(super) type Numbers = Vec<Option<(i64, i64)>>;

struct Given<'a> {
    func: &'a Function,
    numbers: &'a Numbers,
}

impl Assumptions for Given<'_> {
    fn parameter(&self, number: u32) -> Option<Range> {
        let (low, high) = (*self.numbers.get(number as usize)?)?;
        let bits = self.func.ty(self.func.params[number as usize]).int_bits()?;
        let unsigned = (u128::try_from(low).ok()?, u128::try_from(high).ok()?);
        Range::between(bits, unsigned, (low.into(), high.into()))
    }
}

/// Sweeps of narrowing for ranges.
const NARROWING: usize = 3;

/// What numbers the indices of a function, and those that it gives to others, may be.
pub(super) fn indices(module: &Module, func: &Function, numbers: &Numbers) -> Indices {
    let mut indices = Indices::new();
    let is_variable = |&v: &Value| func.constant(v).is_none();
    let mut asked: HashSet<Inst> = HashSet::new();
    for inst in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
        let data = &func.insts[inst];
        let is_number = |v: &Value| is_variable(v) && func.ty(*v).int_bits().is_some();
        if matches!(data.op, Op::Gep(_) | Op::Call(_)) && data.args.iter().any(is_number) {
            asked.insert(inst);
        }
    }
    if asked.is_empty() {
        return indices;
    }
    let code = Code::with_makers(func);
    let ssi = ssify(code.program(), &Ranges::<()>::STRATEGY);
    let problem = Ranges::with(module, func, &code, Given { func, numbers });
    let found = solve_forward_narrowing(code.program(), &ssi, &problem, NARROWING);
    let all = (0..code.program().instructions() as u32).map(Instruction);
    for (inst, at) in all.map(|at| (code.inst(at), at)).filter(|(inst, _)| asked.contains(inst)) {
        let slots = code.program().use_slots(at).start;
        for (k, v) in func.insts[inst].args.iter().enumerate() {
            if !is_variable(v) {
                continue;
            }
            let version = ssi.used(slots + k);
            let Some(range) = version.and_then(|version| found.fact(version).range().copied()) else {
                continue;
            };
            if range.least() >= -LARGEST_INDEX && range.greatest() <= LARGEST_INDEX {
                indices.insert((inst, k), (range.least() as i64, range.greatest() as i64));
            }
        }
    }
    indices
}

/// The number that a constant is.
pub(super) fn number(func: &Function, v: Value) -> Option<i64> {
    let Some(Constant::Int { bits, value }) = func.constant(v) else { return None };
    let shift = 128_u32.checked_sub(*bits)?;
    i64::try_from((*value << shift).cast_signed() >> shift).ok()
}

/// Moves pointers by a `getelementptr`.
struct Mover<'a> {
    module: &'a Module,
    func: &'a Function,
    inst: Inst,
    indices: &'a Indices,
}

impl Mover<'_> {
    /// The place moved by an operand times a size.
    fn step(&self, place: Place, operand: usize, size: Option<u64>) -> Place {
        let index = self.func.insts[self.inst].args[operand];
        let Some(size) = size.and_then(|s| i64::try_from(s).ok()) else { return place.adrift() };
        if let Some(distance) = number(self.func, index).and_then(|index| index.checked_mul(size)) {
            return place.moved(distance);
        }
        let range = self.indices.get(&(self.inst, operand));
        place.times(size, range.and_then(|&(low, high)| low.checked_mul(size).zip(high.checked_mul(size))))
    }

    /// Where a pointer to a place leads then.
    fn moved(&self, elem: Type, mut place: Place) -> Place {
        let (module, func) = (self.module, self.func);
        let types = &module.types;
        let size_of = |ty: Type| module.layout.alloc_size(types, ty);
        let mut container = elem;
        for (operand, &index) in func.insts[self.inst].args.iter().enumerate().skip(1) {
            if operand == 1 {
                place = self.step(place, operand, size_of(container));
                continue;
            }
            let Type::Aggregate(a) = container else { return place.adrift() };
            match types.get(a) {
                AggregateType::Array { elem, len } => {
                    // Rows of an array of arrays lie in the whole of it.
                    let size = size_of(*elem);
                    let total = size.and_then(|s| s.checked_mul(*len));
                    if let (true, Some(total)) = (place.within.1 >= FAR, total) {
                        place = place.narrowed(total);
                    }
                    place = self.step(place, operand, size);
                    container = *elem;
                }
                AggregateType::Struct { .. } => {
                    let member = func.as_int(index).and_then(|m| u64::try_from(m).ok());
                    let layout = module.layout.struct_layout(types, container);
                    let found = member.zip(layout).and_then(|(member, (_, offsets))| {
                        let offset = *offsets.get(usize::try_from(member).ok()?)?;
                        Some((offset, types.member(container, member)?))
                    });
                    let Some((offset, ty)) = found else { return place.adrift() };
                    place = place.moved(offset as i64);
                    // An array without a length at the end has any.
                    place = match size_of(ty) {
                        Some(0) => Place { within: (place.lo, FAR), steps: None, ..place },
                        Some(size) => place.narrowed(size),
                        None => place,
                    };
                    container = ty;
                }
            }
        }
        place
    }
}
