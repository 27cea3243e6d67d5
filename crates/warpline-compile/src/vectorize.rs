//! The W-lane form of a kernel, with its drivers, as code.

use warpline_ir::{FuncId, Place};
use warpline_llvm::worker::{self, CodegenOptions, Output};
use warpline_llvm::{Cpu, Imported, Module};
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::driver::{self, Division, Tail};
use warpline_vectorize::{Vectorized, is_variant};

use crate::choice::Chosen;
use crate::error::{Error, Result};
use crate::groups::{self, MadeOfRegions};
use crate::kernel::{self, Kernel};
use crate::options::{KernelOptions, VectorizeOptions};
use crate::remarks::{self, Remarked};

/// What was made of a kernel.
pub struct Compiled {
    /// The kernel; its module has the W-lane form too.
    pub kernel: Kernel,
    /// The W-lane form.
    pub made: Vectorized,
    /// The name of the visible W-lane function; a kernel with barriers has none.
    pub lanes: Option<String>,
    /// In groups of how many indices the range driver executes what no group of W is left for.
    pub epilogue: u32,
    /// What executes what no group at all is left for.
    pub tail: Tail,
    /// Whether it has groups of W begin where stores are aligned.
    pub aligned: bool,
    /// The names of its drivers.
    pub drivers: Drivers,
    /// Whether the drivers run the scalar program, since that is expected to take less time.
    pub scalar: bool,
}

/// The names of a kernel's drivers: those that there are.
#[derive(Clone, Debug, Default)]
pub struct Drivers {
    /// Over a range.
    pub range: Option<String>,
    /// Over all work-items of up to three dimensions.
    pub ndrange: Option<String>,
    /// Over some work-groups of them.
    pub groups: Option<String>,
    /// The function that says how much workspace those need; of kernels with barriers.
    pub workspace: Option<String>,
}

impl Drivers {
    /// What they are called that there can be, for a function's symbols with this stem and suffix.
    pub(crate) fn named(stem: &str, suffix: &str) -> Drivers {
        let [range, ndrange, groups, workspace] =
            ["range", "ndrange", "groups", "workspace"].map(|what| Some(format!("{stem}_{what}{suffix}")));
        Drivers { range, ndrange, groups, workspace }
    }

    /// Those that others have as well.
    pub(crate) fn like(self, others: &Drivers) -> Drivers {
        let both = |own: Option<String>, other: &Option<String>| own.filter(|_| other.is_some());
        Drivers {
            range: both(self.range, &others.range),
            ndrange: both(self.ndrange, &others.ndrange),
            groups: both(self.groups, &others.groups),
            workspace: both(self.workspace, &others.workspace),
        }
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.each().into_iter().flatten()
    }

    /// Each that there can be, in the same order always.
    pub(crate) fn each(&self) -> [Option<&str>; 4] {
        [&self.range, &self.ndrange, &self.groups, &self.workspace].map(Option::as_deref)
    }
}

impl Compiled {
    /// Why the drivers run the scalar program, and what would change that, if they do.
    pub fn stays_scalar(&self) -> Option<String> {
        let estimate = self.kernel.estimate.as_ref().filter(|_| self.scalar)?;
        let driver = self.drivers.names().next()?;
        let Kernel { width, remarks, .. } = &self.kernel;
        Some(remarks::stays_scalar(&format!("`{driver}`"), *width, estimate, remarks))
    }

    /// Its performance remarks, if they were asked for.
    #[must_use]
    pub fn remarks(&self) -> Remarked {
        let Kernel { imported, name, cpu, width, chosen, estimate, remarks, .. } = &self.kernel;
        let function = self.kernel.function();
        let begin = Place::of(&imported.ir, function, function.loc.expand());
        let mut all =
            Remarked::new(name, &cpu.name, *width, begin).with(chosen.as_ref(), estimate.as_ref(), remarks);
        if let Some(why) = self.stays_scalar() {
            all.stays_scalar(&why);
        }
        all
    }

    /// The names of all visible functions.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.lanes.as_deref().into_iter().chain(self.drivers.names())
    }
}

/// A kernel that was not vectorized.
#[derive(Debug)]
pub struct Refused {
    /// The kernel.
    pub kernel: Chosen,
    /// Where it begins in the source.
    pub begin: Option<Place>,
    /// Why.
    pub reason: Error,
}

impl Refused {
    /// The same as a remark.
    #[must_use]
    pub fn remarked(&self) -> Remarked {
        Remarked::refused(&self.kernel.name, self.begin.clone(), &self.reason)
    }
}

