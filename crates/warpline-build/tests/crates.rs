//! Crates whose kernels use the rest of the crate: cargo builds them, their programs compare kernels over ranges with
//! the kernels as they are.
//!
//! This program plays three parts: it is the tests; started by a crate's `build.rs`, with [`SOURCES`] in its
//! environment, the build script; and started by that, a worker. So it has a `main` of its own. Crates get by this
//! with one dependency, the small crate `warpline-lanes`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The sources that the build script names.
const SOURCES: &str = "WARPLINE_TEST_SOURCES";
/// The CPUs that it names, with commas between them.
const CPUS: &str = "WARPLINE_TEST_CPUS";
/// This program.
const PROGRAM: &str = "WARPLINE_TEST_PROGRAM";

fn main() {
    if let Ok(sources) = std::env::var(SOURCES) {
        return build_script(&sources);
    }
    type Test = fn();
    let tests: [(&str, Test); 1] =
        [("structs_and_functions_of_other_modules_work", structs_and_functions_of_other_modules_work)];
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for (name, test) in tests {
        if wanted.as_ref().is_none_or(|wanted| name.contains(wanted.as_str())) {
            test();
            println!("test {name} ... ok");
        }
    }
}

/// What a `build.rs` does.
fn build_script(sources: &str) {
    let mut builder = warpline_build::Builder::new();
    for source in sources.split(',') {
        builder = builder.source(source);
    }
    if let Ok(cpus) = std::env::var(CPUS) {
        builder = builder.cpus(cpus.split(','));
    }
    if let Err(error) = builder.build("vector") {
        eprintln!("{error:?}");
        std::process::exit(1);
    }
}

/// What starts this program as a build script.
const BUILD: &str = "
fn main() {
    let program = std::env::var_os(\"WARPLINE_TEST_PROGRAM\").unwrap();
    let status = std::process::Command::new(program).status().unwrap();
    std::process::exit(status.code().unwrap_or(1));
}
";

/// A crate in a folder of its own.
struct Crate {
    folder: tempfile::TempDir,
    sources: String,
    settings: Vec<(String, String)>,
}

impl Crate {
    /// A crate with these files; `manifest` is what stands behind the package's name.
    fn new(manifest: &str, files: &[(&str, &str)]) -> Crate {
        let folder = tempfile::tempdir().unwrap();
        let lanes = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("warpline-lanes");
        let made = Crate { folder, sources: "src/kernels.rs".to_owned(), settings: Vec::new() };
        made.put(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"a-crate\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{manifest}\n\
                 [workspace]\n[dependencies.warpline-lanes]\npath = {:?}\n",
                lanes.display()
            ),
        );
        made.put("build.rs", BUILD);
        for (name, text) in files {
            made.put(name, text);
        }
        made
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Runs cargo on it.
    fn cargo(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("CARGO")) {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TARGET_DIR", self.path("target"))
            .env(PROGRAM, std::env::current_exe().unwrap())
            .env(SOURCES, &self.sources)
            .env(CPUS, "x86-64,x86-64-v3")
            .envs(self.settings.iter().map(|(name, value)| (name, value)));
        command.output().unwrap()
    }

    /// Builds and runs its program, which must succeed; what it prints.
    #[track_caller]
    fn run(&self) -> String {
        let output = self.cargo(&["run", "--quiet"]);
        assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What all programs have.
const COMMON: &str = "
mod kernels;
mod vector { include!(concat!(env!(\"OUT_DIR\"), \"/vector.rs\")); }
/// Numbers that look random.
fn numbers(n: usize) -> Vec<f32> {
    let mut x = 12345u32;
    (0..n).map(|_| { x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223); (x >> 8) as f32 / 65536.0 - 100.0 }).collect()
}
";

fn structs_and_functions_of_other_modules_work() {
    let main = format!(
        "{COMMON}mod util;
fn main() {{
    let v = numbers(300);
    let spheres: Vec<util::Sphere> = v.chunks(4).map(|c| util::Sphere {{ center: [c[0], c[1], c[2]], radius: c[3].abs() }}).collect();
    for n in [0, 1, 7, 8, 75] {{
        let mut outs = [vec![0.0; n], vec![0.0; n]];
        for i in 0..n {{ kernels::nearest(i, &spheres, &v[i], &mut outs[0][i]); }}
        vector::nearest(0..n, &spheres, &v[..n], &mut outs[1]);
        assert_eq!(outs[0], outs[1]);
    }}
    println!(\"{{}}\", vector::nearest_cpu());
}}
"
    );
    let made = Crate::new(
        "",
        &[
            ("src/main.rs", &main),
            (
                "src/util.rs",
                "#[repr(C)] pub struct Sphere { pub center: [f32; 3], pub radius: f32 }\n\
                 pub fn distance(s: &Sphere, x: f32) -> f32 { let d = s.center[0] - x; (d * d + s.center[1] * s.center[2]).abs() - s.radius }\n",
            ),
            (
                "src/kernels.rs",
                "use crate::util::{self, Sphere};\nuse warpline_lanes::kernel;\n\
                 #[kernel(i = index)]\npub fn nearest(i: usize, all: &[Sphere], x: &f32, y: &mut f32) {\n\
                 let mut least = f32::MAX;\n for s in all { least = least.min(util::distance(s, *x)); }\n *y = least + i as f32;\n}\n",
            ),
        ],
    );
    let cpu = made.run();
    assert!(["x86-64\n", "x86-64-v3\n"].contains(&&*cpu), "{cpu}");
}
