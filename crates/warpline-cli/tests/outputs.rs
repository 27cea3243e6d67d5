//! Where outputs go: what is replaced, what is written to, what is refused, and what is left behind.

mod common;

use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::{command, ok, stderr, warpline};

const KERNEL: &str = "define void @kernel(i32 %i, ptr %out) {\n  %at = sext i32 %i to i64\n\
     %p = getelementptr float, ptr %out, i64 %at\n  store float 1.0, ptr %p, align 4\n  ret void\n}\n";

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        std::fs::write(place.path("k.ll"), KERNEL).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn vectorize(&self, more: &[&str]) -> Command {
        let mut all = vec!["vectorize", "k.ll", "--args", "index,uniform", "--width", "8"];
        all.extend(more);
        let mut made = command(&all);
        made.current_dir(self.0.path());
        made
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[track_caller]
    fn refused(&self, more: &[&str], words: &[&str]) {
        let before = self.names();
        let output = self.vectorize(more).output().unwrap();
        said(&output, words);
        assert_eq!(self.names(), before);
    }
}

#[track_caller]
fn said(output: &Output, words: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
}

#[test]
fn the_input_is_never_an_output() {
    let place = Place::new();
    symlink("k.ll", place.path("soft.ll")).unwrap();
    std::fs::hard_link(place.path("k.ll"), place.path("hard.ll")).unwrap();
    for name in ["k.ll", "./k.ll", "soft.ll", "hard.ll"] {
        place.refused(&["-o", name], &[name, "it is the input k.ll"]);
        place.refused(&["-o", "k.o", "--header", name], &[name, "it is the input k.ll"]);
    }
    for verb in [&["analyze", "k.ll"][..], &["ssa", "k.ll"], &["ssi", "k.ll", "--strategy", "ssi"]] {
        let output = command(verb).args(["-o", "soft.ll"]).current_dir(place.0.path()).output().unwrap();
        said(&output, &["it is the input"]);
    }
    assert_eq!(std::fs::read_to_string(place.path("k.ll")).unwrap(), KERNEL);
}

#[test]
fn two_outputs_are_two_files() {
    let place = Place::new();
    place.refused(&["-o", "k.s", "--header", "k.s"], &["another output"]);
    place.refused(&["-o", "k.s", "--header", "./k.s"], &["another output"]);
    std::fs::write(place.path("old.s"), "").unwrap();
    symlink("old.s", place.path("k.h")).unwrap();
    place.refused(&["-o", "old.s", "--header", "k.h"], &["another output"]);
    place.refused(&["-o", "-", "--header", "-"], &["another output"]);
}

#[test]
fn several_outputs_appear_together_or_not_at_all() {
    let place = Place::new();
    std::fs::write(place.path("k.h"), "kept").unwrap();
    std::fs::set_permissions(place.path("k.h"), std::fs::Permissions::from_mode(0o444)).unwrap();
    place.refused(&["-o", "k.o", "--header", "k.h"], &["k.h", "read-only"]);
    assert_eq!(std::fs::read_to_string(place.path("k.h")).unwrap(), "kept");
    if Path::new("/dev/full").exists() {
        place.refused(&["-o", "k.o", "--header", "/dev/full"], &["/dev/full", "No space"]);
    }
    ok(&place.vectorize(&["-o", "k.o", "--header", "new.h"]).output().unwrap());
    assert_eq!(place.names(), ["k.h", "k.ll", "k.o", "new.h"]);
}

