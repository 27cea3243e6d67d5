//! What a run found, in words and as data.

use std::path::Path;

use serde_json::{Value, json};
use warpline::interp::RaceKind;
use warpline::printable::line;
use warpline::uniformity::report::Reason;
use warpline::vectorize::Vectorized;
use warpline_compile::loops::MadeLoop;
use warpline_compile::remarks;

use crate::kernel::Kernel;
use crate::loops::{self, as_json};
use crate::spec::Tolerance;
use crate::summary::{self, Summary};

use super::compare::Comparison;
use super::lockstep::{Lockstep, Meeting};
use super::mathematics::Worst;
use super::timing::Timing;

/// Times of this share of others are shorter by more than chance.
const NOTICEABLE: f64 = 0.95;

/// How the program on W lanes compares with one that computes mathematics by the C library.
pub(super) struct Library {
    /// The functions that are computed otherwise.
    pub names: String,
    /// The results.
    pub results: Comparison,
    /// The call that was farthest off, if one was interpreted.
    pub worst: Option<Worst>,
    /// What calls are to be within, in units in the last place.
    pub math_ulp: u32,
    /// How far results may be off, if the user says so.
    pub tolerance: Option<Tolerance>,
}

impl Library {
    /// How many results are further off than the user allows.
    fn beyond(&self) -> u64 {
        if self.tolerance.is_some() { self.results.mismatches } else { 0 }
    }

    /// The worst call, if it is farther off than it may be.
    fn broken(&self) -> Option<&Worst> {
        self.worst.as_ref().filter(|w| !w.is_allowed(self.math_ulp))
    }

    /// How far results and calls are off, a line each.
    fn details(&self) -> Vec<String> {
        let r = &self.results;
        let allowed = self.tolerance.map_or("no tolerance stated".to_owned(), |t| format!("allowed: {t}"));
        let mut lines = vec![format!(
            "vector mathematics ({}): results differ from the C library's by at most {} ulp, relative {:.1e}, absolute \
             {:.1e}; {allowed}",
            self.names, r.max_ulp, r.max_rel, r.max_abs
        )];
        if let (Some(w), None) = (&self.worst, self.broken()) {
            lines.push(format!(
                "its calls differ from the C library's by at most {}; --math-ulp {}",
                in_ulp(w.ulp),
                self.math_ulp
            ));
        }
        lines
    }

    /// What is further off than it may be.
    fn findings(&self) -> Vec<String> {
        let call =
            self.broken().map(|w| format!("{} differs from the C library's by {}", w.call, in_ulp(w.ulp)));
        let mut lines: Vec<String> = call.into_iter().collect();
        if self.beyond() > 0 {
            let first = self.results.first.as_deref().unwrap_or_default();
            lines.push(format!("{} results are beyond the tolerance, first {first}", self.beyond()));
            lines.push(
                "if that is accurate enough, say so with `//@ tolerance rel=X`; --math-ulp 0 computes \
                 exactly"
                    .to_owned(),
            );
        }
        lines
    }

    fn json(&self) -> Value {
        json!({
            "functions": self.names,
            "max_ulp": self.results.max_ulp,
            "max_rel": self.results.max_rel,
            "max_abs": self.results.max_abs,
            "call_max_ulp": self.worst.as_ref().map(|w| w.ulp),
            "beyond_tolerance": self.tolerance.map(|_| self.beyond()),
        })
    }
}

fn in_ulp(ulp: u64) -> String {
    if ulp == u64::MAX { "a NaN".to_owned() } else { format!("{ulp} ulp") }
}

