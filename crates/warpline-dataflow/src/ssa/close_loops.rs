//! Loop-closed SSA: a value that is used outside of a loop that it is defined in passes through a φ where control
//! leaves.
//!
//! Loops are all cycles of the [`CycleForest`], reducible or not. A value is *used outside* of a cycle if the use
//! stands in a block that the cycle does not contain; an operand of a φ is used at the end of the block where its
//! edge begins. An *exit* of a cycle is a block outside of it to which an edge from inside leads. That is the same
//! for irreducible cycles, since it speaks of the cycle's blocks alone and not of its entries. The form holds if no
//! value is used outside of a cycle that contains its definition, so what is used there is a φ of an exit, or comes
//! from one. Exits need not be dedicated: where edges from elsewhere lead to an exit as well, the φ has operands for
//! these too. A φ may itself stand in a cycle that the value's definition is not in; then it is a definition in that
//! one.
//!
//! For each value, φs stand at the exits, where the value is live, of all cycles that contain the definition or a φ
//! that was placed for it, and where these meet (paper 5, Section 2; the definition dominates all such places, so
//! dominance frontiers give the joins alone). Each of them is needed. A value costs what its live range outside of
//! its innermost cycle costs, and values that do not leave their cycle nothing.

use cranelift_entity::EntitySet;
use warpline_analysis::{
    CsrGraph, CycleForest, CycleId, DfsOrder, DomTree, Graph, IteratedFrontier, Lists, Node,
};

use warpline_ir::{Block, Edge, Function, Inst, Op, Type, Value, ValueDef};

/// Brings a function in strict SSA form into loop-closed form, and returns how many φs that took. Values of types
/// that only LLVM knows (tokens among them) and uses in unreachable blocks are left alone. Control flow stays as it
/// is; a function that is loop-closed stays as it is altogether.
pub fn close_loops(func: &mut Function) -> usize {
    let (graph, edges) = func.graph();
    let dfs = DfsOrder::compute(&graph);
    let cycles = CycleForest::compute_with(&graph, &dfs);
    let uses = outside_uses(func, &dfs, &cycles);
    if uses.is_empty() {
        return 0;
    }
    let dom = DomTree::compute_with(&graph, &dfs);
    let left = graph.edges().map(|e| cycles.outermost_without(graph.source(e), graph.target(e))).collect();
    let by_value = Lists::group(func.values.len(), uses.iter().map(|&(v, u)| (v.as_u32() as usize, u)));
    let mut closing = Closing {
        frontier: IteratedFrontier::new(&graph, &dom),
        live: vec![0; graph.node_count()],
        holds: vec![uses[0].0; graph.node_count()],
        entered: vec![0; cycles.len()],
        round: 0,
        graph: &graph,
        edges: &edges,
        dom: &dom,
        cycles: &cycles,
        left,
    };
    let mut seen: EntitySet<Value> = EntitySet::with_capacity(func.values.len());
    let values: Vec<Value> = uses.iter().map(|u| u.0).filter(|&v| seen.insert(v)).collect();
    values.into_iter().map(|v| closing.value(func, v, by_value.get(v.as_u32() as usize))).sum()
}

/// A place where a value is used.
#[derive(Copy, Clone)]
enum Use {
    /// Operand number of an instruction.
    Operand(Inst, usize),
    /// Operand of the φ with this position, on an edge.
    Phi(Edge, usize),
    /// The mask of a block.
    Mask(Block),
}

impl Use {
    /// The block in which the value must be available.
    fn node(self, func: &Function) -> Node {
        Node::from(match self {
            Use::Operand(i, _) => func.insts[i].block,
            Use::Phi(e, _) => func.edges[e].from,
            Use::Mask(b) => b,
        })
    }

    fn set(self, func: &mut Function, v: Value) {
        match self {
            Use::Operand(i, n) => func.insts[i].args[n] = v,
            Use::Phi(e, n) => func.edges[e].args[n] = v,
            Use::Mask(b) => func.blocks[b].mask = v.into(),
        }
    }
}

/// The uses of values outside of the innermost cycle that they are defined in, in the order of the layout.
fn outside_uses(func: &Function, dfs: &DfsOrder, cycles: &CycleForest) -> Vec<(Value, Use)> {
    let mut found = Vec::new();
    let mut add = |v: Value, at: Block, u: Use| {
        let ValueDef::Inst(def, _) = func.values[v].def else { return };
        let home = cycles.innermost(Node::from(func.insts[def].block));
        if home.is_some_and(|c| !cycles.contains(c, Node::from(at)))
            && !matches!(func.values[v].ty, Type::Other(_))
        {
            found.push((v, u));
        }
    };
    for &b in func.layout.iter().filter(|&&b| dfs.is_reachable(Node::from(b))) {
        for i in func.block_insts(b) {
            for (n, &v) in func.insts[i].args.iter().enumerate() {
                add(v, b, Use::Operand(i, n));
            }
        }
        for &e in func.out_edges(b) {
            for (n, &v) in func.edges[e].args.iter().enumerate() {
                add(v, b, Use::Phi(e, n));
            }
        }
        if let Some(mask) = func.blocks[b].mask.expand() {
            add(mask, b, Use::Mask(b));
        }
    }
    found
}

