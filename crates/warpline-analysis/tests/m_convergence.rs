//! Which nodes of irreducible cycles are not m-converged: what threads show, the criteria of paper 2, and this
//! analysis.
//!
//! Branches on the lane are given; a branch at a node that is reported counts as divergent too, each way by itself,
//! since a node that is not m-converged has no uniform output. `WARPLINE_GRAPHS` is the number of seeds,
//! `WARPLINE_SEED` the first.

use std::fmt;

use warpline_analysis::uniformity::{Rule, SsaProgram, Uniformity};
use warpline_analysis::{CsrGraph, Graph};
use warpline_testkit::convergence::criteria::Criteria;
use warpline_testkit::convergence::m_converged;
use warpline_testkit::graph_oracles::is_reducible;
use warpline_testkit::hierarchies::{self, Hierarchy};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::{control_flow, graphs};

/// How often threads run in each hierarchy.
const RUNS: usize = 12;

/// How many nodes one way reports, and how this analysis compares.
#[derive(Default)]
struct Against {
    reported: usize,
    /// Nodes that this analysis reports and this way does not.
    more: usize,
    /// Nodes that this way reports and this analysis does not.
    fewer: usize,
}

impl Against {
    fn count(&mut self, ours: &[bool], theirs: &[bool]) {
        for (&ours, &theirs) in ours.iter().zip(theirs) {
            self.reported += usize::from(theirs);
            self.more += usize::from(ours && !theirs);
            self.fewer += usize::from(theirs && !ours);
        }
    }
}

impl fmt::Display for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Against { reported, more, fewer } = self;
        write!(f, "{reported} reported; the analysis reports {more} besides, and not {fewer}")
    }
}

#[derive(Default)]
struct Tally {
    graphs: usize,
    /// Nodes in cycles.
    nodes: usize,
    product: usize,
    exact: Against,
    dominance: Against,
    seen: Against,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} graphs, {} nodes in cycles, {} given up", self.graphs, self.nodes, self.product)?;
        writeln!(f, "  closed paths, exactly: {}", self.exact)?;
        writeln!(f, "  dominance: {}", self.dominance)?;
        writeln!(f, "  seen converged otherwise: {}", self.seen)
    }
}

/// The nodes that the analysis does not find m-converged when the given branches depend on the lane.
fn given_up(graph: &CsrGraph, divergent: &[bool]) -> Vec<bool> {
    let mut builder = SsaProgram::builder();
    let lane = builder.argument(Rule::Source);
    graph.nodes().filter(|n| divergent[n.index()]).for_each(|n| builder.terminator(n, [lane]));
    let program = builder.build(graph).expect("a program with one argument");
    let uniformity = Uniformity::compute(graph, &program);
    graph.nodes().map(|n| !uniformity.is_m_converged(n)).collect()
}

/// What is reported when branches at reported nodes are divergent too.
fn closed(graph: &CsrGraph, divergent: &[bool], mut report: impl FnMut(&[bool]) -> Vec<bool>) -> Vec<bool> {
    let mut divergent = divergent.to_vec();
    loop {
        let reported = report(&divergent);
        let mut changed = false;
        for n in graph.nodes().filter(|&n| graph.out_edges(n).len() > 1 && reported[n.index()]) {
            changed |= !std::mem::replace(&mut divergent[n.index()], true);
        }
        if !changed {
            return reported;
        }
    }
}

/// What a criterion reports, together with cycles reached apart, in every hierarchy: what holds in one hierarchy holds.
fn in_every(
    graph: &CsrGraph,
    divergent: &[bool],
    hierarchies: &[Hierarchy],
    criterion: impl Fn(&Criteria, &Hierarchy) -> Vec<bool>,
) -> Vec<bool> {
    let mut all = vec![true; graph.node_count()];
    for hierarchy in hierarchies {
        let reported = closed(graph, divergent, |divergent| {
            let criteria = Criteria::of(graph, divergent);
            let apart = criteria.reached_apart(hierarchy);
            criterion(&criteria, hierarchy).iter().zip(apart).map(|(a, b)| *a || b).collect()
        });
        all.iter_mut().zip(reported).for_each(|(a, r)| *a &= r);
    }
    all
}

