//! Calls: of functions without a body, of the module's, through pointers, of functions that call themselves.

use warpline_ir::*;

use super::fill::{CLEAN, Filler};

const I32: Type = Type::Int(32);

impl Filler<'_> {
    /// A call of a function without a body.
    pub(super) fn effect(&mut self, b: Block) {
        let Some(symbol) = self.symbols.effect else { return };
        let x = self.pick(b, I32, CLEAN);
        let call = self.call_of(Some(symbol), self.module.symbols[symbol].effects);
        self.emit(b, call, &[x.value], I32, true, false);
    }

    /// A call of a function of the module, by its name or through a pointer.
    pub(super) fn helper(&mut self, b: Block) {
        let symbol = *self.rng.pick(&self.symbols.helpers);
        let (x, y) = (self.pick(b, I32, CLEAN), self.pick(b, I32, CLEAN));
        let effects = self.module.symbols[symbol].effects;
        // What it returns may be poison.
        let clean = !self.options.poison;
        if !self.options.function_pointers || !self.rng.chance(1, 3) {
            let call = self.call_of(Some(symbol), effects);
            self.emit(b, call, &[x.value, y.value], I32, clean, false);
            return;
        }
        let other = *self.rng.pick(&self.symbols.helpers);
        let [one, other] = [symbol, other].map(|symbol| self.function_address(symbol));
        let c = self.condition(b);
        let pointer = self.f.append_value(b, Op::Select, &[c.value, one, other], Type::PTR);
        let call = self.call_of(None, Effects::UNKNOWN);
        self.emit(b, call, &[x.value, y.value, pointer], I32, clean, false);
    }

    fn call_of(&self, callee: Option<Symbol>, effects: Effects) -> Op {
        Op::Call(Box::new(CallInfo { callee, effects, variadic_fixed: None }))
    }

    fn function_address(&mut self, symbol: Symbol) -> Value {
        self.f.constant_value(Constant::Address { symbol, offset: 0, space: 0, origin: None })
    }
}

/// `fn recursive(n, x)`: with n modulo 8, x if that is 0, else what it returns for n - 1 and, of odd x, then for half
/// of n.
pub(super) fn recursive(module: &mut Module, name: &str) -> (Function, Symbol) {
    let symbol = module.function_symbol(name, &[I32, I32], I32, Effects::UNKNOWN);
    let mut f = Function::new(name, I32);
    let (n, x) = (f.add_param(I32, "n"), f.add_param(I32, "x"));
    let [entry, base, step, again, end] = ["", "base", "step", "again", "end"].map(|name| f.add_block(name));
    let call = Op::Call(Box::new(CallInfo {
        callee: Some(symbol),
        effects: Effects::UNKNOWN,
        variadic_fixed: None,
    }));
    let [zero, one, seven] = [0, 1, 7].map(|k| f.int_const(32, k));
    let m = f.append_value(entry, Op::Binary(BinaryOp::And), &[n, seven], I32);
    let last = f.append_value(entry, Op::ICmp(IntPred::Eq), &[m, zero], Type::BOOL);
    f.set_terminator(entry, Op::CondBr, &[last], &[base, step]);
    f.set_terminator(base, Op::Ret, &[x], &[]);
    let less = f.append_value(step, Op::Binary(BinaryOp::Sub), &[m, one], I32);
    let more = f.append_value(step, Op::Binary(BinaryOp::Mul), &[x, m], I32);
    let more = f.append_value(step, Op::Binary(BinaryOp::Add), &[more, seven], I32);
    let first = f.append_value(step, call.clone(), &[less, more], I32);
    let bit = f.append_value(step, Op::Binary(BinaryOp::And), &[x, one], I32);
    let odd = f.append_value(step, Op::ICmp(IntPred::Ne), &[bit, zero], Type::BOOL);
    f.set_terminator(step, Op::CondBr, &[odd], &[again, end]);
    let half = f.append_value(again, Op::Binary(BinaryOp::LShr), &[m, one], I32);
    let second = f.append_value(again, call, &[half, first], I32);
    f.set_terminator(again, Op::Br, &[], &[end]);
    let result = f.add_phi(end, I32);
    for e in f.blocks[end].preds.clone() {
        let value = if f.edges[e].from == again { second } else { first };
        f.set_phi_arg(e, 0, value);
    }
    f.set_terminator(end, Op::Ret, &[result], &[]);
    (f, symbol)
}
