//! Checks of pointers that are made before a loop, where only values that are known then say whether iterations
//! conflict.
//!
//! * Where both addresses move by the same constant from one iteration to the next, their difference never changes.
//!   It is compared with the differences at which a lane would come before one that it depends on, which the
//!   [distance rule](super::distance) gives.
//! * Where both are in one array with rows, each iteration may keep to [rows] or columns of its own.
//! * Otherwise the stretches that both accesses touch in all iterations must be apart.
//!
//! All sums are made modulo 2^64, as addresses are. What is multiplied is checked to be small enough for that.

use super::access::{Access, Kind};
use super::distance::Distance;
use super::meet::{Comparison, Unknown};
use super::order::Order;
use super::place::{Moving, Place, Row, Term};
use super::region::{Growth, Region, Stands, Sym};
use super::rows;
use super::scalar::Tree;
use super::span::{Extent, Number, Product, Span};
use warpline_dataflow::linear::{Extension, Sum};
use warpline_ir::Value;

/// What must hold before a loop, or it runs as it was.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    pub(crate) a: Span,
    pub(crate) b: Span,
    pub(crate) form: Form,
}

impl Check {
    /// Whether another one holds if this one does.
    pub(crate) fn covers(&self, other: &Check) -> bool {
        let form = match (&self.form, &other.form) {
            (Form::Outside(a, b, free), Form::Outside(c, d, other)) => {
                a <= c && d <= b && (free.is_none() || free == other)
            }
            (x, y) => x == y,
        };
        form && self.a == other.a && self.b == other.b
    }

    /// One check for this and another one of stretches that move alike and lie side by side, as those of the elements
    /// of a row do. It holds where both do; a `rough` one may fail where stretches are interleaved.
    pub(super) fn joined(&self, other: &Check, rough: bool) -> Option<Check> {
        let is_turned = self.a.base == other.b.base && self.b.base == other.a.base;
        let turned = || other.turned().filter(|_| is_turned);
        self.joined_in_order(other, rough).or_else(|| self.joined_in_order(&turned()?, rough))
    }

    /// The same check with B in the place of A.
    fn turned(&self) -> Option<Check> {
        let form = match self.form {
            Form::Outside(low, high, None) => Form::Outside(-high, -low, None),
            Form::Apart => Form::Apart,
            _ => return None,
        };
        Some(Check { a: self.b.clone(), b: self.a.clone(), form })
    }

    fn joined_in_order(&self, other: &Check, rough: bool) -> Option<Check> {
        if !self.a.is_alike(&other.a) || !self.b.is_alike(&other.b) {
            return None;
        }
        match (&self.form, &other.form) {
            (&Form::Outside(low, high, free), &Form::Outside(least, most, other_free)) => {
                let is_free = free.is_some() || other_free.is_some();
                // By how much more the other's addresses differ.
                let offset = |c: &Check| i128::from(c.b.offset) - i128::from(c.a.offset);
                let more = offset(other) - offset(self);
                let (least, most) = (least - more, most - more);
                let touch = least < high && low < most;
                let form = Form::Outside(low.min(least), high.max(most), None);
                (touch && (rough || !is_free)).then(|| Check { form, ..self.clone() })
            }
            (Form::Apart, Form::Apart) if self.b == other.b => {
                Some(Check { a: self.a.beside(&other.a)?, ..self.clone() })
            }
            (Form::Apart, Form::Apart) if self.a == other.a => {
                Some(Check { b: self.b.beside(&other.b)?, ..self.clone() })
            }
            _ => None,
        }
    }
}

/// Adds a check, joined with those that there are.
pub(super) fn add_joined(checks: &mut Vec<Check>, mut check: Check, rough: bool) {
    while let Some((at, both)) =
        checks.iter().enumerate().find_map(|(at, c)| Some((at, c.joined(&check, rough)?)))
    {
        checks.remove(at);
        check = both;
    }
    if !checks.contains(&check) {
        checks.push(check);
    }
}

