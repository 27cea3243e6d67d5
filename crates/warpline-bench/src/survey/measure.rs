//! Measuring a row: its variants are linked into one program, which runs them in turns.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::child;
use super::driver::{self, Entry, Run};
use super::items::Language;
use super::model::Cycles;
use super::objects::{AUTO, HAND, Made, SCALAR, Tools, Variant};
use super::row::Source;
use super::statistics::{Speedup, median};

/// A row takes no longer than this, in seconds.
const PATIENCE: u64 = 120;

/// A variant as measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Measured {
    /// The numbers of lanes, one for each loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<u32>,
    /// What was expected of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<Cycles>,
    /// The median time of a call.
    pub ns: Option<f64>,
    /// How many times as fast as the scalar variant.
    pub speedup: Option<Speedup>,
    /// Why there is no such variant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// With which code the compiler ended then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// What is wrong with its results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
}

/// A row as measured on one CPU.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Row {
    pub row: String,
    pub cpu: String,
    pub language: String,
    /// Why nothing could be measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    pub scalar: Measured,
    pub clang: Measured,
    pub omp: Measured,
    pub gcc: Measured,
    pub auto: Measured,
    /// What somebody has written by hand, if anybody has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hand: Option<Measured>,
    /// By number of lanes.
    pub widths: BTreeMap<u32, Measured>,
}

impl Row {
    /// All variants, by name.
    pub(super) fn variants(&self) -> impl Iterator<Item = (String, &Measured)> {
        let named =
            [("scalar", &self.scalar), ("clang", &self.clang), ("omp", &self.omp), ("gcc", &self.gcc)];
        let named =
            named.into_iter().chain([("auto", &self.auto)]).chain(self.hand.as_ref().map(|m| (HAND, m)));
        let named = named.map(|(name, m)| (name.to_owned(), m));
        named.chain(self.widths.iter().map(|(w, m)| (format!("w{w}"), m)))
    }

    /// How many times as fast as scalar code is what auto chooses: as fast, if it is refused.
    pub(super) fn auto_speedup(&self) -> Option<f64> {
        match self.auto.speedup {
            Some(speedup) => Some(speedup.median),
            None => (self.scalar.ns.is_some() && self.auto.refused.is_some()).then_some(1.0),
        }
    }

    /// The fastest number of lanes.
    pub(super) fn best(&self) -> Option<(u32, &Measured)> {
        let measured = self.widths.iter().filter(|(_, m)| m.ns.is_some());
        let ns = |m: &Measured| m.ns.unwrap_or(f64::INFINITY);
        measured.min_by(|a, b| ns(a.1).total_cmp(&ns(b.1))).map(|(&w, m)| (w, m))
    }

    /// How many times as long auto takes as the best number of lanes; 1 where auto is better.
    pub(super) fn auto_over_best(&self) -> Option<f64> {
        let (auto, best) = (self.auto.ns?, self.best()?.1.ns?);
        Some((auto / best).max(1.0))
    }

    /// Which share of the speed of what is written by hand auto has.
    pub(super) fn share(&self) -> Option<f64> {
        let hand = self.hand.as_ref()?.ns?;
        let auto = if self.auto.refused.is_some() { self.scalar.ns } else { self.auto.ns };
        Some(hand / auto?)
    }

    /// The best of the other compilers.
    pub(super) fn best_other(&self) -> Option<f64> {
        let others = [&self.clang, &self.omp, &self.gcc].map(|m| m.speedup.map(|s| s.median));
        others.into_iter().flatten().max_by(f64::total_cmp)
    }
}

/// Links and runs the variants of a row.
pub(super) fn measure(
    source: &Source,
    label: &str,
    cpu: &str,
    variants: &[Variant],
    run: &Run,
    tools: &Tools,
    folder: &Path,
) -> Row {
    let mut all: Vec<Measured> = variants.iter().map(|v| unmeasured(&v.made)).collect();
    let failed = match variants.first().map(|v| &v.made) {
        Some(Made::Object { .. }) => link(source, variants, run, tools, folder)
            .and_then(|program| times(&program, variants, &mut all))
            .err(),
        Some(Made::Refused { reason, .. } | Made::Absent(reason)) => {
            Some(format!("no scalar variant: {reason}"))
        }
        None => Some("no scalar variant".to_owned()),
    };
    let mut named: BTreeMap<&str, Measured> = variants.iter().map(|v| v.name.as_str()).zip(all).collect();
    let mut take = |name: &str| named.remove(name).unwrap_or_default();
    let [scalar, clang, omp, gcc, auto] = [SCALAR, "clang", "omp", "gcc", AUTO].map(&mut take);
    let hand = named.remove(HAND);
    let width = |(name, m): (&str, Measured)| Some((name.strip_prefix('w')?.parse().ok()?, m));
    Row {
        row: label.to_owned(),
        cpu: cpu.to_owned(),
        language: source.language.name().to_owned(),
        failed,
        scalar,
        clang,
        omp,
        gcc,
        auto,
        hand,
        widths: named.into_iter().filter_map(width).collect(),
    }
}

