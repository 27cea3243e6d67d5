//! The first of the two references: the lane interpreter.
//!
//! The kernel is interpreted as W threads in lockstep, group by group, on a prefix of the range that a time budget
//! bounds; then the native code runs on that prefix alone, and all memory is compared.

use std::ops::Range;
use std::time::{Duration, Instant};

use warpline::demangle;
use warpline::interp::{
    LaneArg, LaneSet, Machine, Observer, Options, Race, RaceKind, RaceLog, Trap, TrapKind, Val,
};
use warpline::ir::{FuncId, Function, Module, Type};
use warpline::shape::ArgShape;
use warpline::vectorize::driver;

use crate::spec::{Elem, Tolerance};

use super::compare::Comparison;
use super::data::{Data, Image, Passed, element};
use super::mathematics::Calls;
use super::missing;

/// How long new groups are begun.
const TIME: Duration = Duration::from_millis(300);
/// How many instructions are executed at most, counted once per lane.
const FUEL: u64 = 100_000_000;

/// What the interpreter found.
pub(super) struct Lockstep {
    /// The first index.
    pub begin: i64,
    /// The index behind the prefix that was interpreted.
    pub end: i64,
    /// The memory after that: per buffer, the bytes that are defined.
    memory: Vec<Vec<Option<u8>>>,
    /// The addresses of the buffers.
    addresses: Vec<u64>,
    /// How lanes of a group met in memory.
    pub races: Races,
    /// Why the interpreter stopped before its time was over.
    pub stopped: Option<Stop>,
}

/// How lanes of a group met in memory: the first such meeting of each kind.
#[derive(Default)]
pub(super) struct Races {
    /// One that makes results depend on the order of lanes.
    pub matters: Option<(RaceKind, Meeting)>,
    /// One store of different values to one place, which nobody reads.
    pub last_lane_wins: Option<Meeting>,
    /// Whether lanes met by atomic operations.
    pub atomic: bool,
}

impl Races {
    /// Whether results may depend on the order in which lanes run.
    pub(super) fn order_matters(&self) -> bool {
        self.matters.is_some() || self.atomic
    }

    /// Adds what was seen in a group.
    pub(super) fn add(&mut self, seen: &RaceLog, place: impl Fn(u64) -> String) {
        let meeting =
            |race: Race| Meeting { first: race.first, second: race.second, place: place(race.address) };
        if self.matters.is_none() {
            self.matters = seen.matters().map(|(kind, race)| (kind, meeting(race)));
        }
        if self.last_lane_wins.is_none() {
            self.last_lane_wins = seen.last_lane_wins.map(meeting);
        }
        self.atomic |= seen.atomic.is_some();
    }
}

/// How two lanes met.
pub(super) struct Meeting {
    /// The lane that came first; `None` if there were several.
    pub first: Option<u32>,
    /// The lane that came second.
    pub second: u32,
    /// The buffer, with the number of the element.
    pub place: String,
}

/// Why the interpreter stopped.
pub(super) struct Stop {
    /// In words.
    pub text: String,
    /// Whether the kernel has undefined behaviour on this input.
    pub undefined: bool,
    /// What it calls there that is nowhere: machine code would end this process.
    pub missing: Option<String>,
    /// Whether calls are nested deeply: what calls itself may take forever on data that nobody has chosen.
    pub is_deep: bool,
}

impl Stop {
    /// What is known in words.
    pub(super) fn told(text: String, undefined: bool) -> Stop {
        Stop { text, undefined, missing: None, is_deep: false }
    }

    /// What stopped the interpreter.
    pub(super) fn of(trap: &Trap, text: String) -> Stop {
        let missing = match &trap.kind {
            TrapKind::UnsupportedCall(name) if missing::is_missing(name) => Some(name.clone()),
            _ => None,
        };
        let is_deep = trap.kind == TrapKind::RecursionLimit;
        Stop { text, undefined: trap.kind.is_undefined_behaviour(), missing, is_deep }
    }
}

/// What is interpreted.
#[derive(Copy, Clone)]
pub(super) struct Subject<'a> {
    /// The module of the kernel.
    pub module: &'a Module,
    /// The kernel.
    pub kernel: FuncId,
    /// The shapes of its parameters.
    pub args: &'a [ArgShape],
    /// W.
    pub width: u32,
    /// In groups of how many the driver executes what no group of W is left for.
    pub epilogue: u32,
    /// Whether machine code rounds once where `llvm.fmuladd` leaves it open.
    pub fused: bool,
}

