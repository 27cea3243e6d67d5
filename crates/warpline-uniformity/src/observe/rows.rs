//! Bytes that recur in an object, as the members of structures in an array do.
//!
//! Where a pointer may be anywhere in an array, it is still known to lie at a multiple of the elements' size from one of
//! them, and within the member that it was made from. All offsets are those in the object, and count by remainders.

/// Bytes that recur: `width` of them from `from` on, in every `every`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Rows {
    every: i64,
    from: i64,
    width: i64,
}

impl Rows {
    /// None if these are all bytes.
    pub(super) fn new(every: i64, from: i64, width: i64) -> Option<Rows> {
        (0 < width && width < every).then(|| Rows { every, from: from.rem_euclid(every), width })
    }

    /// Whether some of the bytes from `lo` to before `hi` are among them.
    pub(super) fn meets_range(self, lo: i64, hi: i64) -> bool {
        let length = hi.saturating_sub(lo);
        let first = lo.saturating_sub(self.from).rem_euclid(self.every);
        length > 0 && (first < self.width || first.saturating_add(length) > self.every)
    }

    /// Whether the two may have a byte in common.
    pub(super) fn meets(self, other: Rows) -> bool {
        let every = gcd(self.every, other.every);
        let behind = |a: Rows, b: Rows| (b.from - a.from).rem_euclid(every) < a.width;
        behind(self, other) || behind(other, self)
    }

    /// Whether all of the other's bytes are among them.
    pub(super) fn contain(self, other: Rows) -> bool {
        let first = (other.from - self.from).rem_euclid(self.every);
        self.every == other.every && first + other.width <= self.width
    }
}

/// First bytes that a pointer may lead to: `span` more than the one at `from`, in every `every`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Steps {
    every: i64,
    from: i64,
    span: i64,
    /// The member that the pointer stays in: its first byte and its size.
    member: Option<(i64, i64)>,
}

impl Steps {
    fn new(every: i64, from: i64) -> Option<Steps> {
        (every > 1).then(|| Steps { every, from: from.rem_euclid(every), span: 0, member: None })
    }

    /// Those of a pointer to `lo` that is moved by a number times `size`.
    pub(super) fn begin(lo: i64, size: i64) -> Option<Steps> {
        Steps::new(size, lo)
    }

    pub(super) fn moved(self, by: i64) -> Steps {
        Steps { from: self.from.saturating_add(by).rem_euclid(self.every), ..self }
    }

    /// Those of a pointer to something of this size that begins there.
    pub(super) fn narrowed(self, size: i64) -> Steps {
        let is_member = self.span == 0 && 0 < size && size <= self.every;
        if is_member { Steps { member: Some((self.from, size)), ..self } } else { self }
    }

    /// Those of the pointer moved by a number times `size`; none if nothing is known any more. A pointer stays in the
    /// member that it was made from.
    pub(super) fn times(self, size: i64) -> Option<Steps> {
        if size % self.every == 0 {
            return Some(self);
        }
        let (first, length) = self.member?;
        let at = (self.from - first).rem_euclid(self.every);
        (at + self.span < length).then_some(Steps { from: first, span: length - 1, ..self })
    }

    /// Those of a pointer that has one or the other.
    fn join(self, other: Steps) -> Option<Steps> {
        let member = self.member.filter(|_| self.member == other.member);
        if (self.every, self.from) == (other.every, other.from) {
            return Some(Steps { span: self.span.max(other.span), member, ..self });
        }
        let is_plain = self.span == 0 && other.span == 0;
        let every = gcd(gcd(self.every, other.every), self.from - other.from);
        if is_plain { Steps::new(every, self.from) } else { None }
    }

    /// Those of a pointer that has them or leads to `at`.
    fn join_exact(self, at: i64) -> Option<Steps> {
        let beyond = (at.saturating_sub(self.from)).rem_euclid(self.every);
        match (beyond <= self.span, self.span) {
            (true, _) => Some(Steps { member: None, ..self }),
            (false, 0) => Steps::new(gcd(self.every, beyond), self.from),
            (false, _) => None,
        }
    }

