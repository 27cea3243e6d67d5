//! Objects in memory: to which ones a pointer may lead, and which may be the same.

use std::collections::BTreeMap;

use cranelift_entity::EntitySet;

use warpline_ir::{CastOp, Constant, Function, Inst, Module, Op, Symbol, SymbolKind, Value, ValueDef};

/// A piece of memory.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Object {
    /// What an `alloca` makes.
    Private(Value),
    /// What a pointer parameter leads to.
    Param(u32),
    /// A global variable that may be written.
    Global(Symbol),
    /// A global constant.
    Constant,
    /// What is reached by any other pointer.
    Elsewhere,
}

/// The objects of a function.
pub struct Memory {
    /// Private objects whose address is handed out.
    escaped: EntitySet<Value>,
}

impl Memory {
    /// Finds out which private objects stay private.
    pub fn new(module: &Module, func: &Function) -> Memory {
        let mut escaped = EntitySet::new();
        let mut hand_out = |v: Value| {
            for object in objects(module, func, v) {
                if let Object::Private(alloca) = object {
                    escaped.insert(alloca);
                }
            }
        };
        for &b in &func.layout {
            for inst in func.block_insts(b) {
                let data = &func.insts[inst];
                match &data.op {
                    Op::Load(_)
                    | Op::Gep(_)
                    | Op::ICmp(_)
                    | Op::Select
                    | Op::Freeze
                    | Op::Phi
                    | Op::Alloca { .. } => {}
                    Op::Cast(CastOp::AddrSpaceCast) => {}
                    Op::Store(_) => data.args.first().copied().into_iter().for_each(&mut hand_out),
                    Op::Call(_) if is_about_memory(callee(module, func, inst)) => {}
                    // Only what an atomic operation writes gets about.
                    Op::Opaque(o) if matches!(&*o.name, "atomicrmw" | "cmpxchg") => {
                        data.args.iter().skip(1).copied().for_each(&mut hand_out);
                    }
                    _ => data.args.iter().copied().for_each(&mut hand_out),
                }
            }
        }
        Memory { escaped }
    }

    /// Whether two objects may be the same, or parts of one.
    pub fn may_be_same(&self, a: Object, b: Object) -> bool {
        use Object::{Constant, Elsewhere, Global, Param, Private};
        match (a, b) {
            (Constant, _) | (_, Constant) => false,
            (Private(x), Private(y)) => x == y,
            (Private(x), Elsewhere) | (Elsewhere, Private(x)) => self.escaped.contains(x),
            (Private(_), _) | (_, Private(_)) => false,
            (Global(x), Global(y)) => x == y,
            (Global(_) | Param(_) | Elsewhere, Global(_) | Param(_) | Elsewhere) => true,
        }
    }

    /// Whether other functions may see the object.
    pub fn is_visible(&self, object: Object) -> bool {
        match object {
            Object::Private(alloca) => self.escaped.contains(alloca),
            Object::Constant => false,
            Object::Param(_) | Object::Global(_) | Object::Elsewhere => true,
        }
    }
}

/// The name of the function that an instruction calls; empty if it is not known or no call.
pub fn callee<'m>(module: &'m Module, func: &Function, inst: Inst) -> &'m str {
    let data = &func.insts[inst];
    let symbol = match &data.op {
        Op::Call(call) => call.callee,
        // The callee of an `invoke` is its last operand.
        Op::OpaqueTerm(o) if &*o.name == "invoke" => match data.args.last().and_then(|&v| func.constant(v)) {
            Some(&Constant::Address { symbol, offset: 0, .. }) => Some(symbol),
            _ => None,
        },
        _ => None,
    };
    symbol.map(|s| &*module.symbols[s].name).unwrap_or_default()
}

/// The operands that a call hands over: all but the callee, which is the last one of an indirect call and of an
/// `invoke`.
pub fn arguments(func: &Function, inst: Inst) -> &[Value] {
    let data = &func.insts[inst];
    let has_callee = match &data.op {
        Op::Call(call) => call.callee.is_none(),
        Op::OpaqueTerm(o) => &*o.name == "invoke",
        _ => false,
    };
    &data.args[..data.args.len() - usize::from(has_callee && !data.args.is_empty())]
}

/// Whether a function of this name does with pointers only what is modelled: it copies or fills memory, or says
/// something of it.
pub fn is_about_memory(name: &str) -> bool {
    ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().any(|p| name.starts_with(p)) || is_remark(name)
}

/// Whether a function of this name does nothing at all when it runs.
pub fn is_remark(name: &str) -> bool {
    const REMARKS: &[&str] = &[
        "llvm.assume",
        "llvm.dbg.",
        "llvm.donothing",
        "llvm.experimental.noalias.scope",
        "llvm.invariant.",
        "llvm.lifetime.",
        "llvm.pseudoprobe",
        "llvm.sideeffect",
        "llvm.var.annotation",
    ];
    REMARKS.iter().any(|p| name.starts_with(p))
}

/// The objects to which a pointer, or a vector of pointers, may lead.
pub fn objects(module: &Module, func: &Function, pointer: Value) -> Vec<Object> {
    let mut found: BTreeMap<Object, ()> = BTreeMap::new();
    let mut seen = EntitySet::new();
    let mut work = vec![pointer];
    while let Some(v) = work.pop() {
        if !seen.insert(v) {
            continue;
        }
        let inst = match func.values[v].def {
            ValueDef::Param(i) => {
                found.insert(if func.ty(v).is_ptr() { Object::Param(i) } else { Object::Elsewhere }, ());
                continue;
            }
            ValueDef::Const(_) => {
                if let Some(object) = func.constant(v).and_then(|c| constant_object(module, c)) {
                    found.insert(object, ());
                }
                continue;
            }
            ValueDef::Inst(inst, _) => inst,
        };
        match (&func.insts[inst].op, func.pointers_behind(v)) {
            (Op::Alloca { .. }, _) => _ = found.insert(Object::Private(v), ()),
            (_, Some(behind)) => work.extend(behind),
            (_, None) => _ = found.insert(Object::Elsewhere, ()),
        }
    }
    if found.is_empty() {
        // Null and the like: nobody knows what lies there.
        found.insert(Object::Elsewhere, ());
    }
    found.into_keys().collect()
}

fn constant_object(module: &Module, constant: &Constant) -> Option<Object> {
    match constant {
        Constant::Null(_) | Constant::Undef(_) | Constant::Poison(_) | Constant::Zero(_) => None,
        Constant::Address { symbol, .. } => match &module.symbols[*symbol].kind {
            SymbolKind::Global { constant: true, .. } => Some(Object::Constant),
            SymbolKind::Global { constant: false, .. } => Some(Object::Global(*symbol)),
            SymbolKind::Function { .. } => None,
            SymbolKind::Other => Some(Object::Elsewhere),
        },
        _ => Some(Object::Elsewhere),
    }
}
