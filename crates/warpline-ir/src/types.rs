//! Types: small `Copy` values; aggregates are interned in the module's [`TypeTable`].

use std::collections::HashMap;

use cranelift_entity::{PrimaryMap, entity_impl};

/// An interned aggregate type of a [`TypeTable`].
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Aggregate(u32);
entity_impl!(Aggregate, "agg");

/// An interned type that the IR carries but does not model (tokens, metadata, target types, functions).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OtherType(u32);
entity_impl!(OtherType, "other");

/// The floating-point formats of LLVM.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FloatKind {
    /// IEEE binary16.
    Half,
    /// bfloat16.
    BFloat,
    /// IEEE binary32.
    Float,
    /// IEEE binary64.
    Double,
    /// x87 80-bit extended.
    X86Fp80,
    /// IEEE binary128.
    Fp128,
    /// Two doubles (PowerPC).
    PpcFp128,
}

impl FloatKind {
    /// Width of the value in bits (80 for `x86_fp80`).
    pub fn bits(self) -> u32 {
        match self {
            FloatKind::Half | FloatKind::BFloat => 16,
            FloatKind::Float => 32,
            FloatKind::Double => 64,
            FloatKind::X86Fp80 => 80,
            FloatKind::Fp128 | FloatKind::PpcFp128 => 128,
        }
    }

    /// LLVM's name of the type.
    pub fn name(self) -> &'static str {
        match self {
            FloatKind::Half => "half",
            FloatKind::BFloat => "bfloat",
            FloatKind::Float => "float",
            FloatKind::Double => "double",
            FloatKind::X86Fp80 => "x86_fp80",
            FloatKind::Fp128 => "fp128",
            FloatKind::PpcFp128 => "ppc_fp128",
        }
    }
}

/// A type that can be an element of a vector.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scalar {
    /// An integer of the given width in bits.
    Int(u32),
    /// A floating-point number.
    Float(FloatKind),
    /// A pointer into the given address space.
    Ptr(u32),
}

/// A vector type: `lanes` elements (times `vscale` if scalable).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VectorType {
    /// The element type.
    pub elem: Scalar,
    /// The number of elements (the minimum, if scalable).
    pub lanes: u32,
    /// Whether the number of elements is a multiple unknown at compile time.
    pub scalable: bool,
}

/// The type of a value.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Type {
    /// No value.
    Void,
    /// An integer of the given width in bits.
    Int(u32),
    /// A floating-point number.
    Float(FloatKind),
    /// A pointer into the given address space.
    Ptr(u32),
    /// A vector.
    Vector(VectorType),
    /// A structure or array, interned in the module's [`TypeTable`].
    Aggregate(Aggregate),
    /// A type that is carried but not modelled, interned in the module's [`TypeTable`].
    Other(OtherType),
}

impl From<Scalar> for Type {
    fn from(s: Scalar) -> Type {
        match s {
            Scalar::Int(w) => Type::Int(w),
            Scalar::Float(k) => Type::Float(k),
            Scalar::Ptr(a) => Type::Ptr(a),
        }
    }
}

impl Type {
    /// The type of booleans and masks.
    pub const BOOL: Type = Type::Int(1);
    /// A pointer into address space 0.
    pub const PTR: Type = Type::Ptr(0);
    /// IEEE binary32.
    pub const F32: Type = Type::Float(FloatKind::Float);
    /// IEEE binary64.
    pub const F64: Type = Type::Float(FloatKind::Double);

