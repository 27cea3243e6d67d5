//! How many elements a parameter leads to, as C says it: `float x[n]`, `float image[height][width]`.
//!
//! Compilers read such a parameter as a pointer and forget the length. Here it is what a call is checked by. The heads
//! of functions are found in the text; what is not understood, such as a macro, says nothing.

use std::collections::HashMap;
use std::fmt;

/// An expression of integers and parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Length {
    Number(i128),
    Parameter(String),
    Add(Box<(Length, Length)>),
    Subtract(Box<(Length, Length)>),
    Multiply(Box<(Length, Length)>),
}

impl Length {
    /// Reads an expression with `+`, `-`, `*` and parentheses.
    pub(crate) fn parse(text: &str) -> Option<Length> {
        let tokens = tokens(text);
        if tokens.len() > LONGEST {
            return None;
        }
        let mut rest = &tokens[..];
        let length = sum(&mut rest, 0)?;
        rest.is_empty().then_some(length)
    }

    /// Its value; `None` if a parameter is not there, or it is too large for a number.
    pub(crate) fn value(&self, parameter: &impl Fn(&str) -> Option<i128>) -> Option<i128> {
        let both = |pair: &(Length, Length)| Some((pair.0.value(parameter)?, pair.1.value(parameter)?));
        match self {
            Length::Number(n) => Some(*n),
            Length::Parameter(name) => parameter(name),
            Length::Add(pair) => both(pair).and_then(|(a, b)| a.checked_add(b)),
            Length::Subtract(pair) => both(pair).and_then(|(a, b)| a.checked_sub(b)),
            Length::Multiply(pair) => both(pair).and_then(|(a, b)| a.checked_mul(b)),
        }
    }

    /// The parameters that it names.
    pub(crate) fn parameters(&self) -> Vec<&str> {
        match self {
            Length::Number(_) => Vec::new(),
            Length::Parameter(name) => vec![name],
            Length::Add(pair) | Length::Subtract(pair) | Length::Multiply(pair) => {
                [pair.0.parameters(), pair.1.parameters()].concat()
            }
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let factor = |one: &Length| match one {
            Length::Add(_) | Length::Subtract(_) => format!("({one})"),
            _ => one.to_string(),
        };
        match self {
            Length::Number(n) => write!(f, "{n}"),
            Length::Parameter(name) => f.write_str(name),
            Length::Add(pair) => write!(f, "{} + {}", pair.0, pair.1),
            Length::Subtract(pair) => write!(f, "{} - {}", pair.0, factor(&pair.1)),
            Length::Multiply(pair) => write!(f, "{} * {}", factor(&pair.0), factor(&pair.1)),
        }
    }
}

/// How many words and signs expressions may have.
const LONGEST: usize = 256;

/// How deep they may be nested.
const DEEPEST: u32 = 64;

fn sum(rest: &mut &[String], depth: u32) -> Option<Length> {
    let mut left = product(rest, depth)?;
    while let Some((sign, behind)) = rest.split_first().filter(|(one, _)| matches!(one.as_str(), "+" | "-")) {
        *rest = behind;
        let pair = Box::new((left, product(rest, depth)?));
        left = if sign == "+" { Length::Add(pair) } else { Length::Subtract(pair) };
    }
    Some(left)
}

fn product(rest: &mut &[String], depth: u32) -> Option<Length> {
    let mut left = factor(rest, depth)?;
    while let Some((_, behind)) = rest.split_first().filter(|(one, _)| *one == "*") {
        *rest = behind;
        left = Length::Multiply(Box::new((left, factor(rest, depth)?)));
    }
    Some(left)
}

fn factor(rest: &mut &[String], depth: u32) -> Option<Length> {
    let (first, behind) = rest.split_first().filter(|_| depth < DEEPEST)?;
    *rest = behind;
    if first == "(" {
        let inner = sum(rest, depth + 1)?;
        let (_, behind) = rest.split_first().filter(|(one, _)| *one == ")")?;
        *rest = behind;
        return Some(inner);
    }
    if first.starts_with(|c: char| c.is_ascii_digit()) {
        return first.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok().map(Length::Number);
    }
    is_word(first).then(|| Length::Parameter(first.clone()))
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Words, numbers and single signs; no comments, no lines of the preprocessor, no texts.
fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut chars = text.char_indices().peekable();
    let mut begins_line = true;
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|&(_, next)| next);
        match c {
            '\n' => begins_line = true,
            _ if c.is_whitespace() => {}
            '#' if begins_line => {
                let mut before = c;
                while let Some((_, c)) = chars.next_if(|&(_, c)| c != '\n' || before == '\\') {
                    before = c;
                }
            }
            '/' if next == Some('/') => while chars.next_if(|&(_, c)| c != '\n').is_some() {},
            '/' if next == Some('*') => {
                let end = text[at + 2..].find("*/").map_or(text.len(), |end| at + 4 + end);
                while chars.next_if(|&(at, _)| at < end).is_some() {}
            }
            '"' | '\'' => {
                let mut escaped = false;
                for (_, inner) in chars.by_ref() {
                    if inner == c && !escaped {
                        break;
                    }
                    escaped = inner == '\\' && !escaped;
                }
                out.push(c.to_string());
                begins_line = false;
            }
            _ if c.is_ascii_alphanumeric() || c == '_' => {
                let mut word = c.to_string();
                while let Some((_, c)) = chars.next_if(|&(_, c)| c.is_ascii_alphanumeric() || c == '_') {
                    word.push(c);
                }
                out.push(word);
                begins_line = false;
            }
            _ => {
                out.push(c.to_string());
                begins_line = false;
            }
        }
    }
    out
}

