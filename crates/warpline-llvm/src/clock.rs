//! Time that a piece of work takes, whatever else the machine does.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Measures how much processor time this thread uses: what else the machine does in the meantime is not counted, nor
/// the time that it takes to ask. Where that cannot be read it is the time of day.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    thread: Option<Duration>,
    day: Instant,
}

impl Stopwatch {
    /// Starts measuring.
    pub fn start() -> Stopwatch {
        // The kernel is asked for the thread's time, which takes some hundred nanoseconds; the time of day takes some
        // ten. It is read last here and first in the end, so that it alone is between.
        let thread = thread_time();
        Stopwatch { thread, day: Instant::now() }
    }

    /// The time since the start, if this is the thread that started it.
    pub fn elapsed(&self) -> Duration {
        self.with_reading().saturating_sub(time_to_read())
    }

    /// As [`Stopwatch::elapsed`], with what the reading takes. What takes no processor time is not counted, nor that
    /// processor time is asked for.
    fn with_reading(&self) -> Duration {
        let day = self.day.elapsed();
        match (self.thread, thread_time()) {
            (Some(start), Some(end)) => day.min(end.saturating_sub(start)),
            _ => day,
        }
    }
}

/// What it takes to read the clocks: the least that is measured of nothing.
fn time_to_read() -> Duration {
    static LEAST: OnceLock<Duration> = OnceLock::new();
    *LEAST.get_or_init(|| (0..100).map(|_| Stopwatch::start().with_reading()).min().unwrap_or_default())
}

/// The processor time that this thread has used.
fn thread_time() -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the structure that it is given and keeps nothing.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) } != 0;
    if failed {
        return None;
    }
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_takes_next_to_nothing() {
        let mut times: Vec<_> = (0..101).map(|_| Stopwatch::start().elapsed()).collect();
        times.sort_unstable();
        // Reading the thread's time alone takes longer on most machines.
        assert!(times[50] < Duration::from_micros(1), "{times:?}");
    }

    #[test]
    fn waiting_costs_no_time_and_work_does() {
        let watch = Stopwatch::start();
        std::thread::sleep(Duration::from_millis(50));
        let waited = watch.elapsed();
        assert!(waited < Duration::from_millis(25), "{waited:?}");
        let (watch, day) = (Stopwatch::start(), Instant::now());
        let mut sum = 0u64;
        while watch.elapsed() < Duration::from_millis(2) && day.elapsed() < Duration::from_secs(10) {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(watch.elapsed() >= Duration::from_millis(2), "{:?}", watch.elapsed());
    }
}
