//! Running programs on seeded inputs, and comparing what came out.

use warpline_interp::{
    Cell, Effect, EffectKind, HashingHost, LaneArg, LaneSet, Machine, Memory, Observer, Options, Run, Trap,
    Val,
};
use warpline_ir::{FloatKind, Type};

use super::composite::{bytes, leaves};
use super::wide::{EXTENDED, QUADRUPLE};
use super::{MAX_INDEX, ParamRole, Program};
use crate::rng::SplitMix64;

/// Inputs of a kernel for a number of lanes.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The number of lanes.
    pub width: u32,
    params: Vec<Input>,
}

#[derive(Clone, Debug)]
enum Input {
    Lanes(LaneArg),
    Buffer(Vec<u8>, u64),
}

/// An input that is given.
#[derive(Clone, Debug)]
pub enum Given {
    /// The bits of a scalar that all lanes get.
    Same(u128),
    /// The bits of each lane's scalar.
    Lanes(Vec<u128>),
    /// What a buffer contains; it is aligned to 16 bytes.
    Buffer(Vec<u8>),
}

fn random_scalar(rng: &mut SplitMix64, ty: Type) -> u128 {
    match ty {
        Type::Int(w) => {
            let v = match rng.below(4) {
                0 => u128::from(rng.next_u64()),
                1 => (rng.below(5) as u128).wrapping_neg(),
                _ => rng.below(20) as u128,
            };
            if w >= 128 { v } else { v & ((1 << w) - 1) }
        }
        Type::Float(kind) => {
            let special = [0.0, -0.0, 1.0, f64::INFINITY, f64::NAN, 1e-300, 1e30];
            let x = if rng.chance(1, 8) { *rng.pick(&special) } else { rng.below(64) as f64 / 4.0 - 8.0 };
            match kind {
                FloatKind::Float => u128::from((x as f32).to_bits()),
                FloatKind::Half => *rng.pick(&[0u128, 0x3c00, 0xbe00, 0x4248, 0x7c00, 0x8000, 0x0001]),
                FloatKind::X86Fp80 => *rng.pick(&EXTENDED),
                FloatKind::Fp128 => *rng.pick(&QUADRUPLE),
                FloatKind::BFloat => u128::from((x as f32).to_bits() >> 16),
                _ => u128::from(x.to_bits()),
            }
        }
        _ => 0,
    }
}

impl Inputs {
    /// Inputs of a seed. `width` is at most 64.
    pub fn random(program: &Program, width: u32, seed: u64) -> Inputs {
        let mut rng = SplitMix64::new(seed ^ 0x5eed);
        let function = program.function();
        let module = &program.module;
        let params = function.params.iter().zip(&program.roles).map(|(&v, role)| {
            let ty = function.ty(v);
            let scalars: Vec<Type> = leaves(module, ty).into_iter().map(|l| l.ty).collect();
            let value = |rng: &mut SplitMix64| {
                let cells: Vec<Cell> = scalars.iter().map(|&ty| Cell::new(random_scalar(rng, ty))).collect();
                Val::of_cells(&cells)
            };
            match *role {
                ParamRole::Index => {
                    let first = rng.below(MAX_INDEX as usize - width as usize + 1) as u128;
                    let each = (0..u128::from(width)).map(|k| Val::int(first + k)).collect();
                    Input::Lanes(LaneArg::Each(each))
                }
                ParamRole::Uniform => Input::Lanes(LaneArg::Same(value(&mut rng))),
                ParamRole::Varying => {
                    let each = (0..width).map(|_| value(&mut rng)).collect();
                    Input::Lanes(LaneArg::Each(each))
                }
                ParamRole::Buffer { elem, len, .. } => {
                    let element = |_| bytes(module, elem, |ty| random_scalar(&mut rng, ty));
                    let bytes: Vec<u8> = (0..len).flat_map(element).collect();
                    Input::Buffer(bytes, module.layout.abi_align(&module.types, elem))
                }
            }
        });
        Inputs { width, params: params.collect() }
    }

