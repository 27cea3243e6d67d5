//! `warpline --print`: what the builds of other programs need to know, as `pkg-config` and `llvm-config` say it.
//!
//! The header `warpline.h` and the files for CMake are in the program itself. They are taken from where they were
//! installed beside it (`PREFIX/include`, `PREFIX/share/cmake/Warpline`, or the folder of the sources), else written to
//! the user's folder for data, once for each version: `$WARPLINE_DATA`, `$XDG_DATA_HOME/warpline` or
//! `~/.local/share/warpline`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Parser, ValueEnum};
use object::{Object as _, ObjectSymbol as _};
use warpline_compile::libmvec;
use warpline_llvm::{Cpu, InputKind, host_triple, process_has_symbol, worker};

use crate::Outcome;
use crate::error::{Error, Result};
use crate::output;

/// What is asked for.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
enum What {
    /// The version of warpline
    Version,
    /// Flags for compilers of sources that include warpline.h
    Cflags,
    /// The folder of warpline.h
    IncludeDir,
    /// Libraries that programs with these objects are linked with; without objects, all that some may need
    Libs,
    /// The folder for CMake: find_package(Warpline) with Warpline_DIR, or include its Warpline.cmake
    CmakeDir,
    /// The CPUs that --cpu knows, a line each
    Cpus,
    /// This machine's CPU, as --cpu native
    HostCpu,
    /// This machine, as an LLVM triple
    HostTriple,
}

/// Prints what the builds of other programs need.
#[derive(Parser)]
#[command(
    name = "warpline",
    about = "Prints what the builds of other programs need",
    max_term_width = 80,
    after_help = "Examples:
  cc -c main.c $(warpline --print cflags)
  cc main.o kernel.o $(warpline --print libs kernel.o)
  cmake -B build -DWarpline_DIR=\"$(warpline --print cmake-dir)\""
)]
struct PrintOptions {
    /// What to print; the option repeats
    #[arg(long, value_name = "WHAT", required = true, value_enum)]
    print: Vec<What>,
    /// For libs: the objects that `vectorize` made
    objects: Vec<PathBuf>,
    /// The target, as an LLVM triple [default: this machine]
    #[arg(long, value_name = "TRIPLE")]
    triple: Option<String>,
    /// For libs: the CPUs that code is made for, of which it says that they are known
    #[arg(long, value_name = "NAMES")]
    cpu: Option<String>,
}

/// Whether a command line asks for this.
pub(crate) fn is_asked(arguments: &[std::ffi::OsString]) -> bool {
    arguments.get(1).is_some_and(|first| {
        let first = first.to_string_lossy();
        first == "--print" || first.starts_with("--print=")
    })
}

/// Runs the command; its exit code.
pub(crate) fn run(arguments: &[std::ffi::OsString]) -> u8 {
    let asks_for_help =
        arguments.get(2).is_none_or(|word| ["help", "--help", "-h"].iter().any(|help| word == help));
    let help = ["warpline".into(), "--help".into()];
    let arguments = if asks_for_help && arguments[1] == "--print" { &help[..] } else { arguments };
    match crate::parse::<PrintOptions>(arguments) {
        Ok(options) => crate::finish(|| print(&options)),
        Err(code) => u8::from(code != std::process::ExitCode::SUCCESS) * 2,
    }
}

fn print(options: &PrintOptions) -> Result<Outcome> {
    if !options.objects.is_empty() && !options.print.contains(&What::Libs) {
        return Err(Error::option("--print", "objects are for `libs`"));
    }
    for cpu in options.cpu.iter().flat_map(|names| names.split(',')) {
        worker::find_cpu(cpu.trim(), options.triple.as_deref().unwrap_or_default())?;
    }
    let mut out = String::new();
    for what in &options.print {
        out += &match what {
            What::Version => env!("CARGO_PKG_VERSION").to_owned(),
            What::Cflags => format!("-I{}", word(&include_folder()?)),
            What::IncludeDir => include_folder()?.display().to_string(),
            What::Libs => libraries(options)?,
            What::CmakeDir => cmake_folder()?.display().to_string(),
            What::Cpus => worker::cpu_names(options.triple.as_deref().unwrap_or_default())?.join("\n"),
            What::HostCpu => Cpu::native()?.name,
            What::HostTriple => host_triple()?,
        };
        out.push('\n');
    }
    output::print(&out)?;
    Ok(Outcome::Clean)
}

/// A path as a word of a shell.
fn word(path: &Path) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    path.display().to_string().chars().fold(String::new(), |mut out, c| {
        if !plain(c) {
            out.push('\\');
        }
        out.push(c);
        out
    })
}

/// Functions of the C library's mathematics, without what says for which type they are.
const MATHEMATICS: &str = " acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 \
     expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb \
     lrint lround modf nan nearbyint nextafter pow remainder remquo rint round roundeven scalbln scalbn sin sincos sinh \
     sqrt tan tanh tgamma trunc ";

/// The libraries that programs with objects are linked with.
fn libraries(options: &PrintOptions) -> Result<String> {
    let mut needed = Libraries::default();
    for path in &options.objects {
        needed.add(path)?;
    }
    if options.objects.is_empty() {
        let triple = match &options.triple {
            Some(triple) => triple.clone(),
            None => host_triple()?,
        };
        needed.all(&triple);
        let flags = needed.flags();
        // Whatever is not needed stays away.
        return Ok(match needed.mvec || needed.sleef.is_some() {
            true => format!("-Wl,--push-state,--as-needed {flags} -Wl,--pop-state"),
            false => flags,
        });
    }
    Ok(needed.flags())
}

