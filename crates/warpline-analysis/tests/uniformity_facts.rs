//! Facts from other analyses: paper 1, Figure 3 by name; random programs, the threads of which do nothing that facts
//! exclude.
//!
//! `WARPLINE_PROGRAMS` is the number of random programs, `WARPLINE_SEED` the first seed.

use warpline_analysis::uniformity::{
    Algorithm, Cause, Evidence, Explainer, Fact, FactError, Facts, KnownFact, Rule, SsaBuilder, SsaProgram,
    Uniformity, Value,
};
use warpline_analysis::{CsrGraph, DfsOrder, DomTree, EdgeId, Graph, Limits, Node, Reversed};
use warpline_testkit::claims::{Seen, violation};
use warpline_testkit::graph_oracles::Dominance;
use warpline_testkit::hierarchies;
use warpline_testkit::lockstep::{self, Moment, Observed};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::tagged::Tags;
use warpline_testkit::{control_flow, graphs, ssa_programs};

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// A program in the making, with a lane number and uniform arguments.
struct Case {
    graph: CsrGraph,
    builder: SsaBuilder,
    lane: Value,
    uniform: [Value; 2],
}

impl Case {
    fn new(nodes: usize, edges: &[(usize, usize)]) -> Self {
        let mut builder = SsaProgram::builder();
        let lane = builder.argument(Rule::Source);
        let uniform = [builder.argument(Rule::Default), builder.argument(Rule::Default)];
        Case { graph: graphs::build(nodes, edges.to_vec()), builder, lane, uniform }
    }

    fn plain(&mut self, node: u32, operands: &[Value]) -> Value {
        self.builder.plain(Node(node), Rule::Default, operands.iter().copied())
    }

    fn phi(&mut self, node: u32, operands: &[(u32, Value)]) -> Value {
        self.builder.phi(Node(node), Rule::Default, operands.iter().map(|&(e, v)| (EdgeId(e), Some(v))))
    }

    fn branch(&mut self, node: u32, on: Value) {
        self.builder.terminator(Node(node), [on]);
    }

    fn build(self) -> Built {
        let program = self.builder.build(&self.graph).expect("a case is well formed");
        let without = Uniformity::compute(&self.graph, &program);
        Built { graph: self.graph, program, without }
    }
}

struct Built {
    graph: CsrGraph,
    program: SsaProgram,
    without: Uniformity,
}

impl Built {
    /// The result with facts, after what threads do that do nothing else; some of these must be there.
    fn with(&self, facts: &Facts) -> Uniformity {
        let u =
            Uniformity::compute_with_facts(&self.graph, &self.program, facts).expect("facts of this program");
        let kept =
            judge(&self.graph, &self.program, facts, &u, &mut SplitMix64::new(1), 30).expect("claims hold");
        assert!(kept > 20, "only {kept} threads do what the facts say");
        u
    }

    fn explainer<'a>(&'a self, u: &'a Uniformity) -> Explainer<'a, CsrGraph> {
        let (graph, program) = u.analysed(&self.graph, &self.program);
        Explainer::new(graph, program, u)
    }
}

const RANGE: u64 = 3;

/// Whether nothing happens at a moment that facts exclude.
fn is_true(graph: &CsrGraph, program: &SsaProgram, facts: &Facts, moment: Moment) -> bool {
    let constant = |v: Value| u64::from(v.0) % RANGE;
    let value = |v: Value| moment.values[v.index()];
    let now = |v: Value| program.node(v).is_none_or(|n| n == moment.node);
    let equal = |&&(e, a, b): &&(EdgeId, Value, Value)| {
        moment.edge != Some(e)
            || (value(a).is_some() && value(a) == value(b))
            || !both_exist(graph, program, e, a, b)
    };
    moment.edge.is_none_or(|e| !facts.dead_edges().contains(&e))
        && facts.constants().iter().all(|&v| !now(v) || value(v) == Some(constant(v)))
        && facts.equalities().iter().all(|q| equal(&q))
}

