//! Loads from uniform addresses that need no active lane.
//!
//! A load from a uniform address is made once for all lanes. In a block that may be executed with an empty mask it could
//! fault, so a [guard](super::guards) is put around it, unless it is found here: what it reads is [there](super::objects) in any case.
//!
//! Departure from paper 3, whose masks of memory accesses follow from predicates alone (Theorem 4.1).
//!
//! An earlier access of the same bytes counts if its block dominates the load's, has the mask of the function or of a loop that is around
//! both, and no loop is around the access alone: then whenever the load is made, however control flow was linearized, the access has been
//! made by some lane in the same iteration.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use warpline_analysis::{DomTree, Node};

use super::alignment::at_distance;
use super::objects::{Objects, SafeLoad};
use super::plan::Plan;
use crate::ir::{Block, Inst, Module, Op, Value};
use crate::shape::addresses::{Address, Term};

/// So many accesses of the same address, up to a constant, are compared with a load.
const MAX_CANDIDATES: usize = 64;

/// The loads that need no active lane, and how they are made.
pub type SafeLoads = SecondaryMap<Inst, Option<SafeLoad>>;

/// An access that every lane makes.
struct Access {
    block: Block,
    address: Value,
    offset: i64,
    size: u64,
    align: u64,
}

/// Whether some lane is active whenever a block is executed, whose mask is that of the function or of a loop around it.
fn has_lane(plan: &Plan, b: Block) -> bool {
    let class = plan.class_of(b);
    let header = plan.loop_at(plan.leaders[class]);
    plan.always.contains(b) && (class.as_u32() == 0 || header.is_some_and(|l| plan.contains(l, b)))
}

/// Finds them in a function whose classes are known.
pub fn find(module: &Module, plan: &Plan) -> SafeLoads {
    let func = &plan.func;
    let objects = Objects::of(module, func);
    let (graph, _) = func.graph();
    let dom = DomTree::compute(&graph);
    let mut made: BTreeMap<(Value, Vec<Term>), Vec<Access>> = BTreeMap::new();
    let mut wanted = Vec::new();
    for &b in &func.layout {
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            let (access, address, ty) = match data.op {
                Op::Load(access) => (access, data.args[0], func.ty(data.results[0])),
                Op::Store(access) => (access, data.args[1], func.ty(data.args[0])),
                _ => continue,
            };
            let always = has_lane(plan, b);
            let load = matches!(data.op, Op::Load(_));
            if !access.is_simple() || plan.facts.divergent.contains(address) || !(always || load) {
                continue;
            }
            let Some(size) = module.layout.store_size(&module.types, ty) else { continue };
            let Some(Address { root, terms, offset }) = Address::of(module, func, address) else { continue };
            if always {
                let access = Access { block: b, address, offset, size, align: access.align };
                made.entry((root, terms.to_vec())).or_default().push(access);
            } else {
                wanted.push((i, root, terms.to_vec(), offset, size));
            }
        }
    }
    let mut found = SafeLoads::new();
    for (i, root, terms, offset, size) in wanted {
        let block = func.insts[i].block;
        let object = || objects.extent(root).filter(|_| terms.is_empty())?.load(root, offset, size);
        let covers = |a: &Access| {
            let distance = offset.checked_sub(a.offset)?;
            let inside = u64::try_from(distance).ok()?.checked_add(size)? <= a.size;
            let safe = SafeLoad { base: a.address, offset: distance, align: at_distance(a.align, distance) };
            let before = a.block != block && dom.dominates(Node::from(a.block), Node::from(block));
            let around = || plan.loops_around(a.block).all(|l| plan.contains(l, block));
            (inside && before && around()).then_some(safe)
        };
        let earlier = |&root: &Value| {
            let made = made.get(&(root, terms.clone())).filter(|_| objects.stays)?;
            made.iter().rev().take(MAX_CANDIDATES).find_map(covers)
        };
        found[i] = object().or_else(|| earlier(&root));
    }
    found
}
