//! Class inference: which methods an object must offer, and so which classes it may be of.
//!
//! Paper 4, Figure 1, after Chambers and Ungar: a *backward* problem of *partitioned lattices*. A fact is the set of
//! methods that may be called of a value from here on, and the set of classes that lack one of them; ⊤ is two empty
//! sets, the meet the union. **Strategies**: *Uses*↑ (static single use, [`Strategy::SSU`]), as for An's types for
//! Ruby; or *Uses*↑ ∪ *Out(Conds)*↑ ([`Strategy::HOCHSTADT`]), where tests of a value's class tell: behind one, only
//! what is demanded of that class counts, and on its other side nothing that is.
//!
//! The language is a small dynamic one in the form of calls: `@object.new.C()` makes an object of the class C,
//! `@method.M(object, …)` calls the method M of an object, which fails if its class has none, `@object.is.C(object)`
//! says whether it is of the class C. A class offers the methods for which there is a symbol `@class.C.M`. **Memory
//! and other calls** demand nothing: an object that is stored, or given to another function, demands what it demands
//! where it is used there, which is not followed. `select`, `freeze` and casts pass demands on. **Poison and undef**
//! are objects of no class.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;
use warpline_analysis::dataflow::{
    Backward, BackwardEdge, BackwardFacts, Instruction, Lattice, Variable, solve_backward,
    solve_backward_dense,
};
use warpline_analysis::ssi::{Strategy, Version, ssify};
use warpline_analysis::{EdgeId, Node};

use crate::report::{Description, Direction, Kind, Report, Solver, Work};
use crate::{Additions, Code, conditions};
use warpline_ir::Place;
use warpline_ir::{Block, FuncId, Function, Inst, Module, Names, Op, Value, ValueDef};

/// What this client is.
pub const DESCRIPTION: Description = Description {
    name: "classes",
    question: "which methods an object must offer, and so which classes it may be of",
    direction: Direction::Backward,
    strategy: "Uses↑",
    kind: Kind::PartitionedLattice,
    reference: "Chambers and Ungar 1989; An, Chaudhuri, Foster and Hicks 2011",
};

/// What this client is where tests of classes tell.
pub const WITH_TESTS: Description = Description {
    name: "occurrence-types",
    question: "the same, where tests of an object's class are taken into account",
    strategy: "Uses↑ ∪ Out(Conds)↑",
    reference: "Tobin-Hochstadt and Felleisen 2008",
    ..DESCRIPTION
};

/// What is demanded of a value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Demand {
    /// The methods that may be called, by number.
    pub methods: BTreeSet<u32>,
    /// The classes that lack one that may be called of them, by number.
    pub misfits: BTreeSet<u32>,
}

impl Lattice for Demand {
    fn top() -> Demand {
        Demand::default()
    }

    fn meet(&mut self, other: &Demand) -> bool {
        let old = (self.methods.len(), self.misfits.len());
        self.methods.extend(&other.methods);
        self.misfits.extend(&other.misfits);
        old != (self.methods.len(), self.misfits.len())
    }
}

/// The classes and methods of a module.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    methods: Vec<String>,
    classes: Vec<String>,
    /// Of each class the methods that it offers.
    offered: Vec<BTreeSet<u32>>,
}

/// What an instruction does with objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Deed {
    /// Makes one of this class.
    Makes(u32),
    /// Calls this method of its first argument.
    Calls(u32),
    /// Asks whether its first argument is of this class.
    Asks(u32),
    /// None of these.
    Other,
}

impl Classes {
    /// Those that a module's symbols name.
    pub fn new(module: &Module) -> Classes {
        let mut all = Classes::default();
        for symbol in module.symbols.values() {
            if let Some((class, method)) = symbol.name.strip_prefix("class.").and_then(|n| n.split_once('.'))
            {
                let (class, method) = (all.class(class), all.method(method));
                all.offered[class as usize].insert(method);
            } else if let Some(name) = symbol.name.strip_prefix("method.") {
                all.method(name);
            } else if let Some(name) =
                symbol.name.strip_prefix("object.new.").or_else(|| symbol.name.strip_prefix("object.is."))
            {
                all.class(name);
            }
        }
        all
    }

    fn class(&mut self, name: &str) -> u32 {
        let found = self.classes.iter().position(|c| c == name);
        found.unwrap_or_else(|| {
            self.classes.push(name.to_owned());
            self.offered.push(BTreeSet::new());
            self.classes.len() - 1
        }) as u32
    }

