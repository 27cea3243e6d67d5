//! Pieces of a kernel that must run for one lane after the other: what they read and write stays together.
use crate::ir::Symbol;

/// A function that was made of a piece of a kernel.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its symbol.
    pub symbol: Symbol,
    /// What it accesses.
    pub accesses: Vec<PieceAccess>,
}

/// An access to memory by a [`Piece`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct PieceAccess {
    /// The parameter that is the address.
    pub param: usize,
    /// Bytes.
    pub size: u64,
    /// Whether it reads there.
    pub reads: bool,
    /// Whether it writes there.
    pub writes: bool,
}

/// The pieces of a kernel.
#[derive(Clone, Default, Debug)]
pub struct Pieces {
    all: Vec<Piece>,
}

impl Pieces {
    /// No pieces.
    pub const fn none() -> Pieces {
        Pieces { all: Vec::new() }
    }

    /// The piece that a symbol stands for.
    pub fn of(&self, symbol: Symbol) -> Option<&Piece> {
        self.all.iter().find(|p| p.symbol == symbol)
    }

    /// Adds one.
    pub(super) fn push(&mut self, piece: Piece) {
        self.all.push(piece);
    }
}
