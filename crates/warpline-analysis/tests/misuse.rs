//! What a compiler author gets wrong at first is an error that says where, and no result.

use warpline_analysis::dataflow::{Program, ProgramBuilder, TestKind, Variable};
use warpline_analysis::phi_placement::{Accesses, Dominators, Pruning, precise};
use warpline_analysis::ssi::{Ssi, Strategy, ssify};
use warpline_analysis::uniformity::{Facts, Origin, Rule, SsaBuilder, SsaProgram, Uniformity, Value};
use warpline_analysis::{CsrGraph, EdgeId, Graph, Node, ProgramError};
use warpline_testkit::graphs;
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::ssa_programs;

/// `0 → 1, 0 → 2, 1 → 3, 2 → 3`.
fn diamond() -> CsrGraph {
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(from, to)| (Node(from), Node(to)));
    CsrGraph::new(4, Node(0), edges).expect("a graph")
}

/// What becomes of a program over the diamond with three variables.
fn described(describe: impl FnOnce(&mut ProgramBuilder)) -> Result<Program, ProgramError> {
    let mut builder = ProgramBuilder::new(diamond(), 3);
    describe(&mut builder);
    builder.build()
}

/// What becomes of values over the diamond.
fn built(declare: impl FnOnce(&mut SsaBuilder)) -> Result<SsaProgram, ProgramError> {
    let mut builder = SsaProgram::builder();
    declare(&mut builder);
    builder.build(&diamond())
}

fn nothing_special(_: Origin) -> Rule {
    Rule::Default
}

#[test]
fn what_is_named_must_exist() {
    let unknown = Variable(7);
    let error = ProgramError::NoSuchVariable { variable: unknown, count: 3 };
    let uses: [fn(&mut ProgramBuilder); 7] = [
        |b| b.on_entry(Variable(7)),
        |b| b.fixed(Variable(7)),
        |b| {
            b.begin(Node(0));
            b.instruction([Variable(7)], []);
        },
        |b| {
            b.begin(Node(0));
            b.instruction([], [Variable(7)]);
        },
        |b| {
            b.begin(Node(0));
            b.branch([Variable(7)]);
        },
        |b| b.test(Node(0), Variable(7), TestKind::Other),
        |b| (2..4).for_each(|e| b.phi(EdgeId(e), Variable(0), Variable(7))),
    ];
    for (k, describe) in uses.into_iter().enumerate() {
        assert_eq!(described(describe).err(), Some(error.clone()), "{k}");
    }
    let node = Node(9);
    assert_eq!(described(|b| b.begin(node)).err(), Some(ProgramError::NoSuchNode { node }));
    let edge = EdgeId(9);
    let phi = described(|b| b.phi(edge, Variable(0), Variable(1)));
    assert_eq!(phi.err(), Some(ProgramError::NoSuchEdge { edge }));
    let operand = Value(5);
    let used = built(|b| _ = b.plain(Node(0), Rule::Default, [operand])).err();
    assert_eq!(used, Some(ProgramError::NoSuchOperand { user: Some(Value(0)), operand }));
    let decides = built(|b| b.terminator(Node(0), [operand])).err();
    assert_eq!(decides, Some(ProgramError::NoSuchOperand { user: None, operand }));
}

#[test]
fn phis_are_on_all_edges_that_arrive() {
    let [x, a] = [0, 1].map(Variable);
    let one_sided = described(|b| b.phi(EdgeId(2), x, a)).err();
    let (edge, first) = (EdgeId(3), EdgeId(2));
    assert_eq!(one_sided, Some(ProgramError::PhisDiffer { edge, first }));
    let phi = Value(0);
    let (two, three) = ((EdgeId(2), None), (EdgeId(3), None));
    let forgotten = built(|b| _ = b.phi(Node(3), Rule::Default, [two])).err();
    assert_eq!(forgotten, Some(ProgramError::MissingEdge { phi, edge: EdgeId(3) }));
    let repeated = built(|b| _ = b.phi(Node(3), Rule::Default, [two, three, two])).err();
    assert_eq!(repeated, Some(ProgramError::RepeatedEdge { phi, edge: EdgeId(2) }));
    let elsewhere = built(|b| _ = b.phi(Node(3), Rule::Default, [two, three, (EdgeId(0), None)])).err();
    assert_eq!(elsewhere, Some(ProgramError::NotAnInEdge { phi, edge: EdgeId(0) }));
    assert!(built(|b| _ = b.phi(Node(3), Rule::Default, [three, two])).is_ok());
}

