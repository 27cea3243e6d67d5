//! Loops of few iterations, as many as constants say, taken apart into these iterations; and loops that
//! [count bits](crate::bit_count).
//!
//! `for k in 0..4` over a pixel's bytes is arithmetic on four values. As a loop it is one access per iteration at an
//! address that the vectorizer sees as a gather, and arrays on the stack cannot become values. So such loops are
//! unrolled when everything else has been simplified, inner ones first, and what comes of them is simplified again.
//!
//! `Unroll` says where. In a kernel, every such loop is unrolled. Where loops themselves are vectorized, these stay
//! what they are, and only what lies within them is unrolled. Loops that call functions which may ask about other lanes
//! stay, too.
//!
//! Which loops qualify is decided here, by an estimate of the number of iterations and a limit for the size. LLVM is
//! told so by metadata, unrolls where it finds that number, too, and leaves all other loops alone. The metadata of
//! loops that are left is what it was.

use std::collections::HashMap;

use crate::ffi::types::LLVMIntPredicate::{
    LLVMIntEQ, LLVMIntNE, LLVMIntSGE, LLVMIntSGT, LLVMIntSLE, LLVMIntSLT, LLVMIntUGE, LLVMIntUGT, LLVMIntULE,
    LLVMIntULT,
};
use crate::ffi::types::LLVMOpcode::{
    LLVMAdd, LLVMBr, LLVMCall, LLVMCallBr, LLVMGetElementPtr, LLVMICmp, LLVMInvoke, LLVMPHI,
};
use crate::ffi::types::LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMIntegerTypeKind};
use crate::ffi::types::*;
use serde::{Deserialize, Serialize};
use warpline_analysis::CycleId;

use crate::error::Result;
use crate::ffi::load::functions;
use crate::loop_forest::Loops;
use crate::module::{
    FUNCTION_INDEX, Module, blocks_of, called_function, instructions_in, opcode, value_name,
};
use crate::parameters::{attached, is_node, node_operands, string};
use crate::simplify::{AFTER_UNROLLING, attribute_kind, has_attribute, has_body};

/// Which loops of few iterations are unrolled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unroll {
    /// None.
    #[default]
    Nothing,
    /// All.
    Everywhere,
    /// Those within other loops.
    Inner,
    /// Those within loops that begin in these lines of the source or that mark themselves as ones to be vectorized.
    Within(Vec<u32>),
}

/// No loop of more iterations is unrolled.
const MAX_TRIPS: u64 = 16;
/// So many instructions may come of a loop.
const MAX_SIZE: u64 = 400;
/// So often loops are looked for: nests are unrolled from within.
const MAX_ROUNDS: usize = 4;
/// So far sums are taken apart.
const MAX_DEPTH: u32 = 8;

/// The metadata by which loops say something of themselves, and what those say that are to be vectorized.
const LOOP: &str = "llvm.loop";
const VECTORIZE: &str = "llvm.loop.vectorize.enable";

/// Unrolls loops that say so, if the number of their iterations is constant, and no others.
const UNROLL: &str = "function(loop-unroll<O2;no-partial;no-runtime;no-peeling;full-unroll-max=16>)";

impl Module {
    /// Unrolls loops of few iterations, and replaces those that count bits.
    pub(crate) fn unroll_short_loops(&mut self, unroll: &Unroll) -> Result<()> {
        if self.replace_bit_counts(unroll) {
            self.optimise(AFTER_UNROLLING, None)?;
        }
        for _ in 0..MAX_ROUNDS {
            let marks = self.mark_short_loops(unroll);
            if marks.short == 0 {
                self.restore(&marks);
                break;
            }
            let outcome = self.optimise(UNROLL, None);
            self.restore(&marks);
            outcome?;
            self.optimise(AFTER_UNROLLING, None)?;
        }
        Ok(())
    }

    fn replace_bit_counts(&self, unroll: &Unroll) -> bool {
        let mut changed = false;
        for function in self.functions().filter(|&function| has_body(function)) {
            let Some(loops) = Loops::of(function) else { continue };
            let view = View { context: self.context(), loops: &loops, unroll };
            for cycle in view.allowed_loops() {
                changed |= self.replace_bit_count(&loops, cycle);
            }
        }
        changed
    }

