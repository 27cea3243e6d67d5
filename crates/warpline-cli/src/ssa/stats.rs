//! `warpline ssa --stats`: how many φs each placement needs, and how long it takes.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;
use warpline_analysis::phi_placement::Pruning;

use crate::cli::{SsaFormat, SsaOptions};
use crate::error::{Error, Result};
use crate::input::Input;
use crate::output;
use crate::placements::{Method, Subject, medians, with_variables};
use crate::sampling::Sampling;

/// How functions are timed: quickly, since the counts are what matters here.
const SAMPLING: Sampling = Sampling { runs: 5, least: Duration::ZERO };

/// What is measured of each placement.
#[derive(Clone, Copy, Default, Serialize)]
struct Each<T> {
    reaching_definitions: T,
    precise: T,
    dominance_frontier: T,
    pruned: T,
    semi_pruned: T,
    sreedhar_gao: T,
    braun: T,
}

impl<T> Each<T> {
    const METHODS: [Method; 7] = [
        Method::ReachingDefinitions,
        Method::Precise(Pruning::Minimal),
        Method::Cytron(Pruning::Minimal),
        Method::Precise(Pruning::Pruned),
        Method::Precise(Pruning::SemiPruned),
        Method::SreedharGao(Pruning::Minimal),
        Method::Braun,
    ];

    /// From what was measured of each of the methods.
    fn new(measured: [T; 7]) -> Each<T> {
        let [reaching_definitions, precise, dominance_frontier, pruned, semi_pruned, sreedhar_gao, braun] =
            measured;
        Each { reaching_definitions, precise, dominance_frontier, pruned, semi_pruned, sreedhar_gao, braun }
    }

    fn named(&self) -> [(&'static str, &T); 7] {
        [
            ("reaching definitions", &self.reaching_definitions),
            ("precise", &self.precise),
            ("precise, semi-pruned", &self.semi_pruned),
            ("precise, pruned", &self.pruned),
            ("dominance frontier", &self.dominance_frontier),
            ("Sreedhar and Gao", &self.sreedhar_gao),
            ("Braun et al.", &self.braun),
        ]
    }
}

impl<T: Copy + std::ops::AddAssign> Each<T> {
    fn add(&mut self, other: &Each<T>) {
        self.reaching_definitions += other.reaching_definitions;
        self.precise += other.precise;
        self.dominance_frontier += other.dominance_frontier;
        self.pruned += other.pruned;
        self.semi_pruned += other.semi_pruned;
        self.sreedhar_gao += other.sreedhar_gao;
        self.braun += other.braun;
    }
}

/// Of all functions of all inputs together.
#[derive(Default, Serialize)]
struct Report {
    functions: usize,
    blocks: usize,
    variables: usize,
    phis: Each<usize>,
    time_ns: Each<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by_function: Option<Vec<FunctionReport>>,
}

impl Report {
    fn add(&mut self, input: &Input, subject: Subject, phis: Each<usize>, time_ns: Each<u64>) {
        let (blocks, variables) = (subject.blocks, subject.accesses.variables());
        self.functions += 1;
        self.blocks += blocks;
        self.variables += variables;
        self.phis.add(&phis);
        self.time_ns.add(&time_ns);
        if let Some(list) = &mut self.by_function {
            let input = input.path.display().to_string();
            list.push(FunctionReport { input, name: subject.name, blocks, variables, phis, time_ns });
        }
    }
}

/// Of one function.
#[derive(Serialize)]
struct FunctionReport {
    input: String,
    name: String,
    blocks: usize,
    variables: usize,
    phis: Each<usize>,
    time_ns: Each<u64>,
}

/// The report on these inputs, in the format asked for.
///
/// # Errors
/// If the format is LLVM's.
pub(super) fn report(inputs: &[Input], options: &SsaOptions) -> Result<String> {
    if options.format == SsaFormat::Llvm {
        return Err(Error::option("--format llvm", "there is no such form of --stats; use text or json"));
    }
    let mut report = Report { by_function: options.by_function.then(Vec::new), ..Report::default() };
    for input in inputs {
        let module = &input.imported.ir;
        let subject = |&id| Subject::of(&with_variables(module, &module.functions[id]), options.entry);
        let subjects: Vec<Subject> = input.functions.iter().map(subject).collect();
        let times = medians(&subjects, Each::<u64>::METHODS, SAMPLING, |_| ());
        for (subject, times) in subjects.into_iter().zip(times) {
            let phis = Each::new(Each::<usize>::METHODS.map(|method| method.place(&subject).count()));
            report.add(input, subject, phis, Each::new(times.map(|nanos| nanos as u64)));
        }
    }
    Ok(match options.format {
        SsaFormat::Json => output::json(&report),
        _ => text(&report),
    })
}

fn text(report: &Report) -> String {
    let sizes = |functions: &str, blocks: usize, variables: usize| {
        format!("{functions}: {blocks} blocks, {variables} variables\n")
    };
    let mut out = sizes(&format!("{} functions", report.functions), report.blocks, report.variables);
    lines(&mut out, &report.phis, &report.time_ns);
    for f in report.by_function.iter().flatten() {
        out += "\n";
        out += &sizes(&format!("function {}", f.name), f.blocks, f.variables);
        lines(&mut out, &f.phis, &f.time_ns);
    }
    out
}

fn lines(out: &mut String, phis: &Each<usize>, times: &Each<u64>) {
    for ((name, phis), (_, nanos)) in phis.named().into_iter().zip(times.named()) {
        let _ = writeln!(out, "  {name:<21} {phis:>8} φs {:>12.1} µs", *nanos as f64 / 1e3);
    }
}
