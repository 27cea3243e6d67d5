//! The fixed point: everything is uniform until something speaks against it.

use std::collections::BinaryHeap;

use super::definitions::{Assigned, DefiniteDefinitions, Point};
use super::program::{Assignment, Expression, Var, VariableProgram};
use super::{Facts, FakeBackEdges, Options, Transformer, VariableUniformity};
use crate::reference::disjoint_paths::RelevantSplits;
use crate::reference::head_rewired::HeadRewired;
use crate::reference::normal_form::{NodeOrigin, NormalForm};
use warpline_analysis::bitset::BitSet;
use warpline_analysis::cycles::CycleId;
use warpline_analysis::graph::{CsrGraph, EdgeId, Graph, Node};
use warpline_analysis::uniformity::Rule;

pub(super) fn solve(normal: NormalForm, program: &VariableProgram, options: &Options) -> VariableUniformity {
    let mut never = BitSet::new(normal.graph().edge_count());
    never.union_with(normal.fake_back_edges());
    let mut no_path = match options.fake_back_edges {
        FakeBackEdges::Dead => never.clone(),
        FakeBackEdges::Paths => BitSet::new(normal.graph().edge_count()),
    };
    for &e in options.facts.dead_edges() {
        // One part that is never passed is enough, but the nodes on the edge should not count as alive.
        for part in normal.parts(e) {
            never.insert(part.index());
            no_path.insert(part.index());
        }
    }
    let rewired = HeadRewired::new(&normal, &no_path);
    let splits = RelevantSplits::new(&rewired);
    let effects = Effects::new(&normal, program, &options.facts);
    let definitions = (options.transformer == Transformer::ReachingDefinitions)
        .then(|| definite_definitions(&normal, &never, &effects, program.variable_count()));
    let mut solver = Solver::new(&normal, program, &rewired, &splits, &never, definitions.as_ref(), effects);
    solver.run();
    let Solver { at, after, divergent_branches, apart, .. } = solver;
    VariableUniformity { normal, splits, definitions, at, after, divergent_branches, apart }
}

/// The effects and facts of a program, by node and edge of the normal form.
struct Effects<'a> {
    at_node: Vec<&'a [Assignment]>,
    on_edge: Vec<&'a [Assignment]>,
    constants_at: Vec<Vec<Var>>,
    constants_after: Vec<Vec<Var>>,
    equal_on: Vec<Vec<(Var, Var)>>,
}

impl<'a> Effects<'a> {
    fn new(normal: &NormalForm, program: &'a VariableProgram, facts: &Facts) -> Self {
        let graph = normal.graph();
        let at_node = graph.nodes().map(|n| match normal.node_origin(n) {
            NodeOrigin::Node(n) => program.at_node(n),
            _ => &[],
        });
        // The first part of an edge does what the edge does.
        let on_edge = graph.edges().map(|e| match normal.edge_origin(e) {
            Some(old) if normal.parts(old).first() == Some(&e) => program.on_edge(old),
            _ => &[],
        });
        let mut effects = Effects {
            at_node: at_node.collect(),
            on_edge: on_edge.collect(),
            constants_at: vec![Vec::new(); graph.node_count()],
            constants_after: vec![Vec::new(); graph.node_count()],
            equal_on: vec![Vec::new(); graph.edge_count()],
        };
        facts.constants_at().iter().for_each(|&(n, v)| effects.constants_at[n.index()].push(v));
        facts.constants_after().iter().for_each(|&(n, v)| effects.constants_after[n.index()].push(v));
        for &(e, a, b) in facts.equalities() {
            // Nothing is assigned between the parts, so the equality holds behind each.
            normal.parts(e).iter().for_each(|part| effects.equal_on[part.index()].push((a, b)));
        }
        effects
    }

    /// What is uniform when threads leave `node`, from what is when they arrive.
    fn after(&self, node: Node, at: &BitSet) -> BitSet {
        let mut uniform = at.clone();
        for a in self.at_node[node.index()] {
            let value = is_uniform(&a.value, &uniform);
            set(&mut uniform, a.target, value);
        }
        for v in &self.constants_after[node.index()] {
            uniform.insert(v.index());
        }
        uniform
    }

    /// What is uniform behind `edge`, for threads that come from one instance of its source, from what is before it.
    fn behind(&self, edge: EdgeId, before: &BitSet) -> BitSet {
        let mut uniform = before.clone();
        for a in self.on_edge[edge.index()] {
            set(&mut uniform, a.target, is_uniform(&a.value, before));
        }
        let equalities = &self.equal_on[edge.index()];
        let mut changed = !equalities.is_empty();
        while changed {
            changed = false;
            for &(a, b) in equalities {
                if uniform.contains(a.index()) != uniform.contains(b.index()) {
                    uniform.insert(a.index());
                    uniform.insert(b.index());
                    changed = true;
                }
            }
        }
        uniform
    }
}