/// Everything that was found.
pub(super) struct Results {
    /// The W-lane form, of the first loop if loops are the unit.
    pub made: Vectorized,
    /// The loops, if they are the unit.
    pub loops: Vec<MadeLoop>,
    /// Whether `vectorize` keeps scalar code of it.
    pub stays_scalar: bool,
    /// Whether loops are the unit that the input marks.
    pub marked: bool,
    /// Why branches are divergent and loops left apart.
    pub reasons: Vec<Reason>,
    /// Why results may differ from the references' in bits.
    pub exceptions: Vec<String>,
    /// How far they may be off then.
    pub allowed: Option<Tolerance>,
    /// What the interpreter found.
    pub lockstep: Lockstep,
    /// The comparison with the interpreter.
    pub by_lanes: Comparison,
    /// The comparison with the scalar program.
    pub by_scalar: Comparison,
    /// Whether the scalar program is a reference.
    pub binding: bool,
    /// Whether the sequential program is what was interpreted.
    pub sequential: bool,
    /// Whether a race that matters is a finding.
    pub race_is_finding: bool,
    /// The comparison with the C library's mathematics, if vector code computes any otherwise.
    pub library: Option<Library>,
    /// How long the programs took.
    pub timing: Timing,
    /// What was made up of the data, in words.
    pub note: Option<String>,
    /// The number of indices.
    pub elements: u64,
}

impl Results {
    fn mismatches(&self) -> u64 {
        let scalar = if self.binding { self.by_scalar.mismatches } else { 0 };
        self.by_lanes.mismatches.max(scalar)
    }

    /// Whether nothing was found that should not be.
    pub(super) fn is_clean(&self) -> bool {
        let undefined = self.lockstep.stopped.as_ref().is_some_and(|s| s.undefined);
        let inexact = self.library.as_ref().is_some_and(|l| l.beyond() > 0 || l.broken().is_some());
        self.mismatches() == 0 && !undefined && !inexact && self.finding().is_none()
    }

    /// The race that is a finding.
    fn finding(&self) -> Option<&(RaceKind, Meeting)> {
        self.lockstep.races.matters.as_ref().filter(|_| self.race_is_finding)
    }

    fn max_ulp(&self) -> u64 {
        let scalar = if self.binding { self.by_scalar.max_ulp } else { 0 };
        let library = self.library.as_ref().map_or(0, |l| l.results.max_ulp);
        self.by_lanes.max_ulp.max(scalar).max(library)
    }

    fn speedup(&self) -> f64 {
        self.timing.scalar_ns as f64 / (self.timing.vector_ns.max(1)) as f64
    }

    /// The report for programs.
    pub(super) fn json(&self, kernel: &Kernel) -> Value {
        let mut value = json!({
            "function": kernel.name,
            "width": self.loops.first().map_or(kernel.width, |l| l.width),
            "cpu": kernel.cpu.name,
            "elements": self.elements,
            "mismatches": self.mismatches(),
            "max_ulp": self.max_ulp(),
            "scalar_ns": self.timing.scalar_ns,
            "vector_ns": self.timing.vector_ns,
            "speedup": (self.speedup() * 1000.0).round() / 1000.0,
            "branches": self.made.counts.branches,
            "loops": self.made.counts.loops,
            "exits": self.made.counts.exits,
            "masks": self.made.counts.masks,
            "boscc": self.made.counts.boscc,
            "coherent": self.made.counts.coherent,
            "guards": self.made.counts.guards,
        });
        if !self.loops.is_empty() {
            value["vectorized_loops"] = self.loops.iter().map(as_json).collect();
        }
        if let Some(library) = &self.library {
            value["vector_math"] = library.json();
        }
        if let Some(note) = &self.note {
            value["data"] = json!(note);
        }
        if !self.exceptions.is_empty() {
            value["not_bit_for_bit"] = json!(self.exceptions);
        }
        let race = self.lockstep.races.matters.as_ref().map(|(kind, m)| (name_of(*kind), m));
        let race = race.or(self.lockstep.races.last_lane_wins.as_ref().map(|m| ("last-lane-wins", m)));
        if let Some((kind, m)) = race {
            let finding = self.finding().is_some();
            value["race"] = json!({ "kind": kind, "place": m.place, "finding": finding });
        }
        value
    }

