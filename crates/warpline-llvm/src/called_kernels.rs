//! Kernels of OpenCL that other kernels call, as plain functions.
//!
//! In OpenCL C a kernel may call another one, which is a function like any other there: work-items stay those of the
//! caller. clang before 21 writes such a call with the calling convention of kernels, and LLVM's verifier, which runs
//! where a module with lines is read, knows no calls of that convention. So the convention of kernels that are called
//! is changed in the module's text. Metadata still says that they are kernels.

use std::borrow::Cow;
use std::collections::BTreeSet;

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

#[cfg(test)]
mod tests {
    use super::*;

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
