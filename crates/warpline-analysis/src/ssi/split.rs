//! Splitting live ranges (paper 4, Figure 7) and what all constructions share.
//!
//! Departures from the figure:
//!
//! * Frontiers are searched where the variable is live only, so splits that Figure 9 would remove as unused are never
//!   made.
//! * A frontier of an edge is that of a node in its middle, without making one: let *e* lead to *w*. If every path to
//!   *w* takes *e*, the frontier of *e* is that of *w*, except that edges back to *w* do not count. Else it is *w*
//!   and the frontier of *w*.
//! * Line 7 and 9: information that flows backward meets where a variable is live on two edges or more, so there is
//!   no σ of this kind elsewhere. This leaves out some that lines 13 to 16 rely on for SSA form, above all at single
//!   edges of infinite loops, which post-dominance takes for forks. So the nodes of *I↑*, where line 17 puts copies,
//!   count as definitions in line 11. In the figure they need not: the frontiers of its σs, with those of the
//!   definitions, cover theirs. (Let *w* be in the frontier of *n*. The last node from which one path leads to *n*
//!   and another past *n* to the exit is in *pDF⁺(n)*, and edges out of it, or one of them and the definition, have
//!   disjoint paths to *w*.) The tests try both.
//! * Line 4: reads behind which nothing of *I↑* follows in the live range are sources too, namely of no information.
//!   In the figure they are not, which loses [SPLIT-MEET]: let a loop define the variable, use it behind its only
//!   exit, in *I↑*, and at another place in itself, not in *I↑*. Every path that ends takes the exit, so
//!   post-dominance sees nothing to part, but what comes from the other place meets the definition first. This needs
//!   a definition that control can return to. (Line 11 has *Defs* for a similar reason.)
//! * Definitions count in line 11 only if a use could see none of them or several.
//! * Nothing is split where control never arrives.

use alloc::vec::Vec;
use core::cell::OnceCell;
use core::mem;

use super::assembly::Assembly;
use super::live_range::LiveRange;
use super::occurrences::Occurrence;
use super::plan::Plan;
use super::single_entry::SingleEntries;
use crate::bitset::BitSet;
use crate::dom::DomTree;
use crate::frontier::IteratedFrontier;
use crate::graph::{CsrGraph, EdgeId, Graph, Node, Reversed};
use crate::order::Sccs;
use crate::program::{Program, Variable};

/// The dominators and post-dominators of a graph, made when they are first asked for.
pub(super) struct Trees<'a> {
    graph: &'a CsrGraph,
    dominators: OnceCell<DomTree>,
    reversed: OnceCell<Reversed>,
    post_dominators: OnceCell<DomTree>,
    cyclic: OnceCell<BitSet>,
}

impl<'a> Trees<'a> {
    pub(super) fn new(graph: &'a CsrGraph) -> Self {
        Trees {
            graph,
            dominators: OnceCell::new(),
            reversed: OnceCell::new(),
            post_dominators: OnceCell::new(),
            cyclic: OnceCell::new(),
        }
    }

    pub(super) fn dominators(&self) -> &DomTree {
        self.dominators.get_or_init(|| DomTree::compute(self.graph))
    }

    fn reversed(&self) -> &Reversed {
        self.reversed.get_or_init(|| Reversed::new(self.graph))
    }

    /// The nodes of cycles.
    fn cyclic(&self) -> &BitSet {
        self.cyclic.get_or_init(|| {
            let components = Sccs::compute(self.graph);
            let mut cyclic = BitSet::new(self.graph.node_count());
            for e in self.graph.edges() {
                let source = self.graph.source(e);
                if components.of(source) == components.of(self.graph.target(e)) {
                    cyclic.insert(source.index());
                }
            }
            cyclic
        })
    }

    fn post_dominators(&self) -> &DomTree {
        self.post_dominators.get_or_init(|| DomTree::compute(self.reversed()))
    }
}

