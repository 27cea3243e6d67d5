//! `warpline run` of kernels over work-groups, with barriers or without: whole groups, as they are defined and in
//! vector code.
//!
//! The reference is the lane interpreter, in which each work-item runs to its next barrier by itself, in an order that
//! the seed chooses. It runs all groups, one after the other; then the driver over work-groups runs in machine code,
//! with scalar mathematics, and all buffers are compared bit for bit.

use serde_json::json;
use warpline::group_functions::Query;
use warpline::interp::{Machine, Options, SubGroups, Val};
use warpline::ir::{FuncId, Type};
use warpline::vectorize::driver;
use warpline::vectorize::groups::Cut;
use warpline::vectorize::warps::Warps;
use warpline::vectorize::work_items::{Added, Local, WorkItems};
use warpline_compile::groups;
use warpline_compile::{KernelOptions, VectorizeOptions};
use warpline_llvm::Jit;
use warpline_llvm::worker::{self, CodegenOptions, Output};

use crate::Outcome;
use crate::cli::{Format, RunOptions};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::spec::{Bind, Number, Spec};

use super::compare::Comparison;
use super::data::{Data, Image, Passed};
use super::guard::watched;
use super::lockstep::{Lockstep, Races, Stop, place};
use super::{Report, VECTOR, VECTOR_PROGRAM, made_up};

/// How many instructions are interpreted at most.
const FUEL: u64 = 400_000_000;
/// The workspace's parts begin at multiples of this.
const ALIGN: u64 = 64;
/// More work-items than these are no group.
const LARGEST_GROUP: u64 = 1 << 16;

/// The work-items of a run.
struct Range {
    size: [u64; 3],
    local: [u64; 3],
}

impl Range {
    /// Checks that no warp is parts of several rows, for which drivers end the program.
    fn has_whole_warps(&self, lanes: u64) -> Result<()> {
        let is_one_row = self.local[1] * self.local[2] == 1;
        if is_one_row || self.local[0].is_multiple_of(lanes) && self.size[0].is_multiple_of(lanes) {
            return Ok(());
        }
        let message = format!(
            "groups have several rows, and a warp of {lanes} lanes would be parts of some: make rows a multiple of \
             {lanes}"
        );
        Err(Error::option("--local", message))
    }
}

