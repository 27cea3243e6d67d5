//! What build scripts make, linked into programs and run.
//!
//! This program plays three parts: it is the tests; started by them with [`SOURCE`] in its environment, the build
//! script; and started by that, a worker. So it has a `main` of its own.

use std::path::Path;
use std::process::{Command, Output};

/// The source that the build script names.
const SOURCE: &str = "WARPLINE_TEST_SOURCE";
/// The CPUs that it names, with commas between them.
const CPUS: &str = "WARPLINE_TEST_CPUS";
/// Whether cargo is to print remarks.
const REMARKS: &str = "WARPLINE_TEST_REMARKS";
/// The folder that it keeps code in.
const KEPT: &str = "WARPLINE_TEST_KEPT";

fn main() {
    if let Some(source) = std::env::var_os(SOURCE) {
        return build_script(source.as_ref());
    }
    type Test = fn();
    let tests: [(&str, Test); 10] = [
        ("kernels_in_opencl_c_run_by_groups_on_threads", kernels_in_opencl_c_run_by_groups_on_threads),
        ("every_kind_of_parameter_arrives", every_kind_of_parameter_arrives),
        ("vector_mathematics_is_linked_where_it_is_used", vector_mathematics_is_linked_where_it_is_used),
        ("other_machines_are_built_for_and_run_there", other_machines_are_built_for_and_run_there),
        (
            "wrong_lengths_and_panicking_lanes_end_with_words",
            wrong_lengths_and_panicking_lanes_end_with_words,
        ),
        (
            "kernels_in_c_are_called_by_their_signature_in_rust",
            kernels_in_c_are_called_by_their_signature_in_rust,
        ),
        (
            "what_has_no_safe_function_is_refused_with_its_line",
            what_has_no_safe_function_is_refused_with_its_line,
        ),
        (
            "prebuilt_code_needs_no_compiler_until_sources_change",
            prebuilt_code_needs_no_compiler_until_sources_change,
        ),
        ("two_libraries_of_one_program_do_not_meet", two_libraries_of_one_program_do_not_meet),
        (
            "remarks_are_warnings_where_they_are_asked_for_and_when_nothing_changed",
            remarks_are_warnings_where_they_are_asked_for_and_when_nothing_changed,
        ),
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
fn build_script(source: &Path) {
    // Build scripts may print before they begin.
    println!("cargo:warning=begun");
    let mut builder = warpline_build::Builder::new().source(source);
    if let Ok(cpus) = std::env::var(CPUS) {
        builder = builder.cpus(cpus.split(','));
    }
    builder = builder.remarks(std::env::var_os(REMARKS).is_some());
    if let Some(folder) = std::env::var_os(KEPT) {
        builder = builder.prebuilt(folder);
    }
    if let Err(error) = builder.build("vector") {
        eprintln!("{error:?}");
        std::process::exit(1);
    }
}

/// The triple of this machine.
fn host() -> String {
    let output = Command::new(rustc()).arg("-vV").output().expect("rustc starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host").to_owned()
}

fn rustc() -> String {
    std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned())
}

/// Runs the build script for a source in a folder.
fn script(folder: &Path, source: &str, settings: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command
        .env(SOURCE, folder.join(source))
        .env("OUT_DIR", folder)
        .env("TARGET", host())
        .env("HOST", host())
        .env("CARGO_PKG_NAME", "a-test")
        .env_remove("WARPLINE_PREBUILT")
        .envs(settings.iter().copied());
    command.output().expect("the build script starts")
}

/// Runs the build script, which must succeed; what it says to cargo.
#[track_caller]
fn build(folder: &Path, source: &str, settings: &[(&str, &str)]) -> String {
    let output = script(folder, source, settings);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.contains("cargo:rustc-link-lib=static=warpline_a_test_vector\n"), "{said}");
    said
}

