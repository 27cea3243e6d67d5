//! Selections that programs write as arithmetic on masks made of signs.
//!
//! Code for processors on which branches were dear is full of
//!
//! ```text
//!   d = a - b;  m = d >> 8;                       // all ones if a < b, else zero: both are bytes
//!   (d & ~m) | (-d & m)   b + (d & ~m)   a - (d & ~m)   d & ~m
//! ```
//!
//! which are the distance of two bytes, their greater, their smaller, and what one exceeds the other by. Here a shift
//! of a sign becomes a comparison, and what masks and joins becomes `select`, which the rest of the vectorizer knows:
//! reductions of minima and maxima, narrowing, `psadbw`.
//!
//! A shift by fewer bits than up to the sign makes a mask only of numbers of few bits. Whether it does may rest on what
//! other masks select, as in `m = max(a[i], m)`, where `m` is a byte if it was one before. So all masks are taken for
//! what they look like, in a copy, and the [ranges](crate::narrow::Bounds) of the copy must then say so of each: up to
//! the first place where a mask would be none, copy and original compute the same, and the ranges exclude that place.
//! Masks of which they do not say it are given up, and it is tried again without them.

use std::collections::{HashMap, HashSet};

use warpline_ir::{BinaryOp, Block, CastOp, Function, Inst, InstFlags, IntPred, Module, Op, Type, Value};

use crate::VectorizeError;
use crate::narrow::{Bounds, mask, operands};
use crate::pass::{Context, Unit};
use crate::unused;

/// The pass.
pub(crate) fn run(unit: &mut Unit, cx: &Context<'_>) -> Result<bool, VectorizeError> {
    Ok(settle(cx.module, &mut unit.func))
}

/// Makes selections of what is computed with masks of signs. Whether there were any.
pub(crate) fn settle(module: &Module, func: &mut Function) -> bool {
    if !may_have_masks(func) {
        return false;
    }
    let mut refuted = HashSet::new();
    loop {
        let mut rewriter = Rewriter {
            func: func.clone(),
            refuted: &refuted,
            forms: HashMap::new(),
            selected: HashMap::new(),
            claims: vec![],
        };
        if !rewriter.rewrite() {
            return false;
        }
        let Rewriter { func: rewritten, claims, .. } = rewriter;
        let bounds = Bounds::of(module, &rewritten, &[]);
        let wrong: Vec<Inst> = claims.iter().filter(|c| !c.holds(&bounds)).map(|c| c.shift).collect();
        if wrong.is_empty() {
            *func = rewritten;
            unused::remove(module, func, &[]);
            return true;
        }
        refuted.extend(wrong);
    }
}

/// Whether a function shifts numbers to the right or extends conditions, of which masks are made.
fn may_have_masks(func: &Function) -> bool {
    func.layout.iter().flat_map(|&b| func.block_insts(b)).any(|i| {
        let data = &func.insts[i];
        match data.op {
            Op::Binary(BinaryOp::AShr | BinaryOp::LShr) => func.as_int(data.args[1]).is_some(),
            Op::Cast(CastOp::SExt) => func.ty(data.args[0]) == Type::BOOL,
            _ => false,
        }
    })
}

/// How deep two expressions are compared.
const MAX_DEPTH: u32 = 4;
/// How many terms sums may have that are looked at.
const MAX_TERMS: usize = 8;

/// What must hold for a shift to make a mask, and for a comparison to stand for the sign of a difference.
struct Claim {
    shift: Inst,
    /// The number that is shifted, and by how many bits.
    shifted: (Value, u32),
    /// The numbers whose difference it is, where the program does not say that it does not wrap.
    apart: Option<[Value; 2]>,
}

impl Claim {
    fn holds(&self, bounds: &Bounds<'_>) -> bool {
        let (v, by) = self.shifted;
        (by + 1 == bounds.width(v) || bounds.fits_signed(v, by + 1))
            && self.apart.is_none_or(|pair| pair.into_iter().all(|v| bounds.has_room(v)))
    }
}

