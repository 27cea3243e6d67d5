//! Arrays in structs on the stack, as objects of their own.
//!
//! LLVM makes values of what it can of a struct on the stack, member by member, but gives up where one index is not
//! constant: then all of it stays one object. What lanes share and what differs between them are told apart object by
//! object, so three numbers that all lanes agree on, beside a ray that is each lane's own, would seem to differ, and
//! with them every branch on them.
//!
//! Here an array that is indexed leaves the struct, if
//! 1. the address of the struct goes nowhere but into constant offsets, indices of arrays in it, plain loads and
//!    stores, and copies and fills of constant length; and
//! 2. every other access lies within the array or beside it.
//!
//! The members that are left become values. Arrays that overlap, as in a union, are one part. Copies are done part by
//! part.
//!
//! An index stays within its array, or the outermost one which that is in: `s.a[i]` of C and C++ is undefined
//! elsewhere, and the type of the array stands in the code that a front end writes. It does not stand there any more
//! when that has been simplified, so this comes first. Sums of a pointer and a number say of no array that they stay in
//! it; where there is one, the object stays whole. So do objects whose address is passed on: functions that get the
//! address of such a struct are inlined before (`inline_for_parts`), if they are short.

mod split;

use std::ops::Range;

use crate::ffi::types::LLVMOpcode::{LLVMAlloca, LLVMCall, LLVMGetElementPtr, LLVMLoad, LLVMStore};
use crate::ffi::types::LLVMTargetDataRef;
use crate::ffi::types::LLVMTypeKind;
use crate::ffi::types::*;

use self::split::Split;
use crate::ffi::load::functions;
use crate::module::{Module, instructions_in, instructions_of, is, opcode, users_of, value_name};
use crate::simplify::{has_attribute, has_body};
use crate::small_copies::bulk_bytes;
use crate::unroll::constant;

/// Functions of more instructions are not inlined for this.
const MAX_INLINED: usize = 300;

/// Types that are nested more deeply are not looked into.
const MAX_DEPTH: u32 = 16;

/// `LLVMAtomicOrderingNotAtomic`.
const NOT_ATOMIC: u32 = 0;

impl Module {
    /// Asks for short functions to be inlined that get the address of a struct on the stack with an array in it.
    pub(crate) fn inline_for_parts(&self) {
        let f = functions();
        for function in self.functions().filter(|&function| has_body(function)) {
            for call in instructions_of(function).into_iter().filter(|&inst| is(inst, LLVMCall)) {
                // SAFETY: a call of this live module has operands and a callee, the last of them.
                unsafe {
                    let callee = f.LLVMGetCalledValue(call);
                    let of_struct = (0..f.LLVMGetNumOperands(call) as u32 - 1).any(|k| {
                        let operand = f.LLVMGetOperand(call, k);
                        is(operand, LLVMAlloca) && has_array_beside(f.LLVMGetAllocatedType(operand))
                    });
                    if of_struct && may_be_inlined(callee) {
                        self.add_attribute(callee, "alwaysinline", 0);
                    }
                }
            }
        }
    }

    /// Makes objects of the arrays in structs on the stack.
    pub(crate) fn split_private_objects(&self) {
        let f = functions();
        for function in self.functions().filter(|&function| has_body(function)) {
            // SAFETY: the entry block of a function with a body; the layout is the module's own, the builder is
            // disposed of.
            unsafe {
                let layout = f.LLVMGetModuleDataLayout(self.raw());
                let allocas = instructions_in(f.LLVMGetFirstBasicBlock(function)).into_iter();
                for alloca in allocas.filter(|&inst| is(inst, LLVMAlloca)) {
                    if let Some((object, parts)) = Object::of(layout, alloca) {
                        let builder = f.LLVMCreateBuilderInContext(self.context());
                        Split::new(self.context(), builder, &object).all(&parts);
                        f.LLVMDisposeBuilder(builder);
                    }
                }
            }
        }
    }
}

/// A `getelementptr` with an index into an array that is not constant.
struct Step {
    inst: LLVMValueRef,
    /// Which index that is.
    position: u32,
    array: LLVMTypeRef,
    /// The bytes of the array in the object.
    range: Range<i64>,
    /// The size of what all its indices lead to.
    element: i64,
    inner: Inner,
}

