//! `warpline analyze`: uniformity and shapes of every function of the inputs.

use std::path::Path;

use warpline::uniformity::report::{FunctionReport, Reason, RefusedReport, Report};
use warpline::uniformity::{Uniformity, Workspace, tokens};

use crate::Outcome;
use crate::acceptance::{Judged, Unmatched};
use crate::chain::{Place, Sources};
use crate::cli::{AnalysisFormat, AnalyzeOptions};
use crate::cost;
use crate::dot;
use crate::error::{Error, Result};
use crate::files::{self, FileSummary};
use crate::findings::{Finding, Findings};
use crate::html::Page;
use crate::output::{self, progress};
use crate::subject::{Asked, Unit};

/// Runs the command. A function that cannot be analysed is reported as such, and the others are all the same.
///
/// # Errors
/// Whatever is wrong with inputs and options.
pub(crate) fn analyze(options: &AnalyzeOptions) -> Result<Outcome> {
    output::check(options.output.as_deref(), &options.inputs)?;
    if let Some(cpu) = &options.cost {
        return cost::analyze(options, cpu);
    }
    if options.summary && !matches!(options.format, AnalysisFormat::Text | AnalysisFormat::Json) {
        return Err(Error::option("--summary", "it is text or JSON"));
    }
    if !options.assume.algorithm.is_sound() {
        output::complain(&format!(
            "warning: `--algorithm {}` is not sound: it may call uniform what is divergent; it is for comparison",
            options.assume.algorithm.name()
        ));
    }
    let mut report = Report::default();
    let mut printed = String::new();
    let mut page = Page::default();
    let mut summaries = Vec::new();
    let mut findings = Findings::new(&options.gate)?;
    let are_wanted =
        options.gate.is_used() || matches!(options.format, AnalysisFormat::Sarif | AnalysisFormat::Github);
    let shown = progress::begin(options.inputs.len(), false);
    for path in &options.inputs {
        shown.piece(&path.display().to_string());
        let unit = match options.format {
            // LLVM's analysis knows functions only.
            AnalysisFormat::Llvm => Unit::open(path, options.assume.target, &options.compilers)?,
            _ => {
                Unit::open_with_loops(path, options.function.as_deref(), &options.assume, &options.compilers)?
            }
        };
        if options.format == AnalysisFormat::Text {
            unit.note_varying(&options.assume)?;
        }
        let mut sources = Sources::beside(path);
        let functions = unit.functions(options.function.as_deref())?;
        // The list is about one function; it need not fit the others.
        if options.assume.args.is_some() && functions.len() > 1 {
            let message = "it is about one function: say which with --function";
            return Err(Error::option("--args", message));
        }
        if functions.is_empty() && options.format == AnalysisFormat::Text {
            output::complain(&format!("{}: it defines no function", path.display()));
        }
        let mut workspace = Workspace::default();
        let mut judged = Judged::default();
        let (before, refused) = (report.functions.len(), report.refused.len());
        for id in functions {
            let (ir, func) = (&unit.imported.ir, &unit.imported.ir.functions[id]);
            // LLVM's analysis knows of no facts, nor of what vector code does with memory.
            let as_vectorized = options.format != AnalysisFormat::Llvm;
            let facts = !options.assume.no_facts && as_vectorized;
            let (args, algorithm, work_group) =
                (options.assume.args.as_deref(), options.assume.algorithm, options.assume.work_group);
            let asked = unit.options(id, &Asked { args, algorithm, facts, work_group, as_vectorized })?;
            let result = Uniformity::compute_in(ir, func, &asked, &mut workspace);
            if let Err(refusal) = tokens::check(ir, func, result.cycles()) {
                output::complain(&format!("error: {}", refusal.describe(ir)));
                report.refused.push(RefusedReport::new(ir, &refusal));
            } else if options.format == AnalysisFormat::Llvm {
                printed += &unit.imported.print_uniformity(id, &result);
            } else if options.format == AnalysisFormat::Dot {
                printed += &dot::graph(ir, func, &result);
            } else if options.format == AnalysisFormat::Html {
                page.add(ir, func, &result, &mut sources);
            } else {
                if are_wanted {
                    judged.add(ir, func);
                }
                let region = unit.place(id).map(str::to_owned);
                report.functions.push(FunctionReport { region, ..FunctionReport::new(ir, func, &result) });
            }
        }
        let refused = report.refused.len() - refused;
        summaries.push(FileSummary::of(path, &report.functions[before..], refused));
        // Each needs a line of the source, to be read for that.
        if are_wanted {
            findings.add(
                report.functions[before..].iter().flat_map(|one| of_function(one, path)),
                &mut sources,
            )?;
            findings.find_unmatched(&mut sources, &judged, "divergent-");
        }
        shown.piece_is_done();
    }
    drop(shown);
    let text = match options.format {
        AnalysisFormat::Text if findings.is_gated() => {
            let unmatched: String = findings.unmatched().iter().map(Unmatched::describe).collect();
            findings.gate_text() + &unmatched
        }
        AnalysisFormat::Text if options.summary => files::text(&summaries),
        AnalysisFormat::Json if options.summary => output::json(&serde_json::json!({ "files": summaries })),
        AnalysisFormat::Text => report.text(),
        AnalysisFormat::Sarif => findings.sarif(),
        AnalysisFormat::Github => findings.github(),
        AnalysisFormat::Json => output::json(&report),
        AnalysisFormat::Llvm | AnalysisFormat::Dot => printed,
        AnalysisFormat::Html => page.finish(),
    };
    output::deliver(options.output.as_deref(), &text)?;
    findings.keep(&options.gate)?;
    // Divergence is what it is, unless there is less of it that is known.
    let gate = match findings.is_gated() && findings.new_ones().next().is_some() {
        true => Outcome::Finding,
        false => Outcome::Clean,
    };
    Ok(gate.and(if report.refused.is_empty() { Outcome::Clean } else { Outcome::Refused }))
}

/// What other programs are told of a function.
fn of_function(one: &FunctionReport, input: &Path) -> Vec<Finding> {
    let place = |short: &str| {
        let (file, line) = short.rsplit_once(':')?;
        let is_input = input.file_name().is_some_and(|name| name == file);
        let file = if is_input { input.display().to_string() } else { file.to_owned() };
        Some(Place { file, line: line.parse().ok()?, column: 0 })
    };
    let finding = |reason: &Reason| Finding {
        rule: if reason.kind == "loop" { "divergent-loop" } else { "divergent-branch" },
        function: one.name.clone(),
        text: reason.text.clone(),
        place: reason.location.as_deref().and_then(place),
        chain: Vec::new(),
        follows: false,
    };
    one.reasons.iter().map(finding).collect()
}
