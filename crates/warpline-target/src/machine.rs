//! What a CPU has for vectors.

use crate::cpus::{self, Cpu};
use crate::lanes::Lanes;
use crate::operation::{Cost, Element, Op};

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

/// What elements of a register few instructions bring together under a mask, in order.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Packing {
    /// None: one element is stored after the other.
    #[default]
    Nothing,
    /// Those of 32 bits of 256, by a permutation whose indices BMI2's instructions make of the mask.
    Permuted,
    /// Those of 32 and 64 bits of 512, by one instruction (AVX-512F).
    Wide,
    /// Those of 8 and more bits of 512, by one instruction (AVX-512 VBMI2).
    Everything,
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
///
/// Costs are asked for in two ways. [`cost`](Machine::cost) is what a table says, in cycles. The other functions are
/// figures of formulas, for which more counts than one instruction: addresses have to be computed, and caches are not
/// always the nearest one. They were calibrated on a Zen 3, and are scaled by what the tables say of both CPUs.
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
    /// How many bits of neighbouring bytes, or of pairs of shorts and their products, it adds up in one instruction as
    /// x86 does; 0 if it has none for that.
    pub byte_sums: u32,
    /// Whether one instruction brings the bytes of each 16-byte block of a register into any order, as x86's `pshufb`
    /// does, and interleaved narrow elements are to be taken apart by that.
    pub byte_shuffles: bool,
    /// What elements of a vector it brings together under a mask.
    pub packing: Packing,
    /// Whether it multiplies and adds in one instruction, with one rounding.
    pub fused: bool,
    /// The CPU whose figures it has.
    pub cpu: &'static Cpu,
}

/// The machine that figures are calibrated on, of whose registers at most so many bits are used.
fn reference(register_bits: u32) -> Machine {
    let machine = Machine::of(cpus::reference());
    Machine { register_bits: register_bits.min(machine.register_bits), ..machine }
}

/// The widest vectors, in bits, that masks are kept in across blocks where there are no mask registers.
const MASK_BITS: u32 = 1024;

/// How many vector operations count as a cycle in the figures of [`Machine::operations`] and similar.
const CALIBRATED: f64 = 2.5;
/// How many scalar operations count as a cycle there.
const CALIBRATED_SCALAR: f64 = 4.0;
/// Dispatch is seldom as wide as it can be.
const DISPATCHED: f64 = 5.0 / 6.0;
/// Sums and products of floating-point numbers in scalar code have units of their own: together, so many times as many
/// begin as sums alone.
const SUMS_AND_PRODUCTS: f64 = 1.25;

impl Machine {
    /// Whether one instruction takes any bytes or shorts of two registers (`vpermt2b`). What packs bytes under masks has
    /// that, too: AVX512-VBMI came before VBMI2.
    #[must_use]
    pub fn permutes_bytes(&self) -> bool {
        self.register_bits == 512 && self.packing == Packing::Everything
    }

    /// A CPU with all that it has.
    #[must_use]
    pub fn of(cpu: &'static Cpu) -> Machine {
        let (registers, gathers, masks) = match cpu.register_bits {
            512 => (32, Gathers::Everything, Masks::Everything),
            256 => (16, Gathers::Avx2, Masks::Wide),
            _ => (16, Gathers::Nothing, Masks::Nothing),
        };
        let mask_registers = cpu.register_bits == 512;
        let register_bits = cpu.register_bits;
        let fused = cpu.table.has_vectors(Op::FusedMultiply, Element::F32);
        Machine {
            register_bits,
            registers,
            mask_registers,
            mask_bits: MASK_BITS,
            gathers,
            masks,
            byte_sums: 0,
            byte_shuffles: false,
            packing: Packing::Nothing,
            fused,
            cpu,
        }
    }

    /// How many registers the values of so many bits of all lanes fill.
    #[must_use]
    pub fn filled(&self, bits: u32, width: u32) -> u32 {
        // Values of absurd types fill enough to be left alone.
        let filled = (u64::from(bits) * u64::from(width)).div_ceil(u64::from(self.register_bits.max(1)));
        filled.min(1 << 16) as u32
    }

