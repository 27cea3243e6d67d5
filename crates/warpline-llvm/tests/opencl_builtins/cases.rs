//! What is tried, and the formulas.

use super::ELEMENTS;
use super::types::{FLOATS, HALF, INTEGERS, Ty, WIDTHS, half_fma};

/// A number for three operands, and for the first `y` of all: as bits. The flag says whether it is an element of a
/// vector.
pub type Formula = fn(Ty, [u64; 3], u64, bool) -> u64;

/// Numbers for vectors.
type VectorFormula = fn(Ty, &[u64], &[u64]) -> Vec<u64>;

/// How results come about.
#[derive(Copy, Clone)]
pub enum Rule {
    /// Element by element.
    Elements(Formula),
    /// Element by element: 1 or 0 of a number, −1 or 0 in a vector.
    Question(fn(f64) -> bool),
    /// From whole vectors; if `scalar`, one number.
    OfVectors { formula: VectorFormula, scalar: bool },
}

impl Rule {
    pub fn is_question(self) -> bool {
        matches!(self, Rule::Question(_))
    }
}

/// A function for operands of one type.
#[derive(Copy, Clone)]
pub struct Case {
    /// In it, `x`, `y` and `z` are operands, `b[0]` is a number, and `_N` stands for the number of elements.
    pub expression: &'static str,
    pub operand: Ty,
    pub result: Ty,
    pub rule: Rule,
    pub widths: &'static [usize],
    /// By how many units in the last place results may differ.
    pub ulps: u64,
    /// Which operands the standard says something about.
    admits: fn(Ty, u64) -> bool,
    /// Whether pocl is to agree.
    pub with_pocl: bool,
    short: bool,
    /// Whether it is a question, of which a number's answer is an `int`.
    pub is_answer: bool,
}

impl Case {
    pub fn new(expression: &'static str, ty: Ty, formula: Formula) -> Case {
        Case {
            expression,
            operand: ty,
            result: ty,
            rule: Rule::Elements(formula),
            widths: &WIDTHS,
            ulps: 0,
            admits: |_, _| true,
            with_pocl: true,
            short: false,
            is_answer: false,
        }
    }

    /// For less than all operands.
    pub fn shorter(mut self) -> Case {
        self.short = true;
        self
    }

    pub fn elements(&self) -> usize {
        match (self.operand.bits, self.short) {
            (8, false) => 48 * 1366,
            (_, false) => ELEMENTS,
            _ => 48 * 40,
        }
    }

    /// An operand, or another one instead if the standard says nothing about it.
    pub fn admitted(&self, bits: u64) -> u64 {
        if (self.admits)(self.operand, bits) { bits } else { self.operand.of_number(2.0) }
    }

    /// The results for operands as long as a vector.
    pub fn expected(&self, x: &[u64], y: &[u64], z: &[u64], first: u64) -> Vec<u64> {
        let vector = x.len() > 1;
        match self.rule {
            Rule::Elements(formula) => {
                (0..x.len()).map(|e| formula(self.operand, [x[e], y[e], z[e]], first, vector)).collect()
            }
            Rule::Question(holds) => {
                let answer = |&x: &u64| match (holds(self.operand.number(x)), vector) {
                    (false, _) => 0,
                    (true, false) => 1,
                    (true, true) => self.result.of_int(-1),
                };
                x.iter().map(answer).collect()
            }
            Rule::OfVectors { formula, scalar } => {
                let all = formula(self.operand, x, y);
                if scalar { vec![all[0]; x.len()] } else { all }
            }
        }
    }

    /// Whether a result is as good as the one expected.
    pub fn agrees(&self, found: u64, wanted: u64) -> bool {
        let ty = self.result;
        if !ty.float {
            return found == ty.of_int(wanted.into());
        }
        let (a, b) = (ty.number(found), ty.number(wanted));
        if a.is_nan() || b.is_nan() {
            return a.is_nan() && b.is_nan();
        }
        // Where results may be off at all, numbers that are not normal may be 0.
        let tiny = ty.least_normal();
        let flushed = self.ulps > 0 && a.abs() <= tiny && b.abs() <= tiny;
        let near = ordered(ty, found).abs_diff(ordered(ty, wanted)) <= u128::from(self.ulps);
        // Which zero `fmax` and its like choose is left open.
        found == wanted || a == b || near || flushed
    }