/// What is done with an element of an array.
#[derive(Default)]
struct Inner {
    /// Loads and stores.
    accesses: Vec<LLVMValueRef>,
    /// Copies and fills, with the operand that the address is.
    calls: Vec<(LLVMValueRef, u32)>,
}

/// A use of bytes that are known: as an operand of an instruction.
struct Use {
    inst: LLVMValueRef,
    operand: u32,
    range: Range<i64>,
}

/// An `alloca` with everything that is done to it.
struct Object {
    layout: LLVMTargetDataRef,
    address: LLVMValueRef,
    size: i64,
    steps: Vec<Step>,
    /// Loads and stores.
    accesses: Vec<Use>,
    /// Copies and fills.
    calls: Vec<Use>,
    /// Markers of its lifetime.
    markers: Vec<LLVMValueRef>,
}

impl Object {
    /// The object with the parts that leave it, in order.
    ///
    /// # Safety
    /// The `alloca` is live, and the layout that of its module.
    unsafe fn of(layout: LLVMTargetDataRef, alloca: LLVMValueRef) -> Option<(Object, Vec<Range<i64>>)> {
        let f = functions();
        // SAFETY: as the caller promises; sizes are asked of types that have one.
        unsafe {
            let ty = f.LLVMGetAllocatedType(alloca);
            let one = constant(f.LLVMGetOperand(alloca, 0)) == Some(1);
            if !one || kind(ty) != LLVMTypeKind::LLVMStructTypeKind as u32 || !has_size(ty, MAX_DEPTH) {
                return None;
            }
            let (steps, accesses, calls, markers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            let size = size_of(layout, ty)?;
            let mut object = Object { layout, address: alloca, size, steps, accesses, calls, markers };
            object.walk(alloca, 0, MAX_DEPTH)?;
            let parts = object.parts()?;
            Some((object, parts))
        }
    }

    /// Notes what is done with an address at a constant offset; `None` if that is not understood.
    ///
    /// # Safety
    /// The address is live.
    unsafe fn walk(&mut self, address: LLVMValueRef, offset: i64, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        // SAFETY: users of a live instruction.
        unsafe {
            for user in users_of(address) {
                if is(user, LLVMGetElementPtr) {
                    match self.place(user, address, offset)? {
                        Place::Constant(to) => self.walk(user, to, depth)?,
                        Place::Indexed { position, array, offset, element } => {
                            let range = offset..offset.checked_add(size_of(self.layout, array)?)?;
                            let within = 0 <= range.start && range.end <= self.size;
                            let mut inner = Inner::default();
                            self.walk_within(user, 0..element, depth, &mut inner)?;
                            let step = Step { inst: user, position, array, range, element, inner };
                            within.then(|| self.steps.push(step))?;
                        }
                    }
                } else if is_marker(user) {
                    (address == self.address).then(|| self.markers.push(user))?;
                } else {
                    let (operand, bytes) = used(self.layout, user, address)?;
                    let range = offset..offset.checked_add(bytes)?;
                    (0 <= range.start && range.end <= self.size).then_some(())?;
                    let to = if is(user, LLVMCall) { &mut self.calls } else { &mut self.accesses };
                    to.push(Use { inst: user, operand, range });
                }
            }
        }
        Some(())
    }

    /// Notes the accesses of an address in an element of an array; `bytes` are what is left of the element from there.
    /// `None` if one may lie outside of it.
    ///
    /// # Safety
    /// The address is live.
    unsafe fn walk_within(
        &self,
        address: LLVMValueRef,
        bytes: Range<i64>,
        depth: u32,
        inner: &mut Inner,
    ) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        // SAFETY: users of a live instruction.
        unsafe {
            for user in users_of(address) {
                if is(user, LLVMGetElementPtr) {
                    let left = match self.place(user, address, bytes.start)? {
                        Place::Constant(to) => to..bytes.end,
                        Place::Indexed { array, offset, element, .. } => {
                            let end = offset.checked_add(size_of(self.layout, array)?)?;
                            (0 <= offset && end <= bytes.end).then_some(())?;
                            0..element
                        }
                    };
                    self.walk_within(user, left, depth, inner)?;
                } else {
                    let (operand, length) = used(self.layout, user, address)?;
                    (0 <= bytes.start && bytes.start.checked_add(length)? <= bytes.end).then_some(())?;
                    if is(user, LLVMCall) {
                        inner.calls.push((user, operand));
                    } else {
                        inner.accesses.push(user);
                    }
                }
            }
        }
        Some(())
    }

