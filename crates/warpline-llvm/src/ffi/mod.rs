//! The C functions of LLVM that warpline calls, resolved at run time.
//!
//! Building warpline needs no LLVM. The program opens a `libLLVM` when it first needs one (see [`load`](self::load)) and looks
//! every function of the table below up by name. Functions that only some of the served versions (19 to 23) have are `Option`s.
//!
//! Types come from `llvm-sys`, with one departure: wherever the C API passes an enumeration, the table says `u32`. A newer
//! library may return a value that an older header does not list, and a Rust `enum` holding it would be undefined behaviour.

#![expect(non_snake_case, reason = "the table keeps the names of the C API, so that they can be looked up")]

pub(crate) mod load;

use std::ffi::{c_char, c_void};

use llvm_sys::error::LLVMErrorRef;
use llvm_sys::orc2::lljit::{LLVMOrcLLJITBuilderRef, LLVMOrcLLJITRef};
use llvm_sys::orc2::{
    LLVMOrcCSymbolMapPairs, LLVMOrcDefinitionGeneratorRef, LLVMOrcErrorReporterFunction,
    LLVMOrcExecutionSessionRef, LLVMOrcExecutorAddress, LLVMOrcJITDylibRef, LLVMOrcMaterializationUnitRef,
    LLVMOrcSymbolPredicate, LLVMOrcSymbolStringPoolEntryRef,
};
use llvm_sys::prelude::*;
use llvm_sys::target::LLVMTargetDataRef;
use llvm_sys::target_machine::{LLVMTargetMachineRef, LLVMTargetRef};
use llvm_sys::transforms::pass_builder::LLVMPassBuilderOptionsRef;
use llvm_sys::{LLVMAttributeIndex, LLVMDiagnosticHandler};

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
                    // SAFETY: the declared type is that of the C header of this function; no destructor of the library runs.
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
    fn LLVMVerifyModule(m: LLVMModuleRef, action: u32, out_message: *mut *mut c_char) -> LLVMBool;
    fn LLVMPrintModuleToString(m: LLVMModuleRef) -> *mut c_char;
    fn LLVMWriteBitcodeToMemoryBuffer(m: LLVMModuleRef) -> LLVMMemoryBufferRef;
    fn LLVMCloneModule(m: LLVMModuleRef) -> LLVMModuleRef;
    fn LLVMDisposeModule(m: LLVMModuleRef);
    fn LLVMGetFirstFunction(m: LLVMModuleRef) -> LLVMValueRef;
    fn LLVMGetNextFunction(fn_: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetNamedFunction(m: LLVMModuleRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMAddFunction(m: LLVMModuleRef, name: *const c_char, function_ty: LLVMTypeRef) -> LLVMValueRef;
    fn LLVMIsDeclaration(global: LLVMValueRef) -> LLVMBool;
    fn LLVMGetValueName2(val: LLVMValueRef, length: *mut usize) -> *const c_char;
    fn LLVMSetLinkage(global: LLVMValueRef, linkage: u32);
    fn LLVMGetFunctionCallConv(fn_: LLVMValueRef) -> u32;
    fn LLVMSetFunctionCallConv(fn_: LLVMValueRef, cc: u32);
    fn LLVMSetInstructionCallConv(instr: LLVMValueRef, cc: u32);
    fn LLVMGetFirstUse(val: LLVMValueRef) -> LLVMUseRef;
    fn LLVMGetNextUse(u: LLVMUseRef) -> LLVMUseRef;
    fn LLVMGetUser(u: LLVMUseRef) -> LLVMValueRef;
    fn LLVMGetIntrinsicID(fn_: LLVMValueRef) -> u32;
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
    fn LLVMRemoveStringAttributeAtIndex(
        f: LLVMValueRef, idx: LLVMAttributeIndex, k: *const c_char, klen: u32
    );
    fn LLVMAddCallSiteAttribute(c: LLVMValueRef, idx: LLVMAttributeIndex, a: LLVMAttributeRef);
    fn LLVMIsACallInst(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAInvokeInst(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsACallBrInst(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetCalledValue(instr: LLVMValueRef) -> LLVMValueRef;
    fn LLVMCreatePassBuilderOptions() -> LLVMPassBuilderOptionsRef;
    fn LLVMDisposePassBuilderOptions(options: LLVMPassBuilderOptionsRef);
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
}
optional {
}
}
