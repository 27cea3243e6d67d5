//! CPUs to make code for: what LLVM makes of masks and shuffles is not the same on all.

use warpline_llvm::Cpu;

/// The CPUs whose code this machine can run, its own first: on x86-64 with vectors of 128, 256 and 512 bits,
/// the last with mask registers.
pub fn cpus() -> Vec<Cpu> {
    let mut cpus = vec![Cpu::native().expect("LLVM is there")];
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! has {
            ($($feature:tt)*) => { $(is_x86_feature_detected!($feature))&&* };
        }
        if has!("sse4.2" "popcnt" "cmpxchg16b") {
            cpus.push(Cpu::named("x86-64-v2"));
        }
        if has!("avx2" "bmi1" "bmi2" "fma" "f16c" "lzcnt" "movbe") {
            cpus.push(Cpu::named("haswell"));
        }
        if has!("avx512f" "avx512bw" "avx512dq" "avx512cd" "avx512vl" "bmi2" "fma" "f16c" "lzcnt" "adx" "movbe")
        {
            cpus.push(Cpu::named("skylake-avx512"));
        }
    }
    cpus
}
