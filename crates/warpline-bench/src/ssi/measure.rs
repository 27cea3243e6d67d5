//! Counts and times of one file.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use warpline::dataflow::Code;
use warpline::ir::{self, Function};
use warpline::ssa;
use warpline_analysis::ssi::{Strategy, ssify};
use warpline_llvm::{Module, Stopwatch};
use warpline_testkit::reference::dependence_edges;

use super::solvers::{self, Solved};
use crate::files::{progress, stem};
use warpline_cli::forms::Form;
use warpline_cli::sampling::{Sampling, median, medians};
use warpline_compile::error::Result;
use warpline_compile::kernel::load;
use warpline_llvm::worker::LoadOptions;

/// What is measured: a strategy for each row of the paper's Figure 5, and the baseline.
pub(super) const FORMS: [&str; 10] = [
    "singer",
    "abcd",
    "conditional-constants",
    "constants",
    "ssi",
    "stephenson",
    "mahlke",
    "ssu",
    "hochstadt",
    "null-pointers",
];

/// How many samples are taken of each solver at most.
const SOLVER_RUNS: usize = 3;

/// What is measured and is no form: collecting uses, definitions and tests.
const PROGRAM: usize = FORMS.len();

/// What a form costs.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Cost {
    /// Its name.
    pub form: &'static str,
    /// φs that are added.
    pub phis: usize,
    /// σs.
    pub sigmas: usize,
    /// Copies.
    pub copies: usize,
    /// How long that takes.
    pub time_ns: f64,
}

impl Cost {
    /// All that is added.
    pub(super) fn added(&self) -> usize {
        self.phis + self.sigmas + self.copies
    }
}

/// Sums over functions.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Sums {
    /// How many functions.
    pub functions: usize,
    /// Their blocks.
    pub blocks: usize,
    /// Their instructions in SSA form, φs among them.
    pub instructions: usize,
    /// Collecting uses, definitions and tests.
    pub program_time_ns: f64,
    /// LLVM's O1 on the module.
    pub o1_time_ns: f64,
    /// By form, in the order of [`FORMS`].
    pub costs: Vec<Cost>,
    /// By client, in the order of [`solvers::CLIENTS`].
    pub solvers: Vec<Solved>,
    /// Ways that facts take before SSA form.
    pub dependences: Dependences,
}

/// Edges from definitions to uses, of functions whose local variables are variables.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Dependences {
    /// Of versions: φs stand between.
    pub versions: usize,
    /// From each definition to each use that it reaches (Oh et al. 2012).
    pub def_use: usize,
}

impl Dependences {
    /// Of a function as it was read.
    fn of(module: &ir::Module, func: &Function) -> Dependences {
        let mut func = func.clone();
        ssa::promote_allocas(module, &mut func);
        let code = Code::of(&func);
        let ssi = ssify(code.program(), &Strategy::SSA);
        let (versions, def_use) = dependence_edges(code.program(), &ssi);
        Dependences { versions, def_use }
    }

    fn add(&mut self, other: Dependences) {
        self.versions += other.versions;
        self.def_use += other.def_use;
    }
}

impl Sums {
    /// The sums of all.
    pub(super) fn of<'a>(all: impl Iterator<Item = &'a Sums>) -> Sums {
        let costs = FORMS.map(|form| Cost { form, ..Cost::default() }).to_vec();
        let mut sums = Sums { costs, solvers: Solved::none(), ..Sums::default() };
        all.for_each(|s| sums.add(s));
        sums
    }

    /// Adds others.
    pub(super) fn add(&mut self, other: &Sums) {
        self.functions += other.functions;
        self.blocks += other.blocks;
        self.instructions += other.instructions;
        self.program_time_ns += other.program_time_ns;
        self.o1_time_ns += other.o1_time_ns;
        for (sum, cost) in self.costs.iter_mut().zip(&other.costs) {
            sum.phis += cost.phis;
            sum.sigmas += cost.sigmas;
            sum.copies += cost.copies;
            sum.time_ns += cost.time_ns;
        }
        for (sum, solved) in self.solvers.iter_mut().zip(&other.solvers) {
            sum.by_size.iter_mut().zip(&solved.by_size).for_each(|(sum, times)| sum.add(times));
        }
        self.dependences.add(other.dependences);
    }

    /// What a form costs.
    pub(super) fn cost(&self, form: &str) -> &Cost {
        self.costs.iter().find(|c| c.form == form).expect("all forms are measured")
    }
}

