//! `warpline constant-time`: whether the timing of a function depends on secrets.

mod entries;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use warpline::demangle;
use warpline::ir::{FuncId, Module, Names};
use warpline::observe::{Finding, Kind, Overlap, Secrets, mark_following, observe};

use crate::Outcome;
use crate::acceptance::{Judged, Unmatched};
use crate::chain::{Place, Sources, Statement, Writer, statements};
use crate::cli::{ConstantTimeOptions, FindingFormat, Level};
use crate::error::Result;
use crate::findings::Findings;
use crate::kernel::load_together;
use crate::output;
use warpline_compile::source_types::Debug;
use warpline_llvm::InputKind;

/// All about one input.
#[derive(Debug, Serialize)]
struct Report {
    functions: Vec<FunctionReport>,
    /// Lines of the source that accept what is not found.
    unmatched: Vec<UnmatchedReport>,
}

#[derive(Debug, Serialize)]
struct UnmatchedReport {
    location: Place,
    text: String,
}

/// All about one function.
#[derive(Debug, Serialize)]
struct FunctionReport {
    name: String,
    /// Which form of the code was judged.
    level: &'static str,
    /// What is secret: `%x` is a value, `*%x` the memory that a pointer leads to.
    secret: Vec<String>,
    /// What is public whatever is written to it.
    public: Vec<String>,
    /// What tells of the secrets.
    findings: Vec<FindingReport>,
    /// How many more findings there are if what parameters lead to may overlap; they are among the findings if that
    /// was asked for.
    more_if_overlapping: usize,
    /// Functions of the module that were followed.
    followed: Vec<String>,
    /// Functions that are called without secrets and not looked into.
    not_followed: Vec<String>,
}

#[derive(Debug, Serialize)]
struct FindingReport {
    /// `branch`, `address`, `operand`, `call` or `selection`.
    kind: &'static str,
    function: String,
    text: String,
    location: Option<Place>,
    /// Why: from the operand down to the secret.
    chain: Vec<Statement>,
    /// The calls by which control comes to the function, outermost first.
    calls: Vec<CallReport>,
    /// Why the source says that it is none.
    accepted: Option<String>,
    /// Whether it is there only because functions that are not known may write the secrets that they are given.
    follows: bool,
}

#[derive(Debug, Serialize)]
struct CallReport {
    function: String,
    location: Option<Place>,
}

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with the input, the option, or the output.
pub(crate) fn run(options: &ConstantTimeOptions) -> Result<Outcome> {
    output::check(options.output.as_deref(), &options.inputs)?;
    let path = options.inputs.first().map_or(Path::new(""), |path| path);
    let mut are_sources = false;
    for input in &options.inputs {
        are_sources |= InputKind::of(input)?.is_source();
    }
    let level = options.level.unwrap_or(if are_sources { Level::Written } else { Level::AsIs });
    let mut plain = options.compilers.load_options(path)?;
    plain.flags.variables = true;
    let mut imported = load_together(&options.inputs, &level.load_options(plain))?.imported;
    let debug = Debug::of(&imported);
    debug.name_values(&mut imported.ir);
    let module = &imported.ir;
    let entries = entries::of(&imported, &debug, options)?;
    let mut functions: Vec<FunctionReport> =
        entries.iter().map(|(id, secrets)| judge(module, *id, secrets, level, options.overlap)).collect();
    let mut sources = Sources::beside(path);
    let mut findings = Findings::new(&options.gate)?;
    for function in &mut functions {
        let reasons = findings.add(function.findings.iter().map(as_finding), &mut sources)?;
        for (finding, reason) in function.findings.iter_mut().zip(reasons) {
            finding.accepted = reason;
        }
    }
    findings.find_unmatched(&mut sources, &judged_lines(module, &functions), "secret-");
    let outcome = if findings.new_ones().next().is_none() { Outcome::Clean } else { Outcome::Finding };
    let text = match options.format {
        FindingFormat::Json => {
            let report =
                |line: &Unmatched| UnmatchedReport { location: line.place.clone(), text: line.text.clone() };
            output::json(&Report { functions, unmatched: findings.unmatched().iter().map(report).collect() })
        }
        FindingFormat::Sarif => findings.sarif(),
        FindingFormat::Github => findings.github(),
        FindingFormat::Text => {
            let all: Vec<String> = functions.iter().map(|report| text(report, &mut sources)).collect();
            let unmatched = unmatched_text(findings.unmatched());
            let gate = findings.is_gated().then(|| findings.gate_text());
            all.into_iter().chain(unmatched).chain(gate).collect::<Vec<_>>().join("\n")
        }
    };
    output::deliver(options.output.as_deref(), &text)?;
    findings.keep(&options.gate)?;
    Ok(outcome)
}

