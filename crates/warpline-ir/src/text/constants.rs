//! Constants: their text and how it is read.

use std::fmt::Write;

use super::error::{ParseError, ParseErrorKind};
use super::lex::{Pos, Token};
use super::names::name_into;
use super::parse::Parser;
use super::print::type_into;
use super::{is_vector, member_type};
use crate::{Constant, FloatKind, Module, Type};

/// Appends a constant, without its type.
pub(super) fn constant_into(out: &mut String, module: &Module, c: &Constant) {
    match c {
        Constant::Int { bits, value } => int_into(out, *bits, *value),
        Constant::WideInt { bits, words } => wide_into(out, *bits, words),
        Constant::Float { kind, bits } => float_into(out, *kind, *bits),
        Constant::Null(_) => out.push_str("null"),
        Constant::Undef(_) => out.push_str("undef"),
        Constant::Poison(_) => out.push_str("poison"),
        Constant::Zero(_) => out.push_str("zero"),
        Constant::Address { symbol, offset, origin, .. } => {
            out.push('@');
            name_into(out, &module.symbols[*symbol].name, "");
            if *offset != 0 {
                let _ = write!(out, "{offset:+}");
            }
            if let Some(o) = origin {
                let _ = write!(out, " from #{o}");
            }
        }
        Constant::Composite { ty, elems } => {
            let (open, close) = if is_vector(c) { ('<', '>') } else { ('{', '}') };
            out.push(open);
            for (i, e) in elems.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                operand_into(out, module, e, member_type(module, *ty, i));
            }
            out.push(close);
        }
        Constant::Opaque { origin, .. } => {
            let _ = write!(out, "opaque #{origin}");
        }
    }
}

/// Appends a constant, with its type in front unless that is the expected one.
pub(super) fn operand_into(out: &mut String, module: &Module, c: &Constant, expected: Option<Type>) {
    if expected != Some(c.ty()) {
        type_into(out, module, c.ty());
        out.push(' ');
    }
    constant_into(out, module, c);
}

/// Appends an integer of at most 128 bits as a signed decimal, a boolean as a word.
pub(super) fn int_into(out: &mut String, bits: u32, value: u128) {
    if bits == 1 {
        out.push_str(if value == 0 { "false" } else { "true" });
        return;
    }
    let unused = 128 - bits.min(128);
    let signed = ((value << unused) as i128) >> unused;
    let _ = write!(out, "{signed}");
}

fn wide_into(out: &mut String, bits: u32, words: &[u64]) {
    let mut hex = String::new();
    for w in words.iter().rev() {
        let _ = write!(hex, "{w:016x}");
    }
    let digits = bits.div_ceil(4) as usize;
    let _ = write!(out, "0x{}", &hex[hex.len().saturating_sub(digits)..]);
}

fn float_into(out: &mut String, kind: FloatKind, bits: u128) {
    let decimal = match kind {
        FloatKind::Float => {
            Some(f32::from_bits(bits as u32)).filter(|x| x.is_finite()).map(|x| format!("{x:?}"))
        }
        FloatKind::Double => {
            Some(f64::from_bits(bits as u64)).filter(|x| x.is_finite()).map(|x| format!("{x:?}"))
        }
        _ => None,
    };
    match decimal {
        Some(text) => out.push_str(&text),
        None => {
            let _ = write!(out, "0x{bits:0digits$x}", digits = kind.bits() as usize / 4);
        }
    }
}

/// Reads an integer of at most 128 bits: decimal (as signed or unsigned number of this width) or `0x…`.
fn read_int(text: &str, bits: u32) -> Option<u128> {
    let mask = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
    let value = if let Some(hex) = text.strip_prefix("0x") {
        u128::from_str_radix(hex, 16).ok()?
    } else if text.starts_with('-') {
        let n: i128 = text.parse().ok()?;
        let lowest = i128::MIN >> (128 - bits);
        return (n >= lowest).then_some(n as u128 & mask);
    } else {
        text.parse().ok()?
    };
    (value <= mask).then_some(value)
}

fn read_wide(text: &str, bits: u32) -> Option<Vec<u64>> {
    let hex = text.strip_prefix("0x")?;
    if hex.len() != bits.div_ceil(4) as usize {
        return None;
    }
    let chunks = hex.as_bytes().rchunks(16);
    let words: Option<Vec<u64>> =
        chunks.map(|c| u64::from_str_radix(std::str::from_utf8(c).ok()?, 16).ok()).collect();
    let top = *words.as_ref()?.last()?;
    (bits.is_multiple_of(64) || top >> (bits % 64) == 0).then_some(words?)
}

fn read_float(text: &str, kind: FloatKind) -> Option<u128> {
    if let Some(hex) = text.strip_prefix("0x") {
        let bits = u128::from_str_radix(hex, 16).ok()?;
        return (kind.bits() == 128 || bits >> kind.bits() == 0).then_some(bits);
    }
    match kind {
        FloatKind::Float => {
            let x: f32 = text.parse().ok()?;
            x.is_finite().then(|| u128::from(x.to_bits()))
        }
        FloatKind::Double => {
            let x: f64 = text.parse().ok()?;
            x.is_finite().then(|| u128::from(x.to_bits()))
        }
        _ => None,
    }
}

