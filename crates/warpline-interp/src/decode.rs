//! From the IR to [`Code`].

use cranelift_entity::SecondaryMap;

use super::atomic::{Access, Update};
use super::code::{BlockCode, Call, Callee, Code, EdgeCode, Gep, GepStep, Ins, Kind, MemType, Slot, Term};
use super::cycles::{ChildOrder, Nesting, Position, Step};
use super::intrinsic::{self, ElemTypes, Intrinsic};
use super::mathematics;
use super::value::Cell;
use super::{float, scalar};
use warpline_ir::{
    AggregateType, Atomic, AtomicOrdering, Block, CallInfo, CastOp, Constant, Edge, FloatKind, FuncId,
    Function, Inst, InstFlags, LaneOp, Module, Op, Scalar, Symbol, SymbolKind, Type, Unwritten, Value,
    ValueDef, Var,
};

/// Values with more cells than this are not modelled.
const MAX_CELLS: u64 = 1 << 16;

/// The number of cells of a value of this type; `None` if it is not modelled.
pub(super) fn cell_count(module: &Module, ty: Type) -> Option<u32> {
    let n: u64 = match ty {
        Type::Void => 0,
        Type::Int(w) if w > 128 => return None,
        Type::Int(_) | Type::Float(_) | Type::Ptr(_) => 1,
        Type::Vector(v) if v.scalable => return None,
        Type::Vector(v) => {
            cell_count(module, v.elem.into())?;
            v.lanes.into()
        }
        Type::Aggregate(a) => match module.types.get(a) {
            AggregateType::Array { elem, len } => u64::from(cell_count(module, *elem)?).checked_mul(*len)?,
            AggregateType::Struct { fields, .. } => {
                fields.as_ref()?.iter().map(|&f| cell_count(module, f).map(u64::from)).sum::<Option<u64>>()?
            }
        },
        Type::Other(_) => return None,
    };
    (n <= MAX_CELLS).then_some(n as u32)
}

/// How a type lies in memory; `None` if it is not modelled.
pub(super) fn mem_type(module: &Module, ty: Type) -> Option<MemType> {
    cell_count(module, ty)?;
    let layout = &module.layout;
    Some(match ty {
        Type::Void | Type::Other(_) => return None,
        Type::Vector(v) => match layout.scalar_bits(v.elem) {
            bits if bits % 8 == 0 => MemType::Elements { count: v.lanes, bytes: bits / 8 },
            _ if layout.big_endian() => return None,
            bits => MemType::Packed { count: v.lanes, bits },
        },
        Type::Aggregate(a) => {
            let mut members = Vec::new();
            let mut cell = 0;
            let mut push = |offset, ty| {
                members.push((offset, cell, mem_type(module, ty)?));
                cell += cell_count(module, ty)?;
                Some(())
            };
            match module.types.get(a) {
                AggregateType::Array { elem, len } => {
                    let size = layout.alloc_size(&module.types, *elem)?;
                    for i in 0..*len {
                        push(i * size, *elem)?;
                    }
                }
                AggregateType::Struct { fields, .. } => {
                    let (_, offsets) = layout.struct_layout(&module.types, ty)?;
                    for (&offset, &field) in offsets.iter().zip(fields.as_ref()?) {
                        push(offset, field)?;
                    }
                }
            }
            MemType::Members(members)
        }
        _ => {
            let bits = layout.scalar_bits(ty.scalar()?);
            MemType::Scalar { bytes: bits.div_ceil(8), bits }
        }
    })
}

/// Why something could not be decoded: what the interpreter does not support.
type Unsupported = Box<str>;

fn unsupported<T>(what: impl Into<Box<str>>) -> Result<T, Unsupported> {
    Err(what.into())
}

/// What decoding needs of the machine.
pub(super) trait Symbols {
    fn module(&self) -> &Module;
    /// The address of a symbol.
    fn address(&mut self, symbol: Symbol) -> Result<u64, Unsupported>;
    /// The function of the module with this name.
    fn function(&self, name: &str) -> Option<FuncId>;
    /// The number of a function of mathematics that is computed elsewhere.
    fn mathematics(&self, name: &str) -> Option<usize>;
}

