//! Whether two accesses of different lanes can touch the same bytes.

use warpline_analysis::CycleId;

use super::access::{Access, Kind};
use super::apart::types_are_apart;
use super::bounds::Facts;
use super::distance::Distance;
use super::inspect::Inspected;
use super::pieces::Pieces;
use super::place::{Place, Row, Term};
use super::region::{Region, Sym, sym};
use super::roots::Objects;
use crate::choices::MAX_WIDTH;
use crate::divisors::gcd;
use warpline_ir::{BinaryOp, Block, Function, InstFlags, Module, Op, Value, ValueDef};
use warpline_uniformity::Uniformity;

/// What is known of two accesses by different lanes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Meeting {
    /// They never touch the same byte.
    Never,
    /// They are at a constant distance, in whatever iteration of loops within the kernel.
    At(Distance),
    /// The same in one iteration of the only loop around both; in different ones they do not touch the same byte.
    InOneIteration(Distance),
    /// They may touch the same byte where these stretches overlap, which stand for all that they touch in loops
    /// within the kernel.
    Within(Distance),
    /// At a constant distance but for multiples of a number of bytes, those of a row in an array of rows: each access
    /// may be in any row.
    Modulo(Distance, i64),
    /// Nothing.
    Unknown(Unknown),
}

/// Why nothing is known of two accesses.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Unknown {
    /// Their pointers may lead to the same object, and their distance is not known.
    Pointers,
    /// An address does not move by the same step from lane to lane.
    Irregular,
    /// An address changes in a loop within the kernel, by numbers that are not bounded.
    Moving,
    /// A call, or an access of unknown size.
    Effects,
}

/// What accesses are compared by.
pub(super) struct Comparison<'a> {
    pub(super) module: &'a Module,
    pub(super) func: &'a Function,
    pub(super) uniformity: &'a Uniformity,
    pub(super) objects: &'a Objects<'a>,
    pub(super) facts: &'a Facts<'a>,
    pub(super) region: Option<&'a Region<'a>>,
    pub(super) pieces: &'a Pieces,
    /// All accesses of the kernel.
    pub(super) accesses: &'a [Access],
    pub(super) inspected: Inspected,
    /// The number of lanes.
    pub(super) lanes: u32,
}

