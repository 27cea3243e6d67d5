//! What attributes of parameters promise of pointers.

use crate::ffi::types::*;
use warpline_ir::PointerFacts;

use super::Imported;
use crate::ffi::load::functions;
use crate::simplify::attribute_kind;

impl Imported {
    /// What callers of a function promise of a parameter, by its number. `sret` and `byval` stand for memory of the
    /// size of their type, which is there while the function runs.
    pub(super) fn promises_of(&mut self, function: LLVMValueRef, parameter: u32) -> PointerFacts {
        let value = |kind: &str| {
            let attribute = attribute_at(function, parameter, kind)?;
            // SAFETY: an attribute with a number.
            Some(unsafe { functions().LLVMGetEnumAttributeValue(attribute) })
        };
        let align = value("align").filter(|a| a.is_power_of_two()).unwrap_or(1);
        let stated = value("dereferenceable").unwrap_or(0);
        let sizes = ["sret", "byval"].map(|kind| self.size_of_pointee(function, parameter, kind));
        let dereferenceable = sizes.into_iter().fold(stated, u64::max);
        let noalias = attribute_at(function, parameter, "noalias").is_some();
        PointerFacts { align, dereferenceable, noalias, ..PointerFacts::default() }
    }

    /// The size of the type of an attribute that has one; 0 if there is no such attribute.
    fn size_of_pointee(&mut self, function: LLVMValueRef, parameter: u32, kind: &str) -> u64 {
        let Some(attribute) = attribute_at(function, parameter, kind) else { return 0 };
        // SAFETY: an attribute with a type.
        let ty = unsafe { functions().LLVMGetTypeAttributeValue(attribute) };
        let ty = self.bridge.import_type(ty, &mut self.ir.types);
        self.ir.layout.store_size(&self.ir.types, ty).unwrap_or(0)
    }
}

fn attribute_at(function: LLVMValueRef, parameter: u32, kind: &str) -> Option<LLVMAttributeRef> {
    // SAFETY: a live function and the number of one of its parameters; attributes of parameters count from 1.
    let found =
        unsafe { functions().LLVMGetEnumAttributeAtIndex(function, parameter + 1, attribute_kind(kind)) };
    (!found.is_null()).then_some(found)
}
