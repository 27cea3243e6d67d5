//! Normal form, head-rewired graph and relevant splits of paper 1 against their definitions and against the product.
//!
//! `WARPLINE_GRAPHS` is the number of random graphs, `WARPLINE_SEED` the first one's seed. With 5,000 graphs or more,
//! all graphs with four nodes are checked as well; otherwise one in eighty.

use std::collections::BTreeSet;
use std::ops::Range;

use warpline_analysis::{BitSet, CsrGraph, CycleForest, DfsOrder, Graph, Joins, Node};
use warpline_testkit::disjoint::two_disjoint_paths;
use warpline_testkit::graph_oracles::{self, cycles, is_reducible};
use warpline_testkit::graphs;
use warpline_testkit::reference::{
    DisjointPaths, HeadRewired, NodeOrigin, NormalForm, NormalFormError, RelevantSplits,
};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::tagged::Unrolled;

/// Rounds of each loop: enough for two threads to leave it one after the other.
const ROUNDS: u32 = 3;

/// The seeds to run: from `WARPLINE_SEED`, as many as `WARPLINE_GRAPHS` says.
fn seeds(first: u64, count: u64) -> Range<u64> {
    let number =
        |name: &str, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let first = number("WARPLINE_SEED", first);
    first..first + number("WARPLINE_GRAPHS", count)
}

fn none_dead(normal: &NormalForm) -> BitSet {
    BitSet::new(normal.graph().edge_count())
}

fn numbers(nodes: &[Node]) -> Vec<usize> {
    nodes.iter().map(|n| n.index()).collect()
}

/// The requirements of Section 3.1, from the definitions of loops and exits.
fn is_normal(graph: &CsrGraph) -> Result<(), String> {
    let reached = graph_oracles::reachable(graph, graph.entry().index(), |_| false);
    let mut walk: Vec<Option<usize>> = vec![None; graph.node_count()];
    // A reducible graph has the same cycles whatever the walk; the header is the node that dominates the others.
    let dominance = graph_oracles::Dominance::of(graph);
    let mut by_depth: Vec<usize> = (0..graph.node_count()).filter(|&n| reached[n]).collect();
    by_depth.sort_by_key(|&n| by_depth_key(&dominance, graph.node_count(), n));
    by_depth.iter().enumerate().for_each(|(i, &n)| walk[n] = Some(i));
    let loops = cycles(graph, &walk);
    let innermost = |n: usize| loops.iter().filter(|c| c.nodes.contains(&n)).max_by_key(|c| c.depth);
    let mut pairs = BTreeSet::new();
    let list: Vec<(usize, usize)> =
        graphs::edge_list(graph).into_iter().filter(|&(s, _)| reached[s]).collect();
    for &(q, p) in &list {
        let left = loops.iter().filter(|c| c.nodes.contains(&q) && !c.nodes.contains(&p)).count();
        if left > 0 && loops.iter().any(|c| c.header == p) {
            return Err(format!("{q} to {p} leaves a loop and leads to a header"));
        }
        let preds: BTreeSet<_> =
            list.iter().filter(|e| e.1 == p).map(|e| innermost(e.0).map(|c| c.header)).collect();
        if left > 0 && preds.len() > 1 {
            return Err(format!("predecessors of the exit {p} are in different loops"));
        }
        if left > 1 {
            return Err(format!("{q} to {p} leaves {left} loops"));
        }
        if q == p || p == graph.entry().index() || !pairs.insert((q, p)) {
            return Err(format!("{q} to {p} is a loop in itself, enters the root or is parallel to another"));
        }
    }
    Ok(())
}

fn by_depth_key(dominance: &graph_oracles::Dominance, nodes: usize, n: usize) -> usize {
    (0..nodes).filter(|&d| dominance.dominates(d, n)).count()
}

/// Parts of an edge lead from its source to its target through nodes of their own.
fn maps_hold(graph: &CsrGraph, normal: &NormalForm) -> Result<(), String> {
    let dfs = DfsOrder::compute(graph);
    let mut owned = 0;
    for e in graph.edges() {
        let parts = normal.parts(e);
        if parts.is_empty() == dfs.is_reachable(graph.source(e)) {
            return Err(format!("{e} has {} parts", parts.len()));
        }
        owned += parts.len();
        let mut at = graph.source(e);
        for (i, &part) in parts.iter().enumerate() {
            let last = i + 1 == parts.len();
            let to = normal.graph().target(part);
            let expected = if last { NodeOrigin::Node(graph.target(e)) } else { NodeOrigin::OnEdge(e) };
            if normal.graph().source(part) != at
                || normal.node_origin(to) != expected
                || normal.edge_origin(part) != Some(e)
            {
                return Err(format!("part {i} of {e} is out of place"));
            }
            at = to;
        }
    }
    let new_root = usize::from(normal.graph().entry() != graph.entry());
    if owned + normal.fake_back_edges().count() + new_root != normal.graph().edge_count() {
        return Err("an edge belongs to nothing".to_string());
    }
    Ok(())
}

