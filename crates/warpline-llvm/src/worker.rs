//! Work on input that is not trusted, in a process of its own.
//!
//! LLVM ends its process on some inputs (`report_fatal_error`, assertions, stack overflow). So everything that parses
//! a user's file or generates code for it runs in a *worker*: the program starts itself again with the hidden
//! argument `ARGUMENT` (behind it stands the folder of the Rust toolchain, so that one command asks for that once),
//! writes a job to its standard input, and reads the outcome from its standard output. A worker that dies is an error
//! that names the input. The parent only ever parses bitcode that a worker has accepted, verified and written.
//!
//! A program that uses this module calls [`serve_if_asked`] first of all in `main`.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Instant;

use log::debug;
use serde::{Deserialize, Serialize};
use warpline_ir::group_functions::is_gpu;

use crate::child;
use crate::error::{Error, Result, did_you_mean};
use crate::flags::CompilerFlags;
use crate::frontend::{FrontEnd, compile};
use crate::input_kind::InputKind;
use crate::module::{Module, Severity};
use crate::nesting::WITHOUT_LOOPS;
use crate::recent::Recent;
use crate::target::{Cpu, Effort, Emit, TargetMachine, host_triple, is_host};
use crate::tools;
pub use crate::unroll::Unroll;

/// The first argument of a process that is to serve one job.
pub(crate) const ARGUMENT: &str = concat!("__worker-", env!("CARGO_PKG_VERSION"));

/// Who does the jobs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Worker {
    /// Another process of the program that this is; it calls [`serve_if_asked`] first of all in `main`.
    ThisProgram,
    /// A process of this program, of the same version: `warpline`, or another one that calls [`serve_if_asked`].
    Program(PathBuf),
    /// This process. What ends LLVM ends it, too, and memory and time are not limited. What LLVM prints cannot be had,
    /// so no CPU but `native` can be named.
    ThisProcess,
}

static WORKER: RwLock<Worker> = RwLock::new(Worker::ThisProgram);

/// Says who does the jobs of this process from now on. Libraries that others load have no `main`, and name one.
pub fn set(worker: Worker) {
    *WORKER.write().unwrap_or_else(PoisonError::into_inner) = worker;
}

/// How to read an input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadOptions {
    /// Whether to run the simplification pipeline; by default for sources, not for IR.
    pub simplify: Option<bool>,
    /// Whether what is on the stack is split into parts that can be values. For analyses of a program as it was written.
    pub registers: bool,
    /// Whether loads that nothing lies between are merged then, as well; addresses may forget of which member of a
    /// structure they are.
    pub merged_loads: bool,
    /// The level of LLVM's optimizations that are run at the end, 1 to 3. For analyses of what compilers make of a program.
    pub optimize: Option<u8>,
    /// Whether jumps are threaded through branches that other branches have decided already, after simplification.
    /// Loops over iterators then have one exit. It duplicates code, so kernels are spared it.
    pub thread_jumps: bool,
    /// Which loops of few iterations are unrolled, after simplification.
    pub unroll: Unroll,
    /// The target: compilers make code for it, a module that states no target gets it, and one that states another is
    /// refused. By default this machine, or what a module states. rustc, which has no targets for OpenCL's
    /// work-items, takes no notice of GPUs.
    pub triple: Option<String>,
    /// For what clang compiles: whether it may fuse multiplications and additions of one expression, as it does by
    /// default. What comes of it depends on whether the CPU that code is made for has instructions for that.
    pub contract: bool,
    /// What the user tells the compilers of sources.
    pub flags: CompilerFlags,
    /// Whether code for a CPU is to be made. A module for SPIR or SPIR-V becomes one for the target; otherwise it stays
    /// what it is, work-items of a GPU. Functions that yield a second result through a pointer are inlined.
    pub for_cpu: bool,
    /// Whether kernels in Rust get functions with parameters that need no knowledge of types; nothing else is kept
    /// then.
    pub shims: bool,
    /// For a module that cargo made of a crate: the modules of the crates that it depends on. Only kernels and what
    /// they need are kept.
    pub package: Option<Vec<OsString>>,
    /// Then, instead of kernels, the functions of this source are kept.
    pub source: Option<PathBuf>,
}

/// The passes for [`LoadOptions::registers`]: they do not change control flow, remove a check, or forget of which
/// member of a structure an address is.
const REGISTERS: &str = "function(sroa<preserve-cfg>)";

