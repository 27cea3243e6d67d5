//! Constants.

use super::entities::{Origin, Symbol};
use super::types::{FloatKind, Type};

/// A constant. Interned per function; its value has the type [`Constant::ty`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Constant {
    /// An integer of at most 128 bits; bits above the width are zero.
    Int {
        /// Width in bits, 1 to 128.
        bits: u32,
        /// The value, zero-extended.
        value: u128,
    },
    /// An integer wider than 128 bits, little-endian words, bits above the width zero.
    WideInt {
        /// Width in bits, above 128.
        bits: u32,
        /// `ceil(bits / 64)` words, least significant first.
        words: Vec<u64>,
    },
    /// A floating-point number by its bit pattern.
    Float {
        /// The format.
        kind: FloatKind,
        /// The bits, zero-extended.
        bits: u128,
    },
    /// The null pointer of an address space.
    Null(u32),
    /// `undef` of a type.
    Undef(Type),
    /// `poison` of a type.
    Poison(Type),
    /// `zeroinitializer` of an aggregate or vector.
    Zero(Type),
    /// The address of a symbol plus a byte offset.
    Address {
        /// The symbol.
        symbol: Symbol,
        /// Offset in bytes.
        offset: i64,
        /// Address space of the pointer.
        space: u32,
        /// The LLVM constant this stands for, if it is more than the plain symbol.
        origin: Option<Origin>,
    },
    /// An aggregate or vector with these elements.
    Composite {
        /// The type.
        ty: Type,
        /// The elements, in order; their number is the type's.
        elems: Vec<Constant>,
    },
    /// A constant that is carried but not modelled.
    Opaque {
        /// The type.
        ty: Type,
        /// Handle for the bridge.
        origin: Origin,
    },
}

impl Constant {
    /// The integer constant `value`, truncated to `bits` (at most 128).
    pub fn int(bits: u32, value: u128) -> Constant {
        debug_assert!((1..=128).contains(&bits));
        let value = if bits >= 128 { value } else { value & ((1 << bits) - 1) };
        Constant::Int { bits, value }
    }

    /// An integer or floating-point number of this type by its bits; zero of any other type.
    pub fn number(ty: Type, bits: u128) -> Constant {
        match ty {
            Type::Float(kind) => Constant::Float { kind, bits },
            Type::Int(width) => Constant::int(width, bits),
            _ => Constant::Zero(ty),
        }
    }

    /// A boolean.
    pub fn bool(value: bool) -> Constant {
        Constant::int(1, u128::from(value))
    }

    /// The vector constant with these elements, all of one scalar type. `elems` must not be empty.
    pub fn vector(elems: Vec<Constant>) -> Constant {
        let ty = elems[0].ty().vector(elems.len() as u32).expect("elements of a vector constant are scalars");
        Constant::Composite { ty, elems }
    }

    /// The type of the constant.
    pub fn ty(&self) -> Type {
        match *self {
            Constant::Int { bits, .. } | Constant::WideInt { bits, .. } => Type::Int(bits),
            Constant::Float { kind, .. } => Type::Float(kind),
            Constant::Null(space) | Constant::Address { space, .. } => Type::Ptr(space),
            Constant::Undef(ty) | Constant::Poison(ty) | Constant::Zero(ty) => ty,
            Constant::Composite { ty, .. } | Constant::Opaque { ty, .. } => ty,
        }
    }

    /// The value if this is the integer constant of at most 128 bits, zero-extended.
    pub fn as_int(&self) -> Option<u128> {
        match *self {
            Constant::Int { value, .. } => Some(value),
            _ => None,
        }
    }
}