/// Compiles a program against what a build script has made, as cargo would, and runs it.
#[track_caller]
fn run(folder: &Path, program: &str) -> Output {
    let main = folder.join("main.rs");
    std::fs::write(&main, program).unwrap();
    let executable = folder.join("program");
    let compiled = Command::new(rustc())
        .args(["--edition=2024", "-Dwarnings", "-Cdebug-assertions=on", "-lm"])
        .args(std::fs::read_dir(folder).unwrap().flatten().filter_map(|entry| {
            entry.file_name().to_str()?.strip_prefix("link-").map(|library| format!("-l{library}"))
        }))
        .arg(format!("-Lnative={}", folder.display()))
        .arg("-lstatic=warpline_a_test_vector")
        .arg("-o")
        .args([&executable, &main])
        .env("OUT_DIR", folder)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
    Command::new(&executable).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Writes a file into the folder.
fn put(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

const INCLUDE: &str = "mod vector { include!(concat!(env!(\"OUT_DIR\"), \"/vector.rs\")); }\n";

/// The functions of a source as they are, without the attribute.
fn scalar(source: &str) -> String {
    let lines: Vec<&str> = source.lines().filter(|line| !line.starts_with("#[warpline_lanes")).collect();
    format!("mod scalar {{\n{}\n}}\n", lines.join("\n"))
}

const KERNELS: &str = "
#[warpline_lanes::kernel(i = index, x = varying, bits = varying, yes = varying, k = stride(3))]
pub fn all(
    i: u32, a: f64, negate: bool, x: f32, bits: u8, yes: bool, k: i64,
    one: &f64, pair: &[i16; 2], table: &[i32], sum: &mut i64, history: &mut [u32],
) -> bool {
    let value = if negate { -x } else { x } as f64 * a + *one;
    *sum += k + table[(i as usize + bits as usize) % table.len()] as i64 + (pair[0] - pair[1]) as i64;
    if yes != (value > 4.0) {
        history[i as usize] += i;
    }
    yes == (bits % 2 == 0)
}

#[warpline_lanes::kernel(begin = index)]
pub unsafe fn fill(begin: i16, out: *mut i16, end: i16) -> i16 {
    unsafe { *out.offset(begin as isize + 40) = begin * end };
    begin
}

#[warpline_lanes::kernel(r#type = index, scale = uniform)]
pub fn shift(r#type: usize, scale: &f32, y: &mut f32) {
    *y = *y * *scale + r#type as f32;
}
";

/// Runs everything in [`KERNELS`] one by one and together, and compares. Prints which CPU's code has run.
const COMPARE: &str = r#"
fn main() {
    const N: usize = 203;
    let x: Vec<f32> = (0..N).map(|i| i as f32 * 0.25 - 9.0).collect();
    let bits: Vec<u8> = (0..N).map(|i| (i * 37) as u8).collect();
    let yes: Vec<bool> = bits.iter().map(|b| b % 3 == 0).collect();
    let one: Vec<f64> = (0..N).map(|i| (i % 5) as f64).collect();
    let pair: Vec<[i16; 2]> = (0..N).map(|i| [i as i16 * 2, 7]).collect();
    let table = [5, -6, 7, 100, -2000];
    for (from, to) in [(0, N), (5, 6), (7, 7), (3, 44)] {
        let n = to - from;
        let mut sums = [vec![11i64; n], vec![11i64; n]];
        let mut histories = [vec![1u32; N], vec![1u32; N]];
        let mut outs = [vec![false; n], vec![false; n]];
        for j in 0..n {
            outs[0][j] = scalar::all(
                (from + j) as u32, 1.5, true, x[j], bits[j], yes[j], 8 + 3 * j as i64, &one[j], &pair[j], &table,
                &mut sums[0][j], &mut histories[0],
            );
        }
        vector::all(
            from as u32..to as u32, 1.5, true, &x[..n], &bits[..n], &yes[..n], 8, &one[..n], &pair[..n], &table,
            &mut sums[1], &mut histories[1], &mut outs[1],
        );
        assert_eq!((&sums[0], &histories[0], &outs[0]), (&sums[1], &histories[1], &outs[1]));
    }
    let mut memory = [[0i16; 100], [0; 100]];
    let mut outs = [[0i16; 73], [0; 73]];
    for i in -33..40 {
        outs[0][(i + 33) as usize] = unsafe { scalar::fill(i, memory[0].as_mut_ptr(), 3) };
    }
    unsafe { vector::fill(-33..40, memory[1].as_mut_ptr(), 3, &mut outs[1]) };
    assert_eq!((memory[0], outs[0]), (memory[1], outs[1]));
    let mut y = [[1.5f32; 9]; 2];
    for (i, y) in y[0].iter_mut().enumerate() {
        scalar::shift(100 + i, &0.5, y);
    }
    vector::shift(100..109, &0.5, &mut y[1]);
    vector::shift(9..3, &0.5, &mut []);
    assert_eq!(y[0], y[1]);
    println!("{}", vector::all_cpu());
}
"#;

fn every_kind_of_parameter_arrives() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "kernels.rs", KERNELS);
    let program = INCLUDE.to_owned() + &scalar(KERNELS) + COMPARE;
    // One CPU, and several.
    for (settings, cpus) in [
        (vec![], vec!["x86-64", "x86-64-v3", "x86-64-v4", "generic"]),
        (vec![(CPUS, "generic")], vec!["generic"]),
    ] {
        build(folder.path(), "kernels.rs", &settings);
        let output = run(folder.path(), &program);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(cpus.contains(&text(&output.stdout).trim()), "{}", text(&output.stdout));
    }
}