    /// These inputs for so many lanes.
    pub fn given(width: u32, given: Vec<Given>) -> Inputs {
        let input = |g| match g {
            Given::Same(x) => Input::Lanes(LaneArg::Same(Val::int(x))),
            Given::Lanes(each) => Input::Lanes(LaneArg::Each(each.into_iter().map(Val::int).collect())),
            Given::Buffer(bytes) => Input::Buffer(bytes, 16),
        };
        Inputs { width, params: given.into_iter().map(input).collect() }
    }

    /// Allocates the buffers in a fresh machine: the arguments, and the addresses of the buffers. Two fresh machines
    /// get the same addresses.
    pub fn bind(&self, machine: &mut Machine<'_>) -> (Vec<LaneArg>, Vec<u64>) {
        let (mut args, mut buffers) = (Vec::new(), Vec::new());
        for p in &self.params {
            args.push(match p {
                Input::Lanes(a) => a.clone(),
                Input::Buffer(bytes, align) => {
                    let address = machine.memory.allocate_bytes(bytes, *align).expect("buffers are small");
                    buffers.push(address);
                    LaneArg::Same(Val::ptr(address))
                }
            });
        }
        (args, buffers)
    }
}

/// What one execution of a program shows to the outside.
#[derive(Clone, Debug)]
pub struct Observed {
    /// What the lanes returned, or the first trap.
    pub result: Result<Vec<Option<Val>>, Trap>,
    /// The memory afterwards.
    pub memory: Memory,
    /// The buffers in it.
    pub buffers: Vec<u64>,
    /// The effects in order.
    pub effects: Vec<Effect>,
    /// Whether a `freeze` chose a value.
    pub froze: bool,
    /// The run, if it did not trap and was of several lanes.
    pub run: Option<Run>,
}

/// Which order of effects binds.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Reference {
    /// Lanes run together: the order of all effects binds.
    Lockstep,
    /// Lanes ran one after the other: the order within each lane binds.
    Sequential,
}

/// How two executions differ.
#[derive(Clone, Debug, PartialEq)]
pub enum Mismatch {
    /// One trapped, the other did not (or with another kind of trap).
    Trap(String),
    /// A lane returned something else.
    Return {
        /// The lane.
        lane: u32,
        /// The reference's value.
        expected: Box<Option<Val>>,
        /// The other's value.
        found: Box<Option<Val>>,
    },
    /// A buffer differs.
    Memory {
        /// Which buffer.
        buffer: usize,
        /// The offset in bytes.
        offset: u64,
    },
    /// The effects differ.
    Effects {
        /// The position in the (lane's) sequence.
        position: usize,
        /// The reference's effect.
        expected: Box<Option<Effect>>,
        /// The other's effect.
        found: Box<Option<Effect>>,
    },
}

/// Runs the kernel of a program in lockstep. The host answers every call (see [`HashingHost`]).
pub fn run_lockstep(
    program: &Program,
    inputs: &Inputs,
    entry: LaneSet,
    options: &Options,
    observer: Option<&mut dyn Observer>,
) -> Observed {
    let mut machine = Machine::with_options(&program.module, options.clone());
    machine.set_host(HashingHost);
    let (args, buffers) = inputs.bind(&mut machine);
    let code = machine.prepare_id(program.kernel);
    let run = machine.run_lockstep(&code, inputs.width, entry, &args, observer);
    let (result, run) = match run {
        Ok(r) => (Ok(r.returns.clone()), Some(r)),
        Err(t) => (Err(t), None),
    };
    Observed {
        result,
        buffers,
        effects: std::mem::take(&mut machine.effects),
        froze: machine.froze,
        run,
        memory: machine.memory.clone(),
    }
}

