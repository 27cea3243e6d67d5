//! Rules 9 to 13: what goes together in one instruction.

use super::Rule;
use crate::{
    Atomic, AtomicOrdering, BinaryOp, CastOp, Function, Inst, InstFlags, LaneOp, Module, Op, RmwOp, Scalar,
    SymbolKind, Type, VectorType,
};

type Check = Result<(), (Rule, String)>;

fn ensure(condition: bool, message: &str) -> Check {
    if condition { Ok(()) } else { Err((Rule::Types, message.to_string())) }
}

/// Checks one instruction, φ operands excepted.
pub(super) fn check(module: &Module, func: &Function, inst: Inst) -> Check {
    let data = &func.insts[inst];
    let args: Vec<Type> = data.args.iter().map(|&a| func.ty(a)).collect();
    let results: Vec<Type> = data.results.iter().map(|&r| func.ty(r)).collect();
    counts(module, &data.op, &args, &results)?;
    if data.op == Op::Sigma && results.len() != func.out_edges(data.block).len() {
        return Err((Rule::Sigmas, "a sigma has one result per out-edge of its block".into()));
    }
    flags(&data.op, data.flags)?;
    let case = Case { module, args: &args, result: results.first().copied().unwrap_or(Type::Void) };
    match &data.op {
        Op::ParallelCopy => ensure(args == results, "a copy has the types of its operands"),
        Op::Sigma => ensure(results.iter().all(|&r| r == args[0]), "a sigma has the type of its operand"),
        Op::ReadVar(x) => ensure(case.result == func.vars[*x].ty, "the result has the variable's type"),
        Op::WriteVar(x) => ensure(args[0] == func.vars[*x].ty, "the operand has the variable's type"),
        Op::Ret => ensure(args.first().copied().unwrap_or(Type::Void) == func.ret, "not the return type"),
        Op::Call(info) => case.call(info.callee, info.variadic_fixed),
        op => case.op(op),
    }
}

/// The number of operands and results of an operation; `None` where any number will do.
fn counts(module: &Module, op: &Op, args: &[Type], results: &[Type]) -> Check {
    let (operands, values) = match op {
        Op::Phi | Op::ReadVar(_) => (Some(0), Some(1)),
        Op::Binary(_) | Op::ICmp(_) | Op::FCmp(_) | Op::ExtractElement | Op::Shuffle(_) => (Some(2), Some(1)),
        Op::FNeg | Op::Freeze | Op::Cast(_) | Op::Load(_) | Op::Alloca { .. } => (Some(1), Some(1)),
        Op::Select | Op::InsertElement => (Some(3), Some(1)),
        Op::ExtractValue(_) => (Some(1), Some(1)),
        Op::InsertValue(_) => (Some(2), Some(1)),
        Op::Gep(_) => (None, Some(1)),
        Op::Store(_) => (Some(2), Some(0)),
        Op::WriteVar(_) => (Some(1), Some(0)),
        Op::Call(info) => {
            let ret = info.callee.map(|s| &module.symbols[s].kind);
            let returns = match ret {
                Some(SymbolKind::Function { ret, .. }) => Some(usize::from(!ret.is_void())),
                _ => None,
            };
            (None, returns)
        }
        Op::Opaque(_) | Op::OpaqueTerm(_) | Op::ParallelCopy => (None, None),
        Op::Sigma => (Some(1), None),
        Op::Lane(op) => {
            let n = op.signature(Type::Void).0.len();
            (Some(n), Some(1))
        }
        Op::Br | Op::Unreachable => (Some(0), Some(0)),
        Op::CondBr | Op::Switch(_) => (Some(1), Some(0)),
        Op::Ret => (None, Some(0)),
    };
    let found = results.len();
    let most = if matches!(op, Op::ParallelCopy | Op::Sigma) { usize::MAX } else { 1 };
    if values.is_some_and(|n| n != found) || found > most {
        return Err((Rule::Results, format!("the instruction cannot have {found} results")));
    }
    if results.iter().any(|t| t.is_void()) {
        return Err((Rule::Results, "a result of type void".into()));
    }
    let least = if matches!(op, Op::Gep(_)) { 1 } else { 0 };
    if operands.is_some_and(|n| n != args.len()) || args.len() < least || *op == Op::Ret && args.len() > 1 {
        return Err((Rule::Operands, format!("the instruction cannot have {} operands", args.len())));
    }
    Ok(())
}

