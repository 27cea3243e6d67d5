//! Types of numbers, as a source and a caller in Rust say them.

use std::fmt;

/// The type of a number. `usize` and `isize` are those of 64 bits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Number {
    /// `bool`.
    Bool,
    /// `i8`.
    I8,
    /// `u8`.
    U8,
    /// `i16`.
    I16,
    /// `u16`.
    U16,
    /// `i32`.
    I32,
    /// `u32`.
    U32,
    /// `i64`.
    I64,
    /// `u64`.
    U64,
    /// `f32`.
    F32,
    /// `f64`.
    F64,
}

impl Number {
    /// The integer of so many bits.
    pub(crate) fn integer(bits: u64, signed: bool) -> Option<Number> {
        Some(match (bits, signed) {
            (8, true) => Number::I8,
            (8, false) => Number::U8,
            (16, true) => Number::I16,
            (16, false) => Number::U16,
            (32, true) => Number::I32,
            (32, false) => Number::U32,
            (64, true) => Number::I64,
            (64, false) => Number::U64,
            _ => return None,
        })
    }

    /// The number of this name in Rust.
    pub(crate) fn named(name: &str) -> Option<Number> {
        Some(match name {
            "bool" => Number::Bool,
            "f32" => Number::F32,
            "f64" => Number::F64,
            "usize" => Number::U64,
            "isize" => Number::I64,
            _ => {
                let (sign, bits) = name.split_at_checked(1)?;
                let signed = sign == "i";
                return bits
                    .parse()
                    .ok()
                    .filter(|_| signed || sign == "u")
                    .and_then(|n| Number::integer(n, signed));
            }
        })
    }

    /// The type of LLVM's that it is passed as, and how it fills a register.
    pub(crate) fn in_llvm(self) -> (&'static str, &'static str) {
        match self {
            Number::Bool => ("i1", "zeroext"),
            Number::I8 => ("i8", "signext"),
            Number::U8 => ("i8", "zeroext"),
            Number::I16 => ("i16", "signext"),
            Number::U16 => ("i16", "zeroext"),
            Number::I32 | Number::U32 => ("i32", ""),
            Number::I64 | Number::U64 => ("i64", ""),
            Number::F32 => ("float", ""),
            Number::F64 => ("double", ""),
        }
    }

    /// Whether a value of that type is one of this, up to what its highest bit means.
    pub(crate) fn has_layout_of(self, other: Number) -> bool {
        self.in_llvm().0 == other.in_llvm().0
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Number::Bool => "bool",
            Number::I8 => "i8",
            Number::U8 => "u8",
            Number::I16 => "i16",
            Number::U16 => "u16",
            Number::I32 => "i32",
            Number::U32 => "u32",
            Number::I64 => "i64",
            Number::U64 => "u64",
            Number::F32 => "f32",
            Number::F64 => "f64",
        })
    }
}
