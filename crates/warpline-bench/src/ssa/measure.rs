//! Counts and times of one program.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use warpline::ir::{Function, Module};
use warpline_analysis::phi_placement::{Accesses, Placement, Pruning};
use warpline_analysis::{CsrGraph, Graph as _, Node};
use warpline_llvm::Imported;

use super::exit::with_exit;
use crate::files::{progress, stem};
use warpline_cli::cli::EntryChoice;
use warpline_cli::placements::{Method, Subject, medians, with_variables};
use warpline_cli::sampling::Sampling;
use warpline_compile::error::Result;
use warpline_compile::kernel::load;
use warpline_llvm::worker::LoadOptions;

/// Functions of at most so many blocks are too small to be compared one by one.
pub(super) const SMALL: usize = 20;

/// How many φs the placements have. Variables are defined on entry by dominance frontiers only.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize)]
pub(super) struct Phis {
    /// By the paper's reaching definitions, at the exit too.
    pub reaching_definitions: usize,
    /// By dominance frontiers, at the exit too.
    pub dominance_frontier: usize,
    /// By reaching definitions, at the exit.
    pub reaching_definitions_exit: usize,
    /// By dominance frontiers, at the exit.
    pub dominance_frontier_exit: usize,
    /// By dominance frontiers, of variables that a single block writes: none of them joins anything.
    pub dominance_frontier_single: usize,
    /// By the fast precise placement, in the function's own graph.
    pub precise: usize,
    /// The same, of variables that some block reads before it writes them.
    pub semi_pruned: usize,
    /// The same, where the variable is live.
    pub pruned: usize,
    /// By dominance frontiers, where the variable is live.
    pub pruned_dominance_frontier: usize,
    /// By Braun et al.
    pub braun: usize,
}

impl Phis {
    /// How many more φs dominance frontiers have, in per cent of those by reaching definitions (paper 5, φ-sup).
    pub(super) fn superfluous(&self) -> Option<f64> {
        percent_more(self.dominance_frontier, self.reaching_definitions)
    }

    /// The same without those at the exit (φ-supE).
    pub(super) fn superfluous_without_exit(&self) -> Option<f64> {
        let frontier = self.dominance_frontier - self.dominance_frontier_exit;
        percent_more(frontier, self.reaching_definitions - self.reaching_definitions_exit)
    }
}

/// How much more `a` is than `b`, in per cent.
pub(super) fn percent_more(a: usize, b: usize) -> Option<f64> {
    (b > 0).then(|| (a as f64 / b as f64 - 1.0) * 100.0)
}

impl std::ops::AddAssign for Phis {
    fn add_assign(&mut self, other: Phis) {
        self.reaching_definitions += other.reaching_definitions;
        self.dominance_frontier += other.dominance_frontier;
        self.reaching_definitions_exit += other.reaching_definitions_exit;
        self.dominance_frontier_exit += other.dominance_frontier_exit;
        self.dominance_frontier_single += other.dominance_frontier_single;
        self.precise += other.precise;
        self.semi_pruned += other.semi_pruned;
        self.pruned += other.pruned;
        self.pruned_dominance_frontier += other.pruned_dominance_frontier;
        self.braun += other.braun;
    }
}

/// Times in nanoseconds.
#[derive(Clone, Copy, Default, PartialEq, Debug, Serialize)]
pub(super) struct Times {
    /// Paper 5, Algorithm 1.
    pub algorithm_1: f64,
    /// Paper 5, all of it.
    pub reaching_definitions: f64,
    /// The fast precise placement.
    pub precise: f64,
    /// Cytron et al.
    pub cytron: f64,
    /// Sreedhar and Gao.
    pub sreedhar_gao: f64,
    /// Braun et al.; pruned.
    pub braun: f64,
    /// The fast precise placement, pruned.
    pub precise_pruned: f64,
    /// Cytron et al., pruned.
    pub cytron_pruned: f64,
    /// Sreedhar and Gao, pruned.
    pub sreedhar_gao_pruned: f64,
}

