//! What kernels look like to Rust: their names, parameters and results, as the source says.
//!
//! In Rust a kernel is a function with the attribute `warpline_lanes::kernel`. In C, a comment line stands in front
//! of it that says the same in Rust's words:
//!
//! ```text
//! //@ rust #[kernel(i = index)] fn saxpy(i: i32, a: f32, x: &f32, y: &mut f32)
//! ```

use std::path::Path;

use syn::spanned::Spanned as _;
use warpline_uniformity::shape::ArgShape;

use crate::error::{Error, Result};

/// A number or boolean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Primitive {
    /// Rust's name.
    pub name: &'static str,
    /// Its size in memory in bytes; of `usize` and `isize` on the targets that are served.
    pub bytes: u64,
}

const PRIMITIVES: [Primitive; 13] = [
    Primitive { name: "bool", bytes: 1 },
    Primitive { name: "i8", bytes: 1 },
    Primitive { name: "u8", bytes: 1 },
    Primitive { name: "i16", bytes: 2 },
    Primitive { name: "u16", bytes: 2 },
    Primitive { name: "i32", bytes: 4 },
    Primitive { name: "u32", bytes: 4 },
    Primitive { name: "f32", bytes: 4 },
    Primitive { name: "i64", bytes: 8 },
    Primitive { name: "u64", bytes: 8 },
    Primitive { name: "f64", bytes: 8 },
    Primitive { name: "isize", bytes: 8 },
    Primitive { name: "usize", bytes: 8 },
];

impl Primitive {
    /// Whether it is a whole number.
    pub fn is_integer(self) -> bool {
        self.name != "bool" && !self.name.starts_with('f')
    }
}

/// What a reference, slice or pointer leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Element {
    /// Rust's name of the type.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The type of a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A number or boolean.
    Value(Primitive),
    /// `&T` or `&mut T`.
    Reference(Element, bool),
    /// `&[T]` or `&mut [T]`.
    Slice(Element, bool),
    /// `*const T` or `*mut T`.
    Pointer(Element, bool),
    /// Anything else.
    Other,
}

/// A parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Kind,
    /// What it is to the lanes.
    pub shape: ArgShape,
}

/// A kernel as Rust sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Its name.
    pub name: String,
    /// The name, and behind it what generic parameters are.
    pub instance: String,
    /// The line of the source that says so, from 1.
    pub line: u32,
    /// Whether everybody may call it who can name its module.
    pub is_public: bool,
    /// The modules of the file that it is in, and whether others may name them.
    pub modules: Vec<(String, bool)>,
    /// Attributes `cfg` of it and of these modules.
    pub cfgs: String,
    /// Whether it stands in an `impl`.
    pub in_impl: bool,
    /// What is to be done with it, as on the command line: options and their values.
    pub options: Vec<(String, String)>,
    /// Whether it is an `unsafe fn`.
    pub is_unsafe: bool,
    /// Whether its lanes are threads whose races are accepted.
    pub racy: bool,
    /// Its parameters.
    pub params: Vec<Param>,
    /// What it returns: nothing, or something that may not be known here.
    pub result: Option<Option<Primitive>>,
}

impl Signature {
    /// Whether the function that runs it over a range can be a safe one: then nothing that it is passed may do harm.
    pub fn is_safe(&self) -> bool {
        let has_pointer = self.params.iter().any(|param| matches!(param.kind, Kind::Pointer(..)));
        !self.is_unsafe && !self.racy && !has_pointer
    }

    /// The shapes of the parameters as machine code has them, as on the command line: a slice is a pointer and a
    /// length.
    pub fn args(&self) -> String {
        let mut list: Vec<String> = Vec::new();
        for param in &self.params {
            match param.kind {
                Kind::Slice(..) => list.extend(["uniform".to_owned(), "uniform".to_owned()]),
                _ => list.push(param.shape.to_string()),
            }
        }
        list.join(",")
    }
}

/// The kernels that a source marks; none in a file that is no source, or that cannot be read as Rust, about which the
/// compiler has better words.
///
/// # Errors
/// If what is said of a kernel does not fit it, with the line.
pub fn read(path: &Path) -> Result<Vec<Signature>> {
    let Ok(bytes) = std::fs::read(path) else { return Ok(Vec::new()) };
    let text = String::from_utf8_lossy(&bytes);
    let parse = match path.extension().and_then(|extension| extension.to_str()) {
        Some("rs") if text.contains("kernel") => in_rust,
        Some("c" | "cc" | "cpp" | "cxx" | "cl") if text.contains("//@") => in_comments,
        _ => return Ok(Vec::new()),
    };
    let found = on_a_large_stack(&text, parse);
    found.map_err(|(line, message)| Error::Directive { path: path.to_owned(), line, message })
}

