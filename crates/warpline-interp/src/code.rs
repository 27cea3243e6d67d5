//! What a function is decoded to: dense arrays, operands as places in the frame.

use cranelift_entity::SecondaryMap;

use super::cycles::{Position, Step};
use super::intrinsic::{ElemTypes, Intrinsic};
use super::value::Cell;
use warpline_ir::{
    BinaryOp, Block, CastOp, Edge, FloatKind, FloatPred, FuncId, Inst, InstFlags, IntPred, LaneOp, Scalar,
    Type, Value,
};

/// The cells of a value in a frame.
#[derive(Copy, Clone, Default, Debug)]
pub(super) struct Slot {
    pub at: u32,
    pub len: u32,
}

impl Slot {
    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.at as usize..(self.at + self.len) as usize
    }

    /// The place of element `i`, where a scalar stands for all elements.
    pub(super) fn elem(self, i: u32) -> usize {
        (if self.len == 1 { self.at } else { self.at + i }) as usize
    }
}

/// How a type lies in memory.
#[derive(Clone, Debug)]
pub(super) enum MemType {
    /// A scalar: its size in bytes and its width in bits.
    Scalar { bytes: u32, bits: u32 },
    /// Elements of whole bytes, side by side.
    Elements { count: u32, bytes: u32 },
    /// Elements of some bits, packed.
    Packed { count: u32, bits: u32 },
    /// Members at byte offsets, with the number of their first cell.
    Members(Vec<(u64, u32, MemType)>),
}

/// One term of an address computation.
#[derive(Clone, Debug)]
pub(super) enum GepStep {
    /// A constant number of bytes.
    Constant(i128),
    /// An index of `bits` bits times a size in bytes.
    Scaled { index: Slot, bits: u32, size: u64 },
}

#[derive(Clone, Debug)]
pub(super) struct Gep {
    pub steps: Vec<GepStep>,
    pub index_bits: u32,
    pub pointer_bits: u32,
}

/// Who is called.
#[derive(Clone, Debug)]
pub(super) enum Callee {
    /// A function of the module.
    Function(FuncId),
    /// A function known by name; element types where it has any.
    Intrinsic(Intrinsic, Option<ElemTypes>),
    /// A function that is computed elsewhere, on numbers of this format.
    Mathematics(usize, FloatKind),
    /// A function without a body.
    External(Box<str>),
    /// Through an address.
    Indirect(Slot),
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub callee: Callee,
    pub args: Vec<(Slot, Type)>,
    pub ret: Type,
    /// Memory layout of what masked memory operations access.
    pub memory: Option<MemType>,
}

/// What an instruction does; its operands are `a`, `b`, `c` unless they stand here.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    IntBinary(BinaryOp, u32),
    FloatBinary(BinaryOp, FloatKind),
    FNeg(FloatKind),
    ICmp(IntPred, u32),
    FCmp(FloatPred, FloatKind),
    /// With the format, if fast-math flags must be checked.
    Select(Option<FloatKind>),
    Freeze,
    Cast(CastOp, (Scalar, u32), (Scalar, u32)),
    /// Reinterpretation with other element widths: of the operand, of the result.
    Repack(u32, u32),
    /// The operand as it is.
    Copy,
    Gep(Box<Gep>),
    Load {
        ty: Box<MemType>,
        align: u64,
        volatile: bool,
        /// Whether what no object has is poison.
        speculative: bool,
        atomic: bool,
    },
    Store {
        ty: Box<MemType>,
        align: u64,
        volatile: bool,
        atomic: bool,
    },
    /// Address, operand and, if it compares, what is stored.
    Atomic(Box<super::atomic::Access>),
    Alloca {
        size: u64,
        align: u64,
    },
    ExtractElement,
    InsertElement,
    Shuffle(Box<[i32]>),
    /// The operand, with `b` put at this cell.
    InsertValue(u32),
    Call(Box<Call>),
    Lane(LaneOp),
    /// A lane operation on elements of a type.
    LaneElements(LaneOp, Type),
    /// (from, to) cells, all read first.
    ParallelCopy(Box<[(Slot, Slot)]>),
    Nothing,
    Unsupported(Box<str>),
}

impl Kind {
    /// Whether a lane program executes this for all lanes, whatever the mask of the block.
    pub(super) fn ignores_mask(&self) -> bool {
        match self {
            Kind::Lane(op) => !op.is_asked_by_kernels(),
            Kind::ParallelCopy(_) => true,
            _ => false,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Ins {
    pub kind: Kind,
    pub flags: InstFlags,
    pub inst: Inst,
    pub dst: Slot,
    pub a: Slot,
    pub b: Slot,
    pub c: Slot,
    /// Reads or writes a variable: executed for all lanes of a lane program.
    pub on_variable: bool,
    /// Width of the narrowest scalar of the result.
    pub dst_bits: u32,
}

impl Ins {
    /// Random bits that every cell of the result can hold.
    pub(super) fn random_bits(&self, high: u64, low: u64) -> u128 {
        super::scalar::truncate(u128::from(high) << 64 | u128::from(low), self.dst_bits)
    }
}

#[derive(Clone, Debug)]
pub(super) struct EdgeCode {
    pub edge: Edge,
    pub to: u32,
    /// (from, to) of the φ operands.
    pub moves: Vec<(Slot, Slot)>,
    /// Whether a φ of the target is an operand too, so that all must be read first.
    pub buffered: bool,
    pub step: Step,
}

#[derive(Clone, Debug)]
pub(super) enum Term {
    Br(u32),
    CondBr(Slot, u32, u32),
    /// The value, the cases, the default edge.
    Switch(Slot, Vec<(u128, u32)>, u32),
    Ret(Slot),
    Unreachable,
    Unsupported(Box<str>),
}

#[derive(Clone, Debug)]
pub(super) struct BlockCode {
    pub block: Block,
    pub phis: Vec<Inst>,
    pub insts: Vec<Ins>,
    pub term: Term,
    pub term_inst: Option<Inst>,
    /// The mask, and before which instruction it is known.
    pub mask: Option<(Slot, usize)>,
}

/// A decoded function. Made by [`Machine::prepare`](super::Machine::prepare); belongs to that machine, whose symbols'
/// addresses it holds.
#[derive(Clone, Debug)]
pub struct Code {
    pub(super) name: Box<str>,
    pub(super) function: Option<FuncId>,
    pub(super) blocks: Vec<BlockCode>,
    pub(super) edges: Vec<EdgeCode>,
    /// Frame of one lane before the first instruction: constants, the rest poison.
    pub(super) template: Vec<Cell>,
    pub(super) params: Vec<Slot>,
    pub(super) slots: SecondaryMap<Value, Slot>,
    pub(super) start: Position,
    pub(super) num_blocks: usize,
}

impl Code {
    /// The name of the function.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which function of the module this is, if it was prepared as one.
    pub fn function(&self) -> Option<FuncId> {
        self.function
    }
}