/// The targets of assignments.
fn targets(assignments: &[Assignment], variables: usize) -> BitSet {
    let mut targets = BitSet::new(variables);
    for a in assignments {
        targets.insert(a.target.index());
    }
    targets
}

fn set(uniform: &mut BitSet, var: Var, value: bool) {
    if value {
        uniform.insert(var.index());
    } else {
        uniform.remove(var.index());
    }
}

fn is_uniform(value: &Expression, uniform: &BitSet) -> bool {
    match value {
        Expression::Constant(_) | Expression::Compute(Rule::AlwaysUniform, _) => true,
        Expression::Compute(Rule::Source, _) => false,
        Expression::Copy(_) | Expression::Compute(Rule::Default, _) => {
            value.operands().iter().all(|v| uniform.contains(v.index()))
        }
    }
}

/// Definite reaching definitions on the part of the normal form that threads can run through.
fn definite_definitions(
    normal: &NormalForm,
    never: &BitSet,
    effects: &Effects,
    variables: usize,
) -> DefiniteDefinitions {
    let graph = normal.graph();
    let live: Vec<EdgeId> = graph.edges().filter(|e| !never.contains(e.index())).collect();
    let assigned = Assigned {
        at_node: effects.at_node.iter().map(|list| targets(list, variables)).collect(),
        on_edge: live.iter().map(|e| targets(effects.on_edge[e.index()], variables)).collect(),
    };
    let ends = live.iter().map(|&e| (graph.source(e), graph.target(e)));
    let live = CsrGraph::new(graph.node_count(), graph.entry(), ends).expect("a part of a graph");
    DefiniteDefinitions::compute(&live, variables, &assigned)
}

struct Solver<'a> {
    normal: &'a NormalForm,
    program: &'a VariableProgram,
    rewired: &'a HeadRewired,
    splits: &'a RelevantSplits,
    never: &'a BitSet,
    definitions: Option<&'a DefiniteDefinitions>,
    effects: Effects<'a>,
    at: Vec<BitSet>,
    after: Vec<BitSet>,
    divergent_branches: BitSet,
    apart: BitSet,
    /// By loop, the nodes behind it to which threads come, without taking back edges, that left it in different
    /// iterations or by different ways.
    left_apart: Vec<BitSet>,
    /// By node, the loops of which it is an exit.
    exited: Vec<Vec<CycleId>>,
    /// Nodes to look at again, by reverse post-order.
    waiting: BinaryHeap<(u32, Node)>,
    is_waiting: BitSet,
}

impl<'a> Solver<'a> {
    fn new(
        normal: &'a NormalForm,
        program: &'a VariableProgram,
        rewired: &'a HeadRewired,
        splits: &'a RelevantSplits,
        never: &'a BitSet,
        definitions: Option<&'a DefiniteDefinitions>,
        effects: Effects<'a>,
    ) -> Self {
        let graph = normal.graph();
        let mut all = BitSet::new(program.variable_count());
        program.variables().for_each(|v| {
            all.insert(v.index());
        });
        let nodes = graph.node_count();
        let mut exited = vec![Vec::new(); nodes];
        for c in normal.cycles().cycles() {
            normal.exits(c).iter().for_each(|e| exited[e.index()].push(c));
        }
        let after = graph.nodes().map(|n| effects.after(n, &all)).collect();
        Solver {
            normal,
            program,
            rewired,
            splits,
            never,
            definitions,
            effects,
            at: vec![all; nodes],
            after,
            divergent_branches: BitSet::new(nodes),
            apart: BitSet::new(nodes),
            left_apart: vec![BitSet::new(nodes); normal.cycles().len()],
            exited,
            waiting: BinaryHeap::new(),
            is_waiting: BitSet::new(nodes),
        }
    }

    fn run(&mut self) {
        for n in self.normal.graph().nodes().filter(|&n| self.rewired.is_alive(n)) {
            self.enqueue(n);
            self.look_at_branch(n);
        }
        while let Some((_, n)) = self.waiting.pop() {
            self.is_waiting.remove(n.index());
            let at = self.transform(n);
            if at != self.at[n.index()] {
                self.change(n, at);
            }
        }
    }

