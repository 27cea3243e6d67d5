//! From source files to bitcode, by the compilers that the user has.
//!
//! Rust comes from `$RUSTC` or `rustc`, everything else from `$CLANG`, `clang`, or `clang-23` down to `clang-16`.
//! Both are asked for unoptimised IR that carries the marks of an optimising compilation, and for line tables:
//! - rustc with `-C no-prepopulate-passes` and `panic=abort`, since its optimiser would thread jumps through lane
//!   operations; A file that names the crate `warpline_lanes` gets it; It runs in a folder of its own, and its paths
//!   are mapped to what they are from the folder that the user is in;
//! - clang with `-O2 -Xclang -disable-llvm-passes` (with `-O1`, it notes at every loop that it must not be unrolled),
//!   and `-ffp-contract=off`, so that no multiplication and addition are fused behind the program's back, unless the
//!   user asks for it. `warpline.h` is found behind all other headers. Of OpenMP, C and C++ get what is for lanes
//!   (`-fopenmp-simd`); where that is not enough, the source is compiled again, as [`openmp`] says.
//!
//! What users tell the compilers besides stands behind these arguments, so it prevails where it may differ
//! ([`crate::flags`]).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use warpline_ir::group_functions::is_gpu;

use crate::error::{Error, Result};
use crate::flags::{self, CompilerFlags, Dependencies};
use crate::input_kind::InputKind;
use crate::openmp::{self, Directive};
use crate::tools::{self, rustc};

/// A compiled source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// The module.
    pub bitcode: Vec<u8>,
    /// What the compiler printed; empty when it had nothing to say.
    pub warnings: String,
    /// The files that were read, if they were asked for.
    pub dependencies: Vec<PathBuf>,
    /// What clang has read and takes for the user's own: all but headers of the system.
    pub own: Vec<PathBuf>,
}

/// How sources are compiled.
#[derive(Debug, Clone, Copy)]
pub struct FrontEnd<'a> {
    /// The target; `None` is this machine.
    pub triple: Option<&'a str>,
    /// Whether clang may fuse multiplications and additions of one expression, if flags do not say otherwise.
    pub contract: bool,
    /// What the user tells the compilers.
    pub flags: &'a CompilerFlags,
    /// Whether kernels in Rust get functions with parameters that need no knowledge of types.
    pub shims: bool,
}

/// Compiles a source file to bitcode.
///
/// # Errors
/// [`Error::FrontEnd`] with the compiler's own messages, [`Error::MissingTool`], [`Error::Io`], [`Error::Flag`],
/// [`Error::UnknownKind`] for a kind that needs no compiler.
pub fn compile(path: &Path, front_end: FrontEnd<'_>) -> Result<Compiled> {
    let kind = InputKind::of(path)?;
    // The compilers' own messages for an unreadable file are less clear.
    std::fs::File::open(path).map_err(|error| Error::io("cannot read", path, &error))?;
    let directory =
        tempfile::tempdir().map_err(|error| Error::io("cannot write to", std::env::temp_dir(), &error))?;
    let output = directory.path().join("module.bc");
    match kind {
        InputKind::Rust => compile_rust(path, front_end, directory.path(), &output),
        InputKind::C | InputKind::Cpp | InputKind::OpenCl => {
            let clang = Clang::new(kind, directory.path(), front_end)?;
            let mut compiled = clang.run(path, Step::Compile(Lanes::Simd), &output)?;
            compiled.own = read_dependencies(&clang.list(), directory.path())?;
            compiled.dependencies = match front_end.flags.dependencies {
                Dependencies::None => Vec::new(),
                Dependencies::User => compiled.own.clone(),
                Dependencies::All => clang.all_files(path)?,
            };
            let notes: String = clang.notes.iter().flat_map(|note| [note, "\n"]).collect();
            compiled.warnings.insert_str(0, &notes);
            if kind != InputKind::OpenCl
                && let Some(text) = clang.preprocessed(path)?.and_then(|text| openmp::for_lanes(&text))
            {
                let again = Path::new("again.i");
                write(&directory.path().join(again), &text)?;
                compiled.bitcode = clang.run(again, Step::Compile(Lanes::OpenMp), &output)?.bitcode;
            }
            Ok(compiled)
        }
        InputKind::Text | InputKind::Bitcode | InputKind::Warpline => {
            Err(Error::UnknownKind { path: path.to_owned() })
        }
    }
}

