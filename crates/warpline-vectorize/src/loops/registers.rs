//! Scalar promotion: memory that all iterations access at one place is a register in the loop.
//!
//! ```c
//! for (int i = 0; i < n; i++) { *sum += x[i]; if (x[i] > 0) out[(*count)++] = x[i]; }
//! ```
//!
//! `*sum` and `*count` are loaded once, before the loop, and stored behind it, on every way out of it. Then they are
//! reductions, counts and the like, as those of local variables. Nobody else may access them in the loop: their objects
//! and types say so, or it is [checked](super::assumed) before.
//!
//! Nothing is stored where the program does not store: what differs from what was loaded has been stored by some
//! iteration. And nothing is loaded that may not be there: the first iteration loads it, before anything else can end
//! it, or it is [there] in any case.
//!
//! [there]: super::there
//!
//! LLVM does the same as part of loop-invariant code motion, without checks.

use cranelift_entity::packed_option::PackedOption;
use warpline_dataflow::linear::{Address, same_address};
use warpline_dataflow::ssa;
use warpline_ir::{
    Block, CastOp, Function, Inst, InstFlags, IntPred, Loc, MemAccess, Module, Op, Origin, Type, Value, Var,
};

use super::find::{Loop, leaving};
use super::invariant::Accesses;
use super::there::There;
use crate::dependences::{Apart, lie_side_by_side, stretch_of};

/// So many places are held in registers at most.
const MAX_CELLS: usize = 16;

/// So many ways lead out of a loop at most.
const MAX_EXITS: usize = 8;

/// How deep what an address is computed from is followed.
const MAX_DEPTH: u32 = 16;

/// Where an access is, and how many bytes it has.
type Stretch = (Address, u64);

/// Memory that is accessed at one place.
pub(super) struct Cell {
    /// A load or store that is made in every iteration, or else a load.
    lead: Inst,
    /// All loads and stores.
    accesses: Vec<Inst>,
    ty: Type,
    /// Whether it is certain that nobody else accesses it.
    pub(super) is_alone: bool,
    /// Whether nobody else stores there before that load.
    pub(super) is_first: bool,
    /// Whether it is accessed under conditions only, but is [there](super::there).
    pub(super) is_there: bool,
}

/// A cell of which what is there has been loaded before the loop.
pub(super) struct Loaded {
    pub(super) cell: Cell,
    pub(super) value: Value,
    /// Its address, as a value that is there behind the loop, too.
    pub(super) address: Value,
}

/// The cells of a loop that may be registers, as far as it is known, or can be checked, that nobody else accesses
/// them.
pub(super) fn find(
    module: &Module,
    func: &Function,
    l: &Loop,
    accesses: &Accesses,
    there: &There<'_>,
) -> Vec<Cell> {
    let Accesses { loads, stores, certain_stores, all } = accesses;
    if stores.is_empty() || !l.dead.is_empty() || leaving(func, &l.blocks, |_| true).len() > MAX_EXITS {
        return Vec::new();
    }
    let apart = Apart::new(module, func, None);
    // What is stored in every iteration could be loaded there as well.
    let certain: Vec<Inst> = loads.iter().chain(certain_stores).copied().collect();
    let conditional = all.iter().copied().filter(|i| !stores.contains(i) && !certain.contains(i));
    let conditional = conditional.filter(|&i| there.has(i)).map(|i| (i, true));
    let all: Vec<(Inst, Option<Stretch>)> = all.iter().map(|&i| (i, stretch_of(module, func, i))).collect();
    let mut cells: Vec<Cell> = Vec::new();
    for (lead, is_there) in certain.iter().map(|&i| (i, false)).chain(conditional) {
        let is_known = cells.iter().any(|c| c.accesses.contains(&lead));
        if cells.len() < MAX_CELLS && !is_known {
            cells.extend(Cell::of(func, l, (lead, is_there), &all, &apart));
        }
    }
    cells
}

fn fits_register(ty: Type) -> bool {
    matches!(ty, Type::Int(1..=64) | Type::F32 | Type::F64 | Type::Ptr(_))
}

/// Whether something is stored where a load of a loop with these accesses loads.
pub(super) fn is_stored(module: &Module, func: &Function, load: Inst, all: &[Inst]) -> bool {
    let address = |i: Inst| func.accessed(i).map(|a| a.address);
    let is_store = |&i: &Inst| matches!(func.insts[i].op, Op::Store(_));
    let is_there = |i| address(load).zip(address(i)).is_some_and(|(a, b)| same_address(module, func, a, b));
    all.iter().copied().filter(is_store).any(is_there)
}

/// Whether an address differs between iterations, for all that its computation says.
pub(super) fn varies(func: &Function, l: &Loop, address: Value) -> bool {
    varies_as(func, l, address, MAX_DEPTH)
}

fn varies_as(func: &Function, l: &Loop, v: Value, depth: u32) -> bool {
    let Some(i) = func.def_inst(v).filter(|&i| l.blocks.contains(func.insts[i].block)) else { return false };
    let data = &func.insts[i];
    data.op == Op::Phi || depth == 0 || data.args.iter().any(|&a| varies_as(func, l, a, depth - 1))
}

