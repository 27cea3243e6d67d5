//! Mask classes: which blocks execute under the same mask (paper 3, Sec. 2.4 and 4).
//!
//! A class stands for one mask variable. A block joins the class of its immediate dominator *d* when
//! * it post-dominates *d* within one iteration of their common loop: every lane of *d* comes by (if *d* is
//!   inside a loop that the block is behind, the loop's preheader stands for it); or
//! * all edges that it is control dependent on leave uniform branches in blocks of *d*'s class: when it is executed,
//!   all lanes of *d* are there. This is the paper's *uniform relative to a dominator* (Def. 4.4; a block that does
//!   not post-dominate *d* depends on nothing before *d*), and Theorem 4.5 promises that these edges survive
//!   linearization. In dead ends, which have no post-dominators, all in-edges are looked at instead.
//!
//! Post-dominance "within one iteration" is that of the graph without back edges, where a latch leads to the exits of
//! its loop instead: a lane at the latch will leave in some later iteration. Edges into [dead
//! ends](super::no_return_paths) are left out too: if they are taken nobody will ask what came after.
//!
//! The header of a uniform loop is in the class of its preheader; that of a divergent loop begins a class, whose
//! mask is the preheader's at first and the latch's live mask in later iterations. A dispatch block is in
//! the class of the preheader: all lanes that entered have left.
//!
//! Every other block begins a class of its own: its mask is the disjunction of the masks of its in-edges.

use cranelift_entity::SecondaryMap;
use warpline_analysis::{CsrGraph, DfsOrder, DomTree, Graph, Node, Reversed};

use warpline_ir::{Block, Type};

use super::linearize_state::{Action, Branch, Class, Init, LinearizeState};

/// Post-dominators of the graph that [the module](self) describes.
pub(crate) struct IterationPostDom {
    tree: DomTree,
    exit: Node,
    graph: CsrGraph,
}

/// What is known of the edges that a block is control dependent on.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
enum Dependence {
    /// There are none so far.
    #[default]
    None,
    /// All leave uniform branches in blocks of this class.
    Uniform(Class),
    /// Some leave divergent branches, or the classes differ.
    Varying,
}

impl IterationPostDom {
    /// Computes them for the present control flow.
    pub(crate) fn compute(state: &LinearizeState) -> IterationPostDom {
        let func = &state.func;
        let mut edges = Vec::new();
        for &b in &func.layout {
            let dead = |b: Block| state.dead_ends.contains(b);
            let forward = func
                .out_edges(b)
                .iter()
                .filter(|&&e| !state.is_back_edge(e) && dead(b) == dead(func.edges[e].to));
            edges.extend(forward.map(|&e| (Node::from(b), Node::from(func.edges[e].to))));
        }
        for l in state.loops.values() {
            let leaving = l.exits.iter().map(|&e| (Node::from(l.latch), Node::from(func.edges[e].to)));
            edges.extend(leaving.filter(|_| !l.divergent));
        }
        let graph = CsrGraph::new(func.blocks.len(), Node::from(func.entry()), edges)
            .expect("edges join blocks of this function");
        let reversed = Reversed::new(&graph);
        let exit = reversed.virtual_exit();
        IterationPostDom { tree: DomTree::compute(&reversed), exit, graph }
    }

    /// Whether every path from `b` passes `a`.
    pub(crate) fn post_dominates(&self, a: Block, b: Block) -> bool {
        self.tree.dominates(Node::from(a), Node::from(b))
    }

    /// Notes for every block that is control dependent on `b` what kind of branch `b` has (Ferrante et al.: the
    /// blocks on the way from each successor to the immediate post-dominator of `b`).
    fn mark_dependent(&self, b: Block, kind: Dependence, depends: &mut SecondaryMap<Block, Dependence>) {
        let end = self.tree.idom(Node::from(b));
        for s in self.graph.successors(Node::from(b)) {
            let mut at = Some(s);
            while let Some(n) = at.filter(|&n| Some(n) != end && n != self.exit) {
                let known = &mut depends[Block::from(n)];
                *known = match *known {
                    Dependence::None => kind,
                    same if same == kind => kind,
                    _ => Dependence::Varying,
                };
                at = self.tree.idom(n);
            }
        }
    }

    /// The immediate post-dominator.
    pub(crate) fn parent(&self, b: Block) -> Option<Block> {
        self.tree.idom(Node::from(b)).filter(|&n| n != self.exit).map(Block::from)
    }
}

