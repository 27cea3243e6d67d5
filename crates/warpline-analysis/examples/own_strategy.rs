//! Live ranges split as an analysis of one's own asks for: behind every check of a pointer, so that "has been checked"
//! is a fact about a version, not about a place.
//!
//! ```text
//! check(p); if (c) { read(p); } else { p = other; read(p); }
//! ```

use std::error::Error;

use warpline_analysis::dataflow::{ProgramBuilder, Variable};
use warpline_analysis::ssi::{Point, SplitSet, VersionDef, ssify_with};
use warpline_analysis::{CsrGraph, Node};

fn main() -> Result<(), Box<dyn Error>> {
    let edges = [(0, 1), (0, 2)].map(|(from, to)| (Node(from), Node(to)));
    let [p, c] = [0, 1].map(Variable);
    let mut builder = ProgramBuilder::new(CsrGraph::new(3, Node(0), edges)?, 2);
    [p, c].into_iter().for_each(|v| builder.on_entry(v));
    builder.begin(Node(0));
    let check = builder.instruction([p], []);
    builder.branch([c]);
    builder.begin(Node(1));
    let checked_read = builder.instruction([p], []);
    builder.begin(Node(2));
    builder.instruction([], [p]);
    let unchecked_read = builder.instruction([p], []);
    let program = builder.build()?;

    let ssi = ssify_with(&program, |variable| SplitSet {
        down: if variable == p { vec![Point::At(check)] } else { Vec::new() },
        up: Vec::new(),
    });
    let is_checked = |read| {
        let version = ssi.used(program.use_slots(read).start);
        version.is_some_and(|v| ssi.definition(v) == VersionDef::Copy(check))
    };
    println!("{:?}", ssi.counts(&program));
    assert!(is_checked(checked_read) && !is_checked(unchecked_read));
    Ok(())
}

#[test]
fn runs() {
    main().expect("an example that runs");
}
