//! Values that are equal since they are made alike of equal values (paper 1, Figure 3a).
//!
//! Two instructions without effects that do the same to congruent operands yield the same: in SSA form what a value is
//! is a function of what its operands are at present, wherever its definition dominates. So of two congruent values
//! that are both visible somewhere each can stand for the other. Numbers are not made for floating-point results, the
//! payload of whose NaNs may differ each time, nor where undef is read, which each reader sees as it likes.

use std::collections::HashMap;

use cranelift_entity::SecondaryMap;
use warpline_ir::{BinaryOp, Constant, Function, Op, Type, Value};

/// For each value the first that it is congruent with.
pub(super) struct Congruence {
    first: SecondaryMap<Value, Option<Value>>,
}

impl Congruence {
    /// The congruent values of a function. Linear in it.
    pub(super) fn of(func: &Function) -> Congruence {
        let mut found = Congruence { first: SecondaryMap::new() };
        let mut made: HashMap<(&Op, Vec<Value>, Type), Value> = HashMap::new();
        for inst in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
            let data = &func.insts[inst];
            let [result] = data.results[..] else { continue };
            let is_plain = matches!(func.ty(result), Type::Int(_) | Type::Ptr(_));
            if !is_plain || !is_number_maker(&data.op) || data.args.iter().any(|&a| may_vary(func, a)) {
                continue;
            }
            let mut args: Vec<Value> = data.args.iter().map(|&a| found.first(a)).collect();
            if is_commutative(&data.op) {
                args.sort_unstable();
            }
            let first = *made.entry((&data.op, args, func.ty(result))).or_insert(result);
            if first != result {
                found.first[result] = Some(first);
            }
        }
        found
    }

    /// Whether two values are equal wherever both are visible, unless one is poison.
    pub(super) fn same(&self, a: Value, b: Value) -> bool {
        self.first(a) == self.first(b)
    }

    fn first(&self, v: Value) -> Value {
        self.first[v].unwrap_or(v)
    }
}

/// Whether each read of a value may yield something else.
fn may_vary(func: &Function, v: Value) -> bool {
    matches!(func.constant(v), Some(Constant::Undef(_) | Constant::Poison(_)))
}

fn is_number_maker(op: &Op) -> bool {
    matches!(op, Op::Binary(_) | Op::ICmp(_) | Op::FCmp(_) | Op::Cast(_) | Op::Gep(_) | Op::Select)
}

fn is_commutative(op: &Op) -> bool {
    matches!(op, Op::Binary(BinaryOp::Add | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor))
}
