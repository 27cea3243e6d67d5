//! Elementary functions that the vectorizer writes out: how far they are from the true values.
//!
//! For functions on `float`, the reference is the C library's function on `double`, whose own error is a billionth of
//! what is measured. Arguments are taken over all bit patterns in steps; with `WARPLINE_EXHAUSTIVE=1` set, every one,
//! which takes a minute for each function. For functions on `double` it is computed here, with twice as many digits.
//! Arguments are random, of several distributions, a third of them near borders; with `WARPLINE_EXHAUSTIVE=1` set,
//! hundreds of millions.

use over_range::OverRange;
use warpline_llvm::{Cpu, Llvm};
use warpline_vectorize::{Elementary, MathLibrary};

#[path = "common/cpus.rs"]
mod cpus;
#[path = "common/double_double.rs"]
mod double_double;
#[path = "common/over_range.rs"]
mod over_range;

use double_double::{Exact, Functions};
use warpline_testkit::rng::SplitMix64;

/// Whether LLVM is there; if not, says that the test is skipped.
fn llvm_is_there() -> bool {
    Llvm::get().inspect_err(|error| eprintln!("skipped: {error}")).is_ok()
}

const WIDTH: u32 = 16;

/// The type that a function of the C library is on.
fn type_of(function: &str) -> &'static str {
    if function.ends_with('f') { "float" } else { "double" }
}

/// Everything that can be written out is.
struct WrittenOut;

impl MathLibrary for WrittenOut {
    fn vector_function(&self, _scalar: &str, _lanes: u32) -> Option<String> {
        None
    }

    fn fused(&self) -> bool {
        true
    }

    fn inline_expansion(&self, _function: Elementary) -> bool {
        true
    }
}

