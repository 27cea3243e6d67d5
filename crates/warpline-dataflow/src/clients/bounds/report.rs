//! What is reported of checks.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::prove::Step;
use super::{Check, Kind, Outcome};
use crate::report::Report;
use warpline_ir::Place;
use warpline_ir::{Function, IntPred, Loc, Module, Value};

/// The checks of one function.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct BoundsReport {
    /// Each check, by its place in the source.
    pub checks: Vec<CheckReport>,
    /// How many there are of each kind.
    pub counts: BTreeMap<&'static str, Counts>,
}

/// What became of some checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// All.
    pub checks: usize,
    /// That never fail.
    pub never: usize,
    /// That always fail where control comes to them.
    pub always: usize,
    /// That control never comes to.
    pub unreachable: usize,
    /// That may fail.
    pub unknown: usize,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.checks += other.checks;
        self.never += other.never;
        self.always += other.always;
        self.unreachable += other.unreachable;
        self.unknown += other.unknown;
    }
}

/// One check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CheckReport {
    /// What it guards against.
    pub kind: Kind,
    /// Where it is in the source, if known: in the function's own file, if it was inlined from another.
    pub place: Option<Place>,
    /// Where the code came from that was inlined there, innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inlined_from: Vec<String>,
    /// `never`, `always`, `unreachable` or `unknown`: whether it fails.
    pub fails: &'static str,
    /// `ranges` or `inequalities`, if it never fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proved_by: Option<&'static str>,
    /// Why it never fails, step by step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
}

impl BoundsReport {
    /// The report on checks and what becomes of them.
    pub fn new(
        module: &Module,
        func: &Function,
        decided: impl Iterator<Item = (Check, Outcome)>,
    ) -> BoundsReport {
        let mut report = BoundsReport::default();
        for (check, outcome) in decided {
            let loc = func.insts[check.branch].loc.expand();
            let (fails, proved_by, steps) = match outcome {
                Outcome::NeverByRanges => ("never", Some("ranges"), Vec::new()),
                Outcome::NeverByInequalities(steps) => ("never", Some("inequalities"), steps),
                Outcome::Always => ("always", None, Vec::new()),
                Outcome::Unreachable => ("unreachable", None, Vec::new()),
                Outcome::Unknown => ("unknown", None, Vec::new()),
            };
            let place = Place::of(module, func, loc);
            let inlined_from = inlined_from(module, loc, place.as_ref());
            let mut because: Vec<String> = Vec::new();
            for step in steps {
                let text = describe(module, func, step);
                if !because.contains(&text) {
                    because.push(text);
                }
            }
            let one = |is: bool| usize::from(is);
            *report.counts.entry(check.kind.name()).or_default() += Counts {
                checks: 1,
                never: one(fails == "never"),
                always: one(fails == "always"),
                unreachable: one(fails == "unreachable"),
                unknown: one(fails == "unknown"),
            };
            let kind = check.kind;
            report.checks.push(CheckReport { kind, place, inlined_from, fails, proved_by, because });
        }
        report.checks.sort_by(|a, b| (&a.place, a.kind).cmp(&(&b.place, b.kind)));
        report
    }

    /// What became of all checks.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        self.counts.values().for_each(|&c| total += c);
        total
    }
}

/// The places from the innermost one to the call in the function itself, without the one that is reported anyway.
fn inlined_from(module: &Module, loc: Option<Loc>, own: Option<&Place>) -> Vec<String> {
    let all = std::iter::successors(loc, |&l| module.locations[l].inlined_at).map(|l| &module.locations[l]);
    let places = all.map(|l| Place { file: l.file.to_string(), line: l.line, column: l.column });
    places.take_while(|p| Some(p) != own).filter(|p| p.line > 0).map(|p| p.to_string()).collect()
}

/// The name of a value, or the number that it is.
fn name(func: &Function, v: Value) -> String {
    match func.as_int(v) {
        Some(number) => number.to_string(),
        None => func.value_name(v),
    }
}

fn describe(module: &Module, func: &Function, step: Step) -> String {
    let name = |v: Value| name(func, v);
    let place = |v: Value| {
        let loc = func.def_inst(v).and_then(|i| func.insts[i].loc.expand());
        Place::of(module, func, loc).map_or(String::new(), |p| format!(" ({})", p.short()))
    };
    let branch = |edge| {
        let from = func.edges[edge].from;
        let loc = func.insts[func.terminator(from)].loc.expand();
        Place::of(module, func, loc).map_or_else(|| func.block_name(from), |p| p.short())
    };
    match step {
        Step::Compared(edge, pred, a, b) => {
            format!("{} {} {} after the branch at {}", name(a), symbol(pred), name(b), branch(edge))
        }
        Step::Exact(edge, v) => format!("{} does not wrap after the branch at {}", name(v), branch(edge)),
        Step::Phi(v) => format!("all that {} can be{}", name(v), place(v)),
        Step::Computed(v) => format!("how {} is computed{}", name(v), place(v)),
        Step::Range(v, range) => format!("{} is in {range}", name(v)),
    }
}

fn symbol(pred: IntPred) -> &'static str {
    match pred {
        IntPred::Eq => "=",
        IntPred::Ne => "≠",
        IntPred::Ugt | IntPred::Sgt => ">",
        IntPred::Uge | IntPred::Sge => "≥",
        IntPred::Ult | IntPred::Slt => "<",
        IntPred::Ule | IntPred::Sle => "≤",
    }
}

impl Report for BoundsReport {
    fn write_text(&self, out: &mut String) {
        for c in &self.checks {
            let place = c.place.as_ref().map_or("?".to_owned(), Place::to_string);
            let fails = match c.fails {
                "never" => "never fails",
                "always" => "always fails",
                "unreachable" => "is never reached",
                _ => "may fail",
            };
            let _ = write!(out, "  {place}: {} check {fails}", c.kind.name());
            if let Some(by) = c.proved_by {
                let _ = write!(out, ", by {by}");
            }
            match c.because.is_empty() {
                true => out.push('\n'),
                false => _ = writeln!(out, ": {}", c.because.join("; ")),
            }
        }
        let total = self.total();
        if total.checks > 0 {
            let _ = writeln!(
                out,
                "  {} checks: {} never fail, {} always fail, {} are never reached, {} may fail",
                total.checks, total.never, total.always, total.unreachable, total.unknown
            );
        }
    }
}
