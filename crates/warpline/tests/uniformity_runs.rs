//! What the uniformity and the shape analysis claim, held against lockstep runs of random programs.
//!
//! The programs are of random control flow (reducible or not), on a few narrow variables, so that arithmetic
//! wraps, loops are left apart and φs merge what they should not. The lane interpreter, which has its own cycles and its own
//! convergence, executes them in lockstep; every claim on a value at its definition, on an operand where it is
//! used, and on a branch is checked at every instance that two lanes execute together.

use warpline::interp::{
    ChildOrder, Claim, Event, Host, HostCall, HostResult, LaneArg, LaneSet, Machine, Memory, Observer,
    Options as MachineOptions, UniformityChecker, Val,
};
use warpline::ir::*;
use warpline::shape::{ArgShape, Exact, Shape};
use warpline::ssa::construct;
use warpline::uniformity::facts::WorkGroup;
use warpline::uniformity::summary::{Input, Summaries};
use warpline::uniformity::{Facts, Options, Target, Uniformity};
use warpline::vectorize::widen::widen_indices;
use warpline_analysis::{CsrGraph, Graph, Node};
use warpline_testkit::differential::shape_of;
use warpline_testkit::graphs;
use warpline_testkit::programs::{Inputs, MemoryMode, ProgramOptions, generate, run_lockstep};
use warpline_testkit::rng::SplitMix64;

const WIDTHS: [u32; 5] = [8, 8, 8, 16, 64];
const BYTES: u64 = 64;

// ---- programs -------------------------------------------------------------------------------------------

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
enum Kind {
    /// Everything.
    Mixed,
    /// Arithmetic on indices that is then extended.
    Indices,
    /// Everything, with the number of a work-item in place of the index.
    Waves,
}

/// Work-items in a wave.
const WAVE: u32 = 4;

const WORK_ITEM: &str = "llvm.amdgcn.workitem.id.x";

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
struct WorkItems(u128);

impl Host for WorkItems {
    fn call(&mut self, call: &HostCall<'_>, _: &mut Memory) -> HostResult {
        HostResult::Pure(Val::int(self.0 + u128::from(call.lane)))
    }
}

/// Parameters: `i` (index), `u` (uniform), `v` (varying), `s` (stride 4), all of 8 bits, and `p`, a pointer to memory of
/// 64 bytes. In SSA form.
fn program(rng: &mut SplitMix64, graph: &CsrGraph, kind: Kind) -> Module {
    let mut module = program_with_variables(rng, graph, kind);
    construct(&mut module.functions[FuncId::from_u32(0)], |_| true);
    if kind == Kind::Waves {
        number_work_items(&mut module);
    }
    module
}

/// The same before its variables are replaced.
fn program_with_variables(rng: &mut SplitMix64, graph: &CsrGraph, kind: Kind) -> Module {
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

    /// Arithmetic on what is likely to be the number of a work-item, by numbers that leave the lanes of a wave alone or do not.
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

// ---- claims ---------------------------------------------------------------------------------------------

fn claim(module: &Module, ty: Type, shape: Shape) -> Claim {
    let bits = match ty {
        Type::Int(w) => w,
        Type::Ptr(space) => module.layout.index_bits(space),
        _ => return if shape.is_uniform() { Claim::Uniform } else { Claim::Varying },
    };
    match shape {
        Shape::Uniform => Claim::Uniform,
        Shape::Strided(s) => Claim::Strided { stride: s.step.into(), bits },
        Shape::Varying => Claim::Varying,
    }
}

/// The interpreter's checker with all claims of an analysis, and a check of exactness besides.
struct Judge<'f> {
    func: &'f Function,
    result: &'f Uniformity,
    checker: UniformityChecker<'f>,
    inexact: Vec<Value>,
}

