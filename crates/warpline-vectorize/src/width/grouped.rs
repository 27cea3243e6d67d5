//! How groups of lanes execute a range of indices or the iterations of a loop.

use warpline_ir::{Effects, Function, Inst, Module, Op, Symbol, Type};
use warpline_uniformity::rules::lane_op;
use warpline_uniformity::shape::ArgShape;

use crate::call_graph::has_cross_lane_operations;
use crate::known_calls::has_cheap_vector_form;
use crate::options::Options;

/// What is executed by groups of lanes, of which the last may be smaller.
#[derive(Copy, Clone, Debug)]
pub(super) struct Grouped {
    /// How often, if that is known.
    pub(super) rounds: Option<u64>,
    /// How often on average, if a profile says so.
    pub(super) expected: Option<f64>,
    /// Whether what is left over may be executed in smaller groups.
    pub(super) divisible: bool,
    /// Whether it asks about the other lanes, so that no scalar program can take its place.
    pub(super) asks: bool,
    /// Whether it holds values of earlier ones.
    pub(super) holds: bool,
    /// Cycles that a scalar iteration waits for what the one before hands on.
    pub(super) carried: f64,
    /// Cycles that a group of lanes waits for the one before.
    pub(super) chain: f64,
    /// Cycles that each lane waits for the one before.
    pub(super) in_order: f64,
    /// Cycles that it takes to combine the lanes behind the last group, each time that their number doubles.
    pub(super) combine: f64,
}

impl Grouped {
    /// How often, if that is known or expected to be less than one group.
    pub(super) fn rounds_below(&self, width: u32) -> Option<u64> {
        let few = self.expected.filter(|&n| n < f64::from(width));
        self.rounds.or(few.map(|n| (n.round() as u64).max(1)))
    }

    /// Cycles that a group of so many lanes waits for the one before.
    pub(super) fn waits(&self, width: u32) -> f64 {
        self.chain.max(self.in_order * f64::from(width))
    }

    /// Cycles that it takes to make one value of so many lanes behind the last group.
    pub(super) fn behind(&self, width: u32) -> f64 {
        self.combine * f64::from(width.max(1).ilog2())
    }

    /// A kernel with an index, for which there is a driver over a range. Where it asks which lanes are in its group,
    /// or calls what may tell anyone, that group must be as large as all.
    pub(super) fn of_kernel(module: &Module, func: &Function, options: &Options<'_>) -> Option<Grouped> {
        let told = Effects::CONVERGENT | Effects::VOLATILE | Effects::ATOMIC;
        let may_ask = |i: Inst| {
            let data = &func.insts[i];
            let harmless = |s: Symbol| {
                let name = &module.symbols[s].name;
                let ty = data.result().map_or(Type::Void, |v| func.ty(v));
                // Copies and fills say themselves whether they are volatile.
                let quiet = !name.starts_with("llvm.mem")
                    || data.args.get(3).is_some_and(|&volatile| func.as_int(volatile) == Some(0));
                quiet && (name.starts_with("llvm.") || has_cheap_vector_form(name, ty).is_some())
            };
            let calls = matches!(&data.op, Op::Call(call) if !call.callee.is_some_and(harmless));
            calls || data.effects().intersects(told) || lane_op(module, func, i).is_some()
        };
        let mut insts = func.layout.iter().flat_map(|&b| func.block_insts(b));
        let has_range = options.args.contains(&ArgShape::Index);
        let asks = has_cross_lane_operations(module, func);
        has_range.then(|| Grouped {
            rounds: None,
            expected: options.indices.map(|n| n as f64),
            divisible: !insts.any(may_ask),
            asks,
            holds: false,
            carried: 0.0,
            chain: 0.0,
            in_order: 0.0,
            combine: 0.0,
        })
    }
}
