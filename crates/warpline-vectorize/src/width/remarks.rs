//! Performance remarks: what a kernel or loop spends its time on, by source line, and what to change in the source.
//!
//! Remarks are made of the lane program that the number of lanes is chosen by, so they cost one more look at its
//! instructions. The cost of a line is its part of all operations, times the cycles that the whole is expected to take.
//! What becomes of calls, accesses and divisions say their [recipes](crate::recipes).

use std::collections::BTreeMap;

use warpline_analysis::{CycleId, Node};
use warpline_ir::{Block, Function, Inst, Op, Place, Symbol, Type};

use super::burdens::{self, What};
use super::{APART, COHERENT_WAIT, GUESS, Machine, Program, Rep, WAIT, element_bits};
use crate::Gathers;
use crate::known_calls::has_cheap_vector_form;
use crate::pipeline::Linearized;
use crate::recipes::{How, Recipe};

/// Whether something was done, was not, or is only a figure: the kinds of LLVM's optimization records.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// It was vectorized.
    Passed,
    /// It is not as fast as it could be.
    Missed,
    /// A fact about what was made.
    Analysis,
}

impl Kind {
    /// LLVM's word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Passed => "Passed",
            Kind::Missed => "Missed",
            Kind::Analysis => "Analysis",
        }
    }
}

/// What a remark is about.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Name {
    /// A kernel or loop became vector code.
    Vectorized,
    /// A loop or driver stays scalar.
    ScalarLoop,
    /// A kernel or loop cannot be vectorized.
    Refused,
    /// The number of lanes, and what decided it.
    Width,
    /// What a line costs.
    Cost,
    /// Each lane loads from an address of its own.
    Gather,
    /// Each lane stores to an address of its own.
    Scatter,
    /// Elements that lie a few elements apart.
    StridedAccess,
    /// Neighbouring elements of each lane are loaded together.
    GroupedAccess,
    /// Accesses under a mask.
    MaskedAccess,
    /// Calls once per lane.
    ScalarizedCall,
    /// Instructions without a vector form, once per lane.
    ScalarizedInstruction,
    /// Divisions of integers by floating-point vectors.
    Division,
    /// Divisions of integers once per lane.
    ScalarizedDivision,
    /// Mathematics on vectors.
    VectorMathematics,
    /// Floating-point numbers combined in the order of the iterations.
    OrderedReduction,
    /// Operations on masks.
    Masks,
    /// Lanes leave a loop in different iterations.
    DivergentLoop,
    /// A branch on whether any lane is active.
    MandatoryBranch,
    /// More values than registers.
    Spill,
}

impl Name {
    /// Its name in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Name::Vectorized => "Vectorized",
            Name::ScalarLoop => "ScalarLoop",
            Name::Refused => "Refused",
            Name::Width => "Width",
            Name::Cost => "Cost",
            Name::Gather => "Gather",
            Name::Scatter => "Scatter",
            Name::StridedAccess => "StridedAccess",
            Name::GroupedAccess => "GroupedAccess",
            Name::MaskedAccess => "MaskedAccess",
            Name::ScalarizedCall => "ScalarizedCall",
            Name::ScalarizedInstruction => "ScalarizedInstruction",
            Name::Division => "Division",
            Name::ScalarizedDivision => "ScalarizedDivision",
            Name::VectorMathematics => "VectorMathematics",
            Name::OrderedReduction => "OrderedReduction",
            Name::Masks => "Masks",
            Name::DivergentLoop => "DivergentLoop",
            Name::MandatoryBranch => "MandatoryBranch",
            Name::Spill => "Spill",
        }
    }
}

/// An estimate of what something takes.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Cost {
    /// Cycles for each lane: an index of a range, or an iteration of the scalar loop.
    pub lane: f64,
    /// Cycles for each vector iteration.
    pub vector: f64,
    /// Its part of the whole, from 0 to 1.
    pub share: f64,
}

