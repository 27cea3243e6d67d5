//! Members of aggregates: what an `extractvalue` really depends on.

use warpline_ir::{Function, Inst, Op, Value};

/// How many instructions are looked through.
const MAX_STEPS: usize = 32;

/// Where a member of an aggregate comes from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// It is this value, or a part of it that cannot be told from the rest.
    Value(Value),
    /// It is, or is in, this member of the instruction's result.
    Member(Inst, u32),
}

/// Follows a member of an aggregate through the instructions that put aggregates together and take them apart.
pub(super) fn origin(func: &Function, aggregate: Value, path: &[u32]) -> Origin {
    let mut at = aggregate;
    let mut path = path.to_vec();
    for _ in 0..MAX_STEPS {
        let (Some(inst), Some(&first)) = (func.def_inst(at), path.first()) else { return Origin::Value(at) };
        let data = &func.insts[inst];
        match (&data.op, &data.args[..]) {
            (Op::InsertValue(to), &[base, element]) => {
                let common = to.iter().zip(&path).take_while(|(a, b)| a == b).count();
                if common == to.len() {
                    at = element;
                    path.drain(..common);
                } else if common == path.len() {
                    return Origin::Value(at);
                } else {
                    at = base;
                }
            }
            (Op::ExtractValue(from), &[base]) => {
                path.splice(0..0, from.iter().copied());
                at = base;
            }
            (Op::Phi | Op::Select | Op::Freeze, _) => return Origin::Value(at),
            _ => return Origin::Member(inst, first),
        }
    }
    Origin::Value(at)
}
