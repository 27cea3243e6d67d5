//! The library for C once more, as tests load it.

#[path = "../src/lib.rs"]
mod library;
