//! Loops as the unit: which are meant, and code of a module in which they are vectorized.

use std::path::PathBuf;

use warpline_ir::{Block, FuncId, Function, InstFlags, Loc, Module, Place};
use warpline_llvm::worker::{self, CodegenOptions, LoadOptions, Output, Unroll};
use warpline_llvm::{Cpu, Imported, Linkage};
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::driver::{Division, Tail};
use warpline_vectorize::loops::{self, Holds, Iteration, Unit, VectorizedLoop, vectorize_loop};
use warpline_vectorize::width::{self, Estimate, Widths};
use warpline_vectorize::{Boscc, Contract, Options as VectorizerOptions, VectorizeError};

use crate::callable::{self, Callable};
use crate::directives;
use crate::error::{Error, Result};
pub use crate::find_loops::{FoundLoop, LoopAt, LoopOptions, RefusedLoop};
use crate::find_loops::{find, find_some};
pub use crate::header::ChangedFunction;
use crate::kernel::{self, Kernel, Source};
use crate::loop_dispatch;
use crate::machine;
use crate::math::{self, VectorMath};
use crate::openmp;
use crate::options::KernelOptions;
use crate::remarks::{self, Remarked};
use crate::source_types::SourceTypes;
use crate::spec::Width;

/// A loop that was vectorized.
pub struct MadeLoop {
    /// The function that it is in.
    pub function: String,
    /// Where it begins, in words.
    pub place: String,
    /// W.
    pub width: u32,
    /// The header of its scalar loop.
    pub header: Block,
    /// What was made.
    pub made: VectorizedLoop,
    /// What an iteration is expected to take.
    pub estimate: Option<Estimate>,
    /// Whether scalar code is expected to take less time, and nobody says how many lanes there are to be.
    pub rather_scalar: bool,
    /// Performance remarks, if they are asked for.
    pub remarks: Remarked,
}

/// A loop that stays scalar since that is expected to take less time.
pub struct ScalarLoop {
    /// The function that it is in.
    pub function: String,
    /// Where it begins, in words.
    pub place: String,
    /// How many lanes would have been best.
    pub lanes: u32,
    /// What an iteration is expected to take.
    pub estimate: Estimate,
    /// Performance remarks about what vector code would do, if they are asked for.
    pub remarks: Remarked,
}

impl ScalarLoop {
    /// Why it stays scalar, and what would change that.
    #[must_use]
    pub fn describe(&self) -> String {
        let subject = format!("the loop at {}", self.place);
        remarks::stays_scalar(&subject, self.lanes, &self.estimate, &self.remarks.remarks)
    }
}

/// What was made of loops for one CPU.
pub struct LoopVersion {
    /// The CPU.
    pub cpu: Cpu,
    /// The loops that were vectorized.
    pub loops: Vec<MadeLoop>,
    /// Those that stay scalar for this CPU.
    pub scalar: Vec<ScalarLoop>,
}

impl LoopVersion {
    /// The performance remarks about all loops, if they were asked for.
    #[must_use]
    pub fn remarks(&self) -> Vec<Remarked> {
        let vector = self.loops.iter().map(|one| &one.remarks);
        vector.chain(self.scalar.iter().map(|one| &one.remarks)).cloned().collect()
    }
}

/// Code of a module in which loops have been vectorized.
pub struct CompiledLoops {
    /// What was made for each CPU, best first. The loops are the same.
    pub versions: Vec<LoopVersion>,
    /// The functions that have them.
    pub functions: Vec<ChangedFunction>,
    /// The loops that stay what they are.
    pub refused: Vec<RefusedLoop>,
    /// The files that the input is made of, if they were asked for.
    pub files: Vec<PathBuf>,
    /// The types of the input, if they were asked for.
    pub types: SourceTypes,
    /// What programs can call, if types were asked for.
    pub(crate) callable: Vec<Callable>,
    /// The libraries of vector mathematics that it must be linked with.
    pub libraries: Vec<&'static str>,
    /// The code.
    pub code: Vec<u8>,
}

