//! One function: which values and objects are secret, by rounds of the uniformity engine and of a walk over memory.
//!
//! In each round the engine says which values differ between runs; then every instruction that touches memory or
//! calls is looked at, which yields more objects that hold secrets and more instructions that read them. Results of
//! all rounds are kept, so that an explanation which goes from a load to a store always goes to an earlier round, and
//! ends.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::EntitySet;
use warpline_analysis::graph::Reversed;
use warpline_analysis::{DomTree, Node};

use super::{Finding, Observer, Secrets, Start, findings};
use crate::shape::ArgShape;
use crate::{Options, Uniformity};
use warpline_dataflow::memory::{self, Memory, Object};
use warpline_ir::{Block, Effects, FuncId, Function, Inst, Module, Op, Value};

/// What a call of a function comes to.
#[derive(Clone, Debug, Default)]
pub(super) struct Summary {
    /// Whether the result may depend on secrets.
    pub result: bool,
    /// Whether secrets may be stored into what a parameter leads to.
    pub stored: Vec<bool>,
    /// Whether secrets may be stored elsewhere.
    pub elsewhere: bool,
    /// What was found in it and in what it calls.
    pub findings: Vec<Finding>,
}

/// Why an instruction brings secrets into registers, or into memory.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Why {
    /// It reads memory that is secret from the start: what this parameter leads to.
    Given(u32),
    /// It reads memory that may be what a secret parameter leads to, or that holds secrets when the function is called.
    Elsewhere,
    /// It reads what may have been written by this instruction.
    Written(Inst),
    /// This operand is secret.
    Operand(Value),
    /// Secrets decide whether it is executed: at this branch, or (none) already where the function is called.
    Steered(Option<Block>),
}

/// Why and in which round something became secret.
#[derive(Copy, Clone, Debug)]
pub(super) struct Since {
    pub why: Why,
    pub round: usize,
}

/// A call that is followed.
pub(super) struct Followed {
    pub callee: FuncId,
    pub start: Start,
    pub summary: Summary,
}

/// The state of the analysis of a function, complete when it is handed to [`findings`].
pub(super) struct State<'a> {
    pub module: &'a Module,
    pub id: FuncId,
    pub func: &'a Function,
    pub start: &'a Start,
    pub memory: Memory,
    pub results: Vec<Uniformity>,
    /// The instructions whose results are secret whatever their operands are.
    pub sources: BTreeMap<Inst, Since>,
    /// The objects into which secrets are stored, with the first store.
    pub written: BTreeMap<Object, (Inst, Since)>,
    /// Blocks of which secrets decide whether or how often they are executed, with a branch that does.
    pub steered: BTreeMap<Block, Option<Block>>,
    /// The last look at each call that is followed.
    pub calls: BTreeMap<Inst, Followed>,
}

pub(super) fn analyse(observer: &mut Observer<'_>, id: FuncId, start: &Start) -> Summary {
    let module = observer.module;
    let func = &module.functions[id];
    let mut state = State {
        module,
        id,
        func,
        start,
        memory: Memory::new(module, func),
        results: Vec::new(),
        sources: BTreeMap::new(),
        written: BTreeMap::new(),
        steered: BTreeMap::new(),
        calls: BTreeMap::new(),
    };
    let post_dominators = PostDominators::new(func);
    loop {
        state.solve();
        state.steer(&post_dominators);
        if !state.walk(observer) {
            break;
        }
    }
    let findings = findings::of(&state, observer);
    state.summary(findings)
}

struct PostDominators {
    tree: DomTree,
}

impl PostDominators {
    fn new(func: &Function) -> Self {
        PostDominators { tree: DomTree::compute(&Reversed::new(&func.graph().0)) }
    }
}

