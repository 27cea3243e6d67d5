//! `warpline run`: the examples, kinds of arguments, findings.

mod common;

use common::{ok, root, stderr, stdout, warpline};
use serde_json::Value;

/// Runs and returns the report.
#[track_caller]
fn report(arguments: &[&str]) -> Value {
    let mut all = vec!["run"];
    all.extend(arguments);
    all.extend(["--format", "json"]);
    serde_json::from_str(&ok(&warpline(&all))).expect("JSON")
}

#[test]
fn examples_in_rust_run_without_a_mismatch_at_two_widths() {
    let mut names: Vec<String> = std::fs::read_dir(root().join("examples"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        // The others are not kernels, but functions with loops.
        .filter(|n| {
            n.ends_with(".rs")
                && std::fs::read_to_string(root().join("examples").join(n)).unwrap().contains("//@ args")
        })
        .collect();
    names.sort();
    assert!(names.len() >= 5, "{names:?}");
    for name in names {
        let file = format!("examples/{name}");
        for width in ["4", "16"] {
            // Not a multiple of the width, so that the last vector is a partial one.
            let report = report(&[&file, "--width", width, "--range", "0..1003"]);
            assert_eq!(report["function"], name.trim_end_matches(".rs"));
            assert_eq!((&report["mismatches"], &report["elements"]), (&0.into(), &1003.into()), "{name}");
            assert_eq!(report["width"].to_string(), width);
        }
    }
}

#[test]
fn the_report_for_programs_has_exactly_the_promised_keys() {
    let report = report(&["examples/mandelbrot.rs", "--range", "0..512", "--width", "8"]);
    let keys = |v: &Value| v.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        keys(&report),
        [
            "schema_version",
            "function",
            "width",
            "cpu",
            "elements",
            "mismatches",
            "max_ulp",
            "scalar_ns",
            "vector_ns",
            "speedup",
            "branches",
            "loops",
            "exits",
            "masks",
            "boscc",
            "coherent",
            "guards"
        ]
    );
    assert_eq!(keys(&report["branches"]), ["divergent", "uniform_kept", "uniform_lost"]);
    assert_eq!(keys(&report["loops"]), ["uniform", "divergent"]);
    assert_eq!(keys(&report["exits"]), ["uniform", "divergent"]);
    assert_eq!(keys(&report["masks"]), ["true", "uniform", "varying"]);
    assert_eq!(keys(&report["boscc"]), ["mandatory", "chosen"]);
    assert!(report["scalar_ns"].as_u64().unwrap() > 0 && report["vector_ns"].as_u64().unwrap() > 0);
    assert_eq!((&report["loops"]["divergent"], &report["max_ulp"]), (&1.into(), &0.into()));
}

#[test]
fn tests_that_skip_code_are_made_as_asked_and_counted() {
    let chosen = |boscc: &str| {
        let report =
            report(&["examples/ray_sphere.rs", "--range", "0..512", "--width", "8", "--boscc", boscc]);
        report["boscc"]["chosen"].as_u64().unwrap()
    };
    assert_eq!(chosen("off"), 0);
    assert!(chosen("on") > 0);
}

#[test]
fn the_report_for_people_says_what_diverges_and_why() {
    let text = ok(&warpline(&["run", "examples/mandelbrot.rs", "--range", "0..512", "--width", "8", "-v"]));
    for words in [
        "mandelbrot: vectorized with 8 lanes for ",
        "divergent branch at mandelbrot.rs:",
        "divergent loop at mandelbrot.rs:",
        "checked against the lane interpreter",
        "checked against the scalar program on all 512 indices",
        "times as fast",
        "; 0 mismatches\n",
    ] {
        assert!(text.contains(words), "`{words}` is not in:\n{text}");
    }
}

#[test]
fn a_run_prints_three_lines_unless_more_or_nothing_is_asked_for() {
    let base = ["run", "examples/mandelbrot.rs", "--range", "0..512", "--width", "8"];
    let text = ok(&warpline(&base));
    let warned = usize::from(text.contains("warning: vector code is slower"));
    assert_eq!(text.lines().count(), 3 + warned, "{text}");
    assert!(text.ends_with("warpline explain examples/mandelbrot.rs --line 29\n"), "{text}");
    assert_eq!(ok(&warpline(&[&base[..], &["-q"]].concat())), "");
}

#[test]
fn words_are_colored_where_that_is_asked_for_and_nowhere_else() {
    let colored = warpline(&["--color", "always", "run", "nowhere.rs"]);
    assert!(stderr(&colored).contains("\x1b[1;31merror:\x1b[0m "), "{}", stderr(&colored));
    let plain = warpline(&["run", "nowhere.rs"]);
    assert!(stderr(&plain).contains("error: ") && !stderr(&plain).contains('\x1b'), "{}", stderr(&plain));
}

#[test]
fn partial_linearization_keeps_the_uniform_branches_of_the_tree_search() {
    let kept = |mode: &str| {
        let report = report(&["examples/tree_search.rs", "--range", "0..256", "--linearize", mode]);
        report["branches"]["uniform_kept"].as_u64().unwrap()
    };
    assert!(kept("partial") >= 3);
    assert_eq!(kept("full"), 0);
}

#[test]
fn a_buffer_becomes_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.png");
    let png = format!("out={},512x2", file.display());
    ok(&warpline(&["run", "examples/mandelbrot.rs", "--range", "0..1024", "--png", &png]));
    assert!(std::fs::read(&file).unwrap().starts_with(b"\x89PNG"));
}

