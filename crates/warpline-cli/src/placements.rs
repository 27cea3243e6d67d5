//! φ placements side by side: what they are applied to, which there are, and how long they take.

use std::hint::black_box;
use std::time::Duration;

use warpline::ir::{Function, Module};
use warpline::ssa;
use warpline_analysis::CsrGraph;
use warpline_analysis::phi_placement::{
    Accesses, Dominators, Placement, Pruning, braun, dominance_frontiers, precise, reaching_definitions,
};
use warpline_llvm::Stopwatch;

use crate::cli::EntryChoice;

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

/// How methods are timed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Sampling {
    /// How many samples are taken of each method.
    pub runs: usize,
    /// How long a sample lasts at least: short work is repeated in it.
    pub least: Duration,
}

/// Nanoseconds of processor time that each of the methods takes for each of the subjects: medians over samples. A round goes through all
/// subjects, so that the samples of one are apart in time; methods take turns in a random
/// order, which is the same each time, and each runs once before its sample.
pub fn medians<const N: usize>(
    subjects: &[Subject],
    methods: [Method; N],
    sampling: Sampling,
    mut progress: impl FnMut(usize),
) -> Vec<[f64; N]> {
    let repeats: Vec<[u32; N]> =
        subjects.iter().map(|subject| methods.map(|method| repeats(subject, method, sampling))).collect();
    let mut samples: Vec<[Vec<f64>; N]> = subjects.iter().map(|_| [const { Vec::new() }; N]).collect();
    let mut order = Order::<N>::new();
    for round in 0..sampling.runs {
        progress(round);
        for (i, subject) in subjects.iter().enumerate() {
            order.shuffle();
            for at in order.0 {
                // Whatever ran before has left other things in the caches.
                methods[at].run(subject);
                let watch = Stopwatch::start();
                for _ in 0..repeats[i][at] {
                    methods[at].run(subject);
                }
                samples[i][at].push(watch.elapsed().as_nanos() as f64 / f64::from(repeats[i][at]));
            }
        }
    }
    samples.into_iter().map(|of_subject| of_subject.map(median)).collect()
}

/// The order in which methods take turns: what runs before another makes a difference, so it changes.
struct Order<const N: usize>([usize; N], u64);

impl<const N: usize> Order<N> {
    fn new() -> Self {
        Order(std::array::from_fn(|i| i), 0x9e37_79b9_7f4a_7c15)
    }

    /// Fisher and Yates, by numbers from a xorshift generator.
    fn shuffle(&mut self) {
        for i in (1..N).rev() {
            self.1 ^= self.1 << 13;
            self.1 ^= self.1 >> 7;
            self.1 ^= self.1 << 17;
            self.0.swap(i, (self.1 >> 32) as usize % (i + 1));
        }
    }
}

/// How often a method must run in a sample to fill it.
fn repeats(subject: &Subject, method: Method, sampling: Sampling) -> u32 {
    if sampling.least.is_zero() {
        return 1;
    }
    let once = || {
        let watch = Stopwatch::start();
        method.run(subject);
        watch.elapsed().max(Duration::from_nanos(50))
    };
    (sampling.least.as_nanos() / once().min(once()).as_nanos()) as u32 + 1
}

/// The median; 0 of nothing.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_comes_first_and_last_and_none_is_left_out() {
        let mut order = Order::<5>::new();
        let (mut first, mut last) = ([0; 5], [0; 5]);
        for _ in 0..100 {
            order.shuffle();
            let mut sorted = order.0;
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4]);
            first[order.0[0]] += 1;
            last[order.0[4]] += 1;
        }
        assert!(first.iter().chain(&last).all(|&n| n > 5), "{first:?} {last:?}");
    }

    #[test]
    fn medians_are_of_the_values_in_order() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!(median(Vec::new()).abs() < 1e-9);
    }
}
