//! Iterations in which lanes agree.
//!
//! Lanes that walk through a tree or a list begin at its root together, and where neighbours want much the same they
//! stay together for long or meet again. The analysis must call the node where a lane is divergent all the same, for
//! some may go elsewhere: each field of it is a gather, each branch on a field is folded. So the body of such a loop
//! is made twice. It begins by asking whether the lanes that are there are all at the same node; if they are, they go
//! through a copy of the body in which the node is that of the first lane, so that its fields are loaded once for all
//! lanes and branches on them stay branches. Else they go through the body as it was.
//!
//! Lanes that are not at the same node may yet go through the copy, some at a time: those that are at one node go,
//! the others wait, which changes nothing for them. Which go first decides whether they meet again. Where the loop
//! keeps a stack, lanes that have more on their stacks than others are still below a node that the others have left;
//! so they go first, with all that are where the first of them is. Then lanes come to most nodes together, as in a
//! program that hands packets of rays through a tree. Without a stack, lanes do not wait.
//!
//! To wait for a few costs time that is gained where many go together. So accounts are kept: each iteration in which
//! lanes go together brings what these lanes' share of an iteration apart would have cost, and costs what it does.
//! Lanes wait as long as that leaves credit; else all go apart. So as far as costs are known it takes no longer than
//! to go apart in all iterations, but for the questions, however lanes are scattered. Old credit counts only as far
//! as `MAX_CREDIT`, for lanes that have been together for long may be scattered from some point on.
//!
//! It costs a comparison and a branch in each iteration and twice the code. It is worth that where much is loaded
//! from what lanes may agree on, and where they are likely to agree. Nothing in a program says how likely that is;
//! but lanes that begin apart hardly meet, and those that go down from the root of a tree, so many steps and no more,
//! part for good. So it is done for loops
//! * that lanes leave apart,
//! * with a value, an integer or a pointer, that differs between lanes: one that the loop carries on and that begins
//!   as the same for all of them, or what lanes take from their stacks before they do anything else,
//! * with at least `MIN_LOADS` loads from addresses that nothing but this value makes differ, and `MIN_GAIN` to gain,
//!   and
//! * of at most `MAX_INSTS` instructions that ask nothing of other lanes and write to no memory but the lane's own,
//!   so that nobody can tell who waited.
//!
//! What differs may be poison in a lane that makes no use of it, and must not be branched on then; so it is frozen
//! before it is looked at.

use crate::Linearize;
use crate::VectorizeError;
use crate::pass::{Context, Unit};
use std::collections::BTreeSet;

use cranelift_entity::{EntitySet, SecondaryMap};
use warpline_analysis::{CycleForest, CycleId, DfsOrder, Node};

use warpline_dataflow::linear::Address;
use warpline_dataflow::ssa;
use warpline_ir::{
    Accessed, BinaryOp, Block, Combine, Effects, Function, Inst, InstData, IntPred, LaneOp, Module, Op,
    Symbol, Type, Value,
};
use warpline_target::{Element, Machine, Op as Costly};
use warpline_uniformity::Uniformity;

use super::copies::{Blocks, Use, Values, copy_blocks, join, locate, uses_elsewhere};
use super::known_calls::is_annotation;
use super::{Coherence, Options};

/// From how many loads on it is done.
const MIN_LOADS: usize = 3;

/// What an iteration with lanes together must take less than one with all apart, in instructions: a few times what it
/// takes to ask.
const MIN_GAIN: u32 = 3 * QUESTION;

/// How many instructions are copied at most.
const MAX_INSTS: usize = 400;

/// In how many loops of a function it is done at most.
const MAX_LOOPS: usize = 16;

/// What is loaded at once, in bytes.
const ROW: i64 = 16;

/// What part of a gather's usual cost counts for each lane: nodes of a tree are near each other.
const GATHER: f64 = 0.7;

/// Instructions that are executed in a cycle.
const RATE: f64 = 4.0 / 3.0;

/// Bits of an element.
const ELEMENT_BITS: u32 = 32;

/// What it takes to find out which lanes are to go, in instructions, with branches that are guessed wrongly if now
/// these go and now those.
const QUESTION: u32 = 64;

