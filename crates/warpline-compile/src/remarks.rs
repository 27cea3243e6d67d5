//! Why code is not as fast as one might think, in the words of the source.

use warpline_ir::Place;
use warpline_vectorize::width::{Burden, Estimate, What};

/// What the time of vector code is spent on, at a place.
#[derive(Clone, PartialEq, Debug)]
pub struct Reason {
    /// What is done.
    pub what: What,
    /// Where, as `file:line`, if that is known.
    pub place: Option<String>,
    /// Its part of all operations, from 0 to 1.
    pub share: f64,
}

/// What takes less of the time is no reason.
const NOTABLE: f64 = 0.1;

impl Reason {
    /// The heaviest reason that there is something to say about.
    #[must_use]
    pub fn of(estimate: &Estimate) -> Option<Reason> {
        Reason::all(estimate).into_iter().next()
    }

    /// All reasons that there is something to say about, the heaviest first.
    #[must_use]
    pub fn all(estimate: &Estimate) -> Vec<Reason> {
        let notable = |one: &&Burden| one.what.advice().is_some() && one.share >= NOTABLE;
        estimate.burdens.iter().filter(notable).map(Reason::of_burden).collect()
    }

    fn of_burden(burden: &Burden) -> Reason {
        Reason { what: burden.what, place: burden.place.as_ref().map(Place::short), share: burden.share }
    }

    /// What it is, where, and how much: `gathers in a.c:7 (60 %)`.
    #[must_use]
    pub fn describe(&self) -> String {
        let place = self.place.as_ref().map(|place| format!(" in {place}")).unwrap_or_default();
        format!("{}{place} ({:.0} %)", self.what.describe(), 100.0 * self.share)
    }
}

/// Why something stays scalar, as a warning: `subject` is the loop or the range.
#[must_use]
pub fn stays_scalar(subject: &str, lanes: u32, estimate: &Estimate) -> String {
    let reason = Reason::of(estimate);
    let scalar = estimate.scalar.unwrap_or_default();
    let spent =
        reason.as_ref().map(|reason| format!(", most of it for {}", reason.describe())).unwrap_or_default();
    let advice = reason.and_then(|reason| reason.what.advice());
    let advice = advice.map(|advice| format!("{advice}; ")).unwrap_or_default();
    format!(
        "{subject} stays scalar: {lanes} lanes are expected to take {:.1} times as long{spent}; {advice}--width makes \
         vectors all the same",
        estimate.vector / scalar.max(f64::MIN_POSITIVE)
    )
}
