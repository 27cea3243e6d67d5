//! What `vectorize` makes, called from C.

use std::path::Path;
use std::process::Command;

use super::common::{ok, warpline};

/// Compiles and links C with an object and runs the program; its output. `None` if there is no C compiler.
pub fn link_and_run(folder: &Path, source: &str, flags: &[&str]) -> Option<String> {
    let main = folder.join("main.c");
    std::fs::write(&main, source).unwrap();
    let program = folder.join("program");
    let compiled = Command::new("cc")
        .args(["-O1", "-ffp-contract=off", "-Wall", "-Werror", "-o"])
        .args([&program, &main, &folder.join("m.o")])
        .args(flags)
        .arg("-lm")
        .output();
    let Ok(compiled) = compiled else {
        eprintln!("skipped: there is no C compiler");
        return None;
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = Command::new(&program).output().unwrap();
    assert!(run.status.success(), "{:?}", run.status);
    Some(String::from_utf8(run.stdout).unwrap())
}

/// Vectorizes into `m.o` and `m.h`; the header.
#[allow(dead_code, reason = "not all files of tests ask for a header")]
#[track_caller]
pub fn vectorize(folder: &Path, arguments: &[&str]) -> String {
    let (object, header) = (folder.join("m.o"), folder.join("m.h"));
    let mut all = vec!["vectorize"];
    all.extend(arguments);
    all.extend(["-o", object.to_str().unwrap(), "--header", header.to_str().unwrap()]);
    ok(&warpline(&all));
    std::fs::read_to_string(&header).unwrap()
}
