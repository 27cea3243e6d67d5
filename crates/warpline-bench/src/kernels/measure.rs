//! One kernel on one CPU.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use warpline::vectorize::counts::{BranchCounts, Counts, LoopCounts, MaskCounts, TestCounts};
use warpline::vectorize::{Boscc, Linearize};
use warpline_compile::KernelOptions;
use warpline_compile::loops::{self, FoundLoop, LoopOptions};
use warpline_kernels::{Kernel as Entry, Size};
use warpline_llvm::worker::{self, CodegenOptions, Output};
use warpline_llvm::{Jit, JitFunction};

use super::ispc::{self, Program};
use super::{compilers, inputs};
use crate::options::{BenchKernelsOptions, KernelSize};
use warpline_cli::drive;
use warpline_cli::run::compare::Comparison;
use warpline_cli::run::data::{Data, Image};
use warpline_cli::run::loops::REGROUPED;
use warpline_cli::run::timing::median;
use warpline_compile::error::{Error, Result};
use warpline_compile::kernel::{self, Kernel};
use warpline_compile::spec::{Tolerance, Width};

/// A variant that takes longer than the scalar program by this factor is not run to its end (paper 3: full
/// if-conversion of mpc timed out).
const PATIENCE: u64 = 20;
/// Such a variant is found out on this part of the range.
const PREFIX: i64 = 64;
/// How many times each variant is run.
const RUNS: std::ops::RangeInclusive<usize> = 3..=301;
/// What counting blocks call.
const COUNTER: &str = "warpline_bench_count";

/// Blocks that were executed, and the active lanes in them.
static COUNTS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// What was measured. Times are medians of processor time, in nanoseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Measurement {
    /// The kernel's name.
    pub kernel: String,
    /// The data set's.
    pub data: String,
    /// The CPU that code was made for.
    pub cpu: String,
    /// W.
    pub width: u32,
    /// Elements of all results that are not the scalar program's, over all variants.
    pub mismatches: u64,
    /// The scalar program after O3.
    pub scalar_ns: u64,
    /// The kernel in C after gcc's -O3; none where there is no gcc, or none that knows the CPU.
    pub gcc_ns: Option<u64>,
    /// The same after clang's -O3, its vectorizers included.
    #[serde(default)]
    pub clang_ns: Option<u64>,
    /// The kernel for ISPC, by the best of its targets; none where there is no `ispc`, or no such kernel.
    #[serde(default)]
    pub ispc_ns: Option<u64>,
    /// What was written with vectors by hand, after gcc's -O3, if there is that for the kernel.
    pub by_hand_ns: Option<u64>,
    /// Full if-conversion; none if it would have taken more than 20 times as long as the scalar program.
    pub full_ns: Option<u64>,
    /// Partial linearization.
    pub partial_ns: u64,
    /// Partial linearization with tests that skip code without an active lane.
    pub boscc_ns: u64,
    /// Runs of each.
    pub runs: usize,
    /// The mean share of lanes that are active in a block that is executed, after partial linearization.
    pub utilization: f64,
    /// The same after full if-conversion.
    pub utilization_full: Option<f64>,
    /// The same with tests.
    pub utilization_boscc: f64,
    /// What became of branches.
    pub branches: BranchCounts,
    /// Loops.
    pub loops: LoopCounts,
    /// Exits of divergent loops.
    pub exits: LoopCounts,
    /// Predicates of loads and stores.
    pub masks: MaskCounts,
    /// Tests that were made where they are needed, and those that were chosen.
    pub boscc: TestCounts,
    /// Bytes of machine code.
    pub code: CodeBytes,
    /// How long vectorizing takes: W-lane forms without and with a mask.
    pub vectorize_ns: u64,
}

/// Bytes of machine code, drivers included.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct CodeBytes {
    /// The scalar program.
    pub scalar: u64,
    /// Full if-conversion.
    pub full: u64,
    /// Partial linearization.
    pub partial: u64,
    /// The same with tests.
    pub boscc: u64,
}

/// A way to vectorize.
struct Variant {
    /// The name of its entry.
    entry: &'static str,
    /// The name of the entry of the copy that counts.
    counting: &'static str,
    linearize: Linearize,
    boscc: Boscc,
}

const SCALAR: &str = "scalar";

fn variants(boscc: Boscc) -> [Variant; 3] {
    let of = |entry, counting, linearize, boscc| Variant { entry, counting, linearize, boscc };
    [
        of("full", "counting_full", Linearize::Full, Boscc::Off),
        of("partial", "counting_partial", Linearize::Partial, Boscc::Off),
        of("boscc", "counting_boscc", Linearize::Partial, boscc),
    ]
}