/// The passes for [`LoadOptions::merged_loads`]: none of them changes control flow or removes a check.
const MERGED_LOADS: &str = "function(early-cse<memssa>)";

/// The passes for [`LoadOptions::thread_jumps`].
const THREAD_JUMPS: &str =
    "function(jump-threading,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg)";

/// What to make of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Output {
    /// LLVM's text.
    Text,
    /// LLVM's bitcode.
    Bitcode,
    /// LLVM's bitcode in the form that machine code is made from, for [`codegen_linked`].
    Prepared,
    /// Assembly text.
    Assembly,
    /// A relocatable object file.
    Object,
}

/// How to optimise and translate a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodegenOptions {
    /// The CPU to translate for; its attributes go on every function.
    pub cpu: Cpu,
    /// The widest vectors to use, in bits; by default LLVM's choice for the CPU.
    pub vector_bits: Option<u32>,
    /// Functions that keep LLVM's choice all the same, by name.
    pub usual_vectors: Vec<String>,
    /// The functions that others may call, by name; all else that the module defines becomes internal, and goes where
    /// nothing uses it. `None`: everything stays visible.
    pub visible: Option<Vec<String>>,
    /// Passes in the notation of `opt -passes=`; empty for none. Names of an input must not get into it.
    pub passes: String,
    /// Whether pipelines by level vectorize straight-line code, as compilers of scalar programs do.
    pub slp: bool,
    /// How hard the code generator tries.
    pub effort: Effort,
    /// Whether functions that this process does not have get a body that reports them, for running in place.
    pub define_missing: bool,
    /// Whether lane operations get their scalar meaning.
    pub define_lane_operations: bool,
    /// What a program that panics says before it ends, for code that is linked with Rust: Rust's own functions for
    /// panics unwind, and have other names with each compiler.
    pub panic: Option<String>,
    /// The kernel of which panics are reported ([`Module::report_panics`]), for functions that may be left by
    /// unwinding.
    pub reports: Option<String>,
    /// Whether what is for debuggers is left out.
    pub strip: bool,
    /// Whether functions say themselves which CPU they are for, and masks have their form already.
    pub prepared: bool,
    /// What to make.
    pub output: Output,
}

impl CodegenOptions {
    /// Optimise with `-O3` for `cpu` and make `output`.
    pub fn new(cpu: Cpu, output: Output) -> Self {
        Self {
            cpu,
            vector_bits: None,
            usual_vectors: Vec::new(),
            visible: None,
            passes: "default<O3>".to_owned(),
            slp: false,
            effort: Effort::default(),
            define_missing: false,
            define_lane_operations: false,
            panic: None,
            reports: None,
            strip: false,
            prepared: false,
            output,
        }
    }
}

/// An input that was read, verified and perhaps simplified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// The module.
    pub bitcode: Vec<u8>,
    /// What the compiler or LLVM had to say; empty for nothing.
    pub warnings: String,
    /// The files that a source is made of, if they were asked for.
    pub dependencies: Vec<PathBuf>,
    /// Those that are the user's own, headers included from anywhere, as clang says; empty where nobody says.
    pub own: Vec<PathBuf>,
}

/// A piece of work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Job {
    // A path need not be text.
    Load { path: OsString, options: LoadOptions },
    Codegen { name: String, parts: Vec<Vec<u8>>, options: CodegenOptions },
    CpuNames { triple: String },
    PrintUniformity { name: String, bitcode: Vec<u8> },
}

impl Job {
    /// What is done, for the log.
    fn what(&self) -> String {
        let verb = match self {
            Self::Load { .. } => "reading",
            Self::Codegen { .. } => "making code of",
            Self::CpuNames { .. } => "the CPUs of",
            Self::PrintUniformity { .. } => "LLVM's analysis of",
        };
        format!("{verb} {}", self.input())
    }

    /// Whether LLVM itself prints the outcome.
    fn is_printed(&self) -> bool {
        matches!(self, Self::CpuNames { .. } | Self::PrintUniformity { .. })
    }

    /// What the job is about, for messages.
    fn input(&self) -> String {
        match self {
            Self::Load { path, .. } => Path::new(path).display().to_string(),
            Self::Codegen { name, .. } | Self::PrintUniformity { name, .. } => name.clone(),
            Self::CpuNames { triple } => format!("target `{triple}`"),
        }
    }
}

