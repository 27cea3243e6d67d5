//! What the clients have in common: how they are described, how they are asked, and how they report.

use serde::Serialize;

/// Which way information flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// With control.
    Forward,
    /// Against control.
    Backward,
    /// First the one, then the other.
    Both,
}

impl Direction {
    /// `forward`, `backward`, `both`.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Backward => "backward",
            Direction::Both => "both",
        }
    }
}

/// How a problem falls apart (paper 4, Section 2 and Definition 2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// Partitioned variable problem: what is known of one variable never depends on what is known of another.
    PartitionedVariable,
    /// Partitioned lattice problem: each variable has a lattice of its own, but facts of one depend on those of others.
    PartitionedLattice,
}

impl Kind {
    /// `partitioned variable`, `partitioned lattice`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::PartitionedVariable => "partitioned variable",
            Kind::PartitionedLattice => "partitioned lattice",
        }
    }
}

/// What a client is, for lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Description {
    /// Its name on the command line.
    pub name: &'static str,
    /// The question that it answers.
    pub question: &'static str,
    /// Which way information flows.
    pub direction: Direction,
    /// Where live ranges are split, as in paper 4's Figure 5.
    pub strategy: &'static str,
    /// How the problem falls apart.
    pub kind: Kind,
    /// Where it comes from.
    pub reference: &'static str,
}

/// How a problem is solved; the answer is the same (paper 4, Theorem 4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Solver {
    /// On the versions of split live ranges.
    #[default]
    Sparse,
    /// On a state at each program point.
    Dense,
}

/// What solving took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Work {
    /// How many versions of variables there are, those of variables that are not split included; 0 for a dense
    /// solution.
    pub versions: usize,
    /// How often transfer functions were evaluated.
    pub steps: usize,
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        self.versions += other.versions;
        self.steps += other.steps;
    }
}

/// What a client found in one function: plain data for programs, and text for people.
pub trait Report: Serialize {
    /// Writes the report for people. It stands below a line that names the function, so lines begin with two spaces.
    fn write_text(&self, out: &mut String);

    /// How many things were found that should not be: the program ends with 1 if there are any.
    fn findings(&self) -> usize {
        0
    }
}
