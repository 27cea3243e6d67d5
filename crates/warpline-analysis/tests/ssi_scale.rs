//! How the time of splitting grows with the program.
//!
//! `cargo test --release -p warpline-analysis --test ssi_scale -- --ignored --nocapture` prints times up to 100,000 blocks.

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
    builder.finish()
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

#[test]
#[ignore = "measures times; prints a table"]
fn splitting_takes_almost_linear_time() {
    println!("| shape | blocks | {} |", WAYS.map(|w| format!("{} ms", w.0)).join(" | "));
    println!("|---|--:|{}", "--:|".repeat(WAYS.len()));
    let mut steep = Vec::new();
    for (shape, maker) in scaling::SHAPES {
        let points: Vec<(f64, Vec<f64>)> = [10_000, 100_000]
            .map(|blocks| {
                let program = program(&sized(maker, blocks));
                let blocks = program.graph().node_count();
                let times: Vec<f64> = WAYS.iter().map(|w| seconds(&program, w.1)).collect();
                let row: Vec<String> = times.iter().map(|t| format!("{:.2}", t * 1e3)).collect();
                println!("| {shape} | {blocks} | {} |", row.join(" | "));
                (blocks as f64, times)
            })
            .into();
        for (k, (way, _)) in WAYS.iter().enumerate() {
            let exponent = (points[1].1[k] / points[0].1[k]).ln() / (points[1].0 / points[0].0).ln();
            if exponent > 1.35 {
                steep.push(format!("{way} on {shape}: blocks^{exponent:.2}"));
            }
        }
    }
    assert!(steep.is_empty(), "{}", steep.join("; "));
}
