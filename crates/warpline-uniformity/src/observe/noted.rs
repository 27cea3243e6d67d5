//! Notes on objects, found by which objects may be the same.
//!
//! Most objects of a program are private ones: variables of some call of some function. A private object is no other
//! one, or at most what pointers of unknown origin lead to. So a question about an object looks at that object and at
//! the few that are not private, however many variables there are.

use std::collections::BTreeSet;

use super::memory::ObjectId;

/// Which objects a question about one of them concerns.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Concerned {
    /// No other one.
    Itself,
    /// This one, too.
    With(ObjectId),
    /// Perhaps all that are not private.
    Common,
    /// Perhaps all that are not private, and private ones that have escaped.
    All,
}

/// Notes by object.
#[derive(Debug)]
pub(super) struct Noted<T> {
    /// By the objects' numbers; empty where nothing is noted.
    of: Vec<Vec<T>>,
    /// Those of the objects that are not private.
    common: BTreeSet<ObjectId>,
    /// Those of the private objects that have escaped.
    escaped: BTreeSet<ObjectId>,
}

impl<T> Default for Noted<T> {
    fn default() -> Noted<T> {
        Noted { of: Vec::new(), common: BTreeSet::new(), escaped: BTreeSet::new() }
    }
}

impl<T> Noted<T> {
    /// The notes on an object, to add to. `is_private`, `is_escaped`: what it is now.
    pub(super) fn entry(&mut self, id: ObjectId, is_private: bool, is_escaped: bool) -> &mut Vec<T> {
        if self.of.len() <= id.index() {
            self.of.resize_with(id.index() + 1, Vec::new);
        }
        let notes = &mut self.of[id.index()];
        if notes.is_empty() {
            if !is_private {
                self.common.insert(id);
            } else if is_escaped {
                self.escaped.insert(id);
            }
        }
        notes
    }

    fn get(&self, id: ObjectId) -> Option<&Vec<T>> {
        self.of.get(id.index()).filter(|notes| !notes.is_empty())
    }

    /// A private object has escaped.
    pub(super) fn escape(&mut self, id: ObjectId) {
        if self.get(id).is_some() && !self.common.contains(&id) {
            self.escaped.insert(id);
        }
    }

    /// All that is noted, by object.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ObjectId, &Vec<T>)> {
        let all = self.of.iter().enumerate().filter(|(_, notes)| !notes.is_empty());
        all.map(|(i, notes)| (ObjectId::new(i), notes))
    }

    /// What is noted on an object and those that may be the same, by object.
    pub(super) fn concerning(
        &self,
        id: ObjectId,
        concerned: Concerned,
        may_be_same: impl Fn(ObjectId) -> bool,
    ) -> Vec<(ObjectId, &Vec<T>)> {
        let mut ids: Vec<ObjectId> = match concerned {
            Concerned::Itself => vec![id],
            Concerned::With(other) => vec![id, other],
            Concerned::Common => self.common.iter().copied().filter(|&o| may_be_same(o)).collect(),
            Concerned::All => {
                let both = self.common.iter().chain(&self.escaped);
                both.copied().filter(|&o| may_be_same(o)).collect()
            }
        };
        ids.sort_unstable();
        ids.into_iter().filter_map(|id| Some((id, self.get(id)?))).collect()
    }
}