/// What became of several kernels in one module.
pub struct Several {
    /// Those that were vectorized.
    pub made: Vec<Compiled>,
    /// The others.
    pub refused: Vec<Refused>,
    /// The module that has all that was made.
    module: Imported,
}

/// Makes the W-lane forms of kernels of an input that was loaded and simplified, and their drivers, and one code of
/// all of them for one CPU. There is no code if none can be vectorized.
///
/// # Errors
/// Whatever is wrong with input and options. What makes single kernels impossible is no error.
pub fn vectorize(
    options: &VectorizeOptions,
    imported: Imported,
    kernels: &[Chosen],
    output: Output,
) -> Result<(Several, Vec<u8>)> {
    let cpu = kernel::one_cpu(&options.kernel, &imported)?;
    imported.forget_marks_of_loops();
    let all = in_module(options, imported, kernels, &cpu, "")?;
    let code = if all.made.is_empty() { Vec::new() } else { code(options, &all, output)? };
    Ok((all, code))
}

/// The remarks about kernels of an input that was loaded and simplified, for one CPU, and those that cannot be
/// vectorized. No code is made.
///
/// # Errors
/// Whatever is wrong with input and options.
pub fn remarks_of_kernels(
    options: &VectorizeOptions,
    imported: Imported,
    kernels: &[Chosen],
) -> Result<(Vec<Remarked>, Vec<Refused>)> {
    let cpu = kernel::one_cpu(&options.kernel, &imported)?;
    imported.forget_marks_of_loops();
    let all = in_module(options, imported, kernels, &cpu, "")?;
    Ok((all.made.iter().map(Compiled::remarks).collect(), all.refused))
}

