//! `warpline analyze`.

mod common;

use common::{ok, stderr, warpline};

#[test]
fn every_function_is_reported_for_people_and_for_programs() {
    let text = ok(&warpline(&["analyze", "examples/ray_sphere.rs", "examples/mandelbrot.rs"]));
    assert!(text.contains("function ray_sphere: ") && text.contains("function mandelbrot: "), "{text}");
    assert!(text.contains("divergent branch") && text.contains("divergent loop"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let arguments = ["analyze", "examples/mandelbrot.rs", "--format", "json", "-o", path.to_str().unwrap()];
    assert_eq!(ok(&warpline(&arguments)), "");
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(report["functions"][0]["name"], "mandelbrot");
    // The directive in the file is respected: the output pointer is uniform.
    let arguments = report["functions"][0]["arguments"].as_array().unwrap();
    assert_eq!(arguments[1]["shape"], "uniform");
}

#[test]
fn shapes_on_the_command_line_win() {
    let text = ok(&warpline(&[
        "analyze",
        "examples/mandelbrot.rs",
        "--function",
        "mandelbrot",
        "--args",
        "uniform,uniform",
    ]));
    assert!(text.contains("%i uniform, %out uniform") && !text.contains("divergent branch"), "{text}");
}

/// Paper 1's Figure 5b: threads that part in %a may meet before the post-dominator %f.
const EARLY_MEETING: &str = "define i32 @f(i32 %lane, i1 %q) {
a:
  %p = icmp eq i32 %lane, 0
  br i1 %p, label %b, label %c
b:
  br label %d
c:
  br i1 %q, label %e, label %d
d:
  %x = phi i32 [ 0, %b ], [ 1, %c ]
  br label %f
e:
  br label %f
f:
  %y = phi i32 [ %x, %d ], [ 2, %e ]
  ret i32 %y
}
";

#[test]
fn each_algorithm_has_its_say_and_the_unsound_one_comes_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fig5b.ll");
    std::fs::write(&path, EARLY_MEETING).unwrap();
    let divergent = |algorithm: &str, args: &str| {
        let file = path.to_str().unwrap();
        let arguments = ["analyze", file, "--args", args, "--algorithm", algorithm, "--format", "json"];
        let output = warpline(&arguments);
        assert_eq!(stderr(&output).contains("not sound"), algorithm == "postdom", "{}", stderr(&output));
        let report: serde_json::Value = serde_json::from_str(&ok(&output)).unwrap();
        let values = report["functions"][0]["divergent"]["values"].as_array().unwrap().clone();
        values.iter().any(|v| v == "%x")
    };
    // By %lane, threads meet in %d on both edges.
    assert!(divergent("joins", "varying,uniform"));
    assert!(divergent("strong-postdom", "varying,uniform"));
    assert!(!divergent("postdom", "varying,uniform"));
    // By %q they only come from %c, if they come to %d at all.
    assert!(!divergent("joins", "uniform,varying"));
    let output = warpline(&["analyze", path.to_str().unwrap(), "--algorithm", "guess"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("joins, postdom, strong-postdom"), "{}", stderr(&output));
}
