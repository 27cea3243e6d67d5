//! From the options to a kernel: read the input, choose the function, settle shapes, width and CPU.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use warpline_ir::printable;
use warpline_ir::{FuncId, Function, Scalar, Type};
use warpline_llvm::worker::{self, CodegenOptions, LoadOptions, Output};
use warpline_llvm::{Cpu, Effort, Imported, InputKind, Linkage};
use warpline_uniformity::Target;
use warpline_uniformity::shape::{ArgShape, parse_args};
use warpline_vectorize::driver::{self, Division, MadeVariants, Tail};
use warpline_vectorize::groups::Rules;
use warpline_vectorize::lane_dimension;
use warpline_vectorize::passes::Instrument;
use warpline_vectorize::warps::Warps;
use warpline_vectorize::width::remarks::Remark;
use warpline_vectorize::width::{self, Estimate, Widths};
use warpline_vectorize::work_items::{self, WorkItems};
use warpline_vectorize::{
    Boscc, Coherence, Contract, Linearize, Options as VectorizerOptions, VectorizeError,
};

use crate::choice;
use crate::directives::{self, Directives};
use crate::error::{Error, Result};
use crate::exclusive;
use crate::groups::Regions;
use crate::instrumentation;
use crate::libmvec::MAX_ULP;
use crate::machine;
use crate::math::VectorMath;
use crate::options::KernelOptions;
use crate::package;
use crate::profile::Profile;
use crate::spec::Width;

/// A kernel with everything that is known of it.
pub struct Kernel {
    /// The module that it is in.
    pub imported: Imported,
    /// The kernel. Where it asks which work-item it is, it is a copy that has parameters instead.
    pub func: FuncId,
    /// The kernel's own name.
    pub name: String,
    /// What became of such questions.
    pub items: Option<WorkItems>,
    /// What lies between its barriers, if it has some.
    pub regions: Option<Regions>,
    /// What the input says of it.
    pub directives: Directives,
    /// The shapes of its parameters.
    pub args: Vec<ArgShape>,
    /// W.
    pub width: u32,
    /// In groups of how many indices is executed what no group of W is left for at the end of a range.
    pub epilogue: u32,
    /// What executes what no group at all is left for.
    pub tail: Tail,
    /// At a multiple of how many bytes groups of W begin to store; 0 for anywhere.
    pub prologue: u64,
    /// Ranges of fewer indices are left to the scalar program; 0 for none.
    pub least: u32,
    /// Why W, if it was left to us.
    pub chosen: Option<width::Choice>,
    /// What an index is expected to take.
    pub estimate: Option<Estimate>,
    /// What the time is spent on, if that is asked for.
    pub remarks: Vec<Remark>,
    /// The CPU to make code for.
    pub cpu: Cpu,
    /// Its vector registers.
    pub vectors: width::Machine,
    /// Which branches are folded.
    pub linearize: Linearize,
    /// Where branches skip code without an active lane.
    pub boscc: Boscc,
    /// For which loops code is made for iterations in which lanes agree.
    pub coherence: Coherence,
    /// What memory accessed by several lanes means.
    pub contract: Contract,
    /// How many work-items a group has, where it runs over groups and its attributes say so.
    pub group: Option<[u32; 3]>,
    /// How many a row of lanes has at most, if that is known.
    pub(crate) row: Option<u32>,
    /// Whether LLVM leaves the code as it is made.
    pub unoptimized: bool,
    /// Who is told of the vectorizer's passes.
    pub instrument: &'static dyn Instrument,
}

/// Reads the input and settles what to do with it.
///
/// # Errors
/// Whatever is wrong with the input, the directives or the options.
pub fn open(options: &KernelOptions) -> Result<Kernel> {
    let imported = load_for_code(&options.input, &options.load_options(), options.told())?.imported;
    imported.forget_marks_of_loops();
    let cpu = one_cpu(options, &imported)?;
    settle(options, imported, cpu)
}

