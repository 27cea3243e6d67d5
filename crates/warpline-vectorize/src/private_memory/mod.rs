//! Private memory of all lanes in one object, laid out so that equal indices lie side by side.
//!
//! The obvious layout puts the objects of the lanes one after another. Then lanes that access the element with one
//! index, be it the top of a stack, access memory at a large step: a gather. Here an object is cut into *granules* of
//! *g* bytes, and granule *j* of lane *k* is at `(j·W + k)·g`: for a uniform index the lanes' granules are
//! consecutive.
//!
//! The function stays a scalar program all the time: [`interleave`] makes the object W times as large and multiplies
//! all offsets by W, as if a lane used every W-th granule of an object of its own. That changes nothing for a lane,
//! if
//! 1. the address goes nowhere but into `getelementptr`s, φs, selects, comparisons with addresses in the same object,
//!    plain loads and stores, `memset`, and `memcpy` to it, which become stores; and
//! 2. every access lies within a granule, at an offset in it that is known.
//!
//! Then, and only then, the lanes' objects may be the same one, where lane *k*'s begins *k* granules further: the
//! bytes that the lanes access do not meet. The analysis is told that the address has the step *g*, and lowering
//! makes one object.
//!
//! A granule is as large as the accesses if these have one size, else as what variable indices step over, else as an
//! element of the object.

mod fills;

use std::cmp::Ordering;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;

use warpline_ir::{
    AggregateType, BinaryOp, Block, CastOp, Function, Inst, InstFlags, Loc, Module, Op, SymbolKind, Type,
    Users, Value,
};

use crate::divisors::gcd;
use fills::{Fill, With};
use warpline_dataflow::linear::{self, Extension, Term};

/// An object that the lanes share without meeting in it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Interleaved {
    /// The result of its `alloca`.
    pub address: Value,
    /// From lane to lane, in bytes.
    pub step: i64,
}

/// Objects that are larger than this for all lanes stay as they are.
const MAX_BYTES: u64 = 1 << 30;

/// Lays out the private objects of a function whose addresses are `wanted`, as far as they can be. They are in its
/// entry block and of constant size.
pub(crate) fn interleave(
    module: &Module,
    func: &mut Function,
    width: u32,
    wanted: impl Fn(Value) -> bool,
) -> Vec<Interleaved> {
    let mut made = Vec::new();
    let users = Users::of(func);
    for i in func.blocks[func.entry()].insts.clone() {
        let Op::Alloca { ty, align } = func.insts[i].op else { continue };
        let address = func.insts[i].results[0];
        let size = module.layout.alloc_size(&module.types, ty).filter(|_| wanted(address));
        let count = func.as_int(func.insts[i].args[0]).and_then(|c| u64::try_from(c).ok());
        let (Some(size), Some(count)) = (size, count) else { continue };
        let Some(object) = Object::of(module, func, &users, address) else { continue };
        let Some((granule, places)) = object.granule(module, func, ty) else { continue };
        let Some(bytes) = size
            .checked_mul(count)
            .and_then(|bytes| bytes.checked_next_multiple_of(granule))
            .and_then(|bytes| bytes.checked_mul(u64::from(width)))
            .filter(|bytes| (1..=MAX_BYTES).contains(bytes))
        else {
            continue;
        };
        object.spread(func, granule, width, &places);
        let count = func.int_const(64, u128::from(bytes));
        // As an access to the granules of all lanes would like it.
        let vector = 1 << (granule * u64::from(width)).trailing_zeros().min(6);
        let data = &mut func.insts[i];
        data.op = Op::Alloca { ty: Type::Int(8), align: align.max(vector) };
        data.args[0] = count;
        data.origin = None.into();
        made.push(Interleaved { address, step: granule as i64 });
    }
    made
}

/// The offset in its granule that each address points to.
type Places = SecondaryMap<Value, Option<i64>>;

/// What a `getelementptr` adds to its base.
struct Step {
    inst: Inst,
    /// Numbers with what they are multiplied by.
    terms: SmallVec<[Term; 4]>,
    /// Bytes.
    offset: i64,
}

/// An `alloca` with everything that is done to it.
struct Object {
    address: Value,
    steps: Vec<Step>,
    /// φs and selects.
    merges: Vec<Inst>,
    /// Loads and stores with their addresses and sizes.
    accesses: Vec<(Inst, Value, u64)>,
    fills: Vec<Fill>,
}

