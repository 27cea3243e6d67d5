//! LLVM IR and bitcode that are nearly right. LLVM may end its process on such input, which is why a worker reads it;
//! what a worker has accepted must go through import, analysis and vectorization without a panic, a hang or an
//! internal error, and what is made of it must be valid.
//!
//! The work is done in a child process, which notes in a file what it is about to do. `WARPLINE_PROGRAMS` is the
//! number of modules of each kind, `WARPLINE_SEED` the first seed.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use warpline_ir::FuncId;
use warpline_llvm::worker::{CodegenOptions, LoadOptions, Output, codegen_in_process, load_in_process};
use warpline_llvm::{Cpu, Imported, Linkage, Llvm, Module};
use warpline_testkit::mutate::{self, setting};
use warpline_testkit::rng::SplitMix64;
use warpline_uniformity::report::{FunctionReport, Report};
use warpline_uniformity::shape::ArgShape;
use warpline_uniformity::{Explainer, Options as UniformityOptions, Uniformity, tokens};
use warpline_vectorize::{Options, vectorize};

/// Tells a child its seeds, `first..end`, and whether modules are text or bitcode.
const CHILD: &str = "WARPLINE_MUTATION_CHILD";
/// Tells a child where it notes what it does.
const LOG: &str = "WARPLINE_MUTATION_LOG";
/// How long one step may take on a busy machine, and how much a child may allocate, in KiB.
const PATIENCE: Duration = Duration::from_secs(60);
const MEMORY: &str = "6000000";

const WORDS: [&str; 44] = [
    "i1",
    "i7",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "i129",
    "i256",
    "float",
    "double",
    "half",
    "x86_fp80",
    "fp128",
    "bfloat",
    "ptr",
    "void",
    "add",
    "sub",
    "mul",
    "udiv",
    "srem",
    "shl",
    "ashr",
    "fadd",
    "frem",
    "zext",
    "trunc",
    "bitcast",
    "icmp",
    "eq",
    "ult",
    "sgt",
    "undef",
    "poison",
    "null",
    "zeroinitializer",
    "nuw",
    "volatile",
    "noreturn",
    "external",
    "linkonce_odr",
    "musttail",
    "invoke",
];

