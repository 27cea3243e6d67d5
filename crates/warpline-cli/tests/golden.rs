//! The code of all kernels and examples, as fingerprints: what should change nothing changes none of them.
//!
//! What is compared is LLVM's text after its passes, with values numbered in the order of their appearance, for a
//! machine without mask registers and one with them. `WARPLINE_BLESS=1 cargo test -p warpline-cli --test golden`
//! writes the file anew; a commit that changes it says why. Compilers make other IR of sources in other versions, so
//! the file holds for those that it names.

mod common;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use common::{command, ok, root, warpline};

const CPUS: [&str; 2] = ["haswell", "znver4"];

/// Where the fingerprints are, from the root.
const FILE: &str = "crates/warpline-cli/tests/golden.txt";

/// All inputs that come with the project, by their paths from the root.
fn inputs() -> Vec<String> {
    let mut all = Vec::new();
    for folder in ["kernels", "examples", "examples/loops", "examples/widths"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        let files = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let is_input = |path: &PathBuf| {
            path.extension().is_some_and(|e| ["rs", "c", "cl", "ll"].iter().any(|known| e == *known))
        };
        let name = |path: PathBuf| format!("{folder}/{}", path.file_name().unwrap().to_string_lossy());
        all.extend(files.filter(is_input).map(name));
    }
    all.sort();
    all
}

/// Text of LLVM in which values are numbered in each function, in the order in which they appear. What says where the
/// code comes from is left out.
fn renumbered(text: &str) -> String {
    let mut out = String::new();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for line in
        text.lines().filter(|line| !line.starts_with(['!', ';']) && !line.starts_with("source_filename"))
    {
        if line.starts_with("define ") {
            numbers.clear();
        }
        let line = line.split(", !dbg").next().unwrap_or_default();
        let line = line.split(" !dbg").next().unwrap_or_default();
        let line = line.split(" ; preds").next().unwrap_or_default().trim_end();
        // A label is its block's name.
        let label = line
            .split(':')
            .next()
            .filter(|name| line.starts_with(|c: char| c.is_alphanumeric()) && !name.contains(' '));
        let mut rest = line;
        if let Some(name) = label.filter(|name| line.len() > name.len()) {
            let next = numbers.len();
            let _ = write!(out, "%{}", numbers.entry(name).or_insert(next));
            rest = &line[name.len()..];
        }
        while let Some(at) = rest.find('%') {
            let (before, name) = rest.split_at(at);
            let is_part = |c: char| c.is_alphanumeric() || "._$-".contains(c);
            let end = name[1..].find(|c: char| !is_part(c)).map_or(name.len(), |end| end + 1);
            let next = numbers.len();
            let _ = write!(out, "{before}%{}", numbers.entry(&name[1..end]).or_insert(next));
            rest = &name[end..];
        }
        out.push_str(rest);
        out.push('\n');
    }
    out
}

/// FNV-1a, which never changes.
fn fingerprint(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The versions of the compilers and of LLVM, and whether SLEEF is there, in a line.
fn tools() -> String {
    let printed = ok(&warpline(&["--version", "--verbose"]));
    let version = |line: &str| line.split([',', '(']).next().unwrap_or_default().trim().to_owned();
    let mut all: Vec<String> = printed.lines().skip(1).map(version).collect();
    all.push(format!("SLEEF: {}", warpline_llvm::process_has_symbol("Sleef_sinf4_u10sse4")));
    all.join("; ")
}

#[test]
fn code_is_what_it_was() {
    let path = root().join(FILE);
    let mut found = format!("# {}\n", tools());
    for input in inputs() {
        for cpu in CPUS {
            let output = command(&["vectorize", &input, "--cpu", cpu, "-o", "-", "-q"]).output().unwrap();
            // Some are not for `vectorize` without options.
            if output.status.success() {
                let text = String::from_utf8_lossy(&output.stdout);
                let _ = writeln!(found, "{input} {cpu} {:016x}", fingerprint(&renumbered(&text)));
            }
        }
    }
    assert!(found.lines().count() > 60, "{found}");
    if std::env::var_os("WARPLINE_BLESS").is_some() {
        std::fs::write(&path, found).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    if expected.lines().next() != found.lines().next() {
        eprintln!(
            "skipped: {FILE} is for {:?}, and these are {:?}",
            expected.lines().next(),
            found.lines().next()
        );
        return;
    }
    let differ: Vec<&str> = found.lines().filter(|line| !expected.lines().any(|e| e == *line)).collect();
    assert!(
        differ.is_empty(),
        "the code differs; if that is meant, WARPLINE_BLESS=1 writes {FILE}:\n{}",
        differ.join("\n")
    );
    assert_eq!(expected.lines().count(), found.lines().count(), "some input is refused now");
}

#[test]
fn names_of_values_and_debug_locations_do_not_count() {
    let a = "define i32 @f(i32 %x) {\nentry:\n  %y = add i32 %x, 1, !dbg !3\n  br label %exit\nexit:\n  ret i32 %y\n}\n!3 = !{}\n";
    let b =
        "define i32 @f(i32 %a) {\nb0:\n  %1 = add i32 %a, 1, !dbg !9\n  br label %b1\nb1:\n  ret i32 %1\n}\n";
    assert_eq!(renumbered(a), renumbered(b));
    assert_ne!(renumbered(a), renumbered(&b.replace("%a, 1", "%1, 1")));
}
