//! Summaries of functions: how the result of a call depends on the arguments, so that a call of a function of the
//! module is no wall.
//!
//! A call that lanes execute together is as good as the callee's body in its place: they enter the body together,
//! with arguments that are equal or not, and those that return come back to one instance of the call. So the result
//! is uniform if the analysis of the body says so of the returned value, for these arguments uniform and those not.
//! Functions that may call themselves begin with summaries that say the result is uniform whatever the arguments are.
//! These are lowered to what the bodies say, given the summaries of before, until nothing changes. The last ones then
//! hold of calls that nest no deeper than a number, by induction on it, and so of every call that returns.
//!
//! A summary is a set of parameters for each member of the result: the member is uniform if the arguments for these
//! are. The sets are found by analysing the body with one varying parameter at a time, and are then checked with all
//! others varying at once: the analysis as a whole is not distributive (shapes may cancel out), and if the check
//! fails the set is that of all parameters.
//!
//! On SIMD lanes a call that is not inlined may run for one lane after the other. What it does then to memory another
//! lane's run may see, which differs from lanes in lockstep; so a function there has a summary only if it does not
//! both read and write memory that may outlive the call, and does nothing whose order matters.

use std::sync::Arc;

use cranelift_entity::SecondaryMap;
use warpline_analysis::{CsrGraph, Node, Sccs};

use super::facts::Facts;
use super::members::{Origin, origin};
use super::rules::{Cause, OperandSet, Rule, Target, called};
use super::{Options, Uniformity, tokens};
use crate::shape::ArgShape;
use warpline_ir::{AggregateType, Block, Effects, FuncId, Function, Inst, Module, Op, Symbol, Type, Value};

/// Functions with more parameters have results that depend on all of them or on none.
const MAX_PARAMS: usize = 32;
/// Members of results behind this one have no rule of their own.
pub(super) const MAX_MEMBERS: u32 = 16;
/// The analyses of one body may look at this many instructions all told; with more, its result depends on all
/// parameters.
const MAX_WORK: usize = 1_000_000;

/// What is known of a function from outside.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The shapes of the parameters by calling convention; missing ones vary.
    pub args: Vec<ArgShape>,
    /// Other facts.
    pub facts: Arc<Facts>,
    /// Whether a body of another module may take the place of this one.
    pub replaceable: bool,
}

/// How a result depends on the arguments.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Dependence {
    /// It differs from lane to lane whatever the arguments are.
    Source,
    /// It is uniform if these arguments are.
    On(OperandSet),
}

impl Dependence {
    /// What holds if either does.
    fn or(self, other: Dependence) -> Dependence {
        match (self, other) {
            (Dependence::On(a), Dependence::On(b)) => Dependence::On(a.union(b)),
            _ => Dependence::Source,
        }
    }

    fn rule(self) -> Rule {
        match self {
            Dependence::Source => Rule::Source(Cause::Callee),
            Dependence::On(set) => Rule::Only(set),
        }
    }
}

/// How the result of one function depends on the arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    whole: Dependence,
    /// For a result of structure type.
    members: Vec<Dependence>,
}

impl Summary {
    /// The same result whatever the arguments are.
    fn uniform(members: u32) -> Summary {
        let independent = Dependence::On(OperandSet::default());
        Summary { whole: independent, members: vec![independent; members as usize] }
    }

    fn or(&self, other: &Summary) -> Summary {
        let members = self.members.iter().zip(&other.members).map(|(&a, &b)| a.or(b)).collect();
        Summary { whole: self.whole.or(other.whole), members }
    }

    /// The rule of the result of a call.
    pub(super) fn rule(&self) -> Rule {
        self.whole.rule()
    }

    /// The rule of a member of the result, if it is a structure.
    pub(super) fn member(&self, member: usize) -> Option<Rule> {
        self.members.get(member).map(|m| m.rule())
    }
}

/// The summaries of the functions of a module.
#[derive(Clone, Debug, Default)]
pub struct Summaries {
    of: SecondaryMap<Symbol, Option<Summary>>,
}

impl Summaries {
    /// The summary of a function, if it has one.
    pub fn get(&self, callee: Symbol) -> Option<&Summary> {
        self.of[callee].as_ref()
    }

