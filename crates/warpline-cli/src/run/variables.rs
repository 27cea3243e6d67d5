//! Variables of a module that a program changes: like buffers they are filled, and compared afterwards.
//!
//! Each [of three programs](super::Pair) has variables of its own, so what the scalar program and the one on W lanes
//! leave in theirs can be compared once both have run once. Of variables that have pointers in them this says
//! nothing: these lead to other variables of the same program.

use std::collections::BTreeMap;

use warpline::ir::{Constant, Module, Scalar, Symbol, SymbolKind};
use warpline_llvm::Jit;

use crate::error::Result;
use crate::spec::{Elem, Tolerance};

use super::compare::Comparison;
use super::data::random_bytes;
use super::made_up::pointers_behind;

/// Larger variables are not looked at.
const MOST_BYTES: u64 = 1 << 26;
/// A variable with fewer elements counts or says something; it is no array of data.
const ARRAY: u64 = 4;

/// A variable that may change.
struct Variable {
    name: String,
    elem: Elem,
    len: usize,
    /// Whether it is an array of floating-point numbers that is zero at first: what is computed from zeros alone shows
    /// little.
    is_blank: bool,
}

/// The variables of a module that may change, as far as they can be compared.
pub(super) struct Variables(Vec<Variable>);

impl Variables {
    /// Those of a module.
    pub(super) fn of(module: &Module) -> Variables {
        let elements = elements(module);
        let all = module.symbols.iter().filter_map(|(symbol, data)| {
            let SymbolKind::Global { ty, constant: false, bytes: Some(bytes), .. } = &data.kind else {
                return None;
            };
            let len = module.layout.alloc_size(&module.types, *ty).filter(|&len| len <= MOST_BYTES)?;
            let elem = (*elements.get(&symbol)?)?;
            let has_addresses = module.addresses.get(&symbol).is_some_and(|all| !all.is_empty());
            let is_blank =
                elem.is_float() && len >= ARRAY * elem.bytes() as u64 && bytes.iter().all(|&b| b == 0);
            let name = data.name.to_string();
            (!has_addresses).then_some(Variable { name, elem, len: len as usize, is_blank })
        });
        Variables(all.collect())
    }

    /// Their names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|v| &*v.name)
    }

    /// Gives those that are blank the same random contents in each of these programs.
    ///
    /// # Errors
    /// If one is not there.
    pub(super) fn fill(&self, jits: &[&Jit]) -> Result<()> {
        for (seed, v) in self.0.iter().enumerate().filter(|(_, v)| v.is_blank) {
            let bytes = random_bytes(v.elem, v.len / v.elem.bytes(), seed as u64);
            for jit in jits {
                jit.set_variable(&v.name, &bytes)?;
            }
        }
        Ok(())
    }

    /// Compares what two programs have left.
    pub(super) fn compare(
        &self,
        [scalar, vector]: [&Jit; 2],
        allowed: Option<&Tolerance>,
        all: &mut Comparison,
    ) {
        for v in &self.0 {
            if let (Ok(reference), Ok(found)) =
                (scalar.variable(&v.name, v.len), vector.variable(&v.name, v.len))
            {
                all.arrays(v.elem, &reference, &found, allowed, &v.name);
            }
        }
    }
}

/// The types of elements that functions access in each variable; `None` for pointers.
fn elements(module: &Module) -> BTreeMap<Symbol, Option<Elem>> {
    let mut found = BTreeMap::new();
    for func in module.functions.values() {
        for i in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
            let Some(accessed) = func.accessed(i) else { continue };
            let elem = match accessed.ty.scalar() {
                Some(Scalar::Ptr(_)) => None,
                Some(scalar) => Elem::of(scalar.into()),
                None => continue,
            };
            for pointer in pointers_behind(func, accessed.address) {
                if let Some(&Constant::Address { symbol, .. }) = func.constant(pointer) {
                    found.entry(symbol).and_modify(|old| merge(old, elem)).or_insert(elem);
                }
            }
        }
    }
    found
}

/// One type for two: a pointer is not compared, and numbers of several types are as bytes.
fn merge(old: &mut Option<Elem>, new: Option<Elem>) {
    *old = match (*old, new) {
        (Some(a), Some(b)) if a == b => Some(a),
        (Some(_), Some(_)) => Some(Elem::Int(8)),
        _ => None,
    };
}
