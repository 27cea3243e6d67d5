//! C headers for what `vectorize` makes.
//!
//! Types are those of the source where it is known ([`SourceTypes`]); what has no name there that C and C++ share is
//! what LLVM says (`void *`), with the source's type in a comment. What is called stands first, everything else behind
//! `WARPLINE_LANES`.
//!
//! A vector goes between C and the W-lane function in one register, so only vectors of exactly 16 bytes, of 32 (where
//! the CPU has AVX) and of 64 (with AVX-512) can be declared portably, by GCC's and clang's vector extension. Where
//! one does not fit, the header says so in place of the declaration; the range driver takes arrays and can always be
//! called.

use std::fmt::Write as _;
use std::path::Path;

use warpline_ir::{Function, Type, VectorType, demangle};
use warpline_llvm::Seen;
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::Passing;

use crate::c_names::{self, comment, is_identifier};
use crate::dispatch::{Dispatched, Version};
use crate::kernel::{Kernel, c_type};
use crate::options::KernelOptions;
use crate::source_types::{Meaning, SourceFunction, SourceTypes, Type as SourceType};
use crate::threads;
use crate::vectorize::{Compiled, Drivers};

/// What surrounds declarations for those who call W-lane functions themselves.
const LANES: (&str, &str) = ("#ifdef WARPLINE_LANES\n\n", "#endif /* WARPLINE_LANES */\n\n");

/// Why something cannot be declared in C.
type Undeclared = String;

/// A header.
pub struct Header<'a> {
    /// The input, and how it is compiled.
    pub options: &'a KernelOptions,
    /// What is known of its types.
    pub types: &'a SourceTypes,
    /// Where it is written; `None` for standard output.
    pub path: Option<&'a Path>,
}

