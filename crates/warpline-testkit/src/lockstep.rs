//! Runs abstract SSA programs with many threads and observes what they disagree on.
//!
//! Values are 64-bit hashes of what they depend on, so that different inputs practically never give the same value.
//! Threads do not wait for each other: each runs on its own, and executions of the same instance (node and tag)
//! are compared afterwards, which is what converged means.

use std::collections::BTreeMap;

use warpline_analysis::uniformity::{Rule, SsaProgram, Value};
use warpline_analysis::{BitSet, CsrGraph, EdgeId, Graph, Lists, Node};

use crate::convergence::Trace;
use crate::rng::SplitMix64;
use crate::tagged::{Tag, Tags};

/// What threads were seen to disagree on.
#[derive(Clone, Debug)]
pub struct Observed {
    values: usize,
    /// Values that differed at an instance of their definition.
    pub divergent: BitSet,
    /// Nodes at an instance of which threads went to different targets.
    pub branches: BitSet,
    at: BitSet,
    on: BitSet,
    /// Nodes that were executed by two threads at one instance.
    pub shared: BitSet,
}

impl Observed {
    /// Nothing seen yet.
    pub fn nothing(graph: &CsrGraph, program: &SsaProgram) -> Self {
        let (nodes, values) = (graph.node_count(), program.value_count());
        Observed {
            values,
            divergent: BitSet::new(values),
            branches: BitSet::new(nodes),
            at: BitSet::new(nodes * values),
            on: BitSet::new(graph.edge_count() * values),
            shared: BitSet::new(nodes),
        }
    }

    /// Whether threads at an instance of `node` saw different values in `value`.
    pub fn differs_at(&self, value: Value, node: Node) -> bool {
        self.at.contains(node.index() * self.values + value.index())
    }

    /// Whether threads that took `edge` to an instance of its target saw different values in `value`.
    pub fn differs_on(&self, value: Value, edge: EdgeId) -> bool {
        self.on.contains(edge.index() * self.values + value.index())
    }
}

/// The values that a thread sees; an undefined one may be taken to be equal to anything.
type Environment = Vec<Option<u64>>;

/// What the first thread at an instance saw, and where it went.
struct Visit {
    environment: Environment,
    target: Option<Node>,
}

/// One run of a program.
struct Run<'a> {
    graph: &'a CsrGraph,
    program: &'a SsaProgram,
    by_node: Lists<Value>,
    tags: &'a Tags,
    seed: u64,
    /// How many different values there are; 0: 2^64.
    range: u64,
    visits: BTreeMap<(Node, Tag), Visit>,
    arrivals: BTreeMap<(EdgeId, Tag), Environment>,
    observed: &'a mut Observed,
}

/// Runs the program once with `threads` threads of at most `steps` nodes each and adds what is seen to `observed`.
/// Returns the nodes that each thread executed.
pub fn run(
    graph: &CsrGraph,
    program: &SsaProgram,
    tags: &Tags,
    seed: u64,
    threads: u64,
    steps: usize,
    observed: &mut Observed,
) -> Vec<Trace> {
    let (visits, arrivals) = (BTreeMap::new(), BTreeMap::new());
    let by_node = program.values_by_node();
    let mut run = Run { graph, program, by_node, tags, seed, range: 0, visits, arrivals, observed };
    (0..threads).map(|thread| run.thread(thread, steps)).collect()
}

/// What a thread has at the end of a node.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The node.
    pub node: Node,
    /// By number, the values as last computed; none where a value has not been computed or is undefined.
    pub values: &'a [Option<u64>],
    /// The edge that the thread takes next.
    pub edge: Option<EdgeId>,
}

/// The same with values below `range`, so that many are equal, and without those threads that come to a moment which is
/// not `allowed`. Returns how many threads were not left out.
#[expect(clippy::too_many_arguments, reason = "those of `run` and two more")]
pub fn run_where(
    graph: &CsrGraph,
    program: &SsaProgram,
    tags: &Tags,
    seed: u64,
    range: u64,
    threads: u64,
    steps: usize,
    allowed: impl Fn(Moment) -> bool,
    observed: &mut Observed,
) -> usize {
    let (visits, arrivals) = (BTreeMap::new(), BTreeMap::new());
    let by_node = program.values_by_node();
    let mut run = Run { graph, program, by_node, tags, seed, range, visits, arrivals, observed };
    let kept: Vec<u64> = (0..threads).filter(|&thread| run.is_allowed(thread, steps, &allowed)).collect();
    kept.iter().for_each(|&thread| _ = run.thread(thread, steps));
    kept.len()
}

fn hash(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0x5eed, |h, part| SplitMix64::new(h ^ part.rotate_left(17)).next_u64())
}

fn hash_tag(tag: &Tag) -> u64 {
    hash(tag.iter().map(|&c| u64::from(c)))
}

