//! How the low bits of an integer are computed in fewer bits than it has.
//!
//! A *node* is a value and a width: the low bits of the value. Sums, differences, products, bitwise operations and
//! shifts to the left need the low bits of their operands only. What shifts to the right, divides or compares needs
//! operands that fit the width, as the [bounds](super::bounds) say, or bits that all lie within it.
//! [Idioms](super::idioms) become functions with one operation each. What nothing narrower is known for is computed as
//! before, and truncated.
//!
//! Costs are bits of vector registers for each lane that operations go through.

use std::collections::BTreeMap;
use std::rc::Rc;

use smallvec::{SmallVec, smallvec};
use warpline_dataflow::clients::intrinsics::{self, Intrinsic};
use warpline_ir::{BinaryOp, CastOp, Function, Inst, InstData, Module, Op, Type, Value};

use warpline_uniformity::shape::Shape;

use super::bounds::{Bounds, operands};
use super::idioms::{self, Idiom};

/// How deep expressions are narrowed; what is deeper is truncated.
const MAX_DEPTH: u32 = 48;

/// The low bits of a value: so many.
pub(super) type Node = (Value, u32);

/// How a node is computed.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Step {
    /// It is a constant.
    Constant(u128),
    /// It is this value.
    Same(Value),
    /// It is the low bits of another value.
    Low(Value),
    /// It is another value, truncated or extended.
    Convert(CastOp, Value),
    /// It is computed from nodes of `at` bits, and truncated if these are more than it has.
    Compute { how: How, args: SmallVec<[Arg; 3]>, at: u32 },
}

/// What an operand of a narrow operation is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Arg {
    /// A value as it is.
    Whole(Value),
    /// The low bits of a value.
    Low(Value),
}

/// A narrow operation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum How {
    Binary(BinaryOp),
    Select,
    Freeze,
    /// LLVM's function of two operands of this base name.
    Function(&'static str),
    /// `llvm.abs`, where the least integer stays.
    Absolute,
    /// The sum or difference of an unsigned number and any number that is the same in all lanes, as it is, brought to
    /// the nearest unsigned number where it is below or above all of these; the low bits where it is not brought there.
    Offset {
        subtract: bool,
        below: bool,
        above: bool,
    },
    /// The upper half of the product of two shorts, to the first of which something is added before, shifted to the
    /// right by so many bits.
    HighProduct {
        is_signed: bool,
        plus: u32,
        by: u32,
    },
    /// By how much an unsigned number exceeds one that is the same in all lanes and any unsigned number, as it is; zero
    /// if it does not.
    Excess,
    /// Half of the sum of two unsigned numbers and one.
    Average,
    /// What fits so few bits, extended with zeros.
    Extend,
    /// The distance of two numbers, unsigned or signed.
    Distance {
        is_signed: bool,
    },
}

/// A step with its cost: that of all steps that it needs, however often.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) step: Step,
    cost: f64,
}

/// Plans nodes of a function.
pub(super) struct Planner<'a, F> {
    pub(super) module: &'a Module,
    pub(super) func: &'a Function,
    pub(super) bounds: &'a Bounds<'a>,
    /// How a value differs between lanes.
    shape: F,
    nodes: BTreeMap<Node, Rc<Planned>>,
    /// What values cost as they are.
    wide: BTreeMap<Value, f64>,
}

impl<'a, F: Fn(Value) -> Shape> Planner<'a, F> {
    pub(super) fn new(module: &'a Module, func: &'a Function, bounds: &'a Bounds<'a>, shape: F) -> Self {
        Planner { module, func, bounds, shape, nodes: BTreeMap::new(), wide: BTreeMap::new() }
    }

    /// Whether a value differs between lanes without a known step.
    pub(super) fn varies(&self, v: Value) -> bool {
        (self.shape)(v) == Shape::Varying
    }

    /// Whether a value is the same in all lanes, and no constant.
    pub(super) fn is_uniform(&self, v: Value) -> bool {
        (self.shape)(v).is_uniform() && self.func.constant(v).is_none()
    }

