//! Timing two programs against each other: interleaved, medians, as often as a second allows.

use std::time::{Duration, Instant};

use warpline_llvm::JitFunction;

use super::data::{Data, Image};
use super::guard;

/// How long all runs together may take.
const TIME: Duration = Duration::from_millis(1000);
/// After which time the next run begins its own time limit.
const BEAT: Duration = Duration::from_millis(100);
/// Bounds for the number of runs of each.
const RUNS: std::ops::RangeInclusive<usize> = 3..=501;

/// Medians in nanoseconds, and how many runs they are of.
pub struct Timing {
    /// Of the scalar program.
    pub scalar_ns: u64,
    /// Of the W-lane program.
    pub vector_ns: u64,
    /// Runs of each.
    pub runs: usize,
}

/// What messages call a program that is timed.
pub const TIMED: &str = "a program that is timed";

/// Times both programs. Every run starts with the same contents of the buffers.
pub fn time(scalar: &JitFunction<'_>, vector: &JitFunction<'_>, data: &Data) -> Timing {
    let started = Instant::now();
    let mut image = Image::new(data);
    let (mut scalars, mut vectors) = (Vec::new(), Vec::new());
    let mut told = started;
    let mut once = |f: &JitFunction<'_>| {
        image.restore(data);
        if told.elapsed() > BEAT {
            told = Instant::now();
            guard::begins(TIMED);
        }
        let mut slots = image.slots(data, data.end);
        f.time_ns(&mut slots)
    };
    while scalars.len() < *RUNS.start() || (started.elapsed() < TIME && scalars.len() < *RUNS.end()) {
        scalars.push(once(scalar));
        vectors.push(once(vector));
        if started.elapsed() > 4 * TIME {
            break;
        }
    }
    Timing { runs: scalars.len(), scalar_ns: median(&mut scalars), vector_ns: median(&mut vectors) }
}

/// The median; 0 of nothing.
pub fn median(times: &mut [u64]) -> u64 {
    times.sort_unstable();
    let n = times.len();
    match n {
        0 => 0,
        _ if n % 2 == 1 => times[n / 2],
        _ => u64::midpoint(times[n / 2 - 1], times[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&mut []), 0);
        assert_eq!(median(&mut [5, 1, 3]), 3);
        assert_eq!(median(&mut [8, 1, 4, 2]), 3);
    }
}
