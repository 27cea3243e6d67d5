//! Functions known by name: LLVM's intrinsics, the C mathematical library, warpline's lane operations.
//!
//! Functions of the library are computed by Rust's standard library, which calls the same C functions that
//! compiled code calls.

use super::float::{self, power_of_two};
use super::scalar::{check_fast_math, mask, propagate, sign_extend, truncate};
use super::trap::TrapKind;
use super::value::{Cell, State};
use warpline_ir::{BinaryOp, FloatKind, InstFlags, LaneOp, Scalar};

/// A function of one floating-point number.
type Unary = (fn(f32) -> f32, fn(f64) -> f64);
/// A function of two floating-point numbers.
type Binary = (fn(f32, f32) -> f32, fn(f64, f64) -> f64);

/// Two-operand integer functions.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum IntFunction {
    SMax,
    SMin,
    UMax,
    UMin,
    SAddSat,
    UAddSat,
    SSubSat,
    USubSat,
    SShlSat,
    UShlSat,
    SCmp,
    UCmp,
}

/// What a reduction combines the elements with.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Reduction {
    Int(BinaryOp),
    MinMax(IntFunction),
    /// With a start value.
    Float(BinaryOp),
    FloatMinMax {
        max: bool,
        propagate_nan: bool,
    },
}

/// A function known by name.
#[derive(Copy, Clone, Debug)]
pub(super) enum Intrinsic {
    // Element by element; see `elementwise`.
    Unary(Unary),
    Binary(Binary),
    Fma,
    FMulAdd,
    PowI,
    Ldexp,
    CopySign,
    FAbs,
    Canonicalize,
    FloatMinMax {
        max: bool,
        propagate_nan: bool,
    },
    IsFpClass,
    FpToIntSat {
        signed: bool,
    },
    RoundToInt {
        to_even: bool,
    },
    Int(IntFunction),
    Abs,
    CtPop,
    /// x86's bits put at the places of a mask's.
    DepositBits,
    /// x86's bits at the places of a mask's, put together.
    ExtractBits,
    CtLz,
    CtTz,
    BSwap,
    BitReverse,
    FunnelLeft,
    FunnelRight,
    PtrMask,
    // Whole values.
    WithOverflow(BinaryOp, bool),
    Reduce(Reduction),
    ActiveLaneMask,
    VectorReverse,
    VectorInsert,
    VectorExtract,
    VectorSplice,
    Interleave2,
    Deinterleave2,
    /// x86's sums of the distances of eight neighbouring bytes.
    SumOfDistances,
    /// x86's sums of the products of two neighbouring pairs of signed shorts.
    SumOfProducts,
    /// x86's upper halves of the products of shorts, signed or unsigned.
    HighProduct {
        is_signed: bool,
    },
    /// Of each block of two vectors of signed shorts, the nearest unsigned bytes: first those of the first one.
    PackShorts,
    /// The same of signed words, the nearest signed shorts.
    PackWords,
    /// Bytes of each block of 16 bytes, picked by the low four bits of others; zero where their topmost bit is set.
    PickBytes,
    /// Elements picked by the low bits of others.
    PickElements,
    /// The elements of a mask's lanes one behind the other, then those of another vector.
    Compress,
    First,
    Zero,
    // Memory.
    Copy,
    Set,
    LifetimeStart,
    MaskedLoad,
    MaskedStore,
    Gather,
    /// AVX2's: what inactive lanes get, a pointer, indices, masks in the topmost bits of elements, and what indices
    /// are multiplied by.
    IndexedGather,
    Scatter,
    CompressStore,
    // Others.
    Lane(LaneOp),
    Assume,
    Nothing,
    Abort,
}

