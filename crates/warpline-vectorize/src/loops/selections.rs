//! Values of one iteration that a loop keeps: of the last one in which a condition held, or of the one whose value is
//! the least or the greatest.
//!
//! ```c
//! if (x[i] < least) { least = x[i]; at = i; }      // least and at: one selection, ranked by least
//! if (c[i]) last = a[i];                           // a selection whose last iteration counts
//! ```
//!
//! A selection is a set of the header's φs that take their new values in the same iterations. Each lane selects among
//! its own iterations by the code of the loop as it is. To know which lane's selection is the loop's, a φ is added that
//! takes the number of the iteration whenever the others take something ([`Selection::number`]): a copy of the φs and
//! `select`s by which they do. Behind the vector loop
//! * the last number wins, where nothing but a condition selects;
//! * otherwise the least (greatest) value, and of the lanes that have it the first number if a later value replaces an
//!   earlier one only if it is less, the last one if it also does when equal.
//!
//! That is exactly what the sequential loop selects. Comparisons are ordered ones that a NaN never passes, so that a
//! NaN is never taken, and one before the loop is never replaced, in any lane. Of zeros with both signs, which are
//! equal, the number decides. Lanes begin with what there was before the loop and the number −1.
//!
//! What a selection takes is, if it can be computed from inductions alone, not carried by lanes but computed from the
//! number behind the loop.
//!
//! Nothing else in the loop may depend on what is selected: of the branches that compare with it, both ways must come
//! together at once, without effects.

use cranelift_entity::EntitySet;
use std::collections::HashMap;

use super::carried::{Dependent, Kind};
use super::find::Loop;
use super::search::may_repeat;
use crate::better::{Better, Order};
use crate::dependences::Growth;
use crate::if_conversion::is_pure;
use warpline_ir::{
    BinaryOp, Block, Edge, Function, Inst, InstFlags, IntPred, Module, Op, Type, Users, Value,
};

/// φs that take their values in the same iterations.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    /// Which iteration counts.
    pub(super) rank: Rank,
    /// The position of the φ that has the number of the iteration, −1 for none.
    pub(super) number: usize,
    /// The φs that take something.
    pub(super) members: Vec<Member>,
    /// Values of which none may be a NaN, or the scalar loop goes on.
    pub(super) no_nans: Vec<Value>,
}

/// Which iteration counts among those that selections of lanes come from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Rank {
    /// The last one.
    Last,
    /// The one with the best value of this φ, by position.
    Best {
        /// The position of the φ.
        phi: usize,
        /// The ordered comparison by which a value replaces another one.
        better: Better,
    },
}

/// A φ of a selection.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Its position.
    pub(super) phi: usize,
    /// What it takes in any iteration, if that is computed from inductions alone; lanes do not carry it then.
    pub(super) formula: Option<Value>,
}

impl Selection {
    /// Whether lanes carry the φ at a position.
    pub(super) fn is_computed(&self, phi: usize) -> bool {
        self.members.iter().any(|m| m.phi == phi && m.formula.is_some())
    }
}

/// So many φs of a header are looked at.
const MAX_PHIS: usize = 64;

/// So many φs and `select`s are followed from the end of an iteration to its beginning.
const MAX_NODES: usize = 256;

/// So many instructions compute what a selection takes from the number of the iteration.
const MAX_FORMULA: u32 = 8;

/// Finds the selections among φs of a header, which are given by their positions, and gives each its number: φs of the
/// header, behind those that there are.
pub(super) fn add(module: &Module, func: &mut Function, l: &Loop, among: &[usize]) -> Vec<Selection> {
    if among.is_empty() || among.len() > MAX_PHIS {
        return Vec::new();
    }
    let found = Finder::new(module, func, l, among).find();
    if found.is_empty() {
        return Vec::new();
    }
    let counter = add_counter(func, l);
    let number_of = |func: &mut Function, found: Found| {
        let number = add_number(func, l, &found.tree, counter);
        Selection { rank: found.rank, number, members: found.members, no_nans: found.no_nans }
    };
    found.into_iter().map(|f| number_of(func, f)).collect()
}

