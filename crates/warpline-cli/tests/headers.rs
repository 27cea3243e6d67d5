//! Headers have the types of the source: they compile as C and C++, alone and beside the user's own headers, and what
//! they declare is called and gives what the scalar program gives.

mod common;

use std::path::Path;
use std::process::Command;

use common::{has_clang, ok, stderr, warpline};

/// The compilers that take headers, each with its language.
const COMPILERS: [(&str, &[&str]); 4] = [
    ("gcc", &["-xc", "-std=c99"]),
    ("g++", &["-xc++", "-std=c++11"]),
    ("clang-19", &["-xc", "-std=c99"]),
    ("clang++-19", &["-xc++", "-std=c++17"]),
];

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Vectorizes a file of a folder into `out/k.o` and `out/k.h`; the header.
#[track_caller]
fn vectorize(folder: &Path, input: &str, arguments: &[&str]) -> String {
    std::fs::create_dir_all(folder.join("out")).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (input, object, header) = (path(input), path("out/k.o"), path("out/k.h"));
    let mut all = vec!["vectorize", &*input, "-o", &*object, "--header", &*header, "-q"];
    all.extend(arguments);
    ok(&warpline(&all));
    std::fs::read_to_string(&header).unwrap()
}

/// Has every compiler that is there take a text that may include `k.h`, without warnings.
#[track_caller]
fn takes(folder: &Path, text: &str, flags: &[&str]) {
    for (compiler, language) in COMPILERS {
        let file = folder.join("out/probe");
        std::fs::write(&file, text).unwrap();
        let mut command = Command::new(compiler);
        command.args(language).args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]);
        let flags = flags.iter().map(|flag| flag.replace("DIR", &folder.display().to_string()));
        match command.args(flags).arg(&file).output() {
            Err(_) => println!("skipped: there is no {compiler}"),
            Ok(output) => {
                let header = std::fs::read_to_string(folder.join("out/k.h")).unwrap();
                assert!(output.status.success(), "{compiler}: {}\n{header}", stderr(&output));
            }
        }
    }
}

/// Compiles files in C or C++ together with `out/k.o` and runs the program; what it prints.
#[track_caller]
fn run(folder: &Path, compiler: &str, files: &[&str], flags: &[&str]) -> Option<String> {
    let program = folder.join("out/program");
    let mut command = Command::new(compiler);
    command.current_dir(folder).args(["-O1", "-ffp-contract=off", "-w", "-Iout", "-o"]).arg(&program);
    let Ok(output) = command.args(flags).args(files).args(["out/k.o", "-lm"]).output() else {
        println!("skipped: there is no {compiler}");
        return None;
    };
    assert!(output.status.success(), "{}", stderr(&output));
    let output = Command::new(&program).output().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    Some(String::from_utf8(output.stdout).unwrap())
}

/// A header that is found by an include folder.
const TYPES: &str = "#ifndef TYPES_H\n#define TYPES_H\n#include <stdint.h>\ntypedef SAMPLE sample;\n\
                     typedef struct { float r, g, b; uint8_t a : 3, more : 5; } rgb;\n\
                     struct pixel { float x; struct pixel *next; union { int i; float f; } u; char name[4]; };\n\
                     typedef struct pixel pixel;\nenum mode { FAST, SLOW = 7 };\n#endif\n";

/// One that lies beside the source.
const BESIDE: &str = "#ifndef BESIDE_H\n#define BESIDE_H\ntypedef struct { double re, im; } \
                      point;\nstruct grid { int width, height; };\n#endif\n";

