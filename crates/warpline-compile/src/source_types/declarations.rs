//! What stands in front of functions in a header: the types that they need.
//!
//! * A record of which only pointers are passed is declared by its name, which may be done any number of times.
//! * Other types come from the user's own header where the compiler finds it (`__has_include`), and are written down
//!   where it does not, or where the header is none that can be read alone in this language. So whoever includes both
//!   headers has one definition.
//! * What the source itself defines is written down; `WARPLINE_TYPE_name` keeps it out. With `WARPLINE_TYPES`,
//!   records behind pointers are, too.
//!
//! Sizes are checked where the header is compiled: macros may make another type of the same name.

use std::fmt::Write as _;
use std::path::Path;

use warpline_llvm::described::{Language, accepts};

use super::includes::{Include, relative};
use super::spelling::Spelling;
use super::{Declared, SourceTypes, front_end};
use crate::options::KernelOptions;

/// A header of the user's, and what is wanted of it.
struct Wanted<'a> {
    include: Include,
    types: Vec<&'a Declared>,
}

impl SourceTypes {
    /// The declarations of all types that were [declared](SourceTypes::declare) with, for a header of this path, if it
    /// has one.
    pub(crate) fn declarations(&self, options: &KernelOptions, header: Option<&Path>) -> String {
        let needs = self.needs.borrow().clone();
        let mut out = String::new();
        let (mut wanted, mut own): (Vec<Wanted<'_>>, Vec<&Declared>) = (Vec::new(), Vec::new());
        for declared in needs.declared.iter().filter_map(|(_, declared)| declared.as_ref()) {
            let include = declared.header.as_ref().and_then(|file| self.includes.line_for(file));
            match include.filter(|include| !is_itself(include, header)) {
                None => own.push(declared),
                Some(include) => match wanted.iter_mut().find(|one| one.include.spelled == include.spelled) {
                    Some(one) => one.types.push(declared),
                    None => wanted.push(Wanted { include, types: vec![declared] }),
                },
            }
        }
        needs.vectors.values().for_each(|definition| out += definition);
        for name in needs.forward.keys() {
            let _ = writeln!(out, "{name};");
        }
        if !out.is_empty() {
            out.push('\n');
        }
        for one in &wanted {
            out += &included(options, header, one);
        }
        own.iter().for_each(|declared| out += &definition(declared));
        // The C library's own types are what they are.
        let is_of_system = |one: &&Wanted<'_>| one.include.spelled.starts_with('<');
        let of_user = wanted.iter().filter(|one| !is_of_system(one)).flat_map(|one| &one.types);
        let all = of_user.chain(&own).copied();
        let mut checks = String::new();
        for Declared { name, bytes, .. } in all {
            if let Some(bytes) = bytes {
                let (word, text) = (name.word(), name.text());
                let _ = writeln!(
                    checks,
                    "extern const char warpline_size_of_{word}[sizeof({text}) == {bytes} ? 1 : -1];"
                );
            }
        }
        if !checks.is_empty() {
            out += &format!("/* The source was compiled with types of these sizes. */\n{checks}\n");
        }
        out + &self.optional(&needs.forward)
    }

    /// Definitions of records behind pointers that only the source defines, for those who ask for them.
    fn optional(&self, forward: &std::collections::BTreeMap<String, super::Type>) -> String {
        let mut needs = super::Needs::default();
        for &ty in forward.values() {
            let of_source = self.node(ty).and_then(|node| self.file(node));
            if of_source.is_some_and(|file| self.includes.is_source(&file)) {
                let before = needs.clone();
                if Spelling::strict(self, &mut needs).declare(ty, "", false, true).is_err() {
                    needs = before;
                }
            }
        }
        // What comes from headers or is there already is no business of ours.
        let there = self.needs.borrow();
        let is_new = |number: u32| !there.has(number);
        let new: Vec<&Declared> = needs
            .declared
            .iter()
            .filter(|(number, _)| is_new(*number))
            .filter_map(|(_, declared)| declared.as_ref())
            .collect();
        if new.is_empty() || new.iter().any(|declared| declared.header.is_some()) {
            return String::new();
        }
        let text: String = new.into_iter().map(definition).collect();
        let others: String = needs.forward.keys().map(|name| format!("{name};\n")).collect();
        format!("#ifdef WARPLINE_TYPES\n{others}{text}#endif\n\n")
    }
}

/// Whether a line would include the header that it stands in.
fn is_itself(include: &Include, header: Option<&Path>) -> bool {
    let name = include.spelled.trim_matches(['"', '<', '>']);
    header.and_then(Path::file_name).is_some_and(|own| own == name)
}

/// A folder, of which nothing stands for the one that we are in.
fn or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// A definition that can be kept out.
fn definition(Declared { name, text, .. }: &Declared) -> String {
    let flag = format!("WARPLINE_TYPE_{}", name.word());
    format!("#ifndef {flag}\n#define {flag}\n{text}\n#endif\n\n")
}

/// Types from a header of the user's: the header where it is found, definitions elsewhere.
fn included(
    options: &KernelOptions,
    header: Option<&Path>,
    Wanted { include, types }: &Wanted<'_>,
) -> String {
    let beside = include.path.parent().filter(|_| include.beside).map(or_here);
    let line = format!("#include {}\n", include.spelled);
    let takes = |line: &str, language: Language, defined: bool| {
        let folders: Vec<&Path> = beside.into_iter().collect();
        accepts(&options.input, front_end(options), line, language, &folders, defined).unwrap_or(false)
    };
    let languages = (takes(&line, Language::C, true), takes(&line, Language::Cpp, true));
    let condition = match languages {
        (true, true) => "",
        (true, false) => " && !defined __cplusplus",
        (false, true) => " && defined __cplusplus",
        (false, false) => return types.iter().map(|declared| definition(declared)).collect(),
    };
    let letters = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let flag = format!("WARPLINE_INCLUDES_{}", include.spelled.chars().map(letters).collect::<String>());
    let mut out = format!("#if defined __has_include{condition}\n#if __has_include({})\n", include.spelled);
    out += &format!("{line}#define {flag}\n");
    let folder = header.and_then(Path::parent).map(or_here);
    let way = folder.filter(|_| include.beside).and_then(|folder| relative(folder, &include.path));
    let alone = (languages.0 && !takes(&line, Language::C, false))
        || (languages.1 && !takes(&line, Language::Cpp, false));
    if let Some(way) = way.filter(|_| !alone) {
        out += &format!("#elif __has_include(\"{way}\")\n#include \"{way}\"\n#define {flag}\n");
    }
    out += &format!("#endif\n#endif\n#ifndef {flag}\n");
    types.iter().for_each(|declared| out += &definition(declared));
    out.pop();
    out + "#endif\n\n"
}
