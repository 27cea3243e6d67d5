//! Vector-typed values of the kernel, such as OpenCL's `float4`, taken apart into their elements.
//!
//! A lane's `float4` has four elements, and W lanes have four times W. Instructions on vectors that differ between
//! lanes are replaced by one instruction per element, so that each element has a shape and a vector of its own: of
//! `(int2)(i, j)` one element may be contiguous and the other uniform. Values that are uniform stay vectors.
//!
//! What cannot be taken apart (calls, volatile and atomic accesses, aggregates with vectors in them, `ret`) is a
//! *border*: a vector that was taken apart is put together in front of it, and elements are extracted behind it.
//! Lowering represents such vectors as arrays of W-lane vectors, one per element.
//!
//! # Memory
//!
//! A vector access becomes one access per element. All lanes' first elements are then accessed before any lane's
//! second one. For loads it makes no difference. A store is taken apart only if the vectors of two lanes are the same
//! memory or do not overlap: if the address is uniform, has a stride of at least the vector's size, or is aligned to
//! that size. Any other store is a scalarization boundary, and is scalarized in lane order. So is an access to elements
//! whose size is not a power of two of bytes, which lie in memory bit by bit.
//!
//! # Bits
//!
//! `bitcast` between different numbers of elements goes by integers that hold a whole number of elements on
//! both sides; the first element is in the low bits on little-endian targets, in the high bits on others.

use crate::divisors::gcd;
use crate::pass::{Context, Unit};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use warpline_analysis::DfsOrder;

use warpline_ir::{
    BinaryOp, Block, CastOp, Constant, Function, Inst, InstFlags, IntPred, MemAccess, Module, Op, Scalar,
    Type, Value, ValueDef, VectorType,
};
use warpline_uniformity::Uniformity;
use warpline_uniformity::shape::Shape;

use super::VectorizeError;
use super::alignment::at_distance;

/// Whether a function has values of vector type.
fn has_vectors(func: &Function) -> bool {
    func.values.values().any(|v| fixed(v.ty).is_some())
}

/// The pass.
pub(crate) fn run(unit: &mut Unit, cx: &Context<'_>) -> Result<bool, VectorizeError> {
    if !has_vectors(&unit.func) {
        return Ok(false);
    }
    let uniformity = cx.uniformity(unit);
    scalarize(cx.module, &mut unit.func, &uniformity)?;
    Ok(true)
}

/// Takes the vectors that differ between lanes apart, by the outcome of an analysis of this very function. The
/// control flow stays as it is.
///
/// # Errors
/// If such a vector is the result of a terminator.
pub(crate) fn scalarize(
    module: &Module,
    func: &mut Function,
    uniformity: &Uniformity,
) -> Result<(), VectorizeError> {
    let shape = |v: Value| uniformity.shape(v);
    let apart = taken_apart(func, shape);
    let mut pass = Pass {
        module,
        shape: &shape,
        apart,
        dissolved: EntitySet::new(),
        elements: SecondaryMap::new(),
        whole: SecondaryMap::new(),
        alias: SecondaryMap::new(),
        front: SecondaryMap::new(),
        behind: SecondaryMap::new(),
        block: func.entry(),
        list: Vec::new(),
        at: None.into(),
        func,
    };
    pass.phis();
    let order: Vec<Block> = reverse_post_order(pass.func);
    for &b in &order {
        pass.block(b)?;
    }
    pass.phi_operands()?;
    pass.finish();
    Ok(())
}

fn reverse_post_order(func: &Function) -> Vec<Block> {
    DfsOrder::compute(&func.graph().0).reverse_post_order().map(Block::from).collect()
}

/// A vector type with a known number of elements.
fn fixed(ty: Type) -> Option<VectorType> {
    match ty {
        Type::Vector(v) if !v.scalable => Some(v),
        _ => None,
    }
}

