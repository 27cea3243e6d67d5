//! From a scene to colours.

use warpline_lanes::kernel;

use crate::Vector;
use crate::scene::{Ray, Sphere, nearest};

/// The eye.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    /// Where it is.
    pub eye: Vector,
    /// The picture's size in points.
    pub size: (u32, u32),
}

/// A colour.
pub type Color = [u8; 3];

/// How often light is reflected.
const REFLECTIONS: u32 = 3;

impl Camera {
    /// The ray through a point of the picture.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn ray(self, point: u32) -> Ray {
        let (width, height) = self.size;
        let across = (point % width) as f32 / width as f32 - 0.5;
        let up = 0.5 - (point / width) as f32 / height as f32;
        Ray { origin: self.eye, direction: Vector::new(across, up, 1.0).normalized() }
    }
}

/// The colour of the `point`-th point of a picture.
#[kernel(point = index)]
#[must_use]
pub fn color(point: u32, camera: Camera, spheres: &[Sphere], sunlight: Vector) -> Color {
    let mut ray = camera.ray(point);
    let mut share = 1.0;
    for _ in 0..REFLECTIONS {
        let Some(hit) = nearest(spheres, &ray) else { break };
        let sphere = &spheres[hit.sphere];
        let at = ray.origin + ray.direction * hit.distance;
        if !sphere.is_mirror {
            let light = hit.normal.dot(sunlight).max(dark()) * share;
            let (red, green, blue) = sphere.color;
            return [shade(red, light), shade(green, light), shade(blue, light)];
        }
        let direction = ray.direction + hit.normal * (-2.0 * hit.normal.dot(ray.direction));
        ray = Ray { origin: at, direction };
        share *= 0.8;
    }
    let sky = shade(255, (0.5 + 0.5 * ray.direction.y) * share);
    [sky / 2, sky, 255]
}

/// A part of a colour in some light.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn shade(part: u8, light: f32) -> u8 {
    (f32::from(part) * light) as u8
}

/// The light where the sun does not shine.
#[cfg(not(feature = "sky"))]
const fn dark() -> f32 {
    0.05
}

/// The light where the sun does not shine.
#[cfg(feature = "sky")]
const fn dark() -> f32 {
    0.25
}
