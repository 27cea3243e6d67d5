//! A loop that can be the unit of vectorization: one entry, one back edge, one counted exit, and breaks.

use cranelift_entity::EntitySet;
use warpline_analysis::{CycleForest, DomTree, Node};

use super::exits;
use crate::normalize::merge_edges;
use crate::{VectorizeError, no_return_paths};
use warpline_ir::{BinaryOp, Block, Edge, Function, Inst, InstFlags, IntPred, Op, Type, Value};

/// A loop with what its rewriting needs to know. The function has been brought into the form that the fields describe.
pub(super) struct Loop {
    pub(super) header: Block,
    /// Its blocks.
    pub(super) blocks: EntitySet<Block>,
    /// Blocks outside of it that it leads to and from which control never returns to the caller.
    pub(super) dead: EntitySet<Block>,
    /// The block outside of it that leads to the header, and to nothing else.
    pub(super) preheader: Block,
    /// The only edge from inside to the header.
    pub(super) back: Edge,
    /// The branch that decides, once in each iteration, whether to leave.
    pub(super) test: Inst,
    /// Whether the loop goes on if the condition of the test is true.
    pub(super) stays_if: bool,
    /// Whether that branch goes on in any case, and was added so that iterations can be counted.
    pub(super) is_endless: bool,
    /// Which blocks dominate which.
    pub(super) dominators: DomTree,
    /// Blocks of the loop that are in no loop within it.
    pub(super) own: EntitySet<Block>,
    /// The other branches by which control leaves it, in the order of execution; each is executed once in every
    /// iteration that gets to it. If there are any that lead to code that returns, so are those here that do not and are
    /// not behind the last of them.
    pub(super) breaks: Vec<Break>,
}

/// A branch by which control leaves a loop in the middle.
#[derive(Copy, Clone, Debug)]
pub(super) struct Break {
    pub(super) branch: Inst,
    /// Whether control leaves the loop if the condition is true.
    pub(super) leaves_if: bool,
}

impl Loop {
    /// Finds the loop of a header, and gives it a preheader and a single latch.
    ///
    /// # Errors
    /// If control enters it at several blocks, or leaves it otherwise than by branches in each iteration, of which one
    /// compares what counts with a bound.
    pub(super) fn find(func: &mut Function, header: Block) -> Result<Loop, VectorizeError> {
        Self::with_test(func, header, None)
    }

    /// Finds a loop that nothing ends but what iterations find, and gives it a counter, of which a test in the header
    /// says that it does not come to an end: both ways from there lead on.
    ///
    /// # Errors
    /// As [`Loop::find`].
    pub(super) fn find_endless(func: &mut Function, header: Block) -> Result<Loop, VectorizeError> {
        func.remove_unreachable_blocks();
        shape(func, header)?;
        let test = add_test(func, header);
        Self::with_test(func, header, Some(test))
    }

    /// This loop again, after the function has been changed around it.
    pub(super) fn found_again(&self, func: &mut Function) -> Result<Loop, VectorizeError> {
        Self::with_test(func, self.header, self.is_endless.then_some(self.test))
    }

    fn with_test(func: &mut Function, header: Block, known: Option<Inst>) -> Result<Loop, VectorizeError> {
        func.remove_unreachable_blocks();
        no_return_paths::drop_undefined_edges(func);
        shape(func, header)?;
        let (graph, _) = func.graph();
        let cycles = CycleForest::compute(&graph);
        let (blocks, own) = blocks_of(func, &cycles, header)?;
        let (back, entering): (Vec<Edge>, Vec<Edge>) =
            func.blocks[header].preds.iter().partition(|&&e| blocks.contains(func.edges[e].from));
        let (&[back], &[entering]) = (&back[..], &entering[..]) else {
            return Err(VectorizeError::at_block(
                func,
                header,
                "the loop has not got one latch and one preheader",
            )
            .internal());
        };
        let returns_nowhere = no_return_paths::find(func);
        let dominators = DomTree::compute(&graph);
        let all = leaving(func, &blocks, |to| !returns_nowhere.contains(to));
        let latch = func.edges[back].from;
        if (all.len() > 1 || known.is_some())
            && exits::meet(func, &all, latch, &dominators, |b| own.contains(b))
        {
            return Self::with_test(func, header, known);
        }
        let exits = Exits { func, header, blocks: &blocks, own: &own, back, dominators: &dominators };
        let (test, others, stays_if) = match known {
            Some(test) => (test, all, true),
            None => {
                let (exit, others) = exits.the_counted(&all)?;
                let test = exits.counted_test(exit)?;
                (test, others, func.insts[test].edges[0] != exit)
            }
        };
        let into_dead_ends = leaving(func, &blocks, |to| returns_nowhere.contains(to));
        let breaks = exits.breaks(&others, &into_dead_ends)?;
        // What moves to behind a branch needs a place there.
        if breaks.iter().any(|at| func.insts[at.branch].edges.contains(&back)) {
            func.split_edge(back, "latch");
            return Self::with_test(func, header, known);
        }
        let dead = reached(func, &blocks, &returns_nowhere);
        let preheader = func.edges[entering].from;
        let is_endless = known.is_some();
        Ok(Loop {
            header,
            blocks,
            dead,
            preheader,
            back,
            test,
            stays_if,
            is_endless,
            dominators,
            own,
            breaks,
        })
    }

