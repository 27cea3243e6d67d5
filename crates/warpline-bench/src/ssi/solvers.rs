//! Sparse and dense solutions of the same problems, timed.

use std::hint::black_box;

use serde::Serialize;
use warpline::dataflow::Code;
use warpline::dataflow::clients::constants::Constants;
use warpline::dataflow::clients::dead_code::{self, DeadCode};
use warpline::dataflow::clients::ranges::Ranges;
use warpline::dataflow::clients::reaching_definitions::{self, ReachingDefinitions};
use warpline::ir::{Function, Module};
use warpline_analysis::dataflow::{
    Backward, Forward, Program, solve_backward, solve_backward_dense, solve_forward, solve_forward_dense,
};
use warpline_analysis::ssi::{Strategy, ssify};

use warpline_cli::sampling::{Sampling, medians};

/// The clients.
pub(super) const CLIENTS: [&str; 4] =
    ["conditional constants", "ranges", "reaching definitions", "dead code"];

/// Each sparse and dense.
const METHODS: usize = 2 * CLIENTS.len();

/// Functions by instructions: fewer than these, and all larger ones.
pub(super) const SIZES: [usize; 3] = [100, 1000, 5000];

/// What it takes to solve a problem for functions of like size.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Times {
    /// How many functions.
    pub functions: usize,
    /// Splitting live ranges and solving sparsely.
    pub sparse_ns: f64,
    /// Solving densely, liveness included.
    pub dense_ns: f64,
}

impl Times {
    /// Adds others.
    pub(super) fn add(&mut self, other: &Times) {
        self.functions += other.functions;
        self.sparse_ns += other.sparse_ns;
        self.dense_ns += other.dense_ns;
    }
}

/// What it takes to solve a client's problems.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Solved {
    /// The client.
    pub client: &'static str,
    /// By size, smallest first.
    pub by_size: [Times; SIZES.len() + 1],
}

impl Solved {
    /// Nothing yet.
    pub(super) fn none() -> Vec<Solved> {
        CLIENTS.map(|client| Solved { client, by_size: Default::default() }).to_vec()
    }

    /// All sizes together.
    pub(super) fn total(&self) -> Times {
        let mut total = Times::default();
        self.by_size.iter().for_each(|t| total.add(t));
        total
    }
}

/// A function and the problems that are solved for it.
struct Subject<'a> {
    code: &'a Code,
    instructions: usize,
    constants: Constants<'a>,
    ranges: Ranges<'a>,
    reaching: ReachingDefinitions<'a>,
    dead_code: DeadCode<'a>,
}

impl<'a> Subject<'a> {
    fn new(module: &'a Module, func: &'a Function, code: &'a Code) -> Self {
        Subject {
            code,
            instructions: code.program().instructions(),
            constants: Constants::new(module, func, code),
            ranges: Ranges::new(module, func, code),
            reaching: ReachingDefinitions(code.program()),
            dead_code: DeadCode::new(func, code),
        }
    }

    fn run(&self, method: usize) {
        let (program, dense) = (self.code.program(), method % 2 == 1);
        match method / 2 {
            0 => forward(program, &Constants::STRATEGY, &self.constants, dense),
            1 => forward(program, &Ranges::STRATEGY, &self.ranges, dense),
            2 => forward(program, &reaching_definitions::STRATEGY, &self.reaching, dense),
            _ => backward(program, &dead_code::STRATEGY, &self.dead_code, dense),
        }
    }
}

fn forward<P: Forward>(program: &Program, strategy: &Strategy, problem: &P, dense: bool) {
    match dense {
        true => drop(black_box(solve_forward_dense(program, problem))),
        false => drop(black_box(solve_forward(program, &ssify(program, strategy), problem))),
    }
}

fn backward<P: Backward>(program: &Program, strategy: &Strategy, problem: &P, dense: bool) {
    match dense {
        true => drop(black_box(solve_backward_dense(program, problem))),
        false => drop(black_box(solve_backward(program, &ssify(program, strategy), problem))),
    }
}

/// Solves every client's problem for every function, given what it needs to know of it: uses, definitions, tests,
/// conditions.
pub(super) fn measure(
    module: &Module,
    codes: &[(&Function, Code)],
    sampling: Sampling,
    progress: impl FnMut(usize),
) -> Vec<Solved> {
    let subjects: Vec<Subject> = codes.iter().map(|(func, code)| Subject::new(module, func, code)).collect();
    let times: Vec<[f64; METHODS]> = medians(&subjects, Subject::run, sampling, progress);
    let mut all = Solved::none();
    for (subject, times) in subjects.iter().zip(times) {
        let size = SIZES.partition_point(|&bound| bound <= subject.instructions);
        for (solved, times) in all.iter_mut().zip(times.chunks(2)) {
            solved.by_size[size].add(&Times { functions: 1, sparse_ns: times[0], dense_ns: times[1] });
        }
    }
    all
}
