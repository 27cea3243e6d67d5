//! Code for several CPUs in one object. Which of it runs is decided when it is called for the first time.
//!
//! There is a W-lane form of the kernel for each CPU, as wide as fits it, with names that end in the CPU's. The
//! drivers look the same for all. In front of them stands a function under the driver's own name, which jumps to
//! where a pointer leads: at first to a function that asks the processor and the operating system, changes the
//! pointer, and goes on with the best code; from then on to that. Whoever calls at the same time finds one or the
//! other. Nothing of a compiler's run-time library is needed.

use warpline_ir::text::type_text;
use warpline_ir::{Function, Type, VectorType};
use warpline_llvm::worker::{self, CodegenOptions, Output};
use warpline_llvm::{Cpu, Imported, host_triple};

use crate::cpus::{self, BASELINE, Choice};
use crate::error::{Error, Result};
use crate::kernel;
use crate::options::VectorizeOptions;
use crate::resolver;
use crate::vectorize::{self, Compiled};

/// What was made of a kernel for one of several CPUs.
pub struct Version {
    /// The CPU and what it needs.
    pub choice: Choice,
    /// What was made. Its code has gone into that of all.
    pub compiled: Compiled,
}

/// Code of a kernel for several CPUs.
pub struct Dispatched {
    /// What was made for each CPU, best first.
    pub versions: Vec<Version>,
    /// The name of the range driver.
    pub range: String,
    /// The name of the driver over work-items, if there is one.
    pub ndrange: Option<String>,
    /// The name of the function that says which CPU's code runs.
    pub which: String,
    /// The code.
    pub code: Vec<u8>,
}

impl Dispatched {
    /// The names of the functions that choose.
    pub fn drivers(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.range).chain(&self.ndrange).chain([&self.which]).map(String::as_str)
    }
}

/// Makes the W-lane forms of a kernel for several CPUs, their drivers, and code of all of them.
///
/// # Errors
/// Whatever is wrong with input and options, or the reason why the kernel cannot be vectorized.
pub fn vectorize(options: &VectorizeOptions, cpus: &[String], output: Output) -> Result<Dispatched> {
    let imported = kernel::load_for_code(&options.kernel.input, &options.kernel.load_options())?.imported;
    let choices = cpus::choices(cpus, &triple_of(&imported)?)?;
    of_module(&imported, options, &choices, output)
}

/// What an input is for: this machine, if it does not say.
fn triple_of(imported: &Imported) -> Result<String> {
    Ok(match imported.ir.triple.as_str() {
        "" => host_triple()?,
        triple => triple.to_owned(),
    })
}

/// [`vectorize()`] for an input that was loaded and simplified, with [choices](cpus::choices) for its target.
///
/// # Errors
/// As [`vectorize()`].
pub fn of_module(
    imported: &Imported,
    options: &VectorizeOptions,
    choices: &[Choice],
    output: Output,
) -> Result<Dispatched> {
    let triple = triple_of(imported)?;
    let mut versions = Vec::new();
    for choice in choices {
        let own = Imported::new(imported.bridge.module().try_clone()?);
        let kernel = kernel::settle(&options.kernel, own, choice.cpu.clone())?;
        let suffix = format!("_{}", choice.suffix());
        let compiled = vectorize::compile(options, kernel, &suffix, Output::Prepared)?;
        versions.push(Version { choice: choice.clone(), compiled });
    }
    let Some(best) = versions.first() else {
        return Err(Error::option("--cpu", "no CPU is named"));
    };
    let kernel = &best.compiled.kernel;
    let stem = options.name.as_ref().unwrap_or(&kernel.name);
    let names = Names {
        range: format!("{stem}_range"),
        ndrange: format!("{stem}_ndrange"),
        which: format!("{stem}_cpu"),
    };
    let layout = kernel.imported.bridge.module().data_layout();
    let (layout, triple) = (resolver::escape(&layout), resolver::escape(&triple));
    let head = format!("target datalayout = \"{layout}\"\ntarget triple = \"{triple}\"\n");
    let text = head + &dispatcher(&versions, stem, &names)?;
    let name = kernel.imported.bridge.module().name().to_owned();
    let mut parts = vec![text.into_bytes()];
    parts.extend(versions.iter_mut().map(|one| std::mem::take(&mut one.compiled.code)));
    let codegen =
        CodegenOptions { passes: String::new(), ..CodegenOptions::new(Cpu::named(BASELINE), output) };
    let code = worker::codegen_linked(parts, &name, &codegen)?;
    let ndrange = versions[0].compiled.ndrange.is_some().then_some(names.ndrange);
    Ok(Dispatched { versions, range: names.range, ndrange, which: names.which, code })
}

/// The names of the functions that choose.
struct Names {
    range: String,
    ndrange: String,
    which: String,
}

/// The functions that choose among versions, as LLVM's text.
fn dispatcher(versions: &[Version], stem: &str, names: &Names) -> Result<String> {
    let ir = &versions[0].compiled.kernel.imported.ir;
    for made in [&names.range, &names.ndrange, &names.which] {
        if ir.symbol(made).is_some() {
            let message = format!("the input has a function `{made}` already; choose another name");
            return Err(Error::option("--name", message));
        }
    }
    let ranges = own_names(versions, |made| made.range.as_deref()).ok_or_else(|| {
        Error::option(
            "--cpu",
            "only what runs over a range can be chosen when a program runs, and the kernel has no `index` among \
             its parameters: \
             name one CPU",
        )
    })?;
    let ndranges = own_names(versions, |made| made.ndrange.as_deref());
    let choices: Vec<&Choice> = versions.iter().map(|one| &one.choice).collect();
    let choose = format!("{stem}.choose");
    let mut text = resolver::choose(&choose, &choices) + &resolver::which(&names.which, &choose, &choices);
    for (name, targets) in [(&names.range, Some(ranges)), (&names.ndrange, ndranges)] {
        let Some(targets) = targets else { continue };
        let types = match ir.function(targets[0]) {
            Some(id) => types(ir, &ir.functions[id])?,
            None => continue,
        };
        text += &resolver::driver(name, &choose, &targets, &types);
    }
    Ok(text)
}

/// The names of a driver's versions, if there is such a driver.
fn own_names<'a>(
    versions: &'a [Version],
    name: impl Fn(&'a Compiled) -> Option<&'a str>,
) -> Option<Vec<&'a str>> {
    versions.iter().map(|one| name(&one.compiled)).collect()
}

/// LLVM's words for the types of a driver's parameters, which must be passed the same way whatever the CPU.
fn types(ir: &warpline_ir::Module, driver: &Function) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for &param in &driver.params {
        let ty = driver.ty(param);
        if let Type::Vector(VectorType { lanes, scalable, .. }) = ty
            && (scalable || ir.layout.store_size(&ir.types, ty).is_none_or(|bytes| bytes > 16))
        {
            let message = format!(
                "`{}`: a parameter of type {} with {lanes} elements is passed in other registers on other CPUs: \
                 name one CPU, or \
                 pass a pointer",
                driver.value_name(param),
                type_text(ir, ty)
            );
            return Err(Error::option("--cpu", message));
        }
        found.push(type_text(ir, ty));
    }
    Ok(found)
}