/// The lengths that a source in C says, by functions and their parameters.
pub(crate) fn read(source: &str) -> HashMap<String, HashMap<String, Length>> {
    let tokens = tokens(source);
    let mut found = HashMap::new();
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "(" if depth == 0 && at > 0 && is_word(&tokens[at - 1]) => {
                let Some(end) = closing(&tokens, at) else { break };
                if tokens.get(end + 1).is_some_and(|next| next == "{") {
                    found.insert(tokens[at - 1].clone(), of_parameters(&tokens[at + 1..end]));
                }
            }
            _ => {}
        }
    }
    found
}

/// The bracket that ends what one at a place begins.
fn closing(tokens: &[String], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (k, token) in tokens.iter().enumerate().skip(at) {
        match token.as_str() {
            "(" | "[" => depth += 1,
            ")" | "]" => {
                depth -= 1;
                if depth == 0 {
                    return Some(k);
                }
            }
            _ => {}
        }
    }
    None
}

fn of_parameters(tokens: &[String]) -> HashMap<String, Length> {
    let (mut all, mut depth, mut begin) = (HashMap::new(), 0i32, 0);
    for (at, token) in tokens.iter().enumerate() {
        depth +=
            i32::from(matches!(token.as_str(), "(" | "[")) - i32::from(matches!(token.as_str(), ")" | "]"));
        if token == "," && depth == 0 {
            all.extend(of_parameter(&tokens[begin..at]));
            begin = at + 1;
        }
    }
    all.extend(of_parameter(&tokens[begin..]));
    all
}

/// The product of the dimensions that stand behind a parameter's name.
fn of_parameter(tokens: &[String]) -> Option<(String, Length)> {
    let first = tokens.iter().position(|token| token == "[")?;
    let name = tokens[..first].last().filter(|name| is_word(name))?;
    let (mut at, mut whole) = (first, None);
    while tokens.get(at).is_some_and(|token| token == "[") {
        let end = closing(tokens, at)?;
        let said: Vec<&str> = tokens[at + 1..end]
            .iter()
            .map(String::as_str)
            .filter(|token| !matches!(*token, "static" | "const" | "restrict" | "volatile"))
            .collect();
        let one = Length::parse(&said.join(" "))?;
        whole = Some(match whole {
            None => one,
            Some(before) => Length::Multiply(Box::new((before, one))),
        });
        at = end + 1;
    }
    Some((name.clone(), whole.filter(|_| at == tokens.len())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(length: &Length) -> Option<i128> {
        length.value(&|name| match name {
            "n" => Some(10),
            "w" => Some(3),
            _ => None,
        })
    }

    #[test]
    fn lengths_are_products_of_dimensions_and_sums_of_parameters() {
        let source = "#define F(x) \\\n  void g(float x[n]) {\n/* void h(int n, float x[n]) { */\n\
                      // void h(int n, float x[n]) {\nstatic inline void f(int n, int w, const float x[static 2 * (n - 1) + 4],\n  \
                      float y[restrict n][w], char *s, int t[], int k[M(3)]) {\n  f(\"(\", '{');\n}\nvoid d(int n, float x[n]);\n";
        let all = read(source);
        assert_eq!(all.keys().collect::<Vec<_>>(), ["f"]);
        let f = &all["f"];
        assert_eq!(value(&f["x"]), Some(22));
        assert_eq!(f["x"].to_string(), "2 * (n - 1) + 4");
        assert_eq!((value(&f["y"]), f.len()), (Some(30), 2));
        assert_eq!(f["y"].parameters(), ["n", "w"]);
    }

    #[test]
    fn what_is_not_understood_says_nothing() {
        for text in ["", "n +", "(n", "sizeof n", "n / 2", "0x10", &"(".repeat(100), &"n + ".repeat(1000)] {
            assert_eq!(Length::parse(text), None, "{}", text.len());
        }
        assert_eq!(value(&Length::Parameter("m".into())), None);
        let huge = Length::parse(&["170141183460469231731687303715884105727"; 2].join(" * "));
        assert_eq!(value(&huge.unwrap()), None);
        assert!(
            read("void f(int n, float x[n]").is_empty() && read("f(\"").is_empty() && read("/*").is_empty()
        );
    }
}
