//! Instructions and terminators.

use std::collections::HashMap;

use crate::ffi::types::LLVMOpcode as Opcode;
use crate::ffi::types::*;
use warpline_ir::{
    Atomic, AtomicOrdering, Block, CallInfo, Function, Inst, InstFlags, IntPred, LaneOp, MemAccess, Op,
    OpaqueInfo, RmwOp, Symbol, SymbolKind, Type, Value,
};

use super::weights::branch_weights;
use super::{Imported, add_result, effects};
use crate::ffi::load::functions;
use crate::module::{take_message, users_of, value_name};
use crate::opcodes::{
    BINARY, CASTS, FAST_MATH_SHIFT, FIRST_INT_PREDICATE, FLOAT_PREDICATES, ORDERINGS, value_operands,
};
use crate::parameters::attached;
use crate::simplify::attribute_kind;
use crate::tables::Body;

type Values = HashMap<LLVMValueRef, Value>;

/// The opcode of branches, and those that LLVM 23 has instead for unconditional and conditional ones.
const BRANCHES: [u32; 3] = [Opcode::LLVMBr as u32, 70, 71];

/// The kind number of `musttail` (`LLVMTailCallKindMustTail`).
const MUST_TAIL: u32 = 2;

/// The keyword of an opcode that the IR does not model.
fn keyword(opcode: u32) -> String {
    let known = [
        (Opcode::LLVMRet, "ret"),
        (Opcode::LLVMBr, "br"),
        (Opcode::LLVMSwitch, "switch"),
        (Opcode::LLVMIndirectBr, "indirectbr"),
        (Opcode::LLVMInvoke, "invoke"),
        (Opcode::LLVMCallBr, "callbr"),
        (Opcode::LLVMResume, "resume"),
        (Opcode::LLVMCleanupRet, "cleanupret"),
        (Opcode::LLVMCatchRet, "catchret"),
        (Opcode::LLVMCatchSwitch, "catchswitch"),
        (Opcode::LLVMCatchPad, "catchpad"),
        (Opcode::LLVMCleanupPad, "cleanuppad"),
        (Opcode::LLVMLandingPad, "landingpad"),
        (Opcode::LLVMCall, "call"),
        (Opcode::LLVMLoad, "load"),
        (Opcode::LLVMStore, "store"),
        (Opcode::LLVMAlloca, "alloca"),
        (Opcode::LLVMFence, "fence"),
        (Opcode::LLVMAtomicCmpXchg, "cmpxchg"),
        (Opcode::LLVMAtomicRMW, "atomicrmw"),
        (Opcode::LLVMVAArg, "va_arg"),
    ];
    let found = known.iter().find(|(one, _)| *one as u32 == opcode);
    found.map_or_else(|| format!("opcode_{opcode}"), |(_, word)| (*word).to_owned())
}

impl Imported {
    /// Makes an instruction that is no terminator, with its result but without operands, and returns it with its
    /// original.
    pub(super) fn declare_inst(
        &mut self,
        function: &mut Function,
        values: &mut Values,
        block: Block,
        original: LLVMValueRef,
    ) -> Option<(Inst, LLVMValueRef)> {
        let f = functions();
        // SAFETY: a live instruction.
        let (opcode, ty) = unsafe {
            if !f.LLVMIsATerminatorInst(original).is_null() {
                return None;
            }
            (f.LLVMGetInstructionOpcode(original), f.LLVMTypeOf(original))
        };
        let ty = self.bridge.import_type(ty, &mut self.ir.types);
        let op = self.op(original, opcode);
        let results: &[Type] = if ty.is_void() { &[] } else { &[ty] };
        let is_phi = op == Op::Phi;
        let inst = function.make_inst(block, op, &[], results);
        if is_phi {
            function.blocks[block].phis.push(inst);
        } else {
            function.blocks[block].insts.push(inst);
        }
        function.insts[inst].flags = flags(original, opcode);
        function.insts[inst].loc = self.location(original).into();
        let origin = self.bridge.new_origin(original);
        function.insts[inst].origin = Some(origin).into();
        if matches!(function.insts[inst].op, Op::Load(_) | Op::Store(_)) {
            let context = self.bridge.module().context();
            self.access_types.note(context, original, origin, &mut self.ir.access_types);
        }
        if let Some(result) = function.insts[inst].result() {
            function.values[result].name = value_name(original).into();
            values.insert(original, result);
        }
        Some((inst, original))
    }

