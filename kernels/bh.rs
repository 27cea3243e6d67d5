//! Forces on bodies that attract each other, by the method of Barnes and Hut (A hierarchical O(N log N)
//! force-calculation algorithm, 1986), one body per lane (Moll and Hack: Partial Control-Flow Linearization, PLDI
//! 2018, Sec. 7.1, `bh`).
//!
//! A cell of the octree that is far enough away counts as one body; others are opened. All lanes go through the tree
//! together: a cell is opened if *any* lane wants that. A lane for which it is far enough takes it as one, as it
//! would alone, and waits until the others are through with what is in the cell. So all branches are uniform but the
//! one on whether a lane takes the cell, and each lane adds the same forces in the same order as alone.
//!
//! Cells are in preorder, each with the number of the cell that follows when it is not opened, so there is no need of
//! a stack.

use warpline_lanes::warpline_any;

//@ args i=index

/// Writes the acceleration of body `i` to `ax[i]`, `ay[i]`, `az[i]`; the constant of gravitation is 1.
///
/// The body is at (`x[i]`, `y[i]`, `z[i]`). Cell `k`, of `0..cells` in preorder, has its center of mass at
/// `masses[4 * k..4 * k + 3]`, and the mass `masses[4 * k + 3]`. It counts as one body from where the square of the
/// distance is not less than `openings[k]`, which is 0 for the cells of single bodies. `nexts[k]` is the first cell
/// behind those in it. Squares of distances are increased by `softening`.
///
/// # Safety
/// The arrays have that many elements, and `i` is an index of the bodies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bh(
    i: i32,
    cells: i32,
    softening: f32,
    x: *const f32,
    y: *const f32,
    z: *const f32,
    masses: *const f32,
    openings: *const f32,
    nexts: *const i32,
    ax: *mut f32,
    ay: *mut f32,
    az: *mut f32,
) {
    let i = i as isize;
    let (x, y, z) = unsafe { (*x.offset(i), *y.offset(i), *z.offset(i)) };
    let (mut sx, mut sy, mut sz) = (0.0f32, 0.0f32, 0.0f32);
    let mut cell = 0;
    // The first cell that this lane has not taken as a part of another.
    let mut own = 0;
    while cell < cells {
        let k = cell as isize;
        let (mass, opening, next) = unsafe { (masses.offset(4 * k), *openings.offset(k), *nexts.offset(k)) };
        let (dx, dy, dz) = unsafe { (*mass - x, *mass.add(1) - y, *mass.add(2) - z) };
        let distance2 = dx * dx + dy * dy + dz * dz;
        let here = cell >= own;
        let far = distance2 >= opening;
        if warpline_any(here & far) {
            let softened = distance2 + softening;
            let force = unsafe { *mass.add(3) } / (softened * softened.sqrt());
            if here & far {
                sx += dx * force;
                sy += dy * force;
                sz += dz * force;
                own = next;
            }
        }
        cell = if warpline_any(here & !far) { cell + 1 } else { next };
    }
    unsafe {
        *ax.offset(i) = sx;
        *ay.offset(i) = sy;
        *az.offset(i) = sz;
    }
}
