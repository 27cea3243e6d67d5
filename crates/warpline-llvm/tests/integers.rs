//! Operations on integers that vector code does by floating-point arithmetic: divisions, and conversions that saturate.
//! They have the bits of scalar code, for special numbers against each other and for numbers of all sizes.

use over_range::OverRange;
use plain_math::{Plain, all_cpus};
use warpline_ir::{BinaryOp, Function, Op};
use warpline_llvm::Imported;
use warpline_testkit::rng::SplitMix64;

#[path = "common/cpus.rs"]
mod cpus;
#[path = "common/over_range.rs"]
mod over_range;
#[path = "common/plain_math.rs"]
mod plain_math;

const WIDTH: u32 = 8;

/// Numbers of so many bits: special ones, and random ones of all sizes.
fn numbers(bits: u32, rng: &mut SplitMix64) -> Vec<u64> {
    let mask = u64::MAX >> (64 - bits);
    let mut all = vec![0, 1, 2, 3, 5, 7, 10, 100, 127, 128, 255, 256, 640, 1000, 0xFFFF, 0x1_0000, u64::MAX];
    all.extend([u64::MAX - 1, 1 << 63, (1 << 63) - 1, 1 << 31, (1 << 31) - 1, u64::from(u32::MAX)]);
    all.extend([(1 << 48) - 1, 1 << 48, (1 << 48) + 1, (1 << 52) - 1, 1 << 52, (1 << 53) + 1]);
    all.extend((0..40).map(|_| rng.next_u64() >> (rng.next_u64() % 64)));
    all.iter().map(|x| x & mask).collect()
}

/// `if (y[i] != 0 and the division does not overflow) out[i] = x[i] op y[i]`; or the divisor is a parameter.
fn division(op: &str, bits: u32, uniform: bool) -> String {
    let ty = format!("i{bits}");
    let divisor = match uniform {
        true => format!("%b = trunc i64 %y to {ty}\n"),
        false => format!("%py = getelementptr {ty}, ptr %y, i64 %i\n %b = load {ty}, ptr %py\n"),
    };
    let divisor = if bits == 64 { divisor.replace("trunc i64 %y to i64", "add i64 %y, 0") } else { divisor };
    let y = if uniform { "i64" } else { "ptr" };
    let least = 1i128 << (bits - 1);
    format!(
        "define void @kernel(i64 %i, ptr %x, {y} %y, ptr %out) {{\n\
         %px = getelementptr {ty}, ptr %x, i64 %i\n %a = load {ty}, ptr %px\n {divisor}\
         %nonzero = icmp ne {ty} %b, 0\n %least = icmp eq {ty} %a, -{least}\n %minus = icmp eq {ty} %b, -1\n\
         %overflows = and i1 %least, %minus\n %fine = xor i1 %overflows, true\n\
         %wanted = and i1 %nonzero, %fine\n br i1 %wanted, label %do, label %end\n\
         do:\n %r = {op} {ty} %a, %b\n\
         %po = getelementptr {ty}, ptr %out, i64 %i\n store {ty} %r, ptr %po\n br label %end\n\
         end:\n ret void\n}}\n"
    )
}

/// The numbers as they lie in memory.
fn bytes(numbers: &[u64], bits: u32) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes().into_iter().take(bits as usize / 8)).collect()
}

fn number(bytes: &[u8], bits: u32, k: usize) -> u64 {
    let size = bits as usize / 8;
    let mut whole = [0; 8];
    whole[..size].copy_from_slice(&bytes[k * size..(k + 1) * size]);
    u64::from_le_bytes(whole)
}

fn divided(op: &str, bits: u32, x: u64, y: u64) -> u64 {
    let signed = |v: u64| (v << (64 - bits)) as i64 >> (64 - bits);
    let (a, b) = (signed(x), signed(y));
    let least = i64::MIN >> (64 - bits);
    if y == 0 || a == least && b == -1 {
        return 0;
    }
    let whole = match op {
        "udiv" => x / y,
        "urem" => x % y,
        "sdiv" => (a / b) as u64,
        _ => (a % b) as u64,
    };
    whole & (u64::MAX >> (64 - bits))
}