/// Vectorizes loops within their functions and makes code of the whole module, which takes the place of what another
/// compiler would make of the input. `described`: whether the types of functions are wanted, too.
///
/// # Errors
/// Whatever is wrong with input and options; the reason why a loop cannot be vectorized, if all that are named by
/// line or block cannot. Others stay as they are.
pub fn vectorize_loops(options: &LoopOptions, output: Output, described: bool) -> Result<CompiledLoops> {
    let several: Vec<String> = options.kernel.cpu.split(',').map(|name| name.trim().to_owned()).collect();
    let Source { mut imported, files } = load_for(options)?;
    let types = if described { SourceTypes::of(&options.kernel, &imported) } else { SourceTypes::default() };
    let callable = match described {
        true => callable::of_module(&options.kernel.input, &imported, &types),
        false => Vec::new(),
    };
    let (found, without) = find(&imported, options)?;
    let mut made = match &several[..] {
        [_] => {
            let machine = Machine::of(&imported, &options.kernel)?;
            let before: Vec<ChangedFunction> = changed(&imported, &found);
            let InPlace { loops, scalar, refused } = in_place(&mut imported, options, &found, &machine)?;
            let codegen = CodegenOptions {
                vector_bits: Some(machine.vectors.register_bits).filter(|&bits| bits >= 256),
                // In the scalar loops that are left, and in functions without any.
                define_lane_operations: true,
                // All else is what a compiler would make of it.
                slp: true,
                panic: options.panic.clone(),
                ..CodegenOptions::new(machine.cpu.clone(), output)
            };
            let code = worker::codegen(imported.bridge.module(), &codegen)?;
            let mut functions = before;
            let of = loops.iter().map(|l| &l.function).chain(scalar.iter().map(|l| &l.function));
            let of: Vec<&String> = of.collect();
            functions.retain(|one| of.iter().any(|name| **name == *one.function.name));
            let libraries = math::libraries(&imported.ir);
            let versions = vec![LoopVersion { cpu: machine.cpu, loops, scalar }];
            CompiledLoops { versions, functions, refused, files, types, callable, libraries, code }
        }
        _ => {
            let made = loop_dispatch::vectorize(options, imported, found, &several, output)?;
            CompiledLoops { files, types, callable, ..made }
        }
    };
    made.refused.splice(0..0, without);
    if made.versions[0].loops.is_empty()
        && made.versions[0].scalar.is_empty()
        && !options.loops.iter().any(|at| matches!(at, LoopAt::Marked | LoopAt::All))
        && !made.refused.is_empty()
    {
        return Err(made.refused.swap_remove(0).reason);
    }
    Ok(made)
}

/// The remarks about loops, for one CPU, and the loops that cannot be vectorized. No code is made.
///
/// # Errors
/// Whatever is wrong with input and options.
pub fn remarks_of_loops(options: &LoopOptions) -> Result<(Vec<Remarked>, Vec<RefusedLoop>)> {
    let mut imported = load(options)?.imported;
    let (found, mut refused) = find(&imported, options)?;
    let machine = Machine::of(&imported, &options.kernel)?;
    let made = in_place(&mut imported, options, &found, &machine)?;
    refused.extend(made.refused);
    let version = LoopVersion { cpu: machine.cpu, loops: made.loops, scalar: made.scalar };
    Ok((version.remarks(), refused))
}

/// The functions that have loops, each once, as they are.
pub(crate) fn changed(imported: &Imported, found: &[FoundLoop]) -> Vec<ChangedFunction> {
    let mut ids: Vec<FuncId> = found.iter().map(|f| f.func).collect();
    ids.dedup();
    let of = |id: FuncId| {
        let function = imported.ir.functions[id].clone();
        let seen = imported.bridge.module().seen(&function.name);
        ChangedFunction { function, seen, which: None }
    };
    ids.into_iter().map(of).collect()
}

