//! Guards that all lanes pass.
//!
//! `if (i < n)` begins most kernels over a range that is rounded up, and keeps stencils within their borders. It
//! divides the lanes of one group of very many. But what it guards would be done under masks in all of them: scalarized
//! where the machine has no masked accesses to elements of this size, and with an access for each of the fields that
//! lie side by side. So what it guards is made twice. In front of the branch all lanes are asked whether they pass; if
//! they do, they go through a copy that knows nothing of masks; if none passes, they skip it. Else they go on as
//! before. The answer is mostly that of the first or the last lane ([`recipes`](crate::recipes)).
//!
//! Whichever way a group takes, the lanes that come to the branch do together what they did before, so that nobody can
//! tell the copy from the original, whatever is in it.
//!
//! It is done for what a branch guards
//! * that is divergent, by comparisons of what lanes have at equal distances with what they share, and that all lanes
//!   come to as far as one can see,
//! * whose accesses take longer under a mask, and
//! * that has at most `MAX_INSTS` instructions, takes no memory from the stack and calls nothing of the program's own.

use cranelift_entity::EntitySet;

use warpline_analysis::{CycleForest, CycleId, DfsOrder, DomTree, Node};
use warpline_ir::{Accessed, BinaryOp, Block, Function, Inst, IntPred, LaneOp, Module, Op, Type, Value};
use warpline_target::Machine;
use warpline_uniformity::Uniformity;
use warpline_uniformity::shape::Shape;

use super::copies::{Blocks, Values, copy_blocks, locate};
use super::{Coherence, Options};
use crate::Linearize;
use crate::VectorizeError;
use crate::options::Form;
use crate::pass::{Context, Unit};

/// How many instructions are copied at most, of one guard and of all.
const MAX_INSTS: usize = 300;
/// So many operations of conditions are looked through.
const DEPTH: u32 = 4;
/// Fields that lie farther apart than so many of them are not loaded together.
const FAR: i64 = 8;
/// How much likelier it is that all lanes pass, as weights of branches say it.
const LIKELY: [u32; 2] = [15, 1];

/// The pass.
pub(crate) fn run(unit: &mut Unit, cx: &Context<'_>) -> Result<bool, VectorizeError> {
    let Options { width, linearize, coherence, pieces, sums, .. } = *cx.options;
    let wanted = width > 1 && linearize == Linearize::Partial && coherence != Coherence::Off;
    // Updates that lanes make together, and sums, are known by their instructions, which are to be there once.
    if !wanted || cx.forms.iter().all(|&form| form == Form::Masked) || pieces.count() > 0 || !sums.is_empty()
    {
        return Ok(false);
    }
    let (graph, _) = unit.func.graph();
    let dominators = DomTree::compute(&graph);
    if !has_guards(&unit.func, &CycleForest::compute(&graph), &dominators) {
        return Ok(false);
    }
    let uniformity = cx.uniformity(unit);
    let (module, func, machine) = (cx.module, &unit.func, cx.options.machine);
    let always = coherence == Coherence::On;
    let search = Search { module, func, uniformity: &uniformity, dominators, machine, always };
    let guards = search.guards(&DfsOrder::compute(&graph));
    let (mut copies, mut values) = (Blocks::new(), Values::new());
    for guard in &guards {
        guard.make_twice(&mut unit.func, &mut copies, &mut values);
    }
    unit.guards = guards.len();
    Ok(!guards.is_empty())
}

/// Whether some branch that leaves no loop guards accesses, whatever differs between lanes.
fn has_guards(func: &Function, cycles: &CycleForest, dominators: &DomTree) -> bool {
    // Blocks that dominate one with an access.
    let mut lead = EntitySet::new();
    for &n in dominators.pre_order().iter().rev() {
        let b = Block::from(n);
        if lead.contains(b) || func.block_insts(b).any(|i| func.accessed(i).is_some()) {
            lead.insert(b);
            dominators.idom(n).into_iter().for_each(|above| _ = lead.insert(Block::from(above)));
        }
    }
    func.layout.iter().any(|&b| {
        let stays = |c: CycleId| func.successors(b).all(|to| cycles.contains(c, Node::from(to)));
        func.insts[func.terminator(b)].op == Op::CondBr
            && cycles.innermost(Node::from(b)).is_none_or(stays)
            && func.successors(b).any(|to| func.blocks[to].preds.len() == 1 && lead.contains(to))
    })
}

