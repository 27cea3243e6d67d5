//! What is known of pointers that are parameters.

/// What callers promise of a pointer that they pass: LLVM's parameter attributes of these names.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct PointerFacts {
    /// It is a multiple of this, a power of two.
    pub align: u64,
    /// So many bytes from it on can be read when the function is called.
    pub dereferenceable: u64,
    /// What is reached through it and is written while the function runs, is reached in no other way then.
    pub noalias: bool,
    /// It leads to memory that the work-items of a group share, and other groups do not (OpenCL's `local`).
    pub local: bool,
    /// What one lane reaches through it, no other lane does.
    pub private: bool,
    /// Nobody but the function accesses what is reached through it while it runs, and what accesses under conditions
    /// would reach is there whether or not the conditions hold. Nothing but the user says so.
    pub exclusive: bool,
    /// Nobody but the function accesses what is reached through it while it runs, and what is there may be written:
    /// Rust's `&mut`.
    pub unique: bool,
}

impl Default for PointerFacts {
    fn default() -> PointerFacts {
        PointerFacts {
            align: 1,
            dereferenceable: 0,
            noalias: false,
            local: false,
            private: false,
            exclusive: false,
            unique: false,
        }
    }
}
