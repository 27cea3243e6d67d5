//! Modules taken apart into versions for several CPUs, which are linked again: functions of which there is one for each
//! CPU, and everything else, of which there must be one.
//!
//! What a module keeps to itself, such as variables that are `static` in C, is shared by all parts. So it becomes
//! visible before the module is copied ([`Module::share_statics`]), and is hidden again when the parts are linked.

use crate::ffi::types::LLVMLinkage::{LLVMAvailableExternallyLinkage, LLVMExternalLinkage};
use crate::ffi::types::*;

use crate::ffi::load::functions;
use crate::module::{Module, blocks_of, c_string, users_of, value_name};
use crate::opcodes::REPLACEABLE;
use crate::pointers::LOCAL;
use crate::simplify::attribute_kind;

/// Attributes of parameters with which C and LLVM do not pass the same.
const PASSED_OTHERWISE: [&str; 6] = ["byval", "sret", "inalloca", "preallocated", "swifterror", "swiftself"];

/// `LLVMHiddenVisibility`.
const HIDDEN: u32 = 1;

/// How a function is seen and called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// Whether other objects can call it.
    pub visible: bool,
    /// Whether another object may have it, too, and either is taken.
    pub replaceable: bool,
    /// Whether parameters are passed in other ways than as values of their types.
    pub passed_otherwise: bool,
    /// Whether there can be one of it only: something knows an address within it, or another name for it.
    pub only_one: bool,
}

impl Module {
    /// How a function of this module is seen.
    pub fn seen(&self, name: &str) -> Seen {
        let Some(function) = self.named(name) else { return Seen::default() };
        let f = functions();
        // SAFETY: a live function, the numbers of its parameters, and its blocks; values are asked what they are.
        unsafe {
            let linkage = f.LLVMGetLinkage(function);
            let has = |index: u32| {
                PASSED_OTHERWISE.iter().any(|kind| {
                    !f.LLVMGetEnumAttributeAtIndex(function, index, attribute_kind(kind)).is_null()
                })
            };
            let other_name = |&user: &LLVMValueRef| !f.LLVMIsAGlobalAlias(user).is_null();
            let mut only_one = users_of(function).iter().any(other_name);
            for block in blocks_of(function) {
                let users = users_of(f.LLVMBasicBlockAsValue(block));
                only_one |= users.into_iter().any(|user| f.LLVMIsConstant(user) != 0);
            }
            Seen {
                visible: !LOCAL.contains(&linkage),
                replaceable: REPLACEABLE.contains(&linkage),
                passed_otherwise: (1..=f.LLVMCountParams(function)).any(has),
                only_one,
            }
        }
    }

    /// Makes visible what the module keeps to itself, and names what has no name. The names of what was visible
    /// before.
    pub fn share_statics(&mut self) -> Vec<String> {
        let f = functions();
        let mut visible = Vec::new();
        for (i, global) in self.globals().into_iter().enumerate() {
            let name = value_name(global);
            // SAFETY: a live global of this module; pointer and length describe the name.
            unsafe {
                if f.LLVMIsDeclaration(global) != 0 || name.starts_with("llvm.") {
                    continue;
                }
                if !LOCAL.contains(&f.LLVMGetLinkage(global)) {
                    visible.push(name);
                    continue;
                }
                if name.is_empty() {
                    let new = format!("warpline.static.{i}");
                    f.LLVMSetValueName2(global, new.as_ptr().cast(), new.len());
                }
                f.LLVMSetLinkage(global, LLVMExternalLinkage as u32);
                f.LLVMSetVisibility(global, HIDDEN);
            }
        }
        visible
    }

    /// Leaves the definitions of functions out: they are somewhere else.
    pub fn leave_out(&mut self, names: &[&str]) {
        let f = functions();
        for name in names {
            let Some(old) = self.named(name) else { continue };
            // SAFETY: a live function; its name goes to a new one of its type, which takes its place everywhere, so
            // that nothing uses it when it is deleted.
            unsafe {
                let ty = f.LLVMGlobalGetValueType(old);
                f.LLVMSetValueName2(old, c"".as_ptr(), 0);
                let terminated = c_string(name);
                let new = f.LLVMAddFunction(self.raw(), terminated.as_ptr(), ty);
                f.LLVMSetFunctionCallConv(new, f.LLVMGetFunctionCallConv(old));
                f.LLVMReplaceAllUsesWith(old, new);
                f.LLVMDeleteFunction(old);
            }
        }
    }

    /// Keeps the definitions of these functions, under new names, and of what only this module has. Everything else is
    /// somewhere else, but stays known for inlining where it is what others get, too.
    pub fn keep_versions(&mut self, versions: &[(&str, String)]) {
        let f = functions();
        self.leave_out_replaceable(versions);
        // SAFETY: a live module; the text is empty.
        unsafe { f.LLVMSetModuleInlineAsm2(self.raw(), c"".as_ptr(), 0) };
        for global in self.globals() {
            let name = value_name(global);
            let version = versions.iter().find(|(function, _)| *function == name);
            // SAFETY: a live global, which is asked what it is; what is deleted has no uses any more.
            unsafe {
                if f.LLVMIsDeclaration(global) != 0 || LOCAL.contains(&f.LLVMGetLinkage(global)) {
                    continue;
                }
                let is_function = !f.LLVMIsAFunction(global).is_null();
                if !is_function && f.LLVMIsAGlobalVariable(global).is_null() {
                    // Another name for something.
                    let aliasee = f.LLVMAliasGetAliasee(global);
                    if !f.LLVMIsAGlobalAlias(global).is_null() && !aliasee.is_null() {
                        f.LLVMReplaceAllUsesWith(global, aliasee);
                        f.LLVMDeleteGlobal(global);
                    }
                    continue;
                }
                if name.starts_with("llvm.") {
                    f.LLVMDeleteGlobal(global);
                    continue;
                }
                f.LLVMSetComdat(global, std::ptr::null_mut());
                match version {
                    Some((_, new)) => {
                        // Whoever calls it calls what chooses.
                        let ty = f.LLVMGlobalGetValueType(global);
                        f.LLVMSetValueName2(global, new.as_ptr().cast(), new.len());
                        f.LLVMSetLinkage(global, LLVMExternalLinkage as u32);
                        f.LLVMSetVisibility(global, HIDDEN);
                        let terminated = c_string(&name);
                        let chooser = f.LLVMAddFunction(self.raw(), terminated.as_ptr(), ty);
                        f.LLVMSetFunctionCallConv(chooser, f.LLVMGetFunctionCallConv(global));
                        f.LLVMReplaceAllUsesWith(global, chooser);
                    }
                    None => {
                        if !is_function && REPLACEABLE.contains(&f.LLVMGetLinkage(global)) {
                            // Nobody knows what it is then.
                            f.LLVMSetGlobalConstant(global, 0);
                        }
                        f.LLVMSetLinkage(global, LLVMAvailableExternallyLinkage as u32);
                    }
                }
            }
        }
    }

    /// Leaves functions out of which another object's body may be taken.
    fn leave_out_replaceable(&mut self, versions: &[(&str, String)]) {
        let replaceable: Vec<String> = self
            .defined_functions()
            .into_iter()
            .filter(|name| versions.iter().all(|(version, _)| version != name) && self.seen(name).replaceable)
            .collect();
        self.leave_out(&replaceable.iter().map(String::as_str).collect::<Vec<_>>());
    }
}
