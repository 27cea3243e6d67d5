//! How each value of a lane program is represented.

use cranelift_entity::SecondaryMap;
use warpline_analysis::DfsOrder;

use warpline_ir::{Block, Function, Inst, LaneOp, Op, Value, ValueDef};

use super::Input;

/// The representation of a value.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Rep {
    /// One scalar for all lanes.
    Uniform,
    /// The scalar that lane 0 would compute; lane *k* has *k* times the step more, modulo the width.
    Strided(i64),
    /// A vector.
    #[default]
    Varying,
}

impl Rep {
    /// Whether a scalar represents the value.
    pub(crate) fn is_scalar(self) -> bool {
        self != Rep::Varying
    }

    fn join(self, other: Rep) -> Rep {
        if self == other { self } else { Rep::Varying }
    }
}

/// Representations of all values. Those that the analysis has seen follow their shapes, the ones that the
/// transforms added follow their operands (optimistically through φs).
pub(super) fn assign(input: &Input<'_>) -> SecondaryMap<Value, Rep> {
    let func = input.func;
    let mut reps: SecondaryMap<Value, Option<Rep>> = SecondaryMap::new();
    for (v, data) in func.values.iter() {
        let known = match data.def {
            ValueDef::Const(_) => Some(Rep::Uniform),
            _ if input.known.contains(v) => Some(match input.shapes[v].anchored_step() {
                Some(0) => Rep::Uniform,
                Some(step) => Rep::Strided(step),
                None => Rep::Varying,
            }),
            // The entry mask.
            ValueDef::Param(_) => Some(Rep::Varying),
            ValueDef::Inst(..) => None,
        };
        reps[v] = known;
    }
    let (graph, _) = func.graph();
    let order: Vec<Block> = DfsOrder::compute(&graph).reverse_post_order().map(Block::from).collect();
    let added: Vec<Inst> = order
        .iter()
        .flat_map(|&b| func.block_insts(b))
        .filter(|&i| func.insts[i].result().is_some_and(|v| !input.known.contains(v)))
        .collect();
    loop {
        let mut changed = false;
        for &i in &added {
            let Some(v) = func.insts[i].result() else { continue };
            let new = transfer(func, &reps, i);
            // Representations only fall, from unknown to a scalar to varying.
            let joined = match (reps[v], new) {
                (Some(old), Some(new)) => Some(old.join(new)),
                (old, new) => old.or(new),
            };
            changed |= joined != reps[v];
            reps[v] = joined;
        }
        if !changed {
            break;
        }
    }
    let mut result = SecondaryMap::new();
    for v in func.values.keys() {
        result[v] = reps[v].unwrap_or(Rep::Uniform);
    }
    result
}

/// The representation of a result; `None` while nothing is known of the operands.
fn transfer(func: &Function, reps: &SecondaryMap<Value, Option<Rep>>, i: Inst) -> Option<Rep> {
    let data = &func.insts[i];
    // Poison agrees with everything.
    let of = |v: Value| if func.is_poison(v) { None } else { reps[v] };
    let join = |a: Option<Rep>, b: Option<Rep>| match (a, b) {
        (Some(a), Some(b)) => Some(a.join(b)),
        (a, b) => a.or(b),
    };
    match data.op {
        Op::Phi => {
            let position = func.phi_position(i)?;
            func.blocks[data.block].preds.iter().map(|&e| of(func.edges[e].args[position])).fold(None, join)
        }
        Op::Lane(LaneOp::MaskAny) => Some(Rep::Uniform),
        Op::Lane(LaneOp::BlendAny) => join(of(data.args[1]), of(data.args[2])),
        Op::Lane(LaneOp::Blend) => match of(data.args[0])? {
            Rep::Uniform => join(of(data.args[1]), of(data.args[2])),
            _ => Some(Rep::Varying),
        },
        _ => {
            let all = data.args.iter().map(|&a| of(a)).fold(Some(Rep::Uniform), join)?;
            Some(if all == Rep::Uniform { Rep::Uniform } else { Rep::Varying })
        }
    }
}