/// Runs a kernel that was cut, or one without barriers whose work-items options group.
///
/// # Errors
/// If options do not fit, or the reason why the kernel cannot be vectorized or run.
pub(super) fn judge(
    options: &RunOptions,
    asked: &KernelOptions,
    mut kernel: Kernel,
    room: made_up::Room,
) -> Result<(Report, Outcome)> {
    let Some(items) = kernel.items.clone() else {
        return Err(Error::option("--global", "the kernel asks for no work-items"));
    };
    if options.range.is_some() {
        let message = "`--global` says how many work-items a kernel over work-groups has";
        return Err(Error::option("--range", message));
    }
    let range = range(options, &items, kernel.group)?;
    if items.warps.is_some() {
        range.has_whole_warps(u64::from(kernel.width))?;
    }
    let (data, passed, note) = bind(options, &kernel, &items, &range, room)?;
    let asked = VectorizeOptions::new(KernelOptions { math_ulp: 0, ..asked.clone() });
    let names = groups::Names {
        lanes: "warpline_run_lanes",
        ndrange: "warpline_run_ndrange",
        groups: "warpline_run_groups",
        workspace: "warpline_run_workspace",
    };
    let (driver, mut new, cuts) = match kernel.regions {
        Some(_) => {
            let made = groups::make(&asked, &mut kernel, names)?;
            (made.driver, made.new, made.cuts)
        }
        None => {
            let (driver, new) = by_rows(&asked, &mut kernel, &items, names)?;
            (driver, new, Vec::new())
        }
    };
    let entry = driver::slots_entry(&mut kernel.imported.ir, driver, VECTOR);
    new.push(entry.map_err(|e| kernel.refusal(&e))?);
    kernel.export(&new)?;
    let codegen = CodegenOptions {
        define_missing: true,
        define_lane_operations: true,
        ..kernel.codegen_options(&[VECTOR], Output::Object)
    };
    let object = worker::codegen(kernel.imported.bridge.module(), &codegen)?;
    let jit = Jit::new()?;
    jit.add_object(&object, &kernel.name)?;
    let run = jit.function(VECTOR)?;

    let lockstep = interpret(&kernel, &items, &data, &passed, &range, options.seed);
    if let Some(stop) = &lockstep.stopped {
        if let Some(note) = note.as_ref().filter(|_| stop.undefined) {
            return Err(made_up::does_not_fit(&stop.text, note));
        }
        let text = format!("work-groups cannot be interpreted: {}", stop.text);
        return match stop.undefined {
            true => finding(options, &kernel, &range, &lockstep, &Comparison::default(), (note, text)),
            false => Err(Error::option("--global", text)),
        };
    }
    let mut image = Image::new(&data);
    let mut workspace = vec![0u8; workspace(&cuts, &items, &passed, &range) as usize];
    let (offset, size, local) = ([0u64; 3], range.size, range.local);
    let addresses = image.addresses();
    let mut slots: Vec<u64> =
        [&offset, &size, &local].iter().map(|a| a.as_ptr().expose_provenance() as u64).collect();
    slots.extend(passed.iter().map(|one| match *one {
        Argument::Number(bits) | Argument::Local(bits) => bits,
        Argument::Buffer(b) => addresses[b],
    }));
    slots.push(workspace.as_mut_ptr().expose_provenance() as u64);
    watched(VECTOR_PROGRAM, || run.call(&mut slots));
    let compared = lockstep.compare(&data, &image, options.tolerance.as_ref());
    image.restore(&data);
    finding(options, &kernel, &range, &lockstep, &compared, (note, String::new()))
}

/// The driver over all work-items of a kernel that was not cut, and all that it needs.
fn by_rows(
    asked: &VectorizeOptions,
    kernel: &mut Kernel,
    items: &WorkItems,
    names: groups::Names<'_>,
) -> Result<(FuncId, Vec<FuncId>)> {
    let math = kernel.math_library(&asked.kernel);
    let bodies = kernel.imported.final_bodies(kernel.vectors.register_bits);
    let vectors = kernel.vectorizer(names.lanes.to_owned(), kernel.width, false, &math, &bodies);
    let made = kernel.over_range(&vectors, &format!("{}.row", names.ndrange))?;
    let mut new: Vec<FuncId> = kernel.copies().chain(made.functions()).collect();
    let ir = &mut kernel.imported.ir;
    let all = driver::ndrange(ir, items, &kernel.args, made.range, names.ndrange);
    let all = all.map_err(|e| kernel.refusal(&e))?;
    new.extend(&all);
    Ok((all[0], new))
}

/// The work-items that options ask for. Without any, groups with as many as data is made up for, in a row or, if the
/// kernel asks for a second dimension, in a square.
fn range(options: &RunOptions, items: &WorkItems, required: Option<[u32; 3]>) -> Result<Range> {
    let asks_for_rows =
        items.lanes == 1 || items.added.iter().any(|added| matches!(added, Added::Answer(_, 1)));
    let required = required.map(|group| group.map(u64::from));
    let group = match asks_for_rows {
        _ if required.is_some() => required.unwrap_or_default(),
        true => [made_up::GROUP.isqrt(), made_up::GROUP.isqrt(), 1],
        false => [made_up::GROUP, 1, 1],
    };
    let size = options.global.unwrap_or(match asks_for_rows {
        true => [made_up::ITEMS.isqrt(), made_up::ITEMS.isqrt(), 1],
        false => [made_up::ITEMS, 1, 1],
    });
    let by_default = if options.global.is_none() || required.is_some() { group } else { [0; 3] };
    let local = options.local.unwrap_or(by_default);
    if let Some(group) = required.filter(|group| *group != local) {
        let message = format!("the kernel's `reqd_work_group_size` says {group:?}");
        return Err(Error::option("--local", message));
    }
    let local = [0, 1, 2].map(|d| if local[d] == 0 { size[d] } else { local[d].min(size[d].max(1)) });
    let count = local.iter().try_fold(1u64, |n, &l| n.checked_mul(l));
    if size.contains(&0) || count.is_none_or(|n| n > LARGEST_GROUP) {
        let message = format!("a group has 1 to {LARGEST_GROUP} work-items; say how many by --local");
        return Err(Error::option("--local", message));
    }
    Ok(Range { size, local })
}

