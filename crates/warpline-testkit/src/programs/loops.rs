//! Kernels as bodies of loops: a scalar function that executes a kernel for one index after the other and carries
//! values from one iteration to the next.

use warpline_ir::{
    BinaryOp, Block, CastOp, Constant, Effects, Function, InstFlags, IntPred, MemAccess, Module, Op, Type,
    Value, ValueDef,
};

use super::carries::{alternating, of_bytes, ordered, place, recurrence};
use super::selections::selections;
use super::{ParamRole, Program};
use crate::rng::SplitMix64;

/// A scalar function with a loop around what was a kernel.
#[derive(Clone, Debug)]
pub struct LoopProgram {
    /// The function, which counts as the kernel; all its parameters are uniform.
    pub program: Program,
    /// The loop's header.
    pub header: Block,
}

/// The type of what is carried.
const INT: Type = Type::Int(32);

/// A value that the loop carries.
pub(super) struct Carry {
    pub(super) phi: Value,
    pub(super) next: Value,
    pub(super) start: Value,
}

pub(super) struct Maker<'a> {
    pub(super) f: Function,
    pub(super) module: &'a mut Module,
    pub(super) rng: &'a mut SplitMix64,
    pub(super) at: Block,
}

impl Maker<'_> {
    pub(super) fn value(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.f.append_value(self.at, op, args, ty)
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ty = self.f.ty(a);
        self.value(Op::Binary(op), &[a, b], ty)
    }

    pub(super) fn int(&mut self, like: Value, x: u128) -> Value {
        let bits = self.f.ty(like).int_bits().unwrap_or(32);
        self.f.int_const(bits, x)
    }

    pub(super) fn cast(&mut self, x: Value, to: u32) -> Value {
        let from = self.f.ty(x).int_bits().unwrap_or(to);
        match from.cmp(&to) {
            std::cmp::Ordering::Less => self.value(Op::Cast(CastOp::ZExt), &[x], Type::Int(to)),
            std::cmp::Ordering::Equal => x,
            std::cmp::Ordering::Greater => self.value(Op::Cast(CastOp::Trunc), &[x], Type::Int(to)),
        }
    }

    pub(super) fn br(&mut self, to: Block) {
        self.f.set_terminator(self.at, Op::Br, &[], &[to]);
    }

    /// What a kernel returned as a number of 32 bits; the index if it is no number.
    fn number(&mut self, result: Option<Value>, index: Value) -> Value {
        let x = result.unwrap_or(index);
        match self.f.ty(x) {
            Type::Int(bits) if bits <= 64 => self.cast(x, 32),
            Type::F32 => self.value(Op::Cast(CastOp::Bitcast), &[x], INT),
            Type::F64 => {
                let bits = self.value(Op::Cast(CastOp::Bitcast), &[x], Type::Int(64));
                self.cast(bits, 32)
            }
            _ => self.cast(index, 32),
        }
    }

    /// Code that carries something on; `phi` is in the header.
    fn carry(&mut self, phi: Value, x: Value, seen: &mut Vec<Value>) -> Value {
        let one = self.f.int_const(32, 1);
        let bit = self.binary(BinaryOp::And, x, one);
        let odd = self.value(Op::ICmp(IntPred::Eq), &[bit, one], Type::BOOL);
        let ops = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::And, BinaryOp::Or, BinaryOp::Xor];
        match self.rng.below(8) {
            // A reduction.
            0 => {
                let op = *self.rng.pick(&ops);
                self.binary(op, phi, x)
            }
            // One of some iterations only, by a choice.
            1 => {
                let op = *self.rng.pick(&ops);
                let new = self.binary(op, phi, x);
                self.value(Op::Select, &[odd, new, phi], INT)
            }
            // The same by a branch.
            2 => {
                let op = *self.rng.pick(&ops);
                let (then, join) = (self.f.add_block("some"), self.f.add_block("all"));
                let merged = self.f.add_phi(join, INT);
                let t = self.f.set_terminator(self.at, Op::CondBr, &[odd], &[then, join]);
                let past = self.f.insts[t].edges[1];
                self.f.set_phi_arg(past, 0, phi);
                self.at = then;
                let new = self.binary(op, phi, x);
                self.br(join);
                let e = self.f.out_edges(then)[0];
                self.f.set_phi_arg(e, 0, new);
                self.at = join;
                merged
            }
            // A minimum or maximum, by an intrinsic or by a comparison.
            3 => {
                let name = *self.rng.pick(&["smin", "smax", "umin", "umax"]);
                let none = warpline_ir::Effects::empty();
                let symbol = self.module.function_symbol(&format!("llvm.{name}.i32"), &[INT; 2], INT, none);
                let call =
                    warpline_ir::CallInfo { callee: Some(symbol), effects: none, variadic_fixed: None };
                self.value(Op::Call(Box::new(call)), &[x, phi], INT)
            }
            4 => {
                let preds = [IntPred::Slt, IntPred::Sge, IntPred::Ugt, IntPred::Ule];
                let pred = *self.rng.pick(&preds);
                let args = if self.rng.chance(1, 2) { [x, phi] } else { [phi, x] };
                let less = self.value(Op::ICmp(pred), &args, Type::BOOL);
                let args = if self.rng.chance(1, 2) { [less, x, phi] } else { [less, phi, x] };
                self.value(Op::Select, &args, INT)
            }
            // A scan: what there was before is seen, or what there is now.
            5 => {
                let op = *self.rng.pick(&ops);
                let new = self.binary(op, phi, x);
                seen.push(if self.rng.chance(1, 2) { new } else { phi });
                new
            }
            // The value of the iteration before.
            6 => {
                seen.push(phi);
                x
            }
            // It grows.
            _ => {
                seen.push(phi);
                let by = self.f.int_const(32, [1, 3, 0x8000_0001, u32::MAX.into()][self.rng.below(4)]);
                self.binary(BinaryOp::Add, phi, by)
            }
        }
    }
}

