//! `warpline bench NAME`: measurements that papers make of what is built here, one module for each.

mod files;
mod kernels;
mod linearize;
mod products;
mod ssa;
mod ssi;
pub mod table;
mod uniformity;

use crate::Outcome;
use crate::cli::{Bench, BenchOptions};
use crate::error::Result;

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with inputs and options.
pub fn bench(options: &BenchOptions) -> Result<Outcome> {
    match &options.bench {
        Bench::Uniformity(options) => uniformity::uniformity(options),
        Bench::Products(options) => products::products(options),
        Bench::Ssa(options) => ssa::ssa(options),
        Bench::Ssi(options) => ssi::ssi(options),
        Bench::Linearize(options) => linearize::linearize(options),
        Bench::Kernels(options) => kernels::kernels(options),
    }
}
