//! Holds the uniformity analysis against LLVM's own, on LLVM IR files compiled for AMD's or NVIDIA's GPUs.
//!
//! ```sh
//! cargo run --release -p warpline-llvm --example compare_uniformity -- FILES…
//! ```
//!
//! LLVM's opinions are those of the library that warpline loads and, where it is installed, of `opt-19`. Prints a
//! table for Markdown, with a line for each file, and below it whatever is divergent here and uniform to LLVM, with
//! the reason. `--uniform` lists the opposite too.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use warpline_ir::{Block, Inst, Module as Ir};
use warpline_llvm::{Error, Imported, Module, target_of_triple, worker};
use warpline_testkit::llvm_opinion::{Comparison, Opinion, compare, parse};
use warpline_uniformity::Uniformity;

/// The sums over the functions of a file.
#[derive(Default)]
struct Sums {
    functions: usize,
    values: usize,
    branches: usize,
    ours: usize,
    our_branches: usize,
    by_version: BTreeMap<&'static str, Against>,
}

/// What one version of LLVM says.
#[derive(Default)]
struct Against {
    compared: usize,
    divergent: usize,
    divergent_branches: usize,
    fewer: usize,
    equal: usize,
    more: usize,
}

fn main() -> Result<(), Error> {
    worker::serve_if_asked();
    let mut uniform_too = false;
    let mut exceptions = String::new();
    println!(
        "| file | functions | values | divergent: ours | LLVM 19 | LLVM 22 | branches | ours | LLVM 19 | LLVM 22 | \
         functions with fewer, equal, more than 19 | than 22 |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for argument in std::env::args().skip(1) {
        if argument == "--uniform" {
            uniform_too = true;
            continue;
        }
        file(Path::new(&argument), uniform_too, &mut exceptions)?;
    }
    println!("\n{exceptions}");
    Ok(())
}

fn file(path: &Path, uniform_too: bool, exceptions: &mut String) -> Result<(), Error> {
    let module = Module::read(path)?;
    let mut opinions: BTreeMap<&'static str, Vec<Opinion>> = BTreeMap::new();
    opinions.insert("22", parse(&worker::print_uniformity(&module)?));
    if let Some(text) = opt(path) {
        opinions.insert("19", parse(&text));
    }
    let imported = Imported::new(module);
    let target = target_of_triple(&imported.ir.triple);
    let summaries = imported.summaries(target);
    let mut sums = Sums::default();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let by_name: BTreeMap<&str, BTreeMap<&str, &Opinion>> = opinions
        .iter()
        .map(|(&version, list)| (version, list.iter().map(|o| (&*o.function, o)).collect()))
        .collect();
    for (id, func) in &imported.ir.functions {
        let options = imported.analysis_options(id, target, Some(summaries.clone()));
        let result = Uniformity::compute(&imported.ir, func, &options);
        let values = || func.layout.iter().flat_map(|&b| func.block_insts(b));
        let values = values().flat_map(|i| func.insts[i].results.iter().copied());
        sums.functions += 1;
        for v in values {
            sums.values += 1;
            sums.ours += usize::from(result.is_divergent(v));
        }
        sums.our_branches += result.divergent_branches().count();
        for (&version, list) in &by_name {
            let sum = sums.by_version.entry(version).or_default();
            let compared = list.get(&*func.name).and_then(|o| compare(func, &result, o));
            let Some(compared) = compared else { continue };
            sum.add(&compared);
            if version == "22" {
                sums.branches += compared.branches.all;
            }
            for (text, inst) in &compared.only_ours {
                let text = text.lines().next().unwrap_or_default();
                *exceptions += &format!(
                    "{name} {}: only ours (LLVM {version}): `{text}` — {}\n",
                    func.name,
                    reason(&imported.ir, func, &result, *inst)
                );
            }
            if uniform_too {
                for (text, _) in &compared.only_theirs {
                    let text = text.lines().next().unwrap_or_default();
                    *exceptions += &format!("{name} {}: only LLVM {version}: `{text}`\n", func.name);
                }
            }
        }
    }
    let of = |version: &str, f: &dyn Fn(&Against) -> String| {
        sums.by_version.get(version).filter(|a| a.compared > 0).map_or("–".to_owned(), f)
    };
    let three = |a: &Against| format!("{}, {}, {}", a.fewer, a.equal, a.more);
    println!(
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        sums.functions,
        sums.values,
        sums.ours,
        of("19", &|a| a.divergent.to_string()),
        of("22", &|a| a.divergent.to_string()),
        sums.branches,
        sums.our_branches,
        of("19", &|a| a.divergent_branches.to_string()),
        of("22", &|a| a.divergent_branches.to_string()),
        of("19", &three),
        of("22", &three),
    );
    for (version, a) in &sums.by_version {
        if a.compared < sums.functions {
            *exceptions += &format!(
                "{name}: {} functions that LLVM {version} reads as other instructions were not compared\n",
                sums.functions - a.compared
            );
        }
    }
    Ok(())
}

impl Against {
    fn add(&mut self, c: &Comparison) {
        self.compared += 1;
        self.divergent += c.values.theirs;
        self.divergent_branches += c.branches.theirs;
        let (ours, theirs) = (c.values.ours + c.branches.ours, c.values.theirs + c.branches.theirs);
        match ours.cmp(&theirs) {
            std::cmp::Ordering::Less => self.fewer += 1,
            std::cmp::Ordering::Equal => self.equal += 1,
            std::cmp::Ordering::Greater => self.more += 1,
        }
    }
}

/// Why an instruction is divergent here: the end of the chain of causes.
fn reason(ir: &Ir, func: &warpline_ir::Function, result: &Uniformity, inst: Inst) -> String {
    let data = &func.insts[inst];
    let steps = match data.results.first() {
        Some(&v) if result.is_divergent(v) => result.explain(ir, func, v),
        _ => result.explain_branch(ir, func, Block::from_u32(data.block.as_u32())),
    };
    let ends: Vec<String> =
        [steps.first(), steps.last()].into_iter().flatten().map(|s| s.text.clone()).collect();
    ends.join("; in the end: ")
}

/// What `opt-19` prints of a file, if it is installed and reads the file.
fn opt(path: &Path) -> Option<String> {
    let output = Command::new("opt-19")
        .args(["-passes=print<uniformity>", "-disable-output"])
        .arg(path)
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}
