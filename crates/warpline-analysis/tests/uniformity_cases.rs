//! Cases that other uniformity analyses get wrong, and the finer points of this one.

use warpline_analysis::uniformity::{
    Cause, Evidence, Explainer, Fact, GivenUp, Rule, SsaBuilder, SsaProgram, Uniformity, Value,
};
use warpline_analysis::{CsrGraph, CycleId, EdgeId, Limits, Node, Split, Step};
use warpline_testkit::graphs;

/// A program in the making, with a lane number and two constants.
struct Case {
    graph: CsrGraph,
    builder: SsaBuilder,
    lane: Value,
    zero: Value,
    one: Value,
}

impl Case {
    fn new(nodes: usize, edges: &[(usize, usize)]) -> Self {
        let mut builder = SsaProgram::builder();
        let lane = builder.argument(Rule::Source);
        let (zero, one) = (builder.argument(Rule::Default), builder.argument(Rule::Default));
        Case { graph: graphs::build(nodes, edges.to_vec()), builder, lane, zero, one }
    }

    /// A branch at `node` that depends on the lane.
    fn divergent(mut self, node: u32) -> Self {
        self.builder.terminator(Node(node), [self.lane]);
        self
    }

    fn plain(&mut self, node: u32, operands: &[Value]) -> Value {
        self.builder.plain(Node(node), Rule::Default, operands.iter().copied())
    }

    fn phi(&mut self, node: u32, operands: &[(u32, Value)]) -> Value {
        let on = |e: EdgeId| operands.iter().find(|o| o.0 == e.0).map(|o| o.1);
        let edges = self.graph.in_edges(Node(node)).iter();
        self.builder.phi(Node(node), Rule::Default, edges.map(|&e| (e, on(e))))
    }

    fn analyse(self) -> (CsrGraph, Uniformity) {
        let program = self.builder.build(&self.graph).expect("a case is well formed");
        let uniformity = Uniformity::compute(&self.graph, &program);
        (self.graph, uniformity)
    }
}

#[test]
fn a_phi_behind_long_arms_is_divergent() {
    // 0 → 1 → 2 → 3 → 7 and 0 → 4 → 5 → 6 → 7.
    let edges = [(0, 1), (1, 2), (2, 3), (3, 7), (0, 4), (4, 5), (5, 6), (6, 7)];
    let mut case = Case::new(8, &edges).divergent(0);
    let phi = case.phi(7, &[(3, case.zero), (7, case.one)]);
    let (_, u) = case.analyse();
    assert_eq!(u.cause(phi), Some(Cause::Join(Split::Branch(Node(0)))));
}

#[test]
fn constants_that_differ_by_loop_exit_are_divergent_behind_the_loop() {
    // The header 1 leaves uniformly with 0, the body 2 divergently with 1: who stays leaves later, by the header.
    let mut case = Case::new(4, &[(0, 1), (1, 3), (1, 2), (2, 3), (2, 1)]).divergent(2);
    let phi = case.phi(3, &[(1, case.zero), (3, case.one)]);
    let (_, u) = case.analyse();
    assert!(u.is_divergent(phi));
    assert!(!u.is_divergent_branch(Node(1)));
}

#[test]
fn an_exit_from_a_nested_loop_into_the_header_of_another_loop_leaves_the_outer_loop() {
    // Outer loop 1, inner loop 2; 3 goes on with the outer loop or jumps to loop 4.
    let edges = [(0, 1), (1, 2), (2, 2), (2, 3), (3, 2), (3, 1), (3, 4), (4, 4), (4, 5)];
    let mut case = Case::new(6, &edges).divergent(3);
    let counted = case.plain(1, &[]);
    let used = case.plain(4, &[counted]);
    let (graph, u) = case.analyse();
    assert!(!u.is_divergent(counted));
    assert!(u.is_divergent_at(&graph, counted, Node(4)));
    let outer = u.cycles().innermost(Node(1)).expect("a loop");
    let temporal = Cause::Temporal { operand: counted, cycle: outer, exit: Some(EdgeId(6)) };
    assert_eq!(u.cause(used), Some(temporal));
}

