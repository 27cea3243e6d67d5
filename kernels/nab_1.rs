//! Effective Born radii: how much each atom of a molecule is screened from the solvent by the others. The first of
//! three loops over pairs of atoms in generalized Born energies (Hawkins, Cramer, Truhlar: Parametrized Models of
//! Aqueous Free Energies of Solvation Based on Pairwise Descreening, 1996; with the radii of Onufriev, Bashford,
//! Case: Exploring Protein Native States, 2004), as in the function `egb` of NAB, 644.nab_s of SPEC CPU 2017 (Moll
//! and Hack: Partial Control-Flow Linearization, PLDI 2018, Sec. 6 and 7.2).
//!
//! The unit is the loop over the atoms `j` that are near an atom `i`. Each adds an integral over the part of its
//! sphere, of scaled radius s, that is outside the sphere of radius r around `i` and less than the cutoff C away; d
//! is the distance. Its closed form depends on how the spheres lie. The order of the cases is that of the paper's
//! Fig. 12:
//!
//! 1. beyond C + the largest s (line 5), or C + s (line 7): nothing; next pair
//! 2. d > C − s (line 9): the sphere is cut by the cutoff
//! 3. d > 4 s (line 10): a series, since the closed form would cancel; this is the usual case
//! 4. d > r + s (line 11): the spheres are apart
//! 5. d > |r − s| (line 12): they overlap
//! 6. r < s (line 13): `i` is within `j`; if not, `j` is within `i`, which adds nothing
//!
//! Shows: a cascade of seven divergent branches with biased outcomes. Folded, all cases are computed for all pairs,
//! four of them with logarithms or divisions. Atoms are numbered so that neighbours in a list are mostly neighbours
//! in space, and agree on the case. So tests whether any lane wants what follows (the paper's BOSCC gadgets, Sec.
//! 6.1, which stand at the last three `else`, lines 10 to 12) skip most of it. Whether coordinates have a fourth
//! dimension is uniform, and stays a branch. What `j` has is gathered; the sum is over lanes in any order.

//@ tolerance rel=1e-9

/// Radii are smaller by this for dielectric purposes, in Å.
const OFFSET: f64 = 0.09;
/// The coefficients that radii are rescaled with (Onufriev, Bashford, Case: model II).
const RESCALE: (f64, f64, f64) = (1.0, 0.8, 4.85);

/// Writes the effective radii of all atoms to `effective`, in Å.
///
/// Atom `i` has coordinates from `x[dim * i]` on, 3 or 4 as `dim` says, the radius `radius[i]`, and, where it screens
/// others, that radius less the offset times `scale[i]`, which is at most `largest`. The atoms near it are
/// `pairs[first[i]..first[i + 1]]`, each once.
///
/// # Safety
/// The arrays are as long as that takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nab_1(
    atoms: i32,
    dim: i32,
    x: *const f64,
    radius: *const f64,
    scale: *const f64,
    first: *const i32,
    pairs: *const i32,
    cutoff: f64,
    largest: f64,
    effective: *mut f64,
) {
    let dim = dim as isize;
    let farthest = (cutoff + largest) * (cutoff + largest);
    let (inverse_cutoff, cutoff_squared) = (1.0 / cutoff, 1.0 / (cutoff * cutoff));
    for i in 0..atoms as isize {
        let at = |k: isize| unsafe { *x.offset(dim * i + k) };
        let (xi, yi, zi, wi) = (at(0), at(1), at(2), if dim == 4 { at(3) } else { 0.0 });
        let whole = unsafe { *radius.offset(i) };
        let r = whole - OFFSET;
        let inverse_r = 1.0 / r;
        let mut sum = 0.0;
        let (from, to) = unsafe { (*first.offset(i), *first.offset(i + 1)) };
        //@ loop any-order
        for k in from..to {
            'pair: {
                let j = unsafe { *pairs.offset(k as isize) } as isize;
                let at = |k: isize| unsafe { *x.offset(dim * j + k) };
                let (dx, dy, dz) = (xi - at(0), yi - at(1), zi - at(2));
                let mut squared = dx * dx + dy * dy + dz * dz;
                if dim == 4 {
                    let dw = wi - at(3);
                    squared += dw * dw;
                }
                if squared > farthest {
                    break 'pair;
                }
                let inverse = 1.0 / squared.sqrt();
                let d = squared * inverse;
                let s = unsafe { *scale.offset(j) * (*radius.offset(j) - OFFSET) };
                let s_squared = s * s;
                if d > cutoff + s {
                    break 'pair;
                }
                if d > cutoff - s {
                    let below = 1.0 / (d - s);
                    let cut = cutoff_squared * (squared - 4.0 * cutoff * d - s_squared);
                    let log = ((d - s) * inverse_cutoff).ln();
                    sum += 0.125 * inverse * (1.0 + 2.0 * d * below + cut + 2.0 * log);
                } else if d > 4.0 * s {
                    let inverse_squared = inverse * inverse;
                    let t = s_squared * inverse_squared;
                    let series = t
                        * (1.0 / 3.0
                            + t * (2.0 / 5.0 + t * (3.0 / 7.0 + t * (4.0 / 9.0 + t * (5.0 / 11.0)))));
                    sum += s * inverse_squared * series;
                } else if d > r + s {
                    let log = ((d - s) / (d + s)).ln();
                    sum += 0.5 * (s / (squared - s_squared) + 0.5 * inverse * log);
                } else if d > (r - s).abs() {
                    let cosine = 0.5 * inverse_r * inverse * (squared + r * r - s_squared);
                    let above = 1.0 / (d + s);
                    sum += 0.25 * (inverse_r * (2.0 - cosine) - above + inverse * (r * above).ln());
                } else if r < s {
                    let log = ((s - d) / (s + d)).ln();
                    sum += 0.5 * (s / (squared - s_squared) + 2.0 * inverse_r + 0.5 * inverse * log);
                }
            }
        }
        let psi = r * sum;
        let (a, b, c) = RESCALE;
        let screened = (psi * (a - psi * (b - psi * c))).tanh();
        unsafe { *effective.offset(i) = 1.0 / (inverse_r - screened / whole) };
    }
}
