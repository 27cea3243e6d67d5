//! The parser: functions.
//!
//! A function is read twice. The first pass collects what it defines: blocks, φs, values with their types;
//! so the second finds every name, and the type that a constant takes from its context.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::error::{ParseError, ParseErrorKind};
use super::expected_type;
use super::lex::{Name, Pos, Token};
use super::parse::Parser;
use crate::{
    Atomic, AtomicOrdering, BinaryOp, Block, BlockData, CallInfo, CastOp, Effects, FloatPred, Function, Inst,
    InstData, InstFlags, IntPred, LaneOp, MemAccess, Op, OpaqueInfo, Phase, PointerFacts, RmwOp, Type,
    Unwritten, Value, ValueData, ValueDef, Var, VarData,
};

/// A definition found by the first pass.
struct Definition {
    name: Name,
    pos: Pos,
    ty: Type,
}

#[derive(Default)]
struct Scan {
    blocks: Vec<(Name, Pos)>,
    /// Variables, with what they hold before they are written.
    vars: Vec<(Definition, Unwritten)>,
    /// Parameters, then results in the order of the text.
    values: Vec<Definition>,
    /// What is promised of the parameters.
    params: Vec<PointerFacts>,
    /// φs: the block (index into `blocks`) and the index into `values`.
    phis: Vec<(usize, usize)>,
}

/// What the second pass needs to know.
pub(super) struct Body {
    pub(super) func: Function,
    values: HashMap<Name, Value>,
    vars: HashMap<Name, Var>,
    pub(super) blocks: HashMap<Name, Block>,
    /// The values of the definitions, in the order of the text.
    defs: Vec<Value>,
    next_def: usize,
    next_block: usize,
    next_phi: usize,
}

/// Ids for a list of names: those that are ids get their number, the others fill the gaps in order.
/// Returns the ids and how many there are with the gaps that remain.
fn assign_ids(
    names: &[(&Name, Pos)],
    what: &'static str,
    prefix: &str,
    limit: usize,
) -> Result<(Vec<u32>, usize), ParseError> {
    let mut seen: HashMap<&Name, ()> = HashMap::new();
    let mut total = names.len();
    for &(name, pos) in names {
        if seen.insert(name, ()).is_some() {
            let name = name.text(prefix);
            return Err(pos.error(ParseErrorKind::Duplicate { what, name }));
        }
        if let Name::Id(n) = *name {
            if n as usize >= limit {
                return Err(pos.error(ParseErrorKind::IdTooLarge(n)));
            }
            total = total.max(n as usize + 1);
        }
    }
    let mut taken = vec![false; total];
    for &(name, _) in names {
        if let Name::Id(n) = *name {
            taken[n as usize] = true;
        }
    }
    let mut free = (0..total as u32).filter(|&n| !taken[n as usize]);
    let ids = names
        .iter()
        .map(|(name, _)| match name {
            Name::Id(n) => *n,
            Name::Given(_) => free.next().unwrap_or_default(),
        })
        .collect();
    Ok((ids, total))
}

fn given(name: &Name) -> Box<str> {
    match name {
        Name::Given(n) => n.clone(),
        Name::Id(_) => "".into(),
    }
}

impl Parser {
    /// Reads a function behind the word `func`, up to and with its `}`.
    pub(super) fn function(&mut self) -> Result<(), ParseError> {
        let Token::Symbol(name) = self.peek().clone() else {
            return Err(self.unexpected("the name of the function"));
        };
        self.skip();
        let mut scan = Scan::default();
        let mut func = Function::new(&name, Type::Void);
        self.expect('(')?;
        while !self.eat(')') {
            if func.variadic {
                return Err(self.unexpected("\")\""));
            }
            if !scan.values.is_empty() {
                self.expect(',')?;
            }
            func.variadic = *self.peek() == Token::Ellipsis;
            if func.variadic {
                self.skip();
            } else {
                let def = self.definition()?;
                scan.values.push(def);
                let facts = self.pointer_facts()?;
                scan.params.push(facts);
            }
        }
        func.ret = self.optional_return_type()?;
        func.origin = self.optional_origin().into();
        func.loc = self.optional_loc().into();
        func.phase = self.optional_phase()?;
        func.noinline = self.eat_word("noinline");
        func.is_sanitized = self.eat_word("sanitized");
        self.expect('{')?;
        self.line_end()?;
        let body = self.mark();
        self.scan(&mut scan)?;
        self.reset(body);
        let mut body = self.allocate(func, &scan)?;
        while !self.eat('}') {
            self.line(&mut body)?;
        }
        self.module.functions.push(body.func);
        Ok(())
    }

