//! Kernels in OpenCL C: objects with their drivers over work-items, and functions in Rust that call these.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use warpline_compile::source_types::SourceTypes;
use warpline_compile::spec::Width;
use warpline_compile::vectorize::{Compiled, Drivers};
use warpline_compile::{KernelOptions, VectorizeOptions, dispatch, kernel, math, vectorize};
use warpline_ir::{FloatKind, Scalar, Type};
use warpline_llvm::Imported;
use warpline_llvm::worker::Output;

use crate::archive::Member as Object;
use crate::check;
use crate::compile::{Cpus, boscc, coherence};
use crate::error::{Error, Result};
use crate::files::{Fnv, Project};
use crate::wrapper::{Which, which_text};

/// What is made of sources in OpenCL C.
#[derive(Default)]
pub(crate) struct Made {
    pub objects: Vec<Object>,
    pub functions: String,
    pub libraries: BTreeSet<&'static str>,
}

/// Whether all kernels of a source are made, by work-items, rather than those that say their signature in Rust.
pub(crate) fn is_one(source: &Path) -> bool {
    let is_opencl = source.extension().is_some_and(|extension| extension == "cl");
    is_opencl && std::fs::read_to_string(source).is_ok_and(|text| !text.contains("//@ rust"))
}

/// Makes all kernels of a source.
pub(crate) fn make(project: &Project, cpus: &Cpus, source: &Path, made: &mut Made) -> Result<()> {
    let failed = warpline_compile::Error::from;
    let options = KernelOptions {
        width: project.width.map(Width::Lanes),
        math_ulp: project.math_ulp,
        boscc: Some(boscc(project)),
        coherence: coherence(project),
        triple: Some(project.target.clone()).filter(|target| *target != project.host),
        remarks: project.remarks,
        ..KernelOptions::new(source)
    };
    let imported = kernel::load_for_code(source, &options.load_options(), options.told())?.imported;
    let types = SourceTypes::of(&options, &imported);
    let names = imported.bridge.module().opencl_kernels();
    if names.is_empty() {
        let message = "it has no kernel".to_owned();
        return Err(Error::Source { path: source.to_owned(), line: None, message });
    }
    for name in names {
        let kernel = KernelOptions { function: Some(name.clone()), ..options.clone() };
        let options = VectorizeOptions {
            name: Some(symbol(project, source, &name)),
            strip: !project.debug,
            ..VectorizeOptions::new(kernel)
        };
        match cpus {
            Cpus::One(cpu) => {
                let own = Imported::new(imported.bridge.module().try_clone().map_err(failed)?);
                let kernel = kernel::settle(&options.kernel, own, cpu.clone())?;
                let (compiled, object) = vectorize::compile(&options, kernel, "", Output::Object)?;
                let which = Which::One(cpu.name.clone());
                made.add(source, &types, &compiled, &compiled.drivers, &which, object)?;
            }
            Cpus::Several(choices) => {
                let (all, object) = dispatch::of_module(&imported, &options, choices, Output::Object)?;
                let which = Which::Ask(all.which.clone());
                for version in &all.versions {
                    made.libraries.extend(math::libraries(&version.compiled.kernel.imported.ir));
                }
                let Some(best) = all.versions.first() else { continue };
                made.add(source, &types, &best.compiled, &all.drivers, &which, object)?;
            }
        }
    }
    Ok(())
}

/// What the names of a kernel's functions begin with, which no other package has.
fn symbol(project: &Project, source: &Path, kernel: &str) -> String {
    let mut hash = Fnv::default();
    for part in [&project.package, &project.name, &*source.to_string_lossy()] {
        hash.add(part.as_bytes());
    }
    format!("warpline_{:016x}_{kernel}", hash.0)
}

impl Made {
    fn add(
        &mut self,
        source: &Path,
        types: &SourceTypes,
        compiled: &Compiled,
        drivers: &Drivers,
        which: &Which,
        object: Vec<u8>,
    ) -> Result<()> {
        let name = &compiled.kernel.name;
        let params = parameters(types, compiled).map_err(|why| check::wrong(source, 1, name, &why))?;
        self.functions += &text(name, &params, drivers);
        self.functions += &which_text(name, which);
        self.libraries.extend(math::libraries(&compiled.kernel.imported.ir));
        let mut symbols: Vec<String> = drivers.names().map(str::to_owned).collect();
        if let Which::Ask(symbol) = which {
            symbols.push(symbol.clone());
        }
        self.objects.push(Object { name: format!("cl{}.o", self.objects.len()), symbols, object });
        Ok(())
    }
}

