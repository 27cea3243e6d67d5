//! Several CPUs in one object: which features code for a CPU may use, and how a program asks for them.
//!
//! What runs only on some machines must be asked for before it is called. So in an object for several CPUs code uses
//! no other features than those of [`FEATURES`], all of which a program can ask for, and is tuned for the CPU that
//! was named. Whether LLVM says that the CPU has a feature is found out from its inliner, which puts a function in
//! the place of a call only where the caller has all features of the callee: LLVM's C API cannot be asked directly.

use std::fmt::Write as _;

use warpline_llvm::Cpu;
use warpline_llvm::worker::{self, CodegenOptions, Output};

use crate::error::{Error, Result};
use crate::resolver::escape;

/// The CPU that has what every machine of the target has.
pub(crate) const BASELINE: &str = "x86-64";

/// Registers that the operating system must save where code of a feature runs, as bits of the register XCR0.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// Those that every program may use.
    Always,
    /// The 256-bit vector registers.
    Ymm,
    /// The 512-bit vector registers and the mask registers.
    Zmm,
}

impl State {
    /// The bits of XCR0.
    pub fn bits(self) -> u32 {
        match self {
            State::Always => 0,
            State::Ymm => 0x06,
            State::Zmm => 0xe6,
        }
    }
}

/// What can be asked of the instruction `cpuid`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Leaf {
    /// Leaf 1.
    Basic,
    /// Leaf 7.
    Extended,
    /// Leaf 7, its second part.
    More,
    /// Leaf 0x80000001.
    Amd,
}

/// A register that the instruction answers in.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Register {
    /// `eax`
    Eax,
    /// `ebx`
    Ebx,
    /// `ecx`
    Ecx,
    /// `edx`
    Edx,
}

/// A feature that a program can ask for.
#[derive(Copy, Clone, Debug)]
pub struct Feature {
    /// LLVM's name.
    pub name: &'static str,
    /// What is to be asked.
    pub leaf: Leaf,
    /// Where the answer is.
    pub register: Register,
    /// The bit there.
    pub bit: u32,
    /// What must be saved.
    pub state: State,
}

const fn feature(name: &'static str, leaf: Leaf, register: Register, bit: u32, state: State) -> Feature {
    Feature { name, leaf, register, bit, state }
}

/// The features that LLVM may use for code that does not ask for instructions by name. Whatever one of them implies
/// is among them.
pub(crate) const FEATURES: [Feature; 33] = [
    feature("sse3", Leaf::Basic, Register::Ecx, 0, State::Always),
    feature("pclmul", Leaf::Basic, Register::Ecx, 1, State::Always),
    feature("ssse3", Leaf::Basic, Register::Ecx, 9, State::Always),
    feature("fma", Leaf::Basic, Register::Ecx, 12, State::Ymm),
    feature("sse4.1", Leaf::Basic, Register::Ecx, 19, State::Always),
    feature("sse4.2", Leaf::Basic, Register::Ecx, 20, State::Always),
    feature("movbe", Leaf::Basic, Register::Ecx, 22, State::Always),
    feature("popcnt", Leaf::Basic, Register::Ecx, 23, State::Always),
    feature("avx", Leaf::Basic, Register::Ecx, 28, State::Ymm),
    feature("f16c", Leaf::Basic, Register::Ecx, 29, State::Ymm),
    feature("bmi", Leaf::Extended, Register::Ebx, 3, State::Always),
    feature("avx2", Leaf::Extended, Register::Ebx, 5, State::Ymm),
    feature("bmi2", Leaf::Extended, Register::Ebx, 8, State::Always),
    feature("avx512f", Leaf::Extended, Register::Ebx, 16, State::Zmm),
    feature("avx512dq", Leaf::Extended, Register::Ebx, 17, State::Zmm),
    feature("avx512ifma", Leaf::Extended, Register::Ebx, 21, State::Zmm),
    feature("avx512cd", Leaf::Extended, Register::Ebx, 28, State::Zmm),
    feature("avx512bw", Leaf::Extended, Register::Ebx, 30, State::Zmm),
    feature("avx512vl", Leaf::Extended, Register::Ebx, 31, State::Zmm),
    feature("avx512vbmi", Leaf::Extended, Register::Ecx, 1, State::Zmm),
    feature("avx512vbmi2", Leaf::Extended, Register::Ecx, 6, State::Zmm),
    feature("gfni", Leaf::Extended, Register::Ecx, 8, State::Always),
    feature("vpclmulqdq", Leaf::Extended, Register::Ecx, 10, State::Ymm),
    feature("avx512vnni", Leaf::Extended, Register::Ecx, 11, State::Zmm),
    feature("avx512bitalg", Leaf::Extended, Register::Ecx, 12, State::Zmm),
    feature("avx512vpopcntdq", Leaf::Extended, Register::Ecx, 14, State::Zmm),
    feature("avx512fp16", Leaf::Extended, Register::Edx, 23, State::Zmm),
    feature("avxvnni", Leaf::More, Register::Eax, 4, State::Ymm),
    feature("avx512bf16", Leaf::More, Register::Eax, 5, State::Zmm),
    feature("lzcnt", Leaf::Amd, Register::Ecx, 5, State::Always),
    feature("sse4a", Leaf::Amd, Register::Ecx, 6, State::Always),
    feature("fma4", Leaf::Amd, Register::Ecx, 16, State::Ymm),
    feature("tbm", Leaf::Amd, Register::Ecx, 21, State::Always),
];

