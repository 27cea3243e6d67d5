//! What a [contract](super::Contract) makes of accesses that may meet.

use std::collections::HashMap;

use super::access::{Access, Kind};
use super::checks::{self, Check, Form};
use super::distance::Distance;
use super::irregular::Irregular;
use super::meet::{Comparison, Meeting, Unknown};
use super::order::{Order, Schedule};
use super::pieces::Pieces;
use super::region::Sym;
use super::{Dependences, Region};
use crate::VectorizeError;
use crate::choices::{Contract, MAX_WIDTH};
use warpline_ir::{Function, Inst, Module, Op, Value};

/// So many pairs are looked at before what is left counts as unknown.
const MAX_PAIRS: usize = 2_000_000;

/// So many accesses that the user answers for are told.
const MAX_TRUSTED: usize = 64;

/// So many pairs may be checked when the code runs.
const MAX_CHECKS: usize = 64;

/// Where rows are so short that fewer lanes have room, checks before the loop may allow more.
const FEW_LANES: u32 = 4;

/// Elements of structures that are so many times as large are not accessed together.
const MAX_FIELDS: u64 = 16;

/// Rows of tiles are taken to have as many work-items at least: accesses of work-items that are as far apart meet in
/// one tile only if it has more.
const TILE: i64 = 8;

/// What to do about a race.
const RACE_REMEDY: &str = "let each lane have its own element, use an atomic operation or a reduction over the lanes \
                           (`warpline_reduce_add` …), or accept races by `//@ racy`";

/// What to do about work-items that meet in volatile memory.
const WARP_REMEDY: &str =
    "if those of a warp are to execute one statement after the other together, say so by `//@ warp 32`";

/// What accesses have in common that are compared: the base of their places, or else their address.
type Key = (Option<Sym>, Option<Value>);

/// What decides about the accesses of a kernel.
pub(super) struct Judge<'a> {
    pub(super) module: &'a Module,
    pub(super) func: &'a Function,
    pub(super) region: Option<&'a Region<'a>>,
    pub(super) contract: Contract,
    /// W.
    pub(super) width: u32,
    /// How many lanes there are in a row at most, if that is known.
    pub(super) row: Option<u32>,
    pub(super) pieces: &'a Pieces,
    pub(super) comparison: Comparison<'a>,
    pub(super) schedule: Schedule<'a>,
    pub(super) irregular: Irregular<'a>,
    /// Whether calls of a function's body may be made for several lanes at once.
    pub(super) is_vectorized: &'a dyn Fn(Inst) -> bool,
    pub(super) found: Dependences,
    /// Of the accesses that race only in long rows, how many work-items are apart, and which warning says so.
    pub(super) long_rows: Option<(i64, usize)>,
    /// Whether a warning says what warps are for.
    pub(super) warned_of_warps: bool,
    /// Accesses that are checked since they have changed places.
    pub(super) kept_apart: Vec<(Inst, Inst)>,
}

