//! A data-flow problem of one's own: which signs can a variable have? Solved sparsely, with one fact for each part of
//! a live range.
//!
//! ```text
//! x = argument; if (x < 0) { y = -x; } else { y = x; } use(y);
//! ```

use std::error::Error;

use warpline_analysis::dataflow::{
    Forward, ForwardEdge, ForwardFacts, Instruction, Lattice, ProgramBuilder, TestKind, Variable,
    solve_forward,
};
use warpline_analysis::ssi::{Strategy, ssify};
use warpline_analysis::{CsrGraph, EdgeId, Node};

/// Which signs are possible: a bit each for negative, zero, positive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Signs(u8);

const NEGATIVE: Signs = Signs(0b001);
const NOT_NEGATIVE: Signs = Signs(0b110);
const ANY: Signs = Signs(0b111);

impl Lattice for Signs {
    fn top() -> Self {
        Signs(0)
    }

    fn meet(&mut self, other: &Self) -> bool {
        let before = *self;
        self.0 |= other.0;
        *self != before
    }
}

impl Signs {
    fn negated(self) -> Signs {
        Signs(self.0 & 0b010 | self.0 >> 2 & 1 | (self.0 & 1) << 2)
    }
}

/// What instructions and edges mean. Instruction 0 is the branch, 1 the negation, 2 the copy, 3 the use.
struct SignsOf;

impl Forward for SignsOf {
    type Fact = Signs;

    fn on_entry(&self, _: Variable) -> Signs {
        ANY
    }

    fn instruction(&self, at: Instruction, facts: &mut impl ForwardFacts<Signs>) {
        match at.0 {
            1 => facts.define(0, facts.before(0).negated()),
            2 => facts.define(0, *facts.before(0)),
            _ => {}
        }
    }

    fn edge(&self, edge: EdgeId, facts: &mut impl ForwardEdge<Signs>) -> bool {
        let allowed = match edge.0 {
            0 => NEGATIVE,
            1 => NOT_NEGATIVE,
            _ => return true,
        };
        let left = Signs(facts.before(0).0 & allowed.0);
        facts.refine(0, left);
        // No sign is left: control cannot come here.
        left != Signs::top()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3)];
    let graph = CsrGraph::new(4, Node(0), edges.map(|(from, to)| (Node(from), Node(to))))?;
    let [x, y] = [0, 1].map(Variable);
    let mut builder = ProgramBuilder::new(graph, 2);
    builder.on_entry(x);
    builder.begin(Node(0));
    builder.branch([x]);
    builder.test(Node(0), x, TestKind::Other);
    builder.begin(Node(1));
    builder.instruction([x], [y]);
    builder.begin(Node(2));
    builder.instruction([x], [y]);
    builder.begin(Node(3));
    let last = builder.instruction([y], []);
    let program = builder.build()?;

    // Information comes from definitions and from conditions: that is e-SSA form.
    let ssi = ssify(&program, &Strategy::E_SSA);
    let solution = solve_forward(&program, &ssi, &SignsOf);
    let read = ssi.used(program.use_slots(last).start).ok_or("nothing is read")?;
    println!("signs of y where it is read: {:?}", solution.fact(read));
    assert_eq!(*solution.fact(read), NOT_NEGATIVE);
    Ok(())
}

#[test]
fn runs() {
    main().expect("an example that runs");
}