    /// Has loops say of themselves whether they are to be unrolled.
    fn mark_short_loops(&self, unroll: &Unroll) -> Marks {
        let mut marks = Marks::default();
        for function in self.functions().filter(|&function| has_body(function)) {
            let Some(loops) = Loops::of(function) else { continue };
            let view = View { context: self.context(), loops: &loops, unroll };
            let short = if has_attribute(function, "optnone") { Vec::new() } else { view.short_loops() };
            for cycle in loops.cycles.cycles() {
                let wanted = short.contains(&cycle);
                marks.short += usize::from(wanted);
                let word = if wanted { "llvm.loop.unroll.full" } else { "llvm.loop.unroll.disable" };
                let node = self.loop_node(&[word]);
                let latches = loops.latches(cycle);
                let old = latches.iter().find_map(|&latch| attached(self.context(), latch, LOOP));
                marks.old.insert(as_metadata(node), old);
                latches.into_iter().for_each(|latch| self.set_loop_node(latch, Some(node)));
            }
        }
        marks
    }

    /// Gives loops back what they said before.
    fn restore(&self, marks: &Marks) {
        for function in self.functions().filter(|&function| has_body(function)) {
            for block in blocks_of(function) {
                // SAFETY: a block of a live function.
                let terminator = unsafe { functions().LLVMGetBasicBlockTerminator(block) };
                let node = attached(self.context(), terminator, LOOP);
                if let Some(old) = node.and_then(|node| marks.old.get(&as_metadata(node))) {
                    self.set_loop_node(terminator, *old);
                }
            }
        }
    }

    /// A node that says things of a loop that hold. Its first operand is itself, as LLVM wants it.
    pub(crate) fn loop_node(&self, words: &[&str]) -> LLVMValueRef {
        let (f, context) = (functions(), self.context());
        // SAFETY: a live context; pointers and lengths describe words and operands.
        unsafe {
            let yes = f.LLVMConstInt(f.LLVMIntTypeInContext(context, 32), 1, 0);
            let mut properties: Vec<LLVMMetadataRef> = Vec::new();
            for word in words {
                let text = f.LLVMMDStringInContext2(context, word.as_ptr().cast(), word.len());
                let mut operands = [text, f.LLVMValueAsMetadata(yes)];
                // What is said of unrolling has no value.
                let count = if word.starts_with("llvm.loop.unroll.") { 1 } else { 2 };
                properties.push(f.LLVMMDNodeInContext2(context, operands.as_mut_ptr(), count));
            }
            properties.insert(0, properties[0]);
            let node = f.LLVMMDNodeInContext2(context, properties.as_mut_ptr(), properties.len());
            let value = f.LLVMMetadataAsValue(context, node);
            f.LLVMReplaceMDNodeOperandWith(value, 0, node);
            value
        }
    }

    pub(crate) fn set_loop_node(&self, terminator: LLVMValueRef, node: Option<LLVMValueRef>) {
        let f = functions();
        // SAFETY: a live context and terminator; pointer and length describe the name.
        unsafe {
            let kind = f.LLVMGetMDKindIDInContext(self.context(), LOOP.as_ptr().cast(), LOOP.len() as u32);
            f.LLVMSetMetadata(terminator, kind, node.unwrap_or(std::ptr::null_mut()));
        }
    }
}

/// What was said of loops.
#[derive(Default)]
struct Marks {
    /// How many are to be unrolled.
    short: usize,
    /// For each node that a loop has now, the one that it had before.
    old: HashMap<LLVMMetadataRef, Option<LLVMValueRef>>,
}

fn as_metadata(node: LLVMValueRef) -> LLVMMetadataRef {
    // SAFETY: a live node.
    unsafe { functions().LLVMValueAsMetadata(node) }
}

/// The loops of a function, and which of them may be unrolled.
struct View<'a> {
    context: LLVMContextRef,
    loops: &'a Loops,
    unroll: &'a Unroll,
}