/// A loop of a seed around a kernel that has an index and does not ask about lanes.
pub fn around(program: &Program, rng: &mut SplitMix64) -> LoopProgram {
    let mut module = program.module.clone();
    let mut f = program.function().clone();
    f.name = "whole".into();
    let position = program.roles.iter().position(|r| *r == ParamRole::Index).unwrap_or(0);
    let index_param = f.params.remove(position);
    for (k, &p) in f.params.clone().iter().enumerate() {
        f.values[p].def = ValueDef::Param(k as u32);
    }
    let mut roles = program.roles.clone();
    roles.remove(position);
    for role in &mut roles {
        if *role == ParamRole::Varying {
            *role = ParamRole::Uniform;
        }
    }
    let ty = f.ty(index_param);
    let n = f.add_param(ty, "n");
    roles.push(ParamRole::Uniform);
    let body = f.entry();
    let [start, header, latch, exit] = ["start", "header", "latch", "exit"].map(|name| f.add_block(name));
    f.layout.retain(|&b| b != start && b != header);
    f.layout.splice(0..0, [start, header]);
    let index = f.add_phi(header, ty);
    f.map_operands(|v| if v == index_param { index } else { v });
    let result = returns_to(&mut f, latch, exit);

    let mut m = Maker { f, module: &mut module, rng, at: start };
    let bits = ty.int_bits().unwrap_or(32);
    let mask = m.f.int_const(bits, [7, 31, 63][m.rng.below(3)]);
    let low = m.f.int_const(bits, 1 + m.rng.below(30) as u128);
    let count = m.binary(BinaryOp::And, n, mask);
    let high = m.binary(BinaryOp::Add, low, count);
    let how_many = m.rng.below(4);
    let mut carries = Vec::new();
    for k in 0..how_many {
        let phi = m.f.add_phi(header, INT);
        let start = m.f.int_const(32, [0, 1, 77, u32::MAX.into()][k % 4]);
        carries.push(Carry { phi, next: phi, start });
    }
    // What is seen of scans and the like ends in a sum.
    let sum = m.f.add_phi(header, INT);
    let flag = m.rng.chance(1, 3).then(|| m.f.add_phi(header, Type::BOOL));

    m.at = latch;
    // Some of what was carried on is looked at before this iteration computes anything.
    let early = seen_first(&mut m, &carries);
    let x = m.number(result, index);
    let mut seen = body_of(&mut m, &mut carries, x);
    seen.extend(early);
    let flag = flag.map(|phi| flag_of(&mut m, phi, x, &mut seen));
    let alternates = m.rng.chance(1, 6).then(|| alternating(&mut m, header, &mut seen));
    let recurs = m.rng.chance(1, 5).then(|| recurrence(&mut m, header, (x, n), &mut seen));
    let mut total = sum;
    for s in seen {
        let three = m.int(s, 3);
        let s = m.binary(BinaryOp::Mul, s, three);
        total = m.binary(BinaryOp::Add, total, s);
    }
    carries.push(Carry { phi: sum, next: total, start: m.f.int_const(32, 5) });
    carries.extend(flag);
    carries.extend(alternates);
    carries.extend(recurs);
    if m.rng.chance(1, 5) {
        carries.push(ordered(&mut m, header, x));
    }
    if m.rng.chance(1, 3) {
        carries.push(of_bytes(&mut m, header, x));
    }
    // What is stored in between might be there.
    if !writes(program) && m.rng.chance(1, 5) {
        carries.push(place(&mut m, header, index));
    }
    if m.rng.chance(1, 3) {
        let selected = selections(&mut m, header, x, index);
        carries.extend(selected);
    }

    let at_header = m.rng.chance(2, 3);
    let range = at_header && m.rng.chance(1, 4);
    let counted = Counted { header, index, low, high };
    let counting = if range { inclusive(&mut m, &counted) } else { counting(&mut m, &counted) };
    let shows_index = !range || m.rng.chance(1, 5);
    carries.insert(0, Carry { phi: index, next: counting.next, start: counting.first });
    carries.extend(counting.flag);
    let phis: Vec<(Value, Value)> = carries.iter().map(|c| (c.start, c.next)).collect();
    if at_header {
        m.br(header);
        m.at = header;
        (counting.test)(&mut m, index, [body, exit]);
    } else {
        let counted = if m.rng.chance(1, 2) { counting.next } else { index };
        (counting.test)(&mut m, counted, [header, exit]);
        m.at = header;
        m.br(body);
    }
    m.at = start;
    m.br(header);
    let into = m.f.out_edges(start)[0];
    let back = m.f.blocks[header].preds.iter().copied().find(|&e| e != into);
    for (k, &(start, next)) in phis.iter().enumerate() {
        m.f.set_phi_arg(into, k, start);
        m.f.set_phi_arg(back.expect("the body ends in the loop"), k, next);
    }
    m.at = exit;
    let shown = |c: &Carry| if at_header { c.phi } else { c.next };
    let hidden = |c: &&Carry| (shows_index || c.phi != index) && !(range && m.f.ty(c.phi) == Type::BOOL);
    let finals: Vec<Value> = carries.iter().filter(hidden).map(shown).collect();
    // Of a place, what is there.
    let finals: Vec<Value> = finals
        .into_iter()
        .map(|v| match m.f.ty(v) {
            Type::Ptr(_) => m.value(Op::Load(MemAccess::plain(4)), &[v], INT),
            _ => v,
        })
        .collect();
    let types: Vec<Type> = finals.iter().map(|&v| m.f.ty(v)).collect();
    let whole = m.module.types.structure(types, false);
    let mut all = m.f.constant_value(Constant::Poison(whole));
    for (k, &v) in finals.iter().enumerate() {
        all = m.value(Op::InsertValue([k as u32].into()), &[all, v], whole);
    }
    m.f.ret = whole;
    m.f.set_terminator(exit, Op::Ret, &[all], &[]);
    let f = m.f;
    let kernel = module.functions.push(f);
    LoopProgram { program: Program { module, kernel, roles }, header }
}

