//! What variables, instructions and values of programs are called by.

use core::fmt;

/// A variable of a program: 0, 1, 2 …
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Variable(pub u32);

/// An instruction of a program. Those of one block are numbered one after the other, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Instruction(pub u32);

impl Variable {
    /// Its number. O(1).
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Instruction {
    /// Its number. O(1).
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A value of the program, numbered from 0 in the order in which the builder was told of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Value(pub u32);

impl Value {
    /// The value with the given number. Panics if it does not fit 32 bits. O(1).
    #[inline]
    pub fn new(index: usize) -> Self {
        Value(u32::try_from(index).expect("a program has fewer than 2^32 values"))
    }

    /// The number as an index into a side table. O(1).
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}
