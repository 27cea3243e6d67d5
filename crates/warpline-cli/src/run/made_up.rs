//! Data for a run of which the user says nothing: made up from the function's parameters.
//!
//! Integers that bound loops or are part of addresses are taken for extents ([`roles`](super::roles)): with one of them
//! a range or loop has thousands of indices, with two, or with loops in loops, some hundred in either direction, and so
//! on, so that a run takes little time. What is only compared with lies in the middle of what buffers have, so that
//! either may be; and where a loop is left because of what it finds, nothing is found at first. Pointers lead to buffers
//! with room for four elements for each combination of these, of the type that the function accesses there, or to
//! structures (`records`). It is a guess, and the report says what was passed; where a program needs other data, the
//! interpreter, which judges each run, finds accesses behind a buffer's end, and the user is told how to say more.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use warpline::ir::{CastOp, Function, Inst, InstFlags, Module, Op, Scalar, Type, Value};
use warpline::shape::ArgShape;
use warpline::vectorize::call_graph::has_cross_lane_operations;
use warpline::vectorize::work_items;
use warpline_compile::KernelOptions;
use warpline_compile::kernel::Kernel;
use warpline_llvm::Imported;
use warpline_llvm::InputKind;

use crate::directives;
use crate::error::{Error, Result};
use crate::spec::{Bind, Elem, Fill, Number, Spec};

use super::data::Data;
use super::lockstep::{self, Subject};
use super::records::{self, Guess, Record};
use super::roles::{Role, Roles};

/// What integers are, by how many of them are taken for extents.
const EXTENTS: [u64; 4] = [4000, 200, 40, 16];
/// The largest buffer, in elements.
const MOST: u64 = 1 << 22;
/// The value of narrow integers.
const SMALL: u64 = 100;
/// How long a part is: of what is looked for or averaged over.
const PART: u64 = 16;
/// By how many bits something is moved.
const SHIFT: u64 = 3;
/// How many work-items a group has, and how many there are in all.
pub(super) const GROUP: u64 = 64;
/// See [`GROUP`].
pub(crate) const ITEMS: u64 = 64 * GROUP;

/// How many elements an array has of which a structure says where it ends: structures of many sizes fill it.
const WHOLE: u64 = 15_120;

/// Parameters whose names say that something begins there.
const BEGINNINGS: [&str; 7] = ["begin", "start", "first", "from", "lo", "off", "offset"];

/// How the names of parameters begin that say by how much something grows: by one, as callers mostly have it.
const STEPS: [&str; 2] = ["inc", "step"];

/// Parameters whose names say that they are an index.
const INDICES: [&str; 8] = ["i", "idx", "index", "id", "gid", "tid", "lane", "k"];

/// The extent of what a run of a function with these parameters of its own does: how many indices a range has of which
/// nothing is said.
pub(crate) fn extent(params: &[Value], func: &Function, binds: &[&Bind]) -> u64 {
    let counts = extents(params, &Roles::of(func), binds);
    EXTENTS[counts.saturating_sub(1).min(EXTENTS.len() - 1)]
}

/// What buffers are given, one after the other, until the data fits: how far a program goes is a guess.
const ROOMS: [Room; 8] = [
    Room::FIRST,
    Room { even: false, ..Room::FIRST },
    Room { even: false, truths: true, ..Room::FIRST },
    Room { even: false, slices: Slices::ShorterWritten, ..Room::FIRST },
    Room { even: false, slices: Slices::ShorterRead, ..Room::FIRST },
    Room { even: false, times: 16, ..Room::FIRST },
    Room { even: false, times: 256, ..Room::FIRST },
    Room { even: false, times: 256, fewer: true, ..Room::FIRST },
];

/// How much room buffers are given.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) struct Room {
    /// How many times the usual number of elements they have.
    times: u64,
    slices: Slices,
    /// Whether extents are what they are for one number more: of a matrix, only how many rows it has may be passed.
    fewer: bool,
    /// Whether they have one number everywhere where a function searches.
    even: bool,
    /// Whether each of their bytes is 0 or 1, as that of a truth value must be, among which nothing else may be seen:
    /// structures may have some beside floating-point numbers, which are small then.
    truths: bool,
}

impl Room {
    /// What is tried first.
    pub(crate) const FIRST: Room =
        Room { times: 1, slices: Slices::Alike, fewer: false, even: true, truths: false };

