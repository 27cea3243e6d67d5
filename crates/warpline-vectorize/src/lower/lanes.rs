//! Operations on lanes: of masks, and those that a kernel asks for.
//!
//! What inactive lanes hold is replaced by something that does no harm before lanes are combined, so that it never
//! gets out. Sums and products of floating-point numbers are made in the order of lanes.

use crate::VectorizeError;
use warpline_ir::{BinaryOp, CastOp, Combine, Constant, Effects, Inst, IntPred, LaneOp, Op, Type, Value};

use super::memory::mangle;
use super::{Lower, Rep};
use crate::recipes::{OfOneLane, Recipe};

/// The bits within which registers move elements in one short operation.
const BLOCK: u32 = 128;

impl Lower<'_> {
    /// Operations on lanes.
    pub(super) fn lane_op(&mut self, i: Inst) -> Result<(), VectorizeError> {
        let data = &self.src.insts[i];
        let Op::Lane(op) = data.op else { return Err(self.internal(i, "the recipe is one of lanes")) };
        let args = data.args.clone();
        let Some(result) = data.result() else {
            return Err(self.internal(i, "an operation across lanes has a result"));
        };
        let new = match op {
            LaneOp::LaneCount => self.out.int_const(32, u128::from(self.width)),
            LaneOp::LaneIndex => self.out.int_const(32, 0),
            LaneOp::BitOfLane => self.bits_of_lanes(args[0], i)?,
            LaneOp::Compact => return Err(self.internal(i, "a packed store has a recipe of its own")),
            LaneOp::MaskAny => self.mask_any(args[0], i)?,
            LaneOp::Any | LaneOp::All | LaneOp::Ballot | LaneOp::Popcount => {
                self.active_op(op, args[0], i)?
            }
            LaneOp::MaskAnd | LaneOp::MaskAndNot | LaneOp::MaskOr => {
                let scalar = self.reps[result].is_scalar();
                let a = if scalar { self.scalar(args[0], i)? } else { self.vector(args[0], i)? };
                let b = if scalar { self.scalar(args[1], i)? } else { self.vector(args[1], i)? };
                self.mask_op(op, a, b)
            }
            LaneOp::BlendAny if self.reps[result].is_scalar() => {
                let cond = self.mask_any(args[0], i)?;
                let a = self.scalar(args[1], i)?;
                let b = self.scalar(args[2], i)?;
                self.select(cond, a, b)
            }
            LaneOp::Blend if self.reps[args[0]] == Rep::Uniform => {
                let cond = self.scalar(args[0], i)?;
                let scalar = self.reps[result].is_scalar();
                let a = if scalar { self.scalar(args[1], i)? } else { self.vector(args[1], i)? };
                let b = if scalar { self.scalar(args[2], i)? } else { self.vector(args[2], i)? };
                self.select(cond, a, b)
            }
            LaneOp::Blend | LaneOp::BlendAny => {
                let cond = self.vector(args[0], i)?;
                let a = self.vector(args[1], i)?;
                let b = self.vector(args[2], i)?;
                self.select(cond, a, b)
            }
            LaneOp::Shuffle => self.lane_shuffle(&args, i)?,
            LaneOp::First => self.first_of_those(&args, i)?,
            LaneOp::Uniform => self.first_of_all(args[0], i)?,
            LaneOp::Insert => self.lane_insert(&args, i)?,
            LaneOp::Reduce(c) => self.lane_reduction(c, args[0], i)?,
            LaneOp::ScanExclusive(c) => self.scan(c, args[0], false, i)?,
            LaneOp::ScanInclusive(c) => self.scan(c, args[0], true, i)?,
        };
        self.define_lane_result(i, result, new)
    }

    /// Lane operations that the analysis has not seen as what they are still fit their representation.
    fn define_lane_result(&mut self, i: Inst, result: Value, new: Value) -> Result<(), VectorizeError> {
        let vector_made = matches!(self.out.ty(new), Type::Vector(_));
        if vector_made == self.reps[result].is_scalar() && self.src.ty(result).scalar().is_some() {
            if vector_made {
                return Err(self.internal(i, "a lane operation differs from its shape"));
            }
            let splat = match self.src.insts[i].op {
                Op::Lane(LaneOp::LaneIndex) => self.steps(32, 1),
                _ => self.splat(new, i)?,
            };
            self.define(result, splat);
            return Ok(());
        }
        self.define(result, new);
        Ok(())
    }

    fn mask_op(&mut self, op: LaneOp, a: Value, b: Value) -> Value {
        let ty = self.out.ty(a);
        let width = match ty {
            Type::Vector(_) => self.width as usize,
            _ => 1,
        };
        let constant = |x: bool| match width {
            1 if !matches!(ty, Type::Vector(_)) => Constant::bool(x),
            n => Constant::vector(vec![Constant::bool(x); n]),
        };
        let no = self.out.constant_value(constant(false));
        let yes = self.out.constant_value(constant(true));
        match op {
            LaneOp::MaskOr => self.emit(Op::Binary(BinaryOp::Or), &[a, b], ty),
            LaneOp::MaskAnd => self.emit(Op::Select, &[a, b, no], ty),
            _ => {
                let not = self.emit(Op::Binary(BinaryOp::Xor), &[b, yes], ty);
                self.emit(Op::Select, &[a, not, no], ty)
            }
        }
    }

    /// Whether a mask has any lane.
    fn mask_any(&mut self, m: Value, at: Inst) -> Result<Value, VectorizeError> {
        if self.reps[m] == Rep::Uniform {
            return self.scalar(m, at);
        }
        if let Recipe::AnyOfOne(comparisons) = self.plan.recipe(at) {
            return self.any_by_one_lane(comparisons, at);
        }
        let mask = self.vector(m, at)?;
        Ok(self.any_of(mask))
    }

    /// Whether any lane is in a mask, of which nothing is computed in vectors.
    fn any_by_one_lane(&mut self, found: &[OfOneLane], at: Inst) -> Result<Value, VectorizeError> {
        let mut any = None;
        for &OfOneLane { pred, left, right, lane } in found {
            let (left, right) = (self.lane(left, lane, at)?, self.scalar(right, at)?);
            let one = self.emit(Op::ICmp(pred), &[left, right], Type::BOOL);
            any = Some(match any {
                Some(others) => self.emit(Op::Binary(BinaryOp::Or), &[others, one], Type::BOOL),
                None => one,
            });
        }
        any.ok_or_else(|| self.internal(at, "no comparison tells whether there is a lane"))
    }

    /// What a kernel asks of its active lanes.
    fn active_op(&mut self, op: LaneOp, c: Value, at: Inst) -> Result<Value, VectorizeError> {
        let mask = self.mask_vector(at)?;
        if op == LaneOp::Any && mask.is_none() {
            return self.mask_any(c, at);
        }
        if let (LaneOp::Any, Some(mask), Rep::Uniform) = (op, mask, self.reps[c]) {
            let cond = self.scalar(c, at)?;
            let any = self.any_of(mask);
            let no = self.out.bool_const(false);
            return Ok(self.emit(Op::Select, &[any, cond, no], Type::BOOL));
        }
        let cond = self.vector(c, at)?;
        let ty = self.mask_type();
        let all = self.out.constant_value(Constant::vector(vec![Constant::bool(true); self.width as usize]));
        let none = self.out.constant_value(Constant::Zero(ty));
        let masked = |this: &mut Self, cond: Value| match mask {
            Some(m) => this.emit(Op::Select, &[m, cond, none], ty),
            None => cond,
        };
        Ok(match op {
            LaneOp::Any => {
                let set = masked(self, cond);
                self.any_of(set)
            }
            LaneOp::All => {
                let not = self.emit(Op::Binary(BinaryOp::Xor), &[cond, all], ty);
                let set = masked(self, not);
                let any = self.any_of(set);
                let yes = self.out.bool_const(true);
                self.emit(Op::Binary(BinaryOp::Xor), &[any, yes], Type::BOOL)
            }
            _ => {
                let set = masked(self, cond);
                if op == LaneOp::Ballot { self.mask_bits_64(set) } else { self.count_lanes(set) }
            }
        })
    }

    /// The condition in active lanes, false in others.
    pub(super) fn among_active(&mut self, condition: Value, at: Inst) -> Result<Value, VectorizeError> {
        let condition = self.vector(condition, at)?;
        let Some(mask) = self.mask_vector(at)? else { return Ok(condition) };
        let ty = self.mask_type();
        let none = self.out.constant_value(Constant::Zero(ty));
        Ok(self.emit(Op::Select, &[mask, condition, none], ty))
    }

    /// A mask vector as 64 bits.
    pub(super) fn mask_bits_64(&mut self, mask: Value) -> Value {
        let bits = self.mask_bits(mask);
        if self.width == 64 { bits } else { self.emit(Op::Cast(CastOp::ZExt), &[bits], Type::Int(64)) }
    }

    /// Bit *k* in lane *k*.
    fn bits_of_lanes(&mut self, bits: Value, at: Inst) -> Result<Value, VectorizeError> {
        let mask = self.mask_type();
        if self.reps[bits] == Rep::Uniform {
            let bits = self.scalar(bits, at)?;
            if !self.mask_registers {
                return Ok(self.bits_of_vectors(bits));
            }
            let width = Type::Int(self.width);
            let those =
                if self.width == 64 { bits } else { self.emit(Op::Cast(CastOp::Trunc), &[bits], width) };
            return Ok(self.emit(Op::Cast(CastOp::Bitcast), &[those], mask));
        }
        let (bits, lanes) = (self.vector(bits, at)?, self.steps(64, 1));
        let ty = self.out.ty(bits);
        let low = self.emit(Op::Binary(BinaryOp::LShr), &[bits, lanes], ty);
        Ok(self.emit(Op::Cast(CastOp::Trunc), &[low], mask))
    }

    /// The same where masks are vectors: each lane has the byte that its bit is in, and looks at that bit. Code
    /// generation makes of a number as a vector of truth values one bit after the other.
    fn bits_of_vectors(&mut self, bits: Value) -> Value {
        let vector = |n: u32| Type::Int(8).vector(n).expect("an integer is a scalar");
        let (number, lanes) = (vector(8), vector(self.width));
        let bytes = self.emit(Op::Cast(CastOp::Bitcast), &[bits], number);
        let nothing = self.out.poison(number);
        let of_lane = (0..self.width as i32).map(|lane| lane / 8).collect();
        let own = self.emit(Op::Shuffle(of_lane), &[bytes, nothing], lanes);
        let bit = (0..self.width).map(|lane| Constant::int(8, 1 << (lane % 8))).collect();
        let bit = self.out.constant_value(Constant::vector(bit));
        let kept = self.emit(Op::Binary(BinaryOp::And), &[own, bit], lanes);
        let mask = self.mask_type();
        self.emit(Op::ICmp(IntPred::Eq), &[kept, bit], mask)
    }

    /// How many lanes of a mask vector are set, as `i32`.
    pub(super) fn count_lanes(&mut self, mask: Value) -> Value {
        let bits = self.mask_bits_64(mask);
        let count = self
            .call_named("llvm.ctpop.i64", &[bits], Type::Int(64), Effects::empty())
            .expect("an intrinsic with a result");
        self.emit(Op::Cast(CastOp::Trunc), &[count], Type::Int(32))
    }

    /// Whether an instruction was not put there by the vectorizer, but for the φs.
    pub(super) fn is_own(&self, i: Inst) -> bool {
        !matches!(&self.src.insts[i].op, Op::Lane(op) if op.is_of_masks())
    }

    /// Tells a function how many lanes are active in the present block, before an instruction of it.
    pub(super) fn tell_lanes(&mut self, name: &str, before: Inst) -> Result<(), VectorizeError> {
        let count = match self.mask_vector(before)? {
            Some(mask) => {
                let bits = self.mask_bits_64(mask);
                self.call_named("llvm.ctpop.i64", &[bits], Type::Int(64), Effects::empty())
                    .expect("an intrinsic with a result")
            }
            None => self.out.int_const(64, u128::from(self.width)),
        };
        self.call_named(name, &[count], Type::Void, Effects::UNKNOWN);
        Ok(())
    }

    /// The value of the first active lane in which a condition holds, zero if there is none.
    fn first_of_those(&mut self, args: &[Value], at: Inst) -> Result<Value, VectorizeError> {
        let ty = self.src.ty(args[0]);
        let those = self.among_active(args[1], at)?;
        let any = self.any_of(those);
        let found = if self.reps[args[0]] == Rep::Uniform {
            self.scalar(args[0], at)?
        } else {
            let x = self.vector(args[0], at)?;
            let lane = self.first_set(those);
            self.extract_at(x, ty, lane)
        };
        let zero = self.out.constant_value(Constant::Zero(ty));
        Ok(self.emit(Op::Select, &[any, found, zero], ty))
    }

    /// The value of the first active lane, which is that of all.
    fn first_of_all(&mut self, x: Value, at: Inst) -> Result<Value, VectorizeError> {
        if self.reps[x] == Rep::Uniform {
            return self.scalar(x, at);
        }
        let ty = self.src.ty(x);
        let all = self.vector(x, at)?;
        self.first_active(all, ty, at)
    }

    /// The value of the lane that each lane asks for, zero if there is none or it is not active.
    fn lane_shuffle(&mut self, args: &[Value], at: Inst) -> Result<Value, VectorizeError> {
        let ty = self.src.ty(args[0]);
        let x = self.vector(args[0], at)?;
        let active = self.mask_vector(at)?.map(|mask| self.mask_bits_64(mask));
        let scalar = self.reps[args[1]] == Rep::Uniform;
        let asked = if scalar { self.scalar(args[1], at)? } else { self.vector(args[1], at)? };
        let form = |ty: Type, width: u32| if scalar { ty } else { ty.vector(width).unwrap_or(ty) };
        let (bools, words) = (form(Type::BOOL, self.width), form(Type::Int(64), self.width));

        let count = self.spread(Constant::int(32, u128::from(self.width)), scalar);
        let mut there = self.emit(Op::ICmp(IntPred::Ult), &[asked, count], bools);
        let first = self.spread(Constant::int(32, 0), scalar);
        let asked_ty = self.out.ty(asked);
        let lane = self.emit(Op::Select, &[there, asked, first], asked_ty);
        if let Some(active) = active {
            let bits = if scalar { active } else { self.splat(active, at)? };
            let by = self.emit(Op::Cast(CastOp::ZExt), &[lane], words);
            let bit = self.emit(Op::Binary(BinaryOp::LShr), &[bits, by], words);
            let bit = self.emit(Op::Cast(CastOp::Trunc), &[bit], bools);
            there = self.emit(Op::Binary(BinaryOp::And), &[there, bit], bools);
        }
        let found = match scalar {
            true => self.extract_at(x, ty, lane),
            false => self.permuted(x, ty, lane),
        };
        let zero = self.spread(Constant::number(ty, 0), scalar);
        let found_ty = self.out.ty(found);
        Ok(self.emit(Op::Select, &[there, found, zero], found_ty))
    }

    /// Element `lanes[k]` of a vector in lane *k*; code generation knows the pattern where the machine has an
    /// instruction for it.
    fn permuted(&mut self, x: Value, ty: Type, lanes: Value) -> Value {
        let vector = self.out.ty(x);
        let mut all = self.out.poison(vector);
        for k in 0..self.width {
            let lane = self.extract_lane(lanes, Type::Int(32), k);
            let element = self.extract_at(x, ty, lane);
            all = self.insert_lane(all, element, k);
        }
        all
    }

    /// A constant as a scalar or as a vector.
    fn spread(&mut self, c: Constant, scalar: bool) -> Value {
        let c = if scalar { c } else { Constant::vector(vec![c; self.width as usize]) };
        self.out.constant_value(c)
    }

    fn lane_insert(&mut self, args: &[Value], at: Inst) -> Result<Value, VectorizeError> {
        let (x, lane, y) = (self.vector(args[0], at)?, self.vector(args[1], at)?, self.vector(args[2], at)?);
        let numbers = self.steps(32, 1);
        let bools = self.mask_type();
        let here = self.emit(Op::ICmp(IntPred::Eq), &[lane, numbers], bools);
        Ok(self.select(here, y, x))
    }

    /// The vector of a value in which inactive lanes hold the neutral element.
    fn neutralised(&mut self, c: Combine, x: Value, at: Inst) -> Result<Value, VectorizeError> {
        let elem = self.src.ty(x);
        let x = self.vector(x, at)?;
        let Some(mask) = self.mask_vector(at)? else { return Ok(x) };
        let neutral = self.spread(Constant::number(elem, c.neutral(elem)), false);
        Ok(self.select(mask, x, neutral))
    }

    fn lane_reduction(&mut self, c: Combine, x: Value, at: Inst) -> Result<Value, VectorizeError> {
        let elem = self.src.ty(x);
        let x = self.neutralised(c, x, at)?;
        let vector = mangle(self.out.ty(x));
        let mut args = vec![x];
        if c.is_in_order(elem) {
            args.insert(0, self.out.constant_value(Constant::number(elem, c.neutral(elem))));
        }
        let name = match (c, elem.is_float()) {
            (Combine::Add, true) => "fadd",
            (Combine::Mul, true) => "fmul",
            (Combine::Min, true) => "fminimum",
            (Combine::Max, true) => "fmaximum",
            (Combine::Min, false) => "smin",
            (Combine::Max, false) => "smax",
            (Combine::UMin, _) => "umin",
            (Combine::UMax, _) => "umax",
            (Combine::Add, false) => "add",
            (Combine::Mul, false) => "mul",
            (Combine::And, _) => "and",
            (Combine::Or, _) => "or",
            (Combine::Xor, _) => "xor",
        };
        let name = format!("llvm.vector.reduce.{name}.{vector}");
        Ok(self.call_named(&name, &args, elem, Effects::empty()).expect("a reduction has a result"))
    }

    fn scan(&mut self, c: Combine, x: Value, inclusive: bool, at: Inst) -> Result<Value, VectorizeError> {
        let elem = self.src.ty(x);
        let x = self.neutralised(c, x, at)?;
        Ok(self.scan_of(c, x, elem, inclusive))
    }

    /// What the lanes before each one hold combined, with its own if `inclusive`. Inactive lanes hold the neutral
    /// element.
    pub(super) fn scan_of(&mut self, c: Combine, x: Value, elem: Type, inclusive: bool) -> Value {
        if c.is_in_order(elem) {
            return self.scan_in_order(c, x, elem, inclusive);
        }
        let neutral = self.spread(Constant::number(elem, c.neutral(elem)), false);
        // Within blocks lanes move up (Kogge and Stone), between blocks the last lane of what is done goes to all of
        // the next (Sklansky): registers move lanes at once within their blocks alone.
        let bits = elem.scalar().map_or(BLOCK, |scalar| self.module.layout.scalar_bits(scalar));
        let of_block = (BLOCK / bits.max(8)).clamp(1, self.width);
        let width = self.width as i32;
        let mut all = x;
        let mut done = 1;
        while done < self.width {
            let (by, block) = (done as i32, of_block as i32);
            let from = |k: i32| match done < of_block {
                true if k % block >= by => k - by,
                false if k / by % 2 == 1 => k / by * by - 1,
                _ => width + k,
            };
            let mask: Vec<i32> = (0..width).map(from).collect();
            let ty = self.out.ty(all);
            let earlier = self.emit(Op::Shuffle(mask.into()), &[all, neutral], ty);
            all = self.combine(c, earlier, all);
            done *= 2;
        }
        if inclusive { all } else { self.moved_up(all, neutral, 1) }
    }

    /// Lane *k − by* of a vector in lane *k*, and lanes of `rest` where there is none.
    fn moved_up(&mut self, x: Value, rest: Value, by: u32) -> Value {
        let ty = self.out.ty(x);
        let (by, width) = (by as i32, self.width as i32);
        let mask: Vec<i32> = (0..width).map(|k| if k < by { width + k } else { k - by }).collect();
        self.emit(Op::Shuffle(mask.into()), &[x, rest], ty)
    }

    fn scan_in_order(&mut self, c: Combine, x: Value, elem: Type, inclusive: bool) -> Value {
        let start = if inclusive { c.neutral(elem) } else { c.beginning(elem) };
        let mut so_far = self.out.constant_value(Constant::number(elem, start));
        let vector = self.out.ty(x);
        let mut all = self.out.poison(vector);
        for k in 0..self.width {
            let own = self.extract_lane(x, elem, k);
            let with_own = self.combine(c, so_far, own);
            all = self.insert_lane(all, if inclusive { with_own } else { so_far }, k);
            so_far = with_own;
        }
        all
    }

    /// Two scalars or vectors combined, element by element.
    fn combine(&mut self, c: Combine, a: Value, b: Value) -> Value {
        let ty = self.out.ty(a);
        let float = ty.elem().is_some_and(|s| Type::from(s).is_float());
        let binary = |int, real| if float { real } else { int };
        let op = match c {
            Combine::Add => Some(binary(BinaryOp::Add, BinaryOp::FAdd)),
            Combine::Mul => Some(binary(BinaryOp::Mul, BinaryOp::FMul)),
            Combine::And => Some(BinaryOp::And),
            Combine::Or => Some(BinaryOp::Or),
            Combine::Xor => Some(BinaryOp::Xor),
            Combine::Min | Combine::Max | Combine::UMin | Combine::UMax => None,
        };
        if let Some(op) = op {
            return self.emit(Op::Binary(op), &[a, b], ty);
        }
        let name = match (c, float) {
            (Combine::Min, true) => "minimum",
            (Combine::Min, false) => "smin",
            (Combine::UMin, _) => "umin",
            (Combine::UMax, _) => "umax",
            (_, true) => "maximum",
            (_, false) => "smax",
        };
        let name = format!("llvm.{name}.{}", mangle(ty));
        self.call_named(&name, &[a, b], ty, Effects::empty()).expect("an intrinsic with a result")
    }
}
