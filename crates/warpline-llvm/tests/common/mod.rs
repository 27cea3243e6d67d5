//! What the tests with random programs share.

pub mod nan;

use warpline_ir::{FuncId, Module as Ir};
use warpline_llvm::worker::{CodegenOptions, Output, codegen_in_process};
use warpline_llvm::{Cpu, Imported, Jit, Linkage, Module};
use warpline_testkit::programs::Program;

/// Whether a program has functions for which the order of −0 and +0 is open.
pub fn has_open_zeros(program: &Program) -> bool {
    program.module.symbols.values().any(|s| s.name.contains("num.f"))
}

/// Bitcode of a module that was not imported.
pub fn export(ir: &Ir) -> Vec<u8> {
    let mut imported = Imported::new(Module::parse(b"", "program").unwrap());
    // Functions that were added later call earlier ones; helpers stand behind the kernel.
    let ids: Vec<FuncId> = ir.functions.keys().collect();
    for id in ids.into_iter().rev() {
        imported
            .bridge
            .add_function(ir, &ir.functions[id], Linkage::External)
            .unwrap_or_else(|e| panic!("{e}\n{}", warpline_ir::text::print_module(ir)));
    }
    imported.bridge.module().verify().unwrap();
    imported.bridge.module().to_bitcode()
}

/// Machine code, ready to run.
pub fn link(bitcode: &[u8], passes: &str) -> Jit {
    let mut options = CodegenOptions::new(Cpu::native().unwrap(), Output::Object);
    options.passes = passes.to_owned();
    let object = codegen_in_process(bitcode, "program", &options).unwrap();
    let jit = Jit::new().unwrap();
    jit.add_object(&object, "program.o").unwrap();
    jit
}

/// Bytes, eight at a time, so that they are aligned.
pub fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |c: &[u8]| c.iter().rev().fold(0, |v, &x| v << 8 | u64::from(x));
    bytes.chunks(8).map(word).collect()
}
