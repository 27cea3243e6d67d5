//! `warpline ssi`.

mod common;

use common::{Place, ok, stderr, stdout, warpline};

const PROGRAM: &str = include_str!("../../../filetests/llvm/search.ll");

fn ssi(place: &Place, more: &[&str]) -> String {
    ok(&warpline(&[&["ssi", &place.program()], more].concat()))
}

fn parse(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

fn number(value: &serde_json::Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} of {value}"))
}

#[test]
fn statistics_are_one_object_with_the_documented_keys() {
    let place = Place::new(PROGRAM);
    let report = parse(&ssi(&place, &["--strategy", "abcd", "--stats", "--format", "json"]));
    for key in ["functions", "instructions", "phis", "sigmas", "copies", "time_ns", "singer_ssi_time_ns"] {
        number(&report, key);
    }
    assert_eq!((report["strategy"].as_str(), number(&report, "functions")), (Some("abcd"), 2));
    // 12 with the φ of the loop, and the `ret` of the other function.
    assert_eq!(number(&report, "instructions"), 13);
    let added = number(&report, "phis") + number(&report, "sigmas") + number(&report, "copies");
    let growth = report["growth_percent"].as_f64().unwrap();
    assert!((growth - added as f64 * 100.0 / 13.0).abs() < 1e-9, "{report}");
    let singers = number(&report, "singer_ssi_phis") + number(&report, "singer_ssi_sigmas");
    let growth = report["singer_ssi_growth_percent"].as_f64().unwrap();
    assert!(singers > 0 && (growth - singers as f64 * 100.0 / 13.0).abs() < 1e-9, "{report}");
    assert!(report.get("by_function").is_none());
}

#[test]
fn ssa_form_alone_adds_nothing_and_later_strategies_add_more() {
    let place = Place::new(PROGRAM);
    let added = |strategy: &str| {
        let report = parse(&ssi(&place, &["--strategy", strategy, "--stats", "--format", "json"]));
        ["phis", "sigmas", "copies"].map(|key| number(&report, key))
    };
    for strategy in ["constants", "alias", "liveness"] {
        assert_eq!(added(strategy), [0, 0, 0], "{strategy}");
    }
    // Equality: %wanted; order: %k and %n.
    let [equalities, conditions] = ["conditional-constants", "e-ssa"].map(|s| added(s)[1]);
    assert_eq!((equalities, conditions), (1, 3));
    let [copies, none] = ["null-pointers", "abcd"].map(|s| added(s)[2]);
    assert!(copies > 0 && none == 0);
}

#[test]
fn statistics_by_function_add_up() {
    let place = Place::new(PROGRAM);
    let report = parse(&ssi(&place, &["--strategy", "ssi", "--stats", "--by-function", "--format", "json"]));
    let list = report["by_function"].as_array().unwrap();
    let names: Vec<_> = list.iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["find", "nothing"]);
    for key in ["instructions", "phis", "sigmas", "copies", "time_ns", "singer_ssi_time_ns"] {
        assert_eq!(list.iter().map(|f| number(f, key)).sum::<u64>(), number(&report, key), "{key}");
    }
    let text = ssi(&place, &["--strategy", "ssi", "--stats", "--by-function"]);
    assert!(text.starts_with("2 functions: 13 instructions\n"), "{text}");
    assert!(text.contains("\nfunction nothing: 1 instructions\n"), "{text}");
}

#[test]
fn the_printed_form_has_sigmas_on_the_edges_of_tests() {
    let place = Place::new(PROGRAM);
    let text = ssi(&place, &["--strategy", "e-ssa", "--function", "find"]);
    assert!(text.starts_with("func @find("), "{text}");
    assert_eq!(text.matches(" = sigma ").count(), 3, "{text}");
    let whole = ssi(&place, &["--strategy", "e-ssa"]);
    assert!(whole.contains("func @nothing()"), "{whole}");
    let report = parse(&ssi(&place, &["--strategy", "e-ssa", "--format", "json"]));
    let find = &report["inputs"][0]["functions"][0];
    assert_eq!((find["name"].as_str(), number(find, "sigmas")), (Some("find"), 3));
    let versions = find["versions"].as_array().unwrap();
    let on_edge = |of: &str, to: &str| {
        versions.iter().any(|v| {
            v["of"].as_str() == Some(of) && v["defined_by"] == "sigma" && v["on_edge_to"].as_str() == Some(to)
        })
    };
    assert!(on_edge("%n", "body") && on_edge("%wanted", "next"), "{versions:?}");
    assert!(!on_edge("%wanted", "yes"), "it is not used there: {versions:?}");
}

