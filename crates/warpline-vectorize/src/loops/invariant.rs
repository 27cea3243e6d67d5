//! Loads that give the same in every iteration are made before the loop.
//!
//! In `for (int i = 0; i < s->n; i++) s->y[i] = 2 * s->x[i];` every iteration loads the pointers anew, since they may
//! change for all that the code says. Where neither the objects nor the types of what the loop stores
//! (`dependences::Apart`) allow that, they are loaded once: those that are loaded before the test of the first
//! iteration before the loop, the others there too, but only if that test lets an iteration begin, and if it passes the
//! checks in front of them. Those are the same in all iterations, too: where one does not pass, no lane goes on.

use std::collections::HashMap;

use warpline_analysis::DfsOrder;
use warpline_ir::{Block, Effects, Function, Inst, Module, Op, Type, Value, ValueDef};

use super::find::{Loop, dominates};
use crate::dependences::{Apart, Held, is_silent};
use crate::if_conversion::is_pure;
use crate::known_calls::is_annotation;

/// How deep what an address or a test is computed from is followed.
const MAX_DEPTH: u32 = 16;

/// Makes loads before the loop that no store of it can change. Whether there were any; then the loop has another
/// preheader.
pub(super) fn hoist_loads(module: &Module, func: &mut Function, l: &Loop) -> bool {
    let Some(Accesses { mut loads, stores, .. }) = Accesses::of(module, func, l) else { return false };
    let apart = Apart::new(module, func, None);
    loads.retain(|&load| stores.iter().all(|&store| apart.never_meet(store, load)));
    let loads = Loads { all: loads, unsure: Vec::new(), there: Vec::new(), may_pass: false };
    !loads.all.is_empty() && !hoist(module, func, l, loads).held.is_empty()
}

/// What was loaded before a loop.
pub(super) struct Hoisted {
    /// The loads that were in the loop, each with what it gives.
    pub(super) replaced: Vec<(Inst, Value)>,
    /// The loads that were made instead, in the same order.
    pub(super) held: Vec<Held>,
    /// Branches by which the first iteration came to the loads. Lanes must not pass them if that does not, since what
    /// was loaded is poison then.
    pub(super) passed: Vec<Inst>,
}

/// Loads that are to be made before a loop.
pub(super) struct Loads {
    pub(super) all: Vec<Inst>,
    /// Those of them that may read something else before the loop than in its first iteration, as long as nothing has
    /// been checked: nothing is loaded by what they give.
    pub(super) unsure: Vec<Inst>,
    /// Those that may be made whether or not the first iteration makes them.
    pub(super) there: Vec<Inst>,
    /// Whether they may be made behind checks that some iterations pass and others do not.
    pub(super) may_pass: bool,
}

/// Makes those of these loads before the loop of which the address is the same in all iterations.
pub(super) fn hoist(module: &Module, func: &mut Function, l: &Loop, loads: Loads) -> Hoisted {
    let Loads { all, unsure, there, may_pass } = loads;
    let tests = tests(func, l);
    let mut hoist = Hoist { may_pass, unsure, tests, ..Hoist::new(module, func, l) };
    let (early, late): (Vec<Inst>, Vec<Inst>) =
        all.into_iter().partition(|&i| there.contains(&i) || hoist.is_early(i));
    let mut replaced: Vec<(Inst, Value)> = early.iter().filter_map(|&i| hoist.load(l.preheader, i)).collect();
    replaced.extend(hoist.load_if_it_begins(&late));
    for &(load, new) in &replaced {
        hoist.func.replace(load, new);
    }
    let (held, passed) = (hoist.held, hoist.passed);
    Hoisted { replaced, held, passed }
}

/// Computes before the loop what the test compares, where that is the same in all iterations since what it is computed
/// from has been loaded before: `width - 1`, of a width in memory.
pub(super) fn hoist_bounds(module: &Module, func: &mut Function, l: &Loop) {
    let mut hoist = Hoist::new(module, func, l);
    let mut work = vec![hoist.func.insts[l.test].args[0]];
    for _ in 0..MAX_DEPTH {
        let Some(i) = work.pop().and_then(|v| hoist.inside(v)) else { continue };
        let data = &hoist.func.insts[i];
        match data.op {
            Op::ICmp(_) => {
                for (k, bound) in data.args.clone().into_iter().enumerate() {
                    if hoist.inside(bound).is_some()
                        && let Some(value) = hoist.before(l.preheader, bound, false, MAX_DEPTH)
                    {
                        hoist.func.insts[i].args[k] = value;
                    }
                }
            }
            Op::Select | Op::Binary(_) => work.extend(data.args.iter().copied()),
            _ => {}
        }
    }
}

