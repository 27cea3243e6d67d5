//! Accelerations in a system of bodies that attract each other, one body per lane.
//!
//! Shows: a uniform inner loop. All lanes go through the other bodies together, so what they read of them is loaded once
//! and broadcast, and the loop needs no masks.

const BODIES: usize = 2048;

//@ args i=index
//@ range 0..2048
//@ bind x=f32[2048]=-1..1
//@ bind y=f32[2048]=-1..1
//@ bind z=f32[2048]=-1..1
//@ bind mass=f32[2048]=0.5..2
//@ bind ax=f32[2048]
//@ bind ay=f32[2048]
//@ bind az=f32[2048]

/// Writes the acceleration of body `i` to `ax[i]`, `ay[i]`, `az[i]`.
///
/// # Safety
/// Every array has `BODIES` elements, and `i < BODIES`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nbody(
    i: i32,
    x: *const f32,
    y: *const f32,
    z: *const f32,
    mass: *const f32,
    ax: *mut f32,
    ay: *mut f32,
    az: *mut f32,
) {
    let i = i as isize;
    let (px, py, pz) = unsafe { (*x.offset(i), *y.offset(i), *z.offset(i)) };
    let (mut sx, mut sy, mut sz) = (0.0f32, 0.0f32, 0.0f32);
    let mut j = 0;
    while j < BODIES {
        let (dx, dy, dz, m) = unsafe { (*x.add(j) - px, *y.add(j) - py, *z.add(j) - pz, *mass.add(j)) };
        let distance2 = dx * dx + dy * dy + dz * dz + 1e-4;
        let force = m / (distance2 * distance2.sqrt());
        sx += dx * force;
        sy += dy * force;
        sz += dz * force;
        j += 1;
    }
    unsafe {
        *ax.offset(i) = sx;
        *ay.offset(i) = sy;
        *az.offset(i) = sz;
    }
}
