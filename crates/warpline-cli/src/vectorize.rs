//! `warpline vectorize`: the W-lane variant of a kernel as a file.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use warpline::printable::line;
use warpline::vectorize::counts::Counts;
use warpline::vectorize::driver::Tail;
use warpline_compile::choice;
use warpline_compile::dispatch::{self, Dispatched};
use warpline_compile::groups::Regions;
use warpline_compile::header::Header;
use warpline_compile::kernel::{self, Source};
use warpline_compile::math;
use warpline_compile::remarks::Remarked;
use warpline_compile::source_types::SourceTypes;
use warpline_compile::vectorize::{Compiled, Refused};
use warpline_compile::{KernelOptions, VectorizeOptions as Asked};
use warpline_llvm::worker::Output;

use crate::Outcome;
use crate::cli::{Format, VectorizeOptions};
use crate::dependencies;
use crate::error::{Error, Result};
use crate::loops;
use crate::output::{self, Outputs, progress};
use crate::remarks;
use crate::summary::{self, Summary};

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with input and options, or the reason why no kernel can be vectorized.
pub(crate) fn vectorize(options: &VectorizeOptions) -> Result<Outcome> {
    let kind = output_kind(&options.output)?;
    let list = options.dependency_file();
    let outputs = options.outputs().chain(list.as_deref());
    let inputs: Vec<PathBuf> =
        std::iter::once(&options.kernel.input).chain(&options.kernel.profile).cloned().collect();
    output::check(outputs, &inputs)?;
    let _shown = progress::begin(1, options.report.quiet);
    if let Some(mut loops) = options.loops.options(&options.kernel)? {
        loops.kernel.triple.clone_from(&options.triple);
        loops.kernel.remarks = remarks::are_wanted(options);
        loops.kernel.flags.dependencies = options.listed();
        return loops::vectorize(options, &loops, kind);
    }
    let mut kernel = KernelOptions {
        triple: options.triple.clone(),
        remarks: remarks::are_wanted(options),
        ..options.kernel.asked()?
    };
    kernel.flags.dependencies = options.listed();
    let Source { imported, files } =
        kernel::load_for_code(&kernel.input, &kernel.load_options(), kernel.told())?;
    let shapes = options.kernel.args.is_some();
    let kernels = choice::choose(&imported, &kernel.input, &options.kernel.function, shapes)?;
    kernels.iter().try_for_each(|one| one.is_meant(&kernel.input))?;
    let asked = Asked {
        kernel,
        returns: options.returns.clone(),
        name: options.symbol.clone(),
        mask: options.mask,
        panic: None,
        reports: None,
        strip: false,
    };
    let types = match &options.header {
        Some(_) => SourceTypes::of(&asked.kernel, &imported),
        None => SourceTypes::default(),
    };
    let header = header_of(options, &asked.kernel, &types);
    let (made, refused, code, header) = match options.kernel.cpu.contains(',') {
        true => {
            let cpus: Vec<String> =
                options.kernel.cpu.split(',').map(|name| name.trim().to_owned()).collect();
            let (made, refused, code) = dispatch::vectorize(&asked, &imported, &kernels, &cpus, kind)?;
            let header = header.of_dispatched(&made);
            (Made::Several(made), refused, code, header)
        }
        false => {
            let (all, code) = warpline_compile::vectorize::vectorize(&asked, imported, &kernels, kind)?;
            let header = header.of_kernels(&all.made);
            (Made::One(all.made), all.refused, code, header)
        }
    };
    if made.is_empty() {
        return nothing_made(options, refused);
    }
    // Of several CPUs, the best.
    let refusals = refused.iter().map(Refused::remarked);
    let remarks: Vec<Remarked> = made.best().map(Compiled::remarks).chain(refusals).collect();
    let mut outputs = Outputs::default();
    remarks::add(&mut outputs, options, &remarks)?;
    write(outputs, options, (&code, &header), &files)?;
    report(options, &made, &refused)?;
    remarks::show(options, &remarks);
    let mut outcome = match options.kernel.require_vector && made.each().any(|one| one.scalar) {
        true => Outcome::Finding,
        false => Outcome::Clean,
    };
    for Refused { kernel, reason, .. } in &refused {
        let fatal = kernel.named || options.kernel.require_all;
        if fatal {
            outcome = Outcome::Finding;
        }
        if fatal || !options.report.quiet {
            output::complain(&format!("{}: {reason}", if fatal { "error" } else { "warning" }));
        }
    }
    Ok(outcome)
}

/// The outcome where no kernel can be vectorized: a finding about kernels that are named, otherwise an input that
/// there is nothing in for us.
fn nothing_made(options: &VectorizeOptions, mut refused: Vec<Refused>) -> Result<Outcome> {
    let finding = options.kernel.require_all || refused.iter().any(|one| one.kernel.named);
    let last = if finding { None } else { refused.pop() };
    for Refused { reason, .. } in &refused {
        output::complain(&format!("error: {reason}"));
    }
    last.map_or(Ok(Outcome::Finding), |last| Err(last.reason))
}