/// The vectors that do not stay whole: those that differ between lanes, quotients (which must not trap where no lane
/// is active), and what is computed from them.
fn taken_apart(func: &Function, shape: impl Fn(Value) -> Shape) -> EntitySet<Value> {
    let is_vector = |v: Value| fixed(func.ty(v)).is_some();
    let mut apart = EntitySet::with_capacity(func.values.len());
    for (v, data) in func.values.iter() {
        let quotient = matches!(data.def, ValueDef::Inst(i, _)
            if matches!(func.insts[i].op, Op::Binary(op) if op.is_int_division()));
        let constant = matches!(data.def, ValueDef::Const(_));
        if is_vector(v) && !constant && (quotient || !shape(v).is_uniform()) {
            apart.insert(v);
        }
    }
    let order = reverse_post_order(func);
    loop {
        let mut changed = false;
        for &b in &order {
            for (position, &phi) in func.blocks[b].phis.iter().enumerate() {
                let v = func.insts[phi].results[0];
                let preds = &func.blocks[b].preds;
                if is_vector(v) && preds.iter().any(|&e| apart.contains(func.edges[e].args[position])) {
                    changed |= apart.insert(v);
                }
            }
            for &i in &func.blocks[b].insts {
                let data = &func.insts[i];
                let Some(v) = data.result().filter(|&v| is_vector(v)) else { continue };
                if is_elementwise(&data.op) && data.args.iter().any(|&a| apart.contains(a)) {
                    changed |= apart.insert(v);
                }
            }
        }
        if !changed {
            return apart;
        }
    }
}

/// Whether elements of the result depend on elements of the operands alone.
fn is_elementwise(op: &Op) -> bool {
    matches!(
        op,
        Op::Binary(_)
            | Op::FNeg
            | Op::ICmp(_)
            | Op::FCmp(_)
            | Op::Select
            | Op::Freeze
            | Op::Cast(_)
            | Op::Gep(_)
            | Op::ExtractElement
            | Op::InsertElement
            | Op::Shuffle(_)
    )
}

struct Pass<'a, S> {
    module: &'a Module,
    func: &'a mut Function,
    shape: &'a S,
    /// The vectors to be taken apart.
    apart: EntitySet<Value>,
    /// Those of them whose instruction is gone.
    dissolved: EntitySet<Value>,
    /// The elements of vectors; none while they are not known.
    elements: SecondaryMap<Value, Vec<Value>>,
    /// A dissolved vector put together, with the block in which it is valid.
    whole: SecondaryMap<Value, Option<(Block, Value)>>,
    /// What stands for the result of an instruction that is gone.
    alias: SecondaryMap<Value, PackedOption<Value>>,
    /// Elements of vectors that are there when the block begins.
    front: SecondaryMap<Block, Vec<Inst>>,
    /// Elements of the result of an instruction that stays.
    behind: SecondaryMap<Inst, Vec<Inst>>,
    block: Block,
    /// The instructions of the present block.
    list: Vec<Inst>,
    /// The instruction that is being replaced.
    at: PackedOption<Inst>,
}

