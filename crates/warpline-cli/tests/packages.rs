//! Rust files that are modules of a package: cargo compiles the crate for warpline where the file needs it.

use std::path::Path;
use std::process::{Command, Output};

use warpline_testkit::programs_run::root;

/// Runs warpline in a folder, with a target folder for cargo.
fn warpline(folder: &Path, target: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpline"));
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_") && name != "CARGO_HOME") {
            command.env_remove(name);
        }
    }
    command.args(arguments).current_dir(folder).env("CARGO_TARGET_DIR", target).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn kernels_of_a_ray_tracer_are_compiled_with_their_crate() {
    let target = tempfile::tempdir().unwrap();
    let folder = root().join("filetests/projects/raytracer");
    let run = |arguments: &[&str]| {
        let output = warpline(&folder, target.path(), arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let binds = [
        "camera=f32[5]=random",
        "spheres.0=f32[160]=random",
        "spheres.1=20",
        "sunlight=f32[3]=random",
        "warpline_out=u8[3072]=zero",
    ];
    let mut arguments = vec!["run", "src/render.rs", "--range", "0..1024"];
    arguments.extend(binds.iter().flat_map(|bind| ["--bind", bind]));
    let said = run(&arguments);
    assert!(said.contains("color: vectorized with") && said.contains("; 0 mismatches"), "{said}");
    let header = target.path().join("scene.h");
    let object = target.path().join("scene.o");
    let said = run(&[
        "vectorize",
        "src/scene/mod.rs",
        "-o",
        object.to_str().unwrap(),
        "--header",
        header.to_str().unwrap(),
    ]);
    // The attribute says so.
    assert!(said.contains("nearest: vectorized with 8 lanes"), "{said}");
    let header = std::fs::read_to_string(header).unwrap();
    assert!(
        header.contains("void nearest_range(int64_t begin, int64_t end, void *self, void *ray,"),
        "{header}"
    );
    assert!(header.contains("each next index gets 24 more"), "{header}");
}

#[test]
fn a_file_that_is_complete_needs_no_crate() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    put("Cargo.toml", "[package]\nname = \"alone\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n");
    put("src/lib.rs", "mod kernels;\nmod other;\nthis is no Rust\n");
    let kernel =
        "#[warpline_lanes::kernel(i = index)]\npub fn twice(i: usize, y: &mut usize) { *y = 2 * i; }\n";
    put("src/kernels.rs", kernel);
    put("src/other.rs", &format!("use crate::helper;\n{}", kernel.replace("2 * i", "helper(i)")));
    let target = folder.path().join("target");
    let run = |source: &str| warpline(folder.path(), &target, &["vectorize", source, "-o", "out.s"]);
    let output = run("src/kernels.rs");
    assert!(output.status.success() && !target.exists(), "{}", text(&output.stderr));
    // No module of the crate that can be read.
    let output = run("src/other.rs");
    assert!(
        !output.status.success() && text(&output.stderr).contains("crate::helper"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn structs_and_methods_of_a_single_file_are_known_to_its_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let source = "use warpline_lanes::kernel;
#[derive(Clone, Copy)]
pub struct Ball { pub mass: f64, pub place: [f32; 3] }
impl Ball {
    #[kernel(i = index)]
    pub fn fallen(&self, i: usize, by: &f32) -> Option<Ball> {
        let mut place = self.place;
        place[2] -= by + i as f32;
        if place[2] > 0.0 { Some(Ball { place, ..*self }) } else { None }
    }
}
#[kernel(i = index, T = f32)]
pub fn scaled<T: Copy + std::ops::Mul<Output = T>>(i: usize, by: T, ball: Ball, y: &mut T) {
    if i as f64 > ball.mass { *y = *y * by; }
}
";
    std::fs::write(folder.path().join("balls.rs"), source).unwrap();
    let run = |arguments: &[&str]| {
        let output = warpline(folder.path(), &folder.path().join("target"), arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let said = run(&["vectorize", "balls.rs", "-o", "balls.o", "-q"]);
    assert!(said.is_empty(), "{said}");
    let range = ["--function", "scaled_f32", "--range", "0..100", "--bind", "ball=f64[3]=random"];
    let binds = ["--bind", "by=2.5", "--bind", "y=f32[100]=random"];
    let said = run(&[&["run", "balls.rs"], &range[..], &binds[..]].concat());
    assert!(said.contains("; 0 mismatches"), "{said}");
}

/// An ordinary module, which needs the rest of its crate, and whose loops are meant.
#[test]
fn loops_of_a_module_are_compiled_by_cargo_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    put("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n");
    put("build.rs", "fn main() { println!(\"cargo:rustc-env=FACTOR=3\"); }\n");
    put("src/main.rs", "mod prices;\nmod work;\nfn main() { work::raise(&mut []); }\n");
    put("src/prices.rs", "#[derive(Clone, Copy)]\npub struct Price { pub value: f32, pub kind: u32 }\n");
    put(
        "src/work.rs",
        "use crate::prices::Price;
pub fn raise(all: &mut [Price]) {
    let factor = env!(\"FACTOR\").len() as f32;
    for price in all {
        if price.kind > 2 { price.value += factor; }
    }
}
fn least(all: &[u8]) -> u8 {
    let mut least = 255;
    for &x in all { if x < least { least = x; } }
    least
}
",
    );
    let target = folder.path().join("target");
    let run = |arguments: &[&str]| warpline(folder.path(), &target, arguments);
    let alone = run(&["run", "src/work.rs"]);
    let said = text(&alone.stderr);
    assert_eq!(alone.status.code(), Some(2), "{said}");
    assert!(said.contains("hint: it may be a module of a package: `-p .` has cargo compile that"), "{said}");
    assert!(!target.exists(), "a build script may have run, and nobody has asked for that");

    let both = run(&["run", "src/work.rs", "-p", "."]);
    let said = text(&both.stdout) + &text(&both.stderr);
    assert!(both.status.success() && said.matches("; 0 mismatches").count() == 2, "{said}");
    assert!(said.contains("shop::work::raise: loop at work.rs:4"), "{said}");
    assert!(said.contains("shop::work::least: loop at work.rs:10"), "{said}");

    // All modules of a package, on one page.
    let page = run(&["report", "-p", ".", "--cpu", "x86-64-v3"]);
    let said = text(&page.stdout) + &text(&page.stderr);
    assert!(page.status.success() && said.contains("of 3 inputs"), "{said}");
    assert!(said.contains("cannot be vectorized: 0\n"), "{said}");
}

/// A build script without the compiler in it: its package builds one small crate of warpline, and has the program compile.
#[test]
fn a_build_script_has_an_installed_program_compile() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    let path = |name: &str| root().join("crates").join(name).canonicalize().unwrap();
    put(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
             [dependencies]\nwarpline-lanes = {{ path = {:?} }}\n[build-dependencies]\nwarpline-build = {{ path = {:?}, \
             default-features = false }}\n",
            path("warpline-lanes"),
            path("warpline-build")
        ),
    );
    put(
        "build.rs",
        "fn main() -> Result<(), warpline_build::Error> {\n    \
         warpline_build::Builder::new().source(\"src/kernels.rs\").build(\"vector\")\n}\n",
    );
    put(
        "src/kernels.rs",
        "#[warpline_lanes::kernel(_i = index)]\npub fn saxpy(_i: usize, a: f32, x: &f32, y: &mut f32) {\n    *y += a * *x + \
         crate::ONE;\n}\n",
    );
    put(
        "src/main.rs",
        "mod kernels;\nmod vector {\n    include!(concat!(env!(\"OUT_DIR\"), \"/vector.rs\"));\n}\nconst ONE: f32 = \
         1.0;\nfn main() {\n    let (x, mut y) = ([2.0; 99], [1.0; 99]);\n    vector::saxpy(0..99, 3.0, &x, &mut y);\n    \
         assert_eq!(y, [8.0; 99]);\n    println!(\"{}\", vector::saxpy_cpu());\n}\n",
    );
    let build = |worker: &Path| {
        let mut cargo = Command::new(env!("CARGO"));
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("CARGO_") && name != "CARGO_HOME") {
                cargo.env_remove(name);
            }
        }
        cargo.args(["run", "--offline"]).current_dir(folder.path()).env("WARPLINE_WORKER", worker);
        cargo.env("CARGO_TARGET_DIR", folder.path().join("target")).output().unwrap()
    };
    let built = build(Path::new(env!("CARGO_BIN_EXE_warpline")));
    let said = text(&built.stderr);
    assert!(built.status.success(), "{said}");
    assert!(
        text(&built.stdout).contains("x86-64") || !cfg!(target_arch = "x86_64"),
        "{}",
        text(&built.stdout)
    );
    assert!(!said.contains("warpline-llvm"), "the compiler was built: {said}");

    // What is wrong with a kernel, and with the program, is said by the build script.
    put(
        "src/kernels.rs",
        "#[warpline_lanes::kernel(_i = index)]\npub fn saxpy(_i: usize, a: f32, x: &f32, y: &mut f32) {\n    *y += a * *x + \
         format!(\"{a}\").len() as f32 * crate::ONE;\n}\n",
    );
    let said = text(&build(Path::new(env!("CARGO_BIN_EXE_warpline"))).stderr);
    assert!(said.contains("src/kernels.rs:2") && said.contains("saxpy"), "{said}");
    let said = text(&build(Path::new("/nowhere/warpline")).stderr);
    assert!(
        said.contains("/nowhere/warpline cannot be started") && said.contains("cargo install warpline-cli"),
        "{said}"
    );
}