/// The functions of a source in Rust that keep their names in the object file, as far as they stand outside of modules.
pub(crate) fn extern_functions(path: &Path) -> Vec<Signature> {
    if path.extension().is_none_or(|extension| extension != "rs") {
        return Vec::new();
    }
    let text = std::fs::read(path).unwrap_or_default();
    on_a_large_stack(&String::from_utf8_lossy(&text), |text| {
        let file = syn::parse_file(text).map_err(|error| (1, error.to_string()))?;
        let functions = file.items.iter().filter_map(|item| match item {
            syn::Item::Fn(function) if function.sig.abi.is_some() => Some(&function.sig),
            _ => None,
        });
        functions.map(|function| signature(function, &Words::default(), 0)).collect()
    })
    .unwrap_or_default()
}

/// Parses text with a stack in proportion to it: `syn` calls itself for whatever is nested.
fn on_a_large_stack(text: &str, parse: fn(&str) -> Found) -> Found {
    const LEAST: usize = 16 << 20;
    const BY_BYTE: usize = 4 << 10;
    const MOST: usize = 4 << 30;
    let size = text.len().saturating_mul(BY_BYTE).saturating_add(LEAST).min(MOST);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(size).spawn_scoped(scope, || parse(text));
        let outcome = thread
            .map_err(|error| error.to_string())
            .and_then(|thread| thread.join().map_err(|_| "the parser gave up".to_owned()));
        outcome.unwrap_or_else(|reason| Err((1, format!("the file cannot be read as Rust: {reason}"))))
    })
}

/// A line and what is wrong with it.
type Wrong = (u32, String);
type Found = std::result::Result<Vec<Signature>, Wrong>;

/// An item that was not looked at, the modules around it, and their attributes `cfg`.
type Open<'a> = (&'a syn::Item, Vec<(String, bool)>, String);

fn in_rust(text: &str) -> Found {
    let Ok(file) = syn::parse_file(text) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let mut open: Vec<Open<'_>> =
        file.items.iter().rev().map(|item| (item, Vec::new(), String::new())).collect();
    while let Some((item, modules, around)) = open.pop() {
        let before = found.len();
        match item {
            syn::Item::Fn(function) => {
                marked(&mut found, &function.attrs, &function.sig, &function.vis, false)?;
            }
            syn::Item::Impl(block) => {
                for item in &block.items {
                    if let syn::ImplItem::Fn(function) = item {
                        if block.trait_.is_some() {
                            in_no_trait(&function.attrs, &function.sig)?;
                        }
                        marked(&mut found, &function.attrs, &function.sig, &function.vis, true)?;
                    }
                }
            }
            syn::Item::Trait(block) => {
                for item in &block.items {
                    if let syn::TraitItem::Fn(function) = item {
                        in_no_trait(&function.attrs, &function.sig)?;
                    }
                }
            }
            syn::Item::Mod(module) => {
                let mut inner = modules.clone();
                inner.push((module.ident.to_string(), !matches!(module.vis, syn::Visibility::Inherited)));
                let items = module.content.iter().flat_map(|(_, items)| items.iter().rev());
                let around = around.clone() + &cfgs(&module.attrs);
                open.extend(items.map(|item| (item, inner.clone(), around.clone())));
            }
            _ => {}
        }
        for signature in &mut found[before..] {
            signature.modules.clone_from(&modules);
            signature.cfgs.insert_str(0, &around);
        }
    }
    Ok(found)
}

/// The attributes `cfg` among some.
pub(crate) fn cfgs(attributes: &[syn::Attribute]) -> String {
    let list = attributes.iter().filter_map(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => Some(format!("#[cfg({})] ", list.tokens)),
        _ => None,
    });
    list.collect()
}

/// Refuses a kernel in a trait or its `impl`.
fn in_no_trait(attributes: &[syn::Attribute], function: &syn::Signature) -> std::result::Result<(), Wrong> {
    if all_attributes(attributes, function).is_empty() {
        return Ok(());
    }
    let message = format!(
        "`{}` is a function of a trait, beside which nothing can be made: call a kernel in an `impl` without a trait, \
         or a free one, from it",
        function.ident
    );
    Err((function.ident.span().start().line as u32, message))
}

