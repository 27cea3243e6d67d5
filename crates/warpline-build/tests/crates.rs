//! Crates whose kernels use the rest of the crate: cargo builds them, their programs compare kernels over ranges with
//! the kernels as they are.
//!
//! This program plays three parts: it is the tests; started by a crate's `build.rs`, with [`SOURCES`] in its
//! environment, the build script; and started by that, a worker. So it has a `main` of its own. Crates get by this
//! with one dependency, the small crate `warpline-lanes`.

#[path = "crates/refused.rs"]
mod refused;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The sources that the build script names.
const SOURCES: &str = "WARPLINE_TEST_SOURCES";
/// The CPUs that it names, with commas between them.
const CPUS: &str = "WARPLINE_TEST_CPUS";
/// The folder that it keeps code in.
const KEPT: &str = "WARPLINE_TEST_KEPT";
/// This program.
const PROGRAM: &str = "WARPLINE_TEST_PROGRAM";

fn main() {
    if let Ok(sources) = std::env::var(SOURCES) {
        return build_script(&sources);
    }
    type Test = fn();
    let tests: [(&str, Test); 13] = [
        ("structs_and_functions_of_other_modules_work", structs_and_functions_of_other_modules_work),
        ("types_of_every_kind_are_passed_and_returned", types_of_every_kind_are_passed_and_returned),
        ("panics_say_what_the_kernel_says_and_are_caught", panics_say_what_the_kernel_says_and_are_caught),
        ("functions_of_other_crates_have_bodies", functions_of_other_crates_have_bodies),
        ("only_kernels_that_change_are_made_anew", only_kernels_that_change_are_made_anew),
        ("libraries_and_nested_modules_have_kernels", libraries_and_nested_modules_have_kernels),
        ("what_cannot_be_compiled_is_refused_by_name", refused::what_cannot_be_compiled_is_refused_by_name),
        ("a_ray_tracer_is_vectorized_as_it_is", a_ray_tracer_is_vectorized_as_it_is),
        ("the_guides_crate_runs", the_guides_crate_runs),
        ("conditions_say_which_functions_are_kernels", refused::conditions_say_which_functions_are_kernels),
        ("lane_operations_are_those_of_many_lanes", lane_operations_are_those_of_many_lanes),
        ("prebuilt_code_of_a_crate_needs_no_compiler", prebuilt_code_of_a_crate_needs_no_compiler),
        ("crates_are_built_for_other_machines", crates_are_built_for_other_machines),
    ];
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
    if let Some(folder) = std::env::var_os(KEPT) {
        builder = builder.prebuilt(folder);
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
    (0..n).map(|_| { x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223); (x >> 8) as f32 / 65536.0 - 100.0 \
                      }).collect()
}
";

fn structs_and_functions_of_other_modules_work() {
    let main = format!(
        "{COMMON}mod util;
fn main() {{
    let v = numbers(300);
    let spheres: Vec<util::Sphere> = v.chunks(4).map(|c| util::Sphere {{ center: [c[0], c[1], c[2]], radius: \
         c[3].abs() }}).collect();
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
                 pub fn distance(s: &Sphere, x: f32) -> f32 { let d = s.center[0] - x; (d * d + s.center[1] * \
                 s.center[2]).abs() - s.radius }\n",
            ),
            (
                "src/kernels.rs",
                "use crate::util::{self, Sphere};\nuse warpline_lanes::kernel;\n\
                 #[kernel(i = index)]\npub fn nearest(i: usize, all: &[Sphere], x: &f32, y: &mut f32) {\n\
                 let mut least = f32::MAX;\n for s in all { least = least.min(util::distance(s, *x)); }\n *y = least \
                 + i as f32;\n}\n",
            ),
        ],
    );
    let cpu = made.run();
    assert!(["x86-64\n", "x86-64-v3\n"].contains(&&*cpu), "{cpu}");
}

const TYPES: &str = r#"//! Kernels.
use warpline_lanes::kernel;
use super::scene::{Camera, Hit, Real, Ray};

