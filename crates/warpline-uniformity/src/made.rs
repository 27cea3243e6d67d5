//! The engine's program of a function: which values there are, by which rules, of which operands.
//!
//! It is made in one pass over the values and one over the lists of the blocks, so that each instruction is looked at
//! once: in large functions reading them takes most of the time.

use cranelift_entity::{EntityRef as _, EntitySet, SecondaryMap};

use warpline_analysis::uniformity::{Rule as EngineRule, SsaProgram, Value as EngineValue};
use warpline_analysis::{CsrGraph, EdgeId, Node};

use crate::congruence::Congruence;
use crate::frozen::Frozen;
use crate::members::{self, Origin};
use crate::rules::{self, OperandSet, Rule};
use crate::summary;
use crate::variables::{Held, Variables};
use crate::{Extra, Options, engine_value, gpu};
use warpline_ir::{Constant, Edge, Function, Inst, InstData, LaneOp, Module, Op, Type, Value, ValueDef};

/// The function as the engine sees it.
pub(super) struct Made {
    pub program: SsaProgram,
    pub extra: Vec<Extra>,
    /// Whether some instruction yields the lane's number.
    pub has_lane_index: bool,
    /// Whether some instruction is uniform if either of two operands is.
    pub has_either: bool,
}

/// Which instructions are in the function, and where φs stand among those of their block.
struct Places(Vec<u32>);

impl Places {
    const NOWHERE: u32 = u32::MAX;
    /// Of an instruction that has results, once one of them was looked at.
    const SEEN: u32 = 1 << 31;

    fn of(func: &Function) -> Places {
        let mut places = vec![Places::NOWHERE; func.insts.len()];
        for &b in &func.layout {
            let block = &func.blocks[b];
            for (i, phi) in block.phis.iter().enumerate() {
                places[phi.index()] = i as u32;
            }
            for inst in &block.insts {
                places[inst.index()] = 0;
            }
            if let Some(term) = block.term.expand() {
                places[term.index()] = 0;
            }
        }
        Places(places)
    }

    /// Looks at a result of an instruction: the position of a φ, none of an instruction that is not in the function.
    fn see(&mut self, inst: Inst) -> Option<usize> {
        let place = &mut self.0[inst.index()];
        if *place == Places::NOWHERE {
            return None;
        }
        let position = *place & !Places::SEEN;
        *place |= Places::SEEN;
        Some(position as usize)
    }

    fn is_seen(&self, inst: Inst) -> bool {
        self.0[inst.index()] & Places::SEEN != 0
    }
}

/// Makes the engine's program. The engine's values are the function's, by number, and after them the extra
/// ones.
pub(super) fn program(
    module: &Module,
    func: &Function,
    graph: &CsrGraph,
    edge_ids: &SecondaryMap<Edge, Option<EdgeId>>,
    pinned: &EntitySet<Value>,
    variables: &Variables,
    options: &Options,
) -> Made {
    // Instructions without results are values of the engine, too; nearly all have two operands or so.
    let effects = func.insts.len() / 3;
    let mut builder = SsaProgram::builder_for(func.values.len() + effects, 2 * func.insts.len());
    let members = members_with_rules(module, func, options);
    let mut places = Places::of(func);
    let any = |v: Value| {
        !options.strict_undef && matches!(func.constant(v), Some(Constant::Undef(_) | Constant::Poison(_)))
    };
    // What variables hold comes behind the members, and behind it, if needed, what was never written.
    let first_merge = func.values.len() + members.len();
    let held = |held: Held| match held {
        Held::Value(v) => (!any(v)).then(|| engine_value(v)),
        Held::Merged(i) => Some(EngineValue::new(first_merge + i)),
        Held::Unwritten if options.strict_undef => {
            Some(EngineValue::new(first_merge + variables.merges.len()))
        }
        Held::Unwritten => None,
    };
    let congruent = options.known.is_some().then(|| (Congruence::of(func), Frozen::of(module, func)));
    let (mut has_lane_index, mut has_either) = (false, false);
    for (v, value) in func.values.iter() {
        let made = match value.def {
            ValueDef::Inst(inst, result) => places.see(inst).map(|phi| (inst, result as usize, phi)),
            ValueDef::Const(_) => None,
            ValueDef::Param(_) if !pinned.contains(v) => {
                builder.argument(EngineRule::Source);
                continue;
            }
            ValueDef::Param(_) => None,
        };
        let Some((inst, result, position)) = made else {
            builder.argument(EngineRule::Default);
            continue;
        };
        let data = &func.insts[inst];
        let (rule, only) = match options.rule(module, func, inst) {
            _ if pinned.contains(v) => (EngineRule::AlwaysUniform, None),
            rule => engine_rule(rule),
        };
        if matches!(data.op, Op::Lane(_) | Op::Call(_) | Op::Opaque(_) | Op::OpaqueTerm(_)) {
            has_lane_index |= rules::lane_op(module, func, inst) == Some(LaneOp::LaneIndex);
            has_either |= gpu::is_by_either(module, func, inst);
        }
        let at = Node::from(data.block);
        match data.op {
            Op::Phi => {
                let operands = func.blocks[data.block].preds.iter().filter_map(|&e| {
                    let a = *func.edges[e].args.get(position)?;
                    Some((edge_ids[e]?, (!any(a)).then(|| engine_value(a))))
                });
                builder.phi(at, rule, operands);
            }
            Op::ReadVar(_) => {
                let made = builder.plain(at, rule, variables.read(v).and_then(held));
                builder.set_pure(made);
            }
            Op::ParallelCopy => {
                builder.plain(at, rule, data.args.get(result).map(|&a| engine_value(a)));
            }
            Op::ExtractValue(ref path) if options.context().follows_members() => {
                let operand = data.args.first().map(|&a| extracted(func, &members, a, path));
                let made = builder.plain(at, rule, operand);
                builder.set_pure(made);
            }
            // The vectorizer, which would have to do without the condition, knows nothing.
            Op::Select
                if !options.strict_undef
                    && congruent.as_ref().is_some_and(|(congruent, frozen)| {
                        congruent.same(data.args[1], data.args[2]) && !frozen.contains(v)
                    }) =>
            {
                let made = builder.plain(at, rule, [engine_value(data.args[1])]);
                builder.set_pure(made);
            }
            _ => {
                let made = match only {
                    None => builder.plain(at, rule, data.args.iter().map(|&a| engine_value(a))),
                    Some(_) => builder.plain(at, rule, operands(data, only)),
                };
                if is_pure(&data.op) {
                    builder.set_pure(made);
                }
            }
        }
    }
    let mut extra = Vec::with_capacity(members.len() + effects);
    for &(inst, member, rule) in &members {
        let data = &func.insts[inst];
        let (rule, only) = engine_rule(rule);
        builder.plain(Node::from(data.block), rule, operands(data, only));
        extra.push(Extra::Member(inst, member));
    }
    for merge in &variables.merges {
        let operands = merge.operands.iter().filter_map(|&(e, h)| Some((edge_ids[e]?, held(h))));
        builder.phi(Node::from(merge.block), EngineRule::Default, operands);
        extra.push(Extra::Merged(merge.var, merge.block));
    }
    if options.strict_undef {
        builder.argument(EngineRule::Default);
        extra.push(Extra::Unwritten);
    }
    for &b in &func.layout {
        for &inst in func.blocks[b].insts.iter().filter(|&&inst| !places.is_seen(inst)) {
            let data = &func.insts[inst];
            if data.results.is_empty() && !data.args.is_empty() {
                builder.plain(Node::from(b), EngineRule::Default, data.args.iter().map(|&a| engine_value(a)));
                extra.push(Extra::Effect(inst));
            }
        }
        if let Some(term) = func.blocks[b].term.expand() {
            builder.terminator(Node::from(b), func.insts[term].args.iter().map(|&a| engine_value(a)));
            if options.splits_lanes(module, func, term).is_some() {
                let decision = builder.plain(Node::from(b), EngineRule::Source, []);
                builder.terminator(Node::from(b), [decision]);
                extra.push(Extra::Decision(term));
            }
        }
    }
    for number in options.known.iter().flat_map(|known| known.numbers()) {
        builder.argument(EngineRule::Default);
        extra.push(Extra::Number(number));
    }
    let program = builder.build(graph).expect("operands and edges of a function are its own");
    Made { program, extra, has_lane_index, has_either }
}