/// Adds the kernels that attributes make of a function.
fn marked(
    found: &mut Vec<Signature>,
    attributes: &[syn::Attribute],
    function: &syn::Signature,
    visibility: &syn::Visibility,
    in_impl: bool,
) -> std::result::Result<(), Wrong> {
    for words in all_attributes(attributes, function) {
        let is_public = matches!(visibility, syn::Visibility::Public(_));
        let words = words?;
        found.push(Signature {
            in_impl,
            is_public,
            cfgs: cfgs(attributes) + &words.cfgs,
            ..signature(function, &words, 0)?
        });
    }
    Ok(())
}

fn in_comments(text: &str) -> Found {
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let Some(words) = line.trim().strip_prefix("//@").and_then(|rest| rest.trim().strip_prefix("rust "))
        else {
            continue;
        };
        let at = i as u32 + 1;
        let words = words.trim().trim_end_matches(';');
        let function: syn::TraitItemFn = syn::parse_str(&format!("{words};")).map_err(|error| {
            (at, format!("`{words}` cannot be read as the head of a Rust function: {error}"))
        })?;
        let given = all_attributes(&function.attrs, &function.sig)
            .into_iter()
            .next()
            .unwrap_or_else(|| Ok(Words::default()))
            .map_err(|(_, text)| (at, text))?;
        found.push(signature(&function.sig, &given, i as u32).map_err(|(_, text)| (at, text))?);
    }
    Ok(found)
}

/// A name that an attribute gives a shape, and its line.
type Shape = (String, ArgShape, u32);

/// What may be said of a kernel besides its parameters.
pub const OPTIONS: [&str; 4] = ["width", "boscc", "coherence", "math_ulp"];

/// What the attribute for kernels says.
#[derive(Default)]
struct Words {
    shapes: Vec<Shape>,
    racy: bool,
    options: Vec<(String, String)>,
    /// What generic parameters are, as part of a name.
    generics: Vec<String>,
    /// Under which conditions there is the attribute, as attributes `cfg`.
    cfgs: String,
}

/// What the attributes for kernels say.
fn all_attributes(
    attributes: &[syn::Attribute],
    function: &syn::Signature,
) -> Vec<std::result::Result<Words, Wrong>> {
    let mut found = Vec::new();
    let mut open: Vec<(syn::Meta, String)> =
        attributes.iter().rev().map(|attribute| (attribute.meta.clone(), String::new())).collect();
    while let Some((meta, cfgs)) = open.pop() {
        if let syn::Meta::List(list) = &meta
            && meta.path().is_ident("cfg_attr")
        {
            let Ok(Conditional { condition, metas }) = list.parse_args() else { continue };
            let cfgs = format!("{cfgs}#[cfg({condition})] ");
            open.extend(metas.into_iter().rev().map(|meta| (meta, cfgs.clone())));
        } else if meta.path().segments.last().is_some_and(|last| last.ident == "kernel") {
            found.push(words(&meta, function).map(|words| Words { cfgs, ..words }));
        }
    }
    found
}

/// What stands in `cfg_attr`.
struct Conditional {
    condition: proc_macro2::TokenStream,
    metas: Vec<syn::Meta>,
}

impl syn::parse::Parse for Conditional {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        let Tokens(condition) = input.parse()?;
        let mut metas = Vec::new();
        while !input.is_empty() {
            input.parse::<syn::Token![,]>()?;
            if !input.is_empty() {
                metas.push(input.parse()?);
            }
        }
        Ok(Conditional { condition, metas })
    }
}

