//! `warpline-bench`.

mod common;

use std::path::PathBuf;

use common::{bench, ok, root, stderr};

/// Under `if (uniform)`, behind a divergent early return, and behind a divergent loop: by strong post-dominators all
/// of it depends on the divergent branches.
const BEHIND_DIVERGENCE: &str = "define i32 @f(i32 %lane, i32 %n, i1 %u, ptr %p) {
entry:
  %early = icmp sgt i32 %lane, 100
  br i1 %early, label %out, label %go
go:
  br i1 %u, label %a, label %b
a:
  br label %join
b:
  br label %join
join:
  %x = phi i32 [ 1, %a ], [ 2, %b ]
  br label %loop
loop:
  %i = phi i32 [ 0, %join ], [ %next, %loop ]
  %next = add i32 %i, %x
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %out
out:
  %r = phi i32 [ 0, %entry ], [ %next, %loop ]
  ret i32 %r
}
";

#[test]
fn the_table_says_how_much_more_is_uniform_than_by_strong_post_dominators() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("behind.ll");
    let text =
        format!(";@ function f\n;@ args lane=varying,n=uniform,u=uniform,p=uniform\n{BEHIND_DIVERGENCE}");
    std::fs::write(&path, text).unwrap();
    let file = path.to_str().unwrap();
    let arguments = ["uniformity", file, "--runs", "3", "--format", "json"];
    let report: serde_json::Value = serde_json::from_str(&ok(&bench(&arguments))).unwrap();
    assert_eq!(report["runs"], 3);
    let suite = &report["suites"][0];
    assert_eq!((suite["name"].as_str(), suite["target"].as_str()), (Some("behind.ll"), Some("simd")));
    let uniform =
        |what: &str| ["joins", "postdom", "strong_postdom"].map(|a| suite[what][a].as_u64().unwrap());
    // Only the comparison, its branch, the φ at the end and the return are divergent.
    assert_eq!((uniform("instructions")[0], suite["instructions"]["total"].as_u64()), (9, Some(13)));
    assert_eq!(uniform("branches"), [2, 2, 1]);
    assert_eq!(uniform("loops"), [1, 1, 0]);
    assert!(uniform("instructions")[2] < 6, "{suite}");
    let times = &suite["functions"][0]["times"];
    for algorithm in ["joins", "postdom", "strong_postdom"] {
        let of = |part: &str| times[algorithm][part].as_f64().unwrap();
        assert!(of("control") > 0.0 && of("setup") > 0.0, "{times}");
        assert!(of("full") >= of("engine") && of("engine") >= of("control"), "{times}");
    }
    assert!(report["geometric_means"]["full_strong_postdom_to_joins"].as_f64().unwrap() > 0.0);

    let text = ok(&bench(&["uniformity", file, file, "--runs", "1", "--format", "table"]));
    let total = text.lines().find(|l| l.starts_with("total ")).unwrap();
    let cells: Vec<&str> = total.split_whitespace().collect();
    assert_eq!(cells[1..4], ["2", "26", "18"], "{text}");
    assert!(text.contains("nowhere is joins less precise than strong-postdom"), "{text}");
    assert!(text.lines().any(|l| l.starts_with("geometric mean")), "{text}");
}

#[test]
fn without_inputs_the_table_is_about_the_criteria_of_earlier_work() {
    let text = ok(&bench(&["uniformity"]));
    let line = |figure: &str, place: &str, criterion: &str| {
        let found = text.lines().find(|l| {
            l.starts_with(figure) && l.contains(place) && l.split("  ").any(|c| c.trim() == criterion)
        });
        found
            .unwrap_or_else(|| panic!("no line for {figure}, {place}, {criterion}:\n{text}"))
            .trim_end()
            .to_owned()
    };
    assert!(line("5a", "join J", "disjoint paths").ends_with("exact"));
    assert!(line("5b", "join D", "post-dominator").ends_with("unsound"));
    assert!(line("5d", "exit D", "thinned gated SSA").contains("b, c  "));
    let json = ok(&bench(&["uniformity", "--format", "json"]));
    let table: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(table["figure5"].as_array().unwrap().len(), 5 * 8);
}

