//! A cloud.

use super::camera::{camera, unit};
use crate::{Argument, Inputs, Kernel, Random, Size, Values};

/// Pixels in a row, as in the kernel.
const WIDTH: u32 = 256;
/// Balls that the cloud is made of.
const BALLS: usize = 24;
/// The density in the middle of a ball that is the whole grid, for a path through it.
const DENSITY: f64 = 12.0;

/// A march through a volume.
pub const KERNEL: Kernel = Kernel {
    name: "volume",
    about: "marches through a grid of densities: divergent loops, gathers",
    file: "volume.rs",
    source: include_str!("../../volume.rs"),
    c: include_str!("../../volume.c"),
    by_hand: None,
    function: "volume",
    args: Some("i=index"),
    data: &["cloud"],
    make,
};

/// A picture of the cloud from the side, with the light above.
fn make(_data: usize, size: Size, seed: u64) -> Inputs {
    let height = size.pick(8, 192, 1024);
    let points = size.pick(24, 64, 192);
    let extent = (points - 1) as f64;
    let eye = [1.7, 0.9, 1.9].map(|x| x * extent);
    let light = unit([0.3, 1.0, 0.2]).map(|x| x as f32);
    Inputs {
        range: (0, i64::from(WIDTH * height)),
        arguments: vec![
            Argument::Array(Values::F32(cloud(points, &mut Random::new(seed)))),
            Argument::Int(points as i64),
            Argument::Array(Values::F32(camera(eye, [extent / 2.0; 3], WIDTH, height))),
            Argument::Array(Values::F32(light.into())),
            Argument::Float(0.7),
        ],
    }
}

/// Densities at the points of a grid, 0 in more than half of them: balls that thin out towards their surfaces.
fn cloud(points: usize, random: &mut Random) -> Vec<f32> {
    let extent = (points - 1) as f64;
    let mut grid = vec![0.0f32; points * points * points];
    for _ in 0..BALLS {
        let radius = random.between(0.06, 0.2) * extent;
        let center = [0; 3].map(|_| random.between(0.22, 0.78) * extent);
        let reach = center.map(|c| (c - radius).ceil() as usize..=(c + radius) as usize);
        for z in reach[2].clone() {
            for y in reach[1].clone() {
                for x in reach[0].clone() {
                    let from = [x as f64 - center[0], y as f64 - center[1], z as f64 - center[2]];
                    let inside = 1.0 - from.iter().map(|d| d * d).sum::<f64>() / (radius * radius);
                    grid[(z * points + y) * points + x] += (DENSITY / extent * inside.max(0.0)) as f32;
                }
            }
        }
    }
    grid
}
