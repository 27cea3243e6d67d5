//! CPUs' mathematics without libraries.

use warpline_llvm::{Cpu, Llvm};
use warpline_vectorize::MathLibrary;

/// A machine without libraries, which fuses multiplications and additions or not, and converts integers of 64 bits one
/// at a time.
pub struct Plain {
    pub fused: bool,
}

impl Plain {
    /// What a CPU of these has.
    pub fn of(cpu: &Cpu) -> Plain {
        Plain { fused: cpu.name != "x86-64-v2" }
    }
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

/// The CPUs of which this machine runs code; one of them does not multiply and add in one instruction.
pub fn all_cpus() -> Vec<Cpu> {
    match Llvm::get() {
        Ok(_) => crate::cpus::cpus(),
        Err(error) => {
            eprintln!("skipped: {error}");
            Vec::new()
        }
    }
}
