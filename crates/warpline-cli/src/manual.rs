//! `warpline completions` and `warpline man`: what shells, manuals and the book know of the program, made from its
//! options.

use std::fmt::Write as _;

use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::Outcome;
use crate::cli::{Cli, CompletionOptions, ManFormat, ManOptions};
use crate::error::{Error, Result};
use crate::output;

/// Prints the completions for a shell.
///
/// # Errors
/// If they cannot be printed.
pub(crate) fn completions(options: &CompletionOptions) -> Result<Outcome> {
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut Cli::command(), "warpline", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(Outcome::Clean)
}

/// Writes manual pages: of the program, and of each verb `warpline-VERB.1`.
///
/// # Errors
/// If one cannot be written.
pub(crate) fn man(options: &ManOptions) -> Result<Outcome> {
    let program = Cli::command();
    if options.format == ManFormat::Markdown {
        output::deliver(options.output.as_deref(), &markdown(program))?;
        return Ok(Outcome::Clean);
    }
    let Some(folder) = &options.output else {
        output::print(&page(program)?)?;
        return Ok(Outcome::Clean);
    };
    let failed = |e: std::io::Error| Error::Output { path: folder.clone(), reason: e.to_string() };
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(program, folder).map_err(failed)?;
    Ok(Outcome::Clean)
}

/// The heading of the options that all verbs that read sources have.
const COMPILERS: &str = "Compilers";

/// All verbs and their options as a page of Markdown. What many verbs take is told once.
fn markdown(mut program: clap::Command) -> String {
    program.build();
    let mut text = "# Options\n\nThis page is made by `warpline man --format markdown`; `warpline VERB --help` says the same. Exit codes\n\
                     and variables of the environment are in [exit codes](exit-codes.md).\n\n".to_owned();
    text += "Flags of clang are understood on every verb that reads sources: `-I`, `-D`, `-U`, `-i…`, `-std=`, `-f…`, `-m…`,\n\
             `-W…`, `-O…`, `-g` as they are, and any flag behind `--`.\n";
    let own = |arg: &&clap::Arg| !arg.is_global_set() && !matches!(arg.get_id().as_str(), "help" | "version");
    for verb in program.get_subcommands().filter(|verb| verb.get_name() != "help") {
        let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = write!(text, "\n## warpline {}\n\n{about}.\n", verb.get_name());
        let mut headings: Vec<Option<&str>> = Vec::new();
        for arg in verb.get_arguments().filter(own).filter(|arg| arg.get_help_heading() != Some(COMPILERS)) {
            if !headings.contains(&arg.get_help_heading()) {
                headings.push(arg.get_help_heading());
            }
        }
        for heading in headings {
            if let Some(heading) = heading {
                let _ = write!(text, "\n### {heading} ({})\n", verb.get_name());
            }
            text.push('\n');
            let of_heading = verb.get_arguments().filter(own).filter(|arg| arg.get_help_heading() == heading);
            of_heading.for_each(|arg| text += &argument(arg));
        }
        if let Some(after) = verb.get_after_help() {
            let after = after.to_string();
            let (before, examples) = after.split_once("Examples:\n").unwrap_or((&after, ""));
            if !before.trim().is_empty() {
                let _ = write!(text, "\n{}\n", before.trim());
            }
            if !examples.is_empty() {
                let lines = examples.lines().map(str::trim_start).collect::<Vec<_>>().join("\n");
                let _ = write!(text, "\n```console\n{lines}\n```\n");
            }
        }
    }
    if let Some(reads) = program.find_subcommand("vectorize") {
        text += "\n## Verbs that read sources: compilers\n\n";
        let told = reads.get_arguments().filter(|arg| arg.get_help_heading() == Some(COMPILERS));
        told.for_each(|arg| text += &argument(arg));
    }
    text += "\n## All verbs\n\n";
    let global = program.get_arguments().filter(|arg| arg.is_global_set());
    global.for_each(|arg| text += &argument(arg));
    text
}

/// An option or argument as an item of a list.
fn argument(arg: &clap::Arg) -> String {
    let value = match arg.get_action().takes_values() {
        true => {
            arg.get_value_names().and_then(<[_]>::first).map_or(String::new(), |name| format!(" <{name}>"))
        }
        false => String::new(),
    };
    let value = if arg.is_require_equals_set() { value.replace(" <", "[=<") + "]" } else { value };
    let names = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}{value}"),
        (Some(short), None) => format!("-{short}{value}"),
        (None, Some(long)) => format!("--{long}{value}"),
        (None, None) => value.trim().trim_matches(['<', '>']).to_owned(),
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let help = as_text(&help);
    let mut item = format!("* `{names}`: {help}");
    let hides = arg.is_hide_possible_values_set();
    let values: Vec<String> =
        arg.get_possible_values().iter().map(|one| format!("`{}`", one.get_name())).collect();
    if !values.is_empty() && !hides && arg.get_action().takes_values() {
        let _ = write!(item, " (one of {})", values.join(", "));
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|one| format!("`{}`", one.to_string_lossy())).collect();
    if !defaults.is_empty() && arg.get_action().takes_values() {
        let _ = write!(item, " [default: {}]", defaults.join(", "));
    }
    wrapped(&item) + "\n"
}

/// Text in which nothing but code between backticks is markup.
fn as_text(help: &str) -> String {
    let parts = help.split('`').enumerate().map(|(at, part)| match at % 2 {
        0 => part.replace('<', "&lt;").replace('*', "\\*"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}

/// An item of a list in lines of at most 120 columns; those after the first are indented.
fn wrapped(item: &str) -> String {
    const COLUMNS: usize = 120;
    let (mut text, mut column) = (String::new(), 0);
    for word in item.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > COLUMNS {
            text += "\n ";
            column = 1;
        }
        if column > 0 {
            text.push(' ');
            column += 1;
        }
        text += word;
        column += length;
    }
    text
}

fn page(command: clap::Command) -> Result<String> {
    let mut text = Vec::new();
    Man::new(command).render(&mut text).map_err(|e| Error::Internal(e.to_string()))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
