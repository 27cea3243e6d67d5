//! Functions with variables of some size: paper 1's transformers look at pairs of splits and nodes, but no more.

use warpline_analysis::uniformity::Rule;
use warpline_analysis::{CsrGraph, Graph, Node};
use warpline_testkit::graphs;
use warpline_testkit::reference::variables::{Expression, Options, VariableProgram, VariableUniformity};

/// `count` loops in a row, each with an `if` inside and an early exit to the end: a count in a variable, and a variable
/// per ten loops that the `if` sets.
fn loops_with_early_exits(count: usize) -> CsrGraph {
    let (mut edges, end) = (Vec::new(), 5 * count);
    for i in 0..count {
        let [header, arm, join, latch, exit] = [0, 1, 2, 3, 4].map(|k| 5 * i + k);
        edges.extend([(header, arm), (header, join), (arm, join), (join, latch), (join, end)]);
        edges.extend([(latch, header), (latch, exit), (exit, exit + 1)]);
    }
    graphs::build(end + 1, edges)
}

#[test]
fn functions_with_thousands_of_blocks_and_a_hundred_variables_are_analysed() {
    let count = 600;
    let graph = loops_with_early_exits(count);
    let mut builder = VariableProgram::builder();
    let lane = builder.variable(true);
    let (counter, limit) = (builder.variable(false), builder.variable(false));
    let set: Vec<_> = (0..count / 6).map(|_| builder.variable(false)).collect();
    for i in 0..count {
        let node = |k: usize| Node::new(5 * i + k);
        let var = set[i / 6];
        builder.assign(node(0), counter, Expression::Compute(Rule::Default, vec![counter]));
        builder.assign(node(1), var, Expression::Copy(counter));
        // Every tenth loop is left when the lane says so.
        let on = if i % 10 == 9 { lane } else { limit };
        builder.branch(node(3), [counter, on]);
    }
    let program = builder.build(&graph).expect("the program is well formed");
    let found = VariableUniformity::compute(&graph, &program, &Options::default()).expect("reducible");
    // Up to the first divergent loop the counter is uniform, and then no more.
    let first_apart = 5 * 9 + 4;
    for n in graph.nodes() {
        assert_eq!(found.is_uniform_at(n, counter), n.index() < first_apart, "at {n}");
        assert!(found.is_uniform_at(n, limit) && !found.is_uniform_at(n, lane), "at {n}");
    }
}
