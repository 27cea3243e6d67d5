//! Looking inside: passes printed, counted, left out, and run by name.

mod common;

use std::process::Output;

use common::*;

fn vectorize(options: &[&str]) -> Output {
    let kernel = root().join("examples/mandelbrot.rs");
    let mut all = vec!["vectorize", kernel.to_str().expect("a path"), "--width", "4", "-o", "-"];
    all.extend(options);
    warpline(&all)
}

#[test]
fn functions_are_printed_before_and_after_passes() {
    let told = stderr(&vectorize(&["--print-before", "linearize", "--print-after", "simplify-masks,lower"]));
    let at = |text: &str| told.find(text).unwrap_or_else(|| panic!("{text} in {told}"));
    assert!(at("; before linearize (mandelbrot):") < at("; after simplify-masks (mandelbrot):"));
    assert!(at("; after simplify-masks (mandelbrot):") < at("; after lower (mandelbrot"));
    assert!(!told.contains("; after linearize"), "{told}");
    let all = stderr(&vectorize(&["--print-after", "all"]));
    assert!(all.contains("; after canonicalize") && all.contains("; after widen-indices"), "{all}");
}

#[test]
fn passes_that_are_left_out_are_counted_and_code_stays_right() {
    let told = stderr(&vectorize(&["--disable-pass", "interleave-private", "--stats"]));
    let line = told.lines().find(|l| l.ends_with(" interleave-private")).expect("a line for each pass");
    let numbers: Vec<u64> = line.split_whitespace().filter_map(|w| w.parse().ok()).collect();
    assert!(matches!(numbers[..], [0, 0, skipped] if skipped > 0), "{line}");
    let kernel = root().join("examples/mandelbrot.rs");
    let run = warpline(&["run", kernel.to_str().expect("a path"), "--disable-pass", "all", "--verify-each"]);
    assert!(ok(&run).contains("0 mismatches"));
}

#[test]
fn a_limit_says_which_passes_run() {
    let told = stderr(&vectorize(&["--opt-bisect-limit", "2"]));
    let lines: Vec<&str> = told.lines().filter(|l| l.starts_with("BISECT")).collect();
    assert_eq!(lines[0], "BISECT: running pass (1) select-by-signs on mandelbrot");
    assert_eq!(lines[2], "BISECT: not running pass (3) if-convert-arms on mandelbrot");
}

#[test]
fn times_are_told_of_passes_and_analyses() {
    let told = stderr(&vectorize(&["--time-passes"]));
    for name in ["linearize", "lower", "uniformity", "in all"] {
        assert!(told.lines().any(|l| l.ends_with(&format!(" {name}"))), "{name} in {told}");
    }
}

/// Each function is analysed once, until a pass changes it, and the forms with and without a mask are made as one:
/// once for the choice of the width, once for code. Here it is analysed for its indices of 32 bits, and again in its
/// canonical form.
#[test]
fn a_kernel_is_linearized_once_for_both_forms() {
    let told = stderr(&vectorize(&["--stats"]));
    let runs = |name: &str| -> u64 {
        let line = told.lines().find(|l| l.ends_with(&format!(" {name}"))).expect("a line");
        line.split_whitespace().next().and_then(|n| n.parse().ok()).expect("a number")
    };
    assert_eq!([runs("linearize"), runs("uniformity"), runs("lower")], [2, 4, 2], "{told}");
}

#[test]
fn names_that_are_none_and_passes_that_code_needs_are_refused() {
    let unknown = vectorize(&["--print-after", "linearise"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("there is no pass `linearise`; did you mean `linearize`?"));
    let needed = vectorize(&["--disable-pass", "lower"]);
    assert_eq!(needed.status.code(), Some(2));
    assert!(stderr(&needed).contains("pass `lower` cannot be left out"));
}

#[test]
fn opt_runs_passes_on_text() {
    let file = root().join("filetests/passes/linearize.wl");
    let file = file.to_str().expect("a path");
    let linearized = ok(&warpline(&["opt", file, "-p", "@simplify-masks"]));
    assert!(linearized.contains("blend"), "{linearized}");
    let same = ok(&warpline(&["opt", file]));
    assert!(same.contains("br %is, negative, join(%x)"), "{same}");
    let uniform = ok(&warpline(&["opt", file, "-p", "@canonicalize", "--args", "x=uniform"]));
    assert!(uniform.contains("br %is, negative, join(%x)"), "{uniform}");
}

#[test]
fn opt_says_which_pass_is_missing_and_what_it_cannot_read() {
    let file = root().join("filetests/passes/order.wl");
    let file = file.to_str().expect("a path");
    let early = warpline(&["opt", file, "-p", "linearize"]);
    assert_eq!(early.status.code(), Some(2));
    assert!(stderr(&early).contains("run `canonicalize` before it"), "{}", stderr(&early));
    assert_eq!(warpline(&["opt", file, "-p", "nonsense"]).status.code(), Some(2));
    assert_eq!(warpline(&["opt", "no-such-file.wl", "-p", "linearize"]).status.code(), Some(2));
    let list = ok(&warpline(&["opt", "--list"]));
    assert!(
        list.lines().any(|l| l.starts_with("linearize") && l.contains("canonical -> linearized")),
        "{list}"
    );
}

#[test]
fn a_kernel_is_analysed_a_few_times_and_linearized_once_for_each_candidate() {
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("k.o");
    // How often a candidate is linearized, and how often uniformity is computed: rounds over private memory included.
    for (file, function, most) in [("kernels/rt.rs", "rays", 6), ("examples/mandelbrot.rs", "mandelbrot", 2)]
    {
        let arguments = ["vectorize", file, "--function", function, "--time-passes", "-q", "-o"];
        let output = warpline(&[&arguments[..], &[object.to_str().unwrap()]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let times = stderr(&output);
        let runs = |name: &str| -> usize {
            let line = times.lines().find(|line| line.split_whitespace().last() == Some(name)).unwrap();
            line.split_whitespace().nth(2).unwrap().parse().unwrap()
        };
        // One candidate for the width, one that is lowered, with its masked variant, and one where what is left over of
        // a range goes in smaller groups.
        let candidates = runs("linearize");
        assert!((2..=3).contains(&candidates), "{times}");
        assert!(runs("uniformity") <= most * candidates, "{file}: {times}");
    }
}