/// How much credit there may be, in iterations with all lanes apart.
const MAX_CREDIT: u32 = 16;

/// Lanes and costs.
const COUNT: Type = Type::Int(32);

/// A loop whose body is to be made twice.
struct Candidate {
    header: Block,
    place: Place,
    /// The blocks of the loop from that of the place on.
    blocks: Vec<Block>,
    /// A φ of the header that says how much a lane has on its stack.
    stack: Option<Value>,
    work: Work,
}

/// What an iteration has to do.
#[derive(Copy, Clone, Default)]
struct Work {
    /// The machine that it is done on.
    machine: Machine,
    /// Loads from addresses that nothing but the value makes differ between lanes.
    loads: usize,
    /// Instructions.
    insts: u32,
    /// Gathers that are made once for all lanes where these agree. What lies side by side is loaded as one.
    spared: u32,
    /// Gathers and scatters that are made in any case.
    scattered: u32,
    /// Branches on which lanes agree if they agree on the value.
    branches: u32,
}

impl Work {
    /// What an iteration takes with all lanes apart, and together, in instructions.
    fn costs(&self, width: u32) -> [u32; 2] {
        let Work { insts, spared, scattered, branches, .. } = *self;
        // Figures of machines are far from what does not fit.
        let gather = (GATHER * self.machine.lane_operations(Costly::Gather, Element::I32)).round() as u32;
        let guess = (RATE * self.machine.misprediction()).round() as u32;
        let all = insts * self.machine.filled(ELEMENT_BITS, width).max(1) + gather * width * scattered;
        // Of what branches choose between, lanes that agree take one half, and others both.
        let together = if branches > 0 { all / 2 + guess * branches } else { all };
        [all + gather * width * spared, together.min(all)]
    }
}

/// Where lanes are asked whether they agree.
struct Place {
    block: Block,
    /// What they may agree on, which is defined there.
    value: Value,
    /// Blocks of the loop that come before.
    before: Vec<Block>,
}

/// The pass.
pub(crate) fn run(unit: &mut Unit, cx: &Context<'_>) -> Result<bool, VectorizeError> {
    let options = cx.options;
    let wanted = options.width > 1 && options.linearize == Linearize::Partial;
    if !wanted || !has_candidates(&unit.func, options.coherence) {
        return Ok(false);
    }
    let uniformity = cx.uniformity(unit);
    unit.coherent = make_bodies_twice(cx.module, &mut unit.func, options, &uniformity, &cx.lane_callees);
    Ok(unit.coherent > 0)
}

/// Whether a function has loops that come into question, whatever differs between lanes.
fn has_candidates(func: &Function, mode: Coherence) -> bool {
    if mode == Coherence::Off {
        return false;
    }
    let (graph, _) = func.graph();
    let cycles = CycleForest::compute(&graph);
    let loads = |c: CycleId| {
        let insts = cycles.nodes(c).iter().flat_map(|&n| func.block_insts(Block::from(n)));
        insts.filter(|&i| matches!(func.insts[i].op, Op::Load(_))).count()
    };
    let fits = |c: CycleId| {
        let phis = &func.blocks[Block::from(cycles.header(c))].phis;
        phis.iter().any(|&phi| may_be_compared(func, func.insts[phi].results[0]))
    };
    cycles.cycles().any(|c| fits(c) && loads(c) >= least_loads(mode))
}

/// Makes the bodies of the loops that come into question twice, given which functions that are called ask about other
/// lanes. How many.
fn make_bodies_twice(
    module: &Module,
    func: &mut Function,
    options: &Options<'_>,
    uniformity: &Uniformity,
    lane_callees: &EntitySet<Symbol>,
) -> usize {
    let (graph, _) = func.graph();
    let order = DfsOrder::compute(&graph).reverse_post_order().map(Block::from).collect();
    let (width, mode, machine) = (options.width, options.coherence, options.machine);
    let search = Search { module, func, uniformity, lane_callees, machine, width, mode, order };
    let candidates = search.candidates();
    let (mut copies, mut values, mut vars) = (Blocks::new(), Values::new(), Vec::new());
    for candidate in &candidates {
        let mut uses = candidate.make_twice(func, width, &mut copies, &mut values);
        join(func, &mut uses, &values, &mut vars);
    }
    ssa::construct_vars(func, &vars);
    candidates.len()
}