#[test]
fn llvms_text_of_split_functions_is_a_module_that_llvm_accepts() {
    let place = Place::new(PROGRAM);
    for strategy in ["e-ssa", "stephenson", "singer"] {
        let out = place.path("split.ll").display().to_string();
        ssi(&place, &["--strategy", strategy, "--format", "llvm", "-o", &out]);
        let text = std::fs::read_to_string(&out).unwrap();
        assert!(text.contains("phi i32") && !text.contains("alloca"), "{text}");
        let again = ok(&warpline(&["ssi", &out, "--strategy", "abcd", "--stats"]));
        assert!(again.starts_with("2 functions"), "{again}");
    }
}

#[test]
fn marks_of_lifetimes_name_the_stack_itself_in_llvms_text() {
    let place = Place::new(PROGRAM);
    let text = "define void @f(i1 %c) {
entry:
  %x = alloca i32, align 4
  call void @llvm.lifetime.start.p0(i64 4, ptr %x)
  br i1 %c, label %left, label %join
left:
  call void @use(ptr %x)
  br label %join
join:
  call void @use(ptr %x)
  call void @llvm.lifetime.end.p0(i64 4, ptr %x)
  ret void
}
declare void @use(ptr)
declare void @llvm.lifetime.start.p0(i64, ptr)
declare void @llvm.lifetime.end.p0(i64, ptr)
";
    std::fs::write(place.path("stack.ll"), text).unwrap();
    let input = place.path("stack.ll").display().to_string();
    let out = ok(&warpline(&["ssi", &input, "--strategy", "mahlke", "--format", "llvm"]));
    assert!(out.contains("phi ptr [ %x, ") && out.contains("lifetime.end"), "{out}");
}

#[test]
fn the_list_names_every_strategy_with_its_class_and_source() {
    let list = ok(&warpline(&["ssi", "--strategy", "list"]));
    for name in ["alias", "conditional-constants", "pre", "abcd", "taint", "ranges", "stephenson", "mahlke"] {
        let line = list.lines().find(|l| l.starts_with(name)).unwrap_or_else(|| panic!("{name}\n{list}"));
        assert!(line.contains("partitioned"), "{line}");
    }
    assert!(list.contains("Defs↓ ∪ Out(Conds)↓ ∪ Uses↑"), "{list}");
}

#[test]
fn wrong_usage_ends_with_2_and_says_what_there_is() {
    let place = Place::new(PROGRAM);
    let program = place.program();
    let refused = |arguments: &[&str], words: &[&str]| {
        let output = warpline(&[&["ssi"], arguments].concat());
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert_eq!(stdout(&output), "");
        for word in words {
            assert!(text.contains(word), "{arguments:?}: {text}");
        }
    };
    refused(&[&program, "--strategy", "wegman"], &["`wegman`", "abcd", "class-inference", "singer"]);
    refused(&[&program], &["--strategy"]);
    refused(&["--strategy", "abcd"], &["INPUTS"]);
    refused(&[&program, "--strategy", "list"], &["--strategy list"]);
    refused(&[&program, "--strategy", "abcd", "--stats", "--format", "llvm"], &["--stats"]);
    refused(&[&program, &program, "--strategy", "abcd", "--format", "llvm"], &["one input"]);
    refused(&[&program, "--strategy", "abcd", "--function", "fnd"], &["fnd"]);
    refused(&["nowhere.ll", "--strategy", "abcd"], &["nowhere.ll"]);
}
