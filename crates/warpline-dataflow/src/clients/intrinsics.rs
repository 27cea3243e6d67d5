//! LLVM's functions on integers, found by their names.

use warpline_ir::{BinaryOp, Function, Inst, InstData, Module, Op};

/// A function on integers. Operands and meaning are LLVM's.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Intrinsic {
    /// `llvm.smax`
    SMax,
    /// `llvm.smin`
    SMin,
    /// `llvm.umax`
    UMax,
    /// `llvm.umin`
    UMin,
    /// `llvm.sadd.sat`
    SAddSat,
    /// `llvm.uadd.sat`
    UAddSat,
    /// `llvm.ssub.sat`
    SSubSat,
    /// `llvm.usub.sat`
    USubSat,
    /// `llvm.scmp`
    SCmp,
    /// `llvm.ucmp`
    UCmp,
    /// `llvm.abs`; the second operand says whether the least integer gives poison.
    Abs,
    /// `llvm.ctpop`
    CtPop,
    /// `llvm.ctlz`; the second operand says whether zero gives poison.
    CtLz,
    /// `llvm.cttz`; the second operand says whether zero gives poison.
    CtTz,
    /// `llvm.bswap`
    BSwap,
    /// `llvm.bitreverse`
    BitReverse,
    /// `llvm.fshl`
    FunnelLeft,
    /// `llvm.fshr`
    FunnelRight,
    /// `llvm.*.with.overflow`: the operation and whether it is signed. The result is a pair.
    Overflow(BinaryOp, bool),
    /// A function whose result is its first operand.
    First,
}

/// The function of this name.
pub fn named(name: &str) -> Option<Intrinsic> {
    use Intrinsic::*;
    let rest = name.strip_prefix("llvm.")?;
    // What follows the last dot is the type that the function is for; `ucmp` and `scmp` have two.
    let base = match rest.rsplit_once('.')? {
        (base, _) if base.starts_with("ucmp.") || base.starts_with("scmp.") => &base[..4],
        (base, _) => base,
    };
    Some(match base {
        "smax" => SMax,
        "smin" => SMin,
        "umax" => UMax,
        "umin" => UMin,
        "sadd.sat" => SAddSat,
        "uadd.sat" => UAddSat,
        "ssub.sat" => SSubSat,
        "usub.sat" => USubSat,
        "scmp" => SCmp,
        "ucmp" => UCmp,
        "abs" => Abs,
        "ctpop" => CtPop,
        "ctlz" => CtLz,
        "cttz" => CtTz,
        "bswap" => BSwap,
        "bitreverse" => BitReverse,
        "fshl" => FunnelLeft,
        "fshr" => FunnelRight,
        "sadd.with.overflow" => Overflow(BinaryOp::Add, true),
        "uadd.with.overflow" => Overflow(BinaryOp::Add, false),
        "ssub.with.overflow" => Overflow(BinaryOp::Sub, true),
        "usub.with.overflow" => Overflow(BinaryOp::Sub, false),
        "smul.with.overflow" => Overflow(BinaryOp::Mul, true),
        "umul.with.overflow" => Overflow(BinaryOp::Mul, false),
        "expect" | "expect.with.probability" | "ssa.copy" => First,
        _ => return None,
    })
}

/// The function that an instruction calls, if it is one of these on scalars.
pub fn called(module: &Module, func: &Function, data: &InstData) -> Option<Intrinsic> {
    let Op::Call(call) = &data.op else { return None };
    func.ty(*data.args.first()?).is_int().then_some(())?;
    named(&module.symbols[call.callee?].name)
}

/// Which calls of a function are calls of these, so that names are read once.
#[derive(Clone, Debug)]
pub struct Calls {
    known: Vec<(Inst, Intrinsic)>,
}

impl Calls {
    /// Looks at all calls in blocks of the layout.
    pub fn of(module: &Module, func: &Function) -> Calls {
        let insts = func.layout.iter().flat_map(|&b| func.blocks[b].insts.iter().copied());
        let mut known: Vec<(Inst, Intrinsic)> =
            insts.filter_map(|i| Some((i, called(module, func, &func.insts[i])?))).collect();
        known.sort_unstable_by_key(|&(i, _)| i);
        Calls { known }
    }

    /// What an instruction calls.
    pub fn get(&self, inst: Inst) -> Option<Intrinsic> {
        let at = self.known.binary_search_by_key(&inst, |&(i, _)| i).ok()?;
        Some(self.known[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_with_their_types_and_others_are_not() {
        assert_eq!(named("llvm.umax.i64"), Some(Intrinsic::UMax));
        assert_eq!(named("llvm.ucmp.i8.i32"), Some(Intrinsic::UCmp));
        assert_eq!(named("llvm.uadd.with.overflow.i64"), Some(Intrinsic::Overflow(BinaryOp::Add, false)));
        assert_eq!(named("llvm.expect.i1"), Some(Intrinsic::First));
        assert_eq!(named("llvm.vector.reduce.umax.v4i32"), None);
        assert_eq!(named("umax"), None);
        assert_eq!(named("llvm.assume"), None);
    }
}
