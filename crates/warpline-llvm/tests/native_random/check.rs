//! One program: the interpreter's result against that of its machine code.

use std::collections::BTreeSet;
use std::fmt;

use warpline_interp::{
    Cell, Effect, EffectKind, HashingHost, LaneArg, LaneSet, Machine, Memory, Options as MachineOptions,
    Trap, Val,
};
use warpline_ir::{Module, Type};
use warpline_llvm::{Jit, JitFunction};
use warpline_testkit::census;
use warpline_testkit::differential::{self, compare_all};
use warpline_testkit::programs::composite::{self, Leaf};
use warpline_testkit::programs::{Inputs, ParamRole, Program};
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::Passing;

use crate::code::{Code, NoCode, SCALAR, VECTOR, compile, take_calls};
use crate::guarded::Guarded;
use crate::nan::{SawNan, is_nan};
use crate::range;
use crate::setup::Setup;

/// Instructions that an interpretation may execute, all lanes together.
pub const FUEL: u64 = 300_000;

/// How a comparison ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The vector function does what the lanes do.
    Agree(Report),
    /// There is nothing to compare, and why.
    Skipped(String),
    /// The vectorizer refused.
    Refused(String),
    /// They differ.
    Differ(String),
}

/// What a comparison saw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Divergent branches.
    pub branches: usize,
    /// Divergent loops.
    pub loops: usize,
    /// Calls that were made.
    pub calls: usize,
    /// Whether the scalar kernel was compared too.
    pub scalar: bool,
    /// Whether the driver over a range was run.
    pub range: bool,
    /// Whether a loop was the unit.
    pub looped: bool,
    /// What is in the program and its vector code (see [`census`]).
    pub names: Vec<String>,
}

impl Report {
    fn parse(text: &str) -> Option<Report> {
        let mut words = text.splitn(7, ' ');
        let mut number = || words.next()?.parse::<usize>().ok();
        let (branches, loops, calls) = (number()?, number()?, number()?);
        let (scalar, range, looped) = (number()? != 0, number()? != 0, number()? != 0);
        let names = words.next()?.split('|').map(str::to_owned).collect();
        Some(Report { branches, loops, calls, scalar, range, looped, names })
    }
}

impl fmt::Display for Report {
    /// One line, for [`Report::parse`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { branches, loops, calls, scalar, range, looped, names } = self;
        let [scalar, range, looped] = [scalar, range, looped].map(|&flag| u8::from(flag));
        write!(f, "{branches} {loops} {calls} {scalar} {range} {looped} {}", names.join("|"))
    }
}

impl fmt::Display for Outcome {
    /// One line, for [`Outcome::parse`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Agree(report) => write!(f, "agree {report}"),
            Outcome::Skipped(why) => write!(f, "skipped {}", why.replace('\n', "; ")),
            Outcome::Refused(why) => write!(f, "refused {}", why.replace('\n', "; ")),
            Outcome::Differ(why) => write!(f, "differ {}", why.replace('\n', "; ")),
        }
    }
}

impl Outcome {
    /// Reads what was printed.
    pub fn parse(line: &str) -> Option<Outcome> {
        let (kind, rest) = line.split_once(' ')?;
        let rest = rest.to_owned();
        match kind {
            "skipped" => Some(Outcome::Skipped(rest)),
            "refused" => Some(Outcome::Refused(rest)),
            "differ" => Some(Outcome::Differ(rest)),
            "agree" => Report::parse(&rest).map(Outcome::Agree),
            _ => None,
        }
    }
}

/// What lanes do, by interpretation.
pub struct Expected {
    /// By lane, or by index.
    pub returns: Vec<Option<Val>>,
    /// Buffers; `None`: open.
    pub buffers: Vec<Vec<Option<u8>>>,
    /// Calls.
    pub effects: Vec<Effect>,
    /// Whether a NaN was computed.
    pub nan: bool,
}