fn compare(rng: &mut SplitMix64, graph: &CsrGraph, tally: &mut Tally) -> Result<(), String> {
    let is_branch = |n| graph.out_edges(n).len() > 1;
    let divergent: Vec<bool> = graph.nodes().map(|n| is_branch(n) && rng.chance(1, 3)).collect();
    let hierarchies = hierarchies::all_or_sample(rng, graph, 100);
    let contains =
        |all: &[bool], some: &[bool], what: &str| match (0..all.len()).find(|&n| some[n] && !all[n]) {
            None => Ok(()),
            Some(n) => Err(format!("n{n} is m-converged by {what} and is not, with divergent {divergent:?}")),
        };
    // Other branches are uniform wherever threads are together: in whichever hierarchy that is.
    let seen = m_converged::seen_apart(rng, graph, &hierarchies, &divergent, RUNS);
    contains(&given_up(graph, &divergent), &seen, "this analysis")?;

    let exact = in_every(graph, &divergent, &hierarchies, |c, h| c.cycles(h));
    let dominance = in_every(graph, &divergent, &hierarchies, |c, h| c.dominance(h));
    let product = closed(graph, &divergent, |d| given_up(graph, d));
    let seen = closed(graph, &divergent, |d| m_converged::seen_apart(rng, graph, &hierarchies, d, RUNS));
    contains(&product, &seen, "this analysis")?;
    contains(&exact, &seen, "the closed paths")?;
    contains(&dominance, &seen, "dominance")?;
    tally.graphs += 1;
    tally.nodes += (0..graph.node_count()).filter(|&n| !hierarchies[0].around(n).is_empty()).count();
    tally.product += product.iter().filter(|&&r| r).count();
    tally.exact.count(&product, &exact);
    tally.dominance.count(&product, &dominance);
    tally.seen.count(&product, &seen);
    Ok(())
}

fn explore(name: &str, count: u64, draw: impl Fn(&mut SplitMix64) -> CsrGraph) -> Tally {
    let number = |name, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (first, count) = (number("WARPLINE_SEED", 1), number("WARPLINE_GRAPHS", count));
    let mut tally = Tally::default();
    for seed in first..first + count {
        let mut rng = SplitMix64::new(seed);
        let graph = draw(&mut rng);
        if !is_reducible(&graph)
            && let Err(message) = compare(&mut rng, &graph, &mut tally)
        {
            panic!("{name}, seed {seed}: {message}, edges {:?}", graphs::edge_list(&graph));
        }
    }
    println!("{name}, seeds {first} to {}: {tally}", first + count - 1);
    tally
}

#[test]
fn fewer_nodes_of_small_graphs_are_given_up_than_by_the_criteria_of_paper_2() {
    let tally = explore("small", 1200, |rng| graphs::arbitrary(rng, 6));
    assert!(tally.seen.reported * 4 > tally.nodes, "threads are seen to converge otherwise");
    assert_eq!(tally.dominance.more, 0, "nothing is given up that dominance keeps");
    assert!(tally.product * 20 <= tally.seen.reported * 21, "at least 95 % of what is given up must be");
    assert_eq!(tally.exact.more, 0, "nothing is given up that no closed path asks for");
}

#[test]
fn fewer_nodes_of_programs_with_jumps_are_given_up_than_by_the_criteria_of_paper_2() {
    let tally = explore("jumps", 500, |rng| control_flow::with_jumps(rng, 9));
    assert!(tally.seen.reported * 4 > tally.nodes, "threads are seen to converge otherwise");
    assert_eq!(tally.exact.more, 0, "nothing is given up that no closed path asks for");
    assert_eq!(tally.dominance.more, 0, "nothing is given up that dominance keeps");
    assert!(tally.product * 10 < tally.dominance.reported * 9, "and less in all");
}

