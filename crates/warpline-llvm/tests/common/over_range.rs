//! Kernels as text, vectorized and run over a range.

use warpline_ir::Function;
use warpline_llvm::worker::{CodegenOptions, Output, codegen_in_process};
use warpline_llvm::{Cpu, Imported, Jit, Linkage, Module};
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::driver::{BodyVariants, slots_entry, vector_range};
use warpline_vectorize::{MathLibrary, Options, vectorize};

/// How many lanes kernels are made for.
pub const WIDTH: u32 = 8;

/// A machine without libraries, which fuses multiplications and additions or not, and converts integers of 64 bits one
/// at a time.
struct Plain {
    fused: bool,
}

impl MathLibrary for Plain {
    fn vector_function(&self, _scalar: &str, _lanes: u32) -> Option<String> {
        None
    }

    fn fused(&self) -> bool {
        self.fused
    }

    fn converts_long_integers(&self) -> bool {
        false
    }
}

/// Runs the function `kernel` of a module for the indices `0..count`; its other parameters, uniform ones, get `values`.
/// `look` sees the vector code.
pub fn run_over_range(
    text: &str,
    cpu: &Cpu,
    count: u64,
    values: &[u64],
    look: impl FnOnce(&Imported, &Function),
) {
    let module = Module::parse(text.as_bytes(), "kernel.ll").expect("LLVM accepts it");
    let mut imported = Imported::new(module);
    let known = imported.ir.functions.len();
    let kernel = imported.ir.function("kernel").expect("there is one");
    let mut shapes = vec![ArgShape::Index];
    shapes.resize(values.len() + 1, ArgShape::Uniform);
    let made = [false, true].map(|masked| {
        let name = format!("kernel.{masked}");
        let math = &Plain { fused: cpu.name != "x86-64-v2" };
        let asked = Options { masked, math, ..Options::new(WIDTH, shapes.clone(), &name) };
        vectorize(&mut imported.ir, kernel, &asked).expect("it can be vectorized").func
    });
    look(&imported, &imported.ir.functions[made[0]]);
    let ir = &mut imported.ir;
    let variants = BodyVariants::of_one_width(made[0], made[1], WIDTH);
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
    let mut slots = vec![0, count];
    slots.extend(values);
    jit.function("vector.slots").expect("it is there").call(&mut slots);
}
