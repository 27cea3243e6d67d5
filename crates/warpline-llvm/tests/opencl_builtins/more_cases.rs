//! More of what is tried: mathematics beyond what a CPU has instructions for, second results, integers that saturate,
//! comparisons, conversions that round and saturate, halves, shuffles.

use super::cases::{Case, Formula, single};
use super::types::{FLOATS, HALF, INTEGERS, Ty, Way, half, half_fma, of_half};

unsafe extern "C" {
    safe fn acosh(x: f64) -> f64;
    safe fn erf(x: f64) -> f64;
    safe fn erfc(x: f64) -> f64;
    safe fn tgamma(x: f64) -> f64;
    safe fn remainder(x: f64, y: f64) -> f64;
    safe fn nextafter(x: f64, y: f64) -> f64;
    safe fn nextafterf(x: f32, y: f32) -> f32;
}

/// A function of one number, within some units in the last place of `float` and of `double`.
macro_rules! unary {
    ($all:expr, $ty:expr, $($expression:literal, $ulps:expr, $formula:expr;)*) => {
        $({
            const F: fn(f64) -> f64 = $formula;
            $all.push(
                Case::new($expression, $ty, |t, [x, ..], _, _| t.of_number(F(t.number(x)))).within($ulps),
            );
        })*
    };
}

/// The functions of numbers, for one type.
pub fn more(ty: Ty) -> Vec<Case> {
    if ty.float { of_floats(ty) } else { of_integers(ty) }
}

fn of_floats(ty: Ty) -> Vec<Case> {
    let mut all = Vec::new();
    unary!(all, ty,
        "acos(x)", 4, f64::acos;
        "asin(x)", 4, f64::asin;
        "atan(x)", 5, f64::atan;
        "acosh(x)", 4, |x| acosh(x);
        "tanh(x)", 5, f64::tanh;
        "sinh(x)", 4, f64::sinh;
        "cosh(x)", 4, f64::cosh;
        "cbrt(x)", 2, f64::cbrt;
        "expm1(x)", 3, f64::exp_m1;
        "log1p(x)", 2, f64::ln_1p;
        "exp(x)", 3, f64::exp;
        "exp2(x)", 3, f64::exp2;
        "log(x)", 3, f64::ln;
        "log2(x)", 3, f64::log2;
        "log10(x)", 3, f64::log10;
        "erf(x)", 16, |x| erf(x);
        "erfc(x)", 16, |x| erfc(x);
        "sign(x)", 0, |x| if x.is_nan() { 0.0 } else if x == 0.0 { x } else { x.signum() };
        "logb(x)", 0, |x| match x {
            0.0 => f64::NEG_INFINITY,
            x if x.is_finite() => f64::from(exponent(x)),
            x => x.abs(),
        };
    );
    unary!(all, ty, "tgamma(x)", 16, |x| tgamma(x););
    for case in &mut all[..] {
        // Of gamma, pocl knows less than the standard asks.
        case.with_pocl &=
            case.expression != "tgamma(x)" && case.expression != "erf(x)" && case.expression != "erfc(x)";
    }
    all.extend(turns(ty));
    all.extend(of_two(ty));
    all.extend(second_results(ty));
    all.extend(comparisons(ty));
    all
}

/// The exponent of a number that is neither 0 nor infinite.
fn exponent(x: f64) -> i32 {
    let (scaled, by) = if x.abs() < f64::MIN_POSITIVE { (x * 2f64.powi(60), 60) } else { (x, 0) };
    (scaled.to_bits() >> 52 & 0x7FF) as i32 - 1023 - by
}

/// What is less than a million, so that a multiple of a half can be told.
fn is_in_reach(ty: Ty, bits: u64) -> bool {
    ty.number(bits).abs() < 1e6
}

fn turns(ty: Ty) -> Vec<Case> {
    let mut all = Vec::new();
    unary!(all, ty,
        "acospi(x)", 5, |x| x.acos() / std::f64::consts::PI;
        "asinpi(x)", 5, |x| x.asin() / std::f64::consts::PI;
        "atanpi(x)", 5, |x| x.atan() / std::f64::consts::PI;
        "sinpi(x)", 4, |x| turn(x).0;
        "cospi(x)", 4, |x| turn(x).1;
        "tanpi(x)", 6, |x| turn(x).0 / turn(x).1;
    );
    all.into_iter().map(|case| case.if_operands(is_in_reach)).collect()
}