/// Inputs in the interpreter's terms.
pub struct Bound {
    /// Arguments; those of buffers are the interpreter's addresses.
    pub args: Vec<LaneArg>,
    /// What the buffers contain.
    pub buffers: Vec<Vec<u8>>,
}

/// What is in the interpreter's buffers; `None` where a byte is not defined.
pub fn contents(memory: &Memory, addresses: &[u64]) -> Vec<Vec<Option<u8>>> {
    let read = |&a: &u64| {
        let (_, size) = memory.extent(a).expect("a buffer");
        memory.read(a, size).expect("a buffer")
    };
    addresses.iter().map(read).collect()
}

/// Puts inputs into a fresh memory.
pub fn bind(program: &Program, inputs: &Inputs) -> Bound {
    let mut machine = Machine::new(&program.module);
    let (args, addresses) = inputs.bind(&mut machine);
    let buffers = contents(&machine.memory, &addresses);
    Bound { args, buffers: buffers.into_iter().map(|b| b.into_iter().flatten().collect()).collect() }
}

fn lane_args(args: &[LaneArg], lane: u32) -> Vec<LaneArg> {
    let of = |a: &LaneArg| match a {
        LaneArg::Same(v) => v.clone(),
        LaneArg::Each(list) => list[lane as usize].clone(),
    };
    args.iter().map(|a| LaneArg::Same(of(a))).collect()
}

/// Interprets the kernel: all lanes in lockstep, or one after the other.
fn interpret(
    program: &Program,
    inputs: &Inputs,
    active: LaneSet,
    lockstep: bool,
) -> Result<Expected, String> {
    let options = MachineOptions { fuel: FUEL, ..MachineOptions::default() };
    let mut machine = Machine::with_options(&program.module, options);
    machine.set_host(HashingHost);
    let (args, addresses) = inputs.bind(&mut machine);
    let code = machine.prepare_id(program.kernel);
    let mut observer = SawNan::new(&program.module);
    let text = |t: Trap| t.kind.to_string();
    let mut effects = Vec::new();
    let returns = if lockstep {
        let run = machine.run_lockstep(&code, inputs.width, active, &args, Some(&mut observer));
        effects.append(&mut machine.effects);
        run.map_err(text)?.returns
    } else {
        let mut returns = vec![None; inputs.width as usize];
        for lane in active.iter() {
            let args = lane_args(&args, lane);
            let run = machine.run_lockstep(&code, 1, LaneSet::one(0), &args, Some(&mut observer));
            effects.extend(machine.effects.drain(..).map(|e| Effect { lane, ..e }));
            returns[lane as usize] = run.map_err(text)?.returns.swap_remove(0);
        }
        returns
    };
    if machine.froze {
        return Err("freezes poison".into());
    }
    let buffers = contents(&machine.memory, &addresses);
    Ok(Expected { returns, buffers, effects: calls_of(effects), nan: observer.saw })
}

/// The calls among effects.
pub fn calls_of(mut effects: Vec<Effect>) -> Vec<Effect> {
    effects.retain(|e| matches!(e.kind, EffectKind::Call { .. }));
    effects
}

/// What machine code did.
pub struct Found {
    /// By lane, or by index.
    pub returns: Vec<Val>,
    /// Buffers.
    pub buffers: Vec<Vec<u8>>,
    /// Arguments of the calls.
    pub calls: Vec<u32>,
}

/// Buffers for machine code.
pub fn guard(bound: &Bound, at_end: bool) -> Vec<Guarded> {
    bound.buffers.iter().map(|b| Guarded::new(b, at_end)).collect()
}

/// The buffers' contents, if nothing was written beside them.
fn unguard(buffers: &mut [Guarded]) -> Result<Vec<Vec<u8>>, String> {
    buffers.iter_mut().map(|b| b.bytes().ok_or_else(|| "wrote beside a buffer".to_owned())).collect()
}

