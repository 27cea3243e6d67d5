//! Every divergent value, branch, use and cycle of random programs has an explanation that replays.

use warpline_analysis::uniformity::{Evidence, Explainer, Rule, SsaProgram, Uniformity, Value};
use warpline_analysis::{CsrGraph, DomTree, Graph};
use warpline_testkit::differential::shape_of;
use warpline_testkit::graph_oracles::is_reducible;
use warpline_testkit::programs::{ProgramOptions, generate};
use warpline_testkit::replay::{Replay, Seen};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::tagged::Tags;
use warpline_testkit::{graphs, ssa_programs};
use warpline_uniformity::{Explainer as KernelExplainer, Options, Uniformity as KernelUniformity};

fn explanations_replay(
    graph: &CsrGraph,
    program: &SsaProgram,
    hierarchies: &[Tags],
    seen: &mut Seen,
) -> Result<(), String> {
    let uniformity = Uniformity::compute(graph, program);
    let cycles = uniformity.cycles();
    let explainer = Explainer::new(graph, program, &uniformity);
    let replay = Replay::new(graph, program, cycles, hierarchies);
    let dom = DomTree::compute(graph);
    // What no thread executes follows its operands without further reason.
    let lives = |&v: &Value| program.node(v).is_none_or(|n| dom.is_reachable(n));
    for v in program.values().filter(lives) {
        if uniformity.is_divergent(v) {
            replay.chain(&explainer.value(v), seen).map_err(|e| format!("{v}: {e}"))?;
            continue;
        }
        assert!(explainer.value(v).is_empty());
        let visible = |n| dom.is_reachable(n) && program.node(v).is_none_or(|d| dom.dominates(d, n));
        for n in graph.nodes().filter(|&n| visible(n)) {
            if uniformity.is_divergent_at(graph, v, n) {
                replay.chain(&explainer.use_at(v, n), seen).map_err(|e| format!("{v} at {n}: {e}"))?;
            }
            for &e in graph.out_edges(n) {
                if uniformity.is_divergent_on(graph, v, e) {
                    replay.chain(&explainer.use_on(v, e), seen).map_err(|m| format!("{v} on {e}: {m}"))?;
                }
            }
        }
    }
    for n in graph.nodes() {
        match uniformity.branch_cause(n) {
            Some(_) => replay.chain(&explainer.branch(n), seen).map_err(|e| format!("branch {n}: {e}"))?,
            None => assert!(!uniformity.is_divergent_branch(n) && explainer.branch(n).is_empty()),
        }
    }
    for c in cycles.cycles() {
        let chain = explainer.cycle(c);
        let inside = std::iter::successors(cycles.parent(c), |&p| cycles.parent(p))
            .any(|p| uniformity.given_up(p).is_some());
        if uniformity.has_divergent_exit(c) && (!inside || uniformity.given_up(c).is_some()) {
            replay.chain(&chain, seen).map_err(|e| format!("{c:?}: {e}"))?;
        } else {
            assert!(chain.is_empty());
        }
    }
    Ok(())
}

