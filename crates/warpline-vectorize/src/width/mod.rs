//! How many lanes suit a kernel on a processor.
//!
//! The lane program is looked at loop by loop. One iteration takes as long as the longest of these: the busiest of
//! the processor's units (`work`); the chain of dependent operations that iterations hand on (`chains`), which more
//! lanes do not make longer; and the longest chain within an iteration, if that has more operations than a processor
//! can look ahead. To the former belongs what does not fit into the vector registers (`pressure`) and is stored and
//! loaded again. What a group of lanes takes in all, divided by the number of lanes, is compared for each power of
//! two; among widths that come close to the best one the least is chosen, since the last group of a range is partial.
//!
//! A range of indices and a loop that is the unit are begun again and again, so that their last group counts for what
//! it is: on average, half of it is there. Where one group of all lanes for that takes longer than several smaller
//! ones and a partial one of these, it is made so. Both have their sums of indices computed beforehand or in the
//! addresses of loads and stores.
//!
//! So kernels on bytes get more lanes than kernels on `double`, kernels that wait for chains get several registers'
//! worth, and kernels with many live values do not.

mod bodies;
mod burdens;
mod cause;
mod chains;
pub(crate) mod frequency;
mod grouped;
mod pressure;
mod reason;
mod remainder;
pub mod remarks;
mod scalar;
mod streams;
#[cfg(test)]
mod tests;
mod trips;
mod work;

use cranelift_entity::SecondaryMap;
use warpline_analysis::{CycleForest, CycleId, DfsOrder, Node};
use warpline_dataflow::linear::addition;

use warpline_ir::{Block, Edge, Function, Inst, LaneOp, Module, Op, Type, Value};
use warpline_uniformity::shape::ArgShape;

use super::boscc::chance::of_nobody_by;
use super::choices::MAX_WIDTH;
use super::driver::Tail;
use super::elements::element_of;
use super::loops::Iteration;
use super::options::Options;
use super::pipeline::{Linearized, linearize_kernel};
use super::recipes::{Plan, Prepared, Recipe, Rep};

use bodies::Bodies;
use chains::Chained;
use frequency::{Frequencies, by_weights};
use grouped::Grouped;
use work::Work;

pub use burdens::{Burden, What};
pub use reason::{Choice, Reason};
use remarks::Remark;
pub use warpline_target::Machine;

/// Functions of more instructions get as many lanes as fill a register.
const MAX_INSTS: usize = 5_000;

/// Iterations of a loop of which nothing is known.
const TRIPS: f64 = 16.0;
/// What part of its window a processor uses where branches ask masks: what is behind one that was guessed wrongly has
/// to be begun again.
const WINDOW_OF_GUESSES: f64 = 100.0 / 320.0;
/// Loops of no more iterations end so soon that the processor has begun with the next group of lanes before: no chain
/// makes it wait.
const FEW_TRIPS: u32 = 8;
/// Loops deeper than this count as if they were as deep.
const MAX_DEPTH: usize = 6;
/// How likely it is that a mask that is asked has a lane.
const SOMEBODY: f64 = 0.75;
/// Cycles that an iteration takes to begin, and a group of lanes.
const BEGIN: f64 = 1.0;
/// How often a branch that asks a mask is mispredicted.
const GUESS: f64 = 0.2;
/// How much longer lanes wait for each other in a loop that they leave apart, each time that their number doubles.
const WAIT: f64 = 0.06;

/// The same where lanes also wait for others to come to where they are.
const COHERENT_WAIT: f64 = 0.3;
/// Iterations of a loop that is the unit, if they are not known.
const UNIT_TRIPS: f64 = 1024.0;
/// Vectors must be expected to be faster by this factor: what they gain less is easily lost again.
const MARGIN: f64 = 1.1;
/// How many times as long as from the nearest cache a gather may take, to be prepared for.
const LONG_GATHER: f64 = 2.5;
/// By how much lanes that leave loops apart take longer than the estimate for widths says, which is about lanes that
/// see similar data: between 1 and 4 times on random data.
const APART: f64 = 2.0;
/// How much longer it takes to end a search in all lanes than in one, each time that their number doubles: with
/// divisors of random numbers, 4 to 8 times as long for 8 to 32 lanes.
const SEARCH: f64 = 1.0;
/// By how much scalar code that holds values is faster than expected: branches by which few values take another's place
/// are foreseen, and choices overlap. 1.8 and 3.5 times measured on Zen 1.
const HOLDS: f64 = 1.6;
/// What is done before the first group and after the last one.
const BEFORE_GROUPS: f64 = 30.0;
/// A width is as good as the best one if it takes at most so many times as long: of these the least is taken, or more
/// where groups [wait](Program::filling).
const CLOSE: f64 = 1.04;

