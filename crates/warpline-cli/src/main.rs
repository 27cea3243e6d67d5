//! The program `warpline`: analyses which values of a program all lanes agree on, and makes scalar kernels run on W lanes.
//!
//! Exit codes: 0 if all is well, 1 for a finding (a mismatch, a race, undefined behaviour), 2 for bad usage or bad
//! input, 3 for a defect of the program itself.
//! Everything printed for people has a twin for programs, `--format json`.

#![forbid(unsafe_code)]

mod analyze;
mod bench;
mod chain;
mod cli;
mod client;
mod drive;
mod explain;
mod forms;
mod html;
mod input;
mod loops;
mod observe;
mod output;
mod placements;
mod run;
mod sampling;
mod ssa;
mod ssi;
mod subject;
mod vectorize;

use std::process::ExitCode;

use clap::Parser as _;
use warpline_compile::{directives, error, kernel, spec};

use cli::{Cli, Verb};

/// What came of a command that did its work.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// All is well.
    Clean,
    /// Something was found that should not be.
    Finding,
    /// Part of the input could not be dealt with; the report says which.
    Refused,
}

fn main() -> ExitCode {
    warpline_llvm::worker::serve_if_asked();
    let mut arguments: Vec<_> = std::env::args_os().collect();
    let is_child = run::guard::is_child(&mut arguments);
    let cli = Cli::parse_from(&arguments);
    warpline_llvm::child::set_memory(cli.memory);
    let outcome = match cli.verb {
        Verb::Analyze(options) => analyze::analyze(&options),
        Verb::Explain(options) => explain::explain(&options),
        Verb::Vectorize(options) => vectorize::vectorize(&options),
        Verb::Run(options) if !is_child => return run::guard::supervise(&arguments, &options),
        Verb::Run(options) => run::run(&options),
        Verb::Ssa(options) => ssa::ssa(&options),
        Verb::Ssi(options) => ssi::ssi(&options),
        Verb::Bench(options) => bench::bench(&options),
    };
    let code = match outcome {
        Ok(Outcome::Clean) => 0,
        Ok(Outcome::Finding) => 1,
        Ok(Outcome::Refused) => 2,
        Err(error) => {
            eprintln!("error: {error}");
            2
        }
    };
    if is_child {
        run::guard::done(code);
    }
    ExitCode::from(code)
}
