//! How many low bits of integers and pointers are zero: what values are multiples of.
//!
//! Said of every lane in which the value is not poison, and of the ghost (see [`shape`](super)): only facts are used
//! that need no poison-generating flag. The number of low zeros of a result of arithmetic modulo 2^N follows from
//! those of the operands; at φs it is the least. Solved from above, so a pointer that a loop advances by 32 bytes
//! stays a multiple of 32.

use cranelift_entity::SecondaryMap;
use warpline_analysis::DfsOrder;

use warpline_dataflow::linear;
use warpline_ir::{
    BinaryOp, Block, CastOp, Constant, Function, Inst, Module, Op, SymbolKind, Type, Value, ValueDef,
};

/// After so many sweeps nothing is said of φs any more.
const MAX_SWEEPS: usize = 8;

/// What is said of zero.
const ALL: u8 = 63;

/// The low bits that are zero in each scalar integer and pointer of a function, at most 63. `multiple` says how many
/// are in a parameter.
pub fn low_zeros(
    module: &Module,
    func: &Function,
    multiple: impl Fn(Value) -> u32,
) -> SecondaryMap<Value, u8> {
    let mut known = SecondaryMap::new();
    for (v, data) in func.values.iter() {
        known[v] = match data.def {
            ValueDef::Param(_) => multiple(v).min(ALL.into()) as u8,
            ValueDef::Const(_) => func.constant(v).map_or(0, |c| constant(module, c)),
            ValueDef::Inst(..) => 0,
        };
    }
    let (graph, _) = func.graph();
    let order: Vec<Block> = DfsOrder::compute(&graph).reverse_post_order().map(Block::from).collect();
    let insts: Vec<Inst> = order.iter().flat_map(|&b| func.block_insts(b)).collect();
    for &v in insts.iter().flat_map(|&i| &func.insts[i].results) {
        known[v] = if matches!(func.ty(v), Type::Int(_) | Type::Ptr(_)) { ALL } else { 0 };
    }
    let mut solver = Solver { module, func, known };
    for sweep in 0.. {
        if sweep == MAX_SWEEPS {
            for &i in insts.iter().filter(|&&i| func.insts[i].op == Op::Phi) {
                solver.known[func.insts[i].results[0]] = 0;
            }
        }
        // A last sweep without φs sees every definition before its uses.
        if !solver.sweep(&insts) || sweep > MAX_SWEEPS {
            break;
        }
    }
    solver.known
}

/// The alignment of what lies at a distance of so many bytes from something aligned: the greatest power of two that
/// divides both.
pub fn at_distance(align: u64, bytes: i64) -> u64 {
    match bytes {
        0 => align,
        _ => align.min(1 << bytes.trailing_zeros()),
    }
}

fn constant(module: &Module, c: &Constant) -> u8 {
    let zeros = match c {
        Constant::Int { value, .. } => value.trailing_zeros(),
        Constant::Null(_) | Constant::Poison(_) => ALL.into(),
        Constant::Address { symbol, offset, .. } => match module.symbols[*symbol].kind {
            SymbolKind::Global { align, .. } => at_distance(align.max(1), *offset).trailing_zeros(),
            _ => 0,
        },
        _ => 0,
    };
    zeros.min(ALL.into()) as u8
}

struct Solver<'a> {
    module: &'a Module,
    func: &'a Function,
    known: SecondaryMap<Value, u8>,
}