#[test]
fn threads_that_leave_an_irreducible_cycle_take_nothing_from_those_that_stay() {
    // 1 and 2 are entries of the cycle 1 → 2 → 3 → 1; threads part at 3, where some leave.
    let graph = graphs::build(5, vec![(0, 1), (0, 2), (1, 2), (2, 3), (3, 1), (3, 4)]);
    let divergent = [false, false, false, true, false];
    let all = hierarchies::all(&graph, 100).expect("a small graph");
    let seen = m_converged::seen_apart(&mut SplitMix64::new(1), &graph, &all, &divergent, 50);
    assert_eq!((seen, given_up(&graph, &divergent)), (vec![false; 5], vec![false; 5]));
}

#[test]
fn threads_that_meet_behind_a_dominator_of_the_branch_pass_no_header() {
    // 1 and 5 are entries of the cycle 1 → 2, 3; 2 → 3, 4; 3 → 4 → 5 → 1. Threads part at 2 and meet at 4, which 1
    // dominates and 2 does not.
    let edges = vec![(0, 1), (0, 5), (1, 3), (1, 2), (2, 4), (2, 3), (3, 4), (4, 6), (4, 5), (5, 1)];
    let graph = graphs::build(7, edges);
    let divergent: Vec<bool> = (0..7).map(|n| n == 2).collect();
    let all = hierarchies::all(&graph, 100).expect("a small graph");
    let seen = m_converged::seen_apart(&mut SplitMix64::new(1), &graph, &all, &divergent, 50);
    assert_eq!((seen, given_up(&graph, &divergent)), (vec![false; 7], vec![false; 7]));
}

/// What this analysis gives up if threads part at `branch`; it is what they are seen to do.
fn given_up_as_seen(edges: Vec<(usize, usize)>, branch: usize) -> Vec<usize> {
    let count = 1 + edges.iter().map(|&(_, t)| t).max().unwrap_or(0);
    let graph = graphs::build(count, edges);
    let divergent: Vec<bool> = (0..count).map(|n| n == branch).collect();
    let all = hierarchies::all(&graph, 200).expect("a small graph");
    let found = given_up(&graph, &divergent);
    assert_eq!(m_converged::seen_apart(&mut SplitMix64::new(1), &graph, &all, &divergent, 100), found);
    (0..count).filter(|&n| found[n]).collect()
}

#[test]
fn a_cycle_inside_an_irreducible_one_is_given_up_by_itself() {
    // 1 and 2 are entries of the outer cycle; 3 dominates the inner one of 4 to 7, with entries 4 and 6. Threads part at
    // 5. Whenever they leave the inner cycle, they do at 7, and are together again at 8.
    let outer = [(0, 1), (0, 2), (1, 2), (2, 3), (2, 8), (8, 1), (8, 9)];
    let inner = [(3, 4), (3, 6), (4, 5), (5, 6), (5, 7), (6, 7), (7, 4), (7, 8)];
    assert_eq!(given_up_as_seen(outer.into_iter().chain(inner).collect(), 5), [4, 5, 6, 7]);
}

