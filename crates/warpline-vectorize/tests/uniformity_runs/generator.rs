//! Random functions on given control flow, and what numbers work-items.

use warpline_analysis::{CsrGraph, Graph, Node};
use warpline_dataflow::ssa::construct;
use warpline_interp::{Host, HostCall, HostResult, Memory, Val};
use warpline_ir::*;
use warpline_testkit::rng::SplitMix64;

use crate::{BYTES, WIDTHS};

struct Generator<'a> {
    rng: &'a mut SplitMix64,
    func: Function,
    vars: Vec<(Var, u32)>,
    block: Block,
    /// Values that may be used in the block, by their width; 1 for conditions.
    pool: Vec<(Value, u32)>,
    globals: Vec<(Value, u32)>,
    pointer: Value,
    kind: Kind,
}

/// What programs are made of.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Everything.
    Mixed,
    /// Arithmetic on indices that is then extended.
    Indices,
    /// Everything, with the number of a work-item in place of the index.
    Waves,
}

/// Work-items in a wave.
pub const WAVE: u32 = 4;

/// What a wave's work-item asks for its number.
pub const WORK_ITEM: &str = "llvm.amdgcn.workitem.id.x";

/// Lets the number of the work-item take the place of parameter `i`.
fn number_work_items(module: &mut Module) {
    let ty = Type::Int(8);
    let callee = module.function_symbol(WORK_ITEM, &[], ty, Effects::empty());
    let func = &mut module.functions[FuncId::from_u32(0)];
    let call = CallInfo { callee: Some(callee), effects: Effects::empty(), variadic_fixed: None };
    let entry = func.entry();
    let call = func.make_inst(entry, Op::Call(Box::new(call)), &[], &[ty]);
    let (index, number) = (func.params[0], func.insts[call].results[0]);
    func.map_operands(|v| if v == index { number } else { v });
    func.blocks[entry].insts.insert(0, call);
}

/// Numbers work-items from a number on.
pub struct WorkItems(pub u128);

impl Host for WorkItems {
    fn call(&mut self, call: &HostCall<'_>, _: &mut Memory) -> HostResult {
        HostResult::Pure(Val::int(self.0 + u128::from(call.lane)))
    }
}

/// Parameters: `i` (index), `u` (uniform), `v` (varying), `s` (stride 4), all of 8 bits, and `p`, a pointer to memory
/// of 64 bytes. In SSA form.
pub fn program(rng: &mut SplitMix64, graph: &CsrGraph, kind: Kind) -> Module {
    let mut module = program_with_variables(rng, graph, kind);
    construct(&mut module.functions[FuncId::from_u32(0)], |_| true);
    if kind == Kind::Waves {
        number_work_items(&mut module);
    }
    module
}

/// The same before its variables are replaced.
pub fn program_with_variables(rng: &mut SplitMix64, graph: &CsrGraph, kind: Kind) -> Module {
    let mut func = Function::new("f", Type::Int(8));
    let globals: Vec<(Value, u32)> =
        ["i", "u", "v", "s"].iter().map(|n| (func.add_param(Type::Int(8), n), 8)).collect();
    let pointer = func.add_param(Type::PTR, "p");
    let entry = func.add_block("entry");
    let vars = (0..rng.between(2, 5)).map(|_| *rng.pick(&WIDTHS)).collect::<Vec<u32>>();
    let vars = vars.into_iter().map(|w| (func.add_var(Type::Int(w), ""), w)).collect();
    let mut g = Generator { rng, func, vars, block: entry, pool: Vec::new(), globals, pointer, kind };
    g.start(entry);
    for k in 0..g.vars.len() {
        let (var, width) = g.vars[k];
        let v = if width == 8 && g.rng.chance(1, 2) { g.globals[0].0 } else { g.operand(width) };
        g.func.append(entry, Op::WriteVar(var), &[v], Type::Void);
    }
    let blocks: Vec<Block> = graph.nodes().map(|_| g.func.add_block("")).collect();
    g.func.set_terminator(entry, Op::Br, &[], &[blocks[0]]);
    for n in graph.nodes() {
        g.start(blocks[n.index()]);
        for _ in 0..g.rng.below(6) {
            match kind {
                Kind::Waves if g.rng.chance(1, 2) => g.wave_arithmetic(),
                Kind::Mixed | Kind::Waves => g.instruction(),
                Kind::Indices => g.index_arithmetic(),
            }
        }
        if g.rng.chance(2, 3) {
            g.count();
        }
        g.terminator(&graph.successors(n).map(|s: Node| blocks[s.index()]).collect::<Vec<_>>());
    }
    let mut module = Module::new("m");
    module.functions.push(g.func);
    module
}

