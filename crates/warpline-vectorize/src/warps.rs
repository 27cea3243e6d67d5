//! Operations of warps and waves, as modules for NVIDIA's and AMD's GPUs have them.
//!
//! A warp is the lanes that run together, so such a kernel has as many lanes as its machine: 32 for NVIDIA's, and the
//! size of a wave for AMD's. GPUs number warps over all dimensions of a group and lanes are of one row, so a kernel
//! that asks for more dimensions than one is refused. PTX leaves open what is read from lanes that do not take part.

use warpline_ir::group_functions::Query;
use warpline_ir::{
    BinaryOp, CastOp, Constant, Function, Inst, InstFlags, IntPred, LaneOp, Module, Op, SymbolKind, Type,
    Value,
};

use crate::VectorizeError;
use crate::work_items::{Added, Answers};

const INT: Type = Type::Int(32);
/// The lane mask of a warp in which all take part.
const ALL: u128 = 0xffff_ffff;

/// Whose machine a kernel's warps are of.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Warps {
    /// NVIDIA's: 32 lanes.
    Nvptx,
    /// AMD's: as many lanes as the kernel's attributes say.
    Amdgcn,
    /// Of one that the user has in mind, with so many lanes: between barriers, the work-items of a warp execute one
    /// statement after the other together.
    Asked(u32),
}

/// Which lane `shfl.sync` reads.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Mode {
    Number,
    Xor,
    Up,
    Down,
}

/// What a call does in a warp.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum WarpOp {
    /// `shfl.sync`: lane mask, value, operand, clamp and segments.
    Shuffle(Mode),
    /// `vote.sync`: lane mask and condition.
    Any,
    All,
    Agree,
    /// With a lane mask in front of the condition, or without.
    Ballot,
    /// The value of the first active lane.
    First,
    /// The value of the lane with the number of the second operand.
    Read,
    /// How many lanes before this one the mask names, in the low or high 32, and a sum.
    Before {
        high: bool,
    },
    Lane,
    Lanes,
}

impl WarpOp {
    /// What an intrinsic of this name with operands and a result of these types is.
    fn of(name: &str, params: &[Type], ret: Type) -> Option<(WarpOp, Warps)> {
        if let Some(rest) = name.strip_prefix("llvm.nvvm.") {
            return Self::of_nvptx(rest, params, ret).map(|op| (op, Warps::Nvptx));
        }
        Self::of_amdgcn(name.strip_prefix("llvm.amdgcn.")?, params, ret).map(|op| (op, Warps::Amdgcn))
    }

    fn of_nvptx(name: &str, params: &[Type], ret: Type) -> Option<WarpOp> {
        let votes = params == [INT, Type::BOOL];
        let of_bits = |op| (votes && ret == Type::BOOL).then_some(op);
        let asks = |op| (params.is_empty() && ret == INT).then_some(op);
        if let Some(rest) = name.strip_prefix("shfl.sync.") {
            let (mode, ty) = rest.split_once('.')?;
            let ty = [("i32", INT), ("f32", Type::F32)].into_iter().find(|(n, _)| *n == ty)?.1;
            let mode = match mode {
                "idx" => Mode::Number,
                "bfly" => Mode::Xor,
                "up" => Mode::Up,
                "down" => Mode::Down,
                _ => return None,
            };
            return (params == [INT, ty, INT, INT] && ret == ty).then_some(WarpOp::Shuffle(mode));
        }
        match name {
            "vote.any.sync" => of_bits(WarpOp::Any),
            "vote.all.sync" => of_bits(WarpOp::All),
            "vote.uni.sync" => of_bits(WarpOp::Agree),
            "vote.ballot.sync" => (votes && ret == INT).then_some(WarpOp::Ballot),
            "read.ptx.sreg.laneid" => asks(WarpOp::Lane),
            "read.ptx.sreg.warpsize" => asks(WarpOp::Lanes),
            _ => None,
        }
    }

