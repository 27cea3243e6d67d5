//! Tokens.

use std::fmt;

use super::error::{ParseError, ParseErrorKind};
use super::names::{id_number, is_name_char};

/// A name behind a sigil, or a block's.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Name {
    /// A name of its own.
    Given(Box<str>),
    /// The number of an id.
    Id(u32),
}

impl Name {
    pub(super) fn text(&self, id_prefix: &str) -> String {
        match self {
            Name::Given(n) => n.to_string(),
            Name::Id(n) => format!("{id_prefix}{n}"),
        }
    }
}

/// A token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// A word: keyword or block name.
    Word(Box<str>),
    /// A number as written.
    Number(Box<str>),
    /// A string's bytes.
    Str(Vec<u8>),
    /// `%name`
    Value(Name),
    /// `$name`
    Var(Name),
    /// `@name`
    Symbol(Box<str>),
    /// `#o7`
    Origin(u32),
    /// `!7`
    Loc(u32),
    /// One of `( ) [ ] { } < > , : = + -`.
    Punct(char),
    /// `->`
    Arrow,
    /// `...`
    Ellipsis,
    /// The end of a line outside brackets (several count as one).
    Newline,
    /// The end of the text.
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(w) | Token::Number(w) => write!(f, "{w:?}"),
            Token::Str(_) => write!(f, "a string"),
            Token::Value(n) => write!(f, "%{}", n.text("v")),
            Token::Var(n) => write!(f, "${}", n.text("x")),
            Token::Symbol(n) => write!(f, "@{n}"),
            Token::Origin(n) => write!(f, "#o{n}"),
            Token::Loc(n) => write!(f, "!{n}"),
            Token::Punct(c) => write!(f, "{c:?}"),
            Token::Arrow => write!(f, "\"->\""),
            Token::Ellipsis => write!(f, "\"...\""),
            Token::Newline => write!(f, "the end of the line"),
            Token::End => write!(f, "the end of the text"),
        }
    }
}

/// Line and column of a token, both from 1.
#[derive(Copy, Clone, Debug)]
pub(super) struct Pos {
    pub(super) line: u32,
    pub(super) column: u32,
}

impl Pos {
    pub(super) fn error(self, kind: ParseErrorKind) -> ParseError {
        ParseError { line: self.line, column: self.column, kind }
    }
}