    /// Whether there are instructions for an operation on vectors of such elements.
    #[must_use]
    pub fn has(&self, op: Op, element: Element) -> bool {
        let allowed = match op {
            Op::Gather => match self.gathers {
                Gathers::Nothing => false,
                Gathers::Avx2 => element.bits() == 32,
                Gathers::Everything => element.bits() >= 32,
            },
            Op::Scatter => self.gathers == Gathers::Everything && element.bits() >= 32,
            Op::MaskedLoad | Op::MaskedStore => self.masks.serve(element.bits().into()),
            Op::FusedMultiply => self.fused,
            _ => true,
        };
        allowed && self.cpu.table.has_vectors(op, element)
    }

    /// What an operation costs on so many lanes: by vector instructions, or for one lane after the other. `None` if
    /// it is not known.
    #[must_use]
    pub fn cost(&self, op: Op, element: Element, lanes: Lanes) -> Option<Cost> {
        let table = |op, element| self.cpu.table.cost(op, element, lanes, self.register_bits);
        if lanes == Lanes::ONE || self.has(op, element) {
            return table(op, element);
        }
        // Narrow elements are accessed one by one as wider ones are.
        let accessed = if element.bits() < 32 { Element::I32 } else { element };
        match op {
            Op::Gather | Op::MaskedLoad | Op::Replicate => table(Op::Replicate, accessed),
            Op::Scatter | Op::MaskedStore | Op::ReplicatedStore => table(Op::ReplicatedStore, accessed),
            Op::FusedMultiply => {
                let [product, sum] = [table(Op::Multiply, element)?, table(Op::Add, element)?];
                let throughput = product.throughput + sum.throughput;
                Some(Cost { throughput, latency: product.latency + sum.latency })
            }
            _ => {
                let one = self.cpu.table.cost(op, element, Lanes::ONE, self.register_bits)?;
                let throughput = one.throughput * f64::from(lanes.min());
                Some(Cost { throughput, latency: one.latency + throughput - one.throughput })
            }
        }
    }

    /// What an operation costs on a full register.
    fn of_register(&self, op: Op, element: Element) -> Option<Cost> {
        self.cost(op, element, Lanes::fixed(self.register_bits / element.bits()))
    }

    /// How many times as long as on the reference an operation on a full register takes.
    fn relative(&self, op: Op, element: Element) -> f64 {
        let of = |machine: &Machine| machine.of_register(op, element).map(|cost| cost.throughput);
        ratio(of(self), of(&reference(self.register_bits)))
    }

    /// By how many cycles a division of a full register differs from one of as many lanes on the reference.
    fn difference(&self, element: Element, of: impl Fn(Cost) -> f64) -> f64 {
        let lanes = Lanes::fixed(self.register_bits / element.bits());
        let [this, other] =
            [*self, reference(self.register_bits)].map(|m| m.cost(Op::Divide, element, lanes).map(&of));
        this.zip(other).map_or(0.0, |(this, other)| this - other)
    }

    /// How many times as long as on the reference an operation takes for each lane of a register.
    fn relative_by_lane(&self, op: Op, element: Element) -> f64 {
        let reference = reference(self.register_bits);
        let of = |machine: &Machine| machine.in_table(op, element).map(|cost| cost.throughput);
        ratio(of(self), of(&reference)) * f64::from(reference.register_bits)
            / f64::from(self.register_bits.max(1))
    }

    /// What the table says of an operation on a full register, whether or not there is code for that: the reference's
    /// gathers of 64 bits are not used, and are what others are compared with.
    fn in_table(&self, op: Op, element: Element) -> Option<Cost> {
        let lanes = Lanes::fixed(self.register_bits / element.bits());
        self.cpu.table.cost(op, element, lanes, self.register_bits)
    }

    /// How many times as long as on the reference a scalar operation takes.
    fn relative_scalar(&self, op: Op, element: Element) -> f64 {
        let of = |machine: &Machine| machine.cost(op, element, Lanes::ONE).map(|cost| cost.throughput);
        ratio(of(self), of(&reference(self.register_bits)))
    }