fn other_machines_are_built_for_and_run_there() {
    const TARGET: &str = "aarch64-unknown-linux-gnu";
    const LINKER: &str = "aarch64-linux-gnu-gcc";
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "empty.rs", "fn main() {}");
    let works = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
    };
    let executable = folder.path().join("program");
    let compile = |main: &str| {
        let flags = [
            "--edition=2024",
            "--target",
            TARGET,
            "-Clinker=aarch64-linux-gnu-gcc",
            "-Ctarget-feature=+crt-static",
        ];
        let mut command = Command::new(rustc());
        command
            .args(flags)
            .arg(format!("-Lnative={}", folder.path().display()))
            .arg("-o")
            .args([&executable, &folder.path().join(main)])
            .env("OUT_DIR", folder.path());
        command
    };
    if !works("qemu-aarch64", &["--version"]) || !works(LINKER, &["--version"]) {
        println!("skipped: there is no qemu-aarch64 or no {LINKER}");
        return;
    }
    if !compile("empty.rs").output().unwrap().status.success() {
        println!("skipped: there is no Rust for {TARGET}");
        return;
    }
    put(folder.path(), "kernels.rs", KERNELS);
    build(folder.path(), "kernels.rs", &[("TARGET", TARGET)]);
    put(folder.path(), "main.rs", &(INCLUDE.to_owned() + &scalar(KERNELS) + COMPARE));
    let compiled = compile("main.rs").arg("-lstatic=warpline_a_test_vector").output().unwrap();
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
    let output = Command::new("qemu-aarch64").arg(&executable).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "generic\n");
}

fn wrong_lengths_and_panicking_lanes_end_with_words() {
    let folder = tempfile::tempdir().unwrap();
    put(
        folder.path(),
        "kernels.rs",
        "#[warpline_lanes::kernel(i = index)]\npub fn look(i: usize, table: &[u8], y: &mut u8) {\n    *y = \
         table[i];\n}\n",
    );
    build(folder.path(), "kernels.rs", &[]);
    let with = |main: &str| run(folder.path(), &format!("{INCLUDE}fn main() {{ {main} }}\n"));
    let output = with("vector::look(0..5, &[1; 9], &mut [0; 4]);");
    let words = text(&output.stderr);
    assert!(words.contains("look: `y` has 4 elements, the range has 5 indices"), "{words}");
    assert!(words.contains("main.rs:2:"), "the caller is to blame: {words}");
    let output = with("vector::look(0..20, &[1; 9], &mut [0; 20]);");
    let words = text(&output.stderr);
    assert!(words.contains("a lane of the kernel `look` panicked"), "{words}");
    assert!(!output.status.success() && output.status.code().is_none(), "{:?}", output.status);
    let output = with("let mut y = [0; 9]; vector::look(0..9, &[1; 9], &mut y); assert_eq!(y, [1; 9]);");
    assert!(output.status.success(), "{}", text(&output.stderr));
}

