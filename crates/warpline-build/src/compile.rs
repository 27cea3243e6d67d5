//! From sources to a library.

use std::collections::BTreeSet;
use std::path::Path;

use warpline::ir::{FloatKind, Function, SymbolKind, Type};
use warpline::shape::ArgShape;
use warpline_compile::cpus::{self, Choice};
use warpline_compile::signature::{self, Kind, Param, Primitive, Signature};
use warpline_compile::spec::Width;
use warpline_compile::vectorize::Compiled;
use warpline_compile::{KernelOptions, VectorizeOptions, dispatch, kernel, math, vectorize};
use warpline_llvm::worker::{self, LoadOptions, Output};
use warpline_llvm::{Cpu, Imported};

use crate::archive::{Member, archive};
use crate::error::{Error, Result};
use crate::files::{Built, Project};
use crate::wrapper::{self, Which};

/// Compiles all kernels of a library.
pub(crate) fn compile(project: &Project) -> Result<Built> {
    let cpus = Cpus::of(project)?;
    let mut members: Vec<Member> = Vec::new();
    let mut wrappers = String::new();
    let mut libraries = BTreeSet::new();
    let mut names = BTreeSet::new();
    for source in &project.sources {
        let signatures = signature::read(source)?;
        if signatures.is_empty() {
            let message =
                "it marks no kernel: write `#[warpline_lanes::kernel(…)]` in front of a function, or \
             `//@ rust fn …` in C"
                    .to_owned();
            return Err(Error::Source { path: source.clone(), line: None, message });
        }
        let triple = Some(project.target.clone()).filter(|target| *target != project.host);
        let asked = LoadOptions { simplify: Some(true), triple, ..LoadOptions::default() };
        let imported = kernel::load_for_code(source, &asked)?.imported;
        changes_nothing_of_its_own(source, &imported)?;
        for signature in &signatures {
            if !names.insert(signature.name.clone()) {
                return Err(wrong(source, signature, "another kernel has this name".to_owned()));
            }
            check(source, signature)?;
            let made = one(project, &cpus, source, signature, &imported)?;
            libraries.extend(made.libraries);
            wrappers += &wrapper::text(signature, &made.range, &made.which);
            members.push(Member {
                name: format!("{}.o", members.len()),
                symbols: made.symbols,
                object: made.object,
            });
        }
    }
    // Mathematical functions that are called once for each lane.
    libraries.insert("m");
    let libraries = libraries.into_iter().map(str::to_owned).collect();
    Ok(Built { wrappers: wrapper::frame(project, &wrappers), archive: archive(&members), libraries })
}

/// Refuses variables that can change: the code for many lanes would have copies of its own, which the rest of the
/// program does not see.
fn changes_nothing_of_its_own(source: &Path, imported: &Imported) -> Result<()> {
    let variable = imported
        .ir
        .symbols
        .values()
        .find(|symbol| matches!(symbol.kind, SymbolKind::Global { constant: false, .. }));
    let Some(variable) = variable else { return Ok(()) };
    let message = format!(
        "the variable `{}` can change, and the code for many lanes would have one of its own: pass a reference \
         to the kernels",
        warpline::demangle(&variable.name)
    );
    Err(Error::Source { path: source.to_owned(), line: None, message })
}

