//! The objects of a row's variants: which compiler makes each, and with what flags.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::child::{self, Ended};
use super::items::{Kind, Language};
use super::model::Cycles;
use super::row::Source;
use super::sources;

/// The scalar variant's name.
pub(super) const SCALAR: &str = "scalar";
/// What warpline makes when it chooses the number of lanes.
pub(super) const AUTO: &str = "auto";
/// What somebody has written by hand.
pub(super) const HAND: &str = "hand";
/// The numbers of lanes that are tried.
pub(super) const WIDTHS: [u32; 6] = [2, 4, 8, 16, 32, 64];

/// A compilation takes no longer than this, in seconds.
const PATIENCE: u64 = 120;

/// The programs that there are.
pub(super) struct Tools {
    pub clang: Option<PathBuf>,
    pub gcc: Option<PathBuf>,
    pub rustc: PathBuf,
    /// Another build of warpline than this program's own.
    pub warpline: Option<PathBuf>,
}

impl Tools {
    /// Looks for compilers: `$CLANG`, `clang` or one with its version in its name, `gcc`, `$RUSTC` or `rustc`.
    pub(super) fn find(warpline: Option<PathBuf>) -> Tools {
        let versions = (16..=23).rev().map(|v| format!("clang-{v}"));
        let named = std::env::var("CLANG").ok().filter(|name| !name.is_empty());
        let mut clangs = named.into_iter().chain(std::iter::once("clang".to_owned())).chain(versions);
        Tools {
            clang: clangs.find(|name| runs(name)).map(PathBuf::from),
            gcc: runs("gcc").then(|| "gcc".into()),
            rustc: std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()).into(),
            warpline,
        }
    }

    /// The program `warpline`: this program under that name, unless another one is to be measured.
    fn warpline(&self) -> Command {
        match &self.warpline {
            Some(path) => Command::new(path),
            None => child::as_warpline(),
        }
    }
}

fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// What was made of a variant.
#[derive(Clone, Debug)]
pub(super) enum Made {
    Object {
        path: PathBuf,
        /// The numbers of lanes, one for each loop; none for variants of other compilers.
        lanes: Vec<u32>,
        /// What is expected of the only kernel or loop; of several, times do not tell which took how long.
        cycles: Option<Cycles>,
    },
    /// Why there is none.
    Refused { exit: Option<i32>, reason: String },
    /// There cannot be one, or a tool is missing.
    Absent(String),
}

/// A variant of a row.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub name: String,
    pub symbol: String,
    pub made: Made,
}

