//! Functions of the C library that yield a second result through a pointer: `modf`, `frexp`, `remquo`, `sincos`.
//!
//! A call of one keeps a variable in memory, which each lane then has of its own, and is made for one lane after the
//! other. So they are defined in a module that is to be vectorized, and inlined. `modf`, `frexp` and `remquo` are
//! exact; `sincos` is what `sin` and `cos` are, which have vector forms, and which code generators put together again.
//! `ilogb` is defined beside them. What it yields for zeros and NaNs is the C library's choice, known here for x86-64.

use crate::ffi::types::LLVMLinkage::LLVMInternalLinkage;
use crate::ffi::types::*;

use crate::error::Result;
use crate::ffi::load::functions;
use crate::module::{Module, take_message};
use crate::simplify::has_body;

/// The definitions, visible until they are linked: what is not would be dropped before anything calls it. A name is the
/// library's behind [`PREFIX`].
const DEFINITIONS: &str = include_str!("second_results.ll");
const PREFIX: &str = "warpline.";

/// The functions with their types.
const TYPES: [(&str, &str); 10] = [
    ("modff", "float (float, ptr)"),
    ("modf", "double (double, ptr)"),
    ("frexpf", "float (float, ptr)"),
    ("frexp", "double (double, ptr)"),
    ("remquof", "float (float, float, ptr)"),
    ("remquo", "double (double, double, ptr)"),
    ("ilogbf", "i32 (float)"),
    ("ilogb", "i32 (double)"),
    ("sincosf", "void (float, ptr, ptr)"),
    ("sincos", "void (double, ptr, ptr)"),
];

impl Module {
    /// Defines these functions where the module calls them and does not define them itself.
    ///
    /// # Errors
    /// Those of linking.
    pub(crate) fn define_second_results(&mut self) -> Result<()> {
        let known_here = |name: &str| !name.starts_with("ilogb") || self.triple().starts_with("x86_64");
        let declared: Vec<&str> = TYPES
            .into_iter()
            .filter(|(name, _)| known_here(name))
            .filter(|(name, ty)| self.named(name).is_some_and(|f| !has_body(f) && type_text(f) == *ty))
            .map(|(name, _)| name)
            .collect();
        if declared.is_empty() {
            return Ok(());
        }
        self.link(DEFINITIONS.as_bytes(), "functions of the C library")?;
        for name in declared {
            self.redirect_calls(name, &format!("{PREFIX}{name}"), PREFIX);
        }
        for function in TYPES.iter().filter_map(|(name, _)| self.named(&format!("{PREFIX}{name}"))) {
            // SAFETY: a function of this live module.
            unsafe { functions().LLVMSetLinkage(function, LLVMInternalLinkage as u32) };
        }
        self.optimise("globaldce", None)
    }
}

/// The type of a function, as LLVM writes it.
pub(crate) fn type_text(function: LLVMValueRef) -> String {
    let f = functions();
    // SAFETY: a live function; the message is freed.
    take_message(unsafe { f.LLVMPrintTypeToString(f.LLVMGlobalGetValueType(function)) })
}
