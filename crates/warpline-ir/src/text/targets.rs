//! The parser: where branches lead.

use smallvec::SmallVec;

use super::error::{ParseError, ParseErrorKind};
use super::function::Body;
use super::lex::Token;
use super::parse::Parser;
use crate::{Constant, Edge, GroupCount, Inst, Op, Type, Value};

impl Parser {
    fn target(&mut self, body: &mut Body, inst: Inst) -> Result<Edge, ParseError> {
        let name = self.peek_block_name().ok_or_else(|| self.unexpected("a block"))?;
        let (_, pos) = self.next();
        let to = body
            .blocks
            .get(&name)
            .copied()
            .ok_or_else(|| pos.error(ParseErrorKind::Unknown { what: "block", name: name.text("b") }))?;
        let expected = body.func.blocks[to].phis.len();
        let mut args: SmallVec<[Value; 4]> = SmallVec::new();
        if self.eat('(') {
            while !self.eat(')') {
                if !args.is_empty() {
                    self.expect(',')?;
                }
                let phi = body.func.blocks[to].phis.get(args.len());
                let ty = phi.map(|&p| body.func.ty(body.func.insts[p].results[0]));
                args.push(self.operand(body, ty)?);
            }
        }
        if args.len() != expected {
            return Err(pos.error(ParseErrorKind::PhiOperands { found: args.len(), expected }));
        }
        let from = body.func.insts[inst].block;
        let e = body.func.make_edge(from, to);
        body.func.edges[e].args = args;
        body.func.insts[inst].edges.push(e);
        if self.eat_word("weight") {
            body.func.weights[e] = Some(self.number()?);
        }
        if self.eat_word("groups") {
            let took = self.number()?;
            let came = self.number_behind("of")?;
            body.func.groups[e] = Some(GroupCount { lanes: self.number_behind("by")?, came, took });
        }
        Ok(e)
    }

    fn number_behind(&mut self, word: &'static str) -> Result<u32, ParseError> {
        if self.eat_word(word) { self.number() } else { Err(self.unexpected(word)) }
    }

    pub(super) fn targets(&mut self, body: &mut Body, inst: Inst) -> Result<(), ParseError> {
        self.target(body, inst)?;
        while self.eat(',') {
            self.target(body, inst)?;
        }
        Ok(())
    }

    pub(super) fn branch(&mut self, body: &mut Body, inst: Inst) -> Result<Op, ParseError> {
        // No condition of one word ends here, but `opaque #o1`; a block of that name is quoted.
        let ends = match self.peek_second() {
            Token::Newline | Token::End | Token::Punct('(') | Token::Loc(_) => true,
            Token::Origin(_) => !self.is_word("opaque"),
            _ => false,
        };
        let unconditional = matches!(self.peek(), Token::Word(_) | Token::Str(_)) && ends;
        if unconditional {
            self.target(body, inst)?;
            return Ok(Op::Br);
        }
        body.func.insts[inst].op = Op::CondBr;
        self.push_arg(body, inst)?;
        self.expect(',')?;
        self.targets(body, inst)?;
        Ok(Op::CondBr)
    }

    pub(super) fn switch(&mut self, body: &mut Body, inst: Inst) -> Result<Op, ParseError> {
        body.func.insts[inst].op = Op::Switch([].into());
        self.push_arg(body, inst)?;
        let ty = body.func.insts[inst].args.first().map_or(Type::Void, |&a| body.func.ty(a));
        self.expect(',')?;
        self.target(body, inst)?;
        let mut values = Vec::new();
        if self.eat('[') {
            while !self.eat(']') {
                if !values.is_empty() {
                    self.expect(',')?;
                }
                let pos = self.pos();
                match self.constant(ty, 0)? {
                    Constant::Int { value, .. } => values.push(value),
                    _ => return Err(pos.error(ParseErrorKind::BadConstant { ty: self.type_text(ty) })),
                }
                self.expect(':')?;
                self.target(body, inst)?;
            }
        }
        Ok(Op::Switch(values.into()))
    }
}