fn check_division(op: &str, bits: u32) {
    let mut rng = SplitMix64::new(u64::from(bits));
    let some = numbers(bits, &mut rng);
    let x: Vec<u64> = some.iter().flat_map(|&a| some.iter().map(move |_| a)).collect();
    let y: Vec<u64> = some.iter().flat_map(|_| some.iter().copied()).collect();
    for cpu in all_cpus() {
        let (a, b) = (bytes(&x, bits), bytes(&y, bits));
        let mut out = vec![0; a.len()];
        let count = x.len() as u64;
        let values = [a.as_ptr() as u64, b.as_ptr() as u64, out.as_mut_ptr() as u64];
        let look = |_: &Imported, made: &Function| {
            let divides = made.insts.values().any(|data| matches!(data.op, Op::Binary(BinaryOp::FDiv)));
            assert!(divides, "{op} of {bits} bits is scalar");
        };
        OverRange::new(&division(op, bits, false), &cpu, &Plain::of(&cpu), (WIDTH, 3), look)
            .run(count, &values);
        for (k, (&x, &y)) in x.iter().zip(&y).enumerate() {
            let (found, wanted) = (number(&out, bits, k), divided(op, bits, x, y));
            assert_eq!(found, wanted, "{x} {op} {y} of {bits} bits on {}", cpu.name);
        }
        let uniform =
            OverRange::new(&division(op, bits, true), &cpu, &Plain::of(&cpu), (WIDTH, 3), |_, _| {});
        for &y in &some {
            let x = &x[..some.len() * 9];
            let mut out = vec![0; x.len() * bits as usize / 8];
            let values = [a.as_ptr() as u64, y, out.as_mut_ptr() as u64];
            uniform.run(x.len() as u64, &values);
            for (k, &x) in x.iter().enumerate() {
                let (found, wanted) = (number(&out, bits, k), divided(op, bits, x, y));
                assert_eq!(found, wanted, "{x} {op} the uniform {y} of {bits} bits on {}", cpu.name);
            }
        }
    }
}

#[test]
fn quotients_have_the_bits_of_scalar_code() {
    for bits in [8, 16, 32, 64] {
        check_division("udiv", bits);
        check_division("sdiv", bits);
    }
}

#[test]
fn remainders_have_the_bits_of_scalar_code() {
    for bits in [8, 16, 32, 64] {
        check_division("urem", bits);
        check_division("srem", bits);
    }
}

/// `if (i is not 5) out[i] = x[i] as int`.
fn conversion(float: &str, signed: bool, bits: u32) -> String {
    let (letter, of) = (if signed { 's' } else { 'u' }, if float == "float" { "f32" } else { "f64" });
    let name = format!("llvm.fpto{letter}i.sat.i{bits}.{of}");
    format!(
        "declare i{bits} @{name}({float})\n\
         define void @kernel(i64 %i, ptr %x, ptr %out) {{\n\
         %px = getelementptr {float}, ptr %x, i64 %i\n %a = load {float}, ptr %px\n\
         %wanted = icmp ne i64 %i, 5\n br i1 %wanted, label %do, label %end\n\
         do:\n %r = call i{bits} @{name}({float} %a)\n\
         %po = getelementptr i{bits}, ptr %out, i64 %i\n store i{bits} %r, ptr %po\n br label %end\n\
         end:\n ret void\n}}\n"
    )
}

