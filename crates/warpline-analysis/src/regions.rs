//! Cycles the inside of which the head-rewired graph does not represent.
//!
//! Outermost irreducible cycles are *regions*. Where very many edges leave very many cycles at once, so that early
//! exits would outgrow the program, cycles below some depth of nesting are regions too.

use alloc::vec::Vec;

use crate::cycles::{CycleForest, CycleId};
use crate::graph::{EdgeId, Graph, Node};
use crate::order::DfsOrder;

const NONE: u32 = u32::MAX;

/// Which nodes lie in which region, and how many edges leave each cycle.
#[derive(Clone, Debug)]
pub(crate) struct Regions {
    /// By node; empty if there are no regions.
    of: Vec<u32>,
    /// By cycle; the largest number where it is not known.
    exits: Vec<u32>,
}

impl Regions {
    /// `early_exits`: how many there may be.
    pub(crate) fn new<G: Graph>(graph: &G, dfs: &DfsOrder, cycles: &CycleForest, early_exits: usize) -> Self {
        let mut regions = Regions { of: Vec::new(), exits: vec![0; cycles.len()] };
        if cycles.is_empty() {
            return regions;
        }
        let mut irreducible = cycles.cycles().filter(|&c| !cycles.is_reducible(c)).peekable();
        if irreducible.peek().is_some() {
            regions.of = outermost(graph, cycles, |c| !cycles.is_reducible(c));
        }
        // How many cycles each exit edge leaves that are in no region.
        let (mut sum, mut counts) = (0, Vec::new());
        for &n in dfs.pre_order() {
            let Some(first) = regions.around(cycles, n) else { continue };
            for e in graph.out_edges(n) {
                let to = graph.target(e);
                if cycles.contains(first, to) {
                    continue;
                }
                let left = regions.left(graph, cycles, first, e);
                sum += left as usize;
                counts.push(left);
                if sum <= early_exits {
                    let mut cycle = Some(first);
                    while let Some(c) = cycle.filter(|&c| !cycles.contains(c, to)) {
                        regions.exits[c.index()] += 1;
                        cycle = cycles.parent(c);
                    }
                }
            }
        }
        if sum > early_exits {
            let mut limit = counts.iter().copied().max().unwrap_or(0);
            while counts.iter().map(|&l| l.min(limit) as usize).sum::<usize>() > early_exits {
                limit /= 2;
            }
            regions.of = outermost(graph, cycles, |c| !cycles.is_reducible(c) || cycles.depth(c) > limit);
            regions.exits.fill(u32::MAX);
        }
        regions
    }

    /// The region that contains a node.
    #[inline]
    pub(crate) fn region(&self, node: Node) -> Option<CycleId> {
        let region = *self.of.get(node.index())?;
        (region != NONE).then_some(CycleId(region))
    }

    /// Whether exactly one edge leaves a cycle that is not in a region. Not known, and so denied, if there are
    /// regions for their depth: the count was not brought to its end.
    #[inline]
    pub(crate) fn has_one_exit(&self, cycle: CycleId) -> bool {
        self.exits[cycle.index()] == 1
    }

    /// The innermost cycle around a node, or around the region that it is in, that is not in a region.
    pub(crate) fn around(&self, cycles: &CycleForest, node: Node) -> Option<CycleId> {
        match self.region(node) {
            None => cycles.innermost(node),
            Some(region) => cycles.parent(region),
        }
    }

    /// How many cycles an edge leaves, `first` being the innermost one. At its end it enters at most one cycle that
    /// is in no region.
    fn left<G: Graph>(&self, graph: &G, cycles: &CycleForest, first: CycleId, edge: EdgeId) -> u32 {
        let mut common = self.around(cycles, graph.target(edge));
        while let Some(c) = common.filter(|&c| !cycles.contains_cycle(c, first)) {
            common = cycles.parent(c);
        }
        cycles.depth(first).saturating_sub(common.map_or(0, |c| cycles.depth(c)))
    }
}

/// For each node the outermost cycle around it of some kind.
fn outermost<G: Graph>(graph: &G, cycles: &CycleForest, is_region: impl Fn(CycleId) -> bool) -> Vec<u32> {
    let mut region = vec![NONE; graph.node_count()];
    let mut last_region = None;
    for c in cycles.cycles() {
        if is_region(c) && last_region.is_none_or(|outer| !cycles.contains_cycle(outer, c)) {
            last_region = Some(c);
            for n in cycles.nodes(c) {
                region[n.index()] = c.0;
            }
        }
    }
    region
}