/// Whether two values are there whenever an edge is taken.
fn both_exist(graph: &CsrGraph, program: &SsaProgram, edge: EdgeId, a: Value, b: Value) -> bool {
    let dom = DomTree::compute(graph);
    [a, b].iter().all(|&v| program.node(v).is_none_or(|n| dom.dominates(n, graph.source(edge))))
}

/// Runs the threads of a program that do nothing which facts exclude, in every hierarchy or in some. Says how many
/// threads ran, or which claim does not hold.
fn judge(
    graph: &CsrGraph,
    program: &SsaProgram,
    facts: &Facts,
    uniformity: &Uniformity,
    rng: &mut SplitMix64,
    runs: u64,
) -> Result<usize, String> {
    let (mut kept, mut observed) = (0, Observed::nothing(graph, program));
    let steps = 40.max(3 * graph.node_count());
    for tags in hierarchies::all_or_sample(rng, graph, 5).iter().map(Tags::of_hierarchy) {
        for seed in 0..runs {
            let allowed = |moment: Moment| is_true(graph, program, facts, moment);
            kept +=
                lockstep::run_where(graph, program, &tags, seed, RANGE, 16, steps, allowed, &mut observed);
        }
    }
    let dominance = Dominance::of(graph);
    let seen = Seen { graph, dominance: &dominance, program, observed: &observed };
    violation(seen, uniformity, graph, |e| e).map_or(Ok(kept), Err)
}

#[test]
fn figure_3a_a_constant_is_uniform_and_so_is_what_is_made_from_it_and_a_uniform_value() {
    let mut case = Case::new(2, &[(0, 1)]);
    let x = case.plain(0, &[case.lane]);
    let sum = case.plain(1, &[x, case.uniform[0]]);
    let built = case.build();
    assert!(built.without.is_divergent(x) && built.without.is_divergent(sum));
    let u = built.with(&Facts::none().constant(x));
    assert!(!u.is_divergent(x) && !u.is_divergent(sum));
    assert_eq!(u.used_facts(), [KnownFact::Constant(x)]);
    let why = u.why_uniform(&built.without, sum).expect("a reason");
    assert_eq!(why.by, [KnownFact::Constant(x)]);
    assert_eq!(why.gone.len(), 2, "sum, and x: {:?}", why.gone);
}

#[test]
fn figure_3b_an_unreachable_branch_is_no_path() {
    // A branches on x; behind C = 2 u is what threads do not agree on, behind B = 1 it is uniform.
    let mut case = Case::new(6, &[(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 5)]);
    let x = case.plain(0, &[case.lane]);
    case.branch(0, x);
    let v = case.plain(2, &[case.lane]);
    let u = case.phi(5, &[(4, case.uniform[0]), (5, v)]);
    let built = case.build();
    assert!(built.without.is_divergent(u) && built.without.is_divergent_branch(Node(0)));
    let with = built.with(&Facts::none().dead_edge(EdgeId(1)));
    assert!(!with.is_divergent(u) && !with.is_divergent_branch(Node(0)));
    assert_eq!(with.divergent_join(Node(5)), None);
    assert!(with.is_divergent(x), "the other operand is as before");
    assert_eq!(with.used_facts(), [KnownFact::DeadEdge(EdgeId(1))]);
    let why = with.why_uniform(&built.without, u).expect("a reason");
    assert_eq!(why.by, [KnownFact::DeadEdge(EdgeId(1))]);
    assert_eq!(with.why_uniform(&built.without, x), None);
}