/// Computes the classes and notes where their masks are initialised and written.
pub(crate) fn compute_classes(state: &mut LinearizeState, pdom: &IterationPostDom) {
    let (graph, _) = state.func.graph();
    let dfs = DfsOrder::compute(&graph);
    let dom = DomTree::compute_with(&graph, &dfs);
    let order: Vec<Block> = dfs.reverse_post_order().map(Block::from).collect();
    let mut depends: SecondaryMap<Block, Dependence> = SecondaryMap::new();
    for b in order {
        let class = match dom.idom(Node::from(b)) {
            None => begin_class(state, b, "entry"),
            Some(d) => class_of_block(state, pdom, b, Block::from(d), depends[b]),
        };
        if let Some(d) = dom.idom(Node::from(b)) {
            let inits = std::mem::take(&mut state.into_latch[b]);
            state.end[Block::from(d)].extend(inits);
        }
        if dom.idom(Node::from(b)).is_none_or(|d| comes_always(state, pdom, b, Block::from(d))) {
            state.always.insert(b);
        }
        state.class[b] = class.into();
        let uniform = state.branch[b] != Branch::Divergent || !state.branches(b);
        let here = if uniform { Dependence::Uniform(class) } else { Dependence::Varying };
        pdom.mark_dependent(b, here, &mut depends);
    }
}

/// Whether every lane comes to a block, whatever happens, if that is known of the blocks that dominate it.
fn comes_always(state: &LinearizeState, pdom: &IterationPostDom, b: Block, idom: Block) -> bool {
    let heads = state.loop_at(b);
    if heads.is_some_and(|l| state.loops[l].divergent) {
        return false;
    }
    let before = match state.resumes[b].expand() {
        Some(preheader) => preheader,
        None => dominator_on_level(state, b, idom),
    };
    let comes = heads.is_some() || state.resumes[b].is_some() || pdom.post_dominates(b, before);
    comes && state.always.contains(before)
}

fn begin_class(state: &mut LinearizeState, b: Block, name: &str) -> Class {
    let class = state.leaders.push(b);
    if class.as_u32() > 0 {
        state.masks[class] = state.func.add_var(Type::BOOL, name).into();
    }
    class
}

fn class_of_block(
    state: &mut LinearizeState,
    pdom: &IterationPostDom,
    b: Block,
    idom: Block,
    depends: Dependence,
) -> Class {
    if let Some(preheader) = state.resumes[b].expand() {
        return state.class_of(preheader);
    }
    if let Some(l) = state.loop_at(b) {
        return if state.loops[l].divergent { begin_loop_class(state, b) } else { state.class_of(idom) };
    }
    let level = dominator_on_level(state, b, idom);
    if pdom.post_dominates(b, level) {
        return state.class_of(level);
    }
    if !state.dead_ends.contains(b) && depends == Dependence::Uniform(state.class_of(level)) {
        return state.class_of(level);
    }
    let dominator = state.class_of(idom);
    let all_come = state.func.predecessors(b).all(|p| {
        state.class[p] == Some(dominator).into()
            && (state.branch[p] != Branch::Divergent || !state.branches(p))
    });
    if all_come {
        state.relies_on_edges.push(b);
        return dominator;
    }
    let class = begin_class(state, b, "mask");
    let mask = state.masks[class].expect("a class other than the entry's has a mask");
    state.end[idom].push((mask, Init::False));
    for e in state.func.blocks[b].preds.clone() {
        state.actions[e].push(Action::Join(mask));
    }
    class
}

/// The immediate dominator on the loop level of `b`: where it is inside a loop that `b` is behind, the
/// preheader of that loop.
fn dominator_on_level(state: &LinearizeState, b: Block, idom: Block) -> Block {
    let left = state.loops_around(idom).take_while(|&l| !state.contains(l, b)).last();
    left.map_or(idom, |l| state.loops[l].preheader)
}

/// The class of a divergent loop's header.
fn begin_loop_class(state: &mut LinearizeState, header: Block) -> Class {
    let class = begin_class(state, header, "loop");
    let mask = state.masks[class].expect("a class other than the entry's has a mask");
    for e in state.func.blocks[header].preds.clone() {
        let from = state.func.edges[e].from;
        match state.live[from].expand() {
            Some(live) => state.end[from].push((mask, Init::Copy(live))),
            None => state.actions[e].push(Action::Put(mask)),
        }
    }
    class
}