/// What a loop does to memory, where it does no more than to load and store.
pub(super) struct Accesses {
    /// Loads that may be made before the loop as far as control goes, in an order in which one comes before another
    /// that needs it.
    pub(super) loads: Vec<Inst>,
    pub(super) stores: Vec<Inst>,
    /// Stores that are made in every iteration that begins.
    pub(super) certain_stores: Vec<Inst>,
    /// All loads and stores, in that order.
    pub(super) all: Vec<Inst>,
}

impl Accesses {
    /// `None` if the loop does more to memory.
    pub(super) fn of(module: &Module, func: &Function, l: &Loop) -> Option<Accesses> {
        let (mut loads, mut stores, mut all) = (Vec::new(), Vec::new(), Vec::new());
        let order = DfsOrder::compute(&func.graph().0);
        for b in order.reverse_post_order().map(Block::from).filter(|&b| l.blocks.contains(b)) {
            for i in func.block_insts(b) {
                let data = &func.insts[i];
                all.extend(Some(i).filter(|&i| func.accessed(i).is_some()));
                match &data.op {
                    Op::Load(access) if access.is_simple() => loads.push(i),
                    Op::Store(access) if access.is_simple() => stores.push(i),
                    _ if is_annotation(module, data) || is_silent(module, func, i) => {}
                    _ if data
                        .effects()
                        .intersects(Effects::READS | Effects::WRITES | Effects::CONVERGENT) =>
                    {
                        return None;
                    }
                    _ => {}
                }
            }
        }
        // Where an iteration may end the loop, what stands behind must not be executed before.
        let breaks: Vec<Block> = l.breaks.iter().map(|at| func.insts[at.branch].block).collect();
        let is_certain = |i: &Inst| {
            let block = func.insts[*i].block;
            (l.is_always(func, block) || is_before_test(func, l, *i))
                && breaks.iter().all(|&b| dominates(&l.dominators, block, b))
        };
        loads.retain(is_certain);
        let certain_stores = stores.iter().copied().filter(is_certain).collect();
        Some(Accesses { loads, stores, certain_stores, all })
    }
}

/// The branches of a loop by which an iteration gets no further, in the order of execution: its test, and those by
/// which it may end the program. `None` for an end that is no such branch.
fn tests(func: &Function, l: &Loop) -> Vec<(Block, Option<Inst>)> {
    let order = DfsOrder::compute(&func.graph().0);
    let own = order.reverse_post_order().map(Block::from).filter(|&b| l.blocks.contains(b));
    let test = |b: Block| {
        let branch = func.terminator(b);
        let ends = func.successors(b).any(|to| l.dead.contains(to));
        let is_plain = func.insts[branch].op == Op::CondBr && l.own.contains(b);
        (ends || branch == l.test).then_some((b, Some(branch).filter(|_| is_plain)))
    };
    own.filter_map(test).collect()
}

/// What is done on the way to a loop, in this order.
enum Step {
    /// The way ends here if the first iteration does.
    Test(Inst),
    Load(Inst),
}

/// Whether an instruction is executed whenever the loop is entered: before the test that ends it.
fn is_before_test(func: &Function, l: &Loop, i: Inst) -> bool {
    l.own.contains(func.insts[i].block)
        && dominates(&l.dominators, func.insts[i].block, func.insts[l.test].block)
}

struct Hoist<'a> {
    module: &'a Module,
    func: &'a mut Function,
    l: &'a Loop,
    may_pass: bool,
    unsure: Vec<Inst>,
    /// What was made before the loop: of a value there, the one that stands for it.
    made: HashMap<Value, Value>,
    /// What the φs of the header are in the first iteration.
    starts: Vec<Value>,
    /// Where iterations get no further, in the order of execution.
    tests: Vec<(Block, Option<Inst>)>,
    /// Blocks on the way to the loop that are not always executed.
    ways: Vec<Block>,
    /// The loads that were made there, with addresses that the loop may use.
    held: Vec<Held>,
    /// Such checks that they were made behind.
    passed: Vec<Inst>,
}