    pub fn gives(mut self, result: Ty) -> Case {
        self.result = result;
        self
    }

    pub fn within(mut self, ulps: u64) -> Case {
        self.ulps = ulps;
        self
    }

    pub fn if_operands(mut self, admits: fn(Ty, u64) -> bool) -> Case {
        self.admits = admits;
        self
    }

    /// The result is the answer to a question: an `int` of a number, an integer as wide as the operand in a vector.
    pub fn answers(mut self) -> Case {
        self.result = self.operand.with_sign(true);
        self.is_answer = true;
        self
    }

    /// pocl 3.1 does it otherwise, or does not have it.
    pub fn without_pocl(mut self) -> Case {
        self.with_pocl = false;
        self
    }

    pub fn of_widths(mut self, widths: &'static [usize]) -> Case {
        self.widths = widths;
        self
    }
}

/// Bits of floating-point numbers in the order of the numbers.
fn ordered(ty: Ty, bits: u64) -> i128 {
    let magnitude = i128::from(bits & !(1 << (ty.bits - 1)));
    if bits >> (ty.bits - 1) & 1 == 1 { -magnitude } else { magnitude }
}

/// The functions of numbers, for one type.
pub fn cases(ty: Ty) -> Vec<Case> {
    if ty.float { of_floats(ty) } else { of_integers(ty) }
}

fn of_integers(ty: Ty) -> Vec<Case> {
    let unsigned = ty.with_sign(false);
    let mut all = vec![
        Case::new("popcount(x)", ty, |_, [x, ..], _, _| x.count_ones().into()),
        Case::new("clz(x)", ty, |t, [x, ..], _, _| (x.leading_zeros() - (64 - t.bits)).into()),
        Case::new("ctz(x)", ty, |t, [x, ..], _, _| x.trailing_zeros().min(t.bits).into()).without_pocl(),
        Case::new("rotate(x, y)", ty, |t, [x, y, _], _, _| {
            let by = t.int(y).rem_euclid(t.bits.into()) as u32;
            (0..t.bits).filter(|bit| x >> bit & 1 == 1).fold(0, |r, bit| r | 1 << ((bit + by) % t.bits))
        }),
        Case::new("abs(x)", ty, |t, [x, ..], _, _| t.of_int(t.int(x).abs())).gives(unsigned),
        Case::new("abs_diff(x, y)", ty, |t, [x, y, _], _, _| t.of_int((t.int(x) - t.int(y)).abs()))
            .gives(unsigned),
        Case::new("max(x, y)", ty, |t, [x, y, _], _, _| t.of_int(t.int(x).max(t.int(y)))),
        Case::new("min(x, y)", ty, |t, [x, y, _], _, _| t.of_int(t.int(x).min(t.int(y)))),
        Case::new("max(x, b[0])", ty, |t, [x, ..], y, _| t.of_int(t.int(x).max(t.int(y)))),
        Case::new("min(x, b[0])", ty, |t, [x, ..], y, _| t.of_int(t.int(x).min(t.int(y)))),
        Case::new("clamp(x, min(y, z), max(y, z))", ty, |t, [x, y, z], _, _| {
            let (y, z) = (t.int(y), t.int(z));
            t.of_int(t.int(x).clamp(y.min(z), y.max(z)))
        }),
    ];
    all.extend(selections(ty));
    if ty.bits == 32 {
        all.extend([
            Case::new("mul24(x >> 8, y >> 8)", ty, |t, [x, y, _], _, _| {
                t.of_int((t.int(x) >> 8) * (t.int(y) >> 8))
            }),
            Case::new("mad24(x >> 8, y >> 8, z)", ty, |t, [x, y, z], _, _| {
                t.of_int((t.int(x) >> 8) * (t.int(y) >> 8) + t.int(z))
            }),
        ]);
    }
    all
}

fn selections(ty: Ty) -> [Case; 2] {
    let (signed, unsigned) = match ty.bits {
        8 => ("select(x, y, as_char_N(z))", "select(x, y, as_uchar_N(z))"),
        16 => ("select(x, y, as_short_N(z))", "select(x, y, as_ushort_N(z))"),
        32 => ("select(x, y, as_int_N(z))", "select(x, y, as_uint_N(z))"),
        _ => ("select(x, y, as_long_N(z))", "select(x, y, as_ulong_N(z))"),
    };
    [signed, unsigned].map(|expression| {
        Case::new(expression, ty, |t, [x, y, z], _, vector| {
            let second = if vector { z >> (t.bits - 1) & 1 == 1 } else { z != 0 };
            if second { y } else { x }
        })
    })
}

