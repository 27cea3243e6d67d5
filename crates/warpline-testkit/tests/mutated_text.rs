//! Modules in text form that are nearly right: they are read, verified, analysed and vectorized, or refused with a
//! reason. Nothing panics, takes long, or is found to be broken by a later stage.
//!
//! `WARPLINE_PROGRAMS` is the number of modules, `WARPLINE_SEED` the first seed.

use std::time::{Duration, Instant};

use warpline_ir::text::{parse_module, print_module};
use warpline_ir::verify::verify_module;
use warpline_testkit::mutate::{self, setting};
use warpline_testkit::rng::SplitMix64;
use warpline_uniformity::report::FunctionReport;
use warpline_uniformity::shape::ArgShape;
use warpline_uniformity::{Options as UniformityOptions, Uniformity};
use warpline_vectorize::{Options, vectorize};

const WORDS: [&str; 24] = [
    "i1", "i8", "i16", "i32", "i64", "i128", "i129", "i256", "f32", "f64", "ptr", "void", "add", "mul",
    "udiv", "shl", "phi", "br", "condbr", "load", "store", "call", "ret", "opaque",
];

/// Longer than any of these modules takes by far, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(20);

fn corpus() -> Vec<(String, String)> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests");
    let mut found = Vec::new();
    for folder in std::fs::read_dir(root).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|e| e == "wl") {
                let text = std::fs::read_to_string(&path).unwrap();
                if text.len() < 12_000 {
                    found.push((path.display().to_string(), text));
                }
            }
        }
    }
    found.sort();
    found
}

/// What became of a module.
#[derive(Default, Debug)]
struct Tally {
    not_read: u32,
    not_valid: u32,
    refused: u32,
    vectorized: u32,
}

fn one(text: &str, seed: u64, tally: &mut Tally) {
    let mut module = match parse_module(text) {
        Ok(module) => module,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            tally.not_read += 1;
            return;
        }
    };
    if let Err(errors) = verify_module(&module) {
        assert!(!errors.to_string().is_empty());
        tally.not_valid += 1;
        return;
    }
    // What is valid is written and read again.
    let printed = print_module(&module);
    parse_module(&printed)
        .unwrap_or_else(|e| panic!("seed {seed}: it cannot read what it wrote: {e}\n{printed}"));
    let functions: Vec<_> = module.functions.keys().take(3).collect();
    for id in functions {
        let func = module.functions[id].clone();
        let result = Uniformity::compute(&module, &func, &UniformityOptions::default());
        let _ = FunctionReport::new(&module, &func, &result);
        let mut shapes = [ArgShape::Varying, ArgShape::Uniform, ArgShape::Uniform].into_iter().cycle();
        let args = func
            .params
            .iter()
            .map(|&p| if func.ty(p).int_bits().is_some() { ArgShape::Index } else { shapes.next().unwrap() })
            .collect();
        match vectorize(&mut module, id, &Options::new(4, args, format!("{}.x4", func.name))) {
            Ok(_) => tally.vectorized += 1,
            Err(error) => {
                assert!(!error.is_internal(), "seed {seed}: {error}\n{text}");
                tally.refused += 1;
            }
        }
    }
}

/// `f` may be what its pointer leads to, and its forms have its types.
#[test]
fn calls_through_pointers_lead_to_no_forms() {
    let text =
        "func @f(%i: i32, %p: ptr) -> i32 {\nentry:\n  %r: i32 = call %p(%i, %p) [unknown]\n  ret %r\n}\n";
    let mut module = parse_module(text).unwrap();
    let id = module.functions.keys().next().unwrap();
    let made = vectorize(&mut module, id, &Options::new(4, vec![ArgShape::Index, ArgShape::Uniform], "f.x4"));
    assert!(made.is_ok_and(|made| made.callees.len() < 20));
}

#[test]
fn modules_that_are_nearly_right_are_refused_with_a_reason_or_work() {
    let (first, count) = (setting("WARPLINE_SEED", 0), setting("WARPLINE_PROGRAMS", 3000));
    let corpus = corpus();
    let mut tally = Tally::default();
    for seed in first..first + count {
        let mut rng = SplitMix64::new(seed);
        let (path, source) = rng.pick(&corpus).clone();
        let text = String::from_utf8_lossy(&mutate::text(&mut rng, &source, &WORDS)).into_owned();
        let start = Instant::now();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| one(&text, seed, &mut tally)));
        assert!(outcome.is_ok(), "seed {seed} ({path}):\n{text}");
        assert!(start.elapsed() < PATIENCE, "seed {seed} ({path}) took {:?}:\n{text}", start.elapsed());
    }
    println!("{tally:?}");
    assert!(u64::from(tally.vectorized) * 20 > count, "too few are right: {tally:?}");
}
