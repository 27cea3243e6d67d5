//! Loops as the unit: which are meant, and code of a module in which they are vectorized.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use warpline_ir::Place;
use warpline_ir::{Block, FuncId, Function, Inst, InstFlags, Loc, Module, Value};
use warpline_llvm::openmp::Directive;
use warpline_llvm::worker::{self, CodegenOptions, LoadOptions, Output};
use warpline_llvm::{Cpu, Imported, Linkage, MarkedLoop, Seen};
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::loops::{self, Iteration, Nest, Unit, VectorizedLoop, vectorize_loop};
use warpline_vectorize::width::{self, Widths};
use warpline_vectorize::{Boscc, Contract, MAX_WIDTH, Options as VectorizerOptions, VectorizeError};

use crate::choice;
use crate::directives::{self, LoopMark};
use crate::error::{Error, Result};
use crate::instrumentation;
use crate::kernel::{self, Kernel, Source};
use crate::loop_dispatch;
use crate::machine;
use crate::math::{self, VectorMath};
use crate::openmp::{self, Said};
use crate::options::KernelOptions;
use crate::source_types::SourceTypes;
use crate::spec::Width;

/// Which loop is meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoopAt {
    /// The one that begins in this line of the source.
    Line(u32),
    /// The one with this block as its header.
    Block(String),
    /// All that are marked: by `//@ loop`, `#pragma omp simd` or `#pragma clang loop vectorize(assume_safety)`.
    Marked,
}

impl FromStr for LoopAt {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<LoopAt, String> {
        match (text, text.parse()) {
            ("marked", _) => Ok(LoopAt::Marked),
            (_, Ok(line)) => Ok(LoopAt::Line(line)),
            ("", _) => Err("use a line, the name of a block, or marked".to_owned()),
            _ => Ok(LoopAt::Block(text.trim_start_matches('%').to_owned())),
        }
    }
}

/// What is to be made of the loops of an input.
#[derive(Clone, Debug)]
pub struct LoopOptions {
    /// The input, and how to vectorize. The function and shapes say nothing here.
    pub kernel: KernelOptions,
    /// The functions that are looked at, by name or pattern; none for all.
    pub functions: Vec<String>,
    /// The loops.
    pub loops: Vec<LoopAt>,
    /// Whether floating-point numbers may be combined in any order in all of them.
    pub any_order: bool,
    /// Whether the user promises for all of them that iterations do not conflict where that cannot be decided.
    pub independent: bool,
}

impl LoopOptions {
    /// All loops that an input marks, with no promises but those of the marks.
    pub fn marked(kernel: KernelOptions) -> LoopOptions {
        LoopOptions {
            kernel,
            functions: Vec::new(),
            loops: vec![LoopAt::Marked],
            any_order: false,
            independent: false,
        }
    }
}

/// A loop that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundLoop {
    /// The function that it is in.
    pub func: FuncId,
    /// Its header.
    pub header: Block,
    /// Where it begins, in words.
    pub place: String,
    /// Who answers for memory that several iterations access.
    pub contract: Contract,
    /// How many consecutive iterations may be executed at once at most, whatever conflicts beyond.
    pub safelen: Option<u32>,
    /// Whether floating-point numbers may be combined in any order.
    pub any_order: bool,
    /// φs of its header of which that holds in any case.
    pub reductions: Vec<Value>,
    /// The number of lanes that its mark wants.
    pub width: Option<Width>,
}

impl FoundLoop {
    fn is_same(&self, other: &FoundLoop) -> bool {
        (self.func, self.header) == (other.func, other.header)
    }

    /// Adds what another mark says of the same loop: every promise holds, and every bound.
    fn add(&mut self, other: &FoundLoop) {
        if other.contract == Contract::Independent {
            self.contract = Contract::Independent;
        }
        self.safelen = self.safelen.into_iter().chain(other.safelen).min();
        self.any_order |= other.any_order;
        self.reductions.extend(&other.reductions);
        self.width = self.width.or(other.width);
    }
}

/// A loop that was vectorized.
pub struct MadeLoop {
    /// The function that it is in.
    pub function: String,
    /// Where it begins, in words.
    pub place: String,
    /// W.
    pub width: u32,
    /// What was made.
    pub made: VectorizedLoop,
}