/// Whether inputs are taken not to change while this process runs.
static INPUTS_STAY: AtomicBool = AtomicBool::new(false);

/// So many inputs are kept by a thread that reads them again.
const KEPT: usize = 2;

thread_local! {
    static RECENT: RefCell<Recent<(PathBuf, LoadOptions), Loaded>> = const { RefCell::new(Recent::new(KEPT)) };
}

/// Says that inputs and what they include do not change while this process runs: what was read is not read again. For
/// programs that do one command; others may see a file change.
pub fn inputs_stay() {
    INPUTS_STAY.store(true, Ordering::Relaxed);
}

/// Reads an input file of any kind in a worker.
///
/// # Errors
/// [`Error::WorkerDied`], or [`Error::Worker`] with the text of what [`load_in_process`] reported.
pub fn load(path: &Path, options: &LoadOptions) -> Result<Loaded> {
    // Cheap refusals need no process.
    InputKind::of(path)?;
    let found = std::fs::metadata(path).map_err(|error| Error::io("cannot read", path, &error))?;
    if !found.is_file() {
        // Inputs are read more than once, and a device need not end.
        let reason = std::io::Error::other("it is no regular file");
        return Err(Error::io("cannot read", path, &reason));
    }
    std::fs::File::open(path).map_err(|error| Error::io("cannot read", path, &error))?;
    if !INPUTS_STAY.load(Ordering::Relaxed) {
        return read(path, options);
    }
    let key = (path.to_owned(), options.clone());
    if let Some(loaded) = RECENT.with_borrow(|recent| recent.find(&key)) {
        return Ok(loaded);
    }
    let loaded = read(path, options)?;
    // What there was to say is said once.
    let silent = Loaded { warnings: String::new(), ..loaded.clone() };
    RECENT.with_borrow_mut(|recent| recent.keep(key, silent));
    Ok(loaded)
}

/// Has a worker read an input file.
fn read(path: &Path, options: &LoadOptions) -> Result<Loaded> {
    let Answer { bytes, words, files, own } =
        run(&Job::Load { path: path.into(), options: options.clone() })?;
    let paths = |files: Vec<OsString>| files.into_iter().map(PathBuf::from).collect();
    Ok(Loaded { bitcode: bytes, warnings: words, dependencies: paths(files), own: paths(own) })
}

/// Reads an input file of any kind and parses it here. The module, and what else came of it.
///
/// # Errors
/// As [`load`].
pub fn load_module(path: &Path, options: &LoadOptions) -> Result<(Module, Loaded)> {
    let mut loaded = load(path, options)?;
    let module = Module::parse(&std::mem::take(&mut loaded.bitcode), &path.display().to_string())?;
    Ok((module, loaded))
}

/// Optimises and translates a module in a worker. The module is left as it is.
///
/// # Errors
/// [`Error::WorkerDied`], or [`Error::Worker`] with the text of what [`codegen_in_process`] reported.
pub fn codegen(module: &Module, options: &CodegenOptions) -> Result<Vec<u8>> {
    let job = Job::Codegen {
        name: module.name().to_owned(),
        parts: vec![module.to_bitcode()],
        options: options.clone(),
    };
    run(&job).map(|answer| answer.bytes)
}

/// Translates modules that are [prepared](Output::Prepared) as one, in a worker. Functions stay what they are: for
/// the CPU that they say, and optimised as far as they are unless `options` name passes.
///
/// # Errors
/// As [`codegen`].
pub fn codegen_linked(parts: Vec<Vec<u8>>, name: &str, options: &CodegenOptions) -> Result<Vec<u8>> {
    let job = Job::Codegen {
        name: name.to_owned(),
        parts,
        options: CodegenOptions { prepared: true, ..options.clone() },
    };
    run(&job).map(|answer| answer.bytes)
}

