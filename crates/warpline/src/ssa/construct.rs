//! SSA construction: variables become values and φ-functions.
//!
//! φs are placed by iterated dominance frontiers (Cytron et al., *Efficiently computing static single assignment
//! form*, 1991), found as Sreedhar and Gao do, and pruned by liveness; one variable at a time and sparsely: the cost of
//! a variable grows with the blocks in which it is live. Renaming is one walk over the dominator tree for all
//! variables, without recursion.
//!
//! The form is *strict*: every definition dominates its uses. Where a variable may be read unwritten the φ has a
//! poison operand, and a read that no write reaches is poison (undef, if that is what the variable holds unwritten; so in all that
//! follows). Unlike Cytron's, the entry does not count as a
//! write: a φ whose only purpose is to join a value with "unwritten" is placed only where the variable is live.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use warpline_analysis::{CsrGraph, DomTree, IteratedFrontier, Node};

use crate::ir::{Block, Function, Inst, Op, Value, Var};

/// What a construction did.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct SsaStats {
    /// Variables that were replaced.
    pub variables: usize,
    /// φ-functions that were placed.
    pub phis: usize,
    /// Reads that were replaced.
    pub reads: usize,
    /// Writes that were removed.
    pub writes: usize,
}

/// The outcome of a construction.
#[derive(Clone, Debug)]
pub struct Construction {
    /// Counts.
    pub stats: SsaStats,
    placed: Vec<(Value, Var)>,
    replaced: SecondaryMap<Value, PackedOption<Value>>,
}

impl Construction {
    /// The results of the φs that were placed, each with its variable, in the order of the program.
    pub fn placed(&self) -> &[(Value, Var)] {
        &self.placed
    }

    /// The value that now stands for the result of a read that was removed.
    pub fn value_of(&self, read: Value) -> Option<Value> {
        self.replaced[read].expand()
    }
}

/// Replaces the variables for which `which` holds; see [`construct_vars`].
pub fn construct(func: &mut Function, which: impl Fn(Var) -> bool) -> Construction {
    let vars: Vec<Var> = func.vars.keys().filter(|&v| which(v)).collect();
    construct_vars(func, &vars)
}

/// Replaces these variables (each at most once in the list) by values: their reads and writes disappear, φs are added
/// where definitions meet, behind the φs that are there. Operands everywhere (φ operands and block masks included) are
/// rewritten. In unreachable blocks every read is poison. The control-flow graph stays as it is.
pub fn construct_vars(func: &mut Function, vars: &[Var]) -> Construction {
    let (graph, _) = func.graph();
    let dom = DomTree::compute(&graph);
    let mut slots: SecondaryMap<Var, PackedOption<Slot>> = SecondaryMap::new();
    for (i, &v) in vars.iter().enumerate() {
        slots[v] = Some(Slot(i as u32)).into();
    }
    let accesses = Accesses::collect(func, &slots, vars.len());
    let placed = place(func, &graph, &dom, vars, &accesses);
    let phis = placed.values().map(Vec::len).sum();
    let phi_of = |b: Block, &(slot, position): &(Slot, usize)| {
        (func.insts[func.blocks[b].phis[position]].results[0], vars[slot.0 as usize])
    };
    let blocks = func.layout.iter();
    let listed = blocks.flat_map(|&b| placed[b].iter().map(move |phi| phi_of(b, phi))).collect();
    let mut renaming = Renaming {
        vars,
        slots,
        placed,
        current: vec![None.into(); vars.len()],
        undo: Vec::new(),
        replaced: SecondaryMap::new(),
        stats: SsaStats { variables: vars.len(), phis, ..SsaStats::default() },
    };
    renaming.run(func, &dom);
    let Renaming { stats, replaced, .. } = renaming;
    func.map_operands(|v| replaced[v].expand().unwrap_or(v));
    Construction { stats, placed: listed, replaced }
}

/// Dense number of a chosen variable.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Slot(u32);
cranelift_entity::entity_impl!(Slot, "slot");

/// Per variable: the blocks that write it, and those that read it before any write of their own.
struct Accesses {
    writes: Vec<Vec<Block>>,
    exposed: Vec<Vec<Block>>,
}

impl Accesses {
    fn collect(func: &Function, slots: &SecondaryMap<Var, PackedOption<Slot>>, count: usize) -> Accesses {
        let mut acc = Accesses { writes: vec![Vec::new(); count], exposed: vec![Vec::new(); count] };
        for &b in &func.layout {
            for &i in &func.blocks[b].insts {
                let (x, is_read) = match func.insts[i].op {
                    Op::ReadVar(x) => (x, true),
                    Op::WriteVar(x) => (x, false),
                    _ => continue,
                };
                let Some(Slot(s)) = slots[x].expand() else { continue };
                let (writes, exposed) = (&mut acc.writes[s as usize], &mut acc.exposed[s as usize]);
                if writes.last() == Some(&b) {
                    continue;
                }
                if !is_read {
                    writes.push(b);
                } else if exposed.last() != Some(&b) {
                    exposed.push(b);
                }
            }
        }
        acc
    }
}

/// φs that were added to a block: which variable, and the φ's position among the block's φs.
type Placed = SecondaryMap<Block, Vec<(Slot, usize)>>;