/// A loop that was not vectorized.
#[derive(Debug)]
pub struct RefusedLoop {
    /// Where it begins, in words.
    pub place: String,
    /// Why.
    pub reason: Error,
}

/// What was made of loops for one CPU.
pub struct LoopVersion {
    /// The CPU.
    pub cpu: Cpu,
    /// The loops.
    pub loops: Vec<MadeLoop>,
}

/// A function in which loops were vectorized.
pub struct ChangedFunction {
    /// It, as it was.
    pub function: Function,
    /// How it is seen and called.
    pub seen: Seen,
    /// The name of the function that says which CPU's code of it runs, if there is code for several.
    pub which: Option<String>,
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
    /// The libraries of vector mathematics that it must be linked with.
    pub libraries: Vec<&'static str>,
    /// The code.
    pub code: Vec<u8>,
}

/// Whether an input marks loops and says nothing of parameters, so that its loops are meant where nothing else is
/// asked for.
///
/// # Errors
/// If a directive is malformed.
pub fn has_marks(options: &KernelOptions) -> Result<bool> {
    let by_directive = !directives::read_loops(&options.input)?.is_empty();
    let marked = by_directive || openmp::marks_loops(options);
    Ok(marked && directives::read(&options.input)?.iter().all(|group| group.args.is_none()))
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
    let (found, without) = find(&imported, options)?;
    let mut made = match &several[..] {
        [_] => {
            let machine = Machine::of(&imported, &options.kernel)?;
            let before: Vec<ChangedFunction> = changed(&imported, &found);
            let InPlace { loops, refused } = in_place(&mut imported, options, &found, &machine)?;
            let codegen = CodegenOptions {
                vector_bits: Some(machine.vectors.register_bits).filter(|&bits| bits >= 256),
                // In the scalar loops that are left, and in functions without any.
                define_lane_operations: true,
                ..CodegenOptions::new(machine.cpu.clone(), output)
            };
            let code = worker::codegen(imported.bridge.module(), &codegen)?;
            let mut functions = before;
            functions.retain(|one| loops.iter().any(|l| *l.function == *one.function.name));
            let libraries = math::libraries(&imported.ir);
            let versions = vec![LoopVersion { cpu: machine.cpu, loops }];
            CompiledLoops { versions, functions, refused, files, types, libraries, code }
        }
        _ => {
            let made = loop_dispatch::vectorize(options, imported, found, &several, output)?;
            CompiledLoops { files, types, ..made }
        }
    };
    made.refused.splice(0..0, without);
    if made.versions[0].loops.is_empty()
        && !options.loops.contains(&LoopAt::Marked)
        && !made.refused.is_empty()
    {
        return Err(made.refused.swap_remove(0).reason);
    }
    Ok(made)
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
    pub(crate) refused: Vec<RefusedLoop>,
}

/// Vectorizes loops for a CPU within their functions, in the IR and in LLVM's module.
pub(crate) fn in_place(
    imported: &mut Imported,
    options: &LoopOptions,
    found: &[FoundLoop],
    machine: &Machine,
) -> Result<InPlace> {
    let (mut loops, mut refused) = (Vec::new(), Vec::new());
    for one in found {
        let scalar = imported.ir.functions[one.func].clone();
        match machine.vectorize(imported, &options.kernel, one, one.func) {
            Ok(made) => loops.push(made),
            Err(reason @ Error::Vectorize(_)) => {
                imported.ir.functions[one.func] = scalar;
                refused.push(RefusedLoop { place: one.place.clone(), reason });
            }
            Err(error) => return Err(error),
        }
    }
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
    Ok(InPlace { loops, refused })
}