fn least_loads(mode: Coherence) -> usize {
    if mode == Coherence::On { 0 } else { MIN_LOADS }
}

/// Whether lanes can be asked whether they agree on a value.
fn may_be_compared(func: &Function, v: Value) -> bool {
    LaneOp::First.takes(func.ty(v)) && !func.ty(v).is_float()
}

struct Search<'a> {
    module: &'a Module,
    func: &'a Function,
    uniformity: &'a Uniformity,
    lane_callees: &'a EntitySet<Symbol>,
    machine: Machine,
    width: u32,
    mode: Coherence,
    /// The blocks, definitions before uses.
    order: Vec<Block>,
}

impl Search<'_> {
    /// The loops to change, none in another.
    fn candidates(&self) -> Vec<Candidate> {
        let cycles = self.uniformity.cycles();
        let mut asked = vec![self.mode == Coherence::On; cycles.len()];
        self.uniformity.left_apart().for_each(|c| asked[c.index()] = true);
        let mut found: Vec<Candidate> = Vec::new();
        let mut has_inner = vec![false; cycles.len()];
        for c in cycles.cycles().rev() {
            let may_be = asked[c.index()] && !has_inner[c.index()] && found.len() < MAX_LOOPS;
            let here = may_be.then(|| self.candidate(c)).flatten();
            if let Some(parent) = cycles.parent(c)
                && (here.is_some() || has_inner[c.index()])
            {
                has_inner[parent.index()] = true;
            }
            found.extend(here);
        }
        found
    }

    fn candidate(&self, c: CycleId) -> Option<Candidate> {
        let (func, cycles) = (self.func, self.uniformity.cycles());
        let header = Block::from(cycles.header(c));
        if cycles.around(Node::from(header)).any(|c| !cycles.is_reducible(c))
            || self.uniformity.is_given_up(c)
        {
            return None;
        }
        let blocks: Vec<Block> = cycles.nodes(c).iter().map(|&n| Block::from(n)).collect();
        let insts = || blocks.iter().flat_map(|&b| func.block_insts(b));
        if insts().count() > MAX_INSTS || insts().any(|i| !self.may_be_copied(i)) {
            return None;
        }
        let stack = self.stack(c, header);
        let places = self.places(c, header, stack.is_some());
        let weighed = places.into_iter().map(|place| (self.work(c, place.value), place));
        let (work, place) = weighed.max_by_key(|(work, _)| work.loads)?;
        let [apart, together] = work.costs(self.width);
        let pays = apart - together >= MIN_GAIN || self.mode == Coherence::On;
        if work.loads < least_loads(self.mode) || !pays {
            return None;
        }
        let blocks = blocks.iter().copied().filter(|b| !place.before.contains(b)).collect();
        let stack = stack.filter(|&v| v != place.value);
        Some(Candidate { header, place, blocks, stack, work })
    }

    /// A φ of the header that says how much a lane has on its stack, if there is one.
    fn stack(&self, c: CycleId, header: Block) -> Option<Value> {
        let phis = self.func.blocks[header].phis.iter().enumerate();
        phis.map(|(at, &phi)| (at, self.func.insts[phi].results[0])).find_map(|(at, v)| {
            let counts = self.uniformity.is_divergent(v)
                && self.begins_as_one(c, header, at)
                && self.counts_both_ways(c, header, at);
            counts.then_some(v)
        })
    }

    /// Where lanes may be asked, and about what: φs of the header, and what is taken from the lane's own memory
    /// before anything is stored or the iteration can go two ways.
    fn places(&self, c: CycleId, header: Block, has_stack: bool) -> Vec<Place> {
        let func = self.func;
        let asks = |v: Value| may_be_compared(func, v) && self.uniformity.is_divergent(v);
        let mut places = Vec::new();
        for (at, &phi) in func.blocks[header].phis.iter().enumerate() {
            let value = func.insts[phi].results[0];
            if asks(value) && (self.mode == Coherence::On || self.begins_as_one(c, header, at)) {
                places.push(Place { block: header, value, before: Vec::new() });
            }
        }
        let mut before = Vec::new();
        let mut block = header;
        loop {
            for &i in &func.blocks[block].insts {
                let data = &func.insts[i];
                if self.is_noticed(i) && !is_annotation(self.module, data) {
                    return places;
                }
                let popped = matches!(data.op, Op::Load(_)) && has_stack && self.is_own(data.args[0]);
                if popped && asks(data.results[0]) {
                    places.push(Place { block, value: data.results[0], before: before.clone() });
                }
            }
            let inside = |b: &Block| *b != header && self.uniformity.cycles().contains(c, Node::from(*b));
            let next: Vec<Block> = func.successors(block).filter(inside).collect();
            match next[..] {
                [next] if func.blocks[next].preds.len() == 1 && !self.loops_back(block, header) => {
                    before.push(block);
                    block = next;
                }
                _ => return places,
            }
        }
    }

    /// Whether an instruction changes memory or what other lanes are told.
    fn is_noticed(&self, i: Inst) -> bool {
        let effects = self.func.insts[i].effects();
        effects.intersects(Effects::WRITES | Effects::ATOMIC | Effects::CONVERGENT)
    }

    fn loops_back(&self, block: Block, header: Block) -> bool {
        self.func.successors(block).any(|b| b == header)
    }

    /// Whether an address is in private memory.
    fn is_own(&self, address: Value) -> bool {
        Address::of(self.module, self.func, address).is_some_and(|a| self.func.is_alloca(a.root))
    }

    /// Whether the φ at a position is an integer that goes up at some places in the loop and down at others, by
    /// constants and no other way, but that it may be set.
    fn counts_both_ways(&self, c: CycleId, header: Block, position: usize) -> bool {
        let (func, cycles) = (self.func, self.uniformity.cycles());
        let phi = func.insts[func.blocks[header].phis[position]].results[0];
        let Type::Int(bits) = func.ty(phi) else { return false };
        if !LaneOp::Reduce(Combine::Max).takes(Type::Int(bits)) {
            return false;
        }
        let inside = |b: Block| cycles.contains(c, Node::from(b));
        let (mut up, mut down) = (false, false);
        let mut seen = EntitySet::new();
        seen.insert(phi);
        let entering = |b: Block, at: usize| {
            let edges = func.blocks[b].preds.iter().map(|&e| &func.edges[e]);
            edges.filter(|e| inside(e.from)).map(|e| e.args[at]).collect::<Vec<_>>()
        };
        let mut work = entering(header, position);
        while let Some(v) = work.pop() {
            // A constant is what is known of the number on some way.
            if !seen.insert(v) || func.constant(v).is_some() {
                continue;
            }
            let Some(i) = func.def_inst(v).filter(|&i| inside(func.insts[i].block)) else { return false };
            let data = &func.insts[i];
            match data.op {
                Op::Phi if data.block == header => return false,
                Op::Phi => work.extend(entering(data.block, func.phi_position(i).unwrap_or(0))),
                Op::Select => work.extend(&data.args[1..]),
                Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub)) => {
                    let Some(n) = func.as_int(data.args[1]).filter(|&n| n != 0) else { return false };
                    let goes_up = (n >> (bits - 1) == 0) == (op == BinaryOp::Add);
                    (up, down) = (up | goes_up, down | !goes_up);
                    work.push(data.args[0]);
                }
                _ => return false,
            }
        }
        up && down
    }

    fn may_be_copied(&self, i: Inst) -> bool {
        let (func, data) = (self.func, &self.func.insts[i]);
        let fits = match &data.op {
            Op::Store(access) => access.is_simple() && self.is_own(data.args[1]),
            Op::Load(access) => access.is_simple(),
            Op::Call(_) if is_annotation(self.module, data) => true,
            Op::Call(call) => {
                !self.is_noticed(i) && call.callee.is_some_and(|s| !self.lane_callees.contains(s))
            }
            Op::Alloca { .. } => false,
            _ => !self.is_noticed(i),
        };
        let token = |v: &Value| matches!(func.ty(*v), Type::Other(_));
        fits && !data.results.iter().any(token)
    }

    /// Whether the φ at a position has the same value in all lanes when they enter the loop.
    fn begins_as_one(&self, c: CycleId, header: Block, position: usize) -> bool {
        let func = self.func;
        func.blocks[header].preds.iter().all(|&e| {
            let inside = self.uniformity.cycles().contains(c, Node::from(func.edges[e].from));
            inside || !self.uniformity.is_divergent_on(func.edges[e].args[position], e)
        })
    }

    /// What an iteration of a loop has to do, and what of it is done once where lanes agree on `value`.
    fn work(&self, c: CycleId, value: Value) -> Work {
        let (func, cycles) = (self.func, self.uniformity.cycles());
        let mut from = Following::default();
        (from.computed[value], from.any[value]) = (true, true);
        let mut rows = BTreeSet::new();
        let mut work = Work { machine: self.machine, ..Work::default() };
        for &b in self.order.iter().filter(|&&b| cycles.contains(c, Node::from(b))) {
            for i in func.block_insts(b).skip(func.blocks[b].phis.len()) {
                let data = &func.insts[i];
                let computed = self.is_from(data, &from.computed);
                let any = self.is_from(data, &from.any);
                work.insts += 1;
                work.branches += u32::from(data.op.is_terminator() && data.args.iter().any(|&v| from.any[v]));
                if let Some(accessed) = func.accessed(i) {
                    let address = Address::of(self.module, func, accessed.address);
                    let own = address.as_ref().is_some_and(|a| func.is_alloca(a.root));
                    let loads = !accessed.writes;
                    work.loads += usize::from(computed && loads);
                    if self.is_scattered(&accessed, address.as_ref().filter(|_| own), &from.any) {
                        work.scattered += 1;
                    } else if any && loads {
                        let row = address
                            .map(|a| (b, accessed.ty, a.root, a.terms.to_vec(), a.offset.div_euclid(ROW)));
                        work.spared += u32::from(row.is_none_or(|row| rows.insert(row)));
                    }
                    if let (false, [result]) = (own, &data.results[..]) {
                        from.any[*result] = any;
                    }
                } else if let (true, [result]) = (data.effects().is_empty(), &data.results[..]) {
                    (from.computed[*result], from.any[*result]) = (computed, any);
                }
            }
        }
        work
    }

    /// Whether an instruction has operands among these values and no others that differ between lanes.
    fn is_from(&self, data: &InstData, known: &SecondaryMap<Value, bool>) -> bool {
        let differs = |v: Value| self.uniformity.is_divergent(v);
        data.args.iter().any(|&v| known[v]) && data.args.iter().all(|&v| known[v] || !differs(v))
    }

    /// Whether lanes access different places though they agree on these values. In a lane's own memory, whose address
    /// is given, they access a row if they access the same place of it.
    fn is_scattered(
        &self,
        accessed: &Accessed,
        own: Option<&Address>,
        known: &SecondaryMap<Value, bool>,
    ) -> bool {
        let differs = |v: Value| self.uniformity.shape(v).anchored_step().is_none() && !known[v];
        match own {
            Some(address) => address.terms.iter().any(|t| differs(t.value)),
            None => differs(accessed.address),
        }
    }
}

