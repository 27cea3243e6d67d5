//! Random programs for data-flow analyses: blocks that use and define variables, φs, tests.
//!
//! A [`Blueprint`] is such a program as plain lists, which can be printed and made smaller; [`Blueprint::program`]
//! builds it. [`for_each_program`] runs a property over many.

use std::fmt;

use warpline_analysis::dataflow::{Program, ProgramBuilder, TestKind, Variable};
use warpline_analysis::{CsrGraph, EdgeId, Graph, Node};

use crate::graph_oracles::Dominance;
use crate::graphs;
use crate::rng::SplitMix64;

/// What random programs look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Strict SSA form: each variable has one definition, which dominates its uses.
    Ssa,
    /// Variables with any number of definitions, the first perhaps after uses.
    Variables,
}

/// An instruction of a blueprint.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PlannedInstruction {
    /// The variables that it uses.
    pub uses: Vec<u32>,
    /// The variables that it defines.
    pub definitions: Vec<u32>,
}

/// A block of a blueprint.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PlannedBlock {
    /// What its φs define; the operands are on the edges.
    pub phis: Vec<u32>,
    /// Its instructions.
    pub instructions: Vec<PlannedInstruction>,
    /// What its branch tests.
    pub tests: Vec<(u32, TestKind)>,
}

/// An edge of a blueprint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedEdge {
    /// Where it leaves.
    pub from: usize,
    /// Where it arrives.
    pub to: usize,
    /// The operands of the φs of that block.
    pub operands: Vec<u32>,
}

/// A program as plain lists. The entry is block 0, which no edge leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blueprint {
    /// What was asked for; kept while the program is made smaller.
    pub form: Form,
    /// How many variables there are.
    pub variables: usize,
    /// Those that hold a value on entry.
    pub on_entry: Vec<u32>,
    /// Those that are constants.
    pub fixed: Vec<u32>,
    /// The blocks.
    pub blocks: Vec<PlannedBlock>,
    /// The edges.
    pub edges: Vec<PlannedEdge>,
}

impl Blueprint {
    /// A random program over `graph`, with one more block in front as entry.
    pub fn random(rng: &mut SplitMix64, graph: &CsrGraph, form: Form) -> Blueprint {
        let old_entry = graph.entry().index();
        let edge =
            |(from, to): (usize, usize)| PlannedEdge { from: from + 1, to: to + 1, operands: Vec::new() };
        let mut edges = vec![PlannedEdge { from: 0, to: old_entry + 1, operands: Vec::new() }];
        edges.extend(graphs::edge_list(graph).into_iter().map(edge));
        let blocks = (0..=graph.node_count()).map(|_| PlannedBlock::default()).collect();
        let mut plan =
            Blueprint { form, variables: 0, on_entry: Vec::new(), fixed: Vec::new(), blocks, edges };
        plan.declare(rng);
        plan.define(rng);
        plan.fill_in_uses(rng);
        plan
    }

    /// Parameters, perhaps a constant, and in the form with variables all others.
    fn declare(&mut self, rng: &mut SplitMix64) {
        for _ in 0..rng.between(1, 2) {
            self.on_entry.push(self.variables as u32);
            self.variables += 1;
        }
        if rng.chance(1, 4) {
            self.fixed.push(self.variables as u32);
            self.variables += 1;
        }
        if self.form == Form::Variables {
            self.variables += rng.between(1, 2);
        }
    }

    /// Instructions with what they define, and φs.
    fn define(&mut self, rng: &mut SplitMix64) {
        let define_in = *rng.pick(&[2, 3, 6]);
        let phi_in = *rng.pick(&[3, 6, 20]);
        for b in 0..self.blocks.len() {
            if self.edges.iter().any(|e| e.to == b) && rng.chance(1, phi_in) {
                let results = self.results(rng);
                self.blocks[b].phis.extend(results);
            }
            for _ in 0..rng.below(4) {
                let definitions = if rng.chance(1, define_in) { self.results(rng) } else { Vec::new() };
                self.blocks[b].instructions.push(PlannedInstruction { uses: Vec::new(), definitions });
            }
        }
    }

    /// One or two variables that an instruction or the φs of a block may define: new ones in SSA form.
    fn results(&mut self, rng: &mut SplitMix64) -> Vec<u32> {
        let count = if rng.chance(1, 5) { 2 } else { 1 };
        let mut chosen = Vec::new();
        for _ in 0..count {
            let variable = match self.form {
                Form::Ssa => {
                    self.variables += 1;
                    self.variables as u32 - 1
                }
                Form::Variables => {
                    let free: Vec<u32> =
                        (0..self.variables as u32).filter(|v| !self.fixed.contains(v)).collect();
                    *rng.pick(&free)
                }
            };
            if !chosen.contains(&variable) {
                chosen.push(variable);
            }
        }
        chosen
    }

