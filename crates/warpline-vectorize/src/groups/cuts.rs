//! Where a kernel is cut: at barriers, and at branches that decide which barrier is next.
//!
//! For each block it is known which cuts, or the end of the kernel, can come next. A branch whose successors differ in
//! that decides about barriers, so all work-items of a group must go the same way, and the branch is a cut itself:
//! the driver takes it. This is repeated until nothing is new; then the next cut is the same on all ways from
//! anywhere. One kind of branch that work-items take differently is accepted: an early return, by which some come to
//! no barrier any more, and to nothing that others do behind one. The analysis then speaks of the work-items that go
//! on.

use cranelift_entity::{EntityRef as _, EntitySet};
use warpline_analysis::{BitSet, Node};
use warpline_ir::demangle::demangle_opencl;
use warpline_ir::{
    Block, Combine, Edge, Effects, Function, Inst, InstFlags, LaneOp, Module, Op, Type, Value,
};
use warpline_uniformity::rules::called;
use warpline_uniformity::shape::ArgShape;
use warpline_uniformity::{Options, Uniformity};

use super::collective::{Barriers, Expanded};
use super::{Rules, Warning, distances};
use crate::VectorizeError;

/// A kernel with its cuts.
pub(super) struct Cuts {
    /// The kernel. Barriers are gone; where one was, a block ends. Where a branch is a cut, each edge leads to a
    /// block that has no other.
    pub(super) func: Function,
    /// The blocks at the end of which it is cut.
    pub(super) at: EntitySet<Block>,
    /// By these edges work-items return early.
    pub(super) early: EntitySet<Edge>,
    /// What the work-items of a group agree on that have not returned.
    pub(super) uniformity: Uniformity,
    pub(super) warnings: Vec<Warning>,
}

/// More cuts than these are not looked at: what is known of blocks grows with their number.
const MOST: usize = 1_000;

/// Finds the cuts of a kernel whose parameters have these shapes for a group.
pub(super) fn find(
    module: &Module,
    expanded: Expanded,
    args: &[ArgShape],
    rules: Rules,
) -> Result<Cuts, VectorizeError> {
    let Expanded { mut func, barriers, exchanges, agreed } = expanded;
    forget_lifetimes(module, &mut func);
    if barriers.values().flatten().count() > MOST {
        return Err(VectorizeError::in_function(&func, format!("it has more than {MOST} barriers")));
    }
    let (early, warnings) = (EntitySet::new(), Vec::new());
    let (asserted, distances) = (EntitySet::new(), EntitySet::new());
    let mut search =
        Search { module, func, barriers, exchanges, early, warnings, rules, asserted, distances };
    let (at, uniformity) = loop {
        let uniformity =
            Uniformity::compute(module, &search.without_early(), &Options::with_args(args.to_vec()));
        if let Some(at) = search.close(&uniformity)? {
            search.check_cycles(&uniformity, &at)?;
            search.check_agreed(&uniformity, &agreed)?;
            break (at, uniformity);
        }
    };
    let Search { mut func, early, warnings, barriers, .. } = search;
    let branches: Vec<Block> = at.iter().filter(|&b| barriers[b].is_none()).collect();
    for b in branches {
        for e in func.out_edges(b).to_vec() {
            func.split_edge(e, "cut");
        }
    }
    Ok(Cuts { func, at, early, uniformity, warnings })
}

/// Takes out what says how long arrays are in use: that is no reason to keep them across barriers.
pub(super) fn forget_lifetimes(module: &Module, func: &mut Function) {
    for b in func.layout.clone() {
        let insts = std::mem::take(&mut func.blocks[b].insts);
        let says = |i: &Inst| {
            called(module, func, *i).is_some_and(|called| called.name().starts_with("llvm.lifetime."))
        };
        func.blocks[b].insts = insts.into_iter().filter(|i| !says(i)).collect();
    }
}

