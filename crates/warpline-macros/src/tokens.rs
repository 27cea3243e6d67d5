//! Small tools for tokens: there is no `syn` here, so that crates with kernels build fast.

use proc_macro::{Group, Spacing, TokenStream, TokenTree};

/// Whether a token is this punctuation.
pub(crate) fn is(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// The text of a token that is a word.
pub(crate) fn word(token: &TokenTree) -> Option<String> {
    match token {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    }
}

/// Splits at commas that are in no generic arguments.
pub(crate) fn split(tokens: &[TokenTree]) -> Vec<&[TokenTree]> {
    let (mut parts, mut depth, mut from, mut dash) = (Vec::new(), 0u32, 0, false);
    for (at, token) in tokens.iter().enumerate() {
        if is(token, '<') {
            depth += 1;
        } else if is(token, '>') && !dash {
            depth = depth.saturating_sub(1);
        } else if is(token, ',') && depth == 0 {
            parts.push(&tokens[from..at]);
            from = at + 1;
        }
        dash = matches!(token, TokenTree::Punct(p) if "-=".contains(p.as_char()) && p.spacing() == Spacing::Joint);
    }
    parts.push(&tokens[from..]);
    parts.retain(|part| !part.is_empty());
    parts
}

/// The words and literals of tokens with `_` between them: part of a name.
pub(crate) fn as_name(tokens: &[TokenTree]) -> String {
    let mut parts = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => parts.push(as_name(&group.stream().into_iter().collect::<Vec<_>>())),
            TokenTree::Punct(_) => {}
            other => parts.push(other.to_string().replace(|c: char| !c.is_ascii_alphanumeric(), "_")),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join("_")
}

/// Puts tokens in the place of words.
pub(crate) fn replace(tokens: TokenStream, words: &[(String, Vec<TokenTree>)]) -> TokenStream {
    let mut after_colon = false;
    tokens
        .into_iter()
        .flat_map(|token| {
            // Behind `::` or a lifetime's `'` stands another name.
            let free = !after_colon;
            after_colon =
                matches!(&token, TokenTree::Punct(p) if ":'".contains(p.as_char()) && p.spacing() == Spacing::Joint);
            let second = matches!(&token, TokenTree::Punct(p) if p.as_char() == ':' && !free);
            after_colon |= second;
            match token {
                TokenTree::Group(group) => {
                    let mut made = Group::new(group.delimiter(), replace(group.stream(), words));
                    made.set_span(group.span());
                    vec![TokenTree::Group(made)]
                }
                TokenTree::Ident(ident) if free => {
                    let text = ident.to_string();
                    match words.iter().find(|(word, _)| *word == text) {
                        Some((_, tokens)) => tokens.clone(),
                        None => vec![TokenTree::Ident(ident)],
                    }
                }
                other => vec![other],
            }
        })
        .collect()
}

/// Rust text with `$0`, `$1`, … in the places of tokens, which keep where they come from.
pub(crate) fn quote(text: &str, pieces: &[TokenStream]) -> TokenStream {
    let parsed: TokenStream = text.parse().unwrap_or_else(|error| {
        let message = format!("::core::compile_error!(\"warpline: {error}\");");
        message.parse().unwrap_or_default()
    });
    fill(parsed, pieces)
}

fn fill(tokens: TokenStream, pieces: &[TokenStream]) -> TokenStream {
    let mut out = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if is(&token, '$')
            && let Some(TokenTree::Literal(number)) = tokens.peek()
            && let Some(piece) = number.to_string().parse::<usize>().ok().and_then(|n| pieces.get(n))
        {
            out.extend(piece.clone());
            tokens.next();
            continue;
        }
        match token {
            TokenTree::Group(group) => {
                let mut made = Group::new(group.delimiter(), fill(group.stream(), pieces));
                made.set_span(group.span());
                out.push(TokenTree::Group(made));
            }
            other => out.push(other),
        }
    }
    out.into_iter().collect()
}
