//! Kernels of OpenCL that other kernels call, as plain functions.
//!
//! In OpenCL C a kernel may call another one, which is a function like any other there: work-items stay those of the
//! caller. clang before 21 writes such a call with the calling convention of kernels, and LLVM's verifier, which runs
//! where a module with lines is read and ends the process, knows no calls of that convention. So the convention of
//! kernels that are called is changed before: in the module's text, or, for bitcode, in a module that LLVM reads one
//! function after the other as it links them, which verifies nothing. Metadata still says that they are kernels.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ptr;

use crate::ffi::load::functions;
use crate::ffi::types::LLVMVerifierFailureAction::LLVMReturnStatusAction;
use crate::ffi::types::{LLVMContextRef, LLVMModuleRef, LLVMValueRef};
use crate::module::{MemoryBuffer, c_string, take_message};
use crate::simplify::{SPIR_FUNC, SPIR_KERNEL, calls_of};

/// How bitcode begins, bare and wrapped.
const BITCODE: [[u8; 4]; 2] = [*b"BC\xc0\xde", [0xde, 0xc0, 0x17, 0x0b]];

/// The convention, as text has it.
const KERNEL: &str = " spir_kernel ";
/// That of other functions.
const PLAIN: &str = " spir_func ";

/// LLVM's text in which kernels that are called are plain functions.
pub(crate) fn as_plain_functions(text: &str) -> Cow<'_, str> {
    let called: BTreeSet<&str> = text.lines().filter(|line| is_call(line)).filter_map(called).collect();
    if called.is_empty() {
        return Cow::Borrowed(text);
    }
    let is_changed = |line: &&str| {
        is_call(line) || line.starts_with("define ") && named(line).is_some_and(|name| called.contains(name))
    };
    let changed = |line: &str| match is_changed(&line) {
        true => line.replacen(KERNEL, PLAIN, 1),
        false => line.to_owned(),
    };
    Cow::Owned(text.split_inclusive('\n').map(changed).collect())
}

/// Whether a line is an instruction that calls a kernel.
fn is_call(line: &str) -> bool {
    let Some((before, _)) = line.split_once(KERNEL) else { return false };
    line.starts_with("  ") && before.ends_with("call") && !before.contains('"')
}

/// What an instruction calls.
fn called(line: &str) -> Option<&str> {
    line.split_once(KERNEL).and_then(|(_, rest)| named(rest))
}

/// The first name of a function in a line, with its quotes if it has some.
fn named(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once('@')?;
    let end = match rest.strip_prefix('"') {
        Some(quoted) => quoted.find('"')? + 2,
        None => rest.find('(')?,
    };
    rest.get(..end)
}

/// The module of bitcode with lines in which a kernel may call another one, with plain functions; `None` for all that
/// can be read as it is, and for what cannot be read.
pub(crate) fn read_plain_functions(
    context: LLVMContextRef,
    bytes: &[u8],
    name: &str,
) -> Option<LLVMModuleRef> {
    if !BITCODE.iter().any(|magic| bytes.starts_with(magic)) {
        return None;
    }
    let f = functions();
    let mut lazy = ptr::null_mut();
    // SAFETY: a live context; LLVM takes the buffer over where it reads it, and keeps it as long as the module.
    unsafe {
        let buffer = MemoryBuffer::copy_of(bytes, name).into_raw();
        if f.LLVMGetBitcodeModuleInContext2(context, buffer, &raw mut lazy) != 0 {
            return None;
        }
        let kernels = all_functions(lazy).filter(|&it| f.LLVMGetFunctionCallConv(it) == SPIR_KERNEL).count();
        if kernels < 2 || f.LLVMGetNamedMetadataNumOperands(lazy, c"llvm.dbg.cu".as_ptr()) == 0 {
            f.LLVMDisposeModule(lazy);
            return None;
        }
        let whole = f.LLVMModuleCreateWithNameInContext(c_string(name).as_ptr(), context);
        let mut length = 0;
        let source = f.LLVMGetSourceFileName(lazy, &raw mut length);
        f.LLVMSetSourceFileName(whole, source, length);
        // The linker takes the second module over, whatever comes of it.
        if f.LLVMLinkModules2(whole, lazy) != 0 {
            f.LLVMDisposeModule(whole);
            return None;
        }
        make_plain_functions(whole);
        forget_broken_lines(whole);
        Some(whole)
    }
}