/// The CPU that code is made for.
///
/// # Errors
/// If there are several, or it is not known.
pub fn one_cpu(options: &KernelOptions, imported: &Imported) -> Result<Cpu> {
    if options.cpu.contains(',') {
        let message = format!("`{}`: one CPU; only `vectorize` makes code for several", options.cpu);
        return Err(Error::option("--cpu", message));
    }
    Ok(worker::find_cpu(&options.cpu, &imported.ir.triple)?)
}

/// Settles what to do with an input that was loaded and simplified, for a CPU.
///
/// # Errors
/// As [`open`].
pub fn settle(options: &KernelOptions, mut imported: Imported, cpu: Cpu) -> Result<Kernel> {
    let finish = settle_within(options, &mut imported, cpu)?;
    Ok(finish(imported))
}

/// Settles what to do with one kernel of an input, which is taken then; it stays with the caller if that fails, with
/// what has been made by then in its IR.
pub(crate) fn settle_within(
    options: &KernelOptions,
    imported: &mut Imported,
    cpu: Cpu,
) -> Result<impl FnOnce(Imported) -> Kernel + use<>> {
    let path = &options.input;
    instrumentation::check(&imported.ir, path)?;
    let groups = directives::read(path)?;
    let (func, mut directives) = choice::only(imported, path, groups, options.function.as_deref())?;
    // Of what rustc compiles together with the crate, rustc says itself which references lead to memory of their own:
    // those to cells do not.
    let is_apart = directives.is_safe && !directives.with_crate;
    directives.is_safe |= options.is_safe;
    let function = &imported.ir.functions[func];
    let name = function.name.to_string();
    let indices = options.profile.as_ref().and_then(|profile| profile.indices(&imported.ir, function));
    let mut args = shapes(imported, function, path, &directives, options.args.as_deref())?;
    let group = imported.facts(func, Target::Spirv).work_group.map(|group| group.size);
    let wave_size = imported.facts(func, Target::Amdgcn).wave_size;
    let vectors = machine::of(&cpu, &imported.ir.triple)?;
    let choose = || lane_dimension::choose(&imported.ir, func, &args, group, &vectors);
    let of_warps = directives.warp.map(|_| 0);
    let lanes = options.lane_dimension.or(of_warps).unwrap_or_else(choose);
    let is_kernel = imported.bridge.module().opencl_kernels().contains(&name)
        && args.iter().all(|shape| *shape == ArgShape::Uniform);
    let items = work_items::along(&mut imported.ir, func, lanes, directives.warp, is_kernel)
        .map_err(|e| Error::of_vectorizer(&e, &imported.ir))?;
    let func = items.as_ref().map_or(func, |items| items.func);
    args.extend(items.iter().flat_map(WorkItems::shapes));
    let boscc = options.boscc.or(directives.boscc).unwrap_or(Boscc::Auto);
    let linearize = options.linearize;
    let given = match options.width.or(directives.width).unwrap_or_default() {
        Width::Lanes(n) => Some(n),
        Width::Auto => None,
    };
    let given = lanes_of_warps(options, items.as_ref(), wave_size.unwrap_or(64), given)?;
    // Several lanes are of no use where all work-items do the same.
    let are_alike =
        items.as_ref().is_some_and(|items| !items.runs_over_groups && items.are_alike(&imported.ir));
    let given = given.or(are_alike.then_some(1));
    let coherence = match options.coherence {
        Coherence::Auto => directives.coherence.unwrap_or(Coherence::Auto),
        given => given,
    };
    if is_apart {
        separate(imported, func);
    }
    let contract = over_groups(directives.contract(options.racy), items.as_ref());
    let in_groups = items.as_ref().filter(|items| items.runs_over_groups);
    let row = in_groups.and(group).map(|group| group[lanes as usize]);
    let math = math_library(options, &directives, &imported.ir.triple, &vectors);
    let bodies = imported.final_bodies(vectors.register_bits);
    let asked = VectorizerOptions {
        linearize,
        boscc,
        coherence,
        contract,
        row,
        math: &math,
        callees: &bodies,
        instrument: options.instrument,
        indices,
        remarks: options.remarks,
        ..VectorizerOptions::new(1, args.clone(), "auto")
    };
    let rules = Rules { strict: options.strict_barriers, uniform: directives.uniform_barriers };
    let regions = Regions::of(imported, items.as_ref(), rules, &asked, &vectors, given)?;
    let Widths { lanes: width, epilogue, tail, prologue, least, chosen, estimate, remarks } = match &regions {
        Some(regions) => regions.widths(),
        None => width::of_kernel(&imported.ir, &imported.ir.functions[func], &asked, &vectors, given),
    };
    let is_over_groups = row.is_some();
    let (instrument, unoptimized) = (options.instrument, options.unoptimized);
    Ok(move |imported| Kernel {
        imported,
        func,
        name,
        items,
        regions,
        directives,
        args,
        width,
        epilogue,
        tail,
        prologue,
        least,
        chosen,
        estimate,
        remarks,
        cpu,
        vectors,
        linearize,
        boscc,
        coherence,
        contract,
        group: group.filter(|_| is_over_groups),
        row,
        unoptimized,
        instrument,
    })
}