    /// The operation of an instruction that is no terminator.
    fn op(&mut self, inst: LLVMValueRef, opcode: u32) -> Op {
        let f = functions();
        let is = |one: Opcode| one as u32 == opcode;
        if let Some(&(_, op)) = BINARY.iter().find(|&&(one, _)| is(one)) {
            return Op::Binary(op);
        }
        if let Some(&(_, op)) = CASTS.iter().find(|&&(one, _)| is(one)) {
            return Op::Cast(op);
        }
        let modelled = match opcode {
            _ if is(Opcode::LLVMPHI) => Some(Op::Phi),
            _ if is(Opcode::LLVMFNeg) => Some(Op::FNeg),
            _ if is(Opcode::LLVMSelect) => Some(Op::Select),
            _ if is(Opcode::LLVMFreeze) => Some(Op::Freeze),
            _ if is(Opcode::LLVMExtractElement) => Some(Op::ExtractElement),
            _ if is(Opcode::LLVMInsertElement) => Some(Op::InsertElement),
            // SAFETY: a live instruction of the opcode in question, here and below.
            _ if is(Opcode::LLVMICmp) => unsafe { f.LLVMGetICmpPredicate(inst) }
                .checked_sub(FIRST_INT_PREDICATE)
                .and_then(|number| IntPred::ALL.get(number as usize))
                .map(|&predicate| Op::ICmp(predicate)),
            // SAFETY: as above.
            _ if is(Opcode::LLVMFCmp) => FLOAT_PREDICATES
                .get(unsafe { f.LLVMGetFCmpPredicate(inst) } as usize)
                .map(|&predicate| Op::FCmp(predicate)),
            _ if is(Opcode::LLVMGetElementPtr) => {
                // SAFETY: as above.
                let element = unsafe { f.LLVMGetGEPSourceElementType(inst) };
                Some(Op::Gep(self.bridge.import_type(element, &mut self.ir.types)))
            }
            _ if is(Opcode::LLVMLoad) => access(inst).map(Op::Load),
            _ if is(Opcode::LLVMStore) => access(inst).map(Op::Store),
            _ if is(Opcode::LLVMAlloca) => self.alloca(inst),
            // SAFETY: as above.
            _ if is(Opcode::LLVMShuffleVector) => unsafe {
                let mask = (0..f.LLVMGetNumMaskElements(inst)).map(|i| f.LLVMGetMaskValue(inst, i)).collect();
                Some(Op::Shuffle(mask))
            },
            _ if is(Opcode::LLVMExtractValue) => Some(Op::ExtractValue(indices(inst))),
            _ if is(Opcode::LLVMInsertValue) => Some(Op::InsertValue(indices(inst))),
            _ if is(Opcode::LLVMCall) => self.call(inst),
            _ => None,
        };
        modelled.unwrap_or_else(|| Op::Opaque(Box::new(opaque(inst, opcode))))
    }

    fn alloca(&mut self, inst: LLVMValueRef) -> Option<Op> {
        let f = functions();
        // SAFETY: a live `alloca`.
        unsafe {
            if is_passed(inst, "inalloca") || is_passed(inst, "swifterror") {
                return None;
            }
            let ty = self.bridge.import_type(f.LLVMGetAllocatedType(inst), &mut self.ir.types);
            Some(Op::Alloca { ty, align: u64::from(f.LLVMGetAlignment(inst)) })
        }
    }