/// What it takes to close one value after the other; tables hold for the value whose `round` stands in them.
struct Closing<'a> {
    graph: &'a CsrGraph,
    edges: &'a [Edge],
    dom: &'a DomTree,
    cycles: &'a CycleForest,
    /// By edge of the graph: the outermost cycle that it leaves. It contains a definition if any cycle does that the
    /// edge leaves.
    left: Vec<Option<CycleId>>,
    frontier: IteratedFrontier<'a, CsrGraph>,
    /// Where the value is live at the beginning, outside of its innermost cycle.
    live: Vec<u32>,
    /// What stands for the value there.
    holds: Vec<Value>,
    /// Cycles that contain the definition or a φ.
    entered: Vec<u32>,
    round: u32,
}

impl Closing<'_> {
    /// Closes a value that has these uses outside of its innermost cycle. Returns the number of φs placed.
    fn value(&mut self, func: &mut Function, v: Value, uses: &[Use]) -> usize {
        self.round += 1;
        let def = func.def_block(v).expect("only results of instructions are closed");
        let home = self.cycles.innermost(Node::from(def)).expect("the value is defined in a cycle");
        let mut range = self.live_range(func, home, uses);
        let placed = self.place(home, &range);
        range.sort_unstable_by_key(|&n| self.dom.pre_number(n));
        for &n in &range {
            // Dominators outside of the innermost cycle are in the live range.
            let above = self.dom.idom(n).filter(|i| self.live[i.index()] == self.round);
            let inherited = above.map_or(v, |i| self.holds[i.index()]);
            let is_placed = placed.binary_search(&n).is_ok();
            self.holds[n.index()] = if is_placed { phi(func, Block::from(n), v) } else { inherited };
        }
        for &n in &placed {
            for &e in self.graph.in_edges(n) {
                let from = self.graph.source(e);
                let value = match self.dom.is_reachable(from) {
                    true => self.at_end(v, from),
                    false => func.poison(func.ty(v)),
                };
                func.edges[self.edges[e.index()]].args.push(value);
            }
        }
        for u in uses {
            u.set(func, self.at_end(v, u.node(func)));
        }
        placed.len()
    }

    /// What stands for `v` at the end of a block that is in its live range or in its innermost cycle.
    fn at_end(&self, v: Value, node: Node) -> Value {
        if self.live[node.index()] == self.round { self.holds[node.index()] } else { v }
    }

    /// The blocks outside of the value's innermost cycle at whose beginning it is live.
    fn live_range(&mut self, func: &Function, home: CycleId, uses: &[Use]) -> Vec<Node> {
        let mut range: Vec<Node> = Vec::new();
        let mut work: Vec<Node> = uses.iter().map(|u| u.node(func)).collect();
        while let Some(n) = work.pop() {
            if std::mem::replace(&mut self.live[n.index()], self.round) == self.round {
                continue;
            }
            range.push(n);
            let outside = |&p: &Node| self.dom.is_reachable(p) && !self.cycles.contains(home, p);
            work.extend(self.graph.predecessors(n).filter(outside));
        }
        range
    }

    /// Where φs are needed in the live range, in increasing order.
    fn place(&mut self, home: CycleId, range: &[Node]) -> Vec<Node> {
        let in_edges = range.iter().flat_map(|&n| self.graph.in_edges(n));
        let leaving = in_edges.filter_map(|&e| Some((self.left[e.index()]?, self.graph.target(e))));
        let mut exits: Vec<(CycleId, Node)> = leaving.collect();
        let mut placed: Vec<Node> = Vec::new();
        self.enter(Some(home));
        loop {
            let before = placed.len();
            exits.retain(|&(c, n)| {
                let is_entered = self.entered[c.index()] == self.round;
                if is_entered {
                    placed.push(n);
                }
                !is_entered
            });
            if placed.len() == before {
                break placed;
            }
            placed.sort_unstable();
            placed.dedup();
            let joins =
                self.frontier.compute_live(placed.iter().copied(), |n| self.live[n.index()] == self.round);
            placed.extend(joins);
            placed.sort_unstable();
            placed.dedup();
            for n in &placed {
                self.enter(self.cycles.innermost(*n));
            }
        }
    }

    /// A value is defined in this cycle, and so in all around it.
    fn enter(&mut self, cycle: Option<CycleId>) {
        let mut at = cycle;
        while let Some(c) = at.filter(|c| self.entered[c.index()] != self.round) {
            self.entered[c.index()] = self.round;
            at = self.cycles.parent(c);
        }
    }
}

/// Adds a φ for `v`, without operands yet.
fn phi(func: &mut Function, b: Block, v: Value) -> Value {
    let phi = func.make_inst(b, Op::Phi, &[], &[func.ty(v)]);
    func.blocks[b].phis.push(phi);
    func.insts[phi].results[0]
}
