//! Kernels on machines of several kinds: x86-64 with vectors of 128, 256 and 512 bits, which run here where this
//! machine is one, and AArch64 under qemu-user.

mod common;

use std::path::Path;
use std::process::Command;

use common::{ok, root, stderr, warpline};

/// The CPUs of x86-64 whose code this machine runs; says of the others why not.
fn cpus() -> Vec<&'static str> {
    let mut cpus = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! has {
            ($($feature:tt)*) => { $(is_x86_feature_detected!($feature))&&* };
        }
        let haswell = has!("avx2" "bmi1" "bmi2" "fma" "f16c" "lzcnt" "movbe" "popcnt");
        let zen4 = haswell
            && has!("avx512f" "avx512bw" "avx512dq" "avx512cd" "avx512vl" "avx512vbmi" "avx512vbmi2")
            && has!("avx512ifma" "avx512vnni" "avx512bitalg" "avx512vpopcntdq" "avx512bf16")
            && has!("adx" "aes" "gfni" "pclmulqdq" "sha" "vaes" "vpclmulqdq" "sse4a");
        for (cpu, there) in [("x86-64-v2", has!("sse4.2" "popcnt")), ("haswell", haswell), ("znver4", zen4)] {
            if there {
                cpus.push(cpu);
            } else {
                eprintln!("{cpu}: skipped: this machine lacks features of it");
            }
        }
    }
    cpus
}

/// The kernels among the examples that can be compiled here.
fn examples() -> Vec<String> {
    let files = std::fs::read_dir(root().join("examples")).unwrap();
    let names = files.map(|e| e.unwrap().file_name().into_string().unwrap());
    let kinds: &[&str] = if warpline_llvm::has_clang() { &[".rs", ".c"] } else { &[".rs"] };
    let is_kernel = |n: &String| {
        kinds.iter().any(|kind| n.ends_with(kind))
            && std::fs::read_to_string(root().join("examples").join(n)).unwrap().contains("//@ args")
    };
    let mut names: Vec<String> = names.filter(is_kernel).collect();
    names.sort();
    assert!(names.len() >= 5, "{names:?}");
    names
}

#[test]
fn examples_run_without_a_mismatch_on_each_kind_of_x86() {
    for cpu in cpus() {
        for name in examples() {
            let file = format!("examples/{name}");
            let text = ok(&warpline(&["run", &file, "--cpu", cpu, "--range", "0..1003"]));
            assert!(text.contains(&format!(" lanes for {cpu}\n")), "{text}");
            assert!(text.contains("; 0 mismatches"), "{name} on {cpu}: {text}");
        }
    }
}

const TRIPLE: &str = "aarch64-unknown-linux-gnu";
const LINKER: &str = "aarch64-linux-gnu-gcc";
const EMULATOR: &str = "qemu-aarch64";

fn starts(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        eprintln!("skipped: there is no {program}");
    }
    there
}

/// Vectorizes an example for AArch64, into a folder; the object and its header.
fn vectorize(folder: &Path, example: &str) -> [String; 2] {
    let made = ["o", "h"].map(|kind| folder.join(format!("{example}.{kind}")).display().to_string());
    let file = format!("examples/{example}");
    let cpu = ["--triple", TRIPLE, "--cpu", "neoverse-n1"];
    ok(&warpline(&[&["vectorize", &file, "-o", &made[0], "--header", &made[1]], &cpu[..]].concat()));
    made
}

/// Links sources and objects for AArch64 with gcc, runs the program under the emulator and returns what it prints.
#[track_caller]
fn link_and_run(folder: &Path, main: &str, rest: &[&str]) -> String {
    let (source, program) = (folder.join("main.c"), folder.join("program"));
    std::fs::write(&source, main).unwrap();
    let linked = Command::new(LINKER)
        .args(["-O2", "-ffp-contract=off", "-static", "-o"])
        .arg(&program)
        .arg(&source)
        .args(rest)
        .arg("-lm")
        .current_dir(root())
        .output()
        .unwrap();
    assert!(linked.status.success(), "{}", stderr(&linked));
    ok(&Command::new(EMULATOR).arg(&program).output().unwrap())
}

