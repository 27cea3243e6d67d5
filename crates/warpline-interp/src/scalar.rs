//! One scalar at a time: integer arithmetic, comparisons and conversions, poison-exact.
//!
//! Undef. An operation with an undef operand (and no poison one) yields undef: the weakest result that LLVM
//! allows, and never more defined than LLVM's, which may know more (`and undef, 0`). Where LLVM makes
//! undefined operands undefined behaviour, so is this.

use super::float;
use super::trap::TrapKind;
use super::value::{Cell, State};
use warpline_ir::{BinaryOp, CastOp, FloatKind, FloatPred, InstFlags, IntPred, Scalar};

/// All ones in the low `width` bits (at most 128).
pub(super) fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// The low `width` bits.
pub(super) fn truncate(v: u128, width: u32) -> u128 {
    v & mask(width)
}

/// The signed number that the low `width` bits are.
pub(super) fn sign_extend(v: u128, width: u32) -> i128 {
    let shift = 128 - width.min(128);
    ((v << shift) as i128) >> shift
}

/// Poison if there is one, else undef if there is one, else nothing.
#[inline]
pub(super) fn propagate(cells: &[Cell]) -> Option<Cell> {
    if cells.iter().all(|c| c.is_defined()) {
        return None;
    }
    let poison = cells.iter().any(|c| c.state == State::Poison);
    Some(if poison { Cell::POISON } else { Cell::UNDEF })
}

/// Common operations without flags in 64 bits, where nothing can go wrong; `None` for others.
#[inline]
fn plain(op: BinaryOp, width: u32, a: Cell, b: Cell) -> Option<Cell> {
    let (x, y) = (a.bits as u64, b.bits as u64);
    let v = match op {
        BinaryOp::Add => x.wrapping_add(y),
        BinaryOp::Sub => x.wrapping_sub(y),
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor => x ^ y,
        _ => return None,
    };
    Some(Cell::new(u128::from(v & (u64::MAX >> (64 - width)))))
}

/// Integer arithmetic on `width` bits.
pub(super) fn int_binary(
    op: BinaryOp,
    flags: InstFlags,
    width: u32,
    a: Cell,
    b: Cell,
) -> Result<Cell, TrapKind> {
    if op.is_int_division() {
        return int_division(op, flags, width, a, b);
    }
    if let Some(c) = propagate(&[a, b]) {
        return Ok(c);
    }
    if flags.is_empty()
        && (1..=64).contains(&width)
        && let Some(c) = plain(op, width, a, b)
    {
        return Ok(c);
    }
    let (x, y) = (a.bits, b.bits);
    let (sx, sy) = (sign_extend(x, width), sign_extend(y, width));
    let fits_signed = |v: Option<i128>| v.is_some_and(|v| sign_extend(v as u128, width) == v);
    let fits_unsigned = |v: Option<u128>| v.is_some_and(|v| v <= mask(width));
    let mut poison = false;
    let result = match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
            let (wrapped, unsigned, signed) = match op {
                BinaryOp::Add => (x.wrapping_add(y), x.checked_add(y), sx.checked_add(sy)),
                BinaryOp::Sub => (x.wrapping_sub(y), x.checked_sub(y), sx.checked_sub(sy)),
                _ => (x.wrapping_mul(y), x.checked_mul(y), sx.checked_mul(sy)),
            };
            poison |= flags.contains(InstFlags::NUW) && !fits_unsigned(unsigned);
            poison |= flags.contains(InstFlags::NSW) && !fits_signed(signed);
            wrapped
        }
        BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr if y >= u128::from(width) => return Ok(Cell::POISON),
        BinaryOp::Shl => {
            let r = truncate(x << y, width);
            poison |= flags.contains(InstFlags::NUW) && r >> y != x;
            poison |= flags.contains(InstFlags::NSW) && sign_extend(r, width) >> y != sx;
            r
        }
        BinaryOp::LShr | BinaryOp::AShr => {
            poison |= flags.contains(InstFlags::EXACT) && x & ((1 << y) - 1) != 0;
            if op == BinaryOp::LShr { x >> y } else { (sx >> y) as u128 }
        }
        BinaryOp::And => x & y,
        BinaryOp::Or => {
            poison |= flags.contains(InstFlags::DISJOINT) && x & y != 0;
            x | y
        }
        BinaryOp::Xor => x ^ y,
        _ => return Err(TrapKind::Unsupported(format!("`{}` on integers", op.name()))),
    };
    Ok(if poison { Cell::POISON } else { Cell::new(truncate(result, width)) })
}

