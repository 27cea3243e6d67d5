//! The stages of the vectorizer, for those who measure it.

/// What the vectorizer does next.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stage {
    /// Checks that a function is valid.
    Verify,
    /// Brings it into normal form, irreducible loops and panics included.
    NormalForm,
    /// Finds out what is uniform, shared memory included.
    Analysis,
    /// Makes divergent loops uniform and decides which blocks share a mask.
    Classes,
    /// Inserts tests of masks.
    Guards,
    /// Computes the block index and linearizes the graph.
    Linearization,
    /// Writes masks and blends and brings them into SSA form.
    Repair,
    /// Folds masks.
    Cleanup,
    /// Makes vector instructions.
    Lowering,
}

impl Stage {
    /// All stages, in the order in which each begins first.
    pub const ALL: [Stage; 9] = [
        Stage::Verify,
        Stage::NormalForm,
        Stage::Analysis,
        Stage::Classes,
        Stage::Guards,
        Stage::Linearization,
        Stage::Repair,
        Stage::Cleanup,
        Stage::Lowering,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Verify => "verify",
            Stage::NormalForm => "normal form",
            Stage::Analysis => "analysis",
            Stage::Classes => "classes",
            Stage::Guards => "guards",
            Stage::Linearization => "linearization",
            Stage::Repair => "repair",
            Stage::Cleanup => "cleanup",
            Stage::Lowering => "lowering",
        }
    }
}

/// Is told when a stage begins; the one before has ended then.
pub type Watch<'a> = &'a mut dyn FnMut(Stage);
