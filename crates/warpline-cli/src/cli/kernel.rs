//! Options of `vectorize` and `run`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use warpline_compile::loops::{LoopAt, LoopOptions};
use warpline_compile::profile::Profile;
use warpline_compile::unasked;

use super::{
    BosccMode, CoherenceMode, CompilerOptions, Contract, DependencyOptions, Format, LinearizeMode,
    RemarkMode, WhichFiles,
};
use crate::error::Result;
use crate::passes::{self, PassOptions};
use crate::spec::{Bind, Tolerance, Width, parse_range};
use warpline_llvm::Dependencies;

/// Options about the kernel and its W-lane variant.
#[derive(Args)]
pub struct KernelOptions {
    /// .rs, .c, .cpp, .cl, .ll, .bc or .wl
    pub input: PathBuf,
    /// The kernels, by name or pattern (`*`, `?`); the option repeats. With loops: where they are
    /// [default: those with directives, OpenCL's kernels, or the only function]
    #[arg(long, value_name = "NAME")]
    pub function: Vec<String>,
    /// Exit with 1 if any kernel or loop cannot be vectorized
    #[arg(long)]
    pub require_all: bool,
    /// Exit with 1 if any kernel or loop stays scalar because that is expected to take less time
    #[arg(long)]
    pub require_vector: bool,
    /// Shapes of the parameters: uniform, varying, index, stride(N); as NAME=SHAPE or by position. Parameters
    /// that are not named are uniform [default: the input's directive]
    #[arg(long, value_name = "LIST")]
    pub args: Option<String>,
    /// The lanes of a kernel are threads: accept whatever their races do
    #[arg(long)]
    pub racy: bool,
    /// Refuse kernels in which work-items may return before others come to a barrier, instead of warning
    #[arg(long)]
    pub strict_barriers: bool,
    /// Nobody else accesses what parameters of this name point to while a function runs, and all that is accessed
    /// under conditions is there: stores under conditions then need no masks. `*` and `?` stand for any characters;
    /// the option repeats
    #[arg(long, value_name = "NAME")]
    pub exclusive: Vec<String>,
    /// The dimension of work-items in which lanes are neighbours [default: the one in which most accesses are of
    /// neighbours]
    #[arg(long, value_name = "0|1|2", value_parser = clap::value_parser!(u32).range(0..=2), help_heading = "Code")]
    pub lane_dimension: Option<u32>,
    /// The vectorization factor, 1 to 64, or auto [default: the input's directive, or auto]
    #[arg(long, value_name = "N", help_heading = "Code")]
    pub width: Option<Width>,
    /// The CPU, by LLVM's name. `vectorize` takes several, with commas between them: drivers, and functions with
    /// loops, choose when they are called
    #[arg(long, value_name = "NAME", default_value = "native", help_heading = "Code")]
    pub cpu: String,
    /// The largest error of vector mathematics, in units in the last place. Inline expansions have up to 3 (`exp`,
    /// `log` and those of `double` up to 1), glibc's functions up to 4, SLEEF's, where it is installed, up to 1.
    /// 0: the scalar functions, once a lane
    #[arg(long, value_name = "N", default_value_t = 4, help_heading = "Code")]
    pub math_ulp: u32,
    /// C, C++ and OpenCL C: whether clang may fuse multiplications and additions of one expression, where the CPU
    /// can. Off, results are the same on all CPUs
    #[arg(long, value_enum, default_value_t, help_heading = "Code")]
    pub fp_contract: Contract,
    /// Which branches are folded
    #[arg(long, value_enum, default_value_t, help_heading = "Code")]
    pub linearize: LinearizeMode,
    /// Where branches skip code for which no lane is active, besides where they must
    /// [default: the input's directive, or auto]
    #[arg(long, value_enum, help_heading = "Code")]
    pub boscc: Option<BosccMode>,
    /// Which loops get a coherent path, for iterations in which all lanes agree on a loop-carried value, such as
    /// the node of a tree. Not off: guards like `i < n` get a path for when all lanes pass
    #[arg(long, value_enum, default_value_t, help_heading = "Code")]
    pub coherence: CoherenceMode,
    /// How often branches are taken, as `run --profile-out` counted it: changes what is chosen, never results
    #[arg(long, value_name = "FILE", help_heading = "Code")]
    pub profile: Option<PathBuf>,
    /// Leave LLVM's optimizations out: code is made in a fraction of the time, and runs several times as long
    #[arg(long, help_heading = "Code")]
    pub unoptimized: bool,
    /// What is shown of passes.
    #[command(flatten)]
    pub passes: PassOptions,
    /// What the compilers of sources are told.
    #[command(flatten)]
    pub compilers: CompilerOptions,
}