/// The lines of the functions that were looked into.
fn judged_lines(module: &Module, functions: &[FunctionReport]) -> Judged {
    let mut judged = Judged::default();
    let names = functions.iter().flat_map(|one| one.followed.iter().chain([&one.name]));
    let names: BTreeSet<&str> = names.map(String::as_str).collect();
    let looked_into = module.functions.values().filter(|func| names.contains(&*func.name));
    looked_into.for_each(|func| judged.add(module, func));
    judged
}

/// A line for each line of the source that accepts what is not found.
fn unmatched_text(unmatched: &[Unmatched]) -> Option<String> {
    (!unmatched.is_empty()).then(|| unmatched.iter().map(Unmatched::describe).collect())
}

/// What tells of the secrets of a function.
fn judge(module: &Module, id: FuncId, secrets: &Secrets, level: Level, overlap: bool) -> FunctionReport {
    let name = |f: &FuncId| module.functions[*f].name.to_string();
    let apart = observe(module, id, secrets, Overlap::Apart);
    let any = observe(module, id, secrets, Overlap::Possible);
    let more = any.findings.len().saturating_sub(apart.findings.len());
    let (mut found, overlap) = if overlap { (any, Overlap::Possible) } else { (apart, Overlap::Apart) };
    mark_following(module, id, secrets, overlap, &mut found);
    FunctionReport {
        name: name(&id),
        level: level.describe(),
        secret: secrets.describe(&module.functions[id]),
        public: secrets.public.iter().map(|area| area.name.clone()).collect(),
        findings: found.findings.iter().map(|f| finding(module, f)).collect(),
        more_if_overlapping: more,
        followed: found.followed.iter().map(name).collect(),
        not_followed: found.not_followed.into_iter().collect(),
    }
}

/// What other programs are told of a finding.
fn as_finding(f: &FindingReport) -> crate::findings::Finding {
    let rule = match f.kind {
        "branch" => "secret-branch",
        "address" => "secret-address",
        "operand" => "secret-operand",
        "selection" => "secret-selection",
        _ => "secret-call",
    };
    let chain = f.chain.iter().map(|step| (step.location.clone(), step.text.clone())).collect();
    let (function, text, place) = (f.function.clone(), f.text.clone(), f.location.clone());
    crate::findings::Finding { rule, function, text, place, chain, follows: f.follows }
}

fn finding(module: &Module, f: &Finding) -> FindingReport {
    let place = |id: FuncId, inst| {
        let func = &module.functions[id];
        Place::of(module, func, func.insts[inst].loc.expand())
    };
    let segment = |s: &warpline::observe::Segment| {
        let func = &module.functions[s.func];
        statements(module, func, &Names::new(func), &s.steps)
    };
    FindingReport {
        kind: f.kind.name(),
        function: module.functions[f.func].name.to_string(),
        text: f.text.clone(),
        location: place(f.func, f.inst),
        chain: f.chain.iter().flat_map(segment).collect(),
        calls: f
            .calls
            .iter()
            .map(|&(id, inst)| CallReport {
                function: module.functions[id].name.to_string(),
                location: place(id, inst),
            })
            .collect(),
        accepted: None,
        follows: f.follows,
    }
}

