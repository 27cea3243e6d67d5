//! Operations and what they carry.
//!
//! Operand conventions are stated at each [`Op`]; results have the type of the instruction's result values.
//! Semantics are LLVM's (poison, undef, flags) unless an operation is our own.

use super::effects::Effects;
use super::entities::{Symbol, Var};
use super::lane::LaneOp;
use super::types::Type;

bitflags::bitflags! {
    /// Poison-generating and fast-math flags of an instruction, as in LLVM.
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct InstFlags: u32 {
        /// No unsigned wrap (`add`, `sub`, `mul`, `shl`, `trunc`, `getelementptr`).
        const NUW = 1 << 0;
        /// No signed wrap (`add`, `sub`, `mul`, `shl`, `trunc`).
        const NSW = 1 << 1;
        /// No remainder (`sdiv`, `udiv`) or no bits lost (`lshr`, `ashr`).
        const EXACT = 1 << 2;
        /// No bit set in both operands (`or`).
        const DISJOINT = 1 << 3;
        /// The operand is not negative (`zext`, `uitofp`).
        const NNEG = 1 << 4;
        /// Both operands have the same sign (`icmp`).
        const SAMESIGN = 1 << 5;
        /// `getelementptr inbounds` (implies `nusw`).
        const INBOUNDS = 1 << 6;
        /// `getelementptr nusw`.
        const NUSW = 1 << 7;
        /// Fast-math: reassociation allowed.
        const REASSOC = 1 << 8;
        /// Fast-math: no NaNs.
        const NNAN = 1 << 9;
        /// Fast-math: no infinities.
        const NINF = 1 << 10;
        /// Fast-math: the sign of zero does not matter.
        const NSZ = 1 << 11;
        /// Fast-math: reciprocals allowed.
        const ARCP = 1 << 12;
        /// Fast-math: contraction allowed.
        const CONTRACT = 1 << 13;
        /// Fast-math: approximate functions allowed.
        const AFN = 1 << 14;
    }
}

impl InstFlags {
    /// All fast-math flags.
    pub const FAST: InstFlags = InstFlags::REASSOC
        .union(InstFlags::NNAN)
        .union(InstFlags::NINF)
        .union(InstFlags::NSZ)
        .union(InstFlags::ARCP)
        .union(InstFlags::CONTRACT)
        .union(InstFlags::AFN);
}

/// Declares a field-less enum whose variants have LLVM's keyword as name.
macro_rules! named_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }
        impl $name {
            /// All variants, in declaration order.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// The keyword of the text form (LLVM's, where LLVM has one).
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
            /// The variant of this keyword.
            pub fn from_name(text: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|v| v.name() == text)
            }
        }
    };
}

named_enum! {
    /// Two-operand arithmetic on integers or floating-point numbers, scalars or vectors.
    BinaryOp {
        /// Integer addition.
        Add = "add",
        /// Integer subtraction.
        Sub = "sub",
        /// Integer multiplication.
        Mul = "mul",
        /// Unsigned division.
        UDiv = "udiv",
        /// Signed division.
        SDiv = "sdiv",
        /// Unsigned remainder.
        URem = "urem",
        /// Signed remainder.
        SRem = "srem",
        /// Shift left.
        Shl = "shl",
        /// Logical shift right.
        LShr = "lshr",
        /// Arithmetic shift right.
        AShr = "ashr",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// Floating-point addition.
        FAdd = "fadd",
        /// Floating-point subtraction.
        FSub = "fsub",
        /// Floating-point multiplication.
        FMul = "fmul",
        /// Floating-point division.
        FDiv = "fdiv",
        /// Floating-point remainder (`fmod`).
        FRem = "frem",
    }
}

impl BinaryOp {
    /// Whether this is one of the four integer divisions, which have undefined behaviour for some operands.
    pub fn is_int_division(self) -> bool {
        matches!(self, BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem)
    }

    /// Whether this works on floating-point numbers.
    pub fn is_float(self) -> bool {
        matches!(self, BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv | BinaryOp::FRem)
    }
}

named_enum! {
    /// Integer comparison predicates.
    IntPred {
        /// Equal.
        Eq = "eq",
        /// Not equal.
        Ne = "ne",
        /// Unsigned greater.
        Ugt = "ugt",
        /// Unsigned greater or equal.
        Uge = "uge",
        /// Unsigned less.
        Ult = "ult",
        /// Unsigned less or equal.
        Ule = "ule",
        /// Signed greater.
        Sgt = "sgt",
        /// Signed greater or equal.
        Sge = "sge",
        /// Signed less.
        Slt = "slt",
        /// Signed less or equal.
        Sle = "sle",
    }
}

