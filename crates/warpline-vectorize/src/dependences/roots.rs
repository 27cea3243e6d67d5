//! Which objects a pointer may lead to, and which of them are certainly different.

use std::cell::RefCell;
use std::collections::HashMap;

use cranelift_entity::EntitySet;
use smallvec::SmallVec;

use super::Region;
use super::region::{Stands, Sym};
use crate::known_calls::is_annotation;
use warpline_ir::{
    CastOp, Constant, Function, Inst, Module, Op, PointerFacts, SymbolKind, Users, Value, ValueDef,
};

/// A pointer may lead to so many objects before nothing is known of it.
const MAX_ROOTS: usize = 8;

/// So many definitions are looked through.
const FUEL: usize = 64;

/// The pointers that an address is computed from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Roots {
    /// One of these.
    These(SmallVec<[Sym; 2]>),
    /// Anything.
    Any,
}

/// What is known of the objects of a kernel and of the function that it was cut out of.
pub(super) struct Objects<'a> {
    module: &'a Module,
    func: &'a Function,
    region: Option<&'a Region<'a>>,
    captured: RefCell<HashMap<Sym, bool>>,
}

impl<'a> Objects<'a> {
    pub(super) fn new(module: &'a Module, func: &'a Function, region: Option<&'a Region<'a>>) -> Objects<'a> {
        Objects { module, func, region, captured: RefCell::default() }
    }

    fn function(&self, outer: bool) -> &'a Function {
        match (outer, self.region) {
            (true, Some(region)) => region.func,
            _ => self.func,
        }
    }

    /// What an address in the kernel may be computed from.
    pub(super) fn of(&self, address: Value) -> Roots {
        self.from(Sym::Inner(address))
    }

    /// What a pointer may be computed from.
    pub(super) fn from(&self, start: Sym) -> Roots {
        let mut work = vec![start];
        let mut seen: Vec<Sym> = Vec::new();
        let mut roots: SmallVec<[Sym; 2]> = SmallVec::new();
        while let Some(at) = work.pop() {
            if seen.contains(&at) {
                continue;
            }
            seen.push(at);
            if seen.len() > FUEL {
                return Roots::Any;
            }
            match self.step(at) {
                Some(more) => work.extend(more),
                None if roots.len() == MAX_ROOTS => return Roots::Any,
                None => roots.push(at),
            }
        }
        roots.sort_unstable();
        Roots::These(roots)
    }

    /// What a pointer is computed from; `None` if it is a root.
    fn step(&self, at: Sym) -> Option<SmallVec<[Sym; 4]>> {
        let (v, outer) = match at {
            Sym::Inner(v) => (v, false),
            Sym::Outer(v) => (v, true),
            Sym::Global(_) => return None,
        };
        let func = self.function(outer);
        let sym = |v: Value| if outer { Sym::Outer(v) } else { Sym::Inner(v) };
        let mut next: SmallVec<[Sym; 4]> = SmallVec::new();
        match func.values[v].def {
            ValueDef::Param(n) if !outer => match self.region?.params.get(n as usize)? {
                Stands::For(v) | Stands::StartsAt(v, _) | Stands::Counts(v, _) => next.push(Sym::Outer(*v)),
                Stands::Anything => return None,
            },
            ValueDef::Param(_) => return None,
            ValueDef::Const(_) => match func.constant(v)? {
                Constant::Address { symbol, .. } => next.push(Sym::Global(*symbol)),
                // Nothing can be accessed there.
                Constant::Null(_) | Constant::Undef(_) | Constant::Poison(_) | Constant::Zero(_) => {}
                _ => return None,
            },
            ValueDef::Inst(..) => next.extend(func.pointers_behind(v)?.into_iter().map(sym)),
        }
        Some(next)
    }

    /// Whether a root is memory that each lane has for itself.
    pub(super) fn is_private(&self, root: Sym) -> bool {
        matches!(root, Sym::Inner(v) if self.func.is_alloca(v) || self.func.pointers[v].private)
    }

    /// Whether an address leads to memory that each lane has for itself.
    pub(super) fn is_own(&self, address: Value) -> bool {
        matches!(self.of(address), Roots::These(all) if all.iter().all(|&r| self.is_private(r)))
    }

    /// Whether an address leads to nothing but what pointers reach of which something is promised.
    pub(super) fn is_promised(&self, address: Value, what: impl Fn(&PointerFacts) -> bool) -> bool {
        let promised =
            |s: Sym| self.is_param(s) && self.value(s).is_some_and(|(func, v)| what(&func.pointers[v]));
        matches!(self.of(address), Roots::These(all) if !all.is_empty() && all.iter().all(|&r| promised(r)))
    }

    /// Whether two lists of roots have no object in common that one of the accesses writes.
    pub(super) fn are_apart(&self, a: &Roots, b: &Roots) -> bool {
        if self.is_never_written(a) || self.is_never_written(b) {
            return true;
        }
        let (Roots::These(a), Roots::These(b)) = (a, b) else { return false };
        a.iter().all(|&x| b.iter().all(|&y| self.differ(x, y)))
    }

    fn differ(&self, x: Sym, y: Sym) -> bool {
        if x == y {
            return false;
        }
        // What is an object of its own as long as nobody else was told of it.
        let alone = |s: Sym| self.is_alloca(s) || self.is_noalias(s);
        // What nothing that is alone can be computed from.
        let known = |s: Sym| self.is_alloca(s) || self.is_param(s) || self.is_variable(s);
        let one = |x: Sym, y: Sym| alone(x) && (known(y) || !self.is_captured(x));
        one(x, y) || one(y, x) || self.is_variable(x) && self.is_variable(y)
    }

    /// Whether all roots are variables that a program must not write.
    fn is_never_written(&self, roots: &Roots) -> bool {
        let constant = |&s: &Sym| match s {
            Sym::Global(g) => {
                matches!(self.module.symbols[g].kind, SymbolKind::Global { constant: true, .. })
            }
            _ => false,
        };
        matches!(roots, Roots::These(all) if !all.is_empty() && all.iter().all(constant))
    }

    fn value(&self, s: Sym) -> Option<(&'a Function, Value)> {
        match s {
            Sym::Inner(v) => Some((self.func, v)),
            Sym::Outer(v) => Some((self.function(true), v)),
            Sym::Global(_) => None,
        }
    }

    fn is_alloca(&self, s: Sym) -> bool {
        self.value(s).is_some_and(|(func, v)| func.is_alloca(v))
    }

    fn is_param(&self, s: Sym) -> bool {
        let own = matches!(s, Sym::Outer(_)) || self.region.is_none();
        own && self.value(s).is_some_and(|(func, v)| matches!(func.values[v].def, ValueDef::Param(_)))
    }

    fn is_noalias(&self, s: Sym) -> bool {
        self.is_param(s) && self.value(s).is_some_and(|(func, v)| func.pointers[v].noalias)
    }

    /// Whether a root is a variable of the module; nothing else has its place, unless it is an alias or need not be
    /// there.
    fn is_variable(&self, s: Sym) -> bool {
        matches!(s, Sym::Global(g) if matches!(self.module.symbols[g].kind, SymbolKind::Global { .. }))
    }

    /// Whether a pointer that is computed from this one may be found elsewhere: in memory, or in what is called.
    fn is_captured(&self, s: Sym) -> bool {
        if let Some(&known) = self.captured.borrow().get(&s) {
            return known;
        }
        let Some((func, v)) = self.value(s) else { return true };
        let captured = is_captured(self.module, func, v);
        self.captured.borrow_mut().insert(s, captured);
        captured
    }
}

/// Whether a pointer leaves a function's own hands.
fn is_captured(module: &Module, func: &Function, pointer: Value) -> bool {
    let users = Users::of(func);
    let mut seen: EntitySet<Value> = EntitySet::new();
    let mut work = vec![pointer];
    seen.insert(pointer);
    while let Some(v) = work.pop() {
        for &i in users.get(v) {
            let data = &func.insts[i];
            match data.op {
                Op::Gep(_) | Op::Select | Op::Freeze | Op::Phi => {}
                Op::Cast(CastOp::Bitcast | CastOp::AddrSpaceCast) => {}
                Op::Load(_) | Op::ICmp(_) => continue,
                Op::Store(_) if data.args[0] != v => continue,
                Op::Call(_) if is_annotation(module, data) || is_bulk(module, func, i) => continue,
                _ => return true,
            }
            work.extend(data.results.iter().copied().filter(|&r| seen.insert(r)));
        }
    }
    false
}

/// Whether an instruction copies or fills memory.
fn is_bulk(module: &Module, func: &Function, i: Inst) -> bool {
    let Op::Call(call) = &func.insts[i].op else { return false };
    call.callee.is_some_and(|s| module.symbols[s].name.starts_with("llvm.mem"))
}
