//! What a seed stands for: a program, its inputs, and how it is vectorized and compiled.

use warpline_interp::LaneSet;
use warpline_llvm::{Cpu, Effort};
use warpline_testkit::differential::Form;
use warpline_testkit::programs::loops::around;
use warpline_testkit::programs::{Program, ProgramOptions, generate};
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::width::Machine;
use warpline_vectorize::{Gathers, Packing};

use crate::cpus::cpus;

/// Everything but the program itself, which shrinks.
#[derive(Debug)]
pub struct Setup {
    /// The seed of program and inputs.
    pub seed: u64,
    /// Lanes.
    pub width: u32,
    /// The lanes that take part; `None`: all, and the function has no mask.
    pub mask: Option<LaneSet>,
    /// The number of indices, if the driver over a range of them is run rather than the function itself.
    pub indices: Option<u32>,
    /// Whether the unit is not the kernel, but a loop around it (see [`warpline_testkit::programs::loops`]).
    pub looped: bool,
    /// What the vectorizer makes.
    pub form: Form,
    /// What is compiled for.
    pub cpu: Cpu,
    /// The widest vectors that LLVM is to use.
    pub vector_bits: Option<u32>,
    /// LLVM's passes.
    pub passes: &'static str,
    /// How hard its code generator tries.
    pub effort: Effort,
    /// Whether buffers end, rather than begin, at an inaccessible page.
    pub at_end: bool,
}

/// LLVM's passes as users get them; none is the harshest test of its instruction selection.
const PASSES: [&str; 6] = ["default<O2>", "default<O2>", "default<O2>", "default<O3>", "default<O1>", ""];

/// Passes that take little time. LLVM takes most of a run's, and where a program fails, it mostly fails whatever LLVM
/// does with it.
const QUICK: [&str; 6] = [LIGHT, LIGHT, LIGHT, LIGHT, "function(sroa)", ""];
const LIGHT: &str = "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

/// Passes and effort: one program in four gets what users may get.
fn effort(rng: &mut SplitMix64) -> (&'static str, Effort) {
    match rng.below(8) {
        0 => (*rng.pick(&PASSES), Effort::Less),
        1 => (*rng.pick(&PASSES), Effort::Most),
        _ => (*rng.pick(&QUICK), Effort::Least),
    }
}

/// The program of a seed and its setup.
pub fn of_seed(seed: u64) -> (Program, Setup) {
    let mut rng = SplitMix64::new(seed);
    let mut options = ProgramOptions::random(&mut rng);
    let width = [1, 2, 3, 4, 4, 7, 8, 8, 16, 16, 32, [32, 64][rng.below(2)]][rng.below(12)];
    let mask = (rng.below(3) == 0).then(|| LaneSet(rng.next_u64() & LaneSet::first(width).0));
    let indices = (mask.is_none() && rng.chance(1, 2)).then(|| rng.between(1, 100) as u32);
    let mut form = Form::random(&mut rng);
    let cpus = cpus();
    let (passes, effort) = effort(&mut rng);
    let looped = rng.chance(1, 6);
    if looped {
        // Iterations side by side make calls in another order, and are not asked about lanes.
        (options.effects, options.lane_operations, options.atomics) = (false, false, false);
    }
    let cpu = rng.pick(&cpus).clone();
    if form.gathers == Gathers::Avx2 && !has_avx2(&cpu) {
        form.gathers = Gathers::Nothing;
    }
    let setup = Setup {
        seed,
        width,
        mask: mask.filter(|_| !looped),
        indices: indices.filter(|_| !looped),
        looped,
        form,
        cpu,
        vector_bits: *rng.pick(&[None, None, Some(256), Some(512)]),
        passes,
        effort,
        at_end: rng.chance(1, 2),
    };
    let program = generate(seed, &options);
    let program = if looped { around(&program, &mut rng).program } else { program };
    (program, setup)
}

/// Whether one of [`cpus`] has AVX2.
fn has_avx2(cpu: &Cpu) -> bool {
    matches!(&*cpu.name, "haswell" | "skylake-avx512") || cpu.features.split(',').any(|f| f == "+avx2")
}

impl Setup {
    /// The machine of the form, as far as the CPU has its instructions.
    pub(crate) fn machine(&self) -> Machine {
        let packing = match (&*self.cpu.name, self.form.gathers) {
            ("haswell", Gathers::Avx2) => Packing::Permuted,
            // Elsewhere registers of 512 bits are none that LLVM uses.
            ("skylake-avx512", _) if self.vector_bits == Some(512) => Packing::Wide,
            _ => Packing::Nothing,
        };
        Machine { packing, ..self.form.machine() }
    }

    /// How many times the kernel is run at once: a function with a loop once.
    pub fn lanes(&self) -> u32 {
        if self.looped { 1 } else { self.width }
    }
}
