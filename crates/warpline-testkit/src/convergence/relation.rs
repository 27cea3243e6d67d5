//! The maximal converged-with relation, and convergence-before.
//!
//! Paper 2, *Maximal Convergence*: instances `X1`, `X2` of `X` by different threads are converged iff for every cycle
//! with header `H` that contains `X`, every instance of `H` that precedes `X1` is convergence-before `X2` and
//! the other way round, "without assuming that `X1` is converged with `X2`". Convergence-before is itself made from
//! converged-with, and the more is converged the more is ordered; so the relation is the least fixed point, in which
//! nothing is converged but for reasons that were there before. [`Execution::misfit`] checks the sentence
//! on the result word for word.

use std::collections::BTreeSet;

use warpline_analysis::Node;

use super::Trace;
use crate::hierarchies::Hierarchy;
use crate::tagged::Tags;

/// Which instances come after each instance, as sets of bits.
type Order = Vec<u128>;

/// The dynamic instances of several threads.
#[derive(Clone, Debug)]
pub struct Execution {
    /// By instance; the instances of a thread follow each other.
    nodes: Vec<Node>,
    threads: Vec<usize>,
    starts: Vec<usize>,
}

/// Pairs of instances by different threads, the smaller number first.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Relation {
    pairs: BTreeSet<(usize, usize)>,
}

impl Relation {
    /// Whether two instances are converged.
    pub fn contains(&self, a: usize, b: usize) -> bool {
        self.pairs.contains(&(a.min(b), a.max(b)))
    }

    /// The pairs, the smaller number first, in increasing order.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.pairs.iter().copied()
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether nothing is converged.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

impl Execution {
    /// The instances of the given traces, 128 at most, numbered from 0, thread by thread.
    pub fn of(traces: &[Trace]) -> Self {
        let mut execution = Execution { nodes: Vec::new(), threads: Vec::new(), starts: Vec::new() };
        for (thread, trace) in traces.iter().enumerate() {
            execution.starts.push(execution.nodes.len());
            execution.nodes.extend(trace);
            execution.threads.extend(trace.iter().map(|_| thread));
        }
        assert!(execution.nodes.len() <= 128, "an order is a set of 128 bits for each instance");
        execution
    }

    /// The number of instances.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether no thread did anything.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node that an instance is one of.
    pub fn node(&self, instance: usize) -> Node {
        self.nodes[instance]
    }

    /// The instances that precede an instance in its thread.
    fn preceding(&self, instance: usize) -> std::ops::Range<usize> {
        self.starts[self.threads[instance]]..instance
    }

    fn following(&self, instance: usize) -> std::ops::Range<usize> {
        let end = self.starts.get(self.threads[instance] + 1);
        instance + 1..end.copied().unwrap_or(self.nodes.len())
    }

    /// Pairs of instances of one node by different threads, those that come first in their threads first.
    pub fn candidates(&self) -> Vec<(usize, usize)> {
        let n = self.len();
        let mut pairs: Vec<(usize, usize)> = (0..n)
            .flat_map(|a| (a + 1..n).map(move |b| (a, b)))
            .filter(|&(a, b)| self.nodes[a] == self.nodes[b] && self.threads[a] != self.threads[b])
            .collect();
        pairs.sort_by_key(|&(a, b)| self.preceding(a).len() + self.preceding(b).len());
        pairs
    }

    /// Convergence-before for a given converged-with relation: the transitive closure of its three rules.
    pub fn convergence_before(&self, converged: &Relation) -> Order {
        let bits = |range: std::ops::Range<usize>| range.fold(0u128, |set, i| set | 1 << i);
        let later: Vec<u128> = (0..self.len()).map(|p| bits(self.following(p))).collect();
        // 1. P before Q in the same thread.
        let mut order = later.clone();
        for (a, b) in converged.pairs() {
            for (q1, q2) in [(a, b), (b, a)] {
                // 2. P before Q1 in the same thread, Q1 converged with Q2.
                self.preceding(q1).for_each(|p| order[p] |= 1 << q2);
                // 3. P1 converged with P2, P2 before Q in the same thread.
                order[q1] |= later[q2];
            }
        }
        for k in 0..self.len() {
            for p in 0..self.len() {
                if order[p] >> k & 1 != 0 {
                    order[p] |= order[k];
                }
            }
        }
        order
    }

