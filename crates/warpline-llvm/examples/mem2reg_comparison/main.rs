//! Holds the construction of SSA form from memory against LLVM's `mem2reg`, in one process and on the same functions.
//!
//! ```text
//! cargo run --release -p warpline-llvm --example mem2reg_comparison -- [--runs N] [--no-times] [--differences] FILES…
//! ```
//!
//! The files are LLVM IR that has not been optimised, as `clang -O1 -Xclang -disable-llvm-passes` writes it; those
//! whose names agree up to the first `-` count as one program. Prints two tables in Markdown: how many `alloca`s are
//! promoted and how many φs are there afterwards, and how long both take. `--differences` lists the functions in
//! which the numbers differ.

mod counts;
mod times;

use std::path::{Path, PathBuf};

use warpline_llvm::{Error, Llvm};

fn main() -> Result<(), Error> {
    let (mut runs, mut with_times, mut differences, mut files) = (11, true, false, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--runs" => match args.next().and_then(|n| n.parse().ok()).filter(|&n| n > 0) {
                Some(n) => runs = n,
                None => usage("--runs needs a number"),
            },
            "--no-times" => with_times = false,
            "--differences" => differences = true,
            _ if arg.starts_with('-') => usage(&format!("unknown option {arg}")),
            _ => files.push(PathBuf::from(arg)),
        }
    }
    if files.is_empty() {
        usage("no files");
    }
    println!("LLVM {}, {}\n", Llvm::get()?.version_text(), Llvm::get()?.path().display());
    let programs = programs(files);
    counts::print(&programs, differences)?;
    if with_times {
        println!();
        times::print(&programs, runs)?;
    }
    Ok(())
}

fn usage(message: &str) -> ! {
    eprintln!("{message}\nusage: mem2reg_comparison [--runs N] [--no-times] [--differences] FILES…");
    std::process::exit(2)
}

/// The files of one program.
struct Program {
    name: String,
    files: Vec<PathBuf>,
}

fn programs(files: Vec<PathBuf>) -> Vec<Program> {
    let name = |path: &Path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        stem.split('-').next().unwrap_or_default().to_owned()
    };
    let mut programs: Vec<Program> = Vec::new();
    for file in files {
        let name = name(&file);
        match programs.iter_mut().find(|p| p.name == name) {
            Some(program) => program.files.push(file),
            None => programs.push(Program { name, files: vec![file] }),
        }
    }
    programs
}
