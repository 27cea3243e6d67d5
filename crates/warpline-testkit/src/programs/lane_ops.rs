//! What lanes ask of each other.

use warpline_ir::*;

use super::fill::{ANY, Avail, CLEAN, Filler, UNIFORM};

/// The parameter that packed stores write to.
pub(super) const PACKED: &str = "packed";
/// So many of them have a place of their own there; lanes that come to others at another time would overwrite each
/// other.
const PLACES: u64 = 3;
/// Elements of a place: 64 lanes, and where the first one stores.
const PLACE: u64 = 128;
/// Elements of 8 bytes.
pub(super) const PACKED_LEN: u64 = PLACES * PLACE;

const ELEMENTS: [Type; 6] = [Type::Int(8), Type::Int(16), Type::Int(32), Type::Int(64), Type::F32, Type::F64];

impl Filler<'_> {
    pub(super) fn lane_operation(&mut self, b: Block) {
        let c = self.pick(b, Type::BOOL, CLEAN);
        let (op, args, ty): (_, &[Value], _) = match self.rng.below(11) {
            0 => (LaneOp::Any, &[c.value], Type::BOOL),
            1 => (LaneOp::All, &[c.value], Type::BOOL),
            2 => (LaneOp::Ballot, &[c.value], Type::Int(64)),
            3 => (LaneOp::Popcount, &[c.value], Type::Int(32)),
            4 => (LaneOp::LaneIndex, &[], Type::Int(32)),
            5 => (LaneOp::LaneCount, &[], Type::Int(32)),
            6 => return self.compact(b, c),
            7 => (LaneOp::BitOfLane, &[self.pick(b, Type::Int(64), CLEAN).value], Type::BOOL),
            _ => return self.lane_elements(b),
        };
        self.emit(b, Op::Lane(op), args, ty, true, !matches!(op, LaneOp::LaneIndex | LaneOp::BitOfLane));
    }

    /// Shuffles, first lanes, reductions and scans.
    fn lane_elements(&mut self, b: Block) {
        let elem = *self.rng.pick(&ELEMENTS);
        let x = self.pick(b, elem, ANY);
        let op = match self.rng.below(6) {
            0 => LaneOp::Shuffle,
            1 => LaneOp::Insert,
            5 => LaneOp::First,
            k => {
                let fitting: Vec<Combine> = Combine::ALL.into_iter().filter(|c| c.fits(elem)).collect();
                let c = *self.rng.pick(&fitting);
                [LaneOp::Reduce, LaneOp::ScanExclusive, LaneOp::ScanInclusive][k - 2](c)
            }
        };
        let mut args = vec![x];
        let mut uniform = matches!(op, LaneOp::Reduce(_) | LaneOp::First);
        if matches!(op, LaneOp::Shuffle | LaneOp::Insert) {
            let lane = self.lane_number(b);
            args.push(lane);
            uniform = op == LaneOp::Shuffle && lane.uniform;
        }
        if op == LaneOp::Insert {
            args.push(self.pick(b, elem, ANY));
        }
        if op == LaneOp::First {
            args.push(self.pick(b, Type::BOOL, CLEAN));
        }
        let values: Vec<Value> = args.iter().map(|a| a.value).collect();
        self.emit(b, Op::Lane(op), &values, elem, args.iter().all(|a| a.clean), uniform);
    }

    /// Mostly that of a lane that there is.
    fn lane_number(&mut self, b: Block) -> Avail {
        let want = if self.rng.chance(1, 2) { UNIFORM } else { CLEAN };
        let lane = self.pick(b, Type::Int(32), want);
        match self.rng.below(4) {
            0 => lane,
            k => self.int(b, lane, [1, 3, 7][k - 1]),
        }
    }

    /// A packed store of the lanes in which the condition holds.
    fn compact(&mut self, b: Block, c: Avail) {
        let named = |&p: &Value| &*self.f.values[p].name == PACKED;
        let Some(base) = self.f.params.iter().copied().find(named) else { return };
        let asks = |&&i: &&Inst| self.f.insts[i].op == Op::Lane(LaneOp::Compact);
        let before = self.f.layout.iter().flat_map(|&b| &self.f.blocks[b].insts).filter(asks).count() as u64;
        if before >= PLACES {
            return;
        }
        let elem = *self.rng.pick(&ELEMENTS);
        let x = self.pick(b, elem, ANY);
        let place = self.f.int_const(64, (before * PLACE).into());
        let place = self.gep(b, Type::Int(64), &[base, place]);
        let want = if self.rng.chance(1, 2) { UNIFORM } else { CLEAN };
        let offset = self.pick(b, Type::Int(32), want);
        let offset = self.int(b, offset, 63);
        let at = self.gep(b, elem, &[place, offset.value]);
        let args = [at, x.value, c.value];
        self.emit(b, Op::Lane(LaneOp::Compact), &args, Type::Int(32), true, true);
    }
}