/// A selection that has no number yet.
struct Found {
    rank: Rank,
    members: Vec<Member>,
    no_nans: Vec<Value>,
    /// How one of its φs comes to its next value.
    tree: Tree,
}

/// The φs and `select`s between what a φ was and what it becomes.
struct Tree {
    phi: Value,
    next: Value,
    nodes: EntitySet<Value>,
    insts: Vec<Inst>,
    /// What is taken.
    leaves: Vec<Value>,
    dependent: Dependent,
}

impl Tree {
    /// The tree of a φ; `None` if something else than φs and `select`s lies between.
    fn of(
        module: &Module,
        func: &Function,
        l: &Loop,
        users: &Users,
        phi: Value,
        next: Value,
    ) -> Option<Tree> {
        let dependent = Dependent::of(func, users, phi);
        let has = |v: Value| dependent.values.contains(v);
        // The least or greatest of two integers: LLVM has an operation for that.
        let extremum = |i: Inst| extremum(module, func, i).is_some_and(|(_, [a, b])| has(a) != has(b));
        let calls: Vec<Inst> = dependent.insts.iter().copied().filter(|&i| extremum(i)).collect();
        let mut tree =
            Tree { phi, next, nodes: EntitySet::new(), insts: Vec::new(), leaves: Vec::new(), dependent };
        let mut work = vec![next];
        while let Some(v) = work.pop() {
            if v == phi {
                continue;
            }
            if !tree.dependent.values.contains(v) {
                if !tree.leaves.contains(&v) {
                    tree.leaves.push(v);
                }
                continue;
            }
            if !tree.nodes.insert(v) {
                continue;
            }
            let i = func.def_inst(v)?;
            tree.insts.push(i);
            match func.insts[i].op {
                Op::Select => work.extend(&func.insts[i].args[1..]),
                Op::Phi if func.insts[i].block != l.header => work.extend(incoming(func, i).map(|(_, v)| v)),
                Op::Call(_) if calls.contains(&i) => work.extend(&func.insts[i].args),
                _ => return None,
            }
            if tree.insts.len() + tree.leaves.len() > MAX_NODES {
                return None;
            }
        }
        (next != phi && !tree.leaves.is_empty() && tree.nodes.contains(next) && !tree.asks_itself(func))
            .then_some(tree)
    }

    /// Whether a truth value decides itself what it becomes, as in `ok = ok && x > 0`.
    fn asks_itself(&self, func: &Function) -> bool {
        let asks = |&i: &Inst| func.insts[i].op == Op::Select && self.has(func.insts[i].args[0]);
        self.insts.iter().any(asks)
    }

    fn has(&self, v: Value) -> bool {
        v == self.phi || self.nodes.contains(v)
    }

    /// Whether nothing depends on the φ but what leads to its next value.
    fn is_closed(&self) -> bool {
        self.dependent.insts.iter().all(|i| self.insts.contains(i))
    }
}

/// The operands of a φ, with their edges.
pub(super) fn incoming(func: &Function, phi: Inst) -> impl Iterator<Item = (Edge, Value)> + '_ {
    let position = func.phi_position(phi);
    let preds = &func.blocks[func.insts[phi].block].preds;
    preds.iter().filter_map(move |&e| Some((e, func.edges[e].args[position?])))
}

/// The order by which an instruction picks the best of two integers, and these.
fn extremum(module: &Module, func: &Function, i: Inst) -> Option<(Order, [Value; 2])> {
    let data = &func.insts[i];
    let (Op::Call(call), &[a, b]) = (&data.op, &data.args[..]) else { return None };
    let stem = module.symbols[call.callee?].name.strip_prefix("llvm.")?.split('.').next()?;
    let pred = match stem {
        "smin" => IntPred::Slt,
        "smax" => IntPred::Sgt,
        "umin" => IntPred::Ult,
        "umax" => IntPred::Ugt,
        _ => return None,
    };
    Some((Order::Int(pred), [a, b]))
}

struct Finder<'a> {
    module: &'a Module,
    func: &'a Function,
    l: &'a Loop,
    /// Positions with trees.
    trees: Vec<(usize, Tree)>,
}

