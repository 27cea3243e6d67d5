//! The whole module: functions are solved again until nothing more is tainted between them.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::EntitySet;
use warpline_analysis::Node;
use warpline_analysis::dataflow::Instruction;
use warpline_analysis::ssi::{Strategy, ssify};

use super::calls::Calls;
use super::cells::{Cell, Cells};
use super::checks::{Checks, Writes, writes};
use super::flows::{Conclusion, Flows, Premise};
use super::problem::{Taint, TaintProblem};
use super::spec::At;
use crate::report::{Solver, Work};
use crate::{Code, Solved};
use warpline_ir::{FuncId, Inst, Value};

/// What is tainted between functions. It only grows.
#[derive(Default)]
pub(super) struct Around {
    cells: Vec<bool>,
    params: BTreeSet<(FuncId, u32)>,
    /// Functions that return tainted data.
    pub returned: EntitySet<FuncId>,
    /// Functions that unknown code may call, with anything that it may reach.
    roots: EntitySet<FuncId>,
    elsewhere: usize,
}

impl Around {
    /// Whether what is in a cell is tainted.
    pub(super) fn is_tainted(&self, cell: Cell) -> bool {
        self.cells[cell.0 as usize]
    }

    /// Whether a parameter is tainted.
    pub(super) fn is_param_tainted(&self, id: FuncId, number: u32) -> bool {
        self.params.contains(&(id, number)) || self.roots.contains(id) && self.cells[self.elsewhere]
    }
}

/// What is tainted in a function and around it, and by what.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Place {
    /// A value where it is defined.
    Value(FuncId, Value),
    /// Memory.
    Cell(Cell),
    /// A parameter.
    Param(FuncId, u32),
    /// What a function returns.
    Returned(FuncId),
}

/// A function with its program and solution.
pub(super) struct Solution {
    pub code: Code,
    pub checks: Checks,
    pub solved: Solved<Taint>,
}

/// The solution for a module.
pub(super) struct Whole<'a> {
    pub flows: &'a Flows<'a>,
    pub around: Around,
    /// Of the functions that anything tainted comes to.
    pub solutions: BTreeMap<FuncId, Solution>,
    pub work: Work,
    pub compare: bool,
    /// Functions by the memory that they read.
    readers: BTreeMap<Cell, Vec<FuncId>>,
    callers: BTreeMap<FuncId, Vec<FuncId>>,
    dirty: BTreeSet<FuncId>,
    /// What taints cells, parameters and returned values.
    pub causes: BTreeMap<Place, Vec<(FuncId, Inst, Premise)>>,
}

/// Solves a module.
pub(super) fn solve<'a>(
    flows: &'a Flows<'a>,
    calls: &Calls,
    cells: &Cells,
    compare: bool,
    solver: Solver,
) -> Whole<'a> {
    let mut whole = Whole {
        flows,
        around: Around {
            cells: vec![false; cells.numbers()],
            elsewhere: cells.elsewhere().0 as usize,
            ..Around::default()
        },
        solutions: BTreeMap::new(),
        work: Work::default(),
        compare,
        readers: BTreeMap::new(),
        callers: BTreeMap::new(),
        dirty: BTreeSet::new(),
        causes: BTreeMap::new(),
    };
    whole.prepare(calls, cells);
    let writes = writes(flows);
    while let Some(id) = whole.dirty.pop_first() {
        whole.function(id, &writes, solver);
    }
    whole
}