#[test]
fn links_are_followed_and_a_fifo_stays_one() {
    let place = Place::new();
    std::fs::create_dir(place.path("sub")).unwrap();
    symlink("sub/real.ll", place.path("out.ll")).unwrap();
    ok(&place.vectorize(&["-o", "out.ll"]).output().unwrap());
    assert!(place.path("out.ll").is_symlink());
    assert!(std::fs::read_to_string(place.path("sub/real.ll")).unwrap().contains("@kernel_w8"));
    if !Command::new("mkfifo").arg(place.path("f.ll")).status().is_ok_and(|s| s.success()) {
        return eprintln!("skipped: there is no mkfifo");
    }
    let made =
        place.vectorize(&["-o", "f.ll"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let text = std::fs::read_to_string(place.path("f.ll")).unwrap();
    ok(&made.wait_with_output().unwrap());
    assert!(text.contains("@kernel_w8"));
    assert!(std::fs::symlink_metadata(place.path("f.ll")).unwrap().file_type().is_fifo());
}

#[test]
fn the_umask_holds() {
    let place = Place::new();
    for (mask, mode) in [("022", 0o644), ("077", 0o600), ("002", 0o664)] {
        let name = format!("k{mask}.o");
        let status = Command::new("sh")
            .args(["-c", &format!("umask {mask}; exec \"$@\""), "sh", env!("CARGO_BIN_EXE_warpline")])
            .args(["vectorize", "k.ll", "--args", "index,uniform", "--width", "8", "-o", &name])
            .current_dir(place.0.path())
            .output()
            .unwrap();
        ok(&status);
        let found = std::fs::metadata(place.path(&name)).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode, "under the umask {mask}");
    }
}

#[test]
fn a_dash_is_standard_output() {
    let place = Place::new();
    let output = place.vectorize(&["-o", "-", "--header", "k.h"]).output().unwrap();
    assert!(ok(&output).contains("define void @kernel_w8("));
    assert!(stderr(&output).contains("kernel: vectorized with 8 lanes"));
    let output = command(&["analyze", "k.ll", "-o", "-"]).current_dir(place.0.path()).output().unwrap();
    assert!(ok(&output).starts_with("function kernel"));
    assert_eq!(place.names(), ["k.h", "k.ll"]);
}

#[test]
fn a_full_disk_is_an_error_and_a_reader_that_goes_away_is_none() {
    let place = Place::new();
    let verbs: [&[&str]; 4] = [
        &["analyze", "k.ll"],
        &["ssa", "k.ll", "--stats"],
        &["vectorize", "k.ll", "--args", "index,uniform", "-o", "k.s"],
        &["explain", "k.ll", "--value", "%p"],
    ];
    for verb in verbs {
        if let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") {
            let output = command(verb).current_dir(place.0.path()).stdout(full).output().unwrap();
            said(&output, &["standard output", "No space"]);
        }
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command(verb).current_dir(place.0.path()).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()), "{verb:?}");
    }
    // Messages that nobody can read are no reason to panic.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    for sink in full.into_iter().map(Stdio::from).chain([Stdio::from(std::io::pipe().unwrap().1)]) {
        let status = command(&["analyze", "nowhere.ll"]).stderr(sink).stdout(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(2));
    }
}

/// The same input from two folders, by a path from each: the same bytes.
fn from_two_folders(input: &str, contents: &str, more: &[&str]) -> [Vec<u8>; 2] {
    [Place::new(), Place::new()].map(|place| {
        std::fs::create_dir(place.path("sub")).unwrap();
        std::fs::write(place.path(input), contents).unwrap();
        let mut all = vec!["vectorize", input, "-o", "k.o"];
        all.extend(more);
        ok(&command(&all).current_dir(place.0.path()).output().unwrap());
        std::fs::read(place.path("k.o")).unwrap()
    })
}

#[test]
fn objects_do_not_depend_on_the_working_folder() {
    let rust = "use warpline_lanes::warpline_any as any;\n//@ args i=index\n#[unsafe(no_mangle)]\npub extern \
     \"C\" fn kernel(i: i32, p: &mut [f32; 64]) \
                {\n    if any(i > 3) { p[i as usize] = (i as f32).sqrt().max(1.0); }\n}\n";
    let c = "#include \"warpline.h\"\n#include <math.h>\n//@ args i=index\nvoid kernel(int i, float *p) { p[i] \
     = sqrtf((float)i); }\n";
    let mut cases = vec![("sub/k.rs", rust)];
    match warpline_llvm::has_clang() {
        true => cases.push(("sub/k.c", c)),
        false => eprintln!("skipped in part: there is no clang"),
    }
    for (input, contents) in cases {
        let [a, b] = from_two_folders(input, contents, &["--width", "8"]);
        assert!(a == b, "the objects of {input} differ");
        let text = String::from_utf8_lossy(&a);
        assert!(text.contains(input), "{input} is not named as it was given");
        assert!(!text.contains("/tmp"), "{input}: {text:?}");
    }
    let [a, b] = from_two_folders("sub/k.ll", KERNEL, &["--args", "index,uniform"]);
    assert!(a == b, "the objects of LLVM IR differ");
}