    /// Where a `getelementptr` leads to from an offset.
    ///
    /// # Safety
    /// It is live.
    unsafe fn place(&self, gep: LLVMValueRef, base: LLVMValueRef, mut offset: i64) -> Option<Place> {
        let f = functions();
        // SAFETY: a live `getelementptr` has a base and an index for each level of its type.
        unsafe {
            let mut ty = f.LLVMGetGEPSourceElementType(gep);
            let scalar = kind(f.LLVMTypeOf(gep)) == LLVMTypeKind::LLVMPointerTypeKind as u32;
            if !scalar || f.LLVMGetOperand(gep, 0) != base || !has_size(ty, MAX_DEPTH) {
                return None;
            }
            let first = constant(f.LLVMGetOperand(gep, 1))?;
            offset = offset.checked_add(first.checked_mul(size_of(self.layout, ty)?)?)?;
            for position in 2..f.LLVMGetNumOperands(gep) as u32 {
                let index = constant(f.LLVMGetOperand(gep, position));
                if kind(ty) == LLVMTypeKind::LLVMStructTypeKind as u32 {
                    let member = u32::try_from(index?).ok()?;
                    offset = offset.checked_add(f.LLVMOffsetOfElement(self.layout, ty, member) as i64)?;
                    ty = f.LLVMStructGetTypeAtIndex(ty, member);
                } else if kind(ty) == LLVMTypeKind::LLVMArrayTypeKind as u32 {
                    let inner = f.LLVMGetElementType(ty);
                    let Some(index) = index else {
                        let element = self.element(gep, position, inner)?;
                        return Some(Place::Indexed { position, array: ty, offset, element });
                    };
                    ty = inner;
                    offset = offset.checked_add(index.checked_mul(size_of(self.layout, ty)?)?)?;
                } else {
                    return None;
                }
            }
            Some(Place::Constant(offset))
        }
    }

    /// The size of what the indices behind `position` lead to, each within the type that it is an index of.
    ///
    /// # Safety
    /// The `getelementptr` is live.
    unsafe fn element(&self, gep: LLVMValueRef, position: u32, mut ty: LLVMTypeRef) -> Option<i64> {
        let f = functions();
        // SAFETY: as in `place`.
        unsafe {
            for k in position + 1..f.LLVMGetNumOperands(gep) as u32 {
                let index = constant(f.LLVMGetOperand(gep, k));
                if kind(ty) == LLVMTypeKind::LLVMStructTypeKind as u32 {
                    ty = f.LLVMStructGetTypeAtIndex(ty, u32::try_from(index?).ok()?);
                } else if kind(ty) == LLVMTypeKind::LLVMArrayTypeKind as u32 {
                    let length = f.LLVMGetArrayLength2(ty) as i64;
                    index.is_none_or(|index| (0..length).contains(&index)).then_some(())?;
                    ty = f.LLVMGetElementType(ty);
                } else {
                    return None;
                }
            }
            size_of(self.layout, ty)
        }
    }

    /// The parts that leave the object: what indices may reach, in order. `None` if nothing is left beside one part,
    /// or something lies across a border.
    ///
    /// # Safety
    /// What is known of the object is live and true.
    unsafe fn parts(&self) -> Option<Vec<Range<i64>>> {
        // SAFETY: as the caller promises.
        let reached = |step: &Step| unsafe { self.reached(&step.range) };
        let mut ranges: Vec<Range<i64>> = self.steps.iter().map(reached).collect();
        ranges.sort_by_key(|range| (range.start, range.end));
        let mut parts: Vec<Range<i64>> = Vec::new();
        for range in ranges {
            match parts.last_mut().filter(|last| range.start < last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => parts.push(range),
            }
        }
        let outside = |part: &Range<i64>, u: &Use| u.range.end <= part.start || part.end <= u.range.start;
        let inside = |part: &Range<i64>, u: &Use| part.start <= u.range.start && u.range.end <= part.end;
        let clear = |u: &Use| parts.iter().all(|part| outside(part, u) || inside(part, u));
        let beside = |u: &Use| parts.iter().any(|part| !inside(part, u));
        let inner = self.steps.iter().flat_map(|step| &step.inner.calls).map(|call| call.0);
        let mut calls: Vec<LLVMValueRef> = self.calls.iter().map(|u| u.inst).chain(inner).collect();
        calls.sort();
        let from_itself = calls.windows(2).any(|pair| pair[0] == pair[1]);
        let worth = parts.len() > 1 || self.accesses.iter().any(beside);
        (worth && !from_itself && self.accesses.iter().all(clear)).then_some(parts)
    }
}