/// How to order blocks where there is a choice.
pub(super) struct Order<'a> {
    pub children: ChildOrder,
    /// Blocks that come first where siblings are free to choose.
    pub layout: Option<&'a [Block]>,
}

/// Decodes a function. Instructions that are not supported trap when they are executed.
pub(super) fn decode(
    symbols: &mut dyn Symbols,
    f: &Function,
    function: Option<FuncId>,
    order: &Order<'_>,
) -> Code {
    let mut d = Decoder {
        symbols,
        f,
        template: Vec::new(),
        slots: SecondaryMap::new(),
        seen: SecondaryMap::new(),
        vars: SecondaryMap::new(),
    };
    let params = f.params.iter().map(|&v| d.define(v)).collect();
    for (var, data) in &f.vars {
        let len = cell_count(d.symbols.module(), data.ty).unwrap_or(0);
        let slot = d.reserve(len);
        if data.unwritten == Unwritten::Undef {
            d.template[slot.at as usize..].fill(Cell::UNDEF);
        }
        d.vars[var] = slot;
    }
    for &b in &f.layout {
        for i in f.block_insts(b) {
            for &r in &f.insts[i].results {
                d.define(r);
            }
        }
    }
    let mut index = SecondaryMap::with_default(u32::MAX);
    for (i, &b) in f.layout.iter().enumerate() {
        index[b] = i as u32;
    }
    let (mut edges, mut blocks) = (Vec::new(), Vec::new());
    for &b in &f.layout {
        blocks.push(d.block(b, &index, &mut edges));
    }
    let start = number_positions(f, &index, &blocks, &mut edges, order);
    let Decoder { template, slots, .. } = d;
    let num_blocks = f.blocks.len();
    Code { name: f.name.clone(), function, blocks, edges, template, params, slots, start, num_blocks }
}

fn number_positions(
    f: &Function,
    index: &SecondaryMap<Block, u32>,
    blocks: &[BlockCode],
    edges: &mut [EdgeCode],
    order: &Order<'_>,
) -> Position {
    let successors: Vec<Vec<u32>> =
        f.layout.iter().map(|&b| f.successors(b).map(|s| index[s]).collect()).collect();
    let mut priority = vec![u64::MAX; blocks.len()];
    for (i, &b) in order.layout.unwrap_or(&f.layout).iter().enumerate() {
        if let Some(p) = priority.get_mut(index[b] as usize) {
            *p = i as u64;
        }
    }
    let nesting = Nesting::compute(&successors, order.children, &priority);
    for e in edges {
        e.step = nesting.step(Some(index[f.edges[e.edge].from]), e.to);
    }
    let mut start = Position::new();
    if !blocks.is_empty() {
        nesting.step(None, 0).apply(&mut start);
    }
    start
}

struct Decoder<'a> {
    symbols: &'a mut dyn Symbols,
    f: &'a Function,
    template: Vec<Cell>,
    slots: SecondaryMap<Value, Slot>,
    seen: SecondaryMap<Value, bool>,
    vars: SecondaryMap<Var, Slot>,
}