/// Whether a kernel may write memory.
fn writes(program: &Program) -> bool {
    let f = program.function();
    let mut insts = f.layout.iter().flat_map(|&b| f.block_insts(b));
    insts.any(|i| f.insts[i].effects().contains(Effects::WRITES))
}

/// Code that looks at some of what is carried.
fn seen_first(m: &mut Maker<'_>, carries: &[Carry]) -> Vec<Value> {
    let mut seen = Vec::new();
    for c in carries {
        if m.rng.chance(1, 6) {
            let seven = m.int(c.phi, 7);
            seen.push(m.binary(BinaryOp::Xor, c.phi, seven));
        }
    }
    seen
}

/// A flag that the next iteration asks for, as it is or for its opposite.
fn flag_of(m: &mut Maker<'_>, phi: Value, x: Value, seen: &mut Vec<Value>) -> Carry {
    let limit = m.int(x, 1 << 30);
    let less = m.value(Op::ICmp(IntPred::Ult), &[x, limit], Type::BOOL);
    let yes = m.f.bool_const(true);
    let asked = if m.rng.chance(1, 2) { m.binary(BinaryOp::Xor, phi, yes) } else { phi };
    let both = m.binary(BinaryOp::And, asked, less);
    seen.push(m.cast(both, 32));
    let next = if m.rng.chance(1, 3) { m.binary(BinaryOp::Xor, less, yes) } else { less };
    Carry { phi, next, start: m.f.bool_const(m.rng.chance(1, 2)) }
}