impl Object {
    /// What an index into an array at these bytes may reach: all of the outermost array that these are in. Programs
    /// walk through matrices by an index of their first row.
    ///
    /// # Safety
    /// What is known of the object is live and true.
    unsafe fn reached(&self, range: &Range<i64>) -> Range<i64> {
        let f = functions();
        // SAFETY: as the caller promises; members are asked of structs, by offsets within them.
        unsafe {
            let (mut ty, mut start) = (f.LLVMGetAllocatedType(self.address), 0);
            while kind(ty) == LLVMTypeKind::LLVMStructTypeKind as u32 {
                // An array without elements may stand behind everything.
                if size_of(self.layout, ty).is_none_or(|size| range.start - start >= size) {
                    return range.clone();
                }
                let member = f.LLVMElementAtOffset(self.layout, ty, (range.start - start) as u64);
                start += f.LLVMOffsetOfElement(self.layout, ty, member) as i64;
                ty = f.LLVMStructGetTypeAtIndex(ty, member);
            }
            let end = size_of(self.layout, ty).map_or(range.end, |size| start + size);
            let is_array = kind(ty) == LLVMTypeKind::LLVMArrayTypeKind as u32;
            if is_array { start.min(range.start)..end.max(range.end) } else { range.clone() }
        }
    }

    /// The type and size of the numbers that an array is made of, if it is a part and nothing else is accessed in it.
    ///
    /// # Safety
    /// What is known of the object is live and true.
    unsafe fn element_of(&self, part: &Range<i64>) -> Option<(LLVMTypeRef, i64)> {
        use LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMIntegerTypeKind, LLVMPointerTypeKind};
        let f = functions();
        let within = |range: &Range<i64>| part.start <= range.start && range.end <= part.end;
        let mut ty = self.steps.iter().find(|step| step.range == *part)?.array;
        // SAFETY: as the caller promises.
        unsafe {
            while kind(ty) == LLVMTypeKind::LLVMArrayTypeKind as u32 {
                ty = f.LLVMGetElementType(ty);
            }
            let numbers = [LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMIntegerTypeKind, LLVMPointerTypeKind];
            let size = size_of(self.layout, ty)?;
            let whole = |access: LLVMValueRef| {
                let value = if is(access, LLVMStore) { f.LLVMGetOperand(access, 0) } else { access };
                f.LLVMStoreSizeOfType(self.layout, f.LLVMTypeOf(value)) as i64 == size
            };
            let at_element = |u: &Use| (u.range.start - part.start) % size == 0 && whole(u.inst);
            let is_integer = kind(ty) == LLVMIntegerTypeKind as u32;
            let is_number = numbers.iter().any(|&known| known as u32 == kind(ty))
                && (!is_integer || i64::from(f.LLVMGetIntTypeWidth(ty)) == 8 * size)
                && f.LLVMStoreSizeOfType(self.layout, ty) as i64 == size
                && size > 0;
            let fits = is_number
                && self.accesses.iter().filter(|u| within(&u.range)).all(at_element)
                && self.steps.iter().filter(|step| within(&step.range)).all(|step| {
                    step.element == size
                        && (step.range.start - part.start) % size == 0
                        && step.inner.calls.is_empty()
                        && step.inner.accesses.iter().all(|&access| whole(access))
                });
            fits.then_some((ty, size))
        }
    }
}