    /// How far a function has come; a scalar program says nothing of it.
    fn optional_phase(&mut self) -> Result<Phase, ParseError> {
        if !self.eat_word("phase") {
            return Ok(Phase::Scalar);
        }
        let Token::Word(name) = self.peek().clone() else {
            return Err(self.unexpected("the name of a phase"));
        };
        let phase = Phase::named(&name).ok_or_else(|| self.unexpected("the name of a phase"))?;
        self.skip();
        Ok(phase)
    }

    /// What a variable holds before it is written, behind its type.
    fn unwritten(&mut self) -> Result<Unwritten, ParseError> {
        if !self.eat('=') {
            return Ok(Unwritten::Poison);
        }
        let undef = self.eat_word("undef");
        undef.then_some(Unwritten::Undef).ok_or_else(|| self.unexpected("\"undef\""))
    }

    fn definition(&mut self) -> Result<Definition, ParseError> {
        let Token::Value(name) = self.peek().clone() else {
            return Err(self.unexpected("the name of a value"));
        };
        let (_, pos) = self.next();
        self.expect(':')?;
        let ty = self.parse_type(0)?;
        Ok(Definition { name, pos, ty })
    }

    /// What is promised of a parameter, behind its type.
    fn pointer_facts(&mut self) -> Result<PointerFacts, ParseError> {
        let mut facts = PointerFacts::default();
        if self.eat_word("align") {
            facts.align = self.number()?;
        }
        if self.eat_word("dereferenceable") {
            facts.dereferenceable = self.number()?;
        }
        facts.noalias = self.eat_word("noalias");
        facts.local = self.eat_word("local");
        facts.private = self.eat_word("private");
        facts.exclusive = self.eat_word("exclusive");
        facts.unique = self.eat_word("unique");
        Ok(facts)
    }

    /// The name of a block, if one stands here.
    pub(super) fn peek_block_name(&self) -> Option<Name> {
        match self.peek() {
            Token::Word(w) => Some(match super::names::id_number(w, "b") {
                Some(n) => Name::Id(n),
                None => Name::Given(w.clone()),
            }),
            Token::Str(s) => Some(Name::Given(String::from_utf8(s.clone()).ok()?.into())),
            _ => None,
        }
    }

    /// Whether a block begins here.
    fn at_label(&self) -> bool {
        matches!(self.peek(), Token::Str(_))
            || (matches!(self.peek(), Token::Word(_))
                && match self.peek_second() {
                    Token::Punct(':') => true,
                    Token::Word(w) if &**w == "few" => *self.peek_third() == Token::Punct(':'),
                    Token::Word(w) => &**w == "mask",
                    _ => false,
                })
    }

    fn scan(&mut self, scan: &mut Scan) -> Result<(), ParseError> {
        while !self.eat('}') {
            if *self.peek() == Token::End {
                return Err(self.unexpected("\"}\""));
            }
            if self.is_word("var") && matches!(self.peek_second(), Token::Var(_)) {
                self.skip();
                let (token, pos) = self.next();
                self.expect(':')?;
                let ty = self.parse_type(0)?;
                let unwritten = self.unwritten()?;
                if let Token::Var(name) = token {
                    scan.vars.push((Definition { name, pos, ty }, unwritten));
                }
            } else if self.at_label() {
                let name = self.peek_block_name().ok_or_else(|| self.unexpected("a block"))?;
                scan.blocks.push((name, self.pos()));
            } else if matches!(self.peek(), Token::Value(_)) {
                let first = scan.values.len();
                loop {
                    let def = self.definition()?;
                    scan.values.push(def);
                    if !self.eat(',') {
                        break;
                    }
                }
                self.expect('=')?;
                if self.is_word("phi") {
                    if scan.values.len() != first + 1 {
                        return Err(self.pos().error(ParseErrorKind::Results));
                    }
                    let block = scan.blocks.len().checked_sub(1).ok_or_else(|| self.unexpected("a block"))?;
                    scan.phis.push((block, first));
                }
            }
            while !self.at_line_end() {
                self.skip();
            }
            self.skip_newlines();
        }
        Ok(())
    }

