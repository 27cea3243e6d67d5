//! The program `warpline`: analyses which values of a program all lanes agree on, and makes scalar kernels run on W
//! lanes.
//!
//! Exit codes: 0 if all is well, 1 for a finding (a mismatch, a race, undefined behaviour), 2 for bad usage or bad
//! input, 3 for a defect of warpline. Everything printed for people has a twin for programs, `--format json`.

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

mod acceptance;
mod analyze;
mod chain;
pub mod cli;
mod client;
mod compile_commands;
mod cost;
mod dependencies;
mod doctor;
mod dot;
pub mod drive;
pub mod explain;
mod files;
mod findings;
pub mod forms;
pub mod html;
mod init;
mod input;
mod loops;
mod manual;
mod observe;
mod opt;
pub mod output;
mod parallel;
mod passes;
pub mod placements;
mod print;
mod refused;
mod remarks;
mod report;
pub mod run;
pub mod sampling;
mod ssa;
mod ssi;
pub mod subject;
mod summary;
pub mod table;
mod vectorize;

use std::process::ExitCode;

use warpline::printable;
use warpline_compile::{directives, error, kernel, spec};

use clap::Parser as _;
use cli::{Cli, Verb};
use passes::PassOptions;

/// What came of a command that did its work.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// All is well.
    Clean,
    /// Something was found that should not be.
    Finding,
    /// Part of the input could not be dealt with; the report says which.
    Refused,
}

impl Outcome {
    /// The outcome of two pieces of work: a finding counts most.
    fn and(self, other: Outcome) -> Outcome {
        match (self, other) {
            (Outcome::Finding, _) | (_, Outcome::Finding) => Outcome::Finding,
            (Outcome::Refused, _) | (_, Outcome::Refused) => Outcome::Refused,
            (Outcome::Clean, Outcome::Clean) => Outcome::Clean,
        }
    }
}

/// The program `warpline`.
pub fn main() -> ExitCode {
    begin();
    let mut arguments: Vec<_> = std::env::args_os().collect();
    let is_child = run::guard::is_child(&mut arguments);
    if asks_for_tools(&arguments) {
        let of = |tool: &warpline_llvm::Tool| match &tool.found {
            Ok((version, path)) => format!("{}: {version}, {}\n", tool.name, path.display()),
            Err(why) => format!("{}: {why}\n", tool.name),
        };
        let tools: String = warpline_llvm::tools().iter().map(of).collect();
        let text = format!("warpline {}\n{tools}", env!("CARGO_PKG_VERSION"));
        return ExitCode::from(if output::print(&text).is_ok() { 0 } else { 2 });
    }
    if arguments.get(1).is_some_and(|verb| verb == warpline_build::VERB) {
        return ExitCode::from(caught(|| build_for_script(&arguments[2..])));
    }
    if print::is_asked(&arguments) {
        return ExitCode::from(print::run(&arguments));
    }
    former_verbs(&mut arguments);
    let cli = match command(&arguments) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    cli.process.apply();
    warpline_llvm::worker::inputs_stay();
    let code = match &cli.verb {
        Verb::Run(options) if !is_child => caught(|| run::guard::supervise(&arguments, options)),
        verb => finish(|| carry_out(verb)),
    };
    if is_child {
        run::guard::done(code);
    }
    ExitCode::from(code)
}

/// What a program does first: it serves as a worker if it was started as one, reports panics as what they are, and logs
/// to standard error what `$WARPLINE_LOG` asks for (`debug`, `warpline_llvm=debug`, `trace` and the like).
pub fn begin() {
    warpline_llvm::worker::serve_if_asked();
    report_panics();
    kernel::warnings_go_to(output::complain);
    let log = |out: &mut env_logger::fmt::Formatter, record: &log::Record<'_>| {
        let text = format!("[{} {}] {}", record.level(), record.target(), record.args());
        std::io::Write::write_all(out, printable::text(&(text + "\n")).as_bytes())
    };
    env_logger::Builder::from_env("WARPLINE_LOG").format(log).init();
}

/// Options from arguments; without them, the exit code, after what is wrong or what was asked for has been printed.
///
/// # Errors
/// If the program is to end.
pub fn parse<C: clap::Parser>(
    arguments: impl IntoIterator<Item = impl Into<std::ffi::OsString> + Clone>,
) -> Result<C, ExitCode> {
    C::try_parse_from(arguments).map_err(|told| usage(&told))
}

/// Options from arguments, or what is wrong with these.
///
/// # Errors
/// If they are no options, in the words of the program.
pub fn parse_quietly<C: clap::Parser>(arguments: &[String]) -> Result<C, String> {
    C::try_parse_from(arguments).map_err(|told| told.render().to_string())
}

