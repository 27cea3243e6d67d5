//! The vectorizer: from a scalar kernel to W lanes (paper 3).
//!
//! The stages, each a module (kernels that ask which work-item they are have become others before, by [`work_items`], and those
//! with barriers several, by [`groups`]):
//! 1. `split_conditions`: uniform parts of conditions get branches of their own; `if_conversion`: branches whose arms
//!    access the same memory become straight code; `hoist_loads`: loads that all ways from a branch make come before
//!    it; [`dynamic_uniformity`]: versions of loop bodies for iterations in which lanes agree; [`reducible`]: loops with
//!    several entries get one; [`normalize`]: one exit, well-shaped loops, loop-closed SSA; [`no_return_paths`]: panics out of the way; [`scalarize`]: vector-typed values as their
//!    elements; [`uniform_allocas`]: private memory that one object can stand for; then the [uniformity
//!    analysis](warpline_uniformity) and, for indices, [`widen`]; [`subword_loads`]: which narrow elements can be
//!    loaded as parts of words;
//! 2. [`divergent_loops`]: divergent loops become uniform loops (Sec. 5);
//! 3. [`mask_classes`]: which blocks share a mask (Sec. 2.4, 4);
//! 4. [`dereferenceable_loads`]: what may run without an active lane; [`any_lane_branches`]: branches around what must
//!    not, and [`boscc`]: around what then need not (Sec. 6);
//! 5. [`block_index`] and [`mod@linearize`]: partial linearization (Sec. 3);
//! 6. [`repair`]: masks, blends, SSA. The result is a *lane program*: its control flow is uniform, and every
//!    block says under which mask it takes effect.
//!
//! The first of these, by itself: a kernel that asks which work-item it is gets that as a parameter.
//!
//! ```
//! use warpline_ir::text::{parse_module, print_function};
//! use warpline_vectorize::work_items::with_parameters;
//!
//! let text = "declare @_Z13get_global_idj(i32) -> i64 []
//!     func @k(%p: ptr) -> void {
//!     b0:
//!       %i: i64 = call @_Z13get_global_idj(0)
//!       store %i, %p, align 8
//!       ret
//!     }";
//! let mut module = parse_module(text)?;
//! let kernel = module.function("k").expect("it is there");
//! let made = with_parameters(&mut module, kernel)?.expect("it asks");
//! let text = print_function(&module, &module.functions[made.func]);
//! assert!(text.contains("%global_id_0: i64") && !text.contains("call"), "{text}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![warn(unreachable_pub)]
// `cargo doc --document-private-items` has the modules that are not public.
#![allow(rustdoc::private_intra_doc_links)]

mod alignment;
mod any_lane_branches;
mod better;
pub mod block_index;
mod boscc;
mod builder;
pub mod call_graph;
mod callees;
mod choices;
mod cleanup;
mod copies;
pub mod counts;
mod dependences;
mod dereferenceable_loads;
mod divergent_loops;
mod divisors;
pub mod driver;
mod dynamic_uniformity;
mod elementary;
mod elements;
mod embedder;
mod error;
mod exact;
mod forward_stores;
pub mod group_sizes;
pub mod groups;
mod hoist_loads;
mod if_conversion;
mod instrument;
pub mod known_calls;
pub mod lane_dimension;
mod lane_program;
pub mod linearize;
mod linearize_state;
pub mod loops;
mod lower;
mod mask_classes;
mod masked_sums;
mod narrow;
mod no_return_paths;
pub mod normalize;
mod objects;
mod options;
mod pass;
mod passed_guards;
pub mod passes;
mod pipeline;
mod private_memory;
mod recipe_counts;
mod recipes;
mod reducible;
mod refused_calls;
mod repair;
mod same_values;
mod scalarize;
mod sign_masks;
mod sink_stores;
mod small_sums;
mod split_conditions;
mod sub_groups;
mod subword_loads;
pub mod uniform_allocas;
mod unused;
pub mod vector_abi;
pub mod warps;
pub mod widen;
pub mod width;
pub mod work_items;
mod wrapping_indices;

pub use callees::is_variant;
pub use choices::{Boscc, Coherence, Contract, Gathers, Linearize, MAX_WIDTH, Masks, Packing, Passing};
pub use elementary::Elementary;
pub use embedder::{AllCallees, Callees, MathLibrary, NoCallees, NoMathLibrary};
pub use error::{Problem, VectorizeError};
pub use lane_program::LaneProgram;
pub use narrow::declare_narrow_functions;
pub use options::{AddedUp, Options, Vectorized};
pub use pipeline::{Linearized, linearize_kernel, vectorize};
pub use recipe_counts::{RecipeCounts, RecipeKind};
