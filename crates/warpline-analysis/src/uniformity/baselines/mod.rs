//! Two earlier analyses, to compare with: same input, same spread along operands, same kind of result.
//!
//! They differ from [`joins`](crate::joins) in which joins and exits they take for divergent because of a
//! divergent branch. [`Algorithm`](super::Algorithm) names them; paper 1 measures the same three (Section 7.1).

mod postdom;
mod strong;

pub(super) use postdom::PostDominators;
pub(super) use strong::StrongPostDominators;