const KERNELS: &str = r#"
#include <stddef.h>
#include <stdio.h>
#include "beside.h"
#include "lib/types.h"
struct own { float factor; int shift[6]; };
enum local { NONE, ALL };
typedef float real;
//@ args i=index
void many(int i, const sample *restrict in, rgb *restrict out, struct pixel *pixels, const pixel *others, enum mode mode,
          enum local local, size_t n, unsigned char c, const int k, float (*matrix)[4], float array[restrict static 3],
          int (*callback)(int, const float *), const char *const *names, _Bool flag, volatile int *v, FILE *file, void *any,
          const struct own *own, struct grid *grid, point *points, long double *ld, unsigned long long u, real *reals)
{
    out[i].r = in[i] * (float)n + (float)c + (float)k + (float)mode + (float)local + (float)flag;
    out[i].g = pixels[i].x + others[i].u.f + matrix[i][3] + array[2];
    out[i].b = own->factor + (float)own->shift[1] + (float)(grid->width * grid->height) + (float)points[i].im + reals[i];
}
//@ args i=index, x=varying, m=varying, step=stride(2)
sample each(int i, sample x, enum mode m, int step, int class) { return x * class + (float)m + (float)step; }
//@ args i=index
void by_value(int i, struct own own, float *restrict out) { out[i] = own.factor * (float)i + (float)own.shift[0]; }
"#;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <string.h>
#include "lib/types.h"
#define WARPLINE_TYPES
#include "k.h"
#include "beside.h"
#ifdef __cplusplus
extern "C" {
#define restrict __restrict
#endif
void many(int, const sample *restrict, rgb *restrict, struct pixel *, const pixel *, enum mode, enum local, size_t,
          unsigned char, const int, float (*)[4], float *restrict, int (*)(int, const float *), const char *const *, bool,
          volatile int *, FILE *, void *, const struct own *, struct grid *, point *, long double *, unsigned long long,
          float *);
sample each(int, sample, enum mode, int, int);
void by_value(int, struct own, float *restrict);
#ifdef __cplusplus
}
#endif
enum { N = 103 };
static sample in[N], x[N], sum[N];
static rgb out[N], expected[N];
static struct pixel pixels[N];
static float matrix[N][4], array[3], values[N], reals[N];
static point points[N];
static enum mode modes[N];
int main(void) {
    int bad = 0;
    struct own own = {1.5f, {3, 4}};
    struct grid grid = {5, 6};
    for (int i = 0; i < N; i++) {
        in[i] = (sample)(i * 0.5); x[i] = (sample)(i % 7); modes[i] = i % 3 ? SLOW : FAST; reals[i] = i * 3.0f;
        pixels[i].x = i * 2.0f; pixels[i].u.f = i - 4.0f; matrix[i][3] = i * 0.25f; points[i].im = i;
    }
    array[2] = 9;
    many_range(0, N, in, out, pixels, pixels, SLOW, ALL, 11, 200, -3, matrix, array, 0, 0, 1, 0, stdout, 0, &own, &grid,
               points, 0, 0, reals);
    for (int i = 0; i < N; i++) {
        many(i, in, expected, pixels, pixels, SLOW, ALL, 11, 200, -3, matrix, array, 0, 0, 1, 0, stdout, 0, &own, &grid,
             points, 0, 0, reals);
        bad += out[i].r != expected[i].r || out[i].g != expected[i].g || out[i].b != expected[i].b;
    }
    each_range(0, N, x, modes, 5, 3, sum);
    by_value_range(0, N, &own, values);
    for (int i = 0; i < N; i++) {
        float value[N];
        by_value(i, own, value);
        bad += sum[i] != each(i, x[i], modes[i], 5 + 2 * i, 3) || values[i] != value[i];
    }
    printf("%d wrong\n", bad);
    return 0;
}
"#;

/// A folder with the project.
fn project() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let files = [
        ("include/lib/types.h", TYPES),
        ("src/beside.h", BESIDE),
        ("src/k.c", KERNELS),
        ("src/main.c", PROGRAM),
        ("src/main.cpp", PROGRAM),
    ];
    write(place.path(), &files);
    place
}

#[test]
fn functions_of_c_are_declared_with_the_types_of_the_source() {
    if !has_clang() {
        return;
    }
    let place = project();
    let include = format!("-I{}", place.path().join("include").display());
    let header = vectorize(place.path(), "src/k.c", &[&include, "-DSAMPLE=float"]);
    let expected = "void many_range(int64_t begin, int64_t end, const sample *restrict in, rgb *restrict out, struct \
                    pixel *pixels, const pixel *others, enum mode mode, enum local local_, size_t n, unsigned char c, \
                    int k, float (*matrix)[4], float *restrict array, int (*callback)(int, const float *), const char \
                    *const *names, bool flag, volatile int *v, FILE *file, void *any, const struct own *own, struct \
                    grid \
                    *grid, point *points, long double *ld, unsigned long long u, real *reals);";
    assert!(header.contains(expected), "{header}");
    for part in [
        "void each_range(int64_t begin, int64_t end, const sample *x, const enum mode *m, int step, int class_, \
         sample *out);",
        "void by_value_range(int64_t begin, int64_t end, struct own *own, float *restrict out);",
        "#include \"lib/types.h\"",
        "#include \"beside.h\"",
        "#include \"../src/beside.h\"",
        "#include <stdio.h>",
        "struct pixel;",
    ] {
        assert!(header.contains(part), "`{part}` is not in\n{header}");
    }
    let (before, lanes) = header.split_once("#ifdef WARPLINE_LANES").unwrap();
    assert!(!before.contains("many_w") && lanes.contains("many_w"), "{header}");
    // Alone: nothing is found but what lies beside the source.
    takes(place.path(), "#include \"k.h\"\n#include \"k.h\"\nint x;\n", &["-DSAMPLE=float", "-IDIR/include"]);
    takes(place.path(), "#include \"k.h\"\nint x;\n", &["-DWARPLINE_LANES", "-DWARPLINE_TYPES"]);
    // Beside the headers that it is made of, in either order.
    let flags = ["-DSAMPLE=float", "-IDIR/include", "-IDIR/src"];
    takes(
        place.path(),
        "#include \"beside.h\"\n#include \"lib/types.h\"\n#include \"k.h\"\nstatic const enum mode m = SLOW;\nint \
         f(void);\nint f(void) { return m; }\n",
        &flags,
    );
    takes(
        place.path(),
        "#include \"k.h\"\n#include \"beside.h\"\nint f(rgb *);\nint f(rgb *x) { return x->a; }\n",
        &flags,
    );
}