/// What is linked.
#[derive(Default)]
struct Libraries {
    mvec: bool,
    /// How SLEEF is linked, if it is.
    sleef: Option<&'static str>,
    m: bool,
}

impl Libraries {
    /// Whatever objects for a target may need: glibc has vector mathematics for x86-64, and SLEEF is used where it is
    /// installed.
    fn all(&mut self, triple: &str) {
        self.m = true;
        self.mvec = libmvec::is_for(triple);
        if self.mvec && process_has_symbol("Sleef_sinf4_u10sse4") {
            self.sleef = sleef();
        }
    }

    /// What an object needs.
    fn add(&mut self, path: &Path) -> Result<()> {
        let wrong = |message: &str| Error::input(path, message);
        if InputKind::of(path).is_ok() || path.extension().is_some_and(|suffix| suffix == "s") {
            return Err(wrong("it is no object; write one by `warpline vectorize … -o NAME.o`"));
        }
        let bytes = std::fs::read(path).map_err(|error| wrong(&format!("it cannot be read: {error}")))?;
        let file =
            object::File::parse(&*bytes).map_err(|_| wrong("it is no object that can be read (ELF)"))?;
        for symbol in file.symbols().filter(|symbol| symbol.is_undefined()) {
            let name = symbol.name().unwrap_or_default();
            if name.starts_with("_ZGV") {
                (self.mvec, self.m) = (true, true);
            } else if name.starts_with("Sleef_") {
                self.m = true;
                self.sleef = self.sleef.or_else(|| Some(sleef().unwrap_or("-lsleef")));
            } else {
                let bare = name.strip_suffix(['f', 'l']).unwrap_or(name);
                let is = |name: &str| MATHEMATICS.contains(&format!(" {name} "));
                self.m |= !name.is_empty() && (is(name) || is(bare));
            }
        }
        Ok(())
    }

    fn flags(&self) -> String {
        let all = [self.mvec.then_some("-lmvec"), self.sleef, self.m.then_some("-lm")];
        all.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// How SLEEF is linked, if it is installed: distributions have the library for programs that run without the name that
/// linkers look for.
fn sleef() -> Option<&'static str> {
    let finds = |name: &str| {
        let asked = Command::new("cc").arg(format!("-print-file-name={name}")).output();
        asked.is_ok_and(|output| output.stdout.contains(&b'/'))
    };
    let ways = [("libsleef.so", "-lsleef"), ("libsleef.so.3", "-l:libsleef.so.3")];
    ways.into_iter().find(|(name, _)| finds(name)).map(|(_, flag)| flag)
}

/// The folder of the header.
fn include_folder() -> Result<PathBuf> {
    let found = beside(&["include", "crates/warpline-lanes/include"], "warpline.h");
    match found {
        Some(folder) => Ok(folder),
        None => unpacked("include", &[("warpline.h", warpline_llvm::C_HEADER)]),
    }
}

/// The folder for CMake.
fn cmake_folder() -> Result<PathBuf> {
    if let Some(folder) = beside(&["share/cmake/Warpline", "cmake"], "WarplineConfig.cmake") {
        return Ok(folder);
    }
    let program = std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned));
    // So that it is found where it is not on the path.
    let hint = program.filter(|path| !path.contains(['"', '\\', '$', '\n'])).map_or(String::new(), |path| {
        format!("set(WARPLINE_EXECUTABLE \"{path}\" CACHE FILEPATH \"The program warpline\")\n")
    });
    unpacked(
        "cmake",
        &[
            ("Warpline.cmake", include_str!("../cmake/Warpline.cmake")),
            ("WarplineConfig.cmake", include_str!("../cmake/WarplineConfig.cmake")),
            ("WarplineProgram.cmake", &hint),
        ],
    )
}

/// One of these folders of the place where the program is installed or built, if it has a file.
fn beside(folders: &[&str], file: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    let around = program.parent()?.ancestors().skip(1).take(2);
    let mut all = around.flat_map(|prefix| folders.iter().map(move |folder| prefix.join(folder)));
    all.find(|folder| folder.join(file).is_file())
}

/// A folder of this version that has these files, which are written if they are not there.
fn unpacked(folder: &str, files: &[(&str, &str)]) -> Result<PathBuf> {
    let given = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let usual = || given("XDG_DATA_HOME").or_else(|| Some(given("HOME")?.join(".local/share")));
    let data = given("WARPLINE_DATA").or_else(|| Some(usual()?.join("warpline")));
    let data = data.ok_or_else(|| {
        Error::option("--print", "there is no folder for data: set WARPLINE_DATA to the path of one")
    })?;
    let folder = data.join(env!("CARGO_PKG_VERSION")).join(folder);
    for (name, text) in files {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            continue;
        }
        let written = || -> std::io::Result<()> {
            std::fs::create_dir_all(&folder)?;
            let mut new = tempfile::NamedTempFile::new_in(&folder)?;
            new.write_all(text.as_bytes())?;
            new.as_file().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
            new.persist(&path)?;
            Ok(())
        };
        written().map_err(|error| Error::input(&path, format!("it cannot be written: {error}")))?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_words_of_a_shell() {
        assert_eq!(word(Path::new("/a b/c'd")), "/a\\ b/c\\'d");
        assert_eq!(word(Path::new("/usr/include")), "/usr/include");
    }

    #[test]
    fn this_is_asked_for_before_any_verb() {
        let of = |text: &str| is_asked(&text.split(' ').map(Into::into).collect::<Vec<_>>());
        assert!(of("warpline --print version") && of("warpline --print=libs k.o"));
        assert!(!of("warpline run --print k.c") && !of("warpline --print-after"));
    }
}
