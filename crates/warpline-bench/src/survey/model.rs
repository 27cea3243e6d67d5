//! What the vectorizer expected, beside what was measured: of two candidates for a function, did it take the faster
//! one for faster?
//!
//! Candidates are scalar code and each number of lanes. Expectations are cycles for an element, and times are of a
//! call, so only candidates of one row can be compared; across rows, expected and measured speed-ups are ranked.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::measure::Row;

/// Candidates whose times are nearer to each other than this are not told apart.
const APART: f64 = 1.1;

/// What the vectorizer expects an element to take, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Cycles {
    pub scalar: f64,
    pub vector: f64,
}

/// How expectations stand to times in some rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Agreement {
    /// Pairs of candidates for a row whose times are a tenth or more apart.
    pub pairs: usize,
    /// Those of them that the model orders as times do.
    pub right: usize,
    /// Spearman's coefficient of expected and measured speed-ups over scalar code, over all rows and numbers of lanes.
    pub rank_correlation: Option<f64>,
}

impl Agreement {
    /// The share of pairs that are ordered right.
    pub(super) fn share(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.right as f64 / self.pairs as f64)
    }

    fn of(rows: &[&Row]) -> Agreement {
        let mut all = Agreement::default();
        let mut speedups = Vec::new();
        for row in rows {
            let candidates = candidates(row);
            for (k, &a) in candidates.iter().enumerate() {
                for &b in &candidates[k + 1..] {
                    all.count(a, b);
                }
            }
            if let Some((&scalar, vectors)) = candidates.split_first() {
                speedups.extend(vectors.iter().map(|v| (scalar.0 / v.0, scalar.1 / v.1)));
            }
        }
        all.rank_correlation = spearman(&speedups);
        all
    }

    /// Counts a pair of candidates.
    fn count(&mut self, a: Candidate, b: Candidate) {
        if a.1.max(b.1) >= APART * a.1.min(b.1) {
            self.pairs += 1;
            self.right += usize::from(a.0 != b.0 && (a.0 < b.0) == (a.1 < b.1));
        }
    }
}

/// Agreement in the rows of every other function, and in those of the others: figures of the model may be settled
/// while looking at the first half only.
pub(super) fn halves(rows: &[&Row]) -> [Agreement; 2] {
    let names: BTreeSet<&str> = rows.iter().map(|row| function(row)).collect();
    let half = |odd: usize| -> Vec<&Row> {
        let taken: BTreeSet<&str> =
            names.iter().enumerate().filter(|(k, _)| k % 2 == odd).map(|(_, name)| *name).collect();
        rows.iter().copied().filter(|row| taken.contains(function(row))).collect()
    };
    [0, 1].map(|odd| Agreement::of(&half(odd)))
}

/// The name of a row's function: what stands before its numbers.
fn function(row: &Row) -> &str {
    row.row.split(' ').next().unwrap_or_default()
}

/// What is expected and what was measured, in units of their own.
type Candidate = (f64, f64);

/// Scalar code, then each number of lanes; none if nothing is expected of scalar code.
fn candidates(row: &Row) -> Vec<Candidate> {
    let vectors: Vec<(Cycles, f64)> =
        row.widths.values().filter_map(|m| Some((m.cycles?, m.ns.filter(|_| m.wrong.is_none())?))).collect();
    let scalar = vectors.first().map(|(cycles, _)| cycles.scalar).zip(row.scalar.ns);
    scalar.into_iter().chain(vectors.into_iter().map(|(cycles, ns)| (cycles.vector, ns))).collect()
}

/// Spearman's rank correlation: Pearson's of the ranks, those of equal values being their mean.
fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let ranks = |values: Vec<f64>| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut ranks = vec![0.0; values.len()];
        let mut first = 0;
        for equal in order.chunk_by(|&a, &b| values[a].total_cmp(&values[b]).is_eq()) {
            equal.iter().for_each(|&k| ranks[k] = first as f64 + (equal.len() - 1) as f64 / 2.0);
            first += equal.len();
        }
        ranks
    };
    let a = ranks(pairs.iter().map(|p| p.0).collect());
    let b = ranks(pairs.iter().map(|p| p.1).collect());
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let sum = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    let spread = (sum(&a, &a) * sum(&b, &b)).sqrt();
    (spread > 0.0).then(|| sum(&a, &b) / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_correlate_whatever_the_scale_and_equal_values_share_theirs() {
        let rising = [(1.0, 10.0), (2.0, 100.0), (3.0, 1000.0)];
        let falling = rising.map(|(a, b)| (a, -b));
        assert!((spearman(&rising).unwrap() - 1.0).abs() < 1e-12);
        assert!((spearman(&falling).unwrap() + 1.0).abs() < 1e-12);
        // Ranks 0, 1.5, 1.5, 3 against 0, 2, 1, 3: covariance 4.5, variances 4.5 and 5.
        let tied = spearman(&[(1.0, 1.0), (2.0, 3.0), (2.0, 2.0), (4.0, 4.0)]).unwrap();
        assert!((tied - 4.5 / (4.5f64 * 5.0).sqrt()).abs() < 1e-12);
        assert_eq!(spearman(&[(1.0, 1.0)]), None);
    }

    #[test]
    fn pairs_that_times_do_not_tell_apart_do_not_count_and_equal_expectations_are_wrong() {
        let mut all = Agreement::default();
        all.count((1.0, 100.0), (2.0, 105.0));
        assert_eq!((all.pairs, all.right), (0, 0));
        all.count((1.0, 100.0), (2.0, 150.0));
        all.count((1.0, 150.0), (2.0, 100.0));
        all.count((1.0, 150.0), (1.0, 100.0));
        assert_eq!((all.pairs, all.right), (3, 1));
    }
}
