//! The parser: modules, types and the helpers that functions need.

use std::collections::HashMap;

use super::error::{ParseError, ParseErrorKind};
use super::lex::{Name, Pos, Token, tokens};
use super::print::type_text;
use crate::{
    AggregateType, DataLayout, Effects, FloatKind, Loc, Module, Origin, SourceLoc, Symbol, SymbolData,
    SymbolKind, Type, VectorType,
};

/// How deep types and constants may nest.
pub(super) const MAX_DEPTH: u32 = 64;

/// Reads a module.
///
/// # Errors
/// The first mistake in the text, with its line and column. What the parser accepts can still break rules
/// that the verifier checks.
pub fn parse_module(text: &str) -> Result<Module, ParseError> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        module: Module::default(),
        struct_names: HashMap::new(),
        last_loc: None,
    };
    parser.module()?;
    Ok(parser.module)
}

pub(super) struct Parser {
    tokens: Vec<(Token, Pos)>,
    at: usize,
    pub(super) module: Module,
    struct_names: HashMap<Box<str>, Type>,
    /// The largest location that was referred to, and where.
    last_loc: Option<(u32, Pos)>,
}

impl Parser {
    // ---- tokens -------------------------------------------------------------------------------------------

    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub(super) fn peek_second(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    pub(super) fn peek_third(&self) -> &Token {
        &self.tokens[(self.at + 2).min(self.tokens.len() - 1)].0
    }

    pub(super) fn pos(&self) -> Pos {
        self.tokens[self.at].1
    }

    pub(super) fn token_count(&self) -> usize {
        self.tokens.len()
    }

    /// Takes a token. The end of the text is never left behind.
    pub(super) fn next(&mut self) -> (Token, Pos) {
        let token = self.tokens[self.at].clone();
        self.skip();
        token
    }

    pub(super) fn skip(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    pub(super) fn mark(&self) -> usize {
        self.at
    }

    pub(super) fn reset(&mut self, mark: usize) {
        self.at = mark;
    }

    pub(super) fn unexpected(&self, expected: &'static str) -> ParseError {
        self.pos().error(ParseErrorKind::Unexpected { found: self.peek().to_string(), expected })
    }

    pub(super) fn eat(&mut self, c: char) -> bool {
        let found = *self.peek() == Token::Punct(c);
        if found {
            self.skip();
        }
        found
    }

    pub(super) fn expect(&mut self, c: char) -> Result<(), ParseError> {
        if self.eat(c) {
            return Ok(());
        }
        Err(self.unexpected(match c {
            '(' => "\"(\"",
            ')' => "\")\"",
            '[' => "\"[\"",
            ']' => "\"]\"",
            '{' => "\"{\"",
            '>' => "\">\"",
            '}' => "\"}\"",
            ',' => "\",\"",
            ':' => "\":\"",
            _ => "\"=\"",
        }))
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.skip();
        }
        found
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if &**w == word)
    }

    pub(super) fn is_word_at(&self, index: usize, word: &str) -> bool {
        matches!(&self.tokens[index].0, Token::Word(w) if &**w == word)
    }

    pub(super) fn word(&mut self, expected: &'static str) -> Result<(Box<str>, Pos), ParseError> {
        match self.peek() {
            Token::Word(_) => match self.next() {
                (Token::Word(w), pos) => Ok((w, pos)),
                (_, pos) => Err(pos.error(ParseErrorKind::BadString)),
            },
            _ => Err(self.unexpected(expected)),
        }
    }

    pub(super) fn bytes(&mut self) -> Result<(Vec<u8>, Pos), ParseError> {
        match self.peek() {
            Token::Str(_) => match self.next() {
                (Token::Str(s), pos) => Ok((s, pos)),
                (_, pos) => Err(pos.error(ParseErrorKind::BadString)),
            },
            _ => Err(self.unexpected("a string")),
        }
    }

    pub(super) fn text(&mut self) -> Result<String, ParseError> {
        let (bytes, pos) = self.bytes()?;
        String::from_utf8(bytes).map_err(|_| pos.error(ParseErrorKind::BadString))
    }

    /// Reads a number of any type that is written in decimal.
    pub(super) fn number<T: std::str::FromStr>(&mut self) -> Result<T, ParseError> {
        let Token::Number(text) = self.peek().clone() else { return Err(self.unexpected("a number")) };
        let (_, pos) = self.next();
        text.parse().map_err(|_| pos.error(ParseErrorKind::BadNumber(text.into())))
    }