    /// Summaries of all functions that some function of the module calls, callees before callers.
    pub fn compute(module: &Module, target: Target, input: impl Fn(FuncId) -> Input) -> Summaries {
        let by_symbol: SecondaryMap<Symbol, Option<FuncId>> = {
            let mut map = SecondaryMap::new();
            for (id, func) in &module.functions {
                if let Some(symbol) = module.symbol(&func.name) {
                    map[symbol] = Some(id);
                }
            }
            map
        };
        let mut calls: Vec<(Node, Node)> = Vec::new();
        let mut is_called: SecondaryMap<FuncId, Option<Symbol>> = SecondaryMap::new();
        for (caller, func) in &module.functions {
            for inst in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
                if let Some((symbol, _)) = called(module, func, inst).and_then(|c| c.callee)
                    && let Some(callee) = by_symbol[symbol]
                {
                    calls.push((Node(caller.as_u32()), Node(callee.as_u32())));
                    is_called[callee] = Some(symbol);
                }
            }
        }
        if calls.is_empty() {
            return Summaries::default();
        }
        calls.sort_unstable();
        calls.dedup();
        let calls_itself: Vec<Node> = calls.iter().filter(|(a, b)| a == b).map(|&(a, _)| a).collect();
        let graph = CsrGraph::new(module.functions.len(), Node(0), calls).expect("nodes are functions");
        let components = Sccs::compute(&graph);
        let mut size = vec![0u32; components.len()];
        for id in module.functions.keys() {
            size[components.of(Node(id.as_u32()))] += 1;
        }
        let mut order: Vec<FuncId> = module.functions.keys().filter(|&id| is_called[id].is_some()).collect();
        order.sort_by_key(|&id| (components.of(Node(id.as_u32())), id));
        let mut summaries = Arc::new(Summaries::default());
        let component = |id: FuncId| components.of(Node(id.as_u32()));
        for together in order.chunk_by(|&a, &b| component(a) == component(b)) {
            let mut recursive: Vec<Callee> = Vec::new();
            for &id in together {
                let (Some(symbol), node) = (is_called[id], Node(id.as_u32())) else { continue };
                let (func, input) = (&module.functions[id], input(id));
                if input.replaceable || func.ret.is_void() || func.layout.is_empty() {
                    continue;
                }
                let calls_itself = size[component(id)] > 1 || calls_itself.binary_search(&node).is_ok();
                // What the declaration promises may be more than nothing.
                if target == Target::Simd && (calls_itself || order_matters(module, func)) {
                    continue;
                }
                let callee = Callee { symbol, func, input };
                match calls_itself {
                    true => recursive.push(callee),
                    false => {
                        let summary = summarise(module, target, &callee, &summaries);
                        Arc::make_mut(&mut summaries).of[symbol] = Some(summary);
                    }
                }
            }
            recursion(module, target, &recursive, &mut summaries);
        }
        Arc::unwrap_or_clone(summaries)
    }
}

/// A function that is called.
struct Callee<'a> {
    symbol: Symbol,
    func: &'a Function,
    input: Input,
}

/// Summaries of functions that call each other: the first that the bodies confirm, from the best ones down.
fn recursion(module: &Module, target: Target, callees: &[Callee], summaries: &mut Arc<Summaries>) {
    for c in callees {
        Arc::make_mut(summaries).of[c.symbol] = Some(Summary::uniform(members(module, c.func)));
    }
    let mut changed = !callees.is_empty();
    while changed {
        changed = false;
        for c in callees {
            let said = summarise(module, target, c, summaries);
            let before = summaries.get(c.symbol).cloned().unwrap_or_else(|| said.clone());
            let lower = before.or(&said);
            changed |= lower != before;
            Arc::make_mut(summaries).of[c.symbol] = Some(lower);
        }
    }
}

/// How many members of the result have a rule of their own.
fn members(module: &Module, func: &Function) -> u32 {
    let members = match func.ret {
        Type::Aggregate(a) => match module.types.get(a) {
            AggregateType::Struct { fields: Some(fields), .. } => fields.len() as u32,
            _ => 0,
        },
        _ => 0,
    };
    members.min(MAX_MEMBERS)
}

