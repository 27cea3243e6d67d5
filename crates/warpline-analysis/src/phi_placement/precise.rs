//! Precise φ placement at the price of dominance frontiers: the join set of the definitions that there are, and no
//! definition on entry is made up.
//!
//! The join set lies in the iterated dominance frontier *K*, and is all of it if the variable is defined on entry
//! (Cytron et al. 1991). What tells the two apart is cheaper than the frontier itself, since most of the frontier
//! need not be looked at:
//!
//! * *Nothing to join.* A variable that one node defines has no joins. Most variables of real programs are of
//!   this kind, and a function in which all are needs no dominator tree.
//! * *Dominated candidates.* A node of *K* that a definition or a join strictly dominates is a join: of the two paths
//!   that make it a member of *K*, the one that may begin at the made-up definition passes the dominating one.
//! * *Classes.* Definitions and candidates are taken from the deepest level of the dominator tree upwards, as
//!   Sreedhar and Gao do (1995). Then all marked nodes below the one that is taken are known, and with them the edges
//!   that carry what it holds to other candidates. A candidate at which only one definition has arrived so far
//!   belongs to the *class* of that definition. When something of another class arrives, it is a join: whatever
//!   arrives later, members of different classes never come to hold the same.
//! * *One class left.* When all nodes that wait to be taken are of one class, all that is above them will be reached
//!   by it alone. If no other class has a member that is still open to arrivals from above, there are no more joins.
//! * *Late joins.* A candidate can become a join after it was taken. Other members of its class may have got what
//!   they hold from it, and are looked at again: on the small graph of the edges found. A candidate is a join iff its
//!   immediate dominator there is a super-source that leads to all definitions and known joins (two paths with no
//!   common node: Menger). A few rounds of flow (below) almost always tell; if not, dominators do.
//! * *Few variables.* If only a few variables of a function have anything to join, their definitions flow along the
//!   edges: every node keeps the first that arrives, and is a join if another one does. With the joins as definitions
//!   this is repeated until nothing more meets. A dominator tree costs more than that.
//!
//! So the cost is that of the part of the iterated frontier where more than one class is under way, and never more
//! than that of the whole and of dominators on it, up to sorting.
//!
//! Candidates that are no joins hold what one definition left, or nothing; renaming learns which from an [`Alias`].

use alloc::vec::Vec;

use super::dominance_frontiers::Frontiers;
use super::liveness::Liveness;
use super::{Accesses, Dominators, Placement, Pruning, is_unentered};
use crate::dom::DomTree;
use crate::graph::{Graph, Node};
use flow::Flow;
use open::Open;
use small_graph::{End, SmallGraph};
use waiting::Waiting;

mod flow;
mod open;
mod small_graph;
mod waiting;

/// What a variable holds where dominance does not say it: a candidate for a φ that only one definition reaches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Alias {
    /// The variable.
    pub variable: usize,
    /// A node that has no φ for the variable, and that no definition of it dominates.
    pub node: Node,
    /// A node that writes the variable or has a φ for it. At the beginning of `node` the variable holds what it
    /// holds at the end of this one, if anything.
    pub definition: Node,
}

/// Places φs at the joins of each variable's definitions. With [`Pruning::Pruned`] at those where it is live.
/// Linear in the graph for each variable with anything to join, at most; a variable of one block costs nothing.
pub fn place<G: Graph>(dominators: &Dominators<G>, accesses: &Accesses, pruning: Pruning) -> Placement {
    run(dominators, accesses, pruning, Limits::of(dominators.graph()), None)
}

/// The same by dominators, also for few variables.
/// Linear in the graph for each variable with anything to join, at most.
#[doc(hidden)]
pub fn place_by_dominators<G: Graph>(
    dominators: &Dominators<G>,
    accesses: &Accesses,
    pruning: Pruning,
) -> Placement {
    let limits = Limits { variables: 0, ..Limits::of(dominators.graph()) };
    run(dominators, accesses, pruning, limits, None)
}

