//! Why a function cannot be vectorized.

use std::fmt;

use crate::ir::{Block, Function, Inst, Loc, Module};

/// A function that cannot be vectorized, with the place and the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VectorizeError {
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
            function: func.name.clone(),
            place: format!("block {}", func.block_name(block)).into(),
            loc: term.and_then(|t| func.insts[t].loc.expand()),
            reason: reason.into(),
        }
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
        write!(f, "function `{}`", self.function)?;
        if !self.place.is_empty() {
            write!(f, ", `{}`", self.place)?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for VectorizeError {}