impl Header<'_> {
    /// The text for code that was made for one CPU.
    pub fn of_kernels(&self, kernels: &[Compiled]) -> String {
        let (mut body, mut inner, mut titles) = (String::new(), String::new(), Vec::new());
        for compiled in kernels {
            let Kernel { name, width, cpu, .. } = &compiled.kernel;
            let groups = format!("{width} at a time");
            let (outer, internal) = for_users(compiled, &compiled.drivers);
            let own = self.drivers(compiled, &outer, &groups);
            inner += &self.drivers(compiled, &internal, &groups);
            match own.is_empty() {
                // There is nothing else to call.
                true => body += &self.lanes(compiled),
                false => inner += &self.lanes(compiled),
            }
            body += &own;
            titles.push(format!("`{}` on {width} lanes for {}", demangle(name), cpu.name));
        }
        self.frame(&titles.join(", "), &(body + &for_lanes(&inner)))
    }

    /// The same for code that was made for several CPUs.
    pub fn of_dispatched(&self, kernels: &[Dispatched]) -> String {
        let (mut body, mut inner, mut titles) = (String::new(), String::new(), Vec::new());
        for Dispatched { versions, drivers, which } in kernels {
            let best = &versions[0].compiled;
            let names: Vec<&str> = versions.iter().map(|one| one.choice.cpu.name.as_str()).collect();
            let groups = "as many at a time as fit the best of these CPUs that the machine is like. It is asked \
                          when the function is called for the first time";
            let (outer, internal) = for_users(best, drivers);
            body += &self.drivers(best, &outer, groups);
            inner += &self.drivers(best, &internal, groups);
            body += &which_prototype(which);
            for Version { compiled, .. } in versions {
                inner += &self.of_version(compiled);
            }
            titles.push(format!("`{}` for {}", demangle(&best.kernel.name), names.join(", ")));
        }
        self.frame(&titles.join(", "), &(body + &for_lanes(&inner)))
    }

    /// The text for functions in which loops were vectorized, for these CPUs.
    pub fn of_loops(&self, functions: &[ChangedFunction], cpus: &[&str]) -> String {
        let (mut body, mut titles) = (String::new(), Vec::new());
        for ChangedFunction { function, seen, which } in functions {
            let name = comment(&demangle(&function.name));
            if !seen.visible {
                continue;
            }
            titles.push(format!("`{name}`"));
            match self.scalar_prototype(function, seen.passed_otherwise) {
                Ok(text) => {
                    let _ = write!(body, "/* `{name}`, with loops on several lanes. */\n{text}");
                }
                Err(why) => {
                    let _ = write!(body, "/* `{name}` cannot be declared in C: {}. */\n\n", comment(&why));
                }
            }
            body += &which.as_deref().map(which_prototype).unwrap_or_default();
        }
        self.frame(&format!("{} for {}", titles.join(", "), cpus.join(", ")), &body)
    }

    /// What was made for one of several CPUs.
    fn of_version(&self, compiled: &Compiled) -> String {
        let Kernel { width, cpu, .. } = &compiled.kernel;
        let mut body = format!(
            "/* What follows must be called on machines only that have all that {} has. */\n\n",
            comment(&cpu.name)
        );
        let vectors = self.lanes(compiled);
        body += &match compiled.kernel.vectors.register_bits {
            512.. => format!("#ifdef __AVX512F__\n{vectors}#endif\n\n"),
            256.. => format!("#ifdef __AVX__\n{vectors}#endif\n\n"),
            _ => vectors,
        };
        let groups = format!("{width} at a time");
        body + &self.drivers(compiled, &compiled.drivers, &groups)
    }

    /// What every header has around its declarations.
    fn frame(&self, title: &str, body: &str) -> String {
        let file = self.path.and_then(Path::file_name).map(|name| name.to_string_lossy()).unwrap_or_default();
        let guard: String = file
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
            .collect();
        let title = comment(title);
        let types = self.types.declarations(self.options, self.path);
        let common = if body.contains("warpline_for_each") { threads::COMMON } else { "" };
        // C++ has another word for it.
        let (begin, end) = match body.contains("restrict") {
            true => (
                "#pragma push_macro(\"restrict\")\n#undef restrict\n#define restrict __restrict\n",
                "#pragma pop_macro(\"restrict\")\n",
            ),
            false => ("", ""),
        };
        format!(
            "/* {title}, made by warpline. */\n#ifndef WARPLINE_{guard}\n#define WARPLINE_{guard}\n\n\
             #include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n{types}\
             #ifdef __cplusplus\n{begin}extern \"C\" {{\n#endif\n\n\
             {common}{body}#ifdef __cplusplus\n}}\n{end}#endif\n\n#endif\n"
        )
    }

    /// The W-lane function.
    fn lanes(&self, compiled: &Compiled) -> String {
        let Some(name) = &compiled.lanes else { return String::new() };
        self.lanes_prototype(compiled, name).unwrap_or_else(|why| uncallable(name, &why))
    }

    /// The drivers of these names, and how indices are grouped in them.
    fn drivers(&self, compiled: &Compiled, drivers: &Drivers, groups: &str) -> String {
        let range = drivers.range.as_deref().map(|name| (name, self.range_prototype(compiled, name, groups)));
        let ndrange = drivers.ndrange.as_deref();
        let ndrange = ndrange.map(|name| (name, self.ndrange_prototypes(compiled, drivers, name, groups)));
        range
            .into_iter()
            .chain(ndrange)
            .map(|(name, made)| made.unwrap_or_else(|why| uncallable(name, &why)))
            .collect()
    }

    fn lanes_prototype(&self, compiled: &Compiled, lanes: &str) -> Result<String, Undeclared> {
        let own = Parameters::of_kernel(self.types, compiled);
        let mut typedefs: Vec<String> = Vec::new();
        let mut vector = |ty: Type| {
            let (name, typedef) = vector_type(compiled, ty)?;
            if !typedefs.contains(&typedef) {
                typedefs.push(typedef);
            }
            Ok::<_, Undeclared>(name)
        };
        let mut params = Vec::new();
        let mut notes = Vec::new();
        for (i, passing) in compiled.made.params.iter().enumerate() {
            let name = own.name(i);
            params.push(match *passing {
                Passing::Varying(ty) => declare(&vector(ty)?, name),
                Passing::Uniform(ty) | Passing::Strided(ty, _) => own.value(i, ty)?,
            });
            if let Passing::Strided(_, step) = passing {
                notes.push(format!("{name}: lane 0's value; lane k has k * {step} more"));
            }
        }
        if compiled.made.masked {
            params.push("uint64_t mask".to_owned());
            notes.push("mask: bit k says whether lane k is active; without any nothing happens".to_owned());
            if compiled.made.result.is_some() {
                notes.push("the result says nothing in lanes that are not active".to_owned());
            }
        }
        let result = match &compiled.made.result {
            Some(Passing::Varying(ty)) => vector(*ty)?,
            Some(Passing::Uniform(ty) | Passing::Strided(ty, _)) => {
                c_type(*ty).ok_or("its result has no C type")?.to_owned()
            }
            None => "void".to_owned(),
        };
        let mut out = typedefs.concat();
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = write!(out, "/* All {} lanes of {}", compiled.kernel.width, title_of(compiled));
        for note in notes {
            let _ = write!(out, ";\n   {note}");
        }
        out += ". */\n";
        Ok(out + &prototype(lanes, &result, &params))
    }

    fn range_prototype(&self, compiled: &Compiled, name: &str, groups: &str) -> Result<String, Undeclared> {
        let func = compiled.kernel.function();
        let own = Parameters::of_kernel(self.types, compiled);
        let mut params = vec!["int64_t begin".to_owned(), "int64_t end".to_owned()];
        let mut notes = Vec::new();
        for (i, (&p, &shape)) in func.params.iter().zip(&compiled.kernel.args).enumerate() {
            let (ty, name) = (func.ty(p), own.name(i));
            match shape {
                ArgShape::Index => {}
                ArgShape::Varying => {
                    params.push(own.elements(i, ty)?);
                    notes.push(format!("{name}[i - begin]: the value for index i"));
                }
                ArgShape::Uniform => params.push(own.value(i, ty)?),
                ArgShape::Consecutive => {
                    params.push(own.value(i, ty)?);
                    notes.push(format!("{name}: the value for begin; each next index gets the next number"));
                }
                ArgShape::Stride(n) => {
                    params.push(own.value(i, ty)?);
                    notes.push(format!("{name}: the value for begin; each next index gets {n} more"));
                }
            }
        }
        if !func.ret.is_void() {
            params.push(own.results(func.ret)?);
            notes.push("out[i - begin]: the result for index i".to_owned());
        }
        let mut out = format!(
            "/* {} for each index in begin..end (nothing if begin >= end), {groups}.\n   Every index must fit the \
             kernel's parameter",
            title_of(compiled)
        );
        for note in notes {
            let _ = write!(out, ";\n   {note}");
        }
        out += ". */\n";
        Ok(out + &prototype(name, "void", &params))
    }

    /// The drivers over work-items, and the function for their workspace.
    fn ndrange_prototypes(
        &self,
        compiled: &Compiled,
        drivers: &Drivers,
        name: &str,
        groups: &str,
    ) -> Result<String, Undeclared> {
        let func = compiled.kernel.function();
        let parameters = Parameters::of_kernel(self.types, compiled);
        let count = func.params.len() - added(compiled);
        let (mut own, mut local) = (Vec::new(), Vec::new());
        for (i, (&p, &shape)) in func.params[..count].iter().zip(&compiled.kernel.args).enumerate() {
            let name = parameters.name(i);
            if drivers.workspace.is_some() && func.pointers[p].local {
                let bytes = format!("uint64_t {name}_bytes");
                local.push(bytes.clone());
                own.push((bytes, format!("{name}_bytes")));
            } else if shape != ArgShape::Index {
                own.push((parameters.value(i, func.ty(p))?, name.to_owned()));
            }
        }
        let arrays = |names: &[&str]| names.iter().map(|name| format!("const uint64_t {name}[3]")).collect();
        let mut params: Vec<String> = arrays(&["offset", "size", "local"]);
        params.extend(own.iter().map(|(declared, _)| declared.clone()));
        let mut out = String::new();
        if let Some(workspace) = &drivers.workspace {
            params.push("void *workspace".to_owned());
            let mut asked: Vec<String> = arrays(&["size", "local"]);
            asked.extend(local);
            let _ = write!(
                out,
                "/* The bytes of workspace that `{name}` needs, one for each call that is under way. What ends \
                 with\n   _bytes is the size of what the kernel's `local` parameter points to. */\n{}",
                prototype(workspace, "uint64_t", &asked)
            );
        }
        let lanes = compiled.kernel.items.as_ref().map_or(0, |items| items.lanes);
        let title = title_of(compiled);
        let _ = write!(
            out,
            "/* {title} for size[0] * size[1] * size[2] work-items, numbered from offset, in groups of local[0] * \
             local[1] * local[2] (0: all of\n   the dimension; the last groups may be smaller), neighbours in \
             dimension {lanes} {groups}. */\n{}",
            prototype(name, "void", &params)
        );
        if let Some(some) = &drivers.groups {
            out += &threads::text(some, &title, &own, drivers.workspace.is_some(), prototype);
        }
        Ok(out)
    }

    /// A function as the source declares it, under its name in the object file. `passed_otherwise`: LLVM's types do
    /// not say how its parameters are passed.
    fn scalar_prototype(&self, function: &Function, passed_otherwise: bool) -> Result<String, Undeclared> {
        let known = self.types.function(&function.name);
        let own = Parameters::new(self.types, function, known.clone(), &[], function.params.len());
        let declared = known.as_ref().map(|known| self.source_prototype(&function.name, known));
        match declared {
            Some(Ok(text)) => return Ok(text),
            Some(Err(why)) if passed_otherwise => return Err(why),
            _ if passed_otherwise => return Err("its parameters have no C type".to_owned()),
            _ => {}
        }
        let params: Result<Vec<String>, Undeclared> =
            function.params.iter().enumerate().map(|(i, &p)| own.value(i, function.ty(p))).collect();
        let result = match function.ret.is_void() {
            true => "void",
            false => c_type(function.ret).ok_or("its result has no C type")?,
        };
        Ok(prototype(&function.name, result, &params?))
    }

    /// The declaration of the source, if C and C++ can have it.
    fn source_prototype(&self, symbol: &str, known: &SourceFunction) -> Result<String, Undeclared> {
        let names = c_names::parameters(known.params.iter().map(|(name, _)| &**name), &[]);
        let mut params = Vec::new();
        for ((_, ty), name) in known.params.iter().zip(names) {
            let text = self.types.declare(*ty, &name, false);
            params.push(text.map_err(|why| format!("its parameter `{name}` {why}"))?);
        }
        if known.variadic {
            params.push("...".to_owned());
        }
        if !is_identifier(symbol) {
            return Ok(prototype(symbol, "void", &params));
        }
        let declarator = format!("{symbol}({})", list(&params));
        let text = self.types.declare(known.result, &declarator, false);
        Ok(text.map_err(|why| format!("its result {why}"))? + ";\n\n")
    }
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

