//! How many edges sparse analyses pass information along, with split live ranges and with plain def-use chains.

use warpline_analysis::bitset::BitSet;
use warpline_analysis::dataflow::{Instruction, Program, Variable};
use warpline_analysis::graph::{Graph, Lists, Node};
use warpline_analysis::ssi::{Ssi, Version};

/// The edges from what defines to what uses, twice: of the versions of an overlay, added φs, σs and copies counted as
/// uses and definitions, and of the program's variables as they are, where each definition is connected with each use
/// that it reaches (Oh et al. 2012). A φ of the program uses on the in-edge. Only what control reaches counts.
///
/// Reaching definitions are found one by one: this is for measuring.
pub fn dependence_edges(program: &Program, ssi: &Ssi) -> (usize, usize) {
    let walks = Walks::of(program);
    (of_versions(program, ssi, &walks.reached), walks.def_use())
}

fn of_versions(program: &Program, ssi: &Ssi, reached: &BitSet) -> usize {
    let graph = program.graph();
    let is_split = |v: Variable| !program.is_fixed(v);
    let added = (program.variables()..ssi.versions()).map(|v| Version(v as u32));
    let mut count: usize = added.map(|v| ssi.operands(v).flatten().count()).sum();
    for node in graph.nodes().filter(|n| reached.contains(n.index())) {
        for at in program.block(node).map(Instruction) {
            let slots = program.uses(at).iter().zip(program.use_slots(at));
            count += slots.filter(|&(&v, slot)| is_split(v) && ssi.used(slot).is_some()).count();
        }
        let slots = program.tests(node).iter().zip(program.test_slots(node));
        count += slots.filter(|&(t, slot)| is_split(t.variable) && ssi.tested(slot).is_some()).count();
        for &e in graph.out_edges(node) {
            let slots = program.phis(e).iter().zip(program.phi_slots(e));
            count +=
                slots.filter(|&(p, slot)| is_split(p.operand) && ssi.phi_operand(slot).is_some()).count();
        }
    }
    count
}

/// What one variable meets in a block, in order; uses on edges out of it come last.
#[derive(Clone, Copy)]
enum Step {
    Use,
    Define,
}

struct Walks<'a> {
    program: &'a Program,
    reached: BitSet,
    /// By variable.
    steps: Lists<(Node, Step)>,
}

impl<'a> Walks<'a> {
    fn of(program: &'a Program) -> Self {
        let graph = program.graph();
        let mut reached = BitSet::new(graph.node_count());
        let mut work = vec![graph.entry()];
        while let Some(n) = work.pop() {
            if reached.insert(n.index()) {
                work.extend(graph.successors(n));
            }
        }
        let mut steps = Vec::new();
        for node in graph.nodes().filter(|n| reached.contains(n.index())) {
            let mut add = |v: Variable, step: Step| steps.push((v.index(), (node, step)));
            if let Some(&e) = graph.in_edges(node).first() {
                program.phis(e).iter().for_each(|p| add(p.result, Step::Define));
            }
            for at in program.block(node).map(Instruction) {
                program.uses(at).iter().for_each(|&v| add(v, Step::Use));
                program.definitions(at).iter().for_each(|&v| add(v, Step::Define));
            }
            program.tests(node).iter().for_each(|t| add(t.variable, Step::Use));
            for &e in graph.out_edges(node) {
                program.phis(e).iter().for_each(|p| add(p.operand, Step::Use));
            }
        }
        let steps = Lists::group(program.variables(), steps.iter().copied());
        Walks { program, reached, steps }
    }

    /// All pairs of a definition and a use that it reaches.
    fn def_use(&self) -> usize {
        let variables = (0..self.program.variables()).filter(|&v| !self.program.is_fixed(Variable(v as u32)));
        let entering = |v: usize| self.program.on_entry().contains(&Variable(v as u32));
        variables.map(|v| self.of_variable(self.steps.get(v), entering(v))).sum()
    }

    fn of_variable(&self, steps: &[(Node, Step)], on_entry: bool) -> usize {
        let mut count = 0;
        if on_entry {
            count += self.reached_uses(steps, self.program.graph().entry(), 0);
        }
        for (k, &(node, step)) in steps.iter().enumerate() {
            if matches!(step, Step::Define) {
                count += self.reached_uses(steps, node, k + 1);
            }
        }
        count
    }

    /// The uses that are reached from a place in a block, before step number `from` of all.
    fn reached_uses(&self, steps: &[(Node, Step)], node: Node, from: usize) -> usize {
        let graph = self.program.graph();
        let mut entered = BitSet::new(graph.node_count());
        let first = from.max(steps.partition_point(|s| s.0 < node));
        let mut work = vec![(node, first)];
        // A use in the block that the walk starts in is met from the start and, around a cycle, from the block's entry.
        let mut met = BitSet::new(steps.len());
        while let Some((n, from)) = work.pop() {
            let here = steps[from..].iter().take_while(|s| s.0 == n).enumerate();
            let mut goes_on = true;
            for (k, &(_, step)) in here {
                match step {
                    Step::Define => goes_on = false,
                    Step::Use => _ = met.insert(from + k),
                }
                if !goes_on {
                    break;
                }
            }
            if goes_on {
                for t in graph.successors(n) {
                    if entered.insert(t.index()) {
                        work.push((t, steps.partition_point(|s| s.0 < t)));
                    }
                }
            }
        }
        met.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_analysis::dataflow::ProgramBuilder;
    use warpline_analysis::graph::CsrGraph;
    use warpline_analysis::ssi::{Strategy, ssify};

    /// `arms` definitions that meet, then as many uses: Oh et al.'s chains connect all with all.
    fn fan(arms: u32) -> Program {
        let (join, first_use) = (arms + 1, arms + 2);
        let into = (1..=arms).flat_map(|a| [(0, a), (a, join)]);
        let edges = into.chain((0..arms).map(|k| (join, first_use + k)));
        let list = edges.map(|(s, t)| (Node(s), Node(t)));
        let graph = CsrGraph::new((2 * arms + 2) as usize, Node(0), list).expect("existing nodes");
        let mut builder = ProgramBuilder::new(graph, 1);
        for a in 1..=arms {
            builder.begin(Node(a));
            builder.instruction([], [Variable(0)]);
        }
        for k in 0..arms {
            builder.begin(Node(first_use + k));
            builder.instruction([Variable(0)], []);
        }
        builder.build().expect("a well-formed program")
    }

    #[test]
    fn a_phi_connects_definitions_with_uses_by_their_sum_and_not_by_their_product() {
        for arms in [2, 3, 10] {
            let program = fan(arms);
            let ssi = ssify(&program, &Strategy::SSA);
            let (arms, edges) = (arms as usize, dependence_edges(&program, &ssi));
            assert_eq!(edges, (2 * arms, arms * arms));
        }
    }

    #[test]
    fn a_use_in_a_loop_is_reached_by_the_definition_behind_it() {
        let graph = CsrGraph::new(2, Node(0), [(0, 1), (1, 1)].map(|(s, t)| (Node(s), Node(t))));
        let mut builder = ProgramBuilder::new(graph.expect("existing nodes"), 1);
        builder.on_entry(Variable(0));
        builder.begin(Node(1));
        builder.instruction([Variable(0)], [Variable(0)]);
        let program = builder.build().expect("a well-formed program");
        let ssi = ssify(&program, &Strategy::SSA);
        // The φ reads two, the instruction reads the φ; plainly, the entry and the instruction reach it.
        assert_eq!(dependence_edges(&program, &ssi), (3, 2));
    }
}