#[test]
fn of_llvms_own_tests_nothing_is_given_up_that_llvm_keeps() {
    let nothing: [usize; 0] = [];
    // `t_header`, which LLVM gives up, and `p_header`, which it keeps, are one graph.
    let headers = vec![(0, 1), (0, 5), (1, 3), (1, 2), (2, 4), (2, 3), (3, 4), (4, 6), (4, 5), (5, 1)];
    assert_eq!(given_up_as_seen(headers, 2), nothing);
    // So are `headers_a_p`, `headers_b_p`, and `headers_b_t` and `headers_a_t`, which LLVM gives up.
    let outer = [(0, 1), (0, 2), (1, 2), (2, 3), (2, 8), (8, 10), (8, 1), (7, 8)];
    let inner = [(3, 4), (3, 9), (4, 6), (4, 5), (5, 7), (5, 6), (6, 7), (7, 9), (9, 4)];
    assert_eq!(given_up_as_seen(outer.into_iter().chain(inner).collect(), 5), nothing);
    // `basic` (of divergent exits), `outer_reducible`, `nested_irreducible` and `uniform_cycle_1`.
    assert_eq!(given_up_as_seen(vec![(0, 1), (0, 3), (1, 2), (2, 3), (2, 4), (3, 1)], 2), nothing);
    let outer_reducible = vec![(0, 1), (1, 5), (1, 2), (2, 3), (3, 4), (3, 6), (4, 5), (4, 1), (5, 2)];
    assert_eq!(given_up_as_seen(outer_reducible, 3), nothing);
    let nested = [(0, 1), (1, 5), (1, 2), (2, 3), (3, 4), (3, 7), (4, 6), (4, 5), (5, 2), (6, 1), (7, 6)];
    assert_eq!(given_up_as_seen(nested.into_iter().chain([(7, 8)]).collect(), 3), nothing);
    let uniform = vec![(0, 1), (0, 5), (1, 2), (2, 4), (2, 3), (3, 4), (4, 6), (4, 5), (5, 1)];
    assert_eq!(given_up_as_seen(uniform, 2), nothing);
    // `divergent_cycle_1`, which LLVM gives up, too.
    let divergent = vec![(0, 1), (0, 3), (1, 2), (2, 4), (2, 3), (3, 4), (4, 5), (4, 1)];
    assert_eq!(given_up_as_seen(divergent, 2), [1, 2, 3, 4]);
}

#[test]
fn nodes_beside_a_closed_path_that_fails_are_not_m_converged_either() {
    // The cycle 1 → 2 → 3 → 4 → 1 is entered at 1 and 3; from 3, where threads part, they can go round by 5 as well.
    let graph =
        graphs::build(7, vec![(0, 1), (0, 3), (1, 2), (2, 3), (3, 4), (4, 1), (3, 5), (5, 3), (4, 6)]);
    let divergent = [3].map(|b| (0..7).map(|n| n == b).collect::<Vec<bool>>());
    let criteria = Criteria::of(&graph, &divergent[0]);
    assert!(!criteria.closed_paths()[5] && criteria.closed_paths()[1]);
    let all = hierarchies::all(&graph, 100).expect("a small graph");
    assert!(all.iter().all(|h| criteria.cycles(h)[5]));
    let seen = m_converged::seen_apart(&mut SplitMix64::new(1), &graph, &all, &divergent[0], 50);
    assert!(seen[5] && given_up(&graph, &divergent[0])[5]);
}

#[test]
fn the_diverged_entry_of_paper_2_is_found_and_without_it_the_cycle_is_kept() {
    // E → P, R; P → Q; Q → R, S; R → S; S → P, X: the branch at Q, join S, and R an entry.
    let with = vec![(0, 1), (0, 3), (1, 2), (2, 3), (2, 4), (3, 4), (4, 1), (4, 5)];
    let divergent: Vec<bool> = (0..6).map(|n| n == 2).collect();
    let graph = graphs::build(6, with.clone());
    let criteria = Criteria::of(&graph, &divergent);
    let all = hierarchies::all(&graph, 100).expect("a small graph");
    for h in &all {
        assert_eq!(criteria.cycles(h), [false, true, true, true, true, false]);
        assert_eq!(criteria.dominance(h), [false, true, true, true, true, false]);
    }
    assert_eq!(given_up(&graph, &divergent), [false, true, true, true, true, false]);
    // Entered at S instead of R.
    let graph = graphs::build(6, with.into_iter().map(|e| if e == (0, 3) { (0, 4) } else { e }).collect());
    let criteria = Criteria::of(&graph, &divergent);
    let all = hierarchies::all(&graph, 100).expect("a small graph");
    assert!(all.len() > 1 && all.iter().all(|h| criteria.cycles(h) == [false; 6]));
    assert_eq!(given_up(&graph, &divergent), [false; 6]);
}
