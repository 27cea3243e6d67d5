//! What the scalar program takes for one index or one iteration, to be compared with a lane of the vector program.
//!
//! The function is looked at in normal form, before it is linearized: its branches are taken or not, so that a block
//! counts as often as control is expected there. Weights of edges (profiles, `__builtin_expect`) say how often, else
//! both sides of a branch are as likely. What is the same in all lanes and outside inner loops is computed once for
//! all indices and costs nothing. A branch that asks what lanes differ in is guessed wrongly now and then, unless it
//! asks for the index itself.
//!
//! Like the estimate for vectors, an iteration of a loop takes as long as the longest of these: the busiest unit, the
//! chain from iteration to iteration, and its part of the longest path within.

use warpline_analysis::{CycleForest, CycleId, DfsOrder, Node};

use warpline_ir::{
    BinaryOp, Block, CastOp, Combine, Constant, Effects, Function, Inst, LaneOp, Module, Op, Type, Value,
};
use warpline_target::Op as Costly;
use warpline_uniformity::Uniformity;
use warpline_uniformity::shape::Shape;

use super::bodies::Bodies;
use super::chains::{self, Chained};
use super::frequency::{Frequencies, by_weights};
use super::work::{CALL_OF_BODY, SHORT, UPDATE, Work, divides_by_constant, in_scalar, update};
use super::{BEGIN, Machine, element_of, trips};
use crate::known_calls::{has_cheap_vector_form, is_annotation};
use crate::pipeline::Linearized;

/// A processor has begun with the next execution of a loop before this one has ended, if both fit into its window.
const OVERLAP: f64 = 0.5;
/// Operations of an instruction that is kept as it is.
const OPAQUE: f64 = 4.0;
/// Operations of a division of integers by a constant.
const DIVISION_BY_CONSTANT: f64 = 5.0;
/// Operations of the loop that the program is an iteration of: a step, and a comparison with a branch.
const LOOP: f64 = 2.0;
/// The part of what functions of the C library take on average that its exponential functions take.
const EXPONENTIAL: f64 = 0.5;
/// No branch of which nothing is known is guessed wrongly more often than this: processors of today know by heart what
/// a few thousand iterations did before, and most data are not random.
const SURPRISES: f64 = 0.03;
/// A branch that decides whether two elements change places is guessed wrongly this often: what is sorted is not in
/// order, or else nobody would sort it.
const SURPRISES_OF_EXCHANGES: f64 = 0.3;
/// So many instructions lie between a comparison of elements and the branch at most.
const MOST_CONDITIONS: usize = 8;
/// A divergent loop ends with a wrong guess this often.
const LAST_SURPRISES: f64 = 0.5;

/// The cycles of one index or iteration; `carried` are those that each waits for the one before.
pub(super) fn cycles(module: &Module, machine: &Machine, linearized: &Linearized, carried: f64) -> f64 {
    let func = &linearized.scalar;
    let (graph, _) = func.graph();
    let loops = CycleForest::compute(&graph);
    let order: Vec<Block> = DfsOrder::compute(&graph).reverse_post_order().map(Block::from).collect();
    let trips = trips::of_all(func, &loops, &order);
    let bodies = Bodies::of(module, func);
    let uniformity = &linearized.uniformity;
    let scalar = Scalar { module, machine, func, bodies, uniformity, loops, trips };
    scalar.total(&order).max(carried)
}

/// Whether a function of the C library, or the intrinsic for it, is `exp` or of that kind.
fn is_exponential(name: &str) -> bool {
    let name = name.strip_prefix("llvm.").unwrap_or(name);
    ["exp", "exp2", "expf", "exp2f"].contains(&name.split('.').next().unwrap_or(name))
}

struct Scalar<'a> {
    module: &'a Module,
    machine: &'a Machine,
    func: &'a Function,
    bodies: Bodies,
    uniformity: &'a Uniformity,
    loops: CycleForest,
    /// The iterations of each loop.
    trips: Vec<f64>,
}

