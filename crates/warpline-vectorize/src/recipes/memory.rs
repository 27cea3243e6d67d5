//! Recipes of loads, stores and private memory.
//!
//! * A uniform address is accessed once, in blocks that are only reached with an active lane. Of a varying
//!   value the last active lane's is stored.
//! * Consecutive addresses become a vector access, masked unless all lanes are active.
//! * Addresses at small constant distances, reversed ones among them, and the fields of structures become wide
//!   accesses with shuffles, where [`groups`](super::groups) finds that worthwhile.
//! * Words that begin less than a word apart become wide accesses with shuffles as well, where all lanes are active
//!   ([`overlapping`](super::overlapping)).
//! * A load of [bytes that are there](super::dereferenceable) whatever lanes are active needs no mask, or needs it in
//!   one lane only.
//! * A store to [each lane's own memory](super::lane_private) needs no mask where the element is known: the other
//!   lanes' own elements are loaded and stored again. LLVM then keeps small arrays in registers.
//! * Accesses to memory that nobody else accesses meanwhile, [as the user promises](super::exclusive), need no mask:
//!   what inactive lanes have there is loaded and stored again.
//! * A load from [known offsets](super::windows) is a wide access with a shuffle, too.
//! * Of narrow elements, [words](crate::subword_loads) are gathered where a lane may read them.
//! * Everything else is gathered and scattered under the mask, rows of neighbouring elements together. Scatters
//!   write in lane order.
//! * Volatile and atomic accesses, and types that have no vector form in memory, are scalarized. Volatile memory of a
//!   work-group is accessed in vectors, instruction by instruction: one thread runs the group, so nobody else sees it.

use warpline_ir::{AtomicOrdering, DataLayout, Inst, MemAccess, Op, Scalar, Type, TypeTable, Value};

use super::{
    Between, Contiguous, Gather, How, Overlapping, Place, Planner, ROOM, Recipe, Rep, Scatter, Spread,
};
use crate::VectorizeError;
use crate::choices::Gathers;
use crate::groups::is_local;

