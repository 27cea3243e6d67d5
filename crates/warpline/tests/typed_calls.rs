//! A program that compiles sources while it runs and calls them with arguments that are checked; it is its own worker.

use std::process::ExitCode;

use warpline::jit::{CallError, Code, Kernel, Language};
use warpline::llvm::{has_clang, worker};

fn main() -> ExitCode {
    worker::serve_if_asked();
    // With AddressSanitizer, a process takes all addresses that there are.
    if std::env::var_os("WARPLINE_SANITIZED").is_some() {
        warpline::llvm::child::set_memory(0);
    }
    if !has_clang() {
        eprintln!("skipped: there is no clang");
        return ExitCode::SUCCESS;
    }
    numbers_of_all_types_arrive_and_come_back();
    slices_are_read_and_written();
    more_arguments_than_registers_arrive();
    wrong_arguments_are_errors_and_nothing_is_called();
    lengths_are_those_of_the_source_or_of_the_caller();
    kernels_over_ranges_know_their_lengths();
    functions_and_kernels_in_rust_are_called();
    threads_share_a_kernel();
    what_cannot_be_called_says_why();
    println!("typed_calls: 9 passed");
    ExitCode::SUCCESS
}

fn c(source: &str) -> Code {
    Code::of_source(Language::C, source).unwrap()
}

/// Each type of C's there and back, with values at both ends, which show extensions that are missing.
fn numbers_of_all_types_arrive_and_come_back() {
    let source = "#include <stdbool.h>\n#include <stdint.h>\n#include <stddef.h>\n\
                  #define T(name, type) type name(type x) { return x; } long wide_##name(type x) { return (long)x; }\n\
                  T(a, int8_t) T(b, uint8_t) T(c, int16_t) T(d, uint16_t) T(e, int32_t) T(f, uint32_t) T(g, int64_t) \
                  T(h, uint64_t) T(i, float) T(j, double) T(k, bool) T(l, char) T(m, size_t)\n\
                  void loop(int n, float x[n]) { for (int i = 0; i < n; i++) x[i] *= 2; }\n";
    let code = c(source);
    macro_rules! both {
        ($name:literal, $ty:ty, $($value:expr),*) => {{
            let (same, wide) = (code.kernel($name).unwrap(), code.kernel(concat!("wide_", $name)).unwrap());
            for value in [$($value as $ty),*] {
                assert_eq!(same.compute::<$ty>((value,)), Ok(value), "{}", $name);
                assert_eq!(wide.compute::<i64>((value,)), Ok(value as i64), "{}", $name);
            }
        }};
    }
    both!("a", i8, i8::MIN, -1, i8::MAX);
    both!("b", u8, 0, 255);
    both!("c", i16, i16::MIN, -1, i16::MAX);
    both!("d", u16, 0, u16::MAX);
    both!("e", i32, i32::MIN, -1, i32::MAX);
    both!("f", u32, 0, u32::MAX);
    both!("g", i64, i64::MIN, -1, i64::MAX);
    both!("h", u64, 0, u64::MAX);
    both!("i", f32, -2.0, 1e9);
    both!("j", f64, -2.0, 1e9);
    both!("l", i8, -7, 7);
    both!("m", usize, 0, 7);
    let flag = code.kernel("k").unwrap();
    assert_eq!([true, false].map(|x| flag.compute::<bool>((x,)).unwrap()), [true, false]);
}

fn slices_are_read_and_written() {
    let source = "float dot(int n, const float x[n], const float y[n]) { float s = 0; for (int i = 0; i < n; i++) s += x[i] \
                  * y[i]; return s; }\n\
                  void lengths(int n, const float p[n][3], double out[n]) { for (int i = 0; i < n; i++) \
                  out[i] = p[i][0] * p[i][0] + p[i][1] * p[i][1] + p[i][2] * p[i][2]; }";
    let code = c(source);
    let dot = code.kernel("dot").unwrap();
    assert_eq!(dot.signature().to_string(), "dot(n: i32, x: &[f32], y: &[f32]) -> f32");
    for n in [0, 1, 7, 100] {
        let x: Vec<f32> = (0..n as u8).map(f32::from).collect();
        let expected: f32 = x.iter().map(|x| x * 2.0).sum();
        assert_eq!(dot.compute::<f32>((n, &x, &vec![2.0f32; n as usize])), Ok(expected));
    }
    let points = [[3.0f32, 4.0, 0.0], [1.0, 2.0, 2.0]];
    let mut out = [0.0f64; 2];
    code.kernel("lengths").unwrap().call((2, &points, &mut out)).unwrap();
    assert_eq!(out, [25.0, 9.0]);
}