    /// How many operations it begins in a cycle, of vector code with full registers: as its table says of sums, loads
    /// and stores.
    #[must_use]
    pub fn rates(&self) -> Rates {
        let rate = |op| self.of_register(op, Element::I32).map(|cost| 1.0 / cost.throughput);
        Rates {
            vector: self.vector_rate(),
            loads: rate(Op::Load).unwrap_or(2.0),
            stores: rate(Op::Store).unwrap_or(1.0),
            ..self.scalar_rates()
        }
    }

    /// How many vector additions begin in a cycle.
    fn vector_rate(&self) -> f64 {
        self.of_register(Op::Add, Element::I32).map_or(CALIBRATED, |cost| 1.0 / cost.throughput)
    }

    /// How many operations it begins in a cycle, of scalar code.
    #[must_use]
    pub fn scalar_rates(&self) -> Rates {
        let rate = |op, element| self.cost(op, element, Lanes::ONE).map(|cost| 1.0 / cost.throughput);
        Rates {
            vector: rate(Op::Add, Element::F32).map_or(CALIBRATED, |rate| SUMS_AND_PRODUCTS * rate),
            scalar: self.cpu.core.integers,
            loads: rate(Op::Load, Element::I64).unwrap_or(2.0),
            stores: rate(Op::Store, Element::I64).unwrap_or(1.0),
            all: DISPATCHED * self.cpu.core.dispatch,
        }
    }

    /// How many operations it begins while one of those is done that [`operations`](Machine::operations) and
    /// [`lane_operations`](Machine::lane_operations) count.
    #[must_use]
    pub fn pace(&self) -> f64 {
        self.vector_rate() / CALIBRATED
    }

    /// How many times as many scalar operations begin in a cycle as the figures of
    /// [`scalar_operations`](Machine::scalar_operations) count on, for floating-point numbers and for others.
    #[must_use]
    pub fn scalar_pace(&self, is_float: bool) -> f64 {
        let rates = self.scalar_rates();
        if is_float { rates.vector / CALIBRATED } else { rates.scalar / CALIBRATED_SCALAR }
    }

    /// What an operation on a full register takes, in ordinary vector operations.
    #[must_use]
    pub fn operations(&self, op: Op, element: Element) -> f64 {
        let calibrated = match op {
            Op::Divide | Op::SquareRoot if element == Element::F64 => 14.0,
            Op::Divide | Op::SquareRoot if element.is_float() => 8.0,
            // There is no product of bytes, and mostly none of 64 bits.
            Op::Multiply if matches!(element, Element::I8 | Element::I64) => 3.0,
            Op::Mathematics => return 30.0,
            Op::MaskedStore => 12.0 * CALIBRATED,
            _ => return 1.0,
        };
        calibrated * self.relative(op, element)
    }

    /// What an operation that is done for one lane after the other takes for each, in ordinary vector operations.
    #[must_use]
    pub fn lane_operations(&self, op: Op, element: Element) -> f64 {
        let accessed = if element.bits() < 32 { Element::I32 } else { element };
        let (calibrated, relative) = match op {
            // Integers are divided as numbers of 64 bits, and converted there and back.
            Op::Divide => {
                let lanes = f64::from(self.register_bits / Element::F64.bits());
                let quotient = self.difference(Element::F64, |cost| cost.throughput);
                return (12.0 + CALIBRATED * quotient / lanes).max(1.0);
            }
            Op::Remainder => (40.0, self.relative_scalar(op, element)),
            Op::Gather => (1.2 * CALIBRATED, self.relative_by_lane(op, accessed)),
            Op::Replicate | Op::ReplicatedStore => (1.4 * CALIBRATED, self.relative_by_lane(op, accessed)),
            _ => return 1.0,
        };
        calibrated * relative
    }

    /// What an operation takes in scalar code, in ordinary scalar operations; divisions and roots of floating-point
    /// numbers in vector operations.
    #[must_use]
    pub fn scalar_operations(&self, op: Op, element: Element) -> f64 {
        // LLVM divides integers of 64 bits as such of 32 bits where they fit.
        let row = if op == Op::Divide && !element.is_float() { Element::I32 } else { element };
        let calibrated = match op {
            Op::Divide | Op::SquareRoot if element == Element::F64 => 11.2,
            Op::Divide | Op::SquareRoot if element.is_float() => 6.4,
            Op::Divide if element == Element::I64 => 40.0,
            Op::Divide => 24.0,
            Op::Remainder | Op::Mathematics => 100.0,
            Op::Call => 20.0,
            _ => return 1.0,
        };
        calibrated * self.relative_scalar(op, row)
    }

