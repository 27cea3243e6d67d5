//! Elementary functions that the vectorizer writes out: how far they are from the true values.
//!
//! The reference is the C library's function on `double`, whose own error is a billionth of what is measured. Arguments are taken over all bit patterns in
//! steps; with `WARPLINE_EXHAUSTIVE=1` set, every one, which takes a minute for each function.

use warpline::shape::ArgShape;
use warpline::vectorize::driver::{Forms, slots_entry, vector_range};
use warpline::vectorize::{Elementary, MathLibrary, Options, vectorize};
use warpline_llvm::worker::{CodegenOptions, Output, codegen_in_process};
use warpline_llvm::{Cpu, Imported, Jit, Linkage, Llvm, Module};

#[path = "common/cpus.rs"]
mod cpus;

/// Whether LLVM is there; if not, says that the test is skipped.
fn llvm_is_there() -> bool {
    Llvm::get().inspect_err(|error| eprintln!("skipped: {error}")).is_ok()
}

const WIDTH: u32 = 16;

/// Everything that can be written out is.
struct WrittenOut;

impl MathLibrary for WrittenOut {
    fn vector_function(&self, _scalar: &str, _lanes: u32) -> Option<String> {
        None
    }

    fn written_out(&self, _function: Elementary) -> bool {
        true
    }
}

