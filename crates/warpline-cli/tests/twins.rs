//! The benchmark's kernels in C and in Rust are the same programs: as much of them diverges.

mod common;

use common::{ok, warpline};
use serde_json::Value;

/// What is counted of a function.
#[derive(PartialEq, Debug)]
struct Counts {
    name: String,
    divergent_branches: usize,
    divergent_loops: usize,
}

/// The counts of the functions of a file, by their names.
fn counts(path: &str) -> Vec<Counts> {
    let path = format!("{}/../../kernels/{path}", env!("CARGO_MANIFEST_DIR"));
    let report: Value =
        serde_json::from_str(&ok(&warpline(&["analyze", &path, "--format", "json"]))).expect("JSON");
    let functions = report["functions"].as_array().expect("functions");
    let length = |value: &Value| value.as_array().expect("an array").len();
    let divergent_loops = |cycles: &Value| {
        let cycles = cycles.as_array().expect("an array");
        cycles.iter().filter(|cycle| cycle["divergent_exit"] == true).count()
    };
    let mut counts: Vec<Counts> = functions
        .iter()
        .map(|function| Counts {
            name: function["name"].as_str().expect("a name").to_owned(),
            divergent_branches: length(&function["divergent"]["branches"]),
            divergent_loops: divergent_loops(&function["cycles"]),
        })
        .collect();
    counts.sort_by(|a, b| a.name.cmp(&b.name));
    counts
}

#[test]
fn kernels_in_c_diverge_where_those_in_rust_do() {
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    const KERNELS: [&str; 19] = [
        "ao",
        "bh",
        "binomial",
        "black_scholes",
        "bt",
        "bt_gather",
        "km",
        "mandelbrot",
        "nab_1",
        "nab_2",
        "nab_3",
        "nn",
        "noise",
        "pc",
        "rt",
        "stencil",
        "volume",
        "vp",
        "xs",
    ];
    for name in KERNELS {
        assert_eq!(counts(&format!("{name}.c")), counts(&format!("{name}.rs")), "{name}");
    }
}
