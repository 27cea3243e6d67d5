//! Random kernels on bytes and shorts as people write them: what is loaded is promoted, computed with in 32 or 64 bits,
//! by sums, products, shifts, bounds, distances and divisions, compared, and stored in few bits again.
//!
//! One seed gives one program.

use warpline_ir::{
    BinaryOp, Block, CallInfo, CastOp, DataLayout, Effects, Function, InstFlags, IntPred, Module, Op, Type,
    Value,
};
use warpline_vectorize::declare_narrow_functions;

use crate::programs::{MAX_INDEX, ParamRole, Program};
use crate::rng::SplitMix64;

/// How many expressions a kernel has.
const EXPRESSIONS: usize = 10;
/// Elements of a buffer.
const ELEMENTS: u64 = MAX_INDEX * 4;

struct Builder {
    rng: SplitMix64,
    module: Module,
    func: Function,
    at: Block,
    /// The width of promoted integers.
    wide: u32,
    /// Promoted integers.
    values: Vec<Value>,
}

/// The program of a seed.
pub fn generate(seed: u64) -> Program {
    let mut rng = SplitMix64::new(seed);
    let mut module = Module::new(format!("bytes {seed}"));
    module.layout = DataLayout::x86_64();
    let narrow = if rng.chance(2, 3) { 8 } else { 16 };
    let wide = if rng.chance(3, 4) { 32 } else { 64 };
    let elem = Type::Int(narrow);
    let out = Type::Int(*rng.pick(&[8, 8, 16, 32]));
    let mut func = Function::new("kernel", Type::Void);
    let index = func.add_param(Type::Int(64), "i");
    let threshold = func.add_param(Type::Int(wide), "t");
    let inputs = [func.add_param(Type::PTR, "a"), func.add_param(Type::PTR, "b")];
    let output = func.add_param(Type::PTR, "out");
    let buffer = |elem, written| ParamRole::Buffer { elem, len: ELEMENTS, written };
    let roles = vec![
        ParamRole::Index,
        ParamRole::Uniform,
        buffer(elem, false),
        buffer(elem, false),
        buffer(out, true),
    ];
    let at = func.add_block("entry");
    let mut b = Builder { rng, module, func, at, wide, values: Vec::new() };
    for pointer in inputs {
        let address = b.put(Op::Gep(elem), &[pointer, index], Type::PTR);
        let align = u64::from(narrow / 8);
        let x = b.put(Op::Load(warpline_ir::MemAccess::plain(align)), &[address], elem);
        let op = if b.rng.chance(2, 3) { CastOp::ZExt } else { CastOp::SExt };
        let promoted = b.put(Op::Cast(op), &[x], Type::Int(wide));
        b.values.push(promoted);
    }
    b.values.push(threshold);
    for _ in 0..EXPRESSIONS {
        let new = b.expression();
        b.values.push(new);
    }
    let result = b.values[b.values.len() - 1];
    let bits = out.int_bits().unwrap_or(32);
    let stored = if bits < wide { b.put(Op::Cast(CastOp::Trunc), &[result], out) } else { result };
    let address = b.put(Op::Gep(out), &[output, index], Type::PTR);
    b.func.append(
        at,
        Op::Store(warpline_ir::MemAccess::plain(u64::from(bits / 8))),
        &[stored, address],
        Type::Void,
    );
    b.func.set_terminator(at, Op::Ret, &[], &[]);
    let Builder { mut module, func, .. } = b;
    let kernel = module.functions.push(func);
    declare_narrow_functions(&mut module);
    Program { module, kernel, roles }
}

impl Builder {
    fn put(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.func.append_value(self.at, op, args, ty)
    }

    fn ty(&self) -> Type {
        Type::Int(self.wide)
    }

    fn number(&mut self, value: i128) -> Value {
        let mask = u128::MAX >> (128 - self.wide);
        self.func.int_const(self.wide, value as u128 & mask)
    }