fn more_arguments_than_registers_arrive() {
    let source = "#include <stdint.h>\ndouble f(int8_t a, double p, uint16_t b, float q, long c, double r, int d, double s, \
                  unsigned e, double t, int8_t g, double u) { int k = 0; for (int i = 0; i < c; i++) k += i; return k + a + 2 * p + 3 * b \
                  + 4 * q + 5 * c + 6 * r + 7 * d + 8 * s + 9.0 * e + 10 * t + 11 * g + 12 * u; }";
    let f = Kernel::from_source(Language::C, source).unwrap();
    let sum =
        f.compute::<f64>((-1i8, 2.0, 3u16, 4.0f32, -5i64, 6.0, -7, 8.0, 9u32, 10.0, -11i8, 12.0)).unwrap();
    assert_eq!(sum, -1.0 + 4.0 + 9.0 + 16.0 - 25.0 + 36.0 - 49.0 + 64.0 + 81.0 + 100.0 - 121.0 + 144.0);
}

fn wrong_arguments_are_errors_and_nothing_is_called() {
    let f = Kernel::from_source(
        Language::C,
        "int f(int n, const int *x, float *y) { for (int i = 0; i < n; i++) y[i] = x[i]; __builtin_trap(); }",
    )
    .unwrap();
    let (x, mut y) = ([1, 2], [0.0f32; 2]);
    let said = |outcome: Result<(), CallError>| outcome.unwrap_err().to_string();
    assert_eq!(
        said(f.call((2, &x))),
        "`f(n: i32, x: &[i32], y: &mut [f32]) -> i32` takes 3 arguments, not 2"
    );
    assert_eq!(said(f.call((2u32, &x, &mut y))), "`n` takes i32, not u32");
    assert_eq!(said(f.call((2, &[1u8; 2], &mut y))), "`x` takes &[i32], not &[u8]");
    assert_eq!(said(f.call((2, &x, &y))), "`y` takes &mut [f32], not &[f32]");
    assert_eq!(said(f.call((2, 3, &mut y))), "`x` takes &[i32], not i32");
    let wrong = f.compute::<f32>((2, &x, &mut y)).unwrap_err();
    assert_eq!(wrong.to_string(), "`f` returns i32, not f32");
}

fn lengths_are_those_of_the_source_or_of_the_caller() {
    let source = "void grey(int w, int h, const unsigned char rgb[3 * w * h], unsigned char out[h][w]) {\n\
                  for (int i = 0; i < w * h; i++) (&out[0][0])[i] = (rgb[3 * i] + rgb[3 * i + 1] + rgb[3 * i + 2]) / 3; }\n\
                  void twice(int n, int *x) { for (int i = 0; i < n; i++) x[i] *= 2; }";
    let code = c(source);
    let grey = code.kernel("grey").unwrap();
    let (rgb, mut out) = ([9u8; 36], [0u8; 12]);
    grey.call((4, 3, &rgb, &mut out)).unwrap();
    assert_eq!(out, [9; 12]);
    let short = grey.call((4, 3, &rgb[1..], &mut out)).unwrap_err();
    assert_eq!(short.to_string(), "`rgb` needs 3 * w * h = 36 elements, not 35");
    let short = grey.call((4, 3, &rgb, &mut out[1..])).unwrap_err();
    assert!(matches!(short, CallError::Length { needed: 12, given: 11, .. }), "{short}");
    // A product that no number holds is no length that a slice has.
    assert!(grey.call((i32::MAX, i32::MAX, &rgb, &mut out)).is_err());
    grey.call((-1, 3, &rgb, &mut out)).unwrap();
    let twice = code.kernel("twice").unwrap();
    assert!(twice.clone().with_length("n", "n").is_err() && twice.clone().with_length("x", "m").is_err());
    let twice = twice.with_length("x", "n").unwrap();
    let mut x = [1, 2, 3];
    twice.call((3, &mut x)).unwrap();
    assert_eq!(x, [2, 4, 6]);
    assert!(twice.call((4, &mut x)).is_err());
}

