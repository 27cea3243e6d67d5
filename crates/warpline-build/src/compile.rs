//! From sources to a library.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use warpline_compile::asked::Asked;
use warpline_compile::cpus::{self, Choice};
use warpline_compile::package::Member;
use warpline_compile::signature::Signature;
use warpline_compile::spec::Width;
use warpline_compile::{KernelOptions, VectorizeOptions, dispatch, kernel, math, vectorize};
use warpline_llvm::worker::{self, LoadOptions, Output};
use warpline_llvm::{Cpu, Imported, Module};
use warpline_vectorize::{Boscc, Coherence};

use crate::archive::{Member as Object, archive};
use crate::cache::{self, Cache, Made};
use crate::check::{self, changes_nothing_of_its_own, fits};
use crate::crates::{self, Found};
use crate::error::{Error, Result};
use crate::files::{Built, Project, Row};
use crate::opencl;
use crate::parallel;
use crate::wrapper::{self, Which};

/// A kernel, or an instance of one, that code is to be made of.
pub(crate) struct Unit {
    /// The source.
    pub source: PathBuf,
    /// What stands there.
    pub signature: Signature,
    /// The name of its function.
    pub symbol: String,
    /// The shapes of its parameters in machine code.
    pub args: String,
    /// Whether its lanes are threads whose races are accepted.
    pub racy: bool,
    /// Whether the function over a range is a safe one.
    pub is_safe: bool,
    /// Sizes and alignments of its types, if it is one of the crate's own modules.
    pub layouts: Option<Vec<(u64, u64)>>,
    /// The modules that it is in, if these are the crate's own.
    pub member: Option<Member>,
    /// A module with it and what it needs, in bitcode, and a hash of that.
    pub module: Extracted,
}

/// The module of a kernel.
pub(crate) struct Extracted {
    bitcode: Vec<u8>,
    /// A hash of it, without what is for debuggers where that is left out.
    hash: String,
    /// Whether it may be left by unwinding.
    pub unwinds: bool,
    /// The functions that it calls and that have no body.
    pub missing: Vec<String>,
}

impl Extracted {
    /// Takes a kernel and what it needs out of a module.
    pub(crate) fn new(imported: &Imported, symbol: &str, debug: bool) -> Result<Extracted> {
        let module = imported.bridge.module().extract(symbol).map_err(warpline_compile::Error::from)?;
        Ok(Self::of(module, symbol, debug, false))
    }

    /// The same for a kernel that reports panics, by parameters with these numbers.
    pub(crate) fn reporting(
        imported: &Imported,
        symbol: &str,
        debug: bool,
        (context, index): (u32, u32),
    ) -> Result<Extracted> {
        let failed = warpline_compile::Error::from;
        let mut module = imported.bridge.module().extract(symbol).map_err(failed)?;
        let unwinds = module.report_panics(symbol, context, index).map_err(failed)?;
        Ok(Self::of(module, symbol, debug, unwinds))
    }

    fn of(mut module: Module, symbol: &str, debug: bool, unwinds: bool) -> Extracted {
        let bitcode = module.to_bitcode();
        if !debug {
            module.strip_debug_info();
        }
        let missing = module.declared_functions();
        Extracted { bitcode, hash: cache::of_module(&module, symbol), unwinds, missing }
    }
}

/// Compiles all kernels of a library.
pub(crate) fn compile(project: &Project) -> Result<Built> {
    let cpus = Cpus::of(project)?;
    if project.is_opencl() {
        return of_opencl(project, &cpus);
    }
    let Found { units, left_out, files } = units(project)?;
    let mut names = BTreeSet::new();
    for unit in &units {
        let Signature { line, instance, .. } = &unit.signature;
        if !names.insert(instance.clone()) && unit.member.is_none() {
            return Err(check::wrong(&unit.source, *line, instance, "another kernel has this name"));
        }
    }
    let cache = Cache::open(project.out.join("warpline").join(format!("{}.cache", project.name)))?;
    let mut keys = Vec::new();
    let (mut objects, mut table) = (Vec::new(), left_out);
    let (mut functions, mut libraries) = (String::new(), BTreeSet::new());
    let outcomes = parallel::each(&units, |unit| made(project, &cpus, unit, &cache));
    for (unit, outcome) in units.iter().zip(outcomes) {
        let (key, made) = outcome?;
        keys.push(key);
        made.remarks.iter().for_each(|remark| println!("cargo:warning={remark}"));
        libraries.extend(made.libraries);
        match (&unit.member, &unit.layouts) {
            (Some(member), Some(layouts)) => {
                let layouts: Vec<String> =
                    layouts.iter().map(|(size, alignment)| format!("{size}:{alignment}")).collect();
                let facts = if unit.module.unwinds { "unwinds" } else { "" };
                let (which, layouts) = (made.which.words(), layouts.join(" "));
                let rest = crates::row(&unit.signature, &made.range, &which, facts, &layouts);
                table.push(Row { source: unit.source.clone(), rest });
                functions += &crates::names(&unit.signature, member);
            }
            _ => functions += &wrapper::text(&unit.signature, &made.range, &made.which),
        }
        objects.push(Object {
            name: format!("{}.o", objects.len()),
            symbols: made.symbols,
            object: made.object,
        });
    }
    cache.forget_others(&keys);
    // Mathematical functions that are called once for each lane.
    libraries.insert("m".to_owned());
    let libraries = libraries.into_iter().collect();
    let wrappers = wrapper::frame(project, &functions);
    Ok(Built { wrappers, archive: archive(&objects), libraries, table, files })
}

