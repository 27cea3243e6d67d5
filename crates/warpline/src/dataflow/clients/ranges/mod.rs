//! Integer ranges.

pub mod arithmetic;
pub mod functions;
mod range;

#[cfg(test)]
mod tests;

pub use range::Range;