    fn method(&mut self, name: &str) -> u32 {
        let found = self.methods.iter().position(|m| m == name);
        found.unwrap_or_else(|| {
            self.methods.push(name.to_owned());
            self.methods.len() - 1
        }) as u32
    }

    fn deed(&self, module: &Module, func: &Function, inst: Inst) -> Deed {
        let Op::Call(call) = &func.insts[inst].op else { return Deed::Other };
        let name = call.callee.map(|s| &*module.symbols[s].name).unwrap_or_default();
        let number = |list: &[String], name: &str| list.iter().position(|n| n == name).map(|n| n as u32);
        let class = |prefix| name.strip_prefix(prefix).and_then(|n| number(&self.classes, n));
        let method = name.strip_prefix("method.").and_then(|n| number(&self.methods, n));
        let has_object = !func.insts[inst].args.is_empty();
        match (class("object.new."), method, class("object.is.")) {
            (Some(c), ..) => Deed::Makes(c),
            (_, Some(m), _) if has_object => Deed::Calls(m),
            (.., Some(c)) if has_object => Deed::Asks(c),
            _ => Deed::Other,
        }
    }

    /// What a call of a method demands.
    fn demand(&self, method: u32) -> Demand {
        let misfits = (0..self.classes.len() as u32).filter(|&c| !self.offered[c as usize].contains(&method));
        Demand { methods: BTreeSet::from([method]), misfits: misfits.collect() }
    }
}

/// The problem of one function.
pub struct ClassInference<'a> {
    module: &'a Module,
    func: &'a Function,
    code: &'a Code,
    classes: &'a Classes,
}

impl<'a> ClassInference<'a> {
    /// The problem of `func`, of which `code` is the program.
    pub fn new(module: &'a Module, func: &'a Function, code: &'a Code, classes: &'a Classes) -> Self {
        ClassInference { module, func, code, classes }
    }

    /// The object that a value asks about, and the class, if it is the result of such a question.
    fn question(&self, value: Value) -> Option<(Value, u32)> {
        let inst = self.func.def_inst(value)?;
        match self.classes.deed(self.module, self.func, inst) {
            Deed::Asks(class) => Some((self.func.insts[inst].args[0], class)),
            _ => None,
        }
    }
}

impl Backward for ClassInference<'_> {
    type Fact = Demand;

    fn instruction(&self, at: Instruction, facts: &mut impl BackwardFacts<Demand>) {
        let inst = self.code.inst(at);
        match &self.func.insts[inst].op {
            Op::Select => {
                let demand = facts.result(0).clone();
                facts.lower(1, demand.clone());
                facts.lower(2, demand);
            }
            Op::Freeze | Op::Cast(_) | Op::ReadVar(_) | Op::WriteVar(_) => {
                let demand = facts.result(0).clone();
                facts.lower(0, demand);
            }
            Op::ParallelCopy => {
                for k in 0..self.func.insts[inst].results.len() {
                    let demand = facts.result(k).clone();
                    facts.lower(k, demand);
                }
            }
            _ => {
                if let Deed::Calls(method) = self.classes.deed(self.module, self.func, inst) {
                    facts.lower(0, self.classes.demand(method));
                }
            }
        }
    }

    fn edge(&self, edge: EdgeId, facts: &mut impl BackwardEdge<Demand>) {
        let edge = self.code.edge(edge);
        let tests = self.code.program().tests(self.func.edges[edge].from.into());
        for holds in conditions::on_edge(self.func, edge) {
            let conditions::Holds::Is(value, is) = holds else { continue };
            let Some((object, class)) = self.question(value) else { continue };
            let Some(k) = tests.iter().position(|t| t.variable == self.code.variable(object)) else {
                continue;
            };
            let mut demand = facts.after(k).clone();
            if is == 0 {
                demand.misfits.remove(&class);
            } else {
                // Objects of other classes do not come here, so nothing is demanded of them.
                demand.misfits.retain(|&c| c == class);
                demand.methods.clear();
            }
            facts.replace(k, demand);
        }
    }
}

/// The program of a function; with `tests`, blocks that ask for the class of an object test it.
pub fn program(module: &Module, func: &Function, classes: &Classes, tests: bool) -> Code {
    let mut add = Additions { only_these_tests: true, ..Additions::default() };
    if tests {
        let mut tested = Vec::new();
        let mut objects: BTreeMap<Block, Vec<Variable>> = BTreeMap::new();
        for &b in &func.layout {
            conditions::tested(func, b, &mut tested);
            for t in &tested {
                let Some(inst) = func.def_inst(t.value) else { continue };
                let object = || func.insts[inst].args[0];
                let asks = matches!(classes.deed(module, func, inst), Deed::Asks(_));
                if asks && func.constant(object()).is_none() {
                    let list = objects.entry(b).or_default();
                    let variable = Variable(object().as_u32());
                    if !list.contains(&variable) {
                        list.push(variable);
                    }
                }
            }
        }
        add.tests = objects;
    }
    Code::extended(func, &add)
}