fn text(report: &FunctionReport, sources: &mut Sources) -> String {
    let mut out = String::new();
    let all = || report.findings.iter().filter(|f| f.accepted.is_none());
    // What only follows is not told as long as there is what it follows from.
    let is_short = all().any(|f| !f.follows);
    let open = || all().filter(|f| !(is_short && f.follows));
    let following = all().count() - open().count();
    let count = |kind: Kind| open().filter(|f| f.kind == kind.name()).count();
    let _ = writeln!(out, "function {}: secret inputs: {}", demangle(&report.name), report.secret.join(", "));
    let _ = writeln!(out, "  judged: {}", report.level);
    let kinds = [
        (Kind::Branch, "branch", "branches"),
        (Kind::Address, "address", "addresses"),
        (Kind::Operand, "variable-latency operand", "variable-latency operands"),
        (Kind::Call, "call", "calls"),
        (Kind::Selection, "selection", "selections"),
    ];
    let counts: Vec<String> = kinds
        .iter()
        .map(|&(kind, one, many)| (count(kind), one, many))
        .filter(|&(n, _, _)| n > 0)
        .map(|(n, one, many)| format!("{n} {}", if n == 1 { one } else { many }))
        .collect();
    let _ = match counts.is_empty() {
        true => writeln!(out, "  no leak was found"),
        false => writeln!(out, "  leaks: {}", counts.join(", ")),
    };
    if following > 0 {
        let _ = writeln!(
            out,
            "  {following} more follow if the functions that are not known write secrets wherever they can (--format \
             json has them)"
        );
    }
    if report.more_if_overlapping > 0 {
        let _ = writeln!(
            out,
            "  assumed: pointers that it is given lead to memory that is apart; otherwise {} more (--overlap)",
            report.more_if_overlapping
        );
    }
    if !report.public.is_empty() {
        let _ = writeln!(out, "  public, whatever is written there: {}", report.public.join(", "));
    }
    for f in report.findings.iter() {
        let Some(reason) = &f.accepted else { continue };
        let place = f.location.as_ref().map_or(String::new(), |place| format!("{}: ", place.short()));
        let _ = writeln!(out, "  accepted: {place}{}: {reason}", f.kind);
    }
    if !report.not_followed.is_empty() {
        let _ = writeln!(out, "  not analysed, and given no secrets: {}", report.not_followed.join(", "));
    }
    let mut writer = Writer::new(sources);
    let mut told: BTreeSet<&str> = BTreeSet::new();
    for f in open() {
        // The same function is often called in many places.
        if f.kind == Kind::Call.name() && !told.insert(&f.text) {
            continue;
        }
        let head = Statement {
            text: f.text.clone(),
            value: None,
            block: None,
            location: f.location.clone(),
            paths: Vec::new(),
        };
        out.push('\n');
        writer.chain(&mut out, &format!("secret {}", f.kind), std::slice::from_ref(&head));
        let again = open().filter(|other| other.text == f.text && !std::ptr::eq(*other, f));
        let again: BTreeSet<String> = again
            .filter(|other| other.kind == Kind::Call.name() && f.kind == other.kind)
            .filter_map(|other| other.location.as_ref().map(Place::short))
            .collect();
        if !again.is_empty() {
            let again: Vec<String> = again.into_iter().collect();
            let _ = writeln!(out, "    and so at {}", again.join(", "));
        }
        for call in f.calls.iter().rev() {
            let place = call.location.as_ref().map(|p| format!(" at {}", p.short())).unwrap_or_default();
            let _ = writeln!(out, "    called from {}{place}", demangle(&call.function));
        }
        writer.chain(&mut out, "note", &f.chain);
    }
    out
}
