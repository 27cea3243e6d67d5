//! `warpline-bench groups`: kernels that run over work-groups, beside an OpenCL library on one thread, and beside
//! themselves for one lane and on two threads.
//!
//! The kernels of a file are made by this program as `warpline`, and a host program in C is compiled that calls their
//! drivers, and opens `libOpenCL` when it runs, if there is one. The library's time is what its event says from start
//! to end, without what it takes to enqueue. pocl is the library meant; `POCL_MAX_PTHREAD_COUNT` keeps it to one thread.
//! It names the CPU that it compiles for, which is part of the table.

use std::fmt::Write as _;
use std::process::Command;

use warpline_cli::Outcome;
use warpline_cli::output;
use warpline_cli::sampling::median;
use warpline_cli::table::{Table, geometric_mean, quotient, ratio};
use warpline_compile::error::{Error, Result};

use crate::options::BenchGroupsOptions;
use crate::survey::child::{as_warpline, run};

/// What the host program is made of.
const HOST: &str = include_str!("host.c");

/// Seconds that compiling, and that measuring all kernels of a file may take.
const SECONDS: (u64, u64) = (300, 1800);

/// What was measured of a kernel.
struct Row {
    name: String,
    items: u64,
    /// How often they were run.
    repeats: u64,
    /// Milliseconds.
    ours: f64,
    theirs: Option<f64>,
    one_lane: Option<f64>,
    equal: bool,
    /// The same at the best of several group sizes.
    best: f64,
    their_best: Option<f64>,
    /// On two threads.
    two: f64,
}

/// What was measured of all kernels of some files.
#[derive(Default)]
struct Measured {
    rows: Vec<Row>,
    /// Seconds that compiling took.
    seconds: f64,
    /// What they were compared with.
    library: String,
}

/// Runs the command.
///
/// # Errors
/// If there is no C compiler, or the kernels cannot be made.
pub(crate) fn groups(options: &BenchGroupsOptions) -> Result<Outcome> {
    output::check(options.output.as_deref(), &[])?;
    let mut all = Measured::default();
    for source in &options.sources {
        measure(source, options, &mut all)?;
    }
    output::deliver(options.output.as_deref(), &text(&all, options.local))?;
    Ok(Outcome::Clean)
}

/// Measures the kernels of a file.
fn measure(source: &std::path::Path, options: &BenchGroupsOptions, all: &mut Measured) -> Result<()> {
    let failed = |what: &str, why: &str| Error::Internal(format!("{}: {what}: {why}", source.display()));
    let text = std::fs::read_to_string(source).map_err(|e| Error::input(source, e.to_string()))?;
    let folder = tempfile::tempdir().map_err(|e| failed("no temporary folder", &e.to_string()))?;
    let at = |name: &str| folder.path().join(name);
    let make = |object: &str, header: &str, more: &[&str]| {
        let mut make = as_warpline();
        make.arg("vectorize").arg(source).arg("-o").arg(at(object)).arg("--header").arg(at(header));
        run(make.arg("-q").args(more), SECONDS.0)
    };
    let begin = std::time::Instant::now();
    let made = make("made.o", "kernels.h", &[]);
    all.seconds += begin.elapsed().as_secs_f64();
    if !at("made.o").exists() {
        return Err(failed("no kernel was made", &made.stderr));
    }
    let header = std::fs::read_to_string(at("kernels.h")).unwrap_or_default();
    let names = text.split("kernel void ").skip(1).filter_map(|rest| rest.split('(').next());
    let is_made = |name: &&str| header.contains(&format!("{name}_workspace("));
    let list: String = names.filter(is_made).map(|name| format!("KERNEL({name})\n")).collect();
    let write = |name: &str, text: &str| {
        std::fs::write(at(name), text).map_err(|e| failed("a file cannot be written", &e.to_string()))
    };
    write("list.h", &list)?;
    write("host.c", HOST)?;
    make("scalar.o", "scalar.h", &["--width", "1"]);
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    if at("scalar.o").exists() {
        let mut link = Command::new(&compiler);
        let link = link.current_dir(folder.path()).args(["-shared", "scalar.o", "-o", "scalar.so", "-lm"]);
        run(link, SECONDS.0);
    }
    let mut compile = Command::new(compiler);
    compile
        .current_dir(folder.path())
        .args(["-O2", "-w", "-I.", "host.c", "made.o", "-o", "host", "-lm", "-ldl", "-pthread"]);
    let compiled = run(&mut compile, SECONDS.0);
    if compiled.code != Some(0) {
        return Err(failed("the host program cannot be compiled", &compiled.stderr));
    }
    let mut host = Command::new(at("host"));
    host.arg(source).arg(options.local.to_string()).arg(options.least.to_string());
    host.arg(at("scalar.so"));
    host.env("POCL_MAX_PTHREAD_COUNT", "1").env("POCL_AFFINITY", "1");
    let ran = run(&mut host, SECONDS.1);
    if ran.code != Some(0) {
        return Err(failed("the host program failed", &format!("{:?} {}", ran.code, ran.stderr)));
    }
    if let Some(library) = ran.stderr.lines().find_map(|line| line.strip_prefix("compared with: ")) {
        all.library = library.to_owned();
    }
    all.rows.extend(ran.stdout.lines().filter_map(row));
    Ok(())
}

