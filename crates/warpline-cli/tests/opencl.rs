//! OpenCL C as programs have it, and the modules for SPIR that clang makes of it.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{has_clang, ok, stderr, warpline};
use warpline_testkit::programs_run::root;

/// The kernels of `filetests/opencl/kernels.cl`, what a run binds, and how far results may be from the C library's.
const KERNELS: [(&str, &[&str], &str); 10] = [
    ("shade", &["normals=f32[4000]=-1..1", "lights=f32[4000]=-1..1", "out=f32[1000]=zero"], ""),
    ("wave", &["x=f32[1000]=-9..9", "out=f32[1000]=zero"], "ulp=64,abs=1e-4"),
    ("statistics", &["x=f64[1000]=-9..9", "out=f64[1000]=zero"], "ulp=64,abs=1e-10"),
    ("brighten", &["in=u8[4000]", "out=u8[4000]=zero"], ""),
    ("blend", &["a=u8[4000]", "b=u8[4000]", "out=u8[4000]=zero"], ""),
    ("hash", &["in=u32[1000]", "out=u32[1000]=zero"], ""),
    ("compress", &["in=f32[1000]=-9..9", "out=u16[1000]=zero", "back=f32[1000]=zero"], ""),
    ("permute", &["in=i32[4000]=-1000..1000", "out=i32[4000]=zero"], ""),
    ("classify", &["x=f32[1000]=-9..9", "out=i32[1000]=zero"], ""),
    ("count", &["in=u32[1000]", "bins=i32[16]=zero"], ""),
];

/// A clang, as the library looks for it.
fn clang() -> PathBuf {
    let named = std::env::var_os("CLANG").map(PathBuf::from);
    let usual = ["clang", "clang-23", "clang-22", "clang-21", "clang-20", "clang-19"].map(PathBuf::from);
    let answers = |path: &PathBuf| Command::new(path).arg("--version").output().is_ok();
    named.into_iter().chain(usual).find(answers).expect("there is a clang")
}

/// Compiles OpenCL C for a target without a machine.
fn compile(source: &Path, target: &str, version: &str, output: &Path) {
    let done = Command::new(clang())
        .args([
            "-x",
            "cl",
            "-O1",
            "-Xclang",
            "-disable-llvm-passes",
            "-fno-discard-value-names",
            "-emit-llvm",
            "-target",
            target,
        ])
        .args([if output.extension().is_some_and(|e| e == "ll") { "-S" } else { "-c" }, version])
        .arg(source)
        .arg("-o")
        .arg(output)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn run(input: &Path, kernel: &str, bound: &[&str], tolerance: &str) -> String {
    let mut words = vec!["run", input.to_str().unwrap(), "--function", kernel, "--range", "0..1000"];
    for bind in bound {
        words.extend(["--bind", bind]);
    }
    if !tolerance.is_empty() {
        words.extend(["--tolerance", tolerance]);
    }
    ok(&warpline(&words))
}

#[test]
fn ten_kernels_with_sixty_builtins_run_unchanged() {
    if !has_clang() {
        return;
    }
    let file = root().join("filetests/opencl/kernels.cl");
    for (kernel, bound, tolerance) in KERNELS {
        let report = run(&file, kernel, bound, tolerance);
        assert!(report.contains(" 0 mismatches"), "{kernel}: {report}");
    }
}

#[test]
fn modules_for_spir_run_as_the_source_does() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = root().join("filetests/opencl/kernels.cl");
    let forms = [
        ("spir64", "-cl-std=CL1.2", "a.ll"),
        ("spir64", "-cl-std=CL2.0", "b.bc"),
        ("spirv64", "-cl-std=CL1.2", "c.ll"),
    ];
    let runs = &|(target, version, name): (&str, &str, &str)| {
        let module = folder.path().join(name);
        compile(&file, target, version, &module);
        for (kernel, bound, tolerance) in KERNELS {
            let report = run(&module, kernel, bound, tolerance);
            assert!(report.contains(" 0 mismatches"), "{target} {version}, {kernel}: {report}");
        }
    };
    // The scope fails if one of them does.
    std::thread::scope(|scope| forms.iter().for_each(|&form| _ = scope.spawn(move || runs(form))));
}

#[test]
fn modules_with_pointers_of_32_bits_are_refused_with_the_reason() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for target in ["spir", "spirv32"] {
        let module = folder.path().join("m.ll");
        compile(&root().join("filetests/opencl/kernels.cl"), target, "-cl-std=CL1.2", &module);
        let output = folder.path().join("m.o");
        let refused = warpline(&[
            "vectorize",
            module.to_str().unwrap(),
            "--function",
            "hash",
            "-o",
            output.to_str().unwrap(),
        ]);
        assert_eq!(refused.status.code(), Some(2));
        let words = stderr(&refused);
        assert!(words.contains("32 bits") && words.contains("compile it for spir64"), "{words}");
    }
}

#[test]
fn what_is_missing_is_named_as_in_the_source() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let refusals = [
        (
            "float mine(float4 x); kernel void k(global float *o) { o[get_global_id(0)] = mine((float4)1); }",
            "the builtin `mine(float4)` is not defined",
        ),
        (
            "kernel void k(global float *o, read_only image2d_t m, sampler_t s) {
            o[get_global_id(0)] = read_imagef(m, s, (float2)(0, 0)).x; }",
            "is for images",
        ),
        (
            "kernel void k(global float4 *o) { printf(\"%v8hlf\", o[get_global_id(0)]); }",
            "`printf` has a vector that its format does not say",
        ),
        (
            "kernel void k(global uchar4 *o) { printf(\"%d%v4s\", 1, o[get_global_id(0)]); }",
            "`printf` has a vector that its format does not say",
        ),
    ];
    for (number, (text, wanted)) in refusals.into_iter().enumerate() {
        let file = folder.path().join(format!("k{number}.cl"));
        std::fs::write(&file, text.replacen("float mine", "__attribute__((overloadable)) float mine", 1))
            .unwrap();
        let output = folder.path().join("k.o");
        let refused = warpline(&["vectorize", file.to_str().unwrap(), "-o", output.to_str().unwrap()]);
        let words = stderr(&refused);
        assert!(!refused.status.success() && words.contains(wanted), "{text}: {words}");
    }
}