/// The same without stored frontiers, as on graphs where these would be too large.
/// Linear in the graph for each variable with anything to join, at most.
#[doc(hidden)]
pub fn place_by_walks<G: Graph>(
    dominators: &Dominators<G>,
    accesses: &Accesses,
    pruning: Pruning,
) -> Placement {
    run(dominators, accesses, pruning, Limits { variables: 0, edges: 0, frontiers: 0 }, None)
}

/// The same, and what renaming needs besides: a variable holds at the beginning of a node what its φ there says, or
/// else an alias, or else what it holds at the end of the immediate dominator. Aliases are ordered by variable and
/// node. Pruned placement has them where the variable is live.
/// Linear in the graph for each variable with anything to join, at most.
pub fn place_with_aliases<G: Graph>(
    dominators: &Dominators<G>,
    accesses: &Accesses,
    pruning: Pruning,
) -> (Placement, Vec<Alias>) {
    let mut aliases = Vec::new();
    let placement = run(dominators, accesses, pruning, Limits::of(dominators.graph()), Some(&mut aliases));
    (placement, aliases)
}

fn run<G: Graph>(
    dominators: &Dominators<G>,
    accesses: &Accesses,
    pruning: Pruning,
    limits: Limits,
    mut aliases: Option<&mut Vec<Alias>>,
) -> Placement {
    let graph = dominators.graph();
    accesses.expect_graph(graph);
    let with_aliases = aliases.is_some();
    let skip = |x: usize| {
        let nothing = match with_aliases {
            false => has_nothing_to_join(graph, accesses, x),
            true => accesses.definitions(x).is_empty(),
        };
        nothing || pruning != Pruning::Minimal && accesses.exposed(x).is_empty()
    };
    let count = (0..accesses.variables()).filter(|&x| !skip(x)).take(limits.variables + 1).count();
    let few = !with_aliases && count <= limits.variables;
    let mut placement = Placement::with_capacity(accesses.variables());
    let mut search: Option<Search<G>> = None;
    let mut flow: Option<Flow<G>> = None;
    let mut liveness = None;
    for x in 0..accesses.variables() {
        if skip(x) {
            placement.push([]);
            continue;
        }
        let definitions = accesses.definitions(x);
        if pruning == Pruning::Pruned {
            let liveness = liveness.get_or_insert_with(|| Liveness::new(graph.node_count()));
            liveness.of(graph, definitions, accesses.exposed(x));
        }
        if few && search.is_none() {
            let flow = flow.get_or_insert_with(|| Flow::new(graph, limits.edges / count));
            if let Some(joins) =
                flow.variable(definitions, accesses.is_defined_on_entry(x), liveness.as_ref())
            {
                placement.push(joins.iter().copied());
                continue;
            }
        }
        let search = search.get_or_insert_with(|| Search::new(graph, dominators.tree(), limits.frontiers));
        let joins = search.variable(accesses, x, liveness.as_ref(), aliases.as_deref_mut());
        placement.push(joins.iter().copied());
    }
    placement
}

/// Whether at most one definition can reach any node.
fn has_nothing_to_join<G: Graph>(graph: &G, accesses: &Accesses, variable: usize) -> bool {
    match accesses.definitions(variable) {
        [] => true,
        [d] => !accesses.is_defined_on_entry(variable) || is_unentered(graph, *d),
        _ => false,
    }
}

/// Which way is taken when. The numbers were found by measuring on C programs.
struct Limits {
    /// Up to how many variables that need a look a function is done without dominators.
    variables: usize,
    /// How many edges are followed for all of them. When those that were looked at have taken more than their share,
    /// dominators are computed after all: what was done till then is lost.
    edges: usize,
    /// How many members of frontiers are stored at most: real programs have one or two for each edge.
    frontiers: usize,
}