/// With so many vector registers, functions that are expanded inline are computed in so many registers at a time.
const MANY_REGISTERS: u32 = 32;
const EXPANDED: u32 = 4;

/// Of so many kinds and places reports say what they cost.
const BURDENS: usize = 16;

/// How many lanes at once, and how many for what no whole group is left for.
#[derive(Clone, PartialEq, Debug)]
pub struct Widths {
    /// The number of lanes.
    pub lanes: u32,
    /// In groups of how many what is left over is executed: a divisor of that number.
    pub epilogue: u32,
    /// What executes what no group at all is left for.
    pub tail: Tail,
    /// At a multiple of how many bytes whole groups should begin to [store](super::driver::make_prologue); 0 for
    /// anywhere.
    pub prologue: u64,
    /// With fewer indices or iterations than these the scalar program is expected to take less time.
    pub least: u32,
    /// Why so many lanes, if that was not given.
    pub chosen: Option<Choice>,
    /// What it is expected to take, if the lane program is known and small enough to be looked at.
    pub estimate: Option<Estimate>,
    /// What the time is spent on, if that is asked for and the lane program can be looked at.
    pub remarks: Vec<Remark>,
}

/// What one index or iteration is expected to take, in cycles.
#[derive(Clone, PartialEq, Debug)]
pub struct Estimate {
    /// In the scalar program, where that can take the vector program's place.
    pub scalar: Option<f64>,
    /// In the vector program: what all lanes take, divided by their number.
    pub vector: f64,
    /// What most of that is spent on.
    pub burdens: Vec<Burden>,
}

impl Estimate {
    /// Whether the scalar program is expected to take less time, or no more than the estimate is worth.
    #[must_use]
    pub fn scalar_wins(&self) -> bool {
        self.scalar.is_some_and(|scalar| scalar < self.vector * MARGIN)
    }
}

/// The number of lanes for a function with parameters of these shapes, unless that is given, and for what is left
/// over of a range. The width in `options` is not looked at.
#[must_use]
pub fn of_kernel(
    module: &Module,
    func: &Function,
    options: &Options<'_>,
    machine: &Machine,
    lanes: Option<u32>,
) -> Widths {
    of_rows(module, func, options, machine, (lanes, MAX_WIDTH))
}

/// The number of lanes for a kernel that runs over rows, unless that is given: not more than `most`, since rows are not
/// expected to be longer.
#[must_use]
pub fn of_rows(
    module: &Module,
    func: &Function,
    options: &Options<'_>,
    machine: &Machine,
    (lanes, most): (Option<u32>, u32),
) -> Widths {
    let greatest = greatest(func, &options.args, machine).min(most);
    settle((module, func), Grouped::of_kernel(module, func, options), greatest, options, machine, lanes)
}

/// The number of lanes for an iteration of a loop, unless that is given, and for those that are left over.
#[must_use]
pub fn of_iteration(
    module: &Module,
    iteration: &Iteration,
    options: &Options<'_>,
    machine: &Machine,
    lanes: Option<u32>,
) -> Widths {
    let Iteration { rounds, divisible, asks, .. } = *iteration;
    let visits = trips::by_header(iteration.region().func).get(&iteration.header).copied();
    let expected = visits.map(|visits| if iteration.tested_first { visits - 1.0 } else { visits });
    let (carried, chain) = chains::of_combined(machine, &iteration.combined);
    let in_order = chains::longest(machine, &iteration.ordered);
    let carried = carried.max(in_order);
    let combine = chains::of_combining(machine, &iteration.combined, iteration.selects);
    let holds = iteration.holds;
    let grouped = Grouped { rounds, expected, divisible, asks, holds, carried, chain, in_order, combine };
    let (args, name, region) = (iteration.args.clone(), options.name.clone(), iteration.region());
    let (contract, pieces) = (iteration.contract, &iteration.pieces);
    let Iteration { sums, known, origins, .. } = iteration;
    let options =
        Options { args, name, contract, pieces, sums, known, origins, region: Some(&region), ..*options };
    let most = iteration.most.map_or(MAX_WIDTH, |most| power_of_two(most).min(MAX_WIDTH));
    // An iteration is called by nothing but what is made here.
    settle((module, &iteration.func), Some(grouped), most, &options, machine, lanes)
}