/// A parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Parameter {
    name: String,
    ty: String,
    /// Whether it is the size of local memory.
    is_local: bool,
}

/// What the kernel's own parameters are in Rust.
fn parameters(types: &SourceTypes, compiled: &Compiled) -> std::result::Result<Vec<Parameter>, String> {
    let func = compiled.kernel.function();
    let added = compiled.kernel.items.as_ref().map_or(0, |items| items.added.len());
    let own = &func.params[..func.params.len() - added];
    let known = types.parameters(&compiled.kernel.name).unwrap_or_default();
    let mut all = Vec::new();
    for (i, &p) in own.iter().enumerate() {
        let (name, c) = known.get(i).cloned().unwrap_or_default();
        let name = identifier(&name, i);
        if func.pointers[p].local && compiled.drivers.workspace.is_some() {
            all.push(Parameter { name: format!("{name}_bytes"), ty: "u64".to_owned(), is_local: true });
            continue;
        }
        let ty = match func.ty(p).scalar() {
            Some(Scalar::Ptr(_)) => pointer(&c),
            Some(scalar) if !matches!(func.ty(p), Type::Vector(_)) => {
                number(scalar, &c).ok_or_else(|| {
                    format!(
                        "its parameter `{name}` has a type that Rust cannot pass: use a number or a pointer"
                    )
                })?
            }
            _ => {
                return Err(format!(
                    "its parameter `{name}` is a vector, which Rust cannot pass: pass a pointer"
                ));
            }
        };
        all.push(Parameter { name, ty, is_local: false });
    }
    Ok(all)
}

/// Rust's words that OpenCL C does not have.
const KEYWORDS: [&str; 24] = [
    "as", "async", "await", "crate", "dyn", "fn", "gen", "impl", "in", "let", "loop", "match", "mod", "move",
    "mut", "pub", "ref", "self", "super", "trait", "type", "unsafe", "use", "where",
];

/// A name that Rust takes and no parameter of a driver has.
fn identifier(name: &str, number: usize) -> String {
    const TAKEN: [&str; 5] = ["offset", "size", "local", "groups", "workspace"];
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(plain) {
        return format!("arg{number}");
    }
    match TAKEN.contains(&name) || KEYWORDS.contains(&name) {
        true => format!("{name}_"),
        false => name.to_owned(),
    }
}

/// A number's type.
fn number(scalar: Scalar, c: &str) -> Option<String> {
    Some(match scalar {
        Scalar::Int(bits @ (8 | 16 | 32 | 64)) => {
            let sign = if named(c).is_some_and(|ty| ty.starts_with('u')) { 'u' } else { 'i' };
            format!("{sign}{bits}")
        }
        Scalar::Float(FloatKind::Float) => "f32".to_owned(),
        Scalar::Float(FloatKind::Double) => "f64".to_owned(),
        _ => return None,
    })
}

/// A pointer's type; one to anything, if what it leads to has no type in Rust.
fn pointer(c: &str) -> String {
    let pointee = c.trim_end().strip_suffix('*').map_or("", str::trim_end);
    let kind = if pointee.split(' ').any(|word| word == "const") { "const" } else { "mut" };
    format!("*{kind} {}", named(pointee).unwrap_or("::core::ffi::c_void"))
}

/// Rust's name of a type of OpenCL C.
fn named(c: &str) -> Option<&'static str> {
    let words: Vec<&str> =
        c.split_whitespace().filter(|word| !matches!(*word, "const" | "volatile")).collect();
    Some(match &*words.join(" ") {
        "char" | "signed char" | "int8_t" => "i8",
        "uchar" | "unsigned char" | "uint8_t" => "u8",
        "short" | "int16_t" => "i16",
        "ushort" | "unsigned short" | "uint16_t" => "u16",
        "int" | "int32_t" => "i32",
        "uint" | "unsigned int" | "unsigned" | "uint32_t" => "u32",
        "long" | "int64_t" | "ptrdiff_t" | "intptr_t" => "i64",
        "ulong" | "unsigned long" | "uint64_t" | "size_t" | "uintptr_t" => "u64",
        "float" => "f32",
        "double" => "f64",
        _ => return None,
    })
}

