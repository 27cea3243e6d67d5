//! `alloca`s become variables, so that SSA construction can turn memory into values.
//!
//! An `alloca` is promoted under the criterion of LLVM's `mem2reg` (`isAllocaPromotable`): it stands in the entry
//! block, and its address is used by nothing but
//! * loads and stores *through* it, not volatile, all of one type. As in recent versions of LLVM that need not be the
//!   type that was allocated: where the accesses do not fit into the memory, they were undefined behaviour;
//! * markers of its lifetime, which go with it.
//!
//! Atomic loads and stores count as plain ones, since no other thread can have the address. How many elements are
//! allocated does not matter either: only the first can be reached. Debug records are no instructions and do not
//! count as uses.
//!
//! Departures from LLVM, all towards promoting less: address computations and casts that only lifetime markers use
//! are not looked through (pointers have been opaque for long), assumptions with operand bundles and fake uses keep
//! the memory alive, and so does an address space other than that of the data layout's stack.
//!
//! # What an unwritten variable holds
//!
//! Memory that was not written holds `undef`, so the variables made here are [`Unwritten::Undef`]. `poison` would be
//! less defined than what the program had. Facts that a load states of its result (`!range`, `!noundef`, `!nonnull`)
//! go with the load, which makes the program more defined, never less.
//!
//! A marked lifetime begins with undefined contents again, each time. By default ([`Lifetimes::Forgotten`]) the
//! variable keeps what it held, as in LLVM: a read there may see any value, the old one is one. That holds unless the
//! old value is poison, which `undef` promises not to be; a program can tell only if it decides on an uninitialised
//! variable in the second round of a loop. [`Lifetimes::Exact`] is for those who cannot accept even that: `undef` is
//! written where a lifetime begins.
//!
//! After `setjmp` returns a second time, a variable holds what it held when control first came there; C leaves that
//! open for variables that are not volatile, and LLVM does the same.
//!
//! # Debug records
//!
//! The location of a source variable that was an `alloca` is given up: its `#dbg_declare` stays in an exported
//! function and speaks of poison, which debuggers show as optimised away. (LLVM's C API cannot make `#dbg_value`
//! records of it.) All other debug information stays, the places of reads and writes included.
//!
//! Time is linear in the function's size: one pass over the operands, then one step per access.

use std::fmt;

use cranelift_entity::packed_option::PackedOption;

use super::construct::{SsaStats, construct_vars};
use super::phis::remove_trivial_phis;
use warpline_ir::{Block, Function, Inst, InstFlags, Module, Op, Type, Unwritten, Value, Var};

/// What becomes of the beginning of a lifetime.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Lifetimes {
    /// The variable keeps what it holds.
    #[default]
    Forgotten,
    /// `undef` is written.
    Exact,
}

/// Why an `alloca` stays memory.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// It stands outside of the entry block, so each execution of it makes a new object.
    NotInEntry,
    /// It is one that the IR carries and does not model (`inalloca`, `swifterror`).
    Carried,
    /// It is not in the address space of the stack.
    AddressSpace,
    /// It is accessed with different types, or with one that a variable cannot have.
    AccessType,
    /// A load or store is volatile.
    Volatile,
    /// Its address is stored.
    AddressStored,
    /// Its address is passed to a call.
    AddressPassed,
    /// Another address is computed from its address, or its address is converted.
    AddressComputed,
    /// Its address is used in any other way: compared, selected, joined by a φ, returned …
    AddressUsed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::NotInEntry => "it is not in the entry block",
            Refusal::Carried => "it is carried, not modelled",
            Refusal::AddressSpace => "it is not in the address space of the stack",
            Refusal::AccessType => "it is accessed with another type",
            Refusal::Volatile => "an access is volatile",
            Refusal::AddressStored => "its address is stored",
            Refusal::AddressPassed => "its address is passed to a call",
            Refusal::AddressComputed => "another address is computed from its address",
            Refusal::AddressUsed => "its address is used as a value",
        })
    }
}

/// An `alloca` that became a variable.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Promoted {
    /// The instruction, which is in no block any more.
    pub alloca: Inst,
    /// What it is now.
    pub var: Var,
}

/// An `alloca` that stays memory.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// The instruction.
    pub alloca: Inst,
    /// Why.
    pub why: Refusal,
    /// The first instruction that is the reason; `None` if it is the `alloca` itself.
    pub at: Option<Inst>,
}

