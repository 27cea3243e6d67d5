//! `warpline-bench survey`.

mod common;

use common::{bench, ok, stderr, stdout};

#[test]
fn every_function_of_the_survey_has_a_header_that_describes_its_arguments() {
    let rows = ok(&bench(&["survey", "--list"]));
    let mut functions: Vec<&str> = rows.lines().filter_map(|row| row.split(' ').next()).collect();
    functions.dedup();
    assert!(functions.len() >= 80, "{rows}");
    let entries = std::fs::read_dir(common::root().join("kernels/survey")).unwrap().flatten();
    assert_eq!(functions.len(), entries.count(), "{rows}");
}

#[test]
fn a_function_without_a_header_is_refused_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain.c");
    std::fs::write(&path, "void plain(void) {}\n").unwrap();
    let output = bench(&["survey", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let told = stderr(&output);
    assert!(told.contains("plain.c") && told.contains("survey:"), "{told}");
    let output = bench(&["survey", "--filter", "no such row"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no row has such a name"), "{}", stderr(&output));
}

#[test]
fn loops_and_kernels_are_measured_at_each_width_and_do_what_scalar_code_does() {
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let asked = ["survey", "--cpu", "x86-64-v2", "--rounds", "3", "--format", "json"];
    let rows = ["--filter", "saxpy n=20", "--filter", "rs_gray N=7", "--filter", "cl_sobel"];
    let json = ok(&bench(&[&asked[..], &rows].concat()));
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["wrong"].as_array().map(Vec::len), Some(0), "{report}");
    let rows = report["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|r| r["row"].as_str().unwrap()).collect();
    assert_eq!(names, ["cl_sobel", "rs_gray N=7", "saxpy n=20"]);
    for row in rows {
        assert!(row["scalar"]["ns"].as_f64().unwrap() > 0.0, "{row}");
        let auto = &row["auto"];
        assert!(auto["lanes"][0].as_u64().unwrap() >= 1 && auto["ns"].as_f64().unwrap() > 0.0, "{row}");
        let speedup = |end: &str| auto["speedup"][end].as_f64().unwrap();
        assert!(speedup("low") <= speedup("median") && speedup("median") <= speedup("high"), "{row}");
        for width in ["4", "16"] {
            assert_eq!(
                row["widths"][width]["lanes"][0].as_u64().map(|w| w.to_string()).as_deref(),
                Some(width)
            );
        }
    }
    // Three functions of one kernel or loop each, so one and two of them are in the halves.
    for half in report["summaries"][0]["model"].as_array().unwrap() {
        assert!(half["right"].as_u64().unwrap() <= half["pairs"].as_u64().unwrap(), "{half}");
        assert!(half["rank_correlation"].as_f64().is_some_and(|r| r.abs() <= 1.0 + 1e-9), "{half}");
    }
    assert!(rows[2]["omp"]["ns"].as_f64().unwrap() > 0.0);
    assert_eq!(rows[1]["gcc"]["refused"], "the function is in Rust");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("earlier.json");
    std::fs::write(&path, json).unwrap();
    let table = ok(&bench(&["survey", "--from", path.to_str().unwrap()]));
    assert!(table.contains("\n## x86-64-v2\n") && table.contains("\n| saxpy n=20 | "), "{table}");
    assert!(table.contains("that the model orders right: "), "{table}");
}

#[test]
fn wrong_results_are_reported_with_the_first_and_exit_code_1() {
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("follow.c");
    // The promise is false, and is the file's own fault.
    let text = "// survey: n i32 = 1000; at i32[n] below n; a i32[n] random; omp no\n\
                void follow(int n, const int *at, int *a) {\n    //@ loop independent\n    \
                for (int i = 0; i < n; i++) a[i] = a[at[i]] ^ i;\n}\n";
    std::fs::write(&path, text).unwrap();
    let output = bench(&["survey", path.to_str().unwrap(), "--cpu", "x86-64-v2", "--rounds", "1"]);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("follow on x86-64-v2, w64: ") && told.contains("wrong results; a["), "{told}");
    assert!(stdout(&output).contains("**Wrong results:**"), "{}", stdout(&output));
}
