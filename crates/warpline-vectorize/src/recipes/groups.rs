//! Which accesses with a fixed step between lanes are made by wide vector accesses and shuffles.
//!
//! In lane *l* such an access is at `base + l·step + offset`. If `step` is a small multiple *k* of the element's
//! size, the elements of all lanes lie within W·|*k*| elements, and one access to all of these and a shuffle may do
//! what a gather does. Accesses of one block that differ by less than a step are members of one *group*, which shares
//! its wide access: the fields of an array of structures. A reversed access is a group with *k* = −1.
//!
//! A load of a group is made where its first member is, a store where its last is. Members are moved over other
//! instructions for that, so these must touch other memory (shown by constant distances from the same base, or
//! because it is in another object or never accessed as such a type) or none, and must return. The members of a group
//! are less than one step apart, so no two elements of a group coincide but those of members with one offset, of
//! which the later is stored: the order in which lanes and fields are stored does not matter.
//!
//! # Which bytes are touched
//!
//! Where all lanes are active, a load reads from the first byte that a lane reads to the last one. What lies between
//! two bytes that the program reads is at most a step away from both, belongs to the object that both belong to, and
//! is on the page of one of them. In a block with a mask, and for stores that do not fill the whole range, the wide
//! access has a mask of its own, false wherever no active lane has an element.
//!
//! Where the step between lanes is not fixed, members of a group lie at constant distances within one lane; such
//! groups are of loads only. Each lane loads *rows*, from the first to the last of some members'
//! elements: what lies between two of these belongs to the object that both belong to. So a row of three, which no
//! machine loads at once, becomes one of four if the fourth lies between elements of the group.
//!
//! # Which form is cheaper
//!
//! Bytes and shorts are accessed as [blocks](Blocks) of 16 bytes where the machine shuffles these, if all lanes are
//! active or whole registers have masks: LLVM makes much of a vector of 96 bytes that is shuffled as a whole, and
//! nothing good of one of 127.
//! Registers of 64 bytes are loaded and stored whole, and [shuffles of blocks](Group::regrouped) stand between them and
//! vectors of one block for each of some lanes: putting a register together of four loads takes as long as these.
//! No block reaches behind the last element that a lane reads: where it would, it begins earlier. The shuffles are in
//! [`interleaved`](super::interleaved); [`group_copies`](super::group_copies) has those between loads and stores
//! with nothing computed in between, [`group_words`](super::group_words) loads that need none.
//!
//! [`Group::is_worthwhile`] counts operations on vectors of 32 bytes: one per vector of the range, again one to
//! spread the mask over it, and one per vector and member for the shuffles. A gather or scatter counts two operations
//! and one for every lane, which is what processors that have these instructions take.

use std::collections::BTreeSet;
use std::rc::Rc;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};

use warpline_ir::{Accessed, Effects, Function, Inst, LaneOp, Module, Op, Type, Value};

use super::Input;
use super::alike::{Pattern, Patterns};
use super::dereferenceable::{Between, Range};
use super::group_copies::{GroupCopy, Order, are_loaded_whole};
use super::interleaved::Network;
use super::known_offsets::KnownOffsets;
use super::memory::memory_element;
use super::reps::Rep;
use crate::dependences::{Apart, Region};
use crate::known_calls::is_annotation;
use warpline_dataflow::linear::Address;
use warpline_target::Machine;

/// The greatest distance of neighbouring lanes' elements, in elements.
const MAX_FACTOR: u64 = 16;

/// The greatest number of elements of a wide access; LLVM takes long to make sense of larger shuffles.
const MAX_RANGE: u64 = 256;

/// So many accesses are looked at together at most.
const MAX_STRETCH: usize = 256;

/// How many bytes a lane loads at once where lanes are anywhere, at most.
pub(crate) const ROW_BYTES: u64 = 16;

/// Over how many rows the members of a group lie, at most.
pub(crate) const MAX_ROWS: u64 = 8;
/// The bytes of a group, on one side of where it is accessed: what there is room for on the stack.
pub(crate) const ROOM: u64 = MAX_ROWS * ROW_BYTES;

/// What vectors are counted in, in bytes.
const VECTOR_BYTES: u64 = 32;

/// The bytes of a block, within which bytes are shuffled by one instruction.
pub(crate) const BLOCK_BYTES: u64 = 16;

/// The greatest number of elements that are accessed as blocks.
const MAX_IN_BLOCKS: u64 = 1024;