impl Kept {
    /// A sentence about it: the name, the reason, and the line of the instruction that is the reason, if that is known.
    pub fn describe(&self, module: &Module, func: &Function) -> String {
        let name = func.insts[self.alloca].result().map_or_else(String::new, |v| func.value_name(v));
        let place = |inst: Inst| func.insts[inst].loc.expand();
        let loc = self.at.and_then(place).or_else(|| place(self.alloca));
        let line = loc.map_or_else(String::new, |loc| format!(" at {}", module.describe_loc(loc)));
        let user = self.at.map_or_else(String::new, |at| format!(" (`{}`{line})", func.insts[at].op.name()));
        format!("{name}: {}{user}", self.why)
    }
}

/// What became of the `alloca`s of a function.
#[derive(Clone, Default, Debug)]
pub struct Promotion {
    /// Those that became variables, in the order of the program.
    pub promoted: Vec<Promoted>,
    /// All others, in the order of the program.
    pub kept: Vec<Kept>,
    /// Whether one of the latter stays only because its address is kept in one of the former: then another promotion,
    /// after SSA construction, may find more.
    pub again: bool,
}

impl Promotion {
    /// The variables that were made.
    pub fn vars(&self) -> Vec<Var> {
        self.promoted.iter().map(|p| p.var).collect()
    }
}

/// Turns the `alloca`s of a function of this module into variables where that can be done (see the module's
/// documentation): loads become reads and stores become writes, in their places and with their source locations. A
/// variable has the name of its `alloca`. Everything else stays as it is; [`construct`](super::construct()) then
/// makes values of the variables.
pub fn promote_allocas(module: &Module, func: &mut Function) -> Promotion {
    promote_allocas_with(module, func, Lifetimes::default())
}

/// As [`promote_allocas`], with a choice of what becomes of the beginning of a lifetime.
pub fn promote_allocas_with(module: &Module, func: &mut Function, lifetimes: Lifetimes) -> Promotion {
    let mut candidates = Candidates::in_entry(module, func);
    let mut promotion = Promotion { kept: std::mem::take(&mut candidates.refused), ..Promotion::default() };
    // In code that was not optimised about every other instruction accesses the stack.
    let mut uses = Uses { accesses: Vec::with_capacity(func.insts.len() / 2), ..Uses::default() };
    for k in 0..func.layout.len() {
        uses.scan(module, func, func.layout[k], &mut candidates, &mut promotion.kept);
    }
    let list = &candidates.list;
    promotion.again = uses
        .held
        .iter()
        .any(|&(held, holder)| list[held].refusal.is_none() && list[holder].reason().is_none());
    candidates.decide(func, &mut promotion);
    uses.rewrite(func, &candidates, lifetimes);
    candidates.remove_promoted(func);
    promotion
}

/// What [`promote_and_construct`] did.
#[derive(Clone, Default, Debug)]
pub struct Registers {
    /// The `alloca`s that became values.
    pub promoted: Vec<Promoted>,
    /// Those that stay memory, in the end.
    pub kept: Vec<Kept>,
    /// Counts, over all rounds.
    pub stats: SsaStats,
    /// How often promotion and construction were run.
    pub rounds: usize,
}

/// Promotes what can be promoted and constructs SSA form for it, again and again while that lets more `alloca`s be
/// promoted: one whose address was held by another is seen to be harmless only when that one has become a value. This
/// is what LLVM's `mem2reg` does. φs that stand for a single value are removed between rounds, but not after the
/// last.
pub fn promote_and_construct(module: &Module, func: &mut Function) -> Registers {
    let mut all = Registers::default();
    loop {
        let promotion = promote_allocas(module, func);
        let stats = construct_vars(func, &promotion.vars()).stats;
        all.rounds += 1;
        all.stats.variables += stats.variables;
        all.stats.phis += stats.phis;
        all.stats.reads += stats.reads;
        all.stats.writes += stats.writes;
        all.promoted.extend(promotion.promoted);
        all.kept = promotion.kept;
        if !promotion.again {
            return all;
        }
        // An address that a φ joins with itself alone is seen to be one address.
        all.stats.phis -= remove_trivial_phis(func);
    }
}

/// An `alloca` of the entry block.
struct Candidate {
    alloca: Inst,
    allocated: Type,
    /// The type of all accesses so far.
    accessed: Option<Type>,
    /// The first reason against it, and the instruction that is the reason.
    refusal: Option<(Refusal, Inst)>,
    /// The first store of its address in another candidate: a reason that may vanish with that one.
    held_at: Option<Inst>,
    /// What it becomes.
    var: PackedOption<Var>,
}