/// What memory that several lanes access means in a kernel, if it has work-groups.
fn over_groups(contract: Contract, items: Option<&WorkItems>) -> Contract {
    match (contract, items) {
        (Contract::Threads, Some(WorkItems { warps: Some(Warps::Asked(_)), .. })) => Contract::Warp,
        (Contract::Threads, Some(WorkItems { runs_over_groups: true, .. })) => Contract::Groups,
        _ => contract,
    }
}

/// How many lanes a kernel has that does something by warps, which is no matter of choice; else those that are given.
fn lanes_of_warps(
    options: &KernelOptions,
    items: Option<&WorkItems>,
    wave_size: u32,
    given: Option<u32>,
) -> Result<Option<u32>> {
    let Some(warps) = items.and_then(|items| items.warps) else { return Ok(given) };
    let lanes = match warps {
        Warps::Nvptx => 32,
        Warps::Amdgcn => wave_size,
        Warps::Asked(lanes) => lanes,
    };
    match given {
        Some(other) if other != lanes => {
            let of = options.function.as_deref().unwrap_or("the kernel");
            let message =
                format!("{of} does something by warps of {lanes} lanes, so it has as many: leave it out");
            Err(Error::option("--width", message))
        }
        _ => Ok(Some(lanes)),
    }
}

/// Notes that no two pointers among a kernel's parameters lead to the same memory, if any is written to: they are
/// references of Rust, though the kernel may be written in C, where nothing says so.
fn separate(imported: &mut Imported, func: FuncId) {
    let function = &mut imported.ir.functions[func];
    for param in function.params.clone() {
        if matches!(function.ty(param).scalar(), Some(Scalar::Ptr(_))) {
            function.pointers[param].noalias = true;
        }
    }
}

/// Who gets the warnings of compilers, and those about their flags.
static WARNINGS: OnceLock<fn(&str)> = OnceLock::new();

/// Has warnings of compilers, and those about their flags, go where a program says, instead of to standard error. The
/// first who says so is obeyed.
pub fn warnings_go_to(place: fn(&str)) {
    let _ = WARNINGS.set(place);
}

/// Passes on a warning, if there is anybody to read it.
pub(crate) fn warn(text: &str) {
    match WARNINGS.get() {
        Some(place) => place(text),
        None => drop(writeln!(std::io::stderr(), "{}", printable::text(text))),
    }
}

/// An input that was read.
pub struct Source {
    /// Its module.
    pub imported: Imported,
    /// The files that it is made of, if they were asked for.
    pub files: Vec<PathBuf>,
}

/// What the user says of an input besides what stands in it.
#[derive(Copy, Clone, Default)]
pub struct Told<'a> {
    /// How often branches were taken in a run.
    pub profile: Option<&'a Profile>,
    /// The parameters to whose memory functions have exclusive access.
    pub exclusive: &'a [String],
}

