//! How long data-flow analyses take, sparse and dense, and how that grows with the function.
//!
//! ```text
//! cargo run --release -p warpline-llvm --example dataflow_scaling -- [--runs N] FILES…
//! cargo run --release -p warpline-llvm --example dataflow_scaling -- [--runs N] --largest N [--shape NAME]…
//! ```
//!
//! Prints tables in Markdown. With files (LLVM IR, best not optimised: local variables become values first), for each
//! client and for functions by their number of blocks: the times of splitting, of the sparse solver and of the dense
//! one, in milliseconds, and how many times longer the dense one takes than splitting and sparse solving together.
//! Without files, the same for functions of some shapes of control flow with about 100 to `--largest` blocks and a
//! tenth as many variables, and the exponents fitted to blocks^x over sizes of 1,000 blocks and more. Dense times are
//! left out where a function would take too long. Times are processor time, the least of `--runs` (3). The dense
//! solver finds what is live, solves, and walks the program once more to write down what it answers questions from;
//! the sparse one builds its constraints and solves.

use std::path::Path;

use warpline_analysis::Graph;
use warpline_analysis::dataflow::{
    Backward, Forward, ForwardOptions, LiveVariables, Program, Schedule, WideningPoints,
    solve_backward_dense, solve_backward_with, solve_forward_dense_at, solve_forward_with,
};
use warpline_analysis::ssi::{Ssi, Strategy, ssify};
use warpline_dataflow::Code;
use warpline_dataflow::clients::constants::Constants;
use warpline_dataflow::clients::dead_code::DeadCode;
use warpline_dataflow::clients::liveness::Liveness;
use warpline_dataflow::clients::ranges::Ranges;
use warpline_dataflow::clients::reaching_definitions::ReachingDefinitions;
use warpline_dataflow::ssa;
use warpline_ir::{Function, Module};
use warpline_llvm::{Imported, Module as LlvmModule, Stopwatch};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::scaling::{self, Maker};

const CLIENTS: [&str; 5] = ["constants", "ranges", "reaching-definitions", "dead-code", "liveness"];

/// The most facts that a dense state may hold, over all blocks.
const DENSE_LIMIT: usize = 60_000_000;

const ORDERS: [Schedule; 3] = [Schedule::Sweeps, Schedule::Fifo, Schedule::Lifo];

/// Seconds, and steps of the sparse solver by [`ORDERS`].
#[derive(Clone, Copy, Default)]
struct Times {
    split: f64,
    sparse: f64,
    dense: Option<f64>,
    steps: [usize; 3],
}

impl Times {
    fn add(&mut self, other: &Times) {
        self.split += other.split;
        self.sparse += other.sparse;
        self.dense = self.dense.zip(other.dense).map(|(a, b)| a + b);
        self.steps.iter_mut().zip(other.steps).for_each(|(a, b)| *a += b);
    }

    fn row(&self) -> String {
        let ms = |t: f64| format!("{:.3}", t * 1e3);
        let factor = |d: f64| format!("{:.2}", d / (self.split + self.sparse));
        let alone = |d: f64| format!("{:.2}", d / self.sparse);
        let of_dense = |f: &dyn Fn(f64) -> String| self.dense.map_or("–".to_owned(), f);
        let steps = self.steps.map(|s| s.to_string()).join(" | ");
        format!(
            "{} | {} | {} | {} | {} | {steps}",
            ms(self.split),
            ms(self.sparse),
            of_dense(&ms),
            of_dense(&factor),
            of_dense(&alone)
        )
    }
}

const COLUMNS: &str = "split ms | sparse ms | dense ms | dense / (split + sparse) | dense / sparse | steps in \
 sweeps | fifo | lifo";