/// Measures a kernel on one of its data sets.
///
/// # Errors
/// If it cannot be vectorized or run.
pub(super) fn measure(
    entry: &Entry,
    data: usize,
    cpu: &str,
    asked: &BenchKernelsOptions,
) -> Result<Measurement> {
    let folder = tempfile::tempdir().map_err(|e| Error::Vectorize(format!("no temporary folder: {e}")))?;
    let path = folder.path().join(entry.file);
    std::fs::write(&path, entry.source)
        .map_err(|e| Error::Output { path: path.clone(), reason: e.to_string() })?;
    let options = KernelOptions {
        function: Some(entry.function.to_owned()),
        args: entry.args.map(str::to_owned),
        width: asked.width,
        cpu: cpu.to_owned(),
        sleef: true,
        ..KernelOptions::new(path)
    };
    let size = match asked.size {
        KernelSize::Small => Size::Small,
        KernelSize::Usual => Size::Usual,
        KernelSize::Paper => Size::Paper,
    };
    let made = Made::of(options, asked.boscc.into())?;
    let inputs = (entry.make)(data, size, asked.seed);
    let inputs = inputs::data(made.kernel.function(), &made.kernel.args, inputs)?;
    let object = made.code()?;
    let jit = Jit::new()?;
    jit.add_object(&object, entry.name)?;
    let mut own = Vec::new();
    for compiler in [compilers::GCC, compilers::CLANG] {
        let made = compiler.object(entry, made.kernel.function(), &made.kernel.args, cpu, folder.path());
        if let Some(object) = made {
            jit.add_object(&object, "what a compiler of C makes")?;
            own.push(compiler.entry);
        }
    }
    let by_hand = compilers::by_hand(entry, cpu, folder.path());
    if let Some(object) = &by_hand {
        jit.add_object(object, "what was written by hand")?;
        own.push(compilers::BY_HAND);
    }
    let by_ispc = match &asked.ispc {
        Some(program) => ispc::programs(program, entry.name, &made.kernel, cpu, folder.path())?,
        None => Vec::new(),
    };
    for object in by_ispc.iter().flat_map(|program| &program.objects) {
        jit.add_object(object, "what ISPC makes")?;
    }
    let mut others = Vec::new();
    for name in own {
        let (program, tolerance) = (jit.function(name)?, made.tolerance);
        others.push(Other { name, program, tolerance, may_fuse: false });
    }
    for Program { entry, .. } in &by_ispc {
        let tolerance = Some(ispc::tolerance());
        others.push(Other { name: entry, program: jit.function(entry)?, tolerance, may_fuse: true });
    }
    let measured = Runs::of(&jit, others, &inputs, made.tolerance, asked.time)?;
    let of = |name: &str| measured.others.iter().find(|(other, _)| other == name).map(|(_, ns)| *ns);
    let ispc_ns = by_ispc.iter().filter_map(|one| of(&one.entry)).min();
    let Made { counts, tests, width, vectorize_ns, .. } = made;
    Ok(Measurement {
        kernel: entry.name.to_owned(),
        data: entry.data[data].to_owned(),
        cpu: cpu.to_owned(),
        width,
        mismatches: measured.mismatches,
        scalar_ns: measured.scalar,
        gcc_ns: of(compilers::GCC.entry),
        clang_ns: of(compilers::CLANG.entry),
        by_hand_ns: of(compilers::BY_HAND),
        ispc_ns,
        full_ns: measured.variants[0],
        partial_ns: measured.variants[1].unwrap_or(u64::MAX),
        boscc_ns: measured.variants[2].unwrap_or(u64::MAX),
        runs: measured.runs,
        utilization: measured.shares[1].unwrap_or(0.0) / f64::from(width),
        utilization_full: measured.shares[0].map(|share| share / f64::from(width)),
        utilization_boscc: measured.shares[2].unwrap_or(0.0) / f64::from(width),
        branches: counts.branches,
        loops: counts.loops,
        exits: counts.exits,
        masks: counts.masks,
        boscc: tests,
        code: code_bytes(&object),
        vectorize_ns,
    })
}

/// A kernel with all its variants in its module.
struct Made {
    kernel: Kernel,
    width: u32,
    /// What became of branches and the like by partial linearization.
    counts: Counts,
    /// The tests of the variant that has them.
    tests: TestCounts,
    tolerance: Option<Tolerance>,
    vectorize_ns: u64,
}