impl View<'_> {
    /// The loops that may be changed.
    fn allowed_loops(&self) -> Vec<CycleId> {
        let cycles = &self.loops.cycles;
        let units: Vec<CycleId> = cycles.cycles().filter(|&c| self.is_unit(c)).collect();
        let holds = |outer, inner| cycles.contains_cycle(outer, inner);
        let allowed = |c: CycleId| match self.unroll {
            Unroll::Nothing => false,
            Unroll::Everywhere => true,
            Unroll::Inner => cycles.cycles().any(|outer| outer != c && holds(outer, c)),
            Unroll::Within(_) => {
                units.iter().any(|&u| u != c && holds(u, c)) && !units.iter().any(|&u| holds(c, u))
            }
        };
        cycles.cycles().filter(|&c| cycles.is_reducible(c) && allowed(c)).collect()
    }

    /// The loops that are to be unrolled now: none within another one.
    fn short_loops(&self) -> Vec<CycleId> {
        let holds = |outer, inner| outer != inner && self.loops.cycles.contains_cycle(outer, inner);
        let short: Vec<CycleId> = self.allowed_loops().into_iter().filter(|&c| self.is_short(c)).collect();
        short.iter().copied().filter(|&c| !short.iter().any(|&inner| holds(c, inner))).collect()
    }

    /// Whether a loop is one to be vectorized: it says so itself, or it may be meant by a line of the source.
    fn is_unit(&self, cycle: CycleId) -> bool {
        let Unroll::Within(lines) = self.unroll else { return false };
        let latches = self.loops.latches(cycle);
        let says = |&latch: &LLVMValueRef| {
            let node = attached(self.context, latch, LOOP);
            let properties = node.map(node_operands).unwrap_or_default();
            properties.into_iter().skip(1).filter(|&p| is_node(p)).any(|p| {
                node_operands(p).first().copied().and_then(string).is_some_and(|word| word == VECTORIZE)
            })
        };
        let begins = |inst| lines_of(inst).iter().any(|line| lines.contains(line));
        let header = instructions_in(self.loops.header(cycle));
        latches.iter().any(says)
            || header.into_iter().chain(latches).chain(self.loops.leaving(cycle)).any(begins)
    }

    /// Whether a loop has few iterations and is small, and all that it holds may be executed several times.
    fn is_short(&self, cycle: CycleId) -> bool {
        let cycles = &self.loops.cycles;
        let Some(trips) = self.trips(cycle) else { return false };
        // What is repeated within it must come to an end as soon.
        let phis = self.phis(cycle);
        let mut inner = cycles.cycles().filter(|&c| c != cycle && cycles.contains_cycle(cycle, c));
        if !inner.all(|c| self.ends_by(c, &phis)) {
            return false;
        }
        let insts: Vec<LLVMValueRef> = self.loops.blocks_in(cycle).flat_map(instructions_in).collect();
        let counts = |&&inst: &&LLVMValueRef| opcode(inst) != Some(LLVMPHI as u32) && !is_annotation(inst);
        let size = insts.iter().filter(counts).count() as u64;
        size.saturating_mul(trips) <= MAX_SIZE && !insts.iter().any(|&inst| may_ask_about_lanes(inst))
    }

    /// How often a loop's body is executed at most by one of its tests, as far as that is a matter of constants; `None`
    /// too where that is more often than loops are unrolled.
    fn trips(&self, cycle: CycleId) -> Option<u64> {
        let tests = self.loops.leaving(cycle).into_iter().filter_map(|branch| self.test(cycle, branch));
        tests.filter(|test| test.start.root == test.bound.root).filter_map(|test| test.trips()).min()
    }

    /// Whether a loop compares what it counts with a constant, and one of the two is a count of a loop around it.
    fn ends_by(&self, cycle: CycleId, counts: &[LLVMValueRef]) -> bool {
        let tests = self.loops.leaving(cycle).into_iter().filter_map(|branch| self.test(cycle, branch));
        tests.into_iter().any(|test| match [test.start.root, test.bound.root] {
            [None, Some(root)] | [Some(root), None] => counts.contains(&root),
            _ => false,
        })
    }

    fn phis(&self, cycle: CycleId) -> Vec<LLVMValueRef> {
        instructions_in(self.loops.header(cycle))
            .into_iter()
            .filter(|&inst| opcode(inst) == Some(LLVMPHI as u32))
            .collect()
    }

    /// What a branch that leaves a loop compares, if that is a φ of the header that grows by a constant and something
    /// else.
    fn test(&self, cycle: CycleId, branch: LLVMValueRef) -> Option<Test> {
        let f = functions();
        // SAFETY: a terminator of a live block and what it uses; operands are asked for within their number.
        unsafe {
            if opcode(branch)? != LLVMBr as u32 || f.LLVMGetNumSuccessors(branch) != 2 {
                return None;
            }
            let compare = f.LLVMGetOperand(branch, 0);
            if opcode(compare)? != LLVMICmp as u32 {
                return None;
            }
            let first = f.LLVMGetSuccessor(branch, 0);
            let stays = self.loops.contains(cycle, first);
            let operands = [0, 1].map(|k| Linear::of(f.LLVMGetOperand(compare, k)));
            let predicate = f.LLVMGetICmpPredicate(compare);
            self.phis(cycle).into_iter().find_map(|phi| {
                let count = operands.iter().position(|x| x.root == Some(phi))?;
                let (start, step) = self.growth(cycle, phi)?;
                let start = Linear { root: start.root, plus: start.plus.checked_add(operands[count].plus)? };
                let swapped = count == 1;
                Some(Test { start, step, bound: operands[1 - count], predicate, swapped, stays })
            })
        }
    }

    /// What a φ of a loop's header is at first, and by how much it grows.
    fn growth(&self, cycle: CycleId, phi: LLVMValueRef) -> Option<(Linear, i64)> {
        let f = functions();
        // SAFETY: a live φ, which has so many incoming values and blocks.
        let incoming: Vec<(LLVMBasicBlockRef, LLVMValueRef)> = unsafe {
            let count = f.LLVMCountIncoming(phi);
            (0..count).map(|k| (f.LLVMGetIncomingBlock(phi, k), f.LLVMGetIncomingValue(phi, k))).collect()
        };
        let (within, before): (Vec<_>, Vec<_>) =
            incoming.into_iter().partition(|&(block, _)| self.loops.contains(cycle, block));
        let same = |all: &[(LLVMBasicBlockRef, LLVMValueRef)]| {
            let (first, others) = all.split_first()?;
            others.iter().all(|other| other.1 == first.1).then_some(Linear::of(first.1))
        };
        let (start, next) = (same(&before)?, same(&within)?);
        (next.root == Some(phi)).then_some((start, next.plus))
    }
}