/// Whether running the function for one lane after the other may give other results than running it in lockstep.
fn order_matters(module: &Module, func: &Function) -> bool {
    let mut all = Effects::empty();
    for inst in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
        let data = &func.insts[inst];
        let own = func.accessed(inst).is_some_and(|a| is_own_object(func, a.address));
        let lifetime = called(module, func, inst).is_some_and(|c| c.name().starts_with("llvm.lifetime."));
        if !own && !lifetime {
            all |= data.effects();
        }
    }
    all.contains(Effects::READS | Effects::WRITES)
        || all.intersects(Effects::UNKNOWN_RESULT | Effects::VOLATILE | Effects::ATOMIC | Effects::CONVERGENT)
}

/// Whether an address lies in an object that this call has made.
fn is_own_object(func: &Function, address: Value) -> bool {
    func.is_alloca(func.address_base(address))
}

/// One body, analysed for several sets of varying parameters.
struct Body<'a> {
    module: &'a Module,
    func: &'a Function,
    target: Target,
    input: &'a Input,
    summaries: &'a Arc<Summaries>,
    members: u32,
}

impl Body<'_> {
    /// For the result as a whole, and then for each of its members: whether it is divergent if the parameters for
    /// which `varies` holds vary and the others do not.
    fn divergent(&self, varies: impl Fn(usize) -> bool) -> Vec<bool> {
        let shape = |i: usize| match self.input.args.get(i) {
            Some(ArgShape::Uniform) => ArgShape::Uniform,
            _ if varies(i) => ArgShape::Varying,
            _ => ArgShape::Uniform,
        };
        let options = Options {
            args: (0..self.func.params.len()).map(shape).collect(),
            target: self.target,
            facts: Arc::clone(&self.input.facts),
            summaries: Some(Arc::clone(self.summaries)),
            ..Options::default()
        };
        let result = Uniformity::compute(self.module, self.func, &options);
        if tokens::check(self.module, self.func, result.cycles()).is_err() {
            return vec![true; self.members as usize + 1];
        }
        (0..=self.members).map(|m| self.result_diverges(&result, m.checked_sub(1))).collect()
    }

    fn result_diverges(&self, result: &Uniformity, member: Option<u32>) -> bool {
        let returns: Vec<(Block, Inst, Value)> = self
            .func
            .layout
            .iter()
            .filter_map(|&b| Some((b, self.func.blocks[b].term.expand()?)))
            .filter(|&(_, t)| self.func.insts[t].op == Op::Ret)
            .filter_map(|(b, t)| Some((b, t, *self.func.insts[t].args.first()?)))
            .collect();
        // Lanes that part may return in different places.
        if returns.len() > 1 && result.divergent_branches().next().is_some() {
            return true;
        }
        returns.into_iter().any(|(block, _, v)| match member.map(|m| origin(self.func, v, &[m])) {
            None => result.is_divergent_at(v, block),
            Some(Origin::Value(v)) => result.is_divergent_at(v, block),
            Some(Origin::Member(inst, m)) => result.is_member_divergent_at(self.func, inst, m, block),
        })
    }
}

fn summarise(module: &Module, target: Target, callee: &Callee, summaries: &Arc<Summaries>) -> Summary {
    let Callee { func, input, .. } = callee;
    let members = members(module, func);
    let body = Body { module, func, target, input, summaries, members };
    let count = func.params.len();
    let everything = OperandSet::of(0..count);
    let mut found = vec![Dependence::On(OperandSet::default()); members as usize + 1];
    let open = body.divergent(|_| true);
    if open.contains(&true) {
        let inside = body.divergent(|_| false);
        let mut sets = vec![OperandSet::default(); open.len()];
        let size: usize = func.layout.iter().map(|&b| func.blocks[b].insts.len() + 1).sum();
        let alone = count <= MAX_PARAMS && count * size <= MAX_WORK;
        for p in (0..count).filter(|_| alone) {
            for (set, divergent) in sets.iter_mut().zip(body.divergent(|i| i == p)) {
                *set = if divergent { set.with(p) } else { *set };
            }
        }
        for m in (0..open.len()).filter(|&m| open[m]) {
            found[m] = match inside[m] {
                true => Dependence::Source,
                false => {
                    let set = sets[m];
                    let holds = alone && !body.divergent(|i| !set.contains(i))[m];
                    Dependence::On(if holds { set } else { everything })
                }
            };
        }
    }
    let whole = found.remove(0);
    Summary { whole, members: found }
}