/// What became of loops in their functions.
pub(crate) struct InPlace {
    pub(crate) loops: Vec<MadeLoop>,
    pub(crate) scalar: Vec<ScalarLoop>,
    pub(crate) refused: Vec<RefusedLoop>,
}

/// Vectorizes loops for a CPU within their functions, in the IR and in LLVM's module.
pub(crate) fn in_place(
    imported: &mut Imported,
    options: &LoopOptions,
    found: &[FoundLoop],
    machine: &Machine,
) -> Result<InPlace> {
    let taken = take_in_turn(imported, found, None, |imported, one| {
        let task = Task { options: &options.kernel, func: one.func, shown: Shown::AsMade };
        machine.best(imported, one, task)
    })?;
    let Taken { loops, kept, refused } = taken;
    let scalar = kept.into_iter().map(|(_, stays)| stays).collect();
    let refused: Vec<RefusedLoop> =
        refused.into_iter().map(|(one, reason)| RefusedLoop::new(&imported.ir, one, reason)).collect();
    let forms: Vec<FuncId> = loops.iter().flat_map(|l: &MadeLoop| l.made.functions()).collect();
    for id in forms {
        let Imported { ir, bridge, .. } = &mut *imported;
        bridge.add_function(ir, &ir.functions[id], Linkage::Internal)?;
    }
    let mut changed: Vec<FuncId> = found.iter().map(|f| f.func).collect();
    changed.dedup();
    for id in changed {
        imported.bridge.replace_function(&imported.ir, id)?;
    }
    Ok(InPlace { loops, scalar, refused })
}

/// What became of loops that were tried one after the other, in a function that has them or in a copy of it.
struct Taken<'a> {
    loops: Vec<MadeLoop>,
    /// Those that stay scalar, and those that are refused, as far as that is news.
    kept: Vec<(&'a FoundLoop, ScalarLoop)>,
    refused: Vec<(&'a FoundLoop, Error)>,
}

/// Vectorizes loops, those within others first; the others where none within is. `copy`: the function in which that
/// is done, if it is not their own.
fn take_in_turn<'a>(
    imported: &mut Imported,
    found: &'a [FoundLoop],
    copy: Option<FuncId>,
    mut best: impl FnMut(&mut Imported, &FoundLoop) -> Result<Best>,
) -> Result<Taken<'a>> {
    let mut taken = Taken { loops: Vec::new(), kept: Vec::new(), refused: Vec::new() };
    let mut vectorized: Vec<&FoundLoop> = Vec::new();
    for one in in_turn(imported, found) {
        if is_spoken_for(one, &vectorized) {
            continue;
        }
        let func = copy.unwrap_or(one.func);
        let before = imported.ir.functions[func].clone();
        match best(imported, one) {
            Ok(Best::Vector(made)) => {
                taken.loops.push(*made);
                vectorized.push(one);
            }
            Ok(Best::Scalar(stays)) => {
                imported.ir.functions[func] = before;
                taken.kept.push((one, *stays));
            }
            Err(reason @ Error::Vectorize(_)) => {
                imported.ir.functions[func] = before;
                taken.refused.push((one, reason));
            }
            Err(error) => return Err(error),
        }
    }
    // Of loops that were tried one after the other, it is news of the innermost that it stays scalar, and of that which
    // could have been vectorized rather than of one within it that could not.
    let kept: Vec<&FoundLoop> = taken.kept.iter().map(|&(one, _)| one).collect();
    let is_in = |one: &FoundLoop, others: &[&FoundLoop]| others.iter().any(|outer| is_within(one, outer));
    let has_any = |one: &FoundLoop, others: &[&FoundLoop]| others.iter().any(|inner| is_within(inner, one));
    taken.kept.retain(|(one, _)| !is_in(one, &vectorized) && !has_any(one, &kept));
    let is_innermost = |one: &FoundLoop| one.unless.is_empty();
    taken.refused.retain(|(one, _)| is_innermost(one) && !is_in(one, &vectorized) && !is_in(one, &kept));
    Ok(taken)
}