#[test]
fn what_cannot_be_measured_is_said() {
    let output = bench(&["uniformity", "examples/mandelbrot.rs", "--runs", "0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("`0` is no number of runs"), "{}", stderr(&output));
    let output = bench(&["uniformity", "no such file.ll"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no such file.ll"), "{}", stderr(&output));
    let output = bench(&["speed"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("speed"), "{}", stderr(&output));
}

/// Instructions that are uniform by joins and by strong post-dominators, over all of the inputs.
fn uniform_instructions(inputs: &[PathBuf], target: &str) -> (u64, u64) {
    let mut arguments = vec!["uniformity", "--runs", "1", "--format", "json", "--target", target];
    arguments.extend(inputs.iter().filter_map(|i| i.to_str()));
    // Were joins less precise somewhere, the exit code would be 1.
    let report: serde_json::Value = serde_json::from_str(&ok(&bench(&arguments))).unwrap();
    let suites = report["suites"].as_array().unwrap();
    assert_eq!(suites.len(), inputs.len());
    let sum = |by: &str| suites.iter().map(|s| s["instructions"][by].as_u64().unwrap()).sum();
    (sum("joins"), sum("strong_postdom"))
}

fn files(folder: &str, suffix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == suffix)).collect();
    found.sort();
    found
}

#[test]
fn on_kernels_joins_are_nowhere_less_precise_than_strong_post_dominators_and_more_on_the_whole() {
    let (joins, strong) = uniform_instructions(&files("examples", "rs"), "simd");
    assert!(joins * 10 > strong * 11, "{joins} and {strong}");
    let corpus = files("../shared/corpus/opencl", "cl");
    if corpus.is_empty() {
        eprintln!("skipped: there is no corpus of OpenCL kernels in ../shared/corpus/opencl");
        return;
    }
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang for OpenCL");
        return;
    }
    let (joins, strong) = uniform_instructions(&corpus, "spirv");
    assert!(joins * 100 > strong * 105, "{joins} and {strong}");
}

#[test]
fn the_table_of_products_says_what_facts_make_uniform() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernels.ll");
    let text = "define i32 @f(i32 %lane, i32 %n) {
entry:
  %small = urem i32 %lane, 10
  %always = icmp ult i32 %small, 10
  br i1 %always, label %on, label %off
on:
  %same = icmp eq i32 %lane, %n
  br i1 %same, label %equal, label %off
equal:
  %next = add i32 %lane, 1
  ret i32 %next
off:
  ret i32 0
}
";
    let directives = ";@ function f\n;@ args lane=varying,n=uniform\n";
    std::fs::write(&path, format!("{directives}{text}")).unwrap();
    let file = path.to_str().unwrap();
    let rows: serde_json::Value =
        serde_json::from_str(&ok(&bench(&["products", file, "--format", "json"]))).unwrap();
    let (row, total) = (&rows[0], &rows[1]);
    assert_eq!((row["input"].as_str(), total["input"].as_str()), (Some("kernels"), Some("total")));
    for row in [row, total] {
        let divergent = |what: &str| {
            ["plain", "conditions", "constants", "ranges"].map(|s| row[s][what].as_u64().unwrap())
        };
        assert_eq!((row["functions"].as_u64(), row["improved"].as_u64()), (Some(1), Some(1)));
        assert_eq!(divergent("values"), [4, 3, 3, 2]);
        assert_eq!(divergent("branches"), [2, 2, 2, 1]);
    }
    let table = ok(&bench(&["products", file, "--format", "markdown"]));
    assert!(table.starts_with("| input | functions | improved | values | divergent |"), "{table}");
}

