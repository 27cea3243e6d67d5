//! What lives across cuts, and how it is kept.

use std::collections::HashMap;

use cranelift_entity::EntitySet;
use warpline_ir::{Function, LaneOp, Module, Op, Scalar, Type, Value};

use super::Slot;
use super::cuts::Cuts;
use super::regions::{Body, Place};
use super::spread::Spread;
use crate::VectorizeError;
use crate::builder::element_bytes;
use crate::objects::alloca_bytes;

/// How a value is kept that lives across a cut.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Kept {
    /// All work-items of the group have the same: once.
    Cell(usize),
    /// By each work-item.
    Slot(usize),
    /// It is the address of an array that each work-item has: its slot is the array.
    Array(usize),
    /// It is computed again from what is known in each region.
    Again,
}

/// Everything that is kept.
pub(super) struct Crossing {
    pub(super) kept: HashMap<Value, Kept>,
    /// The same in the order in which it was found.
    pub(super) order: Vec<Value>,
    /// The types of the cells.
    pub(super) cells: Vec<Type>,
    pub(super) slots: Vec<Slot>,
    /// The slot that says whether a work-item takes part, if some return early.
    pub(super) active: Option<usize>,
}

/// Instructions that are computed again in place of one slot.
const MOST_AGAIN: u32 = 12;

/// Finds what the regions need of each other.
pub(super) fn find(
    module: &Module,
    cuts: &Cuts,
    bodies: &[Body],
    spread: &Spread,
) -> Result<Crossing, VectorizeError> {
    let mut uses: HashMap<Value, Vec<Place>> = HashMap::new();
    let mut order = Vec::new();
    let decisions = bodies.iter().filter_map(|body| body.decision);
    for v in decisions {
        uses.entry(v).or_default();
        order.push(v);
    }
    for body in bodies {
        for &(place, v) in &body.outer {
            uses.entry(v).or_default().push(place);
            order.push(v);
        }
    }
    let mut mixed = EntitySet::new();
    for &(place, v) in bodies.iter().flat_map(|body| &body.mixed) {
        mixed.insert(v);
        uses.entry(v).or_default().push(place);
        order.push(v);
    }
    let crossing = Crossing {
        kept: HashMap::new(),
        order: Vec::new(),
        cells: Vec::new(),
        slots: Vec::new(),
        active: None,
    };
    let mut search = Search { module, cuts, uses, mixed, spread, crossing };
    for v in order {
        search.keep(v)?;
    }
    let mut crossing = search.crossing;
    if !cuts.early.is_empty() {
        crossing.active = Some(crossing.slots.len());
        crossing.slots.push(Slot::of(1));
    }
    Ok(crossing)
}

struct Search<'a> {
    module: &'a Module,
    cuts: &'a Cuts,
    /// The uses of values in other regions than where they are defined.
    uses: HashMap<Value, Vec<Place>>,
    /// Those that a region uses both before and behind their definition in it: each work-item has them in a slot.
    mixed: EntitySet<Value>,
    /// The arrays of which equal elements lie side by side, with the sizes of these.
    spread: &'a Spread,
    crossing: Crossing,
}

impl Search<'_> {
    fn func(&self) -> &Function {
        &self.cuts.func
    }

    /// Settles how a value is kept.
    fn keep(&mut self, v: Value) -> Result<(), VectorizeError> {
        if self.func().def_inst(v).is_none() || self.crossing.kept.contains_key(&v) {
            return Ok(());
        }
        let uses = self.uses.get(&v).cloned().unwrap_or_default();
        let kept = if self.func().is_alloca(v) {
            Kept::Array(self.array(v)?)
        } else if self.mixed.contains(v) {
            self.slot(v)?
        } else if self.is_one(v, &uses) && element_bytes(self.module, self.func().ty(v)).is_some() {
            self.crossing.cells.push(self.func().ty(v));
            Kept::Cell(self.crossing.cells.len() - 1)
        } else if let Some(leaves) = self.again(v, &uses) {
            for leaf in leaves {
                self.keep(leaf)?;
            }
            Kept::Again
        } else {
            self.slot(v)?
        };
        self.crossing.kept.insert(v, kept);
        self.crossing.order.push(v);
        Ok(())
    }

    /// A slot for a value.
    fn slot(&mut self, v: Value) -> Result<Kept, VectorizeError> {
        let Some(bytes) = element_bytes(self.module, self.func().ty(v)) else {
            return Err(self.refuse(v, "a value of its type cannot be kept across a barrier"));
        };
        self.crossing.slots.push(Slot::of(bytes));
        Ok(Kept::Slot(self.crossing.slots.len() - 1))
    }

    /// Whether all work-items that are where a value is used have the same value of `v`.
    fn is_one(&self, v: Value, uses: &[Place]) -> bool {
        let uniformity = &self.cuts.uniformity;
        !uniformity.is_divergent(v)
            && uses.iter().all(|&place| match place {
                Place::Operand(i, _) => !uniformity.is_divergent_at(v, self.func().insts[i].block),
                Place::Edge(e, _) => !uniformity.is_divergent_on(v, e),
            })
    }

    /// The values that a value is made of, if it can be computed again from them: they are one for the group, or
    /// addresses of arrays.
    fn again(&self, v: Value, uses: &[Place]) -> Option<Vec<Value>> {
        let func = self.func();
        let (mut leaves, mut seen, mut work) = (Vec::new(), EntitySet::new(), vec![v]);
        let mut count = 0;
        while let Some(x) = work.pop() {
            let Some(i) = func.def_inst(x) else { continue };
            if !seen.insert(x) {
                continue;
            }
            if func.is_alloca(x) || x != v && self.is_one(x, uses) {
                leaves.push(x);
                continue;
            }
            count += 1;
            let is_cheap = match func.insts[i].op {
                Op::Binary(op) => {
                    !op.is_int_division() && func.ty(x).elem().is_some_and(|s| !matches!(s, Scalar::Float(_)))
                }
                Op::ICmp(_) | Op::Select | Op::Gep(_) | Op::Cast(_) => true,
                Op::Lane(LaneOp::LaneIndex | LaneOp::LaneCount) => true,
                _ => false,
            };
            if !is_cheap || count > MOST_AGAIN {
                return None;
            }
            work.extend(func.insts[i].args.iter().copied());
        }
        Some(leaves)
    }

    /// The slot of an array.
    fn array(&mut self, v: Value) -> Result<usize, VectorizeError> {
        let func = self.func();
        let i = func.def_inst(v).expect("an address of an array is an instruction's result");
        let Op::Alloca { align, .. } = func.insts[i].op else {
            return Err(self.refuse(v, "it is no array").internal());
        };
        let bytes = alloca_bytes(self.module, func, v).filter(|&b| b < 1 << 31);
        let Some(bytes) = bytes.filter(|_| func.insts[i].block == func.entry()) else {
            return Err(
                self.refuse(v, "an array of a size that is not known cannot be kept across a barrier")
            );
        };
        // Arrays of all work-items lie behind each other.
        self.crossing.slots.push(match self.spread.get(&v) {
            Some(&step) => Slot { bytes: bytes.max(1).next_multiple_of(step), step },
            None => Slot::of(bytes.max(1).next_multiple_of(align.clamp(1, 64))),
        });
        Ok(self.crossing.slots.len() - 1)
    }

    fn refuse(&self, v: Value, reason: &str) -> VectorizeError {
        let func = self.func();
        match func.def_inst(v) {
            Some(i) => VectorizeError::at_inst(func, i, reason),
            None => VectorizeError::in_function(func, reason),
        }
    }
}
