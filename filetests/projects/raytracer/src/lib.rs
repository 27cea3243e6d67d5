//! A small ray tracer: a camera, spheres, a sun. [`render::color`] and the methods of [`scene::Scene`] are kernels.

#![warn(missing_docs, clippy::pedantic)]

pub mod render;
pub mod scene;
mod vector;

pub use vector::Vector;
