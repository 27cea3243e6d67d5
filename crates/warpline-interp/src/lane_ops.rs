//! Operations on lanes, by what they are documented to mean.

use super::access::{self, address_of};
use super::code::{Ins, MemType, Slot};
use super::exec::{Exec, Frame};
use super::intrinsic::{ElemTypes, IntFunction, Reduction, reduce};
use super::trap::TrapKind;
use super::value::{Cell, LaneSet};
use warpline_ir::{BinaryOp, Combine, InstFlags, LaneOp, Scalar, Type};

/// The trap of a lane.
type LaneTrap = (u32, TrapKind);

impl Exec<'_, '_, '_> {
    /// A lane operation of the given lanes.
    pub(super) fn lane_op(
        &mut self,
        frame: &mut Frame,
        op: LaneOp,
        [a, b, c]: [Slot; 3],
        dst: Slot,
        lanes: LaneSet,
    ) {
        let conditions = || lanes.iter().map(|l| (l, frame.cell(l, a)));
        let undefined = conditions().map(|(_, c)| c).find(|c| !c.is_defined());
        let holds = |(_, c): &(u32, Cell)| c.bits != 0;
        let bits = match op {
            LaneOp::Any | LaneOp::MaskAny => u128::from(conditions().any(|c| holds(&c))),
            LaneOp::All => u128::from(conditions().all(|c| holds(&c))),
            LaneOp::Ballot => conditions().filter(holds).map(|(l, _)| 1 << l).sum(),
            LaneOp::Popcount => conditions().filter(holds).count() as u128,
            LaneOp::LaneCount => u128::from(self.width),
            LaneOp::LaneIndex => 0,
            _ => {
                for lane in lanes.iter() {
                    let f = frame.lane(lane);
                    let mask = f[a.at as usize];
                    match op {
                        LaneOp::MaskAnd => {
                            f[dst.at as usize] = super::scalar::select(mask, f[b.at as usize], Cell::ZERO);
                        }
                        LaneOp::MaskAndNot => {
                            let x = f[b.at as usize];
                            let not = if x.is_defined() { Cell::new(x.bits ^ 1) } else { x };
                            f[dst.at as usize] = super::scalar::select(mask, not, Cell::ZERO);
                        }
                        LaneOp::BitOfLane => {
                            let bit = Cell::new(mask.bits >> lane & 1);
                            f[dst.at as usize] = if mask.is_defined() { bit } else { mask };
                        }
                        LaneOp::MaskOr => {
                            let x = f[b.at as usize];
                            let undefined = super::scalar::propagate(&[mask, x]);
                            f[dst.at as usize] = undefined.unwrap_or(Cell::new(mask.bits | x.bits));
                        }
                        _ => {
                            for i in 0..dst.len {
                                f[(dst.at + i) as usize] =
                                    super::scalar::select(mask, f[b.elem(i)], f[c.elem(i)]);
                            }
                        }
                    }
                }
                return;
            }
        };
        let result = match (undefined, op) {
            (_, LaneOp::LaneCount | LaneOp::LaneIndex) | (None, _) => Cell::new(bits),
            (Some(u), _) => u,
        };
        for lane in lanes.iter() {
            let cell = if op == LaneOp::LaneIndex { Cell::new(lane.into()) } else { result };
            frame.set(lane, dst, &[cell]);
        }
    }

    /// An operation on elements of the given lanes. Where it traps, the lane and why.
    pub(super) fn lane_elements(
        &mut self,
        frame: &mut Frame,
        ins: &Ins,
        op: LaneOp,
        elem: Type,
        lanes: LaneSet,
    ) -> Result<(), LaneTrap> {
        let row = |slot: Slot| -> Vec<Cell> { lanes.iter().map(|l| frame.cell(l, slot)).collect() };
        let results = match op {
            LaneOp::Shuffle => {
                let from = |k: Cell| match k.defined() {
                    Some(k) if k < u128::from(self.width) && lanes.contains(k as u32) => {
                        frame.cell(k as u32, ins.a)
                    }
                    Some(_) => Cell::ZERO,
                    None => k,
                };
                row(ins.b).into_iter().map(from).collect()
            }
            LaneOp::First => {
                let conditions = row(ins.b);
                let undefined = conditions.iter().find(|c| !c.is_defined());
                let first = conditions.iter().position(|c| c.bits != 0);
                let found = undefined.copied().or(first.map(|k| row(ins.a)[k])).unwrap_or(Cell::ZERO);
                vec![found; conditions.len()]
            }
            LaneOp::Uniform => {
                let all = row(ins.a);
                let differ = |x: &Cell| x.is_defined() && all[0].is_defined() && x.bits != all[0].bits;
                if let Some(k) = all.iter().position(differ) {
                    return Err((lanes.iter().nth(k).unwrap_or(0), TrapKind::NotUniform));
                }
                let undefined = all.iter().find(|c| !c.is_defined()).copied();
                vec![undefined.unwrap_or(all[0]); all.len()]
            }
            LaneOp::Insert => lanes
                .iter()
                .map(|l| match frame.cell(l, ins.b).defined() {
                    Some(k) if k == u128::from(l) => frame.cell(l, ins.c),
                    Some(_) => frame.cell(l, ins.a),
                    None => frame.cell(l, ins.b),
                })
                .collect(),
            LaneOp::Compact => {
                let stored = self.compact(frame, ins, elem, lanes)?;
                vec![Cell::new(stored.into()); lanes.len() as usize]
            }
            LaneOp::Reduce(c) => {
                let all = row(ins.a);
                let total = combined(c, elem, c.neutral(elem), &all).map_err(|kind| first(lanes, kind))?;
                vec![total; all.len()]
            }
            LaneOp::ScanExclusive(c) | LaneOp::ScanInclusive(c) => {
                let all = row(ins.a);
                let inclusive = matches!(op, LaneOp::ScanInclusive(_));
                let start = if inclusive { c.neutral(elem) } else { c.beginning(elem) };
                let upto = |k: usize| combined(c, elem, start, &all[..k + usize::from(inclusive)]);
                (0..all.len()).map(upto).collect::<Result<_, _>>().map_err(|kind| first(lanes, kind))?
            }
            _ => return Err(first(lanes, TrapKind::Unsupported(format!("`{}` of elements", op.name())))),
        };
        for (lane, cell) in lanes.iter().zip(results) {
            frame.set(lane, ins.dst, &[cell]);
        }
        Ok(())
    }

    /// Stores the values of the lanes that want it one after another. How many.
    fn compact(&mut self, frame: &Frame, ins: &Ins, elem: Type, lanes: LaneSet) -> Result<u32, LaneTrap> {
        let bits = elem.scalar().map_or(0, |s| self.m.module.layout.scalar_bits(s));
        let bytes = bits.div_ceil(8);
        let mut stored = 0;
        for lane in lanes.iter() {
            let wants = frame.cell(lane, ins.c);
            match wants.defined() {
                Some(0) => continue,
                Some(_) => {}
                None => return Err((lane, TrapKind::UndefinedOperand(wants.state))),
            }
            let base = address_of(frame.cell(lane, ins.a)).map_err(|kind| (lane, kind))?;
            let address = base.wrapping_add(u64::from(stored) * u64::from(bytes));
            let ty = MemType::Scalar { bytes, bits };
            access::store(&mut self.m.memory, lane, address, &ty, &[frame.cell(lane, ins.b)])
                .map_err(|kind| (lane, kind))?;
            stored += 1;
        }
        Ok(stored)
    }
}