/// What was made of kernels.
enum Made {
    /// For one CPU.
    One(Vec<Compiled>),
    /// For several.
    Several(Vec<Dispatched>),
}

impl Made {
    /// What was made for each CPU.
    fn each(&self) -> impl Iterator<Item = &Compiled> {
        let (one, several) = match self {
            Made::One(kernels) => (&kernels[..], &[][..]),
            Made::Several(kernels) => (&[][..], &kernels[..]),
        };
        one.iter().chain(several.iter().flat_map(|one| one.versions.iter().map(|one| &one.compiled)))
    }

    /// What was made for the best CPU.
    fn best(&self) -> impl Iterator<Item = &Compiled> {
        let (one, several) = match self {
            Made::One(kernels) => (&kernels[..], &[][..]),
            Made::Several(kernels) => (&[][..], &kernels[..]),
        };
        one.iter().chain(several.iter().filter_map(|one| one.versions.first()).map(|one| &one.compiled))
    }

    fn is_empty(&self) -> bool {
        match self {
            Made::One(kernels) => kernels.is_empty(),
            Made::Several(kernels) => kernels.is_empty(),
        }
    }
}

/// Writes the code and, if they are asked for, the header and the list of dependencies, with other outputs.
fn write(
    mut outputs: Outputs,
    options: &VectorizeOptions,
    (code, header): (&[u8], &str),
    files: &[PathBuf],
) -> Result<()> {
    outputs.add(&options.output, code)?;
    if let Some(path) = &options.header {
        outputs.add(path, header.as_bytes())?;
    }
    dependencies::add(&mut outputs, options, files)?;
    outputs.commit()
}

/// What an output file is to contain, by its suffix.
fn output_kind(path: &Path) -> Result<Output> {
    // Standard output has no suffix.
    if output::is_stdout(path) {
        return Ok(Output::Text);
    }
    match path.extension().and_then(|e| e.to_str()) {
        Some("ll") => Ok(Output::Text),
        Some("bc") => Ok(Output::Bitcode),
        Some("s") => Ok(Output::Assembly),
        Some("o") => Ok(Output::Object),
        _ => Err(Error::option(
            format!("-o {}", path.display()),
            "the suffix says what to write: .ll, .bc, .s or .o",
        )),
    }
}

/// The header of what is made of an input.
pub(crate) fn header_of<'a>(
    options: &'a VectorizeOptions,
    kernel: &'a KernelOptions,
    types: &'a SourceTypes,
) -> Header<'a> {
    let path = options.header.as_deref().filter(|path| !output::is_stdout(path));
    Header { options: kernel, types, path }
}

/// Reports what was made: a kernel as a report of its own, several as a list.
fn report(options: &VectorizeOptions, made: &Made, refused: &[Refused]) -> Result<()> {
    let text = match options.report.format {
        Format::Json => {
            let mut kernels: Vec<Value> = match made {
                Made::One(kernels) => kernels.iter().map(|one| json_of(options, one)).collect(),
                Made::Several(kernels) => kernels.iter().map(|one| json_of_several(options, one)).collect(),
            };
            let value = match (kernels.len(), refused) {
                (1, []) => kernels.swap_remove(0),
                _ => {
                    let refused = refused
                        .iter()
                        .map(|one| json!({ "function": one.kernel.name, "reason": one.reason.to_string() }));
                    json!({ "kernels": kernels, "refused": refused.collect::<Vec<_>>() })
                }
            };
            output::json(&value)
        }
        Format::Text => {
            let summaries: Vec<Summary> = match made {
                Made::One(kernels) => kernels.iter().map(|one| summary(options, one)).collect(),
                Made::Several(kernels) => {
                    kernels.iter().map(|one| summary_of_several(options, one)).collect()
                }
            };
            together(options, summaries).text(&options.report)
        }
    };
    output::report(options.outputs(), &text)
}

/// One summary of several kernels.
fn together(options: &VectorizeOptions, mut summaries: Vec<Summary>) -> Summary {
    if summaries.len() == 1 {
        return summaries.swap_remove(0);
    }
    Summary {
        done: format!("{} kernels vectorized in {}", summaries.len(), options.output.display()),
        result: summaries.iter().map(|one| one.done.as_str()).collect::<Vec<_>>().join("\n  "),
        warnings: summaries.iter().flat_map(|one| one.warnings.iter().cloned()).collect(),
        explain: summaries.iter().find_map(|one| one.explain.clone()),
        details: summaries
            .into_iter()
            .flat_map(|one| [format!("{}:", one.done), one.result].into_iter().chain(one.details))
            .collect(),
        ..Summary::default()
    }
}

fn json_of_several(options: &VectorizeOptions, dispatched: &Dispatched) -> Value {
    let versions = || dispatched.versions.iter().map(|one| &one.compiled);
    json!({
        "function": versions().next().map(|best| &best.kernel.name),
        "symbols": dispatched.functions().collect::<Vec<_>>(),
        "output": options.output.display().to_string(),
        "versions": versions().map(|one| json_of(options, one)).collect::<Vec<_>>(),
    })
}

