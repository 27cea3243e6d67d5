//! What a CPU has for vectors.

use warpline::vectorize::width::Machine;
use warpline_llvm::worker::{self, CodegenOptions, Output};
use warpline_llvm::{Cpu, Module};

use crate::error::Result;

/// The widest vectors, in bits, that [`Module::fit_masks`] keeps masks in.
const MASK_BITS: u32 = 1024;

/// The vector registers of a CPU; where the triple says nothing of them, as 32 of 128 bits.
///
/// # Errors
/// If LLVM cannot make code for it.
pub fn of(cpu: &Cpu, triple: &str) -> Result<Machine> {
    let register_bits = register_bits(cpu, triple)?;
    let x86 = ["x86_64", "i386", "i486", "i586", "i686"].iter().any(|arch| triple.starts_with(arch));
    // AVX-512 came with mask registers, and with twice as many others. AVX2 gathers without having masks for that, and what it has is slow on many CPUs.
    let mask_registers = x86 && register_bits == 512;
    let registers = match triple.starts_with("x86_64") {
        _ if mask_registers => 32,
        true => 16,
        false if x86 => 8,
        false => 32,
    };
    Ok(Machine { register_bits, registers, mask_registers, mask_bits: MASK_BITS, gathers: mask_registers })
}

/// The size of a CPU's vector registers in bits, found out by making code for vectors of integers.
fn register_bits(cpu: &Cpu, triple: &str) -> Result<u32> {
    if cpu.features.split(',').any(|f| f == "+avx512f") {
        return Ok(512);
    }
    let has = |feature: &str| cpu.features.split(',').any(|f| f == feature);
    if has("+avx2") || has("-avx2") {
        return Ok(if has("+avx2") { 256 } else { 128 });
    }
    let probe = format!(
        "target triple = \"{triple}\"\n\
         define void @probe(ptr %p, ptr %q) {{\n\
         %a = load <16 x i32>, ptr %p\n %b = load <16 x i32>, ptr %q\n %c = add <16 x i32> %a, %b\n\
         store <16 x i32> %c, ptr %p\n ret void\n}}\n"
    );
    let module = Module::parse(probe.as_bytes(), "the probe for vector registers")?;
    let options = CodegenOptions {
        vector_bits: Some(512),
        passes: String::new(),
        ..CodegenOptions::new(cpu.clone(), Output::Assembly)
    };
    let assembly = String::from_utf8_lossy(&worker::codegen(&module, &options)?).into_owned();
    let registers = [("zmm", 512), ("ymm", 256)];
    Ok(registers.iter().find(|(name, _)| assembly.contains(name)).map_or(128, |&(_, bits)| bits))
}
