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

use crate::choice::{self, Chosen};
use crate::cpus::{self, BASELINE, Choice};
use crate::error::{Error, Result};
use crate::options::VectorizeOptions;
use crate::resolver::{self, Lines};
use crate::vectorize::{self, Compiled, Drivers, Refused};

/// What was made of a kernel for one of several CPUs.
pub struct Version {
    /// The CPU and what it needs.
    pub choice: Choice,
    /// What was made.
    pub compiled: Compiled,
}

/// Code of a kernel for several CPUs.
pub struct Dispatched {
    /// What was made for each CPU, best first.
    pub versions: Vec<Version>,
    /// The names of the drivers that choose.
    pub drivers: Drivers,
    /// The name of the function that says which CPU's code runs.
    pub which: String,
}

impl Dispatched {
    /// The names of the functions that choose.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.drivers.names().chain([&*self.which])
    }
}

/// Makes the W-lane forms of kernels for several CPUs, their drivers, and one code of all of them. There is no code if
/// none can be vectorized.
///
/// # Errors
/// Whatever is wrong with input and options. What makes single kernels impossible is no error.
pub fn vectorize(
    options: &VectorizeOptions,
    imported: &Imported,
    kernels: &[Chosen],
    cpus: &[String],
    output: Output,
) -> Result<(Vec<Dispatched>, Vec<Refused>, Vec<u8>)> {
    let choices = cpus::choices(cpus, &triple_of(imported)?)?;
    let mut meant = kernels.to_vec();
    let mut refused = Vec::new();
    loop {
        let (dispatched, others, code) = several(imported, options, &meant, &choices, output)?;
        if others.is_empty() {
            return Ok((dispatched, refused, code));
        }
        // What is refused for one CPU is left out for all.
        meant.retain(|kernel| others.iter().all(|other| other.kernel != *kernel));
        refused.extend(others);
        if meant.is_empty() {
            return Ok((Vec::new(), refused, Vec::new()));
        }
    }
}

/// What an input is for: this machine, if it does not say.
pub(crate) fn triple_of(imported: &Imported) -> Result<String> {
    Ok(match imported.ir.triple.as_str() {
        "" => host_triple()?,
        triple => triple.to_owned(),
    })
}

/// Code of one kernel of an input that was loaded and simplified, with [choices](cpus::choices) for its target.
///
/// # Errors
/// As [`vectorize()`], and the reason why the kernel cannot be vectorized.
pub fn of_module(
    imported: &Imported,
    options: &VectorizeOptions,
    choices: &[Choice],
    output: Output,
) -> Result<(Dispatched, Vec<u8>)> {
    let name = options.kernel.function.clone();
    let chosen =
        choice::choose(imported, &options.kernel.input, &name.into_iter().collect::<Vec<_>>(), false)?;
    let (dispatched, refused, code) = several(imported, options, &chosen, choices, output)?;
    match (dispatched.into_iter().next(), refused.into_iter().next()) {
        (_, Some(refused)) => Err(refused.reason),
        (Some(one), None) => Ok((one, code)),
        (None, None) => Err(Error::option("--cpu", "no CPU is named")),
    }
}

/// Code of kernels for several CPUs, or those that are refused for one of these.
fn several(
    imported: &Imported,
    options: &VectorizeOptions,
    kernels: &[Chosen],
    choices: &[Choice],
    output: Output,
) -> Result<(Vec<Dispatched>, Vec<Refused>, Vec<u8>)> {
    let triple = triple_of(imported)?;
    let mut versions: Vec<Vec<Version>> = kernels.iter().map(|_| Vec::new()).collect();
    let mut parts = vec![Vec::new()];
    for choice in choices {
        let own = Imported::new(imported.bridge.module().try_clone()?);
        let suffix = format!("_{}", choice.suffix());
        let made = vectorize::in_module(options, own, kernels, &choice.cpu, &suffix)?;
        if !made.refused.is_empty() {
            return Ok((Vec::new(), made.refused, Vec::new()));
        }
        parts.push(vectorize::code(options, &made, Output::Prepared)?);
        for (versions, compiled) in versions.iter_mut().zip(made.made) {
            versions.push(Version { choice: choice.clone(), compiled });
        }
    }
    let module = imported.bridge.module();
    let (layout, escaped) = (resolver::escape(&module.data_layout()), resolver::escape(&triple));
    let mut text = format!("target datalayout = \"{layout}\"\ntarget triple = \"{escaped}\"\n");
    let mut all = Vec::new();
    let mut lines = Lines::new();
    for versions in versions {
        let Some(best) = versions.first() else {
            return Err(Error::option("--cpu", "no CPU is named"));
        };
        let stem = options.stem(&best.compiled.kernel.name);
        let which = format!("{stem}_cpu");
        let drivers = Drivers::named(&stem, "").like(&best.compiled.drivers);
        let marked = Some(&mut lines).filter(|_| !options.strip);
        text += &dispatcher(&versions, &stem, &drivers, &which, marked)?;
        all.push(Dispatched { versions, drivers, which });
    }
    text += &lines.end();
    parts[0] = text.into_bytes();
    let codegen = CodegenOptions {
        passes: String::new(),
        reports: options.reports.clone(),
        ..CodegenOptions::new(Cpu::named(BASELINE), output)
    };
    let code = worker::codegen_linked(parts, module.name(), &codegen)?;
    Ok((all, Vec::new(), code))
}

/// The functions that choose among versions, as LLVM's text, with lines if they are wanted.
fn dispatcher(
    versions: &[Version],
    stem: &str,
    drivers: &Drivers,
    which: &str,
    mut lines: Option<&mut Lines>,
) -> Result<String> {
    let kernel = &versions[0].compiled.kernel;
    let ir = &kernel.imported.ir;
    for made in drivers.names().chain([which]) {
        if ir.symbol(made).is_some() {
            let message = format!("the input has a function `{made}` already; choose another name");
            return Err(Error::option("--symbol", message));
        }
    }
    if drivers.names().next().is_none() {
        let message = "only what runs over a range can be chosen when a program runs, and the kernel has no `index` \
                       among its parameters: name one CPU";
        return Err(Error::option("--cpu", message));
    }
    let choices: Vec<&Choice> = versions.iter().map(|one| &one.choice).collect();
    let choose = format!("{stem}.choose");
    let mut text = resolver::choose(&choose, &choices) + &resolver::which(which, &choose, &choices);
    for (k, name) in drivers.each().into_iter().enumerate() {
        let Some(name) = name else { continue };
        let targets: Vec<&str> = versions.iter().filter_map(|one| one.compiled.drivers.each()[k]).collect();
        let Some(id) = targets.first().and_then(|first| ir.function(first)) else { continue };
        let driver = &ir.functions[id];
        let text_of_driver =
            resolver::driver(name, &choose, &targets, &type_text(ir, driver.ret), &types(ir, driver)?);
        text += &match (&mut lines, kernel.function().loc.expand().map(|loc| &ir.locations[loc])) {
            (Some(lines), Some(place)) => lines.mark(&text_of_driver, &place.file, place.line),
            _ => text_of_driver,
        };
    }
    Ok(text)
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
