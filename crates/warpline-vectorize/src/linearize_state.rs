//! The state that the transforms share: the function being changed, its loops, and what still has to be
//! written at block ends once the masks are known.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, PrimaryMap, SecondaryMap, entity_impl};
use warpline_analysis::{CycleForest, Node};

use warpline_ir::{Block, Edge, Function, Op, Value, Var};

use super::no_return_paths;

/// A loop of the function; unlike a [`CycleForest`] it is kept up to date while blocks are added.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LoopId(u32);
entity_impl!(LoopId, "loop");

/// A class of blocks that execute under the same mask.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Class(u32);
entity_impl!(Class, "class");

/// Whether a block's predicate is constantly true: every lane that comes to its loop, or to the function, comes by.
pub(crate) type Always = EntitySet<Block>;

/// What the transforms must know of the values and the control flow: the outcome of the uniformity analysis.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Blocks with a divergent branch.
    pub divergent_branches: EntitySet<Block>,
    /// Headers of the loops that lanes leave in different iterations or by different exits.
    pub divergent_loops: EntitySet<Block>,
    /// Values that differ between lanes and are not strided either.
    pub varying: EntitySet<Value>,
    /// Values that differ between lanes, strided ones included.
    pub divergent: EntitySet<Value>,
}

/// A loop.
#[derive(Clone, Debug)]
pub(crate) struct LoopData {
    /// The header; stays the header for good.
    pub header: Block,
    /// The only block with a back edge.
    pub latch: Block,
    /// The only predecessor from outside.
    pub preheader: Block,
    /// The loop around.
    pub parent: PackedOption<LoopId>,
    /// The last of the loops inside, which follow directly; the loop itself if there are none.
    pub last: LoopId,
    /// Where lanes go on behind the loop, if it was transformed.
    pub dispatch: PackedOption<Block>,
    /// Whether lanes leave it apart.
    pub divergent: bool,
    /// Edges that leave the loop, by the innermost loop they start in or are passed up to.
    /// Edges into dead ends are not among them.
    pub exits: Vec<Edge>,
}

/// What is to be written on an edge, that is at the end of the block it leaves.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// `mask := mask | edge mask`.
    Join(Var),
    /// `mask := edge mask`.
    Put(Var),
    /// `var := blend(edge mask, value, var)`, on behalf of a φ.
    Assign {
        /// The variable.
        var: Var,
        /// What lanes on this edge write.
        value: Value,
        /// Whether the lanes of the φ are uniform or have one stride, so that one lane on the edge decides.
        regular: bool,
        /// Whether earlier writes of lanes that are not on this edge must survive.
        keep: bool,
    },
}

/// What a variable starts as.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Init {
    /// No lane.
    False,
    /// Nothing.
    Poison,
    /// The present value of another variable.
    Copy(Var),
}

/// How a block's branch is treated.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Branch {
    /// All active lanes agree.
    #[default]
    Uniform,
    /// To be folded.
    Divergent,
    /// Made by the vectorizer: whether a mask has any lane, or whether any lane goes into a dead end. Never folded,
    /// and needs no active lane.
    AnyLane,
}

/// The function under transformation.
#[derive(Clone, Debug)]
pub(crate) struct LinearizeState {
    /// The function.
    pub func: Function,
    /// Facts about the values and branches it came with.
    pub facts: Facts,
    /// The mask of the lanes that enter the function, an `i1` parameter; `None`: all lanes do.
    pub entry_mask: Option<Value>,
    /// How each block's branch is treated.
    pub branch: SecondaryMap<Block, Branch>,
    /// All loops, outer before inner.
    pub loops: PrimaryMap<LoopId, LoopData>,
    /// The innermost loop of each block.
    pub loop_of: SecondaryMap<Block, PackedOption<LoopId>>,
    /// Blocks from which control never returns.
    pub dead_ends: EntitySet<Block>,
    /// Blocks that hold a divergent branch alone, below the block with the [gadget](super::boscc::gadget) that was
    /// split off it. What their edges write is written up there.
    pub tested_above: SecondaryMap<Block, PackedOption<Block>>,
    /// Blocks that end in a [guard](super::any_lane_branches), which asks whether their own mask has any lane.
    pub guards: Vec<Block>,
    /// Writes on edges.
    pub actions: SecondaryMap<Edge, Vec<Action>>,
    /// Initialisations at the top of a block.
    pub top: SecondaryMap<Block, Vec<(Var, Init)>>,
    /// Initialisations at the end of a block, before what its edges write.
    pub end: SecondaryMap<Block, Vec<(Var, Init)>>,
    /// Dispatch blocks behind transformed loops, with the preheader of the loop: both execute under the same mask.
    pub resumes: SecondaryMap<Block, PackedOption<Block>>,
    /// Masks of the lanes that go on with the loop, written on the back edge, by latch.
    pub live: SecondaryMap<Block, PackedOption<Var>>,
    /// What is written on the edges to a latch and read there; initialised at its immediate dominator, as masks are.
    pub into_latch: SecondaryMap<Block, Vec<(Var, Init)>>,
    /// Blocks that every lane comes to, whatever happens; found with the classes.
    pub always: Always,
    /// The class of each block.
    pub class: SecondaryMap<Block, PackedOption<Class>>,
    /// Blocks that joined a class because all their in-edges come from it by uniform branches.
    pub relies_on_edges: Vec<Block>,
    /// The block at which each class begins.
    pub leaders: PrimaryMap<Class, Block>,
    /// The variable that holds the mask of each class; none for the first, whose mask is the entry mask.
    pub masks: SecondaryMap<Class, PackedOption<Var>>,
}