/// One side of a selection.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Part {
    Zero,
    Ones,
    Is(Value),
    /// The low bits of a wider value.
    Low(Value),
    /// The negated value.
    Minus(Value),
    /// All bits the other way, and one less: half of a negation.
    Not(Value),
    Less(Value),
}

/// What the low bits of a value are: one part if a condition holds, else the other.
#[derive(Copy, Clone, Debug)]
struct Choice {
    condition: Value,
    parts: [Part; 2],
    /// Of how many bits that is said: a logical shift makes a mask of those that are left.
    bits: u32,
}

impl Choice {
    fn map(self, f: impl Fn(Part) -> Option<Part>) -> Option<Choice> {
        let [yes, no] = self.parts.map(f);
        Some(Choice { parts: [yes?, no?], ..self })
    }

    /// What an operation makes of two choices by one condition.
    fn with(self, other: Choice, f: impl Fn(Part, Part) -> Option<Part>) -> Option<Choice> {
        let [yes, no] = [0, 1].map(|k| f(self.parts[k], other.parts[k]));
        let bits = self.bits.min(other.bits);
        (self.condition == other.condition).then_some(Choice { parts: [yes?, no?], bits, ..self })
    }
}

/// A term of a sum.
struct Term {
    is_negative: bool,
    value: Value,
}

impl Term {
    /// How it is added.
    fn op(&self) -> Op {
        Op::Binary(if self.is_negative { BinaryOp::Sub } else { BinaryOp::Add })
    }
}

struct Rewriter<'a> {
    func: Function,
    /// Shifts that make no masks.
    refuted: &'a HashSet<Inst>,
    forms: HashMap<Value, Choice>,
    /// The selections that were made, by block, condition and what is selected.
    selected: HashMap<(Block, Value, Value, Value), Value>,
    claims: Vec<Claim>,
}

