//! Operations on lanes: what they are, and the functions by which a kernel asks for them.
//!
//! A kernel calls `warpline_…`, an external function; where the operation works on values of several types, the name
//! ends in the type (`warpline_reduce_add_f32`). This module is the one place that knows names and types: import,
//! verifier and interpreter ask it, and the declarations for C and Rust, in the crate `warpline-lanes`, are tested
//! against it.

use super::types::{FloatKind, Type};

/// What values of several lanes are combined with, in reductions and scans.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Combine {
    /// The sum; of floating-point numbers in the order of lanes.
    Add,
    /// The product; of floating-point numbers in the order of lanes.
    Mul,
    /// The smallest signed or floating-point number (`minimum` of IEEE 754-2019: NaN if there is one, −0 below +0).
    Min,
    /// The greatest signed or floating-point number (`maximum` of IEEE 754-2019).
    Max,
    /// The smallest unsigned number.
    UMin,
    /// The greatest unsigned number.
    UMax,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

impl Combine {
    /// All of them.
    pub const ALL: [Combine; 9] = [
        Combine::Add,
        Combine::Mul,
        Combine::Min,
        Combine::Max,
        Combine::UMin,
        Combine::UMax,
        Combine::And,
        Combine::Or,
        Combine::Xor,
    ];

    /// Whether it is defined for numbers of a type.
    pub fn fits(self, ty: Type) -> bool {
        match ty {
            Type::Int(bits) => bits <= 64,
            Type::F32 | Type::F64 => {
                matches!(self, Combine::Add | Combine::Mul | Combine::Min | Combine::Max)
            }
            _ => false,
        }
    }

    /// Whether values of a type are combined in the order of lanes, since another order rounds otherwise.
    pub fn is_in_order(self, ty: Type) -> bool {
        ty.is_float() && matches!(self, Combine::Add | Combine::Mul)
    }

    /// The bits of the element that changes no other one it is combined with; the type must [fit](Combine::fits).
    pub fn neutral(self, ty: Type) -> u128 {
        let ones = |bits: u32| (1u128 << bits) - 1;
        match (self, ty) {
            (Combine::Add, Type::F32) => (-0.0f32).to_bits().into(),
            (Combine::Add, Type::F64) => (-0.0f64).to_bits().into(),
            (Combine::Mul, Type::F32) => 1.0f32.to_bits().into(),
            (Combine::Mul, Type::F64) => 1.0f64.to_bits().into(),
            (Combine::Min, Type::F32) => f32::INFINITY.to_bits().into(),
            (Combine::Min, Type::F64) => f64::INFINITY.to_bits().into(),
            (Combine::Max, Type::F32) => f32::NEG_INFINITY.to_bits().into(),
            (Combine::Max, Type::F64) => f64::NEG_INFINITY.to_bits().into(),
            (Combine::Mul, _) => 1,
            (Combine::Min, Type::Int(bits)) => ones(bits - 1),
            (Combine::Max, Type::Int(bits)) => 1 << (bits - 1),
            (Combine::UMin | Combine::And, Type::Int(bits)) => ones(bits),
            _ => 0,
        }
    }

    /// What an exclusive scan begins with: the neutral element, and for sums 0, which is not quite neutral to −0.
    pub fn beginning(self, ty: Type) -> u128 {
        if self == Combine::Add { 0 } else { self.neutral(ty) }
    }
}