/// # Safety
/// The module is live, and its list of functions stays as it is.
unsafe fn all_functions(module: LLVMModuleRef) -> impl Iterator<Item = LLVMValueRef> {
    let f = functions();
    let there = |function: LLVMValueRef| (!function.is_null()).then_some(function);
    // SAFETY: as the caller promises.
    let first = there(unsafe { f.LLVMGetFirstFunction(module) });
    // SAFETY: as the caller promises.
    std::iter::successors(first, move |&function| there(unsafe { f.LLVMGetNextFunction(function) }))
}

/// Gives kernels of a module that are called, and these calls, the convention of other functions.
///
/// # Safety
/// The module is live, and nothing else uses it meanwhile.
unsafe fn make_plain_functions(module: LLVMModuleRef) {
    let f = functions();
    // SAFETY: as the caller promises; the list of functions stays as it is.
    unsafe {
        for function in all_functions(module).filter(|&it| f.LLVMGetFunctionCallConv(it) == SPIR_KERNEL) {
            let calls = calls_of(function);
            if !calls.is_empty() {
                f.LLVMSetFunctionCallConv(function, SPIR_FUNC);
            }
            for call in calls {
                f.LLVMSetInstructionCallConv(call, SPIR_FUNC);
            }
        }
    }
}

/// Removes what is for debuggers from a module where LLVM would when it reads one: where it is of another version, or
/// the verifier takes exception to it. Whatever else may be wrong is found by whoever verifies the module.
///
/// # Safety
/// The module is live.
unsafe fn forget_broken_lines(module: LLVMModuleRef) {
    let f = functions();
    let mut message = ptr::null_mut();
    // SAFETY: as the caller promises; a valid out-parameter, whose text is freed by `take_message`.
    unsafe {
        if f.LLVMGetModuleDebugMetadataVersion(module) != f.LLVMDebugMetadataVersion()
            || f.LLVMVerifyModule(module, LLVMReturnStatusAction as u32, &raw mut message) != 0
        {
            f.LLVMStripModuleDebugInfo(module);
        }
    }
    take_message(message);
}

#[cfg(test)]
mod tests {
    use super::*;
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

    /// Bitcode as clang writes it: with calls of the convention of kernels.
    fn as_clang_writes_it(text: &str) -> Vec<u8> {
        let module = Module::parse(text.as_bytes(), "a.ll").expect("it is read");
        let f = functions();
        for function in module.functions() {
            // SAFETY: functions of a live module, and their calls.
            unsafe {
                f.LLVMSetFunctionCallConv(function, SPIR_KERNEL);
                for call in calls_of(function) {
                    f.LLVMSetInstructionCallConv(call, SPIR_KERNEL);
                }
            }
        }
        module.to_bitcode()
    }

    #[test]
    fn kernels_that_are_called_become_plain_functions_in_bitcode_with_lines() {
        let read = Module::parse(&as_clang_writes_it(TEXT), "a.bc").expect("it is read");
        read.verify().expect("its calls are plain");
        let text = read.to_text();
        assert_eq!(text.matches("spir_func").count(), 4, "{text}");
        assert!(text.contains("define spir_kernel void @ab("), "{text}");
        assert!(
            text.contains("!DILocation(line: 4") && text.contains("target triple = \"spir64\""),
            "{text}"
        );
    }

    #[test]
    fn only_kernels_that_are_called_become_plain_functions() {
        let text = "define dso_local spir_kernel void @a(ptr %x) #0 {\n  ret void\n}\n\
                    define dso_local spir_kernel void @\"b c\"(ptr %x) #0 {\n  ret void\n}\n\
                    define dso_local spir_kernel void @ab() #0 {\n  \
                    call spir_kernel void @a(ptr %x) #4\n  \
                    tail call spir_kernel void @\"b c\"(ptr %x), !dbg !3\n}\n\
                    @s = constant [17 x i8] c\"call spir_kernel \"\n";
        let found = as_plain_functions(text);
        assert_eq!(found.matches("spir_func").count(), 4, "{found}");
        assert!(
            found.contains("spir_func void @a(") && found.contains("spir_func void @\"b c\"("),
            "{found}"
        );
        assert!(found.contains("define dso_local spir_kernel void @ab()"), "{found}");
        assert!(found.contains("c\"call spir_kernel \""), "{found}");
        let plain = text.replace("call spir_kernel", "call spir_func");
        assert!(matches!(as_plain_functions(&plain), Cow::Borrowed(_)));
    }
}
