//! Sources of real projects, vectorized unchanged: with the flags of their builds, many kernels a call, and headers
//! that C and C++ compilers take.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{command, has_clang, ok, root, stderr, stdout, warpline};

/// The flags with which the library in C is built.
const LIBRARY: [&str; 4] = ["-Ifiletests/projects/clib/include", "-DDSP_FLOAT", "-D", "DSP_TAPS=16"];

fn source(name: &str) -> String {
    format!("filetests/projects/{name}")
}

/// Words with a folder's path in the place of `DIR`.
fn in_folder(words: &[&str], folder: &Path) -> Vec<String> {
    words.iter().map(|word| word.replace("DIR", &folder.display().to_string())).collect()
}

/// Runs words in which `DIR` is a folder.
fn run_in(words: &[&str], folder: &Path) -> Output {
    let words = in_folder(words, folder);
    warpline(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Compiles a header as a file of its own, by whichever compilers there are.
fn takes(header: &Path, lanes: bool) {
    let compilers: [(&str, &[&str]); 4] = [
        ("cc", &["-xc", "-std=c99"]),
        ("c++", &["-xc++", "-std=c++11"]),
        ("clang-19", &["-xc", "-std=c99"]),
        ("clang++-19", &["-xc++"]),
    ];
    for (compiler, language) in compilers {
        let mut compile = Command::new(compiler);
        compile.args(language).args(["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]);
        compile.args(lanes.then_some("-DWARPLINE_LANES"));
        let main = header.with_extension("main");
        std::fs::write(&main, format!("#include \"{0}\"\n#include \"{0}\"\nint x;\n", header.display()))
            .unwrap();
        match compile.arg(&main).output() {
            Err(_) => println!("skipped: there is no {compiler}"),
            Ok(output) => {
                let text = std::fs::read_to_string(header).unwrap();
                assert!(
                    output.status.success(),
                    "{compiler}: {}\n{text}",
                    String::from_utf8_lossy(&output.stderr)
                );
            }
        }
    }
}

#[test]
fn a_library_in_c_with_headers_and_definitions_goes_in_as_it_is() {
    if !has_clang() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let file = source("clib/src/dsp.c");
    let missing = warpline(&["run", &file]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("dsp.h"), "{}", stderr(&missing));
    let mut words =
        vec!["vectorize", &file, "-o", "DIR/dsp.o", "--header", "DIR/dsp.h", "-MD", "--format", "json"];
    words.extend(LIBRARY);
    let report: serde_json::Value = serde_json::from_str(&ok(&run_in(&words, place.path()))).unwrap();
    assert_eq!(report["schema_version"], 1);
    let names: Vec<&str> =
        report["kernels"].as_array().unwrap().iter().map(|k| k["function"].as_str().unwrap()).collect();
    assert_eq!(names, ["dsp_fir", "dsp_amplify"]);
    let header = std::fs::read_to_string(place.path().join("dsp.h")).unwrap();
    let (before, lanes) = header.split_once("#ifdef WARPLINE_LANES").unwrap();
    assert!(before.contains("dsp_fir_range(") && before.contains("dsp_amplify_range("), "{header}");
    assert!(!before.contains("dsp_fir_w") && lanes.contains("dsp_fir_w"), "{header}");
    takes(&place.path().join("dsp.h"), false);
    takes(&place.path().join("dsp.h"), true);
    let rule = std::fs::read_to_string(place.path().join("dsp.d")).unwrap();
    for part in ["/dsp.o ", "/dsp.h:", "clib/src/internal.h", "include/dsp/config.h", "stddef.h"] {
        assert!(rule.contains(part), "{part}: {rule}");
    }
    let mut words = vec!["run", &file];
    words.extend(LIBRARY);
    let text = ok(&warpline(&words));
    assert!(text.contains("dsp_fir: vectorized") && text.contains("dsp_amplify: vectorized"), "{text}");
    assert_eq!(text.matches("0 mismatches").count(), 2, "{text}");
}

#[test]
fn every_verb_that_reads_sources_takes_flags() {
    if !has_clang() {
        return;
    }
    let file = source("clib/src/dsp.c");
    let verbs: [&[&str]; 8] = [
        &["analyze", &file],
        &["explain", &file, "--function", "dsp_amplify", "--line", "25"],
        &["constant-time", &file, "--function", "dsp_energy", "--secret", "in"],
        &["lint", &file, "--client", "null-pointers"],
        &["ssa", &file],
        &["ssi", &file, "--strategy", "abcd"],
        &["run", &file, "--function", "dsp_fir"],
        &["vectorize", &file, "--function", "dsp_fir", "-o", "-", "-q"],
    ];
    for verb in verbs {
        let output = warpline(&[verb, &LIBRARY[..]].concat());
        assert!(output.status.code().is_some_and(|code| code < 2), "{verb:?}: {}", stderr(&output));
        let output = warpline(&[verb, &["--"], &LIBRARY[..]].concat());
        assert!(output.status.code().is_some_and(|code| code < 2), "{verb:?} --: {}", stderr(&output));
    }
}

#[test]
fn flags_come_from_variables_and_from_the_projects_commands() {
    if !has_clang() {
        return;
    }
    let file = source("clib/src/dsp.c");
    let mut by_variables = command(&["analyze", &file]);
    by_variables.env("CPPFLAGS", "-Ifiletests/projects/clib/include '-DDSP_TAPS=16'");
    by_variables.env("CFLAGS", "-O2 -g -flto=auto -DDSP_FLOAT").env("CXXFLAGS", "-no-such-flag");
    ok(&by_variables.output().unwrap());
    let place = tempfile::tempdir().unwrap();
    let json = serde_json::json!([{
        "directory": root().join("filetests/projects/clib"),
        "file": "src/dsp.c",
        "command": "/usr/bin/cc -Iinclude -DDSP_FLOAT -DDSP_TAPS=16 -O2 -MD -MF dsp.d -o dsp.o -c src/dsp.c",
    }]);
    std::fs::write(place.path().join("compile_commands.json"), json.to_string()).unwrap();
    ok(&run_in(&["run", &file, "-p", "DIR"], place.path()));
    let other = run_in(&["run", "-p", "DIR", &source("crypto/field.c")], place.path());
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("has no entry"), "{}", stderr(&other));
}

#[test]
fn an_image_library_in_cpp_goes_in_as_it_is() {
    if !has_clang() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let file = source("image/image.cpp");
    let words = [
        "vectorize",
        &file,
        "--function",
        "img::filters::threshold",
        "--function",
        "*adjust<*",
        "--args",
        "i=index",
        "-o",
        "DIR/image.o",
        "--header",
        "DIR/image.h",
        "-std=c++17",
        "--cpu",
        "x86-64-v3,x86-64-v4",
    ];
    ok(&run_in(&words, place.path()));
    let header = std::fs::read_to_string(place.path().join("image.h")).unwrap();
    for name in [
        "img_filters_threshold_range(",
        "img_adjust_unsigned_char_range(",
        "img_adjust_unsigned_short_range(",
    ] {
        assert!(header.contains(name), "{name}: {header}");
    }
    takes(&place.path().join("image.h"), false);
    takes(&place.path().join("image.h"), true);
    let words = [
        "run",
        &file,
        "--function",
        "threshold",
        "--args",
        "i=index",
        "--range",
        "0..100",
        "--bind",
        "low=50",
        "--bind",
        "high=200",
        "--bind",
        "in=u8[100]=random",
        "--bind",
        "out=u8[100]=zero",
    ];
    let text = ok(&warpline(&words));
    assert!(text.contains("0 mismatches"), "{text}");
}

#[test]
fn a_cryptographic_library_goes_in_as_it_is() {
    if !has_clang() {
        return;
    }
    let file = source("crypto/field.c");
    let text = ok(&warpline(&["run", &file, "--function", "*"]));
    assert_eq!(text.matches("0 mismatches").count(), 2, "{text}");
    let secret = warpline(&["constant-time", &file, "--function", "verify_32", "--secret", "*x,*y"]);
    assert_eq!(secret.status.code(), Some(0), "{}", stdout(&secret));
}

/// A kernel that can be vectorized and one that cannot.
const HALF: &str = "//@ args i=index\n//@ range 0..8\n//@ bind o=i32[8]=zero\nvoid good(int i, int *restrict o) \
                    { o[i] = i; }\nint setjmp(void *) __attribute__((returns_twice));\n//@ args i=index\nvoid \
                    bad(int i, void *p) { setjmp(p); }\n";

#[test]
fn a_kernel_that_is_refused_does_not_fail_the_others_unless_it_is_named() {
    if !has_clang() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("half.c"), HALF).unwrap();
    let object = place.path().join("half.o");
    for (words, code, word) in [
        (&[][..], 0, "warning: "),
        (&["--function", "*"], 0, "warning: "),
        (&["--require-all"], 1, "error: "),
        (&["--function", "good", "--function", "bad"], 1, "error: "),
    ] {
        let output =
            run_in(&[&["vectorize", "DIR/half.c", "-o", "DIR/half.o"], words].concat(), place.path());
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(word) && stderr(&output).contains("`bad`"), "{}", stderr(&output));
        std::fs::remove_file(&object).unwrap();
    }
    let alone = run_in(&["vectorize", "DIR/half.c", "-o", "DIR/half.o", "--function", "bad"], place.path());
    assert_eq!(alone.status.code(), Some(1), "{}", stderr(&alone));
    assert!(!object.exists());
    let ran = run_in(&["run", "DIR/half.c", "--format", "json"], place.path());
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let report: serde_json::Value = serde_json::from_str(&stdout(&ran)).unwrap();
    assert_eq!(
        (report["kernels"][0]["function"].as_str(), report["refused"][0]["function"].as_str()),
        (Some("good"), Some("bad"))
    );
    let typo = run_in(&["vectorize", "DIR/half.c", "-o", "DIR/half.o", "--function", "god"], place.path());
    assert_eq!(typo.status.code(), Some(2));
    assert!(stderr(&typo).contains("did you mean `good`?"), "{}", stderr(&typo));
    let none = run_in(&["vectorize", "DIR/half.c", "-o", "DIR/half.o", "--function", "x*"], place.path());
    assert!(stderr(&none).contains("no kernel matches `x*`"), "{}", stderr(&none));
}

#[test]
fn a_loop_that_is_refused_stays_scalar() {
    if !has_clang() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let text = "int setjmp(void *) __attribute__((returns_twice));\nvoid f(int n, int *a, void *p) {\n  //@ loop\n  \
                for (int i = 0; i < n; i++) a[i] = i;\n}\nvoid g(int n, void *p) {\n  //@ loop\n  for (int i = 0; i \
                < n; i++) setjmp(p);\n}\n";
    std::fs::write(place.path().join("loops.c"), text).unwrap();
    let words = ["vectorize", "DIR/loops.c", "-o", "DIR/loops.o"];
    let output = run_in(&words, place.path());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("warning: the loop at") && stderr(&output).contains("stays as it is"));
    assert!(place.path().join("loops.o").exists());
    let all = run_in(&[&words[..], &["--require-all"]].concat(), place.path());
    assert_eq!(all.status.code(), Some(1));
    let named = run_in(&[&words[..], &["--loop", "8"]].concat(), place.path());
    assert_eq!(named.status.code(), Some(2), "{}", stderr(&named));
}

