//! Instructions for a skeleton.

use warpline_analysis::{CycleForest, DomTree, Node};
use warpline_ir::*;

use super::lane_ops::PACKED;
use super::memory::{Buffer, BufferKind};
use super::places::Pointers;
use super::skeleton::{Loop, Shape};
use super::wide::{FORMATS, WideTypes};
use super::{MemoryMode, ParamRole, ProgramOptions, Symbols};
use crate::rng::SplitMix64;

/// A value that can be used.
#[derive(Copy, Clone)]
pub(super) struct Avail {
    pub value: Value,
    pub ty: Type,
    /// Never poison or undef.
    pub clean: bool,
    /// Probably the same in all lanes.
    pub uniform: bool,
}

/// What is wanted of an operand.
#[derive(Copy, Clone)]
pub(super) struct Want {
    pub clean: bool,
    pub uniform: bool,
}

pub(super) const ANY: Want = Want { clean: false, uniform: false };
pub(super) const CLEAN: Want = Want { clean: true, uniform: false };
pub(super) const UNIFORM: Want = Want { clean: true, uniform: true };

const SCALARS: [Type; 8] = [
    Type::BOOL,
    Type::Int(8),
    Type::Int(16),
    Type::Int(32),
    Type::Int(32),
    Type::Int(64),
    Type::F32,
    Type::F64,
];

pub(super) struct Filler<'a> {
    pub rng: &'a mut SplitMix64,
    pub f: &'a mut Function,
    pub module: &'a mut Module,
    pub options: &'a ProgramOptions,
    pub(super) symbols: &'a Symbols,
    dom: DomTree,
    /// By block: what is defined there.
    defs: Vec<Vec<Avail>>,
    pub buffers: Vec<Buffer>,
    pub index: Option<Avail>,
    /// (block, position of the φ) with what its operands must be.
    phis: Vec<(Block, usize, Type, Want)>,
    /// (header, counter, counter plus one)
    counters: Vec<(Block, Value, Value)>,
    pub wide: &'a WideTypes,
    pub pointers: Vec<Pointers>,
    /// By block: whether it may be executed more than once.
    repeated: Vec<bool>,
    /// What is done to counters.
    pub counting: RmwOp,
}

pub(super) fn fill(
    rng: &mut SplitMix64,
    f: &mut Function,
    module: &mut Module,
    roles: &[ParamRole],
    options: &ProgramOptions,
    symbols: &Symbols,
    shape: &Shape,
) {
    let (graph, _) = f.graph();
    let dom = DomTree::compute(&graph);
    let defs = vec![Vec::new(); f.blocks.len()];
    let order: Vec<Block> = dom.pre_order().iter().map(|n| Block::from_u32(n.0)).collect();
    let cycles = CycleForest::compute(&graph);
    let mut repeated = vec![false; f.blocks.len()];
    for n in cycles.cycles().flat_map(|c| cycles.nodes(c)) {
        repeated[n.0 as usize] = true;
    }
    let counting = *rng.pick(&super::atomics::COMMUTING);
    let mut filler = Filler {
        rng,
        wide: &symbols.wide,
        counting,
        f,
        module,
        options,
        symbols,
        dom,
        defs,
        buffers: Vec::new(),
        pointers: Vec::new(),
        repeated,
        index: None,
        phis: Vec::new(),
        counters: Vec::new(),
    };
    filler.parameters(roles);
    filler.add_counters(shape);
    for b in order {
        filler.block(b, shape);
    }
    filler.phi_operands();
    if options.weights {
        filler.weights();
    }
}

