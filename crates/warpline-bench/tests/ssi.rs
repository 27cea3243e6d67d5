//! `warpline-bench ssi`.

mod common;

use common::{bench, ok};

const PROGRAM: &str = include_str!("../../../filetests/llvm/search.ll");

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