    /// Whether this is what is tried first.
    pub(super) fn is_first(self) -> bool {
        self == Room::FIRST
    }
}

/// How long Rust's slices are, one beside the other.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Slices {
    Alike,
    /// Those that are written are shorter, as where a number is made of several.
    ShorterWritten,
    /// Those that are only read are, as where several are made of one.
    ShorterRead,
}

impl Slices {
    fn is_shorter(self, func: &Function, slice: Value) -> bool {
        match self {
            Slices::Alike => false,
            Slices::ShorterWritten => is_written(func, slice),
            Slices::ShorterRead => !is_written(func, slice),
        }
    }
}

/// How many times shorter.
const SHORTER: u64 = 4;

/// How many elements buffers have where a function has loops, and no parameter says how far they go.
const UNKNOWN: u64 = 1 << 16;

/// Whether functions of an input may have Rust's slices: what was made of Rust does not always say so.
pub(super) fn may_have_slices(input: &Path) -> bool {
    !matches!(InputKind::of(input), Ok(InputKind::C | InputKind::Cpp | InputKind::OpenCl))
}

/// Runs something with data for which buffers have more and more room, until it fits. Without slices, all that their
/// lengths make different is the same.
///
/// # Errors
/// Those of `run`.
pub(super) fn fitting<T>(has_slices: bool, run: impl Fn(Room) -> Result<T>) -> Result<T> {
    let mut done = run(Room::FIRST);
    for &room in ROOMS[1..].iter().filter(|room| has_slices || room.slices == Slices::Alike) {
        match done {
            // Fewer iterations are for too small buffers: what is nested too deeply may never end then.
            Err(error) if is_misfit(&error) && (!room.fewer || error.to_string().contains(OUTSIDE)) => {
                done = run(room);
            }
            done => return done,
        }
    }
    done
}

/// What is passed for those of these parameters that have no value among `binds`; of kernels, for `count` indices.
///
/// # Errors
/// If nothing can be made up for one.
pub(crate) fn missing(
    module: &Module,
    func: &Function,
    params: &[Value],
    args: &[ArgShape],
    binds: &[&Bind],
    count: u64,
    Room { times: room, slices, fewer, even, truths }: Room,
) -> Result<Vec<Bind>> {
    let elements = elements(func);
    let records = records::of(module, func, &elements);
    let unbound = |param: &Value| binds.iter().all(|bind| bind.name != name_of(func, *param));
    let numbers = params.iter().filter(|param| unbound(param)).filter_map(|param| records.get(param));
    let numbers: usize = numbers.map(Record::numbers).sum();
    let roles = Roles::of(func);
    let extents = |binds: &[&Bind]| extents(params, &roles, binds) + numbers;
    let several = extents(binds).saturating_sub(1) + usize::from(fewer);
    let extent = EXTENTS[several.min(EXTENTS.len() - 1)];
    let number = |bind: &&&Bind| match bind.spec {
        Spec::Number(Number::Int(n)) => u64::try_from(n).ok(),
        _ => None,
    };
    let known = binds.iter().filter_map(|bind| number(&bind)).filter(|&n| n > 0);
    let made = (0..extents(binds)).map(|_| extent);
    let product = known.chain(made).fold(1, u64::saturating_mul).max(count);
    // Slices, and what nothing bounds, have as many elements as a range has indices.
    let has_lengths = params.iter().any(|&param| is_length(func, param));
    let len = match extents(&[]) {
        // A function that is run once, of which nothing says how far it goes.
        0 if count == 1 && !has_lengths => UNKNOWN,
        0 => count.max(EXTENTS[0]),
        _ => product.saturating_mul(4),
    };
    let bounded = WHOLE.saturating_mul(room).min(MOST) as usize;
    let room = len.saturating_mul(room).clamp(1, MOST) as usize;
    let len = len.clamp(1, MOST) as usize;
    let even = even && roles.searches();
    let contents = |elem: Elem| if even { one_number(elem, extent) } else { contents(elem, extent) };
    let mut all = Vec::new();
    // How many numbers have been passed, of either kind: each is another one, greater than those before.
    let [mut integers, mut floats] = [0, 0];
    for (&param, &shape) in params.iter().zip(args) {
        let name = name_of(func, param);
        if shape == ArgShape::Index || binds.iter().any(|bind| bind.name == name) {
            continue;
        }
        if let Some(slice) = slice_of(func, param).filter(|_| shape != ArgShape::Varying) {
            let shorter = if slices.is_shorter(func, slice) { SHORTER } else { 1 };
            all.push(Bind { name, spec: Spec::Number(Number::Int((len as u64 / shorter).into())) });
            continue;
        }
        let spec = match (Elem::of(func.ty(param)), shape) {
            (Some(elem), ArgShape::Varying) => {
                Spec::Buffer { elem, len: count as usize, fill: contents(elem) }
            }
            (Some(elem), _) => Spec::Number(match (elem, roles.role(param)) {
                (Elem::Int(_), _) if begins(&name) || is_step(&name) => scalar(elem, &name, extent),
                (Elem::Int(16..), Role::Number) => {
                    integers += 1;
                    Number::Int((extent / 2 + apart(extent, integers)).into())
                }
                (Elem::Int(_), Role::Part) => Number::Int(PART.into()),
                (Elem::Int(_), Role::Shift) => Number::Int(SHIFT.into()),
                (Elem::F32 | Elem::F64, _) => {
                    floats += 1;
                    Number::Float(0.5 + apart(8, floats) as f64 / 8.0)
                }
                _ => scalar(elem, &name, extent),
            }),
            (None, _) if func.pointers[param].local => {
                let elem = elements.get(&param).copied().flatten().unwrap_or(Elem::F32);
                Spec::Local { elem, len: 4 * GROUP as usize }
            }
            (None, _) if func.ty(param).is_ptr() => {
                match elements.get(&param).copied().unwrap_or(Some(Elem::F32)) {
                    Some(elem @ (Elem::F32 | Elem::F64)) if truths => {
                        let size = if elem == Elem::F32 { 4 } else { 8 };
                        let fill = Fill::Between(Number::Int(0), Number::Int(2));
                        Spec::Buffer { elem: Elem::Int(8), len: size * room, fill }
                    }
                    Some(elem) => Spec::Buffer { elem, len: room, fill: contents(elem) },
                    None => {
                        let record = records.get(&param).ok_or_else(|| leads_to_pointers(&name))?;
                        Spec::Record(record.members(&Guess { extent, room, bounded }))
                    }
                }
            }
            (None, _) => continue,
        };
        all.push(Bind { name, spec });
    }
    Ok(all)
}

