//! What the user says of a function's arguments: `i=index,out=uniform`, or `index,uniform`.

use std::fmt;

use super::Shape;
use warpline_ir::{Function, Module, Type};

/// The shape of an argument, as it is written on the command line and in comment lines of the input.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum ArgShape {
    /// `uniform`: all lanes get the same value.
    Uniform,
    /// `varying`: each lane gets its own.
    Varying,
    /// `index`: lane 0's value plus the lane number, without wrapping. Integers only.
    Index,
    /// `consecutive`: as `index`, of numbers that a driver is passed the first of. Integers only.
    Consecutive,
    /// `stride(N)`: lane 0's value plus the lane number times N (bytes, for a pointer), modulo the width.
    Stride(i64),
}

impl ArgShape {
    /// Reads one shape.
    pub fn parse(text: &str) -> Option<ArgShape> {
        let text = text.trim();
        match text {
            "uniform" => Some(ArgShape::Uniform),
            "varying" => Some(ArgShape::Varying),
            "index" => Some(ArgShape::Index),
            "consecutive" => Some(ArgShape::Consecutive),
            _ => {
                let number = text.strip_prefix("stride(")?.strip_suffix(')')?;
                Some(ArgShape::Stride(number.trim().parse().ok()?))
            }
        }
    }

    /// What it says of a value of this type; `None` if it makes no sense there.
    pub fn shape(self, module: &Module, ty: Type) -> Option<Shape> {
        match (self, ty) {
            (ArgShape::Uniform, _) => Some(Shape::Uniform),
            (ArgShape::Varying, _) => Some(Shape::Varying),
            (ArgShape::Index | ArgShape::Consecutive, Type::Int(_)) => Some(Shape::INDEX),
            (ArgShape::Stride(n), Type::Int(width)) => Some(Shape::stride(n, width)),
            (ArgShape::Stride(n), Type::Ptr(space)) => {
                Some(Shape::stride(n, module.layout.index_bits(space)))
            }
            _ => None,
        }
    }
}

impl fmt::Display for ArgShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgShape::Uniform => f.write_str("uniform"),
            ArgShape::Varying => f.write_str("varying"),
            ArgShape::Index => f.write_str("index"),
            ArgShape::Consecutive => f.write_str("consecutive"),
            ArgShape::Stride(n) => write!(f, "stride({n})"),
        }
    }
}

/// What is wrong with a list of argument shapes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ArgError {
    /// Not a shape.
    Shape(String),
    /// The function has no parameter of this name.
    Unknown {
        /// The name.
        name: String,
        /// The names that it could have been.
        known: Vec<String>,
    },
    /// More positional shapes than parameters.
    TooMany {
        /// Number of parameters.
        parameters: usize,
    },
    /// Two shapes for one parameter.
    Twice(String),
    /// The parameter's type has no such shape.
    Type {
        /// The parameter.
        name: String,
        /// The shape.
        shape: ArgShape,
    },
}

impl fmt::Display for ArgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgError::Shape(text) => {
                write!(f, "`{text}` is no shape: use uniform, varying, index or stride(N)")
            }
            ArgError::Unknown { name, known } if known.is_empty() => {
                write!(f, "no parameter is called `{name}`: the function has none")
            }
            ArgError::Unknown { name, known } => {
                write!(f, "no parameter is called `{name}`; there are {}", known.join(", "))
            }
            ArgError::TooMany { parameters } => {
                write!(f, "more shapes than parameters: the function has {parameters}")
            }
            ArgError::Twice(name) => write!(f, "two shapes for parameter `{name}`"),
            ArgError::Type { name, shape: ArgShape::Index } => {
                write!(f, "parameter `{name}` cannot be an index: it is not an integer")
            }
            ArgError::Type { name, shape } => {
                write!(
                    f,
                    "parameter `{name}` cannot have the shape {shape}: it is neither integer nor pointer"
                )
            }
        }
    }
}

impl std::error::Error for ArgError {}

/// Reads a list of shapes for a function's parameters: `name=shape` or a shape for the next position, separated by
/// commas. Names may have a `%` in front; a parameter without a name is called `%v` and its number, as in
/// messages. `None` for parameters that are not mentioned.
pub fn parse_args(list: &str, module: &Module, func: &Function) -> Result<Vec<Option<ArgShape>>, ArgError> {
    let names: Vec<String> = func.params.iter().map(|&p| func.value_name(p)).collect();
    let mut shapes = vec![None; names.len()];
    let mut next = 0;
    for item in list.split(',').map(str::trim).filter(|i| !i.is_empty()) {
        let (index, text) = match item.split_once('=') {
            Some((name, text)) => {
                let name = name.trim().trim_start_matches('%');
                let Some(index) = names.iter().position(|n| &n[1..] == name) else {
                    return Err(ArgError::Unknown { name: name.into(), known: names });
                };
                (index, text.trim())
            }
            None => {
                next += 1;
                (next - 1, item)
            }
        };
        let shape = ArgShape::parse(text).ok_or_else(|| ArgError::Shape(text.into()))?;
        let Some(slot) = shapes.get_mut(index) else {
            return Err(ArgError::TooMany { parameters: names.len() });
        };
        if slot.is_some() {
            return Err(ArgError::Twice(names[index].clone()));
        }
        if shape.shape(module, func.ty(func.params[index])).is_none() {
            return Err(ArgError::Type { name: names[index].clone(), shape });
        }
        *slot = Some(shape);
    }
    Ok(shapes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function() -> (Module, Function) {
        let mut func = Function::new("f", Type::Void);
        func.add_param(Type::Int(32), "i");
        func.add_param(Type::PTR, "out");
        func.add_param(Type::F32, "");
        (Module::new("m"), func)
    }

    fn parse(list: &str) -> Result<Vec<Option<ArgShape>>, ArgError> {
        let (module, func) = function();
        parse_args(list, &module, &func)
    }

    #[test]
    fn names_positions_and_strides_are_read() {
        let (i, u, v) = (Some(ArgShape::Index), Some(ArgShape::Uniform), Some(ArgShape::Varying));
        assert_eq!(parse("i=index, out=uniform"), Ok(vec![i, u, None]));
        assert_eq!(parse("index,uniform,varying"), Ok(vec![i, u, v]));
        assert_eq!(
            parse("stride(-4), %out = stride( 16 )"),
            Ok(vec![Some(ArgShape::Stride(-4)), Some(ArgShape::Stride(16)), None])
        );
        assert_eq!(parse("v2=varying"), Ok(vec![None, None, v]));
        assert_eq!(parse(""), Ok(vec![None; 3]));
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let message = |list: &str| parse(list).expect_err("an error").to_string();
        assert_eq!(message("linear"), "`linear` is no shape: use uniform, varying, index or stride(N)");
        assert_eq!(message("n=index"), "no parameter is called `n`; there are %i, %out, %v2");
        assert_eq!(
            message("index,uniform,varying,varying"),
            "more shapes than parameters: the function has 3"
        );
        assert_eq!(message("index,i=index"), "two shapes for parameter `%i`");
        assert_eq!(message("out=index"), "parameter `%out` cannot be an index: it is not an integer");
        assert_eq!(
            message("v2=stride(4)"),
            "parameter `%v2` cannot have the shape stride(4): it is neither integer nor pointer"
        );
    }
}
