//! Data-flow solvers on small programs with known answers.

use warpline_analysis::dataflow::{
    Backward, BackwardFacts, Forward, ForwardEdge, ForwardFacts, Instruction, Lattice, Program,
    ProgramBuilder, TestKind, Variable, solve_backward, solve_forward, solve_forward_narrowing,
};
use warpline_analysis::ssi::{Ssi, Version};
use warpline_analysis::{CsrGraph, EdgeId, Node};

/// An interval of numbers; empty at the top.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Interval {
    Empty,
    From(i64, i64),
}

const MAX: i64 = 1000;

impl Lattice for Interval {
    fn top() -> Self {
        Interval::Empty
    }

    fn meet(&mut self, other: &Self) -> bool {
        let new = match (*self, *other) {
            (Interval::Empty, x) | (x, Interval::Empty) => x,
            (Interval::From(a, b), Interval::From(c, d)) => Interval::From(a.min(c), b.max(d)),
        };
        std::mem::replace(self, new) != new
    }
}

/// `i = 0; while (i < 10) i = i + 1;` with variables 0: zero, 1: i at the header, 2: i + 1.
fn counting_loop() -> Program {
    let edges = [(0, 1), (1, 2), (2, 1), (1, 3)];
    let graph = CsrGraph::new(4, Node(0), edges.map(|(a, b)| (Node(a), Node(b)))).unwrap();
    let mut builder = ProgramBuilder::new(graph, 3);
    builder.fixed(Variable(0));
    builder.begin(Node(2));
    builder.instruction([Variable(1)], [Variable(2)]);
    builder.begin(Node(3));
    builder.instruction([Variable(1)], []);
    builder.test(Node(1), Variable(1), TestKind::Other);
    builder.phi(EdgeId(0), Variable(1), Variable(0));
    builder.phi(EdgeId(2), Variable(1), Variable(2));
    builder.build().expect("a well-formed program")
}

struct Counting;

impl Forward for Counting {
    type Fact = Interval;

    fn on_entry(&self, _: Variable) -> Interval {
        Interval::From(0, 0)
    }

    fn instruction(&self, at: Instruction, facts: &mut impl ForwardFacts<Interval>) {
        if at == Instruction(0) {
            let next = match *facts.before(0) {
                Interval::Empty => Interval::Empty,
                // Without a split at the test the loop's condition is not known here: the sum is bounded by hand.
                Interval::From(a, b) => Interval::From((a + 1).min(10), (b + 1).min(10)),
            };
            facts.define(0, next);
        }
    }

    fn edge(&self, edge: EdgeId, facts: &mut impl ForwardEdge<Interval>) -> bool {
        // The exit is taken when `i` can be 10.
        edge != EdgeId(3) || matches!(*facts.before(0), Interval::From(_, high) if high >= 10)
    }

    fn widen(&self, _: Node, old: &Interval, new: Interval) -> Interval {
        match (*old, new) {
            (Interval::Empty, _) | (_, Interval::Empty) => new,
            (_, Interval::From(low, _)) => Interval::From(low, MAX),
        }
    }
}

#[test]
fn widening_cuts_a_loop_short_and_narrowing_takes_back_what_it_lost() {
    let program = counting_loop();
    let ssi = Ssi::unsplit(&program);
    let solution = solve_forward(&program, &ssi, &Counting);
    assert_eq!(*solution.fact(Version(1)), Interval::From(0, MAX));
    assert!(solution.is_reached(Node(3)) && solution.is_taken(EdgeId(3)));
    let narrowed = solve_forward_narrowing(&program, &ssi, &Counting, 2);
    assert_eq!(*narrowed.fact(Version(1)), Interval::From(0, 10));
    assert_eq!(*narrowed.fact(Version(2)), Interval::From(1, 10));
}

/// Used variables.
struct Used;

#[derive(Clone, PartialEq, Debug)]
struct Flag(bool);

impl Lattice for Flag {
    fn top() -> Self {
        Flag(false)
    }

    fn meet(&mut self, other: &Self) -> bool {
        let new = other.0 && !self.0;
        self.0 |= other.0;
        new
    }
}

impl Backward for Used {
    type Fact = Flag;

    fn instruction(&self, at: Instruction, facts: &mut impl BackwardFacts<Flag>) {
        // The last instruction is what counts; the other passes on whether its result does.
        let used = if at == Instruction(1) { Flag(true) } else { facts.result(0).clone() };
        facts.lower(0, used);
    }
}

#[test]
fn what_an_instruction_needs_is_needed_through_the_phi_of_a_loop() {
    let program = counting_loop();
    let solution = solve_backward(&program, &Ssi::unsplit(&program), &Used);
    for version in 0..3 {
        assert_eq!(*solution.fact(Version(version)), Flag(true), "version {version}");
    }
}