/// Whether a loop is left since one within it has been vectorized, or one around it.
fn is_spoken_for(one: &FoundLoop, vectorized: &[&FoundLoop]) -> bool {
    vectorized.iter().any(|other| is_within(one, other) || is_within(other, one))
}

/// Whether a loop is tried only if one within it was not vectorized.
fn is_within(inner: &FoundLoop, outer: &FoundLoop) -> bool {
    inner.func == outer.func && outer.unless.contains(&inner.header)
}

/// Loops in the order in which they are tried. Those that combine floating-point numbers in order come behind the loops
/// around them: with a lane for each such sum, nothing waits.
fn in_turn<'a>(imported: &mut Imported, found: &'a [FoundLoop]) -> Vec<&'a FoundLoop> {
    let waits = |one: &&FoundLoop| {
        found.iter().any(|outer| is_within(one, outer)) && combines_in_order(imported, one)
    };
    let (last, mut all): (Vec<&FoundLoop>, Vec<&FoundLoop>) = found.iter().partition(waits);
    all.extend(last);
    all
}

/// Whether a loop can be vectorized, but combines floating-point numbers in the order of its iterations.
fn combines_in_order(imported: &mut Imported, one: &FoundLoop) -> bool {
    iteration(&mut imported.ir, one).is_ok_and(|iteration| !iteration.ordered.is_empty())
}

/// One iteration of a loop, of a function that stays as it is.
fn iteration(ir: &mut Module, one: &FoundLoop) -> std::result::Result<Iteration, VectorizeError> {
    let before = ir.functions[one.func].clone();
    permit_any_order(&mut ir.functions[one.func], one);
    let made = loops::kernel_of(ir, one.func, &unit(one));
    ir.functions[one.func] = before;
    made
}

/// An input that was read for runs.
pub enum Opened {
    /// The only function that has loops that are meant, and these loops.
    One(Box<Kernel>, Vec<FoundLoop>),
    /// There are several; their names.
    Several(Vec<String>),
}

impl Opened {
    /// The only function with its loops.
    ///
    /// # Errors
    /// If there are several; their names.
    pub fn only(self) -> Result<(Kernel, Vec<FoundLoop>)> {
        match self {
            Opened::One(kernel, found) => Ok((*kernel, found)),
            Opened::Several(names) => {
                let message = format!("there are loops in `{}`: one function is meant", names.join("`, `"));
                Err(Error::option("--function", message))
            }
        }
    }
}

/// Reads an input for a run of the function that has the loops.
///
/// # Errors
/// Whatever is wrong with input and options.
pub fn open(options: &LoopOptions) -> Result<Opened> {
    let path = &options.kernel.input;
    let imported = load(options)?.imported;
    let found = find_some(&imported, options)?;
    imported.forget_marks_of_loops();
    let func = found[0].func;
    if found.iter().any(|f| f.func != func) {
        let mut all: Vec<&Function> = found.iter().map(|f| &imported.ir.functions[f.func]).collect();
        // In the order of the source, which is not that of modules.
        all.sort_by_key(|f| f.loc.expand().map(|l| imported.ir.locations[l].line));
        let mut names: Vec<String> = all.iter().map(|f| f.name.to_string()).collect();
        names.dedup();
        return Ok(Opened::Several(names));
    }
    let Machine { cpu, vectors } = Machine::of(&imported, &options.kernel)?;
    let function = &imported.ir.functions[func];
    let name = function.name.to_string();
    let groups = directives::read(path)?;
    let directives = groups.into_iter().find(|g| g.function.as_deref() == Some(&name)).unwrap_or_default();
    let args = vec![ArgShape::Uniform; function.params.len()];
    let boscc = options.kernel.boscc.or(directives.boscc).unwrap_or(Boscc::Auto);
    let (linearize, coherence) = (options.kernel.linearize, options.kernel.coherence);
    let kernel = Kernel {
        imported,
        func,
        name,
        items: None,
        regions: None,
        directives,
        args,
        width: 1,
        epilogue: 1,
        tail: Tail::Masked,
        prologue: 0,
        least: 0,
        chosen: None,
        estimate: None,
        remarks: Vec::new(),
        cpu,
        vectors,
        linearize,
        boscc,
        coherence,
        contract: Contract::Sequential,
        group: None,
        row: None,
        unoptimized: options.kernel.unoptimized,
        instrument: options.kernel.instrument,
    };
    Ok(Opened::One(Box::new(kernel), found))
}

