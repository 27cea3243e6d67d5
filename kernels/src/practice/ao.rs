//! Three spheres on a plane.

use crate::{Argument, Inputs, Kernel, Size, Values};

/// Pixels in a row, as in the kernel.
const WIDTH: u32 = 256;
/// Centers and radii of the spheres, as in aobench.
const SPHERES: [f32; 12] = [-2.0, 0.0, -3.5, 0.5, -0.5, 0.0, -3.0, 0.5, 1.0, 0.0, -2.2, 0.5];
/// The height of the plane.
const PLANE: f64 = -0.5;

/// Ambient occlusion.
pub const KERNEL: Kernel = Kernel {
    name: "ao",
    about: "ambient occlusion of spheres on a plane: divergent branches in uniform loops",
    file: "ao.rs",
    source: include_str!("../../ao.rs"),
    c: include_str!("../../ao.c"),
    by_hand: None,
    function: "ao",
    args: Some("i=index"),
    data: &["spheres"],
    make,
};

/// A view of the spheres, 90° wide and high.
fn make(_data: usize, size: Size, _seed: u64) -> Inputs {
    let height = size.pick(4, 64, 512);
    Inputs {
        range: (0, i64::from(WIDTH * height)),
        arguments: vec![
            Argument::Array(Values::F32(SPHERES.into())),
            Argument::Float(PLANE),
            Argument::Int(size.pick(1, 2, 2)),
            Argument::Float(-1.0),
            Argument::Float(1.0),
            Argument::Float(2.0 / f64::from(WIDTH)),
            Argument::Float(-2.0 / f64::from(height)),
        ],
    }
}