    fn of_amdgcn(name: &str, params: &[Type], ret: Type) -> Option<WarpOp> {
        let is = |stem: &str| name == stem || name.strip_prefix(stem).is_some_and(|r| r.starts_with('.'));
        // Those of types that lanes have no operation for stay calls that are refused.
        let is_element = LaneOp::First.takes(ret) && !ret.is_ptr() && params.first() == Some(&ret);
        if is("readfirstlane") {
            return (is_element && params.len() == 1).then_some(WarpOp::First);
        }
        if is("readlane") {
            return (is_element && params.len() == 2 && params[1] == INT).then_some(WarpOp::Read);
        }
        let is_mask = ret == INT || ret == Type::Int(64);
        match name {
            _ if is("ballot") => (is_mask && params == [Type::BOOL]).then_some(WarpOp::Ballot),
            "mbcnt.lo" => (params == [INT, INT] && ret == INT).then_some(WarpOp::Before { high: false }),
            "mbcnt.hi" => (params == [INT, INT] && ret == INT).then_some(WarpOp::Before { high: true }),
            "wavefrontsize" => (params.is_empty() && ret == INT).then_some(WarpOp::Lanes),
            _ => None,
        }
    }
}

/// The name and signature of the function without a body that is called.
fn called<'m>(module: &'m Module, func: &Function, i: Inst) -> Option<(&'m str, &'m [Type], Type)> {
    let Op::Call(info) = &func.insts[i].op else { return None };
    let data = &module.symbols[info.callee?];
    match &data.kind {
        SymbolKind::Function { params, ret, variadic: false } => Some((&data.name, params, *ret)),
        _ => None,
    }
}

fn warp_op(module: &Module, func: &Function, i: Inst) -> Option<(WarpOp, Warps)> {
    let (name, params, ret) = called(module, func, i)?;
    WarpOp::of(name, params, ret)
}

/// Whether lanes of a warp wait for each other here. They are taken to wait for all of the group: where all come
/// there, it does no harm.
pub(crate) fn is_barrier(module: &Module, func: &Function, i: Inst) -> bool {
    called(module, func, i).is_some_and(|(name, _, ret)| {
        ret.is_void() && matches!(name, "llvm.nvvm.bar.warp.sync" | "llvm.amdgcn.wave.barrier")
    })
}

/// Whose warps a kernel has, if it does something by warps.
pub(crate) fn of_kernel(module: &Module, func: &Function) -> Option<Warps> {
    // Where a warp's barrier is all there is, it does not matter how many lanes one has.
    let mut ops = func.layout.iter().flat_map(|&b| func.block_insts(b));
    ops.find_map(|i| warp_op(module, func, i)).map(|(_, warps)| warps)
}

/// Puts operations across lanes in the place of all calls.
///
/// # Errors
/// If one cannot be, or the kernel has more dimensions than one.
pub(crate) fn replace(module: &Module, answers: &mut Answers) -> Result<(), VectorizeError> {
    let insts = answers.func.layout.iter().flat_map(|&b| answers.func.block_insts(b));
    let calls: Vec<(Inst, WarpOp)> =
        insts.filter_map(|i| Some((i, warp_op(module, &answers.func, i)?.0))).collect();
    let Some(&(first, _)) = calls.first() else { return Ok(()) };
    let has_rows = [1, 2].into_iter().any(|d| {
        [Query::LocalId, Query::GlobalId].into_iter().any(|query| answers.asks(Added::Answer(query, d)))
    });
    if has_rows {
        let reason = "it does something by warps, which are numbered over all dimensions of a group, and asks which \
                      work-item it is in more than one";
        return Err(VectorizeError::at_inst(&answers.func, first, reason.to_owned()));
    }
    for (i, op) in calls {
        check(module, &answers.func, i, op)?;
        let found = Replacement { func: &mut answers.func, at: i }.value(op);
        let func = &mut answers.func;
        if let Some(result) = func.insts[i].result() {
            func.map_operands(|v| if v == result { found } else { v });
        }
        let block = func.insts[i].block;
        func.blocks[block].insts.retain(|&x| x != i);
    }
    Ok(())
}

/// Checks that all lanes take part: a mask that names only some would have to be theirs.
fn check(module: &Module, func: &Function, i: Inst, op: WarpOp) -> Result<(), VectorizeError> {
    let args = &func.insts[i].args;
    let has_mask = match op {
        WarpOp::Shuffle(_) | WarpOp::Any | WarpOp::All | WarpOp::Agree | WarpOp::Before { .. } => true,
        WarpOp::Ballot => args.len() == 2,
        WarpOp::First | WarpOp::Read | WarpOp::Lane | WarpOp::Lanes => false,
    };
    if !has_mask || func.as_int(args[0]).map(|mask| mask & ALL) == Some(ALL) {
        return Ok(());
    }
    let name = called(module, func, i).map_or("", |(name, ..)| name);
    let reason = format!("`{name}` names some lanes by a mask: only a mask of all lanes (-1) is served");
    Err(VectorizeError::at_inst(func, i, reason))
}