/// Compiles all kernels of sources in OpenCL C.
fn of_opencl(project: &Project, cpus: &Cpus) -> Result<Built> {
    let mut made = opencl::Made::default();
    for source in &project.sources {
        if !opencl::is_one(source) {
            let message =
                "sources in OpenCL C have a library of their own: give them to another `Builder`".to_owned();
            return Err(Error::Source { path: source.clone(), line: None, message });
        }
        opencl::make(project, cpus, source, &mut made)?;
    }
    made.libraries.insert("m");
    let wrappers = wrapper::frame(project, &made.functions);
    let libraries = made.libraries.into_iter().map(str::to_owned).collect();
    Ok(Built { wrappers, archive: archive(&made.objects), libraries, table: Vec::new(), files: Vec::new() })
}

/// The kernels of all sources, and the files that the crate is made of where it was compiled.
fn units(project: &Project) -> Result<Found> {
    let mut units = Vec::new();
    let mut members = Vec::new();
    for source in &project.sources {
        match crates::member(source)? {
            Some(member) => members.push((source.clone(), member)),
            None => units.extend(alone(project, source)?),
        }
    }
    if members.is_empty() {
        return Ok(Found { units, left_out: Vec::new(), files: Vec::new() });
    }
    let mut found = crates::kernels(project, &members)?;
    units.append(&mut found.units);
    Ok(Found { units, ..found })
}

/// The kernels of a source that is complete in itself.
fn alone(project: &Project, source: &Path) -> Result<Vec<Unit>> {
    let signatures = crates::marked(source)?;
    for signature in &signatures {
        check::check(source, signature)?;
    }
    let triple = Some(project.target.clone()).filter(|target| *target != project.host);
    let asked = LoadOptions { simplify: Some(true), triple, ..LoadOptions::default() };
    let imported = kernel::load_for_code(source, &asked, kernel::Told::default())?.imported;
    changes_nothing_of_its_own(source, &imported)?;
    let unit = |signature: Signature| {
        let module = match imported.bridge.module().defines(&signature.name) {
            true => Extracted::new(&imported, &signature.name, project.debug)?,
            // Whoever looks for it has better words.
            false => Extracted::new(&imported, "", project.debug)?,
        };
        Ok(Unit {
            source: source.to_owned(),
            symbol: signature.name.clone(),
            args: signature.args(),
            racy: signature.racy,
            is_safe: signature.is_safe(),
            layouts: None,
            member: None,
            module,
            signature,
        })
    };
    signatures.into_iter().map(unit).collect()
}

/// What there is code for.
pub(crate) enum Cpus {
    /// One CPU only.
    One(Cpu),
    /// Several, among which a program chooses.
    Several(Vec<Choice>),
}

impl Cpus {
    fn of(project: &Project) -> Result<Cpus> {
        Ok(match &project.cpus[..] {
            [cpu] => {
                Cpus::One(worker::find_cpu(cpu, &project.target).map_err(warpline_compile::Error::from)?)
            }
            several => Cpus::Several(cpus::choices(several, &project.target)?),
        })
    }
}

/// What is made of a kernel, or was before; and its key.
fn made(project: &Project, cpus: &Cpus, unit: &Unit, cache: &Cache) -> Result<(String, Made)> {
    let Project {
        package, name, cpus: names, width, math_ulp, boscc, coherence, target, debug, remarks, ..
    } = project;
    let Unit { signature, args, racy, is_safe, .. } = unit;
    let options = format!(
        "{package} {name} {names:?} {width:?} {math_ulp} {boscc:?} {coherence:?} {target} {debug} {remarks} {args} {racy} \
         {is_safe} {} {:?} {:?} {:?} {}",
        signature.instance, signature.options, signature.params, signature.result, unit.module.hash
    );
    let key = cache::hash(&options);
    if let Some(made) = cache.find(&key) {
        return Ok((key, made));
    }
    let made = vectorized(project, cpus, unit, &key)?;
    cache.keep(&key, &made)?;
    Ok((key, made))
}

