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

/// What is divergent, of how many: branches, and loops.
type Shares = [(u64, u64); 2];

fn shares_of_analysis(function: &serde_json::Value) -> Shares {
    let many = |list: &serde_json::Value| list.as_array().unwrap().len() as u64;
    let cycles = function["cycles"].as_array().unwrap();
    let exits = cycles.iter().filter(|c| c["divergent_exit"] == true).count() as u64;
    let branches = (many(&function["divergent"]["branches"]), function["branches"].as_u64().unwrap());
    [branches, (exits, cycles.len() as u64)]
}

fn shares_of_vector_code(report: &serde_json::Value) -> Shares {
    let number = |part: &str, key: &str| report[part][key].as_u64().unwrap();
    let kept = number("branches", "uniform_kept") + number("branches", "uniform_lost");
    let (branches, loops) = (number("branches", "divergent"), number("loops", "divergent"));
    [(branches, branches + kept), (loops, loops + number("loops", "uniform"))]
}

#[test]
fn kernels_and_loops_are_analysed_as_they_are_vectorized_in_every_format() {
    // Passes that change branches before they are counted.
    const RESHAPING: &str = "split-conditions,if-convert-arms,sink-stores,duplicate-coherent-loops";
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("k.o");
    let json = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_str(&ok(&warpline(&[arguments, &["--format", "json"]].concat()))).unwrap()
    };
    let kernels = [
        ("examples/mandelbrot.rs", "mandelbrot"),
        ("kernels/pc.rs", "pc"),
        ("kernels/rt.rs", "rt"),
        ("kernels/rt.rs", "rays"),
        ("examples/loops/area.rs", "area"),
    ];
    for (file, function) in kernels {
        let analyzed = json(&["analyze", file, "--function", function]);
        let analyzed = shares_of_analysis(&analyzed["functions"][0]);
        let options = ["--function", function, "--disable-pass", RESHAPING, "-o", object.to_str().unwrap()];
        let report = json(&[&["vectorize", file][..], &options].concat());
        let made = report["loops"].as_array().map_or(&report, |loops| &loops[0]);
        assert_eq!(analyzed, shares_of_vector_code(made), "{file}: {function}");
        let [(branches, of), (loops, among)] = analyzed;
        let few = |n: u64, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "es" });
        let branches = format!("{branches} of {}, {loops} of {among} loop", few(of, "branch"));
        for format in ["text", "html"] {
            let shown = ok(&warpline(&["analyze", file, "--function", function, "--format", format]));
            assert!(shown.contains(&branches), "`{branches}` is not in: {shown}");
        }
    }
    // Nothing diverges in `pc`, whose stack all lanes share.
    let pc = json(&["analyze", "kernels/pc.rs"]);
    assert_eq!(shares_of_analysis(&pc["functions"][0]), [(0, 4), (0, 1)]);
}
