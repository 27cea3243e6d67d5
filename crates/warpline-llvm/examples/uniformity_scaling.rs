//! How the time and memory of the uniformity analysis grow with the program, and how they compare with LLVM's own
//! analysis.
//!
//! ```text
//! cargo run --release -p warpline-llvm --example uniformity_scaling -- [--largest N] [--shape NAME]… [--driver PROGRAM]
//! ```
//!
//! Prints a table in Markdown: for nine shapes and sizes from 50 to `--largest` (50,000) the number of instructions,
//! the median times of the engine (depth-first order, cycles, joins, fixed point) and of the whole (from the IR, with
//! shapes), the peak of the memory that the analysis allocates, and the exponents fitted to instructions^x over all
//! sizes.
//!
//! `--driver` names a program that times libLLVM's own analysis, called as
//! `PROGRAM FILE --mtriple T --iters N --json`, and printing `{"functions":[{"cycles_ns","uniformity_ns"}]}`. It is
//! run on the same file, between two series of ours, and given up after two minutes. LLVM's time is that of its
//! cycles and its uniformity, without the dominators that both need.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use warpline_llvm::{Imported, Module};
use warpline_testkit::scaling_ll;
use warpline_uniformity::shape::ArgShape;
use warpline_uniformity::{Options, Target, Uniformity};

mod peak;

const LLVM_LIMIT: Duration = Duration::from_secs(120);

fn main() {
    let (mut largest, mut shapes, mut driver) = (50_000, Vec::new(), None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_else(|| usage(&format!("{arg} needs a value")));
        match arg.as_str() {
            "--largest" => {
                largest = value().parse().unwrap_or_else(|_| usage("--largest needs a number"));
            }
            "--shape" => shapes.push(value()),
            "--driver" => driver = Some(value()),
            _ => usage(&format!("unknown option {arg}")),
        }
    }
    if shapes.is_empty() {
        shapes = scaling_ll::SHAPES.map(str::to_owned).to_vec();
    }
    println!(
        "| shape | N | instructions | engine ms | whole ms | peak MB | LLVM ms | LLVM / engine | LLVM / whole |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut fits = Vec::new();
    for shape in &shapes {
        let mut points = Vec::new();
        let mut gave_up = false;
        for n in [50, 500, 5_000, 50_000].into_iter().filter(|&n| n <= largest) {
            let text = scaling_ll::module(shape, n).unwrap_or_else(|| usage(&format!("no shape {shape}")));
            let driver = driver.as_deref().filter(|_| !gave_up);
            let point = measure(&text, shape, n, driver);
            gave_up |= driver.is_some() && point.llvm.is_none();
            points.push(point);
        }
        fits.push((shape, fit(&points, |p| p.engine), fit(&points, |p| p.whole), fit(&points, |p| p.peak)));
    }
    println!("\n| shape | engine time | whole time | memory |\n|---|--:|--:|--:|");
    for (shape, engine, whole, peak) in fits {
        println!("| {shape} | {engine:.2} | {whole:.2} | {peak:.2} |");
    }
}

fn usage(message: &str) -> ! {
    eprintln!("{message}\nusage: uniformity_scaling [--largest N] [--shape NAME]… [--driver PROGRAM]");
    std::process::exit(2);
}

/// What was measured of one function.
struct Point {
    instructions: f64,
    /// Seconds.
    engine: f64,
    whole: f64,
    llvm: Option<f64>,
    /// Bytes.
    peak: f64,
}

fn measure(text: &str, shape: &str, n: usize, driver: Option<&str>) -> Point {
    let module = Module::parse(text.as_bytes(), shape).unwrap_or_else(|e| usage(&e.to_string()));
    let imported = Imported::new(module);
    let Some(func) = imported.ir.functions.values().find(|f| !f.layout.is_empty()) else {
        usage("no function")
    };
    let args = vec![ArgShape::Uniform; func.params.len()];
    let options = Options { args, target: Target::Amdgcn, ..Options::default() };
    let (mut engine, mut whole) = (Vec::new(), Vec::new());
    let mut series = || {
        let start = Instant::now();
        while engine.len() % 50 < 3 || start.elapsed() < Duration::from_millis(300) {
            let (_, times) = Uniformity::compute_timed_as_a_whole(&imported.ir, func, &options);
            engine.push(times.engine.full.as_secs_f64());
            whole.push(times.full.as_secs_f64());
            if engine.len() >= 400 || engine.len() >= 3 && start.elapsed() > Duration::from_secs(5) {
                break;
            }
        }
    };
    series();
    let llvm = driver.and_then(|driver| time_llvm(driver, text));
    series();
    let (peak, _) = peak::peak_of(|| Uniformity::compute(&imported.ir, func, &options));
    let point = Point {
        instructions: func.inst_count() as f64,
        engine: median(&mut engine),
        whole: median(&mut whole),
        llvm,
        peak: peak as f64,
    };
    let ratio = |time: f64| point.llvm.map_or("–".to_owned(), |l| format!("{:.1}", l / time));
    println!(
        "| {shape} | {n} | {} | {:.3} | {:.3} | {:.2} | {} | {} | {} |",
        point.instructions,
        point.engine * 1e3,
        point.whole * 1e3,
        point.peak / 1e6,
        point.llvm.map_or("–".to_owned(), |l| format!("{:.3}", l * 1e3)),
        ratio(point.engine),
        ratio(point.whole)
    );
    point
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The time that LLVM takes for cycles and uniformity, in seconds.
fn time_llvm(driver: &str, text: &str) -> Option<f64> {
    let folder = tempfile::tempdir().ok()?;
    let file = folder.path().join("input.ll");
    std::fs::write(&file, text).ok()?;
    let iterations = if text.len() < 200_000 { "101" } else { "5" };
    let mut child = Command::new(driver)
        .arg(&file)
        .args(["--mtriple", "amdgcn-amd-amdhsa", "--json", "--iters", iterations])
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let start = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if start.elapsed() > LLVM_LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().ok()?;
    let answer = String::from_utf8_lossy(&output.stdout).into_owned();
    let field = |name: &str| -> Option<f64> {
        let at = answer.find(&format!("\"{name}\":"))? + name.len() + 3;
        let digits: String = answer[at..].trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    Some((field("cycles_ns")? + field("uniformity_ns")?) / 1e9)
}

/// The exponent x of the power of the number of instructions that fits best, by least squares on logarithms.
fn fit(points: &[Point], what: impl Fn(&Point) -> f64) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|p| (p.instructions.ln(), what(p).ln())).collect();
    let count = logs.len() as f64;
    let (mean_x, mean_y) =
        (logs.iter().map(|l| l.0).sum::<f64>() / count, logs.iter().map(|l| l.1).sum::<f64>() / count);
    let slope: f64 = logs.iter().map(|l| (l.0 - mean_x) * (l.1 - mean_y)).sum();
    slope / logs.iter().map(|l| (l.0 - mean_x).powi(2)).sum::<f64>()
}