/// A group of accesses.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct GroupId(u32);
entity_impl!(GroupId, "group");

/// An access of a group.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The load or store.
    pub inst: Inst,
    /// Where its elements lie, in elements from those of the group's first member.
    pub offset: i64,
}

/// How the elements of the lanes lie to each other.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Spread {
    /// So many elements from a lane's element to the next lane's.
    Fixed(i64),
    /// Nobody knows.
    Anywhere,
}

/// Neighbouring elements that each lane loads at once.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    /// Where they begin, in elements from those of the group's first member.
    pub from: i64,
    /// How many they are, at most [`ROW_BYTES`] in all.
    pub len: u32,
}

impl Row {
    /// Whether an element is one of them.
    pub(crate) fn contains(&self, offset: i64) -> bool {
        (self.from..self.from + i64::from(self.len)).contains(&offset)
    }
}

/// How a group is accessed as blocks of [`BLOCK_BYTES`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Blocks {
    /// How many blocks, of as many lanes' elements each, are in a vector of all lanes' elements.
    pub columns: u64,
    /// How many elements are in a block.
    pub elements: u64,
    /// How many blocks are stored at once.
    pub stored: u64,
}

/// Where a block is loaded.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct LoadedBlock {
    /// From which element of the group's range on.
    pub at: u64,
    /// How many elements before its own ones that is, lest it reach behind the range.
    pub earlier: u64,
}

/// Loads or stores that are made together.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The members in the order of the program.
    pub members: Vec<Member>,
    /// The size of an element in bytes.
    pub size: u64,
    /// How the elements of the lanes lie to each other.
    pub spread: Spread,
    /// Whether these are stores.
    pub stores: bool,
    /// The blocks as which the elements are accessed, if they are not accessed at once.
    pub blocks: Option<Blocks>,
    /// The copy that these are the loads or the stores of.
    pub copy: Option<Rc<GroupCopy>>,
    /// If each lane's elements are loaded as one word of which shifts take the members: how many blocks are loaded at
    /// once.
    pub words: Option<u64>,
    /// Whether the members are computed alike, so that each member's vector has as many elements of memory, in the
    /// order in which they lie there.
    pub alike: bool,
}

impl Group {
    /// Whether its accesses are in a block with a mask.
    pub(super) fn is_masked(&self, func: &Function) -> bool {
        func.blocks[func.insts[self.members[0].inst].block].mask.is_some()
    }

    /// The least and the greatest offset.
    pub(crate) fn extent(&self) -> (i64, i64) {
        let offsets = self.members.iter().map(|m| m.offset);
        offsets.fold((0, 0), |(low, high), x| (low.min(x), high.max(x)))
    }

    /// From a lane's element to the next lane's, in elements; 0 if nobody knows.
    pub(crate) fn factor(&self) -> i64 {
        match self.spread {
            Spread::Fixed(factor) => factor,
            Spread::Anywhere => 0,
        }
    }

