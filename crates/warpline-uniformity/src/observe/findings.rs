//! What tells of secrets in a function, and why.

use super::calls;
use super::chains::Chains;
use super::memory::Held;
use super::state::{InstanceId, State};
use super::walk::is_declassified;
use super::{Finding, Kind, points, walk};
use std::collections::BTreeSet;

use cranelift_entity::EntitySet;
use warpline_dataflow::memory;
use warpline_ir::demangle;
use warpline_ir::{BinaryOp, Block, Function, Inst, Op, Value};

/// Intrinsics whose time may depend on their operands, by prefix: most become calls of a library.
const VARIABLE_TIME: &[&str] = &[
    "llvm.acos.",
    "llvm.asin.",
    "llvm.atan.",
    "llvm.atan2.",
    "llvm.cos.",
    "llvm.cosh.",
    "llvm.exp.",
    "llvm.exp10.",
    "llvm.exp2.",
    "llvm.frexp.",
    "llvm.ldexp.",
    "llvm.log.",
    "llvm.log10.",
    "llvm.log2.",
    "llvm.pow.",
    "llvm.powi.",
    "llvm.sdiv.fix.",
    "llvm.sin.",
    "llvm.sincos.",
    "llvm.sinh.",
    "llvm.sqrt.",
    "llvm.tan.",
    "llvm.tanh.",
    "llvm.udiv.fix.",
];

/// What an instruction does with an operand that is secret.
struct Use {
    kind: Kind,
    /// The sentence's end, behind the instruction.
    text: String,
    /// The operand; none for a branch.
    operand: Option<Value>,
    /// Why the memory behind the operand is secret, if that is what is.
    behind: Option<Held>,
}

pub(super) fn of(state: &mut State<'_>) -> Vec<Finding> {
    let mut raw: Vec<(InstanceId, Block, Inst, Use)> = Vec::new();
    let ids: Vec<InstanceId> = state.ids().collect();
    for &id in &ids {
        let func = state.instance(id).func;
        let reachable = reachable(func);
        for &b in func.layout.iter().filter(|&&b| reachable.contains(b)) {
            for inst in func.block_insts(b) {
                let mut all = uses(state, id, b, inst);
                all.extend(handed(state, id, inst));
                if all.is_empty()
                    && let Some(name) = left_out(state, id, inst)
                {
                    state.not_followed.insert(name);
                }
                raw.extend(all.into_iter().map(|u| (id, b, inst, u)));
            }
        }
    }
    // Of calls in several ways, the first is told.
    let mut seen = BTreeSet::new();
    raw.retain(|(id, _, inst, u)| seen.insert((state.instance(*id).id, *inst, u.kind, u.text.clone())));
    // In the order of the program: callees where they are called.
    let mut keyed: Vec<(Vec<(usize, usize)>, usize)> = raw
        .iter()
        .zip(0..)
        .map(|((id, _, inst, _), index)| {
            let mut order = state.order(*id);
            order.push(state.position(*id, *inst));
            (order, index)
        })
        .collect();
    keyed.sort();
    let state = &*state;
    let chains = Chains::new(state);
    let finding = |index: usize| {
        let (id, b, inst, u) = &raw[index];
        let of = state.instance(*id);
        let chain = match u.operand {
            None => chains.branch(*id, *b),
            Some(v) => match u.behind {
                Some(held) => chains.memory(*id, v, held),
                None => chains.operand(*id, v, *b),
            },
        };
        Finding {
            kind: u.kind,
            func: of.id,
            inst: *inst,
            text: format!("{} {}", subject(state, *id, *b, *inst), u.text),
            chain,
            calls: of.path.iter().map(|&(at, call)| (state.instance(at).id, call)).collect(),
            follows: false,
        }
    };
    keyed.into_iter().map(|(_, index)| finding(index)).collect()
}

/// The blocks that can be executed.
fn reachable(func: &Function) -> EntitySet<Block> {
    let mut seen = EntitySet::new();
    let mut work: Vec<Block> = func.layout.first().copied().into_iter().collect();
    while let Some(b) = work.pop() {
        if seen.insert(b) {
            work.extend(func.successors(b));
        }
    }
    seen
}

/// How an instruction is named: by what the source calls its result, if anything, where the source is known.
fn subject(state: &State<'_>, id: InstanceId, b: Block, inst: Inst) -> String {
    let of = state.instance(id);
    let is_shown = is_shown(of.func, inst);
    if !of.func.insts[inst].edges.is_empty() {
        return match is_shown {
            true => "the branch".to_owned(),
            false => format!("the branch of block {}", of.result().names(of.func).block(of.func, b)),
        };
    }
    let text = of.result().describe(state.module, of.func, inst);
    match text.split_once(" = ") {
        Some((name, rest)) if is_shown && name.starts_with('%') => rest.to_owned(),
        _ => text,
    }
}

/// Whether reports have the line of the source: then names that a compiler made up say nothing.
fn is_shown(func: &Function, inst: Inst) -> bool {
    func.insts[inst].loc.expand().is_some()
}

