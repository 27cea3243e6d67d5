//! Causes in words.

use warpline_analysis::uniformity::{Cause as EngineCause, Fact, GivenUp, Value as EngineValue};
use warpline_analysis::{CycleId, EdgeId, Graph, Node, Split};

use super::{Extra, Point, Rule, Uniformity, rules};
use crate::shape::ArgShape;
use warpline_ir::demangle;
use warpline_ir::printable::line;
use warpline_ir::{Block, Function, Inst, Loc, Module, Op, Value, ValueDef};

/// One step of an explanation: a statement, and what in the source it is about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Step {
    /// What is so, as a sentence without a full stop.
    pub text: String,
    /// The block it is about.
    pub block: Option<Block>,
    /// The value it is about.
    pub value: Option<Value>,
    /// Where the code in question comes from.
    pub loc: Option<Loc>,
    /// Two paths that show it: none, or two.
    pub paths: Vec<Vec<Point>>,
}

impl Uniformity {
    /// Why a value is divergent where it is defined: from the value itself to what causes it. Empty if it is
    /// uniform.
    pub fn explain(&self, module: &Module, func: &Function, v: Value) -> Vec<Step> {
        if !self.is_divergent(v) {
            return Vec::new();
        }
        let facts = self.engine.explain(super::engine_value(v));
        facts.into_iter().map(|f| self.step(module, func, f)).collect()
    }

    /// Why the branch of a block is divergent: from the branch to what causes it. Empty if it is uniform.
    pub fn explain_branch(&self, module: &Module, func: &Function, b: Block) -> Vec<Step> {
        let facts = self.engine.explain_branch(Node::from(b));
        facts.into_iter().map(|f| self.step(module, func, f)).collect()
    }

    /// Why lanes may leave a cycle apart, or why it was given up: from that fact to what causes it. Empty
    /// if neither is so.
    pub(crate) fn explain_cycle(&self, module: &Module, func: &Function, cycle: CycleId) -> Vec<Step> {
        let first = match (self.engine.given_up(cycle), self.engine.divergent_exits(cycle).first()) {
            (Some(why), _) => Fact::GivenUp(cycle, why),
            (None, Some(&(edge, split))) => Fact::DivergentExit(cycle, edge, split),
            (None, None) => match self.engine.left_apart(cycle) {
                Some(at) => Fact::LeftApart(cycle, at),
                None => return Vec::new(),
            },
        };
        let mut steps = vec![self.step(module, func, first)];
        let parted = match first {
            Fact::GivenUp(_, GivenUp::BranchInside(n)) | Fact::LeftApart(_, Split::Branch(n)) => Some(n),
            Fact::GivenUp(_, GivenUp::EnteredApart(Split::Branch(n))) => Some(n),
            Fact::DivergentExit(_, _, Split::Branch(n)) => Some(n),
            _ => None,
        };
        if let Some(n) = parted {
            steps.extend(self.explain_branch(module, func, Block::from(n)));
        }
        steps
    }

    /// Why the branch of a block is divergent, in one line: what it depends on, the memory access, call or φ nearest
    /// to it on the way, and what all goes back to. Empty if it is uniform.
    pub fn branch_reason(&self, module: &Module, func: &Function, b: Block) -> String {
        let facts = self.engine.explain_branch(Node::from(b));
        // The part of the chain that runs along operands, and the fact behind it.
        let mut on_the_way = None;
        let mut last = None;
        for fact in facts {
            last = Some(fact);
            match fact {
                Fact::Branch(_, EngineCause::Operand(_)) => {}
                Fact::Value(v, EngineCause::Operand(_)) => {
                    on_the_way = on_the_way.or(self.landmark(func, v));
                }
                _ => break,
            }
        }
        let Some(fact) = last else { return String::new() };
        let root = self.step(module, func, fact);
        let argument = root.value.and_then(|v| match func.values[v].def {
            ValueDef::Param(i) => {
                Some(format!("the argument {} ({})", self.names(func).value(func, v), self.arg(i)))
            }
            _ => None,
        });
        let from_instruction = root.value.is_some() && argument.is_none();
        let mut text = match on_the_way {
            Some(inst) => {
                let place = func.insts[inst].loc.expand();
                let place = place.map(|l| format!(" ({})", short_loc(module, l))).unwrap_or_default();
                format!("depends on {}{place}", self.describe(module, func, inst))
            }
            None => String::new(),
        };
        text += &match (text.is_empty(), argument, root.value) {
            (true, Some(argument), _) => format!("depends on {argument}"),
            (false, Some(argument), _) => format!(", which depends on {argument}"),
            (true, None, Some(_)) => format!("since {}", root.text),
            (true, None, None) => root.text,
            (false, None, _) => format!(", since {}", root.text),
        };
        if let Some(loc) = root.loc.filter(|_| from_instruction) {
            text += &format!(" ({})", short_loc(module, loc));
        }
        text
    }

