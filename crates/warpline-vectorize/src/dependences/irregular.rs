//! Addresses that two lanes may have in common, updates, and code that one lane alone executes.

use std::cell::RefCell;

use super::guards::{Guards, parts};
use cranelift_entity::{EntitySet, SecondaryMap};
use warpline_analysis::{DomTree, Node};

use warpline_ir::{BinaryOp, Block, CastOp, Function, Inst, InstFlags, IntPred, Op, Value};
use warpline_uniformity::Uniformity;

/// A number of so many bits counts as an index, though it may be cut out of a wider one: no range that is vectorized at
/// once is so long that it comes round.
const NARROW: u32 = 32;

/// So many definitions are looked through.
const FUEL: usize = 256;

/// What a number is divided by.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum By {
    /// This constant.
    Number(u64),
    /// This number.
    Value(Value),
    /// A power of two that is not known: bits are cut off, or others.
    Power,
}

/// A part of a number that moves from lane to lane.
#[derive(Copy, Clone, Debug)]
struct Part {
    /// What computes it.
    inst: Inst,
    of: Value,
    /// Or a remainder; `None` for bits that a mask chooses that is not known.
    is_quotient: Option<bool>,
    by: By,
}

impl Part {
    /// Whether two parts of one number tell it.
    fn completes(&self, other: &Part) -> bool {
        let differ = match (self.is_quotient, other.is_quotient) {
            (Some(a), Some(b)) => a != b,
            // One of two masks may be the complement of the other.
            _ => self.inst != other.inst,
        };
        differ && self.of == other.of && self.by == other.by
    }
}

/// A kernel, as questions about its values need it.
pub(super) struct Irregular<'a> {
    func: &'a Function,
    uniformity: &'a Uniformity,
    dominators: DomTree,
    used: EntitySet<Value>,
    /// The answers of [`Irregular::only_lane`] so far.
    only: RefCell<SecondaryMap<Block, Option<Option<Value>>>>,
}

