//! Groups of stores that store what a group of loads has loaded: pixels in another layout.
//!
//! Where each element that is stored is one that the same lane has loaded, or is the same in all lanes, the elements
//! need not be brought into the order of lanes between. Every block that is stored is shuffled from one or two blocks
//! that have its elements. Where these are the ones at the same place of the memory that is loaded (components change
//! their places within a pixel of 2, 4, 8 elements), whole registers are loaded, shuffled once and stored. Where words
//! move between registers of 64 bytes and bytes within words' blocks, such registers are the blocks
//! ([`register_copies`](super::register_copies)).

use std::rc::Rc;

use cranelift_entity::SecondaryMap;

use warpline_ir::{Function, Inst, Type, Users, Value};
use warpline_target::Machine;

use super::groups::{BLOCK_BYTES, Blocks, Group, GroupId, Groups, LoadedBlock};
use super::interleaved::{Copied, Network};
use super::register_copies::Parts;
use super::reps::Rep;

/// The bytes of the registers of which one instruction brings words into any order, from two of them: AVX-512's.
const REGISTER_BYTES: u64 = 64;

/// The bytes of these words.
const WORD_BYTES: u64 = 4;

/// A block's words of 64 bits, as which blocks are brought from register to register.
const WORDS: usize = (BLOCK_BYTES / 8) as usize;

/// How a group of stores gets what a group of loads has loaded.
#[derive(Clone, Debug)]
pub(crate) struct GroupCopy {
    /// The loads.
    pub from: GroupId,
    /// What else is stored: values that are the same in all lanes.
    pub same: Vec<Value>,
    /// The shuffles. Inputs are the blocks that are loaded, then vectors of `same`; outputs are the blocks to store. Of
    /// blocks in the order of memory it is one of each.
    pub network: Network,
    /// Which blocks are loaded.
    pub order: Order,
}

/// The blocks that a copy loads.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// Those that will be stored at their places: so many at once, in the order of memory.
    Memory(u64),
    /// Those that begin at these of the elements of a column, from all columns at once.
    Columns(Vec<u64>),
}

impl GroupCopy {
    /// How many blocks are accessed at once, if that is in the order of memory.
    pub(crate) fn in_order(&self) -> Option<u64> {
        match self.order {
            Order::Memory(at_once) => Some(at_once),
            Order::Columns(_) => None,
        }
    }
}

impl Group {
    /// Whether it is accessed as blocks between which and the lanes elements move.
    pub(super) fn is_in_blocks(&self) -> bool {
        self.blocks.is_some() && !self.alike
    }

    /// Whether nothing moves between lanes: elements stay in the order of memory.
    pub(crate) fn is_in_order(&self) -> bool {
        self.alike || self.blocks_in_order().is_some()
    }

    /// How many blocks are accessed at once, if that is in the order of memory and nothing moves between lanes.
    pub(crate) fn blocks_in_order(&self) -> Option<u64> {
        self.copy.as_ref().and_then(|copy| copy.in_order()).or(self.words)
    }

    /// The shuffles of whole blocks, as words of 64 bits, between registers in the order of memory and vectors of one
    /// block of each of as many columns, where four or more blocks fill a register and that takes no more instructions
    /// than accessing each block.
    pub(crate) fn regrouped(&self, blocks: &Blocks) -> Option<Network> {
        let (factor, at_once) = (self.factor().unsigned_abs() as usize, blocks.stored as usize);
        if at_once < 4 || !blocks.columns.is_multiple_of(blocks.stored) {
            return None;
        }
        // Blocks are put into a register, or taken out of one and put into another.
        let inserted = factor * (at_once - 1);
        let (network, otherwise) = match self.stores {
            true => (Network::together(factor, at_once), 2 * inserted),
            false => {
                let is_wanted = |j: usize| self.block(blocks, (0, j as u64)).is_some();
                if !(0..factor).all(is_wanted) {
                    return None;
                }
                (Network::apart(factor, at_once, &(0..factor).collect::<Vec<_>>()), inserted)
            }
        };
        (network.shuffles() <= otherwise).then(|| network.of_runs(WORDS))
    }

    /// How many blocks in the order of memory are accessed at once: what fits into a register.
    pub(super) fn at_once(&self, blocks: &Blocks, machine: &Machine) -> u64 {
        let all = self.factor().unsigned_abs() * blocks.columns;
        let most = (u64::from(machine.register_bits / 8) / BLOCK_BYTES).max(1);
        (0..=most.ilog2()).rev().map(|k| 1 << k).find(|k| all.is_multiple_of(*k)).unwrap_or(1)
    }

    /// A block that begins at an element of a column, of which some lane has one.
    pub(crate) fn block_at(&self, blocks: &Blocks, column: u64, element: u64) -> LoadedBlock {
        let (n, factor) = (blocks.elements, self.factor().unsigned_abs());
        let own = column * factor * n + element;
        let earlier = (own + n).saturating_sub(self.range((blocks.columns * n) as u32));
        LoadedBlock { at: own - earlier, earlier }
    }

    /// Of blocks in the order of memory, so many at once: those that are loaded for each vector of them. `None` for
    /// one of which no lane has an element.
    pub(crate) fn in_order(&self, blocks: &Blocks, at_once: u64) -> Vec<Vec<Option<LoadedBlock>>> {
        let factor = self.factor().unsigned_abs();
        let block = |place: u64| self.block(blocks, (place / factor, place % factor));
        let firsts = (0..factor * blocks.columns).step_by(at_once as usize);
        firsts.map(|first| (first..first + at_once).map(block).collect()).collect()
    }
}

