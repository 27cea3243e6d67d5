//! Updates of memory that lanes have in common: `x[k] op= v`, where lanes may have the same `k`.
//!
//! All lanes would load before any of them stores, and all updates but one of each place would be lost. So, before
//! anything is vectorized,
//! * a *combined* update, at an address that all lanes agree on and by an operation that may be made in any order,
//!   becomes one update by what all active lanes have, reduced;
//! * a [record](super::records) that a value takes if it beats it becomes one comparison with what all active lanes
//!   have;
//! * any other update becomes a *piece*: load, arithmetic and store go to a function of their own, which is called
//!   for one active lane after the other. That keeps the order of the sequential program, so it is right whatever is
//!   computed, whichever lanes meet, and whatever else the piece returns.
//!
//! A piece must be in one block, have nothing to do with memory besides its load and its store, and nothing between
//! these two may access what it stores.

use cranelift_entity::EntitySet;

use super::Region;
use super::access::is_silent;
use super::irregular::Irregular;
use super::records;
use super::roots::Objects;
use crate::choices::Contract;
use crate::known_calls::is_annotation;
use warpline_dataflow::clients::intrinsics::{self, Intrinsic};
use warpline_ir::{
    AccessType, BinaryOp, Block, CallInfo, Combine, Effects, FuncId, Function, Inst, InstFlags, LaneOp,
    Module, Op, Symbol, SymbolData, SymbolKind, Type, Value,
};
use warpline_uniformity::shape::ArgShape;
use warpline_uniformity::{Options as UniformityOptions, Uniformity};

/// What stands in the name of a piece, before its number.
const PIECE: &str = ".piece";

/// Whether a function of this name is a piece, and no function of the program's.
pub(crate) fn is_piece(name: &str) -> bool {
    let number = name.rsplit_once(PIECE).map(|(_, number)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// A function that was made of a piece of a kernel.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its symbol.
    pub symbol: Symbol,
    /// The function.
    pub func: FuncId,
    /// What it accesses.
    pub accesses: Vec<PieceAccess>,
}

/// An access to memory by a [`Piece`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct PieceAccess {
    /// The parameter that is the address.
    pub param: usize,
    /// Bytes.
    pub size: u64,
    /// Whether it reads there.
    pub reads: bool,
    /// Whether it writes there.
    pub writes: bool,
    /// What type the memory is accessed as, if the language says so.
    pub ty: Option<AccessType>,
}

/// The updates of a kernel that lanes make together or one after the other.
#[derive(Clone, Default, Debug)]
pub struct Pieces {
    all: Vec<Piece>,
    /// Loads and stores of combined updates.
    combined: Vec<(Inst, Inst)>,
}

impl Pieces {
    /// No pieces.
    pub const fn none() -> Pieces {
        Pieces { all: Vec::new(), combined: Vec::new() }
    }

    /// The piece that a symbol stands for.
    pub fn of(&self, symbol: Symbol) -> Option<&Piece> {
        self.all.iter().find(|p| p.symbol == symbol)
    }

    /// The functions that were made.
    pub fn functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        self.all.iter().map(|p| p.func)
    }

    /// Whether both are the load or the store of one combined update.
    pub(super) fn are_combined(&self, a: Inst, b: Inst) -> bool {
        self.combined.iter().any(|&(load, store)| [a, b].iter().all(|&i| i == load || i == store))
    }

    /// How many updates there are.
    pub fn count(&self) -> usize {
        self.all.len() + self.combined.len()
    }
}

/// Makes the updates of a kernel that several lanes may make at one place right, where the contract asks for the
/// sequential meaning. The function is changed; functions are added to the module, whose names begin with this one.
pub(crate) fn cut(
    module: &mut Module,
    func: &mut Function,
    name: &str,
    args: &[ArgShape],
    region: Option<&Region<'_>>,
    contract: Contract,
    any_order: bool,
) -> Pieces {
    let mut pieces = Pieces::none();
    if !matches!(contract, Contract::Sequential | Contract::Independent) {
        return pieces;
    }
    let candidates = updates(module, func);
    let mut records = records::find(module, func);
    if candidates.is_empty() && records.is_empty() {
        return pieces;
    }
    let options =
        UniformityOptions { args: args.to_vec(), strict_undef: true, ..UniformityOptions::default() };
    let uniformity = Uniformity::compute(module, func, &options);
    let uniform = |func: &Function, v: Value| func.constant(v).is_some() || uniformity.shape(v).is_uniform();
    let wanted: Vec<(Update, bool)> = {
        let irregular = Irregular::new(func, &uniformity);
        let objects = Objects::new(module, func, region);
        let shared = |u: &Update| !objects.is_own(u.address);
        let repeats = |u: &Update| irregular.may_repeat(u.address);
        let is_in_loop = |b: Block| uniformity.cycles().innermost(b.into()).is_some();
        records.retain(|r| {
            let at_one = r.is_at(func, |v| uniform(func, v) && !objects.is_own(v));
            at_one && (!is_in_loop(r.block) || r.is_whole(func))
        });
        candidates
            .into_iter()
            .filter(|u| shared(u) && repeats(u))
            .map(|u| {
                let at_one = uniform(func, u.address);
                (u, at_one)
            })
            .collect()
    };
    for record in &records {
        pieces.combined.push((record.load, record.store));
        record.combine(func);
    }
    for (update, at_one_place) in wanted {
        let objects = Objects::new(module, func, region);
        let Some(plan) = update.plan(module, func, &objects) else { continue };
        match update.combination(module, func, &plan, any_order).filter(|_| at_one_place) {
            Some(combination) => {
                combine(func, &update, combination);
                pieces.combined.push((update.load, update.store));
            }
            None => pieces.all.push(plan.cut(module, func, name, &update)),
        }
    }
    pieces
}