/// Reads an input for a run of the function that has the loops: all must be in one.
///
/// # Errors
/// Whatever is wrong with input and options.
pub fn open(options: &LoopOptions) -> Result<(Kernel, Vec<FoundLoop>)> {
    let path = &options.kernel.input;
    let imported = load(options)?.imported;
    let found = find_some(&imported, options)?;
    imported.forget_marks_of_loops();
    let func = found[0].func;
    if let Some(other) = found.iter().find(|f| f.func != func) {
        let names = [func, other.func].map(|f| imported.ir.functions[f].name.to_string());
        let message =
            format!("there are loops in `{}` and `{}`; choose one by --function", names[0], names[1]);
        return Err(Error::option("--loop", message));
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
        directives,
        args,
        width: 1,
        epilogue: 1,
        prologue: 0,
        chosen: None,
        cpu,
        vectors,
        linearize,
        boscc,
        coherence,
        contract: Contract::Sequential,
        instrument: options.kernel.instrument,
    };
    Ok((kernel, found))
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
    let mut regions = Vec::new();
    for one in &found {
        check(&imported, one)?;
        let ir = &mut imported.ir;
        let Iteration { mut func, args, .. } =
            loops::kernel_of(ir, one.func, &unit(one)).map_err(|e| refusal(ir, e, one))?;
        func.name = ir.functions[one.func].name.clone();
        regions.push(Region { func: ir.functions.push(func), args, place: one.place.clone() });
    }
    Ok((imported, regions))
}

/// Vectorizes the loops of a kernel that was opened for its loops, in a copy of its function with this name. The
/// copy, and what was made; a loop that is refused stays what it is, with a warning.
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
    let (mut made, mut refused) = (Vec::new(), Vec::new());
    for one in found {
        let before = kernel.imported.ir.functions[copy].clone();
        match machine.vectorize(&mut kernel.imported, options, one, copy) {
            Ok(l) => made.push(l),
            Err(reason @ Error::Vectorize(_)) => {
                kernel.imported.ir.functions[copy] = before;
                refused.push(reason);
            }
            Err(error) => return Err(error),
        }
    }
    if made.is_empty()
        && let Some(last) = refused.pop()
    {
        return Err(last);
    }
    refused.iter().for_each(|reason| kernel::warn(&format!("warning: {reason}; it stays as it is")));
    Ok((copy, made))
}

fn load(options: &LoopOptions) -> Result<Source> {
    if options.kernel.cpu.contains(',') {
        let message = format!("`{}`: one CPU; only `vectorize` makes code for several", options.kernel.cpu);
        return Err(Error::option("--cpu", message));
    }
    load_for(options)
}

/// The same for whichever CPUs.
fn load_for(options: &LoopOptions) -> Result<Source> {
    let asked = LoadOptions { thread_jumps: true, ..options.kernel.load_options() };
    kernel::load_for_code(&options.kernel.input, &asked)
}

/// Where a loop is, by its header.
fn place_of_loop(func: &Function, header: Block) -> Option<Loc> {
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

    /// Vectorizes one loop in a function, which is that of the loop or a copy.
    fn vectorize(
        &self,
        imported: &mut Imported,
        options: &KernelOptions,
        found: &FoundLoop,
        func: FuncId,
    ) -> Result<MadeLoop> {
        check(imported, found)?;
        let body = &mut imported.ir.functions[func];
        let function = body.name.to_string();
        // That is what the flag of a φ means.
        for phi in found.reductions.iter().filter_map(|&phi| body.def_inst(phi)).collect::<Vec<_>>() {
            body.insts[phi].flags |= InstFlags::REASSOC;
        }
        let Widths { lanes: width, epilogue, prologue, .. } = self.width(imported, options, found, func)?;
        // Lanes are counted by groups of W, from the first one on.
        let (epilogue, prologue) =
            if options.count_lanes.is_some() { (width, 0) } else { (epilogue, prologue) };
        let math = VectorMath::new(&imported.ir.triple, &self.vectors, options.math_ulp, options.sleef);
        let bodies = imported.final_bodies(self.vectors.register_bits);
        let header = imported.ir.functions[func].block_name(found.header);
        let asked = VectorizerOptions {
            linearize: options.linearize,
            boscc: options.boscc.unwrap_or(Boscc::Auto),
            coherence: options.coherence,
            math: &math,
            callees: &bodies,
            gathers: self.vectors.gathers,
            masks: self.vectors.masks,
            count_lanes: options.count_lanes.as_deref(),
            instrument: options.instrument,
            ..VectorizerOptions::new(width, Vec::new(), format!("{function}.{header}.x{width}"))
        };
        let unit = Unit { epilogue, prologue, ..unit(found) };
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
        let function = imported.ir.functions[found.func].name.to_string();
        Ok(MadeLoop { function, place: found.place.clone(), width, made })
    }

    /// How many iterations side by side are asked for or expected to pay, and how many of those that are left over.
    fn width(
        &self,
        imported: &mut Imported,
        options: &KernelOptions,
        found: &FoundLoop,
        func: FuncId,
    ) -> Result<Widths> {
        let asked = match options.width.or(found.width).unwrap_or_default() {
            Width::Lanes(n) => Some(n),
            Width::Auto => None,
        };
        let ir = &mut imported.ir;
        let iteration = loops::kernel_of(ir, func, &unit(found)).map_err(|e| refusal(ir, e, found))?;
        let (linearize, boscc) = (options.linearize, options.boscc.unwrap_or(Boscc::Auto));
        let (args, coherence) = (iteration.args.clone(), options.coherence);
        let how = VectorizerOptions {
            linearize,
            boscc,
            coherence,
            instrument: options.instrument,
            ..VectorizerOptions::new(1, args, "auto")
        };
        let widths = |asked| width::of_iteration(ir, &iteration, &how, &self.vectors, asked);
        let chosen = widths(asked);
        Ok(match found.safelen {
            Some(most) if most < chosen.lanes => widths(Some(1 << most.max(1).ilog2())),
            _ => chosen,
        })
    }
}

