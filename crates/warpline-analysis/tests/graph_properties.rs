//! Dominators, cycles and frontiers against their definitions.

use warpline_analysis::{
    CsrGraph, CycleForest, DfsOrder, DomTree, Graph, IteratedFrontier, Node, Reversed, Sccs,
};
use warpline_analysis::{dominance_frontier, order};
use warpline_testkit::graph_oracles::{self as oracle, CycleByDefinition, Dominance};
use warpline_testkit::graphs;
use warpline_testkit::rng::SplitMix64;

macro_rules! ensure {
    ($condition:expr, $($message:tt)*) => {
        if !$condition {
            return Err(format!($($message)*));
        }
    };
}

fn dominators_agree<G: Graph>(graph: &G) -> Result<(), String> {
    let dom = DomTree::compute(graph);
    let truth = Dominance::of(graph);
    for a in graph.nodes() {
        let idom = dom.idom(a).map(Node::index);
        ensure!(idom == truth.idom(a.index()), "idom of {a} is {idom:?}, not {:?}", truth.idom(a.index()));
        ensure!(dom.is_reachable(a) == truth.is_reachable(a.index()), "reachability of {a}");
        for b in graph.nodes() {
            let is = dom.dominates(a, b);
            ensure!(is == truth.dominates(a.index(), b.index()), "{a} dominates {b}: {is}");
            if dom.is_reachable(a) && dom.is_reachable(b) {
                let common = dom.nearest_common_dominator(a, b);
                let lowest = dom.dominates(common, a)
                    && dom.dominates(common, b)
                    && dom.children(common).iter().all(|&c| !(dom.dominates(c, a) && dom.dominates(c, b)));
                ensure!(lowest, "nearest common dominator of {a} and {b}: {common}");
            }
        }
        let below: Vec<Node> =
            graph.nodes().filter(|&b| dom.is_reachable(b) && dom.dominates(a, b)).collect();
        let mut subtree = dom.subtree(a).to_vec();
        subtree.sort_unstable();
        ensure!(!dom.is_reachable(a) || subtree == below, "subtree of {a}");
    }
    Ok(())
}

fn cycles_agree(graph: &CsrGraph) -> Result<(), String> {
    let dfs = DfsOrder::compute(graph);
    let forest = CycleForest::compute_with(graph, &dfs);
    let numbers: Vec<_> = graph.nodes().map(|n| dfs.pre_number(n)).collect();
    let truth = oracle::cycles(graph, &numbers);
    let sorted = |nodes: &[Node]| {
        let mut list: Vec<usize> = nodes.iter().map(|n| n.index()).collect();
        list.sort_unstable();
        list
    };
    let mut found: Vec<CycleByDefinition> = forest
        .cycles()
        .map(|c| CycleByDefinition {
            header: forest.header(c).index(),
            nodes: sorted(forest.nodes(c)),
            entries: sorted(&forest.entries(graph, c)),
            depth: forest.depth(c),
        })
        .collect();
    found.sort();
    ensure!(found == truth, "cycles {found:?}, by definition {truth:?}");
    ensure!(
        forest.cycles().all(|c| forest.is_reducible(c)) == oracle::is_reducible(graph),
        "reducibility of the whole graph"
    );
    for c in forest.cycles() {
        let one = forest.entries(graph, c).len() == 1;
        ensure!(forest.is_reducible(c) == one, "{c} is reducible: {}", !one);
        ensure!(forest.nodes(c)[0] == forest.header(c), "{c} does not start with its header");
        ensure!(
            forest.entries(graph, c)[0] == forest.header(c),
            "entries of {c} do not start with its header"
        );
        for n in graph.nodes() {
            let is = forest.contains(c, n);
            ensure!(is == forest.nodes(c).contains(&n), "{c} contains {n}: {is}");
            ensure!(is == forest.around(n).any(|a| a == c), "{c} around {n}: {is}");
        }
        let nested = forest.children(c).iter().all(|&k| forest.parent(k) == Some(c) && c < k);
        ensure!(nested, "children of {c}");
        for e in graph.edges() {
            let leaves = forest.contains(c, graph.source(e)) && !forest.contains(c, graph.target(e));
            ensure!(leaves == forest.exit_edges(graph, c).any(|x| x == e), "{e} leaves {c}: {leaves}");
        }
    }
    let all = forest.all_exit_edges(graph);
    for c in forest.cycles() {
        ensure!(forest.exit_edges(graph, c).eq(all[c.index()].iter().copied()), "the exits of {c} among all");
    }
    Ok(())
}

fn frontiers_agree(graph: &CsrGraph) -> Result<(), String> {
    let dom = DomTree::compute(graph);
    let truth = Dominance::of(graph);
    let mut iterated = IteratedFrontier::new(graph, &dom);
    let numbers = |nodes: Vec<Node>| nodes.into_iter().map(Node::index).collect::<Vec<_>>();
    for n in graph.nodes() {
        let found = numbers(dominance_frontier(graph, &dom, n));
        ensure!(found == truth.frontier(graph, n.index()), "frontier of {n}: {found:?}");
    }
    let mut rng = SplitMix64::new(graph.edge_count() as u64);
    for _ in 0..4 {
        let set: Vec<usize> = (0..graph.node_count()).filter(|_| rng.chance(1, 3)).collect();
        let found = numbers(iterated.compute(set.iter().map(|&n| Node::new(n))));
        let by_definition = truth.iterated_frontier(graph, &set);
        ensure!(found == by_definition, "iterated frontier of {set:?}: {found:?}, not {by_definition:?}");
    }
    Ok(())
}

