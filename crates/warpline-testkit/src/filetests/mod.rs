//! Tests that are files: a module in text form, with the expected output of analyses and passes beside the functions
//! that it speaks of.
//!
//! ```text
//! ; test: dominators
//!
//! func @f() {
//! entry:
//!   br next
//! next:
//!   ret
//! }
//! ; check: dominators
//! ; entry
//! ;   next
//! ```
//!
//! Each line `; test: NAME ARGUMENTS` names a command. Its whole output for a function stands in a block that begins
//! with `; check: NAME` behind the function's `}` and ends with the first line that is no comment. Nothing of the
//! output may be left out. With `WARPLINE_BLESS=1` in the environment the blocks are rewritten; read the change
//! before you commit it.
//!
//! The command `roundtrip` has no block: the file without its comments is the printer's own form. Every function must
//! satisfy the verifier, unless the file tests the command `verify`.
//!
//! To add a command, write a [`Command`] and put it in [`commands::STANDARD`].

mod clients;
pub mod commands;
mod uniformity;
mod vectorizer;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use warpline_ir::text::{parse_module, print_module};
use warpline_ir::verify::verify;
use warpline_ir::{Function, Module};

/// What a command is run on.
pub struct Case<'a> {
    /// The module that the file holds.
    pub module: &'a Module,
    /// The function.
    pub func: &'a Function,
    /// What stands behind the command's name in the `; test:` line.
    pub args: &'a str,
}

/// What a command prints for a function. Lines may not be blank.
pub type Command = fn(&Case<'_>) -> String;

/// What came of a run over a folder.
#[derive(Debug, Default)]
pub struct Report {
    /// The number of files that were run.
    pub files: usize,
    /// Messages, one for each file that failed.
    pub failures: Vec<String>,
    /// The files that were rewritten.
    pub blessed: Vec<PathBuf>,
}

/// Runs every `.wl` file below `dir`, in order of their paths. With `bless`, files whose expectations differ are
/// rewritten.
///
/// # Errors
/// If files or folders cannot be read or written.
pub fn run_dir(dir: &Path, bless: bool) -> std::io::Result<Report> {
    let mut report = Report::default();
    let mut folders = vec![dir.to_path_buf()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "wl") {
                files.push(path);
            }
        }
    }
    files.sort();
    for path in files {
        report.files += 1;
        let text = std::fs::read_to_string(&path)?;
        let shown = path.strip_prefix(dir).unwrap_or(&path).display();
        match run_text(&text) {
            Err(message) => report.failures.push(format!("{shown}: {message}")),
            Ok(actual) if actual == text => {}
            Ok(actual) if bless => {
                std::fs::write(&path, actual)?;
                report.blessed.push(path);
            }
            Ok(actual) => {
                report
                    .failures
                    .push(format!("{shown}: the output has changed\n{}", difference(&text, &actual)));
            }
        }
    }
    Ok(report)
}

/// Runs one file's text and gives the text with the check blocks that the commands ask for.
///
/// # Errors
/// A message if the text cannot be parsed, breaks the verifier's rules, names an unknown command or does not
/// survive its round trip.
pub fn run_text(text: &str) -> Result<String, String> {
    let mut tests = Vec::new();
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("; test:") else { continue };
        let (name, args) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
        tests.push((name, args.trim()));
    }
    if tests.is_empty() {
        return Err("there is no line that begins with `; test:`".into());
    }
    let module = parse_module(text).map_err(|e| e.to_string())?;
    if !tests.iter().any(|t| t.0 == "verify") {
        for func in module.functions.values() {
            verify(&module, func).map_err(|e| e.to_string())?;
        }
    }
    let bare = without_checks(text);
    if tests.iter().any(|t| t.0 == "roundtrip") {
        let (found, printed) = (code_lines(text), code_lines(&print_module(&module)));
        if found != printed {
            return Err(format!("the file is not in the printer's form\n{}", difference(&found, &printed)));
        }
        tests.retain(|t| t.0 != "roundtrip");
    }
    let mut out = String::new();
    let mut funcs = module.functions.values();
    for line in bare.lines() {
        out.push_str(line);
        out.push('\n');
        if line.starts_with('}') {
            let func = funcs.next().ok_or("a `}` at the start of a line that ends no function")?;
            for &(name, args) in &tests {
                check_block(&mut out, name, &Case { module: &module, func, args })?;
            }
        }
    }
    match funcs.next() {
        Some(f) => Err(format!("the `}}` of @{} must stand at the start of a line", f.name)),
        None => Ok(out),
    }
}

fn check_block(out: &mut String, name: &str, case: &Case<'_>) -> Result<(), String> {
    let (_, command) =
        commands::STANDARD.iter().find(|c| c.0 == name).ok_or_else(|| format!("unknown command {name}"))?;
    let _ = writeln!(out, "; check: {name}");
    for line in command(case).lines() {
        out.push_str(format!("; {line}").trim_end());
        out.push('\n');
    }
    Ok(())
}

/// The text without its check blocks.
fn without_checks(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in text.lines() {
        inside = line.starts_with("; check:") || inside && line.starts_with(';');
        if !inside {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// The text without blank lines and comments that have a line of their own.
fn code_lines(text: &str) -> String {
    let lines = text.lines().filter(|l| !l.trim().is_empty() && !l.trim_start().starts_with(';'));
    lines.flat_map(|l| [l, "\n"]).collect()
}

/// The lines around which two texts differ: what their common beginning and end leave over.
fn difference(expected: &str, actual: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), actual.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - same;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let mut out = format!("  from line {}:\n", same + 1);
    for line in &old[same..old.len() - tail] {
        let _ = writeln!(out, "  - {line}");
    }
    for line in &new[same..new.len() - tail] {
        let _ = writeln!(out, "  + {line}");
    }
    out
}
