//! How the time of splitting grows with the program.
//!
//! ```text
//! cargo run --release -p warpline-analysis --example ssi_scaling -- [--largest N] [SHAPE]…
//! ```
//!
//! Prints a table in Markdown: shapes of control flow of up to `--largest` (100,000) blocks, with a variable for each
//! block, and the best times of three runs. In nests of loops live ranges span the nest, so their sum, and what is
//! added, grow with its square: name other shapes, or a smaller N.

use std::time::Instant;

use warpline_analysis::dataflow::{Program, ProgramBuilder, TestKind, Variable};
use warpline_analysis::ssi::{Ssi, Strategy, singer_ssi, ssify};
use warpline_analysis::{CsrGraph, DomTree, Graph, Node};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::scaling::{self, Maker};
use warpline_testkit::ssi_figure::with_entry;

/// The graph of a shape with about so many blocks.
fn sized(maker: Maker, blocks: usize) -> CsrGraph {
    let per_unit = maker(64).graph.node_count().div_ceil(64);
    with_entry(&maker((blocks / per_unit).max(1)).graph)
}

/// A program in SSA form: for each block a variable that is defined there, used in a few of the next 32 blocks that the
/// definition dominates, and tested at branches among them.
fn program(graph: &CsrGraph) -> Program {
    let rng = &mut SplitMix64::new(1);
    let dom = DomTree::compute(graph);
    let count = graph.node_count();
    let (mut uses, mut tests) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for home in graph.nodes() {
        let scope = dom.subtree(home);
        for _ in 0..rng.between(1, 6) {
            let at = scope[rng.below(scope.len().min(32))];
            uses[at.index()].push(Variable(home.0));
            if graph.out_edges(at).len() > 1 && rng.chance(1, 2) && !tests[at.index()].contains(&home) {
                tests[at.index()].push(home);
            }
        }
    }
    let mut builder = ProgramBuilder::new(graph.clone(), count);
    for n in graph.nodes() {
        builder.begin(n);
        builder.instruction([], [Variable(n.0)]);
        builder.instruction(uses[n.index()].iter().copied(), []);
        for (k, &Node(v)) in tests[n.index()].iter().enumerate() {
            let kind = if k % 2 == 0 { TestKind::Equality } else { TestKind::Other };
            builder.test(n, Variable(v), kind);
        }
    }
    builder.build().expect("a well-formed program")
}

type Way = (&'static str, fn(&Program) -> Ssi);

const WAYS: [Way; 5] = [
    ("conditional constants", |p| ssify(p, &Strategy::CONDITIONAL_CONSTANTS)),
    ("e-SSA", |p| ssify(p, &Strategy::E_SSA)),
    ("SSI", |p| ssify(p, &Strategy::SSI)),
    ("SSU", |p| ssify(p, &Strategy::SSU)),
    ("Singer", singer_ssi),
];

fn seconds(program: &Program, way: fn(&Program) -> Ssi) -> f64 {
    let once = || {
        let start = Instant::now();
        std::hint::black_box(way(program));
        start.elapsed().as_secs_f64()
    };
    (0..3).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn main() {
    let (mut largest, mut wanted) = (100_000, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--largest" => match args.next().and_then(|n| n.parse().ok()) {
                Some(n) => largest = n,
                None => return eprintln!("--largest needs a number"),
            },
            _ => wanted.push(arg),
        }
    }
    println!("| shape | blocks | {} |", WAYS.map(|w| format!("{} ms", w.0)).join(" | "));
    println!("|---|--:|{}", "--:|".repeat(WAYS.len()));
    for (shape, maker) in scaling::SHAPES {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == shape) {
            continue;
        }
        for blocks in [1_000, 10_000, 100_000].into_iter().filter(|&n| n <= largest) {
            let program = program(&sized(maker, blocks));
            let times = WAYS.map(|w| format!("{:.2}", seconds(&program, w.1) * 1e3));
            println!("| {shape} | {} | {} |", program.graph().node_count(), times.join(" | "));
        }
    }
}
