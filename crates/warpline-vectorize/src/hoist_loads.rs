//! Loads that are made on all ways from a branch are made before it, once.
//!
//! Where lanes part, as in `(a[i] > 0 && b[i] > 0) || (a[i] <= 0 && b[i] != 7)`, each way loads `b[i]` under a mask of
//! its own. Every lane that comes to the branch makes one of these loads in any case, so that one load in front of the
//! branch, for all lanes that are there, reads nothing that was not read before. Such loads are *anticipated* (very
//! busy expressions, for loads). A way on which the program stores there instead may load there, too, if somebody needs
//! the load in front of the branch: nobody looks at what is loaded.
//!
//! A load moves only if
//! * on each way from the branch one of the same type from the same address comes before anything that might write
//!   memory, end the program, wait or concern other lanes. Ways that go round a loop first do not count: nobody knows
//!   whether they end;
//! * on no way between the branch and one of the loads that are replaced is there anything of the kind;
//! * the address can be computed in front of the branch, by pure operations on what is there.

use std::collections::BTreeMap;

use cranelift_entity::{EntitySet, SecondaryMap};
use warpline_analysis::{DfsOrder, DomTree};

use warpline_ir::{Accessed, Block, Function, Inst, MemAccess, Module, Op, Value};

use super::if_conversion::is_pure;
use super::known_calls::is_annotation;
use super::objects::lifetime_marker;
use super::same_values::{Again, MAX_DEPTH, is_same};
use crate::VectorizeError;
use crate::pass::{Context, Unit};

/// How many accesses of a block are looked at.
const MAX_LOADS: usize = 16;

/// The first accesses on all ways from the beginning of a block, which are of one type and at one address: loads, and
/// stores in front of which nothing keeps loads from moving.
#[derive(Clone)]
struct Anticipated {
    all: Vec<Inst>,
}

/// The pass.
pub(crate) fn run(unit: &mut Unit, cx: &Context<'_>) -> Result<bool, VectorizeError> {
    if cx.options.width == 1 {
        return Ok(false);
    }
    let found = Anticipation::of(cx.module, &unit.func, false).hoists();
    if found.is_empty() {
        return Ok(false);
    }
    let uniformity = cx.uniformity(unit);
    let parts = |func: &Function, b: Block| {
        let term = &func.insts[func.terminator(b)];
        term.args.first().is_some_and(|&asked| uniformity.is_divergent(asked))
    };
    let wanted: Vec<_> = found.into_iter().filter(|&(b, _)| parts(&unit.func, b)).collect();
    Ok(hoist(&mut unit.func, &wanted))
}

/// Makes loads in front of those branches at the ends of blocks for which that is wanted, also where the program stores
/// there on one way. Whether there were any.
pub(super) fn before_branches(
    module: &Module,
    func: &mut Function,
    is_wanted: impl Fn(&Function, Block) -> bool,
) -> bool {
    let found = Anticipation::of(module, func, true).hoists();
    let wanted: Vec<_> = found.into_iter().filter(|&(b, _)| is_wanted(func, b)).collect();
    hoist(func, &wanted)
}

/// Makes loads in front of the branches that end blocks. Whether there were any.
fn hoist(func: &mut Function, wanted: &[(Block, Anticipated)]) -> bool {
    let dom = DomTree::compute(&func.graph().0);
    let mut replaced: BTreeMap<Value, Value> = BTreeMap::new();
    for (b, anticipated) in wanted {
        let all = &anticipated.all;
        let loads: Vec<Inst> = all.iter().copied().filter(|&i| func.insts[i].result().is_some()).collect();
        let results: Vec<Value> = loads.iter().map(|&i| func.insts[i].results[0]).collect();
        // What has moved in front of an outer branch does so no more.
        if results.iter().any(|v| replaced.contains_key(v)) {
            continue;
        }
        let addresses: Vec<Value> = all.iter().filter_map(|&i| Some(func.accessed(i)?.address)).collect();
        let mut again = Again::new(*b, |func: &Function, v| is_there(func, &dom, *b, v));
        let address = again.value(func, &addresses);
        let (ty, loc) = (func.ty(results[0]), func.insts[loads[0]].loc);
        let load = func.make_inst(*b, Op::Load(access_of_all(func, all)), &[address], &[ty]);
        func.insts[load].loc = loc;
        again.made.push(load);
        func.blocks[*b].insts.append(&mut again.made);
        let made = func.insts[load].results[0];
        for (&i, &v) in loads.iter().zip(&results) {
            let from = func.insts[i].block;
            func.blocks[from].insts.retain(|&k| k != i);
            replaced.insert(v, made);
        }
    }
    func.map_operands(|v| replaced.get(&v).copied().unwrap_or(v));
    !replaced.is_empty()
}

