//! `warpline-bench groups`: kernels that run over work-groups, beside an OpenCL library on one thread.
//!
//! The kernels of a file are made by this program as `warpline`, and a host program in C is compiled that calls their
//! drivers, and opens `libOpenCL` when it runs, if there is one. The library's time is what its event says from start
//! to end, without what it takes to enqueue. pocl is the library meant; `POCL_MAX_PTHREAD_COUNT` keeps it to one thread.
//! The scalar program is the same with one lane, after LLVM's O3, its own vectorizers included.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Instant;

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

/// Kernels whose results OpenCL leaves open: some of their work-items return before a barrier.
const OPEN: [&str; 1] = ["early_return"];

/// What was measured of a kernel.
struct Row {
    name: String,
    items: u64,
    /// How many runs are measured together, to take long enough.
    runs: u64,
    /// Milliseconds of a run.
    ours: f64,
    scalar: Option<f64>,
    theirs: Option<f64>,
    /// Each at the group size that suits it best.
    best: Option<(f64, f64)>,
    /// On two threads.
    two: f64,
    equal: bool,
    /// What it took to make it by itself.
    seconds: f64,
}

/// Runs the command.
///
/// # Errors
/// If there is no C compiler, or the kernels cannot be made.
pub(crate) fn groups(options: &BenchGroupsOptions) -> Result<Outcome> {
    output::check(options.output.as_deref(), &[])?;
    let mut rows = Vec::new();
    for source in &options.sources {
        rows.extend(measure(source, options)?);
    }
    output::deliver(options.output.as_deref(), &text(&rows, options.local))?;
    Ok(Outcome::Clean)
}

/// Measures the kernels of a file.
fn measure(source: &std::path::Path, options: &BenchGroupsOptions) -> Result<Vec<Row>> {
    let failed = |what: &str, why: &str| Error::Internal(format!("{}: {what}: {why}", source.display()));
    let text = std::fs::read_to_string(source).map_err(|e| Error::input(source, e.to_string()))?;
    let folder = tempfile::tempdir().map_err(|e| failed("no temporary folder", &e.to_string()))?;
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| {
        std::fs::write(at(name), text).map_err(|e| failed("a file cannot be written", &e.to_string()))
    };
    let names: Vec<&str> =
        text.split("kernel void ").skip(1).filter_map(|rest| rest.split('(').next()).collect();
    write("scalar.cl", &with_other_names(&text, &names))?;
    let scalar = at("scalar.cl");
    for (source, object, header, more) in [
        (source, "made.o", "kernels.h", &[][..]),
        (scalar.as_path(), "scalar.o", "scalar.h", &["--width", "1"][..]),
    ] {
        let mut make = as_warpline();
        make.arg("vectorize").arg(source).arg("-o").arg(at(object)).arg("--header").arg(at(header));
        let made = run(make.arg("-q").args(more), SECONDS.0);
        if !at(object).exists() {
            return Err(failed("no kernel was made", &made.stderr));
        }
    }
    let header = std::fs::read_to_string(at("kernels.h")).unwrap_or_default();
    let is_made = |name: &&str| header.contains(&format!("{name}_workspace("));
    let list: String =
        names.iter().copied().filter(is_made).map(|name| format!("KERNEL({name})\n")).collect();
    write("list.h", &list)?;
    write("host.c", HOST)?;
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut compile = Command::new(compiler);
    compile
        .current_dir(folder.path())
        .args(["-O2", "-w", "-I.", "host.c", "made.o", "scalar.o", "-o", "host", "-lm", "-ldl", "-pthread"]);
    let compiled = run(&mut compile, SECONDS.0);
    if compiled.code != Some(0) {
        return Err(failed("the host program cannot be compiled", &compiled.stderr));
    }
    let seconds = |name: &str| {
        let mut make = as_warpline();
        make.arg("vectorize").arg(source).args(["-q", "--function", name, "-o"]).arg(at("one.o"));
        let begin = Instant::now();
        run(&mut make, SECONDS.0);
        begin.elapsed().as_secs_f64()
    };
    let mut host = Command::new(at("host"));
    host.arg(source).arg(options.local.to_string()).arg(options.least.to_string());
    host.env("POCL_MAX_PTHREAD_COUNT", "1").env("POCL_AFFINITY", "1");
    let ran = run(&mut host, SECONDS.1);
    if ran.code != Some(0) {
        return Err(failed("the host program failed", &format!("{:?} {}", ran.code, ran.stderr)));
    }
    Ok(ran.stdout.lines().filter_map(|line| row(line, seconds)).collect())
}

