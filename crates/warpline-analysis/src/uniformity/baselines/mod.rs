//! Two earlier analyses, to compare with: same input, same spread along operands, same kind of result.
//!
//! They differ from [`joins`](crate::joins) in which joins and exits they take for divergent because of a
//! divergent branch. [`Algorithm`] names them; paper 1 measures the same three (Section 7.1).

mod postdom;
mod strong;

pub(super) use postdom::PostDominators;
pub(super) use strong::StrongPostDominators;

/// How joins and exits of a divergent branch are found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Algorithm {
    /// By disjoint paths (paper 1), and by paper 2's criteria where cycles are irreducible.
    #[default]
    Joins,
    /// By immediate post-dominators (Coutinho et al. 2011), as LLVM's former divergence analysis did. **Not sound**:
    /// see [`is_sound`](Self::is_sound).
    PostDom,
    /// By the transitive closure of control dependence in the sense of strong post-dominance (Wasserrab et al. 2009),
    /// as paper 1 brings it to SSA form.
    StrongPostDom,
}

impl Algorithm {
    /// All of them; the product first.
    pub const ALL: [Algorithm; 3] = [Algorithm::Joins, Algorithm::PostDom, Algorithm::StrongPostDom];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Joins => "joins",
            Algorithm::PostDom => "postdom",
            Algorithm::StrongPostDom => "strong-postdom",
        }
    }

    /// The algorithm of that name.
    pub fn from_name(name: &str) -> Option<Algorithm> {
        Algorithm::ALL.into_iter().find(|a| a.name() == name)
    }

    /// Whether what is claimed uniform is uniform. Post-dominators assume that threads which part at a branch do not
    /// come together before its immediate post-dominator; where they do (early exits from a loop or a nest of
    /// conditions, several returns) divergent values are claimed uniform.
    pub fn is_sound(self) -> bool {
        self != Algorithm::PostDom
    }
}
