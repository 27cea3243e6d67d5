//! Where an access is, as far as lanes can be compared: a sum of what one lane adds, what all lanes add, and what
//! changes within the lane.

use smallvec::SmallVec;

use super::bounds::Facts;
use super::region::{Region, Sym, sym};
use warpline_dataflow::linear::{self, Address, Extension};
use warpline_ir::{BinaryOp, Block, CastOp, Constant, Function, InstFlags, Module, Op, Type, Value};
use warpline_uniformity::Uniformity;
use warpline_uniformity::shape::{Exact, Shape};

/// A number of the kernel or of the function around it, times a constant.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Term {
    pub(crate) sym: Sym,
    pub(crate) extension: Extension,
    /// In bytes.
    pub(crate) scale: i64,
}

impl Term {
    /// A term of an address, whose number has this name.
    pub(super) fn of(t: &linear::Term, sym: Sym) -> Term {
        Term { sym, extension: t.extension, scale: t.scale }
    }
}

/// A product of an index and a number that all lanes agree on: a row of so many bytes times `scale`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    /// The term, whose value is the product.
    pub(crate) term: Term,
    /// The index.
    pub(crate) index: Value,
    /// How many elements a row has.
    pub(crate) length: Value,
    /// What the index is in the next lane, less what it is in this one; 0 if all lanes have the same.
    pub(crate) step: i64,
    /// Whether neither the product nor what is made of it wraps, so that rows are where they seem to be.
    pub(crate) exact: bool,
}

/// A number that changes while one lane runs: it is computed in a loop within the kernel.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Moving {
    pub(crate) term: Term,
    pub(crate) value: Value,
    /// The least and the greatest number that it is, extended, if that is known.
    pub(crate) range: Option<(i128, i128)>,
    /// Whether all lanes have the same in every iteration of that loop.
    pub(crate) uniform: bool,
}

/// An address: `base + Σ terms + Σ rows + Σ moving + offset`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) base: Sym,
    /// What stays the same while one lane runs.
    pub(crate) terms: SmallVec<[Term; 4]>,
    /// What must be added to `base`, `terms` and nothing else to get them in the next lane; `None` if that is not
    /// always the same.
    pub(crate) step: Option<i64>,
    /// Products among the terms and the moving numbers.
    pub(crate) rows: SmallVec<[Row; 2]>,
    pub(crate) moving: SmallVec<[Moving; 2]>,
    pub(crate) offset: i64,
}

/// What places are found by.
pub(crate) struct Places<'a> {
    pub(crate) module: &'a Module,
    pub(crate) func: &'a Function,
    pub(crate) uniformity: &'a Uniformity,
    pub(crate) region: Option<&'a Region<'a>>,
    pub(crate) facts: &'a Facts<'a>,
}