/// One remark.
#[derive(Clone, PartialEq, Debug)]
pub struct Remark {
    /// Its kind.
    pub kind: Kind,
    /// What it is about.
    pub name: Name,
    /// Where, if that is known: in the kernel's own file, code that was inlined is where it is called.
    pub place: Option<Place>,
    /// What is so.
    pub message: String,
    /// What to change in the source.
    pub advice: Option<&'static str>,
    /// What it is expected to take.
    pub cost: Option<Cost>,
}

impl Remark {
    /// A remark without a cost.
    #[must_use]
    pub fn new(kind: Kind, name: Name, place: Option<Place>, message: String) -> Remark {
        Remark { kind, name, place, message, advice: None, cost: None }
    }

    /// Its part of the whole; 0 if it has no cost.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.cost.map_or(0.0, |cost| cost.share)
    }
}

/// What is said of an instruction.
pub(super) struct Finding {
    pub(super) kind: Kind,
    pub(super) name: Name,
    pub(super) message: String,
    pub(super) advice: Option<&'static str>,
}

impl Finding {
    pub(super) fn new(kind: Kind, name: Name, message: impl Into<String>) -> Finding {
        Finding { kind, name, message: message.into(), advice: None }
    }

    fn advise(self, advice: &'static str) -> Finding {
        Finding { advice: Some(advice), ..self }
    }
}

/// The remarks about a lane program with so many lanes, each of which is expected to take `cycles`: the costliest
/// first, and then what each line costs, in the order of lines.
pub(super) fn of_program(
    program: &Program<'_>,
    linearized: &Linearized,
    machine: &Machine,
    (lanes, cycles): (u32, f64),
) -> Vec<Remark> {
    let shares = burdens::shares(program, machine, lanes).collect();
    let maker = Maker { program, linearized, machine, lanes, cycles, shares };
    let mut remarks = maker.of_instructions();
    remarks.extend(maker.divergent_loops());
    remarks.extend(maker.mandatory_branches());
    remarks.extend(maker.spills());
    remarks.sort_by(|a, b| b.share().total_cmp(&a.share()));
    remarks.extend(maker.lines());
    remarks
}

struct Maker<'a> {
    program: &'a Program<'a>,
    linearized: &'a Linearized,
    machine: &'a Machine,
    lanes: u32,
    cycles: f64,
    /// The part that each instruction has in all operations.
    shares: Vec<(Inst, f64)>,
}