fn flags(op: &Op, flags: InstFlags) -> Check {
    let allowed = match op {
        Op::Binary(op) => match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl => InstFlags::NUW | InstFlags::NSW,
            BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::LShr | BinaryOp::AShr => InstFlags::EXACT,
            BinaryOp::Or => InstFlags::DISJOINT,
            _ if op.is_float() => InstFlags::FAST,
            _ => InstFlags::empty(),
        },
        Op::Cast(op) => match op {
            CastOp::Trunc => InstFlags::NUW | InstFlags::NSW,
            CastOp::ZExt => InstFlags::NNEG,
            CastOp::UiToFp => InstFlags::NNEG | InstFlags::FAST,
            CastOp::SiToFp | CastOp::FpTrunc | CastOp::FpExt => InstFlags::FAST,
            _ => InstFlags::empty(),
        },
        Op::Gep(_) => InstFlags::INBOUNDS | InstFlags::NUSW | InstFlags::NUW,
        Op::ICmp(_) => InstFlags::SAMESIGN,
        Op::FNeg
        | Op::FCmp(_)
        | Op::Phi
        | Op::Select
        | Op::Call(_)
        | Op::Lane(LaneOp::Blend | LaneOp::BlendAny) => InstFlags::FAST,
        Op::Opaque(_) | Op::OpaqueTerm(_) => InstFlags::all(),
        _ => InstFlags::empty(),
    };
    if allowed.contains(flags) {
        return Ok(());
    }
    Err((Rule::Flags, format!("flags that {} cannot have", op.name())))
}

struct Case<'a> {
    module: &'a Module,
    args: &'a [Type],
    result: Type,
}

fn is_int(ty: Type) -> bool {
    matches!(ty.elem(), Some(Scalar::Int(_)))
}

fn is_float(ty: Type) -> bool {
    matches!(ty.elem(), Some(Scalar::Float(_)))
}

fn is_ptr(ty: Type) -> bool {
    matches!(ty.elem(), Some(Scalar::Ptr(_)))
}

/// Number of elements of a vector, `None` for anything else.
fn lanes(ty: Type) -> Option<(u32, bool)> {
    match ty {
        Type::Vector(v) => Some((v.lanes, v.scalable)),
        _ => None,
    }
}

/// `elem`, or a vector of it if `like` is a vector.
fn shaped(elem: Scalar, like: Type) -> Type {
    match like {
        Type::Vector(v) => Type::Vector(VectorType { elem, ..v }),
        _ => elem.into(),
    }
}