fn orders_agree(graph: &CsrGraph) -> Result<(), String> {
    let dfs = DfsOrder::compute(graph);
    let sccs = Sccs::compute(graph);
    let from: Vec<Vec<bool>> =
        (0..graph.node_count()).map(|n| oracle::reachable(graph, n, |_| false)).collect();
    for n in graph.nodes() {
        ensure!(dfs.is_reachable(n) == from[graph.entry().index()][n.index()], "reachability of {n}");
        let forward = order::reachable_from(graph, [n]);
        let backward = order::reaching(graph, [n]);
        for m in graph.nodes() {
            let (there, back) = (from[n.index()][m.index()], from[m.index()][n.index()]);
            ensure!(forward.contains(m.index()) == there, "{n} reaches {m}");
            ensure!(backward.contains(m.index()) == back, "{m} reaches {n}");
            ensure!((sccs.of(n) == sccs.of(m)) == (there && back), "component of {n} and {m}");
            ensure!(!there || sccs.of(n) >= sccs.of(m), "order of the components of {n} and {m}");
        }
    }
    let retreating = |e| dfs.is_ancestor(graph.target(e), graph.source(e));
    for e in graph.edges().filter(|&e| dfs.is_reachable(graph.source(e))) {
        let (s, t) = (dfs.post_number(graph.source(e)), dfs.post_number(graph.target(e)));
        ensure!(retreating(e) == (s <= t), "{e} against post-order");
    }
    Ok(())
}

fn all_agree(graph: &CsrGraph) -> Result<(), String> {
    orders_agree(graph)?;
    dominators_agree(graph)?;
    let reversed = Reversed::new(graph);
    let dfs = DfsOrder::compute(&reversed);
    ensure!(dfs.reachable_count() == reversed.node_count(), "the virtual exit does not cover every node");
    dominators_agree(&reversed)?;
    cycles_agree(graph)?;
    frontiers_agree(graph)
}

/// What came out of a generator.
#[derive(Default, Debug)]
struct Rates {
    graphs: usize,
    irreducible: usize,
    with_cycle: usize,
    nested: usize,
    unreachable: usize,
    parallel: usize,
    self_loop: usize,
}

impl Rates {
    fn count(&mut self, graph: &CsrGraph) {
        let forest = CycleForest::compute(graph);
        let mut edges = graphs::edge_list(graph);
        edges.sort_unstable();
        self.graphs += 1;
        self.irreducible += usize::from(!oracle::is_reducible(graph));
        self.with_cycle += usize::from(!forest.is_empty());
        self.nested += usize::from(forest.cycles().any(|c| forest.depth(c) > 1));
        self.unreachable += usize::from(DfsOrder::compute(graph).reachable_count() < graph.node_count());
        self.parallel += usize::from(edges.windows(2).any(|w| w[0] == w[1]));
        self.self_loop += usize::from(edges.iter().any(|(s, t)| s == t));
    }

    /// Asserts that each of `counts` is at least the given share of the graphs.
    fn floor(&self, percent: usize, counts: &[usize]) {
        for &count in counts {
            assert!(count * 100 >= percent * self.graphs, "a share fell below {percent} %: {self:?}");
        }
    }
}

#[test]
fn every_graph_of_up_to_four_nodes_agrees_with_the_definitions() {
    for nodes in 1..=4 {
        for graph in graphs::all_simple(nodes) {
            if let Err(message) = all_agree(&graph) {
                panic!("{message}\n{nodes} nodes, edges {:?}", graphs::edge_list(&graph));
            }
        }
    }
}

#[test]
fn arbitrary_graphs_of_up_to_twelve_nodes_agree_with_the_definitions() {
    let mut rates = Rates::default();
    let generate = |rng: &mut SplitMix64| graphs::arbitrary(rng, 12);
    graphs::for_each_seed(10_000, 4000, generate, |g| rates.count(g), all_agree);
    println!("{rates:?}");
    rates.floor(30, &[rates.irreducible, rates.with_cycle, rates.nested, rates.parallel, rates.self_loop]);
    rates.floor(10, &[rates.unreachable]);
}

#[test]
fn reducible_graphs_of_up_to_twelve_nodes_agree_with_the_definitions() {
    let mut rates = Rates::default();
    let generate = |rng: &mut SplitMix64| graphs::reducible(rng, 12);
    graphs::for_each_seed(20_000, 4000, generate, |g| rates.count(g), all_agree);
    println!("{rates:?}");
    assert_eq!(rates.irreducible, 0);
    rates.floor(15, &[rates.with_cycle, rates.nested, rates.parallel, rates.self_loop]);
}

#[test]
fn an_infinite_loop_is_post_dominated_by_its_header() {
    // 0 → 1 ⇄ 2, and 0 → 3 which returns.
    let graph = graphs::build(4, vec![(0, 1), (1, 2), (2, 1), (0, 3)]);
    let reversed = Reversed::new(&graph);
    let post = DomTree::compute(&reversed);
    assert_eq!(post.idom(Node(2)), Some(Node(1)));
    assert_eq!(post.idom(Node(1)), Some(reversed.virtual_exit()));
    assert_eq!(post.idom(Node(0)), Some(reversed.virtual_exit()));
}

#[test]
fn ends_of_edges_and_entries_outside_the_graph_are_errors() {
    assert!(CsrGraph::new(1, Node(1), []).is_err());
    assert!(CsrGraph::new(0, Node(0), []).is_err());
    let error = CsrGraph::new(2, Node(0), [(Node(0), Node(7))]).unwrap_err();
    assert_eq!(error.to_string(), "edge 0 ends at n7, which is not one of the graph's 2 nodes");
}