/// What holds of all of some accesses.
fn access_of_all(func: &Function, all: &[Inst]) -> MemAccess {
    let accesses = all.iter().filter_map(|&i| Some(func.accessed(i)?.access));
    let both = |a: MemAccess, b: MemAccess| MemAccess {
        align: a.align.min(b.align),
        is_nontemporal: a.is_nontemporal && b.is_nontemporal,
        ..a
    };
    accesses.reduce(both).expect("there are accesses")
}

/// Whether a value can be used at the end of a block.
fn is_there(func: &Function, dom: &DomTree, b: Block, v: Value) -> bool {
    func.def_block(v).is_none_or(|at| dom.dominates(at.into(), b.into()))
}

/// Which accesses all ways from blocks make.
struct Anticipation<'a> {
    module: &'a Module,
    func: &'a Function,
    dom: DomTree,
    /// Whether stores count.
    with_stores: bool,
    /// Its blocks in reverse post-order.
    order: Vec<Block>,
    /// The loads from the beginning of each block. None of blocks that have not been looked at: then ways that go
    /// round a loop make none.
    from: SecondaryMap<Block, Vec<Anticipated>>,
    /// Whether anything in a block keeps loads from moving over it.
    stops: EntitySet<Block>,
}

impl<'a> Anticipation<'a> {
    fn of(module: &'a Module, func: &'a Function, with_stores: bool) -> Anticipation<'a> {
        let (graph, _) = func.graph();
        let order: Vec<Block> = DfsOrder::compute(&graph).reverse_post_order().map(Block::from).collect();
        let (dom, from) = (DomTree::compute(&graph), SecondaryMap::new());
        let stops = EntitySet::new();
        let mut all = Anticipation { module, func, dom, with_stores, order, from, stops };
        for at in (0..all.order.len()).rev() {
            let b = all.order[at];
            let (own, stops) = all.own(b);
            let behind = if stops { Vec::new() } else { all.behind(b) };
            if stops {
                all.stops.insert(b);
            }
            all.from[b] = all.joined(own, behind);
        }
        all
    }

    /// The loads that a block begins with, and whether anything in it keeps others from moving over it.
    fn own(&self, b: Block) -> (Vec<Anticipated>, bool) {
        let mut own = Vec::new();
        for &i in &self.func.blocks[b].insts {
            let passes = self.lets_pass(i);
            let counts = |a: Accessed| a.access.is_simple() && (self.with_stores || !a.writes);
            if self.func.accessed(i).is_some_and(counts) && own.len() < MAX_LOADS {
                own.push(Anticipated { all: vec![i] });
            }
            if !passes {
                return (own, true);
            }
        }
        (own, false)
    }

    /// Whether loads may move over an instruction: it writes nothing, and what follows is executed.
    fn lets_pass(&self, i: Inst) -> bool {
        let (module, func) = (self.module, self.func);
        let data = &func.insts[i];
        match &data.op {
            Op::Load(access) => access.is_simple(),
            _ if lifetime_marker(module, func, i).is_some() => false,
            _ => is_annotation(module, data) || is_pure(module, func, i),
        }
    }

    /// The loads that all ways from the end of a block make.
    fn behind(&self, b: Block) -> Vec<Anticipated> {
        let func = self.func;
        let term = &func.insts[func.terminator(b)].op;
        if !matches!(term, Op::Br | Op::CondBr | Op::Switch { .. }) {
            return Vec::new();
        }
        let mut ways = func.successors(b);
        let first = ways.next().map(|s| self.from[s].clone()).unwrap_or_default();
        ways.fold(first, |all, s| self.on_both(all, &self.from[s]))
    }

    /// The loads that are made on one way and on the other.
    fn on_both(&self, ours: Vec<Anticipated>, theirs: &[Anticipated]) -> Vec<Anticipated> {
        let both = |mut a: Anticipated| {
            let other = theirs.iter().find(|t| self.is_same_place(a.all[0], t.all[0]))?;
            let more = other.all.iter().filter(|i| !a.all.contains(i)).copied().collect::<Vec<_>>();
            a.all.extend(more);
            Some(a)
        };
        ours.into_iter().filter_map(both).collect()
    }

    /// The loads of a block, and of those behind it the ones that it does not make itself.
    fn joined(&self, mut own: Vec<Anticipated>, behind: Vec<Anticipated>) -> Vec<Anticipated> {
        for other in behind {
            let is_new = !own.iter().any(|a| self.is_same_place(a.all[0], other.all[0]));
            if is_new && own.len() < MAX_LOADS {
                own.push(other);
            }
        }
        own
    }

    fn is_same_place(&self, a: Inst, b: Inst) -> bool {
        let same = |x: Accessed, y: Accessed| {
            x.ty == y.ty && is_same(self.module, self.func, x.address, y.address, MAX_DEPTH)
        };
        let [x, y] = [a, b].map(|i| self.func.accessed(i));
        a == b || x.zip(y).is_some_and(|(x, y)| same(x, y))
    }

    /// The loads that can be made in front of branches, outer ones first.
    fn hoists(&self) -> Vec<(Block, Anticipated)> {
        let func = self.func;
        let branches = |&b: &Block| {
            let plain = func.first_sigma(b) == func.blocks[b].insts.len();
            plain && !matches!(func.insts[func.terminator(b)].op, Op::Br)
        };
        let of_block = |b: Block| {
            let loads = |a: &Anticipated| a.all.iter().any(|&i| func.insts[i].result().is_some());
            let fits = move |a: &Anticipated| a.all.len() > 1 && loads(a) && self.can_move(b, a);
            self.behind(b).into_iter().filter(fits).map(move |a| (b, a))
        };
        self.order.iter().copied().filter(branches).flat_map(of_block).collect()
    }

    /// Whether a load at the end of a block can take the place of these.
    fn can_move(&self, b: Block, anticipated: &Anticipated) -> bool {
        anticipated.all.iter().all(|&i| {
            let block = self.func.insts[i].block;
            let address = self.func.accessed(i).map(|a| a.address);
            block != b
                && self.dom.dominates(b.into(), block.into())
                && address.is_some_and(|address| self.can_be_computed(b, address, MAX_DEPTH))
                && self.nothing_between(b, block)
        })
    }

    /// Whether a value can be computed at the end of a block, if it is not there.
    fn can_be_computed(&self, b: Block, v: Value, depth: u32) -> bool {
        if is_there(self.func, &self.dom, b, v) {
            return true;
        }
        let Some(i) = self.func.def_inst(v).filter(|_| depth > 0) else { return false };
        let data = &self.func.insts[i];
        // Calls may have promises about their operands, and what is frozen once more may be something else.
        let plain = !matches!(data.op, Op::Call(_) | Op::Freeze) && is_pure(self.module, self.func, i);
        plain && data.args.iter().all(|&a| self.can_be_computed(b, a, depth - 1))
    }

    /// Whether loads may move over all blocks on ways from the end of a block to a load in another one, which it
    /// dominates. The load is among those that the other block begins with.
    fn nothing_between(&self, b: Block, to: Block) -> bool {
        let mut seen: EntitySet<Block> = EntitySet::new();
        let mut open = vec![to];
        while let Some(at) = open.pop() {
            for &e in &self.func.blocks[at].preds {
                let from = self.func.edges[e].from;
                if from == b || !seen.insert(from) {
                    continue;
                }
                if self.stops.contains(from) || !self.dom.is_reachable(from.into()) {
                    return false;
                }
                open.push(from);
            }
        }
        true
    }
}
