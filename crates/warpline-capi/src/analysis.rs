//! What is uniform and what diverges, as JSON.

use std::ffi::{CString, c_char};
use std::path::Path;

use warpline_cli::cli::CompilerOptions;
use warpline_cli::subject::{Asked, Unit};
use warpline_uniformity::report::{FunctionReport, RefusedReport, Report};
use warpline_uniformity::{Uniformity, tokens};

use crate::error::{Failure, WarplineError, guarded};
use crate::{find_worker, text};

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
        let json = analyze(Path::new(path), function.ok(), args.ok())?;
        CString::new(json).map_err(|e| Failure::usage(e.to_string()))
    };
    // SAFETY: the caller passes the address of a pointer or nothing.
    unsafe { guarded(error, work) }.map_or(std::ptr::null_mut(), CString::into_raw)
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