/// What was made for several CPUs, for people.
fn summary_of_several(options: &VectorizeOptions, dispatched: &Dispatched) -> Summary {
    let versions = || dispatched.versions.iter().map(|one| &one.compiled);
    let drivers: Vec<&str> = dispatched.functions().collect();
    let lanes = |one: &Compiled| format!("{} lanes for {}", one.kernel.width, one.kernel.cpu.name);
    Summary {
        done: format!(
            "{} in {}: chooses among {} CPUs when called",
            line(&drivers.join(", ")),
            options.output.display(),
            dispatched.versions.len()
        ),
        result: versions().map(lanes).collect::<Vec<_>>().join(", "),
        warnings: warnings_of_several(dispatched),
        details: versions().flat_map(|one| details(one, true)).collect(),
        explain: versions().next().and_then(|one| explain(options, &one.made.counts)),
        ..Summary::default()
    }
}

fn json_of(options: &VectorizeOptions, compiled: &Compiled) -> Value {
    let Compiled { kernel, made, .. } = compiled;
    json!({
        "function": kernel.name,
        "width": kernel.width,
        "epilogue": compiled.drivers.range.as_ref().map(|_| compiled.epilogue),
        "tail": compiled.drivers.range.as_ref().map(|_| compiled.tail.name()),
        "aligned": compiled.aligned,
        "scalar": compiled.scalar,
        "cycles": kernel.estimate.as_ref().map(summary::cycles),
        "width_because": kernel.chosen.as_ref().map(ToString::to_string),
        "cpu": kernel.cpu.name,
        "symbols": compiled.functions().collect::<Vec<_>>(),
        "output": options.output.display().to_string(),
        "approximate_math": made.approximate,
        "libraries": math::libraries(&kernel.imported.ir),
        "branches": made.counts.branches,
        "loops": made.counts.loops,
        "exits": made.counts.exits,
        "masks": made.counts.masks,
        "remarks": remarks::as_json(&compiled.remarks()),
        "boscc": made.counts.boscc,
        "coherent": made.counts.coherent,
        "guards": made.counts.guards,
        "recipes": made.recipes,
        "warnings": kernel.regions.iter().flat_map(Regions::warnings)
            .chain(made.dependences.warnings.iter().cloned()).collect::<Vec<_>>(),
        "trusted": made.dependences.trusted,
    })
}

/// What was made, for people.
fn summary(options: &VectorizeOptions, compiled: &Compiled) -> Summary {
    let Compiled { kernel, made, .. } = compiled;
    let symbols: Vec<_> = compiled.functions().map(line).collect();
    let mut result = summary::shares(&made.counts);
    if made.approximate {
        result += &format!("; {}", summary::mathematics(&math::libraries(&kernel.imported.ir)));
    }
    Summary {
        done: format!(
            "{}: vectorized with {} lanes for {}: {} in {}",
            line(&kernel.name),
            kernel.width,
            kernel.cpu.name,
            symbols.join(", "),
            options.output.display()
        ),
        result,
        warnings: warnings(compiled),
        details: details(compiled, false),
        explain: explain(options, &made.counts),
        ..Summary::default()
    }
}

/// What is to be known about a kernel.
fn warnings(compiled: &Compiled) -> Vec<String> {
    let of_groups = compiled.kernel.regions.iter().flat_map(Regions::warnings);
    let found = compiled.made.dependences.warnings.iter().cloned();
    compiled.stays_scalar().into_iter().chain(of_groups).chain(found).collect()
}

/// The same for several CPUs: what is said of some only, with these.
fn warnings_of_several(dispatched: &Dispatched) -> Vec<String> {
    let mut said: Vec<String> =
        dispatched.versions.iter().filter_map(|one| one.compiled.stays_scalar()).collect();
    let best = dispatched.versions.first().map(|one| &one.compiled.made.dependences.warnings);
    said.extend(best.into_iter().flatten().cloned());
    said
}

/// Details of a kernel; `of_several`: one among those for other CPUs.
fn details(compiled: &Compiled, of_several: bool) -> Vec<String> {
    let kernel = &compiled.kernel;
    let mut details = Vec::new();
    if of_several {
        details.push(format!(
            "{} with {} lanes for {}:",
            line(compiled.functions().next().unwrap_or_default()),
            kernel.width,
            kernel.cpu.name
        ));
    }
    if compiled.epilogue < kernel.width {
        details.push(format!("vector epilogue: {} lanes", compiled.epilogue));
    }
    if compiled.tail == Tail::Scalar {
        details.push("tail: scalar".to_owned());
    }
    if compiled.aligned {
        details.push("alignment prologue: stores begin at a cache line".to_owned());
    }
    details.extend(summary::details(kernel, &compiled.made.counts));
    details.push(format!("recipes: {}", compiled.made.recipes));
    details
}

/// The command that says why something diverges, if anything does.
pub(crate) fn explain(options: &VectorizeOptions, counts: &Counts) -> Option<String> {
    let diverges = counts.branches.divergent + counts.loops.divergent > 0;
    diverges.then(|| format!("warpline analyze {}", options.kernel.input.display()))
}
