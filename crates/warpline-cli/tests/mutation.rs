//! Command lines and sources that are nearly right: the program ends with 0, 1 or 2, says why, leaves no file behind
//! that was not asked for, and needs neither long nor much memory. (Modules and directives: `mutated_modules`,
//! `mutated_words`, `mutated_text`.)
//!
//! `WARPLINE_PROGRAMS` is the number of command lines, and ten times that of sources, `WARPLINE_SEED` the first seed.

mod common;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{ok, root, warpline};
use warpline_testkit::mutate::{self, setting};
use warpline_testkit::rng::SplitMix64;

/// Longer than any of these takes on a busy machine, and how much a process may allocate, in KiB.
const PATIENCE: Duration = Duration::from_secs(90);
const MEMORY: &str = "6000000";

const KERNEL: &str = "define void @kernel(i32 %i, ptr %out) {\n  %at = sext i32 %i to i64\n\
     %p = getelementptr float, ptr %out, i64 %at\n  store float 1.0, ptr %p, align 4\n  ret void\n}\n\
     define i32 @other(i32 %x) {\n  %y = udiv i32 7, %x\n  ret i32 %y\n}\n";

/// Runs the program in a folder, with limits; asserts that it ends in an orderly way. Its exit code and what it says.
fn orderly(folder: &Path, arguments: &[String], context: &dyn Fn() -> String) -> (i32, String) {
    let before = files(folder);
    let start = Instant::now();
    let mut process = Command::new("sh")
        .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_warpline")])
        .args(arguments)
        .current_dir(folder)
        .env("WARPLINE_LLVM", library())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = process.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        pipe.read_to_end(&mut text).map(|_| String::from_utf8_lossy(&text).into_owned())
    });
    let status = loop {
        match process.try_wait().unwrap() {
            Some(status) => break status,
            None if start.elapsed() > PATIENCE => {
                process.kill().unwrap();
                panic!("it takes longer than {PATIENCE:?}: {}", context());
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let said = reader.join().unwrap().unwrap();
    let code = status.code();
    assert!(code.is_some_and(|code| (0..=2).contains(&code)), "{status:?}: {said}\n{}", context());
    assert!(code == Some(0) || code == Some(1) || !said.trim().is_empty(), "it says nothing: {}", context());
    for (name, _) in files(folder).iter().filter(|(name, length)| before.get(*name) != Some(length)) {
        let asked_for = arguments.iter().any(|argument| argument.contains(name.as_str()));
        assert!(asked_for && code != Some(2), "the file {name} was written: {}", context());
    }
    (code.unwrap(), said)
}

/// The library of LLVM, so that not every process looks for it.
fn library() -> &'static Path {
    warpline_llvm::Llvm::get().unwrap().path()
}

fn files(folder: &Path) -> BTreeMap<String, u64> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|e| (e.file_name().to_string_lossy().into_owned(), e.metadata().unwrap().len())).collect()
}

