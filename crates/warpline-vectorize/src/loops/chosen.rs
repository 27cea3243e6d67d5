//! What iterations hand on, chosen before branches instead of behind them.
//!
//! ```c
//! if (x[i] == ' ') in = false;            // in' = x[i] != ' '
//! else { if (!in) words++; in = true; }
//! ```
//!
//! The φ behind the branches says what `in` becomes, and the branches look at what it was. Lanes pass it on before
//! they branch, so it must be known by then: it is chosen by the branches' conditions, as far as these are computed
//! where they begin, or can be: loads that all ways make are made before they part.

use std::collections::HashMap;

use warpline_analysis::Node;
use warpline_ir::{Block, Function, Inst, Module, Op, Type, Value};

use super::carried::{Dependent, Kind};
use super::exits::{is_one_of, not};
use super::find::{Loop, dominates};
use crate::hoist_loads;
use crate::if_conversion::may_move_up;

/// So many blocks and cases of switches are looked through.
const MOST: usize = 24;

/// So many φs are looked at on the way to what one becomes.
const MAX_JOINS: usize = 16;
/// If more depends on a φ, nobody looks who sees it.
const MAX_DEPENDENT: usize = 200;

/// Rewrites what φs of the header become where branches look at what they were.
pub(super) fn settle(module: &Module, func: &mut Function, l: &Loop) {
    let nexts = func.edges[l.back].args.to_vec();
    let joins: Vec<Block> =
        nexts.iter().flat_map(|&next| joins(func, l, next)).map(|i| func.insts[i].block).collect();
    if joins.is_empty() {
        return;
    }
    let kinds = l.kinds(module, func, false);
    if kinds.iter().any(Result::is_err) {
        // What all ways load is there before they part.
        let leads_to_join = |func: &Function, b: Block| {
            let begins = |&join: &Block| b != join && dominates(&l.dominators, b, join);
            l.own.contains(b) && b != func.insts[l.test].block && joins.iter().any(begins)
        };
        hoist_loads::before_branches(module, func, leads_to_join);
    }
    for (position, kind) in kinds.into_iter().enumerate() {
        let phi = func.insts[func.blocks[l.header].phis[position]].results[0];
        let Some(next) = func.def_inst(nexts[position]) else { continue };
        let fits = match kind {
            Ok(Kind::Previous) => is_seen_before(func, l, phi, func.insts[next].block),
            Ok(Kind::Scan { .. }) | Err(_) => is_seen(func, l, phi, next),
            Ok(_) => false,
        };
        if fits {
            choose(module, func, l, position);
        }
    }
}

/// Chooses what a φ of the header becomes before the branches that decide it, as far as that can be done.
fn choose(module: &Module, func: &mut Function, l: &Loop, position: usize) {
    let mut left = Vec::new();
    for _ in 0..MAX_JOINS {
        let mut all = joins(func, l, func.edges[l.back].args[position]);
        all.retain(|i| !left.contains(i));
        // Outer ones are made of inner ones and of those before them.
        let place = |i: &Inst| func.layout.iter().position(|&b| b == func.insts[*i].block);
        all.sort_by_key(|i| (l.dominators.level(Node::from(func.insts[*i].block)), place(i)));
        let found = all.iter().find_map(|&i| Some((i, Choice::of(module, func, l, i)?)));
        left.extend(all.iter().copied().take_while(|&i| found.as_ref().is_none_or(|f| f.0 != i)));
        let Some((join, choice)) = found else { break };
        choice.rewrite(func, join);
    }
    move_up(module, func, l, position);
}