    /// Makes everything that the first pass found.
    fn allocate(&mut self, mut func: Function, scan: &Scan) -> Result<Body, ParseError> {
        let limit = (1usize << 20).max(16 * self.token_count());
        let list: Vec<(&Name, Pos)> = scan.values.iter().map(|d| (&d.name, d.pos)).collect();
        let (ids, total) = assign_ids(&list, "value", "%v", limit)?;
        let dead = ValueDef::Param(u32::MAX);
        let mut values = vec![ValueData { ty: Type::Void, def: dead, name: "".into() }; total];
        for (def, &id) in scan.values.iter().zip(&ids) {
            values[id as usize] = ValueData { ty: def.ty, def: dead, name: given(&def.name) };
        }
        for data in values {
            func.values.push(data);
        }
        let defs: Vec<Value> = ids.into_iter().map(Value::from_u32).collect();
        let params = scan.params.len();
        for (i, (&p, &facts)) in defs[..params].iter().zip(&scan.params).enumerate() {
            func.values[p].def = ValueDef::Param(i as u32);
            func.params.push(p);
            if facts != PointerFacts::default() {
                func.pointers[p] = facts;
            }
        }

        let list: Vec<(&Name, Pos)> = scan.vars.iter().map(|(d, _)| (&d.name, d.pos)).collect();
        let (var_ids, total) = assign_ids(&list, "variable", "$x", limit)?;
        let dead = VarData { name: "".into(), ty: Type::Void, unwritten: Unwritten::Poison };
        let mut vars = vec![dead; total];
        for ((def, unwritten), &id) in scan.vars.iter().zip(&var_ids) {
            vars[id as usize] = VarData { name: given(&def.name), ty: def.ty, unwritten: *unwritten };
        }
        for data in vars {
            func.vars.push(data);
        }

        let list: Vec<(&Name, Pos)> = scan.blocks.iter().map(|(n, pos)| (n, *pos)).collect();
        let (block_ids, total) = assign_ids(&list, "block", "b", limit)?;
        for _ in 0..total {
            func.blocks.push(BlockData::default());
        }
        for ((name, _), &id) in scan.blocks.iter().zip(&block_ids) {
            let block = Block::from_u32(id);
            func.blocks[block].name = given(name);
            func.layout.push(block);
        }

        for &(block, value) in &scan.phis {
            let block = func.layout[block];
            let phi = new_inst(&mut func, block, Op::Phi, &defs[value..=value]);
            func.blocks[block].phis.push(phi);
        }
        Ok(Body {
            values: scan.values.iter().map(|d| d.name.clone()).zip(defs.iter().copied()).collect(),
            vars: scan
                .vars
                .iter()
                .zip(&var_ids)
                .map(|((d, _), &n)| (d.name.clone(), Var::from_u32(n)))
                .collect(),
            blocks: scan.blocks.iter().map(|b| b.0.clone()).zip(func.layout.iter().copied()).collect(),
            func,
            defs,
            next_def: params,
            next_block: 0,
            next_phi: 0,
        })
    }

    // ---- the second pass ----------------------------------------------------------------------------------

    fn line(&mut self, body: &mut Body) -> Result<(), ParseError> {
        if self.is_word("var") && matches!(self.peek_second(), Token::Var(_)) {
            if body.next_block > 0 {
                return Err(self.unexpected("the variables before the blocks"));
            }
            self.skip();
            self.skip();
            self.expect(':')?;
            self.parse_type(0)?;
            self.unwritten()?;
        } else if self.at_label() {
            let block = body.func.layout[body.next_block];
            body.next_block += 1;
            body.next_phi = 0;
            self.skip();
            if self.eat_word("mask") {
                let mask = self.operand(body, Some(Type::BOOL))?;
                body.func.blocks[block].mask = mask.into();
            }
            body.func.blocks[block].few = self.eat_word("few");
            self.expect(':')?;
        } else {
            let Some(last) = body.next_block.checked_sub(1) else {
                return Err(self.unexpected("a block"));
            };
            let block = body.func.layout[last];
            self.instruction(body, block)?;
        }
        self.line_end()
    }

