//! The baselines on random programs: what is sound is held against threads that run, and the product against both.

use warpline_analysis::uniformity::{Algorithm, Cause, Fact, Rule, SsaProgram, Uniformity, Value};
use warpline_analysis::{CsrGraph, DomTree, EdgeId, Graph, Node};
use warpline_testkit::graph_oracles::is_reducible;
use warpline_testkit::lockstep::{self, Observed};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::tagged::Tags;
use warpline_testkit::{graphs, ssa_programs};

/// A program and the seed that it is made from.
struct Sample {
    seed: u64,
    graph: CsrGraph,
    program: SsaProgram,
    rng: SplitMix64,
}

impl Sample {
    fn new(seed: u64, graph: impl Fn(&mut SplitMix64) -> CsrGraph) -> Self {
        let mut rng = SplitMix64::new(seed);
        let graph = graph(&mut rng);
        let program = ssa_programs::random(&mut rng, &graph);
        Sample { seed, graph, program, rng }
    }

    fn observe(&mut self, hierarchies: &[Tags], runs: u64) -> Observed {
        let mut seen = Observed::nothing(&self.graph, &self.program);
        for tags in hierarchies {
            for seed in 0..runs {
                lockstep::run(&self.graph, &self.program, tags, seed, 6, 60, &mut seen);
            }
        }
        seen
    }

    /// Everything that can be asked: whether it is divergent by the first answer and by the second.
    fn compare(&self, first: &impl Answers, second: &impl Answers) -> Compared {
        let (graph, program) = (&self.graph, &self.program);
        let dom = DomTree::compute(graph);
        let mut found = Compared::default();
        let mut note = |what: &dyn Fn() -> String, a: bool, b: bool| {
            found.both += usize::from(a && b);
            if a && !b {
                found.only_first.push(what());
            }
            found.only_second += usize::from(b && !a);
        };
        for v in program.values() {
            let node = program.node(v);
            if node.is_some_and(|n| !dom.is_reachable(n)) {
                continue;
            }
            note(&|| format!("{v}"), first.value(v), second.value(v));
            let visible = |n| node.is_none_or(|d| dom.dominates(d, n));
            for n in graph.nodes().filter(|&n| dom.is_reachable(n) && visible(n)) {
                note(&|| format!("{v} at {n}"), first.at(graph, v, n), second.at(graph, v, n));
                for &e in graph.out_edges(n) {
                    note(&|| format!("{v} on {e}"), first.on(graph, v, e), second.on(graph, v, e));
                }
            }
        }
        for n in graph.nodes().filter(|&n| dom.is_reachable(n) && graph.out_edges(n).len() > 1) {
            note(&|| format!("branch at {n}"), first.branch(n), second.branch(n));
        }
        found
    }

    fn describe(&self) -> String {
        let mut text = format!("seed {}: {} nodes, edges ", self.seed, self.graph.node_count());
        text += &format!("{:?}\n", graphs::edge_list(&self.graph));
        for v in self.program.values() {
            let operands: Vec<_> = self.program.operands(v).collect();
            let (at, rule) = (self.program.node(v), self.program.rule(v));
            text += &format!("  {at:?}: {v} = {operands:?} {rule:?} pure {}\n", self.program.is_pure(v));
        }
        for n in self.graph.nodes() {
            text += &format!("  {n}: branch on {:?}\n", self.program.terminator(n));
        }
        text
    }
}

#[derive(Default, Debug)]
struct Compared {
    both: usize,
    only_first: Vec<String>,
    only_second: usize,
}

/// Something that says what is divergent.
trait Answers {
    fn value(&self, v: Value) -> bool;
    fn at(&self, g: &CsrGraph, v: Value, n: Node) -> bool;
    fn on(&self, g: &CsrGraph, v: Value, e: EdgeId) -> bool;
    fn branch(&self, n: Node) -> bool;
}

impl Answers for Uniformity {
    fn value(&self, v: Value) -> bool {
        self.is_divergent(v)
    }
    fn at(&self, g: &CsrGraph, v: Value, n: Node) -> bool {
        self.is_divergent_at(g, v, n)
    }
    fn on(&self, g: &CsrGraph, v: Value, e: EdgeId) -> bool {
        self.is_divergent_on(g, v, e)
    }
    fn branch(&self, n: Node) -> bool {
        self.is_divergent_branch(n)
    }
}

impl Answers for Observed {
    fn value(&self, v: Value) -> bool {
        self.divergent.contains(v.index())
    }
    fn at(&self, _: &CsrGraph, v: Value, n: Node) -> bool {
        self.differs_at(v, n)
    }
    fn on(&self, _: &CsrGraph, v: Value, e: EdgeId) -> bool {
        self.differs_on(v, e)
    }
    fn branch(&self, n: Node) -> bool {
        self.branches.contains(n.index())
    }
}

impl Sample {
    /// Holds the claims of strong post-dominators against what was seen.
    fn strong_post_dominators_miss_nothing(&self, seen: &Observed) -> Compared {
        let claimed = Uniformity::compute_by(&self.graph, &self.program, Algorithm::StrongPostDom);
        let found = self.compare(seen, &claimed);
        assert!(found.only_first.is_empty(), "claimed uniform: {:?}\n{}", found.only_first, self.describe());
        found
    }
}

