//! One library of kernels: what it is made of, what it is called, and how it is linked.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::{Builder, Choice};

/// The CPUs besides that which has what every machine has, where none are named.
const DEFAULT_CPUS: [&str; 2] = ["x86-64-v3", "x86-64-v4"];

/// A library that is to be built.
#[cfg_attr(not(feature = "compile"), expect(dead_code, reason = "only who compiles asks for all of it"))]
pub(crate) struct Project {
    /// The sources, as they were named.
    pub sources: Vec<PathBuf>,
    /// The CPUs that are named, or stand for no names.
    pub cpus: Vec<String>,
    /// The number of lanes.
    pub width: Option<u32>,
    /// The largest error of vector math.
    pub math_ulp: u32,
    /// Where branches skip code without an active lane.
    pub boscc: Choice,
    /// For which loops there is code for lanes that agree.
    pub coherence: Choice,
    /// Whether cargo is to print performance remarks.
    pub remarks: bool,
    /// The library's name.
    pub name: String,
    /// The target's triple.
    pub target: String,
    /// The triple of the machine that builds.
    pub host: String,
    /// Whether debuggers are to know lines of the sources: as cargo says, and never in code that goes to others.
    pub debug: bool,
    /// Where code that was built before is kept.
    pub prebuilt: Option<PathBuf>,
    /// What sources and options come to; another if any of them changes.
    pub fingerprint: u64,
    /// The name and version of the package.
    pub package: String,
    /// The program of the build script.
    pub script: PathBuf,
    /// Where files are put.
    pub out: PathBuf,
}

/// What a library consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Built {
    /// The functions in Rust.
    pub wrappers: String,
    /// The static library.
    pub archive: Vec<u8>,
    /// The system's libraries that it needs.
    pub libraries: Vec<String>,
    /// What the attribute for kernels must know of those of the crate's own modules, a line for each.
    pub table: Vec<Row>,
    /// The files that this was made of besides the sources.
    pub files: Vec<PathBuf>,
}

/// A kernel of a crate's own module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The source, as it was named.
    pub source: PathBuf,
    /// The line of the kernel's name, the name, and what was made of it, with tabs between them.
    pub rest: String,
}

impl Project {
    /// Collects what cargo says of this build, and reads the sources.
    pub(crate) fn of_this_build(builder: &Builder, name: &str) -> Result<Project> {
        let variable =
            |variable: &'static str| std::env::var(variable).map_err(|_| Error::NoBuildScript { variable });
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            let message = format!("`{name}` cannot be a library's name: use letters, digits and `_`");
            return Err(Error::Option { message });
        }
        if builder.sources.is_empty() {
            let message = "no source was given: `Builder::source` adds one".to_owned();
            return Err(Error::Option { message });
        }
        let target = variable("TARGET")?;
        let cpus = match &builder.cpus {
            Some(cpus) => cpus.clone(),
            None if target.starts_with("x86_64") => DEFAULT_CPUS.map(str::to_owned).to_vec(),
            None => vec!["generic".to_owned()],
        };
        let package = variable("CARGO_PKG_NAME")?;
        let script = match &builder.script {
            Some(script) => script.clone(),
            None => std::env::current_exe()
                .map_err(|error| Error::io("cannot find", "the program of the build script", &error))?,
        };
        let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
        let mut hash = Fnv::default();
        hash.add(env!("CARGO_PKG_VERSION").as_bytes());
        let Builder { width, math_ulp, boscc, coherence, .. } = builder;
        hash.add(format!("{cpus:?} {width:?} {math_ulp} {boscc:?} {coherence:?}").as_bytes());
        for path in builder.sources.iter().chain(&builder.parts) {
            println!("cargo:rerun-if-changed={}", path.display());
            let text = std::fs::read(path).map_err(|error| Error::io("cannot read", path, &error))?;
            hash.add(path.to_string_lossy().as_bytes());
            // Version control may have changed the ends of lines.
            hash.add(&text.into_iter().filter(|&byte| byte != b'\r').collect::<Vec<u8>>());
        }
        for variable in ["WARPLINE_PREBUILT", "WARPLINE_LLVM", "WARPLINE_WORKER", "CLANG"] {
            println!("cargo:rerun-if-env-changed={variable}");
        }
        Ok(Project {
            sources: builder.sources.clone(),
            cpus,
            width: builder.width,
            math_ulp: builder.math_ulp,
            boscc: builder.boscc,
            coherence: builder.coherence,
            remarks: builder.remarks,
            name: name.to_owned(),
            target,
            host: variable("HOST")?,
            debug: std::env::var("DEBUG").is_ok_and(|level| level != "false")
                && !crate::prebuilt::asked("update"),
            prebuilt: builder.prebuilt.clone(),
            fingerprint: hash.0,
            package: format!("{package} {version}"),
            script,
            out: variable("OUT_DIR")?.into(),
        })
    }

    /// Whether it has sources in OpenCL C.
    #[cfg(feature = "compile")]
    pub(crate) fn is_opencl(&self) -> bool {
        self.sources.iter().any(|source| crate::opencl::is_one(source))
    }

    /// Makes code, and keeps it where that is asked for.
    #[cfg(feature = "compile")]
    pub(crate) fn compile(&self) -> Result<Built> {
        let built = crate::compile::compile(self)?;
        crate::prebuilt::keep(self, &built)?;
        Ok(built)
    }

    /// Puts the library where cargo wants it, and says that it is to be linked.
    pub(crate) fn link(&self, built: &Built) -> Result<()> {
        let (package, _) = self.package.split_once(' ').unwrap_or_default();
        let library = format!("warpline_{}_{}", package.replace('-', "_"), self.name);
        write(&self.out.join(format!("lib{library}.a")), &built.archive)?;
        self.write_functions(built)?;
        for file in &built.files {
            println!("cargo:rerun-if-changed={}", file.display());
        }
        println!("cargo:rustc-link-search=native={}", self.out.display());
        println!("cargo:rustc-link-lib=static={library}");
        for library in &built.libraries {
            println!("cargo:rustc-link-lib={library}");
        }
        Ok(())
    }
}

impl Project {
    /// Writes the functions, and what the attribute for kernels must know.
    pub(crate) fn write_functions(&self, built: &Built) -> Result<()> {
        write(&self.out.join(format!("{}.rs", self.name)), built.wrappers.as_bytes())?;
        let folder = self.out.join("warpline");
        std::fs::create_dir_all(&folder).map_err(|error| Error::io("cannot create", &folder, &error))?;
        let mut lines = String::new();
        for Row { source, rest } in &built.table {
            let path = source.canonicalize().map_err(|error| Error::io("cannot read", source, &error))?;
            lines += &format!("{}\t{rest}\n", path.display());
        }
        write(&folder.join(format!("{}.kernels", self.name)), lines.as_bytes())
    }
}

/// Writes a file.
pub(crate) fn write(path: &Path, contents: &[u8]) -> Result<()> {
    std::fs::write(path, contents).map_err(|error| Error::io("cannot write", path, &error))
}

/// The hash function of Fowler, Noll and Vo, on 64 bits: the same with every compiler and on every machine.
pub(crate) struct Fnv(pub u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds a piece, with its length, so that pieces cannot run into each other.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for &byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