/// Reads and imports an input that code is to be made of, with what the user says of it. Warnings go to standard
/// error.
///
/// # Errors
/// As [`load`], [`warpline_llvm::Error::Export`] for functions in text form that have none in LLVM, and for promises
/// about parameters that no function has.
pub fn load_for_code(path: &Path, options: &LoadOptions, told: Told<'_>) -> Result<Source> {
    let mut source = load(path, options)?;
    if InputKind::of(path)? == InputKind::Rust {
        exclusive::references_are_unique(&mut source.imported);
    }
    exclusive::promise(&mut source.imported, path)?;
    exclusive::promise_everywhere(&mut source.imported, path, told.exclusive)?;
    source.imported.export_pending()?;
    let ignored = told.profile.map_or(Vec::new(), |profile| profile.apply(&mut source.imported.ir));
    ignored.iter().for_each(|why| warn(&format!("warning: {}: {why}", path.display())));
    Ok(source)
}

/// Reads and imports an input. Warnings go to standard error.
///
/// # Errors
/// As [`worker::load_module`].
pub fn load(path: &Path, options: &LoadOptions) -> Result<Source> {
    if InputKind::of(path)? == InputKind::Warpline {
        let as_written = LoadOptions { simplify: Some(false), ..LoadOptions::default() };
        let read = |originals: &Path| worker::load_module(originals, &as_written).map(|(module, _)| module);
        let imported = Imported::read_text(path, options.triple.as_deref(), read)?;
        return Ok(Source { imported, files: vec![path.to_owned()] });
    }
    let part = package::load::part(path, options)?;
    let of_crate = |part: &package::load::Part| {
        let (imported, files) = package::load::load(path, part, options)?;
        Ok(Source { imported, files })
    };
    if let Some(part) = part.as_ref().filter(|part| !part.may_be_alone) {
        return of_crate(part);
    }
    let signatures = if part.is_none() { package::load::with_shims(path)? } else { None };
    let options = &LoadOptions { shims: signatures.is_some(), ..options.clone() };
    let (module, loaded) = match (worker::load_module(path, options), part) {
        (Ok(loaded), _) => loaded,
        (Err(_), Some(part)) => return of_crate(&part),
        (Err(error), None) => {
            // What a worker says is text.
            let text = error.to_string();
            let hint = package::load::hint(path, options).filter(|_| text.contains(" rejects it:\n"));
            let Some(hint) = hint else { return Err(error.into()) };
            let text = text.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&text);
            return Err(Error::input(path, format!("{text}\n{hint}")));
        }
    };
    if !loaded.warnings.trim().is_empty() {
        warn(loaded.warnings.trim_end());
    }
    let mut imported = match signatures {
        Some(signatures) => package::load::renamed(path, &signatures, module)?,
        None => Imported::new(module),
    };
    imported.own_files = loaded.own;
    Ok(Source { imported, files: loaded.dependencies })
}

/// Reads inputs that are parts of one program, and imports them as one module.
///
/// # Errors
/// As [`load`], if an input is of a kind that cannot be put together with others, or if two of them define the same.
pub fn load_together(paths: &[PathBuf], options: &LoadOptions) -> Result<Source> {
    let (first, others) = match paths {
        [] => return Err(Error::option("INPUT", "name an input")),
        [only] => return load(only, options),
        [first, others @ ..] => (first, others),
    };
    for path in paths {
        let kind = InputKind::of(path)?;
        if matches!(kind, InputKind::Warpline | InputKind::Rust | InputKind::OpenCl) {
            return Err(Error::input(path, "only C, C++ and LLVM's modules are put together with others"));
        }
    }
    let (mut module, loaded) = worker::load_module(first, options)?;
    let (mut warnings, mut files) = (loaded.warnings, loaded.dependencies);
    for path in others {
        let loaded = worker::load(path, options)?;
        module.link(&loaded.bitcode, &path.display().to_string())?;
        warnings += &loaded.warnings;
        files.extend(loaded.dependencies);
    }
    if !warnings.trim().is_empty() {
        warn(warnings.trim_end());
    }
    Ok(Source { imported: Imported::new(module), files })
}