/// Runs the kernel of a program once for each lane, one after the other, on one memory.
pub fn run_sequential(program: &Program, inputs: &Inputs, options: &Options) -> Observed {
    let mut machine = Machine::with_options(&program.module, options.clone());
    machine.set_host(HashingHost);
    let (args, buffers) = inputs.bind(&mut machine);
    let code = machine.prepare_id(program.kernel);
    let mut returns = Ok(Vec::new());
    let mut effects = Vec::new();
    for lane in 0..inputs.width {
        let args: Vec<Val> = args
            .iter()
            .map(|a| match a {
                LaneArg::Same(v) => v.clone(),
                LaneArg::Each(list) => list[lane as usize].clone(),
            })
            .collect();
        let result = machine.run_scalar(&code, &args);
        effects.extend(machine.effects.drain(..).map(|e| Effect { lane, ..e }));
        match (result, &mut returns) {
            (Ok(v), Ok(list)) => list.push(Some(v)),
            (Err(t), _) => {
                returns = Err(Trap { lane: Some(lane), ..t });
                break;
            }
            _ => {}
        }
    }
    Observed {
        result: returns,
        buffers,
        effects,
        froze: machine.froze,
        run: None,
        memory: machine.memory.clone(),
    }
}

/// Whether an execution does what the reference does, or what the reference leaves open (undef, poison). A reference
/// that froze undef or poison leaves everything open: another execution may freeze another value.
///
/// # Errors
/// The first difference.
pub fn compare(reference: &Observed, other: &Observed, order: Reference) -> Result<(), Mismatch> {
    if reference.froze {
        return Ok(());
    }
    match (&reference.result, &other.result) {
        (Ok(expected), Ok(found)) => compare_returns(expected, found)?,
        (Err(a), Err(b)) if a.kind == b.kind => return Ok(()),
        // Which lane traps first is open.
        (Err(a), Err(b)) if a.kind.is_undefined_behaviour() && b.kind.is_undefined_behaviour() => {
            return Ok(());
        }
        (Err(t), _) => return Err(Mismatch::Trap(format!("expected {t}"))),
        (_, Err(t)) => return Err(Mismatch::Trap(format!("found {t}"))),
    }
    for (k, &address) in reference.buffers.iter().enumerate() {
        if let Some(at) = reference.memory.first_difference(&other.memory, address) {
            return Err(Mismatch::Memory { buffer: k, offset: at - address });
        }
    }
    match order {
        Reference::Lockstep => compare_effects(&reference.effects, &other.effects),
        Reference::Sequential => {
            let of = |list: &[Effect], lane| -> Vec<Effect> {
                list.iter().filter(|e| e.lane == lane).cloned().collect()
            };
            (0..64).try_for_each(|l| compare_effects(&of(&reference.effects, l), &of(&other.effects, l)))
        }
    }
}

fn compare_returns(expected: &[Option<Val>], found: &[Option<Val>]) -> Result<(), Mismatch> {
    for (lane, (a, b)) in expected.iter().zip(found).enumerate() {
        let same = match (a, b) {
            (Some(a), Some(b)) => a.refined_by(b),
            (None, _) => true,
            _ => false,
        };
        if !same {
            let lane = lane as u32;
            return Err(Mismatch::Return { lane, expected: a.clone().into(), found: b.clone().into() });
        }
    }
    Ok(())
}

fn compare_effects(expected: &[Effect], found: &[Effect]) -> Result<(), Mismatch> {
    for position in 0..expected.len().max(found.len()) {
        let (a, b) = (expected.get(position), found.get(position));
        let same = match (a, b) {
            (Some(a), Some(b)) => a.lane == b.lane && same_effect(&a.kind, &b.kind),
            _ => false,
        };
        if !same {
            let (expected, found) = (a.cloned().into(), b.cloned().into());
            return Err(Mismatch::Effects { position, expected, found });
        }
    }
    Ok(())
}

fn same_effect(a: &EffectKind, b: &EffectKind) -> bool {
    match (a, b) {
        (EffectKind::Call { name: n, args: x, .. }, EffectKind::Call { name: m, args: y, .. }) => {
            n == m && x.len() == y.len() && x.iter().zip(y).all(|(a, b)| a.refined_by(b))
        }
        (
            EffectKind::VolatileLoad { address: p, value: x },
            EffectKind::VolatileLoad { address: q, value: y },
        )
        | (
            EffectKind::VolatileStore { address: p, value: x },
            EffectKind::VolatileStore { address: q, value: y },
        ) => p == q && x.refined_by(y),
        _ => false,
    }
}
