//! Random programs that keep everything on the stack, as front ends write them before any optimisation.
//!
//! The control flow is that of any graph (irreducible cycles, parallel edges, unreachable nodes), with a counter that
//! ends every run. Branches depend on a state that is always written; all other slots may be read before they are
//! written, and a run returns what they hold in the end, so that undef and poison can be told apart. Some slots have
//! their addresses stored in another, some accesses are volatile, and lifetimes begin and end anywhere.
//!
//! One seed gives one program.

use warpline_analysis::{CsrGraph, Graph};
use warpline_ir::{
    BinaryOp, Block, CallInfo, Constant, DataLayout, Effects, Function, IntPred, MemAccess, Module, Op,
    Symbol, Type, Value,
};

use crate::graphs;
use crate::rng::SplitMix64;

/// What programs may contain.
#[derive(Clone, Copy, Debug)]
pub struct StackOptions {
    /// The most nodes that the graph has.
    pub nodes: usize,
    /// The most instructions in a node, about.
    pub insts: usize,
    /// Whether poison is stored.
    pub poison: bool,
    /// Whether lifetimes are marked.
    pub lifetimes: bool,
    /// Whether addresses are stored in another slot, and accesses are volatile.
    pub addresses: bool,
}

impl Default for StackOptions {
    fn default() -> Self {
        StackOptions { nodes: 8, insts: 6, poison: true, lifetimes: true, addresses: true }
    }
}

/// How many nodes a run visits at most.
const STEPS: u128 = 24;

/// A slot on the stack.
#[derive(Clone, Copy)]
struct Slot {
    address: Value,
    ty: Type,
}

struct Builder<'a> {
    rng: &'a mut SplitMix64,
    options: StackOptions,
    func: Function,
    data: Vec<Slot>,
    /// Holds the address of one of the `i32` slots.
    pointer: Slot,
    counter: Slot,
    state: Slot,
    marks: [Symbol; 2],
}

/// A module with one function `f(i32, i32)`, which returns the contents of its slots as one structure.
pub fn stack_program(rng: &mut SplitMix64, options: &StackOptions) -> Module {
    let mut module = Module::new("stack.ll");
    module.layout = DataLayout::x86_64();
    let pair = module.types.structure(vec![Type::Int(32), Type::BOOL], false);
    let kinds = [Type::Int(32), Type::Int(32), Type::Int(8), Type::BOOL, Type::F64, pair];
    let count = rng.between(2, 6);
    // The first is an integer, so that there is an address to be stored.
    let kinds: Vec<Type> = (0..count).map(|i| if i == 0 { kinds[0] } else { *rng.pick(&kinds) }).collect();
    let ret = module.types.structure(kinds.clone(), false);
    let marks = ["llvm.lifetime.start.p0", "llvm.lifetime.end.p0"]
        .map(|name| module.function_symbol(name, &[Type::Int(64), Type::PTR], Type::Void, Effects::WRITES));
    let graph = graphs::arbitrary(rng, options.nodes);
    let mut func = Function::new("f", ret);
    let params = ["a", "b"].map(|name| func.add_param(Type::Int(32), name));
    let entry = func.add_block("entry");
    let one = func.int_const(32, 1);
    let mut slot = |ty: Type, name: &str| {
        let address = func.append_value(entry, Op::Alloca { ty, align: 8 }, &[one], Type::PTR);
        func.values[address].name = name.into();
        Slot { address, ty }
    };
    let data: Vec<Slot> = (0..).zip(&kinds).map(|(i, &ty)| slot(ty, &format!("x{i}"))).collect();
    let pointer = slot(Type::PTR, "p");
    let (counter, state) = (slot(Type::Int(32), "n"), slot(Type::Int(32), "s"));
    let mut builder = Builder { rng, options: *options, func, data, pointer, counter, state, marks };
    builder.build(&graph, entry, params);
    module.functions.push(builder.func);
    module
}

