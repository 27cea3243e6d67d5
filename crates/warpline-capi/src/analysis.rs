//! What is uniform and what diverges, and why, as JSON.

use std::ffi::c_char;
use std::path::Path;

use warpline_cli::cli::{Cli, CompilerOptions, Verb};
use warpline_cli::explain::explained;
use warpline_cli::parse_quietly;
use warpline_cli::subject::{Asked, Unit};
use warpline_compile::jit::SourceFile;
use warpline_uniformity::report::{FunctionReport, RefusedReport, Report};
use warpline_uniformity::{Uniformity, tokens};

use super::error::{Failure, WarplineError, guarded_text};
use super::{find_worker, language_of, text};

/// What `warpline analyze --format json` says of a file's functions: which values, branches and loops diverge, and why.
/// `function` is the only one that is meant, or `NULL`; `args` are shapes of its parameters, or `NULL`.
/// The text is the caller's, to be freed by `warpline_string_free`.
///
/// # Safety
/// `path` is a text, `function` and `args` are `NULL` or texts; `error` is `NULL` or the address of a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_analyze_file(
    path: *const c_char,
    function: *const c_char,
    args: *const c_char,
    error: *mut *mut WarplineError,
) -> *mut c_char {
    let work = || {
        find_worker();
        // SAFETY: the caller passes texts, or nothing.
        let (path, function, args) = unsafe { (text(path, "path")?, text(function, ""), text(args, "")) };
        analyze(Path::new(path), function.ok(), args.ok())
    };
    // SAFETY: the caller passes the address of a pointer or nothing.
    unsafe { guarded_text(error, work) }
}

/// The same of a source that is given as text. `language` is as for `warpline_compile_source`.
///
/// # Safety
/// As for `warpline_analyze_file`; `language` and `source` are texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_analyze_source(
    language: *const c_char,
    source: *const c_char,
    function: *const c_char,
    args: *const c_char,
    error: *mut *mut WarplineError,
) -> *mut c_char {
    let work = || {
        find_worker();
        // SAFETY: the caller passes texts, or nothing.
        let (file, function, args) =
            unsafe { (source_file(language, source)?, text(function, ""), text(args, "")) };
        analyze(file.path(), function.ok(), args.ok())
    };
    // SAFETY: the caller passes the address of a pointer or nothing.
    unsafe { guarded_text(error, work) }
}

/// What `warpline explain --format json` says: step by step, why something in a file's function diverges, or is
/// uniform. `subject` is the number of a line of the source, or a value or block as `--value` takes it: `%x`, `block:NAME`,
/// `loop:NAME`. `function` is `NULL` if there is only one.
/// The text is the caller's, to be freed by `warpline_string_free`.
///
/// # Safety
/// `path` and `subject` are texts, `function` is `NULL` or a text; `error` is `NULL` or the address of a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_explain_file(
    path: *const c_char,
    function: *const c_char,
    subject: *const c_char,
    error: *mut *mut WarplineError,
) -> *mut c_char {
    let work = || {
        find_worker();
        // SAFETY: the caller passes texts, or nothing.
        let (path, function, subject) =
            unsafe { (text(path, "path")?, text(function, ""), text(subject, "subject")?) };
        explain(path, function.ok(), subject)
    };
    // SAFETY: the caller passes the address of a pointer or nothing.
    unsafe { guarded_text(error, work) }
}

/// The same of a source that is given as text. `language` is as for `warpline_compile_source`.
///
/// # Safety
/// As for `warpline_explain_file`; `language` and `source` are texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_explain_source(
    language: *const c_char,
    source: *const c_char,
    function: *const c_char,
    subject: *const c_char,
    error: *mut *mut WarplineError,
) -> *mut c_char {
    let work = || {
        find_worker();
        // SAFETY: the caller passes texts, or nothing.
        let (file, function, subject) =
            unsafe { (source_file(language, source)?, text(function, ""), text(subject, "subject")?) };
        explain(&file.path().to_string_lossy(), function.ok(), subject)
    };
    // SAFETY: the caller passes the address of a pointer or nothing.
    unsafe { guarded_text(error, work) }
}

/// # Safety
/// `language` and `source` are `NULL` or texts.
unsafe fn source_file(language: *const c_char, source: *const c_char) -> Result<SourceFile, Failure> {
    // SAFETY: the caller passes texts, or nothing.
    let (name, source) = unsafe { (text(language, "language")?, text(source, "source")?) };
    Ok(SourceFile::new(language_of(name)?, source)?)
}

fn explain(path: &str, function: Option<&str>, subject: &str) -> Result<String, Failure> {
    let is_line = subject.bytes().all(|b| b.is_ascii_digit());
    let option = if is_line { "--line" } else { "--value" };
    let mut words: Vec<String> = ["warpline", "explain", "--format", "json"].map(str::to_owned).to_vec();
    words.extend(function.map(|name| format!("--function={name}")));
    words.extend([format!("{option}={subject}"), "--".to_owned(), path.to_owned()]);
    match parse_quietly::<Cli>(&words).map_err(Failure::usage)?.verb {
        Verb::Explain(options) => Ok(explained(&options)?),
        _ => Err(Failure::usage("this is no explanation".to_owned())),
    }
}

fn analyze(path: &Path, function: Option<&str>, args: Option<&str>) -> Result<String, Failure> {
    let unit = Unit::open(path, None, &CompilerOptions::default())?;
    let functions = unit.functions(function)?;
    if args.is_some() && functions.len() > 1 {
        return Err(Failure::usage("args are about one function: say which".to_owned()));
    }
    let mut report = Report::default();
    for id in functions {
        let (ir, func) = (&unit.imported.ir, &unit.imported.ir.functions[id]);
        let asked =
            Asked { args, algorithm: Default::default(), facts: true, work_group: None, as_vectorized: true };
        let result = Uniformity::compute(ir, func, &unit.options(id, &asked)?);
        match tokens::check(ir, func, result.cycles()) {
            Err(refusal) => report.refused.push(RefusedReport::new(ir, &refusal)),
            Ok(()) => report.functions.push(FunctionReport::new(ir, func, &result)),
        }
    }
    serde_json::to_string(&report).map_err(|e| Failure::usage(e.to_string()))
}