#[test]
fn command_lines_that_are_nearly_right_are_refused_with_a_reason_or_work() {
    if warpline_llvm::Llvm::get().is_err() {
        return eprintln!("skipped: there is no LLVM");
    }
    const PROPER: [&str; 10] = [
        "analyze k.ll --args index,uniform --function kernel --format json",
        "analyze k.ll --target nvptx --work-group 64,2 --algorithm postdom -o out.json",
        "analyze k.ll --client taint --dense --stats --sources read:*1",
        "analyze k.ll --secret x --function other",
        "explain k.ll --function other --value %y --format json",
        "vectorize k.ll --function kernel --args i=index,out=uniform --width 8 --mask -o out.s --header out.h",
        "vectorize k.ll --function other --args varying --returns varying --cpu x86-64-v3 --name f --math-ulp 0 \
         --linearize full -o out.ll",
        "run k.ll --function kernel --args index --range 0..64 --bind out=f32[64]=zero --seed 3 --tolerance \
         ulp=1 --boscc on",
        "ssa k.ll --strict --pruned --loop-closed --placement dominance-frontier --format llvm -o out.ll",
        "ssi k.ll --strategy ssi --function other --stats --by-function --format text",
    ];
    const WORDS: [&str; 30] = [
        "--args",
        "--width",
        "--width=0",
        "--function",
        "--format",
        "html",
        "json",
        "llvm",
        "-o",
        "-",
        "--header",
        "/nowhere/x.o",
        "k.ll",
        ".",
        "--range",
        "0..9999999999",
        "-1..1",
        "--bind",
        "out=f32[99999999999]",
        "out=f32[1]",
        "--cpu",
        "native,haswell",
        "--triple",
        "--loop",
        "1",
        "--help",
        "--version",
        "--target",
        "--coherence",
        "i=stride(9223372036854775807)",
    ];
    let (first, count) = (setting("WARPLINE_SEED", 0), setting("WARPLINE_PROGRAMS", 250));
    let (mut tally, mut last) = ([0u64; 3], String::new());
    for seed in first..first + count {
        let mut rng = SplitMix64::new(seed);
        let mut words: Vec<String> = rng.pick(&PROPER).split(' ').map(str::to_owned).collect();
        for _ in 0..rng.below(4) {
            let at = rng.below(words.len());
            match rng.below(5) {
                0 => drop(words.remove(at)),
                1 => words.insert(at, (*rng.pick(&WORDS)).to_owned()),
                2 => words[at] = (*rng.pick(&WORDS)).to_owned(),
                3 => words.extend(["--format", "json"].map(str::to_owned)),
                _ => {
                    let changed = mutate::text(&mut rng, &words[at], &WORDS);
                    // An argument has no zero byte.
                    words[at] = String::from_utf8_lossy(&changed).replace(['\0', '/'], "");
                }
            }
            if words.is_empty() {
                words.push("analyze".to_owned());
            }
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("k.ll"), KERNEL).unwrap();
        let (code, said) = orderly(folder.path(), &words, &|| format!("seed {seed}: {words:?}"));
        last = format!("{words:?}: {said}");
        assert_eq!(
            std::fs::read_to_string(folder.path().join("k.ll")).unwrap(),
            KERNEL,
            "seed {seed}: {words:?}"
        );
        tally[code as usize] += 1;
    }
    println!("exit codes 0, 1 and 2: {tally:?}");
    assert!(tally[0] * 20 > count && tally[2] * 4 > count, "{tally:?}; the last one: {last}");
}

/// Changes sources of one kind and vectorizes them.
fn sources(inputs: &[&str], words: &[&str], count: u64) {
    ok(&warpline(&["--version"]));
    let first = setting("WARPLINE_SEED", 0);
    let count =
        std::env::var("WARPLINE_PROGRAMS").map_or(count, |_| setting("WARPLINE_PROGRAMS", 0).div_ceil(10));
    let (mut tally, mut last) = ([0u64; 3], String::new());
    for seed in first..first + count {
        let mut rng = SplitMix64::new(seed);
        let input = *rng.pick(inputs);
        let source = std::fs::read_to_string(root().join(input)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let name = format!("k.{}", input.rsplit('.').next().unwrap());
        std::fs::write(folder.path().join(&name), mutate::token(&mut rng, &source, words)).unwrap();
        let arguments = ["vectorize", &name, "--width", "4", "--cpu", "x86-64-v3", "-o", "out.ll"];
        let (code, said) =
            orderly(folder.path(), &arguments.map(str::to_owned), &|| format!("seed {seed}: {input}"));
        last = said;
        tally[code as usize] += 1;
    }
    println!("{}: exit codes 0, 1 and 2: {tally:?}; the last one says: {last}", inputs[0]);
}

#[test]
fn sources_in_rust_that_are_nearly_right_are_refused_with_a_reason_or_work() {
    let words = [
        "u8", "i128", "f64", "loop", "return", "unsafe", "&mut", "as", "i", "0", "break", "usize", "panic!()",
    ];
    sources(
        &[
            "examples/tree_search.rs",
            "filetests/support/lanes_reduce.rs",
            "filetests/support/control_panic.rs",
        ],
        &words,
        12,
    );
}

#[test]
fn sources_in_c_that_are_nearly_right_are_refused_with_a_reason_or_work() {
    if !warpline_llvm::has_clang() {
        return eprintln!("skipped: there is no clang");
    }
    let words = [
        "char", "long", "double", "volatile", "_Bool", "return", "goto", "i", "while", "static", "*",
        "sizeof", "__int128", "break",
    ];
    let inputs = [
        "filetests/support/control_goto.c",
        "filetests/support/loops_sums.c",
        "filetests/support/lanes_scan.c",
        "filetests/support/memory_private_array.c",
        "filetests/support/calls_by_value.c",
    ];
    sources(&inputs, &words, 25);
    let words = [
        "uint",
        "float4",
        "global",
        "local",
        "private",
        "get_local_id",
        "get_global_size",
        "barrier",
        "half",
        "ulong",
        "0",
    ];
    sources(&["filetests/support/lanes_work_items.cl", "filetests/support/lanes_barrier.cl"], &words, 8);
}
