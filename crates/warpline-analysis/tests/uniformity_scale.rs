//! Large programs: nothing recurses, and nothing takes time or memory out of proportion.

use std::time::Instant;

use warpline_analysis::Graph;
use warpline_analysis::uniformity::Uniformity;
use warpline_testkit::scaling::SHAPES;

/// Prints how long each shape takes; run it with `--release --nocapture` to see.
#[test]
fn every_shape_of_thousands_of_nodes_is_analysed() {
    for (name, make) in SHAPES {
        let scaled = make(1_000);
        let begin = Instant::now();
        let uniformity = Uniformity::compute(&scaled.graph, &scaled.program);
        println!(
            "{name}: {} nodes, {} divergent values, {} divergent branches, {:?}",
            scaled.graph.node_count(),
            uniformity.divergent_values().count(),
            uniformity.divergent_branches().count(),
            begin.elapsed()
        );
        assert!(uniformity.divergent_values().count() > 1, "{name}");
    }
}

#[test]
fn a_ladder_a_nest_of_ifs_and_a_nest_of_loops_of_a_hundred_thousand_nodes() {
    let size = [("nested ifs", 33_333), ("ladder", 100_000), ("loop nest", 50_000)];
    for (name, n) in size {
        let (_, make) = SHAPES.into_iter().find(|(known, _)| *known == name).expect("a known shape");
        let scaled = make(n);
        assert!(scaled.graph.node_count() >= 100_000);
        let uniformity = Uniformity::compute(&scaled.graph, &scaled.program);
        assert!(uniformity.divergent_branches().count() * 3 >= n, "{name}");
    }
}