#[test]
fn what_flags_say_of_arithmetic_holds() {
    if !has_clang() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let text = "float f(float a, float b, float c) { return a * b + c; }\nfloat g(float a, float b, float c) \
                {\n#pragma clang fp contract(fast)\n  return a * b + c;\n}\n";
    std::fs::write(place.path().join("fp.c"), text).unwrap();
    let code = |function: &str, flags: &[&str]| {
        let words = [
            "vectorize",
            "DIR/fp.c",
            "--function",
            function,
            "--args",
            "a=varying,b=varying,c=varying",
            "--width",
            "8",
            "--cpu",
            "haswell",
            "-o",
            "DIR/fp.s",
            "-q",
        ];
        ok(&run_in(&[&words, flags].concat(), place.path()));
        std::fs::read_to_string(place.path().join("fp.s")).unwrap()
    };
    assert!(!code("f", &[]).contains("vfmadd"));
    for flags in [
        &["-ffast-math"][..],
        &["-ffp-contract=fast"],
        &["-ffp-contract=on"],
        &["--fp-contract", "on"],
        &["-Ofast"],
    ] {
        assert!(code("f", flags).contains("vfmadd"), "{flags:?}");
    }
    assert!(code("g", &[]).contains("vfmadd"));
    assert!(code("f", &["-fcf-protection=branch"]).contains("endbr64"));
    assert!(!code("f", &["-fcf-protection=none"]).contains("endbr64"));
}