/// The shapes of the parameters that are given for an analysis: by a list on the command line, else by the input's
/// directive. Parameters that it does not mention are uniform.
///
/// # Errors
/// If a list does not fit the function.
pub fn given_shapes(
    imported: &Imported,
    path: &Path,
    groups: &[Directives],
    func: &Function,
    option: Option<&str>,
) -> Result<Option<Vec<ArgShape>>> {
    let directive = groups.iter().find(|g| g.function.as_deref() == Some(&*func.name));
    let directive = directive.and_then(|g| g.args.as_ref());
    let Some(list) = option.or(directive.map(|at| at.value.as_str())) else { return Ok(None) };
    let args = parse_args(list, &imported.ir, func).map_err(|e| {
        let message = format!("function `{}`: {e}", func.name);
        match (option, directive) {
            (None, Some(at)) => Error::Directive { path: path.to_owned(), line: at.line, message },
            _ => Error::option("--args", message),
        }
    })?;
    Ok(Some(args.into_iter().map(|a| a.unwrap_or(ArgShape::Uniform)).collect()))
}

/// The shapes of the parameters: from the option, else from the directive; those that are not mentioned are uniform.
fn shapes(
    imported: &Imported,
    func: &Function,
    path: &Path,
    directives: &Directives,
    option: Option<&str>,
) -> Result<Vec<ArgShape>> {
    let wrong = |message: String| match (option, &directives.args) {
        (None, Some(at)) => Error::Directive { path: path.to_owned(), line: at.line, message },
        _ => Error::option("--args", message),
    };
    let list = option.or(directives.args.as_ref().map(|at| at.value.as_str())).unwrap_or_default();
    let given =
        parse_args(list, &imported.ir, func).map_err(|e| wrong(format!("function `{}`: {e}", func.name)))?;
    Ok(given.into_iter().map(|s| s.unwrap_or(ArgShape::Uniform)).collect())
}

/// A kernel on W lanes over a range.
pub struct OverRange {
    /// The forms for groups of indices.
    pub made: MadeVariants,
    /// The driver over a range.
    pub range: FuncId,
    /// The one that it calls for ranges that are not short, if that is another one.
    pub many: Option<FuncId>,
}

impl OverRange {
    /// Everything that was made.
    pub fn functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        self.made.functions().chain(self.many).chain([self.range])
    }
}

impl Kernel {
    /// Makes the forms of the kernel as these options say, with the lanes of the options, and the driver of this name
    /// that runs them over a range.
    ///
    /// # Errors
    /// The reason why it cannot be vectorized.
    pub fn over_range(&mut self, asked: &VectorizerOptions<'_>, driver: &str) -> Result<OverRange> {
        // Lanes are counted by groups of W, from the first one on.
        let division = match asked.count_lanes {
            Some(_) => Division::into_groups_of(asked.width),
            None => {
                let Kernel { epilogue, tail, prologue, least, .. } = *self;
                Division { epilogue, tail, prologue, least }
            }
        };
        let ir = &mut self.imported.ir;
        let made = MadeVariants::make(ir, self.func, asked, division).and_then(|made| {
            let (variants, args) = (made.variants(), &self.args);
            if made.least <= 1 {
                let range = driver::vector_range(ir, self.func, &variants, args, driver)?;
                return Ok(OverRange { made, range, many: None });
            }
            let many = driver::vector_range(ir, self.func, &variants, args, &format!("{driver}.many"))?;
            let range = driver::short_range(ir, self.func, many, args, made.least, driver)?;
            Ok(OverRange { made, range, many: Some(many) })
        });
        made.map_err(|e| self.refusal(&e))
    }

    /// Whether nobody asks for vectors and the scalar program is expected to take less time over a range.
    pub fn scalar_wins(&self) -> bool {
        self.chosen.is_some() && self.estimate.as_ref().is_some_and(Estimate::scalar_wins)
    }

    /// Makes the driver of this name that runs a scalar function, the kernel or a copy of it, over a range.
    ///
    /// # Errors
    /// If a parameter cannot be passed.
    pub fn scalar_range(&mut self, func: FuncId, driver: &str) -> Result<FuncId> {
        let made = driver::scalar_range(&mut self.imported.ir, func, &self.args, driver);
        made.map_err(|e| self.refusal(&e))
    }

