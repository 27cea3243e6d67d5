//! Work on several inputs at once.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::output::progress;

/// The stack of a thread that works on inputs, in bytes: what the first one has.
const STACK: usize = 8 << 20;

/// Works on all inputs, so many at once (as many as there are CPUs, if it is not said), and shows progress. What comes of
/// them is in their order.
pub(crate) fn of_each<T: Send>(
    inputs: &[PathBuf],
    jobs: Option<NonZeroUsize>,
    quiet: bool,
    work: impl Fn(&Path) -> T + Sync,
) -> Vec<T> {
    let shown = progress::begin(inputs.len(), quiet);
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::new());
    let go_on = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = inputs.get(at) else { return };
            shown.piece(&path.display().to_string());
            let one = work(path);
            found.lock().unwrap_or_else(PoisonError::into_inner).push((at, one));
            shown.piece_is_done();
        }
    };
    let jobs = jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    std::thread::scope(|scope| {
        for _ in 1..jobs.min(inputs.len()) {
            // Without more threads, there is this one.
            let _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, go_on);
        }
        go_on();
    });
    let mut all = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, one)| one).collect()
}