/// Numbers near the borders of integers, special ones, and random bits.
fn floating() -> Vec<f64> {
    let mut all =
        vec![0.0, -0.0, 0.5, -0.5, 0.999, 1.5, -1.5, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    for power in [7, 8, 15, 16, 31, 32, 63, 64] {
        let border = 2f64.powi(power);
        for near in [border - 1.0, border - 0.5, border.next_down(), border, border.next_up(), border + 1.0] {
            all.extend([near, -near, f64::from(near as f32), f64::from((near as f32).next_down())]);
        }
    }
    let mut rng = SplitMix64::new(5);
    for _ in 0..20_000 {
        let bits = rng.next_u64();
        all.extend([
            f64::from_bits(bits),
            f64::from(f32::from_bits(bits as u32)),
            (bits as i64 >> (bits % 64)) as f64,
        ]);
    }
    all
}

macro_rules! check_conversions {
    ($($integer:ty),*) => {$(
        let (bits, signed) = (<$integer>::BITS, <$integer>::MIN != 0);
        for cpu in all_cpus() {
            let doubles = floating();
            let mut out = vec![<$integer>::default(); doubles.len()];
            let values = [doubles.as_ptr() as u64, out.as_mut_ptr() as u64];
            let text = conversion("double", signed, bits);
            OverRange::new(&text, &cpu, &Plain::of(&cpu), (WIDTH, 2), |_, _| {}).run(doubles.len() as u64, &values);
            for (k, (&x, &found)) in doubles.iter().zip(&out).enumerate() {
                let wanted = if k == 5 { 0 } else { x as $integer };
                assert_eq!(found, wanted, "{x:e} as {} on {}", stringify!($integer), cpu.name);
            }
            let floats: Vec<f32> = doubles.iter().map(|&x| x as f32).collect();
            let mut out = vec![<$integer>::default(); floats.len()];
            let values = [floats.as_ptr() as u64, out.as_mut_ptr() as u64];
            let text = conversion("float", signed, bits);
            OverRange::new(&text, &cpu, &Plain::of(&cpu), (WIDTH, 2), |_, _| {}).run(floats.len() as u64, &values);
            for (k, (&x, &found)) in floats.iter().zip(&out).enumerate() {
                let wanted = if k == 5 { 0 } else { x as $integer };
                assert_eq!(found, wanted, "{x:e} as {} on {}", stringify!($integer), cpu.name);
            }
        }
    )*};
}

#[test]
fn conversions_saturate_as_in_scalar_code() {
    check_conversions!(i8, u8, i16, u16, i32, u32, i64, u64);
}

/// `if (i is not 5) out[i] = x[i] as float`.
fn long_conversion(op: &str, float: &str) -> String {
    format!(
        "define void @kernel(i64 %i, ptr %x, ptr %out) {{\n\
         %px = getelementptr i64, ptr %x, i64 %i\n %a = load i64, ptr %px\n\
         %wanted = icmp ne i64 %i, 5\n br i1 %wanted, label %do, label %end\n\
         do:\n %r = {op} i64 %a to {float}\n\
         %po = getelementptr {float}, ptr %out, i64 %i\n store {float} %r, ptr %po\n br label %end\n\
         end:\n ret void\n}}\n"
    )
}

/// Integers of all sizes, many near the middle of two numbers of `float` and of `double`.
fn long_integers() -> Vec<u64> {
    let mut rng = SplitMix64::new(11);
    let mut all = numbers(64, &mut rng);
    for _ in 0..20_000 {
        let top = rng.next_u64() >> (rng.next_u64() % 64);
        let shift = rng.next_u64() % 64;
        let near = (top << shift).wrapping_add(rng.next_u64() % 3).wrapping_sub(1);
        let digits = 25 + 29 * (rng.next_u64() % 2) as u32;
        let room = (64 - near.leading_zeros()).saturating_sub(digits);
        let middle = (near >> room << room | (1 << room)).wrapping_add(rng.next_u64() % 3).wrapping_sub(1);
        all.extend([top, near, middle, middle.wrapping_neg()]);
    }
    all
}

macro_rules! check_long_conversions {
    ($($op:literal, $integer:ty, $float:ty, $name:literal);*) => {$(
        let integers = long_integers();
        for cpu in all_cpus() {
            let mut out = vec![<$float>::default(); integers.len()];
            let values = [integers.as_ptr() as u64, out.as_mut_ptr() as u64];
            let count = integers.len() as u64;
            let text = long_conversion($op, $name);
            OverRange::new(&text, &cpu, &Plain::of(&cpu), (WIDTH, 2), |_, _| {}).run(count, &values);
            for (k, (&x, &found)) in integers.iter().zip(&out).enumerate() {
                let wanted = if k == 5 { 0.0 } else { x as $integer as $float };
                assert_eq!(found.to_bits(), wanted.to_bits(), "{} {} on {}", $op, x as $integer, cpu.name);
            }
        }
    )*};
}

#[test]
fn long_integers_become_numbers_that_are_rounded_once() {
    check_long_conversions!(
        "uitofp", u64, f32, "float";
        "sitofp", i64, f32, "float";
        "uitofp", u64, f64, "double";
        "sitofp", i64, f64, "double"
    );
}
