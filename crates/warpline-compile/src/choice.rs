//! Which functions of an input are meant.

use std::collections::HashSet;
use std::path::Path;

use warpline_ir::{FuncId, demangle, pattern::matches, printable};
use warpline_llvm::{Imported, InputKind, did_you_mean};
use warpline_vectorize::call_graph::has_cross_lane_operations;
use warpline_vectorize::work_items;

use crate::directives::{self, Directives};
use crate::error::{Error, Result};
use crate::own::Owner;

/// A kernel that is meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chosen {
    /// Its name in the object file.
    pub name: String,
    /// Whether it is named, not only matched by a pattern or marked in the input.
    pub named: bool,
    /// Whether it is only a guess that it is a kernel: it is the only function of a source without loops, and nothing
    /// says what it is.
    pub guessed: bool,
}

impl Chosen {
    /// A function that is meant, not guessed.
    #[must_use]
    pub fn new(name: String) -> Chosen {
        Chosen { name, named: false, guessed: false }
    }

    /// Refuses a guess. What is made of a kernel has not the name of the function, so that it would be missing from an
    /// object.
    ///
    /// # Errors
    /// If this is a guess: what to say if it is right, or else.
    pub fn is_meant(&self, path: &Path) -> Result<()> {
        if !self.guessed {
            return Ok(());
        }
        let name = printable::line(&demangle(&self.name)).into_owned();
        Err(Error::input(
            path,
            format!(
                "{NO_LOOP}, and nothing says that `{name}` is a kernel, a function for one lane; \
                 `--args i=index` does, where `i` is a parameter that numbers the lanes, or a line `//@ args i=index` \
                 above it; `vectorize --loop all` makes an object of it as it is"
            ),
        ))
    }
}

/// How messages begin about inputs in which nothing is to be vectorized.
const NO_LOOP: &str = "there is nothing to vectorize: it has no loop";

/// The kernels that are meant, each once: those of these names, or of names that match these patterns (`*` any
/// characters, `?` one). Without any these are those about which the input has directives, else OpenCL's kernels,
/// else the only function. Patterns choose among functions with directives if there are such and `shapes` are not
/// given otherwise.
///
/// # Errors
/// If one is named that the input does not have, if nothing matches, or if nothing says which are meant.
pub fn choose(imported: &Imported, path: &Path, wanted: &[String], shapes: bool) -> Result<Vec<Chosen>> {
    let groups = directives::read(path)?;
    let mut chosen: Vec<Chosen> = Vec::new();
    let mut add = |id: FuncId, named: bool| {
        let name = imported.ir.functions[id].name.to_string();
        match chosen.iter_mut().find(|other| other.name == name) {
            Some(other) => other.named |= named,
            None => chosen.push(Chosen { named, ..Chosen::new(name) }),
        }
    };
    if wanted.is_empty() && groups.is_empty() {
        // OpenCL says which functions are kernels.
        let kernels = imported.bridge.module().opencl_kernels();
        kernels.iter().filter_map(|name| imported.ir.function(name)).for_each(|id| add(id, false));
        if !kernels.is_empty() {
            return Ok(chosen);
        }
    }
    if wanted.is_empty() {
        if groups.is_empty() {
            let only = if shapes { the_only(imported, path) } else { the_only_without_loops(imported, path) };
            let name = imported.ir.functions[only?].name.to_string();
            let guessed = !shapes && InputKind::of(path)?.is_source() && has_no_kernel(imported, path)?;
            return Ok(vec![Chosen { guessed, ..Chosen::new(name) }]);
        }
        for group in groups {
            add(subject(imported, path, &group)?, false);
        }
        return Ok(chosen);
    }
    for pattern in wanted {
        if !pattern.contains(['*', '?']) {
            add(find_function(imported, path, Some(pattern))?, true);
            continue;
        }
        let is_kernel = |id: FuncId| {
            shapes || groups.is_empty() || groups.iter().any(|g| is_about(imported, path, g, id))
        };
        let matches = |name: &str| spellings(name).iter().any(|spelling| matches(pattern, spelling));
        let matching = imported.ir.functions.iter().filter(|(id, f)| is_kernel(*id) && matches(&f.name));
        let ids: Vec<FuncId> = matching.map(|(id, _)| id).collect();
        if ids.is_empty() {
            let message = format!("no kernel matches `{pattern}`; it has {}", names(imported));
            return Err(Error::input(path, message));
        }
        ids.into_iter().for_each(|id| add(id, false));
    }
    Ok(chosen)
}

/// The ways to write the name of a function: as in the object file, as in the source with its parameters, without them,
/// and without what stands around it.
fn spellings(name: &str) -> Vec<String> {
    let whole = demangle(name);
    let bare = whole.split(['(', '<']).next().unwrap_or_default().to_owned();
    let last = bare.rsplit("::").next().unwrap_or_default().to_owned();
    // An instance of a template has its result in front.
    let path = bare.rsplit(' ').next().unwrap_or_default().to_owned();
    vec![name.to_owned(), whole, bare, path, last]
}

