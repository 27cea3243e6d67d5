//! `warpline lint`: data-flow analyses of every function of the inputs.
//!
//! Local variables that are memory become values first. A function that a client refuses is named with the reason,
//! and the others are reported all the same.
//!
//! * `table`: the clients by name, and how each is run;
//! * this file: reading inputs, running a client on all functions, and printing what it finds.

mod table;

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use warpline::dataflow::report::{Description, Report, Solver, Work};
use warpline::demangle;
use warpline::ir::FuncId;
use warpline::ssa::promote_and_construct;
use warpline_llvm::Imported;

use crate::Outcome;
use crate::cli::{Format, LintOptions};
use crate::error::{Error, Result};
use crate::kernel::load;
use crate::{output, parallel};
use table::{CLIENTS, Client, Run};
use warpline_compile::choice::find_function;
use warpline_llvm::worker::LoadOptions;

/// What a client is asked: about one module, one or all of its functions.
struct Asked<'a> {
    imported: &'a Imported,
    solver: Solver,
    options: &'a LintOptions,
}

/// What a client says of a function.
struct Answer {
    findings: usize,
    text: String,
    json: serde_json::Value,
    work: Work,
}

impl Answer {
    /// A report in the forms that may be asked for.
    fn new<R: Report>((report, work): (R, Work)) -> Answer {
        let mut text = String::new();
        report.write_text(&mut text);
        // Plain data with string keys always serialises.
        let json = serde_json::to_value(&report).unwrap_or_default();
        Answer { findings: report.findings(), text, json, work }
    }
}

/// All that is printed.
#[derive(Serialize)]
struct Output {
    client: Description,
    inputs: Vec<InputReport>,
}

#[derive(Serialize)]
struct InputReport {
    input: String,
    functions: Vec<FunctionReport>,
    refused: Vec<Refused>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<Stats>,
}

#[derive(Serialize)]
struct FunctionReport {
    name: String,
    report: serde_json::Value,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    findings: usize,
}

/// A function that a client does not analyse.
#[derive(Serialize)]
struct Refused {
    name: String,
    reason: String,
}

#[derive(Serialize)]
struct Stats {
    solver: &'static str,
    functions: usize,
    #[serde(flatten)]
    work: Work,
    /// Splitting, solving and reporting together.
    time_ns: u128,
}

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with inputs and options.
pub(crate) fn run(options: &LintOptions) -> Result<Outcome> {
    output::check(options.output.as_deref(), &options.inputs)?;
    let names: Vec<&str> = CLIENTS.iter().map(|c| c.description.name).collect();
    let names = format!("there are {}; `lint --client list` says what they are", names.join(", "));
    let Some(name) = options.client.as_deref() else {
        return Err(Error::option("--client", format!("say which analysis: {names}")));
    };
    if name == "list" {
        return list(options);
    }
    let client = table::find(name)
        .ok_or_else(|| Error::option("--client", format!("there is no client `{name}`; {names}")))?;
    client.check(options)?;
    if options.inputs.is_empty() {
        return Err(Error::option("--client", "give an input: .ll, .bc, .rs, .c, .cpp or .cl"));
    }
    let inputs = parallel::of_each(&options.inputs, options.jobs, false, |path| input(client, path, options));
    let output = Output { client: *client.description, inputs: inputs.into_iter().collect::<Result<_>>()? };
    let printed = match options.format {
        Format::Json => output::json(&output),
        _ => text(&output, options),
    };
    output::deliver(options.output.as_deref(), &printed)?;
    let any = |f: fn(&InputReport) -> bool| output.inputs.iter().any(f);
    Ok(if any(|i| !i.refused.is_empty()) {
        Outcome::Refused
    } else if any(|i| i.functions.iter().any(|f| f.findings > 0)) {
        Outcome::Finding
    } else {
        Outcome::Clean
    })
}