    /// This type as a vector element, if it can be one.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Type::Int(w) => Some(Scalar::Int(w)),
            Type::Float(k) => Some(Scalar::Float(k)),
            Type::Ptr(a) => Some(Scalar::Ptr(a)),
            _ => None,
        }
    }

    /// The scalar itself, or the element type of a vector; `None` for anything else.
    pub fn elem(self) -> Option<Scalar> {
        match self {
            Type::Vector(v) => Some(v.elem),
            _ => self.scalar(),
        }
    }

    /// A fixed vector of `lanes` elements of this scalar type; `None` if this is no scalar.
    pub fn vector(self, lanes: u32) -> Option<Type> {
        Some(Type::Vector(VectorType { elem: self.scalar()?, lanes, scalable: false }))
    }

    /// The width in bits of an integer or a vector's integer elements.
    pub fn int_bits(self) -> Option<u32> {
        match self.elem()? {
            Scalar::Int(w) => Some(w),
            _ => None,
        }
    }

    /// Whether this is `void`.
    pub fn is_void(self) -> bool {
        self == Type::Void
    }

    /// Whether this is an integer scalar.
    pub fn is_int(self) -> bool {
        matches!(self, Type::Int(_))
    }

    /// Whether this is a floating-point scalar.
    pub fn is_float(self) -> bool {
        matches!(self, Type::Float(_))
    }

    /// Whether this is a pointer scalar.
    pub fn is_ptr(self) -> bool {
        matches!(self, Type::Ptr(_))
    }
}

/// The structure of an aggregate type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum AggregateType {
    /// `[len x elem]`
    Array {
        /// The element type (any sized type).
        elem: Type,
        /// The number of elements.
        len: u64,
    },
    /// `{ … }` or `<{ … }>`; named ones are identified by their name.
    Struct {
        /// The name of an identified structure.
        name: Option<Box<str>>,
        /// The field types; `None` for an opaque structure.
        fields: Option<Vec<Type>>,
        /// Whether there is no padding between fields.
        packed: bool,
    },
}

/// Interner of aggregate types and of types that are carried by their text only.
#[derive(Clone, Default, Debug)]
pub struct TypeTable {
    aggregates: PrimaryMap<Aggregate, AggregateType>,
    by_structure: HashMap<AggregateType, Aggregate>,
    others: PrimaryMap<OtherType, Box<str>>,
    by_text: HashMap<Box<str>, OtherType>,
}

impl TypeTable {
    /// Interns an aggregate type.
    pub fn aggregate(&mut self, ty: AggregateType) -> Type {
        if let Some(&a) = self.by_structure.get(&ty) {
            return Type::Aggregate(a);
        }
        let a = self.aggregates.push(ty.clone());
        self.by_structure.insert(ty, a);
        Type::Aggregate(a)
    }

    /// Interns the array type `[len x elem]`.
    pub fn array(&mut self, elem: Type, len: u64) -> Type {
        self.aggregate(AggregateType::Array { elem, len })
    }

    /// Interns the anonymous structure type with these fields.
    pub fn structure(&mut self, fields: Vec<Type>, packed: bool) -> Type {
        self.aggregate(AggregateType::Struct { name: None, fields: Some(fields), packed })
    }

    /// Interns a type that is known by its text only.
    pub fn other(&mut self, text: &str) -> Type {
        if let Some(&o) = self.by_text.get(text) {
            return Type::Other(o);
        }
        let o = self.others.push(text.into());
        self.by_text.insert(text.into(), o);
        Type::Other(o)
    }

    /// The structure of an aggregate.
    pub fn get(&self, a: Aggregate) -> &AggregateType {
        &self.aggregates[a]
    }

    /// The text of a type that is not modelled.
    pub fn other_text(&self, o: OtherType) -> &str {
        &self.others[o]
    }

    /// All types that are carried by their text.
    pub fn others(&self) -> impl Iterator<Item = (OtherType, &str)> {
        self.others.iter().map(|(id, text)| (id, &**text))
    }

    /// All aggregates, in the order in which they were interned (operands before users).
    pub fn aggregates(&self) -> impl Iterator<Item = (Aggregate, &AggregateType)> {
        self.aggregates.iter()
    }

    /// The type of member `index` of an aggregate or vector; `None` if there is no such member.
    pub fn member(&self, ty: Type, index: u64) -> Option<Type> {
        match ty {
            Type::Vector(v) => (v.scalable || index < u64::from(v.lanes)).then(|| v.elem.into()),
            Type::Aggregate(a) => match self.get(a) {
                AggregateType::Array { elem, len } => (index < *len).then_some(*elem),
                AggregateType::Struct { fields, .. } => {
                    fields.as_ref()?.get(usize::try_from(index).ok()?).copied()
                }
            },
            _ => None,
        }
    }
}
