//! Errors as objects, and the guard at the edge.

use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use warpline_compile::Error;

/// What kind of error it is.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WarplineErrorKind {
    /// Something is wrong with what was passed: a source, a file, an option.
    Input,
    /// What was asked for cannot be vectorized; the message says why, with source lines.
    Refused,
    /// A defect of warpline.
    Internal,
}

/// Why something failed.
pub struct WarplineError {
    kind: WarplineErrorKind,
    message: CString,
}

/// The same on its way to the edge.
pub(crate) struct Failure {
    kind: WarplineErrorKind,
    message: String,
}

impl Failure {
    pub(crate) fn usage(message: String) -> Failure {
        Failure { kind: WarplineErrorKind::Input, message }
    }

    pub(crate) fn of(error: Error) -> Failure {
        let kind = match &error {
            Error::Vectorize(_) => WarplineErrorKind::Refused,
            error if error.is_internal() => WarplineErrorKind::Internal,
            _ => WarplineErrorKind::Input,
        };
        Failure { kind, message: error.to_string() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::of(error)
    }
}

/// Does something for a caller in another language: no panic goes through, and an error becomes an object where the
/// caller wants it.
///
/// # Safety
/// `error` is `NULL` or the address of a pointer.
pub(crate) unsafe fn guarded<T>(
    error: *mut *mut WarplineError,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Option<T> {
    let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let message = "internal error: a panic; its message is on standard error".to_owned();
        Err(Failure { kind: WarplineErrorKind::Internal, message })
    });
    let failure = match outcome {
        Ok(value) => return Some(value),
        Err(failure) => failure,
    };
    if !error.is_null() {
        let message = CString::new(failure.message.replace('\0', "\u{fffd}")).unwrap_or_default();
        let object = Box::new(WarplineError { kind: failure.kind, message });
        // SAFETY: the caller passes the address of a pointer.
        unsafe { *error = Box::into_raw(object) };
    }
    None
}

/// The same of what gives an object: its address, or `NULL`.
///
/// # Safety
/// As for [`guarded`].
pub(crate) unsafe fn guarded_object<T>(
    error: *mut *mut WarplineError,
    work: impl FnOnce() -> Result<T, Failure>,
) -> *mut T {
    // SAFETY: the caller passes the address of a pointer or nothing.
    unsafe { guarded(error, work) }.map_or(std::ptr::null_mut(), |object| Box::into_raw(Box::new(object)))
}

/// Runs work that gives a text, as [`guarded`] does: the text as one that `warpline_string_free` frees, or `NULL`.
///
/// # Safety
/// As for [`guarded`].
pub(crate) unsafe fn guarded_text(
    error: *mut *mut WarplineError,
    work: impl FnOnce() -> Result<String, Failure>,
) -> *mut c_char {
    let work = || CString::new(work()?).map_err(|e| Failure::usage(e.to_string()));
    // SAFETY: the caller passes the address of a pointer or nothing.
    unsafe { guarded(error, work) }.map_or(std::ptr::null_mut(), CString::into_raw)
}

/// Frees an object that [`guarded_object`] made, if there is one.
///
/// # Safety
/// `object` is `NULL` or such an object, and is not used any more.
pub(crate) unsafe fn free<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: it was made by `Box::into_raw`.
        drop(unsafe { Box::from_raw(object) });
    }
}

/// What an error says.
///
/// # Safety
/// `error` is an error that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_error_message(error: *const WarplineError) -> *const c_char {
    // SAFETY: the caller passes an error, or nothing.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.message.as_ptr())
}

/// What kind of error it is.
///
/// # Safety
/// `error` is an error that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_error_kind(error: *const WarplineError) -> WarplineErrorKind {
    // SAFETY: the caller passes an error, or nothing.
    unsafe { error.as_ref() }.map_or(WarplineErrorKind::Internal, |error| error.kind)
}

/// Frees an error.
///
/// # Safety
/// `error` is `NULL` or an error that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_error_free(error: *mut WarplineError) {
    // SAFETY: the caller passes an error that is not used any more, or nothing.
    unsafe { free(error) }
}
