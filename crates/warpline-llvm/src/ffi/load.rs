//! Finding and opening a libLLVM.
//!
//! The order is `$WARPLINE_LLVM` (which must then be usable), the library that every Rust toolchain ships beside
//! `rustc`, and installed ones, newest first. The library is opened with `RTLD_LOCAL`, so that it cannot mix with
//! another LLVM in the process, and is never closed: LLVM keeps static state and threads may still be inside it.

use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::Functions;
use crate::error::{Error, Result};
use crate::tools::sysroot;

/// The oldest and the newest major version that the table serves.
const SERVED: std::ops::RangeInclusive<u32> = 19..=23;

/// A loaded LLVM library. There is at most one in a process; every module belongs to it.
pub struct Llvm {
    functions: Functions,
    version: (u32, u32, u32),
    path: PathBuf,
}

static LOADED: OnceLock<Result<Llvm>> = OnceLock::new();

impl Llvm {
    /// The library of this process, opened and initialised on the first call.
    ///
    /// # Errors
    /// [`Error::UnfitLibrary`] when `$WARPLINE_LLVM` names something unusable, [`Error::NoLibrary`] when nothing was
    /// found.
    pub fn get() -> Result<&'static Llvm> {
        LOADED.get_or_init(open_first).as_ref().map_err(Clone::clone)
    }

    /// Major, minor and patch version.
    pub fn version(&self) -> (u32, u32, u32) {
        self.version
    }

    /// The version as LLVM writes it, such as `22.1.0`.
    pub fn version_text(&self) -> String {
        let (major, minor, patch) = self.version;
        format!("{major}.{minor}.{patch}")
    }

    /// The file that was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The functions of the loaded library, for code that already holds something made by it.
pub(crate) fn functions() -> &'static Functions {
    match LOADED.get() {
        Some(Ok(llvm)) => &llvm.functions,
        _ => unreachable!("every handle was made by a loaded library"),
    }
}

/// The major version of the loaded library.
pub(crate) fn major() -> u32 {
    match LOADED.get() {
        Some(Ok(llvm)) => llvm.version.0,
        _ => unreachable!("every handle was made by a loaded library"),
    }
}

fn open_first() -> Result<Llvm> {
    if let Some(path) = std::env::var_os("WARPLINE_LLVM").filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return open(&path).map_err(|reason| Error::UnfitLibrary { path, reason });
    }
    let mut tried = Vec::new();
    for path in candidates(&mut tried) {
        match open(&path) {
            Ok(llvm) => {
                log::debug!("LLVM is {}", path.display());
                return Ok(llvm);
            }
            Err(reason) => tried.push((path, reason)),
        }
    }
    Err(Error::NoLibrary { tried })
}

/// The libraries to try, in order; what could not even be asked is recorded in `tried`.
fn candidates(tried: &mut Vec<(PathBuf, String)>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    match sysroot() {
        Ok(folder) => {
            let lib = folder.join("lib");
            let in_toolchain = libraries_in(&lib);
            if in_toolchain.is_empty() {
                tried.push((lib, format!("no libLLVM*.{SUFFIX} in it")));
            }
            found.extend(in_toolchain);
        }
        Err(failed) => tried.push(failed),
    }
    for major in SERVED.rev() {
        found.extend(libraries_in(Path::new(&format!("/usr/lib/llvm-{major}/lib"))));
    }
    // Homebrew's folders, for Apple's and Intel's processors.
    for major in SERVED.rev().filter(|_| cfg!(target_os = "macos")) {
        for prefix in ["/opt/homebrew", "/usr/local"] {
            found.extend(libraries_in(Path::new(&format!("{prefix}/opt/llvm@{major}/lib"))));
        }
    }
    for directory in ["/usr/lib64", "/usr/lib", "/usr/local/lib"] {
        found.extend(libraries_in(Path::new(directory)));
    }
    found
}

/// How names of shared libraries end on this system, versions apart.
const SUFFIX: &str = match () {
    () if cfg!(target_os = "macos") => "dylib",
    () if cfg!(windows) => "dll",
    () => "so",
};

/// The shared libraries `libLLVM*.so*` (or `.dylib`, or `LLVM*.dll`) of a directory, without linker scripts and without
/// names for the same file.
fn libraries_in(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            // `libLLVM.so.19.1`, `libLLVM-19.so`, `LLVM-C.dll`, and not the plugins `LLVMgold.so` and `LLVMPolly.so`.
            let behind = name.strip_prefix("lib").unwrap_or(&name).strip_prefix("LLVM");
            let is_named = behind.is_some_and(|behind| behind.starts_with(['.', '-']));
            is_named && name.contains(&format!(".{SUFFIX}")) && is_library(path)
        })
        .collect();
    found.sort();
    found.reverse();
    let mut files = Vec::new();
    found.retain(|path| {
        let file = path.canonicalize().unwrap_or_else(|_| path.clone());
        let new = !files.contains(&file);
        if new {
            files.push(file);
        }
        new
    });
    found
}

