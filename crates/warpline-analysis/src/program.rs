//! Programs as data-flow analyses see them: blocks of instructions that use and define variables, φ-functions as
//! assignments on edges, and the conditional tests at the ends of blocks.
//!
//! Variables may have any number of definitions; in SSA form each has one. What a program means beyond that (the
//! operations, the transfer functions) is the client's.
//!
//! One such description serves all analyses: [`ssi`](crate::ssi) splits its live ranges, [`dataflow`](crate::dataflow)
//! solves problems on it, [`Accesses::of`](crate::phi_placement::Accesses::of) asks where its variables need φs, and
//! [`SsaProgram::of_versions`](crate::uniformity::SsaProgram::of_versions) what in it is uniform.

use alloc::vec::Vec;
use core::mem;
use core::ops::Range;

use crate::bitset::BitSet;
use crate::dom::DomTree;
use crate::graph::{CsrGraph, EdgeId, Graph, Lists, Node, mix};
pub use crate::ids::{Instruction, Variable};
use crate::program_error::ProgramError;

/// A φ-function as one in-edge of its block sees it: all those of an edge assign in parallel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PhiMove {
    /// What is defined at the entry of the edge's target.
    pub result: Variable,
    /// What is used at the end of the edge.
    pub operand: Variable,
}

/// What a conditional test asks about a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TestKind {
    /// Whether it equals another variable or given values.
    Equality,
    /// Anything else.
    Other,
}

/// A conditional test on a variable at the end of a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Test {
    /// The variable; the out-edges of the block may tell something of it.
    pub variable: Variable,
    /// What is asked.
    pub kind: TestKind,
}

/// A program; made by [`ProgramBuilder`].
#[derive(Clone, Debug)]
pub struct Program {
    graph: CsrGraph,
    variables: usize,
    /// Per block its first instruction and the one behind its last.
    ranges: Vec<(u32, u32)>,
    blocks: Vec<Node>,
    uses: Lists<Variable>,
    definitions: Lists<Variable>,
    phis: Lists<PhiMove>,
    tests: Lists<Test>,
    /// By block the number of its branch, or [`NO_BRANCH`].
    branches: Vec<u32>,
    on_entry: Vec<Variable>,
    fixed: BitSet,
    several: BitSet,
    /// Made of all the above.
    outline: u64,
}

const NO_BRANCH: u32 = u32::MAX;

impl Program {
    /// The control-flow graph. Node *i* is block *i*. No edge leads to the entry. O(1).
    #[inline]
    pub fn graph(&self) -> &CsrGraph {
        &self.graph
    }

    /// How many variables there are. O(1).
    #[inline]
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// How many instructions there are. O(1).
    #[inline]
    pub fn instructions(&self) -> usize {
        self.blocks.len()
    }

    /// The instructions of a block, in order, as a range of numbers. O(1).
    #[inline]
    pub fn block(&self, node: Node) -> Range<u32> {
        let (start, end) = self.ranges[node.index()];
        start..end
    }

    /// The block that an instruction is in. O(1).
    #[inline]
    pub fn block_of(&self, at: Instruction) -> Node {
        self.blocks[at.index()]
    }

    /// The variables that an instruction uses, one per operand: the same variable may stand there twice.
    /// O(1).
    #[inline]
    pub fn uses(&self, at: Instruction) -> &[Variable] {
        self.uses.get(at.index())
    }

    /// The variables that an instruction defines, after it has read what it uses. Each at most once. O(1).
    #[inline]
    pub fn definitions(&self, at: Instruction) -> &[Variable] {
        self.definitions.get(at.index())
    }

    /// The instruction at the end of a block whose operands decide which edge control takes; none if none was
    /// [said to be](ProgramBuilder::branch). O(1).
    #[inline]
    pub fn branch(&self, node: Node) -> Option<Instruction> {
        Some(self.branches[node.index()]).filter(|&at| at != NO_BRANCH).map(Instruction)
    }

