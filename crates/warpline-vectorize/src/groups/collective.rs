//! What work-items of a group compute together (`work_group_reduce_add` and others) and copy together, as code between
//! cuts.
//!
//! Each call becomes two cuts and what lies between them, which is the same for all work-items, so that it is executed
//! once for the group. Before the first cut, each work-item puts its value into an array over the group, its *scratch*;
//! between the cuts these are combined in the order of work-items, so that sums of floating-point numbers depend
//! neither on the number of lanes nor on threads; behind the second cut each takes its own result, or the one that is the same
//! for all. A copy lies between its cuts as a whole: when it is done is not said, so it may be at once.

use cranelift_entity::{EntitySet, SecondaryMap};
use warpline_ir::group_functions::Query;
use warpline_ir::group_operations::{GroupOp, GroupOperation, Scope};
use warpline_ir::{
    BinaryOp, Block, CallInfo, CastOp, Combine, Constant, Effects, Function, Inst, InstFlags, IntPred,
    Module, Op, Type, Value,
};

use crate::VectorizeError;
use crate::builder::{Builder, I64};
use crate::work_items::{Added, WorkItems, group_operation, is_barrier, scratch_bytes};

/// The instructions at which work-items meet, by the blocks that end with a cut for them.
pub(super) type Barriers = SecondaryMap<Block, Option<Inst>>;

/// A kernel in which each block ends where work-items meet.
#[derive(Clone)]
pub(super) struct Expanded {
    pub(super) func: Function,
    pub(super) barriers: Barriers,
    /// Those at which each work-item has to have a value.
    pub(super) exchanges: EntitySet<Inst>,
    /// Values on which the work-items have to agree, with the calls that they are operands of.
    pub(super) agreed: Vec<(Inst, Value)>,
}

/// Splits blocks behind barriers and calls of collective functions, and takes these out: what they compute is code
/// between cuts.
///
/// # Errors
/// If a value has no place in memory.
pub(super) fn expand(module: &mut Module, items: &WorkItems) -> Result<Expanded, VectorizeError> {
    let func = module.functions[items.func].clone();
    let at = func.entry();
    let mut expansion = Expansion {
        items,
        b: Builder { module, func, at },
        barriers: Barriers::new(),
        exchanges: EntitySet::new(),
        agreed: Vec::new(),
    };
    for start in expansion.b.func.layout.clone() {
        let mut b = start;
        while let Some((at, operation)) = expansion.next_meeting(b) {
            let behind = expansion.b.func.split_block(b, at + 1, "behind");
            let Some(call) = expansion.b.func.blocks[b].insts.pop() else { break };
            expansion.barriers[b] = Some(call);
            if let Some(operation) = operation {
                expansion.collective(b, behind, call, operation)?;
            }
            b = behind;
        }
    }
    let Expansion { b, barriers, exchanges, agreed, .. } = expansion;
    Ok(Expanded { func: b.func, barriers, exchanges, agreed })
}

struct Expansion<'a> {
    items: &'a WorkItems,
    b: Builder<'a>,
    barriers: Barriers,
    exchanges: EntitySet<Inst>,
    agreed: Vec<(Inst, Value)>,
}