fn place(func: &mut Function, graph: &CsrGraph, dom: &DomTree, vars: &[Var], acc: &Accesses) -> Placed {
    let mut placed = Placed::new();
    let mut frontier = IteratedFrontier::new(graph, dom);
    // Both sets are emptied by what was put in, so that a variable costs only what it touches.
    let mut live: EntitySet<Block> = EntitySet::with_capacity(func.blocks.len());
    let mut writes: EntitySet<Block> = EntitySet::with_capacity(func.blocks.len());
    let mut live_list: Vec<Block> = Vec::new();
    for (s, &var) in vars.iter().enumerate() {
        if acc.exposed[s].is_empty() || acc.writes[s].is_empty() {
            continue;
        }
        // One writing block above all readers needs no φ, however far the value lives.
        if let [only] = acc.writes[s][..]
            && acc.exposed[s].iter().all(|&b| dom.strictly_dominates(Node::from(only), Node::from(b)))
        {
            continue;
        }
        for &b in &acc.writes[s] {
            writes.insert(b);
        }
        // Live at entry: exposed reads, and backwards through blocks that do not write.
        let mut work = acc.exposed[s].clone();
        while let Some(b) = work.pop() {
            if live.insert(b) {
                live_list.push(b);
                work.extend(func.predecessors(b).filter(|&p| !writes.contains(p) && !live.contains(p)));
            }
        }
        let defs = acc.writes[s].iter().map(|&b| Node::from(b));
        for n in frontier.compute_live(defs, |n| live.contains(Block::from(n))) {
            let b = Block::from(n);
            let phi = func.add_phi(b, func.vars[var].ty);
            func.values[phi].name = func.vars[var].name.clone();
            placed[b].push((Slot(s as u32), func.blocks[b].phis.len() - 1));
        }
        for b in live_list.drain(..) {
            live.remove(b);
        }
        for &b in &acc.writes[s] {
            writes.remove(b);
        }
    }
    placed
}

/// The state of the walk over the dominator tree.
struct Renaming<'a> {
    vars: &'a [Var],
    slots: SecondaryMap<Var, PackedOption<Slot>>,
    placed: Placed,
    /// The value of every variable at this point of the walk; `None`: not written.
    current: Vec<PackedOption<Value>>,
    /// What `current` was before each change on the way from the root.
    undo: Vec<(Slot, PackedOption<Value>)>,
    replaced: SecondaryMap<Value, PackedOption<Value>>,
    stats: SsaStats,
}

impl Renaming<'_> {
    fn run(&mut self, func: &mut Function, dom: &DomTree) {
        // A node, the length of the undo log before it, and the next of its children.
        let mut stack: Vec<(Node, usize, usize)> = vec![(dom.root(), 0, 0)];
        self.enter(func, dom.root());
        while let Some(&mut (node, mark, ref mut next)) = stack.last_mut() {
            if let Some(&child) = dom.children(node).get(*next) {
                *next += 1;
                stack.push((child, self.undo.len(), 0));
                self.enter(func, child);
            } else {
                for (s, old) in self.undo.drain(mark..).rev() {
                    self.current[s.0 as usize] = old;
                }
                stack.pop();
            }
        }
        for k in 0..func.layout.len() {
            let b = func.layout[k];
            if !dom.is_reachable(Node::from(b)) {
                self.rewrite(func, b, false);
            }
        }
    }

    fn enter(&mut self, func: &mut Function, node: Node) {
        let b = Block::from(node);
        for &(s, position) in &self.placed[b] {
            self.undo.push((s, self.current[s.0 as usize]));
            self.current[s.0 as usize] = func.insts[func.blocks[b].phis[position]].results[0].into();
        }
        self.rewrite(func, b, true);
        for k in 0..func.out_edges(b).len() {
            let e = func.out_edges(b)[k];
            let to = func.edges[e].to;
            for i in 0..self.placed[to].len() {
                let (s, position) = self.placed[to][i];
                let value = self.read(func, s);
                func.set_phi_arg(e, position, value);
            }
        }
    }

    fn read(&self, func: &mut Function, slot: Slot) -> Value {
        match self.current[slot.0 as usize].expand() {
            Some(value) => value,
            None => func.unwritten_value(self.vars[slot.0 as usize]),
        }
    }

    /// Removes the reads and writes of a block. With `writes` false, nothing is ever written.
    fn rewrite(&mut self, func: &mut Function, b: Block, writes: bool) {
        let insts = std::mem::take(&mut func.blocks[b].insts);
        let mut kept: Vec<Inst> = Vec::with_capacity(insts.len());
        for i in insts {
            let (Op::ReadVar(x) | Op::WriteVar(x)) = func.insts[i].op else {
                kept.push(i);
                continue;
            };
            let Some(slot) = self.slots[x].expand() else {
                kept.push(i);
                continue;
            };
            if matches!(func.insts[i].op, Op::ReadVar(_)) {
                let value = self.read(func, slot);
                self.replaced[func.insts[i].results[0]] = value.into();
                self.stats.reads += 1;
                continue;
            }
            self.stats.writes += 1;
            if writes {
                // Reads that dominate this write are done, so one step leads to what stays.
                let value = func.insts[i].args[0];
                let value = self.replaced[value].expand().unwrap_or(value);
                self.undo.push((slot, self.current[slot.0 as usize]));
                self.current[slot.0 as usize] = value.into();
            }
        }
        func.blocks[b].insts = kept;
    }
}