/// The functions of these names, or of names that match these patterns, each once.
///
/// # Errors
/// If one is named that the input does not have, or if nothing matches.
pub fn functions(imported: &Imported, path: &Path, wanted: &[String]) -> Result<Vec<FuncId>> {
    let mut all: Vec<FuncId> = Vec::new();
    for pattern in wanted {
        if !pattern.contains(['*', '?']) {
            all.push(find_function(imported, path, Some(pattern))?);
            continue;
        }
        let is_meant = |name: &str| spellings(name).iter().any(|spelling| matches(pattern, spelling));
        let matching = imported.ir.functions.iter().filter(|(_, f)| is_meant(&f.name));
        let before = all.len();
        all.extend(matching.map(|(id, _)| id));
        if all.len() == before {
            let message = format!("no function matches `{pattern}`; it has {}", names(imported));
            return Err(Error::input(path, message));
        }
    }
    let mut seen = HashSet::new();
    all.retain(|id| seen.insert(*id));
    Ok(all)
}

/// Whether a name in the object file is one that a pattern stands for, written in any way.
pub fn is_called(name: &str, pattern: &str) -> bool {
    spellings(name).iter().any(|spelling| matches(pattern, spelling))
}

/// The functions that may be meant by a name: the one with this name in the object file, else those that are written
/// like this, the user's own if there are such.
fn spelled(imported: &Imported, path: &Path, name: &str) -> Vec<FuncId> {
    if let Some(id) = imported.ir.function(name) {
        return vec![id];
    }
    let all = &imported.ir.functions;
    let is_meant = |mangled: &str| spellings(mangled).iter().any(|spelling| spelling == name);
    let mut meant: Vec<FuncId> = all.iter().filter(|(_, f)| is_meant(&f.name)).map(|(id, _)| id).collect();
    let is_own = |id: &FuncId| Owner::is_own(imported, &all[*id], path);
    if meant.iter().any(is_own) {
        meant.retain(is_own);
    }
    meant
}