/// What there is code for.
enum Cpus {
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

/// What was made of a kernel.
struct Made {
    range: String,
    which: Which,
    symbols: Vec<String>,
    object: Vec<u8>,
    /// The libraries of vector mathematics that it calls.
    libraries: Vec<&'static str>,
}

fn one(
    project: &Project,
    cpus: &Cpus,
    source: &Path,
    signature: &Signature,
    imported: &Imported,
) -> Result<Made> {
    let options = VectorizeOptions {
        name: Some(format!("{}{}", project.prefix(), signature.name)),
        strip: !project.debug,
        panic: Some(format!(
            "a lane of the kernel `{}` panicked; called as a function, not over a range, it says where\n",
            signature.name
        )),
        ..VectorizeOptions::new(KernelOptions {
            function: Some(signature.name.clone()),
            args: Some(signature.args()),
            width: project.width.map(Width::Lanes),
            math_ulp: project.math_ulp,
            ..KernelOptions::new(source)
        })
    };
    let choices = match cpus {
        Cpus::Several(choices) => choices,
        Cpus::One(cpu) => {
            let own =
                Imported::new(imported.bridge.module().try_clone().map_err(warpline_compile::Error::from)?);
            let kernel = kernel::settle(&options.kernel, own, cpu.clone())?;
            let (compiled, object) = vectorize::compile(&options, kernel, "", Output::Object)?;
            fits(source, signature, &compiled)?;
            return Ok(Made {
                range: compiled.range.clone().unwrap_or_default(),
                which: Which::One(cpu.name.clone()),
                symbols: compiled.drivers().map(str::to_owned).collect(),
                libraries: math::libraries(&compiled.kernel.imported.ir),
                object,
            });
        }
    };
    let (dispatched, object) = dispatch::of_module(imported, &options, choices, Output::Object)?;
    for version in &dispatched.versions {
        fits(source, signature, &version.compiled)?;
    }
    Ok(Made {
        symbols: dispatched.drivers().map(str::to_owned).collect(),
        libraries: dispatched
            .versions
            .iter()
            .flat_map(|version| math::libraries(&version.compiled.kernel.imported.ir))
            .collect(),
        range: dispatched.range,
        which: Which::Ask(dispatched.which),
        object,
    })
}

fn wrong(source: &Path, signature: &Signature, message: String) -> Error {
    let message = format!("kernel `{}`: {message}", signature.name);
    Error::Source { path: source.to_owned(), line: Some(signature.line), message }
}

/// Checks that there is a safe Rust function for a kernel, as far as its signature says.
fn check(source: &Path, signature: &Signature) -> Result<()> {
    let wrong = |message: String| Err(wrong(source, signature, message));
    let mut indices = Vec::new();
    for Param { name, kind, shape } in &signature.params {
        let reason = match (kind, shape) {
            _ if name.starts_with("warpline_") => {
                "names that begin with `warpline_` are for what is generated"
            }
            (Kind::Other, _) => {
                "its type has no counterpart: use numbers, bool, arrays of these, and references, slices and \
                                 pointers to such"
            }
            (Kind::Value(of), ArgShape::Index) if of.is_integer() => {
                indices.push((name, of.name));
                continue;
            }
            (_, ArgShape::Index) => "an index is an integer",
            (Kind::Value(of), ArgShape::Stride(_)) if !of.is_integer() => {
                "only integers and pointers have strides"
            }
            (Kind::Reference(..) | Kind::Pointer(..), ArgShape::Varying) => {
                "references cannot vary freely: pass a slice and an index into it"
            }
            (Kind::Reference(of, _), ArgShape::Stride(step)) if u64::try_from(*step) != Ok(of.bytes) => {
                "the lanes' references lead to neighbours in a slice, whose distance is the size of an element"
            }
            (Kind::Reference(of, true), ArgShape::Stride(_)) if of.bytes == 0 => "it leads to nothing",
            _ => continue,
        };
        return wrong(format!("`{name}`: {reason}"));
    }
    match indices[..] {
        [] => wrong("no parameter is the index: write `#[warpline_lanes::kernel(NAME = index)]`".to_owned()),
        [(_, first), ..] if indices.iter().any(|&(_, ty)| ty != first) => {
            wrong("its indices are of different types".to_owned())
        }
        _ if signature.result == Some(None) => {
            wrong("its result has no counterpart: return a number or a bool".to_owned())
        }
        _ => Ok(()),
    }
}

/// Checks that machine code passes parameters and result as the signature says: in C it is only a promise.
fn fits(source: &Path, signature: &Signature, compiled: &Compiled) -> Result<()> {
    let func: &Function = compiled.kernel.function();
    let mut types = func.params.iter().map(|&param| func.ty(param));
    for param in &signature.params {
        let is_fine = match &param.kind {
            Kind::Value(of) => types.next() == Some(passed(*of)),
            Kind::Slice(..) => types.next() == Some(Type::PTR) && types.next() == Some(Type::Int(64)),
            Kind::Reference(..) | Kind::Pointer(..) => types.next() == Some(Type::PTR),
            Kind::Other => false,
        };
        if !is_fine {
            let message =
                format!("`{}`: the compiler passes something else than the signature says", param.name);
            return Err(wrong(source, signature, message));
        }
    }
    let result = signature.result.flatten().map_or(Type::Void, passed);
    if types.next().is_some() || func.ret != result {
        let message =
            "the compiler knows another number of parameters or another result than the signature".to_owned();
        return Err(wrong(source, signature, message));
    }
    Ok(())
}

/// The type that stands for a number in machine code.
fn passed(of: Primitive) -> Type {
    match of.name {
        "bool" => Type::BOOL,
        "f32" => Type::Float(FloatKind::Float),
        "f64" => Type::Float(FloatKind::Double),
        _ => Type::Int(of.bytes as u32 * 8),
    }
}
