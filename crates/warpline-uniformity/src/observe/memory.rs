//! Memory in pieces: objects, the places that pointers lead to in them, what was written where, and what holds secrets.
//!
//! An object is what an allocation makes, a global variable, what a parameter of the entry leads to, or what a pointer
//! that lay in memory from the start leads to. Within an object, bytes are told apart by their offset. Where an offset
//! is not known, a pointer stays within the array or the member of a structure that it was made from, as the languages
//! say; in an array of structures, members are told apart by their places in the elements ([`rows`](super::rows)).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::noted::{Concerned, Noted};
use super::rows::{Known, Rows, Steps};
use super::state::{InstanceId, Since};
use super::watch::{Marks, Watch};
use warpline_ir::{AccessType, Function, Inst, Module, PointerFacts, Symbol, SymbolKind, Value};

/// An object, by its number.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct ObjectId(u32);

impl ObjectId {
    pub(super) fn new(index: usize) -> ObjectId {
        ObjectId(index as u32)
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An object.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Object {
    /// What an allocation makes.
    Private(InstanceId, Value),
    /// What a pointer parameter of the entry leads to.
    Param(u32),
    /// A global variable that may be written.
    Global(Symbol),
    /// A global constant.
    Constant(Symbol),
    /// A function.
    Function(Symbol),
    /// What a pointer leads to that lies in an object from the start, at an offset if that is known.
    Behind(ObjectId, Option<i64>),
    /// What is reached by any other pointer.
    Elsewhere,
}

/// Further away than any offset.
pub(super) const FAR: i64 = i64::MAX / 4;

/// So many pointers that lay in memory from the start are followed one after the other; what lies behind them is one
/// object.
const MAX_DEPTH: u32 = 3;

/// So many pieces of an object are told apart as written or as holding pointers.
const MAX_PIECES: usize = 256;

/// Where a pointer may lead to: first bytes from `lo` to `hi`, both included.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Place {
    pub object: ObjectId,
    pub lo: i64,
    pub hi: i64,
    /// The array, member or object that it stays in: from the first byte to behind the last one.
    pub within: (i64, i64),
    /// Which of the first bytes it may be, if there are several.
    pub steps: Option<Steps>,
}

/// Bytes of an object, from the first to behind the last one.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Region {
    pub object: ObjectId,
    pub lo: i64,
    pub hi: i64,
    /// Which of them, if not all.
    pub rows: Option<Rows>,
}

impl Place {
    pub(super) fn start(object: ObjectId) -> Place {
        Place { object, lo: 0, hi: 0, within: (-FAR, FAR), steps: None }
    }

    pub(super) fn anywhere(object: ObjectId) -> Place {
        Place { object, lo: -FAR, hi: FAR, within: (-FAR, FAR), steps: None }
    }

    fn is_exact(self) -> bool {
        self.lo == self.hi
    }

    /// The bytes that an access of this size may touch, or of any size.
    pub(super) fn access(self, size: Option<u64>) -> Region {
        let size = size.and_then(|s| i64::try_from(s).ok()).map_or(FAR, |s| s.min(FAR));
        let (mut lo, mut hi) = (self.lo, self.hi.saturating_add(size).min(FAR));
        if !self.is_exact() && size < FAR && self.within.0 < hi && lo < self.within.1 {
            (lo, hi) = (lo.max(self.within.0), hi.min(self.within.1));
        }
        let steps = self.steps.filter(|_| !self.is_exact() && size < FAR);
        Region { object: self.object, lo, hi, rows: steps.and_then(|steps| steps.rows(size)) }
    }

    pub(super) fn moved(self, by: i64) -> Place {
        let add = |x: i64| if x.abs() >= FAR { x } else { x.saturating_add(by).clamp(-FAR, FAR) };
        Place { lo: add(self.lo), hi: add(self.hi), steps: self.steps.map(|steps| steps.moved(by)), ..self }
    }

    /// The pointer moved by a number times a size: between two distances, if these are known.
    pub(super) fn times(self, size: i64, between: Option<(i64, i64)>) -> Place {
        let steps = match self.is_exact() {
            true => Steps::begin(self.lo, size),
            false => self.steps.and_then(|steps| steps.times(size)),
        };
        let moved = between.map_or_else(|| self.adrift(), |(least, greatest)| self.between(least, greatest));
        Place { steps, ..moved }
    }

