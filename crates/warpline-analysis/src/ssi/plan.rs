//! Where the live range of one variable is to be split, before anything is known of frontiers.

use alloc::vec::Vec;

use super::live_range::LiveRange;
use super::occurrences::{Occurrence, Place};
use super::points::{Point, SplitSet};
use super::strategy::{Conditions, Strategy};
use crate::dom::DomTree;
use crate::graph::{EdgeId, Graph, Node};
use crate::program::{Instruction, Program, TestKind};

/// Splits of one variable: φs at entries, σs at exits, copies at instructions, all of them where the variable is
/// live; and the sources of information that flows backward, in blocks and on edges.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) phis: Vec<Node>,
    pub(super) sigmas: Vec<Node>,
    pub(super) copies: Vec<Instruction>,
    pub(super) up: Vec<Node>,
    pub(super) up_edges: Vec<EdgeId>,
    /// Blocks and edges with reads that are no such sources.
    pub(super) silent: Vec<Node>,
    pub(super) silent_edges: Vec<EdgeId>,
    /// Blocks with definitions, where splits and the program have them.
    pub(super) defining: Vec<Node>,
}

impl Plan {
    pub(super) fn clear(&mut self) {
        self.defining.clear();
        self.silent.clear();
        self.silent_edges.clear();
        self.phis.clear();
        self.sigmas.clear();
        self.copies.clear();
        self.up.clear();
        self.up_edges.clear();
    }

    /// Whether no live range is split.
    pub(super) fn splits_nothing(&self) -> bool {
        self.phis.is_empty() && self.sigmas.is_empty() && self.copies.is_empty()
    }

    /// Whether information flows backward from somewhere.
    pub(super) fn has_sources(&self) -> bool {
        !(self.up.is_empty() && self.up_edges.is_empty())
    }

    /// Adds to the sources those reads behind which there is none in the live range: they are sources of no
    /// information.
    pub(super) fn add_silent_ends<G: Graph>(&mut self, range: &mut LiveRange<G>) {
        range.find_sources(&self.up, &self.up_edges);
        let heard = |n: Node| self.up.contains(&n) || range.leads_on_to_source(n);
        self.silent.retain(|&n| !heard(n));
        self.silent_edges.retain(|e| !range.leads_to_source(*e));
        self.up.append(&mut self.silent);
        self.up_edges.append(&mut self.silent_edges);
    }

    /// Takes out what is in code that control does not reach.
    pub(super) fn keep_reachable(&mut self, program: &Program, dom: &DomTree) {
        self.phis.retain(|&n| dom.is_reachable(n));
        self.sigmas.retain(|&n| dom.is_reachable(n));
        self.copies.retain(|&i| dom.is_reachable(program.block_of(i)));
        self.up.retain(|&n| dom.is_reachable(n));
        self.up_edges.retain(|&e| dom.is_reachable(program.graph().source(e)));
    }

    /// What a strategy asks of a variable.
    ///
    /// A φ operand is a use on its edge: it produces information that flows backward on this edge, and the value that
    /// goes on into the edge's target is a new version. Forwards it produces none.
    pub(super) fn follow<G: Graph>(
        &mut self,
        program: &Program,
        strategy: &Strategy,
        occurrences: &[Occurrence],
        range: &LiveRange<G>,
    ) {
        for_each_read(program, occurrences, range, |node, read, goes_on| match read {
            Read::Instruction(at) => self.use_at(strategy, at, node, goes_on),
            Read::Test(kind) => self.test_at(strategy, kind, node, goes_on),
            Read::Operand(edge, target) => self.use_on(strategy, edge, target, goes_on),
        });
        self.phis.sort_unstable();
        self.phis.dedup();
    }

    fn use_at(&mut self, strategy: &Strategy, at: Instruction, node: Node, goes_on: bool) {
        if strategy.uses_up || strategy.last_uses_up && !goes_on {
            self.up.push(node);
        } else {
            self.silent.push(node);
        }
        if goes_on && (strategy.uses_up || strategy.uses_down) {
            self.copies.push(at);
        }
    }

    fn test_at(&mut self, strategy: &Strategy, kind: TestKind, node: Node, goes_on: bool) {
        let up = strategy.conditions_up.include(kind);
        if up || strategy.last_uses_up && !goes_on {
            self.up.push(node);
        } else {
            self.silent.push(node);
        }
        if goes_on && (up || strategy.conditions_down.include(kind)) {
            self.sigmas.push(node);
        }
    }