#[test]
fn instrumentation_is_refused_by_name_in_flags_and_in_modules() {
    let place = tempfile::tempdir().unwrap();
    let module = "declare void @__asan_load4(i64)\ndefine void @k(i32 %i, ptr %p) {\n  %a = ptrtoint ptr %p to \
                  i64\n  call void @__asan_load4(i64 %a)\n  store i32 %i, ptr %p\n  ret void\n}\n";
    std::fs::write(place.path().join("k.ll"), module).unwrap();
    let words = ["vectorize", "DIR/k.ll", "--args", "i=index", "-o", "DIR/k.o"];
    let output = run_in(&words, place.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("AddressSanitizer") && stderr(&output).contains("__asan_load4"),
        "{}",
        stderr(&output)
    );
    if !has_clang() {
        return;
    }
    let file = source("crypto/field.c");
    for flag in ["-fsanitize=address", "--coverage", "-fprofile-instr-generate"] {
        let words = ["vectorize", &file, "--function", "verify_32", "-o", "DIR/k.o", flag];
        let output = run_in(&words, place.path());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(flag), "{}", stderr(&output));
        ok(&run_in(&[&words[..], &["--strip-instrumentation"]].concat(), place.path()));
    }
    for (flag, why) in [("-S", "bitcode"), ("-flto", "link-time"), ("-m32", "--triple"), ("-xc++", "suffix")]
    {
        let output = run_in(&["vectorize", &file, "-o", "DIR/k.o", flag], place.path());
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output).contains(&format!("`{flag}`")) && stderr(&output).contains(why),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn rustc_gets_its_own_flags() {
    let place = tempfile::tempdir().unwrap();
    let text = "#[cfg(not(wide))]\ncompile_error!(\"say --cfg wide\");\n//@ args i=index\n#[unsafe(no_mangle)]\npub \
                unsafe extern \"C\" fn k(i: i32, o: *mut i32) { unsafe { *o.offset(i as isize) = i } }\n";
    std::fs::write(place.path().join("k.rs"), text).unwrap();
    let words = ["vectorize", "DIR/k.rs", "-o", "DIR/k.o", "-MD", "-MF", "DIR/list"];
    let without = run_in(&words, place.path());
    assert_eq!(without.status.code(), Some(2));
    assert!(stderr(&without).contains("say --cfg wide"), "{}", stderr(&without));
    ok(&run_in(&[&words[..], &["--cfg", "wide", "--edition", "2024"]].concat(), place.path()));
    let rule: PathBuf = place.path().join("list");
    assert!(std::fs::read_to_string(rule).unwrap().contains("k.rs"));
    let emit = run_in(&[&words[..], &["--rustc-arg=--emit=asm"]].concat(), place.path());
    assert!(stderr(&emit).contains("`--emit=asm`"), "{}", stderr(&emit));
}