    /// The pointer moved by a distance between two.
    fn between(self, least: i64, greatest: i64) -> Place {
        let (from, to) = (self.moved(least), self.moved(greatest));
        let (lo, hi) = (from.lo, to.hi);
        let within = self.within.0 <= lo && hi < self.within.1;
        if within { Place { lo, hi, ..self } } else { self.adrift() }
    }

    /// The pointer moved by a distance that is not known.
    pub(super) fn adrift(self) -> Place {
        let (lo, hi) = self.within;
        Place { lo: lo.min(self.lo), hi: (hi - 1).max(self.hi).max(lo), steps: None, ..self }
    }

    /// The pointer to something of this size that begins here.
    pub(super) fn narrowed(self, size: u64) -> Place {
        let Ok(size) = i64::try_from(size) else { return self };
        if !self.is_exact() || size == 0 || size >= FAR {
            return Place { steps: self.steps.map(|steps| steps.narrowed(size)), ..self };
        }
        Place { within: (self.lo, self.lo.saturating_add(size)), steps: None, ..self }
    }
}

impl Region {
    pub(super) fn whole(object: ObjectId) -> Region {
        Region::bytes(object, -FAR, FAR)
    }

    pub(super) fn bytes(object: ObjectId, lo: i64, hi: i64) -> Region {
        Region { object, lo, hi, rows: None }
    }

    /// Whether it may have one of these bytes.
    fn meets(self, lo: i64, hi: i64, rows: Option<Rows>) -> bool {
        let (lo, hi) = (lo.max(self.lo), hi.min(self.hi));
        lo < hi
            && match (self.rows, rows) {
                (None, None) => true,
                (Some(rows), None) | (None, Some(rows)) => rows.meets_range(lo, hi),
                (Some(own), Some(rows)) => own.meets(rows),
            }
    }

    /// Whether it has all bytes of another one.
    fn contains(self, other: Region) -> bool {
        let has = |rows: Rows| other.rows.is_some_and(|others| rows.contain(others));
        (self.object == other.object && self.lo <= other.lo && other.hi <= self.hi)
            && self.rows.is_none_or(has)
    }
}

/// Places, those of an object and an array together.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Places {
    all: BTreeMap<Whole, Span>,
}

/// An object and the array in it.
type Whole = (ObjectId, (i64, i64));

/// From where to where, and how often that has grown; which of the first bytes.
type Span = (i64, i64, u8, Option<Steps>);

/// A place that grows more often than this may be anywhere.
const MAX_GROWTH: u8 = 4;

impl Places {
    pub(super) fn of(place: Place) -> Places {
        let mut places = Places::default();
        places.add(place);
        places
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Place> + '_ {
        let place = |(&(object, within), &(lo, hi, _, steps)): (&Whole, &Span)| Place {
            object,
            lo,
            hi,
            within,
            steps,
        };
        self.all.iter().map(place)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds a place; says whether it is new.
    pub(super) fn add(&mut self, place: Place) -> bool {
        use std::collections::btree_map::Entry;
        match self.all.entry((place.object, place.within)) {
            Entry::Vacant(slot) => {
                slot.insert((place.lo, place.hi, 0, place.steps));
                true
            }
            Entry::Occupied(mut slot) => {
                let (lo, hi, grown, steps) = slot.get_mut();
                let joined = Known::of(*lo, *hi, *steps).join(Known::of(place.lo, place.hi, place.steps));
                if *lo <= place.lo && place.hi <= *hi {
                    return *lo < *hi && std::mem::replace(steps, joined) != joined;
                }
                *steps = joined;
                *grown = grown.saturating_add(1);
                let wide = match *grown {
                    0..=MAX_GROWTH => place,
                    n if n <= 2 * MAX_GROWTH => place.adrift(),
                    _ => Place { lo: -FAR, hi: FAR, ..place },
                };
                (*lo, *hi) = ((*lo).min(wide.lo), (*hi).max(wide.hi));
                true
            }
        }
    }

    pub(super) fn add_all(&mut self, other: &Places) -> bool {
        other.iter().fold(false, |new, place| self.add(place) | new)
    }

    pub(super) fn map(&self, mut change: impl FnMut(Place) -> Place) -> Places {
        let mut places = Places::default();
        for place in self.iter() {
            places.add(change(place));
        }
        places
    }

    pub(super) fn regions(&self, size: Option<u64>) -> impl Iterator<Item = Region> + '_ {
        self.iter().map(move |place| place.access(size))
    }
}