/// One iteration of a loop as a function of its own, which is what the analysis of the loop is about.
pub struct Region {
    /// The function.
    pub func: FuncId,
    /// The shapes of its parameters.
    pub args: Vec<ArgShape>,
    /// Where the loop begins, in words.
    pub place: String,
}

/// Reads an input for an analysis of its loops: each iteration becomes a function with the name of the one that it is
/// in.
///
/// # Errors
/// Whatever is wrong with input and options, or the reason why a loop cannot be vectorized.
pub fn open_regions(options: &LoopOptions) -> Result<(Imported, Vec<Region>)> {
    let mut imported = load(options)?.imported;
    let found = find_some(&imported, options)?;
    let regions = found.iter().map(|one| region(&mut imported, one)).collect::<Result<_>>()?;
    Ok((imported, regions))
}

/// Reads an input for an analysis of all loops that are meant and can be vectorized, each iteration as a function; what
/// is refused is left out.
///
/// # Errors
/// Whatever is wrong with input and options.
pub fn open_each_region(options: &LoopOptions) -> Result<(Imported, Vec<Region>)> {
    let mut imported = load(options)?.imported;
    let (found, _) = find(&imported, options)?;
    let regions = found.iter().filter_map(|one| region(&mut imported, one).ok()).collect();
    Ok((imported, regions))
}

/// Makes a function of an iteration of a loop.
///
/// # Errors
/// The reason why the loop cannot be vectorized.
pub fn region(imported: &mut Imported, one: &FoundLoop) -> Result<Region> {
    check(imported, one)?;
    let ir = &mut imported.ir;
    let holding = FoundLoop { holds: Holds::Awaited, ..one.clone() };
    let made = iteration(ir, one).or_else(|e| iteration(ir, &holding).map_err(|_| e));
    let Iteration { mut func, args, .. } = made.map_err(|e| refusal(ir, e, one))?;
    func.name = ir.functions[one.func].name.clone();
    Ok(Region { func: ir.functions.push(func), args, place: one.place.clone() })
}

/// Vectorizes the loops of a kernel that was opened for its loops, in a copy of its function with this name: those that
/// [are](vectorize_loops) where an object is made, or else, to show what vector code does, those that stay scalar
/// there. The copy, and what was made; a loop that stays what it is does so with a warning.
///
/// # Errors
/// The reason why no loop can be vectorized.
pub fn vectorize_copy(
    kernel: &mut Kernel,
    options: &KernelOptions,
    found: &[FoundLoop],
    name: &str,
) -> Result<(FuncId, Vec<MadeLoop>)> {
    let mut copy = kernel.function().clone();
    copy.name = name.into();
    let copy = kernel.imported.ir.functions.push(copy);
    let machine = Machine { cpu: kernel.cpu.clone(), vectors: kernel.vectors };
    let mut take = |shown| {
        take_in_turn(&mut kernel.imported, found, Some(copy), |imported, one| {
            machine.best(imported, one, Task { options, func: copy, shown })
        })
    };
    let mut taken = take(Shown::AsMade)?;
    if taken.loops.is_empty() && !taken.kept.is_empty() {
        taken = take(Shown::Anyway)?;
    }
    if taken.loops.is_empty()
        && let Some((_, last)) = taken.refused.pop()
    {
        return Err(last);
    }
    taken.kept.iter().for_each(|(_, stays)| kernel::warn(&format!("warning: {}", stays.describe())));
    let warn = |reason: &Error| kernel::warn(&format!("warning: {reason}; it stays as it is"));
    taken.refused.iter().for_each(|(_, reason)| warn(reason));
    Ok((copy, taken.loops))
}