named_enum! {
    /// Floating-point comparison predicates (`o`: ordered and, `u`: unordered or).
    FloatPred {
        /// Always false.
        False = "false",
        /// Ordered and equal.
        Oeq = "oeq",
        /// Ordered and greater.
        Ogt = "ogt",
        /// Ordered and greater or equal.
        Oge = "oge",
        /// Ordered and less.
        Olt = "olt",
        /// Ordered and less or equal.
        Ole = "ole",
        /// Ordered and not equal.
        One = "one",
        /// Ordered.
        Ord = "ord",
        /// Unordered or equal.
        Ueq = "ueq",
        /// Unordered or greater.
        Ugt = "ugt",
        /// Unordered or greater or equal.
        Uge = "uge",
        /// Unordered or less.
        Ult = "ult",
        /// Unordered or less or equal.
        Ule = "ule",
        /// Unordered or not equal.
        Une = "une",
        /// Unordered.
        Uno = "uno",
        /// Always true.
        True = "true",
    }
}

named_enum! {
    /// Conversions.
    CastOp {
        /// Integer truncation.
        Trunc = "trunc",
        /// Zero extension.
        ZExt = "zext",
        /// Sign extension.
        SExt = "sext",
        /// Float to unsigned integer.
        FpToUi = "fptoui",
        /// Float to signed integer.
        FpToSi = "fptosi",
        /// Unsigned integer to float.
        UiToFp = "uitofp",
        /// Signed integer to float.
        SiToFp = "sitofp",
        /// Float truncation.
        FpTrunc = "fptrunc",
        /// Float extension.
        FpExt = "fpext",
        /// Pointer to integer.
        PtrToInt = "ptrtoint",
        /// Pointer to integer, address bits only.
        PtrToAddr = "ptrtoaddr",
        /// Integer to pointer.
        IntToPtr = "inttoptr",
        /// Reinterpretation of the bits.
        Bitcast = "bitcast",
        /// Pointer into another address space.
        AddrSpaceCast = "addrspacecast",
    }
}

named_enum! {
    /// Memory orderings of loads and stores.
    AtomicOrdering {
        /// Not atomic.
        NotAtomic = "notatomic",
        /// Atomic, unordered.
        Unordered = "unordered",
        /// Atomic, relaxed.
        Monotonic = "monotonic",
        /// Atomic acquire.
        Acquire = "acquire",
        /// Atomic release.
        Release = "release",
        /// Atomic, acquire and release.
        AcqRel = "acq_rel",
        /// Atomic, sequentially consistent.
        SeqCst = "seq_cst",
    }
}

named_enum! {
    /// What an `atomicrmw` makes of the old value in memory and its operand.
    RmwOp {
        /// The operand.
        Xchg = "xchg",
        /// The sum.
        Add = "add",
        /// The old value less the operand.
        Sub = "sub",
        /// Bitwise and.
        And = "and",
        /// The complement of bitwise and.
        Nand = "nand",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// The greater of two signed numbers.
        Max = "max",
        /// The smaller of two signed numbers.
        Min = "min",
        /// The greater of two unsigned numbers.
        UMax = "umax",
        /// The smaller of two unsigned numbers.
        UMin = "umin",
        /// The floating-point sum.
        FAdd = "fadd",
        /// The floating-point difference.
        FSub = "fsub",
    }
}

/// What an atomic operation does that is carried as an [opaque](OpaqueInfo) instruction, among all threads of the
/// system.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Atomic {
    /// `address, x` → the old value. Where it is not atomic for other threads, which do not access this memory, it is
    /// still one step among lanes.
    Rmw {
        /// What is made of the old value and `x`.
        op: RmwOp,
        /// How memory is accessed.
        access: MemAccess,
    },
    /// `address, expected, new` → `{ old value, i1 }`, true if it was the expected one and the new one was stored.
    CompareExchange {
        /// How memory is accessed, if it holds what was expected.
        access: MemAccess,
        /// The ordering if it does not.
        failure: AtomicOrdering,
        /// Whether it may fail although memory holds what was expected.
        weak: bool,
    },
    /// Orders other accesses.
    Fence(AtomicOrdering),
}

