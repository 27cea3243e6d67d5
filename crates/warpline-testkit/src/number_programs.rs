//! Random programs that count, compare and check: few integer variables of one, mostly narrow, width, loops that
//! count up and down, branches on comparisons, and assertions that end the run. All that analyses of numbers have
//! rules for: sums that wrap or say that they do not, midpoints, minima, remainders.
//!
//! One seed gives one program.

use warpline_dataflow::ssa::construct;
use warpline_ir::{
    AggregateType, BinaryOp, Block, CallInfo, DataLayout, Effects, Function, InstFlags, IntPred, Module, Op,
    Symbol, Type, Value, Var,
};

use crate::programs::{ParamRole, Program};
use crate::rng::SplitMix64;

/// How many parameters a program has.
const PARAMS: usize = 3;

/// How many variables.
const VARS: usize = 4;

struct Builder<'a> {
    rng: &'a mut SplitMix64,
    func: Function,
    bits: u32,
    at: Block,
    vars: Vec<Var>,
    minimum: Symbol,
    add: Symbol,
    sub: Symbol,
    pair: Type,
}

/// The program of a seed: a kernel whose parameters are [`ParamRole::Varying`].
pub fn generate(seed: u64) -> Program {
    let mut rng = SplitMix64::new(seed);
    let bits = *rng.pick(&[4, 8, 8, 16, 64]);
    let int = Type::Int(bits);
    let mut module = Module::new(format!("numbers {seed}"));
    module.layout = DataLayout::x86_64();
    let none = Effects::empty();
    let pair = module.types.aggregate(AggregateType::Struct {
        name: None,
        fields: Some(vec![int, Type::BOOL]),
        packed: false,
    });
    let mut function =
        |name: &str, ret| module.function_symbol(&format!("llvm.{name}.i{bits}"), &[int; 2], ret, none);
    let (minimum, add, sub) =
        (function("umin", int), function("uadd.with.overflow", pair), function("usub.with.overflow", pair));
    let mut func = Function::new("kernel", int);
    for k in 0..PARAMS {
        func.add_param(int, &format!("p{k}"));
    }
    let at = func.add_block("entry");
    let vars = (0..VARS).map(|k| func.add_var(int, &format!("x{k}"))).collect();
    let mut b = Builder { rng: &mut rng, func, bits, at, vars, minimum, add, sub, pair };
    for k in 0..VARS {
        let v = b.atom();
        b.write(k, v);
    }
    b.statements(6, 3);
    let result = b.read(0);
    b.func.set_terminator(b.at, Op::Ret, &[result], &[]);
    let mut func = b.func;
    construct(&mut func, |_| true);
    let kernel = module.functions.push(func);
    Program { module, kernel, roles: vec![ParamRole::Varying; PARAMS] }
}

