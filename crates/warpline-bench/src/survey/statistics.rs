//! Medians of paired ratios, and how sure they are.

use serde::{Deserialize, Serialize};

/// The median of ratios, with an interval that holds the true median in 95 of 100 cases.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Speedup {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Speedup {
    /// Of how many times as fast something is than what it is compared with, round by round.
    pub(super) fn of(base: &[f64], times: &[f64]) -> Option<Speedup> {
        let mut ratios: Vec<f64> =
            base.iter().zip(times).map(|(b, t)| b / t).filter(|r| r.is_finite()).collect();
        ratios.sort_by(f64::total_cmp);
        let rank = rank(ratios.len());
        Some(Speedup {
            median: median_of_sorted(&ratios)?,
            low: *ratios.get(rank)?,
            high: *ratios.get(ratios.len().checked_sub(rank + 1)?)?,
        })
    }
}

/// The median.
pub(super) fn median(times: &[f64]) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    Some(if sorted.len() % 2 == 1 { upper } else { (sorted[half - 1] + upper) / 2.0 })
}

/// The place of the interval's lower end among `count` values in order, the first being 0: the largest k for which at
/// most 2.5 of 100 such samples have k or fewer values below the median.
fn rank(count: usize) -> usize {
    let mut term = 0.5f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let (mut sum, mut rank) = (term, 0);
    while sum <= 0.025 && rank < count {
        rank += 1;
        term *= (count - rank + 1) as f64 / rank as f64;
        sum += term;
    }
    rank.saturating_sub(usize::from(rank > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_medians_have_the_ranks_that_tables_give() {
        // Tables count from 1: 15 values have ranks 4 and 12, 31 have 10 and 22; 5 are too few.
        assert_eq!([15, 31, 9, 5].map(rank), [3, 9, 1, 0]);
        let base = vec![2.0; 15];
        let times: Vec<f64> = (1..=15).map(f64::from).collect();
        let found = Speedup::of(&base, &times).unwrap();
        assert!((found.median - 2.0 / 8.0).abs() < 1e-12);
        assert!((found.low - 2.0 / 12.0).abs() < 1e-12 && (found.high - 2.0 / 4.0).abs() < 1e-12);
    }
}
