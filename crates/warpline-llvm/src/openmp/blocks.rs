//! Blocks behind `#pragma omp ordered simd`, which clang makes functions.

use crate::ffi::load::functions;
use crate::module::{FUNCTION_INDEX, Module, value_name};
use crate::simplify::attribute_kind;

/// What clang calls such functions, with a number behind a dot if there are several.
const NAME: &str = "__captured_stmt";

/// Whether a function is a block to be executed as a whole by one lane after the other.
pub fn is_ordered_block(name: &str) -> bool {
    let rest = name.strip_prefix(NAME).map(|rest| rest.strip_prefix('.').unwrap_or(rest));
    rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
}

impl Module {
    /// Keeps such blocks functions: as part of the code around them, their statements would be executed one after the
    /// other by all lanes. Whether there are any.
    pub(crate) fn keep_ordered_blocks(&mut self) -> bool {
        let (f, mut any) = (functions(), false);
        for function in self.functions().collect::<Vec<_>>() {
            if !is_ordered_block(&value_name(function)) {
                continue;
            }
            any = true;
            // SAFETY: a function of this live module, and kinds of attributes that LLVM 19 to 23 know.
            unsafe {
                f.LLVMRemoveEnumAttributeAtIndex(function, FUNCTION_INDEX, attribute_kind("alwaysinline"));
                let attribute = f.LLVMCreateEnumAttribute(self.context(), attribute_kind("noinline"), 0);
                f.LLVMAddAttributeAtIndex(function, FUNCTION_INDEX, attribute);
            }
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_known_by_their_names() {
        assert!(is_ordered_block("__captured_stmt") && is_ordered_block("__captured_stmt.12"));
        assert!(!is_ordered_block("__captured_stmt_of_mine") && !is_ordered_block("captured"));
    }
}
