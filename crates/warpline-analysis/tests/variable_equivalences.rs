//! The transformers for programs with variables, the formulas of paper 1, and the SSA engine, against each other.
//!
//! `WARPLINE_PROGRAMS` is the number of programs, `WARPLINE_SEED` the first one's seed.

use std::ops::Range;

use warpline_analysis::uniformity::{SsaProgram, Uniformity, Value};
use warpline_analysis::{CsrGraph, DomTree, Graph};
use warpline_testkit::reference::variables::{
    Facts, FakeBackEdges, Options, Transformer, Var, VariableUniformity,
};
use warpline_testkit::reference::{NormalForm, VariableProgram};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::tagged::Tags;
use warpline_testkit::variable_oracles::{Definitions, Formula, from_ssa, into_ssa, one_bit_per_value};
use warpline_testkit::variable_programs::{self, Observed, Runs, Style};
use warpline_testkit::{graphs, ssa_programs};

/// The seeds to run: from `WARPLINE_SEED`, as many as `WARPLINE_PROGRAMS` says.
fn seeds(first: u64, count: u64) -> Range<u64> {
    let number =
        |name: &str, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let first = number("WARPLINE_SEED", first);
    first..first + number("WARPLINE_PROGRAMS", count)
}

/// A random graph in normal form: reducible, and loops are left one at a time.
fn normal_graph(rng: &mut SplitMix64, max_nodes: usize) -> CsrGraph {
    let graph = graphs::reducible(rng, max_nodes);
    NormalForm::new(&graph).expect("the graph is reducible").graph().clone()
}

fn analyse(graph: &CsrGraph, program: &VariableProgram, transformer: Transformer) -> VariableUniformity {
    let options = Options { transformer, fake_back_edges: FakeBackEdges::Dead, facts: Facts::none() };
    VariableUniformity::compute(graph, program, &options).expect("the graph is reducible")
}

fn observe(graph: &CsrGraph, program: &VariableProgram) -> Observed {
    let mut seen = Observed::nothing(graph, program);
    for seed in 0..4 {
        let runs = Runs { seed, threads: 6, steps: 60 };
        let (tags, facts) = (Tags::of(graph), Facts::none());
        variable_programs::run(graph, program, &tags, &facts, runs, |_, _| (), &mut seen);
    }
    seen
}

#[test]
fn solvers_give_the_fixed_points_of_definitions_4_7_and_6_6() {
    let (mut points, mut uniform, mut by_definitions) = (0, 0, 0);
    for seed in seeds(0, 150) {
        let mut rng = SplitMix64::new(seed);
        let graph = normal_graph(&mut rng, 6);
        let program = variable_programs::random(&mut rng, &graph, Style { on_edges: true });
        let definitions = Definitions::new(&graph, &program);
        let plain = definitions.fixed_point(Formula::Plain);
        let full = definitions.fixed_point(Formula::ReachingDefinitions);
        let by_plain = analyse(&graph, &program, Transformer::Plain);
        let by_full = analyse(&graph, &program, Transformer::ReachingDefinitions);
        for n in graph.nodes() {
            for x in program.variables() {
                let (i, j) = (n.index(), x.index());
                assert_eq!(by_plain.is_uniform_at(n, x), plain[i][j], "seed {seed}: {x} at {n} by 4.7");
                assert_eq!(by_full.is_uniform_at(n, x), full[i][j], "seed {seed}: {x} at {n} by 6.6");
                points += 1;
                uniform += usize::from(full[i][j]);
                by_definitions += usize::from(full[i][j] && !plain[i][j]);
            }
        }
    }
    println!("{points} points, {uniform} uniform, {by_definitions} of them by reaching definitions only");
    assert!(by_definitions * 100 > points && (points / 3..points * 4 / 5).contains(&uniform));
}

/// Where a value of an SSA program is looked at: where it is defined, and each node in the innermost loop around its
/// definition that the definition strictly dominates.
fn uses(
    graph: &CsrGraph,
    ssa: &SsaProgram,
    dom: &DomTree,
    u: &Uniformity,
    v: Value,
) -> Vec<warpline_analysis::Node> {
    let Some(def) = ssa.node(v) else { return graph.nodes().collect() };
    let inside = |n| u.cycles().innermost(def).is_none_or(|c| u.cycles().contains(c, n));
    graph.nodes().filter(|&n| dom.strictly_dominates(def, n) && inside(n)).collect()
}