    /// The functions that the scalar program needs and LLVM's module has not got: a kernel that asks which work-item
    /// it is is a copy.
    pub fn copies(&self) -> impl Iterator<Item = FuncId> + use<> {
        self.items.as_ref().map(|items| items.func).into_iter()
    }

    /// The kernel's function.
    pub fn function(&self) -> &Function {
        &self.imported.ir.functions[self.func]
    }

    /// The vector mathematics to use.
    pub fn math_library(&self, options: &KernelOptions) -> VectorMath {
        math_library(options, &self.directives, &self.imported.ir.triple, &self.vectors)
    }

    /// The text of a refusal, with the source line.
    pub fn refusal(&self, error: &VectorizeError) -> Error {
        let about_kernel = error.problem().function == self.function().name;
        let error = if about_kernel { error.clone().named(&self.name) } else { error.clone() };
        Error::of_vectorizer(&error, &self.imported.ir)
    }

    /// Brings functions that were made here into the LLVM module.
    ///
    /// # Errors
    /// If one cannot be expressed there.
    pub fn export(&mut self, functions: &[FuncId]) -> Result<()> {
        let loc = self.function().loc;
        for &id in functions {
            let function = &mut self.imported.ir.functions[id];
            // Drivers are where the kernel is.
            if function.loc.is_none() {
                function.loc = loc;
            }
            let function = &self.imported.ir.functions[id];
            self.imported.bridge.add_function(&self.imported.ir, function, Linkage::External)?;
        }
        Ok(())
    }

    /// The options for code of which only these functions are visible from outside.
    pub fn codegen_options(&self, visible: &[&str], output: Output) -> CodegenOptions {
        let made = CodegenOptions::new(self.cpu.clone(), output);
        let (passes, effort) = match self.unoptimized {
            true => (String::new(), Effort::Least),
            false => (made.passes.clone(), made.effort),
        };
        CodegenOptions {
            passes,
            effort,
            vector_bits: Some(self.vectors.register_bits).filter(|&bits| bits >= 256),
            visible: Some(visible.iter().map(|&name| name.to_owned()).collect()),
            ..made
        }
    }

    /// The options of the vectorizer, for as many lanes as are wanted here.
    pub fn vectorizer<'a>(
        &self,
        name: String,
        lanes: u32,
        masked: bool,
        math: &'a dyn warpline_vectorize::MathLibrary,
        callees: &'a dyn warpline_vectorize::Callees,
    ) -> warpline_vectorize::Options<'a> {
        warpline_vectorize::Options {
            masked,
            linearize: self.linearize,
            boscc: self.boscc,
            coherence: self.coherence,
            contract: self.contract,
            row: self.row,
            instrument: self.instrument,
            math,
            callees,
            machine: self.vectors,
            ..warpline_vectorize::Options::new(lanes, self.args.clone(), name)
        }
    }
}

/// The vector mathematics that options and directives allow on a machine.
fn math_library(
    options: &KernelOptions,
    directives: &Directives,
    triple: &str,
    vectors: &width::Machine,
) -> VectorMath {
    let KernelOptions { math_ulp, sleef, .. } = *options;
    let math_ulp = directives.math_ulp.filter(|_| math_ulp == MAX_ULP).unwrap_or(math_ulp);
    VectorMath::new(triple, vectors, math_ulp, sleef)
}

/// The C name of an element type, for messages and headers; `None` for what C has no fixed name for.
pub fn c_type(ty: Type) -> Option<&'static str> {
    Some(match ty.scalar()? {
        Scalar::Int(1) => "bool",
        Scalar::Int(8) => "int8_t",
        Scalar::Int(16) => "int16_t",
        Scalar::Int(32) => "int32_t",
        Scalar::Int(64) => "int64_t",
        Scalar::Float(warpline_ir::FloatKind::Float) => "float",
        Scalar::Float(warpline_ir::FloatKind::Double) => "double",
        Scalar::Ptr(_) => "void *",
        _ => return None,
    })
}
