//! Options. Their texts are those of `--help`.

// Brackets in texts for the terminal are no links.
#![allow(rustdoc::broken_intra_doc_links)]

mod modes;
mod opt;

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use warpline::uniformity::facts::WorkGroup;
use warpline::uniformity::{Algorithm, Target};
use warpline_compile::loops::{self, LoopAt, LoopOptions};

use crate::forms::Form;
use crate::passes::{self, PassOptions};
use crate::spec::{Bind, Tolerance, Width, parse_range};
pub use modes::{BosccMode, CoherenceMode, Contract, LinearizeMode};
pub use opt::OptOptions;

/// Finds out what all lanes agree on, and makes programs for one lane run on W lanes at once.
#[derive(Parser)]
#[command(
    name = "warpline",
    version,
    about,
    max_term_width = 100,
    after_help = "`warpline --version --verbose` says which LLVM, rustc and clang are used, and where they are."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// How much memory each process that reads an input, makes code or runs a kernel may have: bytes, or KiB, MiB, GiB;
    /// 0 for no limit
    #[arg(long, global = true, value_name = "SIZE", value_parser = memory_size, default_value = "4GiB")]
    pub memory: u64,
}

/// The least memory with which a process can open LLVM, in bytes.
const LEAST_MEMORY: u64 = 512 << 20;

/// An amount of memory, in bytes, from what is written on the command line.
///
/// # Errors
/// If it is no size, or too small for LLVM.
pub fn memory_size(text: &str) -> Result<u64, String> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("", 0)];
    let (number, shift) =
        units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift))).unwrap_or((text, 0));
    let bytes = number.trim().parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift));
    match bytes {
        None => {
            Err(format!("`{text}` is no size: write bytes, or a number of KiB, MiB or GiB, such as 4GiB"))
        }
        Some(1..LEAST_MEMORY) => Err(format!("{text} are too few for LLVM; it needs 512MiB or more")),
        Some(bytes) => Ok(bytes),
    }
}

/// The verbs.
#[derive(Subcommand)]
pub enum Verb {
    /// Say which values, branches and loops differ between lanes, and why
    Analyze(AnalyzeOptions),
    /// Say why a value, a branch or all on a source line differs between lanes, step by step, with source lines and paths
    Explain(ExplainOptions),
    /// Make the W-lane form of a kernel: an object file, assembly, bitcode or LLVM's text
    Vectorize(VectorizeOptions),
    /// Run a kernel as a scalar program and on W lanes, compare the results, and time both
    Run(RunOptions),
    /// Run passes of the vectorizer, by name, on functions in text form
    Opt(OptOptions),
    /// Bring functions into SSA form, say what that costs, or what is read without having been written
    Ssa(SsaOptions),
    /// Split live ranges as a data-flow client asks for (e-SSA, SSI and their relatives), and say what that costs
    Ssi(SsiOptions),
}

/// How results are printed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    #[value(alias = "table")]
    Text,
    /// For programs.
    Json,
}

/// How the results of an analysis are printed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum AnalysisFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
    /// As LLVM's `print<uniformity>`.
    Llvm,
    /// A page that shows source and control flow side by side, with explanations; one file without references.
    Html,
}

/// A target by its name.
///
/// # Errors
/// If there is no such target.
pub fn target(name: &str) -> Result<Target, String> {
    Target::from_name(name)
        .ok_or_else(|| format!("`{name}` is no target; there are simd, amdgcn, nvptx and spirv"))
}

/// The size of a work-group, `X[,Y[,Z]]`.
///
/// # Errors
/// If it has more than three dimensions, or one that is no positive number.
pub fn work_group(text: &str) -> Result<WorkGroup, String> {
    let mut size = [1; 3];
    let numbers: Vec<&str> = text.split(',').collect();
    if numbers.len() > size.len() {
        return Err(format!("`{text}` has more than three dimensions"));
    }
    for (place, number) in size.iter_mut().zip(numbers) {
        *place = number
            .trim()
            .parse()
            .ok()
            .filter(|&n| n > 0)
            .ok_or_else(|| format!("`{number}` is no size of a work-group"))?;
    }
    Ok(WorkGroup { size, whole: true })
}