fn settle(
    (module, func): (&Module, &Function),
    grouped: Option<Grouped>,
    greatest: u32,
    options: &Options<'_>,
    machine: &Machine,
    given: Option<u32>,
) -> Widths {
    let may_divide =
        |lanes: u32| grouped.is_some_and(|g| g.divisible) && lanes.is_power_of_two() && lanes <= MAX_WIDTH;
    let fixed = given.filter(|&lanes| !may_divide(lanes));
    if let Some(lanes) = fixed.filter(|_| !options.remarks) {
        return Widths::of_one_group(lanes, None);
    }
    let Some((linearized, plans)) = study(module, func, options, machine, fixed) else {
        let chosen = by_types(func, machine);
        let lanes = given.unwrap_or(chosen.lanes.min(greatest));
        return Widths::of_one_group(lanes, given.is_none().then_some(chosen));
    };
    let greatest = linearized.dependences.lanes.map_or(greatest, |most| greatest.min(power_of_two(most)));
    let replaceable = grouped.filter(|grouped| !grouped.asks);
    let scalar = replaceable.map(|grouped| scalar::cycles(module, machine, &linearized, grouped.carried));
    let mut program = Program::new(module, &linearized, &plans, machine, grouped);
    program.scalar = scalar;
    if let Some(lanes) = fixed {
        program.expect_groups_of(lanes);
        let cycles = program.time(machine, lanes) / f64::from(lanes.max(1));
        let remarks = remarks::of_program(&program, &linearized, machine, (lanes, cycles));
        return Widths { remarks, ..Widths::of_one_group(lanes, None) };
    }
    let chosen = given.is_none().then(|| program.choose(machine, greatest));
    let lanes = given.or(chosen.map(|c| c.lanes)).unwrap_or(1);
    let remainder = program.remainder(machine, lanes);
    let least = scalar.map_or(0, |scalar| program.least(machine, lanes, &remainder, scalar));
    let aligned = may_divide(lanes) && program.crosses_lines(machine) && program.streams(machine, lanes);
    let estimate = lanes.is_power_of_two().then(|| {
        program.expect_branches(machine, lanes);
        Estimate {
            scalar,
            vector: program.time_of_lane(machine, lanes)
                * if program.apart.contains(&true) { APART } else { 1.0 }
                * if grouped.is_some_and(|g| g.holds) { HOLDS } else { 1.0 }
                * if searches(&linearized) { 1.0 + SEARCH * f64::from(lanes.ilog2()) } else { 1.0 },
            burdens: burdens::heaviest(&program, machine, lanes, BURDENS),
        }
    });
    log::debug!("{}: with {lanes} lanes: {estimate:.2?}", func.name);
    let remarks = estimate.as_ref().filter(|_| options.remarks).map_or_else(Vec::new, |estimate| {
        remarks::of_program(&program, &linearized, machine, (lanes, estimate.vector))
    });
    Widths {
        lanes,
        epilogue: remainder.lanes,
        tail: if aligned { Tail::Masked } else { remainder.tail },
        prologue: if aligned { u64::from(machine.register_bits / 8) } else { 0 },
        least,
        chosen,
        estimate,
        remarks,
    }
}

/// Whether there is a loop that counts and that each lane leaves at one of several places for itself: a search that
/// mostly ends long before its last iteration, where all lanes wait for the one that goes on to the end. Ways through
/// trees, which do not count, are about as long as each other.
fn searches(linearized: &Linearized) -> bool {
    let (func, uniformity) = (&linearized.scalar, &linearized.uniformity);
    let left_at =
        |c: CycleId, b: Block| func.successors(b).any(|s| uniformity.is_left_apart_between(c, b, s));
    let exits = |c: CycleId| func.layout.iter().filter(|&&b| left_at(c, b)).count();
    uniformity.left_apart().any(|c| exits(c) > 1 && counts(func, uniformity.cycles(), c))
}

/// Whether something grows by a constant in each iteration of a loop.
fn counts(func: &Function, cycles: &CycleForest, cycle: CycleId) -> bool {
    let header = cycles.header(cycle);
    let block = &func.blocks[Block::from_u32(header.index() as u32)];
    let backs = block.preds.iter().map(|&e| &func.edges[e]);
    let backs: Vec<_> = backs.filter(|edge| cycles.contains(cycle, edge.from.into())).collect();
    block.phis.iter().enumerate().any(|(k, &phi)| {
        let phi = func.insts[phi].results[0];
        backs.iter().any(|edge| addition(func, edge.args[k]).is_some_and(|(of, ..)| of == phi))
    })
}

