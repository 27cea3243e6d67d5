use alloc::vec::Vec;

use super::*;
use crate::uniformity::{Origin, Rule, SsaProgram, Uniformity, Value};

/// `0 → 1 → 2 → 1, 1 → 3`: edges 0 to 3.
fn loop_graph() -> CsrGraph {
    let edges = [(0, 1), (1, 2), (2, 1), (1, 3)].map(|(a, b)| (Node(a), Node(b)));
    CsrGraph::new(4, Node(0), edges).expect("a graph")
}

const X: Variable = Variable(0);
const Y: Variable = Variable(1);

/// What is wrong with a program over the loop and two variables.
fn wrong(say: impl FnOnce(&mut ProgramBuilder)) -> ProgramError {
    let mut builder = ProgramBuilder::new(loop_graph(), 2);
    say(&mut builder);
    builder.build().expect_err("a wrong program")
}

#[test]
fn what_does_not_exist_is_an_error() {
    let unknown = ProgramError::NoSuchVariable { variable: Variable(2), count: 2 };
    let node = Node(0);
    assert_eq!(wrong(|p| p.on_entry(Variable(2))), unknown);
    assert_eq!(wrong(|p| p.fixed(Variable(2))), unknown);
    assert_eq!(wrong(|p| p.test(node, Variable(2), TestKind::Other)), unknown);
    let instruction = |uses: &[Variable], definitions: &[Variable]| {
        wrong(|p| {
            p.begin(node);
            p.instruction(uses.iter().copied(), definitions.iter().copied());
        })
    };
    assert_eq!(instruction(&[Variable(2)], &[]), unknown);
    assert_eq!(instruction(&[], &[Variable(2)]), unknown);
    assert_eq!(wrong(|p| p.phi(EdgeId(0), X, Variable(2))), unknown);
    assert_eq!(wrong(|p| p.phi(EdgeId(4), X, Y)), ProgramError::NoSuchEdge { edge: EdgeId(4) });
    assert_eq!(wrong(|p| p.begin(Node(4))), ProgramError::NoSuchNode { node: Node(4) });
    assert_eq!(wrong(|p| p.test(Node(4), X, TestKind::Other)), ProgramError::NoSuchNode { node: Node(4) });
    assert_eq!(wrong(|p| _ = p.instruction([], [])), ProgramError::NoBlock);
}

#[test]
fn what_is_said_twice_is_an_error() {
    let begun_twice = wrong(|p| [0, 1, 0].map(Node).into_iter().for_each(|n| p.begin(n)));
    assert_eq!(begun_twice, ProgramError::BegunTwice { node: Node(0) });
    let defined_twice = wrong(|p| {
        p.begin(Node(0));
        p.instruction([], [X, Y, X]);
    });
    assert_eq!(defined_twice, ProgramError::DefinedTwice { variable: X, at: Instruction(0) });
    let tested_twice = wrong(|p| [X, Y, X].into_iter().for_each(|v| p.test(Node(1), v, TestKind::Other)));
    assert_eq!(tested_twice, ProgramError::TestedTwice { variable: X, node: Node(1) });
    let behind_branch = wrong(|p| {
        p.begin(Node(1));
        p.branch([X]);
        p.instruction([X], []);
    });
    assert_eq!(behind_branch, ProgramError::BehindBranch { node: Node(1) });
    let constant = wrong(|p| {
        p.fixed(X);
        p.begin(Node(0));
        p.instruction([], [X]);
    });
    assert_eq!(constant, ProgramError::ConstantIsDefined { variable: X });
}

#[test]
fn in_edges_with_other_phis_are_an_error() {
    let on_one_edge = wrong(|p| p.phi(EdgeId(0), X, Y));
    assert_eq!(on_one_edge, ProgramError::PhisDiffer { edge: EdgeId(2), first: EdgeId(0) });
    let in_another_order = wrong(|p| {
        [(0, X), (0, Y), (2, Y), (2, X)].into_iter().for_each(|(e, v)| p.phi(EdgeId(e), v, v));
    });
    assert_eq!(in_another_order, ProgramError::PhisDiffer { edge: EdgeId(2), first: EdgeId(0) });
    let twice = wrong(|p| [0, 0, 2, 2].into_iter().for_each(|e| p.phi(EdgeId(e), X, Y)));
    assert_eq!(twice, ProgramError::PhiTwice { variable: X, edge: EdgeId(0) });
}

#[test]
fn an_edge_to_the_entry_is_an_error() {
    let graph = CsrGraph::new(1, Node(0), [(Node(0), Node(0))]).expect("a graph");
    let error = ProgramBuilder::new(graph, 0).build().expect_err("an edge to the entry");
    assert_eq!(error, ProgramError::EntryIsTarget { edge: EdgeId(0) });
}

/// `x = φ(n, y)` in the loop's header; `while (x < n) y = x + lane`.
fn counting() -> Program {
    let [n, lane, x, y] = [0, 1, 2, 3].map(Variable);
    let mut builder = ProgramBuilder::new(loop_graph(), 4);
    builder.on_entry(n);
    builder.on_entry(lane);
    builder.phi(EdgeId(0), x, n);
    builder.phi(EdgeId(2), x, y);
    builder.begin(Node(1));
    builder.branch([x, n]);
    builder.begin(Node(2));
    builder.instruction([x, lane], [y]);
    builder.build().expect("a program")
}

#[test]
fn one_description_serves_uniformity() {
    let program = counting();
    let rule = |o: Origin| if o == Origin::Entry(Variable(1)) { Rule::Source } else { Rule::Default };
    let ssa = SsaProgram::of(&program, rule).expect("SSA form");
    let found = Uniformity::compute(program.graph(), &ssa);
    let divergent: Vec<usize> = found.divergent_values().iter().collect();
    assert_eq!(divergent, [1, 2, 3]);
    assert!(found.is_divergent_branch(Node(1)));
    assert!(!found.is_divergent(Value(0)));
}

#[test]
fn uniformity_asks_for_one_definition_of_each_variable() {
    let mut builder = ProgramBuilder::new(loop_graph(), 2);
    builder.begin(Node(0));
    builder.instruction([], [X]);
    builder.instruction([], [X]);
    let program = builder.build().expect("a program");
    let error = SsaProgram::of(&program, |_| Rule::Default).expect_err("two definitions");
    assert_eq!(error, ProgramError::SeveralDefinitions { variable: X });
}

#[test]
#[should_panic(expected = "over another graph")]
fn another_graph_of_the_same_size_is_noticed() {
    let program = counting();
    let ssa = SsaProgram::of(&program, |_| Rule::Default).expect("SSA form");
    let edges = [(0, 1), (1, 2), (2, 1), (2, 3)].map(|(a, b)| (Node(a), Node(b)));
    let other = CsrGraph::new(4, Node(0), edges).expect("a graph");
    Uniformity::compute(&other, &ssa);
}