/// Code that is made in front of a call.
struct Replacement<'a> {
    func: &'a mut Function,
    at: Inst,
}

impl Replacement<'_> {
    fn emit(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.func.insert_value_before(self.at, op, args, ty, InstFlags::empty())
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        self.emit(Op::Binary(op), &[a, b], ty)
    }

    fn int(&mut self, number: u32) -> Value {
        self.func.int_const(32, number.into())
    }

    fn lane(&mut self) -> Value {
        self.emit(Op::Lane(LaneOp::LaneIndex), &[], INT)
    }

    fn value(&mut self, op: WarpOp) -> Value {
        let data = &self.func.insts[self.at];
        let (args, result) = (data.args.to_vec(), data.results[0]);
        let ty = self.func.ty(result);
        match op {
            WarpOp::Shuffle(mode) => {
                let lane = self.partner(mode, args[2], args[3]);
                self.emit(Op::Lane(LaneOp::Shuffle), &[args[1], lane], ty)
            }
            WarpOp::Any => self.emit(Op::Lane(LaneOp::Any), &[args[1]], ty),
            WarpOp::All => self.emit(Op::Lane(LaneOp::All), &[args[1]], ty),
            WarpOp::Agree => {
                let any = self.emit(Op::Lane(LaneOp::Any), &[args[1]], ty);
                let all = self.emit(Op::Lane(LaneOp::All), &[args[1]], ty);
                self.emit(Op::ICmp(IntPred::Eq), &[any, all], ty)
            }
            WarpOp::Ballot => {
                let holds = args[args.len() - 1];
                let bits = self.emit(Op::Lane(LaneOp::Ballot), &[holds], Type::Int(64));
                if ty == INT { self.emit(Op::Cast(CastOp::Trunc), &[bits], INT) } else { bits }
            }
            WarpOp::First => {
                let yes = self.func.bool_const(true);
                self.emit(Op::Lane(LaneOp::First), &[args[0], yes], ty)
            }
            WarpOp::Read => self.emit(Op::Lane(LaneOp::Shuffle), &[args[0], args[1]], ty),
            WarpOp::Before { high } => {
                let (lane, half) = (self.lane(), self.int(32));
                let is_low = self.emit(Op::ICmp(IntPred::Ult), &[lane, half], Type::BOOL);
                let (low, above) = if high {
                    let above = self.binary(BinaryOp::Sub, lane, half);
                    (self.func.constant_value(Constant::Zero(INT)), above)
                } else {
                    (lane, half)
                };
                let count = self.emit(Op::Select, &[is_low, low, above], INT);
                self.binary(BinaryOp::Add, count, args[1])
            }
            WarpOp::Lane => self.lane(),
            WarpOp::Lanes => self.emit(Op::Lane(LaneOp::LaneCount), &[], INT),
        }
    }

    /// Which lane is read, as PTX defines it: within the segment of the warp that `bounds` says, and the own one where
    /// that would be left. `bounds` has the clamp in bits 0 to 4 and the mask of segments in bits 8 to 12.
    fn partner(&mut self, mode: Mode, k: Value, bounds: Value) -> Value {
        let (low, eight) = (self.int(31), self.int(8));
        let lane = self.lane();
        let k = self.binary(BinaryOp::And, k, low);
        let clamp = self.binary(BinaryOp::And, bounds, low);
        let segment = self.binary(BinaryOp::LShr, bounds, eight);
        let segment = self.binary(BinaryOp::And, segment, low);
        let rest = self.binary(BinaryOp::Xor, segment, low);
        let least = self.binary(BinaryOp::And, lane, segment);
        let within = self.binary(BinaryOp::And, clamp, rest);
        let limit = self.binary(BinaryOp::Or, least, within);
        let (wanted, inside) = match mode {
            Mode::Up => (self.binary(BinaryOp::Sub, lane, k), IntPred::Sge),
            Mode::Down => (self.binary(BinaryOp::Add, lane, k), IntPred::Sle),
            Mode::Xor => (self.binary(BinaryOp::Xor, lane, k), IntPred::Sle),
            Mode::Number => {
                let k = self.binary(BinaryOp::And, k, rest);
                (self.binary(BinaryOp::Or, least, k), IntPred::Sle)
            }
        };
        let is_inside = self.emit(Op::ICmp(inside), &[wanted, limit], Type::BOOL);
        self.emit(Op::Select, &[is_inside, wanted, lane], INT)
    }
}
