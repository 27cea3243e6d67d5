//! What clients say of values, against runs of random programs in the interpreter: every operand and every result has
//! a value that its version may have, and control goes only where it can.
//!
//! Programs in which every value keeps the bits that are demanded of it, and no others, do what they did.
//! Inequalities that are proved, and edges of which it is proved that they are never taken, likewise.
//!
//! `WARPLINE_PROGRAMS` says how many programs, `WARPLINE_SEED` where to start.

use warpline_analysis::dataflow::{Forward, Instruction, SparseForward, solve_forward_narrowing};
use warpline_analysis::ssi::{Ssi, Strategy, Version, ssify};
use warpline_analysis::{EdgeId, Graph, Node};
use warpline_dataflow::Code;
use warpline_dataflow::clients::bit_widths::{BitWidths, Demand, Variant};
use warpline_dataflow::clients::bounds::Bounds;
use warpline_dataflow::clients::constants::{self, Constants, Known};
use warpline_dataflow::clients::ranges::{self, Ranges};
use warpline_dataflow::report::Solver;
use warpline_interp::{Cell, Event, LaneSet, Observer, Options as MachineOptions};
use warpline_ir::{BinaryOp, Block, Edge, FuncId, Function, Inst, InstFlags, Op, Type, Value};
use warpline_testkit::dataflow_agreement::{backward_agrees, forward_agrees};
use warpline_testkit::environment::number;
use warpline_testkit::number_programs;
use warpline_testkit::programs::{
    Inputs, MemoryMode, Program, ProgramOptions, Reference, compare, generate, run_lockstep,
};

/// A fact that can be held against the cells of a value.
trait Claims {
    /// Whether a value may have these cells, none of which is undefined. Whoever makes no claim says so by `None`.
    fn allows(&self, cells: &[Cell]) -> Option<bool>;
}

impl Claims for constants::Fact {
    fn allows(&self, cells: &[Cell]) -> Option<bool> {
        match self {
            constants::Fact::Nothing => Some(false),
            constants::Fact::Anything => None,
            constants::Fact::Is(known) => match *known {
                Known::Int { value: bits, .. } | Known::Float { bits, .. } => Some(cells[0].bits == bits),
                Known::Null(_) => Some(cells[0].bits == 0),
                Known::Address { .. } => None,
                Known::Overflow { value, overflow, .. } => {
                    Some(cells[0].bits == value && cells[1].bits == u128::from(overflow))
                }
            },
        }
    }
}

impl Claims for ranges::Fact {
    fn allows(&self, cells: &[Cell]) -> Option<bool> {
        match self {
            ranges::Fact::Nothing => Some(false),
            ranges::Fact::Anything => None,
            ranges::Fact::In(range) if range.is_full() => None,
            ranges::Fact::In(range) => Some(range.contains(cells[0].bits)),
            ranges::Fact::Pair(parts) => {
                let all = [parts[0].allows(&cells[..1]), parts[1].allows(&cells[1..])];
                if all.contains(&Some(false)) { Some(false) } else { all[0].or(all[1]) }
            }
        }
    }
}

/// Holds a solution against what happens.
struct Checker<'a, F> {
    kernel: FuncId,
    func: &'a Function,
    code: &'a Code,
    ssi: &'a Ssi,
    solution: &'a SparseForward<F>,
    /// The number of each instruction in the program.
    numbers: Vec<Option<Instruction>>,
    edges: Vec<Option<EdgeId>>,
    claims: usize,
    violation: Option<String>,
}

