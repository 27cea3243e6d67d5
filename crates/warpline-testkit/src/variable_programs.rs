//! Random programs with variables, and what threads that run them disagree on.
//!
//! The runs follow paper 1, Definition 4.1: the states of two threads at the same instance of a node, which is a node
//! and its tag, are compared variable by variable, when threads arrive and when they leave. Values are hashes of what
//! they depend on.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::reference::variables::{Expression, Facts, Point, Var, VariableProgram};
use warpline_analysis::uniformity::Rule;
use warpline_analysis::{BitSet, CsrGraph, EdgeId, Graph, Node};

use crate::rng::SplitMix64;
use crate::tagged::{Tag, Tags};

/// What random programs look like.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether there are assignments on edges.
    pub on_edges: bool,
}

/// A program over `graph` with a handful of variables, the first of which is different in every thread.
pub fn random(rng: &mut SplitMix64, graph: &CsrGraph, style: Style) -> VariableProgram {
    let mut builder = VariableProgram::builder();
    let vars: Vec<Var> = (0..rng.between(3, 6)).map(|i| builder.variable(i == 0)).collect();
    let source_in = *rng.pick(&[10, 25, 60]);
    // In most programs branches seldom look at the variable that is different from the start.
    let lane_in = *rng.pick(&[1, 3, 8]);
    let operand = |rng: &mut SplitMix64| {
        let v = *rng.pick(&vars);
        if v == vars[0] && !rng.chance(1, lane_in) { *rng.pick(&vars[1..]) } else { v }
    };
    let expression = |rng: &mut SplitMix64| match rng.below(10) {
        0..=2 => Expression::Constant(rng.below(3) as u64),
        3..=4 => Expression::Copy(operand(rng)),
        _ => {
            let rule = match rng.below(source_in) {
                0 => Rule::Source,
                1 => Rule::AlwaysUniform,
                _ => Rule::Default,
            };
            Expression::Compute(rule, (0..rng.below(3)).map(|_| operand(rng)).collect())
        }
    };
    let target = |rng: &mut SplitMix64| *rng.pick(&vars[1..]);
    for node in graph.nodes() {
        for _ in 0..rng.below(3) {
            builder.assign(node, target(rng), expression(rng));
        }
        if graph.out_edges(node).len() > 1 && rng.chance(9, 10) {
            builder.branch(node, [operand(rng)]);
        }
    }
    for edge in graph.edges().filter(|_| style.on_edges) {
        if rng.chance(1, 4) {
            let mut targets = vars[1..].to_vec();
            rng.shuffle(&mut targets);
            for to in targets.into_iter().take(rng.between(1, 2)) {
                builder.assign_on(edge, to, expression(rng));
            }
        }
    }
    builder.build(graph).expect("the program names existing nodes, edges and variables only")
}

/// What threads were seen to disagree on.
#[derive(Clone, Debug)]
pub struct Observed {
    variables: usize,
    at: BitSet,
    after: BitSet,
    /// Nodes from an instance of which threads went on along different edges.
    pub branches: BitSet,
    /// Nodes at an instance of which threads arrived from different instances of their predecessors.
    pub apart: BitSet,
    /// Nodes that were executed by two threads at one instance.
    pub shared: BitSet,
    /// By node and earlier point, the variables that were seen to have changed in between. All of them if the point
    /// was not passed at all.
    pub changed_since: BTreeMap<(Node, Point), BitSet>,
    /// Threads that were left out since what they did is known not to happen.
    pub inconsistent: usize,
    /// Threads that were compared.
    pub threads: usize,
}

impl Observed {
    /// Nothing seen yet.
    pub fn nothing(graph: &CsrGraph, program: &VariableProgram) -> Self {
        let (nodes, variables) = (graph.node_count(), program.variable_count());
        Observed {
            variables,
            at: BitSet::new(nodes * variables),
            after: BitSet::new(nodes * variables),
            branches: BitSet::new(nodes),
            apart: BitSet::new(nodes),
            shared: BitSet::new(nodes),
            changed_since: BTreeMap::new(),
            inconsistent: 0,
            threads: 0,
        }
    }

    /// Whether threads arrived at one instance of `node` with different values in `var`.
    pub fn differs_at(&self, node: Node, var: Var) -> bool {
        self.at.contains(node.index() * self.variables + var.index())
    }

    /// Whether threads left one instance of `node` with different values in `var`.
    pub fn differs_after(&self, node: Node, var: Var) -> bool {
        self.after.contains(node.index() * self.variables + var.index())
    }
}

