//! `warpline ssi --stats`: what is added, and how long it takes, beside Singer's SSI form.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Duration;

use serde::Serialize;
use warpline::dataflow::Code;
use warpline::ir::Function;
use warpline::ssa;

use crate::cli::{SsaFormat, SsiOptions};
use crate::error::Result;
use crate::forms::Form;
use crate::input::Input;
use crate::output;
use crate::sampling::{Sampling, medians};

/// How functions are timed: quickly, since the counts are what matters here.
const SAMPLING: Sampling = Sampling { runs: 5, least: Duration::ZERO };

/// What is measured of a function, and of all together.
#[derive(Clone, Copy, Default, Serialize)]
struct Cost {
    /// Instructions of the function in SSA form, its φs among them.
    instructions: usize,
    /// φs that were added.
    phis: usize,
    sigmas: usize,
    copies: usize,
    /// All that was added, in per cent of the instructions.
    growth_percent: f64,
    time_ns: u64,
    singer_ssi_phis: usize,
    singer_ssi_sigmas: usize,
    singer_ssi_growth_percent: f64,
    singer_ssi_time_ns: u64,
    /// What it takes to collect uses, definitions and tests, which both start from.
    program_time_ns: u64,
}

impl Cost {
    fn of(func: &Function, form: Form, times: [f64; 3]) -> Cost {
        let code = Code::of(func);
        let counts = |form: Form| form.split(code.program()).counts(code.program());
        let (own, singer) = (counts(form), counts(Form::Singer));
        let [time_ns, singer_ssi_time_ns, program_time_ns] = times.map(|nanos| nanos as u64);
        let cost = Cost {
            instructions: func.inst_count(),
            phis: own.phis,
            sigmas: own.sigmas,
            copies: own.copies,
            time_ns,
            singer_ssi_phis: singer.phis,
            singer_ssi_sigmas: singer.sigmas,
            singer_ssi_time_ns,
            program_time_ns,
            ..Cost::default()
        };
        cost.with_growth()
    }

    fn added(&self) -> usize {
        self.phis + self.sigmas + self.copies
    }

    fn with_growth(mut self) -> Cost {
        let percent = |added: usize| match self.instructions {
            0 => 0.0,
            all => added as f64 * 100.0 / all as f64,
        };
        self.growth_percent = percent(self.added());
        self.singer_ssi_growth_percent = percent(self.singer_ssi_phis + self.singer_ssi_sigmas);
        self
    }

    fn sum<'a>(costs: impl Iterator<Item = &'a Cost>) -> Cost {
        let mut sum = Cost::default();
        for cost in costs {
            sum.instructions += cost.instructions;
            sum.phis += cost.phis;
            sum.sigmas += cost.sigmas;
            sum.copies += cost.copies;
            sum.time_ns += cost.time_ns;
            sum.singer_ssi_phis += cost.singer_ssi_phis;
            sum.singer_ssi_sigmas += cost.singer_ssi_sigmas;
            sum.singer_ssi_time_ns += cost.singer_ssi_time_ns;
            sum.program_time_ns += cost.program_time_ns;
        }
        sum.with_growth()
    }
}

/// Of all functions of all inputs together.
#[derive(Serialize)]
struct Report {
    strategy: &'static str,
    functions: usize,
    #[serde(flatten)]
    total: Cost,
    #[serde(skip_serializing_if = "Option::is_none")]
    by_function: Option<Vec<FunctionReport>>,
}

/// Of one function.
#[derive(Serialize)]
struct FunctionReport {
    input: String,
    name: String,
    #[serde(flatten)]
    cost: Cost,
}

/// The report on these inputs, in the format asked for.
///
/// # Errors
/// None at present.
pub(super) fn report(inputs: Vec<Input>, options: &SsiOptions) -> Result<String> {
    let mut all = Vec::new();
    for mut input in inputs {
        input.replace(|module, func| {
            ssa::promote_and_construct(module, func);
            Ok(())
        })?;
        let functions: Vec<&Function> =
            input.functions.iter().map(|&id| &input.imported.ir.functions[id]).collect();
        let codes: Vec<(&Function, Code)> = functions.iter().map(|&func| (func, Code::of(func))).collect();
        let run = |(func, code): &(&Function, Code), what: usize| match what {
            0 => drop(black_box(options.strategy.split(code.program()))),
            1 => drop(black_box(Form::Singer.split(code.program()))),
            _ => drop(black_box(Code::of(func))),
        };
        let times: Vec<[f64; 3]> = medians(&codes, run, SAMPLING, |_| ());
        for ((func, _), times) in codes.into_iter().zip(times) {
            all.push(FunctionReport {
                input: input.path.display().to_string(),
                name: func.name.to_string(),
                cost: Cost::of(func, options.strategy, times),
            });
        }
    }
    let report = Report {
        strategy: options.strategy.name(),
        functions: all.len(),
        total: Cost::sum(all.iter().map(|f| &f.cost)),
        by_function: options.by_function.then_some(all),
    };
    Ok(match options.format {
        SsaFormat::Json => output::json(&report),
        _ => text(&report),
    })
}

fn text(report: &Report) -> String {
    let mut out = format!("{} functions: {} instructions\n", report.functions, report.total.instructions);
    lines(&mut out, report.strategy, &report.total);
    for f in report.by_function.iter().flatten() {
        let _ = writeln!(out, "\nfunction {}: {} instructions", f.name, f.cost.instructions);
        lines(&mut out, report.strategy, &f.cost);
    }
    out
}

fn lines(out: &mut String, strategy: &str, cost: &Cost) {
    let mut line = |name: &str, phis, sigmas, copies, growth: f64, nanos: u64| {
        let _ = writeln!(
            out,
            "  {name:<22} {phis:>7} φs {sigmas:>7} σs {copies:>7} copies {growth:>7.2} % {:>10.1} µs",
            nanos as f64 / 1e3
        );
    };
    line(strategy, cost.phis, cost.sigmas, cost.copies, cost.growth_percent, cost.time_ns);
    let growth = cost.singer_ssi_growth_percent;
    line("Singer's SSI", cost.singer_ssi_phis, cost.singer_ssi_sigmas, 0, growth, cost.singer_ssi_time_ns);
    let _ =
        writeln!(out, "  collecting uses, definitions and tests {:.1} µs", cost.program_time_ns as f64 / 1e3);
}