fn int_division(op: BinaryOp, flags: InstFlags, width: u32, a: Cell, b: Cell) -> Result<Cell, TrapKind> {
    let signed = matches!(op, BinaryOp::SDiv | BinaryOp::SRem);
    let Some(y) = b.defined() else { return Err(TrapKind::DivisionByUndefined(b.state)) };
    if y == 0 {
        return Err(TrapKind::DivisionByZero);
    }
    let minus_one = signed && y == mask(width);
    let Some(x) = a.defined() else {
        // It may be the least integer.
        return if minus_one { Err(TrapKind::DivisionByUndefined(a.state)) } else { Ok(a) };
    };
    if minus_one && x == 1 << (width - 1) {
        return Err(TrapKind::DivisionOverflow);
    }
    let (quotient, remainder) = if signed {
        let (sx, sy) = (sign_extend(x, width), sign_extend(y, width));
        ((sx / sy) as u128, (sx % sy) as u128)
    } else {
        (x / y, x % y)
    };
    if flags.contains(InstFlags::EXACT) && remainder != 0 {
        return Ok(Cell::POISON);
    }
    let is_quotient = matches!(op, BinaryOp::SDiv | BinaryOp::UDiv);
    Ok(Cell::new(truncate(if is_quotient { quotient } else { remainder }, width)))
}

/// Poison if a fast-math flag promises what `cells` do not keep, else the last of them.
pub(super) fn check_fast_math(flags: InstFlags, kind: FloatKind, cells: &[Cell]) -> Cell {
    let broken = |c: &Cell| {
        c.is_defined()
            && (flags.contains(InstFlags::NNAN) && float::is_nan(kind, c.bits)
                || flags.contains(InstFlags::NINF) && float::is_infinite(kind, c.bits))
    };
    match cells.last() {
        Some(_) if flags.intersects(InstFlags::NNAN | InstFlags::NINF) && cells.iter().any(broken) => {
            Cell::POISON
        }
        Some(&c) => c,
        None => Cell::POISON,
    }
}

/// Floating-point arithmetic.
pub(super) fn float_binary(op: BinaryOp, flags: InstFlags, kind: FloatKind, a: Cell, b: Cell) -> Cell {
    if let Some(c) = propagate(&[a, b]) {
        return c;
    }
    let r = Cell::new(float::binary(op, kind, a.bits, b.bits));
    check_fast_math(flags, kind, &[a, b, r])
}

/// Integer or address comparison.
pub(super) fn icmp(pred: IntPred, same_sign: bool, width: u32, a: Cell, b: Cell) -> Cell {
    if let Some(c) = propagate(&[a, b]) {
        return c;
    }
    let (x, y) = (a.bits, b.bits);
    let (sx, sy) = (sign_extend(x, width), sign_extend(y, width));
    if same_sign && (sx < 0) != (sy < 0) {
        return Cell::POISON;
    }
    Cell::bool(match pred {
        IntPred::Eq => x == y,
        IntPred::Ne => x != y,
        IntPred::Ugt => x > y,
        IntPred::Uge => x >= y,
        IntPred::Ult => x < y,
        IntPred::Ule => x <= y,
        IntPred::Sgt => sx > sy,
        IntPred::Sge => sx >= sy,
        IntPred::Slt => sx < sy,
        IntPred::Sle => sx <= sy,
    })
}

/// Floating-point comparison.
pub(super) fn fcmp(pred: FloatPred, flags: InstFlags, kind: FloatKind, a: Cell, b: Cell) -> Cell {
    if let Some(c) = propagate(&[a, b]) {
        return c;
    }
    if check_fast_math(flags, kind, &[a, b]).state == State::Poison {
        return Cell::POISON;
    }
    Cell::bool(float::compare(pred, kind, a.bits, b.bits))
}

/// The choice between two cells.
pub(super) fn select(cond: Cell, a: Cell, b: Cell) -> Cell {
    match cond.state {
        State::Poison => Cell::POISON,
        State::Undef if a == b => a,
        State::Undef if a.state == State::Poison || b.state == State::Poison => Cell::POISON,
        State::Undef => Cell::UNDEF,
        State::Defined if cond.bits & 1 == 1 => a,
        State::Defined => b,
    }
}