/// Runs a tool with these words in which `DIR` is a folder; what it prints, or nothing if there is no such tool.
fn tool(words: &[&str], folder: &Path) -> Option<String> {
    let words = in_folder(words, folder);
    let Ok(output) = Command::new(&words[0]).args(&words[1..]).current_dir(root()).output() else {
        println!("skipped: there is no {}", words[0]);
        return None;
    };
    assert!(output.status.success(), "{words:?}: {}{}", stdout(&output), stderr(&output));
    Some(stdout(&output))
}

/// A program whose target gets include folders and definitions from a library that it links.
const CMAKE: &str = "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nfind_package(Warpline REQUIRED)\n\
                     add_library(config INTERFACE)\ntarget_include_directories(config INTERFACE include)\n\
                     target_compile_definitions(config INTERFACE DSP_FLOAT DSP_TAPS=16)\nadd_executable(p main.c)\n\
                     set_target_properties(p PROPERTIES C_STANDARD 17)\ntarget_link_libraries(p PRIVATE config)\n\
                     target_compile_options(p PRIVATE -Wall -O2)\n\
                     warpline_kernels(p SOURCES src/dsp.c FUNCTIONS \"dsp_f*\" CPUS x86-64-v2 x86-64-v3)\n\
                     add_executable(program plain.c)\n";

