//! Functions of the C library that are defined in modules to be vectorized have the bits of the library's: for special
//! numbers against each other, and for numbers of all sizes.

use std::fmt::Debug;

use warpline_llvm::worker::{CodegenOptions, LoadOptions, Output, codegen_in_process, load_in_process};
use warpline_llvm::{Jit, Llvm};
use warpline_testkit::rng::SplitMix64;

#[path = "common/cpus.rs"]
mod cpus;

unsafe extern "C" {
    safe fn modf(x: f64, whole: &mut f64) -> f64;
    safe fn modff(x: f32, whole: &mut f32) -> f32;
    safe fn frexp(x: f64, exponent: &mut i32) -> f64;
    safe fn frexpf(x: f32, exponent: &mut i32) -> f32;
    safe fn remquo(x: f64, y: f64, quotient: &mut i32) -> f64;
    safe fn remquof(x: f32, y: f32, quotient: &mut i32) -> f32;
    safe fn ilogb(x: f64) -> i32;
    safe fn ilogbf(x: f32) -> i32;
}

/// A loop that calls `function` with `x[i]` and, as the parameters say, with `y[i]` and the address of `second[i]`.
fn text(ty: &str, result: &str, function: &str, takes_y: bool, second: Option<&str>) -> String {
    let (y_type, y) = if takes_y { (format!(", {ty}"), format!(", {ty} %b")) } else { Default::default() };
    let (p_type, p) = if second.is_some() { (", ptr", ", ptr %ps") } else { ("", "") };
    let second = second.unwrap_or("i32");
    let slots: String = ["n", "x", "y", "out", "second"]
        .iter()
        .enumerate()
        .map(|(k, name)| {
            let ty = if k == 0 { "i64" } else { "ptr" };
            format!(
                " %slot.{name} = getelementptr i64, ptr %slots, i64 {k}\n %{name} = load {ty}, ptr %slot.{name}\n"
            )
        })
        .collect();
    format!(
        "declare {result} @{function}({ty}{y_type}{p_type})\n\
         define void @entry(ptr %slots) {{\nentry:\n{slots} br label %loop\nloop:\n\
         %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n\
         %px = getelementptr {ty}, ptr %x, i64 %i\n %a = load {ty}, ptr %px\n\
         %py = getelementptr {ty}, ptr %y, i64 %i\n %b = load {ty}, ptr %py\n\
         %ps = getelementptr {second}, ptr %second, i64 %i\n\
         %r = call {result} @{function}({ty} %a{y}{p})\n\
         %po = getelementptr {result}, ptr %out, i64 %i\n store {result} %r, ptr %po\n\
         %next = add i64 %i, 1\n %more = icmp ult i64 %next, %n\n br i1 %more, label %loop, label %end\n\
         end:\n ret void\n}}\n"
    )
}