/// Makes code of a kernel.
fn vectorized(project: &Project, cpus: &Cpus, unit: &Unit, key: &str) -> Result<Made> {
    let Unit { source, signature, .. } = unit;
    let name = signature.instance.trim_start_matches("r#");
    let failed = |error: warpline_compile::Error| named(unit, error);
    let wrong = |message: String| check::wrong(source, signature.line, &signature.instance, &message);
    let asked = Asked::read(&signature.options).map_err(wrong)?;
    let imported = Imported::new(
        Module::parse(&unit.module.bitcode, &source.display().to_string())
            .map_err(warpline_compile::Error::from)?,
    );
    if unit.layouts.is_some() {
        changes_nothing_of_its_own(source, &imported)?;
        if let Some(function) = unit.module.missing.iter().find(|name| is_rust(name)) {
            return Err(wrong(format!(
                "it calls `{}`, which has no body here, since Rust's own library does not inline it, or it is \
                 declared only: call something else, or do it outside of the kernel",
                warpline_ir::demangle(function)
            )));
        }
    }
    let kernel = KernelOptions {
        function: Some(unit.symbol.clone()),
        args: Some(unit.args.clone()),
        width: project.width.map(Width::Lanes),
        math_ulp: project.math_ulp,
        boscc: Some(boscc(project)),
        coherence: coherence(project),
        racy: unit.racy,
        is_safe: unit.is_safe,
        remarks: project.remarks,
        ..KernelOptions::new(if unit.layouts.is_some() { Path::new("kernels.bc") } else { source })
    };
    let options = VectorizeOptions {
        name: Some(format!("warpline_{key}_{name}")),
        strip: !project.debug,
        panic: Some(format!(
            "a lane of the kernel `{name}` panicked; called as a function, not over a range, it says where\n"
        )),
        reports: unit.layouts.is_some().then(|| name.to_owned()),
        ..VectorizeOptions::new(asked.apply(kernel))
    };
    let choices = match cpus {
        Cpus::Several(choices) => choices,
        Cpus::One(cpu) => {
            let kernel = kernel::settle(&options.kernel, imported, cpu.clone()).map_err(failed)?;
            let (compiled, object) =
                vectorize::compile(&options, kernel, "", Output::Object).map_err(failed)?;
            if unit.layouts.is_none() {
                fits(source, signature, &compiled)?;
            }
            return Ok(Made {
                range: compiled.drivers.range.clone().unwrap_or_default(),
                which: Which::One(cpu.name.clone()),
                symbols: compiled.drivers.names().map(str::to_owned).collect(),
                libraries: owned(math::libraries(&compiled.kernel.imported.ir)),
                remarks: compiled.remarks().warnings(),
                object,
            });
        }
    };
    let (dispatched, object) =
        dispatch::of_module(&imported, &options, choices, Output::Object).map_err(failed)?;
    let mut libraries = BTreeSet::new();
    for version in &dispatched.versions {
        if unit.layouts.is_none() {
            fits(source, signature, &version.compiled)?;
        }
        libraries.extend(owned(math::libraries(&version.compiled.kernel.imported.ir)));
    }
    let best = dispatched.versions.first();
    Ok(Made {
        remarks: best.map_or_else(Vec::new, |best| best.compiled.remarks().warnings()),
        symbols: dispatched.functions().map(str::to_owned).collect(),
        libraries: libraries.into_iter().collect(),
        range: dispatched.drivers.range.unwrap_or_default(),
        which: Which::Ask(dispatched.which),
        object,
    })
}

/// Where branches skip code without an active lane.
pub(crate) fn boscc(project: &Project) -> Boscc {
    match project.boscc {
        crate::Choice::Off => Boscc::Off,
        crate::Choice::On => Boscc::On,
        crate::Choice::Auto => Boscc::Auto,
    }
}

/// For which loops code is made for iterations in which lanes agree.
pub(crate) fn coherence(project: &Project) -> Coherence {
    match project.coherence {
        crate::Choice::Off => Coherence::Off,
        crate::Choice::On => Coherence::On,
        crate::Choice::Auto => Coherence::Auto,
    }
}

/// Whether a symbol is a mangled name of Rust's.
fn is_rust(symbol: &str) -> bool {
    symbol.starts_with("_R") || (symbol.starts_with("_ZN") && symbol.contains("17h"))
}

fn owned(names: Vec<&'static str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

/// An error about a kernel, with the name that it has in the source.
fn named(unit: &Unit, error: warpline_compile::Error) -> Error {
    match error {
        warpline_compile::Error::Vectorize(message) => {
            let name = unit.signature.instance.as_str();
            Error::Compile(warpline_compile::Error::Vectorize(message.replace(&unit.symbol, name)))
        }
        other => Error::Compile(other),
    }
}
