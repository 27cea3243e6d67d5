//! What tells of secrets in a function, and why.

use std::cell::OnceCell;

use super::function::{Followed, Since, State, Why};
use super::{Finding, Kind, Observer, Segment};
use crate::{Explainer, Step};
use warpline_dataflow::memory::{self, Object};
use warpline_ir::demangle;
use warpline_ir::{BinaryOp, Block, FuncId, Inst, Op, Value, ValueDef};

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
    /// Whether it is the memory behind the operand that is secret.
    behind: bool,
}

pub(super) fn of(state: &State<'_>, observer: &mut Observer<'_>) -> Vec<Finding> {
    let chains = Chains { state, explainers: state.results.iter().map(|_| OnceCell::new()).collect() };
    let mut found = Vec::new();
    for &b in &state.func.layout {
        if !chains.at(state.results.len() - 1).reaches(b) {
            continue;
        }
        for inst in state.func.block_insts(b) {
            for u in uses(state, observer, b, inst) {
                let chain = match u.operand {
                    None => chains.branch(b),
                    Some(v) if u.behind => chains.memory(v),
                    Some(v) => chains.operand(v, b, state.results.len() - 1),
                };
                let text = format!("{} {}", subject(state, b, inst), u.text);
                found.push(Finding {
                    kind: u.kind,
                    func: state.id,
                    inst,
                    text,
                    chain: vec![Segment { func: state.id, steps: chain }],
                    calls: Vec::new(),
                });
            }
            if let Some(call) = state.calls.get(&inst) {
                found.extend(call.summary.findings.iter().map(|f| chains.through(f, call, b, inst)));
            }
        }
    }
    found
}

fn subject(state: &State<'_>, b: Block, inst: Inst) -> String {
    match state.func.insts[inst].edges.len() {
        0 => state.result().describe(state.module, state.func, inst),
        _ => format!("the branch of block {}", state.result().names(state.func).block(state.func, b)),
    }
}

/// What an instruction does with secrets that can be observed.
fn uses(state: &State<'_>, observer: &mut Observer<'_>, b: Block, inst: Inst) -> Vec<Use> {
    let data = &state.func.insts[inst];
    let names = state.result().names(state.func);
    let name = |v: Value| names.value(state.func, v);
    let secret = |v: &&Value| state.is_secret(**v, b);
    let plain = |kind, text: String, v: Value| Use { kind, text, operand: Some(v), behind: false };
    let at = |i: usize| data.args.get(i).filter(secret).copied();
    let mut found = Vec::new();
    match &data.op {
        Op::Load(_) => {
            found.extend(
                at(0).map(|v| plain(Kind::Address, format!("reads from the secret address {}", name(v)), v)),
            );
        }
        Op::Store(_) => {
            found.extend(
                at(1).map(|v| plain(Kind::Address, format!("writes to the secret address {}", name(v)), v)),
            );
        }
        Op::Alloca { .. } => {
            found.extend(
                at(0).map(|v| {
                    plain(Kind::Address, format!("makes an object of the secret size {}", name(v)), v)
                }),
            );
        }
        Op::ExtractElement | Op::InsertElement => {
            let index = at(data.args.len() - 1);
            found.extend(index.map(|v| plain(Kind::Address, format!("has the secret index {}", name(v)), v)));
        }
        Op::Binary(op) if op.is_int_division() || matches!(op, BinaryOp::FDiv | BinaryOp::FRem) => {
            let operands = data.args.iter().filter(secret).copied();
            found
                .extend(operands.map(|v| {
                    plain(Kind::Operand, format!("divides with the secret operand {}", name(v)), v)
                }));
        }
        Op::Select => {
            found.extend(at(0).map(|v| {
                let text =
                    format!("selects by the secret {}; a branch or not is left to the compiler", name(v));
                plain(Kind::Selection, text, v)
            }));
        }
        Op::Opaque(_) => {
            let pointers = data.args.iter().filter(|&&v| state.func.ty(v).is_ptr()).filter(secret).copied();
            found.extend(pointers.map(|v| {
                plain(Kind::Address, format!("accesses memory at the secret address {}", name(v)), v)
            }));
        }
        Op::Call(_) | Op::OpaqueTerm(_) => calls(state, observer, b, inst, &mut found),
        _ => {}
    }
    // Edges to one block may still become jumps, where the values of its φs are brought into place.
    let decides = state.result().is_divergent_branch(b) || data.args.iter().any(|v| secret(&v));
    if data.edges.len() > 1 && decides {
        found.push(Use {
            kind: Kind::Branch,
            text: "depends on secrets".into(),
            operand: None,
            behind: false,
        });
    }
    found
}

