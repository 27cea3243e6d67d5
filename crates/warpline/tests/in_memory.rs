//! A program that compiles a source while it runs, and is its own worker.

use std::process::ExitCode;

use warpline::jit::{Code, Language, Object};
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
    functions_keep_their_names_and_types_and_compute_the_same();
    functions_without_loops_are_what_they_are();
    kernels_have_drivers();
    what_is_wrong_is_said();
    this_process_compiles_for_its_own_cpu_and_refuses_others();
    println!("in_memory: 5 passed");
    ExitCode::SUCCESS
}

fn functions_keep_their_names_and_types_and_compute_the_same() {
    let source = "void scale(int n, float *x) { for (int i = 0; i < n; i++) x[i] *= 2; }";
    let code = Code::of_source(Language::C, source).unwrap();
    assert_eq!(code.object.made.len(), 1, "{:?}", code.object);
    let scale = code.address("scale").unwrap();
    // SAFETY: that is its type, and it is called with as many elements as it is told.
    let scale = unsafe { std::mem::transmute::<usize, extern "C" fn(i32, *mut f32)>(scale) };
    for n in [0, 1, 7, 100] {
        let mut x: Vec<f32> = (0u8..n).map(f32::from).collect();
        scale(n.into(), x.as_mut_ptr());
        assert!(x.iter().zip(0u8..).all(|(&x, k)| x == 2.0 * f32::from(k)), "{x:?}");
    }
}

fn functions_without_loops_are_what_they_are() {
    let source = "float lerp(float a, float b, float t) { return a + (b - a) * t; }";
    let code = Code::of_source(Language::C, source).unwrap();
    let lerp = code.address("lerp").unwrap();
    // SAFETY: that is its type.
    let lerp = unsafe { std::mem::transmute::<usize, extern "C" fn(f32, f32, f32) -> f32>(lerp) };
    assert_eq!(lerp(1.0, 5.0, 0.25), 2.0);
}

fn kernels_have_drivers() {
    let source = "//@ args i=index\nvoid square(int i, const int *x, int *y) { y[i] = x[i] * x[i]; }";
    let code = Code::of_source(Language::C, source).unwrap();
    let range = code.address("square_range").unwrap();
    // SAFETY: so are drivers called, and all indices are there.
    let range = unsafe { std::mem::transmute::<usize, extern "C" fn(i64, i64, *const i32, *mut i32)>(range) };
    let (x, mut y): (Vec<i32>, _) = ((0..99).collect(), vec![0; 99]);
    range(0, 99, x.as_ptr(), y.as_mut_ptr());
    assert!(y.iter().zip(0..).all(|(&y, k)| y == k * k), "{y:?}");
}

fn what_is_wrong_is_said() {
    let wrong = Object::of_source(Language::C, "int f( {", &warpline::compile::KernelOptions::new(""));
    assert!(wrong.unwrap_err().to_string().contains("expected"));
    let serial = "void f(int n, int *x) { for (int i = 1; i < n; i++) x[i] = x[i - 1] * x[i - 1] + 1; }";
    let code = Code::of_source(Language::C, serial).unwrap();
    assert!(code.object.made.is_empty() && code.object.refused.len() == 1, "{:?}", code.object);
    assert!(code.address("f").is_ok() && code.address("g").is_err());
}

fn this_process_compiles_for_its_own_cpu_and_refuses_others() {
    worker::set(worker::Worker::ThisProcess);
    functions_keep_their_names_and_types_and_compute_the_same();
    let elsewhere = warpline::compile::KernelOptions {
        cpu: "haswell".into(),
        ..warpline::compile::KernelOptions::new("")
    };
    let wrong = Object::of_source(
        Language::C,
        "void f(int *x) { for (int i = 0; i < 9; i++) x[i] = i; }",
        &elsewhere,
    );
    assert!(wrong.unwrap_err().to_string().contains("a worker is needed"));
}