/// A conversion of one scalar. `from` and `to` are their widths where they are integers or pointers.
pub(super) fn cast(
    op: CastOp,
    flags: InstFlags,
    from: (Scalar, u32),
    to: (Scalar, u32),
    a: Cell,
) -> Result<Cell, TrapKind> {
    if let Some(c) = propagate(&[a]) {
        return Ok(c);
    }
    let (v, from_bits, to_bits) = (a.bits, from.1, to.1);
    let float_of = |s: Scalar| match s {
        Scalar::Float(k) if float::supported(k) => Ok(k),
        _ => Err(TrapKind::Unsupported(format!("`{}` of this type", op.name()))),
    };
    Ok(match op {
        CastOp::Trunc => {
            let r = truncate(v, to_bits);
            let lossy = flags.contains(InstFlags::NUW) && r != v
                || flags.contains(InstFlags::NSW) && sign_extend(r, to_bits) != sign_extend(v, from_bits);
            if lossy { Cell::POISON } else { Cell::new(r) }
        }
        CastOp::ZExt => match flags.contains(InstFlags::NNEG) && sign_extend(v, from_bits) < 0 {
            true => Cell::POISON,
            false => a,
        },
        CastOp::SExt => Cell::new(truncate(sign_extend(v, from_bits) as u128, to_bits)),
        CastOp::PtrToInt | CastOp::PtrToAddr | CastOp::IntToPtr | CastOp::AddrSpaceCast => {
            Cell::new(truncate(v, to_bits))
        }
        CastOp::Bitcast => a,
        CastOp::FpToUi | CastOp::FpToSi => {
            match float::to_int(float_of(from.0)?, v, to_bits, op == CastOp::FpToSi) {
                Some(v) => Cell::new(v),
                None => Cell::POISON,
            }
        }
        CastOp::UiToFp | CastOp::SiToFp => {
            let signed = op == CastOp::SiToFp;
            if !signed && flags.contains(InstFlags::NNEG) && sign_extend(v, from_bits) < 0 {
                return Ok(Cell::POISON);
            }
            Cell::new(float::from_int(float_of(to.0)?, v, from_bits, signed))
        }
        CastOp::FpTrunc | CastOp::FpExt => {
            let (from, to) = (float_of(from.0)?, float_of(to.0)?);
            let r = Cell::new(float::from_f64(to, float::to_f64(from, v)));
            if check_fast_math(flags, from, &[a]).state == State::Poison {
                return Ok(Cell::POISON);
            }
            check_fast_math(flags, to, &[r])
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(op: BinaryOp, flags: InstFlags, a: u128, b: u128) -> Cell {
        int_binary(op, flags, 8, Cell::new(a), Cell::new(b)).expect("no trap")
    }

    #[test]
    fn arithmetic_wraps_and_its_flags_make_poison_exactly_on_overflow() {
        let none = InstFlags::empty();
        for op in [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul] {
            for a in 0..256u128 {
                for b in 0..256u128 {
                    let (sa, sb) = (a as u8 as i8 as i32, b as u8 as i8 as i32);
                    let (ua, ub) = (a as i32, b as i32);
                    let (s, u) = match op {
                        BinaryOp::Add => (sa + sb, ua + ub),
                        BinaryOp::Sub => (sa - sb, ua - ub),
                        _ => (sa * sb, ua * ub),
                    };
                    assert_eq!(bin(op, none, a, b).bits, u as u8 as u128);
                    let nuw = bin(op, InstFlags::NUW, a, b);
                    assert_eq!(nuw.state == State::Poison, !(0..256).contains(&u), "{op:?} nuw {a} {b}");
                    let nsw = bin(op, InstFlags::NSW, a, b);
                    assert_eq!(nsw.state == State::Poison, !(-128..128).contains(&s), "{op:?} nsw {a} {b}");
                }
            }
        }
    }

    #[test]
    fn shifts_are_poison_beyond_the_width_and_where_flags_are_broken() {
        for op in [BinaryOp::Shl, BinaryOp::LShr, BinaryOp::AShr] {
            assert_eq!(bin(op, InstFlags::empty(), 1, 8), Cell::POISON);
            assert_eq!(bin(op, InstFlags::empty(), 1, 255), Cell::POISON);
        }
        assert_eq!(bin(BinaryOp::Shl, InstFlags::empty(), 0x81, 1), Cell::new(2));
        assert_eq!(bin(BinaryOp::Shl, InstFlags::NUW, 0x81, 1), Cell::POISON);
        assert_eq!(bin(BinaryOp::Shl, InstFlags::NSW, 0x40, 1), Cell::POISON);
        assert_eq!(bin(BinaryOp::Shl, InstFlags::NSW, 0xc0, 1), Cell::new(0x80));
        assert_eq!(bin(BinaryOp::AShr, InstFlags::empty(), 0x80, 7), Cell::new(0xff));
        assert_eq!(bin(BinaryOp::LShr, InstFlags::EXACT, 3, 1), Cell::POISON);
        assert_eq!(bin(BinaryOp::AShr, InstFlags::EXACT, 0xfe, 1), Cell::new(0xff));
        assert_eq!(bin(BinaryOp::Or, InstFlags::DISJOINT, 3, 1), Cell::POISON);
        assert_eq!(bin(BinaryOp::Or, InstFlags::DISJOINT, 2, 1), Cell::new(3));
    }

    #[test]
    fn divisions_trap_as_in_llvm() {
        let div = |op, a, b| int_binary(op, InstFlags::empty(), 8, a, b);
        let c = Cell::new;
        for op in [BinaryOp::UDiv, BinaryOp::SDiv, BinaryOp::URem, BinaryOp::SRem] {
            assert_eq!(div(op, c(1), c(0)), Err(TrapKind::DivisionByZero));
            assert_eq!(div(op, c(1), Cell::POISON), Err(TrapKind::DivisionByUndefined(State::Poison)));
            assert_eq!(div(op, Cell::POISON, c(2)), Ok(Cell::POISON));
        }
        assert_eq!(div(BinaryOp::SDiv, c(0x80), c(0xff)), Err(TrapKind::DivisionOverflow));
        assert_eq!(div(BinaryOp::SRem, c(0x80), c(0xff)), Err(TrapKind::DivisionOverflow));
        assert_eq!(div(BinaryOp::UDiv, c(0x80), c(0xff)), Ok(c(0)));
        assert_eq!(
            div(BinaryOp::SDiv, Cell::UNDEF, c(0xff)),
            Err(TrapKind::DivisionByUndefined(State::Undef))
        );
        assert_eq!(div(BinaryOp::SDiv, c(0xf9), c(2)), Ok(c(0xfd)), "-7 / 2 = -3");
        assert_eq!(div(BinaryOp::SRem, c(0xf9), c(2)), Ok(c(0xff)), "-7 rem 2 = -1");
        assert_eq!(int_binary(BinaryOp::SDiv, InstFlags::EXACT, 8, c(7), c(2)), Ok(Cell::POISON));
    }

    #[test]
    fn select_ignores_the_poison_it_does_not_choose() {
        let (a, b) = (Cell::new(1), Cell::new(2));
        assert_eq!(select(Cell::new(1), a, Cell::POISON), a);
        assert_eq!(select(Cell::ZERO, Cell::POISON, b), b);
        assert_eq!(select(Cell::POISON, a, a), Cell::POISON);
        assert_eq!(select(Cell::UNDEF, a, b), Cell::UNDEF);
        assert_eq!(select(Cell::UNDEF, a, a), a);
    }

    #[test]
    fn casts_keep_their_promises_or_yield_poison() {
        let int = |w| (Scalar::Int(w), w);
        let c = |op, flags, f, t, v| cast(op, flags, int(f), int(t), Cell::new(v)).expect("supported");
        assert_eq!(c(CastOp::Trunc, InstFlags::NUW, 16, 8, 0x100), Cell::POISON);
        assert_eq!(c(CastOp::Trunc, InstFlags::NSW, 16, 8, 0x80), Cell::POISON);
        assert_eq!(c(CastOp::Trunc, InstFlags::NSW, 16, 8, 0xff80), Cell::new(0x80));
        assert_eq!(c(CastOp::ZExt, InstFlags::NNEG, 8, 16, 0x80), Cell::POISON);
        assert_eq!(c(CastOp::SExt, InstFlags::empty(), 8, 16, 0x80), Cell::new(0xff80));
        assert_eq!(icmp(IntPred::Slt, true, 8, Cell::new(0x80), Cell::new(1)), Cell::POISON);
        assert_eq!(icmp(IntPred::Slt, false, 8, Cell::new(0x80), Cell::new(1)), Cell::new(1));
    }

    #[test]
    fn fast_math_flags_make_nan_and_infinity_poison() {
        let k = FloatKind::Float;
        let f = |x: f32| Cell::new(u128::from(x.to_bits()));
        let div = |flags, a, b| float_binary(BinaryOp::FDiv, flags, k, f(a), f(b));
        assert_eq!(div(InstFlags::NINF, 1.0, 0.0), Cell::POISON);
        assert_eq!(div(InstFlags::NNAN, 0.0, 0.0), Cell::POISON);
        assert_eq!(div(InstFlags::NNAN, 1.0, 0.0), f(f32::INFINITY));
        assert_eq!(fcmp(FloatPred::Oeq, InstFlags::NNAN, k, f(f32::NAN), f(0.0)), Cell::POISON);
    }
}
