//! The C API: `libwarpline.so`, `libwarpline.a`, and `include/libwarpline.h`, which cbindgen makes of this crate.
//!
//! - Functions that can fail take the address of a `WarplineError *` as their last argument, or `NULL`, and return
//!   `NULL`, or false. The error is the caller's, to be freed by `warpline_error_free`.
//! - Objects belong to whoever gets them, and each kind has its own function that frees it; `NULL` is nothing to free.
//! - All functions may be called by several threads at once, also with one object, which none of them changes; nobody
//!   frees what others still use.
//! - Texts are UTF-8 and end with a zero; those that belong to an object are there as long as it is.
//!
//! LLVM ends its process on some inputs. So sources are compiled in a process of their own, for which
//! `warpline_set_worker` names the program; by default that is `$WARPLINE_WORKER`, or `warpline` on the path. `NULL` has
//! everything done in the caller's process, for callers who know their sources.
//!
//! `unsafe` is at this edge only: what callers pass is turned into references and back.

mod analysis;
mod code;
mod error;

use std::ffi::{CStr, c_char};
use std::path::PathBuf;
use std::sync::Once;

use warpline_compile::Error;
use warpline_compile::jit::Language;
use warpline_llvm::on_path;
use warpline_llvm::worker::{self, Worker};

use error::{Failure, WarplineError, guarded};

/// The version of the library, such as `0.1.0`.
#[unsafe(no_mangle)]
pub extern "C" fn warpline_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

/// Says which program compiles sources from now on: `warpline` of the same version, by its path. With `NULL` this
/// process does, for its own CPU only.
///
/// # Safety
/// `path` is `NULL` or a text; `error` is `NULL` or the address of a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_set_worker(path: *const c_char, error: *mut *mut WarplineError) -> bool {
    let set = || {
        // SAFETY: the caller passes a text or nothing.
        let worker = match unsafe { text(path, "path") } {
            Err(_) => Worker::ThisProcess,
            Ok(path) if PathBuf::from(path).is_file() => Worker::Program(path.into()),
            Ok(path) => return Err(Failure::of(Error::input(path, "there is no such program"))),
        };
        // What is set here stays.
        find_worker_once(|| {});
        worker::set(worker);
        Ok(())
    };
    // SAFETY: the caller passes the address of a pointer or nothing.
    unsafe { guarded(error, set) }.is_some()
}

/// Frees a text that a function returned and that belongs to no object.
///
/// # Safety
/// `text` is `NULL` or such a text, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_string_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: it was made by `CString::into_raw`.
        drop(unsafe { std::ffi::CString::from_raw(text) });
    }
}

/// Settles who compiles, unless that is settled.
fn find_worker() {
    find_worker_once(|| {
        let named = std::env::var_os("WARPLINE_WORKER").map(PathBuf::from);
        // Without one it is said where a program is missing, when it is started.
        worker::set(Worker::Program(
            named.or_else(|| on_path("warpline")).unwrap_or_else(|| "warpline".into()),
        ));
    });
}

fn find_worker_once(find: impl FnOnce()) {
    static FOUND: Once = Once::new();
    FOUND.call_once(find);
}

/// The language of a name that was passed.
fn language_of(name: &str) -> Result<Language, Failure> {
    Language::of(name).ok_or_else(|| Failure::usage(format!("language {name}: use c, cpp, cl, rs or ll")))
}

/// A text that was passed.
///
/// # Safety
/// `text` is `NULL` or a text that ends with a zero and stays while the result is used.
unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(Failure::usage(format!("{what} is NULL")));
    }
    // SAFETY: the caller passes a text.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Failure::usage(format!("{what} is not UTF-8")))
}
