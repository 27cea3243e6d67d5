//! The program from an entry on: an instance of a function for each call of it, with what is secret there.
//!
//! Instances are visited one after the other until nothing changes. In a visit the engine says which values differ
//! between runs; then every instruction that touches memory or calls is looked at, which yields more memory that holds
//! secrets and more instructions that read it. Visits are numbered, and everything that becomes secret notes in which
//! one it did, so that an explanation which goes from a load to a store, or from a parameter to a call, always goes to
//! an earlier visit, and ends.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use cranelift_entity::EntitySet;
use warpline_analysis::graph::Reversed;
use warpline_analysis::{DomTree, Node};

use super::calls;
use super::memory::{Held, Memory, Object, ObjectId, Places};
use super::points::{Indices, Numbers, Points, indices, number};
use super::walk::declassifies;
use super::watch::Readers;
use crate::shape::ArgShape;
use crate::{Options, Uniformity};
use warpline_ir::{Block, FuncId, Function, Inst, Module, Op, Value, ValueDef};

/// An instance, by its number.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct InstanceId(u32);

impl InstanceId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// With more instances, one of each function serves all further calls.
const MAX_INSTANCES: usize = 1200;
/// The same for instances of one function.
const MAX_OF_FUNCTION: usize = 200;

/// The number of a visit.
pub(super) type Since = u32;

/// Why an instruction brings secrets into registers, or into memory.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Why {
    /// It reads memory that holds secrets.
    Memory(Held),
    /// This operand is secret.
    Operand(Value),
    /// Secrets decide whether it is executed: at this branch, or (none) already where the function is called.
    Steered(Option<Block>),
    /// The function that it calls brings secrets back.
    Result(InstanceId),
    /// It is a call of a function whose result was said to be secret.
    Named,
}

/// Where a call gives a secret to an instance.
#[derive(Copy, Clone, Debug)]
pub(super) struct Given {
    pub caller: InstanceId,
    pub call: Inst,
    pub since: Since,
}

/// A parameter that is secret: from the start, or since a call.
#[derive(Copy, Clone, Debug)]
pub(super) enum Secret {
    Start,
    Given(Given),
}

/// A function in the context of a call.
pub(super) struct Instance<'m> {
    pub func: &'m Function,
    pub id: FuncId,
    /// The calls by which control comes here, outermost first.
    pub path: Vec<(InstanceId, Inst)>,
    pub args: Vec<Option<Secret>>,
    pub bindings: Vec<Places>,
    /// Where it is called as secrets decide, if it is.
    pub steered_by: Option<Given>,
    pub points: Points,
    pub results: Vec<(Since, Uniformity)>,
    /// The instructions whose results are secret whatever their operands are.
    pub sources: BTreeMap<Inst, (Why, Since)>,
    /// Instructions that write secrets, and why.
    pub writes: BTreeMap<Inst, (Why, Since)>,
    /// Blocks of which secrets decide whether or how often they are executed, with a branch that does.
    pub steered: BTreeMap<Block, Option<Block>>,
    /// The functions that calls go to which are followed.
    pub calls: BTreeMap<(Inst, FuncId), InstanceId>,
    /// The calls that are followed and may go elsewhere, too.
    pub open: BTreeSet<Inst>,
    /// Whether other calls than the last one of its path come here.
    pub is_shared: bool,
    /// The block that returns a secret, since when.
    pub returns: Option<(Block, Since)>,
    pub returned: Places,
    /// Whether something has changed that the instance depends on, and whether pointers in it depend on it.
    is_due: bool,
    is_new: bool,
    /// What the last answer of the engine was asked with, and what the last look at its branches was made with.
    solved_with: Option<(usize, usize)>,
    steered_with: Option<(usize, bool)>,
    /// Instructions whose results do not depend on what they are given: calls that are followed, and declassification.
    quiet: EntitySet<Inst>,
    post: OnceCell<DomTree>,
}

