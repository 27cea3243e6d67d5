//! Functions with one right result: vector code has the bits of the C library's, for special numbers against each
//! other, for numbers of all sizes, and under masks.

use over_range::OverRange;
use plain_math::{Plain, all_cpus};
use warpline_ir::{BinaryOp, Op};
use warpline_llvm::Cpu;
use warpline_testkit::rng::SplitMix64;

#[path = "common/cpus.rs"]
mod cpus;
#[path = "common/over_range.rs"]
mod over_range;
#[path = "common/plain_math.rs"]
mod plain_math;

unsafe extern "C" {
    safe fn fmod(x: f64, y: f64) -> f64;
    safe fn fmodf(x: f32, y: f32) -> f32;
    safe fn remainder(x: f64, y: f64) -> f64;
    safe fn remainderf(x: f32, y: f32) -> f32;
    safe fn fdim(x: f64, y: f64) -> f64;
    safe fn fdimf(x: f32, y: f32) -> f32;
    safe fn nextafter(x: f64, y: f64) -> f64;
    safe fn nextafterf(x: f32, y: f32) -> f32;
    safe fn logb(x: f64) -> f64;
    safe fn logbf(x: f32) -> f32;
    safe fn ldexp(x: f64, n: i32) -> f64;
    safe fn ldexpf(x: f32, n: i32) -> f32;
}

const WIDTH: u32 = 8;

/// `if (x[i] is not 3) out[i] = function(x[i], y[i])`.
fn text(ty: &str, function: &str) -> String {
    let (bits, result) = (if ty == "float" { "f32" } else { "f64" }, "%r");
    let (declared, call) = match function.trim_end_matches('f') {
        "frem" => (String::new(), format!("{result} = frem {ty} %a, %b")),
        "logb" => {
            (format!("declare {ty} @{function}({ty})"), format!("{result} = call {ty} @{function}({ty} %a)"))
        }
        "ldexp" => (
            format!("declare {ty} @{function}({ty}, i32)\ndeclare i32 @llvm.fptosi.sat.i32.{bits}({ty})"),
            format!(
                "%n = call i32 @llvm.fptosi.sat.i32.{bits}({ty} %b)\n {result} = call {ty} @{function}({ty} %a, i32 %n)"
            ),
        ),
        _ => (
            format!("declare {ty} @{function}({ty}, {ty})"),
            format!("{result} = call {ty} @{function}({ty} %a, {ty} %b)"),
        ),
    };
    format!(
        "{declared}\n\
         define void @kernel(i64 %i, ptr %x, ptr %y, ptr %out) {{\n\
         %px = getelementptr {ty}, ptr %x, i64 %i\n %a = load {ty}, ptr %px\n\
         %py = getelementptr {ty}, ptr %y, i64 %i\n %b = load {ty}, ptr %py\n\
         %wanted = fcmp une {ty} %a, 3.0\n br i1 %wanted, label %do, label %end\n\
         do:\n {call}\n\
         %po = getelementptr {ty}, ptr %out, i64 %i\n store {ty} %r, ptr %po\n br label %end\n\
         end:\n ret void\n}}\n"
    )
}

/// The results of vector code.
fn run<T: Copy + Default>(ty: &str, function: &str, cpu: &Cpu, x: &[T], y: &[T]) -> Vec<T> {
    let mut out = vec![T::default(); x.len()];
    let values = [x.as_ptr() as u64, y.as_ptr() as u64, out.as_mut_ptr() as u64];
    OverRange::new(&text(ty, function), cpu, &Plain::of(cpu), (WIDTH, values.len()), |imported, made| {
        let is_scalar = |op: &Op| match op {
            Op::Call(info) => info.callee.is_some_and(|s| &*imported.ir.symbols[s].name == function),
            op => *op == Op::Binary(BinaryOp::FRem),
        };
        assert!(
            !made.insts.values().any(|data| is_scalar(&data.op)),
            "{function} is called once for each lane"
        );
    })
    .run(x.len() as u64, &values);
    out
}

