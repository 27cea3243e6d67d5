//! The C functions of LLVM that warpline calls, resolved at run time.
//!
//! Building warpline needs no LLVM. The program opens a `libLLVM` when it first needs one (see [`load`](self::load))
//! and looks every function of the table below up by name. Functions that only some of the served versions (19 to 23)
//! have are `Option`s.
//!
//! Types are in [`types`](self::types), with one departure from the headers: wherever the C API passes an enumeration,
//! the table says `u32`. A newer library may return a value that an older header does not list, and a Rust `enum`
//! holding it would be undefined behaviour.

#![expect(non_snake_case, reason = "the table keeps the names of the C API, so that they can be looked up")]

pub(crate) mod load;
pub(crate) mod types;

use std::ffi::{c_char, c_void};

use crate::ffi::types::LLVMDIFlags;
use crate::ffi::types::LLVMErrorRef;
use crate::ffi::types::LLVMPassBuilderOptionsRef;
use crate::ffi::types::LLVMTargetDataRef;
use crate::ffi::types::*;
use crate::ffi::types::{LLVMAttributeIndex, LLVMDiagnosticHandler};
use crate::ffi::types::{
    LLVMOrcCSymbolMapPairs, LLVMOrcDefinitionGeneratorRef, LLVMOrcErrorReporterFunction,
    LLVMOrcExecutionSessionRef, LLVMOrcExecutorAddress, LLVMOrcJITDylibRef, LLVMOrcMaterializationUnitRef,
    LLVMOrcSymbolPredicate, LLVMOrcSymbolStringPoolEntryRef,
};
use crate::ffi::types::{LLVMOrcLLJITBuilderRef, LLVMOrcLLJITRef};
use crate::ffi::types::{LLVMTargetMachineRef, LLVMTargetRef};

/// Declares the table: a struct of function pointers, the code that fills it, and one `unsafe` method per function.
macro_rules! functions {
    (
        required { $( fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)?; )* }
        optional { $( fn $oname:ident($($oarg:ident: $otype:ty),* $(,)?) $(-> $oret:ty)?; )* }
    ) => {
        /// Addresses of the C functions of one loaded library.
        pub(crate) struct Functions {
            $( $name: unsafe extern "C" fn($($type),*) $(-> $ret)?, )*
            $( pub(crate) $oname: Option<unsafe extern "C" fn($($otype),*) $(-> $oret)?>, )*
        }

        #[expect(clippy::too_many_arguments, reason = "the C API decides")]
        impl Functions {
            /// Looks every function up in `library`; the error lists the required ones that are not there.
            fn resolve(library: &libloading::Library) -> Result<Self, Vec<&'static str>> {
                let mut missing = Vec::new();
                $(
                    // SAFETY: the declared type is that of the C header of this function; no destructor of the
                    // library runs.
                    let $name = unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }.map(|symbol| *symbol);
                    if $name.is_err() {
                        missing.push(stringify!($name));
                    }
                )*
                if !missing.is_empty() {
                    return Err(missing);
                }
                Ok(Self {
                    $( $name: match $name { Ok(f) => f, Err(_) => return Err(vec![stringify!($name)]) }, )*
                    // SAFETY: as above; a function that is not there is recorded as absent.
                    $( $oname: unsafe { library.get(concat!(stringify!($oname), "\0").as_bytes()) }.ok().map(|symbol| *symbol), )*
                })
            }

            $(
                /// The C function of this name; its preconditions are those of the C API.
                #[inline]
                pub(crate) unsafe fn $name(&self, $($arg: $type),*) $(-> $ret)? {
                    // SAFETY: passed on to the caller, who keeps the contract of the C function.
                    unsafe { (self.$name)($($arg),*) }
                }
            )*
        }
    };
}