fn of_floats(ty: Ty) -> Vec<Case> {
    let answers = ty.with_sign(true);
    let question = |expression, holds| Case {
        rule: Rule::Question(holds),
        result: answers,
        ..Case::new(expression, ty, |_, [x, ..], _, _| x)
    };
    let mut all = vec![
        question("isnan(x)", f64::is_nan),
        question("isinf(x)", f64::is_infinite),
        question("isfinite(x)", f64::is_finite),
        Case::new("fmax(x, y)", ty, |t, [x, y, _], _, _| fmax(t, x, y)),
        Case::new("fmin(x, y)", ty, |t, [x, y, _], _, _| fmin(t, x, y)),
        Case::new("fmax(x, b[0])", ty, |t, [x, ..], y, _| fmax(t, x, y)),
        Case::new("fmin(x, b[0])", ty, |t, [x, ..], y, _| fmin(t, x, y)),
        Case::new("max(x, y)", ty, |t, [x, y, _], _, _| fmax(t, x, y)).if_operands(is_number),
        Case::new("min(x, y)", ty, |t, [x, y, _], _, _| fmin(t, x, y)).if_operands(is_number),
        Case::new("max(x, b[0])", ty, |t, [x, ..], y, _| fmax(t, x, y)).if_operands(is_number),
        Case::new("clamp(x, fmin(y, z), fmax(y, z))", ty, |t, [x, y, z], _, _| {
            fmin(t, fmax(t, x, fmin(t, y, z)), fmax(t, y, z))
        })
        .if_operands(is_number),
        Case::new("step(y, x)", ty, |t, [x, y, _], _, _| {
            t.of_number(if t.number(x) < t.number(y) { 0.0 } else { 1.0 })
        }),
        Case::new("powr(x, y)", ty, |t, [x, y, _], _, _| powr(t, x, y)).within(16),
        Case::new("pow(x, y)", ty, |t, [x, y, _], _, _| t.of_number(t.number(x).powf(t.number(y))))
            .within(16),
        Case::new("fma(x, y, z)", ty, |t, [x, y, z], _, _| match t.bits {
            16 => half_fma(x, y, z),
            32 => f32::mul_add(single(x), single(y), single(z)).to_bits().into(),
            _ => t.of_number(t.number(x).mul_add(t.number(y), t.number(z))),
        }),
        Case::new("copysign(x, y)", ty, |t, [x, y, _], _, _| {
            let sign = 1 << (t.bits - 1);
            x & !sign | y & sign
        }),
        Case::new("rsqrt(x)", ty, |t, [x, ..], _, _| t.of_number(1.0 / t.number(x).sqrt())).within(2),
        Case::new("sqrt(x)", ty, |t, [x, ..], _, _| t.of_number(t.number(x).sqrt())).within(3),
        Case::new("fabs(x)", ty, |t, [x, ..], _, _| t.of_number(t.number(x).abs())),
        Case::new("floor(x)", ty, |t, [x, ..], _, _| t.of_number(t.number(x).floor())),
        Case::new("ceil(x)", ty, |t, [x, ..], _, _| t.of_number(t.number(x).ceil())),
        Case::new("trunc(x)", ty, |t, [x, ..], _, _| t.of_number(t.number(x).trunc())),
        Case::new("rint(x)", ty, |t, [x, ..], _, _| t.of_number(t.number(x).round_ties_even())),
        Case::new("round(x)", ty, |t, [x, ..], _, _| t.of_number(t.number(x).round())),
        Case::new("radians(x)", ty, |t, [x, ..], _, _| {
            t.of_number(t.number(x) * (std::f64::consts::PI / 180.0))
        })
        .within(2),
        Case::new("degrees(x)", ty, |t, [x, ..], _, _| {
            t.of_number(t.number(x) * (180.0 / std::f64::consts::PI))
        })
        .within(2),
    ];
    all.extend(selections(ty));
    all
}

pub fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn is_number(ty: Ty, bits: u64) -> bool {
    ty.number(bits).is_finite()
}

