//! Null pointers: which dereferences are of null, may be, or never are, and which tests for null have one outcome.
//!
//! Nanda and Sinha's analysis (paper 4, Figures 4 and 5), a *partitioned lattice* problem, *forward*. A fact is the
//! set of what a value may be: null that the program knows of, something that it does not look at, and what is not
//! null; ⊤ is the empty set, the meet is the union. "Null that the program knows of" is a null constant, the result
//! of a function that returns null when it fails, and what has been compared with null and is equal to it; this tells
//! a dereference that deserves a warning from one of a pointer that nobody has looked at, such as a parameter. Other
//! values than pointers have facts, too, on whether they are zero, so that conditions decide branches.
//!
//! **Strategy**: Figure 5 has *Defs*↓ ∪ *Uses*↓, since a dereference that was survived tells of the pointer. Our
//! source language is not Java, where every reference is dereferenced in a way that can be caught: C programs test
//! for null. So ours also splits at tests, *Defs*↓ ∪ *Uses*↓ ∪ *Out(Conds)*↓ for equality tests: a strategy of its
//! own ([`STRATEGY`]). [`NullPointers::split`] leaves out the uses that are no dereferences, at which the transfer
//! functions are trivial.
//!
//! **What counts.** A dereference is a load or store of at least one byte, atomic or not, a copy or fill of memory of
//! a constant size above zero, or a call through a pointer, in address space 0, where the function does not declare
//! null valid; volatile accesses count as none. It ends the program if the pointer is null, so behind it the pointer
//! is not, nor is what a loaded or stored address was computed from `inbounds` ([`NullPointers::code`]). `alloca`s,
//! symbols (other than weak ones that need not be there) and what attributes or metadata call `nonnull` are not null;
//! with `inbounds`, an address is null only if its base is: from null, the result is poison unless the offset is
//! zero.
//!
//! **Memory and calls.** What is loaded, and what calls return, may be null without the program's knowledge, except
//! for the functions named in [`MAY_FAIL`]. Opaque instructions likewise. **Poison and undef**: facts speak of values
//! that are not poison; `undef` and what is frozen may be anything. A branch on poison or undef is undefined
//! behaviour, so what it tests is known behind it.

mod fact;
mod problem;
mod report;

use cranelift_entity::EntitySet;
use warpline_analysis::ssi::{Conditions, Strategy};

pub use fact::Nullness;
pub use problem::NullPointers;
pub use report::{DereferenceReport, NullReport, TestReport, analyse};

use super::super::report::{Description, Direction, Kind};
use warpline_ir::{Inst, Symbol};

/// What this client is.
pub const DESCRIPTION: Description = Description {
    name: "null-pointers",
    question: "which dereferences are of null or may be, and which tests for null have one outcome",
    direction: Direction::Forward,
    strategy: "Defs↓ ∪ Uses↓ ∪ Out(Equalities)↓",
    kind: Kind::PartitionedLattice,
    reference: "Nanda and Sinha 2009, and tests",
};

/// Where live ranges are split.
pub const STRATEGY: Strategy =
    Strategy { conditions_down: Conditions::Equalities, ..Strategy::NULL_POINTERS };

/// Functions that return null when they fail, or when there is nothing to be found. Sorted.
pub(crate) const MAY_FAIL: &[&str] = &[
    "__rust_alloc",
    "__rust_alloc_zeroed",
    "__rust_realloc",
    "aligned_alloc",
    "bsearch",
    "calloc",
    "dlopen",
    "dlsym",
    "fdopen",
    "fgets",
    "fopen",
    "freopen",
    "getcwd",
    "getenv",
    "gethostbyname",
    "getpwnam",
    "getpwuid",
    "gmtime",
    "localtime",
    "malloc",
    "memchr",
    "opendir",
    "popen",
    "readdir",
    "realloc",
    "realpath",
    "setlocale",
    "strchr",
    "strdup",
    "strndup",
    "strpbrk",
    "strrchr",
    "strstr",
    "strtok",
    "tmpfile",
];

/// What is known of a function besides its IR: from attributes and metadata.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// By number, the parameters that are never null.
    pub params: Vec<bool>,
    /// Calls and loads whose result is never null.
    pub results: EntitySet<Inst>,
    /// Symbols that may have the address null, since they need not be there.
    pub weak: Vec<Symbol>,
    /// Whether null may be dereferenced.
    pub null_is_valid: bool,
}