/// What the body carries on, and what it sees of it.
fn body_of(m: &mut Maker<'_>, carries: &mut [Carry], x: Value) -> Vec<Value> {
    let mut seen = Vec::new();
    for k in 0..carries.len() {
        let phi = carries[k].phi;
        // Now and then the one before it is passed on.
        carries[k].next = match k {
            1.. if m.rng.chance(1, 6) => {
                seen.push(phi);
                carries[k - 1].phi
            }
            _ => {
                let five = m.int(x, 5 + k as u128);
                let own = m.binary(BinaryOp::Mul, x, five);
                m.carry(phi, own, &mut seen)
            }
        };
    }
    seen
}

/// The conjunction of a test and the same with another bound, or, if tests are for the end, the disjunction.
fn and_below(
    m: &mut Maker<'_>,
    (pred, inverted): (IntPred, bool),
    (counter, bound, swapped): (Value, Value, bool),
    first: Value,
) -> Value {
    let start = m.f.layout[0];
    let by = [0, 1, 3, u128::MAX][m.rng.below(4)];
    let by = m.int(bound, by);
    let ty = m.f.ty(bound);
    let other = m.f.append_value(start, Op::Binary(BinaryOp::Sub), &[bound, by], ty);
    let (a, b) = if swapped { (other, counter) } else { (counter, other) };
    let second = m.value(Op::ICmp(pred), &[a, b], Type::BOOL);
    let known = m.f.bool_const(inverted);
    match (m.rng.chance(1, 2), inverted) {
        (true, false) => m.binary(BinaryOp::And, first, second),
        (true, true) => m.binary(BinaryOp::Or, first, second),
        (false, false) => m.value(Op::Select, &[first, second, known], Type::BOOL),
        (false, true) => m.value(Op::Select, &[first, known, second], Type::BOOL),
    }
}

/// Lets returns lead to the latch, and says what they return there.
fn returns_to(f: &mut Function, latch: Block, exit: Block) -> Option<Value> {
    let result = (!f.ret.is_void()).then(|| f.add_phi(latch, f.ret));
    for b in f.layout.clone() {
        if b == exit || b == latch || f.blocks[b].term.is_none() {
            continue;
        }
        let t = f.terminator(b);
        if f.insts[t].op == Op::Ret {
            let value = f.insts[t].args.first().copied();
            f.set_terminator(b, Op::Br, &[], &[latch]);
            if let Some(v) = value {
                let e = f.out_edges(b)[0];
                f.set_phi_arg(e, 0, v);
            }
        }
    }
    result
}

/// What counts iterations, and between what.
struct Counted {
    header: Block,
    index: Value,
    low: Value,
    high: Value,
}

/// Ends a block by going on to the first of two blocks or leaving the loop for the second one, by what counts.
type Branch = Box<dyn Fn(&mut Maker<'_>, Value, [Block; 2])>;

/// How a loop counts.
struct Counting {
    first: Value,
    next: Value,
    /// What else it takes to know its end.
    flag: Option<Carry>,
    test: Branch,
}

/// Counts until a comparison says that it is the end.
fn counting(m: &mut Maker<'_>, counted: &Counted) -> Counting {
    let &Counted { index, low, high, .. } = counted;
    let test = Test::random(m.rng);
    let ty = m.f.ty(index);
    let by = m.int(index, test.step as u128);
    let add = m.f.append(m.at, Op::Binary(BinaryOp::Add), &[index, by], ty);
    if m.rng.chance(1, 2) {
        m.f.insts[add].flags = if test.step < 0 { InstFlags::NSW } else { InstFlags::NSW | InstFlags::NUW };
    }
    let next = m.f.insts[add].results[0];
    let (first, bound) = if test.step > 0 { (low, high) } else { (high, low) };
    let branch = move |m: &mut Maker<'_>, counter: Value, [on, out]: [Block; 2]| {
        test.branch(m, counter, bound, on, out);
    };
    Counting { first, next, flag: None, test: Box::new(branch) }
}

