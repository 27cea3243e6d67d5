//! Explanations: from what is observed down to a secret, through memory, calls and results.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::Segment;
use super::calls;
use super::memory::{Held, Object, ObjectId};
use super::state::{Given, InstanceId, Secret, Since, State, Why};
use crate::{Explainer, Step};
use warpline_ir::{Block, Inst, Op, Value, ValueDef};

/// Longer explanations are cut off.
const MAX_HOPS: usize = 60;

pub(super) struct Chains<'s, 'm> {
    state: &'s State<'m>,
    explainers: RefCell<HashMap<(InstanceId, usize), Rc<Explainer<'s>>>>,
}

/// What to go on with.
enum Next {
    Nothing,
    /// Why the result of an instruction is secret, as it was then.
    Source(InstanceId, Inst, Since),
    /// Why a parameter is.
    Parameter(InstanceId, usize, Since),
    Why(InstanceId, Block, Why, Since),
}

impl<'s, 'm> Chains<'s, 'm> {
    pub(super) fn new(state: &'s State<'m>) -> Chains<'s, 'm> {
        Chains { state, explainers: RefCell::default() }
    }

    fn at(&self, id: InstanceId, result: usize) -> Rc<Explainer<'s>> {
        let state = self.state;
        let of = state.instance(id);
        let mut all = self.explainers.borrow_mut();
        let made = all
            .entry((id, result))
            .or_insert_with(|| Rc::new(Explainer::new(state.module, of.func, &of.results[result].1)));
        Rc::clone(made)
    }

    fn last(&self, id: InstanceId) -> Since {
        self.state.instance(id).results.last().map_or(0, |&(at, _)| at)
    }

    /// Why the branch of a block is secret.
    pub(super) fn branch(&self, id: InstanceId, b: Block) -> Vec<Segment> {
        let mut segments = Vec::new();
        let next = self.of_branch(id, b, self.last(id), &mut segments);
        self.follow(next, segments)
    }

    /// Why a use of a value in a block is secret.
    pub(super) fn operand(&self, id: InstanceId, v: Value, b: Block) -> Vec<Segment> {
        let mut segments = Vec::new();
        let next = self.of_operand(id, v, b, self.last(id), &mut segments);
        self.follow(next, segments)
    }

    /// Why memory behind a pointer is secret.
    pub(super) fn memory(&self, id: InstanceId, pointer: Value, held: Held) -> Vec<Segment> {
        let of = self.state.instance(id);
        let name = of.result().names(of.func).value(of.func, pointer);
        let text = format!("{name} leads to {}", self.origin(id, Why::Memory(held)));
        let step = Step { text, loc: of.func.loc.expand(), ..Step::default() };
        let mut segments = Vec::new();
        self.say(&mut segments, id, [step]);
        let entry = of.func.layout.first().copied();
        let next = entry.map_or(Next::Nothing, |b| Next::Why(id, b, Why::Memory(held), self.last(id)));
        self.follow(next, segments)
    }

    fn say(&self, segments: &mut Vec<Segment>, id: InstanceId, steps: impl IntoIterator<Item = Step>) {
        let func = self.state.instance(id).id;
        match segments.last_mut() {
            Some(last) if last.func == func => last.steps.extend(steps),
            _ => segments.push(Segment { func, steps: steps.into_iter().collect() }),
        }
    }

    fn follow(&self, next: Next, mut segments: Vec<Segment>) -> Vec<Segment> {
        let mut next = next;
        for _ in 0..MAX_HOPS {
            next = match next {
                Next::Nothing => break,
                Next::Source(id, inst, before) => self.of_source(id, inst, before, &mut segments),
                Next::Parameter(id, i, before) => self.of_parameter(id, i, before, &mut segments),
                Next::Why(id, b, why, at) => self.of_why(id, b, why, at, &mut segments),
            };
        }
        segments
    }

    /// Says the steps of an explanation in an instance, and what comes behind its end.
    fn end(&self, id: InstanceId, steps: Vec<Step>, at: Since, segments: &mut Vec<Segment>) -> Next {
        let of = self.state.instance(id);
        let end = steps.last().and_then(|step| step.value);
        self.say(segments, id, steps);
        match end.map(|v| of.func.values[v].def) {
            Some(ValueDef::Inst(inst, _)) => Next::Source(id, inst, at),
            Some(ValueDef::Param(i)) => Next::Parameter(id, i as usize, at),
            _ => Next::Nothing,
        }
    }

    fn of_branch(&self, id: InstanceId, b: Block, at: Since, segments: &mut Vec<Segment>) -> Next {
        let steps = self.at(id, self.state.instance(id).result_at(at)).branch(b);
        self.end(id, steps, at, segments)
    }

    fn of_operand(&self, id: InstanceId, v: Value, b: Block, at: Since, segments: &mut Vec<Segment>) -> Next {
        let steps = self.at(id, self.state.instance(id).result_at(at)).use_at(v, b);
        self.end(id, steps, at, segments)
    }

    /// A source whose last step has been said, of which memory or a call is the reason.
    fn of_source(&self, id: InstanceId, inst: Inst, before: Since, segments: &mut [Segment]) -> Next {
        let of = self.state.instance(id);
        let Some(&(why, since)) = of.sources.get(&inst).filter(|(_, since)| *since < before) else {
            return Next::Nothing;
        };
        let what = of.result().describe(self.state.module, of.func, inst);
        let verb = if matches!(of.func.insts[inst].op, Op::Load(_)) { "reads" } else { "brings back" };
        if let Some(last) = segments.last_mut().and_then(|segment| segment.steps.last_mut()) {
            last.text = format!("{what} {verb} {}", self.origin(id, why));
        }
        Next::Why(id, of.func.insts[inst].block, why, since)
    }

    fn of_parameter(&self, id: InstanceId, i: usize, before: Since, segments: &mut Vec<Segment>) -> Next {
        let Some(Some(Secret::Given(given))) = self.state.instance(id).args.get(i) else {
            return Next::Nothing;
        };
        if given.since >= before {
            return Next::Nothing;
        }
        let caller = self.state.instance(given.caller);
        let v = caller.func.insts[given.call].args[i];
        let name = caller.result().names(caller.func).value(caller.func, v);
        self.call(*given, &format!("is given the secret {name}"), segments);
        let block = caller.func.insts[given.call].block;
        self.of_operand(given.caller, v, block, given.since, segments)
    }

    fn call(&self, given: Given, what: &str, segments: &mut Vec<Segment>) {
        let caller = self.state.instance(given.caller);
        let data = &caller.func.insts[given.call];
        let call = caller.result().describe(self.state.module, caller.func, given.call);
        let (block, loc) = (Some(data.block), data.loc.expand());
        self.say(
            segments,
            given.caller,
            [Step { text: format!("{call} {what}"), block, loc, ..Step::default() }],
        );
    }

    fn of_why(&self, id: InstanceId, b: Block, why: Why, at: Since, segments: &mut Vec<Segment>) -> Next {
        match why {
            Why::Memory(Held::Given(_) | Held::Elsewhere) | Why::Named => Next::Nothing,
            Why::Memory(Held::Written(by, inst, _)) => self.of_write(by, inst, at, segments),
            Why::Operand(v) => self.of_operand(id, v, b, at, segments),
            Why::Steered(Some(branch)) => self.of_branch(id, branch, at, segments),
            Why::Steered(None) => {
                let Some(given) = self.state.instance(id).steered_by.filter(|g| g.since <= at) else {
                    return Next::Nothing;
                };
                self.call(given, "is executed or not as secrets decide", segments);
                let caller = self.state.instance(given.caller);
                let block = caller.func.insts[given.call].block;
                // Where secrets decide which function is called, they decide about that function, too.
                let then = &caller.results[caller.result_at(given.since)].1;
                let target = calls::target(caller.func, given.call);
                if let Some(target) = target.filter(|&v| then.is_divergent_at(v, block)) {
                    return self.of_operand(given.caller, target, block, given.since, segments);
                }
                let by = caller.steered.get(&block).copied().flatten();
                Next::Why(given.caller, block, Why::Steered(by), given.since)
            }
            Why::Result(callee) => {
                let of = self.state.instance(callee);
                let Some((block, since)) = of.returns else { return Next::Nothing };
                let term = of.func.terminator(block);
                let loc = of.func.insts[term].loc.expand();
                let returns =
                    |text: &str| Step { text: text.into(), block: Some(block), loc, ..Step::default() };
                match of.func.insts[term].args.first() {
                    Some(&v) if of.results[of.result_at(since)].1.is_divergent_at(v, block) => {
                        self.say(segments, callee, [returns("a secret is returned")]);
                        self.of_operand(callee, v, block, since, segments)
                    }
                    _ => {
                        self.say(segments, callee, [returns("what is returned depends on what is executed")]);
                        let by = of.steered.get(&block).copied().flatten();
                        Next::Why(callee, block, Why::Steered(by), since)
                    }
                }
            }
        }
    }

    /// Why an instruction writes secrets.
    fn of_write(&self, id: InstanceId, by: Inst, at: Since, segments: &mut Vec<Segment>) -> Next {
        let of = self.state.instance(id);
        let Some(&(why, since)) = of.writes.get(&by).filter(|(_, since)| *since <= at) else {
            return Next::Nothing;
        };
        let data = &of.func.insts[by];
        let what = of.result().describe(self.state.module, of.func, by);
        let text = format!("{what} writes {}", self.origin(id, why));
        let (block, loc) = (Some(data.block), data.loc.expand());
        self.say(segments, id, [Step { text, block, loc, ..Step::default() }]);
        Next::Why(id, data.block, why, since)
    }

    /// `memory that …`.
    fn origin(&self, id: InstanceId, why: Why) -> String {
        let of = self.state.instance(id);
        match why {
            Why::Memory(Held::Given(object)) => format!("the secret memory {}", self.object(object)),
            Why::Memory(Held::Elsewhere) => "memory that may be secret from the start".into(),
            Why::Memory(Held::Written(by, inst, _)) => {
                let writer = self.state.instance(by);
                let what = writer.result().describe(self.state.module, writer.func, inst);
                match writer.id == of.id {
                    true => format!("memory that {what} may have written"),
                    false => format!("memory that {what} in {} may have written", writer.func.name),
                }
            }
            Why::Operand(v) => {
                format!("what depends on the secret {}", of.result().names(of.func).value(of.func, v))
            }
            Why::Steered(_) => "what is executed or not as secrets decide".into(),
            Why::Result(callee) => format!("a secret of {}", self.state.instance(callee).func.name),
            Why::Named => "what was said to be secret".into(),
        }
    }

    /// `behind %key`, `of key`.
    fn object(&self, object: ObjectId) -> String {
        let entry = &self.state.instances[0];
        match self.state.memory.object(object) {
            Object::Param(i) => {
                format!(
                    "behind {}",
                    entry.result().names(entry.func).value(entry.func, entry.func.params[i as usize])
                )
            }
            Object::Global(symbol) | Object::Constant(symbol) | Object::Function(symbol) => {
                format!("of {}", self.state.module.symbols[symbol].name)
            }
            Object::Behind(parent, at) => {
                let at = at.map_or(String::new(), |at| format!(" at byte {at}"));
                format!("behind a pointer{at} of what is {}", self.object(parent))
            }
            Object::Private(..) | Object::Elsewhere => "from the start".into(),
        }
    }
}