/// The command that arguments are, with flags of clang among them; as [`parse`].
fn command(arguments: &[std::ffi::OsString]) -> Result<Cli, ExitCode> {
    let words = cli::split(arguments);
    let parsed = Cli::try_parse_from(words.with_flags());
    match words.with_inputs() {
        Some(words) if !parsed.as_ref().is_ok_and(|cli| cli.verb.has_input()) => parse(words),
        _ => parsed.map_err(|told| usage(&told)),
    }
}

/// Does a command, and gives its exit code; an error is printed.
pub fn finish(work: impl FnOnce() -> error::Result<Outcome>) -> u8 {
    caught(|| exit_code(work()))
}

/// Does something whose panics are defects, reported when they happen.
fn caught(work: impl FnOnce() -> u8) -> u8 {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or(3)
}

/// The exit code of a command; an error is printed.
fn exit_code(outcome: error::Result<Outcome>) -> u8 {
    match outcome {
        Ok(Outcome::Clean) => 0,
        Ok(Outcome::Finding) => 1,
        Ok(Outcome::Refused) => 2,
        Err(error) => {
            output::complain(&format!("error: {error}"));
            if error.is_internal() { 3 } else { 2 }
        }
    }
}

/// Does what a build script has started the program for, and gives the exit code; the script prints what is wrong.
fn build_for_script(words: &[std::ffi::OsString]) -> u8 {
    match warpline_build::serve(words) {
        Ok(()) => 0,
        Err(error) => {
            output::complain(&error.to_string());
            2
        }
    }
}

/// What the user asked for.
fn carry_out(verb: &Verb) -> error::Result<Outcome> {
    match verb {
        Verb::Analyze(options) => analyze::analyze(options),
        Verb::ConstantTime(options) => observe::run(options),
        Verb::Lint(options) => client::run(options),
        Verb::Explain(options) => explain::explain(options),
        Verb::Vectorize(options) => observed(&options.kernel.passes, || vectorize::vectorize(options)),
        Verb::Run(options) => observed(&options.kernel.passes, || run::run(options)),
        Verb::Opt(options) => opt::opt(options),
        Verb::Report(options) => report::report(options),
        Verb::Ssa(options) => ssa::ssa(options),
        Verb::Ssi(options) => ssi::ssi(options),
        Verb::Init(options) => init::init(options),
        Verb::Doctor(options) => doctor::doctor(options),
        Verb::Completions(options) => manual::completions(options),
        Verb::Man(options) => manual::man(options),
    }
}

/// Does something while passes are observed as asked.
fn observed(passes: &PassOptions, work: impl FnOnce() -> error::Result<Outcome>) -> error::Result<Outcome> {
    passes.begin()?;
    let outcome = work();
    passes.end();
    outcome
}

/// Whether the arguments are `--version --verbose`.
fn asks_for_tools(arguments: &[std::ffi::OsString]) -> bool {
    let is = |argument: &std::ffi::OsString, names: [&str; 2]| names.iter().any(|name| argument == name);
    let (version, verbose) = (["--version", "-V"], ["--verbose", "-v"]);
    match arguments {
        [_, a, b] => (is(a, version) && is(b, verbose)) || (is(a, verbose) && is(b, version)),
        _ => false,
    }
}

/// `constant-time` and `lint` were options of `analyze`, and still are understood as such.
fn former_verbs(arguments: &mut [std::ffi::OsString]) {
    let Some(at) = arguments.iter().position(|argument| argument == "analyze") else { return };
    let is = |option: &str| arguments.iter().any(|a| a.to_string_lossy().split('=').next() == Some(option));
    let verb = match (is("--secret"), is("--client")) {
        (true, _) => "constant-time",
        (_, true) => "lint",
        _ => return,
    };
    arguments[at] = verb.into();
}

/// Prints help, or what is wrong with the arguments, which may be names of files and have any characters.
fn usage(told: &clap::Error) -> ExitCode {
    if told.use_stderr() {
        output::complain(told.render().to_string().trim_end());
    } else if told.print().is_err() {
        return ExitCode::from(2);
    }
    ExitCode::from(u8::try_from(told.exit_code()).unwrap_or(2))
}

/// Makes a panic an internal error like others.
fn report_panics() {
    std::panic::set_hook(Box::new(|info| {
        let message = match (info.payload().downcast_ref::<&str>(), info.payload().downcast_ref::<String>()) {
            (Some(text), _) => text,
            (_, Some(text)) => text.as_str(),
            _ => "a panic",
        };
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let error = error::Error::Internal(format!("{place}: {message}"));
        output::complain(&format!("error: {error}"));
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defects_findings_and_wrong_inputs_have_codes_of_their_own() {
        assert_eq!(exit_code(Ok(Outcome::Clean)), 0);
        assert_eq!(exit_code(Ok(Outcome::Finding)), 1);
        assert_eq!(exit_code(Ok(Outcome::Refused)), 2);
        assert_eq!(exit_code(Err(error::Error::input("in.c", "not readable"))), 2);
        assert_eq!(exit_code(Err(error::Error::Internal("a stage broke it".into()))), 3);
    }
}