fn row(line: &str) -> Option<Row> {
    let mut words = line.split(' ');
    let name = words.next()?.to_owned();
    let numbers: Vec<f64> = words.filter_map(|w| w.parse().ok()).collect();
    let &[items, repeats, ours, theirs, one_lane, equal, best, their_best, two] = &numbers[..] else {
        return None;
    };
    let measured = |time: f64| Some(time).filter(|&t| t > 0.0);
    Some(Row {
        name,
        items: items as u64,
        repeats: repeats as u64,
        ours,
        theirs: measured(theirs),
        one_lane: measured(one_lane),
        equal: equal > 0.0,
        best,
        their_best: measured(their_best),
        two,
    })
}

/// The table, and what sums it up.
fn text(all: &Measured, local: u64) -> String {
    let mut table = Table::new(
        1,
        &[
            "Kernel",
            "work-items",
            "runs",
            "warpline, ms",
            "library, ms",
            "times as fast",
            "at best sizes",
            "as one lane",
            "as one thread",
            "results",
        ],
    );
    let times = |row: &Row| row.theirs.and_then(|theirs| quotient(theirs, row.ours));
    let at_best = |row: &Row| row.their_best.and_then(|theirs| quotient(theirs, row.best));
    let over_one_lane = |row: &Row| row.one_lane.and_then(|one| quotient(one, row.ours));
    let by_threads = |row: &Row| quotient(row.ours, row.two);
    for row in &all.rows {
        let results = match row.theirs {
            None => "–",
            Some(_) if row.equal => "equal",
            Some(_) => "differ",
        };
        table.row(vec![
            row.name.clone(),
            row.items.to_string(),
            row.repeats.to_string(),
            format!("{:.2}", row.ours),
            row.theirs.map_or("–".to_owned(), |t| format!("{t:.2}")),
            ratio(times(row)),
            ratio(at_best(row)),
            ratio(over_one_lane(row)),
            ratio(by_threads(row)),
            results.to_owned(),
        ]);
    }
    let mut text = table.markdown();
    let each = |of: &dyn Fn(&Row) -> Option<f64>| all.rows.iter().filter_map(of).collect::<Vec<f64>>();
    let summary = |of: &dyn Fn(&Row) -> Option<f64>| {
        let all = each(of);
        let middle = (!all.is_empty()).then(|| median(all.clone()));
        format!(
            "median {}, geometric mean {}",
            ratio(middle),
            ratio(geometric_mean(all.into_iter().map(Some)))
        )
    };
    let count = all.rows.len();
    let _ = writeln!(text, "\n* Groups of {local} work-items, one thread; {count} kernels.");
    if each(&times).is_empty() {
        text +=
            "* There is no OpenCL library to compare with (`libOpenCL.so.1` and a platform for the CPU).\n";
    } else {
        let slower = each(&at_best).into_iter().filter(|&t| t < 0.95).count();
        let _ = writeln!(text, "* Beside {}: {}.", all.library, summary(&times));
        let _ = writeln!(
            text,
            "* Each at its best group size of 32 to 1024: {}; below 0.95: {slower}.",
            summary(&at_best)
        );
    }
    let _ = writeln!(text, "* Over the same kernels made for one lane: {}.", summary(&over_one_lane));
    let _ = writeln!(text, "* Two threads over one: {}.", summary(&by_threads));
    let _ = writeln!(text, "* Compiling took {:.2} s for a kernel.", all.seconds / count.max(1) as f64);
    text
}