/// The bytes of a value, as an element of an array.
pub fn value_bytes(module: &Module, ty: Type, v: &Val) -> Vec<u8> {
    let mut cells = v.cells.iter().map(|c| c.defined().expect("arguments are defined"));
    composite::bytes(module, ty, |_| cells.next().expect("a cell for each scalar"))
}

/// What a slot holds: a scalar by its bits; of anything else the address of its bytes, which are put into a guarded
/// piece of memory.
pub fn slot(ty: Type, bytes: &[u8], memories: &mut Vec<Guarded>, setup: &Setup) -> u64 {
    if ty.scalar().is_some() {
        return word(bytes) as u64;
    }
    let guarded = Guarded::new(bytes, setup.at_end);
    memories.push(guarded);
    memories[memories.len() - 1].address()
}

/// Runs the scalar kernel once for each lane, by this entry.
fn run_scalar(
    jit: &Jit,
    entry: &str,
    program: &Program,
    bound: &Bound,
    active: LaneSet,
    setup: &Setup,
) -> Result<Found, String> {
    let mut buffers = guard(bound, setup.at_end);
    let entry = jit.function(entry).map_err(|e| e.to_string())?;
    let func = program.function();
    let mut returns = Vec::new();
    take_calls();
    for lane in 0..setup.lanes() {
        let mut pointers = buffers.iter();
        let mut memories = Vec::new();
        let mut slots = Vec::new();
        for ((arg, role), &param) in bound.args.iter().zip(&program.roles).zip(&func.params) {
            let value = match (arg, role) {
                (_, ParamRole::Buffer { .. }) => {
                    slots.push(pointers.next().expect("a buffer for each").address());
                    continue;
                }
                (LaneArg::Each(list), _) => &list[lane as usize],
                (LaneArg::Same(v), _) => v,
            };
            let ty = func.ty(param);
            let bytes = value_bytes(&program.module, ty, value);
            slots.push(slot(ty, &bytes, &mut memories, setup));
        }
        let mut result = result_memory(&program.module, func.ret, 1, setup);
        slots.push(result.address());
        if active.contains(lane) {
            entry.call(&mut slots);
        }
        memories.iter_mut().try_for_each(|m| m.bytes().map(drop)).ok_or("wrote beside an argument")?;
        let bytes = result.bytes().ok_or("wrote beside the result")?;
        returns.push(value_of(&composite::scalars(&program.module, func.ret, &bytes)));
    }
    Ok(Found { returns, buffers: unguard(&mut buffers)?, calls: take_calls() })
}

/// Memory for so many results.
fn result_memory(module: &Module, ret: Type, count: usize, setup: &Setup) -> Guarded {
    let size = if ret.is_void() { 0 } else { composite::stride(module, ret) as usize };
    Guarded::new(&vec![0x5a; count * size], setup.at_end)
}

fn value_of(scalars: &[u128]) -> Val {
    let cells: Vec<Cell> = scalars.iter().map(|&bits| Cell::new(bits)).collect();
    Val::of_cells(&cells)
}