    /// A call, unless it has to be carried.
    fn call(&mut self, inst: LLVMValueRef) -> Option<Op> {
        let f = functions();
        // SAFETY: a live call.
        unsafe {
            let callee = f.LLVMGetCalledValue(inst);
            if f.LLVMGetNumOperandBundles(inst) != 0
                || f.LLVMGetTailCallKind(inst) == MUST_TAIL
                || !f.LLVMIsAInlineAsm(callee).is_null()
                || passes_copies(inst)
            {
                return None;
            }
            let ty = f.LLVMGetCalledFunctionType(inst);
            let direct = !f.LLVMIsAFunction(callee).is_null() && f.LLVMGlobalGetValueType(callee) == ty;
            let callee = if direct { self.bridge.symbols.get(&callee).copied() } else { None };
            if let Some(lane) = callee.and_then(|symbol| self.lane_operation(symbol)) {
                return Some(Op::Lane(lane));
            }
            let variadic_fixed = (f.LLVMIsFunctionVarArg(ty) != 0).then(|| f.LLVMCountParamTypes(ty));
            Some(Op::Call(Box::new(CallInfo { callee, effects: effects::of_call(inst), variadic_fixed })))
        }
    }

    /// The lane operation that a symbol is, if its declaration has the documented type.
    fn lane_operation(&self, symbol: Symbol) -> Option<LaneOp> {
        let data = &self.ir.symbols[symbol];
        let (lane, elem) = LaneOp::declared(&data.name)?;
        let (wanted, result) = lane.signature(elem);
        let SymbolKind::Function { params, ret, variadic: false } = &data.kind else { return None };
        let origin = self.bridge.original(data.origin?)?;
        let declared = !crate::simplify::has_body(origin);
        (declared && *params == wanted && *ret == result).then_some(lane)
    }

    /// Gives an instruction its operands.
    pub(super) fn fill_operands(
        &mut self,
        function: &mut Function,
        values: &Values,
        inst: Inst,
        original: LLVMValueRef,
    ) {
        let mut operands = value_operands(original);
        let callee_last = |op: &Op| match op {
            Op::Call(call) => Some(call.callee.is_none()),
            Op::Lane(_) => Some(false),
            _ => None,
        };
        match &function.insts[inst].op {
            Op::Phi => return,
            // The cases are part of the operation.
            Op::Switch(_) => operands.truncate(1),
            // The callee is LLVM's last operand too.
            op if callee_last(op) == Some(false) => {
                operands.pop();
            }
            _ => {}
        }
        let args: Vec<Value> =
            operands.into_iter().map(|(_, operand)| self.operand(function, values, operand)).collect();
        function.insts[inst].args = args.into();
    }

    /// Gives the φs of a block an operand on each in-edge.
    pub(super) fn fill_phis(&mut self, function: &mut Function, values: &Values, body: &Body, block: Block) {
        let f = functions();
        let phis = function.blocks[block].phis.clone();
        let preds = function.blocks[block].preds.clone();
        for (position, phi) in phis.into_iter().enumerate() {
            let Some(original) =
                function.insts[phi].origin.expand().and_then(|origin| self.bridge.original(origin))
            else {
                continue;
            };
            let mut incoming = HashMap::new();
            // SAFETY: a live φ; indices are below the number of its operands.
            unsafe {
                for i in 0..f.LLVMCountIncoming(original) {
                    incoming.insert(f.LLVMGetIncomingBlock(original, i), f.LLVMGetIncomingValue(original, i));
                }
            }
            for &edge in &preds {
                let from = function.edges[edge].from;
                if let Some(&value) = body.blocks.get(&from).and_then(|llvm| incoming.get(llvm)) {
                    let value = self.operand(function, values, value);
                    function.set_phi_arg(edge, position, value);
                }
            }
        }
    }