    fn fill_in_uses(&mut self, rng: &mut SplitMix64) {
        let dominance = Dominance::of(&self.graph());
        let homes = self.homes();
        let some_of = |list: &[u32], rng: &mut SplitMix64| (!list.is_empty()).then(|| *rng.pick(list));
        for b in 0..self.blocks.len() {
            for k in 0..self.blocks[b].instructions.len() {
                let usable = self.usable(&homes, &dominance, (b, k));
                let uses = (0..rng.below(3)).filter_map(|_| some_of(&usable, rng)).collect();
                self.blocks[b].instructions[k].uses = uses;
            }
            let leaving = self.edges.iter().filter(|e| e.from == b).count();
            let usable = self.usable(&homes, &dominance, (b, usize::MAX));
            if leaving > 1 || leaving == 1 && rng.chance(1, 10) {
                for _ in 0..rng.below(3) {
                    let kind = *rng.pick(&[TestKind::Equality, TestKind::Other]);
                    // A test of a constant would split nothing.
                    let tested = some_of(&usable, rng).filter(|v| !self.fixed.contains(v));
                    let block = &mut self.blocks[b];
                    if let Some(v) = tested.filter(|v| block.tests.iter().all(|t| t.0 != *v)) {
                        block.tests.push((v, kind));
                    }
                }
            }
            for e in 0..self.edges.len() {
                if self.edges[e].from == b {
                    let phis = self.blocks[self.edges[e].to].phis.len();
                    self.edges[e].operands = (0..phis).map_while(|_| some_of(&usable, rng)).collect();
                }
            }
        }
    }

    /// Per variable the block and the instruction that defines it in SSA form; a φ counts as before all instructions.
    fn homes(&self) -> Vec<Option<(usize, isize)>> {
        let mut homes = vec![None; self.variables];
        for (b, block) in self.blocks.iter().enumerate() {
            block.phis.iter().for_each(|&v| homes[v as usize] = Some((b, -1)));
            for (k, instruction) in block.instructions.iter().enumerate() {
                instruction.definitions.iter().for_each(|&v| homes[v as usize] = Some((b, k as isize)));
            }
        }
        homes
    }

    /// The variables that an instruction may use.
    fn usable(
        &self,
        homes: &[Option<(usize, isize)>],
        dominance: &Dominance,
        (b, k): (usize, usize),
    ) -> Vec<u32> {
        let reaches = |v: &u32| match homes[*v as usize] {
            _ if self.form == Form::Variables || !dominance.is_reachable(b) => true,
            None => true,
            Some((block, _)) if block != b => dominance.dominates(block, b),
            Some((_, at)) => at < 0 || (at as usize) < k,
        };
        (0..self.variables as u32).filter(reaches).collect()
    }

    fn graph(&self) -> CsrGraph {
        graphs::build(self.blocks.len(), self.edges.iter().map(|e| (e.from, e.to)).collect())
    }

    /// The program.
    pub fn program(&self) -> Program {
        let graph = self.graph();
        let mut builder = ProgramBuilder::new(graph, self.variables);
        self.on_entry.iter().for_each(|&v| builder.on_entry(Variable(v)));
        self.fixed.iter().for_each(|&v| builder.fixed(Variable(v)));
        let all = |list: &[u32]| list.iter().map(|&v| Variable(v)).collect::<Vec<_>>();
        for (b, block) in self.blocks.iter().enumerate() {
            builder.begin(Node::new(b));
            for instruction in &block.instructions {
                builder.instruction(all(&instruction.uses), all(&instruction.definitions));
            }
            block.tests.iter().for_each(|&(v, kind)| builder.test(Node::new(b), Variable(v), kind));
        }
        for (e, edge) in self.edges.iter().enumerate() {
            for (&result, &operand) in self.blocks[edge.to].phis.iter().zip(&edge.operands) {
                builder.phi(EdgeId::new(e), Variable(result), Variable(operand));
            }
        }
        builder.build().expect("a well-formed program")
    }

    /// Whether no variable is defined twice and, in blocks that are reached, each use is dominated by the definition.
    pub fn is_strict_ssa(&self) -> bool {
        let dominance = Dominance::of(&self.graph());
        let homes = self.homes();
        let mut count = vec![0; self.variables];
        let entering = self.on_entry.iter().chain(&self.fixed);
        let written = self
            .blocks
            .iter()
            .flat_map(|b| b.phis.iter().chain(b.instructions.iter().flat_map(|i| &i.definitions)));
        entering.clone().chain(written).for_each(|&v| count[v as usize] += 1);
        let held = |v: u32, place: (usize, usize)| {
            !dominance.is_reachable(place.0)
                || count[v as usize] > 0 && self.usable(&homes, &dominance, place).contains(&v)
        };
        let in_blocks = self.blocks.iter().enumerate().all(|(b, block)| {
            let mut instructions = block.instructions.iter().enumerate();
            instructions.all(|(k, i)| i.uses.iter().all(|&v| held(v, (b, k))))
                && block.tests.iter().all(|&(v, _)| held(v, (b, usize::MAX)))
        });
        let on_edges = self.edges.iter().all(|e| e.operands.iter().all(|&v| held(v, (e.from, usize::MAX))));
        in_blocks && on_edges && count.iter().all(|&c| c <= 1)
    }

