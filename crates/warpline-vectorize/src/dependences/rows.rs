//! Checks that iterations keep to rows or to columns of their own, of an array whose rows have a length that is known
//! when the loop begins.
//!
//! In `for (y…) for (x = 0; x < w; x++) img[y * stride + x] *= 2;` all iterations over `y` touch one array, but none
//! touches what another one does: a row of `stride` elements has room for the `w` that an iteration touches. In
//! `for (y…) for (x…) o[x * h + y] = 0;` the iterations are columns, of which a row has room for `h`. Both are tested
//! before the loop, where [ranges](super::meet) do not tell:
//! * *rows*: what one iteration touches with both accesses is no longer than the way from one iteration to the next;
//! * *columns*: the same, and all iterations together are no longer than a row, of which whole ones are between what
//!   one iteration touches.

use super::access::Access;
use super::checks::{Check, Form, Resolve};
use super::meet::Comparison;
use super::place::{Place, Row, Term};
use super::region::{Region, Sym};
use super::span::{Emitter, Number, Product, Span};
use warpline_ir::{BinaryOp, IntPred, Value};

/// The check that two accesses of different iterations never meet because each iteration keeps to its own rows or
/// columns.
pub(super) fn plan<'a>(c: &Comparison<'a>, region: &Region<'a>, a: &Access, b: &Access) -> Option<Check> {
    let (x, y) = (a.place.as_ref()?, b.place.as_ref()?);
    x.distance(y).filter(|_| x.step == y.step)?;
    let resolve = Resolve { c, region };
    let form = match (column(x), column(y)) {
        // In whichever rows.
        (Some(row), Some(other)) if row.length == other.length && row.term.scale == other.term.scale => {
            Form::Columns(Box::new(resolve.number(c.sym(row.length))?), row.term.scale)
        }
        (None, None) if x.rows == y.rows => Form::Rows,
        _ => return None,
    };
    let columns = matches!(form, Form::Columns(..));
    let (a, b) = (reach(&resolve, a, x, columns)?, reach(&resolve, b, y, columns)?);
    (!share_a_row(&a, &b)).then_some(Check { a, b, form })
}

/// Whether an iteration certainly touches more than a row: its own, and one that another iteration touches alike.
fn share_a_row(a: &Span, b: &Span) -> bool {
    let apart = i128::from(a.offset) - i128::from(b.offset);
    let touched = apart.abs() + i128::from(a.size.min(b.size));
    a.products.is_empty() && a.extents == b.extents && touched > i128::from(a.step).abs()
}

/// The row whose index moves while lanes are at different columns of it.
fn column(place: &Place) -> Option<&Row> {
    let mut moving = place.rows.iter().filter(|r| place.moving.iter().any(|m| m.term == r.term));
    match (moving.next(), moving.next(), place.step) {
        (Some(row), None, Some(step)) if row.exact && step != 0 => Some(row),
        _ => None,
    }
}

/// What an access touches around where it would be if nothing moved within an iteration, and how that moves from one
/// to the next.
fn reach(resolve: &Resolve<'_, '_>, access: &Access, place: &Place, columns: bool) -> Option<Span> {
    let c = resolve.c;
    let mut extents = Vec::new();
    for m in &place.moving {
        if !(columns && place.rows.iter().any(|r| r.term == m.term)) {
            extents.push(resolve.extent(access, m)?);
        }
    }
    let (mut step, mut products) = (place.step.unwrap_or(0), Vec::new());
    if place.step.is_none() {
        step = 0;
        let mut rows = place.rows.iter().filter(|r| r.step != 0);
        let (row, None) = (rows.next()?, rows.next()) else { return None };
        let others_stay = place.terms.iter().all(|t| *t == row.term || stays(c, t));
        let base_stays = match place.base {
            Sym::Inner(v) => c.uniformity.shape(v).is_uniform(),
            _ => true,
        };
        if !others_stay || !base_stays || place.moving.iter().any(|m| m.term == row.term) {
            return None;
        }
        products.push(resolve.product(row)?);
    } else if step == 0 || step.unsigned_abs() >= 1 << 40 {
        return None;
    }
    let size = i64::try_from(access.size?).ok()?;
    Some(Span { base: place.base, terms: Vec::new(), offset: place.offset, step, products, extents, size })
}

/// Whether a term is the same in all iterations.
fn stays(c: &Comparison<'_>, t: &Term) -> bool {
    match t.sym {
        Sym::Inner(v) => c.uniformity.shape(v).is_uniform(),
        _ => true,
    }
}

impl Emitter<'_, '_> {
    /// Requires that what an iteration touches is no longer than the way to the next one. The length of the first,
    /// and of the second.
    pub(super) fn rows(&mut self, a: &Span, b: &Span) -> (Value, Value) {
        let (x, y) = (self.reach(a), self.reach(b));
        let (low, high) = (self.lesser(x.0, y.0), self.greater(x.1, y.1));
        let touched = self.binary(BinaryOp::Sub, high, low);
        let step = match &a.products[..] {
            [] => self.int(a.step.abs()),
            [product, ..] => self.product_step(product),
        };
        self.require(IntPred::Sle, touched, step);
        (touched, step)
    }

    /// The same of columns of rows of so many elements.
    pub(super) fn columns(&mut self, a: &Span, b: &Span, length: &Number, scale: i64) {
        let (touched, step) = self.rows(a, b);
        let row = self.row(length, scale);
        let row = self.absolute(row);
        let (one, most) = (self.int(1), self.int(1 << 29));
        self.require(IntPred::Ult, self.rounds, most);
        let (last, step) = (self.binary(BinaryOp::Sub, self.rounds, one), self.small(step));
        let all = self.binary(BinaryOp::Mul, last, step);
        let all = self.binary(BinaryOp::Add, all, touched);
        self.require(IntPred::Sle, all, row);
    }

    /// The bytes between which an iteration touches memory, the second one excluded, counted from where it would be
    /// if nothing moved.
    fn reach(&mut self, span: &Span) -> (Value, Value) {
        let (mut low, mut length) = (self.int(span.offset), self.int(span.size));
        for extent in &span.extents {
            (low, length) = self.widened(low, length, extent);
        }
        (low, self.binary(BinaryOp::Add, low, length))
    }

    /// How far one iteration is from the next, in bytes.
    fn product_step(&mut self, product: &Product) -> Value {
        let (_, row) = self.factors(product);
        let row = self.times(row, product.step);
        self.absolute(row)
    }

    fn absolute(&mut self, x: Value) -> Value {
        let zero = self.int(0);
        let negated = self.binary(BinaryOp::Sub, zero, x);
        self.greater(x, negated)
    }
}