    fn instruction(&mut self, body: &mut Body, block: Block) -> Result<(), ParseError> {
        let first = body.next_def;
        if matches!(self.peek(), Token::Value(_)) {
            loop {
                self.definition()?;
                body.next_def += 1;
                if !self.eat(',') {
                    break;
                }
            }
            self.expect('=')?;
        }
        let results: SmallVec<[Value; 2]> = body.defs[first..body.next_def].into();
        let (word, pos) = self.word("an instruction")?;
        let data = &body.func.blocks[block];
        let after_phis = !data.insts.is_empty() || data.term.is_some();
        let inst = if &*word == "phi" {
            // The first pass has seen the φs that define a value.
            let inst = data.phis.get(body.next_phi).copied().filter(|_| !results.is_empty());
            body.next_phi += 1;
            if after_phis {
                return Err(pos.error(ParseErrorKind::OutOfPlace));
            }
            inst.ok_or_else(|| pos.error(ParseErrorKind::Results))?
        } else {
            if data.term.is_some() {
                return Err(pos.error(ParseErrorKind::OutOfPlace));
            }
            new_inst(&mut body.func, block, Op::Unreachable, &results)
        };
        body.func.insts[inst].flags = self.flags();
        if &*word != "phi" {
            let op = self.op(body, inst, &word, pos)?;
            let terminator = op.is_terminator();
            body.func.insts[inst].op = op;
            if terminator {
                body.func.blocks[block].term = inst.into();
            } else {
                body.func.blocks[block].insts.push(inst);
            }
        }
        body.func.insts[inst].origin = self.optional_origin().into();
        body.func.insts[inst].loc = self.optional_loc().into();
        Ok(())
    }

    fn flags(&mut self) -> InstFlags {
        let mut flags = InstFlags::empty();
        while let Token::Word(w) = self.peek() {
            let flag = match &**w {
                "fast" => Some(InstFlags::FAST),
                w if w.contains(char::is_uppercase) => None,
                w => InstFlags::from_name(&w.to_ascii_uppercase()),
            };
            let Some(flag) = flag else { break };
            flags |= flag;
            self.skip();
        }
        flags
    }

    /// Reads what stands behind an operation's keyword and flags.
    fn op(&mut self, body: &mut Body, inst: Inst, word: &str, pos: Pos) -> Result<Op, ParseError> {
        let simple = match word {
            "fneg" => Some(Op::FNeg),
            "select" => Some(Op::Select),
            "freeze" => Some(Op::Freeze),
            "extractelement" => Some(Op::ExtractElement),
            "insertelement" => Some(Op::InsertElement),
            "copy" => Some(Op::ParallelCopy),
            "sigma" => Some(Op::Sigma),
            "ret" => Some(Op::Ret),
            "unreachable" => Some(Op::Unreachable),
            _ => BinaryOp::from_name(word)
                .map(Op::Binary)
                .or_else(|| CastOp::from_name(word).map(Op::Cast))
                .or_else(|| LaneOp::from_name(word).map(Op::Lane)),
        };
        if let Some(op) = simple {
            // The types of constants among the operands depend on the operation.
            body.func.insts[inst].op = op.clone();
            self.args(body, inst)?;
            return Ok(op);
        }
        match word {
            "icmp" => {
                let op = Op::ICmp(self.keyword(IntPred::from_name, "a predicate")?);
                body.func.insts[inst].op = op.clone();
                self.args(body, inst)?;
                Ok(op)
            }
            "fcmp" => {
                let op = Op::FCmp(self.keyword(FloatPred::from_name, "a predicate")?);
                body.func.insts[inst].op = op.clone();
                self.args(body, inst)?;
                Ok(op)
            }
            "getelementptr" => {
                let op = Op::Gep(self.parse_type(0)?);
                body.func.insts[inst].op = op.clone();
                self.more_args(body, inst)?;
                Ok(op)
            }
            "alloca" => {
                let ty = self.parse_type(0)?;
                body.func.insts[inst].op = Op::Alloca { ty, align: 1 };
                self.more_args(body, inst)?;
                Ok(Op::Alloca { ty, align: self.align()? })
            }
            "load" | "store" => {
                let is_volatile = self.eat_word("volatile");
                let is_speculative = word == "load" && self.eat_word("speculative");
                let is_nontemporal = self.eat_word("nontemporal");
                let ordering = self.ordering();
                let make = if word == "load" { Op::Load } else { Op::Store };
                body.func.insts[inst].op = make(MemAccess::plain(1));
                self.args(body, inst)?;
                let align = self.align()?;
                Ok(make(MemAccess { align, is_volatile, is_speculative, is_nontemporal, ordering }))
            }
            "shufflevector" => {
                body.func.insts[inst].op = Op::Shuffle([].into());
                self.args(body, inst)?;
                Ok(Op::Shuffle(self.list()?))
            }
            "extractvalue" => {
                body.func.insts[inst].op = Op::ExtractValue([].into());
                self.args(body, inst)?;
                Ok(Op::ExtractValue(self.list()?))
            }
            "insertvalue" => {
                body.func.insts[inst].op = Op::InsertValue([].into());
                self.args(body, inst)?;
                Ok(Op::InsertValue(self.list()?))
            }
            "call" => self.call(body, inst),
            "opaque" | "opaque_term" => {
                let mut info = OpaqueInfo::new(&self.text()?, Effects::empty());
                if self.eat('(') {
                    info.atomic = Some(self.atomic()?);
                    self.expect(')')?;
                }
                body.func.insts[inst].op = Op::Opaque(Box::new(info.clone()));
                self.args(body, inst)?;
                let effects = self.optional_effects()?.ok_or_else(|| self.unexpected("an effect record"))?;
                let info = Box::new(OpaqueInfo { effects, ..info });
                if word == "opaque" {
                    return Ok(Op::Opaque(info));
                }
                if *self.peek() == Token::Arrow {
                    self.skip();
                    self.targets(body, inst)?;
                }
                Ok(Op::OpaqueTerm(info))
            }
            "read" => {
                let op = Op::ReadVar(self.var(body)?);
                body.func.insts[inst].op = op.clone();
                self.more_args(body, inst)?;
                Ok(op)
            }
            "write" => {
                let op = Op::WriteVar(self.var(body)?);
                body.func.insts[inst].op = op.clone();
                self.more_args(body, inst)?;
                Ok(op)
            }
            "br" => self.branch(body, inst),
            "switch" => self.switch(body, inst),
            _ => Err(pos.error(ParseErrorKind::Unknown { what: "instruction", name: word.into() })),
        }
    }