#[test]
fn a_file_that_begins_with_a_dash_is_no_option() {
    let place = Place::new();
    let rust =
        "//@ args i=index\n#[unsafe(no_mangle)]\npub extern \"C\" fn kernel(i: i32) -> i32 { i + 1 }\n";
    std::fs::write(place.path("-Copt-level=9.rs"), rust).unwrap();
    let c = "//@ args i=index\nint kernel(int i) { return i + 1; }\n";
    std::fs::write(place.path("-fplugin=x.c"), c).unwrap();
    let mut names = vec!["-Copt-level=9.rs"];
    names.extend(warpline_llvm::has_clang().then_some("-fplugin=x.c"));
    for name in names {
        let output = command(&["analyze", "--", name]).current_dir(place.0.path()).output().unwrap();
        assert!(ok(&output).contains("function kernel"), "{name}");
    }
}

#[test]
fn what_lies_beside_an_input_chooses_no_compiler_and_no_library() {
    let place = Place::new();
    let rust =
        "//@ args i=index\n#[unsafe(no_mangle)]\npub extern \"C\" fn kernel(i: i32) -> i32 { i + 1 }\n";
    std::fs::write(place.path("k.rs"), rust).unwrap();
    std::fs::write(place.path("rust-toolchain.toml"), "[toolchain]\npath = \"./evil\"\n").unwrap();
    std::fs::create_dir_all(place.path("evil/bin")).unwrap();
    for name in ["evil/bin/rustc", "rustc", "clang"] {
        std::fs::write(place.path(name), "#!/bin/sh\necho here >> \"$(dirname \"$0\")/was-here\"\nexit 1\n")
            .unwrap();
        std::fs::set_permissions(place.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!(".::{}", std::env::var("PATH").unwrap_or_default());
    for verb in [&["analyze", "k.ll"][..], &["analyze", "k.rs"], &["--version", "--verbose"]] {
        let mut run = command(verb);
        run.env_remove("RUSTUP_TOOLCHAIN").env_remove("RUSTC").env("PATH", &path);
        ok(&run.current_dir(place.0.path()).output().unwrap());
    }
    assert!(!place.path("was-here").exists() && !place.path("evil/bin/was-here").exists());
    let text = ok(&warpline(&["--version", "--verbose"]));
    assert!(["warpline ", "LLVM: ", "rustc: ", "clang: "].iter().all(|word| text.contains(word)), "{text}");
}

#[test]
fn what_rustup_said_is_kept_and_checked_before_it_is_believed() {
    let place = Place::new();
    let cache = place.path("cache");
    let run = || {
        let mut command = place.vectorize(&["-o", "k.o"]);
        ok(&command.env("WARPLINE_CACHE", &cache).output().unwrap());
    };
    run();
    let Ok(kept) = std::fs::read_to_string(cache.join("sysroot")) else {
        eprintln!("skipped: rustc is not rustup's");
        return;
    };
    assert_eq!(kept.lines().count(), 2, "{kept}");
    let (key, sysroot) = kept.split_once('\n').unwrap();
    // A toolchain that is gone, and what was said under other circumstances, are not believed; nor is what is no text.
    let elsewhere = format!("{key}\n{}\n", place.path("").display());
    for wrong in [elsewhere.as_bytes(), format!("x{key}\n{sysroot}").as_bytes(), &[0xff, 0, b'\n']] {
        std::fs::write(cache.join("sysroot"), wrong).unwrap();
        run();
        assert_eq!(std::fs::read_to_string(cache.join("sysroot")).unwrap(), kept);
    }
}

#[test]
fn the_log_is_printed_where_it_is_asked_for() {
    let place = Place::new();
    let logged = place.vectorize(&["-o", "k.o"]).env("WARPLINE_LOG", "warpline_llvm=debug").output().unwrap();
    assert!(
        stderr(&logged).contains("worker for making code of k.ll: exit status: 0"),
        "{}",
        stderr(&logged)
    );
    let plain = place.vectorize(&["-o", "k.o"]).output().unwrap();
    assert_eq!(stderr(&plain), "");
}