/// What is timed, in the order of [`Times::new`].
const METHODS: [Method; 9] = [
    Method::Algorithm1,
    Method::ReachingDefinitions,
    Method::Precise(Pruning::Minimal),
    Method::Cytron(Pruning::Minimal),
    Method::SreedharGao(Pruning::Minimal),
    Method::Braun,
    Method::Precise(Pruning::Pruned),
    Method::Cytron(Pruning::Pruned),
    Method::SreedharGao(Pruning::Pruned),
];

impl Times {
    fn new(of_methods: [f64; 9]) -> Times {
        let [algorithm_1, reaching_definitions, precise, cytron, sreedhar_gao, braun, ..] = of_methods;
        let [.., precise_pruned, cytron_pruned, sreedhar_gao_pruned] = of_methods;
        Times {
            algorithm_1,
            reaching_definitions,
            precise,
            cytron,
            sreedhar_gao,
            braun,
            precise_pruned,
            cytron_pruned,
            sreedhar_gao_pruned,
        }
    }

    /// The faster of the baselines that place all φs.
    pub(super) fn baseline(&self) -> f64 {
        self.cytron.min(self.sreedhar_gao)
    }

    /// The fastest of the three, all pruned.
    pub(super) fn pruned_baseline(&self) -> f64 {
        self.cytron_pruned.min(self.sreedhar_gao_pruned).min(self.braun)
    }
}

impl std::ops::AddAssign for Times {
    fn add_assign(&mut self, other: Times) {
        self.algorithm_1 += other.algorithm_1;
        self.reaching_definitions += other.reaching_definitions;
        self.precise += other.precise;
        self.cytron += other.cytron;
        self.sreedhar_gao += other.sreedhar_gao;
        self.braun += other.braun;
        self.precise_pruned += other.precise_pruned;
        self.cytron_pruned += other.cytron_pruned;
        self.sreedhar_gao_pruned += other.sreedhar_gao_pruned;
    }
}

/// What was found of one function.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Procedure {
    /// Its name.
    pub name: String,
    /// Its blocks.
    pub blocks: usize,
    /// What was promoted of its memory.
    pub variables: usize,
    /// Counts.
    pub phis: Phis,
    /// Medians over the runs.
    pub time_ns: Times,
    /// Whether the fast precise placement is that by reaching definitions, φ by φ.
    pub agrees: bool,
}

/// What was found of one file.
#[derive(Clone, Debug, Serialize)]
pub(super) struct File {
    /// Its name without the suffix.
    pub name: String,
    /// Lines of its source, where they are known.
    pub lines: Option<usize>,
    /// Its functions.
    pub procedures: Vec<Procedure>,
}

/// Sums over functions.
#[derive(Clone, Copy, Default, Debug, Serialize)]
pub(super) struct Sums {
    /// How many functions.
    pub functions: usize,
    /// Their blocks.
    pub blocks: usize,
    /// Their variables.
    pub variables: usize,
    /// Counts.
    pub phis: Phis,
    /// Times.
    pub time_ns: Times,
}

impl Sums {
    /// The sums over these functions.
    pub(super) fn of<'a>(procedures: impl IntoIterator<Item = &'a Procedure>) -> Sums {
        let mut sums = Sums::default();
        for p in procedures {
            sums.functions += 1;
            sums.blocks += p.blocks;
            sums.variables += p.variables;
            sums.phis += p.phis;
            sums.time_ns += p.time_ns;
        }
        sums
    }
}

/// Measures one file.
///
/// # Errors
/// If it cannot be read.
pub(super) fn file(path: &Path, sampling: Sampling) -> Result<File> {
    let show = |what: &str| progress(&format!("{}: {what}", path.display()));
    show("reading");
    let imported = load(path, &LoadOptions { simplify: Some(false), ..LoadOptions::default() })?.imported;
    let mut procedures = Vec::new();
    let mut subjects = Vec::new();
    for func in imported.ir.functions.values().filter(|f| !f.layout.is_empty()) {
        show(&func.name);
        let (procedure, subject) = count(&imported.ir, func);
        procedures.push(procedure);
        subjects.push(subject);
    }
    let times = medians(&subjects, METHODS, sampling, |round| {
        show(&format!("round {} of {}", round + 1, sampling.runs));
    });
    for (procedure, times) in procedures.iter_mut().zip(times) {
        procedure.time_ns = Times::new(times);
    }
    progress("");
    // A file that defines no function has no lines that count, and they are known.
    let lines = if procedures.is_empty() { Some(0) } else { lines(&imported) };
    Ok(File { name: stem(path), lines, procedures })
}