impl<'a> Finder<'a> {
    fn new(module: &'a Module, func: &'a Function, l: &'a Loop, among: &[usize]) -> Finder<'a> {
        let users = l.users(func);
        let tree = |&at: &usize| {
            let phi = func.insts[func.blocks[l.header].phis[at]].results[0];
            let fits = matches!(func.ty(phi), Type::Int(1..=64) | Type::F32 | Type::F64 | Type::Ptr(_));
            let next = func.edges[l.back].args[at];
            Some((at, Tree::of(module, func, l, &users, phi, next).filter(|_| fits)?))
        };
        let trees = among.iter().filter_map(tree).collect();
        Finder { module, func, l, trees }
    }

    fn find(mut self) -> Vec<Found> {
        let mut found = Vec::new();
        while let Some(at) = self.trees.iter().position(|(_, t)| !t.is_closed()) {
            let (position, tree) = self.trees.remove(at);
            let with = self.followers(&tree);
            let Some((better, takes_nans)) = self.order(&tree, &with) else { continue };
            let no_nans = match takes_nans {
                true if self.may_go_back(&tree) => [&tree.leaves[..], &[tree.phi]].concat(),
                true => continue,
                false => Vec::new(),
            };
            let mut members = vec![Member { phi: position, formula: None }];
            let (others, mut trees) = self.take(&with);
            members.extend(others);
            // Only a condition says when something is taken.
            let tree = match (self.has_calls(&tree), trees.is_empty()) {
                (false, _) => tree,
                (true, false) => trees.swap_remove(0),
                (true, true) => continue,
            };
            found.push(Found { rank: Rank::Best { phi: position, better }, members, no_nans, tree });
        }
        while !self.trees.is_empty() {
            let (position, tree) = self.trees.remove(0);
            if self.has_calls(&tree) || !self.reaches_no_other(&tree, &[position]) {
                continue;
            }
            let with = self.followers(&tree);
            let mut members = vec![Member { phi: position, formula: self.formula(&tree) }];
            members.extend(self.take(&with).0);
            found.push(Found { rank: Rank::Last, members, no_nans: Vec::new(), tree });
        }
        found
    }

    /// Whether a tree picks the least or greatest of two integers at once, so that nothing says when.
    fn has_calls(&self, tree: &Tree) -> bool {
        tree.insts.iter().any(|&i| matches!(self.func.insts[i].op, Op::Call(_)))
    }

    /// The members that trees stand for, and these, which are taken from those that are left.
    fn take(&mut self, with: &[usize]) -> (Vec<Member>, Vec<Tree>) {
        let (mut taken, mut left) = (Vec::new(), Vec::new());
        for (k, tree) in std::mem::take(&mut self.trees).into_iter().enumerate() {
            if with.contains(&k) { taken.push(tree) } else { left.push(tree) }
        }
        self.trees = left;
        taken.into_iter().map(|(phi, tree)| (Member { phi, formula: self.formula(&tree) }, tree)).unzip()
    }

    /// Whether no other φ of the header sees what depends on this one, but those at these positions.
    fn reaches_no_other(&self, tree: &Tree, members: &[usize]) -> bool {
        let nexts = self.func.edges[self.l.back].args.iter().enumerate();
        nexts.filter(|(_, v)| tree.dependent.values.contains(**v)).all(|(k, _)| members.contains(&k))
    }

    /// Whether another φ, on which nothing else depends, takes something exactly when a first one does.
    fn follows(&self, leader: &Tree, position: usize, other: &Tree) -> bool {
        if !other.is_closed() || !self.reaches_no_other(other, &[position]) {
            return false;
        }
        let mut partner: HashMap<Value, Value> = HashMap::new();
        let mut work = vec![(leader.next, other.next)];
        while let Some((a, b)) = work.pop() {
            if !leader.has(a) || !other.has(b) {
                let independent = !leader.dependent.values.contains(b) && !other.dependent.values.contains(a);
                if leader.has(a) || other.has(b) || !independent {
                    return false;
                }
                continue;
            }
            // Each value has one partner.
            match partner.insert(a, b) {
                Some(known) if known != b => return false,
                Some(_) => continue,
                None if a == leader.phi && b == other.phi => continue,
                None if a == leader.phi || b == other.phi => return false,
                None => {}
            }
            let (Some(i), Some(j)) = (self.func.def_inst(a), self.func.def_inst(b)) else { return false };
            let (x, y) = (&self.func.insts[i], &self.func.insts[j]);
            match (&x.op, &y.op) {
                (Op::Select, Op::Select) if x.args[0] == y.args[0] => {
                    work.extend([(x.args[1], y.args[1]), (x.args[2], y.args[2])]);
                }
                (Op::Phi, Op::Phi) if x.block == y.block => {
                    work.extend(incoming(self.func, i).zip(incoming(self.func, j)).map(|(p, q)| (p.1, q.1)));
                }
                // What decides about the other one compares the same two, which `order` sees to.
                (Op::Call(_), Op::Select) if self.compares(y.args[0], &x.args) => {
                    let (new, old) =
                        if leader.has(x.args[0]) { (x.args[1], x.args[0]) } else { (x.args[0], x.args[1]) };
                    let takes_first = !other.has(y.args[1]);
                    let (taken, kept) =
                        if takes_first { (y.args[1], y.args[2]) } else { (y.args[2], y.args[1]) };
                    work.extend([(new, taken), (old, kept)]);
                }
                _ => return false,
            }
        }
        true
    }

    /// Whether a value is a comparison of these two.
    fn compares(&self, condition: Value, of: &[Value]) -> bool {
        let Some(i) = self.func.def_inst(condition) else { return false };
        let data = &self.func.insts[i];
        matches!(data.op, Op::ICmp(_)) && (data.args[..] == [of[0], of[1]] || data.args[..] == [of[1], of[0]])
    }

    /// Which of the trees that are left take something exactly when a given one does.
    fn followers(&self, leader: &Tree) -> Vec<usize> {
        let follows = |&k: &usize| self.follows(leader, self.trees[k].0, &self.trees[k].1);
        (0..self.trees.len()).filter(follows).collect()
    }

    /// The order by which a φ selects, if it selects by that alone, and nothing else depends on it but what these
    /// other trees take at the same time.
    /// Also whether the order is that only as long as no value is a NaN.
    fn order(&self, tree: &Tree, with: &[usize]) -> Option<(Better, bool)> {
        let members: Vec<usize> = with.iter().map(|&k| self.trees[k].0).collect();
        let own = self.l.position_of(self.func, tree.phi)?;
        if self.func.ty(tree.phi).is_ptr() {
            return None;
        }
        if !self.reaches_no_other(tree, &[&[own][..], &members].concat()) {
            return None;
        }
        let mut selector = Selector::new(self, tree, with);
        for &i in &tree.insts {
            selector.node(i)?;
        }
        for &i in with.iter().flat_map(|&k| &self.trees[k].1.insts) {
            selector.follower(i)?;
        }
        let allowed = |&i: &Inst| {
            tree.insts.contains(&i)
                || with.iter().any(|&k| self.trees[k].1.insts.contains(&i))
                || self.func.insts[i].result().is_some_and(|v| selector.conditions.contains(v))
                || selector.is_harmless_branch(i)
        };
        // Also what the followers add must lead nowhere else.
        if !tree.dependent.insts.iter().all(allowed) {
            return None;
        }
        let better = selector.better.filter(|b| selector.of_calls.is_none_or(|order| order == b.order))?;
        Some((better, selector.takes_nans))
    }

    /// Whether an iteration can be executed twice, since nothing is written in the loop, and what a φ takes is known at
    /// its end.
    fn may_go_back(&self, tree: &Tree) -> bool {
        let (func, l) = (self.func, self.l);
        let mut insts =
            func.layout.iter().filter(|&&b| l.blocks.contains(b)).flat_map(|&b| func.block_insts(b));
        let writes = insts.any(|i| !may_repeat(self.module, &func.insts[i]));
        let known =
            |&v: &Value| func.def_block(v).is_none_or(|b| !l.blocks.contains(b) || l.is_always(func, b));
        !writes && tree.leaves.iter().all(known)
    }

    /// What a φ takes, if that is one value in all places that is computed from inductions.
    fn formula(&self, tree: &Tree) -> Option<Value> {
        let &[leaf] = &tree.leaves[..] else { return None };
        self.is_formula(leaf, MAX_FORMULA).then_some(leaf)
    }

    fn is_formula(&self, v: Value, depth: u32) -> bool {
        if self.l.is_invariant(self.func, v) {
            return true;
        }
        let Some(i) = self.func.def_inst(v) else { return false };
        let data = &self.func.insts[i];
        match data.op {
            Op::Phi if data.block == self.l.header => self
                .l
                .induction(self.module, self.func, v)
                .is_some_and(|(_, step)| matches!(step, Growth::Constant(_))),
            Op::Cast(_) | Op::Binary(_) | Op::Gep(_) => {
                depth > 0
                    && is_pure(self.module, self.func, i)
                    && data.args.iter().all(|&a| self.is_formula(a, depth - 1))
            }
            _ => false,
        }
    }
}

/// What a value is compared with to be selected.
struct Selector<'a> {
    finder: &'a Finder<'a>,
    tree: &'a Tree,
    with: &'a [usize],
    better: Option<Better>,
    /// Whether a NaN, which is neither better nor worse, is taken or replaced.
    takes_nans: bool,
    /// The order of operations that pick the least or greatest.
    of_calls: Option<Order>,
    /// Values that depend on what is selected and decide nothing but what is selected.
    conditions: EntitySet<Value>,
}

