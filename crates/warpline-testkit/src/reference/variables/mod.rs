//! Uniformity of functions with variables, which need not be in SSA form.
//!
//! Paper 1, Sections 4 and 6. A variable is uniform at a node if all threads that arrive at an instance of the node
//! see the same value in it (Definition 4.1). Two abstract transformers are there, as greatest fixed points over bit
//! sets, one bit per node and variable:
//!
//! * [`Transformer::Plain`], Definition 4.7: a variable is uniform at *p* if it is on all edges into *p* and the
//!   branch variables of all relevant splits of *p* are uniform where they are looked at. Where threads can arrive
//!   apart, every variable is lost, also one that nobody has assigned since before they parted.
//! * [`Transformer::ReachingDefinitions`], Definition 6.6: a variable is also uniform at *p* if it is at some *q*
//!   that every path to *p* passes without assigning it afterwards ([`DefiniteDefinitions`]), provided that threads
//!   leave the loops around *q* which do not contain *p* in one iteration, as far as they come to *p*.
//!
//! Definition 6.6 as printed asks for `uni s x` at the splits *s* that are relevant for the exits on the way. That is
//! unsound: in Figure 1b, `x` is uniform at the split `S` and divergent behind the exit if `S` is a divergent branch.
//! What must be uniform is the branch variable, `uni s b_s`, as in Definition 4.7; so it is here. (Loops that contain
//! both *q* and *p* need no thought: from an exit of such a loop no path without back edges leads to *p*.)
//!
//! The graph is brought into [normal form](crate::reference::normal_form), and answers are given for its original
//! nodes. Irreducible graphs are refused: tags, on which the paper's semantics rests, are not defined for them. Who
//! has one uses the SSA engine ([`warpline_analysis::uniformity`]), which gives up irreducible cycles conservatively
//! and leaves the rest of the function precise.
//!
//! In SSA form each variable has one definition, and one bit per variable would be enough. On *loop-closed* SSA the
//! paper says that both transformers give the same (Section 6.1). Node by node this is not so: behind a divergent
//! `if`, Definition 4.7 still loses variables that nobody assigned, and with them what is computed from these. It is
//! so with one bit per variable, for its definition alone: a φ is uniform if its operands and *H_p* are, any other
//! value if its operands are. This, Definition 6.6 and the SSA engine are tested to give the same if every φ operand
//! is a value of its own that may change each time.
//!
//! Otherwise the engine is tested never to be less precise. It is more precise where threads arrive apart at a node,
//! but with one operand, or only on some of the edges; where a pure value cannot change in the loop that threads
//! leave apart; and where of several edges that leave a loop for one node only some are taken in different
//! iterations.
//!
//! What other analyses know comes in through [`Facts`].
//!
//! The cost of relevant splits grows with the number of splits times the size of the graph, and that of the fixed
//! points with the number of variables times the number of nodes: this is the paper's analysis for functions of some
//! thousands of nodes, the reference for the SSA engine, and not what a compiler would run on everything.
//!
//! ```
//! use warpline_analysis::{CsrGraph, Node};
//! use warpline_testkit::reference::variables::{Expression, Options, VariableProgram, VariableUniformity};
//!
//! // if (lane) x = 1; else x = 2;
//! let edges = [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(from, to)| (Node(from), Node(to)));
//! let graph = CsrGraph::new(4, Node(0), edges)?;
//! let mut builder = VariableProgram::builder();
//! let (lane, x) = (builder.variable(true), builder.variable(false));
//! builder.branch(Node(0), [lane]);
//! builder.assign(Node(1), x, Expression::Constant(1));
//! builder.assign(Node(2), x, Expression::Constant(2));
//! let program = builder.build(&graph)?;
//! let found = VariableUniformity::compute(&graph, &program, &Options::default())?;
//! assert!(found.is_uniform_after(Node(1), x) && !found.is_uniform_at(Node(3), x));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod definitions;
mod facts;
mod program;
mod solver;

pub use definitions::{DefiniteDefinitions, Point};
pub use facts::Facts;
pub use program::{Assignment, Expression, Var, VariableBuilder, VariableProgram, VariableProgramError};

use std::fmt;

