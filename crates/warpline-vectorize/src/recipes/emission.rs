//! What recipes promise to emit, to be compared with what was emitted: accesses to memory, calls and integer
//! divisions, counted by kind.
//!
//! The two counts share no code: one is made of the plan and the lane program alone, the other of the vector function
//! alone. Debug builds compare them for every function that is lowered.

use std::collections::BTreeMap;

use warpline_ir::{Function, Inst, Module, Op};

use super::{Contiguous, How, Own, Packed, Plan, Recipe};
use crate::VectorizeError;

/// How many instructions of each kind there are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Emission(BTreeMap<Box<str>, usize>);

/// Masked accesses as LLVM's intrinsics are named.
const MASKED: [&str; 6] = [
    "llvm.masked.load.",
    "llvm.masked.store.",
    "llvm.masked.gather.",
    "llvm.masked.scatter.",
    "llvm.masked.compressstore.",
    "llvm.x86.avx2.gather.",
];

impl Emission {
    fn add(&mut self, what: &str, times: usize) {
        if times > 0 {
            *self.0.entry(what.into()).or_insert(0) += times;
        }
    }

    /// What a function has. Calls of `silent` are not counted.
    fn of_code(module: &Module, func: &Function, silent: Option<&str>) -> Emission {
        let mut found = Emission::default();
        for &b in &func.layout {
            for &i in &func.blocks[b].insts {
                match &func.insts[i].op {
                    Op::Load(_) => found.add("load", 1),
                    Op::Store(_) => found.add("store", 1),
                    Op::Opaque(_) => found.add("opaque", 1),
                    Op::Binary(op) if op.is_int_division() => found.add("division", 1),
                    Op::Call(info) => {
                        let name = info.callee.map_or("", |s| &module.symbols[s].name);
                        match MASKED.iter().find(|prefix| name.starts_with(*prefix)) {
                            Some(prefix) => found.add(prefix, 1),
                            None if silent == Some(name) || name.starts_with("llvm.") => {}
                            None => found.add(&format!("call of {name}"), 1),
                        }
                    }
                    _ => {}
                }
            }
        }
        found
    }
}

impl Plan {
    /// Compares what the recipes promise with what was emitted, in debug builds.
    ///
    /// # Errors
    /// If they differ: a defect of lowering, or of a recipe.
    pub(crate) fn compare(
        &self,
        module: &Module,
        func: &Function,
        made: &Function,
        silent: Option<&str>,
    ) -> Result<(), VectorizeError> {
        if !cfg!(debug_assertions) {
            return Ok(());
        }
        let (promised, found) = (self.promised(module, func), Emission::of_code(module, made, silent));
        if promised == found {
            return Ok(());
        }
        let reason = format!("the plan promises {:?}, and emitted were {:?}", promised.0, found.0);
        Err(VectorizeError::in_function(func, reason).internal())
    }

    /// What the recipes of a lane program promise.
    fn promised(&self, module: &Module, func: &Function) -> Emission {
        let mut promised = Emission::default();
        for &b in &func.layout {
            for &i in &func.blocks[b].insts {
                self.add_promised(module, func, i, &mut promised);
            }
        }
        promised
    }

