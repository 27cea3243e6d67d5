//! `warpline explain`.

mod common;

use common::{ok, stderr, warpline};

/// A loop that lanes leave in different iterations, with and without names, and places in a file that the test writes.
const LEAKY: &str = r#"
source_filename = "k.c"
define i32 @leaky(ptr %a, ptr %b, i32 %n) !dbg !4 {
entry:
  br label %head, !dbg !7
head:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ], !dbg !7
  %0 = icmp slt i32 %i, %n, !dbg !7
  br i1 %0, label %body, label %out, !dbg !7
body:
  %1 = getelementptr i32, ptr %a, i32 %i, !dbg !8
  %x = load i32, ptr %1, align 4, !dbg !8
  %2 = icmp ne i32 %x, 0, !dbg !9
  br i1 %2, label %out, label %latch, !dbg !8
latch:
  %next = add i32 %i, 1, !dbg !7
  br label %head, !dbg !7
out:
  %r = phi i32 [ 0, %head ], [ 1, %body ]
  ret i32 %r, !dbg !10
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "by hand", isOptimized: false, runtimeVersion: 0, emissionKind: FullDebug)
!1 = !DIFile(filename: "k.c", directory: "/nowhere")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !5)
!4 = distinct !DISubprogram(name: "leaky", scope: !1, file: !1, line: 1, type: !3, scopeLine: 1, unit: !0)
!5 = !{null}
!7 = !DILocation(line: 2, column: 3, scope: !4)
!8 = !DILocation(line: 3, column: 9, scope: !4)
!9 = !DILocation(line: 3, column: 14, scope: !4)
!10 = !DILocation(line: 5, column: 3, scope: !4)
"#;

const SOURCE: &str = "int leaky(const int *a, const int *b, int n) {\n\tfor (int i = 0; i < n; i++)\n    \
                      if (a[i] != 0)\n      return 1;\n  return 0;\n}\n";

struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("k.ll"), LEAKY).unwrap();
        std::fs::write(folder.path().join("k.c"), SOURCE).unwrap();
        Fixture { folder }
    }

    fn explain(&self, more: &[&str]) -> std::process::Output {
        let path = self.folder.path().join("k.ll");
        let mut arguments = vec!["explain", path.to_str().unwrap(), "--function", "leaky"];
        if !more.contains(&"--args") {
            arguments.extend(["--args", "a=varying,b=uniform,n=uniform"]);
        }
        arguments.extend(more);
        warpline(&arguments)
    }
}

