//! What a run found, in words and as data.

use serde_json::{Value, json};
use warpline::interp::RaceKind;
use warpline::uniformity::report::Reason;
use warpline::vectorize::Vectorized;
use warpline_compile::loops::MadeLoop;

use crate::kernel::Kernel;
use crate::loops::{as_json, in_words};
use crate::output;
use crate::spec::Tolerance;

use super::compare::Comparison;
use super::lockstep::{Lockstep, Meeting};
use super::mathematics::Worst;
use super::timing::Timing;

/// How the program on W lanes compares with one that computes mathematics by the C library.
pub struct Library {
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

    fn lines(&self) -> Vec<String> {
        let r = &self.results;
        let allowed = self.tolerance.map_or("no tolerance stated".to_owned(), |t| format!("allowed: {t}"));
        let mut lines = vec![format!(
            "  vector math ({}): results are off the C library's by at most {} ulp, relative {:.1e}, absolute {:.1e}; \
             {allowed}",
            self.names, r.max_ulp, r.max_rel, r.max_abs
        )];
        match (&self.worst, self.broken()) {
            (_, Some(w)) => lines.push(format!("  {} is off the C library's by {}", w.call, in_ulp(w.ulp))),
            (Some(w), None) => lines.push(format!(
                "  its calls are off the C library's by at most {}; --math-ulp {}",
                in_ulp(w.ulp),
                self.math_ulp
            )),
            (None, None) => {}
        }
        if self.beyond() > 0 {
            let first = r.first.as_deref().unwrap_or_default();
            lines.push(format!("  {} results are beyond the tolerance, first {first}", self.beyond()));
            lines.push(
                "  if that is accurate enough, say so with `//@ tolerance rel=X`; --math-ulp 0 computes \
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
pub struct Results {
    /// The W-lane form, of the first loop if loops are the unit.
    pub made: Vectorized,
    /// The loops, if they are the unit.
    pub loops: Vec<MadeLoop>,
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
    /// The number of indices.
    pub elements: u64,
}

impl Results {
    fn mismatches(&self) -> u64 {
        let scalar = if self.binding { self.by_scalar.mismatches } else { 0 };
        self.by_lanes.mismatches.max(scalar)
    }

    /// Whether nothing was found that should not be.
    pub fn is_clean(&self) -> bool {
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
    pub fn json(&self, kernel: &Kernel) -> String {
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
        });
        if !self.loops.is_empty() {
            value["vectorized_loops"] = self.loops.iter().map(as_json).collect();
        }
        if let Some(library) = &self.library {
            value["vector_math"] = library.json();
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
        format!("{value:#}\n")
    }

    /// The report for people.
    pub fn text(&self, kernel: &Kernel) -> String {
        let mut lines = match self.loops[..] {
            [] => {
                let (name, cpu) = (&kernel.name, &kernel.cpu.name);
                vec![format!("{name}: {} lanes on {cpu}, {} indices", kernel.width, self.elements)]
            }
            _ => vec![format!("{} on {}", kernel.name, kernel.cpu.name)],
        };
        lines.extend(self.loops.iter().map(|l| format!("  {}", in_words(l))));
        for r in &self.reasons {
            let place = r.location.as_ref().unwrap_or(&r.block);
            let line = format!("  divergent {} at {place}: {}", r.kind, r.text);
            // What is made twice has its reasons twice.
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.extend(output::lines_on(kernel, &self.made.counts, &self.made.dependences));
        if let Some(t) = &self.allowed {
            let of = |f: fn(&Comparison) -> f64| {
                let scalar = if self.binding { f(&self.by_scalar) } else { 0.0 };
                f(&self.by_lanes).max(scalar)
            };
            let ulp = self.by_lanes.max_ulp.max(if self.binding { self.by_scalar.max_ulp } else { 0 });
            lines.push(format!(
                "  not compared bit for bit, since {}: largest error {ulp} ulp, relative {:.1e}, absolute {:.1e}; \
                 allowed: {t}",
                self.exceptions.join(", and "),
                of(|c| c.max_rel),
                of(|c| c.max_abs)
            ));
        }
        lines.extend(self.library.iter().flat_map(Library::lines));
        self.races(&mut lines);
        self.references(&mut lines);
        lines.push(format!(
            "  scalar {}, vector {}: {:.2} times as fast (medians of {} runs each)",
            duration(self.timing.scalar_ns),
            duration(self.timing.vector_ns),
            self.speedup(),
            self.timing.runs
        ));
        for (name, c, counts) in
            [("lane interpreter", &self.by_lanes, true), ("scalar program", &self.by_scalar, self.binding)]
        {
            if let (true, Some(first)) = (counts, &c.first) {
                lines.push(format!("  first mismatch with the {name}: {first}"));
            }
        }
        lines.push(format!("  {} mismatches", self.mismatches()));
        lines.join("\n") + "\n"
    }

    /// How lanes met in memory.
    fn races(&self, lines: &mut Vec<String>) {
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
            lines.push(format!("  race: {what}{remedy}"));
        }
        if let (Some(Meeting { place, .. }), None) = (&races.last_lane_wins, &races.matters) {
            lines.push(format!(
                "  warning: lanes store different values to {place} at once; the last lane wins"
            ));
        }
    }

    /// What the results were compared with.
    fn references(&self, lines: &mut Vec<String>) {
        let interpreted = self.lockstep.end.abs_diff(self.lockstep.begin);
        if !self.loops.is_empty() {
            lines.push(match &self.lockstep.stopped {
                None => "  checked against the interpreted scalar program".to_owned(),
                Some(s) if s.undefined => format!("  undefined behaviour, says the interpreter: {}", s.text),
                Some(s) => format!("  not checked against the interpreter, which stopped: {}", s.text),
            });
            lines.push("  checked against the scalar program".to_owned());
            return;
        }
        let reference =
            if self.sequential { "the interpreted scalar program" } else { "the lane interpreter" };
        lines.push(match &self.lockstep.stopped {
            None => format!("  checked against {reference} on the first {interpreted} indices"),
            Some(s) if s.undefined => {
                format!("  undefined behaviour, says {reference}: {}", s.text)
            }
            Some(s) => format!(
                "  checked against {reference} on the first {interpreted} indices, where it stopped: {}",
                s.text
            ),
        });
        lines.push(match (self.binding, self.lockstep.races.order_matters()) {
            (true, _) => format!("  checked against the scalar program on all {} indices", self.elements),
            (_, true) => {
                let how = match self.lockstep.races.matters {
                    Some(_) => "race",
                    None => "meet by atomic operations",
                };
                format!(
                    "  not checked against the scalar program, since lanes of a group {how} (`//@ lane-insensitive` if \
                     results do not depend on that)"
                )
            }
            _ => "  not checked against the scalar program, since the kernel uses lane operations \
                  (`//@ lane-insensitive` if results do not depend on the other lanes)"
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