#[test]
fn all_kernels_of_a_file_are_made_and_what_has_an_illegal_barrier_is_a_warning() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (source, object) = (folder.path().join("two.cl"), folder.path().join("two.o"));
    let text = "kernel void twice(global float *f) { f[get_global_id(0)] *= 2; }
float half_of(float x) { return x / 2; }
kernel void halve(global float *f) { f[get_global_id(0)] = half_of(f[get_global_id(0)]); }
kernel void wait(global float *f) {
  if (get_local_id(0) & 1) barrier(CLK_LOCAL_MEM_FENCE);
  f[get_global_id(0)] = 1;
}
";
    std::fs::write(&source, text).unwrap();
    let source = source.to_str().unwrap();
    let output = warpline(&["vectorize", source, "-o", object.to_str().unwrap()]);
    let made = ok(&output);
    assert!(made.contains("twice_ndrange") && made.contains("halve_ndrange"), "{made}");
    assert!(!made.contains("half_of"), "{made}");
    assert!(stderr(&output).contains("warning: ") && stderr(&output).contains("come to this barrier"));
    let all = warpline(&["vectorize", source, "-o", object.to_str().unwrap(), "--require-all"]);
    assert_eq!(all.status.code(), Some(1), "{}", stderr(&all));
}

#[test]
fn builtins_are_compiled_for_the_machine_that_flags_say() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("eight.cl");
    let text = "//@ range 0..64\n//@ bind f=f32[512]=-9..9\n\
                kernel void k(global float8 *f) { size_t i = get_global_id(0); f[i] = fmod(f[i], (float8)2.5f); }\n";
    std::fs::write(&source, text).unwrap();
    // Vectors of eight numbers are passed in registers or in memory, as the machine has them.
    for flags in [&[][..], &["--", "-mavx2"], &["--", "-march=x86-64", "-mno-sse4.2"]] {
        let words = [&["run", source.to_str().unwrap()], flags].concat();
        let report = ok(&warpline(&words));
        assert!(report.contains(" 0 mismatches"), "{flags:?}: {report}");
    }
}

/// A kernel that prints vectors of all kinds, and what it prints for one work-item.
const PRINTS: &str = "kernel void k(global int *o) {
  int i = get_global_id(0);
  printf(\"%2.2v4hlf|%v2lf|%v3hlg\\n\", (float4)(i, 2.5f, -1, 0.125f), (double2)(0.5, i), (float3)(1, 2, 3));
  printf(\"%#v4hhx %v2hhu %v3hd %v2hd%%\\n\", (uchar4)(250, 251, 252, 253), (uchar2)(i, 255), (short3)(-1, 2, -3),
         (short2)(-4, i));
  printf(\"%v2hld %v3hlu %v8hld %v2ld %v16hhd\\n\", (int2)(i, -6), (uint3)(7, 8, 4294967295u), (int8)(i),
         (long2)(1L << 40, -2), (char16)(-1));
  printf(\"%s %v4hlf %c %5.1v8hlf|\\n\", \"text\", (float4)(1, 2, 3, i), 'c', (float8)(9.26f));
  printf(\"plain %d %% %.1f\\n\", i, 1.5f);
  o[i] = i;
}
";
const PRINTED: &str = "5.00,2.50,-1.00,0.12|0.500000,5.000000|1,2,3
0xfa,0xfb,0xfc,0xfd 5,255 -1,2,-3 -4,5%
5,-6 7,8,4294967295 5,5,5,5,5,5,5,5 1099511627776,-2 -1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1
text 1.000000,2.000000,3.000000,5.000000 c   9.3,  9.3,  9.3,  9.3,  9.3,  9.3,  9.3,  9.3|
plain 5 % 1.5
";

#[test]
fn vectors_are_printed_element_by_element() {
    let compilers = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    if !has_clang() || Command::new(&compilers).arg("--version").output().is_err() {
        eprintln!("skipped: there is no C compiler");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("k.cl"), PRINTS).unwrap();
    std::fs::write(
        path("main.c"),
        "#include \"k.h\"\nint main(void) { static int o[6]; k_range(5, 6, o); return o[5]; }\n",
    )
    .unwrap();
    compile(Path::new(&path("k.cl")), "spir64", "-cl-std=CL1.2", Path::new(&path("k.bc")));
    let inputs = [(path("k.cl"), &[][..]), (path("k.cl"), &["--", "-mavx2"]), (path("k.bc"), &[])];
    for (input, flags) in inputs {
        let (object, header) = (path("k.o"), path("k.h"));
        let words =
            [&["vectorize", &input, "-o", &object, "--header", &header, "--cpu", "x86-64"], flags].concat();
        ok(&warpline(&words));
        let program = path("program");
        let linked = Command::new(&compilers)
            .args(["-o", &program, &path("main.c"), &object, "-lm"])
            .output()
            .unwrap();
        assert!(linked.status.success(), "{}", String::from_utf8_lossy(&linked.stderr));
        let printed = Command::new(&program).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&printed.stdout), PRINTED, "{input} {flags:?}");
    }
}