    /// The step of a node; of one that has been planned.
    pub(super) fn step(&self, node: Node) -> Option<&Step> {
        self.nodes.get(&node).map(|planned| &planned.step)
    }

    /// Plans the low bits of a value, which is an integer of at least as many and at most 64 bits.
    pub(super) fn plan(&mut self, v: Value, bits: u32) {
        self.low(v, bits, MAX_DEPTH);
    }

    fn low(&mut self, v: Value, bits: u32, depth: u32) -> Rc<Planned> {
        if let Some(known) = self.nodes.get(&(v, bits)) {
            return known.clone();
        }
        let planned = Rc::new(self.choose(v, bits, depth));
        self.nodes.insert((v, bits), planned.clone());
        planned
    }

    /// The cheapest step.
    fn choose(&mut self, v: Value, bits: u32, depth: u32) -> Planned {
        let own = self.func.ty(v).int_bits().unwrap_or(64);
        if let Some(c) = self.func.as_int(v) {
            return Planned { step: Step::Constant(c & mask(bits)), cost: 0.0 };
        }
        if own == bits {
            let same = Planned { step: Step::Same(v), cost: self.wide_cost(v, MAX_DEPTH) };
            let Some(step) = self.own_distance(v, bits).filter(|_| depth > 0) else { return same };
            let cost = self.cost(&step, bits, depth - 1);
            return if cost < same.cost { Planned { step, cost } } else { same };
        }
        let varies = self.varies(v);
        let truncation = if varies { weight(&Op::Cast(CastOp::Trunc), own) } else { 0.0 };
        let mut best = Planned {
            step: Step::Convert(CastOp::Trunc, v),
            cost: truncation + self.wide_cost(v, MAX_DEPTH),
        };
        let Some(inst) = self.func.def_inst(v).filter(|_| varies && depth > 0) else { return best };
        for step in self.options(v, inst, bits, own) {
            let cost = self.cost(&step, bits, depth - 1);
            if cost < best.cost {
                best = Planned { step, cost };
            }
        }
        best
    }

    /// The step of a value that is the distance of two unsigned numbers of its own width, chosen by their order.
    fn own_distance(&self, v: Value, bits: u32) -> Option<Step> {
        let fits = matches!(bits, 8 | 16) && self.varies(v) && self.has("usub.sat", bits);
        let (args, is_signed) = self.bounds.chosen_distance(v).filter(|_| fits)?;
        let how = How::Distance { is_signed: false };
        let args = args.into_iter().map(Arg::Low).collect();
        (!is_signed).then_some(Step::Compute { how, args, at: bits })
    }

    /// What a step costs, with the steps that it needs.
    fn cost(&mut self, step: &Step, bits: u32, depth: u32) -> f64 {
        match *step {
            Step::Constant(_) => 0.0,
            Step::Same(v) => self.wide_cost(v, MAX_DEPTH),
            Step::Low(v) => self.low(v, bits, depth).cost,
            Step::Convert(_, v) => own_cost(self.func, step, bits) + self.wide_cost(v, MAX_DEPTH),
            Step::Compute { ref args, at, .. } => {
                let mut sum = own_cost(self.func, step, bits);
                for arg in args {
                    sum += match *arg {
                        Arg::Whole(v) => self.wide_cost(v, MAX_DEPTH),
                        Arg::Low(v) => self.low(v, at, depth).cost,
                    };
                }
                sum
            }
        }
    }

    /// What computing a value as it is costs.
    fn wide_cost(&mut self, v: Value, depth: u32) -> f64 {
        if let Some(&known) = self.wide.get(&v) {
            return known;
        }
        let inst = self.func.def_inst(v).filter(|_| depth > 0 && self.varies(v));
        let Some(inst) = inst.filter(|&i| is_computation(self.module, self.func, i)) else { return 0.0 };
        let args = self.func.insts[inst].args.clone();
        let operands: f64 = args.iter().map(|&a| self.wide_cost(a, depth - 1)).sum();
        let cost = operands + instruction_cost(self.func, inst);
        self.wide.insert(v, cost);
        cost
    }

