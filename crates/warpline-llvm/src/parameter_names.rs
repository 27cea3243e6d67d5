//! Names for parameters that have none.
//!
//! rustc leaves a parameter whose address is taken without a name: it is stored at once, in memory that has the name. By
//! that name people know it, in reports and on the command line, and so does the vectorizer's header.

use crate::ffi::load::functions;
use crate::ffi::types::LLVMOpcode::{LLVMAlloca, LLVMStore};
use crate::ffi::types::*;
use crate::module::{Module, is, set_name, users_of, value_name};
use crate::simplify::has_body;

/// What the memory of a parameter is called, as by clang.
const MEMORY: &str = ".addr";

impl Module {
    /// Gives each parameter without a name that of the memory that it is stored in, and the memory another one.
    pub(crate) fn name_parameters(&self) {
        let f = functions();
        for function in self.functions().filter(|&function| has_body(function)) {
            // SAFETY: the parameters of a live function.
            let parameters = (0..unsafe { f.LLVMCountParams(function) })
                .map(|number| unsafe { f.LLVMGetParam(function, number) });
            for parameter in parameters.filter(|&parameter| value_name(parameter).is_empty()) {
                if let Some((memory, name)) = home(parameter) {
                    set_name(memory, &format!("{name}{MEMORY}"));
                    set_name(parameter, &name);
                }
            }
        }
    }
}

/// The memory on the stack that a parameter is stored in, and nowhere else, with its name.
fn home(parameter: LLVMValueRef) -> Option<(LLVMValueRef, String)> {
    let [store] = users_of(parameter)[..] else { return None };
    if !is(store, LLVMStore) {
        return None;
    }
    // SAFETY: a store has two operands: what is stored, and the address.
    let address = unsafe { functions().LLVMGetOperand(store, 1) };
    let name = Some(address).filter(|&address| is(address, LLVMAlloca)).map(value_name)?;
    (!name.is_empty()).then_some((address, name))
}