/// What lies behind a pointer is no structure of numbers and arrays.
fn leads_to_pointers(name: &str) -> Error {
    let message = "no data can be made up for this parameter, which leads to pointers to pointers, or to structures \
                   that are not simple: write a function that calls this one with data of yours, and has no such \
                   parameters";
    Error::option(format!("--bind {name}"), message)
}

/// What is passed to a function with loops of which nothing is said: data that fits, as far as the interpreter goes.
///
/// # Errors
/// As [`missing`], or if no data fits.
pub(crate) fn for_loops(kernel: &Kernel) -> Result<Vec<Bind>> {
    let func = kernel.function();
    let subject = Subject {
        module: &kernel.imported.ir,
        kernel: kernel.func,
        args: &kernel.args,
        width: 1,
        epilogue: 1,
        fused: false,
    };
    fitting(func.params.iter().any(|&param| is_length(func, param)), |room| {
        let made = missing(&kernel.imported.ir, func, &func.params, &kernel.args, &[], 1, room)?;
        let data = Data::new(func, &kernel.args, &made.iter().collect::<Vec<_>>(), (0, 1), 1)?;
        match lockstep::interpret(subject, &data, None).stopped.filter(|stop| stop.undefined) {
            Some(stop) => Err(does_not_fit(&stop.text, &describe(&made, None))),
            None => Ok(made),
        }
    })
}

/// The parameter of a function that is taken for its index, where nothing says what its lanes are: neither directives
/// nor what it asks.
///
/// # Errors
/// If directives are malformed.
pub(crate) fn guess_index(imported: &Imported, asked: &KernelOptions, name: &str) -> Result<Option<String>> {
    let is_opencl = || !imported.bridge.module().opencl_kernels().is_empty();
    if asked.args.is_some() || !directives::read(&asked.input)?.is_empty() || is_opencl() {
        return Ok(None);
    }
    let func = imported.ir.function(name).map(|id| &imported.ir.functions[id]);
    let says = |func: &&Function| {
        has_cross_lane_operations(&imported.ir, func) || work_items::asks(&imported.ir, func)
    };
    let func = func.filter(|func| !says(func));
    Ok(func.and_then(index))
}