/// The editions of Rust that a file is taken for.
const EDITION: &str = "2024";
const EDITION_BEFORE: &str = "2021";

/// Compiles a file of Rust. Where nobody says of which edition it is, it may be of the one before the newest: of that
/// are `#[no_mangle]` and `extern "C" { … }` as many know them.
fn compile_rust(path: &Path, front_end: FrontEnd<'_>, directory: &Path, output: &Path) -> Result<Compiled> {
    let (judged, edition) = front_end.flags.for_rustc()?;
    let as_edition = |year: &str| compile_rust_of((year, &judged.flags), path, front_end, directory, output);
    match (as_edition(edition.as_deref().unwrap_or(EDITION)), edition) {
        (Err(error @ Error::FrontEnd { .. }), None) => {
            as_edition(EDITION_BEFORE).map_err(|other| less_to_mend(error, other))
        }
        (compiled, _) => compiled,
    }
}

/// That of two refusals which says less.
fn less_to_mend(a: Error, b: Error) -> Error {
    let said = |error: &Error| match error {
        Error::FrontEnd { output, .. } => output.len(),
        _ => usize::MAX,
    };
    if said(&b) < said(&a) { b } else { a }
}

/// Compiles it as one of an edition, with the user's flags.
fn compile_rust_of(
    (edition, flags): (&str, &[OsString]),
    path: &Path,
    front_end: FrontEnd<'_>,
    directory: &Path,
    output: &Path,
) -> Result<Compiled> {
    let target = rust_target(front_end.triple);
    let mut arguments = flags.to_vec();
    arguments.extend(rust_arguments(path, output, directory, edition)?);
    if front_end.flags.variables {
        arguments.push("-Cdebuginfo=2".into());
    }
    arguments.splice(0..0, lanes_crate(path, directory, &target, front_end.shims)?);
    arguments.extend(target);
    arguments.extend(all_functions(path)?);
    let mut compiled = run_rustc(path, &arguments, output, directory, front_end.shims)?;
    if front_end.flags.dependencies != Dependencies::None {
        let list = directory.join("module.d");
        let mut emit = OsString::from("--emit=dep-info=");
        emit.push(&list);
        let asked = arguments.into_iter().filter(|argument| argument != "--emit=llvm-bc").chain([emit]);
        run_rustc(path, &asked.collect::<Vec<_>>(), &list, directory, front_end.shims)?;
        compiled.dependencies = read_dependencies(&list, directory)?;
    }
    // Lines are there, and all is optimized, whatever these say.
    let is_moot = |flag: &str| ["-g", "-O"].iter().any(|moot| flag.starts_with(moot));
    let words = front_end.flags.clang.iter().map(|flag| flag.to_string_lossy());
    let unused = words.filter(|flag| !is_moot(flag)).collect::<Vec<_>>().join(" ");
    if !unused.is_empty() {
        let note = format!(
            "warning: {}: rustc compiles it, which does not get flags of clang: {unused}\n",
            path.display()
        );
        compiled.warnings.insert_str(0, &note);
    }
    Ok(compiled)
}

/// The files that a compiler listed, without those that it was given from `directory`, which do not stay.
fn read_dependencies(list: &Path, directory: &Path) -> Result<Vec<PathBuf>> {
    let rule = std::fs::read(list).map_err(|error| Error::io("cannot read", list, &error))?;
    let files = flags::prerequisites(&String::from_utf8_lossy(&rule));
    Ok(files.into_iter().filter(|file| !file.starts_with(directory)).collect())
}