/// The greatest power of two that is not greater than a number.
fn power_of_two(n: u32) -> u32 {
    1 << n.max(1).ilog2()
}

/// What depends on the width a little, as a private layout, tests for speed and groups of accesses do, is taken for
/// all widths as it is for this one.
fn middling(machine: &Machine) -> u32 {
    (machine.register_bits / 32).max(2)
}

/// The lane program that the estimate is made of, unless it is too large or there is none, and plans for as many lanes
/// as each power of two and one other number.
fn study(
    module: &Module,
    func: &Function,
    options: &Options<'_>,
    machine: &Machine,
    also: Option<u32>,
) -> Option<(Linearized, Vec<Plan>)> {
    let insts: usize = func.layout.iter().map(|&b| func.blocks[b].insts.len()).sum();
    if insts > MAX_INSTS {
        return None;
    }
    let width = middling(machine);
    let (args, name) = (options.args.clone(), options.name.clone());
    let asked = Options { width, args, name, machine: *machine, ..*options };
    let linearized = linearize_kernel(module, func, &asked).ok()?;
    let input = linearized.input();
    let prepared = Prepared::of(module, &input, &asked);
    let plan = |width: u32| {
        let (args, name) = (Vec::new(), asked.name.clone());
        Plan::make(module, &input, &prepared, &Options { width, args, name, ..asked }).ok()
    };
    let powers = (0..=MAX_WIDTH.ilog2()).map(|k| 1 << k);
    let plans = powers
        .chain(also.filter(|lanes| !lanes.is_power_of_two()))
        .map(plan)
        .collect::<Option<Vec<Plan>>>()?;
    Some((linearized, plans))
}

/// As many lanes as fill a register.
fn by_types(func: &Function, machine: &Machine) -> Choice {
    // Integers that were not loaded are indices, as far as one can tell.
    let loaded = |i: Inst| matches!(func.insts[i].op, Op::Load(_));
    let element = |v: Value| func.ty(v).is_float() || func.def_inst(v).is_some_and(loaded);
    let element_bits = dominant_bits(func, |_| 1.0, element);
    Choice { lanes: fitting(machine, element_bits), element_bits, reason: Reason::ByType }
}

/// The greatest number of lanes: where no index makes a driver over a range, what varies is passed in vectors, for
/// which C has types as far as they fill one register.
fn greatest(func: &Function, args: &[ArgShape], machine: &Machine) -> u32 {
    if args.contains(&ArgShape::Index) {
        return MAX_WIDTH;
    }
    let varying = func.params.iter().zip(args).filter(|&(_, &shape)| shape == ArgShape::Varying);
    let types = varying.map(|(&p, _)| func.ty(p)).chain([func.ret]).filter(|ty| !ty.is_void());
    types.map(|ty| fitting(machine, element_bits(ty).max(8))).min().unwrap_or(MAX_WIDTH)
}

fn fitting(machine: &Machine, bits: u32) -> u32 {
    (machine.register_bits / bits).clamp(1, MAX_WIDTH)
}

/// The widest elements that a quarter of the work or more is done on: most of what varies is no wider, or waits for
/// these.
fn dominant_bits(func: &Function, weight: impl Fn(Block) -> f64, varies: impl Fn(Value) -> bool) -> u32 {
    const CLASSES: [u32; 4] = [8, 16, 32, 64];
    let mut sums = [0.0; CLASSES.len()];
    for &b in &func.layout {
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            let computes = matches!(
                data.op,
                Op::Binary(_)
                    | Op::FNeg
                    | Op::Select
                    | Op::Load(_)
                    | Op::Store(_)
                    | Op::Call(_)
                    | Op::FCmp(_)
                    | Op::ICmp(_)
            );
            let Some(&v) = data.results.first().filter(|&&v| func.ty(v) != Type::BOOL).or(data.args.first())
            else {
                continue;
            };
            if computes && varies(v) {
                let bits = element_bits(func.ty(v));
                let class = CLASSES.iter().position(|&c| bits <= c).unwrap_or(CLASSES.len() - 1);
                sums[class] += weight(b);
            }
        }
    }
    let total: f64 = sums.iter().sum();
    let mut wider = 0.0;
    for (class, sum) in sums.iter().enumerate().rev() {
        wider += sum;
        if total > 0.0 && wider >= total / 4.0 {
            return CLASSES[class];
        }
    }
    32
}