const SAXPY: &str = "
//@ rust #[kernel(i = index)] fn saxpy(i: i32, a: f32, x: &f32, y: &mut f32)
void saxpy(int i, float a, const float *x, float *y) {
    if (*x > 0) *y += a * *x + i;
}
";

fn vector_mathematics_is_linked_where_it_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let source = "#[warpline_lanes::kernel(i = index)]\npub fn wave(i: usize, x: &f64, y: &mut f64) { *y = \
     (*x).sin() + i as f64; }\n";
    put(folder.path(), "kernels.rs", source);
    let said = build(folder.path(), "kernels.rs", &[]);
    assert!(said.contains("cargo:rustc-link-lib=m\n"), "{said}");
    if said.contains("cargo:rustc-link-lib=mvec\n") {
        put(folder.path(), "link-mvec", "");
    } else {
        println!("not there: glibc's vector mathematics");
    }
    let program = format!(
        "{INCLUDE}{}fn main() {{\n let x: [f64; 99] = std::array::from_fn(|i| i as f64 / 7.0 - 5.0);\n let mut \
         y = [0.0; 99];\n \
         vector::wave(0..99, &x, &mut y);\n for i in 0..99 {{\n let mut one = 0.0;\n scalar::wave(i, &x[i], \
          &mut one);\n \
         assert!((y[i] - one).abs() <= 4.0 * f64::EPSILON * one.abs(), \"{{i}}\");\n }}\n}}\n",
        scalar(source)
    );
    let output = run(folder.path(), &program);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

fn kernels_in_c_are_called_by_their_signature_in_rust() {
    if !warpline_llvm::has_clang() {
        println!("skipped: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "kernels.c", SAXPY);
    build(folder.path(), "kernels.c", &[]);
    let output = run(
        folder.path(),
        &format!(
            "{INCLUDE}fn main() {{ let mut y = [1.0; 37]; let x: [f32; 37] = core::array::from_fn(|i| i as f32 \
             - 4.0);\n\
             vector::saxpy(0..37, 2.0, &x, &mut y);\n\
             for (i, y) in y.iter().enumerate() {{ assert_eq!(*y, if x[i] > 0.0 {{ 1.0 + (2.0 * x[i] + i as \
              f32) }} else {{ 1.0 }}) }} }}"
        ),
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    put(folder.path(), "lie.c", &SAXPY.replace("a: f32", "a: f64"));
    let words = text(&script(folder.path(), "lie.c", &[]).stderr);
    assert!(words.contains("lie.c:2: kernel `saxpy`: `a`: the compiler passes something else"), "{words}");
}

const GROUP_SUM: &str = "
kernel void sum(global const float *in, global float *out, uint scale, local float *tmp) {
  int l = get_local_id(0);
  tmp[l] = in[get_global_id(0)] * scale;
  for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < s) tmp[l] += tmp[l + s];
  }
  if (l == 0) out[get_group_id(0)] = tmp[0];
}
kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }
";

