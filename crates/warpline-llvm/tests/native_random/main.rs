//! Random programs as machine code: what the vector function does natively is what the lane interpreter says that the lanes do, and
//! what the scalar kernel does natively, lane after lane, is what the interpreter says of it.
//!
//! `WARPLINE_PROGRAMS` is the number of programs, `WARPLINE_SEED` the first one's seed. Ten thousand:
//! `WARPLINE_PROGRAMS=10000 cargo test --release -p warpline-llvm --test native_random -- --nocapture`

mod check;
mod children;
mod code;
#[path = "../common/guarded.rs"]
mod guarded;
#[path = "../common/nan.rs"]
mod nan;
mod range;
mod setup;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use check::Outcome;
use warpline_llvm::Llvm;
use warpline_testkit::programs::shrink;

/// The name of the test, by which a child runs it.
const TEST: &str = "vectorized_random_programs_do_natively_what_the_interpreter_says";

/// Programs that one process runs.
const BATCH: u64 = 50;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

#[test]
fn vectorized_random_programs_do_natively_what_the_interpreter_says() {
    if children::serve_if_child() {
        return;
    }
    if let Err(error) = Llvm::get() {
        eprintln!("skipped: {error}");
        return;
    }
    let (first, count) = (number("WARPLINE_SEED", 1), number("WARPLINE_PROGRAMS", 100));
    let directory = tempfile::tempdir().unwrap();
    let next = AtomicU64::new(first);
    let all = Mutex::new(BTreeMap::new());
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let start = next.fetch_add(BATCH, Ordering::Relaxed);
                    if start >= first + count {
                        break;
                    }
                    let seeds = start..(start + BATCH).min(first + count);
                    let outcomes = children::run(TEST, seeds, directory.path());
                    all.lock().unwrap().extend(outcomes);
                }
            });
        }
    });
    let all = all.into_inner().unwrap();
    assert_eq!(all.len() as u64, count, "a process lost programs");
    let (mut agreed, mut scalars, mut ranges, mut calling, mut divergent, mut divergent_loops) =
        (0u64, 0u64, 0u64, 0u64, 0u64, 0u64);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut failures = Vec::new();
    let mut callers = Vec::new();
    for (seed, outcome) in all {
        match outcome {
            Outcome::Agree { branches, loops, calls, scalar, range } => {
                agreed += 1;
                callers.extend((calls > 0).then_some(seed));
                scalars += u64::from(scalar);
                ranges += u64::from(range);
                calling += u64::from(calls > 0);
                divergent += u64::from(branches > 0);
                divergent_loops += u64::from(loops > 0);
            }
            Outcome::Skipped(why) => {
                // What is in parentheses is for whoever runs the seed alone.
                let kind = why.split(" (").next().filter(|_| count > 1).unwrap_or(&why);
                *reasons.entry(format!("skipped: {kind}")).or_default() += 1;
            }
            Outcome::Refused(why) => *reasons.entry(format!("refused: {why}")).or_default() += 1,
            Outcome::Differ(why) => failures.push((seed, why)),
        }
    }
    println!(
        "{agreed} of {count} agree, {scalars} of them as scalar code too, {ranges} over a range; {divergent} have divergent branches, {divergent_loops} \
         divergent loops, {calling} make calls; {reasons:#?}"
    );
    for (seed, why) in &failures {
        println!("seed {seed}: {why}");
    }
    if let Some((seed, why)) = failures.first() {
        let (program, setup) = setup::of_seed(*seed);
        let fails = |p: &_| matches!(children::run_one(TEST, *seed, p, directory.path()), Outcome::Differ(_));
        let small = shrink(&program, fails);
        let now = children::run_one(TEST, *seed, &small, directory.path());
        panic!("{} failures; seed {seed}: {why}\n{setup:?}\nshrunk: {now}\n{}", failures.len(), small.text());
    }
    // The first few are enough.
    callers.truncate(8);
    let noticed = callers.iter().any(|&seed| notices_what_is_wrong(seed, directory.path()));
    assert!(callers.is_empty() || noticed, "another callee is not noticed: {callers:?}");
    assert!(agreed * 2 > count, "too few programs were compared");
    assert!(divergent * 3 > agreed, "too few programs diverge");
    assert!(ranges * 5 > agreed, "too few ranges");
    assert!(divergent_loops * 10 > agreed, "too few programs have divergent loops");
}

/// Whether it is noticed that the program of a seed, which makes calls, has another callee. The interpreter knows none and answers all
/// alike; the machine code calls what is in this process: `raise` ends it, `abs` answers something else and logs nothing.
fn notices_what_is_wrong(seed: u64, directory: &Path) -> bool {
    let (program, _) = setup::of_seed(seed);
    // Where a NaN was computed, differences prove nothing.
    [("@raise", "signal"), ("@abs", "code: ")].iter().all(|(name, reason)| {
        let text = program.text().replace("@effect", name);
        let other = children::with_text(&program, &text).expect("a program");
        let outcome = children::run_one(TEST, seed, &other, directory);
        matches!(outcome, Outcome::Differ(why) if why.contains(reason))
    })
}
