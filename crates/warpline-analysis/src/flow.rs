//! Two paths that have no node in common: a flow of two units by two augmenting paths (Menger's theorem).
//!
//! The graph is given by a function that lists the hops out of a node, so that it need not be built. Shortest
//! augmenting paths are taken, so that paths are short.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::witness::Step;

/// Where a hop leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// To a node, which at most one path may pass.
    Node(usize),
    /// To an end. At most one path arrives at each; both paths arrive at some.
    End(usize),
}

/// An edge of the graph, with what a path that takes it says of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    /// What is said; an edge equal to the last one said is not repeated.
    pub steps: [Option<Step>; 2],
    /// Where it leads.
    pub to: Place,
}

const NONE: u32 = u32::MAX;
const START: usize = 0;
const GOAL: usize = 1;

struct Network {
    /// Head and whether there is room left. Arc `a ^ 1` is the reverse of arc `a`.
    arcs: Vec<(u32, bool)>,
    steps: Vec<[Option<Step>; 2]>,
    leaving: Vec<Vec<u32>>,
}

impl Network {
    fn vertex(&mut self) -> usize {
        self.leaving.push(Vec::new());
        self.leaving.len() - 1
    }

    fn arc(&mut self, tail: usize, head: usize, steps: [Option<Step>; 2]) {
        let a = self.arcs.len() as u32;
        self.leaving[tail].push(a);
        self.leaving[head].push(a + 1);
        self.arcs.extend([(head as u32, true), (tail as u32, false)]);
        self.steps.push(steps);
    }

    /// Sends one more unit from the start to the goal.
    fn augment(&mut self) -> Option<()> {
        let mut by = vec![NONE; self.leaving.len()];
        let mut queue = VecDeque::from([START]);
        while let Some(at) = queue.pop_front() {
            for &a in &self.leaving[at] {
                let (head, room) = self.arcs[a as usize];
                if room && head as usize != START && by[head as usize] == NONE {
                    by[head as usize] = a;
                    queue.push_back(head as usize);
                }
            }
        }
        let mut at = GOAL;
        while at != START {
            let a = by[at];
            if a == NONE {
                return None;
            }
            self.arcs[a as usize].1 = false;
            self.arcs[a as usize ^ 1].1 = true;
            at = self.arcs[a as usize ^ 1].0 as usize;
        }
        Some(())
    }

    /// The path that goes on behind an arc.
    fn path(&self, first: u32) -> Vec<Step> {
        let (mut path, mut arc) = (Vec::new(), Some(first));
        while let Some(a) = arc {
            for step in self.steps[a as usize / 2].iter().flatten() {
                if path.last() != Some(step) {
                    path.push(*step);
                }
            }
            arc = self.used(self.arcs[a as usize].0 as usize).next();
        }
        path
    }

    /// The arcs out of a vertex on which something flows.
    fn used(&self, vertex: usize) -> impl Iterator<Item = u32> + '_ {
        self.leaving[vertex].iter().copied().filter(|&a| a % 2 == 0 && !self.arcs[a as usize].1)
    }
}

/// Two paths that begin with different ones of `starts`, arrive at different ends, and have no node in common, if there
/// are such. `hops` appends the hops out of a node; nodes are below `node_count`, ends below `end_count`.
pub(crate) fn two_paths(
    node_count: usize,
    end_count: usize,
    starts: &[Hop],
    mut hops: impl FnMut(usize, &mut Vec<Hop>),
) -> Option<[Vec<Step>; 2]> {
    let mut network = Network { arcs: Vec::new(), steps: Vec::new(), leaving: vec![Vec::new(), Vec::new()] };
    let (mut nodes, mut ends) = (vec![NONE; node_count], vec![NONE; end_count]);
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut out: Vec<Hop> = starts.to_vec();
    let mut tail = START;
    loop {
        for hop in out.drain(..) {
            let head = match hop.to {
                Place::Node(n) => {
                    if nodes[n] == NONE {
                        nodes[n] = network.vertex() as u32;
                        let outside = network.vertex();
                        network.arc(nodes[n] as usize, outside, [None; 2]);
                        open.push((n, outside));
                    }
                    nodes[n]
                }
                Place::End(e) => {
                    if ends[e] == NONE {
                        ends[e] = network.vertex() as u32;
                        network.arc(ends[e] as usize, GOAL, [None; 2]);
                    }
                    ends[e]
                }
            };
            network.arc(tail, head as usize, hop.steps);
        }
        let Some((node, outside)) = open.pop() else { break };
        hops(node, &mut out);
        tail = outside;
    }
    network.augment()?;
    network.augment()?;
    let mut firsts = network.used(START);
    Some([network.path(firsts.next()?), network.path(firsts.next()?)])
}