    /// The steps that give the low bits of an instruction's result, besides its truncation.
    fn options(&self, v: Value, inst: Inst, bits: u32, own: u32) -> SmallVec<[Step; 4]> {
        let data = &self.func.insts[inst];
        let mut all: SmallVec<[Step; 4]> = SmallVec::new();
        let halves = || matches!(data.op, Op::Binary(BinaryOp::LShr | BinaryOp::AShr));
        let is_average = || matches!(idioms::of(self, v, 8), Some(Idiom { how: How::Average, .. }));
        if bits > 8 && halves() && is_average() {
            // Processors have that for what it is of, and it fits as well.
            all.push(Step::Compute { how: How::Extend, args: smallvec![Arg::Low(v)], at: 8 });
        } else if let Some(Idiom { how, args }) = idioms::of(self, v, bits) {
            let args = args.into_iter().collect();
            all.push(Step::Compute { how, args, at: bits });
        }
        let widths = [8, 16, 32].into_iter().filter(|&at| at >= bits && at < own);
        match data.op {
            Op::Cast(CastOp::ZExt | CastOp::SExt | CastOp::Trunc) => all.extend(self.converted(data, bits)),
            Op::Select => {
                // One operation, also where the comparison is changed later.
                all.extend(widths.filter_map(|at| self.function(inst, at)));
                let args =
                    smallvec![Arg::Whole(data.args[0]), Arg::Low(data.args[1]), Arg::Low(data.args[2])];
                all.push(Step::Compute { how: How::Select, args, at: bits });
            }
            Op::Freeze => {
                all.push(Step::Compute {
                    how: How::Freeze,
                    args: smallvec![Arg::Low(data.args[0])],
                    at: bits,
                });
            }
            Op::Binary(op) => {
                all.extend(self.high_product(op, inst, v).filter(|_| bits <= 16 && own >= 32));
                all.extend(widths.filter_map(|at| self.binary(op, inst, bits, at)));
            }
            Op::Call(_) => all.extend(widths.filter_map(|at| self.function(inst, at))),
            _ => {}
        }
        all
    }

    /// The low bits of a conversion.
    fn converted(&self, data: &InstData, bits: u32) -> Option<Step> {
        let from = data.args[0];
        let Op::Cast(op) = data.op else { return None };
        let Type::Int(has) = self.func.ty(from) else { return None };
        Some(match has.cmp(&bits) {
            std::cmp::Ordering::Less => Step::Convert(op, from),
            std::cmp::Ordering::Equal => Step::Same(from),
            std::cmp::Ordering::Greater => Step::Low(from),
        })
    }

