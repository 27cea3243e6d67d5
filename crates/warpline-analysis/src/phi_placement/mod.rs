//! Where φ-functions are needed for variables that are written at given nodes.
//!
//! For a set *S* of nodes that define a variable, the *join set* J(*S*) holds the nodes at which two paths meet that
//! begin at different members of *S* and have no other node in common (paper 5, Section 2). A φ-function at these
//! nodes, and nowhere else, gives every node one reaching definition. (The iterated join set J⁺(*S*), in which φs
//! count as definitions, is the same set: Weiss 1992.) Whether the variable is also defined *on entry* is part of the
//! question: parameters are, local variables are not. All classic algorithms answer for variables that are, by
//! dominance frontiers; for others they place φs that merge a definition with nothing.
//!
//! * [`reaching_definitions`]: paper 5's algorithms, for any choice; the reference.
//! * [`dominance_frontiers`]: Cytron et al. and Sreedhar–Gao; every variable counts as defined on entry.
//! * [`braun`]: Braun et al., without dominators; every variable counts as defined on entry, and only live φs are
//!   placed.
//! * [`precise`]: the join set of the definitions that there are, at the price of dominance frontiers.
//!
//! A definition on entry happens before the entry node, so that the entry is a place for a φ like any other if edges
//! lead back to it. Definitions in nodes that the entry does not reach count for nothing.

#[cfg(feature = "baselines")]
pub mod braun;
pub mod dominance_frontiers;
mod liveness;
pub mod precise;
#[cfg(feature = "baselines")]
pub mod reaching_definitions;

use alloc::vec::Vec;
use core::cell::OnceCell;

use crate::bitset::BitSet;
use crate::dom::DomTree;
use crate::graph::{Graph, Lists, Node};
use crate::program::{Instruction, Program, Variable};
use crate::program_error::ProgramError;

/// Which nodes write and read each of a set of variables, numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accesses {
    nodes: usize,
    definitions: Lists<Node>,
    exposed: Lists<Node>,
    on_entry: BitSet,
}

impl Accesses {
    /// Collects the accesses to `variables` variables in `nodes` nodes, as pairs of variable and node.
    ///
    /// `definitions` are the nodes that write a variable; `exposed` those that read it before any write of their own.
    /// A pair counts once, however often it comes. `on_entry` are the variables that hold a value when control enters.
    /// Linear in the nodes, the variables and the pairs.
    ///
    /// # Errors
    /// If a variable or a node does not exist.
    pub fn new(
        nodes: usize,
        variables: usize,
        definitions: impl Iterator<Item = (usize, Node)> + Clone,
        exposed: impl Iterator<Item = (usize, Node)> + Clone,
        on_entry: impl IntoIterator<Item = usize>,
    ) -> Result<Self, ProgramError> {
        let check = |x: usize| match x < variables {
            true => Ok(()),
            false => Err(ProgramError::NoSuchVariable {
                variable: Variable(u32::try_from(x).unwrap_or(u32::MAX)),
                count: variables,
            }),
        };
        for (x, node) in definitions.clone().chain(exposed.clone()) {
            check(x)?;
            if node.index() >= nodes {
                return Err(ProgramError::NoSuchNode { node });
            }
        }
        let mut set = BitSet::new(variables);
        for x in on_entry {
            check(x)?;
            set.insert(x);
        }
        Ok(Self::group(nodes, variables, definitions, exposed, set))
    }

    fn group(
        nodes: usize,
        variables: usize,
        definitions: impl Iterator<Item = (usize, Node)> + Clone,
        exposed: impl Iterator<Item = (usize, Node)> + Clone,
        on_entry: BitSet,
    ) -> Self {
        Accesses {
            nodes,
            definitions: each_once(nodes, Lists::group(variables, definitions)),
            exposed: each_once(nodes, Lists::group(variables, exposed)),
            on_entry,
        }
    }

    /// The accesses of a program that was described for all analyses. A φ-function that it has already writes its
    /// result where it stands and reads its operands at the ends of the edges' sources. Takes time linear in the
    /// program.
    pub fn of(program: &Program) -> Self {
        let (graph, variables) = (program.graph(), program.variables());
        let (mut definitions, mut exposed) = (Vec::new(), Vec::new());
        // By variable the last node that was seen to write it, and to read it before that.
        let (mut written, mut read) = (vec![None; variables], vec![None; variables]);
        for node in graph.nodes() {
            let phis = graph.in_edges(node).first().map_or(&[][..], |&edge| program.phis(edge));
            let mut write = |v: Variable, written: &mut [Option<Node>]| {
                if written[v.index()].replace(node) != Some(node) {
                    definitions.push((v.index(), node));
                }
            };
            let mut reads = |v: Variable, written: &[Option<Node>]| {
                if written[v.index()] != Some(node) && read[v.index()].replace(node) != Some(node) {
                    exposed.push((v.index(), node));
                }
            };
            phis.iter().for_each(|phi| write(phi.result, &mut written));
            for at in program.block(node).map(Instruction) {
                program.uses(at).iter().for_each(|&v| reads(v, &written));
                program.definitions(at).iter().for_each(|&v| write(v, &mut written));
            }
            program.tests(node).iter().for_each(|test| reads(test.variable, &written));
            for &edge in graph.out_edges(node) {
                program.phis(edge).iter().for_each(|phi| reads(phi.operand, &written));
            }
        }
        let mut on_entry = BitSet::new(variables);
        program.on_entry().iter().for_each(|v| _ = on_entry.insert(v.index()));
        Self::group(graph.node_count(), variables, definitions.into_iter(), exposed.into_iter(), on_entry)
    }