/// Where an address leads to.
enum Place {
    /// To an offset.
    Constant(i64),
    /// Into an array at an offset. The element's size is that of what all indices lead to.
    Indexed { position: u32, array: LLVMTypeRef, offset: i64, element: i64 },
}

/// Which operand an address is of a plain load or store, a copy or a fill, and how many bytes from there are accessed.
///
/// # Safety
/// All are live.
unsafe fn used(layout: LLVMTargetDataRef, inst: LLVMValueRef, address: LLVMValueRef) -> Option<(u32, i64)> {
    let f = functions();
    let bytes = |ty| {
        has_size(ty, MAX_DEPTH).then(|| {
            // SAFETY: a type that has a size.
            i64::try_from(unsafe { f.LLVMStoreSizeOfType(layout, ty) }).ok()
        })?
    };
    // SAFETY: instructions are asked for what their kind has.
    unsafe {
        let plain = || f.LLVMGetVolatile(inst) == 0 && f.LLVMGetOrdering(inst) == NOT_ATOMIC;
        match opcode(inst)? {
            op if op == LLVMLoad as u32 => Some((0, plain().then(|| bytes(f.LLVMTypeOf(inst)))??)),
            op if op == LLVMStore as u32 => {
                let value = f.LLVMGetOperand(inst, 0);
                Some((1, (value != address && plain()).then(|| bytes(f.LLVMTypeOf(value)))??))
            }
            op if op == LLVMCall as u32 => {
                let length = bulk_bytes(inst)?;
                Some((u32::from(f.LLVMGetOperand(inst, 0) != address), length))
            }
            _ => None,
        }
    }
}

/// Whether an instruction marks where a lifetime begins or ends.
///
/// # Safety
/// It is live.
unsafe fn is_marker(inst: LLVMValueRef) -> bool {
    // SAFETY: the callee is asked of a call.
    is(inst, LLVMCall)
        && unsafe { value_name(functions().LLVMGetCalledValue(inst)) }.starts_with("llvm.lifetime.")
}

/// Whether a called value is a function that may be inlined, and is short.
///
/// # Safety
/// It is live.
unsafe fn may_be_inlined(callee: LLVMValueRef) -> bool {
    // SAFETY: a live value, which is asked for its body if it is a function.
    let is_function = unsafe { !functions().LLVMIsAFunction(callee).is_null() };
    is_function
        && has_body(callee)
        && !["noinline", "optnone", "cold"].iter().any(|kind| has_attribute(callee, kind))
        && instructions_of(callee).len() <= MAX_INLINED
}

/// Whether a type is a struct with several members, and an array among them or in them.
fn has_array_beside(ty: LLVMTypeRef) -> bool {
    let f = functions();
    // SAFETY: a live type; members are asked of a struct.
    unsafe {
        let members = || f.LLVMCountStructElementTypes(ty);
        kind(ty) == LLVMTypeKind::LLVMStructTypeKind as u32
            && has_size(ty, MAX_DEPTH)
            && members() > 1
            && (0..members()).any(|k| {
                let member = f.LLVMStructGetTypeAtIndex(ty, k);
                kind(member) == LLVMTypeKind::LLVMArrayTypeKind as u32 || has_array_beside(member)
            })
    }
}

/// Whether a type has a constant size.
fn has_size(ty: LLVMTypeRef, depth: u32) -> bool {
    use LLVMTypeKind::{
        LLVMArrayTypeKind, LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMHalfTypeKind, LLVMIntegerTypeKind,
        LLVMPointerTypeKind, LLVMStructTypeKind, LLVMVectorTypeKind, LLVMX86_FP80TypeKind,
    };
    let f = functions();
    let simple = [
        LLVMHalfTypeKind,
        LLVMFloatTypeKind,
        LLVMDoubleTypeKind,
        LLVMX86_FP80TypeKind,
        LLVMIntegerTypeKind,
        LLVMPointerTypeKind,
        LLVMVectorTypeKind,
    ];
    let Some(depth) = depth.checked_sub(1) else { return false };
    // SAFETY: a live type, which is asked for what its kind has.
    unsafe {
        match kind(ty) {
            k if k == LLVMArrayTypeKind as u32 => has_size(f.LLVMGetElementType(ty), depth),
            k if k == LLVMStructTypeKind as u32 => {
                let mut members = 0..f.LLVMCountStructElementTypes(ty);
                f.LLVMIsOpaqueStruct(ty) == 0
                    && members.all(|k| has_size(f.LLVMStructGetTypeAtIndex(ty, k), depth))
            }
            k => simple.iter().any(|&known| known as u32 == k),
        }
    }
}