/// A copy whose blocks are registers of [`REGISTER_BYTES`]: its network, where registers are loaded, and the blocks.
fn copied_registers(
    loads: &Group,
    same: usize,
    copied: &[Copied],
    blocks: &Blocks,
    machine: &Machine,
) -> Option<(Network, Vec<usize>, Blocks)> {
    let bytes = blocks.columns * BLOCK_BYTES;
    if u64::from(machine.register_bits / 8) != REGISTER_BYTES || bytes < REGISTER_BYTES {
        return None;
    }
    let elements = REGISTER_BYTES / loads.size;
    let parts = Parts {
        register: elements as usize,
        block: blocks.elements as usize,
        word: (WORD_BYTES / loads.size) as usize,
    };
    let (low, high) = loads.extent();
    let of_lane = (loads.factor().unsigned_abs() as usize, (high - low) as usize + 1);
    let (network, windows) = Network::copied_registers(of_lane, same, &parts, copied)?;
    Some((network, windows, Blocks { columns: bytes / REGISTER_BYTES, elements, stored: 1 }))
}

/// Whether blocks are loaded by one access: none of them begins earlier lest it reach behind the range.
pub(crate) fn are_loaded_whole(blocks: &[Option<LoadedBlock>]) -> bool {
    blocks.iter().all(|b| b.is_some_and(|b| b.earlier == 0))
}

impl Groups {
    /// Finds the groups of stores that copy groups of loads, where that takes fewer shuffles.
    pub(super) fn find_copies(
        &mut self,
        func: &Function,
        reps: &SecondaryMap<Value, Rep>,
        machine: &Machine,
    ) {
        let stores: Vec<GroupId> =
            self.ids().filter(|&g| self.get(g).stores && self.get(g).is_in_blocks()).collect();
        if stores.is_empty() {
            return;
        }
        let users = Users::of(func);
        for to in stores {
            if let Some((copy, blocks)) = self.copy_into(to, func, reps, &users, machine) {
                let copy = Rc::new(copy);
                for group in [copy.from, to] {
                    self.set_copy(group, copy.clone(), blocks);
                }
            }
        }
    }

    /// How a group of stores copies, and the blocks that it does so with.
    fn copy_into(
        &self,
        to: GroupId,
        func: &Function,
        reps: &SecondaryMap<Value, Rep>,
        users: &Users,
        machine: &Machine,
    ) -> Option<(GroupCopy, Blocks)> {
        let stores = self.get(to);
        let blocks = stores.blocks?;
        let (low, high) = stores.extent();
        let (mut from, mut same, mut copied) = (None, Vec::new(), Vec::new());
        for offset in low..=high {
            // Of members at one place the later wins.
            let m = stores.members.iter().rev().find(|m| m.offset == offset)?;
            let value = *func.insts[m.inst].args.first()?;
            if func.ty(value) != Type::Int(stores.size as u32 * 8) {
                return None;
            }
            if reps[value] == Rep::Uniform {
                copied.push(Copied::Same(same.len()));
                same.push(value);
                continue;
            }
            let (id, member) = self.loaded_by(func.def_inst(value)?, &blocks)?;
            if *from.get_or_insert(id) != id {
                return None;
            }
            copied.push(Copied::Loaded(member));
        }
        let from = from?;
        let loads = self.get(from);
        let only_here = |&i: &Inst| self.of(i).is_some_and(|(id, _)| id == to);
        let results = loads.members.iter().filter_map(|m| func.insts[m.inst].result());
        if !results.into_iter().all(|v| users.get(v).iter().all(only_here)) {
            return None;
        }
        let (factor, n) = (loads.factor().unsigned_abs(), blocks.elements as usize);
        let in_order =
            Network::copied_in_order(same.len(), n, &copied).filter(|_| factor == copied.len() as u64);
        if let Some(network) = in_order {
            let at_once = stores.at_once(&blocks, machine);
            return Some((GroupCopy { from, same, network, order: Order::Memory(at_once) }, blocks));
        }
        if let Some((network, windows, registers)) =
            copied_registers(loads, same.len(), &copied, &blocks, machine)
        {
            let order = Order::Columns(windows.into_iter().map(|w| w as u64).collect());
            return Some((GroupCopy { from, same, network, order }, registers));
        }
        if loads.is_masked(func) || stores.is_masked(func) {
            return None;
        }
        let (network, windows) = Network::copied(factor as usize, same.len(), n, &copied);
        let otherwise = loads.network(&blocks).shuffles() + stores.network(&blocks).shuffles();
        let order = Order::Columns(windows.into_iter().map(|w| w as u64).collect());
        let copy = GroupCopy { from, same, network, order };
        (copy.network.shuffles() <= otherwise).then_some((copy, blocks))
    }

    /// The group of a load that is made of such blocks, and where in a lane's elements it loads.
    fn loaded_by(&self, load: Inst, blocks: &Blocks) -> Option<(GroupId, usize)> {
        let (id, _) = self.of(load)?;
        let group = self.get(id);
        let (low, _) = group.extent();
        let member = group.members.iter().find(|m| m.inst == load)?;
        let fits = !group.stores && !group.alike && group.blocks == Some(*blocks);
        fits.then_some((id, (member.offset - low) as usize))
    }
}
