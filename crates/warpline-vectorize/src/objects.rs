//! Memory that is known to be there, whatever lanes are active.
//!
//! A load may be made for lanes that do not ask for it if it cannot fault: what it finds is not looked at. A race
//! with other threads' stores gives it an undefined value, which is no harm either. Volatile and atomic loads are
//! none of these; a store is never made for a lane that does not ask for it, since others may read or write there, or
//! no one may write.
//!
//! Bytes are known to be there if
//! * they are in a global variable or an `alloca` of the entry block;
//! * the caller promises that they are (`dereferenceable`, `sret`, `byval`), and nothing in the function can free
//!   memory or wait for a thread that does. LLVM takes the promise to hold while the function runs in any case;
//! * they have been accessed by every lane that could ask for them, again with nothing that can free them in the
//!   function.
//!
//! An address that some lane computes before it asks may be poison, or wrap, where no lane does. So the address of
//! such a load is computed anew: from the start of the object, or from the address of the earlier access, and a
//! constant.

use std::collections::BTreeMap;

use warpline_analysis::{DomTree, Node};

use super::alignment::at_distance;
use warpline_dataflow::linear::Term;
use warpline_ir::{
    AtomicOrdering, Block, CallInfo, Constant, Effects, Function, Inst, InstData, Module, Op, SymbolKind,
    Value, ValueDef,
};

/// So many accesses of the same address, up to a constant, are compared with a load.
const MAX_CANDIDATES: usize = 64;

/// A load that may be made for lanes that do not ask for it: at `base + offset`, with this alignment.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SafeLoad {
    /// A pointer, not poison.
    pub base: Value,
    /// Bytes to add to it.
    pub offset: i64,
    /// What the sum is a multiple of.
    pub align: u64,
}

/// The memory behind a pointer: so many bytes from it on.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    /// Bytes.
    pub bytes: u64,
    /// What the pointer is a multiple of.
    pub align: u64,
}

impl Extent {
    /// The load of `size` bytes at a distance from the pointer, if these bytes are there.
    pub(crate) fn load(self, base: Value, offset: i64, size: u64) -> Option<SafeLoad> {
        let end = u64::try_from(offset).ok()?.checked_add(size)?;
        let align = at_distance(self.align, offset);
        (end <= self.bytes).then_some(SafeLoad { base, offset, align })
    }
}

/// A base and what is added to it, up to a constant.
pub(crate) type Place = (Value, Vec<Term>);

/// An access of memory at a place.
pub(crate) struct Access {
    /// The block.
    pub block: Block,
    /// What its address is.
    pub address: Value,
    /// What is added to the place for that.
    pub offset: i64,
    /// The bytes from there on.
    pub extent: Extent,
}

/// A load that other accesses may stand for.
pub(crate) struct Wanted<P> {
    /// The load.
    pub inst: Inst,
    /// What its address is, up to a constant.
    pub place: P,
    /// That constant.
    pub offset: i64,
    /// How many bytes are loaded.
    pub size: u64,
    /// How many accesses of the place stood before it in the order of the program.
    at: usize,
}

/// The accesses of a function by what their addresses are, up to a constant, and the loads for which one is sought.
pub(crate) struct Accesses<P> {
    made: BTreeMap<P, Vec<Access>>,
    /// The loads, in the order of the program.
    pub wanted: Vec<Wanted<P>>,
}

impl<P> Default for Accesses<P> {
    fn default() -> Self {
        Accesses { made: BTreeMap::new(), wanted: Vec::new() }
    }
}

impl<P: Ord> Accesses<P> {
    /// Adds an access in `block`: `address`, which is `place + offset`, is a multiple of the extent's alignment, and
    /// the extent's bytes are accessed.
    pub(crate) fn add_made(&mut self, block: Block, address: Value, place: P, offset: i64, extent: Extent) {
        self.made.entry(place).or_default().push(Access { block, address, offset, extent });
    }

    /// Adds a load of so many bytes at `place + offset`, for which an access is sought.
    pub(crate) fn add_wanted(&mut self, inst: Inst, place: P, offset: i64, size: u64) {
        let at = self.made.get(&place).map_or(0, Vec::len);
        self.wanted.push(Wanted { inst, place, offset, size, at });
    }

    /// The accesses of a load's place, and how many of them stand before it in the order of the program.
    fn of(&self, wanted: &Wanted<P>) -> (&[Access], usize) {
        (self.made.get(&wanted.place).map_or(&[], Vec::as_slice), wanted.at)
    }