/// What an attribute says about a function.
fn words(attribute: &syn::Meta, function: &syn::Signature) -> std::result::Result<Words, Wrong> {
    let syn::Meta::List(list) = attribute else { return Ok(Words::default()) };
    let is_generic = |name: &str| {
        function.generics.params.iter().any(|param| match param {
            syn::GenericParam::Type(ty) => ty.ident == name,
            syn::GenericParam::Const(constant) => constant.ident == name,
            syn::GenericParam::Lifetime(_) => false,
        })
    };
    let mut found = Words::default();
    let outcome = list.parse_nested_meta(|one| {
        let name = one.path.require_ident()?.to_string();
        if name == "racy" && (one.input.is_empty() || one.input.peek(syn::Token![,])) {
            found.racy = true;
            return Ok(());
        }
        let input = one.value()?;
        if is_generic(&name) {
            let value: Tokens = input.parse()?;
            found.generics.push(as_name(value.0));
            return Ok(());
        }
        let value: syn::Expr = input.parse()?;
        if let Some(shape) = shape(&value) {
            found.shapes.push((name, shape, one.path.span().start().line as u32));
            return Ok(());
        }
        match option(&value).filter(|_| OPTIONS.contains(&&*name)) {
            Some(value) => found.options.push((name, value)),
            None => {
                let mut message = "the shapes are index, varying, uniform and stride(N)".to_owned();
                if !has_param(function, &name) {
                    message += &format!("; the options are {}", OPTIONS.join(", "));
                }
                return Err(syn::Error::new(value.span(), message));
            }
        }
        Ok(())
    });
    match outcome {
        Ok(()) => Ok(found),
        Err(error) => Err((error.span().start().line as u32, error.to_string())),
    }
}

/// Whether a function has a parameter of this name.
fn has_param(function: &syn::Signature, name: &str) -> bool {
    function.inputs.iter().any(|input| match input {
        syn::FnArg::Typed(typed) => matches!(&*typed.pat, syn::Pat::Ident(known) if known.ident == name),
        syn::FnArg::Receiver(_) => false,
    })
}

/// The tokens of a type or constant up to a comma.
struct Tokens(proc_macro2::TokenStream);

impl syn::parse::Parse for Tokens {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        let (mut tokens, mut depth) = (Vec::new(), 0i32);
        while !input.is_empty() && (depth > 0 || !input.peek(syn::Token![,])) {
            let token: proc_macro2::TokenTree = input.parse()?;
            if let proc_macro2::TokenTree::Punct(punct) = &token {
                depth += i32::from(punct.as_char() == '<') - i32::from(punct.as_char() == '>');
            }
            tokens.push(token);
        }
        Ok(Tokens(tokens.into_iter().collect()))
    }
}

/// The words and literals of tokens with `_` between them, as the attribute itself has them.
fn as_name(tokens: proc_macro2::TokenStream) -> String {
    let part = |token| match token {
        proc_macro2::TokenTree::Group(group) => as_name(group.stream()),
        proc_macro2::TokenTree::Punct(_) => String::new(),
        other => other.to_string().replace(|c: char| !c.is_ascii_alphanumeric(), "_"),
    };
    tokens.into_iter().map(part).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}