    fn arg(&self, number: u32) -> ArgShape {
        self.args.get(number as usize).copied().unwrap_or(ArgShape::Varying)
    }

    fn landmark(&self, func: &Function, v: EngineValue) -> Option<Inst> {
        let inst = func.def_inst(self.value(func, v)?)?;
        let op = &func.insts[inst].op;
        matches!(op, Op::Load(_) | Op::Call(_) | Op::Opaque(_) | Op::OpaqueTerm(_)).then_some(inst)
    }

    /// The function's value that an engine value stands for, unless it is an extra one.
    pub(super) fn value(&self, func: &Function, v: EngineValue) -> Option<Value> {
        (v.index() < func.values.len()).then(|| Value::from_u32(v.0))
    }

    pub(super) fn step(&self, module: &Module, func: &Function, fact: Fact) -> Step {
        match fact {
            Fact::Value(v, cause) => self.value_step(module, func, v, cause),
            Fact::Branch(n, cause) => {
                let b = Block::from(n);
                let text = format!(
                    "the branch of block {} {}",
                    self.names(func).block(func, b),
                    self.why(module, func, cause)
                );
                let loc = func.blocks[b].term.expand().and_then(|t| func.insts[t].loc.expand());
                Step { text, block: Some(b), loc, ..Step::default() }
            }
            Fact::DivergentExit(cycle, edge, split) => {
                let loop_name = self.cycle_name(func, cycle);
                let edge = self.edge_name(func, edge);
                let split = self.split_name(module, func, split);
                let text = match self.is_about_secrets() {
                    false => format!(
                        "lanes leave {loop_name} in different iterations by {edge}: they diverge at {split}"
                    ),
                    true => {
                        format!("how often {loop_name} goes round before {edge} is taken depends on {split}")
                    }
                };
                let header = Block::from(self.cycles().header(cycle));
                Step { text, block: Some(header), loc: block_loc(module, func, header), ..Step::default() }
            }
            Fact::LeftApart(cycle, split) => {
                let loop_name = self.cycle_name(func, cycle);
                let split = self.split_name(module, func, split);
                let text = match self.is_about_secrets() {
                    false => {
                        format!("lanes leave {loop_name} in different iterations: they diverge at {split}")
                    }
                    true => format!("how often {loop_name} goes round depends on {split}"),
                };
                let header = Block::from(self.cycles().header(cycle));
                Step { text, block: Some(header), loc: block_loc(module, func, header), ..Step::default() }
            }
            Fact::GivenUp(cycle, why) => {
                let (counts, threads) = match self.is_about_secrets() {
                    false => ("divergent", "lanes"),
                    true => ("secret", "ways"),
                };
                let why = match why {
                    GivenUp::EnteredApart(split) => {
                        let split = self.split_name(module, func, split);
                        format!("{threads} that diverge at {split} enter it at different blocks")
                    }
                    GivenUp::BranchInside(n) => {
                        let split = self.split_name(module, func, Split::Branch(n));
                        format!("{threads} diverge inside it, at {split}")
                    }
                };
                let text =
                    format!("{} is conservatively treated as {counts}: {why}", self.cycle_name(func, cycle));
                let header = Block::from(self.cycles().header(cycle));
                Step { text, block: Some(header), loc: block_loc(module, func, header), ..Step::default() }
            }
        }
    }