/// The directives of OpenMP in a file in C or C++, and those by which it tells clang that iterations do not depend on
/// each other; none in other files.
///
/// # Errors
/// As [`compile`].
pub fn openmp_directives(path: &Path, front_end: FrontEnd<'_>) -> Result<Vec<Directive>> {
    let kind = InputKind::of(path)?;
    if !matches!(kind, InputKind::C | InputKind::Cpp) {
        return Ok(Vec::new());
    }
    let directory =
        tempfile::tempdir().map_err(|error| Error::io("cannot write to", std::env::temp_dir(), &error))?;
    let clang = Clang::new(kind, directory.path(), front_end)?;
    let mut found = clang.preprocessed(path)?.map_or(Vec::new(), |text| openmp::read(&text));
    openmp::find_beginnings(&mut found, source_text);
    Ok(found)
}

/// The text of a file that a line marker names, which may be any path: of regular files that are not absurdly large.
fn source_text(path: &str) -> Option<Vec<u8>> {
    const MOST: u64 = 64 << 20;
    let known = std::fs::metadata(path).ok()?;
    (known.is_file() && known.len() <= MOST).then(|| std::fs::read(path).ok()).flatten()
}

/// What clang is to do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Write preprocessed text.
    Preprocess,
    /// Write bitcode.
    Compile(Lanes),
    /// Write bitcode of definitions that are our own.
    Library,
    /// Write text of LLVM with all that is for debuggers, and list the headers on standard error.
    Describe,
    /// Write a rule of make with all files that are read, headers of the system too.
    List,
}

/// What is done with OpenMP's directives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lanes {
    /// Those for lanes alone.
    Simd,
    /// All, in preprocessed text.
    OpenMp,
}

/// How clang is called.
pub(crate) struct Clang<'a> {
    kind: InputKind,
    /// A folder to write to.
    directory: &'a Path,
    front_end: FrontEnd<'a>,
    /// The user's flags, as far as they are passed on.
    pub(crate) flags: Vec<OsString>,
    /// What is to be said of the others.
    notes: Vec<String>,
}

impl<'a> Clang<'a> {
    pub(crate) fn new(kind: InputKind, directory: &'a Path, front_end: FrontEnd<'a>) -> Result<Self> {
        let flags::Judged { flags, notes } = front_end.flags.for_clang(kind)?;
        Ok(Clang { kind, directory, front_end, flags, notes })
    }

    /// Runs clang. Flags of the project's own compiler that clang does not know are left out.
    pub(crate) fn run(&self, path: &Path, step: Step, output: &Path) -> Result<Compiled> {
        let project = &self.front_end.flags.project;
        let (mut flags, mut left_out) = (self.flags.clone(), String::new());
        loop {
            let error = match self.run_with(&flags, path, step, output) {
                Err(error) => error,
                Ok(mut compiled) => {
                    compiled.warnings.insert_str(0, &left_out);
                    return Ok(compiled);
                }
            };
            let Error::FrontEnd { output: said, .. } = &error else { return Err(error) };
            let unknown = flags::unknown(said);
            let before = flags.len();
            flags.retain(|flag| {
                let stays = !project.contains(flag) || unknown.iter().all(|word| flag != word);
                if !stays {
                    let flag = flag.to_string_lossy();
                    left_out +=
                        &format!("warning: compile_commands.json: `{flag}`: clang does not know it\n");
                }
                stays
            });
            if flags.len() == before {
                return Err(error);
            }
        }
    }

