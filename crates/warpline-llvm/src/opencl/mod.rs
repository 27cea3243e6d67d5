//! OpenCL C on CPUs: definitions of its builtins, which CPUs bring no library of, and SPIR's modules made ones for a
//! CPU.

mod cache;
mod conversions;
mod definitions;
mod formats;
mod library;
mod printing;
mod spir;

pub use definitions::is_defined as defines_opencl_builtin;