/// The engine's rule, and the operands that count if not all do.
fn engine_rule(rule: Rule) -> (EngineRule, Option<OperandSet>) {
    match rule {
        Rule::Operands => (EngineRule::Default, None),
        Rule::Only(set) => (EngineRule::Default, Some(set)),
        Rule::Source(_) => (EngineRule::Source, None),
        Rule::AlwaysUniform => (EngineRule::AlwaysUniform, None),
    }
}

fn operands(data: &InstData, only: Option<OperandSet>) -> impl Iterator<Item = EngineValue> + '_ {
    let counts = move |position: &usize| only.is_none_or(|set| set.contains(*position));
    let counting = data.args.iter().enumerate().filter(move |(i, _)| counts(i));
    counting.map(|(_, &a)| engine_value(a))
}

/// The members of results of structure type that have rules of their own, in the order of the program.
fn members_with_rules(module: &Module, func: &Function, options: &Options) -> Vec<(Inst, u32, Rule)> {
    let mut found = Vec::new();
    if !func.values.values().any(|v| matches!(v.ty, Type::Aggregate(_))) {
        return found;
    }
    for inst in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
        let data = &func.insts[inst];
        if let [result] = data.results[..]
            && matches!(data.op, Op::Call(_) | Op::Opaque(_) | Op::OpaqueTerm(_))
            && let Type::Aggregate(_) = func.ty(result)
        {
            let rules = (0..summary::MAX_MEMBERS)
                .map_while(|m| module.types.member(func.ty(result), m.into()).map(|_| m))
                .filter_map(|m| Some((inst, m, options.member_rule(module, func, inst, m)?)));
            found.extend(rules);
        }
    }
    found.sort_by_key(|&(inst, member, _)| (inst, member));
    found
}

/// What an `extractvalue` depends on.
fn extracted(func: &Function, members: &[(Inst, u32, Rule)], aggregate: Value, path: &[u32]) -> EngineValue {
    match members::origin(func, aggregate, path) {
        Origin::Value(v) => engine_value(v),
        Origin::Member(inst, m) => match members.binary_search_by_key(&(inst, m), |&(i, m, _)| (i, m)) {
            Ok(found) => EngineValue::new(func.values.len() + found),
            Err(_) => engine_value(func.insts[inst].results.first().copied().unwrap_or(aggregate)),
        },
    }
}

/// Whether the result is the same whenever the operands are, however often it is computed.
fn is_pure(op: &Op) -> bool {
    matches!(
        op,
        Op::Binary(_)
            | Op::FNeg
            | Op::ICmp(_)
            | Op::FCmp(_)
            | Op::Select
            | Op::Sigma
            | Op::Cast(_)
            | Op::Gep(_)
            | Op::ExtractElement
            | Op::InsertElement
            | Op::Shuffle(_)
            | Op::ExtractValue(_)
            | Op::InsertValue(_)
    )
}
