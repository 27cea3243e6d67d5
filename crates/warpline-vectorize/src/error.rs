//! Why a function cannot be vectorized.

use std::fmt;

use warpline_ir::printable::line;
use warpline_ir::{Block, Function, Inst, Loc, Module, demangle};

/// Where something is wrong, and what.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Problem {
    /// The function.
    pub function: Box<str>,
    /// The instruction or block, in words; empty if the whole function is meant.
    pub place: Box<str>,
    /// The source location, if known.
    pub loc: Option<Loc>,
    /// What is wrong.
    pub reason: String,
}

/// A function that cannot be vectorized, by who can do something about it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum VectorizeError {
    /// The function has a construct that is not vectorized: its author can.
    Unsupported(Problem),
    /// The options contradict each other or the function: the caller can.
    InvalidOptions(Problem),
    /// A pass left what the next one does not expect: a defect of this crate.
    Internal(Problem),
}

impl VectorizeError {
    fn unsupported(func: &Function, place: String, loc: Option<Loc>, reason: String) -> VectorizeError {
        VectorizeError::Unsupported(Problem { function: func.name.clone(), place: place.into(), loc, reason })
    }

    /// An error about a whole function.
    pub fn in_function(func: &Function, reason: impl Into<String>) -> VectorizeError {
        VectorizeError::unsupported(func, String::new(), func.loc.expand(), reason.into())
    }

    /// An error about an instruction.
    pub(crate) fn at_inst(func: &Function, inst: Inst, reason: impl Into<String>) -> VectorizeError {
        let data = &func.insts[inst];
        let place = match data.results.first() {
            Some(&v) => format!("{} = {}", func.value_name(v), data.op.name()),
            None => data.op.name().to_string(),
        };
        VectorizeError::unsupported(func, place, data.loc.expand(), reason.into())
    }

    /// An error about a block.
    pub(crate) fn at_block(func: &Function, block: Block, reason: impl Into<String>) -> VectorizeError {
        let term = func.blocks[block].term.expand();
        let loc = term.and_then(|t| func.insts[t].loc.expand());
        VectorizeError::unsupported(func, format!("block {}", func.block_name(block)), loc, reason.into())
    }

    /// Where something is wrong, and what.
    pub fn problem(&self) -> &Problem {
        match self {
            VectorizeError::Unsupported(p)
            | VectorizeError::InvalidOptions(p)
            | VectorizeError::Internal(p) => p,
        }
    }

    fn problem_mut(&mut self) -> &mut Problem {
        match self {
            VectorizeError::Unsupported(p)
            | VectorizeError::InvalidOptions(p)
            | VectorizeError::Internal(p) => p,
        }
    }

    /// The error as one that only a defect of this crate can cause.
    #[must_use]
    pub fn internal(self) -> VectorizeError {
        VectorizeError::Internal(self.problem().clone())
    }

    /// The error as one about the options.
    #[must_use]
    pub(crate) fn bad_options(self) -> VectorizeError {
        VectorizeError::InvalidOptions(self.problem().clone())
    }

    /// Whether only a defect of this crate can cause it.
    pub fn is_internal(&self) -> bool {
        matches!(self, VectorizeError::Internal(_))
    }

    /// The error as one in the function that this one was made from.
    #[must_use]
    pub fn named(mut self, function: &str) -> VectorizeError {
        self.problem_mut().function = function.into();
        self
    }

    /// The message with the source location spelt out.
    pub fn describe(&self, module: &Module) -> String {
        match self.problem().loc {
            Some(loc) => format!("{}: {self}", module.describe_loc(loc)),
            None => self.to_string(),
        }
    }
}

impl fmt::Display for VectorizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { function, place, reason, .. } = self.problem();
        write!(f, "function `{}`", demangle(function))?;
        if !place.is_empty() {
            write!(f, ", `{}`", line(place))?;
        }
        write!(f, ": {reason}")
    }
}

impl std::error::Error for VectorizeError {}