impl<'a, F: Claims + std::fmt::Debug> Checker<'a, F> {
    fn new(
        kernel: FuncId,
        func: &'a Function,
        code: &'a Code,
        ssi: &'a Ssi,
        solution: &'a SparseForward<F>,
    ) -> Checker<'a, F> {
        let mut numbers = vec![None; func.insts.len()];
        for at in (0..code.program().instructions() as u32).map(Instruction) {
            numbers[code.inst(at).as_u32() as usize] = Some(at);
        }
        let mut edges = vec![None; func.edges.len()];
        for e in (0..code.program().graph().edge_count()).map(EdgeId::new) {
            edges[code.edge(e).as_u32() as usize] = Some(e);
        }
        Checker { kernel, func, code, ssi, solution, numbers, edges, claims: 0, violation: None }
    }

    fn check(&mut self, version: Option<Version>, value: Value, event: &Event<'_>) {
        let Some(version) = version.filter(|_| self.func.constant(value).is_none()) else { return };
        let fact = self.solution.fact(version);
        for lane in event.lanes.iter() {
            let cells = event.value(value, lane);
            if cells.is_empty() || cells.iter().any(|c| !c.is_defined()) {
                continue;
            }
            let Some(allowed) = fact.allows(cells) else { continue };
            self.claims += 1;
            if !allowed {
                let name = self.func.value_name(value);
                let inst = &self.func.insts[event.inst];
                let what = format!("{name} in `{}` is {cells:?}, not {fact:?}", inst.op.name());
                self.violation.get_or_insert(what);
            }
        }
    }
}

impl<F: Claims + std::fmt::Debug> Observer for Checker<'_, F> {
    fn executed(&mut self, event: &Event<'_>) {
        if event.depth > 0 || event.function().is_some_and(|f| f != self.kernel) {
            return;
        }
        let data = &self.func.insts[event.inst];
        if !self.solution.is_reached(Node::from(data.block)) {
            self.violation.get_or_insert(format!("{} is reached", self.func.block_name(data.block)));
            return;
        }
        let program = self.code.program();
        if data.op == Op::Phi {
            let result = data.results[0];
            return self.check(Some(Version(result.as_u32())), result, event);
        }
        let Some(at) = self.numbers[event.inst.as_u32() as usize] else { return };
        // An operand that is also a result has been overwritten by now: in SSA form there is none.
        for (k, &arg) in data.args.iter().enumerate() {
            self.check(self.ssi.used(program.use_slots(at).start + k), arg, event);
        }
        for (k, &result) in data.results.iter().enumerate() {
            self.check(Some(self.ssi.defined(program.definition_slots(at).start + k)), result, event);
        }
        for lane in event.lanes.iter() {
            let Some(edge) = event.edge(lane) else { continue };
            let taken = self.edges[edge.as_u32() as usize].is_some_and(|e| self.solution.is_taken(e));
            if !taken {
                self.violation.get_or_insert(format!("{} is left", self.func.block_name(data.block)));
            }
        }
    }
}

/// Solves a problem on a program and runs it; how many claims were held against a value, and how many facts are claims.
fn hold<P: Forward>(program: &Program, seed: u64, code: &Code, strategy: &Strategy, problem: &P) -> usize
where
    P::Fact: Claims + std::fmt::Debug,
{
    let ssi = ssify(code.program(), strategy);
    let solution = solve_forward_narrowing(code.program(), &ssi, problem, 2);
    let mut claims = 0;
    for run in 0..4 {
        let inputs = Inputs::random(program, 4, seed * 16 + run);
        let mut checker = Checker::new(program.kernel, program.function(), code, &ssi, &solution);
        let options = MachineOptions { fuel: 20_000, ..MachineOptions::default() };
        run_lockstep(program, &inputs, LaneSet::first(4), &options, Some(&mut checker));
        if let Some(violation) = checker.violation {
            panic!("seed {seed}, run {run}: {violation}\n{}", program.text());
        }
        claims += checker.claims;
    }
    claims
}

fn options(seed: u64) -> ProgramOptions {
    ProgramOptions {
        size: 4 + (seed % 16) as usize,
        memory: [MemoryMode::None, MemoryMode::Private, MemoryMode::Racy][(seed % 3) as usize],
        lane_operations: seed.is_multiple_of(5),
        traps: seed.is_multiple_of(4),
        wide: seed.is_multiple_of(7),
        ..ProgramOptions::default()
    }
}