/// The names of the CPUs that the loaded library knows for a triple (empty: this machine), sorted.
///
/// # Errors
/// As [`codegen`].
pub fn cpu_names(triple: &str) -> Result<Vec<String>> {
    let triple = if triple.is_empty() { host_triple()? } else { triple.to_owned() };
    // LLVM prints the list to standard error when the CPU is called `help`: the C API has no other way.
    let printed = run(&Job::CpuNames { triple })?.words;
    let mut names: Vec<String> = printed
        .lines()
        .skip_while(|line| !line.starts_with("Available CPUs"))
        .take_while(|line| !line.starts_with("Available features"))
        .filter_map(|line| line.strip_prefix("  ").and_then(|line| line.split_once(" - ")))
        .map(|(name, _)| name.trim().to_owned())
        .collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// The CPU that a user names: `native`, or a name that the library knows for the triple (empty: this machine).
///
/// # Errors
/// [`Error::UnknownCpu`] with a suggestion, or as [`codegen`].
pub fn find_cpu(name: &str, triple: &str) -> Result<Cpu> {
    if name == "native" {
        if is_host(triple)? {
            return Cpu::native();
        }
        let hint =
            ": this machine is no such target, so say which CPU with --cpu, such as `generic`".to_owned();
        return Err(Error::UnknownCpu { cpu: name.to_owned(), triple: triple.to_owned(), hint });
    }
    let names = cpu_names(triple)?;
    if names.is_empty() || names.iter().any(|known| known == name) {
        return Ok(Cpu::named(name));
    }
    let triple = if triple.is_empty() { host_triple()? } else { triple.to_owned() };
    let mut hint = did_you_mean(name, names.iter().map(String::as_str).chain(["native"]));
    if hint.is_empty() {
        hint = format!("; known are native, {}", names.join(", "));
    }
    Err(Error::UnknownCpu { cpu: name.to_owned(), triple, hint })
}

/// What the loaded LLVM's own `print<uniformity>` prints about a module, with the cost model of the module's triple, as
/// `opt -passes='print<uniformity>'` does.
///
/// # Errors
/// As [`codegen`]. On some modules LLVM's analysis ends the process ([`Error::WorkerDied`]).
pub fn print_uniformity(module: &Module) -> Result<String> {
    let job = Job::PrintUniformity { name: module.name().to_owned(), bitcode: module.to_bitcode() };
    // LLVM prints to standard error: the C API has no other way.
    run(&job).map(|answer| answer.words)
}

/// What [`load`] does, without a worker: for input that is trusted.
///
/// # Errors
/// Those of the compiler ([`compile`]) or of reading, verifying and simplifying a [`Module`].
pub fn load_in_process(path: &Path, options: &LoadOptions) -> Result<Loaded> {
    let kind = InputKind::of(path)?;
    let name = path.display().to_string();
    let mut own = Vec::new();
    let (mut module, mut warnings, dependencies) = if kind.is_source() {
        let LoadOptions { contract, flags, shims, .. } = options;
        let front_end =
            FrontEnd { triple: options.triple.as_deref(), contract: *contract, flags, shims: *shims };
        let compiled = compile(path, front_end)?;
        let mut module =
            Module::parse(&compiled.bitcode, &name).map_err(|error| newer_compiler(kind, error))?;
        if *shims {
            module.keep(&module.kernels(), &[])?;
        }
        own = compiled.own;
        (module, compiled.warnings, compiled.dependencies)
    } else {
        let mut module = Module::read(path)?;
        if let Some(triple) = &options.triple
            && !(options.for_cpu && module.is_for_spir())
        {
            module.settle_target(triple)?;
        }
        if let Some(parts) = &options.package {
            let kept = match &options.source {
                Some(source) => module.functions_of(source),
                None => module.kernels(),
            };
            module.keep(&kept, parts)?;
        }
        (module, String::new(), vec![path.to_owned()])
    };
    module.verify()?;
    let from_spir = options.for_cpu && module.is_for_spir();
    if from_spir {
        module.check_spir()?;
    }
    let of_opencl = from_spir || module.is_of_opencl_for_cpu();
    if of_opencl {
        let machine = if kind.is_source() { options.flags.for_machine()? } else { Vec::new() };
        module.define_opencl_builtins(&machine)?;
    }
    if from_spir {
        module = module.for_cpu(options.triple.as_deref())?;
    }
    if of_opencl {
        module.print_by_the_c_library();
    }
    module.settle_data_layout();
    module.mangle_work_item_functions();
    if options.for_cpu {
        module.define_second_results()?;
    }
    if options.simplify.unwrap_or(kind.is_source()) {
        if options.thread_jumps {
            module.simplify_for_loops()?;
            module.optimise(THREAD_JUMPS, None)?;
        } else {
            module.simplify()?;
        }
        if !is_gpu(&module.triple()) {
            module.unroll_short_loops(&options.unroll)?;
        }
    } else {
        module.mark_lane_operations();
        module.normalise_calling_conventions();
    }
    if options.registers {
        // What clang leaves a scope by is no branch of the program's.
        module.thread_cleanups();
        module.optimise(REGISTERS, None)?;
    }
    if options.merged_loads {
        module.optimise(MERGED_LOADS, None)?;
    }
    if let Some(level) = options.optimize {
        module.optimise(&format!("default<O{}>", level.clamp(1, 3)), None)?;
    }
    for diagnostic in module.take_diagnostics() {
        if diagnostic.severity != Severity::Note {
            warnings.push_str(&diagnostic.message);
            warnings.push('\n');
        }
    }
    Ok(Loaded { bitcode: module.to_bitcode(), warnings, dependencies, own })
}

/// What a compiler has written can fail to parse only because its LLVM is newer than the loaded one.
fn newer_compiler(kind: InputKind, error: Error) -> Error {
    match error {
        Error::Parse { input, version, message } => {
            let remedy = if kind == InputKind::Rust {
                "the LLVM of the Rust toolchain reads what its rustc writes: unset WARPLINE_LLVM"
            } else {
                "set CLANG to a clang that is not newer than this LLVM, or WARPLINE_LLVM to a newer LLVM"
            };
            Error::Parse { input, version, message: format!("{message}\n{remedy}") }
        }
        other => other,
    }
}

/// What [`codegen`] does, without a worker: for modules that are trusted.
///
/// # Errors
/// Those of parsing, verifying and optimising a [`Module`] and of [`TargetMachine`].
pub fn codegen_in_process(bitcode: &[u8], name: &str, options: &CodegenOptions) -> Result<Vec<u8>> {
    translate(Module::parse(bitcode, name)?, options)
}

/// The same for modules that are to be linked first.
fn codegen_parts(parts: &[Vec<u8>], name: &str, options: &CodegenOptions) -> Result<Vec<u8>> {
    let (first, others) = parts.split_first().map_or((&[][..], &[][..]), |(first, others)| (first, others));
    let mut module = Module::parse(first, name)?;
    for other in others {
        module.link(other, name)?;
    }
    translate(module, options)
}

/// What the verifier says of a module that was valid when it was read.
fn internal(error: Error) -> Error {
    Error::Internal { message: error.to_string() }
}

fn translate(mut module: Module, options: &CodegenOptions) -> Result<Vec<u8>> {
    module.verify().map_err(internal)?;
    let deep = module.has_deep_nest();
    let effort = if deep { Effort::Least } else { options.effort };
    let machine = TargetMachine::with_effort(&module.triple(), &options.cpu, effort)?;
    module.set_target(&machine)?;
    if options.define_lane_operations {
        module.define_scalar_lane_operations();
    }
    if options.strip {
        module.strip_debug_info();
    }
    if let Some(kernel) = &options.reports {
        module.set_unwinding(true);
        module.define_report(kernel);
    }
    if let Some(message) = &options.panic {
        module.define_panics(message);
    }
    if !options.prepared {
        module.set_cpu(&options.cpu, options.vector_bits, &options.usual_vectors);
    }
    if let Some(visible) = &options.visible {
        module.internalize(visible);
        module.optimise("globaldce", Some(&machine))?;
    }
    if !options.passes.is_empty() {
        let passes = if deep { WITHOUT_LOOPS } else { &options.passes };
        module.optimise_with(passes, Some(&machine), options.slp)?;
    }
    if options.define_missing {
        module.define_missing();
    }
    let for_code = matches!(options.output, Output::Prepared | Output::Assembly | Output::Object);
    if for_code && !options.prepared {
        module.fit_masks(&machine, options.vector_bits)?;
        module.split_wide_accesses(&machine, options.vector_bits)?;
        if let Some(bits) = options.vector_bits {
            module.relax_stacks(bits);
        }
        module.guard_mask_reads(&machine)?;
        module.double_bytes_in_pairs(&machine)?;
    }
    module.verify().map_err(internal)?;
    match options.output {
        Output::Text => Ok(module.to_text().into_bytes()),
        Output::Bitcode | Output::Prepared => Ok(module.to_bitcode()),
        Output::Assembly => machine.emit(&module, Emit::Assembly),
        Output::Object => machine.emit(&module, Emit::Object),
    }
}

/// Serves one job and ends the process, if that is what the process was started for.
pub fn serve_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|argument| argument == ARGUMENT) {
        if let Some(sysroot) = arguments.next() {
            tools::set_sysroot(sysroot.into());
        }
        std::process::exit(serve());
    }
}

