//! Whether what stands in a source makes a safe function of Rust.

use std::path::Path;

use warpline_compile::signature::{Kind, Param, Primitive, Signature};
use warpline_compile::vectorize::Compiled;
use warpline_ir::{FloatKind, Function, SymbolKind, Type};
use warpline_llvm::Imported;
use warpline_uniformity::shape::ArgShape;

use crate::error::{Error, Result};

/// An error about a kernel.
pub(crate) fn wrong(source: &Path, line: u32, name: &str, message: &str) -> Error {
    Error::Source {
        path: source.to_owned(),
        line: Some(line),
        message: format!("kernel `{name}`: {message}"),
    }
}

/// Refuses variables that can change: the code for many lanes would have copies of its own, which the rest of the
/// program does not see.
pub(crate) fn changes_nothing_of_its_own(source: &Path, imported: &Imported) -> Result<()> {
    let variable = imported
        .ir
        .symbols
        .values()
        .find(|symbol| matches!(symbol.kind, SymbolKind::Global { constant: false, .. }));
    let Some(variable) = variable else { return Ok(()) };
    let message = format!(
        "the variable `{}` can change, and the code for many lanes would have one of its own: pass a reference \
         to the kernels",
        warpline_ir::demangle(&variable.name)
    );
    Err(Error::Source { path: source.to_owned(), line: None, message })
}

/// Checks that there is a safe Rust function for a kernel, as far as its signature says.
pub(crate) fn check(source: &Path, signature: &Signature) -> Result<()> {
    let wrong = |message: String| Err(wrong(source, signature.line, &signature.name, &message));
    // What no compiler of the crate sees knows none of its types.
    let remedy = match source.extension().is_some_and(|extension| extension == "rs") {
        true => "; where the source is a module of the crate (`mod NAME;`), any type will do",
        false => "",
    };
    let mut indices = Vec::new();
    for Param { name, kind, shape } in &signature.params {
        let reason = match (kind, shape) {
            _ if name.starts_with("warpline_") => {
                "names that begin with `warpline_` are for what is generated"
            }
            (Kind::Other, _) => {
                return wrong(format!(
                    "`{name}`: its type has no counterpart: use numbers, bool, arrays of these, and references, \
                     slices and pointers to such{remedy}"
                ));
            }
            (Kind::Value(of), ArgShape::Index) if of.is_integer() => {
                indices.push((name, of.name));
                continue;
            }
            (Kind::Value(of), ArgShape::Consecutive) if of.is_integer() => continue,
            (_, ArgShape::Index | ArgShape::Consecutive) => "an index is an integer",
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
            wrong(format!("its result has no counterpart: return a number or a bool{remedy}"))
        }
        _ => Ok(()),
    }
}

/// Checks that machine code passes parameters and result as the signature says: in C it is only a promise.
pub(crate) fn fits(source: &Path, signature: &Signature, compiled: &Compiled) -> Result<()> {
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
            return Err(wrong(source, signature.line, &signature.name, &message));
        }
    }
    let result = signature.result.flatten().map_or(Type::Void, passed);
    if types.next().is_some() || func.ret != result {
        let message =
            "the compiler knows another number of parameters or another result than the signature".to_owned();
        return Err(wrong(source, signature.line, &signature.name, &message));
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
