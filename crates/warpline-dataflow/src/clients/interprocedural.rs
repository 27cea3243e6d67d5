//! Constants of a whole module: what is passed to functions all of whose calls are known, and what functions return.
//!
//! One optimistic fixed point over the functions (Wegman and Zadeck's analysis inside each, as [`Constants`] has it):
//! a function is looked at once something calls it; a parameter starts as *nothing* and is lowered by what reached
//! calls pass; the result of a call starts as *nothing* and is lowered by what reached returns of the callee return.
//! A function whose arguments or callees' results were lowered is solved again; since every fact is lowered at most
//! twice, that ends after a few rounds.
//!
//! Functions that may be called from outside, or whose address is used for anything but calls, have parameters of
//! which nothing is known. The result of a call of a function that a body of another module may replace is not known
//! either. Memory is as in [`constants`](super::constants): it carries nothing from one function to another.

use cranelift_entity::SecondaryMap;
use warpline_analysis::BitSet;
use warpline_analysis::dataflow::{Instruction, Lattice, SparseForward, solve_forward};
use warpline_analysis::ssi::{Ssi, ssify};

use super::constants::{Assumptions, Constants, Fact};
use crate::Code;
use warpline_ir::{Constant, FuncId, Function, Inst, Module, Op, Symbol};

/// What a module's functions are called with and return.
#[derive(Clone, Debug, Default)]
pub struct ModuleConstants {
    callees: SecondaryMap<Symbol, Option<FuncId>>,
    parameters: SecondaryMap<FuncId, Vec<Fact>>,
    /// Of functions whose calls return what their bodies return.
    returned: SecondaryMap<FuncId, Option<Fact>>,
}

/// What is assumed of one function.
#[derive(Clone, Copy, Debug)]
pub struct FunctionConstants<'a> {
    all: &'a ModuleConstants,
    func: &'a Function,
    id: FuncId,
}

impl Assumptions for FunctionConstants<'_> {
    fn parameter(&self, number: u32) -> Fact {
        self.all.parameters[self.id].get(number as usize).copied().unwrap_or(Fact::Anything)
    }

    fn call(&self, inst: Inst) -> Fact {
        let callee = self.all.callee(self.func, inst);
        callee.and_then(|callee| self.all.returned[callee]).unwrap_or(Fact::Anything)
    }
}

impl ModuleConstants {
    /// Finds them. `is_closed` says of a function that no other module knows it; `is_replaceable` that a body of
    /// another module may take its place.
    pub fn compute(
        module: &Module,
        is_closed: impl Fn(FuncId) -> bool,
        is_replaceable: impl Fn(FuncId) -> bool,
    ) -> ModuleConstants {
        let mut all = ModuleConstants::default();
        for (id, func) in module.functions.iter().filter(|(_, f)| !f.layout.is_empty()) {
            if let Some(symbol) = module.symbol(&func.name) {
                all.callees[symbol] = Some(id);
            }
        }
        let escapes = all.escaping(module);
        let none = || BitSet::new(module.functions.len());
        let mut search = Search {
            module,
            callers: SecondaryMap::new(),
            waiting: Vec::new(),
            queued: none(),
            seen: none(),
        };
        for (id, func) in module.functions.iter().filter(|(_, f)| !f.layout.is_empty()) {
            let open = !is_closed(id) || escapes[id] || func.variadic;
            let known = if open { Fact::Anything } else { Fact::Nothing };
            all.parameters[id] = vec![known; func.params.len()];
            all.returned[id] = (!is_replaceable(id) && !func.ret.is_void()).then_some(Fact::Nothing);
            if open {
                search.enqueue(id);
            }
        }
        while let Some(id) = search.waiting.pop() {
            search.queued.remove(id.as_u32() as usize);
            search.visit(&mut all, id);
        }
        // What nobody calls is looked at as if anybody might.
        for (id, parameters) in all.parameters.iter_mut() {
            if !search.seen.contains(id.as_u32() as usize) {
                parameters.fill(Fact::Anything);
            }
        }
        all
    }