#[test]
fn an_edge_that_leaves_two_loops_makes_the_values_of_both_temporally_divergent() {
    // Loops 1 and 2; 2 leaves both at once.
    let mut case = Case::new(5, &[(0, 1), (1, 2), (2, 2), (2, 3), (3, 1), (2, 4)]).divergent(2);
    let (outer, inner) = (case.plain(1, &[]), case.plain(2, &[]));
    let (graph, u) = case.analyse();
    for value in [outer, inner] {
        assert!(!u.is_divergent(value));
        assert!(u.is_divergent_at(&graph, value, Node(4)));
    }
    assert!(u.is_divergent_at(&graph, inner, Node(3)));
    assert!(!u.is_divergent_at(&graph, outer, Node(3)));
}

#[test]
fn an_always_uniform_value_is_divergent_behind_a_divergent_exit() {
    let mut case = Case::new(3, &[(0, 1), (1, 1), (1, 2)]).divergent(1);
    let ballot = case.builder.plain(Node(1), Rule::AlwaysUniform, [case.lane]);
    let used = case.plain(2, &[ballot]);
    let (_, u) = case.analyse();
    assert!(!u.is_divergent(ballot) && u.is_divergent(used));
}

#[test]
fn an_always_uniform_value_is_divergent_behind_a_cycle_that_was_given_up() {
    // An irreducible cycle of 1 and 2, entered apart from 0.
    let mut case = Case::new(4, &[(0, 1), (0, 2), (1, 2), (2, 1), (2, 3)]).divergent(0);
    let ballot = case.builder.plain(Node(1), Rule::AlwaysUniform, []);
    let other = case.plain(2, &[]);
    let behind = case.plain(3, &[ballot]);
    case.builder.terminator(Node(2), [ballot]);
    let (graph, u) = case.analyse();
    let cycle = u.cycles().innermost(Node(1)).expect("a cycle");
    assert_eq!(u.given_up(cycle), Some(GivenUp::EnteredApart(Split::Branch(Node(0)))));
    assert_eq!(u.cause(other), Some(Cause::GivenUp(cycle)));
    assert!(!u.is_divergent(ballot));
    assert_eq!(u.temporal_at(&graph, ballot, Node(3)), Some(cycle));
    // Threads in 2 have not come from one instance of 1 either.
    assert_eq!(u.temporal_at(&graph, ballot, Node(2)), Some(cycle));
    assert_eq!(u.temporal_at(&graph, ballot, Node(1)), None);
    let temporal = Some(Cause::Temporal { operand: ballot, cycle, exit: None });
    assert_eq!((u.cause(behind), u.branch_cause(Node(2))), (temporal, temporal));
    assert!(u.is_divergent_branch(Node(2)));
}

#[test]
fn an_irreducible_cycle_that_threads_enter_and_pass_together_is_kept() {
    // The branch at 0 is uniform, and the divergent one at 3 comes behind the cycle.
    let mut case = Case::new(5, &[(0, 1), (0, 2), (1, 2), (2, 1), (2, 3), (3, 4), (3, 4)]).divergent(3);
    let inside = case.plain(1, &[]);
    let (graph, u) = case.analyse();
    assert!(!u.is_divergent_at(&graph, inside, Node(1)));
    assert!(u.cycles().cycles().all(|c| u.given_up(c).is_none()));
}

#[test]
fn a_branch_whose_arms_meet_again_inside_an_irreducible_cycle_does_no_harm() {
    // The cycle 1 → 2 → 5 → 1 is entered at 1 and 5; in it 2 branches to 3 or 4 and both go to 5.
    let edges = [(0, 1), (0, 5), (1, 2), (2, 3), (2, 4), (3, 6), (4, 6), (6, 5), (5, 1), (5, 7)];
    let mut case = Case::new(8, &edges).divergent(2);
    let (in_arm, phi) = (case.plain(3, &[]), case.phi(6, &[(5, case.zero), (6, case.one)]));
    let (graph, u) = case.analyse();
    assert!(u.cycles().cycles().any(|c| !u.cycles().is_reducible(c)));
    assert!(u.cycles().cycles().all(|c| u.given_up(c).is_none()));
    assert!(!u.is_divergent_at(&graph, in_arm, Node(3)));
    assert_eq!(u.cause(phi), Some(Cause::Join(Split::Branch(Node(2)))));
}