/// Why memory holds secrets.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Held {
    /// It is secret from the start.
    Given(ObjectId),
    /// It may be what is secret from the start.
    Elsewhere,
    /// An instruction may have written it.
    Written(InstanceId, Inst, Since),
}

#[derive(Copy, Clone, Debug)]
struct Write {
    lo: i64,
    hi: i64,
    rows: Option<Rows>,
    ty: Option<AccessType>,
    by: (InstanceId, Inst),
    since: Since,
}

/// What lies in a region: pointers to these places, and perhaps what may be the bytes of any pointer.
#[derive(Clone, Debug)]
struct Stored {
    lo: i64,
    hi: i64,
    what: Places,
    any: bool,
}

impl Stored {
    fn join(&mut self, what: Option<&Places>) -> bool {
        match what {
            Some(new) => self.what.add_all(new),
            None => !std::mem::replace(&mut self.any, true),
        }
    }
}

/// The memory of a program, whatever the order of execution is.
pub(super) struct Memory<'m> {
    module: &'m Module,
    /// Whether what parameters of the entry and pointers behind them lead to may overlap.
    pub overlaps: bool,
    objects: Vec<Object>,
    numbers: HashMap<Object, ObjectId>,
    /// Objects whose address got to where it is not followed.
    escaped: Marks,
    written: Noted<Write>,
    stored: Noted<Stored>,
    /// What lies behind pointers in an object from the start: where, if that is known, and what.
    behind: BTreeMap<ObjectId, Vec<(Option<i64>, ObjectId)>>,
    secret: Vec<Region>,
    public: Vec<Region>,
    /// What callers promise of the entry's parameters.
    promises: Vec<PointerFacts>,
    /// What is asked and changed.
    pub watch: Watch,
}

