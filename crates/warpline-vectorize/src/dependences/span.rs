//! Stretches of memory, by numbers that are known before a loop, and the code that compares them.

use crate::builder::Builder;
use warpline_dataflow::linear::Extension;
use warpline_ir::{BinaryOp, Block, CastOp, Constant, InstFlags, IntPred, Op, Type, Value};

use super::checks::{Check, Form};
use super::interval::Interval;
use super::region::Sym;
use super::scalar::Tree;

/// Loops have as many iterations at least, where nobody knows how many they are.
const FEW_ROUNDS: i64 = 16;

/// A number that is known before a loop.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Number {
    Constant(i64),
    /// A value, extended to 64 bits.
    Value(Sym, Extension),
    /// What a kernel computes, extended to 64 bits.
    Computed(Tree, Extension),
    /// Numbers, each times a constant, and a constant.
    Sum(Vec<(Number, i64)>, i64),
}

/// What something that changes within an iteration adds to an address.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Extent {
    /// So many bytes at least, and at most.
    Known(i64, i64),
    /// A number of the interval, times so many bytes.
    Between(Box<Interval>, i64),
}

/// A product of an index in the first iteration and the length of a row, times so many bytes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Product {
    pub(crate) index: Number,
    pub(crate) length: Number,
    /// What the index grows by in each iteration.
    pub(crate) step: i64,
    /// Bytes.
    pub(crate) scale: i64,
    /// Whether it is computed with so few bits that it may wrap.
    pub(crate) may_wrap: bool,
}

/// What an access touches in the first iteration, and how that moves.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Span {
    /// A pointer.
    pub(crate) base: Sym,
    /// What is added to it, times so many bytes.
    pub(crate) terms: Vec<(Number, i64)>,
    pub(crate) offset: i64,
    /// Bytes from one iteration to the next.
    pub(crate) step: i64,
    pub(crate) products: Vec<Product>,
    pub(crate) extents: Vec<Extent>,
    /// Bytes.
    pub(crate) size: i64,
}

impl Span {
    /// Whether another one moves as this one does, and begins at a known distance from it.
    pub(super) fn is_alike(&self, other: &Span) -> bool {
        let Span { base, terms, offset: _, step, products, extents, size: _ } = self;
        (base, terms, *step) == (&other.base, &other.terms, other.step)
            && (products, extents) == (&other.products, &other.extents)
    }

    /// The bytes of the first few iterations, from what is the same in all spans alike on: the first and the last one,
    /// if that is known.
    pub(super) fn bytes_of_some(&self) -> Option<(i128, i128)> {
        let far = i128::from(self.step) * i128::from(FEW_ROUNDS - 1);
        let (mut first, mut last) = (far.min(0), far.max(0) + i128::from(self.size) - 1);
        for extent in &self.extents {
            let &Extent::Known(low, high) = extent else { return None };
            (first, last) = (first + i128::from(low), last + i128::from(high));
        }
        Some((first + i128::from(self.offset), last + i128::from(self.offset)))
    }

    /// One that stretches over this and another one alike, if there is no more between them than what they move by.
    pub(super) fn beside(&self, other: &Span) -> Option<Span> {
        let end = |s: &Span| s.offset.checked_add(s.size);
        let offset = self.offset.min(other.offset);
        let size = end(self)?.max(end(other)?).checked_sub(offset)?;
        let between = size.checked_sub(self.size)?.checked_sub(other.size)?;
        (between <= self.step.abs()).then(|| Span { offset, size, ..self.clone() })
    }
}

/// Makes the code of checks.
pub(super) struct Emitter<'b, 'm> {
    pub(super) b: &'b mut Builder<'m>,
    /// How many iterations there are.
    pub(super) rounds: Value,
    /// The iteration that numbers are computed for, if it is not the first one.
    iteration: Option<Value>,
    /// What must hold.
    holds: Vec<Value>,
    /// Where control goes if it does not, and from where.
    otherwise: Block,
    failing: Vec<Block>,
    /// The blocks that were made, in order.
    pub(super) blocks: Vec<Block>,
    /// The ends of indices that have been loaded.
    pub(super) loaded: Vec<(Span, u32, (Value, Value))>,
}

/// How many requirements are tested by one branch. With more, LLVM would gather them into vectors, which takes longer
/// than loops of a hundred iterations can pay for; with fewer, it would put the branches together first.
const PER_BRANCH: usize = 3;

