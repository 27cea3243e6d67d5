//! Data analytics on trees (paper 3, Sec. 7.1).

use crate::Kernel;

/// The kernels.
pub const ALL: &[Kernel] = &[];
