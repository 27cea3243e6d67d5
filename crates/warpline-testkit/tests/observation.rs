//! Observation mode against pairs of runs: where two runs that differ in their secrets alone first do something that
//! can be observed differently, there is a finding.

use std::collections::BTreeSet;

use warpline_interp::{Cell, Event, LaneArg, LaneSet, Machine, Observer, Options, State, Val};
use warpline_ir::{BinaryOp, Edge, FuncId, Inst, Module, Op, Value};
use warpline_testkit::pairs::run_mixed;
use warpline_testkit::programs::{Inputs, MemoryMode, ParamRole, Program, ProgramOptions, generate};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::secret_programs::{
    self, ELEMENT, ELEMENTS, MEMBERS, OF_ELEMENTS, POINTER, SIZE, SecretProgram,
};
use warpline_uniformity::observe::{Area, Base, Elements, Kind, Overlap, Secrets, observe};

/// What of an executed instruction can be observed.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Seen {
    depth: u32,
    func: FuncId,
    inst: Inst,
    details: Vec<(Kind, Vec<Cell>)>,
    edge: Option<Edge>,
}

struct Trace<'m> {
    module: &'m Module,
    kernel: FuncId,
    seen: Vec<Seen>,
}

impl Observer for Trace<'_> {
    fn executed(&mut self, event: &Event<'_>) {
        let id = event.function().unwrap_or(self.kernel);
        let data = &self.module.functions[id].insts[event.inst];
        let cells = |vs: &[Value]| vs.iter().flat_map(|&v| event.value(v, 0).to_vec()).collect::<Vec<Cell>>();
        let details = match &data.op {
            Op::Load(_) => vec![(Kind::Address, cells(&data.args[..1]))],
            Op::Store(_) => vec![(Kind::Address, cells(&data.args[1..]))],
            Op::Select => vec![(Kind::Selection, cells(&data.args[..1]))],
            Op::ExtractElement | Op::InsertElement => {
                vec![(Kind::Address, cells(&data.args[data.args.len() - 1..]))]
            }
            Op::Binary(op) if op.is_int_division() || matches!(op, BinaryOp::FDiv | BinaryOp::FRem) => {
                vec![(Kind::Operand, cells(&data.args))]
            }
            Op::Call(call) if call.callee.is_none() => {
                vec![(Kind::Call, cells(&data.args[data.args.len() - 1..]))]
            }
            Op::Call(call) => {
                let name = call.callee.map(|s| &*self.module.symbols[s].name).unwrap_or_default();
                let known = self.module.function(name).is_some() || name.starts_with("llvm.");
                if known { Vec::new() } else { vec![(Kind::Call, cells(&data.args))] }
            }
            _ => Vec::new(),
        };
        let edge = event.edge(0).filter(|_| data.edges.len() > 1);
        if !details.is_empty() || edge.is_some() {
            self.seen.push(Seen { depth: event.depth, func: id, inst: event.inst, details, edge });
        }
    }
}

fn trace<'m>(program: &'m Program, inputs: [&Inputs; 2], other: &[bool]) -> Trace<'m> {
    let mut trace = Trace { module: &program.module, kernel: program.kernel, seen: Vec::new() };
    run_mixed(program, inputs, other, &mut trace);
    trace
}

fn is_defined(cells: &[Cell]) -> bool {
    cells.iter().all(|c| c.state == State::Defined)
}

#[derive(Default, Debug)]
struct Tally {
    programs: usize,
    clean: usize,
    findings: usize,
    pairs: usize,
    /// Pairs whose first difference is a branch, an address, an operand, a call, a selection.
    differences: [usize; 5],
}

/// Where two traces first differ: the place and the kind. None if they do not, or only after something undefined.
fn first_difference(a: &Trace<'_>, b: &Trace<'_>) -> Result<Option<(FuncId, Inst, Kind)>, String> {
    for (x, y) in a.seen.iter().zip(&b.seen) {
        if (x.depth, x.func, x.inst) != (y.depth, y.func, y.inst) {
            return Err(format!("ways part without a branch: {x:?} and {y:?}"));
        }
        for ((kind, p), (_, q)) in x.details.iter().zip(&y.details) {
            if !is_defined(p) || !is_defined(q) {
                return Ok(None);
            }
            if p != q {
                return Ok(Some((x.func, x.inst, *kind)));
            }
        }
        if x.edge != y.edge {
            return Ok(Some((x.func, x.inst, Kind::Branch)));
        }
    }
    Ok(None)
}