/// Computes what a φ of the header becomes in the block that looks at it first, if that needs nothing from behind it
/// but pure operations.
fn move_up(module: &Module, func: &mut Function, l: &Loop, position: usize) {
    let phi = func.insts[func.blocks[l.header].phis[position]].results[0];
    let users = l.users(func);
    let blocks = users.get(phi).iter().map(|&i| Node::from(func.insts[i].block));
    let first = blocks.reduce(|a, b| l.dominators.nearest_common_dominator(a, b)).map(Block::from);
    let Some(first) = first.filter(|&b| l.own.contains(b)) else { return };
    let next = func.edges[l.back].args[position];
    let (mut moved, mut work) = (Vec::new(), vec![next]);
    while let Some(v) = work.pop() {
        let is_there = func.def_block(v).is_none_or(|b| dominates(&l.dominators, b, first));
        let Some(i) = func.def_inst(v).filter(|i| !is_there && !moved.contains(i)) else { continue };
        if !may_move_up(module, func, i) || moved.len() == MAX_DEPENDENT {
            return;
        }
        moved.push(i);
        work.extend(func.insts[i].args.iter().copied());
    }
    in_order(func, l, &mut moved);
    move_to(func, &moved, first);
}

/// Puts instructions into the order in which they are executed.
pub(super) fn in_order(func: &Function, l: &Loop, insts: &mut [Inst]) {
    let place = |i: &Inst| {
        let b = func.insts[*i].block;
        let block = func.layout.iter().position(|&x| x == b);
        (l.dominators.level(Node::from(b)), block, func.blocks[b].insts.iter().position(|x| x == i))
    };
    insts.sort_by_key(place);
}

/// Moves instructions to the end of a block.
fn move_to(func: &mut Function, insts: &[Inst], to: Block) {
    for &i in insts {
        let block = func.insts[i].block;
        func.blocks[block].insts.retain(|&x| x != i);
        func.insts[i].block = to;
        func.blocks[to].insts.push(i);
    }
}

/// The φs from which a value of the loop is computed in the same iteration, by instructions of no inner loop.
fn joins(func: &Function, l: &Loop, v: Value) -> Vec<Inst> {
    let (mut work, mut seen, mut found) = (vec![v], Vec::new(), Vec::new());
    while let Some(v) = work.pop() {
        let own = |i: &Inst| l.own.contains(func.insts[*i].block);
        let Some(i) = func.def_inst(v).filter(own).filter(|i| !seen.contains(i)) else { continue };
        seen.push(i);
        let data = &func.insts[i];
        match data.op {
            Op::Phi if data.block == l.header => {}
            Op::Phi => {
                found.push(i);
                work.extend(super::selections::incoming(func, i).map(|(_, v)| v));
            }
            Op::Load(_) | Op::Call(_) | Op::Opaque(_) => {}
            _ => work.extend(data.args.iter().copied()),
        }
        if found.len() > MAX_JOINS || seen.len() > MAX_DEPENDENT {
            return Vec::new();
        }
    }
    found
}

/// Whether a φ of the header is used in blocks that come before another.
fn is_seen_before(func: &Function, l: &Loop, phi: Value, block: Block) -> bool {
    let users = l.users(func);
    users.get(phi).iter().any(|&i| !dominates(&l.dominators, block, func.insts[i].block))
}

/// Whether something that does not lead to what a φ becomes depends on it.
fn is_seen(func: &Function, l: &Loop, phi: Value, next: Inst) -> bool {
    let users = l.users(func);
    let dependent = Dependent::of(func, &users, phi).insts;
    let leads = |i: Inst| {
        let results = func.insts[i].results.iter();
        i == next || results.into_iter().any(|&r| Dependent::of(func, &users, r).insts.contains(&next))
    };
    dependent.len() <= MAX_DEPENDENT && dependent.into_iter().any(|i| !leads(i))
}

/// The branches by which control comes to a join.
struct Choice {
    /// The block in which they begin.
    begin: Block,
    /// Instructions behind it that are computed in it from now on.
    moved: Vec<Inst>,
}