impl LinearizeState {
    /// Takes a function in [normal form](super::normalize) and finds its loops.
    pub(crate) fn new(func: Function, facts: Facts) -> LinearizeState {
        let mut state = LinearizeState {
            entry_mask: None,
            branch: SecondaryMap::new(),
            loops: PrimaryMap::new(),
            loop_of: SecondaryMap::new(),
            dead_ends: no_return_paths::find(&func),
            tested_above: SecondaryMap::new(),
            guards: Vec::new(),
            actions: SecondaryMap::new(),
            top: SecondaryMap::new(),
            end: SecondaryMap::new(),
            resumes: SecondaryMap::new(),
            live: SecondaryMap::new(),
            into_latch: SecondaryMap::new(),
            always: Always::new(),
            class: SecondaryMap::new(),
            relies_on_edges: Vec::new(),
            leaders: PrimaryMap::new(),
            masks: SecondaryMap::new(),
            func,
            facts,
        };
        state.find_loops();
        for &b in &state.func.layout {
            let checks = |&e: &Edge| state.dead_ends.contains(state.func.edges[e].to);
            if !state.dead_ends.contains(b) && state.func.out_edges(b).iter().any(checks) {
                state.branch[b] = Branch::AnyLane;
            } else if state.facts.divergent_branches.contains(b) && state.func.out_edges(b).len() > 1 {
                state.branch[b] = Branch::Divergent;
            }
        }
        state
    }

    fn find_loops(&mut self) {
        let (graph, ids) = self.func.graph();
        let cycles = CycleForest::compute(&graph);
        // Parents come before their children in `cycles`.
        let exits = cycles.all_exit_edges(&graph);
        let mut ids_of: Vec<PackedOption<LoopId>> = vec![None.into(); cycles.len()];
        for c in cycles.cycles() {
            let header = Block::from(cycles.header(c));
            let inside = |b: Block| cycles.contains(c, Node::from(b));
            let (mut latch, mut preheader) = (header, header);
            for p in self.func.predecessors(header) {
                *(if inside(p) { &mut latch } else { &mut preheader }) = p;
            }
            let id = self.loops.next_key();
            self.loops.push(LoopData {
                last: id,
                dispatch: None.into(),
                header,
                latch,
                preheader,
                parent: cycles.parent(c).and_then(|p| ids_of[p.index()].expand()).into(),
                divergent: self.facts.divergent_loops.contains(header),
                exits: Vec::new(),
            });
            ids_of[c.index()] = id.into();
            // An edge is listed with the innermost loop only; see `LoopData::exits`.
            let own = |b: Block| cycles.innermost(Node::from(b)) == Some(c);
            self.loops[id].exits = exits[c.index()]
                .iter()
                .map(|e| ids[e.index()])
                .filter(|&e| own(self.func.edges[e].from) && !self.dead_ends.contains(self.func.edges[e].to))
                .collect();
        }
        for l in self.loops.keys().rev() {
            if let Some(p) = self.loops[l].parent.expand() {
                self.loops[p].last = self.loops[p].last.max(self.loops[l].last);
            }
        }
        for &b in &self.func.layout {
            self.loop_of[b] = match cycles.innermost(Node::from(b)) {
                Some(c) => ids_of[c.index()],
                None => None.into(),
            };
        }
    }

    /// Whether a loop contains a block.
    pub(crate) fn contains(&self, l: LoopId, b: Block) -> bool {
        self.loop_of[b].expand().is_some_and(|inner| l <= inner && inner <= self.loops[l].last)
    }