    /// The accesses near a load in the order of the program that certainly precede it: those before it in its block,
    /// and those in blocks that dominate its own, one of which may stand behind it.
    pub(crate) fn before<'a>(
        &'a self,
        wanted: &Wanted<P>,
        block: Block,
        dom: &'a DomTree,
    ) -> impl Iterator<Item = &'a Access> {
        let (made, at) = self.of(wanted);
        let near = at.saturating_sub(MAX_CANDIDATES / 2);
        let candidates = made.iter().enumerate().skip(near).take(MAX_CANDIDATES);
        let precedes = move |n: usize, a: &Access| match a.block == block {
            true => n < at,
            false => dom.dominates(Node::from(a.block), Node::from(block)),
        };
        candidates.filter(move |&(n, a)| precedes(n, a)).map(|(_, a)| a)
    }
}

/// What is known to be behind pointers of a function.
pub(crate) struct Objects<'a> {
    module: &'a Module,
    func: &'a Function,
    dom: DomTree,
    /// Whether memory that is there stays there.
    stays: bool,
}

impl<'a> Objects<'a> {
    /// Looks for whatever could free memory.
    pub(crate) fn of(module: &'a Module, func: &'a Function) -> Objects<'a> {
        let mut insts = func.layout.iter().flat_map(|&b| func.block_insts(b));
        let stays = !insts.any(|i| may_free(module, &func.insts[i]));
        let dom = DomTree::compute(&func.graph().0);
        Objects { module, func, dom, stays }
    }

    /// What is behind a pointer that is the same for all lanes. `None` if nothing is known.
    pub(crate) fn extent(&self, root: Value) -> Option<Extent> {
        match self.func.values[root].def {
            ValueDef::Param(_) => {
                let facts = self.func.pointers[root];
                let known = self.stays && facts.dereferenceable > 0;
                known.then_some(Extent { bytes: facts.dereferenceable, align: facts.align })
            }
            ValueDef::Const(_) => {
                let Constant::Address { symbol, offset, .. } = self.func.constant(root)? else { return None };
                let SymbolKind::Global { ty, align, .. } = self.module.symbols[*symbol].kind else {
                    return None;
                };
                let size = self.module.layout.alloc_size(&self.module.types, ty)?;
                let bytes = size.checked_sub(u64::try_from(*offset).ok()?)?;
                Some(Extent { bytes, align: at_distance(align.max(1), *offset) })
            }
            ValueDef::Inst(inst, _) => {
                let data = &self.func.insts[inst];
                let Op::Alloca { align, .. } = data.op else { return None };
                let in_entry = data.block == self.func.entry();
                let bytes = alloca_bytes(self.module, self.func, root).filter(|_| in_entry)?;
                Some(Extent { bytes, align: align.max(1) })
            }
        }
    }

    /// The load, if an access of the same bytes is made before it in a block that dominates its own; `counts` says of
    /// such a block whether its accesses are made whenever the load is. The latest such access is taken; its block is
    /// told, too.
    pub(crate) fn made_before<P: Ord>(
        &self,
        accesses: &Accesses<P>,
        wanted: &Wanted<P>,
        counts: impl Fn(Block) -> bool,
    ) -> Option<(SafeLoad, Block)> {
        if !self.stays {
            return None;
        }
        let (made, _) = accesses.of(wanted);
        let block = self.func.insts[wanted.inst].block;
        made.iter().rev().take(MAX_CANDIDATES).find_map(|a| {
            let safe = a.extent.load(a.address, wanted.offset.checked_sub(a.offset)?, wanted.size)?;
            let before = a.block != block && self.dom.dominates(Node::from(a.block), Node::from(block));
            (before && counts(a.block)).then_some((safe, a.block))
        })
    }
}

/// Whether an instruction may free memory or learn that another thread did.
pub(crate) fn may_free(module: &Module, data: &InstData) -> bool {
    let intrinsic =
        |call: &CallInfo| call.callee.is_some_and(|s| module.symbols[s].name.starts_with("llvm."));
    match &data.op {
        Op::Load(access) | Op::Store(access) => access.ordering != AtomicOrdering::NotAtomic,
        Op::Call(call) if intrinsic(call) => false,
        Op::Lane(_) => false,
        _ => data.effects().intersects(Effects::WRITES | Effects::ATOMIC),
    }
}

/// The size of the object that an `alloca` reserves, if the pointer is its address and the size is known.
pub(super) fn alloca_bytes(module: &Module, func: &Function, pointer: Value) -> Option<u64> {
    let data = &func.insts[func.def_inst(pointer)?];
    let Op::Alloca { ty, .. } = data.op else { return None };
    let count = u64::try_from(func.as_int(data.args[0])?).ok()?;
    module.layout.alloc_size(&module.types, ty)?.checked_mul(count)
}

/// Whether an instruction marks the beginning of a lifetime, or the end (false).
pub(super) fn lifetime_marker(module: &Module, func: &Function, inst: Inst) -> Option<bool> {
    let Op::Call(call) = &func.insts[inst].op else { return None };
    let name = &module.symbols[call.callee?].name;
    name.strip_prefix("llvm.lifetime.").map(|rest| rest.starts_with("start"))
}
