//! What an instruction may do besides computing its results.

bitflags::bitflags! {
    /// The effect record of an instruction. A set bit says *may*; an empty record is a pure, total function of
    /// the operands.
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Effects: u16 {
        /// May read memory.
        const READS = 1 << 0;
        /// May write memory.
        const WRITES = 1 << 1;
        /// May have undefined behaviour for some operands or memory (a trap, a fault): must not be executed
        /// where the scalar program would not execute it.
        const TRAPS = 1 << 2;
        /// May not terminate.
        const DIVERGES = 1 << 3;
        /// May unwind.
        const UNWINDS = 1 << 4;
        /// Never returns.
        const NO_RETURN = 1 << 5;
        /// Communicates with, or depends on the set of, other lanes.
        const CONVERGENT = 1 << 6;
        /// Volatile: every execution is observable.
        const VOLATILE = 1 << 7;
        /// Touches memory only through its pointer arguments.
        const ARG_MEMORY_ONLY = 1 << 8;
        /// Touches only memory that the program cannot see.
        const INACCESSIBLE_MEMORY_ONLY = 1 << 9;
        /// Results may differ between executions with equal operands and memory (an opaque source).
        const UNKNOWN_RESULT = 1 << 10;
        /// A synchronisation operation (atomic, fence).
        const ATOMIC = 1 << 11;
        /// May return a second time, as `setjmp` does.
        const RETURNS_TWICE = 1 << 12;
    }
}

impl Effects {
    /// Everything an unknown call may do.
    pub const UNKNOWN: Effects = Effects::READS
        .union(Effects::WRITES)
        .union(Effects::TRAPS)
        .union(Effects::DIVERGES)
        .union(Effects::UNWINDS)
        .union(Effects::UNKNOWN_RESULT);

    /// Whether the instruction may be executed where the program would not execute it.
    pub fn speculatable(self) -> bool {
        self.removable() && !self.contains(Effects::TRAPS)
    }

    /// Whether the instruction may be deleted when its results are unused.
    pub fn removable(self) -> bool {
        !self.intersects(
            Effects::WRITES
                | Effects::DIVERGES
                | Effects::UNWINDS
                | Effects::NO_RETURN
                | Effects::CONVERGENT
                | Effects::VOLATILE
                | Effects::ATOMIC
                | Effects::RETURNS_TWICE,
        )
    }
}
