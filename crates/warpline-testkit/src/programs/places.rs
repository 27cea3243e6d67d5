//! Pointers in memory, memory of sizes that are known at run time only.

use warpline_ir::*;

use super::fill::{ANY, Avail, CLEAN, Filler, UNIFORM};
use super::memory::{Buffer, BufferKind, size};

/// Elements of private arrays of pointers.
const POINTERS: u128 = 4;

/// An array of pointers to integers of 32 bits.
#[derive(Copy, Clone)]
pub(super) struct Pointers {
    base: Value,
    /// Whether all point to slots of the own index that may be written.
    own: bool,
    /// Whether it is a buffer, in which four elements belong to the own index; else it is private.
    shared: bool,
}

impl Filler<'_> {
    /// Arrays of pointers, initialised: a private one, and a buffer if there is one.
    pub(super) fn pointer_arrays(&mut self, entry: Block, buffer: Option<Value>) {
        let mut arrays = Vec::new();
        if self.rng.chance(2, 3) || buffer.is_none() {
            let ty = self.module.types.array(Type::PTR, POINTERS as u64);
            let one = self.f.int_const(32, 1);
            let base = self.f.append_value(entry, Op::Alloca { ty, align: 8 }, &[one], Type::PTR);
            arrays.push(Pointers { base, own: self.rng.chance(1, 2), shared: false });
        }
        if let Some(base) = buffer {
            arrays.push(Pointers { base, own: self.rng.chance(1, 2), shared: true });
        }
        for array in arrays {
            for k in 0..POINTERS {
                let k = self.f.int_const(64, k);
                let at = self.pointer_at(entry, &array, k);
                self.store_pointer(entry, &array, at);
            }
            self.pointers.push(array);
        }
    }

    /// The address of a pointer; `k` is of 64 bits.
    fn pointer_at(&mut self, b: Block, array: &Pointers, k: Value) -> Value {
        let row = match (array.shared, self.index) {
            (true, Some(i)) => {
                let row = self.module.types.array(Type::PTR, POINTERS as u64);
                self.f.append_value(b, Op::Gep(row), &[array.base, i.value], Type::PTR)
            }
            _ => array.base,
        };
        self.f.append_value(b, Op::Gep(Type::PTR), &[row, k], Type::PTR)
    }

    fn store_pointer(&mut self, b: Block, array: &Pointers, at: Value) {
        let fits = |x: &Buffer| {
            let writable = matches!(x.kind, BufferKind::Private | BufferKind::Backwards);
            x.elem == Type::Int(32)
                && x.space == 0
                && (writable || (!array.own && x.kind == BufferKind::ReadOnly))
        };
        let targets: Vec<Buffer> = self.buffers.iter().copied().filter(fits).collect();
        if targets.is_empty() {
            return;
        }
        let target = *self.rng.pick(&targets);
        let (address, _) = self.address(b, &target);
        self.f.append(b, Op::Store(MemAccess::plain(8)), &[address, at], Type::Void);
    }

    /// Stores a pointer, or loads one and accesses what it points to.
    pub(super) fn pointer(&mut self, b: Block) {
        if self.pointers.is_empty() {
            return;
        }
        let array = *self.rng.pick(&self.pointers);
        let want = if self.rng.chance(1, 2) { UNIFORM } else { CLEAN };
        let x = self.pick(b, Type::Int(64), want);
        let k = self.int(b, x, POINTERS - 1);
        let at = self.pointer_at(b, &array, k.value);
        if self.rng.chance(1, 3) {
            self.store_pointer(b, &array, at);
            return;
        }
        let p = self.f.append_value(b, Op::Load(MemAccess::plain(8)), &[at], Type::PTR);
        let access = MemAccess::plain(4);
        if array.own && self.rng.chance(1, 2) {
            let v = self.pick(b, Type::Int(32), CLEAN);
            self.f.append(b, Op::Store(access), &[v.value, p], Type::Void);
        }
        self.emit(b, Op::Load(access), &[p], Type::Int(32), true, false);
    }

    /// Private memory of a size that is known at run time: made, filled, written to, read, and half of the time given
    /// back.
    pub(super) fn sized_memory(&mut self, b: Block) {
        let effects = Effects::READS | Effects::WRITES;
        let saved = self.rng.chance(1, 2).then(|| {
            let symbol = self.module.function_symbol("llvm.stacksave.p0", &[], Type::PTR, effects);
            let info = CallInfo { callee: Some(symbol), effects, variadic_fixed: None };
            self.f.append_value(b, Op::Call(Box::new(info)), &[], Type::PTR)
        });
        let elem = *self.rng.pick(&[Type::Int(8), Type::Int(16), Type::Int(32), Type::Int(64)]);
        let want = if self.rng.chance(1, 2) { UNIFORM } else { CLEAN };
        let x = self.pick(b, Type::Int(64), want);
        let x = self.int(b, x, 7);
        let one = self.number(64, 1);
        let n = self.emit_on(b, Op::Binary(BinaryOp::Add), &[x, one], Type::Int(64));
        let base = self.f.append_value(b, Op::Alloca { ty: elem, align: 8 }, &[n.value], Type::PTR);
        let bytes = self.number(64, size(elem).into());
        let bytes = self.emit_on(b, Op::Binary(BinaryOp::Mul), &[n, bytes], Type::Int(64));
        let byte = self.pick(b, Type::Int(8), CLEAN);
        self.bulk_call(b, "llvm.memset.p0.i64", [base, byte.value, bytes.value]);
        for _ in 0..self.rng.between(1, 4) {
            let y = self.pick(b, Type::Int(64), CLEAN);
            let inside = self.call(b, "llvm.umin.i64", &[y, x], Type::Int(64));
            let at = self.f.append_value(b, Op::Gep(elem), &[base, inside.value], Type::PTR);
            let access = MemAccess::plain(size(elem));
            if self.rng.chance(1, 2) {
                let v = self.pick(b, elem, CLEAN);
                self.f.append(b, Op::Store(access), &[v.value, at], Type::Void);
            } else {
                self.emit(b, Op::Load(access), &[at], elem, true, inside.uniform && byte.uniform);
            }
        }
        if let Some(saved) = saved {
            let symbol =
                self.module.function_symbol("llvm.stackrestore.p0", &[Type::PTR], Type::Void, effects);
            let info = CallInfo { callee: Some(symbol), effects, variadic_fixed: None };
            self.f.append(b, Op::Call(Box::new(info)), &[saved], Type::Void);
        }
    }

    /// A sum of products of small numbers, whose bits are the same whatever fast-math flags allow.
    pub(super) fn exact_fast_math(&mut self, b: Block) {
        let (ty, bits) = if self.rng.chance(2, 3) { (Type::F32, 7) } else { (Type::F64, 15) };
        let mut flags = InstFlags::FAST;
        if self.rng.chance(1, 2) {
            let all = [
                InstFlags::REASSOC,
                InstFlags::NNAN,
                InstFlags::NINF,
                InstFlags::NSZ,
                InstFlags::ARCP,
                InstFlags::CONTRACT,
                InstFlags::AFN,
            ];
            flags = InstFlags::empty();
            for f in all {
                flags |= if self.rng.chance(1, 2) { f } else { InstFlags::empty() };
            }
        }
        let mut sum: Option<Value> = None;
        let mut uniform = true;
        for _ in 0..self.rng.between(2, 4) {
            let factors = [(); 2].map(|()| {
                let x = self.pick(b, Type::Int(32), CLEAN);
                let x = self.int(b, x, (1 << bits) - 1);
                uniform &= x.uniform;
                self.f.append_value(b, Op::Cast(CastOp::SiToFp), &[x.value], ty)
            });
            let product = self.flagged(b, BinaryOp::FMul, factors, ty, flags);
            sum = Some(match sum {
                None => product,
                Some(s) => {
                    let op = if self.rng.chance(1, 3) { BinaryOp::FSub } else { BinaryOp::FAdd };
                    self.flagged(b, op, [s, product], ty, flags)
                }
            });
        }
        let sum = sum.expect("at least two products");
        // Zero may have either sign, so nobody is to see the sum but as an integer.
        self.emit(b, Op::Cast(CastOp::FpToSi), &[sum], Type::Int(64), true, uniform);
        if self.options.poison {
            let (x, y) = (self.pick(b, ty, ANY), self.pick(b, ty, ANY));
            let flags = *self.rng.pick(&[InstFlags::NNAN, InstFlags::NINF]);
            let sum = self.flagged(b, BinaryOp::FAdd, [x.value, y.value], ty, flags);
            self.define(b, Avail { value: sum, ty, clean: false, uniform: x.uniform && y.uniform });
        }
    }

    fn flagged(&mut self, b: Block, op: BinaryOp, args: [Value; 2], ty: Type, flags: InstFlags) -> Value {
        let v = self.f.append_value(b, Op::Binary(op), &args, ty);
        if let Some(i) = self.f.def_inst(v) {
            self.f.insts[i].flags = flags;
        }
        v
    }
}