/// How two stretches of memory are compared.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Form {
    /// B's address less A's, in the first iteration, is not between these two, both excluded; or A and B are never at
    /// the same bytes in whatever iterations, since both move by one step.
    Outside(i128, i128, Option<Free>),
    /// What A touches in all iterations is apart from what B does.
    Apart,
    /// B begins no earlier than A, both in the first iteration, or behind all that A touches in all of them.
    Behind,
    /// What A and B touch in one iteration is in [rows](super::rows) of its own.
    Rows,
    /// The same in columns of rows of so many elements, times so many bytes.
    Columns(Box<Number>, i64),
}

/// Differences of addresses at which accesses that move by one step never meet: counted from behind the least one that
/// is excluded, their remainders by the step are no less than a number.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Free {
    /// The step.
    pub(crate) step: u64,
    /// The number.
    pub(crate) least: u64,
}

impl Free {
    /// Those of two accesses at whatever distance, if there are any.
    fn of(d: &Distance) -> Option<Free> {
        let bytes = (d.a.1 - d.a.0).checked_add(d.b.1 - d.b.0)?;
        let (step, bytes) = (d.step.unsigned_abs(), u64::try_from(bytes).ok()?);
        (1..=step).contains(&bytes).then_some(Free { step, least: bytes - 1 })
    }
}

/// The check that decides about two accesses, if there is one. It keeps them apart in all lanes of a group if these
/// are to `change_places`, so that it does not matter which comes first.
pub(super) fn plan(
    c: &Comparison<'_>,
    a: &Access,
    b: &Access,
    (order, change_places): (Order, bool),
    why: Unknown,
) -> Option<Check> {
    if why == Unknown::Effects {
        return None;
    }
    let region = c.region?;
    let (x, y, of_a, of_b) = (a.place.as_ref()?, b.place.as_ref()?, a.size?, b.size?);
    if a.kind == Kind::Packed || b.kind == Kind::Packed {
        return packed(c, (a, b), if change_places { Order::Around } else { order });
    }
    if let Some(check) = rows::plan(c, region, a, b) {
        return Some(check);
    }
    let (first, second) = (span(c, region, a, x, of_a)?, span(c, region, b, y, of_b)?);
    if x.step.is_some()
        && x.step == y.step
        && let (Some(bytes_a), Some(bytes_b)) = (x.bytes(of_a), y.bytes(of_b))
        && let Some(step) = x.step.filter(|s| s.unsigned_abs() < 1 << 32)
        && [bytes_a, bytes_b].iter().all(|(low, high)| high - low < FEW_BYTES)
    {
        let d = Distance { delta: 0, step, a: bytes_a, b: bytes_b };
        let before = d.forbidden(c.lanes);
        let after = d.swapped().forbidden(c.lanes);
        let after = (-after.1, -after.0);
        let (low, high) = match order {
            Order::Before if !change_places => before,
            Order::After if !change_places => after,
            _ => (before.0.min(after.0), before.1.max(after.1)),
        };
        let free = if change_places { Free::of(&d) } else { None };
        return Some(Check { a: first, b: second, form: Form::Outside(low, high, free) });
    }
    apart(first, second)
}

/// The check that two accesses touch no byte in common in any iteration, the same one included, if it can be made.
pub(super) fn plan_apart(c: &Comparison<'_>, a: &Access, b: &Access) -> Option<Check> {
    let (x, y) = (a.place.as_ref()?, b.place.as_ref()?);
    let region = c.region?;
    apart(span(c, region, a, x, a.size?)?, span(c, region, b, y, b.size?)?)
}

