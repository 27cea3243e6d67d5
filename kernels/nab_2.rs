//! Energies of pairs of atoms in a solvent, and how they change with coordinates and effective radii. The second of
//! three loops over pairs in generalized Born energies (Still et al.: Semianalytical Treatment of Solvation, 1990,
//! with the salt of Srinivasan et al., 1999), as in the function `egb` of NAB, 644.nab_s of SPEC CPU 2017 (Moll and
//! Hack: Partial Control-Flow Linearization, PLDI 2018, Sec. 7.2).
//!
//! The unit is the loop over the atoms `j` that come after an atom `i` and are near it. The polarization of the
//! solvent counts for all pairs within the cutoff; the attraction of charges and the Lennard-Jones potential only for
//! those that are not bonded.
//!
//! Shows: two divergent branches that are mostly taken by all lanes together, exponentials and square roots in
//! between, and gathers and scatters, since each `j` has its own share of the force. All `j` of one list are
//! different, so lanes do not collide. Whether coordinates have a fourth dimension is uniform, and stays a branch in
//! both places. Sums are over lanes in any order.

//@ tolerance rel=1e-9, abs=1e-9

/// Adds the energies of polarization, of charges and of van der Waals forces to `energies`, their derivatives by
/// coordinates to `gradient`, which is laid out as `x`, and the polarization's by the effective radii to `slopes`.
///
/// Atom `i` has coordinates from `x[dim * i]` on, 3 or 4 as `dim` says, `charge[i]` (in units that make energies of
/// products over distances), the effective radius `effective[i]`, and the type `types[i]`, one of `kinds`. Types `a`
/// and `b` repel each other by `repulsion[a * kinds + b] / d^12` and attract each other by
/// `attraction[a * kinds + b] / d^6` at the distance d. The atoms after `i` that are near it are
/// `pairs[first[i]..first[i + 1]]`, each once, those that are bonded to it
/// `bonded[first_bonded[i]..first_bonded[i + 1]]`. `marks` is for use in here: one negative number per atom. Pairs
/// count up to the distance `cutoff`. The solvent has the permittivity `solvent`, and `salt` is the inverse of the
/// distance at which its ions screen charges.
///
/// # Safety
/// The arrays are as long as that takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nab_2(
    atoms: i32,
    dim: i32,
    x: *const f64,
    charge: *const f64,
    effective: *const f64,
    types: *const i32,
    kinds: i32,
    repulsion: *const f64,
    attraction: *const f64,
    first: *const i32,
    pairs: *const i32,
    first_bonded: *const i32,
    bonded: *const i32,
    marks: *mut i32,
    cutoff: f64,
    solvent: f64,
    salt: f64,
    energies: *mut f64,
    gradient: *mut f64,
    slopes: *mut f64,
) {
    let dim = dim as isize;
    let farthest = cutoff * cutoff;
    let inverse_solvent = 1.0 / solvent;
    let (mut polarization, mut coulomb, mut van_der_waals) = (0.0, 0.0, 0.0);
    for i in 0..atoms as isize {
        let at = |k: isize| unsafe { *x.offset(dim * i + k) };
        let (xi, yi, zi, wi) = (at(0), at(1), at(2), if dim == 4 { at(3) } else { 0.0 });
        let (charge_i, effective_i) = unsafe { (*charge.offset(i), *effective.offset(i)) };
        let type_i = unsafe { *types.offset(i) } * kinds;
        let (mut fx, mut fy, mut fz, mut fw, mut slope_i) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for k in unsafe { *first_bonded.offset(i)..*first_bonded.offset(i + 1) } {
            unsafe { *marks.offset(*bonded.offset(k as isize) as isize) = i as i32 };
        }
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
                let product = charge_i * unsafe { *charge.offset(j) };
                let effective_j = unsafe { *effective.offset(j) };
                let radii = effective_i * effective_j;
                let near = (-squared / (4.0 * radii)).exp();
                let inverse = 1.0 / (squared + radii * near).sqrt();
                let screened = (-salt / inverse).exp() * inverse_solvent;
                let contrast = 1.0 - screened;
                polarization -= product * contrast * inverse;
                // The derivative by the mean distance, divided by that distance.
                let change = product * inverse * inverse * (contrast * inverse - salt * screened);
                let by_radii = 0.5 * change * near * (1.0 + squared / (4.0 * radii));
                slope_i += by_radii * effective_j;
                unsafe { *slopes.offset(j) += by_radii * effective_i };
                let mut force = change * (1.0 - 0.25 * near);
                if unsafe { *marks.offset(j) } != i as i32 {
                    let inverse_squared = 1.0 / squared;
                    let energy = product * inverse_squared.sqrt();
                    coulomb += energy;
                    let kind = (type_i + unsafe { *types.offset(j) }) as isize;
                    let sixth = inverse_squared * inverse_squared * inverse_squared;
                    let attracts = unsafe { *attraction.offset(kind) } * sixth;
                    let repels = unsafe { *repulsion.offset(kind) } * sixth * sixth;
                    van_der_waals += repels - attracts;
                    force -= (energy + 12.0 * repels - 6.0 * attracts) * inverse_squared;
                }
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
        unsafe { *slopes.offset(i) += slope_i };
    }
    unsafe {
        *energies += polarization;
        *energies.add(1) += coulomb;
        *energies.add(2) += van_der_waals;
    }
}