    /// The low bits of an operation, done in `at` bits.
    fn binary(&self, op: BinaryOp, inst: Inst, bits: u32, at: u32) -> Option<Step> {
        let &[x, y] = &self.func.insts[inst].args[..] else { return None };
        let constant = self.func.as_int(y);
        let by = constant.and_then(|c| u32::try_from(c).ok());
        let fits = |v| self.bounds.fits_unsigned((v, inst), at);
        let is_natural = |v| self.bounds.is_not_negative((v, inst));
        let both = || smallvec![Arg::Low(x), Arg::Low(y)];
        let compute = |op, args| Some(Step::Compute { how: How::Binary(op), args, at });
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor if at == bits => {
                compute(op, both())
            }
            BinaryOp::Mul => compute(op, both()),
            BinaryOp::Shl if at == bits => match by? {
                by if by < at => compute(op, both()),
                _ => Some(Step::Constant(0)),
            },
            BinaryOp::LShr | BinaryOp::AShr => {
                let by = by.filter(|&by| by < at)?;
                let is_logical = op == BinaryOp::LShr || is_natural(x);
                if by + bits <= at || is_logical && fits(x) {
                    compute(BinaryOp::LShr, both())
                } else {
                    (!is_logical && self.bounds.fits_signed((x, inst), at)).then_some(())?;
                    compute(BinaryOp::AShr, both())
                }
            }
            BinaryOp::UDiv | BinaryOp::URem | BinaryOp::SDiv | BinaryOp::SRem => {
                let natural = matches!(op, BinaryOp::UDiv | BinaryOp::URem) || is_natural(x) && is_natural(y);
                let is_quotient = matches!(op, BinaryOp::UDiv | BinaryOp::SDiv);
                (constant.is_some_and(|c| c != 0) && natural && fits(x) && fits(y)).then_some(())?;
                compute(if is_quotient { BinaryOp::UDiv } else { BinaryOp::URem }, both())
            }
            _ => None,
        }
    }

    /// `(x * y) >> 16` and by more, of what fits shorts.
    fn high_product(&self, op: BinaryOp, inst: Inst, v: Value) -> Option<Step> {
        let &[product, by] = &self.func.insts[inst].args[..] else { return None };
        let by = u32::try_from(self.func.as_int(by)?).ok()?.checked_sub(16).filter(|&by| by < 16)?;
        let (args, plus) = match operands(self.func, product, BinaryOp::Mul) {
            Some(args) => (args, 0),
            None => self.product_of_sum(product)?,
        };
        let is_logical = op == BinaryOp::LShr || self.bounds.is_not_negative(product);
        let natural = args.iter().all(|&v| self.bounds.fits_unsigned(v, 16));
        let signed = args.iter().all(|&v| self.bounds.fits_signed(v, 16));
        // The bits above the product are those that the shift brings in.
        let has_room = by == 0 || self.func.ty(v).int_bits() > Some(32);
        let is_signed = match op {
            BinaryOp::LShr | BinaryOp::AShr if natural && (is_logical || has_room) => false,
            _ if plus > 0 => return None,
            BinaryOp::AShr if signed => true,
            BinaryOp::LShr if signed && by == 0 => true,
            _ => return None,
        };
        let args = args.iter().map(|&v| Arg::Low(v)).collect();
        Some(Step::Compute { how: How::HighProduct { is_signed, plus, by }, args, at: 16 })
    }

    /// `(x + n) * c`, which LLVM multiplies out: the factors, and `n`.
    fn product_of_sum(&self, v: Value) -> Option<([Value; 2], u32)> {
        let [product, more] = operands(self.func, v, BinaryOp::Add)?;
        let factors @ [x, by] = operands(self.func, product, BinaryOp::Mul)?;
        let (more, by) = (self.func.as_int(more)?, self.func.as_int(by).filter(|&by| by > 0)?);
        let plus = u32::try_from(more / by).ok().filter(|_| more % by == 0 && more / by < 1 << 15)?;
        self.bounds.is_below(x, (1 << 16) - u128::from(plus)).then_some((factors, plus))
    }

    /// The low bits of a minimum, maximum or absolute value, done in `at` bits.
    fn function(&self, inst: Inst, at: u32) -> Option<Step> {
        let (called, args) = idioms::called_or_chosen(self.module, self.func, inst)?;
        let unsigned = |v: Value| self.bounds.fits_unsigned((v, inst), at);
        let natural = |v: Value| self.bounds.is_not_negative((v, inst)) && unsigned(v);
        let signed = |v: Value| self.bounds.fits_signed((v, inst), at);
        if called == Intrinsic::Abs {
            let fits = signed(args[0]) && super::functions::call(self.module, "abs", at).is_some();
            let args = smallvec![Arg::Low(args[0])];
            return fits.then_some(Step::Compute { how: How::Absolute, args, at });
        }
        let is_greater = matches!(called, Intrinsic::UMax | Intrinsic::SMax);
        let both = |fits: &dyn Fn(Value) -> bool| fits(args[0]) && fits(args[1]);
        let name = match called {
            Intrinsic::UMax | Intrinsic::UMin if both(&unsigned) => {
                if is_greater {
                    "umax"
                } else {
                    "umin"
                }
            }
            Intrinsic::SMax | Intrinsic::SMin if both(&natural) => {
                if is_greater {
                    "umax"
                } else {
                    "umin"
                }
            }
            Intrinsic::SMax | Intrinsic::SMin if both(&signed) => {
                if is_greater {
                    "smax"
                } else {
                    "smin"
                }
            }
            _ => return None,
        };
        let args = smallvec![Arg::Low(args[0]), Arg::Low(args[1])];
        self.has(name, at).then_some(Step::Compute { how: How::Function(name), args, at })
    }

    /// Whether the module declares a function.
    pub(super) fn has(&self, base: &str, bits: u32) -> bool {
        super::functions::call(self.module, base, bits).is_some()
    }
}