    /// Makes the terminator of a block, with its edges and its result but without operands, and returns it with its
    /// original.
    pub(super) fn declare_terminator(
        &mut self,
        function: &mut Function,
        values: &mut Values,
        blocks: &HashMap<LLVMBasicBlockRef, Block>,
        block: Block,
        original: LLVMValueRef,
    ) -> (Inst, LLVMValueRef) {
        let f = functions();
        // SAFETY: the terminator of a live block; each question is asked of the opcode it is for.
        unsafe {
            let opcode = f.LLVMGetInstructionOpcode(original);
            let is = |one: Opcode| one as u32 == opcode;
            let targets: Vec<Block> = (0..f.LLVMGetNumSuccessors(original))
                .map(|i| blocks[&f.LLVMGetSuccessor(original, i)])
                .collect();
            let op = if is(Opcode::LLVMRet) {
                Op::Ret
            } else if is(Opcode::LLVMUnreachable) {
                Op::Unreachable
            } else if BRANCHES.contains(&opcode) && targets.len() == 1 {
                Op::Br
            } else if BRANCHES.contains(&opcode) && targets.len() == 2 {
                Op::CondBr
            } else if is(Opcode::LLVMSwitch)
                && let Some(cases) = self.switch_cases(original)
            {
                Op::Switch(cases)
            } else {
                Op::OpaqueTerm(Box::new(opaque(original, opcode)))
            };
            let ty = self.bridge.import_type(f.LLVMTypeOf(original), &mut self.ir.types);
            let inst = function.set_terminator(block, op, &[], &targets);
            function.insts[inst].loc = self.location(original).into();
            function.insts[inst].origin = Some(self.bridge.new_origin(original)).into();
            for (&e, weight) in function.insts[inst].edges.iter().zip(branch_weights(
                self.bridge.module().context(),
                original,
                targets.len(),
            )) {
                function.weights[e] = Some(weight);
            }
            if !ty.is_void() {
                let result = add_result(function, inst, ty, &value_name(original));
                values.insert(original, result);
            }
            (inst, original)
        }
    }

    /// The case values of a `switch`, if they fit.
    fn switch_cases(&mut self, original: LLVMValueRef) -> Option<Box<[u128]>> {
        let f = functions();
        // SAFETY: a live `switch`; successor 0 is the default, and each case has a value.
        unsafe {
            (1..f.LLVMGetNumSuccessors(original))
                .map(|i| {
                    let value = match f.LLVMGetSwitchCaseValue {
                        Some(get) => get(original, i),
                        None => f.LLVMGetOperand(original, 2 * i),
                    };
                    self.constant(value).as_int()
                })
                .collect()
        }
    }
}

/// What is known of an instruction that is carried.
fn opaque(inst: LLVMValueRef, opcode: u32) -> OpaqueInfo {
    let f = functions();
    let is_call = [Opcode::LLVMCall, Opcode::LLVMInvoke, Opcode::LLVMCallBr]
        .into_iter()
        .any(|one| one as u32 == opcode);
    let effects = if is_call { effects::of_call(inst) } else { effects::of_opaque(opcode) };
    let mut name = keyword(opcode);
    // SAFETY: a live call.
    if is_call && !unsafe { f.LLVMIsAInlineAsm(f.LLVMGetCalledValue(inst)) }.is_null() {
        name.push_str(" asm");
        if opcode == Opcode::LLVMCall as u32 && is_empty_assembly(inst) {
            name = OpaqueInfo::EMPTY_ASSEMBLY.to_owned();
        }
    }
    // SAFETY: a live call.
    if opcode == Opcode::LLVMCall as u32 && unsafe { f.LLVMGetTailCallKind(inst) } == MUST_TAIL {
        name = OpaqueInfo::MUST_TAIL.to_owned();
    }
    OpaqueInfo { name: name.into(), effects, atomic: atomic(inst, opcode) }
}