    fn run_with(&self, flags: &[OsString], path: &Path, step: Step, output: &Path) -> Result<Compiled> {
        let mut arguments = clang_arguments(self.kind, step, self.front_end);
        write(&self.directory.join("warpline.h"), warpline_lanes::C_HEADER)?;
        arguments.splice(0..0, ["-idirafter".into(), self.directory.into()]);
        if self.kind == InputKind::OpenCl && !self.front_end.triple.is_some_and(is_gpu) {
            arguments.splice(0..0, OPENCL_ON_CPUS.map(OsString::from));
        }
        let mut own = OsString::from("-ffile-prefix-map=");
        own.push(self.directory);
        own.push("=warpline");
        arguments.push(own);
        if !self.front_end.flags.project.is_empty() {
            // The project's own compiler may know others.
            arguments.push("-Wno-unknown-warning-option".into());
        }
        arguments.extend(flags.iter().cloned());
        arguments.extend(ALWAYS.map(OsString::from));
        if self.front_end.flags.variables {
            arguments.push("-g".into());
        }
        match step {
            Step::Compile(Lanes::Simd) => arguments.extend(self.listing()),
            // It stands behind what asks for lines only.
            Step::Describe => arguments.extend(DESCRIBE.map(OsString::from)),
            Step::Compile(Lanes::OpenMp) | Step::Preprocess | Step::List | Step::Library => {}
        }
        arguments.extend(["-o".into(), output.into(), as_argument(path)]);
        let (program, own_arguments) = clang(path)?;
        let mut program = Command::new(program);
        program.args(own_arguments);
        if step == Step::Compile(Lanes::OpenMp) {
            // The text is there, and code does not name the folder.
            program.current_dir(self.directory);
        }
        run(program, path, &arguments, output, CLANG_REMEDY)
    }

    /// The file in which clang lists what it reads.
    fn list(&self) -> PathBuf {
        self.directory.join("module.d")
    }

    /// What makes clang list what it reads of the user's.
    fn listing(&self) -> [OsString; 5] {
        ["-MMD".into(), "-MF".into(), self.list().into(), "-MT".into(), "module".into()]
    }

    /// All that clang reads.
    fn all_files(&self, path: &Path) -> Result<Vec<PathBuf>> {
        let list = self.directory.join("all.d");
        self.run(path, Step::List, &list)?;
        read_dependencies(&list, self.directory)
    }

    /// The text behind the preprocessor, of files that may have directives.
    fn preprocessed(&self, path: &Path) -> Result<Option<String>> {
        let text = std::fs::read(path).map_err(|error| Error::io("cannot read", path, &error))?;
        let text = String::from_utf8_lossy(&text);
        if !["ragma", "#include \""].iter().any(|sign| text.contains(sign)) {
            return Ok(None);
        }
        let output = self.directory.join("preprocessed.i");
        let written = self.run(path, Step::Preprocess, &output)?.bitcode;
        Ok(Some(String::from_utf8_lossy(&written).into_owned()))
    }
}

/// For clang only some processors have OpenCL's optional types, such as `double`; compilers make them for all. Builtins
/// are inlined, so it does not matter how vectors are passed.
const OPENCL_ON_CPUS: [&str; 3] = ["-Wno-psabi", "-Xclang", "-cl-ext=+all"];

/// How definitions of OpenCL C's builtins are compiled.
pub(crate) struct Builtins {
    pub(crate) program: PathBuf,
    /// What comes first among the arguments, if clang is called by way of another program.
    pub(crate) own: Vec<OsString>,
    pub(crate) arguments: Vec<OsString>,
}

impl Builtins {
    /// For the target of a module that calls them (empty: this machine), with the flags for the machine that the
    /// module was compiled with. Integers wrap. The user's other flags are for the user's sources.
    ///
    /// # Errors
    /// [`Error::MissingTool`].
    pub(crate) fn new(triple: &str, machine: &[OsString]) -> Result<Builtins> {
        let triple = Some(triple).filter(|triple| !triple.is_empty());
        let front_end = FrontEnd { triple, contract: false, flags: &CompilerFlags::default(), shims: false };
        let mut arguments = clang_arguments(InputKind::OpenCl, Step::Library, front_end);
        arguments.splice(0..0, OPENCL_ON_CPUS.into_iter().chain(["-fwrapv"]).map(OsString::from));
        arguments.extend(machine.iter().cloned());
        arguments.extend(ALWAYS.map(OsString::from));
        arguments.push("-g0".into());
        let (program, own) = clang(Path::new(BUILTINS))?;
        Ok(Builtins { program, own, arguments })
    }

