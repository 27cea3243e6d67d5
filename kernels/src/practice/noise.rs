//! The permutation that noise is made from, and a view on it.

use crate::{Argument, Inputs, Kernel, Random, Size, Values};

/// Points in a row, as in the kernel.
const WIDTH: u32 = 512;
/// Octaves that are added up.
const OCTAVES: i64 = 8;

/// Turbulence.
pub const KERNEL: Kernel = Kernel {
    name: "noise",
    about: "turbulence from Perlin's noise: gathers in uniform loops",
    file: "noise.rs",
    source: include_str!("../../noise.rs"),
    c: include_str!("../../noise.c"),
    by_hand: None,
    function: "noise",
    args: Some("i=index"),
    data: &["picture"],
    make,
};

/// A picture of 10 by 10 cells of the first octave. It is not at the table's origin, where cells are negative to one
/// side.
fn make(_data: usize, size: Size, seed: u64) -> Inputs {
    let height = size.pick(8, 512, 4096);
    Inputs {
        range: (0, i64::from(WIDTH * height)),
        arguments: vec![
            Argument::Array(Values::I32(permutation(&mut Random::new(seed)))),
            Argument::Int(OCTAVES),
            Argument::Float(-3.0),
            Argument::Float(-2.0),
            Argument::Float(0.6),
            Argument::Float(10.0 / f64::from(WIDTH)),
            Argument::Float(10.0 / f64::from(height)),
        ],
    }
}

/// The numbers 0..256 in a random order, twice (Fisher and Yates).
fn permutation(random: &mut Random) -> Vec<i32> {
    let mut numbers: Vec<i32> = (0..256).collect();
    for end in (1..numbers.len()).rev() {
        numbers.swap(end, random.below(end as u64 + 1) as usize);
    }
    numbers.repeat(2)
}
