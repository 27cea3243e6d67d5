//! What a debugger knows of programs with objects of ours: lines of the rest of the program, breakpoints by lines of a
//! kernel, and who called it.

mod common;

use std::path::Path;
use std::process::Command;

use common::{ok, stderr, stdout, warpline};

const KERNEL: &str = "//@ args i=index
void scale(int i, const float *restrict in,
           float *restrict out)
{
    float x = in[i];
    if (x > 3.0f)
        x = x * 2.0f - 1.0f;
    out[i] = x;
}
";

const LOOP: &str = "void add(int n, const float *restrict in, float *restrict out)
{
    //@ loop
    for (int i = 0; i < n; i++) {
        float x = in[i] * 3.0f;
        out[i] = x + 1.0f;
    }
}
";

const RUST: &str = "//@ args i=index
#[unsafe(no_mangle)]
pub extern \"C\" fn halve(i: usize, data: &mut [f32; 100]) {
    if i < 100 {
        data[i] *= 0.5;
    }
}
";

const MAIN: &str = "#include <stdint.h>
#include \"scale.h\"
#include \"add.h\"
#include \"halve.h\"
static float in[100], out[100];
int other(int);
int main(void)
{
    for (int i = 0; i < 100; i++) in[i] = (float)i;
    scale_range(0, 100, in, out);
    add(100, in, out);
    halve_range(0, 100, out);
    return other(1) == 0;
}
";

const OTHER: &str = "int other(int x)
{
    int y = x + 1;
    return y;
}
";

/// Whether there are the tools; where not, that is said.
fn has_tools() -> bool {
    let runs = |tool: &str| Command::new(tool).arg("--version").output().is_ok();
    let missing = ["gdb", "cc"].into_iter().find(|tool| !runs(tool));
    if let Some(tool) = missing {
        println!("skipped: there is no {tool}");
        return false;
    }
    if !warpline_llvm::has_clang() {
        println!("skipped: there is no clang");
        return false;
    }
    true
}

/// The program, with objects for these CPUs; `compiler` makes the rest of it with all that is for debuggers.
fn build(folder: &Path, cpus: &str, compiler: &[&str]) -> bool {
    for (name, text) in
        [("scale.c", KERNEL), ("add.c", LOOP), ("halve.rs", RUST), ("main.c", MAIN), ("other.c", OTHER)]
    {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for (input, object, header) in
        [("scale.c", "scale.o", "scale.h"), ("add.c", "add.o", "add.h"), ("halve.rs", "halve.o", "halve.h")]
    {
        let words = [&*path(input), "-o", &path(object), "--header", &path(header), "--cpu", cpus, "-q"];
        ok(&warpline(&[&["vectorize"][..], &words].concat()));
    }
    let compiled = Command::new(compiler[0])
        .current_dir(folder)
        .args(&compiler[1..])
        // Objects of ours first: what they say of names must not hide the others.
        .args(["-g", "-O0", "-o", "program", "scale.o", "add.o", "halve.o", "main.c", "other.c"])
        .output();
    let Ok(compiled) = compiled else {
        println!("skipped: there is no {}", compiler[0]);
        return false;
    };
    assert!(compiled.status.success(), "{}", stderr(&compiled));
    true
}

/// What gdb prints when it does these commands; nothing where it may not run programs.
fn gdb(folder: &Path, commands: &[&str]) -> Option<String> {
    let mut command = Command::new("gdb");
    command.current_dir(folder).args(["-nx", "-q", "-batch", "-ex", "set confirm off", "-ex", "set width 0"]);
    // Debian's gdb asks the network otherwise.
    command.env_remove("DEBUGINFOD_URLS");
    commands.iter().for_each(|one| {
        command.args(["-ex", one]);
    });
    let output = command.arg("program").output().unwrap();
    let text = stdout(&output) + &stderr(&output);
    if text.contains("ptrace") || text.contains("Couldn't get registers") {
        println!("skipped: gdb may not run programs here: {text}");
        return None;
    }
    Some(text)
}

/// Compilers for the rest of the program: with tables of names and without.
const COMPILERS: [&[&str]; 4] = [&["gcc"], &["gcc", "-gdwarf-4"], &["clang-19"], &["clang-19", "-gpubnames"]];

#[test]
fn objects_do_not_hide_lines_of_the_rest_of_a_program() {
    if !has_tools() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    for cpus in ["x86-64", "x86-64-v3,x86-64-v2"] {
        for compiler in COMPILERS {
            if !build(place.path(), cpus, compiler) {
                continue;
            }
            let text = gdb(place.path(), &["info line main", "info line other", "info line scale.c:5"]);
            let Some(text) = text else { return };
            for part in ["Line 8 of \"main.c\" starts at address", "Line 2 of \"other.c\" starts at address"]
            {
                assert!(text.contains(part), "{compiler:?}, {cpus}: {text}");
            }
            assert!(text.contains("scale.c\" starts at address"), "{compiler:?}, {cpus}: {text}");
        }
    }
}

#[test]
fn breakpoints_by_lines_are_hit_and_say_who_called() {
    if !has_tools() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    for cpus in ["x86-64", "x86-64-v3,x86-64-v2"] {
        if !build(place.path(), cpus, COMPILERS[0]) {
            return;
        }
        let stops = ["break scale.c:8", "break add.c:6", "break halve.rs:5", "break other.c:4"];
        let mut commands = stops.to_vec();
        // Each is met several times: only the first counts.
        for i in 1..=stops.len() {
            let delete = if i == 1 { "run" } else { "continue" };
            commands.extend([delete, "bt", ["delete 1", "delete 2", "delete 3", "delete 4"][i - 1]]);
        }
        let Some(text) = gdb(place.path(), &commands) else { return };
        let frames: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        let has = |parts: &[&str]| frames.iter().any(|frame| parts.iter().all(|part| frame.contains(part)));
        for parts in [
            // The kernel is as if inlined into its W-lane function, which the driver calls, which main calls.
            &["scale (", "scale.c:8"][..],
            &["scale_w", "scale.c:"],
            &["scale_range", "scale.c:2"],
            &["main (", "main.c:10"],
            &["add (", "add.c:"],
            &["main (", "main.c:11"],
            &["halve", "halve.rs:5"],
            &["halve_range", "halve.rs:3"],
            &["main (", "main.c:12"],
            &["other (x=1)", "other.c:4"],
            &["main (", "main.c:13"],
        ] {
            assert!(has(parts), "{cpus}: {parts:?} is not in\n{text}");
        }
        assert!(frames.iter().all(|frame| !frame.contains("??")), "{text}");
    }
}
