//! Options that choose one of a few words.

use clap::ValueEnum;
use warpline::vectorize::{Boscc, Coherence, Linearize};

/// How branches are treated.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum LinearizeMode {
    /// Only divergent branches are folded.
    #[default]
    Partial,
    /// All branches are folded.
    Full,
}

impl From<LinearizeMode> for Linearize {
    fn from(mode: LinearizeMode) -> Linearize {
        match mode {
            LinearizeMode::Partial => Linearize::Partial,
            LinearizeMode::Full => Linearize::Full,
        }
    }
}

/// Where branches skip code without an active lane, besides where the program's meaning needs them.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum BosccMode {
    /// Nowhere.
    Off,
    /// Wherever they can stand.
    On,
    /// Where skipping is expected to save more time than asking takes.
    #[default]
    Auto,
}

impl From<BosccMode> for Boscc {
    fn from(mode: BosccMode) -> Boscc {
        match mode {
            BosccMode::Off => Boscc::Off,
            BosccMode::On => Boscc::On,
            BosccMode::Auto => Boscc::Auto,
        }
    }
}

/// For which loops code is made for iterations in which lanes agree.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum CoherenceMode {
    /// None.
    Off,
    /// All for which it can be made.
    On,
    /// Those in which lanes are likely to agree and much is loaded.
    #[default]
    Auto,
}

impl From<CoherenceMode> for Coherence {
    fn from(mode: CoherenceMode) -> Coherence {
        match mode {
            CoherenceMode::Off => Coherence::Off,
            CoherenceMode::On => Coherence::On,
            CoherenceMode::Auto => Coherence::Auto,
        }
    }
}

/// Which performance remarks are printed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum RemarkMode {
    /// Those on the three lines that cost most.
    #[default]
    Worst,
    /// All.
    All,
    /// None.
    None,
}

/// Whether multiplications and additions may be fused.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum Contract {
    /// Each is rounded.
    #[default]
    Off,
    /// Those of one expression may be rounded once.
    On,
}