    /// Whether lanes stand for runs with different secrets.
    fn is_about_secrets(&self) -> bool {
        self.options.only_sources.is_some()
    }

    fn value_step(&self, module: &Module, func: &Function, v: EngineValue, cause: EngineCause) -> Step {
        let Some(value) = self.value(func, v) else { return self.extra_step(module, func, v, cause) };
        let inst = func.def_inst(value);
        let subject = match inst {
            Some(inst) => self.describe(module, func, inst),
            None => self.names(func).value(func, value),
        };
        let why = match (cause, inst) {
            (EngineCause::Source, Some(inst)) => match self.options.rule(module, func, inst) {
                Rule::Source(c) => c.describe().to_owned(),
                _ => "is a source of divergence".to_owned(),
            },
            (EngineCause::Source, None) => {
                let arg = match func.values[value].def {
                    ValueDef::Param(i) => self.arg(i),
                    _ => ArgShape::Varying,
                };
                match self.is_about_secrets() {
                    false => format!("is an argument of the shape {arg}"),
                    true => "is a secret argument".to_owned(),
                }
            }
            (EngineCause::Join(split), _) => {
                let at = func.def_block(value).map(|b| self.names(func).block(func, b)).unwrap_or_default();
                let split = self.split_name(module, func, split);
                match self.is_about_secrets() {
                    false => format!("merges, in block {at}, values of lanes that diverge at {split}"),
                    true => format!("merges, in block {at}, values of ways that diverge at {split}"),
                }
            }
            _ => self.why(module, func, cause),
        };
        // Arguments stand where the function is declared.
        let loc = inst.map_or(func.loc.expand(), |i| func.insts[i].loc.expand());
        let (text, block) = (format!("{subject} {why}"), func.def_block(value));
        Step { text, block, value: Some(value), loc, ..Step::default() }
    }

    fn extra_step(&self, module: &Module, func: &Function, v: EngineValue, cause: EngineCause) -> Step {
        let (inst, text) = match self.extra.get(v.index() - func.values.len()) {
            Some(&Extra::Decision(inst)) => {
                let cause = self.options.splits_lanes(module, func, inst);
                let why = cause.map_or("may take another way in each lane", |c| c.describe());
                (Some(inst), format!("{} {why}", func.insts[inst].op.name()))
            }
            Some(&Extra::Member(inst, member)) => {
                let why = match self.options.member_rule(module, func, inst, member) {
                    Some(Rule::Source(c)) => c.describe(),
                    _ => "depends on divergent operands",
                };
                (Some(inst), format!("member {member} of {} {why}", self.describe(module, func, inst)))
            }
            Some(&Extra::Effect(inst)) => {
                let what = if self.is_about_secrets() { "secret" } else { "divergent" };
                (Some(inst), format!("{} has {what} operands", func.insts[inst].op.name()))
            }
            Some(&Extra::Merged(_, block)) => {
                let text = format!("{} {}", self.extra_name(func, v), self.why(module, func, cause));
                let loc = block_loc(module, func, block);
                return Step { text, block: Some(block), loc, ..Step::default() };
            }
            Some(Extra::Unwritten | Extra::Number(_)) | None => (None, "an unknown instruction".to_owned()),
        };
        let loc = inst.and_then(|i| func.insts[i].loc.expand());
        Step { text, block: inst.map(|i| func.insts[i].block), loc, ..Step::default() }
    }