/// The code of checks.
pub(crate) struct Checked {
    /// From where control goes to the loop as it was.
    pub(crate) failing: Vec<Block>,
    /// The blocks that were made, in the order in which they are executed.
    pub(crate) blocks: Vec<Block>,
    /// How many arrays of indices are looked through.
    pub(crate) inspected: usize,
}

/// Makes the code of checks, before a loop of so many iterations. Control goes to `otherwise` where one does not
/// hold, and else to the block where the builder stands then.
pub(crate) fn emit(b: &mut Builder<'_>, checks: &[Check], rounds: Value, otherwise: Block) -> Checked {
    let mut e = Emitter {
        b,
        rounds,
        iteration: None,
        holds: Vec::new(),
        otherwise,
        failing: Vec::new(),
        blocks: Vec::new(),
        loaded: Vec::new(),
    };
    for (at, check) in checks.iter().enumerate() {
        e.check(check);
        if e.holds.len() >= PER_BRANCH || at + 1 == checks.len() {
            e.branch();
        }
    }
    Checked { failing: e.failing, blocks: e.blocks, inspected: e.loaded.len() }
}

impl Emitter<'_, '_> {
    pub(super) fn int(&mut self, x: i64) -> Value {
        self.b.int(64, x)
    }

    pub(super) fn binary(&mut self, op: BinaryOp, x: Value, y: Value) -> Value {
        self.b.binary(op, x, y, InstFlags::empty())
    }

    /// Branches on what has been required since the last time.
    pub(super) fn branch(&mut self) {
        let all = std::mem::take(&mut self.holds);
        let Some(all) = all.into_iter().reduce(|x, y| self.binary(BinaryOp::And, x, y)) else { return };
        // What an iteration computes that is never reached may be poison.
        let all = self.b.value(Op::Freeze, &[all], Type::BOOL);
        self.failing.push(self.b.at);
        let checked = self.b.block("checked");
        self.b.cond_br(all, checked, self.otherwise);
        self.b.at = checked;
        self.blocks.push(checked);
    }

    pub(super) fn require(&mut self, pred: IntPred, x: Value, y: Value) {
        let holds = self.b.icmp(pred, x, y);
        self.holds.push(holds);
    }

    fn check(&mut self, check: &Check) {
        match check.form {
            Form::Rows => {
                self.rows(&check.a, &check.b);
            }
            Form::Columns(ref length, scale) => self.columns(&check.a, &check.b, length, scale),
            Form::Outside(low, high, free) => {
                let (a, b) = (self.first(&check.a), self.first(&check.b));
                let distance = self.binary(BinaryOp::Sub, b, a);
                let least = self.int((low + 1) as i64);
                let beyond = self.binary(BinaryOp::Sub, distance, least);
                let many = self.int((high - low - 1).max(0) as i64);
                match free {
                    None => self.require(IntPred::Uge, beyond, many),
                    Some(free) => {
                        // Between the two numbers, this is small and not negative.
                        let step = self.int(free.step as i64);
                        let rest = self.binary(BinaryOp::URem, beyond, step);
                        let least = self.int(free.least as i64);
                        let outside = self.b.icmp(IntPred::Uge, beyond, many);
                        let apart = self.b.icmp(IntPred::Uge, rest, least);
                        let holds = self.binary(BinaryOp::Or, outside, apart);
                        self.holds.push(holds);
                    }
                }
            }
            Form::Behind => {
                let most = self.int(1 << 29);
                let rounds = self.rounds;
                self.require(IntPred::Ult, rounds, most);
                let (store, length) = self.stretch(&check.a);
                let load = self.first(&check.b);
                // How far the store is ahead: not at all, or by as much as it touches.
                let ahead = self.binary(BinaryOp::Sub, store, load);
                let one = self.int(1);
                let ahead = self.binary(BinaryOp::Sub, ahead, one);
                let least = self.binary(BinaryOp::Sub, length, one);
                self.require(IntPred::Uge, ahead, least);
            }
            Form::Apart => {
                // Products below are small if this is.
                let most = self.int(1 << 29);
                let rounds = self.rounds;
                self.require(IntPred::Ult, rounds, most);
                let (a, length_a) = self.stretch(&check.a);
                let (b, length_b) = self.stretch(&check.b);
                let ahead = self.binary(BinaryOp::Sub, b, a);
                let behind = self.binary(BinaryOp::Sub, a, b);
                self.require(IntPred::Uge, ahead, length_a);
                self.require(IntPred::Uge, behind, length_b);
            }
        }
    }

