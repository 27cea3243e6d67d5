//! φ placements side by side: what they are applied to, and which there are.

use std::hint::black_box;

use warpline::ir::{Function, Module};
use warpline::ssa;
use warpline_analysis::CsrGraph;
use warpline_analysis::phi_placement::{
    Accesses, Dominators, Placement, Pruning, braun, dominance_frontiers, precise, reaching_definitions,
};

use crate::cli::EntryChoice;
use crate::sampling::{self, Sampling};

/// What a placement is asked about: the graph of a function and its accesses to variables.
#[derive(Clone)]
pub struct Subject {
    /// The function's name.
    pub name: String,
    /// How many blocks it has.
    pub blocks: usize,
    /// Its graph.
    pub graph: CsrGraph,
    /// Its accesses to variables.
    pub accesses: Accesses,
}

impl Subject {
    /// The subject that a function with variables is.
    pub fn of(func: &Function, entry: EntryChoice) -> Subject {
        let vars: Vec<_> = func.vars.keys().collect();
        Subject {
            name: func.name.to_string(),
            blocks: func.layout.len(),
            graph: func.graph().0,
            accesses: ssa::accesses_to(func, &vars, |_| entry == EntryChoice::All),
        }
    }
}

/// The function with variables in place of what can be promoted of its memory. It is left as it is.
pub fn with_variables(module: &Module, func: &Function) -> Function {
    let mut func = func.clone();
    ssa::promote_allocas(module, &mut func);
    func
}

/// A way to place φs.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Method {
    /// Paper 5, Algorithms 1 to 5.
    ReachingDefinitions,
    /// Its Algorithm 1 alone, which places nothing yet.
    Algorithm1,
    /// The join sets themselves, from dominance frontiers.
    Precise(Pruning),
    /// Stored dominance frontiers.
    Cytron(Pruning),
    /// Dominance frontiers found on the fly.
    SreedharGao(Pruning),
    /// Without dominators, pruned.
    Braun,
}

impl Method {
    /// Places φs, starting with the graph and the accesses alone: dominators are computed afresh where they are needed.
    pub fn place(self, subject: &Subject) -> Placement {
        let Subject { graph, accesses, .. } = subject;
        let dominators = Dominators::of(graph);
        match self {
            Method::ReachingDefinitions | Method::Algorithm1 => reaching_definitions::place(graph, accesses),
            Method::Precise(pruning) => precise::place(&dominators, accesses, pruning),
            Method::Cytron(pruning) => dominance_frontiers::cytron(&dominators, accesses, pruning),
            Method::SreedharGao(pruning) => dominance_frontiers::sreedhar_gao(&dominators, accesses, pruning),
            Method::Braun => braun::place(graph, accesses),
        }
    }

    fn run(self, subject: &Subject) {
        match self {
            Method::Algorithm1 => {
                _ = black_box(reaching_definitions::algorithm_1(&subject.graph, &subject.accesses))
            }
            _ => _ = black_box(self.place(black_box(subject))),
        }
    }
}

/// Nanoseconds of processor time that each of the methods takes for each of the subjects: see [`sampling::medians`].
pub fn medians<const N: usize>(
    subjects: &[Subject],
    methods: [Method; N],
    sampling: Sampling,
    progress: impl FnMut(usize),
) -> Vec<[f64; N]> {
    sampling::medians(subjects, |subject, method| methods[method].run(subject), sampling, progress)
}
