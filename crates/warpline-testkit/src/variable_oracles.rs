//! Paper 1's transformers for programs with variables, word for word on small graphs in normal form, and conversions
//! between programs with variables and programs in SSA form.

use std::collections::BTreeSet;

use crate::reference::variables::{Assignment, Expression, Var, VariableProgram};
use warpline_analysis::uniformity::{Rule, SsaProgram, Value};
use warpline_analysis::{CsrGraph, CycleForest, EdgeId, Graph, Node};

use crate::graph_oracles::{Dominance, reachable};
use crate::tagged::Unrolled;

/// Which transformer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Formula {
    /// Definition 4.7.
    Plain,
    /// Definition 6.6, asking for the branch variables of the splits.
    ReachingDefinitions,
    /// Definition 6.6 as printed, asking for the variable itself at the splits.
    AsPrinted,
}

/// What is uniform, by node and variable.
pub type Uniform = Vec<Vec<bool>>;

/// A program over a graph in normal form, with everything the definitions speak of. All effects are on edges: a node
/// with assignments is a chain with one of them on each edge, at the end of which control branches.
pub struct Definitions {
    original_nodes: usize,
    graph: CsrGraph,
    program: VariableProgram,
    cycles: CycleForest,
    /// By node, its splits by Definition 4.5.
    splits: Vec<BTreeSet<usize>>,
    /// By node and variable, Definition 6.4.
    reaching: Vec<Vec<BTreeSet<usize>>>,
}

impl Definitions {
    /// Finds splits and reaching definitions. `graph` must be in normal form.
    pub fn new(graph: &CsrGraph, program: &VariableProgram) -> Self {
        let original_nodes = graph.node_count();
        let (graph, program) = effects_on_edges(graph, program);
        let (splits, cycles) = (tagged_splits(&graph), CycleForest::compute(&graph));
        let mut found = Definitions { original_nodes, graph, program, cycles, splits, reaching: Vec::new() };
        found.reaching = found.definite_definitions();
        found
    }

    fn definite_definitions(&self) -> Vec<Vec<BTreeSet<usize>>> {
        let graph = &self.graph;
        let all: BTreeSet<usize> = graph.nodes().map(|n| n.index()).collect();
        let mut sets = vec![vec![all; self.program.variable_count()]; graph.node_count()];
        loop {
            let before = sets.clone();
            for p in graph.nodes() {
                for x in self.program.variables() {
                    let mut set: Option<BTreeSet<usize>> = None;
                    for &e in graph.in_edges(p) {
                        let q = graph.source(e);
                        let assigns = |a: &Assignment| a.target == x;
                        let is_def =
                            self.program.at_node(q).iter().chain(self.program.on_edge(e)).any(assigns);
                        let passed =
                            if is_def { BTreeSet::new() } else { before[q.index()][x.index()].clone() };
                        set =
                            Some(set.map_or(passed.clone(), |s| s.intersection(&passed).copied().collect()));
                    }
                    let mut set = set.unwrap_or_default();
                    set.insert(p.index());
                    sets[p.index()][x.index()] = set;
                }
            }
            if sets == before {
                return sets;
            }
        }
    }

    /// The greatest fixed point of a transformer, for where control arrives at the given graph's nodes.
    pub fn fixed_point(&self, formula: Formula) -> Uniform {
        let mut uniform = vec![vec![true; self.program.variable_count()]; self.graph.node_count()];
        loop {
            let mut next = uniform.clone();
            for p in self.graph.nodes() {
                for x in self.program.variables() {
                    next[p.index()][x.index()] = self.transform(&uniform, p, x, formula);
                }
            }
            if next == uniform {
                uniform.truncate(self.original_nodes);
                return uniform;
            }
            uniform = next;
        }
    }

    fn transform(&self, uniform: &Uniform, p: Node, x: Var, formula: Formula) -> bool {
        if p == self.graph.entry() {
            return !self.program.is_divergent_at_entry(x);
        }
        let homogeneous = self.splits[p.index()].iter().all(|&s| self.branch_is_uniform(uniform, s));
        let on_all = self
            .graph
            .in_edges(p)
            .iter()
            .all(|&e| self.behind(e, &uniform[self.graph.source(e).index()])[x.index()]);
        if homogeneous && on_all {
            return true;
        }
        if formula == Formula::Plain {
            return false;
        }
        self.reaching[p.index()][x.index()].iter().filter(|&&q| q != p.index()).any(|&q| {
            uniform[q][x.index()]
                && self.lsplits(q, p).into_iter().all(|s| match formula {
                    Formula::AsPrinted => uniform[s][x.index()],
                    _ => self.branch_is_uniform(uniform, s),
                })
        })
    }