impl Candidate {
    fn refuse(&mut self, why: Refusal, at: Inst) {
        self.refusal.get_or_insert((why, at));
    }

    /// What speaks against it, if anything does.
    fn reason(&self) -> Option<(Refusal, Inst)> {
        self.refusal.or(self.held_at.map(|at| (Refusal::AddressStored, at)))
    }

    fn access(&mut self, ty: Type, is_volatile: bool, at: Inst) {
        if is_volatile {
            self.refuse(Refusal::Volatile, at);
        } else if matches!(ty, Type::Other(_)) || *self.accessed.get_or_insert(ty) != ty {
            self.refuse(Refusal::AccessType, at);
        }
    }
}

/// Stands for no candidate.
const NONE: u32 = u32::MAX;

/// The candidates, found by the values of their addresses. Those stand close together, as the `alloca`s of an entry
/// block do, so most operands are told by one comparison.
struct Candidates {
    list: Vec<Candidate>,
    first: u32,
    /// By value, from `first` on; [`NONE`] for other values.
    numbers: Vec<u32>,
    refused: Vec<Kept>,
}

impl Candidates {
    fn in_entry(module: &Module, func: &Function) -> Candidates {
        let mut found = Candidates { list: Vec::new(), first: 0, numbers: Vec::new(), refused: Vec::new() };
        let mut addresses: Vec<u32> = Vec::new();
        for &alloca in &func.blocks[func.entry()].insts {
            let (Op::Alloca { ty, .. }, Some(address)) =
                (&func.insts[alloca].op, func.insts[alloca].result())
            else {
                continue;
            };
            if func.ty(address) != Type::Ptr(module.layout.stack_space()) {
                found.refused.push(Kept { alloca, why: Refusal::AddressSpace, at: None });
                continue;
            }
            addresses.push(address.as_u32());
            found.list.push(Candidate {
                alloca,
                allocated: *ty,
                accessed: None,
                refusal: None,
                held_at: None,
                var: None.into(),
            });
        }
        if let (Some(&first), Some(&last)) = (addresses.iter().min(), addresses.iter().max()) {
            found.first = first;
            found.numbers = vec![NONE; (last - first) as usize + 1];
            for (number, address) in (0..).zip(addresses) {
                found.numbers[(address - first) as usize] = number;
            }
        }
        found
    }

    /// The number of the candidate whose address a value is.
    fn find(&self, v: Value) -> Option<usize> {
        let &number = self.numbers.get(v.as_u32().wrapping_sub(self.first) as usize)?;
        (number != NONE).then_some(number as usize)
    }

    /// Makes a variable of each candidate that nothing speaks against.
    fn decide(&mut self, func: &mut Function, promotion: &mut Promotion) {
        for candidate in &mut self.list {
            let alloca = candidate.alloca;
            if let Some((why, at)) = candidate.reason() {
                promotion.kept.push(Kept { alloca, why, at: Some(at) });
                continue;
            }
            let name = match func.insts[alloca].result() {
                Some(address) => func.values[address].name.clone(),
                None => "".into(),
            };
            let var = func.add_var(candidate.accessed.unwrap_or(candidate.allocated), &name);
            func.vars[var].unwritten = Unwritten::Undef;
            candidate.var = var.into();
            promotion.promoted.push(Promoted { alloca, var });
        }
        promotion.kept.sort_by_key(|kept| kept.alloca);
    }

    fn remove_promoted(&self, func: &mut Function) {
        let promoted = self.list.iter().filter(|c| c.var.is_some()).map(|c| c.alloca);
        remove_in_order(func, func.entry(), promoted);
    }
}

/// How the names of carried calls begin.
const CALLS: [&str; 3] = ["call", "invoke", "callbr"];

/// What is done with candidates.
#[derive(Default)]
struct Uses {
    /// Loads and stores, each with the candidate that it accesses.
    accesses: Vec<(Inst, u32)>,
    /// Markers of lifetimes, in the order of the layout, each with its candidate and whether it is the beginning.
    markers: Vec<(Inst, u32, bool)>,
    /// Candidates whose address is stored, with those in which it is.
    held: Vec<(usize, usize)>,
}

