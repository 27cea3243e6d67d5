//! The interpreter's own cycle nesting, and positions in the execution of a function.
//!
//! Cycles are computed from LLVM's definition: the cycles of a region are its maximal strongly connected parts with
//! an internal edge; the header of a cycle is the node that a depth-first search from the entry visits first; the
//! children of a cycle are the cycles of what is left without the header. The order in which the search
//! visits successors chooses the hierarchy.
//!
//! # Maximal convergence as equality of positions
//!
//! By the definition of *maximal converged-with*, two dynamic instances of a node that is in the cycles *C₁ ⊃ … ⊃ Cₖ*
//! are converged iff both threads last executed converged instances of the same header among *H₁ … Hₖ*, or none.
//! Unfolding this, an instance is determined by the node and, for each of its cycles, the number of times the header
//! has been executed since the thread entered the cycle (leaving and re-entering a nested cycle passes through an
//! outer header, so the outer counts tell visits apart). A [`Position`] is this vector, with the topological number
//! of each cycle or node among its siblings in between, so that along any path positions increase lexicographically.
//! Executing always all threads at the least position is therefore maximally convergent: whoever can still arrive at
//! a position is at a lesser one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use smallvec::SmallVec;

/// The order in which the depth-first search visits the successors of a block.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum ChildOrder {
    /// As the edges stand in the terminator.
    #[default]
    Forward,
    /// The last edge first.
    Backward,
    /// Shuffled by a seed, for each block anew.
    Shuffled(u64),
}

/// Where a thread is: for each cycle around the block, from the outside, the cycle's number among its siblings and the
/// iteration; at last the number of the block among its siblings.
pub type Position = SmallVec<[u64; 8]>;

/// How an edge changes the position.
#[derive(Clone, Default, Debug)]
pub(super) struct Step {
    keep: usize,
    next_iteration: bool,
    suffix: SmallVec<[u64; 4]>,
}

impl Step {
    /// Follows the edge.
    pub(super) fn apply(&self, position: &mut Position) {
        position.truncate(self.keep);
        if self.next_iteration {
            position[self.keep - 1] += 1;
        }
        position.extend_from_slice(&self.suffix);
    }
}

#[derive(Clone, Debug)]
struct Cycle {
    header: u32,
    parent: Option<u32>,
    depth: usize,
    number: u64,
}

/// A cycle hierarchy of a control-flow graph with topological numbers at every level.
#[derive(Clone, Debug)]
pub struct Nesting {
    cycles: Vec<Cycle>,
    innermost: Vec<Option<u32>>,
    number: Vec<u64>,
}

impl Nesting {
    /// The hierarchy of the graph with the given successors and entry 0. Where the order of siblings is
    /// free, those with the lesser `priority` come first (a cycle has the least of its blocks').
    pub fn compute(successors: &[Vec<u32>], order: ChildOrder, priority: &[u64]) -> Nesting {
        let preorder = preorder(successors, order);
        let n = successors.len();
        let mut nesting = Nesting { cycles: Vec::new(), innermost: vec![None; n], number: vec![0; n] };
        let mut region_of = vec![u32::MAX; n];
        let reachable: Vec<u32> = (0..n as u32).filter(|&b| preorder[b as usize] != u32::MAX).collect();
        let mut work = vec![(reachable, None)];
        let mut region = 0;
        while let Some((nodes, parent)) = work.pop() {
            for &b in &nodes {
                region_of[b as usize] = region;
            }
            let inside = |b: u32| region_of[b as usize] == region;
            let components = components(&nodes, successors, &inside);
            let numbers = topological_numbers(&nodes, successors, &inside, &components, priority);
            let mut members: Vec<Vec<u32>> = vec![Vec::new(); numbers.len()];
            for (&b, &c) in nodes.iter().zip(&components) {
                members[c as usize].push(b);
            }
            for (members, &number) in members.iter().zip(&numbers) {
                let is_cycle = members.len() > 1 || successors[members[0] as usize].contains(&members[0]);
                if !is_cycle {
                    nesting.number[members[0] as usize] = number;
                    nesting.innermost[members[0] as usize] = parent;
                    continue;
                }
                let header = members.iter().copied().min_by_key(|&b| preorder[b as usize]).unwrap_or(0);
                let depth = parent.map_or(0, |p: u32| nesting.cycles[p as usize].depth) + 1;
                let cycle = nesting.cycles.len() as u32;
                nesting.cycles.push(Cycle { header, parent, depth, number });
                nesting.innermost[header as usize] = Some(cycle);
                let rest: Vec<u32> = members.iter().copied().filter(|&b| b != header).collect();
                work.push((rest, Some(cycle)));
            }
            // Headers keep number 0: they come first in their cycle. Blocks left behind are in no later region.
            region += 1;
        }
        nesting
    }

