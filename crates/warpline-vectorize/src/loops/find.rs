//! A loop that can be the unit of vectorization: one entry, one back edge, one counted exit.

use cranelift_entity::EntitySet;
use warpline_analysis::{CycleForest, DomTree, Node};

use crate::normalize::merge_edges;
use crate::{VectorizeError, no_return_paths};
use warpline_ir::{Block, Edge, Function, Inst, Op};

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
    /// Which blocks dominate which.
    pub(super) dominators: DomTree,
    /// Blocks of the loop that are in no loop within it.
    pub(super) own: EntitySet<Block>,
}

impl Loop {
    /// Finds the loop of a header, and gives it a preheader and a single latch.
    ///
    /// # Errors
    /// If control enters it at several blocks, or leaves it otherwise than by one test in each iteration.
    pub(super) fn find(func: &mut Function, header: Block) -> Result<Loop, VectorizeError> {
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
        let exit = the_exit(func, header, &blocks, &returns_nowhere)?;
        let dominators = DomTree::compute(&graph);
        let test = counted_test(func, exit, back, &dominators, &own)?;
        let stays_if = func.insts[test].edges[0] != exit;
        let dead = reached(func, &blocks, &returns_nowhere);
        let preheader = func.edges[entering].from;
        Ok(Loop { header, blocks, dead, preheader, back, test, stays_if, dominators, own })
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
fn blocks_of(
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

/// The only edge that leaves the loop for code that may return.
fn the_exit(
    func: &Function,
    header: Block,
    blocks: &EntitySet<Block>,
    dead: &EntitySet<Block>,
) -> Result<Edge, VectorizeError> {
    let mut exits = Vec::new();
    for &b in func.layout.iter().filter(|&&b| blocks.contains(b)) {
        let leaves = |&e: &Edge| !blocks.contains(func.edges[e].to) && !dead.contains(func.edges[e].to);
        exits.extend(func.out_edges(b).iter().copied().filter(leaves));
    }
    match exits[..] {
        [exit] => Ok(exit),
        [] => Err(VectorizeError::at_block(
            func,
            header,
            "control never leaves this loop, so its iterations cannot be counted",
        )),
        [_, other, ..] => {
            // The second one is the likelier `break`.
            let from = func.edges[other].from;
            let reason = "this leaves the loop, which its counter ends already: how many iterations there are \
             is not known \
                          before they run; use a flag and go on, or make the body a kernel";
            Err(VectorizeError::at_inst(func, func.terminator(from), reason))
        }
    }
}

/// The branch that the exit edge belongs to, if it is executed in every iteration.
fn counted_test(
    func: &Function,
    exit: Edge,
    back: Edge,
    dominators: &DomTree,
    own: &EntitySet<Block>,
) -> Result<Inst, VectorizeError> {
    let from = func.edges[exit].from;
    let test = func.terminator(from);
    if !own.contains(from) || !dominates(dominators, from, func.edges[back].from) {
        let reason = "this leaves the loop and is not executed once in every iteration: how many iterations \
         there are is \
                      not known before they run";
        return Err(VectorizeError::at_inst(func, test, reason));
    }
    if func.insts[test].op != Op::CondBr {
        let reason = "the loop is left by something else than a comparison of its counter with a bound";
        return Err(VectorizeError::at_inst(func, test, reason));
    }
    Ok(test)
}

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