impl Builder<'_> {
    fn build(&mut self, graph: &CsrGraph, entry: Block, params: [Value; 2]) {
        let steps = self.func.int_const(32, STEPS);
        self.store(entry, self.counter, steps);
        self.store(entry, self.state, params[0]);
        if self.options.addresses {
            self.store(entry, self.pointer, self.data[0].address);
        }
        let nodes: Vec<Block> =
            graph.nodes().map(|n| self.func.add_block(&format!("n{}", n.index()))).collect();
        let out = self.func.add_block("out");
        self.func.set_terminator(entry, Op::Br, &[], &[nodes[graph.entry().index()]]);
        for node in graph.nodes() {
            let targets: Vec<Block> = graph.successors(node).map(|to| nodes[to.index()]).collect();
            self.node(nodes[node.index()], &targets, out, params);
        }
        self.give_back(out);
    }

    /// A node: counts, does something and goes on, or out.
    fn node(&mut self, head: Block, targets: &[Block], out: Block, params: [Value; 2]) {
        let left = self.load(head, self.counter);
        let one = self.func.int_const(32, 1);
        let less = self.binary(head, BinaryOp::Sub, left, one);
        self.store(head, self.counter, less);
        let zero = self.func.int_const(32, 0);
        let over = self.func.append_value(head, Op::ICmp(IntPred::Eq), &[left, zero], Type::BOOL);
        let body = self.func.add_block("");
        self.func.set_terminator(head, Op::CondBr, &[over], &[out, body]);
        let mut values: Vec<Value> = params.to_vec();
        for _ in 0..self.rng.below(self.options.insts + 1) {
            self.statement(body, &mut values);
        }
        self.leave(body, targets, out, params[1]);
    }

    /// The terminator of a node's body.
    fn leave(&mut self, body: Block, targets: &[Block], out: Block, salt: Value) {
        match *targets {
            [] => self.func.set_terminator(body, Op::Br, &[], &[out]),
            [only] => self.func.set_terminator(body, Op::Br, &[], &[only]),
            [yes, no] if self.rng.chance(3, 4) => {
                let way = self.way(body, salt, 2);
                let bit = self.func.int_const(32, 1);
                let yes_or_no = self.func.append_value(body, Op::ICmp(IntPred::Eq), &[way, bit], Type::BOOL);
                self.func.set_terminator(body, Op::CondBr, &[yes_or_no], &[yes, no])
            }
            _ => {
                let way = self.way(body, salt, targets.len());
                let cases: Box<[u128]> = (1..targets.len() as u128).collect();
                self.func.set_terminator(body, Op::Switch(cases), &[way], targets)
            }
        };
    }

    /// The next state, as one of `ways` numbers.
    fn way(&mut self, block: Block, salt: Value, ways: usize) -> Value {
        let state = self.load(block, self.state);
        let factor = self.func.int_const(32, 1_664_525);
        let scaled = self.binary(block, BinaryOp::Mul, state, factor);
        let salted = self.binary(block, BinaryOp::Add, scaled, salt);
        self.store(block, self.state, salted);
        let by = self.func.int_const(32, 13);
        let high = self.binary(block, BinaryOp::LShr, salted, by);
        let ways = self.func.int_const(32, ways as u128);
        self.binary(block, BinaryOp::URem, high, ways)
    }

    /// One instruction or a few on the data. `values` are what the block has computed so far.
    fn statement(&mut self, block: Block, values: &mut Vec<Value>) {
        let slot = *self.rng.pick(&self.data);
        match self.rng.below(12) {
            0..=3 => values.push(self.load(block, slot)),
            4..=6 => {
                let value = self.value(slot.ty, values);
                self.store(block, slot, value);
            }
            7 => {
                let pairs = [self.value(Type::Int(32), values), self.value(Type::Int(32), values)];
                values.push(self.binary(block, BinaryOp::Add, pairs[0], pairs[1]));
            }
            8 | 9 if self.options.lifetimes => {
                let callee = Some(*self.rng.pick(&self.marks));
                let info = CallInfo { callee, effects: Effects::WRITES, variadic_fixed: None };
                let size = self.func.int_const(64, 8);
                self.func.append(block, Op::Call(Box::new(info)), &[size, slot.address], Type::Void);
            }
            10 if self.options.addresses => self.through_pointer(block, values),
            11 if self.options.addresses && self.rng.chance(1, 8) => {
                let access = MemAccess { is_volatile: true, ..MemAccess::plain(1) };
                values.push(self.func.append_value(block, Op::Load(access), &[slot.address], slot.ty));
            }
            _ => {}
        }
    }

    /// Changes the pointer, or reads or writes where it points to.
    fn through_pointer(&mut self, block: Block, values: &mut Vec<Value>) {
        let integers: Vec<Slot> = self.data.iter().copied().filter(|s| s.ty == Type::Int(32)).collect();
        if self.rng.chance(1, 6) {
            let slot = *self.rng.pick(&integers);
            self.store(block, self.pointer, slot.address);
            return;
        }
        let address = self.load(block, self.pointer);
        let target = Slot { address, ty: Type::Int(32) };
        if self.rng.chance(1, 2) {
            values.push(self.load(block, target));
        } else {
            let value = self.value(target.ty, values);
            self.store(block, target, value);
        }
    }

    /// A value of this type: one of the block's, or a constant.
    fn value(&mut self, ty: Type, values: &[Value]) -> Value {
        let fitting: Vec<Value> = values.iter().copied().filter(|&v| self.func.ty(v) == ty).collect();
        if !fitting.is_empty() && self.rng.chance(2, 3) {
            return *self.rng.pick(&fitting);
        }
        let constant = match (self.rng.below(8), ty) {
            (0, _) => Constant::Undef(ty),
            (1, _) if self.options.poison => Constant::Poison(ty),
            (n, Type::Int(bits)) => Constant::int(bits, n as u128),
            (n, Type::Float(kind)) => Constant::Float { kind, bits: (n as f64).to_bits().into() },
            _ => Constant::Zero(ty),
        };
        self.func.constant_value(constant)
    }

    /// Returns what all data slots hold.
    fn give_back(&mut self, out: Block) {
        let ret = self.func.ret;
        let mut all = self.func.poison(ret);
        for (i, slot) in self.data.clone().into_iter().enumerate() {
            let value = self.load(out, slot);
            all = self.func.append_value(out, Op::InsertValue([i as u32].into()), &[all, value], ret);
        }
        self.func.set_terminator(out, Op::Ret, &[all], &[]);
    }

    fn load(&mut self, block: Block, slot: Slot) -> Value {
        self.func.append_value(block, Op::Load(MemAccess::plain(1)), &[slot.address], slot.ty)
    }

    fn store(&mut self, block: Block, slot: Slot, value: Value) {
        self.func.append(block, Op::Store(MemAccess::plain(1)), &[value, slot.address], Type::Void);
    }

    fn binary(&mut self, block: Block, op: BinaryOp, x: Value, y: Value) -> Value {
        self.func.append_value(block, Op::Binary(op), &[x, y], Type::Int(32))
    }
}
