//! Which functions of a module may be vectorized where they are called.

use std::collections::BTreeSet;

use warpline::ir::{self, FuncId};
use warpline::vectorize::Callees;

use crate::facts::REPLACEABLE;
use crate::ffi::load::functions;
use crate::import::Imported;
use crate::module::FUNCTION_INDEX;
use crate::simplify::attribute_kind;

/// Attributes of parameters whose arguments are passed in other ways than as the values that they are.
const PASSED_OTHERWISE: [&str; 5] = ["byval", "inalloca", "preallocated", "swifterror", "swiftself"];

/// The functions of which calls do what the bodies in the module say.
pub struct FinalBodies(BTreeSet<FuncId>);

impl Callees for FinalBodies {
    fn may_be_vectorized(&self, _module: &ir::Module, function: FuncId) -> bool {
        self.0.contains(&function)
    }
}

impl Imported {
    /// The functions of which calls do what their bodies say: no other module's body may take their place, and arguments are passed as
    /// the values that they are.
    pub fn final_bodies(&self) -> FinalBodies {
        let mut found = BTreeSet::new();
        for (id, func) in &self.ir.functions {
            let Some(function) = self.bridge.module().named(&func.name) else { continue };
            let has = |index: u32, kind: &str| {
                // SAFETY: a live function and the number of one of its parameters, or of the function itself.
                let found =
                    unsafe { functions().LLVMGetEnumAttributeAtIndex(function, index, attribute_kind(kind)) };
                !found.is_null()
            };
            // SAFETY: a live function.
            let linkage = unsafe { functions().LLVMGetLinkage(function) };
            let otherwise =
                (1..=func.params.len() as u32).any(|p| PASSED_OTHERWISE.iter().any(|kind| has(p, kind)));
            if !REPLACEABLE.contains(&linkage) && !otherwise && !has(FUNCTION_INDEX, "naked") {
                found.insert(id);
            }
        }
        FinalBodies(found)
    }
}
