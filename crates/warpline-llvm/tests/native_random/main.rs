//! Random programs as machine code: what the vector function does natively is what the lane interpreter says that the
//! lanes do, and what the scalar kernel does natively, lane after lane, is what the interpreter says of it.
//!
//! `WARPLINE_PROGRAMS` is the number of programs, `WARPLINE_SEED` the first one's seed. Ten thousand:
//! `WARPLINE_PROGRAMS=10000 cargo test --release -p warpline-llvm --test native_random -- --nocapture`

mod check;
mod children;
mod code;
#[path = "../common/cpus.rs"]
mod cpus;
#[path = "../common/guarded.rs"]
mod guarded;
#[path = "../common/nan.rs"]
mod nan;
mod range;
mod setup;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use check::Outcome;
use warpline_llvm::Llvm;
use warpline_testkit::census::Rates;
use warpline_testkit::environment::number;
use warpline_testkit::programs::shrink;

/// The name of the test, by which a child runs it.
const TEST: &str = "vectorized_random_programs_do_natively_what_the_interpreter_says";

/// Programs that one process runs, at most: enough that its start, which loads LLVM, does not count.
const BATCH: u64 = 250;

/// Of fewer programs nothing is asked but that they agree: a seed that is run again is alone.
const FEW: u64 = 50;

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
    let batch = (count / (4 * workers as u64)).clamp(1, BATCH);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let start = next.fetch_add(batch, Ordering::Relaxed);
                    if start >= first + count {
                        break;
                    }
                    let seeds = start..(start + batch).min(first + count);
                    let outcomes = children::run(TEST, seeds, directory.path());
                    all.lock().unwrap().extend(outcomes);
                }
            });
        }
    });
    let all = all.into_inner().unwrap();
    assert_eq!(all.len() as u64, count, "a process lost programs");
    let mut tally = Tally::default();
    for (seed, outcome) in all {
        tally.add(seed, outcome, count == 1);
    }
    println!("{tally}");
    let Tally { agreed, divergent, divergent_loops, ranges, looped, failures, callers, .. } = tally;
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
    if count < FEW {
        return;
    }
    // Few call with the number of a signal, and some compute a NaN.
    let mut some = callers.iter().take(40);
    let noticed = some.any(|&seed| notices_what_is_wrong(seed, directory.path()));
    assert!(callers.is_empty() || noticed, "another callee is not noticed: {callers:?}");
    assert!(agreed * 2 > count, "too few programs were compared");
    assert!(divergent * 3 > agreed, "too few programs diverge");
    assert!(ranges * 5 > agreed, "too few ranges");
    assert!(looped * 40 > agreed, "too few loops are the unit");
    assert!(divergent_loops * 10 > agreed, "too few programs have divergent loops");
}

/// What became of the programs.
#[derive(Default)]
struct Tally {
    programs: u64,
    agreed: u64,
    scalars: u64,
    ranges: u64,
    looped: u64,
    divergent: u64,
    divergent_loops: u64,
    /// The programs that make calls.
    callers: Vec<u64>,
    /// Why programs were not compared.
    reasons: BTreeMap<String, u64>,
    failures: Vec<(u64, String)>,
    /// What was in the programs that agree.
    rates: Rates,
}

impl Tally {
    /// Counts a program; `alone`: whether it is the only one.
    fn add(&mut self, seed: u64, outcome: Outcome, alone: bool) {
        self.programs += 1;
        match outcome {
            Outcome::Agree(report) => {
                self.agreed += 1;
                self.scalars += u64::from(report.scalar);
                self.ranges += u64::from(report.range);
                self.looped += u64::from(report.looped);
                self.callers.extend((report.calls > 0).then_some(seed));
                self.divergent += u64::from(report.branches > 0);
                self.divergent_loops += u64::from(report.loops > 0);
                self.rates.add(report.names.iter().map(String::as_str));
            }
            Outcome::Skipped(why) => {
                // What is in parentheses is for whoever runs the seed alone.
                let kind = why.split(" (").next().filter(|_| !alone).unwrap_or(&why);
                *self.reasons.entry(format!("skipped: {kind}")).or_default() += 1;
            }
            Outcome::Refused(why) => {
                // What follows is the kernel's own.
                let kind = why.split(';').next().unwrap_or(&why);
                let words: Vec<&str> = kind.split(' ').filter(|w| !w.starts_with('%')).collect();
                *self.reasons.entry(format!("refused: {}", words.join(" "))).or_default() += 1;
            }
            Outcome::Differ(why) => self.failures.push((seed, why)),
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.rates)?;
        writeln!(
            f,
            "{} of {} agree, {} of them as scalar code too, {} over a range, {} as loops; {} have divergent \
             branches, {} divergent loops, {} make calls",
            self.agreed,
            self.programs,
            self.scalars,
            self.ranges,
            self.looped,
            self.divergent,
            self.divergent_loops,
            self.callers.len()
        )?;
        writeln!(f, "{} differ", self.failures.len())?;
        for (why, count) in &self.reasons {
            writeln!(f, "{count} {why}")?;
        }
        Ok(())
    }
}

/// Whether it is noticed that the program of a seed, which makes calls, has another callee. The interpreter knows
/// none and answers all alike; the machine code calls what is in this process: `raise` ends it, `abs` answers
/// something else and logs nothing.
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
