//! What is seen.

mod sphere;

pub use sphere::{Hit, Sphere};
use warpline_lanes::kernel;

use crate::Vector;

/// A half-line.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    /// Where it begins.
    pub origin: Vector,
    /// Where it goes; its length is one.
    pub direction: Vector,
}

/// Spheres in the light of a sun.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// The spheres.
    pub spheres: Vec<Sphere>,
    /// The direction of the sun.
    pub sun: Vector,
}

impl Scene {
    /// What a ray hits first.
    #[kernel(i = index, width = 8)]
    #[must_use]
    pub fn nearest(&self, i: usize, ray: &Ray) -> Option<Hit> {
        let _ = i;
        nearest(&self.spheres, ray)
    }
}

/// What a ray hits first among spheres.
#[must_use]
pub fn nearest(spheres: &[Sphere], ray: &Ray) -> Option<Hit> {
    let mut first: Option<Hit> = None;
    for (number, sphere) in spheres.iter().enumerate() {
        if let Some(hit) = sphere.hit(ray, number)
            && first.is_none_or(|first| hit.distance < first.distance)
        {
            first = Some(hit);
        }
    }
    first
}
