//! From φ-functions back to few variables.
//!
//! [`destruct`](mod@super::destruct) gives every φ a variable of its own, and writes it on every in-edge. Here φs and
//! their operands share variables where they can: congruence classes of values whose live ranges do not intersect, as
//! in Boissinot et al. (*Revisiting out-of-SSA translation for correctness, code quality, and efficiency*, 2009). φs
//! are taken from the innermost cycles outwards, and the classes of a φ and of each of its operands become one unless
//! some of their members intersect. That is found in one pass over both classes in dominance order (Budimlić et al.,
//! *Fast copy coalescing and live-range identification*, 2002): a member can intersect only members that dominate it,
//! and if it does, it intersects the nearest one of the other class.
//!
//! A class writes its variable where its members are defined, so that an operand of the same class needs nothing on
//! its edge. Other operands are written at the end of the edge's block: a copy. An edge that is not its block's only
//! one is split for a copy, since behind the other edges the variable may still be needed (the *lost copy*); copies
//! read values and not variables, so that it does not matter in which order an edge's copies stand (the *swap*).
//! Constants, results of terminators and of σs, and values that are defined twice in one place are copied. Departures
//! from the paper: no copies are inserted first, as classes are only merged where the result is known to be right;
//! and two values count as different even if one is known to be a copy of the other.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use warpline_analysis::{CycleForest, DfsOrder, DomTree, Node};

pub use super::ranges::NotStrict;
use super::ranges::{Point, Ranges};
use warpline_ir::{Block, Edge, Function, Inst, Op, Type, Value, ValueDef, Var};

/// What became of φs.
#[derive(Clone, Debug, Default)]
pub struct Coalesced {
    /// The φs' results, which keep their ids, and the variables that they read now.
    pub phis: Vec<(Value, Var)>,
    /// How many variables there are for them.
    pub variables: usize,
    /// φ operands that are written on their edges: one each for the φs of an edge's target that do not share a
    /// variable with their operand.
    pub copies: usize,
    /// φ operands that share their φ's variable.
    pub shared: usize,
}

/// Turns the φs for which `which` holds into reads of variables that they share with each other and with their
/// operands where possible. φs of unreachable blocks get variables of their own.
///
/// Time is linear in the function's size and in the live ranges of φs and their operands, plus what merging classes
/// takes: for each φ operand at most the sizes of two classes.
///
/// # Errors
/// If the function is not in strict SSA form. It is not changed then.
pub fn destruct_coalesced(
    func: &mut Function,
    which: impl Fn(&Function, Inst) -> bool,
) -> Result<Coalesced, NotStrict> {
    let (graph, _) = func.graph();
    let dfs = DfsOrder::compute(&graph);
    let dom = DomTree::compute_with(&graph, &dfs);
    let mut phis: Vec<(Block, usize)> = Vec::new();
    for &b in &func.layout {
        let all = func.blocks[b].phis.iter().enumerate();
        phis.extend(all.filter(|&(_, &p)| which(func, p)).map(|(k, _)| (b, k)));
    }
    let mut order = phis.clone();
    let cycles = CycleForest::compute_with(&graph, &dfs);
    order.retain(|p| dom.is_reachable(Node::from(p.0)));
    order.sort_by_key(|p| std::cmp::Reverse(cycles.node_depth(Node::from(p.0))));
    let classes = Classes::merge(func, &dom, &order)?;
    Ok(Rewriting { classes, vars: SecondaryMap::new(), outcome: Coalesced::default() }.run(func, &phis))
}

/// Whether a value can share a variable: whether there is a place behind its definition where that can be written.
fn is_sharable(func: &Function, v: Value) -> bool {
    match func.values[v].def {
        ValueDef::Const(_) => false,
        ValueDef::Param(_) => true,
        ValueDef::Inst(i, _) => !func.insts[i].op.is_terminator() && func.insts[i].op != Op::Sigma,
    }
}

/// The congruence classes of φs and their operands.
struct Classes {
    /// By value, the class that it is in.
    of: SecondaryMap<Value, PackedOption<Class>>,
    /// The members in dominance order; empty when a class has become part of another.
    members: Vec<Vec<Value>>,
}

