//! Where pictures are seen from.

/// A point or direction.
pub type Vector = [f64; 3];

/// `a + t b`.
fn along(a: Vector, t: f64, b: Vector) -> Vector {
    std::array::from_fn(|k| a[k] + t * b[k])
}

/// A vector orthogonal to two others.
fn cross(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|k| a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3])
}

/// The vector of length 1 in a direction.
pub fn unit(a: Vector) -> Vector {
    let length = a.iter().map(|x| x * x).sum::<f64>().sqrt();
    a.map(|x| x / length)
}

/// How a picture of `width` by `height` pixels of `at` is taken from `eye`, with y above; it is as wide as it is far
/// away, and three quarters as high, whatever that makes of pixels. The eye, the direction to the middle of the upper
/// left pixel, what the directions to the next to the right and below have more, the direction to the middle.
pub fn camera(eye: Vector, at: Vector, width: u32, height: u32) -> Vec<f32> {
    let forward = unit(along(at, -1.0, eye));
    let right = unit(cross(forward, [0.0, 1.0, 0.0]));
    let down = cross(forward, right);
    let pixel = |axis: Vector, extent: f64, count: u32| axis.map(|x| x * extent / f64::from(count));
    let (next, below) = (pixel(right, 1.0, width), pixel(down, 0.75, height));
    let left = along(forward, 0.5 - f64::from(width) / 2.0, next);
    let corner = along(left, 0.5 - f64::from(height) / 2.0, below);
    [eye, corner, next, below, forward].concat().into_iter().map(|x| x as f32).collect()
}