/// What a thread did at one node.
struct Visit {
    node: Node,
    tag: Tag,
    at: Vec<u64>,
    after: Vec<u64>,
    /// The instance and the edge from which it came, and the edge on which it went on.
    from: Option<(Node, Tag, EdgeId)>,
    to: Option<EdgeId>,
}

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    /// Decides about values and branches.
    pub seed: u64,
    /// The number of threads.
    pub threads: u64,
    /// After so many nodes a thread stops.
    pub steps: usize,
}

/// Everything that holds in one run: edges that are never taken, variables that are constant where control arrives at
/// or leaves a node, pairs that are equal behind an edge. Of these facts, so many in twelve that `rng` picks.
pub fn facts_of_run(
    graph: &CsrGraph,
    program: &VariableProgram,
    tags: &Tags,
    runs: Runs,
    rng: &mut SplitMix64,
    in_twelve: usize,
) -> Facts {
    let paths: Vec<Vec<Visit>> = (0..runs.threads)
        .map(|thread| one_thread(graph, program, tags, runs, thread, initial_values(program, runs, thread)))
        .collect();
    let visits = || paths.iter().flatten();
    let arrivals = |e: EdgeId| visits().filter(move |v| v.from.as_ref().is_some_and(|f| f.2 == e));
    let mut facts = Facts::none();
    let mut picked = || rng.chance(in_twelve, 12);
    for e in graph.edges() {
        if arrivals(e).next().is_none() {
            facts = if picked() { facts.dead_edge(e) } else { facts };
            continue;
        }
        for a in program.variables() {
            for b in program.variables().filter(|&b| b > a) {
                if arrivals(e).all(|v| v.at[a.index()] == v.at[b.index()]) && picked() {
                    facts = facts.equal_on(e, a, b);
                }
            }
        }
    }
    let is_constant = |values: Vec<u64>| values.windows(2).all(|pair| pair[0] == pair[1]);
    for n in graph.nodes() {
        for x in program.variables() {
            let here = || visits().filter(|v| v.node == n);
            if is_constant(here().map(|v| v.at[x.index()]).collect()) && picked() {
                facts = facts.constant_at(n, x);
            }
            if is_constant(here().map(|v| v.after[x.index()]).collect()) && picked() {
                facts = facts.constant_after(n, x);
            }
        }
    }
    facts
}

fn initial_values(program: &VariableProgram, runs: Runs, thread: u64) -> Vec<u64> {
    let initial = |v: Var| {
        let own = if program.is_divergent_at_entry(v) { thread + 1 } else { 0 };
        hash([runs.seed, u64::from(v.0), own])
    };
    program.variables().map(initial).collect()
}

/// Runs the program once and adds what is seen to `observed`. Threads that do what `facts` say does not happen are left
/// out. `start` may change the values with which a thread starts.
pub fn run(
    graph: &CsrGraph,
    program: &VariableProgram,
    tags: &Tags,
    facts: &Facts,
    runs: Runs,
    start: impl Fn(u64, &mut Vec<u64>),
    observed: &mut Observed,
) {
    let mut first: BTreeMap<(Node, Tag), Visit> = BTreeMap::new();
    // A constant is the same in every thread and every time.
    let mut constants: BTreeMap<(bool, Node, Var), u64> = BTreeMap::new();
    for thread in 0..runs.threads {
        let mut values = initial_values(program, runs, thread);
        start(thread, &mut values);
        let path = one_thread(graph, program, tags, runs, thread, values);
        if !is_consistent(&path, facts, &mut constants) {
            observed.inconsistent += 1;
            continue;
        }
        observed.threads += 1;
        observe_changes(graph, &path, observed);
        for visit in path {
            match first.entry((visit.node, visit.tag.clone())) {
                Entry::Vacant(entry) => {
                    entry.insert(visit);
                }
                Entry::Occupied(entry) => compare(entry.get(), &visit, observed),
            }
        }
    }
}

fn compare(a: &Visit, b: &Visit, observed: &mut Observed) {
    let n = a.node.index();
    observed.shared.insert(n);
    if a.from != b.from {
        observed.apart.insert(n);
    }
    if a.to != b.to && a.to.is_some() && b.to.is_some() {
        observed.branches.insert(n);
    }
    for v in 0..observed.variables {
        if a.at[v] != b.at[v] {
            observed.at.insert(n * observed.variables + v);
        }
        if a.after[v] != b.after[v] {
            observed.after.insert(n * observed.variables + v);
        }
    }
}