fn kernels_over_ranges_know_their_lengths() {
    let source = "//@ args i=index, a=varying\nfloat scaled(int i, float a, const float *x) { return x[i] > 0 ? a * x[i] : a; }";
    let scaled = Kernel::from_source(Language::C, source).unwrap();
    assert_eq!(
        scaled.signature().to_string(),
        "scaled_range(begin: i64, end: i64, a: &[f32], x: &[f32], out: &mut [f32])"
    );
    let (a, x, mut out) = ([2.0f32; 50], [3.0f32; 50], [0.0f32; 50]);
    scaled.call((0i64, 50i64, &a, &x, &mut out)).unwrap();
    assert_eq!(out, [6.0; 50]);
    let short = scaled.call((0i64, 50i64, &a[..49], &x, &mut out)).unwrap_err();
    assert_eq!(short.to_string(), "`a` needs end - begin = 50 elements, not 49");
}

fn functions_and_kernels_in_rust_are_called() {
    let source = "#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn count(n: usize, x: *const u8, least: u8) -> u64 {\n    \
                  let mut all = 0;\n    for i in 0..n { if unsafe { *x.add(i) } >= least { all += 1; } }\n    all\n}\n";
    let count = Kernel::from_source(Language::Rust, source).unwrap().with_length("x", "n").unwrap();
    let x: Vec<u8> = (0..=255).collect();
    assert_eq!(count.compute::<u64>((256usize, &x, 200u8)), Ok(56));
    assert!(count.compute::<u64>((257usize, &x, 200u8)).is_err());

    let source = "#[warpline_lanes::kernel(i = index)]\npub fn blend(i: usize, table: &[f32], by: f32, y: &mut f32) {\n    \
                  *y += by * table[i % table.len()];\n}\n";
    let blend = Kernel::from_source(Language::Rust, source).unwrap();
    let mut y = [1.0f32; 40];
    blend.call((0i64, 40i64, &[1.0f32, 2.0], 10.0f32, &mut y)).unwrap();
    assert_eq!((y[0], y[1], y[39]), (11.0, 21.0, 21.0));
    assert!(blend.call((0i64, 41i64, &[1.0f32, 2.0], 10.0f32, &mut y)).is_err());
}

fn threads_share_a_kernel() {
    let scale = Kernel::from_source(
        Language::C,
        "void scale(int n, float by, float x[n]) { for (int i = 0; i < n; i++) x[i] *= by; }",
    )
    .unwrap();
    let mut x = vec![1.0f32; 4000];
    std::thread::scope(|scope| {
        for part in x.chunks_mut(1000) {
            let scale = &scale;
            scope.spawn(move || scale.call((1000, 3.0f32, part)).unwrap());
        }
    });
    assert!(x.iter().all(|&x| x == 3.0));
}

fn what_cannot_be_called_says_why() {
    let source = "struct P { double a, b, c; };\nvoid sum(struct P p, int n, double *x) { for (int i = 0; i < n; i++) x[i] += p.a; }\n\
                  int printed(const char *format, ...) { return format[0]; }\nstatic void hidden(void) {}\n\
                  void two(int n, struct P *p) { for (int i = 0; i < n; i++) p[i].a = p[i].b; hidden(); }";
    let code = c(source);
    let why = |name: &str| code.kernel(name).err().unwrap().to_string();
    assert!(why("sum").contains("no number or pointer"), "{}", why("sum"));
    assert!(why("printed").contains("not fixed"), "{}", why("printed"));
    assert!(why("hidden").contains("there are"), "{}", why("hidden"));
    let mut p = [[0.0f64, 1.0, 2.0]; 5];
    code.kernel("two").unwrap().call((5, &mut p)).unwrap();
    assert_eq!(p, [[1.0, 1.0, 2.0]; 5]);
    let several = Kernel::from_source(Language::C, source).err().unwrap();
    assert!(several.to_string().contains("several functions"), "{several}");
}