    /// An ordering; none is written for accesses that are not atomic.
    fn ordering(&mut self) -> AtomicOrdering {
        let found = match self.peek() {
            Token::Word(w) => AtomicOrdering::from_name(w),
            _ => None,
        };
        if found.is_some() {
            self.skip();
        }
        found.unwrap_or(AtomicOrdering::NotAtomic)
    }

    /// What an atomic operation does, between parentheses.
    fn atomic(&mut self) -> Result<Atomic, ParseError> {
        if self.eat_word("fence") {
            return Ok(Atomic::Fence(self.ordering()));
        }
        if self.eat_word("rmw") {
            let op = self.keyword(RmwOp::from_name, "an operation on memory")?;
            let is_volatile = self.eat_word("volatile");
            let ordering = self.ordering();
            let access = MemAccess { is_volatile, ordering, ..MemAccess::plain(self.align()?) };
            return Ok(Atomic::Rmw { op, access });
        }
        if !self.eat_word("cmpxchg") {
            return Err(self.unexpected("an atomic operation"));
        }
        let weak = self.eat_word("weak");
        let is_volatile = self.eat_word("volatile");
        let (ordering, failure) = (self.ordering(), self.ordering());
        let access = MemAccess { is_volatile, ordering, ..MemAccess::plain(self.align()?) };
        Ok(Atomic::CompareExchange { access, failure, weak })
    }

    fn keyword<T>(
        &mut self,
        from_name: impl Fn(&str) -> Option<T>,
        expected: &'static str,
    ) -> Result<T, ParseError> {
        let found = match self.peek() {
            Token::Word(w) => from_name(w),
            _ => None,
        };
        let found = found.ok_or_else(|| self.unexpected(expected))?;
        self.skip();
        Ok(found)
    }

    fn list<T: std::str::FromStr>(&mut self) -> Result<Box<[T]>, ParseError> {
        self.expect('[')?;
        let mut items = Vec::new();
        while !self.eat(']') {
            if !items.is_empty() {
                self.expect(',')?;
            }
            items.push(self.number()?);
        }
        Ok(items.into())
    }

    fn align(&mut self) -> Result<u64, ParseError> {
        self.expect(',')?;
        if !self.eat_word("align") {
            return Err(self.unexpected("\"align\""));
        }
        self.number()
    }