/// The parameters of a function for LLVM, and what is known of them.
pub(crate) struct Parameters<'a> {
    types: &'a SourceTypes,
    names: Vec<String>,
    /// The types of those that the source has, too.
    sources: Vec<Option<SourceType>>,
    /// The type of the result, if it is returned.
    result: Option<SourceType>,
}

impl<'a> Parameters<'a> {
    pub(crate) fn of_kernel(types: &'a SourceTypes, compiled: &Compiled) -> Self {
        let func = compiled.kernel.function();
        let mut taken = vec!["offset", "size", "local", "begin", "end", "mask"];
        taken.extend((!func.ret.is_void()).then_some("out"));
        taken.extend(threads::TAKEN.iter().filter(|_| compiled.drivers.groups.is_some()));
        let count = func.params.len() - added(compiled);
        Parameters::new(types, func, types.function(&compiled.kernel.name), &taken, count)
    }

    /// Those of a function, the first `count` of which are those of the source. `taken` are names of others.
    pub(crate) fn new(
        types: &'a SourceTypes,
        func: &Function,
        known: Option<SourceFunction>,
        taken: &[&str],
        count: usize,
    ) -> Self {
        let params = known.as_ref().map_or(&[][..], |known| &known.params);
        let (mut names, mut sources) = (Vec::new(), Vec::new());
        for (i, &p) in func.params.iter().enumerate() {
            let own = &*func.values[p].name;
            // What is passed in pieces has several parameters for LLVM, which clang calls `x.coerce0` and the like.
            let source = match params.len() == count {
                true => params.get(i),
                false => params.iter().find(|(name, _)| !name.is_empty() && name == own),
            };
            names.push(source.map(|(name, _)| &**name).filter(|name| !name.is_empty()).unwrap_or(own));
            sources.push(source.map(|(_, ty)| *ty));
        }
        let names = c_names::parameters(names.into_iter(), taken);
        Parameters { types, names, sources, result: known.as_ref().map(|known| known.result) }
    }