#[test]
fn a_branch_from_which_threads_reach_different_entries_gives_an_irreducible_cycle_up() {
    // As before, but from 4 threads go back to 1.
    let edges = [(0, 1), (0, 5), (1, 2), (2, 3), (2, 4), (3, 5), (4, 1), (5, 1), (5, 6)];
    let mut case = Case::new(7, &edges).divergent(2);
    let value = case.plain(1, &[]);
    let (_, u) = case.analyse();
    let cycle = u.cycles().innermost(Node(5)).expect("a cycle");
    assert_eq!(u.given_up(cycle), Some(GivenUp::BranchInside(Node(2))));
    assert!(u.is_divergent(value));
}

#[test]
fn arms_that_enter_an_inner_irreducible_cycle_apart_give_the_outer_one_up() {
    // The cycle 1 → 2 → … → 5 → 1 is entered at 1 and 5; from 2 threads enter 3 ⇄ 4 at either end.
    let edges = [(0, 1), (0, 5), (1, 2), (2, 3), (2, 4), (3, 4), (4, 3), (3, 5), (4, 5), (5, 1), (5, 6)];
    let mut case = Case::new(7, &edges).divergent(2);
    let value = case.plain(3, &[]);
    let (_, u) = case.analyse();
    let cycle = u.cycles().innermost(Node(5)).expect("a cycle");
    assert_eq!(u.given_up(cycle), Some(GivenUp::BranchInside(Node(2))));
    assert!(u.is_divergent(value));
}

#[test]
fn a_value_that_is_always_uniform_does_not_change_in_a_loop_that_leaves_its_operands_alone() {
    let mut case = Case::new(3, &[(0, 1), (1, 1), (1, 2)]).divergent(1);
    let difference = case.builder.plain(Node(1), Rule::AlwaysUniform, [case.lane, case.one]);
    case.builder.set_pure(difference);
    let user = case.plain(1, &[case.zero, difference]);
    case.builder.set_pure(user);
    let ballot = case.builder.plain(Node(1), Rule::AlwaysUniform, [case.lane]);
    let (graph, u) = case.analyse();
    assert!(!u.is_divergent_at(&graph, difference, Node(2)) && !u.is_divergent_at(&graph, user, Node(2)));
    assert!(u.is_divergent_at(&graph, ballot, Node(2)));
}

#[test]
fn a_pure_value_of_things_that_the_loop_does_not_change_is_uniform_behind_it() {
    let mut case = Case::new(3, &[(0, 1), (1, 1), (1, 2)]).divergent(1);
    let product = case.plain(1, &[case.zero, case.one]);
    case.builder.set_pure(product);
    let load = case.plain(1, &[case.zero]);
    // Of a product that is declared later.
    let square = case.plain(1, &[Value(load.0 + 2)]);
    case.builder.set_pure(square);
    let later = case.plain(1, &[case.one, product]);
    case.builder.set_pure(later);
    let (graph, u) = case.analyse();
    assert!(!u.is_divergent_at(&graph, product, Node(2)));
    assert!(!u.is_divergent_at(&graph, square, Node(2)) && !u.is_divergent_at(&graph, later, Node(2)));
    assert!(u.is_divergent_at(&graph, load, Node(2)));
}

#[test]
fn what_only_a_uniform_exit_leads_to_is_not_temporally_divergent() {
    // The header 1 leaves uniformly to 3, the body 2 divergently to 4; they never meet.
    let mut case = Case::new(5, &[(0, 1), (1, 2), (2, 1), (1, 3), (2, 4)]).divergent(2);
    let counter = case.plain(1, &[]);
    let (graph, u) = case.analyse();
    assert!(!u.is_divergent_at(&graph, counter, Node(3)));
    assert!(u.is_divergent_at(&graph, counter, Node(4)));
}

