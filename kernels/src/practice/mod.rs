//! What SPMD programs are written for: pictures, prices, grids.

use crate::Kernel;

/// The kernels.
pub const ALL: &[Kernel] = &[];
