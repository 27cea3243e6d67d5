//! Checks: values that are clean where a call says so, and memory that is.
//!
//! A value that a sanitizer is asked about is tested by the branch on the sanitizer's result (paper 4, Figure 3). Of
//! a pointer also what it leads to is clean there, until it may be written: for that each pointer that is checked has
//! a variable of its own for its contents, which whatever may write there defines, and whatever reads there through
//! this pointer uses.

use std::collections::BTreeMap;

use warpline_analysis::dataflow::Variable;

use super::calls::Callee;
use super::cells::Cell;
use super::flows::{Conclusion, Flows};
use super::problem::sanitizer;
use super::spec::At;
use crate::conditions;
use crate::memory;
use crate::{Additions, Code};
use warpline_ir::{FuncId, Function, Inst, Op, Type, Value, ValueDef};

/// Which memory each function may write, with what it calls.
pub(super) type Writes = BTreeMap<FuncId, Vec<Cell>>;

/// The checks of a function.
#[derive(Default)]
pub(super) struct Checks {
    /// The pointers whose contents are checked, in the order of their variables.
    pointers: Vec<Value>,
    /// By the result of a check, what is clean where it is true.
    by_result: BTreeMap<Value, Vec<Variable>>,
    /// Of each instruction the numbers of further results that it makes clean.
    cleaned: BTreeMap<Inst, Vec<usize>>,
    /// Of each instruction the contents that it uses, by number, in the order of its further operands.
    used: BTreeMap<Inst, Vec<usize>>,
}

/// The number of the variable that stands for contents that nobody has checked.
const UNCHECKED: usize = 0;

impl Checks {
    /// Finds the checks of a function, and what its program needs for them.
    pub(super) fn new(flows: &Flows<'_>, id: FuncId, writes: &Writes, compare: bool) -> (Checks, Additions) {
        let func = &flows.module.functions[id];
        let mut checks = Checks::default();
        let mut add = Additions { only_these_tests: !compare, ..Additions::default() };
        for inst in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
            checks.find(flows, func, inst);
        }
        if !checks.pointers.is_empty() {
            add.variables = checks.pointers.len() + 1;
            add.constants = 1;
            checks.follow(flows, id, writes, &mut add);
        }
        checks.test(func, &mut add);
        (checks, add)
    }

    /// The variable for the contents of a pointer.
    fn contents(func: &Function, number: usize) -> Variable {
        Code::added(func, number + 1)
    }

    fn number(&mut self, pointer: Value) -> usize {
        self.pointers.iter().position(|&p| p == pointer).unwrap_or_else(|| {
            self.pointers.push(pointer);
            self.pointers.len() - 1
        })
    }

    /// Notes what a call checks or cleans.
    fn find(&mut self, flows: &Flows<'_>, func: &Function, inst: Inst) {
        let Some(symbol) = sanitizer(flows, func, inst) else { return };
        for entry in flows.calls.sanitizers(symbol) {
            let At::Argument(k) = entry.spot.at else { continue };
            let Some(&arg) = memory::arguments(func, inst).get(k) else { continue };
            if func.constant(arg).is_some() && !func.ty(arg).is_ptr() {
                continue;
            }
            let pointer = func.ty(arg).is_ptr().then(|| self.number(start(func, arg)));
            if entry.spot.depth == 0
                && let Some(&result) = func.insts[inst].results.first()
            {
                let clean = self.by_result.entry(result).or_default();
                clean.push(Variable(arg.as_u32()));
                clean.extend(pointer.map(|n| Checks::contents(func, n)));
            }
        }
    }

    /// Says where contents are used and defined.
    fn follow(&mut self, flows: &Flows<'_>, id: FuncId, writes: &Writes, add: &mut Additions) {
        let func = &flows.module.functions[id];
        for (number, &pointer) in self.pointers.iter().enumerate() {
            let variable = Checks::contents(func, number);
            let cell = flows.cells.behind(id, pointer, 1);
            for &b in &func.layout {
                for inst in func.block_insts(b) {
                    let data = &func.insts[inst];
                    if data.op == Op::Phi {
                        if data.results[0] == pointer {
                            let from = Code::added(func, UNCHECKED);
                            add.assigned.entry(b).or_default().push((variable, from));
                        }
                        continue;
                    }
                    if data.args.iter().any(|&v| func.ty(v) == func.ty(pointer) && start(func, v) == pointer)
                    {
                        add.uses.entry(inst).or_default().push(variable);
                        self.used.entry(inst).or_default().push(number);
                    }
                    let cleans = cleans(flows, func, inst, pointer);
                    let is_new = data.results.contains(&pointer);
                    if cleans || is_new || may_write(flows, id, writes, inst, cell) {
                        let results = add.definitions.entry(inst).or_default();
                        if cleans {
                            self.cleaned.entry(inst).or_default().push(results.len());
                        }
                        results.push(variable);
                    }
                }
            }
        }
    }

    /// Says where blocks test what is checked.
    fn test(&self, func: &Function, add: &mut Additions) {
        let mut tested = Vec::new();
        for &b in &func.layout {
            conditions::tested(func, b, &mut tested);
            for t in &tested {
                for &v in self.by_result.get(&t.value).into_iter().flatten() {
                    let is_constant = |v: Variable| {
                        func.values.is_valid(Value::from_u32(v.0))
                            && func.constant(Value::from_u32(v.0)).is_some()
                    };
                    let list = add.tests.entry(b).or_default();
                    if !list.contains(&v) && !is_constant(v) {
                        list.push(v);
                    }
                }
            }
        }
    }

    /// What is clean where a value is true.
    pub(super) fn checked_by(&self, value: Value) -> &[Variable] {
        self.by_result.get(&value).map_or(&[], |list| list)
    }

    /// The numbers of further results of an instruction that are clean behind it.
    pub(super) fn cleaned(&self, inst: Inst) -> &[usize] {
        self.cleaned.get(&inst).map_or(&[], |list| list)
    }

    /// The operand of the instruction that stands for the contents of its operand `k`, if these are checked somewhere.
    pub(super) fn operand(&self, func: &Function, inst: Inst, k: usize) -> Option<usize> {
        let used = self.used.get(&inst)?;
        let args = &func.insts[inst].args;
        let pointer = start(func, args[k]);
        let at = used.iter().position(|&n| self.pointers[n] == pointer)?;
        Some(args.len() + at)
    }
}

