//! The accesses of a kernel to memory that other lanes may see.

use super::fields::Within;
use super::pieces::Pieces;
use super::place::{Place, Places};
use super::region::{Held, Stands, Sym};
use super::roots::{Objects, Roots};
use crate::known_calls::{has_cheap_vector_form, is_annotation};
use warpline_ir::{AccessType, Accessed, CallInfo, Effects, Function, Inst, Module, Op, Symbol, Type, Value};

/// An access to memory.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) inst: Inst,
    /// The address, if there is one.
    pub(crate) address: Option<Value>,
    /// Where that is, if it can be compared with others.
    pub(crate) place: Option<Place>,
    /// The same, as far as nothing wraps.
    pub(crate) within: Option<Within>,
    pub(crate) roots: Roots,
    /// Bytes, if known.
    pub(crate) size: Option<u64>,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) kind: Kind,
    /// What type the memory is accessed as, if the language says so.
    pub(crate) ty: Option<AccessType>,
}

/// What makes an access.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A load or store.
    Plain,
    /// A volatile load or store.
    Volatile,
    /// An atomic operation, load or store.
    Atomic,
    /// A copy or fill of memory.
    Bulk,
    /// A packed store of a [compaction](LaneOp::Compact): active lanes store one behind the other.
    Packed,
    /// A [piece](super::pieces) of the kernel that runs for one lane after the other.
    Piece,
    /// A call whose body is the callee's affair.
    Call,
}

/// What accesses are collected by.
pub(super) struct Collector<'a> {
    pub(super) module: &'a Module,
    pub(super) func: &'a Function,
    pub(super) places: Places<'a>,
    pub(super) objects: &'a Objects<'a>,
    pub(super) pieces: &'a Pieces,
    /// Whether a user says that a function has vector variants, and so that lanes may run it at once.
    pub(super) variants: &'a dyn Fn(&str) -> bool,
}

impl Collector<'_> {
    /// The accesses of an instruction to memory that is not each lane's own.
    pub(super) fn of(&self, inst: Inst, out: &mut Vec<Access>) {
        let data = &self.func.insts[inst];
        let effects = data.effects();
        if !effects.intersects(Effects::READS | Effects::WRITES) || is_annotation(self.module, data) {
            return;
        }
        if let Some(accessed) = self.func.accessed(inst) {
            out.extend(self.plain(inst, accessed));
            return;
        }
        match &data.op {
            Op::Call(call) => self.call(inst, call, out),
            Op::Opaque(info) if info.atomic.is_some() => {
                let fence = data.args.is_empty();
                if !fence {
                    out.extend(self.at(inst, data.args[0], None, Kind::Atomic, (true, true)));
                }
            }
            Op::Lane(_) => out.extend(self.packed(inst)),
            _ => out.push(self.anywhere(inst, effects)),
        }
    }

    fn plain(&self, inst: Inst, accessed: Accessed) -> Option<Access> {
        let Accessed { access, address, ty, writes } = accessed;
        let size = self.module.layout.store_size(&self.module.types, ty);
        let kind = match (access.is_volatile, access.is_simple()) {
            (true, _) => Kind::Volatile,
            (_, true) => Kind::Plain,
            _ => Kind::Atomic,
        };
        let ty = self.module.access_types.of(self.func.insts[inst].origin);
        self.at(inst, address, size, kind, (!writes, writes)).map(|a| Access { ty, ..a })
    }

    /// A load of the function around, before the kernel; `inst` is the one there.
    pub(super) fn before(&self, Held { load, address, is_stored }: Held) -> Access {
        let func = self.places.region.map_or(self.func, |r| r.func);
        let size = func.accessed(load).and_then(|a| self.module.layout.store_size(&self.module.types, a.ty));
        Access {
            inst: load,
            address: None,
            place: self.places.outside(address),
            within: Within::outside(&self.places, address),
            roots: self.objects.from(Sym::Outer(address)),
            size,
            reads: true,
            writes: is_stored,
            kind: Kind::Plain,
            ty: self.module.access_types.of(func.insts[load].origin),
        }
    }

    /// A packed store. At a position that counts, these are the bytes of one lane, at the first address at which one
    /// may store.
    fn packed(&self, inst: Inst) -> Option<Access> {
        let data = &self.func.insts[inst];
        let counts = |s: Sym| matches!(s, Sym::Inner(v) if self.counts(v));
        let at_position = |p: &Place| counts(p.base) || p.terms.iter().any(|t| counts(t.sym));
        if !self.places.of(data.args[0]).is_some_and(|p| at_position(&p)) {
            return self.at(inst, data.args[0], None, Kind::Call, (false, true));
        }
        let size = self.module.layout.store_size(&self.module.types, self.func.ty(data.args[1]));
        let ty = self.module.access_types.of(data.origin);
        let access = self.at(inst, data.args[0], size, Kind::Packed, (false, true))?;
        // How far apart lanes store is not known.
        let place = access.place.map(|p| Place { step: None, ..p });
        Some(Access { ty, place, ..access })
    }

    /// Whether a value is the parameter for a position in a compacted stream.
    fn counts(&self, v: Value) -> bool {
        let param = self.func.params.iter().position(|&p| p == v);
        let stands = param.zip(self.places.region).and_then(|(n, r)| r.params.get(n));
        matches!(stands, Some(Stands::Counts(..)))
    }

    /// An access at an address, unless that is in memory of the lane's own.
    fn at(
        &self,
        inst: Inst,
        address: Value,
        size: Option<u64>,
        kind: Kind,
        (reads, writes): (bool, bool),
    ) -> Option<Access> {
        let roots = self.objects.of(address);
        if let Roots::These(all) = &roots
            && all.iter().all(|&r| self.objects.is_private(r))
        {
            return None;
        }
        let (place, within) = (self.places.of(address), Within::of(&self.places, address));
        Some(Access {
            inst,
            address: Some(address),
            place,
            within,
            roots,
            size,
            reads,
            writes,
            kind,
            ty: None,
        })
    }

    fn anywhere(&self, inst: Inst, effects: Effects) -> Access {
        Access {
            inst,
            address: None,
            place: None,
            within: None,
            roots: Roots::Any,
            size: None,
            reads: effects.contains(Effects::READS),
            writes: effects.contains(Effects::WRITES),
            kind: Kind::Call,
            ty: None,
        }
    }

    fn call(&self, inst: Inst, call: &CallInfo, out: &mut Vec<Access>) {
        let data = &self.func.insts[inst];
        let name = call.callee.map_or("", |s| &*self.module.symbols[s].name);
        if let Some(piece) = call.callee.and_then(|s| self.pieces.of(s)) {
            for a in &piece.accesses {
                let rw = (a.reads, a.writes);
                out.extend(
                    self.at(inst, data.args[a.param], Some(a.size), Kind::Piece, rw)
                        .map(|x| Access { ty: a.ty, ..x }),
                );
            }
            return;
        }
        if is_silent(self.module, self.func, inst) || (self.variants)(name) {
            return;
        }
        let number = |n: usize| data.args.get(n).and_then(|&v| self.func.as_int(v)).map(|n| n as u64);
        if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
            out.extend(self.at(inst, data.args[0], number(2), Kind::Bulk, (false, true)));
            out.extend(self.at(inst, data.args[1], number(2), Kind::Bulk, (true, false)));
        } else if name.starts_with("llvm.memset.") {
            out.extend(self.at(inst, data.args[0], number(2), Kind::Bulk, (false, true)));
        } else if name.starts_with("llvm.stack") || call.effects.contains(Effects::INACCESSIBLE_MEMORY_ONLY) {
        } else if call.effects.contains(Effects::ARG_MEMORY_ONLY) {
            let rw = (call.effects.contains(Effects::READS), call.effects.contains(Effects::WRITES));
            let pointers = data.args.iter().filter(|&&a| self.func.ty(a).is_ptr());
            for &p in pointers {
                out.extend(self.at(inst, p, None, Kind::Call, rw).map(|a| Access {
                    place: None,
                    within: None,
                    ..a
                }));
            }
        } else {
            let does = call.callee.map_or(call.effects, |s| shared_effects(self.module, s, call.effects));
            if does.intersects(Effects::READS | Effects::WRITES) {
                out.push(self.anywhere(inst, does));
            }
        }
    }
}

