//! Which values and branches do all threads agree on, and why not?
//!
//! ```text
//! n = argument; lane = thread's number;
//! i = 0; while (i < lane) { i = i + 1; }      // threads leave in different iterations
//! k = 0; while (k < n) { k = k + 1; }         // all leave together
//! ```

use std::error::Error;

use warpline_analysis::dataflow::{ProgramBuilder, Variable};
use warpline_analysis::ssi::{Strategy, ssify};
use warpline_analysis::uniformity::{Explainer, Origin, Rule, SsaProgram, Uniformity};
use warpline_analysis::{CsrGraph, Node};

fn main() -> Result<(), Box<dyn Error>> {
    let edges = [(0, 1), (1, 2), (2, 1), (1, 3), (3, 4), (4, 3), (3, 5)];
    let graph = CsrGraph::new(6, Node(0), edges.map(|(from, to)| (Node(from), Node(to))))?;
    let [n, lane, i, k] = [0, 1, 2, 3].map(Variable);
    let mut builder = ProgramBuilder::new(graph, 4);
    [n, lane].into_iter().for_each(|v| builder.on_entry(v));
    builder.begin(Node(0));
    builder.instruction([], [i]);
    builder.instruction([], [k]);
    for (header, body, counter, bound) in [(Node(1), Node(2), i, lane), (Node(3), Node(4), k, n)] {
        builder.begin(header);
        builder.branch([counter, bound]);
        builder.begin(body);
        builder.instruction([counter], [counter]);
    }
    let program = builder.build()?;

    // Variables are written several times, so the program is seen in SSA form; its variables stay as they are.
    let ssi = ssify(&program, &Strategy::SSA);
    let differs = |origin| if origin == Origin::Entry(lane) { Rule::Source } else { Rule::Default };
    let ssa = SsaProgram::of_versions(&program, &ssi, differs)?;
    let found = Uniformity::compute(program.graph(), &ssa);

    assert!(found.is_divergent_branch(Node(1)) && !found.is_divergent_branch(Node(3)));
    let explainer = Explainer::new(program.graph(), &ssa, &found);
    for link in explainer.branch(Node(1)) {
        println!("{:?}", link.fact);
    }
    Ok(())
}

#[test]
fn runs() {
    main().expect("an example that runs");
}