impl<'f> Judge<'f> {
    fn new(module: &Module, func: &'f Function, result: &'f Uniformity) -> Judge<'f> {
        let mut checker = UniformityChecker::new(func);
        for v in func.values.keys() {
            checker.values[v] = claim(module, func.ty(v), result.shape(v));
        }
        for &b in &func.layout {
            for inst in func.block_insts(b) {
                let uses = func.insts[inst].args.iter();
                checker.uses[inst] =
                    uses.map(|&a| claim(module, func.ty(a), result.shape_at(a, b))).collect();
            }
            for &e in &func.blocks[b].preds {
                let uses = func.edges[e].args.iter();
                checker.phi_uses[e] =
                    uses.map(|&a| claim(module, func.ty(a), result.shape_on(a, e))).collect();
            }
            // What is claimed is that lanes go on to one block, and what is seen is which edges they take.
            let mut targets: Vec<Block> = func.successors(b).collect();
            targets.sort_unstable();
            let parts = targets.len() > 1 && targets.windows(2).all(|pair| pair[0] != pair[1]);
            checker.uniform_branches[b] = parts && !result.is_divergent_branch(b);
        }
        Judge { func, result, checker, inexact: Vec::new() }
    }
}

impl Observer for Judge<'_> {
    fn executed(&mut self, event: &Event<'_>) {
        self.checker.executed(event);
        if event.depth > 0 {
            return;
        }
        for &r in &self.func.insts[event.inst].results {
            let (Shape::Strided(s), Type::Int(width)) = (self.result.shape(r), self.func.ty(r)) else {
                continue;
            };
            let known = |lane: u32| event.value(r, lane).first().and_then(|c| c.defined());
            let signed = |x: u128| ((x << (128 - width)) as i128) >> (128 - width);
            let mut lanes = event.lanes.iter().filter_map(|l| Some((l, known(l)?)));
            let Some((first, a)) = lanes.next() else { continue };
            for (lane, b) in lanes {
                let expected = i128::from(lane - first) * i128::from(s.step);
                let wrong = (s.unsigned != Exact::No && b as i128 - a as i128 != expected)
                    || (s.signed != Exact::No && signed(b) - signed(a) != expected);
                if wrong && !self.inexact.contains(&r) {
                    self.inexact.push(r);
                }
            }
        }
    }
}

#[derive(Default, Debug)]
struct Rates {
    runs: usize,
    returned: usize,
    trapped: usize,
    out_of_fuel: usize,
    froze: usize,
    diverged_branches: usize,
    uniform_observed: usize,
    strided_observed: usize,
    exact_observed: usize,
    varying_diverged: usize,
    varying_observed: usize,
    temporal: usize,
    irreducible: usize,
    widened: usize,
    wave_values: usize,
    wave_branches: usize,
    known_values: usize,
    known_lost: usize,
    known_branches: usize,
}

const ARGS: [ArgShape; 5] =
    [ArgShape::Index, ArgShape::Uniform, ArgShape::Varying, ArgShape::Stride(4), ArgShape::Uniform];

/// What each lane returned, if the run came to its end.
type Returned = Option<Vec<Option<Val>>>;

