//! Loads of what has just been stored are the stored values.
//!
//! `if (c) *p = x; … *p` loads what is `x` in lanes with `c`, and what was loaded from there before in the others.
//! Under a mask, the load waits for the store: processors do not forward a part of it. LLVM knows nothing of masks,
//! and before linearization nothing is known of the checks by which pointers are kept apart. So it is done on the lane
//! program, within lines of blocks that all lanes go through together.
//!
//! Only where lanes access elements of their own, so that what a lane stores is what it loads.

use std::collections::{BTreeMap, HashMap, HashSet};

use warpline_ir::{Accessed, Block, Effects, Function, Inst, LaneOp, Module, Op, Type, Value};

use crate::dependences::{Apart, Region};

/// What may change memory, or let others do so.
const BARRIERS: Effects =
    Effects::WRITES.union(Effects::VOLATILE).union(Effects::ATOMIC).union(Effects::CONVERGENT);

/// What is known besides the lane program.
pub(crate) struct Facts<'a> {
    /// The function that the lane program was cut out of, if it was.
    pub(crate) region: Option<&'a Region<'a>>,
    /// Accesses that checks before the loop keep apart.
    pub(crate) checked: &'a [(Inst, Inst)],
    /// The mask that the function is given, if it is.
    pub(crate) own_mask: Option<Value>,
    /// How far addresses of neighbouring lanes are apart, if that is the same for all.
    pub(crate) step: &'a dyn Fn(Value) -> Option<i64>,
}

/// Replaces loads of what has been stored.
pub(crate) fn run(module: &Module, func: &mut Function, facts: &Facts<'_>) {
    let stores = |i: &Inst| matches!(func.insts[*i].op, Op::Store(_));
    if !func.layout.iter().any(|&b| func.blocks[b].insts.iter().any(stores)) {
        return;
    }
    let mut plan = Plan::default();
    let line = Line { module, func, facts, apart: Apart::new(module, func, facts.region) };
    lines(func).iter().for_each(|blocks| line.look_at(blocks, &mut plan));
    plan.carry_out(func);
}

/// Blocks that follow each other without a branch between them, each once.
fn lines(func: &Function) -> Vec<Vec<Block>> {
    let next = |b: Block| match func.out_edges(b) {
        &[e] => Some(func.edges[e].to).filter(|&to| func.blocks[to].preds.len() == 1),
        _ => None,
    };
    let behind: HashSet<Block> = func.layout.iter().filter_map(|&b| next(b)).collect();
    let first = func.layout.iter().filter(|b| !behind.contains(b));
    first.map(|&b| std::iter::successors(Some(b), |&b| next(b)).collect()).collect()
}

/// What is at an address.
#[derive(Copy, Clone)]
enum Content {
    /// A value that there is.
    Is(Value),
    /// What the plan makes behind this store.
    Behind(Inst),
}

/// What is known of the elements at an address.
struct Known {
    ty: Type,
    content: Content,
    /// The accesses that say so.
    by: Vec<Inst>,
}

/// What is to be done.
#[derive(Default)]
struct Plan {
    /// Loads, and behind which store.
    loads: Vec<(Inst, Inst)>,
    /// Stores under masks, and what was there before.
    stores: Vec<(Inst, Content)>,
}

/// A line of blocks.
struct Line<'a> {
    module: &'a Module,
    func: &'a Function,
    facts: &'a Facts<'a>,
    apart: Apart<'a>,
}