    pub(crate) fn name(&self, i: usize) -> &str {
        self.names.get(i).map_or("", String::as_str)
    }

    /// The type of a parameter in the source, if it is passed as this type of LLVM's.
    fn source(&self, i: usize, ir: Type) -> Option<SourceType> {
        let ty = (*self.sources.get(i)?)?;
        self.types.is_passed_as(ty, ir).then_some(ty)
    }

    /// What the source's type of a parameter says to a caller, if it is passed as this type of LLVM's.
    pub(crate) fn meaning(&self, i: usize, ir: Type) -> Option<Meaning> {
        self.types.meaning(self.source(i, ir)?)
    }

    /// What the source's type of the result says.
    pub(crate) fn meaning_of_result(&self) -> Option<Meaning> {
        self.types.meaning(self.result?)
    }

    /// The type of a parameter that is a record for the source and a pointer to it for LLVM.
    fn record_behind(&self, i: usize, ir: Type) -> Option<SourceType> {
        let ty = (*self.sources.get(i)?)?;
        (matches!(ir, Type::Ptr(_)) && self.types.is_record(ty)).then_some(ty)
    }

    /// A parameter that is passed as it is.
    fn value(&self, i: usize, ir: Type) -> Result<String, Undeclared> {
        let name = self.name(i);
        let source = self.source(i, ir);
        if let Some(Ok(text)) = source.map(|ty| self.types.declare(ty, name, false)) {
            return Ok(text);
        }
        let record = self.record_behind(i, ir);
        if let Some(Ok(text)) = record.map(|ty| self.types.declare(ty, &format!("*{name}"), false)) {
            return Ok(text);
        }
        let ty = self.plain(ir).ok_or_else(|| self.without_type(i))?;
        let constant = ty.ends_with('*') && source.is_some_and(|ty| self.types.points_to_constant(ty));
        let constant = if constant { "const " } else { "" };
        Ok(format!("{constant}{}{}", declare(&ty, name), self.remark(i)))
    }

