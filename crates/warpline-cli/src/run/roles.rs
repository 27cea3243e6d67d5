//! What the integers that a function is given are to it: how far its loops go, or numbers as others are; and whether
//! its loops search. By the code alone, so it is a guess, for [data that is made up](super::made_up).

use std::collections::{HashMap, HashSet};

use warpline::ir::{BinaryOp, CastOp, Effects, Function, Inst, Op, Value};
use warpline::vectorize::loops::Nest;

/// What an integer is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// It bounds a loop, is part of an address, or is passed on.
    Extent,
    /// It is taken from another extent, as the length of what is looked for or averaged over.
    Part,
    /// So many bits are moved.
    Shift,
    /// It is computed and compared with.
    Number,
}

/// A function, by its values' users.
pub(super) struct Roles<'a> {
    pub(super) func: &'a Function,
    nest: Nest,
    users: HashMap<Value, Vec<Inst>>,
    /// The φs that values are passed to.
    passed: HashMap<Value, Vec<Value>>,
    /// The comparisons by which loops are left.
    tests: HashSet<Inst>,
}

/// So many values are looked through to find what one is computed from.
const MOST_BEHIND: usize = 64;

impl<'a> Roles<'a> {
    pub(super) fn of(func: &'a Function) -> Roles<'a> {
        let nest = Nest::of(func);
        let mut users = HashMap::<Value, Vec<Inst>>::new();
        let mut passed = HashMap::<Value, Vec<Value>>::new();
        for &b in &func.layout {
            for i in func.block_insts(b) {
                func.insts[i].args.iter().for_each(|&a| users.entry(a).or_default().push(i));
            }
            for &e in func.out_edges(b) {
                let phis = &func.blocks[func.edges[e].to].phis;
                for (&arg, &phi) in func.edges[e].args.iter().zip(phis) {
                    passed.entry(arg).or_default().extend(func.insts[phi].result());
                }
            }
        }
        let leaving = nest.headers().flat_map(|h| nest.leaving(func, h).collect::<Vec<_>>());
        let conditions = leaving.filter_map(|b| func.insts[func.terminator(b)].args.first().copied());
        let tests = conditions.flat_map(|c| comparisons(func, c)).collect();
        Roles { func, nest, users, passed, tests }
    }

    /// What a parameter is.
    pub(super) fn role(&self, param: Value) -> Role {
        let (mut seen, mut work) = (HashSet::new(), vec![param]);
        let (mut is_extent, mut is_shift) = (false, false);
        while let Some(v) = work.pop() {
            if !seen.insert(v) {
                continue;
            }
            work.extend(self.passed.get(&v).into_iter().flatten().copied());
            for &i in self.users.get(&v).into_iter().flatten() {
                let data = &self.func.insts[i];
                let is_intrinsic = || !data.effects().intersects(Effects::WRITES);
                match data.op {
                    Op::Binary(BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr) if data.args[1] == v => {
                        is_shift = true;
                    }
                    Op::Cast(_) | Op::Freeze | Op::Binary(_) | Op::Select => work.extend(data.result()),
                    Op::ICmp(_) => is_extent |= self.tests.contains(&i) && !self.looks(i),
                    Op::Gep(_) => is_extent |= data.args[1..].contains(&v),
                    Op::Call(_) if is_intrinsic() => work.extend(data.result()),
                    Op::Call(_) => is_extent = true,
                    _ => {}
                }
            }
        }
        match (is_extent, is_shift) {
            (true, _) if self.is_part(param) => Role::Part,
            (true, _) => Role::Extent,
            (false, true) => Role::Shift,
            (false, false) => Role::Number,
        }
    }

    /// Whether a loop is left because of what lies in memory.
    pub(super) fn searches(&self) -> bool {
        self.tests.iter().any(|&i| self.looks(i))
    }

    /// Whether a comparison is of what lies in memory.
    fn looks(&self, comparison: Inst) -> bool {
        let mut seen = HashSet::new();
        let mut work = self.func.insts[comparison].args.to_vec();
        while let Some(v) = work.pop().filter(|_| seen.len() < MOST_BEHIND) {
            let Some(i) = self.func.def_inst(v).filter(|_| seen.insert(v)) else { continue };
            match self.func.insts[i].op {
                Op::Load(_) => return true,
                Op::Phi => {}
                _ => work.extend(self.func.insts[i].args.iter().copied()),
            }
        }
        false
    }

    /// Whether a parameter is added to what is compared with another one, subtracted from another one, or where a
    /// loop begins that another one ends.
    fn is_part(&self, param: Value) -> bool {
        let func = self.func;
        let is_other = |v: Value| {
            let v = without_casts(func, v);
            v != param && func.params.contains(&v)
        };
        let mut all = vec![param];
        let mut at = 0;
        while let Some(&v) = all.get(at) {
            at += 1;
            for &i in self.users.get(&v).into_iter().flatten() {
                let data = &func.insts[i];
                let compared = || {
                    let result = data.result().into_iter();
                    result
                        .flat_map(|r| self.users.get(&r).into_iter().flatten())
                        .any(|u| self.tests.contains(u))
                };
                let other = |n: usize| data.args.get(n).copied().filter(|&a| a != v);
                let part = match data.op {
                    Op::Cast(_) | Op::Freeze => {
                        all.extend(data.result());
                        false
                    }
                    Op::Binary(BinaryOp::Add) => {
                        let with = other(0).or(other(1));
                        with.is_some_and(|w| func.constant(w).is_none() && !is_other(w)) && compared()
                    }
                    Op::Binary(BinaryOp::Sub) => data.args[1] == v && is_other(data.args[0]),
                    _ => false,
                };
                if part {
                    return true;
                }
            }
            if self.passed.get(&v).into_iter().flatten().any(|&phi| self.begins(phi, &is_other)) {
                return true;
            }
        }
        false
    }

    /// Whether a φ counts in a loop that ends at one of these values.
    fn begins(&self, phi: Value, ends: &dyn Fn(Value) -> bool) -> bool {
        let is_header = self.func.def_block(phi).is_some_and(|b| self.nest.headers().any(|h| h == b));
        let tests = self.users.get(&phi).into_iter().flatten().filter(|&i| self.tests.contains(i));
        is_header && tests.flat_map(|&i| &self.func.insts[i].args).any(|&a| ends(a))
    }

    /// How many loops that go as far as a parameter says are in each other: one may bound rows and columns.
    pub(super) fn depth(&self) -> usize {
        let Roles { func, nest, .. } = self;
        // Or one less, as where there is a border.
        let near = |value: Value| {
            let inst = func
                .def_inst(value)
                .filter(|&i| matches!(func.insts[i].op, Op::Binary(BinaryOp::Add | BinaryOp::Sub)));
            inst.filter(|&i| func.as_int(func.insts[i].args[1]).is_some())
                .map_or(value, |i| func.insts[i].args[0])
        };
        let is_param =
            |&value: &Value| func.params.contains(&without_casts(func, near(without_casts(func, value))));
        let by_param = |block| {
            let test = func.insts[func.terminator(block)].args.first().and_then(|&c| func.def_inst(c));
            test.is_some_and(|i| {
                matches!(func.insts[i].op, Op::ICmp(_)) && func.insts[i].args.iter().any(is_param)
            })
        };
        let counts: Vec<_> = nest.headers().filter(|&h| nest.leaving(func, h).any(by_param)).collect();
        let around = |&header: &_| nest.around(header).filter(|h| counts.contains(h)).count();
        counts.iter().map(around).max().unwrap_or(0)
    }
}

/// The comparisons that a condition is made of.
fn comparisons(func: &Function, condition: Value) -> Vec<Inst> {
    let (mut found, mut work, mut left) = (Vec::new(), vec![condition], MOST_BEHIND);
    while let Some(i) = work.pop().filter(|_| left > 0).map(|v| func.def_inst(v)) {
        left -= 1;
        let Some(i) = i else { continue };
        match func.insts[i].op {
            Op::ICmp(_) | Op::FCmp(_) => found.push(i),
            Op::Binary(_) | Op::Select | Op::Freeze | Op::Cast(CastOp::Trunc) => {
                work.extend(func.insts[i].args.iter().copied());
            }
            _ => {}
        }
    }
    found
}

fn without_casts(func: &Function, mut value: Value) -> Value {
    while let Some(inst) = func.def_inst(value)
        && matches!(func.insts[inst].op, Op::Cast(_) | Op::Freeze)
    {
        value = func.insts[inst].args[0];
    }
    value
}
