//! Back to plain SSA form.

use crate::ssa::copies::dissolve_copies;
use crate::ssa::remove_redundant_phis;
use warpline_ir::Function;

/// Takes all σs, parallel copies and φs that stand for a single value out of a function in strict SSA form: their
/// operands take their places. A function that had none of them is the same again after
/// [`materialize`](super::materialize()) and this.
///
/// The paper leaves destruction to the passes that leave SSA form, which bring copies into sequences. That is only
/// needed if versions of a variable have come to differ; here each still stands for the variable, or for what code
/// that was changed since makes of it, which is in strict SSA form all the same.
pub fn destroy(func: &mut Function) {
    dissolve_copies(func);
    remove_redundant_phis(func);
}
