//! Options of `analyze`, `explain`, `constant-time` and `lint`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use warpline::uniformity::facts::WorkGroup;
use warpline::uniformity::{Algorithm, Target};
use warpline_compile::loops::LoopAt;
use warpline_llvm::worker::LoadOptions;

use super::{CompilerOptions, Format};
use crate::findings::GateOptions;

/// How the results of an analysis are printed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum AnalysisFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
    /// As LLVM's `print<uniformity>`, without what other analyses know: LLVM's knows nothing of it.
    Llvm,
    /// Control-flow graphs for Graphviz.
    Dot,
    /// One HTML file: source, control flow and explanations side by side.
    Html,
    /// Divergent branches and loops for programs that collect findings: SARIF 2.1.0.
    Sarif,
    /// The same as annotations of lines, for jobs on GitHub.
    Github,
}

/// How findings are printed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum FindingFormat {
    /// For people.
    #[default]
    #[value(alias = "table")]
    Text,
    /// For programs.
    Json,
    /// For programs that collect findings: SARIF 2.1.0.
    Sarif,
    /// Annotations of lines, for jobs on GitHub.
    Github,
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

/// What the uniformity analysis assumes.
#[derive(Args)]
#[command(next_help_heading = "Assumptions")]
pub struct AssumptionOptions {
    /// Shapes of the parameters: uniform, varying, index, stride(N); as NAME=SHAPE or by position
    /// [default: the input's directive; a kernel's parameters as `vectorize` takes them; else varying]
    #[arg(long, value_name = "LIST")]
    pub args: Option<String>,
    /// Analyse one iteration of a loop, as `vectorize --loop` does: the one that begins in this line, or at this
    /// block, or all that are marked [default: those that are marked]
    #[arg(long = "loop", value_name = "LINE|BLOCK|marked", conflicts_with_all = ["args", "work_group"])]
    pub loops: Vec<LoopAt>,
    /// The rules that say what is a source of divergence: simd, amdgcn, nvptx or spirv
    /// [default: from the module's triple; simd for CPUs]
    #[arg(long, value_name = "NAME", value_parser = target)]
    pub target: Option<Target>,
    /// The size of a work-group in one to three dimensions, for kernels that do not state it
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = work_group)]
    pub work_group: Option<WorkGroup>,
    /// Do not use the results of data-flow analyses: constants, dead edges, ranges, equalities
    #[arg(long)]
    pub no_facts: bool,
    /// How joins of divergent branches are found: joins, or, for comparison only, strong-postdom or
    /// postdom (unsound)
    #[arg(long, value_name = "NAME", value_parser = algorithm, default_value = "joins")]
    pub algorithm: Algorithm,
}

