//! Random modules that use every operation, type and constant of the IR, and obey all its rules.
//!
//! They are meant for whatever must hold for any module (text form, verifier, SSA construction), not for being
//! executed.

use warpline_analysis::{DomTree, Graph, Node};
use warpline_ir::*;

use crate::graphs;
use crate::rng::SplitMix64;

/// What a random function may contain.
#[derive(Clone, Debug)]
pub struct FunctionShape {
    /// At most so many blocks (besides the entry).
    pub max_blocks: usize,
    /// At most so many instructions per block, φs and terminator not counted.
    pub max_insts: usize,
    /// At most so many variables.
    pub max_vars: usize,
    /// Whether blocks may have masks.
    pub masks: bool,
    /// So many of eight instructions access variables, besides the few that do anyway.
    pub accesses: usize,
    /// Whether blocks may end with σs.
    pub sigmas: bool,
}

impl Default for FunctionShape {
    fn default() -> Self {
        FunctionShape { max_blocks: 8, max_insts: 6, max_vars: 3, masks: true, accesses: 0, sigmas: true }
    }
}

const NAMES: [&str; 13] =
    ["a", "b", "i", "opaque", "x.y", "v1", "b2", "x0", "two words", "", "\"q\\", "true", "é"];

/// A random module with a few functions.
pub fn module(rng: &mut SplitMix64, shape: &FunctionShape) -> Module {
    let mut m = Module::new(*rng.pick(&["", "kernel.ll", "a \"quoted\" name"]));
    if rng.chance(1, 2) {
        m.triple = "x86_64-unknown-linux-gnu".into();
        m.layout = DataLayout::parse("e-m:e-i64:64-f80:128-n8:16:32:64-S128");
    }
    let types = types(&mut m.types);
    for (i, name) in ["f", "g 1", "llvm.sqrt.f32"].into_iter().enumerate() {
        let params = (0..rng.below(3)).map(|_| *rng.pick(&types)).collect();
        let ret = if rng.chance(1, 3) { Type::Void } else { *rng.pick(&types) };
        let kind = SymbolKind::Function { params, ret, variadic: i == 1 };
        let effects = random_effects(rng);
        m.declare(SymbolData { name: name.into(), kind, effects, origin: random_origin(rng) });
    }
    let bytes = rng.chance(1, 2).then(|| (0..rng.below(9)).map(|_| rng.next_u64() as u8).collect());
    let kind = SymbolKind::Global { ty: *rng.pick(&types), constant: rng.chance(1, 2), align: 8, bytes };
    m.declare(SymbolData {
        name: "table".into(),
        kind,
        effects: Effects::empty(),
        origin: random_origin(rng),
    });
    let other = SymbolKind::Other;
    m.declare(SymbolData { name: "alias".into(), kind: other, effects: Effects::empty(), origin: None });
    for i in 0..rng.below(4) as u32 {
        let inlined_at = (i > 0 && rng.chance(1, 2)).then(|| Loc::from_u32(rng.below(i as usize) as u32));
        m.locations.push(SourceLoc { file: "dir/a.c".into(), line: i + 1, column: 7, inlined_at });
    }
    for i in 0..rng.between(1, 2) {
        let func = Maker::new(rng, &m, &types, shape, &format!("kernel{i}")).finish();
        m.functions.push(func);
    }
    m
}

fn types(table: &mut TypeTable) -> Vec<Type> {
    let mut list =
        vec![Type::BOOL, Type::Int(8), Type::Int(32), Type::Int(64), Type::Int(128), Type::Int(200)];
    let kinds = [
        FloatKind::Half,
        FloatKind::BFloat,
        FloatKind::Float,
        FloatKind::Double,
        FloatKind::X86Fp80,
        FloatKind::Fp128,
    ];
    list.extend(kinds.map(Type::Float));
    list.extend([Type::PTR, Type::Ptr(3)]);
    list.extend([Type::Int(32), Type::BOOL, Type::F32, Type::PTR].iter().filter_map(|t| t.vector(4)));
    list.push(table.array(Type::Int(16), 2));
    list.push(table.structure(vec![Type::Int(32), Type::F32], false));
    list.push(table.structure(vec![Type::Int(8), Type::F64], true));
    list.push(table.structure(vec![], false));
    let fields = Some(vec![Type::PTR, list[list.len() - 1], list[list.len() - 2]]);
    list.push(table.aggregate(AggregateType::Struct {
        name: Some("struct.S".into()),
        fields,
        packed: false,
    }));
    table.aggregate(AggregateType::Struct { name: Some("hidden".into()), fields: None, packed: false });
    list.push(table.other("target(\"spirv.Image\", void)"));
    list.push(Type::Vector(VectorType { elem: Scalar::Int(32), lanes: 4, scalable: true }));
    list
}