/// Counts over a range that includes its end, which may be the greatest or least number that there is: a flag says that
/// it has been passed.
fn inclusive(m: &mut Maker<'_>, counted: &Counted) -> Counting {
    let &Counted { header, index, low, high } = counted;
    let up = m.rng.chance(2, 3);
    let is_signed = m.rng.chance(1, 2);
    let bits = m.f.ty(index).int_bits().unwrap_or(32);
    let (mut first, mut end) = if up { (low, high) } else { (high, low) };
    if m.rng.chance(1, 3) {
        let greatest = if is_signed { (1u128 << (bits - 1)) - 1 } else { (1 << bits) - 1 };
        let least = if is_signed { 1u128 << (bits - 1) } else { 0 };
        end = m.f.int_const(bits, if up { greatest } else { least });
        let op = if up { BinaryOp::Sub } else { BinaryOp::Add };
        let start = m.f.layout[0];
        let ty = m.f.ty(index);
        let distance = m.f.append_value(start, Op::Binary(BinaryOp::Sub), &[high, low], ty);
        first = m.f.append_value(start, Op::Binary(op), &[end, distance], ty);
    }
    let flag = m.f.add_phi(header, Type::BOOL);
    let less = match (up, is_signed) {
        (true, true) => IntPred::Slt,
        (true, false) => IntPred::Ult,
        (false, true) => IntPred::Sgt,
        (false, false) => IntPred::Ugt,
    };
    let before = if m.rng.chance(1, 3) { IntPred::Ne } else { less };
    let goes_on = m.value(Op::ICmp(before), &[index, end], Type::BOOL);
    let op = if up { BinaryOp::Add } else { BinaryOp::Sub };
    let next = match m.rng.below(2) {
        0 => {
            let ty = m.f.ty(index);
            let by = m.value(Op::Cast(CastOp::ZExt), &[goes_on], ty);
            m.binary(op, index, by)
        }
        _ => {
            let one = m.int(index, 1);
            let moved = m.binary(op, index, one);
            let ty = m.f.ty(index);
            m.value(Op::Select, &[goes_on, moved, index], ty)
        }
    };
    let set = match m.rng.below(2) {
        0 => {
            let yes = m.f.bool_const(true);
            m.binary(BinaryOp::Xor, goes_on, yes)
        }
        _ => m.value(Op::ICmp(warpline_dataflow::conditions::inverse(before)), &[index, end], Type::BOOL),
    };
    let asks_end = m.rng.chance(2, 3);
    let branch = move |m: &mut Maker<'_>, counter: Value, [on, out]: [Block; 2]| {
        let mut ends = flag;
        if asks_end {
            let beyond = warpline_dataflow::conditions::swapped(less);
            let passed = m.value(Op::ICmp(beyond), &[counter, end], Type::BOOL);
            let yes = m.f.bool_const(true);
            ends = m.value(Op::Select, &[flag, yes, passed], Type::BOOL);
        }
        m.f.set_terminator(m.at, Op::CondBr, &[ends], &[out, on]);
    };
    let start = m.f.bool_const(false);
    Counting { first, next, flag: Some(Carry { phi: flag, next: set, start }), test: Box::new(branch) }
}

/// How the loop ends.
struct Test {
    step: i128,
    pred: IntPred,
    swapped: bool,
}

impl Test {
    fn random(rng: &mut SplitMix64) -> Test {
        let step = [1, 1, 1, 2, 3, -1][rng.below(6)];
        let preds: &[IntPred] = match step {
            1 => &[IntPred::Slt, IntPred::Ult, IntPred::Ne, IntPred::Sle, IntPred::Ule],
            -1 => &[IntPred::Sgt, IntPred::Ugt, IntPred::Ne, IntPred::Sge, IntPred::Uge],
            _ => &[IntPred::Slt, IntPred::Ult, IntPred::Sle, IntPred::Ule],
        };
        Test { step, pred: *rng.pick(preds), swapped: rng.chance(1, 3) }
    }

    /// Branches to `on` as long as the loop goes on.
    fn branch(&self, m: &mut Maker<'_>, counter: Value, bound: Value, on: Block, out: Block) {
        use warpline_dataflow::conditions::{inverse, swapped};
        // A loop that is tested at its end may have passed the bound already.
        let pred = match self.pred {
            IntPred::Ne if self.step > 0 => IntPred::Slt,
            IntPred::Ne => IntPred::Sgt,
            pred => pred,
        };
        let pred = if m.at == m.f.layout[1] { self.pred } else { pred };
        let (a, b, pred) = match self.swapped {
            true => (bound, counter, swapped(pred)),
            false => (counter, bound, pred),
        };
        let inverted = m.rng.chance(1, 3);
        let pred = if inverted { inverse(pred) } else { pred };
        let mut go = m.value(Op::ICmp(pred), &[a, b], Type::BOOL);
        let targets = |on: Block| if inverted { [out, on] } else { [on, out] };
        if m.rng.chance(1, 6) {
            // Two tests in a row.
            let then = m.f.add_block("then");
            m.f.set_terminator(m.at, Op::CondBr, &[go], &targets(then));
            m.at = then;
            go = m.value(Op::ICmp(pred), &[a, b], Type::BOOL);
            go = and_below(m, (pred, inverted), (counter, bound, self.swapped), go);
        } else if m.rng.chance(1, 4) {
            go = and_below(m, (pred, inverted), (counter, bound, self.swapped), go);
        }
        m.f.set_terminator(m.at, Op::CondBr, &[go], &targets(on));
    }
}