    fn var(&mut self, body: &Body) -> Result<Var, ParseError> {
        let Token::Var(name) = self.peek().clone() else { return Err(self.unexpected("a variable")) };
        let (_, pos) = self.next();
        body.vars
            .get(&name)
            .copied()
            .ok_or_else(|| pos.error(ParseErrorKind::Unknown { what: "variable", name: name.text("$x") }))
    }

    // ---- operands -----------------------------------------------------------------------------------------

    pub(super) fn operand(&mut self, body: &mut Body, expected: Option<Type>) -> Result<Value, ParseError> {
        if let Token::Value(name) = self.peek() {
            // `%pair zero` is a constant of a named type.
            let next = self.peek_second();
            if !Self::begins_constant(next) || matches!(next, Token::Punct('<')) {
                let found = body.values.get(name).copied();
                let name = name.text("v");
                let (_, pos) = self.next();
                return found.ok_or_else(|| {
                    pos.error(ParseErrorKind::Unknown { what: "value", name: format!("%{name}") })
                });
            }
        }
        let c = self.typed_constant(expected, 0)?;
        Ok(body.func.constant_value(c))
    }

    pub(super) fn push_arg(&mut self, body: &mut Body, inst: Inst) -> Result<(), ParseError> {
        let index = body.func.insts[inst].args.len();
        let expected = expected_type(&self.module, &body.func, inst, index);
        let v = self.operand(body, expected)?;
        body.func.insts[inst].args.push(v);
        Ok(())
    }

    fn at_operand(&self) -> bool {
        match self.peek() {
            Token::Value(_) => true,
            // `[4 x i32] zero` against `[reads]` and `[0, 1]`.
            Token::Punct('[') => {
                matches!(self.peek_second(), Token::Number(_)) && {
                    let third = (self.mark() + 2).min(self.token_count() - 1);
                    self.is_word_at(third, "x")
                }
            }
            t => Self::begins_constant(t) || Self::begins_type(t),
        }
    }

    /// Reads operands with commas between them, up to `, align`.
    fn args(&mut self, body: &mut Body, inst: Inst) -> Result<(), ParseError> {
        if !self.at_operand() {
            return Ok(());
        }
        self.push_arg(body, inst)?;
        self.more_args(body, inst)
    }

    fn more_args(&mut self, body: &mut Body, inst: Inst) -> Result<(), ParseError> {
        while *self.peek() == Token::Punct(',')
            && !matches!(self.peek_second(), Token::Word(w) if &**w == "align")
        {
            self.skip();
            self.push_arg(body, inst)?;
        }
        Ok(())
    }

    fn call(&mut self, body: &mut Body, inst: Inst) -> Result<Op, ParseError> {
        let mut info = CallInfo { callee: None, effects: Effects::UNKNOWN, variadic_fixed: None };
        let mut indirect = None;
        if let Token::Symbol(name) = self.peek().clone() {
            let (_, pos) = self.next();
            let symbol = self.symbol(&name, pos)?;
            info.callee = Some(symbol);
            info.effects = self.module.symbols[symbol].effects;
        } else {
            indirect = Some(self.operand(body, None)?);
        }
        body.func.insts[inst].op = Op::Call(Box::new(info.clone()));
        self.expect('(')?;
        while !self.eat(')') {
            if !body.func.insts[inst].args.is_empty() {
                self.expect(',')?;
            }
            self.push_arg(body, inst)?;
        }
        body.func.insts[inst].args.extend(indirect);
        match self.optional_effects()? {
            Some(effects) => info.effects = effects,
            None if info.callee.is_none() => return Err(self.unexpected("an effect record")),
            None => {}
        }
        if self.eat_word("variadic") {
            info.variadic_fixed = Some(self.number()?);
        }
        Ok(Op::Call(Box::new(info)))
    }
}

/// Makes an instruction whose results exist already.
fn new_inst(func: &mut Function, block: Block, op: Op, results: &[Value]) -> Inst {
    let inst = func.insts.push(InstData {
        op,
        flags: InstFlags::empty(),
        args: SmallVec::new(),
        results: results.into(),
        edges: SmallVec::new(),
        block,
        loc: None.into(),
        origin: None.into(),
    });
    for (i, &r) in results.iter().enumerate() {
        func.values[r].def = ValueDef::Inst(inst, i as u32);
    }
    inst
}
