//! Paper 1, Section 8: what earlier criteria get wrong on the graphs of Figure 5.

use std::collections::BTreeSet;

use warpline_analysis::{Graph, Node};
use warpline_testkit::graphs;
use warpline_testkit::reference::criteria::{Criterion, Figure, Place, Verdict, figures, findings};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::tagged::Unrolled;

/// The branches with two paths to a place that have no instance of a node in common: by maximum flow.
fn by_maximum_flow<G: Graph>(graph: &G, place: Place) -> BTreeSet<Node> {
    let unrolled = Unrolled::new(graph, 3);
    let at = match place {
        Place::Join(node) => node,
        Place::Exit(edge) => graph.target(edge),
    };
    graph.nodes().filter(|&b| graph.out_edges(b).len() > 1 && unrolled.joins(b).contains(&at)).collect()
}

/// The conditions that a criterion finds for the first place of a figure, and the verdict.
fn says(figure: &str, place: &str, criterion: Criterion) -> (String, Verdict) {
    let found = findings();
    let mut lines = found.iter().filter(|f| (f.figure, f.place, f.criterion) == (figure, place, criterion));
    let line = lines.next().expect("there is a line for every criterion");
    assert!(lines.next().is_none());
    (line.found.as_ref().map_or("-".to_owned(), |c| c.join(" ")), line.verdict)
}

fn figure(name: &str) -> Figure {
    figures().into_iter().find(|f| f.name == name).expect("the figure exists")
}

#[test]
fn what_decides_in_the_figures_is_what_maximum_flow_on_the_tagged_graph_finds() {
    for figure in figures() {
        for (place, words) in &figure.places {
            let exact = by_maximum_flow(&figure.graph, *place);
            assert_eq!(Criterion::DisjointPaths.branches(&figure.graph, *place), Some(exact), "{words}");
        }
    }
    let exact = |name: &str, place: usize| {
        let figure = figure(name);
        figure.conditions_of(&by_maximum_flow(&figure.graph, figure.places[place].0))
    };
    assert_eq!(exact("5a", 0), ["p", "s"]);
    assert_eq!(exact("5b", 0), ["p"]);
    assert_eq!(exact("5c", 0), ["s"]);
    assert_eq!(exact("5d", 0), ["h"]);
    assert_eq!(exact("5d", 1), ["b", "c"]);
}

#[test]
fn post_dominators_miss_joins_on_every_figure() {
    let says = |figure, place| says(figure, place, Criterion::PostDominator);
    assert_eq!(says("5a", "join J"), ("s".into(), Verdict::Unsound));
    assert_eq!(says("5b", "join D"), (String::new(), Verdict::Unsound));
    assert_eq!(says("5c", "join J"), (String::new(), Verdict::Unsound));
    assert_eq!(says("5d", "exit D of loop H"), (String::new(), Verdict::Unsound));
}

#[test]
fn all_joins_up_to_the_post_dominator_are_too_many_where_only_q_varies() {
    let says = |figure, place| says(figure, place, Criterion::JoinsUpToPostDominator);
    assert_eq!(says("5b", "join D"), ("p q".into(), Verdict::Imprecise));
    assert_eq!(says("5a", "join J"), ("p q s".into(), Verdict::Imprecise));
    assert_eq!(says("5d", "exit D of loop H"), ("b c h".into(), Verdict::Imprecise));
}

#[test]
fn control_dependence_names_q_as_well_and_without_that_of_the_join_loses_p() {
    let (plain, subtracted) = (Criterion::ControlDependence, Criterion::SubtractedControlDependence);
    assert_eq!(says("5a", "join J", plain), ("p q s".into(), Verdict::Imprecise));
    assert_eq!(says("5a", "join J", subtracted), ("s".into(), Verdict::Unsound));
    assert_eq!(says("5a", "join J", Criterion::StrongPostDominance), ("p q s".into(), Verdict::Imprecise));
    assert_eq!(says("5d", "exit D of loop H", plain), ("b c h".into(), Verdict::Imprecise));
    assert_eq!(says("5d", "exit D of loop H", subtracted), ("-".into(), Verdict::Silent));
}

#[test]
fn a_branch_with_three_successors_is_lost_when_control_dependence_is_subtracted() {
    assert_eq!(
        says("5c", "join J", Criterion::SubtractedControlDependence),
        (String::new(), Verdict::Unsound)
    );
}

#[test]
fn gated_ssa_names_conditions_of_reaching_the_join_and_has_one_predicate_for_all_exits() {
    assert_eq!(says("5a", "join J", Criterion::GatedSsa), ("p q s".into(), Verdict::Imprecise));
    assert_eq!(says("5d", "exit D of loop H", Criterion::GatedSsa), ("b c h".into(), Verdict::Imprecise));
}

#[test]
fn thinned_gated_ssa_is_exact_at_joins_and_misses_h_in_the_loop_predicate() {
    assert_eq!(says("5a", "join J", Criterion::ThinnedGatedSsa), ("p s".into(), Verdict::Exact));
    assert_eq!(says("5b", "join D", Criterion::ThinnedGatedSsa), ("p".into(), Verdict::Exact));
    assert_eq!(says("5d", "exit D of loop H", Criterion::ThinnedGatedSsa), ("b c".into(), Verdict::Unsound));
}

#[test]
fn only_disjoint_paths_are_exact_everywhere() {
    for criterion in Criterion::ALL {
        let exact =
            findings().iter().filter(|f| f.criterion == criterion).all(|f| f.verdict == Verdict::Exact);
        assert_eq!(exact, criterion == Criterion::DisjointPaths, "{criterion:?}");
    }
}

/// The verdicts on the figures are no accident of how they are drawn.
#[test]
fn on_random_acyclic_graphs_the_sound_criteria_find_every_branch_and_the_others_do_not() {
    let mut missed = std::collections::BTreeMap::new();
    let mut places = 0;
    for seed in 0..1500 {
        let graph = graphs::reducible(&mut SplitMix64::new(seed), 9);
        if graph.edges().any(|e| graph.source(e) >= graph.target(e)) {
            continue;
        }
        for join in graph.nodes().filter(|&n| graph.in_edges(n).len() > 1) {
            let exact = by_maximum_flow(&graph, Place::Join(join));
            places += 1;
            for criterion in Criterion::ALL {
                let found = criterion.branches(&graph, Place::Join(join)).expect("all speak of joins");
                *missed.entry(criterion).or_insert(0) += usize::from(!found.is_superset(&exact));
            }
        }
    }
    println!("{places} joins; missed at: {missed:?}");
    assert!(places > 200, "{places}");
    for criterion in [
        Criterion::DisjointPaths,
        Criterion::StrongPostDominance,
        Criterion::JoinsUpToPostDominator,
        Criterion::ControlDependence,
        Criterion::GatedSsa,
        Criterion::ThinnedGatedSsa,
    ] {
        assert_eq!(missed[&criterion], 0, "{criterion:?}");
    }
    assert!(missed[&Criterion::PostDominator] > 0 && missed[&Criterion::SubtractedControlDependence] > 0);
}