/// What README shows, for a target of its own.
fn cmake_of_readme() -> String {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (_, block) = readme.split_once("```cmake\n").expect("it shows CMake");
    block.split("```").next().unwrap_or_default().to_owned()
}

const CMAKE_MAIN: &str = "#include <stdio.h>\n#include \"dsp.warpline.h\"\nint main(void) {\n  float in[116], \
                          taps[16], out[100];\n  for (int i = 0; i < 116; i++) in[i] = (float)i;\n  for (int i = 0; i \
                          < 16; i++) taps[i] = 1;\n  dsp_fir_range(0, 100, in, taps, out);\n  printf(\"%g\\n\", \
                          out[3]);\n}\n";

#[test]
fn cmake_finds_the_package_takes_a_targets_flags_and_tracks_headers() {
    let has_cc = Command::new("cc").arg("--version").output().is_ok();
    if !has_clang() || !has_cc || !cfg!(target_arch = "x86_64") {
        println!("skipped: this needs a C compiler, clang and x86-64");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let library = root().join(source("clib"));
    for name in ["src/dsp.c", "src/internal.h", "include/dsp/dsp.h", "include/dsp/config.h"] {
        let to = place.path().join(name);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(library.join(name), to).unwrap();
    }
    std::fs::write(place.path().join("CMakeLists.txt"), CMAKE.to_owned() + &cmake_of_readme()).unwrap();
    let plain = "#include \"kernels.warpline.h\"\nint main(void) {\n  float y[9] = {1};\n  twice_range(0, 9, y);\n  return y[0] != \
                 2;\n}\n";
    std::fs::write(place.path().join("plain.c"), plain).unwrap();
    let kernels = "//@ args i=index\nvoid twice(int i, float *y) { y[i] *= 2; }\n";
    std::fs::write(place.path().join("kernels.c"), kernels).unwrap();
    std::fs::write(place.path().join("main.c"), CMAKE_MAIN).unwrap();
    if tool(&["cmake", "-S", "cmake", "-B", "DIR/install"], place.path()).is_none() {
        return;
    }
    tool(&["cmake", "--install", "DIR/install", "--prefix", "DIR/prefix"], place.path());
    let program = format!("-DWARPLINE_EXECUTABLE={}", env!("CARGO_BIN_EXE_warpline"));
    tool(
        &["cmake", "-S", "DIR", "-B", "DIR/build", "-DCMAKE_PREFIX_PATH=DIR/prefix", &program],
        place.path(),
    );
    let build = || tool(&["cmake", "--build", "DIR/build"], place.path()).unwrap();
    assert!(build().contains("Vectorizing dsp"));
    // The sum of 3, 4, … 18.
    assert_eq!(tool(&["DIR/build/p"], place.path()).unwrap(), "168\n");
    assert!(tool(&["DIR/build/program"], place.path()).is_some());
    assert!(!build().contains("Vectorizing dsp"), "nothing has changed");
    let header = place.path().join("include/dsp/config.h");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    std::fs::File::options().append(true).open(header).unwrap().set_modified(later).unwrap();
    assert!(build().contains("Vectorizing dsp"), "a header has changed");
}
