//! Spheres.

use super::Ray;
use crate::Vector;

/// A sphere.
#[derive(Clone, Copy, Debug)]
pub struct Sphere {
    /// Whether it is a mirror.
    pub is_mirror: bool,
    /// Its middle.
    pub center: Vector,
    /// Its radius.
    pub radius: f32,
    /// Its colour.
    pub color: (u8, u8, u8),
}

/// Where a ray meets a sphere.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hit {
    /// How far away.
    pub distance: f32,
    /// The number of the sphere.
    pub sphere: usize,
    /// The direction of the surface.
    pub normal: Vector,
}

impl Sphere {
    /// Where a ray meets the sphere with this number.
    pub(super) fn hit(&self, ray: &Ray, number: usize) -> Option<Hit> {
        let to_center = self.center - ray.origin;
        let along = to_center.dot(ray.direction);
        let root = along * along - to_center.dot(to_center) + self.radius * self.radius;
        if root < 0.0 {
            return None;
        }
        let distance = along - root.sqrt();
        if distance < 1e-3 {
            return None;
        }
        let point = ray.origin + ray.direction * distance;
        Some(Hit { distance, sphere: number, normal: (point - self.center) * (1.0 / self.radius) })
    }
}