    /// A value of the function as a number of 64 bits.
    fn value(&mut self, sym: Sym, extension: Extension) -> Value {
        let v = self.outside(sym);
        self.extended(v, extension)
    }

    pub(super) fn extended(&mut self, v: Value, extension: Extension) -> Value {
        match self.b.func.ty(v) {
            Type::Ptr(_) => self.b.cast(CastOp::PtrToInt, v, Type::Int(64)),
            Type::Int(64) => v,
            Type::Int(bits) if bits > 64 => self.b.cast(CastOp::Trunc, v, Type::Int(64)),
            _ if extension == Extension::Unsigned => self.b.cast(CastOp::ZExt, v, Type::Int(64)),
            _ => self.b.cast(CastOp::SExt, v, Type::Int(64)),
        }
    }

    pub(super) fn number(&mut self, n: &Number) -> Value {
        match n {
            Number::Constant(x) => self.int(*x),
            Number::Value(sym, extension) => self.value(*sym, *extension),
            Number::Computed(tree, extension) => {
                let v = tree.emit(self.b, self.iteration);
                self.extended(v, *extension)
            }
            Number::Sum(terms, offset) => self.sum(None, terms, *offset),
        }
    }

    /// The sum of numbers, each times a constant, a constant, and what there is already.
    fn sum(&mut self, first: Option<Value>, terms: &[(Number, i64)], offset: i64) -> Value {
        let mut sum = first;
        for (term, scale) in terms.iter().filter(|(term, _)| *term != Number::Constant(0)) {
            let x = self.number(term);
            let x = self.times(x, *scale);
            sum = Some(self.plus(sum, x));
        }
        match (sum, offset) {
            (Some(sum), 0) => sum,
            _ => {
                let offset = self.int(offset);
                self.plus(sum, offset)
            }
        }
    }

    fn plus(&mut self, sum: Option<Value>, x: Value) -> Value {
        match sum {
            Some(sum) => self.binary(BinaryOp::Add, sum, x),
            None => x,
        }
    }

    pub(super) fn times(&mut self, x: Value, factor: i64) -> Value {
        if factor == 1 {
            return x;
        }
        let factor = self.int(factor);
        self.binary(BinaryOp::Mul, x, factor)
    }

    /// Requires that a number has at most 29 bits and a sign, so that products of two are far from wrapping.
    pub(super) fn small(&mut self, x: Value) -> Value {
        let (half, whole) = (self.int(1 << 29), self.int(1 << 30));
        let moved = self.binary(BinaryOp::Add, x, half);
        self.require(IntPred::Ult, moved, whole);
        x
    }

    /// The address in the first iteration, without what moves in it.
    fn first(&mut self, span: &Span) -> Value {
        let base = self.value(span.base, Extension::None);
        let first = self.sum(Some(base), &span.terms, span.offset);
        for (number, _) in &span.terms {
            self.must_grow(number);
        }
        first
    }

    /// The pointer in the first iteration.
    pub(super) fn pointer(&mut self, span: &Span) -> Value {
        let base = self.outside(span.base);
        let offset = self.sum(None, &span.terms, span.offset);
        for (number, _) in &span.terms {
            self.must_grow(number);
        }
        self.b.value(Op::Gep(Type::Int(8)), &[base, offset], self.b.func.ty(base))
    }

    /// What stands for a name outside of the kernel.
    fn outside(&mut self, sym: Sym) -> Value {
        match sym {
            Sym::Outer(v) | Sym::Inner(v) => v,
            Sym::Global(symbol) => {
                let address = Constant::Address { symbol, offset: 0, space: 0, origin: None };
                self.b.func.constant_value(address)
            }
        }
    }

    /// Requires that a number that is computed of narrow ones grows from the first iteration to the last one by what
    /// it should. If it wrapped on the way, it would not: whatever wraps, does so against the direction of growth.
    pub(super) fn must_grow(&mut self, number: &Number) {
        let Number::Computed(tree, _) = number else { return };
        let Some(growth) = tree.growth().filter(|&g| g != 0 && tree.is_narrow()) else { return };
        let one = self.int(1);
        let last = self.binary(BinaryOp::Sub, self.rounds, one);
        let begun = self.number(number);
        let ended = self.in_last_iteration(number);
        let far = self.times(last, growth as i64);
        let expected = self.binary(BinaryOp::Add, begun, far);
        self.require(IntPred::Eq, ended, expected);
        let most = self.int(1 << 29);
        self.require(IntPred::Ult, last, most);
    }