/// A load and a store of what is computed from it, at the same address and in the same block.
struct Update {
    block: Block,
    load: Inst,
    store: Inst,
    address: Value,
    size: u64,
}

/// Finds updates: of the loads before a store that have its address, the last one.
fn updates(module: &Module, func: &Function) -> Vec<Update> {
    let mut found = Vec::new();
    for &block in &func.layout {
        let insts = &func.blocks[block].insts;
        for (at, &store) in insts.iter().enumerate() {
            let Some(stored) = func.accessed(store).filter(|a| a.writes && a.access.is_simple()) else {
                continue;
            };
            let load = insts[..at].iter().rev().copied().find(|&i| {
                let loaded = func.accessed(i);
                loaded.is_some_and(|a| {
                    !a.writes && a.access.is_simple() && a.address == stored.address && a.ty == stored.ty
                })
            });
            let (Some(load), Some(size)) = (load, module.layout.store_size(&module.types, stored.ty)) else {
                continue;
            };
            found.push(Update { block, load, store, address: stored.address, size });
        }
    }
    found
}

/// How an update is combined.
struct Combination {
    combine: Combine,
    /// The instruction that does so, and which of its operands is not what was loaded.
    by: Inst,
    other: usize,
}

/// What becomes part of a piece.
struct Plan {
    /// From the load to the store, in order.
    insts: Vec<Inst>,
    /// What depends on the load, stands before the store and is no part of the piece.
    after: Vec<Inst>,
    /// What is used outside.
    results: Vec<Value>,
}

impl Update {
    /// What belongs to the update, if that can be taken out.
    fn plan(&self, module: &Module, func: &Function, objects: &Objects<'_>) -> Option<Plan> {
        let insts = &func.blocks[self.block].insts;
        let from = insts.iter().position(|&i| i == self.load)?;
        let to = insts.iter().position(|&i| i == self.store)?;
        let between = &insts[from + 1..to];
        let mut dependent: EntitySet<Value> = EntitySet::new();
        dependent.insert(func.insts[self.load].results[0]);
        let (mut chain, mut passed) = (Vec::new(), Vec::new());
        for &i in between {
            let data = &func.insts[i];
            if data.args.iter().any(|&a| dependent.contains(a)) {
                dependent.extend(data.results.iter().copied());
                chain.push(i);
            } else {
                passed.push(i);
            }
        }
        let quiet = |i: Inst| Effects::TRAPS.contains(func.insts[i].effects()) || is_silent(module, func, i);
        if !dependent.contains(func.insts[self.store].args[0]) || !chain.iter().all(|&i| quiet(i)) {
            return None;
        }
        // The load moves down to the store, past these.
        if !passed.iter().all(|&i| self.may_pass(module, func, objects, i)) {
            return None;
        }
        let needed = self.needed(func, &chain);
        let (mut part, after): (Vec<Inst>, Vec<Inst>) = chain.iter().partition(|&&i| needed.contains(i));
        part.insert(0, self.load);
        part.push(self.store);
        let results = used_outside(func, &part);
        Some(Plan { insts: part, after, results })
    }

    /// Whether the load may be made behind an instruction that stands after it.
    fn may_pass(&self, module: &Module, func: &Function, objects: &Objects<'_>, i: Inst) -> bool {
        let data = &func.insts[i];
        let effects = data.effects();
        if !effects.contains(Effects::WRITES) || is_annotation(module, data) || is_silent(module, func, i) {
            return !effects.intersects(Effects::CONVERGENT | Effects::ATOMIC | Effects::NO_RETURN);
        }
        let stored = func.accessed(i).filter(|a| a.access.is_simple());
        stored.is_some_and(|a| objects.are_apart(&objects.of(a.address), &objects.of(self.address)))
    }