#[test]
fn a_block_is_begun_once_and_ends_with_its_branch() {
    let node = Node(1);
    let twice = described(|b| [node, Node(2), node].into_iter().for_each(|n| b.begin(n))).err();
    assert_eq!(twice, Some(ProgramError::BegunTwice { node }));
    let behind = described(|b| {
        b.on_entry(Variable(0));
        b.begin(Node(0));
        b.branch([Variable(0)]);
        b.instruction([], []);
    });
    assert_eq!(behind.err(), Some(ProgramError::BehindBranch { node: Node(0) }));
}

#[test]
fn values_are_defined_before_they_are_used() {
    let x = Variable(0);
    let in_order = |at_join: bool| {
        described(|b| {
            b.begin(Node(1));
            b.instruction([], [x]);
            b.begin(if at_join { Node(3) } else { Node(1) }.min(Node(3)));
            b.instruction([x], []);
        })
    };
    // Written in one arm, read behind both.
    let program = in_order(true).expect("a program, though not in SSA form");
    let error = ProgramError::UsedUndefined { variable: x, node: Node(3) };
    assert_eq!(program.check_ssa(), Err(error.clone()));
    assert_eq!(SsaProgram::of(&program, nothing_special).err(), Some(error));
    assert!(SsaProgram::of_versions(&program, &ssify(&program, &Strategy::SSA), nothing_special).is_ok());
    // Read before it is written, in one block.
    let program = described(|b| {
        b.begin(Node(1));
        b.instruction([x], []);
        b.instruction([], [x]);
    });
    let error = ProgramError::UsedUndefined { variable: x, node: Node(1) };
    assert_eq!(program.expect("a program").check_ssa(), Err(error));
    // Never written.
    let program = described(|b| b.test(Node(2), x, TestKind::Other)).expect("a program");
    assert_eq!(program.check_ssa(), Err(ProgramError::UsedUndefined { variable: x, node: Node(2) }));
    // A φ takes its operands at the ends of edges.
    let [a, b] = [1, 2].map(Variable);
    let merged = |crossed: bool| {
        described(|p| {
            let (in_one, in_two) = if crossed { (b, a) } else { (a, b) };
            p.begin(Node(1));
            p.instruction([], [in_one]);
            p.begin(Node(2));
            p.instruction([], [in_two]);
            p.phi(EdgeId(2), x, a);
            p.phi(EdgeId(3), x, b);
            p.begin(Node(3));
            p.branch([x]);
        })
        .expect("a program")
    };
    assert_eq!(merged(false).check_ssa(), Ok(()));
    let error = ProgramError::UsedUndefined { variable: a, node: Node(1) };
    assert_eq!(merged(true).check_ssa(), Err(error));
}