impl KernelOptions {
    /// What is asked about the kernel.
    ///
    /// # Errors
    /// If the project's flags of the input cannot be found.
    pub fn asked(&self) -> Result<warpline_compile::KernelOptions> {
        let options = self;
        Ok(warpline_compile::KernelOptions {
            input: options.input.clone(),
            flags: options.compilers.flags(&options.input)?,
            function: None,
            args: options.args.clone(),
            width: options.width,
            triple: None,
            contract: options.fp_contract == Contract::On,
            cpu: options.cpu.clone(),
            linearize: options.linearize.into(),
            boscc: options.boscc.map(Into::into),
            coherence: options.coherence.into(),
            racy: options.racy,
            strict_barriers: options.strict_barriers,
            exclusive: options.exclusive.clone(),
            lane_dimension: options.lane_dimension,
            is_safe: false,
            math_ulp: options.math_ulp,
            sleef: true,
            count_lanes: None,
            profile: options.profile.as_deref().map(Profile::read).transpose()?.map(Arc::new),
            unoptimized: options.unoptimized,
            instrument: passes::instrument(),
            remarks: false,
        })
    }
}

/// Which loops are vectorized in place, instead of a function.
#[derive(Args)]
#[command(next_help_heading = "Loops")]
pub struct LoopChoice {
    /// Vectorize a loop in place: the one that begins in this line, or at this block, or those that are marked
    /// (`//@ loop`, `#pragma omp simd`), or all [default: those that are marked; all if the input says nothing of
    /// loops and kernels]
    #[arg(long = "loop", value_name = "LINE|BLOCK|marked|all")]
    pub loops: Vec<LoopAt>,
    /// Reductions of floating-point numbers may be reassociated
    #[arg(long)]
    pub any_order: bool,
    /// Iterations do not conflict in memory, where that cannot be decided
    #[arg(long)]
    pub independent: bool,
}

impl LoopChoice {
    /// The loops that are meant; none if the function is the unit.
    ///
    /// # Errors
    /// If marks in the input are malformed.
    pub fn options(&self, kernel: &KernelOptions) -> warpline_compile::Result<Option<LoopOptions>> {
        let asked = kernel.asked()?;
        let loops = match &self.loops[..] {
            [] => unasked::loops(&asked, &kernel.function)?,
            given => given.to_vec(),
        };
        if loops.is_empty() {
            return Ok(None);
        }
        Ok(Some(LoopOptions {
            kernel: asked,
            functions: kernel.function.clone(),
            loops,
            any_order: self.any_order,
            independent: self.independent,
            panic: None,
        }))
    }
}

/// How much is reported.
#[derive(Args)]
#[command(next_help_heading = "Report")]
pub struct ReportOptions {
    /// Report everything: reasons of divergence, what became of branches, loops, masks; what results were
    /// compared with
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Report nothing, except findings and errors
    #[arg(short, long)]
    pub quiet: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Which performance remarks are wanted, and where.
#[derive(Args)]
#[command(next_help_heading = "Report")]
pub struct RemarkOptions {
    /// Where time is lost, and what to change: the three worst lines, everything, or nothing. On standard error
    #[arg(long, value_enum, default_value_t)]
    pub remarks: RemarkMode,
    /// Write all remarks as optimization records of LLVM, in YAML
    #[arg(long, value_name = "OUT.opt.yaml")]
    pub remarks_file: Option<PathBuf>,
}

/// Options of `vectorize`.
#[derive(Args)]
#[command(after_help = "Examples:
  warpline vectorize kernel.rs -o kernel.o --header kernel.h
  warpline vectorize kernel.c --function f --args i=index --width 16 -o f.s
  warpline vectorize loops.c --loop 12 --cpu x86-64-v3 -o loops.o
  warpline vectorize kernel.c --cpu haswell,skylake-avx512 -o kernel.o")]
pub struct VectorizeOptions {
    /// The kernel.
    #[command(flatten)]
    pub kernel: KernelOptions,
    /// Or loops.
    #[command(flatten)]
    pub loops: LoopChoice,
    /// The target: rustc and clang compile for it, and LLVM IR that states no target gets it. --cpu is needed where
    /// it is another machine [default: this machine, or what the input states]
    #[arg(long, value_name = "TRIPLE", help_heading = "Code")]
    pub triple: Option<String>,
    /// Shape of the result: uniform is returned as a scalar, varying as a vector
    /// [default: the input's directive, or varying]
    #[arg(long, value_name = "SHAPE")]
    pub returns: Option<String>,
    /// Name of the W-lane function; the range driver is SYMBOL_range
    /// [default: FUNCTION_wW and FUNCTION_range]
    #[arg(long, alias = "name", value_name = "SYMBOL", help_heading = "Output")]
    pub symbol: Option<String>,
    /// Give the W-lane function a last parameter, a 64-bit integer: bit k says whether lane k is active
    #[arg(long, help_heading = "Output")]
    pub mask: bool,
    /// The output; the suffix says what: .ll, .bc, .s or .o. `-` is standard output and has LLVM's text; the
    /// report goes to standard error then
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    pub output: PathBuf,
    /// Write a C header for the functions, with the types of the source
    #[arg(long, value_name = "OUT.h", help_heading = "Output")]
    pub header: Option<PathBuf>,
    /// Which files the output depends on.
    #[command(flatten)]
    pub dependencies: DependencyOptions,
    /// Where time is lost, by source line.
    #[command(flatten)]
    pub remarks: RemarkOptions,
    /// How much is reported.
    #[command(flatten)]
    pub report: ReportOptions,
}

impl VectorizeOptions {
    /// The paths that are written to, besides the list of dependencies.
    pub fn outputs(&self) -> impl Iterator<Item = &Path> {
        let others = self.header.iter().chain(&self.remarks.remarks_file);
        std::iter::once(&self.output).chain(others).map(PathBuf::as_path)
    }