/// `out[i] = function(x[i])` or `function(x[i], y[i])`; with a uniform exponent `function(x[i], y[0])`.
fn text(function: &str, shape: Shape) -> String {
    let (types, args) = match shape {
        Shape::One => ("float", "float %a"),
        _ => ("float, float", "float %a, float %b"),
    };
    let index = if shape == Shape::UniformExponent { "0" } else { "%i" };
    format!(
        "declare float @{function}({types})\n\
         define void @kernel(i64 %i, ptr %x, ptr %y, ptr %out) {{\n\
         %px = getelementptr float, ptr %x, i64 %i\n %a = load float, ptr %px\n\
         %py = getelementptr float, ptr %y, i64 {index}\n %b = load float, ptr %py\n\
         %r = call float @{function}({args})\n\
         %po = getelementptr float, ptr %out, i64 %i\n store float %r, ptr %po\n ret void\n}}\n"
    )
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Shape {
    One,
    Two,
    UniformExponent,
}

/// The machine code of a function over arrays.
struct Code {
    jit: Jit,
}

impl Code {
    fn new(function: &str, shape: Shape, cpu: &Cpu) -> Code {
        let module = Module::parse(text(function, shape).as_bytes(), "kernel.ll").expect("LLVM accepts it");
        let mut imported = Imported::new(module);
        let known = imported.ir.functions.len();
        let kernel = imported.ir.function("kernel").expect("there is one");
        let shapes = vec![ArgShape::Index, ArgShape::Uniform, ArgShape::Uniform, ArgShape::Uniform];
        let forms = [false, true].map(|masked| {
            let name = format!("kernel.{masked}");
            let asked = Options { masked, math: &WrittenOut, ..Options::new(WIDTH, shapes.clone(), &name) };
            vectorize(&mut imported.ir, kernel, &asked).expect("it can be vectorized").func
        });
        let ir = &mut imported.ir;
        let range =
            vector_range(ir, kernel, &Forms::of_one_width(forms[0], forms[1], WIDTH), &shapes, "vector")
                .expect("a driver");
        slots_entry(ir, range, "vector.slots").expect("an entry");
        for id in imported.ir.functions.keys().skip(known).collect::<Vec<_>>() {
            let made = &imported.ir.functions[id];
            imported.bridge.add_function(&imported.ir, made, Linkage::External).expect("it can be exported");
        }
        let mut options = CodegenOptions::new(cpu.clone(), Output::Object);
        options.passes = "internalize<preserve-gv=vector.slots>,globaldce,default<O3>".to_owned();
        let object = codegen_in_process(&imported.bridge.module().to_bitcode(), "kernel", &options)
            .expect("code can be made");
        let jit = Jit::new().expect("LLVM is there");
        jit.add_object(&object, "kernel.o").expect("it can be loaded");
        Code { jit }
    }

    fn run(&self, x: &[f32], y: &[f32]) -> Vec<f32> {
        let mut out = vec![0f32; x.len()];
        let addresses = [x.as_ptr() as u64, y.as_ptr() as u64, out.as_mut_ptr() as u64];
        let mut slots = vec![0, x.len() as u64];
        slots.extend(addresses);
        self.jit.function("vector.slots").expect("it is there").call(&mut slots);
        out
    }
}

/// How far a result is from the true one, in units in the last place of that; infinitely far where one is NaN, infinite or of another sign at 0.
fn error(found: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if rounded.is_nan() || rounded.is_infinite() || found.is_nan() || found.is_infinite() {
        let same = rounded.is_nan() && found.is_nan() || rounded == found;
        // Half a unit from where infinity begins, either is right.
        let border = f64::from(f32::MAX) * (1.0 + 2f64.powi(-23));
        let near = exact.abs() < border && exact.abs() > f64::from(f32::MAX) * (1.0 - 2f64.powi(-23));
        return if same {
            0.0
        } else if near {
            1.0
        } else {
            f64::INFINITY
        };
    }
    if exact == 0.0 {
        return if found.to_bits() == rounded.to_bits() { 0.0 } else { f64::INFINITY };
    }
    let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
    let unit = 2f64.powi(exponent.max(-126) - 23);
    (f64::from(found) - exact).abs() / unit
}

/// The CPUs of which this machine runs code and which multiply and add in one instruction; one of them, if every argument is tried: they compute the same.
fn fused_cpus() -> Vec<Cpu> {
    let fused = cpus::cpus().into_iter().filter(|cpu| cpu.name != "x86-64-v2");
    fused.take(if is_exhaustive() { 1 } else { usize::MAX }).collect()
}

fn is_exhaustive() -> bool {
    std::env::var_os("WARPLINE_EXHAUSTIVE").is_some()
}

fn step() -> u64 {
    if is_exhaustive() { 1 } else { 1009 }
}

/// The largest error of a function of one argument, which is printed, held against what it is said to be at most.
fn check_one(function: &str, exact: fn(f64) -> f64) {
    if !llvm_is_there() {
        return;
    }
    let bound = f64::from(Elementary::of(function).expect("it can be written out").max_ulp());
    for cpu in fused_cpus() {
        let code = Code::new(function, Shape::One, &cpu);
        let mut worst = (0.0, 0f32, 0f32);
        let mut check = |bits: &mut dyn Iterator<Item = u64>| {
            let x: Vec<f32> = bits.take(1 << 20).map(|bits| f32::from_bits(bits as u32)).collect();
            for (&x, &found) in x.iter().zip(&code.run(&x, &x)) {
                let error = error(found, exact(f64::from(x)));
                if error > worst.0 {
                    worst = (error, x, found);
                }
            }
            x.len() as u64
        };
        let mut next = 0u64;
        while next <= u64::from(u32::MAX) {
            next += step() * check(&mut (next..=u64::from(u32::MAX)).step_by(step() as usize));
        }
        // Where logarithms pass from one power of two to the next, little may be left of their parts; and around 1.
        for border in [2.0f32 / 3.0, 1.0, 4.0 / 3.0] {
            let bits = u64::from(border.to_bits());
            check(&mut (bits - (1 << 18)..bits + (1 << 18)));
        }
        let (error, x, found) = worst;
        println!("{function} on {}: {error:.3} units at {x:e}", cpu.name);
        assert!(error <= bound, "{function}({x:e}) is {found:e} on {}", cpu.name);
    }
}

#[test]
fn exp_is_within_its_bound() {
    check_one("expf", f64::exp);
}

#[test]
fn exp2_is_within_its_bound() {
    check_one("exp2f", f64::exp2);
}

#[test]
fn log_is_within_its_bound() {
    check_one("logf", f64::ln);
}

#[test]
fn log2_is_within_its_bound() {
    check_one("log2f", f64::log2);
}

#[test]
fn log10_is_within_its_bound() {
    check_one("log10f", f64::log10);
}

/// Special numbers, and those near which a power is one.
const SPECIAL: [f32; 34] = [
    0.0,
    1.0,
    2.0,
    3.0,
    0.5,
    0.25,
    1.5,
    2.5,
    10.0,
    127.0,
    128.0,
    149.0,
    150.0,
    151.0,
    16_777_215.0,
    16_777_216.0,
    16_777_217.0,
    8_388_607.0,
    8_388_608.5,
    4_194_303.5,
    1e-3,
    1e10,
    1e30,
    3e38,
    f32::MAX,
    f32::MIN_POSITIVE,
    1e-40,
    1e-45,
    0.999_999_94,
    1.000_000_1,
    0.666_666_7,
    1.333_333_4,
    f32::INFINITY,
    f32::NAN,
];

fn check_pow(x: &[f32], y: &[f32], found: &[f32], worst: &mut (f64, f32, f32, f32)) {
    for (k, (&x, &found)) in x.iter().zip(found).enumerate() {
        let y = if y.len() == 1 { y[0] } else { y[k] };
        let error = error(found, f64::from(x).powf(f64::from(y)));
        if error > worst.0 {
            *worst = (error, x, y, found);
        }
    }
}

#[test]
fn pow_of_special_and_random_numbers_is_within_its_bound() {
    if !llvm_is_there() {
        return;
    }
    let bound = f64::from(Elementary::Pow.max_ulp());
    let signed: Vec<f32> = SPECIAL.iter().flat_map(|&x| [x, -x]).collect();
    let rounds = if is_exhaustive() { 500 } else { 4 };
    for cpu in fused_cpus() {
        let mut worst = (0.0, 0f32, 0f32, 0f32);
        let code = Code::new("powf", Shape::Two, &cpu);
        let (x, y): (Vec<f32>, Vec<f32>) =
            signed.iter().flat_map(|&x| signed.iter().map(move |&y| (x, y))).unzip();
        check_pow(&x, &y, &code.run(&x, &y), &mut worst);
        let uniform = Code::new("powf", Shape::UniformExponent, &cpu);
        for &y in &signed {
            check_pow(&signed, &[y], &uniform.run(&signed, &[y]), &mut worst);
        }
        let mut random = warpline_testkit::rng::SplitMix64::new(20);
        for _ in 0..rounds {
            let x: Vec<f32> = (0..1 << 20).map(|_| f32::from_bits(random.next_u64() as u32)).collect();
            // Exponents for which the power is a number.
            let y: Vec<f32> = x
                .iter()
                .map(|x| {
                    let largest = 151.0 / f64::from(x.abs()).log2().abs().max(1e-7);
                    let unit = f64::from(random.next_u64() as u32) / f64::from(u32::MAX) * 2.0 - 1.0;
                    let y = (largest * unit) as f32;
                    if *x < 0.0 { y.round() } else { y }
                })
                .collect();
            check_pow(&x, &y, &code.run(&x, &y), &mut worst);
            let near: Vec<f32> =
                x.iter().map(|x| 0.5 + 1.5 * (x.to_bits() as f32 / u32::MAX as f32)).collect();
            check_pow(&near, &y, &code.run(&near, &y), &mut worst);
            check_pow(&near, &y[..1], &uniform.run(&near, &y[..1]), &mut worst);
        }
        let (error, x, y, found) = worst;
        println!("powf on {}: {error:.3} units at {x:e}, {y:e}", cpu.name);
        assert!(error <= bound, "powf({x:e}, {y:e}) is {found:e} on {}", cpu.name);
    }
}