impl Limits {
    fn of<G: Graph>(graph: &G) -> Self {
        let size = graph.node_count() + graph.edge_count();
        // What is lost if dominators are computed after all is dear in large functions.
        let edges = if size > LARGE { 2 * size } else { 12 * size };
        Limits { variables: 6, edges, frontiers: 16 * size }
    }
}

/// Functions of more nodes and edges take more than some ten microseconds.
const LARGE: usize = 800;

const NONE: u32 = u32::MAX;

/// For how many marks there is room at first, and how many predecessors are looked through in any order.
const FEW: usize = 16;

/// A node that writes the variable, is a candidate, or both.
#[derive(Clone, Copy)]
struct Mark {
    node: Node,
    writes: bool,
    /// Whether a φ is needed at its beginning.
    join: bool,
    /// Whether what it holds has been carried to others.
    taken: bool,
    /// The mark whose class arrives at its beginning; `NONE`: it is no candidate. Means nothing for a join.
    class: u32,
    /// How many marks wait that hold what this definition left, itself included.
    waiting: u32,
    /// How many candidates are of the class of this definition.
    members: u32,
    /// How many of them are open to arrivals from above.
    open: u32,
}

impl Mark {
    /// Whether the end of the node is a definition of its own.
    fn is_definition(&self) -> bool {
        self.writes || self.join
    }
}

/// What is known about a node.
#[derive(Clone, Copy, Default)]
struct NodeState {
    /// The variable, as a running number, for which the node was marked last, and as which mark.
    round: u32,
    mark: u32,
    /// The mark, as a running number, for which it was last asked whether it is the nearest one above, and behind it,
    /// as the lowest bit, the answer.
    asked: u32,
    /// Which list holds the predecessors in order; 0: there is none yet.
    list: u32,
}

/// The search for the joins of one variable after the other.
struct Search<'a, G> {
    graph: &'a G,
    dom: &'a DomTree,
    frontiers: Frontiers<'a, G>,
    nodes: Vec<NodeState>,
    round: u32,
    marks: Vec<Mark>,
    /// The subtrees of the definitions that no other one dominates, as first and last pre-order numbers.
    tops: Vec<(u32, u32)>,
    /// Marks that wait to be taken.
    waiting: Waiting,
    /// Candidates that are no joins as far as is known, and that have no mark above that was taken; by pre-order
    /// number.
    open: Open,
    small: SmallGraph,
    /// Whether classes may have fallen apart.
    late: bool,
    /// The number of marks that were taken, of all variables.
    taken: u32,
    /// See [`NodeState::list`].
    predecessors: Vec<Vec<u32>>,
    work: Vec<Node>,
    joins: Vec<Node>,
}

impl<'a, G: Graph> Search<'a, G> {
    fn new(graph: &'a G, dom: &'a DomTree, room: usize) -> Self {
        let n = graph.node_count();
        Search {
            graph,
            dom,
            frontiers: Frontiers::new(graph, dom, room),
            nodes: vec![NodeState::default(); n],
            round: 0,
            marks: Vec::with_capacity(FEW),
            tops: Vec::with_capacity(FEW),
            waiting: Waiting::default(),
            open: Open::default(),
            small: SmallGraph::default(),
            late: false,
            taken: 0,
            predecessors: Vec::new(),
            work: Vec::new(),
            joins: Vec::with_capacity(FEW),
        }
    }

    /// The joins of variable `x`, at those nodes where it is live if liveness is given.
    fn variable(
        &mut self,
        accesses: &Accesses,
        x: usize,
        liveness: Option<&Liveness>,
        aliases: Option<&mut Vec<Alias>>,
    ) -> &[Node] {
        let definitions = accesses.definitions(x);
        self.joins.clear();
        if accesses.is_defined_on_entry(x) || definitions.iter().any(|&d| is_unentered(self.graph, d)) {
            self.iterated_frontier(definitions, liveness);
        } else {
            self.start(definitions);
            let last = self.take_all(liveness);
            if self.late {
                self.repair();
            }
            if let Some(aliases) = aliases {
                self.aliases(x, last, liveness, aliases);
            }
            self.joins.extend(self.marks.iter().filter(|m| m.join).map(|m| m.node));
        }
        &self.joins
    }

