//! Comparisons that come out alike for all work-items of a group though what they compare differs between them.
//!
//! `for (int i = l; i < n + l; i += size)` has as many iterations for each work-item: what work-items differ in is on
//! both sides. Such a comparison becomes one of the distance between both sides with 0. Sides of less than 64 bits have
//! a distance of at most as many bits and one, so 64 bits hold it whatever wraps on the way, if both are sums there,
//! extended as the comparison reads them: sums that say by flags that they do not wrap. Whether sides of any width are
//! equal is known modulo their own width.
//!
//! A counter φ(x, φ + s) is x + k with k = φ(0, k + s), of the same width as the distance; x cancels. So does any other
//! φ whose operands are apart by what the group has in common. x is computed in blocks that dominate the φ's: when it is
//! computed once more, so is the φ before anything looks at it. So x is still what the φ began with.
//!
//! Where a side is poison, the comparison may be anything.

use cranelift_entity::EntitySet;
use warpline_analysis::{DomTree, Node};
use warpline_dataflow::linear::{Extension, Sum, Term};
use warpline_ir::{BinaryOp, CastOp, Function, Inst, InstFlags, IntPred, Op, Type, Value};

/// So many φs of a comparison are taken apart.
const MOST_PHIS: usize = 6;

/// So many parts of a condition are looked at.
const MOST_PARTS: usize = 16;