#[test]
fn what_headers_declare_gives_what_the_scalar_program_gives() {
    if !has_clang() {
        return;
    }
    let place = project();
    let include = format!("-I{}", place.path().join("include").display());
    vectorize(place.path(), "src/k.c", &[&include, "-DSAMPLE=float"]);
    let flags = ["-Iinclude", "-Isrc", "-DSAMPLE=float"];
    let Some(_) = run(place.path(), "cc", &["src/main.c", "src/k.c"], &flags) else { return };
    for (compiler, main) in [
        ("cc", "src/main.c"),
        ("clang-19", "src/main.c"),
        ("c++", "src/main.cpp"),
        ("clang++-19", "src/main.cpp"),
    ] {
        // The scalar program is C, whatever calls it.
        let scalar = place.path().join("out/scalar.o");
        let compiled = Command::new("cc")
            .current_dir(place.path())
            .args(["-O1", "-ffp-contract=off", "-w", "-c", "src/k.c", "-o"])
            .arg(&scalar)
            .args(flags)
            .output()
            .unwrap();
        assert!(compiled.status.success(), "{}", stderr(&compiled));
        if let Some(text) = run(place.path(), compiler, &[main, "out/scalar.o"], &flags) {
            assert_eq!(text, "0 wrong\n", "{compiler}");
        }
    }
}

#[test]
fn another_type_of_the_same_name_is_noticed_where_the_header_is_compiled() {
    if !has_clang() {
        return;
    }
    let place = project();
    let include = format!("-I{}", place.path().join("include").display());
    vectorize(place.path(), "src/k.c", &[&include, "-DSAMPLE=float"]);
    std::fs::write(place.path().join("out/probe"), "#include \"k.h\"\n").unwrap();
    let compile = |sample: &str| {
        Command::new("clang-19")
            .args(["-xc", "-fsyntax-only", sample, &include])
            .arg(place.path().join("out/probe"))
            .output()
    };
    let (Ok(same), Ok(other)) = (compile("-DSAMPLE=float"), compile("-DSAMPLE=double")) else {
        println!("skipped: there is no clang-19");
        return;
    };
    assert!(same.status.success(), "{}", stderr(&same));
    assert!(stderr(&other).contains("warpline_size_of_sample"), "{}", stderr(&other));
}

#[test]
fn what_has_no_name_in_c_is_what_llvm_says_with_a_remark() {
    if !has_clang() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let text = "#include <cstddef>\n#include <vector>\nnamespace img {\nstruct view { float *p; int w; };\nenum class \
                kind : \
                unsigned char { A };\nusing real = float;\ntemplate <class T> struct span { T *b; std::size_t n; };\n\
                void f(int i, const view &v, kind k, real x, span<float> *s, wchar_t w, const float *__restrict in, \
                float \
                *o) { o[i] = in[i] + x + v.w + (float)k; }\n}\nstruct plain { int x; };\nclass closed { int x; };\n\
                typedef struct { int q; } anon;\nvoid g(int i, plain *p, closed *c, anon *a, std::vector<int> &v, void \
                (img::view::*m)(), char16_t h, float *o) { o[i] = p->x + a->q + h + v[0]; }\n";
    write(place.path(), &[("k.cpp", text)]);
    let words = ["--function", "img::f", "--function", "g", "--args", "i=index"];
    let header = vectorize(place.path(), "k.cpp", &words);
    for part in [
        "`img::f(int, img::view const&, ",
        "const img_view *v, int8_t k /* img::kind */, float x, void *s /* img::span<float> * */",
        "const float *restrict in, float *o);",
        "struct plain *p, void *c /* closed * */, anon *a, void *v /* std::vector<int",
    ] {
        assert!(header.contains(part), "`{part}` is not in\n{header}");
    }
    takes(place.path(), "#include \"k.h\"\n#include \"k.h\"\nint x;\n", &["-DWARPLINE_TYPES"]);
    takes(place.path(), "#include \"k.h\"\nint x;\n", &["-DWARPLINE_LANES"]);
    // In C++, the name is the type's, declared before or behind.
    let define = "namespace img { struct view { float *p; int w; }; }\n";
    let use_it = "int x;\n#ifdef __cplusplus\nconst img_view *as_it_is(img::view *v) { return v; }\n#endif\n";
    let cpp = |text: &str| format!("#ifdef __cplusplus\n{text}#endif\n");
    takes(place.path(), &format!("{}#include \"k.h\"\n{use_it}", cpp(define)), &[]);
    takes(place.path(), &format!("#include \"k.h\"\n{}{use_it}", cpp(define)), &[]);
}

