//! `warpline constant-time`: whether the timing of a function depends on secrets.

use std::fmt::Write as _;

use serde::Serialize;
use warpline::demangle;
use warpline::ir::{FuncId, Module, Names};
use warpline::observe::{Finding, Kind, Secrets, observe};

use crate::Outcome;
use crate::chain::{Place, Sources, Statement, Writer, statements};
use crate::cli::{ConstantTimeOptions, FindingFormat, Level};
use crate::error::{Error, Result};
use crate::findings::Findings;
use crate::kernel::load;
use crate::output;
use warpline_compile::choice::find_function;
use warpline_llvm::InputKind;

/// All about one input.
#[derive(Debug, Serialize)]
struct Report {
    functions: Vec<FunctionReport>,
}

/// All about one function.
#[derive(Debug, Serialize)]
struct FunctionReport {
    name: String,
    /// Which form of the code was judged.
    level: &'static str,
    /// What is secret: `%x` is a value, `*%x` the memory that a pointer leads to.
    secret: Vec<String>,
    /// What tells of it.
    findings: Vec<FindingReport>,
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
    let path = &options.input;
    output::check(options.output.as_deref(), std::slice::from_ref(path))?;
    let level = options.level.unwrap_or(match InputKind::of(path)?.is_source() {
        true => Level::Written,
        false => Level::AsIs,
    });
    let imported = load(path, &level.load_options(options.compilers.load_options(path)?))?.imported;
    let id = find_function(&imported, path, options.function.as_deref())?;
    let module = &imported.ir;
    let secrets = Secrets::parse(&options.secret, &module.functions[id])
        .map_err(|e| Error::option("--secret", format!("function `{}`: {e}", module.functions[id].name)))?;
    let found = observe(module, id, &secrets);
    let name = |f: &FuncId| module.functions[*f].name.to_string();
    let report = FunctionReport {
        name: name(&id),
        level: level.describe(),
        secret: describe(module, id, &secrets),
        findings: found.findings.iter().map(|f| finding(module, f)).collect(),
        followed: found.followed.iter().map(name).collect(),
        not_followed: found.not_followed.into_iter().collect(),
    };
    let mut sources = Sources::beside(path);
    let mut findings = Findings::new(&options.gate)?;
    findings.add(report.findings.iter().map(as_finding), &mut sources);
    let outcome = if findings.new_ones().next().is_none() { Outcome::Clean } else { Outcome::Finding };
    let text = match options.format {
        FindingFormat::Json => output::json(&Report { functions: vec![report] }),
        FindingFormat::Sarif => findings.sarif(),
        FindingFormat::Github => findings.github(),
        FindingFormat::Text if findings.is_gated() => {
            text(&report, &mut sources) + "\n" + &findings.gate_text()
        }
        FindingFormat::Text => text(&report, &mut sources),
    };
    output::deliver(options.output.as_deref(), &text)?;
    findings.keep(&options.gate)?;
    Ok(outcome)
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
    crate::findings::Finding { rule, function, text, place, chain }
}

fn describe(module: &Module, id: FuncId, secrets: &Secrets) -> Vec<String> {
    let func = &module.functions[id];
    let names = Names::new(func);
    let mut all = Vec::new();
    for (i, &p) in func.params.iter().enumerate() {
        if secrets.values[i] {
            all.push(names.value(func, p));
        }
        if secrets.memory[i] {
            all.push(format!("*{}", names.value(func, p)));
        }
    }
    all
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
    }
}

fn text(report: &FunctionReport, sources: &mut Sources) -> String {
    let mut out = String::new();
    let count = |kind: Kind| report.findings.iter().filter(|f| f.kind == kind.name()).count();
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
    if !report.not_followed.is_empty() {
        let _ = writeln!(out, "  not analysed, and given no secrets: {}", report.not_followed.join(", "));
    }
    let mut writer = Writer::new(sources);
    for f in &report.findings {
        let head = Statement {
            text: f.text.clone(),
            value: None,
            block: None,
            location: f.location.clone(),
            paths: Vec::new(),
        };
        out.push('\n');
        writer.chain(&mut out, &format!("secret {}", f.kind), std::slice::from_ref(&head));
        for call in f.calls.iter().rev() {
            let place = call.location.as_ref().map(|p| format!(" at {}", p.short())).unwrap_or_default();
            let _ = writeln!(out, "    called from {}{place}", demangle(&call.function));
        }
        writer.chain(&mut out, "note", &f.chain);
    }
    out
}
