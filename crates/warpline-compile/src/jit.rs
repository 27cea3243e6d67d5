//! Code in memory: a source is compiled and vectorized within a running program, and its functions are called by
//! address, as those of a shared library are.
//!
//! ```no_run
//! use warpline_compile::jit::{Code, Language};
//!
//! // A library that calls this crate first of all in `main`, see `warpline_llvm::worker`.
//! let source = "void scale(int n, float *x) { for (int i = 0; i < n; i++) x[i] *= 2; }";
//! let code = Code::of_source(Language::C, source)?;
//! let address = code.address("scale")?;
//! // The type is the source's: `unsafe { std::mem::transmute::<usize, extern "C" fn(i32, *mut f32)>(address) }`,
//! // to be called as long as `code` is there.
//! # Ok::<(), warpline_compile::Error>(())
//! ```
//!
//! What an input means is what [`crate::unasked`] says: marked loops or all loops are vectorized in their functions,
//! which keep their names and parameters; of kernels, there are the drivers, such as `NAME_range(begin, end, …)`.

use std::path::Path;

use warpline_llvm::Jit;
use warpline_llvm::worker::Output;

use crate::choice;
use crate::error::{Error, Result};
use crate::kernel::load_for_code;
use crate::loops::{LoopOptions, vectorize_loops};
use crate::options::{KernelOptions, VectorizeOptions};
use crate::unasked;
use crate::vectorize::vectorize;

/// The language of a source that is given as text.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cpp,
    /// OpenCL C.
    OpenCl,
    /// Rust; functions are visible with `#[unsafe(no_mangle)] pub extern "C"`.
    Rust,
    /// LLVM's text.
    Llvm,
}

impl Language {
    /// The language of this name: the ending of a file in it.
    pub fn of(name: &str) -> Option<Language> {
        Some(match name {
            "c" => Language::C,
            "cpp" | "c++" | "cc" | "cxx" => Language::Cpp,
            "cl" | "opencl" => Language::OpenCl,
            "rs" | "rust" => Language::Rust,
            "ll" | "llvm" => Language::Llvm,
            _ => return None,
        })
    }

    fn extension(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::OpenCl => "cl",
            Language::Rust => "rs",
            Language::Llvm => "ll",
        }
    }
}

/// Code that was made of an input, in an object.
#[derive(Clone, Debug, Default)]
pub struct Object {
    /// The object file.
    pub bytes: Vec<u8>,
    /// What was vectorized, a line each: functions, loops, numbers of lanes.
    pub made: Vec<String>,
    /// What was not, and why, a line each.
    pub refused: Vec<String>,
}

impl Object {
    /// Compiles and vectorizes an input. Loops that cannot be vectorized, or are not worth it, stay as they are.
    ///
    /// # Errors
    /// Whatever is wrong with it and the options; why, if kernels are meant and none can be vectorized.
    pub fn of_file(options: &KernelOptions) -> Result<Object> {
        let functions: Vec<String> = options.function.iter().cloned().collect();
        let loops = unasked::loops(options, &functions)?;
        if !loops.is_empty() {
            let asked = LoopOptions { functions, loops, ..LoopOptions::marked(options.clone()) };
            return Object::of_loops(&asked);
        }
        let imported = load_for_code(&options.input, &options.load_options(), options.profile.as_deref())?;
        let kernels = choice::choose(&imported.imported, &options.input, &functions, options.args.is_some())?;
        let asked = VectorizeOptions::new(options.clone());
        let (several, bytes) = vectorize(&asked, imported.imported, &kernels, Output::Object)?;
        let mut refused = several.refused;
        if several.made.is_empty()
            && let Some(last) = refused.pop()
        {
            return Err(last.reason);
        }
        let made = several.made.iter().map(|one| {
            let lanes = if one.scalar { 1 } else { one.kernel.width };
            format!("{}: {lanes} lanes", one.kernel.name)
        });
        let refused = refused.iter().map(|one| one.reason.to_string()).collect();
        Ok(Object { bytes, made: made.collect(), refused })
    }

    fn of_loops(asked: &LoopOptions) -> Result<Object> {
        let compiled = vectorize_loops(asked, Output::Object, false)?;
        let versions = || compiled.versions.iter();
        let made = versions().flat_map(|version| &version.loops);
        let made = made.map(|one| format!("{}: loop at {}: {} lanes", one.function, one.place, one.width));
        let scalar = versions().flat_map(|version| &version.scalar).map(|one| one.describe());
        let refused = compiled.refused.iter().map(|one| one.reason.to_string());
        Ok(Object { made: made.collect(), refused: refused.chain(scalar).collect(), bytes: compiled.code })
    }

    /// The same of a source that is given as text.
    ///
    /// # Errors
    /// As [`Object::of_file`], and if no file can be written for the compiler.
    pub fn of_source(language: Language, text: &str, options: &KernelOptions) -> Result<Object> {
        let failed =
            |e: std::io::Error| Error::input("the source", format!("no file can be made of it: {e}"));
        let folder = tempfile::tempdir().map_err(failed)?;
        let input = folder.path().join(format!("source.{}", language.extension()));
        std::fs::write(&input, text).map_err(failed)?;
        Object::of_file(&KernelOptions { input, ..options.clone() })
    }
}

/// Code in memory. What it has may be called as long as this is there.
pub struct Code {
    jit: Jit,
    /// What was made and what was not; the bytes are empty.
    pub object: Object,
}

impl Code {
    /// Compiles a source for this machine and links it into this process.
    ///
    /// # Errors
    /// As [`Object::of_source`], and if something that it calls is not in this process.
    pub fn of_source(language: Language, text: &str) -> Result<Code> {
        Code::of(Object::of_source(language, text, &KernelOptions::new(""))?)
    }

    /// The same of a file.
    ///
    /// # Errors
    /// As [`Object::of_file`].
    pub fn of_file(path: &Path) -> Result<Code> {
        Code::of(Object::of_file(&KernelOptions::new(path))?)
    }

    /// Links an object into this process.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn of(mut object: Object) -> Result<Code> {
        let jit = Jit::new()?;
        jit.add_object(&std::mem::take(&mut object.bytes), "the source")?;
        Ok(Code { jit, object })
    }

    /// The address of a function or variable. Of which type it is says the source; what it does when it is called is
    /// the business of whoever wrote it.
    ///
    /// # Errors
    /// If there is none of that name, or something that it needs is not in this process.
    pub fn address(&self, name: &str) -> Result<usize> {
        Ok(self.jit.address(name)?)
    }
}
