//! One instruction.

use crate::ffi::types::LLVMOpcode as Opcode;
use crate::ffi::types::*;
use warpline_ir::{
    AtomicOrdering, CallInfo, CastOp, Constant, Inst, InstFlags, IntPred, LaneOp, MemAccess, Op, Type, Value,
};

use super::atomic::ordering_number;
use super::{Emitter, Patch};
use crate::error::Result;
use crate::ffi::load::{functions, major};
use crate::opcodes::{BINARY, CASTS, FAST_MATH_SHIFT, FIRST_INT_PREDICATE, FLOAT_PREDICATES, value_operands};
use crate::simplify::attribute_kind;

/// Metadata that may go to a new function even if the instruction's type is another now.
const KEPT_METADATA: [&str; 2] = ["tbaa", "fpmath"];
/// Metadata that may go to a new function if the instruction's type is the same.
const KEPT_WITH_TYPE: [&str; 9] =
    ["tbaa", "fpmath", "range", "nonnull", "noundef", "align", "dereferenceable", "nontemporal", "prof"];

const EMPTY: *const std::ffi::c_char = c"".as_ptr();

/// From here on, masked memory intrinsics state the alignment as an attribute of the pointer, not as an argument.
const ALIGNMENT_IS_ATTRIBUTE: u32 = 22;

