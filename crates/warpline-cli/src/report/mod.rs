//! `warpline report`: what becomes of all loops and kernels of a project, as one HTML page.
//!
//! * this file: looking at each input, several at once;
//! * `sources`: which inputs there are;
//! * `entry`: what is found out about one loop or kernel: what becomes of it and what that costs (as `analyze --cost`
//!   says), and what diverges in it and why (as `analyze` says);
//! * `page`: the page.

mod entry;
mod page;
mod sources;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::Outcome;
use crate::cli::{Format, ReportPageOptions};
use crate::error::Result;
use crate::output;
use crate::{parallel, summary};
use entry::{Entry, State};

/// An input and what is in it, or why it cannot be read.
struct File {
    path: PathBuf,
    found: Result<Vec<Entry>>,
}

/// Runs the command. An input that cannot be read is reported as such, and the others are all the same.
///
/// # Errors
/// Whatever is wrong with options, or if the page cannot be written.
pub(crate) fn report(options: &ReportPageOptions) -> Result<Outcome> {
    let inputs = sources::all(options)?;
    output::check([options.output.as_path()], &inputs)?;
    let look_at = |path: &Path| File { path: path.to_owned(), found: entry::of_input(options, path) };
    let mut files = parallel::of_each(&inputs, options.jobs, false, look_at);
    tell_headers_once(&mut files);
    let text = match options.format {
        Format::Text => page::page(&files),
        Format::Json => output::json(&json!({ "inputs": files.iter().map(as_json).collect::<Vec<_>>() })),
    };
    output::deliver(Some(&options.output), &text)?;
    say(options, &files)?;
    let all_read = files.iter().all(|file| file.found.is_ok());
    Ok(if all_read { Outcome::Clean } else { Outcome::Refused })
}

/// Leaves out what several inputs have of a header that they include, but for the first.
fn tell_headers_once(files: &mut [File]) {
    let mut told = HashSet::new();
    for File { path, found } in files {
        let Ok(entries) = found else { continue };
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        entries.retain(|entry| {
            let is_input = entry.place.rsplit_once(':').is_none_or(|(file, _)| Some(file) == name.as_deref());
            let Entry { function, place, state, why, .. } = entry;
            is_input || told.insert((function.clone(), place.clone(), state.name(), why.clone()))
        });
    }
}

/// How many loops and kernels became what.
#[derive(Default)]
struct Counts {
    vector: usize,
    scalar: usize,
    refused: usize,
    unread: usize,
}

fn count(files: &[File]) -> Counts {
    let mut counts = Counts::default();
    for file in files {
        let Ok(entries) = &file.found else {
            counts.unread += 1;
            continue;
        };
        for entry in entries {
            match entry.state {
                State::Vector { .. } => counts.vector += 1,
                State::Scalar => counts.scalar += 1,
                State::Refused => counts.refused += 1,
            }
        }
    }
    counts
}

/// What is said of an input that cannot be read: what its compiler says first, and hints. The page has all of it.
fn brief(reason: &str) -> String {
    let Some((_, messages)) = reason.split_once(" rejects it:\n") else { return reason.to_owned() };
    let is_error = |line: &&str| line.contains("error: ") || line.starts_with("error[");
    let first = messages.lines().find(is_error).or_else(|| messages.lines().next()).unwrap_or_default();
    let hint = messages.lines().find_map(|line| line.strip_prefix("hint: "));
    format!("{}{}", first.trim(), hint.map_or_else(String::new, |hint| format!(" ({hint})")))
}

/// The three lines for people.
fn say(options: &ReportPageOptions, files: &[File]) -> Result<()> {
    for file in files {
        if let Err(reason) = &file.found {
            let (path, reason) = (file.path.display().to_string(), reason.to_string());
            let reason = reason.strip_prefix(&format!("{path}: ")).unwrap_or(&reason);
            output::complain(&format!("error: {path}: {}", brief(reason)));
        }
    }
    let Counts { vector, scalar, refused, unread } = count(files);
    let inputs = |count: usize| if count == 1 { "1 input".to_owned() } else { format!("{count} inputs") };
    let unread = if unread > 0 { format!("; cannot be read: {}", inputs(unread)) } else { String::new() };
    let inputs = inputs(files.len());
    let text = format!(
        "{}: the loops and kernels of {inputs}\n  vector code: {vector}; stay scalar, which is faster: {scalar}; cannot be \
         vectorized: {refused}{unread}\n",
        options.output.display()
    );
    let outputs = [options.output.clone()];
    output::report(outputs.iter().map(PathBuf::as_path), &text)
}

fn as_json(file: &File) -> serde_json::Value {
    match &file.found {
        Ok(entries) => {
            let entry = |entry: &Entry| {
                json!({
                    "function": entry.function,
                    "place": entry.place,
                    "state": entry.state.name(),
                    "lanes": entry.state.lanes(),
                    "cycles": entry.cycles.as_ref().map(summary::cycles),
                    "reason": entry.reason,
                    "divergence": entry.divergence,
                })
            };
            json!({ "input": file.path, "entries": entries.iter().map(entry).collect::<Vec<_>>() })
        }
        Err(reason) => json!({ "input": file.path, "error": reason.to_string() }),
    }
}

/// A path as it is shown: below the present folder, if it is there.
fn short(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let below = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    below.unwrap_or(path).display().to_string()
}