impl Uses {
    /// Goes through a block: what it does with candidates, and which `alloca`s stand outside of the entry block.
    fn scan(
        &mut self,
        module: &Module,
        func: &Function,
        block: Block,
        candidates: &mut Candidates,
        kept: &mut Vec<Kept>,
    ) {
        let data = &func.blocks[block];
        let dynamic = block != func.entry();
        for inst in data.insts.iter().copied().chain(data.term.expand()) {
            let inst_data = &func.insts[inst];
            match &inst_data.op {
                Op::Alloca { .. } if dynamic => {
                    kept.push(Kept { alloca: inst, why: Refusal::NotInEntry, at: None });
                }
                Op::Opaque(carried) if &*carried.name == "alloca" => {
                    kept.push(Kept { alloca: inst, why: Refusal::Carried, at: None });
                }
                _ => {}
            }
            for (position, &arg) in inst_data.args.iter().enumerate() {
                if let Some(number) = candidates.find(arg) {
                    self.note(module, func, inst, position, number, candidates);
                }
            }
        }
        for &edge in func.out_edges(block) {
            let edge = &func.edges[edge];
            for (&arg, &phi) in edge.args.iter().zip(&func.blocks[edge.to].phis) {
                if let Some(number) = candidates.find(arg) {
                    candidates.list[number].refuse(Refusal::AddressUsed, phi);
                }
            }
        }
    }

    /// Operand `position` of an instruction is the address of a candidate.
    fn note(
        &mut self,
        module: &Module,
        func: &Function,
        inst: Inst,
        position: usize,
        number: usize,
        candidates: &mut Candidates,
    ) {
        let data = &func.insts[inst];
        let candidate = &mut candidates.list[number];
        match &data.op {
            Op::Load(access) => {
                let ty = data.result().map_or(Type::Void, |v| func.ty(v));
                candidate.access(ty, access.is_volatile, inst);
                self.accesses.push((inst, number as u32));
            }
            Op::Store(access) if position == 1 => {
                candidate.access(func.ty(data.args[0]), access.is_volatile, inst);
                self.accesses.push((inst, number as u32));
            }
            Op::Store(_) => match candidates.find(data.args[1]) {
                Some(holder) => {
                    candidates.list[number].held_at.get_or_insert(inst);
                    self.held.push((number, holder));
                }
                None => candidates.list[number].refuse(Refusal::AddressStored, inst),
            },
            Op::Call(info) => {
                let name = info.callee.map_or("", |callee| &*module.symbols[callee].name);
                match name.strip_prefix("llvm.lifetime.") {
                    Some(rest) => {
                        self.markers.push((inst, number as u32, rest.starts_with("start")));
                    }
                    None => candidate.refuse(Refusal::AddressPassed, inst),
                }
            }
            Op::Gep(_) | Op::Cast(_) => candidate.refuse(Refusal::AddressComputed, inst),
            Op::Opaque(carried) | Op::OpaqueTerm(carried)
                if CALLS.iter().any(|call| carried.name.starts_with(call)) =>
            {
                candidate.refuse(Refusal::AddressPassed, inst);
            }
            _ => candidate.refuse(Refusal::AddressUsed, inst),
        }
    }

    /// Lets reads and writes take the place of loads and stores, and removes the markers.
    fn rewrite(&self, func: &mut Function, candidates: &Candidates, lifetimes: Lifetimes) {
        for &(inst, number) in &self.accesses {
            let Some(var) = candidates.list[number as usize].var.expand() else { continue };
            let data = &mut func.insts[inst];
            data.flags = InstFlags::empty();
            if matches!(data.op, Op::Load(_)) {
                data.op = Op::ReadVar(var);
                data.args.clear();
            } else {
                data.op = Op::WriteVar(var);
                data.args.truncate(1);
            }
        }
        let mut gone: Vec<Inst> = Vec::with_capacity(self.markers.len());
        for &(inst, number, is_start) in &self.markers {
            let Some(var) = candidates.list[number as usize].var.expand() else { continue };
            if is_start && lifetimes == Lifetimes::Exact {
                let undef = func.unwritten_value(var);
                let data = &mut func.insts[inst];
                data.op = Op::WriteVar(var);
                data.args = [undef].into_iter().collect();
                data.origin = None.into();
            } else {
                gone.push(inst);
            }
        }
        for chunk in gone.chunk_by(|&a, &b| func.insts[a].block == func.insts[b].block).collect::<Vec<_>>() {
            let block = func.insts[chunk[0]].block;
            remove_in_order(func, block, chunk.iter().copied());
        }
    }
}

/// Takes instructions out of a block; they are given in its order.
fn remove_in_order(func: &mut Function, block: Block, gone: impl Iterator<Item = Inst>) {
    let mut gone = gone.peekable();
    func.blocks[block].insts.retain(|inst| gone.next_if_eq(inst).is_none());
}