/// By value, the same for all.
#[kernel(i = index)]
pub fn by_value(i: usize, camera: Camera, x: &Real, y: &mut Real) {
    *y = camera.origin.0 * *x + camera.scale + i as Real;
}

/// By value, one for each index, and a result that is a struct.
#[kernel(i = index, ray = varying)]
#[must_use]
pub(crate) fn shoot(i: u32, ray: Ray, camera: &[Camera], bias: &(f32, u8)) -> Hit {
    let mut hit = Hit { distance: ray.x - bias.0, id: i, face: bias.1 };
    for c in camera {
        if c.scale < ray.y {
            hit.distance += c.origin.1;
            hit.face = hit.face.wrapping_add(1);
        }
    }
    hit
}

/// An optional result, and a parameter whose type is an alias.
#[kernel(i = index, factor = varying)]
pub fn maybe(i: usize, factor: Real, x: &Real) -> Option<(f32, usize)> {
    if *x > factor { Some((*x - factor, i)) } else { None }
}

/// Generic, for two types.
#[inline]
#[kernel(i = index, T = f32)]
#[kernel(i = index, T = f64)]
pub fn scaled<T: Copy + core::ops::Mul<Output = T> + core::ops::Add<Output = T>>(i: usize, a: T, x: &T, y: &mut T) {
    let _ = i;
    *y = a * *x + *y;
}

/// Generic over a constant.
#[kernel(i = index, N = 3)]
pub fn sum<const N: usize>(i: usize, x: &[f32; N], y: &mut f32) {
    *y = x.iter().sum::<f32>() + i as f32;
}

/// Private, with a pattern, a lifetime and a name that C would know.
#[unsafe(no_mangle)]
#[kernel(index = index)]
extern "C" fn odd<'a>(index: u16, Ray { x: a, y: b }: Ray, mut c: i32, out: &'a mut [i32; 2]) {
    c += 1;
    out[0] = a as i32 + c;
    out[1] = b as i32 * i32::from(index);
}

/// Calls the private one.
pub fn odd_one(index: u16, pair: Ray, c: i32, out: &mut [i32; 2]) { odd(index, pair, c, out) }

#[cfg(not(feature = "extra"))]
#[kernel(i = index)]
pub fn which(i: usize, y: &mut u8) { *y = i as u8; }

#[kernel(i = index)]
#[cfg(feature = "extra")]
pub fn which(i: usize, y: &mut u8) { *y = 100 + i as u8; }
"#;

const SCENE: &str = r#"//! A scene.
use warpline_lanes::kernel;
/// A number.
pub type Real = f32;
/// A camera, of which no layout is promised.
#[derive(Clone, Copy, Debug)]
pub struct Camera { /// a
 pub flag: bool, /// b
 pub origin: (Real, Real), /// c
 pub scale: Real }
/// A ray.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Ray { /// a
 pub x: f32, /// b
 pub y: f32 }
/// A hit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hit { /// a
 pub face: u8, /// b
 pub distance: f32, /// c
 pub id: u32 }
impl Camera {
    /// A method.
    #[kernel(i = index)]
    pub fn shade(&self, i: usize, ray: &Ray, out: &mut Self) {
        *out = *self;
        out.scale = self.scale * ray.x + self.offset(i);
    }
    fn offset(&self, i: usize) -> f32 { self.origin.1 + i as f32 }
    /// An associated function.
    #[kernel(i = index)]
    pub fn make(i: usize, ray: &Ray) -> Self {
        Self { flag: ray.x > 0.0, origin: (ray.x, ray.y), scale: i as f32 }
    }
    /// All the same.
    pub fn same(&self, other: &Self) -> bool {
        self.flag == other.flag && self.origin == other.origin && self.scale == other.scale
    }
}
"#;

