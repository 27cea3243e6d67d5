//! When accesses of two lanes meet: the distance rule.
//!
//! A accesses the bytes `x + k·s + [a.0, a.1)` in lane *k*, and B the bytes `x + δ + k·s + [b.0, b.1)`, all modulo
//! 2^64: both addresses have the same terms, so their difference in one lane is the constant δ, and from one lane to
//! the next both move by the step *s*. Steps and distances are congruences, so nothing needs to be known about
//! overflow.

/// The bytes of an access from its address on: those at `.0 <= n < .1`.
pub(super) type Bytes = (i64, i64);

/// Two accesses at a constant distance.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Distance {
    /// What must be added to A's address to get B's, in one lane.
    pub(super) delta: i64,
    /// What must be added to either to get the address in the next lane.
    pub(super) step: i64,
    /// The bytes of A.
    pub(super) a: Bytes,
    /// The bytes of B.
    pub(super) b: Bytes,
}

impl Distance {
    /// Whether the bytes of both are so few that they are known from constants, not from the width of a number.
    pub(super) fn is_short(&self) -> bool {
        [self.a, self.b].iter().all(|bytes| bytes.1.saturating_sub(bytes.0) < 1 << 14)
    }

    /// Whether A in lane `p + k` accesses a byte that B accesses in lane `p`.
    pub(super) fn meets(&self, k: i64) -> bool {
        // A(p + k) − B(p), the representative of least magnitude.
        let apart = i128::from(k.wrapping_mul(self.step).wrapping_sub(self.delta));
        let (a, b) = (self.a, self.b);
        let [a0, a1, b0, b1] = [a.0, a.1, b.0, b.1].map(i128::from);
        let whole = 1i128 << 64;
        // Where bytes stretch far, a representative one turn further may meet, too.
        [apart - whole, apart, apart + whole].iter().any(|&x| x + a0 < b1 && b0 < x + a1)
    }

    /// The least number of lanes by which A may be ahead of B and meet it, among `1..lanes`.
    pub(super) fn first_ahead(&self, lanes: u32) -> Option<u32> {
        (1..lanes).find(|&k| self.meets(i64::from(k)))
    }

    /// The least number of lanes, among `1..lanes`, that are apart of which accesses may share a byte, if A's address
    /// less B's is known but for multiples of `period`.
    pub(super) fn nearest_modulo(&self, period: i64, lanes: u32) -> Option<u32> {
        (1..lanes).find(|&k| [1, -1].iter().any(|sign| self.meets_modulo(period, sign * i64::from(k))))
    }

    /// Whether A in lane `p + k` may access a byte that B accesses in lane `p`, if A's address less B's is known but
    /// for multiples of `period`, and none of these sums wraps.
    pub(super) fn meets_modulo(&self, period: i64, k: i64) -> bool {
        let apart = i128::from(k) * i128::from(self.step) - i128::from(self.delta);
        let (a, b) = (self.a, self.b);
        let [a0, a1, b0, b1] = [a.0, a.1, b.0, b.1].map(i128::from);
        // The greatest one that begins before B's end.
        let x = b1 - a0 - 1 - (b1 - a0 - 1 - apart).rem_euclid(period.into());
        b0 < x + a1
    }

    /// The same with the accesses exchanged: B ahead of A.
    pub(super) fn swapped(&self) -> Distance {
        Distance { delta: self.delta.wrapping_neg(), step: self.step, a: self.b, b: self.a }
    }

    /// Whether the accesses of any two lanes meet, however many lanes there are: a number of lanes by which one is
    /// ahead of the other.
    pub(super) fn ever(&self) -> Option<u64> {
        if self.step == 0 {
            return self.meets(0).then_some(1);
        }
        // A turn of the address space takes at least 2^64 / |s| lanes, more than there ever are; one wants −b < k·s −
        // δ < a.
        let (s, delta) = (i128::from(self.step), i128::from(self.delta));
        let low = delta + i128::from(self.b.0) - i128::from(self.a.1);
        let high = delta + i128::from(self.b.1) - i128::from(self.a.0);
        // Numbers k with low < k·s < high, but 0.
        let (low, high) = if s > 0 { (low, high) } else { (-high, -low) };
        let s = s.abs();
        let first = low.div_euclid(s) + 1;
        let last = (high - 1).div_euclid(s);
        let found = (first..=last.min(first + 2)).chain(last.max(first + 3)..=last).find(|&k| k != 0)?;
        u64::try_from(found.unsigned_abs()).ok()
    }

    /// The distances δ for which A, ahead by `1..lanes`, meets B lie between these two numbers, both excluded. For
    /// code that looks when it runs.
    pub(super) fn forbidden(&self, lanes: u32) -> (i128, i128) {
        let far = i128::from(self.step) * i128::from(lanes.max(2) - 1);
        let near = i128::from(self.step);
        let (least, most) = (near.min(far), near.max(far));
        let (a, b) = (self.a, self.b);
        (least + i128::from(a.0) - i128::from(b.1), most + i128::from(a.1) - i128::from(b.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Distance> {
        let sizes = [(0, 1), (0, 2), (0, 4), (-3, 2)];
        (-20i64..=20).flat_map(move |delta| {
            (-5i64..=5).flat_map(move |step| {
                sizes
                    .into_iter()
                    .flat_map(move |a| sizes.into_iter().map(move |b| Distance { delta, step, a, b }))
            })
        })
    }

    /// The bytes that an access touches in a lane, one by one.
    fn touched(base: i64, lane: i64, step: i64, bytes: Bytes) -> Vec<i64> {
        (bytes.0..bytes.1).map(|n| base + lane * step + n).collect()
    }

    #[test]
    fn accesses_meet_iff_they_share_a_byte() {
        for d in all() {
            for k in -9i64..=9 {
                let a = touched(0, 20 + k, d.step, d.a);
                let b = touched(d.delta, 20, d.step, d.b);
                assert_eq!(d.meets(k), a.iter().any(|x| b.contains(x)), "{d:?} {k}");
                assert_eq!(d.meets(k), d.swapped().meets(-k), "{d:?} {k}");
            }
        }
    }

    #[test]
    fn ever_is_any_number_of_lanes_but_none() {
        for d in all() {
            let any = (-60i64..=60).any(|k| k != 0 && d.meets(k));
            assert_eq!(d.ever().is_some(), any, "{d:?}");
        }
    }

    #[test]
    fn accesses_meet_modulo_a_period_iff_any_turn_of_it_brings_them_together() {
        for d in all() {
            for (k, period) in (-6i64..=6).flat_map(|k| (1..=24).map(move |period| (k, period))) {
                let any = (-80i64..=80).any(|n| {
                    let moved = Distance { delta: d.delta + n * period, ..d };
                    moved.meets(k)
                });
                assert_eq!(d.meets_modulo(period, k), any, "{d:?} {k} {period}");
            }
        }
    }

    #[test]
    fn no_distance_outside_of_the_forbidden_ones_meets() {
        for d in all() {
            let (low, high) = d.forbidden(7);
            if d.first_ahead(7).is_some() {
                assert!(low < i128::from(d.delta) && i128::from(d.delta) < high, "{d:?}");
            }
        }
    }

    #[test]
    fn distances_are_congruences() {
        let d = Distance { delta: i64::MIN, step: i64::MIN, a: (0, 4), b: (0, 4) };
        assert_eq!(d.first_ahead(4), Some(1));
        let d = Distance { delta: 0, step: 1 << 62, a: (0, 4), b: (0, 4) };
        assert_eq!((d.first_ahead(4), d.first_ahead(5)), (None, Some(4)));
    }
}