/// The check about two accesses of which one is a packed store. A load that comes before it in a group, and moves on in
/// each iteration by what the store moves on at most, may be of the same memory if it does not begin behind it: then
/// no iteration stores where a later one loads.
fn packed(c: &Comparison<'_>, (a, b): (&Access, &Access), order: Order) -> Option<Check> {
    let (store, other, load_first) = match a.kind {
        Kind::Packed => (a, b, order == Order::After),
        _ => (b, a, order == Order::Before),
    };
    let (x, y) = (store.place.as_ref()?, other.place.as_ref()?);
    let (Some(of_store), Some(of_other)) = (store.size, other.size) else { return None };
    let first = span(c, c.region?, store, x, of_store)?;
    let second = span(c, c.region?, other, y, of_other)?;
    let moves_alike = y.step == Some(first.step) && first.step == second.step && first.size == first.step;
    let plain = other.kind == Kind::Plain && !other.writes && first.size == second.size;
    let simple = |s: &Span| s.products.is_empty() && s.extents.is_empty();
    if load_first && moves_alike && plain && y.moving.is_empty() && simple(&first) && simple(&second) {
        return Some(Check { a: first, b: second, form: Form::Behind });
    }
    apart(first, second)
}

/// The check that two stretches are apart, unless they begin at one pointer, and nothing that is not known before the
/// code runs could keep them apart: in some iterations they are at the same bytes, then.
fn apart(a: Span, b: Span) -> Option<Check> {
    let alike = a.base == b.base && a.terms == b.terms && a.products == b.products;
    let meet =
        alike && (a.step == b.step || !a.bytes_of_some().zip(b.bytes_of_some()).is_some_and(are_apart));
    (!meet).then_some(Check { a, b, form: Form::Apart })
}

/// Whether two stretches of bytes, of which the last ones are included, have none in common.
fn are_apart(((a, b), (c, d)): ((i128, i128), (i128, i128))) -> bool {
    b < c || d < a
}

/// What is known to stretch over so many bytes at most is not looked at closer.
const FEW_BYTES: i64 = 1 << 16;

/// What an access touches, by what is known before the loop.
pub(super) fn span<'r, 'a>(
    c: &'r Comparison<'a>,
    region: &'r Region<'a>,
    access: &Access,
    place: &Place,
    size: u64,
) -> Option<Span> {
    let resolve = Resolve { c, region };
    let mut growth = 0i128;
    let mut span = Span {
        base: resolve.pointer(place.base)?,
        terms: Vec::new(),
        offset: place.offset,
        step: 0,
        products: Vec::new(),
        extents: Vec::new(),
        size: i64::try_from(size).ok()?,
    };
    for t in &place.terms {
        match place.rows.iter().find(|r| r.term == *t && r.step != 0) {
            Some(row) if place.step.is_none() => {
                span.products.push(resolve.product(row)?);
            }
            _ => {
                let grows = match resolve.term(t) {
                    Some(Number::Computed(tree, extension)) => {
                        tree.growth().map(|by| (Number::Computed(tree, extension), by))
                    }
                    number => number.map(|n| (n, 0)),
                };
                let Some((number, by)) = grows else {
                    // Where lanes are at a known distance, addresses themselves are compared, so that all numbers
                    // must be known.
                    if place.step.is_some() {
                        return None;
                    }
                    span.extents.push(resolve.between(access, t)?);
                    continue;
                };
                growth = growth.checked_add(by.checked_mul(t.scale.into())?)?;
                span.terms.push((number, t.scale));
            }
        }
    }
    // Where lanes are known to differ by something else, something else changes between groups. Where they are not
    // known to, it is checked that they do.
    let step = growth.checked_add(resolve.base_growth(place.base)?)?;
    span.step = i64::try_from(step).ok()?;
    let known = place.step.filter(|_| span.products.is_empty());
    if known.is_some_and(|s| s != span.step) || span.step.unsigned_abs() >= 1 << 28 {
        return None;
    }
    for m in &place.moving {
        span.extents.push(resolve.extent(access, m)?);
    }
    Some(span)
}

/// Finds out what values of a kernel are before the loop.
pub(super) struct Resolve<'r, 'a> {
    pub(super) c: &'r Comparison<'a>,
    pub(super) region: &'r Region<'a>,
}

impl Resolve<'_, '_> {
    /// What a value stands for outside, if it is a parameter of the kernel.
    fn stands(&self, v: Value) -> Option<Stands> {
        let n = self.c.func.params.iter().position(|&p| p == v)?;
        self.region.params.get(n).copied()
    }

