//! Walks through functions along given paths: what every instruction sees, so that a function can be compared with
//! what a pass has made of it. Nothing is computed; a value is known by the instruction and the step that made it.

use std::collections::HashMap;

use warpline_ir::*;

use crate::rng::SplitMix64;

/// What a value is on a walk: where it was computed, or what constant it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    /// A parameter.
    Param(Value),
    /// A constant.
    Const(Constant),
    /// What a variable held that was not written, with the constant that stands for it.
    Unwritten(Constant),
    /// An instruction's result: which instruction, the number of the step in which it was computed, and which result.
    Computed(Inst, usize, usize),
    /// A value that was used before control came to its definition.
    Unset,
}

/// The operands of all instructions on a walk, in order; a block's mask counts as an operand of its terminator.
pub type Trace = Vec<(Inst, Vec<Token>)>;

/// A path from the entry.
pub fn random_path(func: &Function, rng: &mut SplitMix64) -> Vec<Edge> {
    let mut path = Vec::new();
    let mut at = func.entry();
    while !func.out_edges(at).is_empty() && path.len() < 40 {
        let e = *rng.pick(func.out_edges(at));
        path.push(e);
        at = func.edges[e].to;
    }
    path
}

struct Walk<'a> {
    func: &'a Function,
    /// Instructions with larger numbers are not recorded: they did not exist before the pass.
    known: usize,
    values: HashMap<Value, Token>,
    vars: HashMap<Var, Token>,
    trace: Trace,
    step: usize,
}

impl Walk<'_> {
    fn get(&self, v: Value) -> Token {
        match self.func.values[v].def {
            ValueDef::Param(_) => Token::Param(v),
            ValueDef::Const(_) => Token::Const(self.func.constant(v).expect("a constant").clone()),
            ValueDef::Inst(..) => self.values.get(&v).cloned().unwrap_or(Token::Unset),
        }
    }

    fn block(&mut self, b: Block) {
        let func = self.func;
        for &i in func.blocks[b].insts.iter().chain(func.blocks[b].term.expand().iter()) {
            let data = &func.insts[i];
            let args: Vec<Token> = data.args.iter().map(|&a| self.get(a)).collect();
            match data.op {
                Op::ReadVar(x) => {
                    let ty = func.vars[x].ty;
                    let unwritten = Token::Unwritten(match func.vars[x].unwritten {
                        Unwritten::Poison => Constant::Poison(ty),
                        Unwritten::Undef => Constant::Undef(ty),
                    });
                    let token = self.vars.get(&x).cloned().unwrap_or(unwritten);
                    self.values.insert(data.results[0], token);
                }
                Op::WriteVar(x) => {
                    self.vars.insert(x, args[0].clone());
                }
                Op::ParallelCopy => {
                    for (&r, a) in data.results.iter().zip(args) {
                        self.values.insert(r, a);
                    }
                }
                Op::Sigma => {
                    for &r in &data.results {
                        self.values.insert(r, args[0].clone());
                    }
                }
                _ => {
                    for (k, &r) in data.results.iter().enumerate() {
                        self.values.insert(r, Token::Computed(i, self.step, k));
                    }
                    if (i.as_u32() as usize) < self.known {
                        self.trace.push((i, args));
                    }
                }
            }
        }
        if let Some(m) = func.blocks[b].mask.expand() {
            let mask = vec![self.get(m)];
            self.trace.push((func.terminator(b), mask));
        }
    }

    fn edge(&mut self, e: Edge) -> Block {
        let func = self.func;
        let edge = &func.edges[e];
        let args: Vec<Token> = edge.args.iter().map(|&a| self.get(a)).collect();
        for (&p, a) in func.blocks[edge.to].phis.iter().zip(args) {
            self.values.insert(func.insts[p].results[0], a);
        }
        edge.to
    }
}

/// Walks along a path of edges that were there when the function had `known` instructions and `blocks` blocks. Blocks
/// that were put on edges since are passed through.
pub fn walk(func: &Function, path: &[Edge], known: usize, blocks: usize) -> Trace {
    let (values, vars) = (HashMap::new(), HashMap::new());
    let mut walk = Walk { func, known, values, vars, trace: Vec::new(), step: 0 };
    walk.block(func.entry());
    for &e in path {
        walk.step += 1;
        let mut at = walk.edge(e);
        while at.as_u32() as usize >= blocks {
            walk.block(at);
            at = walk.edge(func.out_edges(at)[0]);
        }
        walk.block(at);
    }
    walk.trace
}

/// Whether every instruction sees after a pass what it saw before. What was unwritten must be the same constant, or
/// else (`lenient`) may be anything, an unset value too.
pub fn agree(before: &Trace, after: &Trace, lenient: bool) -> bool {
    let same = |(a, b): (&Token, &Token)| match (a, b) {
        (Token::Unwritten(_), _) if lenient => true,
        (Token::Unwritten(a) | Token::Const(a), Token::Unwritten(b) | Token::Const(b)) => a == b,
        _ => a == b && *a != Token::Unset,
    };
    let same_operands = |a: &[Token], b: &[Token]| a.len() == b.len() && a.iter().zip(b).all(same);
    before.len() == after.len()
        && before.iter().zip(after).all(|(a, b)| a.0 == b.0 && same_operands(&a.1, &b.1))
}