/// Interprets a prefix of the range, with the mathematics of vector code if that is given.
pub(super) fn interpret(subject: Subject<'_>, data: &Data, calls: Option<&Calls<'_>>) -> Lockstep {
    let started = Instant::now();
    let mut groups = 0;
    let go_on = || started.elapsed() < TIME;
    let first = attempt(subject, data, calls, usize::MAX, &go_on, &mut groups, None);
    match first.stopped {
        None => first,
        // The group that failed has left traces in memory: once more without it.
        Some(stop) => {
            let mut again = attempt(subject, data, calls, groups, &|| true, &mut 0, None);
            again.stopped = Some(stop);
            again
        }
    }
}

/// Interprets a prefix of the range, of so many groups at most, and shows it to an observer.
pub(super) fn observe(subject: Subject<'_>, data: &Data, groups: usize, observer: &mut dyn Observer) {
    let started = Instant::now();
    let go_on = || started.elapsed() < TIME;
    attempt(subject, data, None, groups, &go_on, &mut 0, Some(observer));
}

/// A text about a function, with the name that it has in the source.
fn described(text: impl ToString, func: &Function) -> String {
    text.to_string().replace(&*func.name, &demangle(&func.name))
}

fn attempt(
    subject: Subject<'_>,
    data: &Data,
    calls: Option<&Calls<'_>>,
    limit: usize,
    go_on: &dyn Fn() -> bool,
    done: &mut usize,
    mut observer: Option<&mut dyn Observer>,
) -> Lockstep {
    let Subject { module, kernel, args, width, epilogue, fused } = subject;
    let func = &module.functions[kernel];
    let options =
        Options { fuel: FUEL, fuse_multiply_add: fused, record_effects: false, ..Options::default() };
    let mut machine = Machine::with_options(module, options);
    if let Some(calls) = calls {
        machine.set_mathematics(calls);
    }
    let mut found = Lockstep {
        begin: data.begin,
        end: data.begin,
        memory: Vec::new(),
        addresses: Vec::new(),
        races: Races::default(),
        stopped: None,
    };
    let addresses = match data.allocate(&mut machine.memory) {
        Ok(addresses) => addresses,
        Err(why) => {
            found.stopped = Some(Stop::told(why.to_string(), false));
            return found;
        }
    };
    let code = machine.prepare_id(kernel);
    let types: Vec<Type> = func.params.iter().map(|&p| func.ty(p)).collect();
    let mut results: Vec<Option<u8>> = Vec::new();
    let widths = driver::index_widths(func, args);
    for (start, count) in driver::groups(data.begin, data.end, &[width, epilogue], &widths).take(limit) {
        let position = start.abs_diff(data.begin);
        let lanes: Vec<LaneArg> = types
            .iter()
            .zip(args)
            .zip(&data.passed)
            .map(|((&ty, &shape), &passed)| {
                argument(ty, shape, passed, data, &addresses, start, position, count, width)
            })
            .collect();
        let watch = observer.as_mut().map(|o| &mut **o as &mut dyn Observer);
        match machine.run_lockstep(&code, width, LaneSet::first(count), &lanes, watch) {
            Ok(run) => {
                found.races.add(&run.races, |address| {
                    place(address, data, &addresses).unwrap_or_else(|| "memory of its own".to_owned())
                });
                if let Some(b) = data.result {
                    for value in run.returns.iter().take(count as usize) {
                        let bits = value.as_ref().and_then(Val::bits);
                        for k in 0..data.buffers[b].elem.bytes() {
                            results.push(bits.map(|bits| (bits >> (8 * k)) as u8));
                        }
                    }
                }
                *done += 1;
                found.end = start.saturating_add(i64::from(count));
            }
            Err(trap) => {
                let text = format!("at index {start}: {}", described(trap.describe(module, func), func));
                found.stopped = Some(Stop::of(&trap, text));
                return found;
            }
        }
        if !go_on() {
            break;
        }
    }
    for (i, buffer) in data.buffers.iter().enumerate() {
        let bytes = if data.result == Some(i) {
            let mut bytes = std::mem::take(&mut results);
            // Behind the prefix nothing was written.
            bytes.extend(buffer.initial[bytes.len()..].iter().map(|&b| Some(b)));
            bytes
        } else {
            machine.memory.read(addresses[i], buffer.initial.len() as u64).unwrap_or_default()
        };
        found.memory.push(bytes);
    }
    found.addresses = addresses;
    found
}

