//! Time that a piece of work takes, whatever else the machine does.

use std::time::{Duration, Instant};

/// Measures how much processor time this thread uses: what else the machine does in the meantime is not counted.
/// Where that cannot be read it is the time of day.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    thread: Option<Duration>,
    day: Instant,
}

impl Stopwatch {
    /// Starts measuring.
    pub fn start() -> Stopwatch {
        Stopwatch { thread: thread_time(), day: Instant::now() }
    }

    /// The time since the start, if this is the thread that started it.
    pub fn elapsed(&self) -> Duration {
        match (self.thread, thread_time()) {
            (Some(start), Some(end)) => end.saturating_sub(start),
            _ => self.day.elapsed(),
        }
    }
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
