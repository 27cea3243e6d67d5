//! Objects and code in memory.

use std::ffi::{CString, c_char, c_void};

use warpline_compile::KernelOptions;
use warpline_compile::jit::{Code, Object};
use warpline_compile::spec::Width;

use super::error::{Failure, WarplineError, free, guarded, guarded_object};
use super::{find_worker, language_of, text};

/// How to vectorize. All zeros are the defaults.
#[repr(C)]
pub struct WarplineOptions {
    /// The CPU, by LLVM's name; `NULL` for this machine's.
    pub cpu: *const c_char,
    /// The only function that is meant; `NULL` for all.
    pub function: *const c_char,
    /// The shapes of its parameters, if it is a kernel, such as `i=index`; `NULL` for what the source says.
    pub args: *const c_char,
    /// The number of lanes; 0 leaves it to the cost model.
    pub width: u32,
    /// The largest error of vector mathematics in units in the last place; 0 for the default, 4. To have the scalar
    /// functions, write directives into the source.
    pub math_ulp: u32,
}

/// An object file in memory, with what was done.
pub struct WarplineObject {
    object: Object,
    report: CString,
}

/// Code in this process.
pub struct WarplineCode {
    code: Code,
}

/// # Safety
/// As for [`warpline_compile_source`].
unsafe fn options(given: *const WarplineOptions) -> Result<KernelOptions, Failure> {
    let mut options = KernelOptions::new("");
    // SAFETY: the caller passes options, or nothing.
    let Some(given) = (unsafe { given.as_ref() }) else { return Ok(options) };
    let optional = |pointer: *const c_char, what: &str| match pointer.is_null() {
        true => Ok(None),
        // SAFETY: the caller passes a text.
        false => unsafe { text(pointer, what) }.map(|text| Some(text.to_owned())),
    };
    if let Some(cpu) = optional(given.cpu, "cpu")? {
        options.cpu = cpu;
    }
    options.function = optional(given.function, "function")?;
    options.args = optional(given.args, "args")?;
    options.width = match given.width {
        0 => None,
        n @ 1..=64 => Some(Width::Lanes(n)),
        n => return Err(Failure::usage(format!("width {n}: use 1 to 64 lanes, or 0"))),
    };
    if given.math_ulp > 0 {
        options.math_ulp = given.math_ulp;
    }
    Ok(options)
}

fn reported(object: Object) -> WarplineObject {
    let mut lines = object.made.clone();
    lines.extend(object.refused.iter().map(|why| format!("warning: {why}")));
    let report = CString::new(lines.join("\n").replace('\0', "\u{fffd}")).unwrap_or_default();
    WarplineObject { object, report }
}

/// Compiles a source that is given as text and vectorizes its loops, or its kernels. `language` is the ending of a file
/// in it: c, cpp, cl, rs or ll.
///
/// # Safety
/// `language` and `source` are texts; `given` is `NULL` or options with texts; `error` is `NULL` or the address of a
/// pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_compile_source(
    language: *const c_char,
    source: *const c_char,
    given: *const WarplineOptions,
    error: *mut *mut WarplineError,
) -> *mut WarplineObject {
    let work = || {
        find_worker();
        // SAFETY: the caller passes texts and options.
        let (name, source, options) =
            unsafe { (text(language, "language")?, text(source, "source")?, options(given)?) };
        Ok(reported(Object::of_source(language_of(name)?, source, &options)?))
    };
    // SAFETY: the caller passes the address of a pointer or nothing.
    unsafe { guarded_object(error, work) }
}

/// The same of a file.
///
/// # Safety
/// As for `warpline_compile_source`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_compile_file(
    path: *const c_char,
    given: *const WarplineOptions,
    error: *mut *mut WarplineError,
) -> *mut WarplineObject {
    let work = || {
        find_worker();
        // SAFETY: the caller passes a text and options.
        let (path, options) = unsafe { (text(path, "path")?, options(given)?) };
        Ok(reported(Object::of_file(&KernelOptions { input: path.into(), ..options })?))
    };
    // SAFETY: the caller passes the address of a pointer or nothing.
    unsafe { guarded_object(error, work) }
}

/// The bytes of an object file, and how many there are.
///
/// # Safety
/// `object` is an object that is not freed; `length` is `NULL` or the address of a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_object_bytes(
    object: *const WarplineObject,
    length: *mut usize,
) -> *const u8 {
    // SAFETY: the caller passes an object, or nothing.
    let bytes = unsafe { object.as_ref() }.map_or(&[][..], |object| &object.object.bytes);
    if !length.is_null() {
        // SAFETY: the caller passes the address of a number.
        unsafe { *length = bytes.len() };
    }
    bytes.as_ptr()
}

/// What was vectorized and with how many lanes, a line each, and, in lines that begin with `warning: `, what was not and
/// why.
///
/// # Safety
/// `object` is an object that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_object_report(object: *const WarplineObject) -> *const c_char {
    // SAFETY: the caller passes an object, or nothing.
    unsafe { object.as_ref() }.map_or(c"".as_ptr(), |object| object.report.as_ptr())
}

/// Frees an object.
///
/// # Safety
/// `object` is `NULL` or an object that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_object_free(object: *mut WarplineObject) {
    // SAFETY: the caller passes one that is not used any more, or nothing.
    unsafe { free(object) }
}

/// Links an object into this process. It must be for this machine, and what it calls must be in the process.
///
/// # Safety
/// `object` is an object that is not freed; `error` is `NULL` or the address of a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_load(
    object: *const WarplineObject,
    error: *mut *mut WarplineError,
) -> *mut WarplineCode {
    let work = || {
        // SAFETY: the caller passes an object, or nothing.
        let object = unsafe { object.as_ref() }.ok_or_else(|| Failure::usage("object is NULL".to_owned()))?;
        Ok(WarplineCode { code: Code::of(object.object.clone())? })
    };
    // SAFETY: the caller passes the address of a pointer or nothing.
    unsafe { guarded_object(error, work) }
}

/// The address of a function or variable, to be called or used as the source declares it, as long as `code` is not
/// freed.
///
/// # Safety
/// `code` is code that is not freed; `name` is a text; `error` is `NULL` or the address of a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_address(
    code: *const WarplineCode,
    name: *const c_char,
    error: *mut *mut WarplineError,
) -> *mut c_void {
    let work = || {
        // SAFETY: the caller passes code, or nothing, and a text.
        let (code, name) = unsafe { (code.as_ref(), text(name, "name")?) };
        let code = code.ok_or_else(|| Failure::usage("code is NULL".to_owned()))?;
        Ok(std::ptr::with_exposed_provenance_mut(code.code.address(name)?))
    };
    // SAFETY: the caller passes the address of a pointer or nothing.
    unsafe { guarded(error, work) }.unwrap_or(std::ptr::null_mut())
}

/// Frees code. Its functions must not run any more.
///
/// # Safety
/// `code` is `NULL` or code that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_code_free(code: *mut WarplineCode) {
    // SAFETY: the caller passes one that is not used any more, or nothing.
    unsafe { free(code) }
}
