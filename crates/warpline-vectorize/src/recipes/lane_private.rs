//! Private memory that is laid out for all lanes, which each lane accesses at an index of its own.
//!
//! Such memory is there for all lanes whatever they ask for, so no mask is needed: an index that has been brought
//! into the object will do, and what inactive lanes find is not looked at. So the load need not wait for the mask,
//! which may itself take a load to know: a stack is popped while it is still being found out who pops. Where a lane
//! has few elements, all are loaded, side by side as they lie, and each lane picks its own.
//!
//! Nobody else accesses such memory, so a store may leave the elements of inactive lanes as they are by storing them
//! again. Where a lane has few elements, all are stored, each changed in the lanes that ask for it.
//!
//! An active lane's access is inside the object, so its index is found again modulo 2^32, however it is computed.

use warpline_dataflow::linear::{Address, Term};
use warpline_ir::{Inst, Type, Value};

use super::{How, Place, Planner, Rep};
use crate::objects::alloca_bytes;

/// From how many elements each lane picks one, at most.
const MAX_PICKED: i64 = 4;

/// What objects whose elements are loaded for inactive lanes are smaller than, in bytes: whatever these find is in
/// the first cache.
const MAX_BYTES: i64 = 1 << 14;

/// An access to an object that is laid out for all lanes.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    /// Where lanes access it.
    pub address: Address,
    /// From lane to lane, in bytes.
    pub step: i64,
    /// The size of the object of all lanes.
    pub bytes: i64,
}

impl Planner<'_> {
    /// How one element for each lane is loaded that comes from memory that is laid out for all lanes, if that can be
    /// done without a mask.
    pub(super) fn load_own(&self, i: Inst, address: Value, elem: Type) -> Option<(Own, How)> {
        let own = self.own_object(address)?;
        let size = self.module.layout.alloc_size(&self.module.types, elem)?;
        if own.few_elements(size as i64, i64::from(self.width)).is_some() {
            return Some((own, How::Pick));
        }
        if self.block_mask(i).is_none() || own.bytes >= MAX_BYTES {
            return None;
        }
        let place = Place::Own(own);
        let how = self.lanes_of_avx2(&place, elem).map_or(How::Native, How::Avx2);
        let Place::Own(own) = place else { return None };
        Some((own, how))
    }

    /// Where one element for each lane is stored in memory that is laid out for all lanes, if there are so few that
    /// all are stored.
    pub(super) fn store_own(&self, address: Value, elem: Type) -> Option<Own> {
        let own = self.own_object(address)?;
        let size = self.module.layout.alloc_size(&self.module.types, elem)?;
        own.few_elements(size as i64, i64::from(self.width))?;
        Some(own)
    }

    /// Whether an address that is consecutive in lanes is at a constant distance in memory that is laid out for all
    /// lanes, and in the object whoever asks for it. Masks of processors that have registers for these are cheaper
    /// than blends, unless LLVM may keep the object in registers.
    pub(super) fn is_own_row(&self, address: Value, elem: Type) -> bool {
        let place = Address::of(self.module, self.func, address);
        let Some(Address { root, terms, offset }) = place.filter(|a| a.terms.is_empty()) else {
            return false;
        };
        let own = terms.is_empty() && matches!(self.rep(root), Rep::Strided(_));
        let bytes = alloca_bytes(self.module, self.func, root).filter(|_| own);
        let size = self.module.layout.alloc_size(&self.module.types, elem).unwrap_or(0);
        let row = size * u64::from(self.width);
        let is_there = |bytes: u64| u64::try_from(offset).is_ok_and(|offset| offset + row <= bytes);
        let pays = |bytes: u64| !self.options.machine.mask_registers || bytes <= MAX_PICKED as u64 * row;
        bytes.is_some_and(|bytes| is_there(bytes) && pays(bytes))
    }

    fn own_object(&self, address: Value) -> Option<Own> {
        let address = Address::of(self.module, self.func, address)?;
        // With a step, it is laid out for all lanes.
        let Rep::Strided(step) = self.rep(address.root) else { return None };
        let bytes = i64::try_from(alloca_bytes(self.module, self.func, address.root)?).ok()?;
        let narrow = |t: &Term| self.func.ty(t.value).int_bits().is_some_and(|bits| bits <= 64);
        let fits = bytes >> 31 == 0 && !address.terms.is_empty() && address.terms.iter().all(narrow);
        fits.then_some(Own { address, step, bytes })
    }
}

impl Own {
    /// The only number that the address depends on, if it counts elements that lie side by side and are few, and how
    /// many are added to it.
    pub(crate) fn few_elements(&self, size: i64, width: i64) -> Option<(Term, i64)> {
        let row = self.step.checked_mul(width).filter(|_| self.step == size)?;
        let [term] = self.address.terms[..] else { return None };
        let fits = term.scale == row && self.address.offset % row == 0 && self.bytes % row == 0;
        (fits && (1..=MAX_PICKED).contains(&(self.bytes / row))).then_some((term, self.address.offset / row))
    }
}
