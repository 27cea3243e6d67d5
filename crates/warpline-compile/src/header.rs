//! C headers for what `vectorize` makes.
//!
//! A vector goes between C and the W-lane function in one register, so only vectors of exactly 16 bytes, of 32 (where
//! the CPU has AVX) and of 64 (with AVX-512) can be declared portably, by GCC's and clang's vector extension. Where
//! one does not fit, the header says so in place of the declaration; the range driver takes arrays and can always be
//! called.

use std::fmt::Write as _;

use warpline_ir::Type;
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::Passing;

use crate::c_names::{self, comment, is_identifier};
use crate::dispatch::{Dispatched, Version};
use crate::kernel::{Kernel, c_type};
use crate::vectorize::Compiled;

/// What surrounds declarations for those who call W-lane functions themselves.
const LANES: (&str, &str) = ("#ifdef WARPLINE_LANES\n\n", "#endif /* WARPLINE_LANES */\n\n");

/// The text of a header file of this name for code that was made for one CPU.
pub fn text(kernels: &[Compiled], file: &str) -> String {
    let (mut body, mut inner, mut titles) = (String::new(), String::new(), Vec::new());
    for compiled in kernels {
        let Kernel { name, width, cpu, .. } = &compiled.kernel;
        let groups = format!("{width} at a time");
        let own = drivers(compiled, compiled.range.as_deref(), compiled.ndrange.as_deref(), &groups);
        match own.is_empty() {
            // There is nothing else to call.
            true => body += &lanes(compiled),
            false => inner += &lanes(compiled),
        }
        body += &own;
        titles.push(format!("`{name}` on {width} lanes for {}", cpu.name));
    }
    frame(file, &titles.join(", "), &(body + &for_lanes(&inner)))
}

/// The same for code that was made for several CPUs.
pub fn dispatched_text(kernels: &[Dispatched], file: &str) -> String {
    let (mut body, mut inner, mut titles) = (String::new(), String::new(), Vec::new());
    for Dispatched { versions, range, ndrange, which } in kernels {
        let best = &versions[0].compiled;
        let names: Vec<&str> = versions.iter().map(|one| one.choice.cpu.name.as_str()).collect();
        let groups = "as many at a time as fit the best of these CPUs that the machine is like. It is asked when \
                      the function is called for the first time";
        body += &drivers(best, Some(range), ndrange.as_deref(), groups);
        body += "/* The name of the CPU whose code runs on this machine. */\n";
        body += &prototype(which, "const char *", &[]);
        for Version { compiled, .. } in versions {
            inner += &of_version(compiled);
        }
        titles.push(format!("`{}` for {}", best.kernel.name, names.join(", ")));
    }
    frame(file, &titles.join(", "), &(body + &for_lanes(&inner)))
}

/// Declarations for those who call W-lane functions themselves, if there are any.
fn for_lanes(inner: &str) -> String {
    let (begin, end) = LANES;
    if inner.is_empty() { String::new() } else { format!("{begin}{inner}{end}") }
}

/// What was made for one of several CPUs.
fn of_version(compiled: &Compiled) -> String {
    let Kernel { width, cpu, .. } = &compiled.kernel;
    let mut body = format!(
        "/* What follows must be called on machines only that have all that {} has. */\n\n",
        comment(&cpu.name)
    );
    let vectors = lanes(compiled);
    body += &match compiled.kernel.vectors.register_bits {
        512.. => format!("#ifdef __AVX512F__\n{vectors}#endif\n\n"),
        256.. => format!("#ifdef __AVX__\n{vectors}#endif\n\n"),
        _ => vectors,
    };
    let groups = format!("{width} at a time");
    body + &drivers(compiled, compiled.range.as_deref(), compiled.ndrange.as_deref(), &groups)
}

/// What every header has around its declarations.
fn frame(file: &str, title: &str, body: &str) -> String {
    let guard: String =
        file.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    let title = comment(title);
    format!(
        "/* {title}, made by warpline. */\n#ifndef WARPLINE_{guard}\n#define WARPLINE_{guard}\n\n\
         #include <stdbool.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n\
         {body}#ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
    )
}

/// The W-lane function.
fn lanes(compiled: &Compiled) -> String {
    lanes_prototype(compiled).unwrap_or_else(|why| {
        format!("/* {} cannot be called from C: {why}. */\n\n", comment(&compiled.lanes))
    })
}

/// The drivers of these names, and how indices are grouped in them.
fn drivers(compiled: &Compiled, range: Option<&str>, ndrange: Option<&str>, groups: &str) -> String {
    let mut out = String::new();
    if let Some(name) = range {
        out += &range_prototype(compiled, name, groups);
    }
    if let Some(name) = ndrange {
        out += &ndrange_prototype(compiled, name, groups);
    }
    out
}

/// The C type of a vector and its definition, or why there is none.
fn vector_type(compiled: &Compiled, ty: Type) -> Result<(String, String), String> {
    let width = compiled.kernel.width;
    let elem = match ty {
        Type::Int(8 | 16 | 32 | 64) | Type::F32 | Type::F64 => c_type(ty).unwrap_or_default(),
        Type::Int(1) => return Err("vectors of booleans have no C type".to_owned()),
        _ => return Err("vectors of its elements have no C type".to_owned()),
    };
    let bits = match ty {
        Type::Int(bits) => bits,
        Type::F32 => 32,
        _ => 64,
    };
    let bytes = bits / 8 * width;
    if ![16, 32, 64].contains(&bytes) || bytes * 8 > compiled.kernel.vectors.register_bits {
        return Err(format!(
            "a vector of {width} {elem} does not fill one register of {} bits or less",
            compiled.kernel.vectors.register_bits
        ));
    }
    let name = format!("warpline_{}x{width}", elem.trim_end_matches("_t"));
    // Several headers may have it, and C before C11 takes one definition only.
    let typedef = format!(
        "#ifndef WARPLINE_TYPE_{name}\n#define WARPLINE_TYPE_{name}\ntypedef {elem} {name} \
         __attribute__((vector_size({bytes})));\n#endif\n"
    );
    Ok((name, typedef))
}

