//! Lamps.

/// A lamp in the plane.
#[derive(Clone, Copy, Debug)]
pub struct Lamp {
    /// Where it is.
    pub place: (f32, f32),
    /// How bright it is.
    pub power: f32,
    /// Whether it is on.
    pub is_on: bool,
}

impl Lamp {
    /// Its light at a place.
    pub fn light(&self, place: (f32, f32)) -> f32 {
        let (dx, dy) = (place.0 - self.place.0, place.1 - self.place.1);
        if self.is_on { self.power / (1.0 + dx * dx + dy * dy) } else { 0.0 }
    }
}