/// What a branch guards.
struct Guard {
    /// Where the branch is.
    block: Block,
    /// Which of its ways lanes are expected to go.
    way: usize,
    /// What is there: all that this way alone leads to.
    region: Vec<Block>,
    /// Whether the other way leads to where both meet.
    skips: bool,
}

struct Search<'a> {
    module: &'a Module,
    func: &'a Function,
    uniformity: &'a Uniformity,
    dominators: DomTree,
    machine: Machine,
    /// Whether it is done whatever is gained.
    always: bool,
}

impl Search<'_> {
    /// The guards that come into question, of which none is in what another guards.
    fn guards(&self, order: &DfsOrder) -> Vec<Guard> {
        let mut parted: EntitySet<Block> = EntitySet::new();
        let cycles = self.uniformity.cycles();
        for c in self.uniformity.left_apart() {
            cycles.nodes(c).iter().for_each(|&n| _ = parted.insert(Block::from(n)));
        }
        let (mut guards, mut left) = (Vec::new(), MAX_INSTS);
        for b in order.reverse_post_order().map(Block::from) {
            if parted.contains(b) || !self.uniformity.is_divergent_branch(b) {
                continue;
            }
            let ways = [0, 1].map(|way| self.guarded(b, way));
            if let Some(guard) = self.guard(b, &ways)
                && let Some(rest) = left.checked_sub(self.insts(&guard.region))
            {
                left = rest;
                guards.push(guard);
            }
            ways.iter().flatten().for_each(|&b| _ = parted.insert(b));
        }
        guards
    }

    /// The blocks that one way of a branch alone leads to, the one that it goes to first.
    fn guarded(&self, b: Block, way: usize) -> Vec<Block> {
        let alone = |to: &Block| self.func.blocks[*to].preds.len() == 1;
        let to = self.func.successors(b).nth(way).filter(alone);
        to.map_or_else(Vec::new, |to| {
            self.dominators.subtree(Node::from(to)).iter().copied().map(Block::from).collect()
        })
    }

    fn guard(&self, b: Block, ways: &[Vec<Block>; 2]) -> Option<Guard> {
        let branch = &self.func.insts[self.func.terminator(b)];
        if branch.op != Op::CondBr {
            return None;
        }
        let expected = self.expected(branch.args[0], DEPTH)?;
        let way = match expected {
            Some(holds) => usize::from(!holds),
            None => usize::from(self.insts(&ways[1]) > self.insts(&ways[0])),
        };
        let region = ways[way].clone();
        let skips = ways[1 - way].is_empty();
        let insts = || region.iter().flat_map(|&b| self.func.block_insts(b));
        let pays = !region.is_empty() && (self.always || insts().any(|i| self.gains(i)));
        (pays && insts().all(|i| self.may_be_copied(i))).then_some(Guard { block: b, way, region, skips })
    }

    /// Whether a condition is expected to hold for all lanes or to fail for all, if anything speaks for either; `None`
    /// if it is not made of comparisons of what lanes have at equal distances.
    fn expected(&self, c: Value, depth: u32) -> Option<Option<bool>> {
        if !self.uniformity.is_divergent(c) {
            return Some(None);
        }
        let data = &self.func.insts[self.func.def_inst(c).filter(|_| depth > 0)?];
        let all = |a: Value, b: Value, holds: bool| {
            let [a, b] = [a, b].map(|v| self.expected(v, depth - 1));
            let (a, b) = (a?, b?);
            Some(Some(if a == Some(!holds) || b == Some(!holds) { !holds } else { holds }))
        };
        match (&data.op, &data.args[..]) {
            (&Op::ICmp(pred), &[a, b]) => {
                let strided = |v: Value| matches!(self.uniformity.shape(v), Shape::Strided(_));
                let shared = |v: Value| !self.uniformity.is_divergent(v);
                (strided(a) && shared(b) || shared(a) && strided(b)).then_some(match pred {
                    IntPred::Eq => Some(false),
                    IntPred::Ne => Some(true),
                    _ => None,
                })
            }
            (Op::Binary(BinaryOp::And), &[a, b]) => all(a, b, true),
            (Op::Binary(BinaryOp::Or), &[a, b]) => all(a, b, false),
            (Op::Binary(BinaryOp::Xor), &[a, b]) if self.func.as_int(b) == Some(1) => {
                self.expected(a, depth - 1).map(|expected| expected.map(|holds| !holds))
            }
            (Op::Select, &[c, yes, no]) => match (self.func.as_int(yes), self.func.as_int(no)) {
                (None, Some(0)) => all(c, yes, true),
                (Some(1), None) => all(c, no, false),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an access takes longer under a mask.
    fn gains(&self, i: Inst) -> bool {
        let Some(Accessed { access, address, ty, .. }) = self.func.accessed(i) else { return false };
        let Shape::Strided(stride) = self.uniformity.shape(address) else { return false };
        let layout = &self.module.layout;
        let Some(size) = layout.store_size(&self.module.types, ty).and_then(|size| i64::try_from(size).ok())
        else {
            return false;
        };
        let step = stride.step.saturating_abs();
        let neighbours = step == size;
        access.is_simple() && step <= size * FAR && (!neighbours || size < 4 || !self.machine.mask_registers)
    }

    fn may_be_copied(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        let own = |callee| self.module.function(&self.module.symbols[callee].name).is_some();
        let fits = match &data.op {
            Op::Call(call) => call.callee.is_some_and(|callee| !own(callee)),
            Op::Alloca { .. } => false,
            _ => true,
        };
        fits && !data.results.iter().any(|&v| matches!(self.func.ty(v), Type::Other(_)))
    }

    fn insts(&self, region: &[Block]) -> usize {
        region.iter().map(|&b| self.func.block_insts(b).count()).sum()
    }
}

impl Guard {
    /// Copies what is guarded, and lets lanes that all pass go there.
    fn make_twice(&self, func: &mut Function, copies: &mut Blocks, values: &mut Values) {
        copy_blocks(func, &self.region, copies, values);
        let copy = copies[self.region[0]].expect("every block of the region is copied");
        func.blocks[copy].name = "all".into();
        let branch = func.terminator(self.block);
        let (c, loc) = (func.insts[branch].args[0], func.insts[branch].loc);
        let entering = func.out_edges(self.block)[self.way];
        let args = func.edges[entering].args.clone();

        let apart = func.split_block(self.block, usize::MAX, "apart");
        debug_assert_eq!(func.insts[branch].block, apart);
        let b = self.block;
        let fails = self.ask(func, b, c, 1 - self.way);
        let asked = func.set_terminator(b, Op::CondBr, &[fails], &[apart, copy]);
        if self.skips {
            self.skip(func, apart, c);
        }
        for b in [b, apart] {
            locate(func, b, loc);
        }
        let [to_apart, to_copy] = [0, 1].map(|k| func.insts[asked].edges[k]);
        func.edges[to_copy].args = args;
        (func.weights[to_copy], func.weights[to_apart]) = (Some(LIKELY[0]), Some(LIKELY[1]));
    }

    /// Whether any lane goes one of the ways.
    fn ask(&self, func: &mut Function, b: Block, c: Value, way: usize) -> Value {
        let yes = func.bool_const(true);
        let goes = match way {
            0 => c,
            _ => func.append_value(b, Op::Binary(BinaryOp::Xor), &[c, yes], Type::BOOL),
        };
        func.append_value(b, Op::Lane(LaneOp::Any), &[goes], Type::BOOL)
    }

    /// Lets lanes of which none passes skip what is guarded.
    fn skip(&self, func: &mut Function, apart: Block, c: Value) {
        let skipping = func.out_edges(apart)[1 - self.way];
        let (to, args) = (func.edges[skipping].to, func.edges[skipping].args.clone());
        let some = func.split_block(apart, usize::MAX, "some");
        let passes = self.ask(func, apart, c, self.way);
        let asked = func.set_terminator(apart, Op::CondBr, &[passes], &[some, to]);
        let edge = func.insts[asked].edges[1];
        func.edges[edge].args = args;
    }
}