impl<'a> Selector<'a> {
    fn new(finder: &'a Finder<'a>, tree: &'a Tree, with: &'a [usize]) -> Selector<'a> {
        let conditions = EntitySet::new();
        Selector { finder, tree, with, better: None, takes_nans: false, of_calls: None, conditions }
    }

    /// Looks at a φ or `select` of the tree.
    fn node(&mut self, i: Inst) -> Option<()> {
        let (func, tree) = (self.finder.func, self.tree);
        let data = &func.insts[i];
        if data.op == Op::Select {
            let (cond, x, y) = (data.args[0], data.args[1], data.args[2]);
            if !tree.dependent.values.contains(cond) {
                return (tree.has(x) && tree.has(y)).then_some(());
            }
            return match (tree.has(x), tree.has(y)) {
                (false, true) => self.compared(cond, x, y, true),
                (true, false) => self.compared(cond, y, x, false),
                _ => None,
            };
        }
        if let Some((order, _)) = extremum(self.finder.module, func, i) {
            return match self.of_calls {
                Some(known) if known != order => None,
                _ => {
                    self.of_calls = Some(order);
                    Some(())
                }
            };
        }
        let operands: Vec<(Edge, Value)> = incoming(func, i).collect();
        for &(e, v) in &operands {
            // Which way control took may depend on a comparison: then it is one of the two below.
            let from = self.branch_before(e);
            let depends = from.filter(|&(d, _)| self.depends(d));
            let Some((d, when)) = depends else {
                if tree.has(v) {
                    continue;
                }
                return None;
            };
            let other =
                operands.iter().find(|(o, _)| self.branch_before(*o) == Some((d, !when))).map(|&(_, v)| v)?;
            match (tree.has(v), tree.has(other)) {
                (false, true) => self.compared(func.insts[func.terminator(d)].args[0], v, other, when)?,
                (true, false) => {}
                (true, true) if v == other => {}
                _ => return None,
            }
        }
        Some(())
    }

    /// Looks at a `select` of what is taken at the same time.
    fn follower(&mut self, i: Inst) -> Option<()> {
        let (func, tree) = (self.finder.func, self.tree);
        let data = &func.insts[i];
        let condition = data.args.first().copied();
        let Some(cond) = condition.filter(|c| data.op == Op::Select && tree.dependent.values.contains(*c))
        else {
            return Some(());
        };
        if self.conditions.contains(cond) {
            return Some(());
        }
        let compared = &func.insts[func.def_inst(cond)?].args;
        let &[a, b] = &compared[..] else { return None };
        let (x, y) = if tree.has(a) { (b, a) } else { (a, b) };
        let is_kept = |v: Value| self.with.iter().any(|&k| self.finder.trees[k].1.has(v));
        self.compared(cond, x, y, !is_kept(data.args[1]))
    }

    /// Whether a block ends in a branch that depends on what is selected.
    fn depends(&self, block: Block) -> bool {
        let func = self.finder.func;
        let data = &func.insts[func.terminator(block)];
        data.args.first().is_some_and(|c| self.tree.dependent.values.contains(*c))
    }

    /// The block that decides whether an edge is taken, and by what its condition then is: where the edge begins, or
    /// the one before if the edge begins in a block that does nothing else.
    fn branch_before(&self, e: Edge) -> Option<(Block, bool)> {
        let func = self.finder.func;
        let from = func.edges[e].from;
        let when = |block: Block, e: Edge| {
            let t = &func.insts[func.terminator(block)];
            (t.op == Op::CondBr && t.edges[0] != t.edges[1]).then(|| (block, t.edges[0] == e))
        };
        if func.out_edges(from).len() > 1 {
            return when(from, e);
        }
        match func.blocks[from].preds[..] {
            [pred]
                if self.finder.l.blocks.contains(func.edges[pred].from) && from != self.finder.l.header =>
            {
                when(func.edges[pred].from, pred)
            }
            _ => None,
        }
    }

    /// Notes that `x` is taken instead of `y` if a condition is `when`.
    fn compared(&mut self, cond: Value, x: Value, y: Value, when: bool) -> Option<()> {
        let func = self.finder.func;
        let i = func.def_inst(cond)?;
        let data = &func.insts[i];
        let depends = |v: Value| self.tree.dependent.values.contains(v);
        let found = match (&data.op, &data.args[..]) {
            // Both must hold.
            (Op::Select | Op::Binary(BinaryOp::And), &[a, b, ref no @ ..])
                if when && no.iter().all(|&no| func.as_int(no) == Some(0)) =>
            {
                let (on, free) = if depends(a) { (a, b) } else { (b, a) };
                if depends(free) {
                    return None;
                }
                self.conditions.insert(cond);
                return self.compared(on, x, y, when);
            }
            (Op::Binary(BinaryOp::Xor), &[a, yes]) if func.as_int(yes) == Some(1) => {
                self.conditions.insert(cond);
                return self.compared(a, x, y, !when);
            }
            (Op::ICmp(_) | Op::FCmp(_), &[a, b]) if (a, b) == (x, y) || (a, b) == (y, x) => {
                let (better, takes_nans) = Better::of(&data.op, a == x, when)?;
                self.takes_nans |= takes_nans && !data.flags.contains(InstFlags::NNAN);
                better
            }
            _ => return None,
        };
        self.conditions.insert(cond);
        match self.better {
            Some(better) if better != found => None,
            _ => {
                self.better = Some(found);
                Some(())
            }
        }
    }

    /// Whether an instruction is a branch on one of the conditions, whose ways come together at once and do nothing
    /// that is seen but by the φs of the selection.
    fn is_harmless_branch(&self, i: Inst) -> bool {
        let func = self.finder.func;
        let data = &func.insts[i];
        if data.op != Op::CondBr || !self.conditions.contains(data.args[0]) {
            return false;
        }
        let join = |e: Edge| {
            let to = func.edges[e].to;
            let alone = func.blocks[to].preds.len() == 1 && func.out_edges(to).len() == 1;
            let arm = alone && func.insts[func.terminator(to)].op == Op::Br && to != self.finder.l.header;
            let silent = || {
                func.blocks[to].insts.iter().all(|&i| func.insts[i].effects().is_empty() || is_load(func, i))
            };
            if arm && silent() {
                (func.out_edges(to)[0], func.edges[func.out_edges(to)[0]].to)
            } else {
                (e, to)
            }
        };
        let [(a, x), (b, y)] = [data.edges[0], data.edges[1]].map(join);
        if x != y || x == self.finder.l.header || !self.finder.l.blocks.contains(x) {
            return false;
        }
        // What is merged there otherwise would tell which way was taken.
        func.blocks[x].phis.iter().enumerate().all(|(k, &phi)| {
            let v = func.insts[phi].results[0];
            let is_own = self.tree.has(v) || self.with.iter().any(|&t| self.finder.trees[t].1.has(v));
            is_own || func.edges[a].args[k] == func.edges[b].args[k]
        })
    }
}