impl Parser {
    /// Whether a constant without type may begin with this token.
    pub(super) fn begins_constant(token: &Token) -> bool {
        match token {
            Token::Number(_) | Token::Symbol(_) | Token::Punct('<' | '{') => true,
            Token::Word(w) => {
                matches!(&**w, "true" | "false" | "null" | "undef" | "poison" | "zero" | "opaque")
            }
            _ => false,
        }
    }

    /// Reads a constant, whose type stands in front or is the expected one.
    pub(super) fn typed_constant(
        &mut self,
        expected: Option<Type>,
        depth: u32,
    ) -> Result<Constant, ParseError> {
        let start = self.mark();
        let pos = self.pos();
        if Self::begins_type(self.peek())
            && let Ok(ty) = self.parse_type(0)
            && Self::begins_constant(self.peek())
        {
            return self.constant(ty, depth);
        }
        self.reset(start);
        match expected {
            Some(ty) => self.constant(ty, depth),
            None if Self::begins_constant(self.peek()) => Err(pos.error(ParseErrorKind::UntypedConstant)),
            None => Err(self.unexpected("a value or a constant with its type")),
        }
    }

    /// Reads a constant of a known type.
    pub(super) fn constant(&mut self, ty: Type, depth: u32) -> Result<Constant, ParseError> {
        if depth > super::parse::MAX_DEPTH {
            return Err(self.pos().error(ParseErrorKind::TooDeep));
        }
        let (token, pos) = self.next();
        let bad = |p: &Parser| pos.error(ParseErrorKind::BadConstant { ty: p.type_text(ty) });
        match token {
            Token::Number(text) => self.number_constant(ty, &text, pos),
            Token::Word(w) => match (&*w, ty) {
                ("true" | "false", Type::Int(1)) => Ok(Constant::bool(&*w == "true")),
                ("null", Type::Ptr(space)) => Ok(Constant::Null(space)),
                ("undef", _) => Ok(Constant::Undef(ty)),
                ("poison", _) => Ok(Constant::Poison(ty)),
                ("zero", Type::Vector(_) | Type::Aggregate(_) | Type::Other(_)) => Ok(Constant::Zero(ty)),
                ("opaque", _) => Ok(Constant::Opaque { ty, origin: self.origin()? }),
                _ => Err(bad(self)),
            },
            Token::Symbol(name) => {
                let Type::Ptr(space) = ty else { return Err(bad(self)) };
                let symbol = self.symbol(&name, pos)?;
                let offset = self.offset()?;
                let origin = if self.eat_word("from") { Some(self.origin()?) } else { None };
                Ok(Constant::Address { symbol, offset, space, origin })
            }
            Token::Punct(open @ ('<' | '{')) => {
                let matches = match ty {
                    Type::Vector(_) => open == '<',
                    Type::Aggregate(_) => open == '{',
                    _ => false,
                };
                if !matches {
                    return Err(bad(self));
                }
                let close = if open == '<' { '>' } else { '}' };
                let mut elems = Vec::new();
                while !self.eat(close) {
                    if !elems.is_empty() {
                        self.expect(',')?;
                    }
                    let expected = member_type(&self.module, ty, elems.len());
                    elems.push(self.typed_constant(expected, depth + 1)?);
                }
                if self.member_count(ty).is_some_and(|n| n != elems.len() as u64) {
                    return Err(bad(self));
                }
                Ok(Constant::Composite { ty, elems })
            }
            other => {
                Err(pos
                    .error(ParseErrorKind::Unexpected { found: other.to_string(), expected: "a constant" }))
            }
        }
    }

    fn number_constant(&self, ty: Type, text: &str, pos: Pos) -> Result<Constant, ParseError> {
        let number = match ty {
            Type::Int(bits) if bits <= 128 => read_int(text, bits).map(|value| Constant::Int { bits, value }),
            Type::Int(bits) => read_wide(text, bits).map(|words| Constant::WideInt { bits, words }),
            Type::Float(kind) => read_float(text, kind).map(|bits| Constant::Float { kind, bits }),
            _ => return Err(pos.error(ParseErrorKind::BadConstant { ty: self.type_text(ty) })),
        };
        number.ok_or_else(|| pos.error(ParseErrorKind::BadNumber(text.into())))
    }

    /// Reads `+8`, `-8` or nothing behind a symbol.
    fn offset(&mut self) -> Result<i64, ParseError> {
        let plus = self.eat('+');
        let Token::Number(text) = self.peek().clone() else {
            return if plus { Err(self.unexpected("an offset")) } else { Ok(0) };
        };
        if plus == text.starts_with('-') {
            return Err(self.unexpected("an offset with one sign"));
        }
        let (_, pos) = self.next();
        text.parse().map_err(|_| pos.error(ParseErrorKind::BadNumber(text.into())))
    }
}
