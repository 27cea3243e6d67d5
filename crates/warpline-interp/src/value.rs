//! Values of the interpreter: flat rows of cells.

use smallvec::{SmallVec, smallvec};

/// What is known of a cell or of a byte of memory.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum State {
    /// The bits are the value.
    #[default]
    Defined,
    /// LLVM's `undef`: any value, another one at each use.
    Undef,
    /// LLVM's `poison`.
    Poison,
}

/// A scalar: an integer or floating-point number of at most 128 bits, or an address.
///
/// The bits are zero-extended; they are zero in an undefined or poison cell, so that `==` compares meaning.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Cell {
    /// The bits, zero-extended.
    pub bits: u128,
    /// Whether they mean anything.
    pub state: State,
}

impl Cell {
    /// The poison cell.
    pub const POISON: Cell = Cell { bits: 0, state: State::Poison };
    /// The undefined cell.
    pub(crate) const UNDEF: Cell = Cell { bits: 0, state: State::Undef };
    /// Zero of any type.
    pub const ZERO: Cell = Cell { bits: 0, state: State::Defined };

    /// A defined cell; bits above the type's width must be zero.
    pub fn new(bits: u128) -> Cell {
        Cell { bits, state: State::Defined }
    }

    /// A boolean.
    pub fn bool(b: bool) -> Cell {
        Cell::new(u128::from(b))
    }

    /// Whether the bits mean anything.
    pub fn is_defined(self) -> bool {
        self.state == State::Defined
    }

    /// The bits, if they mean anything.
    pub fn defined(self) -> Option<u128> {
        self.is_defined().then_some(self.bits)
    }

    /// Whether a program that yields `self` may be replaced by one that yields `other`: poison by anything,
    /// undef by anything but poison, a defined value by itself only.
    pub fn refined_by(self, other: Cell) -> bool {
        match self.state {
            State::Poison => true,
            State::Undef => other.state != State::Poison,
            State::Defined => self == other,
        }
    }
}

/// A value: the cells of its scalars in order. A scalar has one, a vector one per element, an aggregate
/// those of its members one after the other.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Val {
    /// The cells.
    pub cells: SmallVec<[Cell; 1]>,
}

impl Val {
    /// A scalar with these bits (zero-extended).
    pub fn int(bits: u128) -> Val {
        Val::from(Cell::new(bits))
    }

    /// A signed integer of `width` bits (at most 128).
    pub fn signed(width: u32, value: i128) -> Val {
        Val::int(super::scalar::truncate(value as u128, width))
    }

    /// A boolean.
    pub fn bool(b: bool) -> Val {
        Val::from(Cell::bool(b))
    }

    /// A `float`.
    pub fn f32(x: f32) -> Val {
        Val::int(u128::from(x.to_bits()))
    }

    /// A `double`.
    pub fn f64(x: f64) -> Val {
        Val::int(u128::from(x.to_bits()))
    }

    /// An address.
    pub fn ptr(address: u64) -> Val {
        Val::int(u128::from(address))
    }

    /// `n` poison cells.
    pub fn poison(n: usize) -> Val {
        Val { cells: smallvec![Cell::POISON; n] }
    }

    /// The value of these cells.
    pub fn of_cells(cells: &[Cell]) -> Val {
        Val { cells: SmallVec::from_slice(cells) }
    }

    /// The cell of a scalar; `None` for anything else.
    pub fn scalar(&self) -> Option<Cell> {
        match self.cells[..] {
            [c] => Some(c),
            _ => None,
        }
    }

    /// The bits of a defined scalar.
    pub fn bits(&self) -> Option<u128> {
        self.scalar()?.defined()
    }

    /// The number that a defined `double` is.
    pub fn as_f64(&self) -> Option<f64> {
        Some(f64::from_bits(self.bits()? as u64))
    }

    /// Cell by cell [`Cell::refined_by`].
    pub fn refined_by(&self, other: &Val) -> bool {
        self.cells.len() == other.cells.len()
            && self.cells.iter().zip(&other.cells).all(|(a, b)| a.refined_by(*b))
    }
}

impl From<Cell> for Val {
    fn from(c: Cell) -> Val {
        Val { cells: smallvec![c] }
    }
}

/// A set of at most 64 lanes; bit *k* is lane *k*.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Default)]
pub struct LaneSet(pub u64);

impl LaneSet {
    /// The lanes `0..n`, `n` at most 64.
    pub fn first(n: u32) -> LaneSet {
        LaneSet(if n >= 64 { u64::MAX } else { (1 << n) - 1 })
    }

    /// The set of one lane.
    pub fn one(lane: u32) -> LaneSet {
        LaneSet(1 << lane)
    }

    /// Whether no lane is in the set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of lanes.
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether the lane is in the set.
    pub fn contains(self, lane: u32) -> bool {
        self.0 >> lane & 1 != 0
    }

    /// Adds a lane.
    pub fn insert(&mut self, lane: u32) {
        self.0 |= 1 << lane;
    }

    /// Adds the lanes of another set.
    pub fn union(self, other: LaneSet) -> LaneSet {
        LaneSet(self.0 | other.0)
    }

    /// The lanes that are in both sets.
    pub fn intersection(self, other: LaneSet) -> LaneSet {
        LaneSet(self.0 & other.0)
    }

    /// The lanes of this set that are not in the other.
    pub fn minus(self, other: LaneSet) -> LaneSet {
        LaneSet(self.0 & !other.0)
    }

    /// The lanes in ascending order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let lane = (rest != 0).then(|| rest.trailing_zeros());
            rest &= rest.wrapping_sub(1);
            lane
        })
    }

    /// The lane with the lowest number.
    pub fn lowest(self) -> Option<u32> {
        (self.0 != 0).then(|| self.0.trailing_zeros())
    }
}

impl std::fmt::Debug for LaneSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
