//! `warpline-bench groups`: kernels that run over work-groups, beside an OpenCL library on one thread.
//!
//! The kernels of a file are made by this program as `warpline`, and a host program in C is compiled that calls their
//! drivers, and opens `libOpenCL` when it runs, if there is one. The library's time is what its event says from start
//! to end, without what it takes to enqueue. pocl is the library meant; `POCL_MAX_PTHREAD_COUNT` keeps it to one thread.

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
    /// Milliseconds.
    ours: f64,
    theirs: Option<f64>,
    equal: bool,
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
    let mut make = as_warpline();
    make.arg("vectorize").arg(source).arg("-o").arg(at("made.o")).arg("--header").arg(at("kernels.h"));
    make.arg("-q");
    let made = run(&mut make, SECONDS.0);
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
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut compile = Command::new(compiler);
    compile
        .current_dir(folder.path())
        .args(["-O2", "-w", "-I.", "host.c", "made.o", "-o", "host", "-lm", "-ldl"]);
    let compiled = run(&mut compile, SECONDS.0);
    if compiled.code != Some(0) {
        return Err(failed("the host program cannot be compiled", &compiled.stderr));
    }
    let mut host = Command::new(at("host"));
    host.arg(source).arg(options.local.to_string()).arg(options.least.to_string());
    host.env("POCL_MAX_PTHREAD_COUNT", "1").env("POCL_AFFINITY", "1");
    let ran = run(&mut host, SECONDS.1);
    if ran.code != Some(0) {
        return Err(failed("the host program failed", &format!("{:?} {}", ran.code, ran.stderr)));
    }
    Ok(ran.stdout.lines().filter_map(row).collect())
}

fn row(line: &str) -> Option<Row> {
    let mut words = line.split(' ');
    let name = words.next()?.to_owned();
    let [items, ours, theirs, equal] = [(); 4].map(|()| words.next().and_then(|w| w.parse::<f64>().ok()));
    let theirs = theirs.filter(|&t| t > 0.0);
    Some(Row { name, items: items? as u64, ours: ours?, theirs, equal: equal? > 0.0 })
}

/// The table, and what sums it up.
fn text(rows: &[Row], local: u64) -> String {
    let mut table = Table::new(
        1,
        &["Kernel", "Work-items", "warpline, ms", "OpenCL library, ms", "times as fast", "results"],
    );
    let times = |row: &Row| row.theirs.and_then(|theirs| quotient(theirs, row.ours));
    for row in rows {
        let results = match row.theirs {
            None => "–",
            Some(_) if row.equal => "equal",
            Some(_) => "differ",
        };
        table.row(vec![
            row.name.clone(),
            row.items.to_string(),
            format!("{:.2}", row.ours),
            row.theirs.map_or("–".to_owned(), |t| format!("{t:.2}")),
            ratio(times(row)),
            results.to_owned(),
        ]);
    }
    let mut text = table.markdown();
    let all: Vec<f64> = rows.iter().filter_map(times).collect();
    if all.is_empty() {
        text +=
            "\nThere is no OpenCL library to compare with (`libOpenCL.so.1` and a platform for the CPU).\n";
        return text;
    }
    let mean = geometric_mean(all.iter().map(|&t| Some(t)));
    let _ = writeln!(
        text,
        "\nGroups of {local} work-items, one thread; {} kernels: median {}, geometric mean {}.",
        all.len(),
        ratio(Some(median(all.clone()))),
        ratio(mean)
    );
    text
}
