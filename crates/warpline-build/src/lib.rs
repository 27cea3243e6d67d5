//! For build scripts: kernels in Rust or C become code for many lanes and several CPUs, with safe Rust functions over
//! slices.
//!
//! `src/kernels.rs`, an ordinary module of the crate:
//!
//! ```ignore
//! #[warpline_lanes::kernel(i = index)]
//! pub fn saxpy(i: usize, a: f32, x: &f32, y: &mut f32) {
//!     *y += a * *x;
//! }
//! ```
//!
//! `build.rs`:
//!
//! ```ignore
//! fn main() -> Result<(), warpline_build::Error> {
//!     warpline_build::Builder::new().source("src/kernels.rs").build("vector")
//! }
//! ```
//!
//! In the crate:
//!
//! ```ignore
//! mod kernels;
//! mod vector {
//!     include!(concat!(env!("OUT_DIR"), "/vector.rs"));
//! }
//!
//! vector::saxpy(0..y.len(), 2.0, &x, &mut y);
//! ```
//!
//! Kernels are compiled with their crate: they use its types, modules, features and dependencies, and `src/kernels.rs`
//! may be any module of the package's library or program. The functions stand beside the kernels as `NAME_range` and
//! `NAME_cpu`; `vector.rs` has other names for those of free functions. A source that is no such module, and one in C,
//! is compiled alone, and `vector.rs` has its functions.
//!
//! # What becomes of parameters
//!
//! The first parameter of the function is the range of indices, in the type of the kernel's `index`; the others
//! follow in their order.
//!
//! | in the kernel | shape | in the function |
//! |---|---|---|
//! | an integer | `index` | the range |
//! | a value | `uniform` (by default) | the same |
//! | | `varying` | `&[T]`, one element for each index |
//! | an integer | `stride(N)` | the value for the first index |
//! | `&T`, `&mut T` | (by default) | `&[T]`, `&mut [T]`: the lane's element, one for each index |
//! | | `uniform` | the same |
//! | `&[T]`, `&mut [T]` | `uniform` | the same |
//! | `*const T`, `*mut T` | `uniform` | the same, and the function is unsafe |
//! | a result | | the last parameter, `&mut [T]`: one element for each index |
//!
//! `T` is any type, `Copy` where it is passed by value; in a source that is compiled alone, values and results are
//! numbers or `bool`, and `T` may be an array of such as well. Generic kernels have instances by `#[kernel(T = f32)]`,
//! which are called `NAME_f32`. A slice with one element for each index must have as many elements
//! as the range has indices, or the function panics. Which CPU's code runs, `NAME_cpu()` says.
//!
//! A function does what a loop would do that calls the kernel for one index after the other; a kernel for which that
//! cannot be proved is refused. A kernel that is `unsafe` or takes pointers, and one marked `#[kernel(racy, …)]`,
//! makes an unsafe function, whose lanes are threads: for `racy` ones whatever their races do is accepted. A kernel
//! that panics in a lane is called again, alone, for that lane's index, so it panics as usual; if it was compiled
//! alone, it ends the program. Its arithmetic wraps, as in a release build. A kernel that asks about other lanes needs
//! the feature `scalar` of `warpline-lanes`, so that it can be called as a function, too.
//!
//! Linux is what is served.
//!
//! A kernel in C has its signature in a comment line:
//! `//@ rust #[kernel(i = index)] fn saxpy(i: i32, a: f32, x: &f32, y: &mut f32)`.
//!
//! # OpenCL C
//!
//! Of a source in OpenCL C (`kernels.cl`) without such lines all kernels are made, with barriers and local memory. For
//! each there are the unsafe functions `NAME_ndrange(offset, size, local, …)` and
//! `NAME_groups(offset, size, local, groups, …)`, and with barriers `NAME_workspace(size, local, …)`, the bytes of the
//! last argument of these. Such sources have a library of their own.
//!
//! # Without building the compiler
//!
//! By default the build script has the compiler in it, which cargo builds once. With `default-features = false` this is
//! a small crate without dependencies: the installed program `warpline` of the same version compiles, the one on the
//! path or that `$WARPLINE_WORKER` names. With [`Builder::prebuilt`] a package brings its code along, and who uses it
//! needs neither the program nor LLVM.

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

#[cfg(feature = "compile")]
mod archive;
#[cfg(feature = "compile")]
mod cache;
#[cfg(feature = "compile")]
mod check;
#[cfg(feature = "compile")]
mod compile;
#[cfg(feature = "compile")]
mod crates;
mod error;
mod files;
#[cfg(feature = "compile")]
mod opencl;
#[cfg(feature = "compile")]
mod parallel;
mod prebuilt;
mod program;
#[cfg(feature = "compile")]
mod wrapper;

use std::path::PathBuf;

pub use error::{Error, Result};
#[doc(hidden)]
pub use program::VERB;
#[cfg(feature = "compile")]
#[doc(hidden)]
pub use program::serve;

use files::Project;

