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

    /// How many cache lines of each array lanes are to access at a time. What is stored to goes to the caches in the
    /// order of the stores: where these take turns between arrays that are not in the nearest cache, the processor
    /// waits for one line after the other (two arrays of 16 KiB, vectors of 512 bits on an Emerald Rapids: 905 ns by
    /// one line at a time, 690 by two, 650 by four; vectors of 256 bits: 1411, 964 and 875).
    pub(super) fn lines(&self) -> u32 {
        let insts = self.func.layout.iter().flat_map(|&b| &self.func.blocks[b].insts);
        let stores = insts.filter(|&&i| self.is_side_by_side(i)).filter_map(|&i| self.func.accessed(i));
        let mut arrays = stores.filter(|a| a.writes).map(|a| {
            let address = Address::of(self.module, self.func, a.address);
            address.map(|a| (a.root, a.terms, a.offset))
        });
        let first = arrays.next();
        if arrays.any(|other| Some(other) != first) { 2 } else { 1 }
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
