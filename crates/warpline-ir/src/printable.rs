//! Text from inputs, for terminals and logs.
//!
//! Names, paths and source lines may have any characters. Some of them are commands to a terminal, some hide or
//! reorder what stands around them. Whatever is printed goes through one of the functions here, which write such
//! characters as `\u{1b}`.

use std::borrow::Cow;

/// Whether a terminal or a reader may take a character for something else than a character: control characters,
/// separators of lines, marks that change the direction of text, and what is invisible.
pub fn is_unsafe(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

/// A name or a path: on one line, without unsafe characters.
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, |c| c.escape_unicode().to_string(), is_unsafe)
}

/// Text of several lines: ends of lines and tabs stay what they are. An end of line of DOS becomes one of Unix.
pub fn text(text: &str) -> Cow<'_, str> {
    let text: Cow<'_, str> =
        if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() };
    let is_bad = |c| is_unsafe(c) && c != '\n' && c != '\t';
    match text {
        Cow::Borrowed(text) => escape(text, |c| c.escape_unicode().to_string(), is_bad),
        Cow::Owned(text) => escape(&text, |c| c.escape_unicode().to_string(), is_bad).into_owned().into(),
    }
}

/// A document in JSON, in which all characters are escaped that must be: what is still unsafe stands within strings
/// and is written as JSON has it.
pub fn json(document: &str) -> Cow<'_, str> {
    let units = |c: char| -> String {
        c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
    };
    escape(document, units, |c| is_unsafe(c) && c != '\n')
}

fn escape(text: &str, as_text: impl Fn(char) -> String, is_bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_bad) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_bad(c) {
            true => out.push_str(&as_text(c)),
            false => out.push(c),
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_a_terminal_is_written_out() {
        assert_eq!(
            line("a\u{1b}]0;x\u{7}\n\u{9b}31m\u{202e}"),
            "a\\u{1b}]0;x\\u{7}\\u{a}\\u{9b}31m\\u{202e}"
        );
        assert_eq!(text("a\tb\r\nc\rd\u{1b}[2J\n"), "a\tb\nc\\u{d}d\\u{1b}[2J\n");
        assert!(matches!(line("φ → π, größer, 数"), Cow::Borrowed(_)));
        assert!(matches!(text("two\n\tlines\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_stays_json() {
        assert_eq!(json("{\n  \"a\u{9b}\u{e0041}\": 1\n}\n"), "{\n  \"a\\u009b\\udb40\\udc41\": 1\n}\n");
    }
}