    /// The rows in which lanes load the group's elements.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let mut offsets: Vec<i64> = self.members.iter().map(|m| m.offset).collect();
        offsets.sort_unstable();
        let longest = (ROW_BYTES / self.size) as i64;
        let mut rows: Vec<Row> = Vec::new();
        for offset in offsets {
            match rows.last_mut() {
                Some(row) if offset - row.from < longest => row.len = (offset - row.from + 1) as u32,
                _ => rows.push(Row { from: offset, len: 1 }),
            }
        }
        let (low, high) = self.extent();
        for row in rows.iter_mut().filter(|row| row.len == 3 && longest == 4) {
            // Four are loaded at once where three are not.
            if row.from + 3 <= high {
                row.len = 4;
            } else if row.from > low {
                (row.from, row.len) = (row.from - 1, 4);
            }
        }
        rows
    }

    /// The number of elements from the first to the last one of `width` lanes.
    pub(crate) fn range(&self, width: u32) -> u64 {
        let (low, high) = self.extent();
        self.factor().unsigned_abs() * u64::from(width - 1) + (high - low) as u64 + 1
    }

    /// Whether every element of the range is some lane's.
    pub(crate) fn is_complete(&self) -> bool {
        let mut offsets: Vec<i64> = self.members.iter().map(|m| m.offset).collect();
        offsets.sort_unstable();
        offsets.dedup();
        offsets.len() as u64 == self.factor().unsigned_abs()
    }

    /// The shuffles between blocks and the members' elements. Outputs of those of loads are the members in order;
    /// inputs of those of stores are the lanes' elements in the order of memory. Copies have others.
    pub(crate) fn network(&self, blocks: &Blocks) -> Network {
        let (low, _) = self.extent();
        let factor = self.factor().unsigned_abs() as usize;
        match self.stores {
            true => Network::together(factor, blocks.elements as usize),
            false => {
                let offsets: Vec<usize> = self.members.iter().map(|m| (m.offset - low) as usize).collect();
                Network::apart(factor, blocks.elements as usize, &offsets)
            }
        }
    }

    /// Where a block of a group of loads is loaded: the `j`-th of the lanes of a column. `None` if no lane has an
    /// element there.
    pub(crate) fn block(&self, blocks: &Blocks, (column, j): (u64, u64)) -> Option<LoadedBlock> {
        let (low, _) = self.extent();
        let (n, factor) = (blocks.elements, self.factor().unsigned_abs());
        let is_there = |offset: i64| (0..n).any(|lane| (lane * factor + (offset - low) as u64) / n == j);
        let wanted = self.members.iter().any(|m| is_there(m.offset));
        wanted.then(|| self.block_at(blocks, column, j * n))
    }

    /// How many times a group of loads is loaded from memory.
    pub(crate) fn loaded(&self, blocks: &Blocks) -> usize {
        if let Some(at_once) = self.blocks_in_order() {
            return self.loads_in_order(blocks, at_once);
        }
        if let Some(Order::Columns(windows)) = self.copy.as_ref().map(|copy| &copy.order) {
            return windows.len() * blocks.columns as usize;
        }
        if self.regrouped(blocks).is_some() {
            return self.loads_in_order(blocks, blocks.stored);
        }
        let factor = self.factor().unsigned_abs();
        let all = (0..blocks.columns).flat_map(|column| (0..factor).map(move |j| (column, j)));
        all.filter(|&place| self.block(blocks, place).is_some()).count()
    }

    /// How many times it is loaded where so many blocks are loaded at once, in the order of memory.
    fn loads_in_order(&self, blocks: &Blocks, at_once: u64) -> usize {
        let loads =
            |vector: &Vec<Option<LoadedBlock>>| if are_loaded_whole(vector) { 1 } else { vector.len() };
        self.in_order(blocks, at_once).iter().map(loads).sum()
    }

    /// How many times a group is stored to memory, of so many blocks each.
    pub(crate) fn stored(&self, blocks: &Blocks) -> usize {
        let at_once = self.blocks_in_order().unwrap_or(blocks.stored);
        (blocks.columns * self.factor().unsigned_abs() / at_once) as usize
    }

    /// The blocks as which the elements of so many lanes are accessed, where the machine shuffles their bytes and that
    /// is cheaper than an access for each.
    fn in_blocks(&self, width: u32, machine: &Machine) -> Option<Blocks> {
        let Spread::Fixed(factor @ 2..) = self.spread else { return None };
        let bytes = u64::from(width) * self.size;
        let fits = machine.byte_shuffles
            && matches!(self.size, 1 | 2)
            && width.is_power_of_two()
            && bytes >= BLOCK_BYTES
            && factor.unsigned_abs() * u64::from(width) <= MAX_IN_BLOCKS
            && (!self.stores || self.is_complete());
        let columns = bytes / BLOCK_BYTES;
        let stored = (u64::from(machine.register_bits / 8) / BLOCK_BYTES).clamp(1, columns.max(1));
        let blocks = Blocks { columns, elements: BLOCK_BYTES / self.size, stored };
        let members = self.members.len() as u64;
        let registers = (bytes * 8).div_ceil(u64::from(machine.register_bits.max(1)));
        let is_cheaper = |blocks: &Blocks| {
            let accesses = factor.unsigned_abs() * columns;
            self.network(blocks).shuffles() as u64 * registers + accesses < 2 * members * u64::from(width)
        };
        Some(blocks).filter(|blocks| fits && is_cheaper(blocks))
    }

    /// Whether wide accesses and shuffles are cheaper than gathers or scatters of `width` lanes.
    fn is_worthwhile(&self, width: u32, masked: bool) -> bool {
        if self.spread == Spread::Anywhere {
            return width >= 4 && width.is_power_of_two() && self.rows().iter().any(|row| row.len > 1);
        }
        let vectors = (self.range(width) * self.size).div_ceil(VECTOR_BYTES);
        let members = self.members.len() as u64;
        let masked = masked || (self.stores && !self.is_complete());
        let wide = vectors * (1 + u64::from(masked) + members);
        self.range(width) <= MAX_RANGE && wide < members * (2 + u64::from(width))
    }
}