/// Programs of both generators, each with its seed.
fn programs(first: u64, count: u64) -> impl Iterator<Item = (u64, Program)> {
    (first..first + count)
        .flat_map(|seed| [(seed, generate(seed, &options(seed))), (seed, number_programs::generate(seed))])
}

#[test]
fn values_are_what_conditional_constants_say_and_control_goes_where_they_let_it() {
    let (first, count) = (number("WARPLINE_SEED", 0), number("WARPLINE_PROGRAMS", 100));
    let mut claims = 0;
    for (seed, program) in programs(first, count) {
        let func = program.function();
        let code = Code::of(func);
        let problem = Constants::new(&program.module, func, &code);
        claims += hold(&program, seed, &code, &Constants::STRATEGY, &problem);
    }
    println!("seeds {first} to {}: {claims} claims held", first + count);
    assert!(claims > 100 * count as usize, "only {claims} claims");
}

#[test]
fn values_lie_in_their_ranges_and_control_goes_where_these_let_it() {
    let (first, count) = (number("WARPLINE_SEED", 0), number("WARPLINE_PROGRAMS", 100));
    let mut claims = 0;
    for (seed, program) in programs(first, count) {
        let func = program.function();
        let code = Code::with_makers(func);
        let problem = Ranges::new(&program.module, func, &code);
        claims += hold(&program, seed, &code, &Ranges::STRATEGY, &problem);
    }
    println!("seeds {first} to {}: {claims} claims held", first + count);
    assert!(claims > 100 * count as usize, "only {claims} claims");
}

/// An inequality `a ≤ b + c` between operands of an instruction.
struct Inequality {
    inst: Inst,
    values: [Value; 2],
    c: i128,
}

/// Holds inequalities, and edges that are never taken, against what happens.
struct Inequalities<'a> {
    kernel: FuncId,
    func: &'a Function,
    proved: Vec<Inequality>,
    never: Vec<Edge>,
    held: usize,
    violation: Option<String>,
}

impl Observer for Inequalities<'_> {
    fn executed(&mut self, event: &Event<'_>) {
        if event.depth > 0 || event.function().is_some_and(|f| f != self.kernel) {
            return;
        }
        let start = self.proved.partition_point(|p| p.inst < event.inst);
        for p in self.proved[start..].iter().take_while(|p| p.inst == event.inst) {
            for lane in event.lanes.iter() {
                let [a, b] = p.values.map(|v| event.value(v, lane).to_vec());
                let (Some(a), Some(b)) =
                    (a.first().and_then(|c| c.defined()), b.first().and_then(|c| c.defined()))
                else {
                    continue;
                };
                self.held += 1;
                if a as i128 > b as i128 + p.c {
                    let [x, y] = p.values.map(|v| self.func.value_name(v));
                    self.violation.get_or_insert(format!("{x} ≤ {y} + {}: {a} and {b}", p.c));
                }
            }
        }
        for lane in event.lanes.iter() {
            if let Some(edge) = event.edge(lane).filter(|e| self.never.contains(e)) {
                let from = self.func.block_name(self.func.edges[edge].from);
                self.violation.get_or_insert(format!("an edge from {from} is taken"));
            }
        }
    }
}

/// All inequalities between the operands of an instruction that can be proved, and edges that contradict what is known.
fn proved<'a>(program: &'a Program, code: &'a Code) -> (Vec<Inequality>, Vec<Edge>) {
    let func = program.function();
    let bounds = Bounds::new(&program.module, func, code, ());
    let prover = bounds.prover();
    let mut proved = Vec::new();
    for &b in func.layout.iter().filter(|&&b| bounds.facts().is_reached(Node::from(b))) {
        for inst in func.block_insts(b) {
            let data = &func.insts[inst];
            let [a, b] = data.args[..] else { continue };
            let is_narrow = |v| matches!(func.ty(v), Type::Int(..=64));
            if data.op == Op::Phi || !is_narrow(a) || !is_narrow(b) || a == b {
                continue;
            }
            for (k, x, y) in [(0, a, b), (1, b, a)] {
                let Some(version) = prover.used(inst, k) else { continue };
                let c = [-2, -1, 0, 1].into_iter().find(|&c| prover.at_most(version, y, c).is_some());
                proved.extend(c.map(|c| Inequality { inst, values: [x, y], c }));
            }
        }
    }
    proved.sort_by_key(|p| p.inst);
    let edges = (0..code.program().graph().edge_count()).map(EdgeId::new);
    let never = edges.filter(|&e| {
        let source = code.program().graph().source(e);
        bounds.facts().is_reached(source) && bounds.contradiction(&prover, e).is_some()
    });
    let never = never.map(|e| code.edge(e)).collect();
    (proved, never)
}

