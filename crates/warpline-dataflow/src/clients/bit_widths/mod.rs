//! How many bits of each integer are needed: those that are not known anyway, forwards, and that somebody looks at,
//! backwards.
//!
//! * Forwards: [integer ranges](super::ranges), a partitioned-lattice problem. A value whose range fits fewer bits,
//!   as an unsigned or as a signed number, needs no more.
//! * Backwards: [`Demand`], a partitioned-lattice problem as well. Lattice: sets of bits, ⊤ is none. A bit of an
//!   operand is demanded if it can change a demanded bit of the result, or what the program does.
//! * Strategies (paper 4, Figure 5): Stephenson et al. 2000 split at definitions and conditions and, backwards, at
//!   uses ([`Strategy::STEPHENSON`]); Mahlke et al. 2001 at definitions and, backwards, at uses
//!   ([`Strategy::MAHLKE`]). In both each version tells which bits are demanded from its place on.
//! * Departures: Stephenson's backward part also narrows ranges by what uses can bear; here that is demanded bits
//!   alone, which do not depend on overflow being undefined.
//! * Memory: what is stored and addresses are demanded in full, as are operands of calls, of opaque instructions, of
//!   divisions (which may trap) and of branches. Poison: bits that are not demanded may become anything *if
//!   operations lose the flags that make poison* (`nuw`, `nsw`, `exact`, `disjoint`, `nneg`, `samesign`), as whoever
//!   narrows must drop them. `freeze` and undef pass demand on.

mod demand;
mod report;

#[cfg(test)]
mod tests;

pub use demand::{Bits, Demand};
pub use report::{BitWidthsReport, ValueWidth};

use warpline_analysis::ssi::{Strategy, ssify};

use super::ranges::{self, Range, Ranges};
use crate::Code;
use crate::at_definitions::AtDefinitions;
use crate::report::{Description, Direction, Kind, Solver, Work};
use warpline_ir::{Function, Module, Type, Value};

/// Whose bit widths.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Variant {
    /// With what conditions tell.
    Stephenson,
    /// Without.
    Mahlke,
}

impl Variant {
    /// By which strategy live ranges are split.
    pub fn strategy(self) -> Strategy {
        match self {
            Variant::Stephenson => Strategy::STEPHENSON,
            Variant::Mahlke => Strategy::MAHLKE,
        }
    }

    /// What the client is.
    pub fn description(self) -> &'static Description {
        match self {
            Variant::Stephenson => &STEPHENSON,
            Variant::Mahlke => &MAHLKE,
        }
    }
}

/// Bit widths with what conditions tell.
pub const STEPHENSON: Description = Description {
    name: "bit-widths",
    question: "how many bits of each integer are needed",
    direction: Direction::Both,
    strategy: "definitions and conditions; backwards, uses",
    kind: Kind::PartitionedLattice,
    reference: "Stephenson, Babb, Amarasinghe 2000",
};

/// Bit widths without what conditions tell.
pub const MAHLKE: Description = Description {
    name: "bit-widths-mahlke",
    question: "how many bits of each integer are needed, without what conditions tell",
    direction: Direction::Both,
    strategy: "definitions; backwards, uses",
    kind: Kind::PartitionedLattice,
    reference: "Mahlke et al. 2001",
};

/// The bit widths of a function.
pub struct BitWidths<'a> {
    func: &'a Function,
    ranges: AtDefinitions<ranges::Fact>,
    demanded: AtDefinitions<Bits>,
}

/// How many sweeps of narrowing are made.
const SWEEPS: usize = 2;

impl<'a> BitWidths<'a> {
    /// Solves both parts. `code` is the code of `func`.
    pub fn new(
        module: &'a Module,
        func: &'a Function,
        code: &'a Code,
        variant: Variant,
        solver: Solver,
    ) -> BitWidths<'a> {
        let (program, strategy) = (code.program(), variant.strategy());
        let forward = Ranges::new(module, func, code);
        let (ranges, _) = AtDefinitions::forward(program, &strategy, &forward, solver, SWEEPS);
        let ssi = ssify(program, &strategy);
        let demanded = AtDefinitions::backward(program, &ssi, &Demand::new(module, func, code), solver);
        BitWidths { func, ranges, demanded }
    }

    /// The bits of a value that are demanded where it is defined. All of them for other types than integers of at
    /// most 128 bits.
    pub fn demanded(&self, v: Value) -> Bits {
        *self.demanded.fact(v)
    }

    /// The range of a value where it is defined; `None` if it is no integer or never computed.
    pub fn range(&self, v: Value) -> Option<&Range> {
        self.ranges.fact(v).range()
    }

    /// What solving took.
    pub fn work(&self) -> Work {
        let (ranges, demanded) = (self.ranges.work(), self.demanded.work());
        Work { versions: ranges.versions, steps: ranges.steps + demanded.steps }
    }

    /// The widths of a value: `None` if it is no integer of at most 128 bits.
    pub fn width(&self, v: Value) -> Option<ValueWidth> {
        let Type::Int(declared @ ..=128) = self.func.ty(v) else { return None };
        let known = self.range(v).map_or(0, |r| significant(r).min(declared));
        let demanded = self.demanded(v).width().min(declared);
        Some(ValueWidth {
            name: self.func.value_name(v),
            declared,
            known,
            demanded,
            needed: known.min(demanded),
        })
    }
}

/// How many bits the integers of a range have, as unsigned or as signed numbers, whichever is less.
pub fn significant(range: &Range) -> u32 {
    let unsigned = 128 - range.high().leading_zeros();
    // A sign bit, and the bits of the largest number without regard to its sign.
    let of = |v: i128| 129 - if v < 0 { v.leading_ones() } else { v.leading_zeros() };
    unsigned.min(of(range.least()).max(of(range.greatest())))
}

/// The bit widths of all values of a function in SSA form.
pub fn analyze(
    module: &Module,
    func: &Function,
    variant: Variant,
    solver: Solver,
) -> (BitWidthsReport, Work) {
    let code = match variant {
        Variant::Stephenson => Code::with_makers(func),
        Variant::Mahlke => Code::of(func),
    };
    let widths = BitWidths::new(module, func, &code, variant, solver);
    let report = BitWidthsReport::new(func, |v| widths.width(v));
    (report, widths.work())
}
