//! What SPMD programs are written for: pictures, prices, grids.

use crate::Kernel;

mod ao;
mod camera;
mod mandelbrot;
mod noise;
mod options;
mod rt;
mod stencil;
mod volume;

/// The kernels.
pub const ALL: &[Kernel] = &[
    mandelbrot::KERNEL,
    options::BLACK_SCHOLES,
    options::BINOMIAL,
    noise::KERNEL,
    stencil::KERNEL,
    ao::KERNEL,
    volume::KERNEL,
    rt::KERNEL,
    rt::RAYS,
];