impl<'a> Irregular<'a> {
    pub(super) fn new(func: &'a Function, uniformity: &'a Uniformity) -> Irregular<'a> {
        let mut used = EntitySet::new();
        for &b in &func.layout {
            for i in func.block_insts(b) {
                used.extend(func.insts[i].args.iter().copied());
            }
            for &e in func.out_edges(b) {
                used.extend(func.edges[e].args.iter().copied());
            }
        }
        let dominators = DomTree::compute(&func.graph().0);
        Irregular { func, uniformity, dominators, used, only: RefCell::default() }
    }

    /// What branches say of the lanes that come to accesses.
    pub(super) fn guards(&self) -> Guards<'_> {
        Guards { func: self.func, uniformity: self.uniformity, dominators: &self.dominators }
    }

    /// Whether anything uses a value.
    pub(super) fn is_used(&self, v: Value) -> bool {
        self.used.contains(v)
    }

    /// Whether a value is computed from what a load has found, without another access to memory in between.
    pub(super) fn depends(&self, v: Value, load: Inst) -> bool {
        let mut found = false;
        self.walk(v, |_, inst| {
            found |= inst == Some(load);
            !matches!(inst.map(|i| &self.func.insts[i].op), Some(Op::Load(_)) | None)
        });
        found
    }

    /// Whether two lanes may have the same address, as far as one can tell by how it is computed: it takes from
    /// memory, a parameter that varies, or arithmetic that forgets something, what lanes do not agree on. Sums and
    /// products of indices are taken to differ.
    pub(super) fn may_repeat(&self, address: Value) -> bool {
        self.repeats(address, false)
    }

    /// The same where lanes are threads whose author answers for races that are not certain: addresses in which a
    /// remainder has what a quotient forgets, or that have the whole number, too, are taken to differ, as in the places
    /// of butterflies, `i / s * 2 * s + i % s` and `2 * i - (i & (s - 1))`.
    pub(super) fn may_repeat_for_threads(&self, address: Value) -> bool {
        self.repeats(address, true)
    }

    fn repeats(&self, address: Value, by_parts: bool) -> bool {
        let (mut repeats, mut differs) = (false, false);
        let (mut forgetful, mut whole) = (Vec::new(), Vec::new());
        let complete = self.walk(address, |v, inst| {
            let shape = self.uniformity.shape(v);
            if self.func.constant(v).is_some() || shape.is_uniform() {
                return false;
            }
            if shape.step().is_some() {
                differs = true;
                whole.push(self.number_in(v));
                return false;
            }
            if let Some(part) = inst.filter(|_| by_parts).and_then(|i| self.part(i)) {
                forgetful.push(part);
                return false;
            }
            let Some(inst) = inst else {
                repeats = true;
                return false;
            };
            let flags = self.func.insts[inst].flags;
            let sums = |op: BinaryOp| {
                use BinaryOp::{Add, Mul, Or, Shl, Sub};
                matches!(op, Add | Sub | Mul | Shl) || op == Or && flags.contains(InstFlags::DISJOINT)
            };
            let plain = match &self.func.insts[inst].op {
                Op::Cast(CastOp::Trunc) => self.func.ty(v).int_bits().is_some_and(|bits| bits >= NARROW),
                Op::Binary(BinaryOp::AShr | BinaryOp::LShr) => self.is_extension(inst),
                Op::Binary(BinaryOp::Or) if by_parts && self.joins_parts(inst) => true,
                Op::Binary(op) => sums(*op),
                Op::Cast(op) => {
                    use CastOp::{AddrSpaceCast, Bitcast, SExt, ZExt};
                    matches!(op, SExt | ZExt | Bitcast | AddrSpaceCast)
                }
                op => matches!(op, Op::Gep(_) | Op::Phi | Op::Freeze),
            };
            repeats |= !plain;
            plain
        });
        let is_kept = |part: &Part| {
            whole.contains(&self.number_in(part.of)) || forgetful.iter().any(|other| part.completes(other))
        };
        let is_one = !differs && forgetful.is_empty();
        repeats || !complete || is_one || !forgetful.iter().all(is_kept)
    }

    /// The quotient or the remainder of a number that moves from lane to lane that an instruction computes.
    fn part(&self, inst: Inst) -> Option<Part> {
        let func = self.func;
        let (&Op::Binary(op), &[x, by]) = (&func.insts[inst].op, &func.insts[inst].args[..]) else {
            return None;
        };
        let bits = func.ty(x).int_bits().filter(|&bits| bits <= 64)?;
        let constant = func.as_int(by).map(|c| c as u64);
        let moves = |v: Value| self.uniformity.shape(v).step().is_some_and(|step| step != 0);
        if !moves(x) || !self.uniformity.shape(by).is_uniform() {
            return None;
        }
        let ones = u64::MAX >> (64 - bits);
        let (is_quotient, by) = match (op, constant) {
            (BinaryOp::UDiv | BinaryOp::SDiv, None) => (Some(true), By::Value(by)),
            (BinaryOp::URem | BinaryOp::SRem, None) => (Some(false), By::Value(by)),
            (BinaryOp::UDiv | BinaryOp::SDiv, Some(c)) => (Some(true), By::Number(c)),
            (BinaryOp::URem | BinaryOp::SRem, Some(c)) => (Some(false), By::Number(c)),
            (BinaryOp::LShr | BinaryOp::AShr, Some(c)) if c < 63 => (Some(true), By::Number(1 << c)),
            (BinaryOp::And, Some(c)) if c < ones && (c + 1).is_power_of_two() => {
                (Some(false), By::Number(c + 1))
            }
            (BinaryOp::And, Some(c)) if c != 0 && (!c & ones).wrapping_add(1).is_power_of_two() => {
                (Some(true), By::Number((!c & ones) + 1))
            }
            (BinaryOp::LShr | BinaryOp::AShr, None) => (Some(true), By::Power),
            (BinaryOp::And, None) => (None, By::Power),
            _ => return None,
        };
        Some(Part { inst, of: self.without_casts(x), is_quotient, by })
    }

    /// The number that was extended or truncated.
    fn without_casts(&self, mut v: Value) -> Value {
        while let Some(i) = self.func.def_inst(v)
            && let Op::Cast(CastOp::ZExt | CastOp::SExt | CastOp::Trunc) = self.func.insts[i].op
        {
            v = self.func.insts[i].args[0];
        }
        v
    }

    /// The number that a value is a multiple of, with an offset, both the same for all lanes.
    fn number_in(&self, mut v: Value) -> Value {
        let is_same = |v: Value| self.func.constant(v).is_some() || self.uniformity.shape(v).is_uniform();
        for _ in 0..FUEL {
            v = self.without_casts(v);
            let Some(i) = self.func.def_inst(v) else { break };
            let (op, args) = (&self.func.insts[i].op, &self.func.insts[i].args);
            v = match *op {
                Op::Binary(BinaryOp::Add | BinaryOp::Mul) if is_same(args[0]) => args[1],
                Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl)
                    if is_same(args[1]) =>
                {
                    args[0]
                }
                _ => break,
            };
        }
        v
    }

    /// Whether an `or` has parts of numbers as operands, shifted or not: `(i & ~m) << 1 | i & m`.
    fn joins_parts(&self, or: Inst) -> bool {
        self.func.insts[or].args.iter().all(|&v| {
            let i = self.func.def_inst(self.number_in(v));
            i.is_some_and(|i| self.part(i).is_some())
        })
    }

    /// Whether a shift to the right undoes one to the left, so that both extend a narrower number, or drops nothing.
    fn is_extension(&self, shift: Inst) -> bool {
        let func = self.func;
        let [x, by] = func.insts[shift].args[..] else { return false };
        let shifted = func.def_inst(x).map(|i| &func.insts[i]);
        let undone = shifted.is_some_and(|s| s.op == Op::Binary(BinaryOp::Shl) && s.args.get(1) == Some(&by))
            || func.insts[shift].flags.contains(InstFlags::EXACT);
        let left = func.as_int(by).zip(func.ty(x).int_bits()).map(|(by, bits)| i128::from(bits) - by as i128);
        undone && left.is_some_and(|left| left >= NARROW.into())
    }

    /// Goes from a value to what it is computed from, as far as `go_on` says. Whether everything was looked at.
    fn walk(&self, v: Value, mut go_on: impl FnMut(Value, Option<Inst>) -> bool) -> bool {
        let mut seen: EntitySet<Value> = EntitySet::new();
        let mut work = vec![v];
        let mut fuel = FUEL;
        while let Some(v) = work.pop() {
            if !seen.insert(v) {
                continue;
            }
            if fuel == 0 {
                return false;
            }
            fuel -= 1;
            let inst = self.func.def_inst(v);
            if !go_on(v, inst) {
                continue;
            }
            let Some(inst) = inst else { continue };
            match self.func.phi_position(inst).filter(|_| self.func.insts[inst].op == Op::Phi) {
                Some(position) => {
                    let preds = &self.func.blocks[self.func.insts[inst].block].preds;
                    work.extend(preds.iter().map(|&e| self.func.edges[e].args[position]));
                }
                None => work.extend(self.func.insts[inst].args.iter().copied()),
            }
        }
        true
    }

    /// The condition under which an instruction is executed by one lane alone: that what differs from lane to lane by
    /// a fixed step equals what all agree on.
    pub(super) fn only_lane(&self, inst: Inst) -> Option<Value> {
        let mut only = self.only.borrow_mut();
        let (mut at, mut below) = (self.func.insts[inst].block, Vec::new());
        // Pairs of accesses are many: each block is looked at once.
        let found = loop {
            if let Some(known) = only[at] {
                break known;
            }
            below.push(at);
            let Some(parent) = self.dominators.idom(Node::from(at)).map(Block::from) else { break None };
            if let Some(condition) = self.picks_one(parent, at) {
                break Some(condition);
            }
            at = parent;
        };
        for block in below {
            only[block] = Some(found);
        }
        found
    }

    /// The condition of a branch that leads one lane alone to a block, which is reached in no other way.
    fn picks_one(&self, from: Block, to: Block) -> Option<Value> {
        let func = self.func;
        if self.uniformity.cycles().innermost(from.into()).is_some() {
            return None;
        }
        let branch = &func.insts[func.terminator(from)];
        let [edge] = func.blocks[to].preds[..] else { return None };
        if branch.op != Op::CondBr || func.edges[edge].from != from {
            return None;
        }
        let holds = branch.edges[0] == edge;
        let mut conditions = parts(func, branch.args[0], holds).into_iter();
        conditions.find_map(|(v, holds)| self.is_one_lane(v, holds).then_some(v))
    }

    /// Whether a condition holds, or does not, in one lane alone.
    fn is_one_lane(&self, condition: Value, holds: bool) -> bool {
        let func = self.func;
        let Some(compared) = func.def_inst(condition).map(|i| &func.insts[i]) else { return false };
        let equal = match compared.op {
            Op::ICmp(IntPred::Eq) => holds,
            Op::ICmp(IntPred::Ne) => !holds,
            _ => false,
        };
        let step = |v: Value| match func.constant(v) {
            Some(_) => Some(0),
            None => self.uniformity.shape(v).step(),
        };
        let &[x, y] = &compared.args[..] else { return false };
        let (Some(a), Some(b)) = (step(x), step(y)) else { return false };
        // An even step in a narrow number may come round to the same value again.
        let bits = func.ty(x).int_bits().unwrap_or(64);
        equal && a != b && bits >= 32 && a.wrapping_sub(b).unsigned_abs() < 1 << 16
    }
}
