//! A function as a program of variables: values first, then the variables of code that is not in SSA form.

use std::collections::BTreeMap;

use warpline_analysis::dataflow::{Instruction, Program, ProgramBuilder, TestKind, Variable};
use warpline_analysis::{EdgeId, Node};

use super::conditions::{self, FirstParts, Tested};
use warpline_ir::{Block, Edge, Function, Inst, Op, Value, ValueDef, Var};

/// What a client adds to the program of a function: variables of its own, such as memory, and where they are used,
/// defined and tested. [`Code::added`] says which variables they are.
#[derive(Clone, Debug, Default)]
pub struct Additions {
    /// How many variables are added. They hold a value on entry.
    pub variables: usize,
    /// How many of them, the first ones, are constants.
    pub constants: usize,
    /// Further operands of instructions, behind their own.
    pub uses: BTreeMap<Inst, Vec<Variable>>,
    /// Further results of instructions, behind their own.
    pub definitions: BTreeMap<Inst, Vec<Variable>>,
    /// Variables that get another one's value at the entry of a block, whatever edge control comes by.
    pub assigned: BTreeMap<Block, Vec<(Variable, Variable)>>,
    /// Further tests at the ends of blocks.
    pub tests: BTreeMap<Block, Vec<Variable>>,
    /// Whether the tests of the function itself are left out.
    pub only_these_tests: bool,
}

/// A function as a program for data-flow analyses, with the maps between both.
///
/// Variable *i* is value *i*; behind the values follow the function's [`Var`]s. Instructions are those of the blocks
/// of the layout without φs; the terminator is the last of its block. Edges of the program's graph are numbered as
/// [`Function::graph`] does. Parameters hold a value on entry, variables hold what they hold unwritten, constants are
/// fixed.
#[derive(Clone, Debug)]
pub struct Code {
    program: Program,
    insts: Vec<Inst>,
    edges: Vec<Edge>,
    values: u32,
    vars: u32,
    parts: FirstParts,
}

impl Code {
    /// The program of a function that has blocks.
    pub fn of(func: &Function) -> Code {
        Code::make(func, None, &Additions::default())
    }

    /// The program of a function that has blocks, where branches also test what tested values were
    /// [made](conditions::Made) from: more to split, for clients that can make use of it.
    pub fn with_makers(func: &Function) -> Code {
        let parts = FirstParts::of(func);
        Code { parts: parts.clone(), ..Code::make(func, Some(&parts), &Additions::default()) }
    }

    /// The variable of the program that stands for an added one, by its number among these.
    pub fn added(func: &Function, number: usize) -> Variable {
        Variable((func.values.len() + func.vars.len() + number) as u32)
    }

    /// The program of a function that has blocks, with variables of the client.
    pub fn extended(func: &Function, add: &Additions) -> Code {
        Code::make(func, None, add)
    }

    fn make(func: &Function, parts: Option<&FirstParts>, add: &Additions) -> Code {
        let (graph, edges) = func.graph();
        let values = func.values.len() as u32;
        let variable = |v: Value| Variable(v.as_u32());
        let mut builder = ProgramBuilder::new(graph, Code::added(func, add.variables).index());
        for (v, data) in func.values.iter() {
            match data.def {
                ValueDef::Param(_) => builder.on_entry(variable(v)),
                ValueDef::Const(_) => builder.fixed(variable(v)),
                ValueDef::Inst(..) => {}
            }
        }
        func.vars.keys().for_each(|x| builder.on_entry(Variable(values + x.as_u32())));
        for k in 0..add.variables {
            match k < add.constants {
                true => builder.fixed(Code::added(func, k)),
                false => builder.on_entry(Code::added(func, k)),
            }
        }
        let mut insts = Vec::new();
        let mut tested = Vec::new();
        for &b in &func.layout {
            let node = Node::from(b);
            builder.begin(node);
            let data = &func.blocks[b];
            for i in data.insts.iter().copied().chain(data.term.expand()) {
                let data = &func.insts[i];
                let (read, written) = match data.op {
                    Op::ReadVar(x) => (Some(x), None),
                    Op::WriteVar(x) => (None, Some(x)),
                    _ => (None, None),
                };
                let var = |x: Var| Variable(values + x.as_u32());
                let uses = data.args.iter().map(|&a| variable(a)).chain(read.map(var));
                let results = data.results.iter().map(|&r| variable(r)).chain(written.map(var));
                let added = |map: &BTreeMap<Inst, Vec<Variable>>| map.get(&i).cloned().unwrap_or_default();
                builder.instruction(uses.chain(added(&add.uses)), results.chain(added(&add.definitions)));
                insts.push(i);
            }
            match add.only_these_tests {
                true => tested.clear(),
                false => conditions::tested(func, b, &mut tested),
            }
            if let Some(parts) = parts {
                conditions::add_makers(func, parts, &mut tested);
            }
            for &Tested { value, kind } in &tested {
                builder.test(node, variable(value), kind);
            }
            for &v in add.tests.get(&b).into_iter().flatten() {
                if tested.iter().all(|t| variable(t.value) != v) {
                    builder.test(node, v, TestKind::Other);
                }
            }
        }
        for (number, &e) in edges.iter().enumerate() {
            let data = &func.edges[e];
            for (&phi, &operand) in func.blocks[data.to].phis.iter().zip(&data.args) {
                let result = func.insts[phi].results[0];
                builder.phi(EdgeId::new(number), variable(result), variable(operand));
            }
            for &(result, operand) in add.assigned.get(&data.to).into_iter().flatten() {
                builder.phi(EdgeId::new(number), result, operand);
            }
        }
        let vars = func.vars.len() as u32;
        let program = builder.build().expect("a verified function is a well-formed program");
        Code { program, insts, edges, values, vars, parts: FirstParts::default() }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The function's instruction that an instruction of the program is.
    pub fn inst(&self, at: Instruction) -> Inst {
        self.insts[at.index()]
    }

    /// The first parts of what calls return; none if branches do not test them.
    pub(crate) fn first_parts(&self) -> &FirstParts {
        &self.parts
    }

    /// The function's edge that an edge of the program's graph is.
    pub fn edge(&self, edge: EdgeId) -> Edge {
        self.edges[edge.index()]
    }

    /// The value that a variable of the program is; `None` if it is a variable of the function.
    pub fn value(&self, variable: Variable) -> Option<Value> {
        (variable.0 < self.values).then(|| Value::from_u32(variable.0))
    }

    /// The variable of the function that a variable of the program is; `None` if it is a value or was added.
    pub fn var(&self, variable: Variable) -> Option<Var> {
        variable.0.checked_sub(self.values).filter(|&x| x < self.vars).map(Var::from_u32)
    }

    /// The variable of the program that a value is.
    pub fn variable(&self, value: Value) -> Variable {
        Variable(value.as_u32())
    }

    /// The variable of the program that a variable of the function is.
    pub fn variable_of(&self, var: Var) -> Variable {
        Variable(self.values + var.as_u32())
    }
}
