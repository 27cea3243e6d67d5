//! Options.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use warpline::uniformity::Target;
use warpline::uniformity::facts::WorkGroup;
use warpline_cli::cli::{BosccMode, Format, ProcessOptions, TableFormat, target, work_group};
use warpline_compile::spec::Width;

/// Measures what papers measure of what is built here, and kernels.
#[derive(Parser)]
#[command(name = "warpline-bench", version, about, max_term_width = 80)]
pub(crate) struct Cli {
    /// What to measure.
    #[command(subcommand)]
    pub bench: Bench,
    /// What holds for every measurement.
    #[command(flatten)]
    pub process: ProcessOptions,
}

/// What can be measured.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// Uniformity by joins, postdom and strong-postdom: counts and times as in paper 1, Figure 4. Without inputs:
    /// which branches decide by earlier criteria, on the graphs of Figure 5
    Uniformity(BenchUniformityOptions),
    /// What conditions, constants and ranges add to the uniformity analysis: values, branches and loops that are
    /// divergent without and with
    Products(BenchProductsOptions),
    /// φ placement: counts and times as in paper 5, Tables 2 to 5, with the paper's figures beside them
    Ssa(BenchSsaOptions),
    /// Splitting of live ranges: times, growth and share of LLVM's O1 as in paper 4, Figures 11 to 13, with the
    /// paper's figures beside them
    Ssi(BenchSsiOptions),
    /// Vectorization of kernels in many shapes, from small to 50,000 blocks: how time and memory grow, stage by stage
    Linearize(BenchLinearizeOptions),
    /// The kernels of paper 3, and others from practice: scalar, if-converted, partially linearized and with tests
    /// that skip code, in one run, checked against the scalar program, with the share of lanes that are active and
    /// the columns of the paper's Table 1
    Kernels(BenchKernelsOptions),
    /// Ordinary functions as people write them: what vectorizing gains over scalar code and over the vectorizers of
    /// clang and gcc, how far the chosen number of lanes is from the best one, and whether results are right
    Survey(BenchSurveyOptions),
    /// What operations cost, as tables that cost models read: on this machine, or by LLVM's model of a CPU
    Machine(BenchMachineOptions),
    /// Kernels that run over work-groups, beside an OpenCL library (pocl) on one thread, if there is one
    Groups(BenchGroupsOptions),
}

/// Options of `uniformity`.
#[derive(Args)]
pub(crate) struct BenchUniformityOptions {
    /// .ll, .bc, .rs, .c, .cpp or .cl; one line of the table for each
    pub inputs: Vec<PathBuf>,
    /// Whose rules say what is a source of divergence [default: those of the input's triple]
    #[arg(long, value_name = "NAME", value_parser = target)]
    pub target: Option<Target>,
    /// How often each function is analysed by each algorithm; times are medians
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = runs)]
    pub runs: usize,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Options of `products`.
#[derive(Args)]
pub(crate) struct BenchProductsOptions {
    /// .ll, .bc, .rs, .c, .cpp or .cl; a folder stands for all .ll and .bc in it
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
    /// One line for each program instead of each file: files whose names agree up to the first `-`
    #[arg(long)]
    pub by_program: bool,
    /// Whose rules say what is a source of divergence [default: those of the input's triple]
    #[arg(long, value_name = "NAME", value_parser = target)]
    pub target: Option<Target>,
    /// How many work-items a work-group has, for kernels that do not say it themselves: a fact like the others
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = work_group)]
    pub work_group: Option<WorkGroup>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: TableFormat,
}

/// Options of `ssa`.
#[derive(Args)]
pub(crate) struct BenchSsaOptions {
    /// .ll, .bc, .rs, .c, .cpp or .cl, compiled without optimisation; a folder stands for all .ll and .bc in it
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
    /// One line of Tables 2 to 4 for each program instead of each file: files whose names agree up to the first `-`
    #[arg(long)]
    pub by_program: bool,
    /// How many lines Table 5 has at most, the largest files and functions first
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub rows: usize,
    /// How many samples are taken of each function by each method; times are medians
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = runs)]
    pub runs: usize,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: TableFormat,
}

/// Options of `ssi`.
#[derive(Args)]
pub(crate) struct BenchSsiOptions {
    /// .ll, .bc, .rs, .c, .cpp or .cl, compiled without optimisation; a folder stands for all .ll and .bc in it
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
    /// One line for each program instead of each file: files whose names agree up to the first `-`
    #[arg(long)]
    pub by_program: bool,
    /// How many samples are taken of each function by each strategy; times are medians
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = runs)]
    pub runs: usize,
    /// How often LLVM's O1 is run on each module; the time is the median. 0: not at all
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub o1_runs: usize,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: TableFormat,
}

/// Options of `linearize`.
#[derive(Args)]
pub(crate) struct BenchLinearizeOptions {
    /// Only shapes with these names
    #[arg(long = "shape", value_name = "NAME", value_parser = shape_of_kernel)]
    pub shapes: Vec<String>,
    /// How many blocks, about [default: 3125 to 50000, doubled each time]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub sizes: Vec<usize>,
    /// A shape is not tried with more blocks when one measurement took longer than this
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub patience: u64,
    /// How often each is vectorized; times are medians
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = runs)]
    pub runs: usize,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: TableFormat,
}