    /// Cycles until a result is there, in vectors.
    #[must_use]
    pub fn latency(&self, op: Op, element: Element) -> f64 {
        let (calibrated, element) = match op {
            // There and back by floating-point numbers.
            Op::Divide if !element.is_float() => {
                return 40.0 + self.difference(Element::F64, |cost| cost.latency);
            }
            Op::Divide => (14.0, element),
            Op::Multiply if element == Element::I64 => (8.0, element),
            Op::Multiply if !element.is_float() => (5.0, element),
            Op::Add | Op::Multiply if element.is_float() => (4.0, element),
            Op::Compare => return 2.0,
            Op::Convert => (3.0, Element::F32),
            // Nothing is known of how loads for one lane after the other overlap.
            Op::Gather if !self.has(op, element) => return 24.0,
            Op::Gather => (24.0, element),
            Op::Load => {
                let core = reference(self.register_bits).cpu.core;
                return 6.0 * self.cpu.core.load / core.load;
            }
            Op::Remainder => return 14.0,
            Op::Call | Op::Mathematics => return 30.0,
            _ => return 1.0,
        };
        let of = |machine: &Machine| match op {
            Op::Gather => machine.in_table(op, element),
            _ => machine.of_register(op, element),
        };
        let [this, other] = [*self, reference(self.register_bits)].map(|m| of(&m).map(|cost| cost.latency));
        let ratio = ratio(this, other);
        // A chain that is just long enough to be hidden is not: what is faster elsewhere counts as on the reference.
        calibrated * if matches!(op, Op::Add | Op::Multiply) { ratio.max(1.0) } else { ratio }
    }

    /// Cycles until the result of a scalar division of integers is there.
    #[must_use]
    pub fn scalar_division_latency(&self) -> f64 {
        let of =
            |machine: &Machine| machine.cost(Op::Divide, Element::I32, Lanes::ONE).map(|cost| cost.latency);
        12.0 * ratio(of(self), of(&reference(self.register_bits)))
    }

    /// Cycles that are lost where a branch is mispredicted.
    #[must_use]
    pub fn misprediction(&self) -> f64 {
        // What follows has to come through the pipeline to where it can begin.
        self.cpu.core.misprediction + 2.0
    }

    /// How many operations it looks at together, to begin with some before others have ended.
    #[must_use]
    pub fn window(&self) -> f64 {
        // Some are begun as one.
        1.25 * self.cpu.core.window
    }

    /// Cycles that a partial group takes longer for each register that it stores under a mask.
    #[must_use]
    pub fn masked_store_delay(&self, element: Element) -> f64 {
        20.0 * self.relative(Op::MaskedStore, element)
    }

    /// Cycles for each lane of an access to neighbours under a mask that there is no instruction for.
    #[must_use]
    pub fn branched_lane_delay(&self) -> f64 {
        3.0
    }

    /// Bits of a cache line: the same for all CPUs that there are tables for.
    #[must_use]
    pub fn line_bits(&self) -> u32 {
        512
    }
}

/// How many times as large a figure is as another one; 1 if either is not known.
fn ratio(this: Option<f64>, other: Option<f64>) -> f64 {
    this.zip(other).map_or(1.0, |(this, other)| this / other)
}

/// A machine with AVX2, where nothing else is known.
impl Default for Machine {
    fn default() -> Machine {
        Machine {
            register_bits: 256,
            registers: 16,
            mask_registers: false,
            mask_bits: MASK_BITS,
            gathers: Gathers::default(),
            masks: Masks::default(),
            byte_sums: 0,
            byte_shuffles: false,
            packing: Packing::Nothing,
            fused: true,
            cpu: cpus::reference(),
        }
    }
}

#[cfg(test)]
mod tests;
