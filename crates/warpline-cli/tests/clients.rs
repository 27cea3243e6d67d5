//! `warpline lint`.

mod common;

use common::{ok, root, stderr, stdout, warpline};

/// Runs a client on a text of LLVM IR.
fn on_text(text: &str, arguments: &[&str]) -> std::process::Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input.ll");
    std::fs::write(&path, text).unwrap();
    warpline(&[&["lint", path.to_str().unwrap(), "--client"], arguments].concat())
}

fn names() -> Vec<String> {
    let list: serde_json::Value =
        serde_json::from_str(&ok(&warpline(&["lint", "--client", "list", "--format", "json"]))).unwrap();
    list.as_array().unwrap().iter().map(|d| d["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_list_says_of_each_client_what_it_is() {
    let text = ok(&warpline(&["lint", "--client", "list"]));
    for name in names() {
        assert!(text.contains(&format!("{name}: ")), "{text}");
    }
    assert!(
        text.contains("partitioned lattice") && text.contains("forward") && text.contains("Defs↓"),
        "{text}"
    );
}

#[test]
fn an_unknown_client_is_answered_with_those_there_are() {
    let output = warpline(&["lint", "examples/mandelbrot.rs", "--client", "guess"]);
    assert_eq!(output.status.code(), Some(2));
    for name in names() {
        assert!(stderr(&output).contains(&name), "{}", stderr(&output));
    }
}

#[test]
fn options_of_other_analyses_are_refused() {
    for other in [["--target", "simd"], ["--args", "uniform"], ["--algorithm", "joins"]] {
        let arguments =
            [&["lint", "examples/mandelbrot.rs", "--client", "null-pointers"], &other[..]].concat();
        assert_eq!(warpline(&arguments).status.code(), Some(2), "{other:?}");
    }
    let input = "examples/mandelbrot.rs";
    for wrong in [
        vec!["lint", input, "--client", "null-pointers", "--sinks", "system"],
        vec!["lint", input, "--client", "null-pointers", "--format", "html"],
        vec!["lint", input, "--client", "taint", "--sinks", "system:x"],
        vec!["analyze", input, "--stats"],
        vec!["lint", "--client", "taint"],
        vec!["lint", input, "--client", "bounds", "--dense"],
    ] {
        let output = warpline(&wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {}", stdout(&output));
    }
}

#[test]
fn every_client_deals_with_every_kind_of_input() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("input.ll");
    std::fs::write(&text, UNCHECKED).unwrap();
    let mut inputs = vec!["examples/mandelbrot.rs".to_owned(), text.display().to_string()];
    match warpline_llvm::has_clang() {
        true => inputs.push("examples/binary_search.c".to_owned()),
        false => eprintln!("not tested on C: there is no clang"),
    }
    for client in names() {
        for input in &inputs {
            for format in ["text", "json"] {
                let output = warpline(&["lint", input, "--client", &client, "--stats", "--format", format]);
                let code = output.status.code();
                assert!(matches!(code, Some(0 | 1)), "{client} {input}: {}", stderr(&output));
                if format == "json" {
                    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
                    assert_eq!(report["client"]["name"], client.as_str());
                    assert!(!report["inputs"][0]["functions"].as_array().unwrap().is_empty());
                    assert!(report["inputs"][0]["stats"]["steps"].is_number(), "{report}");
                }
            }
        }
    }
    assert!(root().join("examples").is_dir());
}

#[test]
fn dense_solutions_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input.ll");
    std::fs::write(&path, [UNCHECKED, TAINTED].concat().replace("@f()", "@g()")).unwrap();
    let mut compared = 0;
    for client in names() {
        for input in ["examples/mandelbrot.rs", path.to_str().unwrap()] {
            let arguments = ["lint", input, "--client", &client, "--format", "json"];
            let dense = warpline(&[&arguments[..], &["--dense"]].concat());
            if stderr(&dense).contains("on split live ranges only") {
                continue;
            }
            compared += 1;
            let functions = |text: String| {
                let report: serde_json::Value = serde_json::from_str(&text).unwrap();
                report["inputs"][0]["functions"].clone()
            };
            assert_eq!(
                functions(stdout(&dense)),
                functions(stdout(&warpline(&arguments))),
                "{client} {input}"
            );
        }
    }
    // All but `bounds` and `bit-widths-mahlke`.
    assert_eq!(compared, 2 * (names().len() - 2));
}

/// The result of `malloc` is used as if it could not fail.
const UNCHECKED: &str = "declare ptr @malloc(i64)
define ptr @f(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  store i32 1, ptr %p
  ret ptr %p
}
";

#[test]
fn a_dereference_of_what_may_be_null_is_a_finding() {
    let output = on_text(UNCHECKED, &["null-pointers"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stdout(&output).contains("store of %p, which may be null: the call of malloc may fail"));
}

/// What comes from the environment goes to a shell, by way of a copy that another function makes.
const TAINTED: &str = "declare ptr @getenv(ptr)
declare ptr @strdup(ptr)
declare i32 @system(ptr)
@name = private constant [5 x i8] c\"SHELL\"
define internal ptr @copy(ptr %text) {
  %q = call ptr @strdup(ptr %text)
  ret ptr %q
}
define void @f() {
  %p = call ptr @getenv(ptr @name)
  %q = call ptr @copy(ptr %p)
  call i32 @system(ptr %q)
  call i32 @system(ptr @name)
  ret void
}
";

#[test]
fn data_from_outside_that_comes_to_a_sink_is_a_finding_with_its_way() {
    let output = on_text(TAINTED, &["taint", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let functions = report["inputs"][0]["functions"].as_array().unwrap();
    let findings: Vec<&serde_json::Value> =
        functions.iter().flat_map(|f| f["report"]["findings"].as_array().unwrap()).collect();
    assert_eq!(findings.len(), 1, "{report}");
    let chain = findings[0]["chain"].as_array().unwrap();
    assert!(chain.iter().any(|s| s["text"].as_str().unwrap().contains("the call of strdup")), "{report}");
    let last = chain.last().unwrap()["text"].as_str().unwrap();
    assert!(last.contains("the call of getenv") && last.contains("data from outside"), "{report}");
}

#[test]
fn the_document_on_bounds_checks_shows_what_is_printed() {
    let document = std::fs::read_to_string(root().join("docs/bounds-checks.md")).unwrap();
    let shown = document.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let printed = ok(&warpline(&["lint", "--client", "bounds", "examples/analyses/bounds_checks.rs"]));
    assert!(shown.lines().count() > 5 && printed.contains(shown), "{printed}");
    let numbers = |word: &str| -> usize {
        let sums = printed.lines().filter(|line| line.contains(" checks: "));
        let before =
            |line: &str| line.split(word).next()?.split_whitespace().next_back()?.parse::<usize>().ok();
        sums.filter_map(before).sum()
    };
    assert_eq!((numbers(" checks"), numbers(" never fail")), (18, 14), "{printed}");
    assert!(document.contains("Of the 18 checks of the file 14 can never fail"));
}

#[test]
fn clients_are_found_by_the_papers_names_too() {
    let text = "define i32 @f(i32 %x) {
  %c = icmp eq i32 %x, 3
  br i1 %c, label %is, label %other
is:
  %y = add i32 %x, 1
  ret i32 %y
other:
  ret i32 %x
}
";
    for name in ["conditional-constants", "constants"] {
        let printed = ok(&on_text(text, &[name]));
        assert!(printed.contains("%y is i32 4"), "{name}: {printed}");
    }
}

#[test]
fn a_field_that_was_read_shows_that_its_structure_is_not_null() {
    let text = |flags: &str| {
        format!(
            "define i32 @f(ptr %p) {{
  %field = getelementptr {flags} i8, ptr %p, i64 8
  %v = load i32, ptr %field
  %late = icmp eq ptr %p, null
  %r = select i1 %late, i32 0, i32 %v
  ret i32 %r
}}
"
        )
    };
    let inside = ok(&on_text(&text("inbounds"), &["null-pointers"]));
    assert!(inside.contains("%late is always false"), "{inside}");
    // Without `inbounds` null plus 8 may be the address of something.
    let anywhere = ok(&on_text(&text(""), &["null-pointers"]));
    assert!(!anywhere.contains("always"), "{anywhere}");
}
