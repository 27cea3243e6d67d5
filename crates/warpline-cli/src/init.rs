//! `warpline init`: directives for a source that has none, as `run` would guess them, written into it once the user has
//! seen them.
//!
//! Loops that can be vectorized and are worth it get `//@ loop`; kernels of OpenCL, and functions with an index,
//! `//@ range` and, where that is a guess, `//@ args`. Functions get a `//@ bind` for each parameter.

use std::collections::BTreeMap;
use std::io::{BufRead as _, IsTerminal as _};
use std::path::Path;

use warpline::ir::{Function, Module};
use warpline_compile::loops::{self, LoopAt, LoopOptions, Opened};
use warpline_compile::{KernelOptions, choice, unasked};
use warpline_llvm::{Imported, InputKind};

use crate::Outcome;
use crate::cli::InitOptions;
use crate::directives;
use crate::error::{Error, Result};
use crate::kernel;
use crate::output::{self, Outputs};
use crate::run::made_up;
use crate::spec::Bind;

/// Lines to be written, by the number of the line that they stand before, from 1.
type Lines = BTreeMap<u32, Vec<String>>;

/// Runs the command.
///
/// # Errors
/// If the input cannot be read or written, or nothing in it can be vectorized.
pub(crate) fn init(options: &InitOptions) -> Result<Outcome> {
    let path = &options.input;
    let sources = [InputKind::Rust, InputKind::C, InputKind::Cpp, InputKind::OpenCl];
    if !sources.contains(&InputKind::of(path)?) {
        return Err(Error::input(path, "directives are written into sources: .rs, .c, .cpp or .cl"));
    }
    if !directives::read(path)?.is_empty() || !directives::read_loops(path)?.is_empty() {
        output::report([], &format!("{}: it has directives already\n", path.display()))?;
        return Ok(Outcome::Clean);
    }
    let asked = KernelOptions { flags: options.compilers.flags(path)?, ..KernelOptions::new(path) };
    let lines = match unasked::loops(&asked, &[])?[..] {
        [] => of_kernels(&asked)?,
        _ => of_loops(&asked)?,
    };
    if lines.is_empty() {
        return Err(Error::input(
            path,
            "nothing that is written in it becomes vector code; `warpline vectorize` says why",
        ));
    }
    let bytes = std::fs::read(path).map_err(|e| Error::input(path, e.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| Error::input(path, "it is no UTF-8"))?;
    output::report([], &preview(path, &text, &lines))?;
    if !options.yes && !is_wanted()? {
        return Ok(Outcome::Clean);
    }
    let mut outputs = Outputs::default();
    outputs.add(path, with(&text, &lines).as_bytes())?;
    outputs.commit()?;
    output::report([], &format!("written to {0}; now: warpline run {0}\n", path.display()))?;
    Ok(Outcome::Clean)
}

/// Marks for loops, and data for the functions that have them.
fn of_loops(asked: &KernelOptions) -> Result<Lines> {
    let all = LoopOptions { loops: vec![LoopAt::All], ..LoopOptions::marked(asked.clone()) };
    let (found, _) = loops::remarks_of_loops(&all)?;
    let (mut lines, mut functions) = (Lines::new(), Vec::new());
    for one in found.iter().filter(|one| !one.scalar) {
        let Some(begin) = one.begin().filter(|begin| is_in(&begin.file, &asked.input)) else { continue };
        let marks = lines.entry(begin.line).or_default();
        let mark = "//@ loop".to_owned();
        if !marks.contains(&mark) {
            marks.push(mark);
        }
        if !functions.contains(&one.function) {
            functions.push(one.function.clone());
        }
    }
    for name in functions {
        let one = LoopOptions { functions: vec![name], ..all.clone() };
        let Opened::One(kernel, _) = loops::open(&one)? else { continue };
        let func = kernel.function();
        if let Some(line) = line_of(&kernel.imported.ir, func, &asked.input) {
            // A function without data to be made up is one that others run; one that takes or returns what `run` does not
            // pass gets what would be passed otherwise.
            let made = made_up::for_loops(&kernel)
                .or_else(|_| {
                    made_up::missing(
                        &kernel.imported.ir,
                        func,
                        &func.params,
                        &kernel.args,
                        &[],
                        1,
                        made_up::Room::FIRST,
                    )
                })
                .unwrap_or_default();
            lines.entry(line).or_default().extend(binds(&made));
        }
    }
    Ok(lines)
}

/// What kernels are, and data for them.
fn of_kernels(asked: &KernelOptions) -> Result<Lines> {
    let load = || kernel::load_for_code(&asked.input, &asked.load_options(), asked.told());
    let imported = load()?.imported;
    let cpu = kernel::one_cpu(asked, &imported)?;
    let mut lines = Lines::new();
    for chosen in choice::choose(&imported, &asked.input, &[], false)? {
        let guess = made_up::guess_index(&imported, asked, &chosen.name)?;
        if guess.is_none() {
            chosen.is_meant(&asked.input)?;
        }
        let own = KernelOptions {
            function: Some(chosen.name),
            args: guess.as_ref().map(|index| format!("{index}=index")),
            ..asked.clone()
        };
        let copy: Imported = load()?.imported;
        let Ok(kernel) = kernel::settle(&own, copy, cpu.clone()) else { continue };
        let func = kernel.function();
        let Some(line) = line_of(&kernel.imported.ir, func, &asked.input) else { continue };
        let added = kernel.items.as_ref().map_or(0, |items| items.added.len());
        let params = &func.params[..func.params.len() - added];
        let extent = match kernel.regions {
            Some(_) => made_up::ITEMS,
            None => made_up::extent(params, func, &[]),
        };
        let Ok(made) = made_up::missing(
            &kernel.imported.ir,
            func,
            params,
            &kernel.args,
            &[],
            extent,
            made_up::Room::FIRST,
        ) else {
            continue;
        };
        let mut of_kernel: Vec<String> =
            guess.iter().map(|index| format!("//@ args {index}=index")).collect();
        // Work-groups are chosen for each run.
        if kernel.regions.is_none() {
            of_kernel.push(format!("//@ range 0..{extent}"));
        }
        of_kernel.extend(binds(&made));
        lines.entry(line).or_default().extend(of_kernel);
    }
    Ok(lines)
}

fn binds(made: &[Bind]) -> impl Iterator<Item = String> + '_ {
    made.iter().map(|bind| format!("//@ bind {}={}", bind.name, bind.spec))
}

