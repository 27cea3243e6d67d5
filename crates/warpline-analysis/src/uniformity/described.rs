//! Uniformity of a program that was described for all analyses.
//!
//! In SSA form its variables are the values. Else [`ssify`](crate::ssi::ssify) says which definition each use sees, and
//! versions are the values. What splitting has added beyond φs, σs and copies, are other names of what they read.

use alloc::vec::Vec;

use super::program::{Rule, SsaProgram, Value};
use crate::graph::{EdgeId, Graph, Node};
use crate::program::{Instruction, Program, Variable};
use crate::program_error::ProgramError;
use crate::ssi::{Ssi, Version, VersionDef};

/// What in a program defines a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// It holds a value when control enters.
    Entry(Variable),
    /// An instruction.
    Instruction(Instruction, Variable),
    /// A φ-function of the program.
    Phi(Variable),
}

/// What uniformity has to know of a definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Meaning {
    /// How its uniformity follows from that of its operands.
    pub rule: Rule,
    /// Whether it depends on its operands alone; see [`SsaBuilder::set_pure`](super::SsaBuilder::set_pure).
    pub is_pure: bool,
}

impl From<Rule> for Meaning {
    /// A definition that may depend on more than its operands.
    fn from(rule: Rule) -> Self {
        Meaning { rule, is_pure: false }
    }
}

/// What makes a version.
#[derive(Clone, Copy)]
enum Maker {
    /// Nothing: it is there from the start.
    Start,
    Instruction(Instruction),
    /// A φ of the program at this node, with its number among those of the node.
    Phi(Node, u32),
    /// A φ that was added.
    Added(Node),
    /// A σ or a copy: another name, which begins in this node.
    Name(Node),
}

impl SsaProgram {
    /// What uniformity has to know of a program in SSA form, over [its graph](Program::graph). Value *n* is variable
    /// *n*. `meaning` says how the uniformity of each follows from that of the operands of its instruction or φ; what
    /// decides which way control takes out of a block are the operands of its [branch](Program::branch). As
    /// [`Program::check_ssa`].
    ///
    /// # Errors
    /// If a variable has several definitions or is used where it is not defined on all ways;
    /// [`of_versions`](Self::of_versions) takes such programs.
    pub fn of<M: Into<Meaning>>(
        program: &Program,
        meaning: impl Fn(Origin) -> M,
    ) -> Result<SsaProgram, ProgramError> {
        program.check_ssa()?;
        Self::of_versions(program, &Ssi::unsplit(program), meaning)
    }

    /// The same of any program, the live ranges of which are split by whatever strategy
    /// ([`ssify`](crate::ssi::ssify)). Value *n* is version *n*; where instructions use what nothing has defined, one
    /// more value is behind them, which differs between threads. Linear in program and versions.
    ///
    /// # Errors
    /// If `ssi` is of another program.
    pub fn of_versions<M: Into<Meaning>>(
        program: &Program,
        ssi: &Ssi,
        meaning: impl Fn(Origin) -> M,
    ) -> Result<SsaProgram, ProgramError> {
        ssi.check_program(program)?;
        let graph = program.graph();
        let makers = makers(program, ssi);
        let named = resolve(ssi, &makers);
        let operands = program.all_uses().len() + program.all_phis().len();
        let mut builder = SsaProgram::builder_for(ssi.versions(), operands);
        let undefined = Value::new(ssi.versions());
        let mut is_undefined_used = false;
        let mut used = |slot: usize| {
            let version = ssi.used(slot).and_then(|v| named[v.index()]);
            is_undefined_used |= version.is_none();
            version.map_or(undefined, |v| Value(v.0))
        };
        let taken = |version: Option<Version>| version.and_then(|v| named[v.index()]).map(|v| Value(v.0));
        for (v, maker) in makers.iter().enumerate() {
            let version = Version(v as u32);
            let meant = |origin: fn(Variable) -> Origin| meaning(origin(ssi.variable(version))).into();
            match *maker {
                Maker::Start => _ = builder.argument(meant(Origin::Entry).rule),
                Maker::Instruction(at) => {
                    let Meaning { rule, is_pure } =
                        meaning(Origin::Instruction(at, ssi.variable(version))).into();
                    let value =
                        builder.plain(program.block_of(at), rule, program.use_slots(at).map(&mut used));
                    if is_pure {
                        builder.set_pure(value);
                    }
                }
                Maker::Phi(node, number) => {
                    let slot = |edge: EdgeId| program.phi_slots(edge).start + number as usize;
                    let operand = |&edge: &EdgeId| (edge, taken(ssi.phi_operand(slot(edge))));
                    builder.phi(node, meant(Origin::Phi).rule, graph.in_edges(node).iter().map(operand));
                }
                Maker::Added(node) => {
                    let operands = ssi.operands(version).map(taken);
                    builder.phi(node, Rule::Default, graph.in_edges(node).iter().copied().zip(operands));
                }
                Maker::Name(node) => {
                    let name = builder.plain(node, Rule::Default, taken(Some(version)));
                    builder.set_pure(name);
                }
            }
        }
        for node in graph.nodes() {
            let decide = program.branch(node).map_or(0..0, |at| program.use_slots(at));
            builder.terminator(node, decide.map(&mut used));
        }
        if is_undefined_used {
            builder.argument(Rule::Source);
        }
        builder.build(graph)
    }
}

/// What makes each version.
fn makers(program: &Program, ssi: &Ssi) -> Vec<Maker> {
    let graph = program.graph();
    let mut makers = vec![Maker::Start; ssi.versions()];
    for at in (0..program.instructions() as u32).map(Instruction) {
        program.definition_slots(at).for_each(|s| makers[ssi.defined(s).index()] = Maker::Instruction(at));
    }
    for node in graph.nodes() {
        let slots = graph.in_edges(node).first().map_or(0..0, |&edge| program.phi_slots(edge));
        for (number, slot) in slots.enumerate() {
            makers[ssi.phi_result(slot).index()] = Maker::Phi(node, number as u32);
        }
    }
    for (v, maker) in makers.iter_mut().enumerate().skip(program.variables()) {
        match ssi.definition(Version(v as u32)) {
            VersionDef::Actual => {}
            VersionDef::Phi(node) => *maker = Maker::Added(node),
            VersionDef::Sigma(edge) => *maker = Maker::Name(graph.source(edge)),
            VersionDef::Copy(at) => *maker = Maker::Name(program.block_of(at)),
        }
    }
    makers
}

/// By version the one that it is another name of, itself if it is none; nothing if that is nothing.
fn resolve(ssi: &Ssi, makers: &[Maker]) -> Vec<Option<Version>> {
    let is_name = |v: Version| matches!(makers[v.index()], Maker::Name(_));
    let mut named: Vec<Option<Version>> = (0..makers.len()).map(|v| Some(Version(v as u32))).collect();
    let mut is_done: Vec<bool> = makers.iter().map(|m| !matches!(m, Maker::Name(_))).collect();
    let mut chain = Vec::new();
    for v in (0..makers.len() as u32).map(Version) {
        let mut at = Some(v);
        while let Some(v) = at.filter(|&v| is_name(v) && !is_done[v.index()]) {
            chain.push(v);
            at = ssi.operands(v).next().flatten();
        }
        let end = at.and_then(|v| named[v.index()]);
        for v in chain.drain(..) {
            (named[v.index()], is_done[v.index()]) = (end, true);
        }
    }
    named
}