/// What was found in a function.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ClassReport {
    /// The values of which a method may be called, where they are defined.
    pub objects: Vec<ObjectReport>,
}

/// A value that is an object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ObjectReport {
    /// Its name.
    pub value: String,
    /// The methods that it must offer, whatever its class.
    pub methods: Vec<String>,
    /// The classes of the module that it may be of.
    pub fits: Vec<String>,
    /// The class of which it is made, if it does not fit.
    pub misfit: Option<String>,
    /// Where it is defined.
    pub location: Option<Place>,
}

/// Analyses a function in SSA form; with `tests`, what is asked about classes tells.
pub fn analyse(module: &Module, id: FuncId, tests: bool, solver: Solver) -> (ClassReport, Work) {
    let func = &module.functions[id];
    let classes = Classes::new(module);
    let code = program(module, func, &classes, tests);
    let problem = ClassInference::new(module, func, &code, &classes);
    let program = code.program();
    let strategy = if tests { Strategy::HOCHSTADT } else { Strategy::SSU };
    let results = func.layout.iter().flat_map(|&b| func.block_insts(b)).flat_map(|i| &func.insts[i].results);
    let values = func.params.iter().chain(results).copied();
    let (demands, work): (Vec<(Value, Demand)>, Work) = match solver {
        Solver::Sparse => {
            let ssi = ssify(program, &strategy);
            let solution = solve_backward(program, &ssi, &problem);
            let work = Work { versions: ssi.versions(), steps: solution.steps() };
            (values.map(|v| (v, solution.fact(Version(v.as_u32())).clone())).collect(), work)
        }
        Solver::Dense => {
            let solution = solve_backward_dense(program, &problem);
            let at = |v: Value| match func.values[v].def {
                ValueDef::Inst(i, _) if func.insts[i].op != Op::Phi => {
                    let at = position(&code, func, i)?;
                    Some(solution.after(at, code.variable(v)))
                }
                ValueDef::Inst(i, _) => {
                    Some(solution.at_entry(Node::from(func.insts[i].block), code.variable(v)))
                }
                _ => Some(solution.at_entry(Node::from(func.entry()), code.variable(v))),
            };
            let work = Work { versions: 0, steps: solution.steps() };
            (values.map(|v| (v, at(v).unwrap_or_default())).collect(), work)
        }
    };
    let names = Names::new(func);
    let objects = demands.into_iter().filter_map(|(v, demand)| {
        let inst = func.def_inst(v);
        let made = inst.and_then(|i| match classes.deed(module, func, i) {
            Deed::Makes(class) => Some(class),
            _ => None,
        });
        if demand == Demand::default() && made.is_none() {
            return None;
        }
        let fits = (0..classes.classes.len() as u32).filter(|c| !demand.misfits.contains(c));
        let class = |c: u32| classes.classes[c as usize].clone();
        Some(ObjectReport {
            value: names.value(func, v),
            methods: demand.methods.iter().map(|&m| classes.methods[m as usize].clone()).collect(),
            fits: fits.map(class).collect(),
            misfit: made.filter(|c| demand.misfits.contains(c)).map(class),
            location: inst.and_then(|i| Place::of(module, func, func.insts[i].loc.expand())),
        })
    });
    (ClassReport { objects: objects.collect() }, work)
}

/// Where an instruction stands in the program.
fn position(code: &Code, func: &Function, inst: Inst) -> Option<Instruction> {
    let mut block = code.program().block(Node::from(func.insts[inst].block)).map(Instruction);
    block.find(|&at| code.inst(at) == inst)
}

impl Report for ClassReport {
    fn write_text(&self, out: &mut String) {
        for o in &self.objects {
            let place = o.location.as_ref().map(|p| format!("{p}: ")).unwrap_or_default();
            let or_none = |list: &[String]| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
            let _ = write!(out, "  {place}{}: methods {}; ", o.value, or_none(&o.methods));
            let _ = write!(out, "classes that fit: {}", or_none(&o.fits));
            let misfit = o.misfit.as_ref().map(|c| format!("; but it is of the class {c}"));
            let _ = writeln!(out, "{}", misfit.unwrap_or_default());
        }
    }

    fn findings(&self) -> usize {
        self.objects.iter().filter(|o| o.misfit.is_some()).count()
    }
}