/// What is to be built. A build script begins with [`Builder::new`].
#[derive(Clone, Debug)]
pub struct Builder {
    sources: Vec<PathBuf>,
    parts: Vec<PathBuf>,
    cpus: Option<Vec<String>>,
    width: Option<u32>,
    math_ulp: u32,
    boscc: Choice,
    coherence: Choice,
    remarks: bool,
    prebuilt: Option<PathBuf>,
    /// The build script on whose behalf this is built, if that is another program.
    script: Option<PathBuf>,
}

/// Whether something is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Choice {
    /// Never.
    Off,
    /// Wherever it can be done.
    On,
    /// Where a gain is expected.
    #[default]
    Auto,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// Nothing yet. LLVM runs in processes of its own, for which this starts the build script again: such a process
    /// ends here.
    pub fn new() -> Self {
        #[cfg(feature = "compile")]
        warpline_llvm::worker::serve_if_asked();
        Self {
            sources: Vec::new(),
            parts: Vec::new(),
            cpus: None,
            width: None,
            math_ulp: 4,
            boscc: Choice::Auto,
            coherence: Choice::Auto,
            remarks: false,
            prebuilt: None,
            script: None,
        }
    }

    /// Adds a source in Rust, C or OpenCL C, relative to the package. One that is no module of the package's library or
    /// program must be complete in itself.
    pub fn source(mut self, path: impl Into<PathBuf>) -> Self {
        self.sources.push(path.into());
        self
    }

    /// Adds a file that sources include and warpline does not see by itself, such as a header: when it changes, all is
    /// built anew.
    pub fn part(mut self, path: impl Into<PathBuf>) -> Self {
        self.parts.push(path.into());
        self
    }

    /// The CPUs to make code for, by LLVM's names, one of which is chosen when the program runs; code for every
    /// machine of the target is there in any case. By default `x86-64-v3` and `x86-64-v4`, and on other targets than
    /// x86-64 what every machine of it runs.
    pub fn cpus<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.cpus = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// The number of lanes, 1 to 64, for all CPUs; by default as many as suit each.
    pub fn width(mut self, lanes: u32) -> Self {
        self.width = Some(lanes);
        self
    }

    /// The largest error of vector math functions, in units in the last place; by default 4, what glibc's have. With
    /// less, functions such as `exp` are called once for each lane.
    pub fn math_ulp(mut self, ulp: u32) -> Self {
        self.math_ulp = ulp;
        self
    }

    /// Where branches skip code without an active lane.
    pub fn boscc(mut self, choice: Choice) -> Self {
        self.boscc = choice;
        self
    }

    /// For which loops code is made for iterations in which lanes agree.
    pub fn coherence(mut self, choice: Choice) -> Self {
        self.coherence = choice;
        self
    }

    /// Has cargo print, as warnings, on which lines of kernels time is lost and what to change: for each kernel up to
    /// three lines of the code for the best CPU, and whether it stays scalar. Code that was built before has none.
    pub fn remarks(mut self, wanted: bool) -> Self {
        self.remarks = wanted;
        self
    }

    /// A folder of the package with code that was built before, by target. Where it has some for the target that was
    /// made from the same sources and options, that is used. `WARPLINE_PREBUILT=update` in the environment builds,
    /// and puts the code there; `WARPLINE_PREBUILT=ignore` passes over what is there. Code that goes to others should
    /// call nothing of Rust's library that is not inlined, since its names change from compiler to compiler.
    pub fn prebuilt(mut self, folder: impl Into<PathBuf>) -> Self {
        self.prebuilt = Some(folder.into());
        self
    }

    /// Builds all kernels of the sources into a static library, which is linked, and writes the functions to
    /// `NAME.rs` in `$OUT_DIR`.
    ///
    /// # Errors
    /// Whatever is wrong with sources and options, or the reason why a kernel cannot be vectorized.
    pub fn build(self, name: &str) -> Result<()> {
        let project = Project::of_this_build(&self, name)?;
        if is_nested()
            && let Some(done) = self.nested(&project)
        {
            return done;
        }
        match prebuilt::find(&project)? {
            prebuilt::Found::Fitting(built) => project.link(&built),
            prebuilt::Found::No(why) => self.compile(&project, &why),
        }
    }

    /// Where warpline has the crate compiled, for what the crate's own build has begun, functions of the right types
    /// suffice; not of OpenCL C.
    #[cfg(feature = "compile")]
    fn nested(&self, project: &Project) -> Option<Result<()>> {
        (!project.is_opencl()).then(|| crates::for_type_checks(project))
    }

    /// The same by an installed program.
    #[cfg(not(feature = "compile"))]
    fn nested(&self, project: &Project) -> Option<Result<()>> {
        Some(self.compile(project, "the package is compiled for warpline"))
    }

    /// Makes code and links it.
    #[cfg(feature = "compile")]
    fn compile(&self, project: &Project, _why: &str) -> Result<()> {
        project.link(&project.compile()?)
    }

    /// Has an installed program make code and link it; `why` says why what is prebuilt cannot be used.
    #[cfg(not(feature = "compile"))]
    fn compile(&self, project: &Project, why: &str) -> Result<()> {
        program::build(self, project, why)
    }
}

/// Whether warpline itself has the crate compiled, for what the crate's own build has begun.
fn is_nested() -> bool {
    std::env::var_os("WARPLINE_NESTED").is_some()
}