/// Whether inline assembly has no instructions. LLVM's older C interfaces have no getter for its text, but print it.
fn is_empty_assembly(call: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: a live call.
    let text = take_message(unsafe { f.LLVMPrintValueToString(f.LLVMGetCalledValue(call)) });
    let assembly = text.split_once(" asm ").and_then(|(_, rest)| rest.split_once('"'));
    assembly.is_some_and(|(_, template)| {
        let template = template.split('"').next().unwrap_or_default();
        template.bytes().all(|c| c.is_ascii_whitespace())
    })
}

/// What an atomic operation does; `None` if it names a synchronisation scope or does something that is not modelled.
fn atomic(inst: LLVMValueRef, opcode: u32) -> Option<Atomic> {
    let f = functions();
    let is = |one: Opcode| one as u32 == opcode;
    let ordering = |number: u32| ORDERINGS.iter().find(|&&(one, _)| one == number).map(|&(_, o)| o);
    let atomic = is(Opcode::LLVMAtomicRMW) || is(Opcode::LLVMAtomicCmpXchg) || is(Opcode::LLVMFence);
    if !atomic || has_scope(inst) {
        return None;
    }
    // SAFETY: a live instruction of the opcode in question.
    unsafe {
        if is(Opcode::LLVMFence) {
            return Some(Atomic::Fence(ordering(f.LLVMGetOrdering(inst))?));
        }
        let access = |number| {
            let is_volatile = f.LLVMGetVolatile(inst) != 0;
            let align = u64::from(f.LLVMGetAlignment(inst));
            Some(MemAccess { is_volatile, ordering: ordering(number)?, ..MemAccess::plain(align) })
        };
        if is(Opcode::LLVMAtomicRMW) {
            let op = *RmwOp::ALL.get(f.LLVMGetAtomicRMWBinOp(inst) as usize)?;
            return Some(Atomic::Rmw { op, access: access(f.LLVMGetOrdering(inst))? });
        }
        let access = access(f.LLVMGetCmpXchgSuccessOrdering(inst))?;
        let failure = ordering(f.LLVMGetCmpXchgFailureOrdering(inst))?;
        Some(Atomic::CompareExchange { access, failure, weak: f.LLVMGetWeak(inst) != 0 })
    }
}

/// How a load or store accesses memory; `None` if it names a synchronisation scope.
fn access(inst: LLVMValueRef) -> Option<MemAccess> {
    let f = functions();
    // SAFETY: a live load or store.
    unsafe {
        let number = f.LLVMGetOrdering(inst);
        let &(_, ordering) = ORDERINGS.iter().find(|&&(one, _)| one == number)?;
        if ordering != AtomicOrdering::NotAtomic && has_scope(inst) {
            return None;
        }
        let is_volatile = f.LLVMGetVolatile(inst) != 0;
        let context = f.LLVMGetTypeContext(f.LLVMTypeOf(inst));
        let is_nontemporal = attached(context, inst, "nontemporal").is_some();
        let align = u64::from(f.LLVMGetAlignment(inst));
        Some(MemAccess { is_volatile, is_nontemporal, ordering, ..MemAccess::plain(align) })
    }
}

/// Whether an atomic access names a synchronisation scope other than the default.
fn has_scope(inst: LLVMValueRef) -> bool {
    /// The number of the default scope, all threads of the system.
    const SYSTEM: u32 = 1;
    let f = functions();
    // SAFETY: a live atomic load or store.
    unsafe {
        match f.LLVMGetAtomicSyncScopeID {
            Some(get) => get(inst) != SYSTEM,
            // Before there was this function, only the text told.
            None => take_message(f.LLVMPrintValueToString(inst)).contains(" syncscope("),
        }
    }
}

