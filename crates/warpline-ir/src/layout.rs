//! Data layout: sizes, alignments and offsets, read from LLVM's layout string.

use super::types::{AggregateType, FloatKind, Scalar, Type, TypeTable};

/// Pointer facts of one address space.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct PointerLayout {
    space: u32,
    bits: u32,
    align: u64,
    index_bits: u32,
}

/// Sizes and alignments of types, as LLVM's `target datalayout` states them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataLayout {
    text: Box<str>,
    big_endian: bool,
    pointers: Vec<PointerLayout>,
    /// (bits, ABI alignment in bytes), ascending in bits.
    ints: Vec<(u32, u64)>,
    floats: Vec<(u32, u64)>,
    vectors: Vec<(u32, u64)>,
    aggregate_align: u64,
    stack_space: u32,
}

impl Default for DataLayout {
    /// LLVM's defaults for an empty layout string.
    fn default() -> Self {
        DataLayout {
            text: "".into(),
            big_endian: false,
            pointers: vec![PointerLayout { space: 0, bits: 64, align: 8, index_bits: 64 }],
            ints: vec![(1, 1), (8, 1), (16, 2), (32, 4), (64, 4)],
            floats: vec![(16, 2), (32, 4), (64, 8), (128, 16)],
            vectors: vec![(64, 8), (128, 16)],
            aggregate_align: 1,
            stack_space: 0,
        }
    }
}

fn insert_sorted(list: &mut Vec<(u32, u64)>, bits: u32, align: u64) {
    match list.binary_search_by_key(&bits, |&(b, _)| b) {
        Ok(i) => list[i].1 = align,
        Err(i) => list.insert(i, (bits, align)),
    }
}

impl DataLayout {
    /// Reads LLVM's layout string. Parts that do not concern sizes are skipped; LLVM has checked the text.
    pub fn parse(text: &str) -> DataLayout {
        let mut dl = DataLayout { text: text.into(), ..DataLayout::default() };
        for part in text.split('-').filter(|p| !p.is_empty()) {
            dl.parse_part(part);
        }
        dl
    }