    /// The relevant splits of exits of loops around `q` from which `p` can be reached without back edges.
    fn lsplits(&self, q: usize, p: Node) -> BTreeSet<usize> {
        let cycles = &self.cycles;
        let is_back = |e: EdgeId| {
            let (s, t) = (self.graph.source(e), self.graph.target(e));
            cycles.around(t).any(|c| cycles.header(c) == t && cycles.contains(c, s))
        };
        let forward: Vec<(Node, Node)> = self
            .graph
            .edges()
            .filter(|&e| !is_back(e))
            .map(|e| (self.graph.source(e), self.graph.target(e)))
            .collect();
        let forward =
            CsrGraph::new(self.graph.node_count(), self.graph.entry(), forward).expect("a part of a graph");
        let mut found = BTreeSet::new();
        for c in cycles.around(Node::new(q)) {
            for e in cycles.exit_edges(&self.graph, c).map(|e| self.graph.target(e)) {
                if reachable(&forward, e.index(), |_| false)[p.index()] {
                    found.extend(&self.splits[e.index()]);
                }
            }
        }
        found
    }

    fn branch_is_uniform(&self, uniform: &Uniform, s: usize) -> bool {
        self.program.branch(Node::new(s)).iter().all(|b| uniform[s][b.index()])
    }

    fn behind(&self, edge: EdgeId, before: &[bool]) -> Vec<bool> {
        let mut behind = before.to_vec();
        for a in self.program.on_edge(edge) {
            behind[a.target.index()] = value_is_uniform(&a.value, before);
        }
        behind
    }
}

/// Splits by Definition 4.5.
fn tagged_splits(graph: &CsrGraph) -> Vec<BTreeSet<usize>> {
    let tagged = Unrolled::new(graph, 3);
    let mut splits = vec![BTreeSet::new(); graph.node_count()];
    for s in graph.nodes() {
        tagged.joins(s).iter().for_each(|p| {
            splits[p.index()].insert(s.index());
        });
    }
    splits
}

/// The same program with all assignments on edges. Nodes keep their numbers: they are where control arrives.
fn effects_on_edges(graph: &CsrGraph, program: &VariableProgram) -> (CsrGraph, VariableProgram) {
    let (mut count, mut edges) = (graph.node_count(), Vec::new());
    let mut builder = VariableProgram::builder();
    program.variables().for_each(|v| {
        builder.variable(program.is_divergent_at_entry(v));
    });
    let mut last: Vec<usize> = (0..count).collect();
    for n in graph.nodes() {
        for a in program.at_node(n) {
            builder.assign_on(EdgeId::new(edges.len()), a.target, a.value.clone());
            edges.push((last[n.index()], count));
            last[n.index()] = count;
            count += 1;
        }
        builder.branch(Node::new(last[n.index()]), program.branch(n).iter().copied());
    }
    for e in graph.edges() {
        for a in program.on_edge(e) {
            builder.assign_on(EdgeId::new(edges.len()), a.target, a.value.clone());
        }
        edges.push((last[graph.source(e).index()], graph.target(e).index()));
    }
    let ends = edges.into_iter().map(|(s, t)| (Node::new(s), Node::new(t)));
    let graph = CsrGraph::new(count, graph.entry(), ends).expect("a chain for each node");
    let program = builder.build(&graph).expect("the program's own variables");
    (graph, program)
}

/// Uniformity of a program in SSA form with one bit per value, as Definition 4.7 says it of the value's definition:
/// φs ask for their operands and for the branch variables of the splits that are relevant for their node. `graph`
/// must be in normal form.
pub fn one_bit_per_value(graph: &CsrGraph, ssa: &SsaProgram) -> Vec<bool> {
    let splits = tagged_splits(graph);
    let mut uniform = vec![true; ssa.value_count()];
    loop {
        let before = uniform.clone();
        for v in ssa.values() {
            let operands = ssa.operands(v).all(|(o, _)| before[o.index()]);
            let homogeneous = |n: Node| {
                let mut splits = splits[n.index()].iter();
                splits.all(|&s| ssa.terminator(Node::new(s)).iter().all(|b| before[b.index()]))
            };
            uniform[v.index()] = match ssa.rule(v) {
                Rule::Source => false,
                Rule::AlwaysUniform => true,
                Rule::Default if ssa.is_phi(v) => operands && ssa.node(v).is_none_or(homogeneous),
                Rule::Default => operands,
            };
        }
        if uniform == before {
            return uniform;
        }
    }
}

fn value_is_uniform(value: &Expression, uniform: &[bool]) -> bool {
    match value {
        Expression::Constant(_) => true,
        Expression::Compute(Rule::Source, _) => false,
        Expression::Compute(Rule::AlwaysUniform, _) => true,
        Expression::Copy(v) => uniform[v.index()],
        Expression::Compute(Rule::Default, operands) => operands.iter().all(|v| uniform[v.index()]),
    }
}

