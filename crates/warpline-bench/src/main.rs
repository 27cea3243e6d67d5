//! The program `warpline-bench`: measurements that papers make of what is built here, one module for each.
//!
//! Exit codes are those of `warpline`.

#![forbid(unsafe_code)]

mod files;
mod groups;
mod kernels;
mod linearize;
mod machine;
mod options;
mod products;
mod ssa;
mod ssi;
mod survey;
mod uniformity;

use std::process::ExitCode;

use options::{Bench, Cli};
use warpline_cli::{begin, finish};

fn main() -> ExitCode {
    if survey::child::is_warpline() {
        return warpline_cli::main();
    }
    begin();
    let cli: Cli = match warpline_cli::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    cli.process.apply();
    ExitCode::from(finish(|| match &cli.bench {
        Bench::Uniformity(options) => uniformity::uniformity(options),
        Bench::Products(options) => products::products(options),
        Bench::Ssa(options) => ssa::ssa(options),
        Bench::Ssi(options) => ssi::ssi(options),
        Bench::Linearize(options) => linearize::linearize(options),
        Bench::Kernels(options) => kernels::kernels(options),
        Bench::Survey(options) => survey::survey(options),
        Bench::Groups(options) => groups::groups(options),
        Bench::Machine(options) => machine::machine(options),
    }))
}