/// What nothing but the value that lanes may agree on makes differ.
#[derive(Default)]
struct Following {
    /// By computing alone.
    computed: SecondaryMap<Value, bool>,
    /// By loads as well.
    any: SecondaryMap<Value, bool>,
}

impl Candidate {
    /// Copies the body of the loop and lets the header choose. The uses behind it of what is defined in it.
    fn make_twice(
        &self,
        func: &mut Function,
        width: u32,
        copies: &mut Blocks,
        values: &mut Values,
    ) -> Vec<(Value, Use)> {
        let Place { block, value, .. } = self.place;
        let defined = func.blocks[block].insts.iter().position(|&i| func.def_inst(value) == Some(i));
        let at = defined.map_or(0, |n| n + 1);
        let apart = func.split_block(block, at, "apart");
        let region: Vec<Block> = self.blocks.iter().map(|&b| if b == block { apart } else { b }).collect();
        let uses = uses_elsewhere(func, &region);
        copy_blocks(func, &region, copies, values);
        let copy = |b: Block| copies[b].expect("every block of the region is copied");
        let together = copy(apart);
        func.blocks[together].name = "together".into();
        let mut added = vec![block];
        let node = match self.stack {
            None => {
                let asked = self.ask(func);
                func.set_terminator(block, Op::CondBr, &[asked.all], &[together, apart]);
                asked.first
            }
            Some(stack) => {
                let waits = self.let_some_wait(func, width, stack, together, apart);
                let back = region.iter().flat_map(|&b| [b, copy(b)]).chain(waits.blocks);
                self.set_credit(func, &waits, &back.collect::<Vec<_>>());
                added.extend(waits.blocks);
                waits.node
            }
        };
        // What is added stands where the body begins.
        let loc = func.insts[func.terminator(apart)].loc;
        for b in added {
            locate(func, b, loc);
        }
        for b in region.iter().map(|&b| copy(b)) {
            let replace = |args: &mut [Value]| {
                args.iter_mut().filter(|v| **v == value).for_each(|v| *v = node);
            };
            for i in func.block_insts(b).collect::<Vec<_>>() {
                replace(&mut func.insts[i].args);
            }
            for e in func.out_edges(b).to_vec() {
                replace(&mut func.edges[e].args);
            }
        }
        uses
    }

