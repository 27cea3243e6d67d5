//! Forces on atoms through their effective Born radii. The third of three loops over pairs in generalized Born
//! energies (the derivatives of the integrals of `nab_1.rs`; Hawkins, Cramer, Truhlar, 1996), as in the function
//! `egb` of NAB, 644.nab_s of SPEC CPU 2017 (Moll and Hack: Partial Control-Flow Linearization, PLDI 2018, Sec. 6 and
//! 7.2).
//!
//! The unit is the loop over the atoms `j` that are near an atom `i`, with the cases of `nab_1.rs` in the same order
//! (the paper's Fig. 12):
//!
//! 1. beyond C + the largest s (line 5), or C + s (line 7): nothing; next pair
//! 2. d > C − s (line 9): the sphere is cut by the cutoff
//! 3. d > 4 s (line 10): a series; this is the usual case
//! 4. d > r + s (line 11): the spheres are apart
//! 5. d > |r − s| (line 12): they overlap
//! 6. r < s (line 13): `i` is within `j`; if not, `j` is within `i`, which adds nothing
//!
//! Shows: the same cascade of divergent branches, of which tests whether any lane wants what follows skip most (the
//! paper's BOSCC gadgets, Sec. 6.1, at the last three `else`, lines 10 to 12). Behind it all cases meet, and add to
//! what `i` and `j` get: gathers and scatters, which do not collide, since all `j` of one list are different. Sums
//! are over lanes in any order.

//@ tolerance rel=1e-9, abs=1e-9

/// Radii are smaller by this for dielectric purposes, in Å.
const OFFSET: f64 = 0.09;

/// Adds to `gradient`, which is laid out as `x`, the derivatives by coordinates of the sum over atoms of `weight[i]`
/// times the screening of atom `i`, which is the sum in `nab_1.rs`. The weights are the derivatives of the energy by
/// it.
///
/// Atom `i` has coordinates from `x[dim * i]` on, 3 or 4 as `dim` says, the radius `radius[i]`, and, where it screens
/// others, that radius less the offset times `scale[i]`, which is at most `largest`. The atoms near it are
/// `pairs[first[i]..first[i + 1]]`, each once.
///
/// # Safety
/// The arrays are as long as that takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nab_3(
    atoms: i32,
    dim: i32,
    x: *const f64,
    radius: *const f64,
    scale: *const f64,
    weight: *const f64,
    first: *const i32,
    pairs: *const i32,
    cutoff: f64,
    largest: f64,
    gradient: *mut f64,
) {
    let dim = dim as isize;
    let farthest = (cutoff + largest) * (cutoff + largest);
    let (inverse_cutoff, cutoff_squared) = (1.0 / cutoff, 1.0 / (cutoff * cutoff));
    for i in 0..atoms as isize {
        let at = |k: isize| unsafe { *x.offset(dim * i + k) };
        let (xi, yi, zi, wi) = (at(0), at(1), at(2), if dim == 4 { at(3) } else { 0.0 });
        let r = unsafe { *radius.offset(i) } - OFFSET;
        let (r_squared, inverse_r) = (r * r, 1.0 / r);
        let weight_i = unsafe { *weight.offset(i) };
        let (mut fx, mut fy, mut fz, mut fw) = (0.0, 0.0, 0.0, 0.0);
        let (from, to) = unsafe { (*first.offset(i), *first.offset(i + 1)) };
        //@ loop independent any-order
        for k in from..to {
            'pair: {
                let j = unsafe { *pairs.offset(k as isize) } as isize;
                let at = |k: isize| unsafe { *x.offset(dim * j + k) };
                let (dx, dy, dz, mut dw) = (xi - at(0), yi - at(1), zi - at(2), 0.0);
                let mut squared = dx * dx + dy * dy + dz * dz;
                if dim == 4 {
                    dw = wi - at(3);
                    squared += dw * dw;
                }
                if squared > farthest {
                    break 'pair;
                }
                let inverse = 1.0 / squared.sqrt();
                let inverse_squared = inverse * inverse;
                let d = squared * inverse;
                let s = unsafe { *scale.offset(j) * (*radius.offset(j) - OFFSET) };
                let s_squared = s * s;
                if d > cutoff + s {
                    break 'pair;
                }
                // The derivative by the distance.
                let mut change = 0.0;
                if d > cutoff - s {
                    let below = 1.0 / (d - s);
                    let log = ((d - s) * inverse_cutoff).ln();
                    let cut = 0.125 * cutoff_squared * (1.0 + s_squared * inverse_squared);
                    change = cut - 0.25 * below * (below - inverse) - inverse_squared * (0.125 + 0.25 * log);
                } else if d > 4.0 * s {
                    let t = s_squared * inverse_squared;
                    let series = t
                        * (2.0 / 3.0
                            + t * (6.0 / 5.0 + t * (12.0 / 7.0 + t * (20.0 / 9.0 + t * (30.0 / 11.0)))));
                    change = -2.0 * s * inverse * inverse_squared * series;
                } else if d > r + s {
                    let apart = 1.0 / (squared - s_squared);
                    let log = ((d - s) / (d + s)).ln();
                    change = s * apart * (0.5 * inverse - d * apart) - 0.25 * inverse_squared * log;
                } else if d > (r - s).abs() {
                    let above = 1.0 / (d + s);
                    let cosine =
                        0.5 * inverse_r * inverse_r * (1.0 - (r_squared - s_squared) * inverse_squared);
                    let log = (r * above).ln();
                    change = 0.25 * (above * (above - inverse) - cosine - inverse_squared * log);
                } else if r < s {
                    let apart = 1.0 / (squared - s_squared);
                    let log = ((s - d) / (s + d)).ln();
                    change = s * apart * (0.5 * inverse - d * apart) - 0.25 * inverse_squared * log;
                }
                let force = weight_i * change * inverse;
                let to = |k: isize, d: f64| unsafe { *gradient.offset(dim * j + k) -= force * d };
                fx += force * dx;
                fy += force * dy;
                fz += force * dz;
                to(0, dx);
                to(1, dy);
                to(2, dz);
                if dim == 4 {
                    fw += force * dw;
                    to(3, dw);
                }
            }
        }
        let to = |k: isize, f: f64| unsafe { *gradient.offset(dim * i + k) += f };
        to(0, fx);
        to(1, fy);
        to(2, fz);
        if dim == 4 {
            to(3, fw);
        }
    }
}
