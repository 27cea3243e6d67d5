//! Explanations with witness paths, in terms of the program.

use warpline_analysis::uniformity::{Evidence, Explainer as EngineExplainer, Fact, Link};
use warpline_analysis::{CsrGraph, CycleId, EdgeId, Graph, Inside, Node, Step as EngineStep, Witness};

use super::{Rule, Step, Uniformity, engine_value};
use warpline_ir::{Block, Edge, Function, Inst, Module, Value, ValueDef};

impl Uniformity {
    /// `%y = add uses %x outside the loop …`: what `user` sees of the value called `name` that is defined in `cycle`.
    pub fn describe_temporal_use(
        &self,
        module: &Module,
        func: &Function,
        user: Inst,
        name: &str,
        cycle: CycleId,
    ) -> String {
        format!("{} {}", self.describe(module, func, user), self.temporal_use(func, name, cycle))
    }
}

/// A block on a witness path.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Point {
    /// The block.
    pub block: Block,
    /// From here the path goes through the rest of a loop, any number of times, before the next block.
    pub rounds: bool,
}

/// Explains the result for one function, with the paths by which lanes arrive apart.
pub struct Explainer<'a> {
    module: &'a Module,
    func: &'a Function,
    result: &'a Uniformity,
    engine: EngineExplainer<'a, CsrGraph>,
}

impl<'a> Explainer<'a> {
    /// Explains `result`, which is that of `func`.
    pub fn new(module: &'a Module, func: &'a Function, result: &'a Uniformity) -> Self {
        let engine = EngineExplainer::new(&result.graph, &result.program, &result.engine);
        Explainer { module, func, result, engine }
    }

    /// Why a value is divergent where it is defined: from the value itself to what causes it. Empty if it is
    /// uniform.
    pub fn value(&self, v: Value) -> Vec<Step> {
        if self.result.is_divergent(v) { self.steps(&self.engine.value(engine_value(v))) } else { Vec::new() }
    }

    /// Why the branch of a block is divergent: from the branch to what causes it. Empty if it is uniform.
    pub fn branch(&self, b: Block) -> Vec<Step> {
        self.steps(&self.engine.branch(Node::from(b)))
    }

    /// Why lanes may leave a cycle in different iterations, or why all in it counts as divergent: from that fact to
    /// what causes it. Empty if neither is so.
    pub fn cycle(&self, cycle: CycleId) -> Vec<Step> {
        self.steps(&self.engine.cycle(cycle))
    }

    /// Why the lanes that execute `block` together see different values of `v`: why it is divergent where it is
    /// defined, or why they left a loop around its definition in different iterations. Empty if they do not.
    pub fn use_at(&self, v: Value, block: Block) -> Vec<Step> {
        match self.value(v) {
            steps if steps.is_empty() => self.steps(&self.engine.use_at(engine_value(v), Node::from(block))),
            steps => steps,
        }
    }

    /// The same of the use of `v` by φs on an edge.
    pub fn use_on(&self, v: Value, edge: Edge) -> Vec<Step> {
        match (self.value(v), self.result.edge_ids[edge]) {
            (steps, Some(edge)) if steps.is_empty() => self.steps(&self.engine.use_on(engine_value(v), edge)),
            (steps, _) => steps,
        }
    }

    /// The fact that [`Explainer::value`] begins with.
    pub fn value_fact(&self, v: Value) -> Option<Fact> {
        self.engine.value_fact(engine_value(v)).filter(|_| self.result.is_divergent(v))
    }

    /// The fact that [`Explainer::branch`] begins with.
    pub fn branch_fact(&self, b: Block) -> Option<Fact> {
        self.engine.branch_fact(Node::from(b))
    }

    /// The fact that [`Explainer::cycle`] begins with.
    pub fn cycle_fact(&self, cycle: CycleId) -> Option<Fact> {
        self.engine.cycle_cause(cycle)
    }

    /// The fact by which an explanation goes on behind this one. Explanations that share a fact share all behind it.
    pub fn next(&self, fact: Fact) -> Option<Fact> {
        self.engine.next(fact)
    }

    /// The step that says a fact.
    pub fn step_of(&self, fact: Fact) -> Step {
        self.step(&Link { fact, evidence: self.engine.evidence(fact) })
    }

    fn steps(&self, chain: &[Link]) -> Vec<Step> {
        chain.iter().map(|link| self.step(link)).collect()
    }