impl Expansion<'_> {
    /// The first instruction of a block at which work-items meet, by its place; what they compute there, if it is no
    /// plain barrier.
    fn next_meeting(&self, b: Block) -> Option<(usize, Option<GroupOperation>)> {
        let (module, func) = (&*self.b.module, &self.b.func);
        func.blocks[b].insts.iter().enumerate().find_map(|(at, &i)| {
            if is_barrier(module, func, i) {
                return Some((at, None));
            }
            let operation = group_operation(module, func, i)?;
            (operation.scope == Scope::WorkGroup).then_some((at, Some(operation)))
        })
    }

    /// Makes the code of a call between the block that ended with it and the one that goes on.
    fn collective(
        &mut self,
        before: Block,
        behind: Block,
        call: Inst,
        operation: GroupOperation,
    ) -> Result<(), VectorizeError> {
        let args = self.b.func.insts[call].args.to_vec();
        let result = self.b.func.insts[call].result();
        let found = match operation.op {
            GroupOp::WaitForCopies => return Ok(()),
            GroupOp::Copy { element, strided, to_local } => {
                self.agreed.extend(args[..args.len() - 1].iter().map(|&v| (call, v)));
                let by = if strided { Some((args[3], to_local)) } else { None };
                self.copy(before, behind, element, (args[0], args[1], args[2]), by);
                self.b.func.constant_value(Constant::Zero(Type::PTR))
            }
            GroupOp::Broadcast => {
                self.exchanges.insert(call);
                self.agreed.extend(args[1..].iter().map(|&v| (call, v)));
                self.broadcast(before, behind, &args)
            }
            GroupOp::Any | GroupOp::All | GroupOp::Count => {
                self.exchanges.insert(call);
                let Some((&condition, number)) = args.split_last() else { return Ok(()) };
                self.agreed.extend(number.iter().map(|&v| (call, v)));
                let found = self.vote(before, behind, condition, operation.op);
                let is_condition = result.is_some_and(|r| self.b.func.ty(r) == Type::BOOL);
                if is_condition { self.is_some(behind, found) } else { found }
            }
            GroupOp::Reduce(c) => {
                self.exchanges.insert(call);
                let ty = self.b.func.ty(args[0]);
                self.put(before, args[0], ty);
                let start = self.number(ty, c.neutral(ty));
                self.combined(before, behind, (ty, ty), start, c, None)
            }
            GroupOp::ScanInclusive(c) | GroupOp::ScanExclusive(c) => {
                self.exchanges.insert(call);
                let ty = self.b.func.ty(args[0]);
                self.put(before, args[0], ty);
                let inclusive = matches!(operation.op, GroupOp::ScanInclusive(_));
                let start = if inclusive { c.neutral(ty) } else { c.beginning(ty) };
                let start = self.number(ty, start);
                self.combined(before, behind, (ty, ty), start, c, Some(inclusive));
                self.own(behind, ty)
            }
        };
        // What follows on the code between the cuts is behind the second one.
        let last = self.b.at;
        self.barriers[last] = Some(call);
        if let Some(result) = result {
            self.b.func.map_operands(|v| if v == result { found } else { v });
        }
        Ok(())
    }

    /// A parameter that stands for something.
    fn added(&self, wanted: Added) -> Value {
        let own = self.b.func.params.len() - self.items.added.len();
        let k = self.items.added.iter().position(|a| *a == wanted).unwrap_or(0);
        self.b.func.params[own + k]
    }

    fn number(&mut self, ty: Type, bits: u128) -> Value {
        self.b.func.constant_value(Constant::number(ty, bits))
    }

    /// The array over the group for elements of a type.
    fn scratch(&self, ty: Type) -> Value {
        let bytes = scratch_bytes(ty);
        let k = self.items.scratch.iter().position(|&b| b == bytes).unwrap_or(0);
        self.added(Added::Scratch(k))
    }

    /// The number of a work-item among all of its group.
    fn linear(&mut self, [x, y, z]: [Value; 3]) -> Value {
        let [lx, ly] = [0, 1].map(|d| self.added(Added::Answer(Query::LocalSize, d)));
        let small = InstFlags::NUW | InstFlags::NSW;
        let rows = self.b.binary(BinaryOp::Mul, z, ly, small);
        let rows = self.b.binary(BinaryOp::Add, rows, y, small);
        let before = self.b.binary(BinaryOp::Mul, rows, lx, small);
        self.b.binary(BinaryOp::Add, before, x, small)
    }

    /// Goes on behind the first cut, in a block that nothing else leads to: a region begins with it.
    fn begin_between(&mut self, before: Block) {
        let between = self.b.block("between");
        self.b.at = before;
        self.b.br(between);
        self.b.at = between;
    }

    /// The address of the work-item's own element, computed at the end of the current block.
    fn own_element(&mut self, ty: Type) -> Value {
        let x = self.added(Added::LocalIndex);
        let [y, z] = [1, 2].map(|d| self.added(Added::Answer(Query::LocalId, d)));
        let k = self.linear([x, y, z]);
        let scratch = self.scratch(ty);
        self.b.element(scratch, ty, k)
    }

    /// Has each work-item put its value into the array.
    fn put(&mut self, before: Block, x: Value, ty: Type) {
        self.b.at = before;
        let own = self.own_element(ty);
        self.b.store(own, x, ty);
    }

    /// Makes code at the begin of a block.
    fn at_begin(&mut self, behind: Block, code: impl FnOnce(&mut Self) -> Value) -> Value {
        let last = self.b.at;
        let rest = std::mem::take(&mut self.b.func.blocks[behind].insts);
        self.b.at = behind;
        let x = code(self);
        self.b.func.blocks[behind].insts.extend(rest);
        self.b.at = last;
        x
    }

    /// What is in the work-item's own element, at the begin of a block.
    fn own(&mut self, behind: Block, ty: Type) -> Value {
        self.at_begin(behind, |at| {
            let own = at.own_element(ty);
            at.b.load(own, ty, None)
        })
    }

    /// Whether a number is not 0, at the begin of a block.
    fn is_some(&mut self, behind: Block, x: Value) -> Value {
        self.at_begin(behind, |at| {
            let zero = at.b.int(32, 0);
            at.b.icmp(IntPred::Ne, x, zero)
        })
    }

    /// A loop over the array, whose elements have the first type in memory and are combined in the second one. All of
    /// them combined; for a scan, which may be inclusive, each element becomes what it is to get.
    fn combined(
        &mut self,
        before: Block,
        behind: Block,
        (memory, ty): (Type, Type),
        start: Value,
        c: Combine,
        scan: Option<bool>,
    ) -> Value {
        let (head, end) = (self.b.block("combine"), self.b.block("combined"));
        let k = self.b.func.add_phi(head, I64);
        let so_far = self.b.func.add_phi(head, ty);
        let (zero, one) = (self.b.int(64, 0), self.b.int(64, 1));
        self.begin_between(before);
        self.b.br(head);
        self.b.pass(&[zero, start]);
        self.b.at = head;
        let scratch = self.scratch(memory);
        let element = self.b.element(scratch, memory, k);
        let x = self.b.load(element, memory, None);
        let x = self.b.cast(CastOp::ZExt, x, ty);
        let next = combine(&mut self.b, c, so_far, x);
        if let Some(inclusive) = scan {
            self.b.store(element, if inclusive { next } else { so_far }, memory);
        }
        let following = self.b.binary(BinaryOp::Add, k, one, InstFlags::NUW | InstFlags::NSW);
        let [lx, ly, lz] = [0, 1, 2].map(|d| self.added(Added::Answer(Query::LocalSize, d)));
        let plane = self.b.binary(BinaryOp::Mul, lx, ly, InstFlags::NUW);
        let count = self.b.binary(BinaryOp::Mul, plane, lz, InstFlags::NUW);
        let more = self.b.icmp(IntPred::Ult, following, count);
        self.b.cond_br(more, head, end);
        self.b.pass(&[following, next]);
        self.b.at = end;
        self.b.br(behind);
        next
    }

    /// Whether, or for how many work-items, a number is not 0.
    fn vote(&mut self, before: Block, behind: Block, x: Value, op: GroupOp) -> Value {
        const BYTE: Type = Type::Int(8);
        const INT: Type = Type::Int(32);
        self.b.at = before;
        let zero = self.b.func.constant_value(Constant::Zero(self.b.func.ty(x)));
        let holds = self.b.icmp(IntPred::Ne, x, zero);
        let holds = self.b.cast(CastOp::ZExt, holds, BYTE);
        self.put(before, holds, BYTE);
        let (c, start) = match op {
            GroupOp::Any => (Combine::Or, 0),
            GroupOp::All => (Combine::And, 1),
            _ => (Combine::Add, 0),
        };
        let start = self.b.int(32, start);
        self.combined(before, behind, (BYTE, INT), start, c, None)
    }

    /// The value of the work-item that the operands behind the value name.
    fn broadcast(&mut self, before: Block, behind: Block, args: &[Value]) -> Value {
        let ty = self.b.func.ty(args[0]);
        self.put(before, args[0], ty);
        self.begin_between(before);
        let named: Vec<Value> = args[1..].iter().map(|&v| self.b.cast(CastOp::ZExt, v, I64)).collect();
        let zero = self.b.int(64, 0);
        let of = |d: usize| named.get(d).copied().unwrap_or(zero);
        let k = self.linear([of(0), of(1), of(2)]);
        let scratch = self.scratch(ty);
        let element = self.b.element(scratch, ty, k);
        let x = self.b.load(element, ty, None);
        self.b.br(behind);
        x
    }

    /// Copies elements of so many bytes in pieces of at most eight; `by` is the distance of those in global memory,
    /// and whether local memory is copied to.
    fn copy(
        &mut self,
        before: Block,
        behind: Block,
        element: u64,
        (to, from, count): (Value, Value, Value),
        by: Option<(Value, bool)>,
    ) {
        let (head, body, end) = (self.b.block("copy"), self.b.block("element"), self.b.block("copied"));
        let k = self.b.func.add_phi(head, I64);
        let (zero, one) = (self.b.int(64, 0), self.b.int(64, 1));
        self.begin_between(before);
        let count = self.b.cast(CastOp::ZExt, count, I64);
        let piece = Type::Int(8 * element.min(8) as u32);
        let pieces = element.div_ceil(8);
        // Elements without a distance lie side by side, and so do their pieces.
        let (limit, at_once) = match by {
            Some(_) => (count, pieces),
            None => {
                let pieces = self.b.int(64, pieces as i64);
                (self.b.binary(BinaryOp::Mul, count, pieces, InstFlags::empty()), 1)
            }
        };
        self.b.br(head);
        self.b.pass(&[zero]);
        self.b.at = head;
        let more = self.b.icmp(IntPred::Ult, k, limit);
        self.b.cond_br(more, body, end);
        self.b.at = body;
        let (mut from_k, mut to_k) = (k, k);
        if let Some((by, to_local)) = by {
            let far = self.b.binary(BinaryOp::Mul, k, by, InstFlags::empty());
            *(if to_local { &mut from_k } else { &mut to_k }) = far;
        }
        for p in 0..at_once {
            let [from, to] = [(from, from_k), (to, to_k)].map(|(base, k)| {
                let (each, p) = (self.b.int(64, at_once as i64), self.b.int(64, p as i64));
                let first = self.b.binary(BinaryOp::Mul, k, each, InstFlags::empty());
                let at = self.b.binary(BinaryOp::Add, first, p, InstFlags::empty());
                self.b.element(base, piece, at)
            });
            let x = self.b.load(from, piece, None);
            self.b.store(to, x, piece);
        }
        let next = self.b.binary(BinaryOp::Add, k, one, InstFlags::NUW);
        self.b.br(head);
        self.b.pass(&[next]);
        self.b.at = end;
        self.b.br(behind);
    }
}

