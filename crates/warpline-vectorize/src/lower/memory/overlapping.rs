//! Accesses of which neighbouring lanes' overlap, as their [recipe](crate::recipes) says.

use crate::VectorizeError;
use crate::alignment::at_distance;
use crate::recipes::{Overlapping, StoredBytes};
use warpline_ir::{CastOp, Constant, Inst, MemAccess, Op, Type, Value};

use super::super::Lower;

impl Lower<'_> {
    /// Loads an element for each lane.
    pub(in crate::lower) fn load_overlapping(
        &mut self,
        i: Inst,
        how: &Overlapping,
    ) -> Result<(), VectorizeError> {
        let (access, address, result) = self.parts_of_load(i)?;
        let elem = self.element_in_memory(self.src.ty(result), i)?;
        let ptr = self.scalar(address, i)?;
        let mut registers = Vec::new();
        for r in 0..how.registers() {
            let made = how.load(r);
            let loaded = bytes(how.register_bytes() / made.at.len() as u64);
            let mask = made.masked.map(|len| self.first_bytes(len, how.register_bytes()));
            let parts: Vec<Value> =
                made.at.iter().map(|&at| self.load_bytes(ptr, access, at, loaded, mask, i)).collect();
            let mut register = self.joined(parts);
            for shuffle in &made.shuffles {
                register = self.shuffled_bytes(register, shuffle.iter().map(|&from| Some(from)));
            }
            registers.push(register);
        }
        let all = self.joined(registers);
        let vty = elem.vector(self.width).expect("memory elements are scalars");
        let loaded = self.emit(Op::Cast(CastOp::Bitcast), &[all], vty);
        self.define_loaded(i, loaded, elem, result)
    }

    /// Stores each lane's element.
    pub(in crate::lower) fn store_overlapping(
        &mut self,
        i: Inst,
        how: &Overlapping,
    ) -> Result<(), VectorizeError> {
        let (access, value, address) = self.parts_of_store(i)?;
        let (x, _) = self.stored(i, value)?;
        let ptr = self.scalar(address, i)?;
        let all = self.emit(Op::Cast(CastOp::Bitcast), &[x], bytes(how.registers() * how.register_bytes()));
        for r in 0..how.registers() {
            let first = r * how.register_bytes();
            let mut register = self.lanes_from(all, first as u32, bytes(how.register_bytes()));
            let made = how.store(r);
            for shuffle in &made.shuffles {
                register = self.shuffled_bytes(register, shuffle.iter().copied());
            }
            // Bytes that are written again later may be anything, but no poison: that would spread over integers.
            let register = self.emit(Op::Freeze, &[register], bytes(how.register_bytes()));
            for &stored in &made.stores {
                self.store_bytes(register, ptr, access, stored, i);
            }
        }
        Ok(())
    }

    /// Loads bytes so far behind a pointer.
    fn load_bytes(
        &mut self,
        ptr: Value,
        access: MemAccess,
        at: u64,
        ty: Type,
        mask: Option<Value>,
        i: Inst,
    ) -> Value {
        let access = MemAccess { align: at_distance(access.align, at as i64), ..access };
        let ptr = self.offset_by(ptr, at as i64);
        if let Some(mask) = mask {
            return self.masked_load("llvm.masked.load", ptr, access, mask, ty, i);
        }
        let new = self.out.append(self.block, Op::Load(access), &[ptr], ty);
        self.copy_metadata(i, new);
        self.out.insts[new].results[0]
    }

    /// Stores some bytes of a register.
    fn store_bytes(&mut self, register: Value, ptr: Value, access: MemAccess, stored: StoredBytes, i: Inst) {
        let access = MemAccess { align: at_distance(access.align, stored.at as i64), ..access };
        let ptr = self.offset_by(ptr, stored.at as i64);
        if let Some(of) = stored.masked {
            let mask = self.first_bytes(stored.len, of);
            self.masked_store("llvm.masked.store", register, ptr, access, mask, i);
            return;
        }
        let part = self.lanes_from(register, stored.from as u32, bytes(stored.len));
        // What is stored as a vector of few bytes would be scalarized.
        let part = match stored.len {
            1 | 2 | 4 | 8 => self.emit(Op::Cast(CastOp::Bitcast), &[part], Type::Int(8 * stored.len as u32)),
            _ => part,
        };
        let new = self.emit_void(Op::Store(access), &[part, ptr]);
        self.copy_metadata(i, new);
    }

    /// The mask of the first bytes of a register.
    fn first_bytes(&mut self, len: u64, of: u64) -> Value {
        let bits = (0..of).map(|byte| Constant::int(1, u128::from(byte < len)));
        self.out.constant_value(Constant::vector(bits.collect()))
    }

    /// The bytes of a vector in another order.
    fn shuffled_bytes(&mut self, x: Value, from: impl Iterator<Item = Option<u64>>) -> Value {
        let ty = self.out.ty(x);
        let nothing = self.out.poison(ty);
        let places = from.map(|place| place.map_or(-1, |place| place as i32)).collect();
        self.emit(Op::Shuffle(places), &[x, nothing], ty)
    }
}

/// A vector of so many bytes.
fn bytes(n: u64) -> Type {
    Type::Int(8).vector(n as u32).expect("an integer is a scalar")
}
