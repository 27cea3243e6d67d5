//! Sub-groups: the work-items that run together in the lanes of a vector.
//!
//! What OpenCL says of sub-groups becomes operations across lanes, and arithmetic on the number of the work-item in its
//! group. A sub-group is W neighbours along dimension 0, as regions are executed; where the row of a group is no
//! multiple of W, the last sub-group of each row is smaller. Nothing else may part a row, so such kernels have no
//! index of 32 bits, where which wraps drivers begin anew.

use warpline_ir::group_functions::Query;
use warpline_ir::group_operations::{GroupOp, Partner, SubGroupFunction};
use warpline_ir::{
    BinaryOp, CastOp, Constant, Function, Inst, InstFlags, IntPred, LaneOp, Module, Op, SymbolKind, Type,
    Value,
};

use crate::work_items::{Added, Answers};

const INT: Type = Type::Int(32);
const WIDE: Type = Type::Int(64);

/// What a call is to sub-groups, if its callee has no body.
pub(crate) fn sub_group_function(module: &Module, func: &Function, i: Inst) -> Option<SubGroupFunction> {
    let Op::Call(info) = &func.insts[i].op else { return None };
    let data = &module.symbols[info.callee?];
    let SymbolKind::Function { params, ret, variadic: false } = &data.kind else { return None };
    SubGroupFunction::of(&data.name, params, *ret).filter(|_| module.function(&data.name).is_none())
}

/// Puts operations across lanes in the place of all calls of functions of sub-groups. Whether there were any.
pub(crate) fn replace(module: &Module, answers: &mut Answers) -> bool {
    let insts = answers.func.layout.iter().flat_map(|&b| answers.func.block_insts(b));
    let calls: Vec<(Inst, SubGroupFunction)> =
        insts.filter_map(|i| Some((i, sub_group_function(module, &answers.func, i)?))).collect();
    for &(i, function) in &calls {
        let found = Replacement { answers, at: i }.value(function);
        let func = &mut answers.func;
        if let Some(result) = func.insts[i].result() {
            func.map_operands(|v| if v == result { found } else { v });
        }
        let block = func.insts[i].block;
        func.blocks[block].insts.retain(|&x| x != i);
    }
    !calls.is_empty()
}

/// Code that is made in front of a call.
struct Replacement<'a> {
    answers: &'a mut Answers,
    at: Inst,
}