/// Runs a program with random arguments. What was claimed and did not hold is an error.
fn run(
    module: &Module,
    result: &Uniformity,
    rng: &mut SplitMix64,
    rates: &mut Rates,
) -> Result<Returned, String> {
    let func = &module.functions[FuncId::from_u32(0)];
    let is_wave = module.symbol(WORK_ITEM).is_some();
    let width = *rng.pick(if is_wave { &[2, 3, WAVE] } else { &[2, 4, 7] });
    let options = MachineOptions {
        fuel: 6_000,
        child_order: *rng.pick(&[ChildOrder::Forward, ChildOrder::Backward, ChildOrder::Shuffled(1)]),
        ..MachineOptions::default()
    };
    let mut machine = Machine::with_options(module, options);
    let memory: Vec<u8> = (0..BYTES).map(|_| rng.below(5) as u8).collect();
    let Ok(address) = machine.memory.allocate_bytes(&memory, 1) else { return Err("no memory".into()) };
    let int8 = |x: u128| Val::int(x & 0xff);
    // Neither reading wraps between base and base + width − 1.
    let start = *rng.pick(&[0, 1, 3, 121, 128, 240]);
    let (u, s) = (rng.below(256) as u128, rng.below(256) as u128);
    let lanes = || 0..u128::from(width);
    machine.set_host(WorkItems(start & !u128::from(WAVE - 1)));
    let args = [
        LaneArg::Each(lanes().map(|l| int8(start + l)).collect()),
        LaneArg::Same(int8(*rng.pick(&[0, 1, 5, u]))),
        LaneArg::Each(lanes().map(|_| int8(rng.below(256) as u128)).collect()),
        LaneArg::Each(lanes().map(|l| int8(s + 4 * l)).collect()),
        LaneArg::Same(Val::ptr(address)),
    ];
    let mut entry = LaneSet::first(width);
    if rng.chance(1, 4) {
        entry = entry.minus(LaneSet::one(0));
    }
    let code = machine.prepare(func);
    let mut judge = Judge::new(module, func, result);
    let outcome = machine.run_lockstep(&code, width, entry, &args, Some(&mut judge));
    rates.runs += 1;
    if machine.froze {
        // `freeze` of poison made an arbitrary choice, which the analysis may make differently.
        rates.froze += 1;
        return Ok(None);
    }
    let returned = match outcome {
        Ok(run) => {
            rates.returned += 1;
            Some(run.returns)
        }
        Err(t) => {
            let out_of_fuel = t.kind == warpline::interp::TrapKind::OutOfFuel;
            rates.out_of_fuel += usize::from(out_of_fuel);
            rates.trapped += usize::from(!out_of_fuel);
            None
        }
    };
    for v in func.values.keys().filter(|&v| judge.checker.observed[v]) {
        match result.shape(v) {
            Shape::Uniform => rates.uniform_observed += 1,
            Shape::Strided(s) => {
                rates.strided_observed += 1;
                rates.exact_observed += usize::from(s.unsigned != Exact::No || s.signed != Exact::No);
            }
            Shape::Varying => {
                rates.varying_observed += 1;
                rates.varying_diverged += usize::from(judge.checker.diverged[v]);
            }
        }
    }
    rates.diverged_branches += judge.checker.diverged_branches.values().filter(|&&d| d).count();
    match (judge.checker.violations.first(), judge.inexact.first()) {
        (Some(v), _) => Err(format!("width {width}: {v:?}")),
        (None, Some(v)) => Err(format!("width {width}: {v} is {}, but not exactly", result.shape(*v))),
        (None, None) => Ok(returned),
    }
}

fn check(seed: u64, graph: &CsrGraph, kind: Kind, rates: &mut Rates) -> Result<(), String> {
    let mut rng = SplitMix64::new(seed);
    let module = program(&mut rng, graph, kind);
    let func = &module.functions[FuncId::from_u32(0)];
    let group = WorkGroup { size: [256, 1, 1], whole: false };
    let mut facts = Facts::default();
    (facts.wave_size, facts.work_group) = (Some(WAVE), Some(group));
    let target = if kind == Kind::Waves { Target::Amdgcn } else { Target::Simd };
    let plain = Options { target, ..Options::with_args(ARGS.to_vec()) };
    let options = Options { facts: facts.into(), ..plain.clone() };
    let unknown_waves = Uniformity::compute(&module, func, &plain);
    let plain = Uniformity::compute(&module, func, &options);
    let gains = |v: &Value| unknown_waves.is_divergent(*v) && !plain.is_divergent(*v);
    rates.wave_values += func.values.keys().filter(gains).count();
    let gains = |b: &&Block| unknown_waves.is_divergent_branch(**b) && !plain.is_divergent_branch(**b);
    rates.wave_branches += func.layout.iter().filter(gains).count();
    let options = options.with_known(&module, func, None);
    let result = Uniformity::compute(&module, func, &options);
    for v in func.values.keys().filter(|&v| plain.is_divergent(v) != result.is_divergent(v)) {
        // A φ all of whose live operands are poison may look like one that changes.
        if result.is_divergent(v) {
            rates.known_lost += 1;
            continue;
        }
        rates.known_values += 1;
    }
    let differs = |b: &&Block| plain.is_divergent_branch(**b) && !result.is_divergent_branch(**b);
    rates.known_branches += func.layout.iter().filter(differs).count();
    rates.temporal += result.temporal_uses(func).len();
    rates.irreducible += result.cycles().cycles().filter(|&c| !result.cycles().is_reducible(c)).count();
    let mut widened = module.clone();
    let widened_func = &mut widened.functions[FuncId::from_u32(0)];
    rates.widened += widen_indices(&module, widened_func, &result);
    let widened_result = Uniformity::compute(&widened, &widened.functions[FuncId::from_u32(0)], &options);
    for _ in 0..4 {
        let text = |m: &Module, e: String| format!("{e}\n{}", warpline::text::print_module(m));
        let mut same = rng.clone();
        let plain = run(&module, &result, &mut rng, rates).map_err(|e| text(&module, e))?;
        if let Some(plain) = plain {
            let wide = run(&widened, &widened_result, &mut same, &mut Rates::default());
            let Some(wide) = wide.map_err(|e| text(&widened, e))? else { continue };
            let refined = plain.iter().zip(&wide).all(|(a, b)| match (a, b) {
                (Some(a), Some(b)) => a.refined_by(b),
                (a, b) => a.is_none() && b.is_none(),
            });
            if !refined {
                let e = format!("{plain:?} became {wide:?} by widening\n");
                return Err(text(&module, text(&widened, e)));
            }
        }
    }
    Ok(())
}