/// The functions of a kernel.
fn text(name: &str, own: &[Parameter], drivers: &Drivers) -> String {
    const RANGE: [(&str, &str); 3] = [("offset", "[u64; 3]"), ("size", "[u64; 3]"), ("local", "[u64; 3]")];
    let mut out = String::new();
    let passed: Vec<(&str, &str)> = own.iter().map(|p| (&*p.name, &*p.ty)).collect();
    if let Some(symbol) = &drivers.workspace {
        let sizes = own.iter().filter(|p| p.is_local).map(|p| (&*p.name, &*p.ty));
        let params: Vec<(&str, &str)> = RANGE[1..].iter().copied().chain(sizes).collect();
        let about = format!("The bytes of workspace that a call of `{name}` needs.");
        out += &function(&about, (name, "workspace"), symbol, &params, " -> u64");
    }
    let workspace = drivers.workspace.as_ref().map(|_| ("workspace", "*mut u8"));
    if let Some(symbol) = &drivers.ndrange {
        let params: Vec<(&str, &str)> = RANGE.into_iter().chain(passed.clone()).chain(workspace).collect();
        let about = format!(
            "Runs `{name}` for `size` work-items, numbered from `offset`, in groups of `local`; 0 stands for all of a \
             dimension."
        );
        out += &function(&about, (name, "ndrange"), symbol, &params, "");
    }
    if let Some(symbol) = &drivers.groups {
        let numbers = [("groups", "::core::ops::Range<u64>")];
        let params: Vec<(&str, &str)> =
            RANGE.into_iter().chain(numbers).chain(passed).chain(workspace).collect();
        let about = format!(
            "Runs only these of the groups of `{name}`, which are numbered along dimension 0 first, so that threads \
             can share a range. Each thread needs a workspace of its own."
        );
        out += &function(&about, (name, "groups"), symbol, &params, "");
    }
    out
}

/// A function that calls one of C. Arrays are passed by reference, and a range as its bounds.
fn function(
    about: &str,
    (kernel, what): (&str, &str),
    symbol: &str,
    params: &[(&str, &str)],
    result: &str,
) -> String {
    let is_safe = what == "workspace";
    let (mut declared, mut types, mut values) = (String::new(), String::new(), String::new());
    for (name, ty) in params {
        let _ = write!(declared, "{name}: {ty}, ");
        match *ty {
            "[u64; 3]" => {
                let _ = write!(types, "{name}: *const u64, ");
                let _ = write!(values, "{name}.as_ptr(), ");
            }
            _ if ty.contains("Range") => {
                types += "first: u64, last: u64, ";
                values += "groups.start, groups.end, ";
            }
            _ => {
                let _ = write!(types, "{name}: {ty}, ");
                let _ = write!(values, "{name}, ");
            }
        }
    }
    let (word, safety, reason) = match is_safe {
        true => ("", "", "it reads the arrays only"),
        false => (
            "unsafe ",
            "\n///\n/// # Safety\n/// Pointers must lead to what the kernel accesses, work-items must not race, and a \
             `workspace` must have as\n/// many bytes as the function for that says.",
            "the caller promises it",
        ),
    };
    format!(
        "\n/// {about}{safety}\n#[allow(dead_code, clippy::too_many_arguments)]\n\
         pub {word}fn {kernel}_{what}({}){result} {{\n    unsafe extern \"C\" {{\n        \
         #[link_name = \"{symbol}\"]\n        fn warpline_run({}){result};\n    }}\n    \
         // SAFETY: {reason}.\n    unsafe {{ warpline_run({}) }}\n}}\n",
        declared.trim_end_matches(", "),
        types.trim_end_matches(", "),
        values.trim_end_matches(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_opencl_are_those_of_rust() {
        assert_eq!(pointer("const float *"), "*const f32");
        assert_eq!(pointer("unsigned char *"), "*mut u8");
        assert_eq!(pointer("struct pair *"), "*mut ::core::ffi::c_void");
        assert_eq!(number(Scalar::Int(32), "unsigned int").as_deref(), Some("u32"));
        assert_eq!(number(Scalar::Int(64), "long").as_deref(), Some("i64"));
        assert_eq!(identifier("in", 0), "in_");
        assert_eq!(identifier("size", 1), "size_");
    }
}