/// `out[i] = function(x[i])` or `function(x[i], y[i])`; with a uniform exponent `function(x[i], y[0])`.
fn text(function: &str, shape: Shape) -> String {
    let ty = type_of(function);
    let (types, args) = match shape {
        Shape::One => (ty.to_owned(), format!("{ty} %a")),
        _ => (format!("{ty}, {ty}"), format!("{ty} %a, {ty} %b")),
    };
    let index = if shape == Shape::UniformExponent { "0" } else { "%i" };
    format!(
        "declare {ty} @{function}({types})\n\
         define void @kernel(i64 %i, ptr %x, ptr %y, ptr %out) {{\n\
         %px = getelementptr {ty}, ptr %x, i64 %i\n %a = load {ty}, ptr %px\n\
         %py = getelementptr {ty}, ptr %y, i64 {index}\n %b = load {ty}, ptr %py\n\
         %r = call {ty} @{function}({args})\n\
         %po = getelementptr {ty}, ptr %out, i64 %i\n store {ty} %r, ptr %po\n ret void\n}}\n"
    )
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Shape {
    One,
    Two,
    UniformExponent,
}

/// The machine code of a function over arrays.
struct Code(OverRange);

impl Code {
    fn new(function: &str, shape: Shape, cpu: &Cpu) -> Code {
        Code(OverRange::new(&text(function, shape), cpu, &WrittenOut, (WIDTH, 3), |_, _| {}))
    }

    /// The results for numbers of the type that the function is on.
    fn run<T: Copy + Default>(&self, x: &[T], y: &[T]) -> Vec<T> {
        let mut out = vec![T::default(); x.len()];
        self.0.run(x.len() as u64, &[x.as_ptr() as u64, y.as_ptr() as u64, out.as_mut_ptr() as u64]);
        out
    }
}

/// How far a result is from the true one, in units in the last place of that; infinitely far where one is NaN,
/// infinite or of another sign at 0.
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

/// The CPUs of which this machine runs code and which multiply and add in one instruction; one of them, if every
/// argument is tried: they compute the same.
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
    let bound = f64::from(Elementary::of("powf").expect("it can be written out").max_ulp());
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
        let mut random = SplitMix64::new(20);
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

/// Where arguments of a function on `double` are taken from.
struct Arguments {
    /// Beyond these, nothing happens.
    range: (f64, f64),
    /// Where results are small, or the argument's parts cancel.
    inner: (f64, f64),
    /// Where the computation passes from one case to another.
    borders: Vec<f64>,
    /// Whether negative arguments are all alike.
    positive: bool,
}

/// Those of all functions.
const DOUBLE_BORDERS: [f64; 13] = [
    0.0,
    f64::INFINITY,
    f64::NAN,
    f64::MAX,
    f64::MIN_POSITIVE,
    5e-324,
    1e-310,
    1e-300,
    1e300,
    1.0,
    2.0,
    0.5,
    1.5,
];

impl Arguments {
    fn of_exponential(base: f64) -> Arguments {
        // Results reach from 2⁻¹⁰⁷⁵ to 2¹⁰²⁴; halves of whole numbers are where the reduction passes from one to the
        // next.
        let borders = (-2160..=2060).map(|k| f64::from(k) * 0.5 / base.log2());
        let at = |exponent: f64| exponent / base.log2();
        Arguments {
            range: (at(-1080.0), at(1028.0)),
            inner: (-1.0, 1.0),
            borders: borders.chain(DOUBLE_BORDERS).flat_map(|x| [x, -x]).collect(),
            positive: false,
        }
    }

    fn of_logarithm() -> Arguments {
        let powers = (-1074..1024).map(|k| 2f64.powi(k));
        let borders = powers.flat_map(|x| [x, x * 0.5f64.sqrt(), x / 1.5]);
        let near_one = [1.0, 1.0, 0.5f64.sqrt(), 2f64.sqrt(), 2.0 / 3.0, 4.0 / 3.0].repeat(500);
        let of_ten = (-323..308).map(|k| 10f64.powi(k));
        Arguments {
            range: (0.0, 100.0),
            inner: (0.5, 2.0),
            borders: borders.chain(near_one).chain(of_ten).chain(DOUBLE_BORDERS).collect(),
            positive: true,
        }
    }

    /// A number of one of several distributions.
    fn random(&self, random: &mut SplitMix64) -> f64 {
        let unit = |bits: u64| (bits >> 11) as f64 / (1u64 << 53) as f64;
        let within = |(low, high): (f64, f64), bits| low + (high - low) * unit(bits);
        let choice = random.next_u64();
        let x = match choice % 8 {
            0 => f64::from_bits(random.next_u64()),
            1 | 2 => within(self.range, random.next_u64()),
            3 | 4 => within(self.inner, random.next_u64()),
            _ => {
                // So many units in the last place away, of any order of magnitude.
                let border = *random.pick(&self.borders);
                let distance = random.next_u64() >> random.between(12, 63);
                let bits = border.to_bits();
                f64::from_bits(if choice & 8 == 0 {
                    bits.wrapping_add(distance)
                } else {
                    bits.wrapping_sub(distance)
                })
            }
        };
        if self.positive && choice & 0x3f0 != 0 { x.abs() } else { x }
    }
}

/// The largest error of a function on `double`, which is printed, held against what it is said to be at most.
fn check_double(function: &str, exact: fn(&Functions, f64) -> Exact, arguments: &Arguments) {
    if !llvm_is_there() {
        return;
    }
    let bound = f64::from(Elementary::of(function).expect("it can be written out").max_ulp());
    let functions = Functions::new();
    let mut codes: Vec<_> = fused_cpus()
        .into_iter()
        .map(|cpu| (Code::new(function, Shape::One, &cpu), cpu.name, (0.0, 0.0, 0.0)))
        .collect();
    let mut random = SplitMix64::new(64);
    let chunk = 1 << 16;
    let mut check = |x: &[f64]| {
        let values: Vec<Exact> = x.iter().map(|&x| exact(&functions, x)).collect();
        for (code, _, worst) in &mut codes {
            for ((&x, value), &found) in x.iter().zip(&values).zip(&code.run(x, x)) {
                let error = value.error(found);
                if error > worst.0 {
                    *worst = (error, x, found);
                }
            }
        }
    };
    // Each border and its neighbours first.
    let borders: Vec<f64> = arguments
        .borders
        .iter()
        .flat_map(|x| (0..16).map(|k| f64::from_bits(x.to_bits().wrapping_add(k).wrapping_sub(8))))
        .flat_map(|x| [x, -x])
        .collect();
    borders.chunks(chunk).for_each(&mut check);
    for _ in 0..if is_exhaustive() { 6000 } else { 50 } {
        let x: Vec<f64> = (0..chunk).map(|_| arguments.random(&mut random)).collect();
        check(&x);
    }
    for (_, cpu, (error, x, found)) in codes {
        println!("{function} on {cpu}: {error:.3} units at {x:e}");
        assert!(error <= bound, "{function}({x:e}) is {found:e} on {cpu}");
    }
}

#[test]
fn exp_of_double_is_within_its_bound() {
    check_double("exp", Functions::exp, &Arguments::of_exponential(std::f64::consts::E));
}

#[test]
fn exp2_of_double_is_within_its_bound() {
    check_double("exp2", Functions::exp2, &Arguments::of_exponential(2.0));
}

#[test]
fn log_of_double_is_within_its_bound() {
    check_double("log", Functions::log, &Arguments::of_logarithm());
}

#[test]
fn log2_of_double_is_within_its_bound() {
    check_double("log2", Functions::log2, &Arguments::of_logarithm());
}

#[test]
fn log10_of_double_is_within_its_bound() {
    check_double("log10", Functions::log10, &Arguments::of_logarithm());
}

#[test]
fn powers_of_two_and_their_logarithms_are_exact() {
    if !llvm_is_there() {
        return;
    }
    let exponents: Vec<f64> = (-1074..1024).map(f64::from).collect();
    let powers: Vec<f64> = (-1074..1024)
        .map(|k: i32| f64::from_bits(if k < -1022 { 1 << (k + 1074) } else { ((k + 1023) as u64) << 52 }))
        .collect();
    for cpu in fused_cpus() {
        let run = |function: &str, x: &[f64]| -> Vec<u64> {
            Code::new(function, Shape::One, &cpu).run(x, x).iter().map(|y| y.to_bits()).collect()
        };
        let bits = |x: &[f64]| -> Vec<u64> { x.iter().map(|x| x.to_bits()).collect() };
        assert_eq!(run("exp2", &exponents), bits(&powers));
        assert_eq!(run("log2", &powers), bits(&exponents));
        assert_eq!(run("exp", &[0.0, -0.0]), bits(&[1.0, 1.0]));
        for function in ["log", "log2", "log10"] {
            let special = [1.0, 0.0, -0.0, f64::INFINITY];
            let none = f64::NEG_INFINITY;
            assert_eq!(run(function, &special), bits(&[0.0, none, none, f64::INFINITY]), "{function}");
        }
    }
}

/// Function, argument, and the value in two parts, computed by mpmath with 400 bits.
#[expect(
    clippy::approx_constant,
    reason = "arguments and values are written out as they are for the other numbers"
)]
const VALUES: [(&str, f64, f64, f64); 33] = [
    ("exp", 0.1, 1.105_170_918_075_647_7, -8.149_523_913_327_619e-17),
    ("exp", -0.346_5, 0.707_158_819_287_271_3, 2.739_816_963_591_875_7e-17),
    ("exp", 0.346_58, 1.414_222_627_115_14, 2.456_514_795_290_583e-17),
    ("exp", 1.0, 2.718_281_828_459_045, 1.445_646_891_729_250_2e-16),
    ("exp", 20.5, 799_902_177.475_505_4, 5.468_433_516_540_899e-8),
    ("exp", -400.25, 1.491_535_581_635_414_4e-174, -7.785_978_358_344_808e-191),
    ("exp", 700.125, 1.149_275_483_873_759_2e304, -7.796_354_208_639_61e287),
    ("exp", 1.0e-9, 1.000_000_001, -8.224_037_093_664_211e-17),
    ("exp2", 0.1, 1.071_773_462_536_293_1, 3.722_813_398_665_360_6e-17),
    ("exp2", -0.499_9, 0.707_155_795_792_418_2, -4.725_947_122_197_98e-17),
    ("exp2", 0.5, 1.414_213_562_373_095_1, -9.667_293_313_452_913e-17),
    ("exp2", 1.5, 2.828_427_124_746_190_3, -1.933_458_662_690_582_7e-16),
    ("exp2", -700.3, 1.544_166_180_415_921_4e-211, 1.145_295_268_993_894e-228),
    ("exp2", 1_000.7, 1.740_670_867_806_810_6e301, 1.291_041_168_404_338_6e284),
    ("log", 0.1, -2.302_585_092_994_045_5, -1.715_024_362_805_798_5e-16),
    ("log", 1.000_000_000_000_000_2, 2.220_446_049_250_312_8e-16, 3.649_214_750_845_877e-48),
    ("log", 0.999_999_999_999_999_9, -1.110_223_024_625_156_5e-16, -6.162_975_822_039_155e-33),
    ("log", 1.03, 0.029_558_802_241_544_43, -2.940_536_391_845_562_3e-19),
    ("log", 0.95, -0.051_293_294_387_550_58, -2.044_052_416_039_267_7e-18),
    ("log", 1.1, 0.095_310_179_804_324_93, 5.927_240_202_146_761e-18),
    ("log", 2.0, 0.693_147_180_559_945_3, 2.319_046_813_846_299_6e-17),
    ("log", 1.0e300, 690.775_527_898_213_7, 2.374_766_002_880_024_3e-14),
    ("log", 5.0e-324, -744.440_071_921_381_2, -4.422_444_340_918_698e-14),
    ("log", 0.707_106_781_186_547_6, -0.346_573_590_279_972_6, 1.251_701_276_129_902_2e-18),
    ("log2", 0.1, -3.321_928_094_887_362, -8.607_608_910_198_627e-17),
    ("log2", 1.000_000_000_000_000_2, 3.203_426_503_814_917e-16, 1.825_840_666_996_125_4e-32),
    ("log2", 1.414_213_56, 0.499_999_997_579_112_23, -1.028_575_305_374_083_1e-17),
    ("log2", 3.0, 1.584_962_500_721_156, 1.057_978_124_011_255_4e-16),
    ("log2", 1.0e-310, -1_029.797_709_415_082_4, 7.642_091_113_839_806e-14),
    ("log10", 0.1, -1.0, 2.410_818_666_383_217_7e-17),
    ("log10", 0.999_999_999_999_999_9, -4.821_637_332_766_436e-17, 2.267_049_666_355_491_5e-33),
    ("log10", 1.5, 0.176_091_259_055_681_24, 4.703_633_829_087_086e-18),
    ("log10", 1.0e-310, -310.0, -1.326_798_848_392_499_3e-15),
];

#[test]
fn the_reference_for_double_has_the_digits_of_two() {
    let functions = Functions::new();
    for (function, x, high, low) in VALUES {
        let exact = match function {
            "exp" => functions.exp(x),
            "exp2" => functions.exp2(x),
            "log" => functions.log(x),
            "log2" => functions.log2(x),
            _ => functions.log10(x),
        };
        let Exact::Number(value, scale) = exact else { panic!("{function}({x:e}) is {exact:?}") };
        let unit = 2f64.powi(-scale);
        let error = ((high * unit - value.high) + (low * unit - value.low)) / value.high;
        assert!(error.abs() < 2f64.powi(-95), "{function}({x:e}): 2^{}", error.abs().log2());
    }
}