fn calls(state: &State<'_>, observer: &mut Observer<'_>, b: Block, inst: Inst, found: &mut Vec<Use>) {
    let data = &state.func.insts[inst];
    let callee = memory::callee(state.module, state.func, inst);
    let names = state.result().names(state.func);
    let name = |v: Value| names.value(state.func, v);
    let secrets: Vec<Value> = data.args.iter().copied().filter(|&v| state.is_secret(v, b)).collect();
    let each = |kind, text: &str, values: &mut dyn Iterator<Item = Value>, found: &mut Vec<Use>| {
        found.extend(values.map(|v| Use {
            kind,
            text: format!("{text} {}", name(v)),
            operand: Some(v),
            behind: false,
        }));
    };
    let is_pointer = |v: &Value| state.func.ty(*v).is_ptr();
    if memory::is_remark(callee) || state.calls.contains_key(&inst) {
        return;
    }
    if callee.starts_with("llvm.") {
        let whole = memory::is_about_memory(callee);
        if VARIABLE_TIME.iter().any(|p| callee.starts_with(p)) {
            each(
                Kind::Operand,
                "needs a time that may depend on the secret operand",
                &mut secrets.iter().copied(),
                found,
            );
        } else if whole || !data.op.effects().is_empty() {
            let length = |v: &Value| whole && data.args.get(2) == Some(v);
            // Which lanes of a masked access are executed can be observed too.
            let mask = |v: &Value| {
                callee.starts_with("llvm.masked.")
                    && matches!(state.func.ty(*v).elem(), Some(warpline_ir::Scalar::Int(1)))
            };
            let vector = |v: &Value| matches!(state.func.ty(*v).elem(), Some(warpline_ir::Scalar::Ptr(_)));
            each(
                Kind::Address,
                "accesses memory at the secret address",
                &mut secrets.iter().copied().filter(|v| is_pointer(v) || vector(v)),
                found,
            );
            each(
                Kind::Address,
                "accesses memory of the secret length",
                &mut secrets.iter().copied().filter(length),
                found,
            );
            each(
                Kind::Address,
                "accesses memory under the secret mask",
                &mut secrets.iter().copied().filter(mask),
                found,
            );
        }
        return;
    }
    let whom = match (callee.is_empty(), state.module.function(callee)) {
        (true, _) => "an unknown function".to_owned(),
        (false, None) => format!("{}, which is not defined here,", demangle(callee)),
        (false, Some(_)) => format!("{}, which is not followed in a recursion,", demangle(callee)),
    };
    // An indirect callee is the last operand.
    let target = data.args.last().copied().filter(|v| callee.is_empty() && secrets.contains(v));
    each(Kind::Call, "goes to the secret address", &mut target.into_iter(), found);
    let others = secrets.iter().copied().filter(|v| Some(*v) != target);
    each(Kind::Call, &format!("gives {whom} the secret"), &mut { others }, found);
    for &v in memory::arguments(state.func, inst).iter().filter(|v| is_pointer(v)) {
        if state.points_to_secrets(v).is_some() {
            let text = format!("gives {whom} a way to secret memory: {}", name(v));
            found.push(Use { kind: Kind::Call, text, operand: Some(v), behind: true });
        }
    }
    if found.is_empty() && !data.op.effects().is_empty() {
        let known = if callee.is_empty() { "an indirect call".to_owned() } else { demangle(callee) };
        observer.not_followed.insert(known);
    }
}

/// Explanations in a function, through memory.
struct Chains<'s, 'a> {
    state: &'s State<'a>,
    explainers: Vec<OnceCell<Explainer<'s>>>,
}

