//! Loops of simulations: neutron transport and molecular dynamics (paper 3, Sec. 7.2 and 7.3).

use crate::Kernel;

/// The kernels.
pub const ALL: &[Kernel] = &[];