const TYPES_MAIN: &str = "
use scene::{Camera, Hit, Ray};
fn main() {
    let v = numbers(400);
    let camera = Camera { flag: true, origin: (1.5, -2.0), scale: 0.25 };
    let rays: Vec<Ray> = v.chunks(2).map(|c| Ray { x: c[0], y: c[1] }).collect();
    let cameras: Vec<Camera> = v.chunks_exact(3).map(|c| Camera { flag: c[0] > 0.0, origin: (c[0], c[1]), scale: c[2] \
                          }).collect();
    for n in [0, 1, 5, 16, 33, 100] {
        let mut y = [vec![0.0; n], vec![0.0; n]];
        for i in 0..n { kernels::by_value(i, camera, &v[i], &mut y[0][i]); }
        vector::by_value(0..n, camera, &v[..n], &mut y[1]);
        assert_eq!(y[0], y[1]);

        let biases: Vec<(f32, u8)> = v.iter().map(|&x| (x, x as i32 as u8)).collect();
        let hits: Vec<Hit> = (0..n).map(|i| kernels::shoot(7 + i as u32, rays[i], &cameras, &biases[i])).collect();
        let mut vector_hits = vec![Hit::default(); n];
        vector::shoot(7..7 + n as u32, &rays[..n], &cameras, &biases[..n], &mut vector_hits);
        assert_eq!(hits, vector_hits);

        let some: Vec<Option<(f32, usize)>> = (0..n).map(|i| kernels::maybe(i, v[n - i], &v[i])).collect();
        let mut vector_some = vec![None; n];
        let reversed: Vec<f32> = (0..n).map(|i| v[n - i]).collect();
        vector::maybe(0..n, &reversed, &v[..n], &mut vector_some);
        assert_eq!(some, vector_some);

        let (mut a, mut b) = ([vec![1.5f32; n], vec![1.5f32; n]], [vec![2.5f64; n], vec![2.5; n]]);
        let wide: Vec<f64> = v.iter().map(|&x| f64::from(x) / 3.0).collect();
        for i in 0..n { kernels::scaled(i, 2.0f32, &v[i], &mut a[0][i]); kernels::scaled(i, 3.0f64, &wide[i], &mut \
                          b[0][i]); }
        vector::scaled_f32(0..n, 2.0, &v[..n], &mut a[1]);
        vector::scaled_f64(0..n, 3.0, &wide[..n], &mut b[1]);
        assert!(a[0] == a[1] && b[0] == b[1]);

        let threes: Vec<[f32; 3]> = v.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect();
        let mut y = [vec![0.0; n], vec![0.0; n]];
        for i in 0..n { kernels::sum(i, &threes[i], &mut y[0][i]); }
        vector::sum_3(0..n, &threes[..n], &mut y[1]);
        assert_eq!(y[0], y[1]);

        let mut y = [vec![[0; 2]; n], vec![[0; 2]; n]];
        for i in 0..n { kernels::odd_one(65000 + i as u16, rays[3], 5, &mut y[0][i]); }
        vector::odd(65000..65000 + n as u16, rays[3], 5, &mut y[1]);
        assert_eq!(y[0], y[1]);

        let mut y = [vec![camera; n], vec![camera; n]];
        for i in 0..n { camera.shade(i, &rays[i], &mut y[0][i]); }
        camera.shade_range(0..n, &rays[..n], &mut y[1]);
        assert!(y[0].iter().zip(&y[1]).all(|(a, b)| a.same(b)));
        let made: Vec<Camera> = (0..n).map(|i| Camera::make(i, &rays[i])).collect();
        Camera::make_range(0..n, &rays[..n], &mut y[1]);
        assert!(made.iter().zip(&y[1]).all(|(a, b)| a.same(b)));
    }
    let mut y = [0];
    vector::which(1..2, &mut y);
    println!(\"{} {}\", y[0], Camera::shade_cpu().starts_with(\"x86-64\"));
}
";

fn types_of_every_kind_are_passed_and_returned() {
    let strict = "//! A program.\n#![deny(warnings, missing_docs, unsafe_op_in_unsafe_fn, unused, \
                  clippy::pedantic, clippy::nursery)]\n#![allow(clippy::missing_const_for_fn)]\n#![expect(dead_code, \
                  reason = \"tests\")]\n";
    let mut made = Crate::new(
        "[features]\nextra = []",
        &[
            (
                "src/main.rs",
                &format!("{}{COMMON}mod scene;\n{TYPES_MAIN}", strict.split("#![expect").next().unwrap()),
            ),
            ("src/kernels.rs", TYPES),
            ("src/scene.rs", SCENE),
        ],
    );
    made.sources = "src/kernels.rs,src/scene.rs".to_owned();
    assert_eq!(made.run(), "1 true\n");
    let clippy = made.cargo(&["clippy", "--quiet"]);
    let words = text(&clippy.stderr);
    match words.contains("no such command") || words.contains("not installed") {
        true => println!("skipped: there is no clippy"),
        false => {
            let signs = ["vector.rs", "_range(", "warpline_", "#[kernel"];
            let about_made = words.lines().filter(|line| signs.iter().any(|sign| line.contains(sign)));
            assert_eq!(about_made.count(), 0, "{words}");
        }
    }
    let output = made.cargo(&["run", "--quiet", "--features", "extra"]);
    assert_eq!(text(&output.stdout), "101 true\n", "{}", text(&output.stderr));
}

const PANICS: &str = r#"
use warpline_lanes::kernel;
#[kernel(i = index)]
pub fn look(i: u32, table: &[u8], at: &u16, y: &mut u8) { let _ = i; *y = table[*at as usize]; }

#[kernel(i = index)]
pub fn limit(i: i32, limit: i32, sum: &mut i32) -> i32 {
    assert!(i < limit, "{i} is beyond {limit}");
    *sum += i;
    *sum
}

struct Guard<'a>(&'a mut u32);
impl Drop for Guard<'_> { fn drop(&mut self) { *self.0 = 77; } }
#[kernel(i = index)]
pub fn guarded(i: usize, y: &mut u32) {
    let guard = Guard(y);
    if i == 20 { panic!("twenty"); }
    core::mem::forget(guard);
}