/// Checks that OpenMP leaves nothing in a loop that is not for lanes.
fn check(imported: &Imported, found: &FoundLoop) -> Result<()> {
    openmp::check(&imported.ir, &imported.ir.functions[found.func], found.header, &found.place)
}

/// What is asked of a loop, whatever its groups are.
fn unit(found: &FoundLoop) -> Unit {
    let FoundLoop { header, contract, safelen, any_order, .. } = *found;
    Unit { contract, safelen, any_order, ..Unit::new(header, 1) }
}

/// The text of a refusal. It names the function of the loop, though that may have been copied.
fn refusal(module: &Module, error: VectorizeError, found: &FoundLoop) -> Error {
    let error = error.named(&module.functions[found.func].name);
    let message = format!("the loop at {} cannot be vectorized: {}", found.place, error.describe(module));
    Error::of_kind(&error, message)
}

/// The loops that are meant, each once, by function and header, and those of which directives say what is not
/// supported.
fn find(imported: &Imported, options: &LoopOptions) -> Result<(Vec<FoundLoop>, Vec<RefusedLoop>)> {
    let path = &options.kernel.input;
    instrumentation::check(&imported.ir, path)?;
    let only = match &options.functions[..] {
        [] => None,
        wanted => {
            let chosen = choice::choose(imported, path, wanted, true)?;
            Some(chosen.iter().filter_map(|one| imported.ir.function(&one.name)).collect::<Vec<_>>())
        }
    };
    let only = only.as_deref();
    let (mut all, mut refused) = (Vec::new(), Vec::new());
    for at in &options.loops {
        match at {
            LoopAt::Line(line) => all.extend(at_line(imported, options, only, *line)?),
            LoopAt::Block(name) => all.push(with_header(imported, options, only, name)?),
            LoopAt::Marked => all.extend(marked(imported, options, only, &mut refused)?),
        }
    }
    // Whatever else marks them.
    let is_refused = |one: &FoundLoop| refused.iter().any(|(other, _)| other.is_same(one));
    all.retain(|one| !is_refused(one));
    for one in &mut all {
        one.any_order |= options.any_order;
        if options.independent {
            one.contract = Contract::Independent;
        }
    }
    all.sort_by_key(|f| (f.func, f.header));
    all.dedup_by(|other, one| {
        let same = one.is_same(other);
        if same {
            one.add(other);
        }
        same
    });
    if all.is_empty() && refused.is_empty() {
        let of = match &options.functions[..] {
            [] => String::new(),
            wanted => format!(" of `{}`", wanted.join("`, `")),
        };
        let message = format!(
            "no loop{of} is marked: write `//@ loop` or `#pragma omp simd` before it, or say `--loop LINE`"
        );
        return Err(Error::input(path, message));
    }
    let of = |(one, reason): (FoundLoop, Error)| RefusedLoop { place: one.place, reason };
    Ok((all, refused.into_iter().map(of).collect()))
}

