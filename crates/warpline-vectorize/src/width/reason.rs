//! What is said of a choice.

use std::fmt;

use super::Widths;
use crate::driver::Tail;

/// A number of lanes, and why.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Choice {
    /// The number of lanes.
    pub lanes: u32,
    /// Bits of the elements that most of the work is done on.
    pub element_bits: u32,
    /// What decided.
    pub reason: Reason,
}

/// What decided about a number of lanes.
#[derive(Copy, Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The lanes fill one register: more would not take less time each.
    OneRegister,
    /// Several registers' worth, since iterations wait for a chain of so many cycles, or for what is done once for
    /// all lanes.
    Chain(u32),
    /// As many as have their elements in a cache line, or two where stores take turns between arrays, since little is
    /// done but to access neighbours.
    Line,
    /// Fewer than would fill a register.
    Fewer,
    /// The lane program is not known or too large to be looked at.
    ByType,
}

impl Widths {
    /// So many lanes in groups of all, of which nothing else is known.
    pub(super) fn of_one_group(lanes: u32, chosen: Option<Choice>) -> Widths {
        let remarks = Vec::new();
        Widths {
            lanes,
            epilogue: lanes,
            tail: Tail::Masked,
            prologue: 0,
            least: 0,
            chosen,
            estimate: None,
            remarks,
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.element_bits;
        match self.reason {
            Reason::OneRegister => write!(f, "one register of {bits}-bit elements"),
            Reason::Chain(0) => {
                write!(f, "more than one register of {bits}-bit elements, to share uniform work")
            }
            Reason::Chain(cycles) => {
                write!(
                    f,
                    "more than one register of {bits}-bit elements, to hide a latency of {cycles} cycles"
                )
            }
            Reason::Line => {
                write!(f, "whole cache lines of {bits}-bit elements, bound by memory")
            }
            Reason::Fewer => {
                write!(f, "less than one register of {bits}-bit elements: little of it is vector code")
            }
            Reason::ByType => write!(f, "one register of {bits}-bit elements, by types alone"),
        }
    }
}