/// Analyses one input.
fn input(client: &Client, path: &Path, options: &LintOptions) -> Result<InputReport> {
    let as_written = options.compilers.as_written(path)?;
    let asked = LoadOptions { registers: client.registers, merged_loads: client.registers, ..as_written };
    let mut imported = load(path, &asked)?.imported;
    let ids: Vec<FuncId> = imported.ir.functions.keys().collect();
    let asked_for = match &options.function {
        Some(name) => vec![find_function(&imported, path, Some(name))?],
        None => ids.clone(),
    };
    for id in ids {
        let mut func = imported.ir.functions[id].clone();
        promote_and_construct(&imported.ir, &mut func);
        imported.ir.functions[id] = func;
    }
    if asked_for.is_empty() {
        output::complain(&format!("{}: it defines no function", path.display()));
    }
    let solver = if options.dense { Solver::Dense } else { Solver::Sparse };
    let asked = Asked { imported: &imported, solver, options };
    let start = Instant::now();
    let answers: Vec<(FuncId, std::result::Result<Answer, String>)> = match client.run {
        Run::Function(run) => asked_for.into_iter().map(|id| (id, run(&asked, id))).collect(),
        Run::Module(run) => run(&asked, &asked_for)?.into_iter().map(|(id, a)| (id, Ok(a))).collect(),
    };
    Ok(InputReport::new(path, &asked, answers, start.elapsed()))
}

impl InputReport {
    fn new(
        path: &Path,
        asked: &Asked<'_>,
        answers: Vec<(FuncId, std::result::Result<Answer, String>)>,
        time: Duration,
    ) -> InputReport {
        let mut report = InputReport {
            input: path.display().to_string(),
            functions: Vec::new(),
            refused: Vec::new(),
            stats: None,
        };
        let mut work = Work::default();
        for (id, answer) in answers {
            let name = asked.imported.ir.functions[id].name.to_string();
            match answer {
                Ok(Answer { findings, text, json, work: w }) => {
                    work += w;
                    report.functions.push(FunctionReport { name, report: json, text, findings });
                }
                Err(reason) => report.refused.push(Refused { name, reason }),
            }
        }
        let solver = if asked.solver == Solver::Dense { "dense" } else { "sparse" };
        let functions = report.functions.len();
        report.stats =
            asked.options.stats.then_some(Stats { solver, functions, work, time_ns: time.as_nanos() });
        report
    }
}

fn text(output: &Output, options: &LintOptions) -> String {
    let mut out = String::new();
    for input in &output.inputs {
        if options.inputs.len() > 1 {
            let _ = writeln!(out, "{}:", input.input);
        }
        let said = input.functions.iter().filter(|f| !f.text.is_empty());
        if said.clone().next().is_none() {
            let _ = writeln!(out, "nothing was found in {} functions", input.functions.len());
        }
        for f in said {
            let _ = writeln!(out, "function {}:", demangle(&f.name));
            out.push_str(&f.text);
        }
        for r in &input.refused {
            let _ = writeln!(out, "function {}: not analysed: {}", demangle(&r.name), r.reason);
        }
        if let Some(stats) = &input.stats {
            let _ = writeln!(
                out,
                "{} solver: {} functions, {} versions, {} steps, {:.3} ms",
                stats.solver,
                stats.functions,
                stats.work.versions,
                stats.work.steps,
                stats.time_ns as f64 / 1e6
            );
        }
    }
    out
}

/// Prints what clients there are.
fn list(options: &LintOptions) -> Result<Outcome> {
    let all: Vec<&Description> = CLIENTS.iter().map(|c| c.description).collect();
    let printed = match options.format {
        Format::Json => output::json(&all),
        _ => {
            let line = |d: &&Description| {
                format!(
                    "{}: {}\n  {}, {}, {}; {}\n",
                    d.name,
                    d.question,
                    d.direction.name(),
                    d.strategy,
                    d.kind.name(),
                    d.reference
                )
            };
            all.iter().map(line).collect()
        }
    };
    output::deliver(options.output.as_deref(), &printed)?;
    Ok(Outcome::Clean)
}