impl<'m> Memory<'m> {
    pub(super) fn new(module: &'m Module, entry: &Function, overlaps: bool) -> Memory<'m> {
        let promises = entry.params.iter().map(|&p| entry.pointers[p]).collect();
        Memory {
            module,
            overlaps,
            objects: Vec::new(),
            numbers: HashMap::new(),
            escaped: Marks::default(),
            written: Noted::default(),
            stored: Noted::default(),
            behind: BTreeMap::new(),
            secret: Vec::new(),
            public: Vec::new(),
            promises,
            watch: Watch::default(),
        }
    }

    pub(super) fn id(&mut self, object: Object) -> ObjectId {
        let next = ObjectId(self.objects.len() as u32);
        let id = *self.numbers.entry(object).or_insert(next);
        if id == next {
            self.objects.push(object);
            if let Object::Behind(parent, at) = object {
                self.behind.entry(parent).or_default().push((at, id));
                self.watch.changes_pointers(parent);
            }
            if self.is_visible(id) {
                self.watch.appears();
            }
        }
        id
    }

    pub(super) fn object(&self, id: ObjectId) -> Object {
        self.objects[id.0 as usize]
    }

    pub(super) fn elsewhere(&mut self) -> Places {
        Places::of(Place::anywhere(self.id(Object::Elsewhere)))
    }

    /// What a pointer that lay in a region from the start leads to. It is the first byte of an object.
    pub(super) fn behind(&mut self, region: Region, size: i64) -> Option<ObjectId> {
        let object = self.object(region.object);
        let depth = |mut at: Object| {
            let mut depth = 0;
            while let Object::Behind(parent, _) = at {
                (at, depth) = (self.object(parent), depth + 1);
            }
            depth
        };
        match object {
            Object::Private(..) | Object::Function(_) => None,
            Object::Elsewhere => Some(region.object),
            Object::Behind(..) if depth(object) >= MAX_DEPTH => Some(region.object),
            _ => {
                let offset = (region.hi - region.lo <= size).then_some(region.lo);
                Some(self.id(Object::Behind(region.object, offset)))
            }
        }
    }

    pub(super) fn declare_secret(&mut self, region: Region) {
        self.secret.push(region);
    }

    pub(super) fn declare_public(&mut self, region: Region) {
        self.public.push(region);
    }

    pub(super) fn escape(&mut self, places: &Places) {
        for place in places.iter() {
            if self.escaped.insert(place.object) {
                self.stored.escape(place.object);
                self.written.escape(place.object);
                self.watch.escapes(place.object);
            }
        }
    }

    /// Whether two different objects may be one, or parts of one.
    fn may_be_same(&self, a: ObjectId, b: ObjectId) -> bool {
        use Object::{Behind, Constant, Elsewhere, Function, Global, Param, Private};
        if a == b {
            return true;
        }
        let of_global = |mut id: ObjectId| loop {
            match self.object(id) {
                Behind(parent, _) => id = parent,
                Global(_) | Constant(_) => return true,
                _ => return false,
            }
        };
        let is_apart = |i: u32, id: ObjectId| {
            self.promises.get(i as usize).is_some_and(|p| p.noalias) && !self.escaped.contains(id)
        };
        match (self.object(a), self.object(b)) {
            (Constant(_) | Function(_), _) | (_, Constant(_) | Function(_)) | (Global(_), Global(_)) => false,
            (Private(..), Elsewhere) => self.escaped.contains(a),
            (Elsewhere, Private(..)) => self.escaped.contains(b),
            (Private(..), _) | (_, Private(..)) => false,
            (Param(i), _) if is_apart(i, a) => false,
            (_, Param(i)) if is_apart(i, b) => false,
            (Elsewhere, _) | (_, Elsewhere) => true,
            (Behind(p, x), Behind(q, y)) if p == q && (x == y || x.is_none() || y.is_none()) => true,
            (Behind(..), Global(_)) if of_global(a) => true,
            (Global(_), Behind(..)) if of_global(b) => true,
            (Behind(..), Behind(..)) if of_global(a) && of_global(b) => true,
            _ => self.overlaps,
        }
    }

    /// Which objects may be the same as this one.
    fn concerned(&self, id: ObjectId) -> Concerned {
        match self.object(id) {
            Object::Private(..) if !self.escaped.contains(id) => Concerned::Itself,
            Object::Private(..) => {
                self.numbers.get(&Object::Elsewhere).map_or(Concerned::Itself, |&e| Concerned::With(e))
            }
            Object::Constant(_) | Object::Function(_) => Concerned::Itself,
            Object::Elsewhere => Concerned::All,
            Object::Param(_) | Object::Global(_) | Object::Behind(..) => Concerned::Common,
        }
    }

    /// What is noted on an object and those that may be the same, by object.
    pub(super) fn concerning<'n, T>(&self, noted: &'n Noted<T>, id: ObjectId) -> Vec<(ObjectId, &'n Vec<T>)> {
        noted.concerning(id, self.concerned(id), |other| self.may_be_same(other, id))
    }

    pub(super) fn is_private(&self, id: ObjectId) -> bool {
        matches!(self.object(id), Object::Private(..))
    }

    pub(super) fn has_escaped(&self, id: ObjectId) -> bool {
        self.escaped.contains(id)
    }

    /// What parameters lead to that are promised to be apart from everything that has not escaped.
    pub(super) fn promised_apart(&self) -> Vec<ObjectId> {
        let params = (0..self.promises.len() as u32).filter(|&i| self.promises[i as usize].noalias);
        params.filter_map(|i| self.numbers.get(&Object::Param(i)).copied()).collect()
    }

    fn is_visible(&self, id: ObjectId) -> bool {
        match self.object(id) {
            Object::Private(..) => self.escaped.contains(id),
            Object::Constant(_) | Object::Function(_) => false,
            _ => true,
        }
    }

    /// The objects that other code may know of.
    pub(super) fn visible(&self) -> Vec<ObjectId> {
        self.watch.asks_at_large();
        (0..self.objects.len() as u32).map(ObjectId).filter(|&id| self.is_visible(id)).collect()
    }

    fn apart(&self, a: Option<AccessType>, b: Option<AccessType>) -> bool {
        a.zip(b).is_some_and(|(a, b)| self.module.access_types.are_apart(a, b))
    }

