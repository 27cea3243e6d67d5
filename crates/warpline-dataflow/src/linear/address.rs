//! Addresses as linear expressions: which of them differ by a constant in every lane.

use smallvec::SmallVec;

use super::sum::{Arithmetic, Extension, Sum, Term};
use warpline_ir::{AggregateType, Function, Inst, InstFlags, Module, Op, Type, Value};

/// How many steps from pointer to pointer are followed.
const MAX_STEPS: u32 = 12;

/// Offsets of exact addresses are less, so that no sum of them wraps.
const MAX_EXACT: u64 = 1 << 40;

/// `root + Σ term + offset`, modulo the width of address arithmetic. Holds in every lane in which the address is not
/// poison; what lane 0's scalar yields where that lane is not there (the ghost) may be something else.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Address {
    /// A pointer.
    pub root: Value,
    /// Numbers, in order, each once.
    pub terms: SmallVec<[Term; 4]>,
    /// Bytes.
    pub offset: i64,
}

impl Address {
    /// Takes an address apart as far as its arithmetic is understood. `None` if the value is no scalar pointer, or
    /// one whose arithmetic is wider than 64 bits.
    pub fn of(module: &Module, func: &Function, address: Value) -> Option<Address> {
        Self::by(Arithmetic::Modular, module, func, address)
    }

    /// Takes an address apart only where nothing wraps: the sum is the address itself, not just modulo its width, and
    /// terms are signed numbers. So much less is taken apart: `getelementptr` that promises to stay in bounds, sums
    /// and products that promise not to wrap. `None` also if a constant is huge.
    pub fn exactly(module: &Module, func: &Function, address: Value) -> Option<Address> {
        Self::by(Arithmetic::Exact, module, func, address)
    }

    fn by(arithmetic: Arithmetic, module: &Module, func: &Function, address: Value) -> Option<Address> {
        let Type::Ptr(space) = func.ty(address) else { return None };
        let bits = module.layout.index_bits(space);
        if bits > 64 {
            return None;
        }
        let mut sum = Sum::number(bits, 0);
        let mut root = address;
        for _ in 0..MAX_STEPS {
            let Some((base, with)) =
                func.def_inst(root).and_then(|i| add_gep(arithmetic, module, func, i, &sum))
            else {
                break;
            };
            (root, sum) = (base, with);
        }
        let (terms, offset) = sum.into_parts();
        Some(Address { root, terms, offset })
    }

    /// What must be added to this address to get the other one, if that is the same number in every lane.
    pub fn distance(&self, other: &Address) -> Option<i64> {
        let same = self.root == other.root && self.terms == other.terms;
        same.then(|| other.offset.checked_sub(self.offset)).flatten()
    }
}

/// Whether two addresses are the same in every lane in which neither is poison.
pub fn same_address(module: &Module, func: &Function, a: Value, b: Value) -> bool {
    let place = |v: Value| Address::of(module, func, v);
    a == b || place(a).zip(place(b)).is_some_and(|(a, b)| a.distance(&b) == Some(0))
}

/// What a `getelementptr` adds to its base: numbers, and bytes. `None` if that is not understood.
pub fn step(module: &Module, func: &Function, gep: Inst) -> Option<(SmallVec<[Term; 4]>, i64)> {
    let Type::Ptr(space) = func.ty(*func.insts[gep].results.first()?) else { return None };
    let bits = module.layout.index_bits(space);
    if bits != 64 {
        return None;
    }
    let (_, sum) = add_gep(Arithmetic::Modular, module, func, gep, &Sum::number(bits, 0))?;
    Some(sum.into_parts())
}

/// The base of a `getelementptr`, and a sum with what that adds to it. `None` if it is no such instruction, or not
/// understood.
fn add_gep(
    arithmetic: Arithmetic,
    module: &Module,
    func: &Function,
    gep: Inst,
    sum: &Sum,
) -> Option<(Value, Sum)> {
    let data = &func.insts[gep];
    let Op::Gep(elem) = data.op else { return None };
    let stays = data.flags.intersects(InstFlags::INBOUNDS | InstFlags::NUSW);
    if arithmetic == Arithmetic::Exact && !stays {
        return None;
    }
    let types = &module.types;
    let mut container = elem;
    let mut sum = sum.clone();
    for (position, &index) in data.args.iter().enumerate().skip(1) {
        if position > 1 {
            let Type::Aggregate(a) = container else { return None };
            match types.get(a) {
                AggregateType::Array { elem, .. } => container = *elem,
                AggregateType::Struct { .. } => {
                    let member = u64::try_from(func.as_int(index)?).ok()?;
                    let (_, offsets) = module.layout.struct_layout(types, container)?;
                    let offset = *offsets.get(usize::try_from(member).ok()?)?;
                    sum = sum.offset(offset as i64);
                    container = types.member(container, member)?;
                    continue;
                }
            }
        }
        let size = module.layout.alloc_size(types, container)?;
        let Type::Int(width) = func.ty(index) else { return None };
        let extension = if width < sum.bits() { Extension::Signed } else { Extension::None };
        sum = sum.and_by(arithmetic, func, index, extension, i64::try_from(size).ok()?)?;
    }
    let small = sum.constant().unsigned_abs() < MAX_EXACT;
    (arithmetic == Arithmetic::Modular || small).then_some((data.args[0], sum))
}