/// Whether an instruction is a load that nobody notices.
fn is_load(func: &Function, i: Inst) -> bool {
    matches!(&func.insts[i].op, Op::Load(access) if access.is_simple())
}

/// Adds a φ that counts iterations from 0.
fn add_counter(func: &mut Function, l: &Loop) -> Value {
    let bits = NUMBER_BITS;
    let counter = func.add_phi(l.header, Type::Int(bits));
    let (zero, one) = (func.int_const(bits, 0), func.int_const(bits, 1));
    let latch = func.edges[l.back].from;
    let next = func.append_value(latch, Op::Binary(BinaryOp::Add), &[counter, one], Type::Int(bits));
    l.hand_on(func, counter, zero, next);
    counter
}

/// The width of numbers of iterations; vectors of them are signed.
pub(super) const NUMBER_BITS: u32 = 32;

/// The greatest number of iterations that have numbers, which are less.
pub(super) const MAX_NUMBER: i64 = i32::MAX as i64;

/// Adds a φ that takes the number of the iteration where a tree takes something. Its position.
fn add_number(func: &mut Function, l: &Loop, tree: &Tree, counter: Value) -> usize {
    let ty = Type::Int(NUMBER_BITS);
    let number = func.add_phi(l.header, ty);
    let position = func.blocks[l.header].phis.len() - 1;
    let mut made: HashMap<Value, Value> = HashMap::from([(tree.phi, number)]);
    // φs first: they may need each other.
    let (phis, mut selects): (Vec<Inst>, Vec<Inst>) =
        tree.insts.iter().partition(|&&i| func.insts[i].op == Op::Phi);
    for &i in &phis {
        let phi = func.add_phi(func.insts[i].block, ty);
        made.insert(func.insts[i].results[0], phi);
    }
    let stands = |made: &HashMap<Value, Value>, v: Value| match tree.has(v) {
        true => made.get(&v).copied(),
        false => Some(counter),
    };
    // Each `select` behind those that it needs.
    while !selects.is_empty() {
        let is_ready = |&i: &Inst| func.insts[i].args[1..].iter().all(|&a| stands(&made, a).is_some());
        let Some(at) = selects.iter().position(is_ready) else { break };
        let i = selects.remove(at);
        let args = func.insts[i].args.clone();
        let arms = [args[1], args[2]].map(|a| stands(&made, a).unwrap_or(counter));
        let new =
            func.insert_value_before(i, Op::Select, &[args[0], arms[0], arms[1]], ty, InstFlags::empty());
        made.insert(func.insts[i].results[0], new);
    }
    for i in phis {
        let phi = made[&func.insts[i].results[0]];
        let at = func.def_inst(phi).and_then(|p| func.phi_position(p)).unwrap_or(0);
        let operands: Vec<(Edge, Value)> = incoming(func, i).collect();
        for (e, v) in operands {
            let v = stands(&made, v).unwrap_or(counter);
            func.set_phi_arg(e, at, v);
        }
    }
    let none = func.int_const(NUMBER_BITS, u128::from(u32::MAX));
    let into = func.out_edges(l.preheader)[0];
    func.set_phi_arg(into, position, none);
    let next = stands(&made, tree.next).unwrap_or(counter);
    func.set_phi_arg(l.back, position, next);
    position
}

/// What a φ at a position is, if it belongs to a selection.
pub(super) fn kind_of(selections: &[Selection], position: usize) -> Option<Kind> {
    let at = selections
        .iter()
        .position(|s| s.number == position || s.members.iter().any(|m| m.phi == position))?;
    Some(if selections[at].is_computed(position) { Kind::Computed } else { Kind::Selected })
}