/// Options of `analyze`.
#[derive(Args)]
#[command(after_help = "Examples:
  warpline analyze kernel.c
  warpline analyze kernel.cl --target amdgcn --work-group 256
  warpline analyze module.ll --function f --args x=varying,n=uniform
  warpline analyze kernel.c --cost=x86-64-v3
  warpline analyze kernel.rs --format html -o kernel.html
  warpline analyze --summary src/*.c
  warpline analyze kernels.cl --baseline known.json     exit code 1 for new divergence")]
pub struct AnalyzeOptions {
    /// .rs, .c, .cpp, .cl, .ll, .bc or .wl
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
    /// Only this function
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Print what each line is expected to cost as vector code, instead: of kernels and marked loops, for this CPU or
    /// another one. Text or JSON
    #[arg(long, value_name = "CPU", num_args = 0..=1, require_equals = true, default_missing_value = "native",
        conflicts_with_all = ["target", "work_group", "no_facts", "algorithm"])]
    pub cost: Option<String>,
    /// A line for each input only: how much of it is divergent. Text or JSON
    #[arg(long, conflicts_with = "cost")]
    pub summary: bool,
    /// With --cost: how often branches are taken, as `run --profile-out` counted it
    #[arg(long, value_name = "FILE", requires = "cost")]
    pub profile: Option<PathBuf>,
    /// What is assumed.
    #[command(flatten)]
    pub assume: AssumptionOptions,
    /// Which divergence is known.
    #[command(flatten)]
    pub gate: GateOptions,
    /// How to print
    #[arg(long, value_enum, default_value_t, help_heading = None)]
    pub format: AnalysisFormat,
    /// Write to this file instead of standard output (`-`)
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// What the compilers of sources are told.
    #[command(flatten)]
    pub compilers: CompilerOptions,
}

/// Options of `explain`.
#[derive(Args)]
#[command(group = clap::ArgGroup::new("subject").required(true))]
#[command(after_help = "Examples:
  warpline explain kernel.c --line 12
  warpline explain module.ll --function f --value %x
  warpline explain module.ll --value loop:for.body")]
pub struct ExplainOptions {
    /// .rs, .c, .cpp, .cl, .ll, .bc or .wl
    pub input: PathBuf,
    /// The function, by its name in the object file or in the source [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// The value, by LLVM's name or number: %x, %7. `block:NAME` is the branch at the end of a block,
    /// `loop:NAME` the loop with the header NAME
    #[arg(long, value_name = "%NAME", group = "subject")]
    pub value: Option<String>,
    /// All values and branches on this line of the function's source file
    #[arg(long, value_name = "N", group = "subject")]
    pub line: Option<u32>,
    /// What is assumed.
    #[command(flatten)]
    pub assume: AssumptionOptions,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// What the compilers of sources are told.
    #[command(flatten)]
    pub compilers: CompilerOptions,
}

/// Which form of code is judged for leaks.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
pub enum Level {
    /// As the front end writes it, with variables in registers: each branch of the source is one.
    Written,
    /// A module as it is.
    AsIs,
    /// After the simplifications by which kernels are vectorized.
    Simplified,
    /// After LLVM's -O1.
    O1,
    /// After LLVM's -O2.
    O2,
    /// After LLVM's -O3.
    O3,
}

impl Level {
    /// How an input is read for it.
    pub fn load_options(self, plain: LoadOptions) -> LoadOptions {
        let unoptimized = LoadOptions { simplify: Some(false), registers: true, ..plain.clone() };
        let optimized = |level| LoadOptions { optimize: Some(level), ..unoptimized.clone() };
        match self {
            Level::Written => unoptimized,
            Level::AsIs => LoadOptions { simplify: Some(false), ..plain },
            Level::Simplified => LoadOptions { simplify: Some(true), ..plain },
            Level::O1 => optimized(1),
            Level::O2 => optimized(2),
            Level::O3 => optimized(3),
        }
    }

    /// The same in words.
    pub fn describe(self) -> &'static str {
        match self {
            Level::Written => {
                "the source as it is written, without optimization (--level o2 and others judge more)"
            }
            Level::AsIs => "the module as it is",
            Level::Simplified => "the program after warpline's simplifications",
            Level::O1 => "the program after LLVM's -O1",
            Level::O2 => "the program after LLVM's -O2",
            Level::O3 => "the program after LLVM's -O3",
        }
    }
}

/// Options of `constant-time`.
#[derive(Args)]
#[command(after_help = "Exit code 1 if something leaks.

Examples:
  warpline constant-time compare.c --function compare --secret a,b
  warpline constant-time aes.c --function encrypt --secret 'ctx->key,*state' --format json
  warpline constant-time crypto.c --function 'crypto_*' --secret sk,'sign:seed' --public 'ctx->nonce'
  warpline constant-time annotated.c               functions with `//@ secret ctx->key` before them
  warpline constant-time rsa.c bignum.c --function rsa_private --secret 'key->d'")]
pub struct ConstantTimeOptions {
    /// .rs, .c, .cpp, .cl, .ll, .bc or .wl; several of C, C++ and LLVM are one program, in which calls are followed
    /// from one to the other
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// The functions, separated by commas; `*` in a name stands for anything, and functions without the secrets are
    /// left out then [default: those before which the source says what is secret; else the only one]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub function: Vec<String>,
    /// What is secret, separated by commas; everything else is public. Parameters by name or position: `key` is a
    /// value, or the memory that a pointer leads to (also written `*key`); `&key` is the pointer itself. Global variables.
    /// Members, `ctx->key`, `state.seed`; bytes, `*key[0..32]`; what functions return, `random()`. `f:key` is that of
    /// the function f alone [default: what the source says, `//@ secret ctx->key`]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub secret: Vec<String>,
    /// Memory that is public whatever is written to it, as ciphertext is; named in the same way (`//@ public out`)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub public: Vec<String>,
    /// Report also what leaks only if pointers that the function is given lead to memory that overlaps
    #[arg(long)]
    pub overlap: bool,
    /// Which form of the code is judged. What compilers make of branches and selections differs from one to the next
    /// [default: of sources, as they are written; of modules, as they are]
    #[arg(long, value_enum)]
    pub level: Option<Level>,
    /// Which leaks are known.
    #[command(flatten)]
    pub gate: GateOptions,
    /// How to print
    #[arg(long, value_enum, default_value_t, help_heading = None)]
    pub format: FindingFormat,
    /// Write to this file instead of standard output (`-`)
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// What the compilers of sources are told.
    #[command(flatten)]
    pub compilers: CompilerOptions,
}

/// Options of `lint`.
#[derive(Args)]
#[command(after_help = "Exit code 1 if an analysis finds something that should not be.

Examples:
  warpline lint --client list
  warpline lint parser.c --client null-pointers
  warpline lint server.c --client taint --sources recv:*1 --sinks system:0")]
pub struct LintOptions {
    /// .rs, .c, .cpp, .cl, .ll, .bc or .wl
    pub inputs: Vec<PathBuf>,
    /// The data-flow analysis; `list` prints all of them
    #[arg(long, value_name = "NAME")]
    pub client: Option<String>,
    /// Only this function
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Solve with a state at each program point instead of facts about split live ranges; the answer is the
    /// same
    #[arg(long)]
    pub dense: bool,
    /// Print also how much work solving was
    #[arg(long)]
    pub stats: bool,
    /// For taint: where data from outside enters, instead of C's and Rust's usual functions. Entries are NAME,
    /// NAME:ret, NAME:N for argument N from 0, NAME:N+ for it and all that follow, with a `*` before ret or N
    /// for each pointer that is followed: read:*1
    #[arg(long, value_name = "LIST")]
    pub sources: Option<String>,
    /// For taint: where such data must not arrive, instead of commands, libraries, format strings and sizes
    #[arg(long, value_name = "LIST")]
    pub sinks: Option<String>,
    /// For taint: what makes data clean. NAME: the result; NAME:N: argument N where the result is true; NAME:*N:
    /// what argument N points to after the call; the word compare: comparisons with constants
    #[arg(long, value_name = "LIST")]
    pub sanitizers: Option<String>,
    /// So many inputs are analysed at once [default: as many as there are CPUs]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Write to this file instead of standard output (`-`)
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// What the compilers of sources are told.
    #[command(flatten)]
    pub compilers: CompilerOptions,
}
