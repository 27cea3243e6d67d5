//! Whether memory is what a kernel waits for: whether it does little but access neighbours that lanes share.

use warpline_dataflow::linear::Address;
use warpline_ir::Inst;

use super::{Machine, Program, Rep, element_bits};

/// What part of its vector operations are accesses to neighbours where nothing but memory counts.
const STREAM: f64 = 0.25;

impl Program<'_> {
    /// Whether groups of so many lanes do little but access neighbours: of what the units for vectors and memory do,
    /// this is a quarter or more.
    pub(super) fn streams(&self, machine: &Machine, width: u32) -> bool {
        let (mut operations, mut side_by_side) = (0.0, 0.0);
        for &b in &self.func.layout {
            let times = self.frequency[b];
            for &i in &self.func.blocks[b].insts {
                let work = self.work_of(machine, width, i);
                let work = times * (work.operations() - work.scalar);
                operations += work;
                side_by_side += if self.is_side_by_side(i) { work } else { 0.0 };
            }
        }
        side_by_side > 0.0 && side_by_side >= STREAM * operations
    }

    /// Whether many vectors lie across two cache lines unless they are aligned: all that are as long as a line, and
    /// every second one of half that. What comes before the first aligned one is executed under a mask, for which there
    /// must be instructions.
    pub(super) fn crosses_lines(&self, machine: &Machine) -> bool {
        let insts = self.func.layout.iter().flat_map(|&b| &self.func.blocks[b].insts);
        let mut accesses = insts.filter(|&&i| self.func.accessed(i).is_some());
        2 * machine.register_bits >= machine.line_bits() && accesses.all(|&i| self.has_masks_for(machine, i))
    }

    /// Whether lanes access neighbours in memory that they share.
    fn is_side_by_side(&self, i: Inst) -> bool {
        self.func.accessed(i).is_some_and(|a| {
            let size = i64::from(element_bits(a.ty).max(8) / 8);
            let is_own = || {
                Address::of(self.module, self.func, a.address).is_some_and(|a| self.func.is_alloca(a.root))
            };
            matches!(self.reps[a.address], Rep::Strided(step) if step == size) && !is_own()
        })
    }
}
