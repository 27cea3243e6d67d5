//! A volume that a wave goes through.

use crate::{Argument, Inputs, Kernel, Random, Size, Values};

/// Planes at either end that have no neighbours.
const REACH: usize = 4;
/// The coefficients of the second derivative of eighth order, that of the point itself first (Fornberg: Generation of
/// Finite Difference Formulas on Arbitrarily Spaced Grids, 1988, Table 1).
const WEIGHTS: [f64; REACH + 1] = [-205.0 / 72.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0];

/// One step.
pub const KERNEL: Kernel = Kernel {
    name: "stencil",
    about: "a step of a wave through a volume: contiguous neighbours",
    file: "stencil.rs",
    source: include_str!("../../stencil.rs"),
    c: include_str!("../../stencil.c"),
    by_hand: None,
    function: "stencil",
    args: Some("i=index"),
    data: &["random"],
    make,
};

/// Random amplitudes and speeds, the latter small enough for the step to be stable.
fn make(_data: usize, size: Size, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let row = size.pick(32, 128, 512);
    let plane = row * row;
    let planes = size.pick(96, 256, 512);
    let points = plane * planes;
    let mut field = |from, to| Values::F32((0..points).map(|_| random.between(from, to) as f32).collect());
    let arguments = vec![
        Argument::Int(row as i64),
        Argument::Int(plane as i64),
        Argument::Array(Values::F32(WEIGHTS.map(|w| w as f32).into())),
        Argument::Array(field(0.05, 0.2)),
        Argument::Array(field(-1.0, 1.0)),
        Argument::Array(field(-1.0, 1.0)),
        Argument::Array(Values::F32(vec![0.0; points])),
    ];
    Inputs { range: ((REACH * plane) as i64, ((planes - REACH) * plane) as i64), arguments }
}
