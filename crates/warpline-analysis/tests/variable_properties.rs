//! Uniformity of programs with variables against what threads are seen to disagree on.
//!
//! `WARPLINE_PROGRAMS` is the number of programs, `WARPLINE_SEED` the first one's seed.

use std::ops::Range;

use warpline_analysis::{CsrGraph, Graph};
use warpline_testkit::graphs;
use warpline_testkit::reference::variables::{
    Expression, Facts, FakeBackEdges, Options, Point, Transformer, VariableProgram, VariableUniformity,
};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::tagged::Tags;
use warpline_testkit::variable_programs::{self, Observed, Runs, Style};

/// The seeds to run: from `WARPLINE_SEED`, as many as `WARPLINE_PROGRAMS` says.
fn seeds(first: u64, count: u64) -> Range<u64> {
    let number =
        |name: &str, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let first = number("WARPLINE_SEED", first);
    first..first + number("WARPLINE_PROGRAMS", count)
}

/// What came out over many programs.
#[derive(Default, Debug)]
struct Tally {
    programs: usize,
    /// Variables at nodes that several threads execute together.
    points: usize,
    divergent: usize,
    divergent_with_plain: usize,
    divergent_with_fake_paths: usize,
    seen_divergent: usize,
    branches: usize,
    divergent_branches: usize,
    seen_divergent_branches: usize,
    definitions: usize,
    apart: usize,
    seen_apart: usize,
}

fn analyse(
    graph: &CsrGraph,
    program: &VariableProgram,
    transformer: Transformer,
    fake_back_edges: FakeBackEdges,
) -> VariableUniformity {
    let options = Options { transformer, fake_back_edges, facts: Facts::none() };
    VariableUniformity::compute(graph, program, &options).expect("the graph is reducible")
}

fn observe(graph: &CsrGraph, program: &VariableProgram) -> Observed {
    let (tags, facts) = (Tags::of(graph), Facts::none());
    let mut seen = Observed::nothing(graph, program);
    for seed in 0..6 {
        let runs = Runs { seed, threads: 6, steps: 60 };
        variable_programs::run(graph, program, &tags, &facts, runs, |_, _| (), &mut seen);
    }
    seen
}

fn check(graph: &CsrGraph, program: &VariableProgram, tally: &mut Tally) -> Result<(), String> {
    let seen = observe(graph, program);
    let found = analyse(graph, program, Transformer::ReachingDefinitions, FakeBackEdges::Dead);
    let fake_paths = analyse(graph, program, Transformer::ReachingDefinitions, FakeBackEdges::Paths);
    let plain = analyse(graph, program, Transformer::Plain, FakeBackEdges::Dead);
    tally.programs += 1;
    for n in graph.nodes() {
        for v in program.variables() {
            let uniform = found.is_uniform_at(n, v);
            if uniform && seen.differs_at(n, v) {
                return Err(format!("{v} is claimed uniform at {n} and is not"));
            }
            if found.is_uniform_after(n, v) && seen.differs_after(n, v) {
                return Err(format!("{v} is claimed uniform behind {n} and is not"));
            }
            for (weaker, name) in [(&fake_paths, "paths along fake back edges"), (&plain, "Definition 4.7")] {
                if weaker.is_uniform_at(n, v) && !uniform {
                    return Err(format!("{v} is uniform at {n} by {name} only"));
                }
            }
            // The first variable is divergent by itself everywhere.
            if seen.shared.contains(n.index()) && v.index() > 0 {
                tally.points += 1;
                tally.divergent += usize::from(!uniform);
                tally.divergent_with_plain += usize::from(!plain.is_uniform_at(n, v));
                tally.divergent_with_fake_paths += usize::from(!fake_paths.is_uniform_at(n, v));
                tally.seen_divergent += usize::from(seen.differs_at(n, v));
            }
            let definitions = found.definitions().expect("Definition 6.6 uses them");
            let before = |q: &Point| q.node() != n && q.node().index() < graph.node_count();
            for q in definitions.of(n, v).filter(before) {
                tally.definitions += 1;
                if seen.changed_since.get(&(n, q)).is_some_and(|changed| changed.contains(v.index())) {
                    return Err(format!("{v} is claimed unchanged from {q:?} to {n} and is not"));
                }
            }
        }
        if !found.arrive_apart(n) && seen.apart.contains(n.index()) {
            return Err(format!("threads are said to arrive together at {n} and do not"));
        }
        if !found.is_divergent_branch(n) && seen.branches.contains(n.index()) {
            return Err(format!("the branch at {n} is claimed uniform and is not"));
        }
        if seen.shared.contains(n.index()) {
            tally.apart += usize::from(found.arrive_apart(n));
            tally.seen_apart += usize::from(seen.apart.contains(n.index()));
            tally.branches += usize::from(graph.out_edges(n).len() > 1);
            tally.divergent_branches += usize::from(found.is_divergent_branch(n));
            tally.seen_divergent_branches += usize::from(seen.branches.contains(n.index()));
        }
    }
    Ok(())
}