/// Runs code that was made of a module after the functions were defined in it; `None` without LLVM.
fn run<R: Copy, S: Copy, T>(
    text: &str,
    (x, y): (&[T], &[T]),
    (result, second): (R, S),
) -> Option<(Vec<R>, Vec<S>)> {
    if let Err(error) = Llvm::get() {
        eprintln!("skipped: {error}");
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("k.ll");
    std::fs::write(&input, text).expect("it can be written");
    let options = LoadOptions { for_cpu: true, ..LoadOptions::default() };
    let loaded = load_in_process(&input, &options).expect("it can be loaded");
    let mut options = CodegenOptions::new(cpus::cpus().remove(0), Output::Object);
    options.passes = "always-inline,default<O2>".to_owned();
    let object = codegen_in_process(&loaded.bitcode, "k", &options).expect("code can be made");
    let jit = Jit::new().expect("LLVM is there");
    jit.add_object(&object, "k.o").expect("it can be loaded");
    let (mut out, mut seconds) = (vec![result; x.len()], vec![second; x.len()]);
    let places = [x.as_ptr() as u64, y.as_ptr() as u64, out.as_mut_ptr() as u64, seconds.as_mut_ptr() as u64];
    let mut slots = vec![x.len() as u64];
    slots.extend(places);
    jit.function("entry").expect("it is there").call(&mut slots);
    Some((out, seconds))
}

/// Special numbers against each other, numbers of all sizes, and multiples of a number near halves.
fn operands(bits: u32) -> Vec<(u64, u64)> {
    let (sign, fraction) = (1u64 << (bits - 1), if bits == 32 { 23 } else { 52 });
    let one = if bits == 32 { u64::from(1f32.to_bits()) } else { 1f64.to_bits() };
    let infinity = (sign - 1) >> fraction << fraction;
    let mut special =
        vec![0, 1, 2, 3, (1 << fraction) - 1, 1 << fraction, infinity - 1, infinity, infinity + 1];
    special.extend([
        one - 1,
        one,
        one + 1,
        one + (3 << (fraction - 1)),
        one + (9 << fraction),
        one - (40 << fraction),
    ]);
    special.extend(special.clone().iter().map(|x| x | sign));
    let mut all: Vec<(u64, u64)> =
        special.iter().flat_map(|&a| special.iter().map(move |&b| (a, b))).collect();
    let mut rng = SplitMix64::new(23);
    let mask = if bits == 32 { u64::from(u32::MAX) } else { u64::MAX };
    for k in 0..100_003u64 {
        let a = rng.next_u64() & mask;
        let b = match k % 3 {
            0 => rng.next_u64(),
            1 => a.wrapping_sub((rng.next_u64() % 6) << fraction) ^ (rng.next_u64() & 0xFFFF),
            // Few digits, so that quotients lie on halves.
            _ => (a.wrapping_sub((rng.next_u64() % 6) << fraction)) >> (fraction - 3) << (fraction - 3),
        };
        let a = if k % 3 == 2 { a >> (fraction - 3) << (fraction - 3) } else { a };
        all.push((a, b & mask));
    }
    all
}

fn doubles() -> (Vec<f64>, Vec<f64>) {
    operands(64).into_iter().map(|(x, y)| (f64::from_bits(x), f64::from_bits(y))).unzip()
}

fn floats() -> (Vec<f32>, Vec<f32>) {
    operands(32).into_iter().map(|(x, y)| (f32::from_bits(x as u32), f32::from_bits(y as u32))).unzip()
}

/// Compares as text, which tells every number but the bits of NaNs.
fn compare<R: Debug + Copy, S: Debug + Copy, T: Debug + Copy>(
    function: &str,
    (x, y): (&[T], &[T]),
    found: Option<(Vec<R>, Vec<S>)>,
    second: S,
    library: impl Fn(T, T, &mut S) -> R,
) {
    let Some((results, seconds)) = found else { return };
    for ((&x, &y), (result, second_found)) in x.iter().zip(y).zip(results.into_iter().zip(seconds)) {
        let mut wanted_second = second;
        let wanted = library(x, y, &mut wanted_second);
        let shown = |r: R, s: S| format!("{r:?} and {s:?}");
        assert_eq!(shown(result, second_found), shown(wanted, wanted_second), "{function}({x:?}, {y:?})");
    }
}

/// What the places of second results have before.
const BEFORE: i32 = 77;

#[test]
fn fractions_and_exponents_have_the_bits_of_the_library() {
    let (x, y) = doubles();
    let made = run(&text("double", "double", "modf", false, Some("double")), (&x, &y), (0.0, 0.0));
    compare("modf", (&x, &y), made, 0.0, |x, _, whole| modf(x, whole));
    let made = run(&text("double", "double", "frexp", false, Some("i32")), (&x, &y), (0.0, BEFORE));
    compare("frexp", (&x, &y), made, BEFORE, |x, _, exponent| frexp(x, exponent));
    let (x, y) = floats();
    let made = run(&text("float", "float", "modff", false, Some("float")), (&x, &y), (0f32, 0f32));
    compare("modff", (&x, &y), made, 0.0, |x, _, whole| modff(x, whole));
    let made = run(&text("float", "float", "frexpf", false, Some("i32")), (&x, &y), (0f32, BEFORE));
    compare("frexpf", (&x, &y), made, BEFORE, |x, _, exponent| frexpf(x, exponent));
}

#[test]
fn remainders_with_quotients_have_the_bits_of_the_library() {
    let (x, y) = doubles();
    let made = run(&text("double", "double", "remquo", true, Some("i32")), (&x, &y), (0.0, BEFORE));
    compare("remquo", (&x, &y), made, BEFORE, |x, y, quotient| remquo(x, y, quotient));
    let (x, y) = floats();
    let made = run(&text("float", "float", "remquof", true, Some("i32")), (&x, &y), (0f32, BEFORE));
    compare("remquof", (&x, &y), made, BEFORE, |x, y, quotient| remquof(x, y, quotient));
}

#[test]
fn whole_exponents_are_those_of_the_library() {
    let (x, y) = doubles();
    let made = run(&text("double", "i32", "ilogb", false, None), (&x, &y), (0, BEFORE));
    compare("ilogb", (&x, &y), made, BEFORE, |x, _, _| ilogb(x));
    let (x, y) = floats();
    let made = run(&text("float", "i32", "ilogbf", false, None), (&x, &y), (0, BEFORE));
    compare("ilogbf", (&x, &y), made, BEFORE, |x, _, _| ilogbf(x));
}
