//! What makes an instruction's result differ between lanes, apart from its operands.
//!
//! The rules speak of lanes that execute the instruction together and in lockstep: no other instruction of any lane
//! comes between their executions. So a plain load from one address gives all of them the same value, whatever was
//! stored before.

use super::facts::{Facts, Note};
use super::gpu::{self, Gpu};
use super::summary::{Summaries, Summary};
use cranelift_entity::EntitySet;

use warpline_ir::group_functions::GroupFunction;
use warpline_ir::{
    CallInfo, Constant, Effects, Function, Inst, LaneOp, Module, Op, OpaqueInfo, Symbol, Yields,
};

/// The machine whose rules decide what is a source of divergence.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Target {
    /// Lanes of a SIMD unit of a CPU: all lanes share one address space and one thread; a lane's `alloca` is its own.
    #[default]
    Simd,
    /// Threads of a wave of an AMD GPU.
    Amdgcn,
    /// Threads of a warp of an NVIDIA GPU.
    Nvptx,
    /// Invocations of a subgroup, in SPIR or SPIR-V.
    Spirv,
}

impl Target {
    /// All targets.
    pub const ALL: &'static [Target] = &[Target::Simd, Target::Amdgcn, Target::Nvptx, Target::Spirv];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Target::Simd => "simd",
            Target::Amdgcn => "amdgcn",
            Target::Nvptx => "nvptx",
            Target::Spirv => "spirv",
        }
    }

    /// The target of this name.
    pub fn from_name(name: &str) -> Option<Target> {
        Self::ALL.iter().copied().find(|t| t.name() == name)
    }

    fn gpu(self) -> Option<&'static Gpu> {
        match self {
            Target::Simd => None,
            Target::Amdgcn => Some(&gpu::AMDGCN),
            Target::Nvptx => Some(&gpu::NVPTX),
            Target::Spirv => Some(&gpu::SPIRV),
        }
    }
}

/// A set of operands of one instruction, by position.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct OperandSet(u64);

impl OperandSet {
    /// These operands.
    pub fn of(positions: impl IntoIterator<Item = usize>) -> OperandSet {
        positions.into_iter().fold(OperandSet(0), |set, p| set.with(p))
    }

    /// The set with one more. From the 64th on, the set knows all or none.
    pub fn with(self, position: usize) -> OperandSet {
        OperandSet(self.0 | 1 << position.min(63))
    }

    /// What is in either.
    pub(super) fn union(self, other: OperandSet) -> OperandSet {
        OperandSet(self.0 | other.0)
    }

    /// Whether an operand is in the set.
    pub fn contains(self, position: usize) -> bool {
        self.0 >> position.min(63) & 1 != 0
    }
}

/// How the result of an instruction depends on its operands.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Rule {
    /// Uniform if all operands are.
    Operands,
    /// Uniform if these operands are.
    Only(OperandSet),
    /// Different in each lane, for this reason.
    Source(Cause),
    /// The same in all lanes.
    AlwaysUniform,
}

/// Why an instruction is a source of divergence.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Cause {
    /// It yields the number of the lane or work-item, or something else that each lane has of its own.
    LaneNumber,
    /// It yields the address of memory of which each lane has its own.
    PrivateMemory,
    /// It is atomic or volatile: each lane's execution counts for itself.
    Synchronised,
    /// It may read what the execution for another lane has written.
    ReadsWhatItWrites,
    /// Its result is not a function of its operands and of memory.
    UnknownResult,
    /// It talks to other lanes.
    Convergent,
    /// It receives an exception.
    Exception,
    /// It reads an address space in which each lane may have memory of its own.
    OwnMemory,
    /// The caller of the analysis says so.
    Given,
    /// It is a call of a function that is only declared, or found out at run time.
    UnknownCall,
    /// It is a call of a function of the module, in which something is a source of divergence.
    Callee,
    /// It is inline assembly that does not say that its result is one for all lanes.
    Assembly,
}

impl Cause {
    /// The reason as the end of a sentence whose subject is the instruction.
    pub fn describe(self) -> &'static str {
        match self {
            Cause::LaneNumber => "yields what differs from lane to lane",
            Cause::PrivateMemory => "is the address of memory that each lane has of its own",
            Cause::Synchronised => "is atomic or volatile, and executed for each lane by itself",
            Cause::ReadsWhatItWrites => "may read what it has written for another lane",
            Cause::UnknownResult => "has a result that its operands do not determine",
            Cause::Convergent => "depends on the other lanes",
            Cause::Exception => "receives an exception",
            Cause::OwnMemory => "reads memory that may be each lane's own",
            Cause::Given => "is a source by decree",
            Cause::UnknownCall => "is the result of a call to an unknown function",
            Cause::Callee => "is the result of a function that makes it differ from lane to lane",
            Cause::Assembly => "is the result of inline assembly, which may differ from lane to lane",
        }
    }
}