    /// The headers of the cycles around a block, outermost first.
    pub fn headers_around(&self, block: u32) -> Vec<u32> {
        self.chain(block).iter().map(|&c| self.cycles[c as usize].header).collect()
    }

    fn chain(&self, block: u32) -> SmallVec<[u32; 8]> {
        let mut chain = SmallVec::new();
        let mut next = self.innermost[block as usize];
        while let Some(c) = next {
            chain.push(c);
            next = self.cycles[c as usize].parent;
        }
        chain.reverse();
        chain
    }

    /// How the edge `from → to` changes the position; from nowhere if it is the entry of the function.
    pub(super) fn step(&self, from: Option<u32>, to: u32) -> Step {
        let around_from = from.map_or_else(SmallVec::new, |b| self.chain(b));
        let around_to = self.chain(to);
        let common = around_from.iter().zip(&around_to).take_while(|(a, b)| a == b).count();
        let is_header = around_to.last().is_some_and(|&c| self.cycles[c as usize].header == to);
        let mut suffix = SmallVec::new();
        for (i, &c) in around_to.iter().enumerate().skip(common) {
            suffix.push(self.cycles[c as usize].number);
            suffix.push(u64::from(is_header && i + 1 == around_to.len()));
        }
        suffix.push(self.number[to as usize]);
        Step { keep: 2 * common, next_iteration: is_header && common == around_to.len(), suffix }
    }
}

/// SplitMix64, for shuffles.
pub(super) fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn preorder(successors: &[Vec<u32>], order: ChildOrder) -> Vec<u32> {
    let mut random = if let ChildOrder::Shuffled(seed) = order { seed } else { 0 };
    let mut ordered = |b: u32| {
        let mut list = successors[b as usize].clone();
        match order {
            ChildOrder::Forward => list.reverse(),
            ChildOrder::Backward => {}
            ChildOrder::Shuffled(_) => {
                for i in (1..list.len()).rev() {
                    list.swap(i, (next_random(&mut random) % (i as u64 + 1)) as usize);
                }
            }
        }
        list // a stack: the last is visited first
    };
    let mut number = vec![u32::MAX; successors.len()];
    let mut count = 0;
    if successors.is_empty() {
        return number;
    }
    number[0] = 0;
    let mut stack = vec![ordered(0)];
    while let Some(top) = stack.last_mut() {
        match top.pop() {
            None => {
                stack.pop();
            }
            Some(b) if number[b as usize] == u32::MAX => {
                count += 1;
                number[b as usize] = count;
                stack.push(ordered(b));
            }
            Some(_) => {}
        }
    }
    number
}

