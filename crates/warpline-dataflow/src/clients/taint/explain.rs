//! Why something is tainted: the shortest chain from there to a source.

use std::collections::BTreeMap;

use serde::Serialize;
use warpline_analysis::Node;
use warpline_analysis::dataflow::Instruction;

use super::flows::{Conclusion, Premise};
use super::problem::Taint;
use super::solve::{Place, Whole};
use super::spec::At;
use crate::memory;
use warpline_ir::demangle;
use warpline_ir::{FuncId, Inst, Names, Op, Value, ValueDef};

/// A step of an explanation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Step {
    /// The function.
    pub function: String,
    /// What happens there.
    pub text: String,
    /// Where.
    pub location: Option<warpline_ir::Place>,
}

/// Explanations for a module.
pub(super) struct Explainer<'a> {
    whole: &'a Whole<'a>,
    names: BTreeMap<FuncId, Names>,
    /// Where instructions stand in the programs of their functions.
    positions: BTreeMap<(FuncId, Inst), Instruction>,
}

/// A place that was found on the way back, the one from which it was, and what leads from that to this.
struct Seen {
    place: Place,
    from: Option<usize>,
    step: Option<Step>,
}

impl<'a> Explainer<'a> {
    /// For what has been solved.
    pub(super) fn new(whole: &'a Whole<'a>) -> Explainer<'a> {
        let mut names = BTreeMap::new();
        let mut positions = BTreeMap::new();
        for (&id, solution) in &whole.solutions {
            names.insert(id, Names::new(&whole.flows.module.functions[id]));
            let all = (0..solution.code.program().instructions() as u32).map(Instruction);
            positions.extend(all.map(|at| ((id, solution.code.inst(at)), at)));
        }
        Explainer { whole, names, positions }
    }

    /// The steps from a premise at an instruction back to a source.
    pub(super) fn chain(&self, id: FuncId, inst: Inst, premise: Premise) -> Vec<Step> {
        let Some(first) = self.place(id, inst, premise) else { return Vec::new() };
        let mut seen = vec![Seen { place: first, from: None, step: None }];
        let mut known = std::collections::BTreeSet::from([first]);
        let mut next = 0;
        while next < seen.len() {
            for (step, place) in self.before(seen[next].place) {
                match place {
                    None => return self.steps(&seen, next, step),
                    Some(place) if known.insert(place) => seen.push(Seen { place, from: Some(next), step }),
                    Some(_) => {}
                }
            }
            next += 1;
        }
        Vec::new()
    }

    fn steps(&self, seen: &[Seen], mut at: usize, last: Option<Step>) -> Vec<Step> {
        let mut steps: Vec<Step> = last.into_iter().collect();
        loop {
            steps.extend(seen[at].step.clone());
            match seen[at].from {
                Some(from) => at = from,
                None => break,
            }
        }
        steps.reverse();
        steps
    }

    /// The place that a premise speaks of; none for a source.
    fn place(&self, id: FuncId, inst: Inst, premise: Premise) -> Option<Place> {
        match premise {
            Premise::Source => None,
            Premise::Operand(k) => {
                Some(self.value(id, self.whole.flows.module.functions[id].insts[inst].args[k]))
            }
            Premise::Behind(_, cell) | Premise::Cell(cell) => Some(Place::Cell(cell)),
            Premise::Returned(callee) => Some(Place::Returned(callee)),
        }
    }

    fn value(&self, id: FuncId, v: Value) -> Place {
        match self.whole.flows.module.functions[id].values[v].def {
            ValueDef::Param(k) => Place::Param(id, k),
            _ => Place::Value(id, v),
        }
    }

    /// What taints a place directly: by which step, from where; from nowhere if it is a source.
    fn before(&self, place: Place) -> Vec<(Option<Step>, Option<Place>)> {
        let mut found = match place {
            Place::Value(id, v) => self.before_value(id, v),
            _ => {
                let causes = self.whole.causes.get(&place).into_iter().flatten();
                { causes }
                    .map(|&(id, inst, p)| {
                        (Some(self.step(id, inst, Some(place), p)), self.place(id, inst, p))
                    })
                    .collect()
            }
        };
        let around = &self.whole.around;
        let calls = self.whole.flows.calls;
        let elsewhere = self.whole.flows.cells.elsewhere();
        match place {
            Place::Param(id, k) => {
                let func = &self.whole.flows.module.functions[id];
                let name = self.name(id, func.params[k as usize]);
                let is_this = |at: At| match at {
                    At::Argument(i) => i == k as usize,
                    At::From(i) => i <= k as usize,
                    At::Result | At::Whole => false,
                };
                if calls.given(id).iter().any(|e| e.spot.depth == 0 && is_this(e.spot.at)) {
                    found.push((Some(self.at_function(id, format!("{name} comes from outside"))), None));
                } else if calls.is_root(id) && around.is_tainted(elsewhere) {
                    let text = format!(
                        "{} may be called from outside, with anything in {name}",
                        demangle(&func.name)
                    );
                    found.push((Some(self.at_function(id, text)), Some(Place::Cell(elsewhere))));
                }
            }
            Place::Cell(cell) => {
                // Parameters that are sources.
                for (id, func) in self.whole.flows.module.functions.iter() {
                    for entry in calls.given(id) {
                        let reaches =
                            |&p: &Value| self.whole.flows.cells.behind(id, p, entry.spot.depth) == Some(cell);
                        if entry.spot.depth > 0 && func.params.iter().any(reaches) {
                            let text = format!("the arguments of {} come from outside", demangle(&func.name));
                            found.push((Some(self.at_function(id, text)), None));
                        }
                    }
                }
                if cell == elsewhere {
                    let roots = around.returned.keys().filter(|&id| calls.is_root(id));
                    found.extend(roots.map(|id| {
                        let text = "it may be called from outside, which gets what it returns".to_owned();
                        (Some(self.at_function(id, text)), Some(Place::Returned(id)))
                    }));
                }
            }
            _ => {}
        }
        found
    }

    fn before_value(&self, id: FuncId, v: Value) -> Vec<(Option<Step>, Option<Place>)> {
        let (flows, whole) = (self.whole.flows, self.whole);
        let func = &flows.module.functions[id];
        let (Some(inst), Some(solution)) = (func.def_inst(v), whole.solutions.get(&id)) else {
            return Vec::new();
        };
        let program = solution.code.program();
        if func.insts[inst].op == Op::Phi {
            let position = func.phi_position(inst).unwrap_or_default();
            let edges = program.graph().in_edges(Node::from(func.insts[inst].block)).iter();
            let tainted =
                edges.filter(|&&e| *solution.solved.phi_operand(program, e, position) == Taint::Tainted);
            return tainted
                .map(|&e| func.edges[solution.code.edge(e)].args[position])
                .map(|operand| (None, Some(self.value(id, operand))))
                .collect();
        }
        let Some(&at) = self.positions.get(&(id, inst)) else { return Vec::new() };
        let mut found = Vec::new();
        flows.at(id, inst, &mut |to, from| {
            if to == Conclusion::Result && whole.holds(id, at, from) {
                found.push((Some(self.step(id, inst, None, from)), self.place(id, inst, from)));
            }
        });
        found
    }

    fn name(&self, id: FuncId, v: Value) -> String {
        let func = &self.whole.flows.module.functions[id];
        match (func.constant(v), self.names.get(&id)) {
            (Some(_), _) => "a constant".to_owned(),
            (None, Some(names)) => names.value(func, v),
            (None, None) => func.value_name(v),
        }
    }

    /// An instruction in words.
    pub(super) fn describe(&self, id: FuncId, inst: Inst) -> String {
        let func = &self.whole.flows.module.functions[id];
        let callee = memory::callee(self.whole.flows.module, func, inst);
        match &func.insts[inst].op {
            Op::Call(_) | Op::OpaqueTerm(_) if !callee.is_empty() => {
                format!("the call of {}", demangle(callee))
            }
            Op::Call(_) => "an indirect call".to_owned(),
            op => format!("the {}", op.name()),
        }
    }

    fn step(&self, id: FuncId, inst: Inst, to: Option<Place>, premise: Premise) -> Step {
        let func = &self.whole.flows.module.functions[id];
        let data = &func.insts[inst];
        let name = |k: usize| self.name(id, data.args[k]);
        let from = match premise {
            Premise::Source => "data from outside".to_owned(),
            Premise::Operand(k) => name(k),
            Premise::Behind(k, _) => format!("what is behind {}", name(k)),
            Premise::Cell(_) => "what it can reach in memory".to_owned(),
            Premise::Returned(callee) => {
                format!("what {} returns", demangle(&self.whole.flows.module.functions[callee].name))
            }
        };
        let what = self.describe(id, inst);
        let text = match (to, data.results.first(), premise) {
            (None, Some(&r), Premise::Source) => format!("{} is {from}: {what}", self.name(id, r)),
            (None, Some(&r), _) => format!("{} depends on {from}: {what}", self.name(id, r)),
            (Some(Place::Cell(_)), _, _) => format!("{what} writes {from} to memory"),
            (Some(Place::Param(callee, k)), _, _) => {
                let callee_func = &self.whole.flows.module.functions[callee];
                format!("{what} gives {from} to {}", self.name(callee, callee_func.params[k as usize]))
            }
            (Some(Place::Returned(_)), _, _) => format!("{from} is returned"),
            _ => format!("{what} depends on {from}"),
        };
        let location = warpline_ir::Place::of(self.whole.flows.module, func, data.loc.expand());
        Step { function: func.name.to_string(), text, location }
    }

    fn at_function(&self, id: FuncId, text: String) -> Step {
        let module = self.whole.flows.module;
        let func = &module.functions[id];
        let location = warpline_ir::Place::of(module, func, func.loc.expand());
        Step { function: func.name.to_string(), text, location }
    }
}