/// A constant beyond a value, or a constant alone. Pointers count in bytes.
#[derive(Copy, Clone, PartialEq, Eq)]
struct Linear {
    root: Option<LLVMValueRef>,
    plus: i64,
}

impl Linear {
    fn of(value: LLVMValueRef) -> Linear {
        let (f, mut at, mut plus) = (functions(), value, 0i64);
        for _ in 0..MAX_DEPTH {
            // SAFETY: a live value and its operands, of which each is asked only what it has.
            let next = unsafe {
                if let Some(n) = constant(at) {
                    return Linear { root: None, plus: plus.wrapping_add(n) };
                }
                match opcode(at) {
                    Some(op) if op == LLVMAdd as u32 => constant(f.LLVMGetOperand(at, 1)),
                    Some(op) if op == LLVMGetElementPtr as u32 && f.LLVMGetNumOperands(at) == 2 => {
                        let by = constant(f.LLVMGetOperand(at, 1));
                        by.zip(bytes_of(f.LLVMGetGEPSourceElementType(at)))
                            .map(|(n, size)| n.wrapping_mul(size))
                    }
                    _ => None,
                }
            };
            let Some(by) = next else { break };
            plus = plus.wrapping_add(by);
            // SAFETY: sums and addresses have operands.
            at = unsafe { f.LLVMGetOperand(at, 0) };
        }
        Linear { root: Some(at), plus }
    }
}

/// A test that ends a loop.
struct Test {
    /// What is compared, in the first iteration.
    start: Linear,
    /// By how much it grows.
    step: i64,
    bound: Linear,
    predicate: u32,
    /// Whether the bound is the first operand.
    swapped: bool,
    /// Whether the loop goes on where the comparison holds.
    stays: bool,
}