/// Modules to change: the inputs of the support table, which have one construct each.
fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests/support");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| path.extension().is_some_and(|e| e == "ll"));
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// What a worker does with an input, noted as `read`, and what the program does with what it got. The outcome in a
/// word.
fn one(path: &Path, note: &mut dyn FnMut(&str)) -> String {
    note("read");
    let simplify = LoadOptions { simplify: Some(true), ..LoadOptions::default() };
    let loaded = match load_in_process(path, &simplify) {
        Ok(loaded) => loaded,
        Err(error) => {
            assert!(error.to_string().contains("mutant"), "the input is not named: {error}");
            return "refused".to_owned();
        }
    };
    note("work");
    let mut imported = Imported::new(Module::parse(&loaded.bitcode, "mutant").unwrap());
    let mut report = Report::default();
    let functions: Vec<FuncId> = imported.ir.functions.keys().take(4).collect();
    for &id in &functions {
        let (ir, func) = (&imported.ir, &imported.ir.functions[id]);
        let result = Uniformity::compute(ir, func, &UniformityOptions::default());
        if tokens::check(ir, func, result.cycles()).is_err() {
            continue;
        }
        report.functions.push(FunctionReport::new(ir, func, &result));
        let explainer = Explainer::new(ir, func, &result);
        func.values.keys().take(20).for_each(|v| drop(explainer.value(v)));
        func.layout.iter().take(20).for_each(|&b| drop(explainer.branch(b)));
        imported.print_uniformity(id, &result);
    }
    report.text();
    let bodies = imported.final_bodies(256);
    let mut outcome = "analysed".to_owned();
    for id in functions {
        let func = &imported.ir.functions[id];
        let name = format!("{}.x4", func.name);
        let is_number = |&p: &_| func.ty(p).int_bits().is_some();
        let args = func.params.iter().map(|p| if is_number(p) { ArgShape::Index } else { ArgShape::Uniform });
        let mut options = Options::new(4, args.collect(), name);
        // What is not known of callees must not matter either.
        if options.args.len().is_multiple_of(2) {
            options.callees = &bodies;
        }
        let made = match vectorize(&mut imported.ir, id, &options) {
            Ok(made) => made,
            Err(error) => {
                assert!(!error.is_internal(), "{error}");
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        for new in made.functions() {
            let Imported { ir, bridge, .. } = &mut imported;
            if let Err(error) = bridge.add_function(ir, &ir.functions[new], Linkage::External) {
                return format!(
                    "{outcome}, not exported: {}",
                    error.to_string().split(':').next_back().unwrap_or_default()
                );
            }
        }
        outcome = "vectorized".to_owned();
    }
    imported.bridge.module().verify().unwrap();
    if outcome == "vectorized" {
        let bitcode = imported.bridge.module().to_bitcode();
        note("code");
        let options = CodegenOptions {
            passes: String::new(),
            ..CodegenOptions::new(Cpu::native().unwrap(), Output::Object)
        };
        if let Err(error) = codegen_in_process(&bitcode, "mutant", &options) {
            assert!(!matches!(error, warpline_llvm::Error::Internal { .. }), "{error}");
        }
    }
    outcome
}

/// The module of a seed.
fn mutant(kind: &str, seed: u64, corpus: &[String]) -> Vec<u8> {
    let mut rng = SplitMix64::new(seed);
    let source = rng.pick(corpus).clone();
    match kind {
        "ll" => mutate::text(&mut rng, &source, &WORDS),
        _ => mutate::binary(&mut rng, &Module::parse(source.as_bytes(), "k").unwrap().to_bitcode()),
    }
}

#[test]
fn child() {
    let Ok(asked) = std::env::var(CHILD) else { return };
    let (kind, seeds) = asked.split_once(' ').unwrap();
    let (first, end) = seeds.split_once("..").unwrap();
    let mut log = std::fs::OpenOptions::new().append(true).open(std::env::var_os(LOG).unwrap()).unwrap();
    let corpus = corpus();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("mutant.{kind}"));
    for seed in first.parse::<u64>().unwrap()..end.parse().unwrap() {
        std::fs::write(&path, mutant(kind, seed, &corpus)).unwrap();
        let mut note = |step: &str| writeln!(log, "{seed} {step}").unwrap();
        let outcome = one(&path, &mut note);
        note(&format!("done {outcome}"));
    }
}

/// Has children do the work on modules of a kind, the next one where one dies; how often each outcome occurred.
fn all(kind: &str, count: u64) -> BTreeMap<String, u64> {
    let first = setting("WARPLINE_SEED", 0);
    let end = first + setting("WARPLINE_PROGRAMS", count);
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut tally = BTreeMap::new();
    let mut next = first;
    while next < end {
        std::fs::write(log.path(), "").unwrap();
        let mut process = Command::new("sh")
            .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" --exact child --nocapture")])
            .arg(std::env::current_exe().unwrap())
            .env(CHILD, format!("{kind} {next}..{end}"))
            .env(LOG, log.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut known, mut since) = (0, Instant::now());
        let status = loop {
            if let Some(status) = process.try_wait().unwrap() {
                break Some(status);
            }
            let length = std::fs::metadata(log.path()).unwrap().len();
            if length != known {
                (known, since) = (length, Instant::now());
            } else if since.elapsed() > PATIENCE {
                process.kill().unwrap();
                process.wait().unwrap();
                break None;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let text = std::fs::read_to_string(log.path()).unwrap();
        for line in text.lines() {
            if let Some((_, outcome)) = line.split_once(" done ") {
                *tally.entry(outcome.to_owned()).or_default() += 1;
            }
        }
        let last = text.lines().last().unwrap_or_default();
        let (seed, step) = last.split_once(' ').unwrap_or_default();
        if status.is_some_and(|status| status.success()) {
            break;
        }
        let took = if status.is_none() { "takes too long" } else { "died" };
        // LLVM on its own may end its process, and is killed by a worker's parent if it takes too long.
        let shown = || match kind {
            "ll" => String::from_utf8_lossy(&mutant(kind, seed.parse().unwrap_or(0), &corpus())).into_owned(),
            _ => String::new(),
        };
        assert!(step == "read" || step == "code", "{kind}, seed {seed}: {took} at `{step}`\n{}", shown());
        *tally.entry(format!("LLVM {took} ({step})")).or_default() += 1;
        next = seed.parse::<u64>().unwrap() + 1;
    }
    println!("{kind}: {tally:?}");
    tally
}

#[test]
fn text_that_is_nearly_right_is_refused_or_works() {
    if Llvm::get().is_err() {
        return eprintln!("skipped: there is no LLVM");
    }
    let tally = all("ll", 2000);
    let vectorized = tally.get("vectorized").copied().unwrap_or_default();
    assert!(vectorized * 20 > tally.values().sum(), "too few are right: {tally:?}");
}

#[test]
fn bitcode_that_is_nearly_right_is_refused_or_works() {
    if Llvm::get().is_err() {
        return eprintln!("skipped: there is no LLVM");
    }
    let tally = all("bc", 2000);
    assert!(tally.len() > 1, "{tally:?}");
}
