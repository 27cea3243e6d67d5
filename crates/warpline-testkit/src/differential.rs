//! One kernel, run as scalar threads in lockstep, as a lane program and as lowered vector code: all must agree.
//!
//! The lockstep run is the reference: what it returns and leaves in memory must be refined by the others.
//! If it traps, the program has undefined behaviour and anything is right.

use warpline::interp::{
    Cell, ChildOrder, Effect, HashingHost, Inactive, LaneArg, LaneSet, Machine, Options as MachineOptions,
    Run, Val,
};
use warpline::ir::{FuncId, Function, Module};
use warpline::shape::ArgShape;
use warpline::vectorize::{self, Linearize, NoMathLibrary, Options, Passing};
use warpline::verify::verify;

/// What is passed for a parameter.
#[derive(Clone, Debug)]
pub enum Arg {
    /// Lane *k* gets this number plus *k*, in the width of the parameter.
    Index(u64),
    /// Every lane gets this.
    Uniform(Val),
    /// Lane *k* gets element *k*; there are as many as lanes.
    Varying(Vec<Val>),
    /// Every lane gets the address of a buffer with these bytes.
    Buffer(Vec<u8>),
}

impl Arg {
    /// The shape that the argument has.
    pub fn shape(&self) -> ArgShape {
        match self {
            Arg::Index(_) => ArgShape::Index,
            Arg::Uniform(_) | Arg::Buffer(_) => ArgShape::Uniform,
            Arg::Varying(_) => ArgShape::Varying,
        }
    }
}

/// A run of a kernel.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    /// The module.
    pub module: &'a Module,
    /// The kernel.
    pub kernel: FuncId,
    /// The arguments, in order.
    pub args: Vec<Arg>,
    /// W, 1 to 64.
    pub width: u32,
    /// The lanes that take part; `None`: all, and no mask parameter is made.
    pub mask: Option<LaneSet>,
    /// How much is folded.
    pub linearize: Linearize,
    /// Instructions that a run may execute, per lane and all lanes together.
    pub fuel: u64,
}

/// How a comparison ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// All agree.
    Agree(Report),
    /// The reference trapped or ran out of fuel.
    Skipped(String),
    /// The vectorizer refused the kernel.
    Refused(String),
    /// They differ: what, and where.
    Differ(String),
}

/// What a comparison saw.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Divergent branches in the kernel.
    pub divergent_branches: usize,
    /// Uniform branches that were kept.
    pub uniform_kept: usize,
    /// Loops that lanes leave apart.
    pub divergent_loops: usize,
    /// Whether lanes met in memory.
    pub raced: bool,
}

/// A finished run: returned values per lane, contents of the buffers, effects.
struct Finished {
    returns: Vec<Option<Val>>,
    machine_state: Observed,
}

struct Observed {
    memory: warpline::interp::Memory,
    buffers: Vec<u64>,
    effects: Vec<Effect>,
}

/// Compares all three runs.
pub fn compare(case: &Case<'_>) -> Outcome {
    let func = &case.module.functions[case.kernel];
    let (reference, run) = match lockstep(case, func) {
        Ok(finished) => finished,
        Err(why) => return Outcome::Skipped(why),
    };
    let options = Options {
        width: case.width,
        args: case.args.iter().map(Arg::shape).collect(),
        name: format!("{}_vectorized", func.name),
        masked: case.mask.is_some(),
        linearize: case.linearize,
        scalar_result: false,
        math: &NoMathLibrary,
    };
    let linearized = match vectorize::linearize_kernel(case.module, func, &options) {
        Ok(l) => l,
        Err(e) if e.reason.starts_with("internal") => return Outcome::Differ(e.to_string()),
        Err(e) => return Outcome::Refused(e.to_string()),
    };
    let program = &linearized.program;
    if let Err(e) = verify(case.module, &program.func) {
        return Outcome::Differ(format!("the lane program is broken:\n{e}"));
    }
    for inactive in [Inactive::Poison, Inactive::Random(7)] {
        let stage = format!("lane program, inactive lanes {inactive:?}");
        match lanes(case, &program.func, inactive) {
            Err(why) => return Outcome::Differ(format!("{stage}: {why}")),
            Ok(finished) => {
                if let Some(why) = difference(case, &reference, &finished) {
                    return Outcome::Differ(format!("{stage}: {why}"));
                }
            }
        }
    }
    let mut module = case.module.clone();
    let made = match vectorize::vectorize(&mut module, case.kernel, &options) {
        Ok(made) => made,
        Err(e) if e.reason.starts_with("internal") => return Outcome::Differ(e.to_string()),
        Err(e) => return Outcome::Refused(e.to_string()),
    };
    let lowered = &module.functions[made.func];
    if let Err(e) = verify(&module, lowered) {
        return Outcome::Differ(format!("the vector function is broken:\n{e}"));
    }
    match vector(case, &module, lowered, &made.params) {
        Err(why) => return Outcome::Differ(format!("vector code: {why}")),
        Ok(finished) => {
            if let Some(why) = difference(case, &reference, &finished) {
                return Outcome::Differ(format!("vector code: {why}"));
            }
        }
    }
    Outcome::Agree(Report {
        divergent_branches: made.branches.divergent,
        uniform_kept: made.branches.uniform_kept,
        divergent_loops: made.divergent_loops,
        raced: run.races.any(),
    })
}

fn active(case: &Case<'_>) -> LaneSet {
    case.mask.unwrap_or(LaneSet::first(case.width))
}

/// A machine with the buffers in place.
struct Prepared<'m> {
    machine: Machine<'m>,
    /// By argument, by lane.
    args: Vec<Vec<Val>>,
    /// Addresses of the buffers.
    buffers: Vec<u64>,
}