fn kernels_in_opencl_c_run_by_groups_on_threads() {
    if !warpline_llvm::has_clang() {
        println!("skipped: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "kernels.cl", GROUP_SUM);
    for settings in [&[][..], &[(CPUS, "generic")]] {
        build(folder.path(), "kernels.cl", settings);
        let output = run(
            folder.path(),
            &format!(
                "{INCLUDE}fn main() {{
    let input: Vec<f32> = (0..4096).map(|i| (i % 10) as f32).collect();
    let (size, local) = ([4096, 1, 1], [64, 1, 1]);
    let bytes = vector::sum_workspace(size, local, 256) as usize;
    let mut sums = vec![0f32; 64];
    let shared = sums.as_mut_ptr() as usize;
    std::thread::scope(|scope| {{
        for part in 0..4u64 {{
            let input = &input;
            scope.spawn(move || {{
                let mut workspace = vec![0u8; bytes];
                unsafe {{
                    vector::sum_groups([0; 3], size, local, part * 16..part * 16 + 16, input.as_ptr(),
                        shared as *mut f32, 3, 256, workspace.as_mut_ptr());
                }}
            }});
        }}
    }});
    for (g, sum) in sums.iter().enumerate() {{
        let right: f32 = input[g * 64..g * 64 + 64].iter().map(|x| x * 3.0).sum();
        assert_eq!(*sum, right);
    }}
    let mut x = [1i32, 2, 3, 4, 5];
    unsafe {{ vector::twice_ndrange([0; 3], [5, 1, 1], [0; 3], x.as_mut_ptr()) }}
    assert_eq!(x, [2, 4, 6, 8, 10]);
    assert!(!vector::sum_cpu().is_empty());
}}"
            ),
        );
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

fn what_has_no_safe_function_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    let mut refused = |source: &str, expected: &str, settings: &[(&str, &str)]| {
        count += 1;
        let name = format!("kernels{count}.rs");
        put(folder.path(), &name, source);
        let output = script(folder.path(), &name, settings);
        let words = text(&output.stderr);
        assert!(!output.status.success() && words.contains(expected), "{source}\n{words}");
    };
    let kernel = |shapes: &str, head: &str| {
        format!("\n#[warpline_lanes::kernel({shapes})]\npub fn f({head} {{ unimplemented!() }}\n")
    };
    refused("pub fn f() {}\n", "it marks no kernel", &[]);
    refused(&kernel("", "x: &f32)"), ":3: kernel `f`: no parameter is the index", &[]);
    refused(&kernel("i = index", "i: f32)"), "`i`: an index is an integer", &[]);
    refused(&kernel("i = index", "i: i32, warpline_x: f32)"), "are for what is generated", &[]);
    refused(&kernel("i = index", "i: i32, s: &str)"), "`s`: its type has no counterpart", &[]);
    refused(&kernel("i = index", "i: i32) -> (u8, u8)"), "its result has no counterpart", &[]);
    let remedy = "where the source is a module of the crate (`mod NAME;`), any type will do";
    refused(&kernel("i = index", "i: i32) -> (u8, u8)"), remedy, &[]);
    refused(&kernel("i = index", "i: i32, s: &str)"), remedy, &[]);
    refused(&kernel("i = index, x = stride(8)", "i: i32, x: &f32)"), "the size of an element", &[]);
    refused(&kernel("i = index, x = varying", "i: i32, x: &f32)"), "pass a slice and an index", &[]);
    refused(&kernel("i = index, j = index", "i: i32, j: u8)"), "indices are of different types", &[]);
    refused(&kernel("n = index", "i: i32)"), ":2: `f` has no parameter `n`; there are i", &[]);
    let counting =
        "use std::sync::atomic::{AtomicU32, Ordering};\nstatic COUNT: AtomicU32 = AtomicU32::new(0);\n";
    refused(
        &format!(
            "{counting}{}",
            kernel("i = index", "i: i32) { COUNT.fetch_add(1, Ordering::Relaxed); } fn g()")
        ),
        "COUNT` can change",
        &[],
    );
    refused("#[warpline_lanes::kernel(i = index)]\npub fn f(i: i32) { 1 }\n", "mismatched types", &[]);
    let fine = "#[warpline_lanes::kernel(i = index)]\npub fn f(i: i32, y: &mut i32) { *y = i; }\n";
    refused(fine, "did you mean `haswell`", &[(CPUS, "x86-64,haswel")]);
}

fn prebuilt_code_needs_no_compiler_until_sources_change() {
    let folder = tempfile::tempdir().unwrap();
    let source =
        "#[warpline_lanes::kernel(i = index)]\npub fn twice(i: usize, y: &mut usize) { *y = 2 * i; }\n";
    put(folder.path(), "kernels.rs", source);
    let kept = folder.path().join("prebuilt");
    let kept = kept.to_str().unwrap();
    build(folder.path(), "kernels.rs", &[(KEPT, kept), ("WARPLINE_PREBUILT", "update"), ("DEBUG", "true")]);
    let code = std::fs::read(folder.path().join("libwarpline_a_test_vector.a")).unwrap();
    let path = folder.path().to_str().unwrap().as_bytes().to_vec();
    assert!(!code.windows(path.len()).any(|part| part == path), "the code says where it was made");
    let no_compiler =
        [(KEPT, kept), ("RUSTC", "/nowhere/rustc"), ("PATH", "/nowhere"), ("WARPLINE_LLVM", "/nowhere")];
    for name in ["vector.rs", "libwarpline_a_test_vector.a"] {
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
    // The ends of lines do not matter.
    put(folder.path(), "kernels.rs", &source.replace('\n', "\r\n"));
    build(folder.path(), "kernels.rs", &no_compiler);
    let main = "fn main() { let mut y = [0; 50]; vector::twice(1..51, &mut y); assert!(y[49] == 100); }";
    let output = run(folder.path(), &format!("{INCLUDE}{main}"));
    assert!(output.status.success(), "{}", text(&output.stderr));
    put(folder.path(), "kernels.rs", &source.replace("2 * i", "3 * i"));
    let stale = script(folder.path(), "kernels.rs", &no_compiler);
    assert!(!stale.status.success(), "code of another source was taken");
    let other_cpus = [(CPUS, "x86-64")].iter().chain(&no_compiler).copied().collect::<Vec<_>>();
    assert!(!script(folder.path(), "kernels.rs", &other_cpus).status.success());
}

fn two_libraries_of_one_program_do_not_meet() {
    let names = ["a", "b"].map(|word| {
        let folder = tempfile::tempdir().unwrap();
        let source = format!(
            "#[warpline_lanes::kernel(i = index)]\npub fn same(i: usize, y: &mut u8) {{ *y = i as u8 ^ b'{word}'; }}\n"
        );
        put(folder.path(), "kernels.rs", &source);
        build(folder.path(), "kernels.rs", &[]);
        let wrappers = std::fs::read_to_string(folder.path().join("vector.rs")).unwrap();
        let (_, rest) = wrappers.split_once("link_name = \"").unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    });
    assert!(names[0] != names[1] && names[0].ends_with("_same_range"), "{names:?}");
}

/// A kernel in which lanes leave a loop apart.
const STEPS: &str = "#[warpline_lanes::kernel(i = index)]
pub fn steps(i: i32, x: &f32, out: &mut i32) {
    let (mut x, mut n) = (*x, i);
    while x < 100.0 {
        x = 2.0 * x + 1.0;
        n += 1;
    }
    *out = n;
}
";

fn remarks_are_warnings_where_they_are_asked_for_and_when_nothing_changed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    put(folder, "steps.rs", STEPS);
    let said =
        |settings: &[(&str, &str)]| build(folder, "steps.rs", &[&[(CPUS, "x86-64-v3")], settings].concat());
    let remark = "cargo:warning=steps.rs:4: lanes leave this loop in different iterations";
    assert!(!said(&[]).contains(remark));
    let asked = [(REMARKS, "1")];
    let first = said(&asked);
    assert!(first.contains(remark), "{first}");
    let again = said(&asked);
    assert!(again.contains(remark), "{again}");
}