/// "If one argument is a NaN, returns the other argument. If both arguments are NaNs, returns a NaN."
pub fn fmax(ty: Ty, x: u64, y: u64) -> u64 {
    match (ty.number(x), ty.number(y)) {
        (a, _) if a.is_nan() => y,
        (_, b) if b.is_nan() => x,
        (a, b) => {
            if a < b {
                y
            } else {
                x
            }
        }
    }
}

pub fn fmin(ty: Ty, x: u64, y: u64) -> u64 {
    match (ty.number(x), ty.number(y)) {
        (a, _) if a.is_nan() => y,
        (_, b) if b.is_nan() => x,
        (a, b) => {
            if b < a {
                y
            } else {
                x
            }
        }
    }
}

/// The standard's list of edge cases, else the power.
fn powr(ty: Ty, x: u64, y: u64) -> u64 {
    let (a, b) = (ty.number(x), ty.number(y));
    let result = match (a, b) {
        _ if a.is_nan() || b.is_nan() || a < 0.0 => f64::NAN,
        (0.0, 0.0) => f64::NAN,
        (0.0, b) if b < 0.0 => f64::INFINITY,
        (0.0, _) => 0.0,
        (f64::INFINITY, 0.0) => f64::NAN,
        (1.0, b) if b.is_infinite() => f64::NAN,
        (1.0, _) => 1.0,
        (_, 0.0) => 1.0,
        _ => a.powf(b),
    };
    ty.of_number(result)
}

/// The functions of vectors.
pub fn of_vectors() -> Vec<Case> {
    let of = |expression, ty, formula, scalar| Case {
        rule: Rule::OfVectors { formula, scalar },
        ..Case::new(expression, ty, |_, [x, ..], _, _| x)
    };
    let mut all = Vec::new();
    for ty in INTEGERS.into_iter().filter(|t| t.signed) {
        let int = INTEGERS[4];
        let any: VectorFormula = |t, x, _| vec![u64::from(x.iter().any(|x| t.int(*x) < 0))];
        let every: VectorFormula = |t, x, _| vec![u64::from(x.iter().all(|x| t.int(*x) < 0))];
        all.push(of("any(x)", ty, any, true).gives(int));
        all.push(of("all(x)", ty, every, true).gives(int));
        // Vectors all of whose elements are negative are rare among random ones.
        let every_or: VectorFormula =
            |t, x, y| vec![u64::from(x.iter().zip(y).all(|(x, y)| t.int(x | y) < 0))];
        all.push(of("all(x | y)", ty, every_or, true).gives(int));
    }
    let upto4 = &WIDTHS[..4];
    for ty in FLOATS.into_iter().chain([HALF]) {
        // pocl's functions of `double` vectors overflow where the standard's may not.
        let with_pocl = ty.bits == 32;
        let mut geometric = vec![
            of("length(x)", ty, |t, x, _| vec![t.of_number(length(t, x))], true).within(4),
            of("distance(x, y)", ty, distance, true).within(4).if_operands(is_moderate),
            of("normalize(x)", ty, normalize, false).within(5).without_pocl(),
            of("normalize(x)", ty, normalize, false).within(5).if_operands(|t, x| !t.number(x).is_nan()),
            of("dot(x, y)", ty, dot, true).if_operands(is_small_integer),
        ];
        geometric.iter_mut().for_each(|case| case.with_pocl &= with_pocl);
        all.extend(geometric.into_iter().map(|case| case.of_widths(upto4)));
        let cross = |expression, widths| {
            of(expression, ty, cross, false).if_operands(is_small_integer).of_widths(widths)
        };
        all.push(Case { with_pocl: ty.bits > 16, ..cross("cross(x, y)", &[3, 4]) });
    }
    all
}

/// Whether nothing that is made of it by differences is rounded much.
fn is_moderate(ty: Ty, bits: u64) -> bool {
    let x = ty.number(bits);
    x.is_finite() && x.abs() < 1e30 && (x == 0.0 || x.abs() > 1e-30)
}

fn is_small_integer(ty: Ty, bits: u64) -> bool {
    let x = ty.number(bits);
    x.abs() < 2000.0 && x.fract() == 0.0
}

/// The length, which neither overflows nor vanishes on the way.
fn length(ty: Ty, x: &[u64]) -> f64 {
    if x.iter().any(|&x| ty.number(x).is_nan()) {
        return f64::NAN;
    }
    x.iter().fold(0.0, |all: f64, &x| all.hypot(ty.number(x)))
}