    /// What is assumed of a function of the module.
    pub fn of<'a>(&'a self, module: &'a Module, id: FuncId) -> FunctionConstants<'a> {
        FunctionConstants { all: self, func: &module.functions[id], id }
    }

    /// What a function is passed for a parameter by all its calls.
    pub fn parameter(&self, id: FuncId, number: usize) -> Fact {
        self.parameters[id].get(number).copied().unwrap_or(Fact::Anything)
    }

    /// The function of the module that an instruction calls directly.
    fn callee(&self, func: &Function, inst: Inst) -> Option<FuncId> {
        match &func.insts[inst].op {
            Op::Call(call) => self.callees[call.callee?],
            _ => None,
        }
    }

    /// The functions whose address is an operand somewhere, or that are called with other than their parameters.
    fn escaping(&self, module: &Module) -> SecondaryMap<FuncId, bool> {
        let mut escapes = SecondaryMap::new();
        for func in module.functions.values() {
            for v in func.values.keys() {
                if let Some(Constant::Address { symbol, .. }) = func.constant(v)
                    && let Some(id) = self.callees[*symbol]
                {
                    escapes[id] = true;
                }
            }
            for inst in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
                if let Some(id) = self.callee(func, inst) {
                    let callee = &module.functions[id];
                    let passed = func.insts[inst].args.iter().map(|&a| func.ty(a));
                    escapes[id] |= !passed.eq(callee.params.iter().map(|&p| callee.ty(p)));
                }
            }
        }
        escapes
    }
}

struct Search<'a> {
    module: &'a Module,
    /// Who was seen to call a function.
    callers: SecondaryMap<FuncId, Vec<FuncId>>,
    waiting: Vec<FuncId>,
    queued: BitSet,
    /// What was ever waiting.
    seen: BitSet,
}

impl Search<'_> {
    fn enqueue(&mut self, id: FuncId) {
        self.seen.insert(id.as_u32() as usize);
        if self.queued.insert(id.as_u32() as usize) {
            self.waiting.push(id);
        }
    }

    /// Solves a function and passes on what it passes and returns.
    fn visit(&mut self, all: &mut ModuleConstants, id: FuncId) {
        let func = &self.module.functions[id];
        let code = Code::of(func);
        let ssi = ssify(code.program(), &Constants::<()>::STRATEGY);
        let problem = Constants::with(self.module, func, &code, all.of(self.module, id));
        let found = solve_forward(code.program(), &ssi, &problem);
        let mut returned = Fact::Nothing;
        for number in 0..code.program().instructions() as u32 {
            let at = Instruction(number);
            let inst = code.inst(at);
            if !found.is_reached(code.program().block_of(at)) {
                continue;
            }
            if func.insts[inst].op == Op::Ret && !func.insts[inst].args.is_empty() {
                returned.meet(&operand(&code, &ssi, &found, at, 0));
            }
            if let Some(callee) = all.callee(func, inst) {
                self.pass(all, id, callee, |k| operand(&code, &ssi, &found, at, k));
            }
        }
        if all.returned[id].as_mut().is_some_and(|fact| fact.meet(&returned)) {
            for k in 0..self.callers[id].len() {
                self.enqueue(self.callers[id][k]);
            }
        }
    }

    /// Lowers the parameters of a callee by what is passed.
    fn pass(
        &mut self,
        all: &mut ModuleConstants,
        caller: FuncId,
        callee: FuncId,
        passed: impl Fn(usize) -> Fact,
    ) {
        let mut lowered = false;
        for (k, fact) in all.parameters[callee].iter_mut().enumerate() {
            lowered |= fact.meet(&passed(k));
        }
        if self.callers[callee].last() != Some(&caller) {
            self.callers[callee].push(caller);
        }
        if lowered || !self.seen.contains(callee.as_u32() as usize) {
            self.enqueue(callee);
        }
    }
}

/// What is known of an operand where an instruction uses it.
fn operand(code: &Code, ssi: &Ssi, found: &SparseForward<Fact>, at: Instruction, k: usize) -> Fact {
    let slot = code.program().use_slots(at).start + k;
    ssi.used(slot).map_or(Fact::Nothing, |version| *found.fact(version))
}
