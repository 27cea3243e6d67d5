//! `warpline analyze`.

mod common;

use common::{ok, warpline};

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