/// An integer whose name says that it is an index, or the only integer beside pointers.
fn index(func: &Function) -> Option<String> {
    let integers = || {
        let params = func.params.iter().copied();
        params.filter(|&p| matches!(func.ty(p), Type::Int(32 | 64)) && !is_length(func, p))
    };
    let named = |&p: &Value| INDICES.contains(&&*name_of(func, p));
    let only = || {
        let mut all = integers();
        let first = all.next().filter(|_| func.params.iter().any(|&p| func.ty(p).is_ptr()));
        first.filter(|_| all.next().is_none())
    };
    integers().find(named).or_else(only).map(|p| name_of(func, p))
}

/// What was passed, in a line.
pub(super) fn describe(made: &[Bind], range: Option<(i64, i64)>) -> String {
    let range = range.map(|(begin, end)| format!("--range {begin}..{end}"));
    let binds = made.iter().map(|bind| match &bind.spec {
        // For shells, which have braces of their own.
        Spec::Record(_) => format!("--bind '{}={}'", bind.name, bind.spec),
        _ => format!("--bind {}={}", bind.name, bind.spec),
    });
    let all: Vec<String> = range.into_iter().chain(binds).collect();
    format!("data was made up: {}", all.join(" "))
}

/// What to say if a program does not work with such data, which `note` describes.
pub(super) fn does_not_fit(why: &str, note: &str) -> Error {
    Error::option("--bind", format!("{MISFIT} ({why}): say what is passed; {note}"))
}

/// What to say if such data leads a program to a function that is nowhere; `why` says to which.
pub(super) fn meets_what_is_missing(why: &str, note: &str) -> Error {
    Error::option("--bind", format!("{MISSING}, {why}; {note}"))
}

/// How messages begin if other data might do.
const MISFIT: &str = "data that was made up does not fit";
/// What the interpreter says of an access that leaves its buffer.
const OUTSIDE: &str = "outside of all allocations";
/// See [`MISFIT`].
const MISSING: &str = "with data that was made up";

fn is_misfit(error: &Error) -> bool {
    matches!(error, Error::Option { message, .. } if [MISFIT, MISSING].iter().any(|begin| message.starts_with(begin)))
}

fn name_of(func: &Function, param: Value) -> String {
    func.value_name(param)[1..].to_owned()
}

/// How many extents there are: parameters that are taken for one, among those that have no value, and loops.
fn extents(params: &[Value], roles: &Roles<'_>, binds: &[&Bind]) -> usize {
    let func = roles.func;
    let unbound = |name: &str| binds.iter().all(|bind| bind.name != name);
    let counts = |&&param: &&Value| {
        let name = name_of(func, param);
        let wide = matches!(func.ty(param), Type::Int(16 | 32 | 64)) && roles.role(param) == Role::Extent;
        wide && unbound(&name) && !begins(&name) && !is_step(&name) && !is_length(func, param)
    };
    let count = params.iter().filter(counts).count();
    if count == 0 { 0 } else { count.max(roles.depth()) }
}

fn begins(name: &str) -> bool {
    BEGINNINGS.contains(&name)
}

/// Whether something is stored through a slice.
fn is_written(func: &Function, slice: Value) -> bool {
    let all = func.layout.iter().flat_map(|&b| func.block_insts(b));
    all.filter_map(|i| func.accessed(i))
        .any(|a| a.writes && pointers_behind(func, a.address).contains(&slice))
}

fn is_step(name: &str) -> bool {
    STEPS.iter().any(|step| name.starts_with(step))
}

/// Whether a parameter is the length of one of Rust's slices.
fn is_length(func: &Function, param: Value) -> bool {
    slice_of(func, param).is_some()
}

/// The slice that a parameter is the length of: `x.0` before `x.1`.
fn slice_of(func: &Function, param: Value) -> Option<Value> {
    let at = func.params.iter().position(|&p| p == param)?.checked_sub(1)?;
    let slice = func.params[at];
    let (name, before) = (name_of(func, param), name_of(func, slice));
    let stem = name.strip_suffix(".1")?;
    (before.strip_suffix(".0") == Some(stem) && func.ty(slice).is_ptr()).then_some(slice)
}

