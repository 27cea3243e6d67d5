//! The head of a function, read from tokens.

use proc_macro::{Delimiter, Group, Ident, TokenStream, TokenTree};

use crate::tokens::{is, split, word};

/// A function.
pub(crate) struct Function {
    /// Its attributes `cfg`, which all that is made of it gets.
    pub cfgs: Vec<TokenTree>,
    /// Whether it is `pub`, without restriction.
    pub is_public: bool,
    /// Whether it is an `unsafe fn`.
    pub is_unsafe: bool,
    /// Its name.
    pub name: Ident,
    /// Its generic parameters, without bounds: lifetimes, then the names of types and constants.
    pub lifetimes: Vec<String>,
    /// The names of its generic types and constants.
    pub generics: Vec<String>,
    /// Whether it has `&self` (`false`) or `&mut self` (`true`).
    pub receiver: Option<bool>,
    /// Its other parameters.
    pub params: Vec<Param>,
    /// The type of its result.
    pub result: Vec<TokenTree>,
    /// Its body.
    pub body: Group,
}

/// A parameter.
pub(crate) struct Param {
    /// Its name, or one that is made up.
    pub name: String,
    /// The pattern.
    pub pattern: Vec<TokenTree>,
    /// The type.
    pub ty: Vec<TokenTree>,
}

/// What is wrong with an item that is to be a kernel.
pub(crate) type Wrong = (proc_macro::Span, String);

impl Function {
    /// Reads a function.
    pub(crate) fn read(item: TokenStream) -> Result<Function, Wrong> {
        let tokens: Vec<TokenTree> = item.into_iter().collect();
        let no_function = || (proc_macro::Span::call_site(), "only functions can be kernels".to_owned());
        let (mut cfgs, mut at) = (Vec::new(), 0);
        while tokens.get(at).is_some_and(|token| is(token, '#')) {
            let Some(TokenTree::Group(attribute)) = tokens.get(at + 1) else { return Err(no_function()) };
            if attribute.stream().into_iter().next().as_ref().and_then(word).as_deref() == Some("cfg") {
                cfgs.extend(tokens[at..at + 2].iter().cloned());
            }
            at += 2;
        }
        let fn_at = at
            + tokens[at..]
                .iter()
                .position(|token| word(token).as_deref() == Some("fn"))
                .ok_or_else(no_function)?;
        let head = &tokens[at..fn_at];
        let is_public = head.first().and_then(word).as_deref() == Some("pub")
            && !head.get(1).is_some_and(|token| matches!(token, TokenTree::Group(_)));
        let is_unsafe = head.iter().any(|token| word(token).as_deref() == Some("unsafe"));
        let Some(TokenTree::Ident(name)) = tokens.get(fn_at + 1) else { return Err(no_function()) };
        let wrong = |message: &str| (name.span(), message.to_owned());
        let params_at = tokens[fn_at..]
            .iter()
            .position(|token| matches!(token, TokenTree::Group(g) if g.delimiter() == Delimiter::Parenthesis))
            .ok_or_else(no_function)?
            + fn_at;
        // A bound `Fn(…)` has parentheses too; generics with such are for no kernel.
        let Some(TokenTree::Group(params)) = tokens.get(params_at) else { return Err(no_function()) };
        let Some(TokenTree::Group(body)) = tokens.last() else {
            return Err(wrong("a kernel has a body"));
        };
        let (lifetimes, generics) = generics(&tokens[fn_at + 2..params_at]);
        let behind = &tokens[params_at + 1..tokens.len() - 1];
        let end = behind.iter().position(|token| word(token).as_deref() == Some("where"));
        let behind = &behind[..end.unwrap_or(behind.len())];
        let result = match behind {
            [dash, arrow, ty @ ..] if is(dash, '-') && is(arrow, '>') => ty.to_vec(),
            _ => Vec::new(),
        };
        let inner: Vec<TokenTree> = params.stream().into_iter().collect();
        let (mut receiver, mut params) = (None, Vec::new());
        for part in split(&inner) {
            if part.iter().any(|token| word(token).as_deref() == Some("self")) {
                if !is(&part[0], '&') {
                    return Err(wrong("a kernel gets `&self` or `&mut self`: all lanes share it"));
                }
                receiver = Some(part.iter().any(|token| word(token).as_deref() == Some("mut")));
                continue;
            }
            params.push(param(part, params.len()).ok_or_else(|| wrong("a parameter has no type"))?);
        }
        Ok(Function {
            cfgs,
            is_public,
            is_unsafe,
            name: name.clone(),
            lifetimes,
            generics,
            receiver,
            params,
            result: if result.iter().all(|t| matches!(t, TokenTree::Group(g) if g.stream().is_empty())) {
                Vec::new()
            } else {
                result
            },
            body: body.clone(),
        })
    }

    /// The generic lifetimes, as siblings declare them.
    pub(crate) fn lifetimes(&self) -> String {
        match self.lifetimes.is_empty() {
            true => String::new(),
            false => format!("<{}>", self.lifetimes.join(", ")),
        }
    }
}

fn param(part: &[TokenTree], number: usize) -> Option<Param> {
    let mut part = part;
    while let [hash, TokenTree::Group(_), rest @ ..] = part
        && is(hash, '#')
    {
        part = rest;
    }
    let is_path = |at: usize| part.get(at).is_some_and(|token| is(token, ':'));
    let colon =
        (0..part.len()).find(|&at| is_path(at) && !is_path(at + 1) && !(at > 0 && is_path(at - 1)))?;
    let (pattern, ty) = (&part[..colon], &part[colon + 1..]);
    let name = match pattern {
        [TokenTree::Ident(name)] if name.to_string() != "_" => name.to_string(),
        [TokenTree::Ident(mutable), TokenTree::Ident(name)] if mutable.to_string() == "mut" => {
            name.to_string()
        }
        _ => format!("parameter{number}"),
    };
    Some(Param { name, pattern: pattern.to_vec(), ty: ty.to_vec() })
}

/// The names of lifetimes, and those of types and constants.
fn generics(tokens: &[TokenTree]) -> (Vec<String>, Vec<String>) {
    let (mut lifetimes, mut others) = (Vec::new(), Vec::new());
    let inner = match tokens {
        [open, inner @ .., close] if is(open, '<') && is(close, '>') => inner,
        _ => return (lifetimes, others),
    };
    for part in split(inner) {
        match part {
            [quote, TokenTree::Ident(name), ..] if is(quote, '\'') => lifetimes.push(format!("'{name}")),
            [TokenTree::Ident(word), TokenTree::Ident(name), ..] if word.to_string() == "const" => {
                others.push(name.to_string());
            }
            [TokenTree::Ident(name), ..] => others.push(name.to_string()),
            _ => {}
        }
    }
    (lifetimes, others)
}