impl Cell {
    /// The cell that a load reads, or a store writes, of all loads and stores of the loop, if it is one.
    fn of(
        func: &Function,
        l: &Loop,
        (lead, is_there): (Inst, bool),
        all: &[(Inst, Option<Stretch>)],
        apart: &Apart<'_>,
    ) -> Option<Cell> {
        let own = func.accessed(lead).filter(|own| fits_register(own.ty) && !varies(func, l, own.address))?;
        let at = all.iter().find(|(i, _)| *i == lead)?.1.as_ref()?;
        let (mut accesses, mut others) = (Vec::new(), Vec::new());
        for (i, stretch) in all {
            let accessed = func.accessed(*i)?;
            match stretch.as_ref().and_then(|other| Some((at.0.distance(&other.0)?, other))) {
                Some((0, _)) if accessed.ty == own.ty => accesses.push(*i),
                Some((_, other)) => lie_side_by_side(at, other).then_some(())?,
                None => others.extend(Some(*i).filter(|&i| !apart.never_meet(lead, i))),
            }
        }
        let is_store = |i: &Inst| matches!(func.insts[*i].op, Op::Store(_));
        let is_first = others.iter().all(|i| !is_store(i) || l.comes_before(func, lead, *i));
        let is_stored = accesses.iter().any(is_store);
        let is_alone = others.is_empty();
        is_stored.then_some(Cell { lead, accesses, ty: own.ty, is_alone, is_first, is_there })
    }

    /// A load of the cell, as the first iteration makes it, which is to be moved to before the loop.
    pub(super) fn probe(&self, func: &mut Function) -> Inst {
        let accessed = func.accessed(self.lead).expect("it is a load or store");
        let data = &func.insts[self.lead];
        let (flags, loc) = (data.flags, data.loc);
        let origin = if accessed.writes { None.into() } else { data.origin };
        let op = Op::Load(accessed.access);
        let probe = func.insert_value_before(self.lead, op, &[accessed.address], self.ty, flags);
        let probe = func.def_inst(probe).expect("it was made");
        (func.insts[probe].loc, func.insts[probe].origin) = (loc, origin);
        probe
    }

    /// The store behind the loop, for which all stores in it speak.
    fn store(&self, func: &Function) -> (MemAccess, Inst) {
        let stores = self.accesses.iter().filter_map(|&i| match func.insts[i].op {
            Op::Store(access) => Some((access, i)),
            _ => None,
        });
        stores.min_by_key(|(access, _)| access.align).expect("a cell is stored")
    }
}

/// What becomes of a cell.
struct Register {
    var: Var,
    /// What was loaded before the loop.
    before: Value,
    address: Value,
    /// The store behind the loop, and one that it stands for.
    access: MemAccess,
    store: (PackedOption<Loc>, PackedOption<Origin>),
}

/// Makes registers of cells.
pub(super) fn promote(func: &mut Function, l: &Loop, cells: &[Loaded]) {
    let registers: Vec<Register> = cells.iter().map(|cell| cell.enter(func, l)).collect();
    for exit in leaving(func, &l.blocks, |_| true) {
        let mut at = func.split_edge(exit, "");
        for register in &registers {
            at = register.leave(func, at);
        }
    }
    let vars: Vec<Var> = registers.iter().map(|r| r.var).collect();
    ssa::construct_vars(func, &vars);
}

impl Loaded {
    /// Makes accesses of the loop ones of a variable, which is what was loaded when the loop begins.
    fn enter(&self, func: &mut Function, l: &Loop) -> Register {
        let ty = self.cell.ty;
        let var = func.add_var(ty, "");
        let (access, store) = self.cell.store(func);
        let store = (func.insts[store].loc, func.insts[store].origin);
        for &i in &self.cell.accesses {
            let data = &mut func.insts[i];
            (data.flags, data.origin) = (InstFlags::empty(), None.into());
            if matches!(data.op, Op::Load(_)) {
                data.op = Op::ReadVar(var);
                data.args.clear();
            } else {
                data.op = Op::WriteVar(var);
                data.args.truncate(1);
            }
        }
        // Where no iteration begins, nothing has been loaded; what is compared must be a number all the same.
        let before = func.append_value(l.preheader, Op::Freeze, &[self.value], ty);
        func.append(l.preheader, Op::WriteVar(var), &[before], Type::Void);
        Register { var, before, address: self.address, access, store }
    }
}

impl Register {
    /// Stores it, if it has changed, at the end of a block that leads to one other block: the block where control goes
    /// on.
    fn leave(&self, func: &mut Function, at: Block) -> Block {
        let next = func.split_edge(func.out_edges(at)[0], "");
        let now = func.append_value(at, Op::ReadVar(self.var), &[], func.ty(self.before));
        let [x, y] = [now, self.before].map(|v| bits(func, at, v));
        let differs = func.append_value(at, Op::ICmp(IntPred::Ne), &[x, y], Type::BOOL);
        let block = func.add_block("");
        func.layout.retain(|&b| b != block);
        func.insert_before(next, block);
        func.set_terminator(at, Op::CondBr, &[differs], &[block, next]);
        let store = func.append(block, Op::Store(self.access), &[now, self.address], Type::Void);
        (func.insts[store].loc, func.insts[store].origin) = self.store;
        func.set_terminator(block, Op::Br, &[], &[next]);
        next
    }
}

/// The bits of a value: −0 is not 0, and a NaN is what it is.
fn bits(func: &mut Function, at: Block, v: Value) -> Value {
    match func.ty(v) {
        Type::F32 => func.append_value(at, Op::Cast(CastOp::Bitcast), &[v], Type::Int(32)),
        Type::F64 => func.append_value(at, Op::Cast(CastOp::Bitcast), &[v], Type::Int(64)),
        _ => v,
    }
}