impl Emitter<'_> {
    /// Builds an instruction where the builder stands.
    pub(super) fn build_inst(&mut self, inst: Inst, original: Option<LLVMValueRef>) -> Result<()> {
        let data = &self.function.insts[inst];
        match (&data.op, &data.args[..]) {
            (Op::ParallelCopy, args) => {
                self.aliases.extend(data.results.iter().copied().zip(args.iter().copied()));
                return Ok(());
            }
            (Op::Sigma, &[arg]) => {
                self.aliases.extend(data.results.iter().map(|&result| (result, arg)));
                return Ok(());
            }
            (Op::Lane(LaneOp::MaskAny), &[mask]) if self.function.ty(mask) == Type::BOOL => {
                self.aliases.extend(data.result().map(|result| (result, mask)));
                return Ok(());
            }
            _ => {}
        }
        let built = self.instruction(inst, original)?;
        let f = functions();
        // SAFETY: what was built is live.
        let is_instruction = unsafe { !f.LLVMIsAInstruction(built).is_null() };
        if let Some(result) = data.result() {
            let wanted = self.llvm_type(inst, self.function.ty(result))?;
            // SAFETY: as above.
            if unsafe { f.LLVMTypeOf(built) } != wanted {
                return Err(self.refuse(inst, "LLVM gives its result another type"));
            }
            self.values.insert(result, built);
            if is_instruction {
                self.set_name(built, &self.function.values[result].name);
            }
        }
        if is_instruction {
            self.set_flags(inst, built);
            self.set_metadata(inst, built, original);
            self.set_nontemporal(inst, built);
            self.set_location(inst, built);
            if let Some(original) = original {
                self.successors.entry(original).or_insert(built);
            }
        }
        Ok(())
    }

    /// Remembers a new instruction and which of its operands are to be set to what.
    pub(super) fn built(&mut self, built: LLVMValueRef, operands: &[(u32, Value)]) -> LLVMValueRef {
        // SAFETY: a live value.
        if unsafe { functions().LLVMIsAInstruction(built) }.is_null() {
            return built;
        }
        self.built.push(built);
        self.patches.extend(operands.iter().map(|&(index, value)| Patch::Operand(built, index, value)));
        built
    }

    fn instruction(&mut self, inst: Inst, original: Option<LLVMValueRef>) -> Result<LLVMValueRef> {
        let f = functions();
        let b = self.builder;
        let function = self.function;
        let data = &function.insts[inst];
        let args = &data.args[..];
        let numbered: Vec<(u32, Value)> = (0..).zip(args.iter().copied()).collect();
        let ty = match data.result() {
            Some(result) => function.ty(result),
            None => Type::Void,
        };
        let wrong = |this: &Self| this.refuse(inst, "it has the wrong number of operands");
        let same = |this: &Self| original.filter(|&original| this.same_path(inst, original));
        // SAFETY: builder, types and operands are live and of the types that the IR's verifier asks for; counts
        // describe arrays.
        unsafe {
            let built = match (&data.op, args) {
                (Op::Phi, _) => {
                    let phi = f.LLVMBuildPhi(b, self.llvm_type(inst, ty)?, EMPTY);
                    self.phis.push((inst, phi));
                    phi
                }
                (Op::Binary(op), &[x, y]) => {
                    let opcode =
                        BINARY.iter().find(|(_, ours)| ours == op).map_or(0, |&(opcode, _)| opcode as u32);
                    f.LLVMBuildBinOp(b, opcode, self.stand_in(inst, x)?, self.stand_in(inst, y)?, EMPTY)
                }
                (Op::FNeg, &[x]) => f.LLVMBuildFNeg(b, self.stand_in(inst, x)?, EMPTY),
                (Op::ICmp(predicate), &[x, y]) => {
                    let number = IntPred::ALL.iter().position(|one| one == predicate).unwrap_or(0) as u32;
                    let (x, y) = (self.stand_in(inst, x)?, self.stand_in(inst, y)?);
                    f.LLVMBuildICmp(b, FIRST_INT_PREDICATE + number, x, y, EMPTY)
                }
                (Op::FCmp(predicate), &[x, y]) => {
                    let number = FLOAT_PREDICATES.iter().position(|one| one == predicate).unwrap_or(0) as u32;
                    f.LLVMBuildFCmp(b, number, self.stand_in(inst, x)?, self.stand_in(inst, y)?, EMPTY)
                }
                (Op::Select | Op::Lane(LaneOp::Blend), &[c, x, y]) => {
                    let (c, x, y) =
                        (self.stand_in(inst, c)?, self.stand_in(inst, x)?, self.stand_in(inst, y)?);
                    f.LLVMBuildSelect(b, c, x, y, EMPTY)
                }
                (Op::Freeze, &[x]) => f.LLVMBuildFreeze(b, self.stand_in(inst, x)?, EMPTY),
                (Op::Cast(op), &[x]) => return self.cast(inst, *op, x, ty, original),
                (Op::Gep(element), &[base, ref indices @ ..]) => {
                    return self.gep(inst, *element, base, indices);
                }
                (Op::Load(access), &[address]) => {
                    let load =
                        f.LLVMBuildLoad2(b, self.llvm_type(inst, ty)?, self.stand_in(inst, address)?, EMPTY);
                    set_access(load, access);
                    load
                }
                (Op::Store(access), &[value, address]) => {
                    let store =
                        f.LLVMBuildStore(b, self.stand_in(inst, value)?, self.stand_in(inst, address)?);
                    set_access(store, access);
                    store
                }
                (Op::Alloca { ty, align }, &[count]) => {
                    let alloca = f.LLVMBuildArrayAlloca(
                        b,
                        self.llvm_type(inst, *ty)?,
                        self.stand_in(inst, count)?,
                        EMPTY,
                    );
                    f.LLVMSetAlignment(alloca, *align as u32);
                    alloca
                }
                (Op::ExtractElement, &[v, i]) => {
                    f.LLVMBuildExtractElement(b, self.stand_in(inst, v)?, self.stand_in(inst, i)?, EMPTY)
                }
                (Op::InsertElement, &[v, x, i]) => {
                    let (v, x, i) =
                        (self.stand_in(inst, v)?, self.stand_in(inst, x)?, self.stand_in(inst, i)?);
                    f.LLVMBuildInsertElement(b, v, x, i, EMPTY)
                }
                (Op::Shuffle(mask), &[x, y]) => {
                    let mask = self.shuffle_mask(inst, mask, ty)?;
                    f.LLVMBuildShuffleVector(b, self.stand_in(inst, x)?, self.stand_in(inst, y)?, mask, EMPTY)
                }
                (Op::ExtractValue(path), &[x]) => match same(self) {
                    Some(original) => self.clone_of(original),
                    None => return self.extract_value(inst, path, x),
                },
                (Op::InsertValue(path), &[x, y]) => match same(self) {
                    Some(original) => self.clone_of(original),
                    None => return self.insert_value(inst, path, x, y),
                },
                (Op::Call(call), _) => return self.call(inst, call, original),
                (Op::Lane(lane), _) => return self.lane(inst, *lane, original),
                (Op::Opaque(_) | Op::OpaqueTerm(_), _) => return self.opaque(inst, original),
                (Op::Br, &[]) => f.LLVMBuildBr(b, self.target(inst, 0)?),
                (Op::CondBr, &[condition]) => {
                    let (yes, no) = (self.target(inst, 0)?, self.target(inst, 1)?);
                    let branch = f.LLVMBuildCondBr(b, self.stand_in(inst, condition)?, yes, no);
                    self.built.push(branch);
                    self.patches.push(Patch::Condition(branch, condition));
                    return Ok(branch);
                }
                (Op::Switch(cases), &[x]) => {
                    let default = self.target(inst, 0)?;
                    let switch = f.LLVMBuildSwitch(b, self.stand_in(inst, x)?, default, cases.len() as u32);
                    for (i, &case) in cases.iter().enumerate() {
                        let bits = function.ty(x).int_bits().unwrap_or(1);
                        let case = self.constant(inst, &Constant::int(bits, case))?;
                        f.LLVMAddCase(switch, case, self.target(inst, i + 1)?);
                    }
                    switch
                }
                (Op::Ret, &[x]) => f.LLVMBuildRet(b, self.stand_in(inst, x)?),
                (Op::Ret, &[]) => f.LLVMBuildRetVoid(b),
                (Op::Unreachable, &[]) => f.LLVMBuildUnreachable(b),
                (Op::ReadVar(_) | Op::WriteVar(_), _) => {
                    return Err(self.refuse(inst, "variables must become values first (SSA construction)"));
                }
                _ => return Err(wrong(self)),
            };
            Ok(self.built(built, &numbered))
        }
    }

    /// A member of a member. LLVM's builder takes one index at a time.
    fn extract_value(&mut self, inst: Inst, path: &[u32], x: Value) -> Result<LLVMValueRef> {
        let mut part = self.stand_in(inst, x)?;
        for (n, &index) in path.iter().enumerate() {
            // SAFETY: builder and operand are live, and the verifier has checked the path.
            part = unsafe { functions().LLVMBuildExtractValue(self.builder, part, index, EMPTY) };
            part = self.built(part, (n == 0).then_some((0, x)).as_slice());
        }
        Ok(part)
    }

    /// Replaces a member of a member: takes out what it is in, member by member, and puts the new ones back.
    fn insert_value(&mut self, inst: Inst, path: &[u32], x: Value, y: Value) -> Result<LLVMValueRef> {
        let mut wholes = vec![self.stand_in(inst, x)?];
        for (n, &index) in path[..path.len() - 1].iter().enumerate() {
            // SAFETY: as for `extract_value`.
            let part = unsafe { functions().LLVMBuildExtractValue(self.builder, wholes[n], index, EMPTY) };
            wholes.push(self.built(part, (n == 0).then_some((0, x)).as_slice()));
        }
        let mut part = self.stand_in(inst, y)?;
        for (n, (&whole, &index)) in wholes.iter().zip(path).enumerate().rev() {
            // SAFETY: as for `extract_value`.
            part = unsafe { functions().LLVMBuildInsertValue(self.builder, whole, part, index, EMPTY) };
            let outermost = (n == 0).then_some((0, x));
            let innermost = (n + 1 == path.len()).then_some((1, y));
            let operands: Vec<(u32, Value)> = outermost.into_iter().chain(innermost).collect();
            part = self.built(part, &operands);
        }
        Ok(part)
    }

    /// A conversion. LLVM's builder makes nothing of one that keeps the type.
    fn cast(
        &mut self,
        inst: Inst,
        op: CastOp,
        x: Value,
        ty: Type,
        original: Option<LLVMValueRef>,
    ) -> Result<LLVMValueRef> {
        let f = functions();
        let opcode = CASTS.iter().find(|&&(_, ours)| ours == op).map_or(0, |&(opcode, _)| opcode as u32);
        if self.function.ty(x) == ty {
            // SAFETY: a live original.
            let same = original.filter(|&original| unsafe { f.LLVMGetInstructionOpcode(original) } == opcode);
            let Some(original) = same else {
                return Err(self.refuse(inst, "a conversion to the same type needs an original"));
            };
            let clone = self.clone_of(original);
            return Ok(self.built(clone, &[(0, x)]));
        }
        let to = self.llvm_type(inst, ty)?;
        let from = self.stand_in(inst, x)?;
        // SAFETY: builder, operand and type are live.
        let built = unsafe { f.LLVMBuildCast(self.builder, opcode, from, to, EMPTY) };
        Ok(self.built(built, &[(0, x)]))
    }

    /// An address computation. Indices that are constant are used as they are: those into structures decide the type.
    fn gep(&mut self, inst: Inst, element: Type, base: Value, indices: &[Value]) -> Result<LLVMValueRef> {
        let element = self.llvm_type(inst, element)?;
        let pointer = self.stand_in(inst, base)?;
        let mut built_on = Vec::new();
        let mut operands = vec![(0, base)];
        for (number, &index) in (1..).zip(indices) {
            if self.function.constant(index).is_some() {
                built_on.push(self.value(index)?);
            } else {
                built_on.push(self.stand_in(inst, index)?);
                operands.push((number, index));
            }
        }
        let flags = self.function.insts[inst].flags;
        let no_wrap = u32::from(flags.contains(InstFlags::INBOUNDS))
            | u32::from(flags.contains(InstFlags::NUSW)) << 1
            | u32::from(flags.contains(InstFlags::NUW)) << 2;
        // SAFETY: builder, type and operands are live; the count describes the array.
        let built = unsafe {
            functions().LLVMBuildGEPWithNoWrapFlags(
                self.builder,
                element,
                pointer,
                built_on.as_mut_ptr(),
                built_on.len() as u32,
                EMPTY,
                no_wrap,
            )
        };
        Ok(self.built(built, &operands))
    }

    /// The mask of a shuffle as the vector constant that LLVM's builder asks for.
    fn shuffle_mask(&mut self, inst: Inst, mask: &[i32], ty: Type) -> Result<LLVMValueRef> {
        let f = functions();
        let scalable = matches!(ty, Type::Vector(vector) if vector.scalable);
        // SAFETY: types and constants of a live context; the count describes the array.
        unsafe {
            let i32_type = f.LLVMIntTypeInContext(self.bridge.module.context(), 32);
            if scalable {
                // LLVM allows no others.
                let vector = f.LLVMScalableVectorType(i32_type, mask.len() as u32);
                return match mask {
                    _ if mask.iter().all(|&i| i == 0) => Ok(f.LLVMConstNull(vector)),
                    _ if mask.iter().all(|&i| i < 0) => Ok(f.LLVMGetPoison(vector)),
                    _ => Err(self.refuse(inst, "a scalable vector can only be splatted")),
                };
            }
            let mut elements: Vec<LLVMValueRef> =
                mask.iter()
                    .map(|&i| {
                        if i < 0 { f.LLVMGetPoison(i32_type) } else { f.LLVMConstInt(i32_type, i as u64, 0) }
                    })
                    .collect();
            Ok(f.LLVMConstVector(elements.as_mut_ptr(), elements.len() as u32))
        }
    }

    /// A call: a clone if callee and types are those of the original, a new one otherwise.
    fn call(&mut self, inst: Inst, call: &CallInfo, original: Option<LLVMValueRef>) -> Result<LLVMValueRef> {
        let f = functions();
        let args: Vec<Value> = self.function.insts[inst].args.to_vec();
        let callee = match call.callee {
            Some(symbol) => {
                let name = &self.ir.symbols[symbol].name;
                if let Some((pointer, align)) = self.masked_alignment(name, &args) {
                    return self.masked_access(inst, name, &args, pointer, align);
                }
                Some(
                    self.bridge
                        .export_symbol(self.ir, symbol)
                        .map_err(|message| self.refuse(inst, message))?,
                )
            }
            None => None,
        };
        // SAFETY: live values; questions are asked of calls only.
        unsafe {
            if let Some(original) = original.filter(|&original| !f.LLVMIsACallInst(original).is_null()) {
                let called = f.LLVMGetCalledValue(original);
                let same_callee = match callee {
                    Some(callee) => callee == called,
                    None => {
                        f.LLVMIsAFunction(called).is_null()
                            || f.LLVMGlobalGetValueType(called) != f.LLVMGetCalledFunctionType(original)
                    }
                };
                let operands = value_operands(original);
                let count = args.len() + usize::from(callee.is_some());
                if same_callee && operands.len() == count && self.same_types(inst, &args, &operands)? {
                    let clone = self.clone_of(original);
                    let patches: Vec<_> = operands.iter().map(|&(index, _)| index).zip(args).collect();
                    return Ok(self.built(clone, &patches));
                }
            }
            let (callee, ty, params) = match callee {
                Some(callee) => (callee, f.LLVMGlobalGetValueType(callee), &args[..]),
                None => {
                    let Some((&callee, params)) = args.split_last() else {
                        return Err(self.refuse(inst, "an indirect call needs a callee"));
                    };
                    let types: Vec<Type> = params.iter().map(|&param| self.function.ty(param)).collect();
                    let ret = self.function.insts[inst]
                        .result()
                        .map_or(Type::Void, |result| self.function.ty(result));
                    let ty = self.bridge.function_type(self.ir, &types, ret, false);
                    (self.stand_in(inst, callee)?, ty.map_err(|message| self.refuse(inst, message))?, params)
                }
            };
            let indirect = (params.len() < args.len()).then(|| args[params.len()]);
            let built = self.new_call(inst, callee, ty, params)?;
            if let Some(callee) = indirect {
                self.patches.push(Patch::Operand(built, params.len() as u32, callee));
            }
            Ok(built)
        }
    }

    fn new_call(
        &mut self,
        inst: Inst,
        callee: LLVMValueRef,
        ty: LLVMTypeRef,
        args: &[Value],
    ) -> Result<LLVMValueRef> {
        let f = functions();
        let mut operands = Vec::with_capacity(args.len());
        for &arg in args {
            // Metadata and tokens have no placeholder.
            operands.push(match self.function.ty(arg) {
                Type::Other(_) => self.value(arg)?,
                _ => self.stand_in(inst, arg)?,
            });
        }
        // SAFETY: builder, callee and operands are live; the counts describe arrays.
        let built = unsafe {
            let (fixed, variadic) = (f.LLVMCountParamTypes(ty) as usize, f.LLVMIsFunctionVarArg(ty) != 0);
            if operands.len() < fixed || (operands.len() > fixed && !variadic) {
                return Err(
                    self.refuse(inst, format!("the callee takes {fixed} arguments, not {}", operands.len()))
                );
            }
            let call = f.LLVMBuildCall2(
                self.builder,
                ty,
                callee,
                operands.as_mut_ptr(),
                operands.len() as u32,
                EMPTY,
            );
            if !f.LLVMIsAFunction(callee).is_null() {
                f.LLVMSetInstructionCallConv(call, f.LLVMGetFunctionCallConv(callee));
            }
            call
        };
        let numbered: Vec<(u32, Value)> = (0..).zip(args.iter().copied()).collect();
        Ok(self.built(built, &numbered))
    }

    /// If this is a masked memory intrinsic with its alignment as an argument, and LLVM wants it as an attribute: the
    /// number of the pointer argument and the alignment.
    fn masked_alignment(&self, name: &str, args: &[Value]) -> Option<(usize, u64)> {
        if major() < ALIGNMENT_IS_ATTRIBUTE || args.len() != 4 {
            return None;
        }
        let pointer = if name.starts_with("llvm.masked.load.") || name.starts_with("llvm.masked.gather.") {
            0
        } else if name.starts_with("llvm.masked.store.") || name.starts_with("llvm.masked.scatter.") {
            1
        } else {
            return None;
        };
        let align = self.function.as_int(args[pointer + 1])?;
        Some((pointer, u64::try_from(align).ok()?))
    }

    /// A masked memory access in the form of newer versions.
    fn masked_access(
        &mut self,
        inst: Inst,
        name: &str,
        args: &[Value],
        pointer: usize,
        align: u64,
    ) -> Result<LLVMValueRef> {
        let f = functions();
        let mut args = args.to_vec();
        args.remove(pointer + 1);
        let types: Vec<Type> = args.iter().map(|&arg| self.function.ty(arg)).collect();
        let ret = self.function.insts[inst].result().map_or(Type::Void, |result| self.function.ty(result));
        let ty = self
            .bridge
            .function_type(self.ir, &types, ret, false)
            .map_err(|message| self.refuse(inst, message))?;
        let callee = match self.bridge.module.named(name) {
            Some(callee) => callee,
            None => {
                let effects = warpline_ir::Effects::UNKNOWN;
                self.bridge.declare(name, ty, effects).map_err(|message| self.refuse(inst, message))?
            }
        };
        let built = self.new_call(inst, callee, ty, &args)?;
        if align.is_power_of_two() {
            // SAFETY: live context and call.
            unsafe {
                let attribute =
                    f.LLVMCreateEnumAttribute(self.bridge.module.context(), attribute_kind("align"), align);
                f.LLVMAddCallSiteAttribute(built, pointer as u32 + 1, attribute);
            }
        }
        Ok(built)
    }

    /// A lane operation, with the meaning it has for one lane where it is the vectorizer's, and as a call where it is
    /// the kernel's.
    fn lane(&mut self, inst: Inst, lane: LaneOp, original: Option<LLVMValueRef>) -> Result<LLVMValueRef> {
        let f = functions();
        let args: Vec<Value> = self.function.insts[inst].args.to_vec();
        let ty = self.function.insts[inst].result().map_or(Type::Void, |result| self.function.ty(result));
        // SAFETY: builder and operands are live and boolean, as the IR's verifier demands.
        unsafe {
            match (lane, &args[..]) {
                (LaneOp::MaskAnd | LaneOp::MaskAndNot, &[mask, condition]) => {
                    let no = f.LLVMConstNull(self.llvm_type(inst, ty)?);
                    let (m, c) = (self.stand_in(inst, mask)?, self.stand_in(inst, condition)?);
                    if lane == LaneOp::MaskAnd {
                        let built = f.LLVMBuildSelect(self.builder, m, c, no, EMPTY);
                        return Ok(self.built(built, &[(0, mask), (1, condition)]));
                    }
                    let ones = f.LLVMConstAllOnes(self.llvm_type(inst, ty)?);
                    let not = f.LLVMBuildBinOp(self.builder, Opcode::LLVMXor as u32, c, ones, EMPTY);
                    let not = self.built(not, &[(0, condition)]);
                    let built = f.LLVMBuildSelect(self.builder, m, not, no, EMPTY);
                    Ok(self.built(built, &[(0, mask)]))
                }
                (LaneOp::MaskOr, &[x, y]) => {
                    let (a, b) = (self.stand_in(inst, x)?, self.stand_in(inst, y)?);
                    let built = f.LLVMBuildBinOp(self.builder, Opcode::LLVMOr as u32, a, b, EMPTY);
                    Ok(self.built(built, &[(0, x), (1, y)]))
                }
                (LaneOp::MaskAny, &[mask]) => match self.function.ty(mask) {
                    Type::Vector(vector) if !vector.scalable => {
                        let name = format!("llvm.vector.reduce.or.v{}i1", vector.lanes);
                        let callee = self.intrinsic(inst, &name, &args, Type::BOOL)?;
                        self.new_call(inst, callee, f.LLVMGlobalGetValueType(callee), &args)
                    }
                    _ => Err(self.refuse(inst, "its operand is no mask")),
                },
                (LaneOp::BitOfLane, &[bits]) => {
                    let number = self.intrinsic(inst, "warpline_lane_index", &[], Type::Int(32))?;
                    let number = self.new_call(inst, number, f.LLVMGlobalGetValueType(number), &[])?;
                    self.bridge.module.mark_lane_operations();
                    let wide = self.llvm_type(inst, Type::Int(64))?;
                    let number = f.LLVMBuildZExt(self.builder, number, wide, EMPTY);
                    let bits_here = self.stand_in(inst, bits)?;
                    let op = Opcode::LLVMLShr as u32;
                    let moved = f.LLVMBuildBinOp(self.builder, op, bits_here, number, EMPTY);
                    let moved = self.built(moved, &[(0, bits)]);
                    Ok(f.LLVMBuildTrunc(self.builder, moved, self.llvm_type(inst, ty)?, EMPTY))
                }
                _ if lane.is_asked_by_kernels() => {
                    if let Some(original) =
                        original.filter(|&original| !f.LLVMIsACallInst(original).is_null())
                    {
                        let clone = self.clone_of(original);
                        let patches: Vec<(u32, Value)> = (0..).zip(args).collect();
                        return Ok(self.built(clone, &patches));
                    }
                    let elem = match (lane, &args[..]) {
                        (LaneOp::Compact, &[_, stored, _]) => self.function.ty(stored),
                        _ => ty,
                    };
                    let callee = self.intrinsic(inst, &lane.function_name(elem), &args, ty)?;
                    let call = self.new_call(inst, callee, f.LLVMGlobalGetValueType(callee), &args)?;
                    self.bridge.module.mark_lane_operations();
                    Ok(call)
                }
                _ => Err(self.refuse(inst, "it has the wrong number of operands")),
            }
        }
    }

    /// A function by its name, declared with the types of these operands if it is not there.
    fn intrinsic(&mut self, inst: Inst, name: &str, args: &[Value], ret: Type) -> Result<LLVMValueRef> {
        if let Some(known) = self.bridge.module.named(name) {
            return Ok(known);
        }
        let types: Vec<Type> = args.iter().map(|&arg| self.function.ty(arg)).collect();
        self.bridge
            .function_type(self.ir, &types, ret, false)
            .and_then(|ty| self.bridge.declare(name, ty, warpline_ir::Effects::UNKNOWN))
            .map_err(|message| self.refuse(inst, message))
    }

    /// An instruction that is carried: its original with other operands and successors.
    fn opaque(&mut self, inst: Inst, original: Option<LLVMValueRef>) -> Result<LLVMValueRef> {
        let f = functions();
        let Some(original) = original else {
            if let Op::Opaque(info) = &self.function.insts[inst].op
                && let Some(atomic) = info.atomic
            {
                return self.atomic(inst, atomic);
            }
            let message = "only LLVM knows it, and the module that it came from is not there (a text names that: \
                           `module \"x.bc\"`)";
            return Err(self.refuse(inst, message));
        };
        let operands = value_operands(original);
        let data = &self.function.insts[inst];
        let args = data.args.to_vec();
        // SAFETY: a live original and blocks of this function; the counts are compared before anything is set.
        unsafe {
            let edges = data.edges.len();
            if args.len() != operands.len() || edges != successor_count(original) {
                return Err(self.refuse(inst, "it is carried, not modelled, and its shape was changed"));
            }
            if !self.same_types(inst, &args, &operands)? {
                return Err(
                    self.refuse(inst, "it is carried, not modelled, and cannot take operands of other types")
                );
            }
            let names_blocks = [Opcode::LLVMIndirectBr, Opcode::LLVMCallBr]
                .into_iter()
                .any(|one| one as u32 == f.LLVMGetInstructionOpcode(original));
            if names_blocks && !self.in_place {
                return Err(
                    self.refuse(inst, "it jumps to addresses of blocks, which a new function cannot have")
                );
            }
            let clone = self.clone_of(original);
            for i in 0..edges {
                f.LLVMSetSuccessor(clone, i as u32, self.target(inst, i)?);
            }
            let patches: Vec<(u32, Value)> = operands.iter().map(|&(index, _)| index).zip(args).collect();
            Ok(self.built(clone, &patches))
        }
    }

    /// Whether operands have the types of an original's.
    fn same_types(&self, inst: Inst, args: &[Value], operands: &[(u32, LLVMValueRef)]) -> Result<bool> {
        for (&arg, &(_, operand)) in args.iter().zip(operands) {
            // SAFETY: a live operand.
            if self.llvm_type(inst, self.function.ty(arg))? != unsafe { functions().LLVMTypeOf(operand) } {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether an original goes the same path through an aggregate of the same type.
    fn same_path(&self, inst: Inst, original: LLVMValueRef) -> bool {
        let f = functions();
        let data = &self.function.insts[inst];
        let (path, opcode) = match &data.op {
            Op::ExtractValue(path) => (path, Opcode::LLVMExtractValue),
            Op::InsertValue(path) => (path, Opcode::LLVMInsertValue),
            _ => return false,
        };
        // SAFETY: a live original; indices are asked of an instruction that has them.
        unsafe {
            f.LLVMGetInstructionOpcode(original) == opcode as u32
                && std::slice::from_raw_parts(
                    f.LLVMGetIndices(original),
                    f.LLVMGetNumIndices(original) as usize,
                ) == &path[..]
                && self.same_types(inst, &data.args, &value_operands(original)).unwrap_or(false)
        }
    }

    /// A clone where the builder stands, with the original's operands.
    fn clone_of(&mut self, original: LLVMValueRef) -> LLVMValueRef {
        let f = functions();
        // SAFETY: a live original; the clone is put into a block at once.
        unsafe {
            let clone = f.LLVMInstructionClone(original);
            f.LLVMInsertIntoBuilder(self.builder, clone);
            clone
        }
    }

    /// The block that an edge of a terminator leads to.
    fn target(&self, inst: Inst, edge: usize) -> Result<LLVMBasicBlockRef> {
        let data = &self.function.insts[inst];
        data.edges
            .get(edge)
            .and_then(|&edge| self.blocks.get(&self.function.edges[edge].to))
            .copied()
            .ok_or_else(|| self.refuse(inst, "an edge leads out of the layout"))
    }

    fn constant(&mut self, inst: Inst, constant: &Constant) -> Result<LLVMValueRef> {
        self.bridge.export_constant(self.ir, constant).map_err(|message| self.refuse(inst, message))
    }

    /// Sets the flags that LLVM allows an instruction of this operation.
    fn set_flags(&self, inst: Inst, built: LLVMValueRef) {
        let f = functions();
        let data = &self.function.insts[inst];
        let flags = data.flags;
        let on = |flag| i32::from(flags.contains(flag));
        // SAFETY: a live instruction; each flag is set on opcodes that have it.
        unsafe {
            let opcode = f.LLVMGetInstructionOpcode(built);
            let is = |ones: &[Opcode]| ones.iter().any(|&one| one as u32 == opcode);
            if is(&[Opcode::LLVMAdd, Opcode::LLVMSub, Opcode::LLVMMul, Opcode::LLVMShl, Opcode::LLVMTrunc]) {
                f.LLVMSetNUW(built, on(InstFlags::NUW));
                f.LLVMSetNSW(built, on(InstFlags::NSW));
            } else if is(&[Opcode::LLVMUDiv, Opcode::LLVMSDiv, Opcode::LLVMLShr, Opcode::LLVMAShr]) {
                f.LLVMSetExact(built, on(InstFlags::EXACT));
            } else if is(&[Opcode::LLVMOr]) {
                f.LLVMSetIsDisjoint(built, on(InstFlags::DISJOINT));
            } else if is(&[Opcode::LLVMZExt, Opcode::LLVMUIToFP]) {
                f.LLVMSetNNeg(built, on(InstFlags::NNEG));
            } else if is(&[Opcode::LLVMICmp])
                && let Some(set) = f.LLVMSetICmpSameSign
            {
                set(built, on(InstFlags::SAMESIGN));
            }
            if f.LLVMCanValueUseFastMathFlags(built) != 0 {
                f.LLVMSetFastMathFlags(built, (flags & InstFlags::FAST).bits() >> FAST_MATH_SHIFT);
            }
        }
    }

    /// Takes the original's metadata over, as far as it is still true.
    fn set_metadata(&self, inst: Inst, built: LLVMValueRef, original: Option<LLVMValueRef>) {
        let f = functions();
        let Some(original) = original else { return };
        let context = self.bridge.module.context();
        // SAFETY: live instructions of one context; entries are read within their count and then freed.
        unsafe {
            let same_type = f.LLVMTypeOf(original) == f.LLVMTypeOf(built)
                && f.LLVMGetInstructionOpcode(original) == f.LLVMGetInstructionOpcode(built)
                && self.same_stored_type(inst, original);
            let mut count = 0;
            let entries = f.LLVMInstructionGetAllMetadataOtherThanDebugLoc(original, &raw mut count);
            for i in 0..count as u32 {
                let kind = f.LLVMValueMetadataEntriesGetKind(entries, i);
                let node = f.LLVMValueMetadataEntriesGetMetadata(entries, i);
                let is_any = |names: &[&str]| {
                    names.iter().any(|name| {
                        f.LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32) == kind
                    })
                };
                let kept = match (self.in_place, same_type) {
                    (true, true) => true,
                    (false, true) => is_any(&KEPT_WITH_TYPE),
                    (_, false) => is_any(&KEPT_METADATA),
                };
                let node = if kept { f.LLVMMetadataAsValue(context, node) } else { std::ptr::null_mut() };
                f.LLVMSetMetadata(built, kind, node);
            }
            f.LLVMDisposeValueMetadataEntries(entries);
        }
    }

    /// Marks accesses of memory that caches need not keep.
    fn set_nontemporal(&self, inst: Inst, built: LLVMValueRef) {
        let (Op::Load(access) | Op::Store(access)) = &self.function.insts[inst].op else { return };
        if !access.is_nontemporal {
            return;
        }
        let f = functions();
        let (context, name) = (self.bridge.module.context(), "nontemporal");
        // SAFETY: a live load or store and its context; the array has one element.
        unsafe {
            let one = f.LLVMConstInt(f.LLVMIntTypeInContext(context, 32), 1, 0);
            let mut operand = f.LLVMValueAsMetadata(one);
            let node = f.LLVMMDNodeInContext2(context, &raw mut operand, 1);
            let kind = f.LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32);
            f.LLVMSetMetadata(built, kind, f.LLVMMetadataAsValue(context, node));
        }
    }

    /// Whether a store still stores a value of the type that its original stores; true of anything else.
    fn same_stored_type(&self, inst: Inst, original: LLVMValueRef) -> bool {
        let data = &self.function.insts[inst];
        let (Op::Store(_), Some(&value)) = (&data.op, data.args.first()) else { return true };
        let Ok(ty) = self.llvm_type(inst, self.function.ty(value)) else { return false };
        // SAFETY: a live original.
        let stored =
            value_operands(original).first().map(|&(_, operand)| unsafe { functions().LLVMTypeOf(operand) });
        stored == Some(ty)
    }

    /// Sets the debug location; in a new function, the original's lines are as if inlined.
    fn set_location(&mut self, inst: Inst, built: LLVMValueRef) {
        let node = self.function.insts[inst]
            .loc
            .expand()
            .and_then(|loc| self.bridge.location_nodes.get(loc.as_u32() as usize).copied())
            .unwrap_or(std::ptr::null_mut());
        let node = if self.in_place { node } else { self.place_in_scope(node) };
        // SAFETY: a live instruction, and null or a location node of its context.
        unsafe { functions().LLVMInstructionSetDebugLoc(built, node) };
    }
}

/// Sets alignment, ordering and volatility.
fn set_access(inst: LLVMValueRef, access: &MemAccess) {
    let f = functions();
    // SAFETY: a live load or store.
    unsafe {
        f.LLVMSetAlignment(inst, access.align as u32);
        // From a volatile access, LLVM concludes nothing about the object that its pointer leads to.
        f.LLVMSetVolatile(inst, i32::from(access.is_volatile || access.is_speculative));
        if access.ordering != AtomicOrdering::NotAtomic {
            f.LLVMSetOrdering(inst, ordering_number(access.ordering));
        }
    }
}

/// How many successors an instruction has; none if it is no terminator.
fn successor_count(inst: LLVMValueRef) -> usize {
    let f = functions();
    // SAFETY: a live instruction; only a terminator is asked for successors.
    unsafe { if f.LLVMIsATerminatorInst(inst).is_null() { 0 } else { f.LLVMGetNumSuccessors(inst) as usize } }
}