impl<'s> Chains<'s, '_> {
    fn at(&self, round: usize) -> &Explainer<'s> {
        let state = self.state;
        self.explainers[round].get_or_init(|| Explainer::new(state.module, state.func, &state.results[round]))
    }

    /// Why the branch of a block is secret.
    fn branch(&self, b: Block) -> Vec<Step> {
        let round = self.state.results.len() - 1;
        self.extend(self.at(round).branch(b), round)
    }

    /// Why a use of a value in a block is secret, by the result of a round.
    fn operand(&self, v: Value, b: Block, round: usize) -> Vec<Step> {
        self.extend(self.at(round).use_at(v, b), round)
    }

    /// Why memory behind a pointer is secret.
    fn memory(&self, pointer: Value) -> Vec<Step> {
        let state = self.state;
        let objects = state.objects(pointer);
        let Some(why) = state.secret_in(&objects) else { return Vec::new() };
        let pointer = state.result().names(state.func).value(state.func, pointer);
        let step = Step {
            text: format!("{pointer} leads to {}", self.origin(why)),
            loc: state.func.loc.expand(),
            ..Step::default()
        };
        let mut steps = vec![step];
        if let Why::Written(by) = why {
            steps.extend(self.write(by));
        }
        steps
    }

    /// `memory that …`.
    fn origin(&self, why: Why) -> String {
        let state = self.state;
        let name = |v| state.result().names(state.func).value(state.func, v);
        match why {
            Why::Given(i) => format!("the secret memory behind {}", name(state.func.params[i as usize])),
            Why::Elsewhere => "memory that may be secret from the start".into(),
            Why::Written(by) => {
                let inst = state.result().describe(state.module, state.func, by);
                format!("memory that {inst} may have written")
            }
            Why::Operand(v) => format!("what depends on the secret {}", name(v)),
            Why::Steered(_) => "what is executed or not as secrets decide".into(),
        }
    }

    /// Goes on where a chain ends at a source that is explained by memory or a call.
    fn extend(&self, mut steps: Vec<Step>, round: usize) -> Vec<Step> {
        let state = self.state;
        let Some(source) = steps.last().and_then(|s| s.value).and_then(|v| state.func.def_inst(v)) else {
            return steps;
        };
        let Some(&Since { why, round: since }) = state.sources.get(&source).filter(|s| s.round < round)
        else {
            return steps;
        };
        let what = state.result().describe(state.module, state.func, source);
        let block = state.func.insts[source].block;
        if let Some(last) = steps.last_mut() {
            let verb =
                if matches!(state.func.insts[source].op, Op::Load(_)) { "reads" } else { "brings back" };
            last.text = format!("{what} {verb} {}", self.origin(why));
        }
        steps.extend(self.reason(why, block, since));
        steps
    }

    fn reason(&self, why: Why, block: Block, round: usize) -> Vec<Step> {
        match why {
            Why::Given(_) | Why::Elsewhere | Why::Steered(None) => Vec::new(),
            Why::Written(by) => self.write(by),
            Why::Steered(Some(branch)) => self.extend(self.at(round).branch(branch), round),
            Why::Operand(v) => match self.at(round).use_at(v, block) {
                steps if steps.is_empty() => self.memory_before(v, round),
                steps => self.extend(steps, round),
            },
        }
    }

    /// Why an instruction writes secrets.
    fn write(&self, by: Inst) -> Vec<Step> {
        let state = self.state;
        let Some((_, since)) = state.written.values().find(|(inst, _)| *inst == by) else {
            return Vec::new();
        };
        let what = state.result().describe(state.module, state.func, by);
        let block = state.func.insts[by].block;
        let loc = state.func.insts[by].loc.expand();
        let text = format!("{what} writes {}", self.origin(since.why));
        let mut steps = vec![Step { text, block: Some(block), loc, ..Step::default() }];
        steps.extend(self.reason(since.why, block, since.round));
        steps
    }

    /// Why memory behind a pointer was secret in an early round: as far as it is so from the start.
    fn memory_before(&self, pointer: Value, round: usize) -> Vec<Step> {
        let state = self.state;
        let objects = state.objects(pointer);
        let written = |o: &Object| state.written.iter().find(|(w, _)| state.memory.may_be_same(**w, *o));
        let earlier = objects.iter().find_map(written).filter(|(_, (_, since))| since.round < round);
        match (state.secret_in(&objects), earlier) {
            (Some(Why::Written(_)), Some((_, &(by, _)))) => self.write(by),
            (Some(Why::Written(_)) | None, _) => Vec::new(),
            (Some(why), _) => {
                let pointer = state.result().names(state.func).value(state.func, pointer);
                let text = format!("{pointer} leads to {}", self.origin(why));
                vec![Step { text, loc: state.func.loc.expand(), ..Step::default() }]
            }
        }
    }

    /// A finding in a callee, as it looks from here.
    fn through(&self, finding: &Finding, call: &Followed, b: Block, inst: Inst) -> Finding {
        let state = self.state;
        let mut finding = finding.clone();
        let what = state.result().describe(state.module, state.func, inst);
        let loc = state.func.insts[inst].loc.expand();
        let last = finding.chain.last().and_then(|s| s.steps.last());
        let parameter = last.and_then(|s| s.value).and_then(|v| self.parameter(call.callee, v));
        let secret = |i: &usize| call.start.secrets.values[*i] || call.start.secrets.memory[*i];
        let number = parameter.filter(secret).or_else(|| (0..call.start.secrets.values.len()).find(secret));
        let mut steps = Vec::new();
        if let Some(i) = number {
            let v = state.func.insts[inst].args[i];
            let name = state.result().names(state.func).value(state.func, v);
            let (given, more) = match call.start.secrets.values[i] {
                true => (format!("the secret {name}"), self.operand(v, b, state.results.len() - 1)),
                false => (format!("a way to secret memory: {name}"), self.memory(v)),
            };
            steps.push(Step {
                text: format!("{what} is given {given}"),
                block: Some(b),
                loc,
                ..Step::default()
            });
            steps.extend(more);
        } else {
            let text = format!("{what} may find secrets in memory, or is executed as they decide");
            steps.push(Step { text, block: Some(b), loc, ..Step::default() });
        }
        finding.chain.push(Segment { func: state.id, steps });
        finding.calls.insert(0, (state.id, inst));
        finding
    }

    fn parameter(&self, callee: FuncId, v: Value) -> Option<usize> {
        match self.state.module.functions[callee].values.get(v)?.def {
            ValueDef::Param(i) => Some(i as usize),
            _ => None,
        }
    }
}
