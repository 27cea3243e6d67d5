//! The overlay of split live ranges, written into the function.

use std::cell::OnceCell;
use std::collections::HashSet;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use warpline_analysis::dataflow::{Instruction, Variable};
use warpline_analysis::ssi::{Ssi, Version};
use warpline_analysis::{DfsOrder, EdgeId, Graph as _, Node};

use crate::Code;
use warpline_ir::{Block, Function, Inst, Op, Type, Value, ValueData, ValueDef};

/// What was written into a function.
#[derive(Clone, Debug, Default)]
pub struct Materialized {
    versions: SecondaryMap<Value, Option<Version>>,
    /// How many φs were added.
    pub phis: usize,
    /// How many σs were added, one for all out-edges of a block.
    pub sigmas: usize,
    /// How many values were copied.
    pub copies: usize,
}

impl Materialized {
    /// The version that a value was added for. `None` for what was there before, and for the results of σs on edges
    /// where the variable has no version.
    pub fn version(&self, value: Value) -> Option<Version> {
        self.versions[value]
    }
}

/// Writes the φs, σs and parallel copies that splitting has added into a function. `code` is the program of this
/// function, `ssi` its split live ranges. New values have the name of their variable and a number.
///
/// * The copies in parallel with an instruction are one parallel copy right behind it, or before it if it is a
///   terminator: they read nothing that it defines, and it reads nothing that they define.
/// * The σs of a block have a result for each out-edge, also where the variable has no version.
/// * Variables of the function that have several versions become values: reads and writes of them are copies then.
/// * What is not defined on some way is `poison` on that way. Definitions of values dominate their uses, so this
///   happens to them only where code is never executed; there the value itself stands in, so that φs still stand for
///   one value.
///
/// The function must be in strict SSA form but for its variables, and without σs; it is in strict SSA form
/// afterwards. Time is linear in the sizes of function and overlay.
pub fn materialize(func: &mut Function, code: &Code, ssi: &Ssi) -> Materialized {
    let mut writer = Writer {
        values: vec![None.into(); ssi.versions()],
        names: Names::of(func, code.program().variables()),
        done: Materialized::default(),
        phis_before: SecondaryMap::new(),
        reached: OnceCell::new(),
        func,
        code,
        ssi,
    };
    writer.plain();
    for b in writer.func.layout.clone() {
        writer.define(b);
    }
    for b in writer.func.layout.clone() {
        writer.connect(b);
    }
    writer.done
}

struct Writer<'a> {
    func: &'a mut Function,
    code: &'a Code,
    ssi: &'a Ssi,
    /// Per version the value that it is.
    values: Vec<PackedOption<Value>>,
    /// How many φs a block had.
    phis_before: SecondaryMap<Block, usize>,
    /// Which blocks are reachable, once it matters.
    reached: OnceCell<DfsOrder>,
    names: Names,
    done: Materialized,
}

