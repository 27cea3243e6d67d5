//! Why a text could not be parsed.

use std::fmt;

/// What is wrong with a text.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Something else was expected here.
    Unexpected {
        /// What stands in the text.
        found: String,
        /// What may stand there.
        expected: &'static str,
    },
    /// A byte that no token begins with.
    BadCharacter(char),
    /// A string without an end, or with a bad escape, or (where text is needed) that is not UTF-8.
    BadString,
    /// Nothing of this name has been declared.
    Unknown {
        /// The kind of thing: `value`, `block`, `symbol` …
        what: &'static str,
        /// The name as written.
        name: String,
    },
    /// The name is taken.
    Duplicate {
        /// The kind of thing.
        what: &'static str,
        /// The name as written.
        name: String,
    },
    /// A number that does not fit where it stands.
    BadNumber(String),
    /// A constant that its type cannot have.
    BadConstant {
        /// The type in text form.
        ty: String,
    },
    /// A constant without a type where the instruction does not fix one.
    UntypedConstant,
    /// An edge has another number of operands than its target has φs.
    PhiOperands {
        /// The number of operands.
        found: usize,
        /// The number of φs.
        expected: usize,
    },
    /// A φ behind another instruction, or an instruction behind the terminator.
    OutOfPlace,
    /// An instruction with more or fewer results than it can have.
    Results,
    /// Brackets nest too deeply.
    TooDeep,
    /// An id so large that the table for it would be mostly empty.
    IdTooLarge(u32),
}

/// An error with its place in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is wrong.
    pub kind: ParseErrorKind,
}

impl fmt::Display for ParseErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseErrorKind::Unexpected { found, expected } => write!(f, "expected {expected}, found {found}"),
            ParseErrorKind::BadCharacter(c) => write!(f, "no token begins with {c:?}"),
            ParseErrorKind::BadString => {
                write!(f, "a string that does not end, has a bad escape, or is not UTF-8")
            }
            ParseErrorKind::Unknown { what, name } => write!(f, "unknown {what} {name}"),
            ParseErrorKind::Duplicate { what, name } => write!(f, "{what} {name} is already defined"),
            ParseErrorKind::BadNumber(text) => write!(f, "the number {text} does not fit here"),
            ParseErrorKind::BadConstant { ty } => write!(f, "this is no constant of type {ty}"),
            ParseErrorKind::UntypedConstant => write!(f, "a constant needs its type in front here"),
            ParseErrorKind::PhiOperands { found, expected } => {
                write!(f, "the edge has {found} operands but its target has {expected} phis")
            }
            ParseErrorKind::OutOfPlace => {
                write!(f, "a phi must stand before all other instructions and nothing behind a terminator")
            }
            ParseErrorKind::Results => write!(f, "the instruction cannot have this number of results"),
            ParseErrorKind::TooDeep => write!(f, "nested too deeply"),
            ParseErrorKind::IdTooLarge(id) => {
                write!(f, "the id {id} is larger than a text of this size needs")
            }
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.kind)
    }
}

impl std::error::Error for ParseError {}