    fn parse_part(&mut self, part: &str) {
        let mut fields = part.split(':');
        let head = fields.next().unwrap_or("");
        let nums: Vec<u64> = fields.filter_map(|f| f.parse().ok()).collect();
        let (kind, rest) = head.split_at(head.chars().next().map_or(0, char::len_utf8));
        let bits: u32 = rest.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0);
        let align = nums.first().map(|a| (a / 8).max(1));
        match (kind, align) {
            ("E", _) => self.big_endian = true,
            ("e", _) => self.big_endian = false,
            ("p", _) if nums.len() >= 2 => {
                let size = nums[0] as u32;
                let layout = PointerLayout {
                    space: bits,
                    bits: size,
                    align: (nums[1] / 8).max(1),
                    index_bits: nums.get(3).map_or(size, |&i| i as u32),
                };
                match self.pointers.iter_mut().find(|p| p.space == bits) {
                    Some(p) => *p = layout,
                    None => self.pointers.push(layout),
                }
            }
            ("i", Some(a)) if bits > 0 => insert_sorted(&mut self.ints, bits, a),
            ("f", Some(a)) if bits > 0 => insert_sorted(&mut self.floats, bits, a),
            ("v", Some(a)) if bits > 0 => insert_sorted(&mut self.vectors, bits, a),
            ("a", Some(a)) => self.aggregate_align = a,
            ("A", _) => self.stack_space = bits,
            _ => {}
        }
    }

    /// x86-64's layout, for modules that are made here and run on such machines.
    pub fn x86_64() -> DataLayout {
        DataLayout::parse("e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128")
    }

    /// Whether all sizes, alignments and offsets are the same as another layout's, whatever the strings say.
    pub fn agrees_with(&self, other: &DataLayout) -> bool {
        let unnamed = |layout: &DataLayout| DataLayout { text: "".into(), ..layout.clone() };
        unnamed(self) == unnamed(other)
    }

    /// The layout string this was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the most significant byte comes first.
    pub fn big_endian(&self) -> bool {
        self.big_endian
    }

    /// The address space that the stack is in, where an `alloca` allocates.
    pub fn stack_space(&self) -> u32 {
        self.stack_space
    }

    fn pointer(&self, space: u32) -> PointerLayout {
        // Address spaces without an entry have the layout of space 0, which is always there.
        self.pointers.iter().copied().find(|p| p.space == space).unwrap_or(self.pointers[0])
    }

    /// Width of a pointer of an address space in bits.
    pub fn pointer_bits(&self, space: u32) -> u32 {
        self.pointer(space).bits
    }

    /// Width of the integers that address arithmetic is done in, in bits.
    pub fn index_bits(&self, space: u32) -> u32 {
        self.pointer(space).index_bits
    }

    /// Width of a scalar in bits.
    pub fn scalar_bits(&self, s: Scalar) -> u32 {
        match s {
            Scalar::Int(w) => w,
            Scalar::Float(k) => k.bits(),
            Scalar::Ptr(a) => self.pointer_bits(a),
        }
    }

    /// Bytes that a store of the type writes; `None` for types without a fixed size.
    pub fn store_size(&self, types: &TypeTable, ty: Type) -> Option<u64> {
        match ty {
            Type::Void | Type::Other(_) => None,
            Type::Vector(v) if v.scalable => None,
            Type::Vector(v) => Some((u64::from(self.scalar_bits(v.elem)) * u64::from(v.lanes)).div_ceil(8)),
            Type::Aggregate(_) => self.alloc_size(types, ty),
            _ => ty.scalar().map(|s| u64::from(self.scalar_bits(s)).div_ceil(8)),
        }
    }

    /// Distance in bytes between consecutive array elements of the type; `None` if it has no fixed size.
    pub fn alloc_size(&self, types: &TypeTable, ty: Type) -> Option<u64> {
        match ty {
            Type::Aggregate(a) => match types.get(a) {
                AggregateType::Array { elem, len } => self.alloc_size(types, *elem)?.checked_mul(*len),
                AggregateType::Struct { .. } => self.struct_layout(types, ty).map(|(size, _)| size),
            },
            _ => self.store_size(types, ty).map(|s| s.next_multiple_of(self.abi_align(types, ty))),
        }
    }

    /// ABI alignment of a type in bytes, at least 1.
    pub fn abi_align(&self, types: &TypeTable, ty: Type) -> u64 {
        match ty {
            Type::Void | Type::Other(_) => 1,
            Type::Int(w) => int_align(&self.ints, w),
            Type::Float(k) => float_align(&self.floats, k),
            Type::Ptr(a) => self.pointer(a).align,
            Type::Vector(v) => {
                let bits = self.scalar_bits(v.elem) * v.lanes;
                match self.vectors.iter().find(|&&(b, _)| b == bits) {
                    Some(&(_, a)) => a,
                    None => u64::from(bits).div_ceil(8).next_power_of_two(),
                }
            }
            Type::Aggregate(a) => match types.get(a) {
                AggregateType::Array { elem, .. } => self.abi_align(types, *elem),
                AggregateType::Struct { packed: true, .. } => 1,
                AggregateType::Struct { fields, .. } => fields
                    .iter()
                    .flatten()
                    .map(|&f| self.abi_align(types, f))
                    .max()
                    .unwrap_or(1)
                    .max(self.aggregate_align),
            },
        }
    }

    /// Size of a structure and the byte offset of each field; `None` for other types and opaque structures.
    pub fn struct_layout(&self, types: &TypeTable, ty: Type) -> Option<(u64, Vec<u64>)> {
        let Type::Aggregate(a) = ty else { return None };
        let AggregateType::Struct { fields: Some(fields), packed, .. } = types.get(a) else { return None };
        let mut offset = 0u64;
        let mut offsets = Vec::with_capacity(fields.len());
        for &f in fields {
            if !packed {
                offset = offset.next_multiple_of(self.abi_align(types, f));
            }
            offsets.push(offset);
            offset = offset.checked_add(self.alloc_size(types, f)?)?;
        }
        Some((offset.next_multiple_of(self.abi_align(types, ty)), offsets))
    }
}

/// LLVM's rule: the entry of exactly this width, else the next wider one, else the widest.
fn int_align(table: &[(u32, u64)], bits: u32) -> u64 {
    table.iter().find(|&&(b, _)| b >= bits).or(table.last()).map_or(1, |&(_, a)| a)
}

fn float_align(table: &[(u32, u64)], kind: FloatKind) -> u64 {
    let bits = kind.bits();
    match table.iter().find(|&&(b, _)| b == bits) {
        Some(&(_, a)) => a,
        None => u64::from(bits).div_ceil(8).next_power_of_two(),
    }
}
