//! What a report says of a loop or a kernel.

use std::collections::BTreeMap;
use std::path::Path;

use warpline::demangle;
use warpline::ir::Place;
use warpline::uniformity::report::FunctionReport;
use warpline::uniformity::{Uniformity, Workspace, tokens};
use warpline::vectorize::width::Estimate;
use warpline::vectorize::width::remarks::Name;
use warpline_compile::loops::{LoopAt, LoopOptions, open_each_region};
use warpline_compile::remarks::Remarked;
use warpline_compile::{KernelOptions, choice, kernel, unasked};

use crate::chain::Sources;
use crate::cli::ReportPageOptions;
use crate::cost::{self, Refused};
use crate::error::Result;
use crate::refused;
use crate::subject::{Asked, Unit};

/// A loop or kernel.
pub(super) struct Entry {
    /// The function, as in the source.
    pub function: String,
    /// Where it begins, `file:line`.
    pub place: String,
    pub state: State,
    /// What an iteration is expected to take, in cycles.
    pub cycles: Option<Estimate>,
    /// Why it is not vector code, if it is not.
    pub reason: Option<String>,
    /// The reason in short, or else the worst line.
    pub why: String,
    /// The lines on which vector code loses its time.
    pub remarks: Vec<String>,
    /// What each line costs.
    pub lines: Vec<Line>,
    /// What differs between lanes.
    pub divergence: Option<FunctionReport>,
    /// The command that says more.
    pub command: String,
}

/// What a line costs.
pub(super) struct Line {
    /// `file:line`.
    pub place: String,
    /// Its share of the time.
    pub share: f64,
    /// Cycles a lane.
    pub lane: f64,
    /// The line itself, if its file is there.
    pub source: String,
    /// What is said about it.
    pub what: String,
}

/// What becomes of a loop or kernel.
pub(super) enum State {
    Vector { lanes: u32 },
    Scalar,
    Refused,
}

impl State {
    pub(super) fn name(&self) -> &'static str {
        match self {
            State::Vector { .. } => "vector",
            State::Scalar => "scalar",
            State::Refused => "refused",
        }
    }

    /// The number of lanes, if it is vector code.
    pub(super) fn lanes(&self) -> Option<u32> {
        match self {
            State::Vector { lanes } => Some(*lanes),
            State::Scalar | State::Refused => None,
        }
    }
}

/// All loops, or all kernels, of an input.
///
/// # Errors
/// Whatever is wrong with the input.
pub(super) fn of_input(options: &ReportPageOptions, path: &Path) -> Result<Vec<Entry>> {
    let asked = KernelOptions {
        flags: options.compilers.flags(path)?,
        cpu: options.cpu.clone(),
        remarks: true,
        ..KernelOptions::new(path)
    };
    let loops = unasked::loops(&asked, &[])?;
    if loops.is_empty() {
        // Most files of a project have neither loops nor kernels.
        let imported = kernel::load_for_code(path, &asked.load_options(), asked.told())?.imported;
        if choice::has_no_kernel(&imported, path)? {
            return Ok(Vec::new());
        }
    }
    let (remarked, refused) = cost::of_input(asked.clone(), &[], &loops)?;
    let reports = divergence(options, path, asked, loops)?;
    let mut sources = Sources::beside(path);
    let mut entries: Vec<Entry> =
        remarked.iter().map(|one| of_remarked(path, one, &reports, &mut sources)).collect();
    entries.extend(refused.into_iter().map(|one| of_refused(path, one)));
    entries.sort_by_key(|entry| place_key(&entry.place));
    // A loop of a function that was expanded inline elsewhere is told where it stands.
    entries.dedup_by(|a, b| a.place == b.place && a.state.name() == b.state.name() && a.why == b.why);
    Ok(entries)
}

/// Reports on what differs between lanes, by function and by the place where a loop begins (empty for a kernel).
type Reports = BTreeMap<(String, String), FunctionReport>;

fn divergence(
    options: &ReportPageOptions,
    path: &Path,
    asked: KernelOptions,
    loops: Vec<LoopAt>,
) -> Result<Reports> {
    let unit = match loops.is_empty() {
        true => Unit::open_kernels(path, &options.compilers)?,
        false => {
            let (imported, regions) = open_each_region(&LoopOptions { loops, ..LoopOptions::marked(asked) })?;
            Unit::of_regions(path, imported, regions)?
        }
    };
    let mut reports = Reports::new();
    let mut workspace = Workspace::default();
    for id in unit.functions(None)? {
        let (ir, func) = (&unit.imported.ir, &unit.imported.ir.functions[id]);
        let asked = unit.options(id, &Asked { facts: true, as_vectorized: true, ..Asked::default() })?;
        let result = Uniformity::compute_in(ir, func, &asked, &mut workspace);
        if tokens::check(ir, func, result.cycles()).is_ok() {
            let place = unit.place(id).unwrap_or_default().to_owned();
            reports.insert((func.name.to_string(), place), FunctionReport::new(ir, func, &result));
        }
    }
    Ok(reports)
}

fn of_remarked(path: &Path, one: &Remarked, reports: &Reports, sources: &mut Sources) -> Entry {
    let place = one.begin().map_or_else(String::new, Place::short);
    let (begin, kernel) = ((one.function.clone(), place.clone()), (one.function.clone(), String::new()));
    let divergence = reports.get(&begin).or_else(|| reports.get(&kernel)).cloned();
    let reason = one.remarks.iter().find(|remark| remark.name == Name::ScalarLoop);
    let state = match one.scalar {
        true => State::Scalar,
        false => State::Vector { lanes: one.lanes },
    };
    let reason = reason.map(|remark| one.describe(remark));
    let remarks: Vec<String> = one.worst().map(|remark| one.describe(remark)).collect();
    let costs = one.remarks.iter().filter(|remark| remark.name == Name::Cost);
    let mut lines: Vec<Line> = costs
        .filter_map(|remark| {
            let cost = remark.cost?;
            let place = remark.place.as_ref()?;
            let (share, lane) = (cost.share, cost.lane);
            let lines = sources.lines(&place.file);
            let source = lines.and_then(|lines| lines.get(place.line.checked_sub(1)? as usize));
            let source = source.map_or_else(String::new, |line| line.trim().to_owned());
            Some(Line { place: place.short(), share, lane, source, what: cost::at_line(one, remark) })
        })
        .collect();
    lines.sort_by(|a, b| b.share.total_cmp(&a.share));
    Entry {
        function: demangle(&one.function),
        command: command(path, &place),
        place,
        state,
        cycles: one.estimate.clone(),
        why: reason.as_ref().or_else(|| remarks.first()).cloned().unwrap_or_default(),
        reason,
        remarks,
        lines,
        divergence,
    }
}

fn of_refused(path: &Path, one: Refused) -> Entry {
    let place = one.place.unwrap_or_default();
    Entry {
        function: demangle(&one.function),
        command: command(path, &place),
        place,
        state: State::Refused,
        cycles: None,
        why: refused::in_short(&one.reason.to_string()),
        reason: Some(one.reason.to_string()),
        remarks: Vec::new(),
        lines: Vec::new(),
        divergence: None,
    }
}

/// The command that explains what is on a line.
fn command(path: &Path, place: &str) -> String {
    let line = place.rsplit_once(':').map_or("N", |(_, line)| line);
    format!("warpline explain {} --line {line}", super::short(path))
}

/// Places by file and number of line.
fn place_key(place: &str) -> (String, u32) {
    let (file, line) = place.rsplit_once(':').unwrap_or((place, "0"));
    (file.to_owned(), line.parse().unwrap_or(0))
}