    /// Asks whether all lanes agree.
    fn ask(&self, func: &mut Function) -> Asked {
        let Place { block: b, value, .. } = self.place;
        let ty = func.ty(value);
        let frozen = func.append_value(b, Op::Freeze, &[value], ty);
        let yes = func.bool_const(true);
        let first = func.append_value(b, Op::Lane(LaneOp::First), &[frozen, yes], ty);
        let same = func.append_value(b, Op::ICmp(IntPred::Eq), &[frozen, first], Type::BOOL);
        let all = func.append_value(b, Op::Lane(LaneOp::All), &[same], Type::BOOL);
        Asked { frozen, first, all }
    }

    /// If not all lanes agree, finds those that are where the first of those is that have most on their stacks. If
    /// there is credit for it, they go, and the others wait.
    fn let_some_wait(
        &self,
        func: &mut Function,
        width: u32,
        stack: Value,
        together: Block,
        apart: Block,
    ) -> Waits {
        let Asked { frozen, first, all } = self.ask(func);
        let blocks = ["scattered", "decided", "some"].map(|name| func.add_block(name));
        let [scattered, decided, some] = blocks;
        let known: Vec<Value> =
            func.blocks[self.header].phis.iter().map(|&phi| func.insts[phi].results[0]).collect();
        let credit = func.add_phi(self.header, COUNT);
        func.set_terminator(self.place.block, Op::CondBr, &[all], &[decided, scattered]);
        let below = self.find_below(func, scattered, width, stack, frozen);
        func.set_terminator(scattered, Op::Br, &[], &[decided]);

        let types = [func.ty(self.place.value), Type::BOOL, COUNT];
        let [node, goes, gain] = types.map(|ty| func.add_phi(decided, ty));
        let yes = func.bool_const(true);
        let [apart_cost, together_cost] = self.work.costs(width);
        let gained_by_all = func.int_const(32, (apart_cost - together_cost).into());
        for e in func.blocks[decided].preds.clone() {
            let all_agree = func.edges[e].from == self.place.block;
            let args = if all_agree { [first, yes, gained_by_all] } else { below };
            args.into_iter().enumerate().for_each(|(at, v)| func.set_phi_arg(e, at, v));
        }
        let (pays, new_credit) = book(func, decided, credit, gain, MAX_CREDIT * apart_cost);
        func.set_terminator(decided, Op::CondBr, &[pays], &[some, apart]);

        func.set_terminator(some, Op::CondBr, &[goes], &[together, self.header]);
        let waiting = func.out_edges(some)[1];
        func.edges[waiting].args = known.into_iter().chain([new_credit]).collect();
        Waits { node, credit, new_credit, blocks }
    }