/// Bits of a lane's value in a vector register; a mask's are 1.
fn element_bits(ty: Type) -> u32 {
    match ty {
        Type::BOOL => 1,
        Type::Int(bits) => bits.next_power_of_two().max(8),
        Type::Float(kind) => kind.bits().next_power_of_two(),
        Type::Vector(v) => v.lanes.saturating_mul(element_bits(v.elem.into()).max(8)),
        _ => 64,
    }
}

/// A lane program as the estimate sees it.
struct Program<'a> {
    module: &'a Module,
    func: &'a Function,
    reps: &'a SecondaryMap<Value, Rep>,
    /// What becomes of each instruction on as many lanes as each power of two.
    plans: &'a [Plan],
    /// The functions that it calls and that are vectorized, too.
    bodies: Bodies,
    /// How it is executed by groups, if it is.
    grouped: Option<Grouped>,
    /// The cycles that the scalar program takes for an index, where it can take the place of a group.
    scalar: Option<f64>,
    element_bits: u32,
    mask_registers: bool,
    cycles: CycleForest,
    /// Its blocks in reverse post-order.
    order: Vec<Block>,
    /// The iterations of each loop.
    trips: Vec<f64>,
    /// How often each block is executed. To choose a width by, none is skipped: what may be live there counts, too.
    frequency: SecondaryMap<Block, f64>,
    /// Whether blocks count as often as they are expected to be executed, by groups of as many lanes as were looked at
    /// last.
    expects_branches: bool,
    /// Of each loop and, at the end, of the code outside all: whether few iterations are known to be all.
    few: Vec<bool>,
    /// Of each loop, whether lanes leave it one after the other.
    apart: Vec<bool>,
    /// Of each loop, the cycles that its iterations hand on.
    chains: Vec<f64>,
    /// Of each loop and, at the end, of the code outside all: the cycles of the longest chain in its own blocks.
    paths: Vec<f64>,
    /// The same: what lives at once.
    live: Vec<pressure::Live>,
    /// Whether lanes wait to go together.
    coherent: bool,
    /// The cycles of a group of as many lanes as each power of two.
    times: Vec<f64>,
}

