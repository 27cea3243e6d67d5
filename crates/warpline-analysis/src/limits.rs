//! Bounds of work where cost could outgrow the program.

use crate::graph::Graph;

/// How much may be spent. Claims of uniformity hold whatever the limits are; the smaller they are, the fewer claims
/// there are. The [default](Self::of) is in proportion to the program and out of reach of most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Early exits in the head-rewired graph: for each edge the number of cycles that it leaves. If there are more,
    /// cycles nested deeper than some depth are not looked into: a divergent branch in one makes all of it divergent.
    pub early_exits: usize,
    /// Steps, over the whole analysis, on the question where threads come to that left a cycle in different iterations.
    /// When they are used up, threads may come to anywhere.
    pub reach: usize,
    /// Steps of walks to joins before it is asked whether anything new can follow. Has no influence on results.
    pub steps_unasked: usize,
    /// Entries of dominance frontiers that are kept. Has no influence on results.
    pub frontiers: usize,
    /// Uses that leave more cycles than this are not listed for each of them. Has no influence on results.
    pub near: usize,
}

impl Limits {
    /// The limits for a graph. O(1).
    pub fn of<G: Graph>(graph: &G) -> Self {
        let size = graph.node_count() + graph.edge_count();
        Limits {
            early_exits: 4 * size + 16_384,
            reach: 64 * size + 1_000_000,
            steps_unasked: 4 * size + 1024,
            frontiers: 16 * size,
            near: 64,
        }
    }
}
