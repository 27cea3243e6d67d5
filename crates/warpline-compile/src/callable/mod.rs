//! What the functions of compiled code take and return, for those who call them.

mod lengths;

use std::fmt;
use std::path::Path;

use warpline_ir::{FloatKind, Function, Scalar, Type};
use warpline_llvm::Imported;
use warpline_uniformity::shape::ArgShape;

use crate::header::Parameters;
use crate::number::Number;
use crate::signature::{self, Kind};
use crate::source_types::{Meaning, SourceTypes};
use crate::vectorize::Compiled;

pub(crate) use lengths::Length;

/// What a parameter takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Takes {
    /// A number.
    Number { number: Number, any_sign: bool },
    /// A pointer to numbers; `None`: to whatever there is.
    Pointer { to: Option<Number>, writes: bool },
    /// A pointer and how many elements there are, in two words.
    Slice { to: Option<Number>, writes: bool },
}

/// A parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) takes: Takes,
    /// How many numbers a pointer must lead to, where that is known.
    pub(crate) length: Option<Length>,
}

/// A function that can be called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Its name.
    pub name: String,
    pub(crate) params: Vec<Parameter>,
    pub(crate) result: Option<Number>,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params: Vec<String> =
            self.params.iter().map(|one| format!("{}: {}", one.name, one.describe())).collect();
        write!(f, "{}({})", self.name, params.join(", "))?;
        self.result.map_or(Ok(()), |result| write!(f, " -> {result}"))
    }
}

impl Parameter {
    /// What is to be passed, as Rust writes it.
    pub(crate) fn describe(&self) -> String {
        let slice = |to: Option<Number>, writes: bool| {
            let to = to.map_or("_".to_owned(), |to| to.to_string());
            format!("&{}[{to}]", if writes { "mut " } else { "" })
        };
        match self.takes {
            Takes::Number { number, .. } => number.to_string(),
            Takes::Pointer { to, writes } | Takes::Slice { to, writes } => slice(to, writes),
        }
    }
}

/// A function, or why it cannot be called with arguments that are checked.
pub(crate) type Callable = (String, Result<Signature, String>);

/// All functions of a module that others can call.
pub(crate) fn of_module(path: &Path, imported: &Imported, types: &SourceTypes) -> Vec<Callable> {
    let rust = signature::extern_functions(path);
    let said = lengths_of(path);
    let mut all = Vec::new();
    for function in imported.ir.functions.values() {
        let seen = imported.bridge.module().seen(&function.name);
        if !seen.visible || function.layout.is_empty() {
            continue;
        }
        let name = function.name.to_string();
        let rust = rust.iter().find(|one| one.name == name);
        let made = match rust {
            _ if seen.passed_otherwise => {
                Err("it is passed or returns what is no number or pointer".to_owned())
            }
            Some(rust) => of_rust(&name, rust, Vec::new(), None).and_then(|made| made.fits(function)),
            None => of_function(types, function),
        };
        let lengths = said.get(&name);
        all.push((name, made.map(|made| made.with_lengths(lengths))));
    }
    all
}

/// The drivers over ranges of kernels.
pub(crate) fn of_kernels(path: &Path, types: &SourceTypes, kernels: &[Compiled]) -> Vec<Callable> {
    let rust = signature::read(path).unwrap_or_default();
    let said = lengths_of(path);
    let of = |compiled: &Compiled| {
        let name = &compiled.kernel.name;
        let rust = rust.iter().find(|one| one.instance == *name);
        let Some(range) = compiled.drivers.range.clone().filter(|_| compiled.drivers.ndrange.is_none())
        else {
            let why =
                "kernels over work-items are called by address, with the arguments that their header says";
            return compiled.drivers.names().next().map(|driver| (driver.to_owned(), Err(why.to_owned())));
        };
        let made = match rust {
            Some(rust) => {
                let result = rust.result.flatten().map(|one| one.name);
                of_rust(&range, rust, range_of_indices(), result)
            }
            None => of_range(&range, types, compiled),
        };
        Some((range, made.map(|made| made.with_lengths(said.get(name)))))
    };
    kernels.iter().filter_map(of).collect()
}

/// The lengths that a source in C says.
fn lengths_of(path: &Path) -> std::collections::HashMap<String, std::collections::HashMap<String, Length>> {
    match path.extension().is_some_and(|extension| extension == "c") {
        true => lengths::read(&String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default())),
        false => Default::default(),
    }
}