/// Loops of the original graph are loops of the normal form, with nothing but nodes on edges added.
fn loops_are_kept(graph: &CsrGraph, normal: &NormalForm) -> Result<(), String> {
    let sets = |cycles: &CycleForest, below: usize| -> BTreeSet<Vec<usize>> {
        let nodes = |c| {
            let mut nodes = numbers(cycles.nodes(c));
            nodes.retain(|&n| n < below);
            nodes.sort_unstable();
            nodes
        };
        cycles.cycles().map(nodes).collect()
    };
    let n = graph.node_count();
    let (before, after) = (sets(&CycleForest::compute(graph), n), sets(normal.cycles(), n));
    if before != after {
        return Err(format!("loops {before:?} became {after:?}"));
    }
    Ok(())
}

fn normal_form_holds(graph: &CsrGraph) -> Result<(), String> {
    let normal = match NormalForm::new(graph) {
        Ok(normal) => normal,
        Err(NormalFormError::Irreducible { header, entry }) => {
            return match is_reducible(graph) {
                true => Err(format!("called irreducible for {header} and {entry}")),
                false => Ok(()),
            };
        }
        Err(error) => return Err(error.to_string()),
    };
    if !is_reducible(graph) {
        return Err("not called irreducible".to_string());
    }
    is_normal(normal.graph())?;
    maps_hold(graph, &normal)?;
    loops_are_kept(graph, &normal)?;
    let again = NormalForm::new(normal.graph()).map_err(|e| e.to_string())?;
    if again.graph() != normal.graph() && again.graph().edge_count() != normal.graph().edge_count() {
        return Err("the normal form has another normal form".to_string());
    }
    Ok(())
}

/// Every edge goes forward in the order, and every node is in it.
fn is_acyclic(rewired: &HeadRewired) -> Result<(), String> {
    let graph = rewired.graph();
    let mut position = vec![None; graph.node_count()];
    rewired.topological_order().iter().enumerate().for_each(|(i, n)| position[n.index()] = Some(i));
    if position.contains(&None) {
        return Err("the head-rewired graph has a cycle".to_string());
    }
    match graph.edges().find(|&e| position[graph.source(e).index()] >= position[graph.target(e).index()]) {
        Some(e) => Err(format!("{e} goes backwards")),
        None => Ok(()),
    }
}

/// The two-node query of Theorem 5.6, for these sources, against maximum flow.
fn ends_agree_with_flow(rewired: &HeadRewired, sources: &[Node]) -> Result<(), String> {
    let graph = rewired.graph();
    let edges = graphs::edge_list(graph);
    let paths = DisjointPaths::from(graph, rewired.topological_order(), sources);
    for p in graph.nodes() {
        for q in graph.nodes().filter(|&q| q <= p) {
            let flow =
                two_disjoint_paths(graph.node_count(), &edges, &numbers(sources), (p.index(), q.index()));
            let found = if p == q { paths.joins().contains(p.index()) } else { paths.are_ends(p, q) };
            if found != flow {
                return Err(format!("ends {p}, {q} of paths from {sources:?}: {found}, by flow {flow}"));
            }
        }
    }
    Ok(())
}

/// Splits by Definition 4.18 are those of Definition 4.5 on the tagged graph without the dead edges: soundness (Theorem
/// 4.20) and completeness (Theorem 4.22).
fn splits_are_those_of_the_tagged_graph(
    normal: &NormalForm,
    dead: &BitSet,
    splits: &RelevantSplits,
) -> Result<(), String> {
    let graph = normal.graph();
    let mut tagged = Unrolled::new(graph, ROUNDS);
    tagged.edges.retain(|&(_, _, e)| !dead.contains(e.index()));
    for s in graph.nodes() {
        let truth: BTreeSet<usize> = tagged.joins(s).iter().map(|p| p.index()).collect();
        let found: BTreeSet<usize> = splits.joins_of(s).into_iter().flat_map(|j| j.iter()).collect();
        if !truth.is_subset(&found) {
            return Err(format!("unsound: {s} is relevant for {truth:?}, found {found:?}"));
        }
        if !found.is_subset(&truth) {
            return Err(format!("incomplete: {s} is relevant for {truth:?}, found {found:?}"));
        }
    }
    Ok(())
}

