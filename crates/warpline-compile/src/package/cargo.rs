//! Running cargo.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::{NESTED, Target};
use crate::error::{Error, Result};

/// How a target is compiled.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The folder for all that is made.
    pub folder: PathBuf,
    /// The features of the package; `None` for its default ones.
    pub features: Option<BTreeSet<String>>,
    /// The triple, if it is not this machine's.
    pub triple: Option<String>,
    /// The package's build script, which runs already.
    pub script: Option<PathBuf>,
    /// Whether all functions of the crate are compiled, not only those that others may call.
    pub all_functions: bool,
}

/// What was made of a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Built {
    /// The file with its bitcode.
    pub bitcode: PathBuf,
    /// The files with bitcode of the crates that it depends on.
    pub parts: Vec<OsString>,
    /// The files that it was made of.
    pub files: Vec<PathBuf>,
}

/// The profile that the crate is compiled with.
const PROFILE: [&str; 8] = [
    "inherits=\"release\"",
    "opt-level=3",
    "codegen-units=1",
    "lto=\"off\"",
    "debug=\"line-tables-only\"",
    "debug-assertions=false",
    "overflow-checks=false",
    "incremental=false",
];

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What cargo says to a build script would be taken for what is said to a compiler.
    for (name, _) in std::env::vars_os() {
        let of_script = name.to_str().is_some_and(|name| {
            ["CARGO_FEATURE_", "CARGO_CFG_", "CARGO_PKG_", "DEP_"].iter().any(|start| name.starts_with(start))
        });
        if of_script {
            command.env_remove(name);
        }
    }
    for name in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "OUT_DIR", "RUSTC_WORKSPACE_WRAPPER"] {
        command.env_remove(name);
    }
    command
}