impl Instance<'_> {
    /// Whether a call is followed into a function.
    pub(super) fn follows(&self, call: Inst) -> bool {
        self.followed(call).next().is_some()
    }

    /// What a call is followed into.
    pub(super) fn followed(&self, call: Inst) -> impl Iterator<Item = InstanceId> + '_ {
        self.calls.iter().filter(move |((at, _), _)| *at == call).map(|(_, &to)| to)
    }

    /// Whether secrets decide within the function whether a block is executed.
    pub(super) fn is_steered_here(&self, block: Block) -> bool {
        matches!(self.steered.get(&block), Some(Some(_)))
    }

    /// How much the engine can be told: sources and secret parameters only ever become more.
    fn told(&self) -> (usize, usize) {
        (self.sources.len(), self.args.iter().flatten().count())
    }

    /// The newest result.
    pub(super) fn result(&self) -> &Uniformity {
        &self.results[self.results.len() - 1].1
    }

    /// Whether an operand of an instruction in `block` is secret.
    pub(super) fn is_secret(&self, v: Value, block: Block) -> bool {
        self.result().is_divergent_at(v, block)
    }

    /// The number of the result that was there in a visit.
    pub(super) fn result_at(&self, since: Since) -> usize {
        self.results.iter().rposition(|&(at, _)| at <= since).unwrap_or(0)
    }

    /// Finds the blocks of which secrets decide whether they are executed: those between a secret branch and where all
    /// its ways meet. Says whether there are more within the function.
    fn steer(&mut self) -> bool {
        let now = Some((self.results.len(), self.steered_by.is_some()));
        if std::mem::replace(&mut self.steered_with, now) == now {
            return false;
        }
        let func = self.func;
        let before = self.steered.values().flatten().count();
        let branches: Vec<Block> = self.result().divergent_branches().collect();
        let post = self.post.get_or_init(|| DomTree::compute(&Reversed::new(&func.graph().0)));
        for branch in branches {
            let end = post.idom(Node::from(branch));
            let mut work: Vec<Block> = func.successors(branch).collect();
            let mut seen: BTreeSet<Block> = BTreeSet::new();
            while let Some(b) = work.pop() {
                if Some(Node::from(b)) != end && seen.insert(b) {
                    work.extend(func.successors(b));
                }
            }
            for b in seen {
                self.steered.entry(b).or_insert(None).get_or_insert(branch);
            }
        }
        if self.steered_by.is_some() {
            for &b in &func.layout {
                self.steered.entry(b).or_insert(None);
            }
        }
        self.steered.values().flatten().count() > before
    }
}

/// Everything that is known about the program from an entry on.
pub(super) struct State<'m> {
    pub module: &'m Module,
    pub memory: Memory<'m>,
    pub instances: Vec<Instance<'m>>,
    /// The instance of a function that serves all further calls of it.
    shared: HashMap<FuncId, InstanceId>,
    of_function: HashMap<FuncId, usize>,
    /// What numbers indices may be, by what the function is given.
    indices: HashMap<(FuncId, Numbers), Rc<Indices>>,
    readers: Readers,
    pub visit: Since,
    /// The names of functions whose results are secret.
    pub secret_results: Vec<String>,
    pub not_followed: BTreeSet<String>,
    /// The functions whose address is taken.
    pub addressed: BTreeSet<FuncId>,
    /// Whether functions that are not known write the secrets that they are given where they can, and find those that a
    /// pointer of unknown origin may lead to.
    pub spreads: bool,
}