fn explore(
    first_seed: u64,
    count: u64,
    graph: impl Fn(&mut SplitMix64) -> CsrGraph,
    hierarchies: impl Fn(&mut SplitMix64, &CsrGraph) -> Vec<Tags>,
) -> Seen {
    let mut seen = Seen::default();
    let count = std::env::var("WARPLINE_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(count);
    for seed in first_seed..first_seed + count {
        let mut rng = SplitMix64::new(seed);
        let graph = graph(&mut rng);
        let program = ssa_programs::random(&mut rng, &graph);
        let tags = hierarchies(&mut rng, &graph);
        if let Err(message) = explanations_replay(&graph, &program, &tags, &mut seen) {
            let edges = graphs::edge_list(&graph);
            panic!("seed {seed}: {message}\n{} nodes, edges {edges:?}\n{program:?}", graph.node_count());
        }
    }
    println!("{seen:?}");
    seen
}

#[test]
fn explanations_replay_on_reducible_graphs() {
    let count = 1500;
    let seen = explore(1, count, |rng| graphs::reducible(rng, 10), |_, graph| vec![Tags::of(graph)]);
    assert_eq!((seen.entered_apart, seen.inside_apart, seen.not_looked_into), (0, 0, 0));
    let at_least = |n: usize, tenths: u64| n as u64 * 10 >= tenths * count;
    assert!(at_least(seen.chains, 80) && at_least(seen.exits, 30), "{seen:?}");
    assert!(at_least(seen.joins, 1) && at_least(seen.temporal, 2), "{seen:?}");
}

#[test]
fn explanations_replay_on_irreducible_graphs_whatever_the_headers_are() {
    let count = 1500;
    let irreducible = |rng: &mut SplitMix64| loop {
        let graph = graphs::arbitrary(rng, 12);
        if !is_reducible(&graph) {
            return graph;
        }
    };
    let hierarchies = |rng: &mut SplitMix64, graph: &CsrGraph| {
        let others = (0..3).map(|_| Tags::of_walk(graph, |_, out| rng.shuffle(out)));
        std::iter::once(Tags::of(graph)).chain(others).collect()
    };
    let seen = explore(50_000, count, irreducible, hierarchies);
    let at_least = |n: usize, hundredths: u64| n as u64 * 100 >= hundredths * count;
    assert!(at_least(seen.entered_apart, 100) && at_least(seen.inside_apart, 300), "{seen:?}");
    assert!(at_least(seen.joins, 15) && seen.joins_inside > 2, "{seen:?}");
    assert!(seen.inside_entered > 0, "{seen:?}");
    // Almost every cycle that was given up has paths to show for it.
    assert!(seen.not_looked_into * 50 < seen.inside_apart, "{seen:?}");
}

#[test]
fn the_replay_notices_wrong_explanations() {
    let (mut wrong, mut noticed) = (0, 0);
    for seed in 0..300 {
        let mut rng = SplitMix64::new(seed);
        let graph = graphs::reducible(&mut rng, 10);
        let program = ssa_programs::random(&mut rng, &graph);
        let uniformity = Uniformity::compute(&graph, &program);
        let explainer = Explainer::new(&graph, &program, &uniformity);
        let tags = [Tags::of(&graph)];
        let replay = Replay::new(&graph, &program, uniformity.cycles(), &tags);
        for v in program.values().filter(|&v| program.rule(v) != Rule::Source) {
            let chain = explainer.value(v);
            if chain.len() < 2 {
                continue;
            }
            let mut cut = chain.clone();
            cut.remove(1 + rng.below(chain.len() - 1));
            let mut crossed = chain.clone();
            let Some(link) = crossed.iter_mut().find_map(|l| match &mut l.evidence {
                Evidence::Paths(w) => Some(w),
                _ => None,
            }) else {
                wrong += 1;
                noticed += usize::from(replay.chain(&cut, &mut Seen::default()).is_err());
                continue;
            };
            // Both paths the same, one path without its last step.
            let mut same = link.clone();
            same.paths[1] = same.paths[0].clone();
            *link = same;
            let mut short = chain.clone();
            for l in &mut short {
                if let Evidence::Paths(w) = &mut l.evidence {
                    w.paths[0].pop();
                }
            }
            for chain in [cut, crossed, short] {
                wrong += 1;
                noticed += usize::from(replay.chain(&chain, &mut Seen::default()).is_err());
            }
        }
    }
    println!("{noticed} of {wrong} noticed");
    assert!(wrong > 1000 && noticed == wrong);
}

#[test]
fn everything_divergent_in_random_kernels_is_explained_down_to_a_source_with_paths_for_every_join() {
    let (mut chains, mut with_paths) = (0, 0);
    for seed in 0..150 {
        let program = generate(seed, &ProgramOptions::default());
        let (module, func) = (&program.module, program.function());
        let args = program.roles.iter().map(shape_of).collect();
        let result = KernelUniformity::compute(module, func, &Options::with_args(args));
        let explainer = KernelExplainer::new(module, func, &result);
        let values = func.values.keys().filter(|&v| result.is_divergent(v)).map(|v| explainer.value(v));
        let branches = result.divergent_branches().map(|b| explainer.branch(b));
        for chain in values.chain(branches) {
            chains += 1;
            let last =
                chain.last().unwrap_or_else(|| panic!("seed {seed}: nothing is said\n{}", program.text()));
            let is_argument = last.text.contains("is an argument of the shape");
            let is_source = last.value.and_then(|v| func.def_inst(v)).is_some();
            assert!(is_argument || is_source, "seed {seed}: {chain:#?}");
            for step in &chain {
                let parts = step.text.contains("that diverge at") || step.text.contains("they diverge at");
                assert_eq!(step.paths.len(), if parts { 2 } else { 0 }, "seed {seed}: {step:?}");
                with_paths += usize::from(parts);
            }
        }
    }
    println!("{chains} chains, {with_paths} steps with paths");
    assert!(chains > 3_000 && with_paths > 300, "{chains} chains, {with_paths} steps with paths");
}