fn describe(graph: &CsrGraph, program: &VariableProgram) -> String {
    let mut text = format!("{} nodes, edges {:?}\n", graph.node_count(), graphs::edge_list(graph));
    for n in graph.nodes() {
        text += &format!("  {n}: {:?} branch on {:?}\n", program.at_node(n), program.branch(n));
    }
    for e in graph.edges().filter(|&e| !program.on_edge(e).is_empty()) {
        text += &format!("  {e}: {:?}\n", program.on_edge(e));
    }
    text
}

fn percent(part: usize, whole: usize) -> usize {
    100 * part / whole.max(1)
}

#[test]
fn claims_of_uniformity_hold_for_programs_with_variables() {
    let mut tally = Tally::default();
    for seed in seeds(0, 1200) {
        let mut rng = SplitMix64::new(seed);
        let graph = graphs::reducible(&mut rng, 9);
        let program = variable_programs::random(&mut rng, &graph, Style { on_edges: true });
        if let Err(message) = check(&graph, &program, &mut tally) {
            panic!("seed {seed}: {message}\n{}", describe(&graph, &program));
        }
    }
    println!("{tally:#?}");
    assert!((15..=80).contains(&percent(tally.divergent, tally.points)));
    assert!(percent(tally.seen_divergent, tally.divergent) >= 55);
    assert!(percent(tally.seen_divergent_branches, tally.divergent_branches) >= 70);
    assert!(percent(tally.seen_apart, tally.apart) >= 50);
    assert!(
        tally.divergent_with_plain > tally.divergent && tally.divergent_with_fake_paths >= tally.divergent
    );
    assert!(tally.definitions > 5 * tally.programs);
}

#[test]
fn another_divergent_variable_makes_nothing_uniform() {
    for seed in seeds(0, 200) {
        let mut rng = SplitMix64::new(seed);
        let graph = graphs::reducible(&mut rng, 9);
        let program = variable_programs::random(&mut rng, &graph, Style { on_edges: true });
        let other = rng.below(program.variable_count());
        let mut builder = VariableProgram::builder();
        for v in program.variables() {
            builder.variable(program.is_divergent_at_entry(v) || v.index() == other);
        }
        for n in graph.nodes() {
            program.at_node(n).iter().for_each(|a| builder.assign(n, a.target, a.value.clone()));
            builder.branch(n, program.branch(n).iter().copied());
        }
        for e in graph.edges() {
            program.on_edge(e).iter().for_each(|a| builder.assign_on(e, a.target, a.value.clone()));
        }
        let more = builder.build(&graph).expect("a copy of a program");
        let options = Options::default();
        let before = VariableUniformity::compute(&graph, &program, &options).expect("reducible");
        let after = VariableUniformity::compute(&graph, &more, &options).expect("reducible");
        for (n, v) in graph.nodes().flat_map(|n| program.variables().map(move |v| (n, v))) {
            assert!(before.is_uniform_at(n, v) || !after.is_uniform_at(n, v), "seed {seed}: {v} at {n}");
        }
    }
}