fn unmeasured(made: &Made) -> Measured {
    match made {
        Made::Object { lanes, cycles, .. } => {
            Measured { lanes: lanes.clone(), cycles: *cycles, ..Measured::default() }
        }
        Made::Refused { exit, reason } => {
            Measured { refused: Some(reason.clone()), exit: *exit, ..Measured::default() }
        }
        Made::Absent(reason) => Measured { refused: Some(reason.clone()), ..Measured::default() },
    }
}

/// The program of a row.
fn link(
    source: &Source,
    variants: &[Variant],
    run: &Run,
    tools: &Tools,
    folder: &Path,
) -> Result<std::path::PathBuf, String> {
    let compiler = tools.clang.as_ref().or(tools.gcc.as_ref()).ok_or("there is neither clang nor gcc")?;
    let made = |v: &Variant| matches!(v.made, Made::Object { .. });
    let entries: Vec<Entry<'_>> =
        variants.iter().filter(|v| made(v)).map(|v| Entry { name: &v.name, symbol: &v.symbol }).collect();
    let (input, program) = (folder.join("driver.c"), folder.join("driver"));
    std::fs::write(&input, driver::text(source, &entries, run)).map_err(|e| e.to_string())?;
    let link = |libraries: &[&str]| {
        let mut command = Command::new(compiler);
        command.args(["-std=gnu11", "-O1", "-w", "-no-pie"]).arg(&input);
        for variant in variants {
            if let Made::Object { path, .. } = &variant.made {
                command.arg(path);
            }
        }
        if source.language == Language::Rust {
            // Panics, which do not happen here, are in Rust's library.
            command.arg("-Wl,--unresolved-symbols=ignore-all");
        }
        child::run(command.args(libraries).arg("-o").arg(&program), PATIENCE)
    };
    let mut ended = link(&["-lmvec", "-lm"]);
    if ended.code != Some(0) {
        ended = link(&["-lm"]);
    }
    match ended.code {
        Some(0) => Ok(program),
        _ => Err(format!("the driver cannot be linked: {}", ended.stderr.trim())),
    }
}

/// Runs the program, again without a variant that ends it, and reads times and comparisons.
fn times(program: &Path, variants: &[Variant], all: &mut [Measured]) -> Result<(), String> {
    let entries: Vec<usize> =
        (0..variants.len()).filter(|&k| matches!(variants[k].made, Made::Object { .. })).collect();
    let index = |name: &str| variants.iter().position(|v| v.name == name);
    let mut skipped: Vec<String> = Vec::new();
    loop {
        let ended = child::run(Command::new(program).args(&skipped), PATIENCE);
        let mut trying = None;
        let mut rounds: Vec<Vec<f64>> = Vec::new();
        for line in ended.stdout.lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "trying" => trying = Some(rest.to_owned()),
                "checked" => {
                    let mut words = rest.splitn(3, ' ');
                    let name = words.next().unwrap_or_default();
                    let count = words.next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
                    if let Some(k) = index(name).filter(|&k| count > 0 && all[k].wrong.is_none()) {
                        let first = words.next().unwrap_or_default();
                        all[k].wrong = Some(format!("{count} wrong results; {first}"));
                    }
                    trying = None;
                }
                "round" => rounds.push(rest.split(' ').filter_map(|t| t.parse().ok()).collect()),
                _ => {}
            }
        }
        if ended.code == Some(0) {
            record(&entries, &rounds, all);
            return Ok(());
        }
        let Some(name) = trying.filter(|name| !skipped.contains(name)) else {
            return Err(if ended.late {
                format!("the driver does not end within {PATIENCE} s")
            } else {
                format!("the driver ends early: {:?} {}", ended.code, ended.stderr.trim())
            });
        };
        if name == SCALAR {
            return Err("the scalar variant crashes".to_owned());
        }
        if let Some(k) = index(&name) {
            let what = if ended.late { "does not end" } else { "crashes" };
            all[k].wrong = Some(what.to_owned());
        }
        skipped.push(name);
    }
}

/// Medians of what the rounds say.
fn record(entries: &[usize], rounds: &[Vec<f64>], all: &mut [Measured]) {
    let column = |at: usize| rounds.iter().filter_map(|r| r.get(at).copied()).collect::<Vec<f64>>();
    let base = column(0);
    for (at, &k) in entries.iter().enumerate() {
        let times = column(at);
        if times.iter().all(|&t| t > 0.0) {
            all[k].ns = median(&times);
            all[k].speedup = Speedup::of(&base, &times);
        }
    }
}