fn load(options: &LoopOptions) -> Result<Source> {
    if options.kernel.cpu.contains(',') {
        let message = format!("`{}`: one CPU; only `vectorize` makes code for several", options.kernel.cpu);
        return Err(Error::option("--cpu", message));
    }
    load_for(options)
}

/// The same for whichever CPUs.
pub(crate) fn load_for(options: &LoopOptions) -> Result<Source> {
    let unroll = unrolled(options)?;
    let asked = LoadOptions { thread_jumps: true, unroll, ..options.kernel.load_options() };
    kernel::load_for_code(&options.kernel.input, &asked, options.kernel.told())
}

/// Which loops are unrolled: those within the ones that are meant, if these are known by their lines.
fn unrolled(options: &LoopOptions) -> Result<Unroll> {
    let mut lines = Vec::new();
    for at in &options.loops {
        match at {
            LoopAt::Line(line) => lines.push(*line),
            LoopAt::Block(_) => return Ok(Unroll::Nothing),
            LoopAt::All => return Ok(Unroll::Inner),
            LoopAt::Marked => {
                lines.extend(directives::read_loops(&options.kernel.input)?.iter().map(|mark| mark.at));
            }
        }
    }
    Ok(Unroll::Within(lines))
}

/// Where a loop is, by its header.
pub(crate) fn place_of_loop(func: &Function, header: Block) -> Option<Loc> {
    let all = std::iter::once(func.terminator(header)).chain(func.block_insts(header));
    all.into_iter().find_map(|inst| func.insts[inst].loc.expand())
}

/// What code is made for.
pub(crate) struct Machine {
    pub(crate) cpu: Cpu,
    pub(crate) vectors: width::Machine,
}

impl Machine {
    fn of(imported: &Imported, options: &KernelOptions) -> Result<Machine> {
        Machine::new(imported, worker::find_cpu(&options.cpu, &imported.ir.triple)?)
    }

    pub(crate) fn new(imported: &Imported, cpu: Cpu) -> Result<Machine> {
        let vectors = machine::of(&cpu, &imported.ir.triple)?;
        Ok(Machine { cpu, vectors })
    }

    /// Vectorizes a loop in the task's function, unless the scalar loop is expected to take less time and nobody asks
    /// for vectors. What is not worth it, or not possible, since nobody knows a stride, may be for a stride of 1; and
    /// since the loop may overwrite what it is to know, if it does not.
    fn best(&self, imported: &mut Imported, found: &FoundLoop, task: Task<'_>) -> Result<Best> {
        let mut best = self.best_as_it_is(imported, found, task);
        let options = task.options;
        let given = options.width.or(found.width).unwrap_or_default() != Width::Auto;
        if matches!(best, Ok(Best::Vector(_))) || given && best.is_ok() || options.count_lanes.is_some() {
            return best;
        }
        for (unit_strides, holds) in [(true, Holds::Nothing), (false, Holds::Awaited), (true, Holds::Awaited)]
        {
            let assumed = FoundLoop { unit_strides, holds, ..found.clone() };
            match self.best_as_it_is(imported, &assumed, task) {
                Ok(Best::Vector(made)) if !unit_strides || !made.made.strides.is_empty() => {
                    return Ok(Best::Vector(made));
                }
                // That it is not worth it is nearer to the point than why it cannot be done otherwise.
                Ok(scalar @ Best::Scalar(_)) if best.is_err() && !unit_strides => best = Ok(scalar),
                _ => {}
            }
        }
        best
    }