#[test]
fn figure_3c_what_equals_a_uniform_value_is_uniform() {
    // A branches on whether u and v are equal; B and C use v.
    let mut case = Case::new(3, &[(0, 1), (0, 2)]);
    let (u, v) = (case.uniform[0], case.lane);
    let equal = case.plain(0, &[u, v]);
    case.branch(0, equal);
    let (at_b, at_c) = (case.plain(1, &[v]), case.plain(2, &[v]));
    let built = case.build();
    let with = built.with(&Facts::none().equal_on(EdgeId(0), v, u));
    assert!(!with.is_divergent(at_b) && with.is_divergent(at_c));
    let divergent_at = |n| with.is_divergent_at(&built.graph, v, Node(n));
    assert!(with.is_divergent(v) && !divergent_at(1) && divergent_at(2) && divergent_at(0));
    assert!(
        !with.is_divergent_on(&built.graph, v, EdgeId(0)) && with.is_divergent_on(&built.graph, v, EdgeId(1))
    );
    let fact = KnownFact::EqualOn(EdgeId(0), v, u);
    assert_eq!(with.used_facts(), [fact]);
    assert_eq!(with.equal_at(&built.graph, v, Node(1)), [fact]);
    assert_eq!(with.equal_at(&built.graph, v, Node(2)), []);
    assert_eq!(with.why_uniform(&built.without, at_b).expect("a reason").by, [fact]);
    // Which of the two is named first does not matter.
    assert!(!built.with(&Facts::none().equal_on(EdgeId(0), u, v)).is_divergent(at_b));
}

#[test]
fn an_equality_does_not_reach_where_control_can_come_otherwise() {
    // 0 → 1 directly and over 2: what holds on the first edge does not at 1, but the φ may take the equal value there.
    let mut case = Case::new(3, &[(0, 1), (0, 2), (2, 1)]);
    let (u, v) = (case.uniform[0], case.lane);
    case.branch(0, case.uniform[1]);
    let phi = case.phi(1, &[(0, v), (2, u)]);
    let plain = case.plain(1, &[v]);
    let built = case.build();
    let with = built.with(&Facts::none().equal_on(EdgeId(0), u, v));
    assert!(with.is_divergent(plain) && !with.is_divergent(phi));
    // Without the way over 2 the edge is the only one.
    let with = built.with(&Facts::none().equal_on(EdgeId(0), u, v).dead_edge(EdgeId(1)));
    assert!(!with.is_divergent(plain));
}

#[test]
fn an_edge_back_to_the_entry_says_nothing_of_the_first_time() {
    let mut case = Case::new(2, &[(0, 0), (0, 1)]);
    let used = case.plain(0, &[case.lane]);
    let built = case.build();
    let with = built.with(&Facts::none().equal_on(EdgeId(0), case_lane(), case_uniform()));
    assert!(with.is_divergent(used) && with.used_facts().is_empty());
}

fn case_lane() -> Value {
    Value(0)
}

fn case_uniform() -> Value {
    Value(1)
}

#[test]
fn an_equality_with_what_may_not_exist_is_not_used() {
    // The value of node 1 does not exist for threads that come over node 2.
    let mut case = Case::new(5, &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]);
    let made = case.plain(1, &[]);
    let used = case.plain(4, &[case.lane]);
    let built = case.build();
    let with = built.with(&Facts::none().constant(made).equal_on(EdgeId(4), made, case_lane()));
    assert!(with.is_divergent(used));
}

