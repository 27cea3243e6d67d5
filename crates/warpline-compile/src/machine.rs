//! What a CPU has for vectors.

use warpline_llvm::worker::{self, CodegenOptions, Output};
use warpline_llvm::{Cpu, Module};
use warpline_vectorize::width::Machine;
use warpline_vectorize::{Gathers, Masks};

use crate::error::Result;
use crate::resolver;

/// The widest vectors, in bits, that [`Module::fit_masks`] keeps masks in.
const MASK_BITS: u32 = 1024;

/// CPUs with AVX2 that gather more slowly than they load one by one.
const SLOW_GATHERS: [&str; 3] = ["bdver4", "znver1", "znver2"];

/// The vector registers of a CPU; where the triple says nothing of them, as 32 of 128 bits.
///
/// # Errors
/// If LLVM cannot make code for it.
pub fn of(cpu: &Cpu, triple: &str) -> Result<Machine> {
    let Vectors { register_bits, fused, masked } = match by_features(cpu) {
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
        // AVX brought masked accesses to elements of 32 and 64 bits, AVX-512 to narrower ones.
        masks: match register_bits {
            _ if !x86 => Masks::Everything,
            512 => Masks::Everything,
            _ if masked => Masks::Wide,
            _ => Masks::Nothing,
        },
        fused,
    })
}

/// What is found out about a CPU.
struct Vectors {
    register_bits: u32,
    /// Whether it has fused multiplication and addition.
    fused: bool,
    /// Whether an x86 CPU accesses wide elements under masks.
    masked: bool,
}

/// The same as [`probe`] finds, for an x86 CPU whose features are known.
fn by_features(cpu: &Cpu) -> Option<Vectors> {
    let says = |feature: &str| cpu.features.split(',').any(|f| f == feature);
    let has = |name: &str| says(&format!("+{name}"));
    let known = |name: &str| has(name) || says(&format!("-{name}"));
    let register_bits = match () {
        () if has("avx512f") => 512,
        () if has("avx2") => 256,
        () if known("avx2") => 128,
        () => return None,
    };
    Some(Vectors { register_bits, fused: has("fma"), masked: has("avx") })
}

/// What a CPU has, found out by making code for vectors of integers and of numbers: what is not an instruction
/// becomes calls of `fmaf`, or branches.
fn probe(cpu: &Cpu, triple: &str) -> Result<Vectors> {
    let triple = resolver::escape(triple);
    let probe = format!(
        "target triple = \"{triple}\"\n\
         define void @integers(ptr %p, ptr %q) {{\n\
         %a = load <16 x i32>, ptr %p\n %b = load <16 x i32>, ptr %q\n %c = add <16 x i32> %a, %b\n\
         store <16 x i32> %c, ptr %p\n ret void\n}}\n\
         declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)\n\
         define void @numbers(ptr %p) {{\n\
         %a = load <4 x float>, ptr %p\n %b = call <4 x float> @llvm.fma.v4f32(<4 x float> %a, <4 x float> %a, \
          <4 x float> %a)\n\
         store <4 x float> %b, ptr %p\n ret void\n}}\n\
         declare void @llvm.masked.store.v4f32.p0(<4 x float>, ptr, i32, <4 x i1>)\n\
         define void @masks(ptr %p) {{\n\
         %a = load <4 x float>, ptr %p\n %m = fcmp ogt <4 x float> %a, zeroinitializer\n\
         call void @llvm.masked.store.v4f32.p0(<4 x float> %a, ptr %p, i32 4, <4 x i1> %m)\n ret void\n}}\n"
    );
    let module = Module::parse(probe.as_bytes(), "the probe for vector registers")?;
    let options = CodegenOptions {
        vector_bits: Some(512),
        passes: String::new(),
        ..CodegenOptions::new(cpu.clone(), Output::Assembly)
    };
    let assembly = String::from_utf8_lossy(&worker::codegen(&module, &options)?).into_owned();
    let registers = [("zmm", 512), ("ymm", 256)];
    let register_bits =
        registers.iter().find(|(name, _)| assembly.contains(name)).map_or(128, |&(_, bits)| bits);
    let (fused, masked) = (!assembly.contains("fmaf"), register_bits > 128 || assembly.contains("vmaskmov"));
    Ok(Vectors { register_bits, fused, masked })
}