fn first(lanes: LaneSet, kind: TrapKind) -> LaneTrap {
    (lanes.lowest().unwrap_or(0), kind)
}

/// Numbers combined in order, from a start on.
pub(super) fn combined(c: Combine, elem: Type, start: u128, numbers: &[Cell]) -> Result<Cell, TrapKind> {
    let (int, float, limit) = match c {
        Combine::Add => (Some(BinaryOp::Add), Some(BinaryOp::FAdd), None),
        Combine::Mul => (Some(BinaryOp::Mul), Some(BinaryOp::FMul), None),
        Combine::And => (Some(BinaryOp::And), None, None),
        Combine::Or => (Some(BinaryOp::Or), None, None),
        Combine::Xor => (Some(BinaryOp::Xor), None, None),
        Combine::Min => (None, None, Some(IntFunction::SMin)),
        Combine::Max => (None, None, Some(IntFunction::SMax)),
        Combine::UMin => (None, None, Some(IntFunction::UMin)),
        Combine::UMax => (None, None, Some(IntFunction::UMax)),
    };
    let max = c == Combine::Max;
    let (scalar, bits, how) = match elem {
        Type::Int(bits) => {
            (Scalar::Int(bits), bits, int.map(Reduction::Int).or(limit.map(Reduction::MinMax)))
        }
        Type::Float(kind) => {
            let min_max = limit.map(|_| Reduction::FloatMinMax { max, propagate_nan: true });
            (Scalar::Float(kind), kind.bits(), float.map(Reduction::Float).or(min_max))
        }
        _ => return Err(TrapKind::Unsupported("elements of this type".into())),
    };
    let how = how.ok_or_else(|| TrapKind::Unsupported("this operation on numbers of this type".into()))?;
    let types = ElemTypes { arg: scalar, arg_bits: bits, result: scalar, result_bits: bits };
    reduce(how, InstFlags::empty(), &types, Some(Cell::new(start)), numbers)
}