impl Filler<'_> {
    fn parameters(&mut self, roles: &[ParamRole]) {
        let entry = self.f.entry();
        for (k, &role) in roles.iter().enumerate() {
            let value = self.f.params[k];
            let ty = self.f.ty(value);
            let avail = Avail { value, ty, clean: true, uniform: role == ParamRole::Uniform };
            match role {
                ParamRole::Index => {
                    self.index = Some(avail);
                    self.defs[entry.as_u32() as usize].push(avail);
                }
                ParamRole::Uniform | ParamRole::Varying => self.defs[entry.as_u32() as usize].push(avail),
                ParamRole::Buffer { elem, written, .. } => {
                    let kind = match &*self.f.values[value].name {
                        "shared" => BufferKind::Shared,
                        "sink" => BufferKind::Sink,
                        "backwards" => BufferKind::Backwards,
                        "pointers" | PACKED => continue,
                        "columns" => BufferKind::Columns { backwards: false },
                        "columns.backwards" => BufferKind::Columns { backwards: true },
                        name if name.starts_with("rows") => BufferKind::Rows,
                        name if name.starts_with("whole") => BufferKind::Whole,
                        name if name.starts_with("fields") => BufferKind::Fields,
                        "counters" => BufferKind::Counters,
                        _ if written => BufferKind::Private,
                        _ => BufferKind::ReadOnly,
                    };
                    self.buffers.push(Buffer {
                        base: value,
                        elem,
                        kind,
                        clean: kind != BufferKind::Sink,
                        field: None,
                        space: match ty {
                            Type::Ptr(space) => space,
                            _ => 0,
                        },
                    });
                }
            }
        }
        if self.options.memory != MemoryMode::None && self.rng.chance(1, 3) {
            self.local(entry);
        }
        if self.options.layouts && self.options.memory != MemoryMode::None {
            self.private_arrays(entry);
        }
        if self.options.pointers && self.options.memory != MemoryMode::None {
            let shared = self.f.params.iter().copied().find(|&p| &*self.f.values[p].name == "pointers");
            self.pointer_arrays(entry, shared);
        }
    }

    fn block(&mut self, b: Block, shape: &Shape) {
        let counter = shape.loops.iter().any(|l| l.header == b).then(|| self.counter_phi(b));
        let preds = self.f.blocks[b].preds.len();
        if preds > 1 || (preds == 1 && self.rng.chance(1, 8)) {
            for _ in 0..self.rng.below(4) {
                self.phi(b);
            }
        }
        if let Some((value, slot)) = counter {
            let one = self.f.int_const(32, 1);
            let next = self.emit(b, Op::Binary(BinaryOp::Add), &[value, one], Type::Int(32), true, true);
            self.counters[slot].2 = next.value;
        }
        if let Some(check) = shape.checks.iter().find(|c| c.reader == b) {
            self.checked_read(b, check);
        }
        for _ in 0..self.rng.below(self.options.insts + 1) {
            self.instruction(b);
        }
        self.terminator(b, shape);
    }

    fn counter_phi(&mut self, b: Block) -> (Value, usize) {
        let value = self.f.add_phi(b, Type::Int(32));
        self.define(b, Avail { value, ty: Type::Int(32), clean: true, uniform: true });
        self.counters.push((b, value, value));
        (value, self.counters.len() - 1)
    }

    fn phi(&mut self, b: Block) {
        let ty = match self.options {
            o if o.wide && self.rng.chance(1, 4) => self.wide_type(),
            o if o.formats && self.rng.chance(1, 6) => *self.rng.pick(&FORMATS),
            o if o.aggregates && self.rng.chance(1, 6) => *self.rng.pick(&self.wide.aggregates),
            _ => *self.rng.pick(&SCALARS),
        };
        let clean = !self.options.poison || self.rng.chance(5, 6);
        let uniform = self.rng.chance(1, 3);
        let value = self.f.add_phi(b, ty);
        let position = self.f.blocks[b].phis.len() - 1;
        self.phis.push((b, position, ty, Want { clean, uniform }));
        self.define(b, Avail { value, ty, clean, uniform });
    }

    fn phi_operands(&mut self) {
        for (header, phi, next) in std::mem::take(&mut self.counters) {
            let position = self.f.def_inst(phi).and_then(|i| self.f.phi_position(i)).expect("a φ");
            for k in 0..self.f.blocks[header].preds.len() {
                let e = self.f.blocks[header].preds[k];
                let from = self.f.edges[e].from;
                let back = self.dom.dominates(Node(header.as_u32()), Node(from.as_u32()));
                let v = if back { next } else { self.f.int_const(32, 0) };
                self.f.set_phi_arg(e, position, v);
            }
        }
        for (b, position, ty, want) in std::mem::take(&mut self.phis) {
            for k in 0..self.f.blocks[b].preds.len() {
                let e = self.f.blocks[b].preds[k];
                let from = self.f.edges[e].from;
                let v = if !want.clean && self.rng.chance(1, 8) {
                    self.f.poison(ty)
                } else {
                    self.pick(from, ty, want).value
                };
                self.f.set_phi_arg(e, position, v);
            }
        }
    }

    /// Weights of some branches, true or not.
    fn weights(&mut self) {
        for b in self.f.layout.clone() {
            let edges = self.f.out_edges(b).to_vec();
            if edges.len() > 1 && self.rng.chance(2, 3) {
                for e in edges {
                    self.f.weights[e] = Some(*self.rng.pick(&[0, 1, 1, 10, 2000, u32::MAX]));
                }
            }
        }
    }

    // ---- operands -----------------------------------------------------------------------------------------

    /// A constant integer.
    pub(super) fn number(&mut self, bits: u32, x: u128) -> Avail {
        let value = self.f.int_const(bits, x);
        Avail { value, ty: Type::Int(bits), clean: true, uniform: true }
    }

    pub(super) fn define(&mut self, b: Block, a: Avail) {
        self.defs[b.as_u32() as usize].push(a);
    }

    pub(super) fn constant(&mut self, ty: Type) -> Avail {
        let value = match ty {
            Type::Int(w) => {
                let small = *self.rng.pick(&[0u128, 1, 2, 3, 5, 7, 8, u128::MAX, u128::MAX - 1]);
                let v = if self.rng.chance(1, 5) { u128::from(self.rng.next_u64()) } else { small };
                self.f.int_const(w, v)
            }
            Type::Float(FloatKind::Float) => {
                let x = *self.rng.pick(&[0.0f32, -0.0, 1.0, -1.5, 0.1, 3.0, 1e10, f32::INFINITY]);
                let bits = u128::from(x.to_bits());
                self.f.constant_value(Constant::Float { kind: FloatKind::Float, bits })
            }
            _ if self.is_wide(ty) => self.wide_constant(ty),
            Type::Aggregate(_) => self.f.constant_value(Constant::Zero(ty)),
            _ => {
                let x = *self.rng.pick(&[0.0f64, -0.0, 1.0, -2.5, 0.1, 3.0, 1e100, f64::INFINITY]);
                let bits = u128::from(x.to_bits());
                self.f.constant_value(Constant::Float { kind: FloatKind::Double, bits })
            }
        };
        Avail { value, ty, clean: true, uniform: true }
    }

    /// A value that dominates the end of the block, or a constant.
    pub(super) fn pick(&mut self, b: Block, ty: Type, want: Want) -> Avail {
        let mut found: Vec<Avail> = Vec::new();
        let mut at = Some(Node(b.as_u32()));
        while let Some(n) = at {
            let fits = |a: &&Avail| a.ty == ty && (a.clean || !want.clean) && (a.uniform || !want.uniform);
            found.extend(self.defs[n.0 as usize].iter().filter(fits));
            at = self.dom.idom(n);
        }
        if found.is_empty() || self.rng.chance(1, 10) {
            return self.constant(ty);
        }
        // Left to chance, most values would be uniform.
        if !want.uniform && self.rng.chance(1, 2) && found.iter().any(|a| !a.uniform) {
            found.retain(|a| !a.uniform);
        }
        // Near ones more often.
        let k = self.rng.below(found.len()).min(self.rng.below(found.len()));
        found[k]
    }

    pub(super) fn emit(
        &mut self,
        b: Block,
        op: Op,
        args: &[Value],
        ty: Type,
        clean: bool,
        uniform: bool,
    ) -> Avail {
        let value = self.f.append_value(b, op, args, ty);
        let a = Avail { value, ty, clean, uniform };
        self.define(b, a);
        a
    }

    /// An operation on picked operands: as clean and as uniform as they are.
    pub(super) fn emit_on(&mut self, b: Block, op: Op, args: &[Avail], ty: Type) -> Avail {
        let values: Vec<Value> = args.iter().map(|a| a.value).collect();
        let (clean, uniform) = (args.iter().all(|a| a.clean), args.iter().all(|a| a.uniform));
        self.emit(b, op, &values, ty, clean, uniform)
    }

    pub(super) fn call(&mut self, b: Block, name: &str, args: &[Avail], ty: Type) -> Avail {
        let params: Vec<Type> = args.iter().map(|a| a.ty).collect();
        let symbol = self.module.function_symbol(name, &params, ty, Effects::empty());
        let info = CallInfo { callee: Some(symbol), effects: Effects::empty(), variadic_fixed: None };
        self.emit_on(b, Op::Call(Box::new(info)), args, ty)
    }

    pub(super) fn int(&mut self, b: Block, value: Avail, mask: u128) -> Avail {
        let Type::Int(w) = value.ty else { return value };
        let mask = self.number(w, mask);
        self.emit_on(b, Op::Binary(BinaryOp::And), &[value, mask], value.ty)
    }

    // ---- terminators --------------------------------------------------------------------------------------

    /// A clean condition.
    pub(super) fn condition(&mut self, b: Block) -> Avail {
        let want = if self.rng.chance(1, 4) { UNIFORM } else { CLEAN };
        if self.rng.chance(1, 4) {
            let c = self.pick(b, Type::BOOL, want);
            if self.f.constant(c.value).is_none() {
                return c;
            }
        }
        if self.options.lane_operations && self.rng.chance(1, 6) {
            let c = self.condition_of(b, CLEAN);
            let op = if self.rng.chance(1, 2) { LaneOp::Any } else { LaneOp::All };
            return self.emit(b, Op::Lane(op), &[c.value], Type::BOOL, true, true);
        }
        self.condition_of(b, want)
    }

    fn condition_of(&mut self, b: Block, want: Want) -> Avail {
        match self.rng.below(6) {
            0 => {
                let ty = if self.rng.chance(1, 2) { Type::F32 } else { Type::F64 };
                let (x, y) = (self.pick(b, ty, want), self.pick(b, ty, want));
                let p = *self.rng.pick(&[FloatPred::Olt, FloatPred::Uge, FloatPred::Une, FloatPred::Ord]);
                self.emit_on(b, Op::FCmp(p), &[x, y], Type::BOOL)
            }
            1..=3 => {
                // A bit of something: often different in neighbouring lanes.
                let mut ty = *self.rng.pick(&[Type::Int(32), Type::Int(64), Type::Int(8)]);
                let mut x = self.pick(b, ty, want);
                if let Some(i) = self.index
                    && !want.uniform
                    && self.rng.chance(1, 4)
                {
                    (x, ty) = (i, i.ty);
                }
                let bit = 1 << self.rng.below(3);
                let x = self.int(b, x, bit);
                let zero = self.number(ty.int_bits().unwrap_or(32), 0);
                let p = if self.rng.chance(1, 2) { IntPred::Eq } else { IntPred::Ne };
                self.emit_on(b, Op::ICmp(p), &[x, zero], Type::BOOL)
            }
            _ => {
                let ty = if self.rng.chance(2, 3) { Type::Int(32) } else { Type::Int(64) };
                let (x, y) = (self.pick(b, ty, want), self.pick(b, ty, want));
                let p = *self.rng.pick(IntPred::ALL);
                self.emit_on(b, Op::ICmp(p), &[x, y], Type::BOOL)
            }
        }
    }

    fn terminator(&mut self, b: Block, shape: &Shape) {
        let term = self.f.terminator(b);
        if self.f.insts[term].op == Op::Ret || self.rng.chance(1, 8) {
            self.reveal(b);
        }
        let arg = match &self.f.insts[term].op {
            Op::CondBr => match shape.loops.iter().find(|l| l.check == b) {
                _ if shape.traps.iter().any(|t| t.check == b) => self.trap_condition(b, shape).value,
                counted => match (shape.checks.iter().find(|c| c.check == b), counted) {
                    (Some(check), _) => self.bounds_check(b, check).value,
                    (None, Some(l)) => self.loop_condition(b, l).value,
                    (None, None) => self.fuse_condition(b, shape).unwrap_or_else(|| self.condition(b)).value,
                },
            },
            Op::Switch(_) => {
                let want = if self.rng.chance(1, 2) { UNIFORM } else { CLEAN };
                let x = self.pick(b, Type::Int(32), want);
                self.int(b, x, 7).value
            }
            Op::Ret if matches!(self.f.ret, Type::Int(32 | 64)) && self.rng.chance(1, 2) => {
                let digest = self.digest(b);
                match self.f.ret {
                    Type::Int(32) => self.emit_on(b, Op::Cast(CastOp::Trunc), &[digest], self.f.ret).value,
                    _ => digest.value,
                }
            }
            Op::Ret if !self.f.ret.is_void() => {
                let want = if self.options.poison && self.rng.chance(1, 8) { ANY } else { CLEAN };
                self.pick(b, self.f.ret, want).value
            }
            _ => return,
        };
        self.f.insts[term].args[0] = arg;
    }

    /// Never the one that leads into the endless loop, which nobody can see.
    fn trap_condition(&mut self, b: Block, shape: &Shape) -> Avail {
        let want = if self.rng.chance(1, 4) { UNIFORM } else { CLEAN };
        let x = self.pick(b, Type::Int(32), want);
        let odd = self.int(b, x, 1);
        let one = self.number(32, 1);
        let enters_if_true = shape.traps.iter().any(|t| t.check == b && t.enters_if_true);
        let p = if enters_if_true { IntPred::Ugt } else { IntPred::Ule };
        self.emit_on(b, Op::ICmp(p), &[odd, one], Type::BOOL)
    }

    /// Whether the counter is below a bound of at most eight, and perhaps something else holds too.
    fn loop_condition(&mut self, b: Block, l: &Loop) -> Avail {
        let counter = self
            .counters
            .iter()
            .find(|c| c.0 == l.header)
            .map_or_else(|| self.f.params[0], |c| if self.rng.chance(1, 2) { c.1 } else { c.2 });
        let counter = Avail { value: counter, ty: Type::Int(32), clean: true, uniform: true };
        let want = if self.rng.chance(1, 2) { UNIFORM } else { CLEAN };
        let x = self.pick(b, Type::Int(32), want);
        let mask = *self.rng.pick(&[1, 3, 3, 7]);
        let bound = self.int(b, x, mask);
        let p = if l.stays_if_true { IntPred::Ult } else { IntPred::Uge };
        let c = self.emit_on(b, Op::ICmp(p), &[counter, bound], Type::BOOL);
        if self.rng.chance(1, 4) {
            let d = self.condition(b);
            let op = if l.stays_if_true { BinaryOp::And } else { BinaryOp::Or };
            return self.emit_on(b, Op::Binary(op), &[c, d], Type::BOOL);
        }
        c
    }

    // ---- results ------------------------------------------------------------------------------------------

    /// Stores a digest of what is known here, so that less of the program is dead.
    fn reveal(&mut self, b: Block) {
        if let Some(sink) = self.buffers.iter().copied().find(|x| x.kind == BufferKind::Sink) {
            let digest = self.digest(b);
            let (address, _) = self.address(b, &sink);
            self.f.append(b, Op::Store(MemAccess::plain(8)), &[digest.value, address], Type::Void);
        }
    }

    /// A 64-bit number that depends on some values.
    fn digest(&mut self, b: Block) -> Avail {
        let i64s = Type::Int(64);
        let mut found: Vec<Avail> = Vec::new();
        let mut at = Some(Node(b.as_u32()));
        while let Some(n) = at {
            let fits = |a: &&Avail| a.clean && matches!(a.ty, Type::Int(1..=64) | Type::F32 | Type::F64);
            found.extend(self.defs[n.0 as usize].iter().filter(fits));
            at = self.dom.idom(n);
        }
        self.rng.shuffle(&mut found);
        let multiplier = self.number(64, 31);
        let mut digest = self.constant(i64s);
        for a in found.into_iter().take(5) {
            let mut x = a;
            if let Type::Float(kind) = x.ty {
                x = self.emit_on(b, Op::Cast(CastOp::Bitcast), &[x], Type::Int(kind.bits()));
            }
            if x.ty != i64s {
                x = self.emit_on(b, Op::Cast(CastOp::ZExt), &[x], i64s);
            }
            let scaled = self.emit_on(b, Op::Binary(BinaryOp::Mul), &[digest, multiplier], i64s);
            digest = self.emit_on(b, Op::Binary(BinaryOp::Add), &[scaled, x], i64s);
        }
        digest
    }

    // ---- instructions -------------------------------------------------------------------------------------

    fn instruction(&mut self, b: Block) {
        if self.options.wide && self.rng.chance(1, 4) {
            self.wide_instruction(b);
            return;
        }
        if self.options.formats && self.rng.chance(1, 8) {
            self.format_instruction(b);
            return;
        }
        if self.options.aggregates && self.rng.chance(1, 8) {
            self.aggregate(b);
            return;
        }
        if self.options.pointers && self.options.memory != MemoryMode::None && self.rng.chance(1, 8) {
            self.pointer(b);
            return;
        }
        if self.options.sizes && self.rng.chance(1, 8) && !self.repeated[b.as_u32() as usize] {
            self.sized_memory(b);
            return;
        }
        if self.options.fast_math && self.rng.chance(1, 8) {
            self.exact_fast_math(b);
            return;
        }
        if self.options.atomics && self.rng.chance(1, 6) {
            self.atomic(b);
            return;
        }
        let want = if self.rng.chance(1, 4) {
            UNIFORM
        } else if self.rng.chance(1, 2) {
            CLEAN
        } else {
            ANY
        };
        if self.options.layouts && self.options.memory != MemoryMode::None && self.rng.chance(1, 6) {
            match self.rng.chance(1, 5) {
                true => self.bulk_anywhere(b),
                false => self.fields(b),
            }
            return;
        }
        match self.rng.below(24) {
            1..=4 => self.int_binary(b, want),
            5 => self.division(b),
            6 | 7 => self.float_operation(b, want),
            8 => {
                self.condition_of(b, want);
            }
            9 | 10 => {
                let ty = *self.rng.pick(&SCALARS);
                let (c, x, y) =
                    (self.pick(b, Type::BOOL, want), self.pick(b, ty, want), self.pick(b, ty, want));
                self.emit_on(b, Op::Select, &[c, x, y], ty);
            }
            11 | 12 => self.conversion(b, want),
            13 => self.int_function(b, want),
            14 if self.options.poison => {
                let ty = *self.rng.pick(&SCALARS);
                let x = self.pick(b, ty, ANY);
                self.emit(b, Op::Freeze, &[x.value], ty, true, x.uniform);
            }
            15 | 0 if self.options.lane_operations => self.lane_operation(b),
            16 if self.options.effects && self.rng.chance(1, 2) => self.effect(b),
            17 if !self.symbols.helpers.is_empty() => self.helper(b),
            18..=20 => self.store(b),
            0 => self.int_binary(b, want),
            _ => self.load(b),
        }
    }

    fn int_binary(&mut self, b: Block, want: Want) {
        use BinaryOp::*;
        let ty = *self.rng.pick(&SCALARS[..6]);
        let op = *self.rng.pick(&[Add, Add, Sub, Mul, And, Or, Xor, Shl, LShr, AShr]);
        let x = self.pick(b, ty, want);
        let mut y = self.pick(b, ty, want);
        let mut clean = true;
        if matches!(op, Shl | LShr | AShr) {
            let w = ty.int_bits().unwrap_or(1);
            if self.options.poison && self.rng.chance(1, 6) {
                clean = false;
            } else {
                y = self.int(b, y, u128::from(w - 1));
            }
        }
        let a = self.emit(
            b,
            Op::Binary(op),
            &[x.value, y.value],
            ty,
            clean && x.clean && y.clean,
            x.uniform && y.uniform,
        );
        if self.options.poison && self.rng.chance(1, 6) {
            let flags = match op {
                Add | Sub | Mul | Shl => *self.rng.pick(&[InstFlags::NUW, InstFlags::NSW]),
                LShr | AShr => InstFlags::EXACT,
                Or => InstFlags::DISJOINT,
                _ => return,
            };
            if let Some(i) = self.f.def_inst(a.value) {
                self.f.insts[i].flags = flags;
            }
            if let Some(d) = self.defs[b.as_u32() as usize].last_mut() {
                d.clean = false;
            }
        }
    }

    fn division(&mut self, b: Block) {
        use BinaryOp::*;
        let ty = *self.rng.pick(&[Type::Int(8), Type::Int(32), Type::Int(64)]);
        let op = *self.rng.pick(&[UDiv, SDiv, URem, SRem]);
        let want = if self.rng.chance(1, 3) { UNIFORM } else { CLEAN };
        let (x, mut y) = (self.pick(b, ty, want), self.pick(b, ty, want));
        if !self.options.traps || self.rng.chance(2, 3) {
            let one = self.number(ty.int_bits().unwrap_or(8), 1);
            // Positive and odd: neither zero nor −1.
            y = self.int(b, y, 0x7f);
            y = self.emit_on(b, Op::Binary(Or), &[y, one], ty);
        }
        self.emit_on(b, Op::Binary(op), &[x, y], ty);
    }

    fn float_operation(&mut self, b: Block, want: Want) {
        use BinaryOp::*;
        let (ty, suffix) = if self.rng.chance(2, 3) { (Type::F32, "f32") } else { (Type::F64, "f64") };
        let (x, y) = (self.pick(b, ty, want), self.pick(b, ty, want));
        match self.rng.below(8) {
            0..=4 => {
                let op = *self.rng.pick(&[FAdd, FSub, FMul, FMul, FDiv]);
                self.emit_on(b, Op::Binary(op), &[x, y], ty);
            }
            5 => {
                self.emit_on(b, Op::FNeg, &[x], ty);
            }
            6 => {
                let name = *self.rng.pick(&["sqrt", "fabs", "floor", "ceil", "trunc", "rint"]);
                self.call(b, &format!("llvm.{name}.{suffix}"), &[x], ty);
            }
            _ if self.rng.chance(1, 3) => {
                let z = self.pick(b, ty, want);
                self.call(b, &format!("llvm.fma.{suffix}"), &[x, y, z], ty);
            }
            _ => {
                let name = *self.rng.pick(&["minnum", "maxnum", "minimum", "maximum", "copysign"]);
                self.call(b, &format!("llvm.{name}.{suffix}"), &[x, y], ty);
            }
        }
    }

    fn int_function(&mut self, b: Block, want: Want) {
        let ty = *self.rng.pick(&[Type::Int(8), Type::Int(32), Type::Int(64)]);
        let w = ty.int_bits().unwrap_or(8);
        let (x, y) = (self.pick(b, ty, want), self.pick(b, ty, want));
        if self.rng.chance(1, 4) {
            self.call(b, &format!("llvm.ctpop.i{w}"), &[x], ty);
        } else {
            let name = *self.rng.pick(&["smax", "smin", "umax", "umin", "uadd.sat", "ssub.sat"]);
            self.call(b, &format!("llvm.{name}.i{w}"), &[x, y], ty);
        }
    }

    fn conversion(&mut self, b: Block, want: Want) {
        let (from, to) = (*self.rng.pick(&SCALARS), *self.rng.pick(&SCALARS));
        let x = self.pick(b, from, want);
        let mut clean = x.clean;
        let op = match (from, to) {
            (Type::Int(v), Type::Int(w)) if v < w => *self.rng.pick(&[CastOp::ZExt, CastOp::SExt]),
            (Type::Int(v), Type::Int(w)) if v > w => CastOp::Trunc,
            (Type::Int(32), Type::F32) | (Type::F32, Type::Int(32)) if self.rng.chance(1, 3) => {
                CastOp::Bitcast
            }
            (Type::Int(_), Type::Float(_)) => *self.rng.pick(&[CastOp::UiToFp, CastOp::SiToFp]),
            (Type::Float(_), Type::Int(w)) => {
                if !self.options.poison || w < 8 {
                    let name = format!("llvm.fptosi.sat.i{w}.f{}", if from == Type::F32 { 32 } else { 64 });
                    self.call(b, &name, &[x], to);
                    return;
                }
                clean = false;
                *self.rng.pick(&[CastOp::FpToUi, CastOp::FpToSi])
            }
            (Type::F32, Type::F64) => CastOp::FpExt,
            (Type::F64, Type::F32) => CastOp::FpTrunc,
            _ => return,
        };
        self.emit(b, Op::Cast(op), &[x.value], to, clean, x.uniform);
    }
}
