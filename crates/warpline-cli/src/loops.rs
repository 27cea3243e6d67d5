//! `warpline vectorize --loop`: loops vectorized within their functions.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use warpline::demangle;
use warpline::vectorize::driver::Tail;
use warpline::vectorize::loops::Carry;
use warpline_compile::loops::{
    CompiledLoops, LoopOptions, LoopVersion, MadeLoop, RefusedLoop, ScalarLoop, vectorize_loops,
};
use warpline_compile::remarks::Remarked;
use warpline_llvm::worker::Output;

use crate::Outcome;
use crate::cli::{Format, VectorizeOptions};
use crate::dependencies;
use crate::error::{Error, Result};
use crate::output::{self, Outputs};
use crate::summary::{self, Summary};
use crate::vectorize::header_of;
use crate::{refused, remarks};

/// So many loops are listed with their lanes each.
const SINGLY: usize = 6;

/// Vectorizes loops within their functions; the output has the whole input.
///
/// # Errors
/// Whatever is wrong with input and options, or the reason why a loop cannot be vectorized.
pub(crate) fn vectorize(options: &VectorizeOptions, loops: &LoopOptions, kind: Output) -> Result<Outcome> {
    let only_for_kernels = [
        ("--returns", options.returns.is_some()),
        ("--symbol", options.symbol.is_some()),
        ("--mask", options.mask),
        ("--args", options.kernel.args.is_some()),
    ];
    if let Some((option, _)) = only_for_kernels.iter().find(|(_, given)| *given) {
        let message =
            "is for kernels: a function in which loops are vectorized keeps its name and parameters";
        return Err(Error::option(*option, message));
    }
    let compiled = vectorize_loops(loops, kind, options.header.is_some())?;
    let mut outputs = Outputs::default();
    outputs.add(&options.output, &compiled.code)?;
    if let Some(path) = &options.header {
        let header = header_of(options, &loops.kernel, &compiled.types);
        let cpus: Vec<&str> = compiled.versions.iter().map(|one| one.cpu.name.as_str()).collect();
        outputs.add(path, header.of_loops(&compiled.functions, &cpus).as_bytes())?;
    }
    dependencies::add(&mut outputs, options, &compiled.files)?;
    // Of several CPUs, the best.
    let mut remarks: Vec<Remarked> = compiled.versions.first().map_or_else(Vec::new, LoopVersion::remarks);
    remarks.extend(compiled.refused.iter().map(RefusedLoop::remarked));
    remarks::add(&mut outputs, options, &remarks)?;
    outputs.commit()?;
    if !options.report.quiet {
        let lines = refused::lines(&compiled.refused, options.report.verbose);
        lines.iter().for_each(|line| output::complain(line));
    }
    report(options, &compiled)?;
    remarks::show(options, &remarks);
    let scalar = compiled.versions.iter().any(|version| !version.scalar.is_empty());
    let incomplete = options.kernel.require_all && !compiled.refused.is_empty();
    Ok(if incomplete || options.kernel.require_vector && scalar { Outcome::Finding } else { Outcome::Clean })
}

fn report(options: &VectorizeOptions, compiled: &CompiledLoops) -> Result<()> {
    let output = options.output.display().to_string();
    let (best, others) = match &compiled.versions[..] {
        [best, others @ ..] => (best, others),
        [] => return Err(Error::Internal("no CPU has code".to_owned())),
    };
    if options.report.format == Format::Json {
        let loop_as_json = |l: &MadeLoop| {
            let mut value = as_json(l);
            value["remarks"] = remarks::as_json(&l.remarks);
            value
        };
        let loops = |version: &LoopVersion| version.loops.iter().map(loop_as_json).collect::<Vec<_>>();
        let refused = |l: &RefusedLoop| json!({ "place": l.place, "reason": l.reason.to_string() });
        let scalar = |version: &LoopVersion| version.scalar.iter().map(scalar_as_json).collect::<Vec<_>>();
        let mut value = json!({
            "output": output, "cpu": best.cpu.name, "loops": loops(best), "scalar": scalar(best),
        });
        if !others.is_empty() {
            let version = |one: &LoopVersion| {
                let (loops, scalar) = (loops(one), scalar(one));
                json!({ "cpu": one.cpu.name, "loops": loops, "scalar": scalar })
            };
            value["versions"] = compiled.versions.iter().map(version).collect();
            let which = compiled.functions.iter().filter_map(|one| one.which.as_deref());
            value["symbols"] = which.collect();
        }
        if !compiled.refused.is_empty() {
            value["refused"] = compiled.refused.iter().map(refused).collect();
        }
        return output::report(options.outputs(), &output::json(&value));
    }
    let counts = |l: &MadeLoop| l.made.variants.full.counts;
    let mut result = best.loops.iter().map(|l| summary::shares(&counts(l))).collect::<Vec<_>>().join("; ");
    if best.loops.len() > 1 {
        result = lanes(&best.loops);
    }
    let all = || compiled.versions.iter().flat_map(|version| &version.loops);
    if all().any(|l| l.made.is_approximate()) {
        result += &format!("; {}", summary::mathematics(&compiled.libraries));
    }
    let mut done = format!("{} for {} in {output}", vectorized(&best.loops), best.cpu.name);
    if !others.is_empty() {
        let n = compiled.versions.len();
        done += &format!(": chooses among {n} CPUs when called");
    }
    let details_of = |version: &LoopVersion| -> Vec<String> {
        let title = (!others.is_empty()).then(|| format!("for {}:", version.cpu.name));
        title.into_iter().chain(version.loops.iter().flat_map(details)).collect()
    };
    let all = Summary {
        done,
        result,
        warnings: stay_scalar(&compiled.versions).chain(best.loops.iter().flat_map(warnings)).collect(),
        details: compiled.versions.iter().flat_map(details_of).collect(),
        ..Summary::default()
    };
    output::report(options.outputs(), &all.text(&options.report))
}