impl Judge<'_> {
    /// Looks at pairs of which one writes, and at what was loaded before the kernel.
    pub(super) fn look_at(&mut self, accesses: &[Access], held: &[Access]) -> Result<(), VectorizeError> {
        let all: Vec<&Access> = accesses.iter().collect();
        match self.contract {
            Contract::Racy => Ok(()),
            Contract::Threads | Contract::Groups | Contract::Warp => self.look_at_threads(&all),
            Contract::Sequential | Contract::Independent => {
                let complete = self.pairs(&all, |judge, a, b| judge.sequence(a, b))?;
                // To check these may take looking through arrays of indices.
                self.keep_held(held, &all)?;
                self.keep_inspected(&all)?;
                self.saw_what_has_moved()?;
                if complete || self.contract == Contract::Independent {
                    return Ok(());
                }
                let reason = "it has too many accesses to memory to be compared with each other";
                Err(VectorizeError::in_function(self.func, reason))
            }
        }
    }

    /// What is loaded before the loop must not change in it.
    fn keep_inspected(&mut self, all: &[&Access]) -> Result<(), VectorizeError> {
        let mut done = 0;
        // To check one may take others.
        while let Some(&inst) = self.comparison.inspected.insts().get(done) {
            done += 1;
            let writes = all.iter().filter(|a| a.writes);
            let pairs = writes.flat_map(|&w| all.iter().filter(|l| l.inst == inst).map(move |&l| (l, w)));
            for (load, write) in pairs {
                if !self.keep(load, write)? {
                    return Err(self.refuse_undecided(load, write, Unknown::Pointers));
                }
            }
        }
        Ok(())
    }

    /// What was loaded before the kernel, and is taken to stay as it is, must not be overwritten in it; what is also
    /// stored behind it must not be loaded either.
    fn keep_held(&mut self, held: &[Access], all: &[&Access]) -> Result<(), VectorizeError> {
        for (n, load) in held.iter().enumerate() {
            for other in held[n + 1..].iter().filter(|a| a.writes || load.writes) {
                if !self.keep(load, other)? {
                    let reason = format!(
                        "what is loaded{} and{} may be the same memory, which is not known before the loop; {}",
                        self.place_before(load),
                        self.place_before(other),
                        self.remedy()
                    );
                    return Err(VectorizeError::in_function(self.func, reason));
                }
            }
            for other in all.iter().filter(|a| a.writes || load.writes) {
                if !self.keep(load, other)? {
                    let what = if other.writes { "overwrite" } else { "load" };
                    let reason = format!(
                        "may {what} what the load{} reads in every iteration; {}",
                        self.place_before(load),
                        self.remedy()
                    );
                    return Err(VectorizeError::at_inst(self.func, other.inst, reason));
                }
            }
        }
        Ok(())
    }

    /// Where a load before the kernel is, in words.
    fn place_before(&self, held: &Access) -> String {
        let loc = self.region.and_then(|r| r.func.insts[held.inst].loc.expand());
        loc.map_or_else(String::new, |loc| format!(" at {}", self.module.describe_loc(loc)))
    }

    /// Has it checked, if need be, that a write does not change what is loaded before the loop. Whether that is
    /// possible.
    fn keep(&mut self, load: &Access, write: &Access) -> Result<bool, VectorizeError> {
        match self.comparison.meeting(load, write) {
            Meeting::Never => return Ok(true),
            // Two fields of one structure.
            Meeting::At(d) if d.step == 0 && !d.meets(0) => return Ok(true),
            _ => {}
        }
        match checks::plan_apart(&self.comparison, load, write) {
            Some(check) => self.add(check, load, write).map(|()| true),
            None => Ok(false),
        }
    }

    /// Looks at the accesses of threads: those that are made from one pointer are compared, the others are trusted.
    fn look_at_threads(&mut self, all: &[&Access]) -> Result<(), VectorizeError> {
        let mut groups: HashMap<Key, Vec<&Access>> = HashMap::new();
        let mut order = Vec::new();
        for &a in all {
            let key = match &a.place {
                Some(place) => (Some(place.base), None),
                None => (None, a.address),
            };
            groups.entry(key).or_insert_with(|| {
                order.push(key);
                Vec::new()
            });
            groups.get_mut(&key).into_iter().for_each(|group| group.push(a));
            let decided = a.place.as_ref().is_some_and(|p| p.step.is_some() && p.moving.is_empty());
            if a.kind == Kind::Call || a.writes && !decided {
                self.trust(a, a);
            }
        }
        for key in order {
            let group = groups.remove(&key).unwrap_or_default();
            self.pairs(&group, |judge, a, b| judge.threads(a, b, &group))?;
        }
        Ok(())
    }

    /// Looks at all pairs of which one writes, as long as there are not too many: whether all were looked at.
    fn pairs(
        &mut self,
        all: &[&Access],
        mut look: impl FnMut(&mut Self, &Access, &Access) -> Result<(), VectorizeError>,
    ) -> Result<bool, VectorizeError> {
        let mut left = MAX_PAIRS;
        for (n, a) in all.iter().enumerate() {
            for b in &all[n..] {
                if !(a.writes || b.writes) || self.pieces.are_combined(a.inst, b.inst) {
                    continue;
                }
                if left == 0 {
                    return Ok(false);
                }
                left -= 1;
                look(self, a, b)?;
            }
        }
        Ok(true)
    }

    /// The sequential meaning: what an earlier iteration does to memory comes before what a later one does.
    fn sequence(&mut self, a: &Access, b: &Access) -> Result<(), VectorizeError> {
        let same = a.inst == b.inst;
        if self.has_moved(a, b) {
            return self.keep_apart(a, b);
        }
        if self.atomics_commute(a, b) {
            return Ok(());
        }
        let order = self.schedule.of_pair(a.inst, b.inst);
        // One instruction, executed once, serves one lane after the other, unless it is a call that is itself made
        // for all at once.
        let in_lane_order = !(same && a.kind == Kind::Call && (self.is_vectorized)(a.inst));
        if order == Order::Never || order == Order::Once && in_lane_order {
            return Ok(());
        }
        if a.kind == Kind::Volatile && b.kind == Kind::Volatile {
            let reason = "accesses volatile memory, as does another instruction of the same iteration: lanes \
             that run at once would \
                          change the order of these accesses";
            return Err(self.refuse(a, b, reason.to_owned()));
        }
        match self.comparison.meeting(a, b) {
            Meeting::Never => Ok(()),
            Meeting::At(d) => self.keep_order(a, b, order, d),
            Meeting::InOneIteration(d) => {
                self.keep_order(a, b, self.schedule.within_iteration(a.inst, b.inst), d)
            }
            // That they may touch the same bytes does not say that they do.
            Meeting::Within(d) => match ahead(order, d) {
                None => Ok(()),
                Some(_) => self.undecided(a, b, order, Unknown::Moving),
            },
            Meeting::Modulo(d, period) => match d.nearest_modulo(period, MAX_WIDTH) {
                None => Ok(()),
                Some(lanes) if lanes >= FEW_LANES => {
                    self.limit(lanes);
                    Ok(())
                }
                Some(_) => self.undecided(a, b, order, Unknown::Moving),
            },
            Meeting::Unknown(why) => self.undecided(a, b, order, why),
        }
    }

    /// Whether two accesses have changed places on the way to the kernel.
    fn has_moved(&self, a: &Access, b: &Access) -> bool {
        let moved = self.region.map_or(&[][..], |r| r.moved);
        moved.contains(&(a.inst, b.inst)) || moved.contains(&(b.inst, a.inst))
    }

    /// Has it checked that accesses are apart in all lanes of a group, each lane's own included.
    fn keep_apart(&mut self, a: &Access, b: &Access) -> Result<(), VectorizeError> {
        let check = checks::plan(&self.comparison, a, b, (Order::Around, true), Unknown::Pointers);
        match check.filter(|c| !matches!(c.form, Form::Rows | Form::Columns(..))) {
            Some(check) => {
                self.kept_apart.push((a.inst, b.inst));
                self.add(check, a, b)
            }
            None => Err(self.refuse_undecided(a, b, Unknown::Pointers)),
        }
    }

    /// Makes sure that all accesses that have changed places were compared: another pass may have replaced one.
    fn saw_what_has_moved(&self) -> Result<(), VectorizeError> {
        let moved = self.region.map_or(&[][..], |r| r.moved);
        let is_kept =
            |&(a, b): &(Inst, Inst)| self.kept_apart.contains(&(a, b)) || self.kept_apart.contains(&(b, a));
        match moved.iter().find(|pair| !is_kept(pair)) {
            None => Ok(()),
            Some(&(store, _)) => {
                let reason = format!(
                    "stands before a load of what the next iteration needs, and may store there; {}",
                    self.remedy()
                );
                Err(VectorizeError::at_inst(self.func, store, reason))
            }
        }
    }

    /// Limits the lanes to so few that no lane comes before an earlier one that it depends on.
    fn keep_order(
        &mut self,
        a: &Access,
        b: &Access,
        order: Order,
        d: Distance,
    ) -> Result<(), VectorizeError> {
        match ahead(order, d) {
            None => Ok(()),
            Some(1) => {
                let reason = format!(
                    "depends on the {} at {} in the next or previous iteration, through memory, in an order \
                     that lanes cannot keep",
                    self.name(self.other(a, b)),
                    self.place(self.other(a, b))
                );
                Err(self.refuse(a, b, reason))
            }
            Some(k) => {
                self.limit(k);
                Ok(())
            }
        }
    }

    /// No more lanes than that keep the order.
    fn limit(&mut self, lanes: u32) {
        self.found.lanes = Some(self.found.lanes.map_or(lanes, |least| least.min(lanes)));
    }

    /// What cannot be decided: trusted, checked when the code runs, or refused.
    fn undecided(
        &mut self,
        a: &Access,
        b: &Access,
        order: Order,
        why: Unknown,
    ) -> Result<(), VectorizeError> {
        let trusted = self.contract == Contract::Independent;
        if trusted && self.is_inseparable(a, b) {
            return Err(self.refuse(a, b, self.inseparable()));
        }
        if trusted {
            self.trust(a, b);
            return Ok(());
        }
        let moves = self.may_be_in_the_way(a, b)
            || self.hides_what_is_stored(a, b)
            || self.hides_what_is_stored(b, a);
        match checks::plan(&self.comparison, a, b, (order, moves), why) {
            Some(check) => {
                let is_apart = match check.form {
                    Form::Apart => true,
                    Form::Outside(..) | Form::Behind => moves,
                    Form::Rows | Form::Columns(..) => false,
                };
                if is_apart {
                    self.found.apart.push((a.inst, b.inst));
                }
                self.add(check, a, b)
            }
            None => Err(self.refuse_undecided(a, b, why)),
        }
    }

    /// Whether a store stands where an access of a structure's field has to be moved over it to be made together with
    /// those of other fields: loads move up, stores move down.
    fn may_be_in_the_way(&self, a: &Access, b: &Access) -> bool {
        let block = |x: &Access| self.func.insts[x.inst].block;
        let is_field = |x: &Access| {
            let (step, size) = (x.place.as_ref().and_then(|p| p.step), x.size.unwrap_or(0).max(1));
            let wide = step.is_some_and(|s| s.unsigned_abs() > size && s.unsigned_abs() <= MAX_FIELDS * size);
            x.kind == Kind::Plain && wide
        };
        let store_first = match self.schedule.within_iteration(a.inst, b.inst) {
            Order::Before => a.writes,
            Order::After => b.writes,
            _ => false,
        };
        block(a) == block(b) && store_first && is_field(a) && is_field(b)
    }

    /// Whether a store stands between what is loaded or stored at a place, with a store behind a branch, and a load
    /// from there: where the first store is elsewhere, [the load is none](crate::forward_stores).
    fn hides_what_is_stored(&self, a: &Access, store: &Access) -> bool {
        let func = self.func;
        let Some(place) = func.accessed(a.inst).filter(|_| store.writes) else { return false };
        let is_there = |i: Inst| func.accessed(i).is_some_and(|other| other.address == place.address);
        let there: Vec<Inst> =
            self.comparison.accesses.iter().map(|other| other.inst).filter(|&i| is_there(i)).collect();
        let is_store = |i: Inst| func.accessed(i).is_some_and(|other| other.writes);
        let block = |i: Inst| func.insts[i].block;
        let is_before = |i: Inst, j: Inst| self.schedule.within_iteration(i, j) == Order::Before;
        there.iter().any(|&i| is_store(i) && block(i) != block(there[0]))
            && there.iter().any(|&i| is_before(i, store.inst))
            && there.iter().any(|&i| !is_store(i) && is_before(store.inst, i))
    }

    /// Has something checked before the loop.
    fn add(&mut self, check: Check, a: &Access, b: &Access) -> Result<(), VectorizeError> {
        checks::add_joined(&mut self.found.checks, check, false);
        if self.found.checks.len() > MAX_CHECKS {
            for check in std::mem::take(&mut self.found.checks) {
                checks::add_joined(&mut self.found.checks, check, true);
            }
        }
        if self.found.checks.len() > MAX_CHECKS {
            let reason = "too many pairs of pointers would have to be checked before the loop";
            return Err(self.refuse(a, b, format!("{reason}; {}", self.remedy())));
        }
        Ok(())
    }

    fn refuse_undecided(&self, a: &Access, b: &Access, why: Unknown) -> VectorizeError {
        let what = match why {
            Unknown::Pointers => "the distance of their addresses is not known",
            Unknown::Irregular => "its address does not move by the same step from one to the next",
            Unknown::Moving => "an address changes within the iteration by what is not bounded",
            Unknown::Effects => "what it accesses is not known",
        };
        let reason = match a.inst == b.inst {
            true => format!("may access what it accesses itself in another {}: {what}", self.unit()),
            false => format!(
                "may access the same memory as the {} at {} in another {}: {what}",
                self.name(self.other(a, b)),
                self.place(self.other(a, b)),
                self.unit()
            ),
        };
        self.refuse(a, b, format!("{reason}; {}", self.remedy()))
    }

    /// Notes that the user answers for two accesses.
    fn trust(&mut self, a: &Access, b: &Access) {
        if self.found.trusted.len() < MAX_TRUSTED {
            self.found.trusted.push(self.told(a, b));
        }
    }

    /// Lanes as threads: certain races are refused.
    fn threads(&mut self, a: &Access, b: &Access, all: &[&Access]) -> Result<(), VectorizeError> {
        // Between barriers other work-items see what is volatile no sooner.
        let groups = matches!(self.contract, Contract::Groups | Contract::Warp);
        let plain = |x: &Access| {
            matches!(x.kind, Kind::Plain | Kind::Bulk) || groups && matches!(x.kind, Kind::Volatile)
        };
        if !plain(a) || !plain(b) || self.one_lane(a, b) {
            return Ok(());
        }
        let d = match self.comparison.meeting(a, b) {
            Meeting::At(d) | Meeting::InOneIteration(d) => d,
            Meeting::Never => return Ok(()),
            // It stands for accesses that no lanes of a group have in common.
            Meeting::Modulo(..) if self.region.is_none() => return Ok(()),
            Meeting::Within(_) | Meeting::Modulo(..) | Meeting::Unknown(_)
                if !groups && self.is_inseparable_for_threads(a, b) =>
            {
                return Err(self.refuse(a, b, self.inseparable()));
            }
            Meeting::Within(d) if !groups && self.is_update(a, b) && d.is_short() && d.ever().is_some() => {
                return Err(self.refuse(a, b, self.inseparable()));
            }
            Meeting::Within(_) | Meeting::Modulo(..) | Meeting::Unknown(_) => {
                let least = self.least_distance(a, b);
                let meet = self.comparison.lanes_that_meet(a, b);
                if let Some((first, second)) = meet.filter(|&(p, q)| is_farther(p, q, least)) {
                    let other = self.other(a, b);
                    let reason = format!(
                        "accesses what the {} at {} accesses in another lane, for the indices {first} and \
                         {second}, which is a race \
                         between lanes: {RACE_REMEDY}",
                        self.name(other),
                        self.place(other),
                    );
                    return Err(self.refuse(a, b, reason));
                }
                self.warn_of_warps(a, b);
                self.trust(a, b);
                return Ok(());
            }
        };
        // Lanes farther apart than a group is wide run one after the other.
        if d.ever().is_none_or(|k| k >= MAX_WIDTH.into()) {
            return Ok(());
        }
        let guards = self.irregular.guards();
        let meets = |k: i64| d.meets(k) && guards.allow(a.inst, b.inst, k);
        let most = self.row.map_or(MAX_WIDTH, |row| row.min(MAX_WIDTH));
        let mut distances = self.least_distance(a, b)..i64::from(most);
        let Some(lanes) = distances.find(|&k| meets(k) || meets(-k)) else { return Ok(()) };
        if a.writes && b.writes && a.reads == b.reads && self.agree(a, b) {
            return Ok(());
        }
        if a.inst == b.inst && d.step == 0 {
            // The last lane wins, if nobody looks at what the others have written.
            let read = all.iter().any(|x| x.reads && matches!(self.comparison.meeting(a, x), Meeting::At(_)));
            if !read {
                let warning = format!(
                    "{}: all lanes store to one address, and may store different values: the last active lane wins",
                    self.place(a)
                );
                self.found.warnings.push(warning);
                return Ok(());
            }
        }
        let bounded = [a, b].iter().any(|x| guards.are_bounded(x.inst, lanes));
        if groups && lanes >= TILE && d.step != 0 && !bounded && !self.is_volatile(a, b) {
            // Tiles have as many columns as their groups have work-items in a row.
            self.warn_of_long_rows(a, b, lanes);
            return Ok(());
        }
        let warps = self.contract == Contract::Groups && self.is_volatile(a, b);
        let remedy = if warps { format!("{RACE_REMEDY}; {WARP_REMEDY}") } else { RACE_REMEDY.to_owned() };
        let reason = match (a.inst == b.inst, self.is_update(a, b)) {
            (_, true) => format!("is read and written by all lanes at once, which is a race: {remedy}"),
            (true, _) => format!("is written by several lanes at once, which is a race: {remedy}"),
            (false, _) => {
                let other = self.other(a, b);
                format!(
                    "accesses what the {} at {} accesses {lanes} {} away, which is a race between lanes: {remedy}",
                    self.name(other),
                    self.place(other),
                    if lanes == 1 { "lane" } else { "lanes" }
                )
            }
        };
        Err(self.refuse(a, b, reason))
    }

    /// How many lanes are apart at least of which accesses race that touch the same bytes: those of a warp come to its
    /// volatile accesses together.
    fn least_distance(&self, a: &Access, b: &Access) -> i64 {
        match self.contract {
            Contract::Warp if self.is_volatile(a, b) => self.width.into(),
            _ => 1,
        }
    }

    fn is_volatile(&self, a: &Access, b: &Access) -> bool {
        a.kind == Kind::Volatile && b.kind == Kind::Volatile
    }

    /// Tells users of what looks as if it were for the warps of a GPU: a load from volatile memory behind a store
    /// there, perhaps another work-item's, without a barrier between them.
    fn warn_of_warps(&mut self, a: &Access, b: &Access) {
        let is_plain = self.contract == Contract::Groups && self.is_volatile(a, b);
        if !is_plain || self.warned_of_warps || a.inst == b.inst {
            return;
        }
        let (store, load) = match self.schedule.within_iteration(a.inst, b.inst) {
            Order::Before => (a, b),
            Order::After => (b, a),
            _ => return,
        };
        if !store.writes || !load.reads {
            return;
        }
        self.warned_of_warps = true;
        let (here, there) = (self.place(load), self.place(store));
        self.found.warnings.push(format!(
            "{here}: without a barrier, work-items need not see what others have stored to volatile memory at \
             {there}; {WARP_REMEDY}"
        ));
    }

    /// Tells users of accesses that race only in groups with many work-items in a row, the fewest that are too many.
    fn warn_of_long_rows(&mut self, a: &Access, b: &Access, lanes: i64) {
        if self.long_rows.is_some_and(|(known, _)| known <= lanes) {
            return;
        }
        let (here, there) = (self.place(self.main(a, b)), self.place(self.other(a, b)));
        let which = match here == there {
            true => format!("work-items {lanes} apart access the same memory here"),
            false => format!("work-items {lanes} apart access the same memory here and at {there}"),
        };
        let warning =
            format!("{here}: {which}, which is a race in groups with more than {lanes} work-items in a row");
        let at = self.long_rows.map_or(self.found.warnings.len(), |(_, at)| at);
        match self.found.warnings.get_mut(at) {
            Some(known) => *known = warning,
            None => self.found.warnings.push(warning),
        }
        self.long_rows = Some((lanes, at));
    }

    /// Whether all lanes store one value.
    fn agree(&self, a: &Access, b: &Access) -> bool {
        let stored = |x: &Access| match self.func.insts[x.inst].op {
            Op::Store(_) => Some(self.func.insts[x.inst].args[0]),
            _ => None,
        };
        let (x, y) = (stored(a), stored(b));
        x.is_some() && x == y && x.is_some_and(|v| self.is_uniform(v))
    }

    fn is_uniform(&self, v: Value) -> bool {
        self.func.constant(v).is_some() || self.comparison.uniformity.shape(v).is_uniform()
    }

    /// Whether both are executed by one lane alone, and by the same one.
    fn one_lane(&self, a: &Access, b: &Access) -> bool {
        let only = |x: &Access| self.irregular.only_lane(x.inst);
        only(a).is_some() && only(a) == only(b)
    }

    /// Whether one of two accesses reads what the other one, computed from that, writes to the same place.
    fn is_update(&self, a: &Access, b: &Access) -> bool {
        let pair = |load: &Access, store: &Access| {
            let data = &self.func.insts[store.inst];
            let same = load.address == store.address
                || load.place.is_some() && load.place == store.place && load.size == store.size;
            matches!(data.op, Op::Store(_))
                && matches!(self.func.insts[load.inst].op, Op::Load(_))
                && same
                && self.irregular.depends(data.args[0], load.inst)
        };
        pair(a, b) || pair(b, a)
    }

    /// Whether they update memory at an address that several lanes may have in common.
    fn is_inseparable(&self, a: &Access, b: &Access) -> bool {
        let address = a.address.or(b.address);
        self.is_update(a, b) && address.is_none_or(|v| self.irregular.may_repeat(v))
    }

    fn is_inseparable_for_threads(&self, a: &Access, b: &Access) -> bool {
        let address = a.address.or(b.address);
        self.is_update(a, b) && address.is_none_or(|v| self.irregular.may_repeat_for_threads(v))
    }

    fn inseparable(&self) -> String {
        "reads, changes and writes back memory at an address that several lanes may have in common, so that \
         updates would be lost: \
         use an atomic operation, a loop marked `//@ loop`, or accept that by `//@ racy`"
            .to_owned()
    }

    /// Whether atomic operations may change places: their results are used by nobody, and each adds to what it finds,
    /// or they are one.
    fn atomics_commute(&self, a: &Access, b: &Access) -> bool {
        use warpline_ir::{Atomic, RmwOp};
        if a.kind != Kind::Atomic || b.kind != Kind::Atomic {
            return false;
        }
        let adds = |x: &Access| {
            let data = &self.func.insts[x.inst];
            let Op::Opaque(info) = &data.op else { return false };
            let unused = data.results.iter().all(|&r| !self.irregular.is_used(r));
            unused && matches!(info.atomic, Some(Atomic::Rmw { op: RmwOp::Add | RmwOp::Sub, .. }))
        };
        // Whoever trusts the user executes atomic operations once for each lane.
        self.contract == Contract::Independent || adds(a) && adds(b)
    }

    /// Of two accesses, the one that a message is not about.
    fn other<'b>(&self, a: &'b Access, b: &'b Access) -> &'b Access {
        if b.writes { a } else { b }
    }

    /// Of two accesses, the one that a message is about: one that writes.
    fn main<'b>(&self, a: &'b Access, b: &'b Access) -> &'b Access {
        if b.writes { b } else { a }
    }

    fn refuse(&self, a: &Access, b: &Access, reason: String) -> VectorizeError {
        VectorizeError::at_inst(self.func, self.main(a, b).inst, reason)
    }

    fn unit(&self) -> &'static str {
        if self.region.is_some() { "iteration" } else { "lane" }
    }

    fn remedy(&self) -> &'static str {
        match self.region {
            Some(_) => {
                "declare the pointers `restrict`, or promise that iterations are independent: `//@ loop \
                 independent` or `#pragma omp simd`"
            }
            None => {
                "give each lane its own element by a parameter of its own, or mark the kernel `racy`, which \
                 makes it unsafe"
            }
        }
    }

    fn name(&self, x: &Access) -> String {
        self.func.insts[x.inst].op.name().to_owned()
    }

    /// Where an access is, in words.
    fn place(&self, x: &Access) -> String {
        let data = &self.func.insts[x.inst];
        match (data.loc.expand(), data.result().or(x.address)) {
            (Some(loc), _) => self.module.describe_loc(loc),
            (None, Some(v)) => format!("`{}`", self.func.value_name(v)),
            (None, None) => format!("block `{}`", self.func.block_name(data.block)),
        }
    }

    fn told(&self, a: &Access, b: &Access) -> String {
        match a.inst == b.inst {
            true => self.place(a),
            false => format!("{} and {}", self.place(a), self.place(b)),
        }
    }
}

/// Whether two lanes are at least so far apart.
fn is_farther(first: impl Into<i128>, second: impl Into<i128>, least: i64) -> bool {
    (first.into() - second.into()).abs() >= i128::from(least)
}

/// The least number of lanes by which a lane comes before one that it depends on. However many lanes there are: it
/// tells how many there may be.
fn ahead(order: Order, d: Distance) -> Option<u32> {
    let (a, b) = (d.first_ahead(MAX_WIDTH), d.swapped().first_ahead(MAX_WIDTH));
    match order {
        Order::Before => a,
        Order::After => b,
        Order::Around => a.into_iter().chain(b).min(),
        Order::Once | Order::Never => None,
    }
}