impl<'a> Hoist<'a> {
    fn new(module: &'a Module, func: &'a mut Function, l: &'a Loop) -> Hoist<'a> {
        let starts = func.edges[func.out_edges(l.preheader)[0]].args.to_vec();
        let (unsure, made, tests, ways, held, passed) = Default::default();
        Hoist { module, func, l, may_pass: false, unsure, made, starts, tests, ways, held, passed }
    }

    /// Whether a load is made whenever the loop is entered.
    fn is_early(&self, i: Inst) -> bool {
        is_before_test(self.func, self.l, i) && !self.tests.iter().any(|&(b, _)| self.is_behind(b, i))
    }

    /// Whether an instruction is executed only behind the end of a block.
    fn is_behind(&self, end: Block, i: Inst) -> bool {
        let block = self.func.insts[i].block;
        end != block && dominates(&self.l.dominators, end, block)
    }

    /// Makes a load at the end of a block before the loop, if its address is the same in all iterations: the load,
    /// and what it gives.
    fn load(&mut self, at: Block, load: Inst) -> Option<(Inst, Value)> {
        let address = self.before(at, self.func.insts[load].args[0], false, MAX_DEPTH)?;
        let value = self.copy(at, load, &[address]);
        self.held.extend(self.func.def_inst(value).map(|load| Held { load, address, is_stored: false }));
        if self.unsure.contains(&load) {
            // Nor is what the program promises of it true.
            self.func.def_inst(value).into_iter().for_each(|i| self.func.insts[i].origin = None.into());
        } else {
            self.made.insert(self.func.insts[load].results[0], value);
        }
        Some((load, value))
    }

    /// Makes loads on a way to the loop that is taken as far as its first iteration gets.
    fn load_if_it_begins(&mut self, loads: &[Inst]) -> Vec<(Inst, Value)> {
        let steps = self.way_to(loads);
        if steps.is_empty() {
            return Vec::new();
        }
        let first = self.held.len();
        let entering = self.func.out_edges(self.l.preheader)[0];
        let join = self.func.split_edge(entering, "");
        let (mut at, mut made) = (self.l.preheader, Vec::new());
        for step in steps {
            match step {
                Step::Test(branch) => at = self.go_on_if(at, branch, join),
                Step::Load(load) => made.extend(self.load(at, load)),
            }
        }
        self.func.set_terminator(at, Op::Br, &[], &[join]);
        let replaced = made.into_iter().map(|(load, value)| (load, self.behind(at, join, value))).collect();
        for k in first..self.held.len() {
            self.held[k].address = self.behind(at, join, self.held[k].address);
        }
        replaced
    }

    /// The loads that can be made on a way to the loop, and what they come behind.
    fn way_to(&self, loads: &[Inst]) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        let (mut passed, mut taken) = (0, Vec::new());
        for &load in loads {
            let ends = |b: Block| self.is_behind(b, load);
            let more = self.tests.iter().rposition(|&(b, _)| ends(b)).map_or(0, |last| last + 1).max(passed);
            let new = self.tests[passed..more].iter().filter(|&&(b, _)| ends(b));
            let new: Option<Vec<Inst>> = new.map(|&(_, branch)| branch).collect();
            let can_pass = |&branch: &Inst| {
                let condition = self.func.insts[branch].args[0];
                match branch == self.l.test || self.may_pass {
                    true => self.is_known_first(condition, &taken, MAX_DEPTH),
                    false => self.is_invariant(condition, &taken, MAX_DEPTH),
                }
            };
            let Some(new) = new.filter(|new| new.iter().all(can_pass)) else { continue };
            if self.is_invariant(self.func.insts[load].args[0], &taken, MAX_DEPTH) {
                steps.extend(new.into_iter().map(Step::Test));
                steps.push(Step::Load(load));
                passed = more;
                taken.extend(Some(load).filter(|load| !self.unsure.contains(load)));
            }
        }
        steps
    }

    /// Ends a block on the way to the loop by the branch that the first iteration takes: the block where it goes on, if
    /// it does; else control goes to the loop.
    fn go_on_if(&mut self, at: Block, branch: Inst, join: Block) -> Block {
        let condition = self.func.insts[branch].args[0];
        let is_test = branch == self.l.test;
        if !is_test && !self.is_invariant(condition, &[], MAX_DEPTH) {
            self.passed.push(branch);
        }
        let first = is_test || self.may_pass;
        let condition = self.before(at, condition, first, MAX_DEPTH).expect("it was found to be known");
        let way = self.func.add_block("");
        self.ways.push(way);
        self.func.layout.retain(|&b| b != way);
        self.func.insert_before(join, way);
        let to = self.func.edges[self.func.insts[branch].edges[0]].to;
        let (yes, no) = if self.l.blocks.contains(to) { (way, join) } else { (join, way) };
        self.func.set_terminator(at, Op::CondBr, &[condition], &[yes, no]);
        way
    }

