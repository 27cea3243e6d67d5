//! Loads and stores: buffers that are parameters, private arrays, and addresses that stay inside of them.

use warpline_ir::*;

use super::fill::{ANY, Avail, CLEAN, Filler, UNIFORM};
use super::{MAX_INDEX, MemoryMode, READ_ONLY, SLOTS};

/// Elements of private arrays.
const PRIVATE_ELEMENTS: u64 = 4;

/// A buffer parameter.
#[derive(Copy, Clone)]
pub(super) struct Buffer {
    pub base: Value,
    pub elem: Type,
    /// How its elements are addressed.
    pub kind: BufferKind,
    /// Whether it holds defined values only.
    pub clean: bool,
    /// If its elements are a field of structures: the type of these, and which field.
    pub field: Option<(Type, u32)>,
    /// The address space.
    pub space: u32,
}

#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum BufferKind {
    ReadOnly,
    /// As `ReadOnly`, with as many elements per index as buffers that are written have.
    Fields,
    /// Slots of the own index, read too.
    Private,
    /// As `Private`, the slots of the greatest index first.
    Backwards,
    /// Slots of the own index, never read.
    Sink,
    /// Only read: rows and columns, by two indices.
    Rows,
    /// Columns of the own index, the last one first if `backwards`: row by row, the elements of neighbours lie side
    /// by side.
    Columns {
        /// Whether the column of the greatest index is the first.
        backwards: bool,
    },
    /// A structure or array for each index.
    Whole,
    /// Anywhere.
    Shared,
    /// Anywhere, by atomic operations that commute.
    Counters,
    /// An `alloca` of four elements of which all lanes store and load the same ones, and the same things.
    Common,
    /// An `alloca`.
    Local,
}

impl Buffer {
    fn is_read_only(&self) -> bool {
        matches!(self.kind, BufferKind::ReadOnly | BufferKind::Fields | BufferKind::Rows)
    }
}