impl Builder<'_> {
    fn int(&self) -> Type {
        Type::Int(self.bits)
    }

    fn read(&mut self, var: usize) -> Value {
        // Variables are written at first, so those that are not yet give poison in no program.
        let (at, int) = (self.at, self.int());
        self.func.append_value(at, Op::ReadVar(self.vars[var]), &[], int)
    }

    fn write(&mut self, var: usize, v: Value) {
        self.func.append(self.at, Op::WriteVar(self.vars[var]), &[v], Type::Void);
    }

    fn constant(&mut self) -> Value {
        let value = match self.rng.below(6) {
            0 => u128::MAX,
            1 => (self.rng.next_u64() >> self.rng.below(60)).into(),
            _ => self.rng.below(6) as u128,
        };
        let mask = u128::MAX >> (128 - self.bits);
        self.func.int_const(self.bits, value & mask)
    }

    /// A parameter or a constant.
    fn atom(&mut self) -> Value {
        if self.rng.chance(1, 2) { self.func.params[self.rng.below(PARAMS)] } else { self.constant() }
    }

    fn operand(&mut self) -> Value {
        if self.rng.chance(3, 5) {
            let var = self.rng.below(VARS);
            self.read(var)
        } else {
            self.atom()
        }
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let (at, int) = (self.at, self.int());
        let v = self.func.append_value(at, Op::Binary(op), &[a, b], int);
        if matches!(op, BinaryOp::Add | BinaryOp::Sub) && self.rng.chance(1, 6) {
            let flag = *self.rng.pick(&[InstFlags::NUW, InstFlags::NSW]);
            let inst = self.func.def_inst(v).expect("an instruction was appended");
            self.func.insts[inst].flags = flag;
        }
        v
    }

    fn call(&mut self, callee: Symbol, a: Value, b: Value, ty: Type) -> Value {
        let info = CallInfo { callee: Some(callee), effects: Effects::empty(), variadic_fixed: None };
        self.func.append_value(self.at, Op::Call(Box::new(info)), &[a, b], ty)
    }

    fn expression(&mut self) -> Value {
        let (a, b) = (self.operand(), self.operand());
        let small = |b: &mut Self, least: usize| {
            let value = b.rng.between(least, 3) as u128;
            b.func.int_const(b.bits, value)
        };
        match self.rng.below(14) {
            0..4 => {
                let by = small(self, 0);
                let op = *self.rng.pick(&[BinaryOp::Add, BinaryOp::Sub]);
                self.binary(op, a, by)
            }
            4 => self.binary(BinaryOp::Add, a, b),
            5 => self.binary(BinaryOp::Sub, a, b),
            6 => {
                let by = small(self, 1);
                let op = *self.rng.pick(&[BinaryOp::UDiv, BinaryOp::LShr, BinaryOp::URem, BinaryOp::Mul]);
                self.binary(op, a, by)
            }
            7 => self.binary(BinaryOp::And, a, b),
            8 => self.call(self.minimum, a, b, self.int()),
            9 => {
                let (c, int) = (self.comparison(), self.int());
                self.func.append_value(self.at, Op::Select, &[c, a, b], int)
            }
            10 => {
                let (difference, two) = (self.binary(BinaryOp::Sub, b, a), small(self, 2));
                let half = self.binary(BinaryOp::UDiv, difference, two);
                self.binary(BinaryOp::Add, a, half)
            }
            11 => {
                let (sum, one) = (self.binary(BinaryOp::Add, a, b), self.func.int_const(self.bits, 1));
                self.binary(BinaryOp::LShr, sum, one)
            }
            12 => self.checked(a, b),
            _ => a,
        }
    }

    /// A sum or difference; the run ends if it wraps.
    fn checked(&mut self, a: Value, b: Value) -> Value {
        let callee = if self.rng.chance(1, 2) { self.add } else { self.sub };
        let pair = self.call(callee, a, b, self.pair);
        let at = self.at;
        let v = self.func.append_value(at, Op::ExtractValue([0].into()), &[pair], self.int());
        let flag = self.func.append_value(at, Op::ExtractValue([1].into()), &[pair], Type::BOOL);
        let (failed, next) = (self.func.add_block(""), self.func.add_block(""));
        self.func.set_terminator(at, Op::CondBr, &[flag], &[failed, next]);
        self.func.set_terminator(failed, Op::Ret, &[a], &[]);
        self.at = next;
        v
    }

    fn comparison(&mut self) -> Value {
        let (a, b) = (self.operand(), self.operand());
        let pred = match self.rng.chance(2, 3) {
            true => *self.rng.pick(&[IntPred::Ult, IntPred::Ule, IntPred::Uge, IntPred::Slt]),
            false => *self.rng.pick(IntPred::ALL),
        };
        self.compare(pred, a, b)
    }

    fn compare(&mut self, pred: IntPred, a: Value, b: Value) -> Value {
        self.func.append_value(self.at, Op::ICmp(pred), &[a, b], Type::BOOL)
    }

    fn statements(&mut self, most: usize, depth: usize) {
        for _ in 0..self.rng.between(1, most) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        match self.rng.below(if depth == 0 { 5 } else { 10 }) {
            0..4 => {
                let v = self.expression();
                let var = self.rng.below(VARS);
                self.write(var, v);
            }
            4 => {
                let c = self.comparison();
                let (failed, next) = (self.func.add_block(""), self.func.add_block(""));
                self.func.set_terminator(self.at, Op::CondBr, &[c], &[next, failed]);
                let zero = self.func.int_const(self.bits, 0);
                self.func.set_terminator(failed, Op::Ret, &[zero], &[]);
                self.at = next;
            }
            5 | 6 => {
                let c = self.comparison();
                let [yes, no, join] = [(); 3].map(|()| self.func.add_block(""));
                self.func.set_terminator(self.at, Op::CondBr, &[c], &[yes, no]);
                for arm in [yes, no] {
                    self.at = arm;
                    self.statements(2, depth - 1);
                    self.func.set_terminator(self.at, Op::Br, &[], &[join]);
                }
                self.at = join;
            }
            _ => self.counting_loop(depth),
        }
    }

    /// A loop that counts up or down, or while any comparison holds.
    fn counting_loop(&mut self, depth: usize) {
        let counter = self.rng.below(VARS);
        let (up, regular) = (self.rng.chance(2, 3), self.rng.chance(4, 5));
        if self.rng.chance(1, 2) {
            let start = self.atom();
            self.write(counter, start);
        }
        let mut bound = self.operand();
        // A bound that changes in the loop, or may.
        let changing = self.rng.chance(1, 3).then(|| self.rng.below(VARS));
        let [head, body, behind] = [(); 3].map(|()| self.func.add_block(""));
        self.func.set_terminator(self.at, Op::Br, &[], &[head]);
        self.at = head;
        if let Some(var) = changing {
            bound = self.read(var);
        }
        let c = if regular {
            let i = self.read(counter);
            let pred = *self.rng.pick(&[IntPred::Ult, IntPred::Ult, IntPred::Ne, IntPred::Slt]);
            if up { self.compare(pred, i, bound) } else { self.compare(pred, bound, i) }
        } else {
            self.comparison()
        };
        self.func.set_terminator(self.at, Op::CondBr, &[c], &[body, behind]);
        self.at = body;
        self.statements(2, depth - 1);
        if let Some(var) = changing.filter(|_| self.rng.chance(1, 2)) {
            let v = self.expression();
            self.write(var, v);
        }
        if regular {
            let i = self.read(counter);
            let step = self.func.int_const(self.bits, 1);
            let next = self.binary(if up { BinaryOp::Add } else { BinaryOp::Sub }, i, step);
            self.write(counter, next);
        }
        self.func.set_terminator(self.at, Op::Br, &[], &[head]);
        self.at = behind;
    }
}
