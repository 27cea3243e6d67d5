//! Programs with variables: which node or edge assigns what to which variable.

use std::fmt;

use warpline_analysis::graph::{EdgeId, Graph, Lists, Node};
use warpline_analysis::uniformity::Rule;

/// A variable, numbered from 0 in the order in which the builder was told of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var(pub u32);

impl Var {
    /// The variable with the given number. Panics if it does not fit 32 bits.
    pub fn new(index: usize) -> Self {
        Var(u32::try_from(index).expect("a program has fewer than 2^32 variables"))
    }

    /// The number as an index into a side table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x{}", self.0)
    }
}

/// What is assigned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expression {
    /// A constant; equal numbers are equal constants.
    Constant(u64),
    /// The value of a variable.
    Copy(Var),
    /// A function of variables; what is known of its uniformity is a rule, as for a plain value of
    /// [`SsaProgram`](warpline_analysis::uniformity::SsaProgram).
    Compute(Rule, Vec<Var>),
}

impl Expression {
    /// The variables that are read.
    pub fn operands(&self) -> &[Var] {
        match self {
            Expression::Constant(_) => &[],
            Expression::Copy(v) => std::slice::from_ref(v),
            Expression::Compute(_, operands) => operands,
        }
    }
}

/// A variable gets a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assignment {
    /// The variable.
    pub target: Var,
    /// The value.
    pub value: Expression,
}

/// Why a program with variables, or facts about it, are not well formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VariableProgramError {
    /// The graph does not have this node.
    NoSuchNode {
        /// The node.
        node: Node,
    },
    /// The graph does not have this edge.
    NoSuchEdge {
        /// The edge.
        edge: EdgeId,
    },
    /// The variable was never declared.
    NoSuchVariable {
        /// The variable.
        var: Var,
    },
    /// Assignments on one edge happen at once, and two of them have the same target.
    AssignedTwice {
        /// The edge.
        edge: EdgeId,
        /// The target.
        var: Var,
    },
}

impl fmt::Display for VariableProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VariableProgramError::NoSuchNode { node } => write!(f, "{node} is not a node of the graph"),
            VariableProgramError::NoSuchEdge { edge } => write!(f, "{edge} is not an edge of the graph"),
            VariableProgramError::NoSuchVariable { var } => write!(f, "{var} was never declared"),
            VariableProgramError::AssignedTwice { edge, var } => write!(f, "{edge} assigns {var} twice"),
        }
    }
}

impl std::error::Error for VariableProgramError {}

/// Collects a program; see [`VariableProgram::builder`].
#[derive(Clone, Debug, Default)]
pub struct VariableBuilder {
    divergent_at_entry: Vec<bool>,
    at_nodes: Vec<(Node, Assignment)>,
    on_edges: Vec<(EdgeId, Assignment)>,
    branches: Vec<(Node, Var)>,
}

impl VariableBuilder {
    /// Declares a variable. It has a value from the start, which threads agree on or not.
    pub fn variable(&mut self, divergent_at_entry: bool) -> Var {
        self.divergent_at_entry.push(divergent_at_entry);
        Var::new(self.divergent_at_entry.len() - 1)
    }

    /// Adds an assignment to the end of a node.
    pub fn assign(&mut self, node: Node, target: Var, value: Expression) {
        self.at_nodes.push((node, Assignment { target, value }));
    }

    /// Adds an assignment to an edge. All assignments on one edge happen at once.
    pub fn assign_on(&mut self, edge: EdgeId, target: Var, value: Expression) {
        self.on_edges.push((edge, Assignment { target, value }));
    }

    /// Adds variables on which it depends, after the assignments of `node`, which edge control takes out of it.
    /// Without any, threads agree on the edge.
    pub fn branch(&mut self, node: Node, on: impl IntoIterator<Item = Var>) {
        self.branches.extend(on.into_iter().map(|v| (node, v)));
    }

    /// The program, over the given graph.
    ///
    /// # Errors
    /// If a node, an edge or a variable that was named does not exist, or an edge assigns one variable twice.
    pub fn build<G: Graph>(self, graph: &G) -> Result<VariableProgram, VariableProgramError> {
        let (nodes, edges) = (graph.node_count(), graph.edge_count());
        let check_var = |&var: &Var| match var.index() < self.divergent_at_entry.len() {
            true => Ok(()),
            false => Err(VariableProgramError::NoSuchVariable { var }),
        };
        let check = |a: &Assignment| {
            check_var(&a.target)?;
            a.value.operands().iter().try_for_each(check_var)
        };
        for (node, a) in &self.at_nodes {
            check(a)?;
            if node.index() >= nodes {
                return Err(VariableProgramError::NoSuchNode { node: *node });
            }
        }
        for (edge, a) in &self.on_edges {
            check(a)?;
            if edge.index() >= edges {
                return Err(VariableProgramError::NoSuchEdge { edge: *edge });
            }
        }
        for (node, var) in &self.branches {
            check_var(var)?;
            if node.index() >= nodes {
                return Err(VariableProgramError::NoSuchNode { node: *node });
            }
        }
        let mut at_node = vec![Vec::new(); nodes];
        self.at_nodes.into_iter().for_each(|(n, a)| at_node[n.index()].push(a));
        let mut on_edge: Vec<Vec<Assignment>> = vec![Vec::new(); edges];
        for (edge, a) in self.on_edges {
            if on_edge[edge.index()].iter().any(|b| b.target == a.target) {
                return Err(VariableProgramError::AssignedTwice { edge, var: a.target });
            }
            on_edge[edge.index()].push(a);
        }
        let branches = Lists::group(nodes, self.branches.iter().map(|&(n, v)| (n.index(), v)));
        Ok(VariableProgram { divergent_at_entry: self.divergent_at_entry, at_node, on_edge, branches })
    }
}

/// A program with variables, as far as uniformity depends on it: a graph's effects in the sense of paper 1, Section
/// 3.3.
///
/// There, effects belong to edges. Here a node may have some as well: they happen in order before control leaves it,
/// and belong to all its out-edges. The branch variables of a node are looked at behind them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableProgram {
    divergent_at_entry: Vec<bool>,
    at_node: Vec<Vec<Assignment>>,
    on_edge: Vec<Vec<Assignment>>,
    branches: Lists<Var>,
}

impl VariableProgram {
    /// Starts a program without variables.
    pub fn builder() -> VariableBuilder {
        VariableBuilder::default()
    }

    /// The number of variables.
    pub fn variable_count(&self) -> usize {
        self.divergent_at_entry.len()
    }

    /// All variables, by number.
    pub fn variables(&self) -> impl DoubleEndedIterator<Item = Var> + ExactSizeIterator + use<> {
        (0..self.divergent_at_entry.len()).map(Var::new)
    }

    /// Whether threads may start with different values of `var`.
    pub fn is_divergent_at_entry(&self, var: Var) -> bool {
        self.divergent_at_entry[var.index()]
    }

    /// The assignments of a node, in order.
    pub fn at_node(&self, node: Node) -> &[Assignment] {
        &self.at_node[node.index()]
    }

    /// The assignments of an edge, which happen at once.
    pub fn on_edge(&self, edge: EdgeId) -> &[Assignment] {
        &self.on_edge[edge.index()]
    }

    /// The branch variables of a node.
    pub fn branch(&self, node: Node) -> &[Var] {
        self.branches.get(node.index())
    }
}