fn llvm(base: &str) -> Option<Intrinsic> {
    use Intrinsic::*;
    use Reduction as R;
    let min_max = |max, propagate_nan| FloatMinMax { max, propagate_nan };
    Some(match base {
        "fma" => Fma,
        "fmuladd" => FMulAdd,
        "powi" => PowI,
        "ldexp" => Ldexp,
        "canonicalize" => Canonicalize,
        "minnum" | "minimumnum" => min_max(false, false),
        "maxnum" | "maximumnum" => min_max(true, false),
        "minimum" => min_max(false, true),
        "maximum" => min_max(true, true),
        "is.fpclass" => IsFpClass,
        "fptosi.sat" => FpToIntSat { signed: true },
        "fptoui.sat" => FpToIntSat { signed: false },
        "lrint" | "llrint" => RoundToInt { to_even: true },
        "lround" | "llround" => RoundToInt { to_even: false },
        "smax" => Int(IntFunction::SMax),
        "smin" => Int(IntFunction::SMin),
        "umax" => Int(IntFunction::UMax),
        "umin" => Int(IntFunction::UMin),
        "sadd.sat" => Int(IntFunction::SAddSat),
        "uadd.sat" => Int(IntFunction::UAddSat),
        "ssub.sat" => Int(IntFunction::SSubSat),
        "usub.sat" => Int(IntFunction::USubSat),
        "sshl.sat" => Int(IntFunction::SShlSat),
        "ushl.sat" => Int(IntFunction::UShlSat),
        "scmp" => Int(IntFunction::SCmp),
        "ucmp" => Int(IntFunction::UCmp),
        "abs" => Abs,
        "ctpop" => CtPop,
        "x86.bmi.pdep.64" => DepositBits,
        "x86.bmi.pext.64" => ExtractBits,
        "ctlz" => CtLz,
        "cttz" => CtTz,
        "bswap" => BSwap,
        "bitreverse" => BitReverse,
        "fshl" => FunnelLeft,
        "fshr" => FunnelRight,
        "ptrmask" => PtrMask,
        "sadd.with.overflow" => WithOverflow(BinaryOp::Add, true),
        "uadd.with.overflow" => WithOverflow(BinaryOp::Add, false),
        "ssub.with.overflow" => WithOverflow(BinaryOp::Sub, true),
        "usub.with.overflow" => WithOverflow(BinaryOp::Sub, false),
        "smul.with.overflow" => WithOverflow(BinaryOp::Mul, true),
        "umul.with.overflow" => WithOverflow(BinaryOp::Mul, false),
        "vector.reduce.add" => Reduce(R::Int(BinaryOp::Add)),
        "vector.reduce.mul" => Reduce(R::Int(BinaryOp::Mul)),
        "vector.reduce.and" => Reduce(R::Int(BinaryOp::And)),
        "vector.reduce.or" => Reduce(R::Int(BinaryOp::Or)),
        "vector.reduce.xor" => Reduce(R::Int(BinaryOp::Xor)),
        "vector.reduce.smax" => Reduce(R::MinMax(IntFunction::SMax)),
        "vector.reduce.smin" => Reduce(R::MinMax(IntFunction::SMin)),
        "vector.reduce.umax" => Reduce(R::MinMax(IntFunction::UMax)),
        "vector.reduce.umin" => Reduce(R::MinMax(IntFunction::UMin)),
        "vector.reduce.fadd" => Reduce(R::Float(BinaryOp::FAdd)),
        "vector.reduce.fmul" => Reduce(R::Float(BinaryOp::FMul)),
        "vector.reduce.fmax" => Reduce(R::FloatMinMax { max: true, propagate_nan: false }),
        "vector.reduce.fmin" => Reduce(R::FloatMinMax { max: false, propagate_nan: false }),
        "vector.reduce.fmaximum" => Reduce(R::FloatMinMax { max: true, propagate_nan: true }),
        "vector.reduce.fminimum" => Reduce(R::FloatMinMax { max: false, propagate_nan: true }),
        "get.active.lane.mask" => ActiveLaneMask,
        "vector.reverse" | "experimental.vector.reverse" => VectorReverse,
        "vector.insert" => VectorInsert,
        "vector.extract" => VectorExtract,
        "vector.splice" | "experimental.vector.splice" => VectorSplice,
        "vector.interleave2" | "experimental.vector.interleave2" => Interleave2,
        "vector.deinterleave2" | "experimental.vector.deinterleave2" => Deinterleave2,
        "expect"
        | "expect.with.probability"
        | "launder.invariant.group"
        | "strip.invariant.group"
        | "ssa.copy"
        | "arithmetic.fence"
        | "threadlocal.address"
        | "annotation"
        | "ptr.annotation"
        | "preserve.array.access.index" => First,
        "is.constant" | "stacksave" | "allow.runtime.check" | "allow.ubsan.check" => Zero,
        "memcpy" | "memmove" | "memcpy.inline" => Copy,
        "memset" | "memset.inline" => Set,
        "lifetime.start" => LifetimeStart,
        "masked.load" => MaskedLoad,
        "masked.store" => MaskedStore,
        "masked.gather" => Gather,
        "x86.avx2.gather.d.d" => IndexedGather,
        "x86.sse2.psad.bw" | "x86.avx2.psad.bw" | "x86.avx512.psad.bw.512" => SumOfDistances,
        "x86.sse2.pmadd.wd" | "x86.avx2.pmadd.wd" | "x86.avx512.pmaddw.d.512" => SumOfProducts,
        "x86.sse2.packuswb.128" | "x86.avx2.packuswb" | "x86.avx512.packuswb.512" => PackShorts,
        "x86.sse2.packssdw.128" | "x86.avx2.packssdw" | "x86.avx512.packssdw.512" => PackWords,
        "x86.sse2.pmulhu.w" | "x86.avx2.pmulhu.w" | "x86.avx512.pmulhu.w.512" => {
            HighProduct { is_signed: false }
        }
        "x86.sse2.pmulh.w" | "x86.avx2.pmulh.w" | "x86.avx512.pmulh.w.512" => HighProduct { is_signed: true },
        "x86.ssse3.pshuf.b.128" | "x86.avx2.pshuf.b" => PickBytes,
        "x86.avx2.permd" => PickElements,
        "x86.avx512.mask.compress" => Compress,
        "masked.scatter" => Scatter,
        "masked.compressstore" => CompressStore,
        "assume" => Assume,
        "lifetime.end"
        | "dbg"
        | "experimental.noalias.scope.decl"
        | "invariant.start"
        | "invariant.end"
        | "stackrestore"
        | "prefetch"
        | "donothing"
        | "sideeffect"
        | "pseudoprobe"
        | "var.annotation"
        | "fake.use" => Nothing,
        "trap" | "debugtrap" | "ubsantrap" => Abort,
        _ => return math(base),
    })
}

