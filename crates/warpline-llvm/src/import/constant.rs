//! Constants, and the contents of global variables.

use crate::ffi::types::LLVMOpcode as Opcode;
use crate::ffi::types::*;
use warpline_ir::{AggregateType, Constant, FloatKind, InitialAddress, Type};

use super::Imported;
use crate::ffi::load::functions;
use crate::module::take_message;

/// Aggregates with more elements than this are carried, not taken apart.
const MAX_ELEMENTS: u64 = 4096;
/// Global variables larger than this, in bytes, have contents that are not looked at.
const MAX_BYTES: u64 = 1 << 20;

impl Imported {
    /// Any operand that is not local to a function: a constant, inline assembly, or metadata.
    pub(super) fn constant(&mut self, value: LLVMValueRef) -> Constant {
        let f = functions();
        // SAFETY: a live value of the module; questions are asked of the kinds of value they are for.
        unsafe {
            let llvm_type = f.LLVMTypeOf(value);
            let ty = self.bridge.import_type(llvm_type, &mut self.ir.types);
            if f.LLVMIsConstant(value) == 0 {
                return self.carried(value, ty);
            }
            if f.LLVMIsPoison(value) != 0 {
                return Constant::Poison(ty);
            }
            if f.LLVMIsUndef(value) != 0 {
                return Constant::Undef(ty);
            }
            match ty {
                Type::Int(bits) if !f.LLVMIsAConstantInt(value).is_null() => integer(value, bits),
                Type::Float(kind) if !f.LLVMIsAConstantFP(value).is_null() => self.float(value, kind),
                Type::Ptr(space) if !f.LLVMIsAConstantPointerNull(value).is_null() => Constant::Null(space),
                Type::Ptr(space) => self.address(value, space),
                Type::Vector(_) | Type::Aggregate(_) => self.composite(value, ty),
                _ => self.carried(value, ty),
            }
        }
    }

    fn carried(&mut self, value: LLVMValueRef, ty: Type) -> Constant {
        Constant::Opaque { ty, origin: self.bridge.origin(value) }
    }

    /// The bits of a floating-point constant: LLVM folds the cast to an integer, which works for every format and
    /// every NaN.
    fn float(&mut self, value: LLVMValueRef, kind: FloatKind) -> Constant {
        let f = functions();
        // SAFETY: a live constant of `kind`; the integer type has its width.
        unsafe {
            let bits = kind.bits();
            let ty = f.LLVMIntTypeInContext(self.bridge.module.context(), bits);
            match integer(f.LLVMConstBitCast(value, ty), bits) {
                Constant::Int { value, .. } => Constant::Float { kind, bits: value },
                _ => self.carried(value, Type::Float(kind)),
            }
        }
    }

    /// A pointer constant that is not null: a symbol, a symbol and an offset in bytes, or something carried.
    fn address(&mut self, value: LLVMValueRef, space: u32) -> Constant {
        if let Some(&symbol) = self.bridge.symbols.get(&value) {
            return Constant::Address { symbol, offset: 0, space, origin: None };
        }
        if let Some((symbol, offset)) = self.symbol_and_offset(value, 0) {
            let origin = Some(self.bridge.origin(value));
            return Constant::Address { symbol, offset, space, origin };
        }
        self.carried(value, Type::Ptr(space))
    }

    /// The symbol whose address `getelementptr` with numbers begins with, and the distance from it in bytes.
    fn symbol_and_offset(&mut self, value: LLVMValueRef, depth: u32) -> Option<(warpline_ir::Symbol, i64)> {
        const MAX_DEPTH: u32 = 8;
        if let Some(&symbol) = self.bridge.symbols.get(&value) {
            return Some((symbol, 0));
        }
        let f = functions();
        // SAFETY: a live constant; operands are asked of the expressions that have them, and numbers of numbers.
        let (base, element, indices) = unsafe {
            let is_gep = !f.LLVMIsAConstantExpr(value).is_null()
                && f.LLVMGetConstOpcode(value) == Opcode::LLVMGetElementPtr as u32;
            if !is_gep || depth > MAX_DEPTH {
                return None;
            }
            let operands = (0..f.LLVMGetNumOperands(value) as u32).map(|i| f.LLVMGetOperand(value, i));
            let operands: Vec<LLVMValueRef> = operands.collect();
            let (&base, indices) = operands.split_first()?;
            let is_number = |&&index: &&LLVMValueRef| {
                !f.LLVMIsAConstantInt(index).is_null() && f.LLVMGetIntTypeWidth(f.LLVMTypeOf(index)) <= 64
            };
            if !indices.iter().all(|index| is_number(&index)) {
                return None;
            }
            let indices: Vec<i64> = indices.iter().map(|&index| f.LLVMConstIntGetSExtValue(index)).collect();
            (base, f.LLVMGetGEPSourceElementType(value), indices)
        };
        let mut container = self.bridge.import_type(element, &mut self.ir.types);
        let (symbol, mut offset) = self.symbol_and_offset(base, depth + 1)?;
        for (position, &index) in indices.iter().enumerate() {
            if position > 0
                && let Type::Aggregate(a) = container
                && let AggregateType::Struct { .. } = self.ir.types.get(a)
            {
                let member = u64::try_from(index).ok()?;
                let (_, offsets) = self.ir.layout.struct_layout(&self.ir.types, container)?;
                offset =
                    offset.checked_add(i64::try_from(*offsets.get(usize::try_from(member).ok()?)?).ok()?)?;
                container = self.ir.types.member(container, member)?;
                continue;
            }
            if position > 0 {
                let Type::Aggregate(a) = container else { return None };
                let AggregateType::Array { elem, .. } = self.ir.types.get(a) else { return None };
                container = *elem;
            }
            let size = i64::try_from(self.ir.layout.alloc_size(&self.ir.types, container)?).ok()?;
            offset = offset.checked_add(index.checked_mul(size)?)?;
        }
        Some((symbol, offset))
    }

