//! How long pieces of work take, measured in turns.

use std::time::Duration;

use warpline_llvm::Stopwatch;

/// How methods are timed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Sampling {
    /// How many samples are taken of each method.
    pub runs: usize,
    /// How long a sample lasts at least: short work is repeated in it.
    pub least: Duration,
}

/// Nanoseconds of processor time that each of N methods takes for each of the subjects: medians over samples. `run`
/// applies the method of a number below N. A round goes through all subjects, so that the samples of one are apart in
/// time; methods take turns in a random order, which is the same each time, and each runs once before its sample.
pub fn medians<S, const N: usize>(
    subjects: &[S],
    run: impl Fn(&S, usize),
    sampling: Sampling,
    mut progress: impl FnMut(usize),
) -> Vec<[f64; N]> {
    let of_subject = |s| std::array::from_fn(|method| repeats(|| run(s, method), sampling));
    let repeats: Vec<[u32; N]> = subjects.iter().map(of_subject).collect();
    let mut samples: Vec<[Vec<f64>; N]> = subjects.iter().map(|_| [const { Vec::new() }; N]).collect();
    let mut order = Order::<N>::new();
    for round in 0..sampling.runs {
        progress(round);
        for (i, subject) in subjects.iter().enumerate() {
            order.shuffle();
            for at in order.0 {
                // Whatever ran before has left other things in the caches.
                run(subject, at);
                let watch = Stopwatch::start();
                for _ in 0..repeats[i][at] {
                    run(subject, at);
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
fn repeats(run: impl Fn(), sampling: Sampling) -> u32 {
    if sampling.least.is_zero() {
        return 1;
    }
    let once = || {
        let watch = Stopwatch::start();
        run();
        watch.elapsed().max(Duration::from_nanos(50))
    };
    (sampling.least.as_nanos() / once().min(once()).as_nanos()) as u32 + 1
}

/// The median; 0 of nothing.
pub fn median(mut values: Vec<f64>) -> f64 {
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