#[test]
fn an_exit_that_two_branches_make_divergent_is_one_exit() {
    // The header 1 leaves uniformly to 3. In the body 5 goes on divergently to 2 or back; 2 leaves divergently to 4.
    let mut case =
        Case::new(6, &[(0, 1), (1, 5), (5, 2), (5, 1), (2, 1), (1, 3), (2, 4)]).divergent(2).divergent(5);
    let counter = case.plain(1, &[]);
    let (at_3, at_4) = (case.plain(3, &[counter]), case.plain(4, &[counter]));
    let (_, u) = case.analyse();
    assert!(!u.is_divergent(at_3) && u.is_divergent(at_4));
}

#[test]
fn uses_behind_every_divergent_exit_are_divergent_although_none_was_declared() {
    // 1 and 2 leave divergently, to 3 and 4, which never meet; 5 leaves uniformly to 6.
    let edges = [(0, 1), (1, 2), (1, 3), (2, 5), (2, 4), (5, 1), (5, 6)];
    let mut case = Case::new(7, &edges).divergent(1).divergent(2);
    let counter = case.plain(1, &[]);
    let (graph, u) = case.analyse();
    let at = |n| u.is_divergent_at(&graph, counter, Node(n));
    assert!(at(3) && at(4) && !at(6) && !at(5));
}

#[test]
fn a_phi_in_a_join_is_uniform_if_threads_arrive_with_one_operand() {
    // 0 branches to 1 and 2 on the lane, 3 is uniform; in 5 the operands from 1 and 2 are the same.
    let edges = [(3, 0), (3, 4), (0, 1), (0, 2), (1, 5), (2, 5), (4, 5)];
    let edges: Vec<(usize, usize)> = edges.iter().map(|&(s, t)| (swap(s), swap(t))).collect();
    let mut case = Case::new(6, &edges).divergent(3);
    let (zero, one) = (case.zero, case.one);
    let same = case.phi(5, &[(4, zero), (5, zero), (6, one)]);
    let different = case.phi(5, &[(4, zero), (5, one), (6, one)]);
    let (_, u) = case.analyse();
    assert_eq!(u.divergent_join(Node(5)), Some(Split::Branch(Node(3))));
    assert!(!u.is_divergent(same) && u.is_divergent(different));
}

#[test]
fn a_second_branch_that_parts_threads_before_the_same_two_nodes_is_looked_at_where_a_phi_is_open() {
    // 0 goes to 1 or 2 uniformly; from either threads go to 3 → 4 or straight to 4. In 4 one of the straight edges
    // brings another operand.
    let edges = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)];
    for other in [3, 5] {
        let mut case = Case::new(5, &edges).divergent(1).divergent(2);
        let operands = [3, 5, 6].map(|e| (e, if e == other { case.one } else { case.zero }));
        let phi = case.phi(4, &operands);
        let same = case.phi(4, &[(3, case.one), (5, case.one), (6, case.one)]);
        let (_, u) = case.analyse();
        assert!(u.is_divergent(phi) && !u.is_divergent(same));
    }
}

#[test]
fn a_join_that_only_the_second_of_two_branches_has_is_named_although_no_phi_is_there() {
    // 0 goes to 1 or 2 uniformly; from 1 threads go to 3 or 4, from 2 to 3, by 5 to 4, or by 6 to 4. Nothing is
    // behind 3 and 4.
    let edges = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 3), (2, 5), (2, 6), (5, 4), (6, 4)];
    for (turn, backwards) in (0..edges.len()).flat_map(|t| [(t, false), (t, true)]) {
        let mut edges = edges.to_vec();
        edges.rotate_left(turn);
        if backwards {
            edges.reverse();
        }
        let (_, u) = Case::new(7, &edges).divergent(1).divergent(2).analyse();
        assert_eq!(u.divergent_join(Node(4)), Some(Split::Branch(Node(2))), "{edges:?}");
        assert_eq!(u.divergent_join(Node(3)), None);
    }
}