impl Test {
    /// How often it is reached, if that is not too often. Both sides have the same root.
    fn trips(&self) -> Option<u64> {
        let mut at = i128::from(self.start.plus);
        for trips in 1..=MAX_TRIPS + 1 {
            let (a, b) = (at, i128::from(self.bound.plus));
            let holds = compare(self.predicate, if self.swapped { (b, a) } else { (a, b) })?;
            if holds != self.stays {
                return Some(trips);
            }
            at += i128::from(self.step);
        }
        None
    }
}

/// Whether a comparison holds. What is compared here is small and not negative as a rule; where it is, LLVM finds out.
fn compare(predicate: u32, (a, b): (i128, i128)) -> Option<bool> {
    let is = |one: crate::ffi::types::LLVMIntPredicate| predicate == one as u32;
    Some(match () {
        () if is(LLVMIntEQ) => a == b,
        () if is(LLVMIntNE) => a != b,
        () if is(LLVMIntSLT) || is(LLVMIntULT) => a < b,
        () if is(LLVMIntSLE) || is(LLVMIntULE) => a <= b,
        () if is(LLVMIntSGT) || is(LLVMIntUGT) => a > b,
        () if is(LLVMIntSGE) || is(LLVMIntUGE) => a >= b,
        () => return None,
    })
}

/// The value of a constant integer of at most 64 bits, with its sign.
pub(crate) fn constant(value: LLVMValueRef) -> Option<i64> {
    let f = functions();
    // SAFETY: a live value; integers are asked for their size and value.
    unsafe {
        let is = !f.LLVMIsAConstantInt(value).is_null() && f.LLVMGetIntTypeWidth(f.LLVMTypeOf(value)) <= 64;
        is.then(|| f.LLVMConstIntGetSExtValue(value))
    }
}

/// How large an integer or floating-point number is in memory; `None` for other types.
fn bytes_of(ty: LLVMTypeRef) -> Option<i64> {
    let f = functions();
    // SAFETY: a live type; integers are asked for their size.
    unsafe {
        match f.LLVMGetTypeKind(ty) {
            kind if kind == LLVMIntegerTypeKind as u32 => {
                let bits = f.LLVMGetIntTypeWidth(ty);
                (bits.is_power_of_two() && (8..=64).contains(&bits)).then(|| i64::from(bits / 8))
            }
            kind if kind == LLVMFloatTypeKind as u32 => Some(4),
            kind if kind == LLVMDoubleTypeKind as u32 => Some(8),
            _ => None,
        }
    }
}

/// The lines of an instruction: its own, and those where what it belongs to was inlined.
fn lines_of(inst: LLVMValueRef) -> Vec<u32> {
    let f = functions();
    let there = |loc: LLVMMetadataRef| (!loc.is_null()).then_some(loc);
    // SAFETY: a live instruction; locations are asked for their line and where they were inlined.
    unsafe {
        std::iter::successors(there(f.LLVMInstructionGetDebugLoc(inst)), |&loc| {
            there(f.LLVMDILocationGetInlinedAt(loc))
        })
        .map(|loc| f.LLVMDILocationGetLine(loc))
        .collect()
    }
}

/// Whether an instruction is a call that informs the optimiser or debuggers.
pub(crate) fn is_annotation(inst: LLVMValueRef) -> bool {
    let name = called_function(inst).map(value_name).unwrap_or_default();
    ["llvm.dbg.", "llvm.lifetime.", "llvm.assume"].iter().any(|known| name.starts_with(known))
}