/// What is passed for a parameter of the kernel.
#[derive(Copy, Clone)]
enum Argument {
    Number(u64),
    Buffer(usize),
    /// So many bytes of local memory.
    Local(u64),
}

/// Settles what is passed for the kernel's own parameters. What had to be made up is said in words.
fn bind(
    options: &RunOptions,
    kernel: &Kernel,
    items: &WorkItems,
    range: &Range,
    room: made_up::Room,
) -> Result<(Data, Vec<Argument>, Option<String>)> {
    let func = kernel.function();
    let own = func.params.len() - items.added.len();
    let given: Vec<&Bind> =
        options.bind.iter().chain(kernel.directives.binds.iter().map(|at| &at.value)).collect();
    let count = range.size.iter().product();
    let made =
        made_up::missing(&kernel.imported.ir, func, &func.params[..own], &kernel.args, &given, count, room)?;
    let note = (!made.is_empty()).then(|| made_up::describe(&made, None));
    let given: Vec<&Bind> = given.into_iter().chain(&made).collect();
    let zero = Spec::Number(Number::Int(0));
    let (mut local, mut binds) = (vec![None; own], Vec::new());
    for bind in given {
        let param = func.params.iter().position(|&p| func.value_name(p)[1..] == *bind.name);
        match (&bind.spec, param.filter(|&k| k < own)) {
            (&Spec::Local { elem, len }, Some(k)) if func.pointers[func.params[k]].local => {
                local[k] = local[k].or(Some(elem.bytes() as u64 * len as u64));
                binds.push(Bind { name: bind.name.clone(), spec: zero.clone() });
            }
            _ => binds.push(bind.clone()),
        }
    }
    if let Some(k) = (0..own).find(|&k| func.pointers[func.params[k]].local && local[k].is_none()) {
        let name = func.value_name(func.params[k])[1..].to_owned();
        let message = format!("it is local memory, of some size: write --bind {name}=local:f32[256]");
        return Err(Error::option(format!("--bind {name}"), message));
    }
    let added = func.params[own..].iter().zip(&items.added);
    binds.extend(
        added
            .filter(|(_, a)| !matches!(a, Added::Index(_)))
            .map(|(&p, _)| Bind { name: func.value_name(p)[1..].to_owned(), spec: zero.clone() }),
    );
    let binds: Vec<&Bind> = binds.iter().collect();
    let data = Data::new(func, &kernel.args, &binds, (0, 1), options.seed)?;
    let arguments = data.passed[..own].iter().zip(local).map(|(passed, local)| match (*passed, local) {
        (_, Some(bytes)) => Argument::Local(bytes),
        (Passed::Address(b) | Passed::Elements(b), None) => Argument::Buffer(b),
        (Passed::Number(bits), None) => Argument::Number(bits),
        (Passed::Index, None) => Argument::Number(0),
    });
    let arguments = arguments.collect();
    Ok((data, arguments, note))
}

/// The bytes of workspace, as the function for that says, for a kernel that was cut in these ways.
fn workspace(cuts: &[Cut], items: &WorkItems, passed: &[Argument], range: &Range) -> u64 {
    let count: u64 = range.local.iter().product();
    let placed = |bytes: u64| bytes.next_multiple_of(ALIGN);
    let slots = |cut: &Cut| cut.slots.iter().map(|slot| placed(slot.bytes * count)).sum::<u64>();
    let slots = cuts.iter().map(slots).max().unwrap_or(0);
    let scratch = items.scratch.iter().map(|bytes| bytes * count);
    let local = passed.iter().filter_map(|one| match one {
        Argument::Local(bytes) => Some(*bytes),
        _ => None,
    });
    let parts = items.locals.iter().map(|l| l.bytes).chain(local).chain(scratch);
    ALIGN + parts.map(placed).sum::<u64>() + slots
}

