//! Programs of which some version of LLVM's uniformity analysis claims too much. Each is run with many threads first,
//! so that the divergence is seen; then it must be found.

use warpline_analysis::uniformity::{Cause, Rule, SsaBuilder, SsaProgram, Uniformity, Value};
use warpline_analysis::{CsrGraph, EdgeId, Node};
use warpline_testkit::claims::{Seen, violation};
use warpline_testkit::graph_oracles::Dominance;
use warpline_testkit::graphs;
use warpline_testkit::hierarchies;
use warpline_testkit::lockstep::{self, Observed};
use warpline_testkit::tagged::Tags;

/// A program in the making, with some constants.
struct Case {
    graph: CsrGraph,
    builder: SsaBuilder,
    constants: Vec<Value>,
}

/// A program, what threads were seen to disagree on, and what the analysis says.
struct Judged {
    graph: CsrGraph,
    seen: Observed,
    uniformity: Uniformity,
}

impl Case {
    fn new(nodes: usize, edges: &[(usize, usize)]) -> Self {
        let mut builder = SsaProgram::builder();
        let constants = (0..4).map(|_| builder.argument(Rule::Default)).collect();
        Case { graph: graphs::build(nodes, edges.to_vec()), builder, constants }
    }

    fn value(&mut self, node: usize, rule: Rule, operands: &[Value]) -> Value {
        self.builder.plain(Node::new(node), rule, operands.iter().copied())
    }

    /// A branch at `node` on something that is different in each thread and each time.
    fn divergent(&mut self, node: usize) {
        let condition = self.value(node, Rule::Source, &[]);
        self.builder.terminator(Node::new(node), [condition]);
    }

    /// A φ with another constant on each in-edge.
    fn constants_by_edge(&mut self, node: usize) -> Value {
        let edges = self.graph.in_edges(Node::new(node)).to_vec();
        let operands = edges.into_iter().zip(self.constants.iter().map(|&c| Some(c)));
        self.builder.phi(Node::new(node), Rule::Default, operands)
    }

    fn judge(self) -> Judged {
        let program = self.builder.build(&self.graph).expect("a case is well formed");
        let mut seen = Observed::nothing(&self.graph, &program);
        for hierarchy in hierarchies::all(&self.graph, 1000).expect("a small graph") {
            for seed in 0..40 {
                let tags = Tags::of_hierarchy(&hierarchy);
                lockstep::run(&self.graph, &program, &tags, seed, 8, 60, &mut seen);
            }
        }
        let uniformity = Uniformity::compute(&self.graph, &program);
        let dominance = Dominance::of(&self.graph);
        let run = Seen { graph: &self.graph, dominance: &dominance, program: &program, observed: &seen };
        assert_eq!(violation(run, &uniformity, &self.graph, |e| e), None);
        Judged { graph: self.graph, seen, uniformity }
    }
}

impl Judged {
    /// Threads disagree on the value, and it is found divergent.
    fn is_divergent(&self, value: Value) -> bool {
        assert!(self.seen.divergent.contains(value.index()), "threads were not seen to disagree on {value}");
        self.uniformity.is_divergent(value)
    }

    /// Threads disagree at the node on a value that they agree on where it is defined, and so the use is found.
    fn is_temporal_at(&self, value: Value, node: usize) -> bool {
        let node = Node::new(node);
        assert!(self.seen.differs_at(value, node), "threads were not seen to disagree on {value} at {node}");
        assert!(!self.seen.divergent.contains(value.index()) && !self.uniformity.is_divergent(value));
        self.uniformity.is_divergent_at(&self.graph, value, node)
    }
}

/// Edges of a chain of nodes.
fn chain(nodes: &[usize]) -> Vec<(usize, usize)> {
    nodes.windows(2).map(|w| (w[0], w[1])).collect()
}

#[test]
fn llvm_137277_phis_behind_if_and_else_arms_of_any_length_are_divergent() {
    for (then, other) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))).filter(|&(a, b)| a + b > 0) {
        // 0 branches; the arms have `then` and `other` nodes and end in node 1.
        let arm = |first: usize, count: usize| -> Vec<usize> {
            [0].into_iter().chain(first..first + count).chain([1]).collect()
        };
        let (left, right) = (arm(2, then), arm(2 + then, other));
        for (a, b) in [(&left, &right), (&right, &left)] {
            let mut case = Case::new(2 + then + other, &[chain(a), chain(b)].concat());
            case.divergent(0);
            let phi = case.constants_by_edge(1);
            assert!(case.judge().is_divergent(phi), "arms of {then} and {other}");
        }
    }
}

#[test]
fn llvm_137277_long_arms_with_branches_and_loops_in_them_meet_in_a_divergent_phi() {
    // 0 branches to 1 → 2 ⟲ → 3 → 9 and to 4 → {5, 6} → 7 → 8 → 9, all inside the loop 0 … 9.
    let mut edges = chain(&[0, 1, 2, 2, 3, 9]);
    edges.extend(chain(&[0, 4, 5, 7, 8, 9]));
    edges.extend([(4, 6), (6, 7), (9, 0), (9, 10)]);
    let mut case = Case::new(11, &edges);
    case.divergent(0);
    let (meet, inner) = (case.constants_by_edge(9), case.constants_by_edge(7));
    let judged = case.judge();
    assert!(judged.is_divergent(meet));
    assert!(!judged.uniformity.is_divergent(inner), "the branch at 4 is uniform");
}