#[test]
fn inequalities_that_are_proved_hold_and_edges_that_contradict_them_are_not_taken() {
    let (first, count) = (number("WARPLINE_SEED", 0), number("WARPLINE_PROGRAMS", 100));
    let (mut held, mut inequalities, mut edges) = (0, 0, 0);
    for (seed, program) in programs(first, count) {
        let code = Code::with_makers(program.function());
        let (proved, never) = proved(&program, &code);
        inequalities += proved.len();
        edges += never.len();
        let mut judge = Inequalities {
            kernel: program.kernel,
            func: program.function(),
            proved,
            never,
            held: 0,
            violation: None,
        };
        for run in 0..8 {
            let inputs = Inputs::random(&program, 4, seed * 16 + run);
            let options = MachineOptions { fuel: 20_000, ..MachineOptions::default() };
            run_lockstep(&program, &inputs, LaneSet::first(4), &options, Some(&mut judge));
            if let Some(violation) = judge.violation {
                panic!("seed {seed}, run {run}: {violation}\n{}", program.text());
            }
        }
        held += judge.held;
    }
    println!(
        "seeds {first} to {}: {inequalities} inequalities, {edges} edges, held {held} times",
        first + count
    );
    assert!(
        inequalities as u64 > count / 2 && edges as u64 > count / 50,
        "{inequalities} and {edges} are few"
    );
}

/// The program with every integer cut down to the bits that are demanded of it, and without flags that make poison;
/// and how many are.
fn cut_down(program: &Program, variant: Variant) -> (Program, usize) {
    let code = Code::with_makers(program.function());
    let widths = BitWidths::new(&program.module, program.function(), &code, variant, Solver::Sparse);
    let mut func = program.function().clone();
    let mut replaced: Vec<Option<Value>> = vec![None; func.values.len()];
    let mut masks = Vec::new();
    for block in func.layout.clone() {
        let params = if block == func.entry() { func.params.clone() } else { Vec::new() };
        let phis = func.blocks[block].phis.iter().map(|&i| func.insts[i].results[0]);
        let early: Vec<Value> = params.into_iter().chain(phis).collect();
        let mut insts = Vec::new();
        early.iter().for_each(|&v| insts.extend(cut(&mut func, &widths, block, v, &mut replaced)));
        for i in func.blocks[block].insts.clone() {
            insts.push(i);
            for v in func.insts[i].results.clone() {
                insts.extend(cut(&mut func, &widths, block, v, &mut replaced));
            }
        }
        masks.extend(insts.iter().filter(|i| !func.blocks[block].insts.contains(i)).copied());
        func.blocks[block].insts = insts;
    }
    let new = |v: Value| replaced.get(v.as_u32() as usize).copied().flatten().unwrap_or(v);
    for block in func.layout.clone() {
        for i in func.block_insts(block).collect::<Vec<_>>() {
            if !masks.contains(&i) {
                func.insts[i].args.iter_mut().for_each(|a| *a = new(*a));
            }
            let op = &func.insts[i].op;
            if matches!(op, Op::Binary(_) | Op::Cast(_) | Op::ICmp(_)) {
                func.insts[i].flags -= POISON;
            }
            for e in func.insts[i].edges.clone() {
                func.edges[e].args.iter_mut().for_each(|a| *a = new(*a));
            }
        }
    }
    let mut cut = program.clone();
    cut.module.functions[cut.kernel] = func;
    (cut, masks.len())
}