/// What a step costs by itself.
pub(super) fn own_cost(func: &Function, step: &Step, bits: u32) -> f64 {
    match step {
        Step::Constant(_) | Step::Same(_) | Step::Low(_) => 0.0,
        Step::Convert(op @ CastOp::Trunc, v) => weight(&Op::Cast(*op), func.ty(*v).int_bits().unwrap_or(64)),
        Step::Convert(op, _) => weight(&Op::Cast(*op), bits),
        Step::Compute { how, at, .. } => {
            let narrow = f64::from(*at);
            let operation = match how {
                How::Binary(op) => weight(&Op::Binary(*op), *at),
                How::Distance { .. } => 3.0 * narrow,
                How::Offset { .. } => 2.0 * narrow,
                How::Freeze => 0.0,
                How::Extend => f64::from(bits),
                How::HighProduct { by, plus, .. } => {
                    let more = [by, plus].into_iter().filter(|n| **n > 0).count();
                    narrow * (1.0 + more as f64)
                }
                _ => narrow,
            };
            operation + if *at > bits { weight(&Op::Cast(CastOp::Trunc), *at) } else { 0.0 }
        }
    }
}

/// What an instruction costs.
pub(super) fn instruction_cost(func: &Function, inst: Inst) -> f64 {
    let data = &func.insts[inst];
    let bits = |v: Value| func.ty(v).int_bits().unwrap_or(64);
    let widest = data.args.iter().chain(&data.results).map(|&v| bits(v)).max().unwrap_or(0);
    weight(&data.op, widest)
}

/// What an operation on integers costs whose greatest one has so many bits.
fn weight(op: &Op, bits: u32) -> f64 {
    let factor = match op {
        // Packing takes the elements of each half of a register, so that these have to be put in order.
        Op::Cast(CastOp::Trunc) => 1.5,
        Op::Freeze => 0.0,
        // There are no products and shifts of bytes.
        Op::Binary(BinaryOp::Mul) if bits == 8 => 4.0,
        Op::Binary(BinaryOp::Shl | BinaryOp::LShr) if bits == 8 => 2.0,
        Op::Binary(BinaryOp::AShr) if bits == 8 => 4.0,
        Op::Binary(BinaryOp::Mul) if bits >= 32 => 2.0,
        Op::Binary(op) if op.is_int_division() => {
            if bits == 8 {
                8.0
            } else {
                3.0
            }
        }
        _ => 1.0,
    };
    factor * f64::from(bits)
}

/// Whether an instruction computes one integer of integers, and nothing else.
pub(super) fn is_computation(module: &Module, func: &Function, inst: Inst) -> bool {
    let data = &func.insts[inst];
    let integers = data.args.iter().chain(&data.results).all(|&v| matches!(func.ty(v), Type::Int(1..=64)));
    integers
        && data.results.len() == 1
        && match data.op {
            Op::Binary(_) | Op::Select | Op::ICmp(_) | Op::Cast(_) | Op::Freeze => true,
            Op::Call(_) => intrinsics::called(module, func, data).is_some(),
            _ => false,
        }
}

/// All ones in so many bits.
pub(crate) fn mask(bits: u32) -> u128 {
    u128::MAX >> (128 - bits)
}
