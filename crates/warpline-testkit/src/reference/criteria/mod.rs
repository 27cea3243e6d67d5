//! Which branches decide about a join or an exit of a loop, by the criteria that paper 1 discusses in Section 8, on
//! the graphs of its Figure 5.
//!
//! Each criterion is a small function with the simplest published construction behind it. None is used by an
//! analysis, except for the first three, which *are* the analyses: their answers come from running them.

mod control_dependence;
mod figures;
mod gated;

use std::collections::BTreeSet;

use control_dependence::ControlDependence;
pub use figures::{Figure, figures};
use warpline_analysis::cycles::CycleForest;
use warpline_analysis::dom::DomTree;
use warpline_analysis::graph::{EdgeId, Graph, Node, Reversed};
use warpline_analysis::uniformity::Algorithm;
use warpline_analysis::uniformity::{Rule, SsaProgram, Uniformity};

/// What is asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A φ in this node, with a different operand on each in-edge.
    Join(Node),
    /// A use, at the target of this edge, of a value that changes in the innermost loop that the edge leaves.
    Exit(EdgeId),
}

/// A criterion that tells which branches decide about a join or an exit, if they are divergent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Criterion {
    /// Disjoint paths (paper 1): this is [`Algorithm::Joins`].
    DisjointPaths,
    /// Post-dominator reconvergence: Coutinho et al. 2011, [`Algorithm::PostDom`].
    PostDominator,
    /// Control dependence by strong post-dominance: Wasserrab et al. 2009, [`Algorithm::StrongPostDom`].
    StrongPostDominance,
    /// All joins between the branch and its immediate post-dominator: Collange 2011, Chandrasekhar et al. 2019.
    JoinsUpToPostDominator,
    /// Transitive control dependence of the assignments that are merged: Lee et al. 2013, Liang et al. 2016.
    ControlDependence,
    /// The same without the control dependences of the join: the AMDHSAIL driver, Lloyd et al. 2019. Nothing is said of
    /// exits.
    SubtractedControlDependence,
    /// Conditions in the predicates of gated SSA form: Ballance et al. 1990, Tu and Padua 1995.
    GatedSsa,
    /// Conditions in the predicates of thinned gated SSA form: Havlak 1993.
    ThinnedGatedSsa,
}

impl Criterion {
    /// All of them.
    pub const ALL: [Criterion; 8] = [
        Criterion::DisjointPaths,
        Criterion::PostDominator,
        Criterion::StrongPostDominance,
        Criterion::JoinsUpToPostDominator,
        Criterion::ControlDependence,
        Criterion::SubtractedControlDependence,
        Criterion::GatedSsa,
        Criterion::ThinnedGatedSsa,
    ];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Criterion::DisjointPaths => "disjoint paths",
            Criterion::PostDominator => "post-dominator",
            Criterion::StrongPostDominance => "strong post-dominance",
            Criterion::JoinsUpToPostDominator => "joins up to post-dominator",
            Criterion::ControlDependence => "control dependence",
            Criterion::SubtractedControlDependence => "control dependence, subtracted",
            Criterion::GatedSsa => "gated SSA",
            Criterion::ThinnedGatedSsa => "thinned gated SSA",
        }
    }

    /// The branches that decide about `place`. None if the criterion does not speak of such a place.
    pub fn branches<G: Graph>(self, graph: &G, place: Place) -> Option<BTreeSet<Node>> {
        match (self, place) {
            (Criterion::DisjointPaths, _) => Some(by_analysis(graph, place, Algorithm::Joins)),
            (Criterion::PostDominator, _) => Some(by_analysis(graph, place, Algorithm::PostDom)),
            (Criterion::StrongPostDominance, _) => Some(by_analysis(graph, place, Algorithm::StrongPostDom)),
            (Criterion::JoinsUpToPostDominator, _) => Some(up_to_post_dominator(graph, place)),
            (Criterion::ControlDependence, Place::Join(join)) => {
                Some(ControlDependence::of(graph).of_arrivals(join))
            }
            (Criterion::ControlDependence, Place::Exit(exit)) => {
                Some(ControlDependence::of(graph).of_edge(exit))
            }
            (Criterion::SubtractedControlDependence, Place::Join(join)) => {
                let dependence = ControlDependence::of(graph);
                Some(&dependence.of_arrivals(join) - &dependence.of_node(join))
            }
            (Criterion::SubtractedControlDependence, Place::Exit(_)) => None,
            (Criterion::GatedSsa, _) => Some(gated::conditions(graph, place, gated::Form::Full)),
            (Criterion::ThinnedGatedSsa, _) => Some(gated::conditions(graph, place, gated::Form::Thinned)),
        }
    }
}