/// Functions that LLVM and the C library have under the same name.
fn math(base: &str) -> Option<Intrinsic> {
    use Intrinsic::{Binary, CopySign, FAbs, Fma, Unary};
    Some(match base {
        "sqrt" => Unary((f32::sqrt, f64::sqrt)),
        "floor" => Unary((f32::floor, f64::floor)),
        "ceil" => Unary((f32::ceil, f64::ceil)),
        "trunc" => Unary((f32::trunc, f64::trunc)),
        "rint" | "nearbyint" | "roundeven" => Unary((f32::round_ties_even, f64::round_ties_even)),
        "round" => Unary((f32::round, f64::round)),
        "exp" => Unary((f32::exp, f64::exp)),
        "exp2" => Unary((f32::exp2, f64::exp2)),
        "log" => Unary((f32::ln, f64::ln)),
        "log2" => Unary((f32::log2, f64::log2)),
        "log10" => Unary((f32::log10, f64::log10)),
        "sin" => Unary((f32::sin, f64::sin)),
        "cos" => Unary((f32::cos, f64::cos)),
        "tan" => Unary((f32::tan, f64::tan)),
        "asin" => Unary((f32::asin, f64::asin)),
        "acos" => Unary((f32::acos, f64::acos)),
        "atan" => Unary((f32::atan, f64::atan)),
        "sinh" => Unary((f32::sinh, f64::sinh)),
        "cosh" => Unary((f32::cosh, f64::cosh)),
        "tanh" => Unary((f32::tanh, f64::tanh)),
        "pow" => Binary((f32::powf, f64::powf)),
        "atan2" => Binary((f32::atan2, f64::atan2)),
        "fabs" => FAbs,
        "copysign" => CopySign,
        "fma" => Fma,
        _ => return None,
    })
}