    /// The loops around a block, innermost first.
    pub(crate) fn loops_around(&self, b: Block) -> impl Iterator<Item = LoopId> + '_ {
        std::iter::successors(self.loop_of[b].expand(), |&l| self.loops[l].parent.expand())
    }

    /// The loop of which a block is the header.
    pub(crate) fn loop_at(&self, header: Block) -> Option<LoopId> {
        self.loop_of[header].expand().filter(|&l| self.loops[l].header == header)
    }

    /// Whether an edge closes a loop.
    pub(crate) fn is_back_edge(&self, e: Edge) -> bool {
        let edge = &self.func.edges[e];
        self.loop_at(edge.to).is_some_and(|l| self.loops[l].latch == edge.from)
    }

    /// The class of a block. Classes must have been computed.
    pub(crate) fn class_of(&self, b: Block) -> Class {
        self.class[b].expect("classes are computed for all blocks")
    }

    /// Adds a block of a loop (or of none).
    pub(crate) fn add_block(&mut self, name: &str, inside: PackedOption<LoopId>) -> Block {
        let b = self.func.add_block(name);
        self.loop_of[b] = inside;
        b
    }

    /// Splits a block behind its φs: the block keeps φs, in-edges and what is initialised at its top, the new
    /// block gets everything else and is returned.
    pub(crate) fn split_below_phis(&mut self, b: Block, name: &str) -> Block {
        let new = self.func.split_block(b, 0, name);
        self.loop_of[new] = self.loop_of[b];
        self.class[new] = self.class[b];
        if self.dead_ends.contains(b) {
            self.dead_ends.insert(new);
        }
        self.branch[new] = std::mem::take(&mut self.branch[b]);
        self.end[new] = std::mem::take(&mut self.end[b]);
        self.live[new] = self.live[b].take().into();
        for k in 0..self.func.out_edges(new).len() {
            let Some(l) = self.loop_at(self.func.edges[self.func.out_edges(new)[k]].to) else { continue };
            if self.loops[l].latch == b {
                self.loops[l].latch = new;
            }
            if self.loops[l].preheader == b {
                self.loops[l].preheader = new;
                if let Some(dispatch) = self.loops[l].dispatch.expand() {
                    self.resumes[dispatch] = new.into();
                }
            }
        }
        new
    }

    /// Splits a block before its branch, which the new block gets and is returned; the old one keeps everything else,
    /// what is initialised at its end included. The block must be neither latch nor preheader of a loop.
    pub(crate) fn split_before_branch(&mut self, b: Block, name: &str) -> Block {
        let new = self.func.split_block(b, usize::MAX, name);
        self.loop_of[new] = self.loop_of[b];
        self.class[new] = self.class[b];
        self.branch[new] = std::mem::take(&mut self.branch[b]);
        new
    }

    /// The block with the divergent branch below a block with a gadget.
    pub(crate) fn rest_below(&self, b: Block) -> Option<Block> {
        self.func.successors(b).next().filter(|&rest| self.tested_above[rest] == Some(b).into())
    }

    /// Puts a block on an edge; what is to be written on the edge is then written at the end of that block.
    pub(crate) fn split_edge(&mut self, e: Edge, name: &str) -> Block {
        let edge = &self.func.edges[e];
        let (from, to) = (edge.from, edge.to);
        let inside = self.loops_around(from).find(|&l| self.contains(l, to));
        let mid = self.func.split_edge(e, name);
        self.loop_of[mid] = inside.into();
        if self.dead_ends.contains(to) {
            self.dead_ends.insert(mid);
        }
        let out = self.func.out_edges(mid)[0];
        self.actions[out] = std::mem::take(&mut self.actions[e]);
        mid
    }

    /// Whether a block branches: its terminator has edges to at least two different blocks.
    pub(crate) fn branches(&self, b: Block) -> bool {
        let mut targets = self.func.successors(b);
        let first = targets.next();
        targets.any(|t| Some(t) != first)
    }

    /// Whether the lanes of a value are uniform or have one stride.
    pub(crate) fn is_regular(&self, v: Value) -> bool {
        !self.facts.varying.contains(v)
    }

    /// Whether the terminator of a block is a conditional branch on a constant.
    pub(crate) fn has_constant_branch(&self, b: Block) -> bool {
        let t = &self.func.insts[self.func.terminator(b)];
        matches!(t.op, Op::CondBr | Op::Switch(_)) && self.func.as_int(t.args[0]).is_some()
    }
}