/// Number of a class.
#[derive(Copy, Clone, PartialEq, Eq)]
struct Class(u32);
cranelift_entity::entity_impl!(Class, "class");

impl Classes {
    /// Merges the classes of φs, given by block and position, with those of their operands as far as possible.
    fn merge(func: &Function, dom: &DomTree, phis: &[(Block, usize)]) -> Result<Classes, NotStrict> {
        let mut related: EntitySet<Value> = EntitySet::with_capacity(func.values.len());
        let result = |&(b, k): &(Block, usize)| func.insts[func.blocks[b].phis[k]].results[0];
        for phi in phis {
            related.insert(result(phi));
            let operands = func.blocks[phi.0].preds.iter().map(|&e| func.edges[e].args[phi.1]);
            operands.filter(|&v| is_sharable(func, v)).for_each(|v| _ = related.insert(v));
        }
        let ranges = Ranges::compute(func, dom, |v| related.contains(v))?;
        let mut classes = Classes { of: SecondaryMap::new(), members: Vec::new() };
        for phi in phis {
            let own = classes.class(result(phi));
            for &e in &func.blocks[phi.0].preds {
                let v = func.edges[e].args[phi.1];
                if !related.contains(v) || !dom.is_reachable(Node::from(func.edges[e].from)) {
                    continue;
                }
                let other = classes.class(v);
                if own != other && func.ty(v) == func.ty(result(phi)) {
                    classes.try_merge(&ranges, dom, own, other);
                }
            }
        }
        Ok(classes)
    }

    fn class(&mut self, v: Value) -> Class {
        if let Some(class) = self.of[v].expand() {
            return class;
        }
        let class = Class(self.members.len() as u32);
        self.members.push(vec![v]);
        self.of[v] = class.into();
        class
    }

    /// Lets the members of `other` be members of `own`, unless that would bring together values that intersect.
    fn try_merge(&mut self, ranges: &Ranges, dom: &DomTree, own: Class, other: Class) {
        let (a, b) = (&self.members[own.0 as usize], &self.members[other.0 as usize]);
        let Some(merged) = merged(ranges, dom, a, b) else { return };
        for &v in &self.members[other.0 as usize] {
            self.of[v] = own.into();
        }
        self.members[other.0 as usize] = Vec::new();
        self.members[own.0 as usize] = merged;
    }
}

/// The members of two classes in dominance order, unless one of the first intersects one of the second.
fn merged(ranges: &Ranges, dom: &DomTree, a: &[Value], b: &[Value]) -> Option<Vec<Value>> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    // The members that dominate the present one, nearest last, and whether they are of the first class.
    let mut above: Vec<(Value, bool)> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let first = j == b.len() || i < a.len() && ranges.point(a[i]) <= ranges.point(b[j]);
        let v = if first { a[i] } else { b[j] };
        let point = ranges.point(v);
        while above.last().is_some_and(|&(u, _)| !dominates(dom, ranges.point(u), point)) {
            above.pop();
        }
        if let Some(&(u, of_first)) = above.last()
            && of_first != first
            && (ranges.point(u) == point || ranges.is_live_behind(u, point))
        {
            return None;
        }
        above.push((v, first));
        all.push(v);
        if first { i += 1 } else { j += 1 }
    }
    Some(all)
}

fn dominates(dom: &DomTree, a: Point, b: Point) -> bool {
    if a.0 == b.0 {
        return a.1 <= b.1;
    }
    let node = |p: Point| dom.pre_order()[p.0 as usize];
    dom.dominates(node(a), node(b))
}

/// The second half: variables in place of classes.
struct Rewriting {
    classes: Classes,
    vars: SecondaryMap<Value, PackedOption<Var>>,
    outcome: Coalesced,
}

impl Rewriting {
    fn run(mut self, func: &mut Function, phis: &[(Block, usize)]) -> Coalesced {
        for &(b, k) in phis {
            let result = func.insts[func.blocks[b].phis[k]].results[0];
            let var = self.var(func, result);
            self.outcome.phis.push((result, var));
        }
        self.write_members(func, phis);
        for of_block in phis.chunk_by(|x, y| x.0 == y.0) {
            let positions: Vec<usize> = of_block.iter().map(|p| p.1).collect();
            self.copies(func, of_block[0].0, &positions);
            self.reads(func, of_block[0].0, &positions);
        }
        self.outcome
    }