    /// Why a region may hold secrets, if it is accessed as this type.
    pub(super) fn secret_in(&self, region: Region, ty: Option<AccessType>) -> Option<Held> {
        self.secret_parts(region, ty).first().map(|&(_, why)| why)
    }

    /// The parts of a region that may hold secrets, with the reason; the whole of it where it is another object that
    /// does.
    pub(super) fn secret_parts(&self, region: Region, ty: Option<AccessType>) -> Vec<(Region, Held)> {
        self.watch.asks(region.object);
        let object = self.object(region.object);
        let is_fixed = matches!(object, Object::Constant(_) | Object::Function(_));
        if is_fixed && self.secret.iter().all(|s| s.object != region.object) {
            return Vec::new();
        }
        if self.public.iter().any(|public| public.contains(region)) {
            return Vec::new();
        }
        let cut = |lo: i64, hi: i64| Region { lo: lo.max(region.lo), hi: hi.min(region.hi), ..region };
        let mut parts = Vec::new();
        for given in &self.secret {
            let same = given.object == region.object && region.meets(given.lo, given.hi, given.rows);
            if same {
                parts.push((cut(given.lo, given.hi), Held::Given(region.object)));
            } else if object == Object::Elsewhere {
                parts.push((region, Held::Elsewhere));
            } else if matches!(self.object(given.object), Object::Global(_))
                && matches!(object, Object::Behind(..) | Object::Param(_))
                && self.may_be_same(given.object, region.object)
            {
                parts.push((region, Held::Given(given.object)));
            } else if let (Object::Behind(p, x), Object::Behind(q, y)) = (object, self.object(given.object))
                && p == q
                && x != y
                && (x.is_none() || y.is_none())
            {
                parts.push((region, Held::Given(given.object)));
            }
        }
        for (other, writes) in self.concerning(&self.written, region.object) {
            if other == region.object {
                let met = writes.iter().filter(|w| region.meets(w.lo, w.hi, w.rows));
                parts.extend(met.map(|w| (cut(w.lo, w.hi), Held::Written(w.by.0, w.by.1, w.since))));
            } else {
                let met = writes.iter().find(|w| !self.apart(w.ty, ty));
                parts.extend(met.map(|w| (region, Held::Written(w.by.0, w.by.1, w.since))));
            }
        }
        parts.retain(|&(part, _)| !self.public.iter().any(|public| public.contains(part)));
        parts
    }

    /// Notes that secrets are written to a region; says whether that is new.
    pub(super) fn write(
        &mut self,
        region: Region,
        ty: Option<AccessType>,
        by: (InstanceId, Inst),
        since: Since,
    ) -> bool {
        if matches!(self.object(region.object), Object::Constant(_) | Object::Function(_)) {
            return false;
        }
        let (private, escaped) = (self.is_private(region.object), self.escaped.contains(region.object));
        let writes = self.written.entry(region.object, private, escaped);
        let covers = |w: &Write| {
            let all = Region { object: region.object, lo: w.lo, hi: w.hi, rows: w.rows };
            all.contains(region) && (w.ty.is_none() || w.ty == ty)
        };
        if writes.iter().any(covers) {
            return false;
        }
        let whole = writes.len() >= MAX_PIECES;
        let (kept, ty) = if whole { (Region::whole(region.object), None) } else { (region, ty) };
        let Region { lo, hi, rows, .. } = kept;
        writes.push(Write { lo, hi, rows, ty, by, since });
        let is_visible = self.is_visible(region.object);
        self.watch.changes_secrets(region.object, is_visible);
        true
    }

    /// Notes that a pointer (or, with none, what may be the bytes of any) lies in a region.
    pub(super) fn store(&mut self, region: Region, what: Option<&Places>) {
        let (private, escaped) = (self.is_private(region.object), self.escaped.contains(region.object));
        let stored = self.stored.entry(region.object, private, escaped);
        let is_there = |lo: i64, hi: i64| move |s: &Stored| (s.lo, s.hi) == (lo, hi);
        let own = stored.iter().position(is_there(region.lo, region.hi));
        // Too many pieces become one.
        let (lo, hi) = match own.is_none() && stored.len() >= MAX_PIECES {
            true => (-FAR, FAR),
            false => (region.lo, region.hi),
        };
        let is_new = match stored.iter().position(is_there(lo, hi)) {
            Some(known) => stored[known].join(what),
            None => {
                stored.push(Stored { lo, hi, what: what.cloned().unwrap_or_default(), any: what.is_none() });
                true
            }
        };
        if is_new {
            self.watch.changes_pointers(region.object);
        }
        if what.is_some() {
            self.watch.asks_whether_visible(region.object);
        }
        if let Some(what) = what
            && self.is_visible(region.object)
        {
            self.escape(what);
        }
    }