struct Search<'a> {
    module: &'a Module,
    func: Function,
    barriers: Barriers,
    exchanges: EntitySet<Inst>,
    early: EntitySet<Edge>,
    warnings: Vec<Warning>,
    rules: Rules,
    /// Operations that say that all work-items of a group have the same, since the user does.
    asserted: EntitySet<Inst>,
    /// Comparisons that have become those of distances.
    distances: EntitySet<Inst>,
}

impl Search<'_> {
    /// The kernel of the work-items that do not return early, as a whole group sees it.
    fn without_early(&self) -> Function {
        let mut func = self.func.clone();
        for b in self.func.layout.iter().copied() {
            for &i in &self.func.blocks[b].insts {
                // Lanes agree on what a sub-group has computed, and a group has several.
                let is_asserted = self.asserted.contains(i);
                if matches!(func.insts[i].op, Op::Lane(op) if op != LaneOp::LaneCount && !is_asserted) {
                    func.insts[i].op = Op::Lane(LaneOp::ScanInclusive(Combine::Or));
                }
            }
        }
        for e in self.early.iter() {
            let others = func.out_edges(func.edges[e].from).iter().copied();
            let Some(other) = { others }.find(|&o| !self.early.contains(o)) else { continue };
            let (to, args) = (func.edges[other].to, func.edges[other].args.clone());
            func.redirect_edge(e, to);
            func.edges[e].args = args;
        }
        func
    }

    /// The edges by which work-items go on.
    fn edges(&self, b: Block) -> impl Iterator<Item = Edge> + '_ {
        self.func.out_edges(b).iter().copied().filter(|&e| !self.early.contains(e))
    }

    fn successors(&self, b: Block) -> impl Iterator<Item = Block> + '_ {
        self.edges(b).map(|e| self.func.edges[e].to)
    }

    /// All blocks in which it is cut; `None` if less is divergent than was thought, as once an early return was found.
    fn close(&mut self, uniformity: &Uniformity) -> Result<Option<EntitySet<Block>>, VectorizeError> {
        let mut at = EntitySet::new();
        at.extend(self.func.layout.iter().copied().filter(|&b| self.barriers[b].is_some()));
        loop {
            let next = self.next_cuts(&at);
            let mut new = Vec::new();
            for b in self.func.layout.clone().into_iter().filter(|&b| !at.contains(b)) {
                if !self.decides(b, &next) {
                    continue;
                }
                if uniformity.is_divergent_branch(b) {
                    if self.compares_distances(uniformity, b) {
                        return Ok(None);
                    }
                    let parted = self.part(uniformity, b);
                    if parted.is_err() && self.rules.uniform && self.assert_uniform(b) {
                        return Ok(None);
                    }
                    return parted.map(|()| None);
                }
                if !matches!(self.func.insts[self.func.terminator(b)].op, Op::CondBr | Op::Switch(_)) {
                    let reason =
                        "a barrier depends on a branch of a kind that cannot be made for a whole work-group";
                    return Err(VectorizeError::at_block(&self.func, b, reason));
                }
                new.push(b);
            }
            if new.is_empty() {
                return Ok(Some(at));
            }
            at.extend(new);
        }
    }

    /// Whether different cuts can come next on the ways from a block.
    fn decides(&self, b: Block, next: &[BitSet]) -> bool {
        let mut known = self.successors(b).map(|s| &next[s.index()]).filter(|set| !set.is_empty());
        known.next().is_some_and(|first| known.any(|set| set != first))
    }

    /// For each block, which cuts can come next: blocks by number, and behind all numbers the end of the kernel.
    fn next_cuts(&self, at: &EntitySet<Block>) -> Vec<BitSet> {
        let count = self.func.blocks.len();
        let mut next = vec![BitSet::new(count + 1); count];
        for &b in &self.func.layout {
            if at.contains(b) {
                next[b.index()].insert(b.index());
            } else if matches!(self.func.insts[self.func.terminator(b)].op, Op::Ret) {
                next[b.index()].insert(count);
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &b in self.func.layout.iter().rev().filter(|&&b| !at.contains(b)) {
                for s in self.successors(b).collect::<Vec<_>>() {
                    if s != b {
                        let of_successor = next[s.index()].clone();
                        changed |= next[b.index()].union_with(&of_successor);
                    }
                }
            }
        }
        next
    }

    /// The blocks that can be reached from these.
    fn reached(&self, from: impl Iterator<Item = Block>) -> EntitySet<Block> {
        let mut seen = EntitySet::new();
        let mut work: Vec<Block> = from.collect();
        while let Some(b) = work.pop() {
            if seen.insert(b) {
                work.extend(self.func.successors(b));
            }
        }
        seen
    }

    /// Takes a branch at which work-items part, only some of which come to a barrier, for an early return if it is
    /// one.
    fn part(&mut self, uniformity: &Uniformity, b: Block) -> Result<(), VectorizeError> {
        let leads = |s: Block| {
            let reached = self.reached(std::iter::once(s));
            self.func.layout.iter().copied().find(|&b| self.barriers[b].is_some() && reached.contains(b))
        };
        let (mut leaving, mut barrier) = (Vec::new(), None);
        for e in self.edges(b) {
            match leads(self.func.edges[e].to) {
                Some(found) => barrier = barrier.or(Some(found)),
                None => leaving.push(e),
            }
        }
        let Some(barrier) = barrier.and_then(|b| self.barriers[b]) else {
            return Err(VectorizeError::at_block(&self.func, b, "a barrier depends on it").internal());
        };
        // Barriers that all have passed before do not matter.
        let later = self.reached(self.edges(b).map(|e| self.func.edges[e].to));
        let waits = |b: &Block| self.barriers[*b].is_some() && later.contains(*b);
        let barriers = self.func.layout.iter().copied().filter(waits);
        let behind = self.reached(barriers.flat_map(|b| self.func.successors(b)));
        let left = self.reached(leaving.iter().map(|&e| self.func.edges[e].to));
        let shares = left.iter().any(|b| behind.contains(b) && self.has_effects(b));
        let in_loop = behind.contains(b);
        let why = uniformity.branch_reason(self.module, &self.func, b);
        let branch = format!("{}{}", self.place(self.func.terminator(b)), self.ways(b));
        if leaving.is_empty() || shares {
            let reason = format!(
                "work-items diverge at {branch}, and only some of them come to this barrier, or they come to different \
                 ones: the branch {why}; all work-items of a group must come to each barrier"
            );
            return Err(VectorizeError::at_inst(&self.func, barrier, reason));
        }
        if in_loop {
            let reason = format!(
                "work-items leave the loop around this barrier at {branch} in different iterations: the branch {why}; \
                 let all of them make as many iterations, and guard the work in them"
            );
            return Err(VectorizeError::at_inst(&self.func, barrier, reason));
        }
        let said = format!(
            "work-items may have returned at {branch} when others come to the barrier at {}: the branch {why}",
            self.place(barrier)
        );
        if let Some(call) = self.barriers.values().flatten().copied().find(|&i| self.exchanges.contains(i)) {
            let reason = format!(
                "{said}; all of them have to have a value at {}: guard the work, not the call",
                self.name(call)
            );
            return Err(VectorizeError::at_inst(&self.func, call, reason));
        }
        if self.rules.strict {
            let reason = format!("{said}; guard the work, not the barrier");
            return Err(VectorizeError::at_inst(&self.func, barrier, reason));
        }
        let place = self.func.insts[barrier].loc.expand().map(|loc| self.module.describe_loc(loc));
        let text = format!("{said}; OpenCL forbids that. They take no part in what follows");
        self.warnings.push(Warning { place, text });
        self.early.extend(leaving);
        Ok(())
    }

    /// Makes a comparison that decides a branch one of what work-items have in common; whether that was possible.
    fn compares_distances(&mut self, uniformity: &Uniformity, b: Block) -> bool {
        let branch = self.func.terminator(b);
        let Some(&condition) = self.func.insts[branch].args.first() else { return false };
        let differs = |v| uniformity.is_divergent(v);
        distances::agree(&mut self.func, &differs, condition, &mut self.distances)
    }

    /// Has all work-items take a branch as the first of them does, since the user says that they agree. Whether that
    /// can be said of what it depends on.
    fn assert_uniform(&mut self, b: Block) -> bool {
        let branch = self.func.terminator(b);
        let Some(&v) = self.func.insts[branch].args.first() else { return false };
        let ty = self.func.ty(v);
        // Where all agree, any speaks for all.
        let op = if ty == Type::BOOL { LaneOp::Any } else { LaneOp::Uniform };
        let is_said = self.func.def_inst(v).is_some_and(|i| self.asserted.contains(i));
        if is_said || ty != Type::BOOL && !op.takes(ty) {
            return false;
        }
        let said = self.func.insert_value_before(branch, Op::Lane(op), &[v], ty, InstFlags::empty());
        self.func.insts[branch].args[0] = said;
        self.asserted.extend(self.func.def_inst(said));
        true
    }

    fn has_effects(&self, b: Block) -> bool {
        let seen = Effects::WRITES | Effects::ATOMIC | Effects::VOLATILE | Effects::NO_RETURN;
        self.func.block_insts(b).any(|i| self.func.insts[i].effects().intersects(seen))
    }

    /// Where work-items go on behind a branch that they take differently, as far as lines say.
    fn ways(&self, b: Block) -> String {
        let mut places: Vec<String> =
            self.edges(b).filter_map(|e| self.first_place(self.func.edges[e].to)).collect();
        places.dedup();
        match places.len() {
            0 | 1 => String::new(),
            _ => format!(" (they go on at {})", places.join(" or ")),
        }
    }

    /// The line of the first instruction from a block on that has one, up to the next branch.
    fn first_place(&self, mut b: Block) -> Option<String> {
        for _ in 0..self.func.layout.len() {
            if let Some(i) = self.func.block_insts(b).find(|&i| self.func.insts[i].loc.is_some()) {
                return Some(self.place(i));
            }
            let [next] = self.func.out_edges(b)[..] else { return None };
            b = self.func.edges[next].to;
        }
        None
    }

    /// The line of an instruction.
    fn place(&self, i: Inst) -> String {
        match self.func.insts[i].loc.expand() {
            Some(loc) => self.module.describe_loc(loc),
            None => format!("block {}", self.func.block_name(self.func.insts[i].block)),
        }
    }

    /// What is called.
    fn name(&self, call: Inst) -> String {
        match called(self.module, &self.func, call).and_then(|called| called.callee) {
            Some((_, name)) => format!("`{}`", demangle_opencl(name)),
            None => "a barrier".to_owned(),
        }
    }

    /// Checks that all work-items of a group pass the same where they must.
    fn check_agreed(&self, uniformity: &Uniformity, agreed: &[(Inst, Value)]) -> Result<(), VectorizeError> {
        match agreed.iter().find(|&&(_, v)| uniformity.is_divergent(v)) {
            Some(&(call, v)) => {
                let reason = format!(
                    "all work-items of a group have to pass {} the same {}, which may differ between them",
                    self.name(call),
                    self.func.value_name(v)
                );
                Err(VectorizeError::at_inst(&self.func, call, reason))
            }
            None => Ok(()),
        }
    }

    /// Checks that work-items leave loops with cuts together.
    fn check_cycles(&self, uniformity: &Uniformity, at: &EntitySet<Block>) -> Result<(), VectorizeError> {
        let cycles = uniformity.cycles();
        for c in uniformity.left_apart() {
            let inside = |b: &Block| at.contains(*b) && cycles.contains(c, Node::from(*b));
            if let Some(&b) = self.func.layout.iter().find(|b| inside(b)) {
                let reason = "work-items may leave a loop with a barrier in different iterations";
                return Err(match self.barriers[b] {
                    Some(barrier) => VectorizeError::at_inst(&self.func, barrier, reason),
                    None => VectorizeError::at_block(&self.func, b, reason),
                });
            }
        }
        Ok(())
    }
}