/// Whether the elements of so many lanes are accessed together at a distance that is no element's: a small multiple of
/// their size.
pub(super) fn in_reach(step: i64, size: u64, width: u32) -> bool {
    let factor = step.unsigned_abs() / size.max(1);
    let is_multiple = step.unsigned_abs().is_multiple_of(size.max(1)) && factor > 0;
    is_multiple && factor <= MAX_FACTOR && factor * u64::from(width) <= MAX_RANGE
}

/// The groups that a function may have, and whether each is under a mask.
pub(super) struct Candidates(Vec<(Group, bool)>);

impl Candidates {
    /// Finds them in a lane program.
    pub(super) fn find(
        module: &Module,
        input: &Input<'_>,
        reps: &SecondaryMap<Value, Rep>,
        region: Option<&Region<'_>>,
    ) -> Candidates {
        let (mut found, func) = (Vec::new(), input.func);
        let apart = Apart::new(module, func, region);
        let checked = input.apart.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        for &b in &func.layout {
            let (records, open, done) = (Vec::new(), Vec::new(), Vec::new());
            let mut finder =
                Finder { module, func, reps, apart: &apart, checked: &checked, records, open, done };
            for &i in &func.blocks[b].insts {
                finder.instruction(i);
            }
            finder.end_stretch();
            let masked = func.blocks[b].mask.is_some();
            found.extend(finder.done.into_iter().map(|group| (group, masked)));
        }
        Candidates(found)
    }

    /// Those that are worth it on so many lanes.
    pub(super) fn worthwhile(
        &self,
        func: &Function,
        offsets: &KnownOffsets,
        width: u32,
        machine: &Machine,
    ) -> Groups {
        let mut groups = Groups::default();
        // Lanes of which it is known where they load are not anywhere.
        let is_known = |m: &Member| offsets.bent(func.insts[m.inst].args[0]).is_some();
        for (group, masked) in &self.0 {
            if group.spread == Spread::Anywhere && !group.stores && group.members.iter().all(is_known) {
                continue;
            }
            // Of blocks under a mask, registers are worth it: each has a mask of its own.
            let served = |blocks: &Blocks| {
                !masked || machine.masks.serve(8 * group.size) && group.regrouped(blocks).is_some()
            };
            let blocks = group.in_blocks(width, machine).filter(served);
            if blocks.is_some() || group.is_worthwhile(width, *masked) {
                groups.add(Group { blocks, ..group.clone() });
            }
        }
        groups
    }
}

/// The groups of a function.
#[derive(Default)]
pub(super) struct Groups {
    groups: PrimaryMap<GroupId, Group>,
    of: SecondaryMap<Inst, PackedOption<GroupId>>,
    /// Operands of what is computed alike for all members, but with an operand of its own for each.
    patterns: Patterns,
}

impl Groups {
    fn add(&mut self, group: Group) {
        let id = self.groups.push(group);
        for m in &self.groups[id].members {
            self.of[m.inst] = id.into();
        }
    }

    /// All groups.
    pub(super) fn ids(&self) -> impl Iterator<Item = GroupId> + use<> {
        self.groups.keys()
    }

    /// Has a group of loads made as words, of so many blocks at once.
    pub(super) fn set_words(&mut self, id: GroupId, at_once: u64) {
        self.groups[id].words = Some(at_once);
    }

    /// Has the elements of a group stay in the order of memory.
    pub(super) fn set_alike(&mut self, id: GroupId) {
        self.groups[id].alike = true;
    }

    /// Adds operands that differ between members.
    pub(super) fn add_patterns(&mut self, patterns: Patterns) {
        self.patterns.extend(patterns);
    }

    /// An operand of an instruction, if it differs between members that are computed alike.
    pub(super) fn pattern(&self, i: Inst, operand: usize) -> Option<&Pattern> {
        self.patterns.get(&(i, operand))
    }

    /// Makes a group part of a copy that is made as such blocks.
    pub(super) fn set_copy(&mut self, id: GroupId, copy: Rc<GroupCopy>, blocks: Blocks) {
        self.groups[id].copy = Some(copy);
        self.groups[id].blocks = Some(blocks);
    }

    /// A group.
    pub(super) fn get(&self, id: GroupId) -> &Group {
        &self.groups[id]
    }