impl<'m> State<'m> {
    pub(super) fn new(module: &'m Module, memory: Memory<'m>) -> State<'m> {
        State {
            module,
            memory,
            instances: Vec::new(),
            shared: HashMap::new(),
            of_function: HashMap::new(),
            indices: HashMap::new(),
            readers: Readers::default(),
            visit: 0,
            secret_results: Vec::new(),
            not_followed: BTreeSet::new(),
            addressed: calls::addressed(module),
            spreads: true,
        }
    }

    /// All instances that control may come to.
    pub(super) fn ids(&self) -> impl Iterator<Item = InstanceId> + use<> {
        (0..self.instances.len() as u32).map(InstanceId)
    }

    /// Where an instance stands in the order of the program: the places of the calls that lead to it.
    pub(super) fn order(&self, id: InstanceId) -> Vec<(usize, usize)> {
        let path = &self.instance(id).path;
        path.iter().map(|&(at, call)| self.position(at, call)).collect()
    }

    /// The place of an instruction in its function: its block, and the place there.
    pub(super) fn position(&self, id: InstanceId, inst: Inst) -> (usize, usize) {
        let func = self.instance(id).func;
        let block = func.insts[inst].block;
        let place = func.layout.iter().position(|&b| b == block).unwrap_or_default();
        (place, func.block_insts(block).position(|at| at == inst).unwrap_or_default())
    }

    pub(super) fn instance(&self, id: InstanceId) -> &Instance<'m> {
        &self.instances[id.index()]
    }

    pub(super) fn instance_mut(&mut self, id: InstanceId) -> &mut Instance<'m> {
        &mut self.instances[id.index()]
    }

    pub(super) fn add(&mut self, id: FuncId, path: Vec<(InstanceId, Inst)>, numbers: Numbers) -> InstanceId {
        let func = &self.module.functions[id];
        let number = InstanceId(self.instances.len() as u32);
        let module = self.module;
        let known = self.indices.entry((id, numbers));
        let known = known.or_insert_with_key(|(_, numbers)| Rc::new(indices(module, func, numbers)));
        let indices = Rc::clone(known);
        self.instances.push(Instance {
            func,
            id,
            path,
            args: vec![None; func.params.len()],
            bindings: vec![Places::default(); func.params.len()],
            steered_by: None,
            points: Points::new(indices),
            results: Vec::new(),
            sources: BTreeMap::new(),
            writes: BTreeMap::new(),
            steered: BTreeMap::new(),
            calls: BTreeMap::new(),
            open: BTreeSet::new(),
            is_shared: false,
            returns: None,
            returned: Places::default(),
            is_due: true,
            is_new: true,
            solved_with: None,
            steered_with: None,
            quiet: EntitySet::new(),
            post: OnceCell::new(),
        });
        *self.of_function.entry(id).or_default() += 1;
        let quiet = func
            .layout
            .iter()
            .flat_map(|&b| func.block_insts(b))
            .filter(|&inst| declassifies(self.module, func, inst) || self.named(number, inst).is_some());
        let quiet: Vec<Inst> = quiet.collect();
        self.instance_mut(number).quiet.extend(quiet);
        number
    }

    /// The instance for a call: the one that is being executed already in a recursion.
    pub(super) fn called(&mut self, caller: InstanceId, call: Inst, callee: FuncId) -> InstanceId {
        if let Some(&known) = self.instance(caller).calls.get(&(call, callee)) {
            return known;
        }
        let of_caller = self.instance(caller);
        let active = of_caller.path.iter().map(|&(at, _)| at).chain([caller]);
        let recursive = active.into_iter().find(|&at| self.instance(at).id == callee);
        let many = self.instances.len() >= MAX_INSTANCES
            || self.of_function.get(&callee).is_some_and(|&n| n >= MAX_OF_FUNCTION);
        let found = match (recursive, self.shared.get(&callee)) {
            (Some(active), _) => {
                // Other calls give it other numbers.
                let of = self.instance(active);
                let (func, count) = (of.func, of.args.len());
                let module = self.module;
                let any = self.indices.entry((callee, vec![None; count]));
                let any = any.or_insert_with_key(|(_, numbers)| Rc::new(indices(module, func, numbers)));
                let any = Rc::clone(any);
                let of = self.instance_mut(active);
                of.points.indices = any;
                self.renew(active);
                self.share(active);
                active
            }
            (None, Some(&shared)) if many => {
                self.share(shared);
                shared
            }
            _ => {
                let mut path = of_caller.path.clone();
                path.push((caller, call));
                let known = |(k, &v): (usize, &Value)| {
                    let one = number(of_caller.func, v).map(|n| (n, n));
                    one.or_else(|| of_caller.points.indices.get(&(call, k)).copied())
                };
                let count = self.module.functions[callee].params.len();
                let args = of_caller.func.insts[call].args[..count].iter().enumerate();
                // One for all further calls is given any number.
                let numbers = args.map(|arg| known(arg).filter(|_| !many)).collect();
                let new = self.add(callee, path, numbers);
                if many {
                    self.shared.insert(callee, new);
                }
                new
            }
        };
        self.instance_mut(caller).calls.insert((call, callee), found);
        if !self.instance(found).returned.is_empty() {
            self.renew(caller);
        }
        found
    }

    /// Visits instances until nothing changes.
    pub(super) fn solve(&mut self) {
        loop {
            let (mut changed, mut at) = (false, 0);
            while at < self.instances.len() {
                if std::mem::take(&mut self.instances[at].is_due) {
                    self.look_at(InstanceId(at as u32));
                    changed = true;
                }
                at += 1;
            }
            if !changed {
                return;
            }
        }
    }

    /// Visits an instance.
    fn look_at(&mut self, id: InstanceId) {
        self.visit += 1;
        self.follow_pointers(id);
        let visit = self.visit;
        let of = &mut self.instances[id.index()];
        let now = of.told();
        if of.solved_with != Some(now) {
            of.solved_with = Some(now);
            let mut sources = EntitySet::new();
            sources.extend(of.sources.keys().copied());
            let secret = |s: &Option<Secret>| if s.is_some() { ArgShape::Varying } else { ArgShape::Uniform };
            let args: Vec<ArgShape> = of.args.iter().map(secret).collect();
            let options = Options {
                args,
                strict_undef: true,
                only_sources: Some(sources),
                quiet: of.quiet.clone(),
                ..Options::default()
            };
            let result = Uniformity::compute(self.module, of.func, &options);
            of.results.push((visit, result));
        }
        if self.instance_mut(id).steer() {
            self.renew_below(id);
        }
        self.walk(id);
        let of = self.instance_mut(id);
        of.is_due |= of.solved_with != Some(of.told());
        let again = self.readers.note(id, &mut self.memory);
        for at in again.pointers {
            self.renew(at);
        }
        for at in again.secrets {
            self.instance_mut(at).is_due = true;
        }
    }

    /// Follows pointers in an instance, unless nothing has changed that they depend on.
    fn follow_pointers(&mut self, id: InstanceId) {
        let of = self.instance(id);
        if !of.is_new {
            return;
        }
        let func = of.func;
        let mut returned: BTreeMap<Inst, Places> = BTreeMap::new();
        for (&(call, _), &callee) in &of.calls {
            returned.entry(call).or_default().add_all(&self.instance(callee).returned);
        }
        returned.retain(|call, _| !of.open.contains(call));
        let of = &mut self.instances[id.index()];
        of.is_new = false;
        let find = |call: Inst| returned.get(&call).cloned();
        let bindings = of.bindings.clone();
        of.points.solve(&mut self.memory, self.module, func, id, &bindings, &find);
    }

    /// Something that pointers in an instance depend on has changed.
    pub(super) fn renew(&mut self, id: InstanceId) {
        let of = self.instance_mut(id);
        (of.is_new, of.is_due) = (true, true);
    }

    /// Something has changed that the instance depends on, but not pointers in it.
    pub(super) fn look_again(&mut self, id: InstanceId) {
        self.instance_mut(id).is_due = true;
    }

    /// Other calls than the last one of its path come to an instance.
    fn share(&mut self, id: InstanceId) {
        if !std::mem::replace(&mut self.instance_mut(id).is_shared, true) {
            self.renew_below(id);
        }
    }

    /// What [lives](Self::lives_with) with an execution of an instance may have become less.
    fn renew_below(&mut self, id: InstanceId) {
        self.look_again(id);
        for other in &mut self.instances {
            other.is_due |= other.path.iter().any(|&(at, _)| at == id);
        }
    }

    /// The places that a value of an instance leads to.
    pub(super) fn places(&mut self, id: InstanceId, v: Value) -> Places {
        let of = &self.instances[id.index()];
        of.points.of(&mut self.memory, of.func, v)
    }

    /// Whether an object is a variable of a function whose whole execution secrets decide about, if they decide about
    /// this block: then what is stored into it there is stored whenever there is such a variable.
    pub(super) fn lives_with(&self, id: InstanceId, block: Block, object: ObjectId) -> bool {
        let Object::Private(owner, v) = self.memory.object(object) else { return false };
        let is_variable = match self.instance(owner).func.values[v].def {
            ValueDef::Inst(inst, _) => matches!(self.instance(owner).func.insts[inst].op, Op::Alloca { .. }),
            _ => false,
        };
        let path = &self.instance(id).path;
        let way = path.iter().map(|&(at, call)| (at, self.instance(at).func.insts[call].block));
        let way: Vec<(InstanceId, Block)> = way.chain([(id, block)]).collect();
        let Some(from) = way.iter().position(|&(at, _)| at == owner) else { return false };
        let is_plain = |&(at, b): &(InstanceId, Block)| {
            let of = self.instance(at);
            !of.is_shared && !of.is_steered_here(b)
        };
        is_variable && way[from..].iter().all(is_plain)
    }

    fn walk(&mut self, id: InstanceId) {
        let func = self.instance(id).func;
        for &b in &func.layout {
            for inst in func.block_insts(b) {
                self.instruction(id, b, inst);
            }
        }
    }

    pub(super) fn leave(&mut self, id: InstanceId, b: Block, term: Inst) {
        let visit = self.visit;
        let of = self.instance(id);
        let Some(&v) = of.func.insts[term].args.first() else { return };
        // Where secrets decide whether the function is called, its result is used there, too.
        let is_secret = of.is_steered_here(b) || of.is_secret(v, b);
        let places = self.places(id, v);
        let of = self.instance_mut(id);
        let new = is_secret && of.returns.is_none();
        if new {
            of.returns = Some((b, visit));
        }
        let leads_further = of.returned.add_all(&places);
        if new || leads_further {
            // Whoever calls it looks again.
            for other in self.instances.iter_mut().filter(|o| o.calls.values().any(|&called| called == id)) {
                other.is_due = true;
                other.is_new |= leads_further;
            }
        }
    }
}