/// Operations on lanes. In a scalar program they mean what one lane alone would see; in a lane program
/// they look at all lanes.
///
/// Those up to `Scan…` are what a kernel may call and look at the *active* lanes. The `Mask…` operations and
/// `Blend` are made by the vectorizer; they compute every lane, active or not, and never yield poison
/// where the mask is false.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LaneOp {
    /// `any c`: whether an active lane's `c : i1` is true. Uniform `i1`.
    Any,
    /// `all c`: whether all active lanes' `c : i1` are true. Uniform `i1`.
    All,
    /// `ballot c`: bit *k* says whether lane *k* is active and its `c : i1` true. Uniform `i64`.
    Ballot,
    /// `popcount c`: how many active lanes have `c : i1` true. Uniform `i32`.
    Popcount,
    /// `bit_of_lane m`: whether bit *k* of `m : i64` is 1, in lane *k*: what `ballot` yields, taken apart.
    BitOfLane,
    /// `lane_index`: the number of the lane, contiguous `i32`.
    LaneIndex,
    /// `lane_count`: the number of lanes W, uniform `i32`.
    LaneCount,
    /// `shuffle x, k`: the `x` of lane `k : i32` (unsigned), or zero if there is no such lane or it is not active.
    /// Uniform if `k` is.
    Shuffle,
    /// `first x, c`: the `x` of the first active lane whose `c : i1` is true, or zero if there is none. Uniform.
    First,
    /// `uniform x`: `x`, which the program says to be the same in all active lanes. Uniform.
    Uniform,
    /// `insert x, k, y`: `y` in lane `k : i32`, `x` in the others.
    Insert,
    /// `compact p, x, c`: of the active lanes whose `c : i1` is true, in their order, the *n*-th stores its `x` at
    /// its `p + n`, counted in elements and from 0. How many have stored, uniform `i32`.
    Compact,
    /// `reduce_… x`: the `x` of all active lanes combined. Uniform.
    Reduce(Combine),
    /// `scan_exclusive_… x`: the `x` of the active lanes before this one combined, beginning with
    /// [`Combine::beginning`].
    ScanExclusive(Combine),
    /// `scan_inclusive_… x`: the `x` of the active lanes up to this one combined.
    ScanInclusive(Combine),
    /// `mask_any m`: whether `m` is true in any lane of the group (masks are false in inactive lanes).
    MaskAny,
    /// `mask_and m, c` = `select m, c, false`: `c` may be poison where `m` is false.
    MaskAnd,
    /// `mask_andnot m, c` = `select m, !c, false`.
    MaskAndNot,
    /// `mask_or a, b`: both are masks, never poison.
    MaskOr,
    /// `blend m, a, b` = `select m, a, b` for a mask `m`; `a` and `b` of any type.
    Blend,
    /// `blend_any m, a, b` = `blend m, a, b`, with the promise that the lanes of `a`, where it counts, and those of
    /// the result are uniform or have one stride: `a` may be taken for all lanes if `m` is true in any.
    BlendAny,
}

/// On which lanes' behalf a [`LaneOp`] yields its result.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Yields {
    /// All active lanes get the same.
    Uniform,
    /// All get the same if this operand is the same for all.
    UniformIf(usize),
    /// As its operands do.
    AsOperands,
    /// It tells lanes apart.
    LaneNumber,
    /// It depends on the lanes that are active before this one.
    Others,
}

/// The operations that do not combine anything, with their keywords.
const SIMPLE: [(LaneOp, &str); 18] = [
    (LaneOp::Any, "any"),
    (LaneOp::All, "all"),
    (LaneOp::Ballot, "ballot"),
    (LaneOp::Popcount, "popcount"),
    (LaneOp::BitOfLane, "bit_of_lane"),
    (LaneOp::LaneIndex, "lane_index"),
    (LaneOp::LaneCount, "lane_count"),
    (LaneOp::Shuffle, "shuffle"),
    (LaneOp::First, "first"),
    (LaneOp::Uniform, "uniform"),
    (LaneOp::Insert, "insert"),
    (LaneOp::Compact, "compact"),
    (LaneOp::MaskAny, "mask_any"),
    (LaneOp::MaskAnd, "mask_and"),
    (LaneOp::MaskAndNot, "mask_andnot"),
    (LaneOp::MaskOr, "mask_or"),
    (LaneOp::Blend, "blend"),
    (LaneOp::BlendAny, "blend_any"),
];

/// The keywords of what combines, by [`Combine`].
macro_rules! combining {
    ($prefix:literal) => {
        [
            concat!($prefix, "add"),
            concat!($prefix, "mul"),
            concat!($prefix, "min"),
            concat!($prefix, "max"),
            concat!($prefix, "umin"),
            concat!($prefix, "umax"),
            concat!($prefix, "and"),
            concat!($prefix, "or"),
            concat!($prefix, "xor"),
        ]
    };
}
const REDUCE: [&str; 9] = combining!("reduce_");
const SCAN_EXCLUSIVE: [&str; 9] = combining!("scan_exclusive_");
const SCAN_INCLUSIVE: [&str; 9] = combining!("scan_inclusive_");

/// Element types in the names of functions; of unsigned ones whether the name says so.
pub const ELEMENTS: [(&str, Type, bool); 10] = [
    ("i8", Type::Int(8), false),
    ("i16", Type::Int(16), false),
    ("i32", Type::Int(32), false),
    ("i64", Type::Int(64), false),
    ("u8", Type::Int(8), true),
    ("u16", Type::Int(16), true),
    ("u32", Type::Int(32), true),
    ("u64", Type::Int(64), true),
    ("f32", Type::Float(FloatKind::Float), false),
    ("f64", Type::Float(FloatKind::Double), false),
];

impl LaneOp {
    /// Whether it combines masks or chooses by one, as vectorized code does and no program that is given to the
    /// vectorizer.
    pub fn is_of_masks(self) -> bool {
        use LaneOp::{Blend, BlendAny, MaskAnd, MaskAndNot, MaskAny, MaskOr};
        matches!(self, MaskAny | MaskAnd | MaskAndNot | MaskOr | Blend | BlendAny)
    }