fn distance(ty: Ty, x: &[u64], y: &[u64]) -> Vec<u64> {
    let apart: Vec<u64> = x.iter().zip(y).map(|(&x, &y)| difference(ty, x, y)).collect();
    vec![ty.of_number(length(ty, &apart))]
}

/// In the precision of the type, as the standard's `length(p0 - p1)`.
fn difference(ty: Ty, x: u64, y: u64) -> u64 {
    match ty.bits {
        32 => (single(x) - single(y)).to_bits().into(),
        _ => ty.of_number(ty.number(x) - ty.number(y)),
    }
}

/// "… proceed as if the elements in p were replaced as follows: p\[i\] = isinf(p\[i\]) ? copysign(1.0, p\[i\]) : 0.0
/// * p\[i\]".
fn normalize(ty: Ty, x: &[u64], _: &[u64]) -> Vec<u64> {
    let mut p: Vec<f64> = x.iter().map(|&x| ty.number(x)).collect();
    if p.iter().any(|x| x.is_infinite()) {
        for x in &mut p {
            *x = if x.is_infinite() { 1f64.copysign(*x) } else { 0.0 * *x };
        }
    }
    if p.iter().any(|x| x.is_nan()) {
        return vec![ty.of_number(f64::NAN); x.len()];
    }
    // By the greatest element first, so that nothing overflows.
    let most = p.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if most == 0.0 {
        return x.to_vec();
    }
    let scaled: Vec<f64> = p.iter().map(|x| x / most).collect();
    let length = scaled.iter().map(|x| x * x).sum::<f64>().sqrt();
    scaled.iter().map(|x| ty.of_number(x / length)).collect()
}

fn dot(ty: Ty, x: &[u64], y: &[u64]) -> Vec<u64> {
    vec![ty.of_number(x.iter().zip(y).map(|(&x, &y)| ty.number(x) * ty.number(y)).sum())]
}

fn cross(ty: Ty, x: &[u64], y: &[u64]) -> Vec<u64> {
    let (a, b): (Vec<f64>, Vec<f64>) = x.iter().zip(y).map(|(&x, &y)| (ty.number(x), ty.number(y))).unzip();
    let all = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0], 0.0];
    all[..x.len()].iter().map(|&x| ty.of_number(x)).collect()
}

/// Conversions of every type to every other one, of numbers and of vectors.
pub fn conversions() -> Vec<Case> {
    const TO: [(&str, &str); 10] = [
        ("char", "convert_char_N(x)"),
        ("uchar", "convert_uchar_N(x)"),
        ("short", "convert_short_N(x)"),
        ("ushort", "convert_ushort_N(x)"),
        ("int", "convert_int_N(x)"),
        ("uint", "convert_uint_N(x)"),
        ("long", "convert_long_N(x)"),
        ("ulong", "convert_ulong_N(x)"),
        ("float", "convert_float_N(x)"),
        ("double", "convert_double_N(x)"),
    ];
    let types = || INTEGERS.into_iter().chain(FLOATS);
    let mut all = Vec::new();
    for from in types() {
        for (name, expression) in TO {
            let to = types().find(|t| t.name == name).expect("a type");
            let formula: Formula = match (from.float, to.float, to.bits) {
                (false, false, _) => |t, [x, ..], _, _| t.int(x) as u64,
                // From integers to the nearest number, once.
                (false, true, 32) => |t, [x, ..], _, _| (t.int(x) as f32).to_bits().into(),
                (false, true, _) => |t, [x, ..], _, _| (t.int(x) as f64).to_bits(),
                (true, true, 32) => |t, [x, ..], _, _| (t.number(x) as f32).to_bits().into(),
                (true, true, _) => |t, [x, ..], _, _| t.number(x).to_bits(),
                (true, false, _) => |t, [x, ..], _, _| t.number(x).trunc() as i128 as u64,
            };
            let case = Case::new(expression, from, formula).gives(to).of_widths(&[1, 2, 3, 8]);
            // What does not fit is left open.
            let fits: fn(Ty, u64) -> bool = if from.float && !to.float {
                |t, x| (0.0..128.0).contains(&t.number(x))
            } else {
                |_, _| true
            };
            let case = case.if_operands(fits);
            all.push(Case { result: to, ..case });
        }
    }
    all
}