/// The product's joins and divergent exits, node by node of the normal form: a join of the product is a join of the
/// normal form or lies behind an exit there.
fn joins_of_the_product(graph: &CsrGraph, normal: &NormalForm) -> Vec<BTreeSet<usize>> {
    let dfs = DfsOrder::compute(graph);
    let cycles = CycleForest::compute_with(graph, &dfs);
    let mut joins = Joins::new(graph, &dfs, &cycles);
    let translate = |branch: Node| {
        let set = joins.of_branch(branch);
        // A divergent exit makes every node on its edge that stands for leaving that loop, or one further out, a join.
        let mut nodes: BTreeSet<usize> = BTreeSet::new();
        for &(cycle, edge) in &set.divergent_exits {
            for &part in normal.parts(edge) {
                let to = normal.graph().target(part);
                let inside = matches!(normal.node_origin(to), NodeOrigin::OnEdge(_))
                    && normal.cycles().around(to).any(|c| normal.cycles().header(c) == cycles.header(cycle));
                if !inside {
                    nodes.insert(to.index());
                    break;
                }
            }
        }
        // The others are joins where they are. A join that a divergent exit alone makes is reported with it.
        nodes.extend(set.joins.iter().map(|n| n.index()));
        nodes
    };
    graph.nodes().map(translate).collect()
}

/// Joins of the normal form, seen as the product reports them: the exit's target is a join where its edge's node is.
fn as_joins_of_the_original(normal: &NormalForm, splits: &RelevantSplits, s: Node) -> BTreeSet<usize> {
    let mut nodes = BTreeSet::new();
    for p in splits.joins_of(s).into_iter().flat_map(|j| j.iter()) {
        nodes.insert(p);
        if let NodeOrigin::OnEdge(e) = normal.node_origin(Node::new(p)) {
            let last = *normal.parts(e).last().expect("an edge with a node on it has parts");
            nodes.insert(normal.graph().target(last).index());
        }
    }
    nodes
}

/// Counts over many graphs.
#[derive(Default, Debug)]
struct Tally {
    graphs: usize,
    relevant: usize,
    with_fake: usize,
    added_by_fake: usize,
    with_dead: usize,
}

fn forms_hold(graph: &CsrGraph, tally: &mut Tally) -> Result<(), String> {
    if !is_reducible(graph) {
        return Ok(());
    }
    let normal = NormalForm::new(graph).map_err(|e| e.to_string())?;
    let literal = HeadRewired::new(&normal, &none_dead(&normal));
    let never_back = HeadRewired::new(&normal, normal.fake_back_edges());
    tally.graphs += 1;
    tally.with_fake += usize::from(!normal.fake_back_edges().is_empty());
    for (rewired, dead) in [(&literal, &none_dead(&normal)), (&never_back, normal.fake_back_edges())] {
        is_acyclic(rewired)?;
        let splits = RelevantSplits::new(rewired);
        splits_are_those_of_the_tagged_graph(&normal, dead, &splits)?;
        tally.relevant += normal.graph().nodes().map(|n| splits.of(n).count()).sum::<usize>();
    }
    let printed = RelevantSplits::new(&literal);
    let exact = RelevantSplits::new(&never_back);
    let product = joins_of_the_product(graph, &normal);
    for s in graph.nodes() {
        let translated = as_joins_of_the_original(&normal, &exact, s);
        if product[s.index()] != translated {
            return Err(format!(
                "joins of {s}: {:?}, by the paper's form {translated:?}",
                product[s.index()]
            ));
        }
        let printed = as_joins_of_the_original(&normal, &printed, s);
        if !translated.is_subset(&printed) {
            return Err(format!("joins of {s}: {translated:?}, with fake back edges {printed:?}"));
        }
        tally.added_by_fake += printed.difference(&translated).count();
    }
    Ok(())
}

