//! What a CPU has for vectors.

use warpline::vectorize::Gathers;
use warpline::vectorize::width::Machine;
use warpline_llvm::worker::{self, CodegenOptions, Output};
use warpline_llvm::{Cpu, Module};

use crate::error::Result;

/// The widest vectors, in bits, that [`Module::fit_masks`] keeps masks in.
const MASK_BITS: u32 = 1024;

/// CPUs with AVX2 that gather more slowly than they load one by one.
const SLOW_GATHERS: [&str; 3] = ["bdver4", "znver1", "znver2"];

/// The vector registers of a CPU; where the triple says nothing of them, as 32 of 128 bits.
///
/// # Errors
/// If LLVM cannot make code for it.
pub fn of(cpu: &Cpu, triple: &str) -> Result<Machine> {
    let (register_bits, fused) = match by_features(cpu) {
        Some(known) => known,
        None => probe(cpu, triple)?,
    };
    let x86 = ["x86_64", "i386", "i486", "i586", "i686"].iter().any(|arch| triple.starts_with(arch));
    // AVX-512 came with mask registers, and with twice as many others.
    let mask_registers = x86 && register_bits == 512;
    let registers = match triple.starts_with("x86_64") {
        _ if mask_registers => 32,
        true => 16,
        false if x86 => 8,
        false => 32,
    };
    Ok(Machine {
        register_bits,
        registers,
        mask_registers,
        mask_bits: MASK_BITS,
        gathers: match register_bits {
            512 if x86 => Gathers::Everything,
            256 if x86 && !SLOW_GATHERS.contains(&&*cpu.name) => Gathers::Avx2,
            _ => Gathers::Nothing,
        },
        fused,
    })
}

/// The same as [`probe`] finds, for an x86 CPU whose features are known.
fn by_features(cpu: &Cpu) -> Option<(u32, bool)> {
    let says = |feature: &str| cpu.features.split(',').any(|f| f == feature);
    let has = |name: &str| says(&format!("+{name}"));
    let known = |name: &str| has(name) || says(&format!("-{name}"));
    let bits = match () {
        () if has("avx512f") => 512,
        () if has("avx2") => 256,
        () if known("avx2") => 128,
        () => return None,
    };
    Some((bits, has("fma")))
}

/// The size of a CPU's vector registers in bits, and whether it has fused multiplication and addition, found out by making code for vectors of integers and of
/// numbers: what is not an instruction becomes calls of `fmaf`.
fn probe(cpu: &Cpu, triple: &str) -> Result<(u32, bool)> {
    let probe = format!(
        "target triple = \"{triple}\"\n\
         define void @integers(ptr %p, ptr %q) {{\n\
         %a = load <16 x i32>, ptr %p\n %b = load <16 x i32>, ptr %q\n %c = add <16 x i32> %a, %b\n\
         store <16 x i32> %c, ptr %p\n ret void\n}}\n\
         declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)\n\
         define void @numbers(ptr %p) {{\n\
         %a = load <4 x float>, ptr %p\n %b = call <4 x float> @llvm.fma.v4f32(<4 x float> %a, <4 x float> %a, <4 x float> %a)\n\
         store <4 x float> %b, ptr %p\n ret void\n}}\n"
    );
    let module = Module::parse(probe.as_bytes(), "the probe for vector registers")?;
    let options = CodegenOptions {
        vector_bits: Some(512),
        passes: String::new(),
        ..CodegenOptions::new(cpu.clone(), Output::Assembly)
    };
    let assembly = String::from_utf8_lossy(&worker::codegen(&module, &options)?).into_owned();
    let registers = [("zmm", 512), ("ymm", 256)];
    let bits = registers.iter().find(|(name, _)| assembly.contains(name)).map_or(128, |&(_, bits)| bits);
    Ok((bits, !assembly.contains("fmaf")))
}