    fn composite(&mut self, value: LLVMValueRef, ty: Type) -> Constant {
        let f = functions();
        // SAFETY: a live constant; an element is asked for only if the type has it.
        unsafe {
            if !f.LLVMIsAConstantAggregateZero(value).is_null() {
                return Constant::Zero(ty);
            }
            let count = match ty {
                Type::Vector(vector) if !vector.scalable => Some(u64::from(vector.lanes)),
                Type::Aggregate(aggregate) => match self.ir.types.get(aggregate) {
                    AggregateType::Array { len, .. } => Some(*len),
                    AggregateType::Struct { fields, .. } => fields.as_ref().map(|fields| fields.len() as u64),
                },
                _ => None,
            };
            let expression = !f.LLVMIsAConstantExpr(value).is_null();
            let Some(count) = count.filter(|&count| count <= MAX_ELEMENTS && !expression) else {
                return self.carried(value, ty);
            };
            let mut elems = Vec::with_capacity(count as usize);
            for i in 0..count as u32 {
                let element = f.LLVMGetAggregateElement(value, i);
                if element.is_null() {
                    return self.carried(value, ty);
                }
                elems.push(self.constant(element));
            }
            Constant::Composite { ty, elems }
        }
    }

    /// The initial contents of a variable in memory order, if they hold no address and nothing undefined matters.
    pub(super) fn initial_bytes(&mut self, global: LLVMValueRef, ty: Type) -> Option<Vec<u8>> {
        let f = functions();
        let size = self.ir.layout.alloc_size(&self.ir.types, ty).filter(|&size| size <= MAX_BYTES)?;
        let mut bytes = vec![0; size as usize];
        // SAFETY: a live global variable.
        let initial = unsafe { f.LLVMGetInitializer(global) };
        if initial.is_null() {
            return None;
        }
        self.write_bytes(initial, ty, &mut bytes).then_some(bytes)
    }

    /// The addresses in the initial contents of a variable, if all that is in them is known.
    pub(super) fn initial_addresses(
        &mut self,
        global: LLVMValueRef,
        ty: Type,
    ) -> Option<Vec<InitialAddress>> {
        let f = functions();
        self.ir.layout.alloc_size(&self.ir.types, ty).filter(|&size| size <= MAX_BYTES)?;
        // SAFETY: a live global variable.
        let initial = unsafe { f.LLVMGetInitializer(global) };
        let mut found = Vec::new();
        (!initial.is_null() && self.find_addresses(initial, ty, 0, &mut found)).then_some(found)
    }

    /// Finds the addresses in a constant that lies at a distance; false if there may be others.
    fn find_addresses(
        &mut self,
        value: LLVMValueRef,
        ty: Type,
        at: u64,
        found: &mut Vec<InitialAddress>,
    ) -> bool {
        let f = functions();
        // SAFETY: a live constant of type `ty`; an element is asked for only if the type has it.
        unsafe {
            let has_none = f.LLVMIsNull(value) != 0
                || f.LLVMIsUndef(value) != 0
                || !f.LLVMIsAConstantDataSequential(value).is_null()
                || !f.LLVMIsAConstantInt(value).is_null()
                || !f.LLVMIsAConstantFP(value).is_null();
            if has_none {
                return true;
            }
            let Type::Aggregate(_) = ty else {
                let address = if ty.is_ptr() { self.symbol_and_offset(value, 0) } else { None };
                found.extend(address.map(|(symbol, offset)| InitialAddress { at, symbol, offset }));
                return address.is_some();
            };
            for (i, (member, offset)) in self.members(ty).into_iter().enumerate() {
                let element = f.LLVMGetAggregateElement(value, i as u32);
                let Some(offset) = offset.filter(|_| !element.is_null()) else { return false };
                if !self.find_addresses(element, member, at + offset, found) {
                    return false;
                }
            }
            true
        }
    }

