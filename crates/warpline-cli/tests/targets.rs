//! `warpline analyze` on what compilers write for GPUs and for CPUs, and on what it cannot analyse.

mod common;

use std::path::Path;
use std::process::Command;

use common::{ok, stderr, stdout, warpline};
use serde_json::Value;

const KERNEL: &str = "
__kernel void saxpy(__global float *x, __global const float *y, float a, int n) {
  int i = get_global_id(0);
  int g = get_group_id(0);
  float s = cbrt(a) + (float)g;
  if (i < n) x[i] = s * x[i] + y[g];
  for (int k = 0; k < n; ++k) x[k] += s;
}
";

/// Runs a compiler; `None` with a printed reason if it is not there.
fn compile(program: &str, arguments: &[&str]) -> Option<()> {
    match Command::new(program).args(arguments).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", stderr(&output));
            Some(())
        }
        Err(error) => {
            eprintln!("skipped: `{program}` does not start: {error}");
            None
        }
    }
}

fn json(path: &Path) -> Value {
    let text = ok(&warpline(&["analyze", path.to_str().unwrap(), "--format", "json"]));
    serde_json::from_str(&text).unwrap()
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect()
}

#[test]
fn kernels_compiled_by_clang_are_analysed_by_the_rules_of_their_target() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("saxpy.cl");
    std::fs::write(&source, KERNEL).unwrap();
    for triple in ["amdgcn-amd-amdhsa", "nvptx64-nvidia-cuda", "spir64"] {
        let output = folder.path().join(format!("{triple}.ll"));
        let target = format!("--target={triple}");
        let (from, to) = (source.to_str().unwrap(), output.to_str().unwrap());
        let arguments =
            ["-x", "cl", "-cl-std=CL2.0", &target, "-nogpulib", "-Xclang", "-finclude-default-header"];
        let arguments =
            [&arguments[..], &["-S", "-emit-llvm", "-O2", "-fno-unroll-loops", from, "-o", to]].concat();
        if compile("clang-19", &arguments).is_none() {
            return;
        }
        let text = std::fs::read_to_string(&output).unwrap();
        // Numbers are those that LLVM prints.
        let named = |callee: &str| {
            let line = text.lines().find(|l| l.contains(callee) && l.contains(" = ")).expect(callee);
            line.trim().split(' ').next().unwrap().to_owned()
        };
        let report = json(&output);
        let function = &report["functions"][0];
        assert_eq!(function["name"], "saxpy");
        assert_eq!(
            names(&function["divergent"]["arguments"]),
            [""; 0],
            "{triple}: a kernel's arguments are uniform"
        );
        let divergent = names(&function["divergent"]["values"]);
        assert!(divergent.contains(&&*named("_Z13get_global_idj")), "{triple}");
        for uniform in ["_Z12get_group_idj", "_Z4cbrtf"] {
            assert!(!divergent.contains(&&*named(uniform)), "{triple}: {uniform}");
        }
        assert_eq!(names(&function["divergent"]["branches"]).len(), 1, "{triple}: only `i < n` is divergent");
        assert_eq!(function["unknown_calls"], 0, "{triple}");
        let llvm = ok(&warpline(&["analyze", to, "--format", "llvm"]));
        let line = llvm.lines().find(|l| l.contains("_Z13get_global_idj")).unwrap();
        assert!(line.starts_with("  DIVERGENT:   %"), "{triple}: {line}");
    }
}