impl Choice {
    fn of(module: &Module, func: &Function, l: &Loop, join: Inst) -> Option<Choice> {
        let block = func.insts[join].block;
        let begin = Block::from(l.dominators.idom(Node::from(block))?);
        let mut choice = Choice { begin, moved: Vec::new() };
        let mut seen = Vec::new();
        let mut work = vec![begin];
        while let Some(b) = work.pop() {
            if seen.contains(&b) {
                continue;
            }
            seen.push(b);
            let edges = func.out_edges(b);
            let branches = matches!(func.insts[func.terminator(b)].op, Op::Br | Op::CondBr | Op::Switch(_));
            let inside = l.own.contains(b) && (b == begin || b != l.header);
            if !branches || !inside || seen.len() + edges.len() > MOST {
                return None;
            }
            work.extend(edges.iter().map(|&e| func.edges[e].to).filter(|&to| to != block));
        }
        let is_new = |v: &Value| func.def_block(*v).is_some_and(|b| b != begin && seen.contains(&b));
        let position = func.phi_position(join)?;
        let ends = seen.iter().map(|&b| func.terminator(b));
        let asked = ends.filter_map(|t| func.insts[t].args.first().copied());
        let handed = func.blocks[block].preds.iter().map(|&e| func.edges[e].args[position]);
        let mut needed: Vec<Value> = asked.chain(handed).filter(is_new).collect();
        while let Some(v) = needed.pop() {
            let i = func.def_inst(v)?;
            if !may_move_up(module, func, i) || choice.moved.len() == MOST {
                return None;
            }
            if !choice.moved.contains(&i) {
                choice.moved.push(i);
                needed.extend(func.insts[i].args.iter().copied().filter(is_new));
            }
        }
        in_order(func, l, &mut choice.moved);
        Some(choice)
    }

    /// Chooses in the block in which the branches begin.
    fn rewrite(self, func: &mut Function, join: Inst) {
        move_to(func, &self.moved, self.begin);
        let (old, block) = (func.insts[join].results[0], func.insts[join].block);
        let position = func.phi_position(join).expect("it is a φ");
        let mut maker = Maker { begin: self.begin, block, position, made: HashMap::new() };
        let new = maker.at_end_of(func, self.begin);
        func.map_operands(|v| if v == old { new } else { v });
        func.retain_phis(block, |phi| phi != join);
    }
}

/// Makes the value that a φ has when control is at the end of a block.
struct Maker {
    begin: Block,
    /// The φ's block, and its position there.
    block: Block,
    position: usize,
    made: HashMap<Block, Value>,
}

impl Maker {
    fn at_end_of(&mut self, func: &mut Function, b: Block) -> Value {
        if let Some(&known) = self.made.get(&b) {
            return known;
        }
        let branch = func.terminator(b);
        let edges = func.out_edges(b).to_vec();
        let asked = func.insts[branch].args.first().copied();
        let values: Vec<Value> = edges
            .iter()
            .map(|&e| match func.edges[e].to {
                to if to == self.block => func.edges[e].args[self.position],
                to => self.at_end_of(func, to),
            })
            .collect();
        let value = match (func.insts[branch].op.clone(), asked) {
            (Op::CondBr, Some(condition)) => self.choose(func, condition, values[0], values[1]),
            (Op::Switch(cases), Some(number)) => self.by_number(func, number, &cases, &values),
            _ => values[0],
        };
        self.made.insert(b, value);
        value
    }

    /// By the cases of a switch; those that have one value in common are asked for together.
    fn by_number(&self, func: &mut Function, number: Value, cases: &[u128], values: &[Value]) -> Value {
        let mut value = values[0];
        let mut left: Vec<(u128, Value)> = cases.iter().copied().zip(values[1..].iter().copied()).collect();
        left.retain(|&(_, v)| v != value);
        while let Some(&(_, v)) = left.first() {
            let same: Vec<u128> = left.extract_if(.., |&mut (_, x)| x == v).map(|(case, _)| case).collect();
            let any = is_one_of(func, self.begin, number, &same);
            value = self.choose(func, any, v, value);
        }
        value
    }

    fn choose(&self, func: &mut Function, condition: Value, yes: Value, no: Value) -> Value {
        let ty = func.ty(yes);
        match (ty == Type::BOOL, func.as_int(yes), func.as_int(no)) {
            _ if yes == no => yes,
            (true, Some(1), Some(0)) => condition,
            (true, Some(0), Some(1)) => not(func, self.begin, condition),
            _ => func.append_value(self.begin, Op::Select, &[condition, yes, no], ty),
        }
    }
}