#[test]
fn a_phi_of_one_value_and_itself_is_that_value_unless_it_can_begin_undefined() {
    // The loop 1 → 2 → 1 with the shortcut 1 → 1; threads part in 1.
    let edges = [(0, 1), (1, 1), (1, 2), (2, 1), (2, 3)];
    let mut case = Case::new(4, &edges).divergent(1);
    let itself = Value(3);
    let value = case.zero;
    let kept = case.phi(1, &[(0, value), (1, itself), (3, value)]);
    assert_eq!(kept, itself);
    let undefined = case.phi(1, &[(1, Value(4)), (3, value)]);
    let (graph, u) = case.analyse();
    assert!(!u.is_divergent(kept) && u.is_divergent(undefined));
    assert!(!u.is_divergent_at(&graph, kept, Node(3)));
}

#[test]
fn a_phi_in_a_join_is_uniform_if_threads_bring_different_operands_only_along_one_way() {
    // Threads part at 0 to 1 or 2. From 1 all go to 3 by the one edge or the other; from 2 they bring nothing.
    let mut case = Case::new(4, &[(0, 1), (0, 2), (1, 3), (1, 3), (2, 3)]).divergent(0);
    let (zero, one) = (Some(case.zero), Some(case.one));
    let mut phi = |third| {
        let operands = [(EdgeId(2), zero), (EdgeId(3), one), (EdgeId(4), third)];
        case.builder.phi(Node(3), Rule::Default, operands)
    };
    let (uniform, divergent) = (phi(None), phi(one));
    let (_, u) = case.analyse();
    assert_eq!(u.divergent_join(Node(3)), Some(Split::Branch(Node(0))));
    assert!(!u.is_divergent(uniform) && u.is_divergent(divergent));
}

#[test]
fn an_exit_out_of_a_nest_that_is_too_large_to_be_looked_into_is_an_exit_all_the_same() {
    // Loop 1: 2 leaves divergently to 4; the inner loop 3, which may be left to 1, leaves both at once to 5. 4 and 5
    // meet in 6.
    let edges = [(0, 1), (1, 2), (1, 3), (2, 4), (2, 1), (3, 3), (3, 1), (3, 5), (4, 6), (5, 6)];
    let mut case = Case::new(7, &edges).divergent(2);
    let phi = case.phi(6, &[(8, case.zero), (9, case.one)]);
    let program = case.builder.build(&case.graph).expect("a case is well formed");
    for early_exits in 0..6 {
        let limits = Limits { early_exits, ..Limits::of(&case.graph) };
        let u = Uniformity::compute_within(&case.graph, &program, &limits);
        assert!(u.is_divergent(phi), "with at most {early_exits} early exits");
    }
}

/// Exchanges nodes 0 and 3, so that the entry is node 0.
fn swap(n: usize) -> usize {
    match n {
        0 => 3,
        3 => 0,
        n => n,
    }
}

#[test]
fn parallel_edges_of_a_divergent_switch_are_told_apart_by_a_phi() {
    let mut case = Case::new(2, &[(0, 1), (0, 1)]).divergent(0);
    let phi = case.phi(1, &[(0, case.zero), (1, case.one)]);
    let same = case.phi(1, &[(0, case.one), (1, case.one)]);
    let (_, u) = case.analyse();
    assert!(u.is_divergent(phi) && !u.is_divergent(same));
    // All threads go to the same block all the same.
    assert!(!u.is_divergent_branch(Node(0)));
    assert_eq!(u.branch_cause(Node(0)), Some(Cause::Operand(Value(0))));
}

