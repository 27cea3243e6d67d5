//! Live range splitting strategies (paper 4, Section 3 and Figure 5).

/// Which conditional tests on a variable split its live range, at the exit of the block that tests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Conditions {
    /// None.
    #[default]
    None,
    /// Those that ask whether it equals something.
    Equalities,
    /// All.
    All,
}

/// At which control-flow nodes live ranges are split, and in which direction information flows from there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Strategy {
    /// *Defs*↓
    pub definitions_down: bool,
    /// *Uses*↓
    pub uses_down: bool,
    /// *Uses*↑
    pub uses_up: bool,
    /// *LastUses*↑
    pub last_uses_up: bool,
    /// *Out(Conds)*↓
    pub conditions_down: Conditions,
    /// *Out(Conds)*↑
    pub conditions_up: Conditions,
}

impl Strategy {
    /// Only definitions: SSA form.
    pub const SSA: Strategy = Strategy {
        definitions_down: true,
        uses_down: false,
        uses_up: false,
        last_uses_up: false,
        conditions_down: Conditions::None,
        conditions_up: Conditions::None,
    };
    /// Definitions and equality tests: conditional constants.
    pub const CONDITIONAL_CONSTANTS: Strategy =
        Strategy { conditions_down: Conditions::Equalities, ..Strategy::SSA };
    /// Definitions and tests: e-SSA (Bodík et al. 2000).
    pub const E_SSA: Strategy = Strategy { conditions_down: Conditions::All, ..Strategy::SSA };
    /// Definitions and last uses: Ananian's static single information.
    pub const SSI: Strategy = Strategy { last_uses_up: true, ..Strategy::SSA };
    /// Definitions, tests and, backwards, uses: Stephenson's bit widths.
    pub const STEPHENSON: Strategy = Strategy { uses_up: true, ..Strategy::E_SSA };
    /// Definitions and, backwards, uses: Mahlke's bit widths.
    pub const MAHLKE: Strategy = Strategy { uses_up: true, ..Strategy::SSA };
    /// Uses, backwards: static single use, for class inference.
    pub const SSU: Strategy = Strategy { definitions_down: false, uses_up: true, ..Strategy::SSA };
    /// Uses and tests, backwards: Hochstadt's types.
    pub const HOCHSTADT: Strategy = Strategy { conditions_up: Conditions::All, ..Strategy::SSU };
    /// Definitions and, forwards, uses: null pointers.
    pub const NULL_POINTERS: Strategy = Strategy { uses_down: true, ..Strategy::SSA };
}
