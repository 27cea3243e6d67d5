//! The propagation engine drives uniformity: a φ depends on branches that are not among its operands, so a branch
//! that turns out divergent enqueues the φs at its joins and at the exits of divergent loops (dynamic
//! control edges).
//!
//! The solver here is as small as can be: paper 1's rules for reducible graphs and loop-closed programs whose φ
//! operands are values of their own, for which the product's engine has to find the same.

use warpline_analysis::dataflow::{Engine, Schedule};
use warpline_analysis::uniformity::{Rule, Value};
use warpline_analysis::{
    BitSet, CsrGraph, CycleForest, CycleId, DfsOrder, EdgeId, Graph, Joins, Lists, Node, SsaProgram,
    Uniformity,
};
use warpline_testkit::graphs;
use warpline_testkit::reference::NormalForm;
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::ssa_programs::random_loop_closed;

/// Constraints are values, then nodes for their branches.
struct Solver<'a> {
    graph: &'a CsrGraph,
    program: &'a SsaProgram,
    by_node: Lists<Value>,
    dfs: &'a DfsOrder,
    cycles: &'a CycleForest,
    joins: Joins<'a, CsrGraph>,
    engine: Engine,
    divergent: BitSet,
    branches: BitSet,
    /// Nodes that are joins of divergent branches.
    joined: BitSet,
    /// Edges on which threads leave a cycle in different iterations, with the cycles.
    exits: Vec<Vec<CycleId>>,
}

impl<'a> Solver<'a> {
    fn solve(
        graph: &'a CsrGraph,
        program: &'a SsaProgram,
        dfs: &'a DfsOrder,
        cycles: &'a CycleForest,
        schedule: Schedule,
    ) -> Solver<'a> {
        let constraints = program.value_count() + graph.node_count();
        let mut solver = Solver {
            graph,
            program,
            by_node: program.values_by_node(),
            dfs,
            cycles,
            joins: Joins::new(graph, dfs, cycles),
            engine: Engine::new(constraints, schedule),
            divergent: BitSet::new(program.value_count()),
            branches: BitSet::new(graph.node_count()),
            joined: BitSet::new(graph.node_count()),
            exits: vec![Vec::new(); graph.edge_count()],
        };
        (0..constraints as u32).for_each(|c| solver.engine.enqueue(c));
        while let Some(constraint) = solver.engine.next() {
            match (constraint as usize).checked_sub(program.value_count()) {
                None => solver.value(Value(constraint)),
                Some(node) => solver.branch(Node::new(node)),
            }
        }
        solver
    }

    fn value(&mut self, v: Value) {
        let is_phi = self.program.is_phi(v);
        let node = self.program.node(v);
        let is_join = is_phi && node.is_some_and(|n| self.joined.contains(n.index()));
        let divergent = match self.program.rule(v) {
            Rule::Source => true,
            Rule::AlwaysUniform => false,
            Rule::Default => {
                is_join
                    || self.program.operands(v).any(|(o, edge)| match edge {
                        Some(e) if !self.dfs.is_reachable(self.graph.source(e)) => false,
                        _ => {
                            self.divergent.contains(o.index()) || edge.is_some_and(|e| self.is_temporal(o, e))
                        }
                    })
            }
        };
        if divergent && self.divergent.insert(v.index()) {
            for user in self.program.values().filter(|&u| self.program.operands(u).any(|(o, _)| o == v)) {
                self.engine.enqueue(user.0);
            }
            for n in self.graph.nodes().filter(|&n| self.program.terminator(n).contains(&v)) {
                self.engine.enqueue((self.program.value_count() + n.index()) as u32);
            }
        }
    }

    /// Whether threads that take an edge out of a loop see a value from different iterations of it.
    fn is_temporal(&self, operand: Value, edge: EdgeId) -> bool {
        let home = self.program.node(operand);
        home.is_some_and(|n| self.exits[edge.index()].iter().any(|&c| self.cycles.contains(c, n)))
    }

    fn branch(&mut self, n: Node) {
        let is_divergent = self.program.terminator(n).iter().any(|o| self.divergent.contains(o.index()));
        let splits = self.graph.out_edges(n).len() > 1 && self.dfs.is_reachable(n);
        if !is_divergent || !splits || !self.branches.insert(n.index()) {
            return;
        }
        let found = self.joins.of_branch(n);
        for &join in &found.joins {
            self.joined.insert(join.index());
        }
        for &(cycle, edge) in &found.divergent_exits {
            self.exits[edge.index()].push(cycle);
        }
        let exits = found.divergent_exits.iter().map(|&(_, e)| self.graph.target(e));
        for node in found.joins.iter().copied().chain(exits).collect::<Vec<_>>() {
            let phis = self.by_node.get(node.index()).iter().filter(|&&v| self.program.is_phi(v));
            phis.for_each(|v| self.engine.enqueue(v.0));
        }
    }
}

#[test]
fn the_propagation_engine_with_dynamic_control_edges_finds_what_the_uniformity_analysis_finds() {
    let number =
        |name: &str, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (first, count) = (number("WARPLINE_SEED", 0), number("WARPLINE_PROGRAMS", 3000));
    let (mut values, mut divergent, mut joined) = (0, 0, 0);
    for seed in first..first + count {
        let mut rng = SplitMix64::new(seed);
        let graph = graphs::reducible(&mut rng, 8);
        let graph = NormalForm::new(&graph).expect("the graph is reducible").graph().clone();
        let program = random_loop_closed(&mut rng, &graph, true);
        let dfs = DfsOrder::compute(&graph);
        let cycles = CycleForest::compute_with(&graph, &dfs);
        let schedule = [Schedule::Sweeps, Schedule::Fifo, Schedule::Lifo][seed as usize % 3];
        let found = Solver::solve(&graph, &program, &dfs, &cycles, schedule);
        let product = Uniformity::compute(&graph, &program);
        for v in program.values() {
            assert_eq!(
                found.divergent.contains(v.index()),
                product.is_divergent(v),
                "seed {seed}: {v} in {}",
                warpline_testkit::ssa_programs::describe(&graph, &program)
            );
        }
        values += program.value_count();
        divergent += found.divergent.count();
        joined += usize::from(!found.joined.is_empty());
    }
    println!("{values} values, {divergent} divergent, joins in {joined} programs");
    assert!(divergent * 5 > values && divergent * 5 < values * 4, "{divergent} of {values} divergent");
    assert!(joined as u64 * 4 > count, "joins in {joined} of {count} programs");
}