fn check(seed: u64, options: &ProgramOptions, tally: &mut Tally) -> Result<(), String> {
    let program = generate(seed, options);
    let mut rng = SplitMix64::new(seed ^ 0x5ec2e7);
    // One or two parameters are secret: values, or what is in buffers.
    let mut secret = vec![false; program.roles.len()];
    for _ in 0..rng.between(1, 2) {
        let i = rng.below(secret.len());
        secret[i] = true;
    }
    let is_buffer = |i: usize| matches!(program.roles[i], ParamRole::Buffer { .. });
    let secrets = Secrets {
        values: (0..secret.len()).map(|i| secret[i] && !is_buffer(i)).collect(),
        memory: (0..secret.len())
            .filter(|&i| secret[i] && is_buffer(i))
            .map(|i| Area::behind(i as u32, String::new()))
            .collect(),
        ..Secrets::default()
    };
    let report = observe(&program.module, program.kernel, &secrets, Overlap::Apart);
    let found: BTreeSet<(FuncId, Inst, Kind)> =
        report.findings.iter().map(|f| (f.func, f.inst, f.kind)).collect();
    tally.programs += 1;
    tally.clean += usize::from(found.is_empty());
    tally.findings += found.len();
    for f in &report.findings {
        let last = f.chain.last().and_then(|s| s.steps.last()).map(|s| s.text.as_str()).unwrap_or_default();
        let ends = [
            "is a secret argument",
            "secret memory behind",
            "may be secret from the start",
            "may find secrets",
        ];
        if !ends.iter().any(|end| last.contains(end)) {
            return Err(format!("the chain of `{}` ends at `{last}`: {:#?}", f.text, f.chain));
        }
    }
    let public = Inputs::random(&program, 1, seed);
    for run in 1..=4 {
        let others =
            [1, 2].map(|k| Inputs::random(&program, 1, seed.wrapping_mul(31).wrapping_add(run * 2 + k)));
        let [a, b] = others.each_ref().map(|other| trace(&program, [&public, other], &secret));
        tally.pairs += 1;
        if let Some(difference) = first_difference(&a, &b)? {
            tally.differences[difference.2 as usize] += 1;
            if !found.contains(&difference) {
                return Err(format!(
                    "{difference:?} is observed and was not reported; kernel {}, secret {secret:?}, found {found:?}",
                    program.kernel
                ));
            }
        }
    }
    Ok(())
}

fn explore(first_seed: u64, options: &ProgramOptions) -> Tally {
    let mut tally = Tally::default();
    let count = std::env::var("WARPLINE_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(250);
    for seed in first_seed..first_seed + count {
        if let Err(message) = check(seed, options, &mut tally) {
            panic!("seed {seed}: {message}\n{}", generate(seed, options).text());
        }
    }
    println!("{tally:?}");
    tally
}

#[test]
fn what_two_runs_with_different_secrets_do_differently_is_reported() {
    let options = ProgramOptions { poison: false, ..ProgramOptions::default() };
    let tally = explore(1, &options);
    assert!(tally.differences.iter().sum::<usize>() * 10 > tally.pairs, "{tally:?}");
    assert!(tally.clean * 50 > tally.programs, "{tally:?}");
}

#[test]
fn what_comes_back_from_shared_memory_stays_secret() {
    let options = ProgramOptions { poison: false, memory: MemoryMode::Racy, ..ProgramOptions::default() };
    let tally = explore(100_000, &options);
    assert!(tally.differences.iter().sum::<usize>() * 10 > tally.pairs, "{tally:?}");
}

/// What differs between two runs of a program on structures.
struct Chosen {
    secrets: Secrets,
    /// Objects by number, as [`Chosen::run`] makes them, with the bytes that are secret.
    bytes: Vec<(usize, i64, i64)>,
    number: bool,
}

/// `ctx`, what its pointer leads to, what that one's does and so on; then the same for `q`.
const CHAIN: usize = 4;

impl Chosen {
    fn random(rng: &mut SplitMix64) -> Chosen {
        let number = rng.chance(1, 3);
        let mut chosen = Chosen {
            secrets: Secrets { values: vec![false, false, number, false], ..Secrets::default() },
            bytes: Vec::new(),
            number,
        };
        for _ in 0..rng.between(usize::from(!number), 2) {
            let (parameter, depth) = (rng.below(2), rng.below(2));
            let elements = rng.chance(1, 2).then_some(Elements { size: ELEMENT, count: Some(ELEMENTS) });
            let (lo, hi) = match elements {
                Some(_) => *rng.pick(&OF_ELEMENTS),
                None => *rng.pick(&MEMBERS),
            };
            for k in 0..elements.map_or(1, |_| ELEMENTS) {
                chosen.bytes.push((parameter * CHAIN + depth, lo + k * ELEMENT, hi + k * ELEMENT));
            }
            chosen.secrets.memory.push(Area {
                base: Base::Parameter(parameter as u32),
                pointers: vec![POINTER; depth],
                bytes: Some((lo, hi)),
                elements,
                name: String::new(),
            });
        }
        chosen
    }

    /// A run; `other` says which secrets it has, and `same` which two objects are one.
    fn run<'m>(
        &self,
        program: &'m SecretProgram,
        seed: u64,
        other: u64,
        same: Option<(usize, usize)>,
    ) -> Trace<'m> {
        let mut machine =
            Machine::with_options(&program.module, Options { fuel: 20_000, ..Options::default() });
        let mut objects: Vec<u64> =
            (0..2 * CHAIN).map(|_| machine.memory.allocate(SIZE as u64, 8).expect("there is room")).collect();
        if let Some((a, b)) = same {
            objects[a] = objects[b];
        }
        let mut public = SplitMix64::new(seed ^ 0x9b);
        let mut secret = SplitMix64::new(other);
        for (i, &at) in objects.iter().enumerate() {
            let mut bytes: Vec<u8> =
                (0..SIZE).map(|k| if k % 4 == 0 { public.below(9) as u8 } else { 0 }).collect();
            for &(object, lo, hi) in &self.bytes {
                if object == i {
                    (lo..hi).filter(|k| k % 4 == 0).for_each(|k| bytes[k as usize] = secret.below(12) as u8);
                }
            }
            let next = if (i + 1) % CHAIN == 0 { at } else { objects[i + 1] };
            bytes[POINTER as usize..POINTER as usize + 8].copy_from_slice(&next.to_le_bytes());
            machine.memory.write(at, &bytes).expect("it can be written");
        }
        let k = if self.number { secret.below(12) } else { public.below(12) };
        let numbers = [objects[0], objects[CHAIN], k as u64, public.below(9) as u64];
        let args: Vec<LaneArg> =
            numbers.iter().map(|&n| LaneArg::Same(Val::of_cells(&[Cell::new(n.into())]))).collect();
        let mut trace = Trace { module: &program.module, kernel: program.kernel, seen: Vec::new() };
        let code = machine.prepare_id(program.kernel);
        let _ = machine.run_lockstep(&code, 1, LaneSet::one(0), &args, Some(&mut trace));
        trace
    }
}