impl Comparison<'_> {
    /// What is known of two accesses.
    pub(super) fn meeting(&self, a: &Access, b: &Access) -> Meeting {
        if self.are_apart(a, b) {
            return Meeting::Never;
        }
        let (Some(x), Some(y), Some(of_a), Some(of_b)) = (&a.place, &b.place, a.size, b.size) else {
            return Meeting::Unknown(Unknown::Effects);
        };
        if a.kind == Kind::Packed || b.kind == Kind::Packed {
            return Meeting::Unknown(Unknown::Irregular);
        }
        if self.rows_are_apart(a, b) || self.fields_are_apart(a, b) {
            return Meeting::Never;
        }
        let Some(delta) = x.distance(y) else { return Meeting::Unknown(Unknown::Pointers) };
        let Some(step) = x.step else { return Meeting::Unknown(Unknown::Irregular) };
        let whole = |size: u64| (0, size.min(1 << 60) as i64);
        let distance = Distance { delta, step, a: whole(of_a), b: whole(of_b) };
        if x.moving.is_empty() && y.moving.is_empty() {
            return Meeting::At(distance);
        }
        if self.is_pinned(a, b, x, y, &distance) {
            return Meeting::InOneIteration(distance);
        }
        let within = match (x.bytes(of_a), y.bytes(of_b)) {
            (Some(a), Some(b)) => Some(Distance { a, b, ..distance }),
            _ => None,
        };
        let meets = |d: &Distance| [d, &d.swapped()].iter().any(|d| d.first_ahead(MAX_WIDTH).is_some());
        if let Some(d) = within.filter(|d| !meets(d)) {
            return Meeting::Within(d);
        }
        // Of kernels, whether lanes of any group meet is all that counts.
        let helps = |&p: &i64| self.region.is_some() || distance.nearest_modulo(p, MAX_WIDTH).is_none();
        match period(self.func, x, y, &distance).filter(helps) {
            Some(period) => Meeting::Modulo(distance, period),
            None => within.map_or(Meeting::Unknown(Unknown::Moving), Meeting::Within),
        }
    }

    /// Whether two accesses never touch the same byte, in one lane either: by their types or the objects.
    pub(super) fn are_apart(&self, a: &Access, b: &Access) -> bool {
        types_are_apart(self.module, a.ty, b.ty) || self.objects.are_apart(&a.roots, &b.roots)
    }

    /// Whether two accesses touch different bytes of whatever elements of an array.
    fn fields_are_apart(&self, a: &Access, b: &Access) -> bool {
        let (Some(x), Some(y), Some(of_a), Some(of_b)) = (&a.within, &b.within, a.size, b.size) else {
            return false;
        };
        let is_fixed = |v: Value| self.uniformity.shape(v).is_uniform() && !self.moves(v);
        x.is_apart(of_a, y, of_b, is_fixed)
    }

    /// Two different indices, both small, for which two accesses touch the same bytes, if their addresses differ by
    /// multiples of the index and constants alone.
    pub(super) fn lanes_that_meet(&self, a: &Access, b: &Access) -> Option<(i64, i64)> {
        let (x, y, of_a, of_b) = (a.place.as_ref()?, b.place.as_ref()?, a.size?, b.size?);
        let one_base = match x.base {
            // Lanes may be given pointers of their own.
            Sym::Inner(v) => x.base == y.base && self.uniformity.shape(v).is_uniform(),
            _ => x.base == y.base,
        };
        if !one_base || !x.moving.is_empty() || !y.moving.is_empty() {
            return None;
        }
        let steps = |p: &Place, other: &Place| {
            let own = p.terms.iter().filter(|t| !(other.terms.contains(t) && self.is_uniform(t)));
            own.map(|t| self.is_index(t).then_some(t.scale)).sum::<Option<i64>>()
        };
        let (by_a, by_b) = (steps(x, y)?, steps(y, x)?);
        let (size_a, size_b) = (i64::try_from(of_a).ok()?, i64::try_from(of_b).ok()?);
        let at = |scale: i64, offset: i64, index: i64| offset.checked_add(scale.checked_mul(index)?);
        let lanes = i64::from(MAX_WIDTH);
        let all = (0..lanes).flat_map(|i| (0..lanes).map(move |j| (i, j))).filter(|(i, j)| i != j);
        let mut meeting = all.filter(|&(i, j)| {
            let (Some(p), Some(q)) = (at(by_a, x.offset, i), at(by_b, y.offset, j)) else { return false };
            p.saturating_sub(q) < size_b && q.saturating_sub(p) < size_a
        });
        meeting.next()
    }

    fn is_uniform(&self, t: &Term) -> bool {
        matches!(t.sym, Sym::Inner(v) if self.uniformity.shape(v).is_uniform())
    }

    /// Whether a term is the index of the kernel, times a constant.
    fn is_index(&self, t: &Term) -> bool {
        let Sym::Inner(v) = t.sym else { return false };
        matches!(self.func.values[v].def, ValueDef::Param(_)) && self.uniformity.shape(v).step() == Some(1)
    }

    /// Whether two accesses of one lane or of several touch the same bytes only in the same iteration of the only
    /// loop around both: what moves in their addresses is its counter, whose steps are longer than all else that
    /// their addresses differ by.
    fn is_pinned(&self, a: &Access, b: &Access, x: &Place, y: &Place, d: &Distance) -> bool {
        let (&[m], true) = (&x.moving[..], x.moving == y.moving) else { return false };
        let Some(common) = self.only_loop(a, b) else { return false };
        let header = Block::from(self.uniformity.cycles().header(common));
        let Some(by) = self.counter_step(header, m.value).filter(|_| m.uniform) else { return false };
        let stride = i128::from(m.term.scale) * by;
        let size = d.a.1.max(d.b.1);
        let lanes = i128::from(MAX_WIDTH - 1) * i128::from(d.step);
        i128::from(d.delta).abs() + lanes.abs() + i128::from(size) <= stride.abs()
    }

    /// The loop around two accesses, if it is in no other loop.
    fn only_loop(&self, a: &Access, b: &Access) -> Option<CycleId> {
        let cycles = self.uniformity.cycles();
        let block = |a: &Access| self.func.insts[a.inst].block.into();
        let common = cycles.innermost_common(block(a), block(b))?;
        (cycles.parent(common).is_none() && cycles.is_reducible(common)).then_some(common)
    }

    /// What is added to a counter in each iteration of the loop with this header.
    fn counter_step(&self, header: Block, v: Value) -> Option<i128> {
        let func = self.func;
        let phi = func.def_inst(v).filter(|&i| func.insts[i].op == Op::Phi)?;
        let position = func.phi_position(phi).filter(|_| func.insts[phi].block == header)?;
        let cycle = self.uniformity.cycles().innermost(header.into())?;
        let inside = |b: Block| self.uniformity.cycles().contains(cycle, b.into());
        let bits = func.ty(v).int_bits().filter(|&bits| bits <= 64)?;
        let mut step = None;
        for &e in func.blocks[header].preds.iter().filter(|&&e| inside(func.edges[e].from)) {
            let next = &func.insts[func.def_inst(func.edges[e].args[position])?];
            let by = func.as_int(*next.args.get(1)?).filter(|_| next.args[0] == v)?;
            let by = (by << (128 - bits)) as i128 >> (128 - bits);
            let by = match next.op {
                Op::Binary(BinaryOp::Add) => by,
                Op::Binary(BinaryOp::Sub) => -by,
                _ => return None,
            };
            // A narrow counter that wraps comes to the same number again.
            let exact = bits == 64 || next.flags.intersects(InstFlags::NSW | InstFlags::NUW);
            if by == 0 || !exact || step.is_some_and(|s| s != by) {
                return None;
            }
            step = Some(by);
        }
        step
    }

    /// Whether lanes are in different rows, or in different columns, of an array whose rows have a length that all
    /// lanes agree on.
    ///
    /// Both addresses are `base + r·(x·n + y) + offset` with the same `n`, each with a `y` of which `0 <= y < n`, and
    /// touch less than `r` bytes from there. Then `x·n + y` is another number for every pair `(x, y)`, and in any two
    /// lanes `x` differs, which is then the same number in both, or `y`, which is.
    fn rows_are_apart(&self, a: &Access, b: &Access) -> bool {
        let (Some(x), Some(y)) = (&a.place, &b.place) else { return false };
        let (&[row], &[other]) = (&x.rows[..], &y.rows[..]) else { return false };
        let same_length = row.length == other.length && row.term.scale == other.term.scale;
        if x.base != y.base || !same_length || !row.exact || !other.exact {
            return false;
        }
        let (Some(of_a), Some(of_b)) = (self.column(x, &row), self.column(y, &other)) else { return false };
        let rows_differ = row == other && row.step != 0 && !self.moves(row.index);
        let columns_differ = of_a == of_b && of_a.step.is_some_and(|s| s != 0);
        if !rows_differ && !columns_differ {
            return false;
        }
        let rest = |p: &Place, size: Option<u64>, r: &Row, c: Column| self.rest(p, size?, r, c.value);
        let (Some(p), Some(q)) = (rest(x, a.size, &row, of_a), rest(y, b.size, &other, of_b)) else {
            return false;
        };
        let others = |p: &Place, r: &Row, c: Column| -> Vec<Term> {
            let own = |t: &Term| *t == r.term || t.sym == Sym::Inner(c.value);
            p.terms.iter().copied().filter(|t| !own(t)).collect()
        };
        let stretch = p.1.max(q.1) - p.0.min(q.0);
        let below = |a: &Access, c: Column| {
            a.address.is_some_and(|address| self.facts.is_below(self.func, address, c.value, row.length))
        };
        others(x, &row, of_a) == others(y, &other, of_b)
            && stretch <= i128::from(row.term.scale.unsigned_abs())
            && below(a, of_a)
            && below(b, of_b)
    }

    /// The number that an address has besides a row, times the same size.
    fn column(&self, place: &Place, row: &Row) -> Option<Column> {
        let is_one = |t: &Term| *t != row.term && t.scale == row.term.scale;
        let mut fixed = place.terms.iter().filter(|t| is_one(t)).filter_map(|t| match t.sym {
            Sym::Inner(value) => Some(Column { value, step: self.uniformity.shape(value).step() }),
            _ => None,
        });
        let mut moving = place.moving.iter().filter(|m| is_one(&m.term));
        match (fixed.next(), fixed.next(), moving.next(), moving.next()) {
            (Some(column), None, None, _) => Some(column),
            (None, _, Some(m), None) => Some(Column { value: m.value, step: None }),
            _ => None,
        }
    }

    /// The bytes that an access touches, counted from `base + r·(x·n + y)`; all other terms are the same for all
    /// lanes, or bounded.
    fn rest(&self, place: &Place, size: u64, row: &Row, column: Value) -> Option<(i128, i128)> {
        let uniform = |t: &Term| match t.sym {
            Sym::Inner(v) => v == column || self.uniformity.shape(v).is_uniform(),
            _ => true,
        };
        if !place.terms.iter().all(|t| *t == row.term || uniform(t)) {
            return None;
        }
        let (mut low, mut high) = (i128::from(place.offset), i128::from(place.offset) + i128::from(size));
        for m in place.moving.iter().filter(|m| m.value != column && m.term != row.term) {
            let (least, most) = m.stretch()?;
            low += least;
            high += most;
        }
        Some((low, high))
    }

    /// What a value of the kernel is called outside of it, if it is nothing but that.
    pub(super) fn sym(&self, v: Value) -> Sym {
        sym(self.func, self.region, v)
    }

    fn moves(&self, v: Value) -> bool {
        let block = self.func.def_block(v);
        block.is_some_and(|b| self.uniformity.cycles().innermost(b.into()).is_some())
    }
}