impl Rewriter<'_> {
    /// Rewrites all that is computed with masks. Whether there is any.
    fn rewrite(&mut self) -> bool {
        let mut changed = false;
        for b in self.func.layout.clone() {
            for i in self.func.block_insts(b).collect::<Vec<Inst>>() {
                let of_numbers = |v: &Value| matches!(self.func.ty(*v), Type::Int(2..=64));
                let Some(v) = self.func.insts[i].result().filter(of_numbers) else { continue };
                self.turn_negated_difference(i, v);
                changed |= self.regroup(i, v);
                let Some(choice) = self.mask(i, v).or_else(|| self.computed(i, v)) else { continue };
                self.forms.insert(v, choice);
                changed |= self.select(i, v, choice);
            }
        }
        changed
    }

    /// Makes an instruction a selection, but for masks and halves of negations, which are left to those that use them.
    fn select(&mut self, i: Inst, made: Value, choice: Choice) -> bool {
        let is_mask = choice.parts.iter().all(|p| matches!(p, Part::Zero | Part::Ones));
        let is_half = choice.parts.iter().any(|p| matches!(p, Part::Not(_) | Part::Less(_)));
        let bits = self.func.ty(made).int_bits().unwrap_or(64);
        if is_mask || is_half || choice.bits < bits {
            return false;
        }
        let wider = self.width_of_parts(choice.parts);
        let selected = choice.parts.map(|part| self.part(i, part, (bits, wider)));
        let args = [choice.condition, selected[0], selected[1]];
        let (op, args) = match wider {
            // What is clamped to few bits is known as that while it is wide.
            Some(wide) => {
                let wide = self.before(i, Op::Select, &args, Type::Int(wide));
                (Op::Cast(CastOp::Trunc), vec![wide])
            }
            None => (Op::Select, args.to_vec()),
        };
        if wider.is_none() {
            let key = (self.func.insts[i].block, choice.condition, selected[0], selected[1]);
            self.selected.insert(key, made);
        }
        let data = &mut self.func.insts[i];
        data.op = op;
        data.args = args.into_iter().collect();
        data.flags = InstFlags::empty();
        true
    }

    /// The width of the values of which parts are the low bits, if all that are no constants are such, of one width.
    fn width_of_parts(&self, parts: [Part; 2]) -> Option<u32> {
        let mut widths =
            parts.iter().filter(|p| !matches!(p, Part::Zero | Part::Ones)).map(|part| match part {
                Part::Low(v) => self.func.ty(*v).int_bits(),
                _ => None,
            });
        let first = widths.next()??;
        widths.all(|w| w == Some(first)).then_some(first)
    }

    /// The value of a part, for an instruction of so many bits, or of more of which the upper ones do not count.
    fn part(&mut self, i: Inst, part: Part, (bits, wider): (u32, Option<u32>)) -> Value {
        let ty = Type::Int(bits);
        match part {
            Part::Ones => self.func.int_const(wider.unwrap_or(bits), mask(bits)),
            Part::Is(v) => v,
            Part::Low(v) if wider.is_some() => v,
            Part::Low(v) => self.before(i, Op::Cast(CastOp::Trunc), &[v], ty),
            Part::Minus(v) => {
                let zero = self.func.int_const(bits, 0);
                let [x, y] = self.difference_of(v).map_or([zero, v], |[a, b]| [b, a]);
                self.before(i, Op::Binary(BinaryOp::Sub), &[x, y], ty)
            }
            Part::Zero | Part::Not(_) | Part::Less(_) => self.func.int_const(wider.unwrap_or(bits), 0),
        }
    }

    /// A new instruction in front of another.
    fn before(&mut self, i: Inst, op: Op, args: &[Value], ty: Type) -> Value {
        self.func.insert_value_before(i, op, args, ty, InstFlags::empty())
    }

    /// `0 - (a - b)` becomes `b - a`.
    fn turn_negated_difference(&mut self, i: Inst, v: Value) {
        let Some([_, d]) =
            self.binary(v, BinaryOp::Sub).filter(|&[zero, _]| self.func.as_int(zero) == Some(0))
        else {
            return;
        };
        let (Some([a, b]), Some(inner)) = (self.binary(d, BinaryOp::Sub), self.func.def_inst(d)) else {
            return;
        };
        let exact = self.func.insts[i].flags & self.func.insts[inner].flags & InstFlags::NSW;
        let data = &mut self.func.insts[i];
        data.args = [b, a].into_iter().collect();
        data.flags = exact;
    }

    /// Puts the terms of a sum together again that were reassociated around a selection: `a - ((c ? a - b : 0) + y)`
    /// becomes `(c ? b : a) - y`, and `(s + (c ? x : 0)) + (c ? 0 : y)` becomes `s + (c ? x : y)`.
    fn regroup(&mut self, i: Inst, v: Value) -> bool {
        let mut terms = Vec::new();
        self.terms(v, false, MAX_DEPTH, &mut terms);
        if !(3..=MAX_TERMS).contains(&terms.len()) {
            return false;
        }
        let before = terms.len();
        while let Some((k, other, choice)) = self.pair(&terms) {
            let joined = Term { is_negative: terms[other].is_negative, value: self.selection(i, choice) };
            terms.remove(k.max(other));
            terms.remove(k.min(other));
            terms.push(joined);
        }
        terms.sort_by_key(|t| t.is_negative);
        match &terms[..] {
            [first, middle @ .., last] if terms.len() < before && !first.is_negative => {
                let ty = self.func.ty(v);
                let sum =
                    middle.iter().fold(first.value, |sum, t| self.before(i, t.op(), &[sum, t.value], ty));
                let data = &mut self.func.insts[i];
                data.op = last.op();
                data.args = [sum, last.value].into_iter().collect();
                data.flags = InstFlags::empty();
                true
            }
            _ => false,
        }
    }

    /// The terms of a sum.
    fn terms(&self, v: Value, is_negative: bool, depth: u32, terms: &mut Vec<Term>) {
        let goes_on = depth > 0 && !self.forms.contains_key(&v);
        let of = |op: BinaryOp| if goes_on { self.binary(v, op) } else { None };
        let sum = of(BinaryOp::Add).map(|args| (args, false));
        match sum.or_else(|| of(BinaryOp::Sub).map(|args| (args, true))) {
            Some(([x, y], subtracts)) => {
                self.terms(x, is_negative, depth - 1, terms);
                self.terms(y, is_negative != subtracts, depth - 1, terms);
            }
            None => terms.push(Term { is_negative, value: v }),
        }
    }

    /// Two terms that are one selection: a selection by its place, the other one, and what comes of them.
    fn pair(&mut self, terms: &[Term]) -> Option<(usize, usize, Choice)> {
        for (k, chosen) in terms.iter().enumerate() {
            let Some(&form) = self.forms.get(&chosen.value) else { continue };
            for (other, term) in terms.iter().enumerate().filter(|&(other, _)| other != k) {
                let is_same = term.is_negative == chosen.is_negative;
                let of_both =
                    self.forms.get(&term.value).and_then(|&o| form.with(o, join).filter(|_| is_same));
                let found = of_both.or_else(|| match is_same {
                    true => self.sum(term.value, chosen.value),
                    false => self.difference(term.value, chosen.value),
                });
                let is_whole = |choice: &Choice| {
                    let bits = self.func.ty(term.value).int_bits().unwrap_or(64);
                    choice.bits >= bits
                        && choice.parts.iter().all(|p| matches!(p, Part::Is(_) | Part::Minus(_)))
                };
                if let Some(choice) = found.filter(is_whole) {
                    return Some((k, other, choice));
                }
            }
        }
        None
    }

    /// A selection of parts that are as wide as an instruction, in front of it.
    fn selection(&mut self, i: Inst, choice: Choice) -> Value {
        let bits = choice.bits;
        let [yes, no] = choice.parts.map(|part| self.part(i, part, (bits, None)));
        let key = (self.func.insts[i].block, choice.condition, yes, no);
        if let Some(&made) = self.selected.get(&key) {
            return made;
        }
        let made = self.before(i, Op::Select, &[choice.condition, yes, no], Type::Int(bits));
        self.selected.insert(key, made);
        made
    }

    /// The mask that a shift to the right makes of a sign, or an extension of a condition.
    fn mask(&mut self, i: Inst, made: Value) -> Option<Choice> {
        let data = &self.func.insts[i];
        let parts = [Part::Ones, Part::Zero];
        if let (Op::Cast(CastOp::SExt), &[c]) = (&data.op, &data.args[..]) {
            let bits = self.func.ty(made).int_bits()?;
            return (self.func.ty(c) == Type::BOOL).then_some(Choice { condition: c, parts, bits });
        }
        let arithmetic = self.binary(made, BinaryOp::AShr);
        let [v, by] = arithmetic.or_else(|| self.binary(made, BinaryOp::LShr))?;
        let (width, by) = (self.func.ty(v).int_bits()?, u32::try_from(self.func.as_int(by)?).ok()?);
        (by < width && !self.refuted.contains(&i)).then_some(())?;
        // A shift of what is no difference by few bits is a division more often than a mask.
        let difference = self.difference_of(v);
        (difference.is_some() || arithmetic.is_some() && by + 1 == width).then_some(())?;
        let zero = self.func.int_const(width, 0);
        let exact = self.func.def_inst(v).is_some_and(|d| self.func.insts[d].flags.contains(InstFlags::NSW));
        self.claims.push(Claim { shift: i, shifted: (v, by), apart: difference.filter(|_| !exact) });
        let compared = difference.unwrap_or([v, zero]);
        let condition = self.before(i, Op::ICmp(IntPred::Slt), &compared, Type::BOOL);
        let bits = if arithmetic.is_some() { width } else { width - by };
        Some(Choice { condition, parts, bits })
    }

    fn binary(&self, v: Value, op: BinaryOp) -> Option<[Value; 2]> {
        operands(&self.func, v, op)
    }

    /// The numbers whose difference a value is; that to a constant is a sum.
    fn difference_of(&mut self, v: Value) -> Option<[Value; 2]> {
        if let Some(pair) = self.binary(v, BinaryOp::Sub) {
            return Some(pair);
        }
        let [x, c] = self.binary(v, BinaryOp::Add)?;
        let (bits, c) = (self.func.ty(x).int_bits()?, self.func.as_int(c)?);
        let opposite = c.wrapping_neg() & mask(bits);
        // The least number has no opposite one.
        (c == 0 || opposite != c).then(|| [x, self.func.int_const(bits, opposite)])
    }

    /// What an operation on selections selects.
    fn computed(&mut self, i: Inst, made: Value) -> Option<Choice> {
        let data = &self.func.insts[i];
        if let (Op::Cast(CastOp::Trunc), &[v]) = (&data.op, &data.args[..]) {
            return self.forms.get(&v)?.truncated(self.func.ty(made).int_bits()?);
        }
        let (&Op::Binary(op), &[x, y]) = (&data.op, &data.args[..]) else { return None };
        let bits = self.func.ty(x).int_bits()?;
        let [of_x, of_y] = [x, y].map(|v| self.forms.get(&v).copied());
        let by_either = |f: &dyn Fn(Part, Value) -> Option<Part>| {
            let with = |choice: Option<Choice>, other: Value| choice?.map(|part| f(part, other));
            with(of_x, y).or_else(|| with(of_y, x))
        };
        let of_both = |f: fn(Part, Part) -> Option<Part>| of_x?.with(of_y?, f);
        match op {
            BinaryOp::And => of_both(meet).or_else(|| by_either(&|part, v| meet(part, Part::Is(v)))),
            BinaryOp::Or => of_both(join),
            BinaryOp::Xor => {
                let all = |v: Value| self.func.as_int(v) == Some(mask(bits));
                of_both(flip).or_else(|| match (of_x, of_y) {
                    (Some(choice), _) if all(y) => choice.map(|part| flip(part, Part::Ones)),
                    _ => by_either(&|part, v| flip(Part::Is(v), part)),
                })
            }
            BinaryOp::Add => of_both(join).or_else(|| self.sum(x, y)).or_else(|| self.sum(y, x)),
            BinaryOp::Sub => of_both(without).or_else(|| self.difference(x, y)),
            _ => None,
        }
    }

    /// `b + (c ? a - b : 0)`, and `d + (c ? -1 : 0)`.
    fn sum(&mut self, b: Value, chosen: Value) -> Option<Choice> {
        let choice = *self.forms.get(&chosen)?;
        if let Some([p, q]) = self.wide_difference(choice).filter(|d| self.is_low(b, d[1], MAX_DEPTH)) {
            return choice.map(|part| Some(Part::Low(if part == Part::Zero { q } else { p })));
        }
        let [yes, no] = choice.parts.map(|part| match part {
            Part::Zero => Some(Part::Is(b)),
            Part::Ones => Some(Part::Less(b)),
            Part::Is(d) => self.difference_of(d).filter(|d| d[1] == b).map(|d| Part::Is(d[0])),
            _ => None,
        });
        Some(Choice { parts: [yes?, no?], ..choice })
    }

    /// `a - (c ? a - b : 0)`.
    fn difference(&mut self, a: Value, chosen: Value) -> Option<Choice> {
        let choice = *self.forms.get(&chosen)?;
        if let Some([p, q]) = self.wide_difference(choice).filter(|d| self.is_low(a, d[0], MAX_DEPTH)) {
            return choice.map(|part| Some(Part::Low(if part == Part::Zero { p } else { q })));
        }
        let [yes, no] = choice.parts.map(|part| match part {
            Part::Zero => Some(Part::Is(a)),
            Part::Is(d) => self.difference_of(d).filter(|d| d[0] == a).map(|d| Part::Is(d[1])),
            _ => None,
        });
        Some(Choice { parts: [yes?, no?], ..choice })
    }

    /// The difference of which a choice has the low bits, or nothing.
    fn wide_difference(&mut self, choice: Choice) -> Option<[Value; 2]> {
        match choice.parts {
            [Part::Zero, Part::Low(d)] | [Part::Low(d), Part::Zero] => self.difference_of(d),
            _ => None,
        }
    }

    /// Whether a value is the low bits of a wider one.
    fn is_low(&self, v: Value, wide: Value, depth: u32) -> bool {
        let of =
            |v: Value| self.func.def_inst(v).map(|i| (&self.func.insts[i].op, &self.func.insts[i].args[..]));
        let bits = self.func.ty(v).int_bits().unwrap_or(0);
        if let (Some(c), Some(w)) = (self.func.as_int(v), self.func.as_int(wide)) {
            return c == w & mask(bits);
        }
        match (of(v), of(wide)) {
            (Some((Op::Cast(CastOp::Trunc), &[from])), _) if from == wide => true,
            (_, Some((Op::Cast(CastOp::ZExt | CastOp::SExt), &[from]))) if from == v => true,
            (Some((Op::Binary(op), &[a, b])), Some((Op::Binary(other), &[p, q])))
                if op == other && depth > 0 =>
            {
                let keeps = matches!(
                    op,
                    BinaryOp::Add
                        | BinaryOp::Sub
                        | BinaryOp::Mul
                        | BinaryOp::And
                        | BinaryOp::Or
                        | BinaryOp::Xor
                );
                keeps && self.is_low(a, p, depth - 1) && self.is_low(b, q, depth - 1)
            }
            _ => false,
        }
    }
}