/// The graph with one more node, the exit, to which some of the others have an edge.
fn with_exits(rng: &mut SplitMix64, graph: &CsrGraph) -> CsrGraph {
    let exit = graph.node_count();
    let mut edges = graphs::edge_list(graph);
    let more: Vec<(usize, usize)> = (0..exit).filter(|_| rng.chance(1, 3)).map(|n| (n, exit)).collect();
    edges.extend(more);
    rng.shuffle(&mut edges);
    graphs::build(exit + 1, edges)
}

fn check_many(
    seeds: std::ops::Range<u64>,
    kind: Kind,
    generate: impl Fn(&mut SplitMix64) -> CsrGraph,
) -> Rates {
    let mut rates = Rates::default();
    for seed in seeds {
        let mut rng = SplitMix64::new(seed);
        let graph = generate(&mut rng);
        let graph = with_exits(&mut rng, &graph);
        if let Err(message) = check(seed, &graph, kind, &mut rates) {
            let again = |g: &CsrGraph| check(seed, g, kind, &mut Rates::default());
            let (_, message) = graphs::shrink(&graph, message, again);
            panic!("seed {seed}: {message}");
        }
    }
    rates
}

/// The seeds of a test: `WARPLINE_PROGRAMS` of them from `WARPLINE_SEED` on.
fn seeds(count: u64) -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let first = number("WARPLINE_SEED").unwrap_or(0);
    first..first + number("WARPLINE_PROGRAMS").unwrap_or(count)
}

fn assert_not_vacuous(rates: &Rates) {
    assert!(rates.known_lost * 1000 < rates.runs, "{rates:?}");
    let enough = rates.returned > rates.runs / 4
        && rates.uniform_observed > rates.runs / 2
        && rates.strided_observed > rates.runs / 4
        && rates.exact_observed > rates.runs / 20
        && rates.diverged_branches > rates.runs / 8
        && rates.temporal > rates.runs / 20;
    assert!(enough, "{rates:?}");
}

#[test]
fn claims_hold_in_lockstep_runs_of_reducible_programs() {
    let rates = check_many(seeds(800), Kind::Mixed, |rng| graphs::reducible(rng, 11));
    assert_not_vacuous(&rates);
}

#[test]
fn claims_hold_in_lockstep_runs_of_programs_with_any_control_flow() {
    let rates = check_many(seeds(800), Kind::Mixed, |rng| graphs::arbitrary(rng, 11));
    assert_not_vacuous(&rates);
    assert!(rates.irreducible > 100, "{rates:?}");
}