#[test]
fn kernels_of_opencl_lose_address_spaces_and_keep_what_c_has() {
    if !has_clang() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let text = "typedef struct { float4 a; int n; } item;\nstruct flat { float x, y; };\nkernel void k(global const \
                float4 \
                *a, __global float *restrict b, constant uint *u, float4 v, float3 w, uchar c, int n, global item \
                *items, \
                global struct flat *flats, float2 f, short s, global ulong *ul) {\n  size_t i = get_global_id(0);\n  \
                b[i] \
                = a[i].y + v.x + w.z + f.y * s + c + n + u[i] + flats[i].y;\n}\n";
    write(place.path(), &[("k.cl", text)]);
    let header = vectorize(place.path(), "k.cl", &[]);
    let expected = "const void *a /* const float4 * */, float *restrict b, unsigned int *u, warpline_floatx4 v /* \
                    float4 */, \
                    warpline_floatx4 w /* float3 */, unsigned char c, int n, void *items /* item * */, struct flat \
                    *flats, \
                    warpline_floatx2 f /* float2 */, short s, unsigned long *ul);";
    assert!(header.contains(expected), "{header}");
    takes(place.path(), "#include \"k.h\"\n#include \"k.h\"\nint x;\n", &["-DWARPLINE_TYPES"]);
    let program = r#"
#include <stdio.h>
#define WARPLINE_TYPES
#include "k.h"
int main(void) {
    static float a[40][4], b[40];
    static unsigned u[40];
    static struct flat flats[40];
    warpline_floatx4 v = {1, 0, 0, 0}, w = {0, 0, 2, 0};
    warpline_floatx2 f = {0, 3};
    uint64_t offset[3] = {0, 0, 0}, size[3] = {40, 1, 1}, local[3] = {0, 0, 0};
    int bad = 0;
    for (int i = 0; i < 40; i++) { a[i][1] = i; u[i] = 2 * i; flats[i].y = 0.5f; }
    k_ndrange(offset, size, local, a, b, u, v, w, 200, 7, 0, flats, f, -2, 0);
    for (int i = 0; i < 40; i++) bad += b[i] != i + 1 + 2 + 3 * -2 + 200 + 7 + 2 * i + 0.5f;
    printf("%d wrong\n", bad);
    return 0;
}
"#;
    write(place.path(), &[("main.c", program), ("main.cpp", program)]);
    for (compiler, main) in [("gcc", "main.c"), ("clang-19", "main.c"), ("g++", "main.cpp")] {
        if let Some(text) = run(place.path(), compiler, &[main], &[]) {
            assert_eq!(text, "0 wrong\n", "{compiler}");
        }
    }
}

#[test]
fn types_are_known_of_modules_with_debug_information_and_of_no_rust() {
    let place = tempfile::tempdir().unwrap();
    let rust = "//@ args i=index\n#[unsafe(no_mangle)]\npub extern \"C\" fn k(i: u32, x: f32, out: &mut [f32; 64]) { \
                out[i as usize & 63] = x; }\n";
    write(place.path(), &[("k.rs", rust)]);
    let header = vectorize(place.path(), "k.rs", &[]);
    assert!(header.contains("void k_range(int64_t begin, int64_t end, float x, void *out);"), "{header}");
    if !has_clang() {
        return;
    }
    let c = "struct s { int a; };\nvoid f(int i, const struct s *restrict p, int *restrict out) { out[i] = p->a; }\n";
    write(place.path(), &[("f.c", c)]);
    let module = place.path().join("f.ll");
    let compiled = Command::new("clang-19")
        .args(["-g", "-O1", "-S", "-emit-llvm", "-o"])
        .args([&module, &place.path().join("f.c")])
        .output();
    let Ok(compiled) = compiled else { return println!("skipped: there is no clang-19") };
    assert!(compiled.status.success(), "{}", stderr(&compiled));
    let header = vectorize(place.path(), "f.ll", &["--args", "index"]);
    assert!(header.contains("const struct s *restrict p, int *restrict out);"), "{header}");
    takes(place.path(), "#include \"k.h\"\nint x;\n", &["-DWARPLINE_TYPES"]);
}