/// Interprets all groups.
fn interpret(
    kernel: &Kernel,
    items: &WorkItems,
    data: &Data,
    passed: &[Argument],
    range: &Range,
    seed: u64,
) -> Lockstep {
    let (fuel, fused) = (FUEL, kernel.vectors.fused);
    let options = Options { fuel, fuse_multiply_add: fused, record_effects: false, ..Options::default() };
    let mut machine = Machine::with_options(&kernel.imported.ir, options);
    let (mut races, mut stopped) = (Races::default(), None);
    let addresses = match data.allocate(&mut machine.memory) {
        Ok(addresses) => addresses,
        Err(why) => {
            let stop = Stop::told(why.to_string(), false);
            return Lockstep::of_groups(Vec::new(), Vec::new(), races, Some(stop));
        }
    };
    let code = machine.prepare_id(kernel.func);
    let counts = [0, 1, 2].map(|d| range.size[d].div_ceil(range.local[d]));
    for number in 0..counts.iter().product() {
        let group = [number % counts[0], number / counts[0] % counts[1], number / counts[0] / counts[1]];
        let mut of_group = Vec::new();
        let sizes = items.locals.iter().map(|l: &Local| (l.bytes, l.align.clamp(1, 64)));
        let sizes = sizes.chain(passed.iter().filter_map(|one| match one {
            Argument::Local(bytes) => Some((*bytes, 64)),
            _ => None,
        }));
        for (bytes, align) in sizes {
            of_group.push(machine.memory.allocate(bytes.max(1), align).unwrap_or(0));
        }
        let work =
            Work { kernel, items, passed, range, addresses: &addresses, local: &of_group, group, counts };
        let sub_groups = SubGroups {
            lanes: if items.has_sub_groups { kernel.width } else { 1 },
            in_step: matches!(items.warps, Some(Warps::Asked(_))),
        };
        let shape = (work.shape(), sub_groups);
        let outcome = machine.run_work_group(&code, &work.arguments(), shape, seed.wrapping_add(number));
        of_group.into_iter().for_each(|address| machine.memory.free(address));
        match outcome {
            Ok(run) => {
                races.add(&run.races, |address| {
                    place(address, data, &addresses).unwrap_or_else(|| "local memory".to_owned())
                });
                if run.returned_early && kernel.directives.uniform_barriers {
                    let text = format!(
                        "in group {group:?}: some work-items have ended when others come to a barrier, though \
                         `//@ uniform-barriers` says that all come there"
                    );
                    stopped = Some(Stop::told(text, true));
                    break;
                }
            }
            Err(trap) => {
                let text =
                    format!("in group {group:?}: {}", trap.describe(&kernel.imported.ir, kernel.function()));
                stopped = Some(Stop::of(&trap, text));
                break;
            }
        }
    }
    let buffers = data.buffers.iter().zip(&addresses);
    let memory = buffers.map(|(b, &at)| machine.memory.read(at, b.initial.len() as u64).unwrap_or_default());
    Lockstep::of_groups(memory.collect(), addresses.clone(), races, stopped)
}

/// A group to interpret.
struct Work<'a> {
    kernel: &'a Kernel,
    items: &'a WorkItems,
    passed: &'a [Argument],
    range: &'a Range,
    addresses: &'a [u64],
    /// Variables of groups, and what `local` parameters point to.
    local: &'a [u64],
    group: [u64; 3],
    counts: [u64; 3],
}