/// How a load or store accesses memory.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct MemAccess {
    /// Alignment in bytes, a power of two.
    pub align: u64,
    /// Whether every execution is observable.
    pub is_volatile: bool,
    /// Of a load: whether the program may not load there, so that nothing follows from it. What no object has is
    /// poison. That the machine can read it is for whoever makes the load to know.
    pub is_speculative: bool,
    /// Whether what is accessed is not expected to be accessed again soon, so that caches need not keep it. A hint.
    pub is_nontemporal: bool,
    /// Ordering; synchronisation scopes other than the default make loads and stores opaque.
    pub ordering: AtomicOrdering,
}

impl MemAccess {
    /// A plain access of this alignment in bytes.
    pub fn plain(align: u64) -> MemAccess {
        MemAccess {
            align,
            is_volatile: false,
            is_speculative: false,
            is_nontemporal: false,
            ordering: AtomicOrdering::NotAtomic,
        }
    }

    /// Whether the access is neither volatile nor atomic.
    pub fn is_simple(&self) -> bool {
        !self.is_volatile && self.ordering == AtomicOrdering::NotAtomic
    }
}

/// A call that may be replicated with other operands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CallInfo {
    /// The callee; `None` for an indirect call, whose callee is then the **last** operand.
    pub callee: Option<Symbol>,
    /// What the call may do.
    pub effects: Effects,
    /// Number of fixed parameters of a variadic callee; `None` if it is not variadic.
    pub variadic_fixed: Option<u32>,
}

/// An instruction that is carried, not modelled; of atomic operations it is known what they do to memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OpaqueInfo {
    /// LLVM's opcode, for messages and the text form, e.g. `atomicrmw`.
    pub name: Box<str>,
    /// What it may do.
    pub effects: Effects,
    /// What it does, if it is an atomic operation that names no synchronisation scope.
    pub atomic: Option<Atomic>,
}

impl OpaqueInfo {
    /// How a call is named that must stay the last thing that its function does.
    pub const MUST_TAIL: &'static str = "call musttail";

    /// How inline assembly is named that has no instructions: its outputs that are inputs are these, and it does
    /// nothing.
    pub const EMPTY_ASSEMBLY: &'static str = "call asm empty";

    /// Whether it is inline assembly.
    pub fn is_assembly(&self) -> bool {
        matches!(&*self.name, "call asm" | "invoke asm" | "callbr asm" | OpaqueInfo::EMPTY_ASSEMBLY)
    }

    /// Whether it is a call of a function; inline assembly is none.
    pub fn is_call(&self) -> bool {
        matches!(&*self.name, "call" | OpaqueInfo::MUST_TAIL | "invoke" | "callbr")
    }

    /// An instruction of which nothing but its name and effects is known.
    pub fn new(name: &str, effects: Effects) -> OpaqueInfo {
        OpaqueInfo { name: name.into(), effects, atomic: None }
    }

    /// An atomic operation.
    pub fn atomic(atomic: Atomic) -> OpaqueInfo {
        let memory = Effects::READS | Effects::WRITES | Effects::ATOMIC;
        let access = memory | Effects::TRAPS | Effects::UNKNOWN_RESULT;
        let (name, effects) = match atomic {
            Atomic::Rmw { .. } => ("atomicrmw", access),
            Atomic::CompareExchange { .. } => ("cmpxchg", access),
            Atomic::Fence(_) => ("fence", memory),
        };
        OpaqueInfo { name: name.into(), effects, atomic: Some(atomic) }
    }
}

