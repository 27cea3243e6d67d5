//! What stands in the attribute.

use proc_macro::{Delimiter, Span, TokenStream, TokenTree};

use crate::function::{Function, Wrong};
use crate::tokens::{is, split, word};

/// What may be said of a kernel besides its parameters, as on the command line, and what it may be.
const OPTIONS: [&str; 4] = ["width", "boscc", "coherence", "math_ulp"];

/// What the attribute says.
#[derive(Default)]
pub(crate) struct Words {
    /// Whether lanes are threads whose races are accepted.
    pub racy: bool,
    /// Parameters and their shapes.
    pub shapes: Vec<(String, String)>,
    /// Generic parameters and what they are here.
    pub generics: Vec<(String, Vec<TokenTree>)>,
    /// Options and their values.
    pub options: Vec<(String, String)>,
}

/// Reads the attribute of a function: `name = shape, …`, `T = type`, `option = value`, or `racy` among these.
pub(crate) fn read(words: TokenStream, function: &Function) -> Result<Words, Wrong> {
    const WANTED: &str = "write `parameter = shape`, where the shape is index, varying, uniform or stride(N), \
                          `T = type` for a generic parameter, `width = N`, `boscc = …`, `coherence = …` or \
                          `math_ulp = N`, or `racy`";
    let tokens: Vec<TokenTree> = words.into_iter().collect();
    let mut found = Words::default();
    for one in split(&tokens) {
        let wrong = || (one.first().map_or_else(Span::call_site, TokenTree::span), WANTED.to_owned());
        match one {
            [racy] if word(racy).as_deref() == Some("racy") => found.racy = true,
            [TokenTree::Ident(name), eq, value @ ..] if is(eq, '=') && !value.is_empty() => {
                let name = name.to_string();
                if let Some(shape) = shape(value) {
                    found.shapes.push((name, shape));
                } else if function.generics.contains(&name) {
                    found.generics.push((name, value.to_vec()));
                } else if OPTIONS.contains(&&*name) && value.len() == 1 {
                    found.options.push((name, value[0].to_string().trim_matches('"').to_owned()));
                } else {
                    return Err(wrong());
                }
            }
            _ => return Err(wrong()),
        }
    }
    if let Some(open) =
        function.generics.iter().find(|name| found.generics.iter().all(|(known, _)| known != *name))
    {
        let message =
            format!("the kernel is generic: say what `{open}` is, such as `#[kernel({open} = f32)]`");
        return Err((function.name.span(), message));
    }
    Ok(found)
}

/// The text of a shape.
fn shape(value: &[TokenTree]) -> Option<String> {
    match value {
        [TokenTree::Ident(shape)] => {
            let shape = shape.to_string();
            ["index", "varying", "uniform"].contains(&&*shape).then_some(shape)
        }
        [TokenTree::Ident(shape), TokenTree::Group(step)]
            if shape.to_string() == "stride" && step.delimiter() == Delimiter::Parenthesis =>
        {
            let step: String = step.stream().into_iter().map(|token| token.to_string()).collect();
            Some(format!("stride({step})"))
        }
        _ => None,
    }
}