    /// Whether a block may be executed before the last branch by which control leaves the loop in the middle, or ends
    /// in it.
    pub(super) fn is_before_last_break(&self, func: &Function, block: Block) -> bool {
        let last = self.breaks.last().map(|b| func.insts[b.branch].block);
        last.is_some_and(|last| {
            self.blocks.contains(block) && (block == last || !dominates(&self.dominators, last, block))
        })
    }

    /// Whether an instruction is executed before another one, in every iteration that gets there.
    pub(super) fn comes_before(&self, func: &Function, first: Inst, then: Inst) -> bool {
        let [a, b] = [first, then].map(|i| func.insts[i].block);
        if a != b {
            return dominates(&self.dominators, a, b);
        }
        // The last one of a block, which decides where control goes, is in no list.
        let position = |i: Inst| func.blocks[a].insts.iter().position(|&x| x == i);
        position(first).is_some_and(|first| position(then).is_none_or(|then| first < then))
    }

    /// Gives a φ of the header its operands: what it is in the first iteration, and in the one that follows another.
    pub(super) fn hand_on(&self, func: &mut Function, phi: Value, first: Value, next: Value) {
        let position = self.position_of(func, phi).expect("it is one of the header");
        func.set_phi_arg(func.out_edges(self.preheader)[0], position, first);
        func.set_phi_arg(self.back, position, next);
    }

    /// Whether a block is executed exactly once in every iteration that does not leave the loop.
    pub(super) fn is_always(&self, func: &Function, block: Block) -> bool {
        self.own.contains(block) && dominates(&self.dominators, block, func.edges[self.back].from)
    }
}

/// Whether every way to `b` passes `a`.
pub(super) fn dominates(dominators: &DomTree, a: Block, b: Block) -> bool {
    dominators.dominates(Node::from(a), Node::from(b))
}

/// Gives the loop one latch and one preheader.
fn shape(func: &mut Function, header: Block) -> Result<(), VectorizeError> {
    let cycles = CycleForest::compute(&func.graph().0);
    let (blocks, _) = blocks_of(func, &cycles, header)?;
    let (back, entering): (Vec<Edge>, Vec<Edge>) =
        func.blocks[header].preds.iter().partition(|&&e| blocks.contains(func.edges[e].from));
    // A latch with another edge stays: the test may be in it.
    if back.len() > 1 {
        merge_edges(func, &back, header, "latch");
    }
    let alone = |&e: &Edge| func.out_edges(func.edges[e].from).len() == 1;
    if entering.len() != 1 || !entering.iter().all(alone) {
        merge_edges(func, &entering, header, "preheader");
    }
    Ok(())
}

/// The blocks of the loop with this header, and those of them that are in no inner loop.
///
/// # Errors
/// If control enters it at several blocks, or no loop begins there.
pub(super) fn blocks_of(
    func: &Function,
    cycles: &CycleForest,
    header: Block,
) -> Result<(EntitySet<Block>, EntitySet<Block>), VectorizeError> {
    let node = Node::from(header);
    let Some(c) = cycles.around(node).find(|&c| cycles.header(c) == node) else {
        return Err(VectorizeError::at_block(func, header, "no loop begins at this block"));
    };
    if !cycles.is_reducible(c) {
        let reason =
            "control enters this loop at several blocks, so it has no iterations to run side by side";
        return Err(VectorizeError::at_block(func, header, reason));
    }
    let set = |nodes: &[Node]| {
        let mut set = EntitySet::with_capacity(func.blocks.len());
        for &n in nodes {
            set.insert(Block::from(n));
        }
        set
    };
    Ok((set(cycles.nodes(c)), set(cycles.own_nodes(c))))
}

/// So many iterations are executed in groups of a loop that nobody knows the end of; the scalar loop does the rest.
const ENOUGH: u128 = 1 << 40;

