//! What other analyses know of a program (paper 1, Section 6.2 and Figure 3).
//!
//! A fact holds in every execution of its own; it does not compare executions. In the paper's words, the result then
//! speaks of the traces that the other analysis allows. Whoever states a fact vouches for it.

use super::program::{Var, VariableProgram, VariableProgramError};
use warpline_analysis::graph::{EdgeId, Graph, Node};

/// Collects facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    dead_edges: Vec<EdgeId>,
    constants_at: Vec<(Node, Var)>,
    constants_after: Vec<(Node, Var)>,
    equal_on: Vec<(EdgeId, Var, Var)>,
}

impl Facts {
    /// Nothing is known.
    pub fn none() -> Self {
        Facts::default()
    }

    /// `edge` is never taken (Figure 3b).
    #[must_use]
    pub fn dead_edge(mut self, edge: EdgeId) -> Self {
        self.dead_edges.push(edge);
        self
    }

    /// Whenever control arrives at `node`, `var` has one and the same value (Figure 3a).
    #[must_use]
    pub fn constant_at(mut self, node: Node, var: Var) -> Self {
        self.constants_at.push((node, var));
        self
    }

    /// Whenever control leaves `node`, `var` has one and the same value.
    #[must_use]
    pub fn constant_after(mut self, node: Node, var: Var) -> Self {
        self.constants_after.push((node, var));
        self
    }

    /// Whenever control takes `edge`, `a` and `b` are equal at its target (Figure 3c). Which of them is known to be
    /// uniform does not matter.
    #[must_use]
    pub fn equal_on(mut self, edge: EdgeId, a: Var, b: Var) -> Self {
        self.equal_on.push((edge, a, b));
        self
    }

    /// The edges that are never taken.
    pub fn dead_edges(&self) -> &[EdgeId] {
        &self.dead_edges
    }

    /// Variables with constant values where control arrives at nodes.
    pub fn constants_at(&self) -> &[(Node, Var)] {
        &self.constants_at
    }

    /// Variables with constant values where control leaves nodes.
    pub fn constants_after(&self) -> &[(Node, Var)] {
        &self.constants_after
    }

    /// Pairs of variables that are equal behind edges.
    pub fn equalities(&self) -> &[(EdgeId, Var, Var)] {
        &self.equal_on
    }

    /// Whether all nodes, edges and variables exist.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check<G: Graph>(&self, graph: &G, program: &VariableProgram) -> Result<(), VariableProgramError> {
        let node = |node: Node| match node.index() < graph.node_count() {
            true => Ok(()),
            false => Err(VariableProgramError::NoSuchNode { node }),
        };
        let edge = |edge: EdgeId| match edge.index() < graph.edge_count() {
            true => Ok(()),
            false => Err(VariableProgramError::NoSuchEdge { edge }),
        };
        let var = |var: Var| match var.index() < program.variable_count() {
            true => Ok(()),
            false => Err(VariableProgramError::NoSuchVariable { var }),
        };
        self.dead_edges.iter().try_for_each(|&e| edge(e))?;
        for &(n, v) in self.constants_at.iter().chain(&self.constants_after) {
            node(n)?;
            var(v)?;
        }
        for &(e, a, b) in &self.equal_on {
            edge(e)?;
            var(a)?;
            var(b)?;
        }
        Ok(())
    }
}