impl Object {
    /// `None` if the address escapes.
    fn of(module: &Module, func: &Function, users: &Users, address: Value) -> Option<Object> {
        let (steps, merges, accesses, fills) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut object = Object { address, steps, merges, accesses, fills };
        let mut inside: EntitySet<Value> = EntitySet::new();
        let mut compared: Vec<Value> = Vec::new();
        let mut work = vec![address];
        inside.insert(address);
        while let Some(v) = work.pop() {
            for &i in users.get(v) {
                let data = &func.insts[i];
                let next = match &data.op {
                    Op::Gep(_) if data.args[0] == v => Some(data.results[0]),
                    Op::Phi => Some(data.results[0]),
                    Op::Select if data.args[0] != v => Some(data.results[0]),
                    Op::ICmp(_) => {
                        compared.extend(data.args.iter().copied());
                        None
                    }
                    Op::Load(m) if m.is_simple() => {
                        let size = module.layout.store_size(&module.types, func.ty(data.results[0]))?;
                        object.accesses.push((i, v, size));
                        None
                    }
                    Op::Store(m) if m.is_simple() && data.args[0] != v => {
                        let size = module.layout.store_size(&module.types, func.ty(data.args[0]))?;
                        object.accesses.push((i, v, size));
                        None
                    }
                    Op::Call(call) => {
                        let symbol = &module.symbols[call.callee?];
                        let function = matches!(symbol.kind, SymbolKind::Function { .. });
                        if !function || !symbol.name.starts_with("llvm.lifetime.") {
                            object.fills.push(Fill::of(module, func, i).filter(|fill| fill.to == v)?);
                        }
                        None
                    }
                    _ => return None,
                };
                if let Some(next) = next.filter(|&next| inside.insert(next)) {
                    match func.insts[i].op {
                        Op::Gep(_) => object.steps.push(Step::of(module, func, i)?),
                        _ => object.merges.push(i),
                    }
                    work.push(next);
                }
            }
        }
        let merged = object.merges.iter().flat_map(|&i| merged_values(func, i));
        let closed = merged.chain(compared).all(|v| inside.contains(v));
        let copied = object.fills.iter().any(|fill| matches!(fill.with, With::Copy(v) if inside.contains(v)));
        (closed && !copied).then_some(object)
    }

    /// The size of the granules, with the place in its granule of each address.
    fn granule(&self, module: &Module, func: &Function, ty: Type) -> Option<(u64, Places)> {
        let first = self.accesses.first().map(|a| a.2);
        let same = first.filter(|&size| self.accesses.iter().all(|a| a.2 == size));
        let stepped = self.steps.iter().flat_map(|s| &s.terms).map(|t| t.scale.unsigned_abs()).reduce(gcd);
        let elem = module.layout.alloc_size(&module.types, element(module, ty));
        [same, stepped, elem].into_iter().flatten().filter(|&g| 0 < g && g < 1 << 16).find_map(|g| {
            let places = self.places(func, g as i64)?;
            self.fills.iter().all(|fill| fill.fits(g, same, &places)).then_some((g, places))
        })
    }

    /// Where each address points in its granule; `None` if that is not known or an access goes beyond.
    fn places(&self, func: &Function, granule: i64) -> Option<Places> {
        let fits = |t: &Term| t.scale % granule == 0 && t.scale.unsigned_abs() < 1 << 32;
        if !self.steps.iter().all(|s| s.terms.iter().all(fits)) {
            return None;
        }
        let mut places = Places::new();
        places[self.address] = Some(0);
        // Every address is made from the object's by some chain of instructions, so all become known, or two of them
        // disagree.
        loop {
            let mut found: Vec<(Value, i64)> = Vec::new();
            for s in &self.steps {
                let data = &func.insts[s.inst];
                if let Some(place) = places[data.args[0]] {
                    found.push((data.results[0], place.wrapping_add(s.offset).rem_euclid(granule)));
                }
            }
            for &i in &self.merges {
                let known = merged_values(func, i).into_iter().filter_map(|v| places[v]);
                found.extend(known.map(|place| (func.insts[i].results[0], place)));
            }
            let mut changed = false;
            for (v, place) in found {
                match places[v].replace(place) {
                    None => changed = true,
                    Some(old) if old != place => return None,
                    Some(_) => {}
                }
            }
            if !changed {
                break;
            }
        }
        let inside = |&(_, v, size): &(Inst, Value, u64)| {
            places[v].is_some_and(|place| place as u64 + size <= granule as u64)
        };
        self.accesses.iter().all(inside).then_some(places)
    }