    fn why(&self, module: &Module, func: &Function, cause: EngineCause) -> String {
        match cause {
            EngineCause::Operand(o) => match self.value(func, o) {
                Some(o) => format!("depends on {}", self.names(func).value(func, o)),
                None => match self.extra_name(func, o) {
                    name if name.is_empty() => "is not decided by its operands alone".into(),
                    name => format!("depends on {name}"),
                },
            },
            EngineCause::Temporal { operand, cycle, .. } => {
                let name = self.value(func, operand).map(|o| self.names(func).value(func, o));
                let operand = name.unwrap_or_else(|| self.extra_name(func, operand));
                self.temporal_use(func, &operand, cycle)
            }
            EngineCause::Source => "is a source of divergence".into(),
            EngineCause::Join(split) => {
                format!("merges lanes that diverge at {}", self.split_name(module, func, split))
            }
            EngineCause::GivenUp(cycle) => match self.is_about_secrets() {
                false => format!(
                    "is computed in {}, which is conservatively treated as divergent",
                    self.cycle_name(func, cycle)
                ),
                true => format!(
                    "is computed in {}, through which secrets choose the way",
                    self.cycle_name(func, cycle)
                ),
            },
        }
    }

    /// What an extra value that is more than an instruction is called; empty for others.
    fn extra_name(&self, func: &Function, v: EngineValue) -> String {
        match self.extra.get(v.index() - func.values.len()) {
            Some(&Extra::Merged(var, block)) => {
                let name = match &*func.vars[var].name {
                    "" => var.to_string(),
                    name => name.to_owned(),
                };
                format!("the variable ${name} at the start of block {}", self.names(func).block(func, block))
            }
            _ => String::new(),
        }
    }

    /// What it means that `operand` is used outside `cycle`, as the end of a sentence.
    pub(super) fn temporal_use(&self, func: &Function, operand: &str, cycle: CycleId) -> String {
        let cycle = self.cycle_name(func, cycle);
        match self.is_about_secrets() {
            false => format!("uses {operand} outside {cycle}, which lanes leave in different iterations"),
            true => format!("uses {operand} outside {cycle}, which goes round as often as secrets say"),
        }
    }

    /// `the branch of block b (file:line)`.
    pub(super) fn split_name(&self, module: &Module, func: &Function, split: Split) -> String {
        match split {
            Split::Branch(n) => {
                let b = Block::from(n);
                let loc = func.blocks[b].term.expand().and_then(|t| func.insts[t].loc.expand());
                let loc = loc.filter(|&l| module.locations[l].line > 0);
                let place = loc.map(|l| format!(" ({})", short_loc(module, l))).unwrap_or_default();
                format!("the branch of block {}{place}", self.names(func).block(func, b))
            }
            Split::Cycle(c) => self.cycle_name(func, c),
        }
    }

    pub(super) fn edge_name(&self, func: &Function, e: EdgeId) -> String {
        let (from, to) = (Block::from(self.graph.source(e)), Block::from(self.graph.target(e)));
        format!("the edge {} → {}", self.names(func).block(func, from), self.names(func).block(func, to))
    }

    /// `the loop at block h`, or `the irreducible cycle at block h`.
    pub(super) fn cycle_name(&self, func: &Function, cycle: CycleId) -> String {
        let cycles = self.cycles();
        let kind = if cycles.is_reducible(cycle) { "loop" } else { "irreducible cycle" };
        format!("the {kind} at block {}", self.names(func).block(func, Block::from(cycles.header(cycle))))
    }

    /// `%x = load`, `%y = call @f`.
    pub fn describe(&self, module: &Module, func: &Function, inst: Inst) -> String {
        let data = &func.insts[inst];
        let mut text = match data.results.first() {
            Some(&r) => format!("{} = {}", self.names(func).value(func, r), data.op.name()),
            None => data.op.name().to_owned(),
        };
        if let Op::Call(call) = &data.op
            && call.callee.is_some()
        {
            text += " @";
            text += &demangle(rules::callee_name(module, call));
        }
        text
    }
}

/// The source location of the first instruction of a block that has one with a line.
pub(crate) fn block_loc(module: &Module, func: &Function, b: Block) -> Option<Loc> {
    func.block_insts(b).filter_map(|i| func.insts[i].loc.expand()).find(|&l| module.locations[l].line > 0)
}

/// `file:line` of a location, with the file's name only.
pub(super) fn short_loc(module: &Module, loc: Loc) -> String {
    let l = &module.locations[loc];
    let name = l.file.rsplit(['/', '\\']).next().unwrap_or_default();
    format!("{}:{}", line(name), l.line)
}