impl State<'_> {
    fn solve(&mut self) {
        let mut sources = EntitySet::new();
        sources.extend(self.sources.keys().copied());
        let secret = |&s: &bool| if s { ArgShape::Varying } else { ArgShape::Uniform };
        let mut args: Vec<ArgShape> = self.start.secrets.values.iter().map(secret).collect();
        args.resize(self.func.params.len(), ArgShape::Uniform);
        let options = Options { args, strict_undef: true, only_sources: Some(sources), ..Options::default() };
        self.results.push(Uniformity::compute(self.module, self.func, &options));
    }

    /// The round that is going on.
    fn round(&self) -> usize {
        self.results.len() - 1
    }

    pub(super) fn result(&self) -> &Uniformity {
        &self.results[self.results.len() - 1]
    }

    /// Finds the blocks of which secrets decide whether they are executed: those between a secret branch and where all
    /// its ways meet.
    fn steer(&mut self, post: &PostDominators) {
        if self.start.steered {
            for &b in &self.func.layout {
                self.steered.entry(b).or_insert(None);
            }
            return;
        }
        let branches: Vec<Block> = self.result().divergent_branches().collect();
        for branch in branches {
            let end = post.tree.idom(Node::from(branch));
            let mut work: Vec<Block> = self.func.successors(branch).collect();
            let mut seen: BTreeSet<Block> = BTreeSet::new();
            while let Some(b) = work.pop() {
                if Some(Node::from(b)) != end && seen.insert(b) {
                    work.extend(self.func.successors(b));
                }
            }
            for b in seen {
                self.steered.entry(b).or_insert(Some(branch));
            }
        }
    }

    /// Whether an operand of an instruction in `block` is secret.
    pub(super) fn is_secret(&self, v: Value, block: Block) -> bool {
        self.result().is_divergent_at(v, block)
    }

    /// Why memory may hold secrets.
    pub(super) fn secret_in(&self, objects: &[Object]) -> Option<Why> {
        let given = |object: &Object| match *object {
            Object::Param(i) => {
                self.start.secrets.memory.get(i as usize).copied().unwrap_or(false).then_some(Why::Given(i))
            }
            Object::Elsewhere => {
                (self.start.elsewhere || self.start.secrets.memory.contains(&true)).then_some(Why::Elsewhere)
            }
            Object::Global(_) => self.start.elsewhere.then_some(Why::Elsewhere),
            Object::Private(_) | Object::Constant => None,
        };
        if let Some(why) = objects.iter().find_map(given) {
            return Some(why);
        }
        let same = |&(object, _): &(&Object, _)| objects.iter().any(|&o| self.memory.may_be_same(*object, o));
        self.written.iter().find(same).map(|(_, &(inst, _))| Why::Written(inst))
    }

    /// Why other functions may find secrets in memory that they are not given.
    pub(super) fn secret_at_large(&self) -> Option<Why> {
        if self.start.elsewhere {
            return Some(Why::Elsewhere);
        }
        let visible = |&(object, _): &(&Object, _)| self.memory.is_visible(*object);
        self.written.iter().find(visible).map(|(_, &(inst, _))| Why::Written(inst))
    }

    pub(super) fn objects(&self, pointer: Value) -> Vec<Object> {
        memory::objects(self.module, self.func, pointer)
    }

    fn write(&mut self, objects: &[Object], by: Inst, why: Why) -> bool {
        let since = Since { why, round: self.round() };
        let mut new = false;
        for &object in objects.iter().filter(|&&o| o != Object::Constant) {
            self.written.entry(object).or_insert_with(|| {
                new = true;
                (by, since)
            });
        }
        new
    }

    fn read(&mut self, inst: Inst, why: Why) -> bool {
        let since = Since { why, round: self.round() };
        let has_result = !self.func.insts[inst].results.is_empty();
        has_result && self.sources.insert_new(inst, since)
    }

    /// Looks at every instruction that touches memory; says whether anything new became secret.
    fn walk(&mut self, observer: &mut Observer<'_>) -> bool {
        let mut new = false;
        for &b in &self.func.layout {
            for inst in self.func.block_insts(b) {
                new |= self.look_at(observer, b, inst);
            }
        }
        new
    }

    fn look_at(&mut self, observer: &mut Observer<'_>, b: Block, inst: Inst) -> bool {
        let data = &self.func.insts[inst];
        let steered = self.steered.get(&b).map(|&by| Why::Steered(by));
        let secret_operand =
            |state: &Self| data.args.iter().copied().find(|&v| state.is_secret(v, b)).map(Why::Operand);
        match &data.op {
            Op::Load(_) => {
                let objects = self.objects(data.args[0]);
                self.secret_in(&objects).is_some_and(|why| self.read(inst, why))
            }
            Op::Store(_) => {
                let mut objects = self.objects(data.args[1]);
                // A pointer to secret memory that gets about makes all secret that other pointers lead to.
                let leaks = self.func.ty(data.args[0]).is_ptr()
                    && self.points_to_secrets(data.args[0]).is_some()
                    && objects.iter().any(|&o| self.memory.is_visible(o));
                let why = secret_operand(self).or(steered).or(leaks.then_some(Why::Operand(data.args[0])));
                if leaks {
                    objects.push(Object::Elsewhere);
                }
                why.is_some_and(|why| self.write(&objects, inst, why))
            }
            Op::Call(_) | Op::OpaqueTerm(_) | Op::Opaque(_) => self.call(observer, b, inst, steered),
            _ => false,
        }
    }

    /// Why a pointer leads to secret memory.
    pub(super) fn points_to_secrets(&self, pointer: Value) -> Option<Why> {
        self.func.ty(pointer).is_ptr().then(|| self.objects(pointer)).and_then(|o| self.secret_in(&o))
    }

    /// The function that an instruction calls, if it is to be followed.
    fn callee(&self, observer: &Observer<'_>, inst: Inst) -> Option<FuncId> {
        let name = memory::callee(self.module, self.func, inst);
        let id = self.module.function(name)?;
        let arguments = memory::arguments(self.func, inst).len();
        let callee = &self.module.functions[id];
        (callee.params.len() == arguments && !callee.variadic && observer.may_follow(id)).then_some(id)
    }

    fn call(&mut self, observer: &mut Observer<'_>, b: Block, inst: Inst, steered: Option<Why>) -> bool {
        let data = &self.func.insts[inst];
        let name = memory::callee(self.module, self.func, inst);
        if memory::is_remark(name) {
            return false;
        }
        let secret = data.args.iter().copied().find(|&v| self.is_secret(v, b)).map(Why::Operand);
        if memory::is_about_memory(name) && data.args.len() >= 3 {
            let copied =
                (!name.starts_with("llvm.memset.")).then(|| self.points_to_secrets(data.args[1])).flatten();
            let objects = self.objects(data.args[0]);
            return secret.or(copied).or(steered).is_some_and(|why| self.write(&objects, inst, why));
        }
        if let Some(callee) = self.callee(observer, inst) {
            return self.follow(observer, b, inst, callee, steered.is_some());
        }
        let effects = data.op.effects();
        let arguments = memory::arguments(self.func, inst);
        let pointers: Vec<Value> = arguments.iter().copied().filter(|&v| self.func.ty(v).is_ptr()).collect();
        let reads = effects.intersects(Effects::READS | Effects::UNKNOWN_RESULT);
        let confined = effects.intersects(Effects::ARG_MEMORY_ONLY | Effects::INACCESSIBLE_MEMORY_ONLY)
            || matches!(&data.op, Op::Opaque(_) if !pointers.is_empty());
        let given = || pointers.iter().find_map(|&p| self.points_to_secrets(p).map(|_| Why::Operand(p)));
        let found = || (!confined).then(|| self.secret_at_large()).flatten();
        let why = secret.or_else(|| reads.then(|| given().or_else(found)).flatten());
        let mut new = false;
        if let Some(why) = why
            && effects != Effects::empty()
        {
            new |= self.read(inst, why);
        }
        if effects.contains(Effects::WRITES)
            && let Some(why) = why.or(steered)
        {
            let mut objects: Vec<Object> = pointers.iter().flat_map(|&p| self.objects(p)).collect();
            if !confined {
                objects.push(Object::Elsewhere);
            }
            new |= self.write(&objects, inst, why);
        }
        new
    }

    fn follow(
        &mut self,
        observer: &mut Observer<'_>,
        b: Block,
        inst: Inst,
        callee: FuncId,
        steered: bool,
    ) -> bool {
        let count = self.module.functions[callee].params.len();
        let args = &self.func.insts[inst].args[..count];
        let secrets = Secrets {
            values: args.iter().map(|&v| self.is_secret(v, b)).collect(),
            memory: args.iter().map(|&v| self.points_to_secrets(v).is_some()).collect(),
        };
        let start = Start { secrets, elsewhere: self.secret_at_large().is_some(), steered };
        let summary = observer.summary(callee, start.clone());
        // What the call is given that is secret, for explanations.
        let secret = |i: usize| start.secrets.values[i] || start.secrets.memory[i];
        let given = (0..count).find(|&i| secret(i)).map(|i| Why::Operand(args[i]));
        let why = given.or_else(|| self.secret_at_large());
        let why = why.unwrap_or(Why::Steered(self.steered.get(&b).copied().flatten()));
        let mut new = summary.result && self.read(inst, why);
        for (i, &v) in args.iter().enumerate() {
            if summary.stored.get(i).copied().unwrap_or(false) {
                let objects = self.objects(v);
                new |= self.write(&objects, inst, why);
            }
        }
        if summary.elsewhere {
            new |= self.write(&[Object::Elsewhere], inst, why);
        }
        self.calls.insert(inst, Followed { callee, start, summary });
        new
    }

    fn summary(self, findings: Vec<Finding>) -> Summary {
        let func = self.func;
        let returns =
            |&&b: &&Block| func.blocks[b].term.expand().is_some_and(|t| func.insts[t].op == Op::Ret);
        let returned = func.layout.iter().filter(returns).any(|&b| {
            let args = &func.insts[func.terminator(b)].args;
            !args.is_empty() && (self.steered.contains_key(&b) || args.iter().any(|&v| self.is_secret(v, b)))
        });
        let stored =
            (0..func.params.len() as u32).map(|i| self.written.contains_key(&Object::Param(i))).collect();
        let elsewhere = self.written.keys().any(|o| matches!(o, Object::Global(_) | Object::Elsewhere));
        Summary { result: returned, stored, elsewhere, findings }
    }
}

/// Inserting what is not there yet.
trait InsertNew<K, V> {
    /// Inserts unless the key is there; says whether it was not.
    fn insert_new(&mut self, key: K, value: V) -> bool;
}

impl<K: Ord, V> InsertNew<K, V> for BTreeMap<K, V> {
    fn insert_new(&mut self, key: K, value: V) -> bool {
        match self.entry(key) {
            std::collections::btree_map::Entry::Vacant(slot) => {
                slot.insert(value);
                true
            }
            std::collections::btree_map::Entry::Occupied(_) => false,
        }
    }
}