    /// Multiplies the numbers of granules by the number of lanes.
    fn spread(&self, func: &mut Function, granule: u64, width: u32, places: &Places) {
        let mut before: SecondaryMap<Inst, Vec<Inst>> = SecondaryMap::new();
        for s in &self.steps {
            before[s.inst] = s.spread(func, granule as i64, i64::from(width), places);
        }
        let mut gone: EntitySet<Inst> = EntitySet::new();
        for fill in &self.fills {
            before[fill.inst] = fill.spread(func, granule, u64::from(width));
            gone.insert(fill.inst);
        }
        let changed = self.steps.iter().map(|s| s.inst).chain(self.fills.iter().map(|f| f.inst));
        let mut blocks: Vec<Block> = changed.map(|i| func.insts[i].block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        for b in blocks {
            let old = std::mem::take(&mut func.blocks[b].insts);
            let with = |i: Inst| {
                let kept = (!gone.contains(i)).then_some(i);
                before[i].iter().copied().chain(kept).collect::<Vec<_>>()
            };
            func.blocks[b].insts = old.into_iter().flat_map(with).collect();
        }
        // Lanes begin at any granule.
        let align = 1 << granule.trailing_zeros();
        for &(i, ..) in &self.accesses {
            if let Op::Load(m) | Op::Store(m) = &mut func.insts[i].op {
                m.align = m.align.min(align);
            }
        }
    }
}

impl Step {
    fn of(module: &Module, func: &Function, inst: Inst) -> Option<Step> {
        let (terms, offset) = linear::step(module, func, inst)?;
        Some(Step { inst, terms, offset })
    }

    /// Makes the instruction add W times the granules; returns what must be computed before it.
    fn spread(&self, func: &mut Function, granule: i64, width: i64, places: &Places) -> Vec<Inst> {
        let Step { inst, terms, offset } = self;
        let (base, result) = (func.insts[*inst].args[0], func.insts[*inst].results[0]);
        let ty = func.ty(result);
        let mut writer = Writer::before(func, *inst);
        let mut offsets = Vec::new();
        for t in terms {
            let wide = Type::Int(64);
            let bits = writer.func.ty(t.value).int_bits().unwrap_or(64);
            let op = if t.extension == Extension::Unsigned { CastOp::ZExt } else { CastOp::SExt };
            let x = match bits.cmp(&64) {
                Ordering::Less => writer.value(Op::Cast(op), &[t.value], wide),
                Ordering::Equal => t.value,
                Ordering::Greater => writer.value(Op::Cast(CastOp::Trunc), &[t.value], wide),
            };
            let factor = writer.func.int_const(64, i128::from(t.scale * width) as u128);
            offsets.push(writer.value(Op::Binary(BinaryOp::Mul), &[x, factor], wide));
        }
        let (from, to) = (places[base].unwrap_or(0), places[result].unwrap_or(0));
        let granules = from.wrapping_add(*offset).div_euclid(granule);
        let rest = granules.wrapping_mul(granule).wrapping_mul(width).wrapping_add(to - from);
        if rest != 0 || offsets.is_empty() {
            offsets.push(writer.func.int_const(64, i128::from(rest) as u128));
        }
        let last = offsets.pop().expect("there is a number to be added");
        let base =
            offsets.into_iter().fold(base, |base, x| writer.value(Op::Gep(Type::Int(8)), &[base, x], ty));
        let new = writer.new;
        let data = &mut func.insts[*inst];
        data.op = Op::Gep(Type::Int(8));
        data.args = [base, last].into_iter().collect();
        data.flags = InstFlags::empty();
        data.origin = None.into();
        new
    }
}

/// Makes instructions that are to be put before another one.
struct Writer<'a> {
    func: &'a mut Function,
    block: Block,
    loc: PackedOption<Loc>,
    new: Vec<Inst>,
}

impl Writer<'_> {
    fn before(func: &mut Function, inst: Inst) -> Writer<'_> {
        let (block, loc) = (func.insts[inst].block, func.insts[inst].loc);
        Writer { func, block, loc, new: Vec::new() }
    }

    fn inst(&mut self, op: Op, args: &[Value], results: &[Type]) -> Inst {
        let i = self.func.make_inst(self.block, op, args, results);
        self.func.insts[i].loc = self.loc;
        self.new.push(i);
        i
    }

    fn value(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        let i = self.inst(op, args, &[ty]);
        self.func.insts[i].results[0]
    }

    /// A pointer some bytes further.
    fn offset(&mut self, base: Value, bytes: i64) -> Value {
        if bytes == 0 {
            return base;
        }
        let ty = self.func.ty(base);
        let bytes = self.func.int_const(64, i128::from(bytes) as u128);
        self.value(Op::Gep(Type::Int(8)), &[base, bytes], ty)
    }
}

/// What a φ or a select may be.
fn merged_values(func: &Function, i: Inst) -> Vec<Value> {
    let data = &func.insts[i];
    match func.phi_position(i) {
        Some(position) => {
            func.blocks[data.block].preds.iter().map(|&e| func.edges[e].args[position]).collect()
        }
        None => data.args[1..].to_vec(),
    }
}

/// The type of the elements of an array, of whatever dimension.
fn element(module: &Module, ty: Type) -> Type {
    match ty {
        Type::Aggregate(a) => match module.types.get(a) {
            AggregateType::Array { elem, .. } => element(module, *elem),
            AggregateType::Struct { .. } => ty,
        },
        _ => ty,
    }
}