/// Whether an instruction is a call of mathematics: that may set `errno`, of which nothing is promised in vector
/// code, and does nothing else.
pub(crate) fn is_silent(module: &Module, func: &Function, inst: Inst) -> bool {
    let data = &func.insts[inst];
    let Op::Call(info) = &data.op else { return false };
    let result = data.result().map_or(Type::Void, |v| func.ty(v));
    info.callee.is_some_and(|s| has_cheap_vector_form(&module.symbols[s].name, result).is_some())
}

/// How deep calls are followed.
const MAX_DEPTH: u32 = 8;

/// What a function of the module does to memory that is not its own, by its body, as far as that says less than
/// `effects`.
pub(crate) fn shared_effects(module: &Module, callee: Symbol, effects: Effects) -> Effects {
    let memory = Effects::READS | Effects::WRITES;
    match by_body(module, callee, MAX_DEPTH, &mut Vec::new()) {
        Some(does) => effects.difference(memory) | (effects & does),
        None => effects,
    }
}

/// Whether it reads or writes memory that is not its own. `None` if that is not known.
fn by_body(module: &Module, callee: Symbol, depth: u32, active: &mut Vec<Symbol>) -> Option<Effects> {
    let func = &module.functions[module.function(&module.symbols[callee].name)?];
    if active.contains(&callee) {
        return Some(Effects::empty());
    }
    let depth = depth.checked_sub(1)?;
    active.push(callee);
    let objects = Objects::new(module, func, None);
    let mut does = Effects::empty();
    for i in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
        let data = &func.insts[i];
        let own = func.accessed(i).is_some_and(|a| a.access.is_simple() && objects.is_own(a.address));
        if own || is_annotation(module, data) || is_silent(module, func, i) {
            continue;
        }
        let effects = data.effects() & (Effects::READS | Effects::WRITES);
        let inner = match &data.op {
            Op::Call(info) if !effects.is_empty() => {
                info.callee.and_then(|s| by_body(module, s, depth, active))
            }
            _ => None,
        };
        does |= inner.map_or(effects, |inner| effects & inner);
    }
    active.pop();
    Some(does)
}