fn random_effects(rng: &mut SplitMix64) -> Effects {
    match rng.below(3) {
        0 => Effects::empty(),
        1 => Effects::UNKNOWN,
        _ => Effects::from_bits_truncate(rng.next_u64() as u16),
    }
}

fn random_origin(rng: &mut SplitMix64) -> Option<Origin> {
    rng.chance(1, 3).then(|| Origin::from_u32(rng.below(100) as u32))
}

struct Maker<'a> {
    rng: &'a mut SplitMix64,
    module: &'a Module,
    types: &'a [Type],
    func: Function,
    shape: &'a FunctionShape,
    graph: warpline_analysis::CsrGraph,
    /// Values that may be used at the present place, dominators' first.
    scope: Vec<Value>,
}

impl<'a> Maker<'a> {
    fn new(
        rng: &'a mut SplitMix64,
        module: &'a Module,
        types: &'a [Type],
        shape: &'a FunctionShape,
        name: &str,
    ) -> Self {
        let graph = graphs::arbitrary(rng, shape.max_blocks);
        let ret = if rng.chance(1, 3) { Type::Void } else { *rng.pick(types) };
        let mut func = Function::new(name, ret);
        func.variadic = rng.chance(1, 8);
        func.origin = random_origin(rng).into();
        Maker { rng, module, types, func, shape, graph, scope: Vec::new() }
    }

