//! What a caller asks about a kernel and its W-lane form.

use std::path::PathBuf;
use std::sync::Arc;

use warpline_llvm::worker::{LoadOptions, Unroll};
use warpline_llvm::{CompilerFlags, InputKind};
use warpline_vectorize::passes::{Instrument, Silent};
use warpline_vectorize::{Boscc, Coherence, Linearize};

use crate::c_names;
use crate::kernel::Told;
use crate::libmvec::MAX_ULP;
use crate::profile::Profile;
use crate::spec::Width;

/// Options about the kernel. What is not given is taken from the input's directives.
#[derive(Clone, Debug)]
pub struct KernelOptions {
    /// .ll, .bc, .rs, .c, .cpp or .cl
    pub input: PathBuf,
    /// The kernel; by default the one with directives, or the only function.
    pub function: Option<String>,
    /// Shapes of the parameters, as on the command line.
    pub args: Option<String>,
    /// The number of lanes.
    pub width: Option<Width>,
    /// The target to make code for, as an LLVM triple; by default this machine, or what the input states.
    pub triple: Option<String>,
    /// Whether clang may fuse multiplications and additions of one expression, if flags do not say otherwise.
    pub contract: bool,
    /// What the compilers of sources are told.
    pub flags: CompilerFlags,
    /// The CPU to make code for, by LLVM's name; `native` is this machine's.
    pub cpu: String,
    /// Which branches are folded.
    pub linearize: Linearize,
    /// Where branches skip code without an active lane; by default where that is expected to save time.
    pub boscc: Option<Boscc>,
    /// For which loops code is made for iterations in which lanes agree.
    pub coherence: Coherence,
    /// Whether lanes of a kernel are threads whose races are accepted.
    pub racy: bool,
    /// Whether it is an error, and no warning, that work-items return before others come to a barrier.
    pub strict_barriers: bool,
    /// The dimension of work-items in which lanes are neighbours; by default the one with the most accesses side by
    /// side.
    pub lane_dimension: Option<u32>,
    /// Whether it is a kernel of which a safe function of Rust is made, whatever the input says.
    pub is_safe: bool,
    /// The largest error of vector math functions that is accepted, in units in the last place.
    pub math_ulp: u32,
    /// Whether SLEEF may be used, where it is installed. What is made must be linked with it then.
    pub sleef: bool,
    /// The name of a function that blocks tell how many lanes are active.
    pub count_lanes: Option<String>,
    /// How often branches were taken in a run.
    pub profile: Option<Arc<Profile>>,
    /// The parameters, by name or pattern, to whose memory functions of the input have
    /// [exclusive access](crate::exclusive).
    pub exclusive: Vec<String>,
    /// Whether LLVM leaves the code as it is made: quick to make, slow to run.
    pub unoptimized: bool,
    /// Who is told of the vectorizer's passes.
    pub instrument: &'static dyn Instrument,
    /// Whether performance remarks are wanted.
    pub remarks: bool,
}

impl KernelOptions {
    /// How the input is read: simplified.
    pub fn load_options(&self) -> LoadOptions {
        let (triple, contract, flags) = (self.triple.clone(), self.contract, self.flags.clone());
        LoadOptions {
            simplify: Some(true),
            unroll: Unroll::Everywhere,
            triple,
            contract,
            flags,
            for_cpu: true,
            ..LoadOptions::default()
        }
    }

    /// What is said of the input besides what stands in it.
    pub fn told(&self) -> Told<'_> {
        Told { profile: self.profile.as_deref(), exclusive: &self.exclusive }
    }

    /// An input for the CPU of this machine.
    pub fn new(input: impl Into<PathBuf>) -> KernelOptions {
        KernelOptions {
            input: input.into(),
            function: None,
            args: None,
            width: None,
            triple: None,
            contract: false,
            flags: CompilerFlags::default(),
            cpu: "native".to_owned(),
            linearize: Linearize::default(),
            boscc: None,
            coherence: Coherence::Auto,
            racy: false,
            strict_barriers: false,
            lane_dimension: None,
            is_safe: false,
            math_ulp: MAX_ULP,
            sleef: false,
            count_lanes: None,
            profile: None,
            exclusive: Vec::new(),
            unoptimized: false,
            instrument: &Silent,
            remarks: false,
        }
    }
}

/// What is to be made of a kernel.
#[derive(Clone, Debug)]
pub struct VectorizeOptions {
    /// The kernel.
    pub kernel: KernelOptions,
    /// The shape of the result, as on the command line.
    pub returns: Option<String>,
    /// The name of the W-lane function; the drivers' names begin with it.
    pub name: Option<String>,
    /// Whether the W-lane function gets a mask as its last parameter.
    pub mask: bool,
    /// What to say when Rust code panics, before the program ends; for code that is linked with Rust. By default the
    /// panic functions of the compiler are called.
    pub panic: Option<String>,
    /// The kernel's name where its panics are reported, so that code of it may be left by unwinding.
    pub reports: Option<String>,
    /// Whether code is made without what is for debuggers.
    pub strip: bool,
}

impl VectorizeOptions {
    /// What the names of drivers begin with: the name that was asked for, or the kernel's own, in C++ with the names
    /// around it instead of its types.
    pub fn stem(&self, kernel: &str) -> String {
        let is_cpp = InputKind::of(&self.kernel.input).is_ok_and(|kind| kind == InputKind::Cpp);
        match &self.name {
            Some(name) => name.clone(),
            None if is_cpp => c_names::of_cpp(kernel),
            None => kernel.to_owned(),
        }
    }

    /// The W-lane function without a mask, and its drivers.
    pub fn new(kernel: KernelOptions) -> VectorizeOptions {
        VectorizeOptions {
            kernel,
            returns: None,
            name: None,
            mask: false,
            panic: None,
            reports: None,
            strip: false,
        }
    }
}