/// Writes a module and returns its path.
fn module(folder: &tempfile::TempDir, text: &str) -> String {
    let path = folder.path().join("kernel.ll");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn every_kind_of_argument_and_result_goes_through_the_drivers() {
    let folder = tempfile::tempdir().unwrap();
    let file = module(
        &folder,
        "
;@ args i=index, b=varying, x=varying, s=stride(-3), n=stride(2), u=uniform, p=stride(8), j=index
;@ bind b=bool[300]=random
;@ bind x=f32[300]=-5..5
;@ bind s=7
;@ bind n=1000000000000
;@ bind u=0.5
;@ bind p=f64[300]=iota
define float @kernel(i8 %i, i1 zeroext %b, float %x, i16 %s, i64 %n, double %u, ptr %p, i64 %j) {
  %iw = sext i8 %i to i32
  %iu = zext i8 %i to i32
  %i0 = mul i32 %iw, 256
  %i1 = add i32 %i0, %iu
  %s1 = sext i16 %s to i32
  %i2 = xor i32 %i1, %s1
  %n1 = trunc i64 %n to i32
  %i3 = add i32 %i2, %n1
  %j1 = trunc i64 %j to i32
  %i4 = xor i32 %i3, %j1
  %d = load double, ptr %p
  %e = fadd double %d, %u
  %f = fptrunc double %e to float
  store double %e, ptr %p
  br i1 %b, label %yes, label %no
yes:
  %q = sitofp i32 %i4 to float
  %y = fmul float %x, %q
  br label %no
no:
  %r = phi float [ %x, %0 ], [ %y, %yes ]
  %t = fadd float %r, %f
  ret float %t
}
",
    );
    // The index changes its sign at 0 and wraps, read as signed, at 128: groups must end there.
    for (range, elements) in [("-37..211", 248), ("0..128", 128), ("126..131", 5), ("5..6", 1)] {
        for width in ["1", "3", "8", "64"] {
            let report = report(&[&file, "--range", range, "--width", width]);
            assert_eq!(
                (&report["mismatches"], &report["elements"]),
                (&0.into(), &elements.into()),
                "{range} {width}"
            );
        }
    }
}

#[test]
fn booleans_are_returned_as_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let file = module(
        &folder,
        "
define zeroext i1 @kernel(i32 %i, double %x) {
  %b = fcmp olt double %x, 5.0e-1
  ret i1 %b
}
",
    );
    let report = report(&[
        &file,
        "--args",
        "index,varying",
        "--range",
        "0..77",
        "--bind",
        "x=f64[77]=random",
        "--width",
        "4",
    ]);
    assert_eq!(report["mismatches"], 0);
}

/// Every lane writes an element and reads another one, which nobody knows before.
const RACY: &str = "
;@ bind from=i32[64]=0..64
;@ bind t=i32[64]=zero
;@ bind out=i32[64]=zero
define void @kernel(i32 %i, ptr %from, ptr %t, ptr %out) {
  %p = getelementptr i32, ptr %t, i32 %i
  store i32 %i, ptr %p
  %pf = getelementptr i32, ptr %from, i32 %i
  %k = load i32, ptr %pf
  %q = getelementptr i32, ptr %t, i32 %k
  %x = load i32, ptr %q
  %r = getelementptr i32, ptr %out, i32 %i
  store i32 %x, ptr %r
  ret void
}
";

#[test]
fn lanes_that_race_are_judged_in_the_groups_that_the_driver_makes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("neighbours.ll");
    let text = ";@ args i=index
;@ range 0..1003
;@ bind t=i32[4]=zero
;@ bind out=i32[1003]=zero
define void @neighbours(i32 %i, ptr %t, ptr %out) {
  %own = and i32 %i, 3
  %p = getelementptr i32, ptr %t, i32 %own
  store i32 %i, ptr %p
  %next = add i32 %i, 1
  %other = and i32 %next, 3
  %q = getelementptr i32, ptr %t, i32 %other
  %x = load i32, ptr %q
  %r = getelementptr i32, ptr %out, i32 %i
  store i32 %x, ptr %r
  ret void
}
";
    std::fs::write(&file, text.replace(";@ args", ";@ racy\n;@ args")).unwrap();
    for width in ["8", "16", "32"] {
        let report = ok(&warpline(&["run", file.to_str().unwrap(), "--width", width, "--format", "json"]));
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["mismatches"], 0, "{width} lanes: {report}");
    }
}

