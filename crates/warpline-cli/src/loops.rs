//! `warpline vectorize --loop`: loops vectorized within their functions.

use serde_json::{Value, json};
use warpline::printable::line;
use warpline::vectorize::loops::Carry;
use warpline_compile::loops::{CompiledLoops, LoopOptions, MadeLoop, vectorize_loops};
use warpline_llvm::worker::Output;

use crate::Outcome;
use crate::cli::{Format, VectorizeOptions};
use crate::error::{Error, Result};
use crate::output::{self, Outputs};
use crate::vectorize::approximate;

/// Vectorizes loops within their functions; the output has the whole input.
///
/// # Errors
/// Whatever is wrong with input and options, or the reason why a loop cannot be vectorized.
pub fn vectorize(options: &VectorizeOptions, loops: &LoopOptions, kind: Output) -> Result<Outcome> {
    let only_for_kernels = [
        ("--returns", options.returns.is_some()),
        ("--name", options.name.is_some()),
        ("--mask", options.mask),
        ("--header", options.header.is_some()),
        ("--args", options.kernel.args.is_some()),
    ];
    if let Some((option, _)) = only_for_kernels.iter().find(|(_, given)| *given) {
        let message =
            "is for kernels: a function in which loops are vectorized keeps its name and parameters";
        return Err(Error::option(*option, message));
    }
    let compiled = vectorize_loops(loops, kind)?;
    let mut outputs = Outputs::default();
    outputs.add(&options.output, &compiled.code)?;
    outputs.commit()?;
    report(options, &compiled)?;
    Ok(Outcome::Clean)
}

fn report(options: &VectorizeOptions, compiled: &CompiledLoops) -> Result<()> {
    let output = options.output.display().to_string();
    if options.format == Format::Json {
        let loops: Vec<_> = compiled.loops.iter().map(as_json).collect();
        let value = json!({ "output": output, "cpu": compiled.cpu.name, "loops": loops });
        return output::report(options.outputs(), &output::json(&value));
    }
    let mut text = String::new();
    for l in &compiled.loops {
        text += &format!("{output}: {} for {}\n", in_words(l), compiled.cpu.name);
        text += &format!("{}\n", output::counts(&l.made.full.counts).join("\n"));
    }
    if compiled.loops.iter().any(|l| l.made.full.approximate) {
        text += &approximate(&compiled.libraries);
    }
    output::report(options.outputs(), &text)
}

/// A loop that was vectorized, in a line.
pub fn in_words(l: &MadeLoop) -> String {
    let carried: Vec<String> =
        l.made.carried.iter().map(|c| format!("{} {}", c.kind.name(), c.name)).collect();
    let carried = if carried.is_empty() { "nothing".to_owned() } else { carried.join(", ") };
    let rest = if l.made.rest < l.width { format!(", its end on {}", l.made.rest) } else { String::new() };
    let (place, function, width) = (&l.place, line(&l.function), l.width);
    let lead = if l.made.lead.is_some() { ", groups aligned" } else { "" };
    let checks = match l.made.checks {
        0 => String::new(),
        1 => "; a pair of pointers is checked before it".to_owned(),
        n => format!("; {n} pairs of pointers are checked before it"),
    };
    let inspected = match l.made.inspected {
        0 => String::new(),
        1 => ", for which indices are read twice; `restrict` spares that".to_owned(),
        n => format!(", for which {n} arrays of indices are read twice; `restrict` spares that"),
    };
    let updates = match l.made.pieces.count() {
        0 => String::new(),
        1 => "; an update of memory is made in the order of iterations".to_owned(),
        n => format!("; {n} updates of memory are made in the order of iterations"),
    };
    format!(
        "the loop at {place} in {function} on {width} lanes{rest}{lead} (carries {carried}{checks}{inspected}{updates})"
    )
}

/// The same as data.
pub fn as_json(l: &MadeLoop) -> Value {
    let carried = |c: &Carry| json!({ "name": c.name, "kind": c.kind.name() });
    json!({
        "function": l.function,
        "place": l.place,
        "width": l.width,
        "rest": l.made.rest,
        "aligned": l.made.lead.is_some(),
        "carried": l.made.carried.iter().map(carried).collect::<Vec<_>>(),
        "approximate": l.made.is_approximate(),
        "branches": l.made.full.counts.branches,
        "loops": l.made.full.counts.loops,
        "exits": l.made.full.counts.exits,
        "masks": l.made.full.counts.masks,
        "boscc": l.made.full.counts.boscc,
        "coherent": l.made.full.counts.coherent,
        "checks": l.made.checks,
        "inspected": l.made.inspected,
        "ordered_updates": l.made.pieces.count(),
        "trusted": l.made.full.dependences.trusted,
    })
}