#[test]
fn on_loop_closed_ssa_both_definitions_and_the_engine_give_the_same() {
    let (mut values, mut divergent, mut phis, mut uses_seen, mut lost_by_plain) = (0, 0, 0, 0, 0);
    for seed in seeds(0, 250) {
        let mut rng = SplitMix64::new(seed);
        let graph = normal_graph(&mut rng, 7);
        let ssa = ssa_programs::random_loop_closed(&mut rng, &graph, true);
        let program = from_ssa(&graph, &ssa);
        let one_bit = one_bit_per_value(&graph, &ssa);
        let full = analyse(&graph, &program, Transformer::ReachingDefinitions);
        let plain = analyse(&graph, &program, Transformer::Plain);
        let engine = Uniformity::compute(&graph, &ssa);
        let dom = DomTree::compute(&graph);
        for v in ssa.values() {
            let (x, expected) = (Var(v.0), one_bit[v.index()]);
            assert_eq!(!engine.is_divergent(v), expected, "seed {seed}: the engine on {v}");
            let at_definition = match ssa.node(v) {
                Some(n) if ssa.is_phi(v) => full.is_uniform_at(n, x),
                Some(n) => full.is_uniform_after(n, x),
                None => full.is_uniform_at(graph.entry(), x),
            };
            assert_eq!(at_definition, expected, "seed {seed}: Definition 6.6 on {v}");
            for n in uses(&graph, &ssa, &dom, &engine, v) {
                assert_eq!(full.is_uniform_at(n, x), expected, "seed {seed}: Definition 6.6 on {v} at {n}");
                assert_eq!(!engine.is_divergent_at(&graph, v, n), expected, "seed {seed}: {v} at {n}");
                uses_seen += 1;
                lost_by_plain += usize::from(expected && !plain.is_uniform_at(n, x));
            }
            values += 1;
            divergent += usize::from(!expected);
            phis += usize::from(ssa.is_phi(v));
        }
    }
    println!(
        "{values} values, {phis} φs, {divergent} divergent, {uses_seen} uses, {lost_by_plain} lost by 4.7"
    );
    assert!(divergent * 5 > values && divergent * 5 < values * 4 && phis * 20 > values);
    assert!(lost_by_plain > 0, "Definition 4.7 node by node is weaker, even on loop-closed SSA");
}

#[test]
fn without_isolated_operands_the_engine_is_only_more_precise() {
    let (mut uniform, mut more) = (0, 0);
    for seed in seeds(0, 250) {
        let mut rng = SplitMix64::new(seed);
        let graph = normal_graph(&mut rng, 7);
        let ssa = ssa_programs::random_loop_closed(&mut rng, &graph, false);
        let one_bit = one_bit_per_value(&graph, &ssa);
        let engine = Uniformity::compute(&graph, &ssa);
        for v in ssa.values() {
            assert!(!one_bit[v.index()] || !engine.is_divergent(v), "seed {seed}: the engine on {v}");
            uniform += usize::from(one_bit[v.index()]);
            more += usize::from(!one_bit[v.index()] && !engine.is_divergent(v));
        }
    }
    println!("{uniform} values uniform by the paper, {more} more by the engine");
    assert!(more > 20);
}

#[test]
fn in_ssa_form_the_engine_finds_what_definition_6_6_finds_and_more() {
    let (mut points, mut uniform, mut more, mut differs) = (0, 0, 0, 0);
    for seed in seeds(0, 250) {
        let mut rng = SplitMix64::new(seed);
        let graph = normal_graph(&mut rng, 7);
        let program = variable_programs::random(&mut rng, &graph, Style { on_edges: false });
        let found = analyse(&graph, &program, Transformer::ReachingDefinitions);
        let ssa = into_ssa(&graph, &program);
        let engine = Uniformity::compute(&graph, &ssa.program);
        let seen = observe(&graph, &program);
        for n in graph.nodes() {
            for x in program.variables() {
                let value = ssa.at[n.index()][x.index()];
                let by_engine = !engine.is_divergent_at(&graph, value, n);
                let by_paper = found.is_uniform_at(n, x);
                assert!(by_engine || !by_paper, "seed {seed}: {x} at {n} is uniform by Definition 6.6 only");
                assert!(!by_engine || !seen.differs_at(n, x), "seed {seed}: {x} at {n} is not uniform");
                points += 1;
                uniform += usize::from(by_paper);
                more += usize::from(by_engine && !by_paper);
                differs += usize::from(seen.differs_at(n, x));
            }
        }
    }
    println!(
        "{points} points: {uniform} uniform by Definition 6.6, {more} more by the engine, {differs} differ"
    );
    assert!(more > 20 && differs * 6 > points);
}
