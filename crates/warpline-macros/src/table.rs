//! What the build script knows of kernels: files in the folder `warpline` of `$OUT_DIR`, a line for each kernel, with
//! tabs between the fields: its file, the line of its name, its name, and what was made of it.
//!
//! Kernels in files of which no build script speaks stay what they are. In a file of which one speaks, a kernel that it
//! does not know is an error: it reads files as text, and sees no kernel in the body of a function or made by a macro.

use std::path::{Path, PathBuf};

use proc_macro::Ident;

use crate::function::Wrong;

/// The variable that says to the crate's compiler that only the program for one lane is wanted, for warpline itself.
pub(crate) const NESTED: &str = "WARPLINE_NESTED";

/// Whether warpline itself compiles the crate.
pub(crate) fn is_nested() -> bool {
    std::env::var_os(NESTED).is_some()
}

/// Whether that is for a build script, and not for the command line.
pub(crate) fn is_for_script() -> bool {
    std::env::var_os("WARPLINE_NESTED_SCRIPT").is_some()
}

/// What was made of an instance of a kernel.
#[derive(Debug)]
pub(crate) struct Made {
    /// The instance.
    pub instance: String,
    /// The name of the function that runs it over a range.
    pub range: String,
    /// The name of the function that says which CPU's code runs, or the CPU.
    pub which: Which,
    /// Whether the kernel stands in an `impl`.
    pub in_impl: bool,
    /// Whether it may be left by unwinding.
    pub unwinds: bool,
    /// Sizes and alignments of types, in the order in which they occur.
    pub layouts: Vec<(u64, u64)>,
}

/// How to learn which CPU's code runs.
#[derive(Debug)]
pub(crate) enum Which {
    /// There is code for this one only.
    One(String),
    /// A function of this name says it.
    Ask(String),
}

/// Why the build script does not know a function of a file that it has read.
const UNKNOWN: &str = "the build script has not found this kernel, so there is no code for many lanes of it: it finds \
                       functions and methods that stand in a module or an `impl` in the file itself, not those in \
                       bodies of functions or made by macros; move it there, or take the attribute away";

/// What the build script knows of a function: nothing, if it does not speak of its file.
///
/// # Errors
/// If it speaks of the file, but not of the function.
pub(crate) fn of(name: &Ident) -> Result<Option<Vec<Made>>, Wrong> {
    let Some(text) = text() else { return Ok(None) };
    let mut found: Vec<(bool, Option<Made>)> = text.lines().filter_map(|line| of_line(line, name)).collect();
    // Where the compiler does not say in which file a function stands, its name must do.
    if found.iter().any(|(exact, _)| *exact) {
        found.retain(|(exact, _)| *exact);
    }
    if found.is_empty() {
        let own = file_of(name);
        let speaks_of =
            |own: &Path| text.lines().filter_map(|line| line.split('\t').next()).any(|f| own == Path::new(f));
        return match own.is_some_and(|own| speaks_of(&own)) {
            true => Err((name.span(), UNKNOWN.to_owned())),
            false => Ok(None),
        };
    }
    Ok(Some(found.into_iter().filter_map(|(_, made)| made).collect()))
}

/// All lines of the build script's files; `None` without a build script.
fn text() -> Option<String> {
    let folder = PathBuf::from(std::env::var_os("OUT_DIR")?).join("warpline");
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "kernels") {
            all += &std::fs::read_to_string(&path).unwrap_or_default();
        }
    }
    Some(all)
}

/// The file that a name stands in, if the compiler says it.
fn file_of(name: &Ident) -> Option<PathBuf> {
    name.span().local_file().and_then(|file| file.canonicalize().ok())
}

fn of_line(line: &str, name: &Ident) -> Option<(bool, Option<Made>)> {
    let mut fields = line.split('\t');
    let (file, number, known) = (fields.next()?, fields.next()?, fields.next()?);
    if name.to_string() != known {
        return None;
    }
    let exact = match file_of(name) {
        Some(own) if own == Path::new(file) => name.span().line().to_string() == number,
        Some(_) => return None,
        None => false,
    };
    Some((exact, made(fields)))
}

fn made<'a>(mut fields: impl Iterator<Item = &'a str>) -> Option<Made> {
    let (instance, range, which, layouts) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let facts = fields.next()?;
    let which = match which.split_once(' ') {
        Some(("ask", symbol)) => Which::Ask(symbol.to_owned()),
        Some((_, cpu)) => Which::One(cpu.to_owned()),
        // Where nothing was made yet.
        None => Which::One(String::new()),
    };
    let layout = |text: &str| {
        let (size, alignment) = text.split_once(':')?;
        Some((size.parse().ok()?, alignment.parse().ok()?))
    };
    let layouts = layouts.split(' ').filter(|text| !text.is_empty()).map(layout).collect::<Option<_>>()?;
    let is = |word: &str| facts.split(' ').any(|fact| fact == word);
    Some(Made {
        instance: instance.to_owned(),
        range: range.to_owned(),
        which,
        in_impl: is("impl"),
        unwinds: is("unwinds"),
        layouts,
    })
}