/// `the secret address x`, or without a name `a secret address`.
fn named(state: &State<'_>, id: InstanceId, inst: Inst, what: &str, v: Value) -> String {
    shown_name(state, id, inst, v).map_or_else(|| format!("a {what}"), |name| format!("the {what} {name}"))
}

/// The name of an operand, unless a compiler has made it up and the line of the source is there.
fn shown_name(state: &State<'_>, id: InstanceId, inst: Inst, v: Value) -> Option<String> {
    let of = state.instance(id);
    let name = of.result().names(of.func).value(of.func, v);
    let is_of_source = !name.starts_with('%') || of.func.params.contains(&v);
    (is_of_source || !is_shown(of.func, inst)).then_some(name)
}

/// What an instruction does with secrets that can be observed.
fn uses(state: &State<'_>, id: InstanceId, b: Block, inst: Inst) -> Vec<Use> {
    let of = state.instance(id);
    let func = of.func;
    let data = &func.insts[inst];
    let name = |what: &str, v: Value| named(state, id, inst, what, v);
    let secret = |v: &&Value| of.is_secret(**v, b);
    let plain = |kind, text: String, v: Value| Use { kind, text, operand: Some(v), behind: None };
    let at = |i: usize| data.args.get(i).filter(secret).copied();
    let mut found = Vec::new();
    match &data.op {
        Op::Load(_) => {
            found.extend(
                at(0).map(|v| plain(Kind::Address, format!("reads from {}", name("secret address", v)), v)),
            );
        }
        Op::Store(_) => {
            found.extend(
                at(1).map(|v| plain(Kind::Address, format!("writes to {}", name("secret address", v)), v)),
            );
        }
        Op::Alloca { .. } => {
            found.extend(
                at(0).map(|v| {
                    plain(Kind::Address, format!("makes an object of {}", name("secret size", v)), v)
                }),
            );
        }
        Op::ExtractElement | Op::InsertElement => {
            let index = at(data.args.len() - 1);
            found.extend(index.map(|v| plain(Kind::Address, format!("has {}", name("secret index", v)), v)));
        }
        Op::Binary(op) if op.is_int_division() || matches!(op, BinaryOp::FDiv | BinaryOp::FRem) => {
            let operands = data.args.iter().filter(secret).copied();
            found.extend(
                operands
                    .map(|v| plain(Kind::Operand, format!("divides with {}", name("secret operand", v)), v)),
            );
        }
        Op::Select => {
            found.extend(at(0).map(|v| {
                let text =
                    format!("selects by {}; a branch or not is left to the compiler", name("secret", v));
                plain(Kind::Selection, text, v)
            }));
        }
        op if calls::is_call(op) || calls::assembly(op).is_some() => {
            of_call(state, id, b, inst, &mut found);
        }
        Op::Opaque(_) => {
            let pointers = data.args.iter().filter(|&&v| func.ty(v).is_ptr()).filter(secret).copied();
            found.extend(pointers.map(|v| {
                plain(Kind::Address, format!("accesses memory at {}", name("secret address", v)), v)
            }));
        }
        _ => {}
    }
    // Edges to one block may still become jumps, where the values of its φs are brought into place.
    let decides = of.result().is_divergent_branch(b) || data.args.iter().any(|v| secret(&v));
    if data.edges.len() > 1 && decides {
        found.push(Use {
            kind: Kind::Branch,
            text: "depends on secrets".into(),
            operand: None,
            behind: None,
        });
    }
    found
}