/// The program with a variable for each value: φs are assignments on edges, which happen at once.
pub fn from_ssa(graph: &CsrGraph, ssa: &SsaProgram) -> VariableProgram {
    let mut builder = VariableProgram::builder();
    for v in ssa.values() {
        builder.variable(ssa.node(v).is_none() && ssa.rule(v) == Rule::Source);
    }
    let var = |v: Value| Var(v.0);
    for v in ssa.values() {
        let Some(node) = ssa.node(v) else { continue };
        if ssa.is_phi(v) {
            for (operand, edge) in ssa.operands(v) {
                let edge = edge.expect("a φ's operands belong to edges");
                builder.assign_on(edge, var(v), Expression::Copy(var(operand)));
            }
        } else {
            let operands = ssa.operands(v).map(|(o, _)| var(o)).collect();
            builder.assign(node, var(v), Expression::Compute(ssa.rule(v), operands));
        }
    }
    for node in graph.nodes() {
        builder.branch(node, ssa.terminator(node).iter().map(|&v| var(v)));
    }
    builder.build(graph).expect("the program's own nodes, edges and values")
}

/// A program in SSA form that does what a program with variables does.
pub struct InSsa {
    /// The program.
    pub program: SsaProgram,
    /// By node and variable, the value that the variable has when control arrives.
    pub at: Vec<Vec<Value>>,
}

/// What makes a value.
enum Made {
    Argument(Var),
    Phi(Node, Var),
    Assigned(Node, usize),
}

/// Brings a program into minimal SSA form: φs are placed by the definition of iterated dominance frontiers. The entry
/// must have no predecessors, and nothing be assigned on edges.
pub fn into_ssa(graph: &CsrGraph, program: &VariableProgram) -> InSsa {
    let dominance = Dominance::of(graph);
    let mut made: Vec<Made> = program.variables().map(Made::Argument).collect();
    for x in program.variables() {
        let assigns = |n: &Node| program.at_node(*n).iter().any(|a| a.target == x);
        let mut defs: Vec<usize> = graph.nodes().filter(assigns).map(|n| n.index()).collect();
        defs.push(graph.entry().index());
        for n in dominance.iterated_frontier(graph, &defs) {
            made.push(Made::Phi(Node::new(n), x));
        }
    }
    for n in graph.nodes() {
        made.extend((0..program.at_node(n).len()).map(|i| Made::Assigned(n, i)));
    }
    let names = Names { program, dominance: &dominance, made: &made };
    let at: Vec<Vec<Value>> =
        graph.nodes().map(|n| program.variables().map(|x| names.at(n, x)).collect()).collect();
    let mut builder = SsaProgram::builder();
    for what in &made {
        match *what {
            Made::Argument(x) => {
                let divergent = program.is_divergent_at_entry(x);
                builder.argument(if divergent { Rule::Source } else { Rule::Default });
            }
            Made::Phi(n, x) => {
                let operands = graph.in_edges(n).iter().map(|&e| (e, Some(names.after(graph.source(e), x))));
                let operands: Vec<_> = operands.collect();
                builder.phi(n, Rule::Default, operands);
            }
            Made::Assigned(n, i) => {
                let value = &program.at_node(n)[i].value;
                let operands: Vec<Value> = value.operands().iter().map(|&x| names.before(n, i, x)).collect();
                let rule = if let Expression::Compute(rule, _) = value { *rule } else { Rule::Default };
                let v = builder.plain(n, rule, operands);
                if !matches!(value, Expression::Compute(..)) {
                    builder.set_pure(v);
                }
            }
        }
    }
    for n in graph.nodes() {
        let on: Vec<Value> = program.branch(n).iter().map(|&x| names.after(n, x)).collect();
        builder.terminator(n, on);
    }
    InSsa { program: builder.build(graph).expect("names are those of made values"), at }
}

/// Which value a variable has where.
struct Names<'a> {
    program: &'a VariableProgram,
    dominance: &'a Dominance,
    made: &'a [Made],
}

impl Names<'_> {
    fn find(&self, is: impl Fn(&Made) -> bool) -> Option<Value> {
        self.made.iter().position(is).map(Value::new)
    }

    fn at(&self, n: Node, x: Var) -> Value {
        if let Some(phi) = self.find(|m| matches!(m, Made::Phi(at, var) if *at == n && *var == x)) {
            return phi;
        }
        match self.dominance.idom(n.index()) {
            Some(above) => self.after(Node::new(above), x),
            None => Value(x.0),
        }
    }

    fn after(&self, n: Node, x: Var) -> Value {
        self.before(n, self.program.at_node(n).len(), x)
    }

    /// Before an assignment of a node.
    fn before(&self, n: Node, i: usize, x: Var) -> Value {
        match self.program.at_node(n)[..i].iter().rposition(|a| a.target == x) {
            Some(last) => self
                .find(|m| matches!(m, Made::Assigned(at, j) if *at == n && *j == last))
                .expect("every assignment makes a value"),
            None => self.at(n, x),
        }
    }
}