    /// What lies in a region that was put there: pointers, and whether anything else that may be one.
    fn stored_in(&self, region: Region) -> (Places, bool) {
        self.watch.asks(region.object);
        let (mut places, mut any) = (Places::default(), false);
        for (other, stored) in self.concerning(&self.stored, region.object) {
            let same = other == region.object;
            for s in stored.iter().filter(|s| !same || region.meets(s.lo, s.hi, None)) {
                places.add_all(&s.what);
                any |= s.any;
            }
        }
        (places, any)
    }

    /// The places that a pointer loaded from a region leads to.
    pub(super) fn loaded(&mut self, region: Region, size: i64) -> Places {
        let (mut places, mut any) = self.stored_in(region);
        let is_constant = matches!(self.object(region.object), Object::Constant(_));
        if let Some(initial) = self.initial(region) {
            places.add_all(&initial);
            if is_constant {
                return places;
            }
        }
        let declared = self.secret.iter().any(|s| matches!(self.object(s.object), Object::Global(_)));
        // A constant may have the address of a global variable that is secret.
        any |= is_constant && declared;
        if let Some(behind) = self.behind(region, size) {
            places.add(match self.object(behind) {
                Object::Elsewhere => Place::anywhere(behind),
                // What is reached in many steps is one object, at any offset.
                _ if behind == region.object => Place::anywhere(behind),
                _ => Place::start(behind),
            });
        }
        if any || places.is_empty() {
            places.add_all(&self.elsewhere());
        }
        places
    }

    /// What the addresses lead to that lie in a region of a global variable from the start; none if these are not
    /// known.
    fn initial(&mut self, region: Region) -> Option<Places> {
        let mut places = Places::default();
        self.initial_addresses(region)?.iter().for_each(|(_, led_to)| _ = places.add_all(led_to));
        Some(places)
    }

    /// The same, each with where it lies.
    fn initial_addresses(&mut self, region: Region) -> Option<Vec<(i64, Places)>> {
        let (Object::Global(symbol) | Object::Constant(symbol)) = self.object(region.object) else {
            return None;
        };
        let module = self.module;
        let mut found = Vec::new();
        for address in module.addresses.get(&symbol)? {
            let at = i64::try_from(address.at).ok()?;
            if region.meets(at, at + 8, None) {
                found.push((at, self.of_symbol(address.symbol, address.offset)));
            }
        }
        Some(found)
    }

    /// What the address of a symbol leads to.
    pub(super) fn of_symbol(&mut self, symbol: Symbol, offset: i64) -> Places {
        let module = self.module;
        match &module.symbols[symbol].kind {
            SymbolKind::Global { constant, ty, .. } => {
                let object = if *constant { Object::Constant(symbol) } else { Object::Global(symbol) };
                let place = Place::start(self.id(object));
                let size = module.layout.alloc_size(&module.types, *ty);
                Places::of(size.map_or(place, |size| place.narrowed(size)).moved(offset))
            }
            SymbolKind::Function { .. } => Places::of(Place::start(self.id(Object::Function(symbol)))),
            SymbolKind::Other => self.elsewhere(),
        }
    }

