//! Uniformity of described programs, with variables that are written several times, against threads that run the
//! description itself and know nothing of versions.

use std::collections::BTreeMap;

use warpline_analysis::dataflow::{Instruction, Program, ProgramBuilder, TestKind, Variable};
use warpline_analysis::ssi::{Strategy, ssify};
use warpline_analysis::uniformity::{Origin, Rule, SsaProgram, Uniformity, Value};
use warpline_analysis::{BitSet, CsrGraph, Graph, Node};
use warpline_testkit::graphs;
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::ssi_figure::with_entry;
use warpline_testkit::tagged::{Tag, Tags};

const VARIABLES: usize = 4;
const THREADS: u64 = 6;
const STEPS: usize = 60;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// A program, and which instructions yield something that differs between threads.
struct Case {
    program: Program,
    sources: BitSet,
}

/// Random instructions over a few variables, the first of which differs between threads when control enters.
fn random(rng: &mut SplitMix64, graph: CsrGraph) -> Case {
    let mut builder = ProgramBuilder::new(graph.clone(), VARIABLES);
    (0..VARIABLES as u32 - 1).for_each(|v| builder.on_entry(Variable(v)));
    let any = |rng: &mut SplitMix64| Variable(rng.below(VARIABLES) as u32);
    let mut sources = Vec::new();
    for node in graph.nodes() {
        builder.begin(node);
        for _ in 0..rng.below(3) {
            let is_source = rng.chance(1, 12);
            let uses: Vec<Variable> = (0..rng.below(3)).map(|_| any(rng)).collect();
            let result = any(rng);
            let at = builder.instruction(uses, [result]);
            sources.extend(is_source.then_some(at.index()));
        }
        let decide: Vec<Variable> = (0..1 + rng.below(2)).map(|_| any(rng)).collect();
        let mut tested = decide.clone();
        tested.dedup();
        if graph.out_edges(node).len() > 1 {
            builder.branch(decide);
            tested.into_iter().for_each(|v| builder.test(node, v, TestKind::Other));
        }
    }
    let program = builder.build().expect("a well-formed program");
    let mut set = BitSet::new(program.instructions());
    sources.into_iter().for_each(|at| _ = set.insert(at));
    Case { program, sources: set }
}

fn hash(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0x5eed, |h, part| SplitMix64::new(h ^ part.rotate_left(17)).next_u64())
}

/// What threads were seen to disagree on: results of instructions, and branches.
struct Seen {
    results: BitSet,
    branches: BitSet,
}

/// Runs every thread on its own and compares executions of the same instance of a block.
fn run(case: &Case, seed: u64) -> Seen {
    let program = &case.program;
    let graph = program.graph();
    let tags = Tags::of(graph);
    let mut seen =
        Seen { results: BitSet::new(program.instructions()), branches: BitSet::new(graph.node_count()) };
    let mut first: BTreeMap<(Node, Tag), Visit> = BTreeMap::new();
    for thread in 1..=THREADS {
        let mut held: Vec<Option<u64>> = (0..VARIABLES as u64).map(|v| Some(hash([seed, v]))).collect();
        held[0] = Some(hash([seed, 0, thread]));
        // Nothing has written the last one, so it may be taken to be what it is in other threads.
        held[VARIABLES - 1] = None;
        let (mut node, mut tag) = (graph.entry(), tags.at_entry(graph.entry()));
        for step in 0..STEPS as u64 {
            let (results, target) = visit(case, seed, thread, step, node, &mut held);
            let entry = first.entry((node, tag.clone())).or_insert_with(|| (results.clone(), target));
            let differing = entry
                .0
                .iter()
                .zip(&results)
                .enumerate()
                .filter(|(_, (a, b))| a.is_some() && b.is_some() && a != b);
            for (k, _) in differing {
                seen.results.insert(program.block(node).start as usize + k);
            }
            if entry.1.is_some() && target.is_some() && entry.1 != target {
                seen.branches.insert(node.index());
            }
            let Some(target) = target else { break };
            tag = tags.step(&tag, node, target);
            node = target;
        }
    }
    seen
}

/// What instructions of a block yield, and where control goes then.
type Visit = (Vec<Option<u64>>, Option<Node>);