use crate::reference::disjoint_paths::RelevantSplits;
use crate::reference::normal_form::{NodeOrigin, NormalForm, NormalFormError};
use warpline_analysis::bitset::BitSet;
use warpline_analysis::graph::{Graph, Node};

/// Which abstract transformer is iterated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Transformer {
    /// Paper 1, Definition 4.7.
    Plain,
    /// Paper 1, Definition 6.6.
    #[default]
    ReachingDefinitions,
}

/// Whether paths lead along the fake back edges of the normal form.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FakeBackEdges {
    /// They do not, since these edges are never taken.
    #[default]
    Dead,
    /// They do, as in the paper.
    Paths,
}

/// What the analysis is asked.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The transformer.
    pub transformer: Transformer,
    /// What is taken for a path.
    pub fake_back_edges: FakeBackEdges,
    /// What is known from elsewhere.
    pub facts: Facts,
}

/// Why a program cannot be analysed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VariableError {
    /// The graph has no normal form.
    NormalForm(NormalFormError),
    /// A fact speaks of something that is not there.
    Facts(VariableProgramError),
}

impl fmt::Display for VariableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VariableError::NormalForm(error) => write!(f, "{error}"),
            VariableError::Facts(error) => write!(f, "a fact about the program: {error}"),
        }
    }
}

impl std::error::Error for VariableError {}

/// The result of the analysis. All answers are about nodes of the original graph.
#[derive(Clone, Debug)]
pub struct VariableUniformity {
    normal: NormalForm,
    splits: RelevantSplits,
    definitions: Option<DefiniteDefinitions>,
    /// By node of the normal form, the variables that are uniform when threads arrive, and when they leave.
    at: Vec<BitSet>,
    after: Vec<BitSet>,
    /// Nodes of the normal form at which threads go on to different nodes, and at which they can arrive apart.
    divergent_branches: BitSet,
    apart: BitSet,
}

impl VariableUniformity {
    /// Analyses a program over `graph`.
    ///
    /// # Errors
    /// If the graph is irreducible, or a fact names what is not there.
    pub fn compute<G: Graph>(
        graph: &G,
        program: &VariableProgram,
        options: &Options,
    ) -> Result<Self, VariableError> {
        options.facts.check(graph, program).map_err(VariableError::Facts)?;
        let normal = NormalForm::new(graph).map_err(VariableError::NormalForm)?;
        Ok(solver::solve(normal, program, options))
    }

    /// Whether all threads that arrive at an instance of `node` see the same value in `var`. True if no thread arrives.
    pub fn is_uniform_at(&self, node: Node, var: Var) -> bool {
        self.at[node.index()].contains(var.index())
    }

    /// Whether all threads that leave an instance of `node` see the same value in `var`.
    pub fn is_uniform_after(&self, node: Node, var: Var) -> bool {
        self.after[node.index()].contains(var.index())
    }

    /// Whether threads can go on from an instance of `node` along different edges.
    pub fn is_divergent_branch(&self, node: Node) -> bool {
        self.divergent_branches.contains(node.index())
    }

    /// Whether threads can arrive at an instance of `node` from different instances of its predecessors: the negation
    /// of *H_p* in Definition 4.7, for `node` or a node of the normal form on an edge to it.
    pub fn arrive_apart(&self, node: Node) -> bool {
        let graph = self.normal.graph();
        let mut work = vec![node];
        while let Some(n) = work.pop() {
            if self.apart.contains(n.index()) {
                return true;
            }
            let on_edge = |q: &Node| matches!(self.normal.node_origin(*q), NodeOrigin::OnEdge(_));
            let before = graph.in_edges(n).iter().filter(|&&e| self.normal.edge_origin(e).is_some());
            work.extend(before.map(|&e| graph.source(e)).filter(on_edge));
        }
        false
    }

    /// The normal form that was analysed.
    pub fn normal_form(&self) -> &NormalForm {
        &self.normal
    }

    /// The relevant splits of the nodes of the normal form.
    pub fn relevant_splits(&self) -> &RelevantSplits {
        &self.splits
    }

    /// The definite reaching definitions at the nodes of the normal form, if they were needed.
    pub fn definitions(&self) -> Option<&DefiniteDefinitions> {
        self.definitions.as_ref()
    }
}