    /// The better one of scalar and vector code.
    fn best_as_it_is(&self, imported: &mut Imported, found: &FoundLoop, task: Task<'_>) -> Result<Best> {
        let Task { options, func, shown } = task;
        let (mut widths, updates) = self.width(imported, options, found, func)?;
        if updates && found.holds == Holds::Nothing && options.count_lanes.is_none() {
            // What iterations update in memory is better held in registers.
            let held = FoundLoop { holds: Holds::There, ..found.clone() };
            if let Ok(Best::Vector(made)) = self.best_as_it_is(imported, &held, task) {
                return Ok(Best::Vector(made));
            }
        }
        if shown == Shown::Anyway {
            (widths.least, widths.tail) = (0, Tail::Masked);
        }
        let free = widths.chosen.is_some() && options.count_lanes.is_none() && shown != Shown::Anyway;
        let Some(estimate) = widths.estimate.as_ref().filter(|e| free && e.scalar_wins()) else {
            let made = self.vectorize(imported, options, found, func, &widths)?;
            return Ok(Best::Vector(Box::new(made)));
        };
        // What is refused is refused, not kept for its time.
        let probe = &mut imported.ir.clone();
        std::mem::swap(probe, &mut imported.ir);
        let made = self.vectorize(imported, options, found, func, &widths);
        std::mem::swap(probe, &mut imported.ir);
        let made = made?;
        let mut scalar = ScalarLoop {
            function: made.function,
            place: made.place,
            lanes: widths.lanes,
            estimate: estimate.clone(),
            remarks: made.remarks,
        };
        let why = scalar.describe();
        scalar.remarks.stays_scalar(&why);
        Ok(Best::Scalar(Box::new(scalar)))
    }

    /// Vectorizes one loop in a function, which is that of the loop or a copy.
    fn vectorize(
        &self,
        imported: &mut Imported,
        options: &KernelOptions,
        found: &FoundLoop,
        func: FuncId,
        widths: &Widths,
    ) -> Result<MadeLoop> {
        let function = imported.ir.functions[func].name.to_string();
        let Widths { lanes: width, epilogue, tail, prologue, least, .. } = *widths;
        // Lanes are counted by groups of W, from the first one on.
        let Division { epilogue, tail, prologue, least } = match options.count_lanes {
            Some(_) => Division::into_groups_of(width),
            None => Division { epilogue, tail, prologue, least },
        };
        let math = VectorMath::new(&imported.ir.triple, &self.vectors, options.math_ulp, options.sleef);
        let bodies = imported.final_bodies(self.vectors.register_bits);
        let header = imported.ir.functions[func].block_name(found.header);
        let asked = VectorizerOptions {
            linearize: options.linearize,
            boscc: options.boscc.unwrap_or(Boscc::Auto),
            coherence: options.coherence,
            math: &math,
            callees: &bodies,
            machine: self.vectors,
            count_lanes: options.count_lanes.as_deref(),
            instrument: options.instrument,
            ..VectorizerOptions::new(width, Vec::new(), format!("{function}.{header}.x{width}"))
        };
        let unit = Unit { epilogue, tail, prologue, least, ..unit(found) };
        let scalar = &imported.ir.functions[func];
        let (old, place) = (scalar.insts.len(), place_of_loop(scalar, found.header));
        let made = vectorize_loop(&mut imported.ir, func, &unit, &asked)
            .map_err(|e| refusal(&imported.ir, e, found))?;
        // What stands around the vector code is where the loop is.
        for (_, inst) in imported.ir.functions[func].insts.iter_mut().skip(old) {
            if inst.loc.is_none() {
                inst.loc = place.into();
            }
        }
        let own = imported.ir.functions[func].loc;
        for id in made.functions().collect::<Vec<_>>() {
            let form = &mut imported.ir.functions[id];
            if form.loc.is_none() {
                form.loc = own;
            }
        }
        let original = &imported.ir.functions[found.func];
        let begin = Place::of(&imported.ir, original, place);
        let remarks = Remarked::new(&original.name, &self.cpu.name, width, begin).with(
            widths.chosen.as_ref(),
            widths.estimate.as_ref(),
            &widths.remarks,
        );
        let (function, estimate) = (original.name.to_string(), widths.estimate.clone());
        let (header, place) = (found.header, found.place.clone());
        let rather_scalar = widths.chosen.is_some() && estimate.as_ref().is_some_and(Estimate::scalar_wins);
        Ok(MadeLoop { function, place, width, header, made, estimate, rather_scalar, remarks })
    }