    /// An array of such parameters, which is read.
    fn elements(&self, i: usize, ir: Type) -> Result<String, Undeclared> {
        let name = self.name(i);
        let source = self.source(i, ir).map(|ty| self.types.declare(ty, &format!("*{name}"), true));
        if let Some(Ok(text)) = source {
            return Ok(text);
        }
        let ty = self.plain(ir).ok_or_else(|| self.without_type(i))?;
        Ok(declare(&array(&ty, "const "), name) + &self.remark(i))
    }

    /// The array that results are written to.
    fn results(&self, ir: Type) -> Result<String, Undeclared> {
        let source = self.result.filter(|&ty| self.types.is_passed_as(ty, ir));
        if let Some(Ok(text)) = source.map(|ty| self.types.declare(ty, "*out", false)) {
            return Ok(text);
        }
        let ty = self.plain(ir).ok_or("its result has no C type")?;
        Ok(declare(&array(&ty, ""), "out"))
    }

    /// The C type of what LLVM passes.
    fn plain(&self, ir: Type) -> Option<String> {
        match ir {
            Type::Vector(vector) => {
                let (name, typedef) = small_vector(vector)?;
                self.types.add_vector(&name, &typedef);
                Some(name)
            }
            _ => c_type(ir).map(str::to_owned),
        }
    }

    /// The source's own word for the type of a parameter, where another stands in its place.
    fn remark(&self, i: usize) -> String {
        let known = self.sources.get(i).copied().flatten();
        let shown = known.map(|ty| self.types.shown(ty)).filter(|shown| !shown.contains('?'));
        shown.map_or(String::new(), |shown| format!(" /* {} */", comment(&shown)))
    }

    fn without_type(&self, i: usize) -> Undeclared {
        format!("its parameter `{}` has no type that C passes in the same way", self.name(i))
    }
}

/// Those of the drivers that users call, and the others: a range driver that has more parameters than users can know
/// is what the drivers over work-items call.
fn for_users(compiled: &Compiled, drivers: &Drivers) -> (Drivers, Drivers) {
    let count = compiled.kernel.function().params.len() - added(compiled);
    let mut more = compiled.kernel.args[count..].iter().filter(|&&shape| shape != ArgShape::Index);
    let (mut outer, mut internal) = (drivers.clone(), Drivers::default());
    if drivers.ndrange.is_some() && more.next().is_some() {
        internal.range = outer.range.take();
    }
    (outer, internal)
}