#[test]
fn a_phi_of_equal_values_is_no_choice() {
    // Both operands are uniform, the branch is divergent, and on its second edge they are equal.
    let mut case = Case::new(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
    let [a, b] = case.uniform;
    case.branch(0, case.lane);
    let phi = case.phi(3, &[(2, a), (3, b)]);
    let built = case.build();
    assert!(built.without.is_divergent(phi));
    let with = built.with(&Facts::none().equal_on(EdgeId(1), a, b));
    assert!(!with.is_divergent(phi));
    let why = with.why_uniform(&built.without, phi).expect("a reason");
    assert_eq!(why.by, [KnownFact::EqualOn(EdgeId(1), a, b)]);
}

#[test]
fn one_equality_makes_the_next_of_use_and_several_are_followed_in_one_go() {
    // On 0 → 1 the lane's number equals a uniform value; what is made of it there equals w on 1 → 2; w equals x on 2
    // → 3.
    let mut case = Case::new(4, &[(0, 1), (1, 2), (2, 3)]);
    let [w, x] = [0, 0].map(|n| case.builder.plain(Node(n), Rule::Source, []));
    let made = case.plain(1, &[case.lane]);
    let (at_2, at_3) = (case.plain(2, &[w]), case.plain(3, &[x]));
    let built = case.build();
    let facts = Facts::none().equal_on(EdgeId(0), case_lane(), case_uniform());
    let facts = facts.equal_on(EdgeId(1), made, w).equal_on(EdgeId(2), w, x);
    let u =
        Uniformity::compute_with_facts(&built.graph, &built.program, &facts).expect("facts of this program");
    assert!(!u.is_divergent(at_2) && !u.is_divergent(at_3));
    let chain = u.equal_at(&built.graph, x, Node(3));
    assert_eq!(chain, [KnownFact::EqualOn(EdgeId(2), w, x), KnownFact::EqualOn(EdgeId(1), w, made)]);
    assert_eq!(u.used_facts().len(), 3);
}

#[test]
fn a_constant_does_not_change_in_cycles_even_in_those_that_are_given_up() {
    // 1 and 2 are entered apart; 3 lies behind.
    let mut case = Case::new(4, &[(0, 1), (0, 2), (1, 2), (2, 1), (2, 3)]);
    case.branch(0, case.lane);
    let made = case.plain(2, &[case.uniform[0]]);
    let used = case.plain(3, &[made]);
    let built = case.build();
    assert!(built.without.is_divergent(made) && built.without.is_divergent(used));
    let u = built.with(&Facts::none().constant(made));
    let cycle = u.cycles().innermost(Node(1)).expect("a cycle");
    assert!(u.given_up(cycle).is_some() && !u.is_divergent(made) && !u.is_divergent(used));
    assert!(!u.is_divergent_at(&built.graph, made, Node(3)));
}

#[test]
fn a_loop_whose_exit_is_dead_is_not_left_by_it() {
    // The loop 1, 2 is left from 2 on the lane's word and from 1 on a uniform one. With the former dead, all leave
    // together.
    let mut case = Case::new(4, &[(0, 1), (1, 2), (1, 3), (2, 1), (2, 3)]);
    let counted = case.plain(1, &[]);
    let used = case.plain(3, &[counted]);
    case.branch(2, case.lane);
    let built = case.build();
    assert!(built.without.is_divergent(used));
    let u = built.with(&Facts::none().dead_edge(EdgeId(4)));
    assert!(!u.is_divergent(used) && !u.is_divergent_at(&built.graph, counted, Node(3)));
    let cycle = u.cycles().innermost(Node(1)).expect("a loop");
    assert!(!u.has_divergent_exit(cycle));
    assert_eq!(u.why_uniform(&built.without, used).expect("a reason").by, [KnownFact::DeadEdge(EdgeId(4))]);
}

#[test]
fn a_node_that_no_longer_leads_back_stays_in_its_loop() {
    // 0 → 1 ⇄ 2, and 1 → 3. Without 2 → 1, which nobody takes, threads would come to 2 together; with it they come
    // there in different iterations of the loop 1, which 1 → 1 keeps going.
    let mut case = Case::new(5, &[(0, 1), (1, 1), (1, 2), (2, 1), (2, 3), (3, 4)]);
    case.branch(1, case.lane);
    let loaded = case.plain(2, &[]);
    let used = case.plain(3, &[loaded]);
    let built = case.build();
    let u = built.with(&Facts::none().dead_edge(EdgeId(3)));
    assert!(!u.is_divergent_branch(Node(2)) && !u.is_divergent(loaded));
    assert!(u.is_divergent(used) && u.is_divergent_at(&built.graph, loaded, Node(3)));
    let (analysed, _) = u.analysed(&built.graph, &built.program);
    assert!(!analysed.is_left_out(EdgeId(3)));
}

#[test]
fn explanations_speak_of_the_program_without_dead_edges() {
    // 0 parts; 1 and 2 lead to 3, and 2 also to 4, which would be a way round the join.
    let mut case = Case::new(6, &[(0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (4, 3), (3, 5)]);
    let [a, b] = case.uniform;
    case.branch(0, case.lane);
    let phi = case.phi(3, &[(2, a), (3, b), (5, a)]);
    let built = case.build();
    let u = built.with(&Facts::none().dead_edge(EdgeId(3)));
    assert!(u.is_divergent_branch(Node(0)) && !u.is_divergent(phi), "both live operands are one value");
    let u = built.with(&Facts::none().dead_edge(EdgeId(4)));
    let explainer = built.explainer(&u);
    let link = explainer.value(phi).into_iter().next().expect("a link");
    assert!(matches!(link.fact, Fact::Value(_, Cause::Join(_))));
    let Evidence::Paths(witness) = link.evidence else { panic!("no paths") };
    assert!(witness.paths.iter().all(|p| p.len() == 2), "{witness:?}");
}

#[test]
fn facts_about_what_is_not_there_are_refused() {
    let built = Case::new(2, &[(0, 1)]).build();
    let refused = |facts| Uniformity::compute_with_facts(&built.graph, &built.program, &facts).err();
    let (edge, value) = (EdgeId(1), Value(3));
    assert_eq!(refused(Facts::none().dead_edge(edge)), Some(FactError::NoSuchEdge { edge }));
    assert_eq!(
        refused(Facts::none().equal_on(edge, Value(0), Value(1))),
        Some(FactError::NoSuchEdge { edge })
    );
    assert_eq!(refused(Facts::none().constant(value)), Some(FactError::NoSuchValue { value }));
    let equal = Facts::none().equal_on(EdgeId(0), Value(0), value);
    assert_eq!(refused(equal), Some(FactError::NoSuchValue { value }));
    assert_eq!(refused(Facts::none().equal_on(EdgeId(0), Value(0), Value(1))), None);
}

#[test]
fn a_graph_without_some_edges_keeps_ends_and_numbers() {
    let graph = graphs::build(3, vec![(0, 1), (0, 2), (1, 2), (2, 0)]);
    let live = CsrGraph::without(&graph, [EdgeId(0), EdgeId(3), EdgeId(9)]);
    assert_eq!(live.edges().collect::<Vec<_>>(), [EdgeId(1), EdgeId(2)]);
    assert_eq!(
        (live.edge_count(), live.out_edges(Node(0)), live.in_edges(Node(0)).len()),
        (4, &[EdgeId(1)][..], 0)
    );
    assert_eq!((live.source(EdgeId(3)), live.target(EdgeId(3))), (Node(2), Node(0)));
    assert!(live.is_left_out(EdgeId(3)) && !live.is_left_out(EdgeId(2)));
    assert_eq!(CsrGraph::copy_of(&live), live);
    assert_eq!(CsrGraph::without(&graph, []), graph);
    assert_eq!(CsrGraph::without(&graph, graph.edges()).edges().len(), 0);
    let reversed = Reversed::new(&live);
    assert_eq!(
        (reversed.out_edges(Node(0)).len(), reversed.in_edges(Node(0)).collect::<Vec<_>>()),
        (0, vec![EdgeId(1)])
    );
    assert!(!DfsOrder::compute(&live).is_reachable(Node(1)));
}

/// Facts about a program, a few of each kind.
fn random_facts(rng: &mut SplitMix64, graph: &CsrGraph, program: &SsaProgram, without: &Uniformity) -> Facts {
    let mut facts = Facts::none();
    let branching: Vec<EdgeId> =
        graph.edges().filter(|&e| graph.out_edges(graph.source(e)).len() > 1).collect();
    let dead = rng.chance(2, 3);
    if dead && !branching.is_empty() {
        for _ in 0..rng.below(3) {
            facts = facts.dead_edge(*rng.pick(&branching));
        }
    }
    if rng.chance(1, 3) {
        facts = facts.constant(Value::new(rng.below(program.value_count())));
    }
    let dom = DomTree::compute(graph);
    let exists = |v: Value, e: EdgeId| program.node(v).is_none_or(|n| dom.dominates(n, graph.source(e)));
    // Mostly about what is used where it matters, and a value that is uniform without facts.
    let uses = uses_behind_edges(graph, program, &dom);
    let divergent: Vec<(EdgeId, Value)> = uses.into_iter().filter(|u| without.is_divergent(u.1)).collect();
    for _ in 0..if graph.edge_count() == 0 { 0 } else { rng.below(4) } {
        let (edge, used) = match divergent.is_empty() || rng.chance(1, 3) {
            true => (EdgeId::new(rng.below(graph.edge_count())), None),
            false => {
                let &(edge, v) = rng.pick(&divergent);
                (edge, Some(v))
            }
        };
        let values: Vec<Value> = program.values().filter(|&v| exists(v, edge)).collect();
        let uniform: Vec<Value> = values.iter().copied().filter(|&v| !without.is_divergent(v)).collect();
        match used {
            Some(a) if !uniform.is_empty() => facts = facts.equal_on(edge, a, *rng.pick(&uniform)),
            _ if values.is_empty() => {}
            _ => facts = facts.equal_on(edge, *rng.pick(&values), *rng.pick(&values)),
        }
    }
    facts
}

/// The uses of values behind edges that are the only ones to their targets, and those of φs on edges.
fn uses_behind_edges(graph: &CsrGraph, program: &SsaProgram, dom: &DomTree) -> Vec<(EdgeId, Value)> {
    let mut uses = Vec::new();
    let by_node = program.values_by_node();
    for node in graph.nodes().filter(|&n| dom.is_reachable(n)) {
        let behind = |e: &EdgeId| {
            let target = graph.target(*e);
            graph.in_edges(target).len() == 1 && dom.dominates(target, node)
        };
        let edges: Vec<EdgeId> = graph.edges().filter(behind).collect();
        let operands = by_node.get(node.index()).iter().flat_map(|&v| program.operands(v));
        for (operand, on) in operands.chain(program.terminator(node).iter().map(|&v| (v, None))) {
            let places = on.as_ref().map_or(&edges[..], std::slice::from_ref);
            let exists =
                |e: &&EdgeId| program.node(operand).is_none_or(|n| dom.dominates(n, graph.source(**e)));
            uses.extend(places.iter().filter(exists).map(|&e| (e, operand)));
        }
    }
    uses
}

/// The first thing that is claimed without facts and not with them.
fn lost_claim(
    graph: &CsrGraph,
    program: &SsaProgram,
    live: &CsrGraph,
    with: &Uniformity,
    without: &Uniformity,
) -> Option<String> {
    let dom = DomTree::compute(live);
    for v in program.values().filter(|&v| program.node(v).is_none_or(|n| dom.is_reachable(n))) {
        if with.is_divergent(v) && !without.is_divergent(v) {
            return Some(format!("{v}"));
        }
        let visible = |n: &Node| program.node(v).is_none_or(|d| dom.dominates(d, *n));
        for n in graph.nodes().filter(|&n| dom.is_reachable(n)).filter(visible) {
            if with.is_divergent_at(graph, v, n) && !without.is_divergent_at(graph, v, n) {
                return Some(format!("{v} at {n}"));
            }
            let on =
                |&&e: &&EdgeId| with.is_divergent_on(graph, v, e) && !without.is_divergent_on(graph, v, e);
            if let Some(e) = graph.out_edges(n).iter().find(on) {
                return Some(format!("{v} on {e}"));
            }
        }
    }
    let branch = |n: &Node| with.is_divergent_branch(*n) && !without.is_divergent_branch(*n);
    graph.nodes().find(branch).map(|n| format!("the branch at {n}"))
}

#[derive(Default, Debug)]
struct Rates {
    programs: usize,
    threads: usize,
    /// Programs with a fact of each kind that changed something.
    dead: usize,
    constant: usize,
    equal: usize,
    /// Programs with more claims.
    better: usize,
    by_equality: usize,
    /// Programs with dead edges that stay in the graph.
    edges_stay: usize,
    explained: usize,
}

#[test]
fn claims_with_facts_hold_for_threads_that_do_nothing_else_and_are_no_fewer() {
    let mut rates = Rates::default();
    let (first, count) = (number("WARPLINE_SEED", 1), number("WARPLINE_PROGRAMS", 900));
    (first..first + count).for_each(|seed| check_random(seed, &mut rates));
    println!("seeds {first} to {}: {rates:?}", first + count - 1);
    if count >= 500 {
        let share = |n: usize, percent: usize| assert!(n * 100 >= rates.programs * percent, "{rates:?}");
        share(rates.threads, 1500);
        share(rates.dead, 15);
        share(rates.constant, 12);
        share(rates.equal, 10);
        share(rates.better, 25);
        share(rates.edges_stay, 5);
        share(rates.explained, 50);
    }
}

/// Programs with facts that took a claim away, since an operand that was put in the place of another changes in more
/// loops, or a φ had lost an operand on a dead edge; and with reasons that named facts which had changed nothing.
#[test]
fn facts_that_undo_loops_or_replace_operands_take_no_claim_away() {
    let mut rates = Rates::default();
    let seeds = [77_022_083, 5_002_226, 31_001_000, 991_003_212, 991_005_028];
    seeds.into_iter().for_each(|seed| check_random(seed, &mut rates));
}

fn check_random(seed: u64, rates: &mut Rates) {
    let mut rng = SplitMix64::new(seed);
    let graph = match seed % 3 {
        0 => graphs::reducible(&mut rng, 9),
        1 => control_flow::structured(&mut rng, 10),
        _ => graphs::arbitrary(&mut rng, 7),
    };
    let make = if rng.chance(1, 4) { ssa_programs::of_phis } else { ssa_programs::random };
    let program = make(&mut rng, &graph);
    let without = Uniformity::compute(&graph, &program);
    let facts = random_facts(&mut rng, &graph, &program, &without);
    if let Err(message) = check(&mut rng, &graph, &program, &facts, &without, rates) {
        panic!("seed {seed}: {message}\n{facts:?}\n{}", ssa_programs::describe(&graph, &program));
    }
}

fn check(
    rng: &mut SplitMix64,
    graph: &CsrGraph,
    program: &SsaProgram,
    facts: &Facts,
    without: &Uniformity,
    rates: &mut Rates,
) -> Result<(), String> {
    let with = Uniformity::compute_with_facts(graph, program, facts).map_err(|e| e.to_string())?;
    rates.programs += 1;
    rates.threads += judge(graph, program, facts, &with, rng, 3)?;
    let used = |kind: fn(&KnownFact) -> bool| usize::from(with.used_facts().iter().any(kind));
    rates.dead += used(|f| matches!(f, KnownFact::DeadEdge(_)));
    rates.constant += used(|f| matches!(f, KnownFact::Constant(_)));
    rates.equal += used(|f| matches!(f, KnownFact::EqualOn(..)));
    let (live, _) = with.analysed(graph, program);
    if let Some(lost) = lost_claim(graph, program, live, &with, without) {
        return Err(format!("{lost} is uniform without facts and divergent with them"));
    }
    let stays = |e: &EdgeId| !live.is_left_out(*e);
    rates.edges_stay += usize::from(facts.dead_edges().iter().any(stays));
    let better = lost_claim(graph, program, live, without, &with).is_some();
    rates.better += usize::from(better);
    rates.by_equality += usize::from(better && facts.dead_edges().is_empty() && facts.constants().is_empty());
    reasons_are_there(graph, program, facts, &with, without, rates)
}

/// What is uniform for facts only has a reason that names facts which were used; the rest has none. Causes are
/// explained.
fn reasons_are_there(
    graph: &CsrGraph,
    program: &SsaProgram,
    facts: &Facts,
    with: &Uniformity,
    without: &Uniformity,
    rates: &mut Rates,
) -> Result<(), String> {
    let (live, reduced) = with.analysed(graph, program);
    let explainer = Explainer::new(live, reduced, with);
    let taken = DfsOrder::compute(&CsrGraph::without(graph, facts.dead_edges().iter().copied()));
    for v in program.values() {
        let why = with.why_uniform(without, v);
        let gained = without.is_divergent(v) && !with.is_divergent(v);
        if why.is_some() != gained {
            return Err(format!("{v}: {why:?}"));
        }
        if let Some(why) = why {
            rates.explained += 1;
            let known = why.by.iter().all(|f| with.used_facts().contains(f));
            let reached = program.node(v).is_none_or(|n| taken.is_reachable(n));
            if reached && (why.by.is_empty() || !known) {
                return Err(format!("{v}: {why:?} of {:?}", with.used_facts()));
            }
        }
        if explainer.value(v).iter().any(|link| link.evidence == Evidence::Missing) {
            return Err(format!("{v} has no evidence: {:?}", explainer.value(v)));
        }
    }
    Ok(())
}

#[test]
fn without_facts_the_result_is_the_same_and_useless_facts_change_nothing() {
    for seed in 0..200 {
        let mut rng = SplitMix64::new(seed);
        let graph = graphs::arbitrary(&mut rng, 9);
        let program = ssa_programs::random(&mut rng, &graph);
        let plain = Uniformity::compute(&graph, &program);
        let none = Uniformity::compute_with_facts(&graph, &program, &Facts::none()).expect("no facts");
        assert_eq!(format!("{plain:?}"), format!("{none:?}"), "seed {seed}");
        let dfs = DfsOrder::compute(&graph);
        let argument =
            program.values().find(|&v| program.node(v).is_none() && program.rule(v) != Rule::Source);
        let useless = argument.map_or(Facts::none(), |v| Facts::none().constant(v));
        let u = Uniformity::compute_with_facts(&graph, &program, &useless).expect("facts of this program");
        assert_eq!(u.used_facts(), []);
        let (a, b) = (plain.divergent_values(), u.divergent_values());
        assert!(a == b && plain.divergent_branches() == u.divergent_branches(), "seed {seed}");
        assert!(
            graph.nodes().all(|n| !dfs.is_reachable(n) || plain.divergent_join(n) == u.divergent_join(n))
        );
    }
}

#[test]
fn without_dead_edges_nothing_new_is_missed_however_soon_it_is_asked_for() {
    let mut exits = 0;
    for seed in 0..600 {
        let mut rng = SplitMix64::new(seed);
        let graph = match seed % 3 {
            0 => graphs::reducible(&mut rng, 14),
            1 => control_flow::structured(&mut rng, 16),
            _ => graphs::arbitrary(&mut rng, 12),
        };
        let program = ssa_programs::random(&mut rng, &graph);
        let branching = graph.edges().filter(|&e| graph.out_edges(graph.source(e)).len() > 1);
        let facts = branching.filter(|_| rng.chance(1, 6)).fold(Facts::none(), |f, e| f.dead_edge(e));
        let within = |steps_unasked: usize| {
            let limits = Limits { steps_unasked, ..Limits::of(&graph) };
            Uniformity::compute_with_facts_by(&graph, &program, &facts, Algorithm::Joins, &limits)
                .expect("facts of this program")
        };
        let (never, always) = (within(usize::MAX), within(0));
        let left =
            |u: &Uniformity| u.cycles().cycles().filter(|&c| u.has_divergent_exit(c)).collect::<Vec<_>>();
        assert_eq!(left(&never), left(&always), "seed {seed}");
        assert!(never.divergent_values() == always.divergent_values(), "seed {seed}");
        exits += left(&never).len();
    }
    assert!(exits > 200, "only {exits} loops are left apart");
}