/// How many lanes each of some loops has; of many, how many loops have so many lanes.
fn lanes(loops: &[MadeLoop]) -> String {
    if loops.len() <= SINGLY {
        let one = |l: &MadeLoop| format!("{}: {} lanes", l.place, l.width);
        return loops.iter().map(one).collect::<Vec<_>>().join(", ");
    }
    let mut by_width: BTreeMap<u32, usize> = BTreeMap::new();
    loops.iter().for_each(|l| *by_width.entry(l.width).or_default() += 1);
    let some = by_width.iter().map(|(width, loops)| match loops {
        1 => format!("1 loop has {width} lanes"),
        _ => format!("{loops} loops have {width} lanes"),
    });
    some.collect::<Vec<_>>().join(", ")
}

/// Why loops stay scalar. Of several CPUs, it is said for which.
fn stay_scalar(versions: &[LoopVersion]) -> impl Iterator<Item = String> {
    let several = versions.len() > 1;
    versions.iter().flat_map(move |version| {
        version.scalar.iter().map(move |one| match several {
            true => format!("for {}: {}", version.cpu.name, one.describe()),
            false => one.describe(),
        })
    })
}

/// Which loops were vectorized, in a line.
pub(crate) fn vectorized(loops: &[MadeLoop]) -> String {
    match loops {
        [l] => format!("{}: loop at {} vectorized with {} lanes", demangle(&l.function), l.place, l.width),
        [] => "no loop vectorized".to_owned(),
        _ => {
            let function = loops.first().map_or(String::new(), |l| demangle(&l.function));
            let one = loops.iter().all(|l| demangle(&l.function) == function);
            let of = if one { format!("{function}: ") } else { String::new() };
            format!("{of}{} loops vectorized", loops.len())
        }
    }
}

/// What is to be known about a loop.
pub(crate) fn warnings(l: &MadeLoop) -> impl Iterator<Item = String> {
    let inspected = (l.made.inspected > 0).then(|| {
        let arrays = if l.made.inspected == 1 { "an array" } else { "arrays" };
        format!(
            "{}: {arrays} of indices is read twice to check the loop; `restrict` would spare that",
            l.place
        )
    });
    inspected.into_iter().chain(l.made.variants.full.dependences.warnings.iter().cloned())
}

/// Details of a loop, a line each.
pub(crate) fn details(l: &MadeLoop) -> Vec<String> {
    let carried: Vec<String> =
        l.made.carried.iter().map(|c| format!("{} {}", c.kind.name(), c.name)).collect();
    let carried = if carried.is_empty() { "nothing".to_owned() } else { carried.join(", ") };
    let mut first = format!("{} in {}: {} lanes", l.place, demangle(&l.function), l.width);
    if l.made.variants.epilogue() < l.width {
        first += &format!(", vector epilogue with {}", l.made.variants.epilogue());
    }
    if l.made.variants.tail() == Tail::Scalar {
        first += ", scalar tail";
    }
    if l.made.variants.prologue.is_some() {
        first += ", alignment prologue";
    }
    let mut lines = vec![first, format!("loop-carried: {carried}")];
    lines.extend(match l.made.checks {
        0 => None,
        1 => Some("run-time check before the loop: 1 pair of pointers".to_owned()),
        n => Some(format!("run-time check before the loop: {n} pairs of pointers")),
    });
    if !l.made.strides.is_empty() {
        let names = l.made.strides.join(", ");
        lines.push(format!(
            "run-time check before the loop: {names} = 1; the scalar loop runs with other strides"
        ));
    }
    lines.extend(match l.made.pieces.count() {
        0 => None,
        1 => Some("in the order of iterations: 1 update of memory".to_owned()),
        n => Some(format!("in the order of iterations: {n} updates of memory")),
    });
    lines.extend(summary::counts(&l.made.variants.full.counts));
    lines.push(format!("recipes: {}", l.made.variants.full.recipes));
    lines
}

/// A loop that stays scalar, as data.
fn scalar_as_json(l: &ScalarLoop) -> Value {
    json!({
        "function": l.function,
        "place": l.place,
        "lanes": l.lanes,
        "cycles": summary::cycles(&l.estimate),
        "reason": l.describe(),
        "remarks": remarks::as_json(&l.remarks),
    })
}

/// A loop as data.
pub(crate) fn as_json(l: &MadeLoop) -> Value {
    let carried = |c: &Carry| json!({ "name": c.name, "kind": c.kind.name() });
    json!({
        "function": l.function,
        "place": l.place,
        "width": l.width,
        "cycles": l.estimate.as_ref().map(summary::cycles),
        "epilogue": l.made.variants.epilogue(),
        "tail": l.made.variants.tail().name(),
        "aligned": l.made.variants.prologue.is_some(),
        "carried": l.made.carried.iter().map(carried).collect::<Vec<_>>(),
        "approximate": l.made.is_approximate(),
        "branches": l.made.variants.full.counts.branches,
        "loops": l.made.variants.full.counts.loops,
        "exits": l.made.variants.full.counts.exits,
        "masks": l.made.variants.full.counts.masks,
        "boscc": l.made.variants.full.counts.boscc,
        "coherent": l.made.variants.full.counts.coherent,
        "guards": l.made.variants.full.counts.guards,
        "recipes": l.made.variants.full.recipes,
        "checks": l.made.checks,
        "inspected": l.made.inspected,
        "ordered_updates": l.made.pieces.count(),
        "trusted": l.made.variants.full.dependences.trusted,
    })
}