    /// Where the operands of an instruction stand in an array of all operands of the program. O(1).
    #[inline]
    pub fn use_slots(&self, at: Instruction) -> Range<usize> {
        self.uses.range(at.index())
    }

    /// Where the results of an instruction stand in an array of all results of the program. O(1).
    #[inline]
    pub fn definition_slots(&self, at: Instruction) -> Range<usize> {
        self.definitions.range(at.index())
    }

    /// The φ-functions of an edge's target with their operands on the edge. All in-edges of a block list the same
    /// results in the same order. O(1).
    #[inline]
    pub fn phis(&self, edge: EdgeId) -> &[PhiMove] {
        self.phis.get(edge.index())
    }

    /// Where the φ operands of an edge stand in an array of all φ operands of the program. O(1).
    #[inline]
    pub fn phi_slots(&self, edge: EdgeId) -> Range<usize> {
        self.phis.range(edge.index())
    }

    /// What the branch at the end of a block tests, each variable at most once. They are used there, after the last
    /// instruction. O(1).
    #[inline]
    pub fn tests(&self, node: Node) -> &[Test] {
        self.tests.get(node.index())
    }

    /// Where the tests of a block stand in an array of all tests of the program. O(1).
    #[inline]
    pub fn test_slots(&self, node: Node) -> Range<usize> {
        self.tests.range(node.index())
    }

    /// The variables that hold a value when control enters: parameters, and everything [fixed](Program::is_fixed).
    /// O(1).
    #[inline]
    pub fn on_entry(&self) -> &[Variable] {
        &self.on_entry
    }

    /// The variables that are defined more than once, what they hold on entry counted.
    pub(crate) fn with_several_definitions(&self) -> &BitSet {
        &self.several
    }

    /// The operands of all instructions, by slot.
    pub(crate) fn all_uses(&self) -> &[Variable] {
        self.uses.items()
    }

    /// The results of all instructions, by slot. O(1).
    pub fn all_definitions(&self) -> &[Variable] {
        self.definitions.items()
    }

    /// The φ moves of all edges, by slot.
    pub(crate) fn all_phis(&self) -> &[PhiMove] {
        self.phis.items()
    }

    /// The tests of all blocks, by slot.
    pub(crate) fn all_tests(&self) -> &[Test] {
        self.tests.items()
    }

    /// What tells the program from others; a number made of all that was said.
    pub(crate) fn outline(&self) -> u64 {
        self.outline
    }

    /// Whether the program is in SSA form: no variable has several definitions, and each is defined on all ways to
    /// where it is used. Uses that control does not reach are not looked at. As
    /// [`DomTree::compute`], and linear in the program.
    ///
    /// # Errors
    /// If it is not.
    pub fn check_ssa(&self) -> Result<(), ProgramError> {
        match self.several.iter().next() {
            Some(v) => Err(ProgramError::SeveralDefinitions { variable: Variable(v as u32) }),
            None => self.check_uses(),
        }
    }

    /// Whether the only definition of each variable comes before all uses that are reached.
    fn check_uses(&self) -> Result<(), ProgramError> {
        let graph = &self.graph;
        let dominators = DomTree::compute(graph);
        // By variable where it is defined, and before which of all instructions that is: those of a block have the
        // numbers from its first one on. What holds on entry is defined before all of the entry's.
        let mut defined: Vec<Option<(Node, u32)>> = vec![None; self.variables];
        self.on_entry.iter().for_each(|v| defined[v.index()] = Some((graph.entry(), 0)));
        for node in graph.nodes() {
            let phis = graph.in_edges(node).first().map_or(&[][..], |&edge| self.phis(edge));
            phis.iter().for_each(|phi| defined[phi.result.index()] = Some((node, 0)));
            for at in self.block(node) {
                let results = self.definitions(Instruction(at)).iter();
                results.for_each(|v| defined[v.index()] = Some((node, at + 1)));
            }
        }
        let holds = |v: Variable, node: Node, at: u32| match defined[v.index()] {
            Some((n, from)) if n == node => from <= at,
            Some((n, _)) => dominators.dominates(n, node),
            None => false,
        };
        for node in graph.nodes().filter(|&n| dominators.is_reachable(n)) {
            let check = |v: Variable, at: u32| match holds(v, node, at) {
                true => Ok(()),
                false => Err(ProgramError::UsedUndefined { variable: v, node }),
            };
            for at in self.block(node) {
                self.uses(Instruction(at)).iter().try_for_each(|&v| check(v, at))?;
            }
            self.tests(node).iter().try_for_each(|test| check(test.variable, u32::MAX))?;
            for &edge in graph.out_edges(node) {
                self.phis(edge).iter().try_for_each(|phi| check(phi.operand, u32::MAX))?;
            }
        }
        Ok(())
    }

