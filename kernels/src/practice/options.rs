//! Options to be priced, by two methods.

use crate::{Argument, Inputs, Kernel, Random, Values};

/// The closed formula.
pub const BLACK_SCHOLES: Kernel = Kernel {
    name: "black_scholes",
    about: "prices of options by a closed formula: exp, ln and sqrt",
    file: "black_scholes.rs",
    source: include_str!("../../black_scholes.rs"),
    c: include_str!("../../black_scholes.c"),
    by_hand: None,
    function: "black_scholes",
    args: Some("i=index"),
    data: &["random"],
    make: |_, size, seed| make(size.pick(20_000, 1 << 20, 1 << 24), seed),
};

/// The tree.
pub const BINOMIAL: Kernel = Kernel {
    name: "binomial",
    about: "prices of options by a tree: an array on the stack for each lane",
    file: "binomial.rs",
    source: include_str!("../../binomial.rs"),
    c: include_str!("../../binomial.c"),
    by_hand: None,
    function: "binomial",
    args: Some("i=index"),
    data: &["random"],
    make: |_, size, seed| make(size.pick(512, 1 << 15, 1 << 19), seed),
};

/// `count` options: prices now and at the end, years, interest, volatility.
fn make(count: usize, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let bounds = [(70.0, 130.0), (70.0, 130.0), (0.5, 5.0), (0.005, 0.05), (0.1, 0.5)];
    let arguments = bounds.map(|(from, to)| {
        Argument::Array(Values::F32((0..count).map(|_| random.between(from, to) as f32).collect()))
    });
    Inputs { range: (0, count as i64), arguments: arguments.into() }
}