    /// Finds the lanes that are where the first of those is that have most on their stacks: where that is, whether a
    /// lane is there, and what it gains to let these go alone.
    fn find_below(
        &self,
        func: &mut Function,
        b: Block,
        width: u32,
        stack: Value,
        frozen: Value,
    ) -> [Value; 3] {
        let (ty, stack_ty) = (func.ty(frozen), func.ty(stack));
        let stack = func.append_value(b, Op::Freeze, &[stack], stack_ty);
        let most = func.append_value(b, Op::Lane(LaneOp::Reduce(Combine::Max)), &[stack], stack_ty);
        let lags = func.append_value(b, Op::ICmp(IntPred::Eq), &[stack, most], Type::BOOL);
        let node = func.append_value(b, Op::Lane(LaneOp::First), &[frozen, lags], ty);
        let goes = func.append_value(b, Op::ICmp(IntPred::Eq), &[frozen, node], Type::BOOL);
        let going = func.append_value(b, Op::Lane(LaneOp::Popcount), &[goes], COUNT);
        let yes = func.bool_const(true);
        let there = func.append_value(b, Op::Lane(LaneOp::Popcount), &[yes], COUNT);
        // A header may be executed without an active lane.
        let [none, one] = [0, 1].map(|n| func.int_const(32, n));
        let nobody = func.append_value(b, Op::ICmp(IntPred::Eq), &[there, none], Type::BOOL);
        let there = func.append_value(b, Op::Select, &[nobody, one, there], COUNT);
        let [apart_cost, together_cost] = self.work.costs(width);
        let share = func.int_const(32, apart_cost.into());
        let spared = func.append_value(b, Op::Binary(BinaryOp::Mul), &[going, share], COUNT);
        let spared = func.append_value(b, Op::Binary(BinaryOp::UDiv), &[spared, there], COUNT);
        let spent = func.int_const(32, (together_cost + QUESTION).into());
        let gain = func.append_value(b, Op::Binary(BinaryOp::Sub), &[spared, spent], COUNT);
        [node, goes, gain]
    }