    /// The whole iterated frontier.
    fn iterated_frontier(&mut self, definitions: &[Node], liveness: Option<&Liveness>) {
        // The nodes that were put on the worklist are marked, those that were found as mark 1.
        self.round += 1;
        self.work.extend_from_slice(definitions);
        for d in definitions {
            let state = &mut self.nodes[d.index()];
            (state.round, state.mark) = (self.round, 0);
        }
        while let Some(n) = self.work.pop() {
            // What is live there and found across nodes where it is not live is found from deeper ones as well; see
            // `IteratedFrontier::compute_live`.
            let stop =
                |n: Node| self.nodes[n.index()].round == self.round || liveness.is_some_and(|l| !l.at(n));
            let mut place = self.frontiers.of(n, stop);
            while let Some((t, next)) = self.frontiers.next(place) {
                place = next;
                let state = &mut self.nodes[t.index()];
                let is_new = state.round != self.round;
                if !is_new && state.mark == 1 || liveness.is_some_and(|l| !l.at(t)) {
                    continue;
                }
                (state.round, state.mark) = (self.round, 1);
                self.joins.push(t);
                if is_new {
                    self.work.push(t);
                }
            }
        }
    }

    /// Marks the definitions; all of them wait.
    fn start(&mut self, definitions: &[Node]) {
        self.round += 1;
        if self.taken > u32::MAX >> 2 {
            self.nodes.iter_mut().for_each(|n| n.asked = 0);
            self.taken = 0;
        }
        self.marks.clear();
        self.waiting.clear();
        self.open.clear();
        self.small.clear();
        self.late = false;
        self.tops.clear();
        for &d in definitions.iter().filter(|&&d| self.dom.is_reachable(d)) {
            self.tops.push(self.dom.interval(d));
            self.mark(d, true);
        }
        self.tops.sort_unstable();
        let mut end = None;
        self.tops.retain(|&(first, last)| {
            let is_top = end.is_none_or(|end| first > end);
            if is_top {
                end = Some(last);
            }
            is_top
        });
    }

    /// Adds a node, which waits to be taken.
    fn mark(&mut self, node: Node, writes: bool) -> u32 {
        let m = self.marks.len() as u32;
        let mark = Mark {
            node,
            writes,
            join: false,
            taken: false,
            class: NONE,
            waiting: u32::from(writes),
            members: 0,
            open: 0,
        };
        self.marks.push(mark);
        let state = &mut self.nodes[node.index()];
        (state.round, state.mark) = (self.round, m);
        self.waiting.push(self.dom.level(node));
        m
    }

    /// The mark of a node, if it has one.
    fn find(&self, node: Node) -> Option<u32> {
        let state = &self.nodes[node.index()];
        (state.round == self.round).then_some(state.mark)
    }

    /// The mark that stands for what the end of mark `m` holds, as far as is known.
    fn source(&self, m: u32) -> u32 {
        let mark = &self.marks[m as usize];
        if mark.is_definition() { m } else { mark.class }
    }

    /// Takes the marks from the deepest level upwards. Returns the one that was left if the rest needed no look.
    fn take_all(&mut self, liveness: Option<&Liveness>) -> Option<u32> {
        while let Some(m) = self.waiting.pop() {
            let source = self.source(m) as usize;
            self.marks[source].waiting -= 1;
            if self.is_settled(m) {
                return Some(m);
            }
            self.take(m, liveness);
        }
        None
    }

