//! What a kernel runs on, taken apart.
#![allow(dead_code, reason = "each test takes what it needs")]

use warpline_kernels::{Argument, Inputs, Size, Values};

/// A small data set of a kernel.
pub fn small(kernel: &str, data: usize) -> Inputs {
    let kernel = warpline_kernels::all().find(|k| k.name == kernel).expect("there is such a kernel");
    (kernel.make)(data, Size::Small, 1)
}

/// The indices, as kernels take them.
pub fn indices(inputs: &Inputs) -> std::ops::Range<i32> {
    inputs.range.0 as i32..inputs.range.1 as i32
}

/// The integer that is argument `k`.
pub fn int(inputs: &Inputs, k: usize) -> i32 {
    let Argument::Int(value) = inputs.arguments[k] else { panic!("argument {k} is no integer") };
    value.try_into().expect("32 bits are enough")
}

/// The number that is argument `k`.
pub fn float(inputs: &Inputs, k: usize) -> f64 {
    let Argument::Float(value) = inputs.arguments[k] else { panic!("argument {k} is no number") };
    value
}

macro_rules! arrays {
    ($($name:ident $variant:ident $ty:ty)*) => {$(
        /// A copy of the array, or of the numbers for each index, that is argument `k`.
        pub fn $name(inputs: &Inputs, k: usize) -> Vec<$ty> {
            match &inputs.arguments[k] {
                Argument::Array(Values::$variant(values)) | Argument::Each(Values::$variant(values)) => values.clone(),
                other => panic!("argument {k} is {other:?}"),
            }
        }
    )*};
}
arrays!(i32s I32 i32  f32s F32 f32  f64s F64 f64);