#[test]
fn a_race_is_reported_and_then_only_the_lane_interpreter_judges() {
    let folder = tempfile::tempdir().unwrap();
    let file = module(&folder, RACY);
    let arguments = ["run", &file, "--args", "index", "--range", "0..64", "--width", "4", "-v"];
    let output = warpline(&arguments);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}{}", stderr(&output));
    assert!(text.contains("race: ") && text.contains("t["), "{text}");
    assert!(
        text.contains("not checked against the scalar program") && text.contains("0 mismatches"),
        "{text}"
    );
}

#[test]
fn where_a_called_function_asks_about_lanes_the_lane_interpreter_judges() {
    let folder = tempfile::tempdir().unwrap();
    let file = module(
        &folder,
        "declare i32 @warpline_popcount(i1) convergent
define internal i32 @how_many(i32 %x) noinline convergent {
  %c = trunc i32 %x to i1
  %n = call i32 @warpline_popcount(i1 %c) convergent
  ret i32 %n
}
define i32 @kernel(i32 %i) {
  %n = call i32 @how_many(i32 %i) convergent
  ret i32 %n
}
",
    );
    let text = ok(&warpline(&[
        "run",
        &file,
        "--function",
        "kernel",
        "--args",
        "index",
        "--range",
        "0..64",
        "--width",
        "4",
        "-v",
    ]));
    assert!(
        text.contains("not checked against the scalar program") && text.contains("0 mismatches"),
        "{text}"
    );
}

#[test]
fn a_mismatch_is_a_finding_with_exit_code_1() {
    let folder = tempfile::tempdir().unwrap();
    let file = module(&folder, &format!(";@ lane-insensitive\n{RACY}"));
    let arguments = ["run", &file, "--args", "index", "--range", "0..64", "--width", "4", "-v"];
    let output = warpline(&arguments);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("first mismatch with the scalar program: out["), "{text}");
    assert!(!text.contains("\n  0 mismatches"), "{text}");
}

#[test]
fn undefined_behaviour_is_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let file = module(
        &folder,
        "
define i32 @kernel(i32 %i, ptr %p) {
  %at = sext i32 %i to i64
  %q = getelementptr i32, ptr %p, i64 %at
  %x = load i32, ptr %q
  ret i32 %x
}
",
    );
    let run = |buffer: &str| {
        warpline(&["run", &file, "--args", "index", "--bind", buffer, "--range", "0..9", "--width", "4"])
    };
    ok(&run("p=i32[9]"));
    // One element too few: nothing happens natively, since there is room behind the buffer.
    let output = run("p=i32[8]");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("undefined behaviour, says the lane interpreter: at index 8"), "{text}");
}

#[test]
fn a_kernel_in_c_runs_where_there_is_a_clang() {
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let report = report(&["examples/binary_search.c", "--range", "0..1003"]);
    assert_eq!((&report["mismatches"], &report["function"]), (&0.into(), &"binary_search".into()));
}

#[test]
fn a_kernel_in_opencl_c_with_vectors_and_private_arrays_runs_where_there_is_a_clang() {
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shade.cl");
    let text = "
//@ args i=index
//@ range 0..1003
//@ bind points=f32[4012]=-5..5
//@ bind cells=i32[2006]=-9..9
//@ bind out=f32[4012]
__constant float4 weights = (float4)(0.5f, 1.0f, 2.0f, 4.0f);

__kernel void shade(long i, __global const float4 *points, __global const int2 *cells, __global float4 *out) {
    float4 p = points[i], kept[2];
    int2 c = cells[i];
    kept[0] = p * weights;
    kept[1] = p.wzyx + (float4)((float)c.x);
    int4 less = kept[0] < kept[1];
    float4 r = less ? kept[1] : kept[0];
    if (less.x | less.z)
        r.xyz += kept[c.y & 1].yzx;
    out[i] = r;
}
";
    std::fs::write(&path, text).unwrap();
    for width in ["4", "8"] {
        let report = report(&[path.to_str().unwrap(), "--width", width]);
        assert_eq!((&report["mismatches"], &report["function"]), (&0.into(), &"shade".into()));
    }
}

#[test]
fn a_function_of_opencl_that_nobody_defines_is_named() {
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cl");
    let text = "
//@ args i=index
//@ range 0..8
//@ bind p=f32[32]=iota
float4 mine(float4 x);
__kernel void k(long i, __global float4 *p) { p[i] = mine(p[i]); }
";
    std::fs::write(&path, text).unwrap();
    let output = warpline(&["run", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    assert!(stderr(&output).contains("mine"), "{}", stderr(&output));
}

/// Nobody said of which edition a file is: it may be of the one before the newest.
#[test]
fn files_in_rust_may_be_of_the_edition_before_the_newest() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("old.rs");
    let text =
        "#[no_mangle]\npub fn add(x: &mut [f32], by: f32) {\n    for v in x {\n        *v += by;\n    }\n}\n";
    std::fs::write(&file, text).unwrap();
    let output = warpline(&["run", file.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    // Of what both reject, nobody is told what only the newest does.
    std::fs::write(&file, text.replace("by;", "bye;")).unwrap();
    let output = warpline(&["run", file.to_str().unwrap()]);
    let said = stderr(&output);
    assert!(said.contains("cannot find value `bye`") && !said.contains("unsafe attribute"), "{said}");
}