/// The same where nothing can be done without any loop: those that are refused are warned of.
fn find_some(imported: &Imported, options: &LoopOptions) -> Result<Vec<FoundLoop>> {
    let (found, mut refused) = find(imported, options)?;
    if found.is_empty() {
        return Err(refused.swap_remove(0).reason);
    }
    refused.iter().for_each(|one| kernel::warn(&format!("warning: {}; it stays as it is", one.reason)));
    Ok(found)
}

fn functions<'a>(
    imported: &'a Imported,
    only: Option<&'a [FuncId]>,
) -> impl Iterator<Item = (FuncId, &'a Function)> {
    imported.ir.functions.iter().filter(move |(id, _)| only.is_none_or(|only| only.contains(id)))
}

/// The loops that begin in a line: as many as code that was inlined or instantiated several times has made of one.
fn at_line(
    imported: &Imported,
    options: &LoopOptions,
    only: Option<&[FuncId]>,
    line: u32,
) -> Result<Vec<FoundLoop>> {
    let (mut meant, mut lines) = (Vec::new(), Vec::new());
    for (func, function) in functions(imported, only) {
        if !is_written_in(&imported.ir, function, &options.kernel.input) {
            continue;
        }
        let nest = Nest::of(function);
        let Beginning { surely, maybe } = beginning(&imported.ir, function, &nest, line, &mut lines);
        let candidates = if surely.is_empty() { &maybe } else { &surely };
        for &header in candidates {
            if nest.around(header).any(|h| h != header && candidates.contains(&h)) {
                continue;
            }
            let one = found(imported, func, header);
            if surely.is_empty() && nest.has_inner(header) {
                let message = format!(
                    "in line {line}, it may be the loop at block `{}` of `{}` that begins or one within it; say \
                     which by the line of its test, or by \
                     its block: --loop BLOCK",
                    function.block_name(header),
                    function.name
                );
                return Err(Error::input(&options.kernel.input, message));
            }
            let file = one.place.rsplit_once(':').filter(|(_, n)| n.parse::<u32>().is_ok());
            let place = file.map(|(file, _)| format!("{file}:{line}"));
            meant.push(FoundLoop { place: place.unwrap_or(one.place.clone()), ..one });
        }
    }
    if !meant.is_empty() {
        return Ok(meant);
    }
    lines.sort_unstable();
    lines.dedup();
    let message = match lines[..] {
        [] => "the input has no loop of which the line is known".to_owned(),
        _ => {
            let shown: Vec<String> = lines.iter().take(12).map(u32::to_string).collect();
            format!("no loop begins in line {line}; there are loops in lines {}", shown.join(", "))
        }
    };
    Err(Error::input(&options.kernel.input, message))
}

/// Whether a function's lines are those of the input, not of a header or a library. Nobody knows of which file
/// modules were made.
fn is_written_in(module: &Module, func: &Function, input: &Path) -> bool {
    let is_module = input.extension().is_some_and(|e| e == "ll" || e == "bc");
    let file = func.loc.expand().map(|l| Path::new(&*module.locations[l].file));
    is_module || file.is_none_or(|f| f.file_name() == input.file_name())
}

/// Headers of a function's loops that may be said to begin in a line.
struct Beginning {
    /// Their test is in the line.
    surely: Vec<Block>,
    /// Something of their header is, or what leads back to it. That may be what a loop within it begins with.
    maybe: Vec<Block>,
}

/// Looks for loops that begin in a line; those of others go to `lines`.
fn beginning(module: &Module, func: &Function, nest: &Nest, line: u32, lines: &mut Vec<u32>) -> Beginning {
    let mut found = Beginning { surely: Vec::new(), maybe: Vec::new() };
    for header in nest.headers() {
        let of = |b: Block| line_of(module, func, func.terminator(b));
        let begins = lines_of(module, func, nest, header);
        if nest.leaving(func, header).filter_map(of).any(|l| l == line) {
            found.surely.push(header);
        } else if begins.contains(&line) {
            found.maybe.push(header);
        }
        lines.extend(begins.first().copied());
    }
    found
}