/// Runs cargo; what it prints to standard output.
fn run(command: &mut Command, manifest: &Path) -> Result<String> {
    log::debug!("running {command:?}");
    let output = command
        .output()
        .map_err(|error| Error::input(manifest, format!("cargo cannot be started: {error}; set CARGO")))?;
    if !output.status.success() {
        let mut message = "cargo cannot compile it for warpline:\n".to_owned();
        message += &rendered(&String::from_utf8_lossy(&output.stdout));
        message += &String::from_utf8_lossy(&output.stderr);
        return Err(Error::input(manifest, message.trim_end()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The compiler's errors among cargo's messages.
fn rendered(messages: &str) -> String {
    let text = |message: Value| {
        let message = message.get("message")?;
        (message.get("level")?.as_str()? == "error")
            .then(|| message.get("rendered")?.as_str().map(str::to_owned))?
    };
    messages.lines().filter_map(|line| text(serde_json::from_str(line).ok()?)).collect()
}

fn metadata(manifest: &Path, arguments: &[String]) -> Result<Value> {
    let mut command = cargo();
    command
        .args(["metadata", "--format-version=1", "--offline", "--manifest-path"])
        .arg(manifest)
        .args(arguments);
    let text = run(&mut command, manifest)?;
    serde_json::from_str(&text)
        .map_err(|error| Error::input(manifest, format!("what cargo says of it cannot be read: {error}")))
}

/// What cargo says of a package alone. A build asks several times, and cargo is asked once.
fn described(manifest: &Path) -> Result<Arc<Value>> {
    static KNOWN: Mutex<BTreeMap<PathBuf, Arc<Value>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(metadata) = known.get(manifest) {
        return Ok(metadata.clone());
    }
    let metadata = Arc::new(metadata(manifest, &["--no-deps".to_owned()])?);
    known.insert(manifest.to_owned(), metadata.clone());
    Ok(metadata)
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The package of a manifest among what cargo says.
fn package<'a>(metadata: &'a Value, manifest: &Path) -> Result<&'a Value> {
    list(metadata, "packages")
        .find(|package| Path::new(text(package, "manifest_path")) == manifest)
        .ok_or_else(|| Error::input(manifest, "cargo knows no package here"))
}

/// The library and the programs of a package, with their roots.
pub(super) fn targets(manifest: &Path) -> Result<Vec<(Target, PathBuf)>> {
    let metadata = described(manifest)?;
    let mut found = Vec::new();
    for target in list(package(&metadata, manifest)?, "targets") {
        let is = |kind: &str| list(target, "kind").any(|one| one.as_str() == Some(kind));
        let is_lib = ["lib", "rlib", "dylib", "cdylib", "staticlib"].iter().any(|kind| is(kind));
        if is_lib || is("bin") {
            let own = Target {
                manifest: manifest.to_owned(),
                name: text(target, "name").to_owned(),
                is_bin: !is_lib,
            };
            found.push((own, PathBuf::from(text(target, "src_path"))));
        }
    }
    Ok(found)
}

/// The features of a package that cargo names to its build script, by variables.
pub fn features_of_script(manifest: &Path) -> Result<BTreeSet<String>> {
    let metadata = described(manifest)?;
    let known = package(&metadata, manifest)?.get("features").and_then(Value::as_object);
    let is_set = |name: &&String| {
        let plain = |c: char| if c == '-' { '_' } else { c.to_ascii_uppercase() };
        std::env::var_os(format!("CARGO_FEATURE_{}", name.chars().map(plain).collect::<String>())).is_some()
    };
    Ok(known.into_iter().flat_map(|features| features.keys()).filter(is_set).cloned().collect())
}

/// Where a package's workspace has its target folder.
pub fn target_folder(manifest: &Path) -> Result<PathBuf> {
    let metadata = described(manifest)?;
    Ok(PathBuf::from(text(&metadata, "target_directory")))
}

impl Request {
    /// Compiles a target.
    ///
    /// # Errors
    /// What cargo and rustc say.
    pub fn build(&self, target: &Target) -> Result<Built> {
        let manifest = &target.manifest;
        if randomizes_layout() {
            let message = "with `-Zrandomize-layout`, types look different wherever they are compiled";
            return Err(Error::input(manifest, message));
        }
        let features = self.feature_arguments();
        let mut platforms = features.clone();
        platforms.push(format!("--filter-platform={}", warpline_llvm::host_triple()?));
        platforms.extend(self.triple.iter().map(|triple| format!("--filter-platform={triple}")));
        let metadata = metadata(manifest, &platforms)?;
        self.prepare(&needed(&metadata, manifest, self.script.is_none())?)?;
        let said = run(self.command(target).args(&features), manifest)?;
        let root = text(package(&metadata, manifest)?, "id");
        self.outcome(&said, root, target, &metadata)
    }

    fn feature_arguments(&self) -> Vec<String> {
        let Some(features) = &self.features else { return Vec::new() };
        let mut arguments = vec!["--no-default-features".to_owned()];
        if !features.is_empty() {
            arguments.push(format!("--features={}", features.iter().cloned().collect::<Vec<_>>().join(",")));
        }
        arguments
    }

    /// The script that stands between cargo and rustc. Its name changes with its text, so that cargo compiles anew.
    fn wrapper(&self) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        RUSTC.hash(&mut hasher);
        self.folder.join(format!("rustc-{:016x}.sh", hasher.finish()))
    }

    /// Writes the files that the script needs: `packages` are the folders of those that are compiled.
    fn prepare(&self, packages: &BTreeSet<String>) -> Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        let wrapper = self.wrapper();
        let failed =
            |error: std::io::Error| Error::Output { path: self.folder.clone(), reason: error.to_string() };
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        let list: String = packages.iter().flat_map(|folder| [folder, "\n"]).collect();
        for (path, contents) in [
            (self.folder.join("packages"), &*list),
            (self.folder.join("empty.rs"), "fn main() {}\n"),
            (self.folder.join("script.rs"), SCRIPT),
            (wrapper.clone(), RUSTC),
        ] {
            // What is there already keeps its time.
            if std::fs::read(&path).is_ok_and(|known| known == contents.as_bytes()) {
                continue;
            }
            std::fs::write(&path, contents).map_err(failed)?;
        }
        std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).map_err(failed)
    }

    fn command(&self, target: &Target) -> Command {
        let mut command = cargo();
        command.args([
            "build",
            "--offline",
            "--message-format=json",
            "--profile=warpline",
            "--manifest-path",
        ]);
        command.arg(&target.manifest).arg("--target-dir").arg(self.folder.join("target"));
        for setting in PROFILE {
            command.arg("--config").arg(format!("profile.warpline.{setting}"));
        }
        match target.is_bin {
            true => command.args(["--bin", &target.name]),
            false => command.arg("--lib"),
        };
        if let Some(triple) = &self.triple {
            command.args(["--target", triple]);
        }
        let yes_or_no = if target.is_bin { "yes" } else { "no" };
        command
            .env("RUSTC_WRAPPER", self.wrapper())
            .env(NESTED, &self.folder)
            .env("WARPLINE_NESTED_ROOT", target.manifest.parent().unwrap_or(Path::new("")))
            .env("WARPLINE_NESTED_CRATE", target.name.replace('-', "_"))
            .env("WARPLINE_NESTED_BIN", yes_or_no)
            .env(
                "WARPLINE_NESTED_FLAGS",
                match (self.script.is_some(), self.all_functions) {
                    (true, _) => "-Cpanic=unwind",
                    (false, false) => "-Cpanic=abort",
                    (false, true) => "-Cpanic=abort -Clink-dead-code",
                },
            );
        match &self.script {
            Some(script) => command.env("WARPLINE_NESTED_SCRIPT", script).env(STAMP, stamp(script)),
            None => command.env_remove("WARPLINE_NESTED_SCRIPT"),
        };
        command
    }

    /// What cargo says that it has made.
    fn outcome(&self, said: &str, root: &str, target: &Target, metadata: &Value) -> Result<Built> {
        let mut bitcode = None;
        let mut parts = Vec::new();
        let mut rules = vec![self.folder.join("files.d")];
        for line in said.lines() {
            let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
            if text(&message, "reason") != "compiler-artifact" {
                continue;
            }
            let files: Vec<&str> = list(&message, "filenames").filter_map(Value::as_str).collect();
            let of = message.get("target").unwrap_or(&Value::Null);
            let is_bin = list(of, "kind").any(|kind| kind.as_str() == Some("bin"));
            let is_own = text(&message, "package_id") == root
                && text(of, "name") == target.name
                && is_bin == target.is_bin
                && list(of, "kind").all(|kind| kind.as_str() != Some("custom-build"));
            if is_own {
                bitcode = files.into_iter().map(PathBuf::from).find(|file| is_bitcode(file));
                continue;
            }
            if text(&message, "package_id").starts_with("path+") {
                rules.extend(files.iter().filter_map(|file| beside(Path::new(file), "d")));
            }
            let rlib = files.iter().find(|file| file.ends_with(".rlib") || file.ends_with(".rmeta"));
            let part = rlib.and_then(|file| beside(Path::new(file), "bc"));
            parts.extend(part.map(OsString::from));
        }
        let bitcode = bitcode.ok_or_else(|| {
            Error::input(&target.manifest, "cargo does not say what it has made of the crate for warpline")
        })?;
        Ok(Built { bitcode, parts, files: self.files(&rules, metadata) })
    }

    /// The files that the target and the packages that it depends on by a path were made of, by compilers' rules.
    fn files(&self, rules: &[PathBuf], metadata: &Value) -> Vec<PathBuf> {
        let root = PathBuf::from(text(metadata, "workspace_root"));
        let mut files: BTreeSet<PathBuf> = BTreeSet::new();
        for rule in rules {
            let rule = std::fs::read(rule).unwrap_or_default();
            let read = warpline_llvm::flags::prerequisites(&String::from_utf8_lossy(&rule));
            files.extend(read.into_iter().map(|file| root.join(file)));
        }
        files.insert(root.join("Cargo.lock"));
        for package in
            list(metadata, "packages").filter(|package| package.get("source") == Some(&Value::Null))
        {
            let manifest = PathBuf::from(text(package, "manifest_path"));
            files.insert(manifest);
        }
        files.retain(|file| file.is_file() && !file.starts_with(&self.folder));
        files.into_iter().collect()
    }
}

