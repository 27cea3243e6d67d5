//! The predicates of gated SSA form, as path expressions.
//!
//! The gating function of a join says by nested conditions which in-edge is taken on the way from the join's
//! immediate dominator; ⊥ stands for not getting there (Tu and Padua 1995). The predicate of a loop says so of
//! leaving it (1) and of going on to its header (0); there is one for the whole loop (Ballance et al. 1990). A
//! condition both of whose arms are the same expression is left out.
//!
//! The thinned form (Havlak 1993) leaves out arms that are ⊥. Its loop predicate begins behind the nodes that every way
//! round the loop passes anyway: at the immediate dominator of the latches.

use std::collections::{BTreeMap, BTreeSet};

use super::Place;
use warpline_analysis::cycles::CycleForest;
use warpline_analysis::dom::DomTree;
use warpline_analysis::graph::{EdgeId, Graph, Node};
use warpline_analysis::order::DfsOrder;

/// Which of the two forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Full,
    Thinned,
}

/// An expression; equal ones have equal numbers.
type Id = usize;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Expression {
    /// ⊥
    Never,
    /// The value that arrives on an edge.
    Arrives(EdgeId),
    /// The loop is left.
    Leaves,
    /// The loop's header is reached again.
    Repeats,
    /// γ
    Choice(Node, Vec<Id>),
}

/// The conditions in the predicate that decides about a place.
pub(super) fn conditions<G: Graph>(graph: &G, place: Place, form: Form) -> BTreeSet<Node> {
    let dom = DomTree::compute(graph);
    match place {
        Place::Join(join) => {
            let arrives = |e: EdgeId| (graph.target(e) == join).then_some(Expression::Arrives(e));
            let Some(start) = dom.idom(join) else { return BTreeSet::new() };
            Table::fill(graph, form, arrives).conditions(start)
        }
        Place::Exit(exit) => {
            let cycles = CycleForest::compute(graph);
            let Some(cycle) = cycles.innermost(graph.source(exit)) else { return BTreeSet::new() };
            let header = cycles.header(cycle);
            let ends = |e: EdgeId| {
                if !cycles.contains(cycle, graph.source(e)) {
                    Some(Expression::Never)
                } else if !cycles.contains(cycle, graph.target(e)) {
                    Some(Expression::Leaves)
                } else {
                    (graph.target(e) == header).then_some(Expression::Repeats)
                }
            };
            let start = match form {
                Form::Full => header,
                Form::Thinned => before_latches(graph, &dom, &cycles, header),
            };
            Table::fill(graph, form, ends).conditions(start)
        }
    }
}

/// The immediate dominator of the latches of a loop; the header if it is one of them.
fn before_latches<G: Graph>(graph: &G, dom: &DomTree, cycles: &CycleForest, header: Node) -> Node {
    let cycle = cycles.innermost(header);
    let inside = |n: Node| cycle.is_some_and(|c| cycles.contains(c, n));
    let latches: Vec<Node> = graph.predecessors(header).filter(|&n| inside(n)).collect();
    let common = latches.iter().copied().reduce(|a, b| dom.nearest_common_dominator(a, b));
    let strict = common.and_then(|n| if latches.contains(&n) { dom.idom(n) } else { Some(n) });
    strict.filter(|&n| inside(n)).unwrap_or(header)
}

/// The expressions at the starts of all nodes.
struct Table {
    numbers: BTreeMap<Expression, Id>,
    expressions: Vec<Expression>,
    at: Vec<Option<Id>>,
}

impl Table {
    /// `end` gives the expression of an edge at which paths end.
    fn fill<G: Graph>(graph: &G, form: Form, end: impl Fn(EdgeId) -> Option<Expression>) -> Table {
        let dfs = DfsOrder::compute(graph);
        let mut table =
            Table { numbers: BTreeMap::new(), expressions: Vec::new(), at: vec![None; graph.node_count()] };
        let never = table.number(Expression::Never);
        for &node in dfs.post_order() {
            let mut arms = Vec::new();
            for e in graph.out_edges(node) {
                let target = graph.target(e);
                let retreats = dfs.post_number(target) >= dfs.post_number(node);
                arms.push(match end(e) {
                    Some(expression) => table.number(expression),
                    None if retreats => never,
                    None => table.at[target.index()].unwrap_or(never),
                });
            }
            if form == Form::Thinned {
                arms.retain(|&a| a != never);
            }
            let expression = match arms.first() {
                None => never,
                Some(&first) if arms.iter().all(|&a| a == first) => first,
                Some(_) => table.number(Expression::Choice(node, arms)),
            };
            table.at[node.index()] = Some(expression);
        }
        table
    }

    fn number(&mut self, expression: Expression) -> Id {
        let next = self.expressions.len();
        let id = *self.numbers.entry(expression.clone()).or_insert(next);
        if id == next {
            self.expressions.push(expression);
        }
        id
    }

    /// The conditions in the expression at the start of a node.
    fn conditions(&self, start: Node) -> BTreeSet<Node> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut work: Vec<Id> = self.at[start.index()].into_iter().collect();
        while let Some(id) = work.pop() {
            if let (true, Expression::Choice(node, arms)) = (seen.insert(id), &self.expressions[id]) {
                found.insert(*node);
                work.extend(arms);
            }
        }
        found
    }
}