/// Makes all variants of a function for a CPU; the scalar one is the first.
pub(super) fn make(source: &Source, cpu: &str, widths: &[u32], tools: &Tools, folder: &Path) -> Vec<Variant> {
    let mut names: Vec<String> = [SCALAR, "clang", "omp", "gcc", AUTO].map(str::to_owned).to_vec();
    names.extend(source.by_hand(cpu).map(|_| HAND.to_owned()));
    names.extend(widths.iter().map(|w| format!("w{w}")));
    let made: Vec<Mutex<Option<Made>>> = names.iter().map(|_| Mutex::new(None)).collect();
    let at = AtomicUsize::new(0);
    let work = || {
        while let Some(name) = names.get(at.fetch_add(1, Ordering::Relaxed)) {
            let one = Compilation { source, cpu, tools, folder, variant: name };
            let index = names.iter().position(|n| n == name).unwrap_or(0);
            if let Ok(mut slot) = made[index].lock() {
                *slot = Some(one.make());
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let made = made.into_iter().map(|slot| slot.into_inner().ok().flatten());
    let variant = |(name, made): (String, Option<Made>)| Variant {
        symbol: sources::symbol(source, &name),
        made: made.unwrap_or_else(|| Made::Absent("not made".to_owned())),
        name,
    };
    names.into_iter().zip(made).map(variant).collect()
}

/// One variant to make.
struct Compilation<'a> {
    source: &'a Source,
    cpu: &'a str,
    tools: &'a Tools,
    folder: &'a Path,
    variant: &'a str,
}

impl Compilation<'_> {
    fn make(&self) -> Made {
        let variant = self.variant;
        if variant == AUTO {
            return self.warpline("auto");
        }
        if let Some(width) = variant.strip_prefix('w') {
            return self.warpline(width);
        }
        if variant == HAND {
            return self.by_hand();
        }
        match self.source.language {
            Language::Rust => self.rustc(),
            Language::C | Language::OpenCl => self.c(),
        }
    }

    /// By clang or gcc.
    fn c(&self) -> Made {
        let program = if self.variant == "gcc" { &self.tools.gcc } else { &self.tools.clang };
        let Some(program) = program else {
            return Made::Absent(format!(
                "{} is not installed",
                if self.variant == "gcc" { "gcc" } else { "clang" }
            ));
        };
        let text = match (self.variant, &self.source.omp) {
            ("omp", None) => return Made::Absent("iterations depend on each other".to_owned()),
            ("omp", Some(clauses)) => sources::with_pragma(self.source, self.variant, clauses),
            _ => sources::for_compiler(self.source, self.variant),
        };
        let mut command = Command::new(program);
        command.args(FLAGS_OF_C).args(["-O3", "-w", "-fPIC"]).arg(format!("-march={}", self.cpu));
        match self.variant {
            SCALAR => command.args(["-fno-vectorize", "-fno-slp-vectorize"]),
            "omp" => command.arg("-fopenmp-simd"),
            _ => &mut command,
        };
        self.compile(text, "c", command)
    }

    /// What is written by hand, by clang or else gcc.
    fn by_hand(&self) -> Made {
        let Some(program) = self.tools.clang.as_ref().or(self.tools.gcc.as_ref()) else {
            return Made::Absent("neither clang nor gcc is installed".to_owned());
        };
        let path = self.source.by_hand(self.cpu);
        let text = path.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        let text = text.map(|text| sources::renamed(self.source, &text, HAND));
        let mut command = Command::new(program);
        command.args(FLAGS_OF_C).args(["-O3", "-w", "-fPIC"]).arg(format!("-march={}", self.cpu));
        if let Some(folder) = path.as_deref().and_then(Path::parent) {
            command.arg("-I").arg(folder);
        }
        self.compile(text, "c", command)
    }

    fn rustc(&self) -> Made {
        if !matches!(self.variant, SCALAR | "clang") {
            return Made::Absent("the function is in Rust".to_owned());
        }
        let mut command = Command::new(&self.tools.rustc);
        command.args(["--edition", "2024", "--crate-type", "lib", "--crate-name", "survey", "--emit", "obj"]);
        command.args(["-Awarnings", "-Copt-level=3", "-Ccodegen-units=1", "-Cpanic=abort"]);
        command.arg(format!("-Ctarget-cpu={}", self.cpu));
        if self.variant == SCALAR {
            command.args(["-Cno-vectorize-loops", "-Cno-vectorize-slp"]);
        }
        self.compile(sources::for_compiler(self.source, self.variant), "rs", command)
    }

    /// Writes the text and runs a compiler on it.
    fn compile(&self, text: Option<String>, suffix: &str, mut command: Command) -> Made {
        let Some(text) = text else {
            return Made::Absent("the kernel's parameters are not understood".to_owned());
        };
        let (input, path) = match self.write(&text, suffix) {
            Ok(paths) => paths,
            Err(reason) => return Made::Absent(reason),
        };
        if self.source.language != Language::Rust {
            command.arg("-c");
        }
        let ended = child::run(command.arg(&input).arg("-o").arg(&path), PATIENCE);
        match ended.code {
            Some(0) => Made::Object { path, lanes: Vec::new(), cycles: None },
            exit => Made::Refused { exit, reason: self.without_folder(&first_line(&ended)) },
        }
    }

    fn warpline(&self, width: &str) -> Made {
        let suffix = self.source.path.extension().and_then(|e| e.to_str()).unwrap_or("c");
        let (input, path) = match self.write(&sources::for_warpline(self.source, self.variant), suffix) {
            Ok(paths) => paths,
            Err(reason) => return Made::Absent(reason),
        };
        let mut command = self.tools.warpline();
        command.arg("vectorize").arg(&input).arg("-o").arg(&path);
        command.args(["--cpu", self.cpu, "--width", width, "--format", "json"]);
        if self.source.kind != Kind::Loop {
            command.args(["--symbol", &sources::name(self.source, self.variant)]);
        }
        if self.source.language == Language::C {
            command.args(FLAGS_OF_C);
        }
        let ended = child::run(&mut command, PATIENCE);
        if ended.code != Some(0) {
            return Made::Refused { exit: ended.code, reason: self.without_folder(&first_line(&ended)) };
        }
        let report: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
        let lanes = lanes(&report);
        if lanes.is_empty() {
            let reason = report["refused"][0]["reason"].as_str().map(str::to_owned);
            let reason = reason.unwrap_or_else(|| first_line(&ended));
            return Made::Refused { exit: Some(0), reason: self.without_folder(&reason) };
        }
        Made::Object { path, lanes, cycles: cycles(&report) }
    }

    /// A message with the names of files alone.
    fn without_folder(&self, message: &str) -> String {
        message.replace(&format!("{}/", self.folder.display()), "")
    }

    /// Writes a variant's text, and gives its path and that of its object.
    fn write(&self, text: &str, suffix: &str) -> Result<(PathBuf, PathBuf), String> {
        let input = self.folder.join(format!("{}.{suffix}", self.variant));
        std::fs::write(&input, text).map_err(|e| format!("{}: {e}", input.display()))?;
        Ok((input, self.folder.join(format!("{}.o", self.variant))))
    }
}

/// What all compilers of C have in common: results are the same to the bit, and `errno` does not count.
const FLAGS_OF_C: [&str; 3] = ["-std=gnu11", "-ffp-contract=off", "-fno-math-errno"];

/// The numbers of lanes in a report of `vectorize`: of a kernel, or of each loop.
fn lanes(report: &Value) -> Vec<u32> {
    let number = |value: &Value| value["width"].as_u64().and_then(|w| u32::try_from(w).ok());
    match (report["loops"].as_array(), &report["scalar"]) {
        (_, Value::Bool(true)) => vec![1],
        (Some(loops), scalar) if report.get("width").is_none() => {
            let stay_scalar = scalar.as_array().map_or(0, Vec::len);
            loops.iter().filter_map(number).chain(std::iter::repeat_n(1, stay_scalar)).collect()
        }
        _ => number(report).into_iter().collect(),
    }
}

/// What is expected of the only kernel or loop that a report is about.
fn cycles(report: &Value) -> Option<Cycles> {
    let all = |key: &str| report[key].as_array().into_iter().flatten();
    let mut about = all("loops").chain(all("scalar"));
    let cycles = match (about.next(), about.next()) {
        (None, _) => &report["cycles"],
        (Some(only), None) => &only["cycles"],
        _ => return None,
    };
    let number = |key: &str| cycles[key].as_f64().filter(|&c| c > 0.0);
    Some(Cycles { scalar: number("scalar")?, vector: number("vector")? })
}

/// What a compiler says first; the rest goes on about it.
fn first_line(ended: &Ended) -> String {
    let all = if ended.stderr.trim().is_empty() { &ended.stdout } else { &ended.stderr };
    let told = all.lines().find(|line| line.contains("error") || line.contains("warning"));
    let line = told.or_else(|| all.lines().next()).unwrap_or("no message");
    match (ended.code, ended.late) {
        (_, true) => format!("not ready after {PATIENCE} s"),
        (None, _) => format!("ended by a signal: {line}"),
        _ => line.to_owned(),
    }
}
