//! Loops of simulations: neutron transport and molecular dynamics (paper 3, Sec. 7.2 and 7.3).

use crate::Kernel;

mod molecule;
mod nab;
mod xs;
mod xsbench;

/// The kernels.
pub const ALL: &[Kernel] = &[xs::KERNEL, xsbench::KERNEL, nab::NAB_1, nab::NAB_2, nab::NAB_3];