impl Scalar<'_> {
    fn total(&self, order: &[Block]) -> f64 {
        let Scalar { func, machine, loops, .. } = self;
        let frequencies = Frequencies { func, cycles: loops, trips: &self.trips, order };
        let frequency = frequencies.of_blocks(|e, among| by_weights(func, e, among));
        let mut work = vec![Work::default(); loops.len() + 1];
        let mut lost = vec![0.0; loops.len() + 1];
        for &b in order {
            let own = loops.innermost(Node::from(b));
            let k = own.map_or(loops.len(), CycleId::index);
            let costs = |i: &Inst| own.is_some() || (self.is_by_lane(*i) && !self.is_stepped(*i));
            for i in func.blocks[b].insts.iter().copied().filter(costs) {
                work[k].add(self.work_of(i).times(frequency[b]));
            }
            lost[k] += frequency[b] * self.lost(b);
        }
        work[loops.len()].add(Work::scalar(LOOP));
        let latency = |i| chains::latency(machine, func, i, 0.0, |_| false);
        let chained = Chained { func, cycles: loops, order, latency };
        let rates = machine.scalar_rates();
        let mut total = 0.0;
        for (k, work) in work.iter().enumerate() {
            let own = loops.cycles().nth(k);
            let times = own.map_or(1.0, |c| frequency[Block::from(loops.header(c))]);
            let each = work.operations() / f64::max(times, 1e-9);
            // Of a short loop, several executions are under way at once.
            let trips = own.map_or(1.0, |c| self.trips[c.index()]);
            let alone = (trips * each / (OVERLAP * machine.window())).min(1.0);
            let chain = own.map_or(0.0, |c| chained.of_loop(c)) * alone;
            let path = chained.of_blocks(own) * (each / machine.window()).min(1.0);
            let begin = if own.is_some() { BEGIN } else { 0.0 };
            total += work.cycles(rates).max(chain.max(path).max(begin) * times) + lost[k];
        }
        total
    }

    /// Whether an instruction outside inner loops is executed for each index: what all share is computed before.
    fn is_by_lane(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        data.result().is_none_or(|v| self.uniformity.is_divergent(v))
            || data.args.iter().any(|&a| self.uniformity.is_divergent(a))
            || data.effects().intersects(Effects::WRITES | Effects::UNKNOWN_RESULT)
    }

    /// Whether an instruction computes with the index, or what is as regular: that is stepped, or part of the addresses
    /// of loads and stores. The test for the end of the loop is not asked here.
    fn is_stepped(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        if matches!(data.op, Op::ICmp(_)) {
            return data.result().is_some_and(|test| !self.is_used(test));
        }
        let is_sum = match data.op {
            Op::Binary(op) => !op.is_int_division(),
            Op::Cast(_) | Op::Gep(_) => true,
            _ => false,
        };
        let regular = |&v: &Value| {
            let ty = self.func.ty(v);
            (ty.is_int() || ty.is_ptr()) && !matches!(self.uniformity.shape(v), Shape::Varying)
        };
        is_sum && data.args.iter().chain(&data.results).all(regular)
    }

    fn is_used(&self, v: Value) -> bool {
        let func = self.func;
        let uses = |i: Inst| func.insts[i].args.contains(&v);
        let passes = |b: Block| func.out_edges(b).iter().any(|&e| func.edges[e].args.contains(&v));
        func.layout.iter().any(|&b| passes(b) || func.block_insts(b).any(uses))
    }

    /// Whether a conversion takes nothing: it only looks at fewer bits, the upper ones are zero anyway, or a load does
    /// it.
    fn is_nothing(&self, cast: CastOp, i: Inst) -> bool {
        let data = &self.func.insts[i];
        let of_load = |&v: &Value| {
            self.func.def_inst(v).is_some_and(|load| matches!(self.func.insts[load].op, Op::Load(_)))
        };
        match cast {
            CastOp::Trunc | CastOp::PtrToInt | CastOp::IntToPtr => true,
            CastOp::ZExt | CastOp::SExt if data.args.iter().all(of_load) => true,
            CastOp::ZExt => data.args.iter().all(|&v| self.func.ty(v) == Type::Int(32)),
            _ => false,
        }
    }

    /// Cycles that the branch at the end of a block loses by wrong guesses.
    fn lost(&self, b: Block) -> f64 {
        let func = self.func;
        let term = &func.insts[func.terminator(b)];
        let (Op::CondBr | Op::Switch { .. }, Some(&asked)) = (&term.op, term.args.first()) else {
            return 0.0;
        };
        if !self.uniformity.is_divergent(asked) || self.asks_for_index(asked) {
            return 0.0;
        }
        let own = self.loops.innermost(Node::from(b));
        let leaves = own.is_some_and(|c| func.successors(b).any(|s| !self.loops.contains(c, Node::from(s))));
        if leaves {
            return self.machine.misprediction() * LAST_SURPRISES
                / own.map_or(1.0, |c| self.trips[c.index()]);
        }
        let edges = func.out_edges(b);
        let least = edges.iter().map(|&e| by_weights(func, e, edges)).fold(1.0, f64::min);
        let surprises = if self.exchanges(b, asked) { SURPRISES_OF_EXCHANGES } else { SURPRISES };
        self.machine.misprediction() * least.min(surprises)
    }

    /// Whether the branch at the end of a block decides whether two elements change places that it compares.
    fn exchanges(&self, b: Block, asked: Value) -> bool {
        let func = self.func;
        let load = |v: Value| {
            let data = &func.insts[func.def_inst(v)?];
            matches!(data.op, Op::Load(_)).then(|| (v, data.args[0]))
        };
        let (mut work, mut left) = (vec![asked], MOST_CONDITIONS);
        while let Some(data) = work.pop().and_then(|v| func.def_inst(v)).map(|i| &func.insts[i]) {
            if left == 0 {
                return false;
            }
            left -= 1;
            if let (Op::ICmp(_) | Op::FCmp(_), Some((x, of_x)), Some((y, of_y))) =
                (&data.op, data.args.first().and_then(|&v| load(v)), data.args.get(1).and_then(|&v| load(v)))
            {
                let moves = |i: Inst| {
                    let data = &func.insts[i];
                    matches!(data.op, Op::Store(_))
                        && ([x, of_y] == data.args[..2] || [y, of_x] == data.args[..2])
                };
                return func.successors(b).any(|s| func.block_insts(s).any(moves));
            }
            if matches!(data.op, Op::ICmp(_) | Op::Binary(_) | Op::Cast(_)) {
                work.extend(data.args.iter().copied());
            }
        }
        false
    }

    /// Whether a condition compares the index, or what is as regular, with something that is the same for all.
    fn asks_for_index(&self, asked: Value) -> bool {
        let test = self.func.def_inst(asked).map(|i| &self.func.insts[i]);
        let regular = |v| !matches!(self.uniformity.shape(v), Shape::Varying);
        test.is_some_and(|test| matches!(test.op, Op::ICmp(_)) && test.args.iter().all(|&a| regular(a)))
    }

    /// Whether an instruction is there for groups of lanes alone: it combines them, asks for the first one, or combines
    /// with what changes nothing where another lane's state would be.
    fn is_of_groups(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        let ty = data.result().map_or(Type::Void, |v| self.func.ty(v));
        let neutral = |combine: Combine| {
            let neutral = Constant::number(ty, combine.neutral(ty));
            data.args.iter().any(|&a| self.func.constant(a) == Some(&neutral))
        };
        match data.op {
            Op::Lane(LaneOp::Reduce(_)) => true,
            Op::Binary(BinaryOp::FAdd) => neutral(Combine::Add),
            Op::Binary(BinaryOp::FMul) => neutral(Combine::Mul),
            Op::ICmp(_) => self.asks_for_lane(i),
            Op::Select => self.func.def_inst(data.args[0]).is_some_and(|asked| self.asks_for_lane(asked)),
            _ => false,
        }
    }

    /// Whether it compares the number of the lane with a constant.
    fn asks_for_lane(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        let lane = |&v: &Value| {
            self.func.def_inst(v).is_some_and(|i| self.func.insts[i].op == Op::Lane(LaneOp::LaneIndex))
        };
        let number = |&v: &Value| self.func.constant(v).is_some();
        matches!(data.op, Op::ICmp(_)) && data.args.iter().any(lane) && data.args.iter().any(number)
    }

    /// What one execution of an instruction costs.
    fn work_of(&self, i: Inst) -> Work {
        let data = &self.func.insts[i];
        let ty = data.result().map_or(Type::Void, |v| self.func.ty(v));
        let element = element_of(ty);
        match &data.op {
            Op::Call(_) if is_annotation(self.module, data) => Work::default(),
            _ if self.is_of_groups(i) => Work::default(),
            Op::Cast(cast) if self.is_nothing(*cast, i) => Work::default(),
            Op::Load(_) => Work::of_loads(1.0),
            Op::Store(_) => Work::of_stores(1.0),
            Op::Binary(_) if divides_by_constant(self.func, i) => Work::scalar(DIVISION_BY_CONSTANT),
            Op::Binary(op) if op.is_int_division() => {
                Work::scalar(in_scalar(self.machine, Costly::Divide, element))
            }
            Op::Binary(BinaryOp::FDiv) => Work::vector(in_scalar(self.machine, Costly::Divide, element)),
            Op::Binary(BinaryOp::FRem) => Work::scalar(in_scalar(self.machine, Costly::Remainder, element)),
            Op::Binary(BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul) | Op::FNeg | Op::FCmp(_) => {
                Work::vector(1.0)
            }
            Op::Call(info) => {
                let name = info.callee.map_or("", |s| &self.module.symbols[s].name);
                match has_cheap_vector_form(name, ty) {
                    Some(true) if name.contains("sqrt") => {
                        Work::vector(in_scalar(self.machine, Costly::Divide, element))
                    }
                    Some(true) => Work::scalar(SHORT),
                    // A call of the C library's mathematics.
                    Some(false) => {
                        let share = if is_exponential(name) { EXPONENTIAL } else { 1.0 };
                        Work::scalar(share * in_scalar(self.machine, Costly::Mathematics, element))
                    }
                    None if name.starts_with("llvm.") => Work::scalar(1.0),
                    None => {
                        let call = in_scalar(self.machine, Costly::Call, element);
                        Work::scalar(self.bodies.size(info.callee).map_or(call, |size| size + CALL_OF_BODY))
                    }
                }
            }
            Op::Opaque(info) => Work::scalar(update(info, UPDATE).unwrap_or(OPAQUE)),
            Op::Phi | Op::Alloca { .. } | Op::Freeze | Op::Lane(LaneOp::LaneIndex) => Work::default(),
            // Addresses are part of loads and stores.
            Op::Gep(_) | Op::Br | Op::Ret => Work::default(),
            _ => Work::scalar(1.0),
        }
    }
}