    fn add_promised(&self, module: &Module, func: &Function, i: Inst, promised: &mut Emission) {
        let width = self.width as usize;
        let writes = matches!(func.insts[i].op, Op::Store(_));
        let masked =
            func.blocks[func.insts[i].block].mask.expand().is_some_and(|m| func.as_int(m) != Some(1));
        let access = if writes { "store" } else { "load" };
        let masked_access = if writes { MASKED[1] } else { MASKED[0] };
        match self.recipe(i) {
            Recipe::Once | Recipe::Widen | Recipe::WidenThenFirst | Recipe::OnceIfAny | Recipe::FirstLane => {
                promised.add_own(module, func, i, 1);
            }
            Recipe::Scalarize { .. } => promised.add_own(module, func, i, width),
            Recipe::Speculated(_) => promised.add("load", 1),
            // Both results, where numbers are large.
            Recipe::Divide(super::Division::IfSmall { .. }) => promised.add("division", 2),
            Recipe::Contiguous(Contiguous::Whole | Contiguous::Speculated(_)) => promised.add(access, 1),
            Recipe::Contiguous(Contiguous::Masked) => promised.add(masked_access, 1),
            Recipe::Contiguous(Contiguous::Blended) => {
                promised.add("load", 1);
                promised.add("store", 1);
            }
            Recipe::Contiguous(Contiguous::ByLane) => promised.add(access, width),
            // A whole vector, an element, and a vector on the stack.
            Recipe::Contiguous(Contiguous::Active) => {
                promised.add(access, 3);
                promised.add(if writes { "load" } else { "store" }, 1);
            }
            Recipe::Group(id) => {
                let group = self.group(*id);
                let whole = !masked && (!group.stores || group.is_complete());
                let each = if masked { masked_access } else { access };
                match &group.blocks {
                    _ if group.alike => promised.add(each, group.members.len()),
                    Some(blocks) if writes => promised.add(each, group.stored(blocks)),
                    Some(blocks) => promised.add(each, group.loaded(blocks)),
                    None => promised.add(if whole { access } else { masked_access }, 1),
                }
            }
            Recipe::Rows(id, _) => promised.add("load", self.group(*id).rows().len() * width),
            Recipe::Gather(gather) => match (gather.how, &gather.place) {
                (How::Pick, super::Place::Own(own)) => promised.add("load", self.elements_of(own)),
                (How::Avx2(lanes), _) => promised.add(MASKED[5], width / lanes as usize),
                (How::ByLane | How::Stepped(_), _) => promised.add("load", width),
                (How::Between(_), _) => promised.add("load", 2),
                _ => promised.add(MASKED[2], 1),
            },
            Recipe::Window(window) if window.is_masked => promised.add(MASKED[0], 1),
            Recipe::Window(_) => promised.add("load", 1),
            Recipe::Ring(_) => promised.add(masked_access, 2),
            Recipe::Overlapping(how) => {
                let under_masks = how.masked(writes);
                promised.add(access, how.costs(writes).0 - under_masks);
                promised.add(masked_access, under_masks);
            }
            Recipe::Table(table, _) => promised.add("load", table.blocks() as usize),
            Recipe::Scatter(scatter) => match (scatter.how, &scatter.place) {
                (How::Pick, super::Place::Own(own)) => {
                    promised.add("load", self.elements_of(own));
                    promised.add("store", self.elements_of(own));
                }
                (How::ByLane | How::Stepped(_), _) => promised.add("store", width),
                _ => promised.add(MASKED[3], 1),
            },
            Recipe::Variant(variant) => promised.add(&format!("call of {}", variant.name), 1),
            Recipe::Targets(variants) => {
                for variant in variants {
                    promised.add(&format!("call of {}", variant.name), 1);
                }
                // One for each lane, of what was none of them.
                promised.add("call of ", width);
            }
            Recipe::Simd(variant) => {
                promised.add(&format!("call of {}", variant.symbol), width / variant.lanes as usize);
            }
            Recipe::Library { symbol, lanes } => {
                promised.add(&format!("call of {symbol}"), width / *lanes as usize);
            }
            Recipe::Pack(Packed::Compressed(together) | Packed::Permuted(together)) => {
                promised.add(MASKED[1], width / *together as usize);
            }
            Recipe::Pack(Packed::Native) => promised.add(MASKED[4], 1),
            Recipe::Pack(Packed::Scattered) => promised.add(MASKED[3], 1),
            Recipe::Nothing
            | Recipe::Known(_)
            | Recipe::Stack
            | Recipe::Divide(_)
            | Recipe::Divided(_)
            | Recipe::LongConversion
            | Recipe::Truncate
            | Recipe::Private
            | Recipe::Elsewhere
            | Recipe::Intrinsic(..)
            | Recipe::Fold(_)
            | Recipe::Sum(_)
            | Recipe::HighProduct(_)
            | Recipe::UnpackBytes(_)
            | Recipe::Weighted(_)
            | Recipe::Pack8 { .. }
            | Recipe::Exact(_)
            | Recipe::Inline(_)
            | Recipe::CrossLane
            | Recipe::AnyOfOne(_) => {}
        }
    }

    /// How many elements each lane has in memory that is laid out for all lanes.
    fn elements_of(&self, own: &Own) -> usize {
        usize::try_from(own.bytes / (own.step * i64::from(self.width))).unwrap_or(0)
    }
}

impl Emission {
    /// Adds an instruction as it is, so many times.
    fn add_own(&mut self, module: &Module, func: &Function, i: Inst, times: usize) {
        match &func.insts[i].op {
            Op::Load(_) => self.add("load", times),
            Op::Store(_) => self.add("store", times),
            Op::Opaque(_) => self.add("opaque", times),
            Op::Binary(op) if op.is_int_division() => self.add("division", times),
            Op::Call(info) => {
                let name = info.callee.map_or("", |s| &module.symbols[s].name);
                if !name.starts_with("llvm.") {
                    self.add(&format!("call of {name}"), times);
                }
            }
            _ => {}
        }
    }
}