    fn enqueue(&mut self, node: Node) {
        // Nodes that only paths along fake back edges reach are none of the walk's.
        if let Some(number) = self.normal.dfs().post_number(node)
            && self.is_waiting.insert(node.index())
        {
            self.waiting.push((number as u32, node));
        }
    }

    /// The abstract transformer at one node.
    fn transform(&self, p: Node) -> BitSet {
        let graph = self.normal.graph();
        let mut uniform = BitSet::new(self.program.variable_count());
        if p == graph.entry() {
            let at_entry = self.program.variables().filter(|&v| !self.program.is_divergent_at_entry(v));
            at_entry.for_each(|v| {
                uniform.insert(v.index());
            });
        } else if !self.apart.contains(p.index()) {
            uniform = self.on_all_edges(p);
        }
        for v in &self.effects.constants_at[p.index()] {
            uniform.insert(v.index());
        }
        if let Some(definitions) = self.definitions {
            for v in self.program.variables() {
                let unchanged = |q: Point| {
                    let uniform = match q {
                        Point::At(n) => &self.at[n.index()],
                        Point::After(n) => &self.after[n.index()],
                    };
                    uniform.contains(v.index()) && !self.leaves_apart(q.node(), p)
                };
                if !uniform.contains(v.index()) && definitions.of(p, v).skip(1).any(unchanged) {
                    uniform.insert(v.index());
                }
            }
        }
        uniform
    }

    /// What is uniform behind each edge into `p`.
    fn on_all_edges(&self, p: Node) -> BitSet {
        let graph = self.normal.graph();
        let mut uniform = None;
        for &e in graph.in_edges(p) {
            let q = graph.source(e);
            if self.never.contains(e.index()) || !self.rewired.is_alive(q) {
                continue;
            }
            let behind = self.effects.behind(e, &self.after[q.index()]);
            match &mut uniform {
                None => uniform = Some(behind),
                Some(uniform) => {
                    uniform.intersect_with(&behind);
                }
            }
        }
        // No edge: no thread arrives, and all that is known of it holds.
        uniform.unwrap_or_else(|| self.at[p.index()].clone())
    }

    /// Whether threads can leave a loop around `q` apart on the way to `p`.
    fn leaves_apart(&self, q: Node, p: Node) -> bool {
        let cycles = self.normal.cycles();
        cycles
            .around(q)
            .take_while(|&c| !cycles.contains(c, p))
            .any(|c| self.left_apart[c.index()].contains(p.index()))
    }

    fn change(&mut self, n: Node, at: BitSet) {
        let after = self.effects.after(n, &at);
        self.at[n.index()] = at;
        if after != self.after[n.index()] {
            self.after[n.index()] = after;
            self.look_at_branch(n);
            let (graph, never) = (self.normal.graph(), self.never);
            let live = graph.out_edges(n).iter().filter(|e| !never.contains(e.index()));
            live.for_each(|&e| self.enqueue(graph.target(e)));
        }
        if let Some(definitions) = self.definitions {
            definitions.below(n).iter().filter(|&&p| p != n).for_each(|&p| self.enqueue(p));
        }
    }

    fn look_at_branch(&mut self, n: Node) {
        let NodeOrigin::Node(original) = self.normal.node_origin(n) else { return };
        let after = &self.after[n.index()];
        let uniform = self.program.branch(original).iter().all(|v| after.contains(v.index()));
        let Some(joins) = self.splits.joins_of(n).filter(|_| !uniform) else { return };
        if self.divergent_branches.insert(n.index()) {
            for p in joins.iter().map(Node::new) {
                if self.apart.insert(p.index()) {
                    self.enqueue(p);
                    self.leave(p);
                }
            }
        }
    }

    /// Threads arrive at `exit` apart.
    fn leave(&mut self, exit: Node) {
        for c in std::mem::take(&mut self.exited[exit.index()]) {
            let mut work = vec![exit];
            while let Some(n) = work.pop() {
                if self.left_apart[c.index()].insert(n.index()) {
                    self.enqueue(n);
                    work.extend(self.forward(n));
                }
            }
        }
    }

    /// The successors of a node along edges that are alive and lead to no header around it.
    fn forward(&self, n: Node) -> Vec<Node> {
        let (graph, dfs) = (self.normal.graph(), self.normal.dfs());
        let live = graph.out_edges(n).iter().filter(|e| !self.never.contains(e.index()));
        let targets = live.map(|&e| graph.target(e));
        // In a reducible graph the edges that go back in reverse post-order are the back edges.
        targets.filter(|&t| dfs.post_number(t) < dfs.post_number(n)).collect()
    }
}
