//! glibc's vector mathematics library, by the x86-64 vector function ABI.
//!
//! `_ZGVeN16v_expf` is `expf` on 16 lanes with AVX-512 (`e`; `d`: AVX2, `b`: SSE), no mask (`N`), one vector argument
//! (`v`). Only what the library of this machine has is used.

use warpline_vectorize::MathLibrary;

/// The largest error that glibc documents for its vector functions, in units in the last place, rounding to nearest.
pub const MAX_ULP: u32 = 4;

/// Whether the library exists for a target.
pub fn is_for(triple: &str) -> bool {
    // Linux triples that name no C library mean glibc.
    let other = ["musl", "android", "ohos", "uclibc"].iter().any(|library| triple.contains(library));
    triple.starts_with("x86_64") && triple.contains("linux") && !other
}

/// The functions of libmvec for a CPU.
pub struct Libmvec {
    /// The widest vector registers that it may use, in bits.
    register_bits: u32,
}

impl Libmvec {
    /// The library for a target and a CPU with vector registers of this size; without functions where it does not
    /// exist.
    pub fn new(triple: &str, register_bits: u32) -> Libmvec {
        Libmvec { register_bits: if is_for(triple) { register_bits } else { 0 } }
    }

    /// The symbol of a function, whether the library has it or not.
    fn symbol(&self, scalar: &str, lanes: u32) -> Option<String> {
        let element_bits = if scalar.ends_with('f') && scalar != "erf" { 32 } else { 64 };
        let bits = element_bits * lanes;
        let isa = match bits {
            128 => 'b',
            256 => 'd',
            512 => 'e',
            _ => return None,
        };
        let base = scalar.strip_suffix('f').filter(|_| element_bits == 32).unwrap_or(scalar);
        let arguments = if matches!(base, "pow" | "atan2" | "hypot") { "vv" } else { "v" };
        (bits <= self.register_bits).then(|| format!("_ZGV{isa}N{lanes}{arguments}_{scalar}"))
    }
}

impl MathLibrary for Libmvec {
    fn vector_function(&self, scalar: &str, lanes: u32) -> Option<String> {
        self.symbol(scalar, lanes).filter(|symbol| warpline_llvm::process_has_symbol(symbol))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_vector_function_abi() {
        let avx512 = Libmvec::new("x86_64-unknown-linux-gnu", 512);
        let symbol = |scalar: &str, lanes| avx512.symbol(scalar, lanes);
        assert_eq!(symbol("expf", 16).as_deref(), Some("_ZGVeN16v_expf"));
        assert_eq!(symbol("pow", 4).as_deref(), Some("_ZGVdN4vv_pow"));
        assert_eq!(symbol("atan2f", 4).as_deref(), Some("_ZGVbN4vv_atan2f"));
        assert_eq!(symbol("erf", 8).as_deref(), Some("_ZGVeN8v_erf"));
        assert_eq!(symbol("erff", 8).as_deref(), Some("_ZGVdN8v_erff"));
        assert_eq!(symbol("expf", 32), None);
    }

    #[test]
    fn a_cpu_gets_no_wider_registers_than_it_has() {
        let avx2 = Libmvec::new("x86_64-unknown-linux-gnu", 256);
        assert_eq!(avx2.symbol("expf", 16), None);
        assert!(avx2.symbol("expf", 8).is_some());
        assert_eq!(Libmvec::new("x86_64-unknown-linux-musl", 512).symbol("expf", 4), None);
        assert_eq!(Libmvec::new("aarch64-unknown-linux-gnu", 512).symbol("expf", 4), None);
    }
}
