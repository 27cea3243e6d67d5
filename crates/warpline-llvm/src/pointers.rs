//! What attributes and metadata say of pointers: which are never null.

use std::collections::BTreeSet;

use crate::ffi::types::*;
use warpline_dataflow::clients::null_pointers::Known;
use warpline_ir::{FuncId, Inst, Op, Symbol};

use crate::ffi::load::functions;
use crate::import::Imported;
use crate::opcodes::EXTERN_WEAK;
use crate::simplify::{attribute_kind, has_attribute};

/// The index of attributes of the result; those of parameters follow.
const RESULT_INDEX: u32 = 0;
/// The linkages of what no other module sees: internal and private.
pub(crate) const LOCAL: [u32; 2] = [8, 9];
/// The attributes of pointers that are never null. `dereferenceable` says so where null may not be dereferenced, and
/// only there anything is made of it.
const NOT_NULL: [&str; 4] = ["nonnull", "dereferenceable", "byval", "sret"];

impl Imported {
    /// What is known of the pointers of a function besides its IR.
    pub fn null_facts(&self, id: FuncId) -> Known {
        let func = &self.ir.functions[id];
        let mut known = Known { weak: self.weak_symbols(), ..Known::default() };
        if let Some(function) = self.bridge.module().named(&func.name) {
            let says = |i: usize| NOT_NULL.iter().any(|kind| has_attribute_at(function, i as u32 + 1, kind));
            known.params = (0..func.params.len()).map(says).collect();
            known.null_is_valid = has_attribute(function, "null_pointer_is_valid");
        }
        let mut insts: Vec<Inst> = func.layout.iter().flat_map(|&b| func.block_insts(b)).collect();
        insts.retain(|&i| {
            let data = &func.insts[i];
            let is_pointer = data.result().is_some_and(|v| func.ty(v).is_ptr());
            is_pointer && matches!(data.op, Op::Call(_) | Op::Load(_))
        });
        for inst in insts {
            let original = func.insts[inst].origin.expand().and_then(|o| self.bridge.original(o));
            let is_load = matches!(func.insts[inst].op, Op::Load(_));
            if original.is_some_and(|o| if is_load { self.loads_not_null(o) } else { returns_not_null(o) }) {
                known.results.insert(inst);
            }
        }
        known
    }

    /// The symbols that only instructions of the module use, functions as callees: those that no other module sees,
    /// and whose address is not stored in a variable or handed out as a constant.
    pub fn closed_symbols(&self) -> BTreeSet<Symbol> {
        let is_closed = |symbol: &Symbol| {
            let original = self.ir.symbols[*symbol].origin.and_then(|o| self.bridge.original(o));
            // SAFETY: the handle of a symbol stands for a live global.
            original.is_some_and(|global| unsafe {
                LOCAL.contains(&functions().LLVMGetLinkage(global)) && is_used_by_code(global)
            })
        };
        self.ir.symbols.keys().filter(is_closed).collect()
    }

    /// The symbols that need not be there, and then have the address null.
    fn weak_symbols(&self) -> Vec<Symbol> {
        let is_weak = |symbol: &Symbol| {
            let original = self.ir.symbols[*symbol].origin.and_then(|o| self.bridge.original(o));
            // SAFETY: the handle of a symbol stands for a live global.
            original.is_some_and(|global| unsafe { functions().LLVMGetLinkage(global) } == EXTERN_WEAK)
        };
        self.ir.symbols.keys().filter(is_weak).collect()
    }

    /// Whether metadata calls what is loaded not null.
    fn loads_not_null(&self, load: LLVMValueRef) -> bool {
        let f = functions();
        ["nonnull", "dereferenceable"].iter().any(|name| {
            // SAFETY: a live context and instruction; pointer and length describe the name.
            unsafe {
                let context = self.bridge.module().context();
                let kind = f.LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32);
                !f.LLVMGetMetadata(load, kind).is_null()
            }
        })
    }
}

/// Whether all uses of a global are by instructions; of a function, as callee.
fn is_used_by_code(global: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: uses and users of a live global, which are not changed; questions are asked of the kinds of value they
    // are for.
    unsafe {
        let is_function = !f.LLVMIsAFunction(global).is_null();
        let mut used = f.LLVMGetFirstUse(global);
        while !used.is_null() {
            let user = f.LLVMGetUser(used);
            let is_call = !f.LLVMIsACallInst(user).is_null() || !f.LLVMIsAInvokeInst(user).is_null();
            let ok = if is_function {
                let given =
                    || (0..f.LLVMGetNumArgOperands(user)).any(|i| f.LLVMGetOperand(user, i) == global);
                is_call && f.LLVMGetCalledValue(user) == global && !given()
            } else {
                f.LLVMIsConstant(user) == 0
            };
            if !ok {
                return false;
            }
            used = f.LLVMGetNextUse(used);
        }
    }
    true
}

/// Whether an attribute of a call or of its callee calls the result not null.
fn returns_not_null(call: LLVMValueRef) -> bool {
    let f = functions();
    NOT_NULL[..2].iter().any(|name| {
        // SAFETY: a live instruction; attributes are asked of calls, and of callees that are functions.
        unsafe {
            if f.LLVMIsACallInst(call).is_null() {
                return false;
            }
            let callee = f.LLVMGetCalledValue(call);
            !f.LLVMGetCallSiteEnumAttribute(call, RESULT_INDEX, attribute_kind(name)).is_null()
                || (!f.LLVMIsAFunction(callee).is_null() && has_attribute_at(callee, RESULT_INDEX, name))
        }
    })
}

fn has_attribute_at(function: LLVMValueRef, index: u32, kind: &str) -> bool {
    // SAFETY: a live function, and the index of its result or of a parameter.
    unsafe { !functions().LLVMGetEnumAttributeAtIndex(function, index, attribute_kind(kind)).is_null() }
}
