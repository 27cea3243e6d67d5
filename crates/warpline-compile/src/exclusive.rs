//! The directive `exclusive`: memory that nobody else accesses while a function runs.
//!
//! A store under a condition, `if (a[i] > t) d[i] = v;`, leaves the other elements of `d` alone. Vector code that loads
//! all, blends and stores all writes these again as they were. If another thread changed one of them in between, its
//! change would be lost; if the element were not there, or in memory that must not be written, the program would end.
//! So the language has to allow it, and neither C nor LLVM does for what the program may never write: `restrict` says
//! which pointers lead to an element that is written, and nothing of one that is not.
//!
//! `//@ exclusive d` is that promise, by whoever calls the function: as long as it runs,
//!
//! * no other thread, signal handler or device accesses what `d` points to, and no other call that runs a part of the
//!   same loop or range;
//! * whatever an iteration would access through `d` if all its conditions held is there, and may be written if it would
//!   be written.
//!
//! `--exclusive d` is the same promise for the parameters of that name, or of names that match a pattern, in all
//! functions of the input.
//!
//! Rust's `&mut` is the first half of it, without a word of the user's: see [`references_are_unique`].

use std::collections::BTreeSet;
use std::path::Path;

use warpline_ir::Value;
use warpline_ir::pattern::matches;
use warpline_llvm::{Imported, did_you_mean};

use crate::choice;
use crate::directives;
use crate::error::{Error, Result};

/// Notes at the parameters of a module's functions what directives of the source promise.
///
/// # Errors
/// If a directive names what is no pointer among the parameters of its function.
pub(crate) fn promise(imported: &mut Imported, path: &Path) -> Result<()> {
    for group in directives::read(path)? {
        let Some(at) = &group.exclusive else { continue };
        let wrong = |message| Error::Directive { path: path.to_owned(), line: at.line, message };
        let id = choice::subject(imported, path, &group)?;
        let func = &mut imported.ir.functions[id];
        for name in at.value.split(',').map(str::trim) {
            let found =
                func.params.iter().copied().find(|&p| of_source(&func.values[p].name) == of_source(name));
            let Some(param) = found.filter(|&p| func.ty(p).is_ptr()) else {
                let pointers = func.params.iter().filter(|&&p| func.ty(p).is_ptr());
                let known: Vec<String> =
                    pointers.map(|&p| of_source(&func.values[p].name).to_owned()).collect();
                let near = did_you_mean(name, known.iter().map(String::as_str));
                let message = format!(
                    "`{name}` is no pointer among the parameters of `{}`{near}; these are: {}",
                    func.name,
                    known.join(", ")
                );
                return Err(wrong(message));
            };
            func.pointers[param].exclusive = true;
        }
    }
    Ok(())
}

/// What a parameter is called in the source: of a slice `x`, rustc calls the pointer `x.0`.
fn of_source(name: &str) -> &str {
    name.strip_suffix(".0").unwrap_or(name)
}

/// Notes of what a module of Rust's has as references that are no others that they are unique: rustc tells LLVM of the
/// same ones that nothing else leads to what is written through them.
pub(crate) fn references_are_unique(imported: &mut Imported) {
    for func in imported.ir.functions.values_mut() {
        for param in func.params.clone() {
            func.pointers[param].unique = func.pointers[param].noalias;
        }
    }
}

/// Notes the same for the parameters of these names, or of names that match these patterns, in all functions of a
/// module.
///
/// # Errors
/// If no function has a pointer of such a name.
pub(crate) fn promise_everywhere(imported: &mut Imported, path: &Path, names: &[String]) -> Result<()> {
    for pattern in names.iter().flat_map(|list| list.split(',')).map(str::trim) {
        let mut known: BTreeSet<String> = BTreeSet::new();
        let mut is_found = false;
        for func in imported.ir.functions.values_mut() {
            let pointers: Vec<Value> = func.params.iter().copied().filter(|&p| func.ty(p).is_ptr()).collect();
            for param in pointers {
                let name = of_source(&func.values[param].name).to_owned();
                if matches(of_source(pattern), &name) {
                    func.pointers[param].exclusive = true;
                    is_found = true;
                }
                known.insert(name);
            }
        }
        if !is_found {
            let near = did_you_mean(pattern, known.iter().map(String::as_str));
            let message = format!("no function has a pointer `{pattern}` among its parameters{near}");
            return Err(Error::option("--exclusive", format!("{}: {message}", path.display())));
        }
    }
    Ok(())
}