    pub(super) fn at_line_end(&self) -> bool {
        matches!(self.peek(), Token::Newline | Token::End)
    }

    pub(super) fn line_end(&mut self) -> Result<(), ParseError> {
        if !self.at_line_end() {
            return Err(self.unexpected("the end of the line"));
        }
        self.skip_newlines();
        Ok(())
    }

    pub(super) fn skip_newlines(&mut self) {
        while *self.peek() == Token::Newline {
            self.skip();
        }
    }

    // ---- small parts --------------------------------------------------------------------------------------

    pub(super) fn optional_origin(&mut self) -> Option<Origin> {
        let Token::Origin(n) = *self.peek() else { return None };
        self.skip();
        Some(Origin::from_u32(n))
    }

    pub(super) fn origin(&mut self) -> Result<Origin, ParseError> {
        self.optional_origin().ok_or_else(|| self.unexpected("an origin"))
    }

    pub(super) fn optional_loc(&mut self) -> Option<Loc> {
        let Token::Loc(n) = *self.peek() else { return None };
        if self.last_loc.is_none_or(|(last, _)| last < n) {
            self.last_loc = Some((n, self.pos()));
        }
        self.skip();
        Some(Loc::from_u32(n))
    }

    pub(super) fn symbol(&self, name: &str, pos: Pos) -> Result<Symbol, ParseError> {
        self.module
            .symbol(name)
            .ok_or_else(|| pos.error(ParseErrorKind::Unknown { what: "symbol", name: format!("@{name}") }))
    }

    /// Reads `[reads writes]` if it is there.
    pub(super) fn optional_effects(&mut self) -> Result<Option<Effects>, ParseError> {
        if !self.eat('[') {
            return Ok(None);
        }
        let mut effects = Effects::empty();
        while !self.eat(']') {
            let (word, pos) = self.word("an effect")?;
            effects |= match &*word {
                "unknown" => Effects::UNKNOWN,
                w => Effects::from_name(&w.to_ascii_uppercase())
                    .filter(|_| !w.contains(char::is_uppercase))
                    .ok_or_else(|| {
                        pos.error(ParseErrorKind::Unknown { what: "effect", name: w.to_string() })
                    })?,
            };
        }
        Ok(Some(effects))
    }

    // ---- types --------------------------------------------------------------------------------------------

    pub(super) fn type_text(&self, ty: Type) -> String {
        type_text(&self.module, ty)
    }

    pub(super) fn member_count(&self, ty: Type) -> Option<u64> {
        match ty {
            Type::Vector(v) => (!v.scalable).then(|| u64::from(v.lanes)),
            Type::Aggregate(a) => match self.module.types.get(a) {
                AggregateType::Array { len, .. } => Some(*len),
                AggregateType::Struct { fields, .. } => Some(fields.as_ref().map_or(0, Vec::len) as u64),
            },
            _ => Some(0),
        }
    }

    /// Whether a type may begin with this token.
    pub(super) fn begins_type(token: &Token) -> bool {
        match token {
            Token::Word(w) => {
                !matches!(&**w, "true" | "false" | "null" | "undef" | "poison" | "zero" | "opaque")
            }
            Token::Punct('<' | '{' | '[') | Token::Value(Name::Given(_)) => true,
            _ => false,
        }
    }

    pub(super) fn parse_type(&mut self, depth: u32) -> Result<Type, ParseError> {
        if depth > MAX_DEPTH {
            return Err(self.pos().error(ParseErrorKind::TooDeep));
        }
        let (token, pos) = self.next();
        match token {
            Token::Word(w) => self.scalar_type(&w, pos),
            Token::Value(Name::Given(name)) => {
                self.struct_names.get(&name).copied().ok_or_else(|| {
                    pos.error(ParseErrorKind::Unknown { what: "type", name: format!("%{name}") })
                })
            }
            Token::Punct('[') => {
                let len = self.number()?;
                self.times()?;
                let elem = self.parse_type(depth + 1)?;
                self.expect(']')?;
                Ok(self.module.types.array(elem, len))
            }
            Token::Punct('{') => {
                let fields = self.fields('}', depth)?;
                Ok(self.module.types.structure(fields, false))
            }
            Token::Punct('<') if self.eat('{') => {
                let fields = self.fields('}', depth)?;
                self.expect('>')?;
                Ok(self.module.types.structure(fields, true))
            }
            Token::Punct('<') => self.vector_type(depth),
            other => {
                Err(pos.error(ParseErrorKind::Unexpected { found: other.to_string(), expected: "a type" }))
            }
        }
    }