/// Adds a counter to the φs of a header, and a branch on whether it is below [`ENOUGH`] behind them.
fn add_test(func: &mut Function, header: Block) -> Inst {
    let i64_ = Type::Int(64);
    let counter = func.add_phi(header, i64_);
    let position = func.blocks[header].phis.len() - 1;
    let next = func.split_block(header, 0, "");
    let [zero, one, enough] = [0, 1, ENOUGH].map(|n| func.int_const(64, n));
    let below = func.append_value(header, Op::ICmp(IntPred::Ult), &[counter, enough], Type::BOOL);
    let after = func.append(header, Op::Binary(BinaryOp::Add), &[counter, one], i64_);
    func.insts[after].flags = InstFlags::NUW | InstFlags::NSW;
    let after = func.insts[after].results[0];
    let cycles = CycleForest::compute(&func.graph().0);
    let inside = |b: Block| {
        let own = cycles.around(Node::from(header)).find(|&c| cycles.header(c) == Node::from(header));
        own.is_some_and(|c| cycles.contains(c, Node::from(b)))
    };
    for e in func.blocks[header].preds.clone() {
        let from = func.edges[e].from;
        func.set_phi_arg(e, position, if inside(from) { after } else { zero });
    }
    func.set_terminator(header, Op::CondBr, &[below], &[next, next])
}

/// The edges that leave a loop of these blocks for blocks of one kind.
pub(super) fn leaving(func: &Function, blocks: &EntitySet<Block>, to: impl Fn(Block) -> bool) -> Vec<Edge> {
    let inside = func.layout.iter().filter(|&&b| blocks.contains(b));
    let leaves = |&e: &Edge| !blocks.contains(func.edges[e].to) && to(func.edges[e].to);
    inside.flat_map(|&b| func.out_edges(b).iter().copied()).filter(leaves).collect()
}

/// The ways out of a loop.
struct Exits<'a> {
    func: &'a Function,
    header: Block,
    blocks: &'a EntitySet<Block>,
    own: &'a EntitySet<Block>,
    back: Edge,
    dominators: &'a DomTree,
}

impl Exits<'_> {
    /// The edge by which a loop is left when its counter has come to an end, and the others of those that are given.
    fn the_counted(&self, exits: &[Edge]) -> Result<(Edge, Vec<Edge>), VectorizeError> {
        let func = self.func;
        let counted = match exits {
            [] => {
                let reason = "control never leaves this loop, so its iterations cannot be counted";
                return Err(VectorizeError::at_block(func, self.header, reason));
            }
            &[exit] => exit,
            &[_, other, ..] => self.counted_one_of(exits).ok_or_else(|| {
                // The second one is the likelier `break`.
                let reason = "this leaves the loop, of which no exit compares a counter with a bound: how many \
                     iterations there are is not known before they run";
                VectorizeError::at_inst(func, func.terminator(func.edges[other].from), reason)
            })?,
        };
        Ok((counted, exits.iter().copied().filter(|&e| e != counted).collect()))
    }

    /// The edge that is taken on a comparison of something that counts with something that stays the same, or else with
    /// something that counts, too.
    fn counted_one_of(&self, exits: &[Edge]) -> Option<Edge> {
        let condition = |&exit: &Edge| Some(self.func.insts[self.counted_test(exit).ok()?].args[0]);
        let (func, header, blocks) = (self.func, self.header, self.blocks);
        let with_fixed =
            |exit: &Edge| condition(exit).is_some_and(|c| compares_counter(func, header, blocks, c));
        let with_another =
            |exit: &Edge| condition(exit).is_some_and(|c| compares_counters(func, header, blocks, c));
        let all = || exits.iter().copied();
        all().find(with_fixed).or_else(|| all().find(with_another))
    }

    /// The branch that an exit edge belongs to, if it is executed in every iteration that gets to it.
    fn counted_test(&self, exit: Edge) -> Result<Inst, VectorizeError> {
        let func = self.func;
        let from = func.edges[exit].from;
        let test = func.terminator(from);
        if !self.is_always(from) {
            let reason = "this leaves the loop and is not executed once in every iteration: how many iterations \
             there are is not known before they run";
            return Err(VectorizeError::at_inst(func, test, reason));
        }
        if func.insts[test].op != Op::CondBr {
            let reason = "the loop is left by something else than a comparison of its counter with a bound";
            return Err(VectorizeError::at_inst(func, test, reason));
        }
        Ok(test)
    }

    fn is_always(&self, block: Block) -> bool {
        self.own.contains(block) && dominates(self.dominators, block, self.func.edges[self.back].from)
    }

    /// The branches of exits in the middle of a loop, and of those into dead ends that are not behind all of them.
    fn breaks(&self, exits: &[Edge], into_dead_ends: &[Edge]) -> Result<Vec<Break>, VectorizeError> {
        let func = self.func;
        let precedes = |a: Edge, b: Edge| {
            let [a, b] = [a, b].map(|e| func.edges[e].from);
            a != b && dominates(self.dominators, a, b)
        };
        // What is executed in every iteration is in an order.
        let Some(last) = exits.iter().copied().reduce(|a, b| if precedes(a, b) { b } else { a }) else {
            return Ok(Vec::new());
        };
        let early = into_dead_ends.iter().copied().filter(|&e| !precedes(last, e));
        let mut all = Vec::new();
        for exit in exits.iter().copied().chain(early) {
            let branch = func.terminator(func.edges[exit].from);
            if !self.is_always(func.edges[exit].from) {
                let reason = "this leaves the loop under a condition, or from an inner loop: lanes look for the first \
                     iteration that leaves it where every iteration does; use a flag and go on, or make the body a \
                     kernel";
                return Err(VectorizeError::at_inst(func, branch, reason));
            }
            let data = &func.insts[branch];
            if data.op != Op::CondBr || data.edges.iter().all(|&e| !self.blocks.contains(func.edges[e].to)) {
                let reason = "the loop is left in the middle by something else than a branch that goes on or leaves it";
                return Err(VectorizeError::at_inst(func, branch, reason));
            }
            all.push((exit, Break { branch, leaves_if: data.edges[0] == exit }));
        }
        all.sort_by(|a, b| match (precedes(a.0, b.0), precedes(b.0, a.0)) {
            (true, _) => std::cmp::Ordering::Less,
            (_, true) => std::cmp::Ordering::Greater,
            _ => std::cmp::Ordering::Equal,
        });
        Ok(all.into_iter().map(|(_, b)| b).collect())
    }
}

