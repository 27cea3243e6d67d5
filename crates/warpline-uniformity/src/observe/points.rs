//! Which places pointers lead to within an instance of a function, forwards through its values.

use cranelift_entity::SecondaryMap;

use super::memory::{Memory, Object, Place, Places};
use super::state::InstanceId;
use warpline_dataflow::memory::callee;
use warpline_ir::{AggregateType, CastOp, Constant, Function, Inst, Module, Op, SymbolKind, Type, Value};

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
}

impl Points {
    pub(super) fn new() -> Points {
        Points { places: SecondaryMap::new() }
    }

    /// The places of a value; of constants, too.
    pub(super) fn of(&self, memory: &mut Memory<'_>, module: &Module, func: &Function, v: Value) -> Places {
        match func.constant(v) {
            Some(constant) => of_constant(memory, module, constant),
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
            let places = self.of(memory, module, func, data.args[0]);
            memory.escape(&places);
        }
        let mut changed = false;
        for &result in &data.results {
            let ty = func.ty(result);
            if !may_hold_pointers(ty) {
                if let (Op::Load(_), true) = (&data.op, module.layout.store_size(&module.types, ty) >= Some(8)) {
                    let from = self.of(memory, module, func, data.args[0]);
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
                    let base = self.of(memory, module, func, data.args[0]);
                    new = base.map(|place| moved(module, func, *elem, &data.args[1..], place));
                }
                Op::Load(_) => {
                    let size = module.layout.store_size(&module.types, ty);
                    let from = self.of(memory, module, func, data.args[0]);
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
                            new.add_all(&self.of(memory, module, func, v));
                        }
                    }
                }
                Op::Cast(CastOp::IntToPtr) => new = memory.elsewhere(),
                Op::Call(_) | Op::OpaqueTerm(_) => {
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
                                all.add_all(&self.of(memory, module, func, v).map(Place::adrift));
                            }
                            all
                        }
                        None => memory.elsewhere(),
                    };
                }
                Op::Opaque(_) => {
                    new = memory.elsewhere();
                    for &v in &data.args {
                        new.add_all(&self.of(memory, module, func, v));
                    }
                }
                Op::Select => {
                    for &v in &data.args[1..] {
                        new.add_all(&self.of(memory, module, func, v));
                    }
                }
                _ => {
                    for &v in &data.args {
                        new.add_all(&self.of(memory, module, func, v));
                    }
                }
            }
            changed |= self.places[result].add_all(&new);
        }
        changed
    }
}

fn of_constant(memory: &mut Memory<'_>, module: &Module, constant: &Constant) -> Places {
    match constant {
        Constant::Address { symbol, offset, .. } => match &module.symbols[*symbol].kind {
            SymbolKind::Global { constant, ty, .. } => {
                let object = match constant {
                    true => Object::Constant(*symbol),
                    false => Object::Global(*symbol),
                };
                let place = Place::start(memory.id(object));
                let size = module.layout.alloc_size(&module.types, *ty);
                size.map_or(place, |size| place.narrowed(size)).moved(*offset).into()
            }
            SymbolKind::Function { .. } => Places::default(),
            SymbolKind::Other => memory.elsewhere(),
        },
        Constant::Int { .. } | Constant::Float { .. } | Constant::WideInt { .. } => Places::default(),
        Constant::Null(_) | Constant::Undef(_) | Constant::Poison(_) | Constant::Zero(_) => Places::default(),
        _ => memory.elsewhere(),
    }
}

impl From<Place> for Places {
    fn from(place: Place) -> Places {
        Places::of(place)
    }
}

/// Where a pointer leads after `getelementptr` with these indices.
fn moved(module: &Module, func: &Function, elem: Type, indices: &[Value], mut place: Place) -> Place {
    let types = &module.types;
    let size_of = |ty: Type| module.layout.alloc_size(types, ty);
    let constant = |v: Value| {
        let Some(Constant::Int { bits, value }) = func.constant(v) else { return None };
        let shift = 128_u32.checked_sub(*bits)?;
        i64::try_from((*value << shift).cast_signed() >> shift).ok()
    };
    let step = |place: Place, index: Value, size: Option<u64>| {
        let distance = constant(index)
            .zip(size.and_then(|s| i64::try_from(s).ok()))
            .and_then(|(index, size)| index.checked_mul(size));
        distance.map_or(place.adrift(), |by| place.moved(by))
    };
    let mut container = elem;
    for (position, &index) in indices.iter().enumerate() {
        if position == 0 {
            place = step(place, index, size_of(container));
            continue;
        }
        let Type::Aggregate(a) = container else { return place.adrift() };
        match types.get(a) {
            AggregateType::Array { elem, len } => {
                // Rows of an array of arrays lie in the whole of it.
                let size = size_of(*elem);
                let total = size.and_then(|s| s.checked_mul(*len));
                if let (true, Some(total)) = (place.within.1 >= super::memory::FAR, total) {
                    place = place.narrowed(total);
                }
                place = step(place, index, size);
                container = *elem;
            }
            AggregateType::Struct { .. } => {
                let member = func.as_int(index).and_then(|m| u64::try_from(m).ok());
                let layout = module.layout.struct_layout(types, container);
                let found = member.zip(layout).and_then(|(member, (_, offsets))| {
                    Some((*offsets.get(usize::try_from(member).ok()?)?, types.member(container, member)?))
                });
                let Some((offset, ty)) = found else { return place.adrift() };
                place = place.moved(offset as i64);
                // An array without a length at the end has any.
                place = match size_of(ty) {
                    Some(0) => Place { within: (place.lo, super::memory::FAR), ..place },
                    Some(size) => place.narrowed(size),
                    None => place,
                };
                container = ty;
            }
        }
    }
    place
}
