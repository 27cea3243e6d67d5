//! BOSCC (branch on superword condition code): code without an active lane is skipped (paper 3, Sec. 6).
//!
//! A *test* asks whether a mask has any lane. It stands before linearization, where partial linearization keeps it
//! since it is uniform, together with all that it dominates (Thm. 4.5). There are two forms, chosen by the control
//! flow, and two reasons, which share them:
//! * the [`gadget`] of Sec. 6.1 (Fig. 13), at the divergent branch that leads to a block of its own. If no lane wants
//!   the block, control goes on at the other side of the branch, so that one failed test skips the rest of a cascade;
//! * the [guard](super::any_lane_branches) at the block itself, which serves blocks with several predecessors, cases of
//!   a `switch`, and the second side of a branch whose first one has the gadget;
//! * it is *mandatory* where a block without an active lane would do harm, which
//!   [`any_lane_branches`](super::any_lane_branches) decides;
//! * it is *chosen* where skipping pays, which [`choice`] decides.

pub(crate) mod chance;
pub(crate) mod choice;
pub(crate) mod cost;
pub(crate) mod gadget;