fn c_library(base: &str) -> Option<Intrinsic> {
    use Intrinsic::{Binary, FloatMinMax, Ldexp, Unary};
    Some(match base {
        "expm1" => Unary((f32::exp_m1, f64::exp_m1)),
        "log1p" => Unary((f32::ln_1p, f64::ln_1p)),
        "cbrt" => Unary((f32::cbrt, f64::cbrt)),
        "hypot" => Binary((f32::hypot, f64::hypot)),
        "fmod" => Binary((|a, b| a % b, |a, b| a % b)),
        "fmin" => FloatMinMax { max: false, propagate_nan: false },
        "fmax" => FloatMinMax { max: true, propagate_nan: false },
        "ldexp" => Ldexp,
        _ => return math(base),
    })
}

/// The function of this name.
pub(super) fn lookup(name: &str) -> Option<Intrinsic> {
    if let Some(rest) = name.strip_prefix("llvm.") {
        // The type suffixes come last: cut them off one by one.
        let mut base = rest;
        loop {
            if let Some(found) = llvm(base) {
                return Some(found);
            }
            base = &base[..base.rfind('.')?];
        }
    }
    let lane = LaneOp::declared(name).map(|(op, _)| op).filter(|op| !op.has_element());
    match name {
        "memcpy" | "memmove" => Some(Intrinsic::Copy),
        "memset" => Some(Intrinsic::Set),
        "abort" => Some(Intrinsic::Abort),
        _ => lane
            .map(Intrinsic::Lane)
            .or_else(|| c_library(name))
            .or_else(|| c_library(name.strip_suffix('f')?)),
    }
}

/// Element types of an elementwise call: of the first operand and of the result, with their widths.
#[derive(Copy, Clone, Debug)]
pub(super) struct ElemTypes {
    pub arg: Scalar,
    pub arg_bits: u32,
    pub result: Scalar,
    pub result_bits: u32,
}

impl ElemTypes {
    fn float(&self, what: Scalar) -> Result<FloatKind, TrapKind> {
        match what {
            Scalar::Float(k) if float::supported(k) => Ok(k),
            _ => Err(TrapKind::Unsupported("a mathematical function of this type".into())),
        }
    }
}

/// Evaluates one element; `None` if the function is not one that works element by element.
pub(super) fn elementwise(
    f: Intrinsic,
    flags: InstFlags,
    ty: &ElemTypes,
    args: &[Cell],
) -> Option<Result<Cell, TrapKind>> {
    use Intrinsic::*;
    if !matches!(
        f,
        Unary(_)
            | Binary(_)
            | Fma
            | FMulAdd
            | PowI
            | Ldexp
            | CopySign
            | FAbs
            | Canonicalize
            | FloatMinMax { .. }
            | IsFpClass
            | FpToIntSat { .. }
            | RoundToInt { .. }
            | Int(_)
            | Abs
            | CtPop
            | DepositBits
            | ExtractBits
            | CtLz
            | CtTz
            | BSwap
            | BitReverse
            | FunnelLeft
            | FunnelRight
            | PtrMask
    ) {
        return None;
    }
    if let Some(c) = propagate(args) {
        return Some(Ok(c));
    }
    Some(if matches!(ty.arg, Scalar::Float(_)) {
        ty.float(ty.arg).and_then(|k| float_element(f, flags, k, ty, args))
    } else {
        Ok(int_element(f, ty, args))
    })
}

