//! Kernels of OpenCL that other kernels call, as plain functions.
//!
//! In OpenCL C a kernel may call another one, which is a function like any other there: work-items stay those of the
//! caller. clang before 21 writes such a call with the calling convention of kernels, and LLVM's verifier knows no
//! calls of that convention. So it is changed for kernels that are called, before anything verifies the module.
//! Metadata still says that they are kernels.

use crate::ffi::load::functions;
use crate::ffi::types::{LLVMModuleRef, LLVMValueRef};
use crate::simplify::{SPIR_FUNC, SPIR_KERNEL, calls_of};

/// Gives kernels of a module that are called, and these calls, the convention of other functions.
///
/// # Safety
/// The module is live, and nothing else uses it meanwhile.
pub(crate) unsafe fn make_plain_functions(module: LLVMModuleRef) {
    let f = functions();
    let there = |function: LLVMValueRef| (!function.is_null()).then_some(function);
    // SAFETY: as the caller promises; the list of functions stays as it is.
    unsafe {
        let first = there(f.LLVMGetFirstFunction(module));
        for function in std::iter::successors(first, |&function| there(f.LLVMGetNextFunction(function))) {
            if f.LLVMGetFunctionCallConv(function) != SPIR_KERNEL {
                continue;
            }
            let calls = calls_of(function);
            if calls.is_empty() {
                continue;
            }
            f.LLVMSetFunctionCallConv(function, SPIR_FUNC);
            for call in calls {
                f.LLVMSetInstructionCallConv(call, SPIR_FUNC);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::module::Module;

    const TEXT: &str = "target triple = \"spir64\"\n\
        define spir_kernel void @a(ptr %x) !dbg !4 {\n  ret void\n}\n\
        define spir_kernel void @\"b c\"(ptr %x) {\n  ret void\n}\n\
        define spir_kernel void @ab(ptr %x) !dbg !6 {\n  \
        call spir_kernel void @a(ptr %x), !dbg !7\n  \
        tail call spir_kernel void @\"b c\"(ptr %x), !dbg !7\n  ret void\n}\n\
        !llvm.dbg.cu = !{!0}\n!llvm.module.flags = !{!2}\n\
        !0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, emissionKind: FullDebug)\n\
        !1 = !DIFile(filename: \"a.cl\", directory: \"/\")\n\
        !2 = !{i32 2, !\"Debug Info Version\", i32 3}\n\
        !3 = !DISubroutineType(types: !{})\n\
        !4 = distinct !DISubprogram(name: \"a\", file: !1, line: 1, type: !3, spFlags: DISPFlagDefinition, unit: !0)\n\
        !6 = distinct !DISubprogram(name: \"ab\", file: !1, line: 3, type: !3, spFlags: DISPFlagDefinition, unit: !0)\n\
        !7 = !DILocation(line: 4, scope: !6)\n";

    #[test]
    fn kernels_that_are_called_become_plain_functions_in_text_and_bitcode_with_lines() {
        let module = Module::parse(TEXT.as_bytes(), "a.ll").expect("it is read");
        module.verify().expect("its calls are plain");
        let read = Module::parse(&module.to_bitcode(), "a.bc").expect("it is read");
        let text = read.to_text();
        assert_eq!(text.matches("spir_func").count(), 4, "{text}");
        assert!(text.contains("define spir_kernel void @ab("), "{text}");
        assert!(text.contains("!DILocation(line: 4"), "{text}");
    }

    #[test]
    fn lines_that_are_broken_are_forgotten() {
        let broken = TEXT.replace("scope: !6", "scope: !4");
        let module = Module::parse(broken.as_bytes(), "a.ll").expect("it is read");
        module.verify().expect("what was broken is gone");
        assert!(!module.to_text().contains("DILocation"), "{}", module.to_text());
    }
}