pub struct Table(pub Vec<u32>);
impl Table {
    #[kernel(i = index)]
    pub fn get(&self, i: usize) -> Option<u32> { Some(self.0[i] / (self.0[i] - 1)) }
}
"#;

const PANICS_MAIN: &str = r#"
use std::panic::{AssertUnwindSafe, catch_unwind};
fn message(work: impl FnOnce()) -> String {
    let error = catch_unwind(AssertUnwindSafe(work)).unwrap_err();
    error.downcast_ref::<String>().cloned().or(error.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap()
}
fn main() {
    let mut at = vec![3u16; 50];
    let mut y = vec![0; 50];
    vector::look(10..60, &[1; 9], &at, &mut y);
    assert_eq!(y, [1; 50]);
    at[33] = 9;
    at[34] = 10;
    println!("{}", message(|| vector::look(10..60, &[1; 9], &at, &mut y)));
    let (mut sums, mut out) = (vec![1; 40], vec![0; 40]);
    println!("{}", message(|| vector::limit(-20..20, 7, &mut sums, &mut out)));
    let table = kernels::Table((2..40).chain([1]).collect());
    println!("{}", message(|| table.get_range(30..39, &mut [None; 9])));
    println!("{}", message(|| table.get_range(30..41, &mut [None; 11])));
    println!("{}", message(|| vector::look(0..5, &[1; 9], &at, &mut y)));
    if std::env::args().len() > 1 {
        let mut y = [0; 30];
        let _ = catch_unwind(AssertUnwindSafe(|| vector::guarded(0..30, &mut y)));
        println!("caught");
    }
}
"#;

fn panics_say_what_the_kernel_says_and_are_caught() {
    let made = Crate::new(
        "",
        &[("src/main.rs", &format!("#![allow(dead_code)]{COMMON}{PANICS_MAIN}")), ("src/kernels.rs", PANICS)],
    );
    for profile in
        [&["run", "--quiet"][..], &["run", "--quiet", "--release", "--config", "profile.release.lto=true"]]
    {
        let output = made.cargo(profile);
        let (said, words) = (text(&output.stdout), text(&output.stderr));
        let expected = "index out of bounds: the len is 9 but the index is 9\n7 is beyond 7\n\
                        attempt to divide by zero\nindex out of bounds: the len is 39 but the index is 39\n\
                        look: `at` has 50 elements, the range has 5 indices\n";
        assert_eq!(said, expected, "{words}");
        for part in [
            "the kernel `look` panics at index 43\n",
            "the kernel `limit` panics at index 7\n",
            "src/kernels.rs:4:",
        ] {
            assert!(words.contains(part), "{part}: {words}");
        }
    }
    // What cleans up on its way out cannot be left in the middle of lanes; it says why the program ends.
    let output = made.cargo(&["run", "--quiet", "--", "guarded"]);
    let words = text(&output.stderr);
    assert!(
        words.contains("the kernel `guarded` panics at index 20\n") && words.contains("twenty"),
        "{words}"
    );
    assert!(!output.status.success() && !text(&output.stdout).contains("caught"), "{words}");
}

fn functions_of_other_crates_have_bodies() {
    let made = Crate::new(
        "[dependencies]\nother = { path = \"other\" }\n[build-dependencies]\nheavy = { path = \"heavy\" }",
        &[
            (
                "other/Cargo.toml",
                "[package]\nname = \"other\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[features]\ntwice = \
                 []\n[dependencies]\nthird = { path = \"../third\" }\n",
            ),
            (
                "other/src/lib.rs",
                "#[derive(Clone, Copy)] pub struct Point { pub tag: u8, pub x: f64 }\n\
                 #[inline(never)] pub fn shift(p: Point) -> Point { Point { x: third::half(p.x) + 1.0, ..p } }\n",
            ),
            // What only the build script needs is not compiled again.
            ("heavy/Cargo.toml", "[package]\nname = \"heavy\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            ("heavy/build.rs", "fn main() { assert!(std::env::var_os(\"WARPLINE_NESTED\").is_none()); }"),
            ("heavy/src/lib.rs", "const _: () = assert!(option_env!(\"WARPLINE_NESTED\").is_none());\n"),
            ("third/Cargo.toml", "[package]\nname = \"third\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            (
                "third/src/lib.rs",
                "#[inline(never)] pub fn half(x: f64) -> f64 { let mut y = x; while y > 8.0 { y /= 2.0 } y }\n",
            ),
            (
                "src/kernels.rs",
                "use other::Point;\n#[warpline_lanes::kernel(i = index)]\npub fn moved(i: usize, p: &Point) -> Point \
                 { let mut q = other::shift(*p); q.tag += i as u8; q }\n",
            ),
            (
                "src/main.rs",
                &format!(
                    "{COMMON}fn main() {{ let v = numbers(90); let all: Vec<_> = v.iter().map(|&x| other::Point {{ \
                     tag: 1, x: x.into() }}).collect();\n\
                          let mut out = all.clone(); vector::moved(0..90, &all, &mut out);\n\
                          for i in 0..90 {{ let one = kernels::moved(i, &all[i]); assert!(one.tag == out[i].tag && \
                     one.x == out[i].x); }} println!(\"{{}}\", out[3].tag); }}"
                ),
            ),
        ],
    );
    assert_eq!(made.run(), "4\n");
    // The build script has begun once more, and made nothing but what type checks need.
    let nested = |path: &Path| path.to_string_lossy().contains("warpline-nested");
    let files = all_files(&made.path("target"));
    let count = |name: &str| files.iter().filter(|path| nested(path) && path.ends_with(name)).count();
    assert_eq!((count("out/vector.rs"), count("out/libwarpline_a_crate_vector.a")), (1, 0));
    // A change of the other crate is seen.
    let text = std::fs::read_to_string(made.path("third/src/lib.rs")).unwrap();
    made.put("third/src/lib.rs", &text.replace("8.0", "4.0"));
    assert_eq!(made.run(), "4\n");
    made.put(
        "other/src/lib.rs",
        &std::fs::read_to_string(made.path("other/src/lib.rs")).unwrap().replace("..p", "tag: p.tag + 3"),
    );
    assert_eq!(made.run(), "7\n");
}

/// The files in a folder and below it.
fn all_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { all_files(&path) } else { vec![path] }).collect()
}

/// The objects that are kept, with the times at which they were made.
fn kept(made: &Crate) -> Vec<(PathBuf, std::time::SystemTime)> {
    let mut found = Vec::new();
    for build in std::fs::read_dir(made.path("target/release/build")).unwrap().flatten() {
        let folder = build.path().join("out/warpline/vector.cache");
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "o") {
                found.push((entry.path(), entry.metadata().unwrap().modified().unwrap()));
            }
        }
    }
    found.sort();
    found
}