impl Maker<'_> {
    fn cost(&self, share: f64) -> Cost {
        let lane = share * self.cycles;
        Cost { lane, vector: lane * f64::from(self.lanes), share }
    }

    /// Where an instruction is; operations on masks are where their block is.
    fn place(&self, i: Inst) -> Option<Place> {
        let Program { module, func, .. } = *self.program;
        let data = &func.insts[i];
        let of_block = || match data.op {
            Op::Lane(_) => Place::of_block(module, func, data.block),
            _ => None,
        };
        Place::of(module, func, data.loc.expand()).or_else(of_block)
    }

    /// Whether an instruction is in a loop that lanes leave in different iterations, and in none within.
    fn is_in_divergent_loop(&self, i: Inst) -> bool {
        let block = self.program.func.insts[i].block;
        self.program.cycles.innermost(Node::from(block)).is_some_and(|c| self.program.apart[c.index()])
    }

    /// What is said of instructions, once for each line.
    fn of_instructions(&self) -> Vec<Remark> {
        let mut found: BTreeMap<_, Remark> = BTreeMap::new();
        for &(i, share) in &self.shares {
            let Some(finding) = self.finding(i) else { continue };
            let place = self.place(i);
            let line = place.as_ref().map(|place| (place.file.clone(), place.line));
            let Finding { kind, name, message, advice } = finding;
            let remark = found
                .entry((line, name, message.clone()))
                .or_insert_with(|| Remark { advice, ..Remark::new(kind, name, place.clone(), message) });
            remark.cost = Some(self.cost(remark.share() + share));
            if let (Some(known), Some(place)) = (&mut remark.place, place) {
                known.column = known.column.min(place.column);
            }
        }
        found.into_values().collect()
    }

    fn finding(&self, i: Inst) -> Option<Finding> {
        let program = self.program;
        let data = &program.func.insts[i];
        match burdens::what(program, self.machine, self.lanes, i) {
            What::Gather | What::Scatter | What::Strided => Some(self.access(i)),
            What::MaskedByLane => Some(masked_by_lane(program.func, i)),
            What::Scalarized => Some(self.scalarized(i)),
            What::Atomic => Some(
                Finding::new(
                    Kind::Missed,
                    Name::ScalarizedInstruction,
                    "an atomic operation is done for one lane after the other",
                )
                .advise(burdens::FEWER_ATOMICS),
            ),
            What::SharedUpdates => Some(
                Finding::new(
                    Kind::Missed,
                    Name::ScalarizedInstruction,
                    "memory that lanes may share is updated for one lane after the other",
                )
                .advise(burdens::APART),
            ),
            What::Division => Some(division(program.func, i)),
            What::Mathematics => {
                let Op::Call(info) = &data.op else {
                    return Some(Finding::new(
                        Kind::Analysis,
                        Name::VectorMathematics,
                        "a remainder of floating-point numbers is computed by many vector operations",
                    ));
                };
                let symbol = info.callee?;
                let message = format!("`{}` is computed on vectors", self.called(symbol));
                let finding = Finding::new(Kind::Analysis, Name::VectorMathematics, message);
                let is_double = data.result().is_some_and(|v| element_bits(program.func.ty(v)) > 32);
                let advice =
                    if is_double { "call it with `float`, or less often" } else { "call it less often" };
                Some(finding.advise(advice))
            }
            What::InOrder => {
                let message = "floating-point numbers are combined one lane after the other, in the order of the \
                               program";
                let advice = What::InOrder.advice().unwrap_or_default();
                Some(Finding::new(Kind::Missed, Name::OrderedReduction, message).advise(advice))
            }
            // It is part of what the loop costs.
            What::Masks if self.is_in_divergent_loop(i) => None,
            What::Masks => Some(
                Finding::new(Kind::Missed, Name::Masks, "masks say which lanes take which way")
                    .advise("select values (`c ? a : b`) instead of branching, or branch on uniform values"),
            ),
            What::Arithmetic if matches!(data.op, Op::Binary(op) if op.is_int_division()) => {
                data.args.iter().any(|&a| program.varies(a)).then(|| {
                    let message = "an integer division by a constant is done by multiplications";
                    Finding::new(Kind::Analysis, Name::Division, message)
                })
            }
            What::Arithmetic => {
                let accessed = program.func.accessed(i)?;
                let masked = program.is_masked(i);
                let what = if accessed.writes { "store" } else { "load" };
                masked.then(|| {
                    Finding::new(
                        Kind::Analysis,
                        Name::MaskedAccess,
                        format!("a {what} under a mask: not all lanes come here"),
                    )
                })
            }
        }
    }

    /// A gather, a scatter, or strided.
    fn access(&self, i: Inst) -> Finding {
        let program = self.program;
        let Some(accessed) = program.func.accessed(i) else {
            return Finding::new(Kind::Missed, Name::Gather, "each lane has an address of its own");
        };
        let cause = program.cause(i, accessed.address);
        let plan = program.plan(self.lanes);
        let recipe = plan.recipe(i);
        if matches!(recipe, Recipe::Group(id) if plan.group(*id).alike) {
            let message = "wide accesses: elements that are all computed alike stay in the order of memory";
            return Finding::new(Kind::Analysis, Name::GroupedAccess, message);
        }
        let size = i64::from(element_bits(accessed.ty) / 8);
        if program.reps[accessed.address] == Rep::Strided(-size) {
            let message = "a wide access that a shuffle turns round: neighbouring lanes go down in memory";
            return Finding::new(Kind::Analysis, Name::StridedAccess, message);
        }
        let grouped = match recipe {
            Recipe::Group(_) | Recipe::Overlapping(_) | Recipe::Rows(..) | Recipe::Elsewhere => true,
            Recipe::Gather(gather) => matches!(gather.how, How::Between(_)),
            _ => false,
        };
        let (kind, name, what) = match grouped {
            true if cause.is_strided() => (Kind::Missed, Name::StridedAccess, "wide accesses and shuffles"),
            true => {
                (Kind::Analysis, Name::GroupedAccess, "neighbouring elements are loaded together per lane")
            }
            false if accessed.writes => (Kind::Missed, Name::Scatter, "a scatter"),
            false if self.gathers(recipe) => (Kind::Missed, Name::Gather, "a gather"),
            false => (Kind::Missed, Name::Gather, "a gather, which this CPU makes of one load per lane"),
        };
        let finding = Finding::new(kind, name, format!("{what}: {}", cause.words()));
        Finding { advice: cause.advice(accessed.writes), ..finding }
    }

    /// Whether a gather is made by instructions of the machine.
    fn gathers(&self, recipe: &Recipe) -> bool {
        match recipe {
            Recipe::Gather(gather) => match gather.how {
                How::Avx2(_) => true,
                How::Native => self.machine.gathers == Gathers::Everything,
                How::Pick | How::Between(_) | How::ByLane | How::Stepped(_) => false,
            },
            _ => false,
        }
    }

    /// What is done once per lane.
    fn scalarized(&self, i: Inst) -> Finding {
        let data = &self.program.func.insts[i];
        let Op::Call(info) = &data.op else {
            let message = "an instruction without a vector form is executed once per lane";
            return Finding::new(Kind::Missed, Name::ScalarizedInstruction, message);
        };
        match info.callee {
            Some(symbol) if self.is_mathematics(i, symbol) => Finding::new(
                Kind::Missed,
                Name::ScalarizedCall,
                format!(
                    "`{}` is called once per lane: no vector form is accurate enough or known",
                    self.called(symbol)
                ),
            )
            .advise("accept a larger error (`--math-ulp`), or write it out"),
            Some(symbol) => {
                let message = format!("`{}` is called once per lane", self.called(symbol));
                Finding::new(Kind::Missed, Name::ScalarizedCall, message).advise(
                    "make its body known here (`static` or inline, in a header), or declare a vector variant of it \
                     (`#pragma omp declare simd`)",
                )
            }
            None => Finding::new(
                Kind::Missed,
                Name::ScalarizedCall,
                "a function is called through a pointer that differs between lanes",
            )
            .advise("choose among few functions by `switch`, or call through a pointer that all lanes share"),
        }
    }

    /// Whether a call is of a function that a library of vector mathematics may have.
    fn is_mathematics(&self, i: Inst, symbol: Symbol) -> bool {
        let ty = self.program.func.insts[i].result().map_or(Type::Void, |v| self.program.func.ty(v));
        has_cheap_vector_form(&self.program.module.symbols[symbol].name, ty) == Some(false)
    }

    fn called(&self, symbol: Symbol) -> String {
        warpline_ir::demangle(&self.program.module.symbols[symbol].name)
    }

    /// Loops that lanes leave in different iterations.
    fn divergent_loops(&self) -> Vec<Remark> {
        let Maker { program, linearized, .. } = self;
        let (func, uniformity) = (&linearized.scalar, &linearized.uniformity);
        let cycles = uniformity.cycles();
        let mut found: Vec<Remark> = Vec::new();
        for c in uniformity.left_apart() {
            let header = Block::from(cycles.header(c));
            let left = func.layout.iter().copied().filter(|&b| {
                cycles.contains(c, Node::from(b))
                    && func.successors(b).any(|s| uniformity.is_left_apart_between(c, b, s))
            });
            let places = left
                .filter_map(|b| Place::of(program.module, func, func.insts[func.terminator(b)].loc.expand()));
            let place = Place::of_block(program.module, func, header);
            let mut lines: Vec<u32> = places.map(|place| place.line).collect();
            lines.sort_unstable();
            lines.dedup();
            lines.retain(|&line| place.as_ref().is_none_or(|place| place.line != line));
            let at = match &lines[..] {
                [] => String::new(),
                lines => {
                    let words: Vec<String> = lines.iter().map(ToString::to_string).collect();
                    format!(", at line {}", words.join(" and "))
                }
            };
            let message = format!(
                "lanes leave this loop in different iterations{at}: all take as many as the slowest one, under masks"
            );
            if found.iter().any(|other| other.place == place && other.message == message) {
                continue;
            }
            let remark = Remark::new(Kind::Missed, Name::DivergentLoop, place, message);
            found.push(Remark {
                advice: Some(
                    "give neighbouring lanes equally many iterations (sort the work), or use fewer lanes (`--width`)",
                ),
                cost: self.waiting(header).map(|share| self.cost(share)),
                ..remark
            });
        }
        found
    }

    /// The part of the whole that masks and lanes that wait for others take in the loop with a header.
    fn waiting(&self, header: Block) -> Option<f64> {
        let Maker { program, machine, lanes, .. } = *self;
        let c = program.cycles.cycles().find(|&c| program.cycles.header(c) == Node::from(header))?;
        let inside = |b: Block| program.cycles.contains(c, Node::from(b));
        let (mut all, mut masks) = (0.0, 0.0);
        for &(i, share) in &self.shares {
            if inside(program.func.insts[i].block) {
                all += share;
                if self.is_in_divergent_loop(i) && burdens::what(program, machine, lanes, i) == What::Masks {
                    masks += share;
                }
            }
        }
        let each = if program.coherent { COHERENT_WAIT } else { WAIT };
        let slower = (1.0 + each * f64::from(lanes).log2()) * APART;
        (lanes > 1).then(|| masks + (all - masks) * (1.0 - 1.0 / slower))
    }

    /// Branches around what is done once for all lanes and must not be done without an active one.
    fn mandatory_branches(&self) -> Vec<Remark> {
        let Maker { program, linearized, .. } = self;
        let mut found: Vec<Remark> = Vec::new();
        if linearized.program.counts.boscc.mandatory == 0 {
            return found;
        }
        let func = program.func;
        let group = (self.cycles * f64::from(self.lanes)).max(f64::MIN_POSITIVE);
        for &b in &func.layout {
            let masked = func.blocks[b].mask.expand().is_some_and(|m| program.varies(m));
            let guarded = |&&i: &&Inst| linearized.program.guarded.contains(i);
            let Some(&i) = func.blocks[b].insts.iter().find(guarded).filter(|_| masked) else { continue };
            let what = match func.insts[i].op {
                Op::Load(_) => "a load from one address",
                Op::Store(_) => "a store to one address",
                Op::Binary(_) => "a division of uniform numbers",
                Op::Call(_) => "a call",
                _ => "an instruction",
            };
            let message =
                format!("{what} is done once for all lanes, behind a branch on whether any lane is active");
            let place = self.place(i);
            if found.iter().any(|other| other.place == place && other.message == message) {
                continue;
            }
            found.push(Remark {
                advice: Some("do it before the branch, where it may always be done"),
                cost: Some(self.cost((GUESS * program.frequency[b] / group).min(1.0))),
                ..Remark::new(Kind::Analysis, Name::MandatoryBranch, place, message)
            });
        }
        found
    }

    /// Loops with more values than registers.
    fn spills(&self) -> Vec<Remark> {
        let Maker { program, machine, lanes, .. } = *self;
        let all = operations(program, machine, lanes).max(f64::MIN_POSITIVE);
        let of_code = |(k, cycle): (usize, Option<CycleId>)| {
            let live = program.live[k].registers(machine, lanes, |bits| program.register_bits(bits));
            let spilled = live.checked_sub(machine.registers).filter(|&n| n > 0)?;
            let header = match cycle {
                Some(c) => Block::from(program.cycles.header(c)),
                None => *program.func.layout.first()?,
            };
            let share = (2.0 * f64::from(spilled) * program.rounds(cycle) / all).min(1.0);
            let message = format!(
                "about {live} vectors are needed at once, and this CPU has {} registers: others are in memory",
                machine.registers
            );
            let place = Place::of_block(program.module, program.func, header);
            Some(Remark {
                advice: Some("use fewer lanes (`--width`), or split the loop"),
                cost: Some(self.cost(share)),
                ..Remark::new(Kind::Analysis, Name::Spill, place, message)
            })
        };
        let code = program.cycles.cycles().map(Some).chain([None]);
        code.enumerate().filter_map(of_code).collect()
    }

    /// What each line costs.
    fn lines(&self) -> Vec<Remark> {
        let mut lines: BTreeMap<(String, u32), f64> = BTreeMap::new();
        for &(i, share) in &self.shares {
            let Some(place) = self.place(i).filter(|_| share > 0.0) else { continue };
            *lines.entry((place.file, place.line)).or_insert(0.0) += share;
        }
        let of_line = |((file, line), share): ((String, u32), f64)| {
            let cost = self.cost(share);
            let message = format!("{:.1} of {:.1} cycles a lane are expected here", cost.lane, self.cycles);
            let place = Some(Place { file, line, column: 0 });
            Remark { cost: Some(cost), ..Remark::new(Kind::Analysis, Name::Cost, place, message) }
        };
        lines.into_iter().map(of_line).collect()
    }
}

