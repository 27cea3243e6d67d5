//! Data analytics on trees (paper 3, Sec. 7.1).

mod bh;
mod bt;
mod buckets;
mod kd;
mod nn;
mod pc;
mod points;
mod vp;

use crate::Kernel;

/// The kernels.
pub const ALL: &[Kernel] = &[pc::MPC, pc::PC, bh::BH, bt::BT, bt::BT_GATHER, nn::NN, vp::VP, nn::KM];