/// Reads a job, does it, writes the outcome; returns the exit code.
fn serve() -> i32 {
    let mut bytes = Vec::new();
    if std::io::stdin().lock().read_to_end(&mut bytes).is_err() {
        return 2;
    }
    let Ok(job) = postcard::from_bytes::<Job>(&bytes) else {
        eprintln!("error: `{ARGUMENT}` is for the program's own use");
        return 2;
    };
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = std::panic::catch_unwind(|| do_job(job)).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned();
        Err(Error::Internal { message: words })
    });
    let Ok(reply) = postcard::to_extend(&Reply::of(outcome), REPLY.to_vec()) else { return 2 };
    let mut stdout = std::io::stdout().lock();
    i32::from(stdout.write_all(&reply).and_then(|()| stdout.flush()).is_err()) * 2
}

/// What answers a job.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Answer {
    /// What was made.
    bytes: Vec<u8>,
    /// What there is to say.
    words: String,
    /// The files that were read.
    files: Vec<OsString>,
    /// Those that are the user's own.
    own: Vec<OsString>,
}

/// Does a job here.
fn do_job(job: Job) -> Result<Answer> {
    match job {
        Job::Load { path, options } => {
            let Loaded { bitcode, warnings, dependencies, own } =
                load_in_process(Path::new(&path), &options)?;
            let names = |paths: Vec<PathBuf>| paths.into_iter().map(PathBuf::into_os_string).collect();
            Ok(Answer { bytes: bitcode, words: warnings, files: names(dependencies), own: names(own) })
        }
        Job::Codegen { name, parts, options } => {
            codegen_parts(&parts, &name, &options).map(|bytes| Answer { bytes, ..Answer::default() })
        }
        Job::CpuNames { triple } => {
            TargetMachine::new(&triple, &Cpu::named("help")).map(|_| Answer::default())
        }
        Job::PrintUniformity { name, bitcode } => Module::parse(&bitcode, &name)
            .and_then(|mut module| {
                let machine = TargetMachine::new(&module.triple(), &Cpu::named(""))?;
                module.optimise("print<uniformity>", Some(&machine))
            })
            .map(|()| Answer::default()),
    }
}