/// Iterated frontiers of nodes and edges, in one direction.
struct Search<'a, G> {
    graph: &'a G,
    tree: &'a DomTree,
    frontier: IteratedFrontier<'a, G>,
    entries: SingleEntries,
    nodes: Vec<Node>,
    behind_edges: Vec<Node>,
}

impl<'a, G: Graph> Search<'a, G> {
    fn new(graph: &'a G, tree: &'a DomTree) -> Self {
        Search {
            graph,
            tree,
            frontier: IteratedFrontier::new(graph, tree),
            entries: SingleEntries::new(graph.node_count()),
            nodes: Vec::new(),
            behind_edges: Vec::new(),
        }
    }

    /// Adds something of an edge to the sources of the next search; adds its target to `found` if it is in the
    /// frontier.
    fn add_edge(&mut self, edge: EdgeId, live: impl Fn(Node) -> bool, found: &mut Vec<Node>) {
        let target = self.graph.target(edge);
        if self.entries.dominates(self.graph, self.tree, edge, target) {
            self.behind_edges.push(target);
        } else if live(target) {
            found.push(target);
            self.nodes.push(target);
        }
    }

    /// Adds the iterated frontier of the sources, where the variable is live, to `found`; sorted, once each.
    fn run(&mut self, live: impl Fn(Node) -> bool, found: &mut Vec<Node>) {
        if self.nodes.is_empty() && self.behind_edges.is_empty() {
            return;
        }
        self.frontier.extend_live(self.nodes.drain(..), self.behind_edges.drain(..), live, found);
        found.dedup();
    }
}

/// Splits the live ranges of a program, one variable after the other.
pub(super) struct Splitter<'a> {
    pub(super) program: &'a Program,
    trees: &'a Trees<'a>,
    range: LiveRange<'a, CsrGraph>,
    forward: Option<Search<'a, CsrGraph>>,
    backward: Option<Search<'a, Reversed>>,
    plan: Plan,
    definitions: Definitions,
    found: Vec<Node>,
    assembly: Assembly<'a>,
    on_entry: Vec<bool>,
}

impl<'a> Splitter<'a> {
    pub(super) fn new(program: &'a Program, trees: &'a Trees<'a>, assembly: Assembly<'a>) -> Self {
        let mut on_entry = vec![false; program.variables()];
        program.on_entry().iter().for_each(|v| on_entry[v.index()] = true);
        Splitter {
            program,
            trees,
            range: LiveRange::new(program.graph()),
            forward: None,
            backward: None,
            plan: Plan::default(),
            definitions: Definitions::default(),
            found: Vec::new(),
            assembly,
            on_entry,
        }
    }