/// The flags of operations on integers that make poison.
const POISON: InstFlags = InstFlags::NUW
    .union(InstFlags::NSW)
    .union(InstFlags::EXACT)
    .union(InstFlags::DISJOINT)
    .union(InstFlags::NNEG)
    .union(InstFlags::SAMESIGN);

/// An instruction that takes the demanded bits of a value, if not all are.
fn cut(
    func: &mut Function,
    widths: &BitWidths<'_>,
    block: Block,
    v: Value,
    replaced: &mut [Option<Value>],
) -> Option<Inst> {
    let Type::Int(bits @ ..=128) = func.ty(v) else { return None };
    let (demanded, all) = (widths.demanded(v).0, u128::MAX >> (128 - bits));
    if demanded == all {
        return None;
    }
    let mask = func.int_const(bits, demanded);
    let inst = func.make_inst(block, Op::Binary(BinaryOp::And), &[v, mask], &[Type::Int(bits)]);
    replaced[v.as_u32() as usize] = Some(func.insts[inst].results[0]);
    Some(inst)
}

#[test]
fn programs_whose_values_have_only_the_bits_that_are_demanded_do_what_they_did() {
    let (first, count) = (number("WARPLINE_SEED", 0), number("WARPLINE_PROGRAMS", 100));
    let (mut masks, mut compared) = (0, 0);
    for (seed, program) in programs(first, count) {
        for variant in [Variant::Stephenson, Variant::Mahlke] {
            let (cut, cuts) = cut_down(&program, variant);
            masks += cuts;
            for run in 0..3 {
                let inputs = Inputs::random(&program, 4, seed * 16 + run);
                let options = MachineOptions { fuel: 20_000, ..MachineOptions::default() };
                let reference = run_lockstep(&program, &inputs, LaneSet::first(4), &options, None);
                if reference.result.is_err() || reference.froze {
                    continue;
                }
                let options = MachineOptions { fuel: 60_000, ..options };
                let found = run_lockstep(&cut, &inputs, LaneSet::first(4), &options, None);
                if let Err(difference) = compare(&reference, &found, Reference::Lockstep) {
                    panic!("seed {seed}, run {run}: {difference:?}\n{}\n{}", program.text(), cut.text());
                }
                compared += 1;
            }
        }
    }
    println!("seeds {first} to {}: {masks} values cut down, {compared} runs", first + count);
    assert!(masks as u64 > count && compared > count, "{masks} values and {compared} runs are few");
}

#[test]
fn sparse_and_dense_solutions_are_the_same() {
    let (first, count) = (number("WARPLINE_SEED", 0), number("WARPLINE_PROGRAMS", 100));
    for (seed, program) in programs(first, count) {
        let (module, func) = (&program.module, program.function());
        let agree = |name: &str, outcome: Result<(), String>| {
            outcome.unwrap_or_else(|e| panic!("seed {seed}, {name}: {e}\n{}", program.text()));
        };
        let code = Code::of(func);
        let ssi = ssify(code.program(), &Constants::STRATEGY);
        let constants = Constants::new(module, func, &code);
        agree("constants", forward_agrees(code.program(), &ssi, &constants));
        let ssi = ssify(code.program(), &Variant::Mahlke.strategy());
        agree("demand", backward_agrees(code.program(), &ssi, &Demand::new(module, func, &code), true));
        let code = Code::with_makers(func);
        let ssi = ssify(code.program(), &Ranges::STRATEGY);
        let ranges = Ranges::new(module, func, &code);
        agree("ranges", forward_agrees(code.program(), &ssi, &ranges));
        let ssi = ssify(code.program(), &Variant::Stephenson.strategy());
        agree("demand", backward_agrees(code.program(), &ssi, &Demand::new(module, func, &code), true));
    }
}