    /// The bitcode of definitions.
    ///
    /// # Errors
    /// As [`compile`].
    pub(crate) fn compile(&self, text: &str) -> Result<Vec<u8>> {
        let directory = tempfile::tempdir()
            .map_err(|error| Error::io("cannot write to", std::env::temp_dir(), &error))?;
        let input = directory.path().join("builtins.cl");
        write(&input, text)?;
        let output = directory.path().join("builtins.bc");
        let files = ["-o".into(), output.as_os_str().to_owned(), as_argument(&input)];
        let mut program = Command::new(&self.program);
        program.args(&self.own);
        let arguments = [&self.arguments[..], &files].concat();
        Ok(run(program, Path::new(BUILTINS), &arguments, &output, CLANG_REMEDY)?.bitcode)
    }
}

/// What the builtins' definitions are called in messages.
const BUILTINS: &str = "OpenCL's builtins";

const RUST_REMEDY: &str = "install Rust (https://rustup.rs) or set RUSTC";
const CLANG_REMEDY: &str = "install clang (such as `apt-get install clang`) or set CLANG";

pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|error| Error::io("cannot write to", path, &error))
}

/// What the attribute `warpline_lanes::kernel` is here: a crate for the compiler.
const KERNEL_ATTRIBUTE: &str = include_str!("kernel_attribute.rs");

/// The modules of the crate that the attribute is elsewhere.
const MODULES: [(&str, &str); 7] = [
    ("function", include_str!("macros/function.rs")),
    ("interface", include_str!("macros/interface.rs")),
    ("range", include_str!("macros/range.rs")),
    ("shim", include_str!("macros/shim.rs")),
    ("table", include_str!("macros/table.rs")),
    ("tokens", include_str!("macros/tokens.rs")),
    ("words", include_str!("macros/words.rs")),
];

/// The attribute as it is elsewhere, in one file. It takes longer to compile, so only kernels that need it have it.
fn whole_attribute() -> String {
    // Cargo makes the compiler's own crate known.
    let root = concat!(include_str!("macros/lib.rs"), "\nextern crate proc_macro;\n").to_owned();
    MODULES.iter().fold(root, |text, (name, module)| {
        text.replacen(&format!("mod {name};"), &format!("mod {name} {{\n{module}}}"), 1)
    })
}

/// The arguments that make the crate `warpline_lanes` known; none where the input does not name it. The crate is
/// compiled into the folder, with the attribute for kernels if the input speaks of such.
fn lanes_crate(path: &Path, directory: &Path, target: &[OsString], shims: bool) -> Result<Vec<OsString>> {
    let text = std::fs::read(path).map_err(|error| Error::io("cannot read", path, &error))?;
    let text = String::from_utf8_lossy(&text);
    if !text.contains("warpline_lanes") {
        return Ok(Vec::new());
    }
    let mut lanes = format!("#![no_std]\n{}", warpline_lanes::RUST_SOURCE);
    let mut known: Vec<OsString> = vec!["-L".into(), directory.into()];
    if text.contains("kernel") {
        let library = directory.join(format!("libwarpline_macros{}", std::env::consts::DLL_SUFFIX));
        let text = if shims { whole_attribute() } else { KERNEL_ATTRIBUTE.to_owned() };
        side_crate("warpline_macros", "proc-macro", &text, directory, &library, &[])?;
        let mut macros = OsString::from("--extern=warpline_macros=");
        macros.push(&library);
        known.push(macros);
        lanes.push_str("\npub use warpline_macros::kernel;\n");
    }
    let library = directory.join("libwarpline_lanes.rlib");
    let for_target = [&known[..], target].concat();
    side_crate("warpline_lanes", "rlib", &lanes, directory, &library, &for_target)?;
    let mut lanes = OsString::from("--extern=warpline_lanes=");
    lanes.push(&library);
    known.push(lanes);
    Ok(known)
}

/// What makes rustc compile all functions of a source that does not say which ones stand in the object file. Otherwise it
/// leaves out those that are small, even if they are public, since other crates would inline them.
fn all_functions(path: &Path) -> Result<Option<OsString>> {
    let text = std::fs::read(path).map_err(|error| Error::io("cannot read", path, &error))?;
    let text = String::from_utf8_lossy(&text);
    let says = ["no_mangle", "export_name", "kernel(", "kernel]"].iter().any(|word| text.contains(word));
    Ok((!says).then(|| "-Clink-dead-code".into()))
}

