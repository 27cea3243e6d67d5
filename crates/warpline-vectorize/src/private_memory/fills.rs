//! `memset` of private memory, and `memcpy` into it: as stores of granules, which can be laid out for all lanes.

use warpline_ir::{BinaryOp, CastOp, Constant, Function, Inst, MemAccess, Module, Op, Type, Value};

use super::{Places, Writer};

/// So many stores may take the place of one call.
const MAX_STORES: u64 = 64;

/// A call that writes a number of bytes.
#[derive(Clone, Debug)]
pub(super) struct Fill {
    /// The call.
    pub inst: Inst,
    /// Where it writes.
    pub to: Value,
    /// What it writes.
    pub with: With,
    /// How many bytes.
    len: u64,
}

/// What is written.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum With {
    /// This byte, everywhere.
    Byte(Value),
    /// What is at this address.
    Copy(Value),
}

impl Fill {
    /// A call of `memset`, `memcpy` or `memmove` that is not volatile and writes a constant number of bytes.
    pub(super) fn of(module: &Module, func: &Function, inst: Inst) -> Option<Fill> {
        let data = &func.insts[inst];
        let Op::Call(call) = &data.op else { return None };
        let name = &module.symbols[call.callee?].name;
        let &[to, what, len, volatile] = &data.args[..] else { return None };
        let with = match () {
            () if name.starts_with("llvm.memset.") => With::Byte(what),
            () if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") => With::Copy(what),
            () => return None,
        };
        let len = u64::try_from(func.as_int(len)?).ok()?;
        (func.as_int(volatile) == Some(0)).then_some(Fill { inst, to, with, len })
    }

    /// Whether stores of granules can take its place. `same`: the size of all accesses to the object, if they have
    /// one. Only then may bytes be copied together: what is undefined in one of them makes the whole granule so, and
    /// it is read as a whole.
    pub(super) fn fits(&self, granule: u64, same: Option<u64>, places: &Places) -> bool {
        let unit = unit(granule);
        let copies = match self.with {
            With::Byte(_) => true,
            With::Copy(_) => same == Some(granule) && unit == granule,
        };
        let whole = self.len.is_multiple_of(granule) && self.len / unit <= MAX_STORES;
        copies && whole && places[self.to] == Some(0)
    }

    /// Makes the stores, for every W-th granule of the object. They are not in a block yet.
    pub(super) fn spread(&self, func: &mut Function, granule: u64, width: u64) -> Vec<Inst> {
        let unit = unit(granule);
        let ty = Type::Int(unit as u32 * 8);
        let count = self.len / unit;
        let mut writer = Writer::before(func, self.inst);
        let values: Vec<Value> = match self.with {
            With::Byte(byte) => vec![writer.repeated(byte, ty); count as usize],
            With::Copy(from) => (0..count)
                .map(|k| {
                    let address = writer.offset(from, (k * unit) as i64);
                    writer.value(Op::Load(MemAccess::plain(1)), &[address], ty)
                })
                .collect(),
        };
        for (k, value) in (0..).zip(values) {
            let (number, rest) = (k * unit / granule, k * unit % granule);
            let address = writer.offset(self.to, (number * granule * width + rest) as i64);
            writer.inst(Op::Store(MemAccess::plain(unit)), &[value, address], &[]);
        }
        writer.new
    }
}

impl Writer<'_> {
    /// A byte in all bytes of an integer.
    fn repeated(&mut self, byte: Value, ty: Type) -> Value {
        let bits = ty.int_bits().unwrap_or(8);
        if let Some(c) = self.func.as_int(byte) {
            return self.func.constant_value(Constant::int(bits, (c & 0xff) * ONES));
        }
        if bits == 8 {
            return byte;
        }
        let wide = self.value(Op::Cast(CastOp::ZExt), &[byte], ty);
        let ones = self.func.int_const(bits, ONES);
        self.value(Op::Binary(BinaryOp::Mul), &[wide, ones], ty)
    }
}

/// One in every byte.
const ONES: u128 = 0x0101_0101_0101_0101;

/// How many bytes are stored together.
fn unit(granule: u64) -> u64 {
    1 << granule.trailing_zeros().min(3)
}