    /// Whether what mark `m` holds, and nothing else, goes further up, and makes no more joins.
    fn is_settled(&self, m: u32) -> bool {
        if self.late {
            // Classes may be too coarse; an open candidate that is not `m` itself might be of another one.
            return self.waiting.is_empty()
                && self.open.marks().all(|k| k == m && !self.marks[k as usize].writes);
        }
        let source = &self.marks[self.source(m) as usize];
        self.waiting.len() == source.waiting as usize && self.open.len() == source.open as usize
    }

    /// Carries what mark `m` holds to the candidates that it reaches with no other mark in between.
    fn take(&mut self, m: u32, liveness: Option<&Liveness>) {
        let node = self.marks[m as usize].node;
        self.marks[m as usize].taken = true;
        self.taken += 1;
        if self.open.len() > 0 {
            self.close_below(m);
        }
        let is_marked = |n: Node| self.nodes[n.index()].round == self.round;
        let mut place = self.frontiers.of(node, is_marked);
        while let Some((t, next)) = self.frontiers.next(place) {
            place = next;
            if liveness.is_some_and(|l| !l.at(t)) {
                continue;
            }
            let to = self.find(t).unwrap_or_else(|| self.mark(t, false));
            let mark = self.marks[to as usize];
            if mark.join {
                continue;
            }
            if mark.class == NONE {
                if self.is_below_top(t) {
                    let mark = &mut self.marks[to as usize];
                    mark.join = true;
                    mark.waiting += u32::from(!mark.writes);
                } else {
                    self.open.insert(self.dom.position(t), to);
                    self.arrive(m, to);
                }
            } else if self.frontiers.stops_at_marks() || self.reaches(node, t) {
                self.arrive(m, to);
            }
        }
    }

    /// Settles what arrives from mark `m` at open candidates in its subtree: no other mark is nearer above them.
    fn close_below(&mut self, m: u32) {
        let (first, last) = self.dom.interval(self.marks[m as usize].node);
        while let Some(k) = self.open.take(first + 1, last) {
            let class = self.marks[k as usize].class;
            self.marks[class as usize].open -= 1;
            if self.marks[m as usize].is_definition() {
                self.join(k);
            } else if self.reaches(self.marks[m as usize].node, self.marks[k as usize].node) {
                self.arrive(m, k);
            }
        }
    }

    /// What mark `from` holds arrives at candidate `to`, which is no join yet.
    fn arrive(&mut self, from: u32, to: u32) {
        if from == to && !self.marks[from as usize].writes {
            return;
        }
        self.small.edge(from, to);
        let class = self.source(from);
        let known = self.marks[to as usize].class;
        if known == NONE {
            self.marks[to as usize].class = class;
            let waits = !self.marks[to as usize].writes;
            let class = &mut self.marks[class as usize];
            class.members += 1;
            class.open += 1;
            class.waiting += u32::from(waits);
        } else if known != class {
            self.join(to);
        }
    }

    /// Makes a candidate with a class a join.
    fn join(&mut self, m: u32) {
        let mark = &mut self.marks[m as usize];
        mark.join = true;
        let (class, was_source) = (mark.class as usize, mark.taken && !mark.writes);
        let waits = u32::from(!mark.taken && !mark.writes);
        mark.waiting += waits;
        let at = self.dom.position(mark.node);
        self.marks[class].waiting -= waits;
        self.marks[class].members -= 1;
        if self.open.take(at, at).is_some() {
            self.marks[class].open -= 1;
        }
        self.late |= was_source && self.marks[class].members > 0;
    }

    /// Whether a definition strictly dominates `node`.
    fn is_below_top(&self, node: Node) -> bool {
        let at = self.dom.position(node);
        let next = self.tops.partition_point(|&(first, _)| first < at);
        next > 0 && at <= self.tops[next - 1].1
    }

