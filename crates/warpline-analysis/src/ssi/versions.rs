//! The outcome of splitting: versions of variables, laid over a program that stays as it is.

use alloc::vec::Vec;

use crate::bitset::BitSet;
use crate::graph::{EdgeId, Graph, Lists, Node};
use crate::program::{Instruction, Program, Variable};
use crate::program_error::ProgramError;

/// A version of a variable. The versions below [`Program::variables`] are the variables themselves: of each, its
/// value on entry or else its first definition in dominance order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Version(pub u32);

impl Version {
    /// Its number. O(1).
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What defines a version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum VersionDef {
    /// The program: on entry, an instruction, or a φ-function of its own.
    Actual,
    /// A φ-function that was added at the entry of a block.
    Phi(Node),
    /// A σ-function that was added at the exit of a block: what the variable is called on one of its out-edges.
    Sigma(EdgeId),
    /// A copy that was added in parallel with an instruction.
    Copy(Instruction),
}

/// A program whose live ranges are split, as an overlay: which version of each variable is used and defined where.
///
/// Versions are numbered from 0; those from [`Program::variables`] on are *added*: second and further definitions of a
/// variable, φs, σs and copies.
#[derive(Clone, Debug)]
pub struct Ssi {
    /// Of added versions: variable, definition.
    pub(crate) added: Vec<(Variable, VersionDef)>,
    pub(crate) variables: usize,
    /// Per added version its operands: of a φ one per in-edge in the graph's order, of a σ or a copy one; `NONE`
    /// where the variable is not defined.
    pub(crate) operands: Lists<u32>,
    /// Per operand, result, φ operand, test of the program, by its slot: the version, or `NONE`.
    pub(crate) uses: Vec<u32>,
    pub(crate) definitions: Vec<u32>,
    pub(crate) phi_operands: Vec<u32>,
    pub(crate) phi_results: Vec<u32>,
    pub(crate) tests: Vec<u32>,
    /// Added φs by block, σs by edge, copies by instruction: added versions. No list where there are none.
    pub(crate) phis_at: Lists<Version>,
    pub(crate) sigmas_at: Lists<Version>,
    pub(crate) copies_at: Lists<Version>,
    /// Variables with more than one version.
    pub(crate) split: BitSet,
    /// Of the program.
    pub(crate) outline: u64,
}

/// No version: the variable holds nothing there.
pub(crate) const NONE: u32 = u32::MAX;

/// What was added at a place, if anything was anywhere.
#[inline]
fn at(lists: &Lists<Version>, place: usize) -> &[Version] {
    if lists.len() == 0 { &[] } else { lists.get(place) }
}

fn version(v: u32) -> Option<Version> {
    (v != NONE).then_some(Version(v))
}

impl Ssi {
    /// Nothing is split: each variable is its only version. For programs in SSA form and strategies that split at
    /// definitions alone. Linear in the program.
    pub fn unsplit(program: &Program) -> Ssi {
        let none = || core::iter::empty::<(usize, Version)>();
        Ssi {
            added: Vec::new(),
            variables: program.variables(),
            operands: Lists::group(0, core::iter::empty()),
            uses: program.all_uses().iter().map(|v| v.0).collect(),
            definitions: program.all_definitions().iter().map(|v| v.0).collect(),
            phi_operands: program.all_phis().iter().map(|p| p.operand.0).collect(),
            phi_results: program.all_phis().iter().map(|p| p.result.0).collect(),
            tests: program.all_tests().iter().map(|t| t.variable.0).collect(),
            phis_at: Lists::group(0, none()),
            sigmas_at: Lists::group(0, none()),
            copies_at: Lists::group(0, none()),
            split: BitSet::new(program.variables()),
            outline: program.outline(),
        }
    }

    /// Whether it is of this program, or of one that was described in the same words. O(1).
    ///
    /// # Errors
    /// If it is of another one.
    pub fn check_program(&self, program: &Program) -> Result<(), ProgramError> {
        match self.outline == program.outline() {
            true => Ok(()),
            false => Err(ProgramError::OtherProgram),
        }
    }

    /// Panics if it is of another program.
    pub(crate) fn expect_program(&self, program: &Program) {
        assert!(self.outline == program.outline(), "{}", ProgramError::OtherProgram);
    }