    fn scalar_type(&mut self, word: &str, pos: Pos) -> Result<Type, ParseError> {
        let unknown =
            || pos.error(ParseErrorKind::Unexpected { found: format!("{word:?}"), expected: "a type" });
        Ok(match word {
            "void" => Type::Void,
            "half" => Type::Float(FloatKind::Half),
            "bfloat" => Type::Float(FloatKind::BFloat),
            "float" => Type::F32,
            "double" => Type::F64,
            "x86_fp80" => Type::Float(FloatKind::X86Fp80),
            "fp128" => Type::Float(FloatKind::Fp128),
            "ppc_fp128" => Type::Float(FloatKind::PpcFp128),
            "ptr" if self.eat_word("addrspace") => {
                self.expect('(')?;
                let space = self.number()?;
                self.expect(')')?;
                Type::Ptr(space)
            }
            "ptr" => Type::PTR,
            "other" => {
                let text = self.text()?;
                self.module.types.other(&text)
            }
            _ => {
                let bits: u32 = word.strip_prefix('i').and_then(|d| d.parse().ok()).ok_or_else(unknown)?;
                // LLVM's largest integer type.
                if bits == 0 || bits > 1 << 23 || word.as_bytes()[1] == b'+' {
                    return Err(unknown());
                }
                Type::Int(bits)
            }
        })
    }

    fn times(&mut self) -> Result<(), ParseError> {
        if self.eat_word("x") { Ok(()) } else { Err(self.unexpected("\"x\"")) }
    }

    fn vector_type(&mut self, depth: u32) -> Result<Type, ParseError> {
        let scalable = self.eat_word("vscale");
        if scalable {
            self.times()?;
        }
        let lanes = self.number()?;
        self.times()?;
        let pos = self.pos();
        let elem = self.parse_type(depth + 1)?;
        let elem = elem.scalar().ok_or_else(|| {
            let found = self.type_text(elem);
            pos.error(ParseErrorKind::Unexpected { found, expected: "a type that a vector can hold" })
        })?;
        self.expect('>')?;
        Ok(Type::Vector(VectorType { elem, lanes, scalable }))
    }

    fn fields(&mut self, close: char, depth: u32) -> Result<Vec<Type>, ParseError> {
        let mut fields = Vec::new();
        while !self.eat(close) {
            if !fields.is_empty() {
                self.expect(',')?;
            }
            fields.push(self.parse_type(depth + 1)?);
        }
        Ok(fields)
    }

    pub(super) fn optional_return_type(&mut self) -> Result<Type, ParseError> {
        if *self.peek() != Token::Arrow {
            return Ok(Type::Void);
        }
        self.skip();
        self.parse_type(0)
    }

    // ---- the module ---------------------------------------------------------------------------------------

    fn module(&mut self) -> Result<(), ParseError> {
        self.skip_newlines();
        while *self.peek() != Token::End {
            if matches!(self.peek(), Token::Loc(_)) {
                self.location()?;
                continue;
            }
            let (word, pos) = self.word("a declaration or a function")?;
            match &*word {
                "module" => self.module.name = self.text()?,
                "triple" => self.module.triple = self.text()?,
                "layout" => self.module.layout = DataLayout::parse(&self.text()?),
                "type" => self.struct_declaration()?,
                "global" | "constant" => self.global(&*word == "constant")?,
                "declare" => self.declare()?,
                "symbol" => {
                    let name = self.new_symbol()?;
                    self.finish_symbol(name, SymbolKind::Other)?;
                }
                "func" => self.function()?,
                _ => {
                    return Err(pos.error(ParseErrorKind::Unexpected {
                        found: format!("{word:?}"),
                        expected: "a declaration or a function",
                    }));
                }
            }
            self.line_end()?;
        }
        match self.last_loc {
            Some((n, pos)) if n as usize >= self.module.locations.len() => {
                Err(pos.error(ParseErrorKind::Unknown { what: "location", name: format!("!{n}") }))
            }
            _ => Ok(()),
        }
    }