/// Runs the vector function. What varies is random in inactive lanes.
fn run_vector(code: &Code, program: &Program, bound: &Bound, setup: &Setup) -> Result<Found, String> {
    let mut rng = SplitMix64::new(setup.seed ^ 0x1a9e5);
    let buffers = guard(bound, setup.at_end);
    let entry = code.jit.function(VECTOR).map_err(|e| e.to_string())?;
    let target = &code.ir.functions[code.made.func];
    let width = setup.width as usize;
    let mut arguments: Vec<Guarded> = Vec::new();
    let mut pointers = buffers.iter();
    let mut slots = Vec::new();
    for (k, (arg, role)) in bound.args.iter().zip(&program.roles).enumerate() {
        let form = target.ty(target.params[k]);
        let lane_0 = match arg {
            LaneArg::Each(list) => &list[0],
            LaneArg::Same(v) => v,
        };
        let bytes = match (role, code.made.params[k]) {
            (ParamRole::Buffer { .. }, _) => {
                slots.push(pointers.next().expect("a buffer for each").address());
                continue;
            }
            (_, Passing::Varying(_)) => {
                // Of each scalar, all lanes' one after the other.
                let lanes = lane_0.cells.len() * width;
                let mut cells = (0..lanes).map(|n| {
                    let (scalar, lane) = (n / width, n % width);
                    let value = match arg {
                        _ if setup.mask.is_some_and(|m| !m.contains(lane as u32)) => {
                            return rng.next_u64().into();
                        }
                        LaneArg::Each(list) => &list[lane],
                        LaneArg::Same(v) => v,
                    };
                    value.cells[scalar].defined().expect("arguments are defined")
                });
                composite::bytes(&code.ir, form, |_| cells.next().expect("a cell for each scalar"))
            }
            _ => value_bytes(&code.ir, form, lane_0),
        };
        slots.push(slot(form, &bytes, &mut arguments, setup));
    }
    if let Some(mask) = setup.mask {
        // Bits beyond the last lane mean nothing.
        slots.push(mask.0 | rng.next_u64() & !LaneSet::first(setup.width).0);
    }
    let memories = Memories { buffers, arguments };
    let (raw, buffers, calls) = call(&entry, slots, result_memory(&code.ir, target.ret, 1, setup), memories)?;
    let scalars = composite::scalars(&code.ir, target.ret, &raw);
    let lane = |lane: usize| value_of(&scalars.iter().copied().skip(lane).step_by(width).collect::<Vec<_>>());
    Ok(Found { returns: (0..width).map(lane).collect(), buffers, calls })
}

/// The memory that a call of machine code may touch.
pub struct Memories {
    /// The program's buffers.
    pub buffers: Vec<Guarded>,
    /// Arguments that are passed in memory.
    pub arguments: Vec<Guarded>,
}

/// Calls the driver over a range, which puts the results of `count` indices at the address in its last slot, which is
/// added.
pub fn call_range(
    entry: &JitFunction<'_>,
    slots: Vec<u64>,
    program: &Program,
    count: usize,
    setup: &Setup,
    memories: Memories,
) -> Result<Found, String> {
    let (module, ret) = (&program.module, program.function().ret);
    let (raw, buffers, calls) = call(entry, slots, result_memory(module, ret, count, setup), memories)?;
    let returns = match ret {
        Type::Void => vec![Val::default(); count],
        _ => {
            let each = raw.chunks(composite::stride(module, ret) as usize);
            each.map(|c| value_of(&composite::scalars(module, ret, c))).collect()
        }
    };
    Ok(Found { returns, buffers, calls })
}

/// The bytes of the result, of the buffers, and the calls.
type Done = (Vec<u8>, Vec<Vec<u8>>, Vec<u32>);

/// Calls machine code that puts its result where the last slot says, which is added.
fn call(
    entry: &JitFunction<'_>,
    mut slots: Vec<u64>,
    mut result: Guarded,
    mut memories: Memories,
) -> Result<Done, String> {
    slots.push(result.address());
    take_calls();
    entry.call(&mut slots);
    let calls = take_calls();
    for argument in &mut memories.arguments {
        argument.bytes().ok_or("wrote beside an argument")?;
    }
    let raw = result.bytes().ok_or("wrote beside the result")?;
    Ok((raw, unguard(&mut memories.buffers)?, calls))
}

/// A number from its bytes.
fn word(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |v, &x| v << 8 | u128::from(x))
}

