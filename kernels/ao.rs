//! Ambient occlusion of three spheres on a plane, one pixel per lane (after Fujita's benchmark aobench).
//!
//! Shows: divergent branches of many kinds in uniform loops. Pixels differ in whether they see anything, in which
//! sphere is nearest, in the axes of the hemisphere above the point that they see, and in the sphere that is the
//! first to be in the way of a ray. What follows a hit is dear, so pixels that look past everything should skip it
//! together.
//!
//! Random numbers are made by each lane for itself (Marsaglia: Xorshift RNGs, 2003), and as many as it needs. Sine
//! and cosine are polynomials, so that the results are the same on any number of lanes.

//@ args i=index

/// Pixels in a row of the picture.
const WIDTH: u32 = 256;
/// Spheres.
const SPHERES: usize = 3;
/// Rays above each point: the square of this.
const RAYS: i32 = 8;
/// How far above a surface the rays from it begin.
const LIFT: f32 = 1e-3;

/// A point or direction.
#[derive(Clone, Copy)]
struct Vector(f32, f32, f32);

impl Vector {
    fn dot(self, b: Vector) -> f32 {
        self.0 * b.0 + self.1 * b.1 + self.2 * b.2
    }

    fn cross(self, b: Vector) -> Vector {
        Vector(self.1 * b.2 - self.2 * b.1, self.2 * b.0 - self.0 * b.2, self.0 * b.1 - self.1 * b.0)
    }

    /// This vector and `t` times `b`.
    fn along(self, t: f32, b: Vector) -> Vector {
        Vector(self.0 + t * b.0, self.1 + t * b.1, self.2 + t * b.2)
    }

    fn unit(self) -> Vector {
        let scale = 1.0 / self.dot(self).sqrt();
        Vector(self.0 * scale, self.1 * scale, self.2 * scale)
    }
}

/// The next random number in 0..1.
fn random(state: &mut u32) -> f32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    (*state >> 8) as i32 as f32 * (1.0 / 16_777_216.0)
}

/// The point on the unit circle that is `turn` of a turn from the middle of the fourth quadrant.
fn on_circle(turn: f32) -> (f32, f32) {
    let quarters = turn * 4.0;
    let quadrant = unsafe { quarters.to_int_unchecked::<i32>() };
    let angle = (quarters - quadrant as f32 - 0.5) * std::f32::consts::FRAC_PI_2;
    let square = angle * angle;
    let sine =
        angle * (1.0 - square * (1.0 / 6.0) * (1.0 - square * (1.0 / 20.0) * (1.0 - square * (1.0 / 42.0))));
    let cosine = 1.0 - square * 0.5 * (1.0 - square * (1.0 / 12.0) * (1.0 - square * (1.0 / 30.0)));
    let (a, b) = if quadrant & 1 == 0 { (cosine, sine) } else { (-sine, cosine) };
    if quadrant & 2 == 0 { (a, b) } else { (-a, -b) }
}

/// Where a ray enters sphere `k`; 0 if it does not, or begins within.
unsafe fn enters(k: usize, spheres: *const f32, origin: Vector, direction: Vector) -> f32 {
    let (x, y, z, r) = unsafe {
        (*spheres.add(4 * k), *spheres.add(4 * k + 1), *spheres.add(4 * k + 2), *spheres.add(4 * k + 3))
    };
    let from = Vector(origin.0 - x, origin.1 - y, origin.2 - z);
    let b = from.dot(direction);
    let discriminant = b * b - (from.dot(from) - r * r);
    if discriminant > 0.0 { -b - discriminant.sqrt() } else { 0.0 }
}

/// How far from the origin something is, and the normal there; infinity if there is nothing in the direction.
unsafe fn nearest(spheres: *const f32, plane: f32, direction: Vector) -> (f32, Vector) {
    let (mut nearest, mut normal) = (f32::INFINITY, Vector(0.0, 1.0, 0.0));
    if plane * direction.1 > 0.0 {
        nearest = plane / direction.1;
    }
    let mut k = 0;
    while k < SPHERES {
        let t = unsafe { enters(k, spheres, Vector(0.0, 0.0, 0.0), direction) };
        if t > 0.0 && t < nearest {
            nearest = t;
            let (x, y, z) =
                unsafe { (*spheres.add(4 * k), *spheres.add(4 * k + 1), *spheres.add(4 * k + 2)) };
            normal = Vector(t * direction.0 - x, t * direction.1 - y, t * direction.2 - z).unit();
        }
        k += 1;
    }
    (nearest, normal)
}

/// Whether anything is in the way of a ray.
unsafe fn occluded(spheres: *const f32, plane: f32, origin: Vector, direction: Vector) -> bool {
    let mut k = 0;
    while k < SPHERES {
        if unsafe { enters(k, spheres, origin, direction) } > 0.0 {
            return true;
        }
        k += 1;
    }
    (plane - origin.1) * direction.1 > 0.0
}

/// The part of the rays from a point, in directions weighted by the cosine to the normal, that nothing is in the way
/// of.
unsafe fn open(spheres: *const f32, plane: f32, point: Vector, normal: Vector, state: &mut u32) -> f32 {
    let other = if normal.0.abs() < 0.6 {
        Vector(1.0, 0.0, 0.0)
    } else if normal.1.abs() < 0.6 {
        Vector(0.0, 1.0, 0.0)
    } else {
        Vector(0.0, 0.0, 1.0)
    };
    let side = other.cross(normal).unit();
    let front = normal.cross(side);
    let origin = point.along(LIFT, normal);
    let mut free = 0;
    let mut ray = 0;
    while ray < RAYS * RAYS {
        let square = random(state);
        let (x, y) = on_circle(random(state));
        let radius = square.sqrt();
        let level = Vector(0.0, 0.0, 0.0).along(x * radius, side).along(y * radius, front);
        let direction = level.along((1.0 - square).sqrt(), normal);
        if !unsafe { occluded(spheres, plane, origin, direction) } {
            free += 1;
        }
        ray += 1;
    }
    free as f32 * (1.0 / (RAYS * RAYS) as f32)
}

/// How much of the surroundings reaches what pixel `i` shows, in 0..1, as the mean of `samples` by `samples` points
/// of it; 0 for those that show nothing. `spheres` are centers and radii; the plane is at the height `plane`. The
/// picture is a unit in front of the eye, which is at the origin, towards −z; it begins at `left`, `top`, and pixels
/// are `step_x` wide and `step_y` high. Rows are `WIDTH` pixels.
///
/// # Safety
/// `spheres` has 12 elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ao(
    i: i32,
    spheres: *const f32,
    plane: f32,
    samples: i32,
    left: f32,
    top: f32,
    step_x: f32,
    step_y: f32,
) -> f32 {
    let (column, row) = (i as u32 % WIDTH, i as u32 / WIDTH);
    let mut state = (i as u32 + 1).wrapping_mul(2_654_435_761);
    let within = 1.0 / samples as f32;
    let mut sum = 0.0f32;
    let mut down = 0;
    while down < samples {
        let y = top + (row as i32 as f32 + down as f32 * within) * step_y;
        let mut right = 0;
        while right < samples {
            let x = left + (column as i32 as f32 + right as f32 * within) * step_x;
            let direction = Vector(x, y, -1.0).unit();
            let (t, normal) = unsafe { nearest(spheres, plane, direction) };
            if t < f32::INFINITY {
                let point = Vector(t * direction.0, t * direction.1, t * direction.2);
                sum += unsafe { open(spheres, plane, point, normal, &mut state) };
            }
            right += 1;
        }
        down += 1;
    }
    sum * within * within
}