    /// What is put into `to` when bytes are copied there, first byte to first byte; `size`: how many, if that is known.
    pub(super) fn copy(&mut self, to: Place, from: Place, size: Option<u64>) {
        let (source, target) = (from.access(size), to.access(size));
        self.watch.asks(source.object);
        let exact = from.is_exact() && to.is_exact();
        let mut moved: Vec<(Region, Option<Places>)> = Vec::new();
        // What may come to lie anywhere in the target.
        let (mut anywhere, mut any) = (Places::default(), false);
        for (other, all) in self.concerning(&self.stored, source.object) {
            let same = other == source.object;
            for s in all.iter().filter(|s| !same || source.meets(s.lo, s.hi, None)) {
                if !(same && exact) {
                    anywhere.add_all(&s.what);
                    any |= s.any;
                    continue;
                }
                let (lo, hi) = (s.lo.max(source.lo), s.hi.min(source.hi));
                let region = Region::bytes(target.object, lo - from.lo + to.lo, hi - from.lo + to.lo);
                moved.push((region, Some(s.what.clone())));
                moved.extend(s.any.then_some((region, None)));
            }
        }
        moved.push((target, Some(anywhere)));
        moved.extend(any.then_some((target, None)));
        moved.retain(|(_, what)| what.as_ref().is_none_or(|what| !what.is_empty()));
        // Pointers that lay there from the start lie at the same distances now. Which there are is not known before
        // they are loaded, so what any of them leads to may be loaded from any place of the copy, but for pieces that
        // were asked for already.
        let asked = self.behind.get(&source.object).into_iter().flatten();
        let asked: Vec<(i64, ObjectId)> = asked.filter_map(|&(at, behind)| Some((at?, behind))).collect();
        if let (true, false) = (exact, matches!(self.object(source.object), Object::Private(..))) {
            for (at, behind) in asked {
                if source.meets(at, at + 1, None) {
                    let lo = at - from.lo + to.lo;
                    let region = Region::bytes(target.object, lo, lo + 8);
                    moved.push((region, Some(Places::of(Place::start(behind)))));
                }
            }
        }
        moved.extend(self.initial_moved(to, from, size));
        let is_known =
            matches!(self.object(source.object), Object::Constant(_)) && self.initial(source).is_some();
        if let Some(behind) = self.behind(Region::whole(source.object), 0)
            && !is_known
        {
            moved.push((target, Some(Places::of(Place::anywhere(behind)))));
        }
        for (region, what) in moved {
            self.store(region, what.as_ref());
        }
    }

    /// The addresses that lie in a global variable from the start, where they are when it is copied.
    fn initial_moved(&mut self, to: Place, from: Place, size: Option<u64>) -> Vec<(Region, Option<Places>)> {
        let (source, target) = (from.access(size), to.access(size));
        let exact = from.is_exact() && to.is_exact();
        let found = self.initial_addresses(source).unwrap_or_default();
        let moved = |(at, places): (i64, Places)| {
            let lo = at - from.lo + to.lo;
            let region = if exact { Region::bytes(target.object, lo, lo + 8) } else { target };
            (region, Some(places))
        };
        found.into_iter().map(moved).collect()
    }

    /// Integers of the size of a pointer are loaded from a region: whatever pointers lie there get about.
    pub(super) fn loaded_as_number(&mut self, region: Region) {
        let (places, _) = self.stored_in(region);
        self.escape(&places);
    }

    /// The objects that code can reach which is given these pointers, and whatever else it knows.
    pub(super) fn reachable(&mut self, given: &Places) -> BTreeSet<ObjectId> {
        let mut found: BTreeSet<ObjectId> = BTreeSet::new();
        let mut work: Vec<ObjectId> = given.iter().map(|place| place.object).collect();
        while let Some(object) = work.pop() {
            if found.insert(object) {
                let (places, _) = self.stored_in(Region::whole(object));
                work.extend(places.iter().map(|place| place.object));
                let initial = self.initial(Region::whole(object)).unwrap_or_default();
                work.extend(initial.iter().map(|place| place.object));
                // What lies behind pointers in it, too.
                work.extend(self.behind.get(&object).into_iter().flatten().map(|&(_, behind)| behind));
            }
        }
        found
    }

    /// Why other code may find secrets in memory that it is not given.
    pub(super) fn secret_at_large(&self) -> Option<Held> {
        self.watch.asks_at_large();
        let written = self.written.iter().find(|&(object, _)| self.is_visible(object));
        if let Some(&Write { by, since, .. }) = written.and_then(|(_, writes)| writes.first()) {
            return Some(Held::Written(by.0, by.1, since));
        }
        self.secret
            .iter()
            .any(|s| matches!(self.object(s.object), Object::Global(_)))
            .then_some(Held::Elsewhere)
    }
}
