//! `warpline-bench machine`: the tables of costs that models read ([`warpline_target`]), made again.
//!
//! Each operation stands in a loop of LLVM's IR. With `--model`, LLVM's model of a processor executes the machine code
//! of the loop; else the loop runs on this machine. Both print a table in the format of the built-in ones, with the
//! built-in figures behind each row.

mod measure;
mod model;
mod rows;

use std::fmt::Write as _;

use warpline_cli::Outcome;
use warpline_cli::output;
use warpline_compile::error::{Error, Result};
use warpline_llvm::{host_triple, worker};
use warpline_target::{Cpu, Op, all, nearest};

use crate::options::BenchMachineOptions;
use rows::{Loop, Set, Shows};

/// Runs the command.
///
/// # Errors
/// If a CPU is not known, or a tool is missing.
pub(crate) fn machine(options: &BenchMachineOptions) -> Result<Outcome> {
    output::check(options.output.as_deref(), &[])?;
    let asked = |op: Op| options.only.is_empty() || options.only.iter().any(|name| name == op.name());
    let text = match &options.model {
        Some(name) => of_model(name, asked)?,
        None => of_machine(options, asked)?,
    };
    output::deliver(options.output.as_deref(), &text)?;
    Ok(Outcome::Clean)
}

/// The table of LLVM's model of a CPU that has one here.
fn of_model(name: &str, asked: impl Fn(Op) -> bool) -> Result<String> {
    let Some(cpu) = all().iter().find(|cpu| cpu.table.cpu() == name) else {
        let known: Vec<&str> = all().iter().map(|cpu| cpu.table.cpu()).collect();
        return Err(Error::option("--model", format!("`{name}`: the tables are for {}", known.join(", "))));
    };
    let x86 = !name.starts_with("neoverse");
    let triple = if x86 { "x86_64-unknown-linux-gnu" } else { "aarch64-unknown-linux-gnu" };
    // LLVM's models of Zen have no sensible figures of these.
    let sensible = |op| !(name.starts_with("znver") && matches!(op, Op::Gather | Op::Scatter));
    let set = set(cpu.register_bits, x86);
    let loops = rows::loops(set, |op| asked(op) && sensible(op));
    // Code for a level, as a processor of today executes it.
    let core = match name {
        "x86-64-v2" | "x86-64-v3" => "znver3",
        "x86-64-v4" => "znver4",
        name => name,
    };
    let cycles = model::cycles(&loops, triple, (name, core), set)?;
    let source = if core == name { "llvm-mca".to_owned() } else { format!("llvm-mca -mcpu={core}") };
    Ok(table(&format!("machine --model {name}"), &loops, |name| cycles.get(name).copied(), &source, cpu))
}

/// The table of this machine.
fn of_machine(options: &BenchMachineOptions, asked: impl Fn(Op) -> bool) -> Result<String> {
    let triple = host_triple()?;
    if !triple.starts_with("x86_64") {
        return Err(Error::option(
            "machine",
            "loops are measured on x86-64 only; `--model` needs no such machine",
        ));
    }
    let cpu = worker::find_cpu("native", &triple)?;
    let bits = match () {
        () if std::arch::is_x86_feature_detected!("avx512bw") => 512,
        () if std::arch::is_x86_feature_detected!("avx2") => 256,
        () => 128,
    };
    let set = set(bits, true);
    let loops = rows::loops(set, &asked);
    let cycles = measure::cycles(&loops, &triple, &cpu, set, options.rounds)?;
    let known = nearest(&cpu.name, true, bits);
    let source = format!("measured on {}", cpu.name);
    let mut text = table("machine", &loops, |name| cycles.get(name).copied(), &source, known);
    // What is no loop of IR, in the names that the program prints.
    for op in [Op::Call, Op::Mathematics, Op::Remainder].into_iter().filter(|&op| asked(op)) {
        for element in warpline_target::Element::ALL {
            let name = format!("{}_{}_scalar_throughput", op.name(), element.name());
            if let Some(cycles) = cycles.get(&name) {
                let _ = writeln!(text, "{} {} scalar {cycles:.2} - {source}", op.name(), element.name());
            }
        }
    }
    if let Some(cycles) = cycles.get("misprediction") {
        let (model, name) = (known.core.misprediction, known.table.cpu());
        let _ = writeln!(text, "# misprediction: {cycles:.1} cycles; {model} for {name}");
    }
    Ok(text)
}

fn set(bits: u32, x86: bool) -> Set {
    Set { bits, gathers: x86 && bits >= 256, masks: bits == 512, x86 }
}

/// A table of loops of which the cycles of a round are known, beside the figures of a built-in table.
fn table(
    command: &str,
    loops: &[Loop],
    cycles: impl Fn(&str) -> Option<f64>,
    source: &str,
    known: &Cpu,
) -> String {
    let cpu = known.table.cpu();
    let mut text =
        format!("# Made by `warpline-bench {command}`; behind `#`, what the table of {cpu} says.\n");
    text.push_str("operation element bits throughput latency source\n");
    for one in loops.iter().filter(|one| one.shows == Shows::Throughput) {
        let Some(throughput) = cycles(&one.name) else { continue };
        let row = one.row;
        let alone = one.name.replace("_throughput", "_latency");
        let number = |cycles: Option<f64>| cycles.map_or("-".to_owned(), |cycles| format!("{cycles:.2}"));
        let bits = row.bits.map_or("scalar".to_owned(), |bits| bits.to_string());
        let _ = write!(
            text,
            "{} {} {bits} {} {} {source}",
            row.op.name(),
            row.element.name(),
            number(Some(throughput / one.times as f64)),
            number(cycles(&alone)),
        );
        if let Some(built_in) = known.table.row(row.op, row.element, row.bits) {
            let _ = write!(
                text,
                " # {:.2} {} {}",
                built_in.throughput,
                number(built_in.latency),
                built_in.source
            );
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_target::{Machine, Table};

    #[test]
    fn every_cpu_has_loops_for_the_rows_of_its_table_and_what_is_printed_is_a_table() {
        for cpu in all() {
            let x86 = !cpu.table.cpu().starts_with("neoverse");
            let loops = rows::loops(set(cpu.register_bits, x86), |_| true);
            let text = table("machine", &loops, |_| Some(10.0), "here", cpu);
            let read = Table::read("read", &[&text]).unwrap_or_else(|e| panic!("{e}"));
            let made_of_loops = |op| !matches!(op, Op::Call | Op::Mathematics | Op::Remainder);
            // What was measured on another CPU has rows that this one has no instructions for.
            let machine = Machine::of(cpu);
            let is_served = |op, element, bits: Option<u32>| {
                let fuses = op != Op::FusedMultiply || machine.fused;
                fuses && bits.is_none_or(|bits| bits <= cpu.register_bits && machine.has(op, element))
            };
            let rows =
                cpu.table.rows().filter(|&(op, e, bits, _)| made_of_loops(op) && is_served(op, e, bits));
            for (op, element, bits, _) in rows {
                assert!(
                    read.row(op, element, bits).is_some(),
                    "{}: {op:?} {element:?} {bits:?}",
                    cpu.table.cpu()
                );
            }
        }
    }
}