/// Compares what was found; `in_order`: the calls happened in this very order, not only in this order within each lane.
fn compare(program: &Program, expected: &Expected, found: &Found, in_order: bool) -> Result<(), String> {
    let (module, ret) = (&program.module, program.function().ret);
    let types: Vec<Type> = composite::leaves(module, ret).iter().map(|l| l.ty).collect();
    for (lane, (a, b)) in expected.returns.iter().zip(&found.returns).enumerate() {
        let Some(a) = a else { continue };
        let mut cells = types.iter().zip(a.cells.iter().zip(&b.cells));
        let same = |(ty, (a, b)): (&Type, (&Cell, &Cell))| {
            a.refined_by(*b)
                || matches!(ty, Type::Float(kind) if is_nan(*kind, a.bits) && is_nan(*kind, b.bits))
        };
        if !ret.is_void() && !cells.all(same) {
            return Err(format!("lane {lane} returns {b:x?}, not {a:x?}"));
        }
    }
    let buffers = program.roles.iter().filter_map(|r| match r {
        ParamRole::Buffer { elem, .. } => Some(*elem),
        _ => None,
    });
    for (k, (elem, (a, b))) in buffers.zip(expected.buffers.iter().zip(&found.buffers)).enumerate() {
        let (leaves, size) = (composite::leaves(module, elem), composite::stride(module, elem) as usize);
        for (at, (a, b)) in a.chunks(size).zip(b.chunks(size)).enumerate() {
            if !leaves.iter().all(|leaf| same_in_memory(module, leaf, a, b)) {
                return Err(format!("buffer {k}, element {at}: {b:x?}, not {a:x?}"));
            }
        }
    }
    compare_calls(&expected.effects, &found.calls, in_order)
}

/// Whether a scalar is what it should be, as far as that is defined. Addresses are others in machine code.
fn same_in_memory(module: &Module, leaf: &Leaf, expected: &[Option<u8>], found: &[u8]) -> bool {
    let size = module.layout.store_size(&module.types, leaf.ty).expect("scalars have a size") as usize;
    let range = leaf.offset as usize..leaf.offset as usize + size;
    let (expected, found) = (&expected[range.clone()], &found[range]);
    let fits = expected.iter().zip(found).all(|(a, b)| a.is_none_or(|a| a == *b));
    let both_nan = |kind| {
        let defined: Option<Vec<u8>> = expected.iter().copied().collect();
        defined.is_some_and(|a| is_nan(kind, word(&a))) && is_nan(kind, word(found))
    };
    fits || leaf.ty.is_ptr() || matches!(leaf.ty, Type::Float(kind) if both_nan(kind))
}

/// Whether the calls are those of the lanes, each lane's in its order.
fn compare_calls(expected: &[Effect], found: &[u32], in_order: bool) -> Result<(), String> {
    let wrong =
        || Err(format!("calls {found:x?}, not {:x?}", expected.iter().map(argument).collect::<Vec<_>>()));
    if expected.len() != found.len() {
        return wrong();
    }
    if in_order {
        let same = expected.iter().zip(found).all(|(e, &x)| argument(e) == Some(x));
        return if same { Ok(()) } else { wrong() };
    }
    let mut lanes: Vec<Vec<Option<u32>>> = vec![Vec::new(); 64];
    for e in expected {
        lanes[e.lane as usize].push(argument(e));
    }
    lanes.retain(|l| !l.is_empty());
    // Every state that the lanes can be in after the calls so far; many only if many lanes say the same.
    let mut states = BTreeSet::from([vec![0u16; lanes.len()]]);
    for &x in found {
        let mut next = BTreeSet::new();
        for state in states {
            for (lane, list) in lanes.iter().enumerate() {
                if list.get(state[lane] as usize) == Some(&Some(x)) {
                    let mut after = state.clone();
                    after[lane] += 1;
                    next.insert(after);
                }
            }
            if next.len() > 2000 {
                // Too many to follow: the multiset was equal in number, and that must do.
                return Ok(());
            }
        }
        states = next;
    }
    if states.is_empty() { wrong() } else { Ok(()) }
}

/// The argument of a call of `effect`, if it is defined.
fn argument(e: &Effect) -> Option<u32> {
    match &e.kind {
        EffectKind::Call { args, .. } => args.first()?.bits().map(|b| b as u32),
        _ => None,
    }
}

