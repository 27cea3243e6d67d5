//! φ placement by reaching definitions: paper 5, Algorithms 1 to 5.
//!
//! One visit of every edge tells for each node which definitions reach it, in part by name only: what a node that was
//! not visited yet or whose φ is not decided will hold at its end is its *abstract* definition (`forward`: Algorithm
//! 1, Eq. 1 to 3). Then for each join the abstract definitions on which it depends make a graph (Def. 3), through
//! which concrete definitions flow (Algorithm 2). Nodes at which one of them is the first to meet another get a φ
//! (Def. 5, Algorithm 3) and are concrete definitions in the next round, until nothing is new (Algorithm 4,
//! `concretization`).
//!
//! This is the reference for faster placements: it follows the paper. Its result, J⁺(*S*), does not depend on the
//! order of any worklist. Each of the following departures from the printed text is needed for that, but for those
//! said to be for other reasons; for the first four a test shows the smallest graph on which the printed text fails.
//!
//! * **Line 14 of Algorithm 2** stops the flow at a node whose μ has one member, a concrete one, and takes it for a
//!   φ. But A∘ of a node may have become such a set after A• was found to be abstract, and is then no φ. Here the
//!   flow stops at concrete definitions.
//! * **Joins that write the variable** never get a φ as printed, since they are concrete from the beginning (line 16
//!   of Algorithm 4), and are taken for resolved as soon as another join depends on what they write (line 21). J(*S*)
//!   holds them, and what they read before they write needs it. Here α of Def. 3 is always the start of the join,
//!   which is another node than the definition at its end, and only abstract definitions are resolved.
//! * **Known φs in later graphs.** By line 8 of Algorithm 4, nodes that case (1) of Eq. 3 or an earlier graph found
//!   to need a φ are not in C₀ and nothing flows from them; Section 4.2.4 says C₀ = N_μ ∩ N, which is meant here.
//! * **One node, two names.** A node that case (1) of Eq. 3 finds to need a φ late is known as *n* to nodes that were
//!   visited after that, and as *n*ᵤ to those before. In one graph, both would be taken for two definitions that
//!   meet. Here the abstract definition of a node that is known to be concrete is the concrete one.
//! * **Resolved nodes in later graphs.** Line 20 of Algorithm 4 stores what reaches a node in A∘, which nobody reads
//!   again. Here later graphs have this definition in place of the abstract one. The result would be the same without
//!   it, but each graph would contain all earlier ones.
//! * **Joins without a graph.** Where A∘ has two concrete definitions, or no abstract one, it tells by itself whether
//!   the join needs a φ; Section 4.2 says so, Algorithm 4 does not. Joins are taken in reverse post-order, so that
//!   graphs are made for little else than loops. In an order that makes one graph of the whole function, as many
//!   rounds may follow as there are φs, each through the whole graph.
//! * **Case (2) of Eq. 3** gives every node behind an abstract definition one of its own; Table 1 does not. Here, as
//!   there, a single definition passes by case (3) even if it is abstract. The result would be the same.
//! * **Line 11 of Algorithm 1** computes A∘ at each visit of an edge, but only line 9 and Algorithm 4 read it; here
//!   it is computed there, which costs less at nodes with many predecessors and tells no less. A• of nodes that are
//!   never left is computed at the end, as in Table 1. Edges from nodes that the entry does not reach are not there.
//! * **The entry** is a node like others, with predecessors perhaps. A virtual one before it is the paper's entry,
//!   and defines the variables that are defined on entry. With fewer than two definitions nothing is done (Section
//!   4.2.4: |C₀| ≤ 1).

mod concretization;
mod forward;
mod trace;

use self::concretization::{Dependencies, Resolution};
use self::forward::Forward;
pub use self::forward::{Case, Definition};
pub use self::trace::{Concretization, Round, Trace};
use super::{Accesses, Placement};
use crate::graph::{Graph, Node};
use alloc::vec::Vec;