    /// All operations.
    pub fn all() -> impl Iterator<Item = LaneOp> {
        let combined = |op: fn(Combine) -> LaneOp| Combine::ALL.into_iter().map(op);
        SIMPLE
            .into_iter()
            .map(|(op, _)| op)
            .chain(combined(LaneOp::Reduce))
            .chain(combined(LaneOp::ScanExclusive))
            .chain(combined(LaneOp::ScanInclusive))
    }

    /// The keyword of the text form.
    pub fn name(self) -> &'static str {
        match self {
            LaneOp::Reduce(c) => REDUCE[c as usize],
            LaneOp::ScanExclusive(c) => SCAN_EXCLUSIVE[c as usize],
            LaneOp::ScanInclusive(c) => SCAN_INCLUSIVE[c as usize],
            simple => SIMPLE.iter().find(|(op, _)| *op == simple).map_or("", |(_, name)| name),
        }
    }

    /// The operation of this keyword.
    pub fn from_name(text: &str) -> Option<LaneOp> {
        LaneOp::all().find(|op| op.name() == text)
    }

    /// Whether a kernel asks for it. Others are the vectorizer's own.
    pub fn is_asked_by_kernels(self) -> bool {
        !matches!(
            self,
            LaneOp::MaskAny
                | LaneOp::MaskAnd
                | LaneOp::MaskAndNot
                | LaneOp::MaskOr
                | LaneOp::Blend
                | LaneOp::BlendAny
                | LaneOp::BitOfLane
        )
    }

    /// Whether the result depends on which lanes are active, or other lanes' operands.
    pub(crate) fn is_convergent(self) -> bool {
        self.is_asked_by_kernels() && !matches!(self, LaneOp::LaneIndex | LaneOp::LaneCount | LaneOp::Insert)
    }

    /// Whether the result is uniform.
    pub fn yields(self) -> Yields {
        use LaneOp::{Blend, BlendAny, MaskAnd, MaskAndNot, MaskOr};
        match self {
            LaneOp::LaneIndex | LaneOp::BitOfLane | LaneOp::Insert => Yields::LaneNumber,
            LaneOp::Any | LaneOp::All | LaneOp::Ballot | LaneOp::Popcount | LaneOp::LaneCount => {
                Yields::Uniform
            }
            LaneOp::First | LaneOp::Uniform | LaneOp::Compact | LaneOp::Reduce(_) | LaneOp::MaskAny => {
                Yields::Uniform
            }
            // Of whatever lane all of them ask for, they get the same.
            LaneOp::Shuffle => Yields::UniformIf(1),
            LaneOp::ScanExclusive(_) | LaneOp::ScanInclusive(_) => Yields::Others,
            MaskAnd | MaskAndNot | MaskOr | Blend | BlendAny => Yields::AsOperands,
        }
    }

    /// Whether it works on values of several types.
    pub fn has_element(self) -> bool {
        matches!(
            self,
            LaneOp::Shuffle
                | LaneOp::First
                | LaneOp::Uniform
                | LaneOp::Insert
                | LaneOp::Compact
                | LaneOp::Reduce(_)
                | LaneOp::ScanExclusive(_)
                | LaneOp::ScanInclusive(_)
        )
    }

    /// What it combines with, if it is a reduction or scan.
    pub fn combine(self) -> Option<Combine> {
        match self {
            LaneOp::Reduce(c) | LaneOp::ScanExclusive(c) | LaneOp::ScanInclusive(c) => Some(c),
            _ => None,
        }
    }

    /// The types of operands and result for elements of type `elem`, which counts only where the operation works on
    /// several types (and for the arms of blends).
    pub fn signature(self, elem: Type) -> (Vec<Type>, Type) {
        const LANE: Type = Type::Int(32);
        let bools = |n: usize| vec![Type::BOOL; n];
        match self {
            LaneOp::Any | LaneOp::All | LaneOp::MaskAny => (bools(1), Type::BOOL),
            LaneOp::Ballot => (bools(1), Type::Int(64)),
            LaneOp::Popcount => (bools(1), Type::Int(32)),
            LaneOp::BitOfLane => (vec![Type::Int(64)], Type::BOOL),
            LaneOp::LaneIndex | LaneOp::LaneCount => (Vec::new(), Type::Int(32)),
            LaneOp::Shuffle => (vec![elem, LANE], elem),
            LaneOp::Insert => (vec![elem, LANE, elem], elem),
            LaneOp::Compact => (vec![Type::PTR, elem, Type::BOOL], Type::Int(32)),
            LaneOp::First => (vec![elem, Type::BOOL], elem),
            LaneOp::Uniform | LaneOp::Reduce(_) | LaneOp::ScanExclusive(_) | LaneOp::ScanInclusive(_) => {
                (vec![elem], elem)
            }
            LaneOp::MaskAnd | LaneOp::MaskAndNot | LaneOp::MaskOr => (bools(2), Type::BOOL),
            LaneOp::Blend | LaneOp::BlendAny => (vec![Type::BOOL, elem, elem], elem),
        }
    }

    /// Whether elements may have this type. Pointers have no place in names of functions; the vectorizer asks for the
    /// first one by itself.
    pub fn takes(self, elem: Type) -> bool {
        let known = ELEMENTS.iter().any(|&(_, ty, _)| ty == elem) || (self == LaneOp::First && elem.is_ptr());
        known && self.combine().is_none_or(|c| c.fits(elem))
    }

    /// The operation of a function of this name, and the type of its elements (void if it has none).
    pub fn declared(name: &str) -> Option<(LaneOp, Type)> {
        let stem = name.strip_prefix("warpline_")?;
        if let Some(op) = LaneOp::from_name(stem) {
            return (op.is_asked_by_kernels() && !op.has_element()).then_some((op, Type::Void));
        }
        let (stem, suffix) = stem.rsplit_once('_')?;
        let &(_, ty, unsigned) = ELEMENTS.iter().find(|(name, ..)| *name == suffix)?;
        // A broadcast is the shuffle in which all lanes ask for the same one.
        let stem = if matches!(stem, "broadcast" | "extract") { "shuffle" } else { stem };
        let op = match LaneOp::from_name(stem)?.with_sign(unsigned) {
            Some(op) if op.has_element() && op.takes(ty) => op,
            _ => return None,
        };
        Some((op, ty))
    }

    /// The operation that a name with this keyword means for unsigned or signed numbers. Keywords of unsigned minima
    /// and maxima stand in no name.
    fn with_sign(self, unsigned: bool) -> Option<LaneOp> {
        let sign = |c: Combine| match c {
            Combine::UMin | Combine::UMax => None,
            Combine::Min if unsigned => Some(Combine::UMin),
            Combine::Max if unsigned => Some(Combine::UMax),
            c => Some(c),
        };
        Some(match self {
            LaneOp::Reduce(c) => LaneOp::Reduce(sign(c)?),
            LaneOp::ScanExclusive(c) => LaneOp::ScanExclusive(sign(c)?),
            LaneOp::ScanInclusive(c) => LaneOp::ScanInclusive(sign(c)?),
            op => op,
        })
    }

    /// The name of a function for the operation on elements of this type.
    pub fn function_name(self, elem: Type) -> String {
        if !self.has_element() {
            return format!("warpline_{}", self.name());
        }
        let unsigned = matches!(self.combine(), Some(Combine::UMin | Combine::UMax));
        let stem = match self.combine() {
            Some(Combine::UMin) => self.name().replace("umin", "min"),
            Some(Combine::UMax) => self.name().replace("umax", "max"),
            _ => self.name().to_owned(),
        };
        let suffix = ELEMENTS.iter().find(|&&(_, ty, u)| ty == elem && u == unsigned);
        format!("warpline_{stem}_{}", suffix.map_or("", |(name, ..)| name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_one_name_and_every_name_its_function() {
        for op in LaneOp::all().filter(|op| op.is_asked_by_kernels()) {
            assert_eq!(LaneOp::from_name(op.name()), Some(op));
            let types: Vec<Type> = match op.has_element() {
                true => ELEMENTS.iter().map(|&(_, ty, _)| ty).filter(|&ty| op.takes(ty)).collect(),
                false => vec![Type::Void],
            };
            assert!(!types.is_empty(), "{op:?}");
            for ty in types {
                assert_eq!(LaneOp::declared(&op.function_name(ty)), Some((op, ty)));
            }
        }
    }

    #[test]
    fn unsigned_types_ask_for_unsigned_minima_and_other_names_for_nothing() {
        let u8s = Type::Int(8);
        assert_eq!(LaneOp::declared("warpline_reduce_min_u8"), Some((LaneOp::Reduce(Combine::UMin), u8s)));
        assert_eq!(LaneOp::declared("warpline_reduce_min_i8"), Some((LaneOp::Reduce(Combine::Min), u8s)));
        assert_eq!(LaneOp::declared("warpline_broadcast_f32"), Some((LaneOp::Shuffle, Type::F32)));
        for name in [
            "warpline_reduce_umin_u8",
            "warpline_reduce_and_f32",
            "warpline_shuffle",
            "warpline_any_i32",
            "warpline_mask_any",
            "any",
        ] {
            assert_eq!(LaneOp::declared(name), None, "{name}");
        }
    }

    #[test]
    fn neutral_elements_of_integers_change_nothing() {
        assert_eq!(Combine::Min.neutral(Type::Int(8)), 127);
        assert_eq!(Combine::Max.neutral(Type::Int(8)), 128);
        assert_eq!(Combine::UMin.neutral(Type::Int(64)), u128::from(u64::MAX));
        assert_eq!(Combine::Mul.neutral(Type::Int(16)), 1);
    }
}