#[test]
fn claims_of_uniformity_hold_with_facts_that_hold_in_a_run() {
    let (mut points, mut uniform, mut by_facts, mut inconsistent) = (0, 0, 0, 0);
    for seed in seeds(0, 800) {
        let mut rng = SplitMix64::new(seed);
        let graph = graphs::reducible(&mut rng, 9);
        let program = variable_programs::random(&mut rng, &graph, Style { on_edges: true });
        let (tags, runs) = (Tags::of(&graph), Runs { seed, threads: 6, steps: 60 });
        let in_twelve = *rng.pick(&[2, 6, 12]);
        let facts = variable_programs::facts_of_run(&graph, &program, &tags, runs, &mut rng, in_twelve);
        let mut seen = Observed::nothing(&graph, &program);
        variable_programs::run(&graph, &program, &tags, &facts, runs, |_, _| (), &mut seen);
        inconsistent += seen.inconsistent;
        let without = analyse(&graph, &program, Transformer::ReachingDefinitions, FakeBackEdges::Dead);
        for transformer in [Transformer::Plain, Transformer::ReachingDefinitions] {
            let options = Options { transformer, facts: facts.clone(), ..Options::default() };
            let found = VariableUniformity::compute(&graph, &program, &options).expect("reducible");
            for (n, x) in graph.nodes().flat_map(|n| program.variables().map(move |x| (n, x))) {
                let at = found.is_uniform_at(n, x);
                assert!(!at || !seen.differs_at(n, x), "seed {seed}: {x} at {n}, {transformer:?}");
                let after = found.is_uniform_after(n, x);
                assert!(!after || !seen.differs_after(n, x), "seed {seed}: {x} behind {n}, {transformer:?}");
                if transformer == Transformer::ReachingDefinitions && seen.shared.contains(n.index()) {
                    assert!(at || !without.is_uniform_at(n, x), "seed {seed}: facts lose {x} at {n}");
                    points += 1;
                    uniform += usize::from(at);
                    by_facts += usize::from(at && !without.is_uniform_at(n, x));
                }
            }
        }
    }
    println!("{points} points, {uniform} uniform, {by_facts} of them by facts");
    assert_eq!(inconsistent, 0, "facts of a run hold in it");
    assert!(by_facts * 40 > points && uniform < points);
}

#[test]
fn an_irreducible_graph_is_refused() {
    let graph = graphs::build(3, vec![(0, 1), (0, 2), (1, 2), (2, 1)]);
    let program = VariableProgram::builder().build(&graph).expect("an empty program");
    let error = VariableUniformity::compute(&graph, &program, &Options::default()).expect_err("refused");
    let text = "the cycle with header n1 can also be entered at n2: the graph is irreducible";
    assert_eq!(error.to_string(), text);
}

#[test]
fn programs_and_facts_that_name_what_is_not_there_are_refused() {
    use warpline_analysis::{EdgeId, Node};
    use warpline_testkit::reference::variables::{Var, VariableProgramError as E};
    let graph = graphs::build(2, vec![(0, 1)]);
    let make = |edit: &dyn Fn(&mut warpline_testkit::reference::variables::VariableBuilder, Var)| {
        let mut builder = VariableProgram::builder();
        let x = builder.variable(false);
        edit(&mut builder, x);
        builder.build(&graph)
    };
    let one = Expression::Constant(1);
    assert!(make(&|b, x| b.assign(Node(1), x, one.clone())).is_ok());
    let missing = E::NoSuchNode { node: Node(2) };
    assert_eq!(make(&|b, x| b.assign(Node(2), x, one.clone())), Err(missing));
    assert_eq!(make(&|b, x| b.branch(Node(2), [x])), Err(missing));
    let missing = E::NoSuchEdge { edge: EdgeId(1) };
    assert_eq!(make(&|b, x| b.assign_on(EdgeId(1), x, one.clone())), Err(missing));
    let missing = E::NoSuchVariable { var: Var(1) };
    assert_eq!(make(&|b, x| b.assign(Node(0), x, Expression::Copy(Var(1)))), Err(missing));
    let twice = |b: &mut warpline_testkit::reference::variables::VariableBuilder, x: Var| {
        b.assign_on(EdgeId(0), x, Expression::Constant(1));
        b.assign_on(EdgeId(0), x, Expression::Constant(2));
    };
    assert_eq!(make(&twice), Err(E::AssignedTwice { edge: EdgeId(0), var: Var(0) }));
    let program = make(&|_, _| ()).expect("an empty program");
    let facts = [
        Facts::none().dead_edge(EdgeId(3)),
        Facts::none().constant_at(Node(7), Var(0)),
        Facts::none().constant_after(Node(0), Var(4)),
        Facts::none().equal_on(EdgeId(0), Var(0), Var(4)),
    ];
    for facts in facts {
        let options = Options { facts, ..Options::default() };
        assert!(VariableUniformity::compute(&graph, &program, &options).is_err(), "{options:?}");
    }
}
