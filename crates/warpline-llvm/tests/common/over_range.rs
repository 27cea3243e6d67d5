//! Kernels as text, vectorized and run over a range.

use warpline_ir::Function;
use warpline_llvm::worker::{CodegenOptions, Output, codegen_in_process};
use warpline_llvm::{Cpu, Imported, Jit, Linkage, Module};
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::driver::{BodyVariants, slots_entry, vector_range};
use warpline_vectorize::{MathLibrary, Options, vectorize};

/// The machine code of a kernel over a range.
pub struct OverRange {
    jit: Jit,
}

impl OverRange {
    /// Vectorizes the function `kernel` of a module for `width` lanes. Its first parameter is the index, the `others`
    /// are uniform.
    /// `look` sees the vector code.
    pub fn new(
        text: &str,
        cpu: &Cpu,
        math: &dyn MathLibrary,
        (width, others): (u32, usize),
        look: impl FnOnce(&Imported, &Function),
    ) -> OverRange {
        let module = Module::parse(text.as_bytes(), "kernel.ll").expect("LLVM accepts it");
        let mut imported = Imported::new(module);
        let known = imported.ir.functions.len();
        let kernel = imported.ir.function("kernel").expect("there is one");
        let mut shapes = vec![ArgShape::Index];
        shapes.resize(others + 1, ArgShape::Uniform);
        let made = [false, true].map(|masked| {
            let name = format!("kernel.{masked}");
            let asked = Options { masked, math, ..Options::new(width, shapes.clone(), &name) };
            vectorize(&mut imported.ir, kernel, &asked).expect("it can be vectorized").func
        });
        look(&imported, &imported.ir.functions[made[0]]);
        let ir = &mut imported.ir;
        let variants = BodyVariants::of_one_width(made[0], made[1], width);
        let range = vector_range(ir, kernel, &variants, &shapes, "vector").expect("a driver");
        slots_entry(ir, range, "vector.slots").expect("an entry");
        for id in imported.ir.functions.keys().skip(known).collect::<Vec<_>>() {
            let made = &imported.ir.functions[id];
            imported.bridge.add_function(&imported.ir, made, Linkage::External).expect("it can be exported");
        }
        let mut options = CodegenOptions::new(cpu.clone(), Output::Object);
        options.passes = "internalize<preserve-gv=vector.slots>,globaldce,default<O3>".to_owned();
        let bitcode = imported.bridge.module().to_bitcode();
        let object = codegen_in_process(&bitcode, "kernel", &options).expect("code can be made");
        let jit = Jit::new().expect("LLVM is there");
        jit.add_object(&object, "kernel.o").expect("it can be loaded");
        OverRange { jit }
    }

    /// Runs it for the indices `0..count`; the other parameters get `values`.
    pub fn run(&self, count: u64, values: &[u64]) {
        let mut slots = vec![0, count];
        slots.extend(values);
        self.jit.function("vector.slots").expect("it is there").call(&mut slots);
    }
}
