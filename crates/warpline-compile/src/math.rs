//! Vector mathematics: what the vectorizer [writes out](Elementary), [glibc's library](crate::libmvec), and SLEEF for
//! what these do not have or not as exactly.
//!
//! `Sleef_expf16_u10avx512f` is `expf` on 16 lanes with AVX-512, with an error of at most 1.0 units in the last
//! place; `d` in the place of the second `f` stands for double precision. Only what is installed on this machine is
//! used. glibc's functions come first where they are exact enough: they took 0.2 to 0.6 of the time of SLEEF 3.5.1.
//! Expansions come before both: as exact, about as fast on ordinary numbers, and as fast on all others. Where one
//! lane's result is below the normal numbers, as `exp` of a large negative number is, glibc's functions call the scalar
//! one for every lane: 12 times as long (measured with AVX2 on Zen 3).

use warpline_ir::Module;
use warpline_vectorize::width::Machine;
use warpline_vectorize::{Elementary, MathLibrary};

use crate::libmvec::{Libmvec, MAX_ULP};

/// What SLEEF has, without the letter of the type, and its bound in tenths of a unit in the last place.
const SLEEF: [(&str, u32); 28] = [
    ("acos", 10),
    ("acosh", 10),
    ("asin", 10),
    ("asinh", 10),
    ("atan", 10),
    ("atan2", 10),
    ("atanh", 10),
    ("cbrt", 10),
    ("cos", 10),
    ("cosh", 10),
    ("erf", 10),
    ("erfc", 15),
    ("exp", 10),
    ("exp10", 10),
    ("exp2", 10),
    ("expm1", 10),
    ("hypot", 5),
    ("lgamma", 10),
    ("log", 10),
    ("log10", 10),
    ("log1p", 10),
    ("log2", 10),
    ("pow", 10),
    ("sin", 10),
    ("sinh", 10),
    ("tan", 10),
    ("tanh", 10),
    ("tgamma", 10),
];

/// The vector mathematics for a CPU.
pub struct VectorMath {
    /// Whether functions can be written out.
    fused: bool,
    converts_long_integers: bool,
    libmvec: Libmvec,
    /// The widest vector registers that SLEEF may use, in bits.
    sleef_bits: u32,
    /// The largest error that is accepted, in units in the last place.
    max_ulp: u32,
}

impl VectorMath {
    /// What there is for a target and a CPU, within an error in units in the last place; `sleef` says whether SLEEF
    /// may be used.
    pub fn new(triple: &str, machine: &Machine, max_ulp: u32, sleef: bool) -> VectorMath {
        let register_bits = machine.register_bits;
        let libmvec = Libmvec::new(triple, if max_ulp >= MAX_ULP { register_bits } else { 0 });
        let sleef = sleef && triple.starts_with("x86_64") && triple.contains("linux");
        VectorMath {
            fused: machine.fused,
            // AVX-512 has mask registers, and such instructions.
            converts_long_integers: !triple.starts_with("x86_64") || machine.mask_registers,
            libmvec,
            sleef_bits: if sleef { register_bits } else { 0 },
            max_ulp,
        }
    }

    /// SLEEF's symbol of a function, whether it is installed or not.
    fn sleef_symbol(&self, scalar: &str, lanes: u32) -> Option<String> {
        let of = |base: &str| SLEEF.iter().find(|(name, _)| *name == base);
        let single = scalar.strip_suffix('f').and_then(of).map(|found| (found, "f", 32));
        let (&(base, tenths), letter, element_bits) = single.or_else(|| of(scalar).map(|f| (f, "d", 64)))?;
        let bits = element_bits * lanes;
        let set = match bits {
            128 => "sse2",
            256 => "avx2",
            512 => "avx512f",
            _ => return None,
        };
        let fits = bits <= self.sleef_bits && tenths <= self.max_ulp * 10;
        fits.then(|| format!("Sleef_{base}{letter}{lanes}_u{tenths:02}{set}"))
    }
}