    /// All programs that are smaller by one thing and of the same form.
    fn smaller(&self) -> Vec<Blueprint> {
        let mut all = Vec::new();
        let mut add = |change: &dyn Fn(&mut Blueprint)| {
            let mut plan = self.clone();
            change(&mut plan);
            if plan.form == Form::Variables || plan.is_strict_ssa() {
                all.push(plan);
            }
        };
        for e in 0..self.edges.len() {
            add(&|p| _ = p.edges.remove(e));
        }
        for (b, block) in self.blocks.iter().enumerate() {
            for i in 0..block.phis.len() {
                add(&|p| {
                    p.blocks[b].phis.remove(i);
                    p.edges.iter_mut().filter(|e| e.to == b).for_each(|e| _ = e.operands.remove(i));
                });
            }
            for t in 0..block.tests.len() {
                add(&|p| _ = p.blocks[b].tests.remove(t));
            }
            for (k, instruction) in block.instructions.iter().enumerate() {
                add(&|p| _ = p.blocks[b].instructions.remove(k));
                for i in 0..instruction.uses.len() {
                    add(&|p| _ = p.blocks[b].instructions[k].uses.remove(i));
                }
                for i in 0..instruction.definitions.len() {
                    add(&|p| _ = p.blocks[b].instructions[k].definitions.remove(i));
                }
            }
        }
        for i in 0..self.on_entry.len() {
            add(&|p| _ = p.on_entry.remove(i));
        }
        all
    }

    /// Takes things away as long as `check` still fails. Returns the smallest failing program found and its message.
    pub fn shrink(
        self,
        message: String,
        check: &impl Fn(&Program) -> Result<(), String>,
    ) -> (Blueprint, String) {
        let mut best = (self, message);
        while let Some(smaller) =
            best.0.smaller().into_iter().find_map(|p| check(&p.program()).err().map(|m| (p, m)))
        {
            best = smaller;
        }
        best
    }
}

impl fmt::Display for Blueprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |list: &[u32]| list.iter().map(|v| format!("v{v}")).collect::<Vec<_>>().join(", ");
        writeln!(f, "on entry: {}; constants: {}", names(&self.on_entry), names(&self.fixed))?;
        for (b, block) in self.blocks.iter().enumerate() {
            writeln!(f, "n{b}:")?;
            if !block.phis.is_empty() {
                writeln!(f, "  {} = phi", names(&block.phis))?;
            }
            for i in &block.instructions {
                writeln!(f, "  {} = ({})", names(&i.definitions), names(&i.uses))?;
            }
            for (v, kind) in &block.tests {
                writeln!(f, "  test v{v} ({kind:?})")?;
            }
            for e in self.edges.iter().filter(|e| e.from == b) {
                writeln!(f, "  -> n{} ({})", e.to, names(&e.operands))?;
            }
        }
        Ok(())
    }
}

/// The program of a seed: alternately reducible and arbitrary graphs.
pub fn of_seed(seed: u64, max_nodes: usize, form: Form) -> Blueprint {
    let mut rng = SplitMix64::new(seed);
    let graph = if rng.chance(1, 2) {
        graphs::reducible(&mut rng, max_nodes)
    } else {
        graphs::arbitrary(&mut rng, max_nodes)
    };
    Blueprint::random(&mut rng, &graph, form)
}

/// Runs `check` on the programs of `count` seeds from the first one on; panics with the seed and a shrunk program at
/// the first that fails.
pub fn for_each_program(
    first_seed: u64,
    count: u64,
    max_nodes: usize,
    form: Form,
    check: impl Fn(&Program) -> Result<(), String>,
) {
    for seed in first_seed..first_seed + count {
        let plan = of_seed(seed, max_nodes, form);
        if let Err(message) = check(&plan.program()) {
            let (small, message) = plan.shrink(message, &check);
            panic!("seed {seed}, {form:?}: {message}\n{small}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph_oracles::is_reducible;

    #[test]
    fn programs_in_ssa_form_are_strict_and_programs_with_variables_have_several_definitions() {
        let mut several = 0;
        for seed in 0..500 {
            assert!(of_seed(seed, 9, Form::Ssa).is_strict_ssa(), "seed {seed}");
            several += usize::from(!of_seed(seed, 9, Form::Variables).is_strict_ssa());
        }
        assert!(several > 400, "{several} of 500");
    }

    #[test]
    fn programs_branch_test_have_phis_and_are_often_irreducible() {
        let (mut tests, mut phis, mut irreducible, mut unreachable) = (0, 0, 0, 0);
        for seed in 0..500 {
            let plan = of_seed(seed, 9, Form::Ssa);
            let graph = plan.graph();
            tests += usize::from(plan.blocks.iter().any(|b| !b.tests.is_empty()));
            phis += usize::from(plan.blocks.iter().any(|b| !b.phis.is_empty()));
            irreducible += usize::from(!is_reducible(&graph));
            let dominance = Dominance::of(&graph);
            unreachable += usize::from((0..plan.blocks.len()).any(|b| !dominance.is_reachable(b)));
        }
        let rates = (tests, phis, irreducible, unreachable);
        assert!(tests > 250 && phis > 200 && irreducible > 50 && unreachable > 20, "{rates:?} of 500");
    }
}