impl Choice {
    /// The choice of the low bits.
    fn truncated(self, bits: u32) -> Option<Choice> {
        (self.bits >= bits).then_some(())?;
        let choice = self.map(|part| match part {
            Part::Is(v) | Part::Low(v) => Some(Part::Low(v)),
            Part::Zero | Part::Ones => Some(part),
            Part::Minus(_) | Part::Not(_) | Part::Less(_) => None,
        })?;
        Some(Choice { bits, ..choice })
    }
}

/// The bits that two parts have in common, where one of them has all or none.
fn meet(a: Part, b: Part) -> Option<Part> {
    match (a, b) {
        (Part::Zero, _) | (_, Part::Zero) => Some(Part::Zero),
        (Part::Ones, other) | (other, Part::Ones) => Some(other),
        _ => None,
    }
}

/// The sum, or the bits, of two parts of which one is zero.
fn join(a: Part, b: Part) -> Option<Part> {
    match (a, b) {
        (Part::Zero, other) | (other, Part::Zero) => Some(other),
        _ => None,
    }
}

/// One part with the bits turned that the other has: all or none.
fn flip(a: Part, b: Part) -> Option<Part> {
    match (a, b) {
        (other, Part::Zero) => Some(other),
        (Part::Zero, Part::Ones) => Some(Part::Ones),
        (Part::Ones, Part::Ones) => Some(Part::Zero),
        (Part::Is(v), Part::Ones) => Some(Part::Not(v)),
        // The bits of what is one less, turned: -(d) = ~(d - 1).
        (Part::Less(v), Part::Ones) => Some(Part::Minus(v)),
        _ => None,
    }
}

/// One part less another: nothing, or minus one from a number whose bits are turned.
fn without(a: Part, b: Part) -> Option<Part> {
    match (a, b) {
        (other, Part::Zero) => Some(other),
        (Part::Not(v), Part::Ones) => Some(Part::Minus(v)),
        _ => None,
    }
}