impl MathLibrary for VectorMath {
    fn vector_function(&self, scalar: &str, lanes: u32) -> Option<String> {
        let installed = |symbol: &String| warpline_llvm::process_has_symbol(symbol);
        self.libmvec
            .vector_function(scalar, lanes)
            .or_else(|| self.sleef_symbol(scalar, lanes).filter(installed))
    }

    fn fused(&self) -> bool {
        self.fused
    }

    fn converts_long_integers(&self) -> bool {
        self.converts_long_integers
    }

    fn inline_expansion(&self, function: Elementary) -> bool {
        self.fused && function.max_ulp() <= self.max_ulp
    }
}

/// What an object that is made of a module must be linked with, for its vector mathematics.
pub fn libraries(module: &Module) -> Vec<&'static str> {
    let has = |prefix: &str| {
        module.symbols.values().any(|s| s.name.starts_with(prefix) && module.function(&s.name).is_none())
    };
    let mut libraries = Vec::new();
    libraries.extend(has("_ZGV").then_some("mvec"));
    libraries.extend(has("Sleef_").then_some("sleef"));
    libraries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(register_bits: u32) -> Machine {
        Machine { register_bits, ..Machine::default() }
    }

    #[test]
    fn functions_are_written_out_where_they_are_exact_enough_and_multiplication_fuses() {
        let linux = "x86_64-unknown-linux-gnu";
        let is_written_out = |machine: &Machine, max_ulp, function: &str| {
            let function = Elementary::of(function).expect("it can be expanded inline");
            VectorMath::new(linux, machine, max_ulp, false).inline_expansion(function)
        };
        let fused = machine(256);
        for function in ["expf", "powf", "exp", "log10"] {
            assert!(is_written_out(&fused, 4, function), "{function}");
            assert!(is_written_out(&machine(512), 4, function), "{function}");
        }
        for function in ["expf", "exp", "log10"] {
            assert!(is_written_out(&fused, 1, function), "{function}");
            assert!(!is_written_out(&fused, 0, function), "{function}");
        }
        assert!(!is_written_out(&fused, 1, "powf") && !is_written_out(&fused, 2, "log10f"));
        let plain = Machine { fused: false, ..fused };
        assert!(!is_written_out(&plain, 4, "expf") && !is_written_out(&plain, 4, "exp"));
    }

    #[test]
    fn names_are_those_of_sleef() {
        let all = VectorMath::new("x86_64-unknown-linux-gnu", &machine(512), 4, true);
        let symbol = |scalar: &str, lanes| all.sleef_symbol(scalar, lanes);
        assert_eq!(symbol("expf", 16).as_deref(), Some("Sleef_expf16_u10avx512f"));
        assert_eq!(symbol("exp", 8).as_deref(), Some("Sleef_expd8_u10avx512f"));
        assert_eq!(symbol("erf", 4).as_deref(), Some("Sleef_erfd4_u10avx2"));
        assert_eq!(symbol("erff", 4).as_deref(), Some("Sleef_erff4_u10sse2"));
        assert_eq!(symbol("hypot", 2).as_deref(), Some("Sleef_hypotd2_u05sse2"));
        assert_eq!(symbol("exp", 16), None);
        assert_eq!(symbol("remainder", 8), None);
    }

    #[test]
    fn bounds_registers_and_targets_are_kept() {
        let one = VectorMath::new("x86_64-unknown-linux-gnu", &machine(256), 1, true);
        assert!(one.sleef_symbol("expf", 8).is_some() && one.sleef_symbol("expf", 16).is_none());
        assert_eq!(one.sleef_symbol("erfcf", 8), None, "1.5 units are more than one");
        assert_eq!(one.libmvec.vector_function("expf", 8), None, "4 units are more than one");
        for (triple, ulp, sleef) in [
            ("aarch64-unknown-linux-gnu", 4, true),
            ("x86_64-unknown-linux-gnu", 0, true),
            ("x86_64-unknown-linux-gnu", 4, false),
        ] {
            assert_eq!(VectorMath::new(triple, &machine(512), ulp, sleef).sleef_symbol("expf", 8), None);
        }
    }
}