/// How many parameters were added to a kernel for what it asks of its work-item.
fn added(compiled: &Compiled) -> usize {
    compiled.kernel.items.as_ref().map_or(0, |items| items.added.len())
}

/// The kernel's name, as people write it.
fn title_of(compiled: &Compiled) -> String {
    format!("`{}`", comment(&demangle(&compiled.kernel.name)))
}

/// Declarations for those who call W-lane functions themselves, if there are any.
fn for_lanes(inner: &str) -> String {
    let (begin, end) = LANES;
    if inner.is_empty() { String::new() } else { format!("{begin}{inner}{end}") }
}

/// The function that says which CPU's code runs.
fn which_prototype(name: &str) -> String {
    "/* The name of the CPU whose code runs on this machine. */\n".to_owned()
        + &prototype(name, "const char *", &[])
}

/// The C type of a vector and its definition, or why there is none.
fn vector_type(compiled: &Compiled, ty: Type) -> Result<(String, String), Undeclared> {
    let width = compiled.kernel.width;
    let (elem, bytes) = match ty {
        Type::Int(1) => return Err("vectors of booleans have no C type".to_owned()),
        _ => element(ty).ok_or("vectors of its elements have no C type")?,
    };
    let bytes = bytes * width;
    if ![16, 32, 64].contains(&bytes) || bytes * 8 > compiled.kernel.vectors.register_bits {
        return Err(format!(
            "a vector of {width} {elem} does not fill one register of {} bits or less",
            compiled.kernel.vectors.register_bits
        ));
    }
    Ok(vector(elem, width, bytes))
}

/// The C type of a parameter that is a vector itself and its definition, if C passes it as LLVM does: in a register of
/// 16 bytes, or the lower half of one. Three elements have room for a fourth.
fn small_vector(VectorType { elem, lanes, scalable }: VectorType) -> Option<(String, String)> {
    let (elem, bytes) = element(elem.into())?;
    let lanes = if lanes == 3 { 4 } else { lanes };
    let total = bytes.checked_mul(lanes)?;
    (!scalable && lanes > 1 && [8, 16].contains(&total)).then(|| vector(elem, lanes, total))
}

/// The C type of elements of vectors, and how many bytes they have.
fn element(ty: Type) -> Option<(&'static str, u32)> {
    let bytes = match ty {
        Type::Int(bits @ (8 | 16 | 32 | 64)) => bits / 8,
        Type::F32 => 4,
        Type::F64 => 8,
        _ => return None,
    };
    Some((c_type(ty)?, bytes))
}

/// A type for vectors and its definition. Several headers may have it, and C before C11 takes one definition only.
fn vector(elem: &str, lanes: u32, bytes: u32) -> (String, String) {
    let name = format!("warpline_{}x{lanes}", elem.trim_end_matches("_t"));
    let typedef = format!(
        "#ifndef WARPLINE_TYPE_{name}\n#define WARPLINE_TYPE_{name}\ntypedef {elem} {name} \
         __attribute__((vector_size({bytes})));\n#endif\n"
    );
    (name, typedef)
}

/// The type of an array with elements of this type.
fn array(elem: &str, qualifier: &str) -> String {
    match elem.strip_suffix(" *") {
        // A qualifier in front would be about what the elements point to.
        Some(_) => format!("{elem}*"),
        None => format!("{qualifier}{elem} *"),
    }
}

/// What stands in the place of a declaration.
fn uncallable(name: &str, why: &str) -> String {
    format!("/* {} cannot be called from C: {}. */\n\n", comment(name), comment(why))
}

fn declare(ty: &str, name: &str) -> String {
    if ty.ends_with('*') { format!("{ty}{name}") } else { format!("{ty} {name}") }
}

fn list(params: &[String]) -> String {
    if params.is_empty() { "void".to_owned() } else { params.join(", ") }
}

/// A function's declaration, or, where C has no such name, what to do.
fn prototype(name: &str, result: &str, params: &[String]) -> String {
    if is_identifier(name) {
        return format!("{};\n\n", declare(result, &format!("{name}({})", list(params))));
    }
    format!("/* `{}` is no name in C: choose one by `--symbol`. */\n\n", comment(name))
}