    /// A promoted integer, a later one rather than an earlier one.
    fn pick(&mut self) -> Value {
        let k = self.rng.below(self.values.len()).max(self.rng.below(self.values.len()));
        self.values[k]
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ty = self.ty();
        let v = self.put(Op::Binary(op), &[a, b], ty);
        if matches!(op, BinaryOp::Add | BinaryOp::Sub)
            && self.rng.chance(1, 3)
            && let Some(inst) = self.func.def_inst(v)
        {
            self.func.insts[inst].flags = InstFlags::NSW;
        }
        v
    }

    fn call(&mut self, name: &str, args: &[Value]) -> Value {
        let types: Vec<Type> = args.iter().map(|&v| self.func.ty(v)).collect();
        let (ty, name) = (self.ty(), format!("llvm.{name}.i{}", self.wide));
        let symbol = self.module.function_symbol(&name, &types, ty, Effects::empty());
        let call = CallInfo { callee: Some(symbol), effects: Effects::empty(), variadic_fixed: None };
        self.put(Op::Call(Box::new(call)), args, ty)
    }

    fn expression(&mut self) -> Value {
        use BinaryOp::*;
        let (x, y) = (self.pick(), self.pick());
        let greatest = *self.rng.pick(&[255, 255, 65535, 127, 32767]);
        match self.rng.below(18) {
            0 => {
                let op = *self.rng.pick(&[Add, Sub, Mul, And, Or, Xor]);
                self.binary(op, x, y)
            }
            1 => {
                let amount = *self.rng.pick(&[1, 2, 4, 7, 8, 15, 16]);
                let by = self.number(amount);
                let op = *self.rng.pick(&[Shl, LShr, LShr, AShr]);
                self.binary(op, x, by)
            }
            2 => {
                let sum = self.binary(Add, x, y);
                let bound = self.number(greatest);
                let name = if self.rng.chance(1, 2) { "umin" } else { "smin" };
                self.call(name, &[sum, bound])
            }
            3 => {
                let difference = self.binary(Sub, x, y);
                let zero = self.number(0);
                self.call("smax", &[difference, zero])
            }
            4 => {
                let op = if self.rng.chance(1, 2) { Add } else { Sub };
                let sum = self.binary(op, x, y);
                let (low, high) =
                    if self.rng.chance(1, 2) { (0, greatest) } else { (-greatest - 1, greatest) };
                let (low, high) = (self.number(low), self.number(high));
                let inner = self.call("smax", &[sum, low]);
                self.call("smin", &[inner, high])
            }
            5 => {
                let difference = self.binary(Sub, x, y);
                let poison = self.func.bool_const(false);
                self.call("abs", &[difference, poison])
            }
            6 => {
                let pred = *self.rng.pick(&[IntPred::Ugt, IntPred::Sgt, IntPred::Slt, IntPred::Ule]);
                let condition = self.put(Op::ICmp(pred), &[x, y], Type::BOOL);
                let (first, second) = (self.binary(Sub, x, y), self.binary(Sub, y, x));
                let ty = self.ty();
                self.put(Op::Select, &[condition, first, second], ty)
            }
            7 => {
                let sum = self.binary(Add, x, y);
                let one = self.number(1);
                let rounded = self.binary(Add, sum, one);
                self.binary(LShr, rounded, one)
            }
            8 => {
                let divisor = *self.rng.pick(&[255, 3, 10, 16]);
                let by = self.number(divisor);
                let op = *self.rng.pick(&[UDiv, UDiv, SDiv, URem]);
                self.binary(op, x, by)
            }
            9 => {
                // A blend by a weight.
                let byte = self.number(255);
                let weight = self.binary(And, x, byte);
                let rest = self.binary(Sub, byte, weight);
                let (p, q) = (self.values[0], self.values[1]);
                let (first, second) = (self.binary(Mul, p, weight), self.binary(Mul, q, rest));
                let sum = self.binary(Add, first, second);
                self.binary(UDiv, sum, byte)
            }
            10 => {
                let pred = *self.rng.pick(IntPred::ALL);
                let condition = self.put(Op::ICmp(pred), &[x, y], Type::BOOL);
                let (a, b) = (self.pick(), self.pick());
                let ty = self.ty();
                self.put(Op::Select, &[condition, a, b], ty)
            }
            11 => {
                let greater = self.call("umax", &[x, y]);
                self.binary(Sub, greater, y)
            }
            13 | 14 => self.by_sign(x, y),
            15 => {
                // One bound of a sum with what all lanes share.
                let op = if self.rng.chance(1, 2) { Add } else { Sub };
                let shared = self.values[2];
                let sum = self.binary(op, x, shared);
                let (bound, name) = if self.rng.chance(1, 2) { (greatest, "smin") } else { (0, "smax") };
                let bound = self.number(bound);
                self.call(name, &[sum, bound])
            }
            16 => {
                // The upper half of a product, of a sum that is multiplied out.
                let factor = *self.rng.pick(&[7281, 13, 65535]);
                let by = self.number(factor);
                let factor_or_other = if self.rng.chance(1, 2) { by } else { y };
                let mut product = self.binary(Mul, x, factor_or_other);
                if self.rng.chance(1, 2) {
                    let times = self.rng.below(6) as i128;
                    let more = self.number(factor * times);
                    product = self.binary(Add, product, more);
                }
                let amount = 16 + self.rng.below(5) as i128;
                let amount = self.number(amount);
                let op = if self.rng.chance(1, 2) { LShr } else { AShr };
                self.binary(op, product, amount)
            }
            12 => {
                let bits = *self.rng.pick(&[8, 16]);
                let low = self.put(Op::Cast(CastOp::Trunc), &[x], Type::Int(bits));
                let op = if self.rng.chance(1, 2) { CastOp::ZExt } else { CastOp::SExt };
                let ty = self.ty();
                self.put(Op::Cast(op), &[low], ty)
            }
            _ => {
                let name = *self.rng.pick(&["umin", "umax", "smin", "smax"]);
                self.call(name, &[x, y])
            }
        }
    }

