//! Macroscopic cross sections for neutrons that fly through a reactor's materials: for each neutron a weighted sum
//! over the nuclides of the material, each looked up in the nuclide's own table by binary search (Tramm et al.:
//! XSBench, PHYSOR 2014, with the `nuclide` grid type; Moll and Hack: Partial Control-Flow Linearization, PLDI 2018,
//! Sec. 7.3).
//!
//! Shows: a divergent loop in uniform ones. The lanes are neutrons. The search is left by each in its own iteration,
//! which makes it a loop that goes on while any lane searches; the loop over nuclides stays a uniform loop, and what
//! is read of a nuclide and the material is read once for all lanes. Points of tables are gathered. Results are
//! written to neighbouring elements.
//!
//! The paper's Table 1 has two uniform loops, one divergent one, and most accesses under no mask. The loop over
//! nuclides can only be uniform if all lanes are in the same material. So neutrons are grouped by material, as they
//! are in event-based transport codes (each material has a bank of its own), and the unit is the loop over the
//! neutrons of one material.

/// Numbers in a point of a table: the energy and five cross sections.
const FIELDS: isize = 6;

/// Writes to `total`, `elastic`, `absorption`, `fission` and `yields` the macroscopic cross sections for each neutron.
///
/// Material `m` has the neutrons `neutrons[m]..neutrons[m + 1]`, whose energies are in `energies`, and the nuclides
/// `nuclides[contents[m]..contents[m + 1]]` with `densities` in parallel. A nuclide's table has `points` points of
/// six numbers in `tables`: the energy, in ascending order from 0 on, and cross sections. Between points they are
/// linear.
///
/// # Safety
/// The arrays are as long as that takes, and `points` is at least 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xsbench(
    materials: i32,
    neutrons: *const i32,
    contents: *const i32,
    nuclides: *const i32,
    densities: *const f64,
    points: i32,
    tables: *const f64,
    energies: *const f64,
    total: *mut f64,
    elastic: *mut f64,
    absorption: *mut f64,
    fission: *mut f64,
    yields: *mut f64,
) {
    for m in 0..materials as isize {
        let (from, to) = unsafe { (*neutrons.offset(m), *neutrons.offset(m + 1)) };
        let (first, end) = unsafe { (*contents.offset(m), *contents.offset(m + 1)) };
        //@ loop independent
        for i in from..to {
            let i = i as isize;
            let energy = unsafe { *energies.offset(i) };
            let (mut s0, mut s1, mut s2, mut s3, mut s4) = (0.0, 0.0, 0.0, 0.0, 0.0);
            let mut k = first as isize;
            while k < end as isize {
                let (nuclide, density) = unsafe { (*nuclides.offset(k), *densities.offset(k)) };
                let table = unsafe { tables.offset(nuclide as isize * points as isize * FIELDS) };
                let (mut low, mut high) = (0, points - 1);
                while high - low > 1 {
                    let middle = low + (high - low) / 2;
                    if unsafe { *table.offset(middle as isize * FIELDS) } > energy {
                        high = middle;
                    } else {
                        low = middle;
                    }
                }
                let point = unsafe { table.offset(low as isize * FIELDS) };
                let at = |field: isize| unsafe { (*point.offset(field), *point.offset(FIELDS + field)) };
                let (below, above) = at(0);
                let part = (above - energy) / (above - below);
                let between = |(below, above): (f64, f64)| density * (above - part * (above - below));
                s0 += between(at(1));
                s1 += between(at(2));
                s2 += between(at(3));
                s3 += between(at(4));
                s4 += between(at(5));
                k += 1;
            }
            unsafe {
                *total.offset(i) = s0;
                *elastic.offset(i) = s1;
                *absorption.offset(i) = s2;
                *fission.offset(i) = s3;
                *yields.offset(i) = s4;
            }
        }
    }
}
