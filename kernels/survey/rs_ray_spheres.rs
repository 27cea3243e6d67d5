//! The first of a few spheres that each ray hits.
// survey: let N = 500; range N; rays f32[3*N] in -1..1; spheres &f32[4*20] in -5..5; hit i32[N]

//@ args i=index

/// Writes the number of the sphere that ray `i` from the origin hits first, or −1.
///
/// # Safety
/// `i` is an index of `rays` and `hit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_ray_spheres(i: usize, rays: *const [f32; 3], spheres: &[f32], hit: *mut i32) {
    let d = unsafe { *rays.add(i) };
    let (mut nearest, mut which) = (f32::INFINITY, -1);
    for (k, s) in spheres.chunks_exact(4).enumerate() {
        let along = d[0] * s[0] + d[1] * s[1] + d[2] * s[2];
        let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        let distance = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
        let inside = along * along - square * (distance - s[3] * s[3]);
        if inside < 0.0 || along < 0.0 {
            continue;
        }
        let t = (along - inside.sqrt()) / square;
        if t < nearest {
            (nearest, which) = (t, k as i32);
        }
    }
    unsafe { *hit.add(i) = which };
}
