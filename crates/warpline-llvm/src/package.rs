//! Kernels of a crate that cargo has compiled, with its dependencies: their module is cut down to what kernels need,
//! and bodies of functions of other crates are linked in.
//!
//! The attribute for kernels gives all that is looked for names that begin with [`KERNELS`]. Each crate comes as one
//! module; a crate is only linked if something that it defines is missing.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;

use crate::error::{Error, Result};
use crate::ffi::load::functions;
use crate::ffi::types::LLVMValueRef;
use crate::import::scope_file;
use crate::module::{Module, set_name, value_name};
use crate::simplify::has_body;

/// What the names of kernels and of what is said of them begin with.
pub const KERNELS: &str = "warpline.";

/// What is left when nothing but some functions is needed.
const REMOVE: &str = "globaldce,strip-dead-prototypes";

impl Module {
    /// The names of kernels.
    pub(crate) fn kernels(&self) -> Vec<String> {
        self.defined_functions().into_iter().filter(|name| name.starts_with(KERNELS)).collect()
    }

    /// The names of the functions that are written in a source, by what is known of lines.
    pub(crate) fn functions_of(&self, source: &Path) -> Vec<String> {
        let source = source.canonicalize().unwrap_or_else(|_| source.to_owned());
        let is_here = |&function: &LLVMValueRef| {
            // SAFETY: a live function.
            let file = scope_file(unsafe { functions().LLVMGetSubprogram(function) });
            !file.is_empty() && source.ends_with(file.trim_start_matches("./"))
        };
        let all = self.functions().filter(|&function| has_body(function));
        all.filter(is_here).map(value_name).collect()
    }

    /// Removes what some functions do not need, and adds the bodies that they need from these modules.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Parse`], [`Error::Link`].
    pub(crate) fn keep(&mut self, kernels: &[String], parts: &[OsString]) -> Result<()> {
        self.internalize(kernels);
        self.optimise(REMOVE, None)?;
        let mut left = parts.iter().map(|path| Part::read(Path::new(path))).collect::<Result<Vec<Part>>>()?;
        loop {
            let missing: HashSet<String> = self.declared_functions().into_iter().collect();
            let is_missing = |part: &Part| part.functions.iter().any(|function| missing.contains(function));
            let (needed, others): (Vec<Part>, Vec<Part>) = left.into_iter().partition(is_missing);
            if needed.is_empty() {
                return Ok(());
            }
            for Part { name, bitcode, .. } in needed {
                self.link(&bitcode, &name)?;
            }
            self.internalize(kernels);
            self.optimise(REMOVE, None)?;
            left = others;
        }
    }

    /// Gives functions other names, which nothing in the module may have, and removes all that these do not need.
    ///
    /// # Errors
    /// If LLVM's passes fail.
    pub fn keep_renamed(&mut self, functions: &[(String, String)]) -> Result<()> {
        for (from, to) in functions {
            let Some(function) = self.named(from) else { continue };
            if let Some(other) = self.named(to) {
                set_name(other, &format!("{to}.other"));
            }
            set_name(function, to);
        }
        self.internalize(&functions.iter().map(|(_, to)| to.clone()).collect::<Vec<_>>());
        self.optimise(REMOVE, None)
    }

    /// A module of its own with one function and all that it needs.
    ///
    /// # Errors
    /// As [`Module::parse`].
    pub fn extract(&self, function: &str) -> Result<Module> {
        let mut own = self.try_clone()?;
        own.internalize(&[function.to_owned()]);
        own.optimise(REMOVE, None)?;
        Ok(own)
    }
}

/// The module of a crate that kernels may need.
struct Part {
    name: String,
    bitcode: Vec<u8>,
    /// The functions that it defines.
    functions: Vec<String>,
}

impl Part {
    fn read(path: &Path) -> Result<Part> {
        let bitcode = std::fs::read(path).map_err(|error| Error::io("cannot read", path, &error))?;
        let name = path.display().to_string();
        let functions = Module::parse(&bitcode, &name)?.defined_functions();
        Ok(Part { name, bitcode, functions })
    }
}