    /// How many versions there are. O(1).
    #[inline]
    pub fn versions(&self) -> usize {
        self.variables + self.added.len()
    }

    /// The variable that it is a version of. O(1).
    #[inline]
    pub fn variable(&self, v: Version) -> Variable {
        match v.index().checked_sub(self.variables) {
            Some(at) => self.added[at].0,
            None => Variable(v.0),
        }
    }

    /// What defines it. O(1).
    #[inline]
    pub fn definition(&self, v: Version) -> VersionDef {
        match v.index().checked_sub(self.variables) {
            Some(at) => self.added[at].1,
            None => VersionDef::Actual,
        }
    }

    /// The versions that an added φ, σ or copy reads: of a φ one for each in-edge of its block, in the graph's order;
    /// else one. `None` where the variable holds nothing. Empty for what the program defines. O(1) a step.
    pub fn operands(&self, v: Version) -> impl ExactSizeIterator<Item = Option<Version>> + '_ {
        let list = match v.index().checked_sub(self.variables) {
            Some(at) => self.operands.get(at),
            None => &[],
        };
        list.iter().map(|&o| version(o))
    }

    /// The version that an operand uses, by its place among all operands ([`Program::use_slots`]). O(1).
    #[inline]
    pub fn used(&self, slot: usize) -> Option<Version> {
        version(self.uses[slot])
    }

    /// The version that an instruction defines, by its place among all results ([`Program::definition_slots`]).
    /// O(1).
    #[inline]
    pub fn defined(&self, slot: usize) -> Version {
        Version(self.definitions[slot])
    }

    /// The version that a φ of the program uses on an edge, by its place among all φ operands ([`Program::phi_slots`]).
    /// O(1).
    #[inline]
    pub fn phi_operand(&self, slot: usize) -> Option<Version> {
        version(self.phi_operands[slot])
    }

    /// The version that this φ of the program defines, by the same place. O(1).
    #[inline]
    pub fn phi_result(&self, slot: usize) -> Version {
        Version(self.phi_results[slot])
    }

    /// The version that a test asks about, by its place among all tests ([`Program::test_slots`]): the one that a σ
    /// there uses. O(1).
    #[inline]
    pub fn tested(&self, slot: usize) -> Option<Version> {
        version(self.tests[slot])
    }

    /// The φs that were added at the entry of a block. O(log φs).
    #[inline]
    pub fn phis_at(&self, node: Node) -> &[Version] {
        at(&self.phis_at, node.index())
    }

    /// The results of σs that were added on an edge. O(log σs).
    #[inline]
    pub fn sigmas_at(&self, edge: EdgeId) -> &[Version] {
        at(&self.sigmas_at, edge.index())
    }

    /// The copies that were added in parallel with an instruction: they read what the instruction reads, and hold
    /// behind it. At the last instruction of a block they hold for its tests and are what its σs read.
    /// O(log copies).
    #[inline]
    pub fn copies_at(&self, instruction: Instruction) -> &[Version] {
        at(&self.copies_at, instruction.index())
    }

    /// Whether a variable has more than one version. O(1).
    #[inline]
    pub fn is_split(&self, variable: Variable) -> bool {
        self.split.contains(variable.index())
    }

    /// How many φs, σs and copies were added. O(n log n) in these.
    pub fn counts(&self, program: &Program) -> Counts {
        let mut counts = Counts::default();
        let mut sigmas = Vec::new();
        for &(variable, definition) in &self.added {
            match definition {
                VersionDef::Actual => {}
                VersionDef::Phi(_) => counts.phis += 1,
                VersionDef::Copy(_) => counts.copies += 1,
                VersionDef::Sigma(edge) => sigmas.push((variable, program.graph().source(edge))),
            }
        }
        sigmas.sort_unstable();
        sigmas.dedup();
        counts.sigmas = sigmas.len();
        counts
    }
}

/// How many φs, σs and copies were added to a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// φs; not those of the program.
    pub phis: usize,
    /// σs: one for each variable and block, however many out-edges the block has.
    pub sigmas: usize,
    /// Copies in parallel with instructions.
    pub copies: usize,
}

impl Counts {
    /// All together. O(1).
    pub fn total(self) -> usize {
        self.phis + self.sigmas + self.copies
    }
}
