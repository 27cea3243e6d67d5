//! Indices that are loaded: between which numbers they are in all iterations is found by loading them all before the
//! loop.
//!
//! `a[i] = b[idx[i]]` reads no more of `b` than lies between its elements at the least and at the greatest of the
//! indices. A loop of its own, in vectors, finds both; the stretch between them is then compared with what is
//! written. This is an *inspector* as in Saltz et al., "Run-Time Parallelization and Scheduling of Loops" (1991),
//! that asks for ends instead of a schedule.
//!
//! * An index is loaded before the loop only if every iteration loads it, from the place behind that of the iteration
//!   before, so that no memory is touched that the loop would not touch.
//! * What the loop writes must be apart from the indices: by objects or types, or else that is checked, too
//!   ([`Inspected::insts`]).
//! * So few iterations that they fill no vector run as they were.

use std::cell::{OnceCell, RefCell};

use warpline_analysis::{DomTree, Node};
use warpline_ir::{BinaryOp, Block, Function, Inst, InstFlags, IntPred, MemAccess, Module, Op, Type, Value};

use super::access::{Access, Kind, is_silent};
use super::checks::{Resolve, span};
use super::interval::Interval;
use super::meet::Comparison;
use super::pieces::Pieces;
use super::span::{Emitter, Span};
use crate::known_calls::is_annotation;
use crate::no_return_paths;

/// Bytes of indices that are looked at together.
const VECTOR: u32 = 64;

/// Which indices of a kernel are to be loaded before its loop.
#[derive(Default)]
pub(super) struct Inspected {
    insts: RefCell<Vec<Inst>>,
    always: OnceCell<Vec<Block>>,
}

impl Inspected {
    /// The loads whose memory nothing of the loop may write to.
    pub(super) fn insts(&self) -> Vec<Inst> {
        self.insts.borrow().clone()
    }
}

impl Comparison<'_> {
    /// The access that an instruction makes, if every iteration makes it.
    fn always_made(&self, inst: Inst) -> Option<&Access> {
        let always =
            self.inspected.always.get_or_init(|| always_executed(self.module, self.func, self.pieces));
        let block = self.func.insts[inst].block;
        self.accesses
            .iter()
            .find(|a| a.inst == inst && a.kind == Kind::Plain)
            .filter(|_| always.contains(&block))
    }
}

/// The blocks of a kernel that are executed whatever happens; none if it may not come to its end.
fn always_executed(module: &Module, func: &Function, pieces: &Pieces) -> Vec<Block> {
    let comes_back = |i: Inst| {
        let data = &func.insts[i];
        match &data.op {
            Op::Call(call) => {
                let known = call
                    .callee
                    .is_some_and(|s| pieces.of(s).is_some() || module.symbols[s].name.starts_with("llvm."));
                known || is_annotation(module, data) || is_silent(module, func, i)
            }
            Op::Opaque(info) => info.atomic.is_some(),
            _ => true,
        }
    };
    let whole = no_return_paths::find(func).is_empty();
    if !whole || !func.layout.iter().flat_map(|&b| func.block_insts(b)).all(comes_back) {
        return Vec::new();
    }
    let dominators = DomTree::compute(&func.graph().0);
    let ends: Vec<Block> =
        func.layout.iter().copied().filter(|&b| func.insts[func.terminator(b)].op == Op::Ret).collect();
    let before_all = |b: &Block| ends.iter().all(|&e| dominators.dominates(Node::from(*b), Node::from(e)));
    func.layout.iter().copied().filter(before_all).collect()
}

impl Resolve<'_, '_> {
    /// The interval of indices that are loaded one behind the other.
    pub(super) fn loaded(&self, inst: Inst, bits: u32) -> Option<Interval> {
        if !matches!(bits, 32 | 64) {
            return None;
        }
        let access = self.c.always_made(inst)?;
        let place = access.place.as_ref()?;
        let size = u64::from(bits / 8);
        if place.step != i64::try_from(size).ok() || access.size != Some(size) {
            return None;
        }
        let found = span(self.c, self.region, access, place, size)?;
        if !found.extents.is_empty() || !found.products.is_empty() {
            return None;
        }
        let mut insts = self.c.inspected.insts.borrow_mut();
        if !insts.contains(&inst) {
            insts.push(inst);
        }
        Some(Interval::Loaded(Box::new(found), bits))
    }
}

