//! `warpline opt`: passes of the vectorizer, by name, on functions in text form.

use std::path::PathBuf;

use warpline::shape::{ArgShape, parse_args};
use warpline::text::{parse_module, print_module};
use warpline::vectorize::Options;
use warpline::vectorize::passes::{self, run_named};

use crate::Outcome;
use crate::cli::OptOptions;
use crate::error::{Error, Result};
use crate::output;

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with the input, the names of passes or their order, or what a pass refuses.
pub(crate) fn opt(options: &OptOptions) -> Result<Outcome> {
    if options.list {
        output::print(&list())?;
        return Ok(Outcome::Clean);
    }
    let Some(path) = &options.input else { return Ok(Outcome::Clean) };
    let text = read(path)?;
    let mut module = parse_module(&text).map_err(|e| Error::input(path, e.to_string()))?;
    let names: Vec<&str> = options.passes.iter().map(String::as_str).collect();
    let wanted = |name: &str| options.function.as_deref().is_none_or(|f| f == name);
    let ids: Vec<_> = module.functions.keys().filter(|&id| wanted(&module.functions[id].name)).collect();
    if ids.is_empty() {
        return Err(Error::input(path, "there is no such function"));
    }
    for id in ids {
        let func = &module.functions[id];
        let wrong = |e: String| Error::option("--args", format!("function `{}`: {e}", func.name));
        let given = parse_args(&options.args, &module, func).map_err(|e| wrong(e.to_string()))?;
        let args = given.into_iter().map(|s| s.unwrap_or(ArgShape::Varying)).collect();
        let asked = Options {
            linearize: options.linearize.into(),
            boscc: options.boscc.into(),
            coherence: options.coherence.into(),
            ..Options::new(options.width, args, &*func.name)
        };
        let made = run_named(&module, func, &names, &asked).map_err(|e| Error::of_vectorizer(&e, &module))?;
        module.functions[id] = made;
    }
    output::deliver(options.output.as_deref().filter(|p| !output::is_stdout(p)), &print_module(&module))?;
    Ok(Outcome::Clean)
}

fn read(path: &PathBuf) -> Result<String> {
    let read = match output::is_stdout(path) {
        true => std::io::read_to_string(std::io::stdin()),
        false => std::fs::read_to_string(path),
    };
    read.map_err(|e| Error::input(path, e.to_string()))
}

/// All passes with their phases, a line each.
fn list() -> String {
    let line = |p: &passes::Info| {
        let (is, optional) = (p.from.name(), if p.is_optional { "optional" } else { "" });
        let to = if p.from == p.to { String::new() } else { format!(" -> {}", p.to.name()) };
        format!("{:25} {:24} {optional:9} {}\n", p.name, format!("{is}{to}"), p.what)
    };
    passes::all().map(line).collect()
}
