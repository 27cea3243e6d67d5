//! How the time and memory of SSA construction grow with the function.
//!
//! ```text
//! cargo run --release -p warpline-llvm --example ssa_scaling -- [--largest N] [--runs N] [--shape NAME]…
//! ```
//!
//! Prints a table in Markdown: for shapes of control flow of about 100 to `--largest` (100,000) blocks with a tenth
//! as many variables, the median times of precise placement alone (minimal and pruned; dominators counted), of whole
//! construction (strict, and precise without strictness, both pruned), of the report of unwritten reads, of closing
//! loops, and of destruction with few variables; the peak of the memory that the strict construction allocates; and
//! the exponents fitted to blocks^x over sizes of 1,000 blocks and more.

use std::time::Instant;

use warpline_analysis::Graph;
use warpline_analysis::phi_placement::{Dominators, Pruning, precise};
use warpline_dataflow::ssa::{self, ConstructOptions};
use warpline_ir::{Function, Var};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::scaling::{self, Maker};

mod peak;

const TIMES: [&str; 7] = ["placement", "pruned", "strict", "precise", "unwritten", "close loops", "destruct"];

/// What was measured of one function.
struct Point {
    blocks: usize,
    variables: usize,
    phis: usize,
    /// Seconds, in the order of [`TIMES`].
    times: [f64; 7],
    /// Bytes.
    peak: f64,
}

fn main() {
    let (mut largest, mut runs, mut wanted) = (100_000, 5, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_else(|| usage(&format!("{arg} needs a value")));
        let number = |v: String| v.parse().unwrap_or_else(|_| usage("a number is needed"));
        match arg.as_str() {
            "--largest" => largest = number(value()),
            "--runs" => runs = number(value()),
            "--shape" => wanted.push(value()),
            _ => usage(&format!("unknown option {arg}")),
        }
    }
    println!("| shape | blocks | variables | φs | {} ms | peak MB |", TIMES.join(" ms | "));
    println!("|---|--:|--:|--:|{}--:|", "--:|".repeat(TIMES.len()));
    let mut fits = Vec::new();
    for (name, maker) in scaling::SHAPES {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        let sizes = [100, 1_000, 10_000, 100_000].into_iter().filter(|&n| n <= largest);
        let points: Vec<Point> = sizes.map(|n| measure(name, maker, n, runs)).collect();
        let time = |k: usize| exponent(&points, |p| p.times[k]);
        fits.push((name, std::array::from_fn::<f64, 7, _>(time), exponent(&points, |p| p.peak)));
    }
    println!("\n| shape | {} | memory |", TIMES.join(" | "));
    println!("|---|{}--:|", "--:|".repeat(TIMES.len()));
    for (name, times, peak) in fits {
        println!("| {name} | {} | {peak:.2} |", times.map(|x| format!("{x:.2}")).join(" | "));
    }
}

fn usage(message: &str) -> ! {
    eprintln!("{message}\nusage: ssa_scaling [--largest N] [--runs N] [--shape NAME]…");
    std::process::exit(2);
}

/// A function of a shape with about so many blocks.
fn sized(maker: Maker, blocks: usize) -> Function {
    // Shapes have a few nodes for each unit of size.
    let per_unit = maker(64).graph.node_count().div_ceil(64);
    let graph = maker((blocks / per_unit).max(1)).graph;
    scaling::function(&graph, (blocks / 10).max(1), &mut SplitMix64::new(1))
}

fn measure(name: &str, maker: Maker, blocks: usize, runs: usize) -> Point {
    let func = sized(maker, blocks);
    let vars: Vec<Var> = func.vars.keys().collect();
    let accesses = ssa::accesses_of(&func);
    let (graph, _) = func.graph();
    let strict = ConstructOptions::default();
    let precise = ConstructOptions { strict: false, ..strict };
    let mut built = func.clone();
    let (peak, construction) = peak::peak_of(|| ssa::construct_with(&mut built, &vars, &strict));
    let (phis, peak) = (construction.stats.phis, peak as f64);

    let place =
        |pruning| median(runs, || (), |()| _ = precise::place(&Dominators::of(&graph), &accesses, pruning));
    let times = [
        place(Pruning::Minimal),
        place(Pruning::Pruned),
        median(runs, || func.clone(), |f| _ = ssa::construct_with(f, &vars, &strict)),
        median(runs, || func.clone(), |f| _ = ssa::construct_with(f, &vars, &precise)),
        median(runs, || (), |()| _ = ssa::unwritten_reads(&func)),
        median(runs, || built.clone(), |f| _ = ssa::close_loops(f)),
        median(
            runs,
            || built.clone(),
            |f| {
                ssa::destruct_coalesced(f, |_, _| true).expect("construction makes a strict form");
            },
        ),
    ];
    let point = Point { blocks: func.layout.len(), variables: vars.len(), phis, times, peak };
    let columns = point.times.map(|t| format!("{:.2}", t * 1e3)).join(" | ");
    println!(
        "| {name} | {} | {} | {} | {columns} | {:.1} |",
        point.blocks,
        point.variables,
        point.phis,
        point.peak / 1e6
    );
    point
}

/// The median time of `run` on what `prepare` makes, in seconds.
fn median<T>(runs: usize, prepare: impl Fn() -> T, run: impl Fn(&mut T)) -> f64 {
    let mut times: Vec<f64> = (0..runs.max(1))
        .map(|_| {
            let mut input = prepare();
            let start = Instant::now();
            run(&mut input);
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The exponent x of what grows like blocks^x, by least squares over the logarithms.
fn exponent(points: &[Point], of: impl Fn(&Point) -> f64) -> f64 {
    let large = points.iter().filter(|p| p.blocks >= 500);
    let logs: Vec<(f64, f64)> = large.map(|p| ((p.blocks as f64).ln(), of(p).max(1e-9).ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) = (logs.iter().map(|l| l.0).sum::<f64>() / n, logs.iter().map(|l| l.1).sum::<f64>() / n);
    let (xy, xx) =
        logs.iter().fold((0.0, 0.0), |(xy, xx), l| (xy + (l.0 - mx) * (l.1 - my), xx + (l.0 - mx).powi(2)));
    xy / xx
}
