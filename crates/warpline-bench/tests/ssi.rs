//! `warpline-bench ssi`.

mod common;

use common::{bench, ok};

/// As clang makes it: a loop with a bound, and a test for equality in it.
const PROGRAM: &str = "define i32 @find(ptr %a, i32 %n, i32 %wanted) {
entry:
  %i = alloca i32, align 4
  store i32 0, ptr %i, align 4
  br label %head
head:
  %k = load i32, ptr %i, align 4
  %more = icmp slt i32 %k, %n
  br i1 %more, label %body, label %none
body:
  %at = getelementptr inbounds i32, ptr %a, i32 %k
  %x = load i32, ptr %at, align 4
  %found = icmp eq i32 %x, %wanted
  br i1 %found, label %yes, label %next
next:
  %k2 = load i32, ptr %i, align 4
  %inc = add nsw i32 %k2, 1
  store i32 %inc, ptr %i, align 4
  br label %head
yes:
  ret i32 %k
none:
  ret i32 -1
}
define void @nothing() {
  ret void
}
";

#[test]
fn the_benchmark_has_the_papers_figures_beside_its_own() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("program.ll"), PROGRAM).unwrap();
    let bench = |more: &[&str]| {
        let folder = folder.path().display().to_string();
        ok(&bench(&[&["ssi", &folder, "--runs", "1"], more].concat()))
    };
    let text = bench(&[]);
    for word in
        ["Figure 11", "Figure 12", "Figure 13", "6.80", "1.48", "17.60", "program", "sparse and dense"]
    {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
    let markdown = bench(&["--format", "markdown", "--o1-runs", "0"]);
    assert!(markdown.contains("### Figure 13") && !markdown.contains("Figure 12"), "{markdown}");
    let report = serde_json::from_str::<serde_json::Value>(&bench(&["--format", "json"])).unwrap();
    let costs = report["total"]["costs"].as_array().unwrap();
    let number = |value: &serde_json::Value, key: &str| value[key].as_u64().unwrap();
    let added = |form: &str| {
        let cost = costs.iter().find(|c| c["form"] == form).unwrap();
        number(cost, "phis") + number(cost, "sigmas") + number(cost, "copies")
    };
    assert!(0 < added("conditional-constants") && added("conditional-constants") < added("abcd"));
    assert!(added("abcd") < added("stephenson") && added("singer") > 0 && added("constants") == 0);
    let solved = report["total"]["solvers"].as_array().unwrap();
    assert!(solved.iter().all(|s| s["by_size"][0]["functions"] == 2), "{report}");
    assert!(report["total"]["o1_time_ns"].as_f64().unwrap() > 0.0);
    assert_eq!(number(&report["total"], "instructions"), 13);
}