    /// Whether the variable stands for a constant of the program: never defined, never split, and the same fact
    /// everywhere. O(1).
    #[inline]
    pub fn is_fixed(&self, variable: Variable) -> bool {
        self.fixed.contains(variable.index())
    }

    /// All that are.
    pub(crate) fn all_fixed(&self) -> &BitSet {
        &self.fixed
    }
}

/// Collects a program, block by block. What is wrong with it, [`build`](ProgramBuilder::build) says.
#[derive(Clone, Debug)]
pub struct ProgramBuilder {
    graph: CsrGraph,
    variables: usize,
    ranges: Vec<(u32, u32)>,
    blocks: Vec<Node>,
    begun: BitSet,
    current: Option<Node>,
    uses: Vec<(usize, Variable)>,
    definitions: Vec<(usize, Variable)>,
    phis: Vec<(usize, PhiMove)>,
    tests: Vec<(usize, Test)>,
    branches: Vec<(Node, Instruction)>,
    on_entry: Vec<Variable>,
    fixed: Vec<Variable>,
    /// What was wrong first.
    wrong: Option<ProgramError>,
}

impl ProgramBuilder {
    /// A program over `variables` variables without instructions. Linear in the variables.
    pub fn new(graph: CsrGraph, variables: usize) -> Self {
        let nodes = graph.node_count();
        ProgramBuilder {
            current: None,
            graph,
            variables,
            ranges: vec![(0, 0); nodes],
            blocks: Vec::new(),
            begun: BitSet::new(nodes),
            uses: Vec::new(),
            definitions: Vec::new(),
            phis: Vec::new(),
            tests: Vec::new(),
            branches: Vec::new(),
            on_entry: Vec::new(),
            fixed: Vec::new(),
            wrong: None,
        }
    }

    /// The variable holds a value when control enters. O(1).
    pub fn on_entry(&mut self, variable: Variable) {
        self.on_entry.push(variable);
    }

    /// The variable stands for a constant: it holds a value when control enters, and nothing defines it.
    /// O(1).
    pub fn fixed(&mut self, variable: Variable) {
        self.fixed.push(variable);
    }

    /// The instructions that follow are in this block. Each block is begun at most once. O(1).
    pub fn begin(&mut self, node: Node) {
        if node.index() >= self.graph.node_count() {
            self.refuse(ProgramError::NoSuchNode { node });
        } else if !self.begun.insert(node.index()) {
            self.refuse(ProgramError::BegunTwice { node });
        } else {
            let at = self.blocks.len() as u32;
            self.ranges[node.index()] = (at, at);
            self.current = Some(node);
        }
    }

    /// Appends an instruction to the block that was begun last. It reads what it uses before it defines anything.
    /// O(1) for each variable that is named.
    pub fn instruction(
        &mut self,
        uses: impl IntoIterator<Item = Variable>,
        definitions: impl IntoIterator<Item = Variable>,
    ) -> Instruction {
        let at = self.blocks.len();
        let Some(current) = self.current else {
            self.refuse(ProgramError::NoBlock);
            return Instruction(at as u32);
        };
        if self.branches.last().is_some_and(|&(node, _)| node == current) {
            self.refuse(ProgramError::BehindBranch { node: current });
        }
        self.blocks.push(current);
        self.ranges[current.index()].1 = at as u32 + 1;
        self.uses.extend(uses.into_iter().map(|v| (at, v)));
        self.definitions.extend(definitions.into_iter().map(|v| (at, v)));
        Instruction(at as u32)
    }