#[test]
fn a_kernel_in_c_and_its_header_do_on_aarch64_what_gcc_makes_of_it() {
    if !starts(LINKER) || !starts(EMULATOR) || !warpline_llvm::has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [object, header] = vectorize(folder.path(), "binary_search.c");
    let main = format!(
        "#include <stdio.h>
#include \"{header}\"
int32_t binary_search(int32_t i, int32_t key, const int32_t *sorted, int32_t count);
int main(void) {{
  static int32_t sorted[500], keys[1003], found[1003];
  for (int k = 0; k < 500; k++) sorted[k] = 3 * k;
  for (int k = 0; k < 1003; k++) keys[k] = k * 2654435761u % 1600;
  binary_search_range(0, 1003, keys, sorted, 500, found);
  int wrong = 0, hits = 0;
  for (int k = 0; k < 1003; k++) {{
    int32_t expected = binary_search(k, keys[k], sorted, 500);
    wrong += expected != found[k];
    hits += expected >= 0;
  }}
  printf(\"%d wrong, %s\\n\", wrong, hits > 100 && hits < 900 ? \"some found\" : \"no test\");
}}
"
    );
    let said = link_and_run(folder.path(), &main, &[&object, "examples/binary_search.c"]);
    assert_eq!(said, "0 wrong, some found\n");
}

#[test]
fn a_kernel_in_rust_does_on_aarch64_what_rustc_makes_of_it() {
    if !starts(LINKER) || !starts(EMULATOR) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let scalar = folder.path().join("scalar.o").display().to_string();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let compiled = Command::new(rustc)
        .args(["--edition=2024", "--crate-type=lib", "-Cpanic=abort", "-Copt-level=3", "--emit=obj"])
        .args(["--target", TRIPLE, "-o", &scalar, "examples/mandelbrot.rs"])
        .current_dir(root())
        .output()
        .unwrap();
    if stderr(&compiled).contains("target may not be installed") {
        eprintln!("skipped: rustc has no standard library for {TRIPLE} (rustup target add)");
        return;
    }
    assert!(compiled.status.success(), "{}", stderr(&compiled));
    let [object, header] = vectorize(folder.path(), "mandelbrot.rs");
    let main = format!(
        "#include <stdio.h>
#include \"{header}\"
void mandelbrot(int32_t i, int32_t *out);
int main(void) {{
  static int32_t scalar[512 * 384], lanes[512 * 384];
  mandelbrot_range(50000, 53001, lanes);
  int wrong = 0, deep = 0;
  for (int i = 50000; i < 53001; i++) mandelbrot(i, scalar);
  for (int i = 0; i < 512 * 384; i++) {{
    wrong += scalar[i] != lanes[i];
    deep += scalar[i] > 10;
  }}
  printf(\"%d wrong, %s\\n\", wrong, deep > 100 ? \"some deep\" : \"no test\");
}}
"
    );
    assert_eq!(link_and_run(folder.path(), &main, &[&object, &scalar]), "0 wrong, some deep\n");
}

#[test]
fn a_target_that_does_not_fit_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let module = file("module.ll");
    let text = "target triple = \"aarch64-unknown-linux-gnu\"\n\
                define i32 @kernel(i32 %i) {\n  %x = mul i32 %i, %i\n  ret i32 %x\n}\n";
    std::fs::write(&module, text).unwrap();
    let output = file("out.o");
    let refused = |arguments: &[&str], reason: &str| {
        let refused = warpline(&[&[arguments[0], &module, "--args", "index"], &arguments[1..]].concat());
        assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
        assert!(stderr(&refused).contains(reason), "{}", stderr(&refused));
        assert!(!Path::new(&output).exists());
    };
    let x86 = ["vectorize", "-o", &output, "--triple", "x86_64-unknown-linux-gnu"];
    refused(&x86, "it is for aarch64-unknown-linux-gnu, not for x86_64-unknown-linux-gnu");
    if cfg!(target_arch = "x86_64") {
        refused(&["vectorize", "-o", &output], "say which CPU with --cpu");
        refused(&["run", "--cpu", "generic", "--range", "0..9"], "which is not this machine");
    }
    ok(&warpline(&["vectorize", &module, "--args", "index", "-o", &output, "--cpu", "generic"]));
    assert_eq!(&std::fs::read(&output).unwrap()[18..20], [183, 0], "ELF's number of AArch64");
}
