//! What becomes of a kernel's parameters, for the compiled kernel and for the function over a range.
//!
//! Numbers are passed as they are. Whatever else a kernel takes by value is read through a pointer, and what it
//! returns is written through one, to the lane's element: so warpline needs to know no type but its size, which the
//! compiler says.

use proc_macro::{Delimiter, TokenStream, TokenTree};

use crate::function::{Function, Wrong};
use crate::tokens::{as_name, is, replace, word};
use crate::words::Words;

const NUMBERS: [&str; 13] =
    ["bool", "i8", "u8", "i16", "u16", "i32", "u32", "f32", "i64", "u64", "f64", "isize", "usize"];

/// How a parameter is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pass {
    /// The number of the lane's element.
    Index,
    /// A number that is the same for all lanes, or goes up with them.
    Number,
    /// A number for each lane.
    Numbers,
    /// A value that is the same for all lanes.
    Value,
    /// A value for each lane.
    Values,
    /// A reference to the lane's element.
    Element {
        /// Whether it is `&mut`.
        mutable: bool,
    },
    /// A reference that is the same for all lanes.
    Reference {
        /// Whether it is `&mut`.
        mutable: bool,
    },
    /// A slice, the same for all lanes.
    Slice {
        /// Whether it is `&mut`.
        mutable: bool,
    },
    /// A pointer.
    Pointer,
}

/// A parameter.
pub(crate) struct Passed {
    /// Its name.
    pub name: String,
    /// Its pattern.
    pub pattern: TokenStream,
    /// Its type.
    pub ty: TokenStream,
    /// The type of the elements that a reference leads to, or a slice has; else the type.
    pub of: TokenStream,
    /// How it is passed.
    pub pass: Pass,
    /// Its shape, if it is passed as one value of machine code.
    pub shape: String,
    /// Which of the layouts that of its elements is.
    pub layout: Option<usize>,
}

/// A kernel, or an instance of a generic one.
pub(crate) struct Interface {
    /// The instance's name.
    pub instance: String,
    /// Its parameters.
    pub params: Vec<Passed>,
    /// The type of its result, if it has one.
    pub result: Option<TokenStream>,
    /// Whether the result is a number.
    pub returns_number: bool,
    /// Which of the layouts that of the result is.
    pub result_layout: usize,
    /// The types whose layouts matter.
    pub layouts: Vec<TokenStream>,
    /// The body.
    pub body: TokenStream,
    /// Whether lanes are threads whose races are accepted.
    pub racy: bool,
    /// Options and values.
    pub options: Vec<(String, String)>,
    /// What generic parameters are.
    pub generics: Vec<TokenStream>,
}

impl Interface {
    /// What becomes of a function, as the attribute says.
    pub(crate) fn new(function: &Function, words: &Words) -> Result<Interface, Wrong> {
        let instance = words
            .generics
            .iter()
            .fold(function.name.to_string(), |name, (_, ty)| format!("{name}_{}", as_name(ty)));
        let concrete = |tokens: &[TokenTree]| replace(tokens.iter().cloned().collect(), &words.generics);
        for (name, _) in &words.shapes {
            if function.params.iter().all(|param| param.name != *name) {
                let names: Vec<&str> = function.params.iter().map(|param| param.name.as_str()).collect();
                let message =
                    format!("`{}` has no parameter `{name}`; there are {}", function.name, names.join(", "));
                return Err((function.name.span(), message));
            }
        }
        let (mut params, mut layouts) = (Vec::new(), Vec::new());
        for param in &function.params {
            let ty: Vec<TokenTree> = concrete(&param.ty).into_iter().collect();
            let given =
                words.shapes.iter().find(|(name, _)| *name == param.name).map(|(_, shape)| shape.as_str());
            let (pass, of) = pass(&ty, given).map_err(|reason| {
                (function.name.span(), format!("kernel `{}`: `{}`: {reason}", function.name, param.name))
            })?;
            if param.name.starts_with("warpline_") {
                let message = format!(
                    "kernel `{}`: `{}`: names that begin with `warpline_` are for what is generated",
                    function.name, param.name
                );
                return Err((function.name.span(), message));
            }
            let of: TokenStream = of.into_iter().collect();
            let has_layout = !matches!(pass, Pass::Index | Pass::Number | Pass::Numbers);
            let layout = has_layout.then(|| {
                layouts.push(of.clone());
                layouts.len() - 1
            });
            params.push(Passed {
                name: param.name.clone(),
                pattern: param.pattern.iter().cloned().collect(),
                ty: ty.into_iter().collect(),
                of,
                pass,
                shape: given.unwrap_or("uniform").to_owned(),
                layout,
            });
        }
        if params.iter().all(|param| param.pass != Pass::Index) {
            let message = format!(
                "kernel `{}`: no parameter is the index: write `#[warpline_lanes::kernel(NAME = index)]`",
                function.name
            );
            return Err((function.name.span(), message));
        }
        let result: Vec<TokenTree> = concrete(&function.result).into_iter().collect();
        let returns_number = is_number(&result);
        let result: Option<TokenStream> = (!result.is_empty()).then(|| result.into_iter().collect());
        let result_layout = layouts.len();
        layouts.extend(result.clone());
        Ok(Interface {
            instance,
            params,
            result,
            returns_number,
            result_layout,
            layouts,
            body: replace(TokenTree::Group(function.body.clone()).into(), &words.generics),
            racy: words.racy,
            options: words.options.clone(),
            generics: words.generics.iter().map(|(_, tokens)| tokens.iter().cloned().collect()).collect(),
        })
    }

