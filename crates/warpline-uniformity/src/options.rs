//! What a caller says of a function and asks of its analysis.

use std::sync::Arc;

use cranelift_entity::EntitySet;
use warpline_analysis::uniformity::Algorithm;

use super::facts::Facts;
use super::known::Known;
use super::launch::Surroundings;
use super::rules::{Cause, Context, Rule, Target};
use super::summary::Summaries;
use crate::shape::ArgShape;
use warpline_dataflow::clients::interprocedural::FunctionConstants;
use warpline_ir::{Function, Inst, Module, Symbol, Value};

/// What the analysis is asked.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The parameters' shapes, in order. Missing ones, and shapes that do not fit the parameter's type, vary.
    pub args: Vec<ArgShape>,
    /// The machine.
    pub target: Target,
    /// What is known of the function beyond its IR.
    pub facts: Arc<Facts>,
    /// What is known of the functions that it calls. Without, calls go by their declared effects.
    pub summaries: Option<Arc<Summaries>>,
    /// Functions that execute lane operations, themselves or in what they call: what one without a summary returns
    /// differs from lane to lane, whatever its declared effects.
    pub lane_callees: Option<Arc<EntitySet<Symbol>>>,
    /// How joins and exits of divergent branches are found: the product, or a baseline to compare with.
    pub algorithm: Algorithm,
    /// Whether a φ in a join that merges one value with `undef` or `poison` counts as divergent. If not, the φ is taken
    /// to be that value, as LLVM does: then some lanes may have poison where a uniform value is reported.
    pub strict_undef: bool,
    /// Results of `alloca` instructions that stand for one object which all lanes share; the caller vouches for it.
    pub shared: Vec<Value>,
    /// Results of `alloca` instructions that stand for one object in which the lanes begin so many bytes after one
    /// another; the caller vouches for it.
    pub interleaved: Vec<(Value, i64)>,
    /// If given, these instructions are the sources instead of those that the target's rules name: for clients to which
    /// lanes are something else, such as runs with different secrets.
    pub only_sources: Option<EntitySet<Inst>>,
    /// With [`Options::only_sources`]: the results of these are uniform whatever their operands are, if they are no
    /// sources.
    pub quiet: EntitySet<Inst>,
    /// What data-flow analyses know of the function; see [`known`](super::known). The caller vouches for it.
    pub known: Option<Arc<Known>>,
}

impl Options {
    /// All of them uniform except for these.
    pub fn with_args(args: Vec<ArgShape>) -> Options {
        Options { args, ..Options::default() }
    }

    /// Uses all that data-flow analyses know of a function, with what is known of its arguments and of what calls
    /// return.
    pub fn with_known(
        mut self,
        module: &Module,
        func: &Function,
        constants: Option<FunctionConstants<'_>>,
    ) -> Options {
        let surroundings = Surroundings { module, func, target: self.target, facts: &self.facts, constants };
        self.known = Some(Arc::new(Known::of(surroundings)));
        self
    }

    #[inline]
    pub(super) fn context(&self) -> Context<'_> {
        Context {
            target: self.target,
            facts: &self.facts,
            summaries: self.summaries.as_deref(),
            lane_callees: self.lane_callees.as_deref(),
        }
    }

    /// The rule of an instruction's results.
    #[inline]
    pub(super) fn rule(&self, module: &Module, func: &Function, inst: Inst) -> Rule {
        match &self.only_sources {
            Some(sources) if sources.contains(inst) => Rule::Source(Cause::Given),
            Some(_) if self.quiet.contains(inst) => Rule::AlwaysUniform,
            Some(_) => Rule::Operands,
            None => self.context().rule(module, func, inst),
        }
    }

    /// The rule of a member of an instruction's result, if members have rules of their own.
    pub(super) fn member_rule(
        &self,
        module: &Module,
        func: &Function,
        inst: Inst,
        member: u32,
    ) -> Option<Rule> {
        match &self.only_sources {
            Some(_) => None,
            None => self.context().member(module, func, inst, member),
        }
    }

    /// Whether lanes may leave a terminator by different edges though its operands are equal, and why.
    #[inline]
    pub(super) fn splits_lanes(&self, module: &Module, func: &Function, inst: Inst) -> Option<Cause> {
        match &self.only_sources {
            Some(sources) => {
                (sources.contains(inst) && func.insts[inst].edges.len() > 1).then_some(Cause::Given)
            }
            None => self.context().splits_lanes(module, func, inst),
        }
    }
}