    /// How many iterations side by side are asked for or expected to pay, and how many of those that are left over;
    /// also whether they update memory that they may share. The function notes what may be combined in any order.
    fn width(
        &self,
        imported: &mut Imported,
        options: &KernelOptions,
        found: &FoundLoop,
        func: FuncId,
    ) -> Result<(Widths, bool)> {
        let asked = match options.width.or(found.width).unwrap_or_default() {
            Width::Lanes(n) => Some(n),
            Width::Auto => None,
        };
        check(imported, found)?;
        permit_any_order(&mut imported.ir.functions[func], found);
        let bodies = imported.final_bodies(self.vectors.register_bits);
        let ir = &mut imported.ir;
        let iteration = loops::kernel_of(ir, func, &unit(found)).map_err(|e| refusal(ir, e, found))?;
        let (linearize, boscc) = (options.linearize, options.boscc.unwrap_or(Boscc::Auto));
        let (args, coherence) = (iteration.args.clone(), options.coherence);
        let math = VectorMath::new(&ir.triple, &self.vectors, options.math_ulp, options.sleef);
        let how = VectorizerOptions {
            linearize,
            boscc,
            coherence,
            math: &math,
            callees: &bodies,
            instrument: options.instrument,
            remarks: options.remarks,
            ..VectorizerOptions::new(1, args, "auto")
        };
        let widths = |asked| width::of_iteration(ir, &iteration, &how, &self.vectors, asked);
        let chosen = widths(asked);
        let chosen = match found.safelen {
            Some(most) if most < chosen.lanes => widths(Some(1 << most.max(1).ilog2())),
            _ => chosen,
        };
        Ok((chosen, iteration.pieces.count() > 0))
    }
}

/// How a loop is to be vectorized.
#[derive(Copy, Clone)]
struct Task<'a> {
    options: &'a KernelOptions,
    /// Where: in its own function, or in a copy of that.
    func: FuncId,
    shown: Shown,
}

/// What code for a loop is to show.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Shown {
    /// What is expected to be best.
    AsMade,
    /// Vector code from the first iteration to the last one, even where scalar code is expected to take less time.
    Anyway,
}

/// What became of a loop that can be vectorized.
enum Best {
    Vector(Box<MadeLoop>),
    Scalar(Box<ScalarLoop>),
}

/// Checks that OpenMP leaves nothing in a loop that is not for lanes.
fn check(imported: &Imported, found: &FoundLoop) -> Result<()> {
    openmp::check(&imported.ir, &imported.ir.functions[found.func], found.header, &found.place)
}

/// Notes in a function what its loop may combine in any order, as its mark says.
fn permit_any_order(func: &mut Function, found: &FoundLoop) {
    // That is what the flag of a φ means.
    for phi in found.reductions.iter().filter_map(|&phi| func.def_inst(phi)).collect::<Vec<_>>() {
        func.insts[phi].flags |= InstFlags::REASSOC;
    }
}

/// What is asked of a loop, whatever its groups are.
fn unit(found: &FoundLoop) -> Unit {
    let FoundLoop { header, contract, safelen, any_order, unit_strides, holds, .. } = *found;
    Unit { contract, safelen, any_order, unit_strides, holds, ..Unit::new(header, 1) }
}

/// The text of a refusal. It names the function of the loop, though that may have been copied.
fn refusal(module: &Module, error: VectorizeError, found: &FoundLoop) -> Error {
    let error = error.named(&module.functions[found.func].name);
    let message = format!("the loop at {} cannot be vectorized: {}", found.place, error.describe(module));
    Error::of_kind(&error, message)
}
