//! The strategies of paper 4, Figure 5, and further ones that its text names, under the names of their analyses.

use alloc::string::String;
use alloc::vec::Vec;

use super::strategy::{Conditions, Strategy};

/// In which way an analysis passes on information.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Direction {
    /// From definitions to uses.
    Forward,
    /// From uses to definitions.
    Backward,
    /// Both, one after the other or in turns.
    Both,
}

/// Of which class of data-flow problems an analysis is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Partitioned variable (Zadeck 1984): each variable can be analysed without the others. Sparse evaluation graphs
    /// solve these as sparsely.
    PartitionedVariable,
    /// Partitioned lattice per variable (paper 4, Definition 2): what is known of a variable may depend on what is
    /// known of others.
    PartitionedLattice,
}

/// A strategy under the name of an analysis that it serves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NamedStrategy {
    /// The name.
    pub name: &'static str,
    /// Where live ranges are split.
    pub strategy: Strategy,
    /// Of which class the analysis is.
    pub kind: Kind,
    /// In which direction it passes on information.
    pub direction: Direction,
    /// Who described the analysis, or the form.
    pub reference: &'static str,
}

const fn row(
    name: &'static str,
    strategy: Strategy,
    kind: Kind,
    direction: Direction,
    reference: &'static str,
) -> NamedStrategy {
    NamedStrategy { name, strategy, kind, direction, reference }
}

use Direction::{Backward, Both, Forward};
use Kind::{PartitionedLattice as Lattice, PartitionedVariable as PerVariable};

/// All named strategies.
///
/// Figure 5 puts conditional constants among those that split at definitions alone (Wegman and Zadeck); Section 5
/// measures them with equality tests, which is what `conditional-constants` stands for here, `constants` being the
/// other. Singer's construction, with which Section 5 compares, is no strategy but [`singer_ssi`](super::singer_ssi).
pub const NAMED: &[NamedStrategy] = &[
    row("alias", Strategy::SSA, Lattice, Forward, "paper 4, Figure 5"),
    row("reaching-definitions", Strategy::SSA, PerVariable, Forward, "paper 4, Figure 5"),
    row("constants", Strategy::SSA, Lattice, Forward, "Wegman and Zadeck 1991"),
    row(
        "conditional-constants",
        Strategy::CONDITIONAL_CONSTANTS,
        Lattice,
        Forward,
        "Wegman and Zadeck 1991; equality tests as in paper 4, Section 5",
    ),
    row("pre", Strategy::SSI, PerVariable, Both, "Ananian 1999, Singer 2006"),
    row("ssi", Strategy::SSI, Lattice, Both, "Ananian 1999"),
    row("e-ssa", Strategy::E_SSA, Lattice, Forward, "Bodík, Gupta and Sarkar 2000"),
    row("abcd", Strategy::E_SSA, Lattice, Forward, "Bodík, Gupta and Sarkar 2000"),
    row("taint", Strategy::E_SSA, Lattice, Forward, "Rimsa, d'Amorim and Pereira 2011"),
    row("ranges", Strategy::E_SSA, Lattice, Forward, "Su and Wagner 2005; Gawlitza et al. 2009"),
    row("stephenson", Strategy::STEPHENSON, Lattice, Both, "Stephenson, Babb and Amarasinghe 2000"),
    row("mahlke", Strategy::MAHLKE, Lattice, Both, "Mahlke et al. 2001"),
    row("ssu", Strategy::SSU, Lattice, Backward, "Plevyak 1996; George and Matthias 2003; Lo et al. 1998"),
    row("an-types", Strategy::SSU, Lattice, Backward, "An, Chaudhuri, Foster and Hicks 2011"),
    row("class-inference", Strategy::SSU, Lattice, Backward, "Chambers and Ungar 1989"),
    row("hochstadt", Strategy::HOCHSTADT, Lattice, Backward, "Tobin-Hochstadt and Felleisen 2008"),
    row("null-pointers", Strategy::NULL_POINTERS, Lattice, Forward, "Nanda and Sinha 2009"),
    row("dead-code", Strategy::SSA, Lattice, Backward, "paper 4, Section 4"),
    row("liveness", Strategy::SSA, PerVariable, Backward, "paper 4, Section 4"),
];

impl Strategy {
    /// The strategy with a name of [`NAMED`]. O(1).
    pub fn from_name(name: &str) -> Option<Strategy> {
        NAMED.iter().find(|row| row.name == name).map(|row| row.strategy)
    }

    /// The strategy in the paper's notation, such as `Defs↓ ∪ Out(Conds)↓`. O(1).
    pub fn notation(&self) -> String {
        let mut sets = Vec::new();
        let mut add = |is: bool, name: &'static str| is.then(|| sets.push(name));
        add(self.definitions_down, "Defs↓");
        add(self.uses_down, "Uses↓");
        add(self.conditions_down == Conditions::All, "Out(Conds)↓");
        add(self.conditions_down == Conditions::Equalities, "Out(Conds_eq)↓");
        add(self.uses_up, "Uses↑");
        add(self.last_uses_up, "LastUses↑");
        add(self.conditions_up == Conditions::All, "Out(Conds)↑");
        add(self.conditions_up == Conditions::Equalities, "Out(Conds_eq)↑");
        sets.join(" ∪ ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_for_one_strategy() {
        for (i, row) in NAMED.iter().enumerate() {
            assert_eq!(Strategy::from_name(row.name), Some(row.strategy));
            assert!(NAMED[..i].iter().all(|other| other.name != row.name), "{} twice", row.name);
        }
        assert_eq!(Strategy::from_name("nothing"), None);
    }

    #[test]
    fn strategies_read_as_in_the_paper() {
        let notation = |name| Strategy::from_name(name).map(|s| s.notation());
        assert_eq!(notation("stephenson").as_deref(), Some("Defs↓ ∪ Out(Conds)↓ ∪ Uses↑"));
        assert_eq!(notation("pre").as_deref(), Some("Defs↓ ∪ LastUses↑"));
        assert_eq!(notation("hochstadt").as_deref(), Some("Uses↑ ∪ Out(Conds)↑"));
        assert_eq!(notation("null-pointers").as_deref(), Some("Defs↓ ∪ Uses↓"));
    }
}