/// Whether an instruction is a call of something that may depend on which lanes execute it, or that is not known.
fn may_ask_about_lanes(inst: LLVMValueRef) -> bool {
    let is_call =
        opcode(inst).is_some_and(|op| [LLVMCall, LLVMInvoke, LLVMCallBr].iter().any(|&o| o as u32 == op));
    // SAFETY: a live call, which is asked for its attributes.
    let marked = |inst| unsafe {
        let kind = attribute_kind("convergent");
        !functions().LLVMGetCallSiteEnumAttribute(inst, FUNCTION_INDEX, kind).is_null()
    };
    is_call && called_function(inst).is_none_or(|callee| has_attribute(callee, "convergent") || marked(inst))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Llvm;

    /// A function with a loop from `start` while its counter is below `end`, with a store for each iteration, in a loop
    /// of so many iterations that nobody knows.
    fn nest(start: &str, end: &str) -> String {
        format!(
            "define void @f(ptr %p, i64 %n, i64 %m) {{\n\
             entry:\n  br label %outer\n\
             outer:\n  %i = phi i64 [ 0, %entry ], [ %i1, %next ]\n  %o = icmp ult i64 %i, %n\n  \
             br i1 %o, label %inner, label %exit\n\
             inner:\n  %k = phi i64 [ {start}, %outer ], [ %k1, %body ]\n  %c = icmp ult i64 %k, {end}\n  \
             br i1 %c, label %body, label %next\n\
             body:\n  %s = add i64 %i, %k\n  %a = getelementptr i32, ptr %p, i64 %s\n  store i32 7, ptr %a\n  \
             %k1 = add i64 %k, 1\n  br label %inner\n\
             next:\n  %i1 = add i64 %i, 4\n  br label %outer\n\
             exit:\n  ret void\n}}\n"
        )
    }

    fn loops_left(text: &str, unroll: &Unroll) -> Option<usize> {
        if Llvm::get().is_err() {
            eprintln!("skipped: there is no LLVM");
            return None;
        }
        let mut module = Module::parse(text.as_bytes(), "nest").unwrap();
        module.unroll_short_loops(unroll).unwrap();
        module.verify().unwrap();
        assert!(!module.to_text().contains("llvm.loop"), "marks are left");
        let function = module.named("f").unwrap();
        Some(Loops::of(function).map_or(0, |loops| loops.cycles.len()))
    }

    #[test]
    fn loops_of_few_constant_iterations_are_unrolled_and_others_stay() {
        for (start, end, left) in
            [("0", "4", 1), ("1", "3", 1), ("0", "100", 2), ("0", "%m", 2), ("%m", "4", 2)]
        {
            let found = loops_left(&nest(start, end), &Unroll::Everywhere);
            assert!(found.is_none_or(|found| found == left), "{start}..{end}: {found:?} loops");
        }
    }

    #[test]
    fn nothing_is_unrolled_where_no_loop_is_meant() {
        for unroll in [Unroll::Nothing, Unroll::Within(vec![3])] {
            assert!(loops_left(&nest("0", "4"), &unroll).is_none_or(|found| found == 2));
        }
    }

    #[test]
    fn loops_that_mark_themselves_stay_and_those_within_are_unrolled() {
        let marked = nest("0", "4").replace(
            "%i1 = add i64 %i, 4\n  br label %outer",
            "%i1 = add i64 %i, 4\n  br label %outer, !llvm.loop !0",
        ) + "!0 = distinct !{!0, !1}\n!1 = !{!\"llvm.loop.vectorize.enable\", i1 true}\n";
        let Ok(_) = Llvm::get() else { return eprintln!("skipped: there is no LLVM") };
        let mut module = Module::parse(marked.as_bytes(), "nest").unwrap();
        module.unroll_short_loops(&Unroll::Within(Vec::new())).unwrap();
        let text = module.to_text();
        assert_eq!(text.matches("store i32 7").count(), 4, "{text}");
        assert!(text.contains("llvm.loop.vectorize.enable") && !text.contains("unroll"), "{text}");
    }

    #[test]
    fn loops_that_ask_about_lanes_stay() {
        let text = nest("0", "4").replace("store i32 7, ptr %a", "%any = call i1 @warpline_any(i1 %c)")
            + "declare i1 @warpline_any(i1)\n";
        let Ok(_) = Llvm::get() else { return eprintln!("skipped: there is no LLVM") };
        let mut module = Module::parse(text.as_bytes(), "nest").unwrap();
        module.mark_lane_operations();
        module.unroll_short_loops(&Unroll::Everywhere).unwrap();
        assert_eq!(module.to_text().matches("call i1 @warpline_any").count(), 1);
    }
}