    /// What a group loads at once around elements that lie between what its lanes access, from lane 0's of these
    /// elements on. If that is loaded again, LLVM sees that it has been loaded.
    pub(super) fn range_around(
        &self,
        func: &Function,
        between: &Between,
        elem: Type,
        width: u32,
    ) -> Option<Range> {
        let made = |m: &Member| {
            let data = &func.insts[m.inst];
            data.block == between.block && data.args.first() == Some(&between.first.base)
        };
        let (group, member) = self.groups.values().find_map(|group| {
            let usable = !group.stores && group.blocks.is_none() && group.spread != Spread::Anywhere;
            let member = group.members.iter().filter(|_| usable).find(|m| made(m))?;
            Some((group, member))
        })?;
        let size = i64::try_from(group.size).ok()?;
        let same = group.factor().checked_mul(size) == Some(between.step)
            && between.first.offset % size == 0
            && group.members.iter().all(|m| func.insts[m.inst].result().is_some_and(|v| func.ty(v) == elem));
        let (low, _) = group.extent();
        let first = group.factor().min(0) * i64::from(width - 1) + low;
        let from = first - member.offset - between.first.offset / size;
        let len = u32::try_from(group.range(width)).ok()?;
        same.then_some(Range { from, len })
    }

    /// The group that an access belongs to, and whether it is to be made here.
    pub(super) fn of(&self, i: Inst) -> Option<(GroupId, bool)> {
        let id = self.of[i].expand()?;
        let group = &self.groups[id];
        let place = if group.stores { group.members.last() } else { group.members.first() };
        Some((id, place.is_some_and(|m| m.inst == i)))
    }
}

/// Memory that an instruction accesses.
struct Access {
    inst: Inst,
    address: Option<Address>,
    /// From lane to lane, in bytes; `None`: not fixed.
    step: Option<i64>,
    size: u64,
    writes: bool,
    /// Whether it is in the address space that the stack is in.
    is_usual: bool,
}

impl Access {
    /// Whether no lane's bytes are those of a lane of the other access.
    fn is_apart_from(&self, other: &Access) -> bool {
        let (Some(a), Some(b), Some(step)) = (&self.address, &other.address, self.step) else { return false };
        let Some(distance) = a.distance(b).filter(|_| other.step == Some(step)) else { return false };
        // `b` lies at `distance + t·step` from `a`, for any small t.
        let (distance, step) = (i128::from(distance), i128::from(step.unsigned_abs()));
        let (ahead, behind) = match step {
            0 if distance < 0 => return -distance >= i128::from(other.size),
            0 => (distance, i128::MAX),
            _ => (distance.rem_euclid(step), step - distance.rem_euclid(step)),
        };
        ahead >= i128::from(self.size) && behind >= i128::from(other.size)
    }
}

/// An access of the present stretch.
struct Record {
    access: Access,
    /// The group that it is a member of.
    group: Option<usize>,
}

/// A group that may still grow.
struct Open {
    group: Group,
    /// The members' numbers among the accesses of the stretch.
    records: Vec<usize>,
    /// The type in memory, if members must agree on it.
    ty: Type,
}

impl Open {
    /// Where the group is made, as the number of an access.
    fn place(&self) -> usize {
        let place = if self.group.stores { self.records.last() } else { self.records.first() };
        place.copied().unwrap_or(0)
    }
}

/// Finds the groups of a block, stretch by stretch. Nothing is moved out of a stretch.
struct Finder<'a> {
    module: &'a Module,
    func: &'a Function,
    reps: &'a SecondaryMap<Value, Rep>,
    apart: &'a Apart<'a>,
    /// Accesses that checks keep apart.
    checked: &'a BTreeSet<(Inst, Inst)>,
    records: Vec<Record>,
    open: Vec<Open>,
    done: Vec<Group>,
}

