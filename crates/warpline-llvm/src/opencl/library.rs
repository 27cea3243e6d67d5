//! Defining the builtins that a module of OpenCL C's calls.
//!
//! Clang compiles the [definitions](super::definitions) that the module needs, for the target that the module states,
//! so that names and types are those of the module's own compiler. They are linked, inlined later, and dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use crate::ffi::types::LLVMLinkage::LLVMInternalLinkage;
use crate::ffi::types::*;
use warpline_ir::demangle::opencl_builtin_name;

use super::cache::Key;
use super::definitions;
use crate::error::Result;
use crate::ffi::load::functions;
use crate::frontend::Builtins;
use crate::module::{FUNCTION_INDEX, Module, owned_string, value_name};
use crate::second_results::type_text;
use crate::simplify::{attribute_kind, calls_of, has_body};

/// Where the definitions put their functions.
const SECTION: &str = ".warpline.opencl";

/// The name of the definitions in messages.
const NAME: &str = "OpenCL's builtins";

/// The definitions that a module asks for, by name and type, and what these call, as clang compiles them or did before.
fn compiled(text: &str, types: &BTreeMap<String, String>, builtins: &Builtins) -> Result<Vec<u8>> {
    let key = Key::new(text, types, builtins);
    if let Some(bitcode) = key.as_ref().and_then(Key::read)
        && Module::parse(&bitcode, NAME).is_ok()
    {
        log::debug!("{NAME} were compiled before");
        return Ok(bitcode);
    }
    let mut library = Module::parse(&builtins.compile(text)?, NAME)?;
    library.strip_debug_info();
    library.forget_convergence();
    library.keep_what_fits(types);
    library.optimise("globaldce", None)?;
    let bitcode = library.to_bitcode();
    if let Some(key) = key {
        key.write(&bitcode);
    }
    Ok(bitcode)
}

impl Module {
    /// Defines what the module declares of OpenCL C's builtins, as far as there are definitions; what the module
    /// defines itself stays. `machine` are the flags that say what machine the module is for: a function of other
    /// features could not be inlined.
    ///
    /// # Errors
    /// Those of running clang, and of linking.
    pub(crate) fn define_opencl_builtins(&mut self, machine: &[OsString]) -> Result<()> {
        let mut names = BTreeSet::new();
        let mut types = BTreeMap::new();
        for function in self.functions().filter(|&function| !has_body(function)) {
            let mangled = value_name(function);
            if let Some(name) = opencl_builtin_name(&mangled) {
                names.insert(name.to_owned());
                types.insert(mangled, type_text(function));
            }
        }
        let halves = types.keys().any(|mangled| mangled.contains("Dh"));
        let Some(text) = definitions::source(&names, halves) else { return Ok(()) };
        let bitcode = compiled(&text, &types, &Builtins::new(&self.triple(), machine)?)?;
        self.link(&bitcode, NAME)?;
        self.own_opencl_builtins()
    }

    /// Says of all but the module's own questions about work-items that they do not depend on which work-items call
    /// together. In OpenCL C every function counts as such that does not say otherwise.
    fn forget_convergence(&self) {
        let f = functions();
        let convergent = attribute_kind("convergent");
        let is_question =
            |function: LLVMValueRef| !has_body(function) && value_name(function).starts_with("_Z");
        for function in self.functions().filter(|&function| !is_question(function)) {
            // SAFETY: functions of this live module and their calls.
            unsafe {
                f.LLVMRemoveEnumAttributeAtIndex(function, FUNCTION_INDEX, convergent);
                for call in calls_of(function) {
                    f.LLVMRemoveCallSiteEnumAttribute(call, FUNCTION_INDEX, convergent);
                }
            }
        }
    }

    /// Keeps definitions to themselves that the module at hand does not ask for, or for which it passes arguments in
    /// another way.
    fn keep_what_fits(&self, types: &BTreeMap<String, String>) {
        let ours = |function: &LLVMValueRef| has_body(*function);
        for function in self.functions().filter(ours).collect::<Vec<_>>() {
            let fits = types.get(&value_name(function)).is_some_and(|ty| *ty == type_text(function));
            if !fits {
                // SAFETY: a function of this live module.
                unsafe { functions().LLVMSetLinkage(function, LLVMInternalLinkage as u32) };
            }
        }
    }

    /// Makes the definitions the module's own, and drops those that nothing calls.
    fn own_opencl_builtins(&mut self) -> Result<()> {
        let f = functions();
        for function in self.functions().collect::<Vec<_>>() {
            // SAFETY: a function of this live module; its section is a string of the module's, copied before it
            // changes.
            unsafe {
                if owned_string(f.LLVMGetSection(function)) == SECTION {
                    f.LLVMSetSection(function, c"".as_ptr());
                    f.LLVMSetLinkage(function, LLVMInternalLinkage as u32);
                }
            }
        }
        self.optimise("globaldce", None)
    }
}