    pub(super) fn finish(self) -> Assembly<'a> {
        self.assembly
    }

    /// Splits the live range of a variable: `sources` says where, `place` what follows from it.
    pub(super) fn split(
        &mut self,
        variable: Variable,
        occurrences: &[Occurrence],
        sources: impl FnOnce(&mut Plan, &LiveRange<CsrGraph>),
        place: impl FnOnce(&mut Self, &mut Plan, &Definitions),
    ) {
        self.range.find(occurrences);
        let mut definitions = mem::take(&mut self.definitions);
        definitions.find(occurrences, self.on_entry[variable.index()], self.trees.graph, &self.range);
        let mut plan = mem::take(&mut self.plan);
        plan.clear();
        sources(&mut plan, &self.range);
        let spreads = plan.has_sources() && self.range.crosses_blocks();
        if definitions.count > 1 || spreads || !plan.splits_nothing() {
            let dominators = self.trees.dominators();
            plan.keep_reachable(self.program, dominators);
            place(self, &mut plan, &definitions);
            if definitions.count > 1 || !plan.splits_nothing() {
                let on_entry = definitions.on_entry;
                self.assembly.rename(variable, occurrences, &plan, &self.range, dominators, on_entry);
            }
        }
        self.plan = plan;
        self.definitions = definitions;
    }

    /// The splits that information, where it is produced, and SSA form ask for (lines 3 to 17).
    pub(super) fn place(&mut self, plan: &mut Plan, definitions: &Definitions) {
        if plan.has_sources() {
            if !(plan.silent.is_empty() && plan.silent_edges.is_empty()) && self.may_recur(definitions) {
                plan.add_silent_ends(&mut self.range);
            }
            self.extend_sigmas(&plan.up, &plan.up_edges, &mut plan.sigmas);
        }
        plan.sigmas.sort_unstable();
        plan.sigmas.dedup();
        plan.defining.extend(plan.copies.iter().map(|&i| self.program.block_of(i)));
        plan.defining.extend_from_slice(&plan.phis);
        plan.defining.extend_from_slice(definitions.that_meet());
        self.extend_phis(&plan.defining, &plan.sigmas, &mut plan.phis);
    }

    /// Whether control can come from the end of a live range of the variable to the beginning of one.
    fn may_recur(&self, definitions: &Definitions) -> bool {
        definitions.count > 1 || definitions.nodes.iter().any(|n| self.trees.cyclic().contains(n.index()))
    }

    /// Adds to `sigmas` the iterated post-dominance frontier of information from nodes and edges.
    pub(super) fn extend_sigmas(&mut self, nodes: &[Node], edges: &[EdgeId], sigmas: &mut Vec<Node>) {
        if !self.range.crosses_blocks() || nodes.is_empty() && edges.is_empty() {
            return;
        }
        let (trees, range) = (self.trees, &self.range);
        let search =
            self.backward.get_or_insert_with(|| Search::new(trees.reversed(), trees.post_dominators()));
        let exit = trees.reversed().virtual_exit();
        let live = |n: Node| n != exit && range.at_exit(n);
        let mut found = mem::take(&mut self.found);
        search.nodes.extend_from_slice(nodes);
        edges.iter().for_each(|&e| search.add_edge(e, live, &mut found));
        search.run(live, &mut found);
        let dominators = trees.dominators();
        sigmas.extend(found.drain(..).filter(|&n| range.forks(n) && dominators.is_reachable(n)));
        self.found = found;
    }

    /// Adds to `phis` the iterated dominance frontier of definitions in nodes and of σs.
    pub(super) fn extend_phis(&mut self, nodes: &[Node], sigmas: &[Node], phis: &mut Vec<Node>) {
        if !self.range.crosses_blocks() || nodes.is_empty() && sigmas.is_empty() {
            return;
        }
        let (trees, range) = (self.trees, &self.range);
        let search = self.forward.get_or_insert_with(|| Search::new(trees.graph, trees.dominators()));
        let live = |n: Node| range.at_entry(n);
        search.nodes.extend_from_slice(nodes);
        let edges = sigmas.iter().flat_map(|&n| trees.graph.out_edges(n));
        edges.filter(|&&e| range.on_edge(e)).for_each(|&e| search.add_edge(e, live, phis));
        search.run(live, phis);
    }
}

/// The definitions of a variable.
#[derive(Default)]
pub(super) struct Definitions {
    on_entry: bool,
    count: usize,
    /// Their blocks. No edge leads to the entry, so what a variable holds on entry is not among them.
    nodes: Vec<Node>,
    /// Whether every use sees the only one there is.
    is_one: bool,
}

impl Definitions {
    fn find<G: Graph>(
        &mut self,
        occurrences: &[Occurrence],
        on_entry: bool,
        graph: &G,
        range: &LiveRange<G>,
    ) {
        self.nodes.clear();
        self.nodes.extend(occurrences.iter().filter(|o| o.defines()).map(|o| o.node));
        self.on_entry = on_entry;
        self.count = self.nodes.len() + usize::from(on_entry);
        self.is_one = self.count == 1 && (on_entry || !range.at_entry(graph.entry()));
    }

    /// The blocks of those for which φs may be needed.
    pub(super) fn that_meet(&self) -> &[Node] {
        if self.is_one { &[] } else { &self.nodes }
    }
}
