//! SSA construction: variables become values and φ-functions.
//!
//! Placement is by iterated dominance frontiers (Cytron et al. 1991), pruned by liveness, one variable at a time and
//! sparsely: the cost of a variable grows with the blocks where it is live. Renaming is one walk over the
//! dominator tree for all variables. The form is *strict*: every use is dominated by its definition; where a
//! variable may be read unwritten the φ has a poison operand, and a read that no write reaches is poison.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use warpline_analysis::{CsrGraph, DfsOrder, DomTree, IteratedFrontier, Node};

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

/// Replaces the variables for which `which` holds; see [`construct_vars`].
pub fn construct(func: &mut Function, which: impl Fn(Var) -> bool) -> SsaStats {
    let vars: Vec<Var> = func.vars.keys().filter(|&v| which(v)).collect();
    construct_vars(func, &vars)
}

/// Replaces these variables by values: their reads and writes disappear, φs are added where definitions meet.
/// Operands everywhere (φ operands and block masks included) are rewritten. Unreachable blocks read poison.
pub fn construct_vars(func: &mut Function, vars: &[Var]) -> SsaStats {
    let (graph, _) = func.graph();
    let dfs = DfsOrder::compute(&graph);
    let dom = DomTree::compute_with(&graph, &dfs);
    let mut chosen: SecondaryMap<Var, PackedOption<Slot>> = SecondaryMap::new();
    for (i, &v) in vars.iter().enumerate() {
        chosen[v] = Some(Slot(i as u32)).into();
    }
    let accesses = Accesses::collect(func, &chosen, vars.len());
    let placed = place(func, &graph, &dom, vars, &accesses);
    let mut stats = SsaStats { variables: vars.len(), ..SsaStats::default() };
    stats.phis = placed.values().map(Vec::len).sum();
    rename(func, &dom, vars, &chosen, &placed, &mut stats);
    stats
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
    fn collect(func: &Function, chosen: &SecondaryMap<Var, PackedOption<Slot>>, count: usize) -> Accesses {
        let mut acc = Accesses { writes: vec![Vec::new(); count], exposed: vec![Vec::new(); count] };
        for &b in &func.layout {
            for i in func.block_insts(b) {
                match func.insts[i].op {
                    Op::ReadVar(v) => {
                        if let Some(Slot(s)) = chosen[v].expand() {
                            let s = s as usize;
                            if acc.writes[s].last() != Some(&b) && acc.exposed[s].last() != Some(&b) {
                                acc.exposed[s].push(b);
                            }
                        }
                    }
                    Op::WriteVar(v) => {
                        if let Some(Slot(s)) = chosen[v].expand()
                            && acc.writes[s as usize].last() != Some(&b)
                        {
                            acc.writes[s as usize].push(b);
                        }
                    }
                    _ => {}
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
    let mut live: EntitySet<Block> = EntitySet::with_capacity(func.blocks.len());
    let mut live_list: Vec<Block> = Vec::new();
    for (s, &var) in vars.iter().enumerate() {
        if acc.exposed[s].is_empty() || acc.writes[s].is_empty() {
            continue;
        }
        for b in live_list.drain(..) {
            live.remove(b);
        }
        let mut writes: EntitySet<Block> = EntitySet::new();
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
        let defs = acc.writes[s].iter().map(|&b| Node::from(b)).filter(|&n| dom.is_reachable(n));
        let at = frontier.compute_where(defs, |n| live.contains(Block::from(n)));
        for n in at {
            let b = Block::from(n);
            let ty = func.vars[var].ty;
            let phi = func.add_phi(b, ty);
            func.values[phi].name = func.vars[var].name.clone();
            placed[b].push((Slot(s as u32), func.blocks[b].phis.len() - 1));
        }
    }
    placed
}

/// One walk over the dominator tree; `current` holds the reaching value of every variable, with an undo log.
fn rename(
    func: &mut Function,
    dom: &DomTree,
    vars: &[Var],
    chosen: &SecondaryMap<Var, PackedOption<Slot>>,
    placed: &Placed,
    stats: &mut SsaStats,
) {
    let mut current: Vec<PackedOption<Value>> = vec![None.into(); vars.len()];
    let mut replaced: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    let mut undo: Vec<(Slot, PackedOption<Value>)> = Vec::new();
    // (block, length of the undo log before it, next child)
    let mut stack: Vec<(Node, usize, usize)> = vec![(dom.root(), 0, 0)];
    let mut entering = true;
    while let Some(&mut (node, mark, ref mut next)) = stack.last_mut() {
        if entering {
            rename_block(
                func,
                Block::from(node),
                (vars, chosen, placed),
                &mut current,
                &mut undo,
                &mut replaced,
                stats,
            );
        }
        if let Some(&child) = dom.children(node).get(*next) {
            *next += 1;
            stack.push((child, undo.len(), 0));
            entering = true;
        } else {
            for (s, old) in undo.drain(mark..).rev() {
                current[s.0 as usize] = old;
            }
            stack.pop();
            entering = false;
        }
    }
    for bi in 0..func.layout.len() {
        let b = func.layout[bi];
        if !dom.is_reachable(Node::from(b)) {
            let mut none = vec![None.into(); vars.len()];
            rename_block(func, b, (vars, chosen, &Placed::new()), &mut none, &mut undo, &mut replaced, stats);
            undo.clear();
        }
    }
    func.map_operands(|v| replaced[v].expand().unwrap_or(v));
}

type Chosen<'a> = (&'a [Var], &'a SecondaryMap<Var, PackedOption<Slot>>, &'a Placed);

fn rename_block(
    func: &mut Function,
    b: Block,
    (vars, chosen, placed): Chosen<'_>,
    current: &mut [PackedOption<Value>],
    undo: &mut Vec<(Slot, PackedOption<Value>)>,
    replaced: &mut SecondaryMap<Value, PackedOption<Value>>,
    stats: &mut SsaStats,
) {
    for &(s, position) in &placed[b] {
        undo.push((s, current[s.0 as usize]));
        current[s.0 as usize] = func.insts[func.blocks[b].phis[position]].results[0].into();
    }
    let insts = std::mem::take(&mut func.blocks[b].insts);
    let mut kept: Vec<Inst> = Vec::with_capacity(insts.len());
    for i in insts {
        match func.insts[i].op {
            Op::ReadVar(v) if chosen[v].is_some() => {
                let Some(Slot(s)) = chosen[v].expand() else { continue };
                let value = match current[s as usize].expand() {
                    Some(value) => value,
                    None => func.poison(func.vars[v].ty),
                };
                replaced[func.insts[i].results[0]] = value.into();
                stats.reads += 1;
            }
            Op::WriteVar(v) if chosen[v].is_some() => {
                let Some(slot) = chosen[v].expand() else { continue };
                let value = func.insts[i].args[0];
                let value = replaced[value].expand().unwrap_or(value);
                undo.push((slot, current[slot.0 as usize]));
                current[slot.0 as usize] = value.into();
                stats.writes += 1;
            }
            _ => kept.push(i),
        }
    }
    func.blocks[b].insts = kept;
    for k in 0..func.out_edges(b).len() {
        let e = func.out_edges(b)[k];
        let to = func.edges[e].to;
        for &(s, position) in &placed[to] {
            let value = match current[s.0 as usize].expand() {
                Some(value) => value,
                None => func.poison(func.vars[vars[s.0 as usize]].ty),
            };
            func.set_phi_arg(e, position, value);
        }
    }
}

/// Removes φs that no instruction needs: the ones that are used by nothing, or by such φs alone.
pub fn remove_dead_phis(func: &mut Function) {
    let mut needed: EntitySet<Value> = EntitySet::with_capacity(func.values.len());
    let mut work: Vec<Value> = Vec::new();
    for &b in &func.layout {
        let masks = func.blocks[b].mask.expand();
        let args = func.block_insts(b).flat_map(|i| func.insts[i].args.iter().copied());
        work.extend(args.chain(masks).filter(|&v| needed.insert(v)));
    }
    while let Some(v) = work.pop() {
        let Some(i) = func.def_inst(v).filter(|&i| func.insts[i].op == Op::Phi) else { continue };
        let Some(position) = func.phi_position(i) else { continue };
        for &e in &func.blocks[func.insts[i].block].preds {
            let a = func.edges[e].args[position];
            if needed.insert(a) {
                work.push(a);
            }
        }
    }
    for bi in 0..func.layout.len() {
        let b = func.layout[bi];
        let keep: Vec<Inst> = func.blocks[b]
            .phis
            .iter()
            .copied()
            .filter(|&p| needed.contains(func.insts[p].results[0]))
            .collect();
        func.retain_phis(b, |p| keep.contains(&p));
    }
}