impl Emitter<'_, '_> {
    /// Loads the indices of all iterations: the least and the greatest of them.
    pub(super) fn loaded(&mut self, span: &Span, bits: u32) -> (Value, Value) {
        if let Some((.., ends)) = self.loaded.iter().find(|(s, b, _)| s == span && *b == bits) {
            return *ends;
        }
        let lanes = VECTOR * 8 / bits;
        let pointer = self.pointer(span);
        let many = self.int(lanes.into());
        let rounds = self.rounds;
        self.require(IntPred::Uge, rounds, many);
        // Memory is read only where all that the address was computed by holds.
        self.branch();
        let (least, most) = self.extremes(pointer, bits, lanes);
        let ends = [least, most].map(|x| self.extended(x, warpline_dataflow::linear::Extension::Signed));
        let ends = (ends[0], ends[1]);
        self.loaded.push((span.clone(), bits, ends));
        ends
    }

    /// The least and the greatest of numbers that lie behind a pointer, as many as there are iterations, at least so
    /// many as there are lanes.
    fn extremes(&mut self, pointer: Value, bits: u32, lanes: u32) -> (Value, Value) {
        let (zero, count) = (self.int(0), self.int(lanes.into()));
        // The last vector ends with the last number, wherever the one before it does.
        let last = self.binary(BinaryOp::Sub, self.rounds, count);
        let numbers = self.numbers(pointer, last, bits, lanes);
        let ty = self.b.func.ty(numbers);
        let (head, behind) = (self.b.block("inspect"), self.b.block("inspected"));
        self.blocks.extend([head, behind]);
        self.b.br(head);
        let at = self.b.func.add_phi(head, Type::Int(64));
        let ends = [(); 2].map(|()| self.b.func.add_phi(head, ty));
        self.b.pass(&[zero, numbers, numbers]);
        self.b.at = head;
        let numbers = self.numbers(pointer, at, bits, lanes);
        let least = self.b.smin(ends[0], numbers);
        let most = self.smax(ends[1], numbers);
        let next = self.b.binary(BinaryOp::Add, at, count, InstFlags::NUW);
        let more = self.b.icmp(IntPred::Ult, next, last);
        self.b.cond_br(more, head, behind);
        self.b.pass(&[next, least, most]);
        self.b.at = behind;
        (self.across(least, bits, lanes, false), self.across(most, bits, lanes, true))
    }

    /// A vector of the numbers from one of them on.
    fn numbers(&mut self, pointer: Value, from: Value, bits: u32, lanes: u32) -> Value {
        let place = self.b.value(Op::Gep(Type::Int(bits)), &[pointer, from], self.b.func.ty(pointer));
        let ty = Type::Int(bits).vector(lanes).expect("integers are elements");
        let numbers = self.b.value(Op::Load(MemAccess::plain(1)), &[place], ty);
        // What no iteration makes use of may be anything, but the same for both ends.
        self.b.value(Op::Freeze, &[numbers], ty)
    }

    /// The greatest or the least number of a vector.
    fn across(&mut self, vector: Value, bits: u32, lanes: u32, greatest: bool) -> Value {
        let ty = self.b.func.ty(vector);
        let mut all = vector;
        let mut half = lanes / 2;
        while half > 0 {
            let order: Vec<i32> = (0..lanes).map(|l| ((l + half) % lanes) as i32).collect();
            let other = self.b.value(Op::Shuffle(order.into()), &[all, all], ty);
            all = if greatest { self.smax(all, other) } else { self.b.smin(all, other) };
            half /= 2;
        }
        let first = self.int(0);
        self.b.value(Op::ExtractElement, &[all, first], Type::Int(bits))
    }

    fn smax(&mut self, a: Value, b: Value) -> Value {
        let greater = self.b.icmp(IntPred::Sgt, a, b);
        let ty = self.b.func.ty(a);
        self.b.value(Op::Select, &[greater, a, b], ty)
    }
}