/// The lines of the source: for every file that instructions come from and that is no header, the last line that one
/// of them has. None if nothing is known of lines.
fn lines(imported: &Imported) -> Option<usize> {
    let mut last: BTreeMap<&str, u32> = BTreeMap::new();
    for loc in imported.ir.locations.values().filter(|l| !l.file.ends_with(".h")) {
        let line = last.entry(&loc.file).or_default();
        *line = (*line).max(loc.line);
    }
    (!imported.ir.locations.is_empty()).then(|| last.values().map(|&line| line as usize).sum())
}

/// What there is to count of a function, and what is to be timed.
fn count(module: &Module, func: &Function) -> (Procedure, Subject) {
    let func = with_variables(module, func);
    let subject = Subject::of(&func, EntryChoice::Parameters);
    let reference = Method::ReachingDefinitions.place(&subject);
    let precise = Method::Precise(Pruning::Minimal).place(&subject);
    let procedure = Procedure {
        name: subject.name.clone(),
        blocks: subject.blocks,
        variables: subject.accesses.variables(),
        phis: phis(module, &func, &subject, &precise),
        time_ns: Times::default(),
        agrees: reference == precise,
    };
    (procedure, subject)
}

/// Counts φs, in the function's own graph, for which `precise` is the fast placement, and in that with an exit.
fn phis(module: &Module, func: &Function, subject: &Subject, precise: &Placement) -> Phis {
    let count = |method: Method| method.place(subject).count();
    let (graph, exit) = with_exit(module, func);
    let accesses = with_one_node_more(&subject.accesses, &graph);
    let with_exit = Subject { graph, accesses, ..subject.clone() };
    let reaching = Method::Precise(Pruning::Minimal).place(&with_exit);
    let frontier = Method::Cytron(Pruning::Minimal).place(&with_exit);
    let accesses = &with_exit.accesses;
    let single = (0..accesses.variables()).filter(|&x| accesses.definitions(x).len() == 1);
    Phis {
        reaching_definitions: reaching.count(),
        dominance_frontier: frontier.count(),
        reaching_definitions_exit: count_at(&reaching, exit),
        dominance_frontier_exit: count_at(&frontier, exit),
        dominance_frontier_single: single.map(|x| frontier.of(x).len()).sum(),
        precise: precise.count(),
        semi_pruned: count(Method::Precise(Pruning::SemiPruned)),
        pruned: count(Method::Precise(Pruning::Pruned)),
        pruned_dominance_frontier: count(Method::Cytron(Pruning::Pruned)),
        braun: count(Method::Braun),
    }
}

/// The same accesses of a graph that has the nodes of theirs and one more, which accesses nothing.
fn with_one_node_more(accesses: &Accesses, graph: &CsrGraph) -> Accesses {
    let variables = 0..accesses.variables();
    let each = |of: fn(&Accesses, usize) -> &[Node]| {
        variables.clone().flat_map(move |x| of(accesses, x).iter().map(move |&node| (x, node)))
    };
    let on_entry = variables.clone().filter(|&x| accesses.is_defined_on_entry(x));
    let all = (each(Accesses::definitions), each(Accesses::exposed));
    Accesses::new(graph.node_count(), accesses.variables(), all.0, all.1, on_entry)
        .expect("all nodes of accesses are in the graph")
}

fn count_at(placement: &Placement, node: Node) -> usize {
    (0..placement.variables()).filter(|&x| placement.of(x).binary_search(&node).is_ok()).count()
}
