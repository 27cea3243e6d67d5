//! What is known of the functions that are called.

use std::collections::BTreeSet;

use crate::memory;
use warpline_ir::{Constant, Effects, FuncId, Function, Inst, Module, Op, Symbol};

use super::models::{ModelFlow, model};
use super::spec::{Entry, Spec, Spoken};

/// How a call is treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Callee {
    /// It does nothing when it runs.
    Nothing,
    /// It copies memory from argument 1 to argument 0.
    Copies,
    /// A function of the module.
    Body(FuncId),
    /// A function of the table, by its number here.
    Modelled(usize),
    /// It makes clean, as these entries of the list say, and is trusted in everything else.
    Sanitizer(usize),
    /// It touches no memory.
    Pure,
    /// It touches only memory that it is given, or only reads, and keeps no pointer.
    Confined,
    /// Nothing is known.
    Unknown,
}

/// Calls and functions of a module, classified.
pub(super) struct Calls {
    /// By symbol.
    known: Vec<Known>,
    models: Vec<Vec<ModelFlow>>,
    /// Functions that may be called from outside, or through pointers.
    roots: BTreeSet<FuncId>,
    closed: BTreeSet<Symbol>,
    /// Of each function of the module the sources that it is itself.
    given: Vec<Vec<Entry>>,
}

#[derive(Clone, Debug, Default)]
struct Known {
    body: Option<FuncId>,
    model: Option<usize>,
    is_remark: bool,
    is_copy: bool,
    sources: Vec<Entry>,
    sinks: Vec<Entry>,
    sanitizers: Vec<Entry>,
}

impl Calls {
    /// Classifies a module's functions. `closed` are the symbols that only instructions of the module use, functions
    /// as callees: nothing else can reach them.
    pub(super) fn new(module: &Module, spec: &Spec, closed: &BTreeSet<Symbol>) -> Calls {
        let mut models = Vec::new();
        let mut roots: BTreeSet<FuncId> = module.functions.keys().collect();
        let mut known = vec![Known::default(); module.symbols.len()];
        for (id, func) in module.functions.iter() {
            if let Some(symbol) = module.symbol(&func.name) {
                known[symbol.as_u32() as usize].body = Some(id);
                if closed.contains(&symbol) {
                    roots.remove(&id);
                }
            }
        }
        for (symbol, data) in module.symbols.iter() {
            let entry = &mut known[symbol.as_u32() as usize];
            let spoken = Spoken::new(&data.name);
            let those = |list: &[Entry]| list.iter().filter(|e| spoken.is(&e.name)).cloned().collect();
            entry.sources = those(&spec.sources);
            entry.sinks = those(&spec.sinks);
            entry.sanitizers = those(&spec.sanitizers);
            entry.is_remark = memory::is_remark(&data.name);
            entry.is_copy = ["llvm.memcpy.", "llvm.memmove."].iter().any(|p| data.name.starts_with(p));
            let flows = match data.name.starts_with("llvm.memset.") {
                true => model("memset"),
                false => model(&data.name),
            };
            if let Some(flows) = flows.filter(|_| entry.body.is_none()) {
                entry.model = Some(models.len());
                models.push(flows);
            }
        }
        let given = module.functions.values().map(|func| {
            let spoken = Spoken::new(&func.name);
            spec.sources.iter().filter(|e| spoken.is(&e.name)).cloned().collect()
        });
        Calls { known, models, roots, closed: closed.clone(), given: given.collect() }
    }

    /// Whether only instructions of the module use the symbol.
    pub(super) fn is_closed(&self, symbol: Symbol) -> bool {
        self.closed.contains(&symbol)
    }

    /// Whether a function may be called from outside of the module, or through a pointer.
    pub(super) fn is_root(&self, id: FuncId) -> bool {
        self.roots.contains(&id)
    }

    /// The flows of a model.
    pub(super) fn flows(&self, index: usize) -> &[ModelFlow] {
        &self.models[index]
    }

    /// The function that an instruction calls by name.
    fn symbol(&self, module: &Module, func: &Function, inst: Inst) -> Option<Symbol> {
        let data = &func.insts[inst];
        match &data.op {
            Op::Call(call) => call.callee,
            Op::OpaqueTerm(o) if &*o.name == "invoke" => {
                match data.args.last().and_then(|&v| func.constant(v)) {
                    Some(&Constant::Address { symbol, offset: 0, .. }) => Some(symbol),
                    _ => None,
                }
            }
            _ => None,
        }
        .filter(|s| (s.as_u32() as usize) < module.symbols.len())
    }

    fn known(&self, module: &Module, func: &Function, inst: Inst) -> Option<&Known> {
        self.symbol(module, func, inst).map(|s| &self.known[s.as_u32() as usize])
    }

    /// How a call is treated.
    pub(super) fn callee(&self, module: &Module, func: &Function, inst: Inst) -> Callee {
        let effects = func.insts[inst].op.effects();
        let known = self.known(module, func, inst);
        if let Some(known) = known {
            if known.is_remark {
                return Callee::Nothing;
            }
            if known.is_copy {
                return Callee::Copies;
            }
            if !known.sanitizers.is_empty() {
                let symbol = self.symbol(module, func, inst).map_or(0, |s| s.as_u32() as usize);
                return Callee::Sanitizer(symbol);
            }
            if let Some(id) = known.body {
                let params = module.functions[id].params.len();
                let given = memory::arguments(func, inst).len();
                let fits = if module.functions[id].variadic { given >= params } else { given == params };
                return if fits { Callee::Body(id) } else { Callee::Unknown };
            }
            if let Some(index) = known.model {
                return Callee::Modelled(index);
            }
        }
        // A function pointer among the arguments may be called.
        match effects {
            e if !e.intersects(Effects::READS | Effects::WRITES | Effects::UNKNOWN_RESULT) => Callee::Pure,
            e if e.contains(Effects::ARG_MEMORY_ONLY) && !e.contains(Effects::UNKNOWN_RESULT) => {
                Callee::Confined
            }
            _ => Callee::Unknown,
        }
    }

    /// The entries of the list of sources that a call, or a function with this symbol, is meant by.
    pub(super) fn sources(&self, module: &Module, func: &Function, inst: Inst) -> &[Entry] {
        self.known(module, func, inst).map_or(&[], |k| &k.sources)
    }

    /// The sources that are parameters of a function of the module.
    pub(super) fn given(&self, id: FuncId) -> &[Entry] {
        &self.given[id.as_u32() as usize]
    }

    /// The entries of the list of sinks that a call is meant by.
    pub(super) fn sinks(&self, module: &Module, func: &Function, inst: Inst) -> &[Entry] {
        self.known(module, func, inst).map_or(&[], |k| &k.sinks)
    }

    /// The entries behind a [`Callee::Sanitizer`].
    pub(super) fn sanitizers(&self, symbol: usize) -> &[Entry] {
        &self.known[symbol].sanitizers
    }
}
