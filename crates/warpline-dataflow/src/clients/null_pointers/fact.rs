//! What a value may be.

use warpline_analysis::dataflow::Lattice;

use warpline_ir::IntPred;

/// A set of what a value may be: null and the program knows that it can be, null although nobody has looked, not
/// null. For what is no pointer, read zero for null.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Nullness(u8);

impl Nullness {
    /// It has no value: control does not come there, or it is poison.
    pub const NONE: Nullness = Nullness(0);
    /// It is null, and the program knows that it can be.
    pub(crate) const NULL: Nullness = Nullness(1);
    /// It is not null.
    pub const NOT_NULL: Nullness = Nullness(2);
    /// It is null, and the program has not looked.
    const UNSEEN: Nullness = Nullness(4);
    /// It may be null or not, and the program has not looked.
    pub const UNKNOWN: Nullness = Nullness(4 | 2);

    /// Whether it may be null.
    pub fn may_be_null(self) -> bool {
        self.0 & (Nullness::NULL.0 | Nullness::UNSEEN.0) != 0
    }

    /// Whether it may be something else than null.
    pub fn may_be_other(self) -> bool {
        self.0 & Nullness::NOT_NULL.0 != 0
    }

    /// Whether the program itself lets it be null.
    pub(crate) fn has_known_null(self) -> bool {
        self.0 & Nullness::NULL.0 != 0
    }

    /// What it may be, one by one.
    fn members(self) -> impl Iterator<Item = Nullness> {
        [Nullness::NULL, Nullness::NOT_NULL, Nullness::UNSEEN].into_iter().filter(move |m| self.0 & m.0 != 0)
    }

    /// The union: what may be in either.
    #[must_use]
    pub fn or(self, other: Nullness) -> Nullness {
        Nullness(self.0 | other.0)
    }

    /// What is left if it is null.
    #[must_use]
    pub(crate) fn if_null(self) -> Nullness {
        if self.may_be_null() { Nullness::NULL } else { Nullness::NONE }
    }

    /// What is left if it is not null.
    #[must_use]
    pub(crate) fn if_not_null(self) -> Nullness {
        if self.may_be_other() { Nullness::NOT_NULL } else { Nullness::NONE }
    }

    /// A truth value that may be true, or false, as stated.
    pub fn truth(may_be_true: bool, may_be_false: bool) -> Nullness {
        let one = |is: bool, fact: Nullness| if is { fact } else { Nullness::NONE };
        one(may_be_true, Nullness::NOT_NULL).or(one(may_be_false, Nullness::NULL))
    }

    /// The outcome of a comparison.
    pub fn compare(pred: IntPred, a: Nullness, b: Nullness) -> Nullness {
        let mut all = Nullness::NONE;
        for (x, y) in pairs(a, b) {
            let (is_true, is_false) = outcomes(pred, x.may_be_null(), y.may_be_null());
            all = all.or(Nullness::truth(is_true, is_false));
        }
        all
    }

    /// What two values are if a comparison of them holds. What equals a null that the program knows of is one.
    pub fn compared(pred: IntPred, a: Nullness, b: Nullness) -> (Nullness, Nullness) {
        let mut found = (Nullness::NONE, Nullness::NONE);
        for (x, y) in pairs(a, b).filter(|(x, y)| outcomes(pred, x.may_be_null(), y.may_be_null()).0) {
            let known = pred == IntPred::Eq && x.may_be_null() && x.or(y).has_known_null();
            let (x, y) = if known { (Nullness::NULL, Nullness::NULL) } else { (x, y) };
            found = (found.0.or(x), found.1.or(y));
        }
        found
    }
}

/// All choices of what two values are.
fn pairs(a: Nullness, b: Nullness) -> impl Iterator<Item = (Nullness, Nullness)> {
    a.members().flat_map(move |x| b.members().map(move |y| (x, y)))
}

/// Whether a comparison may be true and may be false, of two values that are null or not.
fn outcomes(pred: IntPred, a_null: bool, b_null: bool) -> (bool, bool) {
    match (pred, a_null, b_null) {
        (IntPred::Eq | IntPred::Ule | IntPred::Uge | IntPred::Sle | IntPred::Sge, true, true) => {
            (true, false)
        }
        (_, true, true) => (false, true),
        (IntPred::Eq | IntPred::Uge | IntPred::Ugt, true, false) => (false, true),
        (IntPred::Ne | IntPred::Ule | IntPred::Ult, true, false) => (true, false),
        (IntPred::Eq | IntPred::Ule | IntPred::Ult, false, true) => (false, true),
        (IntPred::Ne | IntPred::Uge | IntPred::Ugt, false, true) => (true, false),
        _ => (true, true),
    }
}

impl Lattice for Nullness {
    fn top() -> Nullness {
        Nullness::NONE
    }

    fn meet(&mut self, other: &Nullness) -> bool {
        let old = *self;
        self.0 |= other.0;
        *self != old
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of pointers of three bits, those that a fact allows.
    fn values(fact: Nullness) -> Vec<u32> {
        (0..8).filter(|&v| if v == 0 { fact.may_be_null() } else { fact.may_be_other() }).collect()
    }

    fn holds(pred: IntPred, a: u32, b: u32) -> bool {
        let signed = |x: u32| (x as i32 ^ 4) - 4;
        match pred {
            IntPred::Eq => a == b,
            IntPred::Ne => a != b,
            IntPred::Ugt => a > b,
            IntPred::Uge => a >= b,
            IntPred::Ult => a < b,
            IntPred::Ule => a <= b,
            IntPred::Sgt => signed(a) > signed(b),
            IntPred::Sge => signed(a) >= signed(b),
            IntPred::Slt => signed(a) < signed(b),
            IntPred::Sle => signed(a) <= signed(b),
        }
    }

    #[test]
    fn comparisons_allow_every_outcome_of_allowed_values_and_keep_the_values_that_have_it() {
        for &pred in IntPred::ALL {
            for (a, b) in (0..64).map(|n| (Nullness(n % 8), Nullness(n / 8))) {
                let outcome = Nullness::compare(pred, a, b);
                let (x, y) = Nullness::compared(pred, a, b);
                for (&p, &q) in values(a).iter().flat_map(|p| values(b).leak().iter().map(move |q| (p, q))) {
                    let is = holds(pred, p, q);
                    assert!(
                        if is { outcome.may_be_other() } else { outcome.may_be_null() },
                        "{pred:?} {a:?} {b:?}"
                    );
                    assert!(!is || values(x).contains(&p) && values(y).contains(&q), "{pred:?} {a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn transfer_functions_are_monotone() {
        let all = || (0..8).map(Nullness);
        let below = |low: Nullness, high: Nullness| low.or(high) == low;
        for (high, low) in all().flat_map(|a| all().map(move |b| (a, a.or(b)))) {
            assert!(below(low.if_null(), high.if_null()) && below(low.if_not_null(), high.if_not_null()));
            for (&pred, other) in IntPred::ALL.iter().flat_map(|p| all().map(move |o| (p, o))) {
                assert!(below(Nullness::compare(pred, low, other), Nullness::compare(pred, high, other)));
                let (down, up) =
                    (Nullness::compared(pred, low, other), Nullness::compared(pred, high, other));
                assert!(below(down.0, up.0) && below(down.1, up.1), "{pred:?} {low:?} {high:?} {other:?}");
            }
        }
    }
}