struct Lexer<'a> {
    rest: std::str::Chars<'a>,
    pos: Pos,
}

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn peek_second(&self) -> Option<char> {
        self.rest.clone().nth(1)
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c == '\n' {
            self.pos.line += 1;
            self.pos.column = 1;
        } else {
            self.pos.column += 1;
        }
        Some(c)
    }

    fn take_while(&mut self, mut pred: impl FnMut(char) -> bool) -> String {
        let mut out = String::new();
        while let Some(c) = self.peek().filter(|&c| pred(c)) {
            out.push(c);
            self.bump();
        }
        out
    }

    fn string(&mut self, start: Pos) -> Result<Vec<u8>, ParseError> {
        let bad = || start.error(ParseErrorKind::BadString);
        self.bump();
        let mut out = Vec::new();
        loop {
            match self.bump().ok_or_else(bad)? {
                '"' => return Ok(out),
                '\n' => return Err(bad()),
                '\\' => {
                    let mut byte = 0;
                    for _ in 0..2 {
                        byte = byte * 16 + self.bump().and_then(|c| c.to_digit(16)).ok_or_else(bad)?;
                    }
                    out.push(byte as u8);
                }
                c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
    }

    /// The name behind a sigil, and whether it was quoted.
    fn sigil_name(&mut self, start: Pos) -> Result<(Box<str>, bool), ParseError> {
        if self.peek() == Some('"') {
            let bytes = self.string(start)?;
            let text = String::from_utf8(bytes).map_err(|_| start.error(ParseErrorKind::BadString))?;
            return Ok((text.into(), true));
        }
        let word = self.take_while(is_name_char);
        if word.is_empty() {
            let found = self.peek().map_or("the end of the text".into(), |c| format!("{c:?}"));
            return Err(start.error(ParseErrorKind::Unexpected { found, expected: "a name" }));
        }
        Ok((word.into(), false))
    }

    fn entity_name(&mut self, start: Pos, prefix: &str) -> Result<Name, ParseError> {
        let (text, quoted) = self.sigil_name(start)?;
        Ok(match id_number(&text, prefix).filter(|_| !quoted) {
            Some(n) => Name::Id(n),
            None => Name::Given(text),
        })
    }

    fn number(&mut self) -> Box<str> {
        let mut last = '\0';
        let hex = self.rest.as_str().trim_start_matches('-').starts_with("0x");
        let text = self.take_while(|c| {
            let sign = matches!(c, '-' | '+') && (last == '\0' || (last == 'e' && !hex));
            let fits = c.is_ascii_alphanumeric() || c == '.' || sign;
            last = c;
            fits
        });
        text.into()
    }

    fn numbered(&mut self, start: Pos, prefix: &str) -> Result<u32, ParseError> {
        let word = self.take_while(is_name_char);
        id_number(&word, prefix).ok_or_else(|| start.error(ParseErrorKind::BadNumber(word)))
    }

    fn token(&mut self) -> Result<(Token, Pos), ParseError> {
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\r' => {
                    self.bump();
                }
                ';' => {
                    self.take_while(|c| c != '\n');
                }
                _ => break,
            }
        }
        let start = self.pos;
        let Some(c) = self.peek() else { return Ok((Token::End, start)) };
        let token = match c {
            '\n' => {
                self.bump();
                Token::Newline
            }
            '"' => Token::Str(self.string(start)?),
            '%' => {
                self.bump();
                Token::Value(self.entity_name(start, "v")?)
            }
            // `$` alone begins a variable only here: inside words it is a letter.
            '$' => {
                self.bump();
                Token::Var(self.entity_name(start, "x")?)
            }
            '@' => {
                self.bump();
                Token::Symbol(self.sigil_name(start)?.0)
            }
            '#' => {
                self.bump();
                Token::Origin(self.numbered(start, "o")?)
            }
            '!' => {
                self.bump();
                Token::Loc(self.numbered(start, "")?)
            }
            '-' if self.peek_second() == Some('>') => {
                self.bump();
                self.bump();
                Token::Arrow
            }
            '.' if self.rest.as_str().starts_with("...") => {
                self.take_while(|c| c == '.');
                Token::Ellipsis
            }
            '-' if self.peek_second().is_some_and(|c| c.is_ascii_digit()) => Token::Number(self.number()),
            '0'..='9' => Token::Number(self.number()),
            '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ',' | ':' | '=' | '+' | '-' => {
                self.bump();
                Token::Punct(c)
            }
            c if is_name_char(c) => Token::Word(self.take_while(is_name_char).into()),
            c => return Err(start.error(ParseErrorKind::BadCharacter(c))),
        };
        Ok((token, start))
    }
}

/// The tokens of a text. Ends of lines inside `()` and `[]` are left out; the last token is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Pos)>, ParseError> {
    let mut lexer = Lexer { rest: text.chars(), pos: Pos { line: 1, column: 1 } };
    let mut out: Vec<(Token, Pos)> = Vec::new();
    let mut open = 0usize;
    loop {
        let (token, pos) = lexer.token()?;
        match token {
            Token::Punct('(' | '[') => open += 1,
            Token::Punct(')' | ']') => open = open.saturating_sub(1),
            Token::Newline if open > 0 || matches!(out.last(), None | Some((Token::Newline, _))) => continue,
            _ => {}
        }
        let end = token == Token::End;
        out.push((token, pos));
        if end {
            return Ok(out);
        }
    }
}