    /// The members of an array or structure, each with its distance from the start, if that is known.
    fn members(&self, ty: Type) -> Vec<(Type, Option<u64>)> {
        let (types, layout) = (&self.ir.types, &self.ir.layout);
        let Type::Aggregate(aggregate) = ty else { return Vec::new() };
        match types.get(aggregate) {
            &AggregateType::Array { elem, len } => {
                let size = layout.alloc_size(types, elem);
                (0..len).map(|i| (elem, size.map(|size| i * size))).collect()
            }
            AggregateType::Struct { fields, .. } => {
                let offsets = layout.struct_layout(types, ty).map(|(_, offsets)| offsets).unwrap_or_default();
                let fields = fields.as_deref().unwrap_or_default();
                fields.iter().enumerate().map(|(i, &field)| (field, offsets.get(i).copied())).collect()
            }
        }
    }

    /// Writes a constant at the start of `out`; false if it has no fixed bytes.
    fn write_bytes(&mut self, value: LLVMValueRef, ty: Type, out: &mut [u8]) -> bool {
        let f = functions();
        // SAFETY: a live constant of type `ty`; questions are asked of the kinds of value they are for.
        unsafe {
            if f.LLVMIsNull(value) != 0 {
                return true;
            }
            match ty {
                Type::Int(_) | Type::Float(_) => {
                    let words = match self.constant(value) {
                        Constant::Int { value, .. } | Constant::Float { bits: value, .. } => {
                            vec![value as u64, (value >> 64) as u64]
                        }
                        Constant::WideInt { words, .. } => words,
                        _ => return false,
                    };
                    let Some(size) = self.ir.layout.store_size(&self.ir.types, ty) else { return false };
                    let Some(out) = out.get_mut(..size as usize) else { return false };
                    let little = words.iter().flat_map(|word| word.to_le_bytes());
                    if self.ir.layout.big_endian() {
                        out.iter_mut().rev().zip(little).for_each(|(byte, value)| *byte = value);
                    } else {
                        out.iter_mut().zip(little).for_each(|(byte, value)| *byte = value);
                    }
                    true
                }
                Type::Aggregate(_) => {
                    for (i, (member, offset)) in self.members(ty).into_iter().enumerate() {
                        let element = f.LLVMGetAggregateElement(value, i as u32);
                        let Some(out) = offset.and_then(|offset| out.get_mut(offset as usize..)) else {
                            return false;
                        };
                        if element.is_null() || !self.write_bytes(element, member, out) {
                            return false;
                        }
                    }
                    true
                }
                _ => false,
            }
        }
    }
}

/// An integer constant of any width. LLVM has no getter for more than 64 bits, but prints all of them.
fn integer(value: LLVMValueRef, bits: u32) -> Constant {
    let f = functions();
    // SAFETY: a live integer constant.
    unsafe {
        if bits <= 64 {
            return Constant::int(bits, u128::from(f.LLVMConstIntGetZExtValue(value)));
        }
        let text = take_message(f.LLVMPrintValueToString(value));
        let words = parse_decimal(text.rsplit(' ').next().unwrap_or("0"), bits);
        if bits <= 128 {
            let (low, high) = (words[0], words.get(1).copied().unwrap_or(0));
            Constant::int(bits, u128::from(low) | u128::from(high) << 64)
        } else {
            Constant::WideInt { bits, words }
        }
    }
}

/// The two's complement words of a signed decimal number, cut to `bits`.
fn parse_decimal(text: &str, bits: u32) -> Vec<u64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let mut words = vec![0u64; bits.div_ceil(64) as usize];
    for digit in digits.bytes().filter(u8::is_ascii_digit) {
        let mut carry = u128::from(digit - b'0');
        for word in &mut words {
            let product = u128::from(*word) * 10 + carry;
            *word = product as u64;
            carry = product >> 64;
        }
    }
    if negative {
        let mut carry = true;
        for word in &mut words {
            let (sum, overflow) = (!*word).overflowing_add(u64::from(carry));
            *word = sum;
            carry = overflow;
        }
    }
    if let (Some(last), 1..) = (words.last_mut(), bits % 64) {
        *last &= (1 << (bits % 64)) - 1;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::parse_decimal;

    #[test]
    fn decimal_text_becomes_twos_complement_words() {
        assert_eq!(parse_decimal("18446744073709551617", 65), [1, 1]);
        assert_eq!(parse_decimal("-1", 65), [u64::MAX, 1]);
        assert_eq!(parse_decimal("-2", 130), [u64::MAX - 1, u64::MAX, 3]);
        assert_eq!(parse_decimal("0", 96), [0, 0]);
    }
}