    /// Appends the branch that ends the block that was begun last: an instruction that defines nothing, and whose
    /// operands decide which edge control takes. Nothing follows it in its block. O(1) an operand.
    pub fn branch(&mut self, uses: impl IntoIterator<Item = Variable>) -> Instruction {
        let at = self.instruction(uses, []);
        self.branches.extend(self.current.map(|node| (node, at)));
        at
    }

    /// The branch at the end of a block tests a variable. Said at most once of each. O(1).
    pub fn test(&mut self, node: Node, variable: Variable, kind: TestKind) {
        self.tests.push((node.index(), Test { variable, kind }));
    }

    /// A φ-function of the edge's target has this operand on the edge. All in-edges must get the same results, in the
    /// same order. O(1).
    pub fn phi(&mut self, edge: EdgeId, result: Variable, operand: Variable) {
        self.phis.push((edge.index(), PhiMove { result, operand }));
    }

    fn refuse(&mut self, error: ProgramError) {
        self.wrong.get_or_insert(error);
    }

    /// The program. Takes time linear in what was said.
    ///
    /// # Errors
    /// If something that was named does not exist, or is said twice, or against what the methods above ask for.
    pub fn build(mut self) -> Result<Program, ProgramError> {
        self.check_numbers()?;
        let mut fixed = BitSet::new(self.variables);
        for &v in &self.fixed {
            if fixed.insert(v.index()) {
                self.on_entry.push(v);
            }
        }
        let several = self.with_several_definitions();
        let mut branches = vec![NO_BRANCH; self.graph.node_count()];
        self.branches.iter().for_each(|&(node, at)| branches[node.index()] = at.0);
        let instructions = self.blocks.len();
        let program = Program {
            several,
            uses: Lists::group(instructions, self.uses.iter().copied()),
            definitions: Lists::group(instructions, self.definitions.iter().copied()),
            phis: Lists::group(self.graph.edge_count(), self.phis.iter().copied()),
            tests: Lists::group(self.graph.node_count(), self.tests.iter().copied()),
            graph: self.graph,
            variables: self.variables,
            ranges: self.ranges,
            blocks: self.blocks,
            branches,
            on_entry: self.on_entry,
            fixed,
            outline: 0,
        };
        program.check_repetitions()?;
        program.check_phis()?;
        Ok(Program { outline: program.compute_outline(), ..program })
    }

    /// Whether all variables, nodes and edges that were named are there.
    fn check_numbers(&mut self) -> Result<(), ProgramError> {
        let graph = &self.graph;
        if let Some(&edge) = graph.in_edges(graph.entry()).first() {
            return Err(ProgramError::EntryIsTarget { edge });
        }
        if let Some(wrong) = self.wrong.take() {
            return Err(wrong);
        }
        if let Some(&(edge, _)) = self.phis.iter().find(|p| p.0 >= graph.edge_count()) {
            return Err(ProgramError::NoSuchEdge { edge: EdgeId::new(edge) });
        }
        if let Some(&(node, _)) = self.tests.iter().find(|t| t.0 >= graph.node_count()) {
            return Err(ProgramError::NoSuchNode { node: Node::new(node) });
        }
        let named = self.uses.iter().chain(&self.definitions).map(|&(_, v)| v);
        let named = named.chain(self.phis.iter().flat_map(|&(_, phi)| [phi.result, phi.operand]));
        let named = named.chain(self.tests.iter().map(|&(_, test)| test.variable));
        let mut named = named.chain(self.on_entry.iter().chain(&self.fixed).copied());
        match named.find(|v| v.index() >= self.variables) {
            Some(variable) => Err(ProgramError::NoSuchVariable { variable, count: self.variables }),
            None => Ok(()),
        }
    }