/// Has a worker do a job. Where LLVM itself prints the outcome, the words are what it printed.
fn run(job: &Job) -> Result<Answer> {
    let worker = WORKER.read().unwrap_or_else(PoisonError::into_inner).clone();
    let program = match worker {
        Worker::ThisProcess if job.is_printed() => {
            let message =
                format!("{}: LLVM prints it, for which a worker is needed that is a program", job.what());
            return Err(Error::Worker { message });
        }
        Worker::ThisProcess => return do_job(job.clone()),
        Worker::Program(path) => path,
        Worker::ThisProgram => {
            std::env::current_exe().map_err(|error| Error::io("cannot find", "this program", &error))?
        }
    };
    let mut command = Command::new(&program);
    command
        .arg(ARGUMENT)
        .args(tools::sysroot().ok())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    child::bind(&mut command);
    let begun = Instant::now();
    let asked = postcard::to_stdvec(job)
        .map_err(|error| Error::Internal { message: format!("a job cannot be passed on: {error}") })?;
    let mut child = command.spawn().map_err(|error| Error::io("cannot start", &program, &error))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A worker that dies before it has read everything is noticed below.
        let _ = stdin.write_all(&asked);
    }
    let finished =
        child.wait_with_output().map_err(|error| Error::io("cannot wait for", &program, &error))?;
    debug!("worker for {}: {} after {:?}", job.what(), finished.status, begun.elapsed());
    let printed = String::from_utf8_lossy(&finished.stderr).into_owned();
    let died = |how: String| Error::WorkerDied { input: job.input(), how, output: printed.clone() };
    if !finished.status.success() {
        return Err(died(describe(finished.status, &printed)));
    }
    let reply = Reply::find(&finished.stdout).ok_or_else(|| died("its reply was cut off".to_owned()))?;
    let mut answer = reply.outcome()?;
    if job.is_printed() {
        answer.words = printed;
    }
    Ok(answer)
}