fn row(line: &str, seconds: impl Fn(&str) -> f64) -> Option<Row> {
    let (name, numbers) = line.split_once(' ')?;
    let numbers: Vec<f64> = numbers.split(' ').filter_map(|word| word.parse().ok()).collect();
    let &[items, runs, ours, scalar, theirs, best, their_best, two, equal] = &numbers[..] else {
        return None;
    };
    let [scalar, theirs, best, their_best] =
        [scalar, theirs, best, their_best].map(|time| Some(time).filter(|&t| t > 0.0));
    Some(Row {
        name: name.to_owned(),
        items: items as u64,
        runs: runs as u64,
        ours,
        scalar,
        theirs,
        best: best.zip(their_best),
        two,
        equal: equal > 0.0,
        seconds: seconds(name),
    })
}

/// A source whose kernels have names that begin with `scalar_`.
fn with_other_names(text: &str, names: &[&str]) -> String {
    let is_in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.find(|c| !is_in_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(word);
        if names.contains(&word) {
            out.push_str("scalar_");
        }
        out.push_str(word);
        let next = after.find(is_in_word).unwrap_or(after.len());
        out.push_str(&after[..next]);
        rest = &after[next..];
    }
    out
}

/// The table, and what sums it up.
fn text(rows: &[Row], local: u64) -> String {
    let mut table = Table::new(
        1,
        &[
            "Kernel",
            "Work-items",
            "runs",
            "warpline, ms",
            "over scalar",
            "over the OpenCL library",
            "best group sizes",
            "two threads",
            "results",
            "compiled, s",
        ],
    );
    let times = |row: &Row, other: Option<f64>| other.and_then(|other| quotient(other, row.ours));
    let of_best = |row: &Row| row.best.and_then(|(ours, theirs)| quotient(theirs, ours));
    for row in rows {
        let results = match row.theirs {
            None => "–",
            Some(_) if row.equal => "equal",
            Some(_) if OPEN.contains(&&*row.name) => "left open",
            Some(_) => "differ",
        };
        table.row(vec![
            row.name.clone(),
            row.items.to_string(),
            row.runs.to_string(),
            format!("{:.2}", row.ours),
            ratio(times(row, row.scalar)),
            ratio(times(row, row.theirs)),
            ratio(of_best(row)),
            ratio(quotient(row.ours, row.two)),
            results.to_owned(),
            format!("{:.2}", row.seconds),
        ]);
    }
    let mut text = table.markdown();
    let over = |other: fn(&Row) -> Option<f64>| -> Vec<f64> {
        rows.iter().filter_map(|row| times(row, other(row))).collect()
    };
    let mean = |all: &[f64]| ratio(geometric_mean(all.iter().map(|&t| Some(t))));
    let _ = writeln!(
        text,
        "\nGroups of {local} work-items, one thread. Over the scalar program: geometric mean {}. Two threads over one: \
         geometric mean {}. Compile time: {:.2} s at most.",
        mean(&over(|row| row.scalar)),
        mean(&rows.iter().filter_map(|row| quotient(row.ours, row.two)).collect::<Vec<_>>()),
        rows.iter().map(|row| row.seconds).fold(0.0, f64::max)
    );
    let (all, best) = (over(|row| row.theirs), rows.iter().filter_map(of_best).collect::<Vec<_>>());
    if all.is_empty() {
        text +=
            "\nThere is no OpenCL library to compare with (`libOpenCL.so.1` and a platform for the CPU).\n";
        return text;
    }
    let least = best.iter().copied().reduce(f64::min);
    let _ = writeln!(
        text,
        "Over the OpenCL library, {} kernels: median {}, geometric mean {}; at the best group size of each: geometric mean \
         {}, the least {}.",
        all.len(),
        ratio(Some(median(all.clone()))),
        mean(&all),
        mean(&best),
        ratio(least)
    );
    text
}
