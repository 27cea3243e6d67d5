//! What lives at once in vector registers.

use cranelift_entity::{EntitySet, SecondaryMap};
use warpline_analysis::{CycleForest, CycleId, DfsOrder, Node};

use warpline_ir::{Block, Function, Value};

use super::{Machine, element_bits};

/// The values that live at the fullest place of a loop, by the bits of an element.
#[derive(Clone, Default, Debug)]
pub(super) struct Live {
    by_bits: Vec<(u32, u32)>,
    /// Values that are the same in all lanes and are operands of vector arithmetic: one register each, whatever the
    /// width.
    same: u32,
}

impl Live {
    /// How many there are with elements of so many bits.
    fn count(&mut self, bits: u32) -> &mut u32 {
        let at = self.by_bits.iter().position(|&(b, _)| b == bits).unwrap_or_else(|| {
            self.by_bits.push((bits, 0));
            self.by_bits.len() - 1
        });
        &mut self.by_bits[at].1
    }

    fn bits(&self) -> u64 {
        self.by_bits.iter().map(|&(bits, count)| u64::from(bits) * u64::from(count)).sum()
    }

    /// The registers that they fill. `fills` says what elements of so many bits take.
    pub(super) fn registers(&self, machine: &Machine, width: u32, fills: impl Fn(u32) -> u32) -> u32 {
        let filled =
            |&(bits, count): &(u32, u32)| u64::from(count) * u64::from(machine.filled(fills(bits), width));
        let all = self.by_bits.iter().map(filled).sum::<u64>() + u64::from(self.same);
        u32::try_from(all).unwrap_or(u32::MAX)
    }
}

/// For each loop, and at the end for the code outside all, what lives at once in its own blocks.
pub(super) fn of_loops(func: &Function, cycles: &CycleForest, varies: impl Fn(Value) -> bool) -> Vec<Live> {
    let live_out = live_out(func, &varies);
    let mut found = vec![Live::default(); cycles.len() + 1];
    let mut same: Vec<EntitySet<Value>> = vec![EntitySet::new(); cycles.len() + 1];
    for &b in &func.layout {
        let own = cycles.innermost(Node::from(b)).map_or(cycles.len(), CycleId::index);
        let mut live = Counted::of(func, live_out[b].clone());
        live.keep_fuller(&mut found[own]);
        for &i in func.blocks[b].insts.iter().rev() {
            let data = &func.insts[i];
            for &v in &data.results {
                live.remove(v);
            }
            for &a in &data.args {
                if varies(a) {
                    live.insert(a);
                } else if func.constant(a).is_none() && data.result().is_some_and(&varies) {
                    same[own].insert(a);
                }
            }
            live.keep_fuller(&mut found[own]);
        }
    }
    for (live, same) in found.iter_mut().zip(&same) {
        live.same = same.iter().count() as u32;
    }
    found
}

/// Values that live, counted as they come and go.
struct Counted<'f> {
    func: &'f Function,
    live: EntitySet<Value>,
    now: Live,
}

impl<'f> Counted<'f> {
    fn of(func: &'f Function, live: EntitySet<Value>) -> Self {
        let mut now = Live::default();
        live.iter().for_each(|v| *now.count(element_bits(func.ty(v))) += 1);
        Counted { func, live, now }
    }

    fn insert(&mut self, v: Value) {
        if self.live.insert(v) {
            *self.now.count(element_bits(self.func.ty(v))) += 1;
        }
    }

    fn remove(&mut self, v: Value) {
        if self.live.remove(v) {
            *self.now.count(element_bits(self.func.ty(v))) -= 1;
        }
    }

    fn keep_fuller(&self, best: &mut Live) {
        if self.now.bits() > best.bits() {
            best.clone_from(&self.now);
        }
    }
}

/// The varying values that live at the end of each block.
fn live_out(func: &Function, varies: &impl Fn(Value) -> bool) -> SecondaryMap<Block, EntitySet<Value>> {
    let (graph, _) = func.graph();
    let order: Vec<Block> = DfsOrder::compute(&graph).post_order().iter().copied().map(Block::from).collect();
    let mut out: SecondaryMap<Block, EntitySet<Value>> = SecondaryMap::new();
    let mut changed = true;
    while changed {
        changed = false;
        for &b in &order {
            let mut live = out[b].clone();
            let mask = func.blocks[b].mask.expand();
            let term = &func.insts[func.terminator(b)];
            for v in term.args.iter().copied().chain(mask).filter(|&v| varies(v)) {
                live.insert(v);
            }
            for &i in func.blocks[b].insts.iter().rev() {
                for &v in &func.insts[i].results {
                    live.remove(v);
                }
                for &a in func.insts[i].args.iter().filter(|&&a| varies(a)) {
                    live.insert(a);
                }
            }
            for &phi in &func.blocks[b].phis {
                live.remove(func.insts[phi].results[0]);
            }
            for &e in &func.blocks[b].preds {
                let edge = &func.edges[e];
                let carried: Vec<Value> = edge.args.iter().copied().filter(|&a| varies(a)).collect();
                for v in live.iter().chain(carried) {
                    changed |= out[edge.from].insert(v);
                }
            }
        }
    }
    out
}