impl Made {
    fn of(mut options: KernelOptions, boscc: Boscc) -> Result<Made> {
        let (mut kernel, found) = open(&options)?;
        drive::scalar(&mut kernel, SCALAR)?;
        drive::counter(&mut kernel, COUNTER, COUNTS.as_ptr().expose_provenance() as u64)?;
        let (mut counts, mut tests, mut vectorize_ns) = (Counts::default(), TestCounts::default(), 0);
        let mut width = kernel.width;
        let (mut approximate, mut regrouped) = (false, false);
        // That with tests first, as users get it: where loops are the unit, the number of lanes is chosen for it.
        for Variant { entry, counting, linearize, boscc } in variants(boscc).into_iter().rev() {
            options.linearize = linearize;
            options.boscc = Some(boscc);
            for count in [false, true] {
                options.count_lanes = count.then(|| COUNTER.to_owned());
                let name = if count { counting } else { entry };
                let begun = Instant::now();
                let made = if found.is_empty() {
                    drive::lanes(&mut kernel, &options, name)?
                } else {
                    let mut loops = drive::loops(&mut kernel, &options, &found, name)?;
                    regrouped |= loops.iter().any(|l| l.made.carried.iter().any(|c| c.rounds_otherwise));
                    width = loops[0].width;
                    // All variants have as many lanes as the first.
                    options.width = Some(Width::Lanes(width));
                    loops.swap_remove(0).made.variants.full
                };
                approximate |= made.approximate || regrouped;
                match entry {
                    "partial" if !count => {
                        counts = made.counts;
                        vectorize_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
                    }
                    "boscc" => tests = made.counts.boscc,
                    _ => {}
                }
            }
        }
        let usual = Tolerance {
            ulp: Some(u64::from(options.math_ulp)),
            rel: regrouped.then_some(REGROUPED),
            ..Tolerance::default()
        };
        let tolerance = approximate.then(|| kernel.directives.tolerance.unwrap_or(usual));
        Ok(Made { kernel, width, counts, tests, tolerance, vectorize_ns })
    }

    /// An object with an entry for each program.
    fn code(&self) -> Result<Vec<u8>> {
        let mut visible = vec![SCALAR];
        visible.extend(variants(Boscc::Off).iter().flat_map(|v| [v.entry, v.counting]));
        let options = CodegenOptions {
            define_missing: true,
            define_lane_operations: true,
            ..self.kernel.codegen_options(&visible, Output::Object)
        };
        Ok(worker::codegen(self.kernel.imported.bridge.module(), &options)?)
    }
}

/// Reads a kernel; with the loops that are meant if its function is not the unit.
fn open(options: &KernelOptions) -> Result<(Kernel, Vec<FoundLoop>)> {
    if options.args.is_some() {
        return Ok((kernel::open(options)?, Vec::new()));
    }
    loops::open(&LoopOptions::marked(options.clone()))?.only()
}

/// A program that is compared with.
struct Other<'a> {
    name: &'a str,
    program: JitFunction<'a>,
    /// How much its results may differ.
    tolerance: Option<Tolerance>,
    /// Whether it fuses multiplications and additions where the kernel does not.
    may_fuse: bool,
}

/// What running all programs shows.
struct Runs {
    scalar: u64,
    /// The times of those that are compared with, by their names.
    others: Vec<(String, u64)>,
    /// In the order of [`variants`]; none for one that takes too long.
    variants: Vec<Option<u64>>,
    /// The mean number of active lanes.
    shares: Vec<Option<f64>>,
    runs: usize,
    mismatches: u64,
}

