//! Accesses that never meet, whatever their addresses are: by the objects that they lead to, and by the types that
//! they are made as.

use super::Region;
use super::roots::Objects;
use warpline_dataflow::linear::Address;
use warpline_ir::{AccessType, Function, Inst, Module, Value};

/// What is known of the objects and types of a function.
pub(crate) struct Apart<'a> {
    module: &'a Module,
    func: &'a Function,
    objects: Objects<'a>,
}

impl<'a> Apart<'a> {
    /// Of a function, and of the one that it was cut out of, if it was.
    pub(crate) fn new(module: &'a Module, func: &'a Function, region: Option<&'a Region<'a>>) -> Apart<'a> {
        Apart { module, func, objects: Objects::new(module, func, region) }
    }

    /// Whether an address leads to nothing but memory of which the user promises that nobody else accesses it
    /// meanwhile, and that it is there whether or not conditions hold.
    pub(crate) fn is_exclusive(&self, address: Value) -> bool {
        self.objects.is_promised(address, |facts| facts.exclusive)
    }

    /// Whether an address leads to nothing but memory that nobody else accesses meanwhile, and that may be written
    /// where it is there.
    pub(crate) fn is_unique(&self, address: Value) -> bool {
        self.objects.is_promised(address, |facts| facts.unique)
    }

    /// Whether two loads or stores, of which one stores, never touch the same memory.
    pub(crate) fn never_meet(&self, a: Inst, b: Inst) -> bool {
        let ty = |i: Inst| self.module.access_types.of(self.func.insts[i].origin);
        if types_are_apart(self.module, ty(a), ty(b)) {
            return true;
        }
        let roots = |i: Inst| self.func.accessed(i).map(|a| self.objects.of(a.address));
        let (Some(a), Some(b)) = (roots(a), roots(b)) else { return false };
        self.objects.are_apart(&a, &b)
    }
}

/// What a load or store accesses: where, and how many bytes.
pub(crate) fn stretch_of(module: &Module, func: &Function, i: Inst) -> Option<(Address, u64)> {
    let accessed = func.accessed(i)?;
    let size = module.layout.store_size(&module.types, accessed.ty)?;
    Some((Address::of(module, func, accessed.address)?, size))
}

/// Whether one stretch is at a constant distance from another one, and they have no byte in common in one iteration;
/// in all iterations, then, if the address of one is the same in all.
pub(crate) fn lie_side_by_side((a, of_a): &(Address, u64), (b, of_b): &(Address, u64)) -> bool {
    a.distance(b).is_some_and(|d| d.unsigned_abs() >= if d < 0 { *of_b } else { *of_a })
}

/// Whether accesses as these types, if they are known, never touch the same memory.
pub(super) fn types_are_apart(module: &Module, a: Option<AccessType>, b: Option<AccessType>) -> bool {
    a.zip(b).is_some_and(|(a, b)| module.access_types.are_apart(a, b))
}
