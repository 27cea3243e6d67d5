//! Arrays in memory and the vectors of a W-lane function: scalars side by side are loaded and stored at once, of
//! everything else each member of each lane by itself.

use crate::alignment::at_distance;
use crate::lower::vector_form;
use warpline_ir::{MemAccess, Module, Op, Type, Value};

use crate::builder::Builder;

/// Whether W elements of an array are a vector in memory.
fn is_vector(module: &Module, ty: Type) -> bool {
    let Some(scalar) = ty.scalar() else { return false };
    let bits = u64::from(module.layout.scalar_bits(scalar));
    let size = module.layout.alloc_size(&module.types, ty);
    ty == Type::BOOL || size.is_some_and(|s| s * 8 == bits && s.is_power_of_two())
}

/// How much further the next member is than this one.
struct Members {
    ty: Type,
    offset: u64,
}

/// The members of a structure, array or vector with their offsets; none for a scalar.
fn members(module: &Module, ty: Type) -> Vec<Members> {
    let offsets = module.layout.struct_layout(&module.types, ty).map(|(_, offsets)| offsets);
    let mut all = Vec::new();
    while let Some(member) = module.types.member(ty, all.len() as u64) {
        let k = all.len() as u64;
        let size = match member.scalar() {
            Some(s) if matches!(ty, Type::Vector(_)) => u64::from(module.layout.scalar_bits(s)) / 8,
            _ => module.layout.alloc_size(&module.types, member).unwrap_or(0),
        };
        let offset = offsets.as_ref().map_or(k * size, |o| o[k as usize]);
        all.push(Members { ty: member, offset });
    }
    all
}

/// Where the members of all lanes are.
#[derive(Copy, Clone)]
struct Place {
    /// The first lane's element.
    base: Value,
    /// The distance between lanes in bytes.
    stride: u64,
    /// The alignment of an element.
    align: u64,
    width: u32,
}

impl Builder<'_> {
    /// Loads W elements of an array into the form that a W-lane function takes.
    pub(super) fn load_lanes(&mut self, ptr: Value, ty: Type, width: u32) -> Value {
        if is_vector(self.module, ty) {
            return self.load(ptr, ty, Some(width));
        }
        let place = self.place(ptr, ty, width);
        self.load_members(place, ty, 0)
    }

    /// Stores what a W-lane function returned, or W times the same value of type `ty`.
    pub(super) fn store_lanes(&mut self, ptr: Value, x: Value, ty: Type, width: u32) {
        let same = self.func.ty(x) == ty;
        if is_vector(self.module, ty) {
            let x = if same { self.splat(x, width) } else { x };
            return self.store(ptr, x, ty);
        }
        let place = self.place(ptr, ty, width);
        self.store_members(place, x, ty, 0, same);
    }

    fn place(&self, base: Value, ty: Type, width: u32) -> Place {
        let (layout, types) = (&self.module.layout, &self.module.types);
        let stride = layout.alloc_size(types, ty).unwrap_or(0);
        Place { base, stride, align: layout.abi_align(types, ty), width }
    }

    fn load_members(&mut self, place: Place, ty: Type, offset: u64) -> Value {
        let form = vector_form(&mut self.module.types, ty, place.width);
        let mut whole = self.func.poison(form.expect("the type was found to have arrays"));
        let form = self.func.ty(whole);
        if ty.scalar().is_none() {
            for (k, member) in members(self.module, ty).into_iter().enumerate() {
                let part = self.load_members(place, member.ty, offset + member.offset);
                whole = self.value(Op::InsertValue([k as u32].into()), &[whole, part], form);
            }
            return whole;
        }
        for lane in 0..place.width {
            let (at, access) = self.lane_member(place, lane, offset);
            let memory = if ty == Type::BOOL { Type::Int(8) } else { ty };
            let x = self.value(Op::Load(access), &[at], memory);
            let x = self.cast(warpline_ir::CastOp::Trunc, x, ty);
            let index = self.int(32, lane.into());
            whole = self.value(Op::InsertElement, &[whole, x, index], form);
        }
        whole
    }

    fn store_members(&mut self, place: Place, x: Value, ty: Type, offset: u64, same: bool) {
        if ty.scalar().is_none() {
            for (k, member) in members(self.module, ty).into_iter().enumerate() {
                let part = self.part(x, k as u32);
                self.store_members(place, part, member.ty, offset + member.offset, same);
            }
            return;
        }
        for lane in 0..place.width {
            let (at, access) = self.lane_member(place, lane, offset);
            let mut one = if same { x } else { self.part(x, lane) };
            if ty == Type::BOOL {
                one = self.cast(warpline_ir::CastOp::ZExt, one, Type::Int(8));
            }
            self.func.append(self.at, Op::Store(access), &[one, at], Type::Void);
        }
    }

    /// Member `k` of an aggregate, element `k` of a vector.
    fn part(&mut self, x: Value, k: u32) -> Value {
        let whole = self.func.ty(x);
        let ty = self.module.types.member(whole, k.into()).expect("the value has the form of its type");
        match whole {
            Type::Vector(_) => {
                let index = self.int(32, k.into());
                self.value(Op::ExtractElement, &[x, index], ty)
            }
            _ => self.value(Op::ExtractValue([k].into()), &[x], ty),
        }
    }

    /// The address of a lane's member, and how it is accessed.
    fn lane_member(&mut self, place: Place, lane: u32, offset: u64) -> (Value, MemAccess) {
        let distance = u64::from(lane) * place.stride + offset;
        let by = self.int(64, distance as i64);
        let align = at_distance(place.align, distance as i64);
        (self.element(place.base, Type::Int(8), by), MemAccess::plain(align))
    }
}