impl Line<'_> {
    fn look_at(&self, blocks: &[Block], plan: &mut Plan) {
        let mut known: BTreeMap<Value, Known> = BTreeMap::new();
        for &b in blocks {
            for &i in &self.func.blocks[b].insts {
                match self.func.accessed(i).filter(|a| a.access.is_simple()) {
                    Some(accessed) if accessed.writes => self.store(i, &accessed, &mut known, plan),
                    Some(accessed) => self.load(i, &accessed, &mut known, plan),
                    None if self.func.insts[i].effects().intersects(BARRIERS) => {
                        known.clear();
                    }
                    None => {}
                }
            }
        }
    }

    fn load(&self, i: Inst, accessed: &Accessed, known: &mut BTreeMap<Value, Known>, plan: &mut Plan) {
        let there = known.get_mut(&accessed.address).filter(|k| k.ty == accessed.ty);
        if let Some(there) = there {
            there.by.push(i);
            // LLVM finds what no mask hides.
            if let Content::Behind(store) = there.content {
                plan.loads.push((i, store));
            }
        } else if self.is_whole(i) && self.is_own(accessed) {
            let content = Content::Is(self.func.insts[i].results[0]);
            known.insert(accessed.address, Known { ty: accessed.ty, content, by: vec![i] });
        }
    }

    fn store(&self, i: Inst, accessed: &Accessed, known: &mut BTreeMap<Value, Known>, plan: &mut Plan) {
        known
            .retain(|&address, k| address == accessed.address || k.by.iter().all(|&j| self.never_meet(i, j)));
        let before = known.remove(&accessed.address).filter(|k| k.ty == accessed.ty);
        let stored = Content::Is(self.func.insts[i].args[0]);
        let now = match before {
            _ if self.is_whole(i) => self.is_own(accessed).then(|| (stored, vec![i])),
            Some(Known { content, mut by, .. }) => {
                plan.stores.push((i, content));
                by.push(i);
                Some((Content::Behind(i), by))
            }
            None => None,
        };
        if let Some((content, by)) = now {
            known.insert(accessed.address, Known { ty: accessed.ty, content, by });
        }
    }

    fn never_meet(&self, a: Inst, b: Inst) -> bool {
        let checked = self.facts.checked;
        checked.contains(&(a, b)) || checked.contains(&(b, a)) || self.apart.never_meet(a, b)
    }

    /// Whether an instruction is executed by all lanes that execute anything.
    fn is_whole(&self, i: Inst) -> bool {
        let mask = self.func.blocks[self.func.insts[i].block].mask.expand();
        mask.is_none_or(|mask| Some(mask) == self.facts.own_mask || self.func.as_int(mask) == Some(1))
    }

    /// Whether each lane accesses an element of its own.
    fn is_own(&self, accessed: &Accessed) -> bool {
        let size = accessed.ty.scalar().map(|s| self.module.layout.scalar_bits(s).div_ceil(8));
        let step = (self.facts.step)(accessed.address);
        size.zip(step).is_some_and(|(size, step)| step.unsigned_abs() >= u64::from(size))
    }
}

impl Plan {
    fn carry_out(self, func: &mut Function) {
        let mut behind: HashMap<Inst, Value> = HashMap::new();
        let mut replaced: HashMap<Value, Value> = HashMap::new();
        let used: HashSet<Inst> = self.needed();
        // Stores come in their order, so that what one needs has been made. What it needs may be a load that goes.
        for &(store, before) in self.stores.iter().filter(|(store, _)| used.contains(store)) {
            let block = func.insts[store].block;
            let mask = func.blocks[block].mask.expand().expect("other stores leave what they store");
            let before = match before {
                Content::Is(v) => v,
                Content::Behind(other) => behind[&other],
            };
            let new = func.insts[store].args[0];
            let ty = func.ty(new);
            let blend = func.make_inst(block, Op::Lane(LaneOp::Blend), &[mask, new, before], &[ty]);
            let insts = &mut func.blocks[block].insts;
            let at = insts.iter().position(|&i| i == store).map_or(insts.len(), |at| at + 1);
            insts.insert(at, blend);
            behind.insert(store, func.insts[blend].results[0]);
        }
        let mut gone: HashSet<Inst> = HashSet::new();
        for (load, store) in self.loads {
            replaced.insert(func.insts[load].results[0], behind[&store]);
            gone.insert(load);
        }
        func.map_operands(|mut v| {
            while let Some(&w) = replaced.get(&v) {
                v = w;
            }
            v
        });
        for b in func.layout.clone() {
            func.blocks[b].insts.retain(|i| !gone.contains(i));
        }
    }

    /// The stores behind which somebody wants to know what is there.
    fn needed(&self) -> HashSet<Inst> {
        let before: HashMap<Inst, Content> = self.stores.iter().copied().collect();
        let mut found = HashSet::new();
        for &(_, store) in &self.loads {
            let mut content = Content::Behind(store);
            while let Content::Behind(store) = content
                && found.insert(store)
            {
                content = before[&store];
            }
        }
        found
    }
}
