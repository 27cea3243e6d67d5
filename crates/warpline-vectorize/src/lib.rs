//! The vectorizer: from a scalar kernel to W lanes (paper 3).
//!
//! The stages, each a module (kernels that ask which work-item they are have become others before, by [`work_items`]):
//! 1. `conditions`: uniform parts of conditions get branches of their own; `arms`: branches whose arms access the
//!    same memory become straight code; [`coherence`]: bodies of loops are made twice, for when lanes agree;
//!    [`reducible`]: loops with several entries get one; [`normalize`]: one exit, well-shaped loops, loop-closed SSA;
//!    [`dead_ends`]: panics out of the way; [`scalarize`]: vector-typed values as their elements; [`shared_memory`]:
//!    private memory that one object can stand for; then the [uniformity analysis](warpline_uniformity) and, for
//!    indices, [`widen`]; [`words`]: which narrow elements can be loaded as parts of words;
//! 2. [`divergent_loops`]: loops that lanes leave apart become uniform loops (Sec. 5);
//! 3. [`classes`]: which blocks share a mask (Sec. 2.4, 4);
//! 4. [`safe_loads`]: what may run without an active lane; [`guards`]: branches around what must not, and [`boscc`]:
//!    around what then need not (Sec. 6);
//! 5. [`block_index`] and [`mod@linearize`]: partial linearization (Sec. 3);
//! 6. [`repair`]: masks, blends, SSA. The result is a *lane program*: its control flow is uniform, and every
//!    block says under which mask it takes effect.
#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

pub mod alignment;
mod arms;
pub mod block_index;
pub mod boscc;
mod builder;
pub mod call_graph;
pub mod callees;
mod choices;
pub mod classes;
mod cleanup;
pub mod coherence;
mod conditions;
mod copies;
pub mod counts;
pub mod dead_ends;
pub mod dependences;
pub mod divergent_loops;
pub mod driver;
mod elementary;
mod embedder;
mod error;
mod exact;
pub mod guards;
mod instrument;
pub mod known_calls;
mod lane_program;
pub mod linearize;
pub mod loops;
pub mod lower;
pub mod normalize;
pub mod objects;
mod options;
mod pass;
pub mod passes;
mod pipeline;
pub mod plan;
pub mod private_memory;
pub mod reducible;
mod refused_calls;
pub mod repair;
pub mod safe_loads;
pub mod scalarize;
pub mod shared_memory;
mod sink;
pub mod vector_abi;
pub mod widen;
pub mod width;
pub mod words;
pub mod work_items;

pub use choices::{Boscc, Coherence, Contract, Gathers, Linearize, MAX_WIDTH, Masks, Passing};
pub use elementary::Elementary;
pub use embedder::{AllCallees, Callees, MathLibrary, NoCallees, NoMathLibrary};
pub use error::{Problem, VectorizeError};
pub use lane_program::LaneProgram;
pub use options::{Options, Vectorized};
pub use pipeline::{Linearized, linearize_kernel, vectorize, vectorize_forms};
