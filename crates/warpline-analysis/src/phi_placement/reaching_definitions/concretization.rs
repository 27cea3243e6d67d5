//! Algorithms 2 to 5: what the abstract definitions stand for, by flow analyses of dependency graphs.

use alloc::vec::Vec;
use core::mem::take;

use super::forward::{Definition, Forward};
use crate::bitset::BitSet;
use crate::graph::{Graph, Node};

const NONE: u32 = u32::MAX;

/// What reaches the start of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Resolution {
    /// Several definitions: the node needs a φ.
    Phi,
    /// One definition, which is concrete.
    One(Definition),
    /// No definition.
    Nothing,
}

/// The graph G_μ of Def. 3 for one join node, and what the flow analyses know about its nodes. Nodes are numbered in
/// the order in which they are found; node 0 is α, the start of the join node. The tables are used again for the next
/// graph.
pub(super) struct Dependencies {
    nodes: Vec<Definition>,
    /// The predecessors of node i are `deps[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    deps: Vec<u32>,
    /// The successors of a node as a linked list: the first cell by node; cells hold a successor and the next cell.
    first: Vec<u32>,
    cells: Vec<(u32, u32)>,
    /// Σ by node.
    sigma: Vec<Vec<u32>>,
    is_phi: Vec<bool>,
    completed: Vec<bool>,
    /// Where in `nodes` the abstract and the concrete definition of each node of the control-flow graph stand.
    place: [Vec<u32>; 2],
    /// V and P of Algorithm 2: the nodes that were visited, and the pairs of node m and member i of C of which i has
    /// reached m, at position i + m · |C|.
    visited: BitSet,
    passed: BitSet,
    /// The worklists of Algorithms 2 and 3, empty.
    flow_work: Vec<(u32, usize)>,
    phi_work: Vec<u32>,
}

impl Dependencies {
    pub(super) fn new(node_count: usize) -> Self {
        Dependencies {
            nodes: Vec::new(),
            starts: Vec::new(),
            deps: Vec::new(),
            first: Vec::new(),
            cells: Vec::new(),
            sigma: Vec::new(),
            is_phi: Vec::new(),
            completed: Vec::new(),
            place: [vec![NONE; node_count + 1], vec![NONE; node_count + 1]],
            visited: BitSet::default(),
            passed: BitSet::default(),
            flow_work: Vec::new(),
            phi_work: Vec::new(),
        }
    }

    /// The definition that a number stands for.
    pub(super) fn node(&self, at: u32) -> Definition {
        self.nodes[at as usize]
    }

    /// All edges, in increasing order.
    pub(super) fn edges(&self) -> Vec<(Definition, Definition)> {
        let into = |at: usize| self.predecessors(at).iter().map(move |&p| (self.node(p), self.nodes[at]));
        let mut edges: Vec<_> = (0..self.nodes.len()).flat_map(into).collect();
        edges.sort_unstable();
        edges
    }

    /// Σ, in increasing order.
    pub(super) fn sigma(&self) -> Vec<(Definition, Vec<Definition>)> {
        let members = |at: usize| {
            let mut set: Vec<_> = self.sigma[at].iter().map(|&c| self.value(c)).collect();
            set.sort_unstable();
            (self.nodes[at], set)
        };
        let mut sigma: Vec<_> = (0..self.nodes.len()).map(members).collect();
        sigma.sort_unstable();
        sigma
    }

    /// The concrete definition that a member of Σ is.
    fn value(&self, at: u32) -> Definition {
        Definition::Concrete(self.node(at).node())
    }