    /// Panics if they are of another graph, as far as the number of nodes tells.
    fn expect_graph<G: Graph>(&self, graph: &G) {
        assert!(self.nodes == graph.node_count(), "the accesses are of another graph");
    }

    /// How many variables there are. O(1).
    #[inline]
    pub fn variables(&self) -> usize {
        self.definitions.len()
    }

    /// The nodes that write a variable, in the order given. O(1).
    #[inline]
    pub fn definitions(&self, variable: usize) -> &[Node] {
        self.definitions.get(variable)
    }

    /// The nodes that read what a variable holds when control arrives there, in the order given. O(1).
    #[inline]
    pub fn exposed(&self, variable: usize) -> &[Node] {
        self.exposed.get(variable)
    }

    /// Whether a variable holds a value when control enters. O(1).
    #[inline]
    pub fn is_defined_on_entry(&self, variable: usize) -> bool {
        self.on_entry.contains(variable)
    }
}

/// The lists without what stands in one of them already.
fn each_once(nodes: usize, lists: Lists<Node>) -> Lists<Node> {
    let mut seen_in = vec![usize::MAX; nodes];
    let mut is_new = |x: usize, node: Node| core::mem::replace(&mut seen_in[node.index()], x) != x;
    if (0..lists.len()).all(|x| lists.get(x).iter().all(|&node| is_new(x, node))) {
        return lists;
    }
    seen_in.fill(usize::MAX);
    let mut once = Vec::with_capacity(lists.item_count());
    for x in 0..lists.len() {
        for &node in lists.get(x) {
            if core::mem::replace(&mut seen_in[node.index()], x) != x {
                once.push((x, node));
            }
        }
    }
    Lists::group(lists.len(), once.iter().copied())
}

/// Whether `node` is the entry and no edge leads back to it: a definition there is as good as one on entry.
fn is_unentered<G: Graph>(graph: &G, node: Node) -> bool {
    node == graph.entry() && graph.in_edges(node).len() == 0
}

/// Which of the needed φs are wanted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Pruning {
    /// All of them.
    #[default]
    Minimal,
    /// Those of variables that some node reads before it writes them (Briggs et al. 1998).
    SemiPruned,
    /// Those at nodes where the variable is live (Choi et al. 1991).
    Pruned,
}

/// φ-functions: for each variable the nodes that get one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    starts: Vec<u32>,
    nodes: Vec<Node>,
}

impl Placement {
    /// A placement for no variables yet.
    pub(crate) fn with_capacity(variables: usize) -> Self {
        let mut starts = Vec::with_capacity(variables + 1);
        starts.push(0);
        Placement { starts, nodes: Vec::new() }
    }

    /// Adds the nodes of the next variable.
    pub(crate) fn push(&mut self, nodes: impl IntoIterator<Item = Node>) {
        let from = self.nodes.len();
        self.nodes.extend(nodes);
        if self.nodes.len() > from + 1 {
            self.nodes[from..].sort_unstable();
        }
        self.starts.push(self.nodes.len() as u32);
    }

    /// How many variables there are. O(1).
    #[inline]
    pub fn variables(&self) -> usize {
        self.starts.len() - 1
    }

    /// The nodes at which a variable gets a φ, in increasing order. O(1).
    #[inline]
    pub fn of(&self, variable: usize) -> &[Node] {
        &self.nodes[self.starts[variable] as usize..self.starts[variable + 1] as usize]
    }

    /// The number of φs of all variables. O(1).
    pub fn count(&self) -> usize {
        self.nodes.len()
    }
}

/// The dominator tree of a graph, computed when it is first asked for: many functions need no φ and so no tree.
pub struct Dominators<'a, G> {
    graph: &'a G,
    tree: OnceCell<DomTree>,
}

impl<'a, G: Graph> Dominators<'a, G> {
    /// The dominators of `graph`. O(1).
    #[inline]
    pub fn of(graph: &'a G) -> Self {
        Dominators { graph, tree: OnceCell::new() }
    }

    /// The graph. O(1).
    #[inline]
    pub fn graph(&self) -> &'a G {
        self.graph
    }

    /// The tree. As [`DomTree::compute`] the first time, then O(1).
    #[inline]
    pub fn tree(&self) -> &DomTree {
        self.tree.get_or_init(|| DomTree::compute(self.graph))
    }
}