fn algorithm(name: &str) -> Result<Algorithm, String> {
    Algorithm::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Algorithm::ALL.iter().map(|a| a.name()).collect();
        format!("`{name}` is no algorithm; there are {}", names.join(", "))
    })
}

/// Options of `analyze`.
#[derive(Args)]
pub struct AnalyzeOptions {
    /// .ll, .bc, .rs, .c, .cpp or .cl
    #[arg(required_unless_present = "client")]
    pub inputs: Vec<PathBuf>,
    /// Only this function
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Whose rules say what is a source of divergence: simd, amdgcn, nvptx or spirv [default: as the module's triple says; simd for
    /// what is no GPU]
    #[arg(long, value_name = "NAME", value_parser = target)]
    pub target: Option<Target>,
    /// Shapes of the parameters: uniform, varying, index, stride(N); by name=shape or by position [default: varying, or the
    /// input's directive]
    #[arg(long, value_name = "LIST")]
    pub args: Option<String>,
    /// How joins of divergent branches are found: joins, or, to compare with, strong-postdom or postdom (not sound)
    #[arg(long, value_name = "NAME", value_parser = algorithm, default_value = "joins")]
    pub algorithm: Algorithm,
    /// How many work-items a work-group has, in one to three dimensions, for kernels that do not say it themselves
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = work_group)]
    pub work_group: Option<WorkGroup>,
    /// Do not use what data-flow analyses know: constants, edges that are never taken, ranges, equalities behind conditions
    #[arg(long)]
    pub no_facts: bool,
    /// Look instead for what the timing of one function tells of secrets: branches, addresses, operands of variable time, calls.
    /// Parameters by name or position: `key` is a value or the memory that a pointer leads to (also written `*key`), `&key`
    /// the pointer itself. Everything else is public. Exit code 1 if something is found
    #[arg(long, value_name = "LIST", conflicts_with_all = ["args", "target", "algorithm", "no_facts", "work_group"])]
    pub secret: Option<String>,
    /// Run instead a data-flow analysis of this name; `list` says which there are. Exit code 1 if it finds something that
    /// should not be
    #[arg(long, value_name = "NAME", conflicts_with_all = ["args", "target", "algorithm", "secret"])]
    pub client: Option<String>,
    /// With --client: solve with a state at each program point instead of facts about split live ranges. The answer is the same
    #[arg(long, requires = "client")]
    pub dense: bool,
    /// With --client: say also what solving took
    #[arg(long, requires = "client")]
    pub stats: bool,
    /// With --client taint: where data from outside comes from, instead of C's and Rust's usual functions. Entries are NAME,
    /// NAME:ret, NAME:N for argument N from 0, NAME:N+ for it and all behind, with a `*` before ret or N for each pointer that
    /// is followed: read:*1
    #[arg(long, value_name = "LIST", requires = "client")]
    pub sources: Option<String>,
    /// With --client taint: where it must not go, instead of commands, libraries, format strings and sizes
    #[arg(long, value_name = "LIST", requires = "client")]
    pub sinks: Option<String>,
    /// With --client taint: what makes clean. NAME: the result; NAME:N: argument N where the result is true; NAME:*N: what argument N
    /// leads to after the call; the word compare: comparisons with constants
    #[arg(long, value_name = "LIST", requires = "client")]
    pub sanitizers: Option<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: AnalysisFormat,
    /// Write to this file instead of standard output, which `-` stands for
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