impl Decoder<'_> {
    fn module(&self) -> &Module {
        self.symbols.module()
    }

    fn reserve(&mut self, len: u32) -> Slot {
        let at = self.template.len() as u32;
        self.template.resize(self.template.len() + len as usize, Cell::POISON);
        Slot { at, len }
    }

    fn define(&mut self, v: Value) -> Slot {
        let len = cell_count(self.module(), self.f.ty(v)).unwrap_or(0);
        let slot = self.reserve(len);
        self.slots[v] = slot;
        self.seen[v] = true;
        slot
    }

    fn operand(&mut self, v: Value) -> Result<Slot, Unsupported> {
        let ty = self.f.ty(v);
        if cell_count(self.module(), ty).is_none() {
            return unsupported(format!("a value of type {}", describe(self.module(), ty)));
        }
        if !self.seen[v] {
            let ValueDef::Const(_) = self.f.values[v].def else {
                return unsupported(format!("{v}, whose definition is not in the function"));
            };
            let mut cells = Vec::new();
            if let Some(c) = self.f.constant(v) {
                let c = c.clone();
                self.constant(&c, &mut cells)?;
            }
            let at = self.template.len() as u32;
            self.slots[v] = Slot { at, len: cells.len() as u32 };
            self.template.extend(cells);
            self.seen[v] = true;
        }
        Ok(self.slots[v])
    }

    fn constant(&mut self, c: &Constant, out: &mut Vec<Cell>) -> Result<(), Unsupported> {
        let fill = |d: &Self, out: &mut Vec<Cell>, ty, cell| {
            let n = cell_count(d.module(), ty).unwrap_or(0) as usize;
            out.resize(out.len() + n, cell);
        };
        match c {
            Constant::Int { value, .. } => out.push(Cell::new(*value)),
            Constant::Float { bits, .. } => out.push(Cell::new(*bits)),
            Constant::Null(_) => out.push(Cell::ZERO),
            Constant::Undef(ty) => fill(self, out, *ty, Cell::UNDEF),
            Constant::Poison(ty) => fill(self, out, *ty, Cell::POISON),
            Constant::Zero(ty) => fill(self, out, *ty, Cell::ZERO),
            Constant::Address { symbol, offset, space, .. } => {
                let bits = self.module().layout.pointer_bits(*space);
                let base = self.symbols.address(*symbol)?;
                let address = base.wrapping_add_signed(*offset);
                out.push(Cell::new(scalar::truncate(address.into(), bits)));
            }
            Constant::Composite { elems, .. } => {
                for e in elems {
                    self.constant(e, out)?;
                }
            }
            Constant::WideInt { .. } | Constant::Opaque { .. } => {
                return unsupported("a constant that is not modelled");
            }
        }
        Ok(())
    }

    fn block(&mut self, b: Block, index: &SecondaryMap<Block, u32>, edges: &mut Vec<EdgeCode>) -> BlockCode {
        let f = self.f;
        let data = &f.blocks[b];
        let insts: Vec<Ins> = data.insts.iter().map(|&i| self.inst(i)).collect();
        let term_inst = data.term.expand();
        let term = match term_inst {
            Some(t) => self.term(t, index, edges).unwrap_or_else(Term::Unsupported),
            None => Term::Unsupported("a block without terminator".into()),
        };
        let mask = data.mask.expand().and_then(|m| {
            let slot = self.operand(m).ok()?;
            let here = f.def_inst(m).filter(|&i| f.insts[i].block == b);
            let at = here.and_then(|i| data.insts.iter().position(|&x| x == i)).map_or(0, |p| p + 1);
            Some((slot, at))
        });
        BlockCode { block: b, phis: data.phis.clone(), insts, term, term_inst, mask }
    }

    fn term(
        &mut self,
        t: Inst,
        index: &SecondaryMap<Block, u32>,
        edges: &mut Vec<EdgeCode>,
    ) -> Result<Term, Unsupported> {
        let f = self.f;
        let data = &f.insts[t];
        let first = edges.len() as u32;
        for &e in &data.edges {
            let code = self.edge(e, index)?;
            edges.push(code);
        }
        Ok(match &data.op {
            Op::Br => Term::Br(first),
            Op::CondBr => Term::CondBr(self.operand(data.args[0])?, first, first + 1),
            Op::Switch(cases) => Term::Switch(
                self.operand(data.args[0])?,
                cases.iter().enumerate().map(|(i, &c)| (c, first + 1 + i as u32)).collect(),
                first,
            ),
            Op::Ret => match data.args.first() {
                Some(&v) => Term::Ret(self.operand(v)?),
                None => Term::Ret(Slot::default()),
            },
            Op::Unreachable => Term::Unreachable,
            op => return unsupported(format!("`{}`", op.name())),
        })
    }

    fn edge(&mut self, e: Edge, index: &SecondaryMap<Block, u32>) -> Result<EdgeCode, Unsupported> {
        let f = self.f;
        let data = &f.edges[e];
        let mut moves = Vec::new();
        for (&phi, &v) in f.blocks[data.to].phis.iter().zip(&data.args) {
            let to = self.slots[f.insts[phi].results[0]];
            moves.push((self.operand(v)?, to));
        }
        let buffered = moves.iter().any(|(from, _)| moves.iter().any(|(_, to)| to.at == from.at));
        Ok(EdgeCode { edge: e, to: index[data.to], moves, buffered, step: Step::default() })
    }

    fn inst(&mut self, i: Inst) -> Ins {
        let data = &self.f.insts[i];
        let dst = data.result().map_or(Slot::default(), |r| self.slots[r]);
        let mut ins = Ins {
            kind: Kind::Nothing,
            flags: data.flags,
            inst: i,
            dst,
            a: Slot::default(),
            b: Slot::default(),
            c: Slot::default(),
            on_variable: matches!(data.op, Op::ReadVar(_) | Op::WriteVar(_)),
            dst_bits: data.result().map_or(1, |r| narrowest(self.module(), self.f.ty(r))),
        };
        if let Err(what) = self.fill(i, &mut ins) {
            ins.kind = Kind::Unsupported(what);
        }
        ins
    }

    fn elem(&self, v: Value) -> Result<(Scalar, u32), Unsupported> {
        let ty = self.f.ty(v);
        match ty.elem() {
            Some(s) => Ok((s, self.module().layout.scalar_bits(s))),
            None => unsupported(format!("this operation on {}", describe(self.module(), ty))),
        }
    }

    fn float(&self, v: Value) -> Result<FloatKind, Unsupported> {
        match self.elem(v)?.0 {
            Scalar::Float(k) if float::supported(k) => Ok(k),
            Scalar::Float(k) => unsupported(format!("arithmetic on `{}`", k.name())),
            _ => unsupported("floating-point arithmetic on integers"),
        }
    }

    fn fill(&mut self, i: Inst, ins: &mut Ins) -> Result<(), Unsupported> {
        let f = self.f;
        let data = &f.insts[i];
        let args = &data.args;
        for &r in &data.results {
            if cell_count(self.module(), f.ty(r)).is_none() {
                return unsupported(format!("a value of type {}", describe(self.module(), f.ty(r))));
            }
        }
        // Most operations have at most three operands, which go to a, b, c.
        if !matches!(data.op, Op::Call(_) | Op::Gep(_) | Op::ParallelCopy | Op::Sigma | Op::Opaque(_)) {
            let mut slots = [Slot::default(); 3];
            for (slot, &v) in slots.iter_mut().zip(args) {
                *slot = self.operand(v)?;
            }
            [ins.a, ins.b, ins.c] = slots;
        }
        ins.kind = match &data.op {
            Op::Binary(op) if op.is_float() => Kind::FloatBinary(*op, self.float(args[0])?),
            Op::Binary(op) => Kind::IntBinary(*op, self.elem(args[0])?.1),
            Op::FNeg => Kind::FNeg(match self.elem(args[0])?.0 {
                Scalar::Float(k) => k,
                _ => return unsupported("`fneg` of integers"),
            }),
            Op::ICmp(p) => Kind::ICmp(*p, self.elem(args[0])?.1),
            Op::FCmp(p) => Kind::FCmp(*p, self.float(args[0])?),
            Op::Select => {
                let check = ins.flags.intersects(InstFlags::NNAN | InstFlags::NINF);
                Kind::Select(if check { Some(self.float(args[1])?) } else { None })
            }
            Op::Freeze => Kind::Freeze,
            Op::Cast(CastOp::Bitcast) => self.bitcast(args[0], data.results[0])?,
            Op::Cast(op) => Kind::Cast(*op, self.elem(args[0])?, self.elem(data.results[0])?),
            Op::Gep(ty) => {
                let (base, gep) = self.gep(*ty, args)?;
                ins.a = base;
                Kind::Gep(Box::new(gep))
            }
            Op::Load(m) => Kind::Load {
                ty: Box::new(self.memory_of(data.results[0])?),
                align: m.align,
                volatile: m.is_volatile,
                speculative: m.is_speculative,
                atomic: m.ordering != AtomicOrdering::NotAtomic,
            },
            Op::Store(m) => Kind::Store {
                ty: Box::new(self.memory_of(args[0])?),
                align: m.align,
                volatile: m.is_volatile,
                atomic: m.ordering != AtomicOrdering::NotAtomic,
            },
            Op::Alloca { ty, align } => {
                let module = self.module();
                let Some(size) = module.layout.alloc_size(&module.types, *ty) else {
                    return unsupported(format!("`alloca` of {}", describe(module, *ty)));
                };
                Kind::Alloca { size, align: *align }
            }
            Op::ExtractElement => Kind::ExtractElement,
            Op::InsertElement => Kind::InsertElement,
            Op::Shuffle(mask) => Kind::Shuffle(mask.clone()),
            Op::ExtractValue(path) => {
                let (at, len) = self.member(f.ty(args[0]), path)?;
                ins.a = Slot { at: ins.a.at + at, len };
                Kind::Copy
            }
            Op::InsertValue(path) => Kind::InsertValue(self.member(f.ty(args[0]), path)?.0),
            Op::Call(info) => match self.lane_function(info, args) {
                Some((op, elem)) => {
                    for (slot, &v) in [&mut ins.a, &mut ins.b, &mut ins.c].into_iter().zip(args) {
                        *slot = self.operand(v)?;
                    }
                    Kind::LaneElements(op, elem)
                }
                None => self.call(i, info)?,
            },
            Op::ReadVar(x) => {
                ins.a = self.vars[*x];
                Kind::Copy
            }
            Op::WriteVar(x) => {
                ins.dst = self.vars[*x];
                Kind::Copy
            }
            Op::ParallelCopy => {
                let mut moves = Vec::new();
                for (&v, &r) in args.iter().zip(&data.results) {
                    moves.push((self.operand(v)?, self.slots[r]));
                }
                Kind::ParallelCopy(moves.into())
            }
            // Only results of the edge that is taken will be read.
            Op::Sigma => {
                let from = self.operand(args[0])?;
                Kind::ParallelCopy(data.results.iter().map(|&r| (from, self.slots[r])).collect())
            }
            Op::Lane(op) if op.has_element() => {
                Kind::LaneElements(*op, f.ty(args[usize::from(*op == LaneOp::Compact)]))
            }
            Op::Lane(op) => Kind::Lane(*op),
            Op::Opaque(o) if &*o.name == "fence" => Kind::Nothing,
            op => {
                let atomic = if let Op::Opaque(o) = op { o.atomic } else { None };
                let Some(atomic) = atomic else { return unsupported(format!("`{}`", op.name())) };
                for (slot, &v) in [&mut ins.a, &mut ins.b, &mut ins.c].into_iter().zip(args) {
                    *slot = self.operand(v)?;
                }
                self.atomic(atomic, args)?
            }
        };
        Ok(())
    }

    fn atomic(&self, atomic: Atomic, args: &[Value]) -> Result<Kind, Unsupported> {
        let (elem, bits) = self.elem(args[1])?;
        let (access, update) = match (atomic, elem) {
            (Atomic::Rmw { op, access }, Scalar::Float(_)) => {
                (access, Update::Float(op, self.float(args[1])?))
            }
            (Atomic::Rmw { op, access }, _) => (access, Update::Int(op, bits)),
            (Atomic::CompareExchange { access, .. }, _) => (access, Update::Compare(bits)),
            (Atomic::Fence(_), _) => return Ok(Kind::Nothing),
        };
        let (align, volatile) = (access.align, access.is_volatile);
        Ok(Kind::Atomic(Box::new(Access { ty: self.memory_of(args[1])?, align, volatile, update })))
    }

    fn memory_of(&self, v: Value) -> Result<MemType, Unsupported> {
        let ty = self.f.ty(v);
        mem_type(self.module(), ty)
            .ok_or_else(|| format!("memory of type {}", describe(self.module(), ty)).into())
    }

    fn bitcast(&self, from: Value, to: Value) -> Result<Kind, Unsupported> {
        let (a, b) = (self.elem(from)?.1, self.elem(to)?.1);
        if a == b {
            Ok(Kind::Copy)
        } else if self.module().layout.big_endian() {
            unsupported("`bitcast` between vectors on a big-endian target")
        } else {
            Ok(Kind::Repack(a, b))
        }
    }

    /// First cell and number of cells of a member of an aggregate.
    fn member(&self, ty: Type, path: &[u32]) -> Result<(u32, u32), Unsupported> {
        let module = self.module();
        let count = |ty| cell_count(module, ty);
        let find = || {
            let (mut ty, mut at) = (ty, 0);
            for &k in path {
                let Type::Aggregate(a) = ty else { return None };
                at += match module.types.get(a) {
                    AggregateType::Array { elem, .. } => count(*elem)? * k,
                    AggregateType::Struct { fields, .. } => {
                        let before = fields.as_ref()?.get(..k as usize)?;
                        before.iter().map(|&t| count(t)).sum::<Option<u32>>()?
                    }
                };
                ty = module.types.member(ty, k.into())?;
            }
            Some((at, count(ty)?))
        };
        find().ok_or_else(|| "a member of this aggregate".into())
    }

    fn gep(&mut self, source: Type, args: &[Value]) -> Result<(Slot, Gep), Unsupported> {
        let f = self.f;
        let Some(Scalar::Ptr(space)) = f.ty(args[0]).elem() else {
            return unsupported("`getelementptr` on something that is no pointer");
        };
        let base = self.operand(args[0])?;
        let (pointer_bits, index_bits) =
            (self.module().layout.pointer_bits(space), self.module().layout.index_bits(space));
        let mut steps = Vec::new();
        let mut ty = source;
        for (k, &v) in args[1..].iter().enumerate() {
            let constant = self.constant_index(v);
            if k > 0
                && let Type::Aggregate(a) = ty
                && let AggregateType::Struct { fields, .. } = self.module().types.get(a)
            {
                let field = constant.and_then(|c| usize::try_from(c).ok());
                let layout = self.module().layout.struct_layout(&self.module().types, ty);
                let found = || {
                    let k = field?;
                    Some((*layout?.1.get(k)?, *fields.as_ref()?.get(k)?))
                };
                let Some((offset, member)) = found() else {
                    return unsupported("`getelementptr` into this structure");
                };
                steps.push(GepStep::Constant(offset.into()));
                ty = member;
                continue;
            }
            if k > 0 {
                // An array of length 0 may be indexed too.
                let element = |a| match self.module().types.get(a) {
                    AggregateType::Array { elem, .. } => Some(*elem),
                    _ => None,
                };
                let member = self.module().types.member(ty, 0);
                let Some(member) =
                    member.or_else(|| if let Type::Aggregate(a) = ty { element(a) } else { None })
                else {
                    return unsupported("`getelementptr` into this type");
                };
                ty = member;
            }
            let size = self.module().layout.alloc_size(&self.module().types, ty);
            let Some(size) = size else {
                return unsupported(format!("`getelementptr` over {}", describe(self.module(), ty)));
            };
            match constant {
                Some(c) => steps.push(GepStep::Constant(c * i128::from(size))),
                None => {
                    let bits = self.elem(v)?.1;
                    let index = self.operand(v)?;
                    steps.push(GepStep::Scaled { index, bits, size });
                }
            }
        }
        Ok((base, Gep { steps, index_bits, pointer_bits }))
    }

    fn constant_index(&self, v: Value) -> Option<i128> {
        match self.f.constant(v)? {
            Constant::Int { bits, value } => Some(scalar::sign_extend(*value, (*bits).min(128))),
            Constant::Zero(_) => Some(0),
            _ => None,
        }
    }

    fn call(&mut self, i: Inst, info: &CallInfo) -> Result<Kind, Unsupported> {
        let f = self.f;
        let data = &f.insts[i];
        let ret = data.result().map_or(Type::Void, |r| f.ty(r));
        let (fixed, indirect) = match info.callee {
            Some(_) => (&data.args[..], None),
            None => match data.args.split_last() {
                Some((callee, fixed)) => (fixed, Some(*callee)),
                None => return unsupported("a call without callee"),
            },
        };
        let name = info.callee.map(|s| self.module().symbols[s].name.clone());
        // Operands of these may be metadata.
        if let Some(name) = &name
            && self.symbols.function(name).is_none()
            && matches!(intrinsic::lookup(name), Some(Intrinsic::Nothing | Intrinsic::Assume))
            && fixed.iter().any(|&v| cell_count(self.module(), f.ty(v)).is_none())
        {
            return Ok(Kind::Nothing);
        }
        let mut args = Vec::new();
        for &v in fixed {
            args.push((self.operand(v)?, f.ty(v)));
        }
        let callee = match (name, indirect) {
            (None, Some(v)) => Callee::Indirect(self.operand(v)?),
            (None, None) => return unsupported("a call without callee"),
            (Some(name), _) => self.named_callee(&name, fixed, data.result()),
        };
        let memory = match &callee {
            Callee::Intrinsic(Intrinsic::MaskedLoad | Intrinsic::Gather | Intrinsic::IndexedGather, _) => {
                mem_type(self.module(), ret)
            }
            Callee::Intrinsic(Intrinsic::MaskedStore | Intrinsic::Scatter | Intrinsic::CompressStore, _) => {
                args.first().and_then(|a| mem_type(self.module(), a.1))
            }
            _ => None,
        };
        if let Callee::Intrinsic(Intrinsic::Lane(op), _) = callee {
            return self.lane_call(op, &args, ret);
        }
        Ok(Kind::Call(Box::new(Call { callee, args, ret, memory })))
    }

    /// The operation on elements that a call asks for, if its operands are as documented.
    fn lane_function(&self, info: &CallInfo, args: &[Value]) -> Option<(LaneOp, Type)> {
        let name = &self.module().symbols[info.callee?].name;
        let (op, elem) = LaneOp::declared(name).filter(|(op, _)| op.has_element())?;
        let given = args.iter().map(|&v| self.f.ty(v));
        (self.symbols.function(name).is_none() && given.eq(op.signature(elem).0)).then_some((op, elem))
    }

    /// A call of one of the other `warpline_` functions stays a call: its operand may be wider than `i1`.
    fn lane_call(&self, op: LaneOp, args: &[(Slot, Type)], ret: Type) -> Result<Kind, Unsupported> {
        let expected = op.signature(Type::Void).0.len();
        if args.len() != expected || args.iter().any(|a| !a.1.is_int()) || !ret.is_int() {
            return unsupported(format!("`{}` with these parameters", op.name()));
        }
        let callee = Callee::Intrinsic(Intrinsic::Lane(op), None);
        Ok(Kind::Call(Box::new(Call { callee, args: args.to_vec(), ret, memory: None })))
    }

    fn named_callee(&self, name: &str, args: &[Value], result: Option<Value>) -> Callee {
        if let Some(id) = self.symbols.function(name) {
            return Callee::Function(id);
        }
        if let Some(elsewhere) = self.symbols.mathematics(name)
            && let Some(kind) = mathematics::format(self.f, args, result)
        {
            return Callee::Mathematics(elsewhere, kind);
        }
        let Some(found) = intrinsic::lookup(name) else { return Callee::External(name.into()) };
        let arg = args.first().and_then(|&v| self.elem(v).ok());
        let res = result.and_then(|v| self.elem(v).ok()).or(arg);
        let types = arg.zip(res).map(|((arg, arg_bits), (result, result_bits))| ElemTypes {
            arg,
            arg_bits,
            result,
            result_bits,
        });
        // A declaration of ours by a name of the C library with other types is not that function.
        if !name.starts_with("llvm.") && matches!(found, Intrinsic::Unary(_) | Intrinsic::Binary(_)) {
            let floats = args.iter().all(|&v| self.f.ty(v).is_float());
            if !floats || args.is_empty() {
                return Callee::External(name.into());
            }
        }
        Callee::Intrinsic(found, types)
    }
}

/// Width of the narrowest scalar in a type.
fn narrowest(module: &Module, ty: Type) -> u32 {
    match ty {
        Type::Aggregate(a) => match module.types.get(a) {
            AggregateType::Array { elem, .. } => narrowest(module, *elem),
            AggregateType::Struct { fields, .. } => {
                fields.iter().flatten().map(|&f| narrowest(module, f)).min().unwrap_or(1)
            }
        },
        _ => ty.elem().map_or(1, |s| module.layout.scalar_bits(s)),
    }
}

fn describe(module: &Module, ty: Type) -> String {
    match ty {
        Type::Int(w) => format!("`i{w}`"),
        Type::Float(k) => format!("`{}`", k.name()),
        Type::Vector(v) if v.scalable => "a scalable vector type".into(),
        Type::Other(o) => format!("`{}`", module.types.other_text(o)),
        _ => "an aggregate, vector or pointer type".into(),
    }
}

/// Whether a symbol is one of a function.
pub(super) fn is_function(kind: &SymbolKind) -> bool {
    matches!(kind, SymbolKind::Function { .. })
}