    /// Those of the instructions that the stored value is computed from.
    fn needed(&self, func: &Function, chain: &[Inst]) -> EntitySet<Inst> {
        let mut needed: EntitySet<Inst> = EntitySet::new();
        let mut work = vec![func.insts[self.store].args[0]];
        while let Some(v) = work.pop() {
            if let Some(i) = func.def_inst(v).filter(|i| chain.contains(i) && needed.insert(*i)) {
                work.extend(func.insts[i].args.iter().copied());
            }
        }
        needed
    }

    /// How lanes' updates are combined in any order, if that is allowed: one operation, and nobody else looks at what
    /// was loaded.
    fn combination(
        &self,
        module: &Module,
        func: &Function,
        plan: &Plan,
        any_order: bool,
    ) -> Option<Combination> {
        let &[load, by, store] = &plan.insts[..] else { return None };
        if !plan.results.is_empty() || !plan.after.is_empty() {
            return None;
        }
        let (loaded, data) = (func.insts[load].results[0], &func.insts[by]);
        if func.insts[store].args[0] != *data.results.first()? {
            return None;
        }
        let other = match data.args[..] {
            [a, b] if a == loaded && b != loaded => 1,
            [a, b] if b == loaded && a != loaded => 0,
            _ => return None,
        };
        let combine = match data.op {
            Op::Binary(BinaryOp::Add | BinaryOp::FAdd) => Combine::Add,
            // What is subtracted is summed before.
            Op::Binary(BinaryOp::Sub | BinaryOp::FSub) if other == 1 => Combine::Add,
            Op::Binary(BinaryOp::Mul | BinaryOp::FMul) => Combine::Mul,
            Op::Binary(BinaryOp::And) => Combine::And,
            Op::Binary(BinaryOp::Or) => Combine::Or,
            Op::Binary(BinaryOp::Xor) => Combine::Xor,
            _ => match intrinsics::called(module, func, data)? {
                Intrinsic::SMin => Combine::Min,
                Intrinsic::SMax => Combine::Max,
                Intrinsic::UMin => Combine::UMin,
                Intrinsic::UMax => Combine::UMax,
                _ => return None,
            },
        };
        let ty = func.ty(loaded);
        let exact = !combine.is_in_order(ty) || any_order || data.flags.contains(InstFlags::REASSOC);
        (exact && LaneOp::Reduce(combine).takes(ty)).then_some(Combination { combine, by, other })
    }
}

/// The results of instructions that others use.
fn used_outside(func: &Function, part: &[Inst]) -> Vec<Value> {
    let mut used: EntitySet<Value> = EntitySet::new();
    for &b in &func.layout {
        for i in func.block_insts(b).filter(|i| !part.contains(i)) {
            used.extend(func.insts[i].args.iter().copied());
        }
        for &e in func.out_edges(b) {
            used.extend(func.edges[e].args.iter().copied());
        }
    }
    let results = part.iter().flat_map(|&i| func.insts[i].results.iter().copied());
    results.filter(|&r| used.contains(r)).collect()
}

/// Lets a store write what was loaded combined with what all active lanes have.
fn combine(func: &mut Function, update: &Update, c: Combination) {
    let x = func.insts[c.by].args[c.other];
    let ty = func.ty(x);
    let op = Op::Lane(LaneOp::Reduce(c.combine));
    let all = func.insert_value_before(c.by, op, &[x], ty, InstFlags::empty());
    let data = &mut func.insts[c.by];
    data.args[c.other] = all;
    // In another order sums may overflow where the program's own did not.
    data.flags -= InstFlags::NSW | InstFlags::NUW | InstFlags::DISJOINT | InstFlags::NNAN | InstFlags::NINF;
    // The load stands where the store is, behind what may write in between.
    let block = update.block;
    let insts = &mut func.blocks[block].insts;
    insts.retain(|&i| i != update.load);
    let at = insts.iter().position(|&i| i == c.by).unwrap_or(0);
    insts.insert(at, update.load);
}

