//! Which functions of a module may be vectorized where they are called.

use std::collections::{BTreeMap, BTreeSet};

use crate::ffi::types::*;
use warpline_ir::{self as ir, FuncId};
use warpline_vectorize::Callees;
use warpline_vectorize::vector_abi::{InstructionSet, Variant};

use crate::ffi::load::functions;
use crate::import::Imported;
use crate::module::{FUNCTION_INDEX, users_of};
use crate::opcodes::REPLACEABLE;
use crate::openmp::is_ordered_block;
use crate::simplify::attribute_kind;

/// Attributes of parameters whose arguments are passed in other ways than as the values that they are.
const PASSED_OTHERWISE: [&str; 5] = ["byval", "inalloca", "preallocated", "swifterror", "swiftself"];

/// The functions of which calls do what the bodies in the module say.
pub struct FinalBodies {
    /// Those that may be vectorized.
    bodies: BTreeSet<FuncId>,
    /// Those that are used otherwise than by calls of their names.
    addressed: BTreeSet<FuncId>,
    /// The vector variants of functions, by their names.
    variants: BTreeMap<String, Vec<Variant>>,
}

impl FinalBodies {
    /// Without the variants that are neither in the module nor, by `has_symbol`, elsewhere.
    #[must_use]
    pub fn with_variants_at_hand(
        mut self,
        imported: &Imported,
        has_symbol: impl Fn(&str) -> bool,
    ) -> FinalBodies {
        for of_one in self.variants.values_mut() {
            of_one.retain(|v| imported.bridge.module().defines(&v.symbol) || has_symbol(&v.symbol));
        }
        self
    }
}

impl Callees for FinalBodies {
    fn may_be_vectorized(&self, _module: &ir::Module, function: FuncId) -> bool {
        self.bodies.contains(&function)
    }

    fn has_address_taken(&self, _module: &ir::Module, function: FuncId) -> bool {
        self.addressed.contains(&function)
    }

    fn variants(&self, function: &str) -> &[Variant] {
        self.variants.get(function).map_or(&[], Vec::as_slice)
    }
}

impl Imported {
    /// The functions of which calls do what their bodies say: no other module's body may take their place, and
    /// arguments are passed as the values that they are. `register_bits` is the size of the machine's vector
    /// registers, which says which [variants](warpline_vectorize::vector_abi) it can execute.
    pub fn final_bodies(&self, register_bits: u32) -> FinalBodies {
        let (mut bodies, mut addressed) = (BTreeSet::new(), BTreeSet::new());
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
            let in_order = is_ordered_block(&func.name);
            if !REPLACEABLE.contains(&linkage) && !otherwise && !in_order && !has(FUNCTION_INDEX, "naked") {
                bodies.insert(id);
            }
            if is_address_taken(function) {
                addressed.insert(id);
            }
        }
        let variants = self.variants(register_bits);
        FinalBodies { bodies, addressed, variants }
    }
}

impl Imported {
    /// The vector variants that attributes of functions promise, for machines with vector registers of so many bits.
    fn variants(&self, register_bits: u32) -> BTreeMap<String, Vec<Variant>> {
        let mut variants: BTreeMap<String, Vec<Variant>> = BTreeMap::new();
        for name in self.bridge.module().function_attribute_names() {
            let Some(variant) = Variant::parse(&name) else { continue };
            // What takes 256 bits for floating point and 128 for integers has no use where AVX2 is there.
            if variant.set != InstructionSet::Avx && variant.set.register_bits() <= register_bits {
                variants.entry(variant.scalar.clone()).or_default().push(variant);
            }
        }
        for of_one in variants.values_mut() {
            // Who defines some here has promised the others only because the directive names no instruction set.
            if of_one.iter().any(|v| self.bridge.module().defines(&v.symbol)) {
                of_one.retain(|v| self.bridge.module().defines(&v.symbol));
            }
        }
        variants
    }
}

/// Whether a function is used by anything but calls of it.
fn is_address_taken(function: LLVMValueRef) -> bool {
    let f = functions();
    users_of(function).into_iter().any(|user| {
        // SAFETY: users of a live function, which are asked what they are; `LLVMGetCalledValue` is asked of calls only.
        unsafe {
            let is_call = !f.LLVMIsACallInst(user).is_null() || !f.LLVMIsAInvokeInst(user).is_null();
            !is_call || f.LLVMGetCalledValue(user) != function
        }
    })
}