/// Whether a file begins like a shared library (ELF, Mach-O, PE); a linker script does not.
fn is_library(path: &Path) -> bool {
    const BEGINNINGS: [&[u8]; 4] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ"];
    use std::io::Read as _;
    let mut magic = [0; 4];
    let is_read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok();
    is_read && BEGINNINGS.iter().any(|beginning| magic.starts_with(beginning))
}

fn open(path: &Path) -> std::result::Result<Llvm, String> {
    // SAFETY: the initialisers of libLLVM only fill its own tables; the file was chosen by the user or by the fixed
    // search order.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| {
        use std::error::Error as _;
        error.source().map_or_else(|| error.to_string(), ToString::to_string)
    })?;
    let library = std::mem::ManuallyDrop::new(libloading::Library::from(library));
    let mut version = (0, 0, 0);
    {
        // SAFETY: the type is that of the C header.
        let get =
            unsafe { library.get::<unsafe extern "C" fn(*mut u32, *mut u32, *mut u32)>(b"LLVMGetVersion\0") }
                .map_err(|_| {
                    "it has no function LLVMGetVersion (older than LLVM 17, or not LLVM)".to_owned()
                })?;
        // SAFETY: three valid pointers, written once each.
        unsafe { get(&raw mut version.0, &raw mut version.1, &raw mut version.2) };
    }
    if !SERVED.contains(&version.0) {
        let (oldest, newest) = (SERVED.start(), SERVED.end());
        return Err(format!("it is LLVM {}; versions {oldest} to {newest} are served", version.0));
    }
    let functions = Functions::resolve(&library)
        .map_err(|missing| format!("LLVM {} without the functions {}", version.0, missing.join(", ")))?;
    initialize_targets(&library);
    set_options(&library);
    Ok(Llvm { functions, version, path: path.to_owned() })
}

/// Sets the library's options that nothing but its command line has. Without the first one, the inliner stops to look
/// at a function where its usual limit is exceeded, and never comes to the limit that the function has. The second one
/// has loops unrolled completely that never have more than 15 iterations, as the scalar ones for what is too short for
/// a group of 16 lanes: with LLVM's limit of 8, these are unrolled for eight iterations at once, and most of them wait
/// for tests and end in the loop behind that.
fn set_options(library: &libloading::Library) {
    let arguments = [c"warpline", c"-inline-cost-full", c"-unroll-max-upperbound=15"].map(CStr::as_ptr);
    type Parse = unsafe extern "C" fn(i32, *const *const c_char, *const c_char);
    // SAFETY: the type is that of the C header.
    if let Ok(parse) = unsafe { library.get::<Parse>(b"LLVMParseCommandLineOptions\0") } {
        // SAFETY: pointers to that many strings, which are copied; this runs once, before anything else uses the
        // library.
        unsafe { parse(arguments.len() as i32, arguments.as_ptr(), std::ptr::null()) };
    }
}

/// Registers those of the targets below that the library was built with.
fn initialize_targets(library: &libloading::Library) {
    const TARGETS: [&str; 12] = [
        "X86",
        "AArch64",
        "RISCV",
        "ARM",
        "PowerPC",
        "SystemZ",
        "LoongArch",
        "WebAssembly",
        "AMDGPU",
        "NVPTX",
        "SPIRV",
        "Mips",
    ];
    for target in TARGETS {
        for part in ["TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser"] {
            let name = format!("LLVMInitialize{target}{part}\0");
            // SAFETY: these functions take nothing, return nothing, and register static tables; this runs once.
            if let Ok(initialize) = unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes()) } {
                // SAFETY: as above.
                unsafe { initialize() };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linker_script_is_not_taken_for_a_library() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("libLLVM-22.so"), "INPUT(libLLVM.so.22.1)\n").unwrap();
        std::fs::write(directory.path().join("libLLVM.so.22.1"), b"\x7fELF and so on").unwrap();
        std::fs::write(directory.path().join("libOther.so"), b"\x7fELF").unwrap();
        assert_eq!(libraries_in(directory.path()), [directory.path().join("libLLVM.so.22.1")]);
    }

    #[test]
    fn what_is_no_library_is_refused_with_a_reason() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("libLLVM.so");
        std::fs::write(&path, "not a library").unwrap();
        assert!(!open(&path).err().unwrap().is_empty());
    }
}