/// The first parameters of drivers over ranges.
fn range_of_indices() -> Vec<Parameter> {
    let bound = |name: &str| Parameter {
        name: name.to_owned(),
        takes: Takes::Number { number: Number::I64, any_sign: true },
        length: None,
    };
    vec![bound("begin"), bound("end")]
}

/// How many elements there are if there is one for each index.
fn one_each() -> Length {
    Length::Subtract(Box::new((Length::Parameter("end".into()), Length::Parameter("begin".into()))))
}

impl Signature {
    /// With the lengths that the source says, where none is known.
    fn with_lengths(mut self, said: Option<&std::collections::HashMap<String, Length>>) -> Signature {
        let names: Vec<String> = self.params.iter().map(|one| one.name.clone()).collect();
        for one in &mut self.params {
            let length = said.and_then(|said| said.get(&one.name));
            let known =
                |length: &&Length| length.parameters().iter().all(|name| names.iter().any(|own| own == name));
            if let (Takes::Pointer { .. }, None) = (&one.takes, &one.length) {
                one.length = length.filter(known).cloned();
            }
        }
        self
    }

    /// Itself, if LLVM passes as many numbers and pointers of these sizes.
    fn fits(self, function: &Function) -> Result<Signature, String> {
        let words = self.params.iter().flat_map(|one| match one.takes {
            Takes::Number { number, .. } => vec![number.in_llvm().0],
            Takes::Pointer { .. } => vec!["ptr"],
            Takes::Slice { .. } => vec!["ptr", "i64"],
        });
        let own = function.params.iter().map(|&p| in_llvm(function.ty(p)));
        let result = self.result.map_or(Some("void"), |result| Some(result.in_llvm().0));
        let fits = words.map(Some).eq(own) && result == in_llvm(function.ret);
        if fits { Ok(self) } else { Err("its parameters are not what LLVM passes".to_owned()) }
    }
}

/// What LLVM calls the type of a number or pointer.
fn in_llvm(ty: Type) -> Option<&'static str> {
    Some(match ty {
        Type::Void => "void",
        Type::Vector(_) => return None,
        _ => match ty.scalar()? {
            Scalar::Int(1) => "i1",
            Scalar::Int(8) => "i8",
            Scalar::Int(16) => "i16",
            Scalar::Int(32) => "i32",
            Scalar::Int(64) => "i64",
            Scalar::Float(FloatKind::Float) => "float",
            Scalar::Float(FloatKind::Double) => "double",
            Scalar::Ptr(_) => "ptr",
            _ => return None,
        },
    })
}

/// What a parameter takes by what is known of it: by the source, or by LLVM alone, which knows no signs.
fn takes(meaning: Option<Meaning>, ty: Type) -> Option<Takes> {
    let fits = |number: Number| in_llvm(ty) == Some(number.in_llvm().0);
    match (meaning, in_llvm(ty)?) {
        (Some(Meaning::Pointer { to, constant }), "ptr") => Some(Takes::Pointer { to, writes: !constant }),
        (Some(Meaning::Number { number, any_sign }), _) if fits(number) => {
            Some(Takes::Number { number, any_sign })
        }
        (_, "ptr") => Some(Takes::Pointer { to: None, writes: true }),
        // How smaller ones fill a register depends on their sign.
        (_, "i32") => Some(Takes::Number { number: Number::I32, any_sign: true }),
        (_, "i64") => Some(Takes::Number { number: Number::I64, any_sign: true }),
        (_, "float") => Some(Takes::Number { number: Number::F32, any_sign: false }),
        (_, "double") => Some(Takes::Number { number: Number::F64, any_sign: false }),
        _ => None,
    }
}

fn parameter(own: &Parameters<'_>, i: usize, ty: Type) -> Result<Parameter, String> {
    let name = own.name(i).to_owned();
    match takes(own.meaning(i, ty), ty) {
        Some(takes) => Ok(Parameter { name, takes, length: None }),
        None => Err(format!("its parameter `{name}` is no number or pointer whose type is known")),
    }
}

/// A function as it stands in the source.
fn of_function(types: &SourceTypes, function: &Function) -> Result<Signature, String> {
    let known = types.function(&function.name);
    if known.as_ref().is_some_and(|known| known.variadic) {
        return Err("how many arguments it takes is not fixed".to_owned());
    }
    let own = Parameters::new(types, function, known, &[], function.params.len());
    let params: Result<Vec<Parameter>, String> =
        function.params.iter().enumerate().map(|(i, &p)| parameter(&own, i, function.ty(p))).collect();
    let result = match function.ret {
        Type::Void => None,
        ty => match takes(own.meaning_of_result(), ty) {
            Some(Takes::Number { number, .. }) => Some(number),
            _ => return Err("its result is no number".to_owned()),
        },
    };
    Ok(Signature { name: function.name.to_string(), params: params?, result })
}