    /// Shapes as machine code has the parameters; `element K` stands for a reference to elements of layout K, `context`
    /// for a pointer to what is done when a lane panics.
    pub(crate) fn shapes(&self, has_receiver: bool) -> String {
        let mut list: Vec<String> = Vec::new();
        if has_receiver {
            list.push("uniform".to_owned());
        }
        if crate::table::is_for_script() {
            list.push("context".to_owned());
        }
        for Passed { pass, shape, layout, .. } in &self.params {
            let layout = layout.unwrap_or_default();
            match pass {
                Pass::Index => list.push("index".to_owned()),
                Pass::Number | Pass::Numbers | Pass::Pointer => list.push(shape.clone()),
                Pass::Values | Pass::Element { .. } => list.push(format!("element {layout}")),
                Pass::Value | Pass::Reference { .. } => list.push("uniform".to_owned()),
                Pass::Slice { .. } => list.extend(["uniform".to_owned(), "uniform".to_owned()]),
            }
        }
        if self.result.is_some() && !self.returns_number {
            list.push(format!("element {}", self.result_layout));
        }
        list.join(",")
    }

    /// Whether only who promises something may run it over a range.
    pub(crate) fn is_unsafe(&self, function: &Function) -> bool {
        function.is_unsafe || self.racy || self.params.iter().any(|param| param.pass == Pass::Pointer)
    }
}

fn is_number(ty: &[TokenTree]) -> bool {
    matches!(ty, [one] if word(one).is_some_and(|name| NUMBERS.contains(&&*name)))
}

/// How a parameter of a type is passed, and the type of its elements.
fn pass(ty: &[TokenTree], given: Option<&str>) -> Result<(Pass, Vec<TokenTree>), &'static str> {
    let whole = || ty.to_vec();
    match ty {
        [and, rest @ ..] if is(and, '&') => {
            let rest = match rest {
                [quote, TokenTree::Ident(_), rest @ ..] if is(quote, '\'') => rest,
                rest => rest,
            };
            let (mutable, rest) = match rest {
                [first, rest @ ..] if word(first).as_deref() == Some("mut") => (true, rest),
                rest => (false, rest),
            };
            if let [TokenTree::Group(group)] = rest
                && group.delimiter() == Delimiter::Bracket
            {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                if !inner.iter().any(|token| is(token, ';')) {
                    return match given {
                        None | Some("uniform") => Ok((Pass::Slice { mutable }, inner)),
                        _ => Err("all lanes get the same slice; a lane's own element is a reference, `&T`"),
                    };
                }
            }
            match given {
                None => Ok((Pass::Element { mutable }, rest.to_vec())),
                Some("uniform") => Ok((Pass::Reference { mutable }, rest.to_vec())),
                Some("varying") => Err("references cannot vary freely: pass a slice and an index into it"),
                Some("index") => Err("an index is an integer"),
                Some(_) => Err("the lanes' references lead to neighbours in a slice: leave the shape out"),
            }
        }
        [star, _, rest @ ..] if is(star, '*') => match given {
            Some("varying") => Err("references cannot vary freely: pass a slice and an index into it"),
            Some("index") => Err("an index is an integer"),
            _ => Ok((Pass::Pointer, rest.to_vec())),
        },
        _ => match (given, is_number(ty)) {
            (Some("index"), _) => Ok((Pass::Index, whole())),
            (Some("varying"), true) => Ok((Pass::Numbers, whole())),
            (_, true) => Ok((Pass::Number, whole())),
            (Some("varying"), false) => Ok((Pass::Values, whole())),
            (None | Some("uniform"), false) => Ok((Pass::Value, whole())),
            _ => Err("only numbers have strides"),
        },
    }
}