/// Options of `explain`.
#[derive(Args)]
#[command(group = clap::ArgGroup::new("subject").required(true))]
pub struct ExplainOptions {
    /// .ll, .bc, .rs, .c, .cpp or .cl
    pub input: PathBuf,
    /// The function, by its name in the object file or in the source [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// The value, by LLVM's name or number: %x, %7. `block:NAME` is the branch at the end of a block, `loop:NAME` the
    /// loop with the header NAME
    #[arg(long, value_name = "%NAME", group = "subject")]
    pub value: Option<String>,
    /// All values and branches on this line of the function's source file
    #[arg(long, value_name = "N", group = "subject")]
    pub line: Option<u32>,
    /// Whose rules say what is a source of divergence: simd, amdgcn, nvptx or spirv [default: as the module's triple says; simd for
    /// what is no GPU]
    #[arg(long, value_name = "NAME", value_parser = target)]
    pub target: Option<Target>,
    /// Shapes of the parameters, as for analyze
    #[arg(long, value_name = "LIST")]
    pub args: Option<String>,
    /// How joins of divergent branches are found, as for analyze
    #[arg(long, value_name = "NAME", value_parser = algorithm, default_value = "joins")]
    pub algorithm: Algorithm,
    /// How many work-items a work-group has, in one to three dimensions, for kernels that do not say it themselves
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = work_group)]
    pub work_group: Option<WorkGroup>,
    /// Do not use what data-flow analyses know: constants, edges that are never taken, ranges, equalities behind conditions
    #[arg(long)]
    pub no_facts: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Options about the kernel and its W-lane form.
#[derive(Args)]
pub struct KernelOptions {
    /// .ll, .bc, .rs, .c, .cpp or .cl
    pub input: PathBuf,
    /// The kernel [default: the one with directives, or the only function]
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Shapes of the parameters: uniform, varying, index, stride(N); by name=shape or by position. Those not mentioned are
    /// uniform [default: the input's directive]
    #[arg(long, value_name = "LIST")]
    pub args: Option<String>,
    /// The number of lanes, 1 to 64, or auto [default: the input's directive, or auto]
    #[arg(long, value_name = "N")]
    pub width: Option<Width>,
    /// The CPU to make code for, by LLVM's name. For `vectorize` several with commas between them: the driver chooses when it is called
    #[arg(long, value_name = "NAME", default_value = "native")]
    pub cpu: String,
    /// For C, C++ and OpenCL C: whether clang may fuse multiplications and additions of one expression, as it does by default where the CPU has instructions for
    /// that. Off, results are the same on all CPUs, and those of Rust
    #[arg(long, value_enum, default_value_t)]
    pub fp_contract: Contract,
    /// Which branches are folded
    #[arg(long, value_enum, default_value_t)]
    pub linearize: LinearizeMode,
    /// Where branches skip code that no lane wants, besides where they must [default: the input's directive, or auto]
    #[arg(long, value_enum)]
    pub boscc: Option<BosccMode>,
    /// For which loops code is made for iterations in which all lanes are at the same node of a tree or list, or agree on another value that the loop
    /// carries on
    #[arg(long, value_enum, default_value_t)]
    pub coherence: CoherenceMode,
    /// Take the lanes of a kernel for threads, and accept whatever their races do
    #[arg(long)]
    pub racy: bool,
    /// The largest error of vector math functions that is accepted, in units in the last place. Those that are written out in the code are within 3 (`exp`, `log` and
    /// those of `double` within 1), glibc's within 4, SLEEF's, where it is installed, within 1. 0: the scalar functions, lane by lane
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub math_ulp: u32,
    /// What is shown of passes.
    #[command(flatten)]
    pub passes: PassOptions,
}

impl From<&KernelOptions> for warpline_compile::KernelOptions {
    fn from(options: &KernelOptions) -> warpline_compile::KernelOptions {
        warpline_compile::KernelOptions {
            input: options.input.clone(),
            function: options.function.clone(),
            args: options.args.clone(),
            width: options.width,
            triple: None,
            contract: options.fp_contract == Contract::On,
            cpu: options.cpu.clone(),
            linearize: options.linearize.into(),
            boscc: options.boscc.map(Into::into),
            coherence: options.coherence.into(),
            racy: options.racy,
            math_ulp: options.math_ulp,
            sleef: true,
            count_lanes: None,
            instrument: passes::instrument(),
        }
    }
}

/// Which loops are the unit, instead of a function.
#[derive(Args)]
pub struct LoopChoice {
    /// Vectorize a loop within its scalar function: that which begins in this line, or at this block, or all that are marked (`//@ loop`,
    /// `#pragma omp simd`) [default: those that are marked]
    #[arg(long = "loop", value_name = "LINE|BLOCK|marked")]
    pub loops: Vec<LoopAt>,
    /// Combine floating-point numbers in any order in sums and the like that loops carry on
    #[arg(long)]
    pub any_order: bool,
    /// Take iterations not to conflict in memory where that cannot be decided, in all of these loops
    #[arg(long)]
    pub independent: bool,
}