    fn predecessors(&self, at: usize) -> &[u32] {
        &self.deps[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    fn successors(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        let cell = |i: u32| (i != NONE).then(|| self.cells[i as usize]);
        core::iter::successors(cell(self.first[at as usize]), move |c| cell(c.1)).map(|c| c.0)
    }

    /// Makes the graph for a join node (*createGraph*; Def. 3), in which `look` replaces definitions by what is known
    /// about them.
    pub(super) fn create<G: Graph>(
        &mut self,
        forward: &Forward<G>,
        look: impl Fn(Definition) -> Option<Definition>,
        join: Node,
    ) {
        self.clear();
        self.add(Definition::Abstract(join));
        let mut at = 0;
        while at < self.nodes.len() {
            if let Definition::Abstract(m) = self.nodes[at] {
                let from = self.deps.len();
                forward.for_each_before(m, |d| {
                    if let Some(d) = look(d) {
                        let source = self.add(d);
                        if !self.deps[from..].contains(&source) {
                            self.deps.push(source);
                        }
                    }
                });
                for i in from..self.deps.len() {
                    let source = self.deps[i] as usize;
                    self.cells.push((at as u32, self.first[source]));
                    self.first[source] = self.cells.len() as u32 - 1;
                }
            }
            self.starts.push(self.deps.len() as u32);
            at += 1;
        }
    }

    fn clear(&mut self) {
        for d in self.nodes.drain(..) {
            let kind = usize::from(matches!(d, Definition::Concrete(_)));
            self.place[kind][d.node().index()] = NONE;
        }
        self.starts.clear();
        self.starts.push(0);
        self.deps.clear();
        self.first.clear();
        self.cells.clear();
        self.is_phi.clear();
        self.completed.clear();
    }

    fn add(&mut self, definition: Definition) -> u32 {
        let kind = usize::from(matches!(definition, Definition::Concrete(_)));
        let place = &mut self.place[kind][definition.node().index()];
        if *place == NONE {
            *place = self.nodes.len() as u32;
            if self.sigma.len() == self.nodes.len() {
                self.sigma.push(Vec::new());
            }
            self.nodes.push(definition);
            self.first.push(NONE);
            self.is_phi.push(false);
            self.completed.push(false);
        }
        *place
    }

    fn is_concrete(&self, at: u32) -> bool {
        matches!(self.nodes[at as usize], Definition::Concrete(_)) || self.is_phi[at as usize]
    }

    /// Σ₀ and C₀: lines 8 to 13 of Algorithm 4.
    pub(super) fn start(&mut self) -> Vec<u32> {
        let count = self.nodes.len() as u32;
        self.sigma[..count as usize].iter_mut().for_each(Vec::clear);
        let c: Vec<u32> = (0..count).filter(|&n| self.is_concrete(n)).collect();
        c.iter().for_each(|&n| self.sigma[n as usize].push(n));
        c
    }

    /// Algorithm 2, *Flow_C*: carries the concrete definitions `c` on, up to the next concrete ones.
    fn flow(&mut self, c: &[u32], select: &mut impl FnMut(usize) -> usize) {
        let (mut visited, mut passed) = (take(&mut self.visited), take(&mut self.passed));
        let mut work = take(&mut self.flow_work);
        visited.reset(self.nodes.len());
        passed.reset(self.nodes.len() * c.len());
        for (i, &n) in c.iter().enumerate() {
            work.extend(self.successors(n).map(|m| (m, i)));
        }
        while !work.is_empty() {
            let (m, i) = work.swap_remove(select(work.len()));
            if !passed.insert(i + m as usize * c.len()) {
                continue;
            }
            if visited.insert(m as usize) {
                self.sigma[m as usize].clear();
            }
            self.sigma[m as usize].push(c[i]);
            if !self.is_concrete(m) {
                let open = |p: &u32| !passed.contains(i + *p as usize * c.len());
                work.extend(self.successors(m).filter(open).map(|p| (p, i)));
            }
        }
        (self.visited, self.passed, self.flow_work) = (visited, passed, work);
    }

    /// Lines 14 to 18 of Algorithm 4: all φ nodes of the graph.
    pub(super) fn iterate(&mut self, select: &mut impl FnMut(usize) -> usize) {
        let mut c = self.start();
        while !c.is_empty() {
            c = self.round(&c, select);
        }
    }

    /// Lines 15 to 17: the φ nodes that follow from the concrete definitions `c`.
    pub(super) fn round(&mut self, c: &[u32], select: &mut impl FnMut(usize) -> usize) -> Vec<u32> {
        self.flow(c, select);
        c.iter().for_each(|&m| self.completed[m as usize] = true);
        self.compute_phi_nodes(c, select)
    }

    /// Algorithm 3, *computeNodes_φ*: the nodes at which definitions of `c` are the first to meet others.
    fn compute_phi_nodes(&mut self, c: &[u32], select: &mut impl FnMut(usize) -> usize) -> Vec<u32> {
        let mut found = Vec::new();
        let mut work = take(&mut self.phi_work);
        work.extend(c.iter().flat_map(|&n| self.successors(n)));
        while !work.is_empty() {
            let n = work.swap_remove(select(work.len()));
            if self.completed[n as usize] || self.is_phi[n as usize] {
                continue;
            }
            if self.sigma[n as usize].len() > 1 {
                self.is_phi[n as usize] = true;
                found.push(n);
            } else {
                self.completed[n as usize] = true;
                let open = |p: &u32| !self.completed[*p as usize];
                work.extend(self.successors(n).filter(open));
            }
        }
        self.phi_work = work;
        found
    }

    /// What was found to reach the start of the node of each abstract definition.
    pub(super) fn resolutions(&self) -> impl Iterator<Item = (Node, Resolution)> + '_ {
        self.nodes.iter().enumerate().filter_map(|(at, &d)| match d {
            Definition::Concrete(_) => None,
            Definition::Abstract(n) if self.is_phi[at] => Some((n, Resolution::Phi)),
            Definition::Abstract(n) => {
                Some((n, self.reconstruct(at).next().map_or(Resolution::Nothing, Resolution::One)))
            }
        })
    }

    /// Algorithm 5: the definitions that reach a node, some of them perhaps several times.
    fn reconstruct(&self, at: usize) -> impl Iterator<Item = Definition> + '_ {
        let dependencies = self.predecessors(at).iter().filter(move |&&p| p as usize != at);
        let reaching = dependencies.flat_map(|p| match self.is_concrete(*p) {
            true => core::slice::from_ref(p),
            false => &self.sigma[*p as usize][..],
        });
        reaching.map(|&c| self.value(c))
    }
}