impl Work<'_> {
    /// The number of the first work-item, counted from the offset.
    fn start(&self) -> [u64; 3] {
        [0, 1, 2].map(|d| self.group[d] * self.range.local[d])
    }

    /// How many work-items the group has.
    fn shape(&self) -> [u64; 3] {
        let start = self.start();
        [0, 1, 2].map(|d| self.range.local[d].min(self.range.size[d] - start[d]))
    }

    /// The arguments of each work-item.
    fn arguments(&self) -> Vec<Vec<Val>> {
        let (start, here) = (self.start(), self.shape());
        let mut all = Vec::new();
        for z in 0..here[2] {
            for y in 0..here[1] {
                for x in 0..here[0] {
                    all.push(self.of_item([x, y, z], start, here));
                }
            }
        }
        all
    }

    fn of_item(&self, item: [u64; 3], start: [u64; 3], here: [u64; 3]) -> Vec<Val> {
        let func = self.kernel.function();
        let mut passed = self.local[self.items.locals.len()..].iter();
        let mut args: Vec<Val> = self
            .passed
            .iter()
            .map(|one| match *one {
                Argument::Number(bits) => Val::int(bits.into()),
                Argument::Buffer(b) => Val::ptr(self.addresses[b]),
                Argument::Local(_) => Val::ptr(passed.next().copied().unwrap_or(0)),
            })
            .collect();
        let lanes = self.items.dimension(0);
        for &added in &self.items.added {
            let number = match added {
                Added::Index(_) => start[lanes] + item[lanes],
                Added::GroupStart => start[lanes],
                Added::LocalIndex => item[lanes],
                Added::Local(k) => {
                    args.push(Val::ptr(self.local[k]));
                    continue;
                }
                // By definition values are exchanged without it.
                Added::Scratch(_) => 0,
                Added::Answer(query, d) => {
                    let d = self.items.dimension(d as usize);
                    match query {
                        Query::GlobalId => start[d] + item[d],
                        Query::LocalId => item[d],
                        Query::GroupId => self.group[d],
                        Query::GlobalSize => self.range.size[d],
                        Query::LocalSize => here[d],
                        Query::EnqueuedLocalSize => self.range.local[d],
                        Query::NumGroups => self.counts[d],
                        Query::GlobalOffset => 0,
                    }
                }
            };
            let bits = func.ty(func.params[args.len()]);
            let bits = if let Type::Int(bits) = bits { bits } else { 64 };
            args.push(Val::int(u128::from(number) & ((1 << bits) - 1)));
        }
        args
    }
}

/// Says what was found.
fn finding(
    options: &RunOptions,
    kernel: &Kernel,
    range: &Range,
    lockstep: &Lockstep,
    compared: &Comparison,
    (note, undefined): (Option<String>, String),
) -> Result<(Report, Outcome)> {
    let race =
        lockstep.races.matters.as_ref().map(|(_, meeting)| {
            format!("work-items of a group race at {}, between two barriers", meeting.place)
        });
    let mismatch = compared.first.as_ref().map(|first| {
        format!(
            "vector code and work-groups by definition differ in {} elements: {first}",
            compared.mismatches
        )
    });
    let undefined = Some(undefined).filter(|text| !text.is_empty());
    let findings: Vec<&String> = [&undefined, &race, &mismatch].into_iter().flatten().collect();
    let outcome = if findings.is_empty() { Outcome::Clean } else { Outcome::Finding };
    let Range { size, local } = range;
    let report = match options.report.format {
        Format::Json => Report::Json(json!({
            "function": kernel.name,
            "width": kernel.width,
            "global": size,
            "local": local,
            "elements": compared.elements,
            "mismatches": compared.mismatches,
            "race": race,
            "findings": findings,
        })),
        Format::Text => {
            let mut text = format!(
                "{}: {} lanes; {size:?} work-items in groups of {local:?}: {} elements as by definition\n",
                warpline::printable::line(&kernel.name),
                kernel.width,
                compared.elements - compared.mismatches,
            );
            note.iter().for_each(|note| text += &format!("  {note}\n"));
            findings.iter().for_each(|one| text += &format!("  finding: {one}\n"));
            Report::Text(text)
        }
    };
    Ok((report, outcome))
}