fn float_element(
    f: Intrinsic,
    flags: InstFlags,
    k: FloatKind,
    ty: &ElemTypes,
    args: &[Cell],
) -> Result<Cell, TrapKind> {
    let arg = |i: usize| args.get(i).map_or(0, |c| c.bits);
    let (a, b) = (arg(0), arg(1));
    let result = match f {
        Intrinsic::IsFpClass => return Ok(Cell::bool(b & fp_class(k, a) != 0)),
        Intrinsic::FpToIntSat { signed } => {
            return Ok(Cell::new(float::to_int_saturating(k, a, ty.result_bits, signed)));
        }
        Intrinsic::RoundToInt { to_even } => {
            let x = float::to_f64(k, a);
            let x = if to_even { x.round_ties_even() } else { x.round() };
            let v = float::to_int(FloatKind::Double, x.to_bits().into(), ty.result_bits, true);
            return Ok(v.map_or(Cell::POISON, Cell::new));
        }
        Intrinsic::Unary((f32s, f64s)) => float::map1(k, a, f32s, f64s),
        Intrinsic::Binary((f32s, f64s)) => float::map2(k, a, b, f32s, f64s),
        Intrinsic::Fma => float::fma(k, a, b, arg(2)),
        Intrinsic::FMulAdd => {
            float::binary(BinaryOp::FAdd, k, float::binary(BinaryOp::FMul, k, a, b), arg(2))
        }
        Intrinsic::PowI => {
            let n = b as i32;
            match k {
                FloatKind::Float => u128::from(f32::from_bits(a as u32).powi(n).to_bits()),
                _ => float::from_f64(k, float::to_f64(k, a).powi(n)),
            }
        }
        Intrinsic::Ldexp => float::from_f64(k, scale(float::to_f64(k, a), b as u32 as i32)),
        Intrinsic::CopySign => a & !float::sign_bit(k) | b & float::sign_bit(k),
        Intrinsic::FAbs => a & !float::sign_bit(k),
        Intrinsic::Canonicalize => float::binary(BinaryOp::FMul, k, a, float::from_f64(k, 1.0)),
        Intrinsic::FloatMinMax { max, propagate_nan } => min_max(k, a, b, max, propagate_nan),
        _ => return Err(TrapKind::Unsupported("an integer function of floating-point numbers".into())),
    };
    let mut cells: smallvec::SmallVec<[Cell; 4]> = args.iter().copied().collect();
    cells.push(Cell::new(result));
    Ok(check_fast_math(flags, k, &cells))
}

/// `x·2^n`, rounded once (by way of at most one subnormal result).
fn scale(x: f64, n: i32) -> f64 {
    let (mut x, mut n) = (x, n.clamp(-4400, 4400));
    while n > 1000 {
        x *= power_of_two(1000);
        n -= 1000;
    }
    while n < -1000 && x.abs() >= 1.0 {
        x *= power_of_two(-1000);
        n += 1000;
    }
    if n < -1000 {
        // |x| < 1: the result is at most 2^-1000; a last step of at least 2^-1074 rounds once.
        return x * power_of_two(-500) * power_of_two((n + 500).max(-1074));
    }
    x * power_of_two(n)
}

/// The smaller or the larger number; −0 is less than +0.
pub(super) fn min_max(k: FloatKind, a: u128, b: u128, max: bool, propagate_nan: bool) -> u128 {
    let (x, y) = (float::to_f64(k, a), float::to_f64(k, b));
    if x.is_nan() || y.is_nan() {
        let quiet = |v: u128| v | float::from_f64(k, f64::NAN) & !float::sign_bit(k);
        return match (x.is_nan(), y.is_nan()) {
            (true, false) if !propagate_nan => b,
            (false, true) if !propagate_nan => a,
            (true, _) => quiet(a),
            _ => quiet(b),
        };
    }
    let a_first = if x == y { a & float::sign_bit(k) != 0 } else { x < y };
    if a_first != max { a } else { b }
}

