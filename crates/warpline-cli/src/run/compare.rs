//! Holding results against a reference.

use crate::spec::{Elem, Tolerance};

use super::data::element;

/// How far results were from a reference.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Elements that were compared.
    pub elements: u64,
    /// Elements that are further off than allowed.
    pub mismatches: u64,
    /// The largest error in units in the last place, of elements that are numbers in both and not within the
    /// tolerance's absolute bound.
    pub max_ulp: u64,
    /// The largest error relative to the reference, of the same elements.
    pub max_rel: f64,
    /// The largest absolute error of elements that are numbers in both.
    pub max_abs: f64,
    /// The first mismatch, in words.
    pub first: Option<String>,
}

impl Comparison {
    /// Compares one element. Bits must be equal, or both be NaN, or, if there is a tolerance, numbers within it.
    pub fn element(
        &mut self,
        elem: Elem,
        reference: u64,
        found: u64,
        tolerance: Option<&Tolerance>,
        place: impl FnOnce() -> String,
    ) {
        self.elements += 1;
        if reference == found {
            return;
        }
        let within = match elem {
            Elem::F32 | Elem::F64 => {
                let (a, b) = (number(elem, reference), number(elem, found));
                if a.is_nan() && b.is_nan() {
                    return;
                }
                if a.is_nan() || b.is_nan() {
                    false
                } else {
                    let ulp = ulp_distance(elem, reference, found);
                    let abs = (a - b).abs();
                    let rel = if a == b { 0.0 } else { abs / a.abs() };
                    self.max_abs = self.max_abs.max(abs);
                    let bound = |of: fn(&Tolerance) -> Option<f64>| tolerance.and_then(of);
                    // Near zero, where the absolute bound decides, the other measures mean nothing.
                    if bound(|t| t.abs).is_some_and(|x| abs <= x) {
                        return;
                    }
                    self.max_ulp = self.max_ulp.max(ulp);
                    self.max_rel = self.max_rel.max(rel);
                    tolerance.and_then(|t| t.ulp).is_some_and(|n| ulp <= n)
                        || bound(|t| t.rel).is_some_and(|x| rel <= x)
                }
            }
            Elem::Bool | Elem::Int(_) => false,
        };
        if !within {
            self.mismatches += 1;
            if self.first.is_none() {
                self.first =
                    Some(format!("{}: {} instead of {}", place(), show(elem, found), show(elem, reference)));
            }
        }
    }

    /// Compares two arrays.
    pub fn arrays(
        &mut self,
        elem: Elem,
        reference: &[u8],
        found: &[u8],
        tolerance: Option<&Tolerance>,
        name: &str,
    ) {
        if reference == found {
            self.elements += (reference.len() / elem.bytes()) as u64;
            return;
        }
        for k in 0..reference.len().min(found.len()) / elem.bytes() {
            let (a, b) = (element(reference, elem, k), element(found, elem, k));
            self.element(elem, a, b, tolerance, || format!("{name}[{k}]"));
        }
    }
}

fn number(elem: Elem, bits: u64) -> f64 {
    match elem {
        Elem::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// The number of representable numbers between two.
pub fn ulp_distance(elem: Elem, a: u64, b: u64) -> u64 {
    let ordered = |bits: u64| match elem {
        Elem::F32 => {
            let x = i128::from(bits as u32 as i32);
            if x < 0 { i128::from(i32::MIN) - x } else { x }
        }
        _ => {
            let x = i128::from(bits as i64);
            if x < 0 { i128::from(i64::MIN) - x } else { x }
        }
    };
    u64::try_from((ordered(a) - ordered(b)).unsigned_abs()).unwrap_or(u64::MAX)
}

/// A number in words.
pub fn show(elem: Elem, bits: u64) -> String {
    match elem {
        Elem::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        Elem::F64 => format!("{:?}", f64::from_bits(bits)),
        Elem::Bool => format!("{}", bits),
        Elem::Int(n) => format!("{}", ((bits << (64 - n)) as i64) >> (64 - n)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(a: f32, b: f32, tolerance: Option<&Tolerance>) -> Comparison {
        let mut c = Comparison::default();
        c.element(Elem::F32, a.to_bits().into(), b.to_bits().into(), tolerance, || "x[0]".into());
        c
    }

    #[test]
    fn without_a_tolerance_only_equal_bits_and_nans_pass() {
        assert_eq!(compare(1.0, 1.0, None).mismatches, 0);
        assert_eq!(compare(f32::NAN, -f32::NAN, None).mismatches, 0);
        assert_eq!(compare(0.0, -0.0, None).mismatches, 1);
        assert_eq!(compare(f32::NAN, 1.0, None).mismatches, 1);
        let off = compare(1.0, 1.0 + f32::EPSILON, None);
        assert_eq!((off.mismatches, off.max_ulp), (1, 1));
        assert_eq!(off.first.as_deref(), Some("x[0]: 1.0000001 instead of 1.0"));
    }

    #[test]
    fn any_bound_of_a_tolerance_suffices() {
        let t = Tolerance { ulp: Some(2), rel: None, abs: Some(1e-3) };
        assert_eq!(compare(1.0, 1.0 + 2.0 * f32::EPSILON, Some(&t)).mismatches, 0);
        assert_eq!(compare(1e-9, -1e-9, Some(&t)).mismatches, 0);
        assert_eq!(compare(1.0, 1.1, Some(&t)).mismatches, 1);
        assert_eq!(compare(f32::INFINITY, f32::MAX, Some(&t)).mismatches, 0);
        assert_eq!(compare(1e-9, -1e-9, Some(&t)).max_ulp, 0);
        assert_eq!(compare(1.0, f32::NAN, Some(&t)).mismatches, 1);
    }

    #[test]
    fn distances_count_the_numbers_in_between_across_zero() {
        let tiny = f32::from_bits(1);
        assert_eq!(compare(tiny, -tiny, None).max_ulp, 2);
    }
}