/// Compiles the text of a crate that inputs may use.
fn side_crate(
    name: &str,
    kind: &str,
    text: &str,
    directory: &Path,
    library: &Path,
    known: &[OsString],
) -> Result<()> {
    let source = directory.join(format!("{name}.rs"));
    write(&source, text)?;
    let mut arguments: Vec<OsString> =
        ["--edition=2024", "--cap-lints=allow", "-Cpanic=abort", "-o"].map(OsString::from).into();
    arguments.extend([library.into(), (&source).into()]);
    arguments.extend([format!("--crate-type={kind}").into(), format!("--crate-name={name}").into()]);
    arguments.extend_from_slice(known);
    run_rustc(&source, &arguments, library, directory, false)?;
    Ok(())
}

/// What makes rustc compile for a target; nothing for this machine and for GPUs.
fn rust_target(triple: Option<&str>) -> Vec<OsString> {
    let target = triple.filter(|triple| !is_gpu(triple)).map(|triple| format!("--target={triple}").into());
    target.into_iter().collect()
}

/// The arguments for an input. rustc runs in the folder `directory`, which code does not name: neither where it is
/// compiled nor from where the user gives the path changes what comes out.
fn rust_arguments(path: &Path, output: &Path, directory: &Path, edition: &str) -> Result<Vec<OsString>> {
    let absolute = std::path::absolute(path).map_err(|error| Error::io("cannot find", path, &error))?;
    let as_given = |from: &Path, to: &Path| {
        let mut mapped = OsString::from("--remap-path-prefix=");
        mapped.push(from);
        mapped.push("=");
        mapped.push(to);
        mapped
    };
    let edition = format!("--edition={edition}");
    let mut arguments: Vec<OsString> = [
        &*edition,
        "--crate-type=lib",
        "--crate-name=kernel",
        "-Cpanic=abort",
        "-Ccodegen-units=1",
        "-Cno-prepopulate-passes",
        "-Copt-level=3",
        "-Cdebuginfo=line-tables-only",
        "--emit=llvm-bc",
        // A program is compiled as a library here, where nobody calls `main`.
        "-Adead_code",
        // With this form, intermediate files are beside the output and not in the current folder, where another
        // compiler may be at work.
        "-o",
    ]
    .map(OsString::from)
    .into();
    arguments.push(output.into());
    arguments.push(as_given(directory, Path::new(".")));
    if let (Some(from), Some(to)) = (absolute.parent(), path.parent())
        && from.parent().is_some()
        && path.is_relative()
    {
        arguments.push(as_given(from, to));
    }
    arguments.push(absolute.into());
    Ok(arguments)
}

/// A path as an argument: one that begins like an option or a file of options is no such thing.
fn as_argument(path: &Path) -> OsString {
    match path.as_os_str().as_encoded_bytes() {
        [b'-' | b'@', ..] => Path::new(".").join(path).into(),
        _ => path.into(),
    }
}

/// What holds whatever users say: bitcode that is not optimised, with lines and the names of values.
const ALWAYS: [&str; 7] = [
    "-O2",
    "-Xclang",
    "-disable-llvm-passes",
    "-fno-discard-value-names",
    "-gline-tables-only",
    "-fdebug-compilation-dir=.",
    // Flags of projects are for their linkers, too.
    "-Qunused-arguments",
];

/// What makes clang describe all types that functions use, and list which header includes which.
const DESCRIBE: [&str; 4] = ["-g", "-fstandalone-debug", "-gdwarf-5", "-H"];

