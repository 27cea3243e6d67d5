//! Which memory on the stack is given back: pairs of `llvm.stacksave` and `llvm.stackrestore` that hold for all lanes.
//!
//! All lanes share one stack. Giving back what lanes have allocated since a `stacksave` also takes what *other* lanes
//! have allocated since, if these ran in between (the other arm of a folded branch), and they may still be using it.
//! So a `stackrestore` is kept only if
//! * it takes effect under the very mask under which the stack was saved: whoever saved it now restores it; and
//! * every `alloca` on the way from the one to the other takes effect under this mask or a part of it: nobody else has
//!   allocated anything.
//!
//! Other `stackrestore`s are dropped, and the memory lives as long as the function.

use cranelift_entity::EntitySet;
use warpline_analysis::{DomTree, Node};

use warpline_ir::{Block, Function, Inst, LaneOp, Module, Op, Value};

/// The calls of `llvm.stacksave` and `llvm.stackrestore` that are made once for all lanes.
#[derive(Default)]
pub(super) struct StackUse(EntitySet<Inst>);

impl StackUse {
    /// Whether a call of `llvm.stacksave` or `llvm.stackrestore` is made, once for all lanes.
    pub(super) fn is_kept(&self, i: Inst) -> bool {
        self.0.contains(i)
    }

    /// Finds them in a lane program.
    pub(super) fn compute(module: &Module, func: &Function) -> StackUse {
        let mut stack = StackUse::default();
        let pairs: Vec<(Inst, Inst)> = restores(module, func).collect();
        if pairs.is_empty() {
            return stack;
        }
        let (graph, _) = func.graph();
        let search = Search { func, dom: DomTree::compute(&graph), allocas: allocas(func) };
        for (save, restore) in pairs {
            if search.holds_for_all(save, restore) {
                stack.0.insert(save);
                stack.0.insert(restore);
            }
        }
        stack
    }
}

/// Whether an instruction calls the intrinsic of this name, for whatever address space.
fn calls(module: &Module, func: &Function, i: Inst, intrinsic: &str) -> bool {
    let Op::Call(info) = &func.insts[i].op else { return false };
    info.callee.is_some_and(|s| module.symbols[s].name.starts_with(intrinsic))
}

/// Every `stackrestore` of what a `stacksave` returned, after it.
fn restores<'a>(module: &'a Module, func: &'a Function) -> impl Iterator<Item = (Inst, Inst)> + 'a {
    let all = func.layout.iter().flat_map(|&b| &func.blocks[b].insts).copied();
    all.filter(|&i| calls(module, func, i, "llvm.stackrestore")).filter_map(|i| {
        let save = func.def_inst(*func.insts[i].args.first()?)?;
        calls(module, func, save, "llvm.stacksave").then_some((save, i))
    })
}

/// The blocks that allocate memory when control comes to them.
fn allocas(func: &Function) -> Vec<Block> {
    let allocates = |b: &Block| {
        let insts = &func.blocks[*b].insts;
        insts.iter().any(|&i| matches!(func.insts[i].op, Op::Alloca { .. }))
    };
    func.layout.iter().copied().filter(allocates).collect()
}

struct Search<'a> {
    func: &'a Function,
    dom: DomTree,
    allocas: Vec<Block>,
}

impl Search<'_> {
    fn holds_for_all(&self, save: Inst, restore: Inst) -> bool {
        let (from, to) = (self.func.insts[save].block, self.func.insts[restore].block);
        let mask = self.func.blocks[from].mask.expand();
        if self.func.blocks[to].mask.expand() != mask {
            return false;
        }
        let Some(mask) = mask else { return true };
        let between = self.between(from, to);
        self.allocas.iter().filter(|&&b| between.contains(b)).all(|&b| {
            let of_alloca = self.func.blocks[b].mask.expand();
            of_alloca.is_some_and(|m| self.is_part(m, mask, &mut EntitySet::new()))
        })
    }

    /// The blocks on the ways from one block to another that it dominates, both included, without coming to the first
    /// again.
    fn between(&self, from: Block, to: Block) -> EntitySet<Block> {
        let mut between = EntitySet::new();
        between.insert(from);
        let mut work = vec![to];
        while let Some(b) = work.pop() {
            if between.insert(b) {
                work.extend(self.func.blocks[b].preds.iter().map(|&e| self.func.edges[e].from));
            }
        }
        between
    }

    /// Whether `part` has no lane that `whole` has not. A φ is looked through only where `whole` cannot have changed
    /// since its operands were computed, that is, in blocks that the definition of `whole` strictly dominates.
    fn is_part(&self, part: Value, whole: Value, assumed: &mut EntitySet<Value>) -> bool {
        if part == whole || self.func.as_int(part) == Some(0) || !assumed.insert(part) {
            return true;
        }
        let Some(i) = self.func.def_inst(part) else { return false };
        let data = &self.func.insts[i];
        match data.op {
            Op::Lane(LaneOp::MaskAnd | LaneOp::MaskAndNot) => self.is_part(data.args[0], whole, assumed),
            Op::Lane(LaneOp::MaskOr) => data.args.iter().all(|&a| self.is_part(a, whole, assumed)),
            Op::Phi => {
                let defined =
                    self.func.def_inst(whole).map_or(self.func.entry(), |w| self.func.insts[w].block);
                defined != data.block
                    && self.dom.dominates(Node::from(defined), Node::from(data.block))
                    && data.args.iter().all(|&a| self.is_part(a, whole, assumed))
            }
            _ => false,
        }
    }
}