/// How a process ended, in words.
fn describe(status: ExitStatus, printed: &str) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    let memory = child::memory();
    let out_of_memory = ["out of memory", "memory allocation of", "bad_alloc", "cannot allocate memory"];
    if memory != 0 && out_of_memory.iter().any(|words| printed.to_lowercase().contains(words)) {
        return format!("out of memory; the limit is {} MiB, see --memory", memory >> 20);
    }
    match (status.signal(), status.code()) {
        (Some(4), _) => "illegal instruction".to_owned(),
        (Some(6), _) => "aborted".to_owned(),
        (Some(9), _) => "killed, perhaps for want of memory".to_owned(),
        (Some(11), _) => "segmentation fault or stack overflow".to_owned(),
        (Some(signal), _) => format!("signal {signal}"),
        (None, code) => format!("exit code {}", code.unwrap_or(-1)),
    }
}

/// What replies begin with. A program may have printed something before it served the job: build scripts do.
const REPLY: &[u8] = b"\0warpline's reply\0";

/// What a worker answers.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Done(Answer),
    Failed { message: String },
    Defect { message: String },
}

impl Reply {
    fn of(outcome: Result<Answer>) -> Reply {
        match outcome {
            Ok(answer) => Reply::Done(answer),
            Err(Error::Internal { message }) => Reply::Defect { message },
            Err(error) => Reply::Failed { message: error.to_string() },
        }
    }

    /// The reply among what a worker printed, if it is there as a whole.
    fn find(printed: &[u8]) -> Option<Reply> {
        let at = printed.windows(REPLY.len()).position(|window| window == REPLY)?;
        postcard::from_bytes(&printed[at + REPLY.len()..]).ok()
    }

    fn outcome(self) -> Result<Answer> {
        match self {
            Reply::Done(answer) => Ok(answer),
            Reply::Failed { message } => Err(Error::Worker { message }),
            Reply::Defect { message } => Err(Error::Internal { message }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::Dependencies;

    #[test]
    fn jobs_survive_the_pipe_and_truncated_ones_are_refused() {
        let mut codegen =
            CodegenOptions::new(Cpu { features: "+avx2".into(), ..Cpu::named("znver4") }, Output::Prepared);
        codegen.cpu.base = "x86-64".into();
        codegen.prepared = true;
        codegen.strip = true;
        codegen.panic = Some("stop".into());
        codegen.reports = Some("kernel".into());
        codegen.vector_bits = Some(512);
        codegen.effort = Effort::Less;
        codegen.define_missing = true;
        codegen.visible = Some(vec!["k>,function(dot-cfg)".into(), "f\n".into()]);
        let jobs = [
            Job::Load { path: "a b.rs".into(), options: LoadOptions::default() },
            Job::Load {
                path: "k.cl".into(),
                options: LoadOptions {
                    optimize: Some(2),
                    simplify: Some(false),
                    registers: true,
                    merged_loads: true,
                    thread_jumps: true,
                    unroll: Unroll::Within(vec![7]),
                    triple: Some("spir64".into()),
                    for_cpu: true,
                    contract: true,
                    shims: true,
                    package: Some(vec!["a b.bc".into()]),
                    source: Some("a b.rs".into()),
                    flags: CompilerFlags {
                        clang: vec!["-DX=1".into()],
                        rustc: vec!["--cfg=x".into()],
                        strip_instrumentation: true,
                        dependencies: Dependencies::User,
                        ..CompilerFlags::default()
                    },
                },
            },
            Job::Codegen {
                name: "k".into(),
                parts: vec![vec![0, 1, 255], vec![], vec![2]],
                options: codegen,
            },
            Job::CpuNames { triple: "x86_64-unknown-linux-gnu".into() },
            Job::PrintUniformity { name: "k".into(), bitcode: vec![1, 2] },
        ];
        for job in jobs {
            let bytes = postcard::to_stdvec(&job).unwrap();
            assert_eq!(postcard::from_bytes::<Job>(&bytes).unwrap(), job);
            for length in 0..bytes.len() {
                assert!(postcard::from_bytes::<Job>(&bytes[..length]).is_err());
            }
        }
    }
}