    /// Whether an edge leads to `to` from a node to which `from`, the mark taken last, is the nearest mark above.
    fn reaches(&mut self, from: Node, to: Node) -> bool {
        let (first, last) = self.dom.interval(from);
        let (graph, dom) = (self.graph, self.dom);
        if graph.in_edges(to).len() <= FEW {
            return graph
                .predecessors(to)
                .any(|p| (first..=last).contains(&dom.position(p)) && self.is_nearest(from, p));
        }
        let list = self.ordered_predecessors(to);
        let begin = self.predecessors[list].partition_point(|&at| at < first);
        for k in begin..self.predecessors[list].len() {
            let at = self.predecessors[list][k];
            if at > last {
                return false;
            }
            if self.is_nearest(from, dom.pre_order()[at as usize]) {
                return true;
            }
        }
        false
    }

    /// The list of the reachable predecessors of a node that has many of them, as pre-order numbers in order.
    fn ordered_predecessors(&mut self, node: Node) -> usize {
        let list = self.nodes[node.index()].list as usize;
        if list > 0 {
            return list - 1;
        }
        let numbers = self.graph.predecessors(node).map(|p| self.dom.position(p));
        let mut numbers: Vec<u32> = numbers.filter(|&at| at != NONE).collect();
        numbers.sort_unstable();
        numbers.dedup();
        self.predecessors.push(numbers);
        self.nodes[node.index()].list = self.predecessors.len() as u32;
        self.predecessors.len() - 1
    }

    /// Whether no other mark lies on the way up from `node` to `from`, the mark taken last.
    fn is_nearest(&mut self, from: Node, node: Node) -> bool {
        let mut at = node;
        let answer = loop {
            let state = &self.nodes[at.index()];
            if state.asked >> 1 == self.taken {
                break state.asked & 1 == 1;
            }
            if at == from || state.round == self.round {
                break at == from;
            }
            at = self.dom.idom(at).expect("the mark is above");
        };
        let mut back = node;
        while back != at {
            self.nodes[back.index()].asked = self.taken << 1 | u32::from(answer);
            back = self.dom.idom(back).expect("the mark is above");
        }
        answer
    }

    /// Looks at the classes again.
    fn repair(&mut self) {
        let is_asked = |m: &Mark| m.class != NONE && !m.join;
        let ends = self.small.solve(self.marks.iter().map(|m| End::new(m.is_definition(), is_asked(m))));
        for (mark, end) in self.marks.iter_mut().zip(ends).filter(|(m, _)| is_asked(m)) {
            mark.join = end.is_join;
            mark.class = end.value;
        }
    }

    /// Lists what candidates hold that are no joins, with those that nobody looked at: they are in the iterated
    /// frontier of mark `last` and of those that still wait, all of one class.
    fn aliases(
        &mut self,
        x: usize,
        last: Option<u32>,
        liveness: Option<&Liveness>,
        aliases: &mut Vec<Alias>,
    ) {
        let from = aliases.len();
        if let Some(last) = last {
            let class = self.source(last);
            let waiting = core::iter::from_fn(|| self.waiting.pop());
            let mut work: Vec<Node> = waiting.chain([last]).map(|m| self.marks[m as usize].node).collect();
            while let Some(n) = work.pop() {
                let is_marked = |n: Node| self.nodes[n.index()].round == self.round;
                let mut place = self.frontiers.of(n, is_marked);
                while let Some((t, next)) = self.frontiers.next(place) {
                    place = next;
                    if liveness.is_some_and(|l| !l.at(t)) {
                        continue;
                    }
                    let found = self.find(t).unwrap_or_else(|| {
                        work.push(t);
                        self.mark(t, false)
                    });
                    let mark = &mut self.marks[found as usize];
                    if !mark.join && mark.class == NONE {
                        mark.class = class;
                    }
                }
            }
        }
        for m in self.marks.iter().filter(|m| m.class != NONE && !m.join) {
            let definition = self.marks[m.class as usize].node;
            aliases.push(Alias { variable: x, node: m.node, definition });
        }
        aliases[from..].sort_unstable();
    }
}