    /// The report for people. `input` is what explanations are about.
    pub(super) fn summary(&self, kernel: &Kernel, input: &Path) -> Summary {
        let mut summary = Summary { result: self.result(), note: self.note.clone(), ..Summary::default() };
        let cpu = &kernel.cpu.name;
        summary.done = match &self.loops[..] {
            [] => format!("{}: vectorized with {} lanes for {cpu}", line(&kernel.name), kernel.width),
            loops => format!("{} for {cpu}", loops::vectorized(loops)),
        };
        summary.warnings.extend(self.why_scalar(kernel));
        if self.speedup() < NOTICEABLE && !self.stays_scalar {
            summary.warnings.push("vector code is slower than scalar code".to_owned());
        }
        summary.warnings.extend(self.made.dependences.warnings.iter().cloned());
        summary.warnings.extend(self.loops.iter().flat_map(loops::warnings));
        summary.warnings.dedup();
        self.reasons(&mut summary, input);
        match self.loops[..] {
            [] => summary.details.extend(summary::details(kernel, &self.made.counts)),
            _ => summary.details.extend(self.loops.iter().flat_map(loops::details)),
        }
        if let Some(t) = &self.allowed {
            summary.details.push(self.inexact(t));
        }
        if let Some(library) = &self.library {
            summary.details.extend(library.details());
            summary.findings.extend(library.findings());
        }
        self.races(&mut summary);
        self.references(&mut summary);
        for (name, c, counts) in
            [("lane interpreter", &self.by_lanes, true), ("scalar program", &self.by_scalar, self.binding)]
        {
            if let (true, Some(first)) = (counts, &c.first) {
                summary.findings.push(format!("first mismatch with the {name}: {first}"));
            }
        }
        summary
    }

    /// Why `vectorize` keeps scalar code, where it does, and what would change that.
    fn why_scalar(&self, kernel: &Kernel) -> Vec<String> {
        let of_loop = |l: &MadeLoop| {
            let estimate = l.estimate.as_ref().filter(|_| l.rather_scalar)?;
            let subject = format!("with `vectorize`, the loop at {}", l.place);
            Some(remarks::stays_scalar(&subject, l.width, estimate, &l.remarks.remarks))
        };
        match &self.loops[..] {
            [] => {
                let estimate = kernel.estimate.as_ref().filter(|_| self.stays_scalar);
                let why = estimate.map(|estimate| {
                    remarks::stays_scalar("with `vectorize`, it", kernel.width, estimate, &kernel.remarks)
                });
                why.into_iter().collect()
            }
            loops => loops.iter().filter_map(of_loop).collect(),
        }
    }

    /// How fast vector code is, and whether it is right.
    fn result(&self) -> String {
        format!(
            "{:.2} times as fast as scalar code ({} instead of {}, medians of {} runs); {} mismatches{}",
            self.speedup(),
            duration(self.timing.vector_ns),
            duration(self.timing.scalar_ns),
            self.timing.runs,
            self.mismatches(),
            if self.binding || !self.loops.is_empty() { "" } else { " with the lane interpreter" }
        )
    }

    /// Why branches and loops are divergent, and the command that explains the first.
    fn reasons(&self, summary: &mut Summary, input: &Path) {
        for r in &self.reasons {
            let place = r.location.as_ref().unwrap_or(&r.block);
            let line = format!("divergent {} at {place}: {}", r.kind, r.text);
            // What has a coherent path has its reasons twice.
            if !summary.details.contains(&line) {
                summary.details.push(line);
            }
        }
        summary.explain = self.reasons.iter().find_map(|r| {
            let (file, number) = r.location.as_ref()?.rsplit_once(':')?;
            let here = input.file_name().is_some_and(|name| name == file);
            here.then(|| format!("warpline explain {}{} --line {number}", input.display(), self.which_loop()))
        });
    }

    /// The option that says which loop is meant, if no mark does.
    fn which_loop(&self) -> String {
        let line = self.loops.first().and_then(|l| l.place.rsplit_once(':')?.1.parse::<u32>().ok());
        line.filter(|_| !self.marked).map_or_else(String::new, |line| format!(" --loop {line}"))
    }