/// Options of `kernels`.
#[derive(Args)]
pub(crate) struct BenchKernelsOptions {
    /// Which kernels, with their data set if it is not the usual one: mpc, nn/sorted [default: all]
    pub names: Vec<String>,
    /// The CPUs to make code for, by LLVM's names
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_values = ["x86-64-v3", "x86-64-v4"])]
    pub cpu: Vec<String>,
    /// The number of lanes, 1 to 64, or auto [default: the kernel's directive, or auto]
    #[arg(long, value_name = "N")]
    pub width: Option<Width>,
    /// An `ispc`, to compare with: the best of its targets for each CPU, on kernels that are written for it, too
    #[arg(long, value_name = "PATH")]
    pub ispc: Option<PathBuf>,
    /// Where branches skip code without an active lane, in the variant that has them
    #[arg(long, value_enum, default_value = "auto")]
    pub boscc: BosccMode,
    /// How much data: small, usual, or as much as the paper has
    #[arg(long, value_enum, default_value_t)]
    pub size: KernelSize,
    /// Every data set of every kernel, not the usual one alone
    #[arg(long)]
    pub all_data: bool,
    /// What random data begin with
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How long a kernel is measured on each CPU; times are medians
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub time: f64,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: KernelsFormat,
    /// Where to write the result [default: standard output]
    #[arg(short, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

/// How much data kernels run on.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum KernelSize {
    /// About a millisecond for each run.
    Small,
    /// About 50 milliseconds.
    #[default]
    Usual,
    /// What the paper has.
    Paper,
}

/// How the measurements of kernels are printed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum KernelsFormat {
    /// Tables for people.
    #[default]
    #[value(alias = "text")]
    Table,
    /// The same in Markdown.
    Markdown,
    /// For programs: a list with an object for each kernel and CPU.
    Json,
    /// A chart of the speed-ups.
    Svg,
}

/// Options of `survey`.
#[derive(Args)]
pub(crate) struct BenchSurveyOptions {
    /// Files with a header that describes the function's arguments; a folder stands for all .c, .rs and .cl in it
    #[arg(default_value = "kernels/survey")]
    pub inputs: Vec<PathBuf>,
    /// Only rows whose names contain this; the option repeats
    #[arg(long, value_name = "PATTERN")]
    pub filter: Vec<String>,
    /// The CPUs to make code for [default: the levels of x86-64 that this machine has]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub cpu: Vec<String>,
    /// Which numbers of lanes are tried besides the chosen one
    #[arg(long, value_enum, default_value_t)]
    pub widths: SurveyWidths,
    /// How many samples are taken of each variant, in turns; figures are medians
    #[arg(long, value_name = "N", default_value_t = 21, value_parser = runs)]
    pub rounds: usize,
    /// What random data begin with
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Another program `warpline` to measure than that of this build
    #[arg(long, value_name = "PATH")]
    pub warpline: Option<PathBuf>,
    /// Keep the objects in this folder
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Print what an earlier run with `--format json` measured, and measure nothing; the option repeats
    #[arg(long, value_name = "PATH")]
    pub from: Vec<PathBuf>,
    /// Print the names of the rows, and measure nothing
    #[arg(long)]
    pub list: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: SurveyFormat,
    /// Where to write the result [default: standard output]
    #[arg(short, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

/// Options of `groups`.
#[derive(Args)]
pub(crate) struct BenchGroupsOptions {
    /// Files in OpenCL C whose kernels take the arguments of those in `filetests/groups`
    #[arg(default_values = ["filetests/groups/kernels.cl", "filetests/groups/suites.cl", "filetests/groups/ordinary.cl", "filetests/groups/foreign.cl"])]
    pub sources: Vec<PathBuf>,
    /// How many work-items a group has
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..=256))]
    pub local: u64,
    /// So many milliseconds are measured at least: of a range of up to a million work-items, and where that takes less,
    /// of several runs
    #[arg(long, value_name = "MS", default_value_t = 5.0)]
    pub least: f64,
    /// Where to write the result [default: standard output]
    #[arg(short, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

/// Options of `machine`.
#[derive(Args)]
pub(crate) struct BenchMachineOptions {
    /// What `llvm-mca` says of this CPU, one of those with tables, instead of measuring this machine
    #[arg(long, value_name = "CPU")]
    pub model: Option<String>,
    /// Only these operations, by their names in tables
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub only: Vec<String>,
    /// How often each loop is measured; the least time counts
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = runs)]
    pub rounds: usize,
    /// Where to write the result [default: standard output]
    #[arg(short, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

/// Which numbers of lanes a survey tries.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum SurveyWidths {
    /// The one that is chosen.
    Auto,
    /// All powers of two from 2 to 64 as well.
    #[default]
    All,
}

/// How a survey is printed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum SurveyFormat {
    /// Tables and lists in Markdown.
    #[default]
    Markdown,
    /// For programs: summaries, what is wrong, and an object for each row and CPU.
    Json,
}

/// The name of a shape of [`warpline_testkit::growing_kernels`].
fn shape_of_kernel(name: &str) -> Result<String, String> {
    let names = warpline_testkit::growing_kernels::SHAPES.map(|(known, _)| known);
    match names.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(format!("the shapes are: {}", names.join(", "))),
    }
}

fn runs(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|n| (1..=10_000).contains(n));
    number.ok_or_else(|| format!("`{text}` is no number of runs from 1 to 10000"))
}