/// The bit of `llvm.is.fpclass` that the number belongs to.
fn fp_class(k: FloatKind, v: u128) -> u128 {
    let (fraction, exponent) = match k {
        FloatKind::Half => (10, 5),
        FloatKind::BFloat => (7, 8),
        FloatKind::Float => (23, 8),
        _ => (52, 11),
    };
    let negative = v & float::sign_bit(k) != 0;
    let exp = v >> fraction & mask(exponent);
    let frac = v & mask(fraction);
    let class = if exp == mask(exponent) {
        if frac != 0 {
            return 1 << (frac >> (fraction - 1) & 1);
        }
        (2, 9)
    } else if exp != 0 {
        (3, 8)
    } else if frac != 0 {
        (4, 7)
    } else {
        (5, 6)
    };
    1 << if negative { class.0 } else { class.1 }
}

fn int_element(f: Intrinsic, ty: &ElemTypes, args: &[Cell]) -> Cell {
    let arg = |i: usize| args.get(i).map_or(0, |c| c.bits);
    let (w, a, b) = (ty.arg_bits, arg(0), arg(1));
    let value = match f {
        Intrinsic::Int(op) => int_function(op, w, ty.result_bits, a, b),
        Intrinsic::Abs => {
            if a == 1 << (w - 1) && b & 1 == 1 {
                return Cell::POISON;
            }
            Some(sign_extend(a, w).unsigned_abs())
        }
        Intrinsic::CtPop => Some(a.count_ones().into()),
        Intrinsic::DepositBits => {
            let places = (0..w).filter(|k| b >> k & 1 == 1);
            Some(places.enumerate().map(|(n, k)| (a >> n & 1) << k).sum())
        }
        Intrinsic::ExtractBits => {
            let places = (0..w).filter(|k| b >> k & 1 == 1);
            Some(places.enumerate().map(|(n, k)| (a >> k & 1) << n).sum())
        }
        Intrinsic::CtLz | Intrinsic::CtTz if a == 0 && b & 1 == 1 => None,
        Intrinsic::CtLz => Some((a.leading_zeros() + w - 128).into()),
        Intrinsic::CtTz => Some(a.trailing_zeros().min(w).into()),
        Intrinsic::BSwap => Some(a.swap_bytes() >> (128 - w)),
        Intrinsic::BitReverse => Some(a.reverse_bits() >> (128 - w)),
        Intrinsic::FunnelLeft | Intrinsic::FunnelRight => {
            let s = (arg(2) % u128::from(w)) as u32;
            let left = if matches!(f, Intrinsic::FunnelLeft) { s } else { w - s };
            let high = if left >= w { 0 } else { a << left };
            let low = if left == 0 { 0 } else { b >> (w - left) };
            // A shift right by 0 is a shift left by the width: the low operand alone.
            Some(if left >= w { b } else { high | low })
        }
        Intrinsic::PtrMask => Some(a & b),
        _ => None,
    };
    value.map_or(Cell::POISON, |v| Cell::new(truncate(v, ty.result_bits)))
}

/// `None` is poison.
pub(super) fn int_function(op: IntFunction, w: u32, result_bits: u32, a: u128, b: u128) -> Option<u128> {
    let (sa, sb) = (sign_extend(a, w), sign_extend(b, w));
    let (low, high) = (sign_extend(1 << (w - 1), w), sign_extend(mask(w) >> 1, w));
    let clamp = |exact: Option<i128>, up: bool| {
        exact.map_or(if up { high } else { low }, |v| v.clamp(low, high)) as u128
    };
    Some(match op {
        IntFunction::SMax => sa.max(sb) as u128,
        IntFunction::SMin => sa.min(sb) as u128,
        IntFunction::UMax => a.max(b),
        IntFunction::UMin => a.min(b),
        IntFunction::SAddSat => clamp(sa.checked_add(sb), sb >= 0),
        IntFunction::SSubSat => clamp(sa.checked_sub(sb), sb < 0),
        IntFunction::UAddSat => a.checked_add(b).map_or(mask(w), |v| v.min(mask(w))),
        IntFunction::USubSat => a.saturating_sub(b),
        IntFunction::SShlSat | IntFunction::UShlSat if b >= u128::from(w) => return None,
        IntFunction::SShlSat => {
            let r = sign_extend(a << b, w);
            if r >> b == sa { r as u128 } else { clamp(None, sa >= 0) }
        }
        IntFunction::UShlSat => {
            let r = truncate(a << b, w);
            if r >> b == a { r } else { mask(w) }
        }
        IntFunction::SCmp => truncate(sa.cmp(&sb) as i8 as i128 as u128, result_bits),
        IntFunction::UCmp => truncate(a.cmp(&b) as i8 as i128 as u128, result_bits),
    })
}