fn of_call(state: &State<'_>, id: InstanceId, b: Block, inst: Inst, found: &mut Vec<Use>) {
    let of = state.instance(id);
    let func = of.func;
    let data = &func.insts[inst];
    let callee = calls::callee(state.module, func, inst);
    let secrets: Vec<Value> = data.args.iter().copied().filter(|&v| of.is_secret(v, b)).collect();
    let each = |kind, text: &str, what, values: &mut dyn Iterator<Item = Value>, found: &mut Vec<Use>| {
        found.extend(values.map(|v| Use {
            kind,
            text: format!("{text} {}", named(state, id, inst, what, v)),
            operand: Some(v),
            behind: None,
        }));
    };
    let is_pointer = |v: &Value| func.ty(*v).is_ptr();
    let target = calls::target(func, inst).filter(|v| callee.is_empty() && secrets.contains(v));
    each(Kind::Call, "goes to", "secret address", &mut target.into_iter(), found);
    let is_quiet = memory::is_remark(callee) || is_declassified(state, id, inst);
    if is_quiet || is_left_to_callee(state, id, inst) || calls::assembly(&data.op) == Some(false) {
        return;
    }
    if callee.starts_with("llvm.") {
        let whole = memory::is_about_memory(callee);
        if VARIABLE_TIME.iter().any(|p| callee.starts_with(p)) {
            each(
                Kind::Operand,
                "needs a time that may depend on",
                "secret operand",
                &mut secrets.iter().copied(),
                found,
            );
        } else if whole || !data.op.effects().is_empty() {
            let length = |v: &Value| whole && data.args.get(2) == Some(v);
            // Which lanes of a masked access are executed can be observed too.
            let mask = |v: &Value| {
                callee.starts_with("llvm.masked.")
                    && matches!(func.ty(*v).elem(), Some(warpline_ir::Scalar::Int(1)))
            };
            let vector = |v: &Value| matches!(func.ty(*v).elem(), Some(warpline_ir::Scalar::Ptr(_)));
            each(
                Kind::Address,
                "accesses memory at",
                "secret address",
                &mut secrets.iter().copied().filter(|v| is_pointer(v) || vector(v)),
                found,
            );
            each(
                Kind::Address,
                "accesses memory of",
                "secret length",
                &mut secrets.iter().copied().filter(length),
                found,
            );
            each(
                Kind::Address,
                "accesses memory under",
                "secret mask",
                &mut secrets.iter().copied().filter(mask),
                found,
            );
        }
        return;
    }
    if walk::is_setter(state, callee) {
        each(
            Kind::Address,
            "accesses memory at an address or of a length that is",
            "secret",
            &mut secrets.iter().copied(),
            found,
        );
        return;
    }
    let whom = whom(state, id, inst);
    let others = secrets.iter().copied().filter(|v| Some(*v) != target);
    each(Kind::Call, &format!("gives {whom}"), "secret", &mut { others }, found);
}

/// Whether a call is followed to wherever it may go: what it is given is looked at there.
fn is_left_to_callee(state: &State<'_>, id: InstanceId, inst: Inst) -> bool {
    let of = state.instance(id);
    of.follows(inst) && !of.open.contains(&inst)
}

/// Who gets what a call hands over.
fn whom(state: &State<'_>, id: InstanceId, inst: Inst) -> String {
    let of = state.instance(id);
    if calls::assembly(&of.func.insts[inst].op).is_some() {
        return "inline assembly, which is not looked into,".to_owned();
    }
    let callee = calls::callee(state.module, of.func, inst);
    match (callee.is_empty(), state.module.function(callee)) {
        (true, _) if of.follows(inst) => {
            let likely = of.followed(inst).map(|to| demangle(&state.instance(to).func.name));
            let likely: BTreeSet<String> = likely.collect();
            let first: Vec<&str> = likely.iter().take(3).map(String::as_str).collect();
            let more = match likely.len() - first.len() {
                0 => String::new(),
                n => format!(" and {n} others"),
            };
            format!("a function that is not known (looked into: {}{more})", first.join(", "))
        }
        (true, _) => "an unknown function".to_owned(),
        (false, None) => format!("{}, which is not defined here,", demangle(callee)),
        (false, Some(_)) => format!("{}, which takes other arguments,", demangle(callee)),
    }
}

/// Whether there is something that a function may do with what a call hands over: it is not looked into, and is none
/// of which everything is known.
fn is_unknown(state: &State<'_>, id: InstanceId, inst: Inst) -> bool {
    let op = &state.instance(id).func.insts[inst].op;
    let callee = calls::callee(state.module, state.instance(id).func, inst);
    let is_known = callee.starts_with("llvm.")
        || is_left_to_callee(state, id, inst)
        || is_declassified(state, id, inst)
        || walk::is_setter(state, callee)
        || points::allocates(callee);
    !is_known && (calls::is_call(op) || calls::assembly(op) == Some(true))
}

/// Ways to secret memory that a call gives to a function that is not followed.
fn handed(state: &mut State<'_>, id: InstanceId, inst: Inst) -> Vec<Use> {
    if !is_unknown(state, id, inst) {
        return Vec::new();
    }
    let func = state.instance(id).func;
    let whom = whom(state, id, inst);
    let mut found = Vec::new();
    for &v in calls::arguments(func, inst).iter().filter(|&&v| func.ty(v).is_ptr()) {
        if let Some(held) = state.reaches_secrets(id, v) {
            let name = shown_name(state, id, inst, v).map_or(String::new(), |name| format!(": {name}"));
            let text = format!("gives {whom} a way to secret memory{name}");
            found.push(Use { kind: Kind::Call, text, operand: Some(v), behind: Some(held) });
        }
    }
    found
}

/// The name of a function that a call goes to which is not looked into and whose effects may matter.
fn left_out(state: &State<'_>, id: InstanceId, inst: Inst) -> Option<String> {
    let of = state.instance(id);
    let data = &of.func.insts[inst];
    if !is_unknown(state, id, inst) || data.op.effects().is_empty() {
        return None;
    }
    let callee = calls::callee(state.module, of.func, inst);
    Some(match (callee.is_empty(), calls::assembly(&data.op)) {
        (true, None) => "an indirect call".to_owned(),
        (true, Some(_)) => "inline assembly".to_owned(),
        _ => demangle(callee),
    })
}