    /// What is computed on the way to the loop, which ends with a block, as the loop may use it: it stands behind other
    /// ways, too.
    fn behind(&mut self, way: Block, join: Block, value: Value) -> Value {
        if self.func.def_block(value).is_none_or(|b| !self.ways.contains(&b)) {
            return value;
        }
        let edge = self.func.out_edges(way)[0];
        let phi = self.func.add_phi(join, self.func.ty(value));
        let position = self.func.blocks[join].phis.len() - 1;
        self.func.set_phi_arg(edge, position, value);
        phi
    }

    /// Whether a value is the same in all iterations, if these loads give the same.
    fn is_invariant(&self, v: Value, loads: &[Inst], depth: u32) -> bool {
        let Some(i) = self.inside(v) else { return true };
        if self.made.contains_key(&v) {
            return true;
        }
        depth > 0
            && (loads.contains(&i) || self.is_repeatable(i))
            && self.func.insts[i].args.iter().all(|&a| self.is_invariant(a, loads, depth - 1))
    }

    /// Whether what a value is in the first iteration can be computed before the loop.
    fn is_known_first(&self, v: Value, loads: &[Inst], depth: u32) -> bool {
        let Some(i) = self.inside(v) else { return true };
        let header = self.func.insts[i].block == self.l.header && self.func.insts[i].op == Op::Phi;
        header
            || self.made.contains_key(&v)
            || depth > 0
                && (loads.contains(&i) || self.is_repeatable(i))
                && self.func.insts[i].args.iter().all(|&a| self.is_known_first(a, loads, depth - 1))
    }

    /// A value of the loop as it is before it, computed at the end of a block there; in the `first` iteration, if it
    /// may differ in others.
    fn before(&mut self, at: Block, v: Value, first: bool, depth: u32) -> Option<Value> {
        let Some(i) = self.inside(v) else { return Some(v) };
        if let Some(&known) = self.made.get(&v) {
            return Some(known);
        }
        if first && self.func.insts[i].op == Op::Phi && self.func.insts[i].block == self.l.header {
            let position = self.func.phi_position(i)?;
            return Some(self.starts[position]);
        }
        if depth == 0 || !self.is_repeatable(i) {
            return None;
        }
        let args: Vec<Value> = self.func.insts[i].args.to_vec();
        let args: Option<Vec<Value>> =
            args.into_iter().map(|a| self.before(at, a, first, depth - 1)).collect();
        let value = self.copy(at, i, &args?);
        // What is computed for the first iteration stands for nothing else.
        if !first {
            self.made.insert(v, value);
        }
        Some(value)
    }

    /// The instruction of the loop that makes a value.
    fn inside(&self, v: Value) -> Option<Inst> {
        match self.func.values[v].def {
            ValueDef::Inst(i, _) if self.l.blocks.contains(self.func.insts[i].block) => Some(i),
            _ => None,
        }
    }

    /// Whether an instruction gives the same for the same operands, wherever it stands.
    fn is_repeatable(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        let harmless = is_pure(self.module, self.func, i) || self.divides_by_number(i);
        data.op != Op::Freeze && data.results.len() == 1 && harmless
    }

    /// Whether an instruction divides by a constant that anything can be divided by.
    fn divides_by_number(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        let Op::Binary(op) = data.op else { return false };
        let bits = self.func.ty(data.results[0]).int_bits().filter(|_| op.is_int_division());
        bits.zip(data.args.get(1).and_then(|&by| self.func.as_int(by)))
            .is_some_and(|(bits, by)| by != 0 && by != u128::MAX >> (128 - bits))
    }

    fn copy(&mut self, at: Block, i: Inst, args: &[Value]) -> Value {
        let ty: Type = self.func.ty(self.func.insts[i].results[0]);
        let op = self.func.insts[i].op.clone();
        let new = self.func.append(at, op, args, ty);
        let data = &self.func.insts[i];
        let (flags, loc, origin) = (data.flags, data.loc, data.origin);
        let copy = &mut self.func.insts[new];
        (copy.flags, copy.loc, copy.origin) = (flags, loc, origin);
        copy.results[0]
    }
}