#[test]
fn claims_about_the_work_items_of_a_wave_hold_in_lockstep_runs() {
    let rates = check_many(seeds(800), Kind::Waves, |rng| graphs::reducible(rng, 11));
    assert!(rates.returned > rates.runs / 4 && rates.diverged_branches > rates.runs / 8, "{rates:?}");
    println!("{rates:?}");
    assert!(rates.wave_values > rates.runs / 4 && rates.wave_branches > rates.runs / 80, "{rates:?}");
    assert!(rates.known_values > rates.runs / 160, "{rates:?}");
}

#[test]
fn claims_hold_and_results_stay_when_indices_are_widened() {
    let rates = check_many(seeds(800), Kind::Indices, |rng| graphs::reducible(rng, 4));
    assert!(rates.widened > rates.runs / 10 && rates.returned > rates.runs / 4, "{rates:?}");
}

/// What is found of a function with variables is what is found of it in SSA form: of a read, as of a use of the value that
/// takes its place.
fn answers_are_those_of_the_ssa_form(module: &Module) -> Result<(usize, usize), String> {
    let shapes =
        [ArgShape::Varying, ArgShape::Uniform, ArgShape::Varying, ArgShape::Varying, ArgShape::Uniform];
    let options = Options::with_args(shapes.to_vec());
    let func = &module.functions[FuncId::from_u32(0)];
    let mut ssa = module.clone();
    let built = construct(&mut ssa.functions[FuncId::from_u32(0)], |_| true);
    let in_ssa = Uniformity::compute(&ssa, &ssa.functions[FuncId::from_u32(0)], &options);
    let direct = Uniformity::compute(module, func, &options);
    let (mut reads, mut divergent) = (0, 0);
    for &b in &func.layout {
        if direct.is_divergent_branch(b) != in_ssa.is_divergent_branch(b) {
            return Err(format!("the branch of {b} differs from its SSA form"));
        }
        for v in func.block_insts(b).flat_map(|i| func.insts[i].results.iter().copied()) {
            let expected = match built.value_of(v) {
                Some(value) => in_ssa.is_divergent_at(value, b),
                None => in_ssa.is_divergent(v),
            };
            if direct.is_divergent(v) != expected {
                return Err(format!("{v} differs from its SSA form, where it is divergent: {expected}"));
            }
            reads += usize::from(built.value_of(v).is_some());
            divergent += usize::from(built.value_of(v).is_some() && expected);
        }
    }
    Ok((reads, divergent))
}

#[test]
fn claims_hold_in_functions_with_variables_and_are_those_of_their_ssa_form() {
    let (mut rates, mut reads, mut divergent) = (Rates::default(), 0, 0);
    for seed in 0..600 {
        let mut rng = SplitMix64::new(seed);
        let arbitrary = rng.chance(1, 2);
        let graph = if arbitrary { graphs::arbitrary(&mut rng, 11) } else { graphs::reducible(&mut rng, 11) };
        let graph = with_exits(&mut rng, &graph);
        let module = program_with_variables(&mut rng, &graph, Kind::Mixed);
        let fail = |e: String| panic!("seed {seed}: {e}\n{}", warpline::text::print_module(&module));
        let (r, d) = answers_are_those_of_the_ssa_form(&module).unwrap_or_else(fail);
        (reads, divergent) = (reads + r, divergent + d);
        let func = &module.functions[FuncId::from_u32(0)];
        let result = Uniformity::compute(&module, func, &Options::with_args(ARGS.to_vec()));
        for _ in 0..3 {
            let fail = |e: String| panic!("seed {seed}: {e}\n{}", warpline::text::print_module(&module));
            run(&module, &result, &mut rng, &mut rates).unwrap_or_else(fail);
        }
    }
    println!("{reads} reads, {divergent} divergent; {rates:?}");
    assert!(divergent * 5 > reads && divergent * 5 < reads * 4, "{divergent} of {reads} reads diverge");
    assert!(rates.returned > rates.runs / 4 && rates.uniform_observed > rates.runs / 2, "{rates:?}");
    assert!(rates.diverged_branches > rates.runs / 8, "{rates:?}");
}