#[test]
fn a_join_is_explained_by_two_paths_and_source_lines_down_to_the_argument() {
    let text = ok(&Fixture::new().explain(&["--value", "%r"]));
    let expected = "\
function leaky (k.c:1)

%r is divergent, varying
because: %r = phi merges, in block out, values of lanes that diverge at the branch of block body (k.c:3)
    one path:   body (k.c:3) → out (k.c:5)
    other path: body (k.c:3) → latch (k.c:2) → head (k.c:2) → … round the loop … → out (k.c:5)
k.c:3:9: note: the branch of block body depends on %2
  3 |     if (a[i] != 0)
    |         ^
k.c:3:14: note: %2 = icmp depends on %x
  3 |     if (a[i] != 0)
    |              ^
k.c:3:9: note: %x = load depends on %1
  3 |     if (a[i] != 0)
    |         ^
k.c:3:9: note: %1 = getelementptr depends on %a
  3 |     if (a[i] != 0)
    |         ^
k.c:1: note: %a is an argument of the shape varying
  1 | int leaky(const int *a, const int *b, int n) {
";
    assert_eq!(text, expected);
}

#[test]
fn everything_on_a_line_is_explained_and_nothing_twice() {
    let text = ok(&Fixture::new().explain(&["--line", "3"]));
    assert!(text.contains("%x (k.c:3) is divergent") && text.contains("the branch of block body (k.c:3)"));
    assert_eq!(text.matches("%a is an argument").count(), 1, "{text}");
    assert!(text.contains("%x = load depends on %1, as explained above"), "{text}");
    let text = ok(&Fixture::new().explain(&["--line", "2"]));
    assert!(text.contains("%i (k.c:2) is uniform: it has uniform operands"), "{text}");
    assert!(
        text.contains("the branch of block head (k.c:2) is uniform: it has a uniform condition"),
        "{text}"
    );
    // A tab stays a tab under the mark.
    let text = ok(&Fixture::new().explain(&["--args", "n=varying,a=uniform,b=uniform", "--line", "2"]));
    assert!(text.contains("k.c:2:3: ") && text.contains("\n    | \t ^\n"), "{text}");
}

#[test]
fn a_loop_that_lanes_leave_in_different_iterations_is_explained() {
    let text = ok(&Fixture::new().explain(&["--value", "loop:head"]));
    let path =
        "other path: body (k.c:3) → latch (k.c:2) → head (k.c:2) → … round the loop … → body (k.c:3) → out";
    assert!(
        text.contains("the loop at block head (k.c:2) is divergent\nk.c:3:9: because: lanes leave"),
        "{text}"
    );
    assert!(text.contains(path), "{text}");
}

#[test]
fn the_twin_for_programs_has_the_same_chain_and_paths() {
    let text = ok(&Fixture::new().explain(&["--value", "block:body", "--format", "json"]));
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let explanation = &report["explanations"][0];
    assert_eq!((&explanation["kind"], &explanation["divergent"]), (&"branch".into(), &true.into()));
    let chain = explanation["chain"].as_array().unwrap();
    assert_eq!(chain[0]["location"]["line"], 3);
    assert_eq!(chain.last().unwrap()["text"], "%a is an argument of the shape varying");
    let text = ok(&Fixture::new().explain(&["--value", "r", "--format", "json"]));
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let paths = report["explanations"][0]["chain"][0]["paths"].as_array().unwrap();
    assert_eq!(paths.len(), 2);
    assert!(
        paths
            .iter()
            .all(|p| p[0]["block"] == "body" && p.as_array().unwrap().last().unwrap()["block"] == "out")
    );
}

#[test]
fn what_does_not_exist_is_named_with_what_is_near() {
    let fixture = Fixture::new();
    let wrong = |arguments: &[&str]| {
        let output = fixture.explain(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        stderr(&output)
    };
    assert!(wrong(&["--value", "%nxet"]).contains("did you mean `%next`?"));
    assert!(wrong(&["--value", "%9"]).contains("there are %0, %1, %2"));
    assert!(wrong(&["--value", "block:bodi"]).contains("did you mean `body`?"));
    assert!(wrong(&["--line", "40"]).contains("near it are 1, 2, 3, 5"));
    assert!(wrong(&[]).contains("--value"));
    let path = fixture.folder.path().join("k.ll");
    let output = warpline(&["explain", path.to_str().unwrap(), "--function", "leeky", "--line", "3"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("did you mean `leaky`?"), "{}", stderr(&output));
}

#[test]
fn a_use_behind_a_loop_is_explained_though_the_value_is_uniform_in_it() {
    let text = ok(&warpline(&["explain", "examples/ray_sphere.rs", "--value", "k.sroa.0.0"]));
    assert!(
        text.contains("is uniform: it") && text.contains("which lanes leave in different iterations"),
        "{text}"
    );
    assert!(
        text.contains("… round the loop …") && text.contains("%i is an argument of the shape index"),
        "{text}"
    );
}

#[test]
fn mangled_functions_are_found_and_shown_by_the_names_in_their_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ll");
    std::fs::write(&path, LEAKY.replace("@leaky", "@_ZN5space5leakyEPiS0_i")).unwrap();
    let explain =
        |name: &str| warpline(&["explain", path.to_str().unwrap(), "--function", name, "--value", "%n"]);
    for name in ["_ZN5space5leakyEPiS0_i", "space::leaky", "leaky", "space::leaky(int*, int*, int)"] {
        assert!(ok(&explain(name)).starts_with("function space::leaky(int*, int*, int) (k.c:1)\n"), "{name}");
    }
    assert_eq!(explain("space").status.code(), Some(2));
}

#[test]
fn a_cycle_that_is_given_up_is_explained_by_two_ways_into_it_or_out_of_what_the_branch_dominates() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ll");
    let module = "\
define i32 @entered(i32 %n, i32 %u) {
entry:
  %c = icmp slt i32 %n, 7
  br i1 %c, label %a, label %b
a:
  %x = phi i32 [ 0, %entry ], [ %y, %b ]
  br label %b
b:
  %y = phi i32 [ 1, %entry ], [ %x, %a ]
  %d = icmp slt i32 %y, %u
  br i1 %d, label %a, label %end
end:
  ret i32 %y
}
define i32 @inside(i32 %n, i32 %u, i1 %w) {
entry:
  br i1 %w, label %a, label %b
a:
  %x = phi i32 [ 0, %entry ], [ %y, %b ], [ %x, %a2 ]
  %c = icmp slt i32 %n, %x
  br i1 %c, label %a2, label %b
a2:
  %e = icmp slt i32 %u, %x
  br i1 %e, label %a, label %b
b:
  %y = phi i32 [ 1, %entry ], [ %x, %a ], [ 5, %a2 ]
  %d = icmp slt i32 %y, %u
  br i1 %d, label %a, label %end
end:
  ret i32 %y
}
";
    std::fs::write(&path, module).unwrap();
    let explain = |name: &str, args: &str| {
        ok(&warpline(&[
            "explain",
            path.to_str().unwrap(),
            "--function",
            name,
            "--value",
            "y",
            "--args",
            args,
        ]))
    };
    let text = explain("entered", "n=varying,u=uniform");
    let why = "lanes that diverge at the branch of block entry enter it at different blocks\n    one path:   \
     entry → a\n    \
               other path: entry → b\n";
    assert!(text.contains(why), "{text}");
    let text = explain("inside", "n=varying,u=uniform,w=uniform");
    let why = "lanes diverge inside it, at the branch of block a, and go on to blocks that it does not strictly \
     dominate\n    \
               one path:   a → a2 → a\n    other path: a → b\n";
    assert!(text.contains(why), "{text}");
}

