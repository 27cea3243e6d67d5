//! What operations take on the machine at hand: a program in C measures the loops.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use warpline_compile::error::{Error, Result};
use warpline_llvm::Cpu;
use warpline_llvm::worker::{self, CodegenOptions, Output};
use warpline_target::{Element, Op};

use super::rows::{self, Loop, Row, Set};
use crate::survey::child;

/// How long the program may take, in seconds.
const PATIENCE: u64 = 1800;

/// The program around the loops.
const DRIVER: &str = include_str!("driver.c");

/// The cycles that one round of each loop takes, by its name, and what else the program measures.
///
/// # Errors
/// If the loops cannot be translated, or the program does not run.
pub(super) fn cycles(
    loops: &[Loop],
    triple: &str,
    cpu: &Cpu,
    set: Set,
    repeated: usize,
) -> Result<BTreeMap<String, f64>> {
    let module = rows::module(loops, triple, &cpu.name, &cpu.features, set);
    let options =
        CodegenOptions { passes: String::new(), ..CodegenOptions::new(cpu.clone(), Output::Object) };
    let object = worker::codegen_linked(vec![module.into_bytes()], "the loops", &options)?;
    let failed = |e: std::io::Error| Error::input(Path::new("the temporary folder"), e.to_string());
    let folder = tempfile::tempdir().map_err(failed)?;
    let [source, loops_object, program] =
        ["driver.c", "loops.o", "driver"].map(|name| folder.path().join(name));
    std::fs::write(&loops_object, object).map_err(failed)?;
    std::fs::write(&source, DRIVER.to_owned() + &table(loops)).map_err(failed)?;
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.arg("-O2").arg(format!("-DREPEATED={repeated}")).args([&source, &loops_object]);
    let compiled = child::run(compiler.arg("-o").arg(&program).arg("-lm"), PATIENCE);
    if compiled.code != Some(0) {
        return Err(Error::input(&source, format!("the C compiler fails: {}", compiled.stderr.trim())));
    }
    let ended = child::run(&mut Command::new(&program), PATIENCE);
    if ended.code != Some(0) {
        return Err(Error::input(&program, format!("it does not end well: {}", ended.stderr.trim())));
    }
    let line = |line: &str| {
        let (name, cycles) = line.split_once(' ')?;
        Some((name.to_owned(), cycles.parse().ok()?))
    };
    Ok(ended.stdout.lines().filter_map(line).collect())
}

/// The loops for the program in C.
fn table(loops: &[Loop]) -> String {
    let mut declared = String::new();
    let mut listed = String::new();
    for (k, one) in loops.iter().enumerate() {
        declared += &format!("extern body loop{k} __asm__(\"{}\");\n", one.name);
        listed += &format!("    {{ \"{}\", loop{k}, '{}' }},\n", one.name, data(one.row));
    }
    format!("{declared}const struct loop loops[] = {{\n{listed}}};\nconst int count = {};\n", loops.len())
}

/// What data a row wants, by the driver's letters.
fn data(row: Row) -> char {
    match row.op {
        Op::Gather | Op::Scatter | Op::Replicate | Op::ReplicatedStore => {
            if row.element.bits() == 64 {
                'I'
            } else {
                'i'
            }
        }
        _ => match row.element {
            Element::I8 => '1',
            Element::I16 => '2',
            Element::I32 => '4',
            Element::I64 => '8',
            Element::F32 => 'f',
            Element::F64 => 'd',
        },
    }
}