    /// The bytes that an access of this size touches; none if that may be all.
    pub(super) fn rows(self, size: i64) -> Option<Rows> {
        let mut width = self.span.saturating_add(size);
        if let (Some((first, length)), true) = (self.member, self.span > 0) {
            let at = (self.from - first).rem_euclid(self.every);
            if at < length {
                width = width.min(length - at);
            }
        }
        Rows::new(self.every, self.from, width)
    }
}

/// What is known of the first bytes between two.
#[derive(Copy, Clone)]
pub(super) enum Known {
    Exact(i64),
    Steps(Steps),
    Nothing,
}

impl Known {
    pub(super) fn of(lo: i64, hi: i64, steps: Option<Steps>) -> Known {
        match steps {
            _ if lo == hi => Known::Exact(lo),
            Some(steps) => Known::Steps(steps),
            None => Known::Nothing,
        }
    }

    /// What is known of a pointer of which one or the other is.
    pub(super) fn join(self, other: Known) -> Option<Steps> {
        match (self, other) {
            (Known::Exact(a), Known::Exact(b)) if a == b => None,
            (Known::Exact(a), Known::Exact(b)) => Steps::new(a.saturating_sub(b).saturating_abs(), a),
            (Known::Exact(at), Known::Steps(steps)) | (Known::Steps(steps), Known::Exact(at)) => {
                steps.join_exact(at)
            }
            (Known::Steps(a), Known::Steps(b)) => a.join(b),
            (Known::Nothing, _) | (_, Known::Nothing) => None,
        }
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.saturating_abs(), b.saturating_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(rows: Rows) -> Vec<i64> {
        (0..60).filter(|b| (b - rows.from).rem_euclid(rows.every) < rows.width).collect()
    }

    #[test]
    fn rows_meet_and_contain_as_their_bytes_do() {
        let all: Vec<Rows> = (2..=6)
            .flat_map(|every| (0..every).flat_map(move |from| (1..every).map(move |w| (every, from, w))))
            .filter_map(|(every, from, width)| Rows::new(every, from, width))
            .collect();
        for &a in &all {
            let own = bytes(a);
            for &b in &all {
                let common = bytes(b).iter().any(|x| own.contains(x));
                assert_eq!(a.meets(b), common, "{a:?} {b:?}");
                assert!(!a.contain(b) || bytes(b).iter().all(|x| own.contains(x)), "{a:?} {b:?}");
            }
            for (lo, hi) in (0..14).flat_map(|lo| (lo..=14).map(move |hi| (lo, hi))) {
                assert_eq!(
                    a.meets_range(lo, hi),
                    own.iter().any(|x| (lo..hi).contains(x)),
                    "{a:?} {lo} {hi}"
                );
            }
        }
    }

    #[test]
    fn a_member_of_an_element_stays_apart_from_the_others() {
        // Elements of 16 bytes: a number, and 12 bytes that are indexed.
        let element = Steps::begin(32, 16).unwrap();
        let number = element.narrowed(4).rows(4).unwrap();
        let key = element.moved(4).narrowed(12).times(1).unwrap().rows(1).unwrap();
        assert!(
            !number.meets(key) && key.meets(key) && number.meets_range(48, 49) && !key.meets_range(48, 52)
        );
        // The next element has the same ones, and one further along half an element has both.
        assert_eq!(element.moved(16), element);
        assert!(element.moved(8).rows(4).unwrap().meets(key));
        assert_eq!(element.times(3), None);
    }

    #[test]
    fn what_is_joined_has_the_first_bytes_of_both() {
        let (a, b) = (Steps::begin(4, 16).unwrap(), Steps::begin(12, 16).unwrap());
        assert_eq!(Known::Steps(a).join(Known::Steps(b)), Steps::begin(4, 8));
        assert_eq!(Known::Exact(4).join(Known::Exact(36)), Steps::begin(4, 32));
        assert_eq!(Known::Steps(a).join(Known::Exact(20)), Some(a));
        assert_eq!(Known::Steps(a).join(Known::Exact(21)), None);
        assert_eq!(Known::Steps(a).join(Known::Nothing), None);
    }
}