    /// How far results are off that need not be equal bit for bit.
    fn inexact(&self, allowed: &Tolerance) -> String {
        let of = |f: fn(&Comparison) -> f64| {
            let scalar = if self.binding { f(&self.by_scalar) } else { 0.0 };
            f(&self.by_lanes).max(scalar)
        };
        let ulp = self.by_lanes.max_ulp.max(if self.binding { self.by_scalar.max_ulp } else { 0 });
        format!(
            "not compared bit for bit, since {}: largest error {ulp} ulp, relative {:.1e}, absolute {:.1e}; allowed: \
             {allowed}",
            self.exceptions.join(", and "),
            of(|c| c.max_rel),
            of(|c| c.max_abs)
        )
    }

    /// How lanes met in memory.
    fn races(&self, summary: &mut Summary) {
        let races = &self.lockstep.races;
        if let Some((kind, Meeting { first, second, place })) = &races.matters {
            let first = first.map_or("other lanes have".to_owned(), |lane| format!("lane {lane} has"));
            let what = match kind {
                RaceKind::ReadAfterWrite => format!("lane {second} reads {place}, which {first} written"),
                RaceKind::WriteAfterRead => format!("lane {second} writes {place}, which {first} read"),
                RaceKind::WriteAfterWrite => {
                    format!("lane {second} writes {place}, where {first} written another value")
                }
            };
            let remedy = match self.race_is_finding {
                true => "; results depend on the order of lanes (`//@ racy` if they may)",
                false => "",
            };
            let line = format!("race: {what}{remedy}");
            match self.race_is_finding {
                true => summary.findings.push(line),
                false => summary.details.push(line),
            }
        }
        if let (Some(Meeting { place, .. }), None) = (&races.last_lane_wins, &races.matters) {
            summary
                .warnings
                .push(format!("lanes store different values to {place} at once; the last lane wins"));
        }
    }

    /// What the results were compared with.
    fn references(&self, summary: &mut Summary) {
        let interpreted = self.lockstep.end.abs_diff(self.lockstep.begin);
        let (in_place, stopped) = (!self.loops.is_empty(), &self.lockstep.stopped);
        let reference = match in_place || self.sequential {
            true => "the interpreted scalar program",
            false => "the lane interpreter",
        };
        let prefix = if in_place { String::new() } else { format!(" on the first {interpreted} indices") };
        match stopped {
            None => summary.details.push(format!("checked against {reference}{prefix}")),
            Some(s) if s.undefined => {
                let who = if in_place { "the interpreter" } else { reference };
                summary.findings.push(format!("undefined behaviour, says {who}: {}", s.text));
            }
            Some(s) if in_place => {
                summary
                    .details
                    .push(format!("not checked against the interpreter, which stopped: {}", s.text));
            }
            Some(s) => {
                summary
                    .details
                    .push(format!("checked against {reference}{prefix}, where it stopped: {}", s.text));
            }
        }
        summary.details.push(match (self.binding, self.lockstep.races.order_matters()) {
            _ if in_place => "checked against the scalar program".to_owned(),
            (true, _) => format!("checked against the scalar program on all {} indices", self.elements),
            (_, true) => {
                let how = match self.lockstep.races.matters {
                    Some(_) => "race",
                    None => "meet by atomic operations",
                };
                format!(
                    "not checked against the scalar program, since lanes of a vector {how} (`//@ lane-insensitive` if \
                     results do not depend on that)"
                )
            }
            _ => "not checked against the scalar program, since the kernel uses cross-lane operations (`//@ \
                  lane-insensitive` if results do not depend on the other lanes)"
                .to_owned(),
        });
    }
}

fn name_of(kind: RaceKind) -> &'static str {
    match kind {
        RaceKind::ReadAfterWrite => "read-after-write",
        RaceKind::WriteAfterRead => "write-after-read",
        RaceKind::WriteAfterWrite => "write-after-write",
    }
}

/// A time in a unit that fits.
fn duration(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        _ => format!("{:.1} ms", ns as f64 / 1e6),
    }
}