/// What rules depend on besides the function itself.
#[derive(Copy, Clone, Debug)]
pub struct Context<'a> {
    /// The machine.
    pub target: Target,
    /// What is known of the function beyond its IR.
    pub facts: &'a Facts,
    /// What is known of the functions that it calls.
    pub summaries: Option<&'a Summaries>,
    /// Functions that execute lane operations.
    pub lane_callees: Option<&'a EntitySet<Symbol>>,
}

/// What an instruction calls, and with which effects.
#[derive(Copy, Clone)]
pub struct Called<'m> {
    /// The callee's symbol and name; none for an indirect call.
    pub callee: Option<(Symbol, &'m str)>,
    /// What it may do.
    pub effects: Effects,
}

impl Called<'_> {
    /// The name of the callee; empty for an indirect call.
    pub fn name(&self) -> &str {
        self.callee.map(|(_, name)| name).unwrap_or_default()
    }
}

/// What an instruction calls, if it is a call in any form: also one that is carried, such as a call with operand
/// bundles or an `invoke`. Inline assembly is none.
pub fn called<'m>(module: &'m Module, func: &Function, inst: Inst) -> Option<Called<'m>> {
    let data = &func.insts[inst];
    let named = |s: Symbol| (s, &*module.symbols[s].name);
    match &data.op {
        Op::Call(call) => Some(Called { callee: call.callee.map(named), effects: call.effects }),
        Op::Opaque(o) | Op::OpaqueTerm(o) if o.is_call() => {
            // The callee is the last operand, behind those of the bundles.
            let callee = data.args.last().and_then(|&a| match func.constant(a)? {
                Constant::Address { symbol, offset: 0, .. } => Some(named(*symbol)),
                _ => None,
            });
            Some(Called { callee, effects: o.effects })
        }
        _ => None,
    }
}

impl<'a> Context<'a> {
    /// The rule of an instruction's results, each as a whole.
    #[inline]
    pub fn rule(&self, module: &Module, func: &Function, inst: Inst) -> Rule {
        if self.facts.one_lane {
            Rule::AlwaysUniform
        } else if is_arithmetic(&func.insts[inst].op) {
            Rule::Operands
        } else {
            self.rule_of_others(module, func, inst)
        }
    }

    fn rule_of_others(&self, module: &Module, func: &Function, inst: Inst) -> Rule {
        let data = &func.insts[inst];
        if let Some(op) = lane_op(module, func, inst) {
            return by_lane_op(op);
        }
        if let Some(called) = called(module, func, inst) {
            return self.call(module, func, inst, &called);
        }
        if let Some(gpu) = self.target.gpu() {
            return gpu.rule(module, func, inst, self.facts);
        }
        match &data.op {
            Op::Alloca { .. } => Rule::Source(Cause::PrivateMemory),
            Op::Load(access) if !access.is_simple() => Rule::Source(Cause::Synchronised),
            Op::Opaque(o) | Op::OpaqueTerm(o) => by_name_and_effects(&o.name, o.effects),
            _ => Rule::Operands,
        }
    }

    /// Whether members of aggregates are told apart. Not for code that is to run on SIMD lanes: there an aggregate as
    /// a whole is one scalar or one per lane.
    pub(super) fn follows_members(&self) -> bool {
        self.target != Target::Simd || self.summaries.is_some()
    }

    fn call(&self, module: &Module, func: &Function, inst: Inst, called: &Called) -> Rule {
        if let Some(summary) = self.summary(called) {
            return summary.rule();
        }
        if called.callee.is_some_and(|(s, _)| self.lane_callees.is_some_and(|l| l.contains(s))) {
            return Rule::Source(Cause::Callee);
        }
        if self.facts.note_of(inst) == Some(&Note::NoSource) {
            return Rule::Operands;
        }
        let rule = match self.target.gpu() {
            Some(gpu) => gpu.call(module, func, inst, called, self.facts),
            None if is_lane_number(module, called) => Rule::Source(Cause::LaneNumber),
            None => by_effects(called.effects),
        };
        match rule {
            Rule::Source(Cause::UnknownResult) if !called.name().starts_with("llvm.") => {
                Rule::Source(Cause::UnknownCall)
            }
            rule => rule,
        }
    }