/// The pointer from which a pointer is zero bytes away.
fn start(func: &Function, mut pointer: Value) -> Value {
    while let ValueDef::Inst(inst, _) = func.values[pointer].def {
        let data = &func.insts[inst];
        let unmoved = || data.args[1..].iter().all(|&i| func.as_int(i) == Some(0));
        match data.op {
            Op::Gep(_) if matches!(func.ty(data.args[0]), Type::Ptr(_)) && unmoved() => {
                pointer = data.args[0]
            }
            _ => break,
        }
    }
    pointer
}

/// Whether a call makes what a pointer leads to clean.
fn cleans(flows: &Flows<'_>, func: &Function, inst: Inst, pointer: Value) -> bool {
    let Some(symbol) = sanitizer(flows, func, inst) else { return false };
    flows.calls.sanitizers(symbol).iter().any(|e| {
        let At::Argument(k) = e.spot.at else { return false };
        let arg = memory::arguments(func, inst).get(k);
        e.spot.depth == 1 && arg.is_some_and(|&a| start(func, a) == pointer)
    })
}

/// Whether an instruction may write to a cell.
fn may_write(flows: &Flows<'_>, id: FuncId, writes: &Writes, inst: Inst, cell: Option<Cell>) -> bool {
    let Some(cell) = cell else { return false };
    written(flows, id, inst).contains(&cell) || {
        let func = &flows.module.functions[id];
        match flows.calls.callee(flows.module, func, inst) {
            Callee::Body(callee) => writes.get(&callee).is_none_or(|w| w.contains(&cell)),
            _ => false,
        }
    }
}

/// The cells that an instruction itself may write.
fn written(flows: &Flows<'_>, id: FuncId, inst: Inst) -> Vec<Cell> {
    let mut cells = Vec::new();
    flows.at(id, inst, &mut |to, _| {
        if let Conclusion::Cell(cell) = to {
            cells.push(cell);
        }
    });
    cells
}

/// Which memory each function may write.
pub(super) fn writes(flows: &Flows<'_>) -> Writes {
    let functions = || flows.module.functions.iter();
    let mut all: Writes = functions().map(|(id, _)| (id, Vec::new())).collect();
    let mut callees: BTreeMap<FuncId, Vec<FuncId>> = BTreeMap::new();
    for (id, func) in functions() {
        let mut cells: Vec<Cell> = Vec::new();
        for inst in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
            cells.extend(written(flows, id, inst));
            if let Callee::Body(callee) = flows.calls.callee(flows.module, func, inst) {
                callees.entry(id).or_default().push(callee);
            }
        }
        cells.sort_unstable();
        cells.dedup();
        all.insert(id, cells);
    }
    loop {
        let mut changed = false;
        for (id, list) in &callees {
            let mut cells = all[id].clone();
            cells.extend(list.iter().flat_map(|c| all[c].iter().copied()));
            cells.sort_unstable();
            cells.dedup();
            changed |= cells.len() > all[id].len();
            all.insert(*id, cells);
        }
        if !changed {
            return all;
        }
    }
}