#[test]
fn dominance_of_values_can_be_checked() {
    let program = built(|b| {
        let x = b.plain(Node(1), Rule::Default, []);
        b.phi(Node(3), Rule::Default, [(EdgeId(2), Some(x)), (EdgeId(3), None)]);
        b.terminator(Node(1), [x]);
    });
    assert_eq!(program.expect("values").check_dominance(&diamond()), Ok(()));
    let (operand, node) = (Value(0), Node(2));
    let program = built(|b| {
        let x = b.plain(Node(1), Rule::Default, []);
        b.phi(Node(3), Rule::Default, [(EdgeId(3), Some(x)), (EdgeId(2), None)]);
    });
    let error = ProgramError::NotDefinedBefore { user: Some(Value(1)), operand, node };
    assert_eq!(program.expect("values").check_dominance(&diamond()), Err(error));
    let program = built(|b| {
        let x = b.plain(Node(1), Rule::Default, []);
        b.terminator(Node(2), [x]);
    });
    let error = ProgramError::NotDefinedBefore { user: None, operand, node };
    assert_eq!(program.expect("values").check_dominance(&diamond()), Err(error));
    for seed in 0..300 {
        let rng = &mut SplitMix64::new(seed);
        let graph = graphs::arbitrary(rng, 12);
        let program = ssa_programs::of_phis(rng, &graph);
        assert_eq!(program.check_dominance(&graph), Ok(()), "seed {seed}");
    }
}

#[test]
fn a_result_is_of_the_graph_and_the_program_that_were_described() {
    let turned = [(0, 2), (0, 1), (1, 3), (2, 3)].map(|(from, to)| (Node(from), Node(to)));
    let other = CsrGraph::new(4, Node(0), turned).expect("a graph");
    let ssa = built(|b| _ = b.argument(Rule::Source)).expect("a value");
    assert_eq!(ssa.check_graph(&diamond()), Ok(()));
    assert_eq!(ssa.check_graph(&other), Err(ProgramError::OtherGraph));
    assert!(Uniformity::compute_with_facts(&other, &ssa, &Facts::none()).is_err());

    let x = Variable(0);
    let program = |uses: &[Variable]| {
        described(|b| {
            b.on_entry(x);
            b.on_entry(Variable(1));
            b.begin(Node(0));
            b.instruction(uses.iter().copied(), []);
        })
        .expect("a program")
    };
    let (mine, another) = (program(&[x]), program(&[Variable(1)]));
    let ssi: Ssi = ssify(&mine, &Strategy::E_SSA);
    assert_eq!(ssi.check_program(&mine), Ok(()));
    assert_eq!(ssi.check_program(&program(&[x])), Ok(()), "described in the same words");
    assert_eq!(ssi.check_program(&another), Err(ProgramError::OtherProgram));
    let mixed = SsaProgram::of_versions(&another, &ssi, nothing_special);
    assert_eq!(mixed.err(), Some(ProgramError::OtherProgram));
}

#[test]
#[should_panic(expected = "another graph")]
fn uniformity_over_another_graph_is_refused() {
    let ssa = built(|b| _ = b.argument(Rule::Source)).expect("a value");
    let smaller = CsrGraph::new(1, Node(0), []).expect("a graph");
    Uniformity::compute(&smaller, &ssa);
}

#[test]
fn accesses_name_variables_and_nodes_that_exist() {
    let none = std::iter::empty;
    let pair = |x, n| std::iter::once((x, Node(n)));
    let node = Node(4);
    assert_eq!(Accesses::new(4, 1, pair(0, 4), none(), []), Err(ProgramError::NoSuchNode { node }));
    assert_eq!(Accesses::new(4, 1, none(), pair(0, 4), []), Err(ProgramError::NoSuchNode { node }));
    let error = ProgramError::NoSuchVariable { variable: Variable(1), count: 1 };
    assert_eq!(Accesses::new(4, 1, pair(1, 0), none(), []), Err(error.clone()));
    assert_eq!(Accesses::new(4, 1, none(), none(), [1]), Err(error));
}

#[test]
#[should_panic(expected = "another graph")]
fn placement_on_another_graph_is_refused() {
    let accesses =
        Accesses::new(9, 1, std::iter::once((0, Node(8))), std::iter::empty(), []).expect("accesses");
    let graph = diamond();
    assert_eq!(graph.node_count(), 4);
    precise::place(&Dominators::of(&graph), &accesses, Pruning::Minimal);
}