/// What was found of one file.
#[derive(Clone, Debug, Serialize)]
pub(super) struct File {
    /// Its name without the suffix.
    pub name: String,
    /// Sums over its functions.
    #[serde(flatten)]
    pub sums: Sums,
}

/// Measures one file.
///
/// # Errors
/// If it cannot be read.
pub(super) fn file(path: &Path, sampling: Sampling, o1_runs: usize) -> Result<File> {
    let show = |what: &str| progress(&format!("{}: {what}", path.display()));
    show("reading");
    let mut imported = load(path, &LoadOptions { simplify: Some(false), ..LoadOptions::default() })?.imported;
    let bitcode = imported.bridge.module().to_bitcode();
    let mut functions: Vec<Function> =
        std::mem::take(&mut imported.ir.functions).into_iter().map(|f| f.1).collect();
    functions.retain(|f| !f.layout.is_empty());
    let mut dependences = Dependences::default();
    for func in &mut functions {
        show(&func.name);
        dependences.add(Dependences::of(&imported.ir, func));
        ssa::promote_and_construct(&imported.ir, func);
    }
    let codes: Vec<(&Function, Code)> = functions.iter().map(|func| (func, Code::of(func))).collect();
    let forms = FORMS.map(|name| Form::from_name(name).expect("all forms have a name"));
    let run = |(func, code): &(&Function, Code), what: usize| match what {
        PROGRAM => drop(black_box(Code::of(func))),
        form => drop(black_box(forms[form].split(black_box(code.program())))),
    };
    let times: Vec<[f64; PROGRAM + 1]> = medians(&codes, run, sampling, |round| {
        show(&format!("round {} of {}", round + 1, sampling.runs));
    });
    let few = Sampling { runs: sampling.runs.min(SOLVER_RUNS), least: Duration::ZERO };
    let solved = solvers::measure(&imported.ir, &codes, few, |round| {
        show(&format!("sparse and dense, round {} of {}", round + 1, few.runs));
    });
    show("O1");
    let o1_time_ns = o1(&bitcode, o1_runs)?;
    let mut sums = Sums::of(std::iter::empty());
    for ((func, code), times) in codes.iter().zip(times) {
        let costs = FORMS.iter().zip(forms).zip(times).map(|((&name, form), time_ns)| {
            let counts = form.split(code.program()).counts(code.program());
            Cost { form: name, phis: counts.phis, sigmas: counts.sigmas, copies: counts.copies, time_ns }
        });
        sums.add(&Sums {
            functions: 1,
            blocks: func.layout.len(),
            instructions: func.inst_count(),
            program_time_ns: times[PROGRAM],
            o1_time_ns: 0.0,
            costs: costs.collect(),
            solvers: Vec::new(),
            dependences: Dependences::default(),
        });
    }
    sums.solvers = solved;
    sums.dependences = dependences;
    sums.o1_time_ns = o1_time_ns;
    progress("");
    Ok(File { name: stem(path), sums })
}

/// Nanoseconds that LLVM's O1 takes for a module, in the median.
fn o1(bitcode: &[u8], runs: usize) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..runs {
        let mut module = Module::parse(bitcode, "copy")?;
        let watch = Stopwatch::start();
        module.optimise("default<O1>", None)?;
        times.push(watch.elapsed().as_nanos() as f64);
    }
    Ok(median(times))
}

#[cfg(test)]
mod tests {
    use warpline_analysis::ssi::NAMED;

    use super::*;

    #[test]
    fn every_strategy_with_a_name_is_measured_under_one_of_its_names() {
        for row in NAMED {
            let measured = |name: &&str| matches!(Form::from_name(name), Some(Form::Of(r)) if r.strategy == row.strategy);
            assert_eq!(FORMS.iter().filter(|name| measured(name)).count(), 1, "{}", row.name);
        }
    }
}