/// As `forms_hold`, with edges that are known to be dead, and with any set of sources.
fn forms_hold_with_dead_edges(
    graph: &CsrGraph,
    rng: &mut SplitMix64,
    tally: &mut Tally,
) -> Result<(), String> {
    let normal = NormalForm::new(graph).map_err(|e| e.to_string())?;
    let mut dead = none_dead(&normal);
    for e in normal.graph().edges() {
        if rng.chance(1, 6) || normal.fake_back_edges().contains(e.index()) {
            dead.insert(e.index());
        }
    }
    tally.with_dead += dead.count() - normal.fake_back_edges().count();
    let rewired = HeadRewired::new(&normal, &dead);
    is_acyclic(&rewired)?;
    // Instances that no thread reaches have no say, so only splits that are alive are compared.
    let splits = RelevantSplits::new(&rewired);
    let mut tagged = Unrolled::new(normal.graph(), ROUNDS);
    tagged.edges.retain(|&(_, _, e)| !dead.contains(e.index()));
    for s in normal.graph().nodes().filter(|&s| rewired.is_alive(s)) {
        let truth: BTreeSet<usize> = tagged.joins(s).iter().map(|p| p.index()).collect();
        let found: BTreeSet<usize> = splits.joins_of(s).into_iter().flat_map(|j| j.iter()).collect();
        if truth != found {
            return Err(format!("{s} is relevant for {truth:?}, found {found:?}, dead {dead:?}"));
        }
    }
    let sources: Vec<Node> = normal.graph().nodes().filter(|_| rng.chance(1, 3)).collect();
    ends_agree_with_flow(&rewired, &sources)
}

#[test]
fn normal_forms_meet_the_requirements_and_keep_loops_and_maps() {
    for nodes in 1..=3 {
        for graph in graphs::all_simple(nodes) {
            if let Err(message) = normal_form_holds(&graph) {
                panic!("{message}\n{nodes} nodes, edges {:?}", graphs::edge_list(&graph));
            }
        }
    }
    let (mut fake, mut new_root, mut unchanged) = (0, 0, 0);
    let count = 600;
    let observe = |graph: &CsrGraph| {
        let normal = NormalForm::new(graph).expect("the graph is reducible");
        fake += usize::from(!normal.fake_back_edges().is_empty());
        new_root += usize::from(normal.graph().entry() != graph.entry());
        unchanged += usize::from(normal.graph().edge_count() == graph.edge_count());
    };
    graphs::for_each_seed(1, count, |rng| graphs::reducible(rng, 10), observe, normal_form_holds);
    graphs::for_each_seed(5000, 300, |rng| graphs::arbitrary(rng, 8), |_| (), normal_form_holds);
    println!(
        "{count} graphs: {fake} with fake back edges, {new_root} with a new root, {unchanged} unchanged"
    );
    assert!(fake * 20 > count as usize && new_root * 10 > count as usize && unchanged * 20 > count as usize);
}

/// Whether no other numbering of the nodes 1, 2 and 3 of a graph with four nodes gives a smaller matrix, and all
/// nodes can be reached.
fn is_first_of_its_kind(bits: u32) -> bool {
    let orders = [[0, 1, 3, 2], [0, 2, 1, 3], [0, 2, 3, 1], [0, 3, 1, 2], [0, 3, 2, 1]];
    let renamed = |to: [u32; 4]| -> u32 {
        let pairs = (0..16).filter(|i| bits >> i & 1 != 0);
        pairs.map(|i: u32| 1 << (4 * to[(i / 4) as usize] + to[(i % 4) as usize])).sum()
    };
    orders.into_iter().all(|to| renamed(to) >= bits)
        && graph_oracles::reachable(&graphs::simple(4, bits), 0, |_| false).into_iter().all(|r| r)
}

#[test]
fn relevant_splits_of_small_graphs_are_sound_and_complete_and_those_of_the_product() {
    let mut tally = Tally::default();
    for nodes in 1..=3 {
        for graph in graphs::all_simple(nodes) {
            if let Err(message) = forms_hold(&graph, &mut tally) {
                panic!("{message}\n{nodes} nodes, edges {:?}", graphs::edge_list(&graph));
            }
        }
    }
    let step = if seeds(0, 0).count() >= 5_000 { 1 } else { 80 };
    for bits in (0..1 << 16).filter(|&bits| is_first_of_its_kind(bits)).step_by(step) {
        let graph = graphs::simple(4, bits);
        if let Err(message) = forms_hold(&graph, &mut tally) {
            panic!("{message}\n4 nodes, edges {:?}", graphs::edge_list(&graph));
        }
    }
    println!("{tally:?}");
    assert!(tally.graphs > 520 && tally.relevant > 1_800);
}

#[test]
fn relevant_splits_of_random_graphs_are_sound_and_complete_and_those_of_the_product() {
    let mut tally = Tally::default();
    for seed in seeds(0, 250) {
        let graph = graphs::reducible(&mut SplitMix64::new(seed), 8);
        if let Err(message) = forms_hold(&graph, &mut tally) {
            let quiet = |g: &CsrGraph| forms_hold(g, &mut Tally::default());
            let (small, message) = graphs::shrink(&graph, message, quiet);
            panic!("seed {seed}: {message}\n{} nodes, {:?}", small.node_count(), graphs::edge_list(&small));
        }
    }
    println!("{tally:?}");
    assert!(tally.with_fake * 20 > tally.graphs && tally.relevant > 2 * tally.graphs);
}