functions! {
required {
    fn LLVMContextCreate() -> LLVMContextRef;
    fn LLVMContextDispose(c: LLVMContextRef);
    fn LLVMContextSetDiagnosticHandler(
        c: LLVMContextRef, handler: LLVMDiagnosticHandler, diagnostic_context: *mut c_void
    );
    fn LLVMGetDiagInfoDescription(di: LLVMDiagnosticInfoRef) -> *mut c_char;
    fn LLVMGetDiagInfoSeverity(di: LLVMDiagnosticInfoRef) -> u32;
    fn LLVMDisposeMessage(message: *mut c_char);
    fn LLVMCreateMemoryBufferWithMemoryRangeCopy(
        input_data: *const c_char, input_data_length: usize, buffer_name: *const c_char
    ) -> LLVMMemoryBufferRef;
    fn LLVMDisposeMemoryBuffer(mem_buf: LLVMMemoryBufferRef);
    fn LLVMGetBufferStart(mem_buf: LLVMMemoryBufferRef) -> *const c_char;
    fn LLVMGetBufferSize(mem_buf: LLVMMemoryBufferRef) -> usize;
    fn LLVMParseIRInContext(
        context_ref: LLVMContextRef, mem_buf: LLVMMemoryBufferRef, out_m: *mut LLVMModuleRef,
        out_message: *mut *mut c_char
    ) -> LLVMBool;
    fn LLVMGetBitcodeModuleInContext2(
        context_ref: LLVMContextRef, mem_buf: LLVMMemoryBufferRef, out_m: *mut LLVMModuleRef
    ) -> LLVMBool;
    fn LLVMModuleCreateWithNameInContext(module_id: *const c_char, c: LLVMContextRef) -> LLVMModuleRef;
    fn LLVMGetSourceFileName(m: LLVMModuleRef, len: *mut usize) -> *const c_char;
    fn LLVMSetSourceFileName(m: LLVMModuleRef, name: *const c_char, len: usize);
    fn LLVMDebugMetadataVersion() -> u32;
    fn LLVMGetModuleDebugMetadataVersion(module: LLVMModuleRef) -> u32;
    fn LLVMVerifyModule(m: LLVMModuleRef, action: u32, out_message: *mut *mut c_char) -> LLVMBool;
    fn LLVMPrintModuleToString(m: LLVMModuleRef) -> *mut c_char;
    fn LLVMWriteBitcodeToMemoryBuffer(m: LLVMModuleRef) -> LLVMMemoryBufferRef;
    fn LLVMStripModuleDebugInfo(m: LLVMModuleRef) -> LLVMBool;
    fn LLVMLinkModules2(dest: LLVMModuleRef, src: LLVMModuleRef) -> LLVMBool;
    fn LLVMCloneModule(m: LLVMModuleRef) -> LLVMModuleRef;
    fn LLVMDisposeModule(m: LLVMModuleRef);
    fn LLVMGetFirstFunction(m: LLVMModuleRef) -> LLVMValueRef;
    fn LLVMGetNextFunction(fn_: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetNamedFunction(m: LLVMModuleRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMAddFunction(m: LLVMModuleRef, name: *const c_char, function_ty: LLVMTypeRef) -> LLVMValueRef;
    fn LLVMIsDeclaration(global: LLVMValueRef) -> LLVMBool;
    fn LLVMGetValueName2(val: LLVMValueRef, length: *mut usize) -> *const c_char;
    fn LLVMSetLinkage(global: LLVMValueRef, linkage: u32);
    fn LLVMSetVisibility(global: LLVMValueRef, visibility: u32);
    fn LLVMGetDLLStorageClass(global: LLVMValueRef) -> u32;
    fn LLVMIsExternallyInitialized(global_var: LLVMValueRef) -> LLVMBool;
    fn LLVMGetComdat(global: LLVMValueRef) -> LLVMComdatRef;
    fn LLVMSetComdat(global: LLVMValueRef, comdat: LLVMComdatRef);
    fn LLVMSetDLLStorageClass(global: LLVMValueRef, class: u32);
    fn LLVMGlobalEraseMetadata(global: LLVMValueRef, kind: u32);
    fn LLVMGetSection(global: LLVMValueRef) -> *const c_char;
    fn LLVMSetSection(global: LLVMValueRef, section: *const c_char);
    fn LLVMGetFunctionCallConv(fn_: LLVMValueRef) -> u32;
    fn LLVMSetFunctionCallConv(fn_: LLVMValueRef, cc: u32);
    fn LLVMSetInstructionCallConv(instr: LLVMValueRef, cc: u32);
    fn LLVMGetFirstUse(val: LLVMValueRef) -> LLVMUseRef;
    fn LLVMGetNextUse(u: LLVMUseRef) -> LLVMUseRef;
    fn LLVMGetUser(u: LLVMUseRef) -> LLVMValueRef;
    fn LLVMGetGlobalParent(global: LLVMValueRef) -> LLVMModuleRef;
    fn LLVMGetIntrinsicID(fn_: LLVMValueRef) -> u32;
    fn LLVMLookupIntrinsicID(name: *const c_char, name_len: usize) -> u32;
    fn LLVMGetIntrinsicDeclaration(
        m: LLVMModuleRef, id: u32, param_types: *mut LLVMTypeRef, param_count: usize
    ) -> LLVMValueRef;
    fn LLVMGlobalGetValueType(global: LLVMValueRef) -> LLVMTypeRef;
    fn LLVMGetTarget(m: LLVMModuleRef) -> *const c_char;
    fn LLVMSetTarget(m: LLVMModuleRef, triple: *const c_char);
    fn LLVMGetDataLayoutStr(m: LLVMModuleRef) -> *const c_char;
    fn LLVMSetModuleDataLayout(m: LLVMModuleRef, r: LLVMTargetDataRef);
    fn LLVMCreateEnumAttribute(c: LLVMContextRef, kind_id: u32, val: u64) -> LLVMAttributeRef;
    fn LLVMCreateStringAttribute(
        c: LLVMContextRef, k: *const c_char, klength: u32, v: *const c_char, vlength: u32
    ) -> LLVMAttributeRef;
    fn LLVMGetEnumAttributeKindForName(name: *const c_char, slen: usize) -> u32;
    fn LLVMAddAttributeAtIndex(f: LLVMValueRef, idx: LLVMAttributeIndex, a: LLVMAttributeRef);
    fn LLVMGetEnumAttributeAtIndex(
        f: LLVMValueRef, idx: LLVMAttributeIndex, kind_id: u32
    ) -> LLVMAttributeRef;
    fn LLVMRemoveEnumAttributeAtIndex(f: LLVMValueRef, index: u32, kind_id: u32);
    fn LLVMRemoveStringAttributeAtIndex(
        f: LLVMValueRef, idx: LLVMAttributeIndex, k: *const c_char, klen: u32
    );
    fn LLVMAddCallSiteAttribute(c: LLVMValueRef, idx: LLVMAttributeIndex, a: LLVMAttributeRef);
    fn LLVMRemoveCallSiteEnumAttribute(c: LLVMValueRef, idx: LLVMAttributeIndex, kind_id: u32);
    fn LLVMIsACallInst(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAInvokeInst(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsACallBrInst(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetCalledValue(instr: LLVMValueRef) -> LLVMValueRef;
    fn LLVMCreatePassBuilderOptions() -> LLVMPassBuilderOptionsRef;
    fn LLVMDisposePassBuilderOptions(options: LLVMPassBuilderOptionsRef);
    fn LLVMPassBuilderOptionsSetSLPVectorization(options: LLVMPassBuilderOptionsRef, on: LLVMBool);
    fn LLVMRunPasses(
        m: LLVMModuleRef, passes: *const c_char, tm: LLVMTargetMachineRef, options:
        LLVMPassBuilderOptionsRef
    ) -> LLVMErrorRef;
    fn LLVMGetErrorMessage(err: LLVMErrorRef) -> *mut c_char;
    fn LLVMDisposeErrorMessage(err_msg: *mut c_char);
    fn LLVMGetDefaultTargetTriple() -> *mut c_char;
    fn LLVMGetHostCPUName() -> *mut c_char;
    fn LLVMGetHostCPUFeatures() -> *mut c_char;
    fn LLVMGetTargetFromTriple(
        triple: *const c_char, t: *mut LLVMTargetRef, error_message: *mut *mut c_char
    ) -> LLVMBool;
    fn LLVMCreateTargetMachine(
        t: LLVMTargetRef, triple: *const c_char, cpu: *const c_char, features: *const c_char,
        level: u32, reloc: u32, code_model: u32
    ) -> LLVMTargetMachineRef;
    fn LLVMDisposeTargetMachine(t: LLVMTargetMachineRef);
    fn LLVMCreateTargetDataLayout(t: LLVMTargetMachineRef) -> LLVMTargetDataRef;
    fn LLVMDisposeTargetData(td: LLVMTargetDataRef);
    fn LLVMTargetMachineEmitToMemoryBuffer(
        t: LLVMTargetMachineRef, m: LLVMModuleRef, codegen: u32, error_message: *mut *mut
        c_char, out_mem_buf: *mut LLVMMemoryBufferRef
    ) -> LLVMBool;
    fn LLVMOrcCreateLLJIT(result: *mut LLVMOrcLLJITRef, builder: LLVMOrcLLJITBuilderRef) -> LLVMErrorRef;
    fn LLVMOrcDisposeLLJIT(j: LLVMOrcLLJITRef) -> LLVMErrorRef;
    fn LLVMOrcLLJITGetMainJITDylib(j: LLVMOrcLLJITRef) -> LLVMOrcJITDylibRef;
    fn LLVMOrcLLJITGetGlobalPrefix(j: LLVMOrcLLJITRef) -> c_char;
    fn LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
        result: *mut LLVMOrcDefinitionGeneratorRef, global_prefix: c_char, filter:
        LLVMOrcSymbolPredicate, filter_ctx: *mut c_void
    ) -> LLVMErrorRef;
    fn LLVMOrcJITDylibAddGenerator(jd: LLVMOrcJITDylibRef, dg: LLVMOrcDefinitionGeneratorRef);
    fn LLVMOrcLLJITAddObjectFile(
        j: LLVMOrcLLJITRef, jd: LLVMOrcJITDylibRef, obj_buffer: LLVMMemoryBufferRef
    ) -> LLVMErrorRef;
    fn LLVMOrcLLJITLookup(
        j: LLVMOrcLLJITRef, result: *mut LLVMOrcExecutorAddress, name: *const c_char
    ) -> LLVMErrorRef;
    fn LLVMOrcLLJITMangleAndIntern(
        j: LLVMOrcLLJITRef, unmangled_name: *const c_char
    ) -> LLVMOrcSymbolStringPoolEntryRef;
    fn LLVMOrcAbsoluteSymbols(
        syms: LLVMOrcCSymbolMapPairs, num_pairs: usize
    ) -> LLVMOrcMaterializationUnitRef;
    fn LLVMOrcJITDylibDefine(jd: LLVMOrcJITDylibRef, mu: LLVMOrcMaterializationUnitRef) -> LLVMErrorRef;
    fn LLVMOrcExecutionSessionSetErrorReporter(
        es: LLVMOrcExecutionSessionRef, report_error: LLVMOrcErrorReporterFunction, ctx: *mut
        c_void
    );
    fn LLVMOrcLLJITGetExecutionSession(j: LLVMOrcLLJITRef) -> LLVMOrcExecutionSessionRef;
    fn LLVMCreateBuilderInContext(c: LLVMContextRef) -> LLVMBuilderRef;
    fn LLVMDisposeBuilder(builder: LLVMBuilderRef);
    fn LLVMPositionBuilderAtEnd(builder: LLVMBuilderRef, block: LLVMBasicBlockRef);
    fn LLVMAppendBasicBlockInContext(
        c: LLVMContextRef, fn_: LLVMValueRef, name: *const c_char
    ) -> LLVMBasicBlockRef;
    fn LLVMBuildRet(arg1: LLVMBuilderRef, v: LLVMValueRef) -> LLVMValueRef;
    fn LLVMBuildUnreachable(b: LLVMBuilderRef) -> LLVMValueRef;
    fn LLVMBuildCall2(
        arg1: LLVMBuilderRef, arg2: LLVMTypeRef, fn_: LLVMValueRef, args: *mut LLVMValueRef,
        num_args: u32, name: *const c_char
    ) -> LLVMValueRef;
    fn LLVMGetBasicBlockParent(bb: LLVMBasicBlockRef) -> LLVMValueRef;
    fn LLVMGetInstructionParent(inst: LLVMValueRef) -> LLVMBasicBlockRef;
    fn LLVMBuildTrunc(b: LLVMBuilderRef, val: LLVMValueRef, dest_ty: LLVMTypeRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildZExt(
        arg1: LLVMBuilderRef, val: LLVMValueRef, dest_ty: LLVMTypeRef, name: *const c_char
    ) -> LLVMValueRef;
    fn LLVMBuildGlobalStringPtr(b: LLVMBuilderRef, str: *const c_char, name: *const c_char) -> LLVMValueRef;
    fn LLVMGetParam(fn_: LLVMValueRef, index: u32) -> LLVMValueRef;
    fn LLVMCountParams(fn_: LLVMValueRef) -> u32;
    fn LLVMGetReturnType(function_ty: LLVMTypeRef) -> LLVMTypeRef;
    fn LLVMPointerTypeInContext(c: LLVMContextRef, address_space: u32) -> LLVMTypeRef;
    fn LLVMVoidTypeInContext(c: LLVMContextRef) -> LLVMTypeRef;
    fn LLVMFunctionType(
        return_type: LLVMTypeRef, param_types: *mut LLVMTypeRef, param_count: u32, is_var_arg:
        LLVMBool
    ) -> LLVMTypeRef;
    fn LLVMConstInt(int_ty: LLVMTypeRef, n: u64, sign_extend: LLVMBool) -> LLVMValueRef;
    fn LLVMTypeOf(val: LLVMValueRef) -> LLVMTypeRef;
    fn LLVMGetTypeKind(ty: LLVMTypeRef) -> u32;
    fn LLVMGetIntTypeWidth(integer_ty: LLVMTypeRef) -> u32;
    fn LLVMArrayType2(element_type: LLVMTypeRef, element_count: u64) -> LLVMTypeRef;
    fn LLVMBFloatTypeInContext(c: LLVMContextRef) -> LLVMTypeRef;
    fn LLVMCanValueUseFastMathFlags(inst: LLVMValueRef) -> LLVMBool;
    fn LLVMConstBitCast(constant_val: LLVMValueRef, to_type: LLVMTypeRef) -> LLVMValueRef;
    fn LLVMConstIntGetSExtValue(constant_val: LLVMValueRef) -> i64;
    fn LLVMConstIntGetZExtValue(constant_val: LLVMValueRef) -> u64;
    fn LLVMCountIncoming(phi_node: LLVMValueRef) -> u32;
    fn LLVMCountParamTypes(function_ty: LLVMTypeRef) -> u32;
    fn LLVMCountStructElementTypes(struct_ty: LLVMTypeRef) -> u32;
    fn LLVMDIFileGetFilename(file: LLVMMetadataRef, len: *mut u32) -> *const c_char;
    fn LLVMDILocationGetColumn(location: LLVMMetadataRef) -> u32;
    fn LLVMDILocationGetInlinedAt(location: LLVMMetadataRef) -> LLVMMetadataRef;
    fn LLVMDILocationGetLine(location: LLVMMetadataRef) -> u32;
    fn LLVMDILocationGetScope(location: LLVMMetadataRef) -> LLVMMetadataRef;
    fn LLVMDIScopeGetFile(scope: LLVMMetadataRef) -> LLVMMetadataRef;
    fn LLVMDISubprogramGetLine(subprogram: LLVMMetadataRef) -> u32;
    fn LLVMDoubleTypeInContext(c: LLVMContextRef) -> LLVMTypeRef;
    fn LLVMFP128TypeInContext(c: LLVMContextRef) -> LLVMTypeRef;
    fn LLVMFloatTypeInContext(c: LLVMContextRef) -> LLVMTypeRef;
    fn LLVMGEPGetNoWrapFlags(gep: LLVMValueRef) -> u32;
    fn LLVMGetAggregateElement(c: LLVMValueRef, idx: u32) -> LLVMValueRef;
    fn LLVMGetAlignment(v: LLVMValueRef) -> u32;
    fn LLVMIsConstantString(c: LLVMValueRef) -> LLVMBool;
    fn LLVMGetAsString(c: LLVMValueRef, length: *mut usize) -> *const c_char;
    fn LLVMGetAllocatedType(alloca: LLVMValueRef) -> LLVMTypeRef;
    fn LLVMGetModuleDataLayout(m: LLVMModuleRef) -> LLVMTargetDataRef;
    fn LLVMABISizeOfType(td: LLVMTargetDataRef, ty: LLVMTypeRef) -> u64;
    fn LLVMStoreSizeOfType(td: LLVMTargetDataRef, ty: LLVMTypeRef) -> u64;
    fn LLVMElementAtOffset(td: LLVMTargetDataRef, struct_ty: LLVMTypeRef, offset: u64) -> u32;
    fn LLVMOffsetOfElement(td: LLVMTargetDataRef, struct_ty: LLVMTypeRef, element: u32) -> u64;
    fn LLVMSetInstrParamAlignment(instr: LLVMValueRef, idx: LLVMAttributeIndex, align: u32);
    fn LLVMGetArrayLength2(array_ty: LLVMTypeRef) -> u64;
    fn LLVMGetBasicBlockName(bb: LLVMBasicBlockRef) -> *const c_char;
    fn LLVMGetBasicBlockTerminator(bb: LLVMBasicBlockRef) -> LLVMValueRef;
    fn LLVMIsAMDNode(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetCallSiteEnumAttribute(
        c: LLVMValueRef, idx: LLVMAttributeIndex, kind_id: u32
    ) -> LLVMAttributeRef;
    fn LLVMGetCalledFunctionType(c: LLVMValueRef) -> LLVMTypeRef;
    fn LLVMGetConstOpcode(constant_val: LLVMValueRef) -> u32;
    fn LLVMGetElementType(ty: LLVMTypeRef) -> LLVMTypeRef;
    fn LLVMGetEnumAttributeValue(a: LLVMAttributeRef) -> u64;
    fn LLVMGetTypeAttributeValue(a: LLVMAttributeRef) -> LLVMTypeRef;
    fn LLVMGetExact(div_or_shr_inst: LLVMValueRef) -> LLVMBool;
    fn LLVMGetFCmpPredicate(inst: LLVMValueRef) -> u32;
    fn LLVMGetFastMathFlags(fpmath_inst: LLVMValueRef) -> u32;
    fn LLVMGetFirstBasicBlock(fn_: LLVMValueRef) -> LLVMBasicBlockRef;
    fn LLVMGetFirstGlobal(m: LLVMModuleRef) -> LLVMValueRef;
    fn LLVMGetFirstGlobalAlias(m: LLVMModuleRef) -> LLVMValueRef;
    fn LLVMGetFirstGlobalIFunc(m: LLVMModuleRef) -> LLVMValueRef;
    fn LLVMGetFirstInstruction(bb: LLVMBasicBlockRef) -> LLVMValueRef;
    fn LLVMGetGEPSourceElementType(gep: LLVMValueRef) -> LLVMTypeRef;
    fn LLVMGetICmpPredicate(inst: LLVMValueRef) -> u32;
    fn LLVMGetIncomingBlock(phi_node: LLVMValueRef, index: u32) -> LLVMBasicBlockRef;
    fn LLVMGetIncomingValue(phi_node: LLVMValueRef, index: u32) -> LLVMValueRef;
    fn LLVMGetIndices(inst: LLVMValueRef) -> *const u32;
    fn LLVMGetInitializer(global_var: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetInlineAsm(
        ty: LLVMTypeRef, asm_string: *const c_char, asm_string_size: usize, constraints: *const c_char,
        constraints_size: usize, has_side_effects: LLVMBool, is_align_stack: LLVMBool, dialect: u32,
        can_throw: LLVMBool
    ) -> LLVMValueRef;
    fn LLVMGetInlineAsmHasSideEffects(inline_asm_val: LLVMValueRef) -> LLVMBool;
    fn LLVMGetInstructionOpcode(inst: LLVMValueRef) -> u32;
    fn LLVMGetIsDisjoint(inst: LLVMValueRef) -> LLVMBool;
    fn LLVMGetMaskValue(shuffle_vector_inst: LLVMValueRef, elt: u32) -> i32;
    fn LLVMGetNNeg(non_neg_inst: LLVMValueRef) -> LLVMBool;
    fn LLVMGetNSW(arith_inst: LLVMValueRef) -> LLVMBool;
    fn LLVMGetNUW(arith_inst: LLVMValueRef) -> LLVMBool;
    fn LLVMGetNextBasicBlock(bb: LLVMBasicBlockRef) -> LLVMBasicBlockRef;
    fn LLVMGetNextGlobal(global_var: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetNextGlobalAlias(ga: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetNextGlobalIFunc(ifunc: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetNextInstruction(inst: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetNumIndices(inst: LLVMValueRef) -> u32;
    fn LLVMGetNumMaskElements(shuffle_vector_inst: LLVMValueRef) -> u32;
    fn LLVMGetNumOperandBundles(c: LLVMValueRef) -> u32;
    fn LLVMGetNumOperands(val: LLVMValueRef) -> i32;
    fn LLVMGetNumSuccessors(term: LLVMValueRef) -> u32;
    fn LLVMGetOperand(val: LLVMValueRef, index: u32) -> LLVMValueRef;
    fn LLVMGetOrdering(memory_access_inst: LLVMValueRef) -> u32;
    fn LLVMGetAtomicRMWBinOp(atomic_rmw_inst: LLVMValueRef) -> u32;
    fn LLVMGetCmpXchgSuccessOrdering(cmp_xchg_inst: LLVMValueRef) -> u32;
    fn LLVMGetCmpXchgFailureOrdering(cmp_xchg_inst: LLVMValueRef) -> u32;
    fn LLVMGetWeak(cmp_xchg_inst: LLVMValueRef) -> LLVMBool;
    fn LLVMSetWeak(cmp_xchg_inst: LLVMValueRef, is_weak: LLVMBool);
    fn LLVMBuildAtomicRMW(
        b: LLVMBuilderRef, op: u32, ptr: LLVMValueRef, val: LLVMValueRef, ordering: u32, single_thread: LLVMBool
    ) -> LLVMValueRef;
    fn LLVMBuildAtomicCmpXchg(
        b: LLVMBuilderRef, ptr: LLVMValueRef, cmp: LLVMValueRef, new: LLVMValueRef, success_ordering: u32,
        failure_ordering: u32, single_thread: LLVMBool
    ) -> LLVMValueRef;
    fn LLVMBuildFence(
        b: LLVMBuilderRef, ordering: u32, single_thread: LLVMBool, name: *const c_char
    ) -> LLVMValueRef;
    fn LLVMGetParamTypes(function_ty: LLVMTypeRef, dest: *mut LLVMTypeRef);
    fn LLVMGetPointerAddressSpace(pointer_ty: LLVMTypeRef) -> u32;
    fn LLVMGetStructName(ty: LLVMTypeRef) -> *const c_char;
    fn LLVMGetSubprogram(func: LLVMValueRef) -> LLVMMetadataRef;
    fn LLVMGetSuccessor(term: LLVMValueRef, i: u32) -> LLVMBasicBlockRef;
    fn LLVMGetTailCallKind(call_inst: LLVMValueRef) -> u32;
    fn LLVMGetTypeByName2(c: LLVMContextRef, name: *const c_char) -> LLVMTypeRef;
    fn LLVMGetVectorSize(vector_ty: LLVMTypeRef) -> u32;
    fn LLVMGetVolatile(inst: LLVMValueRef) -> LLVMBool;
    fn LLVMHalfTypeInContext(c: LLVMContextRef) -> LLVMTypeRef;
    fn LLVMInstructionGetDebugLoc(inst: LLVMValueRef) -> LLVMMetadataRef;
    fn LLVMIntTypeInContext(c: LLVMContextRef, num_bits: u32) -> LLVMTypeRef;
    fn LLVMIsAConstantAggregateZero(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAConstantDataSequential(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAConstantExpr(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAConstantFP(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAConstantInt(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAConstantPointerNull(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAFunction(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAGlobalVariable(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAInlineAsm(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsATerminatorInst(inst: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsConstant(val: LLVMValueRef) -> LLVMBool;
    fn LLVMIsFunctionVarArg(function_ty: LLVMTypeRef) -> LLVMBool;
    fn LLVMIsGlobalConstant(global_var: LLVMValueRef) -> LLVMBool;
    fn LLVMIsNull(val: LLVMValueRef) -> LLVMBool;
    fn LLVMIsOpaqueStruct(struct_ty: LLVMTypeRef) -> LLVMBool;
    fn LLVMIsPackedStruct(struct_ty: LLVMTypeRef) -> LLVMBool;
    fn LLVMIsPoison(val: LLVMValueRef) -> LLVMBool;
    fn LLVMIsUndef(val: LLVMValueRef) -> LLVMBool;
    fn LLVMPPCFP128TypeInContext(c: LLVMContextRef) -> LLVMTypeRef;
    fn LLVMPrintTypeToString(val: LLVMTypeRef) -> *mut c_char;
    fn LLVMPrintValueToString(val: LLVMValueRef) -> *mut c_char;
    fn LLVMScalableVectorType(element_type: LLVMTypeRef, element_count: u32) -> LLVMTypeRef;
    fn LLVMStructCreateNamed(c: LLVMContextRef, name: *const c_char) -> LLVMTypeRef;
    fn LLVMStructGetTypeAtIndex(struct_ty: LLVMTypeRef, i: u32) -> LLVMTypeRef;
    fn LLVMStructSetBody(
        struct_ty: LLVMTypeRef, element_types: *mut LLVMTypeRef, element_count: u32, packed:
        LLVMBool
    );
    fn LLVMStructTypeInContext(
        c: LLVMContextRef, element_types: *mut LLVMTypeRef, element_count: u32, packed:
        LLVMBool
    ) -> LLVMTypeRef;
    fn LLVMValueIsBasicBlock(val: LLVMValueRef) -> LLVMBool;
    fn LLVMVectorType(element_type: LLVMTypeRef, element_count: u32) -> LLVMTypeRef;
    fn LLVMX86FP80TypeInContext(c: LLVMContextRef) -> LLVMTypeRef;
    fn LLVMAddCase(switch: LLVMValueRef, on_val: LLVMValueRef, dest: LLVMBasicBlockRef);
    fn LLVMAddIncoming(
        phi_node: LLVMValueRef, incoming_values: *mut LLVMValueRef, incoming_blocks: *mut
        LLVMBasicBlockRef, count: u32
    );
    fn LLVMBasicBlockAsValue(bb: LLVMBasicBlockRef) -> LLVMValueRef;
    fn LLVMBuildArrayAlloca(
        arg1: LLVMBuilderRef, ty: LLVMTypeRef, val: LLVMValueRef, name: *const c_char
    ) -> LLVMValueRef;
    fn LLVMBuildBinOp(
        b: LLVMBuilderRef, op: u32, lhs: LLVMValueRef, rhs: LLVMValueRef, name: *const c_char
    ) -> LLVMValueRef;
    fn LLVMBuildBr(arg1: LLVMBuilderRef, dest: LLVMBasicBlockRef) -> LLVMValueRef;
    fn LLVMBuildCast(
        b: LLVMBuilderRef, op: u32, val: LLVMValueRef, dest_ty: LLVMTypeRef, name: *const
        c_char
    ) -> LLVMValueRef;
    fn LLVMBuildCondBr(
        arg1: LLVMBuilderRef, if_: LLVMValueRef, then: LLVMBasicBlockRef, otherwise:
        LLVMBasicBlockRef
    ) -> LLVMValueRef;
    fn LLVMBuildExtractElement(
        arg1: LLVMBuilderRef, vec_val: LLVMValueRef, index: LLVMValueRef, name: *const c_char
    ) -> LLVMValueRef;
    fn LLVMBuildExtractValue(
        arg1: LLVMBuilderRef, agg_val: LLVMValueRef, index: u32, name: *const c_char
    ) -> LLVMValueRef;
    fn LLVMBuildFCmp(
        arg1: LLVMBuilderRef, op: u32, lhs: LLVMValueRef, rhs: LLVMValueRef, name: *const
        c_char
    ) -> LLVMValueRef;
    fn LLVMBuildFNeg(arg1: LLVMBuilderRef, v: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildFreeze(arg1: LLVMBuilderRef, val: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildGEPWithNoWrapFlags(
        b: LLVMBuilderRef, ty: LLVMTypeRef, pointer: LLVMValueRef, indices: *mut LLVMValueRef,
        num_indices: u32, name: *const c_char, no_wrap_flags: u32
    ) -> LLVMValueRef;
    fn LLVMBuildICmp(
        arg1: LLVMBuilderRef, op: u32, lhs: LLVMValueRef, rhs: LLVMValueRef, name: *const
        c_char
    ) -> LLVMValueRef;
    fn LLVMBuildInsertElement(
        arg1: LLVMBuilderRef, vec_val: LLVMValueRef, elt_val: LLVMValueRef, index:
        LLVMValueRef, name: *const c_char
    ) -> LLVMValueRef;
    fn LLVMBuildInsertValue(
        arg1: LLVMBuilderRef, agg_val: LLVMValueRef, elt_val: LLVMValueRef, index: u32, name:
        *const c_char
    ) -> LLVMValueRef;
    fn LLVMBuildLoad2(
        arg1: LLVMBuilderRef, ty: LLVMTypeRef, pointer_val: LLVMValueRef, name: *const c_char
    ) -> LLVMValueRef;
    fn LLVMBuildPhi(arg1: LLVMBuilderRef, ty: LLVMTypeRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildRetVoid(arg1: LLVMBuilderRef) -> LLVMValueRef;
    fn LLVMBuildSelect(
        arg1: LLVMBuilderRef, if_: LLVMValueRef, then: LLVMValueRef, else_: LLVMValueRef, name:
        *const c_char
    ) -> LLVMValueRef;
    fn LLVMBuildShuffleVector(
        arg1: LLVMBuilderRef, v1: LLVMValueRef, v2: LLVMValueRef, mask: LLVMValueRef, name:
        *const c_char
    ) -> LLVMValueRef;
    fn LLVMBuildStore(arg1: LLVMBuilderRef, val: LLVMValueRef, ptr: LLVMValueRef) -> LLVMValueRef;
    fn LLVMBuildSwitch(
        arg1: LLVMBuilderRef, v: LLVMValueRef, else_: LLVMBasicBlockRef, num_cases: u32
    ) -> LLVMValueRef;
    fn LLVMConstAllOnes(ty: LLVMTypeRef) -> LLVMValueRef;
    fn LLVMConstArray2(
        element_ty: LLVMTypeRef, constant_vals: *mut LLVMValueRef, length: u64
    ) -> LLVMValueRef;
    fn LLVMConstGEP2(
        ty: LLVMTypeRef, constant_val: LLVMValueRef, constant_indices: *mut LLVMValueRef,
        num_indices: u32
    ) -> LLVMValueRef;
    fn LLVMConstIntOfArbitraryPrecision(
        int_ty: LLVMTypeRef, num_words: u32, words: *const u64
    ) -> LLVMValueRef;
    fn LLVMConstNamedStruct(
        struct_ty: LLVMTypeRef, constant_vals: *mut LLVMValueRef, count: u32
    ) -> LLVMValueRef;
    fn LLVMConstNull(ty: LLVMTypeRef) -> LLVMValueRef;
    fn LLVMConstStructInContext(
        c: LLVMContextRef, constant_vals: *mut LLVMValueRef, count: u32, packed: LLVMBool
    ) -> LLVMValueRef;
    fn LLVMConstVector(scalar_constant_vals: *mut LLVMValueRef, size: u32) -> LLVMValueRef;
    fn LLVMDeleteBasicBlock(bb: LLVMBasicBlockRef);
    fn LLVMDeleteFunction(fn_: LLVMValueRef);
    fn LLVMDeleteGlobal(global_var: LLVMValueRef);
    fn LLVMSetModuleInlineAsm2(m: LLVMModuleRef, asm: *const c_char, len: usize);
    fn LLVMAliasGetAliasee(alias: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAGlobalAlias(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMSetGlobalConstant(global_var: LLVMValueRef, is_constant: LLVMBool);
    fn LLVMMDStringInContext2(c: LLVMContextRef, text: *const c_char, length: usize) -> LLVMMetadataRef;
    fn LLVMMDNodeInContext2(c: LLVMContextRef, mds: *mut LLVMMetadataRef, count: usize) -> LLVMMetadataRef;
    fn LLVMGetTypeContext(ty: LLVMTypeRef) -> LLVMContextRef;
    fn LLVMReplaceMDNodeOperandWith(v: LLVMValueRef, index: u32, replacement: LLVMMetadataRef);
    fn LLVMDisposeValueMetadataEntries(entries: *mut LLVMValueMetadataEntry);
    fn LLVMGetAttributeCountAtIndex(f: LLVMValueRef, idx: LLVMAttributeIndex) -> u32;
    fn LLVMGetAttributesAtIndex(f: LLVMValueRef, idx: LLVMAttributeIndex, attrs: *mut LLVMAttributeRef);
    fn LLVMGetEnumAttributeKind(a: LLVMAttributeRef) -> u32;
    fn LLVMGetGC(fn_: LLVMValueRef) -> *const c_char;
    fn LLVMGetMDKindIDInContext(c: LLVMContextRef, name: *const c_char, slen: u32) -> u32;
    fn LLVMGetNamedGlobal(m: LLVMModuleRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMGetPersonalityFn(fn_: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetPoison(ty: LLVMTypeRef) -> LLVMValueRef;
    fn LLVMGetUndef(ty: LLVMTypeRef) -> LLVMValueRef;
    fn LLVMGlobalClearMetadata(global: LLVMValueRef);
    fn LLVMHasPersonalityFn(fn_: LLVMValueRef) -> LLVMBool;
    fn LLVMInsertIntoBuilder(builder: LLVMBuilderRef, instr: LLVMValueRef);
    fn LLVMInstructionClone(inst: LLVMValueRef) -> LLVMValueRef;
    fn LLVMInstructionEraseFromParent(inst: LLVMValueRef);
    fn LLVMInstructionGetAllMetadataOtherThanDebugLoc(
        instr: LLVMValueRef, num_entries: *mut usize
    ) -> *mut LLVMValueMetadataEntry;
    fn LLVMInstructionSetDebugLoc(inst: LLVMValueRef, loc: LLVMMetadataRef);
    fn LLVMIsAInstruction(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAPHINode(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsStringAttribute(a: LLVMAttributeRef) -> LLVMBool;
    fn LLVMValueAsMetadata(val: LLVMValueRef) -> LLVMMetadataRef;
    fn LLVMMetadataAsValue(c: LLVMContextRef, md: LLVMMetadataRef) -> LLVMValueRef;
    fn LLVMMoveBasicBlockBefore(bb: LLVMBasicBlockRef, move_pos: LLVMBasicBlockRef);
    fn LLVMPositionBuilderBefore(builder: LLVMBuilderRef, instr: LLVMValueRef);
    fn LLVMReplaceAllUsesWith(old_val: LLVMValueRef, new_val: LLVMValueRef);
    fn LLVMSetAlignment(v: LLVMValueRef, bytes: u32);
    fn LLVMSetCondition(branch: LLVMValueRef, cond: LLVMValueRef);
    fn LLVMSetExact(div_or_shr_inst: LLVMValueRef, is_exact: LLVMBool);
    fn LLVMSetFastMathFlags(fpmath_inst: LLVMValueRef, fmf: u32);
    fn LLVMSetGC(fn_: LLVMValueRef, name: *const c_char);
    fn LLVMSetIsDisjoint(inst: LLVMValueRef, is_disjoint: LLVMBool);
    fn LLVMSetMetadata(val: LLVMValueRef, kind_id: u32, node: LLVMValueRef);
    fn LLVMSetNNeg(non_neg_inst: LLVMValueRef, is_non_neg: LLVMBool);
    fn LLVMSetNSW(arith_inst: LLVMValueRef, has_nsw: LLVMBool);
    fn LLVMSetNUW(arith_inst: LLVMValueRef, has_nuw: LLVMBool);
    fn LLVMSetOperand(user: LLVMValueRef, index: u32, val: LLVMValueRef);
    fn LLVMSetOrdering(memory_access_inst: LLVMValueRef, ordering: u32);
    fn LLVMSetPersonalityFn(fn_: LLVMValueRef, personality_fn: LLVMValueRef);
    fn LLVMSetSuccessor(term: LLVMValueRef, i: u32, block: LLVMBasicBlockRef);
    fn LLVMSetValueName2(val: LLVMValueRef, name: *const c_char, name_len: usize);
    fn LLVMSetVolatile(memory_access_inst: LLVMValueRef, is_volatile: LLVMBool);
    fn LLVMValueMetadataEntriesGetKind(entries: *mut LLVMValueMetadataEntry, index: u32) -> u32;
    fn LLVMValueMetadataEntriesGetMetadata(
        entries: *mut LLVMValueMetadataEntry, index: u32
    ) -> LLVMMetadataRef;
    fn LLVMVerifyFunction(fn_: LLVMValueRef, action: u32) -> LLVMBool;
    fn LLVMGetNumArgOperands(instr: LLVMValueRef) -> u32;
    fn LLVMCreateDIBuilderDisallowUnresolved(m: LLVMModuleRef) -> LLVMDIBuilderRef;
    fn LLVMDIBuilderCreateDebugLocation(
        ctx: LLVMContextRef, line: u32, column: u32, scope: LLVMMetadataRef, inlined_at:
        LLVMMetadataRef
    ) -> LLVMMetadataRef;
    fn LLVMDIBuilderCreateFunction(
        builder: LLVMDIBuilderRef, scope: LLVMMetadataRef, name: *const c_char, name_len:
        usize, linkage_name: *const c_char, linkage_name_len: usize, file: LLVMMetadataRef,
        line_no: u32, ty: LLVMMetadataRef, is_local_to_unit: LLVMBool, is_definition: LLVMBool,
        scope_line: u32, flags: LLVMDIFlags, is_optimized: LLVMBool
    ) -> LLVMMetadataRef;
    fn LLVMDIBuilderCreateSubroutineType(
        builder: LLVMDIBuilderRef, file: LLVMMetadataRef, parameter_types: *mut
        LLVMMetadataRef, num_parameter_types: u32, flags: LLVMDIFlags
    ) -> LLVMMetadataRef;
    fn LLVMDIBuilderFinalizeSubprogram(builder: LLVMDIBuilderRef, subprogram: LLVMMetadataRef);
    fn LLVMDisposeDIBuilder(builder: LLVMDIBuilderRef);
    fn LLVMSetSubprogram(func: LLVMValueRef, sp: LLVMMetadataRef);
    fn LLVMGetStringAttributeAtIndex(
        f: LLVMValueRef, idx: LLVMAttributeIndex, k: *const c_char, klen: u32
    ) -> LLVMAttributeRef;
    fn LLVMGetStringAttributeValue(a: LLVMAttributeRef, length: *mut u32) -> *const c_char;
    fn LLVMGetStringAttributeKind(a: LLVMAttributeRef, length: *mut u32) -> *const c_char;
    fn LLVMGetInlineAsmConstraintString(inline_asm_val: LLVMValueRef, len: *mut usize) -> *const c_char;
    fn LLVMGlobalCopyAllMetadata(
        value: LLVMValueRef, num_entries: *mut usize
    ) -> *mut LLVMValueMetadataEntry;
    fn LLVMGetLinkage(global: LLVMValueRef) -> u32;
    fn LLVMGetMetadata(val: LLVMValueRef, kind_id: u32) -> LLVMValueRef;
    fn LLVMGetMetadataKind(md: LLVMMetadataRef) -> u32;
    fn LLVMGetMDNodeNumOperands(v: LLVMValueRef) -> u32;
    fn LLVMGetMDNodeOperands(v: LLVMValueRef, dest: *mut LLVMValueRef);
    fn LLVMGetMDString(v: LLVMValueRef, length: *mut u32) -> *const c_char;
    fn LLVMGetUnwindDest(invoke_inst: LLVMValueRef) -> LLVMBasicBlockRef;
    fn LLVMGetNamedMetadataNumOperands(m: LLVMModuleRef, name: *const c_char) -> u32;
    fn LLVMGetNamedMetadataOperands(m: LLVMModuleRef, name: *const c_char, dest: *mut LLVMValueRef);
    fn LLVMGetOperandBundleAtIndex(c: LLVMValueRef, index: u32) -> LLVMOperandBundleRef;
    fn LLVMGetOperandBundleTag(bundle: LLVMOperandBundleRef, len: *mut usize) -> *const c_char;
    fn LLVMDisposeOperandBundle(bundle: LLVMOperandBundleRef);
}
optional {
    fn LLVMGetAtomicSyncScopeID(inst: LLVMValueRef) -> u32;
    fn LLVMGetSwitchCaseValue(switch: LLVMValueRef, index: u32) -> LLVMValueRef;
    fn LLVMGetICmpSameSign(inst: LLVMValueRef) -> LLVMBool;
    fn LLVMSetICmpSameSign(inst: LLVMValueRef, same_sign: LLVMBool);
    fn LLVMRunPassesOnFunction(
        function: LLVMValueRef,
        passes: *const c_char,
        machine: LLVMTargetMachineRef,
        options: LLVMPassBuilderOptionsRef,
    ) -> LLVMErrorRef;
}
}