impl LoopChoice {
    /// The loops that are meant; none if the function is the unit.
    ///
    /// # Errors
    /// If marks in the input are malformed.
    pub fn options(&self, kernel: &KernelOptions) -> warpline_compile::Result<Option<LoopOptions>> {
        let asked = warpline_compile::KernelOptions::from(kernel);
        let loops = match &self.loops[..] {
            [] if kernel.args.is_none() && loops::has_marks(&asked)? => vec![LoopAt::Marked],
            [] => return Ok(None),
            given => given.to_vec(),
        };
        Ok(Some(LoopOptions {
            kernel: asked,
            loops,
            any_order: self.any_order,
            independent: self.independent,
        }))
    }
}

/// Options of `vectorize`.
#[derive(Args)]
pub struct VectorizeOptions {
    /// The kernel.
    #[command(flatten)]
    pub kernel: KernelOptions,
    /// Or loops.
    #[command(flatten)]
    pub loops: LoopChoice,
    /// The target to make code for: rustc and clang compile for it, and LLVM IR that states no target gets it. It needs --cpu, where it
    /// is not this machine [default: this machine, or what the input states]
    #[arg(long, value_name = "TRIPLE")]
    pub triple: Option<String>,
    /// Shape of the result: uniform is returned as a scalar, varying as a vector [default: the input's directive, or varying]
    #[arg(long, value_name = "SHAPE")]
    pub returns: Option<String>,
    /// Name of the W-lane function; the range driver is called SYMBOL_range [default: FUNCTION_wW and FUNCTION_range]
    #[arg(long, value_name = "SYMBOL")]
    pub name: Option<String>,
    /// Give the W-lane function a last parameter, a 64-bit integer: bit k says whether lane k is active
    #[arg(long)]
    pub mask: bool,
    /// The output; its suffix says what: .ll, .bc, .s or .o. `-` is standard output, for what .ll has; the report
    /// goes to standard error then
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Write a C header for the functions
    #[arg(long, value_name = "OUT.h")]
    pub header: Option<PathBuf>,
    /// How to print what was done
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

impl VectorizeOptions {
    /// The paths that are written to.
    pub fn outputs(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.output).chain(&self.header).map(PathBuf::as_path)
    }
}

fn range(text: &str) -> Result<(i64, i64), String> {
    parse_range(text)
}