impl Solver<'_> {
    /// Evaluates everything once; whether anything changed.
    fn sweep(&mut self, insts: &[Inst]) -> bool {
        let mut changed = false;
        for &i in insts {
            let Some(result) = self.func.insts[i].result() else { continue };
            if self.known[result] > 0 {
                let found = self.zeros(i, result).min(self.known[result]);
                changed |= found != self.known[result];
                self.known[result] = found;
            }
        }
        changed
    }

    fn zeros(&self, inst: Inst, result: Value) -> u8 {
        let data = &self.func.insts[inst];
        let of = |n: usize| data.args.get(n).map_or(0, |&a| u32::from(self.known[a]));
        let found = match data.op {
            Op::Phi => {
                let position = self.func.phi_position(inst);
                let edges = &self.func.blocks[data.block].preds;
                let operand = |k: usize| {
                    edges.iter().map(move |&e| self.func.edges[e].args.get(k).map_or(0, |&a| self.known[a]))
                };
                position.and_then(|k| operand(k).min()).unwrap_or(0).into()
            }
            Op::Binary(op) => binary(op, of(0), of(1), || self.func.as_int(data.args[1])),
            Op::Cast(CastOp::ZExt | CastOp::SExt | CastOp::Trunc | CastOp::PtrToInt | CastOp::IntToPtr) => {
                of(0)
            }
            Op::Select => of(1).min(of(2)),
            Op::Alloca { align, .. } => align.max(1).trailing_zeros(),
            Op::Gep(_) if self.func.ty(result).is_ptr() => self.address(inst, of(0)),
            _ => 0,
        };
        found.min(ALL.into()) as u8
    }

    /// An address, given the low zeros of its base.
    fn address(&self, inst: Inst, base: u32) -> u32 {
        let Some((terms, offset)) = linear::step(self.module, self.func, inst) else { return 0 };
        let terms = terms.iter().map(|t| {
            let zeros = u32::from(self.known[t.value]);
            zeros.saturating_add(t.scale.trailing_zeros())
        });
        let offset = if offset == 0 { ALL.into() } else { offset.trailing_zeros() };
        terms.chain([offset, base]).min().unwrap_or(0)
    }
}

/// The low zeros of a result, given those of the operands. `second` is the second operand if it is constant.
fn binary(op: BinaryOp, a: u32, b: u32, second: impl Fn() -> Option<u128>) -> u32 {
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Or | BinaryOp::Xor => a.min(b),
        BinaryOp::And => a.max(b),
        BinaryOp::Mul => a.saturating_add(b),
        // Zeros are shifted in, whatever the amount.
        BinaryOp::Shl => a.saturating_add(second().map_or(0, |c| c.min(63) as u32)),
        BinaryOp::LShr | BinaryOp::AShr => second().map_or(0, |c| a.saturating_sub(c.min(63) as u32)),
        // `x - q·y`.
        BinaryOp::URem | BinaryOp::SRem => a.min(b),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_zeros_of_results_are_there_for_all_operands_of_five_bits() {
        let zeros = |x: u32| if x == 0 { 63 } else { x.trailing_zeros() };
        let signed = |x: u32| (x as i32) << 27 >> 27;
        let mut found = 0;
        for (a, b) in (0..32u32).flat_map(|a| (0..32u32).map(move |b| (a, b))) {
            let results = [
                (BinaryOp::Add, Some(a.wrapping_add(b))),
                (BinaryOp::Sub, Some(a.wrapping_sub(b))),
                (BinaryOp::Or, Some(a | b)),
                (BinaryOp::Xor, Some(a ^ b)),
                (BinaryOp::And, Some(a & b)),
                (BinaryOp::Mul, Some(a.wrapping_mul(b))),
                (BinaryOp::Shl, (b < 5).then(|| a << b)),
                (BinaryOp::LShr, (b < 5).then(|| a >> b)),
                (BinaryOp::AShr, (b < 5).then(|| (signed(a) >> b) as u32)),
                (BinaryOp::URem, a.checked_rem(b)),
                (BinaryOp::SRem, signed(a).checked_rem(signed(b)).map(|x| x as u32)),
            ];
            for (op, result) in results {
                let Some(result) = result.map(|x| x & 31) else { continue };
                // All that may be known of the operands, not only the most.
                for (known_a, known_b) in
                    (0..=zeros(a).min(5)).flat_map(|x| (0..=zeros(b).min(5)).map(move |y| (x, y)))
                {
                    for second in [None, Some(u128::from(b))] {
                        let claimed = binary(op, known_a, known_b, || second);
                        assert!(
                            result == 0 || claimed <= result.trailing_zeros(),
                            "{op:?} {a} {b}: {claimed}"
                        );
                        found += u32::from(claimed > 0);
                    }
                }
            }
        }
        assert!(found > 1000, "{found} claims say something");
    }
}