/// The strongly connected component of each of the nodes, in the graph induced on them (Tarjan's algorithm with an
/// explicit stack).
fn components(nodes: &[u32], successors: &[Vec<u32>], inside: &impl Fn(u32) -> bool) -> Vec<u32> {
    let n = successors.len();
    let (mut index, mut low, mut component) = (vec![u32::MAX; n], vec![0u32; n], vec![u32::MAX; n]);
    let (mut open, mut calls) = (Vec::new(), Vec::new());
    let (mut counter, mut found) = (0, 0);
    for &root in nodes {
        if index[root as usize] != u32::MAX {
            continue;
        }
        calls.push((root, 0usize));
        while let Some((b, next)) = calls.pop() {
            let i = b as usize;
            if next == 0 {
                index[i] = counter;
                low[i] = counter;
                counter += 1;
                open.push(b);
            } else {
                let done = successors[i][next - 1] as usize;
                if component[done] == u32::MAX && inside(done as u32) {
                    low[i] = low[i].min(low[done]);
                }
            }
            let mut next = next;
            let mut called = false;
            while let Some(&s) = successors[i].get(next) {
                next += 1;
                if !inside(s) {
                    continue;
                }
                if index[s as usize] == u32::MAX {
                    calls.push((b, next));
                    calls.push((s, 0));
                    called = true;
                    break;
                }
                if component[s as usize] == u32::MAX {
                    low[i] = low[i].min(index[s as usize]);
                }
            }
            if !called && low[i] == index[i] {
                while let Some(m) = open.pop() {
                    component[m as usize] = found;
                    if m == b {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    nodes.iter().map(|&b| component[b as usize]).collect()
}

/// Numbers from 1 for the components, in topological order, the least priority first where there is a choice.
fn topological_numbers(
    nodes: &[u32],
    successors: &[Vec<u32>],
    inside: &impl Fn(u32) -> bool,
    components: &[u32],
    priority: &[u64],
) -> Vec<u64> {
    let count = components.iter().max().map_or(0, |&c| c as usize + 1);
    let mut component_of = std::collections::BTreeMap::new();
    let mut key = vec![u64::MAX; count];
    for (&b, &c) in nodes.iter().zip(components) {
        component_of.insert(b, c);
        let p = priority.get(b as usize).copied().unwrap_or(u64::from(b));
        key[c as usize] = key[c as usize].min(p);
    }
    let mut edges: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut waiting_for = vec![0u32; count];
    for (&b, &c) in nodes.iter().zip(components) {
        for &s in successors[b as usize].iter().filter(|&&s| inside(s)) {
            let d = component_of[&s];
            if d != c {
                edges[c as usize].push(d);
                waiting_for[d as usize] += 1;
            }
        }
    }
    let mut ready: BinaryHeap<Reverse<(u64, u32)>> = (0..count as u32)
        .filter(|&c| waiting_for[c as usize] == 0)
        .map(|c| Reverse((key[c as usize], c)))
        .collect();
    let mut numbers = vec![0; count];
    let mut next = 0;
    while let Some(Reverse((_, c))) = ready.pop() {
        next += 1;
        numbers[c as usize] = next;
        for &d in &edges[c as usize] {
            waiting_for[d as usize] -= 1;
            if waiting_for[d as usize] == 0 {
                ready.push(Reverse((key[d as usize], d)));
            }
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_natural_loops_have_their_headers_around_their_blocks() {
        // 0 → 1 → 2 → 2|3, 3 → 1|4
        let g = vec![vec![1], vec![2], vec![2, 3], vec![1, 4], vec![]];
        for order in [ChildOrder::Forward, ChildOrder::Backward, ChildOrder::Shuffled(7)] {
            let n = Nesting::compute(&g, order, &[]);
            assert_eq!(n.headers_around(0), []);
            assert_eq!(n.headers_around(2), [1, 2]);
            assert_eq!(n.headers_around(3), [1]);
            assert_eq!(n.headers_around(4), []);
        }
    }

    #[test]
    fn the_search_chooses_the_header_of_an_irreducible_cycle() {
        // LLVM's "irreducible cycle enclosing natural loops": 0 → A B; A → A C; B → B C; C → A B exit.
        let g = vec![vec![1, 2], vec![1, 3], vec![2, 3], vec![1, 2, 4], vec![]];
        let forward = Nesting::compute(&g, ChildOrder::Forward, &[]);
        assert_eq!(forward.headers_around(2), [1, 3, 2], "A, C, B in preorder: header A, then C, then B");
        assert_eq!(forward.headers_around(1), [1]);
        let backward = Nesting::compute(&g, ChildOrder::Backward, &[]);
        assert_eq!(backward.headers_around(1), [2, 3, 1]);
    }

    #[test]
    fn positions_increase_along_every_edge_and_count_iterations() {
        let g = vec![vec![1], vec![2], vec![2, 3], vec![1, 4], vec![]];
        let n = Nesting::compute(&g, ChildOrder::Forward, &[]);
        let mut p = Position::new();
        n.step(None, 0).apply(&mut p);
        for edge in [(0, 1), (1, 2), (2, 2), (2, 3), (3, 1), (1, 2), (2, 3), (3, 4)] {
            let before = p.clone();
            n.step(Some(edge.0), edge.1).apply(&mut p);
            assert!(p > before, "{edge:?}: {before:?} then {p:?}");
        }
    }
}