impl Runs {
    fn of(
        jit: &Jit,
        others: Vec<Other<'_>>,
        data: &Data,
        tolerance: Option<Tolerance>,
        seconds: f64,
    ) -> Result<Runs> {
        let scalar = jit.function(SCALAR)?;
        let variants = variants(Boscc::Off);
        let mut bench = Bench::new(data, &scalar);
        let (mut shares, mut mismatches) = (Vec::new(), 0);
        for other in &others {
            let found = bench.check(&other.program, other.tolerance.as_ref(), other.name);
            // Fused operations change a few elements much where counts of iterations depend on them.
            let allowed = if other.may_fuse { bench.elements() / 64 } else { 0 };
            mismatches += if found > allowed { found } else { 0 };
        }
        let names: Vec<String> = others.iter().map(|other| other.name.to_owned()).collect();
        let others = others.into_iter().map(|other| Some(other.program));
        let mut programs: Vec<_> = std::iter::once(Some(scalar)).chain(others).collect();
        for v in &variants {
            let (program, counting) = (jit.function(v.entry)?, jit.function(v.counting)?);
            let finishes = bench.finishes(&scalar, &program);
            if finishes {
                for program in [&program, &counting] {
                    mismatches += bench.check(program, tolerance.as_ref(), v.entry);
                }
                let [blocks, lanes] = COUNTS.each_ref().map(|n| n.swap(0, Ordering::Relaxed));
                shares.push((blocks > 0).then(|| lanes as f64 / blocks as f64));
            } else {
                shares.push(None);
            }
            programs.push(finishes.then_some(program));
        }
        let mut times: Vec<Vec<u64>> = programs.iter().map(|_| Vec::new()).collect();
        let (begun, whole) = (Instant::now(), Duration::try_from_secs_f64(seconds).unwrap_or_default());
        let mut runs = 0;
        while runs < *RUNS.start() || (begun.elapsed() < whole && runs < *RUNS.end()) {
            for (program, times) in programs.iter().zip(&mut times) {
                times.extend(program.as_ref().map(|p| bench.time(p, data.end)));
            }
            runs += 1;
        }
        let mut medians = times.iter_mut().map(|t| (!t.is_empty()).then(|| median(t)));
        let scalar = medians.next().flatten().unwrap_or(0);
        let others = names.into_iter().map(|name| (name, medians.next().flatten().unwrap_or(0))).collect();
        Ok(Runs { scalar, others, variants: medians.collect(), shares, runs, mismatches })
    }
}

/// Runs programs on the same data.
struct Bench<'a> {
    data: &'a Data,
    image: Image,
    /// What the scalar program leaves.
    reference: Image,
    /// The buffers that it changes; the others need not be given their contents again.
    written: Vec<usize>,
}

impl<'a> Bench<'a> {
    fn new(data: &'a Data, scalar: &JitFunction<'_>) -> Bench<'a> {
        let mut reference = Image::new(data);
        let mut slots = reference.slots(data, data.end);
        scalar.call(&mut slots);
        let changed = |&b: &usize| reference.bytes(data, b) != data.buffers[b].initial;
        let written = (0..data.buffers.len()).filter(changed).collect();
        Bench { data, image: Image::new(data), reference, written }
    }

    /// Runs a program up to an index and says how long that takes.
    fn time(&mut self, program: &JitFunction<'_>, end: i64) -> u64 {
        self.image.restore_some(self.data, &self.written);
        let mut slots = self.image.slots(self.data, end);
        program.time_ns(&mut slots)
    }

    /// Whether a program is likely to end soon enough, going by a part of the range.
    fn finishes(&mut self, scalar: &JitFunction<'_>, program: &JitFunction<'_>) -> bool {
        let part = (self.data.end - self.data.begin) / PREFIX;
        if part < PREFIX {
            return true;
        }
        let end = self.data.begin + part / PREFIX * PREFIX;
        // What takes no time is no sign of what the rest will take.
        self.time(program, end) <= PATIENCE * self.time(scalar, end).max(100_000)
    }

    /// How many elements the buffers have that the scalar program changes.
    fn elements(&self) -> u64 {
        let of = |&b: &usize| {
            let size = self.data.buffers[b].elem.bytes();
            (self.reference.bytes(self.data, b).len() / size) as u64
        };
        self.written.iter().map(of).sum()
    }

    /// Runs a program and counts what it leaves otherwise than the scalar program.
    fn check(&mut self, program: &JitFunction<'_>, tolerance: Option<&Tolerance>, name: &str) -> u64 {
        self.image.restore(self.data);
        let mut slots = self.image.slots(self.data, self.data.end);
        program.call(&mut slots);
        let mut found = Comparison::default();
        for (b, buffer) in self.data.buffers.iter().enumerate() {
            let (expected, got) = (self.reference.bytes(self.data, b), self.image.bytes(self.data, b));
            found.arrays(buffer.elem, expected, got, tolerance, &buffer.name);
        }
        if let Some(first) = found.first {
            warpline_cli::output::complain(&format!("{name}: {first}, and {} more", found.mismatches - 1));
        }
        found.mismatches
    }
}

/// The sizes of the functions that belong to each variant; their names begin with the entry's.
fn code_bytes(object: &[u8]) -> CodeBytes {
    use object::{Object as _, ObjectSymbol as _};
    let file = object::File::parse(object).ok();
    let named: Vec<(&str, u64)> = match &file {
        Some(file) => file.symbols().filter_map(|s| Some((s.name().ok()?, s.size()))).collect(),
        None => Vec::new(),
    };
    let of =
        |entry: &str| named.iter().filter(|(name, _)| name.starts_with(entry)).map(|(_, size)| size).sum();
    CodeBytes { scalar: of("scalar"), full: of("full"), partial: of("partial"), boscc: of("boscc") }
}
