//! Whether the last iterations of a loop may be executed once more.
//!
//! What no whole group is left for need not be executed under a mask if there has been a group: one that ends with the
//! last iteration repeats some iterations of the group before. They compute what they have computed, and store it
//! where they have stored it, if they touch nothing else than memory, and what they load and store has not been
//! stored to by other iterations since: if no access meets another one, of which one stores, in any of W − 1
//! iterations before or behind, and no load a store of its own iteration. What is stored by iterations that are further
//! ahead is not there yet, and what is stored by those further back was there the first time.

use super::access::{Access, Kind};
use super::checks::{self, Check, Form};
use super::judge::Judge;
use super::meet::{Meeting, Unknown};
use super::order::Order;
use super::place::Place;

/// So many accesses are compared at most: nobody waits for more checks behind a loop.
const MAX_ACCESSES: usize = 64;
/// So many checks are made behind a loop at most.
const MAX_CHECKS: usize = 12;

impl Judge<'_> {
    /// What must hold beside the checks before the loop for its last W iterations to be executed once more, if that is
    /// ever possible. These are all accesses, and the only effects.
    pub(super) fn repeatable(&self, all: &[Access]) -> Option<Vec<Check>> {
        let moved = self.region.is_none_or(|r| !r.moved.is_empty());
        if moved || all.len() > MAX_ACCESSES || all.iter().any(|a| a.kind != Kind::Plain) {
            return None;
        }
        let mut more = Vec::new();
        for (n, a) in all.iter().enumerate() {
            for b in all[n..].iter().filter(|b| a.writes || b.writes) {
                self.keep_repeatable(a, b, &mut more)?;
            }
        }
        (more.len() <= MAX_CHECKS).then_some(more)
    }

    /// Adds what must hold for two accesses. `None` if nothing that can be checked makes it possible.
    fn keep_repeatable(&self, a: &Access, b: &Access, more: &mut Vec<Check>) -> Option<()> {
        let window = i64::from(self.width) - 1;
        let both_store = a.writes && b.writes;
        // Stores of one iteration follow each other as they did.
        let is_kept = |meets: &dyn Fn(i64) -> bool| {
            (!(-window..=window).any(|k| (k != 0 || !both_store) && meets(k))).then_some(())
        };
        match self.comparison.meeting(a, b) {
            // Each iteration may have a row of its own, in which it loads where it stores.
            Meeting::Never => (both_store || self.comparison.are_apart(a, b)).then_some(()),
            Meeting::At(d) | Meeting::InOneIteration(d) | Meeting::Within(d) => is_kept(&|k| d.meets(k)),
            Meeting::Modulo(d, period) => is_kept(&|k| d.meets_modulo(period, k)),
            Meeting::Unknown(_) if self.is_checked_apart(a, b) => Some(()),
            Meeting::Unknown(why) => {
                let is_regular = |p: &Place| p.step.is_some() && p.moving.is_empty();
                let regular = [a, b].iter().all(|x| x.place.as_ref().is_some_and(is_regular));
                (regular && why == Unknown::Pointers).then_some(())?;
                let check = checks::plan(&self.comparison, a, b, (Order::Around, true), why)?;
                (!matches!(check.form, Form::Rows | Form::Columns(..))).then_some(())?;
                if !self.found.checks.iter().any(|c| c.covers(&check)) {
                    checks::add_joined(more, check, true);
                }
                Some(())
            }
        }
    }

    /// Whether checks before the loop keep two accesses apart, in one iteration, too.
    fn is_checked_apart(&self, a: &Access, b: &Access) -> bool {
        let pairs = [(a.inst, b.inst), (b.inst, a.inst)];
        self.found.apart.iter().any(|pair| pairs.contains(pair))
    }
}
