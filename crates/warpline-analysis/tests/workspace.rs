//! Working memory that is handed from one analysis to the next.

use warpline_analysis::uniformity::{Algorithm, Uniformity, Value, Workspace};
use warpline_analysis::{CsrGraph, Graph};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::{graphs, ssa_programs};

/// All that an analysis says.
fn answers(graph: &CsrGraph, result: &Uniformity, values: impl Iterator<Item = Value>) -> String {
    let values: Vec<_> = values.map(|v| (v, result.cause(v), result.explain(v))).collect();
    let nodes: Vec<_> = graph.nodes().map(|n| (result.branch_cause(n), result.divergent_join(n))).collect();
    let cycles: Vec<_> =
        result.cycles().cycles().map(|c| (result.given_up(c), result.divergent_exits(c).to_vec())).collect();
    format!("{values:?} {nodes:?} {cycles:?}")
}

#[test]
fn what_was_analysed_before_has_no_influence() {
    let mut workspace = Workspace::default();
    for seed in 0..3_000 {
        let mut rng = SplitMix64::new(seed);
        let graph = graphs::arbitrary(&mut rng, 14);
        let program = ssa_programs::random(&mut rng, &graph);
        let algorithm = [Algorithm::Joins, Algorithm::PostDom, Algorithm::StrongPostDom][seed as usize % 3];
        let fresh = Uniformity::compute_by(&graph, &program, algorithm);
        let reused = Uniformity::compute_in(&graph, &program, algorithm, &mut workspace);
        let of = |result| answers(&graph, result, program.values());
        assert_eq!(of(&reused), of(&fresh), "seed {seed}");
    }
}
