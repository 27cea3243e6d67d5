//! What a CPU has for vectors.

use std::borrow::Cow;

use warpline_llvm::{Cpu, host_triple};
use warpline_target::nearest;
use warpline_vectorize::width::Machine;
use warpline_vectorize::{Gathers, Masks, Packing};

use crate::cpus;
use crate::error::Result;

/// The widest vectors, in bits, that [`fit_masks`](warpline_llvm::Module::fit_masks) keeps masks in.
const MASK_BITS: u32 = 1024;

/// Whether a CPU with AVX2 gathers more slowly than it loads scalars, and extracts bits by microcode.
fn is_slow(cpu: &Cpu) -> bool {
    ["bdver4", "znver1", "znver2"].contains(&&*cpu.name)
}

/// The vector registers of a CPU; where nothing is known of those of the target, as 32 of 128 bits.
///
/// # Errors
/// If LLVM cannot make code for it.
pub fn of(cpu: &Cpu, triple: &str) -> Result<Machine> {
    // A module without one is for this machine.
    let triple = &*match triple {
        "" => Cow::Owned(host_triple()?),
        triple => Cow::Borrowed(triple),
    };
    let x86 = ["x86_64", "i386", "i486", "i586", "i686"].iter().any(|arch| triple.starts_with(arch));
    let Vectors { register_bits, fused, masked, shuffled, packing } =
        if x86 { of_x86(cpu, triple)? } else { of_others(triple) };
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
            256 if x86 && !is_slow(cpu) => Gathers::Avx2,
            _ => Gathers::Nothing,
        },
        // AVX brought masked accesses to elements of 32 and 64 bits, AVX-512 to narrower ones.
        masks: match register_bits {
            _ if !x86 => Masks::Everything,
            512 => Masks::Everything,
            _ if masked => Masks::Wide,
            _ => Masks::Nothing,
        },
        // SSE2 is part of x86-64, unless it is forbidden.
        byte_sums: match register_bits {
            256 | 512 if x86 => register_bits,
            128 if triple.starts_with("x86_64") && !cpu.features.split(',').any(|f| f == "-sse2") => 128,
            _ => 0,
        },
        byte_shuffles: shuffled,
        packing,
        fused,
        cpu: nearest(&cpu.name, x86, register_bits),
    })
}

/// What there is for vectors.
struct Vectors {
    register_bits: u32,
    /// Whether there is fused multiplication and addition.
    fused: bool,
    /// Whether an x86 CPU accesses wide elements under masks.
    masked: bool,
    /// Whether an x86 CPU shuffles bytes within 16.
    shuffled: bool,
    /// What is packed under masks.
    packing: Packing,
}

/// The features that decide, none of which LLVM uses where a CPU is not said to have it.
const ASKED: [&str; 8] = ["ssse3", "avx", "avx2", "avx512f", "fma", "fma4", "bmi2", "avx512vbmi2"];

/// What a CPU for x86 has: by the features that it was given, by its level, or by LLVM's tables of CPUs.
fn of_x86(cpu: &Cpu, triple: &str) -> Result<Vectors> {
    let says = |feature: String| cpu.features.split(',').any(|f| f == feature);
    let given = |name: &str| says(format!("+{name}"));
    let has = match &*cpu.name {
        _ if !cpu.base.is_empty() || ASKED.iter().all(|name| given(name) || says(format!("-{name}"))) => {
            ASKED.map(given)
        }
        "x86-64" => ASKED.map(given),
        "x86-64-v2" => ASKED.map(|name| name == "ssse3" || given(name)),
        "x86-64-v3" => {
            ASKED.map(|name| ["ssse3", "avx", "avx2", "fma", "bmi2"].contains(&name) || given(name))
        }
        "x86-64-v4" => ASKED.map(|name| !["fma4", "avx512vbmi2"].contains(&name) || given(name)),
        _ => {
            let known = cpus::has(cpu, triple, &ASKED)?;
            std::array::from_fn(|i| known[i])
        }
    };
    let [ssse3, avx, avx2, avx512, fma, fma4, bmi2, vbmi2] = has;
    let register_bits = match () {
        () if avx512 => 512,
        () if avx2 => 256,
        () => 128,
    };
    let packing = match () {
        () if avx512 && vbmi2 => Packing::Everything,
        () if avx512 => Packing::Wide,
        () if avx2 && bmi2 && triple.starts_with("x86_64") && !is_slow(cpu) => Packing::Permuted,
        () => Packing::Nothing,
    };
    Ok(Vectors { register_bits, fused: fma || fma4, masked: avx, shuffled: ssse3 || avx, packing })
}

/// What every CPU of another target has. Where multiplication and addition are fused on some only, they are not.
fn of_others(triple: &str) -> Vectors {
    let always = ["aarch64", "arm64", "powerpc64", "s390x", "loongarch64"];
    let fused = always.iter().any(|arch| triple.starts_with(arch));
    Vectors { register_bits: 128, fused, masked: true, shuffled: false, packing: Packing::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_given_features_need_no_table() {
        let of = |name: &str, features: &str| {
            let cpu = Cpu { features: features.to_owned(), ..Cpu::named(name) };
            let Vectors { register_bits, fused, masked, shuffled, .. } =
                of_x86(&cpu, "x86_64-unknown-linux-gnu").unwrap();
            (register_bits, fused, masked, shuffled)
        };
        assert_eq!(of("x86-64", ""), (128, false, false, false));
        assert_eq!(of("x86-64", "+ssse3"), (128, false, false, true));
        assert_eq!(of("x86-64-v2", "+avx"), (128, false, true, true));
        assert_eq!(of("x86-64-v3", ""), (256, true, true, true));
        assert_eq!(of("x86-64-v4", ""), (512, true, true, true));
        assert_eq!(
            of("anything", "+ssse3,+avx,+avx2,-avx512f,-fma,+fma4,-bmi2,-avx512vbmi2"),
            (256, true, true, true)
        );
        assert_eq!(
            of("anything", "-ssse3,-avx,-avx2,-avx512f,-fma,-fma4,-bmi2,-avx512vbmi2"),
            (128, false, false, false)
        );
    }

    #[test]
    fn extensions_whose_names_look_like_registers_make_no_wide_vectors() {
        // `zmmul` is a multiplier of RISC-V, `zmm` a register of x86.
        let cpu = Cpu { features: "+zmmul".to_owned(), ..Cpu::named("generic") };
        assert_eq!(of(&cpu, "riscv64-unknown-linux-gnu").unwrap().register_bits, 128);
    }
}