impl Generator<'_> {
    fn start(&mut self, block: Block) {
        self.block = block;
        self.pool = self.globals.clone();
    }

    fn append(&mut self, op: Op, flags: InstFlags, args: &[Value], width: u32) -> Value {
        let v = self.func.append_value(self.block, op, args, Type::Int(width));
        if let Some(i) = self.func.def_inst(v) {
            self.func.insts[i].flags = flags;
        }
        self.pool.push((v, width));
        v
    }

    fn constant(&mut self, width: u32) -> Value {
        let c = *self.rng.pick(&[0, 1, 1, 2, 3, 4, 7, 8, 16, 255, 254, 128, 127]);
        let value = if c > 100 && width > 8 { (c as u128).wrapping_sub(256) } else { c as u128 };
        self.func.int_const(width, Constant::int(width, value).as_int().unwrap_or(0))
    }

    /// A value of this width: a constant, a variable, or one of the block.
    fn operand(&mut self, width: u32) -> Value {
        let vars: Vec<Var> = self.vars.iter().filter(|v| v.1 == width).map(|v| v.0).collect();
        let pool: Vec<Value> = self.pool.iter().filter(|v| v.1 == width).map(|v| v.0).collect();
        match self.rng.below(6) {
            0..3 if !pool.is_empty() => *self.rng.pick(&pool),
            3..5 if !vars.is_empty() => {
                let var = *self.rng.pick(&vars);
                self.append(Op::ReadVar(var), InstFlags::empty(), &[], width)
            }
            _ => self.constant(width),
        }
    }

    /// An operand that is less often a constant.
    fn changing_operand(&mut self, width: u32) -> Value {
        let v = self.operand(width);
        if self.func.constant(v).is_some() { self.operand(width) } else { v }
    }

    fn condition(&mut self) -> Value {
        let width = *self.rng.pick(&WIDTHS);
        let (a, mut b) = (self.changing_operand(width), self.operand(width));
        if self.rng.chance(1, 2) {
            b = self.changing_operand(width);
        }
        let equality = self.kind == Kind::Waves && self.rng.chance(1, 2);
        let pred = if equality { IntPred::Eq } else { *self.rng.pick(IntPred::ALL) };
        // One that wave arithmetic made.
        let made = self.pool.iter().filter(|p| p.1 == 1 && self.kind == Kind::Waves).map(|p| p.0).next_back();
        if let Some(c) = made.filter(|_| self.rng.chance(1, 2)) {
            return c;
        }
        let c = self.append(Op::ICmp(pred), InstFlags::empty(), &[a, b], 1);
        match self.rng.below(12) {
            0 => self.append(Op::Lane(LaneOp::Any), InstFlags::empty(), &[c], 1),
            1 => self.append(Op::Lane(LaneOp::All), InstFlags::empty(), &[c], 1),
            _ => c,
        }
    }

    fn flags(&mut self, allowed: &[InstFlags]) -> InstFlags {
        if self.rng.chance(1, 4) { *self.rng.pick(allowed) } else { InstFlags::empty() }
    }

    fn address(&mut self) -> Value {
        let x = self.operand(8);
        let mask = self.func.int_const(8, u128::from(BYTES / 2 - 1));
        let x = self.append(Op::Binary(BinaryOp::And), InstFlags::empty(), &[x, mask], 8);
        let flags = if self.rng.chance(1, 2) { InstFlags::INBOUNDS } else { InstFlags::empty() };
        let inst = self.func.append(self.block, Op::Gep(Type::Int(8)), &[self.pointer, x], Type::PTR);
        self.func.insts[inst].flags = flags;
        self.func.insts[inst].results[0]
    }

    /// Narrow arithmetic on what is likely to be strided, and an extension of it.
    fn index_arithmetic(&mut self) {
        let x = if self.rng.chance(1, 3) { self.globals[0].0 } else { self.operand(8) };
        let op = *self.rng.pick(&[BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Shl, BinaryOp::Or]);
        let y = match op {
            BinaryOp::Add | BinaryOp::Sub => self.operand(8),
            _ => self.func.int_const(8, *self.rng.pick(&[1, 2, 3])),
        };
        let signed = self.rng.chance(1, 2);
        let flags = match op {
            BinaryOp::Or => InstFlags::DISJOINT,
            _ if signed => InstFlags::NSW,
            _ => InstFlags::NUW,
        };
        let x = self.append(Op::Binary(op), flags, &[x, y], 8);
        let nneg = self.rng.chance(1, 3);
        let (op, flags) = match (signed, nneg) {
            (true, false) => (CastOp::SExt, InstFlags::empty()),
            (false, false) => (CastOp::ZExt, InstFlags::empty()),
            (_, true) => (CastOp::ZExt, InstFlags::NNEG),
        };
        let wide = *self.rng.pick(&[16, 64]);
        let x = self.append(Op::Cast(op), flags, &[x], wide);
        let to = self.vars.iter().filter(|v| v.1 == wide).map(|v| v.0).next();
        if let Some(var) = to {
            self.func.append(self.block, Op::WriteVar(var), &[x], Type::Void);
        }
    }

    /// Arithmetic on what is likely to be the number of a work-item, by numbers that leave the lanes of a wave alone
    /// or do not.
    fn wave_arithmetic(&mut self) {
        let x = if self.rng.chance(1, 2) { self.globals[0].0 } else { self.operand(8) };
        let choices: [(BinaryOp, &[u128]); 10] = [
            (BinaryOp::LShr, &[1, 2, 3]),
            (BinaryOp::AShr, &[1, 2, 3]),
            (BinaryOp::And, &[0xfc, 0xf8, 0x0f, 0xfe]),
            (BinaryOp::Or, &[0x03, 0x07, 0x04]),
            (BinaryOp::UDiv, &[4, 8, 12, 6]),
            (BinaryOp::SDiv, &[4, 8, 12, 6]),
            (BinaryOp::Add, &[4, 8, 0xfc, 2]),
            (BinaryOp::Sub, &[4, 8, 1]),
            (BinaryOp::Shl, &[1, 2]),
            (BinaryOp::Mul, &[2, 4, 3]),
        ];
        let (op, numbers) = *self.rng.pick(&choices);
        let flags = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl => {
                self.flags(&[InstFlags::NUW, InstFlags::NSW])
            }
            BinaryOp::LShr | BinaryOp::AShr | BinaryOp::UDiv => self.flags(&[InstFlags::EXACT]),
            BinaryOp::Or => self.flags(&[InstFlags::DISJOINT]),
            _ => InstFlags::empty(),
        };
        let by = self.func.int_const(8, *self.rng.pick(numbers));
        let y = self.append(Op::Binary(op), flags, &[x, by], 8);
        match self.rng.below(4) {
            0 => {
                let pred = *self.rng.pick(IntPred::ALL);
                let with = self.func.int_const(8, *self.rng.pick(&[4, 7, 8, 12, 3, 0x80, 0x7f, 0xff]));
                let args = if self.rng.chance(1, 4) { [with, y] } else { [y, with] };
                self.append(Op::ICmp(pred), InstFlags::empty(), &args, 1);
            }
            1 => {
                let cast = *self.rng.pick(&[CastOp::ZExt, CastOp::SExt]);
                self.append(Op::Cast(cast), InstFlags::empty(), &[y], 16);
            }
            2 => {
                let narrow: Vec<Var> = self.vars.iter().filter(|v| v.1 == 8).map(|v| v.0).collect();
                if !narrow.is_empty() {
                    let var = *self.rng.pick(&narrow);
                    self.func.append(self.block, Op::WriteVar(var), &[y], Type::Void);
                }
            }
            _ => {}
        }
    }

    fn instruction(&mut self) {
        let width = *self.rng.pick(&WIDTHS);
        let wrap = [InstFlags::NUW, InstFlags::NSW, InstFlags::NUW | InstFlags::NSW];
        match self.rng.below(24) {
            0..8 => {
                let op = *self.rng.pick(&[
                    BinaryOp::Add,
                    BinaryOp::Add,
                    BinaryOp::Sub,
                    BinaryOp::Mul,
                    BinaryOp::Shl,
                    BinaryOp::LShr,
                    BinaryOp::AShr,
                    BinaryOp::And,
                    BinaryOp::Or,
                    BinaryOp::Xor,
                    BinaryOp::UDiv,
                    BinaryOp::URem,
                ]);
                let a = self.operand(width);
                let b = if self.rng.chance(1, 2) { self.constant(width) } else { self.operand(width) };
                let flags = match op {
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl => self.flags(&wrap),
                    BinaryOp::Or => self.flags(&[InstFlags::DISJOINT]),
                    BinaryOp::LShr | BinaryOp::AShr => self.flags(&[InstFlags::EXACT]),
                    _ => InstFlags::empty(),
                };
                let b = match op.is_int_division() {
                    true => self.func.int_const(width, *self.rng.pick(&[1, 2, 3, 4])),
                    false => b,
                };
                self.append(Op::Binary(op), flags, &[a, b], width);
            }
            8..11 => {
                let from = *self.rng.pick(&WIDTHS);
                let x = self.operand(from);
                let op = match width.cmp(&from) {
                    std::cmp::Ordering::Less => CastOp::Trunc,
                    std::cmp::Ordering::Equal => return,
                    _ => *self.rng.pick(&[CastOp::ZExt, CastOp::SExt]),
                };
                self.append(Op::Cast(op), InstFlags::empty(), &[x], width);
            }
            11 => {
                let c = self.condition();
                let (a, b) = (self.operand(width), self.operand(width));
                self.append(Op::Select, InstFlags::empty(), &[c, a, b], width);
            }
            12 => {
                let x = self.operand(width);
                self.append(Op::Freeze, InstFlags::empty(), &[x], width);
            }
            13 | 14 => {
                let address = self.address();
                self.append(Op::Load(MemAccess::plain(1)), InstFlags::empty(), &[address], 8);
            }
            15 => {
                let (x, address) = (self.operand(8), self.address());
                self.func.append(self.block, Op::Store(MemAccess::plain(1)), &[x, address], Type::Void);
            }
            16 => {
                // An address that is computed and not used, from an index of any width.
                let x = self.operand(width);
                let elem = Type::Int(*self.rng.pick(&[8, 32]));
                self.func.append(self.block, Op::Gep(elem), &[self.pointer, x], Type::PTR);
            }
            17 => {
                let v = self.append(Op::Lane(LaneOp::LaneIndex), InstFlags::empty(), &[], 32);
                self.append(Op::Cast(CastOp::Trunc), InstFlags::empty(), &[v], 8);
            }
            18 | 19 => {
                // What keeps a stride.
                let x =
                    if width == 8 && self.rng.chance(1, 3) { self.globals[0].0 } else { self.operand(width) };
                let y = self.constant(width);
                let op = *self.rng.pick(&[BinaryOp::Add, BinaryOp::Add, BinaryOp::Sub]);
                let flags = self.flags(&wrap);
                let sum = self.append(Op::Binary(op), flags, &[x, y], width);
                let wider: Vec<u32> = WIDTHS.iter().copied().filter(|&w| w > width).collect();
                if !wider.is_empty() && self.rng.chance(1, 2) {
                    let signed = flags.contains(InstFlags::NSW);
                    let op = if signed { CastOp::SExt } else { CastOp::ZExt };
                    let to = *self.rng.pick(&wider);
                    self.append(Op::Cast(op), InstFlags::empty(), &[sum], to);
                }
            }
            _ => {
                let (var, width) = *self.rng.pick(&self.vars.clone());
                let v = self.operand(width);
                self.func.append(self.block, Op::WriteVar(var), &[v], Type::Void);
            }
        }
    }

    /// Counts in a variable, so that loops come to an end.
    fn count(&mut self) {
        let (var, width) = *self.rng.pick(&self.vars.clone());
        let x = self.append(Op::ReadVar(var), InstFlags::empty(), &[], width);
        let step = match self.rng.below(3) {
            0 => self.operand(width),
            _ => self.func.int_const(width, *self.rng.pick(&[1, 3, 5, 16])),
        };
        let x = self.append(Op::Binary(BinaryOp::Add), InstFlags::empty(), &[x, step], width);
        self.func.append(self.block, Op::WriteVar(var), &[x], Type::Void);
    }

    /// Eight bits that depend on all bits of a value.
    fn digest(&mut self) -> Value {
        let (var, width) = *self.rng.pick(&self.vars.clone());
        let x = self.append(Op::ReadVar(var), InstFlags::empty(), &[], width);
        if width == 8 {
            return x;
        }
        let none = InstFlags::empty();
        let factor = self.func.int_const(width, 0x9e37_79b9_7f4a_7c15 & ((1 << width) - 1));
        let x = self.append(Op::Binary(BinaryOp::Mul), none, &[x, factor], width);
        let shift = self.func.int_const(width, u128::from(width) - 8);
        let x = self.append(Op::Binary(BinaryOp::LShr), none, &[x, shift], width);
        self.append(Op::Cast(CastOp::Trunc), none, &[x], 8)
    }

    fn terminator(&mut self, targets: &[Block]) {
        let block = self.block;
        match targets.len() {
            0 => {
                let v = self.digest();
                self.func.set_terminator(block, Op::Ret, &[v], targets);
            }
            1 => {
                self.func.set_terminator(block, Op::Br, &[], targets);
            }
            2 => {
                let c = self.condition();
                self.func.set_terminator(block, Op::CondBr, &[c], targets);
            }
            n => {
                let v = self.operand(8);
                let three = self.func.int_const(8, 3);
                let v = self.append(Op::Binary(BinaryOp::And), InstFlags::empty(), &[v, three], 8);
                let cases = (0..n as u128 - 1).collect();
                self.func.set_terminator(block, Op::Switch(cases), &[v], targets);
            }
        }
    }
}
