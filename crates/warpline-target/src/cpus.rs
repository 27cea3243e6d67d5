//! The CPUs that there are tables for, and which of them another CPU is like.

use std::sync::LazyLock;

use crate::table::Table;

/// What a table has no rows for.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Core {
    /// How many operations it begins in a cycle: the dispatch width that `llvm-mca` prints.
    pub dispatch: f64,
    /// How many operations on scalar integers begin in a cycle: its units for them, by LLVM's scheduling models and, of
    /// Zen 5, AMD's optimization guide.
    pub integers: f64,
    /// How many operations its reorder window holds: `MicroOpBufferSize` of LLVM's scheduling models.
    pub window: f64,
    /// Cycles that a misprediction costs: `MispredictPenalty` of LLVM's scheduling models.
    pub misprediction: f64,
    /// Cycles until what is in the nearest cache is loaded: `LoadLatency` of LLVM's scheduling models.
    pub load: f64,
}

/// A CPU with a table.
#[derive(PartialEq, Debug)]
pub struct Cpu {
    /// Bits of its vector registers.
    pub register_bits: u32,
    /// What there is no table for.
    pub core: Core,
    /// What operations cost.
    pub table: Table,
}

/// Makes the list of CPUs with the texts of their tables, later ones of which add to or replace rows of earlier ones.
macro_rules! cpus {
    ($($name:literal $bits:literal $dispatch:literal $integers:literal $window:literal $misprediction:literal
       $load:literal [$($text:literal),*];)*) => {
        /// Name, bits of registers, core and tables of each CPU.
        const TEXTS: &[(&str, u32, Core, &[&str])] = &[$((
            $name,
            $bits,
            Core {
                dispatch: $dispatch,
                integers: $integers,
                window: $window,
                misprediction: $misprediction,
                load: $load,
            },
            &[$(include_str!(concat!("../tables/", $text, ".txt"))),*],
        )),*];
    };
}

// The rows of `zen` and `common` are measured: LLVM's models have no sensible ones of gathers, scatters and divisions
// of integers for these CPUs. All rows of `znver1` and `znver5` are measured; LLVM has no model of the latter, and its
// window is an estimate. Levels of x86-64 are no CPUs: their code mostly runs on processors of today, and their figures
// are those of such code on a Zen 5. What that does by instructions that a level lacks is as on a Zen 3.
cpus! {
    "x86-64-v2" 128 8.0 6.0 448.0 13.0 4.0 ["x86-64-v2", "common", "zen", "zen5"];
    "x86-64-v3" 256 8.0 6.0 448.0 13.0 4.0 ["znver3", "common", "zen", "zen5"];
    "x86-64-v4" 512 8.0 6.0 448.0 13.0 4.0 ["znver5"];
    "haswell" 256 4.0 4.0 192.0 16.0 5.0 ["haswell", "common", "division-haswell"];
    "skylake-avx512" 512 6.0 4.0 224.0 14.0 5.0 ["skylake-avx512", "common", "division-skylake"];
    "icelake-server" 512 6.0 4.0 352.0 14.0 5.0 ["icelake-server", "common", "division-icelake"];
    "znver1" 256 4.0 4.0 192.0 17.0 4.0 ["znver1"];
    "znver3" 256 6.0 4.0 256.0 13.0 4.0 ["znver3", "common", "zen"];
    "znver4" 512 6.0 4.0 320.0 13.0 4.0 ["znver4", "common", "zen"];
    "znver5" 512 8.0 6.0 448.0 13.0 4.0 ["znver5"];
    "neoverse-n1" 128 8.0 3.0 128.0 11.0 4.0 ["neoverse-n1", "common"];
}

static CPUS: LazyLock<Vec<Cpu>> = LazyLock::new(|| {
    let read = |&(name, register_bits, core, texts): &(&str, u32, Core, &[&str])| {
        let table = Table::read(name, texts).unwrap_or_else(|e| panic!("a built-in table is wrong: {e}"));
        Cpu { register_bits, core, table }
    };
    TEXTS.iter().map(read).collect()
});

/// The CPUs that there are tables for.
#[must_use]
pub fn all() -> &'static [Cpu] {
    &CPUS
}

/// The CPU that figures of cost models are calibrated on, a Zen 3.
pub(crate) fn reference() -> &'static Cpu {
    CPUS.iter().find(|cpu| cpu.table.cpu() == "znver3").unwrap_or(&CPUS[0])
}

/// Names of CPUs of which another one's table tells most, by how they begin: Intel's cores for small devices and
/// others are like what has as much.
const ALIKE: [(&str, &str); 12] = [
    ("skylake-avx512", "skylake-avx512"),
    ("cascadelake", "skylake-avx512"),
    ("cooperlake", "skylake-avx512"),
    ("cannonlake", "skylake-avx512"),
    ("icelake", "icelake-server"),
    ("rocketlake", "icelake-server"),
    ("tigerlake", "icelake-server"),
    ("sapphirerapids", "icelake-server"),
    ("emeraldrapids", "icelake-server"),
    ("graniterapids", "icelake-server"),
    ("broadwell", "haswell"),
    ("znver2", "znver3"),
];

/// The CPU whose table tells most of one of this name, which has vector registers of so many bits. Where the name says
/// nothing, as levels of x86-64 do, it is a CPU with as much.
#[must_use]
pub fn nearest(name: &str, x86: bool, register_bits: u32) -> &'static Cpu {
    let named = |name: &str| all().iter().find(|cpu| cpu.table.cpu() == name);
    let alike = || ALIKE.iter().find(|(start, _)| name.starts_with(start)).and_then(|&(_, like)| named(like));
    let by_features = || {
        named(match register_bits {
            _ if !x86 => "neoverse-n1",
            512 => "x86-64-v4",
            256 => "x86-64-v3",
            _ => "x86-64-v2",
        })
    };
    let serves = |cpu: &&Cpu| cpu.register_bits >= register_bits && (cpu.table.cpu() == "neoverse-n1") != x86;
    let found = named(name).filter(serves).or_else(|| alike().filter(serves)).or_else(by_features);
    found.unwrap_or(&all()[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_is_a_zen_3() {
        assert_eq!(reference().table.cpu(), "znver3");
    }

    #[test]
    fn names_and_else_features_say_which_table_serves() {
        let of = |name, bits| nearest(name, true, bits).table.cpu();
        for cpu in all().iter().filter(|cpu| cpu.table.cpu() != "neoverse-n1") {
            assert_eq!(of(cpu.table.cpu(), cpu.register_bits), cpu.table.cpu());
        }
        assert_eq!(["x86-64", "x86-64-v2", "nehalem"].map(|name| of(name, 128)), ["x86-64-v2"; 3]);
        assert_eq!(of("znver2", 256), "znver3");
        assert_eq!(["x86-64-v3", "alderlake"].map(|name| of(name, 256)), ["x86-64-v3"; 2]);
        assert_eq!(["x86-64-v4", "znver9"].map(|name| of(name, 512)), ["x86-64-v4"; 2]);
        assert_eq!(of("cascadelake", 512), "skylake-avx512");
        // What features take away or add counts more than the name.
        assert_eq!(of("znver3", 512), "x86-64-v4");
        assert_eq!(of("skylake-avx512", 256), "skylake-avx512");
        assert_eq!(nearest("haswell", false, 128).table.cpu(), "neoverse-n1");
        assert_eq!(nearest("cortex-a72", false, 128).table.cpu(), "neoverse-n1");
    }
}
