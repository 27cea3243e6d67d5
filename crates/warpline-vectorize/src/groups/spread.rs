//! Arrays of work-items that live across cuts, laid out over the group.
//!
//! Such an array is a slot, and lanes would access it an array apart. Where all its accesses are of elements of one
//! size, equal elements of all work-items lie side by side instead, as in [private
//! memory](crate::private_memory) that ends within a region: the address of element e of work-item i is that of the
//! slot, and `(e * count + i)` elements behind. So each step from one element to another is multiplied by the number
//! of work-items of a group, and the slots of neighbours are one element apart.

use std::collections::HashMap;

use warpline_ir::{BinaryOp, CastOp, Function, Inst, InstFlags, Module, Op, Type, Users, Value};

use super::crossing::{Crossing, Kept};

/// The size of an element of each array that is spread over the group.
pub(super) type Spread = HashMap<Value, u64>;

/// Which of the arrays that live across cuts can be laid out so.
pub(super) fn arrays(module: &Module, func: &Function, crossing: &Crossing) -> Spread {
    let users = Users::of(func);
    let kept = crossing.kept.iter().filter(|(_, kept)| matches!(kept, Kept::Array(_)));
    kept.filter_map(|(&v, _)| Some((v, element(module, func, &users, v)?))).collect()
}

/// The one size of all accesses to an array, if nothing else is done with its address than steps of whole elements.
fn element(module: &Module, func: &Function, users: &Users, array: Value) -> Option<u64> {
    let mut size = None;
    let mut steps = Vec::new();
    let mut work = vec![array];
    while let Some(address) = work.pop() {
        for &i in users.get(address) {
            let data = &func.insts[i];
            match func.accessed(i) {
                Some(accessed) => {
                    // Its address must not be what is stored.
                    let is_scalar = matches!(accessed.ty, Type::Int(_) | Type::F32 | Type::F64);
                    if accessed.writes && data.args[0] == address || !is_scalar || accessed.access.is_volatile
                    {
                        return None;
                    }
                    let bytes = module.layout.store_size(&module.types, accessed.ty)?;
                    if *size.get_or_insert(bytes) != bytes || !bytes.is_power_of_two() {
                        return None;
                    }
                }
                None => {
                    let (&Op::Gep(ty), &[base, index]) = (&data.op, &data.args[..]) else { return None };
                    if base != address || index == address {
                        return None;
                    }
                    steps.push((ty, index));
                    work.push(data.results[0]);
                }
            }
        }
    }
    let size = size?;
    let is_whole = |&(ty, index): &(Type, Value)| {
        let step = module.layout.alloc_size(&module.types, ty)?;
        let by = func.as_int(index).map_or(1, |x| x as u64);
        step.wrapping_mul(by).is_multiple_of(size).then_some(())
    };
    steps.iter().all(|s| is_whole(s).is_some()).then_some(size)
}

/// Multiplies steps in arrays by the number of work-items, which is the product of `sizes`.
pub(super) fn lay_out(func: &mut Function, spread: &Spread, sizes: [Value; 3]) {
    let first = func.block_insts(func.entry()).next().expect("blocks end");
    let product = |func: &mut Function, a: Value, b: Value| {
        func.insert_value_before(first, Op::Binary(BinaryOp::Mul), &[a, b], Type::Int(64), InstFlags::empty())
    };
    let plane = product(func, sizes[0], sizes[1]);
    let count = product(func, plane, sizes[2]);
    let users = Users::of(func);
    for (&array, &size) in spread {
        let mut work = vec![array];
        while let Some(address) = work.pop() {
            for &i in users.get(address) {
                match &mut func.insts[i].op {
                    Op::Load(access) | Op::Store(access) => access.align = access.align.min(size),
                    _ => {
                        work.push(func.insts[i].results[0]);
                        step_over(func, i, count);
                    }
                }
            }
        }
    }
}

/// Multiplies the index of an address.
fn step_over(func: &mut Function, i: Inst, count: Value) {
    let wide = Type::Int(64);
    let index = func.insts[i].args[1];
    let index = match func.ty(index) == wide {
        true => index,
        false => func.insert_value_before(i, Op::Cast(CastOp::SExt), &[index], wide, InstFlags::empty()),
    };
    let far =
        func.insert_value_before(i, Op::Binary(BinaryOp::Mul), &[index, count], wide, InstFlags::empty());
    func.insts[i].args[1] = far;
    func.insts[i].flags = InstFlags::empty();
}
