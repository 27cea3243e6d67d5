//! Instrumented modules, which are refused: what counts and checks once a call means nothing once a lane.

use std::path::Path;

use warpline_ir::Module;

use crate::error::{Error, Result};

/// Beginnings of names that instrumentation brings into a module, what it is, and the flag to leave out.
const NAMES: [(&str, &str, &str); 16] = [
    ("__asan_", "AddressSanitizer", "-fsanitize=address"),
    ("__hwasan_", "HWAddressSanitizer", "-fsanitize=hwaddress"),
    ("__msan_", "MemorySanitizer", "-fsanitize=memory"),
    ("__tsan_", "ThreadSanitizer", "-fsanitize=thread"),
    ("__dfsan_", "DataFlowSanitizer", "-fsanitize=dataflow"),
    ("__ubsan_handle_", "UndefinedBehaviorSanitizer", "-fsanitize=undefined"),
    ("__sanitizer_cov", "SanitizerCoverage", "-fsanitize-coverage"),
    ("__memprof_", "the memory profiler", "-fmemory-profile"),
    ("llvm.instrprof.", "a profile or coverage", "-fprofile-instr-generate"),
    ("__llvm_profile_", "a profile or coverage", "-fprofile-instr-generate"),
    ("__profc_", "a profile or coverage", "-fprofile-instr-generate"),
    ("llvm_gcov_", "gcov's coverage", "--coverage"),
    ("__llvm_gcov_", "gcov's coverage", "--coverage"),
    ("llvm_gcda_", "gcov's coverage", "--coverage"),
    ("__cyg_profile_func_", "calls of functions", "-finstrument-functions"),
    ("__xray_", "XRay", "-fxray-instrument"),
];

/// Checks that a module is not instrumented.
///
/// # Errors
/// With the name by which it is seen, and what to leave out.
pub(crate) fn check(module: &Module, path: &Path) -> Result<()> {
    let found = module.symbols.values().find_map(|symbol| {
        let row = NAMES.iter().find(|(begins, _, _)| symbol.name.starts_with(begins))?;
        Some((&symbol.name, row))
    });
    match found {
        None => Ok(()),
        Some((name, (_, what, flag))) => Err(Error::input(
            path,
            format!(
                "it is instrumented for {what} (`{name}`), which counts and checks once a call, not once a lane: \
                 make it without {flag}"
            ),
        )),
    }
}
