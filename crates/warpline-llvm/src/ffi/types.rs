//! The types of LLVM's C API that the table of functions uses: handles, and those values of enumerations that warpline
//! names. Numbers are those of the headers (`llvm-c/*.h`), which LLVM keeps from version to version.

#![expect(
    non_camel_case_types,
    non_upper_case_globals,
    clippy::enum_variant_names,
    clippy::upper_case_acronyms,
    reason = "the names are those of the C API"
)]

use std::ffi::{c_int, c_uint, c_void};

/// Declares handles: pointers to what only LLVM looks into.
macro_rules! handles {
    ($($handle:ident = $opaque:ident;)*) => {
        $(
            #[derive(Debug)]
            pub(crate) enum $opaque {}
            pub(crate) type $handle = *mut $opaque;
        )*
    };
}

handles! {
    LLVMAttributeRef = Attribute;
    LLVMBasicBlockRef = BasicBlock;
    LLVMBuilderRef = Builder;
    LLVMComdatRef = Comdat;
    LLVMContextRef = Context;
    LLVMDIBuilderRef = DIBuilder;
    LLVMDiagnosticInfoRef = DiagnosticInfo;
    LLVMErrorRef = Error;
    LLVMMemoryBufferRef = MemoryBuffer;
    LLVMMetadataRef = Metadata;
    LLVMModuleRef = Module;
    LLVMOperandBundleRef = OperandBundle;
    LLVMOrcDefinitionGeneratorRef = OrcDefinitionGenerator;
    LLVMOrcExecutionSessionRef = OrcExecutionSession;
    LLVMOrcJITDylibRef = OrcJITDylib;
    LLVMOrcLLJITBuilderRef = OrcLLJITBuilder;
    LLVMOrcLLJITRef = OrcLLJIT;
    LLVMOrcMaterializationUnitRef = OrcMaterializationUnit;
    LLVMOrcSymbolStringPoolEntryRef = OrcSymbolStringPoolEntry;
    LLVMPassBuilderOptionsRef = PassBuilderOptions;
    LLVMTargetDataRef = TargetData;
    LLVMTargetMachineRef = TargetMachine;
    LLVMTargetRef = Target;
    LLVMTypeRef = Type;
    LLVMUseRef = Use;
    LLVMValueMetadataEntry = ValueMetadataEntryOpaque;
    LLVMValueRef = Value;
}

pub(crate) type LLVMBool = c_int;
pub(crate) type LLVMDIFlags = c_int;
pub(crate) const LLVMDIFlagZero: LLVMDIFlags = 0;
pub(crate) type LLVMAttributeIndex = c_uint;

pub(crate) type LLVMDiagnosticHandler =
    Option<extern "C" fn(info: LLVMDiagnosticInfoRef, context: *mut c_void)>;
pub(crate) type LLVMOrcExecutorAddress = u64;
pub(crate) type LLVMOrcErrorReporterFunction = extern "C" fn(context: *mut c_void, error: LLVMErrorRef);
pub(crate) type LLVMOrcSymbolPredicate =
    Option<extern "C" fn(context: *mut c_void, symbol: LLVMOrcSymbolStringPoolEntryRef) -> c_int>;
pub(crate) type LLVMOrcCSymbolMapPairs = *mut LLVMOrcCSymbolMapPair;

#[repr(C)]
pub(crate) struct LLVMJITSymbolFlags {
    pub(crate) GenericFlags: u8,
    pub(crate) TargetFlags: u8,
}

#[repr(C)]
pub(crate) struct LLVMJITEvaluatedSymbol {
    pub(crate) Address: LLVMOrcExecutorAddress,
    pub(crate) Flags: LLVMJITSymbolFlags,
}