    /// What branch-free code computes with a mask that it makes of the sign of a difference.
    fn by_sign(&mut self, x: Value, y: Value) -> Value {
        use BinaryOp::*;
        let d = self.binary(Sub, x, y);
        let amount = *self.rng.pick(&[8, 8, 8, 16, i128::from(self.wide) - 1]);
        let amount = self.number(amount);
        let shift = if self.rng.chance(5, 6) { AShr } else { LShr };
        let sign = self.binary(shift, d, amount);
        let ones = self.number(-1);
        let opposite = self.binary(Xor, sign, ones);
        let zero = self.number(0);
        match self.rng.below(8) {
            0 => {
                let kept = self.binary(And, d, opposite);
                let negated = self.binary(Sub, zero, d);
                let turned = self.binary(And, sign, negated);
                let op = *self.rng.pick(&[Or, Add, Xor]);
                self.binary(op, kept, turned)
            }
            1 => {
                let kept = self.binary(And, d, opposite);
                self.binary(Add, y, kept)
            }
            2 => {
                let kept = self.binary(And, d, opposite);
                self.binary(Sub, x, kept)
            }
            3 => self.binary(And, d, opposite),
            4 => {
                let turned = self.binary(Xor, d, sign);
                self.binary(Sub, turned, sign)
            }
            5 => {
                let sum = self.binary(Add, d, sign);
                self.binary(Xor, sum, sign)
            }
            6 => {
                // A difference that was reassociated around a smaller one.
                let kept = self.binary(And, d, opposite);
                let other = self.pick();
                let sum = self.binary(Add, kept, other);
                let apart = self.binary(Sub, x, sum);
                let again = self.binary(AShr, apart, amount);
                let masked = self.binary(And, apart, again);
                self.binary(Sub, other, masked)
            }
            _ => {
                let (a, b) = (self.pick(), self.pick());
                let first = self.binary(And, a, sign);
                let second = self.binary(And, b, opposite);
                self.binary(Or, first, second)
            }
        }
    }
}