/// Paper 1, Figure 3c.
const EQUAL: &str = "define i32 @f(i32 %lane, i32 %n) {
entry:
  %same = icmp eq i32 %lane, %n
  br i1 %same, label %equal, label %other
equal:
  %next = add i32 %lane, 1
  ret i32 %next
other:
  ret i32 0
}
";

#[test]
fn what_is_uniform_for_what_other_analyses_know_is_explained_by_that() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("equal.ll");
    std::fs::write(&path, EQUAL).unwrap();
    let file = path.to_str().unwrap();
    let arguments = ["explain", file, "--value", "%next", "--args", "lane=varying,n=uniform"];
    let text = ok(&warpline(&arguments));
    assert!(text.contains("%next is uniform because %lane equals %n on the edge entry → equal"), "{text}");
    assert!(text.contains("without that: %next = add depends on %lane"), "{text}");
    let json = ok(&warpline(&[&arguments[..], &["--format", "json"]].concat()));
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let explanation = &report["explanations"][0];
    assert_eq!(explanation["uniform_because"], "%lane equals %n on the edge entry → equal");
    assert_eq!(explanation["without_facts"].as_array().map(Vec::len), Some(1));
    let without = ok(&warpline(&[&arguments[..], &["--no-facts"]].concat()));
    assert!(without.contains("%next is divergent"), "{without}");
}

#[test]
fn the_report_names_the_facts_that_made_a_difference() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("equal.ll");
    std::fs::write(&path, EQUAL).unwrap();
    let file = path.to_str().unwrap();
    let arguments = ["analyze", file, "--args", "lane=varying,n=uniform"];
    let text = ok(&warpline(&arguments));
    assert!(text.contains("  known: %lane equals %n on the edge entry → equal\n"), "{text}");
    let json = ok(&warpline(&[&arguments[..], &["--format", "json"]].concat()));
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["functions"][0]["facts"][0], "%lane equals %n on the edge entry → equal");
    // LLVM's analysis knows of no such thing.
    let llvm = ok(&warpline(&[&arguments[..], &["--format", "llvm"]].concat()));
    assert!(llvm.contains("DIVERGENT:") && llvm.contains("%next = add"), "{llvm}");
}

#[test]
fn a_line_says_which_of_several_functions_is_meant() {
    if !warpline_llvm::has_clang() {
        return eprintln!("skipped: there is no clang");
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("two.c");
    let text = "int first(int n, int *p) {\n  if (p[n] > 0)\n    p[n] = 1;\n  return n;\n}\nint second(int n, int *p) {\n  return p[n] \
                - n;\n}\n";
    std::fs::write(&source, text).unwrap();
    let path = source.to_str().unwrap();
    assert!(ok(&warpline(&["explain", path, "--line", "7"])).contains("function second"));
    assert!(ok(&warpline(&["explain", path, "--line", "2"])).contains("function first"));
    let nowhere = warpline(&["explain", path, "--line", "5000"]);
    assert!(
        stderr(&nowhere).contains("which function?") && stderr(&nowhere).contains("first, second"),
        "{}",
        stderr(&nowhere)
    );
}