impl Case<'_> {
    fn op(&self, op: &Op) -> Check {
        let (args, result) = (self.args, self.result);
        match op {
            Op::Binary(op) => {
                ensure(args[0] == result && args[1] == result, "operands and result have one type")?;
                let fits = if op.is_float() { is_float(result) } else { is_int(result) };
                ensure(fits, "the operation does not work on this type")
            }
            Op::FNeg => ensure(args[0] == result && is_float(result), "floating-point numbers of one type"),
            Op::ICmp(_) => {
                ensure(is_int(args[0]) || is_ptr(args[0]), "integers or pointers are compared")?;
                self.comparison()
            }
            Op::FCmp(_) => {
                ensure(is_float(args[0]), "floating-point numbers are compared")?;
                self.comparison()
            }
            Op::Select => {
                ensure(args[1] == result && args[2] == result, "arms and result have one type")?;
                let lanewise = lanes(result).is_some() && args[0] == shaped(Scalar::Int(1), result);
                ensure(args[0] == Type::BOOL || lanewise, "the condition is an i1")
            }
            Op::Freeze => ensure(args[0] == result, "operand and result have one type"),
            Op::Cast(op) => self.cast(*op),
            Op::Gep(_) => self.address(),
            Op::Load(m) => {
                ensure(args[0].is_ptr(), "the address is a pointer")?;
                ensure(m.align.is_power_of_two(), "the alignment is a power of two")
            }
            Op::Store(m) => {
                ensure(args[1].is_ptr(), "the address is a pointer")?;
                ensure(m.align.is_power_of_two(), "the alignment is a power of two")
            }
            Op::Alloca { align, .. } => {
                ensure(args[0].is_int(), "the count is an integer")?;
                ensure(result.is_ptr(), "the result is a pointer")?;
                ensure(align.is_power_of_two(), "the alignment is a power of two")
            }
            Op::ExtractElement => {
                ensure(lanes(args[0]).is_some() && args[1].is_int(), "a vector and an index")?;
                ensure(args[0].elem().map(Type::from) == Some(result), "the result is an element")
            }
            Op::InsertElement => {
                ensure(args[0] == result && lanes(result).is_some(), "vector and result have one type")?;
                ensure(result.elem().map(Type::from) == Some(args[1]), "an element of the vector")?;
                ensure(args[2].is_int(), "the index is an integer")
            }
            Op::Shuffle(mask) => self.shuffle(mask),
            Op::ExtractValue(path) => ensure(self.member(path)? == result, "the result is the member"),
            Op::InsertValue(path) => {
                ensure(args[0] == result, "aggregate and result have one type")?;
                ensure(self.member(path)? == args[1], "the operand is a member")
            }
            Op::Lane(op) => self.lane(*op),
            Op::Opaque(info) => info.atomic.map_or(Ok(()), |atomic| self.atomic(atomic)),
            Op::CondBr => ensure(args[0] == Type::BOOL, "the condition is an i1"),
            Op::Switch(values) => {
                let Type::Int(bits) = args[0] else { return ensure(false, "the operand is an integer") };
                let fits = |v: u128| bits >= 128 || v >> bits == 0;
                ensure(values.iter().all(|&v| fits(v)), "a case value that the type cannot have")?;
                let mut sorted = values.to_vec();
                sorted.sort_unstable();
                ensure(sorted.windows(2).all(|w| w[0] != w[1]), "a case value that stands twice")
            }
            _ => Ok(()),
        }
    }

    fn atomic(&self, atomic: Atomic) -> Check {
        let (access, operands) = match atomic {
            Atomic::Rmw { access, .. } => (access, 2),
            Atomic::CompareExchange { access, .. } => (access, 3),
            Atomic::Fence(_) => {
                return ensure(self.args.is_empty() && self.result.is_void(), "a fence has no operands");
            }
        };
        ensure(self.args.len() == operands, "the number of operands of the atomic operation")?;
        ensure(access.align.is_power_of_two(), "the alignment is a power of two")?;
        let is_update = matches!(atomic, Atomic::Rmw { .. });
        ensure(
            is_update || access.ordering != AtomicOrdering::NotAtomic,
            "an atomic operation has an ordering",
        )?;
        ensure(self.args[0].is_ptr(), "the address is a pointer")?;
        let ty = self.args[1];
        match atomic {
            Atomic::Rmw { op, .. } => {
                let fits = match op {
                    RmwOp::Xchg => ty.scalar().is_some(),
                    RmwOp::FAdd | RmwOp::FSub => ty.is_float(),
                    _ => ty.is_int(),
                };
                ensure(fits, "the operation does not work on this type")?;
                ensure(self.result == ty, "the result has the operand's type")
            }
            _ => {
                let member = |k| self.module.types.member(self.result, k);
                ensure(
                    ty == self.args[2] && !ty.is_float(),
                    "integers or pointers of one type are exchanged",
                )?;
                ensure(
                    member(0) == Some(ty) && member(1) == Some(Type::BOOL),
                    "the result is { old value, i1 }",
                )
            }
        }
    }

    fn comparison(&self) -> Check {
        ensure(self.args[0] == self.args[1], "both operands have one type")?;
        ensure(self.result == shaped(Scalar::Int(1), self.args[0]), "the result is an i1")
    }

    fn cast(&self, op: CastOp) -> Check {
        let (from, to) = (self.args[0], self.result);
        let (Some(a), Some(b)) = (from.elem(), to.elem()) else {
            return ensure(op == CastOp::Bitcast && from == to, "scalars or vectors are converted");
        };
        if op == CastOp::Bitcast {
            let size = |ty: Type, e: Scalar| {
                let bits = u64::from(self.module.layout.scalar_bits(e));
                (bits * u64::from(lanes(ty).map_or(1, |l| l.0)), lanes(ty).is_some_and(|l| l.1))
            };
            ensure(is_ptr(from) == is_ptr(to), "a bitcast makes no pointers and takes none apart")?;
            return ensure(size(from, a) == size(to, b), "a bitcast keeps the number of bits");
        }
        ensure(lanes(from) == lanes(to), "a conversion keeps the number of elements")?;
        let bits = |s: Scalar| self.module.layout.scalar_bits(s);
        let fits = match op {
            CastOp::Trunc => is_int(from) && is_int(to) && bits(a) > bits(b),
            CastOp::ZExt | CastOp::SExt => is_int(from) && is_int(to) && bits(a) < bits(b),
            CastOp::FpToUi | CastOp::FpToSi => is_float(from) && is_int(to),
            CastOp::UiToFp | CastOp::SiToFp => is_int(from) && is_float(to),
            CastOp::FpTrunc => is_float(from) && is_float(to) && bits(a) > bits(b),
            CastOp::FpExt => is_float(from) && is_float(to) && bits(a) < bits(b),
            CastOp::PtrToInt | CastOp::PtrToAddr => is_ptr(from) && is_int(to),
            CastOp::IntToPtr => is_int(from) && is_ptr(to),
            CastOp::AddrSpaceCast => is_ptr(from) && is_ptr(to) && a != b,
            CastOp::Bitcast => true,
        };
        ensure(fits, "the conversion does not lead from this type to that one")
    }

    fn address(&self) -> Check {
        let base = self.args[0];
        ensure(
            is_ptr(base) && base.elem() == self.result.elem(),
            "base and result are pointers of one kind",
        )?;
        ensure(self.args[1..].iter().all(|&t| is_int(t)), "the indices are integers")?;
        let mut vector = None;
        for shape in self.args.iter().filter_map(|&t| lanes(t)) {
            ensure(*vector.get_or_insert(shape) == shape, "vectors of different lengths")?;
        }
        ensure(lanes(self.result) == vector, "the result is a vector if an operand is one")
    }

    fn shuffle(&self, mask: &[i32]) -> Check {
        let (Type::Vector(from), Type::Vector(to)) = (self.args[0], self.result) else {
            return ensure(false, "vectors are shuffled");
        };
        ensure(self.args[0] == self.args[1], "both operands have one type")?;
        let fits = from.elem == to.elem && from.scalable == to.scalable && to.lanes as usize == mask.len();
        ensure(fits, "the result has an element for each number of the mask")?;
        let bound = i64::from(from.lanes) * 2;
        ensure(mask.iter().all(|&m| m >= -1 && i64::from(m) < bound), "the mask names elements that exist")
    }

    fn member(&self, path: &[u32]) -> Result<Type, (Rule, String)> {
        let start = (!path.is_empty()).then_some(self.args[0]);
        path.iter()
            .fold(start, |ty, &i| match ty? {
                Type::Vector(_) => None,
                ty => self.module.types.member(ty, u64::from(i)),
            })
            .ok_or_else(|| (Rule::Types, "the path leads to no member".into()))
    }

    fn lane(&self, op: LaneOp) -> Check {
        let (args, result) = (self.args, self.result);
        let elem = match op {
            LaneOp::Compact => args[1],
            LaneOp::Blend | LaneOp::BlendAny => result,
            _ if op.has_element() => args[0],
            _ => Type::Void,
        };
        ensure(!op.has_element() || op.takes(elem), "the operation does not work on this type")?;
        let (wanted, returned) = op.signature(elem);
        ensure(args == wanted, "an operand has another type")?;
        ensure(result == returned, "the result has another type")
    }

    fn call(&self, callee: Option<crate::Symbol>, fixed: Option<u32>) -> Check {
        let wrong = |message: &str| Err((Rule::Calls, message.to_string()));
        let Some(symbol) = callee else {
            return match self.args.last() {
                Some(t) if t.is_ptr() => Ok(()),
                _ => wrong("the callee is a pointer"),
            };
        };
        let SymbolKind::Function { params, ret, variadic } = &self.module.symbols[symbol].kind else {
            return wrong("the callee is no function");
        };
        if !self.args.starts_with(params) || (!variadic && self.args.len() > params.len()) {
            return wrong("the arguments are not those of the declaration");
        }
        if self.result != *ret {
            return wrong("the result is not that of the declaration");
        }
        if fixed != variadic.then_some(params.len() as u32) {
            return wrong("the number of fixed parameters is not that of the declaration");
        }
        Ok(())
    }
}
