//! How long promotion and construction take, beside `mem2reg`.
//!
//! Both sides start with all functions of a file in memory, parsed or imported anew for each run, which is not
//! counted, and leave them in SSA form. Dominators are counted on both sides. LLVM's time is that of a run of its
//! pass manager over the file with `function(mem2reg)`, less that of the same with a pass that does nothing. All are
//! times of the processor. Runs take turns; each number is a median.
//!
//! For functions of more than 20 blocks LLVM's pass is run on one function at a time, if the loaded version can do
//! that, again less the time of a pass that does nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use warpline_dataflow::ssa::promote_and_construct;
use warpline_llvm::{Error, Imported, Module};

use super::Program;

const PASS: &str = "mem2reg";
const NOTHING: &str = "no-op-function";

/// Functions of more blocks than this are measured one by one.
const SMALL: usize = 20;

#[derive(Default, Clone, Copy)]
struct Times {
    ours: Duration,
    llvm: Duration,
    nothing: Duration,
    /// Of functions of more than [`SMALL`] blocks.
    large: Large,
}

#[derive(Default, Clone, Copy)]
struct Large {
    functions: usize,
    ours: Duration,
    llvm: Duration,
    /// How many take longer here.
    slower: usize,
    /// The largest ratio of our time to LLVM's.
    worst: f64,
}

/// Prints the table.
pub(crate) fn print(programs: &[Program], runs: usize) -> Result<(), Error> {
    println!(
        "| program | ours ms | mem2reg ms | (less nothing ms) | ours / mem2reg | functions of more than {SMALL} \
         blocks | ours ms | mem2reg ms | \
         ours / mem2reg | slower here | worst ratio |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut total = Times::default();
    for program in programs {
        let mut sum = Times::default();
        for path in &program.files {
            add(&mut sum, &file(&Module::read(path)?, runs)?);
        }
        row(&program.name, &sum);
        add(&mut total, &sum);
    }
    if programs.len() > 1 {
        row("all", &total);
    }
    Ok(())
}

fn add(sum: &mut Times, t: &Times) {
    sum.ours += t.ours;
    sum.llvm += t.llvm;
    sum.nothing += t.nothing;
    sum.large.functions += t.large.functions;
    sum.large.ours += t.large.ours;
    sum.large.llvm += t.large.llvm;
    sum.large.slower += t.large.slower;
    sum.large.worst = sum.large.worst.max(t.large.worst);
}

fn row(name: &str, t: &Times) {
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64().max(f64::MIN_POSITIVE);
    let l = &t.large;
    print!(
        "| {name} | {:.2} | {:.2} | {:.2} | {:.3} |",
        ms(t.ours),
        ms(t.llvm),
        ms(t.nothing),
        ratio(t.ours, t.llvm)
    );
    if l.functions == 0 {
        println!(" | | | | | |");
        return;
    }
    println!(
        " {} | {:.2} | {:.2} | {:.3} | {} | {:.2} |",
        l.functions,
        ms(l.ours),
        ms(l.llvm),
        ratio(l.ours, l.llvm),
        l.slower,
        l.worst
    );
}

fn file(module: &Module, runs: usize) -> Result<Times, Error> {
    let bitcode = module.to_bitcode();
    let (mut ours, mut llvm, mut nothing) = (Vec::new(), Vec::new(), Vec::new());
    let mut by_function: BTreeMap<(usize, String), Vec<Duration>> = BTreeMap::new();
    for _ in 0..runs {
        llvm.push(passes(&bitcode, PASS)?);
        let mut ir = Imported::new(Module::parse(&bitcode, "copy")?).ir;
        let mut functions = std::mem::take(&mut ir.functions);
        let start = now();
        for func in functions.values_mut() {
            std::hint::black_box(promote_and_construct(&ir, func));
        }
        ours.push(now() - start);
        nothing.push(passes(&bitcode, NOTHING)?);
        // Once more, with a look at the clock before and after.
        let mut ir = Imported::new(Module::parse(&bitcode, "copy")?).ir;
        for (number, func) in std::mem::take(&mut ir.functions).values_mut().enumerate() {
            if func.layout.len() > SMALL {
                let start = now();
                std::hint::black_box(promote_and_construct(&ir, func));
                by_function.entry((number, func.name.to_string())).or_default().push(now() - start);
            }
        }
    }
    let mut times = Times { ours: median(ours), nothing: median(nothing), ..Times::default() };
    times.llvm = median(llvm).saturating_sub(times.nothing);
    let names: Vec<&str> = by_function.keys().map(|(_, name)| name.as_str()).collect();
    if let Some(theirs) = one_by_one(&bitcode, &names, runs)? {
        for ((_, ours), llvm) in by_function.into_iter().zip(theirs) {
            let ours = median(ours);
            let large = &mut times.large;
            large.functions += 1;
            large.ours += ours;
            large.llvm += llvm;
            large.slower += usize::from(ours > llvm);
            large.worst = large.worst.max(ours.as_secs_f64() / llvm.as_secs_f64().max(1e-6));
        }
    }
    Ok(times)
}

/// The time of a run of LLVM's pass manager over a module.
fn passes(bitcode: &[u8], pass: &str) -> Result<Duration, Error> {
    let mut module = Module::parse(bitcode, "copy")?;
    let pipeline = format!("function({pass})");
    let start = now();
    module.optimise(&pipeline, None)?;
    Ok(now() - start)
}

/// LLVM's time for each of these functions; `None` if this version cannot run passes on one function.
fn one_by_one(bitcode: &[u8], names: &[&str], runs: usize) -> Result<Option<Vec<Duration>>, Error> {
    let mut samples = vec![(Vec::new(), Vec::new()); names.len()];
    for _ in 0..runs {
        for pass in [PASS, NOTHING] {
            let mut module = Module::parse(bitcode, "copy")?;
            for (sample, &name) in samples.iter_mut().zip(names) {
                let start = now();
                if !module.optimise_function(name, pass)? {
                    return Ok(None);
                }
                let list = if pass == PASS { &mut sample.0 } else { &mut sample.1 };
                list.push(now() - start);
            }
        }
    }
    let less = |(pass, nothing): (Vec<_>, Vec<_>)| median(pass).saturating_sub(median(nothing));
    Ok(Some(samples.into_iter().map(less).collect()))
}

/// The time that this thread has spent on the processor.
fn now() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid pointer, written once; the clock exists on Linux.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "the clock of this thread");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
