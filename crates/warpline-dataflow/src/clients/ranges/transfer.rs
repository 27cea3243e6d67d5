//! What an instruction yields from what is known of its operands.

use smallvec::SmallVec;
use warpline_analysis::dataflow::{ForwardFacts, Instruction, Lattice};

use super::{Assumptions, Fact, Range, Ranges, arithmetic, functions};
use crate::clients::intrinsics::Intrinsic;
use crate::conditions::inverse;
use warpline_ir::{AggregateType, BinaryOp, Inst, InstData, InstFlags, IntPred, Op, Type, Value};

impl<A: Assumptions> Ranges<'_, A> {
    pub(super) fn transfer(&self, at: Instruction, facts: &mut impl ForwardFacts<Fact>) {
        let inst = self.code.inst(at);
        let data = &self.func.insts[inst];
        let results = self.code.program().definitions(at).len();
        if results == 0 {
            return;
        }
        match &data.op {
            Op::ParallelCopy => {
                for k in 0..results {
                    facts.define(k, facts.before(k).clone());
                }
            }
            Op::ReadVar(_) | Op::WriteVar(_) => facts.define(0, facts.before(0).clone()),
            _ if data.results.len() == 1 => {
                let fact = self.result(inst, data, facts);
                facts.define(0, fact);
            }
            _ => {
                for (k, &r) in data.results.iter().enumerate() {
                    facts.define(k, Fact::any(self.func.ty(r)));
                }
            }
        }
    }

    fn result(&self, inst: Inst, data: &InstData, facts: &impl ForwardFacts<Fact>) -> Fact {
        let ty = self.func.ty(data.results[0]);
        let any = Fact::any(ty);
        // Poison makes poison of all that is computed from it.
        let nothing = |operands: usize| (0..operands).any(|k| *facts.before(k) == Fact::Nothing);
        let range = |k: usize| facts.before(k).range();
        match &data.op {
            Op::Binary(_) | Op::ICmp(_) | Op::Cast(_) if nothing(data.args.len()) => Fact::Nothing,
            Op::Binary(op) => match (range(0), range(1)) {
                (Some(a), Some(b)) => arithmetic::binary(*op, data.flags, a, b).into(),
                _ => any,
            },
            Op::ICmp(pred) => match (range(0), range(1)) {
                (Some(a), Some(b)) => Fact::In(Range::truth(arithmetic::compare(*pred, a, b))),
                _ => any,
            },
            Op::Cast(op) => match (range(0), ty) {
                (Some(a), Type::Int(to @ ..=128)) if !self.func.ty(data.args[0]).is_ptr() => {
                    functions::cast(*op, data.flags, a, to).into()
                }
                _ => any,
            },
            Op::Select => match facts.before(0) {
                Fact::Nothing => Fact::Nothing,
                Fact::In(c) if c.bits() == 1 && self.func.ty(data.args[0]).is_int() => match c.only() {
                    Some(1) => facts.before(1).clone(),
                    Some(_) => facts.before(2).clone(),
                    None => {
                        let mut both = self.arm(data, true, facts.before(1));
                        both.meet(&self.arm(data, false, facts.before(2)));
                        both
                    }
                },
                _ => any,
            },
            Op::Freeze => match (self.func.constant(data.args[0]), facts.before(0)) {
                (Some(_), fact @ Fact::In(_)) => fact.clone(),
                _ => any,
            },
            Op::ExtractValue(path) => match (facts.before(0), &path[..]) {
                (Fact::Nothing, _) => Fact::Nothing,
                (Fact::Pair(parts), &[k @ (0 | 1)]) => parts[k as usize].clone(),
                _ => any,
            },
            Op::InsertValue(path) => self.insert(ty, path, facts),
            Op::Call(_) => match self.calls.get(inst) {
                Some(_) if nothing(data.args.len()) => Fact::Nothing,
                Some(f) => self.intrinsic(f, ty, data, facts),
                None => self.assumptions.result(inst).map_or(any, Fact::In),
            },
            Op::Load(_) => self.assumptions.result(inst).map_or(any, Fact::In),
            _ => any,
        }
    }

    /// What one arm of a selection is where it is selected: the difference of two numbers is not negative where the
    /// condition says that the first is the greater, as in `p > q ? p - q : q - p`.
    fn arm(&self, data: &InstData, holds: bool, fact: &Fact) -> Fact {
        let func = self.func;
        let of = |v: Value| func.def_inst(v).map(|i| &func.insts[i]);
        let (condition, arm) = (of(data.args[0]), of(data.args[if holds { 1 } else { 2 }]));
        let is_greater = condition.zip(arm).is_some_and(|(condition, arm)| {
            let (&Op::ICmp(pred), Op::Binary(BinaryOp::Sub)) = (&condition.op, &arm.op) else { return false };
            let pred = if holds { pred } else { inverse(pred) };
            let greater = match pred {
                IntPred::Sgt | IntPred::Sge => [condition.args[0], condition.args[1]],
                IntPred::Slt | IntPred::Sle => [condition.args[1], condition.args[0]],
                _ => return false,
            };
            arm.flags.contains(InstFlags::NSW) && arm.args[..] == greater
        });
        match fact {
            Fact::In(range) if is_greater => {
                let natural = Range::signed(range.bits(), 0, i128::MAX >> (128 - range.bits()));
                natural.and_then(|n| range.intersection(&n)).map_or(Fact::Nothing, Fact::In)
            }
            _ => fact.clone(),
        }
    }

    /// A structure of two members with one of them replaced.
    fn insert(&self, ty: Type, path: &[u32], facts: &impl ForwardFacts<Fact>) -> Fact {
        let members = self.members(ty);
        let (Some(members), &[at @ (0 | 1)]) = (members, path) else { return Fact::Anything };
        let mut parts = match facts.before(0) {
            Fact::Nothing => [Fact::Nothing, Fact::Nothing],
            Fact::Pair(parts) => (**parts).clone(),
            _ => members.map(Fact::any),
        };
        parts[at as usize] = facts.before(1).clone();
        Fact::pair(parts)
    }

    /// The types of a structure's members, if it has two, neither of them a structure.
    fn members(&self, ty: Type) -> Option<[Type; 2]> {
        let Type::Aggregate(aggregate) = ty else { return None };
        let AggregateType::Struct { fields: Some(fields), .. } = self.types.get(aggregate) else {
            return None;
        };
        match fields[..] {
            [a, b] if !matches!((a, b), (Type::Aggregate(_), _) | (_, Type::Aggregate(_))) => Some([a, b]),
            _ => None,
        }
    }

    fn intrinsic(&self, f: Intrinsic, ty: Type, data: &InstData, facts: &impl ForwardFacts<Fact>) -> Fact {
        let known: Option<SmallVec<[Range; 3]>> =
            (0..data.args.len()).map(|k| facts.before(k).range().copied()).collect();
        match (f, known, ty) {
            (Intrinsic::Overflow(op, is_signed), Some(known), _) => {
                let parts = functions::with_overflow(op, is_signed, &known[0], &known[1]);
                Fact::pair(parts.map(Fact::from))
            }
            (Intrinsic::First, _, Type::Int(_)) => facts.before(0).clone(),
            (_, Some(known), Type::Int(to @ ..=128)) => functions::intrinsic(f, to, &known).into(),
            _ => Fact::any(ty),
        }
    }
}