    /// Where the list of dependencies is written to, if it is asked for.
    pub fn dependency_file(&self) -> Option<PathBuf> {
        let DependencyOptions { dependencies, dependency_file, .. } = &self.dependencies;
        dependencies.or(dependency_file.as_ref().map(|_| WhichFiles::All))?;
        Some(dependency_file.clone().unwrap_or_else(|| self.output.with_extension("d")))
    }

    /// Which files are listed as dependencies.
    pub fn listed(&self) -> Dependencies {
        match (self.dependencies.dependencies, &self.dependencies.dependency_file) {
            (Some(which), _) => which.into(),
            (None, Some(_)) => Dependencies::All,
            (None, None) => Dependencies::None,
        }
    }
}

fn range(text: &str) -> std::result::Result<(i64, i64), String> {
    parse_range(text)
}

/// Numbers of work-items, 1 in dimensions that are not named.
fn work_items(text: &str) -> std::result::Result<[u64; 3], String> {
    let wrong = || format!("`{text}` is no number of work-items: write N, or N,N or N,N,N");
    let mut all = [1; 3];
    for (d, part) in text.split(',').enumerate() {
        let number = part.trim().parse().ok().filter(|&n: &u64| n > 0 && n < 1 << 31);
        *all.get_mut(d).ok_or_else(wrong)? = number.ok_or_else(wrong)?;
    }
    Ok(all)
}

/// Options of `run`.
#[derive(Args)]
#[command(after_help = "Exit code 1 if results differ, lanes race, or behaviour is undefined.

Examples:
  warpline run kernel.rs
  warpline run kernel.c --range 0..1000 --bind n=1000 --bind a=f32[1000]=iota
  warpline run loops.c --loop 12 --tolerance rel=1e-6 -v")]
pub struct RunOptions {
    /// The kernel.
    #[command(flatten)]
    pub kernel: KernelOptions,
    /// Or loops.
    #[command(flatten)]
    pub loops: LoopChoice,
    /// The indices, half-open [default: the input's directive]
    #[arg(long, value_name = "A..B", value_parser = range, allow_hyphen_values = true, help_heading = "Data")]
    pub range: Option<(i64, i64)>,
    /// Kernels over work-groups: how many work-items there are, in up to three dimensions
    #[arg(long, value_name = "N[,N[,N]]", value_parser = work_items, help_heading = "Data")]
    pub global: Option<[u64; 3]>,
    /// Kernels over work-groups: how many work-items a group has, in up to three dimensions [default: all]
    #[arg(long, value_name = "N[,N[,N]]", value_parser = work_items, help_heading = "Data")]
    pub local: Option<[u64; 3]>,
    /// The argument for a parameter: a number, or f32[N], i32[N] ... with =zero, =iota, =random, =A..B or =NUMBER;
    /// for a varying parameter one element per index; local:f32[N] for a `local` one; {f32[N],end,i32:7} for a pointer
    /// to a structure, such as a vector of C++
    #[arg(long, value_name = "NAME=SPEC", help_heading = "Data")]
    pub bind: Vec<Bind>,
    /// The seed of pseudo-random contents
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Data")]
    pub seed: u64,
    /// How much results may differ from those with the C library's mathematics where vector mathematics is used, and
    /// from those of the references where reductions are reassociated: ulp=N, rel=X, abs=X; one of them suffices. More
    /// is a finding [default: the input's directive]
    #[arg(long, value_name = "BOUNDS", help_heading = "Data")]
    pub tolerance: Option<Tolerance>,
    /// How long each run over the range may take; 0 for any time. A longer one is a finding
    #[arg(long, value_name = "SECONDS", default_value_t = 60, help_heading = "Data")]
    pub timeout: u64,
    /// Count, in the interpreter, how often branches are taken, and write that for --profile
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub profile_out: Option<PathBuf>,
    /// Draw which lanes of a kernel's first group are active on which line, as SVG
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub draw_lanes: Option<PathBuf>,
    /// Write a buffer as a grey picture: NAME=FILE.png,WIDTHxHEIGHT
    #[arg(long, value_name = "NAME=FILE,WxH", help_heading = "Report")]
    pub png: Option<String>,
    /// How much is reported.
    #[command(flatten)]
    pub report: ReportOptions,
}