/// What an instruction does. Operands are `InstData::args`, in the order given here.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// φ-function: no `args`; its operands are on the in-edges of its block.
    Phi,
    /// `lhs, rhs`
    Binary(BinaryOp),
    /// `x`: floating-point negation.
    FNeg,
    /// `lhs, rhs` → `i1` (or a vector of it)
    ICmp(IntPred),
    /// `lhs, rhs` → `i1` (or a vector of it)
    FCmp(FloatPred),
    /// `cond, if_true, if_false`
    Select,
    /// `x`
    Freeze,
    /// `x`; the result's type is the target type.
    Cast(CastOp),
    /// `base, index…`; the source element type as in LLVM.
    Gep(Type),
    /// `address`
    Load(MemAccess),
    /// `value, address`
    Store(MemAccess),
    /// `count`: the allocated type and its alignment in bytes.
    Alloca {
        /// The allocated type.
        ty: Type,
        /// Alignment in bytes.
        align: u64,
    },
    /// `vector, index`
    ExtractElement,
    /// `vector, element, index`
    InsertElement,
    /// `a, b` with the mask; `-1` is poison.
    Shuffle(Box<[i32]>),
    /// `aggregate` with the index path.
    ExtractValue(Box<[u32]>),
    /// `aggregate, element` with the index path.
    InsertValue(Box<[u32]>),
    /// `argument…`, then the callee if the call is indirect.
    Call(Box<CallInfo>),
    /// Whatever the original instruction's operands are, one value each, in LLVM's order (without
    /// successor blocks).
    Opaque(Box<OpaqueInfo>),
    /// Reads a variable.
    ReadVar(Var),
    /// `x`: writes a variable.
    WriteVar(Var),
    /// `x…` → as many results: all operands are read before any result is written.
    ParallelCopy,
    /// `x` → one result per out-edge of the block: what `x` is called once control leaves along that edge (paper 4,
    /// Sec. 2.1). σs stand behind all other instructions of their block and take effect behind its terminator, all at
    /// once: they may use its result, and neither it nor another σ of the block may use theirs.
    Sigma,
    /// A lane operation; operands are stated at [`LaneOp`].
    Lane(LaneOp),
    /// Terminator: one edge.
    Br,
    /// Terminator: `cond`; edges: taken if true, taken if false.
    CondBr,
    /// Terminator: `x`; edges: default, then one per case value (zero-extended).
    Switch(Box<[u128]>),
    /// Terminator: `x` or nothing.
    Ret,
    /// Terminator: undefined behaviour when reached.
    Unreachable,
    /// Terminator that is carried, not modelled (`invoke`, `indirectbr`, `resume` …); may have a result.
    OpaqueTerm(Box<OpaqueInfo>),
}

impl Op {
    /// Whether this ends a block.
    pub fn is_terminator(&self) -> bool {
        matches!(self, Op::Br | Op::CondBr | Op::Switch(_) | Op::Ret | Op::Unreachable | Op::OpaqueTerm(_))
    }

    /// The effect record of the operation.
    pub fn effects(&self) -> Effects {
        match self {
            Op::Binary(b) if b.is_int_division() => Effects::TRAPS,
            Op::Load(m) => Effects::READS | Effects::TRAPS | access_effects(m),
            Op::Store(m) => Effects::WRITES | Effects::TRAPS | access_effects(m),
            Op::Call(c) => c.effects,
            Op::Opaque(o) | Op::OpaqueTerm(o) => o.effects,
            Op::Lane(LaneOp::Compact) => {
                Effects::CONVERGENT | Effects::WRITES | Effects::TRAPS | Effects::ARG_MEMORY_ONLY
            }
            Op::Lane(op) if op.is_convergent() => Effects::CONVERGENT,
            Op::Unreachable => Effects::TRAPS,
            _ => Effects::empty(),
        }
    }

    /// The keyword of the operation in the text form and in messages.
    pub fn name(&self) -> &str {
        match self {
            Op::Phi => "phi",
            Op::Binary(b) => b.name(),
            Op::FNeg => "fneg",
            Op::ICmp(_) => "icmp",
            Op::FCmp(_) => "fcmp",
            Op::Select => "select",
            Op::Freeze => "freeze",
            Op::Cast(c) => c.name(),
            Op::Gep(_) => "getelementptr",
            Op::Load(_) => "load",
            Op::Store(_) => "store",
            Op::Alloca { .. } => "alloca",
            Op::ExtractElement => "extractelement",
            Op::InsertElement => "insertelement",
            Op::Shuffle(_) => "shufflevector",
            Op::ExtractValue(_) => "extractvalue",
            Op::InsertValue(_) => "insertvalue",
            Op::Call(_) => "call",
            Op::Opaque(o) | Op::OpaqueTerm(o) => &o.name,
            Op::ReadVar(_) => "read",
            Op::WriteVar(_) => "write",
            Op::ParallelCopy => "copy",
            Op::Sigma => "sigma",
            Op::Lane(l) => l.name(),
            Op::Br => "br",
            Op::CondBr => "br",
            Op::Switch(_) => "switch",
            Op::Ret => "ret",
            Op::Unreachable => "unreachable",
        }
    }
}

fn access_effects(m: &MemAccess) -> Effects {
    let mut e = Effects::empty();
    if m.is_volatile {
        e |= Effects::VOLATILE;
    }
    if m.ordering != AtomicOrdering::NotAtomic {
        e |= Effects::ATOMIC;
    }
    e
}