impl Finder<'_> {
    fn instruction(&mut self, i: Inst) {
        let simple = self.func.accessed(i).filter(|a| a.access.is_simple());
        let Some(Accessed { address, ty, writes, .. }) = simple else {
            if !self.can_be_passed(i) {
                self.end_stretch();
            }
            return;
        };
        if self.records.len() == MAX_STRETCH {
            self.end_stretch();
        }
        let access = Access {
            inst: i,
            address: Address::of(self.module, self.func, address),
            step: match self.reps[address] {
                Rep::Uniform => Some(0),
                Rep::Strided(step) => Some(step),
                Rep::Varying => None,
            },
            size: self.module.layout.store_size(&self.module.types, ty).unwrap_or(u64::MAX),
            writes,
            is_usual: self.func.ty(address) == Type::PTR,
        };
        let group = self.join(i, ty, &access);
        self.records.push(Record { access, group });
    }

    /// Whether an access may be moved over an instruction that is no plain access.
    fn can_be_passed(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        let has_cross_lane_operations = matches!(data.op, Op::Lane(op) if op != LaneOp::Compact);
        // What traps where the program would have, may as well trap earlier or later.
        has_cross_lane_operations
            || is_annotation(self.module, data)
            || data.effects().difference(Effects::TRAPS).is_empty()
    }

    /// Whether no lane's bytes of one access are those of a lane of the other, of which one writes: they lie at
    /// distances that are known, in different objects, or have types that never meet; or it is checked beforehand.
    fn never_meet(&self, a: &Access, b: &Access) -> bool {
        a.is_apart_from(b)
            || self.apart.never_meet(a.inst, b.inst)
            || self.checked.contains(&(a.inst, b.inst))
    }

    fn end_stretch(&mut self) {
        self.records.clear();
        self.done.extend(self.open.drain(..).map(|o| o.group));
    }

    /// Puts an access into a group, an old one or a new one, if it can be a member of any. The number of the group.
    fn join(&mut self, i: Inst, ty: Type, access: &Access) -> Option<usize> {
        let elem = Type::from(memory_element(&self.module.layout, &self.module.types, ty)?);
        let size = self.module.layout.alloc_size(&self.module.types, elem)?;
        let bytes = i64::try_from(size).ok()?;
        let spread = match access.step {
            Some(step) => {
                let factor = step / bytes;
                if step % bytes != 0 || matches!(factor, 0 | 1) || factor.unsigned_abs() > MAX_FACTOR {
                    return None;
                }
                Spread::Fixed(factor)
            }
            None if access.writes || !matches!(size, 4 | 8) || !access.is_usual => return None,
            None => Spread::Anywhere,
        };
        let found = self.open.iter().enumerate().rev().find_map(|(n, o)| {
            let offset = self.offset(o, access, elem, spread, size)?;
            self.may_join(n, access).then_some((n, offset))
        });
        let (n, offset) = found.unwrap_or_else(|| {
            let (members, stores) = (Vec::new(), access.writes);
            let group =
                Group { members, size, spread, stores, blocks: None, copy: None, words: None, alike: false };
            self.open.push(Open { group, records: Vec::new(), ty: elem });
            (self.open.len() - 1, 0)
        });
        self.open[n].group.members.push(Member { inst: i, offset });
        self.open[n].records.push(self.records.len());
        Some(n)
    }

    /// Where the elements of an access lie if it fits a group, in elements from those of the first member.
    fn offset(&self, o: &Open, access: &Access, elem: Type, spread: Spread, size: u64) -> Option<i64> {
        let fits = o.group.stores == access.writes
            && (o.group.spread, o.group.size) == (spread, size)
            && (o.ty == elem || !(o.ty.is_ptr() || elem.is_ptr()));
        let first = &self.records[*o.records.first()?].access;
        let (Some(a), Some(b), true) = (&first.address, &access.address, fits) else { return None };
        let (distance, bytes) = (a.distance(b)?, i64::try_from(size).ok()?);
        let offset = distance / bytes;
        let (low, high) = o.group.extent();
        let most = match spread {
            Spread::Fixed(factor) => factor.unsigned_abs(),
            Spread::Anywhere => MAX_ROWS * ROW_BYTES / size,
        };
        let within = high.max(offset).checked_sub(low.min(offset))?.unsigned_abs() < most;
        (distance % bytes == 0 && within).then_some(offset)
    }

    /// Whether nothing changes if the next access becomes a member of a group: whatever changes places by that, given
    /// where the other groups are made, touches different bytes.
    fn may_join(&self, n: usize, access: &Access) -> bool {
        let o = &self.open[n];
        let place = |at: usize| self.records[at].group.map_or(at, |g| self.open[g].place());
        match o.group.stores {
            // All members come to the place of the new one.
            true => o.records.iter().all(|&m| {
                let behind = self.records.iter().skip(m + 1).filter(|r| r.group != Some(n));
                { behind }.all(|r| self.never_meet(&r.access, &self.records[m].access))
            }),
            // The new one goes to the place of the first.
            false => self.records.iter().enumerate().all(|(at, r)| {
                !r.access.writes || place(at) < o.place() || self.never_meet(&r.access, access)
            }),
        }
    }
}