impl<S: Fn(Value) -> Shape> Pass<'_, S> {
    // ---- blocks -------------------------------------------------------------------------------------------

    /// Gives every φ to be dissolved one φ per element.
    fn phis(&mut self) {
        for b in self.func.layout.clone() {
            for phi in self.func.blocks[b].phis.clone() {
                let v = self.func.insts[phi].results[0];
                let Some(ty) = fixed(self.func.ty(v)).filter(|_| self.apart.contains(v)) else { continue };
                let (loc, flags) = (self.func.insts[phi].loc, self.func.insts[phi].flags);
                for _ in 0..ty.lanes {
                    let element = self.func.add_phi(b, ty.elem.into());
                    let new = self.func.def_inst(element).expect("a φ is an instruction");
                    self.func.insts[new].loc = loc;
                    self.func.insts[new].flags = flags;
                    self.elements[v].push(element);
                }
                self.dissolved.insert(v);
            }
        }
    }

    fn phi_operands(&mut self) -> Result<(), VectorizeError> {
        for b in self.func.layout.clone() {
            let phis = self.func.blocks[b].phis.clone();
            for (position, &phi) in phis.iter().enumerate() {
                let v = self.func.insts[phi].results[0];
                if !self.dissolved.contains(v) {
                    continue;
                }
                let first = self.func.def_inst(self.elements[v][0]).expect("a φ is an instruction");
                let first = phis.iter().position(|&p| p == first).expect("a φ is in its block");
                for e in self.func.blocks[b].preds.clone() {
                    let operand = self.func.edges[e].args[position];
                    for (k, x) in self.elements_of(operand)?.into_iter().enumerate() {
                        self.func.set_phi_arg(e, first + k, x);
                    }
                }
            }
        }
        Ok(())
    }

    fn block(&mut self, b: Block) -> Result<(), VectorizeError> {
        self.block = b;
        for i in self.func.blocks[b].insts.clone() {
            self.instruction(i)?;
        }
        let term = self.func.terminator(b);
        self.at = term.into();
        self.put_together_operands(term);
        self.func.blocks[b].insts = std::mem::take(&mut self.list);
        Ok(())
    }

    /// Puts extracted elements where they belong, and removes what is gone.
    fn finish(&mut self) {
        for b in self.func.layout.clone() {
            let old = std::mem::take(&mut self.func.blocks[b].insts);
            let mut list = std::mem::take(&mut self.front[b]);
            for i in old {
                list.push(i);
                list.append(&mut self.behind[i]);
            }
            self.func.blocks[b].insts = list;
            let dissolved: Vec<Inst> = self.func.blocks[b]
                .phis
                .iter()
                .copied()
                .filter(|&p| self.dissolved.contains(self.func.insts[p].results[0]))
                .collect();
            self.func.retain_phis(b, |p| !dissolved.contains(&p));
        }
        let alias = &self.alias;
        self.func.map_operands(|mut v| {
            while let Some(next) = alias[v].expand() {
                v = next;
            }
            v
        });
    }

    // ---- instructions -------------------------------------------------------------------------------------

    fn instruction(&mut self, i: Inst) -> Result<(), VectorizeError> {
        self.at = i.into();
        let data = &self.func.insts[i];
        let result = data.result();
        let touched = result.is_some_and(|v| self.apart.contains(v))
            || data.args.iter().any(|&a| self.apart.contains(a))
            || result.is_some_and(|v| !(self.shape)(v).is_uniform())
                && data.args.iter().any(|&a| fixed(self.func.ty(a)).is_some());
        match (&data.op, result) {
            (Op::Cast(CastOp::Bitcast), Some(v)) if touched => self.bitcast(i, v)?,
            (Op::ExtractElement, Some(v)) if touched => self.extract(i, v)?,
            (Op::InsertElement, Some(v)) if touched => self.insert(i, v)?,
            (Op::Shuffle(mask), Some(v)) if touched => {
                let mask = mask.clone();
                self.shuffle(i, v, &mask)?;
            }
            (op, Some(v)) if touched && is_elementwise(op) => self.elementwise(i, v)?,
            (&Op::Load(access), Some(v)) if touched && self.slices(access, self.func.ty(v)).is_some() => {
                self.load(i, v, access);
            }
            (&Op::Store(access), None) if self.is_split_store(i, access) => self.store(i, access)?,
            _ => {
                self.put_together_operands(i);
                self.list.push(i);
            }
        }
        Ok(())
    }

    /// Operands of a border are whole.
    fn put_together_operands(&mut self, i: Inst) {
        for k in 0..self.func.insts[i].args.len() {
            let a = self.func.insts[i].args[k];
            if self.dissolved.contains(a) {
                let whole = self.put_together(a);
                self.func.insts[i].args[k] = whole;
            }
        }
    }

    fn put_together(&mut self, v: Value) -> Value {
        if let Some((_, whole)) = self.whole[v].filter(|w| w.0 == self.block) {
            return whole;
        }
        let ty = self.func.ty(v);
        let mut whole = self.func.poison(ty);
        for (k, x) in self.elements[v].clone().into_iter().enumerate() {
            let index = self.func.int_const(64, k as u128);
            whole = self.emit(Op::InsertElement, &[whole, x, index], ty);
        }
        self.whole[v] = Some((self.block, whole));
        whole
    }

    /// One instruction per element. Operands that are no vectors are the same for all elements.
    fn elementwise(&mut self, i: Inst, result: Value) -> Result<(), VectorizeError> {
        let data = self.func.insts[i].clone();
        let ty = fixed(self.func.ty(result)).expect("elementwise operations on vectors make vectors");
        let mut operands = Vec::with_capacity(data.args.len());
        for &a in &data.args {
            operands.push(match fixed(self.func.ty(a)) {
                Some(_) => self.elements_of(a)?,
                None => vec![a; ty.lanes as usize],
            });
        }
        let mut elements = Vec::with_capacity(ty.lanes as usize);
        for k in 0..ty.lanes as usize {
            let args: Vec<Value> = operands.iter().map(|list| list[k]).collect();
            elements.push(self.emit_flags(data.op.clone(), data.flags, &args, ty.elem.into()));
        }
        self.dissolve(result, elements);
        Ok(())
    }

    fn dissolve(&mut self, v: Value, elements: Vec<Value>) {
        self.elements[v] = elements;
        self.dissolved.insert(v);
    }

    fn extract(&mut self, i: Inst, result: Value) -> Result<(), VectorizeError> {
        let (vector, index) = (self.func.insts[i].args[0], self.func.insts[i].args[1]);
        let elements = self.elements_of(vector)?;
        let found = match self.func.as_int(index) {
            Some(k) => match usize::try_from(k).ok().and_then(|k| elements.get(k)) {
                Some(&x) => x,
                None => self.func.poison(self.func.ty(result)),
            },
            None => {
                let ty = self.func.ty(result);
                let mut found = elements[0];
                for (k, &x) in elements.iter().enumerate().skip(1) {
                    let Some(here) = self.index_is(index, k) else { break };
                    found = self.emit(Op::Select, &[here, x, found], ty);
                }
                found
            }
        };
        self.alias[result] = found.into();
        Ok(())
    }

    fn insert(&mut self, i: Inst, result: Value) -> Result<(), VectorizeError> {
        let data = &self.func.insts[i];
        let (vector, x, index) = (data.args[0], data.args[1], data.args[2]);
        let ty = self.func.ty(x);
        let mut elements = self.elements_of(vector)?;
        match self.func.as_int(index) {
            Some(k) => match usize::try_from(k).ok().and_then(|k| elements.get_mut(k)) {
                Some(element) => *element = x,
                None => elements.fill(self.func.poison(ty)),
            },
            None => {
                for (k, element) in elements.iter_mut().enumerate() {
                    let Some(here) = self.index_is(index, k) else { break };
                    *element = self.emit(Op::Select, &[here, x, *element], ty);
                }
            }
        }
        self.dissolve(result, elements);
        Ok(())
    }

    /// Whether an index is `k`; `None` if its type cannot say so.
    fn index_is(&mut self, index: Value, k: usize) -> Option<Value> {
        let bits = self.func.ty(index).int_bits().filter(|&b| b >= 64 || (k as u64) >> b == 0)?;
        let number = self.int(bits, k as u64);
        Some(self.emit(Op::ICmp(IntPred::Eq), &[index, number], Type::BOOL))
    }

    fn shuffle(&mut self, i: Inst, result: Value, mask: &[i32]) -> Result<(), VectorizeError> {
        let (a, b) = (self.func.insts[i].args[0], self.func.insts[i].args[1]);
        let mut from = self.elements_of(a)?;
        from.extend(self.elements_of(b)?);
        let nothing = self.func.poison(self.func.ty(from[0]));
        let pick = |&k: &i32| usize::try_from(k).map_or(nothing, |k| from[k]);
        let elements = mask.iter().map(pick).collect();
        self.dissolve(result, elements);
        Ok(())
    }

    // ---- bits ---------------------------------------------------------------------------------------------

    fn bitcast(&mut self, i: Inst, result: Value) -> Result<(), VectorizeError> {
        let source = self.func.insts[i].args[0];
        let from = match fixed(self.func.ty(source)) {
            Some(_) => self.elements_of(source)?,
            None => vec![source],
        };
        let ty = self.func.ty(result);
        let Some(elem) = ty.elem() else { return Err(self.refuse("a `bitcast` of a type without elements")) };
        let (old, new) = (self.bits_of(from[0]), self.module.layout.scalar_bits(elem));
        let mut to = Vec::new();
        if old == new {
            for x in from {
                to.push(self.reinterpret(x, elem.into()));
            }
        } else {
            let whole = old / gcd(old.into(), new.into()) as u32 * new;
            for group in from.chunks((whole / old) as usize) {
                let x = self.join_bits(group, old, whole);
                self.split_bits(x, new, whole, elem.into(), &mut to);
            }
        }
        match fixed(ty) {
            Some(_) => self.dissolve(result, to),
            None => self.alias[result] = to[0].into(),
        }
        Ok(())
    }

    fn bits_of(&self, x: Value) -> u32 {
        self.func.ty(x).elem().map_or(0, |s| self.module.layout.scalar_bits(s))
    }

    fn reinterpret(&mut self, x: Value, ty: Type) -> Value {
        if self.func.ty(x) == ty { x } else { self.emit(Op::Cast(CastOp::Bitcast), &[x], ty) }
    }

    /// How far element `k` of `n` is shifted in an integer that holds them all.
    fn position(&self, k: usize, n: usize, bits: u32) -> u64 {
        let k = if self.module.layout.big_endian() { n - 1 - k } else { k };
        k as u64 * u64::from(bits)
    }

    fn join_bits(&mut self, elements: &[Value], bits: u32, whole: u32) -> Value {
        let ty = Type::Int(whole);
        let mut joined = None;
        for (k, &x) in elements.iter().enumerate() {
            let mut x = self.reinterpret(x, Type::Int(bits));
            if whole > bits {
                x = self.emit(Op::Cast(CastOp::ZExt), &[x], ty);
            }
            let by = self.position(k, elements.len(), bits);
            if by > 0 {
                let by = self.int(whole, by);
                x = self.emit(Op::Binary(BinaryOp::Shl), &[x, by], ty);
            }
            joined = Some(match joined {
                Some(rest) => self.emit(Op::Binary(BinaryOp::Or), &[rest, x], ty),
                None => x,
            });
        }
        joined.expect("a vector has elements")
    }

    fn split_bits(&mut self, x: Value, bits: u32, whole: u32, elem: Type, to: &mut Vec<Value>) {
        let n = (whole / bits) as usize;
        for k in 0..n {
            let by = self.position(k, n, bits);
            let mut part = x;
            if by > 0 {
                let by = self.int(whole, by);
                part = self.emit(Op::Binary(BinaryOp::LShr), &[part, by], Type::Int(whole));
            }
            if whole > bits {
                part = self.emit(Op::Cast(CastOp::Trunc), &[part], Type::Int(bits));
            }
            to.push(self.reinterpret(part, elem));
        }
    }

    // ---- memory -------------------------------------------------------------------------------------------

    /// The size of an element in bytes, if an access to a vector of this type can be one access per element.
    fn slices(&self, access: MemAccess, ty: Type) -> Option<u64> {
        let bits = u64::from(self.module.layout.scalar_bits(fixed(ty)?.elem));
        (access.is_simple() && bits >= 8 && bits.is_power_of_two()).then_some(bits / 8)
    }

    /// The address of an element, and how it is accessed.
    fn slice(&mut self, address: Value, access: MemAccess, offset: u64) -> (Value, MemAccess) {
        if offset == 0 {
            return (address, access);
        }
        let ty = self.func.ty(address);
        let Type::Ptr(space) = ty else { return (address, access) };
        let by = self.int(self.module.layout.index_bits(space), offset);
        // The access to the whole vector, which would be made here, says that all of it is in bounds.
        let flags = InstFlags::INBOUNDS | InstFlags::NUW;
        let at = self.emit_flags(Op::Gep(Type::Int(8)), flags, &[address, by], ty);
        let align = at_distance(access.align, offset as i64);
        (at, MemAccess { align, ..access })
    }

    fn load(&mut self, i: Inst, result: Value, access: MemAccess) {
        let ty = fixed(self.func.ty(result)).expect("the access was found to be of a vector");
        let address = self.func.insts[i].args[0];
        let size = self.slices(access, Type::Vector(ty)).unwrap_or(1);
        let mut elements = Vec::new();
        for k in 0..u64::from(ty.lanes) {
            let (at, access) = self.slice(address, access, k * size);
            elements.push(self.emit(Op::Load(access), &[at], ty.elem.into()));
        }
        self.dissolve(result, elements);
    }

    /// Whether a store is made element by element.
    fn is_split_store(&self, i: Inst, access: MemAccess) -> bool {
        let (value, address) = (self.func.insts[i].args[0], self.func.insts[i].args[1]);
        let Some(ty) = fixed(self.func.ty(value)) else { return false };
        let Some(size) = self.slices(access, Type::Vector(ty)) else { return false };
        let shape = (self.shape)(address);
        if shape.is_uniform() {
            return self.apart.contains(value);
        }
        let size = size * u64::from(ty.lanes);
        access.align >= size || shape.anchored_step().is_some_and(|step| step.unsigned_abs() >= size)
    }

    fn store(&mut self, i: Inst, access: MemAccess) -> Result<(), VectorizeError> {
        let (value, address) = (self.func.insts[i].args[0], self.func.insts[i].args[1]);
        let size = self.slices(access, self.func.ty(value)).unwrap_or(1);
        for (k, x) in self.elements_of(value)?.into_iter().enumerate() {
            let (at, access) = self.slice(address, access, k as u64 * size);
            let new = self.func.make_inst(self.block, Op::Store(access), &[x, at], &[]);
            self.place(new);
        }
        Ok(())
    }

    // ---- elements -----------------------------------------------------------------------------------------

    /// The elements of a vector.
    fn elements_of(&mut self, v: Value) -> Result<Vec<Value>, VectorizeError> {
        if self.elements[v].is_empty() {
            self.elements[v] = self.find_elements(v)?;
        }
        Ok(self.elements[v].clone())
    }

    fn find_elements(&mut self, v: Value) -> Result<Vec<Value>, VectorizeError> {
        let Some(ty) = fixed(self.func.ty(v)) else {
            return Err(self.refuse("a vector without a fixed number of elements cannot be vectorized"));
        };
        let constant = self.func.constant(v).cloned();
        if let Some(known) = constant.and_then(|c| constant_elements(&c, ty)) {
            return Ok(known.into_iter().map(|c| self.func.constant_value(c)).collect());
        }
        let (block, behind) = match self.func.values[v].def {
            ValueDef::Inst(i, _) if self.func.insts[i].op.is_terminator() => {
                return Err(self.refuse("a vector that a terminator makes cannot be vectorized yet"));
            }
            ValueDef::Inst(i, _) if self.func.insts[i].op == Op::Phi => (self.func.insts[i].block, None),
            ValueDef::Inst(i, _) => (self.func.insts[i].block, Some(i)),
            _ => (self.func.entry(), None),
        };
        let mut elements = Vec::new();
        for k in 0..ty.lanes {
            let index = self.func.int_const(64, k.into());
            let new = self.func.make_inst(block, Op::ExtractElement, &[v, index], &[ty.elem.into()]);
            match behind {
                Some(i) => self.behind[i].push(new),
                None => self.front[block].push(new),
            }
            elements.push(self.func.insts[new].results[0]);
        }
        Ok(elements)
    }

    // ---- helpers ------------------------------------------------------------------------------------------

    fn refuse(&self, reason: &str) -> VectorizeError {
        match self.at.expand() {
            Some(i) => VectorizeError::at_inst(self.func, i, reason),
            None => VectorizeError::in_function(self.func, reason),
        }
    }

    fn emit(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.emit_flags(op, InstFlags::empty(), args, ty)
    }

    fn emit_flags(&mut self, op: Op, flags: InstFlags, args: &[Value], ty: Type) -> Value {
        let new = self.func.make_inst(self.block, op, args, &[ty]);
        self.func.insts[new].flags = flags;
        self.place(new);
        self.func.insts[new].results[0]
    }

    fn place(&mut self, new: Inst) {
        if let Some(i) = self.at.expand() {
            self.func.insts[new].loc = self.func.insts[i].loc;
        }
        self.list.push(new);
    }

    /// A small number as an integer of any width.
    fn int(&mut self, bits: u32, value: u64) -> Value {
        self.func.constant_value(if bits <= 128 {
            Constant::int(bits, value.into())
        } else {
            let mut words = vec![0; bits.div_ceil(64) as usize];
            words[0] = value;
            Constant::WideInt { bits, words }
        })
    }
}

/// The elements of a constant vector, if they are known.
fn constant_elements(c: &Constant, ty: VectorType) -> Option<Vec<Constant>> {
    let same = |c: Constant| Some(vec![c; ty.lanes as usize]);
    match c {
        Constant::Composite { elems, .. } => Some(elems.clone()),
        Constant::Undef(_) => same(Constant::Undef(ty.elem.into())),
        Constant::Poison(_) => same(Constant::Poison(ty.elem.into())),
        Constant::Zero(_) => same(zero(ty.elem)),
        _ => None,
    }
}

fn zero(elem: Scalar) -> Constant {
    match elem {
        Scalar::Int(bits) if bits <= 128 => Constant::int(bits, 0),
        Scalar::Int(bits) => Constant::WideInt { bits, words: vec![0; bits.div_ceil(64) as usize] },
        Scalar::Float(kind) => Constant::Float { kind, bits: 0 },
        Scalar::Ptr(space) => Constant::Null(space),
    }
}
