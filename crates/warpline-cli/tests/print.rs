//! `warpline --print`: what other builds are told is what they need.

mod common;

use std::path::Path;
use std::process::Command;

use common::{ok, stderr, stdout, warpline};

/// One line of what is printed.
#[track_caller]
fn printed(words: &[&str]) -> String {
    ok(&warpline(words)).trim_end().to_owned()
}

/// Compiles and links; the program's output, or nothing where there is no compiler.
#[track_caller]
fn built(folder: &Path, words: &str) -> Option<String> {
    let words = words.split(' ').filter(|word| !word.is_empty());
    let output = Command::new("cc").current_dir(folder).args(words).args(["-o", "program"]).output();
    let Ok(output) = output else {
        println!("skipped: there is no C compiler");
        return None;
    };
    assert!(output.status.success(), "{}", stderr(&output));
    let output = Command::new(folder.join("program")).output().unwrap();
    Some(stdout(&output))
}

#[test]
fn what_compilers_and_linkers_are_told_suffices() {
    if !warpline_llvm::has_clang() {
        return println!("skipped: there is no clang");
    }
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let sine = "#include <math.h>\n//@ args i=index\nvoid wave(int i, const float *restrict in, float *restrict out) { \
                out[i] = sinf(in[i]) + fmodf(in[i], 3.0f); }\n";
    std::fs::write(at("wave.c"), sine).unwrap();
    let plain = "//@ args i=index\nvoid copy(int i, const float *restrict in, float *restrict out) { out[i] = in[i]; }\n";
    std::fs::write(at("copy.c"), plain).unwrap();
    let main = "#define WARPLINE_SCALAR\n#include <warpline.h>\n#include <stdio.h>\n#include \"wave.h\"\n#include \
                \"copy.h\"\nint main(void) {\n  float in[20] = {0}, out[20];\n  wave_range(0, 20, in, out);\n  \
                copy_range(0, 20, out, in);\n  printf(\"%g %d\\n\", in[3], (int)warpline_lane_count());\n}\n";
    std::fs::write(at("main.c"), main).unwrap();
    for name in ["wave", "copy"] {
        let (input, object, header) =
            (at(&format!("{name}.c")), at(&format!("{name}.o")), at(&format!("{name}.h")));
        ok(&warpline(&["vectorize", &input, "-o", &object, "--header", &header, "--cpu", "x86-64", "-q"]));
    }
    let cflags = printed(&["--print", "cflags"]);
    let wave = printed(&["--print", "libs", "--cpu", "x86-64", &at("wave.o"), &at("copy.o")]);
    assert!(wave.split(' ').all(|word| word.starts_with("-l")), "{wave}");
    assert_eq!(printed(&["--print", "libs", &at("copy.o")]), "");
    let all = printed(&["--print=libs"]);
    for libraries in [&wave, &all] {
        let Some(text) = built(place.path(), &format!("-I. {cflags} main.c wave.o copy.o {libraries}"))
        else {
            return;
        };
        assert_eq!(text, "0 1\n", "{libraries}");
    }
    let object = ok(&warpline(&["--print", "libs", "--print", "version", &at("copy.o")]));
    assert_eq!(object, "\n0.1.0\n");
    assert_eq!(printed(&["--print", "libs", "--triple", "aarch64-unknown-linux-gnu"]), "-lm");
}

#[test]
fn what_is_not_installed_beside_the_program_is_in_it() {
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("warpline");
    std::fs::copy(env!("CARGO_BIN_EXE_warpline"), &program).unwrap();
    let folder = |what: &str| {
        let output = Command::new(&program)
            .args(["--print", what])
            .env("WARPLINE_DATA", place.path().join("data"))
            .output()
            .unwrap();
        std::path::PathBuf::from(ok(&output).trim_end())
    };
    let include = folder("include-dir");
    assert!(include.starts_with(place.path().join("data")));
    let header = std::fs::read_to_string(include.join("warpline.h")).unwrap();
    assert_eq!(header, warpline_llvm::C_HEADER);
    let cmake = folder("cmake-dir");
    assert!(cmake.join("Warpline.cmake").is_file() && cmake.join("WarplineConfig.cmake").is_file());
    let hint = std::fs::read_to_string(cmake.join("WarplineProgram.cmake")).unwrap();
    assert!(hint.contains(program.to_str().unwrap()), "{hint}");
    // What is there is written again where it was changed.
    std::fs::write(include.join("warpline.h"), "old").unwrap();
    assert_eq!(folder("include-dir"), include);
    assert_eq!(std::fs::read_to_string(include.join("warpline.h")).unwrap(), header);
}

#[test]
fn machines_are_named() {
    let cpus = printed(&["--print", "cpus", "--triple", "x86_64-unknown-linux-gnu"]);
    assert!(cpus.lines().any(|line| line == "haswell") && cpus.lines().count() > 20, "{cpus}");
    let host = printed(&["--print", "host-cpu", "--print", "host-triple"]);
    assert_eq!(host.lines().count(), 2, "{host}");
}

#[test]
fn what_cannot_be_printed_is_refused_with_a_reason() {
    let refused = |words: &[&str]| {
        let output = warpline(words);
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
        stderr(&output)
    };
    assert!(refused(&["--print", "lib"]).contains("libs"));
    assert!(refused(&["--print", "libs", "--cpu", "haswel"]).contains("did you mean"));
    assert!(refused(&["--print", "version", "x.o"]).contains("objects are for `libs`"));
    assert!(refused(&["--print", "libs", "missing.o"]).contains("missing.o"));
    assert!(refused(&["--print", "libs", "examples/mandelbrot.rs"]).contains("it is no object"));
    assert!(refused(&["--print", "libs", "README"]).contains("README"));
    for words in [&["--print", "help"][..], &["--print", "--help"], &["--print"]] {
        assert!(ok(&warpline(words)).contains("cmake-dir"), "{words:?}");
    }
}
