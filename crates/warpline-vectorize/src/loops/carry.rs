//! What is said of what a loop carries from one iteration to the next.

/// A value that a loop carries from one iteration to the next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Carry {
    /// The φ's name.
    pub name: String,
    /// What it is.
    pub kind: CarryKind,
    /// Whether floating-point numbers are combined in another order, so that the result may differ in the last places.
    pub rounds_otherwise: bool,
}

/// What a value does from one iteration to the next.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum CarryKind {
    /// It grows by a step.
    Induction,
    /// Something is combined with it.
    Reduction,
    /// The same, in the order of the iterations.
    Ordered,
    /// It is multiplied by what stays the same, and something is added.
    Recurrence,
    /// The same, and the loop sees the intermediate results.
    Scan,
    /// It is what the iteration before computed.
    Previous,
    /// It is a bit that iterations set, reset or toggle.
    State,
    /// It is what it was, or another value takes its place, and the loop looks at it.
    Held,
    /// It counts the iterations in which a condition holds, and these see the number.
    Compaction,
    /// It is a value of one iteration: of the last one in which a condition held, or of the one with the least or
    /// greatest value.
    Selected,
}

impl CarryKind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            CarryKind::Induction => "induction",
            CarryKind::Reduction => "reduction",
            CarryKind::Ordered => "ordered reduction",
            CarryKind::Recurrence => "linear recurrence",
            CarryKind::Scan => "scan",
            CarryKind::Previous => "previous value",
            CarryKind::State => "state",
            CarryKind::Held => "held value",
            CarryKind::Compaction => "position in a compacted stream",
            CarryKind::Selected => "selected value",
        }
    }
}