impl Run<'_> {
    fn begin(&self, thread: u64) -> Environment {
        let mut environment: Environment = vec![None; self.program.value_count()];
        for v in self.program.values().filter(|&v| self.program.node(v).is_none()) {
            let own = if self.program.rule(v) == Rule::Source { thread + 1 } else { 0 };
            environment[v.index()] = Some(self.value([self.seed, u64::from(v.0), own]));
        }
        environment
    }

    fn value(&self, parts: impl IntoIterator<Item = u64>) -> u64 {
        let hash = hash(parts);
        hash.checked_rem(self.range).unwrap_or(hash)
    }

    fn thread(&mut self, thread: u64, steps: usize) -> Trace {
        let mut environment = self.begin(thread);
        let mut node = self.graph.entry();
        let mut tag = self.tags.at_entry(node);
        let mut by = None;
        let mut trace = Vec::new();
        for step in 0..steps {
            trace.push(node);
            self.execute(thread, step as u64, node, &tag, by, &mut environment);
            let edge = self.choose(node, &tag, &environment);
            self.compare_visit(node, &tag, &environment, edge.map(|e| self.graph.target(e)));
            let Some(edge) = edge else { break };
            let target = self.graph.target(edge);
            tag = self.tags.step(&tag, node, target);
            self.compare_arrival(edge, &tag, &environment);
            (node, by) = (target, Some(edge));
        }
        trace
    }

    /// Whether a thread comes to allowed moments only.
    fn is_allowed(&self, thread: u64, steps: usize, allowed: &impl Fn(Moment) -> bool) -> bool {
        let mut environment = self.begin(thread);
        let (mut node, mut by) = (self.graph.entry(), None);
        let mut tag = self.tags.at_entry(node);
        for step in 0..steps {
            self.execute(thread, step as u64, node, &tag, by, &mut environment);
            let edge = self.choose(node, &tag, &environment);
            if !allowed(Moment { node, values: &environment, edge }) {
                return false;
            }
            let Some(edge) = edge else { break };
            let target = self.graph.target(edge);
            tag = self.tags.step(&tag, node, target);
            (node, by) = (target, Some(edge));
        }
        true
    }

    fn execute(
        &self,
        thread: u64,
        step: u64,
        node: Node,
        tag: &Tag,
        by: Option<EdgeId>,
        environment: &mut Environment,
    ) {
        let program = self.program;
        let before = environment.clone();
        for v in self.by_node.get(node.index()).to_vec() {
            let id = u64::from(v.0);
            environment[v.index()] = if program.is_phi(v) && program.rule(v) == Rule::Default {
                let taken = program.operands(v).find(|&(_, e)| e == by && by.is_some());
                taken.and_then(|(o, _)| before[o.index()])
            } else {
                let from: Option<Vec<u64>> =
                    program.operands(v).map(|(o, _)| environment[o.index()]).collect();
                match program.rule(v) {
                    Rule::Source => Some(self.value([self.seed, id, thread + 1, step])),
                    // Made of what is always uniform and of this very instance of the node, so it changes with it.
                    Rule::AlwaysUniform if program.is_pure(v) => {
                        let beside = |&o: &Value| {
                            program.node(o) == Some(node) && program.rule(o) == Rule::AlwaysUniform && o < v
                        };
                        let own = program.operands(v).map(|(o, _)| o).filter(beside);
                        let own: Option<Vec<u64>> = own.map(|o| environment[o.index()]).collect();
                        own.map(|own| self.value([self.seed, id].into_iter().chain(own)))
                    }
                    Rule::AlwaysUniform => Some(self.value([self.seed, id, hash_tag(tag)])),
                    Rule::Default if program.is_pure(v) => {
                        from.map(|from| self.value([id].into_iter().chain(from)))
                    }
                    Rule::Default => {
                        from.map(|from| self.value([self.seed, id, hash_tag(tag)].into_iter().chain(from)))
                    }
                }
            };
        }
    }

    /// The edge that a thread takes; none if there is none or the decision is undefined.
    fn choose(&self, node: Node, tag: &Tag, environment: &Environment) -> Option<EdgeId> {
        let out = self.graph.out_edges(node);
        let operands = self.program.terminator(node);
        let decision = if operands.is_empty() {
            hash([self.seed, u64::from(node.0), hash_tag(tag)])
        } else {
            let values: Option<Vec<u64>> = operands.iter().map(|o| environment[o.index()]).collect();
            hash([u64::from(node.0)].into_iter().chain(values?))
        };
        (!out.is_empty()).then(|| out[(decision % out.len() as u64) as usize])
    }

    fn compare_visit(&mut self, node: Node, tag: &Tag, environment: &Environment, target: Option<Node>) {
        let Some(first) = self.visits.get(&(node, tag.clone())) else {
            let visit = Visit { environment: environment.clone(), target };
            self.visits.insert((node, tag.clone()), visit);
            return;
        };
        self.observed.shared.insert(node.index());
        if let (Some(a), Some(b)) = (first.target, target)
            && a != b
        {
            self.observed.branches.insert(node.index());
        }
        for v in differing(&first.environment, environment) {
            self.observed.at.insert(node.index() * self.observed.values + v);
            if self.program.node(Value::new(v)).is_none_or(|n| n == node) {
                self.observed.divergent.insert(v);
            }
        }
    }

    fn compare_arrival(&mut self, edge: EdgeId, tag: &Tag, environment: &Environment) {
        let Some(first) = self.arrivals.get(&(edge, tag.clone())) else {
            self.arrivals.insert((edge, tag.clone()), environment.clone());
            return;
        };
        for v in differing(first, environment) {
            self.observed.on.insert(edge.index() * self.observed.values + v);
        }
    }
}

fn differing<'e>(a: &'e Environment, b: &'e Environment) -> impl Iterator<Item = usize> + 'e {
    let differ = |(x, y): (&Option<u64>, &Option<u64>)| x.is_some() && y.is_some() && x != y;
    (0..a.len()).filter(move |&v| differ((&a[v], &b[v])))
}
