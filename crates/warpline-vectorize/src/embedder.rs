//! What only the program around the vectorizer knows: which functions are what their bodies say, and which have
//! vector forms elsewhere.

use warpline_ir::{FuncId, Module};

use super::elementary::Elementary;
use super::vector_abi::Variant;

/// What a module's embedder knows of the functions that kernels call.
pub trait Callees {
    /// Whether calls of the function do what its body says and nothing else: no other module's body may take its place,
    /// and arguments are passed as the values that they are.
    fn may_be_vectorized(&self, module: &Module, function: FuncId) -> bool;

    /// Whether calls through pointers may be calls of the function. It costs time, not truth, to be wrong.
    fn has_address_taken(&self, _module: &Module, _function: FuncId) -> bool {
        true
    }

    /// The vector variants of a function, by its name, that the machine can execute and that will be there when the
    /// code is linked.
    fn variants(&self, _function: &str) -> &[Variant] {
        &[]
    }
}

/// Every function with a body is what its body says: right for modules that are complete.
pub struct AllCallees;

impl Callees for AllCallees {
    fn may_be_vectorized(&self, _module: &Module, _function: FuncId) -> bool {
        true
    }
}

/// Calls stay calls of scalar functions.
pub struct NoCallees;

impl Callees for NoCallees {
    fn may_be_vectorized(&self, _module: &Module, _function: FuncId) -> bool {
        false
    }
}

/// A library of vector math functions, known by name.
pub trait MathLibrary {
    /// The symbol of a function that computes `scalar` (a C library name such as `expf`) on vectors of `lanes`
    /// elements per argument, passed and returned in registers, if the library has one.
    fn vector_function(&self, scalar: &str, lanes: u32) -> Option<String>;

    /// Whether multiplication and addition fuse in an instruction, so that functions may rest on it.
    fn fused(&self) -> bool {
        false
    }

    /// Whether the machine has vector instructions that convert integers of 64 bits to floating-point numbers.
    fn converts_long_integers(&self) -> bool {
        true
    }

    /// Whether a function is to be written out as instructions, which need fused multiplication and addition, instead
    /// of being called.
    fn inline_expansion(&self, _function: Elementary) -> bool {
        false
    }
}

/// No vector math: calls are made once for each lane.
pub struct NoMathLibrary;

impl MathLibrary for NoMathLibrary {
    fn vector_function(&self, _scalar: &str, _lanes: u32) -> Option<String> {
        None
    }
}
