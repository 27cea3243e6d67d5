//! What LLVM's models of processors say: loops are translated for a CPU, and `llvm-mca` executes what is between a
//! loop's label and its branch.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use warpline_compile::error::{Error, Result};
use warpline_llvm::Cpu;
use warpline_llvm::worker::{self, CodegenOptions, Output};

use super::rows::{self, Loop, Set};
use crate::survey::child;

/// How often a loop goes round.
const ROUNDS: u32 = 200;
/// How long the program may take, in seconds.
const PATIENCE: u64 = 300;

/// The program `llvm-mca`: `$LLVM_MCA`, the newest with its version in its name, or that without.
///
/// # Errors
/// If there is none.
pub(super) fn program() -> Result<PathBuf> {
    let versions = (18..=23).rev().map(|v| format!("llvm-mca-{v}"));
    let named = std::env::var("LLVM_MCA").ok().filter(|name| !name.is_empty());
    let runs = |name: &String| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    let found = named.into_iter().chain(versions).chain(["llvm-mca".to_owned()]).find(runs);
    found
        .map(PathBuf::from)
        .ok_or_else(|| Error::option("--model", "there is no `llvm-mca`; $LLVM_MCA names it"))
}

/// The cycles that one round of each loop takes, by its name: code for one CPU on a core that another name may have.
///
/// # Errors
/// If LLVM cannot translate the loops, or the program fails.
pub(super) fn cycles(
    loops: &[Loop],
    triple: &str,
    (cpu, core): (&str, &str),
    set: Set,
) -> Result<BTreeMap<String, f64>> {
    let program = program()?;
    let module = rows::module(loops, triple, cpu, "", set);
    let options =
        CodegenOptions { passes: String::new(), ..CodegenOptions::new(Cpu::named(cpu), Output::Assembly) };
    let assembly = worker::codegen_linked(vec![module.into_bytes()], "the loops", &options)?;
    let regions = regions(&String::from_utf8_lossy(&assembly));
    let file = tempfile::NamedTempFile::new().and_then(|file| {
        std::fs::write(file.path(), regions)?;
        Ok(file)
    });
    let file = file.map_err(|e| Error::option("--model", e.to_string()))?;
    let mut command = Command::new(&program);
    command.args([&format!("-mtriple={triple}"), &format!("-mcpu={core}"), &format!("-iterations={ROUNDS}")]);
    command.args(["-instruction-info=0", "-resource-pressure=0"]).arg(file.path());
    let ended = child::run(&mut command, PATIENCE);
    match ended.code {
        Some(0) => Ok(read(&ended.stdout)),
        _ => Err(Error::option("--model", format!("{}: {}", program.display(), ended.stderr.trim()))),
    }
}

/// The loops of functions, each as a region with the function's name.
fn regions(assembly: &str) -> String {
    let mut all = String::new();
    let (mut name, mut lines) = (String::new(), Vec::new());
    for line in assembly.lines() {
        let label = line.split_once(':').map(|(label, _)| label);
        match label.filter(|label| !label.starts_with(['.', ' ', '\t', '#', '/'])) {
            Some(label) => (name, lines) = (label.trim_matches('"').to_owned(), Vec::new()),
            None if line.trim_start().starts_with(".size") => {
                if let Some(body) = body(&lines) {
                    all += &format!("# LLVM-MCA-BEGIN {name}\n{body}# LLVM-MCA-END {name}\n");
                }
                lines.clear();
            }
            None => lines.push(line),
        }
    }
    all
}

/// What is between a label and the last branch back to it, without directives and comments.
fn body(lines: &[&str]) -> Option<String> {
    let label =
        |line: &str| line.strip_prefix(".LBB").and_then(|_| line.split(':').next()).map(str::to_owned);
    let target = |line: &str| {
        let jumps = line.starts_with(['\t', ' ']) && line.trim_start().starts_with(['j', 'b', 'c', 't']);
        line.split_whitespace().find(|word| jumps && word.starts_with(".LBB")).map(str::to_owned)
    };
    let back = |at: usize| {
        let to = target(lines[at])?;
        let begins = lines[..at].iter().position(|line| label(line).as_ref() == Some(&to))?;
        Some((begins, at))
    };
    let (begins, ends) = (0..lines.len()).rev().find_map(back)?;
    let is_code = |line: &&&str| line.starts_with(".LBB") || !line.trim_start().starts_with(['.', '#', '/']);
    Some(lines[begins..=ends].iter().filter(is_code).map(|line| format!("{line}\n")).collect())
}

/// Names and cycles in what the program prints.
fn read(report: &str) -> BTreeMap<String, f64> {
    let (mut name, mut found) = ("", BTreeMap::new());
    for line in report.lines() {
        if let Some((_, region)) = line.split_once("Code Region - ") {
            name = region.trim();
        } else if let Some(cycles) =
            line.strip_prefix("Total Cycles:").and_then(|n| n.trim().parse::<f64>().ok())
        {
            found.insert(name.to_owned(), cycles / f64::from(ROUNDS));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_cut_out_of_its_function() {
        let text = "f:\n\t.cfi_startproc\n\txorl %eax, %eax\n.LBB0_1: # the loop\n\t#APP\n\taddl $1, %eax\n\
                    \tjb\t.LBB0_1\n\tretq\n\t.size\tf, 1\n";
        let cut =
            "# LLVM-MCA-BEGIN f\n.LBB0_1: # the loop\n\taddl $1, %eax\n\tjb\t.LBB0_1\n# LLVM-MCA-END f\n";
        assert_eq!(regions(text), cut);
    }

    #[test]
    fn cycles_are_read_with_the_names_of_regions() {
        let report = "[0] Code Region - add_i32_256_latency\n\nIterations: 200\nTotal Cycles:      203\n";
        assert_eq!(read(report), BTreeMap::from([("add_i32_256_latency".to_owned(), 1.015)]));
    }
}
