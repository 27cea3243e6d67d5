//! What SPMD programs are written for: pictures, prices, grids.

use crate::Kernel;

mod mandelbrot;
mod noise;
mod options;
mod stencil;

/// The kernels.
pub const ALL: &[Kernel] =
    &[mandelbrot::KERNEL, options::BLACK_SCHOLES, options::BINOMIAL, noise::KERNEL, stencil::KERNEL];
