//! One step of a wave through a volume, one grid point per lane.
//!
//! Shows: contiguous accesses. The second derivative in each direction is taken from 4 neighbours on either side (of
//! eighth order), in a uniform loop; neighbours of neighbouring points are neighbours.
//!
//! Points are numbered through the volume, and the ends of rows and planes are joined to the beginnings of the next
//! ones (helical boundaries), so that all points inside are alike. Only the first and last 4 planes have no
//! neighbours, and are not in the range.

// More lanes would only open more streams through memory at once.
//@ args i=index
//@ width 16

/// Neighbours on either side.
const REACH: isize = 4;

/// Writes to `next[i]` what point `i` is after a step of time: twice what it is `now`, less what it was `before`, and
/// the Laplacian times `squared_speed[i]`, which counts steps of time. `weights` holds the coefficients of the second
/// derivative, that of the point itself first. Rows are `row` points long, planes `plane` points.
///
/// # Safety
/// `i` is an index of every array but `weights`, and `4 * plane` points of `now` are before and behind it; `weights`
/// has 5 elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stencil(
    i: i32,
    row: i32,
    plane: i32,
    weights: *const f32,
    squared_speed: *const f32,
    now: *const f32,
    before: *const f32,
    next: *mut f32,
) {
    let (i, row, plane) = (i as isize, row as isize, plane as isize);
    let at = |k: isize| unsafe { *now.offset(i + k) };
    let mut laplacian = unsafe { *weights } * 3.0 * at(0);
    let mut k = 1;
    while k <= REACH {
        let across = at(k) + at(-k);
        let along = at(k * row) + at(-k * row);
        let through = at(k * plane) + at(-k * plane);
        laplacian += unsafe { *weights.offset(k) } * (across + along + through);
        k += 1;
    }
    unsafe { *next.offset(i) = 2.0 * at(0) - *before.offset(i) + *squared_speed.offset(i) * laplacian };
}