/// Sine and cosine of x times π, by eighths of a turn.
fn turn(x: f64) -> (f64, f64) {
    let t = x % 2.0;
    let eighths = (t * 4.0).round();
    let (part, angle) = (eighths as i32, (t - eighths / 4.0) * std::f64::consts::PI);
    let (s, c) = angle.sin_cos();
    let root = std::f64::consts::FRAC_1_SQRT_2;
    match part.rem_euclid(8) {
        0 => (s, c),
        1 => ((s + c) * root, (c - s) * root),
        2 => (c, 0.0 - s),
        3 => ((c - s) * root, -(s + c) * root),
        4 => (0.0 - s, -c),
        5 => (-(s + c) * root, (s - c) * root),
        6 => (-c, s),
        _ => ((s - c) * root, (s + c) * root),
    }
}

fn of_two(ty: Ty) -> Vec<Case> {
    let exact: Formula = |t, [x, y, _], _, _| t.of_number(t.number(x) % t.number(y));
    vec![
        Case::new("fmod(x, y)", ty, exact),
        Case::new("remainder(x, y)", ty, |t, [x, y, _], _, _| {
            t.of_number(remainder(t.number(x), t.number(y)))
        }),
        Case::new("fdim(x, y)", ty, |t, [x, y, _], _, _| {
            let (a, b) = (t.number(x), t.number(y));
            match t.bits {
                _ if a <= b => 0,
                32 => (single(x) - single(y)).to_bits().into(),
                _ => t.of_number(a - b),
            }
        }),
        Case::new("nextafter(x, y)", ty, |t, [x, y, _], _, _| match t.bits {
            16 => next_half(x, y),
            32 => nextafterf(single(x), single(y)).to_bits().into(),
            _ => t.of_number(nextafter(t.number(x), t.number(y))),
        }),
        Case::new("hypot(x, y)", ty, |t, [x, y, _], _, _| t.of_number(t.number(x).hypot(t.number(y))))
            .within(4),
        Case::new("atan2(x, y)", ty, |t, [x, y, _], _, _| t.of_number(t.number(x).atan2(t.number(y))))
            .within(6),
        Case::new("maxmag(x, y)", ty, |t, [x, y, _], _, _| {
            let (a, b) = (t.number(x), t.number(y));
            if a.abs() > b.abs() {
                x
            } else if b.abs() > a.abs() {
                y
            } else {
                super::cases::fmax(t, x, y)
            }
        }),
        Case::new("minmag(x, y)", ty, |t, [x, y, _], _, _| {
            let (a, b) = (t.number(x), t.number(y));
            if a.abs() < b.abs() {
                x
            } else if b.abs() < a.abs() {
                y
            } else {
                super::cases::fmin(t, x, y)
            }
        }),
    ]
}

/// The half beside one, towards another.
fn next_half(x: u64, y: u64) -> u64 {
    let (a, b) = (HALF.number(x), HALF.number(y));
    if a.is_nan() || b.is_nan() {
        return 0x7E00;
    }
    // Halves in order, where both zeros are one number.
    let place = |bits: u64| {
        let size = (bits & 0x7FFF) as i64;
        if bits >> 15 == 1 { -size } else { size }
    };
    let next = place(x) + (place(y) - place(x)).signum();
    if next < 0 || next == 0 && a < 0.0 { (-next) as u64 | 0x8000 } else { next as u64 }
}

