//! Recipes of calls.

use warpline_ir::{CallInfo, Effects, FuncId, Inst, Op, Type, Value};
use warpline_uniformity::rules::called;
use warpline_uniformity::shape::ArgShape;

use super::{Planner, Recipe, Rep};
use crate::VectorizeError;
use crate::callees::CalleeVariant;
use crate::elementary::Elementary;
use crate::exact::Exact;
use crate::known_calls::{Form, instruction, is_annotation, libm_name, reduction, vector_intrinsic};

impl Planner<'_> {
    /// The recipe of a call.
    pub(super) fn call(&mut self, i: Inst) -> Result<Recipe, VectorizeError> {
        let data = &self.func.insts[i];
        let Op::Call(info) = &data.op else { return Ok(Recipe::Nothing) };
        let module = self.module;
        let name: &str = info.callee.map_or("", |s| &module.symbols[s].name);
        if is_annotation(module, data) {
            return Ok(Recipe::Nothing);
        }
        let lanes_meet = info.effects.contains(Effects::CONVERGENT)
            || info.callee.is_some_and(|s| self.input.lane_callees.contains(s));
        let callee = self.callee(i, info);
        if lanes_meet {
            let why =
                || format!("the call of `{name}` depends on the other lanes, and its body is not known");
            let callee = callee.ok_or_else(|| self.error(i, why()))?;
            return Ok(Recipe::Variant(self.variant(callee, &data.args, self.is_masked(i))));
        }
        if name.starts_with("llvm.stacksave") || name.starts_with("llvm.stackrestore") {
            return Ok(self.stack_call(i));
        }
        if self.is_made_once(i, info.effects) {
            return Ok(Recipe::Once);
        }
        if self.is_bulk_once(i, name) {
            return Ok(Recipe::OnceIfAny);
        }
        if info.effects.contains(Effects::NO_RETURN) && data.results.is_empty() {
            return Ok(Recipe::FirstLane);
        }
        if self.width > 1 {
            if let Some(callee) = callee {
                return Ok(Recipe::Variant(self.variant(callee, &data.args, self.is_masked(i))));
            }
            if let Some(variant) = self.supplied_variant(i, name) {
                return Ok(Recipe::Simd(variant));
            }
            if info.callee.is_none()
                && let Some(targets) = self.targets(i)?
            {
                return Ok(Recipe::Targets(targets));
            }
        }
        let by_name = data.result().and_then(|result| self.known_by_name(i, name, result));
        Ok(by_name.unwrap_or_else(|| self.scalarize(i)))
    }

    /// An instruction that the IR does not model, for one active lane after the other. A call that depends on the
    /// other lanes can be made neither so nor for all of them at once.
    pub(super) fn opaque(&self, i: Inst) -> Result<Recipe, VectorizeError> {
        if let Some(called) = called(self.module, self.func, i)
            && (called.effects.contains(Effects::CONVERGENT)
                || called.callee.is_some_and(|(s, _)| self.input.lane_callees.contains(s)))
        {
            let why = format!(
                "the call of `{}` depends on the other lanes, and passes copies of memory or carries more than \
                 arguments",
                called.name()
            );
            return Err(self.error(i, why));
        }
        Ok(self.scalarize(i))
    }

    /// The recipe of a call with a result of a function that is known by its name.
    fn known_by_name(&self, i: Inst, name: &str, result: Value) -> Option<Recipe> {
        let data = &self.func.insts[i];
        let ty = self.func.ty(result);
        if let Some((base, form)) = vector_intrinsic(name)
            && (self.func.ty(data.args[0]).scalar().is_some() || ty.elem().is_some())
        {
            return self.intrinsic(i, base, form);
        }
        if let Some(base) = instruction(name, ty) {
            return self.intrinsic(i, base, Form::Elementwise);
        }
        if let Some(fold) = name.strip_prefix("llvm.vector.reduce.").and_then(reduction) {
            let is_of_vector = data.args.last().is_some_and(|&v| matches!(self.func.ty(v), Type::Vector(_)));
            return is_of_vector.then_some(Recipe::Fold(fold));
        }
        let types = self.types_of(&data.args);
        if let Some(function) = Exact::of(name, ty).filter(|f| f.takes(&types)) {
            return (self.width > 1).then_some(Recipe::Exact(function));
        }
        let libm = libm_name(name, ty)?;
        let expanded = |f: &Elementary| self.width > 1 && self.options.math.inline_expansion(*f);
        let inline = Elementary::of(&libm).filter(expanded).map(Recipe::Inline);
        inline.or_else(|| self.library(&libm))
    }

    /// The vector form of an intrinsic; none, if an operand that must be one scalar is none.
    fn intrinsic(&self, i: Inst, base: &str, form: Form) -> Option<Recipe> {
        let scalars = matches!(form, Form::LastScalar | Form::LastScalarNamed);
        let last = self.func.insts[i].args.last()?;
        (!scalars || self.is_uniform(*last)).then(|| Recipe::Intrinsic(base.into(), form))
    }

    /// A function of the vector mathematics library, for all lanes or pieces of these.
    fn library(&self, libm: &str) -> Option<Recipe> {
        let mut whole_pieces = (2..=self.width).rev().filter(|&n| self.width.is_multiple_of(n));
        whole_pieces.find_map(|lanes| {
            let symbol = self.options.math.vector_function(libm, lanes)?.into();
            Some(Recipe::Library { symbol, lanes })
        })
    }

    /// The function of the module that a call runs, if it can be vectorized.
    fn callee(&self, i: Inst, info: &CallInfo) -> Option<FuncId> {
        let types = self.types_of(&self.func.insts[i].args);
        self.wanted.callee(self.module, info, &types, self.result_type(i))
    }

    /// The [W-lane variant](crate::callees) of a function for the shapes of operands.
    fn variant(&mut self, callee: FuncId, operands: &[Value], masked: bool) -> CalleeVariant {
        let shape = |&a: &Value| match self.rep(a) {
            Rep::Uniform => ArgShape::Uniform,
            Rep::Strided(step) => ArgShape::Stride(step),
            Rep::Varying => ArgShape::Varying,
        };
        let shapes = operands.iter().map(shape).collect();
        self.wanted.variant(self.module, callee, shapes, masked)
    }

    /// The variants of what a call through a pointer may run; none, if there are no functions of its type, or too
    /// many.
    fn targets(&mut self, i: Inst) -> Result<Option<Vec<CalleeVariant>>, VectorizeError> {
        let Some((_, operands)) = self.func.insts[i].args.split_last() else { return Ok(None) };
        let (types, ret) = (self.types_of(operands), self.result_type(i));
        let targets = self.wanted.targets(self.module, &types, ret);
        if let Some(name) = self.wanted.asking_target(self.module, &types, ret, &targets) {
            let why = format!(
                "may be a call of `{name}`, which depends on the other lanes, and is made for one lane after \
                 the other, since there are too many \
                 functions of this type, or another module's may take its place; call it by its name"
            );
            return Err(self.error(i, why));
        }
        if targets.is_empty() {
            return Ok(None);
        }
        let there =
            targets.into_iter().filter(|&f| self.module.symbol(&self.module.functions[f].name).is_some());
        let there: Vec<FuncId> = there.collect();
        Ok(Some(there.into_iter().map(|callee| self.variant(callee, operands, true)).collect()))
    }

    /// Whether a call is made once: it has uniform operands, yields the same for all lanes and does nothing else.
    fn is_made_once(&self, i: Inst, effects: Effects) -> bool {
        let data = &self.func.insts[i];
        data.result().is_some_and(|v| self.is_uniform(v))
            && data.args.iter().all(|&a| self.is_uniform(a))
            && self.is_harmless(i, effects)
    }

    /// Whether a call is a fill or copy with uniform operands. It does the same for every lane, so once is enough, if
    /// any lane is active; `memcpy`'s ranges do not overlap, or are the same. (`memmove`'s may, and then twice is not
    /// once.)
    fn is_bulk_once(&self, i: Inst, name: &str) -> bool {
        let data = &self.func.insts[i];
        ["llvm.memset.", "llvm.memcpy."].iter().any(|prefix| name.starts_with(prefix))
            && data.args.iter().all(|&a| self.is_uniform(a))
            && data.args.get(3).is_some_and(|&volatile| self.func.as_int(volatile) == Some(0))
    }

    /// The stack is saved and restored once for all lanes if [that may be](super::stack), else not at all.
    fn stack_call(&self, i: Inst) -> Recipe {
        match self.stack.is_kept(i) {
            true => Recipe::Stack,
            false if self.func.insts[i].results.is_empty() => Recipe::Nothing,
            false => self.scalarize(i),
        }
    }
}
