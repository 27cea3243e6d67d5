//! What a look at an instance asks of memory, and what it changes there: so that an instance is looked at again when
//! something has changed that it asked for, and only then.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::memory::{Memory, ObjectId};
use super::noted::Noted;
use super::state::InstanceId;

/// A set of objects that is asked, filled and emptied often.
#[derive(Debug, Default)]
pub(super) struct Marks {
    has: Vec<bool>,
    list: Vec<ObjectId>,
}

impl Marks {
    /// Adds an object; says whether it is new.
    pub(super) fn insert(&mut self, id: ObjectId) -> bool {
        if self.has.len() <= id.index() {
            self.has.resize(id.index() + 1, false);
        }
        let new = !std::mem::replace(&mut self.has[id.index()], true);
        if new {
            self.list.push(id);
        }
        new
    }

    pub(super) fn contains(&self, id: ObjectId) -> bool {
        self.has.get(id.index()) == Some(&true)
    }

    fn take(&mut self) -> Vec<ObjectId> {
        self.list.iter().for_each(|id| self.has[id.index()] = false);
        std::mem::take(&mut self.list)
    }
}

/// What was asked and what was changed since the last look.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Objects whose contents, or those of objects that may be the same, were asked for.
    asked: RefCell<Marks>,
    /// Objects of which it was asked whether other code may know of them.
    shown: Marks,
    /// Whether it was asked what other code may find anywhere.
    at_large: Cell<bool>,
    /// Objects in which more pointers lie now, or behind which more objects.
    pointers: Marks,
    /// Objects that hold more secrets now.
    secrets: Marks,
    escaped: Vec<ObjectId>,
    /// Whether there is more now that other code may know of.
    more_at_large: bool,
}

impl Watch {
    pub(super) fn asks(&self, id: ObjectId) {
        self.asked.borrow_mut().insert(id);
    }

    pub(super) fn asks_whether_visible(&mut self, id: ObjectId) {
        self.shown.insert(id);
    }

    pub(super) fn asks_at_large(&self) {
        self.at_large.set(true);
    }

    pub(super) fn changes_pointers(&mut self, id: ObjectId) {
        self.pointers.insert(id);
    }

    pub(super) fn changes_secrets(&mut self, id: ObjectId, is_visible: bool) {
        self.secrets.insert(id);
        self.more_at_large |= is_visible;
    }

    pub(super) fn escapes(&mut self, id: ObjectId) {
        self.escaped.push(id);
        self.more_at_large = true;
    }

    pub(super) fn appears(&mut self) {
        self.more_at_large = true;
    }
}

/// Who asked for what, over all looks.
#[derive(Debug, Default)]
pub(super) struct Readers {
    of: Noted<InstanceId>,
    known: BTreeSet<(ObjectId, InstanceId)>,
    /// By object, who asked whether it is visible.
    shown: BTreeMap<ObjectId, BTreeSet<InstanceId>>,
    at_large: BTreeSet<InstanceId>,
}

/// Who is to be looked at again.
#[derive(Debug, Default)]
pub(super) struct Again {
    /// Since what pointers lead to may have changed for them.
    pub pointers: BTreeSet<InstanceId>,
    /// Since secrets may.
    pub secrets: BTreeSet<InstanceId>,
}

impl Readers {
    /// Takes down what was asked in a look at an instance, and says for whom something has changed.
    pub(super) fn note(&mut self, id: InstanceId, memory: &mut Memory<'_>) -> Again {
        let watch = &mut memory.watch;
        let asked = watch.asked.get_mut().take();
        for object in watch.shown.take() {
            self.shown.entry(object).or_default().insert(id);
        }
        if watch.at_large.take() {
            self.at_large.insert(id);
        }
        let (pointers, secrets) = (watch.pointers.take(), watch.secrets.take());
        let escaped = std::mem::take(&mut watch.escaped);
        let more_at_large = std::mem::take(&mut watch.more_at_large);
        for object in asked {
            if self.known.insert((object, id)) {
                let (private, has_escaped) = (memory.is_private(object), memory.has_escaped(object));
                self.of.entry(object, private, has_escaped).push(id);
            }
        }
        let mut again = Again::default();
        for &object in &escaped {
            self.of.escape(object);
            again.pointers.extend(self.shown.get(&object).into_iter().flatten());
        }
        // An object that has escaped may be the same as others from now on, and these as it.
        let apart = escaped.first().map(|_| memory.promised_apart()).unwrap_or_default();
        for object in pointers.into_iter().chain(escaped).chain(apart) {
            let readers = memory.concerning(&self.of, object);
            again.pointers.extend(readers.into_iter().flat_map(|(_, readers)| readers));
        }
        for object in secrets {
            let readers = memory.concerning(&self.of, object);
            again.secrets.extend(readers.into_iter().flat_map(|(_, readers)| readers));
        }
        if more_at_large {
            again.secrets.extend(&self.at_large);
        }
        again
    }
}
