//! What papers state and measure, word for word, and no program of ours needs: what the product is compared with.
//!
//! * [`normal_form`], [`head_rewired`], [`disjoint_paths`]: the forms in which paper 1 states its theorems.
//! * [`variables`]: uniformity of functions with variables that are not in SSA form (paper 1, Sections 4 and 6).
//! * [`criteria`]: which branches decide about a join or an exit, by earlier work (paper 1, Section 8).
//! * [`dependences`]: how many edges sparse analyses pass information along (paper 4).

pub mod criteria;
pub mod dependences;
pub mod disjoint_paths;
pub mod head_rewired;
pub mod normal_form;
pub mod variables;

pub use dependences::dependence_edges;
pub use disjoint_paths::{DisjointPaths, RelevantSplits};
pub use head_rewired::HeadRewired;
pub use normal_form::{NodeOrigin, NormalForm, NormalFormError};
pub use variables::{VariableProgram, VariableUniformity};
