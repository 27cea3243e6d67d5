//! Hiding what a module defines from other objects.
//!
//! LLVM has a pass for this, whose list of names is part of a pipeline's text. Names come from inputs and may have
//! any characters, also those that end the list and begin another pass, so linkage is set here by handle. The rules
//! are those of the pass.

use std::collections::HashSet;

use crate::ffi::types::LLVMLinkage::{
    LLVMAvailableExternallyLinkage, LLVMExternalLinkage, LLVMInternalLinkage, LLVMPrivateLinkage,
};
use crate::ffi::types::*;

use crate::ffi::load::functions;
use crate::module::{Module, value_name};

/// `LLVMDLLExportStorageClass`.
const DLL_EXPORT: u32 = 2;

/// Symbols that code generation refers to although nothing in a module does.
const RUNTIME: [&str; 2] = ["__stack_chk_fail", "__stack_chk_guard"];

impl Module {
    /// Makes everything that the module defines internal, but for what has one of these names, what `llvm.used`
    /// lists, and what is the dynamic linker's. Members of a COMDAT group of which one stays visible stay visible.
    /// Variables that have one of the names and were internal become visible.
    pub fn internalize(&mut self, visible: &[String]) {
        let f = functions();
        let mut kept: HashSet<LLVMValueRef> = self.used();
        let all = self.globals();
        kept.extend(all.iter().copied().filter(|&global| {
            let name = value_name(global);
            let by_name = name.starts_with("llvm.") || RUNTIME.contains(&&*name) || visible.contains(&name);
            by_name || is_left_alone(global)
        }));
        let comdat = |global: LLVMValueRef| {
            // SAFETY: a live global; only functions and variables are asked for their group.
            unsafe {
                let has_one =
                    !f.LLVMIsAFunction(global).is_null() || !f.LLVMIsAGlobalVariable(global).is_null();
                if has_one { f.LLVMGetComdat(global) } else { std::ptr::null_mut() }
            }
        };
        let groups: HashSet<LLVMComdatRef> = kept.iter().map(|&global| comdat(global)).collect();
        for global in all {
            // SAFETY: a definition of this live module.
            unsafe {
                let internal = f.LLVMGetLinkage(global) == LLVMInternalLinkage as u32;
                if internal
                    && !f.LLVMIsAGlobalVariable(global).is_null()
                    && visible.contains(&value_name(global))
                {
                    f.LLVMSetLinkage(global, LLVMExternalLinkage as u32);
                }
            }
            let group = comdat(global);
            if kept.contains(&global) || (!group.is_null() && groups.contains(&group)) {
                continue;
            }
            // SAFETY: a definition of this live module; a group is taken only from what has one.
            unsafe {
                if !group.is_null() {
                    f.LLVMSetComdat(global, std::ptr::null_mut());
                }
                let local = [LLVMInternalLinkage as u32, LLVMPrivateLinkage as u32];
                if !local.contains(&f.LLVMGetLinkage(global)) {
                    f.LLVMSetVisibility(global, 0);
                    f.LLVMSetLinkage(global, LLVMInternalLinkage as u32);
                }
            }
        }
    }

    /// Functions, variables, aliases and resolvers, in module order.
    pub(crate) fn globals(&self) -> Vec<LLVMValueRef> {
        let f = functions();
        let mut all: Vec<LLVMValueRef> = self.functions().collect();
        // SAFETY: the lists of a live module; each element is asked for the next one of its own list.
        unsafe {
            let lists = [
                (f.LLVMGetFirstGlobal(self.raw()), 0),
                (f.LLVMGetFirstGlobalAlias(self.raw()), 1),
                (f.LLVMGetFirstGlobalIFunc(self.raw()), 2),
            ];
            for (first, list) in lists {
                let mut global = first;
                while !global.is_null() {
                    all.push(global);
                    global = match list {
                        0 => f.LLVMGetNextGlobal(global),
                        1 => f.LLVMGetNextGlobalAlias(global),
                        _ => f.LLVMGetNextGlobalIFunc(global),
                    };
                }
            }
        }
        all
    }

    /// What `llvm.used` lists: symbols that something outside the module knows.
    fn used(&self) -> HashSet<LLVMValueRef> {
        let f = functions();
        let mut found = HashSet::new();
        let list = self.globals().into_iter().find(|&global| value_name(global) == "llvm.used");
        // SAFETY: a live global; operands are asked of its initializer, within their number, and of what these wrap.
        unsafe {
            let Some(list) = list.filter(|&list| !f.LLVMIsAGlobalVariable(list).is_null()) else {
                return found;
            };
            let initial = f.LLVMGetInitializer(list);
            if initial.is_null() {
                return found;
            }
            for i in 0..f.LLVMGetNumOperands(initial).max(0) {
                let mut entry = f.LLVMGetOperand(initial, i as u32);
                while !f.LLVMIsAConstantExpr(entry).is_null() && f.LLVMGetNumOperands(entry) > 0 {
                    entry = f.LLVMGetOperand(entry, 0);
                }
                found.insert(entry);
            }
        }
        found
    }
}

/// Whether linkage of a global is none of our business: it is no definition, or the dynamic linker or a loader knows
/// it.
fn is_left_alone(global: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: a live global; only variables are asked whether they are initialised from outside.
    unsafe {
        f.LLVMIsDeclaration(global) != 0
            || f.LLVMGetLinkage(global) == LLVMAvailableExternallyLinkage as u32
            || f.LLVMGetDLLStorageClass(global) == DLL_EXPORT
            || (!f.LLVMIsAGlobalVariable(global).is_null() && f.LLVMIsExternallyInitialized(global) != 0)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Llvm, Module};

    /// Names that end the list of the pass and begin other passes, beside what must and must not stay visible.
    const TEXT: &str = r#"
$group = comdat any
$other = comdat any
@"v>,function(dot-cfg),x<" = global i32 1
@used = global i32 2
@llvm.used = appending global [1 x ptr] [ptr @used], section "llvm.metadata"
@"alias\0A" = alias i32, ptr @used
define void @"k>,function(dot-cfg),internalize<preserve-gv=k"() { ret void }
define linkonce_odr void @group() comdat { ret void }
define linkonce_odr void @member() comdat($group) { ret void }
define linkonce_odr hidden void @other() comdat { ret void }
define available_externally void @elsewhere() { ret void }
declare void @declared()
define void @seen() { ret void }
"#;

    #[test]
    fn names_are_compared_and_never_parsed() {
        if Llvm::get().is_err() {
            return eprintln!("skipped: there is no LLVM");
        }
        let mut module = Module::parse(TEXT.as_bytes(), "names").unwrap();
        let hostile = "k>,function(dot-cfg),internalize<preserve-gv=k";
        module.internalize(&["seen".to_owned(), "group".to_owned(), hostile.to_owned()]);
        module.verify().unwrap();
        let text = module.to_text();
        let has = |words: &str| assert!(text.contains(words), "`{words}` is not in\n{text}");
        has("define void @seen()");
        has(&format!("define void @\"{hostile}\"()"));
        has("@\"v>,function(dot-cfg),x<\" = internal global");
        has("@used = global");
        has("@\"alias\\0A\" = internal alias");
        has("define linkonce_odr void @group() comdat");
        has("define linkonce_odr void @member() comdat($group)");
        has("define internal void @other() {");
        has("define available_externally void @elsewhere()");
    }
}