impl Filler<'_> {
    /// A private array of four integers, initialised.
    pub(super) fn local(&mut self, entry: Block) {
        // Where lanes are to meet in the shared buffer, nothing else should draw accesses away.
        let common = self.options.memory != MemoryMode::Racy && self.rng.chance(1, 2);
        let kind = if common { BufferKind::Common } else { BufferKind::Local };
        let ty = self.module.types.array(Type::Int(32), 4);
        let one = self.f.int_const(32, 1);
        let base = self.f.append_value(entry, Op::Alloca { ty, align: 4 }, &[one], Type::PTR);
        for k in 0..4 {
            let offset = self.f.int_const(64, k);
            let at = self.f.append_value(entry, Op::Gep(Type::Int(32)), &[base, offset], Type::PTR);
            let v = match kind {
                BufferKind::Common => self.f.int_const(32, k),
                _ => self.pick(entry, Type::Int(32), CLEAN).value,
            };
            self.f.append(entry, Op::Store(MemAccess::plain(4)), &[v, at], Type::Void);
        }
        self.buffers.push(Buffer { base, elem: Type::Int(32), kind, clean: true, field: None, space: 0 });
    }

    /// Private arrays of several types, structures among them, initialised.
    pub(super) fn private_arrays(&mut self, entry: Block) {
        let types = [Type::Int(8), Type::Int(16), Type::Int(64), Type::F32, Type::F64];
        for _ in 0..self.rng.below(3) {
            let mut fields = vec![*self.rng.pick(&types)];
            if self.rng.chance(1, 3) {
                fields.push(*self.rng.pick(&types));
            }
            let elem = if fields.len() == 1 {
                fields[0]
            } else {
                self.module.types.structure(fields.clone(), false)
            };
            let ty = self.module.types.array(elem, PRIVATE_ELEMENTS);
            let one = self.f.int_const(32, 1);
            let base = self.f.append_value(entry, Op::Alloca { ty, align: 8 }, &[one], Type::PTR);
            let bytes = self.module.layout.alloc_size(&self.module.types, ty).expect("arrays have a size");
            let whole = self.rng.chance(1, 3) && self.bulk(entry, base, bytes);
            for (n, &ty) in fields.iter().enumerate() {
                let field = (fields.len() > 1).then_some((elem, n as u32));
                let buffer = Buffer { base, elem: ty, kind: BufferKind::Local, clean: true, field, space: 0 };
                self.buffers.push(buffer);
                if whole {
                    continue;
                }
                for k in 0..PRIVATE_ELEMENTS {
                    let index = self.f.int_const(32, k.into());
                    let at = self.element(entry, &buffer, index);
                    let v = self.pick(entry, ty, CLEAN).value;
                    self.f.append(entry, Op::Store(MemAccess::plain(size(ty))), &[v, at], Type::Void);
                }
            }
        }
    }

    /// `memset`, or a `memcpy` from a buffer that is only read and of which all is defined. False if none was made,
    /// or not of all bytes.
    fn bulk(&mut self, b: Block, to: Value, bytes: u64) -> bool {
        let suits = |x: &Buffer| x.is_read_only() && x.elem != Type::BOOL;
        let from: Vec<Buffer> = self.buffers.iter().copied().filter(suits).collect();
        let space = |this: &Self, v| match this.f.ty(v) {
            Type::Ptr(space) => space,
            _ => 0,
        };
        let (name, what) = match self.rng.chance(1, 2) {
            true => ("memset".to_owned(), self.pick(b, Type::Int(8), CLEAN).value),
            // The smallest buffers have 256 bytes.
            false if bytes <= 128 && !from.is_empty() => {
                let k = self.f.int_const(64, self.rng.below(128) as u128);
                let base = self.rng.pick(&from).base;
                let from = self.gep(b, Type::Int(8), &[base, k]);
                let name = *self.rng.pick(&["memcpy", "memmove"]);
                (format!("{name}.p{}", space(self, to)), from)
            }
            false => return false,
        };
        let partly = self.options.sizes && self.rng.chance(1, 2);
        let len = if partly {
            let want = if self.rng.chance(1, 2) { UNIFORM } else { CLEAN };
            let x = self.pick(b, Type::Int(64), want);
            // The greatest power of two of bytes.
            self.int(b, x, (1u128 << bytes.ilog2()) - 1).value
        } else {
            self.f.int_const(64, bytes.into())
        };
        let of = if self.f.ty(what).is_ptr() { what } else { to };
        let name = format!("llvm.{name}.p{}.i64", space(self, of));
        self.bulk_call(b, &name, [to, what, len]);
        !partly
    }

    /// A call of `memset` or its kin.
    pub(super) fn bulk_call(&mut self, b: Block, name: &str, [to, what, len]: [Value; 3]) {
        let plain = self.f.bool_const(false);
        let args = [to, what, len, plain];
        let params: Vec<Type> = args.iter().map(|&a| self.f.ty(a)).collect();
        let effects = Effects::READS | Effects::WRITES | Effects::TRAPS | Effects::ARG_MEMORY_ONLY;
        let symbol = self.module.function_symbol(name, &params, Type::Void, effects);
        let info = CallInfo { callee: Some(symbol), effects, variadic_fixed: None };
        self.f.append(b, Op::Call(Box::new(info)), &args, Type::Void);
    }

    /// `memset` or `memcpy` of all slots of the index, or of a private array.
    pub(super) fn bulk_anywhere(&mut self, b: Block) {
        let fits = |x: &Buffer| {
            let owned = matches!(x.kind, BufferKind::Private | BufferKind::Backwards | BufferKind::Sink)
                && x.elem != Type::BOOL;
            (owned && self.index.is_some()) || (x.kind == BufferKind::Local && x.field.is_none())
        };
        let buffers: Vec<Buffer> = self.buffers.iter().copied().filter(fits).collect();
        if buffers.is_empty() {
            return;
        }
        let buffer = *self.rng.pick(&buffers);
        let bytes = SLOTS * size(buffer.elem);
        let to = match (buffer.kind, self.index) {
            (BufferKind::Local, _) => buffer.base,
            (_, Some(i)) => {
                let structure = self.structure(b, &buffer, i);
                let ty = self.module.types.array(buffer.elem, SLOTS);
                self.gep(b, ty, &[buffer.base, structure])
            }
            _ => return,
        };
        self.bulk(b, to, bytes);
    }

    /// A pointer into a buffer.
    pub(super) fn gep(&mut self, b: Block, ty: Type, args: &[Value]) -> Value {
        let pointer = self.f.ty(args[0]);
        self.f.append_value(b, Op::Gep(ty), args, pointer)
    }

    /// The address of an element.
    fn element(&mut self, b: Block, buffer: &Buffer, index: Value) -> Value {
        match buffer.field {
            Some((ty, n)) => {
                let n = self.f.int_const(32, n.into());
                self.gep(b, ty, &[buffer.base, index, n])
            }
            None => self.gep(b, buffer.elem, &[buffer.base, index]),
        }
    }

    pub(super) fn load(&mut self, b: Block) {
        let readable: Vec<Buffer> = self
            .buffers
            .iter()
            .copied()
            .filter(|x| !matches!(x.kind, BufferKind::Sink | BufferKind::Counters | BufferKind::Whole))
            .collect();
        if readable.is_empty() {
            return;
        }
        let buffer = self.pick_buffer(&readable);
        let (mut address, mut uniform) = self.address(b, &buffer);
        if self.rng.chance(1, 10) {
            // One of two addresses.
            let same: Vec<Buffer> = readable
                .iter()
                .copied()
                .filter(|x| (x.elem, x.space) == (buffer.elem, buffer.space))
                .collect();
            let buffer = *self.rng.pick(&same);
            let (other, other_uniform) = self.address(b, &buffer);
            let c = self.pick(b, Type::BOOL, CLEAN);
            address = self.f.append_value(b, Op::Select, &[c.value, address, other], self.f.ty(address));
            uniform &= other_uniform && c.uniform;
        }
        let access = MemAccess::plain(size(buffer.elem));
        self.emit(b, Op::Load(access), &[address], buffer.elem, buffer.clean, uniform);
    }

    /// One of these; common memory more often, since only stores and loads that meet there tell anything.
    fn pick_buffer(&mut self, buffers: &[Buffer]) -> Buffer {
        match buffers.iter().find(|x| x.kind == BufferKind::Common) {
            Some(common) if self.rng.chance(1, 2) => *common,
            _ => *self.rng.pick(buffers),
        }
    }

    pub(super) fn store(&mut self, b: Block) {
        let writable: Vec<Buffer> = self
            .buffers
            .iter()
            .copied()
            .filter(|x| !x.is_read_only() && !matches!(x.kind, BufferKind::Counters | BufferKind::Whole))
            .collect();
        if writable.is_empty() {
            return;
        }
        let buffer = self.pick_buffer(&writable);
        let (address, _) = self.address(b, &buffer);
        let want = if buffer.clean { CLEAN } else { ANY };
        let v = match buffer.kind {
            BufferKind::Common => self.f.int_const(32, self.rng.below(100) as u128),
            _ => self.pick(b, buffer.elem, want).value,
        };
        let mut access = MemAccess::plain(size(buffer.elem));
        access.is_volatile =
            self.options.effects && buffer.kind == BufferKind::Private && self.rng.chance(1, 12);
        self.f.append(b, Op::Store(access), &[v, address], Type::Void);
    }

    /// Loads and stores of fields of a structure: the slots of an index.
    pub(super) fn fields(&mut self, b: Block) {
        let Some(i) = self.index else { return };
        let of_slots = |x: &Buffer| {
            matches!(
                x.kind,
                BufferKind::Private | BufferKind::Backwards | BufferKind::Fields | BufferKind::Sink
            )
        };
        let buffers: Vec<Buffer> = self.buffers.iter().copied().filter(of_slots).collect();
        if buffers.is_empty() {
            return;
        }
        let buffer = *self.rng.pick(&buffers);
        let ty = self.module.types.array(buffer.elem, SLOTS);
        let stores = !buffer.is_read_only();
        for _ in 0..1 + self.rng.below(6) {
            let field = self.f.int_const(32, self.rng.below(SLOTS as usize) as u128);
            let structure = self.structure(b, &buffer, i);
            let zero = self.f.int_const(32, 0);
            let row = self.gep(b, ty, &[buffer.base, structure, zero]);
            let address = self.gep(b, ty, &[row, zero, field]);
            let access = MemAccess::plain(size(buffer.elem));
            if stores && (buffer.kind == BufferKind::Sink || self.rng.chance(1, 2)) {
                let want = if buffer.clean { CLEAN } else { ANY };
                let v = self.pick(b, buffer.elem, want).value;
                self.f.append(b, Op::Store(access), &[v, address], Type::Void);
            } else {
                self.emit(b, Op::Load(access), &[address], buffer.elem, buffer.clean, false);
            }
        }
    }

    /// The number of the structure that belongs to the index.
    fn structure(&mut self, b: Block, buffer: &Buffer, i: Avail) -> Value {
        // What is only read may be read in any order.
        let backwards = buffer.kind == BufferKind::Backwards
            || (buffer.kind == BufferKind::Fields && self.rng.chance(1, 3));
        if !backwards {
            return i.value;
        }
        self.mirrored(b, i)
    }

    /// The index, counted from the greatest one down.
    pub(super) fn mirrored(&mut self, b: Block, i: Avail) -> Value {
        let last = self.f.int_const(i.ty.int_bits().unwrap_or(64), u128::from(MAX_INDEX - 1));
        self.f.append_value(b, Op::Binary(BinaryOp::Sub), &[last, i.value], i.ty)
    }

    /// The address of an element inside of a buffer, and whether it is probably uniform.
    pub(super) fn address(&mut self, b: Block, buffer: &Buffer) -> (Value, bool) {
        let (address, uniform) = match (buffer.kind, self.index) {
            (BufferKind::Rows, _) => self.place_in_rows(b, buffer),
            (BufferKind::Columns { backwards }, Some(i)) => {
                (self.place_in_column(b, buffer, i, backwards), false)
            }
            _ => {
                let (index, uniform) = self.index_into(b, buffer);
                (self.element(b, buffer, index), uniform)
            }
        };
        if let Some(inst) = self.f.def_inst(address)
            && self.rng.chance(1, 2)
        {
            self.f.insts[inst].flags = InstFlags::INBOUNDS;
        }
        (address, uniform)
    }

    /// The number of an element inside of a buffer, and whether it is probably uniform.
    fn index_into(&mut self, b: Block, buffer: &Buffer) -> (Value, bool) {
        match (buffer.kind, self.index) {
            (BufferKind::Local, _) if self.rng.chance(1, 4) => {
                (self.f.int_const(64, self.rng.below(PRIVATE_ELEMENTS as usize) as u128), true)
            }
            (BufferKind::Local, _) => self.small_index(b, u128::from(PRIVATE_ELEMENTS) - 1),
            (BufferKind::Common, _) => (self.f.int_const(64, self.rng.below(4) as u128), true),
            (BufferKind::Shared, _) => self.small_index(b, 63),
            (BufferKind::ReadOnly, Some(i)) => self.read_index(b, i),
            (_, Some(i)) => {
                let Type::Int(w) = i.ty else { return (i.value, true) };
                let slots = self.f.int_const(w, SLOTS.into());
                let structure = self.structure(b, buffer, i);
                let scaled = self.f.append_value(b, Op::Binary(BinaryOp::Mul), &[structure, slots], i.ty);
                if let Some(inst) = self.f.def_inst(scaled)
                    && self.rng.chance(1, 2)
                {
                    self.f.insts[inst].flags = InstFlags::NUW | InstFlags::NSW;
                }
                let slot = if self.rng.chance(1, 2) {
                    self.f.int_const(w, self.rng.below(SLOTS as usize) as u128)
                } else {
                    let x = self.pick(b, i.ty, CLEAN);
                    self.int(b, x, u128::from(SLOTS - 1)).value
                };
                (self.f.append_value(b, Op::Binary(BinaryOp::Add), &[scaled, slot], i.ty), false)
            }
            _ => (self.f.int_const(64, 0), true),
        }
    }

    /// Below 256: contiguous, strided, uniform or anything.
    fn read_index(&mut self, b: Block, i: Avail) -> (Value, bool) {
        let Type::Int(w) = i.ty else { return (i.value, false) };
        match self.rng.below(if self.options.layouts { 8 } else { 6 }) {
            7 => self.extended_index(b),
            6 => {
                let last = self.f.int_const(w, 255 - self.rng.below(128) as u128);
                (self.f.append_value(b, Op::Binary(BinaryOp::Sub), &[last, i.value], i.ty), false)
            }
            0 | 1 => {
                let k = self.f.int_const(w, self.rng.below(MAX_INDEX as usize) as u128);
                (self.f.append_value(b, Op::Binary(BinaryOp::Add), &[i.value, k], i.ty), false)
            }
            2 => {
                let k = self.f.int_const(w, 1);
                let twice = self.f.append_value(b, Op::Binary(BinaryOp::Shl), &[i.value, k], i.ty);
                (twice, false)
            }
            3 => {
                let x = self.pick(b, Type::Int(32), UNIFORM);
                (self.int(b, x, 255).value, x.uniform)
            }
            4 => (self.f.int_const(64, self.rng.below(256) as u128), true),
            _ => self.small_index(b, 255),
        }
    }

    /// A byte of either kind as an index.
    fn extended_index(&mut self, b: Block) -> (Value, bool) {
        let x = self.pick(b, Type::Int(8), CLEAN);
        let wide = *self.rng.pick(&[Type::Int(32), Type::Int(64)]);
        if self.rng.chance(1, 2) {
            return (self.emit_on(b, Op::Cast(CastOp::ZExt), &[x], wide).value, x.uniform);
        }
        let signed = self.emit_on(b, Op::Cast(CastOp::SExt), &[x], wide);
        let half = self.number(wide.int_bits().unwrap_or(64), u128::from(READ_ONLY / 2));
        let op = Op::Binary(BinaryOp::Add);
        let index = self.f.append_value(b, op, &[signed.value, half.value], wide);
        if let Some(i) = self.f.def_inst(index) {
            self.f.insts[i].flags = InstFlags::NSW;
        }
        (index, x.uniform)
    }

    fn small_index(&mut self, b: Block, mask: u128) -> (Value, bool) {
        let ty = if self.rng.chance(2, 3) { Type::Int(32) } else { Type::Int(64) };
        let x = self.pick(b, ty, CLEAN);
        (self.int(b, x, mask).value, x.uniform)
    }
}

/// Size in bytes.
pub(super) fn size(ty: Type) -> u64 {
    match ty {
        Type::Int(w) => u64::from(w.div_ceil(8)),
        Type::Float(FloatKind::X86Fp80) => 16,
        Type::Float(k) => u64::from(k.bits() / 8),
        _ => 8,
    }
}