/// The only function that is written like this.
fn by_spelling(imported: &Imported, path: &Path, name: &str) -> Option<FuncId> {
    match spelled(imported, path, name)[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// Whether directives are about a function.
fn is_about(imported: &Imported, path: &Path, group: &Directives, id: FuncId) -> bool {
    group.function.as_deref().is_some_and(|name| by_spelling(imported, path, name) == Some(id))
}

/// The function of this name: as in the object file or as in the source, with or without what stands around it
/// (`mandelbrot` for `crate::mandelbrot`, if there is only one; a library's counts where the user has none). Without a
/// name the only function.
///
/// # Errors
/// If there is none or there are several; the text names near ones.
pub fn find_function(imported: &Imported, path: &Path, name: Option<&str>) -> Result<FuncId> {
    let all = &imported.ir.functions;
    let Some(name) = name else { return the_only(imported, path) };
    match spelled(imported, path, name)[..] {
        [only] => Ok(only),
        [one, other, ..] => {
            let mut names = [one, other].map(|id| demangle(&all[id].name));
            if names[0] == names[1] {
                names = [one, other].map(|id| all[id].name.to_string());
            }
            let [one, other] = names.map(|name| printable::line(&name).into_owned());
            Err(Error::option(
                "--function",
                format!("`{name}` may be `{one}` or `{other}`: write the whole name"),
            ))
        }
        [] => {
            let known: Vec<String> =
                all.values().flat_map(|f| [f.name.to_string(), demangle(&f.name)]).collect();
            let near = did_you_mean(name, known.iter().map(String::as_str));
            let near = if near.is_empty() { format!("; it has {}", names(imported)) } else { near };
            Err(Error::input(path, format!("there is no function `{name}`{near}")))
        }
    }
}

/// Whether nothing in an input says which of its functions are kernels: no directive, no `kernel` of OpenCL, and no
/// function with cross-lane operations, or that asks which work-item it is.
///
/// # Errors
/// If directives are malformed.
pub fn has_no_kernel(imported: &Imported, path: &Path) -> Result<bool> {
    let ir = &imported.ir;
    Ok(directives::read(path)?.is_empty()
        && imported.bridge.module().opencl_kernels().is_empty()
        && !ir
            .functions
            .values()
            .any(|func| has_cross_lane_operations(ir, func) || work_items::asks(ir, func)))
}

/// The only function of a source without loops of which nothing says what its kernels are.
fn the_only_without_loops(imported: &Imported, path: &Path) -> Result<FuncId> {
    if !InputKind::of(path)?.is_source() {
        return the_only(imported, path);
    }
    if let Ok(only) = the_only(imported, path)
        && imported.ir.functions[only].params.is_empty()
        && has_no_kernel(imported, path)?
    {
        return Err(Error::input(path, format!("{NO_LOOP}, and its only function has no parameters")));
    }
    the_only(imported, path).map_err(|error| match imported.ir.functions.len() {
        0 | 1 => error,
        _ => Error::input(
            path,
            format!(
                "{NO_LOOP}, and nothing says which of its functions is a kernel, for one lane; \
                 `--function NAME --args i=index` does, or a line `//@ args i=index` above it; it has {}",
                names(imported)
            ),
        ),
    })
}

/// The function that an input defines, if that is only one.
fn the_only(imported: &Imported, path: &Path) -> Result<FuncId> {
    let mut ids = imported.ir.functions.keys();
    match (ids.next(), ids.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => {
            let hidden = match InputKind::of(path) {
                Ok(InputKind::Rust) => {
                    "; private and generic ones have no code of their own: make one `pub`, with types"
                }
                Ok(kind) if kind.is_source() => {
                    "; `static` and `inline` ones that nothing calls have no code of their own"
                }
                _ => "",
            };
            Err(Error::input(path, format!("it defines no function{hidden}")))
        }
        _ => Err(Error::input(
            path,
            format!("which function? Use --function, or directives in the file; it has {}", names(imported)),
        )),
    }
}

/// The function that directives are about.
pub(crate) fn subject(imported: &Imported, path: &Path, group: &Directives) -> Result<FuncId> {
    let wrong = |message: String| Error::Directive { path: path.to_owned(), line: group.line, message };
    let Some(name) = &group.function else {
        return Err(wrong("no function follows; say which one with `function NAME`".to_owned()));
    };
    by_spelling(imported, path, name).ok_or_else(|| {
        wrong(format!(
            "they are about `{name}`, which the module does not have (a kernel must be visible to the linker); it has \
             {}",
            names(imported)
        ))
    })
}

/// The function that is meant, and the directives about it.
pub(crate) fn only(
    imported: &Imported,
    path: &Path,
    groups: Vec<Directives>,
    wanted: Option<&str>,
) -> Result<(FuncId, Directives)> {
    if let Some(name) = wanted {
        imported.bridge.module().require_function(name)?;
        let missing = || Error::input(path, format!("the function `{name}` could not be imported"));
        let id = imported.ir.function(name).ok_or_else(missing)?;
        let group = groups.into_iter().find(|group| is_about(imported, path, group, id));
        return Ok((id, group.unwrap_or_default()));
    }
    match <[Directives; 1]>::try_from(groups) {
        Ok([group]) => Ok((subject(imported, path, &group)?, group)),
        Err(groups) if groups.is_empty() => Ok((the_only(imported, path)?, Directives::default())),
        Err(groups) => {
            let named: Vec<String> = groups.into_iter().filter_map(|g| g.function).collect();
            let message =
                format!("directives for several functions: use --function with one of {}", named.join(", "));
            Err(Error::input(path, message))
        }
    }
}

/// The names of the functions, if they are not too many.
pub(crate) fn names(imported: &Imported) -> String {
    const SHOWN: usize = 12;
    let mut all: Vec<String> = Vec::new();
    for func in imported.ir.functions.values() {
        let name = printable::line(&demangle(&func.name)).into_owned();
        if !all.contains(&name) {
            all.push(name);
        }
    }
    // Instances of what Rust's library has are in no source of the user's.
    let is_own =
        |name: &String| !["<", "core::", "alloc::", "std::"].iter().any(|start| name.starts_with(start));
    if all.iter().any(is_own) {
        all.retain(is_own);
    }
    match all.len() {
        0 => "none".to_owned(),
        1..=SHOWN => all.join(", "),
        n => format!("{} and {} others", all[..SHOWN].join(", "), n - SHOWN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_names() {
        let all = [
            ("k*", "kernel"),
            ("*", ""),
            ("*el", "kernel"),
            ("k?r*l", "kernel"),
            ("a*b*c", "aXbYbc"),
            ("k", "k"),
        ];
        assert!(all.iter().all(|(pattern, name)| matches(pattern, name)));
        let none = [("k?", "k"), ("k*x", "kernel"), ("", "k"), ("?", ""), ("a*b", "abc")];
        assert!(none.iter().all(|(pattern, name)| !matches(pattern, name)));
    }

    #[test]
    fn functions_of_cpp_are_named_as_in_the_source() {
        let of = |name: &str| spellings("_ZN3img5scaleEiPf").iter().any(|spelling| spelling == name);
        assert!(of("img::scale(int, float*)") && of("img::scale") && of("scale") && !of("img"));
        let template = spellings("_ZN3img5scaleIfEEviPT_");
        assert!(template.iter().any(|spelling| spelling == "img::scale"), "{template:?}");
    }
}