/// The arguments behind which the user's own stand.
fn clang_arguments(kind: InputKind, step: Step, front_end: FrontEnd<'_>) -> Vec<OsString> {
    let again = step == Step::Compile(Lanes::OpenMp);
    let language: &[&str] = match kind {
        InputKind::OpenCl => &["-xcl", "-cl-std=CL2.0", "-Xclang", "-finclude-default-header", "-nogpulib"],
        InputKind::Cpp if again => &["-xc++-cpp-output", "-fopenmp", "-w"],
        InputKind::Cpp => &["-xc++", "-fopenmp-simd"],
        _ if again => &["-xcpp-output", "-fopenmp", "-w"],
        _ => &["-xc", "-fopenmp-simd"],
    };
    let make: &[&str] = match step {
        Step::Preprocess => &["-E"],
        Step::List => &["-M", "-MT", "module"],
        // Only text can be changed before LLVM's verifier sees it (`called_kernels`).
        Step::Compile(_) if kind == InputKind::OpenCl => &["-S", "-emit-llvm"],
        Step::Compile(_) | Step::Library => &["-c", "-emit-llvm"],
        Step::Describe => &["-S", "-emit-llvm"],
    };
    let mut arguments: Vec<OsString> = language.iter().map(OsString::from).collect();
    if let Some(triple) = front_end.triple {
        arguments.extend(["-target", triple].map(OsString::from));
    }
    arguments.extend(make.iter().map(OsString::from));
    arguments.push(if front_end.contract { "-ffp-contract=on" } else { "-ffp-contract=off" }.into());
    arguments
}

/// Runs rustc in a folder.
fn run_rustc(
    path: &Path,
    arguments: &[OsString],
    output: &Path,
    directory: &Path,
    shims: bool,
) -> Result<Compiled> {
    let mut rustc = Command::new(rustc());
    if shims {
        // The attribute makes what warpline compiles where this is set.
        rustc.env("WARPLINE_NESTED", directory).env_remove("WARPLINE_NESTED_SCRIPT");
    }
    rustc.current_dir(directory);
    run(rustc, path, arguments, output, RUST_REMEDY)
}

fn run(
    mut tool: Command,
    path: &Path,
    arguments: &[OsString],
    output: &Path,
    remedy: &str,
) -> Result<Compiled> {
    let name = tool.get_program().to_string_lossy().into_owned();
    crate::child::bind(tool.args(arguments));
    log::debug!("running {tool:?}");
    let finished = tool.output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Error::MissingTool { tool: name.clone(), input: path.to_owned(), remedy: remedy.to_owned() }
        }
        _ => Error::io("cannot run", &name, &error),
    })?;
    let words = String::from_utf8_lossy(&finished.stderr).into_owned();
    if !finished.status.success() {
        return Err(Error::FrontEnd { tool: name, input: path.to_owned(), output: words });
    }
    let bitcode = std::fs::read(output).map_err(|error| Error::io("cannot read", output, &error))?;
    Ok(Compiled { bitcode, warnings: words, dependencies: Vec::new(), own: Vec::new() })
}

/// The clang to use, and what always comes first among its arguments.
pub(crate) fn clang(input: &Path) -> Result<(PathBuf, Vec<OsString>)> {
    tools::clang().ok_or_else(|| Error::MissingTool {
        tool: "clang".to_owned(),
        input: input.to_owned(),
        remedy: CLANG_REMEDY.to_owned(),
    })
}

/// Whether a clang can be found.
pub fn has_clang() -> bool {
    clang(Path::new("")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides_the_kind() {
        assert_eq!(InputKind::of(Path::new("a/b.ll")), Ok(InputKind::Text));
        assert_eq!(InputKind::of(Path::new("b.cl")), Ok(InputKind::OpenCl));
        let error = InputKind::of(Path::new("b.wgsl")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "b.wgsl: unknown kind of input; expected .rs, .c, .cpp, .cl, .ll, .bc or .wl"
        );
    }

    #[test]
    fn a_missing_compiler_is_named_with_its_remedy() {
        let compiler = Command::new("no-such-compiler");
        let error = run(compiler, Path::new("k.rs"), &[], Path::new("out"), RUST_REMEDY).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("no-such-compiler") && text.contains("k.rs") && text.contains("RUSTC"),
            "{text}"
        );
    }
}