impl Replacement<'_> {
    fn emit(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.flagged(op, args, ty, InstFlags::empty())
    }

    fn flagged(&mut self, op: Op, args: &[Value], ty: Type, flags: InstFlags) -> Value {
        self.answers.func.insert_value_before(self.at, op, args, ty, flags)
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ty = self.answers.func.ty(a);
        self.emit(Op::Binary(op), &[a, b], ty)
    }

    /// What is computed in the place of a call.
    fn value(&mut self, function: SubGroupFunction) -> Value {
        let args = self.answers.func.insts[self.at].args.to_vec();
        let ty = args.first().map_or(INT, |&x| self.answers.func.ty(x));
        match function {
            SubGroupFunction::Op(op) => self.operation(op, &args, ty),
            SubGroupFunction::Shuffle(partner) => {
                let lane = self.partner(partner, args[1]);
                self.emit(Op::Lane(LaneOp::Shuffle), &[args[0], lane], ty)
            }
            SubGroupFunction::BroadcastFirst => {
                let yes = self.answers.func.bool_const(true);
                self.emit(Op::Lane(LaneOp::First), &[args[0], yes], ty)
            }
            SubGroupFunction::Elect => {
                let (yes, lane) = (self.answers.func.bool_const(true), self.lane());
                let first = self.emit(Op::Lane(LaneOp::First), &[lane, yes], INT);
                let is_it = self.emit(Op::ICmp(IntPred::Eq), &[lane, first], Type::BOOL);
                self.emit(Op::Cast(CastOp::ZExt), &[is_it], INT)
            }
            SubGroupFunction::Ballot => self.ballot(args[0]),
            SubGroupFunction::LocalId => self.lane(),
            SubGroupFunction::MaxSize => self.emit(Op::Lane(LaneOp::LaneCount), &[], INT),
            SubGroupFunction::Size => {
                let (start, row) = (self.start(), self.answers.param(Added::Answer(Query::LocalSize, 0)));
                let (left, lanes) = (self.binary(BinaryOp::Sub, row, start), self.lanes());
                let fewer = self.emit(Op::ICmp(IntPred::Ult), &[left, lanes], Type::BOOL);
                let size = self.emit(Op::Select, &[fewer, left, lanes], WIDE);
                self.emit(Op::Cast(CastOp::Trunc), &[size], INT)
            }
            SubGroupFunction::Id => {
                let (start, lanes) = (self.start(), self.lanes());
                let in_row = self.binary(BinaryOp::UDiv, start, lanes);
                let [y, z] = [1, 2].map(|d| self.answers.param(Added::Answer(Query::LocalId, d)));
                let rows = self.answers.param(Added::Answer(Query::LocalSize, 1));
                let before = self.binary(BinaryOp::Mul, z, rows);
                let before = self.binary(BinaryOp::Add, before, y);
                let each = self.in_each_row();
                let before = self.binary(BinaryOp::Mul, before, each);
                let id = self.binary(BinaryOp::Add, before, in_row);
                self.emit(Op::Cast(CastOp::Trunc), &[id], INT)
            }
            SubGroupFunction::Count => {
                let [y, z] = [1, 2].map(|d| self.answers.param(Added::Answer(Query::LocalSize, d)));
                let (rows, each) = (self.binary(BinaryOp::Mul, y, z), self.in_each_row());
                let count = self.binary(BinaryOp::Mul, rows, each);
                self.emit(Op::Cast(CastOp::Trunc), &[count], INT)
            }
        }
    }

    /// What those of a sub-group compute together.
    fn operation(&mut self, op: GroupOp, args: &[Value], ty: Type) -> Value {
        let lane_op = match op {
            GroupOp::Reduce(c) => LaneOp::Reduce(c),
            GroupOp::ScanInclusive(c) => LaneOp::ScanInclusive(c),
            GroupOp::ScanExclusive(c) => LaneOp::ScanExclusive(c),
            GroupOp::Broadcast => {
                let lane = self.resized(args[1], INT);
                return self.emit(Op::Lane(LaneOp::Shuffle), &[args[0], lane], ty);
            }
            GroupOp::Any | GroupOp::All | GroupOp::Count => {
                let holds = self.holds(args[0]);
                let op = match op {
                    GroupOp::Any => LaneOp::Any,
                    GroupOp::All => LaneOp::All,
                    _ => return self.emit(Op::Lane(LaneOp::Popcount), &[holds], INT),
                };
                let found = self.emit(Op::Lane(op), &[holds], Type::BOOL);
                return self.emit(Op::Cast(CastOp::ZExt), &[found], INT);
            }
            // Sub-groups have no copies.
            GroupOp::Copy { .. } | GroupOp::WaitForCopies => return self.answers.func.poison(ty),
        };
        self.emit(Op::Lane(lane_op), &[args[0]], ty)
    }

    fn holds(&mut self, x: Value) -> Value {
        let ty = self.answers.func.ty(x);
        let zero = self.answers.func.constant_value(Constant::Zero(ty));
        self.emit(Op::ICmp(IntPred::Ne), &[x, zero], Type::BOOL)
    }

    fn lane(&mut self) -> Value {
        self.emit(Op::Lane(LaneOp::LaneIndex), &[], INT)
    }

    /// How many lanes there are, as 64 bits.
    fn lanes(&mut self) -> Value {
        let lanes = self.emit(Op::Lane(LaneOp::LaneCount), &[], INT);
        self.emit(Op::Cast(CastOp::ZExt), &[lanes], WIDE)
    }

    /// The number of the sub-group's first work-item in its row.
    fn start(&mut self) -> Value {
        let small = InstFlags::NUW | InstFlags::NSW;
        let own = self.answers.param(Added::LocalIndex);
        let lane = self.lane();
        let lane = self.emit(Op::Cast(CastOp::ZExt), &[lane], WIDE);
        self.flagged(Op::Binary(BinaryOp::Sub), &[own, lane], WIDE, small)
    }

    /// How many sub-groups a row of the group has.
    fn in_each_row(&mut self) -> Value {
        let (row, lanes) = (self.answers.param(Added::Answer(Query::LocalSize, 0)), self.lanes());
        let one = self.answers.func.int_const(64, 1);
        let more = self.binary(BinaryOp::Sub, lanes, one);
        let sum = self.binary(BinaryOp::Add, row, more);
        self.binary(BinaryOp::UDiv, sum, lanes)
    }

    fn partner(&mut self, partner: Partner, k: Value) -> Value {
        let op = match partner {
            Partner::Number => return k,
            Partner::Xor => BinaryOp::Xor,
            Partner::Before => BinaryOp::Sub,
            Partner::Behind => BinaryOp::Add,
        };
        let lane = self.lane();
        self.binary(op, lane, k)
    }

    fn resized(&mut self, x: Value, ty: Type) -> Value {
        match (self.answers.func.ty(x).int_bits(), ty.int_bits()) {
            (Some(from), Some(to)) if from > to => self.emit(Op::Cast(CastOp::Trunc), &[x], ty),
            (Some(from), Some(to)) if from < to => self.emit(Op::Cast(CastOp::ZExt), &[x], ty),
            _ => x,
        }
    }

    /// The lanes in which a number is not 0, as four words.
    fn ballot(&mut self, x: Value) -> Value {
        let holds = self.holds(x);
        let bits = self.emit(Op::Lane(LaneOp::Ballot), &[holds], WIDE);
        let by = self.answers.func.int_const(64, 32);
        let high = self.binary(BinaryOp::LShr, bits, by);
        let vector = INT.vector(4).unwrap_or(INT);
        let mut words = self.answers.func.constant_value(Constant::Zero(vector));
        for (k, part) in [bits, high].into_iter().enumerate() {
            let (word, at) = (self.resized(part, INT), self.answers.func.int_const(64, k as u128));
            words = self.emit(Op::InsertElement, &[words, word, at], vector);
        }
        words
    }
}