#[test]
fn relevant_splits_of_larger_graphs_are_the_joins_of_the_product() {
    let (mut relevant, mut deepest) = (0, 0);
    let check = |graph: &CsrGraph| -> Result<(), String> {
        let Ok(normal) = NormalForm::new(graph) else { return Ok(()) };
        let splits = RelevantSplits::new(&HeadRewired::new(&normal, normal.fake_back_edges()));
        let product = joins_of_the_product(graph, &normal);
        match graph.nodes().find(|&s| product[s.index()] != as_joins_of_the_original(&normal, &splits, s)) {
            Some(s) => Err(format!("joins of {s}: {:?}, by the paper's form {splits:?}", product[s.index()])),
            None => Ok(()),
        }
    };
    let observe = |graph: &CsrGraph| {
        let normal = NormalForm::new(graph).expect("the graph is reducible");
        let splits = RelevantSplits::new(&HeadRewired::new(&normal, normal.fake_back_edges()));
        relevant += normal.graph().nodes().map(|n| splits.of(n).count()).sum::<usize>();
        deepest = deepest.max(normal.cycles().cycles().map(|c| normal.cycles().depth(c)).max().unwrap_or(0));
    };
    let seeds = seeds(20_000, 300);
    graphs::for_each_seed(
        seeds.start,
        seeds.count() as u64,
        |rng| graphs::reducible(rng, 40),
        observe,
        check,
    );
    println!("{relevant} relevant splits, loops nested up to {deepest} deep");
    assert!(relevant > 10_000 && deepest >= 5);
}

#[test]
fn dead_edges_are_not_paths_and_any_two_nodes_can_be_asked_for() {
    let mut tally = Tally::default();
    for seed in seeds(10_000, 200) {
        let mut rng = SplitMix64::new(seed);
        let graph = graphs::reducible(&mut rng, 8);
        if let Err(message) = forms_hold_with_dead_edges(&graph, &mut rng, &mut tally) {
            panic!("seed {seed}: {message}\n{} nodes, {:?}", graph.node_count(), graphs::edge_list(&graph));
        }
    }
    assert!(tally.with_dead > 200);
}

#[test]
fn a_fake_back_edge_makes_a_split_relevant_that_is_not() {
    // The outer loop 0 contains the inner loop 1, which goes round, on to 0, or out of both to 2. Only one edge leads
    // from the inner loop to 0.
    let graph = graphs::build(3, vec![(0, 1), (1, 0), (1, 2), (1, 1)]);
    let normal = NormalForm::new(&graph).expect("the graph is reducible");
    assert_eq!(normal.fake_back_edges().count(), 1);
    let as_printed = RelevantSplits::new(&HeadRewired::new(&normal, &none_dead(&normal)));
    let exact = RelevantSplits::new(&HeadRewired::new(&normal, normal.fake_back_edges()));
    assert!(as_printed.of(Node(0)).contains(1) && !exact.of(Node(0)).contains(1));
}

/// Algorithm 1 of the paper, line by line.
fn algorithm_1_as_printed(graph: &CsrGraph, order: &[Node], sources: &[Node]) -> Vec<Option<Node>> {
    let mut labels: Vec<Option<Node>> = vec![None; graph.node_count()];
    sources.iter().for_each(|s| labels[s.index()] = Some(*s));
    for &p in order {
        let found: BTreeSet<Node> = graph.predecessors(p).filter_map(|q| labels[q.index()]).collect();
        if let Some(&first) = found.first() {
            labels[p.index()] = Some(if found.len() == 1 { first } else { p });
        }
    }
    labels
}

#[test]
fn algorithm_1_as_printed_misses_a_join_at_a_source() {
    // if (c) {1}; 2
    let graph = graphs::build(3, vec![(0, 1), (0, 2), (1, 2)]);
    let (order, sources) = ([Node(0), Node(1), Node(2)], [Node(1), Node(2)]);
    let printed = algorithm_1_as_printed(&graph, &order, &sources);
    assert_eq!(printed[1], printed[2], "as printed, 1 and 2 are no ends of disjoint paths");
    let paths = DisjointPaths::from(&graph, &order, &sources);
    assert!(paths.are_ends(Node(1), Node(2)) && paths.joins().contains(2));
}