/// The driver over a range of a kernel.
fn of_range(name: &str, types: &SourceTypes, compiled: &Compiled) -> Result<Signature, String> {
    let func = compiled.kernel.function();
    let own = Parameters::of_kernel(types, compiled);
    let mut params = range_of_indices();
    for (i, (&p, &shape)) in func.params.iter().zip(&compiled.kernel.args).enumerate() {
        if shape == ArgShape::Index {
            continue;
        }
        let one = parameter(&own, i, func.ty(p))?;
        params.push(match (shape, &one.takes) {
            (ArgShape::Varying, Takes::Number { number, .. }) => Parameter {
                takes: Takes::Pointer { to: Some(*number), writes: false },
                length: Some(one_each()),
                ..one
            },
            (ArgShape::Varying, _) => {
                return Err(format!("its parameter `{}` is a pointer for each index", one.name));
            }
            _ => one,
        });
    }
    if !func.ret.is_void() {
        let Some(Takes::Number { number, .. }) = takes(own.meaning_of_result(), func.ret) else {
            return Err("its result is no number".to_owned());
        };
        params.push(results(number));
    }
    Ok(Signature { name: name.to_owned(), params, result: None })
}

/// The array that a driver writes the results of a kernel to.
fn results(number: Number) -> Parameter {
    let takes = Takes::Pointer { to: Some(number), writes: true };
    Parameter { name: "out".to_owned(), takes, length: Some(one_each()) }
}

/// A function by what Rust says of it; with a range of indices before its parameters, and `results` for each of them,
/// the driver of a kernel.
fn of_rust(
    name: &str,
    rust: &signature::Signature,
    before: Vec<Parameter>,
    results_of: Option<&str>,
) -> Result<Signature, String> {
    let of_range = !before.is_empty();
    let mut params = before;
    // An array of numbers is numbers: what they are, and how many.
    let numbers = |element: &signature::Element| {
        let of = element.name.trim_start_matches('[').split(';').next().and_then(Number::named);
        of.map(|of| (of, element.bytes / size_of_number(of)))
    };
    for one in &rust.params {
        if of_range && one.shape == ArgShape::Index {
            continue;
        }
        let unknown =
            || format!("the type of its parameter `{}` is no number, slice or pointer to numbers", one.name);
        let (takes, length) = match &one.kind {
            Kind::Value(value) => {
                let number = Number::named(value.name).ok_or_else(unknown)?;
                match of_range && one.shape == ArgShape::Varying {
                    true => (Takes::Pointer { to: Some(number), writes: false }, Some(one_each())),
                    false => (Takes::Number { number, any_sign: false }, None),
                }
            }
            Kind::Reference(element, writes) => {
                let (to, count) = numbers(element).ok_or_else(unknown)?;
                let count = Length::Number(count.into());
                let length = match of_range && one.shape != ArgShape::Uniform {
                    true => Length::Multiply(Box::new((one_each(), count))),
                    false => count,
                };
                (Takes::Pointer { to: Some(to), writes: *writes }, Some(length))
            }
            Kind::Slice(element, writes) => {
                let (to, count) = numbers(element).ok_or_else(unknown)?;
                if count != 1 {
                    return Err(unknown());
                }
                (Takes::Slice { to: Some(to), writes: *writes }, None)
            }
            Kind::Pointer(element, writes) => {
                let to = numbers(element).map(|(to, _)| to);
                (Takes::Pointer { to, writes: *writes }, None)
            }
            Kind::Other => return Err(unknown()),
        };
        params.push(Parameter { name: one.name.clone(), takes, length });
    }
    let result = match (&rust.result, of_range) {
        (None, _) => None,
        (Some(None), _) => return Err("its result is no number".to_owned()),
        (Some(Some(one)), false) => Number::named(one.name),
        (Some(Some(_)), true) => {
            params.extend(results_of.and_then(Number::named).map(results));
            None
        }
    };
    Ok(Signature { name: name.to_owned(), params, result })
}

fn size_of_number(number: Number) -> u64 {
    match number.in_llvm().0 {
        "i16" => 2,
        "i32" | "float" => 4,
        "i64" | "double" => 8,
        _ => 1,
    }
}