    /// Gives the credit its value on all edges to the header from these blocks; those from elsewhere enter the loop
    /// without any.
    fn set_credit(&self, func: &mut Function, waits: &Waits, back: &[Block]) {
        let nothing = func.int_const(32, 0);
        let position = func.blocks[self.header].phis.len() - 1;
        debug_assert_eq!(func.insts[func.blocks[self.header].phis[position]].results[0], waits.credit);
        for e in func.blocks[self.header].preds.clone() {
            let value = if back.contains(&func.edges[e].from) { waits.new_credit } else { nothing };
            func.set_phi_arg(e, position, value);
        }
    }
}

/// Books a gain on an account if that leaves credit, of which there is so much at most: whether it does, and what the
/// account is then.
fn book(func: &mut Function, b: Block, credit: Value, gain: Value, most: u32) -> (Value, Value) {
    let [none, most] = [0, most].map(|n| func.int_const(32, n.into()));
    let rest = func.append_value(b, Op::Binary(BinaryOp::Add), &[credit, gain], COUNT);
    let pays = func.append_value(b, Op::ICmp(IntPred::Sge), &[rest, none], Type::BOOL);
    let too_much = func.append_value(b, Op::ICmp(IntPred::Sgt), &[rest, most], Type::BOOL);
    let rest = func.append_value(b, Op::Select, &[too_much, most, rest], COUNT);
    (pays, func.append_value(b, Op::Select, &[pays, rest, credit], COUNT))
}

/// How some lanes wait.
struct Waits {
    /// What those that go agree on.
    node: Value,
    /// The account, and what it is after the iteration has been paid for.
    credit: Value,
    new_credit: Value,
    /// The blocks that are added; from the last one lanes that wait go back.
    blocks: [Block; 3],
}

/// What lanes have been asked.
struct Asked {
    frozen: Value,
    /// That of the first lane.
    first: Value,
    /// Whether all lanes have it.
    all: Value,
}