impl Writer<'_> {
    /// Versions that need no instruction: values themselves, and what variables hold on entry.
    fn plain(&mut self) {
        for k in 0..self.code.program().variables() {
            let variable = Variable(k as u32);
            self.values[k] = match (self.code.value(variable), self.code.var(variable)) {
                (Some(v), _) => v.into(),
                (None, Some(x)) if self.ssi.is_split(variable) => self.func.unwritten_value(x).into(),
                _ => None.into(),
            };
        }
    }

    fn instructions(&self, b: Block) -> impl Iterator<Item = Instruction> + Clone + use<> {
        self.code.program().block(Node::from(b)).map(Instruction)
    }

    /// Makes what defines versions in a block. Operands follow when all are made.
    fn define(&mut self, b: Block) {
        let node = Node::from(b);
        self.phis_before[b] = self.func.blocks[b].phis.len();
        for &v in self.ssi.phis_at(node) {
            let made = self.func.add_phi(b, self.type_of(self.ssi.variable(v)));
            self.made(v, made);
            self.done.phis += 1;
        }
        let mut copies: Vec<(Inst, Inst)> = Vec::new();
        for at in self.instructions(b) {
            let inst = self.code.inst(at);
            if let Op::WriteVar(x) = self.func.insts[inst].op
                && self.ssi.is_split(self.code.variable_of(x))
            {
                self.write(at, inst, self.func.vars[x].ty);
            }
            if !self.ssi.copies_at(at).is_empty() {
                copies.push((inst, self.copy(b, at)));
            }
        }
        self.put_behind(b, &copies);
        if self.code.program().graph().out_edges(node).iter().any(|&e| !self.ssi.sigmas_at(e).is_empty()) {
            self.sigmas(b);
        }
    }

    /// A write of a variable becomes a copy of what is written.
    fn write(&mut self, at: Instruction, inst: Inst, ty: Type) {
        let def = ValueDef::Inst(inst, 0);
        let made = self.func.values.push(ValueData { ty, def, name: "".into() });
        self.func.insts[inst].results.push(made);
        self.func.insts[inst].op = Op::ParallelCopy;
        let version = self.ssi.defined(self.code.program().definition_slots(at).start);
        // Code that is never executed writes what the variable holds on entry.
        if version.index() >= self.code.program().variables() {
            self.made(version, made);
        }
    }

    /// The copies in parallel with an instruction.
    fn copy(&mut self, b: Block, at: Instruction) -> Inst {
        let versions = self.ssi.copies_at(at);
        let types: Vec<Type> = versions.iter().map(|&v| self.type_of(self.ssi.variable(v))).collect();
        let copy = self.func.make_inst(b, Op::ParallelCopy, &[], &types);
        for (k, &v) in versions.iter().enumerate() {
            self.made(v, self.func.insts[copy].results[k]);
        }
        self.done.copies += versions.len();
        copy
    }

    /// Puts copies behind their instructions, those of the terminator before it; both are in order.
    fn put_behind(&mut self, b: Block, copies: &[(Inst, Inst)]) {
        if copies.is_empty() {
            return;
        }
        let mut copies = copies.iter().peekable();
        let mut insts = Vec::with_capacity(self.func.blocks[b].insts.len() + copies.len());
        for &i in &self.func.blocks[b].insts {
            insts.push(i);
            insts.extend(copies.next_if(|c| c.0 == i).map(|c| c.1));
        }
        insts.extend(copies.map(|c| c.1));
        self.func.blocks[b].insts = insts;
    }

    /// The σs of a block, ordered by variable.
    fn sigmas(&mut self, b: Block) {
        let edges = self.code.program().graph().out_edges(Node::from(b));
        let mut all: Vec<(Variable, usize, Version)> = Vec::new();
        for (k, &e) in edges.iter().enumerate() {
            all.extend(self.ssi.sigmas_at(e).iter().map(|&v| (self.ssi.variable(v), k, v)));
        }
        all.sort();
        for group in all.chunk_by(|a, b| a.0 == b.0) {
            let inst = self.func.add_sigma(b, self.value(Version(group[0].0.0)));
            for &(_, k, v) in group {
                self.made(v, self.func.insts[inst].results[k]);
            }
            self.done.sigmas += 1;
        }
    }

    /// Lets everything in a block use the versions that it uses.
    fn connect(&mut self, b: Block) {
        let program = self.code.program();
        let node = Node::from(b);
        for at in self.instructions(b) {
            let inst = self.code.inst(at);
            for (k, slot) in program.use_slots(at).enumerate() {
                let variable = program.uses(at)[k];
                if self.ssi.is_split(variable) {
                    let held = self.held(self.ssi.used(slot), variable, node);
                    self.set_operand(inst, k, held);
                }
            }
            for &v in self.ssi.copies_at(at) {
                self.connect_added(v, node);
            }
        }
        for &e in program.graph().out_edges(node) {
            for (k, slot) in program.phi_slots(e).enumerate() {
                let variable = program.phis(e)[k].operand;
                if self.ssi.is_split(variable) {
                    let held = self.held(self.ssi.phi_operand(slot), variable, node);
                    self.func.set_phi_arg(self.code.edge(e), k, held);
                }
            }
            for &v in self.ssi.sigmas_at(e) {
                self.connect_added(v, node);
            }
        }
        for (k, &v) in self.ssi.phis_at(node).iter().enumerate() {
            let in_edges: Vec<EdgeId> = program.graph().in_edges(node).to_vec();
            for (e, operand) in in_edges.into_iter().zip(self.ssi.operands(v)) {
                let held = self.held(operand, self.ssi.variable(v), program.graph().source(e));
                self.func.set_phi_arg(self.code.edge(e), self.phis_before[b] + k, held);
            }
        }
    }

    /// Sets an operand. A read of a variable, whose operand that is, becomes a copy.
    fn set_operand(&mut self, inst: Inst, k: usize, held: Value) {
        let data = &mut self.func.insts[inst];
        match data.args.get_mut(k) {
            Some(arg) => *arg = held,
            None => {
                data.op = Op::ParallelCopy;
                data.args.push(held);
            }
        }
    }

    /// Gives the copy or σ that defines a version its operand.
    fn connect_added(&mut self, v: Version, node: Node) {
        let operand = self.ssi.operands(v).next().flatten();
        let held = self.held(operand, self.ssi.variable(v), node);
        let inst = self.func.def_inst(self.value(v)).expect("copies and σs are instructions");
        match self.func.insts[inst].op {
            Op::Sigma => self.func.insts[inst].args[0] = held,
            _ => self.func.insts[inst].args.push(held),
        }
    }

    /// What is used at the end of, or in, the block `node`.
    fn held(&mut self, version: Option<Version>, variable: Variable, node: Node) -> Value {
        if let Some(v) = version {
            return self.value(v);
        }
        let reached = self.reached.get_or_init(|| DfsOrder::compute(self.code.program().graph()));
        match self.code.value(variable).filter(|_| !reached.is_reachable(node)) {
            Some(v) => v,
            None => self.func.poison(self.type_of(variable)),
        }
    }

    fn value(&self, v: Version) -> Value {
        self.values[v.index()].expect("every version of a split variable was made")
    }

    fn type_of(&self, variable: Variable) -> Type {
        match (self.code.value(variable), self.code.var(variable)) {
            (Some(v), _) => self.func.ty(v),
            (None, Some(x)) => self.func.vars[x].ty,
            (None, None) => unreachable!("a variable is one or the other"),
        }
    }

    /// Notes which value a version is, and names it.
    fn made(&mut self, version: Version, value: Value) {
        self.values[version.index()] = value.into();
        self.done.versions[value] = Some(version);
        let variable = self.ssi.variable(version);
        let name = match (self.code.value(variable), self.code.var(variable)) {
            (Some(v), _) => &self.func.values[v].name,
            (None, Some(x)) => &self.func.vars[x].name,
            (None, None) => return,
        };
        if !name.is_empty() {
            self.func.values[value].name = self.names.fresh(name, variable);
        }
    }
}

/// Names for versions: that of the variable with the next number that makes it unique.
struct Names {
    taken: HashSet<Box<str>>,
    /// By variable.
    last: Vec<u32>,
}

impl Names {
    fn of(func: &Function, variables: usize) -> Names {
        let taken = func.values.values().filter(|v| !v.name.is_empty()).map(|v| v.name.clone());
        Names { taken: taken.collect(), last: vec![0; variables] }
    }

    fn fresh(&mut self, name: &str, variable: Variable) -> Box<str> {
        let number = &mut self.last[variable.index()];
        loop {
            *number += 1;
            let fresh: Box<str> = format!("{name}.{number}").into();
            if self.taken.insert(fresh.clone()) {
                return fresh;
            }
        }
    }
}