    fn name(&mut self) -> &'static str {
        let named = self.rng.chance(1, 2);
        if named { NAMES[self.rng.below(NAMES.len())] } else { "" }
    }

    fn ty(&mut self) -> Type {
        *self.rng.pick(self.types)
    }

    /// Block `i + 1` is node `i` of the graph; block 0 is the entry.
    fn finish(mut self) -> Function {
        for _ in 0..self.rng.below(4) {
            let (ty, name) = (self.ty(), self.name());
            let p = self.func.add_param(ty, name);
            self.scope.push(p);
        }
        for _ in 0..self.rng.below(self.shape.max_vars + 1) {
            let (ty, name) = (self.ty(), self.name());
            let var = self.func.add_var(ty, name);
            if var.as_u32() % 3 == 2 {
                self.func.vars[var].unwritten = Unwritten::Undef;
            }
        }
        let entry = self.func.add_block("entry");
        for i in 0..self.graph.node_count() {
            let name = self.name();
            let b = self.func.add_block(name);
            if i == 0 || !self.graph.in_edges(Node::new(i)).is_empty() {
                for _ in 0..self.rng.below(3) {
                    let (ty, name) = (self.ty(), self.name());
                    let phi = self.func.add_phi(b, ty);
                    self.func.values[phi].name = name.into();
                }
            }
        }
        self.fill(entry);
        self.func.set_terminator(entry, Op::Br, &[], &[Block::from_u32(1)]);
        let ends = self.fill_all();
        for e in self.func.edges.keys() {
            let end = &ends[self.func.edges[e].from.as_u32() as usize];
            self.scope = end.clone();
            let to = self.func.edges[e].to;
            for k in 0..self.func.blocks[to].phis.len() {
                let phi = self.func.blocks[to].phis[k];
                let ty = self.func.ty(self.func.insts[phi].results[0]);
                let v = self.value(ty);
                self.func.set_phi_arg(e, k, v);
            }
        }
        if self.shape.sigmas {
            self.sigmas(&ends);
        }
        if self.rng.chance(1, 2) {
            // The order of the blocks is free behind the entry.
            let mut rest = self.func.layout.split_off(1);
            self.rng.shuffle(&mut rest);
            self.func.layout.extend(rest);
        }
        self.func
    }

    /// Adds σs of values that `ends` says are there, and lets uses that their edges dominate use them. The numbers
    /// come from a generator of its own.
    fn sigmas(&mut self, ends: &[Vec<Value>]) {
        let rng = &mut SplitMix64::new(self.func.values.len() as u64);
        for b in self.func.layout.clone() {
            let edges = self.func.out_edges(b).to_vec();
            let scope = &ends[b.as_u32() as usize];
            if edges.is_empty() || scope.is_empty() {
                continue;
            }
            for _ in 0..rng.below(3) {
                let v = *rng.pick(scope);
                let inst = self.func.add_sigma(b, v);
                for (k, &e) in edges.iter().enumerate() {
                    let result = self.func.insts[inst].results[k];
                    self.func.values[result].name = NAMES[rng.below(NAMES.len())].into();
                    let to = self.func.edges[e].to;
                    let mut replace = |a: &mut Value| {
                        if *a == v && rng.chance(1, 2) {
                            *a = result;
                        }
                    };
                    self.func.edges[e].args.iter_mut().for_each(&mut replace);
                    if self.func.blocks[to].preds.len() == 1 {
                        for &i in &self.func.blocks[to].insts {
                            self.func.insts[i].args.iter_mut().for_each(&mut replace);
                        }
                    }
                }
            }
        }
    }

    /// Fills all blocks but the entry; gives the scopes at their ends, by block number.
    fn fill_all(&mut self) -> Vec<Vec<Value>> {
        let graph = self.graph.clone();
        let dom = DomTree::compute(&graph);
        let entry_scope = self.scope.clone();
        let mut ends = vec![entry_scope.clone(); graph.node_count() + 1];
        let reachable = dom.pre_order().iter().copied();
        let unreachable = graph.nodes().filter(|&n| !dom.is_reachable(n));
        for n in reachable.chain(unreachable) {
            self.scope = match dom.idom(n) {
                Some(d) => ends[d.index() + 1].clone(),
                None => entry_scope.clone(),
            };
            let block = Block::from_u32(n.0 + 1);
            let phis = self.func.blocks[block].phis.clone();
            self.scope.extend(phis.iter().map(|&p| self.func.insts[p].results[0]));
            if self.shape.masks && self.rng.chance(1, 3) {
                self.func.blocks[block].mask = self.value(Type::BOOL).into();
                self.func.phase = Phase::Linearized;
            }
            self.fill(block);
            ends[n.index() + 1] = self.scope.clone();
            let targets: Vec<Block> = graph.successors(n).map(|t| Block::from_u32(t.0 + 1)).collect();
            self.terminate(block, &targets);
            let term = self.func.terminator(block);
            self.decorate(term);
        }
        ends
    }

    fn decorate(&mut self, inst: Inst) {
        if !self.module.locations.is_empty() && self.rng.chance(1, 3) {
            let n = self.rng.below(self.module.locations.len());
            self.func.insts[inst].loc = Some(Loc::from_u32(n as u32)).into();
        }
        self.func.insts[inst].origin = random_origin(self.rng).into();
        for k in 0..self.func.insts[inst].results.len() {
            let r = self.func.insts[inst].results[k];
            self.func.values[r].name = self.name().into();
        }
    }

    fn value(&mut self, ty: Type) -> Value {
        let fitting: Vec<Value> = self.scope.iter().copied().filter(|&v| self.func.ty(v) == ty).collect();
        if !fitting.is_empty() && self.rng.chance(3, 4) {
            return *self.rng.pick(&fitting);
        }
        let c = self.constant(ty, 0);
        self.func.constant_value(c)
    }

    fn constant(&mut self, ty: Type, depth: u32) -> Constant {
        if depth > 0 && self.rng.chance(1, 3) {
            return Constant::Poison(ty);
        }
        match self.rng.below(12) {
            0 => return Constant::Undef(ty),
            1 => return Constant::Poison(ty),
            2 => return Constant::Opaque { ty, origin: Origin::from_u32(self.rng.below(50) as u32) },
            _ => {}
        }
        let wide = u128::from(self.rng.next_u64()) << 64 | u128::from(self.rng.next_u64());
        let small = self.rng.below(20) as u128;
        let number = if self.rng.chance(1, 2) { small } else { wide };
        match ty {
            Type::Int(bits) if bits <= 128 => Constant::int(bits, number),
            Type::Int(bits) => {
                let mut words: Vec<u64> = (0..bits.div_ceil(64)).map(|_| self.rng.next_u64()).collect();
                if let Some(top) = words.last_mut().filter(|_| bits % 64 != 0) {
                    *top &= (1 << (bits % 64)) - 1;
                }
                Constant::WideInt { bits, words }
            }
            Type::Float(kind) => {
                let bits = match kind {
                    FloatKind::Float if self.rng.chance(1, 2) => u128::from((small as f32 / 4.0).to_bits()),
                    FloatKind::Double if self.rng.chance(1, 2) => {
                        u128::from((-(small as f64) / 3.0).to_bits())
                    }
                    _ if kind.bits() == 128 => wide,
                    _ => wide & ((1 << kind.bits()) - 1),
                };
                Constant::Float { kind, bits }
            }
            Type::Ptr(space) if self.rng.chance(1, 2) => Constant::Address {
                symbol: Symbol::from_u32(self.rng.below(self.module.symbols.len()) as u32),
                offset: *self.rng.pick(&[0, 8, -3, i64::MIN]),
                space,
                origin: random_origin(self.rng),
            },
            Type::Ptr(space) => Constant::Null(space),
            Type::Vector(v) if !v.scalable && self.rng.chance(2, 3) => {
                let elems = (0..v.lanes).map(|_| self.constant(v.elem.into(), depth + 1)).collect();
                Constant::Composite { ty, elems }
            }
            Type::Aggregate(_) if self.rng.chance(2, 3) => {
                let members = (0..).map_while(|i| self.module.types.member(ty, i)).collect::<Vec<_>>();
                let elems = members.into_iter().map(|t| self.constant(t, depth + 1)).collect();
                Constant::Composite { ty, elems }
            }
            _ => Constant::Zero(ty),
        }
    }

    /// Adds an instruction and decorates it; its result comes into scope.
    fn push(&mut self, block: Block, op: Op, args: &[Value], ty: Type, flags: InstFlags) {
        let i = self.func.append(block, op, args, ty);
        let bits = self.rng.next_u64() as u32;
        self.func.insts[i].flags = flags & InstFlags::from_bits_truncate(bits);
        if flags.contains(InstFlags::FAST) && self.rng.chance(1, 4) {
            self.func.insts[i].flags = InstFlags::FAST;
        }
        self.decorate(i);
        self.scope.extend(self.func.insts[i].results.iter());
    }

    fn fill(&mut self, block: Block) {
        for _ in 0..self.rng.below(self.shape.max_insts + 1) {
            if self.rng.chance(self.shape.accesses, 8) {
                self.access(block);
                continue;
            }
            match self.rng.below(5) {
                0 => self.arithmetic(block),
                1 => self.memory(block),
                2 => self.structure(block),
                3 => self.call(block),
                _ => self.variables_and_lanes(block),
            }
        }
    }

    fn arithmetic(&mut self, block: Block) {
        let int = *self.rng.pick(&[Type::Int(8), Type::Int(32), Type::Int(128), Type::Int(200)]);
        let float = *self.rng.pick(&[Type::F32, Type::F64, Type::Float(FloatKind::Half)]);
        let none = InstFlags::empty();
        match self.rng.below(8) {
            0 | 1 => {
                let op = *self.rng.pick(BinaryOp::ALL);
                let (ty, flags) = match op {
                    _ if op.is_float() => (float, InstFlags::FAST),
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl => {
                        (int, InstFlags::NUW | InstFlags::NSW)
                    }
                    BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::LShr | BinaryOp::AShr => {
                        (int, InstFlags::EXACT)
                    }
                    BinaryOp::Or => (int, InstFlags::DISJOINT),
                    _ => (int, none),
                };
                let args = [self.value(ty), self.value(ty)];
                self.push(block, Op::Binary(op), &args, ty, flags);
            }
            2 => {
                let args = [self.value(float)];
                self.push(block, Op::FNeg, &args, float, InstFlags::FAST);
            }
            3 => {
                let pred = *self.rng.pick(IntPred::ALL);
                let args = [self.value(int), self.value(int)];
                self.push(block, Op::ICmp(pred), &args, Type::BOOL, InstFlags::SAMESIGN);
            }
            4 => {
                let pred = *self.rng.pick(FloatPred::ALL);
                let args = [self.value(float), self.value(float)];
                self.push(block, Op::FCmp(pred), &args, Type::BOOL, InstFlags::FAST);
            }
            5 => {
                let ty = self.ty();
                let args = [self.value(Type::BOOL), self.value(ty), self.value(ty)];
                self.push(block, Op::Select, &args, ty, none);
            }
            6 => {
                let ty = self.ty();
                let args = [self.value(ty)];
                self.push(block, Op::Freeze, &args, ty, none);
            }
            _ => self.cast(block),
        }
    }

    fn cast(&mut self, block: Block) {
        let (i32t, i64t, f32t, f64t) = (Type::Int(32), Type::Int(64), Type::F32, Type::F64);
        let op = *self.rng.pick(CastOp::ALL);
        let (from, to) = match op {
            CastOp::Trunc => (i64t, i32t),
            CastOp::ZExt | CastOp::SExt => (i32t, Type::Int(128)),
            CastOp::FpToUi | CastOp::FpToSi => (f32t, i32t),
            CastOp::UiToFp | CastOp::SiToFp => (i32t, f64t),
            CastOp::FpTrunc => (f64t, f32t),
            CastOp::FpExt => (f32t, f64t),
            CastOp::PtrToInt | CastOp::PtrToAddr => (Type::PTR, i64t),
            CastOp::IntToPtr => (i64t, Type::PTR),
            CastOp::Bitcast => (f32t, i32t),
            CastOp::AddrSpaceCast => (Type::PTR, Type::Ptr(3)),
        };
        let flags = match op {
            CastOp::ZExt | CastOp::UiToFp => InstFlags::NNEG,
            CastOp::Trunc => InstFlags::NUW | InstFlags::NSW,
            CastOp::FpTrunc | CastOp::FpExt => InstFlags::FAST,
            _ => InstFlags::empty(),
        };
        let args = [self.value(from)];
        self.push(block, Op::Cast(op), &args, to, flags);
    }

    fn memory(&mut self, block: Block) {
        let none = InstFlags::empty();
        let ty = self.ty();
        let plain = self.rng.chance(1, 2);
        let access = MemAccess {
            align: 1 << self.rng.below(5),
            is_volatile: !plain && self.rng.chance(1, 2),
            is_speculative: false,
            is_nontemporal: self.rng.chance(1, 4),
            ordering: if plain { AtomicOrdering::NotAtomic } else { *self.rng.pick(AtomicOrdering::ALL) },
        };
        match self.rng.below(4) {
            0 => {
                let args = [self.value(Type::PTR)];
                self.push(block, Op::Load(access), &args, ty, none);
            }
            1 => {
                let args = [self.value(ty), self.value(Type::PTR)];
                self.push(block, Op::Store(access), &args, Type::Void, none);
            }
            2 => {
                let args = [self.value(Type::Int(32))];
                self.push(block, Op::Alloca { ty, align: 8 }, &args, Type::PTR, none);
            }
            _ => {
                let flags = InstFlags::INBOUNDS | InstFlags::NUSW | InstFlags::NUW;
                let args = [self.value(Type::PTR), self.value(Type::Int(64))];
                self.push(block, Op::Gep(ty), &args, Type::PTR, flags);
            }
        }
    }

    fn structure(&mut self, block: Block) {
        let none = InstFlags::empty();
        let i32t = Type::Int(32);
        let vector = i32t.vector(4).unwrap_or(i32t);
        let aggregates: Vec<Type> = self
            .types
            .iter()
            .copied()
            .filter(|&t| matches!(t, Type::Aggregate(_)) && self.module.types.member(t, 1).is_some())
            .collect();
        let aggregate = *self.rng.pick(&aggregates);
        let member = self.module.types.member(aggregate, 1).unwrap_or(i32t);
        match self.rng.below(5) {
            0 => {
                let args = [self.value(vector), self.value(Type::Int(64))];
                self.push(block, Op::ExtractElement, &args, i32t, none);
            }
            1 => {
                let args = [self.value(vector), self.value(i32t), self.value(i32t)];
                self.push(block, Op::InsertElement, &args, vector, none);
            }
            2 => {
                let args = [self.value(vector), self.value(vector)];
                let mask = [3, -1, 0, 7];
                self.push(block, Op::Shuffle(mask.into()), &args, vector, none);
            }
            3 => {
                let args = [self.value(aggregate)];
                self.push(block, Op::ExtractValue([1].into()), &args, member, none);
            }
            _ => {
                let args = [self.value(aggregate), self.value(member)];
                self.push(block, Op::InsertValue([1].into()), &args, aggregate, none);
            }
        }
    }

    fn call(&mut self, block: Block) {
        let none = InstFlags::empty();
        let ty = if self.rng.chance(1, 4) { Type::Void } else { self.ty() };
        let free: Vec<Type> = (0..self.rng.below(3)).map(|_| self.ty()).collect();
        if self.rng.chance(1, 3) {
            let args: Vec<Value> = free.iter().map(|&t| self.value(t)).collect();
            let info = OpaqueInfo::new("atomicrmw", random_effects(self.rng));
            return self.push(block, Op::Opaque(Box::new(info)), &args, ty, none);
        }
        let mut info = CallInfo { callee: None, effects: random_effects(self.rng), variadic_fixed: None };
        if self.rng.chance(1, 3) {
            let mut args: Vec<Value> = free.iter().map(|&t| self.value(t)).collect();
            args.push(self.value(Type::PTR));
            return self.push(block, Op::Call(Box::new(info)), &args, ty, none);
        }
        let symbol = Symbol::from_u32(self.rng.below(3) as u32);
        let data = &self.module.symbols[symbol];
        let SymbolKind::Function { params, ret, variadic } = &data.kind else { return };
        info.callee = Some(symbol);
        if self.rng.chance(1, 2) {
            info.effects = data.effects;
        }
        let mut args: Vec<Value> = params.iter().map(|&t| self.value(t)).collect();
        if *variadic {
            info.variadic_fixed = Some(params.len() as u32);
            args.extend(free.iter().map(|&t| self.value(t)).collect::<Vec<_>>());
        }
        self.push(block, Op::Call(Box::new(info)), &args, *ret, none);
    }

    /// Reads or writes a variable, if there is one.
    fn access(&mut self, block: Block) {
        if self.func.vars.is_empty() {
            return;
        }
        let x = Var::from_u32(self.rng.below(self.func.vars.len()) as u32);
        let ty = self.func.vars[x].ty;
        if self.rng.chance(1, 2) {
            self.push(block, Op::ReadVar(x), &[], ty, InstFlags::empty());
        } else {
            let args = [self.value(ty)];
            self.push(block, Op::WriteVar(x), &args, Type::Void, InstFlags::empty());
        }
    }

    fn variables_and_lanes(&mut self, block: Block) {
        let none = InstFlags::empty();
        match self.rng.below(4) {
            0 | 1 => self.access(block),
            2 => {
                let types: Vec<Type> = (0..self.rng.between(1, 3)).map(|_| self.ty()).collect();
                let args: Vec<Value> = types.iter().map(|&t| self.value(t)).collect();
                let i = self.func.make_inst(block, Op::ParallelCopy, &args, &types);
                self.func.blocks[block].insts.push(i);
                self.decorate(i);
                self.scope.extend(self.func.insts[i].results.iter());
            }
            _ => {
                let ops: Vec<LaneOp> = LaneOp::all().collect();
                let op = *self.rng.pick(&ops);
                let elem = *self.rng.pick(&[Type::Int(8), Type::Int(32), Type::F32]);
                // Every combination is defined for integers.
                let elem = if op.combine().is_some_and(|c| !c.fits(elem)) { Type::Int(16) } else { elem };
                let (params, ty) = op.signature(elem);
                let args: Vec<Value> = params.iter().map(|&t| self.value(t)).collect();
                self.push(block, Op::Lane(op), &args, ty, none);
            }
        }
    }

    fn terminate(&mut self, block: Block, targets: &[Block]) {
        let opaque = |rng: &mut SplitMix64| {
            let info = OpaqueInfo::new("invoke", random_effects(rng));
            Op::OpaqueTerm(Box::new(info))
        };
        match targets {
            [] => match self.rng.below(3) {
                0 => {
                    let args = if self.func.ret.is_void() { vec![] } else { vec![self.value(self.func.ret)] };
                    self.func.set_terminator(block, Op::Ret, &args, targets);
                }
                1 => {
                    self.func.set_terminator(block, Op::Unreachable, &[], targets);
                }
                _ => {
                    let op = opaque(self.rng);
                    self.func.set_terminator(block, op, &[], targets);
                }
            },
            [_] => {
                self.func.set_terminator(block, Op::Br, &[], targets);
            }
            [_, _] if self.rng.chance(3, 4) => {
                let args = [self.value(Type::BOOL)];
                self.func.set_terminator(block, Op::CondBr, &args, targets);
            }
            _ if self.rng.chance(1, 4) => {
                let op = opaque(self.rng);
                let args = [self.value(Type::Int(32))];
                self.func.set_terminator(block, op, &args, targets);
            }
            _ => {
                let base = self.rng.below(250) as u128;
                let values = (0..targets.len() as u128 - 1).map(|i| (base + i * 7) & 0xff).collect();
                let args = [self.value(Type::Int(8))];
                self.func.set_terminator(block, Op::Switch(values), &args, targets);
            }
        }
    }
}
