//! Random control flow as programs have it: sequences, ifs, switches, nested loops with early exits to any level,
//! several returns, loops without end; and the same with a few jumps to anywhere, which makes cycles irreducible.

use warpline_analysis::CsrGraph;

use crate::graphs::build;
use crate::rng::SplitMix64;

/// A graph of at most about `size` nodes whose cycles are loops.
pub fn structured(rng: &mut SplitMix64, size: usize) -> CsrGraph {
    let mut maker = Maker::new(rng.between(3, size));
    maker.function(rng);
    build(maker.nodes, maker.edges)
}

/// The same with one to three more edges between any nodes.
pub fn with_jumps(rng: &mut SplitMix64, size: usize) -> CsrGraph {
    let mut maker = Maker::new(rng.between(3, size));
    maker.function(rng);
    for _ in 0..rng.between(1, 3) {
        maker.edges.push((rng.below(maker.nodes), rng.below(maker.nodes)));
    }
    rng.shuffle(&mut maker.edges);
    build(maker.nodes, maker.edges)
}

struct Maker {
    nodes: usize,
    edges: Vec<(usize, usize)>,
    /// How many more nodes there should be.
    left: usize,
    /// The header and the exit of each loop around, outermost first.
    loops: Vec<(usize, usize)>,
}

impl Maker {
    fn new(size: usize) -> Self {
        Maker { nodes: 1, edges: Vec::new(), left: size, loops: Vec::new() }
    }

    fn function(&mut self, rng: &mut SplitMix64) {
        let mut at = Some(0);
        while let Some(node) = at.filter(|_| self.left > 0) {
            at = self.statement(rng, node);
        }
    }

    fn node(&mut self) -> usize {
        self.left = self.left.saturating_sub(1);
        self.nodes += 1;
        self.nodes - 1
    }

    fn after(&mut self, at: usize) -> usize {
        let next = self.node();
        self.edges.push((at, next));
        next
    }

    /// Some statements from `at` on, which has no successor yet. The last node, if control comes to the end.
    fn block(&mut self, rng: &mut SplitMix64, mut at: usize) -> Option<usize> {
        for _ in 0..rng.between(0, 2) {
            if self.left > 0 {
                at = self.statement(rng, at)?;
            }
        }
        Some(at)
    }

    fn statement(&mut self, rng: &mut SplitMix64, at: usize) -> Option<usize> {
        match rng.below(12) {
            0 => Some(self.after(at)),
            1..=3 => self.arms(rng, at, 2),
            4 => {
                let arms = rng.between(3, 5);
                self.arms(rng, at, arms)
            }
            5..=7 => self.repeat(rng, at),
            8..=10 if !self.loops.is_empty() => {
                let &(header, exit) = rng.pick(&self.loops);
                self.edges.push((at, if rng.chance(2, 3) { exit } else { header }));
                // Mostly on a condition.
                if rng.chance(1, 8) { None } else { Some(self.after(at)) }
            }
            _ => {
                // An early return, or only some work.
                if rng.chance(1, 2) {
                    self.after(at);
                }
                Some(self.after(at))
            }
        }
    }

    /// An if or a switch; some of its edges go straight to the end, several may lead to one arm.
    fn arms(&mut self, rng: &mut SplitMix64, at: usize, count: usize) -> Option<usize> {
        let mut starts: Vec<usize> = Vec::new();
        let mut ends = Vec::new();
        for _ in 0..count {
            match rng.below(8) {
                0 if !starts.is_empty() => {
                    let same = *rng.pick(&starts);
                    self.edges.push((at, same));
                }
                1 | 2 if count == 2 || rng.chance(1, 2) => ends.push(at),
                _ => {
                    let start = self.after(at);
                    starts.push(start);
                    ends.extend(self.block(rng, start));
                }
            }
        }
        if ends.is_empty() {
            return None;
        }
        let end = self.node();
        self.edges.extend(ends.into_iter().map(|e| (e, end)));
        Some(end)
    }

    /// A loop that tests first, tests last, or never.
    fn repeat(&mut self, rng: &mut SplitMix64, at: usize) -> Option<usize> {
        let header = self.after(at);
        let exit = self.node();
        self.loops.push((header, exit));
        let tests_first = rng.chance(1, 2);
        let start = if tests_first {
            self.edges.push((header, exit));
            self.after(header)
        } else {
            header
        };
        if let Some(end) = self.block(rng, start) {
            self.edges.push((end, header));
            if !tests_first && rng.chance(5, 6) {
                self.edges.push((end, exit));
            }
        }
        self.loops.pop();
        self.edges.iter().any(|&(_, t)| t == exit).then_some(exit)
    }
}