    /// A pointer that is known before the loop, in the first iteration.
    fn pointer(&self, sym: Sym) -> Option<Sym> {
        let Sym::Inner(v) = sym else { return Some(sym) };
        match self.stands(v)? {
            Stands::StartsAt(start, _) | Stands::Counts(start, _) | Stands::For(start) => {
                Some(Sym::Outer(start))
            }
            Stands::Anything => None,
        }
    }

    /// What a pointer grows by that is a parameter.
    fn base_growth(&self, sym: Sym) -> Option<i128> {
        let Sym::Inner(v) = sym else { return Some(0) };
        match self.stands(v)? {
            Stands::StartsAt(_, Growth::Constant(by)) | Stands::Counts(_, by) => Some(by),
            Stands::StartsAt(..) | Stands::Anything => None,
            Stands::For(_) => Some(0),
        }
    }

    /// A term: its number, and what it adds from one iteration to the next, where that is not said by another term.
    fn term(&self, t: &Term) -> Option<Number> {
        match t.sym {
            Sym::Inner(v) => Some(Number::Computed(Tree::of(self.c.func, self.region, v)?, t.extension)),
            sym => Some(Number::Value(sym, t.extension)),
        }
    }

    /// The product of the index and the length of a row.
    pub(super) fn product(&self, row: &Row) -> Option<Product> {
        let length = self.number(self.c.sym(row.length))?;
        let (index, growth) = self.linear(row.index)?;
        (growth == i128::from(row.step)).then_some(Product {
            index,
            length,
            step: row.step,
            scale: row.term.scale,
            may_wrap: !row.exact && row.term.extension != Extension::None,
        })
    }

    /// A number that is the same in all iterations.
    pub(super) fn number(&self, sym: Sym) -> Option<Number> {
        match sym {
            Sym::Outer(_) => Some(Number::Value(sym, Extension::Signed)),
            _ => None,
        }
    }

    /// A number as a sum of what is known before the loop, in the first iteration, and what it grows by.
    fn linear(&self, v: Value) -> Option<(Number, i128)> {
        let (terms, offset) = Sum::widened(self.c.func, v)?.into_parts();
        let (mut sum, mut growth) = (Vec::new(), 0i128);
        for t in terms {
            let term = Term { sym: self.c.sym(t.value), extension: t.extension, scale: t.scale };
            let number = self.term(&term)?;
            if let Number::Computed(tree, _) = &number {
                growth = growth.checked_add(tree.growth()?.checked_mul(t.scale.into())?)?;
            }
            sum.push((number, t.scale));
        }
        Some((Number::Sum(sum, offset), growth))
    }

    /// The least and the greatest that a number adds that does not move by one step from lane to lane.
    fn between(&self, access: &Access, t: &Term) -> Option<Extent> {
        let (Sym::Inner(v), Some(address)) = (t.sym, access.address) else { return None };
        let range = self.c.facts.range(self.c.func, address, v, t.extension);
        let known = range.and_then(|(least, most)| {
            let ends = [least, most].map(|x| i64::try_from(x.checked_mul(t.scale.into())?).ok());
            let (low, high) = (ends[0]?.min(ends[1]?), ends[0]?.max(ends[1]?));
            let is_table = low.unsigned_abs() < 1 << 30 && high.unsigned_abs() < 1 << 30;
            is_table.then_some((low, high))
        });
        match known {
            Some((low, high)) if high - low < FEW_BYTES => Some(Extent::Known(low, high)),
            _ => self.computed(access, t, v).or_else(|| known.map(|(low, high)| Extent::Known(low, high))),
        }
    }

    /// The least and the greatest that something that moves adds.
    pub(super) fn extent(&self, access: &Access, m: &Moving) -> Option<Extent> {
        let known = m.stretch().and_then(|(low, high)| {
            let small = |x: i128| i64::try_from(x).ok().filter(|x| x.unsigned_abs() < 1 << 60);
            Some(Extent::Known(small(low)?, small(high)?))
        });
        match known {
            Some(Extent::Known(low, high)) if high - low < FEW_BYTES => known,
            _ => self.computed(access, &m.term, m.value).or(known),
        }
    }