    fn summary(&self, called: &Called) -> Option<&'a Summary> {
        let (symbol, _) = called.callee?;
        self.summaries?.get(symbol)
    }

    /// The rule of one member of an instruction's result of structure type, where members have rules of their own:
    /// the result of a function with a summary, of inline assembly, of some intrinsics.
    pub fn member(&self, module: &Module, func: &Function, inst: Inst, member: u32) -> Option<Rule> {
        if self.facts.one_lane {
            return None;
        }
        let data = &func.insts[inst];
        if let Some(called) = called(module, func, inst) {
            if let Some(summary) = self.summary(&called) {
                return summary.member(member as usize);
            }
            return self.target.gpu()?.member_of_call(called.name(), member);
        }
        match (&data.op, self.facts.note_of(inst)) {
            (Op::Opaque(_) | Op::OpaqueTerm(_), Some(Note::Assembly(constraints))) => {
                self.target.gpu()?.member_of_assembly(constraints, member)
            }
            _ => None,
        }
    }

    /// Whether lanes that execute a terminator together with equal operands may nevertheless leave by different
    /// edges, and why.
    #[inline]
    pub(crate) fn splits_lanes(&self, module: &Module, func: &Function, inst: Inst) -> Option<Cause> {
        match &func.insts[inst].op {
            Op::OpaqueTerm(o) => self.opaque_splits_lanes(module, func, inst, o),
            _ => None,
        }
    }

    fn opaque_splits_lanes(
        &self,
        module: &Module,
        func: &Function,
        inst: Inst,
        o: &OpaqueInfo,
    ) -> Option<Cause> {
        let data = &func.insts[inst];
        if data.edges.len() < 2 || self.facts.one_lane {
            return None;
        }
        // A function of the module may have a uniform result and yet unwind for some lanes only.
        let summarised = called(module, func, inst).is_some_and(|c| self.summary(&c).is_some());
        match self.rule(module, func, inst) {
            _ if summarised => match by_effects(o.effects) {
                Rule::Source(cause) => Some(cause),
                _ => None,
            },
            Rule::Source(cause) => Some(cause),
            Rule::AlwaysUniform | Rule::Only(_) | Rule::Operands => None,
        }
    }
}

/// Whether an instruction is one of those of which no target has a rule: it yields something of its operands, reads a
/// variable, or decides by its operands alone where control goes.
fn is_arithmetic(op: &Op) -> bool {
    matches!(
        op,
        Op::Phi
            | Op::Binary(_)
            | Op::FNeg
            | Op::ICmp(_)
            | Op::FCmp(_)
            | Op::Select
            | Op::Gep(_)
            | Op::ReadVar(_)
            | Op::ExtractElement
            | Op::InsertElement
            | Op::Shuffle(_)
            | Op::ExtractValue(_)
            | Op::InsertValue(_)
            | Op::Br
            | Op::CondBr
    )
}

/// Whether a call yields the number of a work-item or lane.
fn is_lane_number(module: &Module, called: &Called) -> bool {
    match called.callee.and_then(|(symbol, _)| GroupFunction::of(module, symbol)) {
        Some(GroupFunction::Query(query, _)) => query.is_of_work_item(),
        Some(GroupFunction::LaneNumber) => true,
        _ => false,
    }
}

fn by_lane_op(op: LaneOp) -> Rule {
    match op.yields() {
        Yields::Uniform => Rule::AlwaysUniform,
        Yields::UniformIf(operand) => Rule::Only(OperandSet::of([operand])),
        Yields::AsOperands => Rule::Operands,
        Yields::LaneNumber => Rule::Source(Cause::LaneNumber),
        Yields::Others => Rule::Source(Cause::Convergent),
    }
}

/// The lane operation that an instruction performs, be it an operation of the IR or the call of a function
/// `warpline_…`.
pub fn lane_op(module: &Module, func: &Function, inst: Inst) -> Option<LaneOp> {
    match &func.insts[inst].op {
        Op::Lane(op) => Some(*op),
        Op::Call(call) => lane_call(callee_name(module, call)),
        _ => None,
    }
}

fn lane_call(name: &str) -> Option<LaneOp> {
    LaneOp::declared(name).map(|(op, _)| op)
}

/// The name of what is called; empty for an indirect call.
pub(super) fn callee_name<'m>(module: &'m Module, call: &CallInfo) -> &'m str {
    call.callee.map(|s| &*module.symbols[s].name).unwrap_or_default()
}

pub(super) fn by_name_and_effects(name: &str, effects: Effects) -> Rule {
    match name {
        "atomicrmw" | "cmpxchg" | "load" => Rule::Source(Cause::Synchronised),
        // Which exception it is, and whether there is one, is no function of the operands.
        "landingpad" | "catchpad" | "cleanuppad" | "catchswitch" => Rule::Source(Cause::Exception),
        _ => by_effects(effects),
    }
}

/// An instruction that only reads gives equal results for equal operands: nothing is written between the lanes'
/// executions. One that only writes cannot tell what is there. One that does both may see its own traces.
pub(super) fn by_effects(effects: Effects) -> Rule {
    if effects.contains(Effects::UNKNOWN_RESULT) {
        Rule::Source(Cause::UnknownResult)
    } else if effects.intersects(Effects::VOLATILE | Effects::ATOMIC) {
        Rule::Source(Cause::Synchronised)
    } else if effects.contains(Effects::CONVERGENT) {
        Rule::Source(Cause::Convergent)
    } else if effects.contains(Effects::READS | Effects::WRITES) {
        Rule::Source(Cause::ReadsWhatItWrites)
    } else {
        Rule::Operands
    }
}