fn hash(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0x5eed, |h, part| SplitMix64::new(h ^ part.rotate_left(17)).next_u64())
}

fn one_thread(
    graph: &CsrGraph,
    program: &VariableProgram,
    tags: &Tags,
    runs: Runs,
    thread: u64,
    mut values: Vec<u64>,
) -> Vec<Visit> {
    let mut path = Vec::new();
    let (mut node, mut tag, mut from) = (graph.entry(), tags.at_entry(graph.entry()), None);
    for step in 0..runs.steps {
        let at = values.clone();
        let clock = hash(tag.iter().map(|&c| u64::from(c)));
        let evaluate = |place: u64, i: usize, value: &Expression, values: &[u64]| {
            let id = [runs.seed, place, i as u64];
            let operands = value.operands().iter().map(|o| values[o.index()]);
            match value {
                Expression::Constant(c) => hash([*c]),
                Expression::Copy(v) => values[v.index()],
                Expression::Compute(Rule::Source, _) => hash(id.into_iter().chain([thread + 1, step as u64])),
                Expression::Compute(Rule::AlwaysUniform, _) => hash(id.into_iter().chain([clock])),
                Expression::Compute(Rule::Default, _) => hash(id.into_iter().chain([clock]).chain(operands)),
            }
        };
        for (i, a) in program.at_node(node).iter().enumerate() {
            values[a.target.index()] = evaluate(u64::from(node.0), i, &a.value, &values);
        }
        let after = values.clone();
        let out = graph.out_edges(node);
        let on = program.branch(node).iter().map(|v| values[v.index()]);
        let decision = match program.branch(node).is_empty() {
            true => hash([runs.seed, u64::from(node.0), clock]),
            false => hash([runs.seed, u64::from(node.0)].into_iter().chain(on)),
        };
        let to = (!out.is_empty()).then(|| out[(decision % out.len() as u64) as usize]);
        path.push(Visit { node, tag: tag.clone(), at, after, from, to });
        let Some(edge) = to else { break };
        let before = values.clone();
        for (i, a) in program.on_edge(edge).iter().enumerate() {
            values[a.target.index()] = evaluate(!u64::from(edge.0), i, &a.value, &before);
        }
        from = Some((node, tag.clone(), edge));
        tag = tags.step(&tag, node, graph.target(edge));
        node = graph.target(edge);
    }
    path
}

/// Whether nothing in a run speaks against the facts.
fn is_consistent(path: &[Visit], facts: &Facts, constants: &mut BTreeMap<(bool, Node, Var), u64>) -> bool {
    let mut known = constants.clone();
    for visit in path {
        let by = visit.from.as_ref().map(|&(_, _, edge)| edge);
        let unequal =
            |&(e, a, b): &(EdgeId, Var, Var)| by == Some(e) && visit.at[a.index()] != visit.at[b.index()];
        if by.is_some_and(|e| facts.dead_edges().contains(&e)) || facts.equalities().iter().any(unequal) {
            return false;
        }
        let lists = [(false, facts.constants_at(), &visit.at), (true, facts.constants_after(), &visit.after)];
        for (after, list, values) in lists {
            for &(n, v) in list.iter().filter(|&&(n, _)| n == visit.node) {
                let value = values[v.index()];
                if *known.entry((after, n, v)).or_insert(value) != value {
                    return false;
                }
            }
        }
    }
    *constants = known;
    true
}

/// Compares the values at each node with those at the last passage of every other point (Definition 6.2).
fn observe_changes(graph: &CsrGraph, path: &[Visit], observed: &mut Observed) {
    let mut last: Vec<Option<&Visit>> = vec![None; graph.node_count()];
    for visit in path {
        for earlier in graph.nodes().filter(|&n| n != visit.node) {
            let last = last[earlier.index()];
            for (point, values) in
                [(Point::At(earlier), last.map(|l| &l.at)), (Point::After(earlier), last.map(|l| &l.after))]
            {
                let unseen = || BitSet::new(observed.variables);
                let changed = observed.changed_since.entry((visit.node, point)).or_insert_with(unseen);
                for v in 0..observed.variables {
                    if values.is_none_or(|values| values[v] != visit.at[v]) {
                        changed.insert(v);
                    }
                }
            }
        }
        last[visit.node.index()] = Some(visit);
    }
}