/// Special numbers against each other, then random bits, and numbers of like size.
fn operands(bits: u32) -> (Vec<u64>, Vec<u64>) {
    let sign = 1u64 << (bits - 1);
    let fraction = if bits == 32 { 23 } else { 52 };
    let one = if bits == 32 { u64::from(1f32.to_bits()) } else { 1f64.to_bits() };
    let infinity = (sign - 1) >> fraction << fraction;
    let mut special =
        vec![0, 1, 2, 3, 5, (1 << fraction) - 1, 1 << fraction, (1 << fraction) + 1, infinity - 1];
    special.extend([
        infinity,
        infinity + (1 << (fraction - 1)),
        one,
        one + 1,
        one - 1,
        one + (1 << fraction),
    ]);
    special.extend([
        one + (3 << (fraction - 1)),
        one + (9 << fraction),
        one + (60 << fraction),
        one - (40 << fraction),
    ]);
    special.extend(special.clone().iter().map(|x| x | sign));
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for &a in &special {
        for &b in &special {
            x.push(a);
            y.push(b);
        }
    }
    let mut rng = SplitMix64::new(17);
    let mask = if bits == 32 { u64::from(u32::MAX) } else { u64::MAX };
    for k in 0..200_003u64 {
        let a = rng.next_u64() & mask;
        // A third is of any size, a third near in size, and a third a small multiple.
        let b = match k % 3 {
            0 => rng.next_u64() & mask,
            1 => a.wrapping_sub((rng.next_u64() % 8) << fraction) ^ (rng.next_u64() & 0xFFFF),
            _ => a.wrapping_sub(1 << fraction),
        };
        x.push(a);
        y.push(b & mask);
    }
    (x, y)
}

fn check_double(function: &str, exact: fn(f64, f64) -> f64) {
    let (x, y) = operands(64);
    let [x, y] = [x, y].map(|all| all.into_iter().map(f64::from_bits).collect::<Vec<_>>());
    for cpu in all_cpus() {
        let found = run("double", function, &cpu, &x, &y);
        for ((&x, &y), found) in x.iter().zip(&y).zip(found) {
            let wanted = if x == 3.0 { 0.0 } else { exact(x, y) };
            let same = found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan();
            assert!(same, "{function}({x:e}, {y:e}) is {found:e}, not {wanted:e}, on {}", cpu.name);
        }
    }
}

fn check_float(function: &str, exact: fn(f32, f32) -> f32) {
    let (x, y) = operands(32);
    let [x, y] = [x, y].map(|all| all.into_iter().map(|b| f32::from_bits(b as u32)).collect::<Vec<_>>());
    for cpu in all_cpus() {
        let found = run("float", function, &cpu, &x, &y);
        for ((&x, &y), found) in x.iter().zip(&y).zip(found) {
            let wanted = if x == 3.0 { 0.0 } else { exact(x, y) };
            let same = found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan();
            assert!(same, "{function}({x:e}, {y:e}) is {found:e}, not {wanted:e}, on {}", cpu.name);
        }
    }
}

#[test]
fn remainders_of_divisions_have_the_bits_of_the_scalar_functions() {
    check_double("fmod", |x, y| fmod(x, y));
    check_float("fmodf", |x, y| fmodf(x, y));
    check_double("frem", |x, y| x % y);
    check_float("frem", |x, y| x % y);
    check_double("remainder", |x, y| remainder(x, y));
    check_float("remainderf", |x, y| remainderf(x, y));
}

#[test]
fn differences_and_neighbours_have_the_bits_of_the_scalar_functions() {
    check_double("fdim", |x, y| fdim(x, y));
    check_float("fdimf", |x, y| fdimf(x, y));
    check_double("nextafter", |x, y| nextafter(x, y));
    check_float("nextafterf", |x, y| nextafterf(x, y));
}

#[test]
fn exponents_have_the_bits_of_the_scalar_functions() {
    check_double("logb", |x, _| logb(x));
    check_float("logbf", |x, _| logbf(x));
    check_double("ldexp", |x, y| ldexp(x, y as i32));
    check_float("ldexpf", |x, y| ldexpf(x, y as i32));
}