#[test]
fn llvm_216100_constants_that_differ_by_exit_edge_are_divergent_behind_the_loop() {
    // The header 1 leaves uniformly, the body 2 divergently, both to 3.
    let mut case = Case::new(4, &[(0, 1), (1, 3), (1, 2), (2, 3), (2, 1)]);
    case.divergent(2);
    let phi = case.constants_by_edge(3);
    let judged = case.judge();
    assert!(judged.is_divergent(phi));
    assert!(!judged.uniformity.is_divergent_branch(Node(1)));
}

#[test]
fn llvm_216100_the_exit_of_an_outer_loop_is_no_different() {
    // The loop 1 … 5 around the loop 2 … 4: 3 leaves both divergently, 5 the outer one uniformly, both to 6.
    let edges = [(0, 1), (1, 2), (2, 3), (3, 6), (3, 4), (4, 2), (4, 5), (5, 1), (5, 6)];
    let mut case = Case::new(7, &edges);
    case.divergent(3);
    let phi = case.constants_by_edge(6);
    let judged = case.judge();
    assert!(judged.is_divergent(phi));
    assert!(!judged.uniformity.is_divergent_branch(Node(5)));
}

#[test]
fn llvm_216100_three_uniform_exits_meet_differently_when_a_fourth_is_divergent() {
    // Loop 1 → 2 → 3 → 4 → 1; each can leave to 5, only 3 divergently.
    let edges = [(0, 1), (1, 5), (1, 2), (2, 5), (2, 3), (3, 5), (3, 4), (4, 5), (4, 1)];
    let mut case = Case::new(6, &edges);
    case.divergent(3);
    let phi = case.constants_by_edge(5);
    assert!(case.judge().is_divergent(phi));
}

#[test]
fn an_exit_from_a_nested_loop_into_the_header_of_a_sibling_loop_leaves_the_outer_loop() {
    // Outer loop 1, inner loop 2; 3 goes on with either or jumps to loop 4, which is as deep as loop 1.
    let edges = [(0, 1), (1, 2), (2, 2), (2, 3), (3, 2), (3, 1), (3, 4), (4, 4), (4, 5)];
    let mut case = Case::new(6, &edges);
    case.divergent(3);
    let (outer, inner) = (case.value(1, Rule::Default, &[]), case.value(2, Rule::Default, &[]));
    let used = case.value(4, Rule::Default, &[outer]);
    let judged = case.judge();
    assert!(judged.is_temporal_at(outer, 4) && judged.is_temporal_at(inner, 4));
    assert!(judged.is_divergent(used));
    assert!(matches!(judged.uniformity.cause(used), Some(Cause::Temporal { exit: Some(EdgeId(6)), .. })));
}

#[test]
fn an_exit_from_a_nested_loop_into_a_nested_sibling_loop_leaves_both_loops() {
    // All inside loop 1: the loop 2 around the loop 3, and the loop 5 around the loop 6, which 3 jumps into the
    // header of.
    let edges = [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 3),
        (3, 4),
        (4, 2),
        (4, 5),
        (3, 5),
        (5, 6),
        (6, 6),
        (6, 7),
        (7, 5),
        (7, 8),
        (8, 1),
        (8, 9),
    ];
    let mut case = Case::new(10, &edges);
    case.divergent(3);
    let values = [1, 2, 3].map(|n| case.value(n, Rule::Default, &[]));
    let judged = case.judge();
    assert!(judged.is_temporal_at(values[1], 5) && judged.is_temporal_at(values[2], 5));
    assert!(judged.is_temporal_at(values[1], 6) && judged.is_temporal_at(values[2], 8));
    assert!(!judged.uniformity.is_divergent_at(&judged.graph, values[0], Node(6)), "loop 1 is not left");
}

#[test]
fn an_always_uniform_value_that_leaves_a_cycle_with_two_entries_by_a_divergent_exit_is_divergent_outside() {
    // 0 enters 1 ⇄ 2 apart; 2 leaves divergently.
    let mut case = Case::new(4, &[(0, 1), (0, 2), (1, 2), (2, 1), (2, 3)]);
    case.divergent(0);
    case.divergent(2);
    let ballot = case.value(2, Rule::AlwaysUniform, &[]);
    let used = case.value(3, Rule::Default, &[ballot]);
    let judged = case.judge();
    assert!(judged.is_temporal_at(ballot, 3));
    assert!(judged.is_divergent(used));
}

#[test]
fn an_always_uniform_value_that_leaves_a_loop_by_a_divergent_exit_is_divergent_outside() {
    let mut case = Case::new(3, &[(0, 1), (1, 1), (1, 2)]);
    case.divergent(1);
    let ballot = case.value(1, Rule::AlwaysUniform, &[]);
    let used = case.value(2, Rule::Default, &[ballot]);
    let judged = case.judge();
    assert!(judged.is_temporal_at(ballot, 2));
    assert!(judged.is_divergent(used));
}

#[test]
fn the_value_of_a_divergent_invoke_is_divergent_where_control_goes_on() {
    // A call that ends the node 0: its result exists on the way to 1, and threads go to 1 or, when it throws, to 2.
    let mut case = Case::new(3, &[(0, 1), (0, 2)]);
    let invoke = case.value(0, Rule::Source, &[]);
    case.builder.terminator(Node(0), [invoke]);
    let used = case.value(1, Rule::Default, &[invoke]);
    let judged = case.judge();
    assert!(judged.is_divergent(invoke) && judged.is_divergent(used));
    assert!(judged.uniformity.is_divergent_branch(Node(0)));
}