/// What the lanes of a group get for a parameter.
#[expect(clippy::too_many_arguments, reason = "one private helper with one caller")]
fn argument(
    ty: Type,
    shape: ArgShape,
    passed: Passed,
    data: &Data,
    addresses: &[u64],
    start: i64,
    position: u64,
    count: u32,
    width: u32,
) -> LaneArg {
    let bits = ty.int_bits().unwrap_or(64);
    let int = |x: i128| Val::signed(bits, x);
    let each = |f: &dyn Fn(u32) -> Val| {
        LaneArg::Each((0..width).map(|l| if l < count { f(l) } else { Val::poison(1) }).collect())
    };
    match passed {
        Passed::Index => each(&|l| int(i128::from(start) + i128::from(l))),
        Passed::Number(word) => match shape {
            ArgShape::Consecutive => each(&|l| int(i128::from(word) + i128::from(position) + i128::from(l))),
            ArgShape::Stride(step) => each(&|l| {
                let k = i128::from(position) + i128::from(l);
                int((i128::from(word) + i128::from(step) * k) & ((1i128 << bits) - 1))
            }),
            _ => LaneArg::Same(Val::int(word.into())),
        },
        Passed::Address(b) => match shape {
            ArgShape::Stride(step) => each(&|l| {
                let k = (position + u64::from(l)).wrapping_mul(step as u64);
                Val::ptr(addresses[b].wrapping_add(k))
            }),
            _ => LaneArg::Same(Val::ptr(addresses[b])),
        },
        Passed::Elements(b) => {
            let buffer = &data.buffers[b];
            each(&|l| Val::int(element(&buffer.initial, buffer.elem, position as usize + l as usize).into()))
        }
    }
}

/// The buffer and element of an address, if it is in a buffer.
pub(super) fn place(address: u64, data: &Data, addresses: &[u64]) -> Option<String> {
    let (b, start) = data.buffers.iter().zip(addresses).find(|(b, start)| {
        address.checked_sub(**start).is_some_and(|offset| offset < b.initial.len() as u64)
    })?;
    Some(format!("{}[{}]", b.name, (address - start) / b.elem.bytes() as u64))
}

impl Lockstep {
    /// What was found of work-groups.
    pub(super) fn of_groups(
        memory: Vec<Vec<Option<u8>>>,
        addresses: Vec<u64>,
        races: Races,
        stopped: Option<Stop>,
    ) -> Lockstep {
        Lockstep { begin: 0, end: 0, memory, addresses, races, stopped }
    }

    /// Compares what native code has left behind after a run on the prefix.
    pub(super) fn compare(&self, data: &Data, native: &Image, tolerance: Option<&Tolerance>) -> Comparison {
        let mut all = Comparison::default();
        let native_addresses = native.addresses();
        for (i, (buffer, reference)) in data.buffers.iter().zip(&self.memory).enumerate() {
            let size = buffer.elem.bytes();
            let found = native.bytes(data, i);
            for (k, bytes) in reference.chunks_exact(size).enumerate() {
                // What is undefined may be anything.
                let Some(bits) = defined(bytes, buffer.elem) else { continue };
                let native = element(found, buffer.elem, k);
                let place = k * size..(k + 1) * size;
                if bits != native && self.is_same_address(reference, found, place, &native_addresses, data) {
                    all.elements += 1;
                    continue;
                }
                all.element(buffer.elem, bits, native, tolerance, || format!("{}[{k}]", buffer.name));
            }
        }
        all
    }
}

impl Lockstep {
    /// Whether bytes that differ belong to addresses of one place in one buffer, which are others here than in native
    /// code.
    fn is_same_address(
        &self,
        reference: &[Option<u8>],
        found: &[u8],
        mut place: Range<usize>,
        native: &[u64],
        data: &Data,
    ) -> bool {
        let is_same = |start: usize| {
            let (Some(r), Some(f)) = (reference.get(start..start + 8), found.get(start..start + 8)) else {
                return false;
            };
            let Some(r) = defined(r, Elem::Int(64)) else { return false };
            let f = element(f, Elem::Int(64), 0);
            (0..self.addresses.len()).any(|b| {
                let offset = r.wrapping_sub(self.addresses[b]);
                offset == f.wrapping_sub(native[b]) && offset <= data.buffers[b].initial.len() as u64
            })
        };
        place.all(|at| reference[at] == Some(found[at]) || (at.saturating_sub(7)..=at).any(is_same))
    }
}

fn defined(bytes: &[Option<u8>], elem: Elem) -> Option<u64> {
    let mut word = [0; 8];
    for (to, from) in word[..elem.bytes()].iter_mut().zip(bytes) {
        *to = (*from)?;
    }
    Some(u64::from_le_bytes(word))
}