    fn struct_declaration(&mut self) -> Result<(), ParseError> {
        let Token::Value(Name::Given(name)) = self.peek().clone() else {
            return Err(self.unexpected("the name of the type"));
        };
        let (_, pos) = self.next();
        self.expect('=')?;
        let (fields, packed) = if self.eat_word("opaque") {
            (None, false)
        } else if self.eat('<') {
            self.expect('{')?;
            let fields = self.fields('}', 0)?;
            self.expect('>')?;
            (Some(fields), true)
        } else {
            self.expect('{')?;
            (Some(self.fields('}', 0)?), false)
        };
        let ty = AggregateType::Struct { name: Some(name.clone()), fields, packed };
        let ty = self.module.types.aggregate(ty);
        if self.struct_names.insert(name.clone(), ty).is_some() {
            return Err(pos.error(ParseErrorKind::Duplicate { what: "type", name: format!("%{name}") }));
        }
        Ok(())
    }

    fn new_symbol(&mut self) -> Result<Box<str>, ParseError> {
        let Token::Symbol(name) = self.peek().clone() else {
            return Err(self.unexpected("the name of a symbol"));
        };
        if self.module.symbol(&name).is_some() {
            let kind = ParseErrorKind::Duplicate { what: "symbol", name: format!("@{name}") };
            return Err(self.pos().error(kind));
        }
        self.skip();
        Ok(name)
    }

    fn finish_symbol(&mut self, name: Box<str>, kind: SymbolKind) -> Result<(), ParseError> {
        let effects = self.optional_effects()?.unwrap_or_default();
        let origin = self.optional_origin();
        self.module.declare(SymbolData { name, kind, effects, origin });
        Ok(())
    }

    fn global(&mut self, constant: bool) -> Result<(), ParseError> {
        let name = self.new_symbol()?;
        self.expect(':')?;
        let ty = self.parse_type(0)?;
        let align = if self.eat_word("align") { self.number()? } else { 1 };
        let bytes = if self.eat('=') { Some(self.bytes()?.0) } else { None };
        self.finish_symbol(name, SymbolKind::Global { ty, constant, align, bytes })
    }

    fn declare(&mut self) -> Result<(), ParseError> {
        let pos = self.pos();
        let name = self.new_symbol()?;
        self.expect('(')?;
        let (mut params, mut variadic) = (Vec::new(), false);
        while !self.eat(')') {
            if variadic {
                return Err(self.unexpected("\")\""));
            }
            if !params.is_empty() {
                self.expect(',')?;
            }
            variadic = *self.peek() == Token::Ellipsis;
            if variadic {
                self.skip();
            } else {
                params.push(self.parse_type(0)?);
            }
        }
        let ret = self.optional_return_type()?;
        if type_in_name(&name).is_some_and(|ty| params != [ty, ty] || ret != ty) {
            let expected = "an intrinsic with the types in its name";
            return Err(pos.error(ParseErrorKind::Unexpected { found: format!("@{name}"), expected }));
        }
        self.finish_symbol(name, SymbolKind::Function { params, ret, variadic })
    }

    fn location(&mut self) -> Result<(), ParseError> {
        let (token, pos) = self.next();
        let next = self.module.locations.len() as u32;
        if token != Token::Loc(next) {
            let found = token.to_string();
            return Err(
                pos.error(ParseErrorKind::Unexpected { found, expected: "the locations in order, from !0" })
            );
        }
        self.expect('=')?;
        let file = self.text()?.into();
        self.expect(':')?;
        let line = self.number()?;
        self.expect(':')?;
        let column = self.number()?;
        let inlined_at = if self.eat_word("at") {
            if !matches!(self.peek(), Token::Loc(_)) {
                return Err(self.unexpected("a location"));
            }
            self.optional_loc()
        } else {
            None
        };
        self.module.locations.push(SourceLoc { file, line, column, inlined_at });
        self.line_end()
    }
}

/// Intrinsics that take two numbers of one type, and give one of it. Passes call them wherever they help.
const OF_TWO_NUMBERS: [&str; 8] =
    ["umin", "umax", "smin", "smax", "uadd.sat", "usub.sat", "sadd.sat", "ssub.sat"];

/// The type that such an intrinsic has by its name: `i8` or `<4 x i8>` of `llvm.umin.i8` and `llvm.umin.v4i8`.
fn type_in_name(name: &str) -> Option<Type> {
    let (base, suffix) = name.strip_prefix("llvm.")?.rsplit_once('.')?;
    let (lanes, bits) = suffix.split_once('i').filter(|_| OF_TWO_NUMBERS.contains(&base))?;
    let number = Type::Int(bits.parse().ok()?);
    match lanes.strip_prefix('v') {
        Some(lanes) => number.vector(lanes.parse().ok()?),
        None => lanes.is_empty().then_some(number),
    }
}