/// Options of `run`.
#[derive(Args)]
pub struct RunOptions {
    /// The kernel.
    #[command(flatten)]
    pub kernel: KernelOptions,
    /// Or loops.
    #[command(flatten)]
    pub loops: LoopChoice,
    /// The indices, half-open [default: the input's directive]
    #[arg(long, value_name = "A..B", value_parser = range, allow_hyphen_values = true)]
    pub range: Option<(i64, i64)>,
    /// What to pass for a parameter: a number, or f32[N], i32[N] ... with =zero, =iota, =random, =A..B or =NUMBER; for a
    /// varying parameter one element per index
    #[arg(long, value_name = "NAME=SPEC")]
    pub bind: Vec<Bind>,
    /// How far results may be off those with the C library's mathematics where vector math is used, and those of the
    /// references where sums are made in any order: ulp=N, rel=X, abs=X; within one of them. More is a finding, with
    /// exit code 1 [default: the input's directive]
    #[arg(long, value_name = "BOUNDS")]
    pub tolerance: Option<Tolerance>,
    /// Where pseudo-random contents start
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How long each run over the range may take, of the scalar program or on W lanes; 0 for any time. One that takes
    /// longer is a finding, with exit code 1
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub timeout: u64,
    /// Write a buffer as a grey picture: NAME=FILE.png,WIDTHxHEIGHT
    #[arg(long, value_name = "NAME=FILE,WxH")]
    pub png: Option<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Options of `ssa`.
#[derive(Args)]
#[command(group = clap::ArgGroup::new("pruning"), group = clap::ArgGroup::new("report"))]
pub struct SsaOptions {
    /// .ll, .bc, .rs, .c, .cpp or .cl. Sources are compiled without optimisation: local variables are memory then, which
    /// becomes variables here where its address does not get away
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
    /// Only this function
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// How φs are placed
    #[arg(long, value_enum, default_value_t)]
    pub placement: PlacementChoice,
    /// Which variables count as holding a value when control enters
    #[arg(long, value_enum, default_value_t)]
    pub entry: EntryChoice,
    /// All φs where definitions meet [default]
    #[arg(long, group = "pruning")]
    pub minimal: bool,
    /// No φs of variables that every block writes before it reads them
    #[arg(long, group = "pruning")]
    pub semi_pruned: bool,
    /// No φs where the variable is not live
    #[arg(long, group = "pruning")]
    pub pruned: bool,
    /// Add φs with an undefined operand where a definition would not dominate its uses otherwise
    #[arg(long)]
    pub strict: bool,
    /// Let values leave loops through φs only
    #[arg(long)]
    pub loop_closed: bool,
    /// Print instead how many φs each placement needs, and its time: the sum over all functions of medians over 5 runs, dominators
    /// included. `precise` is the fast precise placement, `pruned` the same where variables are live, `semi_pruned` that of variables
    /// which some block reads before it writes them; `dominance_frontier` is Cytron's, for which all variables count as defined on entry
    #[arg(long, group = "report", conflicts_with_all = ["placement", "pruning", "strict", "loop_closed"])]
    pub stats: bool,
    /// With --stats: the same by function
    #[arg(long, requires = "stats")]
    pub by_function: bool,
    /// Print instead which reads see a variable that was never, or maybe not, written before. Exit code 1 if there are any. clang's own
    /// variables are left out
    #[arg(long, group = "report", conflicts_with_all = ["placement", "entry", "pruning", "strict", "loop_closed"])]
    pub uninitialized: bool,
    /// How to print; llvm: the module with its functions in SSA form, which must be strict
    #[arg(long, value_enum, default_value_t)]
    pub format: SsaFormat,
    /// Write to this file instead of standard output, which `-` stands for
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

/// How φs are placed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum PlacementChoice {
    /// Where definitions meet and nowhere else, fast.
    #[default]
    Precise,
    /// The same, as paper 5 does it.
    ReachingDefinitions,
    /// Where definitions meet if every variable is defined on entry.
    DominanceFrontier,
}

/// How functions in SSA form are printed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum SsaFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
    /// LLVM's text.
    Llvm,
}

fn form(name: &str) -> Result<Form, String> {
    Form::from_name(name)
        .ok_or_else(|| format!("`{name}` is no strategy; there are {}", Form::names().join(", ")))
}

/// Options of `ssi`.
#[derive(Args)]
pub struct SsiOptions {
    /// .ll, .bc, .rs, .c, .cpp or .cl. Sources are compiled without optimisation, and brought into pruned SSA form first
    pub inputs: Vec<PathBuf>,
    /// Where live ranges are split: the name of a data-flow client (paper 4, Figure 5) or of a form; `list` prints all of them, without inputs
    #[arg(long, value_name = "NAME", value_parser = form)]
    pub strategy: Form,
    /// Only this function
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Print instead how many φs, σs and copies are added, and how long that takes, beside Singer's SSI form: sums over all functions;
    /// times are medians over 5 runs. The φs of SSA form itself are not counted
    #[arg(long)]
    pub stats: bool,
    /// With --stats: the same by function
    #[arg(long, requires = "stats")]
    pub by_function: bool,
    /// How to print; llvm: the module with its functions, in which only added φs can be seen
    #[arg(long, value_enum, default_value_t)]
    pub format: SsaFormat,
    /// Write to this file instead of standard output, which `-` stands for
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

/// How tables are printed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum TableFormat {
    /// For people.
    #[default]
    #[value(alias = "table")]
    Text,
    /// For documents.
    Markdown,
    /// For programs.
    Json,
}

/// Which variables count as holding a value when control enters a function.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum EntryChoice {
    /// All, as dominance frontiers assume.
    All,
    /// Only parameters: they are stored to their variables at the beginning, so no variable holds a value before.
    #[default]
    Parameters,
}
