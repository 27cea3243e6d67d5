//! The vectorizer.
pub mod block_index;
mod error;
pub mod linearize;
pub mod normalize;

pub use error::VectorizeError;