fn main() {
    let (mut largest, mut runs, mut wanted, mut files) = (100_000, 3, Vec::new(), Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_else(|| usage(&format!("{arg} needs a value")));
        let number = |v: String| v.parse().unwrap_or_else(|_| usage("a number is needed"));
        match arg.as_str() {
            "--largest" => largest = number(value()),
            "--runs" => runs = number(value()),
            "--shape" => wanted.push(value()),
            _ if arg.starts_with('-') => usage(&format!("unknown option {arg}")),
            _ => files.push(arg),
        }
    }
    if files.is_empty() { scale(largest, runs, &wanted) } else { corpus(&files, runs) }
}

fn usage(message: &str) -> ! {
    eprintln!("{message}\nusage: dataflow_scaling [--runs N] FILES… | [--largest N] [--shape NAME]…");
    std::process::exit(2);
}

/// Functions of files, by their number of blocks.
fn corpus(files: &[String], runs: usize) {
    const SIZES: [usize; 5] = [1, 10, 100, 1_000, 10_000];
    let mut all = [[Times { dense: Some(0.0), ..Times::default() }; SIZES.len() + 1]; CLIENTS.len()];
    let mut counts = [0; SIZES.len() + 1];
    for file in files {
        let module = LlvmModule::read(Path::new(file)).unwrap_or_else(|e| usage(&format!("{file}: {e}")));
        let imported = Imported::new(module);
        let ids: Vec<_> = imported.ir.functions.keys().collect();
        for id in ids {
            let mut func = imported.ir.functions[id].clone();
            ssa::promote_and_construct(&imported.ir, &mut func);
            let size = SIZES.iter().filter(|&&s| func.layout.len() >= s).count() - 1;
            counts[size] += 1;
            counts[SIZES.len()] += 1;
            for (k, name) in CLIENTS.iter().enumerate() {
                let times = measure(name, &imported.ir, &func, runs);
                all[k][size].add(&times);
                all[k][SIZES.len()].add(&times);
            }
        }
    }
    println!("| client | blocks | functions | {COLUMNS} |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (k, name) in CLIENTS.iter().enumerate() {
        for (size, times) in all[k].iter().enumerate().filter(|(size, _)| counts[*size] > 0) {
            let blocks = match SIZES.get(size) {
                Some(least) => format!("from {least}"),
                None => "all".to_owned(),
            };
            println!("| {name} | {blocks} | {} | {} |", counts[size], times.row());
        }
    }
    let mut total = Times { dense: Some(0.0), ..Times::default() };
    all.iter().for_each(|client| total.add(&client[SIZES.len()]));
    println!("| all | all | {} | {} |", counts[SIZES.len()], total.row());
}

/// Functions of some shapes, larger and larger.
fn scale(largest: usize, runs: usize, wanted: &[String]) {
    println!("| client | shape | blocks | {COLUMNS} |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut fits = Vec::new();
    for (shape, maker) in scaling::SHAPES {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == shape) {
            continue;
        }
        let sizes: Vec<usize> = [100, 1_000, 10_000, 100_000].into_iter().filter(|&n| n <= largest).collect();
        let functions: Vec<Function> = sizes.iter().map(|&n| sized(maker, n)).collect();
        for name in CLIENTS {
            let mut points = Vec::new();
            for func in &functions {
                let times = measure(name, &Module::new("scaled"), func, runs);
                println!("| {name} | {shape} | {} | {} |", func.layout.len(), times.row());
                points.push((func.layout.len() as f64, times));
            }
            fits.push((name, shape, points));
        }
    }
    println!("\n| client | shape | split | sparse | dense |\n|---|---|--:|--:|--:|");
    for (name, shape, points) in &fits {
        let of = |f: &dyn Fn(&Times) -> Option<f64>| match exponent(points, f) {
            Some(x) => format!("{x:.2}"),
            None => "–".to_owned(),
        };
        let (split, sparse, dense) = (of(&|t| Some(t.split)), of(&|t| Some(t.sparse)), of(&|t| t.dense));
        println!("| {name} | {shape} | {split} | {sparse} | {dense} |");
    }
}