/// One thread goes through a block: what its instructions yield, nothing if they read what was never written, and
/// where it goes.
fn visit(case: &Case, seed: u64, thread: u64, step: u64, node: Node, held: &mut [Option<u64>]) -> Visit {
    let program = &case.program;
    let mut results = Vec::new();
    let mut way = Some(0);
    for at in program.block(node).map(Instruction) {
        let uses: Option<Vec<u64>> = program.uses(at).iter().map(|v| held[v.index()]).collect();
        let own = if case.sources.contains(at.index()) { hash([seed, thread, step]) } else { 0 };
        let result = uses.map(|uses| hash([u64::from(at.0), own].into_iter().chain(uses)));
        program.definitions(at).iter().for_each(|v| held[v.index()] = result);
        way = result;
        results.push(result);
    }
    // Without a branch at most one edge leaves the block.
    let out = program.graph().out_edges(node);
    let taken = way.and_then(|way| out.get(way as usize % out.len().max(1)));
    let target = taken.map(|&e| program.graph().target(e));
    (results, target)
}

/// The claims for a program under a strategy that do not hold.
fn violations(case: &Case, strategy: &Strategy, seeds: std::ops::Range<u64>) -> Vec<String> {
    let program = &case.program;
    let ssi = ssify(program, strategy);
    let rule = |origin: Origin| match origin {
        Origin::Entry(v) if v.index() == 0 => Rule::Source,
        Origin::Instruction(at, _) if case.sources.contains(at.index()) => Rule::Source,
        _ => Rule::Default,
    };
    let ssa = SsaProgram::of_versions(program, &ssi, rule).expect("a split program");
    let found = Uniformity::compute(program.graph(), &ssa);
    let mut wrong = Vec::new();
    for seed in seeds {
        let seen = run(case, seed);
        for at in seen.results.iter() {
            for slot in program.definition_slots(Instruction(at as u32)) {
                if !found.is_divergent(Value(ssi.defined(slot).0)) {
                    wrong.push(format!("the result of instruction {at} differs"));
                }
            }
        }
        let parted = seen.branches.iter().filter(|&node| !found.is_divergent_branch(Node::new(node)));
        wrong.extend(parted.map(|node| format!("threads diverge at n{node}")));
    }
    wrong
}

#[test]
fn nothing_that_threads_disagree_on_is_called_uniform() {
    let (first, count) = (number("WARPLINE_SEED", 1), number("WARPLINE_PROGRAMS", 1500));
    let (mut uniform, mut divergent) = (0, 0);
    for seed in first..first + count {
        let rng = &mut SplitMix64::new(seed);
        let graph = with_entry(&graphs::reducible(rng, 9));
        let case = random(rng, graph);
        for strategy in [Strategy::SSA, Strategy::E_SSA, Strategy::NULL_POINTERS, Strategy::MAHLKE] {
            let wrong = violations(&case, &strategy, 0..3);
            assert!(wrong.is_empty(), "seed {seed}, {strategy:?}: {wrong:?}\n{:?}", case.program);
        }
        let seen = run(&case, 0);
        divergent += seen.results.count();
        uniform += case.program.instructions() - seen.results.count();
    }
    println!("of results of instructions {uniform} were seen to be uniform, {divergent} divergent");
    assert!(uniform > divergent / 10 && divergent > uniform / 10, "one kind of programs only");
}

#[test]
fn a_variable_that_is_written_again_is_as_uniform_as_the_write_that_is_seen() {
    // x = lane; y = x; x = 0; z = x
    let graph = CsrGraph::new(1, Node(0), []).expect("a graph");
    let [x, y, z] = [0, 1, 2].map(Variable);
    let mut builder = ProgramBuilder::new(graph, 3);
    builder.begin(Node(0));
    let lane = builder.instruction([], [x]);
    builder.instruction([x], [y]);
    builder.instruction([], [x]);
    builder.instruction([x], [z]);
    let program = builder.build().expect("a program");
    let ssi = ssify(&program, &Strategy::SSA);
    let rule = |o| if o == Origin::Instruction(lane, x) { Rule::Source } else { Rule::Default };
    let ssa = SsaProgram::of_versions(&program, &ssi, rule).expect("a split program");
    let found = Uniformity::compute(program.graph(), &ssa);
    assert!(found.is_divergent(Value(y.0)));
    assert!(!found.is_divergent(Value(z.0)));
}
