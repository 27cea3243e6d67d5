//! Operations and elements that tables of costs have rows for.

/// The type of a vector's elements.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Element {
    /// An integer of 8 bits.
    I8,
    /// An integer of 16 bits.
    I16,
    /// An integer of 32 bits.
    I32,
    /// An integer of 64 bits, or an address.
    I64,
    /// A floating-point number of 32 bits.
    F32,
    /// A floating-point number of 64 bits.
    F64,
}

impl Element {
    /// All.
    pub const ALL: [Element; 6] =
        [Element::I8, Element::I16, Element::I32, Element::I64, Element::F32, Element::F64];

    /// An integer that has room for so many bits.
    #[must_use]
    pub fn int(bits: u32) -> Element {
        match bits {
            0..=8 => Element::I8,
            9..=16 => Element::I16,
            17..=32 => Element::I32,
            _ => Element::I64,
        }
    }

    /// A floating-point number: those of up to 32 bits are computed with as `float`, wider ones as `double`.
    #[must_use]
    pub fn float(bits: u32) -> Element {
        if bits <= 32 { Element::F32 } else { Element::F64 }
    }

    /// How many bits it has.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Element::I8 => 8,
            Element::I16 => 16,
            Element::I32 | Element::F32 => 32,
            Element::I64 | Element::F64 => 64,
        }
    }

    /// Whether it is a floating-point number.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Element::F32 | Element::F64)
    }

    /// The name in tables, as LLVM and Rust write such types.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Element::I8 => "i8",
            Element::I16 => "i16",
            Element::I32 => "i32",
            Element::I64 => "i64",
            Element::F32 => "f32",
            Element::F64 => "f64",
        }
    }
}

/// What an operation takes, in cycles.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Cost {
    /// Until the next independent one can begin.
    pub throughput: f64,
    /// Until its result is there.
    pub latency: f64,
}

/// Declares the operations with their names in tables.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident $text:literal,)*) => {
        /// An operation that tables of costs have rows for.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Op {
            $($(#[$doc])* $name,)*
        }

        impl Op {
            /// All.
            pub const ALL: &[Op] = &[$(Op::$name,)*];

            /// The name in tables.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Op::$name => $text,)*
                }
            }
        }
    };
}

operations! {
    /// A sum.
    Add "add",
    /// A product.
    Multiply "multiply",
    /// A product and a sum with one rounding.
    FusedMultiply "fma",
    /// A quotient.
    Divide "divide",
    /// The rest of a division of floating-point numbers.
    Remainder "remainder",
    /// A square root.
    SquareRoot "sqrt",
    /// A comparison, and a selection by its result.
    Compare "compare",
    /// Floating-point numbers to integers of 32 bits, and back.
    Convert "convert",
    /// Integers of half the size to such ones, and back.
    Widen "widen",
    /// Elements of a register in another order.
    Shuffle "shuffle",
    /// A load of neighbours.
    Load "load",
    /// A store of neighbours.
    Store "store",
    /// A load of neighbours under a mask.
    MaskedLoad "masked-load",
    /// A store of neighbours under a mask.
    MaskedStore "masked-store",
    /// An instruction that loads from addresses in a vector.
    Gather "gather",
    /// An instruction that stores to addresses in a vector.
    Scatter "scatter",
    /// A load for one lane after the other from addresses in a vector.
    Replicate "replicated-load",
    /// A store for one lane after the other to addresses in a vector.
    ReplicatedStore "replicated-store",
    /// Loads of every other element: two registers are loaded and shuffled.
    Interleave "interleaved-load",
    /// Whether a mask has a lane.
    Any "any",
    /// A call of a function that does nothing.
    Call "call",
    /// A function of a library of mathematics, such as `exp`.
    Mathematics "mathematics",
}
