//! Which functions are judged, and what is secret in each.

use std::path::Path;

use warpline::ir::FuncId;
use warpline::observe::{SecretError, Secrets};
use warpline_compile::choice::{find_function, functions, is_called};
use warpline_compile::directives::{self, Directives};
use warpline_compile::source_types::Debug;
use warpline_llvm::Imported;

use crate::cli::ConstantTimeOptions;
use crate::error::{Error, Result};

/// Something named by the user, of the functions that a pattern stands for.
struct Item<'a> {
    function: Option<&'a str>,
    path: &'a str,
}

impl<'a> Item<'a> {
    /// `path`, or `function:path`; the functions of C++ and Rust have `::` in their names.
    fn read(text: &'a str) -> Item<'a> {
        let is_alone = |at: usize| !text[..at].ends_with(':') && !text[at + 1..].starts_with(':');
        match text.rmatch_indices(':').map(|(at, _)| at).find(|&at| is_alone(at)) {
            Some(at) => Item { function: Some(text[..at].trim()), path: text[at + 1..].trim() },
            None => Item { function: None, path: text.trim() },
        }
    }

    fn is_about(&self, name: &str) -> bool {
        self.function.is_none_or(|pattern| is_called(name, pattern))
    }
}

/// The functions that are judged, each with what is secret in it.
///
/// # Errors
/// If a function or a secret is named that there is not, or if nothing is secret.
pub(super) fn of(
    imported: &Imported,
    debug: &Debug,
    options: &ConstantTimeOptions,
) -> Result<Vec<(FuncId, Secrets)>> {
    let path = options.inputs.first().map_or(Path::new(""), |path| path);
    let mut groups: Vec<(&Path, Directives)> = Vec::new();
    for path in &options.inputs {
        groups.extend(directives::read_all(path)?.into_iter().map(|group| (&**path, group)));
    }
    let is_about_secrets = |group: &Directives| !group.secret.is_empty() || !group.public.is_empty();
    let mut annotated: Vec<(FuncId, &Path, &Directives)> = Vec::new();
    for (path, group) in groups.iter().filter(|(_, group)| is_about_secrets(group)) {
        let path = *path;
        let wrong = |message: String| Error::Directive { path: path.to_owned(), line: group.line, message };
        let name = group.function.as_deref();
        let name =
            name.ok_or_else(|| wrong("no function follows; name it by `//@ function NAME`".to_owned()))?;
        let id = find_function(imported, path, Some(name)).map_err(|e| wrong(e.to_string()))?;
        annotated.push((id, path, group));
    }
    let ids: Vec<FuncId> = match (options.function.is_empty(), annotated.is_empty()) {
        (false, _) => functions(imported, path, &options.function)?,
        (true, false) => annotated.iter().map(|&(id, ..)| id).collect(),
        (true, true) => vec![find_function(imported, path, None)?],
    };
    let is_pattern = options.function.iter().any(|name| name.contains(['*', '?']));
    let many = is_pattern || ids.len() > 1;
    let chosen = Chosen { imported, debug, path, options, annotated: &annotated, many };
    let mut unknown: Vec<Option<SecretError>> = options.secret.iter().map(|_| None).collect();
    let mut found = vec![false; options.secret.len()];
    let mut entries = Vec::new();
    for id in ids {
        let secrets = chosen.secrets(id, &mut unknown, &mut found)?;
        if !secrets.is_empty() {
            entries.push((id, secrets));
        } else if !many && unknown.iter().all(Option::is_none) {
            let func = &imported.ir.functions[id];
            let error = Secrets::parse("", &imported.ir, func, debug).err();
            let error = error.map_or_else(String::new, |e| e.to_string());
            let message =
                format!("function `{}`: {error}, or say it in the source: `//@ secret key`", func.name);
            return Err(Error::option("--secret", message));
        }
    }
    for ((error, found), item) in unknown.into_iter().zip(found).zip(&options.secret) {
        if let (Some(error), false) = (error, found) {
            let message = match many {
                true if error.is_unknown() => {
                    format!(
                        "none of these functions has a parameter `{item}`, and there is no variable of that name"
                    )
                }
                true => format!("no function has `{item}`: {error}"),
                false => format!("function `{}`: {error}", chosen.named(item)),
            };
            return Err(Error::option("--secret", message));
        }
    }
    match entries.is_empty() {
        false => Ok(entries),
        true => Err(Error::option("--secret", "nothing is secret in these functions")),
    }
}

struct Chosen<'a> {
    imported: &'a Imported,
    debug: &'a Debug,
    path: &'a Path,
    options: &'a ConstantTimeOptions,
    annotated: &'a [(FuncId, &'a Path, &'a Directives)],
    /// Whether functions without the secrets are left out.
    many: bool,
}

impl Chosen<'_> {
    /// The only function that is meant, for messages.
    fn named(&self, item: &str) -> String {
        let name = self.options.function.first().map(String::as_str);
        let only = find_function(self.imported, self.path, name).ok();
        only.map_or_else(|| item.to_owned(), |id| self.imported.ir.functions[id].name.to_string())
    }

    /// What is secret in a function. Names that it does not have are noted.
    fn secrets(
        &self,
        id: FuncId,
        unknown: &mut [Option<SecretError>],
        found: &mut [bool],
    ) -> Result<Secrets> {
        let (ir, debug) = (&self.imported.ir, self.debug);
        let func = &ir.functions[id];
        let wrong = |option: &str, e: &SecretError| {
            Error::option(option.to_owned(), format!("function `{}`: {e}", func.name))
        };
        let mut secrets = Secrets::of(func);
        for (i, text) in self.options.secret.iter().enumerate() {
            let item = Item::read(text);
            if item.path.is_empty() || !item.is_about(&func.name) {
                continue;
            }
            match secrets.add(item.path, ir, func, debug) {
                Ok(()) => found[i] = true,
                Err(e) if e.is_unknown() || (self.many && e.is_missing()) => unknown[i] = Some(e),
                Err(e) => return Err(wrong("--secret", &e)),
            }
        }
        for text in &self.options.public {
            let item = Item::read(text);
            if !item.is_about(&func.name) {
                continue;
            }
            match secrets.add_public(item.path, ir, func, debug) {
                Err(e) if !self.many || !e.is_missing() => {
                    return Err(wrong("--public", &e));
                }
                _ => {}
            }
        }
        for &(_, path, group) in self.annotated.iter().filter(|&&(of, ..)| of == id) {
            let at = |line: u32, e: &SecretError| Error::Directive {
                path: path.to_owned(),
                line,
                message: e.to_string(),
            };
            for list in &group.secret {
                for item in list.value.split(',').map(str::trim).filter(|item| !item.is_empty()) {
                    secrets.add(item, ir, func, debug).map_err(|e| at(list.line, &e))?;
                }
            }
            for list in &group.public {
                for item in list.value.split(',').map(str::trim).filter(|item| !item.is_empty()) {
                    secrets.add_public(item, ir, func, debug).map_err(|e| at(list.line, &e))?;
                }
            }
        }
        Ok(secrets)
    }
}