    /// The variable of a φ, the same for all members of its class.
    fn var(&mut self, func: &mut Function, phi: Value) -> Var {
        if let Some(var) = self.vars[phi].expand() {
            return var;
        }
        let name = func.values[phi].name.clone();
        let var = func.add_var(func.ty(phi), &name);
        self.outcome.variables += 1;
        self.vars[phi] = var.into();
        if let Some(class) = self.classes.of[phi].expand() {
            for &v in &self.classes.members[class.0 as usize] {
                self.vars[v] = var.into();
            }
        }
        var
    }

    /// Writes variables behind the definitions of those members of their classes that are no φs to be replaced.
    fn write_members(&self, func: &mut Function, phis: &[(Block, usize)]) {
        let mut replaced: EntitySet<Value> = EntitySet::with_capacity(func.values.len());
        for &(b, k) in phis {
            replaced.insert(func.insts[func.blocks[b].phis[k]].results[0]);
        }
        let var = |v: Value| self.vars[v].expand().filter(|_| !replaced.contains(v));
        for k in 0..func.layout.len() {
            let b = func.layout[k];
            let mut list: Vec<Inst> = Vec::with_capacity(func.blocks[b].insts.len());
            let write = |func: &mut Function, list: &mut Vec<Inst>, v: Value| {
                if let Some(x) = var(v) {
                    list.push(func.make_inst(b, Op::WriteVar(x), &[v], &[]));
                }
            };
            let first: Vec<Value> = if k == 0 { func.params.clone() } else { Vec::new() };
            let phis = func.blocks[b].phis.iter().map(|&p| func.insts[p].results[0]);
            for v in first.into_iter().chain(phis).collect::<Vec<Value>>() {
                write(func, &mut list, v);
            }
            for i in std::mem::take(&mut func.blocks[b].insts) {
                list.push(i);
                for n in 0..func.insts[i].results.len() {
                    let v = func.insts[i].results[n];
                    write(func, &mut list, v);
                }
            }
            func.blocks[b].insts = list;
        }
    }

    /// Writes operands that do not share their φ's variable, on the in-edges of a block.
    fn copies(&mut self, func: &mut Function, b: Block, positions: &[usize]) {
        for e in func.blocks[b].preds.clone() {
            let mut copies: Vec<(Var, Value)> = Vec::new();
            for &k in positions {
                let phi = func.insts[func.blocks[b].phis[k]].results[0];
                let (var, value) = (self.vars[phi], func.edges[e].args[k]);
                if self.vars[value] == var {
                    self.outcome.shared += 1;
                } else {
                    copies.extend(var.expand().map(|x| (x, value)));
                }
            }
            self.outcome.copies += copies.len();
            if !copies.is_empty() {
                let at = block_of_edge(func, e);
                for (x, value) in copies {
                    func.append(at, Op::WriteVar(x), &[value], Type::Void);
                }
            }
        }
    }

    /// Turns φs into reads at the beginning of their block.
    fn reads(&self, func: &mut Function, b: Block, positions: &[usize]) {
        let reads: Vec<Inst> = positions.iter().map(|&k| func.blocks[b].phis[k]).collect();
        func.retain_phis(b, |p| !reads.contains(&p));
        for &i in &reads {
            let result = func.insts[i].results[0];
            let var = self.vars[result].expect("every chosen φ has got a variable");
            func.insts[i].op = Op::ReadVar(var);
            func.insts[i].flags = Default::default();
        }
        func.blocks[b].insts.splice(0..0, reads);
    }
}

/// The block at whose end control is on its way along this edge and no other, a new one if need be.
fn block_of_edge(func: &mut Function, e: Edge) -> Block {
    let from = func.edges[e].from;
    let has_sigmas = func.first_sigma(from) < func.blocks[from].insts.len();
    if func.out_edges(from).len() == 1 && !has_sigmas { from } else { func.split_edge(e, "") }
}
