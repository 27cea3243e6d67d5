//! Which functions a call may go to.
//!
//! A call names its function, or it goes to where a pointer leads that is followed like any other: functions are
//! objects, and tables of them have initial contents. A pointer that comes from elsewhere may lead to any function; of
//! those in the module the ones are followed then that are used otherwise than by calls, and have the type.

use std::collections::BTreeSet;

use super::memory::{Object, Places};
use super::state::{InstanceId, State};
use super::walk::is_declassified;
use warpline_dataflow::memory;
use warpline_ir::{Constant, FuncId, Function, Inst, Module, Op, OpaqueInfo, Symbol, Value};

/// A pointer of unknown origin that may lead to more functions than this is not followed.
const MAX_TARGETS: usize = 32;

/// Whether an instruction is a call; inline assembly is none.
pub(super) fn is_call(op: &Op) -> bool {
    match op {
        Op::Call(_) => true,
        Op::OpaqueTerm(o) | Op::Opaque(o) => o.is_call(),
        _ => false,
    }
}

/// Whether an instruction is inline assembly, and if so whether it has instructions.
pub(super) fn assembly(op: &Op) -> Option<bool> {
    match op {
        Op::OpaqueTerm(o) | Op::Opaque(o) if o.is_assembly() => Some(&*o.name != OpaqueInfo::EMPTY_ASSEMBLY),
        _ => None,
    }
}

/// The operand that says where a call goes, if its function is not a part of the instruction.
pub(super) fn target(func: &Function, inst: Inst) -> Option<Value> {
    let data = &func.insts[inst];
    let is_operand = match &data.op {
        Op::Call(call) => call.callee.is_none(),
        op => is_call(op),
    };
    data.args.last().copied().filter(|_| is_operand)
}

/// The name of the function that a call names; empty of another one.
pub(super) fn callee<'m>(module: &'m Module, func: &Function, inst: Inst) -> &'m str {
    let named = memory::callee(module, func, inst);
    if !named.is_empty() {
        return named;
    }
    match target(func, inst).and_then(|v| func.constant(v)) {
        Some(&Constant::Address { symbol, offset: 0, .. }) => &module.symbols[symbol].name,
        _ => "",
    }
}

/// The operands that a call hands over: all but the callee.
pub(super) fn arguments(func: &Function, inst: Inst) -> &[Value] {
    let args = &func.insts[inst].args;
    let is_callee = target(func, inst).is_some() || assembly(&func.insts[inst].op).is_some();
    &args[..args.len() - usize::from(is_callee && !args.is_empty())]
}

/// The functions that a call may go to.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Targets {
    /// Those that are followed.
    pub followed: BTreeSet<FuncId>,
    /// Whether it may go to others, too.
    pub others: bool,
}

/// The functions whose address is taken: those that are an operand, or lie in a global variable from the start.
pub(super) fn addressed(module: &Module) -> BTreeSet<FuncId> {
    let mut symbols: BTreeSet<Symbol> = BTreeSet::new();
    for func in module.functions.values() {
        for v in func.values.keys() {
            if let Some(constant) = func.constant(v) {
                collect(constant, &mut symbols);
            }
        }
    }
    symbols.extend(module.addresses.values().flatten().map(|address| address.symbol));
    symbols.into_iter().filter_map(|symbol| module.function(&module.symbols[symbol].name)).collect()
}

fn collect(constant: &Constant, symbols: &mut BTreeSet<Symbol>) {
    match constant {
        Constant::Address { symbol, .. } => _ = symbols.insert(*symbol),
        Constant::Composite { elems, .. } => elems.iter().for_each(|elem| collect(elem, symbols)),
        _ => {}
    }
}

impl State<'_> {
    /// The function that an instruction names as the one it calls, if it is to be followed.
    pub(super) fn named(&self, id: InstanceId, inst: Inst) -> Option<FuncId> {
        let func = self.instance(id).func;
        let callee = self.module.function(callee(self.module, func, inst))?;
        (self.fits(func, inst, callee) && !is_declassified(self, id, inst)).then_some(callee)
    }

    /// Whether a function takes what a call hands over.
    fn fits(&self, func: &Function, inst: Inst, callee: FuncId) -> bool {
        let to = &self.module.functions[callee];
        to.params.len() == arguments(func, inst).len() && !to.variadic
    }

    /// Whether a function has the type that a call goes by.
    fn has_type(&self, func: &Function, inst: Inst, callee: FuncId) -> bool {
        let to = &self.module.functions[callee];
        let mut both = to.params.iter().zip(arguments(func, inst));
        let result = func.insts[inst].results.first().map(|&v| func.ty(v));
        self.fits(func, inst, callee)
            && both.all(|(&p, &v)| to.ty(p) == func.ty(v))
            && result.is_none_or(|ty| ty == to.ret)
    }

    /// The functions that a call goes to which names none.
    pub(super) fn targets(&mut self, id: InstanceId, inst: Inst) -> Targets {
        let func = self.instance(id).func;
        let Some(target) = target(func, inst) else { return Targets::default() };
        let places = self.places(id, target);
        self.led_to(func, inst, &places)
    }

    fn led_to(&self, func: &Function, inst: Inst, places: &Places) -> Targets {
        let mut found = Targets { others: places.is_empty(), ..Targets::default() };
        for place in places.iter() {
            let known = match self.memory.object(place.object) {
                Object::Function(symbol) => self.module.function(&self.module.symbols[symbol].name),
                _ => None,
            };
            match known.filter(|&callee| self.fits(func, inst, callee)) {
                Some(callee) => _ = found.followed.insert(callee),
                None => found.others = true,
            }
        }
        if found.others {
            let likely = self.addressed.iter().copied().filter(|&f| self.has_type(func, inst, f));
            let likely: Vec<FuncId> = likely.collect();
            if likely.len() <= MAX_TARGETS {
                found.followed.extend(likely);
            }
        }
        found
    }
}