fn line_of(module: &Module, func: &Function, inst: Inst) -> Option<u32> {
    Some(Place::of(module, func, func.insts[inst].loc.expand())?.line)
}

fn with_header(
    imported: &Imported,
    options: &LoopOptions,
    only: Option<&[FuncId]>,
    name: &str,
) -> Result<FoundLoop> {
    let mut names = Vec::new();
    for (func, function) in functions(imported, only) {
        for header in Nest::of(function).headers() {
            let own = function.block_name(header);
            if own == name {
                return Ok(found(imported, func, header));
            }
            names.push(own);
        }
    }
    let message = match names[..] {
        [] => "the input has no loop".to_owned(),
        _ => format!("no loop begins at a block `{name}`; there are loops at {}", names.join(", ")),
    };
    Err(Error::input(&options.kernel.input, message))
}

fn marked(
    imported: &Imported,
    options: &LoopOptions,
    only: Option<&[FuncId]>,
    refused: &mut Vec<(FoundLoop, Error)>,
) -> Result<Vec<FoundLoop>> {
    let mut all = Vec::new();
    for mark in directives::read_loops(&options.kernel.input)? {
        let at = at_line(imported, options, None, mark.at)?;
        for one in at.into_iter().filter(|one| only.is_none_or(|only| only.contains(&one.func))) {
            let contract = if mark.independent { Contract::Independent } else { Contract::Sequential };
            let LoopMark { safelen, any_order, width, .. } = mark;
            all.push(FoundLoop { contract, safelen, any_order, width, ..one });
        }
    }
    let directives = openmp::read(&options.kernel)?;
    for mark in imported.marked_loops() {
        let function = &imported.ir.functions[mark.func];
        let around = Nest::of(function).around(mark.latch).next();
        if let Some(header) = around.filter(|_| only.is_none_or(|only| only.contains(&mark.func))) {
            match by_program(imported, &directives, &mark, header) {
                Ok(found) => all.extend(found),
                Err(reason @ Error::Directive { .. }) => {
                    refused.push((found(imported, mark.func, header), reason));
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(all)
}

/// A loop that the program itself marks, with what it says there; none if that promises nothing.
fn by_program(
    imported: &Imported,
    directives: &[Directive],
    mark: &MarkedLoop,
    header: Block,
) -> Result<Option<FoundLoop>> {
    let one = FoundLoop { contract: Contract::Independent, ..found(imported, mark.func, header) };
    let Some(directive) = openmp::of_loop(directives, mark)? else {
        let width = mark.width.filter(|w| (2..=MAX_WIDTH).contains(w)).map(Width::Lanes);
        return Ok(mark.parallel.then_some(FoundLoop { width, ..one }));
    };
    let function = &imported.ir.functions[mark.func];
    let Said { simdlen, safelen, reductions } =
        openmp::understand(directive, mark, &imported.ir, function, header)?;
    if let Some(note) = openmp::left_out(directive) {
        kernel::warn(&note);
    }
    let width = simdlen.map(|n| Width::Lanes(n.min(MAX_WIDTH)));
    Ok(Some(FoundLoop { safelen, reductions, width, ..one }))
}

fn found(imported: &Imported, func: FuncId, header: Block) -> FoundLoop {
    let function = &imported.ir.functions[func];
    let place = Place::of_block(&imported.ir, function, header).map(|p| p.short());
    let place =
        place.unwrap_or_else(|| format!("block {} of `{}`", function.block_name(header), function.name));
    FoundLoop {
        func,
        header,
        place,
        contract: Contract::Sequential,
        safelen: None,
        any_order: false,
        reductions: Vec::new(),
        width: None,
    }
}

/// The lines in which a loop may be said to begin: those of the instructions of its header, and of what leads back to
/// it.
fn lines_of(module: &Module, func: &Function, nest: &Nest, header: Block) -> Vec<u32> {
    let back = func.blocks[header].preds.iter().map(|&e| func.edges[e].from);
    let back = back.filter(|&b| nest.around(b).next() == Some(header));
    let of = |b: Block| func.block_insts(b).filter_map(|i| line_of(module, func, i));
    let mut lines: Vec<u32> = of(header).collect();
    lines.extend(back.flat_map(|b| of(b).last()));
    lines
}