impl<'a> Program<'a> {
    fn new(
        module: &'a Module,
        linearized: &'a Linearized,
        plans: &'a [Plan],
        machine: &Machine,
        grouped: Option<Grouped>,
    ) -> Program<'a> {
        let input = linearized.input();
        let func = input.func;
        let (graph, _) = func.graph();
        let cycles = CycleForest::compute(&graph);
        let mut program = Program {
            module,
            func,
            reps: &plans[0].reps,
            plans,
            bodies: Bodies::of(module, func),
            grouped,
            scalar: None,
            element_bits: 0,
            mask_registers: machine.mask_registers,
            order: DfsOrder::compute(&graph).reverse_post_order().map(Block::from).collect(),
            apart: vec![false; cycles.len()],
            trips: Vec::new(),
            frequency: SecondaryMap::with_default(0.0),
            expects_branches: false,
            few: Vec::new(),
            chains: Vec::new(),
            paths: Vec::new(),
            live: Vec::new(),
            coherent: linearized.program.counts.coherent > 0,
            times: Vec::new(),
            cycles,
        };
        let trips: Vec<Option<u32>> =
            program.cycles.cycles().map(|c| trips::of_loop(func, &program.cycles, c)).collect();
        program.few = trips.iter().map(|t| matches!(t, Some(0..=FEW_TRIPS))).chain([false]).collect();
        let weighed = trips::by_header(&linearized.scalar);
        let of_cycle = |c: CycleId| {
            let weighed = weighed.get(&Block::from(program.cycles.header(c))).copied();
            trips[c.index()].map(f64::from).or(weighed.map(trips::counted)).unwrap_or(TRIPS)
        };
        program.trips = program.cycles.cycles().map(of_cycle).collect();
        for &b in &program.order {
            let around = program.cycles.around(Node::from(b)).take(MAX_DEPTH);
            program.frequency[b] = around.map(|c| program.trips[c.index()]).product();
        }
        program.expects_branches = program.knows_chances();
        program.expect_groups_of(middling(machine));
        for &b in &func.layout {
            if let Some(c) = program.left_apart_behind(b) {
                program.apart[c.index()] = true;
            }
        }
        let varies = |v: Value| program.varies(v);
        let weight = |b: Block| program.frequency[b];
        let element_bits = dominant_bits(func, weight, varies);
        let live = pressure::of_loops(func, &program.cycles, varies);
        (program.element_bits, program.live) = (element_bits, live);
        (program.chains, program.paths) =
            (program.loop_chains(machine), program.longest_paths(machine, LONG_GATHER));
        program.time_up_to(machine, MAX_WIDTH);
        program
    }

    fn varies(&self, v: Value) -> bool {
        self.reps[v] == Rep::Varying && self.func.constant(v).is_none()
    }

    /// The plan for so many lanes.
    fn plan(&self, width: u32) -> &'a Plan {
        let next_smaller = || &self.plans[width.ilog2() as usize];
        self.plans.iter().find(|plan| plan.width == width).unwrap_or_else(next_smaller)
    }

    /// Bits of a lane's value in vector registers.
    fn bits(&self, v: Value) -> u32 {
        self.register_bits(element_bits(self.func.ty(v)))
    }

    /// The same for elements of so many bits: masks are as wide as what they blend, or have registers of their own.
    fn register_bits(&self, bits: u32) -> u32 {
        match bits {
            1 if self.mask_registers => 0,
            1 => self.element_bits,
            _ => bits,
        }
    }

    fn choose(&self, machine: &Machine, greatest: u32) -> Choice {
        let one = fitting(machine, self.element_bits);
        // Where it makes no difference, there is at least something to gain from lanes.
        let least = (machine.register_bits / 64).clamp(1, greatest).ilog2();
        let widths = (least..=greatest.ilog2()).map(|k| 1 << k);
        let times: Vec<(u32, f64)> = widths.map(|w| (w, self.time_of_lane(machine, w))).collect();
        log::debug!("{}: cycles by lane for each width: {times:.2?}", self.func.name);
        let best = times.iter().map(|&(_, t)| t).fold(f64::INFINITY, f64::min);
        let close = |&&(_, t): &&(u32, f64)| t <= best * CLOSE;
        let fewest = times.iter().find(close).map_or(one, |&(w, _)| w);
        let most = self.filling(machine, fewest, one);
        let filling = times.iter().rev().find(|&&(w, _)| w <= most).filter(close);
        let lanes = filling.map_or(fewest, |&(w, _)| w).max(fewest);
        let line = (machine.line_bits() / self.element_bits).max(one).min(greatest);
        let lines = (line * self.lines()).min(greatest);
        // More lanes are more accumulators, where groups combine something.
        let combines = self.grouped.is_some_and(|g| g.chain > 0.0);
        let fit = lines > line && times.iter().filter(close).any(|&(w, _)| w == lines);
        if (lanes > lines && !combines && self.streams(machine, line)) || (fit && lanes < lines) {
            return Choice { lanes: lines, element_bits: self.element_bits, reason: Reason::Line };
        }
        let reason = match lanes.cmp(&one) {
            std::cmp::Ordering::Equal => Reason::OneRegister,
            std::cmp::Ordering::Greater => {
                let outer = self.grouped.map_or(0.0, |grouped| grouped.waits(lanes));
                Reason::Chain(self.chains.iter().fold(outer, |a: f64, &b| a.max(b)).round() as u32)
            }
            std::cmp::Ordering::Less => Reason::Fewer,
        };
        Choice { lanes, element_bits: self.element_bits, reason }
    }

    /// How many lanes fill the time in which a group of the fewest good ones mostly waits, longer than the estimate
    /// says: for lanes that leave loops apart, whose last iterations are guessed wrongly, for what groups combine, or
    /// for functions that are expanded inline in every group, which are longer chains than they count for. Twice as
    /// many fill that time, and where there are registers enough, several registers' worth of such functions; where
    /// few lanes need such a function, they mostly need more registers.
    fn filling(&self, machine: &Machine, fewest: u32, one: u32) -> u32 {
        let plan = self.plan(fewest);
        let is_expanded =
            |i: Inst| matches!(plan.recipe(i), Recipe::Inline(_) | Recipe::Exact(_)) && !self.is_masked(i);
        let mut insts = self.func.layout.iter().flat_map(|&b| &self.func.blocks[b].insts);
        // What is combined is kept in registers, besides what is combined with it.
        let fits = machine.filled(self.element_bits, 2 * fewest) <= machine.registers / 2;
        let combines = fits && self.grouped.is_some_and(|g| g.chain > 0.0);
        match combines || self.apart.contains(&true) {
            // Registers of 128 bits are too few: what they cannot hold waits for memory.
            _ if machine.register_bits <= 128 => fewest,
            true => 2 * fewest,
            false if !insts.any(|&i| is_expanded(i)) => fewest,
            false if machine.registers >= MANY_REGISTERS => (2 * fewest).max(EXPANDED * one),
            false => 2 * fewest,
        }
    }

    /// Computes the cycles of a group of so many lanes.
    fn time(&self, machine: &Machine, width: u32) -> f64 {
        let mut work = vec![Work::default(); self.cycles.len() + 1];
        let mut guesses = vec![0.0; self.cycles.len() + 1];
        for &b in &self.func.layout {
            let own = self.cycles.innermost(Node::from(b));
            let k = own.map_or(self.cycles.len(), CycleId::index);
            let times = self.frequency[b] / self.rounds(own);
            for &i in &self.func.blocks[b].insts {
                if own.is_some() || !self.is_free(i) {
                    work[k].add(self.work_of(machine, width, i).times(times));
                }
            }
            if self.has_cross_lane_operations(b) && self.left_apart_behind(b).is_none() {
                guesses[k] += GUESS * machine.misprediction() * times;
            }
        }
        let asks = self.func.layout.iter().any(|&b| self.has_cross_lane_operations(b));
        let window = machine.window() * if asks { WINDOW_OF_GUESSES } else { 1.0 };
        let rates = machine.rates();
        let mut total = 0.0;
        for (k, work) in work.iter_mut().enumerate() {
            let cycle = self.cycles.cycles().nth(k);
            let live = self.live[k].registers(machine, width, |bits| self.register_bits(bits));
            work.spill(live, machine.registers);
            if self.few[k] {
                // The loop is unrolled, and what all lanes share computed beforehand.
                work.scalar = 0.0;
            }
            let chain = cycle.map_or(0.0, |c| self.chains[c.index()]);
            // What does not fit into the window waits for the longest chain; what does, for its part of it.
            let path = self.paths[k] * (work.operations() / window).min(1.0);
            let once = chain.max(path).max(work.cycles(rates)) + BEGIN + guesses[k];
            let mut around = std::iter::successors(cycle, |&c| self.cycles.parent(c));
            let waits = around.any(|c| self.apart[c.index()]);
            let share = if self.coherent { COHERENT_WAIT } else { WAIT };
            let wait = if waits { 1.0 + share * f64::from(width.ilog2()) } else { 1.0 };
            let times = self.rounds(cycle);
            total += once * wait * times;
        }
        total.max(self.grouped.map_or(0.0, |grouped| grouped.waits(width)))
    }

    /// Has blocks count as often as they are expected to be executed, since some are skipped, and gathers take what
    /// they mostly take. Groups of more lanes than these are not looked at again.
    fn expect_branches(&mut self, machine: &Machine, most: u32) {
        (self.expects_branches, self.paths) = (true, self.longest_paths(machine, 1.0));
        self.time_up_to(machine, most);
    }

    /// Has blocks count as often as groups of so many lanes are expected to execute them, if that counts at all.
    fn expect_groups_of(&mut self, width: u32) {
        if self.expects_branches {
            self.frequency = self.expected_frequencies(width);
        }
    }

    /// How often groups of so many lanes are expected to execute blocks.
    fn expected_frequencies(&self, width: u32) -> SecondaryMap<Block, f64> {
        let Program { func, cycles, trips, order, .. } = self;
        Frequencies { func, cycles, trips, order }.of_blocks(|e, among| self.chance(e, among, width))
    }

    /// Computes the cycles of groups of as many lanes as each power of two up to one.
    fn time_up_to(&mut self, machine: &Machine, most: u32) {
        let mut times = Vec::new();
        for width in (0..=most.ilog2()).map(|k| 1 << k) {
            self.expect_groups_of(width);
            times.push(self.time(machine, width));
        }
        self.times = times;
    }

    /// Its chains, if gathers take so many times as long as from the nearest cache.
    fn chained(&self, machine: &Machine, gather: f64) -> Chained<'_, impl Fn(Inst) -> f64> {
        let machine = *machine;
        let latency = move |i| chains::latency(&machine, self.func, i, gather, |v| self.varies(v));
        Chained { func: self.func, cycles: &self.cycles, order: &self.order, latency }
    }

    /// Of each loop, the cycles that its iterations hand on.
    fn loop_chains(&self, machine: &Machine) -> Vec<f64> {
        let chained = self.chained(machine, LONG_GATHER);
        let chain = |c: CycleId| if self.few[c.index()] { 0.0 } else { chained.of_loop(c) };
        self.cycles.cycles().map(chain).collect()
    }

    /// Of each loop and, at the end, of the code outside all: the longest chain in its own blocks.
    fn longest_paths(&self, machine: &Machine, gather: f64) -> Vec<f64> {
        let chained = self.chained(machine, gather);
        self.cycles.cycles().map(Some).chain([None]).map(|own| chained.of_blocks(own)).collect()
    }

    /// The loop that lanes leave one after the other by the branch at the end of a block.
    fn left_apart_behind(&self, b: Block) -> Option<CycleId> {
        let own = self.cycles.innermost(Node::from(b));
        let leaves = || self.func.successors(b).any(|s| self.cycles.innermost(Node::from(s)) != own);
        own.filter(|_| self.has_cross_lane_operations(b) && leaves())
    }

    /// How often a loop goes round; once for what is outside all.
    fn rounds(&self, cycle: Option<CycleId>) -> f64 {
        cycle.map_or(1.0, |c| self.frequency[Block::from(self.cycles.header(c))].max(f64::MIN_POSITIVE))
    }

    /// The chance of an edge among those of its block that stay in a loop, for so many lanes: where a mask is asked,
    /// some lane is mostly there.
    fn chance(&self, e: Edge, among: &[Edge], width: u32) -> f64 {
        let from = self.func.edges[e].from;
        match self.func.out_edges(from) {
            &[any, _] if among.len() == 2 && self.has_cross_lane_operations(from) => {
                let somebody = self.somebody(any, among, width).unwrap_or(SOMEBODY);
                if e == any { somebody } else { 1.0 - somebody }
            }
            _ => by_weights(self.func, e, among),
        }
    }

    /// The chance that some of so many lanes take the first edge of a branch that asks a mask, if that is known.
    fn somebody(&self, any: Edge, among: &[Edge], width: u32) -> Option<f64> {
        let takes = by_weights(self.func, any, among);
        of_nobody_by(takes, self.func.groups[any]?, width).map(|nobody| 1.0 - nobody)
    }

    /// Whether it is known of any branch that asks a mask how likely it is that some lane is there.
    fn knows_chances(&self) -> bool {
        let known = |&e: &Edge| self.func.groups[e].is_some();
        let knows =
            |&b: &Block| self.func.out_edges(b).iter().any(known) && self.has_cross_lane_operations(b);
        self.func.layout.iter().any(knows)
    }

    /// Cycles of a group of so many lanes, a power of two.
    fn time_of_group(&self, width: u32) -> f64 {
        self.times[width.ilog2() as usize]
    }

    /// Cycles of a lane.
    fn time_of_lane(&self, machine: &Machine, width: u32) -> f64 {
        let lanes = f64::from(width);
        let group = self.time_of_group(width);
        let Some(grouped) = self.grouped else { return group / lanes };
        let epilogue = self.remainder(machine, width).cycles;
        // What comes before all groups and behind them counts where it is known for how many.
        let around = BEFORE_GROUPS + grouped.behind(width);
        let before = grouped.expected.map_or(0.0, |n| around / n.max(1.0));
        let trips = grouped.expected.unwrap_or(UNIT_TRIPS);
        match grouped.rounds_below(width).filter(|&n| n > 0) {
            Some(n) => ((n / u64::from(width)) as f64 * group + epilogue) / n as f64 + before,
            None => (group * (trips / lanes - 0.5) + epilogue) / trips + before,
        }
    }

    /// Whether an instruction of what is executed by groups, in no loop within it, is arithmetic on what is the same
    /// in all lanes or at equal distances: indices and addresses, which are computed beforehand or by loads and
    /// stores.
    fn is_free(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        let is_sum = match data.op {
            Op::Binary(op) => {
                !op.is_int_division() && data.result().is_some_and(|v| self.func.ty(v).is_int())
            }
            Op::Cast(_) | Op::Gep(_) => true,
            _ => false,
        };
        self.grouped.is_some() && is_sum && !data.args.iter().chain(&data.results).any(|&v| self.varies(v))
    }

    /// Whether a block ends in a branch that asks whether a mask has any lane.
    fn has_cross_lane_operations(&self, b: Block) -> bool {
        let term = &self.func.insts[self.func.terminator(b)];
        let asks = |&cond: &Value| {
            self.func.def_inst(cond).is_some_and(|i| {
                let data = &self.func.insts[i];
                data.op == Op::Lane(LaneOp::MaskAny) && self.varies(data.args[0])
            })
        };
        term.op == Op::CondBr && term.args.first().is_some_and(asks)
    }
}