fn check_structures(seed: u64, overlap: Overlap, tally: &mut Tally) -> Result<(), String> {
    let program = secret_programs::generate(seed);
    let mut rng = SplitMix64::new(seed ^ 0x77aa);
    let chosen = Chosen::random(&mut rng);
    let report = observe(&program.module, program.kernel, &chosen.secrets, overlap);
    let found: BTreeSet<(FuncId, Inst, Kind)> =
        report.findings.iter().map(|f| (f.func, f.inst, f.kind)).collect();
    tally.programs += 1;
    tally.clean += usize::from(found.is_empty());
    tally.findings += found.len();
    // Two objects that have nothing secret in them may be one.
    let is_public = |i: &usize| chosen.bytes.iter().all(|(object, ..)| object != i);
    let public: Vec<usize> = (0..2 * CHAIN).filter(is_public).collect();
    let same = (overlap == Overlap::Possible).then(|| (*rng.pick(&public), *rng.pick(&public)));
    for run in 1..=3_u64 {
        let [a, b] =
            [1, 2].map(|k| chosen.run(&program, seed, seed.wrapping_mul(31).wrapping_add(run * 2 + k), same));
        tally.pairs += 1;
        if let Some(difference) = first_difference(&a, &b)? {
            tally.differences[difference.2 as usize] += 1;
            if !found.contains(&difference) {
                return Err(format!(
                    "{difference:?} is observed and was not reported; secret {:?}, one object {same:?}, found {found:?}",
                    chosen.secrets
                ));
            }
        }
    }
    Ok(())
}

fn explore_structures(overlap: Overlap, first_seed: u64) -> Tally {
    let mut tally = Tally::default();
    let count = std::env::var("WARPLINE_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    for seed in first_seed..first_seed + count {
        if let Err(message) = check_structures(seed, overlap, &mut tally) {
            panic!("seed {seed}: {message}\n{}", secret_programs::generate(seed).text);
        }
    }
    println!("{tally:?}");
    tally
}

#[test]
fn secrets_are_followed_through_members_pointers_calls_and_declassification() {
    let tally = explore_structures(Overlap::Apart, 1);
    assert!(tally.differences.iter().sum::<usize>() * 20 > tally.pairs, "{tally:?}");
    assert!(tally.clean * 20 > tally.programs, "{tally:?}");
}

#[test]
fn pointers_may_lead_to_one_object_unless_it_is_said_that_they_do_not() {
    let tally = explore_structures(Overlap::Possible, 500_000);
    assert!(tally.differences.iter().sum::<usize>() * 20 > tally.pairs, "{tally:?}");
}