/// A CPU that there is code for in an object for several.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The CPU, with no features but those that can be asked for.
    pub cpu: Cpu,
    /// What must be there besides what every machine of the target has.
    pub needs: Vec<Feature>,
}

impl Choice {
    /// The CPU's name as part of a name in C.
    pub fn suffix(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        self.cpu.name.chars().map(plain).collect()
    }
}

/// The CPUs of these names, those that need most first, and last one whose code runs on every machine of the target,
/// which is added if it is not named.
///
/// # Errors
/// If the target has no way of asking, or a name is unknown or stands there twice.
pub fn choices(names: &[String], triple: &str) -> Result<Vec<Choice>> {
    if !triple.starts_with("x86_64") {
        let message =
            format!("several CPUs in one object are for x86-64; the input is for {triple}: name one CPU");
        return Err(Error::option("--cpu", message));
    }
    let mut found: Vec<Choice> = Vec::new();
    for name in names {
        if name == "native" {
            let message = "`native` says nothing of the machines that several CPUs are for: name each CPU";
            return Err(Error::option("--cpu", message));
        }
        if found.iter().any(|one| one.cpu.name == *name) {
            return Err(Error::option("--cpu", format!("`{name}` stands there twice")));
        }
        let cpu = worker::find_cpu(name, triple)?;
        found.push(choice(&cpu, triple)?);
    }
    if found.iter().all(|one| !one.needs.is_empty()) {
        found.push(choice(&Cpu::named(BASELINE), triple)?);
    }
    // What needs more than another needs more features, too.
    found.sort_by_key(|one| std::cmp::Reverse(one.needs.len()));
    Ok(found)
}

fn choice(cpu: &Cpu, triple: &str) -> Result<Choice> {
    let needs = features_of(cpu, triple)?;
    let features: Vec<String> = needs.iter().map(|one| format!("+{}", one.name)).collect();
    let cpu = Cpu { name: cpu.name.clone(), features: features.join(","), base: BASELINE.to_owned() };
    Ok(Choice { cpu, needs })
}

/// The features that LLVM says a CPU has.
fn features_of(cpu: &Cpu, triple: &str) -> Result<Vec<Feature>> {
    let has = has(cpu, triple, &FEATURES.map(|feature| feature.name))?;
    Ok(FEATURES.into_iter().zip(has).filter(|&(_, has)| has).map(|(feature, _)| feature).collect())
}

/// Which of these features LLVM says a CPU for x86 has.
pub(crate) fn has(cpu: &Cpu, triple: &str, features: &[&str]) -> Result<Vec<bool>> {
    let least = if triple.starts_with("x86_64") { BASELINE } else { "i386" };
    let mut probe = format!("target triple = \"{}\"\n", escape(triple));
    let _ = writeln!(
        probe,
        "attributes #0 = {{ \"target-cpu\"=\"{}\" \"target-features\"=\"{}\" }}",
        cpu.name, cpu.features
    );
    for (i, feature) in features.iter().enumerate() {
        let _ = write!(
            probe,
            "define internal i32 @callee{i}() #{n} {{\n ret i32 {i}\n}}\n\
             define i32 @caller{i}() #0 {{\n %r = call i32 @callee{i}()\n ret i32 %r\n}}\n\
             attributes #{n} = {{ \"target-cpu\"=\"{least}\" \"target-features\"=\"+{feature}\" }}\n",
            n = i + 1,
        );
    }
    let options =
        CodegenOptions { passes: "inline".to_owned(), ..CodegenOptions::new(cpu.clone(), Output::Text) };
    let inlined = worker::codegen_linked(vec![probe.into_bytes()], "the probe for features", &options)?;
    let inlined = String::from_utf8_lossy(&inlined);
    Ok((0..features.len()).map(|i| !inlined.contains(&format!("call i32 @callee{i}()"))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bit_stands_for_two_features() {
        let mut places: Vec<_> = FEATURES.iter().map(|one| (one.leaf, one.register, one.bit)).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), FEATURES.len());
    }
}
