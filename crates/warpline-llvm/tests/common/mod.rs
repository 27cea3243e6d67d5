//! What the tests with random programs share.

use warpline::interp::{Cell, Event, Observer, State};
use warpline::ir::{FloatKind, FuncId, Module as Ir, Scalar};
use warpline_llvm::worker::{CodegenOptions, Output, codegen_in_process};
use warpline_llvm::{Cpu, Imported, Jit, Linkage, Module};
use warpline_testkit::programs::Program;

/// Whether a NaN was computed: its bits are nobody's promise.
pub struct SawNan<'m> {
    ir: &'m Ir,
    /// Whether there was one.
    pub saw: bool,
}

impl<'m> SawNan<'m> {
    /// Watches runs of the module's functions.
    pub fn new(ir: &'m Ir) -> Self {
        SawNan { ir, saw: false }
    }
}

impl Observer for SawNan<'_> {
    fn executed(&mut self, event: &Event<'_>) {
        let Some(id) = event.function() else { return };
        let f = &self.ir.functions[id];
        let data = &f.insts[event.inst];
        for &v in data.results.iter().chain(&data.args) {
            if let Some(Scalar::Float(kind)) = f.ty(v).elem() {
                let nan = |c: &Cell| match kind {
                    FloatKind::Half => c.bits & 0x7fff > 0x7c00,
                    FloatKind::Float => f32::from_bits(c.bits as u32).is_nan(),
                    _ => f64::from_bits(c.bits as u64).is_nan(),
                };
                for lane in event.lanes.iter() {
                    self.saw |= event.value(v, lane).iter().any(|c| c.state == State::Defined && nan(c));
                }
            }
        }
    }
}

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
            .unwrap_or_else(|e| panic!("{e}\n{}", warpline::text::print_module(ir)));
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
