//! Fields of the elements of an array, whichever elements these are.
//!
//! In `for (i…) for (j…) b[i].vx += f(b[j].x)` nothing is known of `i` and `j` in different lanes, but `vx` and `x`
//! are different bytes of elements that have the same size. Two addresses that differ by multiples of a number *g* of
//! bytes and a constant never meet if they do not in any element of *g* bytes. *g* is no power of two in general, so
//! this holds only of addresses that [do not wrap](Address::exactly).

use smallvec::SmallVec;

use super::distance::Distance;
use super::place::{Places, Term, global};
use super::region::{Sym, sym};
use crate::divisors::gcd;
use warpline_dataflow::linear::Address;
use warpline_ir::Value;

/// An address as a sum over the integers: `base + Σ terms + offset`.
#[derive(Clone, Debug)]
pub(crate) struct Within {
    base: Sym,
    terms: SmallVec<[Term; 4]>,
    offset: i64,
}

impl Within {
    /// Of an address of the kernel. `None` if it is not understood, or begins at a pointer that is not the same in
    /// all lanes.
    pub(super) fn of(places: &Places<'_>, address: Value) -> Option<Within> {
        let Places { module, func, uniformity, region, .. } = *places;
        let is_fixed = |v: Value| uniformity.shape(v).is_uniform() && !places.moves(v);
        let found = Address::exactly(module, func, address)?;
        let name = |v: Value| sym(func, region, v);
        let mut offset = found.offset;
        let terms = found.terms.iter().map(|t| Term::of(t, name(t.value))).collect();
        let base = global(func, found.root, &mut offset).unwrap_or_else(|| name(found.root));
        match base {
            Sym::Outer(v) => {
                let around = Within::outside(places, v)?;
                let all = around.terms.into_iter().chain(terms).collect();
                let offset = around.offset.checked_add(offset)?;
                Some(Within { base: around.base, terms: merged(all)?, offset })
            }
            Sym::Inner(v) => is_fixed(v).then_some(Within { base, terms, offset }),
            Sym::Global(_) => Some(Within { base, terms, offset }),
        }
    }

    /// Of an address of the function around the kernel.
    pub(super) fn outside(places: &Places<'_>, address: Value) -> Option<Within> {
        let Some(region) = places.region else {
            return Some(Within { base: Sym::Outer(address), terms: SmallVec::new(), offset: 0 });
        };
        let found = Address::exactly(places.module, region.func, address)?;
        let mut offset = found.offset;
        let base = global(region.func, found.root, &mut offset).unwrap_or(Sym::Outer(found.root));
        let terms = found.terms.iter().map(|t| Term::of(t, Sym::Outer(t.value))).collect();
        Some(Within { base, terms, offset })
    }

    /// Whether accesses of so many bytes at two addresses never touch the same byte, in any two lanes and at any time.
    /// `is_fixed` is asked of values of the kernel: whether they are the same in all lanes and do not change.
    pub(super) fn is_apart(
        &self,
        size: u64,
        other: &Within,
        of_other: u64,
        is_fixed: impl Fn(Value) -> bool,
    ) -> bool {
        if self.base != other.base || size.max(of_other) > MAX_ELEMENT {
            return false;
        }
        let fixed = |t: &Term| !matches!(t.sym, Sym::Inner(v) if !is_fixed(v));
        let differs = |t: &&Term, others: &[Term]| !(fixed(t) && others.contains(t));
        let own = self.terms.iter().filter(|t| differs(t, &other.terms));
        let all = own.chain(other.terms.iter().filter(|t| differs(t, &self.terms)));
        let element = all.fold(0, |sum, t| gcd(sum, t.scale.unsigned_abs()));
        if element == 0 || element > MAX_ELEMENT {
            return false;
        }
        let bytes = |size: u64| (0, size as i64);
        let (delta, step) = (other.offset - self.offset, 0);
        let d = Distance { delta, step, a: bytes(size), b: bytes(of_other) };
        !d.meets_modulo(element as i64, 0)
    }
}

/// Elements and what is accessed of them are less; offsets of exact addresses are, too, so that differences do not
/// wrap.
const MAX_ELEMENT: u64 = 1 << 32;

/// The same with what is multiplied by several numbers once.
fn merged(mut terms: SmallVec<[Term; 4]>) -> Option<SmallVec<[Term; 4]>> {
    terms.sort_unstable();
    let mut all = SmallVec::<[Term; 4]>::new();
    for t in terms {
        match all.last_mut().filter(|last| (last.sym, last.extension) == (t.sym, t.extension)) {
            Some(last) => last.scale = last.scale.checked_add(t.scale)?,
            None => all.push(t),
        }
    }
    all.retain(|t| t.scale != 0);
    Some(all)
}