#[test]
fn what_rustc_writes_is_analysed_for_simd_lanes() {
    let folder = tempfile::tempdir().unwrap();
    let (source, output) = (folder.path().join("k.rs"), folder.path().join("k.ll"));
    let text = "#[unsafe(no_mangle)] pub extern \"C\" fn collatz(i: u32) -> u32 {\n\
                let (mut n, mut steps) = (i, 0);\n while n > 1 {\n n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };\n \
                steps += 1;\n }\n steps\n}\n";
    std::fs::write(&source, text).unwrap();
    let (from, to) = (source.to_str().unwrap(), output.to_str().unwrap());
    let arguments = ["--edition=2024", "--crate-type=lib", "--emit=llvm-ir", "-Copt-level=3", from, "-o", to];
    if compile("rustc", &arguments).is_none() {
        return;
    }
    let report = json(&output);
    let function = &report["functions"][0];
    assert_eq!(function["name"], "collatz");
    assert!(
        function["cycles"].as_array().unwrap().iter().any(|c| c["divergent_exit"] == true),
        "{function:#}"
    );
    // The parameter varies since nothing else is said.
    assert_eq!(names(&function["divergent"]["arguments"]).len(), 1);
}

#[test]
fn opencl_is_compiled_for_the_target_that_is_asked_for() {
    if compile("clang-19", &["--version"]).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("saxpy.cl");
    std::fs::write(&source, KERNEL).unwrap();
    for target in ["amdgcn", "nvptx", "spirv"] {
        let text = ok(&warpline(&["analyze", source.to_str().unwrap(), "--target", target]));
        assert!(
            text.contains("arguments: %x uniform, %y uniform, %a uniform, %n uniform"),
            "{target}: {text}"
        );
        assert!(text.contains("1 of 2 branches"), "{target}: {text}");
    }
    let text = ok(&warpline(&["analyze", source.to_str().unwrap()]));
    assert!(text.contains("%x uniform") && text.contains("%global_id_0 index"), "{text}");
}

const TOKENS: &str = r#"
target triple = "amdgcn-amd-amdhsa"
declare token @llvm.experimental.convergence.anchor()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)

define void @fine(i32 %n) {
  %x = add i32 %n, 1
  ret void
}

define void @anchored(i32 %n) convergent {
  %t = call token @llvm.experimental.convergence.anchor()
  %x = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %n) [ "convergencectrl"(token %t) ]
  ret void
}
"#;

#[test]
fn a_function_refused_for_its_convergence_tokens_leaves_the_others_their_report() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.ll");
    std::fs::write(&path, TOKENS).unwrap();
    let file = path.to_str().unwrap();
    for format in ["text", "json", "llvm"] {
        let output = warpline(&["analyze", file, "--format", format]);
        assert_eq!(output.status.code(), Some(2), "{format}");
        assert!(stdout(&output).contains("fine"), "{format}: {}", stdout(&output));
        let words = stderr(&output);
        assert!(words.contains("function `anchored`, %x: ") && words.contains("anchor"), "{format}: {words}");
    }
    let report: Value =
        serde_json::from_str(&stdout(&warpline(&["analyze", file, "--format", "json"]))).unwrap();
    assert_eq!(report["functions"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&report["refused"][0]["name"], &report["refused"][0]["instruction"]),
        (&"anchored".into(), &"%x".into())
    );
    let explained = warpline(&["explain", file, "--function", "anchored", "--value", "%x"]);
    assert_eq!(explained.status.code(), Some(2));
}

#[test]
fn calls_of_unknown_functions_are_counted_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.ll");
    let text = "declare i32 @unknown(i32)\ndefine i32 @own(i32 %a) {\n  ret i32 %a\n}\n\
                define i32 @f(i32 %a, ptr %g) {\n  %x = call i32 @unknown(i32 %a)\n  %y = call i32 %g(i32 %x)\n  \
                %z = call i32 @own(i32 0)\n  ret i32 %z\n}\n";
    std::fs::write(&path, text).unwrap();
    let file = path.to_str().unwrap();
    let text = ok(&warpline(&["analyze", file, "--function", "f", "--args", "uniform,uniform"]));
    assert!(text.contains("  unknown calls: 2\n"), "{text}");
    let why =
        ok(&warpline(&["explain", file, "--function", "f", "--value", "%x", "--args", "uniform,uniform"]));
    assert!(why.contains("is the result of a call to an unknown function"), "{why}");
}