impl Planner<'_> {
    /// The recipe of a load.
    pub(super) fn load(&self, i: Inst, access: MemAccess) -> Recipe {
        let data = &self.func.insts[i];
        let (address, result) = (data.args[0], data.results[0]);
        if !self.is_plain(access, address) {
            return self.scalarize(i);
        }
        if let Some(safe) = self.input.safe_loads[i].filter(|_| self.is_uniform(address)) {
            return Recipe::Speculated(safe);
        }
        if self.is_accessed_once(i, address) {
            return Recipe::Once;
        }
        let Some(elem) = self.memory_element(self.func.ty(result)).map(Type::from) else {
            return self.scalarize(i);
        };
        if let Some(recipe) = self.grouped(i) {
            return recipe;
        }
        if let Some(window) = self.window(i, address, elem) {
            return Recipe::Window(Box::new(window));
        }
        if let Some(ring) = self.ring(i, address, elem) {
            return Recipe::Ring(Box::new(ring));
        }
        if let Some(overlapping) = self.overlapping(i, address, elem) {
            return Recipe::Overlapping(overlapping);
        }
        if !self.is_consecutive(address, elem) {
            let table = self.tables[i].and_then(|table| {
                let together = table.together(self.width, &self.options.machine)?;
                Some(Recipe::Table(table, together))
            });
            return table.unwrap_or_else(|| self.gather(i, address, elem));
        }
        Recipe::Contiguous(match self.covered.load(i) {
            Some(safe) if self.block_mask(i).is_some() => Contiguous::Speculated(safe),
            _ if self.is_exclusive(i) => Contiguous::Whole,
            _ => self.contiguous(i, elem),
        })
    }

    /// The recipe of a store.
    pub(super) fn store(&self, i: Inst, access: MemAccess) -> Recipe {
        let data = &self.func.insts[i];
        let (value, address) = (data.args[0], data.args[1]);
        if !self.is_plain(access, address) {
            return self.scalarize(i);
        }
        if self.is_accessed_once(i, address) {
            return Recipe::Once;
        }
        let Some(elem) = self.memory_element(self.func.ty(value)).map(Type::from) else {
            return self.scalarize(i);
        };
        if let Some(recipe) = self.grouped(i) {
            return recipe;
        }
        if self.is_consecutive(address, elem) {
            // Masks of processors that have registers for these are cheaper than blends.
            let exclusive = self.is_exclusive(i) && !self.options.machine.mask_registers;
            let blended = exclusive || self.is_masked(i) && self.is_own_row(address, elem);
            return Recipe::Contiguous(if blended { Contiguous::Blended } else { self.contiguous(i, elem) });
        }
        if let Some(ring) = self.ring(i, address, elem) {
            return Recipe::Ring(Box::new(ring));
        }
        if let Some(overlapping) = self.overlapping(i, address, elem) {
            return Recipe::Overlapping(overlapping);
        }
        let (place, how) = match self.store_own(address, elem) {
            Some(own) => (Place::Own(own), How::Pick),
            None => (
                self.split_address(address).map_or(Place::Pointers, Place::Indexed),
                self.one_by_one(i, address, elem),
            ),
        };
        Recipe::Scatter(Box::new(Scatter { place, how }))
    }

    /// The recipe of private memory: one object per lane, side by side, or one for all lanes if they can share it.
    pub(super) fn private(&self, i: Inst) -> Result<Recipe, VectorizeError> {
        let data = &self.func.insts[i];
        let Op::Alloca { ty, .. } = data.op else { return Ok(Recipe::Nothing) };
        if self.module.layout.alloc_size(&self.module.types, ty).is_none() {
            let why = "private memory of a type without a fixed size cannot be vectorized";
            return Err(self.error(i, why));
        }
        Ok(match self.is_uniform(data.args[0]) {
            true => Recipe::Private,
            // For active lanes only, though without effects it could be made for all.
            false => Recipe::Scalarize { branch: self.is_masked(i) },
        })
    }

    /// Whether nobody sees an access but the thread that makes it.
    fn is_plain(&self, access: MemAccess, address: Value) -> bool {
        let is_local = || access.ordering == AtomicOrdering::NotAtomic && is_local(self.func, address);
        access.is_simple() || is_local()
    }

    /// How neighbouring elements are accessed, of which nothing is known.
    fn contiguous(&self, i: Inst, elem: Type) -> Contiguous {
        match self.is_masked(i) {
            false => Contiguous::Whole,
            true if self.lacks_masks(i, elem) => match self.has_active_form(i, elem) {
                true => Contiguous::Active,
                false => Contiguous::ByLane,
            },
            true => Contiguous::Masked,
        }
    }

    /// How elements are loaded from anywhere.
    fn gather(&self, i: Inst, address: Value, elem: Type) -> Recipe {
        let gather = |place, word, how| Recipe::Gather(Box::new(Gather { place, word, how }));
        if let Some((own, how)) = self.load_own(i, address, elem) {
            return gather(Place::Own(own), None, how);
        }
        if let Some(between) = self.covered.between(i).filter(|_| self.is_masked(i)) {
            let range = self.groups.range_around(self.func, &between, elem, self.width);
            let between = Between { range: range.unwrap_or(between.range), ..between };
            return gather(Place::Pointers, None, How::Between(between));
        }
        let place = self.split_address(address).map_or(Place::Pointers, Place::Indexed);
        let varies = self.rep(address) == Rep::Varying && self.is_narrow(elem);
        if let Some(before) = self.input.words[i].filter(|_| varies)
            && let Some(how) = self.instructions_for(&place, Type::Int(32))
        {
            return gather(place, Some(before), how);
        }
        if let Some(lanes) = self.lanes_of_avx2(&place, elem) {
            return gather(place, None, How::Avx2(lanes));
        }
        gather(place, None, self.one_by_one(i, address, elem))
    }

    /// How elements anywhere are accessed that no instruction of AVX2 gathers.
    fn one_by_one(&self, i: Inst, address: Value, elem: Type) -> How {
        match self.rep(address) {
            Rep::Strided(step) if !self.is_masked(i) && !self.is_in_hardware(elem) && self.width > 1 => {
                How::Stepped(step)
            }
            _ if self.goes_by_lane(i, elem) => How::ByLane,
            _ => How::Native,
        }
    }

    /// Whether the machine has instructions that access such elements anywhere, under a mask.
    fn is_in_hardware(&self, elem: Type) -> bool {
        self.options.machine.gathers == Gathers::Everything && matches!(self.bits_of(elem), 32 | 64)
    }

    /// By what instructions of the machine words are gathered, if by any.
    fn instructions_for(&self, place: &Place, word: Type) -> Option<How> {
        match self.options.machine.gathers {
            Gathers::Nothing => None,
            Gathers::Avx2 => self.lanes_of_avx2(place, word).map(How::Avx2),
            Gathers::Everything => Some(How::Native),
        }
    }

    /// How many lanes an instruction of AVX2 gathers for; `None` if there is none for such elements there.
    pub(super) fn lanes_of_avx2(&self, place: &Place, elem: Type) -> Option<u32> {
        let (root, bits) = match place {
            Place::Own(own) => (own.address.root, 32),
            Place::Indexed(split) => (split.root, split.bits),
            Place::Pointers => return None,
        };
        let known = matches!(elem, Type::Int(32) | Type::Float(warpline_ir::FloatKind::Float));
        let usual = bits == 32 && self.func.ty(root) == Type::PTR && self.width.is_power_of_two();
        let fits = self.options.machine.gathers == Gathers::Avx2 && known && usual;
        (fits && self.width >= 4).then(|| self.width.min(8))
    }

    fn is_narrow(&self, elem: Type) -> bool {
        match elem {
            Type::Int(bits) => matches!(bits, 8 | 16),
            Type::Float(kind) => matches!(kind.bits(), 8 | 16),
            _ => false,
        }
    }

    /// How a load or store is made whose elements overlap with neighbouring lanes', if all lanes are active.
    fn overlapping(&self, i: Inst, address: Value, elem: Type) -> Option<Overlapping> {
        let Rep::Strided(step) = self.rep(address) else { return None };
        let is_plain = matches!(elem, Type::Int(_) | Type::Float(_)) && !self.is_masked(i);
        let size = self.module.layout.alloc_size(&self.module.types, elem).filter(|_| is_plain)?;
        Overlapping::of(size, step, self.width, &self.options.machine)
    }

    /// The group of a load or store, if it is in one.
    fn grouped(&self, i: Inst) -> Option<Recipe> {
        let (id, here) = self.groups.of(i)?;
        Some(match self.groups.get(id).spread {
            _ if !here => Recipe::Elsewhere,
            Spread::Fixed(_) => Recipe::Group(id),
            Spread::Anywhere => {
                let address = self.func.accessed(i)?.address;
                Recipe::Rows(id, self.split_address(address))
            }
        })
    }

    /// Whether a memory access is made once for all lanes.
    fn is_accessed_once(&self, i: Inst, address: Value) -> bool {
        self.is_uniform(address) && (self.input.guarded.contains(i) || self.block_mask(i).is_none())
    }

    /// Whether neighbouring lanes access neighbouring elements.
    fn is_consecutive(&self, address: Value, elem: Type) -> bool {
        let size = self.module.layout.alloc_size(&self.module.types, elem);
        match self.rep(address) {
            Rep::Strided(step) => size.is_some_and(|s| i64::try_from(s) == Ok(step)),
            _ => false,
        }
    }

    /// Whether the machine has no instructions that access neighbouring elements under a mask.
    fn lacks_masks(&self, i: Inst, elem: Type) -> bool {
        !self.options.machine.masks.serve(self.bits_of(elem)) && self.width > 1 && self.is_on_stack_kind(i)
    }

    /// Whether accesses of neighbours under a mask look at its bits, as many as an integer has, and go through a vector
    /// on the stack: those of bytes and shorts, of which there are many. Sanitizers report loads of more than what the
    /// program loads.
    fn has_active_form(&self, i: Inst, elem: Type) -> bool {
        let fits = u64::from(self.width) * self.bits_of(elem) / 8 <= ROOM;
        let is_narrow = self.bits_of(elem) <= 16;
        is_narrow
            && self.width <= 64
            && fits
            && !(self.func.is_sanitized && matches!(self.func.insts[i].op, Op::Load(_)))
    }

    /// Whether accesses anywhere are to be made one after the other, as LLVM would not make them well.
    fn goes_by_lane(&self, i: Inst, elem: Type) -> bool {
        !self.is_in_hardware(elem) && self.width > 1 && self.is_on_stack_kind(i) && self.is_masked(i)
    }

    /// Whether pointers of an access may as well point to the stack.
    fn is_on_stack_kind(&self, i: Inst) -> bool {
        self.func.accessed(i).is_some_and(|a| self.func.ty(a.address) == Type::PTR)
    }

    fn bits_of(&self, elem: Type) -> u64 {
        self.module.layout.alloc_size(&self.module.types, elem).unwrap_or(0) * 8
    }

    fn memory_element(&self, ty: Type) -> Option<Scalar> {
        memory_element(&self.module.layout, &self.module.types, ty)
    }
}

/// What a value of the type is in memory, if vectors of it lie there as consecutive elements do. Booleans take a byte
/// each.
pub(crate) fn memory_element(layout: &DataLayout, types: &TypeTable, ty: Type) -> Option<Scalar> {
    let elem = match ty.scalar()? {
        Scalar::Int(1) => Scalar::Int(8),
        s => s,
    };
    let bits = u64::from(layout.scalar_bits(elem));
    let size = layout.alloc_size(types, elem.into())?;
    (bits == size * 8 && bits.is_power_of_two() && bits <= 64).then_some(elem)
}