/// The line of a function's name, if that is in the input.
fn line_of(module: &Module, func: &Function, input: &Path) -> Option<u32> {
    let location = &module.locations[func.loc.expand()?];
    is_in(&location.file, input).then_some(location.line)
}

fn is_in(file: &str, input: &Path) -> bool {
    Path::new(file).file_name() == input.file_name()
}

/// The new lines, each with the one that it stands before.
fn preview(path: &Path, text: &str, lines: &Lines) -> String {
    let old: Vec<&str> = text.lines().collect();
    let mut shown = format!("{}:\n", path.display());
    for (&number, new) in lines {
        let before = old.get(number as usize - 1).copied().unwrap_or_default();
        new.iter().for_each(|line| shown += &format!("     + {}{line}\n", indentation(before)));
        shown += &format!("{number:>4}   {before}\n");
    }
    shown
}

/// The text with the new lines.
fn with(text: &str, lines: &Lines) -> String {
    let mut all = String::new();
    for (number, old) in (1u32..).zip(text.split_inclusive('\n')) {
        let end = if old.ends_with("\r\n") { "\r\n" } else { "\n" };
        for line in lines.get(&number).into_iter().flatten() {
            all += &format!("{}{line}{end}", indentation(old));
        }
        all += old;
    }
    all
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// Asks whether the lines are to be written, if there is somebody to ask.
fn is_wanted() -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        output::report([], "nothing is written; `--yes` writes these lines\n")?;
        return Ok(false);
    }
    output::print("write these lines? [y/N] ")?;
    let mut answer = String::new();
    // Who says nothing says no.
    let _ = std::io::stdin().lock().read_line(&mut answer);
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_written_before_others_with_their_indentation_and_ends() {
        let lines = Lines::from([(1, vec!["//@ bind n=1".to_owned()]), (2, vec!["//@ loop".to_owned()])]);
        assert_eq!(with("f\r\n  for\r\n}", &lines), "//@ bind n=1\r\nf\r\n  //@ loop\r\n  for\r\n}");
    }
}
