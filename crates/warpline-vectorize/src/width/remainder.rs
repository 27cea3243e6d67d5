//! What executes the indices or iterations that no whole group is left for: groups of all lanes or of fewer, and at
//! last either one under a mask or the scalar program; and how many are left to the scalar program altogether.
//!
//! Masks are cheap where a processor has instructions for them, and a branch for each lane elsewhere. On average half
//! of a group is left over, each number as likely; where the number is known, it is taken. Ends of loops are guessed
//! wrongly if their number of iterations is not always the same.

use warpline_analysis::Node;
use warpline_ir::{Block, Op};

use super::{BEFORE_GROUPS, Machine, Program, Rep, element_bits, element_of};
use crate::driver::Tail;

/// How often the branch to a second loop for smaller groups is mispredicted.
const SECOND_LOOP: f64 = 0.8;

/// Of a loop that selects something, the scalar loop may execute so many times as many iterations as there are lanes:
/// the lane that is selected from is looked for behind the groups, however few they are.
const SELECTED: u32 = 4;

/// Smaller groups for what is left over are worth their code if they take at most so much of the time: ranges that are
/// shorter than a group of all lanes gain more by them than this average says.
const WORTHWHILE: f64 = 0.9;

/// How the iterations are executed that no whole group is left for.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct Remainder {
    /// In groups of how many.
    pub(super) lanes: u32,
    /// By what at last.
    pub(super) tail: Tail,
    /// The cycles that it takes on average.
    pub(super) cycles: f64,
}

impl Program<'_> {
    /// How the iterations are executed that no whole group is left for.
    pub(super) fn remainder(&self, machine: &Machine, width: u32) -> Remainder {
        let divisible = self.grouped.is_some_and(|u| u.divisible);
        let scalar = self.scalar.filter(|_| divisible).map(|_| Tail::Scalar);
        let best = |lanes: u32| {
            let tails = std::iter::once(Tail::Masked).chain(scalar);
            let all = tails.map(|tail| Remainder {
                lanes,
                tail,
                cycles: self.left_over(machine, width, lanes, tail),
            });
            all.min_by(|a, b| a.cycles.total_cmp(&b.cycles)).expect("a mask is always possible")
        };
        let simple = best(width);
        if !divisible {
            return simple;
        }
        let least = (machine.register_bits / 64).max(2).ilog2();
        let smaller = (least..width.ilog2()).map(|k| best(1 << k));
        let smaller = smaller.min_by(|a, b| a.cycles.total_cmp(&b.cycles));
        smaller.filter(|r| r.cycles <= simple.cycles * WORTHWHILE).unwrap_or(simple)
    }

    /// The cycles that what no group of so many lanes is left for takes in smaller groups, and at last by this tail.
    fn left_over(&self, machine: &Machine, width: u32, lanes: u32, tail: Tail) -> f64 {
        let over = self.grouped.and_then(|u| u.rounds_below(width)).map(|n| n % u64::from(width));
        // The smaller groups, the chance that a part of one is left then, and how much of it.
        let (whole, partial, part) = match over {
            Some(over) => {
                let part = over % u64::from(lanes);
                ((over / u64::from(lanes)) as f64, f64::from(part > 0), part as f64)
            }
            None => {
                let of = |width: u32| f64::from(width - 1);
                (f64::from(width / lanes - 1) / 2.0, of(lanes) / f64::from(lanes), of(lanes) / 2.0)
            }
        };
        // Where the number is not known, the end of a loop is guessed.
        let guess = SECOND_LOOP * machine.misprediction();
        let group = self.time_of_group(lanes);
        let last = match tail {
            Tail::Masked => partial * (group + self.cost_of_masks(machine, lanes)),
            Tail::Scalar => partial * guess + part * self.scalar.unwrap_or(group),
        };
        whole * group + last + if lanes < width { guess } else { 0.0 }
    }

    /// The fewest indices that the vector program is expected to take no longer for than the scalar one takes, if it
    /// takes so many cycles for each: at most as many as there are lanes, of a selection a few times as many.
    pub(super) fn least(&self, machine: &Machine, width: u32, remainder: &Remainder, scalar: f64) -> u32 {
        let &Remainder { lanes, tail, .. } = remainder;
        let [group, partial] =
            [0.0, self.cost_of_masks(machine, lanes)].map(|more| self.time_of_group(lanes) + more);
        let behind = self.grouped.map_or(0.0, |grouped| grouped.behind(width));
        // Nothing else that is combined has lanes that all must be there.
        let selects = behind > 0.0 && self.grouped.is_some_and(|grouped| !grouped.divisible);
        let most = if selects { width.saturating_mul(SELECTED) } else { width };
        let is_slower = |n: &u32| {
            let whole = f64::from(n / lanes) * group;
            let rest = match (n % lanes, tail) {
                (0, _) => 0.0,
                (_, Tail::Masked) => partial,
                (part, Tail::Scalar) => f64::from(part) * scalar,
            };
            whole + rest + BEFORE_GROUPS + behind > f64::from(*n) * scalar
        };
        (1..most).rev().find(is_slower).map_or(0, |n| n + 1)
    }

    /// Cycles that a partial group takes longer than a full one outside inner loops, since it accesses memory under a
    /// mask.
    fn cost_of_masks(&self, machine: &Machine, width: u32) -> f64 {
        if machine.mask_registers {
            return 0.0;
        }
        let mut cycles = 0.0;
        let outside = |b: &&Block| self.cycles.innermost(Node::from(**b)).is_none();
        for &b in self.func.layout.iter().filter(outside) {
            for &i in &self.func.blocks[b].insts {
                let data = &self.func.insts[i];
                let (address, value, each) = match data.op {
                    Op::Load(_) => (data.args[0], data.results[0], 1.0),
                    // Masked stores of AVX2 are short programs on some processors.
                    Op::Store(_) => (
                        data.args[1],
                        data.args[0],
                        machine.masked_store_delay(element_of(self.func.ty(data.args[0]))),
                    ),
                    _ => continue,
                };
                if !machine.masks.serve(element_bits(self.func.ty(value)).max(8).into()) {
                    // A branch for each lane.
                    cycles += machine.branched_lane_delay() * f64::from(width);
                } else if matches!(self.reps[address], Rep::Strided(_)) {
                    let registers = machine.filled(self.bits(value), width);
                    cycles += each * f64::from(registers.max(1));
                }
            }
        }
        cycles
    }
}