/// Makes the W-lane forms of kernels and their drivers in one module; `suffix` ends the names of all that is made.
///
/// # Errors
/// As [`vectorize`].
pub(crate) fn in_module(
    options: &VectorizeOptions,
    imported: Imported,
    kernels: &[Chosen],
    cpu: &Cpu,
    suffix: &str,
) -> Result<Several> {
    if let (Some(name), true) = (&options.name, kernels.len() > 1) {
        let message = format!(
            "`{name}` is a name for one kernel, and {} are meant; say which with --function",
            kernels.len()
        );
        return Err(Error::option("--symbol", message));
    }
    let mut all = Several { made: Vec::new(), refused: Vec::new(), module: imported };
    for kernel in kernels {
        let asked = VectorizeOptions {
            kernel: KernelOptions { function: Some(kernel.name.clone()), ..options.kernel.clone() },
            ..options.clone()
        };
        let before = all.module.ir.clone();
        let count = before.functions.len();
        let made = match kernel::settle_within(&asked.kernel, &mut all.module, cpu.clone()) {
            Ok(finish) => {
                // The module goes through the kernel, which keeps a copy of the IR to be described by.
                let nothing = Imported::new(Module::parse(b"; nothing\n", "nothing")?);
                let mut own = finish(std::mem::replace(&mut all.module, nothing));
                let made = add(&asked, &mut own, suffix);
                std::mem::swap(&mut own.imported, &mut all.module);
                made.map(|made| {
                    own.imported.ir = all.module.ir.clone();
                    forget_made(&mut all.module.ir, count);
                    made.of(own)
                })
            }
            Err(error) => Err(error),
        };
        match made {
            Ok(made) => all.made.push(made),
            Err(reason @ Error::Vectorize(_)) => {
                // Nothing of it has gone beyond the IR.
                all.module.ir = before;
                let func = all.module.ir.function(&kernel.name).map(|id| &all.module.ir.functions[id]);
                let begin = func.and_then(|func| Place::of(&all.module.ir, func, func.loc.expand()));
                all.refused.push(Refused { kernel: kernel.clone(), begin, reason });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

/// Takes out what was made of a kernel, behind the first `count` functions, and went beyond the IR: nobody looks for it
/// there any more, but for variants of functions that other kernels may call as well.
fn forget_made(ir: &mut warpline_ir::Module, count: usize) {
    let names: Vec<Box<str>> = ir.functions.values().take(count).map(|func| func.name.clone()).collect();
    ir.functions.keep_behind(count, |func| names.iter().any(|name| is_variant(&func.name, name)));
}

/// The code of kernels in one module.
///
/// # Errors
/// If LLVM makes none.
pub(crate) fn code(options: &VectorizeOptions, all: &Several, output: Output) -> Result<Vec<u8>> {
    let Some(last) = all.made.last() else { return Ok(Vec::new()) };
    let visible: Vec<&str> = all.made.iter().flat_map(Compiled::functions).collect();
    let scalar = all.made.iter().any(|one| one.scalar);
    code_of(options, &last.kernel, &all.module, (&visible, scalar), output)
}

/// The code of a module in which these functions are visible, for the CPU of a kernel; the flag says whether some of
/// it stays scalar.
fn code_of(
    options: &VectorizeOptions,
    kernel: &Kernel,
    imported: &Imported,
    (visible, scalar): (&[&str], bool),
    output: Output,
) -> Result<Vec<u8>> {
    let codegen = CodegenOptions {
        panic: options.panic.clone(),
        reports: options.reports.clone(),
        strip: options.strip,
        slp: scalar,
        ..kernel.codegen_options(visible, output)
    };
    Ok(worker::codegen(imported.bridge.module(), &codegen)?)
}

/// Makes the W-lane form of a kernel that was opened, its drivers, and code of them.
///
/// # Errors
/// As [`vectorize`], and the reason why the kernel cannot be vectorized.
pub fn compile(
    options: &VectorizeOptions,
    mut kernel: Kernel,
    suffix: &str,
    output: Output,
) -> Result<(Compiled, Vec<u8>)> {
    let compiled = add(options, &mut kernel, suffix)?.of(kernel);
    let visible: Vec<&str> = compiled.functions().collect();
    let code =
        code_of(options, &compiled.kernel, &compiled.kernel.imported, (&visible, compiled.scalar), output)?;
    Ok((compiled, code))
}

/// What was added to the module of a kernel.
struct Added {
    made: Vectorized,
    lanes: Option<String>,
    division: Division,
    drivers: Drivers,
    scalar: bool,
}

impl Added {
    /// It and its kernel.
    fn of(self, kernel: Kernel) -> Compiled {
        let Added { made, lanes, division, drivers, scalar } = self;
        let Division { epilogue, tail, prologue, .. } = division;
        let aligned = prologue > 0;
        Compiled { kernel, made, lanes, epilogue, tail, aligned, drivers, scalar }
    }
}

/// Makes the W-lane form of a kernel that was opened, and its drivers.
fn add(options: &VectorizeOptions, kernel: &mut Kernel, suffix: &str) -> Result<Added> {
    let scalar_result = scalar_result(options, kernel)?;
    let stem = options.stem(&kernel.name);
    let lanes = match &options.name {
        Some(name) => format!("{name}{suffix}"),
        None => format!("{stem}_w{}{suffix}", kernel.width),
    };
    let drivers = drivers_of(kernel, &stem, suffix);
    for made in drivers.names().chain([&*lanes]) {
        if kernel.imported.ir.symbol(made).is_some() {
            let message = format!("the input has a function `{made}` already; choose another name");
            return Err(Error::option("--symbol", message));
        }
    }
    if let Drivers { ndrange: Some(ndrange), groups: Some(groups), workspace: Some(workspace), .. } = &drivers
    {
        let names = groups::Names { lanes: &lanes, ndrange, groups, workspace };
        let MadeOfRegions { made, new, scalar, .. } = groups::make(options, kernel, names)?;
        kernel.export(&new)?;
        let division = Division::into_groups_of(kernel.width);
        return Ok(Added { made, lanes: None, division, drivers, scalar });
    }
    let items = drivers.ndrange.as_deref().zip(drivers.groups.as_deref());
    let names = Names { lanes: &lanes, range: drivers.range.as_deref(), items };
    let (made, division) = make(options, kernel, &names, scalar_result)?;
    let scalar = drivers.range.is_some() && runs_scalar(options, kernel);
    let lanes = Some(lanes);
    Ok(Added { made, lanes, division, drivers, scalar })
}

/// The names of the drivers that a kernel gets.
fn drivers_of(kernel: &Kernel, stem: &str, suffix: &str) -> Drivers {
    let mut drivers = Drivers::named(stem, suffix);
    if kernel.regions.is_some() || !kernel.args.contains(&ArgShape::Index) {
        drivers.range = None;
    }
    if kernel.items.is_none() {
        (drivers.ndrange, drivers.groups) = (None, None);
    }
    if kernel.regions.is_none() {
        drivers.workspace = None;
    }
    drivers
}

/// The names of what is made.
struct Names<'a> {
    lanes: &'a str,
    /// Of the range driver, if there is to be one.
    range: Option<&'a str>,
    /// Of the drivers over all work-items and over some groups, if the kernel asks for them.
    items: Option<(&'a str, &'a str)>,
}

/// Makes the W-lane function and the drivers that there are names for, and exports them. What is said of the visible
/// function, and how the range is divided.
fn make(
    options: &VectorizeOptions,
    kernel: &mut Kernel,
    names: &Names<'_>,
    scalar_result: bool,
) -> Result<(Vectorized, Division)> {
    let (name, width) = (names.lanes, kernel.width);
    let math = kernel.math_library(&options.kernel);
    let bodies = kernel.imported.final_bodies(kernel.vectors.register_bits);
    let whole = if options.mask { format!("{name}.full") } else { name.to_owned() };
    let mut asked = kernel.vectorizer(whole, width, false, &math, &bodies);
    asked.scalar_result = scalar_result;
    let mut division = Division::into_groups_of(width);
    let (mut new, mut full, mut masked) = (Vec::new(), None, None);
    if let Some(range) = names.range.filter(|_| runs_scalar(options, kernel)) {
        let range = kernel.scalar_range(kernel.func, range)?;
        new.extend(kernel.copies().chain([range]));
        new.extend(over_items(kernel, range, names)?);
    } else if let Some(range) = names.range {
        if options.reports.is_some() {
            (kernel.least, kernel.tail) = (0, Tail::Masked);
        }
        let made = kernel.over_range(&asked, range)?;
        if made.made.least > 0 || made.made.tail() == Tail::Scalar {
            new.extend(kernel.copies());
        }
        new.extend(made.functions());
        new.extend(over_items(kernel, made.range, names)?);
        division = Division {
            epilogue: made.made.epilogue(),
            tail: made.made.tail(),
            prologue: made.made.prologue.map_or(0, |_| kernel.prologue),
            least: made.made.least,
        };
        masked = made.made.masked.filter(|masked| masked.width == width);
        full = Some(made.made.full);
    }
    let mut visible = if options.mask { masked } else { full };
    if visible.is_none() {
        asked.masked = options.mask;
        asked.name = if options.mask { format!("{name}.masked") } else { name.to_owned() };
        let made = warpline_vectorize::vectorize(&mut kernel.imported.ir, kernel.func, &asked)
            .map_err(|e| kernel.refusal(&e))?;
        new.extend(made.functions());
        visible = Some(made);
    }
    let visible = visible.expect("it was made here if not before");
    if options.mask {
        new.push(driver::bitmask_entry(&mut kernel.imported.ir, visible.func, width, name));
    }
    kernel.export(&new)?;
    Ok((visible, division))
}

/// Whether the drivers run the scalar program. That does not say which index panics, where that is to be reported.
fn runs_scalar(options: &VectorizeOptions, kernel: &Kernel) -> bool {
    kernel.scalar_wins() && options.kernel.count_lanes.is_none() && options.reports.is_none()
}

/// The drivers over work-items, if the kernel asks for them, by that over a range.
fn over_items(kernel: &mut Kernel, range: FuncId, names: &Names<'_>) -> Result<Vec<FuncId>> {
    let (Some(items), Some((all, some))) = (&kernel.items, names.items) else { return Ok(Vec::new()) };
    let ir = &mut kernel.imported.ir;
    let made = driver::ndrange(ir, items, &kernel.args, range, all).and_then(|mut all| {
        all.push(driver::some_groups(ir, items, &kernel.args, range, some)?);
        Ok(all)
    });
    made.map_err(|e| kernel.refusal(&e))
}

/// Whether a uniform result is to be returned as a scalar.
fn scalar_result(options: &VectorizeOptions, kernel: &Kernel) -> Result<bool> {
    let (text, wrong): (&str, Box<dyn Fn(String) -> Error>) =
        match (&options.returns, &kernel.directives.returns) {
            (Some(text), _) => (text, Box::new(|message| Error::option("--returns", message))),
            (None, Some(at)) => {
                let (path, line) = (options.kernel.input.clone(), at.line);
                (&at.value, Box::new(move |message| Error::Directive { path: path.clone(), line, message }))
            }
            (None, None) => return Ok(false),
        };
    match ArgShape::parse(text) {
        Some(ArgShape::Uniform) => Ok(true),
        Some(ArgShape::Varying) => Ok(false),
        _ => Err(wrong(format!("`{text}` is no shape for a result: use uniform or varying"))),
    }
}