#[repr(C)]
pub(crate) struct LLVMOrcCSymbolMapPair {
    pub(crate) Name: LLVMOrcSymbolStringPoolEntryRef,
    pub(crate) Sym: LLVMJITEvaluatedSymbol,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LLVMVerifierFailureAction {
    LLVMReturnStatusAction = 2,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LLVMMetadataKind {
    LLVMDILocationMetadataKind = 5,
    LLVMDICompileUnitMetadataKind = 16,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LLVMOpcode {
    LLVMRet = 1,
    LLVMBr = 2,
    LLVMSwitch = 3,
    LLVMIndirectBr = 4,
    LLVMInvoke = 5,
    LLVMUnreachable = 7,
    LLVMAdd = 8,
    LLVMFAdd = 9,
    LLVMSub = 10,
    LLVMFSub = 11,
    LLVMMul = 12,
    LLVMFMul = 13,
    LLVMUDiv = 14,
    LLVMSDiv = 15,
    LLVMFDiv = 16,
    LLVMURem = 17,
    LLVMSRem = 18,
    LLVMFRem = 19,
    LLVMShl = 20,
    LLVMLShr = 21,
    LLVMAShr = 22,
    LLVMAnd = 23,
    LLVMOr = 24,
    LLVMXor = 25,
    LLVMAlloca = 26,
    LLVMLoad = 27,
    LLVMStore = 28,
    LLVMGetElementPtr = 29,
    LLVMTrunc = 30,
    LLVMZExt = 31,
    LLVMSExt = 32,
    LLVMFPToUI = 33,
    LLVMFPToSI = 34,
    LLVMUIToFP = 35,
    LLVMSIToFP = 36,
    LLVMFPTrunc = 37,
    LLVMFPExt = 38,
    LLVMPtrToInt = 39,
    LLVMIntToPtr = 40,
    LLVMBitCast = 41,
    LLVMICmp = 42,
    LLVMFCmp = 43,
    LLVMPHI = 44,
    LLVMCall = 45,
    LLVMSelect = 46,
    LLVMVAArg = 49,
    LLVMExtractElement = 50,
    LLVMInsertElement = 51,
    LLVMShuffleVector = 52,
    LLVMExtractValue = 53,
    LLVMInsertValue = 54,
    LLVMFence = 55,
    LLVMAtomicCmpXchg = 56,
    LLVMAtomicRMW = 57,
    LLVMResume = 58,
    LLVMLandingPad = 59,
    LLVMAddrSpaceCast = 60,
    LLVMCleanupRet = 61,
    LLVMCatchRet = 62,
    LLVMCatchPad = 63,
    LLVMCleanupPad = 64,
    LLVMCatchSwitch = 65,
    LLVMFNeg = 66,
    LLVMCallBr = 67,
    LLVMFreeze = 68,
    LLVMPtrToAddr = 69,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LLVMTypeKind {
    LLVMVoidTypeKind = 0,
    LLVMHalfTypeKind = 1,
    LLVMFloatTypeKind = 2,
    LLVMDoubleTypeKind = 3,
    LLVMX86_FP80TypeKind = 4,
    LLVMFP128TypeKind = 5,
    LLVMPPC_FP128TypeKind = 6,
    LLVMIntegerTypeKind = 8,
    LLVMStructTypeKind = 10,
    LLVMArrayTypeKind = 11,
    LLVMPointerTypeKind = 12,
    LLVMVectorTypeKind = 13,
    LLVMScalableVectorTypeKind = 17,
    LLVMBFloatTypeKind = 18,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LLVMLinkage {
    LLVMExternalLinkage = 0,
    LLVMAvailableExternallyLinkage = 1,
    LLVMInternalLinkage = 8,
    LLVMPrivateLinkage = 9,
    LLVMExternalWeakLinkage = 12,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LLVMVisibility {
    LLVMDefaultVisibility = 0,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LLVMDLLStorageClass {
    LLVMDefaultStorageClass = 0,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LLVMIntPredicate {
    LLVMIntEQ = 32,
    LLVMIntNE = 33,
    LLVMIntUGT = 34,
    LLVMIntUGE = 35,
    LLVMIntULT = 36,
    LLVMIntULE = 37,
    LLVMIntSGT = 38,
    LLVMIntSGE = 39,
    LLVMIntSLT = 40,
    LLVMIntSLE = 41,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LLVMCodeGenOptLevel {
    LLVMCodeGenLevelNone = 0,
    LLVMCodeGenLevelLess = 1,
    LLVMCodeGenLevelAggressive = 3,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LLVMRelocMode {
    LLVMRelocPIC = 2,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LLVMCodeModel {
    LLVMCodeModelDefault = 0,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LLVMCodeGenFileType {
    LLVMAssemblyFile = 0,
    LLVMObjectFile = 1,
}