    fn step(&self, link: &Link) -> Step {
        let mut step = self.result.step(self.module, self.func, link.fact);
        let witness = match &link.evidence {
            Evidence::Paths(witness) | Evidence::Inside(Inside::Apart(witness)) => Some(witness),
            Evidence::Inside(Inside::EntersApart(cycle, witness)) => {
                let cycle = self.result.cycle_name(self.func, *cycle);
                step.text += &format!(", and may enter {cycle} at different blocks");
                Some(witness)
            }
            Evidence::Inside(Inside::TooDeep) => {
                step.text += ", and the loop is nested too deep to look into";
                None
            }
            Evidence::Inside(Inside::NotLookedInto(cycle)) => {
                let cycle = self.result.cycle_name(self.func, *cycle);
                step.text += &format!(", and one way leads through {cycle}, which is not looked into");
                None
            }
            Evidence::Immediate | Evidence::Missing => None,
        };
        if let Evidence::Inside(Inside::Apart(_)) = link.evidence {
            step.text += ", and go on to blocks that it does not strictly dominate";
        }
        step.paths = witness.map(|w| self.paths(w)).unwrap_or_default();
        if let Fact::DivergentExit(_, edge, _) = link.fact {
            step.loc = self.exit_loc(edge).or(step.loc);
        }
        step
    }

    /// The place of the branch on which a loop is left.
    fn exit_loc(&self, edge: EdgeId) -> Option<warpline_ir::Loc> {
        let from = Block::from(self.result.graph.source(edge));
        let term = self.func.blocks[from].term.expand()?;
        let loc = self.func.insts[term].loc.expand()?;
        (self.module.locations[loc].line > 0).then_some(loc)
    }

    fn paths(&self, witness: &Witness) -> Vec<Vec<Point>> {
        witness.paths.iter().map(|path| self.points(path)).collect()
    }

    fn points(&self, path: &[EngineStep]) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        for step in path {
            match *step {
                EngineStep::Edge(e) => {
                    let (from, to) = (self.result.graph.source(e), self.result.graph.target(e));
                    if points.last().is_none_or(|p| p.block != Block::from(from)) {
                        points.push(Point { block: Block::from(from), rounds: false });
                    }
                    points.push(Point { block: Block::from(to), rounds: false });
                }
                EngineStep::Round(_) | EngineStep::Through(_) => {
                    if let Some(last) = points.last_mut() {
                        last.rounds = true;
                    }
                }
            }
        }
        points
    }

    /// Why a value is uniform, as the end of a sentence whose subject is the value. Short, and true of this result.
    pub fn why_uniform(&self, v: Value) -> String {
        let func = self.func;
        let inst = match func.values[v].def {
            ValueDef::Const(_) => return "is a constant".into(),
            ValueDef::Param(_) => return "is an argument that all lanes share".into(),
            ValueDef::Inst(inst, _) => inst,
        };
        let block = func.insts[inst].block;
        if !self.reaches(block) {
            return "is never computed: nothing leads to its block".into();
        }
        if self.result.options.shared.contains(&v) {
            return "is the address of one object that all lanes share".into();
        }
        if self.result.options.rule(self.module, func, inst) == Rule::AlwaysUniform {
            return "is the same in all lanes, whatever its operands are".into();
        }
        if self.result.high_bits.contains(v) {
            return "looks only at bits on which all lanes of a wave agree, though its operands differ"
                .into();
        }
        if self.has_divergent_operand(inst) {
            return "is uniform though not all of its operands are: what differs between lanes cancels out"
                .into();
        }
        match (&func.insts[inst].op, self.result.engine.divergent_join(Node::from(block))) {
            (warpline_ir::Op::Phi, Some(split)) => format!(
                "has uniform operands, and lanes that diverge at {} do not bring different ones",
                self.result.split_name(self.module, func, split)
            ),
            (warpline_ir::Op::Phi, None) => {
                "has uniform operands, and no divergent branch lets lanes arrive by different ways".into()
            }
            (warpline_ir::Op::ReadVar(_), _) => {
                "reads a variable in which lanes that come here together hold the same".into()
            }
            _ if func.insts[inst].args.is_empty() => "depends on nothing that differs between lanes".into(),
            _ => "has only uniform operands".into(),
        }
    }

    /// Why the branch of a block is uniform, as the end of a sentence.
    pub fn why_uniform_branch(&self, b: Block) -> String {
        match self.func.out_edges(b).len() {
            0 => "leaves the function".into(),
            1 => "goes on to one block".into(),
            _ if !self.reaches(b) => "is never executed: nothing leads to its block".into(),
            _ => "has a uniform condition".into(),
        }
    }

    fn has_divergent_operand(&self, inst: Inst) -> bool {
        let data = &self.func.insts[inst];
        let block = &self.func.blocks[data.block];
        match self.func.phi_position(inst).filter(|_| data.op == warpline_ir::Op::Phi) {
            Some(at) => block.preds.iter().any(|&e| {
                self.func.edges[e].args.get(at).is_some_and(|&v| self.result.is_divergent_on(v, e))
            }),
            None => data.args.iter().any(|&v| self.result.is_divergent_at(v, data.block)),
        }
    }

    /// Whether control can come to a block at all.
    pub fn reaches(&self, b: Block) -> bool {
        self.engine.reaches(Node::from(b))
    }
}
