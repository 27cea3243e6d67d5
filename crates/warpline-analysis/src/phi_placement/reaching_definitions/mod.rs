//! φ placement by reaching definitions.

mod concretization;
mod forward;

use std::cell::RefCell;

use self::concretization::{Dependencies, Resolution};
use self::forward::Forward;
pub use self::forward::{Case, Definition};
use super::{Accesses, Placement};
use crate::graph::{Graph, Node};

/// Places φs where definitions meet, whether the variable is live there or not.
pub fn place<G: Graph>(graph: &G, accesses: &Accesses) -> Placement {
    place_all(Forward::new(graph, None), graph, accesses, |count| count - 1)
}

/// The same with another choice from worklists: `select` gets the number of things to choose from and returns the
/// position of one. For tests of the claim that the order does not matter.
#[doc(hidden)]
pub fn place_in_order<G: Graph>(
    graph: &G,
    accesses: &Accesses,
    mut select: impl FnMut(usize) -> usize,
) -> Placement {
    place_all(Forward::new(graph, Some(&mut select)), graph, accesses, select)
}

/// Algorithm 4, *IterativeFlow*.
fn place_all<G: Graph>(
    mut forward: Forward<G>,
    graph: &G,
    accesses: &Accesses,
    mut select: impl FnMut(usize) -> usize,
) -> Placement {
    let joins = forward.joins();
    let mut graphs = Dependencies::new(graph.node_count());
    let mut known = Known::new(graph.node_count());
    let mut placement = Placement::with_capacity(accesses.variables());
    for x in 0..accesses.variables() {
        let on_entry = accesses.is_defined_on_entry(x);
        if accesses.definitions(x).len() + usize::from(on_entry) < 2 {
            placement.push([]);
            continue;
        }
        forward.run(accesses.definitions(x), on_entry);
        known.clear();
        let mut left = joins.clone();
        while !left.is_empty() {
            let join = left.swap_remove(select(left.len()));
            if !known.is_resolved(join) {
                graphs.create(&forward, |d| known.look(&forward, d), join);
                graphs.iterate(&mut select);
                graphs.resolutions().for_each(|(n, d)| known.resolve(n, d));
            }
        }
        placement.push(joins.iter().copied().filter(|&n| known.has_phi(n)));
    }
    placement
}

/// What is known of the starts of nodes, for one variable.
struct Known {
    resolved: Vec<Option<Resolution>>,
}

impl Known {
    fn new(node_count: usize) -> Self {
        Known { resolved: vec![None; node_count + 1] }
    }

    fn clear(&mut self) {
        self.resolved.fill(None);
    }

    fn is_resolved(&self, node: Node) -> bool {
        self.resolved[node.index()].is_some()
    }

    fn resolve(&mut self, node: Node, found: Resolution) {
        self.resolved[node.index()] = Some(found);
    }

    fn has_phi(&self, node: Node) -> bool {
        self.resolved[node.index()] == Some(Resolution::Phi)
    }

    /// A definition, or what an abstract one was found to be: nothing if no definition reaches it.
    fn look<G: Graph>(&self, forward: &Forward<G>, definition: Definition) -> Option<Definition> {
        let Definition::Abstract(n) = definition else { return Some(definition) };
        if forward.is_concrete(n) {
            return Some(Definition::Concrete(n));
        }
        match self.resolved[n.index()] {
            None => Some(definition),
            Some(Resolution::Phi) => Some(Definition::Concrete(n)),
            Some(Resolution::One(d)) => Some(d),
            Some(Resolution::Nothing) => None,
        }
    }
}