#[test]
fn growth_is_printed_shape_by_shape_with_exponents_and_stages() {
    let asked = ["linearize", "--shape", "diamonds", "--sizes", "40,160", "--runs", "1"];
    let text = ok(&bench(&asked));
    for part in ["diamonds  ", "ns/edge", "linearization", "Exponents of growth"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let json = ok(&bench(&[&asked[..], &["--format", "json"]].concat()));
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let of = |k: usize, field: &str| report["measurements"][k][field].as_f64().unwrap();
    assert!(of(0, "blocks") < of(1, "blocks") && of(0, "operands") < of(1, "operands"));
    // Four times as many diamonds have four times as many operands.
    let exponent = report["growth"][0]["operands"].as_f64().unwrap();
    assert!((exponent - 1.0).abs() < 0.1, "{exponent}");
}

#[test]
fn shapes_without_a_name_that_is_known_are_refused_with_those_that_are() {
    let out = bench(&["linearize", "--shape", "hexagon"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("own exits"), "{}", stderr(&out));
}

#[test]
fn kernels_are_measured_and_do_in_every_variant_what_the_scalar_program_does() {
    let names = ["mpc", "bt_gather/unsorted", "xs", "nab-1", "volume"];
    let mut asked = vec!["kernels"];
    asked.extend(names);
    asked.extend(["--cpu", "x86-64-v2", "--size", "small", "--time", "0", "--format", "json"]);
    let all: serde_json::Value = serde_json::from_str(&ok(&bench(&asked))).unwrap();
    let all = all.as_array().unwrap();
    let found: Vec<&str> = all.iter().map(|m| m["kernel"].as_str().unwrap()).collect();
    assert_eq!(found, names.map(|n| n.split('/').next().unwrap()));
    for m in all {
        assert_eq!(
            (m["mismatches"].as_u64(), m["branches"]["uniform_lost"].as_u64()),
            (Some(0), Some(0)),
            "{m}"
        );
        let share = m["utilization"].as_f64().unwrap();
        assert!(share > 0.0 && share <= 1.0, "{m}");
        for variant in ["scalar", "full", "partial", "boscc"] {
            assert!(m["code"][variant].as_u64().unwrap() > 0, "{m}");
        }
        assert!(m["scalar_ns"].as_u64().unwrap() > 0 && m["partial_ns"].as_u64().unwrap() > 0, "{m}");
    }
    // Lanes leave the search apart, but nothing in `mpc` is executed for some of them alone.
    assert!(all[2]["utilization"].as_f64().unwrap() < 1.0);
    // Only the last group of the range is not full.
    assert!(all[0]["utilization"].as_f64().unwrap() > 0.9);
}

#[test]
fn a_kernel_or_data_set_that_there_is_not_is_named_with_those_that_there_are() {
    for (asked, told) in
        [("pcc", "there is no `pcc`; there are mpc, pc"), ("xs/sorted", "has no data set `sorted`")]
    {
        let out = bench(&["kernels", asked]);
        assert_eq!(out.status.code(), Some(2));
        assert!(stderr(&out).contains(told), "{}", stderr(&out));
    }
}

#[test]
fn the_chart_of_kernels_has_a_bar_for_each_variant() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chart.svg");
    let path = path.to_str().unwrap();
    let asked = ["kernels", "mandelbrot", "--cpu", "x86-64-v2", "--size", "small", "--time", "0"];
    ok(&bench(&[&asked[..], &["--format", "svg", "-o", path]].concat()));
    let svg = std::fs::read_to_string(path).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains(">mandelbrot</text>"), "{svg}");
    // Three of the legend, and two rows of three.
    assert_eq!(svg.matches("<rect x=").count(), 3 + 6, "{svg}");
}

#[test]
fn measured_kernels_have_the_lanes_that_they_ask_for_unless_the_command_line_says_how_many() {
    let measured = |more: &[&str]| {
        let options = ["--size", "small", "--time", "0.01", "--cpu", "x86-64-v2", "--format", "json"];
        let mut args = vec!["kernels", "bt"];
        args.extend(options.iter().chain(more));
        let all: serde_json::Value = serde_json::from_str(&ok(&bench(&args))).unwrap();
        all[0]["width"].as_u64().unwrap()
    };
    let file = std::fs::read_to_string(root().join("kernels/bt.rs")).unwrap();
    assert!(file.contains("//@ width 8\n"));
    assert_eq!((measured(&[]), measured(&["--width", "16"])), (8, 16));
}