/// Whether a call passes copies of memory that it names by their addresses: as a call of the IR, the callee would
/// write to the original.
fn passes_copies(call: LLVMValueRef) -> bool {
    let f = functions();
    let kinds = ["byval", "inalloca", "preallocated"].map(attribute_kind);
    // SAFETY: a live call; attributes of arguments count from 1.
    unsafe {
        (1..=f.LLVMGetNumArgOperands(call))
            .any(|i| kinds.iter().any(|&kind| !f.LLVMGetCallSiteEnumAttribute(call, i, kind).is_null()))
    }
}

/// Whether an allocation is passed to a call in the manner of an attribute: `inalloca` and `swifterror` allocations
/// are, and the C API has no other way to tell them.
fn is_passed(alloca: LLVMValueRef, kind: &str) -> bool {
    let f = functions();
    let kind = attribute_kind(kind);
    users_of(alloca).into_iter().any(|user| {
        // SAFETY: a user of a live value; attributes are asked of calls.
        unsafe {
            let is_call = !f.LLVMIsACallInst(user).is_null() || !f.LLVMIsAInvokeInst(user).is_null();
            let argument = |i: u32| f.LLVMGetOperand(user, i) == alloca;
            let marked = |i: u32| !f.LLVMGetCallSiteEnumAttribute(user, i + 1, kind).is_null();
            is_call && (0..f.LLVMGetNumArgOperands(user)).any(|i| argument(i) && marked(i))
        }
    })
}

/// The index path of `extractvalue` or `insertvalue`.
fn indices(inst: LLVMValueRef) -> Box<[u32]> {
    let f = functions();
    // SAFETY: a live instruction with indices, as many as stated.
    unsafe {
        let count = f.LLVMGetNumIndices(inst) as usize;
        std::slice::from_raw_parts(f.LLVMGetIndices(inst), count).into()
    }
}

/// All flags of an instruction.
fn flags(inst: LLVMValueRef, opcode: u32) -> InstFlags {
    let f = functions();
    let is = |ones: &[Opcode]| ones.iter().any(|&one| one as u32 == opcode);
    let mut flags = InstFlags::empty();
    // SAFETY: a live instruction; each flag is asked of the opcodes that have it.
    unsafe {
        if is(&[Opcode::LLVMAdd, Opcode::LLVMSub, Opcode::LLVMMul, Opcode::LLVMShl, Opcode::LLVMTrunc]) {
            flags.set(InstFlags::NUW, f.LLVMGetNUW(inst) != 0);
            flags.set(InstFlags::NSW, f.LLVMGetNSW(inst) != 0);
        } else if is(&[Opcode::LLVMUDiv, Opcode::LLVMSDiv, Opcode::LLVMLShr, Opcode::LLVMAShr]) {
            flags.set(InstFlags::EXACT, f.LLVMGetExact(inst) != 0);
        } else if is(&[Opcode::LLVMOr]) {
            flags.set(InstFlags::DISJOINT, f.LLVMGetIsDisjoint(inst) != 0);
        } else if is(&[Opcode::LLVMZExt, Opcode::LLVMUIToFP]) {
            flags.set(InstFlags::NNEG, f.LLVMGetNNeg(inst) != 0);
        } else if is(&[Opcode::LLVMICmp]) {
            flags.set(InstFlags::SAMESIGN, f.LLVMGetICmpSameSign.is_some_and(|get| get(inst) != 0));
        } else if is(&[Opcode::LLVMGetElementPtr]) {
            let no_wrap = f.LLVMGEPGetNoWrapFlags(inst);
            flags.set(InstFlags::INBOUNDS, no_wrap & 0b001 != 0);
            flags.set(InstFlags::NUSW, no_wrap & 0b010 != 0 && no_wrap & 0b001 == 0);
            flags.set(InstFlags::NUW, no_wrap & 0b100 != 0);
        }
        if f.LLVMCanValueUseFastMathFlags(inst) != 0 {
            flags |= InstFlags::from_bits_truncate(f.LLVMGetFastMathFlags(inst) << FAST_MATH_SHIFT)
                & InstFlags::FAST;
        }
    }
    flags
}
