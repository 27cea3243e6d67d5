//! Colors of the words `error` and `warning` where they begin a line.

use std::io::IsTerminal as _;
use std::sync::OnceLock;

use clap::ValueEnum;

/// When words are colored.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum ColorChoice {
    /// On terminals.
    #[default]
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// Whether standard output and standard error are colored.
static COLORED: OnceLock<(bool, bool)> = OnceLock::new();

/// Words that begin lines, and how they look on terminals.
const STYLES: [(&str, &str); 3] =
    [("error:", "\x1b[1;31m"), ("warning:", "\x1b[1;33m"), ("note:", "\x1b[1;36m")];
const PLAIN: &str = "\x1b[0m";

/// Settles what is colored. Once for a process.
pub fn set(choice: ColorChoice) {
    let wanted = |is_terminal: bool| match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        // https://no-color.org: any value but the empty one.
        ColorChoice::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
    };
    let _ = COLORED.set((wanted(std::io::stdout().is_terminal()), wanted(std::io::stderr().is_terminal())));
}

/// Text for standard output.
pub fn on_stdout(text: String) -> String {
    if COLORED.get().is_some_and(|c| c.0) { painted(&text) } else { text }
}

/// Text for standard error.
pub fn on_stderr(text: String) -> String {
    if COLORED.get().is_some_and(|c| c.1) { painted(&text) } else { text }
}

/// Text in which the words are colored. What comes from inputs has been made printable before.
fn painted(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let words = line.trim_start();
        let indent = &line[..line.len() - words.len()];
        match STYLES.iter().find(|(word, _)| words.starts_with(word)) {
            Some((word, style)) => {
                out += &format!("{indent}{style}{word}{PLAIN}{}", &words[word.len()..]);
            }
            None => out += line,
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_begin_lines_are_colored() {
        let text = "f: fine\n  warning: slow\nno error: here\nerror: bad";
        let expected =
            "f: fine\n  \x1b[1;33mwarning:\x1b[0m slow\nno error: here\n\x1b[1;31merror:\x1b[0m bad";
        assert_eq!(painted(text), expected);
    }
}
