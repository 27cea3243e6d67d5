//! What a CPU has for vectors.

use crate::operation::{Element, Op};

/// What a machine's instructions gather and scatter under masks.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Gathers {
    /// Nothing: each lane accesses memory by an instruction of its own.
    Nothing,
    /// Elements of 32 bits at indices of 32 bits, and loads alone, by the instructions of AVX2.
    Avx2,
    /// Elements of 32 and 64 bits, loads and stores, by whatever LLVM makes of its masked accesses.
    #[default]
    Everything,
}

/// What a machine's instructions load from neighbouring places and store there under masks.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Masks {
    /// Nothing.
    Nothing,
    /// Elements of 32 and 64 bits.
    Wide,
    /// Elements of any size, or nobody knows: then it is left to LLVM.
    #[default]
    Everything,
}

impl Masks {
    /// Whether there are such instructions for elements of so many bits.
    #[must_use]
    pub fn serve(self, bits: u64) -> bool {
        match self {
            Masks::Nothing => false,
            Masks::Wide => matches!(bits, 32 | 64),
            Masks::Everything => true,
        }
    }
}

/// How many operations of each kind a machine begins in a cycle.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Rates {
    /// Of vector arithmetic.
    pub vector: f64,
    /// Of scalar arithmetic.
    pub scalar: f64,
    /// Loads.
    pub loads: f64,
    /// Stores.
    pub stores: f64,
    /// Of all of these.
    pub all: f64,
}

/// A CPU, as cost models see it.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Machine {
    /// Bits of a vector register.
    pub register_bits: u32,
    /// How many vector registers there are.
    pub registers: u32,
    /// Whether there are other registers for masks. If not, masks fill vector registers as what they blend does.
    pub mask_registers: bool,
    /// Where there are no mask registers: the widest vectors, in bits, that masks are kept in across blocks. Wider
    /// ones are packed and unpacked.
    pub mask_bits: u32,
    /// What its instructions gather and scatter under masks.
    pub gathers: Gathers,
    /// What they load and store under masks.
    pub masks: Masks,
    /// Whether it multiplies and adds in one instruction, with one rounding.
    pub fused: bool,
}

impl Machine {
    /// How many registers the values of so many bits of all lanes fill.
    #[must_use]
    pub fn filled(&self, bits: u32, width: u32) -> u32 {
        // Values of absurd types fill enough to be left alone.
        let filled = (u64::from(bits) * u64::from(width)).div_ceil(u64::from(self.register_bits.max(1)));
        filled.min(1 << 16) as u32
    }

    /// How many operations it begins in a cycle.
    #[must_use]
    pub fn rates(&self) -> Rates {
        Rates { vector: 2.5, scalar: 4.0, loads: 2.0, stores: 1.0, all: 5.0 }
    }

    /// What an operation on a full register takes, in ordinary vector operations.
    #[must_use]
    pub fn operations(&self, op: Op, element: Element) -> f64 {
        match op {
            Op::Divide | Op::SquareRoot if element == Element::F64 => 14.0,
            Op::Divide | Op::SquareRoot if element.is_float() => 8.0,
            // There is no product of bytes, and mostly none of 64 bits.
            Op::Multiply if matches!(element, Element::I8 | Element::I64) => 3.0,
            Op::Mathematics => 30.0,
            Op::MaskedStore => 12.0 * self.rates().vector,
            _ => 1.0,
        }
    }

    /// What an operation that is done for one lane after the other takes for each, in ordinary vector operations; a
    /// call in scalar ones.
    #[must_use]
    pub fn lane_operations(&self, op: Op, _element: Element) -> f64 {
        let vector = self.rates().vector;
        match op {
            Op::Divide => 12.0,
            Op::Remainder => 40.0,
            Op::Call => 20.0,
            Op::Gather => 1.7 * vector,
            Op::Replicate | Op::ReplicatedStore => 2.4 * vector,
            _ => 1.0,
        }
    }

    /// What an operation takes in scalar code, in ordinary scalar operations; divisions and roots of floating-point
    /// numbers in vector operations.
    #[must_use]
    pub fn scalar_operations(&self, op: Op, element: Element) -> f64 {
        match op {
            Op::Divide | Op::SquareRoot if element.is_float() => 0.8 * self.operations(op, element),
            Op::Divide if element == Element::I64 => 40.0,
            Op::Divide => 24.0,
            Op::Remainder | Op::Mathematics => 100.0,
            Op::Call => 20.0,
            _ => 1.0,
        }
    }

    /// Cycles until a result is there, in vectors.
    #[must_use]
    pub fn latency(&self, op: Op, element: Element) -> f64 {
        match op {
            // There and back by floating-point numbers.
            Op::Divide if !element.is_float() => 40.0,
            Op::Divide | Op::Remainder => 14.0,
            Op::Multiply if element == Element::I64 => 8.0,
            Op::Multiply if !element.is_float() => 5.0,
            Op::Add | Op::Multiply if element.is_float() => 4.0,
            Op::Compare => 2.0,
            Op::Convert => 3.0,
            Op::Gather => 24.0,
            Op::Load => 6.0,
            Op::Call | Op::Mathematics => 30.0,
            _ => 1.0,
        }
    }

    /// Cycles until the result of a scalar division of integers is there.
    #[must_use]
    pub fn scalar_division_latency(&self) -> f64 {
        12.0
    }

    /// Cycles that are lost where a branch is mispredicted.
    #[must_use]
    pub fn misprediction(&self) -> f64 {
        15.0
    }

    /// How many operations it looks at together, to begin with some before others have ended.
    #[must_use]
    pub fn window(&self) -> f64 {
        320.0
    }

    /// Cycles that a partial group takes longer for each register that it stores under a mask.
    #[must_use]
    pub fn masked_store_delay(&self) -> f64 {
        20.0
    }

    /// Cycles for each lane of an access to neighbours under a mask that there is no instruction for.
    #[must_use]
    pub fn branched_lane_delay(&self) -> f64 {
        2.0
    }

    /// Bits of a cache line.
    #[must_use]
    pub fn line_bits(&self) -> u32 {
        512
    }
}

/// A machine with AVX2, where nothing else is known.
impl Default for Machine {
    fn default() -> Machine {
        Machine {
            register_bits: 256,
            registers: 16,
            mask_registers: false,
            mask_bits: 1024,
            gathers: Gathers::default(),
            masks: Masks::default(),
            fused: true,
        }
    }
}