/// # Safety
/// The type has a size.
unsafe fn size_of(layout: LLVMTargetDataRef, ty: LLVMTypeRef) -> Option<i64> {
    // SAFETY: as the caller promises.
    i64::try_from(unsafe { functions().LLVMABISizeOfType(layout, ty) }).ok()
}

fn kind(ty: LLVMTypeRef) -> u32 {
    // SAFETY: a live type.
    unsafe { functions().LLVMGetTypeKind(ty) }
}

#[cfg(test)]
mod tests {
    use crate::{Llvm, Module};

    const TYPES: &str = "%ray = type { [3 x float], [3 x i32], i64 }\n\
         declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\ndeclare void @take(ptr)\n";

    /// What is left of a function that writes a ray and reads one of its numbers, after `%r` has been split.
    fn split(does: &str) -> Option<String> {
        if Llvm::get().is_err() {
            eprintln!("skipped: there is no LLVM");
            return None;
        }
        let text = format!(
            "{TYPES}define i32 @f(i64 %i, float %x, ptr %p) {{\n  %r = alloca %ray, align 8\n  \
             store float %x, ptr %r, align 8\n  \
             %n = getelementptr inbounds %ray, ptr %r, i32 0, i32 1\n  \
             %at = getelementptr inbounds [3 x i32], ptr %n, i64 0, i64 %i\n  store i32 7, ptr %at, align 4\n  \
             {does}\n  %v = load i32, ptr %at, align 4\n  ret i32 %v\n}}\n"
        );
        let mut module = Module::parse(text.as_bytes(), "parts").unwrap();
        module.verify().unwrap();
        module.split_private_objects();
        module.verify().unwrap();
        module.optimise("function(sroa)", None).unwrap();
        Some(module.to_text())
    }

    #[test]
    fn an_indexed_array_leaves_its_struct_and_the_rest_becomes_values() {
        let Some(text) = split("") else { return };
        assert_eq!(text.matches("alloca").count(), 1, "{text}");
        assert!(text.contains("alloca [3 x i32], align 4") && !text.contains("store float"), "{text}");
    }

    #[test]
    fn what_is_copied_is_copied_part_by_part() {
        let copy = "call void @llvm.memcpy.p0.p0.i64(ptr align 8 %p, ptr align 8 %r, i64 32, i1 false)";
        let Some(text) = split(copy) else { return };
        assert!(text.contains("alloca [3 x i32]") && !text.contains("i64 32"), "{text}");
        assert!(text.contains("%p, i64 12"), "the array goes to its place: {text}");
    }

    #[test]
    fn what_may_reach_other_members_keeps_the_object_whole() {
        for does in [
            // A number is added to the address of an element.
            "%w = getelementptr inbounds i32, ptr %n, i64 %i\n  store i32 1, ptr %w",
            "call void @take(ptr %r)",
            "call void @take(ptr %at)",
            "store ptr %r, ptr %p",
            "%w = getelementptr i8, ptr %r, i64 8\n  %l = load i64, ptr %w",
            "%l = load volatile i32, ptr %n",
            "%l = load atomic i32, ptr %n seq_cst, align 4",
            "%w = getelementptr i8, ptr %at, i64 4\n  store i32 1, ptr %w",
            "call void @llvm.memcpy.p0.p0.i64(ptr %r, ptr %at, i64 4, i1 false)",
            "call void @llvm.memcpy.p0.p0.i64(ptr %r, ptr %p, i64 %i, i1 false)",
            "call void @llvm.memcpy.p0.p0.i64(ptr %r, ptr %p, i64 40, i1 false)",
            "%w = select i1 true, ptr %r, ptr %p\n  store i32 1, ptr %w",
        ] {
            let Some(text) = split(does) else { return };
            assert!(text.contains("alloca %ray"), "{does}: {text}");
        }
    }
}
