//! Lattices of facts.

/// What an analysis knows of one variable (paper 4, Definition 2: one factor of the product lattice).
///
/// Facts are ordered by how much they exclude: [`top`](Lattice::top) says that no value is possible, which is what is
/// assumed of everything at first; going down, more becomes possible. What must hold, for all facts:
///
/// * `meet` is commutative, associative and idempotent, and `top` is its neutral element; `a ⊑ b` stands for
///   `a ∧ b = a`.
/// * Every strictly descending chain is finite. Where it is not short, the client widens
///   ([`Forward::widen`](super::Forward::widen)).
/// * Transfer functions are monotone: from lower facts they make lower facts.
///
/// Then the equations have a greatest solution, solvers find it in whatever order they work, and the sparse one
/// equals the dense one (Theorem 4). Where it does not hold results may depend on the order; a solver still ends if
/// chains are finite, since it only ever lowers facts.
pub trait Lattice: Clone + PartialEq {
    /// Nothing is possible: nothing has been found yet.
    fn top() -> Self;

    /// Lowers `self` to the meet of both; says whether that changed it.
    fn meet(&mut self, other: &Self) -> bool;
}

impl Lattice for () {
    fn top() -> Self {}

    fn meet(&mut self, (): &Self) -> bool {
        false
    }
}