fn lanes_prototype(compiled: &Compiled) -> Result<String, String> {
    let mut typedefs: Vec<String> = Vec::new();
    let mut passed = |passing: &Passing| match *passing {
        Passing::Uniform(ty) | Passing::Strided(ty, _) => {
            c_type(ty).map(str::to_owned).ok_or_else(|| "a parameter has no C type".to_owned())
        }
        Passing::Varying(ty) => {
            let (name, typedef) = vector_type(compiled, ty)?;
            if !typedefs.contains(&typedef) {
                typedefs.push(typedef);
            }
            Ok(name)
        }
    };
    let mut params = Vec::new();
    let mut notes = Vec::new();
    for (passing, name) in compiled.made.params.iter().zip(parameters(compiled)) {
        params.push(declare(&passed(passing)?, &name));
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
        Some(passing) => passed(passing)?,
        None => "void".to_owned(),
    };
    let mut out = typedefs.concat();
    if !out.is_empty() {
        out.push('\n');
    }
    let _ = write!(out, "/* All {} lanes of `{}`", compiled.kernel.width, comment(&compiled.kernel.name));
    for note in notes {
        let _ = write!(out, ";\n   {note}");
    }
    out += ". */\n";
    Ok(out + &prototype(&compiled.lanes, &result, &params))
}

fn range_prototype(compiled: &Compiled, name: &str, groups: &str) -> String {
    let func = compiled.kernel.function();
    let mut params = vec!["int64_t begin".to_owned(), "int64_t end".to_owned()];
    let mut notes = Vec::new();
    let typed = |ty: Type| c_type(ty).unwrap_or("void *");
    for ((&p, &shape), name) in func.params.iter().zip(&compiled.kernel.args).zip(parameters(compiled)) {
        let ty = func.ty(p);
        match shape {
            ArgShape::Index => {}
            ArgShape::Varying => {
                params.push(declare(&array(typed(ty), "const "), &name));
                notes.push(format!("{name}[i - begin]: the value for index i"));
            }
            ArgShape::Uniform => params.push(declare(typed(ty), &name)),
            ArgShape::Stride(n) => {
                params.push(declare(typed(ty), &name));
                notes.push(format!("{name}: the value for begin; each next index gets {n} more"));
            }
        }
    }
    if !func.ret.is_void() {
        params.push(declare(&array(typed(func.ret), ""), "out"));
        notes.push("out[i - begin]: the result for index i".to_owned());
    }
    let mut out = format!(
        "/* `{}` for each index in begin..end (nothing if begin >= end), {groups}.\n   Every index must fit the \
         kernel's parameter",
        comment(&compiled.kernel.name)
    );
    for note in notes {
        let _ = write!(out, ";\n   {note}");
    }
    out += ". */\n";
    out + &prototype(name, "void", &params)
}

fn ndrange_prototype(compiled: &Compiled, name: &str, groups: &str) -> String {
    let func = compiled.kernel.function();
    let added = compiled.kernel.items.as_ref().map_or(0, |items| items.added.len());
    let mut params: Vec<String> =
        ["offset", "size", "local"].iter().map(|name| format!("const uint64_t {name}[3]")).collect();
    let own = func.params[..func.params.len() - added].iter().zip(&compiled.kernel.args);
    for ((&p, &shape), name) in own.zip(parameters(compiled)) {
        if shape != ArgShape::Index {
            params.push(declare(c_type(func.ty(p)).unwrap_or("void *"), &name));
        }
    }
    format!(
        "/* `{}` for size[0] * size[1] * size[2] work-items, numbered from offset, in groups of local[0] * \
         local[1] * local[2] (0: all \
         of\n   the dimension; the last groups may be smaller), neighbours in dimension 0 {groups}. */\n{}",
        comment(&compiled.kernel.name),
        prototype(name, "void", &params)
    )
}

/// The type of an array with elements of this type.
fn array(elem: &str, qualifier: &str) -> String {
    match elem.strip_suffix(" *") {
        // A qualifier in front would be about what the elements point to.
        Some(_) => format!("{elem}*"),
        None => format!("{qualifier}{elem} *"),
    }
}

fn declare(ty: &str, name: &str) -> String {
    if ty.ends_with('*') { format!("{ty}{name}") } else { format!("{ty} {name}") }
}

fn list(params: &[String]) -> String {
    if params.is_empty() { "void".to_owned() } else { params.join(", ") }
}

/// The names of the kernel's parameters as C can have them.
fn parameters(compiled: &Compiled) -> Vec<String> {
    let func = compiled.kernel.function();
    let mut taken = vec!["offset", "size", "local", "begin", "end", "mask"];
    taken.extend((!func.ret.is_void()).then_some("out"));
    c_names::parameters(func.params.iter().map(|&p| &*func.values[p].name), &taken)
}

/// A function's declaration, or, where C has no such name, what to do.
fn prototype(name: &str, result: &str, params: &[String]) -> String {
    if is_identifier(name) {
        return format!("{};\n\n", declare(result, &format!("{name}({})", list(params))));
    }
    format!("/* `{}` is no name in C: choose one by `--symbol`. */\n\n", comment(name))
}
