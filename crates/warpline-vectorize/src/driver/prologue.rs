//! Where whole groups begin.
//!
//! A vector that lies across two cache lines takes two accesses. Allocators align memory to 16 bytes, and ranges
//! begin where they like, so that as a rule every vector that is as wide as a line lies across two. Where a kernel
//! does little but access neighbours, the indices before the first one whose element lies at a multiple of a vector
//! register's bytes are a part of their own, the *prologue*, and whole groups begin behind it.
//!
//! The element is that of the first store to consecutive places whose address can be computed before, from the
//! parameters alone; in arrays that were allocated alike, what is loaded for the same index is aligned then as well.
//! Where groups begin must make no difference: a kernel that uses cross-lane operations has no prologue. So an address
//! that is poison, or was meant for an index at which nothing is stored, does no harm.

use std::sync::Arc;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::call_graph::functions_with_cross_lane_operations;
use crate::uniform_allocas;
use warpline_ir::{BinaryOp, CastOp, FuncId, Function, InstFlags, LaneOp, Module, Op, Type, Value, ValueDef};
use warpline_uniformity::shape::{ArgShape, Shape};

use crate::builder::{Builder, I64};

/// For how many groups of all lanes it is done at least.
pub(crate) const MIN_GROUPS: i64 = 32;

/// The bytes of a cache line.
const LINE: u64 = 64;

/// How many instructions compute an address at most.
const MAX_INSTS: usize = 64;

/// Adds a function with the parameters of a kernel for `lanes` lanes, which says how many indices there are from a
/// given one to the next whose element is at a multiple of `bytes`, a power of two, or of a cache line if that is
/// less: not as many as lanes. What varies is not looked at. `None` if the kernel stores nothing at an address that
/// is known before.
pub(crate) fn make_prologue(
    module: &mut Module,
    kernel: FuncId,
    args: &[ArgShape],
    lanes: u32,
    bytes: u64,
    name: &str,
) -> Option<FuncId> {
    let func = module.functions[kernel].clone();
    let consecutive = stores(module, &func, args);
    let mut b = Builder::new(module, name);
    b.func.ret = I64;
    let mut slice = Slice { func: &func, made: SecondaryMap::new(), left: MAX_INSTS };
    for (&p, &shape) in func.params.iter().zip(args) {
        let own = b.func.add_param(func.ty(p), &func.values[p].name);
        slice.made[p] = Some(own).filter(|_| shape != ArgShape::Varying).into();
    }
    let (address, size) =
        consecutive.into_iter().find_map(|(address, size)| Some((slice.compute(&mut b, address)?, size)))?;
    let bytes = bytes.min(LINE).min(size * u64::from(lanes));
    let number = b.cast(CastOp::PtrToInt, address, I64);
    let number = b.value(Op::Freeze, &[number], I64);
    let zero = b.int(64, 0);
    let missing = b.binary(BinaryOp::Sub, zero, number, InstFlags::empty());
    let mask = b.int(64, bytes as i64 - 1);
    let missing = b.binary(BinaryOp::And, missing, mask, InstFlags::empty());
    let log = b.int(64, size.ilog2().into());
    let prologue = b.binary(BinaryOp::LShr, missing, log, InstFlags::empty());
    b.func.set_terminator(b.at, Op::Ret, &[prologue], &[]);
    Some(b.finish())
}

/// The addresses of the stores by which lanes store side by side, and how many bytes each.
fn stores(module: &Module, func: &Function, args: &[ArgShape]) -> Vec<(Value, u64)> {
    let lane_callees = Arc::new(functions_with_cross_lane_operations(module, func));
    let uniformity = uniform_allocas::analyse_anew(module, func, args, &lane_callees);
    let insts = func.layout.iter().flat_map(|&b| func.block_insts(b));
    let stored =
        insts.filter_map(|i| func.accessed(i)).filter(|a| a.writes && func.ty(a.address) == Type::PTR);
    let sized = stored.filter_map(|a| Some((a.address, module.layout.store_size(&module.types, a.ty)?)));
    let side_by_side = |&(address, size): &(Value, u64)| {
        size.is_power_of_two()
            && size <= 8
            && matches!(uniformity.shape(address), Shape::Strided(s) if s.step == size.cast_signed())
    };
    sized.filter(side_by_side).collect()
}

/// What a value is computed from, again.
struct Slice<'a> {
    func: &'a Function,
    /// What stands for values of the kernel.
    made: SecondaryMap<Value, PackedOption<Value>>,
    /// How many instructions may be added.
    left: usize,
}

impl Slice<'_> {
    /// The value in the first lane, unless it depends on memory, on the way that was taken, or on what varies.
    fn compute(&mut self, b: &mut Builder, v: Value) -> Option<Value> {
        if let Some(made) = self.made[v].expand() {
            return Some(made);
        }
        let made = match self.func.values[v].def {
            ValueDef::Param(_) => return None,
            ValueDef::Const(_) => b.func.constant_value(self.func.constant(v)?.clone()),
            ValueDef::Inst(i, _) => {
                let data = &self.func.insts[i];
                let ty = self.func.ty(v);
                let pure = match &data.op {
                    Op::Binary(op) => !op.is_int_division(),
                    Op::Cast(_) | Op::Gep(_) | Op::ICmp(_) | Op::Select | Op::Freeze => true,
                    Op::Lane(LaneOp::LaneIndex) => return Some(b.int(ty.int_bits()?, 0)),
                    _ => false,
                };
                self.left = self.left.checked_sub(1).filter(|_| pure)?;
                let args = data.args.iter().map(|&a| self.compute(b, a)).collect::<Option<Vec<Value>>>()?;
                b.value(data.op.clone(), &args, ty)
            }
        };
        self.made[v] = Some(made).into();
        Some(made)
    }
}