    fn use_on(&mut self, strategy: &Strategy, edge: EdgeId, target: Node, goes_on: bool) {
        if strategy.uses_up || strategy.last_uses_up && !goes_on {
            self.up_edges.push(edge);
        } else {
            self.silent_edges.push(edge);
        }
        if goes_on && strategy.uses_up {
            self.phis.push(target);
        }
    }

    /// What a set of points asks of a variable.
    pub(super) fn follow_points<G: Graph>(
        &mut self,
        program: &Program,
        set: &SplitSet,
        occurrences: &[Occurrence],
        range: &LiveRange<G>,
    ) {
        let graph = program.graph();
        for &point in &set.up {
            match point {
                Point::In(node) => self.up_edges.extend_from_slice(graph.in_edges(node)),
                Point::At(at) => self.up.push(program.block_of(at)),
                Point::Out(node) => self.up.push(node),
            }
        }
        for_each_read(program, occurrences, range, |node, read, _| match read {
            Read::Instruction(_) | Read::Test(_) => self.silent.push(node),
            Read::Operand(edge, _) => self.silent_edges.push(edge),
        });
        for &point in set.up.iter().chain(&set.down) {
            match point {
                Point::In(node) if node != graph.entry() && range.at_entry(node) => self.phis.push(node),
                Point::At(at) if is_copied(program, at, occurrences, range) => self.copies.push(at),
                Point::Out(node) if range.at_exit(node) => self.sigmas.push(node),
                _ => {}
            }
        }
        self.phis.sort_unstable();
        self.phis.dedup();
        self.sigmas.sort_unstable();
        self.sigmas.dedup();
        self.copies.sort_unstable();
        self.copies.dedup();
    }
}

/// How a variable is read.
enum Read {
    Instruction(Instruction),
    Test(TestKind),
    /// On an edge, by a φ of its target.
    Operand(EdgeId, Node),
}

/// Calls `f` for everything that reads a variable, once for each instruction, with the block and whether what it
/// reads is live behind that.
fn for_each_read<G: Graph>(
    program: &Program,
    occurrences: &[Occurrence],
    range: &LiveRange<G>,
    mut f: impl FnMut(Node, Read, bool),
) {
    let mut at = 0;
    while at < occurrences.len() {
        let Occurrence { node, place, slot } = occurrences[at];
        at += 1;
        match place {
            Place::Phi(_) | Place::Definition(_) => {}
            Place::Use(instruction) => {
                let is = |o: &Occurrence, place| o.node == node && o.place == place;
                while occurrences.get(at).is_some_and(|o| is(o, place)) {
                    at += 1;
                }
                let redefined = occurrences.get(at).is_some_and(|o| is(o, Place::Definition(instruction)));
                let goes_on = !redefined && range.behind(node, &occurrences[at..]);
                f(node, Read::Instruction(instruction), goes_on);
            }
            Place::Test => {
                let kind = program.all_tests()[slot as usize].kind;
                f(node, Read::Test(kind), range.at_exit(node));
            }
            Place::Operand(edge) => {
                let target = program.graph().target(edge);
                f(node, Read::Operand(edge, target), range.at_entry(target));
            }
        }
    }
}

/// Whether a variable is live behind an instruction that does not define it.
fn is_copied<G: Graph>(
    program: &Program,
    at: Instruction,
    occurrences: &[Occurrence],
    range: &LiveRange<G>,
) -> bool {
    let node = program.block_of(at);
    let is_before = |o: &Occurrence| match o.place {
        Place::Use(i) => i <= at,
        Place::Definition(i) => i < at,
        Place::Phi(_) => true,
        Place::Test | Place::Operand(_) => false,
    };
    let behind = occurrences.partition_point(|o| o.node < node || o.node == node && is_before(o));
    let rest = &occurrences[behind..];
    let defines = |o: &Occurrence| o.node == node && o.place == Place::Definition(at);
    !rest.first().is_some_and(defines) && range.behind(node, rest)
}

impl Conditions {
    /// Whether a test of a kind is one of them.
    pub(super) fn include(self, kind: TestKind) -> bool {
        match self {
            Conditions::None => false,
            Conditions::Equalities => kind == TestKind::Equality,
            Conditions::All => true,
        }
    }
}