impl Places<'_> {
    /// Where an address leads. `None` if it cannot be compared with anything.
    pub(crate) fn of(&self, address: Value) -> Option<Place> {
        let found = Address::of(self.module, self.func, address)?;
        let Type::Ptr(space) = self.func.ty(address) else { return None };
        if self.module.layout.index_bits(space) != 64 {
            return None;
        }
        let (mut offset, mut terms) = (found.offset, SmallVec::<[Term; 4]>::new());
        let base = self.base(found.root, &mut terms, &mut offset)?;
        // A base that changes while the lane runs is another one each time.
        if self.moves(found.root) {
            return None;
        }
        let mut place = Place {
            base,
            terms,
            step: self.uniformity.shape(found.root).step(),
            rows: SmallVec::new(),
            moving: SmallVec::new(),
            offset,
        };
        for t in &found.terms {
            let term = Term::of(t, self.sym(t.value));
            self.add(&mut place, term, t.value, address);
        }
        place.terms.sort_unstable();
        Some(place)
    }

    /// Where an address of the function around the kernel leads.
    pub(crate) fn outside(&self, address: Value) -> Option<Place> {
        let (mut offset, mut terms) = (0, SmallVec::<[Term; 4]>::new());
        let base = self.outer_base(address, &mut terms, &mut offset)?;
        terms.sort_unstable();
        let (rows, moving) = (SmallVec::new(), SmallVec::new());
        Some(Place { base, terms, step: Some(0), rows, moving, offset })
    }

    /// The base of an address, taken apart in the function around the kernel, too.
    fn base(&self, root: Value, terms: &mut SmallVec<[Term; 4]>, offset: &mut i64) -> Option<Sym> {
        if let Some(symbol) = global(self.func, root, offset) {
            return Some(symbol);
        }
        match self.sym(root) {
            Sym::Outer(v) => self.outer_base(v, terms, offset),
            own => Some(own),
        }
    }

    /// The base of an address of the function around.
    fn outer_base(&self, v: Value, terms: &mut SmallVec<[Term; 4]>, offset: &mut i64) -> Option<Sym> {
        let Some(region) = self.region else { return Some(Sym::Outer(v)) };
        let outer = Address::of(self.module, region.func, v)?;
        *offset = offset.wrapping_add(outer.offset);
        terms.extend(outer.terms.iter().map(|t| Term::of(t, Sym::Outer(t.value))));
        Some(global(region.func, outer.root, offset).unwrap_or(Sym::Outer(outer.root)))
    }

    fn sym(&self, v: Value) -> Sym {
        sym(self.func, self.region, v)
    }

    /// Whether a value may change while one lane runs.
    pub(crate) fn moves(&self, v: Value) -> bool {
        self.func.def_block(v).is_some_and(|b| self.in_loop(b))
    }

    fn in_loop(&self, b: Block) -> bool {
        self.uniformity.cycles().innermost(b.into()).is_some()
    }

    fn add(&self, place: &mut Place, term: Term, v: Value, address: Value) {
        let moves = self.moves(v);
        if let Some(row) = self.row(term, v, address) {
            place.rows.push(row);
        }
        if moves {
            let range = self.facts.range(self.func, address, v, term.extension);
            let uniform = self.uniformity.shape(v).is_uniform();
            place.moving.push(Moving { term, value: v, range, uniform });
            return;
        }
        place.terms.push(term);
        let step = self.step(v, term.extension).and_then(|s| s.checked_mul(term.scale.into()));
        place.step = match (place.step, step.map(|s| s as i64)) {
            (Some(sum), Some(step)) => Some(sum.wrapping_add(step)),
            _ => None,
        };
    }

    /// What a number, extended as it is, is in the next lane, less what it is in this one.
    fn step(&self, v: Value, extension: Extension) -> Option<i128> {
        match (self.uniformity.shape(v), extension) {
            (Shape::Uniform, _) => Some(0),
            (Shape::Strided(s), Extension::None) => Some(s.step.into()),
            (Shape::Strided(s), Extension::Signed) => (s.signed != Exact::No).then_some(s.step.into()),
            (Shape::Strided(s), Extension::Unsigned) => (s.unsigned != Exact::No).then_some(s.step.into()),
            (Shape::Varying, _) => None,
        }
    }

    /// The row that a product is the beginning of.
    fn row(&self, term: Term, v: Value, address: Value) -> Option<Row> {
        let data = &self.func.insts[self.func.def_inst(v)?];
        if data.op != Op::Binary(BinaryOp::Mul) {
            return None;
        }
        let (a, b) = (data.args[0], data.args[1]);
        let fixed = |v: Value| self.uniformity.shape(v).is_uniform() && !self.moves(v);
        let (index, length) = match (fixed(a), fixed(b)) {
            (_, true) => (a, b),
            (true, _) => (b, a),
            _ => return None,
        };
        let step = i64::try_from(self.step(index, Extension::None)?).ok()?;
        let inside = self.func.def_inst(address).map(|i| self.func.insts[i].flags);
        let inside = inside.is_some_and(|f| f.intersects(InstFlags::INBOUNDS | InstFlags::NUSW));
        let no_wrap = data.flags.intersects(InstFlags::NSW | InstFlags::NUW);
        let exact = match term.extension {
            Extension::None => self.is_narrow(length) || no_wrap && inside,
            Extension::Signed => data.flags.contains(InstFlags::NSW),
            Extension::Unsigned => data.flags.contains(InstFlags::NUW),
        };
        Some(Row { term, index, length, step, exact })
    }

    /// Whether a number is the extension of one of at most 32 bits, so that 64 times as much, times a small size,
    /// does not wrap.
    fn is_narrow(&self, v: Value) -> bool {
        let narrow = |func: &Function, v: Value| {
            let Some(inst) = func.def_inst(v) else { return false };
            let data = &func.insts[inst];
            matches!(data.op, Op::Cast(CastOp::ZExt | CastOp::SExt))
                && func.ty(data.args[0]).int_bits().is_some_and(|bits| bits <= 32)
        };
        match (self.sym(v), self.region) {
            (Sym::Outer(outer), Some(region)) => narrow(region.func, outer),
            _ => narrow(self.func, v),
        }
    }
}

/// The variable that an address begins at.
pub(super) fn global(func: &Function, v: Value, offset: &mut i64) -> Option<Sym> {
    match func.constant(v) {
        Some(&Constant::Address { symbol, offset: more, .. }) => {
            *offset = offset.wrapping_add(more);
            Some(Sym::Global(symbol))
        }
        _ => None,
    }
}

impl Moving {
    /// Whether it adds less than 2^56 to an address, whatever it is, so that it does not wrap.
    pub(super) fn is_small(&self, func: &Function) -> bool {
        let narrow = self.term.extension != Extension::None
            && func.ty(self.value).int_bits().is_some_and(|bits| bits <= 32)
            && self.term.scale.unsigned_abs() < 1 << 24;
        let is_near = |x: i128| x.unsigned_abs() < 1 << 56;
        narrow || self.stretch().is_some_and(|(least, most)| is_near(least) && is_near(most))
    }

    /// The least and the greatest number of bytes that it adds, if it is bounded.
    pub(crate) fn stretch(&self) -> Option<(i128, i128)> {
        let (least, most) = self.range?;
        let scale = i128::from(self.term.scale);
        let ends = [least.checked_mul(scale)?, most.checked_mul(scale)?];
        Some((ends[0].min(ends[1]), ends[0].max(ends[1])))
    }
}

impl Place {
    /// The same place but for a constant and for what moves: that constant.
    pub(crate) fn distance(&self, other: &Place) -> Option<i64> {
        let same = self.base == other.base && self.terms == other.terms;
        same.then(|| other.offset.wrapping_sub(self.offset))
    }

    /// The bytes that an access of this size touches, counted from `base + Σ terms + offset`, if what moves is
    /// bounded. Wide ranges are given up.
    pub(crate) fn bytes(&self, size: u64) -> Option<(i64, i64)> {
        let (mut low, mut high) = (0i128, i128::from(size));
        for m in &self.moving {
            let (least, most) = m.stretch()?;
            low += least;
            high += most;
        }
        let fits = |x: i128| i64::try_from(x).ok().filter(|x| x.unsigned_abs() < 1 << 60);
        Some((fits(low)?, fits(high)?))
    }
}