/// Structured programs with memory, calls, lane operations and values that are used outside of their loops.
#[test]
fn claims_hold_in_lockstep_runs_of_kernels() {
    let (mut judged, mut uniform, mut strided, mut parted) = (0, 0, 0, 0);
    for seed in 0..300 {
        let mut rng = SplitMix64::new(seed);
        let options = ProgramOptions {
            size: 2 + rng.below(10),
            memory: *rng.pick(&[MemoryMode::None, MemoryMode::Private, MemoryMode::Racy]),
            lane_operations: rng.chance(1, 2),
            effects: rng.chance(1, 2),
            traps: rng.chance(1, 3),
            ..ProgramOptions::default()
        };
        let program = generate(seed, &options);
        let func = program.function();
        let args = program.roles.iter().map(shape_of).collect();
        let result = Uniformity::compute(&program.module, func, &Options::with_args(args));
        let width = *rng.pick(&[2, 5, 8]);
        let inputs = Inputs::random(&program, width, seed);
        let machine = MachineOptions {
            fuel: 100_000,
            child_order: *rng.pick(&[ChildOrder::Forward, ChildOrder::Backward]),
            ..MachineOptions::default()
        };
        let mut judge = Judge::new(&program.module, func, &result);
        let run = run_lockstep(&program, &inputs, LaneSet::first(width), &machine, Some(&mut judge));
        if run.froze {
            continue;
        }
        judged += 1;
        let violations = (&judge.checker.violations, &judge.inexact);
        assert!(
            violations.0.is_empty() && violations.1.is_empty(),
            "seed {seed}: {violations:?}\n{}",
            program.text()
        );
        for v in func.values.keys().filter(|&v| judge.checker.observed[v]) {
            uniform += usize::from(result.shape(v).is_uniform());
            strided += usize::from(matches!(result.shape(v), Shape::Strided(_)));
        }
        parted += judge.checker.diverged_branches.values().filter(|&&d| d).count();
    }
    let rates = format!("{judged} judged, {uniform} uniform, {strided} strided, {parted} parted");
    assert!(judged > 200 && uniform > 2000 && strided > 200 && parted > 100, "{rates}");
}

/// Calls of functions of the module, whose results are known by summaries.
#[test]
fn claims_about_results_of_functions_hold_in_lockstep_runs() {
    let (mut calls, mut uniform, mut differed) = (0, 0, 0);
    for seed in 0..600 {
        let mut rng = SplitMix64::new(seed);
        let options = ProgramOptions {
            size: 2 + rng.below(10),
            memory: *rng.pick(&[MemoryMode::None, MemoryMode::Private]),
            lane_operations: false,
            effects: false,
            ..ProgramOptions::default()
        };
        let program = generate(seed, &options);
        if program.module.functions.len() < 2 {
            continue;
        }
        let func = program.function();
        let summaries = Summaries::compute(&program.module, Target::Simd, |_| Input::default());
        let asked = Options {
            args: program.roles.iter().map(shape_of).collect(),
            summaries: Some(summaries.into()),
            ..Options::default()
        };
        let result = Uniformity::compute(&program.module, func, &asked);
        let width = *rng.pick(&[2, 5, 8]);
        let inputs = Inputs::random(&program, width, seed);
        let machine = MachineOptions { fuel: 100_000, ..MachineOptions::default() };
        let mut judge = Judge::new(&program.module, func, &result);
        let run = run_lockstep(&program, &inputs, LaneSet::first(width), &machine, Some(&mut judge));
        if run.froze {
            continue;
        }
        assert!(
            judge.checker.violations.is_empty(),
            "seed {seed}: {:?}\n{}",
            judge.checker.violations,
            program.text()
        );
        let insts = func.layout.iter().flat_map(|&b| func.block_insts(b));
        for v in
            insts.filter(|&i| matches!(func.insts[i].op, Op::Call(_))).flat_map(|i| &func.insts[i].results)
        {
            if judge.checker.observed[*v] {
                calls += 1;
                uniform += usize::from(!result.is_divergent(*v));
                differed += usize::from(result.is_divergent(*v));
            }
        }
    }
    assert!(calls > 200 && uniform > 40 && differed > 40, "{calls} calls, {uniform} uniform, {differed} not");
}