impl Plan {
    /// Makes a function of the piece, and a call of it.
    fn cut(&self, module: &mut Module, func: &mut Function, name: &str, update: &Update) -> Piece {
        let mut inside: EntitySet<Value> = EntitySet::new();
        inside.extend(self.insts.iter().flat_map(|&i| func.insts[i].results.iter().copied()));
        let mut params: Vec<Value> = vec![update.address];
        for &i in &self.insts {
            for &a in &func.insts[i].args {
                if !inside.contains(a) && func.constant(a).is_none() && !params.contains(&a) {
                    params.push(a);
                }
            }
        }
        let name = format!("{name}{PIECE}{}", update.store.as_u32());
        let types: Vec<Type> = self.results.iter().map(|&r| func.ty(r)).collect();
        let ret = match types[..] {
            [] => Type::Void,
            [one] => one,
            _ => module.types.structure(types, false),
        };
        let made = self.function(func, &name, &params, ret);
        let effects = Effects::READS | Effects::WRITES | Effects::TRAPS;
        let kinds: Vec<Type> = params.iter().map(|&p| func.ty(p)).collect();
        let kind = SymbolKind::Function { params: kinds, ret, variadic: false };
        let symbol = module.declare(SymbolData { name: name.as_str().into(), kind, effects, origin: None });
        let id = module.functions.push(made);
        self.call(func, update, symbol, &params, ret, effects);
        let type_of = |i: Inst| module.access_types.of(func.insts[i].origin);
        let ty = type_of(update.store).filter(|&ty| type_of(update.load) == Some(ty));
        let access = PieceAccess { param: 0, size: update.size, reads: true, writes: true, ty };
        Piece { symbol, func: id, accesses: vec![access] }
    }

    fn function(&self, func: &Function, name: &str, params: &[Value], ret: Type) -> Function {
        let mut made = Function::new(name, ret);
        made.loc = func.loc;
        let mut map: Vec<(Value, Value)> = Vec::new();
        for &p in params {
            let new = made.add_param(func.ty(p), &func.values[p].name);
            map.push((p, new));
        }
        let entry = made.add_block("entry");
        for &i in &self.insts {
            let data = &func.insts[i];
            let args: Vec<Value> = data
                .args
                .iter()
                .map(|&a| match map.iter().find(|(old, _)| *old == a) {
                    Some(&(_, new)) => new,
                    None => made.constant_value(func.constant(a).expect("all else is a parameter").clone()),
                })
                .collect();
            let ty = data.result().map_or(Type::Void, |r| func.ty(r));
            let new = made.append(entry, data.op.clone(), &args, ty);
            (made.insts[new].flags, made.insts[new].loc) = (data.flags, data.loc);
            made.insts[new].origin = data.origin;
            if let (Some(old), Some(new)) = (data.result(), made.insts[new].result()) {
                map.push((old, new));
            }
        }
        let of =
            |v: Value| map.iter().find(|(old, _)| *old == v).map(|&(_, new)| new).expect("it was computed");
        let results: Vec<Value> = self.results.iter().map(|&r| of(r)).collect();
        let result = match results[..] {
            [] => None,
            [one] => Some(one),
            _ => {
                let mut whole = made.poison(ret);
                for (k, &r) in results.iter().enumerate() {
                    whole = made.append_value(entry, Op::InsertValue([k as u32].into()), &[whole, r], ret);
                }
                Some(whole)
            }
        };
        made.set_terminator(entry, Op::Ret, result.as_slice(), &[]);
        made
    }

    /// Puts a call of the piece where its store was.
    fn call(
        &self,
        func: &mut Function,
        update: &Update,
        symbol: Symbol,
        params: &[Value],
        ret: Type,
        effects: Effects,
    ) {
        let call = Op::Call(Box::new(CallInfo { callee: Some(symbol), effects, variadic_fixed: None }));
        let block = update.block;
        let results: &[Type] = if ret.is_void() { &[] } else { &[ret] };
        let call = func.make_inst(block, call, params, results);
        func.insts[call].loc = func.insts[update.store].loc;
        let mut behind = vec![call];
        let whole = func.insts[call].result();
        let mut new = Vec::new();
        match (&self.results[..], whole) {
            (&[one], Some(whole)) => new.push((one, whole)),
            (all, Some(whole)) => {
                for (k, &r) in all.iter().enumerate() {
                    let ty = func.ty(r);
                    let i = func.make_inst(block, Op::ExtractValue([k as u32].into()), &[whole], &[ty]);
                    behind.push(i);
                    new.push((r, func.insts[i].results[0]));
                }
            }
            _ => {}
        }
        behind.extend(&self.after);
        let old = std::mem::take(&mut func.blocks[block].insts);
        let mut insts = Vec::with_capacity(old.len() + 1);
        for i in old {
            if i == update.store {
                insts.append(&mut behind);
            } else if !self.insts.contains(&i) && !self.after.contains(&i) {
                insts.push(i);
            }
        }
        func.blocks[block].insts = insts;
        func.map_operands(|v| new.iter().find(|(old, _)| *old == v).map_or(v, |&(_, new)| new));
    }
}
