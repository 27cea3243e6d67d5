//! Code in memory: a source is compiled and vectorized within a running program, which calls its functions.
//!
//! [`Kernel`] is one function, called with arguments that are checked; [`Code`] has all functions of a source, for such
//! calls or by address, as a shared library does.
//!
//! What an input means is what [`crate::unasked`] says: marked loops or all loops are vectorized in their functions,
//! which keep their names and parameters; of kernels, there are the drivers, such as `NAME_range(begin, end, …)`.
//!
//! A program that uses this calls [`warpline_llvm::worker::serve_if_asked`] first of all in `main`, and is its own worker
//! then.

mod arguments;
mod kernel;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use crate::callable::Signature;
pub use crate::number::Number;
pub use arguments::{Argument, Arguments, Element, Returned};
pub use kernel::{CallError, Kernel};
use warpline_ir::demangle;
use warpline_llvm::worker::Output;
use warpline_llvm::{InputKind, Jit};

use crate::callable::{self, Callable};
use crate::choice;
use crate::error::{Error, Result};
use crate::kernel::load_for_code;
use crate::loops::{LoopAt, LoopOptions, vectorize_loops};
use crate::options::{KernelOptions, VectorizeOptions};
use crate::source_types::SourceTypes;
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
    /// What can be called, if types were asked for.
    functions: Vec<Callable>,
}

/// What code in memory says when it panics: Rust's own functions for panics have other names with each compiler, and
/// unwind, which this code cannot be.
fn panic() -> Option<String> {
    Some("error: code in Rust that was compiled at run time has panicked\n".to_owned())
}

impl Object {
    /// Compiles and vectorizes an input. Loops that cannot be vectorized, or are not worth it, stay as they are. Code in
    /// Rust that panics ends the process.
    ///
    /// # Errors
    /// Whatever is wrong with it and the options; why, if kernels are meant and none can be vectorized.
    pub fn of_file(options: &KernelOptions) -> Result<Object> {
        Object::made(options, false)
    }

    /// `described`: whether the types of functions are wanted, too.
    fn made(options: &KernelOptions, described: bool) -> Result<Object> {
        let functions: Vec<String> = options.function.iter().cloned().collect();
        let loops = unasked::loops(options, &functions)?;
        if !loops.is_empty() {
            let asked =
                LoopOptions { functions, loops, panic: panic(), ..LoopOptions::marked(options.clone()) };
            return Object::of_loops(&asked, described);
        }
        let imported = load_for_code(&options.input, &options.load_options(), options.told())?.imported;
        let types = described.then(|| SourceTypes::of(options, &imported));
        let is_plain = InputKind::of(&options.input)?.is_source() && options.args.is_none();
        if is_plain && choice::has_no_kernel(&imported, &options.input)? {
            // Functions without loops are what they are.
            let loops = vec![LoopAt::All];
            let asked =
                LoopOptions { functions, loops, panic: panic(), ..LoopOptions::marked(options.clone()) };
            return Object::of_loops(&asked, described);
        }
        let kernels = choice::choose(&imported, &options.input, &functions, options.args.is_some())?;
        let asked = VectorizeOptions { panic: panic(), ..VectorizeOptions::new(options.clone()) };
        let (several, bytes) = vectorize(&asked, imported, &kernels, Output::Object)?;
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
        let functions =
            types.map_or(Vec::new(), |types| callable::of_kernels(&options.input, &types, &several.made));
        Ok(Object { bytes, made: made.collect(), refused, functions })
    }

    fn of_loops(asked: &LoopOptions, described: bool) -> Result<Object> {
        let compiled = vectorize_loops(asked, Output::Object, described)?;
        let versions = || compiled.versions.iter();
        let made = versions().flat_map(|version| &version.loops);
        let made = made
            .map(|one| format!("{}: loop at {}: {} lanes", demangle(&one.function), one.place, one.width));
        let scalar = versions().flat_map(|version| &version.scalar).map(|one| one.describe());
        let refused = compiled.refused.iter().map(|one| one.reason.to_string());
        Ok(Object {
            made: made.collect(),
            refused: refused.chain(scalar).collect(),
            bytes: compiled.code,
            functions: compiled.callable,
        })
    }

    /// The same of a source that is given as text.
    ///
    /// # Errors
    /// As [`Object::of_file`], and if no file can be written for the compiler.
    pub fn of_source(language: Language, text: &str, options: &KernelOptions) -> Result<Object> {
        Object::made_of_source(language, text, options, false)
    }

    fn made_of_source(
        language: Language,
        text: &str,
        options: &KernelOptions,
        described: bool,
    ) -> Result<Object> {
        let file = SourceFile::new(language, text)?;
        Object::made(&KernelOptions { input: file.path().to_owned(), ..options.clone() }, described)
    }
}

/// A source that is given as text, as a file for those who read files. It is removed with this.
pub struct SourceFile {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl SourceFile {
    /// Writes it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(language: Language, text: &str) -> Result<SourceFile> {
        let failed =
            |e: std::io::Error| Error::input("the source", format!("no file can be made of it: {e}"));
        let folder = tempfile::tempdir().map_err(failed)?;
        let path = folder.path().join(format!("source.{}", language.extension()));
        std::fs::write(&path, text).map_err(failed)?;
        Ok(SourceFile { path, _folder: folder })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Code in memory. What it has may be called as long as this is there.
#[derive(Clone)]
pub struct Code {
    jit: Arc<Jit>,
    /// What was made and what was not; the bytes are empty.
    pub object: Object,
}

impl Code {
    /// Compiles a source for this machine and links it into this process.
    ///
    /// # Errors
    /// As [`Object::of_source`], and if something that it calls is not in this process.
    pub fn of_source(language: Language, text: &str) -> Result<Code> {
        Code::of(Object::made_of_source(language, text, &KernelOptions::new(""), true)?)
    }

    /// The same of a file.
    ///
    /// # Errors
    /// As [`Object::of_file`].
    pub fn of_file(path: &Path) -> Result<Code> {
        Code::of(Object::made(&KernelOptions::new(path), true)?)
    }

    /// Links an object into this process.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn of(mut object: Object) -> Result<Code> {
        let jit = Jit::new()?;
        jit.add_object(&std::mem::take(&mut object.bytes), "the source")?;
        Ok(Code { jit: Arc::new(jit), object })
    }

    /// A function, for calls with arguments that are checked.
    ///
    /// # Errors
    /// If there is none of that name, or it takes or returns something else than numbers and pointers whose types are
    /// known.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let functions = &self.object.functions;
        let Some((_, signature)) = functions.iter().find(|(own, _)| own == name) else {
            let names: Vec<&str> = functions.iter().map(|(own, _)| own.as_str()).collect();
            return Err(Error::option(
                name,
                format!("there is no such function; there are {}", names.join(", ")),
            ));
        };
        match signature {
            Ok(signature) => Kernel::of(&self.jit, signature.clone()),
            Err(why) => Err(Error::option(name, why.clone())),
        }
    }

    fn only_kernel(&self, input: impl AsRef<Path>) -> Result<Kernel> {
        match &self.object.functions[..] {
            [(name, _)] => self.kernel(name),
            several => {
                let names: Vec<&str> = several.iter().map(|(own, _)| own.as_str()).collect();
                let message = match names[..] {
                    [] => "it has no function that can be called".to_owned(),
                    _ => {
                        format!("it has several functions, {}: take one by `Code::kernel`", names.join(", "))
                    }
                };
                Err(Error::input(input.as_ref(), message))
            }
        }
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