/// Places φs where definitions meet, whether the variable is live there or not.
/// Quadratic in the graph for each variable, as printed.
pub fn place<G: Graph>(graph: &G, accesses: &Accesses) -> Placement {
    place_all(Forward::new(graph, None), graph, accesses, |count| count - 1)
}

/// The same with another choice from worklists: `select` gets the number of things to choose from and returns the
/// position of one. For tests of the claim that the order does not matter.
/// Quadratic in the graph for each variable, as printed.
#[doc(hidden)]
pub fn place_in_order<G: Graph>(
    graph: &G,
    accesses: &Accesses,
    mut select: impl FnMut(usize) -> usize,
) -> Placement {
    place_all(Forward::new(graph, Some(&mut select)), graph, accesses, select)
}

/// Algorithm 1 alone, to be timed apart. Returns for how many variables it was run: those that may need a φ.
/// Linear in the graph for each variable and round.
pub fn algorithm_1<G: Graph>(graph: &G, accesses: &Accesses) -> usize {
    let mut forward = Forward::new(graph, None);
    let with_joins = (0..accesses.variables()).filter(|&x| !has_nothing_to_join(accesses, x));
    with_joins.inspect(|&x| forward.run(accesses.definitions(x), accesses.is_defined_on_entry(x))).count()
}

/// Whether a variable has fewer than two definitions.
fn has_nothing_to_join(accesses: &Accesses, variable: usize) -> bool {
    accesses.definitions(variable).len() + usize::from(accesses.is_defined_on_entry(variable)) < 2
}

/// Algorithm 4, *IterativeFlow*.
fn place_all<G: Graph>(
    mut forward: Forward<G>,
    graph: &G,
    accesses: &Accesses,
    mut select: impl FnMut(usize) -> usize,
) -> Placement {
    accesses.expect_graph(graph);
    // Without another choice they are taken from the end, so in reverse post-order.
    let mut joins = forward.joins();
    joins.reverse();
    let mut left = Vec::new();
    let mut graphs = Dependencies::new(graph.node_count());
    let mut known = Known::new(graph.node_count());
    let mut placement = Placement::with_capacity(accesses.variables());
    for x in 0..accesses.variables() {
        if has_nothing_to_join(accesses, x) {
            placement.push([]);
            continue;
        }
        forward.run(accesses.definitions(x), accesses.is_defined_on_entry(x));
        known.clear();
        left.clone_from(&joins);
        while !left.is_empty() {
            let join = left.swap_remove(select(left.len()));
            if known.is_resolved(join) {
                continue;
            }
            if let Some(found) = known.conclude(&forward, join) {
                known.resolve(join, found);
                continue;
            }
            graphs.create(&forward, |d| known.look(&forward, d), join);
            graphs.iterate(&mut select);
            graphs.resolutions().for_each(|(n, found)| known.resolve(n, found));
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

    /// What reaches the start of a node, if that can be seen without a graph: if two concrete definitions do, or no
    /// abstract one (Section 4.2).
    fn conclude<G: Graph>(&self, forward: &Forward<G>, node: Node) -> Option<Resolution> {
        let (mut one, mut several, mut open) = (None, false, false);
        forward.for_each_before(node, |d| match self.look(forward, d) {
            Some(Definition::Abstract(_)) => open = true,
            Some(d) => several |= *one.get_or_insert(d) != d,
            None => {}
        });
        match one {
            _ if several => Some(Resolution::Phi),
            _ if open => None,
            Some(d) => Some(Resolution::One(d)),
            None => Some(Resolution::Nothing),
        }
    }

    /// A definition, or what an abstract one was found to be: nothing if no definition reaches it.
    fn look<G: Graph>(&self, forward: &Forward<G>, definition: Definition) -> Option<Definition> {
        let Definition::Abstract(n) = forward.look(definition) else {
            return Some(forward.look(definition));
        };
        match self.resolved[n.index()] {
            None => Some(definition),
            Some(Resolution::Phi) => Some(Definition::Concrete(n)),
            Some(Resolution::One(d)) => Some(d),
            Some(Resolution::Nothing) => None,
        }
    }
}