/// Makes a comparison that a condition is made of, and whose outcome may differ between work-items, one of what these
/// have in common, if there is such a comparison that is not `known` to have been made one. Whether there was.
pub(super) fn agree(
    func: &mut Function,
    differs: &dyn Fn(Value) -> bool,
    condition: Value,
    known: &mut EntitySet<Inst>,
) -> bool {
    let (mut seen, mut work) = (EntitySet::new(), vec![condition]);
    for _ in 0..MOST_PARTS {
        let Some(v) = work.pop() else { break };
        let Some(i) = func.def_inst(v).filter(|_| differs(v) && seen.insert(v)) else { continue };
        match func.insts[i].op {
            Op::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Xor) | Op::Select | Op::Freeze => {
                work.extend(func.insts[i].args.iter().copied());
            }
            Op::ICmp(pred) if !known.contains(i) => {
                let dom = DomTree::compute(&func.graph().0);
                if compare_distance(func, &dom, differs, i, pred) {
                    known.insert(i);
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Makes a comparison one of a distance with 0, if work-items agree on the distance.
fn compare_distance(
    func: &mut Function,
    dom: &DomTree,
    differs: &dyn Fn(Value) -> bool,
    comparison: Inst,
    pred: IntPred,
) -> bool {
    let &[a, b] = &func.insts[comparison].args[..] else { return false };
    let Some(bits) = func.ty(a).int_bits().filter(|&bits| bits > 1 && bits <= 64) else { return false };
    let (pred, extension) = match pred {
        IntPred::Eq | IntPred::Ne => (pred, Extension::None),
        IntPred::Slt | IntPred::Sle | IntPred::Sgt | IntPred::Sge => (pred, Extension::Signed),
        IntPred::Ult => (IntPred::Slt, Extension::Unsigned),
        IntPred::Ule => (IntPred::Sle, Extension::Unsigned),
        IntPred::Ugt => (IntPred::Sgt, Extension::Unsigned),
        IntPred::Uge => (IntPred::Sge, Extension::Unsigned),
    };
    if extension != Extension::None && bits == 64 {
        return false;
    }
    let width = if extension == Extension::None { bits } else { 64 };
    let sums = [a, b].map(|v| Sum::number(width, 0).and(func, v, extension, 1));
    let [Some(left), Some(right)] = sums else { return false };
    let mut apart = Apart { func, dom, differs, phis: Vec::new() };
    let Some(distance) = left.plus(&right, -1).and_then(|sum| apart.in_common(sum)) else { return false };
    let phis = apart.phis;
    // Each counter begins with those that were found before it, so all of them are there when steps are computed.
    let counters: Vec<Value> =
        phis.iter().map(|phi| func.add_phi(func.insts[phi.of].block, Type::Int(width))).collect();
    let known: Vec<(Value, Extension, Value)> = phis
        .iter()
        .zip(&counters)
        .map(|(phi, &counter)| (func.insts[phi.of].results[0], phi.extension, counter))
        .collect();
    for (phi, &counter) in phis.iter().zip(&counters) {
        let block = func.insts[phi.of].block;
        let Some(position) = func.def_inst(counter).and_then(|i| func.phi_position(i)) else { continue };
        for (k, sum) in phi.operands.iter().enumerate() {
            let edge = func.blocks[block].preds[k];
            let at = func.terminator(func.edges[edge].from);
            let v = computed(func, at, sum, &known);
            func.set_phi_arg(edge, position, v);
        }
    }
    let v = computed(func, comparison, &distance, &known);
    let zero = func.int_const(width, 0);
    let data = &mut func.insts[comparison];
    data.op = Op::ICmp(pred);
    data.args = [v, zero].into_iter().collect();
    data.flags = InstFlags::empty();
    true
}

/// A φ that is something in which work-items differ and a counter that they have in common.
struct Phi {
    of: Inst,
    /// How it enters the distance.
    extension: Extension,
    /// What the counter is on each edge, in the order of predecessors. The φ itself stands for the counter.
    operands: Vec<Sum>,
}

struct Apart<'a> {
    func: &'a Function,
    dom: &'a DomTree,
    differs: &'a dyn Fn(Value) -> bool,
    phis: Vec<Phi>,
}

impl Apart<'_> {
    /// The same sum without what work-items differ in, where φs that are in `phis` stand for their counters.
    fn in_common(&mut self, mut sum: Sum) -> Option<Sum> {
        let mut counters = Vec::new();
        loop {
            let is_left = |t: &Term| (self.differs)(t.value);
            let left: Vec<Term> = sum.terms().iter().copied().filter(is_left).collect();
            if left.is_empty() {
                break;
            }
            // What is no φ may cancel once φs are taken apart.
            let (term, base) = left.into_iter().find_map(|t| Some((t, self.phi(t, sum.bits())?)))?;
            sum = sum.plus(&Sum::term(sum.bits(), term), -1)?.plus(&base, term.scale)?;
            counters.push(term);
        }
        for counter in counters {
            sum = sum.plus(&Sum::term(sum.bits(), counter), 1)?;
        }
        Some(sum)
    }

    /// What a φ is apart from its counter, if it has one.
    fn phi(&mut self, term: Term, bits: u32) -> Option<Sum> {
        let inst = self.func.def_inst(term.value).filter(|&i| self.func.insts[i].op == Op::Phi)?;
        if self.phis.len() >= MOST_PHIS {
            return None;
        }
        let block = self.func.insts[inst].block;
        let position = self.func.phi_position(inst)?;
        let operands: Vec<Sum> = { self.func.blocks[block].preds.iter() }
            .map(|&e| {
                Sum::number(bits, 0).and(self.func, self.func.edges[e].args[position], term.extension, 1)
            })
            .collect::<Option<_>>()?;
        let itself = Sum::term(bits, Term { scale: 1, ..term });
        let goes_on = |sum: &Sum| {
            sum.terms().iter().any(|t| (t.value, t.extension, t.scale) == (term.value, term.extension, 1))
        };
        let base = operands.iter().find(|sum| !goes_on(sum))?.clone();
        let in_front = |t: &Term| match self.func.def_block(t.value) {
            Some(b) => self.dom.strictly_dominates(Node::from(b), Node::from(block)),
            None => true,
        };
        if !base.terms().iter().all(in_front) {
            return None;
        }
        let mut counter = Vec::new();
        for sum in &operands {
            let (rest, on) =
                if goes_on(sum) { (sum.plus(&itself, -1)?, true) } else { (sum.plus(&base, -1)?, false) };
            if rest.terms().iter().any(|t| (self.differs)(t.value)) {
                return None;
            }
            counter.push(if on { rest.plus(&itself, 1)? } else { rest });
        }
        if !self.phis.iter().any(|phi| phi.of == inst && phi.extension == term.extension) {
            self.phis.push(Phi { of: inst, extension: term.extension, operands: counter });
        }
        Some(base)
    }
}

/// A sum, computed in front of an instruction, with counters instead of φs.
fn computed(func: &mut Function, at: Inst, sum: &Sum, known: &[(Value, Extension, Value)]) -> Value {
    let ty = Type::Int(sum.bits());
    let none = InstFlags::empty();
    let mut all = func.int_const(sum.bits(), i128::from(sum.constant()) as u128);
    for t in sum.terms() {
        let counter = known.iter().find(|&&(phi, extension, _)| (phi, extension) == (t.value, t.extension));
        let bits = func.ty(t.value).int_bits().unwrap_or(0);
        let op = match t.extension {
            Extension::Signed => CastOp::SExt,
            Extension::Unsigned => CastOp::ZExt,
            Extension::None => CastOp::Trunc,
        };
        let v = match counter {
            Some(&(_, _, counter)) => counter,
            None if bits == sum.bits() => t.value,
            None => func.insert_value_before(at, Op::Cast(op), &[t.value], ty, none),
        };
        let scale = func.int_const(sum.bits(), i128::from(t.scale) as u128);
        let v = match t.scale {
            1 => v,
            _ => func.insert_value_before(at, Op::Binary(BinaryOp::Mul), &[v, scale], ty, none),
        };
        all = func.insert_value_before(at, Op::Binary(BinaryOp::Add), &[all, v], ty, none);
    }
    all
}