fn prepare<'m>(
    case: &Case<'_>,
    module: &'m Module,
    func: &Function,
    inactive: Inactive,
) -> Result<Prepared<'m>, String> {
    let options = MachineOptions {
        fuel: case.fuel,
        child_order: ChildOrder::default(),
        inactive,
        ..MachineOptions::default()
    };
    let mut machine = Machine::with_options(module, options);
    machine.set_host(HashingHost);
    let mut args = Vec::new();
    let mut buffers = Vec::new();
    for (arg, &param) in case.args.iter().zip(&func.params) {
        let lanes = 0..case.width;
        args.push(match arg {
            Arg::Index(first) => {
                let bits = func.ty(param).int_bits().unwrap_or(64);
                lanes.map(|k| Val::signed(bits, i128::from(first + u64::from(k)))).collect()
            }
            Arg::Uniform(v) => vec![v.clone(); case.width as usize],
            Arg::Varying(list) => list.clone(),
            Arg::Buffer(bytes) => {
                let address = machine.memory.allocate_bytes(bytes, 64).map_err(|e| e.to_string())?;
                buffers.push(address);
                vec![Val::ptr(address); case.width as usize]
            }
        });
    }
    Ok(Prepared { machine, args, buffers })
}

fn observed(machine: Machine<'_>, buffers: Vec<u64>) -> Observed {
    Observed { memory: machine.memory, buffers, effects: machine.effects }
}

fn lockstep(case: &Case<'_>, func: &Function) -> Result<(Finished, Run), String> {
    let Prepared { mut machine, args, buffers } = prepare(case, case.module, func, Inactive::Poison)?;
    let args: Vec<LaneArg> = args.into_iter().map(LaneArg::Each).collect();
    let code = machine.prepare(func);
    let run =
        machine.run_lockstep(&code, case.width, active(case), &args, None).map_err(|t| t.describe(func))?;
    Ok((Finished { returns: run.returns.clone(), machine_state: observed(machine, buffers) }, run))
}

fn lanes(case: &Case<'_>, func: &Function, inactive: Inactive) -> Result<Finished, String> {
    let Prepared { mut machine, mut args, buffers } = prepare(case, case.module, func, inactive)?;
    poison_inactive(case, &mut args);
    if let Some(mask) = case.mask {
        args.push((0..case.width).map(|k| Val::bool(mask.contains(k))).collect());
    }
    let args: Vec<LaneArg> = args.into_iter().map(LaneArg::Each).collect();
    let code = machine.prepare(func);
    let entry = LaneSet::first(case.width);
    if active(case).is_empty() {
        // The lowered function tests this itself.
        let returns = vec![None; case.width as usize];
        return Ok(Finished { returns, machine_state: observed(machine, buffers) });
    }
    let run = machine.run_lanes(&code, case.width, entry, &args, None).map_err(|t| t.describe(func))?;
    Ok(Finished { returns: run.returns, machine_state: observed(machine, buffers) })
}

/// Lanes outside the mask get poison for what varies.
fn poison_inactive(case: &Case<'_>, args: &mut [Vec<Val>]) {
    for (arg, lanes) in case.args.iter().zip(args) {
        if matches!(arg, Arg::Varying(_)) {
            for (k, v) in lanes.iter_mut().enumerate() {
                if !active(case).contains(k as u32) {
                    *v = Val::poison(v.cells.len());
                }
            }
        }
    }
}

fn vector(case: &Case<'_>, module: &Module, func: &Function, params: &[Passing]) -> Result<Finished, String> {
    let Prepared { mut machine, args: mut lanes, buffers } = prepare(case, module, func, Inactive::Poison)?;
    poison_inactive(case, &mut lanes);
    let mut args: Vec<Val> = Vec::new();
    for (values, passing) in lanes.into_iter().zip(params) {
        args.push(match passing {
            Passing::Uniform(_) | Passing::Strided(..) => values[0].clone(),
            Passing::Varying(_) => concat(&values),
        });
    }
    if let Some(mask) = case.mask {
        let bits: Vec<Val> = (0..case.width).map(|k| Val::bool(mask.contains(k))).collect();
        args.push(concat(&bits));
    }
    let code = machine.prepare(func);
    let result = machine.run_scalar(&code, &args).map_err(|t| t.describe(func))?;
    let cells = result.cells.len() / case.width as usize;
    let returns = (0..case.width as usize)
        .map(|k| Some(Val::of_cells(&result.cells[k * cells..(k + 1) * cells])))
        .collect();
    Ok(Finished { returns, machine_state: observed(machine, buffers) })
}

fn concat(values: &[Val]) -> Val {
    let cells: Vec<Cell> = values.iter().flat_map(|v| v.cells.iter().copied()).collect();
    Val::of_cells(&cells)
}

/// What of the reference the other run does not refine.
fn difference(case: &Case<'_>, reference: &Finished, other: &Finished) -> Option<String> {
    for lane in active(case).iter() {
        let (a, b) = (&reference.returns[lane as usize], &other.returns[lane as usize]);
        let fits = match (a, b) {
            (Some(a), Some(b)) => a.refined_by(b),
            (None, _) => true,
            (Some(a), None) => a.cells.is_empty(),
        };
        if !fits {
            return Some(format!("lane {lane} returns {b:?} instead of {a:?}"));
        }
    }
    let (a, b) = (&reference.machine_state, &other.machine_state);
    for (n, (&x, &y)) in a.buffers.iter().zip(&b.buffers).enumerate() {
        debug_assert_eq!(x, y);
        if let Some(at) = a.memory.first_difference(&b.memory, x) {
            return Some(format!("buffer {n} differs at byte {}", at - x));
        }
    }
    (a.effects != b.effects).then(|| format!("effects {:?} instead of {:?}", b.effects, a.effects))
}