    /// The condition of the definition, for one pair and one order.
    fn may_converge(&self, hierarchy: &Hierarchy, before: &Order, x1: usize, x2: usize) -> bool {
        let headers = hierarchy.headers_around(self.nodes[x1]);
        let all_before = |a: usize, b: usize| {
            self.preceding(a).filter(|&h| headers.contains(&self.nodes[h])).all(|h| before[h] >> b & 1 != 0)
        };
        all_before(x1, x2) && all_before(x2, x1)
    }

    /// The maximal converged-with relation by its definition.
    pub fn by_definition(&self, hierarchy: &Hierarchy) -> Relation {
        let candidates = self.candidates();
        let mut converged = Relation::default();
        loop {
            let before = self.convergence_before(&converged);
            let found = candidates.iter().filter(|&&(a, b)| self.may_converge(hierarchy, &before, a, b));
            let size = converged.len();
            converged.pairs.extend(found.map(|&(a, b)| (a.min(b), a.max(b))));
            if converged.len() == size {
                return converged;
            }
        }
    }

    /// A pair for which the definition does not hold: it is converged or not although the condition, "without assuming
    /// that `X1` is converged with `X2`", says otherwise.
    pub fn misfit(&self, hierarchy: &Hierarchy, converged: &Relation) -> Option<(usize, usize)> {
        self.candidates().into_iter().find(|&(a, b)| {
            let mut others = converged.clone();
            others.pairs.remove(&(a.min(b), a.max(b)));
            let before = self.convergence_before(&others);
            self.may_converge(hierarchy, &before, a, b) != converged.contains(a, b)
        })
    }

    /// The maximal converged-with relation by the three cases over the headers of the nested cycles around a node.
    ///
    /// # Errors
    /// If of the converged pairs of headers before two instances none is the most recent in both threads.
    pub fn by_cases(&self, hierarchy: &Hierarchy) -> Result<Relation, String> {
        let mut converged = Relation::default();
        for (x1, x2) in self.candidates() {
            let headers = hierarchy.headers_around(self.nodes[x1]);
            let executed = |range: std::ops::Range<usize>| -> Vec<usize> {
                range.filter(|&i| headers.contains(&self.nodes[i])).collect()
            };
            let (before1, before2) = (executed(self.preceding(x1)), executed(self.preceding(x2)));
            let together = if before1.is_empty() && before2.is_empty() {
                true
            } else {
                let pairs = before1.iter().flat_map(|&q1| before2.iter().map(move |&q2| (q1, q2)));
                let pairs: Vec<_> = pairs.filter(|&(q1, q2)| converged.contains(q1, q2)).collect();
                match (pairs.iter().map(|p| p.0).max(), pairs.iter().map(|p| p.1).max()) {
                    (Some(q1), Some(q2)) if pairs.contains(&(q1, q2)) => {
                        executed(q1 + 1..x1).is_empty() && executed(q2 + 1..x2).is_empty()
                    }
                    (Some(q1), Some(q2)) => {
                        return Err(format!("before {x1} and {x2} no pair is most recent: {q1}, {q2}"));
                    }
                    _ => false,
                }
            };
            if together {
                converged.pairs.insert((x1.min(x2), x1.max(x2)));
            }
        }
        Ok(converged)
    }

    /// The relation that equal tags make.
    pub fn by_tags(&self, tags: &Tags) -> Relation {
        let mut at = Vec::new();
        for (i, &node) in self.nodes.iter().enumerate() {
            let tag = match self.preceding(i).next_back() {
                None => tags.at_entry(node),
                Some(before) => tags.step(&at[before], self.nodes[before], node),
            };
            at.push(tag);
        }
        let equal = self.candidates().into_iter().filter(|&(a, b)| at[a] == at[b]);
        Relation { pairs: equal.map(|(a, b)| (a.min(b), a.max(b))).collect() }
    }

    /// Three instances of which two pairs are converged and the third is not.
    pub fn intransitive(&self, converged: &Relation) -> Option<(usize, usize, usize)> {
        let both = |&(a, b): &(usize, usize)| [(a, b), (b, a)];
        converged.pairs.iter().flat_map(both).find_map(|(a, b)| {
            (0..self.len())
                .filter(|&c| self.threads[c] != self.threads[a] && converged.contains(b, c))
                .find(|&c| !converged.contains(a, c))
                .map(|c| (a, b, c))
        })
    }

    /// An instance that is convergence-before itself: then the order, which is transitive by construction, is no strict
    /// partial order.
    pub fn before_itself(&self, converged: &Relation) -> Option<usize> {
        let order = self.convergence_before(converged);
        (0..self.len()).find(|&i| order[i] >> i & 1 != 0)
    }
}