/// How many programs: `WARPLINE_GRAPHS`, or what takes a second or two.
fn count(default: u64) -> u64 {
    std::env::var("WARPLINE_GRAPHS").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

fn irreducible(rng: &mut SplitMix64) -> CsrGraph {
    loop {
        let graph = graphs::arbitrary(rng, 10);
        if !is_reducible(&graph) {
            return graph;
        }
    }
}

#[test]
fn strong_post_dominators_are_sound_on_reducible_graphs() {
    let (mut seen_divergent, mut not_seen) = (0, 0);
    for seed in 0..count(2000) {
        let mut sample = Sample::new(seed, |rng| graphs::reducible(rng, 10));
        let tags = [Tags::of(&sample.graph)];
        let seen = sample.observe(&tags, 5);
        let found = sample.strong_post_dominators_miss_nothing(&seen);
        seen_divergent += found.both;
        not_seen += found.only_second;
    }
    println!("{seen_divergent} divergent and seen to be, {not_seen} not seen");
    assert!(seen_divergent > 10 * count(2000) as usize);
}

/// Threads part at 3: some go round the inner loop {2, 3}, some end it and begin the loop {1, 2, 3, 4} again. The
/// exit 2 → 5 is inevitable from neither, and does not depend on 3, but what changes in the loop does differ there.
#[test]
fn strong_post_dominators_see_that_a_loop_is_begun_again_apart() {
    let graph = graphs::build(6, vec![(0, 1), (1, 2), (2, 3), (2, 5), (3, 2), (3, 4), (4, 1)]);
    let mut builder = SsaProgram::builder();
    let lane = builder.plain(Node(3), Rule::Source, []);
    let changing = builder.plain(Node(1), Rule::AlwaysUniform, []);
    let leave = builder.plain(Node(2), Rule::AlwaysUniform, []);
    builder.terminator(Node(2), [leave]);
    builder.terminator(Node(3), [lane]);
    let used = builder.plain(Node(5), Rule::Default, [changing]);
    let program = builder.build(&graph).unwrap();
    let mut sample = Sample { seed: 0, graph, program, rng: SplitMix64::new(0) };
    let tags = [Tags::of(&sample.graph)];
    assert!(sample.observe(&tags, 20).divergent.contains(used.index()));
    for algorithm in [Algorithm::Joins, Algorithm::StrongPostDom] {
        let found = Uniformity::compute_by(&sample.graph, &sample.program, algorithm);
        assert!(found.is_divergent(used), "{algorithm:?}");
        assert!(!found.is_divergent_branch(Node(2)), "{algorithm:?}");
    }
}

#[test]
fn strong_post_dominators_are_sound_on_irreducible_graphs_whatever_the_headers_are() {
    let mut seen_divergent = 0;
    for seed in 50_000..50_000 + count(1000) {
        let mut sample = Sample::new(seed, irreducible);
        let mut rng = sample.rng.clone();
        let tags: Vec<Tags> =
            (0..3).map(|_| Tags::of_walk(&sample.graph, |_, out| rng.shuffle(out))).collect();
        let seen = sample.observe(&tags, 3);
        let found = sample.strong_post_dominators_miss_nothing(&seen);
        seen_divergent += found.both;
    }
    assert!(seen_divergent > 10 * count(1000) as usize);
}

#[test]
fn the_product_is_nowhere_less_precise_than_strong_post_dominators_and_often_more() {
    let mut gains = 0;
    for seed in 0..count(4000) {
        let sample = Sample::new(seed, |rng| match seed % 2 {
            0 => graphs::reducible(rng, 12),
            _ => graphs::arbitrary(rng, 12),
        });
        let by = |algorithm| Uniformity::compute_by(&sample.graph, &sample.program, algorithm);
        let (product, strong) = (by(Algorithm::Joins), by(Algorithm::StrongPostDom));
        let found = sample.compare(&product, &strong);
        assert!(found.only_first.is_empty(), "less precise: {:?}\n{}", found.only_first, sample.describe());
        gains += usize::from(found.only_second > 0);
        let cycles = product.cycles();
        for c in cycles.cycles() {
            assert!(
                strong.has_divergent_exit(c) || !product.has_divergent_exit(c),
                "{c:?}\n{}",
                sample.describe()
            );
            // What is inside a cycle that was given up shares its fate, and nothing is said of exits there.
            let shares = !strong.is_m_converged(cycles.header(c));
            for e in cycles.exit_edges(&sample.graph, c) {
                let worse = product.is_divergent_exit(c, e) && !strong.is_divergent_exit(c, e) && !shares;
                assert!(!worse, "exit {e} of {c:?}\n{}", sample.describe());
            }
        }
    }
    println!("more precise on {gains} programs");
    assert!(gains as u64 * 10 > count(4000), "{gains}");
}

#[test]
fn post_dominators_claim_divergent_values_uniform() {
    let mut wrong = 0;
    for seed in 0..count(1000) {
        let mut sample = Sample::new(seed, |rng| graphs::reducible(rng, 10));
        let tags = [Tags::of(&sample.graph)];
        let seen = sample.observe(&tags, 5);
        let claimed = Uniformity::compute_by(&sample.graph, &sample.program, Algorithm::PostDom);
        wrong += u64::from(!sample.compare(&seen, &claimed).only_first.is_empty());
    }
    println!("wrong on {wrong} programs");
    assert!(wrong * 20 > count(1000), "{wrong}");
}

#[test]
fn every_algorithm_has_a_cause_for_what_it_calls_divergent() {
    for seed in 0..count(600) {
        let sample = Sample::new(seed, |rng| graphs::arbitrary(rng, 10));
        for algorithm in Algorithm::ALL {
            let found = Uniformity::compute_by(&sample.graph, &sample.program, algorithm);
            for v in sample.program.values().filter(|&v| found.is_divergent(v)) {
                let last = found.explain(v).pop();
                let at_source = matches!(last, Some(Fact::Value(_, Cause::Source)));
                assert!(at_source, "{algorithm:?}: {v} ends at {last:?}\n{}", sample.describe());
            }
        }
    }
}