/// All operations of a group of lanes.
fn operations(program: &Program<'_>, machine: &Machine, lanes: u32) -> f64 {
    let of_block = |&b: &Block| {
        let insts = program.func.blocks[b].insts.iter();
        program.frequency[b] * insts.map(|&i| program.work_of(machine, lanes, i).operations()).sum::<f64>()
    };
    program.func.layout.iter().map(of_block).sum()
}

fn masked_by_lane(func: &Function, i: Inst) -> Finding {
    let (what, advice) = match func.accessed(i).is_some_and(|accessed| accessed.writes) {
        true => (
            "store",
            "where nobody else accesses this memory meanwhile, say so by `--exclusive NAME`, or `//@ exclusive NAME` \
             above the function, or store in every lane a value that is selected (`x = c ? new : x`); or compile for \
             a CPU with masked accesses",
        ),
        false => (
            "load",
            "load before the branch, where the memory is there, or compile for a CPU with masked accesses",
        ),
    };
    let bits = func.accessed(i).map_or(8, |accessed| element_bits(accessed.ty).max(8));
    let message = format!(
        "a {what} of {bits}-bit elements under a mask, for which this CPU has no instruction: a branch per lane"
    );
    Finding::new(Kind::Missed, Name::MaskedAccess, message).advise(advice)
}

fn division(func: &Function, i: Inst) -> Finding {
    let bits = func.insts[i].result().map(|v| func.ty(v));
    match bits {
        Some(Type::Int(8 | 16 | 32)) => Finding::new(
            Kind::Missed,
            Name::Division,
            "an integer division, for which CPUs have no vectors, is done by floating-point vectors",
        )
        .advise("divide by a constant, or shift; step a quotient instead of dividing an index"),
        Some(Type::Int(64)) => Finding::new(
            Kind::Missed,
            Name::Division,
            "a 64-bit integer division is done by floating-point vectors, or once per lane where numbers are large",
        )
        .advise("divide by a constant, or numbers of 32 bits where these suffice"),
        _ => Finding::new(Kind::Missed, Name::ScalarizedDivision, "an integer division is done once per lane")
            .advise("divide by a constant, or numbers of 32 or 64 bits where these suffice"),
    }
}