    fn with_several_definitions(&self) -> BitSet {
        let mut once = BitSet::new(self.variables);
        let mut several = BitSet::new(self.variables);
        let graph = &self.graph;
        // Every in-edge of a block says what its φs define.
        let is_first = |edge: usize| {
            let edge = EdgeId::new(edge);
            graph.in_edges(graph.target(edge)).first() == Some(&edge)
        };
        let by_phis = self.phis.iter().filter(|(edge, _)| is_first(*edge)).map(|(_, phi)| phi.result);
        let written = self.definitions.iter().map(|d| d.1);
        for v in self.on_entry.iter().copied().chain(written).chain(by_phis) {
            if !once.insert(v.index()) {
                several.insert(v.index());
            }
        }
        several
    }
}

impl Program {
    fn compute_outline(&self) -> u64 {
        let graph = &self.graph;
        let edges = graph.edges().map(|e| u64::from(graph.source(e).0) << 32 | u64::from(graph.target(e).0));
        let mut all = edges.fold(self.variables as u64, mix);
        for (at, &node) in self.blocks.iter().enumerate() {
            let at = Instruction(at as u32);
            let counts = (self.uses(at).len() as u64) << 32 | self.definitions(at).len() as u64;
            all = mix(mix(all, u64::from(node.0)), counts);
        }
        all =
            self.all_uses().iter().chain(self.all_definitions()).fold(all, |all, v| mix(all, u64::from(v.0)));
        for edge in graph.edges() {
            for phi in self.phis(edge) {
                all = mix(
                    mix(all, u64::from(edge.0)),
                    u64::from(phi.result.0) << 32 | u64::from(phi.operand.0),
                );
            }
        }
        for node in graph.nodes() {
            for test in self.tests(node) {
                all = mix(mix(all, u64::from(node.0)), u64::from(test.variable.0) << 8 | test.kind as u64);
            }
        }
        self.on_entry.iter().fold(all, |all, v| mix(all, u64::from(v.0)))
    }

    /// Whether no instruction defines a variable twice, no block tests one twice, and nothing defines a constant.
    fn check_repetitions(&self) -> Result<(), ProgramError> {
        let mut seen_at = vec![u32::MAX; self.variables];
        for at in (0..self.instructions() as u32).map(Instruction) {
            for &variable in self.definitions(at) {
                if mem::replace(&mut seen_at[variable.index()], at.0) == at.0 {
                    return Err(ProgramError::DefinedTwice { variable, at });
                }
            }
        }
        seen_at.fill(u32::MAX);
        for node in self.graph.nodes() {
            for &Test { variable, .. } in self.tests(node) {
                if mem::replace(&mut seen_at[variable.index()], node.0) == node.0 {
                    return Err(ProgramError::TestedTwice { variable, node });
                }
            }
        }
        let results = self.all_phis().iter().map(|phi| &phi.result);
        match self.all_definitions().iter().chain(results).find(|&&v| self.is_fixed(v)) {
            Some(&variable) => Err(ProgramError::ConstantIsDefined { variable }),
            None => Ok(()),
        }
    }

    /// Whether all in-edges of each block have φ operands for the same results, each once.
    fn check_phis(&self) -> Result<(), ProgramError> {
        let mut defined_on = vec![u32::MAX; self.variables];
        for node in self.graph.nodes() {
            let Some((&first, others)) = self.graph.in_edges(node).split_first() else { continue };
            let results = |edge| self.phis(edge).iter().map(|phi| phi.result);
            for variable in results(first) {
                if mem::replace(&mut defined_on[variable.index()], first.0) == first.0 {
                    return Err(ProgramError::PhiTwice { variable, edge: first });
                }
            }
            if let Some(&edge) = others.iter().find(|&&edge| !results(edge).eq(results(first))) {
                return Err(ProgramError::PhisDiffer { edge, first });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
