//! `warpline-bench ssa`.

mod common;

use common::{Place, bench, ok, stderr};

const PROGRAM: &str = include_str!("../../../filetests/llvm/branches.ll");

#[test]
fn inputs_that_there_are_not_are_named() {
    let place = Place::new(PROGRAM);
    let empty = place.path("empty");
    std::fs::create_dir(&empty).unwrap();
    for (input, told) in [("nowhere.ll", "nowhere.ll"), (empty.to_str().unwrap(), "no .ll and no .bc")] {
        let output = bench(&["ssa", input]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        assert!(stderr(&output).contains(told), "{}", stderr(&output));
    }
}

#[test]
fn the_bench_prints_the_papers_tables_and_agrees_with_its_algorithm() {
    let place = Place::new(PROGRAM);
    let program = place.program();
    let arguments = ["ssa", &program, &program, "--runs", "3"];
    let report: serde_json::Value =
        serde_json::from_str(&ok(&bench(&[&arguments[..], &["--format", "json"]].concat()))).unwrap();
    assert_eq!((&report["runs"], &report["total"]["functions"]), (&3.into(), &4.into()));
    let f = &report["files"][0]["procedures"][0];
    assert_eq!((&f["name"], &f["agrees"]), (&"f".into(), &true.into()));
    // `join` does more than return: it is no part of the exit, which has one way in.
    let phis = |p: &serde_json::Value, key: &str| p["phis"][key].as_u64().unwrap();
    assert_eq!((phis(f, "reaching_definitions"), phis(f, "dominance_frontier")), (1, 2));
    assert_eq!((phis(f, "reaching_definitions_exit"), phis(f, "dominance_frontier_exit")), (0, 0));
    // Two returns lead to the exit of `g`, where `z` is defined on one way only.
    let g = &report["files"][0]["procedures"][1];
    assert_eq!((phis(g, "reaching_definitions_exit"), phis(g, "dominance_frontier_exit")), (0, 1));
    // The φ for `z` at the exit joins its only definition with nothing.
    assert_eq!((phis(f, "dominance_frontier_single"), phis(g, "dominance_frontier_single")), (1, 1));
    for key in ["algorithm_1", "reaching_definitions", "precise", "cytron", "sreedhar_gao", "braun"] {
        assert!(f["time_ns"][key].as_f64().unwrap() > 0.0, "{key}: {f}");
    }

    let text = ok(&bench(&arguments));
    for heading in [
        "Table 2",
        "Table 3",
        "Table 4",
        "Table 5: by file",
        "%φ-supE",
        "%P_5M",
        "T_Iter",
        "paper: 505.perlbench_r",
    ] {
        assert!(text.contains(heading), "`{heading}` is not in: {text}");
    }
    let row = |table: &str, name: &str| {
        let from = text.find(table).unwrap_or_else(|| panic!("no {table}: {text}"));
        let line = text[from..].lines().find(|l| l.starts_with(name)).unwrap().to_owned();
        line[name.len()..].split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("Table 2", "total"), ["–", "14", "6", "4"]);
    assert_eq!(row("Table 3", "all together"), ["2", "6", "0", "2", "200.00", "100.00"]);
    assert!(text.contains("precise placement is that by reaching definitions, φ by φ"), "{text}");
    let markdown = ok(&bench(&[&arguments[..], &["--format", "markdown"]].concat()));
    assert!(markdown.contains("| program | φ_RD | φ_DF |") && markdown.contains("|---|---:|"), "{markdown}");
}

#[test]
fn files_of_one_program_share_a_line_when_asked_to() {
    let place = Place::new(PROGRAM);
    for name in ["perl-op.ll", "perl-sv.ll", "other.ll"] {
        place.file(name, PROGRAM);
    }
    std::fs::remove_file(place.path("program.ll")).unwrap();
    let folder = &place.path("").display().to_string();
    let text = ok(&bench(&["ssa", folder, "--by-program", "--runs", "1"]));
    let table = &text[..text.find("Table 3").unwrap()];
    let first: Vec<&str> = table.lines().skip(4).filter_map(|l| l.split_whitespace().next()).collect();
    assert_eq!(first, ["other", "perl", "total"], "{text}");
    assert!(text.contains("Table 5: Perl, beside the paper's figures"), "{text}");
}