/// Two numbers combined.
fn combine(b: &mut Builder, c: Combine, x: Value, y: Value) -> Value {
    let ty = b.func.ty(x);
    let is_float = ty.is_float();
    let of = |int, float| Some(if is_float { float } else { int });
    let op = match c {
        Combine::Add => of(BinaryOp::Add, BinaryOp::FAdd),
        Combine::Mul => of(BinaryOp::Mul, BinaryOp::FMul),
        Combine::And => Some(BinaryOp::And),
        Combine::Or => Some(BinaryOp::Or),
        Combine::Xor => Some(BinaryOp::Xor),
        _ => None,
    };
    if let Some(op) = op {
        return b.binary(op, x, y, InstFlags::empty());
    }
    if is_float {
        let which = if c == Combine::Min { "minimum" } else { "maximum" };
        let bits = if ty == Type::F64 { 64 } else { 32 };
        let name = format!("llvm.{which}.f{bits}");
        let symbol = b.module.function_symbol(&name, &[ty, ty], ty, Effects::empty());
        let info = CallInfo { callee: Some(symbol), effects: Effects::empty(), variadic_fixed: None };
        return b.value(Op::Call(Box::new(info)), &[x, y], ty);
    }
    let pred = match c {
        Combine::Min => IntPred::Slt,
        Combine::Max => IntPred::Sgt,
        Combine::UMin => IntPred::Ult,
        _ => IntPred::Ugt,
    };
    let first = b.icmp(pred, x, y);
    b.value(Op::Select, &[first, x, y], ty)
}