impl Whole<'_> {
    /// Notes who reads what, and where sources are.
    fn prepare(&mut self, calls: &Calls, cells: &Cells) {
        let flows = self.flows;
        let mut given = Vec::new();
        for (id, func) in flows.module.functions.iter() {
            if calls.is_root(id) {
                self.around.roots.insert(id);
                self.readers.entry(cells.elsewhere()).or_default().push(id);
            }
            for inst in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
                let mut premises = Vec::new();
                flows.at(id, inst, &mut |_, from| premises.push(from));
                premises.extend(flows.sinks(id, inst).into_iter().map(|(_, p)| p));
                for premise in premises {
                    match premise {
                        Premise::Source => {
                            self.dirty.insert(id);
                        }
                        Premise::Cell(cell) | Premise::Behind(_, cell) => {
                            self.readers.entry(cell).or_default().push(id);
                        }
                        Premise::Returned(callee) => self.callers.entry(callee).or_default().push(id),
                        Premise::Operand(_) => {}
                    }
                }
            }
            for entry in calls.given(id) {
                let params = func.params.len();
                let numbers = match entry.spot.at {
                    At::Argument(k) => k..(k + 1).min(params),
                    At::From(k) => k..params,
                    At::Result | At::Whole => 0..0,
                };
                for k in numbers {
                    match entry.spot.depth {
                        0 => given.push(Place::Param(id, k as u32)),
                        depth => {
                            let cell = cells.behind(id, func.params[k], depth);
                            given.extend(cell.map(Place::Cell));
                        }
                    }
                }
            }
        }
        for list in self.readers.values_mut().chain(self.callers.values_mut()) {
            list.dedup();
        }
        // Only now is it known who reads what.
        given.into_iter().for_each(|place| self.taint(place));
    }

    /// Notes that something between functions is tainted; those that it concerns are solved again.
    fn taint(&mut self, place: Place) {
        match place {
            Place::Cell(cell) if !std::mem::replace(&mut self.around.cells[cell.0 as usize], true) => {
                self.dirty.extend(self.readers.get(&cell).into_iter().flatten());
            }
            Place::Param(id, k) if self.around.params.insert((id, k)) => {
                self.dirty.insert(id);
            }
            Place::Returned(id) if self.around.returned.insert(id) => {
                self.dirty.extend(self.callers.get(&id).into_iter().flatten());
                if self.around.roots.contains(id) {
                    self.taint(Place::Cell(Cell(self.around.elsewhere as u32)));
                }
            }
            Place::Value(..) | Place::Cell(_) | Place::Param(..) | Place::Returned(_) => {}
        }
    }

    fn function(&mut self, id: FuncId, writes: &Writes, solver: Solver) {
        let func = &self.flows.module.functions[id];
        let (code, checks) = match self.solutions.remove(&id) {
            Some(old) => (old.code, old.checks),
            None => {
                let (checks, additions) = Checks::new(self.flows, id, writes, self.compare);
                (Code::extended(func, &additions), checks)
            }
        };
        let problem = TaintProblem {
            flows: self.flows,
            id,
            code: &code,
            checks: &checks,
            around: &self.around,
            compare: self.compare,
        };
        let solved = Solved::forward(code.program(), |p| ssify(p, &Strategy::E_SSA), &problem, solver);
        self.work += solved.work();
        self.solutions.insert(id, Solution { code, checks, solved });
        let mut tainted = Vec::new();
        self.each(id, &mut |_, place, _| tainted.push(place));
        tainted.into_iter().for_each(|place| self.taint(place));
    }

    /// Tells `found` what a function that is solved taints outside of its values, and by what.
    fn each(&self, id: FuncId, found: &mut dyn FnMut(Inst, Place, Premise)) {
        let Some(solution) = self.solutions.get(&id) else { return };
        let program = solution.code.program();
        let func = &self.flows.module.functions[id];
        for &b in func.layout.iter().filter(|&&b| solution.solved.is_reached(Node::from(b))) {
            for at in program.block(Node::from(b)).map(Instruction) {
                let inst = solution.code.inst(at);
                self.flows.at(id, inst, &mut |to, from| {
                    let place = match to {
                        Conclusion::Result => return,
                        Conclusion::Cell(cell) => Place::Cell(cell),
                        Conclusion::Param(id, k) => Place::Param(id, k),
                        Conclusion::Returned => Place::Returned(id),
                    };
                    if self.holds(id, at, from) {
                        found(inst, place, from);
                    }
                });
            }
        }
    }

    /// Whether a premise holds at an instruction.
    pub(super) fn holds(&self, id: FuncId, at: Instruction, premise: Premise) -> bool {
        let Some(Solution { code, checks, solved }) = self.solutions.get(&id) else { return false };
        let problem =
            TaintProblem { flows: self.flows, id, code, checks, around: &self.around, compare: self.compare };
        let fact = |k: usize| *solved.used(code.program(), at, k);
        solved.is_reached(code.program().block_of(at)) && problem.holds(code.inst(at), premise, &fact)
    }

    /// Notes what taints cells, parameters and returned values, for explanations.
    pub(super) fn find_causes(&mut self) {
        let mut causes: BTreeMap<Place, Vec<(FuncId, Inst, Premise)>> = BTreeMap::new();
        for &id in self.solutions.keys() {
            self.each(id, &mut |inst, place, from| causes.entry(place).or_default().push((id, inst, from)));
        }
        self.causes = causes;
    }
}
