//! Why the description of a program is not well formed.

use core::fmt;

use crate::graph::{EdgeId, Node};
use crate::ids::{Instruction, Value, Variable};

/// Why a program is not well formed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProgramError {
    /// Something is said to be at a node that the graph does not have.
    NoSuchNode {
        /// The node.
        node: Node,
    },
    /// A φ-function has an operand on an edge that the graph does not have.
    NoSuchEdge {
        /// The edge.
        edge: EdgeId,
    },
    /// A variable is not one of those that the program was begun with.
    NoSuchVariable {
        /// The variable.
        variable: Variable,
        /// How many there are.
        count: usize,
    },
    /// An edge leads to the entry, so that what holds when control enters would have no edge to come from. An empty
    /// block in front is a way out.
    EntryIsTarget {
        /// The edge.
        edge: EdgeId,
    },
    /// An instruction comes before any block was begun.
    NoBlock,
    /// A block is begun twice.
    BegunTwice {
        /// The block.
        node: Node,
    },
    /// An instruction follows the branch of its block.
    BehindBranch {
        /// The block.
        node: Node,
    },
    /// An instruction defines a variable twice.
    DefinedTwice {
        /// The variable.
        variable: Variable,
        /// The instruction.
        at: Instruction,
    },
    /// A block tests a variable twice.
    TestedTwice {
        /// The variable.
        variable: Variable,
        /// The block.
        node: Node,
    },
    /// A variable that stands for a constant is defined.
    ConstantIsDefined {
        /// The variable.
        variable: Variable,
    },
    /// Two φ-functions on one edge define one variable.
    PhiTwice {
        /// The variable.
        variable: Variable,
        /// The edge.
        edge: EdgeId,
    },
    /// The φ-functions on an edge define other variables, or in another order, than those on the first in-edge of the
    /// same block.
    PhisDiffer {
        /// The edge.
        edge: EdgeId,
        /// The first in-edge.
        first: EdgeId,
    },
    /// A variable has several definitions, where the program should be in SSA form.
    SeveralDefinitions {
        /// The variable.
        variable: Variable,
    },
    /// An operand is a value that was never declared.
    NoSuchOperand {
        /// Who uses it; none for a terminator.
        user: Option<Value>,
        /// The operand.
        operand: Value,
    },
    /// A φ has an operand for an edge that does not lead to its node.
    NotAnInEdge {
        /// The φ.
        phi: Value,
        /// The edge.
        edge: EdgeId,
    },
    /// A φ has two operands for one edge.
    RepeatedEdge {
        /// The φ.
        phi: Value,
        /// The edge.
        edge: EdgeId,
    },
    /// Nothing was said of what a φ takes on an edge that leads to its node.
    MissingEdge {
        /// The φ.
        phi: Value,
        /// The edge.
        edge: EdgeId,
    },
    /// A value is used where its definition has not been executed on all ways.
    NotDefinedBefore {
        /// Who uses it; none for a terminator.
        user: Option<Value>,
        /// The operand.
        operand: Value,
        /// Where it is used; of a φ the source of the edge.
        node: Node,
    },
    /// A variable of a program in SSA form is used where it has not been defined on all ways.
    UsedUndefined {
        /// The variable.
        variable: Variable,
        /// Where it is used; of a φ the source of the edge.
        node: Node,
    },
    /// The graph is not the one that a program was built over.
    OtherGraph,
    /// Live ranges were split in another program.
    OtherProgram,
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ProgramError::*;
        match self {
            NoSuchNode { node } => write!(f, "{node} is not a node of the graph"),
            NoSuchEdge { edge } => write!(f, "{edge} is not an edge of the graph"),
            NoSuchVariable { variable, count } => {
                write!(f, "variable {} is not one of the program's {count}", variable.0)
            }
            EntryIsTarget { edge } => {
                write!(f, "{edge} leads to the entry: put an empty block in front of it")
            }
            NoBlock => write!(f, "an instruction comes before any block was begun"),
            BegunTwice { node } => write!(f, "block {node} is begun twice"),
            BehindBranch { node } => {
                write!(f, "an instruction follows the branch at the end of block {node}")
            }
            DefinedTwice { variable, at } => {
                write!(f, "instruction {} defines variable {} twice", at.0, variable.0)
            }
            TestedTwice { variable, node } => write!(f, "block {node} tests variable {} twice", variable.0),
            ConstantIsDefined { variable } => {
                write!(f, "variable {} stands for a constant and is defined", variable.0)
            }
            PhiTwice { variable, edge } => {
                write!(f, "two φ-functions on {edge} define variable {}", variable.0)
            }
            PhisDiffer { edge, first } => {
                write!(f, "the φ-functions on {edge} define other variables than those on {first}")
            }
            SeveralDefinitions { variable } => {
                write!(f, "variable {} has several definitions: the program is not in SSA form", variable.0)
            }
            NoSuchOperand { user: Some(user), operand } => {
                write!(f, "operand {operand} of {user} was never declared")
            }
            NoSuchOperand { user: None, operand } => {
                write!(f, "operand {operand} of a terminator was never declared")
            }
            NotAnInEdge { phi, edge } => {
                write!(f, "φ {phi} has an operand for {edge}, which does not lead to its node")
            }
            RepeatedEdge { phi, edge } => write!(f, "φ {phi} has two operands for {edge}"),
            MissingEdge { phi, edge } => {
                write!(f, "φ {phi} has no operand for {edge}; if it is undefined there, say so")
            }
            NotDefinedBefore { user, operand, node } => {
                write!(f, "operand {operand} of ")?;
                match user {
                    Some(user) => write!(f, "{user}")?,
                    None => write!(f, "a terminator")?,
                }
                write!(f, " is used in {node}, where it is not defined on all ways")
            }
            UsedUndefined { variable, node } => {
                write!(f, "variable {} is used in {node}, where it is not defined on all ways", variable.0)
            }
            OtherGraph => write!(f, "the program was built over another graph"),
            OtherProgram => write!(f, "live ranges were split in another program"),
        }
    }
}

impl core::error::Error for ProgramError {}