    /// A number in the last iteration.
    pub(super) fn in_last_iteration(&mut self, number: &Number) -> Value {
        let one = self.int(1);
        self.iteration = Some(self.binary(BinaryOp::Sub, self.rounds, one));
        let ended = self.number(number);
        self.iteration = None;
        ended
    }

    /// The first byte of all that is touched in all iterations, and how many there are from there on.
    fn stretch(&mut self, span: &Span) -> (Value, Value) {
        let mut first = self.first(span);
        let mut length = self.int(span.size);
        let one = self.int(1);
        let last = self.binary(BinaryOp::Sub, self.rounds, one);
        let zero = self.int(0);
        let far = self.times(last, span.step);
        (first, length) = self.stretched(first, length, zero, far);
        for product in &span.products {
            let (index, row) = self.factors(product);
            let rows = self.times(last, product.step);
            let rows = self.small(rows);
            let at = self.binary(BinaryOp::Mul, index, row);
            first = self.binary(BinaryOp::Add, first, at);
            let far = self.binary(BinaryOp::Mul, rows, row);
            (first, length) = self.stretched(first, length, zero, far);
        }
        for extent in &span.extents {
            (first, length) = self.widened(first, length, extent);
        }
        (first, length)
    }

    /// The index of a product in the first iteration, and the bytes of a row, both small. Requires that it grows and
    /// that nothing wraps.
    pub(super) fn factors(&mut self, product: &Product) -> (Value, Value) {
        let Product { index, length, step, scale, may_wrap } = product;
        if let Number::Sum(parts, _) = index {
            parts.iter().for_each(|(part, _)| self.must_grow(part));
        }
        let (index, row) = (self.number(index), self.row(length, *scale));
        let index = self.small(index);
        if *may_wrap {
            let (one, length) = (self.int(1), self.number(length));
            let last = self.binary(BinaryOp::Sub, self.rounds, one);
            let far = self.times(last, *step);
            let far = self.small(far);
            let index_then = self.binary(BinaryOp::Add, index, far);
            for index in [index, index_then] {
                let product = self.binary(BinaryOp::Mul, index, length);
                self.within_bits(product, 31);
            }
        }
        (index, row)
    }

    /// The bytes of a row.
    pub(super) fn row(&mut self, elements: &Number, scale: i64) -> Value {
        let elements = self.number(elements);
        let elements = self.small(elements);
        let bytes = self.times(elements, scale);
        self.small(bytes)
    }

    pub(super) fn widened(&mut self, first: Value, length: Value, extent: &Extent) -> (Value, Value) {
        match extent {
            Extent::Known(low, high) => {
                let (low, high) = (self.int(*low), self.int(*high));
                self.stretched(first, length, low, high)
            }
            Extent::Between(interval, scale) => {
                let (low, high) = self.interval(interval);
                let (low, high) = (self.times(low, *scale), self.times(high, *scale));
                self.stretched(first, length, low, high)
            }
        }
    }

    pub(super) fn lesser(&mut self, x: Value, y: Value) -> Value {
        let x_is = self.b.icmp(IntPred::Slt, x, y);
        self.b.value(Op::Select, &[x_is, x, y], Type::Int(64))
    }

    pub(super) fn greater(&mut self, x: Value, y: Value) -> Value {
        let x_is = self.b.icmp(IntPred::Sgt, x, y);
        self.b.value(Op::Select, &[x_is, x, y], Type::Int(64))
    }

    /// A stretch that may lie anywhere between being moved by the one and by the other number.
    fn stretched(&mut self, first: Value, length: Value, x: Value, y: Value) -> (Value, Value) {
        let high = self.greater(x, y);
        let sum = self.binary(BinaryOp::Add, x, y);
        let low = self.binary(BinaryOp::Sub, sum, high);
        let more = self.binary(BinaryOp::Sub, high, low);
        (self.binary(BinaryOp::Add, first, low), self.binary(BinaryOp::Add, length, more))
    }
}
