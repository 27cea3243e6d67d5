//! The algorithms to choose from.

/// How joins and exits of a divergent branch are found.
///
/// All but the first are baselines, which the feature of that name brings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Algorithm {
    /// By disjoint paths (paper 1), and by paper 2's criteria where cycles are irreducible.
    #[default]
    Joins,
    #[cfg(feature = "baselines")]
    /// By immediate post-dominators (Coutinho et al. 2011), as LLVM's former divergence analysis did. **Not sound**:
    /// see [`is_sound`](Self::is_sound).
    PostDom,
    #[cfg(feature = "baselines")]
    /// By the transitive closure of control dependence in the sense of strong post-dominance (Wasserrab et al. 2009),
    /// as paper 1 brings it to SSA form.
    StrongPostDom,
}

impl Algorithm {
    /// All of them; the product first.
    #[cfg(feature = "baselines")]
    pub const ALL: [Algorithm; 3] = [Algorithm::Joins, Algorithm::PostDom, Algorithm::StrongPostDom];

    /// The name on the command line. O(1).
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Joins => "joins",
            #[cfg(feature = "baselines")]
            Algorithm::PostDom => "postdom",
            #[cfg(feature = "baselines")]
            Algorithm::StrongPostDom => "strong-postdom",
        }
    }

    /// The algorithm of that name. O(1).
    #[cfg(feature = "baselines")]
    pub fn from_name(name: &str) -> Option<Algorithm> {
        Algorithm::ALL.into_iter().find(|a| a.name() == name)
    }

    /// Whether what is claimed uniform is uniform. Post-dominators assume that threads which diverge at a branch do not
    /// come together before its immediate post-dominator; where they do (early exits from a loop or a nest of
    /// conditions, several returns) divergent values are claimed uniform. O(1).
    pub fn is_sound(self) -> bool {
        match self {
            #[cfg(feature = "baselines")]
            Algorithm::PostDom => false,
            _ => true,
        }
    }
}