#[test]
fn infinite_loops_and_several_returns_are_no_joins() {
    // 1 loops for ever, 2 and 3 return.
    let mut case = Case::new(4, &[(0, 1), (1, 1), (0, 2), (0, 3)]).divergent(0);
    let phi = case.phi(1, &[(0, case.zero), (1, case.one)]);
    let (_, u) = case.analyse();
    assert!(!u.is_divergent(phi));
    assert!((0..4).all(|n| u.divergent_join(Node(n)).is_none()));
}

#[test]
fn an_undefined_operand_is_no_operand() {
    let mut case = Case::new(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]).divergent(0);
    let phi = case.builder.phi(Node(3), Rule::Default, [(EdgeId(2), Some(case.one)), (EdgeId(3), None)]);
    let (_, u) = case.analyse();
    assert!(!u.is_divergent(phi));
}

#[test]
fn a_chain_of_causes_leads_from_a_value_to_the_source() {
    let mut case = Case::new(3, &[(0, 1), (1, 1), (1, 2)]);
    let less = case.plain(1, &[case.lane]);
    case.builder.terminator(Node(1), [less]);
    let counter = case.plain(1, &[]);
    let behind = case.plain(2, &[counter]);
    let lane = case.lane;
    let (_, u) = case.analyse();
    let (cycle, exit) = (CycleId(0), EdgeId(2));
    let chain = [
        Fact::Value(behind, Cause::Temporal { operand: counter, cycle, exit: Some(exit) }),
        Fact::DivergentExit(cycle, exit, Split::Branch(Node(1))),
        Fact::Branch(Node(1), Cause::Operand(less)),
        Fact::Value(less, Cause::Operand(lane)),
        Fact::Value(lane, Cause::Source),
    ];
    assert_eq!(u.explain(behind), chain);
    assert!(u.explain(counter).is_empty());
}

#[test]
fn witness_paths_bring_different_operands() {
    // Three ways from 0 to 4, two of which bring the same.
    let mut case = Case::new(5, &[(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)]).divergent(0);
    let phi = case.phi(4, &[(3, case.zero), (4, case.zero), (5, case.one)]);
    let program = case.builder.build(&case.graph).unwrap();
    let u = Uniformity::compute(&case.graph, &program);
    let chain = Explainer::new(&case.graph, &program, &u).value(phi);
    let Evidence::Paths(witness) = &chain[0].evidence else { panic!("{chain:?}") };
    let last = witness.paths.each_ref().map(|p| p.last() == Some(&Step::Edge(EdgeId(5))));
    assert!(last[0] != last[1], "{witness:?}");
}

#[test]
fn threads_that_meet_at_once_at_an_entry_of_another_irreducible_cycle_are_together() {
    // {3, 4, 6} and without 3 {4, 6} are irreducible; the branch at 3 has two edges to 4.
    let edges = [(0, 3), (0, 4), (0, 6), (3, 4), (3, 4), (4, 6), (6, 4), (6, 3)];
    let mut case = Case::new(7, &edges).divergent(3);
    let phi = case.phi(4, &[(1, case.zero), (3, case.zero), (4, case.one), (6, case.zero)]);
    let same = case.plain(4, &[case.one]);
    let (_, u) = case.analyse();
    assert_eq!(u.cause(phi), Some(Cause::Join(Split::Branch(Node(3)))));
    assert!(!u.is_divergent(same) && u.cycles().cycles().all(|c| u.given_up(c).is_none()));
}

#[test]
fn programs_that_name_what_does_not_exist_are_errors() {
    let graph = graphs::build(2, vec![(0, 1)]);
    let mut builder = SsaProgram::builder();
    builder.plain(Node(7), Rule::Default, []);
    assert!(builder.build(&graph).is_err());
    let mut builder = SsaProgram::builder();
    builder.plain(Node(0), Rule::Default, [Value(9)]);
    assert_eq!(builder.build(&graph).unwrap_err().to_string(), "operand v9 of v0 was never declared");
    let mut builder = SsaProgram::builder();
    let one = builder.argument(Rule::Default);
    builder.phi(Node(0), Rule::Default, [(EdgeId(0), Some(one))]);
    assert!(builder.build(&graph).is_err());
}