    /// The least and the greatest that a number adds, computed before the loop.
    fn computed(&self, access: &Access, t: &Term, v: Value) -> Option<Extent> {
        if t.scale.unsigned_abs() >= 1 << 20 {
            return None;
        }
        let block = self.c.func.insts[access.inst].block;
        Some(Extent::Between(Box::new(self.interval(v, t.extension, block)?), t.scale))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(base: u32, offset: i64, step: i64, size: i64) -> Span {
        let base = Sym::Outer(Value::from_u32(base));
        Span { base, terms: vec![], offset, step, products: vec![], extents: vec![], size }
    }

    /// Whether a check holds, by its definition, where the second pointer is so much greater and there are so many
    /// iterations.
    fn holds(check: &Check, (distance, rounds): (i64, i64)) -> bool {
        let at = |s: &Span| s.offset + if s.base == Sym::Outer(Value::from_u32(0)) { 0 } else { distance };
        let (a, b) = (&check.a, &check.b);
        match check.form {
            Form::Outside(low, high, None) => {
                let difference = i128::from(at(b) - at(a));
                difference <= low || high <= difference
            }
            _ => {
                let stretch = |s: &Span| {
                    let far = s.step * (rounds - 1);
                    (at(s) + far.min(0), at(s) + far.max(0) + s.size)
                };
                let ((a0, a1), (b0, b1)) = (stretch(a), stretch(b));
                a1 <= b0 || b1 <= a0
            }
        }
    }

    #[test]
    fn joined_checks_hold_where_all_of_them_do() {
        let offsets = [-9i64, -4, 0, 2, 3, 11];
        let mut joined = 0;
        for (step, offset, turned) in [-6i64, 3, 8]
            .into_iter()
            .flat_map(|s| offsets.map(|o| (s, o)))
            .flat_map(|(s, o)| [(s, o, false), (s, o, true)])
        {
            let outside = |a, b| Check {
                a: span(0, a, step, 2),
                b: span(1, b, step, 2),
                form: Form::Outside(-20, 9, None),
            };
            let apart = |a, b| Check { a: span(0, a, step, 2), b: span(1, b, 1, 2), form: Form::Apart };
            let cases = [
                (outside(0, 1), outside(offset, 1)),
                (outside(0, 0), outside(2, offset)),
                (apart(1, 0), apart(offset, 0)),
            ];
            for (one, other) in cases {
                let other = if turned { other.turned().unwrap() } else { other };
                let Some(both) = one.joined(&other, false) else { continue };
                joined += 1;
                // In so many iterations, stretches that lie side by side leave nothing between them.
                for distance in -120..120 {
                    let separately = holds(&one, (distance, 5)) && holds(&other, (distance, 5));
                    assert_eq!(
                        holds(&both, (distance, 5)),
                        separately,
                        "{one:?} and {other:?} by {distance}"
                    );
                }
            }
        }
        assert!(joined > 60, "{joined}");
    }

    #[test]
    fn accesses_that_move_by_one_step_never_meet_iff_their_difference_is_free() {
        let bytes = [((0, 1), (0, 1)), ((0, 2), (0, 1)), ((-1, 2), (0, 2)), ((0, 4), (0, 4))];
        for (step, (a, b)) in [-7, -4, -3, 3, 4, 8].into_iter().flat_map(|s| bytes.map(|x| (s, x))) {
            let at = |delta: i64| Distance { delta, step, a, b };
            let Some(free) = Free::of(&at(0)) else { continue };
            let low = at(0).forbidden(4).0.min(-at(0).swapped().forbidden(4).1);
            for delta in -40..=40 {
                let beyond = i128::from(delta) - low - 1;
                let is_free = beyond.rem_euclid(free.step.into()) >= free.least.into();
                let meets = (-30..=30).any(|k| at(delta).meets(k));
                assert_eq!(is_free, !meets, "{:?}", at(delta));
            }
        }
    }
}