/// Result and overflow bit of an `*.with.overflow` function.
pub(super) fn with_overflow(op: BinaryOp, signed: bool, w: u32, a: Cell, b: Cell) -> (Cell, Cell) {
    if let Some(c) = propagate(&[a, b]) {
        return (c, c);
    }
    let flag = if signed { InstFlags::NSW } else { InstFlags::NUW };
    let plain = super::scalar::int_binary(op, InstFlags::empty(), w, a, b);
    let checked = super::scalar::int_binary(op, flag, w, a, b);
    match (plain, checked) {
        (Ok(p), Ok(c)) => (p, Cell::bool(c.state == State::Poison)),
        _ => (Cell::POISON, Cell::POISON),
    }
}

/// Combines the elements of a vector.
pub(super) fn reduce(
    r: Reduction,
    flags: InstFlags,
    ty: &ElemTypes,
    start: Option<Cell>,
    elems: &[Cell],
) -> Result<Cell, TrapKind> {
    let (first, rest) = match (start, elems) {
        (Some(s), all) => (s, all),
        (None, [first, rest @ ..]) => (*first, rest),
        (None, []) => return Ok(Cell::POISON),
    };
    let mut acc = first;
    for &e in rest {
        acc = match r {
            Reduction::Int(op) => super::scalar::int_binary(op, InstFlags::empty(), ty.result_bits, acc, e)?,
            Reduction::Float(op) => super::scalar::float_binary(op, flags, ty.float(ty.result)?, acc, e),
            Reduction::MinMax(op) => match propagate(&[acc, e]) {
                Some(c) => c,
                None => {
                    let w = ty.result_bits;
                    let v = int_function(op, w, w, acc.bits, e.bits).unwrap_or(0);
                    Cell::new(truncate(v, w))
                }
            },
            Reduction::FloatMinMax { max, propagate_nan } => match propagate(&[acc, e]) {
                Some(c) => c,
                None => {
                    let k = ty.float(ty.result)?;
                    let v = Cell::new(min_max(k, acc.bits, e.bits, max, propagate_nan));
                    check_fast_math(flags, k, &[acc, e, v])
                }
            },
        };
    }
    Ok(acc)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(name: &str, w: u32, args: &[u128]) -> Cell {
        let cells: Vec<Cell> = args.iter().map(|&v| Cell::new(v)).collect();
        let s = Scalar::Int(w);
        let ty = ElemTypes { arg: s, arg_bits: w, result: s, result_bits: w };
        let f = lookup(name).expect("known");
        elementwise(f, InstFlags::empty(), &ty, &cells).expect("elementwise").expect("no trap")
    }

    #[test]
    fn integer_functions_compute_what_llvm_says() {
        let v = Cell::new;
        assert_eq!(eval("llvm.smax.i8", 8, &[0xff, 1]), v(1));
        assert_eq!(eval("llvm.umax.i8", 8, &[0xff, 1]), v(0xff));
        assert_eq!(eval("llvm.abs.i8", 8, &[0x80, 0]), v(0x80));
        assert_eq!(eval("llvm.abs.i8", 8, &[0x80, 1]), Cell::POISON);
        assert_eq!(eval("llvm.ctlz.i8", 8, &[1, 0]), v(7));
        assert_eq!(eval("llvm.ctlz.i8", 8, &[0, 0]), v(8));
        assert_eq!(eval("llvm.cttz.i8", 8, &[0, 1]), Cell::POISON);
        assert_eq!(eval("llvm.cttz.i8", 8, &[0, 0]), v(8));
        assert_eq!(eval("llvm.bswap.i16", 16, &[0x1234]), v(0x3412));
        assert_eq!(eval("llvm.bitreverse.i8", 8, &[0x12]), v(0x48));
        assert_eq!(eval("llvm.fshl.i8", 8, &[0x12, 0x34, 4]), v(0x23));
        assert_eq!(eval("llvm.fshr.i8", 8, &[0x12, 0x34, 4]), v(0x23));
        assert_eq!(eval("llvm.fshl.i8", 8, &[0x12, 0x34, 8]), v(0x12));
        assert_eq!(eval("llvm.fshr.i8", 8, &[0x12, 0x34, 8]), v(0x34));
        assert_eq!(eval("llvm.sadd.sat.i8", 8, &[0x7f, 1]), v(0x7f));
        assert_eq!(eval("llvm.ssub.sat.i8", 8, &[0x80, 1]), v(0x80));
        assert_eq!(eval("llvm.uadd.sat.i8", 8, &[0xff, 1]), v(0xff));
        assert_eq!(eval("llvm.usub.sat.i8", 8, &[0, 1]), v(0));
        assert_eq!(eval("llvm.sshl.sat.i8", 8, &[0xc0, 2]), v(0x80));
        assert_eq!(eval("llvm.ushl.sat.i8", 8, &[0xc0, 1]), v(0xff));
        assert_eq!(eval("llvm.scmp.i8.i8", 8, &[0xff, 1]), v(0xff));
        assert_eq!(eval("llvm.ptrmask.p0.i64", 64, &[0x1237, 0xfff0]), v(0x1230));
    }

    #[test]
    fn minimum_and_minnum_differ_on_nan() {
        let k = FloatKind::Float;
        let f = |x: f32| u128::from(x.to_bits());
        assert_eq!(min_max(k, f(f32::NAN), f(1.0), false, false), f(1.0));
        assert!(float::is_nan(k, min_max(k, f(f32::NAN), f(1.0), false, true)));
        assert_eq!(min_max(k, f(0.0), f(-0.0), false, true), f(-0.0));
        assert_eq!(min_max(k, f(0.0), f(-0.0), true, true), f(0.0));
        assert_eq!(min_max(k, f(2.0), f(3.0), true, false), f(3.0));
    }

    #[test]
    fn classes_of_numbers_have_llvms_bits() {
        let f = |x: f32| fp_class(FloatKind::Float, x.to_bits().into());
        assert_eq!(f(f32::NAN), 2);
        assert_eq!(fp_class(FloatKind::Float, 0x7fa0_0000), 1);
        assert_eq!(f(f32::NEG_INFINITY), 4);
        assert_eq!(f(-1.0), 8);
        assert_eq!(f(-1e-40), 16);
        assert_eq!(f(-0.0), 32);
        assert_eq!(f(0.0), 64);
        assert_eq!(f(1e-40), 128);
        assert_eq!(f(1.0), 256);
        assert_eq!(f(f32::INFINITY), 512);
    }

    #[test]
    fn scaling_rounds_once_into_the_subnormals() {
        assert_eq!(scale(1.5, 3), 12.0);
        assert_eq!(scale(1.0, -1074), f64::from_bits(1));
        assert_eq!(scale(1.0, 1023), power_of_two(1023));
        assert_eq!(scale(f64::from_bits(1), 2097), power_of_two(1023));
        assert_eq!(scale(1.5, -1074), f64::from_bits(2));
        assert_eq!(scale(1.0, 5000), f64::INFINITY);
    }

    #[test]
    fn names_are_found_with_and_without_type_suffixes() {
        for name in ["llvm.fma.v4f32", "expf", "exp", "llvm.exp.f64", "fmaxf", "llvm.vector.reduce.add.v8i32"]
        {
            assert!(lookup(name).is_some(), "{name}");
        }
        for name in ["llvm.coro.begin", "foo", "f", ""] {
            assert!(lookup(name).is_none(), "{name}");
        }
    }
}
