//! The block index of paper 3, Sec. 3.1: a topological order of the blocks (back edges aside) that is compact.
//!
//! Departure from the paper. It asks for an order that is compact for every loop *and* for every set of dominated
//! blocks. That can be impossible (h→b,c; c→l; b→e,l; l→h: the loop h,b,c,l is entered at h, and e, which b
//! dominates, lies outside). So the index is built hierarchically: **a loop is one node in its parent**, and
//! dominance compactness holds within each loop level: of the blocks of a level, those that a block dominates are
//! contiguous but for the blocks of an inner loop that the dominating block is in. With such an index dominance of
//! the original graph survives linearization, which is what the proofs need of compactness.

use warpline_analysis::{CycleForest, CycleId, DomTree, Graph, Node};

/// A compact order of the reachable blocks of a reducible graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockIndex {
    order: Vec<Node>,
    /// Position of each node; `u32::MAX` for unreachable ones.
    position: Vec<u32>,
}

/// A node of a loop level: a block, or a loop that stands for all its blocks.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Item {
    Block(Node),
    Loop(CycleId),
}

impl BlockIndex {
    /// Computes the index. `cycles` must be reducible throughout; `dom` belongs to `graph`.
    ///
    /// Linear in the size of the graph times the depth of its loops.
    pub fn compute<G: Graph>(graph: &G, dom: &DomTree, cycles: &CycleForest) -> BlockIndex {
        let levels = Levels::new(graph, dom, cycles);
        let mut index = BlockIndex {
            order: Vec::with_capacity(dom.pre_order().len()),
            position: vec![u32::MAX; graph.node_count()],
        };
        // A loop's contents come before what it dominates in its parent, hence are pushed later.
        let mut stack = vec![Item::Block(graph.entry())];
        if let Some(outermost) = cycles.around(graph.entry()).last() {
            stack[0] = Item::Loop(outermost);
        }
        while let Some(item) = stack.pop() {
            stack.extend(levels.children(item).iter().rev());
            match item {
                Item::Block(b) => {
                    index.position[b.index()] = index.order.len() as u32;
                    index.order.push(b);
                }
                Item::Loop(l) => stack.push(levels.inside(l, cycles)),
            }
        }
        index
    }

    /// Takes an order as it is; the caller vouches for it. For tests of what a bad index does.
    pub fn from_order(node_count: usize, order: Vec<Node>) -> BlockIndex {
        let mut position = vec![u32::MAX; node_count];
        for (i, n) in order.iter().enumerate() {
            position[n.index()] = i as u32;
        }
        BlockIndex { order, position }
    }

    /// The blocks in order.
    pub fn order(&self) -> &[Node] {
        &self.order
    }

    /// Position of a block in the order; `u32::MAX` if it is unreachable.
    pub fn position(&self, node: Node) -> u32 {
        self.position[node.index()]
    }

    /// The block at a position.
    pub fn at(&self, position: u32) -> Node {
        self.order[position as usize]
    }
}

/// The dominator trees of all loop levels.
struct Levels {
    block_children: Vec<Vec<Item>>,
    loop_children: Vec<Vec<Item>>,
}

impl Levels {
    fn new<G: Graph>(graph: &G, dom: &DomTree, cycles: &CycleForest) -> Levels {
        let mut levels = Levels {
            block_children: vec![Vec::new(); graph.node_count()],
            loop_children: vec![Vec::new(); cycles.len()],
        };
        // In this order siblings come out topologically sorted, since a path between the subtrees of two siblings is a
        // path between the siblings; and of what a loop dominates, the parts that single blocks of the loop
        // dominate are contiguous.
        for &b in dom.pre_order() {
            // The items that begin at this block: the loops it is header of, outermost first, and itself.
            let mut item = Item::Block(b);
            let mut level = cycles.innermost(b);
            while let Some(l) = level
                && cycles.header(l) == b
            {
                // The item's parent inside `l` is nothing: it is the root of that level.
                item = Item::Loop(l);
                level = cycles.parent(l);
            }
            if let Some(d) = dom.idom(b) {
                match representative(d, level, cycles) {
                    Item::Block(p) => levels.block_children[p.index()].push(item),
                    Item::Loop(p) => levels.loop_children[p.index()].push(item),
                }
            }
        }
        levels
    }

    fn children(&self, item: Item) -> &[Item] {
        match item {
            Item::Block(b) => &self.block_children[b.index()],
            Item::Loop(l) => &self.loop_children[l.index()],
        }
    }

    /// The root of a loop's level: its header, or the child loop that has the same header.
    fn inside(&self, l: CycleId, cycles: &CycleForest) -> Item {
        let header = cycles.header(l);
        match cycles.around(header).take_while(|&c| c != l).last() {
            Some(inner) => Item::Loop(inner),
            None => Item::Block(header),
        }
    }
}

/// What stands for block `b` on a loop level: itself, or the loop of that level that contains it.
fn representative(b: Node, level: Option<CycleId>, cycles: &CycleForest) -> Item {
    match cycles.around(b).take_while(|&c| Some(c) != level).last() {
        Some(l) => Item::Loop(l),
        None => Item::Block(b),
    }
}