/// The value of an option.
fn option(value: &syn::Expr) -> Option<String> {
    match value {
        syn::Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        syn::Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Int(number) => Some(number.base10_digits().to_owned()),
            syn::Lit::Bool(yes) => Some(yes.value.to_string()),
            syn::Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

fn shape(value: &syn::Expr) -> Option<ArgShape> {
    match value {
        syn::Expr::Path(path) => ArgShape::parse(&path.path.get_ident()?.to_string()),
        syn::Expr::Call(call) => {
            let syn::Expr::Path(name) = &*call.func else { return None };
            let [step] = call.args.iter().collect::<Vec<_>>()[..] else { return None };
            let step = match step {
                syn::Expr::Lit(literal) => integer(literal)?,
                syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => match &**expr {
                    syn::Expr::Lit(literal) => integer(literal)?.checked_neg()?,
                    _ => return None,
                },
                _ => return None,
            };
            ArgShape::parse(&format!("{}({step})", name.path.get_ident()?))
        }
        _ => None,
    }
}

fn integer(literal: &syn::ExprLit) -> Option<i64> {
    match &literal.lit {
        syn::Lit::Int(number) => number.base10_parse().ok(),
        _ => None,
    }
}

/// A function's signature; `before` lines stand in front of what was parsed.
fn signature(of: &syn::Signature, words: &Words, before: u32) -> std::result::Result<Signature, Wrong> {
    let line = of.ident.span().start().line as u32 + before;
    let (given, mut params) = (&words.shapes, Vec::new());
    for input in &of.inputs {
        let syn::FnArg::Typed(typed) = input else {
            params.push(Param { name: "self".to_owned(), kind: Kind::Other, shape: ArgShape::Uniform });
            continue;
        };
        let name = match &*typed.pat {
            syn::Pat::Ident(name) => name.ident.to_string(),
            _ => format!("parameter{}", params.len()),
        };
        let kind = kind(&typed.ty);
        let given = given.iter().find(|(known, ..)| *known == name).map(|&(_, shape, _)| shape);
        let by_type = match &kind {
            Kind::Reference(element, _) => ArgShape::Stride(i64::try_from(element.bytes).unwrap_or(i64::MAX)),
            _ => ArgShape::Uniform,
        };
        let shape = given.unwrap_or(by_type);
        if matches!(kind, Kind::Slice(..)) && shape != ArgShape::Uniform {
            let message =
                format!("`{name}`: all lanes get the same slice; a lane's own element is a reference, `&T`");
            return Err((line, message));
        }
        params.push(Param { name, kind, shape });
    }
    if let Some((name, _, at)) = given.iter().find(|(name, ..)| params.iter().all(|p| p.name != *name)) {
        let names: Vec<&str> = params.iter().map(|p| p.name.as_str()).collect();
        let message = format!("`{}` has no parameter `{name}`; there are {}", of.ident, names.join(", "));
        return Err((*at + before, message));
    }
    let result = match &of.output {
        syn::ReturnType::Default => None,
        syn::ReturnType::Type(_, ty) => match &**ty {
            syn::Type::Tuple(unit) if unit.elems.is_empty() => None,
            other => Some(primitive(other)),
        },
    };
    Ok(Signature {
        name: of.ident.to_string(),
        instance: words.generics.iter().fold(of.ident.to_string(), |name, ty| format!("{name}_{ty}")),
        line,
        is_public: true,
        modules: Vec::new(),
        cfgs: String::new(),
        in_impl: false,
        options: words.options.clone(),
        is_unsafe: matches!(of.safety, syn::Safety::Unsafe(_)),
        racy: words.racy,
        params,
        result,
    })
}

fn kind(ty: &syn::Type) -> Kind {
    let known = match ty {
        syn::Type::Reference(to) => {
            let mutable = to.mutability.is_some();
            match &*to.elem {
                syn::Type::Slice(slice) => element(&slice.elem).map(|of| Kind::Slice(of, mutable)),
                one => element(one).map(|of| Kind::Reference(of, mutable)),
            }
        }
        syn::Type::Ptr(to) => element(&to.elem)
            .map(|of| Kind::Pointer(of, matches!(to.mutability, syn::PointerMutability::Mut(_)))),
        _ => primitive(ty).map(Kind::Value),
    };
    known.unwrap_or(Kind::Other)
}

fn primitive(ty: &syn::Type) -> Option<Primitive> {
    let syn::Type::Path(path) = ty else { return None };
    let name = path.path.get_ident()?;
    PRIMITIVES.into_iter().find(|one| name == one.name)
}

fn element(ty: &syn::Type) -> Option<Element> {
    if let Some(one) = primitive(ty) {
        return Some(Element { name: one.name.to_owned(), bytes: one.bytes });
    }
    let syn::Type::Array(array) = ty else { return None };
    let of = element(&array.elem)?;
    let syn::Expr::Lit(length) = &array.len else { return None };
    let length = u64::try_from(integer(length)?).ok()?;
    Some(Element { name: format!("[{}; {length}]", of.name), bytes: of.bytes.checked_mul(length)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_get_shapes_by_attribute_and_by_type() {
        let text = "use warpline_lanes::kernel;\nfn helper() {}\n\n#[kernel(i = index, x = varying, k = stride(-2))]\n\
                    pub unsafe fn f(i: u32, a: f32, x: f64, k: i32, y: &[f32; 3], z: &mut [u8], p: *const i32) \
                     -> bool { true }\n";
        let found = in_rust(text).unwrap();
        assert_eq!(found.len(), 1);
        let f = &found[0];
        assert_eq!((f.name.as_str(), f.line, f.is_unsafe), ("f", 5, true));
        assert_eq!(f.args(), "index,uniform,varying,stride(-2),stride(12),uniform,uniform,uniform");
        assert_eq!(f.result, Some(Some(PRIMITIVES[0])));
        assert_eq!(f.params[4].kind, Kind::Reference(Element { name: "[f32; 3]".into(), bytes: 12 }, false));
    }

    #[test]
    fn only_what_can_do_no_harm_is_safe() {
        let is_safe = |text: &str| in_rust(text).unwrap()[0].is_safe();
        assert!(is_safe("#[kernel(i = index)] fn f(i: u32, x: &mut f32) {}"));
        assert!(!is_safe("#[kernel(racy, i = index)] fn f(i: u32, x: &mut f32) {}"));
        assert!(!is_safe("#[kernel(i = index, racy)] fn f(i: u32, x: &mut f32) {}"));
        assert!(!is_safe("#[kernel(i = index)] unsafe fn f(i: u32, x: &mut f32) {}"));
        assert!(!is_safe("#[kernel(i = index)] fn f(i: u32, x: *mut f32) {}"));
        // A parameter may be called so.
        let found = in_rust("#[kernel(racy = varying, i = index)] fn f(i: u32, racy: f32) {}").unwrap();
        assert!(found[0].is_safe() && found[0].args() == "index,varying");
    }

    #[test]
    fn kernels_in_modules_are_found_and_deep_nesting_is_borne() {
        let text = "mod a { #[kernel(i = index)] fn one(i: u8) {} mod b { #[kernel] fn two() {} } }\n#[kernel] \
         fn three() {}\n";
        let names: Vec<_> = in_rust(text).unwrap().into_iter().map(|found| found.name).collect();
        assert_eq!(names, ["one", "two", "three"]);
        let deep = |n: usize| format!("#[kernel] fn f() {{ {}1{}; }}\n", "(".repeat(n), ")".repeat(n));
        assert_eq!(on_a_large_stack(&deep(20_000), in_rust).unwrap().len(), 1);
        let types = format!("//@ rust fn f(x: {}f32)", "&".repeat(20_000));
        assert_eq!(on_a_large_stack(&types, in_comments).unwrap().len(), 1);
    }

    #[test]
    fn kernels_under_conditions_are_found_with_these() {
        let text = "#[cfg_attr(all(unix, feature = \"fast\"), inline, warpline_lanes::kernel(i = index))]\n\
                    #[cfg(debug_assertions)]\nfn f(i: u32, y: &mut u32) {}\n\
                    #[cfg_attr(unix, cfg_attr(windows, kernel))] fn g() {}\n#[cfg_attr(unix, inline)] fn h() {}\n";
        let found = in_rust(text).unwrap();
        let cfgs: Vec<(&str, String)> =
            found.iter().map(|f| (f.name.as_str(), f.cfgs.replace(' ', ""))).collect();
        let of_f = "#[cfg(debug_assertions)]#[cfg(all(unix,feature=\"fast\"))]".to_owned();
        assert_eq!(cfgs, [("f", of_f), ("g", "#[cfg(unix)]#[cfg(windows)]".to_owned())]);
        assert_eq!(found[0].args(), "index,stride(4)");
    }

    #[test]
    fn kernels_of_traits_are_refused_with_their_line() {
        for text in
            ["\nimpl T for S {\n#[kernel] fn f() {} }", "\ntrait T {\n#[kernel(i = index)] fn f(i: u8) {} }"]
        {
            let (line, message) = in_rust(text).unwrap_err();
            assert!(line == 3 && message.contains("`f` is a function of a trait"), "{message}");
        }
        assert!(in_rust("impl T for S { fn f() {} }").unwrap().is_empty());
    }

    #[test]
    fn c_says_in_a_comment_what_rust_sees() {
        let text = "#include <math.h>\n//@ rust #[kernel(i = index)] fn saxpy(i: i32, x: &f32);\nvoid saxpy(int \
         i, const float *x);\n";
        let found = in_comments(text).unwrap();
        assert_eq!((found[0].line, found[0].args().as_str()), (2, "index,stride(4)"));
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let rust = |text: &str| in_rust(text).unwrap_err();
        let (line, text) = rust("\n#[kernel(j = index)]\nfn f(i: u32) {}\n");
        assert_eq!((line, text.as_str()), (2, "`f` has no parameter `j`; there are i"));
        let (line, text) = rust("#[kernel(i = indexx)]\nfn f(i: u32) {}\n");
        assert_eq!((line, text.as_str()), (1, "the shapes are index, varying, uniform and stride(N)"));
        let (_, text) = rust("#[kernel(x = varying)]\nfn f(x: &[f32]) {}\n");
        assert!(text.contains("a lane's own element is a reference"), "{text}");
        let (line, text) = in_comments("\n//@ rust saxpy(i: i32)\n").unwrap_err();
        assert!(line == 2 && text.contains("head of a Rust function"), "{text}");
    }
}