/// The number of bytes of which two addresses in loops within the kernel differ by multiples, beside their distance:
/// the length of the rows that they walk over.
fn period(func: &Function, x: &Place, y: &Place, d: &Distance) -> Option<i64> {
    let moving = || x.moving.iter().chain(&y.moving);
    let least = moving().fold(0u64, |sum, m| gcd(sum, m.term.scale.unsigned_abs()));
    // Without knowing that nothing wraps, multiples are such modulo 2^64.
    let no_wrap = moving().all(|m| m.is_small(func)) && moving().count() <= MAX_MOVING;
    let period = if no_wrap { least } else { 1 << least.trailing_zeros().min(63) };
    let near = d.delta.unsigned_abs() < SMALL && d.step.unsigned_abs() < SMALL;
    let short = [d.a, d.b].iter().all(|bytes| bytes.1 < SMALL as i64);
    // Whoever moves by the same as lanes do meets other lanes.
    let far = period > d.step.unsigned_abs();
    (near && short && far && period < SMALL).then_some(period as i64)
}

/// So many numbers that move are added up at most.
const MAX_MOVING: usize = 16;
/// Sums of a few numbers below that, and of 2^60, do not wrap.
const SMALL: u64 = 1 << 48;

/// A number besides a row.
#[derive(Copy, Clone, PartialEq, Eq)]
struct Column {
    value: Value,
    /// What it is in the next lane less what it is in this one, if it does not change within a lane.
    step: Option<i64>,
}