/// All branches that an analysis takes for deciding: each in turn is made the only divergent one.
fn by_analysis<G: Graph>(graph: &G, place: Place, algorithm: Algorithm) -> BTreeSet<Node> {
    let branches = graph.nodes().filter(|&n| graph.out_edges(n).len() > 1);
    branches.filter(|&b| decides(graph, place, algorithm, b)).collect()
}

fn decides<G: Graph>(graph: &G, place: Place, algorithm: Algorithm, branch: Node) -> bool {
    let mut builder = SsaProgram::builder();
    let lane = builder.argument(Rule::Source);
    builder.terminator(branch, [lane]);
    let asked = match place {
        Place::Join(join) => {
            let operands: Vec<_> =
                graph.in_edges(join).map(|e| (e, Some(builder.argument(Rule::Default)))).collect();
            builder.phi(join, Rule::Default, operands)
        }
        Place::Exit(exit) => {
            let cycles = CycleForest::compute(graph);
            let header = cycles.innermost(graph.source(exit)).map(|c| cycles.header(c));
            let changing = builder.plain(header.unwrap_or(graph.entry()), Rule::Default, []);
            builder.plain(graph.target(exit), Rule::Default, [changing])
        }
    };
    let Ok(program) = builder.build(graph) else { return false };
    Uniformity::compute_by(graph, &program, algorithm).is_divergent(asked)
}

/// A branch counts if the join is reached from it no later than its immediate post-dominator, or if it is in the loop
/// and the exit is reached so.
fn up_to_post_dominator<G: Graph>(graph: &G, place: Place) -> BTreeSet<Node> {
    let tree = DomTree::compute(&Reversed::new(graph));
    let cycles = CycleForest::compute(graph);
    let reached = |branch: Node, to: Node| {
        let end = tree.idom(branch);
        let mut seen = BTreeSet::new();
        let mut work: Vec<Node> = graph.successors(branch).collect();
        while let Some(n) = work.pop() {
            if n == to {
                return true;
            }
            if Some(n) != end && seen.insert(n) {
                work.extend(graph.successors(n));
            }
        }
        false
    };
    let branches = graph.nodes().filter(|&n| graph.out_edges(n).len() > 1);
    match place {
        Place::Join(join) => branches.filter(|&b| reached(b, join)).collect(),
        Place::Exit(exit) => {
            let Some(cycle) = cycles.innermost(graph.source(exit)) else { return BTreeSet::new() };
            branches.filter(|&b| cycles.contains(cycle, b) && reached(b, graph.target(exit))).collect()
        }
    }
}

/// What to make of an answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Verdict {
    /// It names the branches that decide and no others.
    Exact,
    /// It names others as well.
    Imprecise,
    /// It misses one.
    Unsound,
    /// The criterion does not speak of such places.
    Silent,
}

impl Verdict {
    fn of(found: Option<&BTreeSet<Node>>, exact: &BTreeSet<Node>) -> Verdict {
        match found {
            None => Verdict::Silent,
            Some(found) if found == exact => Verdict::Exact,
            Some(found) if found.is_superset(exact) => Verdict::Imprecise,
            Some(_) => Verdict::Unsound,
        }
    }

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Exact => "exact",
            Verdict::Imprecise => "imprecise",
            Verdict::Unsound => "unsound",
            Verdict::Silent => "says nothing",
        }
    }
}

/// One line of the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The figure.
    pub figure: &'static str,
    /// The join or exit, in words.
    pub place: &'static str,
    /// The criterion.
    pub criterion: Criterion,
    /// The conditions that decide by the criterion; none if it says nothing.
    pub found: Option<Vec<&'static str>>,
    /// Those that do decide.
    pub exact: Vec<&'static str>,
    /// How the two compare.
    pub verdict: Verdict,
}

/// What each criterion says of each place in each figure.
pub fn findings() -> Vec<Finding> {
    let mut table = Vec::new();
    for figure in figures() {
        for &(place, words) in &figure.places {
            let exact = by_analysis(&figure.graph, place, Algorithm::Joins);
            for criterion in Criterion::ALL {
                let found = criterion.branches(&figure.graph, place);
                table.push(Finding {
                    figure: figure.name,
                    place: words,
                    criterion,
                    verdict: Verdict::of(found.as_ref(), &exact),
                    found: found.map(|f| figure.conditions_of(&f)),
                    exact: figure.conditions_of(&exact),
                });
            }
        }
    }
    table
}