fn only_kernels_that_change_are_made_anew() {
    let kernel = |k: usize, factor: usize| {
        format!(
            "#[warpline_lanes::kernel(i = index)]\npub fn k{k}(i: usize, y: &mut usize) {{ *y = {factor} * i + {k}; \
             }}\n"
        )
    };
    let source =
        |factor: usize| (0..4).map(|k| kernel(k, if k == 1 { factor } else { 7 })).collect::<String>();
    let main = format!(
        "{COMMON}fn main() {{ let _ = numbers(1); let mut y = [0; 40]; vector::k1(0..40, &mut y); print!(\"{{}} \", \
         y[39]); vector::k3(0..40, &mut y); println!(\"{{}}\", y[39]); }}"
    );
    let made = Crate::new("", &[("src/main.rs", &main), ("src/kernels.rs", &source(2))]);
    let run = || {
        let output = made.cargo(&["run", "--quiet", "--release"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(run(), "79 276\n");
    let before = kept(&made);
    assert_eq!(before.len(), 4);
    // Lines move, one kernel changes.
    made.put("src/kernels.rs", &format!("\n\n{}", source(3)));
    assert_eq!(run(), "118 276\n");
    let after = kept(&made);
    let same = after.iter().filter(|one| before.contains(one)).count();
    assert_eq!((after.len(), same), (4, 3), "{before:?} {after:?}");
    // Other files make no difference.
    made.put("src/main.rs", &format!("{main}\n// the end\n"));
    assert_eq!(run(), "118 276\n");
    assert_eq!(kept(&made), after);
}

fn libraries_and_nested_modules_have_kernels() {
    let mut made = Crate::new(
        "[lib]\nname = \"named\"\n[[bin]]\nname = \"tool\"\npath = \"src/tool/main.rs\"",
        &[
            (
                "src/lib.rs",
                "#![no_std]\npub mod deep;\npub mod vector { include!(concat!(env!(\"OUT_DIR\"), \"/vector.rs\")); }\n\
                 #[path = \"odd/place.rs\"] pub(crate) mod place;\npub use place::odd_range;\n",
            ),
            ("src/deep/mod.rs", "mod hidden;\npub mod seen;\npub use hidden::quiet_range;\n"),
            (
                "src/deep/hidden.rs",
                "#[warpline_lanes::kernel(i = index)]\npub fn quiet(i: i64, y: &mut i64) { *y += i; }\n",
            ),
            (
                "src/deep/seen.rs",
                "use super::super::place::helper;\npub mod inner {\n    #[warpline_lanes::kernel(i = index)]\n    pub \
                 fn loud(i: i64, y: &mut i64) { *y -= super::helper(i); }\n}\n",
            ),
            (
                "src/odd/place.rs",
                "pub fn helper(i: i64) -> i64 { 2 * i }\n#[warpline_lanes::kernel(i = index)]\npub fn odd(i: i64, y: \
                 &mut i64) { *y = helper(i) + 1; }\n",
            ),
            (
                "src/tool/main.rs",
                "fn main() {\n let mut y = [1; 30];\n named::deep::quiet_range(0..30, &mut y);\n \
                 named::vector::loud(0..30, &mut y);\n\
                 assert!(y.iter().enumerate().all(|(i, y)| *y == 1 - i as i64));\n named::odd_range(-5..25, &mut \
                 y);\n assert_eq!(y[4], -1);\n println!(\"{}\", named::vector::loud_cpu().is_empty());\n}\n",
            ),
        ],
    );
    made.sources = "src/deep/hidden.rs,src/deep/seen.rs,src/odd/place.rs".to_owned();
    assert_eq!(made.run(), "false\n");
}

fn lane_operations_are_those_of_many_lanes() {
    let main = format!(
        "{COMMON}fn main() {{ let _ = numbers(1); let mut y = [0; 40]; vector::count(0..40, &mut y); println!(\"{{}} \
         {{}}\", y[0], kernels::count(0)); }}"
    );
    let kernels = "#[warpline_lanes::kernel(i = index, width = 8)]\n\
                   pub fn count(i: u32) -> u32 { i + warpline_lanes::warpline_lane_count() }\n";
    let made = Crate::new("", &[("src/main.rs", &main), ("src/kernels.rs", kernels)]);
    let manifest = std::fs::read_to_string(made.path("Cargo.toml")).unwrap();
    made.put("Cargo.toml", &format!("{manifest}features = [\"scalar\"]\n"));
    assert_eq!(made.run(), "8 1\n");
}

const RAYS: &str = r#"
use raytracer::{Vector, render::{self, Camera}, scene::{Hit, Scene, Sphere}};
fn main() {
    let mut state = 1u32;
    let mut number = || { state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223); (state >> 8) as f32 / (1 << 24) as f32 };
    let spheres: Vec<Sphere> = (0..60).map(|k| Sphere {
        is_mirror: k % 3 == 0,
        center: Vector::new(number() * 8.0 - 4.0, number() * 6.0 - 3.0, number() * 6.0 + 4.0),
        radius: number(),
        color: (250, (k * 4) as u8, 120),
    }).collect();
    let scene = Scene { spheres, sun: Vector::new(1.0, 2.0, -1.0).normalized() };
    let camera = Camera { eye: Vector::new(0.0, 0.5, -2.0), size: (61, 43) };
    let points = camera.size.0 * camera.size.1;
    let mut picture = vec![[0; 3]; points as usize];
    render::color_range(0..points, camera, &scene.spheres, scene.sun, &mut picture);
    let alone: Vec<_> = (0..points).map(|point| render::color(point, camera, &scene.spheres, scene.sun)).collect();
    assert_eq!(picture, alone);
    let rays: Vec<_> = (0..points).map(|point| camera.ray(point)).collect();
    let mut hits = vec![Some(Hit::default()); rays.len()];
    scene.nearest_range(0..rays.len(), &rays, &mut hits);
    assert!(rays.iter().zip(&hits).enumerate().all(|(i, (ray, hit))| scene.nearest(i, ray) == *hit));
    let count = hits.iter().flatten().count();
    assert!(count > 100 && count < rays.len() - 100);
    println!("{}", picture.iter().map(|c| u64::from(c[0])).sum::<u64>());
}
"#;

fn a_ray_tracer_is_vectorized_as_it_is() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests/projects/raytracer");
    let files = ["lib.rs", "vector.rs", "render.rs", "scene/mod.rs", "scene/sphere.rs"];
    let texts = files
        .map(|file| (format!("src/{file}"), std::fs::read_to_string(folder.join("src").join(file)).unwrap()));
    let mut all: Vec<(&str, &str)> =
        texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    all.push(("src/main.rs", RAYS));
    let mut made = Crate::new("[lib]\nname = \"raytracer\"\n[features]\nsky = []", &all);
    made.sources = "src/render.rs,src/scene/mod.rs".to_owned();
    let dark = made.run();
    let output = made.cargo(&["run", "--quiet", "--features", "sky"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_ne!(dark, text(&output.stdout), "the feature makes a difference");
}

fn the_guides_crate_runs() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/rust.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let files: Vec<(&str, &str)> = guide
        .split("<!-- file: ")
        .skip(1)
        // Other crates of the chapter have folders of their own.
        .filter(|part| part.starts_with("src/"))
        .map(|part| {
            let (name, rest) = part.split_once(" -->\n```rust\n").unwrap();
            (name, rest.split_once("```\n").unwrap().0)
        })
        .collect();
    assert_eq!(files.len(), 3);
    let mut made = Crate::new("", &files);
    made.sources = "src/kernels.rs,src/body.rs".to_owned();
    assert_eq!(made.run(), "1 1\n");
}

/// A crate with a struct, whose program compares.
fn with_a_struct() -> Crate {
    let kernels = "#[derive(Clone, Copy, PartialEq)] pub struct Pair { pub low: u8, pub high: f32 }\n\
                   #[warpline_lanes::kernel(i = index)]\npub fn double(i: usize, x: &Pair) -> Pair { assert!(x.low < \
                   200); Pair { low: i as u8 + crate::one(), high: x.high * 2.0 } }\n";
    let main = format!(
        "{COMMON}fn one() -> u8 {{ 1 }}\nfn main() {{ let v = numbers(99);\n\
         let all: Vec<_> = v.iter().map(|&high| kernels::Pair {{ low: 3, high }}).collect();\n\
         let mut out = all.clone(); vector::double(0..99, &all, &mut out);\n\
         assert!((0..99).all(|i| out[i] == kernels::double(i, &all[i])));\n println!(\"{{}}\", vector::double_cpu()); \
         }}\n"
    );
    Crate::new("", &[("src/main.rs", &main), ("src/kernels.rs", kernels)])
}

fn prebuilt_code_of_a_crate_needs_no_compiler() {
    let mut made = with_a_struct();
    made.settings =
        vec![(KEPT.to_owned(), "kept".to_owned()), ("WARPLINE_PREBUILT".to_owned(), "update".to_owned())];
    let cpu = made.run();
    std::fs::remove_dir_all(made.path("target")).unwrap();
    made.settings[1].1 = String::new();
    made.settings.push(("WARPLINE_LLVM".to_owned(), "/nowhere".to_owned()));
    assert_eq!(made.run(), cpu);
    assert!(
        !all_files(&made.path("target")).iter().any(|path| path.ends_with("packages")),
        "cargo ran again"
    );
    // Another file of the crate has changed.
    let main = std::fs::read_to_string(made.path("src/main.rs")).unwrap();
    made.put("src/main.rs", &main.replace("u8 { 1 }", "u8 { 2 }"));
    let output = made.cargo(&["run", "--quiet"]);
    assert!(!output.status.success(), "code of another crate was taken: {}", text(&output.stdout));
}

fn crates_are_built_for_other_machines() {
    const TARGET: &str = "aarch64-unknown-linux-gnu";
    const LINKER: &str = "aarch64-linux-gnu-gcc";
    let works = |program: &str| {
        Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    let rustc = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    let has_std = rustc.is_ok_and(|output| Path::new(text(&output.stdout).trim()).is_dir());
    if !works("qemu-aarch64") || !works(LINKER) || !has_std {
        println!("skipped: there is no qemu-aarch64, no {LINKER} or no Rust for {TARGET}");
        return;
    }
    let mut made = with_a_struct();
    let variable = |name: &str| format!("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_{name}");
    made.settings = vec![
        (variable("LINKER"), LINKER.to_owned()),
        (variable("RUNNER"), "qemu-aarch64".to_owned()),
        (variable("RUSTFLAGS"), "-Ctarget-feature=+crt-static".to_owned()),
        (CPUS.to_owned(), "generic".to_owned()),
    ];
    let output = made.cargo(&["run", "--quiet", "--target", TARGET]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "generic\n");
}
