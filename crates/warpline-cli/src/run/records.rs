//! Structures with pointers that are made up: `std::vector`, `Vec`, an image with its size and its pixels.
//!
//! What a structure has is seen by what a function loads and stores at which places in it: numbers, and pointers to
//! arrays. A pointer that is loaded and leads nowhere is taken for the end of the array before it.

use std::collections::{BTreeMap, HashMap, HashSet};

use warpline::ir::{Function, Module, Type, Value};
use warpline::linear::Address;

use crate::spec::{Elem, Member};

use super::made_up::{contents, scalar};

/// The largest structure, in bytes.
const MOST: i64 = 4096;

/// A structure that a parameter points to.
#[derive(Default)]
pub(super) struct Record {
    members: BTreeMap<i64, Known>,
}

/// What is known of a member.
#[derive(Copy, Clone, PartialEq)]
enum Known {
    Number(Elem),
    /// An address, of elements of a type if it is known to lead to some.
    Address(Option<Elem>),
}

impl Known {
    fn bytes(self) -> i64 {
        match self {
            Known::Number(elem) => elem.bytes() as i64,
            Known::Address(_) => 8,
        }
    }
}

/// What is made up.
pub(super) struct Guess {
    /// What integers are.
    pub extent: u64,
    /// How many elements arrays have.
    pub room: usize,
    /// How many elements those have whose end is a member.
    pub bounded: usize,
}

impl Record {
    /// How many members there are that may say how far a loop goes.
    pub(super) fn numbers(&self) -> usize {
        let is_wide = |known: &&Known| matches!(known, Known::Number(Elem::Int(16..)));
        self.members.values().filter(is_wide).count()
    }

    /// Members as they are passed, with what lies between them.
    pub(super) fn members(&self, guess: &Guess) -> Vec<Member> {
        let (mut all, mut end) = (Vec::new(), 0);
        let mut has_array = false;
        let mut known = self.members.iter().peekable();
        while let Some((&at, &member)) = known.next() {
            if at > end {
                all.push(Member::Zeros((at - end) as usize));
            }
            end = at + member.bytes();
            let elem = match member {
                Known::Number(elem) => {
                    all.push(Member::Number(elem, scalar(elem, "", guess.extent)));
                    continue;
                }
                Known::Address(None) if has_array => {
                    all.push(Member::End);
                    continue;
                }
                Known::Address(elem) => elem.unwrap_or(Elem::F32),
            };
            has_array = true;
            let has_end = known.peek().is_some_and(|(_, next)| **next == Known::Address(None));
            let len = if has_end { guess.bounded } else { guess.room };
            all.push(Member::Buffer { elem, len, fill: contents(elem, guess.extent) });
        }
        all
    }
}

/// The structures that parameters point to which lead to pointers. `elements` has what lies where pointers lead, `None`
/// for pointers.
pub(super) fn of(
    module: &Module,
    func: &Function,
    elements: &HashMap<Value, Option<Elem>>,
) -> HashMap<Value, Record> {
    let mut found: HashMap<Value, Record> = HashMap::new();
    let mut others: HashSet<Value> = HashSet::new();
    let wanted = |value: &Value| func.params.contains(value) && elements.get(value) == Some(&None);
    for inst in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
        let Some(accessed) = func.accessed(inst) else { continue };
        let Some(at) = Address::of(module, func, accessed.address) else { continue };
        if !wanted(&at.root) {
            continue;
        }
        let loaded = func.insts[inst].results.first().filter(|_| !accessed.writes);
        let leads_to = loaded.and_then(|value| elements.get(value));
        let member = match (accessed.ty, leads_to) {
            // To pointers.
            (Type::Ptr(_), Some(None)) => None,
            (Type::Ptr(_), elem) => Some(Known::Address(elem.copied().flatten())),
            (ty, _) => Elem::of(ty).map(Known::Number),
        };
        let is_inside = (0..MOST).contains(&at.offset) && at.terms.is_empty();
        let record = found.entry(at.root).or_default();
        if !member.is_some_and(|member| is_inside && record.add(at.offset, member)) {
            others.insert(at.root);
        }
    }
    found.retain(|param, record| !others.contains(param) && record.is_apart());
    found
}

impl Record {
    /// Adds what is known of the member at an offset, unless that is another one.
    fn add(&mut self, at: i64, member: Known) -> bool {
        let known = self.members.entry(at).or_insert(member);
        match (*known, member) {
            (Known::Address(old), Known::Address(new)) => *known = Known::Address(old.or(new)),
            (old, new) => return old == new,
        }
        at % member.bytes() == 0
    }

    /// Whether no members overlap.
    fn is_apart(&self) -> bool {
        let ends = self.members.iter().map(|(at, member)| at + member.bytes());
        ends.zip(self.members.keys().skip(1)).all(|(end, next)| end <= *next)
    }
}
