//! Where does a variable need φ-functions?
//!
//! ```text
//! x = 1; if (c) { x = 2; } use(x);            // one where the branch ends
//! while (d) { t = 3; use(t); }                // none: nobody reads what `t` held before
//! ```

use std::error::Error;

use warpline_analysis::dataflow::{ProgramBuilder, Variable};
use warpline_analysis::phi_placement::{Accesses, Dominators, Pruning, precise};
use warpline_analysis::{CsrGraph, Node};

fn main() -> Result<(), Box<dyn Error>> {
    let edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 3), (3, 5)];
    let graph = CsrGraph::new(6, Node(0), edges.map(|(from, to)| (Node(from), Node(to))))?;
    let [c, d, x, t] = [0, 1, 2, 3].map(Variable);
    let mut builder = ProgramBuilder::new(graph, 4);
    [c, d].into_iter().for_each(|v| builder.on_entry(v));
    builder.begin(Node(0));
    builder.instruction([], [x]);
    builder.branch([c]);
    builder.begin(Node(1));
    builder.instruction([], [x]);
    builder.begin(Node(2));
    builder.instruction([x], []);
    builder.begin(Node(3));
    builder.branch([d]);
    builder.begin(Node(4));
    builder.instruction([], [t]);
    builder.instruction([t], []);
    let program = builder.build()?;

    let dominators = Dominators::of(program.graph());
    let placed = precise::place(&dominators, &Accesses::of(&program), Pruning::Pruned);
    for (name, variable) in [("x", x), ("t", t)] {
        println!("{name}: φs at {:?}", placed.of(variable.index()));
    }
    assert_eq!(placed.of(x.index()), [Node(2)]);
    assert_eq!(placed.of(t.index()), []);
    Ok(())
}

#[test]
fn runs() {
    main().expect("an example that runs");
}