/// Whether a value compares something that counts in the loop with this header with something that stays the same.
pub(super) fn compares_counter(
    func: &Function,
    header: Block,
    blocks: &EntitySet<Block>,
    condition: Value,
) -> bool {
    let Some(compared) = func.def_inst(condition) else { return false };
    let (Op::ICmp(_), &[a, b]) = (&func.insts[compared].op, &func.insts[compared].args[..]) else {
        return false;
    };
    let inside = |v: Value| func.def_block(v).is_some_and(|b| blocks.contains(b));
    match (inside(a), inside(b)) {
        (true, false) => is_counter(func, header, blocks, a),
        (false, true) => is_counter(func, header, blocks, b),
        _ => false,
    }
}

/// Whether a value compares two things that count in the loop with this header.
fn compares_counters(func: &Function, header: Block, blocks: &EntitySet<Block>, condition: Value) -> bool {
    let compared = func.def_inst(condition).map(|i| &func.insts[i]);
    compared.is_some_and(|data| {
        matches!(data.op, Op::ICmp(_)) && data.args.iter().all(|&v| is_counter(func, header, blocks, v))
    })
}

/// Whether a value is a φ of the header but for numbers that are added.
fn is_counter(func: &Function, header: Block, blocks: &EntitySet<Block>, mut v: Value) -> bool {
    for _ in 0..MAX_STEPS {
        let Some(i) = func.def_inst(v) else { return false };
        let data = &func.insts[i];
        let is_fixed = |v: &Value| func.def_block(*v).is_none_or(|b| !blocks.contains(b));
        v = match (&data.op, &data.args[..]) {
            (Op::Phi, _) => return data.block == header,
            (Op::Cast(_), &[x]) => x,
            (Op::Gep(_), [x, by @ ..]) if by.iter().all(is_fixed) => *x,
            (Op::Binary(BinaryOp::Add | BinaryOp::Sub), [x, y]) if is_fixed(y) => *x,
            (Op::Binary(BinaryOp::Add), [x, y]) if is_fixed(x) => *y,
            _ => return false,
        };
    }
    false
}

/// So many additions between a test and what counts are looked through.
const MAX_STEPS: u32 = 8;

/// The blocks without return that can be reached from the loop.
fn reached(func: &Function, blocks: &EntitySet<Block>, dead: &EntitySet<Block>) -> EntitySet<Block> {
    let mut found = EntitySet::with_capacity(func.blocks.len());
    let mut work: Vec<Block> = func.layout.iter().copied().filter(|&b| blocks.contains(b)).collect();
    while let Some(b) = work.pop() {
        let next = func.successors(b).filter(|&s| dead.contains(s) && !blocks.contains(s));
        work.extend(next.filter(|&s| found.insert(s)));
    }
    found
}