/// The text for `half`, `float` or `double`.
fn of_type(ty: Ty, texts: [&'static str; 3]) -> &'static str {
    texts[ty.bits as usize / 32]
}

/// Functions that yield or take an `int` beside a number.
fn second_results(ty: Ty) -> Vec<Case> {
    let int = INTEGERS[4];
    let fraction: Formula = |t, [x, ..], _, _| {
        let a = t.number(x);
        t.of_number(if a.is_infinite() { 0.0 } else { t.of_floor(a).min(t.below_one()) })
    };
    vec![
        Case::new(
            of_type(
                ty,
                [
                    "({ half_N e; fract(x, &e); })",
                    "({ float_N e; fract(x, &e); })",
                    "({ double_N e; fract(x, &e); })",
                ],
            ),
            ty,
            fraction,
        )
        .if_operands(|t, x| !t.number(x).is_nan())
        .without_pocl(),
        Case::new(
            of_type(
                ty,
                [
                    "({ half_N e; fract(x, &e); e; })",
                    "({ float_N e; fract(x, &e); e; })",
                    "({ double_N e; fract(x, &e); e; })",
                ],
            ),
            ty,
            |t, [x, ..], _, _| t.of_number(t.number(x).floor()),
        ),
        Case::new(
            of_type(
                ty,
                [
                    "({ half_N e; modf(x, &e); })",
                    "({ float_N e; modf(x, &e); })",
                    "({ double_N e; modf(x, &e); })",
                ],
            ),
            ty,
            |t, [x, ..], _, _| {
                let a = t.number(x);
                t.of_number(if a.is_infinite() { 0f64.copysign(a) } else { a.fract() })
            },
        ),
        Case::new(
            of_type(
                ty,
                [
                    "({ half_N e; modf(x, &e); e; })",
                    "({ float_N e; modf(x, &e); e; })",
                    "({ double_N e; modf(x, &e); e; })",
                ],
            ),
            ty,
            |t, [x, ..], _, _| t.of_number(t.number(x).trunc()),
        ),
        Case::new("({ int_N e; frexp(x, &e); })", ty, |t, [x, ..], _, _| {
            let a = t.number(x);
            let scaled =
                |a: f64| a * 2f64.powi(-exponent(a) / 2 - 1) * 2f64.powi(-exponent(a) + exponent(a) / 2);
            t.of_number(if a == 0.0 || !a.is_finite() { a } else { scaled(a) })
        }),
        Case::new("({ int_N e; frexp(x, &e); e; })", ty, |t, [x, ..], _, _| {
            let a = t.number(x);
            u64::from(if a == 0.0 || !a.is_finite() { 0 } else { (exponent(a) + 1) as u32 })
        })
        .gives(int)
        .if_operands(|t, x| t.number(x).is_finite()),
        Case::new("ilogb(x)", ty, |t, [x, ..], _, _| {
            let a = t.number(x);
            let e = match a {
                0.0 => i32::MIN,
                a if a.is_nan() || a.is_infinite() => i32::MAX,
                a => exponent(a),
            };
            u64::from(e as u32)
        })
        .gives(int)
        .without_pocl(),
        Case::new(
            of_type(
                ty,
                [
                    "({ half_N e; sincos(x, &e); })",
                    "({ float_N e; sincos(x, &e); })",
                    "({ double_N e; sincos(x, &e); })",
                ],
            ),
            ty,
            |t, [x, ..], _, _| t.of_number(t.number(x).sin()),
        )
        .within(4)
        .if_operands(is_in_reach),
        Case::new(
            of_type(
                ty,
                [
                    "({ half_N e; sincos(x, &e); e; })",
                    "({ float_N e; sincos(x, &e); e; })",
                    "({ double_N e; sincos(x, &e); e; })",
                ],
            ),
            ty,
            |t, [x, ..], _, _| t.of_number(t.number(x).cos()),
        )
        .within(4)
        .if_operands(is_in_reach),
        Case::new("({ int_N e; remquo(x, y, &e); })", ty, |t, [x, y, _], _, _| {
            t.of_number(remainder(t.number(x), t.number(y)))
        }),
        Case::new("({ int_N e; remquo(x, y, &e); e; })", ty, |t, [x, y, _], _, _| {
            // The quotient is small and exact enough to be taken from integers.
            let (a, b) = (t.number(x) as i128, t.number(y) as i128);
            if b == 0 {
                return 0;
            }
            let (n, d) = (a.abs(), b.abs());
            let twice = 2 * (n % d);
            let q = n / d + i128::from(twice > d || twice == d && n / d % 2 == 1);
            let q = q % 128;
            INTEGERS[4].of_int(if (a < 0) != (b < 0) { -q } else { q })
        })
        .gives(int)
        .if_operands(|t, x| t.number(x).fract() == 0.0 && t.number(x).abs() < 1e15)
        .without_pocl(),
        Case::new("pown(x, convert_int_N(y))", ty, |t, [x, y, _], _, _| {
            t.of_number(t.number(x).powi(t.number(y) as i32))
        })
        .within(16)
        .if_operands(|t, x| t.number(x).fract() == 0.0 && t.number(x).abs() < 50.0),
        Case::new("rootn(x, convert_int_N(y))", ty, |t, [x, y, _], _, _| {
            let (a, n) = (t.number(x), t.number(y) as i32);
            t.of_number(rootn(a, n))
        })
        .within(16)
        .if_operands(|t, x| t.number(x).fract() == 0.0 && t.number(x).abs() < 1e6)
        .without_pocl(),
        Case::new("ldexp(x, convert_int_N(y))", ty, |t, [x, y, _], _, _| {
            // Two steps that are exact, and one that rounds.
            let n = (t.number(y) as i32).clamp(-400, 400);
            t.of_number(t.number(x) * 2f64.powi(n))
        })
        .if_operands(|t, x| {
            let a = t.number(x);
            a.fract() == 0.0 && a.abs() < 300.0
        }),
    ]
}

fn rootn(a: f64, n: i32) -> f64 {
    let odd = n % 2 != 0;
    if n == 0 || a.is_sign_negative() && a != 0.0 && !odd {
        return f64::NAN;
    }
    let size = a.abs().powf(1.0 / f64::from(n));
    if odd && a.is_sign_negative() { -size } else { size }
}

fn comparisons(ty: Ty) -> Vec<Case> {
    macro_rules! compare {
        ($($expression:literal, $holds:expr;)*) => {
            [$({
                const F: fn(f64, f64) -> bool = $holds;
                Case::new($expression, ty, |t, [x, y, _], _, vector| {
                    match (F(t.number(x), t.number(y)), vector) {
                        (false, _) => 0,
                        (true, false) => 1,
                        (true, true) => u64::MAX,
                    }
                })
                .answers()
            }),*]
        };
    }
    compare!(
        "isequal(x, y)", |x, y| x == y;
        "isnotequal(x, y)", |x, y| x != y;
        "isgreater(x, y)", |x, y| x > y;
        "isgreaterequal(x, y)", |x, y| x >= y;
        "isless(x, y)", |x, y| x < y;
        "islessequal(x, y)", |x, y| x <= y;
        "islessgreater(x, y)", |x, y| x.partial_cmp(&y).is_some_and(std::cmp::Ordering::is_ne);
        "isordered(x, y)", |x, y| !x.is_nan() && !y.is_nan();
        "isunordered(x, y)", |x, y| x.is_nan() || y.is_nan();
        "signbit(x)", |x, _| x.is_sign_negative();
    )
    .into()
}

fn of_integers(ty: Ty) -> Vec<Case> {
    vec![
        Case::new("add_sat(x, y)", ty, |t, [x, y, _], _, _| saturated(t, t.int(x) + t.int(y))),
        Case::new("sub_sat(x, y)", ty, |t, [x, y, _], _, _| saturated(t, t.int(x) - t.int(y))),
        Case::new("hadd(x, y)", ty, |t, [x, y, _], _, _| t.of_int((t.int(x) + t.int(y)) >> 1)),
        Case::new("rhadd(x, y)", ty, |t, [x, y, _], _, _| t.of_int((t.int(x) + t.int(y) + 1) >> 1)),
        Case::new("mul_hi(x, y)", ty, |t, [x, y, _], _, _| t.of_int(high(t, x, y))),
        Case::new("mad_hi(x, y, z)", ty, |t, [x, y, z], _, _| t.of_int(high(t, x, y) + t.int(z))),
        Case::new("mad_sat(x, y, z)", ty, |t, [x, y, z], _, _| {
            // Of `ulong`, products are greater than what the type of the formula holds.
            match t.int(x).checked_mul(t.int(y)).and_then(|p| p.checked_add(t.int(z))) {
                Some(sum) => saturated(t, sum),
                None => t.of_int(t.range().1),
            }
        }),
        Case::new("bitselect(x, y, z)", ty, |_, [x, y, z], _, _| x & !z | y & z),
    ]
}

fn saturated(t: Ty, x: i128) -> u64 {
    let (least, most) = t.range();
    t.of_int(x.clamp(least, most))
}

fn high(t: Ty, x: u64, y: u64) -> i128 {
    if t.signed {
        (t.int(x) * t.int(y)) >> t.bits
    } else {
        ((t.int(x) as u128 * t.int(y) as u128) >> t.bits) as i128
    }
}

/// Conversions to integers that saturate, with every rounding.
fn to_integers(from: Ty) -> Vec<Case> {
    let mut all = Vec::new();
    macro_rules! to_integer {
        ($($to:literal),*) => {$(
            let to = INTEGERS.into_iter().find(|t| t.name == $to).expect("a type");
            let modes: [(&'static str, fn(f64) -> f64); 5] = [
                (concat!("convert_", $to, "_N_sat(x)"), f64::trunc),
                (concat!("convert_", $to, "_N_sat_rtz(x)"), f64::trunc),
                (concat!("convert_", $to, "_N_sat_rte(x)"), f64::round_ties_even),
                (concat!("convert_", $to, "_N_sat_rtp(x)"), f64::ceil),
                (concat!("convert_", $to, "_N_sat_rtn(x)"), f64::floor),
            ];
            let formulas: [Formula; 5] = [
                |t, [x, ..], _, _| whole(t, x, f64::trunc, $to),
                |t, [x, ..], _, _| whole(t, x, f64::trunc, $to),
                |t, [x, ..], _, _| whole(t, x, f64::round_ties_even, $to),
                |t, [x, ..], _, _| whole(t, x, f64::ceil, $to),
                |t, [x, ..], _, _| whole(t, x, f64::floor, $to),
            ];
            for ((expression, _), formula) in modes.into_iter().zip(formulas) {
                all.push(Case::new(expression, from, formula).gives(to).of_widths(&[1, 2, 3, 16]));
            }
        )*};
    }
    to_integer!("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong");
    all
}

/// Conversions to integers that saturate, with every rounding, and those to floating-point numbers with every rounding.
pub fn rounding_conversions() -> Vec<Case> {
    let mut all = Vec::new();
    for from in INTEGERS.into_iter().chain(FLOATS) {
        all.extend(to_integers(from));
        let [float, double] = FLOATS;
        let directed: [(&'static str, Ty, Formula); 6] = [
            ("convert_float_N_rtz(x)", float, |t, [x, ..], _, _| directed(t, x, 32, 0)),
            ("convert_float_N_rtp(x)", float, |t, [x, ..], _, _| directed(t, x, 32, 1)),
            ("convert_float_N_rtn(x)", float, |t, [x, ..], _, _| directed(t, x, 32, -1)),
            ("convert_double_N_rtz(x)", double, |t, [x, ..], _, _| directed(t, x, 64, 0)),
            ("convert_double_N_rtp(x)", double, |t, [x, ..], _, _| directed(t, x, 64, 1)),
            ("convert_double_N_rtn(x)", double, |t, [x, ..], _, _| directed(t, x, 64, -1)),
        ];
        all.extend(directed.map(|(expression, to, formula)| {
            Case::new(expression, from, formula).gives(to).of_widths(&[1, 2, 3, 16])
        }));
    }
    all
}

/// A number as an integer of another type, saturated; NaN is 0.
fn whole(from: Ty, x: u64, round: fn(f64) -> f64, to: &str) -> u64 {
    let to = INTEGERS.into_iter().find(|t| t.name == to).expect("a type");
    let x = if from.float { round(from.number(x)) as i128 } else { from.int(x) };
    saturated(to, x)
}

/// A number as `float` or `double`, rounded towards zero, up or down: the nearest one or one beside it.
fn directed(from: Ty, x: u64, bits: u32, way: i32) -> u64 {
    // Whether the number of the type with these bits is less or more than x.
    let compare = |y: f64| {
        if from.float {
            y.partial_cmp(&from.number(x))
        } else if y >= 2f64.powi(100) {
            Some(std::cmp::Ordering::Greater)
        } else {
            Some((y as i128).cmp(&from.int(x)))
        }
    };
    let negative = if from.float { from.number(x) < 0.0 } else { from.int(x) < 0 };
    let up = way > 0 || way == 0 && negative;
    let wide = if from.float { from.number(x) } else { from.int(x) as f64 };
    if bits == 32 {
        let near = if from.float { wide as f32 } else { from.int(x) as f32 };
        let found = match (compare(near.into()), up) {
            (Some(std::cmp::Ordering::Less), true) => near.next_up(),
            (Some(std::cmp::Ordering::Greater), false) => near.next_down(),
            _ => near,
        };
        return found.to_bits().into();
    }
    let found = match (compare(wide), up) {
        (Some(std::cmp::Ordering::Less), true) => wide.next_up(),
        (Some(std::cmp::Ordering::Greater), false) => wide.next_down(),
        _ => wide,
    };
    found.to_bits()
}

/// Loads, stores and shuffles.
pub fn of_memory() -> Vec<Case> {
    let short = INTEGERS[2];
    let ushort = INTEGERS[3];
    let mut all = Vec::new();
    for ty in FLOATS {
        let stores: [(&'static str, Formula); 4] = [
            (
                "({ ushort h[16]; vstore_half_N_rte(x, 0, (half *)h); shorts_N((half *)h); })",
                |t, [x, ..], _, _| half(t.number(x), Way::Nearest),
            ),
            (
                "({ ushort h[16]; vstore_half_N_rtz(x, 0, (half *)h); shorts_N((half *)h); })",
                |t, [x, ..], _, _| half(t.number(x), Way::Zero),
            ),
            (
                "({ ushort h[16]; vstore_half_N_rtp(x, 0, (half *)h); shorts_N((half *)h); })",
                |t, [x, ..], _, _| half(t.number(x), Way::Up),
            ),
            (
                "({ ushort h[16]; vstore_half_N_rtn(x, 0, (half *)h); shorts_N((half *)h); })",
                |t, [x, ..], _, _| half(t.number(x), Way::Down),
            ),
        ];
        all.extend(stores.map(|(expression, formula)| {
            Case::new(expression, ty, formula)
                .gives(ushort)
                .if_operands(|t, x| !t.number(x).is_nan())
                .without_pocl()
        }));
    }
    all.push(
        Case::new("({ short_N h = x; halves_N((half *)&h); })", short, |_, [x, ..], _, _| {
            (of_half(x as u16) as f32).to_bits().into()
        })
        .gives(FLOATS[0])
        .without_pocl(),
    );
    all
}

/// Conversions from and to halves, and halves as vectors in memory.
pub fn of_halves() -> Vec<Case> {
    let to_half: [(&'static str, Formula); 5] = [
        ("convert_half_N(x)", |t, [x, ..], _, _| to_half(t, x, Way::Nearest)),
        ("convert_half_N_rte(x)", |t, [x, ..], _, _| to_half(t, x, Way::Nearest)),
        ("convert_half_N_rtz(x)", |t, [x, ..], _, _| to_half(t, x, Way::Zero)),
        ("convert_half_N_rtp(x)", |t, [x, ..], _, _| to_half(t, x, Way::Up)),
        ("convert_half_N_rtn(x)", |t, [x, ..], _, _| to_half(t, x, Way::Down)),
    ];
    let mut all = Vec::new();
    for from in INTEGERS.into_iter().chain(FLOATS).chain([HALF]) {
        all.extend(to_half.map(|(expression, formula)| Case::new(expression, from, formula).gives(HALF)));
    }
    let exact: Formula = |t, [x, ..], _, _| FLOATS[0].of_number(t.number(x));
    all.push(Case::new("convert_float_N(x)", HALF, exact).gives(FLOATS[0]));
    all.push(Case::new("convert_float_N_rtz(x)", HALF, exact).gives(FLOATS[0]));
    all.push(
        Case::new("convert_double_N_rtp(x)", HALF, |t, [x, ..], _, _| t.number(x).to_bits()).gives(FLOATS[1]),
    );
    all.extend(to_integers(HALF));
    for expression in ["x + y", "x - y", "x * y", "x / y"] {
        let formula: Formula = match expression {
            "x + y" => |t, [x, y, _], _, _| t.of_number(t.number(x) + t.number(y)),
            "x - y" => |t, [x, y, _], _, _| t.of_number(t.number(x) - t.number(y)),
            "x * y" => |t, [x, y, _], _, _| t.of_number(t.number(x) * t.number(y)),
            _ => |t, [x, y, _], _, _| t.of_number(t.number(x) / t.number(y)),
        };
        all.push(Case::new(expression, HALF, formula));
    }
    all.push(Case::new("sqrt(x)", HALF, |t, [x, ..], _, _| t.of_number(t.number(x).sqrt())));
    all.push(Case::new("fma(x, y, z)", HALF, |_, [x, y, z], _, _| half_fma(x, y, z)));
    let same: Formula = |_, [x, ..], _, _| x;
    let vectors = &[2, 3, 4, 8, 16];
    all.push(Case::new("({ half h[16]; vstore_N(x, 0, h); vload_N(0, h); })", HALF, same).of_widths(vectors));
    all
}

/// A number or an integer as a half.
fn to_half(from: Ty, x: u64, way: Way) -> u64 {
    // Integers that a `double` rounds are beyond all halves.
    half(if from.float { from.number(x) } else { from.int(x) as f64 }, way)
}
