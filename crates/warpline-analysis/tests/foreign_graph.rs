//! A compiler's own control-flow graph is analysed as it is: nothing is copied into lists of this crate.

use warpline_analysis::{CsrGraph, CycleForest, DfsOrder, DomTree, EdgeId, Edges, Graph, Joins, Node};

/// A bytecode: each block ends with a jump, a conditional jump or a return. Edges have the number of their block,
/// twice, and which of its two it is.
struct Bytecode {
    blocks: Vec<[Option<u32>; 2]>,
    predecessors: Vec<Vec<u32>>,
}

impl Bytecode {
    fn new(blocks: Vec<[Option<u32>; 2]>) -> Bytecode {
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for (b, targets) in blocks.iter().enumerate() {
            for (k, target) in targets.iter().enumerate() {
                predecessors[target.unwrap_or(0) as usize].extend(target.map(|_| 2 * b as u32 + k as u32));
            }
        }
        Bytecode { blocks, predecessors }
    }
}

impl Graph for Bytecode {
    fn node_count(&self) -> usize {
        self.blocks.len()
    }
    fn edge_count(&self) -> usize {
        2 * self.blocks.len()
    }
    fn entry(&self) -> Node {
        Node(0)
    }
    fn out_edges(&self, node: Node) -> impl Edges {
        let jumps = self.blocks[node.index()].iter().flatten().count() as u32;
        (2 * node.0..2 * node.0 + jumps).map(EdgeId)
    }
    fn in_edges(&self, node: Node) -> impl Edges {
        self.predecessors[node.index()].iter().map(|&e| EdgeId(e))
    }
    fn source(&self, edge: EdgeId) -> Node {
        Node(edge.0 / 2)
    }
    fn target(&self, edge: EdgeId) -> Node {
        Node(self.blocks[edge.index() / 2][edge.index() % 2].unwrap_or(0))
    }
    fn edges(&self) -> impl DoubleEndedIterator<Item = EdgeId> + ExactSizeIterator + use<> {
        let taken = |e: &usize| self.blocks[e / 2][e % 2].is_some();
        (0..self.edge_count()).filter(taken).map(EdgeId::new).collect::<Vec<_>>().into_iter()
    }
}

#[test]
fn analyses_of_a_foreign_graph_are_those_of_its_copy() {
    let jump = |to: u32| [Some(to), None];
    // A loop with a branch in it: 1 → 2 or 3, both → 4, which goes back or out.
    let foreign =
        Bytecode::new(vec![jump(1), [Some(2), Some(3)], jump(4), jump(4), [Some(1), Some(5)], [None, None]]);
    let copy = CsrGraph::copy_of(&foreign);
    let (tree, of_copy) = (DomTree::compute(&foreign), DomTree::compute(&copy));
    for node in foreign.nodes() {
        assert_eq!(tree.idom(node), of_copy.idom(node), "{node}");
    }
    let cycles = CycleForest::compute(&foreign);
    let exits: Vec<Vec<EdgeId>> = cycles.all_exit_edges(&foreign);
    assert_eq!(exits, CycleForest::compute(&copy).all_exit_edges(&copy));
    assert_eq!(exits, [vec![EdgeId(9)]]);
    let (dfs, dfs_of_copy) = (DfsOrder::compute(&foreign), DfsOrder::compute(&copy));
    let cycles_of_copy = CycleForest::compute(&copy);
    let found = Joins::new(&foreign, &dfs, &cycles).of_branch(Node(1));
    assert_eq!(found, Joins::new(&copy, &dfs_of_copy, &cycles_of_copy).of_branch(Node(1)));
    assert_eq!(found.joins, [Node(4)]);
}
