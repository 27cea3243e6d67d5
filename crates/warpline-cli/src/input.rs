//! An input whose functions are to be brought into a form, and the module that they are in then.

use std::path::{Path, PathBuf};

use serde::Serialize;
use warpline::ir::{FuncId, Function, Module};
use warpline::printable;
use warpline::text::{print_function, print_module};
use warpline::verify::VerifyErrors;
use warpline_llvm::Imported;

use crate::cli::CompilerOptions;
use crate::error::{Error, Result};
use crate::kernel::load;
use crate::output::progress;
use warpline_compile::choice::find_function;

/// A module as it was read, and the functions that are asked for.
pub(crate) struct Input {
    /// Where it was read from.
    pub path: PathBuf,
    /// The module.
    pub imported: Imported,
    /// The functions.
    pub functions: Vec<FuncId>,
}

impl Input {
    /// Reads an input as the compiler wrote it.
    ///
    /// # Errors
    /// If it cannot be read, or has no function of this name.
    pub(crate) fn open(path: &Path, function: Option<&str>, compilers: &CompilerOptions) -> Result<Input> {
        let imported = load(path, &compilers.as_written(path)?)?.imported;
        let functions = match function {
            Some(_) => vec![find_function(&imported, path, function)?],
            None => imported.ir.functions.keys().collect(),
        };
        Ok(Input { path: path.to_owned(), imported, functions })
    }

    /// All inputs.
    ///
    /// # Errors
    /// As [`Input::open`].
    pub(crate) fn open_all(
        paths: &[PathBuf],
        function: Option<&str>,
        compilers: &CompilerOptions,
    ) -> Result<Vec<Input>> {
        let shown = progress::begin(paths.len(), false);
        let open = |path: &PathBuf| {
            shown.piece(&path.display().to_string());
            let input = Input::open(path, function, compilers);
            shown.piece_is_done();
            input
        };
        paths.iter().map(open).collect()
    }

    /// Replaces the functions that are asked for by what `bring` makes of copies of them, and returns what it says of
    /// each.
    ///
    /// # Errors
    /// The first of `bring`.
    pub(crate) fn replace<T>(
        &mut self,
        mut bring: impl FnMut(&Module, &mut Function) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut all = Vec::with_capacity(self.functions.len());
        for &id in &self.functions {
            let mut func = self.imported.ir.functions[id].clone();
            all.push(bring(&self.imported.ir, &mut func)?);
            self.imported.ir.functions[id] = func;
        }
        Ok(all)
    }

    /// What is to be said of the functions, one after the other, of which `all` is known.
    pub(crate) fn report<T, R>(&self, all: &[T], of: impl Fn(&Module, &Function, &T) -> R) -> InputReport<R> {
        let module = &self.imported.ir;
        let functions = self.functions.iter().zip(all);
        InputReport {
            input: self.path.display().to_string(),
            functions: functions.map(|(&id, known)| of(module, &module.functions[id], known)).collect(),
        }
    }

    /// Appends the text form of the whole module, or of the functions alone, below the name of the file if there are
    /// `several`.
    pub(crate) fn print_to(&self, out: &mut String, whole: bool, several: bool) {
        if several {
            let between = if out.is_empty() { "" } else { "\n" };
            *out += &format!("{between}; {}\n", self.path.display());
        }
        let module = &self.imported.ir;
        match whole {
            true => *out += &print_module(module),
            false => {
                self.functions.iter().for_each(|&id| *out += &print_function(module, &module.functions[id]))
            }
        }
    }

    /// LLVM's text of the module.
    ///
    /// # Errors
    /// If a function cannot be brought into LLVM's form.
    pub(crate) fn llvm(&mut self) -> Result<String> {
        for &id in &self.functions {
            self.imported.bridge.replace_function(&self.imported.ir, id)?;
        }
        let module = self.imported.bridge.module();
        module.verify()?;
        Ok(module.to_text())
    }
}

/// What is said of the functions of an input, for programs.
#[derive(Serialize)]
pub(crate) struct InputReport<R> {
    input: String,
    functions: Vec<R>,
}

/// The error for a function that should be in a form and is not, since the verifier found `errors`.
pub(crate) fn not_in_form(module: &Module, func: &Function, form: &str, errors: &VerifyErrors) -> Error {
    let first = errors.errors.first().map_or_else(String::new, |e| format!(": {}", e.message));
    let line = func.loc.expand().map_or_else(String::new, |l| format!(" ({})", module.describe_loc(l)));
    let message = format!("function `{}`{line} is not in {form}{first}", printable::line(&func.name));
    Error::Internal(format!("{}: {message}", module.name))
}
