//! Kernels to measure warpline by, and the data that they run on.
//!
//! The kernels are the files beside `Cargo.toml`, each an input for the program `warpline`: those of Moll and Hack:
//! Partial Control-Flow Linearization, PLDI 2018, Sec. 7, and some from the practice of SPMD programming. The modules
//! here say what each one is and make what it runs on, from seeds.
#![forbid(unsafe_code)]

mod ispc;
mod practice;
mod random;
mod simulation;
mod trees;

pub use ispc::ispc;
pub use random::Random;

/// A kernel and where it runs.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Its name, as in the paper if it is from there.
    pub name: &'static str,
    /// What it computes, in a few words.
    pub about: &'static str,
    /// The name of the file that it is in.
    pub file: &'static str,
    /// The text of that file.
    pub source: &'static str,
    /// The same in C11: a file with a function of the same name and parameters, to be compared with other compilers.
    /// It may include `warpline.h`.
    pub c: &'static str,
    /// What vectors could gain, written by hand: C with gcc's vectors, and a function
    /// `void by_hand(uint64_t *slots)`, which finds in slots the begin and the end of the range, what is passed for
    /// each parameter but the index, and the address of an array for results.
    pub by_hand: Option<&'static str>,
    /// The function. Its directives in the file say which loops are vectorized, if it is not the function itself.
    pub function: &'static str,
    /// The shapes of the parameters, as on the command line; none for loops.
    pub args: Option<&'static str>,
    /// The names of the data sets; the first is the usual one.
    pub data: &'static [&'static str],
    /// Makes a data set, by its place in `data`.
    pub make: fn(data: usize, size: Size, seed: u64) -> Inputs,
}

/// How much data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Size {
    /// Enough for a test: a run takes about a millisecond.
    Small,
    /// A run of the scalar program takes about 50 milliseconds.
    #[default]
    Usual,
    /// As in the paper, where it says.
    Paper,
}

impl Size {
    /// One of three.
    pub fn pick<T>(self, small: T, usual: T, paper: T) -> T {
        match self {
            Size::Small => small,
            Size::Usual => usual,
            Size::Paper => paper,
        }
    }
}

/// What a kernel runs on.
#[derive(Clone, PartialEq, Debug)]
pub struct Inputs {
    /// The indices, half-open. A function whose loops are vectorized has none, and runs once, whatever this says.
    pub range: (i64, i64),
    /// One for each parameter but the index, in their order.
    pub arguments: Vec<Argument>,
}

/// What is passed for a parameter.
#[derive(Clone, PartialEq, Debug)]
pub enum Argument {
    /// An integer, the same for all indices.
    Int(i64),
    /// A floating-point number, the same for all indices.
    Float(f64),
    /// The address of an array. It is the same for all indices; whatever is written to it is compared.
    Array(Values),
    /// One element of an array for each index.
    Each(Values),
}

/// Elements of an array.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Values {
    U8(Vec<u8>),
    I32(Vec<i32>),
    U32(Vec<u32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// All kernels, in the order in which they are shown.
pub fn all() -> impl Iterator<Item = &'static Kernel> {
    [trees::ALL, simulation::ALL, practice::ALL].into_iter().flatten()
}