/// A function of a shape with about so many blocks, in SSA form.
fn sized(maker: Maker, blocks: usize) -> Function {
    let per_unit = maker(64).graph.node_count().div_ceil(64);
    let graph = maker((blocks / per_unit).max(1)).graph;
    let mut func = scaling::function(&graph, (blocks / 10).max(1), &mut SplitMix64::new(1));
    let vars: Vec<_> = func.vars.keys().collect();
    ssa::construct_with(&mut func, &vars, &ssa::ConstructOptions::default());
    func
}

fn measure(client: &str, module: &Module, func: &Function, runs: usize) -> Times {
    let code = match client {
        "ranges" => Code::with_makers(func),
        _ => Code::of(func),
    };
    let program = code.program();
    match client {
        "constants" => forward(program, &Constants::STRATEGY, &Constants::new(module, func, &code), runs),
        "ranges" => forward(program, &Ranges::STRATEGY, &Ranges::new(module, func, &code), runs),
        "reaching-definitions" => forward(program, &Strategy::SSA, &ReachingDefinitions(program), runs),
        "dead-code" => backward(program, &DeadCode::new(func, &code), runs),
        _ => backward(program, &Liveness(program), runs),
    }
}

fn fits_densely(program: &Program) -> bool {
    let live = LiveVariables::of(program);
    program.graph().nodes().map(|n| live.at_entry(n).len()).sum::<usize>() <= DENSE_LIMIT
}

fn forward<P: Forward>(program: &Program, strategy: &Strategy, problem: &P, runs: usize) -> Times {
    let split = least(runs, || ssify(program, strategy));
    let ssi = ssify(program, strategy);
    let solve =
        |schedule| solve_forward_with(program, &ssi, problem, ForwardOptions { schedule, narrowing: 0 });
    let widening = WideningPoints::of(program, &ssi);
    let dense = || solve_forward_dense_at(program, problem, &widening, 0);
    Times {
        split,
        sparse: least(runs, || solve(Schedule::Sweeps)),
        dense: fits_densely(program).then(|| least(runs, dense)),
        steps: ORDERS.map(|order| solve(order).steps()),
    }
}

fn backward<P: Backward>(program: &Program, problem: &P, runs: usize) -> Times {
    let split = least(runs, || ssify(program, &Strategy::SSA));
    let ssi: Ssi = ssify(program, &Strategy::SSA);
    let solve = |order| solve_backward_with(program, &ssi, problem, order);
    Times {
        split,
        sparse: least(runs, || solve(Schedule::Sweeps)),
        dense: fits_densely(program).then(|| least(runs, || solve_backward_dense(program, problem))),
        steps: ORDERS.map(|order| solve(order).steps()),
    }
}

/// The least time of some runs, in seconds.
fn least<T>(runs: usize, run: impl Fn() -> T) -> f64 {
    let times = (0..runs.max(1)).map(|_| {
        let start = Stopwatch::start();
        let result = std::hint::black_box(run());
        let time = start.elapsed().as_secs_f64();
        drop(result);
        time
    });
    times.fold(f64::INFINITY, f64::min)
}

/// The exponent x of what grows like blocks^x, by least squares over the logarithms; none of fewer than two sizes.
fn exponent(points: &[(f64, Times)], of: &dyn Fn(&Times) -> Option<f64>) -> Option<f64> {
    let large = points.iter().filter(|p| p.0 >= 500.0);
    let logs: Vec<(f64, f64)> =
        large.filter_map(|p| of(&p.1).map(|t| (p.0.ln(), t.max(1e-9).ln()))).collect();
    if logs.len() < 2 {
        return None;
    }
    let n = logs.len() as f64;
    let (mx, my) = (logs.iter().map(|l| l.0).sum::<f64>() / n, logs.iter().map(|l| l.1).sum::<f64>() / n);
    let (xy, xx) =
        logs.iter().fold((0.0, 0.0), |(xy, xx), l| (xy + (l.0 - mx) * (l.1 - my), xx + (l.0 - mx).powi(2)));
    Some(xy / xx)
}