/// By how much the first, second … number of a kind is beyond the middle of what there is: of several, as limits often
/// are, no two are the same, and the first is the least.
fn apart(extent: u64, number: u64) -> u64 {
    extent / 8 * (number - 1).min(3)
}

pub(super) fn scalar(elem: Elem, name: &str, extent: u64) -> Number {
    match elem {
        Elem::Bool => Number::Int(1),
        Elem::Int(8) => Number::Int(SMALL.into()),
        Elem::Int(_) if begins(name) => Number::Int(0),
        Elem::Int(_) if is_step(name) => Number::Int(1),
        Elem::Int(_) => Number::Int(extent.into()),
        Elem::F32 | Elem::F64 => Number::Float(0.5),
    }
}

/// What is everywhere in a buffer in which nothing is to be found: less than what [`missing`] has numbers compared
/// with, and no end of a text.
fn one_number(elem: Elem, extent: u64) -> Fill {
    Fill::Same(match elem {
        Elem::Bool => Number::Int(0),
        Elem::Int(8) => Number::Int((SMALL - 3).into()),
        Elem::Int(_) => Number::Int((extent / 4).into()),
        Elem::F32 | Elem::F64 => Number::Float(0.25),
    })
}

/// What is in a buffer: integers that are wide enough may be indices.
pub(super) fn contents(elem: Elem, extent: u64) -> Fill {
    match elem {
        Elem::Int(16..) => Fill::Between(Number::Int(0), Number::Int(extent.into())),
        _ => Fill::Random,
    }
}

/// What lies where parameters, and other pointers that functions begin with or load, point to, by what is loaded and
/// stored through them; `None` if that are pointers.
/// Structures of several types are taken for what is floating-point in them.
fn elements(func: &Function) -> HashMap<Value, Option<Elem>> {
    let mut found: HashMap<Value, Option<Elem>> = HashMap::new();
    let bools = bools(func);
    for inst in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
        let Some((address, ty)) = accessed(func, inst) else { continue };
        let elem = match ty.scalar() {
            Some(Scalar::Ptr(_)) => None,
            Some(scalar) => match Elem::of(scalar.into()) {
                None => continue,
                elem => elem,
            },
            None => continue,
        };
        let is_float = |elem: Option<Elem>| elem.is_some_and(Elem::is_float);
        for pointer in pointers_behind(func, address) {
            let old = found.entry(pointer).or_insert(elem);
            if elem.is_none() || (old.is_some() && is_float(elem) && !is_float(*old)) {
                *old = elem;
            }
            if *old == Some(Elem::Int(8)) && func.insts[inst].result().is_some_and(|v| bools.contains(&v)) {
                *old = Some(Elem::Bool);
            }
        }
    }
    found
}

/// The address and the type that a load, a store or an atomic operation accesses.
fn accessed(func: &Function, inst: Inst) -> Option<(Value, Type)> {
    let data = &func.insts[inst];
    match &data.op {
        Op::Opaque(info) if info.atomic.is_some() => match data.args[..] {
            [address, x, ..] => Some((address, func.ty(x))),
            _ => None,
        },
        _ => func.accessed(inst).map(|accessed| (accessed.address, accessed.ty)),
    }
}

/// Bytes that are nothing but 0 and 1, since a truncation says so.
fn bools(func: &Function) -> HashSet<Value> {
    let all = func.layout.iter().flat_map(|&b| func.block_insts(b)).map(|i| &func.insts[i]);
    let exact = all.filter(|data| {
        matches!(data.op, Op::Cast(CastOp::Trunc))
            && data.flags.contains(InstFlags::NUW)
            && data.result().is_some_and(|v| func.ty(v) == Type::BOOL)
    });
    exact.map(|data| data.args[0]).collect()
}

/// The pointers that an address may be computed from, and that are computed from no others.
pub(super) fn pointers_behind(func: &Function, address: Value) -> Vec<Value> {
    let (mut seen, mut work, mut found) = (HashSet::new(), vec![address], Vec::new());
    while let Some(v) = work.pop() {
        if !seen.insert(v) {
            continue;
        }
        match func.pointers_behind(v) {
            Some(behind) => work.extend(behind),
            None => found.push(v),
        }
    }
    found
}
