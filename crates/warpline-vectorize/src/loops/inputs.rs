//! What the parameters of a loop's kernel are in the function that has the loop, and what is known of them there.

use warpline_dataflow::clients::ranges::Range;
use warpline_ir::{BinaryOp, Function, InstFlags, Module, Op, Type, Value};

use super::body::Body;
use super::carried::{Carried, Combiner, How, Kind};
use super::find::Loop;
use crate::dependences::{Growth, Stands};
use crate::narrow::{Bounds, has_narrow_integers};
use crate::options::{AddedUp, Origin};
use crate::recipes::known_offsets;

/// What a parameter of a [`Body`] stands for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Input {
    /// A value of the function that has the loop.
    Value(Value),
    /// The state of the header's φ of this number.
    Carried(usize),
}

/// Whether the loop adds something to an integer in each iteration.
fn is_sum(func: &Function, carried: &Carried) -> bool {
    let adds = |c: &Combiner| matches!(c.how, How::Binary(BinaryOp::Add, _));
    let is_added = matches!(&carried.kind, Kind::Reduction { combiner, .. } if adds(combiner));
    is_added && func.ty(carried.phi).is_int()
}

impl Body {
    /// Its parameters that are integers to which the loop adds something in each iteration.
    pub(super) fn sums(&self, func: &Function, carried: &[Carried]) -> Vec<AddedUp> {
        let sums = self.inputs.iter().enumerate().filter_map(|(parameter, &input)| match input {
            Input::Carried(k) if is_sum(func, &carried[k]) => {
                let result = self.outputs.iter().position(|&output| output == k)?;
                Some(AddedUp { parameter, result })
            }
            _ => None,
        });
        sums.collect()
    }

    /// Between which numbers its parameters lie, where it computes with few bits: what the function says of values from
    /// before the loop.
    pub(super) fn known(&self, module: &Module, func: &Function) -> Vec<Option<Range>> {
        // Of what functions are given, and load, nothing is known.
        let is_given = |v: Value| func.def_inst(v).is_none_or(|i| matches!(func.insts[i].op, Op::Load(_)));
        let is_number = |v: Value| matches!(func.ty(v), Type::Int(9..=64)) && !is_given(v);
        let numbers = self.inputs.iter().any(|input| matches!(*input, Input::Value(v) if is_number(v)));
        if !numbers || !has_narrow_integers(&self.func) {
            return Vec::new();
        }
        let bounds = Bounds::of(module, func, &[]);
        let of = |input: &Input| match *input {
            Input::Value(v) if is_number(v) => bounds.range(v).filter(|r| !r.is_full()).copied(),
            _ => None,
        };
        self.inputs.iter().map(of).collect()
    }

    /// How groups of iterations begin, if each is executed in groups from the first iteration on: inductions with
    /// constants. Nothing if no load is worth that.
    pub(super) fn origins(
        &self,
        module: &Module,
        func: &Function,
        l: &Loop,
        carried: &[Carried],
    ) -> Vec<Option<Origin>> {
        let into = func.out_edges(l.preheader)[0];
        let of = |&input: &Input| {
            let Input::Carried(k) = input else { return None };
            let Kind::Induction { step: Growth::Constant(step), flags } = carried[k].kind else {
                return None;
            };
            let start = func.edges[into].args[k];
            let bits = func.ty(start).int_bits().filter(|&bits| bits <= 64)?;
            let first = (func.as_int(start)? << (128 - bits)).cast_signed() >> (128 - bits);
            let (first, step) = (i64::try_from(first).ok()?, i64::try_from(step).ok()?);
            // Lane 0 is active in each group.
            let is_natural = first >= 0 && step > 0 && flags.contains(InstFlags::NSW);
            (step != 0).then_some(Origin { first, step, is_natural })
        };
        let origins: Vec<Option<Origin>> = self.inputs.iter().map(of).collect();
        match known_offsets::are_worthwhile(module, &self.func, &self.args, &origins) {
            true => origins,
            false => Vec::new(),
        }
    }

    /// What its parameters stand for in the function that has the loop.
    pub(super) fn stands(&self, func: &Function, l: &Loop, carried: &[Carried]) -> Vec<Stands> {
        let into = func.out_edges(l.preheader)[0];
        let stands = |&input: &Input| match input {
            Input::Value(v) => Stands::For(v),
            Input::Carried(k) => match carried[k].kind {
                Kind::Induction { step, .. } => Stands::StartsAt(func.edges[into].args[k], step),
                Kind::Compaction(ref c) => Stands::Counts(func.edges[into].args[k], c.step),
                _ => Stands::Anything,
            },
        };
        self.inputs.iter().map(stands).collect()
    }
}
