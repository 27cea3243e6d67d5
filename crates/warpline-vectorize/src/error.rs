//! Why a function cannot be vectorized.

use std::fmt;

use warpline_ir::printable::line;
use warpline_ir::{Block, Function, Inst, Loc, Module};

/// Whose turn it is when a function cannot be vectorized.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// The user's: the function has something that is not vectorized.
    Refused,
    /// The caller's: the options contradict each other or the function.
    BadOptions,
    /// Ours: a stage left what the next one does not expect.
    Internal,
}

/// A function that cannot be vectorized, with the place and the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VectorizeError {
    /// Whose turn it is.
    pub kind: ErrorKind,
    /// The function.
    pub function: Box<str>,
    /// The instruction or block, in words; empty if the whole function is meant.
    pub place: Box<str>,
    /// The source location, if known.
    pub loc: Option<Loc>,
    /// What is wrong.
    pub reason: String,
}

impl VectorizeError {
    /// An error about a whole function.
    pub fn in_function(func: &Function, reason: impl Into<String>) -> VectorizeError {
        VectorizeError {
            kind: ErrorKind::Refused,
            function: func.name.clone(),
            place: "".into(),
            loc: func.loc.expand(),
            reason: reason.into(),
        }
    }

    /// An error about an instruction.
    pub fn at_inst(func: &Function, inst: Inst, reason: impl Into<String>) -> VectorizeError {
        let data = &func.insts[inst];
        let place = match data.results.first() {
            Some(&v) => format!("{} = {}", func.value_name(v), data.op.name()),
            None => data.op.name().to_string(),
        };
        VectorizeError {
            kind: ErrorKind::Refused,
            function: func.name.clone(),
            place: place.into(),
            loc: data.loc.expand(),
            reason: reason.into(),
        }
    }

    /// An error about a block.
    pub fn at_block(func: &Function, block: Block, reason: impl Into<String>) -> VectorizeError {
        let term = func.blocks[block].term.expand();
        VectorizeError {
            kind: ErrorKind::Refused,
            function: func.name.clone(),
            place: format!("block {}", func.block_name(block)).into(),
            loc: term.and_then(|t| func.insts[t].loc.expand()),
            reason: reason.into(),
        }
    }

    /// The error as one that only a defect of ours can cause.
    #[must_use]
    pub fn internal(self) -> VectorizeError {
        VectorizeError { kind: ErrorKind::Internal, ..self }
    }

    /// The error as one about the options.
    #[must_use]
    pub fn bad_options(self) -> VectorizeError {
        VectorizeError { kind: ErrorKind::BadOptions, ..self }
    }

    /// The message with the source location spelt out.
    pub fn describe(&self, module: &Module) -> String {
        match self.loc {
            Some(loc) => format!("{}: {self}", module.describe_loc(loc)),
            None => self.to_string(),
        }
    }
}

impl fmt::Display for VectorizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function `{}`", line(&self.function))?;
        if !self.place.is_empty() {
            write!(f, ", `{}`", line(&self.place))?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for VectorizeError {}