/// The variable by which a build script that was compiled anew is known to be another one.
pub const STAMP: &str = "WARPLINE_NESTED_STAMP";

/// When and how large a program was made: another one is not the same.
pub fn stamp(script: &Path) -> String {
    let known = std::fs::metadata(script).ok();
    let time = known.as_ref().and_then(|known| known.modified().ok());
    let since = time.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok()).unwrap_or_default();
    format!("{} {}", since.as_nanos(), known.map_or(0, |known| known.len()))
}

fn randomizes_layout() -> bool {
    ["CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS"]
        .iter()
        .any(|name| std::env::var(name).is_ok_and(|flags| flags.contains("randomize-layout")))
}

fn is_bitcode(file: &Path) -> bool {
    use std::io::Read as _;
    let mut start = [0; 2];
    std::fs::File::open(file).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == *b"BC"
}

/// The file beside a library that the compiler has made of the same crate.
fn beside(library: &Path, extension: &str) -> Option<PathBuf> {
    let stem = library.file_stem()?.to_str()?.strip_prefix("lib")?;
    let beside = library.with_file_name(format!("{stem}.{extension}"));
    beside.is_file().then_some(beside)
}

/// The folders of the packages that the target needs: what its own build script needs is among them only `with_script`.
fn needed(metadata: &Value, manifest: &Path, with_script: bool) -> Result<BTreeSet<String>> {
    let root = text(package(metadata, manifest)?, "id");
    let nodes: BTreeMap<&str, &Value> = metadata
        .get("resolve")
        .into_iter()
        .flat_map(|resolve| list(resolve, "nodes"))
        .map(|node| (text(node, "id"), node))
        .collect();
    let mut seen: BTreeSet<&str> = BTreeSet::from([root]);
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        let Some(node) = nodes.get(id) else { continue };
        for dependency in list(node, "deps") {
            let counts = |kind: &Value| match kind.get("kind").and_then(Value::as_str) {
                None => true,
                Some("build") => id != root || with_script,
                Some(_) => false,
            };
            let package = text(dependency, "pkg");
            if list(dependency, "dep_kinds").any(counts) && seen.insert(package) {
                open.push(package);
            }
        }
    }
    let folder = |package: &Value| {
        let manifest = Path::new(text(package, "manifest_path"));
        manifest.parent().map(|folder| folder.display().to_string())
    };
    Ok(list(metadata, "packages")
        .filter(|package| seen.contains(text(package, "id")))
        .filter_map(folder)
        .collect())
}

const RUSTC: &str = include_str!("rustc.sh");
const SCRIPT: &str = include_str!("script.rs");