/// Compares both kinds of code with the interpreter; `stage` is told what is about to happen.
pub fn check(program: &Program, setup: &Setup, mut stage: impl FnMut(&str)) -> Outcome {
    let inputs = Inputs::random(program, setup.indices.unwrap_or(setup.lanes()), setup.seed);
    let active = setup.mask.unwrap_or(LaneSet::first(setup.lanes()));
    let lockstep = match setup.indices {
        Some(_) => range::interpret(program, &inputs, setup),
        None => interpret(program, &inputs, active, true),
    };
    let lockstep = match lockstep {
        Ok(run) => run,
        Err(why) => return Outcome::Skipped(why),
    };
    if lockstep.effects.iter().any(|e| argument(e).is_none()) {
        return Outcome::Skipped("calls with poison".into());
    }
    stage("compile");
    let code = match compile(program, setup) {
        Ok(code) => code,
        Err(NoCode::Refused(why)) => return Outcome::Refused(why),
        Err(NoCode::Broken(why)) => return Outcome::Differ(why),
    };
    // The order of −0 and +0 is open in these.
    let open_zeros = program.module.symbols.values().any(|s| s.name.contains("num.f"));
    let judge = |what: &str, nan: bool, result: Result<(), String>| match result {
        Ok(()) => Ok(()),
        // Such as arithmetic in `fp128`, which LLVM calls functions for.
        Err(why) if why.contains("Symbols not found: [ __") => {
            Err(Outcome::Skipped(format!("{what}, the compiler's own library is not there ({why})")))
        }
        Err(why) if nan => Err(Outcome::Skipped(format!("{what}, the bits of a NaN are open ({why})"))),
        Err(why) if open_zeros => Err(Outcome::Skipped(format!("{what}, minnum or maxnum of zeros ({why})"))),
        Err(why) => Err(Outcome::Differ(format!("{what}: {why}{}", triage(program, &inputs, setup)))),
    };
    let bound = bind(program, &inputs);
    let mut scalar = false;
    if setup.indices.is_none()
        && let Ok(expected) = interpret(program, &inputs, active, false)
        && expected.effects.iter().all(|e| argument(e).is_some())
    {
        stage("scalar");
        let result = run_scalar(&code.jit, SCALAR, program, &bound, active, setup)
            .and_then(|found| compare(program, &expected, &found, true));
        if let Err(outcome) = judge("scalar code", expected.nan, result) {
            return outcome;
        }
        scalar = true;
    }
    stage("vector");
    let found = match setup.indices {
        Some(_) => range::run(&code.jit, program, &inputs, setup),
        None if setup.looped => run_scalar(&code.jit, VECTOR, program, &bound, active, setup),
        None => run_vector(&code, program, &bound, setup),
    };
    let result = found.and_then(|found| compare(program, &lockstep, &found, false));
    match judge("vector code", lockstep.nan, result) {
        Ok(()) => Outcome::Agree(Report {
            branches: code.made.counts.branches.divergent,
            loops: code.made.counts.loops.divergent,
            calls: lockstep.effects.len(),
            scalar,
            range: setup.indices.is_some(),
            looped: setup.looped,
            names: census::constructs(program).into_iter().chain(code.forms).map(str::to_owned).collect(),
        }),
        Err(outcome) => outcome,
    }
}

/// What the interpreter says of the vector function.
fn triage(program: &Program, inputs: &Inputs, setup: &Setup) -> String {
    if setup.indices.is_some() || setup.looped {
        return String::new();
    }
    let setup = differential::Setup { mask: setup.mask, form: setup.form, fuel: FUEL };
    match compare_all(program, inputs, &setup) {
        differential::Outcome::Agree(_) => "; interpreted, the vector function is right".into(),
        other => format!("; interpreted: {other:?}"),
    }
}
