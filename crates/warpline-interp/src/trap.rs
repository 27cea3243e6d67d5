//! Why an interpretation stopped.

use std::fmt;

use super::value::State;
use warpline_ir::{Function, Inst, Module, printable};

/// What went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TrapKind {
    /// Integer division or remainder by zero.
    DivisionByZero,
    /// The signed division of the least integer by −1.
    DivisionOverflow,
    /// A divisor (or a dividend that may overflow) that is undef or poison.
    DivisionByUndefined(State),
    /// A branch whose condition is undef or poison.
    BranchOnUndefined(State),
    /// An access or an indirect call through an address that is undef or poison.
    UndefinedAddress(State),
    /// An access outside of all live allocations.
    OutOfBounds {
        /// The address.
        address: u64,
        /// The bytes accessed.
        size: u64,
    },
    /// A write to read-only memory.
    ReadOnly {
        /// The address.
        address: u64,
    },
    /// An access that is less aligned than the instruction says.
    Misaligned {
        /// The address.
        address: u64,
        /// The alignment promised, in bytes.
        align: u64,
    },
    /// An `unreachable` was reached.
    Unreachable,
    /// The operand of `llvm.assume` is not true.
    AssumptionViolated,
    /// A value that the program says to be the same in all lanes is not.
    NotUniform,
    /// An undefined operand where LLVM says that the behaviour is undefined then (a length, a count).
    UndefinedOperand(State),
    /// An indirect call of something that is no function, or with other parameters.
    BadCall(String),
    /// The allowance of lane-instructions is used up.
    OutOfFuel,
    /// Calls are nested too deeply.
    RecursionLimit,
    /// Memory for an allocation could not be had.
    OutOfMemory,
    /// Something the interpreter does not model.
    Unsupported(String),
    /// A call of a function that has no body here and that the host does not know.
    UnsupportedCall(String),
    /// The host stopped the program.
    Host(String),
    /// A lane program: a mask is undef or poison in some lane.
    UndefinedMask(State),
    /// A lane program: a branch whose condition differs between active lanes.
    DivergentBranch,
    /// A lane program: a branch that no active lane decides, and on which the inactive ones differ.
    NoActiveLane,
    /// A lane program: the mask of a block is used before the instruction that computes it.
    MaskNotComputed,
    /// Work-items of a group do not come to the same barriers.
    BadBarrier(String),
    /// The arguments do not fit the function, or there are too many lanes.
    BadArguments(String),
}

impl TrapKind {
    /// Whether this is undefined behaviour of the program (as opposed to a limit of the interpreter, of the
    /// host, or a broken rule of lane programs).
    pub fn is_undefined_behaviour(&self) -> bool {
        use TrapKind::*;
        matches!(
            self,
            DivisionByZero
                | DivisionOverflow
                | DivisionByUndefined(_)
                | BranchOnUndefined(_)
                | UndefinedAddress(_)
                | OutOfBounds { .. }
                | ReadOnly { .. }
                | Misaligned { .. }
                | Unreachable
                | AssumptionViolated
                | NotUniform
                | UndefinedOperand(_)
                | BadCall(_)
                | BadBarrier(_)
        )
    }
}

impl fmt::Display for TrapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = |s: &State| match s {
            State::Poison => "poison",
            _ => "undef",
        };
        match self {
            TrapKind::DivisionByZero => write!(f, "integer division by zero"),
            TrapKind::DivisionOverflow => write!(f, "signed division overflows"),
            TrapKind::DivisionByUndefined(s) => write!(f, "integer division with {} operand", state(s)),
            TrapKind::BranchOnUndefined(s) => write!(f, "branch on {}", state(s)),
            TrapKind::UndefinedAddress(s) => write!(f, "access through a pointer that is {}", state(s)),
            TrapKind::OutOfBounds { address, size } => {
                write!(f, "access of {size} bytes at {address:#x}, outside of all allocations")
            }
            TrapKind::ReadOnly { address } => write!(f, "write to read-only memory at {address:#x}"),
            TrapKind::Misaligned { address, align } => {
                write!(f, "access at {address:#x} is not aligned to {align} bytes")
            }
            TrapKind::Unreachable => write!(f, "`unreachable` reached"),
            TrapKind::AssumptionViolated => write!(f, "an assumption does not hold"),
            TrapKind::NotUniform => {
                write!(f, "`warpline_uniform` says that all lanes have the same, and they do not")
            }
            TrapKind::UndefinedOperand(s) => write!(f, "operand is {}", state(s)),
            TrapKind::BadCall(why) => write!(f, "bad indirect call: {why}"),
            TrapKind::OutOfFuel => write!(f, "out of fuel"),
            TrapKind::RecursionLimit => write!(f, "calls are nested too deeply"),
            TrapKind::OutOfMemory => write!(f, "out of memory"),
            TrapKind::Unsupported(what) => write!(f, "the interpreter does not support {what}"),
            TrapKind::UnsupportedCall(name) => write!(f, "call of unknown function `{name}`"),
            TrapKind::Host(why) => write!(f, "stopped by a callee: {why}"),
            TrapKind::UndefinedMask(s) => write!(f, "a mask is {}", state(s)),
            TrapKind::DivergentBranch => write!(f, "the condition of a uniform branch differs between lanes"),
            TrapKind::NoActiveLane => write!(f, "uniform branch with no active lane"),
            TrapKind::MaskNotComputed => write!(f, "the block's mask is used before it is computed"),
            TrapKind::BadBarrier(why) => f.write_str(why),
            TrapKind::BadArguments(why) => write!(f, "bad arguments: {why}"),
        }
    }
}

/// A trap and where it happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trap {
    /// What went wrong.
    pub kind: TrapKind,
    /// The function that was executing.
    pub function: Box<str>,
    /// The instruction, if it was one.
    pub inst: Option<Inst>,
    /// The lane, if it was one lane's doing.
    pub lane: Option<u32>,
}

impl Trap {
    /// A trap outside of any function.
    pub(super) fn bare(kind: TrapKind) -> Trap {
        Trap { kind, function: "".into(), inst: None, lane: None }
    }

    /// What happened and where, for people: the line of the source, if that is known, else the block. `function` is
    /// the one that was run, in this module.
    pub fn describe(&self, module: &Module, function: &Function) -> String {
        let is_it = |f: &&Function| *f.name == *self.function;
        let found = std::iter::once(function).chain(module.functions.values()).find(is_it);
        let (Some(i), Some(function)) = (self.inst, found) else { return self.to_string() };
        let Some(data) = function.insts.get(i) else { return self.to_string() };
        let lane = self.lane.map_or_else(String::new, |lane| format!(", lane {lane}"));
        let place = match data.loc.expand() {
            Some(loc) => module.describe_loc(loc),
            None => format!("block {}", function.block_name(data.block)),
        };
        let (kind, op) = (&self.kind, data.op.name());
        format!("{kind}, by the `{op}` at {place} in `{}`{lane}", printable::line(&self.function))
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if !self.function.is_empty() {
            write!(f, ", in `{}`", self.function)?;
        }
        if let Some(i) = self.inst {
            write!(f, " at {i}")?;
        }
        if let Some(l) = self.lane {
            write!(f, ", lane {l}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Trap {}
